/* test_bulk.c - closed runs of calibrations: kinds and features of phases, runs equal to the kernel's,
 * errors, files, answers with and without a calibration. */
#include "solvers/calibration/calibration_phases.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static bool open_bench(struct bench *b, const char *yaml, const char *pattern)
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

static void close_bench(struct bench *b)
{
    fc_load_free(&b->load);
    fc_demand_free(&b->demand);
    fc_test_close(&b->machine, &b->net);
}

static const char *kind_of(struct bench *b)
{
    return fc_bulk_kind(&b->net, &b->demand, &b->placement, &b->load);
}

/* ---- kinds and points ---- */

static void test_kinds(void)
{
    static const struct {
        const char *pattern, *kind;
    } list[] = {{"alltoall:bytes=1KiB", "alltoall"},
                {"tornado:bytes=64", "tornado"},
                {"permutation:seed=3,bytes=8", "permutation"},
                {"stencil2d:grid=4x4,bytes=8", "stencil"},
                {"stencil2d:bytes=8", "stencil"},
                {"hotspot:size=1x1", "graph"},
                {"random:seed=2", "graph"},
                {"neighbor", "neighbor"}};
    struct bench b;
    for (size_t i = 0; i < FC_COUNT(list); i++) {
        if (open_bench(&b, SQUARE, list[i].pattern)) CU_ASSERT_STRING_EQUAL(kind_of(&b), list[i].kind);
        close_bench(&b);
    }
    if (open_bench(&b, SQUARE, "tornado:bytes=64")) {
        b.node[3] = 2, b.node[2] = 3; /* another order is another pattern, but still one to one */
        CU_ASSERT_STRING_EQUAL(kind_of(&b), "permutation");
        b.demand.dst[3] = b.demand.dst[2];
        CU_ASSERT_STRING_EQUAL(kind_of(&b), "graph");
    }
    close_bench(&b);
    if (open_bench(&b, SQUARE, "alltoall:bytes=64")) {
        b.demand.dense[0].a[5] *= 2; /* nearly */
        CU_ASSERT_STRING_EQUAL(kind_of(&b), "graph");
    }
    close_bench(&b);
}

/* tornado on 4 x 4: one step in each dimension, 112 bytes are 2 packets of 8 flits. */
static void test_point(void)
{
    struct bench b;
    struct fc_bulk_point p;
    double split, x[FC_KRIGING_FEATURES];
    if (open_bench(&b, SQUARE, "tornado:bytes=112") &&
        !fc_bulk_split(&b.net, &b.demand, &b.placement, &b.load, &split, &b.st)) {
        CU_ASSERT(!fc_bulk_locate(&b.net, &b.demand, &b.placement, &b.load, &b.parts, split, 0, &p, &b.st));
        CU_ASSERT(p.packets == 2 && p.fluid == 0 && p.spread == 0);
        CU_ASSERT(fc_near(p.hops, 2, 1e-12));
        CU_ASSERT(fc_near(p.anisotropy, 1, 1e-9) && fc_near(p.split, 1, 1e-9));
        CU_ASSERT(fc_near(p.reference_s, b.parts.links_s + b.parts.fill_s, 1e-12));
        CU_ASSERT(fc_near(b.parts.links_s, 16e-9, 1e-9));
        CU_ASSERT(fc_near(p.latency_share, b.parts.fill_s / p.reference_s, 1e-12));
        fc_bulk_features(&p, x);
        CU_ASSERT(fc_near(x[0], sqrt(0.5), 1e-12) && fc_near(x[1], 0.5, 1e-12));
    }
    close_bench(&b);
    if (open_bench(&b, SQUARE, "alltoall:bytes=57") &&
        !fc_bulk_split(&b.net, &b.demand, &b.placement, &b.load, &split, &b.st)) {
        CU_ASSERT(!fc_bulk_locate(&b.net, &b.demand, &b.placement, &b.load, &b.parts, split, 0, &p, &b.st));
        CU_ASSERT(fc_near(p.packets, 2, 1e-9) && split == 1 && fc_near(p.spread, 1 - 1 / 16.0, 0.01));
    }
    close_bench(&b);
}

