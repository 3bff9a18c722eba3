/* strategy_optimize.c - searches for the mapping with the shortest longest link time, max over links of
 * bytes/bandwidth.
 *
 * All starts (optimizer_starts.c) get a short search on link times (search.c), the most promising longer
 * ones: first whole node contents change nodes, then single tasks change cores (also to free ones). The
 * answer is never worse than `def` and the best start, as fc_load_solve measures them. The search ends early
 * when it meets the bound (mapping_bound.c). Source: Bhatele et al., SC'11 for the starts; the references of
 * search.c and bisection.c. Limits: a heuristic; traffic inside a node costs nothing; dense traffic is
 * refused; above FC_MOST_TABLE_NODES nodes there are no bisections. The budget is counted in link updates
 * (work_per_s of them take about a second), so results do not depend on the clock or the number of threads.
 */
#include "mapping/bound.h"
#include "mapping/optimizer.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_SUMS = 12,     /* a search gets at least the work of so many sums of all loads */
    MOST_WALK_SHARE = 50 /* of the budget over one such sum: beyond it a simpler routing stands in */
};
static const double work_per_s = 7e7;
/* p = 16, hop weight 0.3 and a start temperature of 0.2 / units (one unit's move changes the objective by
 * about 1 / units) gave the shortest link times on PERCS stencils, a power-law graph and folded stencils,
 * against p = 8 and 32. */
static const struct fc_search_settings search_settings = {.doublings = 4, .hop_weight = 0.3};
static const double start_heat = 0.2, end_heat = 0.002;

/* A link time that rounding alone may keep above the bound. */
static double enough(const struct fc_optimizer *o)
{
    return o->bound_s * (1 + 1e-12);
}

static void show(const struct fc_optimizer *o, double done, const char *what)
{
    fc_progress_show(o->problem->progress, done, what);
}

/* ---- one search from one placement ---- */

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

/* Searches from start->slot with node contents or tasks as units. Work 0 only measures. */
static enum fc_code improve(const struct fc_optimizer *o, struct fc_start *start, bool by_node, uint64_t work,
                            uint64_t stream, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct fc_sites sites = o->sites;
    struct fc_unit_graph blocks = {0};
    struct units units = {.n = o->tasks.n, .slot = start->slot};
    struct fc_search search;
    struct fc_search_settings settings = search_settings;
    if (by_node) {
        sites.slots_per_node = 1;
        if (node_units(o, start->slot, &scratch, &units, st) ||
            fc_unit_graph_build(o->problem->demand, units.unit, units.n, &scratch, &blocks, st))
            goto done;
    }
    if (fc_search_start(&sites, by_node ? &blocks : &o->tasks, units.slot, &search, st)) goto done;
    settings.start_temperature = start_heat / units.n;
    settings.end_temperature = end_heat / units.n;
    settings.work = work;
    settings.seed = o->problem->seed;
    settings.stream = stream;
    settings.enough_s = enough(o);
    if (work == 0)
        start->sum_work = search.work;
    else
        fc_search_run(&search, &settings);
    take_over(o, &units, by_node, &search, start);
    fc_search_free(&search);
done:
    fc_arena_free(&scratch);
    return st->code;
}

/* Half of the work on node contents where they have structure, the rest on tasks. */
static enum fc_code improve_both(const struct fc_optimizer *o, struct fc_start *start, uint64_t work,
                                 uint64_t stream, struct fc_status *st)
{
    bool blocks = o->slots->per_node > 1 && !start->scattered;
    if (blocks && improve(o, start, true, work / 2, stream, st)) return st->code;
    return improve(o, start, false, blocks ? work / 2 : work, stream + 2, st);
}

/* ---- the choice ---- */

/* Routes whose walks are too long to be followed millions of times are searched as the family's shortest
 * ones. */
static enum fc_code choose_routing(struct fc_optimizer *o, struct fc_status *st)
{
    const struct fc_network *net = o->sites.net;
    const struct fc_routing_ops *used = net->machine->routing, *simple = used;
    for (const struct fc_routing_ops *const *r = fc_routings; *r; r++)
        for (const char *const *f = (*r)->families; *f; f++)
            if (!strcmp(*f, net->machine->family->name) &&
                (*r)->walk_capacity(net) < simple->walk_capacity(net))
                simple = *r;
    struct fc_walk walk;
    double links = 0, n = fmin(64, o->problem->demand->n_entries + 1.0);
    if (fc_walk_start(&walk, used->walk_capacity(net), st)) return st->code;
    for (uint64_t i = 0; i < (uint64_t)n; i++) {
        uint32_t a = o->sites.node[fc_random_below(1, FC_MAP_PROPOSALS, 2 * i, o->sites.n_nodes)];
        uint32_t b = o->sites.node[fc_random_below(1, FC_MAP_PROPOSALS, 2 * i + 1, o->sites.n_nodes)];
        walk.n = 0;
        if (a != b) used->walk(net, a, b, 1, &walk);
        links += walk.n / n;
    }
    fc_walk_free(&walk);
    bool long_walks = links * (double)o->problem->demand->n_entries > (double)o->budget / MOST_WALK_SHARE;
    o->sites.routing = long_walks ? simple : used;
    return FC_OK;
}

