/* test_flit_graph.c - packets on graphs: an escape that keeps overloaded networks from deadlock in both engines, hops of every
 * routing, UGAL where direct ways are too few. */
#include "solvers/flit/flit.h"
#include "tests/graph_checks.h"

#include <math.h>

/* Three nodes a router. */
static bool open_graph(FILE *f, char **text, int routers, const char *routing, const char *router,
                       struct fc_machine *machine, struct fc_network *net)
{
    char more[360];
    for (int n = 0; n < 3 * routers; n++) fprintf(f, "router %d node %d\n", n / 3, n);
    fclose(f);
    snprintf(more, sizeof more,
             "links: {link: {bandwidth: 4 GB/s, latency: 10 ns}, injection: {bandwidth: 4 GB/s, latency: 2 ns}}\n"
             "router: {routing: %s, flit: 8 B, delay: 4 ns, %s}\npacket: {max: 64 B}\n",
             routing, router);
    bool good = graph_of("edge-list", *text, more, machine, net);
    free(*text);
    return good;
}

/* Petersen's graph: diameter two, cycles everywhere. */
static bool petersen(const char *routing, const char *router, struct fc_machine *machine, struct fc_network *net)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    for (int i = 0; i < 5; i++)
        fprintf(f, "router %d router %d\nrouter %d router %d\nrouter %d router %d\n", i, (i + 1) % 5, i, i + 5, i + 5,
                (i + 2) % 5 + 5);
    return open_graph(f, &text, 10, routing, router, machine, net);
}

/* All routers linked to all. */
static bool complete(int n, const char *routing, const char *router, struct fc_machine *machine, struct fc_network *net)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) fprintf(f, "router %d router %d\n", i, j);
    return open_graph(f, &text, n, routing, router, machine, net);
}

static enum fc_code run(const struct fc_network *net, const struct fc_demand *demand, int engine, double load,
                        uint64_t cycles, struct fc_flit_result *r)
{
    struct fc_flit_settings s;
    struct fc_status st = {0};
    fc_flit_defaults(&s);
    s.engine = engine;
    s.load_flits_per_cycle = load;
    s.warmup_cycles = 1500;
    s.measure_cycles = cycles;
    enum fc_code code = fc_flit_run(net, demand, NULL, &s, r, &st);
    if (code) printf("\n    %s\n", st.message);
    CU_ASSERT_EQUAL(code, FC_OK);
    return code;
}

/* Far beyond saturation nothing stops, and both engines take as much; at small loads no packet is on the escape. */
static void escapes(void)
{
    static const char *const routings[] = {"shortest", "shortest-hash", "valiant", "ugal"};
    for (size_t i = 0; i < FC_COUNT(routings); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand demand;
        struct fc_status st = {0};
        struct fc_flit_result low, high[2];
        if (!petersen(routings[i], "vcs: 1, escape: updown", &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "uniform", 1, &demand, &st), FC_OK);
        if (!run(&net, &demand, FC_ENGINE_EVENT, 0.1, 3000, &low)) {
            CU_ASSERT(low.escape_share < 0.001);
            fc_flit_free(&low);
        }
        for (int engine = FC_ENGINE_EVENT; engine <= FC_ENGINE_CYCLE; engine++) {
            struct fc_flit_result *r = &high[engine == FC_ENGINE_CYCLE];
            if (run(&net, &demand, engine, 1, 3000, r)) return;
            CU_ASSERT(!r->deadlock && r->accepted_flits_per_node_cycle > 0.15 && r->escape_share > 0.01);
        }
        CU_ASSERT(fabs(high[0].accepted_flits_per_node_cycle / high[1].accepted_flits_per_node_cycle - 1) < 0.25);
        fc_flit_free(&high[0]), fc_flit_free(&high[1]);
        fc_demand_free(&demand);
        fc_test_close(&machine, &net);
    }
}