/* On a ring: messages of 560 B (10 packets of 64 B) over a link at 8 B/ns each, alone and two over one link; the last byte is there when
 * the link has carried them and the heads have followed. An all-to-all of 16 nodes is looked at, one of 128 is not. */
static void test_fluid(void)
{
    static const char ring[] =
        "name: ring\nclock: 1 GHz\nnetwork: {family: torus, dims: [8]}\n"
        "links: {torus: {bandwidth: 8 GB/s, latency: 1 cycles}, injection: {bandwidth: 16 GB/s}}\n"
        "router: {delay: 2 cycles, flit: 8 B, vcs: 2, buffer: 128 B, escape: dateline, routing: dimension-order}\n"
        "packet: {min: 8 B, max: 64 B, header: 8 B}\nnode: {cores: 1}\n";
    static const char large[] = MACHINE("{family: torus, dims: [16, 8]}", "dimension-order", "128 B");
    static const uint32_t src[] = {0, 1}, dst[] = {7, 7};
    static const double bytes[] = {5600, 5600};
    struct bench b;
    struct fc_bulk_fluid fluid;
    if (open_bench(&b, ring, "neighbor:bytes=5600")) {
        CU_ASSERT_EQUAL(fc_bulk_fluid(&b.net, &b.demand, &b.placement, NULL, 1, &fluid, &b.st), FC_OK);
        CU_ASSERT(fluid.interference == 0); /* nobody waits */
        CU_ASSERT(fluid.seconds > 100 * 8e-9 && fluid.seconds < 100 * 8e-9 + 20e-9);
        fc_demand_free(&b.demand);
        CU_ASSERT_EQUAL_FATAL(fc_demand_of_pairs("two", 8, 2, src, dst, bytes, &b.demand, &b.st), FC_OK);
        CU_ASSERT_EQUAL(fc_bulk_fluid(&b.net, &b.demand, &b.placement, NULL, 1, &fluid, &b.st), FC_OK);
        CU_ASSERT(fluid.seconds > 200 * 8e-9 && fluid.seconds < 200 * 8e-9 + 20e-9); /* from 0 to 7 both */
    }
    close_bench(&b);
    if (open_bench(&b, SQUARE, "alltoall:bytes=560")) {
        CU_ASSERT_EQUAL(fc_bulk_fluid(&b.net, &b.demand, &b.placement, NULL, 1, &fluid, &b.st), FC_OK);
        CU_ASSERT(fluid.seconds >= b.parts.links_s && fluid.seconds < 3 * b.parts.links_s);
        CU_ASSERT(fluid.interference > 0.5);
    }
    close_bench(&b);
    if (open_bench(&b, large, "alltoall:bytes=560")) {
        CU_ASSERT_EQUAL(fc_bulk_fluid(&b.net, &b.demand, &b.placement, NULL, 1, &fluid, &b.st), FC_OK);
        CU_ASSERT(fluid.seconds == 0);
    }
    close_bench(&b);
}

/* A stencil over 4 x 4 nodes, two FIFOs before links half as fast: heads of a node with four neighbours want 4 (1 - (3/4)^2) = 1.75 links; ten
 * packets of 64 B for each. Links that are as fast as the node's hold nobody up. */
#define FIFOS(injection)                                                                                               \
    "name: a\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 4]}\n"                                                  \
    "links: {torus: {bandwidth: 8 GB/s, latency: 1 cycles}, injection: {bandwidth: " injection " GB/s}}\n"             \
    "router: {delay: 2 cycles, flit: 8 B, vcs: 2, buffer: 128 B, escape: dateline, routing: dimension-order, "         \
    "injection_fifos: 2}\n"                                                                                            \
    "packet: {min: 8 B, max: 64 B, header: 8 B}\nnode: {cores: 1}\n"
static void test_fifos(void)
{
    struct bench b;
    double seconds;
    if (open_bench(&b, FIFOS("16"), "stencil2d:grid=4x4,bytes=560")) {
        CU_ASSERT_EQUAL(fc_bulk_fifos(&b.net, &b.demand, &b.placement, &seconds, &b.st), FC_OK);
        CU_ASSERT(fc_near(seconds, 4 * 640 / 8e9 / 1.75, 1e-9));
    }
    close_bench(&b);
    if (open_bench(&b, FIFOS("8"), "stencil2d:grid=4x4,bytes=560")) {
        CU_ASSERT_EQUAL(fc_bulk_fifos(&b.net, &b.demand, &b.placement, &seconds, &b.st), FC_OK);
        CU_ASSERT(seconds == 0);
    }
    close_bench(&b);
}

