/* strategy_permute.c - tasks in rank order along the dimensions of a torus or mesh in another order.
 *
 * The cores of a router count as one more dimension t. permute:txyz fills the cores of a router first, then
 * goes along x, like Blue Gene/L's mapping names. Without an order every one is ranked by
 * the hop-bytes of dimension order, up to most_work steps; of the best MOST_KEPT (fewer for large jobs) the
 * one with the shortest longest link is taken. Reflected dimensions are left out: a reflection maps the
 * network onto itself, so it changes no link time but where ties on even rings go one way. Source: predefined
 * mappings of Blue Gene/L, Redbook SG24-7179. Limits: tasks stay in rank order; on many dimensions and large
 * jobs not all orders are tried (lexicographic order). */
#include "mapping/torus_map.h"

#include <math.h>
#include <string.h>

static const char name[] = "permute";

enum { MOST_KEPT = 8, N_COLUMNS = FC_MAX_DIMS + 1 };
static const double most_work = 1e8; /* coordinates computed: about half a second */

/* Column n_columns - 1 is t. */
struct order {
    int column[N_COLUMNS]; /* fastest first */
    double hop_bytes;
};
struct search {
    const struct fc_torus_shape *shape;
    const struct fc_demand *demand;
    int n_columns;
    uint64_t size[N_COLUMNS];
    double work;
    struct order now, kept[MOST_KEPT]; /* least hop-bytes first */
    int n_kept;
};

/* Coordinates of a task in all columns. */
static void find_place(const struct search *s, const struct order *o, uint64_t task, uint32_t *c)
{
    for (int i = 0; i < s->n_columns; i++) {
        c[o->column[i]] = (uint32_t)(task % s->size[o->column[i]]);
        task /= s->size[o->column[i]];
    }
}

static double hop_bytes(const struct search *s, const struct order *o)
{
    double sum = 0;
    for (size_t e = 0; e < s->demand->n_entries; e++) {
        uint32_t a[N_COLUMNS], b[N_COLUMNS], hops = 0;
        find_place(s, o, s->demand->src[e], a);
        find_place(s, o, s->demand->dst[e], b);
        for (int d = 0; d < s->shape->n_dims; d++) hops += fc_map_hops(s->shape, d, a[d], b[d]);
        sum += s->demand->bytes[e] * hops;
    }
    return sum;
}

static void keep(struct search *s)
{
    int at = s->n_kept;
    s->now.hop_bytes = hop_bytes(s, &s->now);
    s->work += (double)s->demand->n_entries * 2 * s->n_columns;
    while (at > 0 && s->kept[at - 1].hop_bytes > s->now.hop_bytes) at--;
    if (at == MOST_KEPT) return;
    if (s->n_kept < MOST_KEPT) s->n_kept++;
    memmove(&s->kept[at + 1], &s->kept[at], (size_t)(s->n_kept - 1 - at) * sizeof s->now);
    s->kept[at] = s->now;
}

/* Every order of the columns `left` behind the first n; columns of size 1 stand last. */
static void all_orders(struct search *s, int n, unsigned left)
{
    bool any = false;
    if (s->work > most_work) return;
    for (int c = 0; c < s->n_columns; c++) {
        if (!(left >> c & 1) || s->size[c] == 1) continue;
        any = true;
        s->now.column[n] = c;
        all_orders(s, n + 1, left & ~(1u << c));
    }
    if (any) return;
    for (int c = 0; c < s->n_columns; c++)
        if (left >> c & 1) s->now.column[n++] = c;
    keep(s);
}

static enum fc_code read_order(struct search *s, const char *text, struct fc_status *st)
{
    unsigned seen = 0;
    char letters[N_COLUMNS + 1] = "";
    for (int c = 0; c < s->n_columns; c++) letters[c] = c < s->n_columns - 1 ? fc_torus_letter(c) : 't';
    for (int i = 0; i < s->n_columns; i++) {
        const char *at = text[i] ? strchr(letters, text[i]) : NULL;
        int c = at ? (int)(at - letters) : 0;
        if (!at || (seen >> c & 1)) break;
        seen |= 1u << c;
        s->now.column[i] = c;
    }
    if (seen != (1u << s->n_columns) - 1 || text[s->n_columns])
        return fc_refuse(st, FC_INPUT,
                         "strategy %s: '%.40s' is no order of the dimensions (expected each letter of %s once)", name,
                         text, letters);
    s->kept[0] = s->now;
    s->n_kept = 1;
    return FC_OK;
}

static void place(const struct search *s, const struct order *o, const struct fc_slots *slots,
                  struct fc_mapping *mapping)
{
    for (uint32_t task = 0; task < mapping->n_tasks; task++) {
        uint32_t c[N_COLUMNS];
        uint64_t router = 0, room = s->size[s->n_columns - 1];
        find_place(s, o, task, c);
        for (int d = 0; d < s->shape->n_dims; d++) router += (uint64_t)c[d] * s->shape->stride[d];
        fc_map_put_slot(mapping, slots, task, router * room + c[s->n_columns - 1]);
    }
}

static enum fc_code place_best(struct search *s, const struct fc_map_problem *problem, const struct fc_slots *slots,
                               struct fc_mapping *mapping, struct fc_status *st)
{
    double best_s = INFINITY;
    int best = 0, n = fc_map_worth_trying(s->demand, s->n_kept);
    for (int i = 0; i < n && n > 1; i++) {
        double time_s;
        place(s, &s->kept[i], slots, mapping);
        if (fc_map_link_time(problem, mapping, &time_s, NULL, st)) return st->code;
        if (time_s >= best_s * (1 - 1e-12)) continue;
        best = i;
        best_s = time_s;
    }
    place(s, &s->kept[best], slots, mapping);
    return FC_OK;
}

static enum fc_code map(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_slots slots;
    struct search s = {.demand = problem->demand};
    if (fc_map_start(problem, mapping, &slots, st)) return st->code;
    s.shape = fc_map_whole_torus(problem, &slots, name, st);
    if (!s.shape) return st->code;
    s.n_columns = s.shape->n_dims + 1;
    for (int d = 0; d < s.shape->n_dims; d++) s.size[d] = s.shape->k[d];
    s.size[s.shape->n_dims] = (uint64_t)s.shape->nodes_per_router * slots.per_node;
    if (problem->argument) {
        if (read_order(&s, problem->argument, st)) return st->code;
    } else {
        all_orders(&s, 0, (1u << s.n_columns) - 1);
    }
    return place_best(&s, problem, &slots, mapping, st);
}

/* Every order is measured by its messages. */
static double work(const struct fc_map_problem *problem)
{
    double entries = (double)problem->demand->n_entries;
    return problem->argument ? 0 : fmin(160 * entries, 2e6 + 50 * entries);
}

const struct fc_strategy_ops fc_strategy_permute = {
    .name = "permute",
    .help = "rank order along the torus's dimensions in the best order, or in one given: permute:tzyx",
    .source = "Blue Gene/L predefined mappings, Redbook SG24-7179",
    .option = "an order of the dimensions, fastest first, t for the cores: permute:tzyx",
    .map = map,
    .work = work,
};
