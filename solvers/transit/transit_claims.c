/* transit_claims.c - messages to one node: those from near by are there first.
 *
 * A router gives its inputs turns, so where what goes to one node comes together each input has the same share of the link on, however many
 * messages come over it: the parking lot (Dally & Towles 2004, 15.4). All to one, the messages from next door are there when the last
 * ones have hardly left, and the receiver works while they are under way. With equal shares all would arrive with the last. Message i of the n
 * to a node has the claim (transit_fair.h)
 *
 *     c_i = h_i n a_i / sum over j of a_j,     log a_i = - (1 - p / 50) sum over its links l of w_il (n_l / N_l)^2 log(in_r / out_r)
 *
 * h_i its claim by hops, p percent of the decisions in which packets in the network go first (transit_routes.c has both); w_il the part of it that
 * crosses link l, r the router that l enters, by in_r links of which messages to the node come and by out_r they leave (in_r > out_r, else nothing);
 * n_l of the N_l messages on l go to the node: where most go elsewhere, it is these that have the turns. Of a message in parts log a is the mean of theirs. The square was chosen on shipped
 * machines and o.. of tests/validate_phases.c, whose traces are 4.8 and 3.2 % off with it, 4.9 and 3.4 with the first power, which is as good for hot spots
 * alone (docs/notes/theory-timing.md). Claims are set when one more message to the node starts, unless
 * its own node has more than BUSY flows under way (all to all, where it costs most and changes least); of those that are left when one ends they keep
 * their proportion.
 *
 * Against the kernel, one message of 4 KiB from each of 48 nodes to two of a tree: those at the same router arrive after 5.3 us (kernel 5.5), the mean
 * message after 22.8 (22.8), with equal claims after 25.6. Routers that take the oldest packet first are no different: those
 * from next door leave as early, and the others stand behind each other.
 *
 * Limits: the mean claim is 1, so next to messages to other nodes those from near by have more than one share. Nothing where the link into a node
 * has no bandwidth of its own. */
#include "solvers/transit/transit_claims.h"
#include "solvers/transit/transit_internal.h"

#include <stdlib.h>

#define LEAST 1e-9  /* of the claims of one node's messages, before they are scaled */
#define SAME 1e-6   /* claims that differ by less are equal */
enum { BUSY = 16 }; /* flows of a node; those that come as one of more of them leave claims as they are */

/* Links into nodes, by node. */
static enum fc_code list_doors(struct fc_claims *c, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_network *net = c->net;
    c->first_door = fc_alloc(arena, (size_t)net->n_nodes + 2, sizeof *c->first_door, st);
    uint32_t *next = c->first_door ? c->first_door + 1 : NULL;
    for (uint32_t l = 0; next && l < net->n_links; l++)
        if (fc_is_node(net, net->link_target[l])) next[net->link_target[l] - net->n_routers + 1]++;
    for (uint32_t i = 0; next && i < net->n_nodes; i++) next[i + 1] += next[i];
    c->door = next ? fc_alloc(arena, next[net->n_nodes], sizeof *c->door, st) : NULL;
    for (uint32_t l = 0; c->door && l < net->n_links; l++)
        if (fc_is_node(net, net->link_target[l])) c->door[next[net->link_target[l] - net->n_routers]++] = l;
    return st->code;
}

enum fc_code fc_claims_open(struct fc_claims *claims, const struct fc_network *net, struct fc_arena *arena,
                            struct fc_status *st)
{
    *claims = (struct fc_claims){.net = net, .strength = 1 - net->machine->router.in_network_percent / 50};
    claims->router = fc_alloc(arena, net->n_vertices, sizeof *claims->router, st);
    claims->link = fc_alloc(arena, net->n_links, sizeof *claims->link, st);
    claims->node = fc_alloc(arena, net->n_nodes, sizeof *claims->node, st);
    return st->code ? st->code : list_doors(claims, arena, st);
}

void fc_claims_close(struct fc_claims *claims)
{
    free(claims->flow);
    free(claims->of);
    free(claims->changed);
}

/* All that go to the node: those on the links into it, some of which may be on several. */
static enum fc_code list_flows(struct fc_claims *c, const struct fc_fair *fair, uint32_t node)
{
    size_t had = c->of_capacity;
    if (!fc_transit_reserve((void **)&c->of, &c->of_capacity, fair->n_flows, sizeof *c->of, fair->st) ||
        !fc_transit_reserve((void **)&c->flow, &c->flow_capacity, fair->n_flows, sizeof *c->flow, fair->st))
        return fair->st->code;
    memset(c->of + had, 0, (c->of_capacity - had) * sizeof *c->of);
    c->n_flows = 0;
    c->n_looks++;
    for (uint32_t k = c->first_door[node]; k < c->first_door[node + 1]; k++) {
        const struct fc_fair_link *l = &fair->link[c->door[k]];
        for (uint32_t i = 0; i < l->n_flows; i++) {
            uint32_t flow = fair->on[l->first + i].flow;
            if (c->of[flow].listed != c->n_looks) c->flow[c->n_flows++] = flow;
            c->of[flow].listed = c->n_looks;
        }
    }
    return FC_OK;
}

/* One more of them over the link. */
static void count(struct fc_claims *c, uint32_t link)
{
    struct fc_claims_link *l = &c->link[link];
    uint32_t ends[2] = {c->net->link_source[link], c->net->link_target[link]};
    bool first = l->look != c->n_looks;
    if (first) *l = (struct fc_claims_link){.look = c->n_looks};
    l->n++;
    for (int side = 0; first && side < 2; side++) {
        struct fc_claims_router *r = &c->router[ends[side]];
        if (r->look != c->n_looks) *r = (struct fc_claims_router){.look = c->n_looks};
        r->in += side == 1;
        r->out += side == 0;
    }
}

