/* dependencies.h - the tests' own channel dependencies: every route of every pair of nodes, link by link
 * with the virtual channel the rule's words give it, and nothing of the relations under test. */
#pragma once

#include "models/deadlock/cdg.h"
#include "models/family_graph.h"
#include "models/family_tmesh.h"
#include "models/family_torus.h"
#include "models/family_two_level.h"
#include "tests/network_checks.h"

/* Machines for the tests, one line each. */
#define TORUS(keys) "name: t\nnetwork: {family: torus, " keys "}\nlinks: {torus: {bandwidth: 1 GB/s, latency: 1 ns}}\n"
#define MESH(keys) "name: t\nnetwork: {family: mesh, " keys "}\nlinks: {mesh: {bandwidth: 1 GB/s, latency: 1 ns}}\n"
#define TMESH(keys)                                                                                                    \
    "name: t\nnetwork: {family: tmesh, " keys "}\n"                                                                    \
    "links: {torus: {bandwidth: 2 GB/s, latency: 1 ns}, mesh: {bandwidth: 8 GB/s, latency: 1 ns}}\n"
#define LL_ONLY "links: {ll: {bandwidth: 1 GB/s, latency: 1 ns}, d: {bandwidth: 1 GB/s, latency: 1 ns}}\n"
#define LL_LR                                                                                                          \
    "links: {ll: {bandwidth: 1 GB/s, latency: 1 ns}, lr: {bandwidth: 1 GB/s, latency: 1 ns}, "                         \
    "d: {bandwidth: 1 GB/s, latency: 1 ns}}\n"

static inline const struct fc_vc_rule_ops *rule_of(const struct fc_network *net, const char *name)
{
    const struct fc_vc_rule_ops *rule = fc_vc_rule_find(name, net->machine);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rule);
    return rule;
}
static inline int vcs_of(const struct fc_network *net, const char *name)
{
    const struct fc_vc_rule_ops *rule = rule_of(net, name);
    return rule->vcs ? rule->vcs(net, rule->variant) : 1;
}
static inline void route_by(struct fc_machine *machine, const char *routing)
{
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_machine_route(machine, routing, &st), FC_OK);
}

/* ---- arcs ---- */

/* A set of arcs from << 32 | to. */
struct arcs {
    uint64_t *arc;
    size_t n, capacity;
    uint64_t recent[1024]; /* those added last, by hash: most come again and again */
};
static inline int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}
static inline void arcs_unique(struct arcs *s)
{
    size_t kept = 0;
    if (s->n) qsort(s->arc, s->n, sizeof *s->arc, compare_keys);
    for (size_t i = 0; i < s->n; i++)
        if (kept == 0 || s->arc[kept - 1] != s->arc[i]) s->arc[kept++] = s->arc[i];
    s->n = kept;
}
static inline void arcs_add(struct arcs *s, uint64_t from, uint64_t to)
{
    uint64_t arc = from << 32 | to, *recent = &s->recent[(arc * UINT64_C(0x9E3779B97F4A7C15)) >> 54];
    if (*recent == arc && arc != 0) return;
    *recent = arc;
    if (s->n == s->capacity) {
        arcs_unique(s);
        if (2 * s->n >= s->capacity) {
            s->capacity = s->capacity ? 2 * s->capacity : 1024;
            s->arc = realloc(s->arc, s->capacity * sizeof *s->arc);
        }
    }
    s->arc[s->n++] = arc;
}
static inline void arcs_free(struct arcs *s)
{
    free(s->arc);
    memset(s, 0, sizeof *s);
}

/* Whether the arcs close a cycle: vertices with nothing to wait for are dropped until none is left. */
static inline bool arcs_cyclic(const struct arcs *s, uint64_t n_vertices)
{
    uint32_t *waits = calloc(n_vertices, sizeof *waits);
    struct arcs left = {.arc = malloc((s->n + 1) * sizeof *left.arc), .n = s->n};
    if (s->n) memcpy(left.arc, s->arc, s->n * sizeof *left.arc);
    for (bool changed = true; changed && left.n;) {
        size_t kept = 0;
        memset(waits, 0, n_vertices * sizeof *waits);
        for (size_t i = 0; i < left.n; i++) waits[left.arc[i] >> 32]++;
        for (size_t i = 0; i < left.n; i++)
            if (waits[(uint32_t)left.arc[i]]) left.arc[kept++] = left.arc[i];
        changed = kept < left.n;
        left.n = kept;
    }
    bool cyclic = left.n > 0;
    free(waits), free(left.arc);
    return cyclic;
}

