/* test_exact.c - the strategy exact against all mappings of eight tasks on every family, a published optimum, the
 * symmetries that it may use, what it says when the work does not suffice, and what it refuses. */
#include "mapping/bound.h"
#include "mapping/exact.h"
#include "mapping/map_build.h"
#include "models/demand_build.h"
#include "tests/network_checks.h"
#include "tests/support.h"

#include <string.h>

#define END "\nnode: {cores: 1}\n"
#define TORUS(shape)                                                                                                   \
    "name: t\nnetwork: {family: torus, dims: " shape "}\nlinks: {torus: {bandwidth: 1 GB/s}}\n"                        \
    "router: {routing: dimension-order}" END
#define MESH(shape) "name: m\nnetwork: {family: mesh, dims: " shape "}\nlinks: {mesh: {bandwidth: 1 GB/s}}" END
#define TREE(shape)                                                                                                    \
    "name: f\nnetwork: {family: fat-tree, " shape "}\n"                                                                \
    "links: {leaf: {bandwidth: 2 GB/s}, up: {bandwidth: 1 GB/s}}" END
#define LEVELS(shape)                                                                                                  \
    "name: l\nnetwork: {family: two-level, " shape "}\n"                                                               \
    "links: {ll: {bandwidth: 3 GB/s}, lr: {bandwidth: 2 GB/s}, d: {bandwidth: 1 GB/s}}" END

/* Eight nodes each. */
static const char *const eight[] = {
    TORUS("[8]"),
    TORUS("[4, 2]"),
    TORUS("[4], nodes_per_router: 2"),
    MESH("[4, 2]"),
    TREE("children: [2, 4], parents: [1, 2]"),
    TREE("children: [2, 2, 2], parents: [1, 1, 2]"),
    LEVELS("supernodes: 2, drawers: 2, nodes_per_drawer: 2"),
    LEVELS("supernodes: 4, nodes_per_drawer: 2"),
    "name: c\nnetwork: {family: tmesh, dims: [2], mesh: [2, 3], bridges: {x-: 0, x+: 5}}\n"
    "links: {torus: {bandwidth: 1 GB/s}, mesh: {bandwidth: 2 GB/s}}" END,
    "name: g\nnetwork: {family: graph, file: %s, format: edge-list}\nlinks: {link: {bandwidth: 1 GB/s}}" END,
};
/* A ring of six switches with a chord; two of them have two nodes. */
static const char chord[] = "router s0 router s1\nrouter s1 router s2\nrouter s2 router s3\nrouter s3 router s4\n"
                            "router s4 router s5\nrouter s5 router s0\nrouter s0 router s2\n"
                            "node n0 router s0\nnode n1 router s1\nnode n2 router s2\nnode n3 router s3\n"
                            "node n4 router s4\nnode n5 router s5\nnode n6 router s5\nnode n7 router s0\n";

static bool open_network(const char *yaml, const char *graph, struct fc_machine *machine, struct fc_network *net)
{
    char text[2048], path[64];
    if (!strstr(yaml, "%s")) return fc_test_network(yaml, machine, net);
    if (!fc_test_file(path, ".txt", graph, strlen(graph))) return false;
    snprintf(text, sizeof text, yaml, path);
    bool opened = fc_test_network(text, machine, net);
    unlink(path);
    return opened;
}

/* Random messages between n tasks, about half of them none. */
static void random_demand(uint32_t n, uint64_t seed, struct fc_demand *d)
{
    struct fc_status st = {0};
    uint64_t draw = 0;
    CU_ASSERT_EQUAL_FATAL(fc_demand_start(d, n, n * (n - 1), &st), FC_OK);
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t t = 0; t < n; t++) {
            uint64_t bytes = fc_random_below(seed, 3, draw++, 18);
            if (s != t && bytes >= 9) fc_demand_add(d, s, t, 1000.0 * (double)(bytes - 8));
        }
}

/* ---- all mappings ---- */

struct least {
    const struct fc_exact_job *job;
    double time_s, hop_bytes, *load_s;
    uint32_t node[FC_EXACT_MOST], used[FC_EXACT_MOST];
};

