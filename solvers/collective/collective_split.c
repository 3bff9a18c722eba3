/* collective_split.c - bcast by a split binary tree: each half of the vector goes down one of the root's two
 * subtrees, then pairs of members, one of each subtree, exchange halves.
 *
 * The tree is complete by level and numbered from the root as Open MPI does: the children of v on level l are v + 2^l
 * and v + 2^(l+1), so the left subtree has the odd members and the right one the even. In the end 2 i - 1 and 2 i exchange;
 * n even: the last member gets the second half from the root. The longest way is a half over each level and one
 * exchange; no closed form here. Source: Open MPI coll/base (split_bintree), without segments, as it is forced by its name
 * or taken by coll/tuned. */
#include "solvers/collective/collective_parts.h"

void fc_build_bcast_split(struct fc_schedule *s)
{
    double half = s->bytes / 2;
    for (uint64_t size = 1; size - 1 < s->n; size *= 2, s->round++) /* parents size - 1 .. 2 size - 2 */
        for (uint64_t i = 1; i <= 2; i++)
            for (uint64_t v = size - 1; v < 2 * size - 1 && v + i * size < s->n; v++)
                fc_schedule_add(s, fc_schedule_member(s, (uint32_t)v), fc_schedule_member(s, (uint32_t)(v + i * size)),
                                half);
    for (uint32_t v = 1; v + 1 < s->n; v += 2) {
        fc_schedule_add(s, fc_schedule_member(s, v), fc_schedule_member(s, v + 1), half);
        fc_schedule_add(s, fc_schedule_member(s, v + 1), fc_schedule_member(s, v), half);
    }
    if (s->n % 2 == 0) fc_schedule_add(s, s->root, fc_schedule_member(s, s->n - 1), half);
    s->round++;
}
