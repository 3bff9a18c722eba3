/* transit_fair_mix.c - what a link loses to flows that mix there, head-of-line blocking in a model without packets, and what it
 * need not carry of one that could go round it.
 *
 * A router's input is a queue: a packet that waits for its output holds up those behind it, whose outputs are free, so
 * links into which several flows come together do not carry all that they could. Switches with queues at the inputs
 * and random traffic pass 0.75 of it with two inputs and 0.586 with very many (Karol, Hluchyj & Morgan, IEEE Trans.
 * Commun. 35(12), 1987; more with virtual channels: Dally 1992). Here a link has, of its bandwidth b,
 *
 *     b (1 - (1 - limit) B/W (1 - 1/n))       n = W^2 / Q
 *
 * W, Q, B the sums over its flows of w, w^2 and w h: w the share of the flow's rate that crosses the link times its claim, n the
 * participation ratio, which is how many equal flows mix there, h how much a flow blocks. Flows to the same node go the same
 * way from here on and do not hold up each other, whether they come from one node or from all (incast): those of weights w, w', ...
 * count as one of w + w' + ... in Q. All of b for one node, and always where limit is 1. The limit is one of the machine's kind, fitted to replays
 * through the kernel (solvers/calibration/calibration_mixing.c).
 *
 * Limits: the loss does not know where the flows come from, nor that they part later than at the link's end. It depends on who is
 * there, not on rates: flows that crawl, for a bottleneck elsewhere, count in full.
 *
 * Interference: where all flows on the links of a flow have its start and its end, no packet waits behind one that goes elsewhere, and
 * sharing is exact but for the order of packets. So the others' part of the load tells how uncertain it is (replay_error.c).
 *
 * Spreading. A long message of an adaptive routing has a few of its paths (transit_routes.c), and most of those may lie on one link.
 * Its packets are not bound to them: alone it goes at R, the least bandwidth of all links at one distance from its source (a cut: no
 * split is faster; transit_cut.c), where the link would let through b / w. Among others its paths are as good as any, since their links
 * have as much to carry. So the link has, times what is left above,
 *
 *     1 + q^2 g      q = max(0, (4 sum of w^2 / W^2 - 1) / 3),   g = mean of max(0, w R / b - 1), weighted by w^2
 *
 * over the messages (w: of all parts) that spread: q is 1 for one alone, a third for two, 0 for four. Held against the kernel: traces of
 * twelve machines, also with sum of w^2 / W^2 to the power of 1 to 6; 3 and more are equally near (docs/notes/theory-timing.md).
 * Limits: the kernel comes to 0.77 to 1 of R; other links do not get what this one does not carry; a derivative takes R for the link's
 * own bandwidth. */
#include "solvers/transit/transit_fair.h"
#include "solvers/transit/transit_internal.h"
#include "solvers/transit/transit_lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CROWD = 4
}; /* so many equal messages go round nothing; nor does any beside a W of so much, since a message's w is at most 1 */

enum fc_code fc_fair_lose(struct fc_fair *f, double limit, uint32_t n_ends)
{
    f->mix = calloc((size_t)f->n_links + 1, sizeof *f->mix);
    f->stirred = malloc(((size_t)f->n_links + 1) * sizeof *f->stirred);
    f->met = calloc((size_t)n_ends + 1, sizeof *f->met);
    if (!f->mix || !f->stirred || !f->met) return fc_out_of_memory(f->st, "%u links", f->n_links);
    f->limit = limit;
    return FC_OK;
}

/* `came`: it is among the flows of its links, whose other weights are less by its own. `more`: so many more flows spread there from then
 * on. No branch on whether a link is stirred by it. */
static inline void stir(struct fc_fair *f, uint32_t flow, bool came, uint32_t more)
{
    const struct fc_fair_flow *x = &f->flow[flow];
    bool all = f->limit < 1;
    size_t n = f->n_stirred;
    for (const struct fc_fair_entry *e = f->entry + x->first, *end = e + x->n; e < end; e++) {
        struct fc_fair_mix *m = &f->mix[e->link];
        double others = f->link[e->link].weight - (came ? e->weight : 0);
        bool spreads = (m->n_spreads > 0) & (others < CROWD * (1 + 1e-6));
        bool stirs = (m->alone > 0) & !m->stirred & (all | spreads);
        f->stirred[n] = e->link;
        n += stirs;
        m->stirred |= stirs;
        m->n_spreads += more;
    }
    f->n_stirred = n;
}

void fc_fair_stir(struct fc_fair *f, uint32_t flow)
{
    stir(f, flow, true, 0);
}

void fc_fair_unstir(struct fc_fair *f, uint32_t flow)
{
    stir(f, flow, false, f->flow[flow].free_bytes_per_s > 0 ? UINT32_MAX : 0);
}

enum fc_code fc_fair_spreads(struct fc_fair *f, uint32_t flow, double bytes_per_s)
{
    size_t had = f->own_capacity;
    if (!fc_transit_reserve((void **)&f->own, &f->own_capacity, f->n_flows, sizeof *f->own, f->st)) return f->st->code;
    if (f->own_capacity > had) memset(f->own + had, 0, (f->own_capacity - had) * sizeof *f->own);
    f->flow[flow].free_bytes_per_s = bytes_per_s / f->flow[flow].claim;
    const struct fc_fair_flow *x = &f->flow[flow];
    for (const struct fc_fair_entry *e = f->entry + x->first, *end = e + x->n; e < end; e++)
        f->mix[e->link].n_spreads++;
    fc_fair_stir(f, flow);
    return FC_OK;
}

