/* flow_build.c - the network and the traffic as the flow program sees them.
 *
 * Traffic of nodes with one router is that of the router: the links between them carry what they must, and only
 * z >= their time remains (node_s). Traffic is gathered by destination, since flows to one destination can be mixed
 * and parted without loss. Where the network's translations leave the traffic as it is, only the destinations of one
 * representative an orbit are kept, and links that a translation takes to each other share a row
 * (flow_symmetry.c). With minimal paths every destination keeps the arcs that lie on a shortest way from one of its
 * sources: as many variables as the edge form has. Limit: packets pass through no node. */
#include "solvers/bound/flow.h"

#include <stdlib.h>
#include <string.h>

/* Arcs looked at for a variable that minimal paths keep. */
#define MOST_VISITS 50
/* Pairs of routers that are commodities of their own. */
#define MOST_PAIRS 20000
/* A destination has no more sources on average: else trees do as well, and columns end. */
#define MOST_SOURCES 16
/* Pairs x arcs from which on: smaller programs are solved to their optimum by columns. */
#define LEAST_PAIRS 4e5

struct builder {
    struct fc_bound_flow *flow;
    const struct fc_network *net;
    const struct fc_node_demand *demand;
    const struct fc_flow_settings *settings;
    struct fc_translations translations;
    struct fc_arena scratch;
    struct fc_status *st;
    double most;            /* variables */
    double *a[4], *b[4];    /* [n_vertices] dense parts by vertex */
    uint64_t *first;        /* [n_vertices + 1] entries by target vertex */
    uint32_t *entry_source; /* [n] vertex, ascending, no two alike */
    double *entry_bytes;
};

/* ---- what is asked ---- */

static enum fc_code check_demand(const struct fc_network *net, const struct fc_node_demand *d, struct fc_status *st)
{
    for (size_t e = 0; e < d->n; e++) {
        if (d->src[e] >= net->n_nodes || d->dst[e] >= net->n_nodes)
            return fc_refuse(st, FC_INPUT, "traffic from node %u to node %u (the machine has %u nodes)", d->src[e],
                             d->dst[e], net->n_nodes);
        if (!(d->bytes[e] >= 0 && isfinite(d->bytes[e])))
            return fc_refuse(st, FC_INPUT, "traffic from node %u to node %u is %g bytes (expected a number >= 0)",
                             d->src[e], d->dst[e], d->bytes[e]);
    }
    for (int i = 0; i < d->n_dense; i++)
        for (uint32_t n = 0; n < net->n_nodes; n++)
            if (!(d->a[i][n] >= 0 && d->b[i][n] >= 0 && isfinite(d->a[i][n]) && isfinite(d->b[i][n])))
                return fc_refuse(st, FC_INPUT, "traffic of node %u is %g out and %g in (expected numbers >= 0)", n,
                                 d->a[i][n], d->b[i][n]);
    return FC_OK;
}

/* ---- vertices and arcs ---- */

static enum fc_code number_vertices(struct builder *b)
{
    struct fc_bound_flow *flow = b->flow;
    const struct fc_network *net = b->net;
    flow->node_vertex = fc_alloc(&flow->arena, net->n_nodes, sizeof *flow->node_vertex, b->st);
    if (!flow->node_vertex) return b->st->code;
    flow->n_vertices = net->n_routers;
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        uint32_t v = fc_node_vertex(net, n), first = net->first_link[v];
        bool one = true;
        for (uint32_t l = first; l < net->first_link[v + 1]; l++)
            one = one && net->link_target[l] == net->link_target[first];
        flow->node_vertex[n] = one ? net->link_target[first] : flow->n_vertices++;
    }
    return FC_OK;
}

/* The vertex of an end of a link, FC_NONE where it is a node that stands at its router. */
static uint32_t vertex_of(const struct builder *b, uint32_t v)
{
    if (!fc_is_node(b->net, v)) return v;
    uint32_t to = b->flow->node_vertex[v - b->net->n_routers];
    return to < b->net->n_routers ? FC_NONE : to;
}

