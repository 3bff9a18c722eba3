/* scotch_boxes.c - a large torus for Scotch in boxes of neighbouring routers, and the tasks of a box on its routers.
 *
 * Scotch's recursive bipartition looks through all subdomains that wait for each one that it takes up, so its time grows
 * with the square of the parts (84 % of it at 65,536). Above MOST_PARTS every even side is halved: a part is a box of
 * 2^d routers, and Scotch has 4^d times fewer pairs to look at. The tasks of a box then go one by one to the router of
 * the box with the least
 *     sum over neighbours of bytes * hops to the neighbour,
 * those that are not placed yet counting as in the middle of their box; and descents exchange two tasks where this
 * lowers the same sum: first within boxes, then with those who sit beside a task's partners. Source: the exchanges are those of
 * Heider, Naval Research Logistics Quarterly 19 (1972), restricted to neighbours as in Brandfass et al., Computers &
 * Fluids 80 (2013). Limits: a local optimum of hop-bytes. Deterministic: a fixed order. */
#include "mapping/scotch_target.h"

#include <math.h>
#include <string.h>

enum { MOST_PARTS = 8192, BOX_SWEEPS = 4, SWEEPS = 6, MOST_CELLS = 1 << FC_MAX_DIMS };

struct boxes {
    const struct fc_scotch_graph *graph;
    const struct fc_grid *grid;
    const uint32_t *factor;
    uint16_t *at;       /* [n][n_dims] places in half steps: routers are even, middles of boxes odd */
    uint32_t *cell;     /* [n] router of each task, FC_NONE: in the middle of its box */
    uint32_t *count;    /* [n_cells] tasks on each */
    uint32_t *occupant; /* [n_cells] the last of them, FC_NONE: none */
    double *own;        /* [n] what each task costs where it is */
    double *least;      /* [n] what it hardly gets under: half a step from all its partners */
    bool *tried;        /* [n] and its partners have not moved since no exchange helped */
};

bool fc_scotch_boxes_choose(const struct fc_grid *grid, uint32_t *factor)
{
    bool halved = false;
    for (int d = 0; d < grid->n_dims; d++) {
        factor[d] = grid->n_cells > MOST_PARTS && grid->k[d] % 2 == 0 && grid->k[d] >= 4 ? 2 : 1;
        halved = halved || factor[d] > 1;
    }
    return halved;
}

/* Half steps between two places. */
static uint32_t apart(const struct fc_grid *g, const uint16_t *a, const uint16_t *b)
{
    uint32_t sum = 0;
    for (int d = 0; d < g->n_dims; d++) {
        uint32_t way = a[d] > b[d] ? (uint32_t)(a[d] - b[d]) : (uint32_t)(b[d] - a[d]);
        sum += g->ring[d] && 2 * g->k[d] - way < way ? 2 * g->k[d] - way : way;
    }
    return sum;
}

static void place_of_cell(const struct fc_grid *g, uint32_t cell, uint16_t *at)
{
    for (int d = 0; d < g->n_dims; d++) at[d] = (uint16_t)(2 * (cell / g->stride[d] % g->k[d]));
}

/* What task t costs at `at`, its edge with task `but` left out. */
static double cost_at(const struct boxes *b, uint32_t t, const uint16_t *at, uint32_t but)
{
    const struct fc_scotch_graph *g = b->graph;
    double sum = 0;
    for (SCOTCH_Num e = g->first[t]; e < g->first[t + 1]; e++) {
        uint32_t other = (uint32_t)g->other[e];
        if (other != but)
            sum += (double)g->weight[e] * apart(b->grid, at, b->at + (size_t)other * (size_t)b->grid->n_dims);
    }
    return sum;
}

static void put(struct boxes *b, uint32_t t, uint32_t cell)
{
    b->cell[t] = cell;
    b->occupant[cell] = t;
    place_of_cell(b->grid, cell, b->at + (size_t)t * (size_t)b->grid->n_dims);
}

