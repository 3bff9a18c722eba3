/* optimizer_search.c - the searches of the strategy `optimize`, round by round.
 *
 * Round 1 searches from the most promising starts, both with whole node contents that change nodes (then single
 * tasks) and with single tasks only; round 2 goes on from the best three, round 3 from the best; each anneals the
 * norm of link times (search.c) with exponent and weight of hop time of its own. At last hop time is annealed from
 * the best placement under the cap of its longest link time. Measured on PERCS stencils and multicasts, a power-law
 * graph, meshes and folded stencils: a hop weight of 1 beats 0.3 in longest link time and in hops, an exponent of 32
 * beats 16 from a good start. Limits: counted work, so results do not depend on clock or threads. */
#include "mapping/optimizer.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_SUMS = 12, /* a search gets at least the work of so many sums of all loads */
    ROUND_1 = 6,     /* starts it searches from, each in both ways */
    MOVES_A_BLOCK = 64
};

struct round {
    int starts, percent;
    double from; /* share of the time done before it */
    struct fc_search_settings settings; /* temperatures: of one unit, as shares of 1 / units */
};
/* A start temperature of 0.2 / units: one unit's move changes the objective by about 1 / units. */
static const struct round rounds[] = {
    {2 * ROUND_1, 30, 0.15, {.doublings = 4, .hop_weight = 1, .start_temperature = 0.2, .end_temperature = 0.002}},
    {3, 25, 0.45, {.doublings = 5, .hop_weight = 1, .start_temperature = 0.2, .end_temperature = 0.002}},
    {1, 35, 0.65, {.doublings = 5, .hop_weight = 0.5, .start_temperature = 0.2, .end_temperature = 0.001}},
};
static const struct round polish = {
    1, 10, 0.9, {.doublings = 4, .hop_weight = 1, .start_temperature = 0.1, .end_temperature = 0.001}};
enum { POLISH_ALONE = 4 }; /* times its share when the rounds end early */

/* Units of the search: tasks, or the contents of the used nodes. */
struct units {
    uint32_t n, *unit, *slot; /* unit[n_tasks], slot[n] */
};

static enum fc_code node_units(const struct fc_optimizer *o, const uint32_t *slot, struct fc_arena *arena,
                               struct units *units, struct fc_status *st)
{
    uint32_t n_tasks = o->tasks.n, per_node = o->slots->per_node;
    units->unit = fc_alloc(arena, n_tasks, sizeof *units->unit, st);
    units->slot = units->unit ? fc_alloc(arena, o->slots->n_nodes, sizeof *units->slot, st) : NULL;
    uint32_t *of_place = units->slot ? fc_alloc(arena, o->slots->n_nodes, sizeof *of_place, st) : NULL;
    if (!of_place) return st->code;
    memset(of_place, 0xff, o->slots->n_nodes * sizeof *of_place);
    units->n = 0;
    for (uint32_t t = 0; t < n_tasks; t++) {
        uint32_t place = slot[t] / per_node;
        if (of_place[place] == FC_NONE) {
            units->slot[units->n] = place;
            of_place[place] = units->n++;
        }
        units->unit[t] = of_place[place];
    }
    return FC_OK;
}

/* Slots of the tasks from those of the units. */
static void task_slots(const struct fc_optimizer *o, const struct units *units, bool by_node,
                       const uint32_t *unit_slot, const uint32_t *before, uint32_t *slot)
{
    uint32_t per_node = o->slots->per_node;
    for (uint32_t t = 0; t < o->tasks.n; t++)
        slot[t] = by_node ? unit_slot[units->unit[t]] * per_node + before[t] % per_node : unit_slot[t];
}

/* Takes over what the search holds: as the place to go on from, as the best, or not at all. */
static void take_over(const struct fc_optimizer *o, const struct units *units, bool by_node,
                      const struct fc_search *search, struct fc_start *start)
{
    double time_s = fc_search_time_s(search), hop_s = fc_search_hop_s(search), norm = fc_search_norm(search);
    bool better = time_s < start->time_s || (time_s == start->time_s && hop_s < start->hop_s);
    if (better) {
        start->time_s = time_s;
        start->hop_s = hop_s;
        task_slots(o, units, by_node, search->slot, start->slot, start->best);
    }
    if (norm < start->norm) {
        start->norm = norm;
        task_slots(o, units, by_node, search->slot, start->slot, start->slot);
    }
}