static void try_all(struct least *all, uint32_t task)
{
    if (task == all->job->n_tasks) {
        all->time_s = fmin(all->time_s, fc_exact_time_s(all->job, all->node, all->load_s));
        all->hop_bytes = fmin(all->hop_bytes, fc_exact_hop_bytes(all->job, all->node));
        return;
    }
    for (uint32_t v = 0; v < all->job->n_nodes; v++) {
        if (all->used[v] == all->job->capacity[v]) continue;
        all->used[v]++;
        all->node[task] = v;
        try_all(all, task + 1);
        all->used[v]--;
    }
}

/* What the solver says of the mapping. */
static void measure(const struct fc_network *net, const struct fc_demand *d, const struct fc_mapping *m, double *time_s,
                    double *hop_bytes)
{
    struct fc_placement placement = {d->n_tasks, m->node};
    struct fc_load_settings settings = {.threads = 1};
    struct fc_load load;
    struct fc_load_summary summary;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_load_solve(net, d, &placement, &settings, &load, &st), FC_OK);
    fc_load_summarise(net, &load, &settings, &summary);
    *time_s = summary.max_link_s;
    *hop_bytes = load.hop_bytes;
    fc_load_free(&load);
}

static void check_strategy(const struct fc_network *net, const struct fc_demand *d, const char *name, double time_s,
                           double hop_bytes)
{
    struct fc_mapping m;
    struct fc_status st = {0};
    struct fc_map_problem problem = {.net = net, .demand = d, .seed = 1, .time_s = 30, .threads = 1};
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, name, &m, &st), FC_OK);
    double found_s, found_hops, value = strstr(name, "hops") ? hop_bytes : time_s;
    measure(net, d, &m, &found_s, &found_hops);
    CU_ASSERT(m.proof.proven && m.proof.bound == m.proof.value);
    CU_ASSERT(fc_near(m.proof.value, value, 1e-9));
    CU_ASSERT(fc_near(strstr(name, "hops") ? found_hops : found_s, value, 1e-9));
    if (!fc_near(m.proof.value, value, 1e-9))
        printf("\n    %s %s: %.10g, of all mappings %.10g\n", net->machine->name, name, m.proof.value, value);
    fc_mapping_free(&m);
}

/* GLPK alone, from a mapping as good as any descent finds. */
static void check_program(const struct fc_exact_job *job, double hop_bytes)
{
    struct fc_exact_answer answer = {0};
    struct fc_status st = {0};
    fc_exact_descend(job, 7, NULL, &answer);
    CU_ASSERT_EQUAL_FATAL(fc_exact_hop_program(job, 3000000000, &answer, &st), FC_OK);
    CU_ASSERT(answer.proven && fc_near(answer.value, hop_bytes, 1e-9) && answer.bound == answer.value);
    fc_exact_descend(job, 7, NULL, &answer);
    answer.bound = 0;
    CU_ASSERT_EQUAL_FATAL(fc_exact_hop_program(job, 1, &answer, &st), FC_OK);
    CU_ASSERT(answer.bound > 0 && answer.bound <= hop_bytes);
}

