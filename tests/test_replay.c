/* test_replay.c - messages between ranks: closed forms, published LogGOPSim figures, deadlocks and other
 * refusals. */
#include "solvers/replay/replay_job.h"
#include "tests/replay_script.h"

/* ---- point to point ---- */

static void ping_pong(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 2);
    next_rank(&script);
    add(&script, FC_OP_SEND, 1, 50000)->compute_s = 5e-6;
    add(&script, FC_OP_RECV, 1, 50000);
    next_rank(&script);
    add(&script, FC_OP_RECV, 0, 50000);
    add(&script, FC_OP_SEND, 0, 50000);
    g.node[0] = 0;
    g.node[1] = 6; /* three hops */
    must_replay(&g, &script);
    double one_way_s = 1e-6 + line_head_s(3) + 50000 / 1e9 + 2e-6;
    CU_ASSERT(fc_near(g.out.prediction.time_s, 5e-6 + 2 * one_way_s, 1e-12));
    CU_ASSERT(fc_near(g.out.rank_finish_s[1], 5e-6 + one_way_s + 1e-6, 1e-12));
    CU_ASSERT(fc_near(g.out.prediction.bound_s, g.out.prediction.time_s, 1e-12)); /* nobody is in the way */
    CU_ASSERT(fc_near(g.out.prediction.computation_s, 2.5e-6, 1e-12));
    CU_ASSERT(fc_near(g.out.rank_compute_s[0], 5e-6, 1e-12));
    CU_ASSERT(g.out.n_messages == 2 && g.out.link_wait_s < 1e-15);
    CU_ASSERT_EQUAL(g.out.prediction.network_bytes, 100000);
    CU_ASSERT(isnan(g.out.prediction.error_percent));
    CU_ASSERT_STRING_EQUAL(g.out.prediction.binds, "link"); /* 100 us of 113 are serialisation */
    g.settings.software.compute_scale = 100;
    must_replay(&g, &script);
    CU_ASSERT(fc_near(g.out.prediction.time_s, 500e-6 + 2 * one_way_s, 1e-12));
    CU_ASSERT_STRING_EQUAL(g.out.prediction.binds, "computation");
    close_rig(&g);
}

/* Nodes 0 and 1 hang on router 0, nodes 2 and 3 on router 1: both messages need the link between the
 * routers. */
static void shared_link(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 4);
    for (int32_t r = 0; r < 4; r++) {
        next_rank(&script);
        add(&script, r < 2 ? FC_OP_SEND : FC_OP_RECV, (r + 2) % 4, 30000);
    }
    must_replay(&g, &script);
    double alone_s = 1e-6 + line_head_s(1) + 30e-6 + 2e-6;
    CU_ASSERT(fc_near(g.out.rank_finish_s[2], alone_s + 30e-6, 1e-12)); /* half of the link for each */
    CU_ASSERT(fc_near(g.out.rank_finish_s[3], alone_s + 30e-6, 1e-12));
    CU_ASSERT(fc_near(g.out.link_wait_s, 60e-6, 1e-9));
    const struct fc_prediction *p = &g.out.prediction;
    CU_ASSERT_EQUAL_FATAL(p->bottleneck, fc_find_link(&g.net, 0, 1));
    CU_ASSERT_EQUAL(p->bottleneck_bytes, 60000);
    CU_ASSERT(fc_near(g.out.link_busy_s[p->bottleneck], 60e-6, 1e-12));
    CU_ASSERT(fc_near(p->bound_s, 60e-6, 1e-12)); /* the link is busy longer than the ideal run lasts */
    CU_ASSERT(fc_near(p->percent_of_peak, 100 * 60e-6 / (alone_s + 30e-6), 1e-9));
    g.settings.network = FC_NET_IDEAL;
    must_replay(&g, &script);
    CU_ASSERT(fc_near(p->time_s, alone_s, 1e-12) && p->percent_of_peak == 100);
    CU_ASSERT_EQUAL(g.out.link_bytes[p->bottleneck], 60000);
    close_rig(&g);
}

/* A long message waits for its receive: announcement there, answer back, then the data. Synchronous ones
 * always do, buffered ones never. */