/* Searches from start->slot with node contents or tasks as units. Without settings it only measures. */
static enum fc_code improve(const struct fc_optimizer *o, struct fc_start *start, bool by_node,
                            const struct fc_search_settings *how, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct fc_sites sites = o->sites;
    struct fc_unit_graph blocks = {0};
    struct units units = {.n = o->tasks.n, .slot = start->slot};
    struct fc_search search;
    if (by_node) {
        sites.slots_per_node = 1;
        if (node_units(o, start->slot, &scratch, &units, st) ||
            fc_unit_graph_build(o->problem->demand, units.unit, units.n, &scratch, &blocks, st))
            goto done;
    }
    if (fc_search_start(&sites, &o->routes, by_node ? &blocks : &o->tasks, units.slot, &search, st)) goto done;
    if (how) {
        struct fc_search_settings settings = *how;
        settings.start_temperature /= units.n;
        settings.end_temperature /= units.n;
        settings.seed = o->problem->seed;
        settings.blocks = MOVES_A_BLOCK;
        settings.enough_s = fc_optimizer_enough(o);
        fc_search_run(&search, &settings);
    } else {
        start->sum_work = search.work;
    }
    take_over(o, &units, by_node, &search, start);
    fc_search_free(&search);
done:
    fc_arena_free(&scratch);
    return st->code;
}

/* Half of the work on node contents where the start says so, the rest on tasks, if that is worth a few sums. */
static enum fc_code improve_both(const struct fc_optimizer *o, struct fc_start *start,
                                 struct fc_search_settings how, struct fc_status *st)
{
    bool tasks_too = how.work / 2 > 3 * start->sum_work;
    if (start->by_node) {
        if (tasks_too) how.work /= 2;
        if (improve(o, start, true, &how, st) || !tasks_too) return st->code;
    }
    how.stream += 2;
    return improve(o, start, false, &how, st);
}

static enum fc_code first_failure(const struct fc_optimizer *o, struct fc_status *st)
{
    for (int i = 0; i < o->n_starts; i++)
        if (o->start[i].status.code)
            return fc_refuse(st, o->start[i].status.code, "%s", o->start[i].status.message);
    return FC_OK;
}

enum fc_code fc_optimizer_measure(struct fc_optimizer *o, int first, struct fc_status *st)
{
#pragma omp parallel for num_threads(o->threads) schedule(dynamic, 1)
    for (int i = first; i < o->n_starts; i++) {
        o->start[i].time_s = o->start[i].hop_s = o->start[i].norm = INFINITY;
        improve(o, &o->start[i], false, NULL, &o->start[i].status);
    }
    for (int i = first; i < o->n_starts; i++)
        if (o->start[i].sum_work > o->sum_work) o->sum_work = o->start[i].sum_work;
    return first_failure(o, st);
}

/* ---- rounds ---- */

/* Brings the `keep` starts of least norm to the front. */
static void rank_starts(struct fc_optimizer *o, int keep)
{
    for (int i = 0; i < keep && i < o->n_starts; i++)
        for (int k = i + 1; k < o->n_starts; k++)
            if (o->start[k].norm < o->start[i].norm) {
                struct fc_start swap = o->start[i];
                o->start[i] = o->start[k];
                o->start[k] = swap;
            }
}

/* Chooses up to `most` starts of least norm for a search with `work` in all: fewer where a share would hardly pay
 * for the sums that a search begins and ends with. Returns how many. */
static int choose_starts(struct fc_optimizer *o, int most, uint64_t work)
{
    int n = 0;
    uint64_t spent = 0;
    rank_starts(o, o->n_starts);
    for (int i = 0; i < o->n_starts; i++) {
        struct fc_start *s = &o->start[i];
        uint64_t least = LEAST_SUMS * s->sum_work;
        s->chosen = n < most && s->time_s > fc_optimizer_enough(o) && (n == 0 || spent + least <= work);
        if (!s->chosen) continue;
        spent += least;
        n++;
    }
    return n;
}

/* Where tasks share nodes: the most promising starts once more, to be searched with node contents first; only so where
 * a search of single tasks hardly fits the round. */
