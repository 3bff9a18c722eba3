/* route_shortest.c - graphs: at every router any link that leads one hop nearer to the destination
 * (equal-cost multi-path, RFC 2992, packet by packet).
 *
 * The links are kept as bit masks over a router's links to routers, one a router and group of destinations
 * that hang on the same routers (family_graph.h). Virtual channels: rule none all of them; layers those of
 * the destination's layer; hops those of the hops left. Limits: at most 64 equal next hops, and links a node; masks of at most 2 GiB;
 * every node must reach every other. */
#include "models/deadlock/cdg.h"
#include "models/family_graph.h"
#include "solvers/flit/route.h"

#include <string.h>

#define MOST_TABLE_BYTES 2147483648.0

struct shortest_routes {
    const struct fc_network *net;
    const struct fc_graph_tables *tables;
    uint64_t *next; /* [n_groups][n_routers][words]; all zero at the group's own routers */
    uint32_t words;
    uint32_t *router_links; /* [n_routers] links to routers, which stand first */
    uint16_t *vcs;          /* [n_groups]; or, by_hops, of a packet with so many hops left [longest + 1] */
    bool by_hops;
    uint16_t all;
};

static uint64_t start(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                      const struct fc_flit_view *view)
{
    const struct shortest_routes *t = flit->route_tables;
    (void)src, (void)random, (void)view;
    return t->tables->group[dst];
}

/* The node's links whose router is nearest to the group. */
static int inject(const struct fc_flit_net *flit, const struct shortest_routes *t, uint32_t vertex, uint64_t group,
                  struct fc_flit_choice *out)
{
    const uint16_t *hops = t->tables->hops + (size_t)group * flit->n_routers;
    uint16_t nearest = FC_FAR;
    int n = 0;
    for (uint32_t l = t->net->first_link[vertex]; l < t->net->first_link[vertex + 1]; l++) {
        uint16_t h = hops[t->net->link_target[l]];
        if (h < nearest) nearest = h, n = 0;
        if (h == nearest) out[n++] = (struct fc_flit_choice){.route = group, .link = l, .vcs = flit->injection_vcs};
    }
    return n;
}

static int eject(const struct shortest_routes *t, uint32_t router, const struct fc_flit_head *head, uint32_t n_routers,
                 struct fc_flit_choice *out)
{
    uint32_t vertex = n_routers + head->dst;
    int n = 0;
    for (uint32_t l = t->net->first_link[vertex]; l < t->net->first_link[vertex + 1]; l++)
        if (t->net->link_target[l] == router)
            out[n++] = (struct fc_flit_choice){.route = head->route, .link = t->tables->reverse[l], .vcs = t->all};
    return n;
}

static int choices(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                   const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    const struct shortest_routes *t = flit->route_tables;
    (void)in_link, (void)in_vc;
    if (router >= flit->n_routers) return inject(flit, t, router, head->route, out);
    const uint64_t *mask = t->next + ((size_t)head->route * flit->n_routers + router) * t->words;
    uint32_t first = t->net->first_link[router];
    uint16_t vcs = t->vcs[t->by_hops ? t->tables->hops[(size_t)head->route * flit->n_routers + router] : head->route];
    int n = 0;
    for (uint32_t w = 0; w < t->words; w++)
        for (uint64_t left = mask[w]; left; left &= left - 1)
            out[n++] = (struct fc_flit_choice){
                .route = head->route, .link = first + 64 * w + (uint32_t)__builtin_ctzll(left), .vcs = vcs};
    return n ? n : eject(t, router, head, flit->n_routers, out);
}

/* ---- tables ---- */

static uint32_t router_links(const struct fc_network *net, uint32_t v)
{
    uint32_t n = 0;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1] && !fc_is_node(net, net->link_target[l]); l++) n++;
    return n;
}

static enum fc_code fill_group(const struct fc_flit_net *flit, struct shortest_routes *t, uint32_t group,
                               struct fc_status *st)
{
    const struct fc_network *net = t->net;
    const uint16_t *hops = t->tables->hops + (size_t)group * net->n_routers;
    for (uint32_t v = 0; v < net->n_routers; v++) {
        uint64_t *mask = t->next + ((size_t)group * net->n_routers + v) * t->words;
        const uint32_t *to = net->link_target + net->first_link[v];
        uint32_t n = 0, last = hops[v] && hops[v] != FC_FAR ? t->router_links[v] : 0;
        for (uint32_t i = 0; i < last; i++) { /* without branches: which links lead nearer is hard to foretell */
            uint64_t nearer = hops[to[i]] + 1 == hops[v];
            mask[i / 64] |= nearer << i % 64;
            n += (uint32_t)nearer;
        }
        if (n > FC_FLIT_MOST_CHOICES)
            return fc_route_refuse(flit, st, "network: a router has %u equal next hops (at most %d)", n,
                                   FC_FLIT_MOST_CHOICES);
    }
    return FC_OK;
}