struct bundle {
    uint32_t from, to, link;
};
static int by_ends(const void *x, const void *y)
{
    const struct bundle *a = x, *b = y;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    if (a->to != b->to) return a->to < b->to ? -1 : 1;
    return a->link < b->link ? -1 : a->link > b->link;
}

/* Arcs by source, then target; rate[n_arcs] the bandwidth of their cables together. */
static enum fc_code make_arcs(struct builder *b, double **rate)
{
    struct fc_bound_flow *flow = b->flow;
    const struct fc_network *net = b->net;
    struct fc_arena *arena = &flow->arena;
    uint32_t n = 0, n_vertices = flow->n_vertices, last = FC_NONE;
    struct bundle *link = fc_alloc(&b->scratch, net->n_links, sizeof *link, b->st);
    *rate = fc_alloc(&b->scratch, net->n_links, sizeof **rate, b->st);
    flow->link_arc = fc_alloc(arena, net->n_links, sizeof *flow->link_arc, b->st);
    flow->first_out = fc_alloc(arena, n_vertices + 1ull, sizeof *flow->first_out, b->st);
    flow->first_in = fc_alloc(arena, n_vertices + 1ull, sizeof *flow->first_in, b->st);
    uint32_t **arrays[] = {&flow->from, &flow->to, &flow->in, &flow->row};
    for (size_t i = 0; i < FC_COUNT(arrays); i++) *arrays[i] = fc_alloc(arena, net->n_links, sizeof **arrays[i], b->st);
    if (b->st->code) return b->st->code;
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t from = vertex_of(b, net->link_source[l]), to = vertex_of(b, net->link_target[l]);
        flow->link_arc[l] = FC_NONE;
        if (from != FC_NONE && to != FC_NONE) link[n++] = (struct bundle){from, to, l};
    }
    qsort(link, n, sizeof *link, by_ends);
    for (uint32_t i = 0; i < n; i++) {
        if (last == FC_NONE || link[i].from != flow->from[last] || link[i].to != flow->to[last]) {
            last = flow->n_arcs++;
            flow->from[last] = link[i].from;
            flow->to[last] = link[i].to;
            flow->first_out[link[i].from + 1]++;
            flow->first_in[link[i].to + 1]++;
        }
        (*rate)[last] += fmax(0, fc_free_bandwidth(net, b->settings->background_bytes_per_s, link[i].link));
        flow->link_arc[link[i].link] = last;
    }
    for (uint32_t v = 0; v < n_vertices; v++) {
        flow->first_out[v + 1] += flow->first_out[v];
        flow->first_in[v + 1] += flow->first_in[v];
    }
    uint32_t *at = fc_alloc(&b->scratch, n_vertices, sizeof *at, b->st);
    for (uint32_t a = 0; at && a < flow->n_arcs; a++) flow->in[flow->first_in[flow->to[a]] + at[flow->to[a]]++] = a;
    return b->st->code;
}

/* ---- traffic by vertices ---- */

static enum fc_code gather_dense(struct builder *b)
{
    for (int i = 0; i < b->demand->n_dense; i++) {
        b->a[i] = fc_alloc(&b->scratch, b->flow->n_vertices, sizeof(double), b->st);
        b->b[i] = fc_alloc(&b->scratch, b->flow->n_vertices, sizeof(double), b->st);
        if (b->st->code) return b->st->code;
        for (uint32_t n = 0; n < b->net->n_nodes; n++) {
            b->a[i][b->flow->node_vertex[n]] += b->demand->a[i][n];
            b->b[i][b->flow->node_vertex[n]] += b->demand->b[i][n];
        }
    }
    return FC_OK;
}

