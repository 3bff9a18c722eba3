/* test_shapes.c - blocks of given shapes: cores worked out by hand on a small machine, with and without a
 * rest; the shapes of Tables 3 and 5 (Bhatele et al., SC'11) place every task where the strategies of those
 * names do; loads on 300 supernodes; refusals, and texts that are no shapes. */
#include "mapping/mapping.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

/* 3 supernodes of 2 drawers of 2 nodes of 2 cores. */
static const char small[] =
    "name: small\nnetwork: {family: two-level, supernodes: 3, drawers: 2, nodes_per_drawer: 2, d_link: "
    "packed}\n"
    "links: {ll: {bandwidth: 24 GB/s}, lr: {bandwidth: 5 GB/s}, d: {bandwidth: 10 GB/s}}\n"
    "router: {delay: 1 us, routing: direct}\nnode: {cores: 2}\n";
static const char torus[] = "name: t\nnetwork: {family: torus, dims: [4, 4]}\nlinks: {torus: {bandwidth: 1 GB/s}}\n"
                            "router: {delay: 1 us, routing: dimension-order}\nnode: {cores: 2}\n";

struct world {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_map_problem problem;
    struct fc_status st;
};

/* yaml: a machine's text, or the name of a shipped one. */
static bool open_world(struct world *w, const char *yaml, const char *pattern)
{
    memset(w, 0, sizeof *w);
    bool good = strchr(yaml, '\n')
                    ? fc_test_network(yaml, &w->machine, &w->net)
                    : !fc_machine_load(yaml, &w->machine, &w->st) && !fc_network_build(&w->machine, &w->net, &w->st);
    good = good && !fc_demand_from_pattern(&w->net, pattern, 1, &w->demand, &w->st);
    CU_ASSERT_TRUE_FATAL(good);
    w->problem = (struct fc_map_problem){.net = &w->net, .demand = &w->demand, .seed = 1};
    return good;
}

static void close_world(struct world *w)
{
    fc_demand_free(&w->demand);
    fc_test_close(&w->machine, &w->net);
}

/* Task (x, y), x fastest: two along x a node, two nodes along y a drawer, two drawers along x a supernode. */
static uint32_t by_hand(uint32_t x, uint32_t y)
{
    return y / 2 * 8 + x / 2 * 4 + y % 2 * 2 + x % 2;
}

static void test_whole(void)
{
    static const char *const orders[] = {"stencil2d:grid=4x6", "stencil2d:grid=6x4,order=row-major"};
    for (int o = 0; o < 2; o++) { /* fastest dimension first, however the pattern counts */
        struct world w;
        struct fc_mapping m;
        if (!open_world(&w, small, orders[o])) return;
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&w.problem, "shapes:2x1/2x2/4x2", &m, &w.st), FC_OK);
        for (uint32_t t = 0; t < 24; t++) {
            CU_ASSERT_EQUAL(m.core[t], by_hand(t % 4, t / 4));
            CU_ASSERT_EQUAL(m.node[t], m.core[t] / 2);
        }
        CU_ASSERT_STRING_EQUAL(m.strategy, "shapes:2x1/2x2/4x2");
        fc_mapping_free(&m);
        /* nodes only: the same nodes in row-major order */
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&w.problem, "shapes:2x1", &m, &w.st), FC_OK);
        for (uint32_t t = 0; t < 24; t++) CU_ASSERT_EQUAL(m.core[t], t);
        fc_mapping_free(&m);
        close_world(&w);
    }
}

/* The last row, 4 x 1, is one drawer's block: on one of the two drawers of the supernode that is left. */
static void test_rest(void)
{
    struct world w;
    bool drawn[2] = {false, false};
    if (!open_world(&w, small, "stencil2d:grid=4x5")) return;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct fc_mapping m;
        w.problem.seed = seed;
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&w.problem, "shapes:2x1/2x2/4x2", &m, &w.st), FC_OK);
        for (uint32_t t = 0; t < 16; t++) CU_ASSERT_EQUAL(m.core[t], by_hand(t % 4, t / 4));
        uint32_t drawer = m.core[16] / 4;
        CU_ASSERT(drawer == 4 || drawer == 5);
        for (uint32_t t = 16; t < 20; t++) CU_ASSERT_EQUAL(m.core[t], drawer * 4 + t - 16);
        drawn[drawer == 5] = true;
        fc_mapping_free(&m);
    }
    CU_ASSERT(drawn[0] && drawn[1]);
    close_world(&w);
    /* a rest of single nodes, on a network without drawers; every task on a core of its own */
    if (!open_world(&w, torus, "stencil2d:grid=5x5")) return;
    struct fc_mapping m;
    uint8_t used[32] = {0};
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&w.problem, "shapes:1x2", &m, &w.st), FC_OK);
    for (uint32_t t = 0; t < 25; t++) used[m.core[t]]++;
    for (uint32_t c = 0; c < 32; c++) CU_ASSERT(used[c] <= 1);
    for (uint32_t t = 0; t < 20; t++) CU_ASSERT_EQUAL(m.core[t], t / 10 * 10 + t % 5 * 2 + t / 5 % 2);
    fc_mapping_free(&m);
    close_world(&w);
}

