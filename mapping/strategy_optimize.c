/* strategy_optimize.c - searches for the mapping with the shortest longest link time, max over links of
 * bytes/bandwidth, and of those the one with the least hop time.
 *
 * Starts from every named strategy and more (optimizer_starts.c) and searches on from the most promising ones
 * (optimizer_search.c, search.c). The answer is never worse than any start, as fc_load_solve measures them.
 * The search for shorter times ends early when it meets the bound (mapping_bound.c). Source: Bhatele et al.,
 * SC'11 for the starts; the references of search.c and bisection.c. Limits: a heuristic; traffic inside a
 * node costs nothing; dense traffic is refused; above FC_MOST_TABLE_NODES nodes there are no bisections. The
 * budget is counted in link updates (work.h), so results do not depend on the clock or the number of threads. It
 * pays for all that is done, at the prices of work.c: the bound and the answer's evaluation first, then rank order
 * and the starts from the cheapest on, and searches with what is left; where that is too little for one, the best
 * start is the answer. With starts_free it is the searches' alone. */
#include "mapping/optimizer.h"

#include <math.h>
#include <string.h>

enum {
    MOST_SAMPLES_SHARE = 100, /* of the budget over the walks that its length is found by */
    MOST_WALK_SHARE = 50      /* of the budget over one sum of all loads: beyond it a simpler routing stands in */
};
/* Routes whose walks are too long to be followed millions of times are searched as the family's shortest
 * ones. */
static enum fc_code choose_routing(struct fc_optimizer *o, struct fc_status *st)
{
    const struct fc_network *net = o->sites.net;
    const struct fc_routing_ops *used = net->machine->routing, *simple = used;
    for (const struct fc_routing_ops *const *r = fc_routings; *r; r++)
        if (fc_routing_takes(*r, net->machine) && (*r)->walk_capacity(net) < simple->walk_capacity(net)) simple = *r;
    struct fc_walk walk;
    double links = 0, n = floor(fmin(64, o->problem->demand->n_entries + 1.0));
    if (o->counted) n = fmax(4, floor(fmin(n, (double)o->budget / MOST_SAMPLES_SHARE / used->walk_capacity(net))));
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
    o->sites.no_spread = o->counted && fc_spread_work(&o->sites) > o->budget / 3;
    o->sites.routing = long_walks && !fc_spread_fits(&o->sites) ? simple : used;
    return FC_OK;
}

