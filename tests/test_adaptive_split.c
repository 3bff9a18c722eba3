/* test_adaptive_split.c - the split of sparse traffic over minimal paths of adaptive tori: hop-bytes. Against the linear program:
 * test_load.c. */
#include "models/family_torus.h"
#include "solvers/load_internal.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

enum { A_NODE = 6, MOST_NODES = 256 };

static uint32_t hops_between(const struct fc_torus_shape *s, uint32_t v, uint32_t w)
{
    uint32_t hops = 0;
    for (int d = 0; d < s->n_dims; d++) {
        uint32_t far = (fc_torus_coordinate(s, w, d) + s->k[d] - fc_torus_coordinate(s, v, d)) % s->k[d];
        hops += far < s->k[d] - far ? far : s->k[d] - far;
    }
    return hops;
}

/* Six messages a node, alike or not, some of them between nodes of one router: every byte crosses as many links as it has hops. */
static void check(const char *dims, bool alike)
{
    static uint32_t src[A_NODE * MOST_NODES], dst[A_NODE * MOST_NODES], node[MOST_NODES];
    static double bytes[A_NODE * MOST_NODES];
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_load load;
    struct fc_status st = {0};
    char yaml[200];
    double hop_bytes = 0, torus = 0;
    snprintf(yaml, sizeof yaml,
             "name: t\nnetwork: {family: torus, dims: %s, nodes_per_router: 2}\nlinks: {torus: {bandwidth: 1 GB/s, "
             "latency: 1 ns}}\n",
             dims);
    if (!fc_test_network(yaml, &machine, &net)) return;
    uint32_t n = A_NODE * net.n_nodes;
    CU_ASSERT_FATAL(net.n_nodes <= MOST_NODES);
    for (uint32_t i = 0; i < net.n_nodes; i++) node[i] = i;
    for (uint32_t e = 0; e < n; e++) {
        src[e] = e / A_NODE;
        dst[e] = e % 8 == 0 ? src[e] ^ 1 : (uint32_t)fc_random_below(5, 1, e, net.n_nodes);
        bytes[e] = alike ? 7 : 1 + (double)fc_random_below(5, 2, e, 1000);
        hop_bytes += bytes[e] * hops_between(fc_torus(&net), src[e] / 2, dst[e] / 2);
    }
    struct fc_placement placement = {net.n_nodes, node};
    struct fc_load_settings settings = {0};
    CU_ASSERT_EQUAL_FATAL(fc_demand_of_pairs("pairs", net.n_nodes, n, src, dst, bytes, &d, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_load_solve(&net, &d, &placement, &settings, &load, &st), FC_OK);
    CU_ASSERT_STRING_EQUAL(load.method, "adaptive split");
    for (uint32_t l = 0; l < net.n_links; l++)
        if (!strcmp(machine.classes[net.link_class[l]].name, "torus")) torus += load.bytes[l];
    CU_ASSERT(fc_near(torus, hop_bytes, 1e-9));
    fc_load_free(&load);
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

static void hop_bytes(void)
{
    static const char *const dims[] = {"[6]", "[4, 4]", "[5, 4, 3]", "[3, 4, 2, 3]", "[3, 2, 3, 2, 3]"};
    for (size_t i = 0; i < FC_COUNT(dims); i++) {
        check(dims[i], true);
        check(dims[i], false);
    }
}

int suite_adaptive_split(void)
{
    static const CU_TestInfo tests[] = {
        {"hop-bytes, one to five dimensions, two nodes a router", hop_bytes},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("adaptive_split.c", tests);
}
