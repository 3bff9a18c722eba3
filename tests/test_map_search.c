/* test_map_search.c - the optimizer and its parts: block shapes of the published tables, cuts of known least
 * weight, the exact embedding, loads kept up to date against the solver, the bound, and the perfect mapping
 * of a shuffled stencil. */
#include "mapping/embedding.h"
#include "mapping/optimizer.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TORUS(dims, cores)                                                                                             \
    "name: t\nnetwork: {family: torus, dims: " dims "}\nlinks: {torus: {bandwidth: 1 GB/s, latency: 0 s}}\n"           \
    "router: {delay: 1 us, routing: dimension-order}\nnode: {cores: " cores "}\n"
static const char torus444[] = TORUS("[4, 4, 4]", "1"), torus484[] = TORUS("[4, 8, 4]", "2");
#define PERCS(supernodes)                                                                                              \
    "name: p\nnetwork: {family: two-level, supernodes: " supernodes ", drawers: 4, nodes_per_drawer: 8}\n"             \
    "links: {ll: {bandwidth: 24 GB/s}, lr: {bandwidth: 5 GB/s}, d: {bandwidth: 10 GB/s}}\n"                            \
    "router: {delay: 1 us, routing: direct}\nnode: {cores: 32}\n"

#define PLAIN(network, links, routing)                                                                                 \
    "name: t\nnetwork: {family: " network "}\nlinks: {" links "}\n"                                                    \
    "router: {delay: 1 us, routing: " routing "}\n"

static bool open_job(const char *yaml, const char *pattern, struct fc_machine *machine, struct fc_network *net,
                     struct fc_demand *d)
{
    struct fc_status st = {0};
    if (!fc_test_network(yaml, machine, net)) return false;
    if (fc_demand_from_pattern(net, pattern, 1, d, &st) == FC_OK) return true;
    CU_FAIL("the pattern is refused");
    fc_test_close(machine, net);
    return false;
}

/* ---- block shapes: tables 3 and 5 of SC'11 and its section 7, slowest dimension first ---- */

