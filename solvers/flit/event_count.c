/* event_count.c - counters of the packet-event engine beside the plain ones: packets at the borders of the
 * measurement, and the course by intervals.
 *
 * Flit number i of a packet that starts on a link at tick s goes out at s + i flit times and counts where
 * that lies. Limit: occupancy splits at the borders of the measurement by the packet's head, not flit by
 * flit. */
#include "solvers/flit/counts.h"
#include "solvers/flit/event_block.h"
#include "solvers/flit/event_count.h"
#include "solvers/flit/event_parts.h"
#include "solvers/flit/event_tokens.h"

/* Flits of a packet that starts at `now` that go out within [from, to). */
static uint32_t flits_within(uint64_t now, uint32_t flits, uint32_t flit_ticks, uint64_t from, uint64_t to)
{
    uint64_t last = now + (uint64_t)(flits - 1) * flit_ticks;
    if (now >= from && last < to) return flits;
    if (last < from || now >= to) return 0;
    uint64_t before = now >= from ? 0 : (from - now + flit_ticks - 1) / flit_ticks;
    uint64_t until = last < to ? flits : (to - now + flit_ticks - 1) / flit_ticks;
    return (uint32_t)(until - before);
}

void fc_event_count_edge(struct fc_event_block *block, uint32_t l, uint32_t flits, uint32_t flit_ticks)
{
    const struct fc_flit_counts *counts = block->counts;
    uint64_t now = block->wheel.now;
    if (now >= counts->measure_to || now + (uint64_t)flits * flit_ticks < counts->measure_from) return;
    uint32_t part = flits_within(now, flits, flit_ticks, counts->measure_from, counts->measure_to);
    bool starts = now >= counts->measure_from && now < counts->measure_to;
    block->engine->sent[l] += (uint64_t)part << 32 | starts;
}

void fc_event_count_intervals(struct fc_event_block *block, uint32_t flits, uint32_t flit_ticks, int vc)
{
    struct fc_flit_counts *counts = block->counts;
    uint64_t now = block->wheel.now, length = counts->interval_ticks;
    for (uint64_t i = now / length; i < counts->n_intervals; i++) {
        uint32_t part = flits_within(now, flits, flit_ticks, i * length, (i + 1) * length);
        if (part == 0) break;
        counts->interval_vc_flits[i][vc] += part;
    }
}

/* Flits x ticks in the buffer within the window: flit i came at arrived + (i + 1) in_ticks, leaves at now +
 * (i + 1) out_ticks. The part that differs in rate counts whole where the packet starts within the window. */
void fc_event_count_occupancy_at_edge(struct fc_event_block *block, uint64_t arrived, uint32_t vc, uint64_t n,
                                      int64_t slower)
{
    struct fc_flit_counts *counts = block->counts;
    uint64_t now = block->wheel.now;
    uint64_t from = arrived > counts->measure_from ? arrived : counts->measure_from;
    uint64_t to = now < counts->measure_to ? now : counts->measure_to;
    if (to <= from) return;
    counts->occupancy_flit_ticks[vc] += (to - from) * n;
    if (now < counts->measure_to) counts->occupancy_flit_ticks[vc] += (uint64_t)((int64_t)(n * (n + 1) / 2) * slower);
}

void fc_event_count_return(struct fc_event_block *block, uint64_t tick)
{
    struct fc_flit_counts *counts = block->counts;
    uint64_t i = tick / counts->interval_ticks;
    if (i < counts->n_intervals) counts->interval_returns[i]++;
}

void fc_event_count_unblocked(struct fc_event_block *block, struct fc_event_tokens *t)
{
    struct fc_flit_counts *counts = block->counts;
    uint64_t now = block->wheel.now, i = now / counts->interval_ticks;
    const struct fc_event_ramp *r = &t->ramp;
    while (r->flits && now >= r->last) fc_event_next_ramp(block, t);
    bool coming = r->flits && r->step && r->last - now <= (uint64_t)(r->flits - 1u) * r->step;
    bool token = t->last == (uint32_t)now || (coming && (r->last - now) % r->step == 0);
    if (token && i < counts->n_intervals) counts->interval_unblocked[i]++;
}
