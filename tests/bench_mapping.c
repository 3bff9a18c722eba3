/* bench_mapping.c - what mapping costs: moves that the search decides a CPU second (best of three) on torus
 * jobs, and CPU seconds of every named strategy on the two large PERCS jobs and on the largest torus, each
 * beside its goal as a ratio (below 1 = met). Not a test: machines differ. `make bench` */
#include "mapping/search.h"
#include "tests/yardstick.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double goal_moves_per_s = 1e6;
enum { RUNS = 3, WORK = 40000000 };

static enum fc_code load_torus(struct fc_machine *machine, struct fc_status *st)
{
    static const char yaml[] =
        "name: t\nnetwork: {family: torus, dims: [16, 16, 16]}\nlinks: {torus: {bandwidth: 1 GB/s}}\n"
        "router: {delay: 1 us, routing: dimension-order}\n";
    char path[] = "/tmp/fabricast-bench-XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    if (fd < 0) return fc_refuse(st, FC_FAULT, "%s cannot be written", path);
    bool whole = write(fd, yaml, strlen(yaml)) == (ssize_t)strlen(yaml);
    if (close(fd) || !whole)
        fc_refuse(st, FC_FAULT, "%s cannot be written", path);
    else
        fc_machine_load(path, machine, st);
    unlink(path);
    return st->code;
}

/* Moves decided a CPU second by a search that starts from the mapping. */
static enum fc_code rate_of(const struct fc_map_problem *problem, const char *strategy, double *moves_per_s,
                            struct fc_status *st)
{
    struct fc_mapping mapping, room = {0};
    struct fc_slots slots;
    struct fc_unit_graph graph = {0};
    struct fc_routes routes;
    struct fc_search search;
    uint32_t n = problem->demand->n_tasks;
    if (fc_mapping_make(problem, strategy, &mapping, st) || fc_map_start(problem, &room, &slots, st)) return st->code;
    uint32_t *unit = fc_alloc(&room.arena, n, sizeof *unit, st);
    if (!unit) return st->code;
    for (uint32_t t = 0; t < n; t++) unit[t] = t;
    struct fc_sites sites = {
        problem->net, problem->net->machine->routing, slots.node, slots.n_nodes, slots.per_node, NULL, false};
    if (fc_unit_graph_build(problem->demand, unit, n, &room.arena, &graph, st) ||
        fc_routes_make(&sites, WORK, &routes, st))
        return st->code;
    *moves_per_s = 0;
    for (uint64_t r = 0; r < RUNS; r++) {
        struct fc_search_settings settings = {.start_temperature = 0.02 / n,
                                              .end_temperature = 0.002 / n,
                                              .doublings = 5,
                                              .hop_weight = 1,
                                              .work = WORK,
                                              .seed = 1,
                                              .stream = 10 * r};
        if (fc_search_start(&sites, &routes, &graph, mapping.core, &search, st)) break;
        double start = fc_cpu_s();
        fc_search_run(&search, &settings);
        double rate = (double)search.n_evaluated / (fc_cpu_s() - start);
        if (rate > *moves_per_s) *moves_per_s = rate;
        fc_search_free(&search);
    }
    fc_routes_free(&routes);
    fc_mapping_free(&mapping);
    fc_mapping_free(&room);
    return st->code;
}

static enum fc_code rates(struct fc_status *st)
{
    static const char *const jobs[][2] = {{"stencil2d:grid=64x64,bytes=1", "fold"},
                                          {"stencil2d:grid=64x64,bytes=1", "scotch"},
                                          {"stencil3d:grid=16x16x16,bytes=1", "scotch"}};
    struct fc_machine machine;
    struct fc_network net;
    if (load_torus(&machine, st) || fc_network_build(&machine, &net, st)) return st->code;
    printf("%-56s %12s %12s %7s\n", "search on a 16x16x16 torus, one core", "moves a s", "goal", "ratio");
    for (size_t i = 0; i < FC_COUNT(jobs); i++) {
        struct fc_demand demand;
        double rate = 0;
        char what[64];
        if (fc_demand_from_pattern(&net, jobs[i][0], 1, &demand, st)) return st->code;
        struct fc_map_problem problem = {.net = &net, .demand = &demand, .seed = 1, .threads = 1};
        if (rate_of(&problem, jobs[i][1], &rate, st)) return st->code;
        snprintf(what, sizeof what, "%s from %s", jobs[i][0], jobs[i][1]);
        printf("%-56s %12.4g %12.4g %7.2f\n", what, rate, goal_moves_per_s, goal_moves_per_s / rate);
        fc_demand_free(&demand);
    }
    fc_network_free(&net);
    fc_machine_free(&machine);
    return FC_OK;
}

static enum fc_code strategies(const char *name, const char *pattern, double goal_s, struct fc_status *st)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    if (fc_machine_load(name, &machine, st) || fc_network_build(&machine, &net, st) ||
        fc_demand_from_pattern(&net, pattern, 1, &demand, st))
        return st->code;
    for (int i = 0; fc_strategies[i]; i++) {
        struct fc_map_problem problem = {.net = &net, .demand = &demand, .seed = 1, .threads = 1};
        struct fc_mapping mapping;
        struct fc_status why = {0};
        char what[64];
        double start = fc_cpu_s();
        if (fc_strategies[i]->argument || !strcmp(fc_strategies[i]->name, "optimize") ||
            !strcmp(fc_strategies[i]->name, "exact"))
            continue;
        if (fc_mapping_make(&problem, fc_strategies[i]->name, &mapping, &why)) {
            if (why.code != FC_INPUT) return fc_refuse(st, why.code, "%s", why.message);
            continue;
        }
        double spent = fc_cpu_s() - start;
        fc_mapping_free(&mapping);
        snprintf(what, sizeof what, "%s, %u tasks: %s", name, demand.n_tasks, fc_strategies[i]->name);
        printf("%-56s %12.3f %12.3g %7.2f\n", what, spent, goal_s, spent / goal_s);
    }
    fc_demand_free(&demand);
    fc_network_free(&net);
    fc_machine_free(&machine);
    return FC_OK;
}

int main(void)
{
    static const char large[] = "stencil4d:grid=16x16x16x16,bytes=1MiB";
    struct fc_status st = {0};
    yard_print();
    if (!rates(&st)) printf("%-56s %12s %12s %7s\n", "a named strategy, 4D stencil", "CPU s", "goal s", "ratio");
    if (!st.code) strategies("percs-64", large, 1, &st);
    if (!st.code) strategies("bgl-64k", large, 1, &st);
    if (!st.code) strategies("percs-300", "stencil4d:grid=16x16x16x75,bytes=1MiB", 5, &st);
    if (st.code) printf("%s\n", st.message);
    return st.code != FC_OK;
}
