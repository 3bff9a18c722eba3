/* routing_dragonfly_plus.c - direct, indirect and UGAL routing between unequal cells (Shpiner et al., HiPINEB 2017; Kim et
 * al., ISCA 2008).
 *
 * Direct: up - global - down (without spines: local - global - local), cables shared evenly; within a cell up and down
 * over all spines evenly, or the local link. Indirect: through a cell chosen evenly among the others. The switch that a
 * packet enters there sends it on over cables of its own where it has some (leaf-global-global-leaf), else over any, down
 * and up through a leaf switch chosen evenly, or the local link. With two cells it is direct between them. Traffic within a
 * cell without spines goes over a third leaf switch chosen evenly; with spines indirect is direct there. UGAL: a mixture
 * whose share the solver finds; its walk goes direct between cells, and within one without spines a quarter over the local
 * link, the rest round it (docs/measured.md, Slingshot). A node with several rails uses all evenly, rail k with rail k of the
 * other side.
 *
 * Loads: the bytes b(s,t) between cells spread over cables whatever switch they come from; each switch's part of them goes
 * to host h with the share f_st(h) of the cables there. O(entries + S^2 (C + hosts x leaves)); indirect: S^3 C C. */
#include "models/family_dragonfly_plus.h"
#include "models/routings/block_pairs.h"

#include <string.h>

static const char *const plus[] = {"dragonfly-plus", NULL};

/* Where weights go: a walk, or loads. */
struct sink {
    const struct fc_network *net;
    struct fc_walk *walk;
    double *load;
    double around; /* share of traffic within a cell without spines that goes over a third leaf switch */
};
static inline void put(const struct sink *k, uint32_t link, double weight)
{
    if (k->walk)
        fc_walk_add(k->walk, link, weight);
    else
        k->load[link] += weight;
}

/* ---- within a cell ---- */

static void leaf_to_leaf(const struct sink *k, const struct fc_plus_cell *cell, uint32_t a, uint32_t b, double weight)
{
    if (a == b) return;
    double around = !cell->n_spines && cell->n_leaves > 2 ? k->around : 0;
    if (!cell->n_spines && around < 1) put(k, fc_plus_local(k->net, cell, a, b), weight * (1 - around));
    for (uint32_t x = 0; around > 0 && x < cell->n_leaves; x++) {
        if (x == a || x == b) continue;
        put(k, fc_plus_local(k->net, cell, a, x), weight * around / (cell->n_leaves - 2));
        put(k, fc_plus_local(k->net, cell, x, b), weight * around / (cell->n_leaves - 2));
    }
    for (uint32_t j = 0; j < cell->n_spines; j++) {
        put(k, fc_plus_up(k->net, cell, a, j), weight / cell->n_spines);
        put(k, fc_plus_down(k->net, cell, j, b), weight / cell->n_spines);
    }
}
static void leaf_to_host(const struct sink *k, const struct fc_plus_cell *cell, uint32_t a, uint32_t h, double weight)
{
    if (cell->n_spines)
        put(k, fc_plus_up(k->net, cell, a, h), weight);
    else if (a != h)
        put(k, fc_plus_local(k->net, cell, a, h), weight);
}
static void host_to_leaf(const struct sink *k, const struct fc_plus_cell *cell, uint32_t h, uint32_t b, double weight)
{
    if (cell->n_spines)
        put(k, fc_plus_down(k->net, cell, h, b), weight);
    else if (h != b)
        put(k, fc_plus_local(k->net, cell, h, b), weight);
}
static void host_to_host(const struct sink *k, const struct fc_plus_cell *cell, uint32_t x, uint32_t y, double weight)
{
    if (x == y) return;
    if (!cell->n_spines) put(k, fc_plus_local(k->net, cell, x, y), weight);
    for (uint32_t l = 0; cell->n_spines && l < cell->n_leaves; l++) {
        put(k, fc_plus_down(k->net, cell, x, l), weight / cell->n_leaves);
        put(k, fc_plus_up(k->net, cell, l, y), weight / cell->n_leaves);
    }
}

