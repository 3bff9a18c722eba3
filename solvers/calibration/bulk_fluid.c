/* bulk_fluid.c - a bulk phase as one round of messages that share links fairly.
 *
 * All messages leave at once, without software, over links that they share as those of replays do: max-min fair rates, FIFOs and heads of
 * nodes, turns, what mixing takes (solvers/transit/transit_contention.c). T_fluid is when the last one is there, and
 *
 *     b = mean over bytes of what messages between other nodes have of the busiest link of a message's way (struct fc_arrival).
 *
 * Limits: a fluid (that file's). Phases of more than MOST_MESSAGES messages, with dense parts MOST_DENSE, are not looked at, nor those in
 * which the number of messages under way, summed over the times at which some end, is more than MOST_WORK: such would take seconds. */
#include "core/values.h"
#include "solvers/calibration/bulk.h"
#include "solvers/calibration/calibration.h"
#include "solvers/transit/transit.h"

#include <stdlib.h>
#include <string.h>

#define MOST_WORK 8e6 /* 2500 messages of random lengths on 512 nodes take 0.2 s, 8 000 more than this */
#define SURELY 1.5
enum { MOST_MESSAGES = 32768, MOST_DENSE = 8192 }; /* all-to-all of 90 nodes: 0.15 s */

/* Whether messages of so many lengths are sure to be too much work: each length ends at a time of its own. lengths[n_entries]: room. */
static bool is_too_much(const struct fc_demand *d, double *lengths)
{
    double n_lengths = 0;
    memcpy(lengths, d->bytes, d->n_entries * sizeof *lengths);
    qsort(lengths, d->n_entries, sizeof *lengths, fc_by_real);
    for (size_t e = 0; e < d->n_entries; e++) n_lengths += e == 0 || lengths[e] != lengths[e - 1];
    return n_lengths * (double)d->n_entries / 2 > SURELY * MOST_WORK;
}

struct round {
    const struct fc_placement *placement;
    struct fc_transit *transit;
    uint64_t n;
    double *bytes; /* of the messages, numbered as they were sent */
};

/* `turn`: of the sender's messages. False: the transit failed. */
static bool send_one(struct round *r, uint32_t from, uint32_t to, uint64_t turn, double bytes)
{
    const struct fc_transit_ports any = {.out = FC_NONE, .in = FC_NONE};
    uint32_t src = r->placement->node[from], dst = r->placement->node[to];
    if (src == dst || !(bytes > 0)) return true;
    r->bytes[r->n] = bytes;
    return !fc_transit_send(r->transit, r->n++, turn, 0, src, dst, bytes, FC_NONE, any);
}

/* Messages between different nodes, all at once; those of a dense part to the next task first, to the one after it then, and so on. */
static bool send_all(struct round *r, const struct fc_demand *d)
{
    for (size_t e = 0; e < d->n_entries; e++)
        if (!send_one(r, d->src[e], d->dst[e], e, d->bytes[e])) return false;
    for (int i = 0; i < d->n_dense; i++)
        for (uint32_t k = 1; k < d->n_tasks; k++)
            for (uint32_t t = 0; t < d->n_tasks; t++) {
                uint32_t to = (t + k) % d->n_tasks;
                if (!send_one(r, t, to, k - 1, d->dense[i].a[t] * d->dense[i].b[to])) return false;
            }
    return true;
}

enum fc_code fc_bulk_fluid(const struct fc_network *net, const struct fc_demand *demand,
                           const struct fc_placement *placement, const double *background, double mixing,
                           struct fc_bulk_fluid *fluid, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    const struct fc_calibration limited = {.replays = {.mixing = mixing}};
    const struct fc_transit_settings how = {
        .network = FC_NET_CONTENTION, .background_bytes_per_s = background, .made = mixing > 0 ? &limited : NULL};
    double most = (double)demand->n_entries + demand->n_dense * (double)demand->n_tasks * demand->n_tasks;
    double work = 0, met = 0, all = 0, seconds = 0;
    struct round r = {.placement = placement};
    *fluid = (struct fc_bulk_fluid){0};
    if (most > (demand->n_dense ? MOST_DENSE : MOST_MESSAGES)) return FC_OK;
    r.bytes = fc_alloc(&arena, (size_t)most + 1, sizeof *r.bytes, st);
    if (!r.bytes || (demand->n_entries && is_too_much(demand, r.bytes)) || fc_transit_open(net, &how, &r.transit, st))
        return st->code;
    uint64_t left = send_all(&r, demand) ? r.n : 0;
    while (left > 0 && work <= MOST_WORK) {
        struct fc_arrival arrival;
        bool more;
        if (fc_transit_next(r.transit, INFINITY, &arrival, &more) || !more) break;
        if (arrival.time_s > seconds) work += (double)left;
        seconds = arrival.time_s;
        met += r.bytes[arrival.id] * arrival.interference;
        all += r.bytes[arrival.id];
        left--;
    }
    fc_transit_close(r.transit);
    if (!st->code && left == 0 && all > 0) *fluid = (struct fc_bulk_fluid){seconds, met / all};
    return st->code;
}
