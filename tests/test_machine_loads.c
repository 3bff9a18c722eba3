/* test_machine_loads.c - what shipped machines are known for, through the load solver: the peak of Blue Gene/L's
 * 2:1:1 tori (Adiga et al. 2005), Table 1 and the default mappings of PERCS (Bhatele et al., SC'11). */
#include "solvers/solvers.h"
#include "tests/network_checks.h"
#include "tests/support.h"

/* ---- Blue Gene/L: all-to-all on 2:1:1 tori ---- */

static void two_to_one_to_one(const char *machine, const char *yaml_dims)
{
    struct fc_machine m;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_load load;
    struct fc_load_summary summary;
    struct fc_load_settings settings = {.threads = 2};
    struct fc_status st = {0};
    char yaml[600];
    snprintf(yaml, sizeof yaml,
             "name: t\nnetwork: {family: torus, dims: %s}\nlinks: {torus: {bandwidth: 175 MB/s}}\nrouter: {escape: "
             "bubble}\n"
             "packet: {min: 32 B, max: 256 B, header: 16 B, trailer: 14 B}\n",
             yaml_dims ? yaml_dims : "");
    if (!fc_test_network(machine ? machine : yaml, &m, &net)) return;
    uint32_t *node = malloc(net.n_nodes * sizeof *node);
    for (uint32_t i = 0; i < net.n_nodes; i++) node[i] = i;
    struct fc_placement placement = {net.n_nodes, node};
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "alltoall:bytes=240", 1, &demand, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_load_solve(&net, &demand, &placement, &settings, &load, &st), FC_OK);
    fc_load_summarise(&net, &load, &settings, &summary);
    double busy_s = 0, payload_bytes = 0, links = (double)summary.classes[0].count;
    for (uint32_t l = 0; l < net.n_links; l++)
        if (net.link_class[l] == 0) {
            busy_s += load.bytes[l] * load.wire_factor / 175e6;
            payload_bytes += load.bytes[l];
        }
    CU_ASSERT(fc_near(busy_s / links / summary.bound_s, 2.0 / 3, 1e-12));                            /* 66.7 % */
    CU_ASSERT(fc_near(payload_bytes / links / summary.bound_s / 175e6, 2.0 / 3 * 240 / 270, 1e-12)); /* 59 % */
    fc_load_free(&load);
    fc_demand_free(&demand);
    free(node);
    fc_test_close(&m, &net);
}

static void anisotropic_peak(void)
{
    two_to_one_to_one("bgl-64k", NULL);
    two_to_one_to_one(NULL, "[32, 16, 16]");
    two_to_one_to_one(NULL, "[4, 8, 4]");
}

/* ---- PERCS: Table 1 and loads of default mappings ---- */

/* The shipped machine with another rule for D links. */
static bool percs_free(struct fc_machine *m, struct fc_network *net)
{
    char path[700], text[4096];
    size_t n = 0;
    fc_machines_directory(path, 600);
    FILE *file = fopen(strcat(path, "/percs-16.yaml"), "r");
    if (file) n = fread(text, 1, sizeof text - 1, file), fclose(file);
    text[n] = 0;
    char *rule = strstr(text, "d_link: packed");
    CU_ASSERT_FATAL(rule != NULL && n < sizeof text - 1);
    memcpy(rule, "d_link: free  ", 14);
    return fc_test_network(text, m, net);
}

/* Loads of the pattern with task t on node[t] (NULL: 32 tasks a node in order). */
static bool solve(const struct fc_network *net, const char *pattern, const uint32_t *given,
                  struct fc_load_summary *summary)
{
    struct fc_demand demand;
    struct fc_load load;
    struct fc_load_settings settings = {.threads = 2};
    struct fc_status st = {0};
    if (fc_demand_from_pattern(net, pattern, 1, &demand, &st) == FC_OK) {
        uint32_t *node = malloc(demand.n_tasks * sizeof *node);
        for (uint32_t t = 0; t < demand.n_tasks; t++) node[t] = given ? given[t] : t / 32;
        struct fc_placement placement = {demand.n_tasks, node};
        if (fc_load_solve(net, &demand, &placement, &settings, &load, &st) == FC_OK) {
            fc_load_summarise(net, &load, &settings, summary);
            fc_load_free(&load);
        }
        free(node);
        fc_demand_free(&demand);
    }
    if (st.code) printf("\n    %s: %s\n", pattern, st.message);
    CU_ASSERT_EQUAL(st.code, FC_OK);
    return st.code == FC_OK;
}

