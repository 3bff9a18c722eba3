/* test_mapping_bound.c - no mapping is under the bound, the bound is the least time, and exact finds it: all mappings
 * of small jobs on every family; all strategies on shipped machines; the surfaces of a grid and of a ring against all
 * their subsets; instances whose bound is met or known in closed form. */
#include "mapping/bound.h"
#include "mapping/work.h"
#include "models/demand_build.h"
#include "tests/network_checks.h"
#include "tests/support.h"

/* ---- every mapping of a small job ---- */

#define END(cores) "\nnode: {cores: " cores "}\n"
#define TORUS(shape, cores)                                                                                            \
    "name: t\nnetwork: {family: torus, dims: " shape "}\nlinks: {torus: {bandwidth: 1 GB/s}}\n"                        \
    "router: {routing: dimension-order}" END(cores)
#define MESH(shape, cores)                                                                                             \
    "name: m\nnetwork: {family: mesh, dims: " shape "}\nlinks: {mesh: {bandwidth: 1 GB/s}}" END(cores)
#define TREE(shape, cores)                                                                                             \
    "name: f\nnetwork: {family: fat-tree, " shape "}\n"                                                                \
    "links: {leaf: {bandwidth: 2 GB/s}, up: {bandwidth: 1 GB/s}}" END(cores)
#define HASHED(shape, cores)                                                                                           \
    "name: f\nnetwork: {family: fat-tree, " shape "}\nrouter: {routing: nca-hash}\n"                                   \
    "links: {leaf: {bandwidth: 2 GB/s}, up: {bandwidth: 1 GB/s}}" END(cores)
#define LEVELS(shape, cores)                                                                                           \
    "name: l\nnetwork: {family: two-level, " shape "}\n"                                                               \
    "links: {ll: {bandwidth: 3 GB/s}, lr: {bandwidth: 2 GB/s}, d: {bandwidth: 1 GB/s}}" END(cores)
#define INDIRECT(shape, cores)                                                                                         \
    "name: l\nnetwork: {family: two-level, " shape "}\nrouter: {routing: indirect}\n"                                  \
    "links: {ll: {bandwidth: 3 GB/s}, lr: {bandwidth: 2 GB/s}, d: {bandwidth: 1 GB/s}}" END(cores)
#define CHIPS(shape, cores)                                                                                            \
    "name: c\nnetwork: {family: tmesh, " shape "}\n"                                                                   \
    "links: {torus: {bandwidth: 1 GB/s}, mesh: {bandwidth: 2 GB/s}}" END(cores)
#define GRAPH(cores)                                                                                                   \
    "name: g\nnetwork: {family: graph, file: %s, format: edge-list}\n"                                                 \
    "links: {link: {bandwidth: 1 GB/s}}" END(cores)

static const char *const small[] = {
    TORUS("[6]", "1"),
    TORUS("[3, 2]", "1"),
    TORUS("[3], nodes_per_router: 2", "1"),
    TORUS("[3]", "2"),
    TORUS("[4]", "2"),
    MESH("[3, 2]", "1"),
    MESH("[4]", "2"),
    TREE("children: [2, 3], parents: [1, 2]", "1"),
    TREE("children: [2, 2], parents: [1, 1]", "2"),
    HASHED("children: [2, 3], parents: [1, 2]", "1"),
    HASHED("children: [2, 2], parents: [2, 1]", "2"),
    LEVELS("supernodes: 3, nodes_per_drawer: 2", "1"),
    LEVELS("supernodes: 2, drawers: 2, nodes_per_drawer: 1", "2"),
    INDIRECT("supernodes: 3, nodes_per_drawer: 2", "1"),
    INDIRECT("supernodes: 3, nodes_per_drawer: 1", "2"),
    CHIPS("dims: [3], mesh: [2, 2], bridges: {x-: 0, x+: 1}", "1"),
    GRAPH("1"),
};
static const char *const small_traffic[] = {"stencil2d:grid=3x2,bytes=1000", "stencil3d:grid=3x2x1,bytes=1000/500/1",
                                            "multicast:tasks=5,targets=2,stride=1,bytes=1000", "alltoall:bytes=1000",
                                            NULL /* random */};