/* ---- between cells ---- */

/* Shares of the hosts of a pair of cells: of those that traffic leaves s by, and enters t by. */
struct ends {
    double first[FC_PLUS_MOST_HOSTS], last[FC_PLUS_MOST_HOSTS];
};

/* Calls for one way through cell i, which comes in over cable c: every cable e on to t with its share. */
struct onward {
    uint32_t e, step, n; /* first cable, to the next, how many */
    bool own;            /* of the switch that the packet has entered */
    uint32_t at;         /* that switch */
};
static struct onward go_on(const struct fc_plus_shape *s, uint32_t from, uint32_t i, uint32_t t, uint32_t c)
{
    struct onward o = {.at = fc_plus_host(s, i, from, c)};
    uint32_t first = fc_plus_own_cable(s, i, o.at, t), hosts = fc_plus_hosts(&s->cell[i]);
    uint32_t cables = fc_plus_cables(s, i, t);
    o.own = first < cables;
    o.e = o.own ? first : 0;
    o.step = o.own ? hosts : 1;
    o.n = o.own ? (cables - first + hosts - 1) / hosts : cables;
    return o;
}

static void find_ends(const struct fc_plus_shape *s, uint32_t from, uint32_t to, bool indirect, struct ends *ends)
{
    memset(ends->first, 0, fc_plus_hosts(&s->cell[from]) * sizeof *ends->first);
    memset(ends->last, 0, fc_plus_hosts(&s->cell[to]) * sizeof *ends->last);
    uint32_t cables = fc_plus_cables(s, from, to);
    double each = 1.0 / cables;
    if (!indirect)
        for (uint32_t c = 0; c < cables; c++) {
            ends->first[fc_plus_host(s, from, to, c)] += each;
            ends->last[fc_plus_host(s, to, from, c)] += each;
        }
    for (uint32_t i = 0; indirect && i < s->n_cells; i++) {
        if (i == from || i == to) continue;
        cables = fc_plus_cables(s, from, i);
        each = 1.0 / cables / (s->n_cells - 2.0);
        for (uint32_t c = 0; c < cables; c++) {
            struct onward o = go_on(s, from, i, to, c);
            ends->first[fc_plus_host(s, from, i, c)] += each;
            for (uint32_t j = 0; j < o.n; j++) ends->last[fc_plus_host(s, to, i, o.e + j * o.step)] += each / o.n;
        }
    }
}

/* Global links, and what lies between two of them. */
static void put_global(const struct sink *k, uint32_t from, uint32_t to, bool indirect, double weight)
{
    const struct fc_plus_shape *s = fc_plus(k->net);
    uint32_t cables = fc_plus_cables(s, from, to);
    double each = weight / cables;
    for (uint32_t c = 0; !indirect && c < cables; c++) put(k, fc_plus_global(k->net, from, to, c), each);
    for (uint32_t i = 0; indirect && i < s->n_cells; i++) {
        if (i == from || i == to) continue;
        cables = fc_plus_cables(s, from, i);
        each = weight / cables / (s->n_cells - 2.0);
        for (uint32_t c = 0; c < cables; c++) {
            struct onward o = go_on(s, from, i, to, c);
            put(k, fc_plus_global(k->net, from, i, c), each);
            for (uint32_t j = 0; j < o.n; j++) {
                uint32_t e = o.e + j * o.step;
                if (!o.own) host_to_host(k, &s->cell[i], o.at, fc_plus_host(s, i, to, e), each / o.n);
                put(k, fc_plus_global(k->net, i, to, e), each / o.n);
            }
        }
    }
}

/* ---- walks ---- */

static uint32_t common_rails(const struct fc_plus_block *a, const struct fc_plus_block *b)
{
    uint32_t n = a->rails > b->rails ? a->rails : b->rails, least = n;
    while (n % a->rails || n % b->rails) n += least;
    return n;
}

