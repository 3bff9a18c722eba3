/* network_cut.c - how little must be cut to divide a network's nodes into halves: a bound from below and a cut from above.
 *
 * Below. Let routers v carry m_v nodes that hang on them alone, N in all with the others, and mu be the second smallest
 * eigenvalue of L x = mu M x, M the diagonal of m, L of the links (network_cut_spectrum.c). Signs x = +-1 of the sides satisfy
 * x'Lx = 4 cut, and with k nodes cut off their routers |sum m x| <= 2 k, so that
 *
 *     links cut >= k + mu / 4 (N - 4 k^2 / N),   k >= 0,
 *
 * which is least at an end: min(mu N / 4, N / 2). For n routers of equal nodes it is lambda_2 n / 4 (Fiedler 1973; Mohar,
 * "The Laplacian spectrum of graphs", 1991, section 6). With bandwidths instead of ones as weights it is the bandwidth's; a node's
 * links count with the least; links are whole. Odd numbers of nodes: N - 1 / N instead of N, which the bound has.
 *
 * Above. The best of SEEDS partitions by Scotch (Pellegrini & Roman 1996) of the routers with their nodes as load, made even: whole
 * routers go over while they fit, then single nodes, which cost their links; or half the nodes cut off, no router. Limits: a heuristic; both ends are far apart where a
 * network has narrow waists beside its middle. */
#include "mapping/network_cut.h"
#include "mapping/scotch_errors.h"

#include <math.h>
#include <scotch/scotch.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 8, MOST_WEIGHT = 1000 };
#define SCRATCH_BYTES (1ul << 26)

/* Routers, then nodes on several routers; parallel links are one arc. */
struct cut_graph {
    const struct fc_network *net;
    struct fc_arena arena;
    uint32_t n, n_multi;
    uint32_t *vertex_of;                   /* [n_nodes] of a node: its router, or itself */
    uint32_t *first, *other, *router_of;   /* [n + 1], arcs */
    double *links, *bytes_per_s, *mass;    /* [arcs], [arcs], [n] */
    double *node_links, *node_bytes_per_s; /* [n_nodes] of its links together */
    double fastest;
    int *side;
    SCOTCH_Num *part;
    struct fc_bisection *bounds;
    struct fc_status *st;
};

static double rate(const struct cut_graph *g, uint32_t l)
{
    double b = fc_link_bandwidth(g->net, l);
    return isfinite(b) ? b : g->fastest;
}

static uint32_t vertex(const struct cut_graph *g, uint32_t v)
{
    return fc_is_node(g->net, v) ? g->vertex_of[v - g->net->n_routers] : v;
}

static enum fc_code find_vertices(struct cut_graph *g)
{
    const struct fc_network *net = g->net;
    struct fc_status *st = g->st;
    g->vertex_of = fc_alloc(&g->arena, net->n_nodes, sizeof *g->vertex_of, st);
    g->node_links = fc_alloc(&g->arena, net->n_nodes, sizeof *g->node_links, st);
    g->node_bytes_per_s = fc_alloc(&g->arena, net->n_nodes, sizeof *g->node_bytes_per_s, st);
    g->mass = fc_alloc(&g->arena, (size_t)net->n_routers + net->n_nodes, sizeof *g->mass, st);
    if (st->code) return st->code;
    for (uint32_t l = 0; l < net->n_links; l++)
        if (isfinite(fc_link_bandwidth(net, l))) g->fastest = fmax(g->fastest, fc_link_bandwidth(net, l));
    if (g->fastest == 0) g->fastest = 1;
    g->n = net->n_routers;
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        uint32_t v = fc_node_vertex(net, n), begin = net->first_link[v], end = net->first_link[v + 1];
        bool one = true;
        for (uint32_t l = begin; l < end; l++) {
            one = one && net->link_target[l] == net->link_target[begin];
            g->node_links[n] += 1;
            g->node_bytes_per_s[n] += rate(g, l);
        }
        g->vertex_of[n] = one ? net->link_target[begin] : g->n++;
        g->mass[g->vertex_of[n]] += 1;
        g->n_multi += !one;
    }
    return FC_OK;
}

