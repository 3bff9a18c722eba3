/* strategy_optimize.c - searches for the mapping with the shortest longest link time, max over links of
 * bytes/bandwidth.
 *
 * Starts: the strategies by name, recursive bisections (bisection.c) and, for small jobs, annealed hop time
 * (hop_search.c). Each start gets a short search on link times (search.c), the best of them a long one: first
 * whole node contents change nodes, then single tasks change cores (also to free ones). The answer is never
 * worse than any start looked at, `def` among them, as fc_load_solve measures it. The search ends early when
 * it meets the bound that some task sends or receives more than its router's links can move in less time.
 * Source: Bhatele et al., SC'11 for the starts. Limits: a heuristic; traffic inside a node costs nothing;
 * dense traffic is refused; above FC_MOST_TABLE_NODES nodes there are no bisections. The budget is counted in
 * link updates (work_per_s of them take about a second), so results do not depend on the clock or the number
 * of threads. */
#include "mapping/bipartition.h"
#include "mapping/embedding.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    MOST_STARTS = 16,
    MOST_BISECTIONS = 12,
    RESTARTS = 4,    /* of the hop annealing of small jobs */
    SMALL_JOB = 512, /* tasks */
    LEAST_SUMS = 12, /* a search gets at least the work of so many sums of all loads */
    MOST_WALK_SHARE =
        50 /* a placement's sums may cost a 50th of the budget, else a simpler routing stands in */
};
static const double work_per_s = 7e7;
/* p = 16, hop weight 0.3 and a start temperature of 0.2 / units (one unit's move changes the objective by
 * about 1 / units) gave the shortest link times on PERCS stencils, a power-law graph and folded stencils,
 * against p = 8 and 32. */
static const struct fc_search_settings search_settings = {.doublings = 4, .hop_weight = 0.3};
static const double start_heat = 0.2, end_heat = 0.002;

struct start {
    const char *name;
    uint32_t *slot;       /* [n_tasks]; NULL: could not be made */
    double time_s, hop_s; /* longest link time, all link times summed */
    double norm;          /* ln of the p-norm of link times: says more of what a longer search will reach */
    bool scattered;       /* node contents have no structure worth keeping */
    uint64_t sum_work;    /* link updates to sum the loads */
    struct fc_status status;
};

struct optimizer {
    const struct fc_map_problem *problem;
    const struct fc_slots *slots;
    struct fc_arena *arena;
    struct fc_sites sites;
    struct fc_unit_graph tasks;
    struct fc_distance_table table;
    uint32_t *place; /* [n_nodes of the machine] index among the allowed nodes */
    struct start start[MOST_STARTS];
    int n_starts, threads;
    uint64_t budget, stream;
    double bound_s;    /* no mapping has a shorter longest link time */
    uint64_t sum_work; /* what it costs to sum the loads of a placement, link updates */
};

/* A link time that rounding alone may keep above the bound. */
static double enough(const struct optimizer *o)
{
    return o->bound_s * (1 + 1e-12);
}

static void show(const struct optimizer *o, double done, const char *what)
{
    fc_progress_show(o->problem->progress, done, what);
}

/* ---- one search from one placement ---- */

/* Units of the search: tasks, or the contents of the used nodes. */
struct units {
    uint32_t n, *unit, *slot; /* unit[n_tasks], slot[n] */
};