/* A rule that certify refuses for a routing, the kernel refuses too, though the rule is safe for others without a look. */
static void unknown_to_the_rule(void)
{
    static const struct {
        const char *routing, *escape;
    } cases[] = {{"valiant", "layers"}, {"ugal", "layers"}, {"updown-hash", "layers"}, {"updown-hash", "hops"}};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand demand = {0};
        struct fc_flit_settings s;
        struct fc_flit_result r;
        struct fc_status st = {0};
        char router[64], says[160];
        snprintf(router, sizeof router, "escape: %s, vcs: 6", cases[i].escape);
        snprintf(says, sizeof says, "virtual-channel rule %s of the graph family does not know %s routing",
                 cases[i].escape, cases[i].routing);
        CU_ASSERT_TRUE_FATAL(petersen(cases[i].routing, router, &machine, &net));
        CU_ASSERT_FALSE_FATAL(fc_demand_from_pattern(&net, "uniform", 1, &demand, &st));
        fc_flit_defaults(&s);
        s.load_flits_per_cycle = 0.1;
        CU_ASSERT_EQUAL(fc_flit_run(&net, &demand, NULL, &s, &r, &st), FC_INPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(st.message, says));
        fc_demand_free(&demand);
        fc_test_close(&machine, &net);
    }
}

/* Mean hops over distinct routers are 5 / 3 (3 at one, 6 at two hops), 1.5 with those on one router; detours more. */
static void hops(void)
{
    static const char *const routings[] = {"shortest", "shortest-hash", "ugal", "valiant", "updown-hash"};
    for (size_t i = 0; i < FC_COUNT(routings); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand demand;
        struct fc_status st = {0};
        struct fc_flit_result r;
        if (!petersen(routings[i], i == 4 ? "vcs: 2" : "vcs: 4, escape: hops", &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "uniform", 1, &demand, &st), FC_OK);
        if (!run(&net, &demand, FC_ENGINE_EVENT, 0.2, 12000, &r)) {
            /* A stop for each of ten routers: there and on, 1.5 each, where source and destination are not on one. */
            double expected = i < 3 ? 1.5 : i == 3 ? 0.9 * 3 : r.hops_mean;
            CU_ASSERT(fabs(r.hops_mean / expected - 1) < 0.03);
            CU_ASSERT(i != 4 || (r.hops_mean > 1.5 && r.hops_mean < 2));
            if (fabs(r.hops_mean / expected - 1) >= 0.03) printf("\n    %s: %g hops", routings[i], r.hops_mean);
            fc_flit_free(&r);
        }
        fc_demand_free(&demand);
        fc_test_close(&machine, &net);
    }
}

/* All linked to all; every router's nodes send to one neighbour's: the link between them is full at a third of a node's rate. Direct ways cannot take
 * more, detours and UGAL can. */
static void ugal_turns_away(void)
{
    enum { NODES = 24 };
    static const char *const routings[] = {"shortest", "ugal"};
    double accepted[2] = {0};
    for (size_t i = 0; i < 2; i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_flit_result r;
        uint32_t src[NODES], dst[NODES];
        double bytes[NODES], messages[NODES];
        for (uint32_t n = 0; n < NODES; n++) src[n] = n, dst[n] = (n + 3) % NODES, bytes[n] = messages[n] = 1;
        struct fc_demand demand = {.name = "next",
                                   .n_tasks = NODES,
                                   .n_entries = NODES,
                                   .src = src,
                                   .dst = dst,
                                   .bytes = bytes,
                                   .messages = messages,
                                   .open_loop = true};
        if (!complete(8, routings[i], "vcs: 4, escape: hops, ugal: {threshold: 8, queue: local}", &machine, &net))
            continue;
        if (!run(&net, &demand, FC_ENGINE_EVENT, 0.6, 6000, &r)) {
            accepted[i] = r.accepted_flits_per_node_cycle;
            fc_flit_free(&r);
        }
        fc_test_close(&machine, &net);
    }
    CU_ASSERT_DOUBLE_EQUAL(accepted[0], 1 / 3.0, 0.02);
    CU_ASSERT(accepted[1] > 0.5);
    if (!(accepted[1] > 0.5)) printf("\n    UGAL accepts %g", accepted[1]);
}

static const CU_TestInfo tests[] = {
    {"escapes", escapes}, {"unknown to the rule", unknown_to_the_rule},
    {"hops", hops},       {"ugal turns away", ugal_turns_away},
    CU_TEST_INFO_NULL,
};
int suite_flit_graph(void)
{
    return fc_add_suite("flit graph", tests);
}
