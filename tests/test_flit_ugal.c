/* test_flit_ugal.c - UGAL: an almost empty network routes directly, whatever its settings; both engines agree; points of
 * an independent simulator (flit_ugal_reference.h). */
#include "tests/flit_ugal_reference.h"
#include "solvers/queueing/queueing.h"
#include "tests/support.h"
#include "tests/tests.h"

#define HEAD(network, links)                                                                                           \
    "name: t\nclock: 1 GHz\nnetwork: {family: two-level, " network "}\nlinks: {" links                                 \
    ", injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\n"
#define FULL "ll: {bandwidth: 8 GB/s, latency: 10 cycles}, d: {bandwidth: 8 GB/s, latency: 100 cycles}"
#define GRID                                                                                                           \
    "ll: {bandwidth: 8 GB/s, latency: 5 cycles}, lr: {bandwidth: 8 GB/s, latency: 5 cycles}, d: {bandwidth: 4 GB/s, "  \
    "latency: 300 cycles}"
#define DRAGONFLY "supernodes: 9, drawers: 1, nodes_per_drawer: 4, nodes_per_router: 2, d_link: relative, d_ports: 2"
#define ROUTER(keys)                                                                                                   \
    "router: {routing: ugal, flow_control: cut-through, delay: 2 cycles, credit: 1 cycle, flit: 8 B, buffer: 2 KiB, "  \
    "escape: none, " keys "}\npacket: {max: 64 B}\n"

static const char *const machines[] = {
    HEAD(DRAGONFLY, FULL) ROUTER("vcs: 3"),
    HEAD(DRAGONFLY, FULL) ROUTER("vcs: 3, ugal: {threshold: 30, weight: 2, queue: credits}"),
    HEAD(DRAGONFLY, FULL) ROUTER("vcs: 3, ugal: {queue: local, threshold: 0}"),
    HEAD("supernodes: 5, drawers: 2, nodes_per_drawer: 2, links_per_pair: 2", GRID) ROUTER("vcs: 3"),
    HEAD("supernodes: 5, drawers: 2, nodes_per_drawer: 3, local: grid", GRID) ROUTER("vcs: 6"),
};

static enum fc_code run(const struct fc_network *net, const struct fc_demand *demand, int engine, double load,
                        uint64_t cycles, struct fc_flit_result *r)
{
    struct fc_flit_settings s;
    struct fc_status st = {0};
    fc_flit_defaults(&s);
    s.engine = engine;
    s.load_flits_per_cycle = load;
    s.warmup_cycles = cycles / 2;
    s.measure_cycles = cycles;
    enum fc_code code = fc_flit_run(net, demand, NULL, &s, r, &st);
    if (code) printf("\n    %s\n", st.message);
    CU_ASSERT_EQUAL(code, FC_OK);
    return code;
}

/* Latency and hops at a load, against the same packets on direct routes. */
static void fresh(struct fc_machine *machine, const struct fc_network *net, int engine, double load, uint64_t cycles)
{
    struct fc_status st = {0};
    struct fc_demand demand;
    struct fc_flit_result ugal, direct;
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(net, "uniform", 1, &demand, &st), FC_OK);
    if (!run(net, &demand, engine, load, cycles, &ugal)) {
        CU_ASSERT_EQUAL(fc_machine_route(machine, "direct", &st), FC_OK);
        if (!run(net, &demand, engine, load, cycles, &direct)) {
            CU_ASSERT(fabs(ugal.latency_mean_cycles / direct.latency_mean_cycles - 1) < 0.01);
            CU_ASSERT(fabs(ugal.hops_mean / direct.hops_mean - 1) < 0.01);
            fc_flit_free(&direct);
        }
        CU_ASSERT_EQUAL(fc_machine_route(machine, "ugal", &st), FC_OK);
        fc_flit_free(&ugal);
    }
    fc_demand_free(&demand);
}

static void fresh_is_minimal(void)
{
    for (size_t i = 0; i < FC_COUNT(machines); i++)
        for (int engine = FC_ENGINE_EVENT; engine <= FC_ENGINE_CYCLE; engine++) {
            struct fc_machine machine;
            struct fc_network net;
            if (!fc_test_network(machines[i], &machine, &net)) continue;
            fresh(&machine, &net, engine, 0.02, 20000);
            fc_test_close(&machine, &net);
        }
}

