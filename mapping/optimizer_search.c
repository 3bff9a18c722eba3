/* optimizer_search.c - the searches of the strategy `optimize`, round by round.
 *
 * Round 1 searches from the most promising starts: with whole node contents that change nodes, then with
 * single tasks; from the best two also with single tasks only. Round 2 goes on from the best two; the best is
 * searched with two settings, as no one suits all jobs. Round 3 goes on with what gave the shortest longest
 * link time. At last hop time is annealed from the best placement under the cap of its longest link time; a
 * start that is near perfect gets this only. Measured (docs/notes/mapping.md): an exponent of 32 and a hop weight
 * of 1 are best on power-law graphs and meshes on tori and fat trees, 16 and 0.3 on PERCS's stencils. Limits:
 * counted work, so results do not depend on clock or threads. */
#include "mapping/optimizer.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_SUMS = 12, /* a search gets at least the work of so many sums of all loads */
    OWN_SUMS = 6,    /* that it makes beside its work, */
    LATE_SUMS = 3,   /* so many of them when it has worked */
    ROUND_1 = 7,     /* starts it searches from */
    BOTH_WAYS = 2,   /* the best of them with node contents first, and with single tasks only */
    MOVES_A_BLOCK = 64
};

/* How a search anneals; temperatures of one unit, as shares of 1 / units: one unit's move changes the
 * objective by about 1 / units. */
static const struct fc_search_settings smooth = {
    .doublings = 4, .hop_weight = 0.3, .start_temperature = 0.2, .end_temperature = 0.002};
static const struct fc_search_settings sharp = {
    .doublings = 5, .hop_weight = 1, .start_temperature = 0.2, .end_temperature = 0.002};
static const struct fc_search_settings both = {
    .doublings = 4, .hop_weight = 0.6, .start_temperature = 0.2, .end_temperature = 0.002};
static const struct fc_search_settings shorter = {
    .doublings = 4, .hop_weight = 1, .start_temperature = 0.1, .end_temperature = 0.001};
/* Work a task and a link that shortens a small job well; measured (docs/notes/mapping.md). Where more time was asked for
 * than `usual_s`, so many times more of it. */
static const uint64_t polish_a_task = 50000, polish_a_link = 400, least_polish = 6000000;
static const double usual_s = 2;
enum { PERCENT_1 = 20, PERCENT_2 = 30, PERCENT_3 = 40, PERCENT_POLISH = 10, PERCENT_POLISH_ALONE = 40 };

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
static void task_slots(const struct fc_optimizer *o, const struct units *units, bool by_node, const uint32_t *unit_slot,
                       const uint32_t *before, uint32_t *slot)
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

/* What a sum of the loads costs beside its link updates: messages within a node touch no link and are looked at all the
 * same. */
static uint64_t beside_links(const struct fc_optimizer *o)
{
    return o->counted ? o->tasks.first[o->tasks.n] / 2 + o->routes.n_links / 2 : 0;
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
        settings.blocks = sites.slots_per_node == 1 ? MOVES_A_BLOCK : 0; /* a run of full nodes costs too much */
        settings.enough_s = fc_optimizer_enough(o);
        settings.stop = o->problem->stop;
        fc_search_run(&search, &settings);
    } else {
        start->sum_work = search.work + beside_links(o);
    }
    if (how) start->work += search.work + OWN_SUMS * beside_links(o);
    take_over(o, &units, by_node, &search, start);
    fc_search_free(&search);
done:
    fc_arena_free(&scratch);
    return st->code;
}

/* Half of the work on node contents where the start says so, the rest on tasks, if that is worth a few sums.
 */
static enum fc_code improve_both(const struct fc_optimizer *o, struct fc_start *start, struct fc_search_settings how,
                                 struct fc_status *st)
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
        if (o->start[i].status.code) return fc_refuse(st, o->start[i].status.code, "%s", o->start[i].status.message);
    return FC_OK;
}

