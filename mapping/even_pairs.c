/* even_pairs.c - cuts a torus of tasks into n groups of which every two exchange about as much: what a network wants whose
 * groups are joined by a link each.
 *
 * A group H of n shifts of the torus (grid_shifts.c) moves groups of tasks onto each other: every task is x = r + h with one
 * of tasks / n cells r and a shift h of H, and it goes to group f(r) + h. All groups then have equally many tasks, and what
 * group a sends to b depends on b - a alone: n - 1 loads for n (n - 1) pairs, and a change of one f(r) is n moves at once.
 * With M(d) the bytes that group 0 sends to group d, annealed over f is
 *
 *   E = sum over d != 0 of  M(d) + kappa / mean(M) * max(0, M(d) - 0.97 mean(M))^2,
 *
 * kappa rising while the temperature falls: pieces grow first, and are made even then. A cell mostly takes over the group
 * of a neighbour. On a grid with open ends the loads are upper ends. Several groups H are tried, those with the fewest short shifts, and the
 * best of them again; the cut of least greatest M is kept. Source: annealing, Kirkpatrick, Gelatt, Vecchi, Science 220 (1983); cuts that are
 * invariant under shifts as difference families in design theory. Limits: n divides the tasks, at most FC_MOST_SHIFTS; only
 * messages between neighbours of the grid are seen. */
#include "mapping/even_pairs.h"

#include <math.h>
#include <string.h>

enum {
    SWEEPS = 3000,      /* moves a cell of an annealing; 20,000 are hardly better */
    LEAST_SWEEPS = 300, /* fewer are not worth it */
    FIRST_CUTS = 4,     /* after which it ends where they are not worth more */
    MOST_CUTS = 24,
    PRICE = 5, /* link updates a move costs, of four dimensions; measured */
    REFRESH_EVERY = 1024,
    LOOK_EVERY = 128 /* moves between looks at the greatest load */
};
static const double first_heat = 8, last_heat = 0.7, first_kappa = 1.5, last_kappa = 40, even_share = 0.97;

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
    double *load;           /* [n] M of those that are `both` of themselves */
    struct undo {
        uint32_t at;
        double load;
    } undo[4 * FC_MAX_DIMS];
    int n_undo;
    double weight[2 * FC_MAX_DIMS];
    double best_most, best_sum;
    struct fc_status status;
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
    c->load = c->best ? fc_alloc(arena, n, sizeof *c->load, st) : NULL;
    return c->load ? FC_OK : st->code;
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

/* Group of the neighbour of cell r beyond a side. */
static uint16_t group_beside(const struct cut *c, uint32_t r, int side)
{
    uint32_t at = r * (uint32_t)c->n_sides + (uint32_t)side;
    return sum(c, c->group[c->beside[at]], c->over[at]);
}

/* Every difference is met from both sides: once as it is, once as its opposite. */
static void sum_loads(struct cut *c)
{
    memset(c->load, 0, c->shifts->n * sizeof *c->load);
    for (uint32_t r = 0; r < c->n_cells; r++)
        for (int s = 0; s < c->n_sides; s++) {
            uint32_t d = c->less[(size_t)c->group[r] * c->shifts->n + group_beside(c, r, s)];
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
        uint32_t there = group_beside(c, r, s), was = less_was[there], is = less_is[there];
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

static double all_loads(const struct cut *c)
{
    double all = 0;
    for (uint32_t d = 1; d < c->shifts->n; d++) all += c->load[c->both[d]];
    return all;
}

static void look(struct cut *c)
{
    double most = 0;
    for (uint32_t d = 1; d < c->shifts->n; d++) most = c->load[d] > most ? c->load[d] : most;
    if (most > c->best_most * (1 + 1e-9)) return;
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
        c->group[r] = (uint16_t)((fc_random_quick(key, UINT64_MAX - r) >> 32) * n >> 32);
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
        }
        if (i % LOOK_EVERY == 0) look(c);
        uint64_t a = fc_random_quick(key, 2 * i), b = fc_random_quick(key, 2 * i + 1);
        uint32_t r = (uint32_t)((a >> 32) * c->n_cells >> 32);
        int side = (int)((a & 0xffff) * (uint64_t)c->n_sides >> 16);
        uint16_t to = a >> 16 & 15 ? group_beside(c, r, side) : (uint16_t)((b & 0xffff) * n >> 16);
        if (to == c->group[r]) continue;
        double change = try_group(c, &price, r, to);
        if (change > 0 && (double)((b >> 11) + 1) * 0x1p-53 >= exp(-change / heat))
            take_back(c);
        else
            c->group[r] = to;
    }
    sum_loads(c);
    look(c);
}

