/* bipartition.c - a graph cut in two parts of given sizes with little weight across: multilevel
 * Kernighan-Lin.
 *
 * The graph is coarsened by heavy-edge matching, the coarsest one is cut by growing a part from random seeds,
 * and the cut is refined on the way back by moves of single vertices with roll-back to the best state
 * (Fiduccia-Mattheyses). Cost of a cut = weight of cut edges + sum over side 1 of pull. Source: Hendrickson &
 * Leland, SC'95; Karypis & Kumar, SIAM J. Sci. Comput. 20 (1998); Fiduccia & Mattheyses, DAC'82. Limits: a
 * heuristic; part sizes are exact at the finest level only. */
#include "mapping/bipartition.h"

#include <math.h>
#include <string.h>

enum { COARSEST = 64, SEED_TRIES = 8, MOST_PASSES = 8, MOST_LEVELS = 40, DESCENTS = 4 };

/* Memory from the pool, zeroed; NULL when it is spent. */
static void *take(struct fc_pool *pool, size_t n, size_t size)
{
    size_t bytes = (n * size + 15) / 16 * 16;
    if (bytes > pool->size - pool->used) return NULL;
    void *thing = pool->data + pool->used;
    pool->used += bytes;
    return memset(thing, 0, bytes);
}

/* ---- a priority queue of vertices by gain, greatest first, at a tie the smallest number ---- */

struct queue {
    uint32_t n, *heap;
    uint32_t *where;    /* [vertices] place in the heap + 1, 0: in none */
    const double *gain; /* [vertices] */
};

static bool precedes(const struct queue *q, uint32_t a, uint32_t b)
{
    return q->gain[a] != q->gain[b] ? q->gain[a] > q->gain[b] : a < b;
}

static void put(struct queue *q, uint32_t at, uint32_t v)
{
    q->heap[at] = v;
    q->where[v] = at + 1;
}

static void sift(struct queue *q, uint32_t at)
{
    uint32_t v = q->heap[at];
    while (at > 0 && precedes(q, v, q->heap[(at - 1) / 2])) {
        put(q, at, q->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (uint32_t child; (child = 2 * at + 1) < q->n; at = child) {
        if (child + 1 < q->n && precedes(q, q->heap[child + 1], q->heap[child])) child++;
        if (!precedes(q, q->heap[child], v)) break;
        put(q, at, q->heap[child]);
    }
    put(q, at, v);
}

static void queue_add(struct queue *q, uint32_t v)
{
    q->heap[q->n++] = v;
    sift(q, q->n - 1);
}

static void queue_remove(struct queue *q, uint32_t v)
{
    uint32_t at = q->where[v] - 1, last = q->heap[--q->n];
    q->where[v] = 0;
    if (last == v) return;
    put(q, at, last);
    sift(q, at);
}

/* ---- refinement ---- */

struct cut {
    const struct fc_cut_graph *g;
    uint8_t *side;
    double *gain;                  /* [n] fall of cost when the vertex changes side */
    struct queue q[2];             /* vertices of each side that may move */
    uint32_t *moved;               /* [n] in order */
    uint64_t size0, target, slack; /* tasks on side 0, wanted, and how far off is still good */
    uint64_t work;
};

static double vertex_gain(const struct cut *c, uint32_t v)
{
    const struct fc_cut_graph *g = c->g;
    double gain = c->side[v] ? g->pull[v] : -g->pull[v];
    for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++)
        gain += c->side[g->other[e]] != c->side[v] ? g->weight[e] : -g->weight[e];
    return gain;
}

static uint64_t off_target(const struct cut *c)
{
    uint64_t off = c->size0 > c->target ? c->size0 - c->target : c->target - c->size0;
    return off > c->slack ? off - c->slack : 0;
}

/* Moves v to the other side and keeps the gains of all and the order of the queued right. */
static void move(struct cut *c, uint32_t v)
{
    const struct fc_cut_graph *g = c->g;
    c->size0 += c->side[v] ? g->size[v] : -(uint64_t)g->size[v];
    c->side[v] ^= 1;
    c->gain[v] = -c->gain[v];
    for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++) {
        uint32_t u = g->other[e];
        c->gain[u] += c->side[u] != c->side[v] ? 2 * g->weight[e] : -2 * g->weight[e];
        struct queue *q = &c->q[c->side[u]];
        if (q->where[u]) sift(q, q->where[u] - 1);
    }
    c->work += g->first[v + 1] - g->first[v] + 1;
}

