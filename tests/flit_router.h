/* flit_router.h - what the tests of the cycle engine's special routers share: machines in a line, runs,
 * refusals. */
#pragma once

#include "tests/flit_oracles.h"
#include "tests/support.h"
#include "tests/tests.h"

#define MACHINE(network, latency, router, node)                                                                        \
    "name: t\nclock: 1 GHz\nnetwork: {" network "}\nlinks: {" latency                                                  \
    "}\nrouter: {flit: 8 B, credit: 1 cycle, " router "}\npacket: {max: 64 B}\nnode: {" node "}\n"
#define PAIR "family: mesh, dims: [2]"
#define WIRES "mesh: {bandwidth: 8 GB/s, latency: 2 cycles}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}"
#define TORUS_WIRES "torus: {bandwidth: 8 GB/s, latency: 2 cycles}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}"
#define WORM "delay: 3 cycles, flow_control: wormhole, "
#define CUT "delay: 3 cycles, flow_control: cut-through, "

struct bench {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_flit_settings settings;
    struct fc_flit_result r;
    struct fc_status st;
};
static inline bool open_bench(struct bench *b, const char *yaml)
{
    memset(b, 0, sizeof *b);
    fc_flit_defaults(&b->settings);
    return fc_test_network(yaml, &b->machine, &b->net);
}
static inline void close_bench(struct bench *b)
{
    fc_flit_free(&b->r);
    fc_test_close(&b->machine, &b->net);
}
static inline enum fc_code run_demand(struct bench *b, const struct fc_demand *demand)
{
    uint32_t node[512];
    for (uint32_t i = 0; i < FC_COUNT(node); i++) node[i] = i;
    fc_flit_free(&b->r);
    b->st = (struct fc_status){0};
    CU_ASSERT_FATAL(b->net.n_nodes <= FC_COUNT(node));
    return fc_flit_run(&b->net, demand, demand->open_loop ? NULL : node, &b->settings, &b->r, &b->st);
}
static inline void must_run(struct bench *b, const struct fc_demand *demand)
{
    if (run_demand(b, demand)) printf("\n    %s", b->st.message);
    CU_ASSERT_EQUAL(b->st.code, FC_OK);
}
/* One entry of the demand: `bytes` from src to dst, or rates in an open loop. */
static inline struct fc_demand entry(const struct bench *b, uint32_t *src, uint32_t *dst, double *bytes, size_t n,
                                     bool open)
{
    static double one[512];
    for (size_t i = 0; i < FC_COUNT(one); i++) one[i] = 1;
    return (struct fc_demand){.name = "entries",
                              .n_tasks = b->net.n_nodes,
                              .n_entries = n,
                              .src = src,
                              .dst = dst,
                              .bytes = bytes,
                              .messages = one,
                              .open_loop = open};
}
static inline void run_pattern(struct bench *b, const char *pattern)
{
    struct fc_demand demand;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&b->net, pattern, 1, &demand, &st), FC_OK);
    must_run(b, &demand);
    fc_demand_free(&demand);
}
/* The refusal holds these words. */
static inline void refused(struct bench *b, const struct fc_demand *demand, const char *words)
{
    CU_ASSERT_EQUAL(run_demand(b, demand), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(b->st.message, words));
    if (!strstr(b->st.message, words)) printf("\n    got \"%s\", expected \"%s\"", b->st.message, words);
}
static inline void refused_pattern(struct bench *b, const char *pattern, bool open, const char *words)
{
    struct fc_demand demand;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&b->net, pattern, 1, &demand, &st), FC_OK);
    demand.open_loop = open;
    refused(b, &demand, words);
    fc_demand_free(&demand);
}
static inline void refused_file(const char *yaml, long line, const char *words)
{
    struct fc_machine machine;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_test_machine(yaml, &machine, &st), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, words));
    CU_ASSERT_EQUAL(st.line, line);
    if (!strstr(st.message, words)) printf("\n    got \"%s\", expected \"%s\"", st.message, words);
}
