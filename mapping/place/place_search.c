/* place_search.c - every allowed layout of a chip's interfaces, with its turn hops, its weighted hops and its
 * greatest link load; the best of each and the front of the last two.
 *
 * The model's numbers are whole after one scale, so layouts are compared exactly. Layouts that are alike are
 * evaluated once: mirrored along any axis (routes go along, so every load does; the transposed mesh would
 * need the other order of axes), and with the two interfaces of a dimension exchanged, where traffic uses
 * both alike. The first two interfaces make the tasks: one of each class of mirrored pairs, with the size of
 * its class. Tasks are joined in their order, so nothing depends on threads. */
#include "mapping/place/place_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const fc_place_objective_names[] = {"hops", "weighted", "load", NULL};

/* ---- tasks ---- */

static enum fc_code make_tasks(struct fc_place_search *s, bool symmetry, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_place_model *m = s->m;
    uint64_t swaps = 1;
    symmetry = symmetry && fc_place_symmetry(m, s->rules, s->swap);
    for (int d = 0; d < m->chip.n_dims; d++) swaps *= s->swap[d] ? 2 : 1;
    s->tasks = fc_alloc(arena, (size_t)m->n_mesh * m->n_mesh, sizeof *s->tasks, st);
    for (uint32_t u = 0; s->tasks && u < m->n_mesh; u++)
        for (uint32_t v = 0; v < m->n_mesh; v++) {
            uint64_t size = u == v || (s->swap[0] && v < u) ? 0 : fc_place_class(&m->chip, u, v, s->swap[0], symmetry);
            if (size) s->tasks[s->n_tasks++] = (struct fc_place_task){{u, v}, size * swaps};
        }
    return st->code;
}

/* ---- numbers ---- */

/* No load, and no sum on the way to one, is greater. Routes u -> v and v -> u share no link. */
static double bound_of(const struct fc_place_model *m, double *least)
{
    double bound = 0;
    *least = 0;
    for (uint32_t l = 0; l < m->n_links; l++) bound = fmax(bound, m->base[l]);
    for (int i = 0; i < m->n; i++) {
        double most = 0;
        for (size_t x = 0; x < (size_t)m->n_mesh * m->n_links; x++)
            most = fmax(most, m->unary[(size_t)i * m->n_mesh * m->n_links + x]);
        bound += most;
        for (int j = i + 1; j < m->n; j++) {
            bound += fmax(0, fmax(m->flow[i][j], m->flow[j][i]));
            *least += fmin(0, fmin(m->flow[i][j], m->flow[j][i]));
        }
    }
    return bound;
}

static void put(struct fc_place_search *s, void *to, size_t at, double value)
{
    long long whole = llround(value * s->scale);
    if (s->lane_bits == 16)
        ((int16_t *)to)[at] = (int16_t)(uint16_t)(whole & 0xffff);
    else
        ((int32_t *)to)[at] = (int32_t)whole;
}

static void fill_pair(struct fc_place_search *s, int i, int j)
{
    const struct fc_place_model *m = s->m;
    for (uint32_t u = 0; u < m->n_mesh; u++)
        for (uint32_t v = 0; v < m->n_mesh; v++) {
            size_t at = ((fc_place_pair(s, i, j) * m->n_mesh + u) * m->n_mesh + v) * s->lanes;
            uint32_t out = u * m->n_mesh + v, back = v * m->n_mesh + u;
            for (uint32_t h = m->first_hop[out]; h < m->first_hop[out + 1]; h++)
                put(s, s->pair, at + m->route[h], m->flow[i][j]);
            for (uint32_t h = m->first_hop[back]; h < m->first_hop[back + 1]; h++)
                put(s, s->pair, at + m->route[h], m->flow[j][i]);
        }
}

/* Where the numbers are not whole, or do not fit, they are rounded to 30 bits. */
static void choose_numbers(struct fc_place_search *s, struct fc_place_all *all)
{
    double least, bound = bound_of(s->m, &least), scale = s->m->scale;
    all->exact = scale > 0 && (bound - least) * scale < 0x1p31;
    s->scale = all->exact ? scale : 0x1p30 / (bound - least);
    s->lane_bits = all->lane_bits = bound * s->scale < 0x1p16 ? 16 : 32;
}