struct entry {
    uint32_t source, target;
    double bytes;
};
static int by_target(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    if (a->target != b->target) return a->target < b->target ? -1 : 1;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

static enum fc_code gather_entries(struct builder *b)
{
    const struct fc_node_demand *d = b->demand;
    const uint32_t *vertex = b->flow->node_vertex;
    size_t n = 0, kept = 0;
    struct entry *entry = fc_alloc(&b->scratch, d->n, sizeof *entry, b->st);
    b->first = fc_alloc(&b->scratch, b->flow->n_vertices + 1ull, sizeof *b->first, b->st);
    b->entry_source = fc_alloc(&b->scratch, d->n, sizeof *b->entry_source, b->st);
    b->entry_bytes = fc_alloc(&b->scratch, d->n, sizeof *b->entry_bytes, b->st);
    if (b->st->code) return b->st->code;
    for (size_t e = 0; e < d->n; e++)
        if (vertex[d->src[e]] != vertex[d->dst[e]] && d->bytes[e] > 0)
            entry[n++] = (struct entry){vertex[d->src[e]], vertex[d->dst[e]], d->bytes[e]};
    qsort(entry, n, sizeof *entry, by_target);
    for (size_t e = 0; e < n; e++) {
        bool again = e > 0 && entry[e].target == entry[e - 1].target && entry[e].source == entry[e - 1].source;
        if (again) {
            b->entry_bytes[kept - 1] += entry[e].bytes;
            continue;
        }
        b->entry_source[kept] = entry[e].source;
        b->entry_bytes[kept++] = entry[e].bytes;
        b->first[entry[e].target + 1]++;
    }
    for (uint32_t v = 0; v < b->flow->n_vertices; v++) b->first[v + 1] += b->first[v];
    return FC_OK;
}

/* ---- symmetry ---- */

static bool alike(double x, double y)
{
    return fabs(x - y) <= 1e-12 * fmax(fabs(x), fabs(y));
}

/* Entries to v, brought back to its representative, are those to the representative. `there` [n_vertices] holds
 * those, `seen` [n_vertices] is scratch of zeros. */
static bool same_entries(const struct builder *b, uint32_t v, const double *there)
{
    const struct fc_translations *t = &b->translations;
    uint32_t root = t->orbit[v];
    if (b->first[v + 1] - b->first[v] != b->first[root + 1] - b->first[root]) return false;
    for (uint64_t e = b->first[v]; e < b->first[v + 1]; e++) {
        uint32_t s = fc_translate(t, b->entry_source[e], t->shift[v], true);
        if (!alike(there[s], b->entry_bytes[e])) return false;
    }
    return true;
}

/* Whether every translation leaves the traffic as it is. Parts are looked at one by one, which is enough. */
static bool symmetric_traffic(struct builder *b)
{
    const struct fc_translations *t = &b->translations;
    for (uint32_t v = 0; v < b->net->n_routers; v++)
        for (int i = 0; i < b->demand->n_dense; i++)
            if (!alike(b->a[i][v], b->a[i][t->orbit[v]]) || !alike(b->b[i][v], b->b[i][t->orbit[v]])) return false;
    double *there = fc_alloc(&b->scratch, b->net->n_routers, sizeof *there, b->st);
    if (!there) return false;
    for (uint32_t root = 0; root < b->net->n_routers; root++) {
        if (t->orbit[root] != root) continue;
        for (uint64_t e = b->first[root]; e < b->first[root + 1]; e++) there[b->entry_source[e]] = b->entry_bytes[e];
        for (uint32_t v = 0; v < b->net->n_routers; v++)
            if (t->orbit[v] == root && !same_entries(b, v, there)) return false;
        for (uint64_t e = b->first[root]; e < b->first[root + 1]; e++) there[b->entry_source[e]] = 0;
    }
    return true;
}

static void find_symmetry(struct builder *b)
{
    b->flow->symmetry = 1;
    if (b->settings->whole || b->settings->background_bytes_per_s || b->flow->n_vertices > b->net->n_routers) return;
    if (fc_translations_find(b->net, &b->scratch, &b->translations, b->st) || b->translations.n == 1) return;
    if (symmetric_traffic(b)) b->flow->symmetry = b->translations.n;
}

/* The row of each arc: its own, or that of the arc which a translation brings to a representative. */
static enum fc_code number_rows(struct builder *b, const double *rate)
{
    struct fc_bound_flow *flow = b->flow;
    const struct fc_translations *t = &b->translations;
    flow->capacity = fc_alloc(&flow->arena, flow->n_arcs, sizeof *flow->capacity, b->st);
    flow->row_arcs = fc_alloc(&flow->arena, flow->n_arcs, sizeof *flow->row_arcs, b->st);
    flow->row_arc = fc_alloc(&flow->arena, flow->n_arcs, sizeof *flow->row_arc, b->st);
    if (b->st->code) return b->st->code;
    for (uint32_t a = 0; a < flow->n_arcs; a++) {
        if (flow->symmetry > 1 && t->orbit[flow->from[a]] != flow->from[a]) continue;
        flow->row[a] = isinf(rate[a]) ? FC_FLOW_FREE : FC_FLOW_DEAD;
        if (isinf(rate[a]) || !(rate[a] > 0)) continue;
        uint32_t r = flow->row[a] = flow->n_rows++;
        flow->capacity[r] = rate[a];
        flow->row_arcs[r] = 1;
        flow->row_arc[r] = a;
    }
    for (uint32_t a = 0; flow->symmetry > 1 && a < flow->n_arcs; a++) {
        uint32_t v = flow->from[a], root = t->orbit[v];
        if (root == v) continue;
        uint32_t to = fc_translate(t, flow->to[a], t->shift[v], true), at = flow->first_out[root];
        while (at < flow->first_out[root + 1] && flow->to[at] != to) at++;
        if (at == flow->first_out[root + 1] || rate[at] != rate[a])
            return fc_refuse(b->st, FC_FAULT, "a translation of the network does not leave it as it is");
        flow->row[a] = flow->row[at];
        if (flow->row[a] < FC_FLOW_DEAD) flow->row_arcs[flow->row[a]]++;
    }
    return FC_OK;
}

/* ---- commodities ---- */

static bool takes_dense(const struct builder *b, uint32_t t)
{
    bool dense = false;
    for (int i = 0; i < b->demand->n_dense; i++) dense = dense || b->b[i][t] > 0;
    return dense;
}

/* Bytes to vertex t from each vertex. */
static void demand_to(const struct builder *b, uint32_t t, double *bytes)
{
    memset(bytes, 0, b->flow->n_vertices * sizeof *bytes);
    for (int i = 0; i < b->demand->n_dense; i++)
        for (uint32_t v = 0; b->b[i][t] > 0 && v < b->flow->n_vertices; v++) bytes[v] += b->a[i][v] * b->b[i][t];
    for (uint64_t e = b->first[t]; e < b->first[t + 1]; e++) bytes[b->entry_source[e]] += b->entry_bytes[e];
    bytes[t] = 0;
}

/* Sparse traffic: each pair of routers is a commodity of its own. The weights then move one pair at a time, which brings them
 * nearer to the optimum than trees of all sources do; dense traffic would have too many. */
static enum fc_code part_pairs(struct builder *b)
{
    struct fc_bound_flow *flow = b->flow;
    uint32_t n = flow->n_commodities;
    uint64_t pairs = flow->first_source[n];
    if (b->settings->if_cheap || pairs > (uint64_t)MOST_SOURCES * n || b->demand->n_dense > 0 || flow->symmetry > 1 ||
        pairs == n || pairs > MOST_PAIRS || (double)pairs * flow->n_arcs < LEAST_PAIRS ||
        b->settings->method == FC_FLOW_COLUMNS || b->settings->method == FC_FLOW_EDGES)
        return FC_OK;
    uint32_t *target = fc_alloc(&flow->arena, pairs, sizeof *target, b->st);
    uint64_t *first = fc_alloc(&flow->arena, pairs + 1, sizeof *first, b->st);
    if (b->st->code) return b->st->code;
    for (uint32_t c = 0; c < n; c++)
        for (uint64_t i = flow->first_source[c]; i < flow->first_source[c + 1]; i++) {
            target[i] = flow->target[c];
            first[i + 1] = i + 1;
        }
    flow->target = target;
    flow->first_source = first;
    flow->n_commodities = (uint32_t)pairs;
    return FC_OK;
}

static enum fc_code make_commodities(struct builder *b)
{
    struct fc_bound_flow *flow = b->flow;
    double *bytes = fc_alloc(&b->scratch, flow->n_vertices, sizeof *bytes, b->st), most = 0;
    flow->target = fc_alloc(&flow->arena, flow->n_vertices, sizeof *flow->target, b->st);
    flow->first_source = fc_alloc(&flow->arena, flow->n_vertices + 1ull, sizeof *flow->first_source, b->st);
    if (b->st->code) return b->st->code;
    for (uint32_t t = 0; t < flow->n_vertices; t++) { /* room first */
        if (flow->symmetry > 1 && b->translations.orbit[t] != t) continue;
        most += takes_dense(b, t) ? flow->n_vertices : (double)(b->first[t + 1] - b->first[t]);
    }
    if (most > b->most)
        return fc_refuse(b->st, FC_NO, "the flow program has %.3g pairs of routers (at most %.3g)", most, b->most);
    flow->source = fc_alloc(&flow->arena, (size_t)most, sizeof *flow->source, b->st);
    flow->bytes = fc_alloc(&flow->arena, (size_t)most, sizeof *flow->bytes, b->st);
    if (b->st->code) return b->st->code;
    for (uint32_t t = 0; t < flow->n_vertices; t++) {
        uint64_t n = flow->first_source[flow->n_commodities];
        if (flow->symmetry > 1 && b->translations.orbit[t] != t) continue;
        if (takes_dense(b, t)) {
            demand_to(b, t, bytes);
            for (uint32_t v = 0; v < flow->n_vertices; v++)
                if (bytes[v] > 0) flow->source[n] = v, flow->bytes[n++] = bytes[v];
        } else { /* ascending already, and none is t */
            for (uint64_t e = b->first[t]; e < b->first[t + 1]; e++, n++)
                flow->source[n] = b->entry_source[e], flow->bytes[n] = b->entry_bytes[e];
        }
        if (n == flow->first_source[flow->n_commodities]) continue;
        flow->target[flow->n_commodities++] = t;
        flow->first_source[flow->n_commodities] = n;
    }
    flow->n_targets = flow->n_commodities;
    return part_pairs(b);
}

/* ---- minimal paths ---- */

struct ways {
    uint32_t *hops, *queue; /* [n_vertices] FC_NONE: not reached; vertices by hops, nearest first */
    bool *used;             /* [n_vertices] on a way; before that the sources */
};

/* Hops to t of the n_sources vertices and of all that are nearer; packets pass through no node. Returns how many were
 * reached. */
static uint32_t hops_to(const struct fc_bound_flow *flow, uint32_t t, uint64_t n_sources, struct ways *w)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < flow->n_vertices; v++) w->hops[v] = FC_NONE;
    w->hops[t] = 0;
    w->queue[n++] = t;
    for (uint32_t i = 0; i < n && n_sources; i++) {
        uint32_t v = w->queue[i];
        if (v >= flow->net->n_routers && v != t) continue;
        for (uint32_t j = flow->first_in[v]; j < flow->first_in[v + 1]; j++) {
            uint32_t u = flow->from[flow->in[j]];
            if (w->hops[u] != FC_NONE) continue;
            w->hops[u] = w->hops[v] + 1;
            w->queue[n++] = u;
            n_sources -= w->used[u];
        }
    }
    return n;
}

