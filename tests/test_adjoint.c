/* test_adjoint.c - the tape of a replay's derivatives: nodes in closed form, and messages that share links against replays of
 * them with one thing a little changed. */
#include "solvers/adjoint/adjoint.h"
#include "core/core.h"
#include "solvers/calibration/calibration.h"
#include "tests/support.h"
#include "tests/tests.h"
#include "tests/transit_send.h"

#include <math.h>
#include <stdlib.h>

/* ---- the tape alone ---- */

static void costs(void)
{
    struct fc_adjoint a;
    struct fc_gradient g[FC_GRADIENTS];
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    fc_adjoint_open(&a, NULL, NULL, 0);
    uint32_t sent = fc_adjoint_add(&a, fc_adjoint_add(&a, 0, FC_COST_COMPUTE, 1, 3e-6), FC_COST_SEND, 0, 1);
    CU_ASSERT_EQUAL(fc_adjoint_add(&a, sent, FC_COST_PER_BYTE, 0, 0), sent); /* no cost, no node */
    uint32_t there = fc_adjoint_add(&a, sent, FC_COST_LATENCY, 0, 2e-6);
    fc_adjoint_add(&a, sent, FC_COST_GAP, 0, 1); /* leads nowhere */
    uint32_t taken = fc_adjoint_add(&a, fc_adjoint_add(&a, there, FC_COST_RECV, 0, 1), FC_COST_WIRE, 0, 99);
    a.last = fc_adjoint_add(&a, fc_adjoint_add(&a, taken, FC_COST_COMPUTE, 0, 1e-6), FC_COST_OTHER, 0, 5e-6);
    CU_ASSERT_FATAL(fc_adjoint_gradients(&a, 2, g, &arena, &st));
    CU_ASSERT(g->send == 1 && g->recv == 1 && g->gap == 0 && g->wire_bytes == 99 && g->latency_s == 2e-6 &&
              g->rest_s == 5e-6);
    CU_ASSERT(g->compute_s[0] == 1e-6 && g->compute_s[1] == 3e-6 && g->greatest == 1);
    a.lost = true;
    CU_ASSERT(!fc_adjoint_gradients(&a, 2, g, &arena, &st));
    CU_ASSERT(!st.code);
    a.refused = true;
    CU_ASSERT(!fc_adjoint_gradients(&a, 2, g, &arena, &st) && fc_is_out_of_memory(&st));
    fc_adjoint_close(&a);
    fc_arena_free(&arena);
}