static enum fc_code first_failure(const struct fc_optimizer *o, struct fc_status *st)
{
    for (int i = 0; i < o->n_starts; i++)
        if (o->start[i].status.code)
            return fc_refuse(st, o->start[i].status.code, "%s", o->start[i].status.message);
    return FC_OK;
}

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

/* Measures the starts from `first` on. */
static enum fc_code measure_starts(struct fc_optimizer *o, int first, struct fc_status *st)
{
#pragma omp parallel for num_threads(o->threads) schedule(dynamic, 1)
    for (int i = first; i < o->n_starts; i++) {
        o->start[i].time_s = o->start[i].hop_s = o->start[i].norm = INFINITY;
        improve(o, &o->start[i], false, 0, 0, &o->start[i].status);
    }
    for (int i = first; i < o->n_starts; i++)
        if (o->start[i].sum_work > o->sum_work) o->sum_work = o->start[i].sum_work;
    return first_failure(o, st);
}

/* Searches from the n starts of least norm with `work` for all of them together; from fewer where a share
 * would hardly pay for the sums that a search begins and ends with. */
static enum fc_code run_round(struct fc_optimizer *o, int n, uint64_t work, struct fc_status *st)
{
    uint64_t stream = o->stream, affordable = work / (LEAST_SUMS * o->sum_work + 1);
    if (n > o->n_starts) n = o->n_starts;
    if ((uint64_t)n > affordable) n = (int)affordable;
    rank_starts(o, n);
#pragma omp parallel for num_threads(o->threads) schedule(dynamic, 1)
    for (int i = 0; i < n; i++) {
        struct fc_start *start = &o->start[i];
        if (start->time_s <= enough(o)) continue;
        improve_both(o, start, work / (uint64_t)n, stream + (uint64_t)i * 16, &start->status);
    }
    o->stream += (uint64_t)n * 16;
    return first_failure(o, st);
}

static struct fc_start *best_start(struct fc_optimizer *o)
{
    struct fc_start *best = &o->start[0];
    for (int i = 1; i < o->n_starts; i++) {
        struct fc_start *s = &o->start[i];
        if (s->time_s < best->time_s || (s->time_s == best->time_s && s->hop_s < best->hop_s)) best = s;
    }
    return best;
}

static void put_slots(const struct fc_optimizer *o, const uint32_t *slot, struct fc_mapping *mapping)
{
    for (uint32_t t = 0; t < o->tasks.n; t++) fc_map_put_slot(mapping, o->slots, t, slot[t]);
}

/* What the solver says of a placement: the longest link time and the payload bytes times hops. */
static enum fc_code measure(const struct fc_optimizer *o, const uint32_t *slot, struct fc_mapping *mapping,
                            double *time_s, double *hop_bytes, struct fc_status *st)
{
    struct fc_load load;
    struct fc_load_summary summary;
    struct fc_load_settings settings = {.threads = o->threads, .seed = o->problem->seed};
    put_slots(o, slot, mapping);
    struct fc_placement placement = {mapping->n_tasks, mapping->node};
    if (fc_load_solve(o->sites.net, o->problem->demand, &placement, &settings, &load, st)) return st->code;
    fc_load_summarise(o->sites.net, &load, &settings, &summary);
    *time_s = summary.max_link_s;
    *hop_bytes = load.hop_bytes;
    fc_load_free(&load);
    return FC_OK;
}

/* The result against `def` and the best start as the solver measures them: adaptive routings split otherwise
 * than the search's walks, and a stand-in routing is not the real one. */
static enum fc_code choose(const struct fc_optimizer *o, uint32_t *const *slot, int n,
                           struct fc_mapping *mapping, struct fc_status *st)
{
    double best_s = INFINITY, best_hops = INFINITY;
    int best = 0;
    for (int i = 0; i < n; i++) {
        double time_s = 0, hops = 0;
        if (measure(o, slot[i], mapping, &time_s, &hops, st)) return st->code;
        if (time_s > best_s || (time_s == best_s && hops >= best_hops)) continue;
        best_s = time_s;
        best_hops = hops;
        best = i;
    }
    put_slots(o, slot[best], mapping);
    return FC_OK;
}