static bool downhill(const struct fc_bound_flow *flow, const struct ways *w, uint32_t t, uint32_t a)
{
    uint32_t to = flow->to[a];
    return w->hops[to] + 1 == w->hops[flow->from[a]] && (to < flow->net->n_routers || to == t) &&
           flow->row[a] != FC_FLOW_DEAD;
}

/* Counts, or writes where `out` is not NULL, the arcs of a commodity. */
static uint64_t minimal_arcs(const struct fc_bound_flow *flow, uint32_t c, struct ways *w, uint32_t *out)
{
    uint32_t t = flow->target[c];
    uint64_t n = 0;
    memset(w->used, 0, flow->n_vertices * sizeof *w->used);
    for (uint64_t s = flow->first_source[c]; s < flow->first_source[c + 1]; s++) w->used[flow->source[s]] = true;
    uint32_t reached = hops_to(flow, t, flow->first_source[c + 1] - flow->first_source[c], w);
    for (uint32_t i = reached; i-- > 1;) {
        uint32_t v = w->queue[i];
        for (uint32_t a = flow->first_out[v]; w->used[v] && a < flow->first_out[v + 1]; a++)
            if (downhill(flow, w, t, a)) w->used[flow->to[a]] = true, n++;
    }
    n = out ? 0 : n;
    for (uint32_t i = 1; out && i < reached; i++) {
        uint32_t v = w->queue[i];
        for (uint32_t a = flow->first_out[v]; w->used[v] && a < flow->first_out[v + 1]; a++)
            if (downhill(flow, w, t, a)) out[n++] = a;
    }
    return n;
}