static void rendezvous(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 2);
    next_rank(&script);
    struct fc_event *send = add(&script, FC_OP_SEND, 1, 3000000);
    next_rank(&script);
    struct fc_event *recv = add(&script, FC_OP_RECV, 0, 3000000);
    g.node[1] = 4; /* two hops */
    double head_s = line_head_s(2), arrives_s;
    recv->compute_s = 1e-3; /* posts late */
    must_replay(&g, &script);
    arrives_s = 1e-3 + head_s + head_s + 3e-3;
    CU_ASSERT(fc_near(g.out.rank_finish_s[0], arrives_s, 1e-12));
    CU_ASSERT(fc_near(g.out.rank_finish_s[1], arrives_s + 2e-6, 1e-12));
    recv->compute_s = 0; /* posts before the announcement is there */
    must_replay(&g, &script);
    CU_ASSERT(fc_near(g.out.rank_finish_s[0], 1e-6 + head_s + head_s + head_s + 3e-3, 1e-12));
    send->mode = FC_SEND_BUFFERED;
    must_replay(&g, &script);
    CU_ASSERT(fc_near(g.out.rank_finish_s[0], 1e-6, 1e-12));
    CU_ASSERT(fc_near(g.out.rank_finish_s[1], 1e-6 + head_s + 3e-3 + 2e-6, 1e-12));
    send->mode = FC_SEND_SYNCHRONOUS;
    send->bytes = recv->bytes = 1;
    must_replay(&g, &script);
    CU_ASSERT(fc_near(g.out.rank_finish_s[0], 1e-6 + 3 * head_s + 1e-9, 1e-12));
    close_rig(&g);
}

/* Waiting for several receives takes them as they come: the first in the list comes last. */
static void wait_in_order_of_arrival(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 3);
    next_rank(&script);
    add(&script, FC_OP_IRECV, 1, 8);
    add(&script, FC_OP_IRECV, 2, 8);
    add_wait(&script, 0, 2);
    next_rank(&script);
    add(&script, FC_OP_SEND, 0, 8)->compute_s = 1e-3;
    next_rank(&script);
    add(&script, FC_OP_SEND, 0, 8);
    g.node[1] = 1;
    g.node[2] = 2;
    must_replay(&g, &script);
    CU_ASSERT(fc_near(g.out.rank_finish_s[0], 1e-3 + 1e-6 + line_head_s(0) + 8 / 2e9 + 2e-6, 1e-12));
    double blocked_s = g.out.rank_finish_s[0] - 2 * 2e-6;
    CU_ASSERT(fc_near(g.out.p2p_wait_s, blocked_s / 3, 1e-9));
    close_rig(&g);
}

/* Inside a node: memory at the injection bandwidth, no latency, nothing on links. A rank may write to
 * itself. */
static void inside_a_node(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 2);
    next_rank(&script);
    add(&script, FC_OP_SEND, 1, 20000);
    add(&script, FC_OP_IRECV, 0, 4000);
    add(&script, FC_OP_ISEND, 0, 4000);
    add_wait(&script, 0, 2);
    next_rank(&script);
    add(&script, FC_OP_RECV, 0, 20000);
    g.node[0] = g.node[1] = 3;
    must_replay(&g, &script);
    CU_ASSERT(fc_near(g.out.rank_finish_s[1], 1e-6 + 10e-6 + 2e-6, 1e-12));
    CU_ASSERT(fc_near(g.out.rank_finish_s[0], 2e-6 + 2e-6 + 2e-6, 1e-12));
    CU_ASSERT(g.out.prediction.local_bytes == 24000 && g.out.prediction.network_bytes == 0);
    CU_ASSERT_EQUAL(g.out.prediction.bottleneck, FC_NONE);
    close_rig(&g);
}

/* One diagonal step of a torus with two equal paths: half of the message takes each, and the wire factor
 * applies. */
