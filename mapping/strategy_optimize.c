/* strategy_optimize.c - searches for the mapping with the shortest longest link time, max over links of
 * bytes/bandwidth, and of those the one with the least hop time.
 *
 * Starts from every named strategy and more (optimizer_starts.c) and searches on from the most promising ones
 * (optimizer_search.c, search.c). The answer is never worse than any start, as fc_load_solve measures them.
 * The search for shorter times ends early when it meets the bound (mapping_bound.c). Source: Bhatele et al.,
 * SC'11 for the starts; the references of search.c and bisection.c. Limits: a heuristic; traffic inside a
 * node costs nothing; dense traffic is refused; above FC_MOST_TABLE_NODES nodes there are no bisections. The
 * budget is counted in link updates (work_per_s of them take a second of a quiet core or less), so results do
 * not depend on the clock or the number of threads; the named strategies and the tables that the search needs
 * come on top of it. */
#include "mapping/bound.h"
#include "mapping/optimizer.h"

#include <math.h>
#include <string.h>

enum {
    MOST_WALK_SHARE = 50 /* of the budget over one sum of all loads: beyond it a simpler routing stands in */
};
static const double work_per_s = 6e7;

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
    o->sites.routing = long_walks && !fc_spread_fits(&o->sites) ? simple : used;
    return FC_OK;
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
    struct fc_load_settings settings = {.threads = o->threads, .seed = o->problem->seed,
                                        .background_bytes_per_s = o->problem->background_bytes_per_s};
    put_slots(o, slot, mapping);
    struct fc_placement placement = {mapping->n_tasks, mapping->node};
    if (fc_load_solve(o->sites.net, o->problem->demand, &placement, &settings, &load, st)) return st->code;
    fc_load_summarise(o->sites.net, &load, &settings, &summary);
    *time_s = summary.max_link_s;
    *hop_bytes = load.hop_bytes;
    fc_load_free(&load);
    return FC_OK;
}

/* The result against all starts as the solver measures them: adaptive routings split otherwise than the
 * search's walks, and a stand-in routing is not the real one. slot[n][n_tasks] */
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

/* Copies of the starts that the result is measured against: all where search and solver may differ, else the
 * best. */
static enum fc_code keep_starts(struct fc_optimizer *o, uint32_t **kept, int *n, struct fc_status *st)
{
    const struct fc_routing_ops *used = o->sites.net->machine->routing;
    bool differ = used->adaptive || o->sites.routing != used;
    for (int i = 0; i < o->n_starts; i++) {
        if (!differ && &o->start[i] != fc_optimizer_best(o)) continue;
        kept[*n] = fc_alloc(o->arena, o->tasks.n, sizeof **kept, st);
        if (!kept[*n]) return st->code;
        memcpy(kept[(*n)++], o->start[i].slot, o->tasks.n * sizeof **kept);
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
    uint32_t *kept[FC_MOST_STARTS + 1];
    int n = 0;
    if (choose_routing(o, st) || fc_routes_make(&o->sites, o->budget / 8, &o->routes, st) ||
        find_bound(o, st) || fc_optimizer_starts(o, st) || fc_optimizer_measure(o, 0, st))
        return st->code;
    if (o->budget > 0 && fc_optimizer_best(o)->time_s > fc_optimizer_enough(o)) {
        int first = o->n_starts;
        if (fc_optimizer_costly_starts(o, st) || fc_optimizer_measure(o, first, st)) return st->code;
    }
    if (keep_starts(o, kept, &n, st) || (o->budget > 0 && fc_optimizer_search(o, st))) return st->code;
    kept[n++] = fc_optimizer_best(o)->best;
    fc_progress_show(o->problem->progress, 1, "checking");
    return choose(o, kept, n, mapping, st);
}

static enum fc_code map(const struct fc_map_problem *problem, struct fc_mapping *mapping,
                        struct fc_status *st)
{
    struct fc_slots slots;
    struct fc_optimizer o = {.problem = problem, .slots = &slots, .arena = &mapping->arena};
    const struct fc_demand *demand = problem->demand;
    if (problem->argument && strcmp(problem->argument, "time"))
        return fc_refuse(st, FC_INPUT,
                         "strategy optimize: '%s' is unknown (expected optimize or optimize:time)",
                         problem->argument);
    o.time_only = problem->argument;
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
                                slots.per_node, problem->background_bytes_per_s};
    o.threads = problem->threads > 0 ? problem->threads : 1;
    o.budget = problem->time_s > 0 ? (uint64_t)(fmin(problem->time_s, 1e6) * work_per_s) : 0;
    o.stream = FC_MAP_PROPOSALS + 1;
    if (fc_unit_graph_build(demand, identity, demand->n_tasks, o.arena, &o.tasks, st)) return st->code;
    optimize(&o, mapping, st);
    mapping->stopped = fc_optimizer_stopped(&o);
    fc_routes_free(&o.routes);
    return st->code;
}

const struct fc_strategy_ops fc_strategy_optimize = {
    .name = "optimize",
    .help = "routing-aware search for the least maximum link time",
    .source = "search on a norm of link times; Mirsadeghi & Afsahi, IPDPSW'16",
    .option = "time",
    .map = map,
    .searches = true,
};