static void test_shapes(void)
{
    static const struct {
        const char *yaml, *pattern;
        long long block[3][4]; /* node, drawer, supernode */
    } cases[] = {
        {PERCS("64"), "stencil2d:grid=256x256", {{4, 8}, {16, 16}, {32, 32}}},
        {PERCS("64"), "stencil4d:grid=16x16x16x16", {{2, 2, 2, 4}, {4, 4, 4, 4}, {4, 4, 8, 8}}},
        {PERCS("300"), "stencil4d:grid=16x16x16x75,order=column-major", {{1, 2, 4, 4}, {1, 4, 8, 8}, {1, 8, 8, 16}}},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand d;
        struct fc_mapping m = {0};
        struct fc_slots slots;
        struct fc_blocks blocks;
        struct fc_status st = {0};
        if (!open_job(cases[i].yaml, cases[i].pattern, &machine, &net, &d)) continue;
        struct fc_map_problem problem = {.net = &net, .demand = &d};
        CU_ASSERT_EQUAL_FATAL(fc_map_start(&problem, &m, &slots, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(
            fc_blocks_choose(&problem, &slots, FC_LEVEL_SUPERNODE, true, "bsm", &m.arena, &blocks, &st), FC_OK);
        for (int level = 0; level < 3; level++)
            for (int k = 0; k < d.n_grid; k++) CU_ASSERT_EQUAL(blocks.block[level][k], cases[i].block[level][k]);
        fc_mapping_free(&m);
        fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
}

/* ---- cuts ---- */

/* A grid of k^dims vertices, each edge at both ends; wrapped or not. */
static void grid_graph(uint32_t k, int dims, bool wrap, struct fc_cut_graph *g)
{
    g->n = 1;
    for (int d = 0; d < dims; d++) g->n *= k;
    g->size = calloc(g->n, sizeof *g->size);
    g->pull = calloc(g->n, sizeof *g->pull);
    g->first = calloc(g->n + 1, sizeof *g->first);
    g->other = calloc(2 * (size_t)dims * g->n, sizeof *g->other);
    g->weight = calloc(2 * (size_t)dims * g->n, sizeof *g->weight);
    uint64_t at = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        g->size[v] = 1;
        for (uint32_t d = 0, stride = 1; d < (uint32_t)dims; d++, stride *= k) {
            uint32_t c = v / stride % k;
            for (int side = 0; side < 2; side++) {
                if (!wrap && c == (side ? k - 1 : 0)) continue;
                uint32_t to = side ? (c + 1) % k : (c + k - 1) % k;
                g->other[at] = v - c * stride + to * stride;
                g->weight[at++] = 1;
            }
        }
        g->first[v + 1] = at;
    }
}

static void test_cuts(void)
{
    static const struct {
        uint32_t k;
        int dims;
        bool wrap;
        uint64_t target;
        double least; /* known: a line's one edge, planes of a box, two planes of a torus */
    } cases[] = {{200, 1, false, 77, 1}, {200, 1, true, 100, 2}, {16, 2, false, 128, 16}, {8, 3, true, 256, 128}};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_cut_graph g;
        grid_graph(cases[i].k, cases[i].dims, cases[i].wrap, &g);
        struct fc_pool pool = {.size = 256 * (size_t)g.n + 96 * (size_t)g.first[g.n] + 65536};
        pool.data = malloc(pool.size);
        uint8_t *side = calloc(g.n, 1);
        uint64_t work = 0, on_side0 = 0;
        double cut = 0;
        CU_ASSERT(fc_bipartition(&g, cases[i].target, &pool, 1, 1, side, &work));
        for (uint32_t v = 0; v < g.n; v++) {
            on_side0 += side[v] == 0;
            for (uint64_t e = g.first[v]; e < g.first[v + 1]; e++) cut += side[v] && !side[g.other[e]];
        }
        CU_ASSERT_EQUAL(on_side0, cases[i].target);
        CU_ASSERT_EQUAL(cut, cases[i].least);
        CU_ASSERT(work > 0 && pool.used == 0);
        free(side), free(pool.data), free(g.size), free(g.pull), free(g.first), free(g.other), free(g.weight);
    }
}

/* ---- the exact embedding ---- */

static double longest_link_bytes(const struct fc_network *net, const struct fc_demand *d, const uint32_t *node)
{
    struct fc_placement placement = {d->n_tasks, node};
    struct fc_load_settings settings = {0};
    struct fc_status st = {0};
    struct fc_load load;
    double most = 0;
    CU_ASSERT_EQUAL_FATAL(fc_load_solve(net, d, &placement, &settings, &load, &st), FC_OK);
    for (uint32_t l = 0; l < net->n_links; l++)
        if (isfinite(fc_link_bandwidth(net, l))) most = fmax(most, load.bytes[l]);
    fc_load_free(&load);
    return most;
}

static void test_embedding(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    static const struct {
        const char *pattern;
        double most; /* bytes of a message, or two tasks a node: two messages a link */
    } fits[] = {{"stencil3d:grid=8x4x4,bytes=100", 100},
                {"stencil3d:grid=8x8x4,bytes=100", 200},
                {"stencil4d:grid=4x2x4x8,bytes=100", 200}};
    for (size_t i = 0; i < FC_COUNT(fits); i++) {
        struct fc_mapping m = {0};
        struct fc_slots slots;
        struct fc_status st = {0};
        uint32_t slot[256], node[256];
        if (!open_job(torus484, fits[i].pattern, &machine, &net, &d)) return;
        struct fc_map_problem problem = {.net = &net, .demand = &d};
        CU_ASSERT_EQUAL_FATAL(fc_map_start(&problem, &m, &slots, &st), FC_OK);
        CU_ASSERT_FATAL(fc_embed_grid(&problem, &slots, slot));
        bool used[256] = {false};
        for (uint32_t t = 0; t < d.n_tasks; t++) {
            CU_ASSERT(slot[t] < 256 && !used[slot[t]]);
            used[slot[t]] = true;
            node[t] = slot[t] / 2;
        }
        CU_ASSERT_EQUAL(longest_link_bytes(&net, &d, node), fits[i].most);
        fc_mapping_free(&m);
        fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
    if (!open_job(torus484, "stencil2d:grid=16x16", &machine, &net, &d)) return;
    struct fc_mapping m = {0};
    struct fc_slots slots;
    struct fc_status st = {0};
    struct fc_map_problem problem = {.net = &net, .demand = &d};
    uint32_t slot[256];
    CU_ASSERT_EQUAL_FATAL(fc_map_start(&problem, &m, &slots, &st), FC_OK);
    CU_ASSERT(!fc_embed_grid(&problem, &slots, slot)); /* 16 = 4 * 4 or 2 * 8 tasks a router: no room for both */
    fc_mapping_free(&m);
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

/* ---- loads kept up to date ---- */

/* The search's loads are those of its placement, link by link. */
static void check_loads(const struct fc_search *search, const struct fc_network *net, const struct fc_demand *d)
{
    uint32_t node[100];
    for (uint32_t t = 0; t < d->n_tasks; t++) node[t] = search->sites->node[search->place[t]];
    struct fc_placement placement = {d->n_tasks, node};
    struct fc_load_settings load_settings = {.path_walk = true, .split = FC_SPLIT_UNIFORM};
    struct fc_load load;
    struct fc_status st = {0};
    double most = 0;
    CU_ASSERT_EQUAL_FATAL(fc_load_solve(net, d, &placement, &load_settings, &load, &st), FC_OK);
    for (uint32_t l = 0; l < net->n_links; l++) {
        if (!isfinite(fc_link_bandwidth(net, l))) continue;
        CU_ASSERT(fabs(load.bytes[l] - search->link[search->routes->number[l]].load) < 1e-3);
        most = fmax(most, load.bytes[l] / fc_link_bandwidth(net, l));
    }
    CU_ASSERT(fc_near(most, fc_search_time_s(search), 1e-6));
    fc_load_free(&load);
}

/* The link time of a byte between all places is that of the routing's own walk. */
static void check_distances(const struct fc_routes *routes, const struct fc_network *net)
{
    struct fc_walk walk;
    struct fc_status st = {0};
    const uint32_t *node = routes->sites->node;
    CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, routes->capacity, &st), FC_OK);
    for (uint32_t a = 0; a < routes->n; a++)
        for (uint32_t b = 0; b < routes->n; b++) {
            double seconds = 0;
            walk.n = 0;
            if (a != b) routes->sites->routing->walk(net, node[a], node[b], 1, &walk);
            for (uint32_t i = 0; i < walk.n; i++) seconds += walk.weight[i] / fc_link_bandwidth(net, walk.link[i]);
            CU_ASSERT(fc_near(fc_routes_distance(routes, a, b), seconds, 1e-6));
        }
    fc_walk_free(&walk);
}

/* After 10^5 moves and more, single ones and runs, the loads kept up to date are the loads summed afresh:
 * routes on rings (ties, a mesh with an end), from a table, and walked. */
static void test_search_loads(void)
{
    static const struct {
        const char *machine;
        enum fc_routes_kind kind;
        uint64_t table; /* most work for it */
    } cases[] = {
        {PLAIN("torus, dims: [4, 4, 4]", "torus: {bandwidth: 1 GB/s}", "dimension-order"), FC_ROUTES_RINGS, 0},
        {PLAIN("torus, dims: [5, 2, 7]", "torus: {bandwidth: 1 GB/s}, injection: {bandwidth: 1 GB/s}",
               "dimension-order"),
         FC_ROUTES_RINGS, 0},
        {PLAIN("mesh, dims: [9, 7]", "mesh: {bandwidth: 1 GB/s}", "dimension-order"), FC_ROUTES_RINGS, 0},
        {PLAIN("torus, dims: [4, 4, 4], links_per_dim: [2, 1, 1]", "torus: {bandwidth: 1 GB/s}", "dimension-order"),
         FC_ROUTES_TABLE, 1000000},
        {PLAIN("torus, dims: [4, 4, 4]", "torus: {bandwidth: 1 GB/s}", "adaptive"), FC_ROUTES_TABLE, 1000000},
        {PLAIN("fat-tree, children: [4, 4, 4], parents: [1, 4, 4]",
               "leaf: {bandwidth: 1 GB/s}, up: {bandwidth: 1 GB/s}", "nca-hash"),
         FC_ROUTES_WALK, 0}};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand d;
        struct fc_arena arena = {0};
        struct fc_status st = {0};
        struct fc_unit_graph graph = {0};
        struct fc_routes routes;
        struct fc_search search;
        uint32_t unit[100], node[100], n;
        struct fc_map_bound bound;
        if (!open_job(cases[i].machine, "multicast:tasks=50,targets=5,stride=3,bytes=999", &machine, &net, &d)) return;
        n = net.n_nodes < 100 ? net.n_nodes : 100;
        for (uint32_t t = 0; t < 50; t++) unit[t] = t;
        for (uint32_t t = 0; t < n; t++) node[t] = n - 1 - t;
        struct fc_sites sites = {.net = &net, machine.routing, node, n, 1, NULL, .no_spread = false};
        CU_ASSERT_EQUAL_FATAL(fc_unit_graph_build(&d, unit, 50, &arena, &graph, &st), FC_OK);
        CU_ASSERT_EQUAL(graph.first[50], 300); /* ranks 3, 6, 9 away on both sides */
        CU_ASSERT_EQUAL_FATAL(fc_routes_make(&sites, cases[i].table, &routes, &st), FC_OK);
        CU_ASSERT_EQUAL(routes.kind, cases[i].kind);
        CU_ASSERT_EQUAL_FATAL(fc_search_start(&sites, &routes, &graph, unit, &search, &st), FC_OK);
        check_loads(&search, &net, &d);
        double before_s = fc_search_time_s(&search), norm = fc_search_norm(&search), hop_s = fc_search_hop_s(&search);
        struct fc_search_settings settings = {.start_temperature = 0.01,
                                              .end_temperature = 1e-4,
                                              .doublings = 4,
                                              .hop_weight = 0.3,
                                              .blocks = 8,
                                              .work = i == 0 ? 20000000 : 1000000};
        fc_search_run(&search, &settings);
        CU_ASSERT(i > 0 || search.n_evaluated > 50000);
        /* The norm is within ln(links) / 16 of the longest link time; where injection binds little is to be
         * gained. */
        CU_ASSERT(fc_search_norm(&search) <= norm + 1e-9);
        CU_ASSERT(i > 0 || (fc_search_norm(&search) < norm && fc_search_time_s(&search) <= before_s));
        check_loads(&search, &net, &d);
        /* Under a cap hop time falls and no link comes over it. */
        settings.work = 1000000;
        settings.cap_s = fc_search_time_s(&search) * (1 + 1e-9);
        hop_s = fc_search_hop_s(&search);
        fc_search_run(&search, &settings);
        CU_ASSERT(fc_search_time_s(&search) <= settings.cap_s && fc_search_hop_s(&search) <= hop_s * (1 + 1e-12));
        check_loads(&search, &net, &d);
        struct fc_map_problem problem = {.net = &net, .demand = &d, .nodes = node, .n_nodes = n, .spread = true};
        CU_ASSERT_EQUAL(fc_mapping_bound(&problem, &bound, &st), FC_OK);
        CU_ASSERT(bound.time_s <= fc_search_time_s(&search) * (1 + 1e-12));
        CU_ASSERT(i > 0 || bound.time_s >= 5 * 999 / 6e9 * (1 - 1e-12)); /* 6 links a router */
        fc_search_free(&search);
        fc_routes_free(&routes);
        fc_arena_free(&arena);
        fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
}

/* Routes that go over the whole network are searched by sums of bundles: after 50 000 moves between supernodes and inside
 * them, of single units and of runs, every link carries what fc_load_solve says of the placement. Indirect and UGAL (half
 * and half), one cable a pair and several, full groups and grids, several nodes a router, local hops free; Valiant on a
 * torus and a mesh. */
static void test_spread_loads(void)
{
#define GROUPS(more, routing)                                                                                          \
    PLAIN("two-level, " more,                                                                                          \
          "ll: {bandwidth: 3 GB/s}, lr: {bandwidth: 1 GB/s}, d: {bandwidth: 2 GB/s}, injection: {bandwidth: 9 GB/s}",  \
          routing)
    static const char *const cases[] = {
        GROUPS("supernodes: 5, drawers: 2, nodes_per_drawer: 4, d_link: packed", "indirect"),
        GROUPS("supernodes: 3, drawers: 2, nodes_per_drawer: 5, d_link: hashed", "indirect"),
        GROUPS("supernodes: 6, drawers: 2, nodes_per_drawer: 3, d_link: free", "indirect"),
        GROUPS("supernodes: 4, drawers: 3, nodes_per_drawer: 4, nodes_per_router: 2, links_per_pair: 5, local: grid, "
               "d_link: modulo",
               "indirect"),
        GROUPS("supernodes: 4, drawers: 3, nodes_per_drawer: 4, links_per_pair: 3, local: grid, d_link: modulo",
               "ugal"),
        PLAIN("torus, dims: [5, 4, 2], nodes_per_router: 2",
              "torus: {bandwidth: 1 GB/s}, injection: {bandwidth: 9 GB/s}", "valiant"),
        PLAIN("mesh, dims: [7, 6]", "mesh: {bandwidth: 1 GB/s}", "valiant")};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand d;
        struct fc_arena arena = {0};
        struct fc_status st = {0};
        struct fc_unit_graph graph = {0};
        struct fc_routes routes;
        struct fc_search search;
        uint32_t unit[20], node[100], n;
        if (!open_job(cases[i], "multicast:tasks=20,targets=5,stride=3,bytes=999", &machine, &net, &d)) return;
        n = net.n_nodes - 3; /* a few are not allowed, the others in any order */
        fc_random_permutation(7, i, node, net.n_nodes);
        for (uint32_t t = 0; t < 20; t++) unit[t] = t;
        struct fc_sites sites = {.net = &net, machine.routing, node, n, 1, NULL, .no_spread = false};
        CU_ASSERT_EQUAL_FATAL(fc_unit_graph_build(&d, unit, 20, &arena, &graph, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_routes_make(&sites, 1000000, &routes, &st), FC_OK);
        CU_ASSERT_EQUAL(routes.kind, FC_ROUTES_SPREAD);
        CU_ASSERT_EQUAL_FATAL(fc_search_start(&sites, &routes, &graph, unit, &search, &st), FC_OK);
        check_loads(&search, &net, &d);
        check_distances(&routes, &net);
        double before_s = fc_search_time_s(&search);
        struct fc_search_settings settings = {.start_temperature = 0.01,
                                              .end_temperature = 1e-4,
                                              .doublings = 4,
                                              .hop_weight = 0.3,
                                              .blocks = 8,
                                              .work = i == 0 ? 30000000 : 1000000};
        fc_search_run(&search, &settings);
        CU_ASSERT(i > 0 || search.n_evaluated > 50000);
        CU_ASSERT(fc_search_time_s(&search) < before_s);
        check_loads(&search, &net, &d);
        settings.cap_s = fc_search_time_s(&search) * (1 + 1e-9);
        settings.work = 1000000;
        fc_search_run(&search, &settings);
        CU_ASSERT(fc_search_time_s(&search) <= settings.cap_s);
        check_loads(&search, &net, &d);
        fc_search_free(&search);
        fc_routes_free(&routes);
        fc_arena_free(&arena);
        fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
#undef GROUPS
}

/* ---- the whole ---- */

/* The demand with its tasks renumbered at random; entries stay sorted by sender. */
static void shuffle(struct fc_demand *d)
{
    size_t per_task = d->n_entries / d->n_tasks;
    uint32_t *to = malloc(d->n_tasks * sizeof *to), *dst = malloc(d->n_entries * sizeof *dst);
    fc_random_permutation(5, 5, to, d->n_tasks);
    for (uint32_t t = 0; t < d->n_tasks; t++)
        for (size_t k = 0; k < per_task; k++) dst[to[t] * per_task + k] = to[d->dst[t * per_task + k]];
    memcpy(d->dst, dst, d->n_entries * sizeof *dst);
    d->n_grid = 0;
    free(to), free(dst);
}

/* A search that is asked to stop before it begins gives a legal mapping, no worse than rank order, and says
 * so. */
static void test_stopped(void)
{
    static const int asked = 1;
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_mapping in_order = {0}, found = {0};
    struct fc_status st = {0};
    if (!open_job(torus484, "multicast:tasks=200,targets=4,stride=5,bytes=100", &machine, &net, &d)) return;
    struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1, .time_s = 1e5, .stop = &asked};
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "def", &in_order, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "optimize", &found, &st), FC_OK);
    CU_ASSERT(found.stopped && !in_order.stopped);
    CU_ASSERT(longest_link_bytes(&net, &d, found.node) <= longest_link_bytes(&net, &d, in_order.node));
    fc_mapping_free(&in_order);
    fc_mapping_free(&found);
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