static void two_paths(void)
{
    struct rig g;
    open_torus(&g, "5, 5", "adaptive");
    start_script(&script, 2);
    next_rank(&script);
    struct fc_event *send = add(&script, FC_OP_SEND, 1, 2400);
    next_rank(&script);
    struct fc_event *recv = add(&script, FC_OP_RECV, 0, 2400);
    g.node[1] = 6;
    must_replay(&g, &script);
    /* 10 packets of 256 + 8, half on each path of 1 GB/s: together slower than the injection link of 4 GB/s */
    double wire = 2640, first_s = 300e-9 + 2399 * 0.01e-9, head_s = 2 * 40e-9 + 3 * 60e-9;
    double arrives_s = first_s + head_s + wire / 2 / 1e9;
    CU_ASSERT(fc_near(g.out.rank_finish_s[1], arrives_s + 400e-9 + 2399 * 0.01e-9, 1e-12));
    CU_ASSERT(fc_near(g.out.prediction.bound_s, g.out.prediction.time_s, 1e-12)); /* ideal: alone in the network */
    for (uint32_t to = 1; to <= 5; to += 4) CU_ASSERT_EQUAL(g.out.link_bytes[fc_find_link(&g.net, 0, to)], 1200);
    send->bytes = recv->bytes = 100; /* one packet: one path; 16 bytes of header round up to 128, + 8 */
    must_replay(&g, &script);
    arrives_s = 300e-9 + 99 * 0.01e-9 + head_s + 136 / 1e9;
    CU_ASSERT(fc_near(g.out.rank_finish_s[1], arrives_s + 400e-9 + 99 * 0.01e-9, 1e-12));
    close_rig(&g);
}

static void one_sided(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 2);
    next_rank(&script);
    add(&script, FC_OP_RMA, 1, 100000);
    add(&script, FC_OP_RMA, 1, 3000)->mode = FC_MOVE_GET;
    add(&script, FC_OP_RMA, 1, 500)->mode = FC_MOVE_UPDATE;
    next_rank(&script);
    g.node[1] = 2;
    must_replay(&g, &script);
    CU_ASSERT(fc_near(g.out.rank_finish_s[0], 3e-6, 1e-12)); /* three times o, no waiting */
    CU_ASSERT_EQUAL(g.out.rank_finish_s[1], 0);
    CU_ASSERT(
        fc_near(g.out.prediction.time_s, 1e-6 + 100e-6 + line_head_s(1) + 500e-9, 1e-9)); /* the last byte's arrival */
    CU_ASSERT_EQUAL(g.out.n_messages, 4);
    CU_ASSERT_EQUAL(g.out.link_bytes[fc_find_link(&g.net, 0, 1)], 100500);
    CU_ASSERT_EQUAL(g.out.link_bytes[fc_find_link(&g.net, 1, 0)], 3500);
    close_rig(&g);
}

/* ---- LogGOPS ---- */

/* LogGOPSim's README: binomial tree reduction, 8 ranks, 1024 bytes, L=2500 o=1500 g=1000 G=6 O=0 S=65535
 * (ns). */
static void published_tree(void)
{
    static const int32_t receives[8][3] = {{1, 2, 4},    {3, 5, -1},   {6, -1, -1},  {7, -1, -1},
                                           {-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}};
    static const int32_t sends[8] = {-1, 0, 0, 1, 0, 1, 2, 3};
    static const double finish_ns[8] = {34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500};
    struct rig g = {0};
    start_script(&script, 8);
    for (int r = 0; r < 8; r++) {
        next_rank(&script);
        int32_t n = 0;
        for (; n < 3 && receives[r][n] >= 0; n++) add(&script, FC_OP_IRECV, receives[r][n], 1024);
        if (n) add_wait(&script, 0, n); /* as they come: 4, 2, 1 at the root */
        if (sends[r] >= 0) add(&script, FC_OP_SEND, sends[r], 1024);
    }
    use_loggops(&g, 2500e-9, 1500e-9, 1000e-9, 6e-9);
    CU_ASSERT_EQUAL(fc_replay_run(NULL, &script.trace, NULL, &g.settings, &g.out, &g.st), FC_OK);
    for (int r = 0; r < 8; r++) CU_ASSERT(fc_near(g.out.rank_finish_s[r], finish_ns[r] * 1e-9, 1e-12));
    CU_ASSERT(fc_near(g.out.prediction.time_s, 34914e-9, 1e-12) && g.out.prediction.percent_of_peak == 100);
    fc_replay_free(&g.out);
}

