/* launcher_rankfile.c - Open MPI rank files, with host names or with nodes of the allocation:
 *
 *     rank 0=cn02 slot=1          rank 0=+n2 slot=1
 *
 * Slot s is core s of the node, counted over its packages (logical numbers). +nX is node X of the allocation
 * in the launcher's order, so the nodes must have been listed in that order. Source: mpirun(1), "Rankfiles";
 * PRRTE, placement-rankfiles. Limits: read back are single slots (no lists, no package:core). */
#include "mapping/launcher.h"

#include <string.h>

static enum fc_code write_hosts(const struct fc_launch *job, FILE *out, struct fc_status *st)
{
    (void)st;
    for (uint32_t r = 0; r < job->n_tasks; r++)
        fprintf(out, "rank %u=%s slot=%u\n", r, job->host[job->place[r]], job->slot[r]);
    return FC_OK;
}

static enum fc_code write_relative(const struct fc_launch *job, FILE *out, struct fc_status *st)
{
    (void)st;
    for (uint32_t r = 0; r < job->n_tasks; r++) fprintf(out, "rank %u=+n%u slot=%u\n", r, job->place[r], job->slot[r]);
    return FC_OK;
}

/* "N=HOST" and "slot=S" behind the word rank. */
static enum fc_code read_rank(const struct fc_launch *job, const char *who, size_t who_length, const char *slot,
                              size_t slot_length, struct fc_launched *back, struct fc_place where, struct fc_status *st)
{
    const char *equals = memchr(who, '=', who_length);
    size_t digits = equals ? (size_t)(equals - who) : 0, host = equals ? who_length - digits - 1 : 0;
    long long rank, number;
    uint32_t place;
    if (host == 0 || slot_length < 6 || memcmp(slot, "slot=", 5))
        return fc_fail(st, FC_INPUT, where, "expected rank N=HOST slot=S");
    if (fc_word_int(who, digits, 0, job->n_tasks - 1, "rank", &rank, where, st) ||
        fc_word_int(slot + 5, slot_length - 5, 0, job->slots - 1, "slot", &number, where, st))
        return st->code;
    if (host > 2 && !memcmp(equals + 1, "+n", 2)) {
        long long at;
        if (fc_word_int(equals + 3, host - 2, 0, job->n_places - 1, "+n", &at, where, st)) return st->code;
        place = (uint32_t)at;
    } else if (fc_launched_host(job, equals + 1, host, &place, where, st)) {
        return st->code;
    }
    return fc_launched_put(job, back, rank, place, number, where, st);
}

static enum fc_code read_ranks(const struct fc_text *text, const struct fc_launch *job, struct fc_launched *back,
                               struct fc_status *st)
{
    struct fc_lines lines;
    for (fc_lines_start(&lines, text); fc_lines_next(&lines);) {
        struct fc_place where = fc_lines_place(&lines);
        const char *comment = memchr(lines.text, '#', lines.length), *at = lines.text;
        const char *end = comment ? comment : at + lines.length, *word, *who, *slot = "", *more;
        size_t length, who_length, slot_length = 0, more_length;
        if (!fc_next_word(&at, end, &word, &length)) continue;
        bool good = length == 4 && !memcmp(word, "rank", 4) && fc_next_word(&at, end, &who, &who_length) &&
                    fc_next_word(&at, end, &slot, &slot_length) && !fc_next_word(&at, end, &more, &more_length);
        if (!good) return fc_fail(st, FC_INPUT, where, "expected rank N=HOST slot=S");
        if (read_rank(job, who, who_length, slot, slot_length, back, where, st)) return st->code;
    }
    return FC_OK;
}

const struct fc_launcher_format fc_launcher_rankfile = {
    .name = "rankfile",
    .what = "Open MPI rank file: rank N=HOST slot=S",
    .source = "Open MPI mpirun(1), Rankfiles",
    .start = "mpirun --rankfile FILE -n RANKS PROGRAM (Open MPI 5: --map-by rankfile:file=FILE)",
    .names_hosts = true,
    .tells_slots = true,
    .write = write_hosts,
    .read = read_ranks,
};
const struct fc_launcher_format fc_launcher_rankfile_relative = {
    .name = "rankfile-relative",
    .what = "the same by nodes of the allocation: rank N=+nX slot=S",
    .source = "Open MPI mpirun(1), Rankfiles",
    .start = "within an allocation: mpirun --rankfile FILE -n RANKS PROGRAM",
    .tells_slots = true,
    .write = write_relative,
    .read = read_ranks,
};
