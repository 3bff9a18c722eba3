/* forwarding.c - the forwarding tables of a graph as links of its network, and whether they lead from every node to every other.
 *
 * A table gives every router one link for each end (a cable of a node), so the links for one end form a tree towards it, or
 * circles. hops[end][router] are the links between routers on that way. Where two nodes are connected, some way of theirs must
 * lead through; how a message takes one of several is routing_tables.c's. */
#include "models/family_graph.h"

#include <string.h>

/* Follows the links for end e from router v. True: they lead to the node. Else *last is the router that has none, or the one
 * that the way comes by twice. */
static bool leads(const struct fc_network *net, const uint32_t *link, uint32_t node_vertex, uint32_t v, uint32_t *last,
                  bool *circle)
{
    for (uint32_t hops = 0; hops <= net->n_routers; hops++) {
        *last = v;
        *circle = hops == net->n_routers;
        if (link[v] == FC_NONE) return false;
        v = net->link_target[link[v]];
        if (fc_is_node(net, v)) return v == node_vertex;
    }
    return false;
}

/* hops[] of one end, along links whose ways are not known yet; waiting[n_routers] is scratch. */
static void measure(const struct fc_network *net, const uint32_t *link, uint16_t *hops, uint32_t node_vertex,
                    uint32_t *waiting, uint8_t *state)
{
    enum { UNKNOWN, WAITING, KNOWN };
    memset(state, UNKNOWN, net->n_routers);
    memset(hops, 0xff, net->n_routers * sizeof *hops);
    for (uint32_t r = 0; r < net->n_routers; r++) {
        uint32_t n = 0, v = r;
        uint16_t h = FC_FAR;
        while (state[v] == UNKNOWN) {
            state[v] = WAITING;
            waiting[n++] = v;
            if (link[v] == FC_NONE) break;
            uint32_t to = net->link_target[link[v]];
            if (fc_is_node(net, to)) {
                if (to == node_vertex) {
                    hops[v] = h = 0;
                    state[v] = KNOWN;
                    n--;
                }
                break;
            }
            v = to;
        }
        if (n && v != waiting[n - 1] && state[v] == KNOWN) h = hops[v];
        while (n > 0) {
            if (h != FC_FAR && h < FC_FAR - 1)
                h++;
            else
                h = FC_FAR;
            hops[waiting[--n]] = h;
            state[waiting[n]] = KNOWN;
        }
    }
}

static enum fc_code start(struct fc_network *net, struct fc_forwarding *f, struct fc_status *st)
{
    const struct fc_graph_shape *s = fc_graph(net);
    const struct fc_graph_tables *t = net->extra;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    size_t n = (size_t)s->n_ends * net->n_routers;
    f->n_ends = s->n_ends;
    f->link = fc_alloc(&net->arena, n, sizeof *f->link, st);
    f->hops = fc_alloc(&net->arena, n, sizeof *f->hops, st);
    uint32_t *out = fc_alloc(&scratch, 2ull * s->n_cables, sizeof *out, st); /* link of each cable from either end */
    uint32_t *waiting = fc_alloc(&scratch, net->n_routers, sizeof *waiting, st);
    uint8_t *state = fc_alloc(&scratch, net->n_routers, 1, st);
    for (uint32_t l = 0; !st->code && l < net->n_links; l++)
        out[2 * t->cable[l] + (net->link_source[l] != s->cables[t->cable[l]].router)] = l;
    for (uint32_t e = 0; !st->code && e < s->n_ends; e++) {
        uint32_t into = out[2 * s->end[e] + 1]; /* the node's link: the end's number here */
        size_t row = (size_t)(into - net->first_link[net->n_routers]) * net->n_routers;
        for (uint32_t r = 0; r < net->n_routers; r++) {
            uint32_t cable = s->forward[(size_t)e * net->n_routers + r];
            f->link[row + r] = cable == FC_NONE ? FC_NONE : out[2 * cable + (s->cables[cable].router != r)];
        }
        measure(net, f->link + row, f->hops + row, net->link_source[into], waiting, state);
        for (uint32_t r = 0; r < net->n_routers; r++)
            if (f->hops[row + r] != FC_FAR && f->hops[row + r] > f->most_hops) f->most_hops = f->hops[row + r];
    }
    return st->code;
}

static enum fc_code no_way(const struct fc_network *net, const struct fc_forwarding *f, uint32_t src, uint32_t dst,
                           struct fc_status *st)
{
    const struct fc_graph_shape *s = fc_graph(net);
    uint32_t from = fc_node_vertex(net, src), to = fc_node_vertex(net, dst), last;
    uint32_t end = net->first_link[to] - net->first_link[net->n_routers];
    bool circle;
    leads(net, f->link + (size_t)end * net->n_routers, to, net->link_target[net->first_link[from]], &last, &circle);
    return fc_fail(st, FC_INPUT, (struct fc_place){s->routes_path, 0},
                   circle ? "from '%s' to '%s' packets go round in a circle, through '%s'"
                          : "nothing leads from '%s' to '%s': '%s' has no entry for it, or one to another node",
                   s->node_name[src], s->node_name[dst], s->router_name[last]);
}

/* Every node that the graph connects with another has a way to it. reached[n_routers]: those from which some end of a node is. */
static enum fc_code check_ways(const struct fc_network *net, const struct fc_forwarding *f, struct fc_status *st)
{
    const struct fc_graph_tables *t = net->extra;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    const uint32_t *first = net->first_link + net->n_routers;
    bool *reached = fc_alloc(&scratch, net->n_routers, sizeof *reached, st);
    for (uint32_t dst = 0; reached && !st->code && dst < net->n_nodes; dst++) {
        const uint16_t *shortest = t->hops + (size_t)t->group[dst] * net->n_routers;
        memset(reached, 0, net->n_routers * sizeof *reached);
        for (uint32_t e = first[dst] - first[0]; e < first[dst + 1] - first[0]; e++)
            for (uint32_t r = 0; r < net->n_routers; r++)
                if (f->hops[(size_t)e * net->n_routers + r] != FC_FAR) reached[r] = true;
        for (uint32_t src = 0; !st->code && src < net->n_nodes; src++) {
            bool connected = false, way = src == dst;
            for (uint32_t l = first[src]; l < first[src + 1] && !way; l++) {
                way = reached[net->link_target[l]];
                connected = connected || shortest[net->link_target[l]] != FC_FAR;
            }
            if (connected && !way) no_way(net, f, src, dst, st);
        }
    }
    return st->code;
}

enum fc_code fc_forwarding_build(struct fc_network *net, struct fc_status *st)
{
    struct fc_graph_tables *t = net->extra;
    struct fc_forwarding *f = fc_alloc(&net->arena, 1, sizeof *f, st);
    if (!f || start(net, f, st) || check_ways(net, f, st)) return st->code;
    t->forwarding = f;
    return FC_OK;
}