/* ---- what covers ---- */

/* Nine cases of a kind that is always right and nine of one that is off by 1 to 9 deviations. */
static void test_covers(void)
{
    struct fc_bulk_case cases[18];
    struct fc_bulk bulk = {.n_cases = 18, .cases = cases};
    for (int i = 0; i < 18; i++)
        cases[i] = (struct fc_bulk_case){.network = "x",
                                         .pattern = "y",
                                         .kind = i < 9 ? "good" : "bad",
                                         .network_score = i < 9 ? 0 : i - 8,
                                         .kind_score = i};
    double all = 285 / 18.0, good = sqrt(2 * all / 11), bad = sqrt((285 + 2 * all) / 11);
    CU_ASSERT(fc_near(fc_bulk_covers(&bulk, "bad"), 9, 1e-12)); /* the 18th of 18 scores: the greatest */
    CU_ASSERT(fc_near(fc_bulk_covers(&bulk, "good"), 9 / bad * good, 1e-12));
    CU_ASSERT(fc_near(fc_bulk_covers(&bulk, ""), 17, 1e-12));
    bulk.n_cases = 0;
    CU_ASSERT(isnan(fc_bulk_covers(&bulk, "good")));
}

/* ---- end points ---- */

static bool ends(struct bench *b, const char *pattern, struct fc_bulk_answer *answer)
{
    struct fc_bulk_point p;
    double split;
    bool good = open_bench(b, SQUARE, pattern) &&
                !fc_bulk_split(&b->net, &b->demand, &b->placement, &b->load, &split, &b->st) &&
                !fc_bulk_locate(&b->net, &b->demand, &b->placement, &b->load, &b->parts, split, 0, &p, &b->st);
    good = good && !fc_bulk_ends(&b->net, &b->load, NULL, &b->parts, &p, answer, &b->st);
    close_bench(b);
    return good;
}

/* A hot spot takes all bytes: nothing of the ratio is left. Where every node takes an even share, all of it is. A ratio
 * below 1 stays. */
static void test_ends(void)
{
    struct bench b;
    struct fc_bulk_answer a = {.ratio = 1.5, .error_percent = 30};
    CU_ASSERT(ends(&b, "hotspot:bytes=4KiB", &a));
    CU_ASSERT(fc_near(a.ratio, 1, 1e-9) && fc_near(a.error_percent, 10, 1e-9));
    a = (struct fc_bulk_answer){.ratio = 1.5, .error_percent = 30};
    CU_ASSERT(ends(&b, "alltoall:bytes=4KiB", &a));
    CU_ASSERT(fc_near(a.ratio, 1.5, 1e-9) && fc_near(a.error_percent, 30, 1e-9));
    a = (struct fc_bulk_answer){.ratio = 0.9, .error_percent = 5};
    CU_ASSERT(ends(&b, "hotspot:bytes=4KiB", &a));
    CU_ASSERT(fc_near(a.ratio, 0.9, 1e-9) && fc_near(a.error_percent, 5, 1e-9));
}

/* ---- messages that hardly meet ---- */

