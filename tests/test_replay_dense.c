/* test_replay_dense.c - what makes crowds of messages cheap: all to all by place, paths by displacement, rates
 * found anew and late. Oracles: the same messages matched one by one, the same pairs walked one by one, processor
 * sharing in closed form. */
#include "solvers/collective/collective.h"
#include "solvers/transit/transit_internal.h"
#include "tests/replay_script.h"
#include "tests/transit_send.h"

#include <stdlib.h>

/* ---- all to all by place ---- */

enum { CROWD = 64 }; /* the fewest ranks whose calls are no lists */

/* Twice, computing in between: of blocks, which alltoallv matches one by one, or all alike. */
static void write_calls(uint32_t n, enum fc_op op, int64_t bytes)
{
    start_script(&script, n);
    for (uint32_t r = 0; r < n; r++) {
        next_rank(&script);
        for (int call = 0; call < 2; call++) {
            struct fc_event *e = add(&script, op, -1, bytes);
            e->compute_s = 1e-6 * (double)((7 * r + 5 * (uint32_t)call) % 31);
            if (op != FC_OP_ALLTOALLV) continue;
            e->bytes = n * bytes;
            e->n_list = n;
            e->list = 0; /* the same sizes for all */
        }
    }
    script.trace.n_lists = n;
    for (uint32_t m = 0; m < n; m++) script.list[m] = bytes;
}

static void by_place(void)
{
    static const struct {
        enum fc_network_model network;
        int64_t bytes;
        double per_byte_s, eager_bytes;
    } cases[] = {
        {FC_NET_IDEAL, 700, 0, 4096},
        {FC_NET_IDEAL, 700, 1e-11, 100}, /* announced */
        {FC_NET_CONTENTION, 64, 0, 4096},
        {FC_NET_CONTENTION, 300, 1e-11, 100},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct rig g;
        struct fc_collective_choice choice;
        double finish_s[CROWD], time_s = 0, waited_s = 0, software_s = 0;
        uint64_t n_messages = 0;
        open_torus(&g, "4, 4, 2", "adaptive");
        CU_ASSERT_EQUAL_FATAL(fc_collective_choice_read("alltoall=linear,alltoallv=linear", &choice, &g.st), FC_OK);
        g.settings.collectives = &choice;
        g.settings.network = cases[i].network;
        g.settings.software.per_byte_s = cases[i].per_byte_s;
        g.settings.software.eager_bytes = cases[i].eager_bytes;
        write_calls(CROWD, FC_OP_ALLTOALLV, cases[i].bytes);
        must_replay(&g, &script);
        for (uint32_t r = 0; r < CROWD; r++) finish_s[r] = g.out.rank_finish_s[r];
        time_s = g.out.prediction.time_s;
        waited_s = g.out.link_wait_s;
        software_s = g.out.collective_s;
        n_messages = g.out.n_messages;
        write_calls(CROWD, FC_OP_ALLTOALL, cases[i].bytes);
        must_replay(&g, &script);
        int wrong = 0;
        for (uint32_t r = 0; r < CROWD; r++) wrong += finish_s[r] != g.out.rank_finish_s[r];
        CU_ASSERT_EQUAL(wrong, 0);
        CU_ASSERT_EQUAL(time_s, g.out.prediction.time_s);
        CU_ASSERT_EQUAL(waited_s, g.out.link_wait_s);
        CU_ASSERT_EQUAL(software_s, g.out.collective_s);
        CU_ASSERT_EQUAL(n_messages, g.out.n_messages);
        CU_ASSERT_EQUAL(n_messages, 2 * CROWD * (CROWD - 1));
        close_rig(&g);
    }
}