static enum fc_code too_large(const struct builder *b, double variables)
{
    return fc_refuse(b->st, FC_NO,
                     "the flow program has %.3g variables for %u destinations and %u links (at most %.3g)", variables,
                     b->flow->n_commodities, b->flow->n_arcs, b->most);
}

static enum fc_code make_variables(struct builder *b)
{
    struct fc_bound_flow *flow = b->flow;
    uint32_t n = flow->n_commodities;
    flow->first_variable = fc_alloc(&flow->arena, n + 1ull, sizeof *flow->first_variable, b->st);
    if (!flow->first_variable) return b->st->code;
    if (flow->paths == FC_FLOW_ALL) {
        if ((double)n * flow->n_arcs > b->most) return too_large(b, (double)n * flow->n_arcs);
        flow->variable = fc_alloc(&flow->arena, flow->n_arcs, sizeof *flow->variable, b->st);
        for (uint32_t a = 0; flow->variable && a < flow->n_arcs; a++) flow->variable[a] = a;
        for (uint32_t c = 0; c < n; c++) flow->first_variable[c + 1] = (c + 1ull) * flow->n_arcs;
        return b->st->code;
    }
    struct ways w = {fc_alloc(&b->scratch, flow->n_vertices, sizeof *w.hops, b->st),
                     fc_alloc(&b->scratch, flow->n_vertices, sizeof *w.queue, b->st),
                     fc_alloc(&b->scratch, flow->n_vertices, sizeof *w.used, b->st)};
    if (b->st->code) return b->st->code;
    if ((double)n * flow->n_arcs > MOST_VISITS * b->most)
        return fc_refuse(b->st, FC_NO, "the flow program has %u destinations on %u links (at most %.3g pairs of them)",
                         n, flow->n_arcs, MOST_VISITS * b->most);
    for (uint32_t c = 0; c < n; c++)
        flow->first_variable[c + 1] = flow->first_variable[c] + minimal_arcs(flow, c, &w, NULL);
    if ((double)flow->first_variable[n] > b->most) return too_large(b, (double)flow->first_variable[n]);
    flow->variable = fc_alloc(&flow->arena, flow->first_variable[n], sizeof *flow->variable, b->st);
    for (uint32_t c = 0; flow->variable && c < n; c++)
        minimal_arcs(flow, c, &w, flow->variable + flow->first_variable[c]);
    return b->st->code;
}

