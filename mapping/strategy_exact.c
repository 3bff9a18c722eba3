/* strategy_exact.c - the best mapping of a small job, with its proof: of least longest link time, or of least
 * hop-bytes.
 *
 * The time is searched by branch and bound on the routing's fixed splits (exact_load.c), hop-bytes by branch and
 * bound (exact_hop_search.c) and then by GLPK (exact_hops.c). All start from the best of many descents, know the
 * bounds of mapping_bound.c and say what they proved when the budget ends: the greatest value that no mapping is
 * under. Adaptive routing: the time is that of even splits, which no bound of the adaptive time follows from.
 * Limits: FC_EXACT_MOST tasks and nodes, and MOST_HOP_CELLS pairs of both for hop-bytes. */
#include "mapping/bound.h"
#include "mapping/exact.h"
#include "mapping/map_build.h"
#include "mapping/work.h"

#include <math.h>
#include <string.h>

enum { MOST_HOP_CELLS = 144 }; /* tasks x nodes: 12 x 12 */
static const double work_per_s = 1e8;

static enum fc_code check_size(const struct fc_slots *slots, uint32_t n_tasks, bool hops, struct fc_status *st)
{
    if (n_tasks > FC_EXACT_MOST || slots->n_nodes > FC_EXACT_MOST)
        return fc_refuse(st, FC_INPUT,
                         "strategy exact: %u tasks on %u nodes are too many to prove the best mapping of (at most %d "
                         "tasks and %d nodes; --nodes allows fewer nodes)",
                         n_tasks, slots->n_nodes, FC_EXACT_MOST, FC_EXACT_MOST);
    if (hops && n_tasks * slots->n_nodes > MOST_HOP_CELLS)
        return fc_refuse(st, FC_INPUT,
                         "strategy exact:hops: %u tasks on %u nodes are too many (at most %d task-node pairs, e.g. 12 "
                         "tasks on 12 nodes)",
                         n_tasks, slots->n_nodes, MOST_HOP_CELLS);
    return FC_OK;
}

/* Sets what is proven of the mapping. */
static void note_proof(const struct fc_map_problem *problem, const struct fc_exact_answer *answer, bool hops,
                       struct fc_mapping *mapping)
{
    const struct fc_machine *machine = problem->net->machine;
    mapping->proof = (struct fc_map_proof){
        .objective = hops ? "hop-bytes" : "time",
        .even_splits = !hops && machine->routing->adaptive,
        .value = answer->value,
        .bound = answer->bound,
        .proven = answer->proven,
    };
}

static enum fc_code solve(const struct fc_map_problem *problem, const struct fc_slots *slots, bool hops,
                          struct fc_mapping *mapping, struct fc_status *st)
{
    const struct fc_machine *machine = problem->net->machine;
    struct fc_sites sites = {problem->net,   machine->routing, slots->node,
                             slots->n_nodes, slots->per_node,  problem->background_bytes_per_s,
                             false};
    struct fc_map_bound least;
    struct fc_exact_job *job = fc_alloc(&mapping->arena, 1, sizeof *job, st);
    struct fc_exact_answer answer;
    uint64_t budget = (uint64_t)(fmin(problem->time_s, 1e6) * work_per_s);
    uint64_t beside = (uint64_t)((double)(fc_bound_work(problem) + fc_load_work(problem)) * work_per_s / FC_WORK_PER_S);
    if (!problem->starts_free) budget -= beside < budget / 2 ? beside : budget / 2;
    if (!job || fc_mapping_bound_of_sets(problem, &least, st) ||
        fc_exact_job_start(&sites, problem->demand, &mapping->arena, job, st))
        return st->code;
    if (!problem->starts_free) job->descent_work = budget / 4 + 1;
    double least_s = isnan(least.time_s) ? 0 : least.time_s;
    if (hops ? fc_exact_hops(job, budget, problem->seed, &answer, st)
             : fc_exact_load(job, least_s, budget, problem->seed, &answer, st))
        return st->code;
    uint32_t used[FC_EXACT_MOST] = {0};
    for (uint32_t t = 0; t < job->n_tasks; t++)
        fc_map_put_slot(mapping, slots, t, (uint64_t)answer.node[t] * slots->per_node + used[answer.node[t]]++);
    note_proof(problem, &answer, hops, mapping);
    return FC_OK;
}

static enum fc_code map(const struct fc_map_problem *problem, struct fc_mapping *mapping, struct fc_status *st)
{
    struct fc_slots slots;
    bool hops = problem->argument && !strcmp(problem->argument, "hops");
    if (problem->argument && !hops && strcmp(problem->argument, "time"))
        return fc_refuse(st, FC_INPUT, "strategy exact: unknown objective '%.40s' (expected time or hops)",
                         problem->argument);
    if (fc_map_start(problem, mapping, &slots, st) || check_size(&slots, mapping->n_tasks, hops, st)) return st->code;
    return solve(problem, &slots, hops, mapping, st);
}

const struct fc_strategy_ops fc_strategy_exact = {
    .name = "exact",
    .help = "the proven best mapping of up to 16 tasks on 16 nodes: of least time, or exact:hops of least hop-bytes",
    .source = "branch and bound; Gilmore-Lawler; Adams & Johnson, DIMACS Series 16 (1994), by GLPK",
    .option = "time or hops",
    .map = map,
    .searches = true,
};