/* The last leg's hosts are listed from the `turn`-th on, a share of them: who draws every n-th path (transit_routes.c) then has
 * other cables on every rail. */
static void walk_leaves(const struct sink *k, uint32_t a, uint32_t b, bool indirect, double share, double turn)
{
    const struct fc_plus_shape *s = fc_plus(k->net);
    uint32_t from = s->router_cell[a], to = s->router_cell[b];
    const struct fc_plus_cell *source = &s->cell[from], *target = &s->cell[to];
    a -= source->first_router;
    b -= target->first_router;
    if (from == to) {
        leaf_to_leaf(k, source, a, b, share);
        return;
    }
    struct ends ends;
    find_ends(s, from, to, indirect, &ends);
    for (uint32_t h = 0; h < fc_plus_hosts(source); h++)
        if (ends.first[h] > 0) leaf_to_host(k, source, a, h, share * ends.first[h]);
    put_global(k, from, to, indirect, share);
    uint32_t hosts = fc_plus_hosts(target), first = (uint32_t)(turn * hosts);
    for (uint32_t i = 0; i < hosts; i++) {
        uint32_t h = (first + i) % hosts;
        if (ends.last[h] > 0) host_to_leaf(k, target, h, b, share * ends.last[h]);
    }
}

static void walk_nodes(const struct fc_network *net, uint32_t src, uint32_t dst, bool indirect, double around,
                       double share, struct fc_walk *walk)
{
    const struct fc_plus_shape *s = fc_plus(net);
    struct sink k = {.net = net, .walk = walk, .around = around};
    const struct fc_plus_block *a = &s->block[s->node_block[src]], *b = &s->block[s->node_block[dst]];
    uint32_t rails = common_rails(a, b);
    for (uint32_t r = 0; r < rails; r++) {
        uint32_t in = fc_plus_injection(net, a, src, r % a->rails), out = fc_plus_ejection(net, b, dst, r % b->rails);
        for (uint32_t c = 0; c < a->cables; c++) put(&k, in + c, share / rails / a->cables);
        walk_leaves(&k, a->first_leaf + r % a->rails, b->first_leaf + r % b->rails, indirect, share / rails,
                    0.5 * r / rails);
        for (uint32_t c = 0; c < b->cables; c++) put(&k, out + c, share / rails / b->cables);
    }
}

static bool detour(const struct fc_network *net)
{
    return fc_plus(net)->n_cells > 2;
}
static void direct_walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk)
{
    walk_nodes(net, src, dst, false, 0, share, walk);
}
static void indirect_walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk)
{
    walk_nodes(net, src, dst, detour(net), 1, share, walk);
}
static void ugal_walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk)
{
    walk_nodes(net, src, dst, false, 0.75, share, walk);
}

/* Without spines every third leaf switch of a cell is a path, on two links that few others take. */
static uint32_t ugal_paths(const struct fc_network *net)
{
    const struct fc_plus_shape *s = fc_plus(net);
    for (uint32_t c = 0; c < s->n_cells; c++)
        if (s->cell[c].n_spines) return 8;
    return 16;
}

