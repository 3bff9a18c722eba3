/* test_replay_graph.c - graphs: LogGOPSim's published and listed figures, several processors and cards,
 * collectives in graphs, other networks, what cannot be replayed. */
#include "tests/replay_script.h"

#include <stdlib.h>

int suite_replay_graph(void);

/* ---- graphs by hand ---- */

static struct graph_maker {
    struct fc_trace trace;
    size_t n, n_lists, capacity, list_capacity;
    uint64_t comm_first[2];
} maker;

static void start_graph(uint32_t n_ranks)
{
    memset(&maker, 0, sizeof maker);
    struct fc_trace *t = &maker.trace;
    *t = (struct fc_trace){
        .graph = true, .file = "job.goal", .program = "", .n_comms = 1, .comm_first = maker.comm_first};
    t->first_event = calloc((size_t)n_ranks + 1, sizeof *t->first_event);
    t->comm_member = calloc(n_ranks, sizeof *t->comm_member);
    CU_ASSERT_FATAL(t->first_event && t->comm_member);
    for (uint32_t r = 0; r < n_ranks; r++) t->comm_member[r] = r;
    maker.comm_first[1] = n_ranks;
}
static void next_vertices(void)
{
    maker.trace.n_ranks++;
    maker.trace.first_event[maker.trace.n_ranks] = maker.n;
}
/* Depends on event `on` of the rank; FC_NONE: on nothing. */
static struct fc_event *vertex(enum fc_op op, int32_t peer, int64_t bytes, uint32_t on)
{
    if (maker.n == maker.capacity) {
        maker.capacity = maker.capacity ? 2 * maker.capacity : 64;
        maker.trace.events = realloc(maker.trace.events, maker.capacity * sizeof *maker.trace.events);
    }
    if (maker.n_lists + 8 > maker.list_capacity) {
        maker.list_capacity = 2 * maker.list_capacity + 64;
        maker.trace.lists = realloc(maker.trace.lists, maker.list_capacity * sizeof *maker.trace.lists);
    }
    CU_ASSERT_FATAL(maker.trace.events && maker.trace.lists);
    struct fc_event *e = &maker.trace.events[maker.n++];
    *e = (struct fc_event){.op = (uint8_t)op, .peer = peer, .bytes = bytes, .list = maker.n_lists};
    if (on != FC_NONE) maker.trace.lists[maker.n_lists + e->n_list++] = on;
    maker.n_lists += e->n_list;
    maker.trace.n_lists = maker.n_lists;
    maker.trace.first_event[maker.trace.n_ranks] = maker.n;
    return e;
}
static struct fc_event *calc(double ns, uint32_t on)
{
    struct fc_event *e = vertex(FC_OP_OTHER, -1, 0, on);
    e->compute_s = ns * 1e-9;
    return e;
}
static void free_graph(void)
{
    free(maker.trace.events);
    free(maker.trace.lists);
    free(maker.trace.first_event);
    free(maker.trace.comm_member);
}

/* LogGOPSim's own setting, or another; finish times are whole nanoseconds. */
static enum fc_code play(struct rig *g)
{
    fc_replay_free(&g->out);
    g->st = (struct fc_status){0};
    return fc_replay_run(g->settings.loggops ? NULL : &g->net, &maker.trace, NULL, &g->settings, &g->out, &g->st);
}
static bool must_play(struct rig *g)
{
    char text[1024];
    if (play(g)) printf("\n    %s", (fc_status_text(&g->st, text, sizeof text), text));
    CU_ASSERT_EQUAL(g->st.code, FC_OK);
    return !g->st.code;
}
static bool finishes(const struct rig *g, uint32_t rank, double ns)
{
    bool same = g->out.rank_finish_s && round(1e12 * g->out.rank_finish_s[rank]) == 1000 * ns;
    if (!same && g->out.rank_finish_s)
        printf("\n    rank %u: %.3f ns, not %.3f", rank, 1e9 * g->out.rank_finish_s[rank], ns);
    return same;
}
static void use_its_own(struct rig *g)
{
    memset(g, 0, sizeof *g);
    use_loggops(g, 2500e-9, 1500e-9, 1000e-9, 6e-9);
}

/* ---- LogGOPSim's figures ---- */

static void published_tree(void)
{
    static const int32_t receives[8][3] = {{1, 2, 4},    {3, 5, -1},   {6, -1, -1},  {7, -1, -1},
                                           {-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}};
    static const int32_t sends[8] = {-1, 0, 0, 1, 0, 1, 2, 3};
    static const double finish_ns[8] = {34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500};
    struct rig g;
    use_its_own(&g);
    start_graph(8);
    for (uint32_t r = 0; r < 8; r++) {
        next_vertices();
        uint32_t n = 0;
        for (; n < 3 && receives[r][n] >= 0; n++) vertex(FC_OP_RECV, receives[r][n], 1024, FC_NONE);
        if (sends[r] < 0) continue;
        struct fc_event *e = vertex(FC_OP_SEND, sends[r], 1024, FC_NONE);
        for (e->n_list = 0; e->n_list < n; e->n_list++) maker.trace.lists[maker.n_lists++] = e->n_list;
        maker.trace.n_lists = maker.n_lists;
    }
    if (must_play(&g))
        for (uint32_t r = 0; r < 8; r++) CU_ASSERT(finishes(&g, r, finish_ns[r]));
    CU_ASSERT(g.out.n_messages == 7 && g.out.n_events == 14);
    fc_replay_free(&g.out);
    free_graph();
}

