/* replay_eager.c - with which others a task has long eager buffers.
 *
 * An eager message needs a buffer at its receiver that is kept for its sender. Libraries that would need too much memory
 * keep long ones (`software.eager`) for a number of partners alone (`software.eager_partners`): Fujitsu's MPI calls it the
 * fast mode, with common_tofu_max_fastmode_procs and common_tofu_fastmode_threshold as its settings; between others
 * messages are eager up to a shorter limit (`software.eager_beyond`).
 *
 * Who comes first has them: two ranks become partners with their first message of whatever length if both have less than
 * `most` partners then, and remain so. First is first in the order in which the replay goes through the ranks' sends,
 * which is that of each rank's program, and the same in every run.
 *
 * Limits: both ends keep the same number; nothing is given back; ranks of one node need none. Sends that are vertices of
 * a graph (GOAL, Chakra) have buffers for everybody. */
#include "solvers/replay/replay_eager.h"

enum fc_code fc_eager_start(struct fc_eager *p, long long most, uint32_t n_ranks, const uint32_t *node,
                            struct fc_arena *arena, struct fc_status *st)
{
    *p = (struct fc_eager){0};
    if (most <= 0 || most + 1 >= n_ranks) return FC_OK;
    uint32_t slots = 2;
    while (slots < 2 * most) slots *= 2;
    p->slot = fc_alloc(arena, (size_t)n_ranks * slots, sizeof *p->slot, st);
    p->n = fc_alloc(arena, n_ranks, sizeof *p->n, st);
    if (st->code) return st->code;
    p->most = (uint32_t)most;
    p->mask = slots - 1;
    p->node = node;
    return FC_OK;
}

/* Where `other` is among the partners of `rank`, or the free slot for it. */
static uint32_t *find(const struct fc_eager *p, uint32_t rank, uint32_t other)
{
    uint32_t *slot = p->slot + (size_t)rank * (p->mask + 1u), i = other * 0x9e3779b1u >> 7 & p->mask;
    while (slot[i] && slot[i] != other + 1) i = (i + 1) & p->mask;
    return &slot[i];
}

bool fc_eager_between(struct fc_eager *p, uint32_t a, uint32_t b)
{
    if (a == b || (p->node && p->node[a] == p->node[b])) return true;
    uint32_t *of_a = find(p, a, b);
    if (*of_a) return true;
    if (p->n[a] == p->most || p->n[b] == p->most) return false;
    *of_a = b + 1;
    *find(p, b, a) = a + 1;
    p->n[a]++;
    p->n[b]++;
    return true;
}
