/* test_queueing_theory.c - the queueing model of families without calibrations, whose packets move whole: against the kernel, and
 * what is lost of a port, how a choice is shared and what short buffers cost in cases where it is known. */
#include "tests/graph_checks.h"
#include "tests/queueing_fixture.h"

/* Packets of 8 flits, a flit a cycle; `edges`: the list of cables. */
static bool open_whole(const char *edges, const char *pattern, int vcs, int buffer_flits, struct queued *w)
{
    char more[300];
    queued_start(w, 8);
    snprintf(
        more, sizeof more,
        "links: {link: {bandwidth: 4 GB/s, latency: 10 cycles}, injection: {bandwidth: 4 GB/s, latency: 10 cycles}}\n"
        "router: {delay: 2 cycles, flit: 8 B, credit: 1 cycle, vcs: %d, buffer: %d B, escape: hops}\n"
        "packet: {min: 8 B, max: 64 B}\n",
        vcs, 8 * buffer_flits);
    if (graph_machine("edge-list", edges, more, &w->machine, &w->st) ||
        fc_network_build(&w->machine, &w->net, &w->st) ||
        fc_demand_from_pattern(&w->net, pattern, 1, &w->demand, &w->st))
        return false;
    return queued_model(w);
}
/* The model's saturation, and what the kernel accepts of sources that are always full. */
static void saturations(struct queued *w, uint64_t cycles, double *model, double *kernel)
{
    struct fc_flit_result r;
    *model = queued_saturation(w);
    CU_ASSERT_EQUAL_FATAL(oracle_run(&w->net, &w->demand, FC_ENGINE_EVENT, 0, 8, cycles, &r, &w->st), FC_OK);
    *kernel = r.accepted_flits_per_node_cycle;
    fc_flit_free(&r);
}

static const char *crossbar(int n)
{
    static char text[4000];
    size_t size = 0;
    for (int i = 0; i < n; i++) size += (size_t)snprintf(text + size, sizeof text - size, "router 0 node %d\n", i);
    return text;
}

/* A port of V channels that packets use alike is lost V^(-5/3) of its heads' waits; one channel is Karol's queue. */
static void ports(void)
{
    struct queued w;
    double model, kernel, last = 0;
    for (int vcs = 1; vcs <= 8; vcs *= 2) {
        if (open_whole(crossbar(16), "uniform", vcs, 400, &w)) {
            CU_ASSERT(w.turns.by_theory && !w.turns.one_bid);
            CU_ASSERT(fc_near(w.theory.value[FC_Q_PORT], pow(vcs, -5.0 / 3), 1e-9));
            saturations(&w, 8000, &model, &kernel);
            CU_ASSERT(fc_near(model, kernel, 0.04) && model > last + 0.03);
            last = model;
        }
        queued_close(&w, true);
    }
}

/* Two ways to router 3, of which the one by router 1 also carries the traffic to its own nodes: what may choose fills up the other,
 * until both are about as busy (alike they would be 2 : 1). */
static void shares(void)
{
    static const char two_ways[] =
        "router 0 router 1\nrouter 0 router 2\nrouter 1 router 3\nrouter 2 router 3\n"
        "router 0 node 0\nrouter 0 node 1\nrouter 0 node 2\nrouter 1 node 3\nrouter 3 node 4\n"
        "router 3 node 5\n";
    static uint32_t src[] = {0, 1, 2}, dst[] = {4, 5, 3};
    static double bytes[] = {8, 8, 8};
    struct queued w;
    if (open_whole(two_ways, "uniform", 2, 400, &w)) {
        struct fc_demand demand = {
            .n_tasks = 6, .n_entries = 3, .src = src, .dst = dst, .bytes = bytes, .open_loop = true};
        struct fc_turns t;
        CU_ASSERT_EQUAL_FATAL(fc_turns_make(&w.net, &demand, &w.settings, 1000000, &t, &w.st), FC_OK);
        double by[2];
        for (uint32_t to = 1; to <= 2; to++) by[to - 1] = t.rate[fc_find_link(&w.net, 0, to)];
        CU_ASSERT(fc_near(by[0], by[1], 0.06) && fc_near(by[0] + by[1], t.packets, 1e-9));
        fc_turns_free(&t);
    }
    queued_close(&w, true);
}

/* A 3 x 3 HyperX of two nodes a router. */
static const char *hyperx(void)
{
    static char text[2000];
    size_t size = 0;
    for (int r = 0; r < 9; r++) {
        for (int to = r + 1; to < 9; to++)
            if (r / 3 == to / 3 || r % 3 == to % 3)
                size += (size_t)snprintf(text + size, sizeof text - size, "router %d router %d\n", r, to);
        for (int i = 0; i < 2; i++)
            size += (size_t)snprintf(text + size, sizeof text - size, "router %d node %d\n", r, 2 * r + i);
    }
    return text;
}

/* Places in short buffers are taken by what is on its way: a channel passes less than with deep ones, in both. 23 cycles of wires, router
 * and credit, and the packet: 31 flits keep a link busy. */
static void buffers(void)
{
    static const int flits[] = {16, 32, 400};
    struct queued w;
    double model, kernel, last[2] = {0};
    for (size_t i = 0; i < FC_COUNT(flits); i++) {
        if (open_whole(hyperx(), "uniform", 2, flits[i], &w)) {
            saturations(&w, 12000, &model, &kernel);
            CU_ASSERT(fc_near(model, kernel, 0.1) && model > last[0] && kernel > last[1]);
            if (!fc_near(model, kernel, 0.1)) printf("\n    %d flits: %g (kernel %g)\n", flits[i], model, kernel);
            last[0] = model;
            last[1] = kernel;
        }
        queued_close(&w, true);
    }
}

/* An error without a calibration under uniform traffic; twice as wide where a few links may be full. */
static void stated(void)
{
    struct queued w;
    struct fc_calibrated *c = NULL;
    struct fc_calibrated_answer a;
    double percent;
    for (int i = 0; i < 2; i++) {
        const char *pattern = i ? "neighbor" : "uniform";
        if (open_whole(hyperx(), pattern, 2, 32, &w)) {
            CU_ASSERT_FATAL(!fc_calibrated_open(NULL, &w.turns, pattern, &w.settings, &c, &w.st) && c);
            double end = fc_calibrated_saturation(c, &percent);
            CU_ASSERT(fc_calibrated_by_theory(c) && (i ? percent > 18 && percent < 22 : percent > 9 && percent < 11));
            CU_ASSERT(!fc_calibrated_solve(c, 0.3 * end, &a, &w.st) && a.extrapolated == (i == 1));
            CU_ASSERT(!i || strstr(a.why, "traffic that is not uniform") != NULL);
            fc_calibrated_close(c);
        }
        queued_close(&w, true);
    }
    if (open_whole("router 0 router 1\nrouter 1 router 2 1GB/s\nrouter 0 node 0\nrouter 2 node 1\n", "uniform", 2, 32,
                   &w)) {
        CU_ASSERT_FATAL(!fc_calibrated_open(NULL, &w.turns, "uniform", &w.settings, &c, &w.st) && c);
        CU_ASSERT_FALSE(fc_calibrated_by_theory(c)); /* links of several speeds */
        fc_calibrated_close(c);
    }
    queued_close(&w, true);
}

int suite_queueing_theory(void)
{
    static const CU_TestInfo tests[] = {
        {"a port of V channels loses V^(-5/3) of its waits", ports},
        {"a choice fills up what is free", shares},
        {"short buffers pass less", buffers},
        {"theory states an error", stated},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("queueing_theory", tests);
}
