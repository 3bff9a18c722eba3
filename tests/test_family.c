/* test_family.c - what calibrations of a family say of a machine that has none: distances, the mean of relatives, an error
 * that grows with distance, and what is not said. */
#include "solvers/calibration/family.h"
#include "solvers/calibration/family_distance.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <string.h>

#define TORUS(dims, routing, vcs)                                                                                      \
    "name: a\nclock: 1 GHz\nnetwork: {family: torus, dims: " dims "}\n"                                                \
    "links: {torus: {bandwidth: 8 GB/s, latency: 1 cycles}, injection: {bandwidth: 16 GB/s}}\n"                        \
    "router: {delay: 2 cycles, flit: 8 B, vcs: " vcs ", buffer: 128 B, escape: dateline, routing: " routing "}\n"      \
    "packet: {min: 8 B, max: 64 B, header: 8 B}\n"

static void test_distance(void)
{
    struct fc_likeness
        a = {.kind = "family=torus routing=dimension-order vcs=2 buffer_flits=16 link_times=torus:1,injection:1",
             .packet_flits = 8,
             .nodes = 64},
        b = a;
    CU_ASSERT(fc_router_distance(&a, &b) == 0);
    b.kind = "family=torus routing=dimension-order vcs=4 buffer_flits=16 link_times=torus:1,injection:1";
    CU_ASSERT(fc_near(fc_router_distance(&a, &b), 1, 1e-12)); /* log2 of 4 / 2 */
    b.kind = "family=torus routing=adaptive vcs=2 buffer_flits=16 link_times=torus:1,injection:0.25 slq=75";
    CU_ASSERT(fc_near(fc_router_distance(&a, &b), sqrt(4 + 1 + 0.25), 1e-12)); /* routing, injection, slq */
    CU_ASSERT(fc_near(fc_router_distance(&b, &a), fc_router_distance(&a, &b), 1e-12));
    fc_likeness_of_shape("dims [16, 8, 1], nodes_per_router 2", &a);
    fc_likeness_of_shape("children [8, 6]", &b);
    CU_ASSERT(a.dims == 2 && a.aspect == 2 && b.dims == 0 && b.aspect == 1);
    CU_ASSERT(fc_family_fade(0, 2) == 1 && fc_family_fade(2, 2) == 0.5 && fc_family_fade(3, 2) < fc_family_fade(1, 2));
}

/* Two relatives with one constant ratio each: their mean, and half their difference in the error. */
static void test_mean(void)
{
    struct fc_bulk_case case_of[2][4];
    struct fc_bulk bulk[2] = {{.n_cases = 4, .cases = case_of[0]}, {.n_cases = 4, .cases = case_of[1]}};
    struct fc_bulk_relative relative[2] = {{&bulk[0], 1, 0.5}, {&bulk[1], 1, 0.5}};
    struct fc_bulk family = {.n_relatives = 2, .relatives = relative};
    struct fc_bulk_point point = {.packets = 10, .hops = 3, .anisotropy = 1, .split = 1, .reference_s = 1};
    struct fc_bulk_answer answer, farther;
    struct fc_status st = {0};
    struct fc_machine m;
    struct fc_network net;
    if (!fc_test_network(TORUS("[4, 4]", "dimension-order", "2"), &m, &net)) return;
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < 4; i++)
            case_of[r][i] = (struct fc_bulk_case){.network = i < 2 ? "a" : "b",
                                                  .pattern = "neighbor",
                                                  .kind = "neighbor",
                                                  .nodes = 64,
                                                  .at = point,
                                                  .ratio = r ? 2 : 1,
                                                  .left_network_percent = 1};
    CU_ASSERT(!fc_bulk_tells(NULL) && fc_bulk_tells(&family));
    CU_ASSERT(!fc_bulk_ratio(&family, &net, "neighbor", &point, &answer, &st));
    CU_ASSERT(fc_near(answer.ratio, exp(0.5 * log(2) * fc_family_fade(1, FC_FADE_PHASES)), 1e-6));
    CU_ASSERT(answer.error_percent > 100 * expm1(0.5 * log(2))); /* they differ by that much */
    relative[0].distance = relative[1].distance = 3;
    CU_ASSERT(!fc_bulk_ratio(&family, &net, "neighbor", &point, &farther, &st));
    CU_ASSERT(farther.ratio < answer.ratio && farther.error_percent > answer.error_percent);
    /* Where fluids are known the correction is of them, and fades to the fluid, not to the links' time. */
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < 4; i++) case_of[r][i].at.fluid = r ? 2 : 1;
    point.fluid = 3;
    CU_ASSERT(!fc_bulk_ratio(&family, &net, "neighbor", &point, &answer, &st));
    CU_ASSERT(fc_near(answer.ratio, 3, 1e-6)); /* both took as long as their fluids */
    point.fluid = 0;                           /* all-to-all on many nodes, say */
    CU_ASSERT(!fc_bulk_ratio(&family, &net, "neighbor", &point, &answer, &st));
    CU_ASSERT(fc_near(answer.ratio, farther.ratio, 1e-6));
    fc_test_close(&m, &net);
}

