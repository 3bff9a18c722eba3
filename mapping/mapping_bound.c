/* mapping_bound.c - the bound of a mapping problem: no mapping of the tasks onto the allowed nodes moves the
 * traffic in less; all parts but the last hold whatever the routing.
 *
 * T >= the greatest of
 *   - heaviest task: (bytes of a task beyond its heaviest partners) / (bandwidth of its unit), every level;
 *   - all tasks: (sum over tasks of the same) / (bandwidth of all units), every level (bound_partners.c);
 *   - grid surface: tasks * (least surface of a task in a unit) / (bandwidth of all units), every level, where
 *     the traffic has a grid (bound_grid.c);
 *   - grid surface of one: (least surface of the set in the fullest unit) / (bandwidth of a unit), every level: what
 *     counts where most units may stay empty;
 *   - ring surface: the same where all tasks exchange bytes with their nearest on a ring (bound_ring.c);
 *   - hops: (least bytes times hops) / (bandwidth of all links) (bound_hops.c);
 *   - heaviest message: what one message that must leave its node takes, under a routing of fixed shares
 *     (bound_message.c);
 *   - all mappings: what branch and bound proves of FC_EXACT_MOST tasks and nodes and fewer under a routing of fixed
 *     splits, in about a tenth of a second (exact_load.c): the least time itself up to some 10 of them.
 * Levels are those of bound_levels.c. Where loads come in portions of p bytes (bound_message.c) and all n links of a
 * level have the rate r, some link carries at least bytes / n, and so the next multiple of p, which takes that over r.
 * Payload bytes become wire bytes by the least factor of any message.
 * Limits: a bound of 0 says nothing and counts as none; background traffic is left out. */
#include "mapping/bound.h"
#include "mapping/exact.h"
#include "mapping/grid_find.h"
#include "mapping/map_build.h"
#include "mapping/work.h"

#include <math.h>
#include <string.h>

static const uint64_t small_work = 10000000; /* link updates */

static void raise(struct fc_map_bound *bound, double bytes, double bytes_per_s, const char *argument, const char *level)
{
    if (!(bytes > 0) || !(bytes_per_s > 0)) return;
    double time_s = bytes / bytes_per_s;
    if (!(time_s > bound->time_s * (1 + 1e-12))) return; /* of equal ones the first */
    bound->time_s = time_s;
    snprintf(bound->binds, sizeof bound->binds, "%.20s%s%.39s", argument, level ? ", " : "", level ? level : "");
}

/* The same for bytes over the links of a level, `bytes_per_s` together: the busiest carries whole portions. */
static void raise_by_links(struct fc_map_bound *bound, double bytes, double bytes_per_s, double portion,
                           const char *argument, const struct fc_cut_level *level)
{
    if (portion > 0 && level->rate > 0 && bytes > 0 && bytes_per_s > 0) {
        double n = bytes_per_s / level->rate, each = bytes / n;
        raise(bound, portion * ceil(each / portion - 1e-9), level->rate, argument, level->name);
    }
    raise(bound, bytes, bytes_per_s, argument, level->name);
}

static void level_bounds(const struct fc_cut_level *level, const struct fc_partners *partners,
                         const struct fc_grid_surface *grid, const struct fc_ring_surface *ring, double portion,
                         struct fc_map_bound *bound)
{
    double heaviest[2], all[2];
    for (int in = 0; in < 2; in++) all[in] = fc_partners_beyond(partners, level->most - 1, in, &heaviest[in]);
    raise_by_links(bound, heaviest[0], level->widest_out, portion, "heaviest task", level);
    raise_by_links(bound, heaviest[1], level->widest_in, portion, "heaviest task", level);
    raise_by_links(bound, all[0], level->out, portion, "all tasks", level);
    raise_by_links(bound, all[1], level->in, portion, "all tasks", level);
    double ring_bytes = partners->n * fc_ring_leaving(ring, level->most);
    raise_by_links(bound, ring_bytes, fmin(level->out, level->in), portion, "ring surface", level);
    if (level->nodes) bound->between_nodes = fmax(fmax(all[0], all[1]), ring_bytes);
    if (!grid->leaving || (isinf(fmin(level->out, level->in)) && !level->nodes)) return;
    double bytes = partners->n * fc_grid_leaving(grid, level->least, level->most);
    if (level->nodes) bound->between_nodes = fmax(bound->between_nodes, bytes);
    raise_by_links(bound, bytes, fmin(level->out, level->in), portion, "grid surface", level);
    bytes = fc_grid_surface_of_one(grid, level->fullest, level->most);
    raise_by_links(bound, bytes, fmin(level->widest_out, level->widest_in), portion, "grid surface of one", level);
}