/* Binomial broadcast: log2 n levels of o + L + o + (s - 1) G when a sender's gap is shorter than a level. */
static void broadcast_tree(void)
{
    for (uint32_t n = 2; n <= 64; n *= 2) {
        struct rig g = {0};
        start_script(&script, n);
        for (uint32_t r = 0; r < n; r++) {
            next_rank(&script);
            add(&script, FC_OP_BCAST, 0, 1000);
        }
        use_loggops(&g, 2e-6, 0.7e-6, 0.5e-6, 1e-9);
        CU_ASSERT_EQUAL(fc_replay_run(NULL, &script.trace, NULL, &g.settings, &g.out, &g.st), FC_OK);
        CU_ASSERT(fc_near(g.out.prediction.time_s, log2(n) * (2 * 0.7e-6 + 2e-6 + 999e-9), 1e-12));
        CU_ASSERT_EQUAL(g.out.n_messages, n - 1);
        fc_replay_free(&g.out);
    }
}

/* One sender's messages leave g + (s - 1) G apart; long ones finish when they are matched. */
static void gaps(void)
{
    struct rig g = {0};
    start_script(&script, 2);
    next_rank(&script);
    add(&script, FC_OP_SEND, 1, 101);
    add(&script, FC_OP_SEND, 1, 101);
    struct fc_event *last = add(&script, FC_OP_SEND, 1, 101);
    next_rank(&script);
    for (int i = 0; i < 3; i++) add(&script, FC_OP_RECV, 0, 101);
    use_loggops(&g, 10e-6, 1e-6, 3e-6, 50e-9);
    CU_ASSERT_EQUAL(fc_replay_run(NULL, &script.trace, NULL, &g.settings, &g.out, &g.st), FC_OK);
    CU_ASSERT(fc_near(g.out.rank_finish_s[0], 2 * 8e-6 + 1e-6, 1e-12));
    CU_ASSERT(fc_near(g.out.rank_finish_s[1], 2 * 8e-6 + 1e-6 + 10e-6 + 6e-6, 1e-12));
    last->mode = FC_SEND_SYNCHRONOUS;
    fc_replay_free(&g.out);
    CU_ASSERT_EQUAL(fc_replay_run(NULL, &script.trace, NULL, &g.settings, &g.out, &g.st), FC_OK);
    CU_ASSERT(fc_near(g.out.rank_finish_s[0], 2 * 8e-6 + 1e-6 + 10e-6, 1e-12));
    fc_replay_free(&g.out);
}

static void background(void)
{
    static double taken[200];
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 2);
    next_rank(&script);
    add(&script, FC_OP_SEND, 1, 1000);
    next_rank(&script);
    add(&script, FC_OP_RECV, 0, 1000);
    g.node[1] = 2;
    uint32_t link = fc_find_link(&g.net, 0, 1);
    CU_ASSERT_FATAL(g.net.n_links < FC_COUNT(taken));
    g.settings.background_bytes_per_s = taken;
    taken[link] = 0.9e9;
    must_replay(&g, &script);
    CU_ASSERT(fc_near(g.out.prediction.time_s, 3e-6 + line_head_s(1) + 10e-6, 1e-9));
    taken[link] = 1e9;
    CU_ASSERT_EQUAL(replay(&g, &script), FC_NO);
    CU_ASSERT(fc_says(&g.st, FC_NO, "has no bandwidth left: 1e+09 of 1e+09 bytes/s"));
    close_rig(&g);
}

/* ---- what cannot be replayed ---- */