static void test_find(void)
{
    struct fc_status st = {0};
    struct fc_machine m;
    struct fc_network net;
    struct fc_calibration c;
    bool found;
    char why[600] = "";
    if (!fc_test_network(TORUS("[4, 4]", "dimension-order", "2"), &m, &net)) return;
    struct fc_calibration_misfit misfit;
    CU_ASSERT(!fc_calibration_of(&net, &c, &found, &misfit, &st) && found);
    CU_ASSERT(c.n_relatives > 1 && c.phases.n_relatives == c.n_relatives && c.distance > 0 && *misfit.text);
    CU_ASSERT(strstr(c.from, "calibrated torus machines (nearest ") && strstr(c.file, ", "));
    for (uint32_t i = 0; i < c.n_relatives; i++) /* of its routing alone, as there are some */
        CU_ASSERT_PTR_NOT_NULL(strstr(c.relatives[i].kind, "routing=dimension-order"));
    double sum = 0;
    for (uint32_t i = 0; i < c.n_relatives; i++) sum += c.phases.relatives[i].weight;
    CU_ASSERT(fc_near(sum, 1, 1e-12));
    uint32_t all = c.n_relatives;
    const char *first = c.relatives[0].kind;
    struct fc_calibration less;
    CU_ASSERT(!fc_family_find(&net, first, &less, &found, why, sizeof why, &st) && found && less.n_relatives < all);
    if (found) fc_calibration_free(&less);
    fc_calibration_free(&c);
    fc_test_close(&m, &net);
    /* nothing of the family is calibrated */
    if (!fc_test_network("name: a\nclock: 1 GHz\nnetwork: {family: mesh, dims: [4, 4]}\n"
                         "links: {mesh: {bandwidth: 8 GB/s, latency: 1 cycles}, injection: {bandwidth: 16 GB/s}}\n"
                         "router: {delay: 2 cycles, flit: 8 B, vcs: 1, buffer: 128 B, escape: none, routing: "
                         "dimension-order}\npacket: {min: 8 B, max: 64 B, header: 8 B}\n",
                         &m, &net))
        return;
    CU_ASSERT(!fc_calibration_of(&net, &c, &found, &misfit, &st) && !found);
    CU_ASSERT_PTR_NOT_NULL(strstr(misfit.text, "no machine of its family (mesh) is calibrated"));
    fc_test_close(&m, &net);
}

static void test_stated(void)
{
    struct fc_prediction p = {.why = "mean hops 32"};
    fc_prediction_error(&p, 31, FC_AGAINST_FAMILY);
    CU_ASSERT(p.error_percent == 31 && !strcmp(fc_error_against_name(p.error_against), "family"));
    fc_prediction_error(&p, 101, FC_AGAINST_KERNEL);
    CU_ASSERT(isnan(p.error_percent) && p.error_against == FC_AGAINST_NOTHING);
    CU_ASSERT_STRING_EQUAL(p.why, "over 100 %: mean hops 32");
    CU_ASSERT(!fc_error_against_name(FC_AGAINST_NOTHING) &&
              !strcmp(fc_error_against_name(FC_AGAINST_MEASURED), "measured"));
}

/* A machine with changed keys says of a phase what its own file says, with an error that grows with the change. */
static void test_changed(void)
{
    static const char *const buffer[] = {"router.buffer=512", "router.buffer=1KiB", "router.buffer=2KiB",
                                         "router.buffer=8KiB"};
    double time_s[FC_COUNT(buffer)], error[FC_COUNT(buffer)];
    for (size_t i = 0; i < FC_COUNT(buffer); i++) {
        struct fc_machine m;
        struct fc_network net;
        struct fc_calibration c;
        struct fc_calibration_misfit misfit;
        struct fc_status st = {0};
        struct fc_demand demand = {0};
        struct fc_load load = {0};
        struct fc_prediction p;
        bool found;
        const char *setting = buffer[i];
        CU_ASSERT_FATAL(!fc_machine_load_changed("bgl-512", &setting, 1, &m, &st));
        CU_ASSERT_FATAL(!fc_machine_route(&m, NULL, &st) && !fc_network_build(&m, &net, &st));
        CU_ASSERT_FATAL(!fc_calibration_of(&net, &c, &found, &misfit, &st) && found);
        CU_ASSERT_EQUAL(c.n_relatives, i == 1 ? 0 : 1);
        if (i != 1) CU_ASSERT_STRING_EQUAL(c.from, "bgl-512.calibration.yaml, made for other keys of its router");
        CU_ASSERT_FATAL(!fc_demand_from_pattern(&net, "stencil3d:grid=8x8x8,bytes=64KiB", 1, &demand, &st));
        uint32_t node[512];
        for (uint32_t t = 0; t < 512; t++) node[t] = t / 2;
        struct fc_placement placement = {512, node};
        struct fc_load_settings settings = {.threads = 1, .seed = 1, .bulk = &c.phases};
        CU_ASSERT_FATAL(!fc_load_solve(&net, &demand, &placement, &settings, &load, &st));
        CU_ASSERT_FATAL(!fc_predict_phase(&net, &demand, &placement, &load, &settings, &p, &st));
        time_s[i] = p.time_s;
        error[i] = p.error_percent;
        CU_ASSERT_EQUAL(p.error_against, i == 1 ? FC_AGAINST_KERNEL : FC_AGAINST_FAMILY);
        fc_load_free(&load);
        fc_demand_free(&demand);
        fc_calibration_free(&c);
        fc_network_free(&net);
        fc_machine_free(&m);
    }
    for (size_t i = 0; i < FC_COUNT(buffer); i++) CU_ASSERT(fc_near(time_s[i], time_s[1], 1e-9));
    CU_ASSERT(error[1] < error[0] && fc_near(error[0], error[2], 1e-9) && error[2] < error[3]);
}

int suite_family(void)
{
    static const CU_TestInfo tests[] = {
        {"distance of routers and networks", test_distance},
        {"the mean of relatives, and an error wider with distance", test_mean},
        {"relatives of a machine, and a family without any", test_find},
        {"how an error is stated", test_stated},
        {"changed keys", test_changed},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("family", tests);
}