/* A route: hops of one or more parallel links, all on one virtual channel. */
struct trace {
    int n_vcs;
    uint32_t n;
    struct {
        uint32_t link, cables, vc;
    } hop[512];
};
static inline void hop(struct trace *t, uint32_t link, uint32_t cables, uint32_t vc)
{
    if (t->n == FC_COUNT(t->hop) || link == FC_NONE) CU_FAIL_FATAL("a route of the oracle has no such hop");
    t->hop[t->n].link = link;
    t->hop[t->n].cables = cables;
    t->hop[t->n++].vc = vc;
}
static inline void record(const struct trace *t, struct arcs *s)
{
    for (uint32_t i = 0; i + 1 < t->n; i++)
        for (uint32_t a = 0; a < t->hop[i].cables; a++)
            for (uint32_t b = 0; b < t->hop[i + 1].cables; b++)
                arcs_add(s, (t->hop[i].link + a) * (uint64_t)t->n_vcs + t->hop[i].vc,
                         (t->hop[i + 1].link + b) * (uint64_t)t->n_vcs + t->hop[i + 1].vc);
}
static inline uint32_t in_link(const struct fc_network *net, uint32_t node)
{
    return net->first_link[net->n_routers + node];
}
static inline uint32_t out_link(const struct fc_network *net, uint32_t node)
{
    return fc_find_link(net, net->link_target[in_link(net, node)], fc_node_vertex(net, node));
}

/* ---- tori ---- */

enum scheme { ONE, BUBBLE, PAIR };
static inline uint32_t torus_vc(enum scheme scheme, int phase, bool crossed)
{
    return scheme == ONE ? 0 : scheme == BUBBLE ? (uint32_t)phase : 2 * (uint32_t)phase + crossed;
}

/* Dimension order from router v to d; bit i of `ways`: - at a tie of dimension i. False: bit set and no
 * tie. */
static inline bool torus_leg(const struct fc_network *net, uint32_t v, uint32_t d, uint32_t ways, enum scheme scheme,
                             int phase, struct trace *t)
{
    const struct fc_torus_shape *s = fc_torus(net);
    for (int i = 0; i < s->n_dims; i++) {
        struct fc_torus_offset o = fc_torus_offset(s, i, fc_torus_coordinate(s, v, i), fc_torus_coordinate(s, d, i));
        bool other = ways >> i & 1, crossed = false;
        if (other && o.plus_share != 0.5) return false;
        int direction = o.plus_share > 0 && !other ? FC_PLUS : FC_MINUS;
        for (uint32_t h = 0; h < (direction == FC_PLUS ? o.plus : o.minus); h++) {
            uint32_t to = fc_torus_neighbour(s, v, i, direction), a = fc_torus_coordinate(s, v, i);
            uint32_t b = fc_torus_coordinate(s, to, i);
            crossed = crossed || (direction == FC_PLUS ? b < a : b > a);
            hop(t, fc_torus_port(net, v, i, direction), s->parallel[i], torus_vc(scheme, phase, crossed));
            v = to;
        }
    }
    return true;
}

static inline void torus_arcs(const struct fc_network *net, int n_vcs, enum scheme scheme, struct arcs *s)
{
    bool valiant = !strcmp(net->machine->routing->name, "valiant");
    uint32_t per_router = fc_torus(net)->nodes_per_router, ways = 1u << fc_torus(net)->n_dims;
    struct trace t = {.n_vcs = n_vcs};
    for (uint32_t a = 0; a < net->n_nodes; a++)
        for (uint32_t b = 0; b < net->n_nodes; b++)
            for (uint32_t via = 0; a != b && via < (valiant ? net->n_routers : 1); via++)
                for (uint32_t w = 0; w < ways; w++)
                    for (uint32_t w2 = 0; w2 < (valiant ? ways : 1); w2++) {
                        uint32_t from = a / per_router, to = b / per_router;
                        t.n = 0;
                        hop(&t, in_link(net, a), 1, 0);
                        if (!torus_leg(net, from, valiant ? via : to, w, scheme, 0, &t)) continue;
                        if (valiant && !torus_leg(net, via, to, w2, scheme, 1, &t)) continue;
                        hop(&t, out_link(net, b), 1, 0);
                        record(&t, s);
                    }
}

/* ---- tori, adaptive: the box of minimal routes of one pair and one choice of directions ---- */

