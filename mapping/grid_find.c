/* grid_find.c - the task grid of a stencil whose ranks are in any order: a graph file, a trace.
 *
 * In a grid two neighbours of a task that lie along different dimensions have two neighbours in common, the
 * task and the fourth corner of a square; two that lie on either side of it along one dimension have only the
 * task (or are neighbours themselves, where the side is 3). So a task of most neighbours tells which of them
 * are opposite, and its frame - who is next up and down each dimension - is carried from task to task: the
 * neighbour of w along j is the fourth corner of v, w, v's neighbour along j. What neither tells apart (sides
 * of 4 as rings, sides of 2) is a hypercube, in which every choice is right. At last every pair is held
 * against the coordinates found, so a grid that is returned is one. Source: the product structure of
 * Cartesian graphs, Imrich & Klavzar, Product Graphs, 2000; the walk is our own.
 *
 * A stencil with diagonals sends its larger messages over faces. Where all pairs make no grid, those of the most
 * bytes are tried alone: of the greatest number of bytes, of the two greatest, and so on; the others must be diagonals. Limits:
 * next to no pair missing; diagonals of as many bytes as a face has hide the grid. */
#include "mapping/grid_find.h"

#include <string.h>

enum { MOST_NEIGHBOURS = 2 * FC_MAX_DIMS, MOST_SIZES = 16 /* of pairs, in bytes, where diagonals are looked for */ };

struct finder {
    const struct fc_unit_graph *graph;
    int n_dims;
    uint32_t *frame; /* [tasks][2 n_dims] next up, next down each dimension, FC_NONE: none */
    int32_t *at;     /* [tasks][n_dims] steps from the root */
    uint32_t *queue; /* [tasks] */
    bool *seen;      /* [tasks] */
};

static uint32_t degree(const struct fc_unit_graph *g, uint32_t u)
{
    return (uint32_t)(g->first[u + 1] - g->first[u]);
}

static bool adjacent(const struct fc_unit_graph *g, uint32_t a, uint32_t b)
{
    for (uint64_t e = g->first[a]; e < g->first[a + 1]; e++)
        if (g->other[e] == b) return true;
    return false;
}

/* How many neighbours a and b share beside `except`; *one is the last of them. */
static int common(const struct fc_unit_graph *g, uint32_t a, uint32_t b, uint32_t except, uint32_t *one)
{
    int n = 0;
    for (uint64_t e = g->first[a], f = g->first[b]; e < g->first[a + 1] && f < g->first[b + 1];) {
        uint32_t x = g->other[e], y = g->other[f];
        e += x <= y;
        f += y <= x;
        if (x != y || x == except) continue;
        *one = x;
        n++;
    }
    return n;
}

/* The root's frame; false when its neighbours are not those of a grid. */
static bool frame_root(struct finder *f, uint32_t root)
{
    const struct fc_unit_graph *g = f->graph;
    const uint32_t *next = g->other + g->first[root];
    int n = (int)degree(g, root), mate[MOST_NEIGHBOURS];
    uint32_t one, *frame;
    for (int i = 0; i < n; i++) mate[i] = -1;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            if (!adjacent(g, next[i], next[j]) && common(g, next[i], next[j], root, &one) > 0) continue;
            if (mate[i] >= 0 || mate[j] >= 0) return false;
            mate[i] = j;
            mate[j] = i;
        }
    for (int i = 0, lone = -1; i < n; i++) { /* those of the hypercube, two by two */
        if (mate[i] >= 0) continue;
        if (lone >= 0) {
            mate[i] = lone;
            mate[lone] = i;
        }
        lone = lone >= 0 ? -1 : i;
    }
    f->n_dims = 0;
    for (int i = 0; i < n; i++) f->n_dims += mate[i] < i; /* a pair at its second, a lone one at itself */
    if (f->n_dims > FC_MAX_DIMS) return false;
    frame = f->frame + (size_t)root * MOST_NEIGHBOURS;
    memset(frame, 0xff, MOST_NEIGHBOURS * sizeof *frame);
    for (int i = 0, d = 0; i < n; i++) {
        if (mate[i] > i) continue;
        frame[2 * d] = next[i];
        if (mate[i] >= 0) frame[2 * d + 1] = next[mate[i]];
        d++;
    }
    return true;
}

