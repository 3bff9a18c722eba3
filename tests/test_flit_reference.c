/* test_flit_reference.c - the kernel against exact answers for every family and both engines, and a few
 * points of every curve of an independent simulator in short runs: latency at low and at 80 % of the
 * saturation load, accepted load in overload. `make validate` runs every point at full length. */
#include "tests/flit_oracles.h"
#include "tests/flit_reference.h"
#include "tests/tests.h"

enum { SHORTER = 6 }; /* than the reference's runs */

static bool within(const char *curve, const char *what, double load, double ours, double theirs, double percent)
{
    bool good = fabs(ours / theirs - 1) * 100 <= percent;
    if (!good) printf("\n    %s: %s at load %g: %g, reference %g\n", curve, what, load, ours, theirs);
    return good;
}

static void check(const struct reference_curve *c, const struct reference_machine *m, const struct reference_point *p)
{
    struct fc_status st = {0};
    struct fc_flit_result r;
    if (reference_run(c, m, p->load, FC_ENGINE_AUTO, SHORTER, 1, &r, &st)) {
        CU_FAIL("the kernel refused");
        printf("\n    %s: %s\n", c->name, st.message);
        return;
    }
    CU_ASSERT_FALSE(r.deadlock);
    CU_ASSERT_EQUAL(r.packets_injected, r.packets_delivered + r.packets_in_flight);
    CU_ASSERT_EQUAL(r.flits_injected, r.flits_delivered + r.flits_in_flight);
    if (p->overload) {
        CU_ASSERT_FALSE(r.stable);
        CU_ASSERT_TRUE(within(c->name, "accepted", p->load, r.accepted_flits_per_node_cycle, p->accepted, 5));
    } else {
        CU_ASSERT_TRUE(r.stable);
        CU_ASSERT_TRUE(within(c->name, "latency", p->load, r.latency_mean_cycles, p->latency_cycles, 3));
        CU_ASSERT_TRUE(within(c->name, "hops", p->load, r.hops_mean, p->hops, 2.5));
    }
    fc_flit_free(&r);
}

/* The lowest stable load, the greatest up to 80 % of saturation, and full load. */
static void check_curve(const char *name)
{
    struct fc_status st = {0};
    struct reference_curve c;
    struct reference_machine m;
    if (!reference_read(name, &c, &st) || !reference_open(name, &m, &st)) {
        CU_FAIL("the curve or its machine cannot be read");
        printf("\n    %s: %s:%ld: %s\n", name, st.file, st.line, st.message);
        return;
    }
    const struct reference_point *low = NULL, *high = NULL, *over = NULL;
    for (int i = 0; i < c.n; i++) {
        const struct reference_point *p = &c.points[i];
        if (p->overload)
            over = p;
        else if (p->stable && p->load <= 0.8 * c.stable_up_to)
            high = p;
        if (!low && p->stable) low = p;
    }
    CU_ASSERT_FATAL(low && high && over);
    check(&c, &m, low);
    check(&c, &m, high);
    check(&c, &m, over);
    reference_close(&m);
}

static void test_curves(void)
{
    if (!reference_there()) {
        printf("skipped: no %s ", REFERENCE_DIRECTORY);
        return;
    }
    for (size_t i = 0; i < FC_COUNT(reference_names); i++) check_curve(reference_names[i]);
}

/* Both engines take cut-through, the cycle engine also wormhole with a stage for virtual channels; the bubble
 * is for cut-through only. */
static void test_zero_load(void)
{
    for (size_t i = 0; i < FC_COUNT(oracle_machines); i++)
        for (int how = 0; how < 3; how++) {
            const struct oracle_machine *o = &oracle_machines[i];
            int engine = how == 0 ? FC_ENGINE_EVENT : FC_ENGINE_CYCLE;
            bool stage = how == 2;
            struct fc_status st = {0};
            double sum;
            if (stage && strstr(o->rest, "bubble")) continue;
            double worst = oracle_zero_load_worst(o, engine, stage ? 3 : 2, stage,
                                                  stage ? ORACLE_WORMHOLE : ORACLE_CUT_THROUGH, 8, &sum, &st);
            CU_ASSERT_EQUAL(st.code, FC_OK);
            CU_ASSERT_TRUE(fabs(worst) < 1e-6);
            if (st.code || !(fabs(worst) < 1e-6))
                printf("\n    %s, %s engine: off by %g cycles %s\n", o->name, fc_flit_engine_names[engine], worst,
                       st.message);
        }
}

static void test_source_queue_and_ring(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    if (!oracle_open(oracle_ring, &machine, &net, &st)) {
        CU_FAIL("the ring's machine is refused");
        return;
    }
    for (int engine = FC_ENGINE_EVENT; engine <= FC_ENGINE_CYCLE; engine++) {
        CU_ASSERT_EQUAL(oracle_measure_ring(&net, engine, 1, 0.5, 1, 5000, &st), 0);
        double wait = oracle_measure_ring(&net, engine, 1, 0.5, 4, 100000, &st);
        CU_ASSERT_TRUE(fabs(wait / oracle_geo_d_1(0.5, 4) - 1) < 0.03);
        for (uint32_t hops = 1; hops <= 2; hops++) {
            double accepted = oracle_measure_ring(&net, engine, hops, 0, 4, 4000, &st);
            CU_ASSERT_TRUE(fabs(accepted * hops - 1) < 0.01);
        }
        CU_ASSERT_EQUAL(st.code, FC_OK);
    }
    oracle_close(&machine, &net);
}

int suite_flit_reference(void)
{
    static const CU_TestInfo tests[] = {
        {"zero load, every family, to the cycle", test_zero_load},
        {"Geo/D/1 and the saturated ring", test_source_queue_and_ring},
        {"points of an independent simulator", test_curves},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("flit_reference", tests);
}
