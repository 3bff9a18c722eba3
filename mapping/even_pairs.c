/* even_pairs.c - cuts a torus of tasks into n groups of which every two exchange about as much: what a network wants whose
 * groups are joined by a link each.
 *
 * A group H of n shifts of the torus (grid_shifts.c) moves groups of tasks onto each other: every task is x = r + h with one
 * of tasks / n cells r and a shift h of H, and it goes to group f(r) + h. All groups then have equally many tasks, and what
 * group a sends to b depends on b - a alone: n - 1 loads for n (n - 1) pairs, and a change of one f(r) is n moves at once.
 * With M(d) the bytes that group 0 sends to group d, annealed over f is
 *
 *   E = sum over d != 0 of  M(d) + kappa / mean(M) * max(0, M(d) - 0.99 mean(M))^2,
 *
 * kappa rising while the temperature falls: pieces grow first, and are made even then. A cell mostly takes over the group
 * of a neighbour. On a grid with open ends the loads are upper ends.
 *
 * What a group H allows shows only in the annealing: up to 256 are tried for a short time, a sixth of them for longer, the best few for
 * long, each time a third of the work, and the cut of least greatest M is kept (successive halving, Jamieson & Talwalkar, AISTATS 2016).
 *
 * Sources: annealing, Kirkpatrick, Gelatt, Vecchi, Science 220 (1983); cuts that are invariant under shifts as difference families in
 * design theory. Limits: n divides the tasks, at most FC_MOST_SHIFTS; only messages between neighbours of the grid are seen. */
#include "mapping/even_pairs.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SWEEPS = 1000, /* moves a cell of the first, short annealings */
    LEAST_SWEEPS = 300,  /* fewer are not worth it */
    ROUNDS = 3,
    REFRESH_EVERY = 1024,
    LOOK_EVERY = 128 /* moves between looks at the greatest load */
};
static const double first_heat = 8, last_heat = 0.7, first_kappa = 1.5, last_kappa = 160, even_share = 0.99;
static const int fewer[ROUNDS] = {1, 6, 24}; /* groups H of the first round for one of this */
_Static_assert(1 + ROUNDS <= FC_EVEN_PAIRS_STREAMS, "groups are drawn from one stream, each round has its own");
static const double first_off = 1.15; /* of what comes out in the end: the greatest load after the first round */

struct cut {
    const struct fc_task_torus *torus;
    const struct fc_grid_shifts *shifts;
    uint32_t n_cells;
    int n_sides;            /* 2 a dimension */
    uint32_t *cell, *moved; /* [tasks] the task's cell, and which shift of the cell's first task it is */
    uint32_t *beside;       /* [n_cells][n_sides] cell of the neighbour */
    uint16_t *over;         /* [n_cells][n_sides] shift of the neighbour */
    uint16_t *sum, *less;   /* [n][n] index of the sum of two shifts; less[a][b]: of b - a */
    uint16_t *both;         /* [n] the lower index of a shift and its opposite, which have one load */
    int *ways;              /* [n] 2: a shift is its own opposite, and both ways count; else 1 */
    uint16_t *group, *best; /* [n_cells] f */
    uint16_t *there;        /* [n_cells][n_sides] group of the neighbour */
    double *load;           /* [n] M of those that are `both` of themselves */
    double *rise;           /* [n] dE/dM of all, 0 of the first: nothing stays where it is for a price */
    struct undo {
        uint32_t at;
        double load;
    } undo[4 * FC_MAX_DIMS];
    int n_undo;
    double weight[2 * FC_MAX_DIMS];
    double best_most, best_sum;
};

