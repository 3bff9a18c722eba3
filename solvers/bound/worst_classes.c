/* worst_classes.c - the worst permutation for one link, where most sources and destinations are alike.
 *
 * Sources with the same row of shares P(s, .) are one kind, so are destinations with the same column P(., d): the link's
 * assignment of n nodes becomes one of kinds with supplies (assignment.c), which has the same optimum, since nodes of a kind
 * can be exchanged. Kinds are told by two sums of 64 random bits an entry, of the other end and the share to 2^-40; sources
 * wrongly taken for alike would make the dual fail, which is checked against every share to 1e-9. */
#include "solvers/bound/worst_classes.h"

#include <stdlib.h>
#include <string.h>

enum fc_code fc_link_classes_start(struct fc_link_classes *c, uint32_t n_groups, struct fc_status *st)
{
    struct fc_arena *arena = &c->arena;
    memset(c, 0, sizeof *c);
    c->n_groups = n_groups;
    for (int k = 0; k < 2; k++) {
        c->row_hash[k] = fc_alloc(arena, n_groups, sizeof(uint64_t), st);
        c->column_hash[k] = fc_alloc(arena, n_groups, sizeof(uint64_t), st);
    }
    c->row = fc_alloc(arena, n_groups, sizeof *c->row, st);
    c->column = fc_alloc(arena, n_groups, sizeof *c->column, st);
    c->order = fc_alloc(arena, n_groups, sizeof *c->order, st);
    c->supply = fc_alloc(arena, n_groups, sizeof *c->supply, st);
    c->room = fc_alloc(arena, n_groups, sizeof *c->room, st);
    c->u = fc_alloc(arena, n_groups, sizeof *c->u, st);
    c->v = fc_alloc(arena, n_groups, sizeof *c->v, st);
    if (st->code) fc_link_classes_free(c);
    return st->code;
}

void fc_link_classes_free(struct fc_link_classes *c)
{
    free(c->weight);
    free(c->x);
    fc_arena_free(&c->arena);
    memset(c, 0, sizeof *c);
}

/* ---- kinds ---- */

static void add_hash(uint64_t *const hash[2], uint32_t group, uint32_t other, double part)
{
    uint64_t quantum = (uint64_t)llround(ldexp(part, 40)), word = quantum * UINT64_C(0x9e3779b97f4a7c15) + other;
    for (uint64_t k = 0; k < 2; k++) hash[k][group] += fc_random_quick(UINT64_C(0x776f727374) + k, word) | 1;
}

static int by_hash(const void *a, const void *b, void *hashes)
{
    uint64_t *const *hash = hashes;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    for (int k = 0; k < 2; k++)
        if (hash[k][x] != hash[k][y]) return hash[k][x] < hash[k][y] ? -1 : 1;
    return x < y ? -1 : 1;
}

/* Classes of groups with equal hashes, and their nodes; those without an entry are in none. */
static uint32_t classify(struct fc_link_classes *c, uint64_t *hash[2], const uint32_t *size, uint32_t *class,
                         uint32_t *nodes)
{
    uint32_t n = 0, n_classes = 0;
    for (uint32_t g = 0; g < c->n_groups; g++) {
        class[g] = FC_NONE;
        if (hash[0][g] || hash[1][g]) c->order[n++] = g;
    }
    qsort_r(c->order, n, sizeof *c->order, by_hash, hash);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t g = c->order[i], before = i ? c->order[i - 1] : g;
        bool same = i && hash[0][g] == hash[0][before] && hash[1][g] == hash[1][before];
        if (!same) nodes[n_classes++] = 0;
        class[g] = n_classes - 1;
        nodes[n_classes - 1] += size[g];
    }
    return n_classes;
}

static enum fc_code reserve(struct fc_link_classes *c, struct fc_status *st)
{
    size_t cells = (size_t)c->n_rows * c->n_columns;
    if (cells <= c->cells) return FC_OK;
    free(c->weight);
    free(c->x);
    c->weight = malloc(cells * sizeof *c->weight);
    c->x = malloc(cells * sizeof *c->x);
    c->cells = c->weight && c->x ? cells : 0;
    return c->cells ? FC_OK : fc_out_of_memory(st, "the worst case");
}

/* ---- the link ---- */