/* Rank 5 never comes: rank 0 is said to wait for it. */
static void one_is_missing(void)
{
    struct rig g;
    struct fc_collective_choice choice;
    open_torus(&g, "4, 4, 2", "adaptive");
    CU_ASSERT_EQUAL_FATAL(fc_collective_choice_read("alltoall=linear", &choice, &g.st), FC_OK);
    g.settings.collectives = &choice;
    start_script(&script, CROWD);
    for (uint32_t r = 0; r < CROWD; r++) {
        next_rank(&script);
        if (r == 5) add(&script, FC_OP_RECV, 0, 8); /* which 0 would send after the call */
        add(&script, FC_OP_ALLTOALL, -1, 100);
        if (r == 0) add(&script, FC_OP_SEND, 5, 8);
    }
    CU_ASSERT_EQUAL(replay(&g, &script), FC_INPUT);
    CU_ASSERT(fc_says(&g.st, FC_INPUT, "rank 5"));
    CU_ASSERT(fc_says(&g.st, FC_INPUT, "rank 0"));
    close_rig(&g);
}

/* ---- paths by displacement ---- */

static bool same_paths(const struct fc_transit_ways *a, const struct fc_transit_ways *b)
{
    if (a->n_paths != b->n_paths || a->n_path_links != b->n_path_links) return false;
    for (uint32_t p = 0; p < a->n_paths; p++) {
        const struct fc_way_path *x = &a->path[p], *y = &b->path[p];
        if (x->first != y->first || x->n != y->n || x->share != y->share || x->head_s != y->head_s) return false;
    }
    return !memcmp(a->path_link, b->path_link, a->n_path_links * sizeof *a->path_link);
}