static void dissemination(void)
{
    enum { RANKS = 16384 };
    struct rig g;
    use_its_own(&g);
    start_graph(RANKS);
    for (uint32_t r = 0; r < RANKS; r++) {
        next_vertices();
        uint32_t last = FC_NONE;
        for (uint32_t d = 1, k = 0; d < RANKS; d *= 2, k += 2, last = k - 1) {
            vertex(FC_OP_SEND, (int32_t)((r + d) % RANKS), 8, last);
            vertex(FC_OP_RECV, (int32_t)((r + RANKS - d) % RANKS), 8, FC_NONE);
        }
    }
    if (must_play(&g))
        for (uint32_t r = 0; r < RANKS; r += 999) CU_ASSERT(finishes(&g, r, 77588));
    fc_replay_free(&g.out);
    free_graph();
}

/* All to all at once, 1 KiB: a line of messages at each processor. */
static void all_to_all(void)
{
    static const struct {
        uint32_t ranks;
        double ns;
    } listed[] = {{64, 733194}, {128, 1478026}, {256, 2967690}};
    for (size_t i = 0; i < FC_COUNT(listed); i++) {
        uint32_t n = listed[i].ranks;
        struct rig g;
        use_its_own(&g);
        start_graph(n);
        for (uint32_t r = 0; r < n; r++) {
            next_vertices();
            for (uint32_t k = 1; k < n; k++) {
                vertex(FC_OP_SEND, (int32_t)((r + k) % n), 1024, FC_NONE);
                vertex(FC_OP_RECV, (int32_t)((r + n - k) % n), 1024, FC_NONE);
            }
        }
        if (must_play(&g)) CU_ASSERT(finishes(&g, 0, listed[i].ns) && finishes(&g, n - 1, listed[i].ns));
        fc_replay_free(&g.out);
        free_graph();
    }
}

/* ---- rules one by one ---- */

/* Two processors compute side by side; a send waits for its start only; cards are their own. */
static void processors_and_cards(void)
{
    struct rig g;
    use_its_own(&g);
    start_graph(2);
    next_vertices();
    calc(10000, FC_NONE);
    calc(4000, FC_NONE)->request = 1;
    calc(1000, 1); /* behind the second, on the first processor */
    struct fc_event *e = vertex(FC_OP_SEND, 1, 1001, 0);
    maker.trace.lists[e->list] = ~INT64_C(0); /* when the first has started */
    e->request = 1;
    e->polls = 1;
    next_vertices();
    vertex(FC_OP_RECV, 0, 1001, FC_NONE);
    if (must_play(&g)) {
        CU_ASSERT(finishes(&g, 0, 11000));
        /* sent at 4000 on processor 1, in at 4000 + o + L on processor 1 of rank 1: o + 1000 G */
        CU_ASSERT(finishes(&g, 1, 4000 + 1500 + 2500 + 1500 + 6000));
        CU_ASSERT(fc_near(g.out.rank_compute_s[0], 15000e-9, 1e-12));
    }
    fc_replay_free(&g.out);
    free_graph();
}

/* A long message has left when a receive has taken it; a receive from anyone takes what has come first. */
static void matching(void)
{
    struct rig g;
    use_its_own(&g);
    start_graph(3);
    next_vertices();
    vertex(FC_OP_SEND, 2, 70000, FC_NONE);
    calc(100, 0);
    next_vertices();
    vertex(FC_OP_SEND, 2, 1, FC_NONE)->tag = 3;
    next_vertices();
    calc(1000000, FC_NONE);
    vertex(FC_OP_RECV, FC_ANY, 1, 0)->tag = FC_ANY;
    calc(1, 1);
    vertex(FC_OP_RECV, 1, 1, 2)->tag = 3;
    calc(1, 3);
    if (must_play(&g)) {
        /* Both messages come while rank 2 computes and stand in line until 1 ms; then rank 0's goes in, and
         * the first receive, posted at 1 ms, takes it; rank 1's goes in before the computation behind that
         * receive. */
        CU_ASSERT(finishes(&g, 0, 1e6 + 100));
        CU_ASSERT(finishes(&g, 1, 1500));
        CU_ASSERT(finishes(&g, 2, 1e6 + 1500 + 69999 * 6 + 1500 + 2));
        CU_ASSERT_EQUAL(g.out.n_unmatched_sends + g.out.n_unmatched_receives, 0);
    }
    fc_replay_free(&g.out);
    free_graph();
}