/* A task has moved: what it and its partners cost. */
static void count_anew(struct boxes *b, uint32_t t)
{
    const struct fc_scotch_graph *g = b->graph;
    size_t n = (size_t)b->grid->n_dims;
    b->own[t] = cost_at(b, t, b->at + t * n, FC_NONE);
    b->tried[t] = false;
    for (SCOTCH_Num e = g->first[t]; e < g->first[t + 1]; e++) {
        uint32_t other = (uint32_t)g->other[e];
        b->own[other] = cost_at(b, other, b->at + other * n, FC_NONE);
        b->tried[other] = false;
    }
}

/* Exchanges t and u where that costs less. What they send each other is as far after it as before: without it the
 * costs of the exchanged places are too low by that, and one that does not help then does not help at all. */
static bool exchange(struct boxes *b, uint32_t t, uint32_t u)
{
    uint16_t here[FC_MAX_DIMS] = {0}, there[FC_MAX_DIMS] = {0};
    uint32_t from = b->cell[t], to = b->cell[u];
    place_of_cell(b->grid, to, there);
    double now = b->own[t] + b->own[u], then = cost_at(b, t, there, FC_NONE);
    if (then + b->least[u] >= now) return false;
    place_of_cell(b->grid, from, here);
    if (then + cost_at(b, u, here, FC_NONE) >= now) return false;
    now = cost_at(b, t, here, u) + cost_at(b, u, there, t);
    if (cost_at(b, t, there, u) + cost_at(b, u, here, t) >= now) return false;
    put(b, t, to);
    put(b, u, from);
    count_anew(b, t);
    count_anew(b, u);
    return true;
}

/* ---- within boxes ---- */

/* Routers of the box; returns how many. */
static uint32_t list_cells(const struct boxes *b, uint32_t box, uint32_t *cell)
{
    const struct fc_grid *g = b->grid;
    uint32_t n = 1, rest = box;
    cell[0] = 0;
    for (int d = 0; d < g->n_dims; d++) {
        uint32_t side = g->k[d] / b->factor[d], low = rest % side * b->factor[d] * g->stride[d];
        rest /= side;
        for (uint32_t i = 0; i < n; i++) {
            cell[i] += low;
            if (b->factor[d] == 2) cell[n + i] = cell[i] + g->stride[d];
        }
        n *= b->factor[d];
    }
    return n;
}

static void put_in_middle(struct boxes *b, uint32_t t, uint32_t box)
{
    for (int d = 0; d < b->grid->n_dims; d++) {
        uint32_t side = b->grid->k[d] / b->factor[d];
        b->at[(size_t)t * (size_t)b->grid->n_dims + (size_t)d] =
            (uint16_t)(2 * (box % side) * b->factor[d] + b->factor[d] - 1);
        box /= side;
    }
}

/* The box's tasks on its routers, as many on each but for one. */
static void fill(struct boxes *b, uint32_t box, const uint32_t *task, uint32_t n)
{
    uint32_t cell[MOST_CELLS], n_cells = list_cells(b, box, cell), most = (n + n_cells - 1) / n_cells;
    for (uint32_t i = 0; i < n; i++) {
        double least = INFINITY;
        uint32_t best = cell[0];
        for (uint32_t c = 0; c < n_cells; c++) {
            uint16_t at[FC_MAX_DIMS];
            if (b->count[cell[c]] == most) continue;
            place_of_cell(b->grid, cell[c], at);
            double cost = cost_at(b, task[i], at, FC_NONE);
            if (cost >= least) continue;
            least = cost;
            best = cell[c];
        }
        put(b, task[i], best);
        b->count[best]++;
    }
}

static bool descend_in_box(struct boxes *b, const uint32_t *task, uint32_t n)
{
    bool better = false;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++)
            if (b->cell[task[i]] != b->cell[task[k]] && exchange(b, task[i], task[k])) better = true;
    return better;
}

/* ---- across boxes ---- */

static uint32_t beside(const struct fc_grid *g, uint32_t cell, int d, bool up)
{
    uint32_t c = cell / g->stride[d] % g->k[d], end = up ? g->k[d] - 1 : 0;
    if (c == end && !g->ring[d]) return FC_NONE;
    uint32_t to = c == end ? g->k[d] - 1 - end : up ? c + 1 : c - 1;
    return cell - c * g->stride[d] + to * g->stride[d];
}