/* ---- the links of nodes ---- */

static void raise(double *most, double bytes, double bytes_per_s)
{
    if (bytes > 0 && bytes_per_s < INFINITY) *most = fmax(*most, bytes_per_s > 0 ? bytes / bytes_per_s : INFINITY);
}

/* Each node at one router: what it sends and gets over its links there. */
static enum fc_code node_links(struct builder *b)
{
    const struct fc_network *net = b->net;
    const struct fc_node_demand *d = b->demand;
    uint32_t n = net->n_nodes;
    double *sum = fc_alloc(&b->scratch, 4ull * n, sizeof *sum, b->st);
    if (!sum) return b->st->code;
    double *out = sum, *in = sum + n, *out_rate = in + n, *in_rate = out_rate + n;
    for (size_t e = 0; e < d->n; e++)
        if (d->src[e] != d->dst[e]) out[d->src[e]] += d->bytes[e], in[d->dst[e]] += d->bytes[e];
    for (int i = 0; i < d->n_dense; i++) {
        double total_a = 0, total_b = 0;
        for (uint32_t v = 0; v < n; v++) total_a += d->a[i][v], total_b += d->b[i][v];
        for (uint32_t v = 0; v < n; v++) {
            out[v] += d->a[i][v] * (total_b - d->b[i][v]);
            in[v] += d->b[i][v] * (total_a - d->a[i][v]);
        }
    }
    for (uint32_t l = 0; l < net->n_links; l++) {
        double rate = fmax(0, fc_free_bandwidth(net, b->settings->background_bytes_per_s, l));
        if (fc_is_node(net, net->link_source[l])) out_rate[net->link_source[l] - net->n_routers] += rate;
        if (fc_is_node(net, net->link_target[l])) in_rate[net->link_target[l] - net->n_routers] += rate;
    }
    for (uint32_t v = 0; v < n; v++) {
        if (b->flow->node_vertex[v] >= net->n_routers) continue;
        raise(&b->flow->node_s, out[v], out_rate[v]);
        raise(&b->flow->node_s, in[v], in_rate[v]);
    }
    if (isinf(b->flow->node_s))
        return fc_refuse(b->st, FC_NO, "a node that sends or receives has no link with bandwidth left");
    return FC_OK;
}

