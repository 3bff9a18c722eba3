/* optimizer_starts.c - placements that the strategy `optimize` starts from.
 *
 * The strategies by name, also on the grid of a job that does not say it (grid_find.c); tasks spread evenly
 * over all allowed nodes; the exact embedding of a task grid (embedding.c); the best of several recursive
 * bisections (bisection.c); for small jobs annealed hop time (hop_search.c). */
#include "mapping/optimizer.h"

#include "mapping/embedding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_BISECTIONS = 12,
    RESTARTS = 4,   /* of the hop annealing of small jobs */
    SMALL_JOB = 512 /* tasks */
};

struct fc_start *fc_optimizer_add(struct fc_optimizer *o, const char *name, struct fc_status *st)
{
    struct fc_start *start = &o->start[o->n_starts];
    *start = (struct fc_start){.name = name};
    start->slot = fc_alloc(o->arena, o->tasks.n, sizeof *start->slot, st);
    start->best = start->slot ? fc_alloc(o->arena, o->tasks.n, sizeof *start->best, st) : NULL;
    if (start->best) o->n_starts++;
    return start->best ? start : NULL;
}

/* Forgets the last start when an earlier one is the same (bdm and bsm often agree). */
static void drop_repeated(struct fc_optimizer *o)
{
    const struct fc_start *last = &o->start[o->n_starts - 1];
    for (const struct fc_start *s = o->start; s < last; s++)
        if (!memcmp(s->slot, last->slot, o->tasks.n * sizeof *s->slot)) {
            o->n_starts--;
            return;
        }
}

/* The strategy's mapping where the problem has it already. */
static const struct fc_map_made *find_made(const struct fc_map_problem *problem, const char *name)
{
    for (size_t i = 0; i < problem->n_made; i++)
        if (!strcmp(problem->made[i].strategy, name)) return &problem->made[i];
    return NULL;
}

static enum fc_code add_mapping(struct fc_optimizer *o, const struct fc_mapping *mapping, const uint32_t *rank,
                                const char *name, const struct fc_map_made *made, struct fc_status *st)
{
    struct fc_start *start = fc_optimizer_add(o, name, st);
    if (!start) return st->code;
    for (uint32_t t = 0; t < o->tasks.n; t++) {
        uint32_t r = rank ? rank[t] : t;
        start->slot[t] = o->place[mapping->node[r]] * o->slots->per_node + mapping->core[r] % o->slots->cores_per_node;
    }
    start->scattered = strcmp(name, "random") == 0;
    start->made = made;
    fc_optimizer_spend(o, o->measuring);
    drop_repeated(o);
    return FC_OK;
}

/* The placement of a strategy; one that does not apply to this job and machine is left out. rank[n_tasks]: of
 * each task in the problem; NULL: the same. */
static enum fc_code add_strategy(struct fc_optimizer *o, const struct fc_map_problem *problem, const uint32_t *rank,
                                 const char *name, struct fc_status *st)
{
    struct fc_mapping mapping;
    struct fc_status why = {0};
    const struct fc_map_made *made = rank ? NULL : find_made(problem, name);
    if (o->n_starts >= FC_MOST_STARTS - FC_SPARE_STARTS) return FC_OK;
    if (made) return add_mapping(o, made->mapping, rank, name, made, st);
    if (fc_mapping_make(problem, name, &mapping, &why))
        return why.code == FC_INPUT ? FC_OK : fc_refuse(st, why.code, "%s", why.message);
    fc_optimizer_spend(o, fc_strategy_work(problem, name));
    add_mapping(o, &mapping, rank, name, NULL, st);
    fc_mapping_free(&mapping);
    return st->code;
}

/* Whether `share` of the budget pays for a start that costs so much to make. */
static bool pays(const struct fc_optimizer *o, uint64_t making, uint64_t share)
{
    return !o->counted || making + o->measuring <= share;
}