static void test_all_mappings(void)
{
    for (size_t i = 0; i < FC_COUNT(eight); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand d = {0};
        struct fc_arena arena = {0};
        struct fc_exact_job job;
        struct fc_map_bound bound;
        struct fc_status st = {0};
        uint32_t nodes[FC_EXACT_MOST];
        if (!open_network(eight[i], chord, &machine, &net)) continue;
        CU_ASSERT_FATAL(net.n_nodes <= FC_EXACT_MOST);
        uint32_t n = net.n_nodes < 8 ? net.n_nodes : 8;
        random_demand(n > 8 ? 8 : n, i, &d);
        for (uint32_t v = 0; v < net.n_nodes; v++) nodes[v] = v;
        struct fc_sites sites = {&net, machine.routing, nodes, net.n_nodes, 1, NULL, false};
        CU_ASSERT_EQUAL_FATAL(fc_exact_job_start(&sites, &d, &arena, &job, &st), FC_OK);
        struct least all = {.job = &job, .time_s = INFINITY, .hop_bytes = INFINITY};
        all.load_s = fc_alloc(&arena, job.n_links + 1, sizeof *all.load_s, &st);
        try_all(&all, 0);
        check_strategy(&net, &d, "exact", all.time_s, all.hop_bytes);
        check_strategy(&net, &d, "exact:hops", all.time_s, all.hop_bytes);
        check_program(&job, all.hop_bytes);
        struct fc_map_problem problem = {.net = &net, .demand = &d};
        CU_ASSERT_EQUAL_FATAL(fc_mapping_bound(&problem, &bound, &st), FC_OK);
        CU_ASSERT(isnan(bound.time_s) || bound.time_s <= all.time_s * (1 + 1e-9));
        fc_arena_free(&arena);
        fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
}

/* ---- messages of many sizes, tasks that share nodes ---- */

struct measured {
    const struct fc_network *net;
    const struct fc_demand *d;
    uint32_t node[FC_EXACT_MOST], used[FC_EXACT_MOST], capacity;
    double least_s;
};

static void measure_all(struct measured *all, uint32_t task)
{
    if (task == all->d->n_tasks) {
        struct fc_mapping m = {.n_tasks = task, .node = all->node};
        double time_s, hop_bytes;
        measure(all->net, all->d, &m, &time_s, &hop_bytes);
        all->least_s = fmin(all->least_s, time_s);
        return;
    }
    for (uint32_t v = 0; v < all->net->n_nodes; v++) {
        if (all->used[v] == all->capacity) continue;
        all->used[v]++;
        all->node[task] = v;
        measure_all(all, task + 1);
        all->used[v]--;
    }
}

/* Headers weigh more on small messages, and which messages stay on a node differs between mappings: the proof is of the
 * time that the solver says, the one that a table of strategies shows. The payload's least is that of another mapping. */
static void test_headers(void)
{
    static const char yaml[] =
        "name: m\nnetwork: {family: mesh, dims: [4]}\nlinks: {mesh: {bandwidth: 1 GB/s}, injection: {bandwidth: 2 GB/s}}\n"
        "router: {delay: 1 us, routing: dimension-order}\nnode: {cores: 3}\n"
        "packet: {min: 33 B, max: 96 B, header: 32 B, trailer: 6 B}\n";
    int apart = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_mapping m;
        struct fc_demand d = {0};
        struct fc_status st = {0};
        uint32_t n = 6;
        uint64_t draw = 0;
        if (!fc_test_network(yaml, &machine, &net)) return;
        CU_ASSERT_EQUAL_FATAL(fc_demand_start(&d, n, n * (n - 1), &st), FC_OK);
        for (uint32_t s = 0; s < n; s++)
            for (uint32_t t = 0; t < n; t++)
                if (s != t && fc_random_below(seed, 9, draw++, 5) < 3)
                    fc_demand_add(&d, s, t, 20 + (double)fc_random_below(seed, 9, draw++, 300));
        struct measured all = {.net = &net, .d = &d, .capacity = 3, .least_s = INFINITY};
        measure_all(&all, 0);
        struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1, .time_s = 30, .threads = 1};
        struct fc_map_bound bound;
        double time_s, hop_bytes;
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "exact", &m, &st), FC_OK);
        measure(&net, &d, &m, &time_s, &hop_bytes);
        CU_ASSERT(m.proof.proven && fc_near(m.proof.value, all.least_s, 1e-9) && fc_near(time_s, all.least_s, 1e-9));
        CU_ASSERT_EQUAL_FATAL(fc_mapping_bound(&problem, &bound, &st), FC_OK);
        CU_ASSERT(bound.time_s <= all.least_s * (1 + 1e-9));
        struct fc_load load;
        struct fc_load_settings settings = {.threads = 1};
        struct fc_placement placement = {n, m.node};
        CU_ASSERT_EQUAL_FATAL(fc_load_solve(&net, &d, &placement, &settings, &load, &st), FC_OK);
        CU_ASSERT(bound.payload_s * load.wire_factor <= time_s * (1 + 1e-9));
        apart += load.wire_factor > load.least_wire_factor * (1 + 1e-6);
        fc_load_free(&load);
        fc_mapping_free(&m);
        fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
    CU_ASSERT(apart > 0);
}

/* ---- known optima ---- */