/* Random messages between n tasks, some of them none. */
static void random_demand(uint32_t n, uint64_t seed, struct fc_demand *d)
{
    struct fc_status st = {0};
    uint64_t draw = 0;
    CU_ASSERT_EQUAL_FATAL(fc_demand_start(d, n, n * (n - 1), &st), FC_OK);
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t t = 0; t < n; t++) {
            uint64_t bytes = fc_random_below(seed, 1, draw++, 3000);
            if (s != t && bytes > 1500) fc_demand_add(d, s, t, (double)bytes);
        }
}

/* A ring of five switches with a chord; one of them has two nodes. */
static const char chord[] = "router s0 router s1\nrouter s1 router s2\nrouter s2 router s3\n"
                            "router s3 router s4\nrouter s4 router s0\nrouter s0 router s2\n"
                            "node n0 router s0\nnode n1 router s1\nnode n2 router s2\n"
                            "node n3 router s3\nnode n4 router s4\nnode n5 router s4\n";
static bool open_small(const char *yaml, struct fc_machine *machine, struct fc_network *net)
{
    char text[2048], path[64];
    if (!strstr(yaml, "%s")) return fc_test_network(yaml, machine, net);
    if (!fc_test_file(path, ".txt", chord, strlen(chord))) return false;
    snprintf(text, sizeof text, yaml, path);
    bool opened = fc_test_network(text, machine, net);
    unlink(path);
    return opened;
}

struct all_mappings {
    const struct fc_network *net;
    const struct fc_demand *demand;
    uint32_t per_node, node[16], used[16];
    double best_s;
    long n;
};

static double time_of(const struct fc_network *net, const struct fc_demand *demand, const uint32_t *node)
{
    struct fc_placement placement = {demand->n_tasks, (uint32_t *)node};
    struct fc_load_settings settings = {.threads = 1};
    struct fc_load load;
    struct fc_load_summary summary;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_load_solve(net, demand, &placement, &settings, &load, &st), FC_OK);
    fc_load_summarise(net, &load, &settings, &summary);
    fc_load_free(&load);
    return summary.max_link_s;
}

static void try_all(struct all_mappings *a, uint32_t task)
{
    if (task == a->demand->n_tasks) {
        a->best_s = fmin(a->best_s, time_of(a->net, a->demand, a->node));
        a->n++;
        return;
    }
    for (uint32_t v = 0; v < a->net->n_nodes; v++) {
        if (a->used[v] == a->per_node) continue;
        a->used[v]++;
        a->node[task] = v;
        try_all(a, task + 1);
        a->used[v]--;
    }
}

/* The strategy exact finds the time of the best of all mappings and proves it. */
static void check_exact(const struct fc_map_problem *problem, double best_s)
{
    struct fc_map_problem with_time = *problem;
    struct fc_mapping m;
    struct fc_status st = {0};
    with_time.time_s = 10;
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&with_time, "exact", &m, &st), FC_OK);
    CU_ASSERT(m.proof.proven && m.proof.bound == m.proof.value);
    CU_ASSERT(fc_near(m.proof.value, best_s, 1e-9));
    CU_ASSERT(fc_near(time_of(problem->net, problem->demand, m.node), best_s, 1e-9));
    fc_mapping_free(&m);
}