/* Wire bytes a payload byte of the message that has least; 1 without messages. O(entries). */
static double least_wire_factor(const struct fc_machine *machine, const struct fc_demand *d)
{
    double least = INFINITY, last = NAN;
    for (size_t e = 0; e < d->n_entries; e++) {
        if (d->src[e] == d->dst[e] || !(d->bytes[e] > 0)) continue;
        double each = d->messages[e] > 0 ? d->bytes[e] / d->messages[e] : 0;
        if (each == last) continue;
        last = each;
        least = fmin(least, each > 0 ? fc_wire_bytes(machine, each) / each : 1);
    }
    for (int i = 0; i < d->n_dense; i++) {
        double each = d->dense[i].message_bytes;
        least = fmin(least, each > 0 ? fc_wire_bytes(machine, each) / each : 1);
    }
    return isfinite(least) ? least : 1;
}

/* Links of routes that may be looked at: a share of what the job costs anyway, or of the budget. */
static double most_routes(const struct fc_map_problem *problem)
{
    double most = fmax(4e6, fmin(64e6, 100.0 * (double)problem->demand->n_entries));
    if (problem->time_s > 0 && !problem->starts_free) most = fmin(most, (double)fc_work_of_s(problem->time_s) / 8);
    return most;
}

/* The surface of the job's grid, its own or one found among its messages. */
static enum fc_code find_surface(const struct fc_map_problem *problem, const struct fc_unit_graph *tasks,
                                 const uint32_t *identity, struct fc_arena *arena, struct fc_grid_surface *surface,
                                 struct fc_status *st)
{
    struct fc_found_grid found = {0};
    struct fc_demand numbered;
    struct fc_unit_graph in_order;
    if (fc_grid_find_work(problem) > 0 && fc_grid_find(tasks, arena, &found, st)) return st->code;
    if (found.n == 0) return fc_grid_surface_start(problem->demand, tasks, arena, surface, st);
    if (fc_grid_demand(problem->demand, &found, arena, &numbered, st) ||
        fc_unit_graph_build(&numbered, identity, tasks->n, arena, &in_order, st))
        return st->code;
    return fc_grid_surface_start(&numbered, &in_order, arena, surface, st);
}

static enum fc_code find_bound(const struct fc_map_problem *problem, const struct fc_sites *sites,
                               struct fc_arena *arena, struct fc_map_bound *bound, struct fc_status *st)
{
    const struct fc_demand *demand = problem->demand;
    struct fc_unit_graph tasks;
    struct fc_partners partners;
    struct fc_grid_surface grid;
    struct fc_ring_surface ring = {0};
    struct fc_cut_level level[FC_MOST_CUT_LEVELS];
    struct fc_message_bound message;
    int n_levels;
    double hops_s;
    uint32_t *identity = fc_alloc(arena, demand->n_tasks, sizeof *identity, st);
    if (!identity) return st->code;
    for (uint32_t t = 0; t < demand->n_tasks; t++) identity[t] = t;
    if (fc_unit_graph_build(demand, identity, demand->n_tasks, arena, &tasks, st) ||
        fc_partners_start(demand, &tasks, arena, &partners, st) ||
        find_surface(problem, &tasks, identity, arena, &grid, st) ||
        fc_cut_levels(sites, demand->n_tasks, level, &n_levels, st) || fc_hop_bound(sites, &partners, &hops_s, st) ||
        fc_message_bound(sites, &tasks, most_routes(problem), &message, st))
        return st->code;
    if (demand->n_dense > 0) message.portion = 0;
    if (!grid.leaving) ring = fc_ring_surface_find(&tasks);
    for (int i = 0; i < n_levels; i++) level_bounds(&level[i], &partners, &grid, &ring, message.portion, bound);
    raise(bound, hops_s, 1, "hops", NULL);
    raise(bound, message.time_s, 1, "heaviest message", NULL);
    bound->payload_s = bound->time_s;
    bound->time_s *= least_wire_factor(sites->net->machine, demand);
    return FC_OK;
}