/* Greatest sides of the network's cells and blocks. */
struct greatest {
    uint64_t hosts, leaves, spines, cables, rails;
    bool passes; /* a packet may have to pass from a switch of a cell to another on its way through */
};
static struct greatest find_greatest(const struct fc_plus_shape *s)
{
    struct greatest g = {0};
    for (uint32_t c = 0; c < s->n_cells; c++) {
        const struct fc_plus_cell *cell = &s->cell[c];
        if (fc_plus_hosts(cell) > g.hosts) g.hosts = fc_plus_hosts(cell);
        if (cell->n_leaves > g.leaves) g.leaves = cell->n_leaves;
        if (cell->n_spines > g.spines) g.spines = cell->n_spines;
        g.passes = g.passes || fc_plus_hosts(cell) > s->least_links;
    }
    for (uint32_t b = 0; b < s->n_blocks; b++) {
        if (s->block[b].cables > g.cables) g.cables = s->block[b].cables;
        if (s->block[b].rails > g.rails) g.rails = s->block[b].rails;
    }
    return g;
}
static uint32_t capacity(const struct fc_network *net, bool indirect)
{
    const struct fc_plus_shape *s = fc_plus(net);
    struct greatest g = find_greatest(s);
    double rails = (double)g.rails * (double)(g.rails > 1 ? g.rails - 1 : 1), C = s->pair_links;
    double between = 2.0 * (double)g.spines + 2.0 * (double)g.leaves + 2.0 * (double)g.hosts + C;
    double pass = g.passes ? (g.spines ? 2.0 * (double)g.leaves : 1) + 1 : 1;
    if (indirect) between += (double)s->n_cells * C * (1 + C * pass);
    double n = rails * (2.0 * (double)g.cables + between);
    return n < FC_NONE ? (uint32_t)n : FC_NONE;
}
static uint32_t direct_capacity(const struct fc_network *net)
{
    return capacity(net, false);
}
static uint32_t indirect_capacity(const struct fc_network *net)
{
    return capacity(net, detour(net));
}

/* ---- loads ---- */

static void put_crossings(const struct sink *k, const struct fc_block_pairs *g, bool indirect)
{
    const struct fc_plus_shape *s = fc_plus(k->net);
    size_t S = s->n_cells;
    struct ends ends;
    for (uint32_t from = 0; from < S; from++)
        for (uint32_t to = 0; to < S; to++) {
            const struct fc_plus_cell *source = &s->cell[from], *target = &s->cell[to];
            if (g->pair[from * S + to] == 0) continue;
            find_ends(s, from, to, indirect, &ends);
            put_global(k, from, to, indirect, g->pair[from * S + to]);
            for (uint32_t a = 0; a < source->n_leaves; a++) {
                double bytes = g->out[(source->first_router + a) * S + to];
                for (uint32_t h = 0; bytes > 0 && h < fc_plus_hosts(source); h++)
                    if (ends.first[h] > 0) leaf_to_host(k, source, a, h, bytes * ends.first[h]);
            }
            for (uint32_t b = 0; b < target->n_leaves; b++) {
                double bytes = g->in[(target->first_router + b) * S + from];
                for (uint32_t h = 0; bytes > 0 && h < fc_plus_hosts(target); h++)
                    if (ends.last[h] > 0) host_to_leaf(k, target, h, b, bytes * ends.last[h]);
            }
        }
}

static void put_entry(const struct sink *k, struct fc_block_pairs *g, uint32_t src, uint32_t dst, double bytes)
{
    const struct fc_plus_shape *s = fc_plus(k->net);
    size_t S = s->n_cells;
    const struct fc_plus_block *a = &s->block[s->node_block[src]], *b = &s->block[s->node_block[dst]];
    uint32_t rails = common_rails(a, b);
    for (uint32_t r = 0; r < rails; r++) {
        uint32_t in = fc_plus_injection(k->net, a, src, r % a->rails);
        uint32_t out = fc_plus_ejection(k->net, b, dst, r % b->rails);
        uint32_t from = a->first_leaf + r % a->rails, to = b->first_leaf + r % b->rails;
        double part = bytes / rails;
        for (uint32_t c = 0; c < a->cables; c++) put(k, in + c, part / a->cables);
        for (uint32_t c = 0; c < b->cables; c++) put(k, out + c, part / b->cables);
        if (a->cell == b->cell) {
            const struct fc_plus_cell *cell = &s->cell[a->cell];
            leaf_to_leaf(k, cell, from - cell->first_router, to - cell->first_router, part);
            continue;
        }
        g->out[from * S + b->cell] += part;
        g->in[to * S + a->cell] += part;
        g->pair[a->cell * S + b->cell] += part;
    }
}

