/* test_transit_cut.c - how fast a message alone can be, by counting links; and that it is, whatever paths were drawn. */
#include "solvers/load_internal.h"
#include "solvers/timing.h"
#include "solvers/transit/transit_internal.h"
#include "tests/support.h"
#include "tests/tests.h"
#include "tests/transit_send.h"

#include <math.h>

int suite_transit_cut(void);

/* Doors of 100 GB/s; links of 1, along x of 3 GB/s or not. */
#define TORUS(x)                                                                                                       \
    "name: torus\nnetwork: {family: torus, dims: [4, 5, 6]}\n"                                                         \
    "links: {x: {bandwidth: " x                                                                                        \
    " GB/s}, y: {bandwidth: 1 GB/s}, z: {bandwidth: 1 GB/s}, injection: {bandwidth: 100 GB/s}}\n"                      \
    "router: {flit: 32 B, vcs: 3, buffer: 1024 B, injection_fifos: 12, escape: bubble, routing: adaptive}\n"           \
    "packet: {min: 32 B, max: 256 B}\n"
static const struct {
    uint32_t x, y, z;
    double links,
        fast; /* links out of the source that lead there, and of them along x; half of a ring of four or six: both ways round */
} cases[] = {{0, 1, 0, 1, 0}, {0, 2, 2, 2, 0}, {0, 2, 3, 3, 0}, {2, 0, 0, 2, 2},
             {1, 0, 0, 1, 1}, {1, 1, 1, 3, 1}, {2, 1, 0, 3, 2}, {2, 2, 3, 5, 2}};

static uint32_t node_of(size_t k)
{
    return cases[k].x + 4 * (cases[k].y + 5 * cases[k].z);
}

static void counts(void)
{
    struct fc_machine m;
    struct fc_network net;
    struct fc_status st = {0};
    struct fc_cuts cuts = {0};
    struct fc_walk walk = {0};
    if (!fc_test_network(TORUS("3"), &m, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_cuts_open(&cuts, &net, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, m.routing->walk_capacity(&net), &st), FC_OK);
    for (size_t k = 0; k < FC_COUNT(cases); k++) {
        walk.n = 0;
        m.routing->walk(&net, 0, node_of(k), 1, &walk);
        CU_ASSERT(
            fc_near(fc_cut_of_walk(&cuts, &net, 0, &walk, &st), (cases[k].links + 2 * cases[k].fast) * 1e9, 1e-12));
    }
    fc_walk_free(&walk);
    fc_cuts_close(&cuts);
    fc_test_close(&m, &net);
}

/* Paths to one vertex that differ in length: 0 to 1, and by 4 around the ring. */
static void unlike_paths(void)
{
    static const char *const ring = "name: ring\nnetwork: {family: torus, dims: [5]}\n"
                                    "links: {torus: {bandwidth: 1 GB/s}, injection: {bandwidth: 4 GB/s}}\n"
                                    "router: {routing: dimension-order}\n";
    struct fc_machine m;
    struct fc_network net;
    struct fc_status st = {0};
    struct fc_cuts cuts = {0};
    uint32_t link[6], n = 0;
    double weight[6] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
    if (!fc_test_network(ring, &m, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_cuts_open(&cuts, &net, &st), FC_OK);
    link[n++] = net.first_link[fc_node_vertex(&net, 0)];
    link[n++] = fc_find_link(&net, 0, 1);
    for (uint32_t v = 5; v > 2; v--) link[n++] = fc_find_link(&net, v % 5, v - 1);
    struct fc_walk walk = {.link = link, .weight = weight, .n = n};
    CU_ASSERT(fc_near(fc_cut_of_walk(&cuts, &net, 0, &walk, &st), 1e9, 1e-12)); /* they part, and have not met yet */
    link[n] = fc_find_link(&net, 2, 1);
    walk.n = n + 1;
    CU_ASSERT(isinf(fc_cut_of_walk(&cuts, &net, 0, &walk, &st)));
    CU_ASSERT_EQUAL(st.code, FC_OK);
    fc_cuts_close(&cuts);
    fc_test_close(&m, &net);
}

/* 1 MB alone takes head + bytes / R, and what two directions are uneven by, from every node and for a pair whose paths were kept as
 * for one that was walked. */
static void alone(void)
{
    struct fc_transit_settings settings = {.network = FC_NET_CONTENTION, .seed = 1};
    struct fc_machine m;
    struct fc_network net;
    struct fc_status st = {0};
    struct fc_transit *transit = NULL;
    struct fc_arrival a = {0};
    bool found = false;
    double at_s = 0;
    if (!fc_test_network(TORUS("1"), &m, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_transit_open(&net, &settings, &transit, &st), FC_OK);
    for (uint64_t i = 0; i < 40; i++) {
        size_t k = i % FC_COUNT(cases);
        uint32_t src = (uint32_t)(7 * i) % net.n_nodes, x = (src % 4 + cases[k].x) % 4,
                 y = (src / 4 % 5 + cases[k].y) % 5;
        uint32_t dst = x + 4 * (y + 5 * ((src / 20 + cases[k].z) % 6));
        CU_ASSERT_EQUAL(fc_test_send(transit, i, at_s, src, dst, 1e6), FC_OK);
        CU_ASSERT_EQUAL(fc_transit_next(transit, INFINITY, &a, &found), FC_OK);
        bool two_ways = cases[k].x == 2 || cases[k].z == 3; /* whose parts are not even (fc_transit_uneven_s) */
        double uneven = two_ways ? sqrt(2 / (M_PI * 1e6 / transit->ways.packet_bytes)) : 0;
        double alone_s = fc_wire_bytes(&m, 1e6) / (cases[k].links * 1e9) * (1 + uneven);
        CU_ASSERT(found && fc_near(a.time_s - at_s, alone_s, 1e-3)); /* and heads */
        CU_ASSERT(two_ways ? a.time_s > a.alone_s : fc_near(a.time_s, a.alone_s, 1e-12));
        at_s = a.time_s;
    }
    for (uint32_t l = 0; l < net.n_links; l++) CU_ASSERT(busy_seconds(transit)[l] <= at_s);
    fc_transit_close(transit);
    fc_test_close(&m, &net);
}

int suite_transit_cut(void)
{
    static const CU_TestInfo tests[] = {{"cuts by counting links", counts},
                                        {"no cut where paths differ in length", unlike_paths},
                                        {"a message alone goes as fast as its cut", alone},
                                        CU_TEST_INFO_NULL};
    return fc_add_suite("transit_cut.c", tests);
}