static enum fc_code add_node_searches(struct fc_optimizer *o, struct fc_status *st)
{
    int n = o->n_starts;
    size_t size = o->tasks.n * sizeof(uint32_t);
    bool only = 4 * LEAST_SUMS * o->sum_work > o->budget / 100 * (uint64_t)rounds[0].percent;
    for (int i = 0; i < n && only; i++) o->start[i].by_node = o->slots->per_node > 1 && !o->start[i].scattered;
    for (int i = 0; i < n && !only && o->slots->per_node > 1; i++) {
        const struct fc_start *from = &o->start[i];
        if (i >= ROUND_1 || from->scattered || o->n_starts == FC_MOST_STARTS) continue;
        struct fc_start *twin = fc_optimizer_add(o, from->name, st);
        if (!twin) return st->code;
        memcpy(twin->slot, from->slot, size);
        memcpy(twin->best, from->best, size);
        twin->norm = from->norm;
        twin->time_s = from->time_s;
        twin->hop_s = from->hop_s;
        twin->sum_work = from->sum_work;
        twin->by_node = true;
    }
    return FC_OK;
}

static enum fc_code run_round(struct fc_optimizer *o, const struct round *round, struct fc_status *st)
{
    uint64_t work = o->budget / 100 * (uint64_t)round->percent, stream = o->stream;
    int n = choose_starts(o, round->starts, work);
    fc_progress_show(o->problem->progress, round->from, "searching");
#pragma omp parallel for num_threads(o->threads) schedule(dynamic, 1)
    for (int i = 0; i < o->n_starts; i++) {
        if (!o->start[i].chosen) continue;
        struct fc_search_settings how = round->settings;
        how.work = work / (uint64_t)n;
        how.stream = stream + (uint64_t)i * 16;
        improve_both(o, &o->start[i], how, &o->start[i].status);
    }
    o->stream += (uint64_t)o->n_starts * 16;
    return first_failure(o, st);
}

struct fc_start *fc_optimizer_best(struct fc_optimizer *o)
{
    struct fc_start *best = &o->start[0];
    for (int i = 1; i < o->n_starts; i++) {
        struct fc_start *s = &o->start[i];
        if (s->time_s < best->time_s || (s->time_s == best->time_s && s->hop_s < best->hop_s)) best = s;
    }
    return best;
}

/* Hop time that no placement is under when every task has a node of its own; else 0. */
static double least_hop_s(const struct fc_optimizer *o)
{
    const struct fc_routes *r = &o->routes;
    double bytes = 0, least = INFINITY;
    if (o->slots->per_node > 1 || !fc_routes_measured(r)) return 0;
    for (uint64_t e = 0; e < o->tasks.first[o->tasks.n]; e++) bytes += o->tasks.out[e];
    for (int d = 0; r->kind == FC_ROUTES_RINGS && d < r->n_dims; d++)
        if (r->ring[d].k > 1) least = fmin(least, (double)r->ring[d].seconds[1]);
    for (size_t i = 0; r->kind == FC_ROUTES_TABLE && i < (size_t)r->n * r->n; i++)
        if (i % (r->n + 1)) least = fmin(least, (double)r->distance[i]);
    return isfinite(least) ? bytes * (least + (double)r->terminal_s) : 0;
}

/* Hop time of the best placement of all, its longest link time kept. */
static enum fc_code polish_best(struct fc_optimizer *o, bool alone, struct fc_status *st)
{
    struct fc_start *best = fc_optimizer_best(o);
    struct fc_search_settings how = polish.settings;
    if (best->hop_s <= least_hop_s(o) * (1 + 1e-6) || best->time_s <= 0) return FC_OK;
    how.work = o->budget / 100 * (uint64_t)(polish.percent * (alone ? POLISH_ALONE : 1));
    how.cap_s = best->time_s * (1 + 1e-9);
    how.stream = o->stream;
    o->stream += 16;
    fc_progress_show(o->problem->progress, polish.from, "shortening");
    if (how.work < LEAST_SUMS * best->sum_work) return FC_OK;
    memcpy(best->slot, best->best, o->tasks.n * sizeof *best->slot);
    return improve(o, best, false, &how, st);
}

enum fc_code fc_optimizer_search(struct fc_optimizer *o, struct fc_status *st)
{
    bool early = false;
    for (size_t r = 0; r < FC_COUNT(rounds); r++) {
        early = fc_optimizer_best(o)->time_s <= fc_optimizer_enough(o);
        if (early) break;
        if (r == 0) {
            rank_starts(o, o->n_starts);
            if (add_node_searches(o, st)) return st->code;
        }
        if (run_round(o, &rounds[r], st)) return st->code;
    }
    return polish_best(o, early, st);
}