struct box {
    const struct fc_network *net;
    uint32_t start, hops[FC_MAX_DIMS];
    bool tie[FC_MAX_DIMS];
    int direction[FC_MAX_DIMS];
};
static inline bool make_box(const struct fc_network *net, uint32_t v, uint32_t d, uint32_t ways, struct box *b)
{
    const struct fc_torus_shape *s = fc_torus(net);
    *b = (struct box){.net = net, .start = v};
    for (int i = 0; i < s->n_dims; i++) {
        struct fc_torus_offset o = fc_torus_offset(s, i, fc_torus_coordinate(s, v, i), fc_torus_coordinate(s, d, i));
        b->tie[i] = o.plus_share == 0.5;
        if (!b->tie[i] && ways >> i & 1) return false;
        b->direction[i] = o.plus_share > 0 && !(ways >> i & 1) ? FC_PLUS : FC_MINUS;
        b->hops[i] = b->direction[i] == FC_PLUS ? o.plus : o.minus;
    }
    return true;
}
/* The link by which a packet with `left` hops of the box left goes on in dimension i and `direction`, and
 * whether it is beyond the dateline with that. */
static inline uint32_t box_link(const struct box *b, const uint32_t *left, int i, int direction, bool *crossed)
{
    const struct fc_torus_shape *s = fc_torus(b->net);
    uint32_t v = b->start;
    *crossed = false;
    for (int d = 0; d < s->n_dims; d++)
        for (uint32_t h = 0; h < b->hops[d] - left[d]; h++) {
            uint32_t to = fc_torus_neighbour(s, v, d, b->direction[d]);
            if (d == i && (b->direction[d] == FC_PLUS ? to < v : to > v)) *crossed = true;
            v = to;
        }
    uint32_t to = fc_torus_neighbour(s, v, i, direction);
    if (direction == FC_PLUS ? to < v : to > v) *crossed = true;
    return fc_torus_port(b->net, v, i, direction);
}
/* Steps through all vectors 0 <= left <= most; false after the last. */
static inline bool next_left(const struct fc_network *net, uint32_t *left, const uint32_t *most)
{
    for (int i = 0; i < fc_torus(net)->n_dims; i++) {
        if (left[i]++ < most[i]) return true;
        left[i] = 0;
    }
    return false;
}

/* One channel, any minimal route: each arrival in dimension i with hops left in j. One cable, one node a
 * router. */
static inline void adaptive_box_arcs(const struct box *b, struct arcs *s)
{
    int n = fc_torus(b->net)->n_dims;
    uint32_t left[FC_MAX_DIMS] = {0}, before[FC_MAX_DIMS];
    bool crossed;
    do
        for (int i = 0; i < n; i++) {
            if (left[i] == b->hops[i]) continue;
            memcpy(before, left, sizeof before);
            before[i]++;
            uint32_t in = box_link(b, before, i, b->direction[i], &crossed), more = 0;
            for (int j = 0; j < n; j++) {
                more += left[j];
                if (left[j]) arcs_add(s, in, box_link(b, left, j, b->direction[j], &crossed));
            }
            if (more == 0) arcs_add(s, in, out_link(b->net, b->net->link_target[in]));
        }
    while (next_left(b->net, left, b->hops));
}

/* The escape of a packet with `left` hops left: dimension, direction and channel; false when it has
 * arrived. In dimension order a tie goes as the box does; in direction order it goes + until it was begun. */
static inline bool escape_of(const struct box *b, const uint32_t *left, bool direction_ordered, int *dim,
                             int *direction, uint64_t *channel)
{
    int n = fc_torus(b->net)->n_dims;
    bool crossed;
    *dim = -1;
    for (int way = 0; way < (direction_ordered ? 2 : 1) && *dim < 0; way++)
        for (int i = 0; i < n && *dim < 0; i++) {
            int goes = direction_ordered && b->tie[i] && left[i] == b->hops[i] ? FC_PLUS : b->direction[i];
            if (left[i] == 0 || (direction_ordered && goes != way)) continue;
            *dim = i;
            *direction = goes;
        }
    if (*dim < 0) return false;
    *channel = 2ull * box_link(b, left, *dim, *direction, &crossed);
    *channel += crossed;
    return true;
}

