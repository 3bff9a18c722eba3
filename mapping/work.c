/* work.c - prices of the parts of a run, in link updates: sums of sizes times constants that were measured on every
 * shipped machine with stencils, multicasts and graphs of up to 2.5 million messages (tests/bench_map_time.c holds them
 * against the clock). They are above what was measured on a quiet core in most cases, by up to three times. */
#include "mapping/work.h"

#include <math.h>
#include <string.h>

uint64_t fc_work_of_s(double time_s)
{
    return time_s > 0 ? (uint64_t)(fmin(time_s, 1e6) * FC_WORK_PER_S) : 0;
}

uint64_t fc_strategy_work(const struct fc_map_problem *p, const char *name)
{
    size_t n = strcspn(name, ":");
    struct fc_map_problem with = *p;
    with.argument = name[n] ? name + n + 1 : NULL;
    for (const struct fc_strategy_ops *const *s = fc_strategies; *s; s++)
        if (!strncmp((*s)->name, name, n) && (*s)->name[n] == 0)
            return (uint64_t)(10.0 * p->demand->n_tasks + p->net->n_nodes + ((*s)->work ? (*s)->work(&with) : 0));
    return 0;
}

/* Under a budget no more than an eighth of it. */
uint64_t fc_grid_find_work(const struct fc_map_problem *p)
{
    const struct fc_demand *d = p->demand;
    double work = 40.0 * (double)d->n_entries + fmin(5e6, 2500.0 * d->n_tasks);
    bool counted = p->time_s > 0 && !p->starts_free;
    if (d->n_grid > 0 || d->n_dense > 0 || (counted && work > (double)fc_work_of_s(p->time_s) / 8)) return 0;
    return (uint64_t)work;
}

/* Partners sorted, the table of a grid's surfaces, levels of links; a small job's search (mapping_bound.c). */
uint64_t fc_bound_work(const struct fc_map_problem *p)
{
    const struct fc_demand *d = p->demand;
    double grid = d->n_grid > 0 ? fmin(5e6, 2500.0 * d->n_tasks) : 0;
    return (uint64_t)(20.0 * (double)d->n_entries + 40.0 * d->n_tasks + 6.0 * p->net->n_links + grid) +
           fc_grid_find_work(p);
}

enum { MOST_WALK = 4096 }; /* links of a route that are looked at for a price */

/* Links of a route under the machine's routing, the mean of 64; no more than 64, as longer ones are summed by bundles. */
static double mean_route(const struct fc_map_problem *p)
{
    const struct fc_routing_ops *r = p->net->machine->routing;
    struct fc_walk walk;
    struct fc_status st = {0};
    double links = 0;
    if (r->walk_capacity(p->net) > MOST_WALK || fc_walk_start(&walk, r->walk_capacity(p->net), &st)) return 64;
    for (uint64_t i = 0; i < 64; i++) {
        uint32_t a = (uint32_t)fc_random_below(1, 0x776f726b, 2 * i, p->net->n_nodes),
                 b = (uint32_t)fc_random_below(1, 0x776f726b, 2 * i + 1, p->net->n_nodes);
        walk.n = 0;
        if (a != b) r->walk(p->net, a, b, 1, &walk);
        links += walk.n / 64.0;
    }
    fc_walk_free(&walk);
    return fmin(links, 64);
}

/* The adaptive split of a torus sends chunks in rounds, at most 15 million visits (adaptive_split.c). */
static double adaptive_work(const struct fc_map_problem *p, double links)
{
    double entries = (double)p->demand->n_entries;
    double share = p->split_share > 0 ? p->split_share : 1;
    return share * (fmin(32 * entries * links, 4e6) + fmin(1280 * entries * links, 1.5e7) + fmin(20 * entries, 6e6)) +
           2 * entries * (links + 1);
}

uint64_t fc_load_work(const struct fc_map_problem *p)
{
    const struct fc_routing_ops *r = p->net->machine->routing;
    double entries = (double)p->demand->n_entries, work;
    if (r->adaptive && r->n_components)
        work = fc_adaptive_torus_takes(p->net) ? adaptive_work(p, mean_route(p)) : 95 * entries; /* a mixture */
    else
        work = entries * (r->sparse ? 10 : 5 + 1.2 * mean_route(p));
    double dense = p->demand->n_dense * 10.0 * p->net->n_links;
    return (uint64_t)(work + dense + 4.0 * p->demand->n_tasks + 2.0 * p->net->n_links);
}