/* Arrays beside each other keep what they have, from the least piece of a page to several pages alone. */
static void pages(void)
{
    enum { ARRAYS = 3, MOST = 1 << 20 };
    struct fc_adjoint_pages pages = {0};
    uint32_t *of[ARRAYS] = {NULL};
    size_t capacity[ARRAYS] = {0}, wrong = 0;
    for (uint32_t i = 0; i < MOST; i++)
        for (uint32_t k = 0; k < ARRAYS; k++) {
            if (i >= (uint32_t)MOST >> 3 * k) continue;
            if (i == capacity[k])
                CU_ASSERT_FATAL(fc_adjoint_more(&pages, (void **)&of[k], &capacity[k], i + 1, sizeof *of[k]));
            of[k][i] = i ^ k;
        }
    for (uint32_t k = 0; k < ARRAYS; k++) {
        CU_ASSERT(capacity[k] >= (uint32_t)MOST >> 3 * k && (uintptr_t)of[k] % 64 == 0);
        for (uint32_t i = 0; i < (uint32_t)MOST >> 3 * k; i++) wrong += of[k][i] != (i ^ k);
        fc_adjoint_release(of[k], capacity[k], sizeof *of[k]);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    fc_adjoint_close_pages(&pages);
}

/* ---- messages that share links ---- */

/* Links of 1 GB/s between 4 nodes in a row, doors of 2.7: never full together with links. */
static const char *const row = "name: row\nnetwork: {family: mesh, dims: [4]}\n"
                               "links: {mesh: {bandwidth: 1 GB/s, latency: 10 ns}, injection: {bandwidth: 2.7 GB/s}}\n"
                               "router: {delay: 20 ns, routing: dimension-order}\n";
/* The same with doors that fill injection FIFOs at once. */
static const char *const fast_doors =
    "name: row\nnetwork: {family: mesh, dims: [4]}\n"
    "links: {mesh: {bandwidth: 1 GB/s, latency: 10 ns}, injection: {bandwidth: 1 PB/s}}\n"
    "router: {delay: 20 ns, routing: dimension-order, flit: 10 B, buffer: 100 B}\n";
/* The same with packets that take 0.22 us on a door; and with doors as fast as links. */
static const char *const long_packets =
    "name: row\nnetwork: {family: mesh, dims: [4]}\n"
    "links: {mesh: {bandwidth: 1 GB/s, latency: 10 ns}, injection: {bandwidth: 2.7 GB/s}}\n"
    "router: {delay: 20 ns, routing: dimension-order, flit: 600 B, buffer: 1200 B}\n";
static const char *const even_doors =
    "name: row\nnetwork: {family: mesh, dims: [4]}\n"
    "links: {mesh: {bandwidth: 1.1 GB/s, latency: 10 ns}, injection: {bandwidth: 1 GB/s}}\n"
    "router: {delay: 20 ns, routing: dimension-order, flit: 10 B, buffer: 100 B}\n";
enum { N = 40, LAST = N };
struct job {
    struct fc_machine machine;
    struct fc_network net;
    double start_s[N], bytes[N];
    uint32_t src[N], dst[N];
    const struct fc_calibration *made; /* NULL: links lose nothing to packets behind others */
};

/* When the last has arrived; on the tape every start is a computation of its own rank. */
static double run(const struct job *job, const struct fc_machine *machine, struct fc_adjoint *a)
{
    struct fc_status st = {0};
    struct fc_network net = job->net;
    struct fc_transit_settings settings = {.network = FC_NET_CONTENTION, .made = job->made, .adjoint = a};
    struct fc_transit *transit;
    struct fc_arrival arrival = {0};
    bool found = true;
    net.machine = machine;
    CU_ASSERT_EQUAL_FATAL(fc_transit_open(&net, &settings, &transit, &st), FC_OK);
    for (uint32_t i = 0; i < N; i++) {
        if (a) fc_adjoint_departs(a, i, fc_adjoint_add(a, 0, FC_COST_COMPUTE, i, job->start_s[i]));
        CU_ASSERT_EQUAL(fc_test_send(transit, i, job->start_s[i], job->src[i], job->dst[i], job->bytes[i]), FC_OK);
    }
    double last_s = 0;
    while (!fc_transit_next(transit, INFINITY, &arrival, &found) && found) {
        last_s = arrival.time_s;
        if (a) a->last = fc_adjoint_arrived(a, arrival.id);
    }
    fc_transit_close(transit);
    return last_s;
}

static double run_with(const struct job *job, int link_class, double times)
{
    struct fc_machine machine = job->machine;
    machine.classes[link_class].bandwidth_bytes_per_s *= times;
    return run(job, &machine, NULL);
}

static void make(struct job *job, const char *machine, uint64_t seed)
{
    job->made = NULL;
    CU_ASSERT_FATAL(fc_test_network(machine, &job->machine, &job->net));
    for (uint32_t i = 0; i < N; i++) {
        job->start_s[i] = 1e-6 * (1 + fc_random_real(seed, 0, i) * 100);
        job->bytes[i] = 1 + (double)fc_random_below(seed, 1, i, 30000);
        job->src[i] = (uint32_t)fc_random_below(seed, 2, i, 4);
        job->dst[i] = (job->src[i] + 1 + (uint32_t)fc_random_below(seed, 3, i, 3)) % 4;
    }
}

/* The tape of a job says what small changes do; it is closed. */
static void check(const struct job *job)
{
    const double h = 1e-6;
    struct fc_adjoint a;
    struct fc_gradient g[FC_GRADIENTS];
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    fc_adjoint_open(&a, &job->net, NULL, 0);
    double time_s = run(job, &job->machine, &a), sum_s = 0;
    CU_ASSERT_FATAL(fc_adjoint_gradients(&a, N, g, &arena, &st));
    for (int c = 0; c < job->machine.n_classes; c++) {
        double by_hand_s = (run_with(job, c, 1 - h) - run_with(job, c, 1 + h)) / (2 * h);
        CU_ASSERT(fabs(g->class_s[c] - by_hand_s) <= 1e-4 * time_s);
        sum_s += g->class_s[c];
    }
    for (uint32_t i = 0; i < N; i++) {
        struct job later = *job;
        later.start_s[i] *= 1 + h;
        double by_hand_s = (run(&later, &job->machine, NULL) - time_s) / h;
        CU_ASSERT(fabs(g->compute_s[i] - by_hand_s) <= 1e-4 * time_s);
        sum_s += g->compute_s[i];
    }
    CU_ASSERT(fc_near(sum_s + g->latency_s + g->rest_s, time_s, 1e-6)); /* twice every cost is twice the time */
    CU_ASSERT(g->class_s[0] + g->class_s[1] > 0 && g->greatest >= 1);
    CU_ASSERT(a.n_ends <= 3 * N);                          /* a wait adds none for each message under way */
    const struct fc_gradient *kept = &g[FC_MEETINGS_KEPT]; /* one path, from one start to the last arrival */
    double kept_s = kept->latency_s + kept->rest_s, starts_s = 0;
    for (int c = 0; c < job->machine.n_classes; c++) kept_s += kept->class_s[c];
    for (uint32_t i = 0; i < N; i++) starts_s = fmax(starts_s, kept->compute_s[i]), kept_s += kept->compute_s[i];
    CU_ASSERT(fc_near(kept_s, time_s, 1e-6) && kept->greatest == 1 && starts_s > 0);
    fc_adjoint_close(&a);
    fc_arena_free(&arena);
}

static void shares(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct job job;
        make(&job, row, seed);
        job.machine.router.injection_fifos = seed % 2; /* of every other job one, which binds */
        check(&job);
        fc_test_close(&job.machine, &job.net);
    }
}