/* Extended dependencies: escape at one point of the box, any hops, escape at another. */
static inline void extended_box_arcs(const struct box *b, bool direction_ordered, struct arcs *s)
{
    uint32_t left[FC_MAX_DIMS] = {0}, after[FC_MAX_DIMS], later[FC_MAX_DIMS];
    int dim, direction, other_dim, other_direction;
    uint64_t from, to;
    do {
        if (!escape_of(b, left, direction_ordered, &dim, &direction, &from) || direction != b->direction[dim]) continue;
        memcpy(after, left, sizeof after);
        after[dim]--;
        memset(later, 0, sizeof later);
        do
            if (escape_of(b, later, direction_ordered, &other_dim, &other_direction, &to)) arcs_add(s, from, to);
        while (next_left(b->net, later, after));
    } while (next_left(b->net, left, b->hops));
}

/* ---- tori of mesh chips ---- */

static inline uint32_t step_to(uint32_t at, uint32_t to, bool rows, uint32_t columns)
{
    if (rows) return at / columns < to / columns ? at + columns : at / columns > to / columns ? at - columns : at;
    return at % columns < to % columns ? at + 1 : at % columns > to % columns ? at - 1 : at;
}
static inline void chip_hops(const struct fc_network *net, uint32_t chip, uint32_t from, uint32_t to, uint32_t vc,
                             struct trace *t)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    while (from != to) {
        bool rows_first = s->mesh_order == FC_COLUMN_FIRST;
        uint32_t next = step_to(from, to, rows_first, s->columns);
        if (next == from) next = step_to(from, to, !rows_first, s->columns);
        hop(t, fc_find_link(net, chip * s->n_mesh + from, chip * s->n_mesh + next), 1, vc);
        from = next;
    }
}

/* The rules in the words of the paper and of vc_*.c. last: dimension and side of the dateline of the torus
 * link the packet came by, -1 at its first chip; next: dimension it goes on in, -1 at its last chip. */
static inline uint32_t mesh_vc(const char *rule, int last, bool crossed, int next)
{
    bool same_chip = last < 0 && next < 0;
    if (!strcmp(rule, "shared")) return last < 0 ? 0 : crossed;
    if (!strcmp(rule, "separate")) return next < 0 ? 3 : last < 0 ? 2 : crossed;
    return same_chip ? 0 : next < 0 ? 2 * (uint32_t)last + crossed : 2 * (uint32_t)next + (last == next && crossed);
}

static inline void tmesh_arcs(const struct fc_network *net, const char *rule, int n_vcs, struct arcs *set)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    struct trace t = {.n_vcs = n_vcs};
    for (uint32_t a = 0; a < net->n_nodes; a++)
        for (uint32_t b = 0; b < net->n_nodes; b++)
            for (uint32_t ways = 0; a != b && ways < 1u << s->n_dims; ways++) {
                uint32_t at = net->link_target[in_link(net, a)], end = net->link_target[in_link(net, b)];
                uint32_t chip = at / s->n_mesh, goal = end / s->n_mesh, m = at % s->n_mesh;
                int last = -1;
                bool crossed = false, valid = true;
                t.n = 0;
                hop(&t, in_link(net, a), 1, 0);
                for (int d = 0; d < s->n_dims; d++) {
                    uint32_t k = s->k[d], x = chip / s->stride[d] % k, y = goal / s->stride[d] % k,
                             plus = (y + k - x) % k;
                    valid = valid && (!(ways >> d & 1) || 2 * plus == k);
                    bool minus = 2 * plus > k || ways >> d & 1;
                    for (uint32_t h = 0; h < (minus ? (k - plus) % k : plus); h++) {
                        uint32_t there = (x + (minus ? k - 1 : 1)) % k, out = s->bridge[d][minus];
                        chip_hops(net, chip, m, out, mesh_vc(rule, last, crossed, d), &t);
                        crossed = (last == d && crossed) || (minus ? there > x : there < x);
                        uint32_t next = chip + there * s->stride[d] - x * s->stride[d], from = chip * s->n_mesh + out;
                        for (uint32_t l = net->first_link[from]; l < net->first_link[from + 1]; l++)
                            if (net->link_target[l] == next * s->n_mesh + s->bridge[d][!minus] &&
                                net->link_class[l] == 0)
                                hop(&t, l, 1, crossed);
                        chip = next, x = there, m = s->bridge[d][!minus], last = d;
                    }
                }
                if (!valid) continue;
                chip_hops(net, chip, m, end % s->n_mesh, mesh_vc(rule, last, crossed, -1), &t);
                hop(&t, out_link(net, b), 1, 0);
                record(&t, set);
            }
}

/* ---- two-level networks ---- */