/* The frame of v's neighbour w in direction k, from v's. */
static bool carry_frame(struct finder *f, uint32_t v, int k, uint32_t w)
{
    const struct fc_unit_graph *g = f->graph;
    const uint32_t *from = f->frame + (size_t)v * MOST_NEIGHBOURS;
    uint32_t *frame = f->frame + (size_t)w * MOST_NEIGHBOURS, left = degree(g, w), corner = 0;
    memset(frame, 0xff, MOST_NEIGHBOURS * sizeof *frame);
    frame[k ^ 1] = v;
    left--;
    for (int j = 0; j < 2 * f->n_dims; j++) {
        if (j / 2 == k / 2 || from[j] == FC_NONE) continue;
        if (common(g, w, from[j], v, &corner) != 1) return false;
        frame[j] = corner;
        left--;
    }
    if (left > 1) return false;
    for (uint64_t e = g->first[w]; left == 1 && e < g->first[w + 1]; e++) {
        bool known = false;
        for (int j = 0; j < 2 * f->n_dims; j++) known = known || frame[j] == g->other[e];
        if (!known) frame[k] = g->other[e];
    }
    return true;
}

/* Frames and steps of all tasks, breadth first; false when they are no grid. */
static bool walk(struct finder *f, uint32_t root)
{
    uint32_t n = 0;
    f->queue[n++] = root;
    f->seen[root] = true;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = f->queue[i];
        for (int k = 0; k < 2 * f->n_dims; k++) {
            uint32_t w = f->frame[(size_t)v * MOST_NEIGHBOURS + (size_t)k];
            if (w == FC_NONE || f->seen[w]) continue;
            if (!carry_frame(f, v, k, w)) return false;
            f->seen[w] = true;
            memcpy(f->at + (size_t)w * FC_MAX_DIMS, f->at + (size_t)v * FC_MAX_DIMS, FC_MAX_DIMS * sizeof *f->at);
            f->at[(size_t)w * FC_MAX_DIMS + (size_t)k / 2] += k % 2 ? -1 : 1;
            f->queue[n++] = w;
        }
    }
    return n == f->graph->n;
}

/* Tasks from the root along direction k until the end or the root again (*ring); 0: neither. */
static uint32_t reach(const struct finder *f, uint32_t root, int k, bool *ring)
{
    uint32_t v = root;
    *ring = false;
    for (uint32_t n = 1; n <= f->graph->n; n++) {
        v = f->frame[(size_t)v * MOST_NEIGHBOURS + (size_t)k];
        *ring = v == root;
        if (v == root || v == FC_NONE) return n;
    }
    return 0;
}

/* Sides, and coordinates from the lower end; false when the steps do not fill the box. */
static bool measure(struct finder *f, uint32_t root, struct fc_found_grid *grid)
{
    uint32_t n = f->graph->n;
    uint64_t product = 1;
    for (int d = 0; d < f->n_dims; d++) {
        bool ring, down_ring;
        uint32_t up = reach(f, root, 2 * d, &ring), down = ring ? 1 : reach(f, root, 2 * d + 1, &down_ring);
        int64_t side = (int64_t)up + down - 1;
        if (up == 0 || down == 0 || product * (uint64_t)side > n) return false;
        product *= (uint64_t)side;
        grid->side[d] = side;
        for (uint32_t t = 0; t < n; t++) {
            int64_t x = f->at[(size_t)t * FC_MAX_DIMS + (size_t)d] + (int64_t)down - 1;
            if (ring) x = (x % side + side) % side;
            if (x < 0 || x >= side) return false;
            f->at[(size_t)t * FC_MAX_DIMS + (size_t)d] = (int32_t)x;
        }
    }
    return product == n;
}

