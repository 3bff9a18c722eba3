/* collective.h - the algorithms behind fc_collective_messages, one by one (tests, listings). */
#ifndef FC_COLLECTIVE_H
#define FC_COLLECTIVE_H

#include "solvers/solvers.h"

/* Messages of one call, being built round by round. Members are 0 .. n-1. */
struct fc_schedule {
    uint32_t n, root;
    double bytes;       /* as in enum fc_op; of equal blocks: one block */
    const double *list; /* alltoallv [n][n]; block bytes [n] of each member; NULL: all blocks have `bytes` */
    double *before;     /* [n + 1] bytes of blocks 0 .. i-1; NULL: equal blocks */
    uint32_t round;
    struct fc_message *messages;
    uint64_t n_messages, capacity;
    bool full; /* memory ran out: messages are missing */
};

void fc_schedule_grow(struct fc_schedule *s);
static inline void fc_schedule_add(struct fc_schedule *s, uint32_t from, uint32_t to, double bytes)
{
    if (s->n_messages == s->capacity) fc_schedule_grow(s);
    if (!s->full) s->messages[s->n_messages++] = (struct fc_message){from, to, bytes, s->round};
}
/* Bytes of `count` blocks from block i on, round the end. */
static inline double fc_schedule_blocks(const struct fc_schedule *s, uint32_t i, uint32_t count)
{
    if (!s->before) return count * s->bytes;
    i %= s->n;
    if (i + count <= s->n) return s->before[i + count] - s->before[i];
    return s->before[s->n] - s->before[i] + s->before[i + count - s->n];
}
/* The greatest power of two that is not above n. */
static inline uint32_t fc_power_of_two(uint32_t n)
{
    return UINT32_C(1) << (31 - __builtin_clz(n));
}

struct fc_collective_algorithm {
    enum fc_op op;
    const char *name, *source;
    bool power_of_two; /* only for n = 2^k */
    void (*build)(struct fc_schedule *s);
};
extern const struct fc_collective_algorithm fc_collective_algorithms[]; /* ends with name NULL */

/* The algorithm that fc_collective_messages takes: total = bytes of all blocks, or of the vector. */
const struct fc_collective_algorithm *fc_collective_choose(enum fc_op op, uint32_t n, double total);
/* fc_collective_messages with the algorithm given. */
enum fc_code fc_collective_build(const struct fc_collective_algorithm *algorithm, uint32_t n, uint32_t root,
                                 double bytes, const double *list, struct fc_arena *arena,
                                 struct fc_message **messages, uint64_t *n_messages, struct fc_status *st);

/* collective_tree.c: one member is special, or all synchronise. */
void fc_barrier_dissemination(struct fc_schedule *s);
void fc_bcast_binomial(struct fc_schedule *s);
void fc_scatter_binomial(struct fc_schedule *s);
void fc_gather_binomial(struct fc_schedule *s);
void fc_reduce_binomial(struct fc_schedule *s);
void fc_bcast_scatter_ring(struct fc_schedule *s);
void fc_bcast_scatter_doubling(struct fc_schedule *s);
void fc_reduce_rabenseifner(struct fc_schedule *s);
/* collective_exchange.c: all members alike. */
void fc_allreduce_doubling(struct fc_schedule *s);
void fc_allreduce_rabenseifner(struct fc_schedule *s);
void fc_allreduce_ring(struct fc_schedule *s);
void fc_allgather_doubling(struct fc_schedule *s);
void fc_allgather_bruck(struct fc_schedule *s);
void fc_allgather_ring(struct fc_schedule *s);
void fc_alltoall_bruck(struct fc_schedule *s);
void fc_alltoall_linear(struct fc_schedule *s);
void fc_alltoall_pairwise(struct fc_schedule *s);
void fc_reduce_scatter_halving(struct fc_schedule *s);
void fc_reduce_scatter_pairwise(struct fc_schedule *s);
void fc_scan_doubling(struct fc_schedule *s);

#endif