/* The nodes between which it goes, as one number. */
static inline uint64_t ends_of(const struct fc_fair_flow *x)
{
    return (uint64_t)x->start << 32 | x->end;
}

double fc_fair_interference(struct fc_fair *f, uint32_t flow, bool again, double most)
{
    const struct fc_fair_flow *x = &f->flow[flow];
    uint64_t ends = ends_of(x);
    f->n_looks += !again;
    for (const struct fc_fair_entry *e = f->entry + x->first, *end = e + x->n; e < end && most < 1; e++) {
        const struct fc_fair_link *l = &f->link[e->link];
        const struct fc_fair_on *on = f->on + l->first;
        if (l->n_flows < 2 || f->looked[e->link] == f->n_looks) continue;
        f->looked[e->link] = f->n_looks;
        bool all_seen = l->n_flows <= FC_FAIR_SEEN;
        if (all_seen && (l->weight - e->weight) * (1 + 1e-9) < most * l->weight)
            continue; /* others have at most the rest */
        uint32_t step = all_seen ? 1 : (l->n_flows + FC_FAIR_SEEN - 1) / FC_FAIR_SEEN;
        fc_lane weight = fc_lane_of(0), others = weight;
        for (uint32_t i = 0; i < l->n_flows; i += step) {
            fc_lane w = fc_lane_load(&on[i].weight);
            weight = fc_lane_add(weight, w);
            others = fc_lane_add(others, fc_lane_inside(fc_lane_where(ends_of(&f->flow[on[i].flow]) != ends), w));
        }
        if (fc_lane_value(others) > most * fc_lane_value(weight)) most = fc_lane_value(others) / fc_lane_value(weight);
    }
    return most;
}

/* w^2 (w R / b - 1), where that is positive. */
static inline fc_lane beyond(double weight, double free_bytes_per_s, double bytes_per_s)
{
    double more = weight * free_bytes_per_s - bytes_per_s;
    fc_lane beyond = fc_lane_of(weight * weight * more / bytes_per_s);
    return fc_lane_inside(fc_lane_greater(fc_lane_of(more), fc_lane_of(0)), beyond);
}

/* What those to one end, or of one message, weigh so far in the sum at hand; then with w more. */
static inline double meets(struct fc_fair_met *met, uint64_t sum, double w)
{
    double before = fc_lane_value(fc_lane_inside(fc_lane_where(met->sum == sum), fc_lane_load(&met->weight)));
    met->weight = before + w;
    met->sum = sum;
    return before;
}

/* q^2 g, from the sum over the link's flows of their weights. */
static double spread(struct fc_fair *f, const struct fc_fair_link *l, double alone, double weight)
{
    double squares = 0, more = 0;
    for (const struct fc_fair_on *o = f->on + l->first, *end = o + l->n_flows; o < end; o++) {
        const struct fc_fair_flow *x = &f->flow[o->flow];
        if (!(x->free_bytes_per_s > 0)) continue;
        struct fc_fair_met *met = &f->own[x->message];
        fc_lane before = fc_lane_inside(fc_lane_where(met->sum == f->n_sums), fc_lane_load(&met->beyond));
        double w = o->weight, own = meets(met, f->n_sums, w);
        squares += w * (2 * own + w); /* (W + w)^2 - W^2 */
        met->beyond = fc_lane_value(beyond(own + w, x->free_bytes_per_s, alone));
        more -= fc_lane_value(before);
        more += met->beyond;
    }
    double q = (CROWD * squares / (weight * weight) - 1) / (CROWD - 1);
    return q > 0 && more > 0 ? q * q * more / squares : 0;
}

/* The part that flows which mix leave of it, from that sum. */
static double left(struct fc_fair *f, const struct fc_fair_link *l, double weight)
{
    double squares = 0, blocked = 0;
    for (const struct fc_fair_on *o = f->on + l->first, *end = o + l->n_flows; o < end; o++) {
        const struct fc_fair_flow *x = &f->flow[o->flow];
        double w = o->weight, met = meets(&f->met[x->end], f->n_sums, w);
        squares += w * (2 * met + w); /* (W + w)^2 - W^2 */
        blocked += w * x->blocks;
    }
    double mixed = 1 - squares / (weight * weight);
    return 1 - (1 - f->limit) * (blocked / weight) * (mixed > 0 ? mixed : 0); /* no less, to rounding */
}

double fc_fair_mixed(struct fc_fair *f, uint32_t link)
{
    const struct fc_fair_link *l = &f->link[link];
    double weight = 0, alone = f->mix[link].alone, has = alone;
    bool spreads = f->mix[link].n_spreads > 0 && l->weight < CROWD * (1 + 1e-6);
    if (l->n_flows < 2 && !(spreads && l->n_flows > 0)) return alone;
    f->n_sums++;
    for (const struct fc_fair_on *o = f->on + l->first, *end = o + l->n_flows; o < end; o++) weight += o->weight;
    if (f->limit < 1) has *= left(f, l, weight);
    return spreads ? has * (1 + spread(f, l, alone, weight)) : has;
}