static void deadlocks(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 3);
    for (int32_t r = 0; r < 3; r++) { /* 1 and 2 both send long messages first; 0 waits for 2 */
        next_rank(&script);
        add(&script, FC_OP_OTHER, -1, 0);
        if (r > 0) add(&script, FC_OP_SEND, 3 - r, 2000000);
        if (r > 0) add(&script, FC_OP_RECV, 3 - r, 2000000);
        if (r == 2) add(&script, FC_OP_SEND, 0, 1);
        if (r == 0) add(&script, FC_OP_RECV, 2, 1);
    }
    CU_ASSERT_EQUAL(replay(&g, &script), FC_INPUT);
    CU_ASSERT(fc_says(&g.st, FC_INPUT,
                      "job.trace:3001: ranks wait for each other for ever: rank 2 in send (line 3001) for "
                      "rank 1, rank 1 in "
                      "send (line 2001) for rank 2"));
    start_script(&script, 4);
    for (int32_t r = 0; r < 4; r++) { /* rank 3 leaves out a barrier */
        next_rank(&script);
        add(&script, FC_OP_BARRIER, -1, 0);
        if (r != 3) add(&script, FC_OP_BARRIER, -1, 0);
    }
    CU_ASSERT_EQUAL(replay(&g, &script), FC_INPUT);
    CU_ASSERT(fc_says(&g.st, FC_INPUT, "rank 0 in barrier (line 1001) for rank 3, and rank 3 has ended"));
    start_script(&script, 2);
    for (int32_t r = 0; r < 2; r++) { /* through a wait: each waits for what the other sends only afterwards */
        next_rank(&script);
        add(&script, FC_OP_IRECV, 1 - r, 1);
        add_wait(&script, 0, 1);
        add(&script, FC_OP_SEND, 1 - r, 1);
    }
    CU_ASSERT_EQUAL(replay(&g, &script), FC_INPUT);
    CU_ASSERT(fc_says(&g.st, FC_INPUT, "rank 0 in wait (line 1001) for rank 1, rank 1 in wait (line 2001) for rank 0"));
    close_rig(&g);
}

static void refusals(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 2);
    next_rank(&script);
    add(&script, FC_OP_RECV, 1, 1);
    next_rank(&script);
    CU_ASSERT_EQUAL(replay(&g, &script), FC_INPUT);
    CU_ASSERT(
        fc_says(&g.st, FC_INPUT,
                "job.trace:1000: ranks wait for ever: rank 0 in recv (line 1000) for rank 1, and rank 1 has ended"));
    start_script(&script, 2);
    next_rank(&script);
    add(&script, FC_OP_BCAST, 0, 1);
    next_rank(&script);
    struct fc_event *other = add(&script, FC_OP_BCAST, 1, 1);
    CU_ASSERT_EQUAL(replay(&g, &script), FC_INPUT);
    CU_ASSERT(
        fc_says(&g.st, FC_INPUT, "job.trace:2000: rank 1 calls bcast with root 1, rank 0 with root 0 (line 1000)"));
    other->op = FC_OP_BARRIER;
    CU_ASSERT_EQUAL(replay(&g, &script), FC_INPUT);
    CU_ASSERT(fc_says(&g.st, FC_INPUT, "rank 1 calls barrier where rank 0 calls bcast (line 1000)"));
    start_script(&script, 2);
    next_rank(&script);
    next_rank(&script);
    g.node[1] = 8;
    CU_ASSERT_EQUAL(replay(&g, &script), FC_INPUT);
    CU_ASSERT(fc_says(&g.st, FC_INPUT, "rank 1 is mapped to node 8 (the machine has 8 nodes)"));
    g.st = (struct fc_status){0};
    g.placement.n_tasks = 5;
    fc_replay_run(&g.net, &script.trace, &g.placement, &g.settings, &g.out, &g.st);
    CU_ASSERT(fc_says(&g.st, FC_INPUT, "the mapping places 5 tasks, the trace has 2 ranks"));
    start_script(&script, 17);
    for (int r = 0; r < 17; r++) next_rank(&script);
    g.st = (struct fc_status){0};
    fc_replay_run(&g.net, &script.trace, NULL, &g.settings, &g.out, &g.st);
    CU_ASSERT(fc_says(&g.st, FC_INPUT, "the trace has 17 ranks, the machine 16 cores"));
    g.settings.loggops = true;
    CU_ASSERT_EQUAL(replay(&g, &script), FC_INPUT);
    CU_ASSERT(fc_says(&g.st, FC_INPUT, "LogGOPS parameters replace the network"));
    close_rig(&g);
}

int suite_replay(void)
{
    static const CU_TestInfo tests[] = {
        {"ping-pong by hand", ping_pong},
        {"two messages share a link", shared_link},
        {"rendezvous, synchronous and buffered sends", rendezvous},
        {"waiting in order of arrival", wait_in_order_of_arrival},
        {"inside a node", inside_a_node},
        {"a message over two paths", two_paths},
        {"one-sided data", one_sided},
        {"LogGOPSim's published tree", published_tree},
        {"binomial broadcast in LogGP", broadcast_tree},
        {"gaps and matching in LogGOPS", gaps},
        {"background", background},
        {"deadlocks are named", deadlocks},
        {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("replay", tests);
}
