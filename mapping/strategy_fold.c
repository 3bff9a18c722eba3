/* strategy_fold.c - a task grid folded onto a torus or mesh of another dimension.
 *
 * Each side g_i of the grid is a product of digits p_id, at most one for each torus dimension d and one
 * inside the router. The digits that share a torus dimension stand in it as a mixed-radix number: a step of
 * one is worth its stride in hops. A side is walked as a snake (reflected mixed-radix Gray code: digit j runs
 * backwards in every second traversal), so a step along the grid changes one digit by one, cheap digits most
 * often. Every choice of digits and strides is ranked in closed form by the mean load of the links in use,
 * O(digits) each, fewest digits first, up to MOST_VISITS steps of the search; of the best MOST_KEPT (fewer
 * for large jobs) the one with the shortest longest link time is taken, ties by hop-bytes. Source: Ma & Tao,
 * Embeddings among toruses and meshes, ICPP'87; reflected codes: Knuth, TAOCP 4A, 7.2.1.1. Limits: the
 * ranking counts messages between neighbours of the grid (and around it) only; sides are cut into whole
 * factors, so a side with a prime factor above every torus side does not fit.
 *
 * The strategy `tile` is the same with plain digits: the grid is cut into equal tiles, each laid in a box of
 * the torus, the boxes side by side; a step from tile to tile goes back to the other side of the box. Source:
 * Bhatele, Gamblin et al., Mapping applications with collectives over sub-communicators on torus networks
 * (Rubik), SC'12. Tiles are for few hops: the fewest are taken, ties by the longest link time; `tile:time`
 * the other way. */
#include "mapping/torus_map.h"

#include <math.h>
#include <string.h>

enum { MOST_VISITS = 2000000, MOST_KEPT = 12, MOST_EQUAL = 4, N_COLUMNS = FC_MAX_DIMS + 1 };

/* Column d < n_columns - 1 is torus dimension d, the last one the inside of a router. */
struct fold {
    uint32_t size[FC_MAX_DIMS][N_COLUMNS]; /* [grid dimension][column] */
    uint32_t stride[FC_MAX_DIMS][N_COLUMNS];
    int order[FC_MAX_DIMS][N_COLUMNS]; /* columns of the side's digits above 1, fastest first */
    int n_digits[FC_MAX_DIMS];
    double rank; /* hop-bytes x tasks in a router: the mean load of the links in use, but for a constant */
};
struct search {
    const struct fc_torus_shape *shape;
    const struct fc_demand *demand;
    bool tiles;                         /* plain digits; else snakes */
    bool hops_first;                    /* ranks by hop-bytes, ties by time; else the other way */
    int n_columns, digits, most_digits; /* digits: above 1, of the present fold */
    uint64_t room[N_COLUMNS], used[N_COLUMNS];
    double step_bytes[FC_MAX_DIMS], wrap_bytes[FC_MAX_DIMS]; /* a step of the side; around it */
    uint64_t visits;
    struct fold now, kept[MOST_KEPT]; /* least rank first */
    int n_kept;
};

/* ---- the traffic ---- */

static void grid_coordinates(const struct fc_demand *demand, uint64_t task, long long *c)
{
    for (int i = demand->n_grid - 1; i >= 0; i--) {
        c[i] = (long long)(task % (uint64_t)demand->grid[i]);
        task /= (uint64_t)demand->grid[i];
    }
}

static void measure_traffic(struct search *s)
{
    const struct fc_demand *demand = s->demand;
    for (size_t e = 0; e < demand->n_entries; e++) {
        long long a[FC_MAX_DIMS], b[FC_MAX_DIMS];
        int differ = 0, dim = 0;
        grid_coordinates(demand, demand->src[e], a);
        grid_coordinates(demand, demand->dst[e], b);
        for (int i = 0; i < demand->n_grid; i++)
            if (a[i] != b[i]) differ++, dim = i;
        if (differ != 1) continue;
        long long apart = a[dim] > b[dim] ? a[dim] - b[dim] : b[dim] - a[dim];
        if (apart == 1)
            s->step_bytes[dim] += demand->bytes[e] / (double)(demand->grid[dim] - 1);
        else if (apart == demand->grid[dim] - 1)
            s->wrap_bytes[dim] += demand->bytes[e];
    }
}

/* ---- what a fold costs ---- */

static uint32_t digit_hops(const struct search *s, int column, uint64_t from_zero)
{
    return column == s->n_columns - 1 ? 0 : fc_map_hops(s->shape, column, 0, (uint32_t)from_zero);
}