/* Arcs by source, those to one target as one. */
static enum fc_code find_arcs(struct cut_graph *g)
{
    const struct fc_network *net = g->net;
    struct fc_status *st = g->st;
    uint32_t *count = fc_alloc(&g->arena, g->n + 2ull, sizeof *count, st);
    uint32_t *to = fc_alloc(&g->arena, net->n_links, sizeof *to, st), *met = fc_alloc(&g->arena, g->n, sizeof *met, st);
    double *each = fc_alloc(&g->arena, net->n_links, sizeof *each, st);
    g->first = fc_alloc(&g->arena, g->n + 1ull, sizeof *g->first, st);
    g->other = fc_alloc(&g->arena, net->n_links, sizeof *g->other, st);
    g->links = fc_alloc(&g->arena, net->n_links, sizeof *g->links, st);
    g->bytes_per_s = fc_alloc(&g->arena, net->n_links, sizeof *g->bytes_per_s, st);
    g->side = fc_alloc(&g->arena, g->n, sizeof *g->side, st);
    g->part = fc_alloc(&g->arena, g->n, sizeof *g->part, st);
    if (st->code) return st->code;
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t a = vertex(g, net->link_source[l]), b = vertex(g, net->link_target[l]);
        if (a != b) count[a + 2]++;
    }
    for (uint32_t v = 0; v < g->n; v++) count[v + 2] += count[v + 1];
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t a = vertex(g, net->link_source[l]), b = vertex(g, net->link_target[l]);
        if (a == b) continue;
        each[count[a + 1]] = rate(g, l);
        to[count[a + 1]++] = b;
    }
    memset(met, 0xff, g->n * sizeof *met);
    uint32_t n = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t begin = g->first[v] = n;
        for (uint32_t e = count[v]; e < count[v + 1]; e++) {
            if (met[to[e]] == FC_NONE || met[to[e]] < begin) met[to[e]] = n, g->other[n] = to[e], n++;
            g->links[met[to[e]]] += 1;
            g->bytes_per_s[met[to[e]]] += each[e];
        }
        for (uint32_t e = begin; e < n; e++) met[g->other[e]] = FC_NONE;
    }
    g->first[g->n] = n;
    return FC_OK;
}

/* ---- from below ---- */

static enum fc_code below(struct cut_graph *g)
{
    double nodes = g->net->n_nodes, squares = nodes - (g->net->n_nodes % 2) / nodes, mu[2], least = g->fastest;
    for (uint32_t n = 0; n < g->net->n_nodes; n++) least = fmin(least, g->node_bytes_per_s[n] / g->node_links[n]);
    if (fc_second_eigenvalue(g->n, g->first, g->other, g->links, g->mass, &mu[0], g->st) ||
        fc_second_eigenvalue(g->n, g->first, g->other, g->bytes_per_s, g->mass, &mu[1], g->st))
        return g->st->code;
    g->bounds->lower_links = ceil(fmin(mu[0] * squares / 4, floor(nodes / 2)) * (1 - 1e-9));
    g->bounds->lower_bytes_per_s = fmin(mu[1] * squares / 4, floor(nodes / 2) * least);
    return FC_OK;
}

/* ---- from above ---- */

/* What it costs to move a vertex to the other side, bytes/s. */
static double cost_of_move(const struct cut_graph *g, uint32_t v)
{
    double cost = 0;
    for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++)
        cost += g->side[v] == g->side[g->other[e]] ? g->bytes_per_s[e] : -g->bytes_per_s[e];
    return cost;
}

/* Moves whole vertices from the fuller side, those that cost least for each node, while one fits. Nodes over half that are left. */
static long even_out(struct cut_graph *g, int *from)
{
    double inside[2] = {0, 0};
    for (uint32_t v = 0; v < g->n; v++) inside[g->side[v]] += g->mass[v];
    *from = inside[1] > inside[0];
    long excess = ((long)inside[*from] - (long)inside[!*from]) / 2;
    for (;;) {
        uint32_t best = FC_NONE;
        double least = INFINITY;
        for (uint32_t v = 0; v < g->n; v++) {
            if (g->side[v] != *from || (long)g->mass[v] > excess) continue;
            double cost = cost_of_move(g, v), each = g->mass[v] > 0 ? cost / g->mass[v]
                                                     : cost < 0     ? -INFINITY
                                                                    : INFINITY;
            if (each < least) least = each, best = v;
        }
        if (best == FC_NONE) return excess;
        g->side[best] = !*from;
        excess -= (long)g->mass[best];
    }
}

/* The cut of the sides, with so many of the cheapest nodes of side `from` cut off their routers. */
static void measure(struct cut_graph *g, long apart, int from)
{
    double links = 0, bytes_per_s = 0;
    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t e = g->first[v]; g->side[v] == 0 && e < g->first[v + 1]; e++)
            if (g->side[g->other[e]]) links += g->links[e], bytes_per_s += g->bytes_per_s[e];
    for (double most = 0; apart > 0;) { /* by rising bandwidth */
        double next = INFINITY;
        for (uint32_t n = 0; n < g->net->n_nodes; n++)
            if (g->node_bytes_per_s[n] > most && g->vertex_of[n] < g->net->n_routers &&
                g->side[g->vertex_of[n]] == from)
                next = fmin(next, g->node_bytes_per_s[n]);
        if (!isfinite(next)) break;
        for (uint32_t n = 0; apart > 0 && n < g->net->n_nodes; n++) {
            if (g->node_bytes_per_s[n] != next || g->vertex_of[n] >= g->net->n_routers ||
                g->side[g->vertex_of[n]] != from)
                continue;
            links += g->node_links[n], bytes_per_s += next;
            apart--;
        }
        most = next;
    }
    if (bytes_per_s > g->bounds->upper_bytes_per_s) return;
    if (bytes_per_s == g->bounds->upper_bytes_per_s && links >= g->bounds->upper_links) return;
    g->bounds->upper_bytes_per_s = bytes_per_s;
    g->bounds->upper_links = links;
}