/* Numbers the tasks; false when two have one place or a pair is no neighbours in the grid. */
static bool number(struct finder *f, struct fc_found_grid *grid)
{
    const struct fc_unit_graph *g = f->graph;
    memset(f->seen, 0, g->n * sizeof *f->seen);
    for (uint32_t t = 0; t < g->n; t++) {
        uint64_t rank = 0;
        const int32_t *x = f->at + (size_t)t * FC_MAX_DIMS;
        for (int d = 0; d < f->n_dims; d++) rank = rank * (uint64_t)grid->side[d] + (uint64_t)x[d];
        if (f->seen[rank]) return false;
        f->seen[rank] = true;
        grid->rank[t] = (uint32_t)rank;
        for (uint64_t e = g->first[t]; e < g->first[t + 1]; e++) {
            const int32_t *y = f->at + (size_t)g->other[e] * FC_MAX_DIMS;
            int64_t apart = 0;
            int differ = 0;
            for (int d = 0; d < f->n_dims; d++) {
                if (x[d] == y[d]) continue;
                differ++;
                apart = x[d] > y[d] ? x[d] - y[d] : y[d] - x[d];
                if (apart == grid->side[d] - 1) apart = 1;
            }
            if (differ != 1 || apart != 1) return false;
        }
    }
    return true;
}

/* The grid of all pairs of this graph. */
static enum fc_code find_among(const struct fc_unit_graph *tasks, struct fc_arena *arena, struct fc_found_grid *grid,
                               struct fc_status *st)
{
    struct finder f = {.graph = tasks};
    struct fc_arena scratch = {0};
    uint32_t n = tasks->n, root = 0;
    *grid = (struct fc_found_grid){0};
    for (uint32_t t = 1; t < n; t++)
        if (degree(tasks, t) > degree(tasks, root)) root = t;
    if (n < 2 || n > INT32_MAX || degree(tasks, root) < 1 || degree(tasks, root) > MOST_NEIGHBOURS) return FC_OK;
    grid->rank = fc_alloc(arena, n, sizeof *grid->rank, st);
    f.frame = grid->rank ? fc_alloc(&scratch, (size_t)n * MOST_NEIGHBOURS, sizeof *f.frame, st) : NULL;
    f.at = f.frame ? fc_alloc(&scratch, (size_t)n * FC_MAX_DIMS, sizeof *f.at, st) : NULL;
    f.queue = f.at ? fc_alloc(&scratch, n, sizeof *f.queue, st) : NULL;
    f.seen = f.queue ? fc_alloc(&scratch, n, sizeof *f.seen, st) : NULL;
    if (f.seen && frame_root(&f, root) && walk(&f, root) && measure(&f, root, grid) && number(&f, grid))
        grid->n = f.n_dims;
    fc_arena_free(&scratch);
    return st->code;
}

static double pair_bytes(const struct fc_unit_graph *g, uint64_t e)
{
    return g->out[e] + g->in[e];
}

/* The numbers of bytes that pairs exchange, greatest first, size[MOST_SIZES]; returns how many, 0: too many. */
static int list_sizes(const struct fc_unit_graph *g, double *size)
{
    int n = 0;
    for (uint64_t e = 0; e < g->first[g->n]; e++) {
        double bytes = pair_bytes(g, e);
        int i = 0;
        while (i < n && size[i] > bytes) i++;
        if (i < n && size[i] == bytes) continue;
        if (n == MOST_SIZES) return 0;
        memmove(size + i + 1, size + i, (size_t)(n++ - i) * sizeof *size);
        size[i] = bytes;
    }
    return n;
}