/* Messages that wait for what FIFOs of 100 B hold, or for all of those before them. */
static void waits(void)
{
    static const double buffer_bytes[] = {100, 4000, 1e9};
    int n_moved = 0; /* the last arrival */
    for (uint64_t seed = 1; seed <= 18; seed++) {
        struct job job;
        make(&job, fast_doors, seed);
        double without_s = run(&job, &job.machine, NULL);
        job.machine.router.injection_fifos = 4;
        job.machine.router.injection_buffer_bytes = buffer_bytes[seed % 3];
        n_moved += fabs(run(&job, &job.machine, NULL) - without_s) > 1e-9;
        check(&job);
        fc_test_close(&job.machine, &job.net);
    }
    CU_ASSERT(n_moved > 9);
}

/* Ten messages a node of less than eight packets, within some packets' time: each begins behind the first packets of those before it, out of its
 * sender and into its receiver. */
static void turns(void)
{
    int n_moved = 0; /* the last arrival */
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct job job;
        make(&job, long_packets, seed);
        for (uint32_t i = 0; i < N; i++) {
            job.start_s[i] = 1e-6 * (1 + fc_random_real(seed, 0, i) * 2);
            job.bytes[i] = 1 + (double)fc_random_below(seed, 1, i, 4500);
        }
        double without_s = run(&job, &job.machine, NULL);
        job.machine.router.injection_fifos = 100; /* nobody waits for what they hold */
        n_moved += fabs(run(&job, &job.machine, NULL) - without_s) > 1e-9;
        check(&job);
        fc_test_close(&job.machine, &job.net);
    }
    CU_ASSERT(n_moved > 2);
}

/* Where the doors are as fast as links, receivers' lose to packets behind others. */
static void heads(void)
{
    const struct fc_calibration calibration = {.replays = {.mixing = 0.5}};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct job job;
        make(&job, even_doors, seed);
        job.machine.router.injection_fifos = 1;
        double without_s = run(&job, &job.machine, NULL);
        job.made = &calibration;
        CU_ASSERT(run(&job, &job.machine, NULL) > without_s + 1e-9);
        check(&job);
        fc_test_close(&job.machine, &job.net);
    }
}

/* Two messages of B bytes from node 0 at once, one to its neighbour, one a link further: the first link is the bottleneck,
 * 2 B / b; where the second one is as slow as half of the first, both are, and one alone tells by its side. */
static void one_link(void)
{
    struct job job = {.made = NULL};
    struct fc_adjoint a;
    struct fc_gradient g[FC_GRADIENTS];
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    uint32_t link[2] = {FC_NONE, FC_NONE};
    CU_ASSERT_FATAL(fc_test_network(row, &job.machine, &job.net));
    for (uint32_t l = 0; l < job.net.n_links; l++) {
        char name[96];
        fc_link_name(&job.net, l, name, sizeof name);
        if (fc_is_node(&job.net, job.net.link_source[l]) || fc_is_node(&job.net, job.net.link_target[l])) continue;
        if (job.net.link_source[l] == 0 && job.net.link_target[l] == 1) link[0] = l;
        if (job.net.link_source[l] == 1 && job.net.link_target[l] == 2) link[1] = l;
    }
    CU_ASSERT_FATAL(link[0] != FC_NONE && link[1] != FC_NONE);
    for (uint32_t i = 0; i < N; i++) { /* all at once over the first link, and the same over the second */
        job.start_s[i] = 1e-6;
        job.bytes[i] = 1000;
        job.src[i] = i % 2;
        job.dst[i] = 2;
        if (i % 2) job.src[i] = 0;
    }
    fc_adjoint_open(&a, &job.net, link, 2);
    double time_s = run(&job, &job.machine, &a);
    CU_ASSERT_FATAL(fc_adjoint_gradients(&a, N, g, &arena, &st));
    CU_ASSERT(fc_near(g->class_s[job.net.link_class[link[0]]], N * 1000 / 1e9, 1e-6));
    for (int i = 0; i < 2; i++) { /* beside the other link, which fills as well */
        CU_ASSERT(fc_near(g->slower_s[i], N * 1000 / 1e9, 1e-6));
        CU_ASSERT(fabs(g->faster_s[i]) < 1e-9 * time_s);
    }
    fc_adjoint_close(&a);
    fc_arena_free(&arena);
    fc_test_close(&job.machine, &job.net);
}

int suite_adjoint(void)
{
    static const CU_TestInfo tests[] = {
        {"each cost on the path counts, and nothing else", costs},
        {"arrays of a tape as they grow", pages},
        {"messages that share links against small changes", shares},
        {"messages that wait for FIFOs against small changes", waits},
        {"messages that take turns against small changes", turns},
        {"receivers' links that lose to packets behind others against small changes", heads},
        {"one link beside others that are as full", one_link},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("adjoint", tests);
}
