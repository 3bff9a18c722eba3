/* collective_composed.c - collectives that are one algorithm after another; times add up.
 *
 *     bcast           scatter of n-ths (binomial), then allgather by ring, or by doubling for n = 2^k
 *     allreduce       reduce, then bcast; both binomial, or both linear
 *     allgather       gather, then bcast of all blocks; both binomial
 *     allreduce       allgather of everybody's vector (doubling for n = 2^k, else Bruck's), then all are added: every
 *                     receiver adds what comes. Open MPI takes its own allgather for that size, below 32 members these
 *     reduce_scatter  reduce of all blocks, binomial, then linear scatter
 * The slowest member of the first part sets off a chain of messages through every round of the second, so
 * T is the sum of both. Sources: Barnett et al., Supercomputing '93 (van de Geijn's broadcast); Thakur,
 * Rabenseifner & Gropp, IJHPCA 19(1), 2005; Open MPI coll/base (the others). */
#include "solvers/collective/collective_parts.h"

static void scatter_of_vector(struct fc_schedule *s, const struct fc_collective_alike *gather)
{
    double vector_bytes = s->bytes;
    s->bytes /= s->n; /* block of member m lies at m, so blocks go round from the root */
    fc_build_scatter_binomial(s);
    fc_collective_alike_build(gather, s);
    s->bytes = vector_bytes;
}
FC_BUILD(bcast_scatter_ring, scatter_of_vector(s, &fc_alike_allgather_ring))
FC_TIME(bcast_scatter_ring, fc_time_scatter_binomial(p, n, bytes / n) + fc_time_allgather_ring(p, n, bytes / n))
FC_BUILD(bcast_scatter_doubling, scatter_of_vector(s, &fc_alike_allgather_doubling))
FC_TIME(bcast_scatter_doubling, fc_time_scatter_binomial(p, n, bytes / n) + fc_time_allgather_doubling(p, n, bytes / n))

void fc_build_allreduce_reduce_bcast(struct fc_schedule *s)
{
    fc_build_reduce_binomial(s);
    s->work = FC_WORK_NONE;
    fc_build_bcast_binomial(s);
}
FC_TIME(allreduce_reduce_bcast, fc_time_reduce_binomial(p, n, bytes) + fc_time_bcast_binomial(p, n, bytes))
void fc_build_allreduce_linear(struct fc_schedule *s)
{
    fc_build_reduce_linear(s);
    s->work = FC_WORK_NONE;
    fc_build_bcast_linear(s);
}
FC_TIME(allreduce_linear, fc_time_reduce_linear(p, n, bytes) + fc_time_bcast_linear(p, n, bytes))

void fc_build_allreduce_allgather(struct fc_schedule *s)
{
    bool power = fc_floor_power_of_two(s->n) == s->n;
    fc_collective_alike_build(power ? &fc_alike_allgather_doubling : &fc_alike_allgather_bruck, s);
}
double fc_time_allreduce_allgather(const struct fc_loggp *p, uint32_t n, double bytes)
{
    bool power = fc_floor_power_of_two(n) == n;
    return power ? fc_time_allgather_doubling(p, n, bytes) : fc_time_allgather_bruck(p, n, bytes);
}

void fc_build_allgather_gather_bcast(struct fc_schedule *s)
{
    double block_bytes = s->bytes;
    fc_build_gather_binomial(s);
    s->bytes = fc_schedule_blocks(s, 0, s->n);
    fc_build_bcast_binomial(s);
    s->bytes = block_bytes;
}
FC_TIME(allgather_gather_bcast, fc_time_gather_binomial(p, n, bytes) + fc_time_bcast_binomial(p, n, n *bytes))

void fc_build_reduce_scatter_reduce_scatter(struct fc_schedule *s)
{
    double block_bytes = s->bytes;
    s->bytes = fc_schedule_blocks(s, 0, s->n);
    fc_build_reduce_binomial(s);
    s->bytes = block_bytes;
    s->work = FC_WORK_NONE;
    fc_build_scatter_linear(s);
}
FC_TIME(reduce_scatter_reduce_scatter, fc_time_reduce_binomial(p, n, n *bytes) + fc_time_scatter_linear(p, n, bytes))