/* Nugent, Vollmann & Ruml, Operations Research 16 (1968), five departments: 25 both ways 50. */
static void test_published(void)
{
    static const double flow[5][5] = {
        {0, 5, 2, 4, 1}, {5, 0, 3, 0, 2}, {2, 3, 0, 0, 0}, {4, 0, 0, 0, 5}, {1, 2, 0, 5, 0}};
    static const char places[] = "router a router b\nrouter a router c\nrouter b router d\nrouter c router d\n"
                                 "router d router e\nnode 1 router a\nnode 2 router b\nnode 3 router c\n"
                                 "node 4 router d\nnode 5 router e\n";
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d = {0};
    struct fc_mapping m;
    struct fc_status st = {0};
    if (!open_network(eight[FC_COUNT(eight) - 1], places, &machine, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_demand_start(&d, 5, 20, &st), FC_OK);
    for (uint32_t s = 0; s < 5; s++)
        for (uint32_t t = 0; t < 5; t++)
            if (flow[s][t] > 0) fc_demand_add(&d, s, t, flow[s][t]);
    struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1, .time_s = 10};
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "exact:hops", &m, &st), FC_OK);
    CU_ASSERT(m.proof.proven && !strcmp(m.proof.objective, "hop-bytes"));
    CU_ASSERT(fc_near(m.proof.value, 50, 1e-9));
    fc_mapping_free(&m);
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

/* ---- symmetry ---- */

static void test_symmetry(void)
{
    static const struct {
        const char *yaml, *pattern;
        uint32_t orbits, node_twins, task_twins; /* pairs of twins */
    } cases[] = {
        {TORUS("[8]"), "stencil2d:grid=4x2", 1, 0, 0},
        {TORUS("[4, 2]"), "alltoall", 1, 0, 28}, /* all tasks are alike */
        {TORUS("[4], nodes_per_router: 2"), "alltoall", 1, 4, 28},
        {MESH("[4, 2]"), "alltoall", 2, 0, 28}, /* corners and middles */
        {MESH("[5]"), "alltoall", 3, 0, 10},    /* the middle, its neighbours, the ends */
        {"name: f\nnetwork: {family: fat-tree, children: [8], parents: [1]}\n"
         "links: {leaf: {bandwidth: 2 GB/s}}" END,
         "alltoall", 1, 28, 28},
        {TREE("children: [2, 4], parents: [1, 2]"), "alltoall", 1, 4, 28},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand d;
        struct fc_arena arena = {0};
        struct fc_exact_job job;
        struct fc_status st = {0};
        uint32_t nodes[FC_EXACT_MOST], orbits = 0, node_twins = 0, task_twins = 0;
        if (!fc_test_network(cases[i].yaml, &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, cases[i].pattern, 1, &d, &st), FC_OK);
        for (uint32_t v = 0; v < net.n_nodes; v++) nodes[v] = v;
        struct fc_sites sites = {&net, machine.routing, nodes, net.n_nodes, 1, NULL, false};
        CU_ASSERT_EQUAL_FATAL(fc_exact_job_start(&sites, &d, &arena, &job, &st), FC_OK);
        for (uint32_t v = 0; v < job.n_nodes; v++) {
            orbits += job.orbit[v] == v;
            for (uint32_t u = 0; u < v; u++) node_twins += job.node_twin[u][v];
            for (uint32_t u = 0; u < v; u++) task_twins += job.task_twin[u][v];
        }
        CU_ASSERT_EQUAL(orbits, cases[i].orbits);
        CU_ASSERT_EQUAL(node_twins, cases[i].node_twins);
        CU_ASSERT_EQUAL(task_twins, cases[i].task_twins);
        if (orbits != cases[i].orbits || node_twins != cases[i].node_twins)
            printf("\n    case %zu: %u orbits, %u and %u twins\n", i, orbits, node_twins, task_twins);
        fc_arena_free(&arena);
        fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
}

/* ---- when the work does not suffice ---- */

static void test_not_closed(void)
{
    static const char *const names[] = {"exact", "exact:hops"};
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d = {0};
    if (!fc_test_network(MESH("[5, 2]"), &machine, &net)) return;
    random_demand(10, 3, &d);
    for (int i = 0; i < 2; i++) {
        struct fc_mapping some, more, again;
        struct fc_status st = {0};
        struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1, .time_s = 2e-4};
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, names[i], &some, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, names[i], &again, &st), FC_OK);
        problem.time_s = 10;
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, names[i], &more, &st), FC_OK);
        CU_ASSERT(!some.proof.proven && some.proof.bound > 0 && some.proof.bound < some.proof.value);
        CU_ASSERT(some.proof.bound <= more.proof.value && more.proof.value <= some.proof.value);
        CU_ASSERT(more.proof.proven);
        CU_ASSERT(some.proof.bound == again.proof.bound);
        CU_ASSERT(!memcmp(some.core, again.core, 10 * sizeof *some.core));
        fc_mapping_free(&some);
        fc_mapping_free(&more);
        fc_mapping_free(&again);
    }
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

