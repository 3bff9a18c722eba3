/* test_buffer.c - the input buffer that keeps a link busy: the default, what the kernel makes of less, and calibrations of
 * starved links, which are not written. */
#include "solvers/calibration/calibration.h"
#include "solvers/flit/flit.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <string.h>

/* 12.5 GB/s and 500 ns: 13,125 B are under way in a round trip, 411 flits, and one more, and 8 of a packet. */
#define FAST(router, injection)                                                                                        \
    "name: fast\nnetwork: {family: mesh, dims: [2]}\n"                                                                 \
    "links: {mesh: {bandwidth: 12.5 GB/s, latency: 500 ns}, injection: {" injection "}}\n"                             \
    "router: {delay: 30 ns, credit: 20 ns" router "}\npacket: {min: 32 B, max: 256 B}\n"

static void defaults(void)
{
    static const struct {
        const char *yaml;
        double buffer, need;
        bool given;
    } wanted[] = {
        {FAST("", "bandwidth: 12.5 GB/s"), 420 * 32, 420 * 32, false},
        {FAST(", buffer: 1 KiB", "bandwidth: 12.5 GB/s"), 1024, 420 * 32, true},
        {FAST(", buffer: 1 MiB", "bandwidth: 12.5 GB/s"), 1048576, 420 * 32, true},
        /* the nodes' links are longer; what they have more than the others' bandwidth does not count */
        {FAST("", "bandwidth: 25 GB/s, latency: 1 us"), (801 + 9) * 32, (801 + 9) * 32, false},
        /* slow and short: no less than 1 KiB */
        {"name: slow\nnetwork: {family: mesh, dims: [2]}\nlinks: {mesh: {bandwidth: 100 MB/s}}\n", 1024, 64, false},
    };
    for (size_t i = 0; i < FC_COUNT(wanted); i++) {
        struct fc_machine m;
        struct fc_network net;
        CU_ASSERT_FATAL(fc_test_network(wanted[i].yaml, &m, &net));
        CU_ASSERT_EQUAL(m.router.buffer_bytes, wanted[i].buffer);
        CU_ASSERT_EQUAL(fc_buffer_needed_bytes(&m), wanted[i].need);
        CU_ASSERT_EQUAL(m.router.buffer_given, wanted[i].given);
        fc_test_close(&m, &net);
    }
}

/* Two nodes, one virtual channel, each sends to the other all the time: what is needed fills the link, half of it half. */
static void fills_the_link(void)
{
    static const double share[] = {1, 0.5, 0.25};
    for (size_t i = 0; i < FC_COUNT(share); i++) {
        struct fc_machine m;
        struct fc_network net;
        struct fc_demand demand;
        struct fc_flit_settings settings;
        struct fc_flit_result run;
        struct fc_status st = {0};
        CU_ASSERT_FATAL(fc_test_network(FAST(", escape: none", "bandwidth: 100 GB/s"), &m, &net));
        m.router.buffer_bytes = floor(m.router.buffer_bytes * share[i] / 32) * 32;
        fc_flit_defaults(&settings);
        settings.load_flits_per_cycle = 1;
        CU_ASSERT_FATAL(!fc_demand_from_pattern(&net, "complement", 1, &demand, &st));
        demand.open_loop = true;
        if (fc_flit_run(&net, &demand, NULL, &settings, &run, &st)) printf("\n    %s", st.message);
        CU_ASSERT_EQUAL_FATAL(st.code, FC_OK);
        double full = run.accepted_flits_per_node_cycle * 32 / run.cycle_s / 12.5e9;
        CU_ASSERT(share[i] == 1 ? full > 0.98 : fabs(full / share[i] - 1) < 0.06);
        fc_flit_free(&run);
        fc_demand_free(&demand);
        fc_test_close(&m, &net);
    }
}

static void refused_fits(void)
{
    struct fc_machine m;
    struct fc_network net;
    struct fc_bulk_case cases[] = {{.kind = "alltoall", .at = {.packets = 1}, .ratio = 9},
                                   {.kind = "alltoall", .at = {.packets = 10}, .ratio = 2},
                                   {.kind = "neighbor", .at = {.packets = 10}, .ratio = 9}};
    struct fc_calibration c = {.free_parameter = {true},
                               .residual_percent = 30,
                               .left_out_mean_percent = NAN,
                               .saturation_mean_percent = 4,
                               .phases = {.n_cases = FC_COUNT(cases), .cases = cases}};
    struct fc_status st = {0};
    CU_ASSERT_FATAL(fc_test_network(FAST(", buffer: 1 KiB", "bandwidth: 12.5 GB/s"), &m, &net));
    CU_ASSERT_EQUAL(fc_calibration_check(&c, &m, &st), FC_OK);
    c.residual_percent = 770;
    CU_ASSERT_EQUAL(fc_calibration_check(&c, &m, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO,
                      "the fit leaves 770 % (expected at most 60 %); router.buffer is 1024 B, and a virtual "
                      "channel fills its link from 13440 B on"));
    c.residual_percent = 30;
    cases[1].ratio = 13;
    m.router.buffer_bytes = 1 << 20;
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_calibration_check(&c, &m, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO,
                      "an all-to-all of long messages takes 13.0 times what its links need (expected at most "
                      "5); a larger --budget"));
    cases[1].ratio = 2;
    c.saturation_mean_percent = 80;
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_calibration_check(&c, &m, &st), FC_NO);
    fc_test_close(&m, &net);
}

/* No shipped calibration would be refused. */
static void shipped_fits(void)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    const char **names;
    size_t n = 0, found = 0;
    CU_ASSERT_FATAL(!fc_machine_names(&arena, &names, &n, &st));
    for (size_t i = 0; i < n; i++) {
        struct fc_machine m;
        struct fc_calibration c;
        char path[1200];
        CU_ASSERT_FATAL(!fc_machine_load(names[i], &m, &st));
        CU_ASSERT(m.router.buffer_given); /* none relies on the default */
        struct fc_status none = {0};
        if (!fc_calibration_read(fc_calibration_path(&m, path, sizeof path), &c, &none)) {
            CU_ASSERT_EQUAL(fc_calibration_check(&c, &m, &st), FC_OK);
            fc_calibration_free(&c);
            found++;
        }
        fc_machine_free(&m);
    }
    CU_ASSERT(found >= 27);
    fc_arena_free(&arena);
}

int suite_buffer(void)
{
    static const CU_TestInfo tests[] = {
        {"default from bandwidth and round trip", defaults},
        {"what is needed fills a link", fills_the_link},
        {"fits that say nothing are refused", refused_fits},
        {"shipped fits are none of them", shipped_fits},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("buffer", tests);
}