/* The tables of the routes, and what it costs to sum the loads of a placement with them. */
static enum fc_code make_routes(struct fc_optimizer *o, struct fc_status *st)
{
    const struct fc_routes *r = &o->routes;
    struct fc_walk walk;
    if (fc_routes_make(&o->sites, o->budget / 8, &o->routes, st)) return st->code;
    if (fc_walk_start(&walk, o->sites.routing->walk_capacity(o->sites.net), st)) return st->code;
    double links = 1.5 * fc_sites_mean_route(&o->sites, &walk), more = 0;
    fc_walk_free(&walk);
    if (r->kind == FC_ROUTES_SPREAD) {
        links = 8;
        more = r->spread.first[r->spread.n_bundles];
    }
    o->measuring =
        (uint64_t)((double)o->problem->demand->n_entries * links + more + r->n_links + (double)o->slots->n / 2);
    fc_optimizer_spend(o, 2 * r->work + o->sites.net->n_links);
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
    struct fc_load_settings settings = {.threads = o->threads,
                                        .seed = o->problem->seed,
                                        .split_share = o->problem->split_share,
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

/* What the answer is chosen from. */
struct candidate {
    uint32_t *slot;                 /* [n_tasks] */
    const struct fc_map_made *made; /* its figures, or NULL */
};

/* The result against the starts as the solver measures them: adaptive routings split otherwise than the
 * search's walks, and a stand-in routing is not the real one. The first n - 1 of the candidates are starts. */
static enum fc_code choose(struct fc_optimizer *o, const struct candidate *list, int n, struct fc_mapping *mapping,
                           struct fc_status *st)
{
    double best_s = INFINITY, best_hops = INFINITY;
    int best = n - 1;
    for (int i = 0; i < n && n > 1; i++) {
        double time_s = list[i].made ? list[i].made->time_s : 0, hops = list[i].made ? list[i].made->hop_bytes : 0;
        if (!list[i].made && measure(o, list[i].slot, mapping, &time_s, &hops, st)) return st->code;
        if (!list[i].made) o->spent += o->evaluation;
        if (time_s > best_s || (time_s == best_s && hops >= best_hops)) continue;
        best_s = time_s;
        best_hops = hops;
        best = i;
    }
    put_slots(o, list[best].slot, mapping);
    return FC_OK;
}

/* How many starts of unknown figures are measured by the solver beside the result: all where search and solver may
 * differ, else the best; as many as a quarter of the budget pays for, which is put aside. */
static int put_aside(struct fc_optimizer *o, bool differ)
{
    int n = differ ? o->n_starts : 1;
    if (!o->counted) return n;
    bool known = false;
    for (int i = 0; i < o->n_starts; i++) known = known || (differ && o->start[i].made);
    uint64_t quarter = o->budget / 4, pays = o->evaluation > 0 ? quarter / o->evaluation : (uint64_t)n + 1;
    if (pays < 2 && !known) return 0;
    n = pays < 2 ? 0 : pays - 1 < (uint64_t)n ? (int)(pays - 1) : n;
    uint64_t aside = (uint64_t)(n + 1) * o->evaluation;
    o->budget -= aside < o->budget ? aside : o->budget;
    return n;
}

/* Copies of the starts that the result is measured against: those with known figures, and `most` others, the best. */
static enum fc_code keep_starts(struct fc_optimizer *o, bool differ, int most, struct candidate *list, int *n,
                                struct fc_status *st)
{
    bool keep[FC_MOST_STARTS] = {false};
    for (int i = 0; i < o->n_starts; i++) keep[i] = differ && o->start[i].made && (most > 0 || o->counted);
    for (int k = 0; k < most; k++) {
        int best = -1;
        for (int i = 0; i < o->n_starts; i++) {
            const struct fc_start *a = &o->start[i], *b = &o->start[best < 0 ? i : best];
            if (keep[i]) continue;
            if (best < 0 || a->time_s < b->time_s || (a->time_s == b->time_s && a->hop_s < b->hop_s)) best = i;
        }
        if (best < 0) break;
        keep[best] = true;
    }
    for (int i = 0; i < o->n_starts; i++) {
        if (!keep[i]) continue;
        list[*n] = (struct candidate){fc_alloc(o->arena, o->tasks.n, sizeof *list->slot, st), o->start[i].made};
        if (!list[*n].slot) return st->code;
        memcpy(list[(*n)++].slot, o->start[i].slot, o->tasks.n * sizeof *list->slot);
    }
    return FC_OK;
}

/* Whether a bound is there or worth its price. Searches go on without one. */
static bool wants_bound(const struct fc_optimizer *o)
{
    if (o->problem->bound) return !isnan(o->problem->bound->time_s);
    return !o->counted || fc_bound_work(o->problem) <= o->budget / 4;
}

/* What comes before all starts: the bound, the answer's evaluation, the graph of the tasks, links and places. False:
 * that is more than the budget. */
static bool spend_first(struct fc_optimizer *o)
{
    const struct fc_demand *d = o->problem->demand;
    o->has_bound = wants_bound(o);
    o->evaluation = fc_load_work(o->problem);
    uint64_t first = (o->has_bound ? fc_bound_work(o->problem) : 0) + o->evaluation + 10 * d->n_entries +
                     10ull * d->n_tasks + o->problem->net->n_links + o->slots->n / 4;
    bool pays = !o->counted || first <= o->budget;
    fc_optimizer_spend(o, first);
    return pays;
}

/* The bound of every mapping, for payload bytes as the search counts them. */
static enum fc_code find_bound(struct fc_optimizer *o, struct fc_status *st)
{
    o->bound = (struct fc_map_bound){.time_s = NAN};
    if (o->problem->bound)
        o->bound = *o->problem->bound;
    else if (o->has_bound && fc_mapping_bound(o->problem, &o->bound, st))
        return st->code;
    o->bound_s = o->bound.payload_s;
    return FC_OK;
}

/* The budget pays for nothing but the answer's evaluation: the best mapping that is there already, or rank order. */
static enum fc_code take_what_is_there(const struct fc_optimizer *o, struct fc_mapping *mapping, struct fc_status *st)
{
    const struct fc_map_problem *p = o->problem;
    struct fc_mapping in_order = {0};
    const struct fc_map_made *best = p->n_made ? &p->made[0] : NULL;
    for (size_t i = 1; i < p->n_made; i++)
        if (p->made[i].time_s < best->time_s ||
            (p->made[i].time_s == best->time_s && p->made[i].hop_bytes < best->hop_bytes))
            best = &p->made[i];
    if (!best && fc_mapping_make(p, "def", &in_order, st)) return st->code;
    const struct fc_mapping *from = best ? best->mapping : &in_order;
    memcpy(mapping->core, from->core, mapping->n_tasks * sizeof *mapping->core);
    memcpy(mapping->node, from->node, mapping->n_tasks * sizeof *mapping->node);
    fc_mapping_free(&in_order);
    mapping->unsearched = true;
    mapping->work = o->spent;
    return FC_OK;
}

/* Where links are walked, the answer's evaluation walks no more of them than the sum of the best start did. */
static void refund_evaluation(struct fc_optimizer *o)
{
    const struct fc_routing_ops *used = o->sites.net->machine->routing;
    const struct fc_demand *d = o->problem->demand;
    if (used->adaptive || o->sites.routing != used || o->routes.kind == FC_ROUTES_SPREAD) return;
    uint64_t takes =
        5 * d->n_entries + 2 * fc_optimizer_best(o)->sum_work + 4ull * d->n_tasks + 2ull * o->sites.net->n_links;
    if (takes >= o->evaluation) return;
    fc_optimizer_refund(o, o->evaluation - takes);
    o->evaluation = takes;
}

static enum fc_code optimize(struct fc_optimizer *o, struct fc_mapping *mapping, struct fc_status *st)
{
    struct candidate list[FC_MOST_STARTS + 1];
    int n = 0;
    if (choose_routing(o, st) || make_routes(o, st) || find_bound(o, st) || fc_optimizer_starts(o, st) ||
        fc_optimizer_measure(o, 0, st))
        return st->code;
    fc_optimizer_drop_singles(o);
    refund_evaluation(o);
    if (o->budget > 0 && fc_optimizer_best(o)->time_s > fc_optimizer_enough(o)) {
        int first = o->n_starts;
        if (fc_optimizer_costly_starts(o, st) || fc_optimizer_pairs(o, st) || fc_optimizer_measure(o, first, st))
            return st->code;
    }
    const struct fc_routing_ops *used = o->sites.net->machine->routing;
    bool differ = used->adaptive || o->sites.routing != used;
    if (keep_starts(o, differ, put_aside(o, differ), list, &n, st)) return st->code;
    mapping->unsearched =
        o->problem->time_s > 0 && !fc_optimizer_can_search(o) && fc_optimizer_best(o)->time_s > fc_optimizer_enough(o);
    bool searched = fc_optimizer_can_search(o);
    if (searched && fc_optimizer_search(o, st)) return st->code;
    for (int i = 0; i < o->n_starts && !o->counted; i++) o->spent += o->start[i].work;
    const struct fc_start *best = fc_optimizer_best(o);
    list[n++] = (struct candidate){best->best, searched ? NULL : best->made};
    fc_progress_show(o->problem->progress, 1, "checking");
    choose(o, list, n, mapping, st);
    mapping->work = o->spent;
    return st->code;
}

static enum fc_code map(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_slots slots;
    struct fc_optimizer o = {.problem = problem, .slots = &slots, .arena = &mapping->arena};
    const struct fc_demand *demand = problem->demand;
    if (problem->argument && strcmp(problem->argument, "time"))
        return fc_refuse(st, FC_INPUT, "strategy optimize: '%s' is unknown (expected optimize or optimize:time)",
                         problem->argument);
    o.time_only = problem->argument;
    if (demand->n_dense > 0)
        return fc_refuse(st, FC_INPUT,
                         "strategy optimize searches over messages, and %s is dense traffic, which has no "
                         "list of them (expected a strategy that does not search: def, rnm, ...; report: --versus)",
                         demand->name ? demand->name : "this");
    if (fc_map_start(problem, mapping, &slots, st)) return st->code;
    uint32_t *identity = fc_alloc(o.arena, demand->n_tasks, sizeof *identity, st);
    o.place = identity ? fc_alloc(o.arena, problem->net->n_nodes, sizeof *o.place, st) : NULL;
    if (!o.place) return st->code;
    for (uint32_t t = 0; t < demand->n_tasks; t++) identity[t] = t;
    for (uint32_t i = 0; i < slots.n_nodes; i++) o.place[slots.node[i]] = i;
    o.sites = (struct fc_sites){problem->net,   problem->net->machine->routing,  slots.node, slots.n_nodes,
                                slots.per_node, problem->background_bytes_per_s, false};
    o.threads = problem->threads > 0 ? problem->threads : 1;
    o.budget = fc_work_of_s(problem->time_s);
    o.counted = problem->time_s > 0 && !problem->starts_free;
    o.stream = FC_MAP_PROPOSALS + 1;
    if (!spend_first(&o)) return take_what_is_there(&o, mapping, st);
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
