/* bound_grid.c - how little can leave a set of s tasks whose traffic contains that of a stencil on a grid.
 *
 * A line of the grid in dimension i that the set meets and does not fill has a neighbour outside at either
 * end of a run of tasks inside (on a ring; at one end at least where the line is open), so at least w_i
 * bytes leave by it, w_i from the least messages found in the graph. With F_d(s) the least of
 *     sum over dimensions i of w_i * (lines in i that the set meets and does not fill)
 * over all sets of s tasks of the first d dimensions, bytes leaving >= F_d(s).
 *
 * Pushing the tasks of every line of dimension d to its start (compression) fills no fewer and meets no
 * more lines of any dimension: rows of a plane become nested, the first as long as the longest column was
 * high. So the least is taken by sets whose slices across d are nested, of falling sizes s_0 >= ... >=
 * s_{k-1} with sum s; lines met in d are s_0, filled s_{k-1}:
 *     F_d(s) >= min w_d (s_0 - s_{k-1}) + sum_j F_{d-1}(s_j).
 * The points (s_j, F_{d-1}(s_j)) have their mean above the lower side of their hull, a chord between two of
 * them, p <= s/k <= q, so
 *     F_d(s) >= min over p <= s/k <= q of w_d (q - p) + k * chord_{p,q}(s/k),
 * where p, q are whole and chord_{p,q} is the straight line through F_{d-1} at p and q. A set and its
 * complement have the same lines, so F_d(s) = F_d(n - s) too. F is a sum of whole multiples of the w_i, so
 * where these are whole it is rounded up to a multiple of their greatest common divisor. By the same lines
 * at least as much enters.
 *
 * The compressions are those of Bollobas & Leader, Edge-isoperimetric inequalities in the grid, Combinatorica 11
 * (1991), whose bound for equal weights is not above this one on 8^4 (tests). Limits: sees only messages
 * between neighbours of the demand's grid; not always the least, as a chord may stand for a part of a slice;
 * tables above most_work pairs are not made. */
#include "core/values.h"
#include "mapping/bound.h"

#include <math.h>
#include <stdlib.h>

static const double most_work = 6e8;

struct side {
    uint32_t k;
    double line;
};

/* ---- what neighbours exchange ---- */

/* w of a dimension: the least message at one end of a run on the open line or, where that is more, the least up and the
 * least down of the ring. In a ring of two both ends are one pair of tasks. */
static double line_bytes(const struct fc_unit_graph *g, uint32_t k, uint64_t stride)
{
    double up = INFINITY, down = INFINITY, ring_up = INFINITY, ring_down = INFINITY;
    for (uint32_t t = 0; t < g->n; t++) {
        uint64_t c = t / stride % k;
        uint32_t next = (uint32_t)(c + 1 == k ? t - c * stride : t + stride);
        double to = fc_unit_bytes(g, t, next), from = fc_unit_bytes(g, next, t);
        ring_up = fmin(ring_up, to);
        ring_down = fmin(ring_down, from);
        if (c + 1 == k) continue;
        up = fmin(up, to);
        down = fmin(down, from);
    }
    return fmax(fmin(up, down), k > 2 ? ring_up + ring_down : 0);
}

static int by_k(const void *x, const void *y)
{
    const struct side *a = x, *b = y;
    return a->k != b->k ? (a->k > b->k) - (a->k < b->k) : (a->line > b->line) - (a->line < b->line);
}

/* The grid's sides of more than one task, shortest first; 0 when they do not hold the tasks. */
static int list_sides(const struct fc_demand *demand, const struct fc_unit_graph *tasks, struct side *sides)
{
    int n = 0;
    uint64_t stride = 1;
    for (int d = demand->n_grid - 1; d >= 0; d--) {
        if (demand->grid[d] < 1 || (uint64_t)demand->grid[d] > tasks->n / stride) return 0;
        if (demand->grid[d] > 1) {
            sides[n].k = (uint32_t)demand->grid[d];
            sides[n++].line = line_bytes(tasks, (uint32_t)demand->grid[d], stride);
        }
        stride *= (uint64_t)demand->grid[d];
    }
    if (stride != tasks->n) return 0;
    qsort(sides, (size_t)n, sizeof *sides, by_k);
    return n;
}

/* ---- the least surface ---- */

/* Greatest common divisor of the lines' bytes; 0 where they are not whole numbers. */
static double common_unit(const struct side *sides, int n)
{
    double unit = 0;
    for (int i = 0; i < n; i++) {
        double bytes = sides[i].line;
        if (bytes != floor(bytes) || bytes > 0x1p53) return 0;
        unit = (double)fc_common_divisor((uint64_t)bytes, (uint64_t)unit);
    }
    return unit;
}

