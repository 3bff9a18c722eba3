/* collective_tree.c - rooted collectives and the barrier, as rounds of messages.
 *
 * Members are numbered from the root: v = (member - root) mod n. In a binomial tree v's parent is v
 * without its lowest set bit; a broadcast goes down largest subtree first, so ceil(log2 n) rounds reach
 * all, a reduction goes up in the opposite order. Sources: Thakur, Rabenseifner & Gropp, "Optimization of
 * collective communication operations in MPICH", IJHPCA 19(1), 2005 (binomial trees; van de Geijn's
 * broadcast; Rabenseifner's reduction); Hensgen, Finkel & Manber 1988 (dissemination). */
#include "solvers/collective.h"

static uint32_t member(const struct fc_schedule *s, uint32_t v)
{
    return (uint32_t)(((uint64_t)v + s->root) % s->n);
}

/* Half the least power of two that is not below n: the distance of the longest edge of the tree. 0 when n
 * = 1. */
static uint32_t longest_edge(uint32_t n)
{
    return n > 1 ? fc_power_of_two(n - 1) : 0;
}

void fc_barrier_dissemination(struct fc_schedule *s)
{
    for (uint64_t d = 1; d < s->n; d *= 2, s->round++)
        for (uint32_t r = 0; r < s->n; r++) fc_schedule_add(s, r, (uint32_t)((r + d) % s->n), 0);
}

/* ---- binomial trees ---- */

/* The edges of one level: parents v, children v + mask. */
static void level(struct fc_schedule *s, uint32_t mask, bool down, bool blocks)
{
    for (uint64_t v = 0; v + mask < s->n; v += 2ull * mask) {
        uint32_t parent = member(s, (uint32_t)v), child = member(s, (uint32_t)v + mask);
        uint32_t subtree = s->n - (uint32_t)v - mask < mask ? s->n - (uint32_t)v - mask : mask;
        double bytes = blocks ? fc_schedule_blocks(s, child, subtree) : s->bytes;
        fc_schedule_add(s, down ? parent : child, down ? child : parent, bytes);
    }
    s->round++;
}

static void down_the_tree(struct fc_schedule *s, bool blocks)
{
    for (uint32_t mask = longest_edge(s->n); mask > 0; mask /= 2) level(s, mask, true, blocks);
}

static void up_the_tree(struct fc_schedule *s, bool blocks)
{
    for (uint32_t mask = 1; mask > 0 && mask <= longest_edge(s->n); mask *= 2) level(s, mask, false, blocks);
}

void fc_bcast_binomial(struct fc_schedule *s)
{
    down_the_tree(s, false);
}
void fc_scatter_binomial(struct fc_schedule *s)
{
    down_the_tree(s, true);
}
void fc_reduce_binomial(struct fc_schedule *s)
{
    up_the_tree(s, false);
}
void fc_gather_binomial(struct fc_schedule *s)
{
    up_the_tree(s, true);
}

/* ---- long broadcasts: scatter n blocks, then all gather them (van de Geijn) ---- */

static void scatter_vector(struct fc_schedule *s, double vector_bytes)
{
    s->bytes =
        vector_bytes / s->n; /* blocks; block of member m lies at m, so blocks go round from the root */
    down_the_tree(s, true);
}

void fc_bcast_scatter_ring(struct fc_schedule *s)
{
    double vector_bytes = s->bytes;
    scatter_vector(s, vector_bytes);
    fc_allgather_ring(s);
    s->bytes = vector_bytes;
}

void fc_bcast_scatter_doubling(struct fc_schedule *s)
{
    double vector_bytes = s->bytes;
    scatter_vector(s, vector_bytes);
    fc_allgather_doubling(s);
    s->bytes = vector_bytes;
}

/* ---- long reductions: reduce-scatter by halving, then a binomial gather (Rabenseifner) ---- */

void fc_reduce_rabenseifner(struct fc_schedule *s)
{
    uint32_t power = fc_power_of_two(s->n), folded = s->n - power;
    for (uint32_t i = 0; i < folded;
         i++) /* odd ones hand their vector to the even neighbour and leave; the root stays */
        fc_schedule_add(s, member(s, 2 * i + 1), member(s, 2 * i), s->bytes);
    s->round += folded > 0;
    for (uint32_t mask = 1; mask < power; mask *= 2, s->round++)
        for (uint32_t i = 0; i < power; i++) {
            uint32_t j = i ^ mask;
            fc_schedule_add(s, member(s, i < folded ? 2 * i : i + folded),
                            member(s, j < folded ? 2 * j : j + folded), s->bytes / (2.0 * mask));
        }
    for (uint32_t mask = power / 2; mask > 0; mask /= 2, s->round++)
        for (uint32_t i = mask; i < 2 * mask; i++) {
            uint32_t j = i - mask;
            fc_schedule_add(s, member(s, i < folded ? 2 * i : i + folded),
                            member(s, j < folded ? 2 * j : j + folded), s->bytes / (2.0 * mask));
        }
}