/* Digits of side i, cheap ones and then long ones first. */
static void order_digits(struct search *s, int i)
{
    struct fold *f = &s->now;
    int n = 0;
    for (int d = 0; d < s->n_columns; d++) {
        if (f->size[i][d] == 1) continue;
        uint32_t hops = digit_hops(s, d, f->stride[i][d]);
        int at = n++;
        for (; at > 0; at--) {
            int before = f->order[i][at - 1];
            uint32_t theirs = digit_hops(s, before, f->stride[i][before]);
            if (theirs < hops || (theirs == hops && f->size[i][before] >= f->size[i][d])) break;
            f->order[i][at] = before;
        }
        f->order[i][at] = d;
    }
    f->n_digits[i] = n;
}

static double side_hop_bytes(const struct search *s, int i)
{
    const struct fold *f = &s->now;
    uint64_t left = (uint64_t)s->demand->grid[i]; /* values of this digit and the slower ones */
    double steps = 0, wrap = 0, back = 0;         /* hops of the faster plain digits to 0 */
    for (int j = 0; j < f->n_digits[i]; j++) {
        int d = f->order[i][j];
        uint64_t p = f->size[i][d], slower = left / p;
        steps += (double)(left - slower) * (digit_hops(s, d, f->stride[i][d]) + back);
        if (slower % 2 || s->tiles)
            wrap += digit_hops(s, d, (p - 1) * f->stride[i][d]); /* else the snake ends where it began */
        if (s->tiles) back = wrap;
        left = slower;
    }
    return s->step_bytes[i] * steps + s->wrap_bytes[i] * wrap;
}

static void keep(struct search *s)
{
    struct fold *f = &s->now;
    int at = s->n_kept, equal = 0;
    f->rank = 0;
    for (int i = 0; i < s->demand->n_grid; i++) {
        order_digits(s, i);
        f->rank += side_hop_bytes(s, i);
    }
    f->rank *= (double)s->used[s->n_columns - 1];
    while (at > 0 && s->kept[at - 1].rank > f->rank) at--;
    for (int j = at; j > 0 && s->kept[j - 1].rank == f->rank; j--) equal++;
    if (at == MOST_KEPT || equal == MOST_EQUAL) return;
    if (s->n_kept < MOST_KEPT) s->n_kept++;
    memmove(&s->kept[at + 1], &s->kept[at], (size_t)(s->n_kept - 1 - at) * sizeof *f);
    s->kept[at] = *f;
}

/* ---- all folds ---- */

/* Every order of the digits that share column d, from stride on: `left` are the sides still without one. */
static void stack_digits(struct search *s, int d, unsigned left, uint32_t stride)
{
    if (++s->visits > MOST_VISITS) return;
    if (d == s->n_columns) {
        keep(s);
        return;
    }
    bool any = false;
    for (int i = 0; i < s->demand->n_grid; i++) {
        if (!(left >> i & 1)) continue;
        if (s->now.size[i][d] > 1) {
            any = true;
            s->now.stride[i][d] = stride;
            stack_digits(s, d, left & ~(1u << i), stride * s->now.size[i][d]);
            if (d == s->n_columns - 1) return; /* inside the router one order is as good as another */
        }
    }
    if (!any) stack_digits(s, d + 1, (1u << s->demand->n_grid) - 1, 1);
}

/* Cuts what is left of side i into digits of columns d and after, then the sides after it. */
static void cut_side(struct search *s, int i, int d, uint64_t left)
{
    if (++s->visits > MOST_VISITS || s->digits > s->most_digits) return;
    if (d == s->n_columns) {
        if (left > 1) return;
        if (i + 1 < s->demand->n_grid)
            cut_side(s, i + 1, 0, (uint64_t)s->demand->grid[i + 1]);
        else if (s->digits == s->most_digits)
            stack_digits(s, 0, (1u << s->demand->n_grid) - 1, 1);
        return;
    }
    double most = 1;
    for (int c = d; c < s->n_columns; c++) most *= (double)(s->room[c] / s->used[c]);
    if (most < (double)left) return;
    uint64_t largest = s->room[d] / s->used[d] < left ? s->room[d] / s->used[d] : left;
    for (uint64_t p = largest; p >= 1; p--) {
        if (left % p) continue;
        s->now.size[i][d] = (uint32_t)p;
        s->used[d] *= p;
        s->digits += p > 1;
        cut_side(s, i, d + 1, left / p);
        s->digits -= p > 1;
        s->used[d] /= p;
    }
}

/* ---- placing ---- */