static void partition(struct cut_graph *g, SCOTCH_Context *context, SCOTCH_Graph *graph)
{
    SCOTCH_Graph *bound = SCOTCH_graphAlloc();
    SCOTCH_Strat *strategy = SCOTCH_stratAlloc();
    bool good = false;
    if (bound && strategy && !SCOTCH_graphInit(bound)) {
        SCOTCH_stratInit(strategy);
        good = !SCOTCH_contextBindGraph(context, graph, bound) &&
               !SCOTCH_stratGraphMapBuild(strategy, SCOTCH_STRATQUALITY | SCOTCH_STRATBALANCE, 2, 0.001) &&
               !SCOTCH_graphPart(bound, 2, strategy, g->part);
        SCOTCH_stratExit(strategy);
        SCOTCH_graphExit(bound);
    }
    for (uint32_t v = 0; good && v < g->n; v++) g->side[v] = g->part[v] == 1;
    free(bound);
    free(strategy);
    int from;
    if (fc_scotch_check(good, "the partition of the network", g->st)) return;
    long apart = even_out(g, &from);
    measure(g, apart, from);
}

/* Routers without nodes weigh next to nothing. */
static enum fc_code build(struct cut_graph *g, SCOTCH_Graph *graph)
{
    uint32_t arcs = g->first[g->n];
    SCOTCH_Num *first = fc_alloc(&g->arena, g->n + 1ull, sizeof *first, g->st);
    SCOTCH_Num *load = fc_alloc(&g->arena, g->n, sizeof *load, g->st);
    SCOTCH_Num *other = fc_alloc(&g->arena, arcs, sizeof *other, g->st);
    SCOTCH_Num *weight = fc_alloc(&g->arena, arcs, sizeof *weight, g->st);
    if (g->st->code) return g->st->code;
    double unit = fmax(1, fmin(g->n, floor(0x1p29 / g->net->n_nodes)));
    for (uint32_t v = 0; v <= g->n; v++) first[v] = (SCOTCH_Num)g->first[v];
    for (uint32_t v = 0; v < g->n; v++) load[v] = (SCOTCH_Num)(g->mass[v] * unit) + 1;
    for (uint32_t e = 0; e < arcs; e++) {
        other[e] = (SCOTCH_Num)g->other[e];
        weight[e] = (SCOTCH_Num)fmin(1e6, fmax(1, round(MOST_WEIGHT * g->bytes_per_s[e] / g->fastest)));
    }
    return fc_scotch_check(
        !SCOTCH_graphBuild(graph, 0, (SCOTCH_Num)g->n, first, first + 1, load, NULL, (SCOTCH_Num)arcs, other, weight),
        "the graph of the network", g->st);
}

static void by_scotch(void *of)
{
    struct cut_graph *g = of;
    SCOTCH_Context *context = SCOTCH_contextAlloc();
    SCOTCH_Graph *graph = SCOTCH_graphAlloc();
    bool open = context && !SCOTCH_contextInit(context), made = open && graph && !SCOTCH_graphInit(graph);
    if (!made) {
        fc_out_of_memory(g->st, "the graph of Scotch");
    } else if (!fc_scotch_check(!SCOTCH_contextRandomClone(context) && !SCOTCH_contextThreadSpawn(context, 1, NULL) &&
                                    !SCOTCH_contextOptionSetNum(context, SCOTCH_OPTIONNUMDETERMINISTIC, 1),
                                "the context of Scotch", g->st) &&
               !build(g, graph)) {
        for (int seed = 0; !g->st->code && seed < SEEDS; seed++) {
            SCOTCH_contextRandomSeed(context, (SCOTCH_Num)(seed + 1));
            SCOTCH_contextRandomReset(context);
            partition(g, context, graph);
        }
    }
    if (made) SCOTCH_graphExit(graph);
    if (open) SCOTCH_contextExit(context);
    free(graph);
    free(context);
}

enum fc_code fc_bisection_bounds(const struct fc_network *net, struct fc_bisection *bounds, struct fc_status *st)
{
    struct cut_graph g = {.net = net, .bounds = bounds, .st = st};
    *bounds = (struct fc_bisection){.upper_links = INFINITY, .upper_bytes_per_s = INFINITY};
    if (net->n_nodes < 2) {
        *bounds = (struct fc_bisection){0};
        return FC_OK;
    }
    if (!find_vertices(&g) && !find_arcs(&g) && !below(&g)) {
        if (net->n_nodes - g.n_multi >= net->n_nodes / 2) measure(&g, net->n_nodes / 2, 0); /* half the nodes cut off */
        fc_scotch(by_scotch, &g, SCRATCH_BYTES, st);
    }
    fc_arena_free(&g.arena);
    return st->code;
}