/* The groups of all tasks as the best of the cut has them. */
static void tell(const struct cut *c, struct fc_even_pairs *pairs)
{
    for (uint32_t x = 0; x < c->torus->n_tasks; x++) {
        pairs->group[x] = sum(c, c->best[c->cell[x]], c->moved[x]);
        pairs->cell[x] = c->cell[x];
    }
    pairs->most = c->best_most;
    pairs->sum = c->best_sum;
}

static void start(struct cut *c, const struct fc_task_torus *torus, const struct fc_grid_shifts *shifts)
{
    *c = (struct cut){.torus = torus, .shifts = shifts, .n_cells = torus->n_tasks / shifts->n, .n_sides = 2 * torus->n};
    for (int s = 0; s < c->n_sides; s++) c->weight[s] = torus->weight[s / 2];
}

static bool is_better(const struct cut *a, const struct cut *b)
{
    return a->best_most < b->best_most * (1 - 1e-9) ||
           (a->best_most < b->best_most * (1 + 1e-9) && a->best_sum < b->best_sum);
}

/* Anneals the cuts from `first` to `end`; the best of them. */
static int best_cut(struct cut *cut, int first, int end, uint64_t moves, const struct fc_even_pairs_settings *set)
{
    int best = first;
#pragma omp parallel for num_threads(fc_threads(set->threads)) schedule(dynamic, 1)
    for (int i = first; i < end; i++) {
        number_cells(&cut[i]);
        anneal(&cut[i], moves, set->stop, fc_random(set->seed, set->stream + 1 + (uint64_t)i, 0));
    }
    for (int i = first + 1; i < end; i++)
        if (is_better(&cut[i], &cut[best])) best = i;
    return best;
}

enum fc_code fc_even_pairs_cut(const struct fc_task_torus *torus, uint32_t n, const struct fc_even_pairs_settings *set,
                               struct fc_arena *arena, struct fc_even_pairs *pairs, struct fc_status *st)
{
    struct fc_grid_shifts shifts[FC_MOST_SHIFT_GROUPS];
    struct cut cut[MOST_CUTS];
    struct fc_arena scratch = {0};
    int found, best = 0;
    *pairs = (struct fc_even_pairs){0};
    if (n < 2 || n > FC_MOST_SHIFTS || torus->n_tasks % n) return FC_OK;
    uint64_t cells = torus->n_tasks / n, price = PRICE * (uint64_t)torus->n / 4 + 1, moves = SWEEPS * cells;
    uint64_t drawing = 2000000 + torus->n_tasks, numbering = 10ull * torus->n_tasks + (uint64_t)n * n;
    if (set->work < drawing + numbering + LEAST_SWEEPS * cells * price) return FC_OK;
    uint64_t fit = (set->work - drawing) / (numbering + moves * price);
    int n_cuts = fit < 1 ? 1 : fit > MOST_CUTS ? MOST_CUTS : (int)fit;
    if (fit < 1) moves = (set->work - drawing - numbering) / price;
    if (fc_grid_shifts_find(torus, n, set->seed, set->stream, &scratch, shifts, &found, st) || found == 0) goto done;
    for (int i = 0; i < n_cuts; i++) {
        start(&cut[i], torus, &shifts[i % found]);
        if (allocate(&cut[i], &scratch, st)) goto done;
    }
    int tried = n_cuts < FIRST_CUTS ? n_cuts : FIRST_CUTS;
    best = best_cut(cut, 0, tried, moves, set);
    bool more = set->worth <= 0 || cut[best].best_most < set->worth;
    while (more && tried < n_cuts) { /* each group of shifts once, then the best again */
        int end = tried < found && found < n_cuts ? found : n_cuts;
        for (int i = tried; i < end && tried >= found; i++) cut[i].shifts = cut[best].shifts;
        int other = best_cut(cut, tried, end, moves, set);
        if (is_better(&cut[other], &cut[best])) best = other;
        tried = end;
    }
    pairs->group = fc_alloc(arena, torus->n_tasks, sizeof *pairs->group, st);
    pairs->cell = pairs->group ? fc_alloc(arena, torus->n_tasks, sizeof *pairs->cell, st) : NULL;
    if (!pairs->cell) goto done;
    tell(&cut[best], pairs);
    pairs->work = drawing + (numbering + moves * price) * (uint64_t)tried;
done:
    fc_arena_free(&scratch);
    return st->code;
}