/* Keeps the pairs of at least `least` bytes; `kept` has room for all. */
static void keep_largest(const struct fc_unit_graph *g, double least, struct fc_unit_graph *kept)
{
    uint64_t n = 0;
    kept->n = g->n;
    for (uint32_t u = 0; u < g->n; u++) {
        kept->first[u] = n;
        for (uint64_t e = g->first[u]; e < g->first[u + 1]; e++)
            if (pair_bytes(g, e) >= least) kept->other[n++] = g->other[e];
    }
    kept->first[g->n] = n;
}

/* Whether all pairs are at most a step apart in each dimension. */
static bool has_diagonals_only(const struct fc_unit_graph *g, const struct fc_found_grid *grid)
{
    for (uint32_t t = 0; t < g->n; t++)
        for (uint64_t e = g->first[t]; e < g->first[t + 1]; e++) {
            long long p = grid->rank[t], q = grid->rank[g->other[e]];
            for (int d = grid->n - 1; d >= 0; p /= grid->side[d], q /= grid->side[d], d--) {
                long long apart = p % grid->side[d] - q % grid->side[d];
                if (apart < 0) apart = -apart;
                if (apart > 1 && apart != grid->side[d] - 1) return false;
            }
        }
    return true;
}

enum fc_code fc_grid_find(const struct fc_unit_graph *tasks, struct fc_arena *arena, struct fc_found_grid *grid,
                          struct fc_status *st)
{
    struct fc_unit_graph kept = {0};
    struct fc_arena scratch = {0};
    double size[MOST_SIZES];
    if (find_among(tasks, arena, grid, st) || grid->n > 0) return st->code;
    int n = list_sizes(tasks, size);
    if (n < 2) return FC_OK;
    kept.first = fc_alloc(&scratch, (size_t)tasks->n + 1, sizeof *kept.first, st);
    kept.other = kept.first ? fc_alloc(&scratch, tasks->first[tasks->n], sizeof *kept.other, st) : NULL;
    for (int i = 0; kept.other && i < n - 1 && grid->n == 0; i++) {
        keep_largest(tasks, size[i], &kept);
        if (find_among(&kept, arena, grid, st)) break;
        if (grid->n > 0 && !has_diagonals_only(tasks, grid)) grid->n = 0;
    }
    fc_arena_free(&scratch);
    return st->code;
}

enum fc_code fc_grid_demand(const struct fc_demand *demand, const struct fc_found_grid *grid, struct fc_arena *arena,
                            struct fc_demand *numbered, struct fc_status *st)
{
    size_t n = demand->n_entries;
    *numbered = *demand;
    numbered->arena = (struct fc_arena){0};
    numbered->n_multicasts = 0;
    numbered->n_grid = grid->n;
    memcpy(numbered->grid, grid->side, sizeof numbered->grid);
    size_t *first = fc_alloc(arena, (size_t)demand->n_tasks + 1, sizeof *first, st);
    numbered->src = first ? fc_alloc(arena, n, sizeof *numbered->src, st) : NULL;
    numbered->dst = numbered->src ? fc_alloc(arena, n, sizeof *numbered->dst, st) : NULL;
    numbered->bytes = numbered->dst ? fc_alloc(arena, n, sizeof *numbered->bytes, st) : NULL;
    numbered->messages = numbered->bytes ? fc_alloc(arena, n, sizeof *numbered->messages, st) : NULL;
    if (!numbered->messages) return st->code;
    for (size_t e = 0; e < n; e++) first[grid->rank[demand->src[e]] + 1]++;
    for (uint32_t t = 0; t < demand->n_tasks; t++) first[t + 1] += first[t];
    for (size_t e = 0; e < n; e++) {
        size_t to = first[grid->rank[demand->src[e]]]++;
        numbered->src[to] = grid->rank[demand->src[e]];
        numbered->dst[to] = grid->rank[demand->dst[e]];
        numbered->bytes[to] = demand->bytes[e];
        numbered->messages[to] = demand->messages[e];
    }
    return FC_OK;
}
