/* routing_graph_hash.c - graphs: one path a pair of nodes, drawn among the equally good ones by a hash of the pair.
 *
 * shortest-hash: at every router with n links that lead one hop nearer to the destination, a packet from s to d takes the
 * one of number floor(n u), u in [0, 1) a hash of (s, d) and the router: what switches do that hash addresses (equal-cost
 * multi-path, RFC 2992). The rail of a node with several, and the cable to it, are drawn alike. On average over pairs the loads
 * are those of routing_shortest.c; any one link carries more or less.
 * updown-hash: the same among the links that are next on a shortest up*-down* route (graph_updown.c), which needs no virtual
 * channels (OpenSM's updn).
 * Limit: no formula; dense traffic is walked pair by pair, O(pairs x hops x links of a router). */
#include "models/family_graph.h"

static const struct fc_graph_tables *tables(const struct fc_network *net)
{
    return net->extra;
}

/* The link of a node to the router that is nearest to the destination by hops[n_routers]. */
static uint32_t rail(const struct fc_network *net, uint32_t vertex, const uint16_t *hops, uint32_t hash)
{
    uint16_t nearest = FC_FAR;
    uint32_t n = 0;
    for (uint32_t l = net->first_link[vertex]; l < net->first_link[vertex + 1]; l++) {
        uint16_t h = hops[net->link_target[l]];
        if (h < nearest) nearest = h, n = 0;
        n += h == nearest;
    }
    if (nearest == FC_FAR) return FC_NONE;
    uint32_t left = fc_graph_hashed(hash, vertex, n);
    for (uint32_t l = net->first_link[vertex];; l++)
        if (hops[net->link_target[l]] == nearest && left-- == 0) return l;
}

/* One of the router's cables to the node, which hangs on it. */
static uint32_t last_link(const struct fc_network *net, uint32_t router, uint32_t dst, uint32_t hash)
{
    uint32_t node = fc_node_vertex(net, dst), n = 0;
    for (uint32_t l = net->first_link[node]; l < net->first_link[node + 1]; l++) n += net->link_target[l] == router;
    uint32_t left = fc_graph_hashed(hash, router, n);
    for (uint32_t l = net->first_link[node];; l++)
        if (net->link_target[l] == router && left-- == 0) return tables(net)->reverse[l];
}

uint32_t fc_graph_hashed_link(const struct fc_network *net, uint32_t v, uint32_t dst, uint32_t hash)
{
    const struct fc_graph_tables *t = net->extra;
    const uint16_t *hops = t->hops + (size_t)t->group[dst] * net->n_routers;
    uint32_t n = 0, first = net->first_link[v], last = net->first_link[v + 1];
    if (fc_is_node(net, v)) return rail(net, v, hops, hash);
    if (hops[v] == 0) return last_link(net, v, dst, hash);
    if (hops[v] == FC_FAR) return FC_NONE;
    for (uint32_t l = first; l < last && !fc_is_node(net, net->link_target[l]); l++)
        n += hops[net->link_target[l]] + 1 == hops[v];
    uint32_t left = fc_graph_hashed(hash, v, n);
    for (uint32_t l = first;; l++)
        if (hops[net->link_target[l]] + 1 == hops[v] && left-- == 0) return l;
}

uint32_t fc_graph_updown_link(const struct fc_network *net, uint32_t v, uint32_t dst, uint32_t hash, bool *down)
{
    const struct fc_graph_tables *t = net->extra;
    const struct fc_updown *u = t->updown;
    size_t row = (size_t)t->group[dst] * net->n_routers;
    uint32_t n = 0, first = net->first_link[v], last = net->first_link[v + 1];
    if (fc_is_node(net, v)) return rail(net, v, u->hops[0] + row, hash);
    if (u->hops[0][row + v] == 0) return last_link(net, v, dst, hash);
    for (uint32_t l = first; l < last && !fc_is_node(net, net->link_target[l]); l++)
        n += fc_updown_leads(u, row, v, net->link_target[l], *down);
    if (n == 0) return FC_NONE;
    uint32_t left = fc_graph_hashed(hash, v, n);
    for (uint32_t l = first;; l++)
        if (fc_updown_leads(u, row, v, net->link_target[l], *down) && left-- == 0) {
            *down = fc_updown_is_down(u, v, net->link_target[l]);
            return l;
        }
}

/* ---- walks: appends nothing where there is no path ---- */

static void walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, bool updown,
                 struct fc_walk *walk)
{
    uint32_t hash = fc_graph_pair_hash(src, dst), end = fc_node_vertex(net, dst);
    bool down = false;
    for (uint32_t v = fc_node_vertex(net, src); v != end;) {
        uint32_t link =
            updown ? fc_graph_updown_link(net, v, dst, hash, &down) : fc_graph_hashed_link(net, v, dst, hash);
        if (link == FC_NONE) return;
        fc_walk_add(walk, link, share);
        v = net->link_target[link];
    }
}
static void hashed_walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *out)
{
    walk(net, src, dst, share, false, out);
}
static void updown_walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *out)
{
    walk(net, src, dst, share, true, out);
}
static uint32_t capacity(const struct fc_network *net)
{
    return net->n_routers + 2;
}
static uint32_t updown_capacity(const struct fc_network *net)
{
    return 2 * net->n_routers + 2;
}

static const char *const families[] = {"graph", NULL};
const struct fc_routing_ops fc_routing_shortest_hash = {
    .name = "shortest-hash",
    .help = "one shortest path a pair, drawn by a hash (ECMP as switches do it)",
    .source = "RFC 2992",
    .families = families,
    .minimal = true,
    .walk_capacity = capacity,
    .walk = hashed_walk,
};
const struct fc_routing_ops fc_routing_updown = {
    .name = "updown-hash",
    .help = "one shortest up*-down* path a pair, drawn by a hash",
    .source = "Schroeder et al., IEEE JSAC 1991",
    .families = families,
    .walk_capacity = updown_capacity,
    .walk = updown_walk,
};