/* ---- places, cores, refusals ---- */

/* Two tasks a node, and only some nodes: four pairs that talk within and hardly between. */
static void test_capacity(void)
{
    static const uint32_t nodes[] = {7, 2, 3, 6};
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d = {0};
    struct fc_status st = {0};
    if (!fc_test_network("name: t\nnetwork: {family: torus, dims: [8]}\nlinks: {torus: {bandwidth: 1 GB/s}}\n"
                         "router: {routing: dimension-order}\nnode: {cores: 2}\n",
                         &machine, &net))
        return;
    CU_ASSERT_EQUAL_FATAL(fc_demand_start(&d, 8, 16, &st), FC_OK);
    for (uint32_t t = 0; t < 8; t++) {
        fc_demand_add(&d, t, (t + 4) % 8, 1000);
        fc_demand_add(&d, t, (t + 1) % 8, 1);
    }
    struct fc_map_problem problem = {.net = &net, .demand = &d, .nodes = nodes, .n_nodes = 4, .time_s = 10};
    for (int i = 0; i < 2; i++) {
        struct fc_mapping m;
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, i ? "exact:hops" : "exact:time", &m, &st), FC_OK);
        CU_ASSERT(m.proof.proven);
        for (uint32_t t = 0; t < 4; t++) CU_ASSERT(m.node[t] == m.node[t + 4] && m.core[t] != m.core[t + 4]);
        for (uint32_t t = 0; t < 8; t++)
            CU_ASSERT(m.node[t] == 7 || m.node[t] == 2 || m.node[t] == 3 || m.node[t] == 6);
        fc_mapping_free(&m);
    }
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

static void refuses(const char *yaml, const char *pattern, const char *strategy, enum fc_code code, const char *part)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_mapping m;
    struct fc_status st = {0};
    if (!fc_test_network(yaml, &machine, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, pattern, 1, &d, &st), FC_OK);
    struct fc_map_problem problem = {.net = &net, .demand = &d, .time_s = 1};
    CU_ASSERT_EQUAL(fc_mapping_make(&problem, strategy, &m, &st), code);
    CU_ASSERT(fc_says(&st, code, part));
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

static void test_refusals(void)
{
    refuses(TORUS("[17]"), "alltoall", "exact", FC_INPUT, "17 tasks on 17 nodes are too many");
    refuses(TORUS("[20]"), "stencil2d:grid=3x2", "exact", FC_INPUT, "6 tasks on 20 nodes are too many");
    refuses(TORUS("[13]"), "alltoall", "exact:hops", FC_INPUT, "13 tasks on 13 nodes are too many (at most 144");
    refuses(TORUS("[4]"), "alltoall", "exact:load", FC_INPUT, "unknown objective 'load' (expected time or hops)");
    refuses(TORUS("[4]"), "stencil2d:grid=5x1", "exact", FC_INPUT, "5 ranks but the machine has 4 cores");
}

int suite_exact(void)
{
    static const CU_TestInfo tests[] = {
        {"all mappings of eight tasks, every family", test_all_mappings},
        {"headers of messages of many sizes", test_headers},
        {"a published quadratic assignment", test_published},
        {"what looks the same", test_symmetry},
        {"an honest gap when the work does not suffice", test_not_closed},
        {"two tasks a node on some nodes", test_capacity},
        {"refusals", test_refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("exact", tests);
}