/* On a machine: closed forms, and the bound. A collective occupies its processor. */
static void on_a_machine(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    for (int network = FC_NET_IDEAL; network <= FC_NET_CONTENTION; network++) {
        g.settings.network = (enum fc_network_model)network;
        start_graph(3);
        for (int32_t r = 0; r < 3; r++) {
            next_vertices();
            calc(1000, FC_NONE);
            if (r < 2) vertex(r ? FC_OP_RECV : FC_OP_SEND, 1 - r, 40000, 0);
            if (r == 2) vertex(FC_OP_OTHER, -1, 0, FC_NONE);
            vertex(FC_OP_BARRIER, -1, 0, 1);
            calc(500, FC_NONE); /* while the message is on its way, before the barrier */
        }
        if (must_play(&g)) {
            /* both ranks 0 and 1 are on node 0: memory, 2 GB/s */
            double in_s = 1e-6 + 1e-6 + 40000 / 2e9 + 2e-6;
            CU_ASSERT(g.out.prediction.time_s > in_s + 2 * 3e-6 && g.out.prediction.time_s < in_s + 2 * 3e-6 + 2e-6);
            CU_ASSERT(g.out.prediction.bound_s <= g.out.prediction.time_s);
            CU_ASSERT(g.out.prediction.bound_s >
                      0.97 * g.out.prediction.time_s); /* it ignores that processors are taken */
            CU_ASSERT_EQUAL(g.out.n_messages, 1 + 3 * 2);
            CU_ASSERT(g.out.collective_s > 0);
        }
        free_graph();
    }
    close_rig(&g);
}

/* A rank of one processor waits while the other computes; of several it is not known which of them does. */
static void waiting(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    use_loggops(&g, 1000e-9, 100e-9, 0, 0);
    for (int processors = 1; processors <= 2; processors++) {
        start_graph(2);
        next_vertices();
        calc(5000, FC_NONE);
        vertex(FC_OP_SEND, 1, 8, 0);
        next_vertices();
        vertex(FC_OP_RECV, 0, 8, FC_NONE);
        calc(1000, 0)->request = processors - 1;
        fc_replay_free(&g.out);
        CU_ASSERT_EQUAL_FATAL(fc_replay_run(&g.net, &maker.trace, NULL, &g.settings, &g.out, &g.st), FC_OK);
        const struct fc_prediction *p = &g.out.prediction;
        CU_ASSERT(fc_near(p->time_s, 7200e-9, 1e-9) && fc_near(p->computation_s, 3000e-9, 1e-9));
        /* rank 1 waits for 5000 ns; rank 0 ends after 5100, and 1000 more are computed on the way to the end */
        CU_ASSERT(processors == 1 ? fc_near(p->waiting_s, 3000e-9, 1e-9) : isnan(p->waiting_s));
        CU_ASSERT(fc_near(p->communication_s, processors == 1 ? 1200e-9 : 4200e-9, 1e-9));
        free_graph();
    }
    close_rig(&g);
}

static void refusals(void)
{
    struct rig g;
    use_its_own(&g);
    start_graph(2);
    next_vertices();
    vertex(FC_OP_RECV, 1, 1, FC_NONE);
    vertex(FC_OP_SEND, 1, 1, 0);
    next_vertices();
    vertex(FC_OP_RECV, 0, 1, FC_NONE);
    vertex(FC_OP_SEND, 0, 1, 0);
    CU_ASSERT_EQUAL(play(&g), FC_INPUT);
    CU_ASSERT(
        fc_says(&g.st, FC_INPUT,
                "job.goal: ranks wait for each other for ever: rank 0 in recv (call 0) for rank 1, rank 1 in recv "
                "(call 0) for rank 0"));
    maker.trace.events[1].n_list = maker.trace.events[3].n_list = 0; /* nothing waits for the receives */
    CU_ASSERT_EQUAL(play(&g), FC_OK);
    maker.trace.events[0].tag = 1;
    CU_ASSERT_EQUAL(play(&g), FC_OK);
    CU_ASSERT(g.out.n_unmatched_receives == 1 && g.out.n_unmatched_sends == 1);
    maker.trace.events[1].n_list = 1;
    maker.trace.lists[maker.trace.events[1].list] = 1;
    CU_ASSERT_EQUAL(play(&g), FC_INPUT);
    CU_ASSERT(fc_says(&g.st, FC_INPUT, "job.goal: rank 0, event 1 depends on event 1, which does not come before it"));
    maker.trace.events[1].request = 256;
    CU_ASSERT_EQUAL(play(&g), FC_INPUT);
    CU_ASSERT(fc_says(&g.st, FC_INPUT, "job.goal: rank 0, event 1: processor 256, card 0, peer 1"));
    fc_replay_free(&g.out);
    free_graph();
}

int suite_replay_graph(void)
{
    static const CU_TestInfo tests[] = {
        {"LogGOPSim's published tree", published_tree},
        {"dissemination, 16384 ranks", dissemination},
        {"linear all-to-all", all_to_all},
        {"processors and cards", processors_and_cards},
        {"long messages and receives from anyone", matching},
        {"on a machine", on_a_machine},
        {"waiting and messages", waiting},
        {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("replay graph", tests);
}