/* Every start gets a short search, the most promising ones a longer one, the most promising of all the
 * longest. */
static enum fc_code search_rounds(struct fc_optimizer *o, struct fc_status *st)
{
    static const struct {
        int starts, percent;
        double from;
    } rounds[] = {{FC_MOST_STARTS, 25, 0.25}, {3, 25, 0.5}, {1, 25, 0.75}};
    for (size_t r = 0; r < FC_COUNT(rounds); r++) {
        if (best_start(o)->time_s <= enough(o)) break;
        show(o, rounds[r].from, "searching");
        if (run_round(o, rounds[r].starts, o->budget / 100 * (uint64_t)rounds[r].percent, st))
            return st->code;
    }
    return FC_OK;
}

/* The bound of every mapping, for payload bytes as the search counts them. */
static enum fc_code find_bound(struct fc_optimizer *o, struct fc_status *st)
{
    struct fc_map_bound bound;
    if (fc_mapping_bound(o->problem, &bound, st)) return st->code;
    double wire = fc_least_wire_factor(o->problem->net->machine, o->problem->demand);
    o->bound_s = isnan(bound.time_s) ? 0 : bound.time_s / wire;
    return FC_OK;
}

static enum fc_code optimize(struct fc_optimizer *o, struct fc_mapping *mapping, struct fc_status *st)
{
    size_t size = o->tasks.n * sizeof(uint32_t);
    uint32_t *kept[3]; /* def, the best start, the best found */
    for (int i = 0; i < 2; i++)
        if (!(kept[i] = fc_alloc(o->arena, o->tasks.n, sizeof *kept[i], st))) return st->code;
    if (choose_routing(o, st) || find_bound(o, st) ||
        fc_optimizer_starts(o, st) || measure_starts(o, 0, st))
        return st->code;
    if (o->budget > 0 && best_start(o)->time_s > enough(o)) {
        int first = o->n_starts;
        if (fc_optimizer_costly_starts(o, st) || measure_starts(o, first, st)) return st->code;
    }
    memcpy(kept[0], o->start[0].slot, size);
    memcpy(kept[1], best_start(o)->best, size);
    if (o->budget > 0 && search_rounds(o, st)) return st->code;
    kept[2] = best_start(o)->best;
    show(o, 1, "checking");
    return choose(o, kept, 3, mapping, st);
}

static enum fc_code map(const struct fc_map_problem *problem, struct fc_mapping *mapping,
                        struct fc_status *st)
{
    struct fc_slots slots;
    struct fc_optimizer o = {.problem = problem, .slots = &slots, .arena = &mapping->arena};
    const struct fc_demand *demand = problem->demand;
    if (demand->n_dense > 0)
        return fc_refuse(st, FC_INPUT,
                         "strategy optimize searches over messages, and %s is dense traffic, which has no "
                         "list of them",
                         demand->name ? demand->name : "this");
    if (fc_map_start(problem, mapping, &slots, st)) return st->code;
    uint32_t *identity = fc_alloc(o.arena, demand->n_tasks, sizeof *identity, st);
    o.place = identity ? fc_alloc(o.arena, problem->net->n_nodes, sizeof *o.place, st) : NULL;
    if (!o.place) return st->code;
    for (uint32_t t = 0; t < demand->n_tasks; t++) identity[t] = t;
    for (uint32_t i = 0; i < slots.n_nodes; i++) o.place[slots.node[i]] = i;
    o.sites = (struct fc_sites){problem->net, problem->net->machine->routing, slots.node, slots.n_nodes,
                                slots.per_node};
    o.threads = problem->threads > 0 ? problem->threads : 1;
    o.budget = problem->time_s > 0 ? (uint64_t)(fmin(problem->time_s, 1e6) * work_per_s) : 0;
    o.stream = FC_MAP_PROPOSALS + 1;
    if (fc_unit_graph_build(demand, identity, demand->n_tasks, o.arena, &o.tasks, st)) return st->code;
    return optimize(&o, mapping, st);
}

const struct fc_strategy_ops fc_strategy_optimize = {
    .name = "optimize",
    .help = "routing-aware search for the least maximum link time",
    .source = "search on a norm of link times; Mirsadeghi & Afsahi, IPDPSW'16",
    .map = map,
};