static void test_all_mappings(void)
{
    int met = 0, cases = 0;
    for (size_t i = 0; i < FC_COUNT(small); i++) {
        struct fc_machine machine;
        struct fc_network net;
        if (!open_small(small[i], &machine, &net)) continue;
        for (size_t k = 0; k < FC_COUNT(small_traffic); k++) {
            struct fc_demand d = {0};
            struct fc_status st = {0};
            struct fc_map_bound bound;
            bool spread = small_traffic[k] && strstr(small_traffic[k], "alltoall");
            if (!small_traffic[k]) random_demand(6, 7 + i, &d);
            if (small_traffic[k] && fc_demand_from_pattern(&net, small_traffic[k], 1, &d, &st))
                CU_FAIL_FATAL("refused");
            struct fc_map_problem problem = {.net = &net, .demand = &d, .spread = spread};
            CU_ASSERT_EQUAL_FATAL(fc_mapping_bound(&problem, &bound, &st), FC_OK);
            struct all_mappings all = {.net = &net, .demand = &d, .best_s = INFINITY};
            all.per_node = spread ? 1 : (uint32_t)machine.cores_per_node;
            try_all(&all, 0);
            double bound_s = isnan(bound.time_s) ? 0 : bound.time_s;
            if (bound_s > all.best_s * (1 + 1e-9))
                printf("\n    %zu %s: bound %g (%s) above the optimum %g\n", i, small_traffic[k], bound_s, bound.binds,
                       all.best_s);
            CU_ASSERT(bound_s <= all.best_s * (1 + 1e-9));
            CU_ASSERT(all.n >= 6);
            check_exact(&problem, all.best_s);
            CU_ASSERT(isnan(bound.time_s) == !bound.binds[0]);
            if (!machine.routing->adaptive) CU_ASSERT(fc_near(bound_s, all.best_s, 1e-9)); /* it is the optimum */
            CU_ASSERT_EQUAL_FATAL(fc_mapping_bound_of_sets(&problem, &bound, &st), FC_OK);
            met += bound.time_s >= all.best_s * (1 - 1e-9);
            cases++;
            fc_demand_free(&d);
        }
        fc_test_close(&machine, &net);
    }
    CU_ASSERT_EQUAL(cases, 85);
    CU_ASSERT(met >= 41); /* also without a search of all mappings */
}

/* ---- strategies on shipped machines ---- */