static enum fc_code build(struct builder *b)
{
    double *rate;
    const struct fc_machine *machine = b->net->machine;
    const char *expected = "", *left_out = "";
    if (machine->family->left_out) left_out = machine->family->left_out(b->net, &expected);
    if (*left_out)
        return fc_fail(b->st, FC_INPUT, (struct fc_place){machine->file, machine->network_line},
                       "%s; the flow program needs the place of every link (expected %s)", left_out, expected);
    if (b->net->n_links > MOST_VISITS * b->most)
        return fc_refuse(b->st, FC_NO, "the flow program has %u links (at most %.3g)", b->net->n_links,
                         MOST_VISITS * b->most);
    if (check_demand(b->net, b->demand, b->st) || number_vertices(b) || make_arcs(b, &rate) || gather_dense(b) ||
        gather_entries(b))
        return b->st->code;
    find_symmetry(b);
    if (b->st->code || number_rows(b, rate) || make_commodities(b) || make_variables(b)) return b->st->code;
    return node_links(b);
}

enum fc_code fc_flow_build(const struct fc_network *net, const struct fc_node_demand *demand,
                           const struct fc_flow_settings *settings, struct fc_bound_flow *flow, struct fc_status *st)
{
    struct builder b = {.flow = flow,
                        .net = net,
                        .demand = demand,
                        .settings = settings,
                        .st = st,
                        .most = settings->most_variables > 0 ? settings->most_variables : FC_FLOW_MOST_VARIABLES};
    memset(flow, 0, sizeof *flow);
    flow->net = net;
    flow->paths = settings->paths;
    enum fc_code code = build(&b);
    fc_arena_free(&b.scratch);
    if (code) fc_arena_free(&flow->arena);
    return code;
}
