/* routing_tables.c - graphs with forwarding tables (network.routes): a packet goes as the switches' tables say.
 *
 * To an end (a cable of the destination) every router has one link. Of a node with several cables, and to one with several, the
 * ways with the fewest links between routers are taken, in equal parts:
 *
 *   H = min over cables c of the source, ends e of the destination of hops(router of c, e)
 *   each (c, e) with hops = H carries 1 / (number of such pairs)
 *
 * so rails that share a switch keep to it, as MPI libraries that pair their ports do. Loads of a[s] b[d] come from one sweep of
 * each end's tree, from its leaves on: O(ends x routers + nodes x ends). */
#include "models/family_graph.h"

/* The links of a node are first .. end - 1. */
struct cables {
    uint32_t first, end;
};
static struct cables cables_of(const struct fc_network *net, uint32_t node)
{
    uint32_t v = fc_node_vertex(net, node);
    return (struct cables){net->first_link[v], net->first_link[v + 1]};
}

static const struct fc_forwarding *tables(const struct fc_network *net)
{
    return ((const struct fc_graph_tables *)net->extra)->forwarding;
}

/* The row of an end, of which `link` is the node's. */
static size_t row_of(const struct fc_network *net, uint32_t link)
{
    return (size_t)(link - net->first_link[net->n_routers]) * net->n_routers;
}

/* How many pairs of cables are nearest, and their hops; 0: there is no way. */
static uint32_t nearest(const struct fc_network *net, struct cables from, struct cables to, uint16_t *hops)
{
    const struct fc_forwarding *f = tables(net);
    uint32_t n = 0;
    *hops = FC_FAR;
    for (uint32_t e = to.first; e < to.end; e++)
        for (uint32_t c = from.first; c < from.end; c++) {
            uint16_t h = f->hops[row_of(net, e) + net->link_target[c]];
            if (h < *hops) *hops = h, n = 0;
            n += h == *hops && h != FC_FAR;
        }
    return n;
}

static uint32_t walk_capacity(const struct fc_network *net)
{
    uint64_t most = 1;
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        struct cables c = cables_of(net, n);
        if (c.end - c.first > most) most = c.end - c.first;
    }
    uint64_t capacity = most * most * (tables(net)->most_hops + 2ull);
    return capacity < FC_NONE ? (uint32_t)capacity : FC_NONE;
}

static void walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk)
{
    const struct fc_forwarding *f = tables(net);
    struct cables from = cables_of(net, src), to = cables_of(net, dst);
    uint16_t hops;
    double each = share / nearest(net, from, to, &hops);
    for (uint32_t e = to.first; e < to.end && hops != FC_FAR; e++)
        for (uint32_t c = from.first; c < from.end; c++) {
            const uint32_t *link = f->link + row_of(net, e);
            uint32_t v = net->link_target[c];
            if (f->hops[row_of(net, e) + v] != hops) continue;
            fc_walk_add(walk, c, each);
            for (; !fc_is_node(net, v); v = net->link_target[link[v]]) fc_walk_add(walk, link[v], each);
        }
}

static enum fc_code no_way(const struct fc_network *net, uint32_t src, uint32_t dst, struct fc_status *st)
{
    const struct fc_graph_shape *s = fc_graph(net);
    return fc_fail(st, FC_NO, (struct fc_place){s->routes_path, 0},
                   "there is no path from %s to %s (expected traffic within connected parts of the network)",
                   s->node_name[src], s->node_name[dst]);
}

static enum fc_code sparse(const struct fc_network *net, const uint32_t *src, const uint32_t *dst, const double *bytes,
                           size_t n, double *load, struct fc_status *st)
{
    FC_SCOPED(fc_walk_free) struct fc_walk way = {0};
    if (fc_walk_start(&way, walk_capacity(net), st)) return st->code;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == 0) continue;
        way.n = 0;
        walk(net, src[i], dst[i], bytes[i], &way);
        if (way.n == 0) {
            no_way(net, src[i], dst[i], st);
            break;
        }
        for (uint32_t k = 0; k < way.n; k++) load[way.link[k]] += way.weight[k];
    }
    return st->code;
}