static void place(const struct search *s, const struct fold *f, const struct fc_slots *slots,
                  struct fc_mapping *mapping)
{
    for (uint32_t task = 0; task < mapping->n_tasks; task++) {
        long long c[FC_MAX_DIMS];
        uint64_t router = 0, inside = 0;
        grid_coordinates(s->demand, task, c);
        for (int i = 0; i < s->demand->n_grid; i++) {
            uint64_t rest = (uint64_t)c[i];
            for (int j = 0; j < f->n_digits[i]; j++) {
                int d = f->order[i][j];
                uint64_t p = f->size[i][d], digit = rest % p;
                rest /= p;
                if (rest % 2 && !s->tiles) digit = p - 1 - digit;
                digit *= f->stride[i][d];
                if (d == s->n_columns - 1)
                    inside += digit;
                else
                    router += digit * s->shape->stride[d];
            }
        }
        fc_map_put_slot(mapping, slots, task, router * s->room[s->n_columns - 1] + inside);
    }
}

/* a before b, ties but for rounding by c before d. */
static bool precedes(double a, double c, double b, double d)
{
    return a < b * (1 - 1e-12) || (a <= b * (1 + 1e-12) && c < d);
}

static enum fc_code place_best(struct search *s, const struct fc_map_problem *problem, const struct fc_slots *slots,
                               struct fc_mapping *mapping, struct fc_status *st)
{
    double best_s = INFINITY, best_hops = INFINITY;
    int best = 0, n = fc_map_worth_trying(s->demand, s->n_kept);
    for (int f = 0; f < n && n > 1; f++) {
        double time_s, hop_bytes;
        place(s, &s->kept[f], slots, mapping);
        if (fc_map_link_time(problem, mapping, &time_s, &hop_bytes, st)) return st->code;
        bool better = s->hops_first ? precedes(hop_bytes, time_s, best_hops, best_s)
                                    : precedes(time_s, hop_bytes, best_s, best_hops);
        if (!better) continue;
        best = f;
        best_s = time_s;
        best_hops = hop_bytes;
    }
    place(s, &s->kept[best], slots, mapping);
    return FC_OK;
}

static enum fc_code map_digits(const struct fc_map_problem *problem, const char *name, bool tiles,
                               struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_slots slots;
    const struct fc_demand *demand = problem->demand;
    if (demand->n_grid == 0)
        return fc_refuse(st, FC_INPUT, "strategy %s needs a task grid, which only stencil patterns have", name);
    if (fc_map_start(problem, mapping, &slots, st)) return st->code;
    const struct fc_torus_shape *shape = fc_map_whole_torus(problem, &slots, name, st);
    struct search *s = shape ? fc_alloc(&mapping->arena, 1, sizeof *s, st) : NULL;
    if (!s) return st->code;
    s->shape = shape;
    s->tiles = tiles;
    s->hops_first = tiles && !problem->argument;
    s->demand = demand;
    s->n_columns = shape->n_dims + 1;
    for (int d = 0; d < shape->n_dims; d++) s->room[d] = shape->k[d];
    s->room[shape->n_dims] = (uint64_t)shape->nodes_per_router * slots.per_node;
    for (int d = 0; d < s->n_columns; d++) s->used[d] = 1;
    measure_traffic(s);
    for (; s->most_digits <= demand->n_grid * s->n_columns && s->visits <= MOST_VISITS; s->most_digits++)
        cut_side(s, 0, 0, (uint64_t)demand->grid[0]);
    if (s->n_kept == 0)
        return fc_refuse(st, FC_INPUT, "strategy %s: the factors of the task grid's sides do not fit the torus's",
                         name);
    return place_best(s, problem, &slots, mapping, st);
}

static enum fc_code map_fold(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    return map_digits(problem, "fold", false, mapping, st);
}
static enum fc_code map_tile(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    if (problem->argument && strcmp(problem->argument, "time"))
        return fc_refuse(st, FC_INPUT, "strategy tile: '%s' is unknown (expected tile or tile:time)",
                         problem->argument);
    return map_digits(problem, "tile", true, mapping, st);
}

/* The folds kept are measured by their messages: many where a sum is cheap. */
static double work(const struct fc_map_problem *problem)
{
    double entries = (double)problem->demand->n_entries;
    return 2e5 + fmin(220 * entries, 1.2e7);
}

const struct fc_strategy_ops fc_strategy_fold = {
    .name = "fold",
    .help = "the task grid folded onto the torus in snakes (stencils)",
    .source = "Ma & Tao, ICPP'87",
    .map = map_fold,
    .work = work,
};
const struct fc_strategy_ops fc_strategy_tile = {
    .name = "tile",
    .help = "the task grid cut into equal tiles, laid in boxes of the torus side by side (stencils)",
    .source = "Bhatele et al. (Rubik), SC'12",
    .option = "time",
    .map = map_tile,
    .work = work,
};