/* The side to move from: the one too large, else the one whose best vertex gains more. -1: none. */
static int choose_side(const struct cut *c, uint64_t wander)
{
    bool can[2] = {c->q[0].n > 0, c->q[1].n > 0};
    if (c->size0 > c->target + wander) can[1] = false;
    if (c->size0 + wander < c->target) can[0] = false;
    if (!can[0] || !can[1]) return can[0] ? 0 : can[1] ? 1 : -1;
    double g0 = c->gain[c->q[0].heap[0]], g1 = c->gain[c->q[1].heap[0]];
    if (g0 != g1) return g0 > g1 ? 0 : 1;
    return c->size0 >= c->target ? 0 : 1;
}

/* One pass: every vertex moves at most once; back to the best state met. True when that is better than the
 * first. */
static bool refine_pass(struct cut *c, uint64_t wander)
{
    uint32_t n = c->g->n, n_moved = 0, n_best = 0, patience = 100 + n / 8;
    uint64_t best_off = off_target(c), first_off = best_off;
    double change = 0, best_change = 0;
    for (int s = 0; s < 2; s++) c->q[s].n = 0;
    for (uint32_t v = 0; v < n; v++) {
        c->gain[v] = vertex_gain(c, v);
        queue_add(&c->q[c->side[v]], v);
    }
    c->work += c->g->first[n] + n;
    for (int s; n_moved - n_best < patience && (s = choose_side(c, wander)) >= 0;) {
        uint32_t v = c->q[s].heap[0];
        queue_remove(&c->q[s], v);
        change -= c->gain[v];
        move(c, v);
        c->moved[n_moved++] = v;
        uint64_t off = off_target(c);
        if (off < best_off || (off == best_off && change < best_change - 1e-12 * fabs(best_change))) {
            best_off = off;
            best_change = change;
            n_best = n_moved;
        }
    }
    for (int s = 0; s < 2; s++)
        while (c->q[s].n > 0) queue_remove(&c->q[s], c->q[s].heap[c->q[s].n - 1]);
    while (n_moved > n_best) move(c, c->moved[--n_moved]);
    return best_off < first_off || best_change < 0;
}

/* Moves the vertices that gain most, or lose least, off the side that is too large; exact where all sizes
 * are 1. A pass alone may wander about the target and never meet it (power-law graphs). */
static void balance(struct cut *c)
{
    uint32_t n = c->g->n;
    int s = c->size0 > c->target ? 0 : 1;
    if (c->size0 == c->target) return;
    for (int k = 0; k < 2; k++) c->q[k].n = 0;
    for (uint32_t v = 0; v < n; v++) {
        c->gain[v] = vertex_gain(c, v);
        if (c->side[v] == s) queue_add(&c->q[s], v);
    }
    c->work += c->g->first[n] + n;
    while (c->size0 != c->target && c->q[s].n > 0) {
        uint32_t v = c->q[s].heap[0];
        queue_remove(&c->q[s], v);
        move(c, v);
    }
    while (c->q[s].n > 0) queue_remove(&c->q[s], c->q[s].heap[c->q[s].n - 1]);
}

static void refine(struct cut *c, bool finest)
{
    uint64_t largest = 1, total = 0;
    for (uint32_t v = 0; v < c->g->n; v++) {
        if (c->g->size[v] > largest) largest = c->g->size[v];
        total += c->g->size[v];
    }
    c->slack = finest ? 0 : largest;
    if (finest) balance(c);
    uint64_t wander = finest ? 1 + total / 64 : c->slack + largest;
    for (int pass = 0; pass < MOST_PASSES && refine_pass(c, wander); pass++) {
    }
}

static double cut_cost(const struct cut *c)
{
    const struct fc_cut_graph *g = c->g;
    double cost = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        if (c->side[v]) cost += g->pull[v];
        for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++)
            if (c->side[v] && !c->side[g->other[e]]) cost += g->weight[e];
    }
    return cost;
}

