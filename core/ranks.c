/* ranks.c - what ranks decide together: whether one of them failed, whether all have been asked the same. */
#include "core/ranks.h"

enum fc_code fc_ranks_agree(const struct fc_ranks *ranks, struct fc_status *st)
{
    union {
        struct fc_status status;
        uint64_t word[(sizeof(struct fc_status) + 7) / 8];
    } said = {.word = {0}};
    if (!fc_ranks_several(ranks)) return st->code;
    if (ranks->give_up && fc_is_out_of_memory(st)) ranks->give_up(ranks, st);
    uint64_t failed = st->code ? (uint64_t)(ranks->size - ranks->rank) : 0; /* of several the lowest */
    ranks->greatest(ranks, &failed, 1);
    if (failed == 0) return FC_OK;
    int from = ranks->size - (int)failed;
    if (from == ranks->rank) said.status = *st;
    ranks->greatest(ranks, said.word, FC_COUNT(said.word)); /* all others have zeros */
    *st = said.status;
    if (from > 0) snprintf(st->message, sizeof st->message, "rank %d: %.990s", from, said.status.message);
    return st->code;
}

bool fc_ranks_alike(const struct fc_ranks *ranks, uint64_t value)
{
    uint64_t both[2] = {value, ~value};
    ranks->greatest(ranks, both, 2);
    return both[0] == ~both[1];
}