/* Local links from router a to b of a supernode, over corner `way` where there are two ways; false: no
 * such way. */
static inline bool local_hops(const struct fc_network *net, uint32_t a, uint32_t b, uint32_t way, uint32_t vc,
                              bool by_hop, struct trace *t)
{
    uint32_t p = fc_two_level(net)->n_positions, one = a == b ? FC_NONE : fc_find_link(net, a, b);
    if (a == b) return way == 0;
    if (one != FC_NONE) {
        hop(t, one, 1, vc);
        return way == 0;
    }
    uint32_t corner = way == 0 ? a - a % p + b % p : b - b % p + a % p;
    hop(t, fc_find_link(net, a, corner), 1, vc);
    hop(t, fc_find_link(net, corner, b), 1, vc + by_hop);
    return true;
}

/* The route through `n` supernodes over given cables and corners. */
static inline void two_level_trace(const struct fc_network *net, const uint32_t *supernode, uint32_t n,
                                   uint32_t choices, uint32_t a, uint32_t b, bool single, struct trace *t,
                                   struct arcs *set)
{
    const struct fc_two_level_shape *s = fc_two_level(net);
    bool grid = s->local == FC_LOCAL_GRID && s->n_drawers > 1 && s->n_positions > 1;
    uint32_t at = net->link_target[in_link(net, a)], end = net->link_target[in_link(net, b)],
             stride = single ? 0
                      : grid ? 2
                             : 1;
    /* UGAL counts channels from the end of a route of three supernodes. */
    uint32_t skip = !strcmp(net->machine->routing->name, "ugal") && s->n_supernodes > 2 ? 3 - n : 0;
    t->n = 0;
    hop(t, in_link(net, a), 1, 0);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t cable = choices % s->pair_links, segment = i + skip;
        choices /= s->pair_links;
        uint32_t d = i + 1 < n ? fc_two_level_cross(net, supernode[i], supernode[i + 1], cable).link : FC_NONE;
        if (!local_hops(net, at, i + 1 < n ? net->link_source[d] : end, choices % 2, segment * stride, grid && !single,
                        t))
            return;
        choices /= 2;
        if (i + 1 == n) break;
        hop(t, d, 1, segment * stride);
        at = net->link_target[d];
    }
    if (choices != 0) return;
    hop(t, out_link(net, b), 1, 0);
    record(t, set);
}

static inline void two_level_arcs(const struct fc_network *net, bool single, int n_vcs, struct arcs *set)
{
    const struct fc_two_level_shape *s = fc_two_level(net);
    const char *routing = net->machine->routing->name;
    uint32_t per_supernode = s->members * s->nodes_per_router, all = s->pair_links * 2;
    bool direct = strcmp(routing, "indirect") || s->n_supernodes < 3;
    struct trace t = {.n_vcs = n_vcs};
    for (uint32_t a = 0; a < net->n_nodes; a++)
        for (uint32_t b = 0; b < net->n_nodes; b++) {
            uint32_t from = a / per_supernode, to = b / per_supernode, one[] = {from}, two[] = {from, to};
            for (uint32_t c = 0; a != b && from == to && c < all; c++)
                two_level_trace(net, one, 1, c, a, b, single, &t, set);
            for (uint32_t c = 0; direct && from != to && c < all * all; c++)
                two_level_trace(net, two, 2, c, a, b, single, &t, set);
            for (uint32_t via = 0; strcmp(routing, "direct") && from != to && via < s->n_supernodes; via++) {
                uint32_t three[] = {from, via, to};
                for (uint32_t c = 0; via != from && via != to && c < all * all * all; c++)
                    two_level_trace(net, three, 3, c, a, b, single, &t, set);
            }
        }
}

/* ---- any network: all shortest paths ---- */

/* One destination: its distances to every vertex, and the virtual channel of its packets. */
struct goal {
    const struct fc_network *net;
    uint32_t vertex, *distance, n_vcs, vc;
};
static inline void shortest_paths(const struct goal *g, uint32_t from_link, struct arcs *set)
{
    const struct fc_network *net = g->net;
    uint32_t v = net->link_target[from_link];
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
        uint32_t to = net->link_target[l];
        bool last = to == g->vertex;
        if (last ? g->distance[v] != 0 : fc_is_node(net, to) || g->distance[to] + 1 != g->distance[v]) continue;
        arcs_add(set, (uint64_t)from_link * g->n_vcs + g->vc, (uint64_t)l * g->n_vcs + g->vc);
        if (!last) shortest_paths(g, l, set);
    }
}