/* Up to the next multiple; what rounding may have added to x is taken off first. */
static double next_multiple(double x, double unit)
{
    return unit > 0 ? unit * ceil(x / unit - 1e-9) : x;
}

/* F of s tasks in k slices of n with F = below[0..n]. */
static double least_of(const double *below, uint64_t n, const struct side *side, uint64_t s)
{
    uint64_t low = s / side->k, high = (s + side->k - 1) / side->k;
    double best = low == high ? side->k * below[low] : (double)INFINITY;
    for (uint64_t p = low + 1; p-- > 0;)
        for (uint64_t q = high > p ? high : p + 1; q <= n; q++) {
            double span = (double)(q - p), surface = side->line * span;
            if (surface >= best) break;
            double chord = ((double)(q * side->k - s) * below[p] + (double)(s - p * side->k) * below[q]) / span;
            best = fmin(best, surface + chord);
        }
    return best;
}

static double *next_table(const double *below, uint64_t n, const struct side *side, double unit, struct fc_arena *arena,
                          struct fc_status *st)
{
    uint64_t all = n * side->k;
    double *table = fc_alloc(arena, all + 1, sizeof *table, st);
    for (uint64_t s = 0; table && s <= all; s++) table[s] = next_multiple(least_of(below, n, side, s), unit);
    for (uint64_t s = 0; table && s <= all / 2; s++) table[s] = table[all - s] = fmax(table[s], table[all - s]);
    return table;
}

/* Pairs p, q that all tables together look at, at most. */
static double table_work(const struct side *sides, int n)
{
    double tasks = 1, work = 0;
    for (int i = 0; i + 1 < n; i++) {
        work += tasks * sides[i].k * (tasks * tasks / 6 + 1);
        tasks *= sides[i].k;
    }
    return work + tasks * tasks;
}

enum fc_code fc_grid_surface_start(const struct fc_demand *demand, const struct fc_unit_graph *tasks,
                                   struct fc_arena *arena, struct fc_grid_surface *surface, struct fc_status *st)
{
    struct side sides[FC_MAX_DIMS];
    int n = list_sides(demand, tasks, sides);
    *surface = (struct fc_grid_surface){0};
    if (n == 0 || table_work(sides, n) > most_work) return FC_OK;
    double *table = fc_alloc(arena, 2, sizeof *table, st); /* a single task: it is there or not */
    double unit = common_unit(sides, n);
    uint64_t slice = 1;
    for (int i = 0; table && i + 1 < n; i++) {
        table = next_table(table, slice, &sides[i], unit, arena, st);
        slice *= sides[i].k;
    }
    if (table) *surface = (struct fc_grid_surface){sides[n - 1].k, sides[n - 1].line, slice, table, unit};
    return st->code;
}

/* The least surface of s tasks, least <= s <= most, or the least of surface / s. For each chord it is at an end of the s
 * that it serves, the surface being linear in s. */
static double least_by_chords(const struct fc_grid_surface *g, uint64_t least, uint64_t most, bool a_task)
{
    double best = INFINITY;
    for (uint64_t p = 0; p <= g->n && p * g->k <= most; p++)
        for (uint64_t q = p; q <= g->n; q++) {
            double span = (double)(q - p), surface = g->line * span;
            if (surface / (a_task ? (double)most : 1) >= best) break;
            uint64_t low = p * g->k > least ? p * g->k : least, high = q * g->k < most ? q * g->k : most;
            if (low > high || high == 0) continue;
            uint64_t end[] = {low, high};
            for (int i = 0; i < 2; i++) {
                double s = (double)end[i], chord = g->k * g->leaving[p];
                if (q > p)
                    chord =
                        ((double)(q * g->k - end[i]) * g->leaving[p] + (double)(end[i] - p * g->k) * g->leaving[q]) /
                        span;
                best = fmin(best, (surface + chord) / (a_task ? s : 1));
            }
        }
    return best;
}

double fc_grid_leaving(const struct fc_grid_surface *g, uint64_t least, uint64_t most)
{
    if (least == most) {
        struct side last = {g->k, g->line};
        return next_multiple(least_of(g->leaving, g->n, &last, most), g->unit) / (double)most;
    }
    return least_by_chords(g, least, most, true);
}

double fc_grid_surface_of_one(const struct fc_grid_surface *g, uint64_t least, uint64_t most)
{
    return next_multiple(least_by_chords(g, least, most, false), g->unit);
}
