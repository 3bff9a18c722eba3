/* test_map_starts.c - what the optimizer starts from: the grid found of a box whose ranks are shuffled (sides
 * of 2 to 11, rings and open ends), jobs that are no grid, bisections of exact sizes. */
#include "mapping/optimizer.h"
#include "models/demand_build.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

/* ---- a grid that the job does not say ---- */

/* Every neighbour of a box, sides that are rings with those around; the tasks renumbered at random. */
static void add_box(const int *side, bool rings, struct fc_demand *d, struct fc_status *st)
{
    uint32_t n = (uint32_t)(side[0] * side[1] * side[2]), to[1000];
    int step[] = {side[1] * side[2], side[2], 1};
    bool tied[1000];
    CU_ASSERT_FATAL(n <= 1000);
    fc_random_permutation(9, n, to, n);
    CU_ASSERT_EQUAL_FATAL(fc_demand_start(d, n, 6 * (size_t)n, st), FC_OK);
    for (uint32_t from = 0; from < n; from++) { /* entries are sorted by sender */
        uint32_t t = 0;
        while (to[t] != from) t++;
        memset(tied, 0, sizeof tied);
        for (int k = 0; k < 3; k++) {
            int x = (int)t / step[k] % side[k];
            for (int way = -1; way <= 1; way += 2) {
                int y = rings ? (x + way + side[k]) % side[k] : x + way;
                if (y >= 0 && y < side[k] && y != x) tied[to[(int)t + (y - x) * step[k]]] = true;
            }
        }
        for (uint32_t u = 0; u < n; u++)
            if (tied[u]) fc_demand_add(d, from, u, 100);
    }
}

/* The grid found has the sides of the box, in any order (a ring of 4 is also a square of 2 x 2, and the
 * finder says 4), and every message is between neighbours in it. */
