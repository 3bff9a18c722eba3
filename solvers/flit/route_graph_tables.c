/* route_graph_tables.c - what the routings of graphs look up: next links of all shortest paths to every group of destinations and,
 * for detours, to every stop; virtual channels by the rule; the escape of rule updown.
 *
 * Next links are bit masks over a router's links to routers, one a router and place (family_graph.h). Channels: rule none all;
 * layers those of the destination's layer; hops those of the hops left; updown all but the first, which is the escape. Limits: at
 * most 64 equal next hops (63 beside an escape), and links a node; masks of at most 2 GiB; every node must reach every other. */
#include "solvers/flit/route_shortest.h"

#include <string.h>

#define MOST_TABLE_BYTES 2147483648.0

int fc_route_graph_inject(const struct fc_flit_net *flit, uint32_t vertex, const uint16_t *hops, uint64_t route,
                          struct fc_flit_choice *out)
{
    const struct fc_network *net = flit->net;
    uint16_t nearest = FC_FAR;
    int n = 0;
    for (uint32_t l = net->first_link[vertex]; l < net->first_link[vertex + 1]; l++) {
        uint16_t h = hops[net->link_target[l]];
        if (h < nearest) nearest = h, n = 0;
        if (h == nearest) out[n++] = (struct fc_flit_choice){.route = route, .link = l, .vcs = flit->injection_vcs};
    }
    return n;
}

int fc_route_graph_eject(const struct fc_shortest_routes *t, uint32_t router, const struct fc_flit_head *head,
                         uint32_t n_routers, struct fc_flit_choice *out)
{
    uint32_t vertex = n_routers + head->dst;
    int n = 0;
    for (uint32_t l = t->net->first_link[vertex]; l < t->net->first_link[vertex + 1]; l++)
        if (t->net->link_target[l] == router)
            out[n++] = (struct fc_flit_choice){.route = head->route, .link = t->tables->reverse[l], .vcs = t->all};
    return n;
}

/* ---- tables ---- */

static uint32_t router_links(const struct fc_network *net, uint32_t v)
{
    uint32_t n = 0;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1] && !fc_is_node(net, net->link_target[l]); l++) n++;
    return n;
}

/* Next links to the place with hops[n_routers], row number `place` of the table. */
static enum fc_code fill_row(const struct fc_flit_net *flit, struct fc_shortest_routes *t, uint64_t *next,
                             const uint16_t *hops, uint32_t place, struct fc_status *st)
{
    const struct fc_network *net = t->net;
    uint32_t most = FC_FLIT_MOST_CHOICES - (t->updown ? 1 : 0); /* beside the escape */
    for (uint32_t v = 0; v < net->n_routers; v++) {
        uint64_t *mask = next + ((size_t)place * net->n_routers + v) * t->words;
        const uint32_t *to = net->link_target + net->first_link[v];
        uint32_t n = 0, last = hops[v] && hops[v] != FC_FAR ? t->router_links[v] : 0;
        for (uint32_t i = 0; i < last; i++) { /* without branches: which links lead nearer is hard to foretell */
            uint64_t nearer = hops[to[i]] + 1 == hops[v];
            mask[i / 64] |= nearer << i % 64;
            n += (uint32_t)nearer;
        }
        if (n > most)
            return fc_route_refuse(flit, st, "network: a router has %u equal next hops (at most %u)", n, most);
    }
    return FC_OK;
}