/* The exact embedding of the problem's grid. */
static enum fc_code add_embedding(struct fc_optimizer *o, const struct fc_map_problem *problem, const uint32_t *rank,
                                  struct fc_status *st)
{
    if (!pays(o, 20ull * o->tasks.n, o->budget / 2)) return FC_OK;
    fc_optimizer_spend(o, 20ull * o->tasks.n + o->measuring);
    struct fc_start *start = fc_optimizer_add(o, "embedding", st);
    if (!start) return st->code;
    if (!fc_embed_grid(problem, o->slots, start->slot)) {
        o->n_starts--;
        return FC_OK;
    }
    for (uint32_t t = 0; rank && t < o->tasks.n; t++) start->best[t] = start->slot[rank[t]];
    if (rank) memcpy(start->slot, start->best, o->tasks.n * sizeof *start->slot);
    drop_repeated(o);
    return FC_OK;
}

static const char singles[] = "one a node";

/* Tasks in order on nodes of their own, the first ones: near each other, as an even spread is not. */
static enum fc_code add_singles(struct fc_optimizer *o, struct fc_status *st)
{
    if (o->tasks.n >= o->slots->n_nodes || o->slots->per_node < 2 || !pays(o, o->tasks.n, o->budget / 2)) return FC_OK;
    fc_optimizer_spend(o, o->tasks.n + o->measuring);
    struct fc_start *start = fc_optimizer_add(o, singles, st);
    if (!start) return st->code;
    for (uint32_t t = 0; t < o->tasks.n; t++) start->slot[t] = t * o->slots->per_node;
    drop_repeated(o);
    return FC_OK;
}

/* Tasks in order, evenly over all allowed nodes, where `def` would leave nodes free; and the exact embedding
 * of a grid. */
static enum fc_code add_spread(struct fc_optimizer *o, struct fc_status *st)
{
    uint64_t n = o->tasks.n, n_nodes = o->slots->n_nodes;
    if (n < o->slots->n && pays(o, n, o->budget / 2)) {
        fc_optimizer_spend(o, n + o->measuring);
        struct fc_start *start = fc_optimizer_add(o, "spread", st);
        if (!start) return st->code;
        for (uint64_t t = 0; t < n; t++) {
            uint64_t place = t * n_nodes / n, first = (place * n + n_nodes - 1) / n_nodes;
            start->slot[t] = (uint32_t)(place * o->slots->per_node + (n > n_nodes ? t - first : 0));
        }
        drop_repeated(o);
    }
    return add_embedding(o, o->problem, NULL, st);
}

/* Bisections with different random numbers, as many as an eighth of the budget pays; the one of least hop
 * time. */
static enum fc_code add_bisection(struct fc_optimizer *o, struct fc_status *st)
{
    uint64_t edges = o->tasks.first[o->tasks.n], each = edges * 600 + 25000000; /* time in link updates, measured */
    int n = (int)fmin(MOST_BISECTIONS, (double)o->budget / 8 / (double)each);
    if (n < 1 && edges < 100000 && !o->counted) n = 1;
    struct fc_status status[MOST_BISECTIONS] = {0};
    uint32_t *slot = fc_alloc(o->arena, (size_t)o->tasks.n * (size_t)(n > 0 ? n : 1), sizeof *slot, st);
    if (!slot || n < 1) return st->code;
    double cost[MOST_BISECTIONS];
    uint64_t stream = o->stream;
#pragma omp parallel for num_threads(fc_threads(o->threads)) schedule(dynamic, 1)
    for (int i = 0; i < n; i++) {
        uint64_t work = 0;
        cost[i] = INFINITY;
        if (i > 0 && fc_optimizer_stopped(o)) continue;
        uint32_t *mine = slot + (size_t)o->tasks.n * (size_t)i;
        if (fc_bisection_map(&o->sites, &o->tasks, &o->table, o->problem->seed, stream + ((uint64_t)i << 32), mine,
                             &work, &status[i]))
            continue;
        cost[i] = fc_hop_cost(&o->tasks, &o->table, mine, o->slots->per_node);
    }
    o->stream += (uint64_t)n << 32;
    fc_optimizer_spend(o, each * (uint64_t)n + o->measuring);
    int best = 0;
    for (int i = 0; i < n; i++) {
        if (status[i].code) return fc_refuse(st, status[i].code, "%s", status[i].message);
        if (cost[i] < cost[best]) best = i;
    }
    struct fc_start *start = fc_optimizer_add(o, "bisection", st);
    if (!start) return st->code;
    memcpy(start->slot, slot + (size_t)o->tasks.n * (size_t)best, o->tasks.n * sizeof *slot);
    uint64_t work = o->budget / 20;
    fc_optimizer_spend(o, work);
    return fc_hop_anneal(&o->tasks, &o->table, o->slots->per_node, NULL, 0.05, work, o->problem->stop, o->problem->seed,
                         o->stream++, start->slot, st);
}