static void check_found(const int *side, bool rings, long long a, long long b, long long c)
{
    struct fc_demand d = {0}, numbered;
    struct fc_status st = {0};
    struct fc_arena arena = {0};
    struct fc_unit_graph graph = {0};
    struct fc_found_grid grid;
    uint32_t identity[1000];
    add_box(side, rings, &d, &st);
    for (uint32_t t = 0; t < d.n_tasks; t++) identity[t] = t;
    CU_ASSERT_EQUAL_FATAL(fc_unit_graph_build(&d, identity, d.n_tasks, &arena, &graph, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_grid_find(&graph, &arena, &grid, &st), FC_OK);
    long long found[3] = {1, 1, 1}, want[3] = {a, b, c};
    CU_ASSERT_FATAL(grid.n > 0 && grid.n <= 3);
    for (int k = 0; k < grid.n; k++) found[k] = grid.side[k];
    for (int i = 0; i < 3; i++)
        for (int k = i + 1; k < 3; k++)
            if (found[k] > found[i]) {
                long long swap = found[i];
                found[i] = found[k];
                found[k] = swap;
            }
    CU_ASSERT(!memcmp(found, want, sizeof found));
    CU_ASSERT_EQUAL_FATAL(fc_grid_demand(&d, &grid, &arena, &numbered, &st), FC_OK);
    CU_ASSERT_EQUAL(numbered.n_grid, grid.n);
    for (size_t e = 0; e < numbered.n_entries; e++) {
        long long p = numbered.src[e], q = numbered.dst[e];
        int differ = 0;
        CU_ASSERT(e == 0 || numbered.src[e - 1] <= numbered.src[e]);
        for (int k = grid.n - 1; k >= 0; p /= grid.side[k], q /= grid.side[k], k--) {
            long long apart = llabs(p % grid.side[k] - q % grid.side[k]);
            differ += apart != 0;
            CU_ASSERT(apart <= 1 || apart == grid.side[k] - 1);
        }
        CU_ASSERT_EQUAL(differ, 1);
    }
    fc_arena_free(&arena);
    fc_demand_free(&d);
}

static void test_found_grid(void)
{
    static const int plain[] = {5, 6, 7}, small[] = {3, 4, 5}, flat[] = {1, 9, 8}, line[] = {1, 1, 11},
                     cube[] = {4, 4, 4}, two[] = {2, 5, 3}, four[] = {4, 4, 5};
    check_found(plain, true, 7, 6, 5);
    check_found(plain, false, 7, 6, 5);
    check_found(small, true, 5, 4, 3);
    check_found(small, false, 5, 4, 3);
    check_found(flat, true, 9, 8, 1);
    check_found(flat, false, 9, 8, 1);
    check_found(line, true, 11, 1, 1);
    check_found(line, false, 11, 1, 1);
    check_found(cube, true, 4, 4, 4);
    check_found(two, true, 5, 3, 2);
    check_found(two, false, 5, 3, 2);
    check_found(four, true, 5, 4, 4);
    check_found(four, false, 5, 4, 4);
}

/* The stencil of 27 points on an open box of shuffled tasks, faces[k] bytes over the faces of dimension k, 4 over edges, 1
 * over corners; `extra`: bytes of one pair far apart. */
static enum fc_code add_diagonals(const int *side, const int *faces, double extra, struct fc_demand *d,
                                  struct fc_status *st)
{
    int n = side[0] * side[1] * side[2];
    uint32_t to[1000];
    int from[1000];
    fc_random_permutation(9, 2, to, (uint32_t)n);
    for (int t = 0; t < n; t++) from[to[t]] = t;
    if (fc_demand_start(d, (uint32_t)n, 27 * (size_t)n, st)) return st->code;
    for (uint32_t u = 0; u < (uint32_t)n; u++)
        for (uint32_t v = 0; v < (uint32_t)n; v++) {
            int steps = 0, along = 0, p = from[u], q = from[v], far = 0;
            for (int k = 0; k < 3; p /= side[k], q /= side[k], k++) {
                int apart = abs(p % side[k] - q % side[k]);
                steps += apart;
                far += apart > 1;
                if (apart) along = k;
            }
            if (far == 0 && steps > 0) fc_demand_add(d, u, v, steps == 1 ? faces[along] : steps == 2 ? 4 : 1);
            if (extra > 0 && from[u] + from[v] == n / 2 && from[u] * from[v] == 0) fc_demand_add(d, u, v, extra);
        }
    return FC_OK;
}

/* Faces of equal bytes and of three sizes give the box; one pair across it is no diagonal, so there is none; nor is there
 * when edges have as many bytes as faces. */
static void test_diagonals(void)
{
    static const int side[] = {5, 6, 7}, equal[] = {16, 16, 16}, three[] = {30, 42, 35}, as_edges[] = {4, 4, 4};
    static const struct {
        const int *faces;
        double extra;
        int n;
    } cases[] = {{equal, 0, 3}, {three, 0, 3}, {equal, 2, 0}, {as_edges, 0, 0}};
    uint32_t identity[1000];
    for (uint32_t t = 0; t < 1000; t++) identity[t] = t;
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_demand d = {0};
        struct fc_status st = {0};
        struct fc_arena arena = {0};
        struct fc_unit_graph graph = {0};
        struct fc_found_grid grid;
        CU_ASSERT_EQUAL_FATAL(add_diagonals(side, cases[i].faces, cases[i].extra, &d, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_unit_graph_build(&d, identity, d.n_tasks, &arena, &graph, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_grid_find(&graph, &arena, &grid, &st), FC_OK);
        CU_ASSERT_EQUAL(grid.n, cases[i].n);
        CU_ASSERT(grid.n == 0 || grid.side[0] + grid.side[1] + grid.side[2] == 18);
        fc_arena_free(&arena);
        fc_demand_free(&d);
    }
}

/* A pair that is none in the box, a task that talks to nobody: no grids. */
static void test_no_grid(void)
{
    static const int box[] = {5, 6, 7};
    struct fc_demand d = {0};
    struct fc_status st = {0};
    struct fc_found_grid grid;
    uint32_t identity[1000];
    for (uint32_t t = 0; t < 1000; t++) identity[t] = t;
    for (int kind = 0; kind < 2; kind++) {
        struct fc_arena arena = {0};
        struct fc_unit_graph graph = {0};
        add_box(box, true, &d, &st);
        if (kind == 0) d.dst[100] = (d.dst[100] + 101) % 210;
        if (kind == 1) d.n_tasks = 211; /* one that talks to nobody */
        CU_ASSERT_EQUAL_FATAL(fc_unit_graph_build(&d, identity, d.n_tasks, &arena, &graph, &st), FC_OK);
        CU_ASSERT_EQUAL(fc_grid_find(&graph, &arena, &grid, &st), FC_OK);
        CU_ASSERT_EQUAL(grid.n, 0);
        fc_arena_free(&arena);
        fc_demand_free(&d);
    }
}

/* ---- exact sizes ---- */

/* Bisections give every task a core of its own also where a few tasks hold most of the traffic. */
static void test_bisection_sizes(void)
{
    static const char torus[] =
        "name: t\nnetwork: {family: torus, dims: [4, 4, 4]}\nlinks: {torus: {bandwidth: 1 GB/s}}\n"
        "router: {delay: 1 us, routing: dimension-order}\nnode: {cores: 8}\n";
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d = {0};
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_unit_graph graph = {0};
    struct fc_distance_table table;
    uint32_t n = 512, identity[512], slot[512], node[64];
    if (!fc_test_network(torus, &machine, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_demand_start(&d, n, 4 * n, &st), FC_OK);
    for (uint32_t t = 1; t < n; t++)
        for (uint32_t k = 0; k < 4; k++) { /* towards low numbers */
            double x = fc_random_real(3, 3, 4 * t + k);
            fc_demand_add(&d, t, (uint32_t)(x * x * x * t), 1 + k);
        }
    for (uint32_t t = 0; t < n; t++) identity[t] = t;
    for (uint32_t i = 0; i < 64; i++) node[i] = i;
    struct fc_sites sites = {&net, machine.routing, node, 64, 8, NULL, false};
    CU_ASSERT_EQUAL_FATAL(fc_unit_graph_build(&d, identity, n, &arena, &graph, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_distances_all(&sites, 100000000, &arena, &table, &st), FC_OK);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        uint64_t work = 0;
        bool used[512] = {false};
        CU_ASSERT_EQUAL_FATAL(fc_bisection_map(&sites, &graph, &table, seed, 0, slot, &work, &st), FC_OK);
        for (uint32_t t = 0; t < n; t++) {
            CU_ASSERT(slot[t] < 512 && !used[slot[t]]);
            used[slot[t]] = true;
        }
    }
    fc_arena_free(&arena);
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

int suite_map_starts(void)
{
    static const CU_TestInfo tests[] = {
        {"grid of a shuffled box", test_found_grid},
        {"jobs that are no grid", test_no_grid},
        {"the grid of a stencil with diagonals", test_diagonals},
        {"bisections of exact sizes", test_bisection_sizes},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("map starts", tests);
}