static bool start_cut(struct cut *c, const struct fc_cut_graph *g, uint64_t target, struct fc_pool *pool)
{
    *c = (struct cut){.g = g, .target = target};
    c->gain = take(pool, g->n, sizeof *c->gain);
    c->moved = take(pool, g->n, sizeof *c->moved);
    for (int s = 0; s < 2; s++) {
        c->q[s].heap = take(pool, g->n, sizeof *c->q[s].heap);
        c->q[s].where = take(pool, g->n, sizeof *c->q[s].where);
        c->q[s].gain = c->gain;
        if (!c->q[s].heap || !c->q[s].where) return false;
    }
    return c->gain && c->moved;
}

static void count_side0(struct cut *c)
{
    c->size0 = 0;
    for (uint32_t v = 0; v < c->g->n; v++) c->size0 += c->side[v] ? 0 : c->g->size[v];
}

/* ---- the coarsest graph: grow side 0 from a seed, best gain first ---- */

static void grow(struct cut *c, uint32_t seed)
{
    uint32_t n = c->g->n;
    memset(c->side, 1, n);
    c->size0 = 0;
    c->q[1].n = 0;
    for (uint32_t v = 0; v < n; v++) {
        c->gain[v] = vertex_gain(c, v);
        queue_add(&c->q[1], v);
    }
    for (uint32_t v = seed; c->size0 < c->target && c->q[1].n > 0; v = c->q[1].heap[0]) {
        queue_remove(&c->q[1], v);
        move(c, v);
        if (c->q[1].n == 0) break;
    }
    while (c->q[1].n > 0) queue_remove(&c->q[1], c->q[1].heap[c->q[1].n - 1]);
}

static bool cut_coarsest(const struct fc_cut_graph *g, uint64_t target, bool finest, struct fc_pool *pool,
                         uint64_t seed, uint64_t stream, uint8_t *side, uint64_t *work)
{
    struct cut c;
    size_t mark = pool->used;
    uint8_t *best = take(pool, g->n, 1);
    bool good = best && start_cut(&c, g, target, pool);
    double best_cost = INFINITY;
    uint64_t best_off = UINT64_MAX;
    for (uint32_t i = 0; good && i < SEED_TRIES; i++) {
        c.side = side;
        grow(&c, (uint32_t)fc_random_below(seed, stream, i, g->n));
        refine(&c, finest);
        double cost = cut_cost(&c);
        uint64_t off = off_target(&c);
        if (off > best_off || (off == best_off && cost >= best_cost)) continue;
        best_off = off;
        best_cost = cost;
        memcpy(best, side, g->n);
    }
    if (good) memcpy(side, best, g->n);
    if (good) *work += c.work;
    pool->used = mark;
    return good;
}

/* ---- coarsening ---- */

/* Pairs every vertex, in random order, with the free neighbour of heaviest edge: coarse[n] gets the number of
 * the pair's vertex. Returns how many there are. */
static uint32_t match(const struct fc_cut_graph *g, uint64_t most_size, uint32_t *order, uint64_t seed, uint64_t stream,
                      uint32_t *coarse)
{
    uint32_t n = 0;
    fc_random_permutation(seed, stream, order, g->n);
    memset(coarse, 0xff, g->n * sizeof *coarse);
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t v = order[i], mate = v;
        double heaviest = 0;
        if (coarse[v] != FC_NONE) continue;
        for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++) {
            uint32_t u = g->other[e];
            if (coarse[u] != FC_NONE || u == v || g->weight[e] <= heaviest) continue;
            if ((uint64_t)g->size[u] + g->size[v] > most_size) continue;
            heaviest = g->weight[e];
            mate = u;
        }
        coarse[v] = coarse[mate] = n++;
    }
    return n;
}