/* log a of what goes over the way. */
static double log_share(const struct fc_claims *c, const struct fc_fair *fair, const struct fc_transit_ways *ways,
                        const struct fc_transit_way *way)
{
    double sum = 0;
    for (uint32_t k = way->first; k < way->first + way->n; k++) {
        uint32_t link = ways->link[k], end = c->net->link_target[link];
        const struct fc_claims_router *r = &c->router[end];
        if (!(ways->weight[k] > 0) || fc_is_node(c->net, end) || r->in <= r->out) continue;
        bool is_limit = k < way->first + way->n_finite;
        double part = is_limit ? (double)c->link[link].n / fair->link[link].n_flows : 1;
        sum -= ways->weight[k] * part * part * log((double)r->in / r->out);
    }
    return c->strength * sum;
}

static struct fc_claims_flow *message_of(const struct fc_claims *c, const struct fc_fair *fair, uint32_t flow)
{
    return &c->of[fair->flow[flow].message];
}

/* log a of the messages to the node at hand. */
static void look_at_messages(struct fc_claims *c, const struct fc_fair *fair, const struct fc_transit_ways *ways)
{
    for (size_t i = 0; i < c->n_flows; i++) {
        const struct fc_transit_way *way = &ways->way[fair->flow[c->flow[i]].way];
        for (uint32_t k = way->first; k < way->first + way->n; k++)
            if (ways->weight[k] > 0) count(c, ways->link[k]);
    }
    for (size_t i = 0; i < c->n_flows; i++) {
        struct fc_claims_flow *m = message_of(c, fair, c->flow[i]);
        if (m->look != c->n_looks) m->sum = m->n = 0;
        m->look = c->n_looks;
        m->sum += log_share(c, fair, ways, &ways->way[fair->flow[c->flow[i]].way]);
        m->n++;
    }
}

static enum fc_code settle_node(struct fc_claims *c, struct fc_fair *fair, const struct fc_transit_ways *ways)
{
    double all = 0;
    if (!fc_transit_reserve((void **)&c->changed, &c->changed_capacity, c->n_changed + c->n_flows, sizeof *c->changed,
                            fair->st))
        return fair->st->code;
    look_at_messages(c, fair, ways);
    for (size_t i = 0; i < c->n_flows; i++) {
        struct fc_claims_flow *m = message_of(c, fair, c->flow[i]);
        if (m->n > 0) m->a = fmax(LEAST, exp(m->sum / m->n));
        m->n = 0;
        all += m->a;
    }
    for (size_t i = 0; i < c->n_flows; i++) {
        uint32_t flow = c->flow[i];
        double a = message_of(c, fair, flow)->a * (double)c->n_flows / all;
        double claim = ways->way[fair->flow[flow].way].claim * a;
        if (fabs(claim - fair->flow[flow].claim) < SAME * claim) continue;
        if (fc_fair_claim(fair, flow, claim)) return fair->st->code;
        c->changed[c->n_changed++] = flow;
    }
    return FC_OK;
}

static uint32_t flows_from(const struct fc_claims *c, const struct fc_fair *fair, uint32_t node)
{
    uint32_t n = 0, v = fc_node_vertex(c->net, node);
    for (uint32_t l = c->net->first_link[v]; l < c->net->first_link[v + 1]; l++) n += fair->link[l].n_flows;
    return n;
}

enum fc_code fc_claims_settle(struct fc_claims *c, struct fc_fair *fair, const struct fc_transit_ways *ways)
{
    size_t n_came = fair->n_came; /* those that come anew go to the same nodes */
    c->n_changed = 0;
    c->n_settles++;
    for (size_t i = 0; i < n_came && c->strength != 0; i++) {
        const struct fc_fair_flow *x = &fair->flow[fair->came[i]];
        if (x->way == FC_NONE || c->node[x->end] == c->n_settles || flows_from(c, fair, x->start) > BUSY) continue;
        c->node[x->end] = c->n_settles;
        if (list_flows(c, fair, x->end)) return fair->st->code;
        if (c->n_flows > 1 && settle_node(c, fair, ways)) return fair->st->code;
    }
    return FC_OK;
}

/* It leaves its links, but for its place there, and comes to them with other weights. */
enum fc_code fc_fair_claim(struct fc_fair *f, uint32_t flow, double claim)
{
    struct fc_fair_flow *x = &f->flow[flow];
    double by = claim / x->claim;
    if (!(x->state & FC_FAIR_CAME)) {
        if (!fc_transit_reserve((void **)&f->came, &f->came_capacity, f->n_came + 1, sizeof *f->came, f->st))
            return f->st->code;
        x->state |= FC_FAIR_CAME;
        x->place = (uint32_t)f->n_came;
        f->came[f->n_came++] = flow;
    }
    if (x->bottleneck != FC_NONE) fc_fair_unbind(&f->link[x->bottleneck]);
    x->bottleneck = FC_NONE;
    for (struct fc_fair_entry *e = f->entry + x->first, *end = e + x->n; e < end; e++) {
        struct fc_fair_link *l = &f->link[e->link];
        l->used -= e->weight * x->rate;
        l->weight += (by - 1) * e->weight;
        l->in_order = false;
        e->weight *= by;
        f->on[l->first + e->place].weight = e->weight;
        if (x->rate > 0 && l->n_bound > 0 && !l->loose) {
            l->loose = true;
            f->loose[f->n_loose++] = e->link;
        }
    }
    x->claim = claim;
    x->free_bytes_per_s /= by;
    x->rate = f->pace[flow] = 0;
    if (f->mix) fc_fair_stir(f, flow);
    return FC_OK;
}