/* Small jobs: hop time annealed from a temperature that forgets where it started; the best of a few. */
static enum fc_code add_annealed(struct fc_optimizer *o, struct fc_status *st)
{
    const uint32_t *from = o->start[0].slot;
    uint64_t work = o->budget / 10 / RESTARTS;
    struct fc_start *start = fc_optimizer_add(o, "hop annealing", st);
    double best = INFINITY;
    uint32_t *slot = start ? fc_alloc(o->arena, o->tasks.n, sizeof *slot, st) : NULL;
    if (!slot) return st->code;
    fc_optimizer_spend(o, RESTARTS * work + o->measuring);
    for (int i = 0; i < RESTARTS; i++) {
        memcpy(slot, from, o->tasks.n * sizeof *slot);
        if (fc_hop_anneal(&o->tasks, &o->table, o->slots->per_node, NULL, 0.5, work, o->problem->stop, o->problem->seed,
                          o->stream++, slot, st))
            return st->code;
        double cost = fc_hop_cost(&o->tasks, &o->table, slot, o->slots->per_node);
        if (cost >= best) continue;
        best = cost;
        memcpy(start->slot, slot, o->tasks.n * sizeof *slot);
    }
    return FC_OK;
}

/* Strategies that search for themselves are no starts. */
static bool searches(const struct fc_strategy_ops *strategy)
{
    return !strcmp(strategy->name, "optimize") || !strcmp(strategy->name, "exact");
}

/* Whether a strategy follows messages one by one: then it waits until those that only look at the grid are
 * known not to meet the bound. */
static bool is_costly(const struct fc_strategy_ops *strategy)
{
    return !strcmp(strategy->name, "scotch") || !strcmp(strategy->name, "greedy") || !strcmp(strategy->name, "permute");
}

struct choice {
    const char *name;
    uint64_t work;
};
static int by_work(const void *p, const void *q)
{
    const struct choice *a = p, *b = q;
    return (a->work > b->work) - (a->work < b->work);
}

/* The strategies of a kind, where the budget is counted the cheap ones first while half of it lasts (a third for
 * costly ones), Scotch with one seed where four are too dear; rank order always. */
static enum fc_code add_strategies(struct fc_optimizer *o, const struct fc_map_problem *problem, const uint32_t *rank,
                                   bool costly, struct fc_status *st)
{
    struct choice list[32];
    size_t n = 0;
    for (const struct fc_strategy_ops *const *s = fc_strategies; *s; s++)
        if (!(*s)->argument && !searches(*s) && is_costly(*s) == costly) list[n++] = (struct choice){(*s)->name, 0};
    for (size_t i = 0; i < n && o->counted; i++) {
        bool made = !rank && find_made(problem, list[i].name);
        list[i].work = made || (i == 0 && !costly) ? i : i + fc_strategy_work(problem, list[i].name);
    }
    if (o->counted) qsort(list, n, sizeof *list, by_work);
    uint64_t end = o->budget / (costly ? 3 : 2) * (costly ? 2 : 1);
    for (size_t i = 0; i < n; i++) {
        const char *name = list[i].name;
        uint64_t left = o->budget > end ? o->budget - end : 0;
        if (costly && fc_optimizer_stopped(o)) break;
        if (!pays(o, list[i].work, left) && !strcmp(name, "scotch")) {
            name = "scotch:1";
            list[i].work = fc_strategy_work(problem, name);
        }
        if ((o->n_starts > 0 || costly) && !pays(o, list[i].work, left)) continue;
        if (add_strategy(o, problem, rank, name, st)) return st->code;
    }
    return FC_OK;
}