/* n messages of `bytes`: the answer where the ratio was 2, +-50 % and outside of what was run; the kernel's time. */
static struct fc_bulk_answer apart(const char *yaml, uint32_t n, const uint32_t *src, const uint32_t *dst, double bytes,
                                   double *reference_s, double *kernel_s)
{
    struct fc_bulk_answer answer = {.ratio = 2, .error_percent = 50, .extrapolated = true, .why = "far"};
    struct fc_flit_settings how;
    struct fc_flit_result r;
    struct fc_bulk_point at;
    struct bench b;
    double each[64], split;
    for (uint32_t i = 0; i < n; i++) each[i] = bytes;
    fc_flit_defaults(&how);
    if (open_bench(&b, yaml, "neighbor")) { /* one task a node; then the pairs instead */
        fc_load_free(&b.load);
        fc_demand_free(&b.demand);
        struct fc_load_settings load = {.threads = 1};
        CU_ASSERT(!fc_demand_of_pairs("x", b.net.n_nodes, n, src, dst, each, &b.demand, &b.st));
        CU_ASSERT(!fc_load_solve(&b.net, &b.demand, &b.placement, &load, &b.load, &b.st));
        CU_ASSERT(!fc_phase_parts(&b.net, &b.demand, &b.placement, &b.load, &load, &b.parts, &b.st));
        CU_ASSERT(!fc_bulk_split(&b.net, &b.demand, &b.placement, &b.load, &split, &b.st));
        CU_ASSERT(!fc_bulk_locate(&b.net, &b.demand, &b.placement, &b.load, &b.parts, split, 0, &at, &b.st));
        CU_ASSERT(!fc_bulk_apart(&b.net, &b.demand, &b.placement, &b.parts, &at, &answer, &b.st));
        *reference_s = at.reference_s;
        CU_ASSERT(!fc_flit_run(&b.net, &b.demand, b.node, &how, &r, &b.st));
        *kernel_s = (double)r.cycles * r.cycle_s;
        fc_flit_free(&r);
    }
    close_bench(&b);
    return answer;
}

static void test_apart(void)
{
    const uint32_t zero[] = {0}, far[] = {5}, next[] = {1}, src[] = {0, 1, 8}, dst[] = {2, 2, 9};
    uint32_t all[15], to[15];
    double reference_s, kernel_s;
    struct fc_bulk_answer a =
        apart(ROOMY("dimension-order"), 1, zero, far, 64000, &reference_s, &kernel_s); /* alone: nothing is lost */
    CU_ASSERT(fc_near(a.ratio, 1, 1e-6) && fc_near(a.error_percent, 3, 1e-9));
    CU_ASSERT(!a.extrapolated && !*a.why);
    CU_ASSERT(fabs(a.ratio * reference_s / kernel_s - 1) < 0.03);
    a = apart(ROOMY("adaptive"), 1, zero, far, 64000, &reference_s, &kernel_s); /* over several ways */
    CU_ASSERT(fc_near(a.error_percent, 35, 1e-9));
    CU_ASSERT(fabs(a.ratio * reference_s / kernel_s - 1) < 0.35);
    a = apart(ROOMY("adaptive"), 1, zero, next, 64000, &reference_s, &kernel_s); /* there is but one */
    CU_ASSERT(fc_near(a.error_percent, 3, 1e-9));
    CU_ASSERT(fabs(a.ratio * reference_s / kernel_s - 1) < 0.03);
    /* Two of three share a link: something of the ratio is left, and that both answers differ counts as error. */
    a = apart(ROOMY("dimension-order"), 3, src, dst, 64000, &reference_s, &kernel_s);
    CU_ASSERT(a.ratio > 1.05 && a.ratio < 1.3);
    CU_ASSERT(a.error_percent > 15 && a.error_percent < 50);
    CU_ASSERT(fabs(log(a.ratio * reference_s / kernel_s)) < log1p(a.error_percent / 100));
    CU_ASSERT(!a.extrapolated);
    /* Buffers of two packets, which wait for room: not at full speed. */
    a = apart(ORDERED, 1, zero, far, 64000, &reference_s, &kernel_s);
    CU_ASSERT(fc_near(a.error_percent, 35, 1e-9));
    CU_ASSERT(fabs(a.ratio * reference_s / kernel_s - 1) < 0.35);
    for (uint32_t i = 0; i < 15; i++) all[i] = i + 1, to[i] = 0; /* all for one: as it was */
    a = apart(ROOMY("dimension-order"), 15, all, to, 64000, &reference_s, &kernel_s);
    CU_ASSERT(a.ratio == 2 && a.error_percent == 50 && a.extrapolated && !strcmp(a.why, "far"));
}

/* ---- runs ---- */

