/* flit_ugal_reference.h - curves of a dragonfly of 72 nodes under UGAL, measured with BookSim 2, and the same points run by
 * the kernel. Used by the fast tests and by `make validate`.
 *
 * BookSim 2, commit 28f4329 (github.com/booksim/booksim2): topology = dragonflynew, k = 2, n = 1 (9 groups of 4 routers
 * of 2 nodes; links of 1, 10 and 100 cycles), routing_function = ugal, num_vcs = 3, vc_buf_size = 256, injection_process
 * bernoulli in flits; routing_delay 0, vc_alloc_delay, sw_alloc_delay, st_final_delay and credit_delay 1, separable
 * input-first allocators with round-robin arbiters, one iteration, no speedup (router R1 of docs/notes/flit.md); traffic
 * uniform, or bad_dragon: every node to the nodes of the next group; 3 x 4000 cycles to warm up, 3 x 4000 measured or
 * more, seed 1. A load is stable while the mean latency stays below 2000 cycles. Latency from birth to tail. The last four
 * curves were measured after the kernel had been corrected by the first four: with another threshold in place of the 30 that
 * stands in BookSim's source, other buffers (vc_buf_size), longer packets. */
#pragma once

#include "models/demand_build.h"
#include "models/family_two_level.h"
#include "solvers/flit/flit.h"

#include <math.h>
#include <string.h>

struct ugal_point {
    double load, latency_cycles, hops; /* hops: links between routers */
};
struct ugal_curve {
    const char *name;
    bool shift; /* group shift, else uniform */
    uint32_t packet_flits;
    double stable_up_to;
    int quick; /* point for the fast tests */
    struct ugal_point point[8];
    int n;
    const char *setting; /* what is not as in the machine file; NULL: nothing */
};
static const struct ugal_curve ugal_curves[] = {
    {"uniform, 1 flit",
     false,
     1,
     0.41,
     3,
     {{0.02, 115.98, 2.302}, {0.1, 116.77, 2.309}, {0.3, 141.88, 2.791}, {0.33, 146.48, 2.8}},
     4,
     NULL},
    {"uniform, 4 flits",
     false,
     4,
     0.52,
     3,
     {{0.03, 119.49, 2.309}, {0.1, 121.49, 2.339}, {0.2, 131.36, 2.535}, {0.3, 143.34, 2.706}, {0.41, 164.7, 2.768}},
     5,
     NULL},
    {"group shift, 1 flit",
     true,
     1,
     0.18,
     2,
     {{0.008, 128.57, 2.494},
      {0.032, 153.17, 3.105},
      {0.05, 155.84, 3.146},
      {0.064, 159.05, 3.155},
      {0.1, 489.58, 3.658},
      {0.128, 567.7, 4.001},
      {0.15, 637.1, 4.122}},
     7,
     NULL},
    {"group shift, 4 flits",
     true,
     4,
     0.23,
     2,
     {{0.01, 132.73, 2.522},
      {0.05, 158.22, 3.129},
      {0.08, 162.5, 3.158},
      {0.1, 171.19, 3.145},
      {0.12, 238.58, 3.245},
      {0.15, 351.16, 3.649},
      {0.17, 387.69, 3.874}},
     7,
     NULL},
    {"group shift, threshold 10",
     true,
     4,
     0.23,
     2,
     {{0.012, 151.38, 2.991},
      {0.05, 160.37, 3.176},
      {0.1, 171.66, 3.276},
      {0.13, 198.42, 3.438},
      {0.16, 324.47, 3.773},
      {0.18, 385.56, 3.959}},
     6,
     "router.ugal.threshold=10"},
    {"group shift, threshold 100",
     true,
     4,
     0.21,
     2,
     {{0.012, 131.96, 2.507},
      {0.05, 136.05, 2.553},
      {0.1, 170.53, 3.09},
      {0.13, 492.79, 3.373},
      {0.16, 537.51, 3.772},
      {0.18, 568.91, 3.95}},
     6,
     "router.ugal.threshold=100"},
    {"group shift, 64 flits",
     true,
     4,
     0.08,
     1,
     {{0.012, 134.24, 2.565}, {0.04, 165.7, 3.093}, {0.08, 442.41, 3.917}},
     3,
     "router.buffer=512 B"},
    {"group shift, 8 flits",
     true,
     8,
     0.22,
     2,
     {{0.012, 141.38, 2.644},
      {0.05, 161.87, 3.083},
      {0.1, 176.68, 3.164},
      {0.14, 247.91, 3.349},
      {0.16, 322.47, 3.616},
      {0.18, 373.21, 3.821},
      {0.2, 434.73, 3.993}},
     7,
     NULL},
};

struct ugal_machine {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
};

/* Every node as much to every node of the next supernode. */
static inline enum fc_code ugal_group_shift(const struct fc_network *net, struct fc_demand *demand,
                                            struct fc_status *st)
{
    *demand = (struct fc_demand){0};
    uint32_t n = net->n_nodes, supernodes = fc_two_level(net)->n_supernodes, group = n / supernodes;
    if (fc_demand_start(demand, n, (uint64_t)n * group, st)) return st->code;
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t i = 0; i < group; i++) fc_demand_add(demand, s, (s / group + 1) % supernodes * group + i, 1);
    demand->open_loop = true;
    return FC_OK;
}

static inline void ugal_close(struct ugal_machine *m)
{
    fc_demand_free(&m->demand);
    fc_network_free(&m->net);
    fc_machine_free(&m->machine);
}
static inline bool ugal_open(const struct ugal_curve *c, struct ugal_machine *m, struct fc_status *st)
{
    memset(m, 0, sizeof *m);
    if (!fc_machine_load_changed("tests/machines/ugal_dragonfly72.yaml", &c->setting, c->setting != NULL, &m->machine,
                                 st) &&
        !fc_network_build(&m->machine, &m->net, st) &&
        !(c->shift ? ugal_group_shift(&m->net, &m->demand, st)
                   : fc_demand_from_pattern(&m->net, "uniform", 1, &m->demand, st)))
        return true;
    ugal_close(m);
    return false;
}

/* The kernel at a load, with the simulator's lengths divided by `shorter`. The caller frees the result. */
static inline enum fc_code ugal_run(const struct ugal_curve *c, const struct ugal_machine *m, double load,
                                    uint64_t shorter, struct fc_flit_result *result, struct fc_status *st)
{
    struct fc_flit_settings settings;
    fc_flit_defaults(&settings);
    settings.load_flits_per_cycle = load;
    settings.packet_flits_min = settings.packet_flits_max = c->packet_flits;
    settings.warmup_cycles = settings.measure_cycles = 12000 / shorter;
    return fc_flit_run(&m->net, &m->demand, NULL, &settings, result, st);
}
