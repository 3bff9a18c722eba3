/* bulk_fixture.h - machines of the tests of bulk phases, and a phase on one of them. */
#pragma once

#include "solvers/calibration/calibration_phases.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <string.h>

#define MACHINE(network, routing, room)                                                                                \
    "name: a\nclock: 1 GHz\nnetwork: " network "\n"                                                                    \
    "links: {torus: {bandwidth: 8 GB/s, latency: 1 cycles}, injection: {bandwidth: 16 GB/s}}\n"                        \
    "router: {delay: 2 cycles, flit: 8 B, vcs: 2, buffer: " room ", escape: bubble, routing: " routing ", "            \
    "flow_control: cut-through}\n"                                                                                     \
    "packet: {min: 8 B, max: 64 B, header: 8 B}\nnode: {cores: 2}\n"
#define SQUARE MACHINE("{family: torus, dims: [4, 4]}", "adaptive", "128 B")
/* Closed runs of it: no splits of adaptive loads, which cost seconds here. */
#define ORDERED MACHINE("{family: torus, dims: [4, 4]}", "dimension-order", "128 B")
#define ROOMY(routing) MACHINE("{family: torus, dims: [4, 4]}", routing, "512 B")

struct bench {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_load load;
    uint32_t node[256];
    struct fc_placement placement;
    struct fc_phase_parts parts;
    struct fc_status st;
};

static inline bool open_bench(struct bench *b, const char *yaml, const char *pattern)
{
    struct fc_load_settings how = {.threads = 1};
    memset(b, 0, sizeof *b);
    if (!fc_test_network(yaml, &b->machine, &b->net)) return false;
    bool good = !fc_demand_from_pattern(&b->net, pattern, 1, &b->demand, &b->st) && b->demand.n_tasks <= 256;
    uint32_t each = good && b->demand.n_tasks > b->net.n_nodes ? b->demand.n_tasks / b->net.n_nodes : 1;
    for (uint32_t t = 0; good && t < b->demand.n_tasks; t++) b->node[t] = t / each;
    b->placement = (struct fc_placement){b->demand.n_tasks, b->node};
    good = good && !fc_load_solve(&b->net, &b->demand, &b->placement, &how, &b->load, &b->st) &&
           !fc_phase_parts(&b->net, &b->demand, &b->placement, &b->load, &how, &b->parts, &b->st);
    if (!good) {
        CU_FAIL("bench");
        printf("\n    %s: %s\n", pattern, b->st.message);
    }
    return good;
}

static inline void close_bench(struct bench *b)
{
    fc_load_free(&b->load);
    fc_demand_free(&b->demand);
    fc_test_close(&b->machine, &b->net);
}

static inline const char *kind_of(struct bench *b)
{
    return fc_bulk_kind(&b->net, &b->demand, &b->placement, &b->load);
}