enum fc_code fc_optimizer_measure(struct fc_optimizer *o, int first, struct fc_status *st)
{
#pragma omp parallel for num_threads(fc_threads(o->threads)) schedule(dynamic, 1)
    for (int i = first; i < o->n_starts; i++) {
        o->start[i].time_s = o->start[i].hop_s = o->start[i].norm = INFINITY;
        improve(o, &o->start[i], false, NULL, &o->start[i].status);
    }
    for (int i = first; i < o->n_starts; i++) {
        uint64_t sums = o->start[i].sum_work, took = sums + sums / 2 + o->routes.n_links + o->slots->n / 2;
        if (sums > o->sum_work) o->sum_work = sums;
        if (took < o->measuring) fc_optimizer_refund(o, o->measuring - took);
    }
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

/* Chooses up to `most` starts of least norm for a search with `work` in all: fewer where a share would hardly
 * pay for the sums that a search begins and ends with. Returns how many. */
static int choose_starts(struct fc_optimizer *o, int most, uint64_t work)
{
    int n = 0;
    uint64_t spent = 0;
    rank_starts(o, o->n_starts);
    for (int i = 0; i < o->n_starts; i++) {
        struct fc_start *s = &o->start[i];
        uint64_t least = LEAST_SUMS * s->sum_work;
        s->chosen =
            n < most && s->time_s > fc_optimizer_enough(o) && ((n == 0 && !o->counted) || spent + least <= work);
        if (!s->chosen) continue;
        spent += least;
        n++;
    }
    return n;
}

/* The same placement once more; NULL when memory runs out. */
static struct fc_start *add_twin(struct fc_optimizer *o, const struct fc_start *from, struct fc_status *st)
{
    size_t size = o->tasks.n * sizeof(uint32_t);
    struct fc_start *twin = fc_optimizer_add(o, from->name, st);
    if (!twin) return NULL;
    uint32_t *slot = twin->slot, *best = twin->best;
    memcpy(slot, from->slot, size);
    memcpy(best, from->best, size);
    *twin = *from;
    twin->slot = slot;
    twin->best = best;
    twin->work = 0;
    return twin;
}

/* A search of single tasks hardly fits round 1: a job with many messages. */
static bool tasks_hardly_fit(const struct fc_optimizer *o)
{
    return 4 * LEAST_SUMS * o->sum_work > o->whole / 100 * PERCENT_1;
}

/* Where tasks share nodes: the most promising starts once more, to be searched with node contents first; only
 * so where a search of single tasks hardly fits the round. */
static enum fc_code add_node_searches(struct fc_optimizer *o, struct fc_status *st)
{
    int n = o->n_starts;
    bool only = tasks_hardly_fit(o);
    if (o->slots->per_node < 2) return FC_OK;
    for (int i = 0; i < n; i++) {
        if (o->start[i].scattered) continue;
        o->start[i].by_node = true;
        if (only || i >= BOTH_WAYS) continue;
        struct fc_start *twin = add_twin(o, &o->start[i], st);
        if (!twin) return st->code;
        twin->by_node = false;
    }
    return FC_OK;
}

/* Links whose loads leave the caches, so that updates take twice as long; measured. */
static const double many_links = 2.6e5;
static double slowness(const struct fc_optimizer *o)
{
    return fmin(2, 1 + o->routes.n_links / many_links);
}

/* So many percent of the budget; where it is counted, of what is left after the rounds before. */
static uint64_t round_work(const struct fc_optimizer *o, int percent)
{
    int of = o->counted ? 100 - o->percent_done : 100;
    return o->budget / (uint64_t)(of > percent ? of : percent) * (uint64_t)percent;
}

static uint64_t work_done(const struct fc_optimizer *o)
{
    uint64_t sum = 0;
    for (int i = 0; i < o->n_starts; i++) sum += o->start[i].work;
    return sum;
}
/* Pays for what the searches did since they had done `before`, and closes a round of so many percent. */
static void pay_round(struct fc_optimizer *o, uint64_t before, int percent)
{
    uint64_t did = (uint64_t)((double)(work_done(o) - before) * slowness(o));
    if (o->counted) fc_optimizer_spend(o, did);
    o->percent_done += percent;
}

/* The work that a search may be given where it has so much in all: sums at its ends and the graph of its units are paid
 * for, and so is what updates take longer on a large network. A search that scatters the tasks makes later sums dearer,
 * by no more than it has worked, to what a random placement costs. */
static uint64_t work_within(const struct fc_optimizer *o, const struct fc_start *start, uint64_t all)
{
    uint64_t graphs = start->by_node ? 10 * o->tasks.first[o->tasks.n] : 0;
    uint64_t own = OWN_SUMS * start->sum_work * (start->by_node ? 2 : 1) + graphs;
    uint64_t late = o->measuring / 2, scattered = late > start->sum_work ? LATE_SUMS * (late - start->sum_work) : 0;
    if (!o->counted) return all;
    if (all <= own) return 0;
    all = (uint64_t)((double)(all - own) / slowness(o));
    return all / (1 + LATE_SUMS) > scattered / LATE_SUMS ? all - scattered : all / (1 + LATE_SUMS);
}

/* Searches from the n starts chosen, with `percent` of the budget in all; what is left of it the next rounds have. */
static enum fc_code run_round(struct fc_optimizer *o, int n, int percent, struct fc_status *st)
{
    uint64_t work = round_work(o, percent), stream = o->stream, before = work_done(o);
#pragma omp parallel for num_threads(fc_threads(o->threads)) schedule(dynamic, 1)
    for (int i = 0; i < o->n_starts; i++) {
        if (!o->start[i].chosen) continue;
        struct fc_search_settings how = *o->start[i].how;
        how.work = work_within(o, &o->start[i], work / (uint64_t)n);
        how.stream = stream + (uint64_t)i * 16;
        improve_both(o, &o->start[i], how, &o->start[i].status);
    }
    o->stream += (uint64_t)o->n_starts * 16;
    pay_round(o, before, percent);
    return first_failure(o, st);
}

static enum fc_code round_1(struct fc_optimizer *o, struct fc_status *st)
{
    rank_starts(o, o->n_starts);
    if (add_node_searches(o, st)) return st->code;
    int n = choose_starts(o, ROUND_1 + BOTH_WAYS, round_work(o, PERCENT_1));
    for (int i = 0; i < o->n_starts; i++) o->start[i].how = tasks_hardly_fit(o) ? &smooth : &both;
    return run_round(o, n, PERCENT_1, st);
}

/* The best with both settings, the second with one; of a job with many messages the best only, with one. */
static enum fc_code round_2(struct fc_optimizer *o, struct fc_status *st)
{
    bool large = tasks_hardly_fit(o);
    int n = choose_starts(o, large ? 1 : 2, round_work(o, PERCENT_2) * 2 / 3);
    for (int i = 0; i < o->n_starts; i++) o->start[i].how = large ? &smooth : &sharp;
    if (large || n == 0) return run_round(o, n, PERCENT_2, st);
    struct fc_start *twin = add_twin(o, &o->start[0], st);
    if (!twin) return st->code;
    twin->how = &smooth;
    return run_round(o, n + twin->chosen, PERCENT_2, st);
}

static enum fc_code round_3(struct fc_optimizer *o, struct fc_status *st)
{
    for (int i = 0; i < o->n_starts; i++) o->start[i].chosen = false;
    fc_optimizer_best(o)->chosen = true;
    bool polished = round_work(o, PERCENT_POLISH) >= LEAST_SUMS * o->sum_work;
    return run_round(o, 1, polished ? PERCENT_3 : PERCENT_3 + PERCENT_POLISH, st);
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

/* Hop time that no placement is under: what nodes must send each other, one step far. */
static double least_hop_s(const struct fc_optimizer *o)
{
    const struct fc_routes *r = &o->routes;
    double bytes = 0, least = INFINITY;
    if (!fc_routes_measured(r)) return 0;
    for (uint64_t e = 0; e < o->tasks.first[o->tasks.n] && o->slots->per_node == 1; e++) bytes += o->tasks.out[e];
    bytes = fmax(bytes, o->bound.between_nodes);
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
    struct fc_search_settings how = shorter;
    if (best->hop_s <= least_hop_s(o) * (1 + 1e-6) || best->time_s <= 0) return FC_OK;
    if (alone) o->percent_done = 0;
    how.work = round_work(o, alone ? PERCENT_POLISH_ALONE : PERCENT_POLISH);
    uint64_t enough = polish_a_task * o->tasks.n + polish_a_link * o->routes.n_links + least_polish;
    if (o->counted) enough = (uint64_t)((double)enough * fmax(1, o->problem->time_s / usual_s));
    if (alone && how.work > enough) how.work = enough;
    how.cap_s = best->time_s * (1 + 1e-9);
    how.stream = o->stream;
    o->stream += 16;
    fc_progress_show(o->problem->progress, 0.9, "shortening");
    if (how.work < LEAST_SUMS * best->sum_work) return FC_OK;
    best->by_node = false;
    how.work = work_within(o, best, how.work);
    memcpy(best->slot, best->best, o->tasks.n * sizeof *best->slot);
    uint64_t before = work_done(o);
    improve(o, best, false, &how, st);
    pay_round(o, before, PERCENT_POLISH);
    return st->code;
}

bool fc_optimizer_can_search(const struct fc_optimizer *o)
{
    uint64_t least = o->start[0].sum_work;
    for (int i = 1; i < o->n_starts; i++) least = o->start[i].sum_work < least ? o->start[i].sum_work : least;
    return o->budget > 0 && (!o->counted || o->budget >= 2 * LEAST_SUMS * least);
}

/* Whether the best start is as good as perfect: no link carries more than the task that sends or receives
 * most has on a link of its own, and hops are within an eighth of what no placement is under. Fewer bytes on
 * the busiest link would be bought with hops. */
static bool is_near_perfect(struct fc_optimizer *o)
{
    const struct fc_start *best = fc_optimizer_best(o);
    const struct fc_unit_graph *g = &o->tasks;
    double most = 0, fastest = INFINITY;
    for (uint32_t u = 0; u < g->n; u++) {
        double out = 0, in = 0;
        for (uint64_t e = g->first[u]; e < g->first[u + 1]; e++) {
            out += g->out[e];
            in += g->in[e];
        }
        most = fmax(most, fmax(out, in));
    }
    for (uint32_t l = 0; l < o->routes.n_links; l++) fastest = fmin(fastest, o->routes.seconds[l]);
    return o->slots->per_node == 1 && best->hop_s <= 1.125 * least_hop_s(o) &&
           best->time_s <= most * fastest * (1 + 1e-12);
}

enum fc_code fc_optimizer_search(struct fc_optimizer *o, struct fc_status *st)
{
    static enum fc_code (*const rounds[])(struct fc_optimizer *, struct fc_status *) = {round_1, round_2, round_3};
    static const double done[] = {0.15, 0.4, 0.6};
    bool early = !o->time_only && is_near_perfect(o);
    o->whole = o->budget;
    for (size_t r = 0; r < FC_COUNT(rounds); r++) {
        early = early || fc_optimizer_best(o)->time_s <= fc_optimizer_enough(o);
        if (early || fc_optimizer_stopped(o)) break;
        fc_progress_show(o->problem->progress, done[r], "searching");
        if (rounds[r](o, st)) return st->code;
    }
    return fc_optimizer_stopped(o) ? FC_OK : polish_best(o, early, st);
}