static enum fc_code allocate(struct cut *c, struct fc_arena *arena, struct fc_status *st)
{
    size_t n = c->shifts->n, cells = c->n_cells, sides = (size_t)c->n_sides;
    c->cell = fc_alloc(arena, c->torus->n_tasks, sizeof *c->cell, st);
    c->moved = c->cell ? fc_alloc(arena, c->torus->n_tasks, sizeof *c->moved, st) : NULL;
    c->beside = c->moved ? fc_alloc(arena, cells * sides, sizeof *c->beside, st) : NULL;
    c->over = c->beside ? fc_alloc(arena, cells * sides, sizeof *c->over, st) : NULL;
    c->sum = c->over ? fc_alloc(arena, n * n, sizeof *c->sum, st) : NULL;
    c->less = c->sum ? fc_alloc(arena, n * n, sizeof *c->less, st) : NULL;
    c->both = c->less ? fc_alloc(arena, n, sizeof *c->both, st) : NULL;
    c->ways = c->both ? fc_alloc(arena, n, sizeof *c->ways, st) : NULL;
    c->group = c->ways ? fc_alloc(arena, cells, sizeof *c->group, st) : NULL;
    c->best = c->group ? fc_alloc(arena, cells, sizeof *c->best, st) : NULL;
    c->there = c->best ? fc_alloc(arena, cells * sides, sizeof *c->there, st) : NULL;
    c->load = c->there ? fc_alloc(arena, n, sizeof *c->load, st) : NULL;
    c->rise = c->load ? fc_alloc(arena, n, sizeof *c->rise, st) : NULL;
    return c->rise ? FC_OK : st->code;
}

/* Task 0 is the first of cell 0: its shifts are numbered as they are. */
static void number_sums(struct cut *c)
{
    const struct fc_grid_shifts *h = c->shifts;
    for (uint32_t i = 0; i < h->n; i++)
        for (uint32_t j = 0; j < h->n; j++) {
            uint32_t sum = c->moved[fc_torus_add(c->torus, h->shift[i], h->shift[j])];
            c->sum[i * h->n + j] = (uint16_t)sum;
            c->less[i * h->n + sum] = (uint16_t)j;
            if (sum == 0) c->both[i] = (uint16_t)(i < j ? i : j);
            if (sum == 0) c->ways[i] = i == j ? 2 : 1;
        }
}

/* Cells and their neighbours. */
static void number_cells(struct cut *c)
{
    const struct fc_task_torus *t = c->torus;
    const struct fc_grid_shifts *h = c->shifts;
    uint32_t n_cells = 0;
    memset(c->cell, 0xff, t->n_tasks * sizeof *c->cell);
    for (uint32_t x = 0; x < t->n_tasks; x++) {
        if (c->cell[x] != FC_NONE) continue;
        for (uint32_t i = 0; i < h->n; i++) {
            uint32_t y = fc_torus_add(t, x, h->shift[i]);
            c->cell[y] = n_cells;
            c->moved[y] = i;
        }
        n_cells++;
    }
    for (uint32_t x = 0; x < t->n_tasks; x++) {
        if (c->moved[x] != 0) continue;
        for (int s = 0; s < c->n_sides; s++) {
            uint32_t stride = t->stride[s / 2], back = (t->side[s / 2] - 1) * stride;
            uint32_t y = fc_torus_add(t, x, s % 2 ? back : stride);
            c->beside[c->cell[x] * (uint32_t)c->n_sides + (uint32_t)s] = c->cell[y];
            c->over[c->cell[x] * (uint32_t)c->n_sides + (uint32_t)s] = (uint16_t)c->moved[y];
        }
    }
    number_sums(c);
}

static uint16_t sum(const struct cut *c, uint32_t a, uint32_t b)
{
    return c->sum[a * c->shifts->n + b];
}

/* Of cell r, and what its neighbours have beside them. Side s ^ 1 is opposite to s. */
static void set_group(struct cut *c, uint32_t r, uint16_t group)
{
    c->group[r] = group;
    for (int s = 0; s < c->n_sides; s++) {
        uint32_t back = c->beside[r * (uint32_t)c->n_sides + (uint32_t)s] * (uint32_t)c->n_sides + (uint32_t)(s ^ 1);
        c->there[back] = sum(c, group, c->over[back]);
    }
}

/* Every difference is met from both sides: once as it is, once as its opposite. */
static void sum_loads(struct cut *c)
{
    memset(c->load, 0, c->shifts->n * sizeof *c->load);
    for (uint32_t r = 0; r < c->n_cells; r++)
        for (int s = 0; s < c->n_sides; s++) {
            uint32_t d = c->less[(size_t)c->group[r] * c->shifts->n + c->there[r * (uint32_t)c->n_sides + (uint32_t)s]];
            if (c->both[d] == d) c->load[d] += c->weight[s];
        }
}