/* The smallest relatives of those shipped machines whose routing it is. */
static void shipped_are_minimal(void)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    const char **names;
    size_t n, met = 0;
    CU_ASSERT_EQUAL_FATAL(fc_machine_names(&arena, &names, &n, &st), FC_OK);
    for (size_t i = 0; i < n; i++) {
        struct fc_machine machine, small;
        struct fc_network net;
        bool exists;
        if (fc_machine_load(names[i], &machine, &st)) continue;
        if (!strcmp(machine.routing->name, "ugal") && !fc_machine_smaller(&machine, 0, &small, &exists, &st) &&
            exists) {
            met++;
            CU_ASSERT_EQUAL_FATAL(fc_network_build(&small, &net, &st), FC_OK);
            fresh(&small, &net, FC_ENGINE_AUTO, 0.01, 4000);
            fc_network_free(&net);
            fc_machine_free(&small);
        }
        fc_machine_free(&machine);
    }
    CU_ASSERT(met >= 2);
    fc_arena_free(&arena);
}

/* Every node to nodes of the next supernode: what queues are for. Both engines see the same of them. */
static void engines_agree(void)
{
    for (size_t i = 0; i < 3; i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand demand;
        struct fc_flit_result r[2];
        struct fc_status st = {0};
        if (!fc_test_network(machines[i], &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(ugal_group_shift(&net, &demand, &st), FC_OK);
        if (!run(&net, &demand, FC_ENGINE_EVENT, 0.1, 8000, &r[0])) {
            if (!run(&net, &demand, FC_ENGINE_CYCLE, 0.1, 8000, &r[1])) {
                double latency = r[0].latency_mean_cycles / r[1].latency_mean_cycles - 1;
                CU_ASSERT(r[0].hops_mean > 2.6 && fabs(r[0].hops_mean / r[1].hops_mean - 1) < 0.05);
                CU_ASSERT(fabs(latency) < 0.07);
                if (!(fabs(latency) < 0.07))
                    printf("\n    event %g, cycle %g\n", r[0].latency_mean_cycles, r[1].latency_mean_cycles);
                fc_flit_free(&r[1]);
            }
            fc_flit_free(&r[0]);
        }
        fc_demand_free(&demand);
        fc_test_close(&machine, &net);
    }
}

/* One point of each curve in the middle, in a short run. */
static void simulator_points(void)
{
    for (size_t i = 0; i < FC_COUNT(ugal_curves); i++) {
        const struct ugal_curve *c = &ugal_curves[i];
        const struct ugal_point *p = &c->point[c->quick];
        struct ugal_machine m;
        struct fc_flit_result r;
        struct fc_status st = {0};
        CU_ASSERT_TRUE_FATAL(ugal_open(c, &m, &st));
        CU_ASSERT_EQUAL(ugal_run(c, &m, p->load, 3, &r, &st), FC_OK);
        if (!st.code) {
            double deviation = 100 * (r.latency_mean_cycles / p->latency_cycles - 1);
            CU_ASSERT(fabs(deviation) < 5);
            if (!(fabs(deviation) < 5)) printf("\n    %s at %g: %+.1f %%\n", c->name, p->load, deviation);
            fc_flit_free(&r);
        }
        ugal_close(&m);
    }
}

/* To a router drawn in the supernode between: the loads of both components are those of their walks, between all pairs of
 * nodes at once and summed by supernodes; a local link more is taken than through the supernode alone. */
static void loads_through_a_router(void)
{
    static const char yaml[] =
        "name: t\nnetwork: {family: two-level, supernodes: 5, drawers: 2, nodes_per_drawer: 2, local: grid, d_link: hashed, "
        "links_per_pair: 2, nodes_per_router: 2}\nlinks: {ll: {bandwidth: 4 GB/s, latency: 1 ns}, "
        "lr: {bandwidth: 4 GB/s, latency: 1 ns}, d: {bandwidth: 1 GB/s, latency: 1 ns}}\n"
        "router: {routing: ugal, vcs: 8, ugal: {via: router}}\n";
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    struct fc_arena arena = {0};
    struct fc_walk walk;
    if (!fc_test_network(yaml, &machine, &net)) return;
    const struct fc_routing_ops *ugal = machine.routing;
    uint32_t n = net.n_nodes;
    double *walked = fc_alloc(&arena, net.n_links, sizeof *walked, &st), sum[2] = {0};
    double *sparse = fc_alloc(&arena, net.n_links, sizeof *sparse, &st);
    double *dense = fc_alloc(&arena, net.n_links, sizeof *dense, &st);
    double *a = fc_alloc(&arena, n, sizeof *a, &st), *b = fc_alloc(&arena, n, sizeof *b, &st);
    CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, ugal->walk_capacity(&net), &st), FC_OK);
    for (uint32_t i = 0; i < n; i++) a[i] = 1 + i % 3, b[i] = 1 + i % 5;
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t d = 0; d < n; d++) {
            double bytes = a[s] * b[d];
            if (s == d) continue;
            walk.n = 0;
            ugal->walk(&net, s, d, bytes, &walk);
            for (uint32_t i = 0; i < walk.n; i++) walked[walk.link[i]] += walk.weight[i];
            for (uint32_t c = 0; c < 2; c++) {
                bytes = a[s] * b[d] / 2;
                CU_ASSERT_EQUAL(ugal->component_sparse(&net, c, &s, &d, &bytes, 1, sparse, &st), FC_OK);
            }
        }
    for (uint32_t i = 0; i < n; i++) a[i] /= 2;
    for (uint32_t c = 0; c < 2; c++) CU_ASSERT_EQUAL(ugal->component_rank_one(&net, c, a, b, dense, &st), FC_OK);
    for (uint32_t l = 0; l < net.n_links; l++) {
        CU_ASSERT(fc_near(walked[l], sparse[l], 1e-10) && fc_near(walked[l], dense[l], 1e-10));
        sum[0] += dense[l];
        dense[l] = 0;
    }
    machine.router.ugal.via = FC_UGAL_SUPERNODE;
    for (uint32_t c = 0; c < 2; c++) CU_ASSERT_EQUAL(ugal->component_rank_one(&net, c, a, b, dense, &st), FC_OK);
    for (uint32_t l = 0; l < net.n_links; l++) sum[1] += dense[l];
    CU_ASSERT(sum[0] > 1.05 * sum[1]);
    fc_walk_free(&walk);
    fc_arena_free(&arena);
    fc_test_close(&machine, &net);
}