/* Tries who sits beside each partner of t; stops at the first gain. */
static bool move_to_partner(struct boxes *b, uint32_t t)
{
    const struct fc_scotch_graph *g = b->graph;
    if (b->tried[t]) return false;
    b->tried[t] = true;
    for (SCOTCH_Num e = g->first[t]; e < g->first[t + 1]; e++) {
        uint32_t of = b->cell[g->other[e]];
        if (apart(b->grid, b->at + (size_t)t * (size_t)b->grid->n_dims,
                  b->at + (size_t)g->other[e] * (size_t)b->grid->n_dims) <= 2)
            continue;
        for (int way = 0; way < 2 * b->grid->n_dims; way++) {
            uint32_t cell = beside(b->grid, of, way / 2, way % 2), u = cell == FC_NONE ? FC_NONE : b->occupant[cell];
            if (u != FC_NONE && b->cell[u] != b->cell[t] && exchange(b, t, u)) return true;
        }
    }
    return false;
}

enum fc_code fc_scotch_boxes_spread(const struct fc_scotch_graph *graph, const struct fc_grid *grid,
                                    const uint32_t *factor, SCOTCH_Num *part, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct boxes b = {.graph = graph, .grid = grid, .factor = factor};
    uint32_t n_boxes = 1, n = graph->n;
    for (int d = 0; d < grid->n_dims; d++) n_boxes *= grid->k[d] / factor[d];
    b.at = fc_alloc(&scratch, (size_t)n * (size_t)grid->n_dims, sizeof *b.at, st);
    b.cell = b.at ? fc_alloc(&scratch, n, sizeof *b.cell, st) : NULL;
    b.count = b.cell ? fc_alloc(&scratch, grid->n_cells, sizeof *b.count, st) : NULL;
    b.occupant = b.count ? fc_alloc(&scratch, grid->n_cells, sizeof *b.occupant, st) : NULL;
    uint32_t *first = b.occupant ? fc_alloc(&scratch, n_boxes + 2ull, sizeof *first, st) : NULL;
    uint32_t *task = first ? fc_alloc(&scratch, n, sizeof *task, st) : NULL;
    b.own = task ? fc_alloc(&scratch, n, sizeof *b.own, st) : NULL;
    b.least = b.own ? fc_alloc(&scratch, n, sizeof *b.least, st) : NULL;
    b.tried = b.least ? fc_alloc(&scratch, n, sizeof *b.tried, st) : NULL;
    if (!b.tried) goto done;
    memset(b.occupant, 0xff, grid->n_cells * sizeof *b.occupant);
    for (uint32_t t = 0; t < n; t++) first[part[t] + 2]++;
    for (uint32_t i = 0; i < n_boxes; i++) first[i + 2] += first[i + 1];
    for (uint32_t t = 0; t < n; t++) {
        task[first[part[t] + 1]++] = t;
        put_in_middle(&b, t, (uint32_t)part[t]);
    }
    for (uint32_t i = 0; i < n_boxes; i++) fill(&b, i, task + first[i], first[i + 1] - first[i]);
    for (uint32_t t = 0; t < n; t++) {
        b.own[t] = cost_at(&b, t, b.at + t * (size_t)grid->n_dims, FC_NONE);
        for (SCOTCH_Num e = graph->first[t]; e < graph->first[t + 1]; e++) b.least[t] += (double)graph->weight[e];
    }
    bool better = true;
    for (int sweep = 0; sweep < BOX_SWEEPS && better; sweep++) {
        better = false;
        for (uint32_t i = 0; i < n_boxes; i++)
            better = descend_in_box(&b, task + first[i], first[i + 1] - first[i]) || better;
    }
    better = true;
    for (int sweep = 0; sweep < SWEEPS && better; sweep++) {
        better = false;
        for (uint32_t t = 0; t < n; t++) better = move_to_partner(&b, t) || better;
    }
    for (uint32_t t = 0; t < n; t++) part[t] = (SCOTCH_Num)b.cell[t];
done:
    fc_arena_free(&scratch);
    return st->code;
}
