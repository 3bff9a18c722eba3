/* counts.c - the integer counts of one thread, and their sum. Integers only: the sum is the same in any
 * order. */
#include "solvers/flit/counts.h"

enum fc_code fc_flit_counts_make(struct fc_flit_counts *counts, struct fc_arena *arena, struct fc_status *st)
{
    size_t n = counts->n_intervals;
    counts->interval_flits = fc_alloc(arena, n, sizeof *counts->interval_flits, st);
    counts->interval_vc_flits =
        counts->interval_flits ? fc_alloc(arena, n, sizeof *counts->interval_vc_flits, st) : NULL;
    counts->interval_returns =
        counts->interval_vc_flits ? fc_alloc(arena, n, sizeof *counts->interval_returns, st) : NULL;
    counts->interval_unblocked =
        counts->interval_returns ? fc_alloc(arena, n, sizeof *counts->interval_unblocked, st) : NULL;
    return counts->interval_unblocked ? FC_OK : st->code;
}

static inline void raise_to(uint64_t *to, uint64_t value)
{
    if (value > *to) *to = value;
}

void fc_flit_counts_add(struct fc_flit_counts *to, const struct fc_flit_counts *from)
{
    to->measured_started += from->measured_started;
    to->measured_delivered += from->measured_delivered;
    to->latency_ticks += from->latency_ticks;
    to->network_ticks += from->network_ticks;
    to->hops += from->hops;
    raise_to(&to->latency_max_ticks, from->latency_max_ticks);
    for (int i = 0; i < FC_FLIT_MOST_BATCHES; i++) {
        to->batch_packets[i] += from->batch_packets[i];
        to->batch_ticks[i] += from->batch_ticks[i];
    }
    for (int i = 0; i < FC_FLIT_BUCKETS; i++) to->histogram[i] += from->histogram[i];
    to->apart.delivered += from->apart.delivered;
    to->apart.latency_ticks += from->apart.latency_ticks;
    to->apart.network_ticks += from->apart.network_ticks;
    raise_to(&to->apart.latency_max_ticks, from->apart.latency_max_ticks);
    for (int i = 0; i < FC_FLIT_BUCKETS; i++) to->apart.histogram[i] += from->apart.histogram[i];
    to->packets_injected += from->packets_injected;
    to->packets_delivered += from->packets_delivered;
    to->flits_injected += from->flits_injected;
    to->flits_delivered += from->flits_delivered;
    to->packets_copied += from->packets_copied;
    to->flits_copied += from->flits_copied;
    to->flit_hops += from->flit_hops;
    to->escape_flit_hops += from->escape_flit_hops;
    raise_to(&to->last_delivery, from->last_delivery);
    to->window_flits_delivered += from->window_flits_delivered;
    to->window_background_flits += from->window_background_flits;
    for (int v = 0; v < FC_FLIT_MOST_VCS; v++) to->occupancy_flit_ticks[v] += from->occupancy_flit_ticks[v];
    uint32_t n = to->n_intervals < from->n_intervals ? to->n_intervals : from->n_intervals;
    for (uint32_t i = 0; i < n; i++) {
        to->interval_flits[i] += from->interval_flits[i];
        to->interval_returns[i] += from->interval_returns[i];
        to->interval_unblocked[i] += from->interval_unblocked[i];
        for (int v = 0; v < FC_FLIT_MOST_VCS; v++) to->interval_vc_flits[i][v] += from->interval_vc_flits[i][v];
    }
}