static void check_strategies(const char *name, const char *routing, const char *pattern)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_map_bound bound;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_machine_load(name, &machine, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_machine_route(&machine, routing, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_network_build(&machine, &net, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, pattern, 1, &d, &st), FC_OK);
    struct fc_map_problem problem = {
        .net = &net, .demand = &d, .seed = 5, .time_s = 0.005, .threads = 1, .spread = d.n_dense > 0};
    CU_ASSERT_EQUAL_FATAL(fc_mapping_bound(&problem, &bound, &st), FC_OK);
    if (isnan(bound.time_s)) bound.time_s = 0;
    CU_ASSERT(bound.time_s > 0 || strstr(pattern, "multicast")); /* a node may hold much of its ring */
    for (int s = 0; fc_strategies[s]; s++) {
        struct fc_mapping m = {0};
        st = (struct fc_status){0};
        if (fc_strategies[s]->argument || fc_mapping_make(&problem, fc_strategies[s]->name, &m, &st)) {
            fc_mapping_free(&m);
            continue;
        }
        double time_s = time_of(&net, &d, m.node);
        if (bound.time_s > time_s * (1 + 1e-9))
            printf("\n    %s %s %s: %g under the bound %g (%s)\n", name, pattern, m.strategy, time_s, bound.time_s,
                   bound.binds);
        CU_ASSERT(bound.time_s <= time_s * (1 + 1e-9));
        fc_mapping_free(&m);
    }
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

static void test_strategies(void)
{
    static const char *const machines[][2] = {{"bgl-64", NULL},         {"bgl-64", "dimension-order"},
                                              {"qsnet-64", NULL},       {"percs-16", "direct"},
                                              {"percs-16", "indirect"}, {"tmesh-216", NULL}};
    static const char *const patterns[] = {"stencil2d:grid=8x8,bytes=100", "stencil4d:grid=4x4x2x2,bytes=1KiB",
                                           "stencil3d:grid=4x3x5,bytes=1KiB", "alltoall:bytes=100",
                                           "multicast:tasks=60,targets=7,stride=1,bytes=1KiB"};
    for (size_t i = 0; i < FC_COUNT(machines); i++)
        for (size_t k = i % 2; k < (i == 0 ? 1 : FC_COUNT(patterns)); k += 2) /* adaptive splits take long */
            check_strategies(machines[i][0], machines[i][1], patterns[k]);
}

/* ---- the surface of a grid ---- */

/* Bytes that leave a set of tasks. */
static double leaving(const struct fc_demand *d, uint32_t set)
{
    double bytes = 0;
    for (size_t e = 0; e < d->n_entries; e++)
        if ((set >> d->src[e] & 1) && !(set >> d->dst[e] & 1)) bytes += d->bytes[e];
    return bytes;
}

static bool surface_of(struct fc_demand *d, struct fc_arena *arena, struct fc_grid_surface *surface)
{
    struct fc_unit_graph tasks;
    struct fc_status st = {0};
    uint32_t *identity = fc_alloc(arena, d->n_tasks, sizeof *identity, &st);
    for (uint32_t t = 0; t < d->n_tasks; t++) identity[t] = t;
    CU_ASSERT_EQUAL_FATAL(fc_unit_graph_build(d, identity, d->n_tasks, arena, &tasks, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_grid_surface_start(d, &tasks, arena, surface, &st), FC_OK);
    return surface->leaving != NULL;
}

/* All subsets of small grids, closed and open, of equal and unequal bytes: never above the least, and met for so many
 * sizes. */
static void test_surface(void)
{
    static const struct {
        const char *pattern;
        bool open; /* without the messages round the ends */
        int met;   /* sizes whose least is met */
    } grids[] = {
        {"stencil2d:grid=4x4,bytes=1", false, 10},    {"stencil2d:grid=4x3,bytes=1/3", false, 4},
        {"stencil3d:grid=3x2x2,bytes=1", false, 7},   {"stencil3d:grid=2x2x3,bytes=5/1/2", false, 6},
        {"stencil4d:grid=2x2x2x2,bytes=1", false, 8}, {"stencil2d:grid=5x3,bytes=1", true, 9},
        {"stencil2d:grid=4x4,bytes=2/1", true, 16},   {"stencil2d:grid=12x1,bytes=1", false, 12},
    };
    struct fc_machine machine;
    struct fc_network net;
    if (!fc_test_network(TORUS("[4, 4]", "1"), &machine, &net)) return;
    for (size_t i = 0; i < FC_COUNT(grids); i++) {
        struct fc_demand d = {0};
        struct fc_arena arena = {0};
        struct fc_grid_surface surface;
        struct fc_status st = {0};
        double least[17];
        int met = 0;
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, grids[i].pattern, 1, &d, &st), FC_OK);
        if (grids[i].open)
            for (size_t e = 0; e < d.n_entries; e++) {
                int32_t k = (int32_t)d.grid[d.n_grid - 1], a = (int32_t)d.src[e], b = (int32_t)d.dst[e];
                if (abs(a / k - b / k) > 1 || abs(a % k - b % k) > 1) d.bytes[e] = 0;
            }
        CU_ASSERT_FATAL(surface_of(&d, &arena, &surface));
        for (uint32_t s = 0; s <= d.n_tasks; s++) least[s] = INFINITY;
        for (uint32_t set = 0; set < 1u << d.n_tasks; set++) {
            int s = __builtin_popcount(set);
            least[s] = fmin(least[s], leaving(&d, set));
        }
        for (uint32_t s = 1; s <= d.n_tasks; s++) {
            double bytes = s * fc_grid_leaving(&surface, s, s);
            CU_ASSERT(bytes <= least[s] * (1 + 1e-12) + 1e-12);
            CU_ASSERT(fc_grid_leaving(&surface, 1, s) <= fc_grid_leaving(&surface, s, s));
            double of_one = INFINITY;
            for (uint32_t t = s; t <= d.n_tasks; t++) {
                of_one = fmin(of_one, least[t]);
                CU_ASSERT(fc_grid_surface_of_one(&surface, s, t) <= of_one * (1 + 1e-12) + 1e-12);
            }
            met += bytes >= least[s] * (1 - 1e-12);
        }
        CU_ASSERT(met >= grids[i].met);
        fc_arena_free(&arena);
        fc_demand_free(&d);
    }
    fc_test_close(&machine, &net);
}

/* All subsets of rings, of equal and unequal bytes, one ring and two: never above the least, and met by sets of one
 * length that all leave the same. */