static enum fc_code node_units(const struct optimizer *o, const uint32_t *slot, struct fc_arena *arena,
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

/* Searches from start->slot with node contents or tasks as units, and keeps what is better. work 0 only
 * measures. */
static enum fc_code improve(const struct optimizer *o, struct start *start, bool by_node, uint64_t work,
                            uint64_t stream, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct fc_sites sites = o->sites;
    struct fc_unit_graph blocks = {0};
    struct units units = {.n = o->tasks.n, .slot = start->slot};
    struct fc_search search;
    struct fc_search_settings settings = search_settings;
    uint32_t per_node = o->slots->per_node;
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
    start->time_s = fc_search_time_s(&search);
    start->hop_s = fc_search_hop_s(&search);
    start->sum_work = search.work;
    if (work > 0) fc_search_run(&search, &settings);
    double time_s = fc_search_time_s(&search), hop_s = fc_search_hop_s(&search);
    start->norm = fc_search_norm(&search);
    if (time_s < start->time_s || (time_s == start->time_s && hop_s < start->hop_s)) {
        start->time_s = time_s;
        start->hop_s = hop_s;
        for (uint32_t t = 0; t < o->tasks.n; t++)
            start->slot[t] =
                by_node ? search.slot[units.unit[t]] * per_node + start->slot[t] % per_node : search.slot[t];
    }
    fc_search_free(&search);
done:
    fc_arena_free(&scratch);
    return st->code;
}

/* Half of the work on node contents where they have structure, the rest on tasks. */
static enum fc_code improve_both(const struct optimizer *o, struct start *start, uint64_t work,
                                 uint64_t stream, struct fc_status *st)
{
    bool blocks = o->slots->per_node > 1 && !start->scattered;
    if (blocks && improve(o, start, true, work / 2, stream, st)) return st->code;
    return improve(o, start, false, blocks ? work / 2 : work, stream + 2, st);
}

/* ---- starts ---- */

static struct start *add_start(struct optimizer *o, const char *name, struct fc_status *st)
{
    struct start *start = &o->start[o->n_starts];
    *start = (struct start){.name = name};
    start->slot = fc_alloc(o->arena, o->tasks.n, sizeof *start->slot, st);
    if (start->slot) o->n_starts++;
    return start->slot ? start : NULL;
}

/* Forgets the last start when an earlier one is the same (bdm and bsm often agree). */
static void drop_repeated(struct optimizer *o)
{
    const struct start *last = &o->start[o->n_starts - 1];
    for (const struct start *s = o->start; s < last; s++)
        if (!memcmp(s->slot, last->slot, o->tasks.n * sizeof *s->slot)) {
            o->n_starts--;
            return;
        }
}

/* The placement of a strategy; one that does not apply to this job and machine is left out. */
static enum fc_code add_strategy(struct optimizer *o, const char *name, struct fc_status *st)
{
    struct fc_mapping mapping;
    struct fc_status why = {0};
    if (fc_mapping_make(o->problem, name, &mapping, &why))
        return why.code == FC_INPUT ? FC_OK : fc_refuse(st, why.code, "%s", why.message);
    struct start *start = add_start(o, name, st);
    for (uint32_t t = 0; start && t < o->tasks.n; t++)
        start->slot[t] =
            o->place[mapping.node[t]] * o->slots->per_node + mapping.core[t] % o->slots->cores_per_node;
    if (start) start->scattered = strcmp(name, "random") == 0;
    fc_mapping_free(&mapping);
    if (start) drop_repeated(o);
    return start ? FC_OK : st->code;
}

/* Tasks in order, evenly over all allowed nodes, where `def` would leave nodes free; and the exact embedding
 * of a grid. */
static enum fc_code add_spread(struct optimizer *o, struct fc_status *st)
{
    uint64_t n = o->tasks.n, n_nodes = o->slots->n_nodes;
    if (n < o->slots->n) {
        struct start *start = add_start(o, "spread", st);
        if (!start) return st->code;
        for (uint64_t t = 0; t < n; t++) {
            uint64_t place = t * n_nodes / n, first = (place * n + n_nodes - 1) / n_nodes;
            start->slot[t] = (uint32_t)(place * o->slots->per_node + (n > n_nodes ? t - first : 0));
        }
        drop_repeated(o);
    }
    struct start *start = add_start(o, "embedding", st);
    if (!start) return st->code;
    if (fc_embed_grid(o->problem, o->slots, start->slot))
        drop_repeated(o);
    else
        o->n_starts--;
    return FC_OK;
}

/* Bisections with different random numbers, as many as a quarter of the budget pays; the one of least hop
 * time. */
static enum fc_code add_bisection(struct optimizer *o, struct fc_status *st)
{
    uint64_t edges = o->tasks.first[o->tasks.n],
             each = edges * 600 + 25000000; /* time in link updates, measured */
    int n = (int)fmin(MOST_BISECTIONS, (double)o->budget / 4 / (double)each);
    if (n < 1 && edges < 100000) n = 1;
    struct fc_status status[MOST_BISECTIONS] = {0};
    uint32_t *slot = fc_alloc(o->arena, (size_t)o->tasks.n * (size_t)(n > 0 ? n : 1), sizeof *slot, st);
    if (!slot || n < 1) return st->code;
    double cost[MOST_BISECTIONS];
    uint64_t stream = o->stream;
#pragma omp parallel for num_threads(o->threads) schedule(dynamic, 1)
    for (int i = 0; i < n; i++) {
        uint64_t work = 0;
        uint32_t *mine = slot + (size_t)o->tasks.n * (size_t)i;
        if (fc_bisection_map(&o->sites, &o->tasks, &o->table, o->problem->seed, stream + ((uint64_t)i << 32),
                             mine, &work, &status[i]))
            continue;
        cost[i] = fc_hop_cost(&o->tasks, &o->table, mine, o->slots->per_node);
    }
    o->stream += (uint64_t)n << 32;
    int best = 0;
    for (int i = 0; i < n; i++) {
        if (status[i].code) return fc_refuse(st, status[i].code, "%s", status[i].message);
        if (cost[i] < cost[best]) best = i;
    }
    struct start *start = add_start(o, "bisection", st);
    if (!start) return st->code;
    memcpy(start->slot, slot + (size_t)o->tasks.n * (size_t)best, o->tasks.n * sizeof *slot);
    return fc_hop_anneal(&o->tasks, &o->table, o->slots->per_node, NULL, 0.05, o->budget / 20,
                         o->problem->seed, o->stream++, start->slot, st);
}

/* Small jobs: hop time annealed from a random placement, hot enough to forget it; the best of a few. */
static enum fc_code add_annealed(struct optimizer *o, const uint32_t *from, struct fc_status *st)
{
    struct start *start = add_start(o, "hop annealing", st);
    double best = INFINITY;
    uint32_t *slot = start ? fc_alloc(o->arena, o->tasks.n, sizeof *slot, st) : NULL;
    if (!slot) return st->code;
    for (int i = 0; i < RESTARTS; i++) {
        memcpy(slot, from, o->tasks.n * sizeof *slot);
        if (fc_hop_anneal(&o->tasks, &o->table, o->slots->per_node, NULL, 0.5, o->budget / 10 / RESTARTS,
                          o->problem->seed, o->stream++, slot, st))
            return st->code;
        double cost = fc_hop_cost(&o->tasks, &o->table, slot, o->slots->per_node);
        if (cost >= best) continue;
        best = cost;
        memcpy(start->slot, slot, o->tasks.n * sizeof *slot);
    }
    return FC_OK;
}

static enum fc_code add_starts(struct optimizer *o, struct fc_status *st)
{
    static const char *const names[] = {"def", "bnm", "bdm", "bsm", "rnm", "rdm", "random"};
    for (size_t i = 0; i < FC_COUNT(names); i++)
        if (add_strategy(o, names[i], st)) return st->code;
    const uint32_t *random = o->start[o->n_starts - 1].slot;
    if (add_spread(o, st)) return st->code;
    if (o->budget == 0) return FC_OK;
    show(o, 0.02, "distances");
    if (fc_distances_all(&o->sites, o->budget / 8, o->arena, &o->table, st)) return st->code;
    if (!o->table.distance) return FC_OK;
    show(o, 0.05, "bisections");
    if (add_bisection(o, st)) return st->code;
    return o->tasks.n <= SMALL_JOB ? add_annealed(o, random, st) : FC_OK;
}

/* ---- the bound ---- */

/* Bytes per second that leave (or enter) router v by router links; INFINITY when one never binds. */
static double router_bandwidth(const struct fc_network *net, uint32_t v, const double *in)
{
    double out = 0;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
        if (!fc_is_node(net, net->link_target[l])) out += fc_link_bandwidth(net, l);
    return fmax(out, in[v]);
}

/* What task t sends and receives beyond the `most` partners that matter most (they may share its router). */
static double beyond_router(const struct fc_unit_graph *g, uint32_t t, uint32_t most, const double *bytes,
                            double *sorted)
{
    uint32_t n = 0;
    double total = 0;
    for (uint64_t e = g->first[t]; e < g->first[t + 1]; e++) {
        uint32_t at = n < most ? n++ : n;
        total += bytes[e];
        if (at == most && (most == 0 || sorted[most - 1] >= bytes[e])) continue;
        if (at == most) at--;
        for (; at > 0 && sorted[at - 1] < bytes[e]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = bytes[e];
    }
    for (uint32_t i = 0; i < n; i++) total -= sorted[i];
    return total;
}

/* Some router holds the task, with at most `most` others; what goes elsewhere crosses the router's links.
 * Valid where every node hangs on one router. */
static enum fc_code task_bound(struct optimizer *o, struct fc_status *st)
{
    const struct fc_network *net = o->sites.net;
    struct fc_arena scratch = {0};
    uint32_t *nodes = fc_alloc(&scratch, net->n_vertices, sizeof *nodes, st), most_nodes = 0;
    double *in = nodes ? fc_alloc(&scratch, net->n_vertices, sizeof *in, st) : NULL, widest = 0, bytes = 0;
    bool one_router = true;
    for (uint32_t l = 0; in && l < net->n_links; l++)
        if (!fc_is_node(net, net->link_source[l])) in[net->link_target[l]] += fc_link_bandwidth(net, l);
    for (uint32_t i = 0; in && i < o->sites.n_nodes; i++) {
        uint32_t vertex = fc_node_vertex(net, o->sites.node[i]), first = net->first_link[vertex];
        one_router = one_router && net->first_link[vertex + 1] == first + 1;
        uint32_t router = net->link_target[first];
        if (++nodes[router] > most_nodes) most_nodes = nodes[router];
        widest = fmax(widest, router_bandwidth(net, router, in));
    }
    uint32_t most = most_nodes * o->slots->per_node - 1;
    double *sorted = in ? fc_alloc(&scratch, (size_t)most + 1, sizeof *sorted, st) : NULL;
    for (uint32_t t = 0; sorted && t < o->tasks.n; t++) {
        bytes = fmax(bytes, beyond_router(&o->tasks, t, most, o->tasks.out, sorted));
        bytes = fmax(bytes, beyond_router(&o->tasks, t, most, o->tasks.in, sorted));
    }
    if (one_router && widest > 0) o->bound_s = bytes / widest;
    fc_arena_free(&scratch);
    return st->code;
}

/* ---- the choice ---- */

/* Routes whose walks are too long to be followed millions of times are searched as the family's shortest
 * ones. */
static enum fc_code choose_routing(struct optimizer *o, struct fc_status *st)
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

static enum fc_code first_failure(const struct optimizer *o, struct fc_status *st)
{
    for (int i = 0; i < o->n_starts; i++)
        if (o->start[i].status.code)
            return fc_refuse(st, o->start[i].status.code, "%s", o->start[i].status.message);
    return FC_OK;
}

/* Brings the `keep` starts of least norm to the front. */
static void rank_starts(struct optimizer *o, int keep)
{
    for (int i = 0; i < keep && i < o->n_starts; i++)
        for (int k = i + 1; k < o->n_starts; k++)
            if (o->start[k].norm < o->start[i].norm) {
                struct start swap = o->start[i];
                o->start[i] = o->start[k];
                o->start[k] = swap;
            }
}

/* Measures all starts. */
static enum fc_code measure_starts(struct optimizer *o, struct fc_status *st)
{
#pragma omp parallel for num_threads(o->threads) schedule(dynamic, 1)
    for (int i = 0; i < o->n_starts; i++) improve(o, &o->start[i], false, 0, 0, &o->start[i].status);
    for (int i = 0; i < o->n_starts; i++)
        if (o->start[i].sum_work > o->sum_work) o->sum_work = o->start[i].sum_work;
    return first_failure(o, st);
}

/* Searches from the n starts of least norm with `work` for all of them together; from fewer where a share
 * would hardly pay for the sums that a search begins and ends with. */
static enum fc_code run_round(struct optimizer *o, int n, uint64_t work, struct fc_status *st)
{
    uint64_t stream = o->stream, affordable = work / (LEAST_SUMS * o->sum_work + 1);
    if (n > o->n_starts) n = o->n_starts;
    if ((uint64_t)n > affordable) n = (int)affordable;
    rank_starts(o, n);
#pragma omp parallel for num_threads(o->threads) schedule(dynamic, 1)
    for (int i = 0; i < n; i++) {
        struct start *start = &o->start[i];
        if (start->time_s <= enough(o)) continue;
        improve_both(o, start, work / (uint64_t)n, stream + (uint64_t)i * 16, &start->status);
    }
    o->stream += (uint64_t)n * 16;
    return first_failure(o, st);
}

static struct start *best_start(struct optimizer *o)
{
    struct start *best = &o->start[0];
    for (int i = 1; i < o->n_starts; i++) {
        struct start *s = &o->start[i];
        if (s->time_s < best->time_s || (s->time_s == best->time_s && s->hop_s < best->hop_s)) best = s;
    }
    return best;
}

static void put_slots(const struct optimizer *o, const uint32_t *slot, struct fc_mapping *mapping)
{
    for (uint32_t t = 0; t < o->tasks.n; t++) fc_map_put_slot(mapping, o->slots, t, slot[t]);
}

/* What the solver says of a placement: the longest link time and the payload bytes times hops. */
static enum fc_code measure(const struct optimizer *o, const uint32_t *slot, struct fc_mapping *mapping,
                            double *bound_s, double *hop_bytes, struct fc_status *st)
{
    struct fc_load load;
    struct fc_load_summary summary;
    struct fc_load_settings settings = {.threads = o->threads, .seed = o->problem->seed};
    put_slots(o, slot, mapping);
    struct fc_placement placement = {mapping->n_tasks, mapping->node};
    if (fc_load_solve(o->sites.net, o->problem->demand, &placement, &settings, &load, st)) return st->code;
    fc_load_summarise(o->sites.net, &load, &settings, &summary);
    *bound_s = summary.bound_s;
    *hop_bytes = load.hop_bytes;
    fc_load_free(&load);
    return FC_OK;
}

/* The result against `def` and the best start as the solver measures them: adaptive routings split otherwise
 * than the search's walks, and a stand-in routing is not the real one. */
static enum fc_code choose(const struct optimizer *o, uint32_t *const *slot, int n,
                           struct fc_mapping *mapping, struct fc_status *st)
{
    double best_s = INFINITY, best_hops = INFINITY;
    int best = 0;
    for (int i = 0; i < n; i++) {
        double bound_s = 0, hops = 0;
        if (measure(o, slot[i], mapping, &bound_s, &hops, st)) return st->code;
        if (bound_s > best_s || (bound_s == best_s && hops >= best_hops)) continue;
        best_s = bound_s;
        best_hops = hops;
        best = i;
    }
    put_slots(o, slot[best], mapping);
    return FC_OK;
}

/* Every start gets a short search, the most promising ones a longer one, the most promising of all the
 * longest. */
static enum fc_code search_rounds(struct optimizer *o, struct fc_status *st)
{
    static const struct {
        int starts, percent;
        double from;
    } rounds[] = {{MOST_STARTS, 25, 0.25}, {3, 25, 0.5}, {1, 25, 0.75}};
    for (size_t r = 0; r < FC_COUNT(rounds); r++) {
        if (best_start(o)->time_s <= enough(o)) break;
        show(o, rounds[r].from, "searching");
        if (run_round(o, rounds[r].starts, o->budget / 100 * (uint64_t)rounds[r].percent, st))
            return st->code;
    }
    return FC_OK;
}

static enum fc_code optimize(struct optimizer *o, struct fc_mapping *mapping, struct fc_status *st)
{
    size_t size = o->tasks.n * sizeof(uint32_t);
    uint32_t *kept[3]; /* def, the best start, the best found */
    for (int i = 0; i < 2; i++)
        if (!(kept[i] = fc_alloc(o->arena, o->tasks.n, sizeof *kept[i], st))) return st->code;
    if (choose_routing(o, st) || task_bound(o, st) || add_starts(o, st) || measure_starts(o, st))
        return st->code;
    memcpy(kept[0], o->start[0].slot, size);
    memcpy(kept[1], best_start(o)->slot, size);
    if (o->budget > 0 && search_rounds(o, st)) return st->code;
    kept[2] = best_start(o)->slot;
    show(o, 1, "checking");
    return choose(o, kept, 3, mapping, st);
}

static enum fc_code map(const struct fc_map_problem *problem, struct fc_mapping *mapping,
                        struct fc_status *st)
{
    struct fc_slots slots;
    struct optimizer o = {.problem = problem, .slots = &slots, .arena = &mapping->arena};
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