/* What waits in the source's router counts too unless only credits do: with wires so short that few credits are out, a full
 * link is seen by it alone, and the network takes more of what is adverse. */
static void own_queues_count(void)
{
    static const char *const counts[] = {"credits", "local", "both"};
    double accepted[3] = {0};
    for (int i = 0; i < 3; i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand demand = {0};
        struct fc_flit_settings settings;
        struct fc_flit_result r;
        struct fc_status st = {0};
        char yaml[800];
        snprintf(
            yaml, sizeof yaml,
            "name: t\nclock: 1 GHz\nnetwork: {family: two-level, supernodes: 9, nodes_per_drawer: 4, nodes_per_router: 2, "
            "d_link: relative, d_ports: 2}\nlinks: {ll: {bandwidth: 8 GB/s, latency: 10 ns}, d: {bandwidth: 8 GB/s, "
            "latency: 10 ns}, injection: {bandwidth: 8 GB/s, latency: 1 ns}}\nrouter: {delay: 3 cycles, vcs: 3, routing: "
            "ugal, flit: 8 B, buffer: 512 B, ugal: {queue: %s}}\npacket: {max: 32 B}\n",
            counts[i]);
        if (!fc_test_network(yaml, &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(ugal_group_shift(&net, &demand, &st), FC_OK);
        fc_flit_defaults(&settings);
        settings.backlog = true;
        settings.warmup_cycles = 2000;
        settings.measure_cycles = 1000;
        CU_ASSERT_EQUAL_FATAL(fc_flit_run(&net, &demand, NULL, &settings, &r, &st), FC_OK);
        accepted[i] = r.accepted_flits_per_node_cycle;
        fc_flit_free(&r);
        fc_demand_free(&demand);
        fc_test_close(&machine, &net);
    }
    bool more = accepted[2] > 1.2 * accepted[0] && accepted[1] > 1.2 * accepted[0] && accepted[2] > 2.5 * 0.125;
    CU_ASSERT(more);
    if (!more) printf("\n    credits %g, local %g, both %g\n", accepted[0], accepted[1], accepted[2]);
}

/* The queueing model: all packets of a supernode to one other. Direct routes bear an eighth; the rule turns packets away
 * from them as the load grows, and none at small loads. */
static void queueing_follows_the_rule(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_flit_settings settings;
    struct fc_status st = {0};
    struct fc_turns direct, ugal;
    struct fc_queueing *q;
    struct fc_queueing_parameters parameters;
    struct fc_queueing_answer low, high;
    double saturation;
    if (!fc_test_network(machines[0], &machine, &net)) return;
    fc_flit_defaults(&settings);
    fc_queueing_defaults(&parameters);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "complement", 1, &demand, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_turns_make(&net, &demand, &settings, 600000, &ugal, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_machine_route(&machine, "direct", &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_turns_make(&net, &demand, &settings, 600000, &direct, &st), FC_OK);
    double alone = 1 / direct.max_service_rate;
    CU_ASSERT(fabs(alone - 0.125) < 1e-3 && direct.n_rungs == 0 && ugal.n_rungs == FC_TURNS_RUNGS);
    CU_ASSERT(fc_near(ugal.hops_mean, direct.hops_mean, 1e-9) &&
              fc_near(ugal.zero_load_cycles, direct.zero_load_cycles, 1e-9));
    CU_ASSERT(ugal.rung_top > 2 * alone && ugal.rung_top < 4.1 * alone);
    for (uint32_t i = 1; i < ugal.n_rungs; i++)
        CU_ASSERT(ugal.rung[i].hops_mean > ugal.rung[i - 1].hops_mean - 0.02 &&
                  fc_turns_rung_load(&ugal, i) > fc_turns_rung_load(&ugal, i - 1));
    CU_ASSERT(ugal.rung[FC_TURNS_RUNGS - 1].hops_mean > direct.hops_mean + 0.5);
    CU_ASSERT_EQUAL_FATAL(fc_queueing_open(&ugal, &q, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_queueing_saturation(q, &parameters, &saturation, &st), FC_OK);
    CU_ASSERT(saturation > 1.6 * alone && saturation <= ugal.rung_top * 1.001);
    CU_ASSERT(!fc_queueing_solve(q, &parameters, 0.02 * alone, &low, &st) && low.stable);
    CU_ASSERT(fabs(low.latency_mean_cycles / direct.zero_load_cycles - 1) < 0.03);
    CU_ASSERT(!fc_queueing_solve(q, &parameters, 1.4 * alone, &high, &st) && high.stable);
    CU_ASSERT(high.latency_mean_cycles > 1.1 * low.latency_mean_cycles);
    CU_ASSERT(!fc_queueing_solve(q, &parameters, 1.05 * ugal.rung_top, &high, &st) && !high.stable);
    fc_queueing_close(q);
    fc_turns_free(&ugal);
    fc_turns_free(&direct);
    fc_demand_free(&demand);
    fc_test_close(&machine, &net);
}

/* What the empty network's turns wait for is solved only when somebody asks: the same as if asked after every load. And channels
 * stand by the router where they end, each of them met once. */
static void waits_asked_for_late(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_flit_settings settings;
    struct fc_status st = {0};
    struct fc_turns t;
    struct fc_queueing *q[2]; /* asked at the end, asked always */
    struct fc_queueing_parameters parameters;
    struct fc_queueing_answer a;
    double saturation, sum = 0;
    static const double share[] = {0.3, 0.9, 1.3, 0.5, 0.4};
    if (!fc_test_network(machines[0], &machine, &net)) return;
    fc_flit_defaults(&settings);
    fc_queueing_defaults(&parameters);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "complement", 1, &demand, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_turns_make(&net, &demand, &settings, 600000, &t, &st), FC_OK);
    for (int k = 0; k < 2; k++) {
        CU_ASSERT_EQUAL_FATAL(fc_queueing_open(&t, &q[k], &st), FC_OK);
        CU_ASSERT_EQUAL(fc_queueing_saturation(q[k], &parameters, &saturation, &st), FC_OK);
        for (size_t i = 0; i < FC_COUNT(share); i++) {
            CU_ASSERT_EQUAL(fc_queueing_solve(q[k], &parameters, share[i] * saturation, &a, &st), FC_OK);
            if (k) fc_queueing_solved_cycles(q[k]);
        }
    }
    CU_ASSERT_EQUAL(fc_queueing_solved_cycles(q[0]), fc_queueing_solved_cycles(q[1]));
    CU_ASSERT(fc_queueing_solved_cycles(q[0]) > 0);
    for (uint32_t c = 0; c < t.n_channels; c++) {
        CU_ASSERT_EQUAL(fc_queueing_channel_wait(q[0], c), fc_queueing_channel_wait(q[1], c));
        sum += fc_queueing_channel_wait(q[0], c);
    }
    CU_ASSERT(sum > 0);
    for (uint32_t c = 1; c < t.n_channels; c++)
        CU_ASSERT(net.link_target[t.link[t.channel_link[c - 1]]] <= net.link_target[t.link[t.channel_link[c]]]);
    CU_ASSERT_FATAL(t.channel_met != NULL);
    uint64_t met = 0, all = 0;
    for (uint32_t c = 0; c < t.n_channels; c++) met += t.channel_met[c], all += c;
    CU_ASSERT_EQUAL(met, all);
    for (int k = 0; k < 2; k++) fc_queueing_close(q[k]);
    fc_turns_free(&t);
    fc_demand_free(&demand);
    fc_test_close(&machine, &net);
}

int suite_flit_ugal(void)
{
    static const CU_TestInfo tests[] = {
        {"an almost empty network routes directly", fresh_is_minimal},
        {"so do the shipped machines", shipped_are_minimal},
        {"both engines agree under group shift", engines_agree},
        {"points of an independent simulator", simulator_points},
        {"through a router drawn in the supernode between: loads", loads_through_a_router},
        {"queues in the source's router count", own_queues_count},
        {"the queueing model's indirect share follows the rule", queueing_follows_the_rule},
        {"waits that are asked for late", waits_asked_for_late},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("flit_ugal", tests);
}