/* ---- rank-one traffic ---- */

struct sweep {
    double *flow;    /* [ends of the destination][n_routers] */
    uint32_t *order; /* [n_routers] */
    uint32_t *first; /* [n_routers + 2] scratch */
};

/* Sends what node src has for each end of a destination into the flow. */
static enum fc_code inject(const struct fc_network *net, uint32_t src, uint32_t dst, double bytes, struct sweep *w,
                           double *load, struct fc_status *st)
{
    const struct fc_forwarding *f = tables(net);
    struct cables from = cables_of(net, src), to = cables_of(net, dst);
    uint16_t hops;
    uint32_t n = nearest(net, from, to, &hops);
    if (n == 0) return no_way(net, src, dst, st);
    for (uint32_t e = to.first; e < to.end; e++)
        for (uint32_t c = from.first; c < from.end; c++) {
            uint32_t v = net->link_target[c];
            if (f->hops[row_of(net, e) + v] != hops) continue;
            load[c] += bytes / n;
            w->flow[(size_t)(e - to.first) * net->n_routers + v] += bytes / n;
        }
    return FC_OK;
}

/* Moves the flow of one end down its tree; what is left of it is zero. */
static void sweep_end(const struct fc_network *net, uint32_t end, double *flow, struct sweep *w, double *load)
{
    const struct fc_forwarding *f = tables(net);
    const uint32_t *link = f->link + row_of(net, end);
    uint32_t n = fc_graph_by_falling_hops(f->hops + row_of(net, end), net->n_routers, w->first, w->order);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = w->order[i], to = net->link_target[link[v]];
        if (flow[v] == 0) continue;
        load[link[v]] += flow[v];
        if (!fc_is_node(net, to)) flow[to] += flow[v];
        flow[v] = 0;
    }
}

static enum fc_code rank_one(const struct fc_network *net, const double *a, const double *b, double *load,
                             struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct sweep w;
    uint32_t most = 0;
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        struct cables c = cables_of(net, n);
        if (c.end - c.first > most) most = c.end - c.first;
    }
    w.flow = fc_alloc(&scratch, (size_t)most * net->n_routers, sizeof *w.flow, st);
    w.order = fc_alloc(&scratch, net->n_routers, sizeof *w.order, st);
    w.first = fc_alloc(&scratch, net->n_routers + 2ull, sizeof *w.first, st);
    for (uint32_t dst = 0; !st->code && dst < net->n_nodes; dst++) {
        struct cables to = cables_of(net, dst);
        if (b[dst] == 0) continue;
        for (uint32_t src = 0; !st->code && src < net->n_nodes; src++)
            if (src != dst && a[src] != 0) inject(net, src, dst, a[src] * b[dst], &w, load, st);
        for (uint32_t e = to.first; !st->code && e < to.end; e++)
            sweep_end(net, e, w.flow + (size_t)(e - to.first) * net->n_routers, &w, load);
    }
    return st->code;
}

static const char *lacks(const struct fc_machine *machine)
{
    if (!fc_machine_graph(machine)->forward) return "network.routes is missing (the switches' forwarding tables)";
    int escape = machine->router.escape;
    if (escape == FC_ESCAPE_HOPS || escape == FC_ESCAPE_LAYERS || escape == FC_ESCAPE_UPDOWN)
        return "router.escape: hops, layers and updown are rules of other routings (tables are certified as they are: leave "
               "it out)";
    return NULL;
}

static const char *const families[] = {"graph", NULL};

const struct fc_routing_ops fc_routing_tables = {
    .name = "tables",
    .help = "the switches' own forwarding tables (network.routes)",
    .source = "InfiniBand Architecture Specification vol. 1, 14.2.5",
    .families = families,
    .lacks = lacks,
    .walk_capacity = walk_capacity,
    .walk = walk,
    .rank_one = rank_one,
    .sparse = sparse,
};