/* ---- any network: detours through a router that nodes hang on ---- */

/* Ways to a vertex (a stop, or a node) that is `distance` away, from the channel in; what follows them: from the stop on to node
 * `then`. One channel, or counted from the end: 2 x `longest`. */
struct detour {
    const struct fc_network *net;
    uint32_t *to_stop, *to_end; /* distances */
    uint32_t stop, end, longest;
    bool by_hops;
};
static inline void detour_ways(const struct detour *d, uint32_t from_link, uint32_t from_vc, bool first,
                               struct arcs *set)
{
    const struct fc_network *net = d->net;
    uint32_t v = net->link_target[from_link], n_vcs = d->by_hops ? 2 * d->longest : 1;
    if (first && v == d->stop) first = false;
    const uint32_t *distance = first ? d->to_stop : d->to_end;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
        uint32_t to = net->link_target[l], vc = 0;
        bool last = to == d->end && !first;
        if (last ? distance[v] != 0 : fc_is_node(net, to) || distance[to] + 1 != distance[v]) continue;
        if (d->by_hops && !last) vc = (first ? 1 : 2) * d->longest - distance[v];
        arcs_add(set, (uint64_t)from_link * n_vcs + from_vc, (uint64_t)l * n_vcs + vc);
        if (!last) detour_ways(d, l, vc, first, set);
    }
}
/* By the node's links to the nearest routers. */
static inline void detour_leaves(const struct detour *d, uint32_t node, bool first, struct arcs *set)
{
    const struct fc_network *net = d->net;
    const uint32_t *distance = first ? d->to_stop : d->to_end;
    uint32_t v = fc_node_vertex(net, node), nearest = FC_NONE;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
        if (distance[net->link_target[l]] < nearest) nearest = distance[net->link_target[l]];
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
        if (distance[net->link_target[l]] == nearest) detour_ways(d, l, 0, first, set);
}
/* All of Valiant's and UGAL's packets. */
static inline void detour_arcs(const struct fc_network *net, bool by_hops, uint32_t longest, struct arcs *set)
{
    const struct fc_graph_tables *t = net->extra;
    size_t size = net->n_vertices * sizeof(uint32_t);
    uint32_t *to_stop = malloc(size), *to_end = malloc(size), *queue = malloc(size);
    bool *stop = calloc(net->n_routers, sizeof *stop);
    for (uint32_t l = net->first_link[net->n_routers]; l < net->n_links; l++) stop[net->link_target[l]] = true;
    for (uint32_t b = 0; b < net->n_nodes; b++)
        for (uint32_t r = 0; r < net->n_routers; r++) {
            struct detour d = {net, to_stop, to_end, r, fc_node_vertex(net, b), longest, by_hops};
            if (!stop[r]) continue;
            fc_distances(net, d.end, to_end, queue);
            fc_distances(net, r, to_stop, queue);
            for (uint32_t a = 0; a < net->n_nodes; a++) {
                if (a != b) detour_leaves(&d, a, false, set);
                if (t->group[a] != t->group[b]) detour_leaves(&d, a, true, set);
            }
        }
    free(to_stop), free(to_end), free(queue), free(stop);
}

/* Cables work both ways, so distances to a node are those from it. vc: of each destination, NULL for one
 * channel. */
static inline void shortest_arcs(const struct fc_network *net, const uint32_t *vc, int n_vcs, struct arcs *set)
{
    uint32_t *distance = malloc(net->n_vertices * sizeof *distance), *queue = malloc(net->n_vertices * sizeof *queue);
    for (uint32_t b = 0; b < net->n_nodes; b++) {
        struct goal g = {net, fc_node_vertex(net, b), distance, (uint32_t)n_vcs, vc ? vc[b] : 0};
        fc_distances(net, fc_node_vertex(net, b), distance, queue);
        for (uint32_t a = 0; a < net->n_nodes; a++) {
            uint32_t v = fc_node_vertex(net, a), nearest = FC_NONE;
            for (uint32_t l = net->first_link[v]; a != b && l < net->first_link[v + 1]; l++)
                if (distance[net->link_target[l]] < nearest) nearest = distance[net->link_target[l]];
            for (uint32_t l = net->first_link[v]; nearest != FC_NONE && l < net->first_link[v + 1]; l++)
                if (distance[net->link_target[l]] == nearest) shortest_paths(&g, l, set);
        }
    }
    free(distance), free(queue);
}
