/* test_bulk_phase.c - one phase: its kind and features, the fluid, what FIFOs let through, end points, messages that hardly meet. */
#include "tests/bulk_fixture.h"

#include <math.h>

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
        CU_ASSERT(!fc_bulk_apart(&b.net, &b.demand, &b.placement, &b.parts, &at, NULL, &answer, &b.st));
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
    const uint32_t zero[] = {0}, far[] = {5}, next[] = {1}, src[] = {0, 1, 8}, dst[] = {5, 5, 9};
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
    /* Two of three have a half of a link each, b = 1/3 and m = 4/9: something of the ratio is left, and that both answers differ counts as error. */
    a = apart(ROOMY("dimension-order, in_network: 50"), 3, src, dst, 64000, &reference_s, &kernel_s);
    CU_ASSERT(fc_near(a.ratio, pow(2, 4.0 / 9), 1e-6));
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

int suite_bulk_phase(void)
{
    static const CU_TestInfo tests[] = {
        {"kinds of phases", test_kinds},
        {"where a phase lies", test_point},
        {"one round of messages", test_fluid},
        {"what FIFOs let through", test_fifos},
        {"phases that end points bind", test_ends},
        {"messages that hardly meet", test_apart},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("one bulk phase", tests);
}
