/* test_map_routes.c - the links that a search knows: those that routes between the job's nodes cross. */
#include "mapping/routes.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>

static const char percs[] = "name: p\nnetwork: {family: two-level, supernodes: 9, drawers: 4, nodes_per_drawer: 8}\n"
                            "links: {ll: {bandwidth: 24 GB/s}, lr: {bandwidth: 5 GB/s}, d: {bandwidth: 10 GB/s}}\n"
                            "router: {delay: 1 us, routing: direct}\nnode: {cores: 32}\n";

/* Of a large machine only the links that routes between the job's nodes cross are kept, and routes are those of the walk. */
static void test_few_links(void)
{
    static const uint32_t node[] = {0, 1, 40, 100};
    struct fc_machine machine;
    struct fc_network net;
    struct fc_routes r;
    struct fc_walk walk;
    struct fc_status st = {0};
    if (!fc_test_network(percs, &machine, &net)) return;
    struct fc_sites sites = {&net, machine.routing, node, FC_COUNT(node), 32, NULL, false};
    CU_ASSERT_EQUAL_FATAL(fc_routes_make(&sites, 1000000, &r, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, machine.routing->walk_capacity(&net), &st), FC_OK);
    CU_ASSERT_EQUAL(r.kind, FC_ROUTES_TABLE);
    CU_ASSERT(r.n_links > 0 && r.n_links < 40 && net.n_links > 5000);
    for (uint32_t l = 0; l < r.n_links; l++) CU_ASSERT_EQUAL(r.number[r.real[l]], l);
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t at = r.first[i];
        walk.n = 0;
        if (i / 4 != i % 4) machine.routing->walk(&net, node[i / 4], node[i % 4], 1, &walk);
        for (uint32_t k = 0; k < walk.n; k++) {
            if (isinf(fc_link_bandwidth(&net, walk.link[k]))) continue;
            CU_ASSERT_FATAL(at < r.first[i + 1]);
            CU_ASSERT_EQUAL(r.real[r.link[at++]], walk.link[k]);
        }
        CU_ASSERT_EQUAL(at, r.first[i + 1]);
    }
    fc_walk_free(&walk);
    fc_routes_free(&r);
    fc_test_close(&machine, &net);
}

int suite_map_routes(void)
{
    static const CU_TestInfo tests[] = {{"links that routes cross", test_few_links}, CU_TEST_INFO_NULL};
    return fc_add_suite("map routes", tests);
}