enum { LL, LR, D };
static void sharers(const struct fc_load_summary *s, int ll, int lr, int d, int d_used)
{
    CU_ASSERT_EQUAL(s->classes[LL].max_bytes, 65536.0 * ll);
    CU_ASSERT_EQUAL(s->classes[LR].max_bytes, 65536.0 * lr);
    CU_ASSERT_EQUAL(s->classes[D].max_bytes, 65536.0 * d);
    CU_ASSERT_EQUAL(s->classes[D].used, d_used);
    CU_ASSERT_EQUAL(s->classes[D].count, 240);
}

/* 128 x 128 tasks on 16 supernodes, 64 KiB a message: how many messages share the busiest link of each class. */
static void table1(void)
{
    struct fc_machine m;
    struct fc_network net;
    struct fc_load_summary summary;
    uint32_t node[128 * 128];
    static const char pattern[] = "stencil2d:grid=128x128,bytes=65536";
    if (!percs_free(&m, &net)) return;
    for (uint32_t t = 0; t < 128 * 128; t++) node[t] = t / 32;
    if (solve(&net, pattern, node, &summary)) sharers(&summary, 32, 32, 128, 2 * 16);
    for (uint32_t t = 0; t < 128 * 128; t++) { /* blocks: node 4 x 8, drawer 16 x 16, supernode 32 x 32 */
        uint32_t row = t / 128, column = t % 128;
        uint32_t supernode = row / 32 * 4 + column / 32, drawer = row % 32 / 16 * 2 + column % 32 / 16;
        uint32_t position = row % 16 / 4 * 2 + column % 16 / 8;
        node[t] = (supernode * 4 + drawer) * 8 + position;
    }
    if (solve(&net, pattern, node, &summary)) sharers(&summary, 8, 8, 32, 2 * 32);
    fc_test_close(&m, &net);
    if (!fc_test_network("percs-16", &m, &net))
        return; /* with the local hops to and from D links, which the paper leaves out */
    if (solve(&net, pattern, node, &summary)) sharers(&summary, 12, 12, 32, 2 * 32);
    for (uint32_t t = 0; t < 128 * 128; t++) node[t] = t / 32;
    if (solve(&net, pattern, node, &summary)) sharers(&summary, 33, 32, 128, 2 * 16);
    fc_test_close(&m, &net);
}

/* Tasks in order. An outer face of a supernode's block goes over one D link: 1024 or 256 messages of 2 MiB, 256 of
 * 64 KiB, 1024 of 512 KiB. The multicast figures are those of an independent evaluator. */
static void default_mappings(void)
{
    static const struct {
        const char *machine, *pattern;
        double lr_bytes, d_bytes; /* greatest; 0: not known */
    } golden[] = {
        {"percs-64", "stencil4d:grid=16x16x16x16,bytes=2MiB", 0, 1024 * 2097152.0},
        {"percs-64", "stencil2d:grid=256x256,bytes=64KiB", 0, 256 * 65536.0},
        {"percs-300", "stencil4d:grid=16x16x16x75,bytes=1MiB/1MiB/512KiB/512KiB,order=column-major", 0,
         1024 * 524288.0},
        {"percs-64", "multicast:targets=14,stride=12,bytes=1MiB", 196 * 1048576.0, 336 * 1048576.0},
    };
    struct fc_machine m;
    struct fc_network net;
    for (size_t i = 0; i < FC_COUNT(golden); i++) {
        struct fc_load_summary summary;
        if (!fc_test_network(golden[i].machine, &m, &net)) continue;
        if (solve(&net, golden[i].pattern, NULL, &summary)) {
            CU_ASSERT_EQUAL(summary.classes[D].max_bytes, golden[i].d_bytes);
            if (golden[i].lr_bytes > 0) CU_ASSERT_EQUAL(summary.classes[LR].max_bytes, golden[i].lr_bytes);
        }
        fc_test_close(&m, &net);
    }
}

static const CU_TestInfo tests[] = {
    {"2:1:1 tori carry 66.7 % at most", anisotropic_peak},
    {"PERCS Table 1", table1},
    {"PERCS default mappings", default_mappings},
    CU_TEST_INFO_NULL,
};

int suite_machine_loads(void)
{
    return fc_add_suite("machine_loads", tests);
}