/* The closed runs of the square and its relatives. */
static bool run(int threads, double hops, struct fc_machine *machine, struct fc_calibration *c)
{
    struct fc_calibration_settings how = {.threads = threads, .seed = 5};
    struct fc_calibration_design none = {0};
    struct fc_network net;
    struct fc_status st = {0};
    memset(c, 0, sizeof *c);
    if (!fc_test_network(ORDERED, machine, &net)) return false;
    c->machine = "a";
    c->kernel_version = FC_KERNEL_VERSION;
    fc_queueing_defaults(&c->parameters);
    c->low = c->high = c->parameters;
    c->hops_step = 1;
    fc_calibration_kind(&net, NULL, &c->arena, &c->kind, &st);
    fc_network_free(&net);
    if (!fc_calibration_phases_run(machine, &none, hops, &how, 0.8, &c->arena, &c->phases, &st)) return true;
    CU_FAIL("run");
    printf("\n    %s\n", st.message);
    return false;
}

/* One of them for all tests, made when the first asks for it: seconds. Nobody changes it. */
static struct {
    struct fc_machine machine;
    struct fc_calibration c;
    bool made, good;
} shared;

static const struct fc_calibration *shared_run(void)
{
    if (!shared.made) shared.good = run(1, 2e5, &shared.machine, &shared.c);
    shared.made = true;
    return shared.good ? &shared.c : NULL;
}

static int free_shared(void)
{
    if (shared.made) {
        fc_calibration_free(&shared.c);
        fc_machine_free(&shared.machine);
    }
    return 0;
}

static bool same(const struct fc_bulk *a, const struct fc_bulk *b)
{
    bool equal =
        a->n_cases == b->n_cases && a->hops_run == b->hops_run && !memcmp(&a->shape, &b->shape, sizeof a->shape);
    for (uint32_t i = 0; equal && i < a->n_cases; i++)
        equal = a->cases[i].ratio == b->cases[i].ratio &&
                a->cases[i].left_network_percent == b->cases[i].left_network_percent &&
                a->cases[i].left_kind_percent == b->cases[i].left_kind_percent &&
                !strcmp(a->cases[i].pattern, b->cases[i].pattern);
    return equal;
}

static void test_threads(void)
{
    const struct fc_calibration *one = shared_run();
    struct fc_machine machine;
    struct fc_calibration two;
    if (one && run(2, 2e5, &machine, &two)) {
        CU_ASSERT(one->phases.n_cases > 30);
        CU_ASSERT(same(&one->phases, &two.phases));
        CU_ASSERT(one->phases.hops_run <= 2.2e5);
        fc_calibration_free(&two);
        fc_machine_free(&machine);
    }
}

/* The first case is the kernel's own run again, over the contention model without a calibration. */
static void test_kernel(void)
{
    const struct fc_calibration *c = shared_run();
    struct bench b;
    if (c) {
        const struct fc_bulk_case *k = &c->phases.cases[0];
        struct fc_flit_settings how;
        struct fc_flit_result r;
        CU_ASSERT_STRING_EQUAL(k->network, "dims [4, 4]");
        fc_flit_defaults(&how);
        how.seed = 5;
        if (open_bench(&b, ORDERED, k->pattern) && !fc_flit_run(&b.net, &b.demand, b.node, &how, &r, &b.st)) {
            double time_s = (double)r.cycles * r.cycle_s;
            CU_ASSERT(fc_near(k->ratio, time_s / (b.parts.links_s + b.parts.fill_s), 1e-9));
            CU_ASSERT_STRING_EQUAL(k->kind, kind_of(&b));
            fc_flit_free(&r);
        }
        close_bench(&b);
    }
}

/* Too little for four runs: nothing, which is no failure. */
static void test_small_budget(void)
{
    struct fc_machine machine;
    struct fc_calibration c;
    if (run(1, 40, &machine, &c)) CU_ASSERT_EQUAL(c.phases.n_cases, 0);
    fc_calibration_free(&c);
    fc_machine_free(&machine);
}

/* ---- answers ---- */

static void predict(struct bench *b, const struct fc_bulk *bulk, struct fc_prediction *p)
{
    struct fc_load_settings how = {.threads = 1, .bulk = bulk};
    CU_ASSERT_EQUAL(fc_predict_phase(&b->net, &b->demand, &b->placement, &b->load, &how, p, &b->st), FC_OK);
}