static enum fc_code make_numbers(struct fc_place_search *s, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_place_model *m = s->m;
    size_t size = (size_t)s->lane_bits / 8, nodes = m->n_mesh, n = (size_t)m->n;
    s->lanes = (m->n_links + 15) / 16 * 16;
    if (!s->lanes) s->lanes = 16;
    s->base = fc_alloc(arena, s->lanes, size, st);
    s->unary = fc_alloc(arena, n * nodes * s->lanes, size, st);
    s->pair = fc_alloc(arena, n * (n - 1) / 2 * nodes * nodes * s->lanes, size, st);
    s->unary_hops = fc_alloc(arena, n * nodes, sizeof *s->unary_hops, st);
    s->line = fc_alloc(arena, nodes, sizeof *s->line, st);
    if (st->code) return st->code;
    double bias = s->lane_bits == 16 ? 0x1p15 / s->scale : 0; /* loads from 0 to 2^16 - 1 in signed lanes */
    for (uint32_t l = 0; l < s->lanes; l++) put(s, s->base, l, (l < m->n_links ? m->base[l] : 0) - bias);
    for (size_t i = 0; i < n; i++)
        for (size_t u = 0; u < nodes; u++) {
            s->unary_hops[i * nodes + u] = llround(m->unary_hops[i * nodes + u] * s->scale);
            for (uint32_t l = 0; l < m->n_links; l++)
                put(s, s->unary, (i * nodes + u) * s->lanes + l, m->unary[(i * nodes + u) * m->n_links + l]);
        }
    for (int i = 0; i < m->n; i++)
        for (int j = i + 1; j < m->n; j++) {
            s->pair_hops[i][j] = llround((m->flow[i][j] + m->flow[j][i]) * s->scale);
            fill_pair(s, i, j);
        }
    for (uint32_t u = 0; u < m->n_mesh; u++) s->line[u] = fc_layout_line(m, u);
    return FC_OK;
}

/* ---- all of it ---- */

double fc_place_count(const struct fc_place_model *m, const struct fc_layout_rules *rules)
{
    double count = 1, side = m->chip.side[m->chip.order[0]];
    if (rules->lines)
        for (int d = 0; d < m->chip.n_dims; d++) count *= (fc_layout_lines(m) - (double)d) * side * (side - 1);
    else
        for (int i = 0; i < m->n; i++) count *= m->n_mesh - (double)i;
    return fmax(0, count);
}

static void point_of(const struct fc_place_model *m, const struct fc_place_found *found, struct fc_layout_point *point)
{
    point->layout = found->layout;
    point->layouts = found->layouts;
    fc_layout_figure(m, &found->layout, NULL, &point->figures);
}

static enum fc_code report(const struct fc_place_search *s, const struct fc_place_seen *seen, struct fc_place_all *all,
                           struct fc_status *st)
{
    if (seen->full) return fc_out_of_memory(st, "the front of layouts");
    all->layouts = seen->layouts;
    all->evaluated = seen->evaluated;
    all->n_front = seen->n_front;
    all->front = fc_alloc(&all->arena, seen->n_front, sizeof *all->front, st);
    for (uint32_t f = 0; all->front && f < seen->n_front; f++) point_of(s->m, &seen->front[f], &all->front[f]);
    for (int o = 0; o < FC_PLACE_OBJECTIVES; o++) point_of(s->m, &seen->best[o], &all->best[o]);
    return st->code;
}

static enum fc_code run_tasks(const struct fc_place_search *s, int threads, struct fc_place_all *all,
                              struct fc_arena *arena, struct fc_status *st)
{
    struct fc_place_seen *seen = fc_alloc(arena, s->n_tasks, sizeof *seen, st), joined = {0};
    struct fc_status *failed = fc_alloc(arena, s->n_tasks, sizeof *failed, st);
    if (st->code) return st->code;
#pragma omp parallel for schedule(dynamic) num_threads(fc_threads(threads))
    for (uint32_t t = 0; t < s->n_tasks; t++)
        (s->lane_bits == 16 ? fc_place_task16 : fc_place_task32)(s, &s->tasks[t], &seen[t], &failed[t]);
    for (uint32_t t = 0; t < s->n_tasks; t++) {
        if (failed[t].code && !st->code) *st = failed[t];
        fc_place_join(&joined, &seen[t], s->m->n);
        free(seen[t].front);
    }
    if (!st->code) report(s, &joined, all, st);
    free(joined.front);
    return st->code;
}

enum fc_code fc_place_all(const struct fc_place_model *m, const struct fc_layout_rules *rules,
                          const struct fc_place_all_settings *settings, struct fc_place_all *all, struct fc_status *st)
{
    struct fc_place_search s = {.m = m, .rules = rules};
    struct fc_arena arena = {0};
    memset(all, 0, sizeof *all);
    if (fc_layout_rules_check(m, rules, st)) return st->code;
    choose_numbers(&s, all);
    if (!make_tasks(&s, settings->symmetry, &arena, st)) {
        double times = s.n_tasks ? (double)s.tasks[0].times : 1, count = fc_place_count(m, rules);
        double most = settings->most > 0 ? settings->most : 2e9;
        if (count / times > most)
            fc_refuse(st, FC_NO, "%.3g layouts, of which %.3g differ, are too many to try (at most %.3g)", count,
                      count / times, most);
        else if (!make_numbers(&s, &arena, st))
            run_tasks(&s, settings->threads > 0 ? settings->threads : 1, all, &arena, st);
    }
    fc_arena_free(&arena);
    if (st->code) fc_place_all_free(all);
    return st->code;
}

void fc_place_all_free(struct fc_place_all *all)
{
    fc_arena_free(&all->arena);
}