static enum fc_code sparse(const struct fc_network *net, bool indirect, const uint32_t *src, const uint32_t *dst,
                           const double *bytes, size_t n, double *load, struct fc_status *st)
{
    struct sink k = {.net = net, .load = load, .around = indirect};
    FC_SCOPED(fc_block_pairs_free) struct fc_block_pairs g = {0};
    if (fc_block_pairs_start(&g, fc_plus(net)->n_routers, fc_plus(net)->n_cells, st)) return st->code;
    for (size_t e = 0; e < n; e++) put_entry(&k, &g, src[e], dst[e], bytes[e]);
    put_crossings(&k, &g, indirect && detour(net));
    return FC_OK;
}

/* Sums of node values by block, by cell and in all. */
struct sums {
    struct fc_arena arena;
    double *block_a, *block_b, *cell_a, *cell_b, a, b;
};
static enum fc_code sum_up(const struct fc_plus_shape *s, const double *a, const double *b, struct sums *sum,
                           struct fc_status *st)
{
    memset(sum, 0, sizeof *sum);
    sum->block_a = fc_alloc(&sum->arena, s->n_blocks, sizeof *sum->block_a, st);
    sum->block_b = fc_alloc(&sum->arena, s->n_blocks, sizeof *sum->block_b, st);
    sum->cell_a = fc_alloc(&sum->arena, s->n_cells, sizeof *sum->cell_a, st);
    sum->cell_b = fc_alloc(&sum->arena, s->n_cells, sizeof *sum->cell_b, st);
    if (st->code) {
        fc_arena_free(&sum->arena);
        return st->code;
    }
    for (uint32_t n = 0; n < s->n_nodes; n++) {
        uint32_t block = s->node_block[n], cell = s->block[block].cell;
        sum->block_a[block] += a[n];
        sum->block_b[block] += b[n];
        sum->cell_a[cell] += a[n];
        sum->cell_b[cell] += b[n];
        sum->a += a[n];
        sum->b += b[n];
    }
    return FC_OK;
}

static void put_node_links(const struct sink *k, const double *a, const double *b, const struct sums *sum)
{
    const struct fc_plus_shape *s = fc_plus(k->net);
    for (uint32_t n = 0; n < s->n_nodes; n++) {
        const struct fc_plus_block *block = &s->block[s->node_block[n]];
        double links = (double)block->rails * block->cables;
        for (uint32_t r = 0; r < block->rails; r++)
            for (uint32_t c = 0; c < block->cables; c++) {
                put(k, fc_plus_injection(k->net, block, n, r) + c, a[n] * (sum->b - b[n]) / links);
                put(k, fc_plus_ejection(k->net, block, n, r) + c, b[n] * (sum->a - a[n]) / links);
            }
    }
}

/* Traffic within the cell of a block; what the block sends to and gets from others into g. */
static void put_block(const struct sink *k, const struct sums *sum, uint32_t number, struct fc_block_pairs *g)
{
    const struct fc_plus_shape *s = fc_plus(k->net);
    size_t S = s->n_cells;
    const struct fc_plus_block *a = &s->block[number];
    const struct fc_plus_cell *cell = &s->cell[a->cell];
    for (uint32_t r = 0; r < a->rails; r++) {
        uint32_t leaf = a->first_leaf + r;
        for (uint32_t i = cell->first_block; i < cell->first_block + cell->n_blocks; i++) {
            double bytes = sum->block_a[number] * sum->block_b[i] / a->rails;
            if (i != number && bytes > 0)
                leaf_to_leaf(k, cell, leaf - cell->first_router, s->block[i].first_leaf + r - cell->first_router,
                             bytes);
        }
        for (uint32_t t = 0; t < S; t++) {
            if (t == a->cell) continue;
            g->out[leaf * S + t] = sum->block_a[number] * sum->cell_b[t] / a->rails;
            g->in[leaf * S + t] = sum->block_b[number] * sum->cell_a[t] / a->rails;
        }
    }
}

