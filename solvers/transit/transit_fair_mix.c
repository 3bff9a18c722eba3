/* transit_fair_mix.c - what a link loses to flows that mix there: head-of-line blocking, in a model without packets.
 *
 * A router's input is a queue: a packet that waits for its output holds up those behind it, whose outputs are free, so
 * links into which several flows come together do not carry all that they could. Switches with queues at the inputs
 * and random traffic pass 0.75 of it with two inputs and 0.586 with very many (Karol, Hluchyj & Morgan, IEEE Trans.
 * Commun. 35(12), 1987; more with virtual channels: Dally 1992). Here a link has, of its bandwidth b,
 *
 *     b (1 - (1 - limit) B/W (1 - 1/n))       n = W^2 / Q
 *
 * W, Q, B the sums over its flows of w, w^2 and w h: w the share of the flow's rate that crosses the link, n the
 * participation ratio, which is how many equal flows mix there, h how much a flow blocks. Flows to the same node go the same
 * way from here on and do not hold up each other, whether they come from one node or from all (incast): those of weights w, w', ...
 * count as one of w + w' + ... in Q. All of b for one node, and always where limit is 1. The limit is one of the machine's kind, fitted to replays
 * through the kernel (solvers/calibration/calibration_mixing.c).
 *
 * Limits: the loss does not know where the flows come from, nor that they part later than at the link's end. It depends on who is
 * there, not on rates: flows that crawl, for a bottleneck elsewhere, count in full.
 *
 * Interference: where all flows on the links of a flow have its start and its end, no packet waits behind one that goes elsewhere, and
 * sharing is exact but for the order of packets. So the others' part of the load tells how uncertain it is (replay_error.c). */
#include "solvers/transit/transit_fair.h"

#include <math.h>
#include <stdlib.h>

enum fc_code fc_fair_lose(struct fc_fair *f, double limit, const bool *mixes, uint32_t n_ends)
{
    f->mix = malloc(((size_t)f->n_links + 1) * sizeof *f->mix);
    f->stirred = malloc(((size_t)f->n_links + 1) * sizeof *f->stirred);
    f->met = calloc((size_t)n_ends + 1, sizeof *f->met);
    if (!f->mix || !f->stirred || !f->met) return fc_out_of_memory(f->st, "%u links", f->n_links);
    for (uint32_t l = 0; l < f->n_links; l++)
        f->mix[l] = (struct fc_fair_mix){.alone = mixes[l] ? f->link[l].capacity : 0};
    f->limit = limit;
    return FC_OK;
}

void fc_fair_stir(struct fc_fair *f, uint32_t flow)
{
    const struct fc_fair_flow *x = &f->flow[flow];
    for (const struct fc_fair_entry *e = f->entry + x->first, *end = e + x->n; e < end; e++) {
        struct fc_fair_mix *m = &f->mix[e->link];
        if (!(m->alone > 0) || m->stirred) continue;
        f->stirred[f->n_stirred++] = e->link;
        m->stirred = true;
    }
}

double fc_fair_interference(const struct fc_fair *f, uint32_t flow, double most)
{
    const struct fc_fair_flow *x = &f->flow[flow];
    for (const struct fc_fair_entry *e = f->entry + x->first, *end = e + x->n; e < end && most < 1; e++) {
        const struct fc_fair_link *l = &f->link[e->link];
        bool all_seen = l->n_flows <= FC_FAIR_SEEN;
        if (all_seen && (1 - e->weight / l->weight) * (1 + 1e-9) < most) continue; /* others have at most the rest */
        uint32_t step = (l->n_flows + FC_FAIR_SEEN - 1) / FC_FAIR_SEEN;
        double weight = 0, others = 0;
        for (uint32_t i = 0; l->n_flows > 1 && i < l->n_flows; i += step) {
            const struct fc_fair_on *o = &f->on[l->first + i];
            const struct fc_fair_flow *y = &f->flow[o->flow];
            weight += o->weight;
            if (y->end != x->end || y->start != x->start) others += o->weight;
        }
        if (others > most * weight) most = others / weight;
    }
    return most;
}

double fc_fair_mixed(struct fc_fair *f, uint32_t link)
{
    const struct fc_fair_link *l = &f->link[link];
    double weight = 0, squares = 0, blocked = 0;
    if (l->n_flows < 2) return f->mix[link].alone;
    f->n_sums++;
    for (const struct fc_fair_on *o = f->on + l->first, *end = o + l->n_flows; o < end; o++) {
        const struct fc_fair_flow *x = &f->flow[o->flow];
        struct fc_fair_met *met = &f->met[x->end];
        if (met->sum != f->n_sums) *met = (struct fc_fair_met){.sum = f->n_sums};
        squares += o->weight * (2 * met->weight + o->weight); /* (W + w)^2 - W^2 */
        met->weight += o->weight;
        weight += o->weight;
        blocked += o->weight * x->blocks;
    }
    double mixed = fmax(0, 1 - squares / (weight * weight)); /* no less, to rounding */
    return f->mix[link].alone * (1 - (1 - f->limit) * (blocked / weight) * mixed);
}
