/* bulk_fifos.c - what the injection FIFOs of nodes let through of a phase, where its fluid is not looked at (bulk_fluid.c).
 *
 * A node with F FIFOs before slower links keeps no more of these busy than its heads want (solvers/transit/transit_heads.c), so its messages
 * take, with the wire bytes B_i of message i and b_i the bandwidth of the links that it takes behind the node's router (1/b_i the mean of
 * theirs, by what crosses each),
 *
 *     T_i = sum of B_i / b_i  /  min(F, sum over those links of 1 - (1 - a_l)^F)
 *
 * a_l is the part of its messages whose next link is l; packets that may choose want all that they may take. The phase takes the greatest of
 * all nodes. Limits: those of that file; who is done no longer counts among those that want, so T is that of messages alike. */
#include "core/values.h"
#include "solvers/calibration/bulk.h"
#include "solvers/load_internal.h"
#include "solvers/transit/transit_fifos.h"

#define MOST_WORK 2.5e8 /* entries times routers; half a second */

struct sender {
    const struct fc_network *net;
    const struct fc_demand *demand;
    const struct fc_placement *placement;
    struct fc_walk walk;
    double *wanted; /* [n_links] by how many of the node's messages, zeroed behind it */
    uint32_t *used; /* [n_links] */
    double n_fifos;
};

/* T of the node, whose entries are entry[n]. */
static double node_s(struct sender *s, uint32_t node, const uint32_t *entry, uint32_t n)
{
    const struct fc_machine *m = s->net->machine;
    double busy_s = 0, messages = 0, heads = 0;
    uint32_t n_used = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct fc_demand *d = s->demand;
        uint32_t e = entry[i], dst = s->placement->node[d->dst[e]];
        if (dst == node || !(d->bytes[e] > 0)) continue;
        double each = fmax(1, d->messages[e]), wire = fc_wire_bytes(m, d->bytes[e] / each) * each;
        messages++;
        s->walk.n = 0;
        m->routing->walk(s->net, node, dst, 1, &s->walk);
        for (uint32_t k = 0; k < s->walk.n; k++) {
            uint32_t link = s->walk.link[k];
            if (!fc_fifos_feed(s->net, node, link)) continue;
            if (s->wanted[link] == 0) s->used[n_used++] = link;
            s->wanted[link] += m->routing->adaptive ? 1 : s->walk.weight[k];
            busy_s += s->walk.weight[k] * wire / fc_link_bandwidth(s->net, link);
        }
    }
    for (uint32_t k = 0; k < n_used; k++) {
        heads += 1 - pow(1 - fmin(1, s->wanted[s->used[k]] / messages), s->n_fifos);
        s->wanted[s->used[k]] = 0;
    }
    return heads > 0 ? busy_s / fmin(s->n_fifos, heads) : 0;
}

static enum fc_code all_nodes(struct sender *s, struct fc_arena *arena, double *seconds, struct fc_status *st)
{
    uint32_t n_nodes = s->net->n_nodes;
    const struct fc_demand *d = s->demand;
    uint32_t *first = fc_alloc(arena, n_nodes + (size_t)2, sizeof *first, st),
             *entry = fc_alloc(arena, d->n_entries + 1, sizeof *entry, st);
    s->wanted = fc_alloc(arena, s->net->n_links, sizeof *s->wanted, st);
    s->used = fc_alloc(arena, s->net->n_links, sizeof *s->used, st);
    if (st->code) return st->code;
    for (size_t e = 0; e < d->n_entries; e++) first[s->placement->node[d->src[e]] + 2]++;
    for (uint32_t i = 0; i < n_nodes; i++) first[i + 2] += first[i + 1];
    for (size_t e = 0; e < d->n_entries; e++) entry[first[s->placement->node[d->src[e]] + 1]++] = (uint32_t)e;
    for (uint32_t i = 0; i < n_nodes; i++)
        *seconds = fmax(*seconds, node_s(s, i, entry + first[i], first[i + 1] - first[i]));
    return FC_OK;
}

enum fc_code fc_bulk_fifos(const struct fc_network *net, const struct fc_demand *demand,
                           const struct fc_placement *placement, double *seconds, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct sender s = {.net = net, .demand = demand, .placement = placement};
    struct fc_fifos fifos;
    *seconds = 0;
    if (net->machine->routing->detours || demand->n_dense || (double)demand->n_entries * net->n_routers > MOST_WORK)
        return FC_OK;
    if (fc_fifos_open(&fifos, net, &arena, st)) return st->code;
    s.n_fifos = fifos.n_fifos;
    bool bind = fifos.bind;
    fc_fifos_close(&fifos);
    if (!bind || fc_walk_start(&s.walk, net->machine->routing->walk_capacity(net), st)) return st->code;
    all_nodes(&s, &arena, seconds, st);
    fc_walk_free(&s.walk);
    return st->code;
}