/* ---- the paper's shapes ---- */

static void test_tables(void)
{
    static const struct {
        const char *pattern, *strategy, *shapes;
    } cases[] = {
        {"stencil2d:grid=256x256", "def", "shapes:32x1/256x1/256x4"},
        {"stencil2d:grid=256x256", "bnm", "shapes:8x4/64x4/256x4"},
        {"stencil2d:grid=256x256", "bdm", "shapes:8x4/16x16/64x16"},
        {"stencil2d:grid=256x256", "bsm", "shapes:8x4/16x16/32x32"},
        {"stencil4d:grid=16x16x16x16", "def", "shapes:16x2x1x1/16x16x1x1/16x16x4x1"},
        {"stencil4d:grid=16x16x16x16", "bnm", "shapes:4x2x2x2/16x4x2x2/16x16x2x2"},
        {"stencil4d:grid=16x16x16x16", "bdm", "shapes:4x2x2x2/4x4x4x4/16x4x4x4"},
        {"stencil4d:grid=16x16x16x16", "bsm", "shapes:4x2x2x2/4x4x4x4/8x8x4x4"},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct world w;
        struct fc_mapping a, b;
        if (!open_world(&w, "percs-64", cases[i].pattern)) return;
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&w.problem, cases[i].strategy, &a, &w.st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&w.problem, cases[i].shapes, &b, &w.st), FC_OK);
        CU_ASSERT(!memcmp(a.core, b.core, a.n_tasks * sizeof *a.core));
        fc_mapping_free(&a);
        fc_mapping_free(&b);
        close_world(&w);
    }
}

/* 75 = 18 x 4 + 3: supernodes 0 to 287 hold blocks of 8x8x4x4, the other 12 the last 3 slices. A face of a
 * block is 8x4x4 messages of 1 MiB or 8x8x4 of 512 KiB: 128 MiB. */
static void test_300(void)
{
    struct world w;
    struct fc_mapping m;
    struct fc_load load;
    if (!open_world(&w, "percs-300", "stencil4d:grid=16x16x16x75,bytes=1MiB/1MiB/512KiB/512KiB")) return;
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&w.problem, "shapes:4x2x2x2/4x4x4x4/8x8x4x4", &m, &w.st), FC_OK);
    bool apart = true, *used = calloc(300 * 1024, 1);
    for (uint32_t t = 0; t < m.n_tasks; t++) {
        apart = apart && (t / 4096 < 72) == (m.core[t] / 1024 < 288) && !used[m.core[t]];
        used[m.core[t]] = true;
    }
    CU_ASSERT(apart);
    free(used);
    struct fc_placement placement = {m.n_tasks, m.node};
    struct fc_load_settings settings = {0};
    CU_ASSERT_EQUAL_FATAL(fc_load_solve(&w.net, &w.demand, &placement, &settings, &load, &w.st), FC_OK);
    double inside = 0;
    uint32_t m_routers = 32;
    for (uint32_t l = 0; l < w.net.n_links; l++) {
        uint32_t a = w.net.link_source[l] / m_routers, b = w.net.link_target[l] / m_routers;
        if (a != b && a < 288 && b < 288 && load.bytes[l] > inside) inside = load.bytes[l];
    }
    CU_ASSERT_EQUAL(inside, 2 * 134217728.0); /* x and y wrap around two blocks: both faces go to the same one */
    fc_load_free(&load);
    fc_mapping_free(&m);
    close_world(&w);
}

/* ---- refusals ---- */