/* The graph of the pairs; members[2 * n] lists them. NULL arrays when the pool is spent. */
static bool contract(const struct fc_cut_graph *g, const uint32_t *coarse, uint32_t n, struct fc_pool *pool,
                     struct fc_cut_graph *out)
{
    out->n = n;
    out->size = take(pool, n, sizeof *out->size);
    out->pull = take(pool, n, sizeof *out->pull);
    out->first = take(pool, (size_t)n + 1, sizeof *out->first);
    out->other = take(pool, g->first[g->n], sizeof *out->other);
    out->weight = take(pool, g->first[g->n], sizeof *out->weight);
    uint32_t *members = take(pool, 2 * (size_t)n, sizeof *members);
    uint64_t *seen = take(pool, n, sizeof *seen); /* edge to that vertex + 1, valid when behind the row's start */
    if (!out->size || !out->pull || !out->first || !out->other || !out->weight || !members || !seen) return false;
    memset(members, 0xff, 2 * (size_t)n * sizeof *members);
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t c = coarse[v];
        members[2 * c + (members[2 * c] != FC_NONE)] = v;
        out->size[c] += g->size[v];
        out->pull[c] += g->pull[v];
    }
    uint64_t at = 0;
    for (uint32_t c = 0; c < n; c++) {
        for (int m = 0; m < 2 && members[2 * c + m] != FC_NONE; m++) {
            uint32_t v = members[2 * c + m];
            for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++) {
                uint32_t to = coarse[g->other[e]];
                if (to == c) continue;
                if (seen[to] <= out->first[c]) {
                    out->other[at] = to;
                    seen[to] = ++at;
                }
                out->weight[seen[to] - 1] += g->weight[e];
            }
        }
        out->first[c + 1] = at;
    }
    return true;
}

/* One descent and return through the levels. */
static bool multilevel(const struct fc_cut_graph *graph, uint64_t target, struct fc_pool *pool, uint64_t seed,
                       uint64_t stream, uint8_t *side, uint64_t *work)
{
    struct fc_cut_graph levels[MOST_LEVELS] = {*graph};
    uint32_t *coarse[MOST_LEVELS];
    uint8_t *sides[MOST_LEVELS] = {side};
    size_t mark = pool->used;
    int n = 1;
    uint64_t total = 0;
    for (uint32_t v = 0; v < graph->n; v++) total += graph->size[v];
    while (n < MOST_LEVELS && levels[n - 1].n > COARSEST) {
        const struct fc_cut_graph *g = &levels[n - 1];
        size_t before = pool->used;
        uint32_t *order = take(pool, g->n, sizeof *order);
        coarse[n - 1] = take(pool, g->n, sizeof *coarse[n - 1]);
        bool good = order && coarse[n - 1];
        uint32_t pairs = good ? match(g, total / 32 + 1, order, seed, stream + 1 + (uint64_t)n, coarse[n - 1]) : g->n;
        good = good && pairs < g->n - g->n / 20 && contract(g, coarse[n - 1], pairs, pool, &levels[n]);
        sides[n] = good ? take(pool, pairs, 1) : NULL;
        *work += g->first[g->n];
        if (!sides[n]) { /* no further down */
            pool->used = before;
            break;
        }
        n++;
    }
    bool good = cut_coarsest(&levels[n - 1], target, n == 1, pool, seed, stream, sides[n - 1], work);
    for (int level = n - 2; good && level >= 0; level--) {
        struct cut c;
        size_t before = pool->used;
        for (uint32_t v = 0; v < levels[level].n; v++) sides[level][v] = sides[level + 1][coarse[level][v]];
        good = start_cut(&c, &levels[level], target, pool);
        c.side = sides[level];
        if (good) count_side0(&c);
        if (good) refine(&c, level == 0);
        *work += c.work;
        pool->used = before;
    }
    pool->used = mark;
    return good;
}

bool fc_bipartition(const struct fc_cut_graph *graph, uint64_t target, struct fc_pool *pool, uint64_t seed,
                    uint64_t stream, uint8_t *side, uint64_t *work)
{
    size_t mark = pool->used;
    uint8_t *trial = take(pool, graph->n, 1);
    double best = INFINITY;
    if (!trial) return false;
    for (int i = 0; i < DESCENTS; i++) {
        struct cut c = {.g = graph, .side = trial};
        uint64_t first_stream = stream + (uint64_t)i * (FC_CUT_STREAMS / DESCENTS);
        if (!multilevel(graph, target, pool, seed, first_stream, trial, work)) return false;
        double cost = cut_cost(&c);
        *work += graph->first[graph->n];
        if (cost >= best) continue;
        best = cost;
        memcpy(side, trial, graph->n);
    }
    pool->used = mark;
    return true;
}