struct price {
    double from, rise; /* E of a load m: m + rise * max(0, m - from)^2 */
};
static inline double cost(const struct price *p, double load)
{
    double over = load > p->from ? load - p->from : 0;
    return load + p->rise * over * over;
}

/* Adds to the load of a difference, and of the opposite one; returns the change of E. */
static inline double add_load(struct cut *c, const struct price *p, uint32_t d, double bytes)
{
    uint32_t at = c->both[d];
    double was = c->load[at], is = was + bytes * c->ways[at];
    c->undo[c->n_undo++] = (struct undo){at, was};
    c->load[at] = is;
    return (cost(p, is) - cost(p, was)) * (3 - c->ways[at]);
}

/* What E changes by at least when the cell gets another group: E is convex, so never below its tangent. Most moves of a late
 * annealing end here. */
static double least_change(const struct cut *c, uint32_t r, uint16_t to)
{
    const uint16_t *less_was = c->less + (size_t)c->group[r] * c->shifts->n,
                   *less_is = c->less + (size_t)to * c->shifts->n;
    const uint16_t *there = c->there + (size_t)r * (uint32_t)c->n_sides;
    const uint32_t *beside = c->beside + (size_t)r * (uint32_t)c->n_sides;
    double change = 0;
    for (int s = 0; s < c->n_sides; s++)
        if (beside[s] != r) change += c->weight[s] * (c->rise[less_is[there[s]]] - c->rise[less_was[there[s]]]);
    return 2 * change; /* from both sides */
}

/* What E changes by when the cell gets another group; the loads are those of then. */
static double try_group(struct cut *c, const struct price *p, uint32_t r, uint16_t to)
{
    const uint16_t *less_was = c->less + (size_t)c->group[r] * c->shifts->n,
                   *less_is = c->less + (size_t)to * c->shifts->n;
    double change = 0;
    c->n_undo = 0;
    for (int s = 0; s < c->n_sides; s++) {
        uint32_t at = r * (uint32_t)c->n_sides + (uint32_t)s;
        if (c->beside[at] == r) continue; /* a shift of itself: nothing changes */
        uint32_t there = c->there[at], was = less_was[there], is = less_is[there];
        if (was != 0) change += add_load(c, p, was, -c->weight[s]);
        if (is != 0) change += add_load(c, p, is, c->weight[s]);
    }
    return change;
}

static void take_back(struct cut *c)
{
    while (c->n_undo > 0) {
        c->n_undo--;
        c->load[c->undo[c->n_undo].at] = c->undo[c->n_undo].load;
    }
}

static double slope(const struct price *p, double load)
{
    return 1 + 2 * p->rise * fmax(0, load - p->from);
}

static void find_rises(struct cut *c, const struct price *p)
{
    c->rise[0] = 0;
    for (uint32_t d = 1; d < c->shifts->n; d++) c->rise[d] = slope(p, c->load[c->both[d]]);
}

/* After a change that is taken: of the loads that it moved. */
static void change_rises(struct cut *c, const struct price *p)
{
    for (int i = 0; i < c->n_undo; i++) {
        uint32_t d = c->undo[i].at;
        c->rise[d] = c->rise[c->less[d * c->shifts->n]] = slope(p, c->load[d]);
    }
}

static double all_loads(const struct cut *c)
{
    double all = 0;
    for (uint32_t d = 1; d < c->shifts->n; d++) all += c->load[c->both[d]];
    return all;
}

static void look(struct cut *c)
{
    double most = 0;
    for (uint32_t d = 1; d < c->shifts->n; d++) {
        if (c->load[d] > c->best_most * (1 + 1e-9)) return;
        most = c->load[d] > most ? c->load[d] : most;
    }
    double all = all_loads(c);
    if (most > c->best_most * (1 - 1e-9) && all >= c->best_sum) return;
    c->best_most = most;
    c->best_sum = all;
    memcpy(c->best, c->group, c->n_cells * sizeof *c->best);
}

