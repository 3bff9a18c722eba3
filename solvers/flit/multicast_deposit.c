/* multicast_deposit.c - packets that go along one dimension of a torus or mesh and leave a copy at every node
 * that they pass. Source: Adiga et al., IBM J. Res. Dev. 49(2/3), 2005, architecture of the torus network ("a
 * bit in the header").
 *
 * Such a packet takes the channels of the machine's routing in that dimension, escape included, for up to all
 * but one of the hops round a ring. No deadlock comes of it: a copy only ever waits for the link to its node,
 * which takes in everything and which copies hold no channel of (each receiver has a reception FIFO of its
 * own), so a deposit waits for what the same packet without copies would wait for. And such packets may go
 * further than minimal ones: with the bubble any number of hops within a ring is safe; with the dateline pair
 * (changed on crossing) a packet from coordinate s, hops <= k - 1, is on the second channel from the dateline
 * to s - 1 <= k - 2 at most and never comes to the dateline again, so the pair still has no cycle. Refused:
 * Valiant routing, a pair chosen on entry (its second channel would close a ring), a ring without either
 * rule. */
#include "models/family_torus.h"
#include "solvers/flit/multicast.h"
#include "solvers/flit/route.h"

#include <string.h>

static uint32_t most_copies(const struct fc_network *net)
{
    (void)net;
    return 2; /* to the node and onward */
}

static enum fc_code group(const struct fc_network *net, const struct fc_multicast *m, uint32_t src, uint32_t *target,
                          struct fc_flit_group *g, struct fc_status *st)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t at = src;
    g->dim = m->dim;
    g->direction = m->direction;
    g->first = target[0];
    g->last = target[m->n_targets - 1];
    for (uint32_t i = 0; i < m->n_targets; i++) {
        bool there = fc_torus_port(net, at, m->dim, m->direction) != FC_NONE;
        at = fc_torus_neighbour(s, at, m->dim, m->direction);
        if (there && target[i] == at && at != src) continue;
        return fc_refuse(
            st, FC_INPUT,
            "router.multicast: deposit from node %u along %c%c: receiver %u is on node %u (expected node %u "
            "of the line; mapping def keeps lines)",
            src, fc_torus_letter(m->dim), m->direction == FC_PLUS ? '+' : '-', i, target[i], at);
    }
    return FC_OK;
}

static enum fc_code route(const struct fc_flit_net *flit, struct fc_flit_group *g, struct fc_status *st)
{
    const struct fc_torus_shape *s = fc_torus(flit->net);
    bool ring = s->ring[g->dim], far = g->n_targets > s->k[g->dim] / 2;
    if (flit->route == &fc_route_torus_valiant)
        return fc_route_refuse(
            flit, st,
            "router.multicast: deposit does not go with valiant routing (expected dimension-order or "
            "adaptive)");
    if (ring && flit->net->machine->router.dateline == FC_DATELINE_ENTRY && strcmp(flit->vc_rule, "bubble") &&
        strcmp(flit->vc_rule, "none"))
        return fc_route_refuse(
            flit, st,
            "router.multicast: deposit goes further round a ring than router.dateline: entry is free "
            "of deadlock for (expected crossed)");
    if (ring && far && !strcmp(flit->vc_rule, "none"))
        return fc_route_refuse(flit, st,
                               "router.multicast: deposit over %u hops of a ring of %u can deadlock under rule none "
                               "(expected router.escape: bubble or dateline)",
                               g->n_targets, s->k[g->dim]);
    g->route = fc_route_torus_along(flit, g->dim, g->direction, g->n_targets);
    return FC_OK;
}

static int branches(const struct fc_flit_net *flit, const struct fc_flit_group *g, uint32_t router, uint64_t word,
                    struct fc_flit_choice *out, bool *onward)
{
    *onward = fc_route_torus_goes_on(flit, word);
    if (router == g->src) return 0;
    out[0] = (struct fc_flit_choice){.route = word, .link = flit->net->first_link[router + 1] - 1};
    return 1;
}

static void loads(const struct fc_network *net, const struct fc_flit_group *g, double bytes, double *load)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t at = g->src;
    load[net->first_link[net->n_routers + at]] += bytes;
    for (uint32_t i = 0; i < g->n_targets; i++) {
        load[fc_torus_port(net, at, g->dim, g->direction)] += bytes / s->parallel[g->dim]; /* cables in turn */
        at = fc_torus_neighbour(s, at, g->dim, g->direction);
        load[net->first_link[at + 1] - 1] += bytes;
    }
}

const struct fc_flit_multicast_ops fc_multicast_deposit = {
    .name = "deposit",
    .most_copies = most_copies,
    .group = group,
    .route = route,
    .branches = branches,
    .loads = loads,
};