/* The fold of 64 x 64 on 16^3 is near perfect (load 4, what a task sends; hops 71/64, at least 1): `optimize`
 * keeps it. So it does when the ranks are shuffled and the grid is not said. */
static void test_near_perfect(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_status st = {0};
    if (!open_job(TORUS("[16, 16, 16]", "1"), "stencil2d:grid=64x64,bytes=1000", &machine, &net, &d)) return;
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        struct fc_mapping found = {0};
        struct fc_load load;
        struct fc_load_settings settings = {0};
        if (shuffled) shuffle(&d);
        struct fc_map_problem problem = {
            .net = &net, .demand = &d, .seed = 1, .time_s = shuffled ? 0 : 0.01, .starts_free = true};
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "optimize", &found, &st), FC_OK);
        CU_ASSERT_EQUAL(longest_link_bytes(&net, &d, found.node), 4000);
        struct fc_placement placement = {d.n_tasks, found.node};
        CU_ASSERT_EQUAL_FATAL(fc_load_solve(&net, &d, &placement, &settings, &load, &st), FC_OK);
        CU_ASSERT(load.hop_bytes / load.network_bytes <= 71.0 / 64 + 1e-12);
        fc_load_free(&load);
        fc_mapping_free(&found);
    }
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

/* A 4^3 stencil with shuffled tasks on a 4^3 torus: the search finds an embedding with one message on every
 * link, which the bound proves to be the best, and says so by ending early. */