enum fc_code fc_mapping_bound_of_sets(const struct fc_map_problem *problem, struct fc_map_bound *bound,
                                      struct fc_status *st)
{
    struct fc_mapping scratch = {0};
    struct fc_slots slots;
    *bound = (struct fc_map_bound){0};
    if (!fc_map_start(problem, &scratch, &slots, st) && problem->demand->n_tasks > 0) { /* too many tasks: refused */
        struct fc_sites sites = {problem->net,   problem->net->machine->routing,  slots.node, slots.n_nodes,
                                 slots.per_node, problem->background_bytes_per_s, false};
        find_bound(problem, &sites, &scratch.arena, bound, st);
    }
    if (bound->time_s == 0) bound->time_s = NAN;
    fc_mapping_free(&scratch);
    return st->code;
}

/* What a search of all mappings proves in `small_work`. Nodes without a route between them are left to others. */
static enum fc_code raise_small(const struct fc_map_problem *problem, const struct fc_slots *slots,
                                struct fc_arena *arena, struct fc_map_bound *bound, struct fc_status *st)
{
    struct fc_sites sites = {problem->net,    problem->net->machine->routing,  slots->node, slots->n_nodes,
                             slots->per_node, problem->background_bytes_per_s, false};
    struct fc_exact_job *job = fc_alloc(arena, 1, sizeof *job, st);
    struct fc_exact_answer answer;
    struct fc_status why = {0};
    double least_s = isnan(bound->time_s) ? 0 : bound->time_s;
    if (!job) return st->code;
    if (fc_exact_job_start(&sites, problem->demand, arena, job, &why))
        return why.code == FC_NO ? FC_OK : fc_refuse(st, why.code, "%s", why.message);
    uint64_t work = small_work;
    if (problem->time_s > 0 && !problem->starts_free) { /* under a budget no more than an eighth of it */
        uint64_t eighth = fc_work_of_s(problem->time_s) / 8 + 1;
        work = eighth < work ? eighth : work;
        job->descent_work = work;
    }
    if (fc_exact_load(job, least_s, work, 1, &answer, st)) return st->code;
    bound->has_mapping = true;
    memcpy(bound->place, answer.node, sizeof bound->place);
    if (!(answer.bound > least_s * (1 + 1e-9))) return FC_OK;
    bound->time_s = answer.bound;
    bound->payload_s = fmax(bound->payload_s, answer.bound / job->most_wire);
    snprintf(bound->binds, sizeof bound->binds, "%s", answer.proven ? "all mappings" : "all mappings, in part");
    return FC_OK;
}

enum fc_code fc_mapping_bound(const struct fc_map_problem *problem, struct fc_map_bound *bound, struct fc_status *st)
{
    struct fc_mapping scratch = {0};
    struct fc_slots slots;
    if (fc_mapping_bound_of_sets(problem, bound, st)) return st->code;
    if (problem->demand->n_tasks <= FC_EXACT_MOST && problem->demand->n_tasks > 0 &&
        !problem->net->machine->routing->adaptive && !fc_map_start(problem, &scratch, &slots, st) &&
        slots.n_nodes <= FC_EXACT_MOST)
        raise_small(problem, &slots, &scratch.arena, bound, st);
    fc_mapping_free(&scratch);
    return st->code;
}
