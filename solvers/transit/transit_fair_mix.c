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
 * participation ratio, which is how many equal flows mix there, h how much a flow blocks. Flows of the same way (several ranks
 * of one node that send to another) do not hold up each other: k of them count as one of k w in Q. All of b for one way, and
 * always where limit is 1. The limit is one of the machine's kind, fitted to replays through the kernel
 * (solvers/calibration/calibration_mixing.c).
 *
 * Limits: the loss does not know where the flows come from and go to: flows of different nodes that share their whole way behind
 * the link lose as those that part. It depends on who is there, not on rates: flows that crawl, for a bottleneck elsewhere, count in full. */
#include "solvers/transit/transit_fair.h"

#include <stdlib.h>

enum fc_code fc_fair_lose(struct fc_fair *f, double limit, const bool *mixes)
{
    f->mix = malloc(((size_t)f->n_links + 1) * sizeof *f->mix);
    f->stirred = malloc(((size_t)f->n_links + 1) * sizeof *f->stirred);
    if (!f->mix || !f->stirred) return fc_out_of_memory(f->st, "%u links", f->n_links);
    for (uint32_t l = 0; l < f->n_links; l++)
        f->mix[l] = (struct fc_fair_mix){.alone = mixes[l] ? f->link[l].capacity : 0};
    f->limit = limit;
    return FC_OK;
}

void fc_fair_stir(struct fc_fair *f, uint32_t flow, double sign)
{
    const struct fc_fair_flow *x = &f->flow[flow];
    double alike = 0; /* flows of its way, without itself: (k + 1)^2 - k^2 = 2 k + 1 */
    if (x->way != FC_NONE) alike = sign > 0 ? f->alike[x->way]++ : --f->alike[x->way];
    for (const struct fc_fair_entry *e = f->entry + x->first, *end = e + x->n; e < end; e++) {
        struct fc_fair_mix *m = &f->mix[e->link];
        double w = sign * e->weight;
        if (!(m->alone > 0)) continue;
        m->weight += w;
        m->squares += w * e->weight * (2 * alike + 1);
        m->blocked += w * x->blocks;
        if (f->link[e->link].n_flows == 0) m->weight = m->squares = m->blocked = 0; /* without what rounding has left */
        if (!m->stirred) f->stirred[f->n_stirred++] = e->link;
        m->stirred = true;
    }
}

double fc_fair_mixed(const struct fc_fair *f, uint32_t link)
{
    const struct fc_fair_mix *m = &f->mix[link];
    if (f->link[link].n_flows < 2) return m->alone;
    double mixed = 1 - m->squares / (m->weight * m->weight);
    return m->alone * (1 - (1 - f->limit) * (m->blocked / m->weight) * mixed);
}