static void test_perfect(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_mapping random = {0}, found = {0};
    struct fc_status st = {0};
    if (!open_job(torus444, "stencil3d:grid=4x4x4,bytes=1000", &machine, &net, &d)) return;
    shuffle(&d);
    struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1, .time_s = 1, .threads = 2};
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "random", &random, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "optimize", &found, &st), FC_OK);
    CU_ASSERT(longest_link_bytes(&net, &d, random.node) > 3000);
    CU_ASSERT_EQUAL(longest_link_bytes(&net, &d, found.node), 1000);
    fc_mapping_free(&random);
    fc_mapping_free(&found);
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

/* 12 tasks may use 20 cores of 10 nodes: the search moves to free cores of these nodes and to no others. */
static void test_allowed_nodes(void)
{
    static const uint32_t nodes[] = {100, 3, 4, 5, 60, 61, 62, 7, 8, 9};
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_mapping in_order = {0}, found = {0}, again = {0};
    struct fc_status st = {0};
    if (!open_job(torus484, "multicast:tasks=12,targets=4,stride=5,bytes=100", &machine, &net, &d)) return;
    struct fc_map_problem problem = {.net = &net, .demand = &d, .nodes = nodes, .n_nodes = 10, .time_s = 0.05};
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "def", &in_order, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "optimize", &found, &st), FC_OK);
    bool used[256] = {false};
    for (uint32_t t = 0; t < 12; t++) {
        bool allowed = false;
        for (size_t i = 0; i < FC_COUNT(nodes); i++) allowed = allowed || found.node[t] == nodes[i];
        CU_ASSERT(allowed && !used[found.core[t]] && found.node[t] == found.core[t] / 2);
        used[found.core[t]] = true;
    }
    CU_ASSERT(longest_link_bytes(&net, &d, found.node) < longest_link_bytes(&net, &d, in_order.node));
    problem.threads = 3;
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "optimize", &again, &st), FC_OK);
    CU_ASSERT(!memcmp(found.core, again.core, 12 * sizeof *found.core));
    problem.spread = true; /* one task a node: 10 nodes are too few */
    fc_mapping_free(&again);
    CU_ASSERT_EQUAL(fc_mapping_make(&problem, "optimize", &again, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "12 ranks, one a node"));
    fc_mapping_free(&in_order);
    fc_mapping_free(&found);
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