enum fc_code fc_link_worst(struct fc_link_classes *c, const struct fc_link_shares *s, double *load, double *work,
                           struct fc_status *st)
{
    double steps = 4 * (double)s->n + 20.0 * s->n_groups;
    for (int k = 0; k < 2; k++) {
        memset(c->row_hash[k], 0, c->n_groups * sizeof *c->row_hash[k]);
        memset(c->column_hash[k], 0, c->n_groups * sizeof *c->column_hash[k]);
    }
    for (uint64_t i = 0; i < s->n; i++) {
        add_hash(c->row_hash, s->src[i], s->dst[i], s->part[i]);
        add_hash(c->column_hash, s->dst[i], s->src[i], s->part[i]);
    }
    c->n_rows = classify(c, c->row_hash, s->size, c->row, c->supply);
    c->n_columns = classify(c, c->column_hash, s->size, c->column, c->room);
    *load = 0;
    if (reserve(c, st)) return st->code;
    if (s->n) memset(c->weight, 0, (size_t)c->n_rows * c->n_columns * sizeof *c->weight);
    for (uint64_t i = 0; i < s->n; i++)
        c->weight[(size_t)c->row[s->src[i]] * c->n_columns + c->column[s->dst[i]]] = s->part[i];
    const struct fc_assignment problem = {c->n_rows, c->n_columns, c->weight, c->supply, c->room};
    if (s->n && fc_assign(&problem, c->x, c->u, c->v, &steps, st)) return st->code;
    for (uint64_t i = 0; i < s->n; i++)
        if (!(c->u[c->row[s->src[i]]] + c->v[c->column[s->dst[i]]] >= s->part[i] - 1e-9))
            return fc_refuse(st, FC_FAULT, "the worst case's certificate does not hold");
    for (size_t i = 0; i < (size_t)c->n_rows * c->n_columns; i++) *load += c->x[i] * c->weight[i];
    *work -= steps;
    return FC_OK;
}

/* Nodes of each class one after the other, those of none last: order[n_nodes], first[n_classes + 1]. */
static void line_up(uint32_t n_nodes, const uint32_t *group, const uint32_t *class, uint32_t n_classes, uint32_t *first,
                    uint32_t *order)
{
    memset(first, 0, (n_classes + 2ull) * sizeof *first);
    for (uint32_t n = 0; n < n_nodes; n++) {
        uint32_t k = class[group[n]] == FC_NONE ? n_classes : class[group[n]];
        first[k + 1]++;
    }
    for (uint32_t k = 0; k <= n_classes; k++) first[k + 1] += first[k];
    for (uint32_t n = n_nodes; n-- > 0;) {
        uint32_t k = class[group[n]] == FC_NONE ? n_classes : class[group[n]];
        order[--first[k + 1]] = n;
    }
    /* first[k + 1] is now where class k begins. */
    for (uint32_t k = 0; k <= n_classes; k++) first[k] = first[k + 1];
    first[n_classes + 1] = n_nodes;
}

enum fc_code fc_link_permutation(const struct fc_link_classes *c, uint32_t n_nodes, const uint32_t *group, uint32_t *to,
                                 double *u, double *v, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t *from_first = fc_alloc(&scratch, c->n_rows + 3ull, sizeof *from_first, st);
    uint32_t *to_first = fc_alloc(&scratch, c->n_columns + 3ull, sizeof *to_first, st);
    uint32_t *from = fc_alloc(&scratch, n_nodes, sizeof *from, st), *at = fc_alloc(&scratch, n_nodes, sizeof *at, st);
    bool *taken = fc_alloc(&scratch, n_nodes, sizeof *taken, st);
    if (!st->code) {
        line_up(n_nodes, group, c->row, c->n_rows, from_first, from);
        line_up(n_nodes, group, c->column, c->n_columns, to_first, at);
        for (uint32_t n = 0; n < n_nodes; n++) {
            to[n] = FC_NONE;
            u[n] = c->row[group[n]] == FC_NONE ? 0 : c->u[c->row[group[n]]];
            v[n] = c->column[group[n]] == FC_NONE ? 0 : c->v[c->column[group[n]]];
        }
        for (uint32_t r = 0; r < c->n_rows; r++)
            for (uint32_t k = 0; k < c->n_columns; k++)
                for (uint32_t i = c->x[(size_t)r * c->n_columns + k]; i > 0; i--) {
                    uint32_t target = at[to_first[k]++];
                    to[from[from_first[r]++]] = target;
                    taken[target] = true;
                }
        for (uint32_t n = 0, free = 0; n < n_nodes; n++) { /* the rest crosses the link with nothing that counts */
            if (to[n] != FC_NONE) continue;
            while (taken[free]) free++;
            taken[to[n] = free] = true;
        }
    }
    return st->code;
}