static void by_displacement(void)
{
    static const char *const shapes[] = {"dims: [4, 6, 3]", "dims: [5, 1, 2], nodes_per_router: 2",
                                         "dims: [4, 4], links_per_dim: [2, 1]",
                                         "dims: [4, 3, 3], wrap: [1, 0, 1]" /* does not look the same everywhere */};
    for (size_t i = 0; i < FC_COUNT(shapes); i++) {
        char yaml[1000];
        struct rig g;
        struct fc_transit_ways kept, walked;
        snprintf(yaml, sizeof yaml,
                 "name: torus\nnetwork: {family: torus, %s}\n"
                 "links: {torus: {bandwidth: 1 GB/s, latency: 40 ns}, injection: {bandwidth: 4 GB/s}}\n"
                 "router: {delay: 60 ns, flit: 16 B, routing: adaptive, vcs: 2, escape: bubble}\n",
                 shapes[i]);
        open_rig(&g, yaml);
        CU_ASSERT_EQUAL_FATAL(fc_transit_ways_open(&kept, &g.net, NULL, &g.st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_transit_ways_open(&walked, &g.net, NULL, &g.st), FC_OK);
        CU_ASSERT_EQUAL(kept.shapes.n_displacements, i < 3 ? g.net.n_nodes : 0);
        fc_way_shapes_close(&walked.shapes);
        int wrong = 0;
        for (uint32_t s = 0; s < g.net.n_nodes; s++)
            for (uint32_t d = 0; d < g.net.n_nodes; d++) {
                if (s == d) continue;
                CU_ASSERT_FATAL(fc_transit_route_find(&kept, s, d) == fc_transit_route_find(&walked, s, d));
                wrong += !same_paths(&kept, &walked);
            }
        CU_ASSERT_EQUAL(wrong, 0);
        uint32_t n_kept = 0;
        for (uint32_t k = 0; k < kept.shapes.n_displacements; k++) n_kept += kept.shapes.shape[k] != NULL;
        CU_ASSERT(i < 3 ? n_kept >= g.net.n_routers - 1 : n_kept == 0);
        fc_transit_ways_close(&kept);
        fc_transit_ways_close(&walked);
        close_rig(&g);
    }
}

/* Few ways are kept: messages arrive as if all were, and the links' totals are the same. */
static void few_ways(void)
{
    struct rig g;
    struct fc_transit *transit[2];
    const struct fc_transit_settings settings = {.network = FC_NET_IDEAL};
    const double sizes[] = {100, 500, 5000};
    open_torus(&g, "4, 4, 2", "adaptive");
    for (int i = 0; i < 2; i++) CU_ASSERT_EQUAL_FATAL(fc_transit_open(&g.net, &settings, &transit[i], &g.st), FC_OK);
    transit[1]->ways.most_light = 20;
    for (uint64_t id = 0; id < 6000; id++) {
        uint32_t src = (uint32_t)fc_random_below(2, 1, id, 32), dst = (uint32_t)fc_random_below(2, 2, id, 32);
        for (int i = 0; i < 2; i++)
            CU_ASSERT_EQUAL(fc_test_send(transit[i], id, 1e-7 * (double)id, src, dst, sizes[id % 3]), FC_OK);
    }
    CU_ASSERT_EQUAL(transit[1]->ways.n_ways, 20);
    CU_ASSERT(transit[0]->ways.n_ways > 2000);
    int wrong = 0;
    for (uint64_t k = 0; k < 6000; k++) {
        struct fc_arrival a[2];
        bool found[2];
        for (int i = 0; i < 2; i++) fc_transit_next(transit[i], INFINITY, &a[i], &found[i]);
        CU_ASSERT_FATAL(found[0] && found[1]);
        wrong += a[0].id != a[1].id || a[0].time_s != a[1].time_s;
    }
    for (uint32_t l = 0; l < g.net.n_links; l++) {
        wrong += !fc_near(carried_bytes(transit[1])[l], carried_bytes(transit[0])[l], 1e-12);
        wrong += !fc_near(busy_seconds(transit[1])[l], busy_seconds(transit[0])[l], 1e-12);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    for (int i = 0; i < 2; i++) fc_transit_close(transit[i]);
    close_rig(&g);
}

/* ---- late rates ---- */

/* n messages of 1 .. n kB share one door: the k-th shortest ends n - k + 1 us after the one before it. Each end
 * changes all other rates, so that ends are taken together; what that costs is bounded, and nobody gains. */
static void late(void)
{
    enum { N = 1000 };
    struct rig g;
    struct fc_transit *transit;
    double end_s = 0, worst = 0;
    open_rig(&g, "name: star\nnetwork: {family: torus, dims: [2]}\n"
                 "links: {torus: {bandwidth: 100 GB/s, latency: 0 s}, injection: {bandwidth: 1 GB/s}}\n"
                 "router: {delay: 0 s, routing: dimension-order}\n");
    struct fc_transit_settings settings = {.network = FC_NET_CONTENTION};
    CU_ASSERT_EQUAL_FATAL(fc_transit_open(&g.net, &settings, &transit, &g.st), FC_OK);
    for (uint32_t k = 1; k <= N; k++) CU_ASSERT_EQUAL(fc_test_send(transit, k, 0, 0, 1, 1e3 * k), FC_OK);
    for (uint32_t k = 1; k <= N; k++) {
        struct fc_arrival a;
        bool found;
        CU_ASSERT_EQUAL(fc_transit_next(transit, INFINITY, &a, &found), FC_OK);
        CU_ASSERT_FATAL(found && a.id == k);
        end_s += (N + 1 - k) * 1e-6;
        CU_ASSERT(a.time_s > end_s * (1 - 1e-9));
        worst = fmax(worst, a.time_s / end_s - 1);
    }
    CU_ASSERT(worst > 1e-4); /* the case is one of those */
    CU_ASSERT(worst < 1.0 / 16);
    fc_transit_close(transit);
    close_rig(&g);
}

int suite_replay_dense(void)
{
    static const CU_TestInfo tests[] = {{"all to all by place equals messages matched one by one", by_place},
                                        {"all to all with a member that hangs", one_is_missing},
                                        {"paths by displacement equal walks", by_displacement},
                                        {"few ways are kept", few_ways},
                                        {"late rates: processor sharing", late},
                                        CU_TEST_INFO_NULL};
    return fc_add_suite("replay_dense.c, transit_shapes.c, transit_fair_anew.c", tests);
}