/* On PERCS the search takes a quarter off the time of the published blocks within half a second's worth of
 * steps. */
static void test_percs(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_mapping blocked = {0}, found = {0};
    struct fc_status st = {0};
    if (!open_job(PERCS("16"), "stencil2d:grid=128x128,bytes=64KiB", &machine, &net, &d)) return;
    struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1, .time_s = 0.2, .starts_free = true};
    double time_s[2];
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "bsm", &blocked, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "optimize", &found, &st), FC_OK);
    for (int i = 0; i < 2; i++) {
        struct fc_placement placement = {d.n_tasks, i ? found.node : blocked.node};
        struct fc_load_settings settings = {0};
        struct fc_load_summary summary;
        struct fc_load load;
        CU_ASSERT_EQUAL_FATAL(fc_load_solve(&net, &d, &placement, &settings, &load, &st), FC_OK);
        fc_load_summarise(&net, &load, &settings, &summary);
        time_s[i] = summary.max_link_s;
        fc_load_free(&load);
    }
    CU_ASSERT(fc_near(time_s[0], 32 * 65536 / 10e9, 1e-12)); /* table 1: 32 tasks share a D link */
    CU_ASSERT(time_s[1] < 0.75 * time_s[0]);
    fc_mapping_free(&blocked);
    fc_mapping_free(&found);
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