/* Every node reaches the group. */
static enum fc_code check_reach(const struct fc_flit_net *flit, const struct shortest_routes *t, uint32_t group,
                                struct fc_status *st)
{
    const struct fc_network *net = t->net;
    const uint16_t *hops = t->tables->hops + (size_t)group * net->n_routers;
    for (uint32_t node = 0; node < net->n_nodes; node++) {
        uint32_t v = fc_node_vertex(net, node);
        bool found = false;
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
            found = found || hops[net->link_target[l]] != FC_FAR;
        if (found) continue;
        char from[300], to[300];
        uint32_t member = t->tables->member[t->tables->first_member[group]];
        return fc_route_refuse(flit, st, "network: there is no path from %s to %s (expected one connected network)",
                               fc_vertex_name(net, v, from, sizeof from),
                               fc_vertex_name(net, fc_node_vertex(net, member), to, sizeof to));
    }
    return FC_OK;
}

static enum fc_code assign_hops(struct fc_flit_net *flit, struct shortest_routes *t, struct fc_status *st)
{
    uint32_t longest = fc_graph_longest(flit->net);
    int rep;
    t->by_hops = true;
    t->vcs = fc_alloc(&flit->arena, longest + 1ull, sizeof *t->vcs, st);
    if (!t->vcs || fc_route_data_channels(flit, (int)longest, &rep, st)) return st->code;
    for (uint32_t h = 1; h <= longest; h++) t->vcs[h] = fc_flit_vc_mask((int)(longest - h), rep);
    t->all = fc_route_all(flit);
    return FC_OK;
}

static enum fc_code assign_channels(struct fc_flit_net *flit, struct shortest_routes *t, struct fc_status *st)
{
    if (!strcmp(flit->vc_rule, "hops")) return assign_hops(flit, t, st);
    uint32_t n_layers = 1, n_groups = t->tables->n_groups, *layer = fc_alloc(&flit->arena, n_groups, sizeof *layer, st);
    int rep;
    t->vcs = fc_alloc(&flit->arena, n_groups, sizeof *t->vcs, st);
    if (!layer || !t->vcs) return st->code;
    if (!strcmp(flit->vc_rule, "layers") && fc_graph_layers(flit->net, layer, &n_layers, st)) return st->code;
    if (fc_route_data_channels(flit, (int)n_layers, &rep, st)) return st->code;
    for (uint32_t g = 0; g < n_groups; g++) t->vcs[g] = fc_flit_vc_mask((int)layer[g], rep);
    t->all = fc_route_all(flit);
    return FC_OK;
}

static enum fc_code prepare(struct fc_flit_net *flit, struct fc_status *st)
{
    const struct fc_network *net = flit->net;
    struct shortest_routes *t = fc_alloc(&flit->arena, 1, sizeof *t, st);
    uint32_t widest = 1;
    if (!t) return st->code;
    flit->route_tables = t;
    t->net = net;
    t->tables = net->extra;
    t->router_links = fc_alloc(&flit->arena, net->n_routers, sizeof *t->router_links, st);
    if (!t->router_links) return st->code;
    for (uint32_t v = 0; v < net->n_routers; v++) {
        t->router_links[v] = router_links(net, v);
        if (t->router_links[v] > widest) widest = t->router_links[v];
    }
    for (uint32_t v = net->n_routers; v < net->n_vertices; v++)
        if (net->first_link[v + 1] - net->first_link[v] > FC_FLIT_MOST_CHOICES)
            return fc_route_refuse(flit, st, "network: a node has %u links (at most %d)",
                                   net->first_link[v + 1] - net->first_link[v], FC_FLIT_MOST_CHOICES);
    t->words = (widest + 63) / 64;
    double bytes = 8.0 * t->words * t->tables->n_groups * net->n_routers;
    if (bytes > MOST_TABLE_BYTES)
        return fc_route_refuse(flit, st,
                               "network: next hops of %u routers to %u groups of nodes take %.3g GB (at most %.3g)",
                               net->n_routers, t->tables->n_groups, bytes / 1e9, MOST_TABLE_BYTES / 1e9);
    t->next = fc_alloc(&flit->arena, (size_t)t->tables->n_groups * net->n_routers, 8ul * t->words, st);
    if (!t->next || assign_channels(flit, t, st)) return st->code;
    for (uint32_t g = 0; g < t->tables->n_groups; g++)
        if (check_reach(flit, t, g, st) || fill_group(flit, t, g, st)) return st->code;
    flit->adaptive = true;
    return FC_OK;
}

static bool words(const struct fc_flit_net *flit, struct fc_flit_words *out)
{
    (void)flit, (void)out;
    return true;
}

static const char *const families[] = {"graph", NULL};
const struct fc_flit_route_ops fc_route_shortest = {
    .name = "shortest",
    .families = families,
    .prepare = prepare,
    .start = start,
    .choices = choices,
    .words = words,
};