static void anneal(struct cut *c, uint64_t moves, const volatile int *stop, uint64_t key)
{
    uint32_t n = c->shifts->n;
    double unit = 0, heat = 0;
    struct price price = {0};
    for (int d = 0; d < c->torus->n; d++) unit += c->torus->weight[d] / c->torus->n;
    for (uint32_t r = 0; r < c->n_cells; r++)
        set_group(c, r, (uint16_t)((fc_random_quick(key, UINT64_MAX - r) >> 32) * n >> 32));
    sum_loads(c);
    c->best_most = c->best_sum = INFINITY;
    for (uint64_t i = 0; i < moves; i++) {
        if (i % REFRESH_EVERY == 0) {
            double done = (double)i / (double)moves;
            if (stop && *stop) break;
            if (i % (REFRESH_EVERY * 64) == 0) sum_loads(c);
            double all = all_loads(c);
            heat = unit * first_heat * pow(last_heat / first_heat, done);
            price.from = even_share * all / (n - 1);
            price.rise = first_kappa * pow(last_kappa / first_kappa, done) * (n - 1) / fmax(all, unit);
            find_rises(c, &price);
        }
        if (i % LOOK_EVERY == 0) look(c);
        uint64_t a = fc_random_quick(key, 2 * i);
        uint32_t r = (uint32_t)((a >> 32) * c->n_cells >> 32);
        int side = (int)((a & 0xffff) * (uint64_t)c->n_sides >> 16);
        bool any = (a >> 16 & 15) == 0;
        uint16_t to = c->there[r * (uint32_t)c->n_sides + (uint32_t)side];
        if (!any && to == c->group[r]) continue; /* most: pieces hang together */
        uint64_t b = fc_random_quick(key, 2 * i + 1);
        if (any) to = (uint16_t)((b & 0xffff) * n >> 16);
        if (to == c->group[r]) continue;
        double chance = (double)((b >> 11) + 1) * 0x1p-53, change = least_change(c, r, to);
        if (change > 0 && chance >= exp(-change / heat)) continue;
        change = try_group(c, &price, r, to);
        if (change > 0 && chance >= exp(-change / heat)) {
            take_back(c);
        } else {
            set_group(c, r, to);
            change_rises(c, &price);
        }
    }
    sum_loads(c);
    look(c);
}

/* ---- many groups of shifts ---- */

/* A group of shifts, and the best that has been made of it. */
struct candidate {
    const struct fc_grid_shifts *shifts;
    uint16_t *group; /* [n_cells] */
    double most, sum;
    int at; /* its place in the first round: of equals the first is taken */
};

static int by_most(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
    if (a->most != b->most) return a->most < b->most ? -1 : 1;
    if (a->sum != b->sum) return a->sum < b->sum ? -1 : 1;
    return a->at - b->at;
}

static void begin(struct cut *c, const struct fc_grid_shifts *shifts)
{
    c->shifts = shifts;
    number_cells(c);
}

/* Anneals all of the round; of each what is better than before is kept. */
static void run_round(struct cut *cuts, int threads, struct candidate *candidate, int n, uint64_t moves,
                      const struct fc_even_pairs_settings *set, int round)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int i = 0; i < n; i++) {
        struct cut *c = &cuts[omp_get_thread_num()];
        struct candidate now = candidate[i];
        begin(c, now.shifts);
        anneal(c, moves, set->stop, fc_random(set->seed, set->stream + 1 + (uint64_t)round, (uint64_t)i));
        now.most = c->best_most;
        now.sum = c->best_sum;
        if (by_most(&now, &candidate[i]) >= 0) continue;
        candidate[i] = now;
        memcpy(now.group, c->best, c->n_cells * sizeof *c->best);
    }
}

/* What a round may run: so many annealings of so many moves. */
struct stage {
    int n;
    uint64_t moves;
};

/* Link updates of an annealing: of a move (measured: half of its dimensions), and of the numbering before it. */
struct price_of {
    uint64_t move, numbering;
};

/* Each round gets an equal share of the work that is left; one that would be a single annealing has all that is left. */
static struct stage plan(int round, int had, int found, uint64_t cells, uint64_t work, struct price_of price)
{
    uint64_t share = work / (uint64_t)(ROUNDS - round);
    uint64_t fit = share / (price.numbering + FIRST_SWEEPS * cells * price.move);
    int n = round == 0 ? (int)(fit < (uint64_t)found ? fit : (uint64_t)found) : had * fewer[round - 1] / fewer[round];
    if (n <= 1) return (struct stage){1, (work - price.numbering) / price.move};
    return (struct stage){n, (share / (uint64_t)n - price.numbering) / price.move};
}