static void test_refusals(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_mapping m = {0};
    struct fc_status st = {0};
    if (!open_job(torus444, "alltoall:bytes=5", &machine, &net, &d)) return;
    struct fc_map_problem problem = {.net = &net, .demand = &d};
    CU_ASSERT_EQUAL(fc_mapping_make(&problem, "optimize", &m, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "alltoall:bytes=5 is dense traffic"));
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_mapping_make(&problem, "bnm", &m, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "bnm needs a task grid"));
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_mapping_make(&problem, "rdm", &m, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "needs drawers, and a torus network has none"));
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
    if (!open_job(torus484, "stencil2d:grid=7x11", &machine, &net, &d)) return;
    problem = (struct fc_map_problem){.net = &net, .demand = &d, .spread = false};
    static const uint32_t nodes[] = {0, 1};
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_mapping_make(&problem, "bnm", &m, &st), FC_OK); /* 77 blocks of one task */
    fc_mapping_free(&m);
    problem.nodes = nodes;
    problem.n_nodes = 2;
    CU_ASSERT_EQUAL(fc_mapping_make(&problem, "bnm", &m, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "77 ranks but the 2 allowed nodes have 4 cores"));
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
    if (!open_job(PERCS("2"), "stencil2d:grid=37x37", &machine, &net, &d)) return;
    problem = (struct fc_map_problem){.net = &net, .demand = &d};
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_mapping_make(&problem, "bnm", &m, &st), FC_INPUT); /* 37 is prime: blocks of one task */
    CU_ASSERT(fc_says(&st, FC_INPUT, "no equal blocks of at most 32 tasks a node tile the task grid 37x37"));
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

int suite_map_search(void)
{
    static const CU_TestInfo tests[] = {
        {"block shapes of the published tables", test_shapes},
        {"cuts of known weight", test_cuts},
        {"exact embedding", test_embedding},
        {"loads kept up to date", test_search_loads},
        {"loads of routes over the whole network", test_spread_loads},
        {"perfect mapping of a shuffled stencil", test_perfect},
        {"near perfect mapping of a stencil", test_near_perfect},
        {"search asked to stop", test_stopped},
        {"allowed nodes only, free cores used", test_allowed_nodes},
        {"PERCS: faster than the published blocks", test_percs},
        {"refusals", test_refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("map search", tests);
}