static void test_ring_surface(void)
{
    static const struct {
        const char *pattern;
        uint64_t length, d; /* of a ring; partners on either side */
        uint32_t sizes;     /* sets of fewer tasks have a surface */
    } rings[] = {
        {"multicast:tasks=14,targets=2,stride=1,bytes=1", 14, 1, 14},
        {"multicast:tasks=14,targets=4,stride=3,bytes=3", 14, 2, 7},
        {"multicast:tasks=16,targets=6,stride=5,bytes=2", 16, 3, 6},
        {"multicast:tasks=16,targets=4,stride=2,bytes=1", 8, 2, 4},
        {"multicast:tasks=15,targets=3,stride=4,bytes=1", 15, 2, 8}, /* one down, two up */
    };
    struct fc_machine machine;
    struct fc_network net;
    if (!fc_test_network(TORUS("[4, 4]", "1"), &machine, &net)) return;
    for (size_t i = 0; i < FC_COUNT(rings); i++) {
        struct fc_demand d = {0};
        struct fc_arena arena = {0};
        struct fc_unit_graph tasks;
        struct fc_status st = {0};
        uint32_t identity[16];
        double least[17];
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, rings[i].pattern, 1, &d, &st), FC_OK);
        for (uint32_t t = 0; t < d.n_tasks; t++) identity[t] = t;
        CU_ASSERT_EQUAL_FATAL(fc_unit_graph_build(&d, identity, d.n_tasks, &arena, &tasks, &st), FC_OK);
        struct fc_ring_surface ring = fc_ring_surface_find(&tasks);
        CU_ASSERT(ring.length == rings[i].length && ring.d == rings[i].d);
        for (uint32_t s = 0; s <= d.n_tasks; s++) least[s] = INFINITY;
        for (uint32_t set = 0; set < 1u << d.n_tasks; set++) {
            int s = __builtin_popcount(set);
            least[s] = fmin(least[s], leaving(&d, set));
        }
        for (uint32_t s = 1; s <= d.n_tasks; s++) {
            double bytes = s * fc_ring_leaving(&ring, s);
            CU_ASSERT((bytes > 0) == (s < rings[i].sizes));
            CU_ASSERT(bytes <= least[s] * (1 + 1e-12));
            if (bytes > 0) CU_ASSERT(fc_near(bytes, least[s], 1e-12));
        }
        fc_arena_free(&arena);
        fc_demand_free(&d);
    }
    fc_test_close(&machine, &net);
}

/* ---- known values ---- */

/* Bollobas & Leader: 2 r s^(1 - 1/r) k^(4/r - 1), the least over r = 1..4; cubes reach it. */
static void test_published_surface(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d = {0};
    struct fc_arena arena = {0};
    struct fc_grid_surface surface;
    struct fc_status st = {0};
    if (!fc_test_network(TORUS("[4, 4]", "256"), &machine, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "stencil4d:grid=8x8x8x8,bytes=1", 1, &d, &st), FC_OK);
    CU_ASSERT_FATAL(surface_of(&d, &arena, &surface));
    for (uint32_t s = 1; s <= 2048; s += s < 64 ? 1 : 31) {
        double published = INFINITY;
        for (int r = 1; r <= 4; r++) published = fmin(published, 2 * r * pow(s, 1 - 1.0 / r) * pow(8, 4.0 / r - 1));
        CU_ASSERT(s * fc_grid_leaving(&surface, s, s) >= published * (1 - 1e-9));
    }
    CU_ASSERT(fc_near(fc_grid_leaving(&surface, 16, 16), 4, 1e-12));        /* 2^4: 8 faces of 8, 64 */
    CU_ASSERT(fc_near(81 * fc_grid_leaving(&surface, 81, 81), 216, 1e-12)); /* 3^4: 8 faces of 27 */
    CU_ASSERT(fc_near(fc_grid_leaving(&surface, 2048, 2048), 0.5, 1e-12));  /* half: two faces of 512 */
    CU_ASSERT_EQUAL(fc_grid_leaving(&surface, 4096, 4096), 0);
    fc_arena_free(&arena);
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

/* The bound is the same where the job does not say its grid. */
static void check_without_grid(const struct fc_map_problem *problem, double bound_s)
{
    struct fc_demand silent = *problem->demand;
    struct fc_map_problem same = *problem;
    struct fc_map_bound bound;
    struct fc_status st = {0};
    silent.n_grid = 0;
    same.demand = &silent;
    CU_ASSERT_EQUAL_FATAL(fc_mapping_bound(&same, &bound, &st), FC_OK);
    CU_ASSERT(fc_near(bound.time_s, bound_s, 1e-9));
}

/* `optimize` meets the bound and does no more than a fifth of a second's work. */
static void check_search_ends(const struct fc_map_problem *problem, double bound_s)
{
    struct fc_map_problem searched = *problem;
    struct fc_mapping m;
    struct fc_status st = {0};
    searched.time_s = 2;
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&searched, "optimize", &m, &st), FC_OK);
    CU_ASSERT(fc_near(time_of(problem->net, problem->demand, m.node), bound_s, 1e-9));
    CU_ASSERT(m.work < fc_work_of_s(0.2));
    fc_mapping_free(&m);
}