static enum fc_code allocate_all(const struct fc_task_torus *torus, struct fc_grid_shifts *shifts, int found, int n,
                                 struct cut *cuts, int threads, struct candidate *candidate, struct fc_arena *arena,
                                 struct fc_status *st)
{
    uint32_t cells = torus->n_tasks / shifts->n;
    for (int i = 0; i < threads; i++) {
        cuts[i] = (struct cut){.torus = torus, .shifts = shifts, .n_cells = cells, .n_sides = 2 * torus->n};
        for (int s = 0; s < cuts[i].n_sides; s++) cuts[i].weight[s] = torus->weight[s / 2];
        if (allocate(&cuts[i], arena, st)) return st->code;
    }
    for (int i = 0; i < n; i++) { /* spread over all that were found */
        candidate[i] =
            (struct candidate){.shifts = &shifts[(size_t)i * (size_t)found / (size_t)n], .most = INFINITY, .at = i};
        candidate[i].group = fc_alloc(arena, cells, sizeof *candidate[i].group, st);
        if (!candidate[i].group) return st->code;
    }
    return FC_OK;
}

/* The groups of all tasks. */
static void tell(struct cut *c, const struct candidate *best, struct fc_even_pairs *pairs)
{
    begin(c, best->shifts);
    for (uint32_t x = 0; x < c->torus->n_tasks; x++) {
        pairs->group[x] = sum(c, best->group[c->cell[x]], c->moved[x]);
        pairs->cell[x] = c->cell[x];
    }
    pairs->most = best->most;
    pairs->sum = best->sum;
}

enum fc_code fc_even_pairs_cut(const struct fc_task_torus *torus, uint32_t n, const struct fc_even_pairs_settings *set,
                               struct fc_arena *arena, struct fc_even_pairs *pairs, struct fc_status *st)
{
    struct fc_grid_shifts shifts[FC_MOST_SHIFT_GROUPS];
    struct candidate candidate[FC_MOST_SHIFT_GROUPS];
    struct fc_arena scratch = {0};
    int found;
    *pairs = (struct fc_even_pairs){0};
    if (n < 2 || n > FC_MOST_SHIFTS || torus->n_tasks % n) return FC_OK;
    uint64_t cells = torus->n_tasks / n, drawing = 2000000 + torus->n_tasks, left = set->work - drawing;
    struct price_of price = {(uint64_t)(torus->n + 1) / 2, 10ull * torus->n_tasks + (uint64_t)n * n};
    if (set->work < drawing + price.numbering + LEAST_SWEEPS * cells * price.move) return FC_OK;
    if (fc_grid_shifts_find(torus, n, set->seed, set->stream, &scratch, shifts, &found, st) || found == 0) goto done;
    struct stage stage = plan(0, 0, found, cells, left, price);
    int threads = fc_threads(set->threads) < stage.n ? fc_threads(set->threads) : stage.n;
    struct cut *cuts = fc_alloc(&scratch, (size_t)threads, sizeof *cuts, st);
    if (!cuts || allocate_all(torus, shifts, found, stage.n, cuts, threads, candidate, &scratch, st)) goto done;
    for (int k = 0;; stage = plan(++k, stage.n, found, cells, left, price)) {
        run_round(cuts, threads, candidate, stage.n, stage.moves, set, k);
        left -= (uint64_t)stage.n * (price.numbering + stage.moves * price.move);
        qsort(candidate, (size_t)stage.n, sizeof *candidate, by_most);
        bool worth = set->worth <= 0 || candidate[0].most < set->worth * (k ? 1 : first_off);
        if (stage.n == 1 || k + 1 == ROUNDS || !worth || (set->stop && *set->stop)) break;
    }
    pairs->group = fc_alloc(arena, torus->n_tasks, sizeof *pairs->group, st);
    pairs->cell = pairs->group ? fc_alloc(arena, torus->n_tasks, sizeof *pairs->cell, st) : NULL;
    if (!pairs->cell) goto done;
    tell(&cuts[0], &candidate[0], pairs);
    pairs->work = set->work - left;
done:
    fc_arena_free(&scratch);
    return st->code;
}