/* What lays a grid in order, where the job is one that does not say so. */
static enum fc_code add_on_found_grid(struct fc_optimizer *o, struct fc_status *st)
{
    struct fc_map_problem problem = *o->problem;
    uint64_t finding = 20 * o->tasks.first[o->tasks.n];
    if (problem.demand->n_grid > 0 || !pays(o, finding, o->budget / 4)) return FC_OK;
    fc_optimizer_spend(o, finding);
    if (fc_grid_find(&o->tasks, o->arena, &o->grid, st)) return st->code;
    if (o->grid.n == 0) return FC_OK;
    if (fc_grid_demand(o->problem->demand, &o->grid, o->arena, &o->numbered, st)) return st->code;
    problem.demand = &o->numbered;
    if (add_strategies(o, &problem, o->grid.rank, false, st)) return st->code;
    if (o->time_only && add_strategy(o, &problem, o->grid.rank, "tile:time", st)) return st->code;
    return add_embedding(o, &problem, o->grid.rank, st);
}

/* What the search of all mappings has found, where the bound is from one. */
static enum fc_code add_exact(struct fc_optimizer *o, struct fc_status *st)
{
    uint32_t used[FC_EXACT_MOST] = {0};
    if (!o->bound.has_mapping || !pays(o, o->tasks.n, o->budget / 2)) return FC_OK;
    fc_optimizer_spend(o, o->tasks.n + o->measuring);
    struct fc_start *start = fc_optimizer_add(o, "all mappings", st);
    if (!start) return st->code;
    for (uint32_t t = 0; t < o->tasks.n; t++)
        start->slot[t] = o->bound.place[t] * o->slots->per_node + used[o->bound.place[t]]++;
    drop_repeated(o);
    return FC_OK;
}

enum fc_code fc_optimizer_starts(struct fc_optimizer *o, struct fc_status *st)
{
    if (add_strategies(o, o->problem, NULL, false, st) || add_on_found_grid(o, st) || add_spread(o, st) ||
        add_singles(o, st) || add_exact(o, st))
        return st->code;
    return o->time_only ? add_strategy(o, o->problem, NULL, "tile:time", st) : FC_OK;
}

void fc_optimizer_drop_singles(struct fc_optimizer *o)
{
    int n = 0;
    for (int i = 0; i < o->n_starts; i++)
        if (o->start[i].name != singles || o->start[i].time_s <= fc_optimizer_enough(o)) o->start[n++] = o->start[i];
    o->n_starts = n;
}

enum fc_code fc_optimizer_costly_starts(struct fc_optimizer *o, struct fc_status *st)
{
    fc_progress_show(o->problem->progress, 0.01, "named strategies");
    if (add_strategies(o, o->problem, NULL, true, st)) return st->code;
    fc_progress_show(o->problem->progress, 0.02, "distances");
    uint64_t most = o->budget / 8;
    if (fc_distances_all(&o->sites, most, o->arena, &o->table, st)) return st->code;
    fc_optimizer_spend(o, o->table.work < 2 * most ? o->table.work : 2 * most);
    if (!o->table.distance || fc_optimizer_stopped(o)) return FC_OK;
    fc_progress_show(o->problem->progress, 0.05, "bisections");
    if (add_bisection(o, st)) return st->code;
    return o->tasks.n <= SMALL_JOB ? add_annealed(o, st) : FC_OK;
}
