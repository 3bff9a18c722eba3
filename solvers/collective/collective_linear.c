/* collective_linear.c - everything at once: each block goes straight from its source to its target.
 *
 *     scatter   the root sends block after block, a longer one (rendezvous) when the one before has arrived:
 *               T = (n - 2) s(b) + H(b)
 *     gather    all arrive together, the root takes one after the other:  T = (n - 2) q(b) + H(b)
 *     alltoall  sends first, right neighbour first, then receives as they arrive, the i-th at i s + o + L:
 *               T = max(max((n - 2) s + o, o + L) + (n - 2) q, (n - 2) s + o + L) + r
 *     allgather  the same with one block for all: Open MPI's coll/libnbc
 *     scan      member m waits for m - 1, adds, sends to m + 1:  T = (n - 1) H(b)
 * Sources: MPICH and Open MPI coll/base; the times are LogGP's. */
#include "solvers/collective/collective_parts.h"

void fc_build_scatter_linear(struct fc_schedule *s)
{
    for (uint32_t m = 0; m < s->n; m++, s->round++)
        if (m != s->root) fc_schedule_add(s, s->root, m, fc_schedule_blocks(s, m, 1));
}
FC_TIME(scatter_linear, (n - 2) * fc_loggp_send_gap_s(p, bytes) + fc_loggp_hop_s(p, bytes))

void fc_build_gather_linear(struct fc_schedule *s)
{
    for (uint32_t m = 0; m < s->n; m++)
        if (m != s->root) fc_schedule_add(s, m, s->root, fc_schedule_blocks(s, m, 1));
    s->round++;
}
FC_TIME(gather_linear, (n - 2) * fc_loggp_recv_gap_s(p, bytes) + fc_loggp_hop_s(p, bytes))

void fc_build_scan_linear(struct fc_schedule *s)
{
    for (uint32_t m = 0; m + 1 < s->n; m++, s->round++) fc_schedule_add(s, m, m + 1, s->bytes);
}
FC_TIME(scan_linear, (n - 1) * fc_loggp_hop_s(p, bytes))

/* ---- alltoall, alltoallv, allgather ---- */

static uint32_t one(uint32_t n)
{
    (void)n;
    return 1;
}
static uint32_t own(uint32_t n, uint32_t source, uint32_t target, uint32_t round)
{
    (void)n, (void)target, (void)round;
    return source;
}
const struct fc_collective_alike fc_alike_alltoall_linear = {.n_rounds = one,
                                                             .n_sends = fc_alike_less_one,
                                                             .to = fc_alike_ahead,
                                                             .from = fc_alike_behind,
                                                             .bytes = fc_alike_matrix};
const struct fc_collective_alike fc_alike_allgather_linear = {
    .n_rounds = one, .n_sends = fc_alike_less_one, .to = fc_alike_ahead, .from = fc_alike_behind, .block = own};

double fc_time_alltoall_linear(const struct fc_loggp *p, uint32_t n, double bytes)
{
    double s = fc_loggp_send_gap_s(p, bytes), q = fc_loggp_recv_gap_s(p, bytes);
    double sent = (n - 2) * s + p->send_s, first = p->send_s + p->latency_s;
    return fmax(fmax(sent, first) + (n - 2) * q, sent + p->latency_s) + fc_loggp_recv_s(p, bytes);
}