static enum fc_code rank_one(const struct fc_network *net, bool indirect, const double *a, const double *b,
                             double *load, struct fc_status *st)
{
    const struct fc_plus_shape *s = fc_plus(net);
    struct sink k = {.net = net, .load = load, .around = indirect};
    FC_SCOPED(fc_block_pairs_free) struct fc_block_pairs g = {0};
    struct sums sum;
    if (fc_block_pairs_start(&g, fc_plus(net)->n_routers, fc_plus(net)->n_cells, st)) return st->code;
    if (!sum_up(s, a, b, &sum, st)) {
        put_node_links(&k, a, b, &sum);
        for (uint32_t i = 0; i < s->n_blocks; i++) put_block(&k, &sum, i, &g);
        for (uint32_t from = 0; from < s->n_cells; from++)
            for (uint32_t to = 0; to < s->n_cells; to++)
                g.pair[(size_t)from * s->n_cells + to] = from == to ? 0 : sum.cell_a[from] * sum.cell_b[to];
        put_crossings(&k, &g, indirect && detour(net));
        fc_arena_free(&sum.arena);
    }
    return st->code;
}

static enum fc_code direct_sparse(const struct fc_network *net, const uint32_t *src, const uint32_t *dst,
                                  const double *bytes, size_t n, double *load, struct fc_status *st)
{
    return sparse(net, false, src, dst, bytes, n, load, st);
}
static enum fc_code indirect_sparse(const struct fc_network *net, const uint32_t *src, const uint32_t *dst,
                                    const double *bytes, size_t n, double *load, struct fc_status *st)
{
    return sparse(net, true, src, dst, bytes, n, load, st);
}
static enum fc_code direct_rank_one(const struct fc_network *net, const double *a, const double *b, double *load,
                                    struct fc_status *st)
{
    return rank_one(net, false, a, b, load, st);
}
static enum fc_code indirect_rank_one(const struct fc_network *net, const double *a, const double *b, double *load,
                                      struct fc_status *st)
{
    return rank_one(net, true, a, b, load, st);
}

/* ---- UGAL: component 0 direct, 1 indirect ---- */

static uint32_t components(const struct fc_network *net)
{
    (void)net;
    return 2;
}
static enum fc_code ugal_rank_one(const struct fc_network *net, uint32_t c, const double *a, const double *b,
                                  double *load, struct fc_status *st)
{
    return rank_one(net, c == 1, a, b, load, st);
}
static enum fc_code ugal_sparse(const struct fc_network *net, uint32_t c, const uint32_t *src, const uint32_t *dst,
                                const double *bytes, size_t n, double *load, struct fc_status *st)
{
    return sparse(net, c == 1, src, dst, bytes, n, load, st);
}

const struct fc_routing_ops fc_routing_plus_direct = {
    .name = "direct",
    .help = "up - global - down over all spines and cables, at most one global link",
    .source = "Shpiner et al. HiPINEB 2017; Kim et al. ISCA 2008 (minimal)",
    .families = plus,
    .by_router = true,
    .walk_capacity = direct_capacity,
    .walk = direct_walk,
    .rank_one = direct_rank_one,
    .sparse = direct_sparse,
};
const struct fc_routing_ops fc_routing_plus_indirect = {
    .name = "indirect",
    .help = "through a random other cell, two global links",
    .source = "Shpiner et al. HiPINEB 2017; Valiant 1982",
    .families = plus,
    .detours = true,
    .block_crossings = 2,
    .by_router = true,
    .walk_capacity = indirect_capacity,
    .walk = indirect_walk,
    .rank_one = indirect_rank_one,
    .sparse = indirect_sparse,
};
const struct fc_routing_ops fc_routing_plus_ugal = {
    .name = "ugal",
    .help = "direct and indirect mixed by load; the solver finds the share",
    .source = "Shpiner et al. HiPINEB 2017; Singh 2005",
    .families = plus,
    .adaptive = true,
    .detours = true,
    .by_router = true,
    .message_paths = ugal_paths,
    .walk_capacity = direct_capacity,
    .walk = ugal_walk,
    .n_components = components,
    .component_rank_one = ugal_rank_one,
    .component_sparse = ugal_sparse,
};
