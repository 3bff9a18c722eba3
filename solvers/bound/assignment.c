/* assignment.c - maximum-weight assignment of alike rows to alike columns, with its dual, by shortest augmenting paths.
 *
 *   max sum_rc w[r][c] x[r][c]   x >= 0, sum_c x[r][c] <= supply[r], sum_r x[r][c] <= room[c]
 *     =  min sum_r supply[r] u[r] + sum_c room[c] v[c]   u, v >= 0, u[r] + v[c] >= w[r][c]
 *
 * A class of n rows that are all alike is one row of supply n: so matrices of a thousand rows of a few kinds are small. With
 * supplies and rooms of 1 it is the assignment of Kuhn 1955 (Jonker & Volgenant, Computing 38, 1987; Burkard, Dell'Amico &
 * Martello, Assignment Problems, 2009, ch. 4 and 6.5). Prices begin at u = the row's greatest weight, v = 0; what is left of a
 * row goes along a path of least reduced cost u + v - w to a column with room, or, as its price falls to 0, nowhere; prices
 * follow, and x > 0 only where the reduced cost is 0. O(augmentations x rows x columns), and no more augmentations than rows,
 * columns and pairs that fill or empty. */
#include "solvers/bound/bound.h"

#include <string.h>

struct search {
    uint32_t n_rows, n_columns;
    const double *w;
    uint32_t *x;           /* [n_rows][n_columns] */
    uint32_t *rest, *room; /* [n_rows], [n_columns] not yet assigned */
    double *u, *v;
    double *row_at, *column_at;   /* least reduced cost to get there; INFINITY: not reached */
    bool *row_done, *column_done; /* it is final */
    uint32_t *row_by, *column_by; /* [n_rows] column from which it was reached, [n_columns] row */
    double steps;
};

/* An end of a path: a column with room, or a row whose remainder is given up; at what cost. */
struct end {
    uint32_t row, column; /* one is FC_NONE */
    double cost;
};

static void reach_columns(struct search *a, uint32_t row)
{
    const double *w = a->w + (size_t)row * a->n_columns;
    for (uint32_t c = 0; c < a->n_columns; c++) {
        double cost = a->row_at[row] + fmax(0, a->u[row] + a->v[c] - w[c]);
        if (a->column_done[c] || !(cost < a->column_at[c])) continue;
        a->column_at[c] = cost;
        a->column_by[c] = row;
    }
}

/* Rows from which the column takes could take another instead. */
static void reach_rows(struct search *a, uint32_t column)
{
    for (uint32_t r = 0; r < a->n_rows; r++) {
        if (!a->x[(size_t)r * a->n_columns + column] || !(a->column_at[column] < a->row_at[r])) continue;
        a->row_at[r] = a->column_at[column];
        a->row_by[r] = column;
    }
}

/* Dijkstra from a row until the nearest end is known. */
static struct end nearest(struct search *a, uint32_t root)
{
    struct end best = {FC_NONE, FC_NONE, INFINITY};
    for (uint32_t r = 0; r < a->n_rows; r++) a->row_at[r] = INFINITY, a->row_done[r] = false;
    for (uint32_t c = 0; c < a->n_columns; c++) a->column_at[c] = INFINITY, a->column_done[c] = false;
    a->row_at[root] = 0;
    a->row_by[root] = FC_NONE;
    for (;;) {
        uint32_t row = FC_NONE, column = FC_NONE;
        double at = best.cost;
        for (uint32_t r = 0; r < a->n_rows; r++)
            if (!a->row_done[r] && a->row_at[r] < at) at = a->row_at[r], row = r;
        for (uint32_t c = 0; c < a->n_columns; c++)
            if (!a->column_done[c] && a->column_at[c] < at) at = a->column_at[c], row = FC_NONE, column = c;
        a->steps += a->n_rows + 2.0 * a->n_columns;
        if (row == FC_NONE && column == FC_NONE) return best;
        if (row != FC_NONE) {
            a->row_done[row] = true;
            if (at + a->u[row] < best.cost) best = (struct end){row, FC_NONE, at + a->u[row]};
            reach_columns(a, row);
        } else {
            a->column_done[column] = true;
            if (a->room[column] > 0) return (struct end){FC_NONE, column, at};
            reach_rows(a, column);
        }
    }
}

/* Prices so that the path is tight; they stay >= 0 as nothing nearer than the end is changed by more than its own. */
static void reprice(struct search *a, double cost)
{
    for (uint32_t r = 0; r < a->n_rows; r++)
        if (a->row_at[r] < cost) a->u[r] = fmax(0, a->u[r] - (cost - a->row_at[r]));
    for (uint32_t c = 0; c < a->n_columns; c++)
        if (a->column_at[c] < cost) a->v[c] += cost - a->column_at[c];
}

/* As much as the path takes from its end back to the root. */
static void augment(struct search *a, uint32_t root, struct end end)
{
    size_t n = a->n_columns;
    uint32_t amount = a->rest[root];
    if (end.column != FC_NONE && a->room[end.column] < amount) amount = a->room[end.column];
    for (int write = 0; write < 2; write++) {
        uint32_t column = end.column, row = end.column != FC_NONE ? a->column_by[end.column] : end.row;
        if (write && column != FC_NONE) {
            a->x[row * n + column] += amount;
            a->room[column] -= amount;
        }
        while (row != root) {
            column = a->row_by[row];
            uint32_t *given = &a->x[row * n + column];
            if (!write && *given < amount) amount = *given;
            if (write) *given -= amount;
            row = a->column_by[column];
            if (write) a->x[row * n + column] += amount;
        }
    }
    a->rest[root] -= amount; /* what the end's row gives up stays unassigned: its price is 0 */
}

static void solve(struct search *a)
{
    for (uint32_t r = 0; r < a->n_rows; r++)
        for (uint32_t c = 0; c < a->n_columns; c++) a->u[r] = fmax(a->u[r], a->w[(size_t)r * a->n_columns + c]);
    for (uint32_t r = 0; r < a->n_rows; r++)
        while (a->rest[r] > 0 && a->u[r] > 0) {
            struct end end = nearest(a, r);
            reprice(a, end.cost);
            augment(a, r, end);
        }
}

enum fc_code fc_assign(const struct fc_assignment *problem, uint32_t *x, double *u, double *v, double *steps,
                       struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    uint32_t rows = problem->n_rows, columns = problem->n_columns;
    struct search a = {.n_rows = rows, .n_columns = columns, .w = problem->weight, .x = x, .u = u, .v = v};
    a.rest = fc_alloc(&arena, rows, sizeof *a.rest, st);
    a.room = fc_alloc(&arena, columns, sizeof *a.room, st);
    a.row_at = fc_alloc(&arena, rows, sizeof *a.row_at, st);
    a.column_at = fc_alloc(&arena, columns, sizeof *a.column_at, st);
    a.row_done = fc_alloc(&arena, rows, sizeof *a.row_done, st);
    a.column_done = fc_alloc(&arena, columns, sizeof *a.column_done, st);
    a.row_by = fc_alloc(&arena, rows, sizeof *a.row_by, st);
    a.column_by = fc_alloc(&arena, columns, sizeof *a.column_by, st);
    if (!st->code) {
        memcpy(a.rest, problem->supply, rows * sizeof *a.rest);
        memcpy(a.room, problem->room, columns * sizeof *a.room);
        memset(x, 0, (size_t)rows * columns * sizeof *x);
        memset(u, 0, rows * sizeof *u);
        memset(v, 0, columns * sizeof *v);
        solve(&a);
        if (steps) *steps += a.steps;
    }
    return st->code;
}