/* The bound, what binds, and whether rank order meets it. Worked by hand. */
static void test_known(void)
{
    static const struct {
        const char *yaml, *pattern;
        double bound_s;
        const char *binds;
        bool met;
    } known[] = {
        /* 4 messages of a task by 4 links. */
        {TORUS("[4, 4]", "1"), "stencil2d:grid=4x4,bytes=1000", 1e-6, "heaviest task, routers", true},
        /* 4 tasks in a square send 8 messages by 4 links. */
        {TORUS("[4, 4]", "4"), "stencil2d:grid=8x8,bytes=1000", 2e-6, "grid surface, routers", false},
        /* Most nodes may stay empty; one task sends 4 messages by 4 links, and no set of up to 4 sends fewer. */
        {TORUS("[8, 8]", "4"), "stencil2d:grid=4x4,bytes=1000", 1e-6, "grid surface of one, routers", false},
        /* 4 nodes of a half send 4 x 4 messages by 2 links. */
        {TORUS("[8]", "1"), "alltoall:bytes=1000", 8e-6, "all tasks, halves of dimension 1", true},
        /* A leaf: 2 tasks of a ring of 6 keep one message of two each inside, and there is one way up. */
        {TREE("children: [2, 3], parents: [1, 1]", "1"), "stencil2d:grid=6x1,bytes=1000", 2e-6, "all tasks, routers",
         true},
        /* 4 of a ring of 64, each with 2 on either side: 2 x (2 + 1) messages leave, by 2 links. */
        {TORUS("[16]", "4"), "multicast:targets=4,stride=1,bytes=1000", 3e-6, "ring surface, routers", true},
        /* A heavy message takes one link, though its task's 10000 bytes have six. */
        {TORUS("[5, 5, 5]", "1"), "stencil3d:grid=5x5x5,bytes=3000/1000/1000", 3e-6, "heaviest message", true},
        /* Halves of a heavy message go both ways between opposite routers, 8 of which hold a ring of 6 tasks: 10000 bytes
         * by 6 links, in portions of 500. */
        {TORUS("[6, 6, 6]", "1"), "stencil3d:grid=6x6x6,bytes=3000/1000/1000", 2e-6, "heaviest task, routers", false},
    };
    for (size_t i = 0; i < FC_COUNT(known); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand d = {0};
        struct fc_mapping m = {0};
        struct fc_map_bound bound;
        struct fc_status st = {0};
        if (!fc_test_network(known[i].yaml, &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, known[i].pattern, 1, &d, &st), FC_OK);
        struct fc_map_problem problem = {.net = &net, .demand = &d, .spread = d.n_dense > 0};
        CU_ASSERT_EQUAL_FATAL(fc_mapping_bound(&problem, &bound, &st), FC_OK);
        if (!fc_near(bound.time_s, known[i].bound_s, 1e-9) || strcmp(bound.binds, known[i].binds))
            printf("\n    %s: %g (%s)\n", known[i].pattern, bound.time_s, bound.binds);
        CU_ASSERT(fc_near(bound.time_s, known[i].bound_s, 1e-9));
        CU_ASSERT_STRING_EQUAL(bound.binds, known[i].binds);
        if (d.n_dense == 0) check_without_grid(&problem, known[i].bound_s);
        if (known[i].met && d.n_dense == 0) check_search_ends(&problem, known[i].bound_s);
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "def", &m, &st), FC_OK);
        if (known[i].met) CU_ASSERT(fc_near(time_of(&net, &d, m.node), bound.time_s, 1e-9));
        fc_mapping_free(&m);
        fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
}

int suite_mapping_bound(void)
{
    static const CU_TestInfo tests[] = {
        {"no mapping of a small job is under the bound, every family", test_all_mappings},
        {"no strategy is under the bound", test_strategies},
        {"the least surface of all subsets of a grid", test_surface},
        {"the least surface of all subsets of a ring", test_ring_surface},
        {"at least the published surface; cubes meet it", test_published_surface},
        {"bounds worked by hand, and what binds", test_known},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("mapping bound", tests);
}