/* Every node reaches the group. */
static enum fc_code check_reach(const struct fc_flit_net *flit, const struct fc_shortest_routes *t, uint32_t group,
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

/* ---- channels ---- */

static enum fc_code assign_hops(struct fc_flit_net *flit, struct fc_shortest_routes *t, bool detours,
                                struct fc_status *st)
{
    uint32_t counted = fc_graph_counted_hops(flit->net), longest = detours ? t->tables->farthest : counted;
    int rep;
    t->by_hops = true;
    t->vcs = fc_alloc(&flit->arena, longest + 1ull, sizeof *t->vcs, st);
    if (!t->vcs || fc_route_data_channels(flit, (int)counted, &rep, st)) return st->code;
    for (uint32_t h = 1; h <= longest; h++) t->vcs[h] = fc_flit_vc_mask((int)(counted - h), rep);
    for (uint32_t h = 1; detours && h <= longest; h++) t->first_vcs[h] = fc_flit_vc_mask((int)(longest - h), rep);
    return FC_OK;
}

/* All channels but the first are free to any packet, on any way. */
static enum fc_code assign_escape(struct fc_flit_net *flit, struct fc_shortest_routes *t, struct fc_status *st)
{
    const struct fc_network *net = flit->net;
    uint32_t n = net->n_routers, vcs = (uint32_t)net->machine->router.vcs;
    struct fc_updown *u = fc_alloc(&flit->arena, 1, sizeof *u, st);
    if (!u || fc_route_set_channels(flit, (int)vcs + 1, 1, st)) return st->code;
    t->escape = fc_alloc(&flit->arena, 2 * (size_t)t->tables->n_groups, n * sizeof *t->escape, st);
    if (!t->escape || fc_graph_updown(net, &flit->arena, u, st)) return st->code;
    t->updown = u;
    for (uint32_t g = 0; g < t->tables->n_groups; g++) {
        t->vcs[g] = (uint16_t)(((1u << vcs) - 1) << 1);
        for (uint32_t v = 0; v < n; v++)
            for (uint32_t down = 0; down < 2; down++) {
                uint16_t *number = &t->escape[((size_t)g * 2 + down) * n + v];
                uint32_t found = 0, first = net->first_link[v];
                for (uint32_t i = 0; i < t->router_links[v]; i++)
                    found += fc_updown_leads(u, (size_t)g * n, v, net->link_target[first + i], down);
                uint32_t left = found ? fc_graph_hashed(g, v, found) : 0;
                for (uint32_t i = 0; found && i < t->router_links[v]; i++)
                    if (fc_updown_leads(u, (size_t)g * n, v, net->link_target[first + i], down) && left-- == 0)
                        *number = (uint16_t)i;
            }
    }
    for (uint32_t h = 0; t->first_vcs && h <= t->tables->farthest; h++) t->first_vcs[h] = t->vcs[0];
    return FC_OK;
}

static enum fc_code assign_channels(struct fc_flit_net *flit, struct fc_shortest_routes *t, bool detours,
                                    struct fc_status *st)
{
    uint32_t n_layers = 1, n_groups = t->tables->n_groups, *layer = fc_alloc(&flit->arena, n_groups, sizeof *layer, st);
    int rep;
    if (detours) t->first_vcs = fc_alloc(&flit->arena, t->tables->farthest + 1ull, sizeof *t->first_vcs, st);
    if (!layer || (detours && !t->first_vcs)) return st->code;
    if (!strcmp(flit->vc_rule, "hops")) return assign_hops(flit, t, detours, st);
    t->vcs = fc_alloc(&flit->arena, n_groups, sizeof *t->vcs, st);
    if (!t->vcs) return st->code;
    if (!strcmp(flit->vc_rule, "updown")) return assign_escape(flit, t, st);
    if (!strcmp(flit->vc_rule, "layers") && fc_graph_layers(flit->net, layer, &n_layers, st)) return st->code;
    if (fc_route_data_channels(flit, (int)n_layers, &rep, st)) return st->code;
    for (uint32_t g = 0; g < n_groups; g++) t->vcs[g] = fc_flit_vc_mask((int)layer[g], rep);
    for (uint32_t h = 0; detours && h <= t->tables->farthest; h++) t->first_vcs[h] = fc_flit_vc_mask(0, rep);
    return FC_OK;
}

/* ---- the whole ---- */

static enum fc_code measure(struct fc_flit_net *flit, struct fc_shortest_routes *t, bool detours, struct fc_status *st)
{
    const struct fc_network *net = flit->net;
    uint32_t widest = 1, n_stops = detours && t->tables->stop_hops != t->tables->hops ? t->tables->n_stops : 0;
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
    double bytes = 8.0 * t->words * ((double)t->tables->n_groups + n_stops) * net->n_routers;
    if (bytes > MOST_TABLE_BYTES)
        return fc_route_refuse(flit, st,
                               "network: next hops of %u routers to %u groups of nodes and %u stops of detours take "
                               "%.3g GB (at most %.3g)",
                               net->n_routers, t->tables->n_groups, n_stops, bytes / 1e9, MOST_TABLE_BYTES / 1e9);
    return FC_OK;
}

static enum fc_code fill_stops(struct fc_flit_net *flit, struct fc_shortest_routes *t, struct fc_status *st)
{
    const struct fc_graph_tables *tables = t->tables;
    t->stop_next = t->next; /* the groups are the stops */
    if (tables->stop_hops == tables->hops) return FC_OK;
    t->stop_next = fc_alloc(&flit->arena, (size_t)tables->n_stops * flit->n_routers, 8ul * t->words, st);
    for (uint32_t s = 0; t->stop_next && s < tables->n_stops; s++)
        if (fill_row(flit, t, t->stop_next, tables->stop_hops + (size_t)s * flit->n_routers, s, st)) return st->code;
    return st->code;
}

enum fc_code fc_route_shortest_prepare(struct fc_flit_net *flit, bool detours, struct fc_status *st)
{
    const struct fc_network *net = flit->net;
    struct fc_shortest_routes *t = fc_alloc(&flit->arena, 1, sizeof *t, st);
    if (!t) return st->code;
    flit->route_tables = t;
    t->net = net;
    t->tables = net->extra;
    if (measure(flit, t, detours, st)) return st->code;
    t->next = fc_alloc(&flit->arena, (size_t)t->tables->n_groups * net->n_routers, 8ul * t->words, st);
    if (!t->next || assign_channels(flit, t, detours, st)) return st->code;
    t->all = fc_route_all(flit);
    for (uint32_t g = 0; g < t->tables->n_groups; g++)
        if (check_reach(flit, t, g, st) ||
            fill_row(flit, t, t->next, t->tables->hops + (size_t)g * net->n_routers, g, st))
            return st->code;
    flit->adaptive = true;
    return detours ? fill_stops(flit, t, st) : FC_OK;
}