static void test_refusals(void)
{
    static const struct {
        const char *map, *message;
    } cases[] = {
        {"shapes", "strategy shapes needs the shapes of its blocks: shapes:NODE/DRAWER/SUPERNODE"},
        {"shapes:", "'' is not 1 to 3 boxes of 2 sides"},
        {"shapes:2", "is not 1 to 3 boxes of 2 sides"},
        {"shapes:2x1x1", "is not 1 to 3 boxes"},
        {"shapes:2x", "is not 1 to 3 boxes"},
        {"shapes:2x1/", "is not 1 to 3 boxes"},
        {"shapes:2x0", "is not 1 to 3 boxes"},
        {"shapes:-2x1", "is not 1 to 3 boxes"},
        {"shapes:2 x1", "is not 1 to 3 boxes"},
        {"shapes:99999999999999999999x1", "is not 1 to 3 boxes"},
        {"shapes:1x1/1x1/1x1/1x1", "is not 1 to 3 boxes"},
        {"shapes:4294967295x1", "is not 1 to 3 boxes"},
        {"shapes:2x2", "the block of a node has 4 tasks, and a node holds 2"},
        {"shapes:2x1/2x3", "the block of a drawer has 3 nodes, and a drawer holds 2"},
        {"shapes:2x1/2x2/4x6", "the block of a supernode has 6 drawers, and a supernode holds 2"},
        {"shapes:2x1/1x2", "a side of 1 tasks of the drawer is no multiple of the node's 2"},
        {"shapes:1x1/1x1/1x1", "24 outermost blocks, and only 3 units to hold them"},
        {"def:2x1", "strategy def takes nothing behind its name (got ':2x1')"},
    };
    struct world w;
    struct fc_mapping m;
    if (!open_world(&w, small, "stencil2d:grid=4x6")) return;
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        w.st = (struct fc_status){0};
        CU_ASSERT_EQUAL(fc_mapping_make(&w.problem, cases[i].map, &m, &w.st), FC_INPUT);
        if (!fc_says(&w.st, FC_INPUT, cases[i].message)) {
            printf("\n    %s: %s\n", cases[i].map, w.st.message);
            CU_FAIL("another message");
        }
    }
    close_world(&w);
    if (!open_world(&w, small, "stencil2d:grid=3x3")) return;
    CU_ASSERT_EQUAL(fc_mapping_make(&w.problem, "shapes:1x2/2x2", &m, &w.st), FC_INPUT);
    CU_ASSERT(fc_says(&w.st, FC_INPUT, "leaves a rest in 2 dimensions of the grid (expected 1 at most)"));
    w.st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_mapping_make(&w.problem, "shapes:1x2/1x4", &m, &w.st), FC_INPUT);
    CU_ASSERT(fc_says(&w.st, FC_INPUT, "a side of 4 tasks is longer than the grid's 3"));
    close_world(&w);
    if (!open_world(&w, torus, "stencil2d:grid=4x4")) return;
    CU_ASSERT_EQUAL(fc_mapping_make(&w.problem, "shapes:2x1/4x1", &m, &w.st), FC_INPUT);
    CU_ASSERT(fc_says(&w.st, FC_INPUT, "needs drawers, and a torus network has none"));
    close_world(&w);
    if (!open_world(&w, torus, "alltoall:bytes=8")) return;
    CU_ASSERT_EQUAL(fc_mapping_make(&w.problem, "shapes:2", &m, &w.st), FC_INPUT);
    CU_ASSERT(fc_says(&w.st, FC_INPUT, "needs a task grid"));
    close_world(&w);
}

/* Drawn texts of the letters that shapes are made of: refused in words, or a mapping of every task. */
static void test_drawn(void)
{
    static const char letters[] = "0123456x/x1 -";
    struct world w;
    int made = 0;
    if (!open_world(&w, small, "stencil2d:grid=4x5")) return;
    for (uint64_t i = 0; i < 4000; i++) {
        char text[24] = "shapes:";
        struct fc_mapping m;
        int n = (int)fc_random_below(1, i, 0, 13);
        for (int k = 0; k < n; k++)
            text[7 + k] =
                i % 2 && k < 3 ? "2x1"[k] : letters[fc_random_below(1, i, (uint64_t)k + 1, sizeof letters - 1)];
        text[7 + n] = 0;
        w.st = (struct fc_status){0};
        if (fc_mapping_make(&w.problem, text, &m, &w.st)) {
            CU_ASSERT(w.st.code == FC_INPUT && strlen(w.st.message) > 20);
            continue;
        }
        made++;
        bool used[24] = {false};
        for (uint32_t t = 0; t < m.n_tasks; t++) {
            CU_ASSERT_TRUE_FATAL(m.core[t] < 24 && !used[m.core[t]]);
            used[m.core[t]] = true;
        }
        fc_mapping_free(&m);
    }
    CU_ASSERT(made > 0);
    close_world(&w);
}

int suite_shapes(void)
{
    static const CU_TestInfo tests[] = {
        {"blocks on a small machine, by hand", test_whole},
        {"what the blocks do not tile", test_rest},
        {"Tables 3 and 5: as the named strategies", test_tables},
        {"300 supernodes: 288 of blocks and 12 of the rest", test_300},
        {"refusals", test_refusals},
        {"drawn texts", test_drawn},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("shapes", tests);
}