static double rms(const struct fc_bulk *bulk, const char *kind, bool kinds)
{
    double sum = 0, n = 0;
    for (uint32_t i = 0; i < bulk->n_cases; i++) {
        const struct fc_bulk_case *c = &bulk->cases[i];
        if (*kind && strcmp(c->kind, kind)) continue;
        double e = kinds ? fmax(c->left_network_percent, c->left_kind_percent) : c->left_network_percent;
        sum += e * e;
        n++;
    }
    return sqrt(sum / n);
}

static void test_answers(void)
{
    const struct fc_calibration *c = shared_run();
    struct fc_prediction p;
    struct bench b;
    struct fc_bulk one;
    if (!c) return;
    const struct fc_bulk *bulk = &c->phases;
    for (uint32_t i = 0; i < bulk->n_cases; i += 7) { /* what was run comes out as it was measured */
        const struct fc_bulk_case *k = &bulk->cases[i];
        struct fc_bulk_answer a;
        if (strcmp(k->network, "dims [4, 4]") || !strcmp(k->kind, "permutation") || !strcmp(k->kind, "stencil") ||
            !strcmp(k->kind, FC_BULK_GRAPH))
            continue;
        if (open_bench(&b, ORDERED, k->pattern)) {
            CU_ASSERT_EQUAL(fc_bulk_ratio(bulk, &b.net, k->kind, &k->at, &a, &b.st), FC_OK);
            CU_ASSERT(fabs(a.ratio / k->ratio - 1) < 1e-3);
            CU_ASSERT(!a.extrapolated && a.error_percent > 0);
            predict(&b, bulk, &p);
            CU_ASSERT(p.time_s >= p.bound_s && p.percent_of_peak <= 100);
            CU_ASSERT(p.time_s == p.bound_s || fabs(p.network_s / (k->ratio * k->at.reference_s) - 1) < 0.05);
            CU_ASSERT(
                fc_near(p.error_percent, a.error_percent, 0.05)); /* of the same point, to rounding of its loads */
        }
        close_bench(&b);
    }
    one = *bulk;
    if (open_bench(&b, ORDERED, "tornado:bytes=1120")) {
        struct fc_bulk_answer known, other;
        struct fc_bulk_point at;
        double split;
        CU_ASSERT_EQUAL(fc_bulk_split(&b.net, &b.demand, &b.placement, &b.load, &split, &b.st), FC_OK);
        CU_ASSERT(!fc_bulk_locate(&b.net, &b.demand, &b.placement, &b.load, &b.parts, split, 0, &at, &b.st));
        CU_ASSERT_EQUAL(fc_bulk_ratio(&one, &b.net, "tornado", &at, &known, &b.st), FC_OK);
        CU_ASSERT_EQUAL(fc_bulk_ratio(&one, &b.net, "no such kind", &at, &other, &b.st), FC_OK);
        CU_ASSERT(known.error_percent >= 0.2 * rms(bulk, "tornado", false));
        CU_ASSERT(other.error_percent >= 0.2 * rms(bulk, "", true));
        at.anisotropy *= 100;
        CU_ASSERT_EQUAL(fc_bulk_ratio(&one, &b.net, "tornado", &at, &other, &b.st), FC_OK);
        CU_ASSERT(other.extrapolated && strstr(other.why, "anisotropy") && other.error_percent >= 2);
        double background[512] = {0};
        struct fc_load_settings how = {.threads = 1, .bulk = bulk, .background_bytes_per_s = background};
        predict(&b, bulk, &p);
        double alone = p.error_percent;
        CU_ASSERT(b.net.n_links <= FC_COUNT(background));
        CU_ASSERT_EQUAL(fc_predict_phase(&b.net, &b.demand, &b.placement, &b.load, &how, &p, &b.st), FC_OK);
        CU_ASSERT(p.extrapolated && fc_near(p.error_percent, 2 * alone, 1e-12));
    }
    close_bench(&b);
}

/* Every case has its own network's other lengths to say what the process misses; a network that was not run has none.
 * A phase that by the ratio is over before its packets arrive takes what is proven. */
static void test_near(void)
{
    const struct fc_calibration *c = shared_run();
    struct bench b;
    if (!c) return;
    struct fc_bulk bulk = c->phases;
    struct fc_kriging *kriging;
    struct fc_status st = {0};
    double mean, near, value;
    CU_ASSERT_FATAL(!fc_bulk_open(&bulk, &kriging, &mean, &st));
    CU_ASSERT(!fc_bulk_covers_near(&bulk, kriging, "neighbor", &near, &st));
    CU_ASSERT(near > 0 && near < 10);
    for (uint32_t i = 0; i < bulk.n_cases; i++) {
        struct fc_kriging_point at = {.kind = bulk.cases[i].kind, .group = FC_KRIGING_NO_GROUP};
        fc_bulk_features(&bulk.cases[i].at, at.x);
        CU_ASSERT(!fc_bulk_missed(&bulk, kriging, &at, &value) && value == 0);
        at.group = 0;
        while (strcmp(bulk.cases[at.group].network, bulk.cases[i].network)) at.group++;
        CU_ASSERT(fc_bulk_missed(&bulk, kriging, &at, &value));
    }
    fc_kriging_close(kriging);
    bulk.n_cases = 4; /* too few */
    CU_ASSERT_FATAL(!fc_bulk_open(&bulk, &kriging, &mean, &st));
    CU_ASSERT(!fc_bulk_covers_near(&bulk, kriging, "neighbor", &near, &st) && isnan(near));
    fc_kriging_close(kriging);
    bulk.n_cases = c->phases.n_cases;
    bulk.cases = malloc(bulk.n_cases * sizeof *bulk.cases);
    CU_ASSERT_FATAL(bulk.cases != NULL);
    memcpy(bulk.cases, c->phases.cases, bulk.n_cases * sizeof *bulk.cases);
    for (uint32_t i = 0; i < bulk.n_cases; i++) bulk.cases[i].ratio *= 0.01;
    if (open_bench(&b, ORDERED, "tornado:bytes=16")) {
        struct fc_load_summary summary;
        struct fc_load_settings how = {0};
        struct fc_prediction p;
        fc_load_summarise(&b.net, &b.load, &how, &summary);
        predict(&b, &bulk, &p);
        CU_ASSERT(p.network_s > 0 && p.network_s == summary.bound_s);
    }
    close_bench(&b);
    free(bulk.cases);
}

/* ---- files ---- */

static void path_in(char *out, size_t size, const char *name)
{
    snprintf(out, size, "/tmp/fabricast-bulk-%ld-%s", (long)getpid(), name);
}

static bool slurp(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(out, 1, size - 1, f) : 0;
    if (f) fclose(f);
    out[n] = '\0';
    return n > 0 && n < size - 1;
}

/* Gives the calibration one case, as the file wants it. */
static void add_case(struct fc_calibration *c)
{
    static struct fc_calibration_point point = {0.5, 10, 1, 1};
    static struct fc_calibration_case one = {.network = "x",
                                             .pattern = "uniform",
                                             .nodes = 1,
                                             .flits_min = 1,
                                             .flits_max = 1,
                                             .hops = 1,
                                             .anisotropy = 1,
                                             .buffer_packets = 1,
                                             .features = {1, 1, 1, 1, 1, 1},
                                             .saturation_ratio = 1,
                                             .saturation = 1,
                                             .ideal = 1,
                                             .n_points = 1,
                                             .points = &point};
    c->n_cases = 1;
    c->cases = &one;
    for (int i = 0; i < 2; i++) c->hops[i] = c->anisotropy[i] = c->flits[i] = c->buffer_packets[i] = 1;
}

static void test_file(void)
{
    static const struct {
        const char *from, *to, *says;
    } wrong[] = {{", noise: ", ", noize: ", "noize"},
                 {"\n  plain: ", "\n  plane: ", "plane"},
                 {"kind: \"alltoall\", ", "", "kind is missing"},
                 {", ratio: ", ", ratio: -", "ratio"},
                 {"], ratio", ", 1], ratio", "expected a list of 7 numbers"},
                 {"\nphases:", "\nstages:", "stages"}};
    static char text[1 << 18], other[1 << 18], edited[(1 << 18) + 64];
    const struct fc_calibration *run_once = shared_run();
    struct fc_calibration c, again;
    struct fc_status st = {0};
    char path[128];
    path_in(path, sizeof path, "a.yaml");
    if (!run_once) return;
    c = *run_once; /* its arrays stay the run's */
    add_case(&c);
    CU_ASSERT_EQUAL(fc_calibration_write(&c, path, &st), FC_OK);
    CU_ASSERT_FATAL(slurp(path, text, sizeof text));
    CU_ASSERT_EQUAL(fc_calibration_read(path, &again, &st), FC_OK);
    CU_ASSERT(same(&c.phases, &again.phases) || again.phases.shape.length[0] == c.phases.shape.length[0]);
    CU_ASSERT_EQUAL(fc_calibration_write(&again, path, &st), FC_OK);
    CU_ASSERT(slurp(path, other, sizeof other) && !strcmp(text, other));
    fc_calibration_free(&again);
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        const char *at = strstr(text, wrong[i].from);
        struct fc_status why = {0};
        CU_ASSERT_FATAL(at != NULL);
        snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - text), text, wrong[i].to, at + strlen(wrong[i].from));
        FILE *f = fopen(path, "w");
        CU_ASSERT_FATAL(f != NULL);
        fputs(edited, f);
        fclose(f);
        CU_ASSERT_EQUAL(fc_calibration_read(path, &again, &why), FC_INPUT);
        CU_ASSERT(fc_says(&why, FC_INPUT, wrong[i].says) && why.line > 0);
    }
    /* A file of before fluids were known: one shape, by the section's own keys. */
    const char *shape = strstr(text, "\n  shape: "), *cases = strstr(text, "\n  cases: ");
    CU_ASSERT_FATAL(shape != NULL && cases != NULL);
    snprintf(edited, sizeof edited,
             "%.*s\n  lengths: [1, 2, 3, 4, 5, 6, 7]\n  kinds: 0\n  groups: 0.1\n  noise: 0.03\n  variance: 0.1%s",
             (int)(shape - text), text, cases);
    FILE *f = fopen(path, "w");
    CU_ASSERT_FATAL(f != NULL);
    fputs(edited, f);
    fclose(f);
    CU_ASSERT_EQUAL_FATAL(fc_calibration_read(path, &again, &st), FC_OK);
    CU_ASSERT(again.phases.n_cases == c.phases.n_cases && again.phases.plain.length[6] == 7);
    for (uint32_t i = 0; i < again.phases.n_cases; i++) CU_ASSERT(again.phases.cases[i].at.fluid == 0);
    fc_calibration_free(&again);
    unlink(path);
}

/* Fluids found again with another limit are those of a run with it, and so is the fit. */
static void test_renew(void)
{
    const struct fc_calibration *c = shared_run();
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    if (!c || !fc_test_network(ORDERED, &machine, &net)) return;
    struct fc_bulk bulk = c->phases, back;
    struct fc_bulk_case *cases = malloc(bulk.n_cases * sizeof *cases);
    CU_ASSERT_FATAL(cases != NULL);
    memcpy(cases, c->phases.cases, bulk.n_cases * sizeof *cases);
    bulk.cases = cases;
    back = bulk;
    CU_ASSERT(!fc_calibration_phases_renew(&machine, 1, 2, 0.5, &bulk, &st));
    double before = 0, after = 0;
    for (uint32_t i = 0; i < bulk.n_cases; i++) before += c->phases.cases[i].at.fluid, after += cases[i].at.fluid;
    CU_ASSERT(after > 1.01 * before); /* what mixes loses more; single fluids may end earlier */
    CU_ASSERT(!fc_calibration_phases_renew(&machine, 1, 1, 0.8, &back, &st));
    CU_ASSERT(same(&c->phases, &back));
    free(cases);
    fc_test_close(&machine, &net);
}

int suite_bulk(void)
{
    static const CU_TestInfo tests[] = {
        {"kinds of phases", test_kinds},
        {"where a phase lies", test_point},
        {"one round of messages", test_fluid},
        {"what FIFOs let through", test_fifos},
        {"what covers nine of ten", test_covers},
        {"phases that end points bind", test_ends},
        {"messages that hardly meet", test_apart},
        {"the same runs for any number of threads", test_threads},
        {"a case is the kernel's run", test_kernel},
        {"a budget for nothing", test_small_budget},
        {"answers and errors", test_answers},
        {"a pattern that was run there", test_near},
        {"the section of the file", test_file},
        {"fluids of another limit", test_renew},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite_between("bulk phases", NULL, free_shared, tests);
}
