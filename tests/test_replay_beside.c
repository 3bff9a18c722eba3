/* test_replay_beside.c - two jobs in one replay: apart they do not notice each other, on one link each gets
 * half; what belongs to whom; refusals. */
#include "solvers/replay/replay_beside.h"
#include "tests/replay_script.h"

static struct script second;
static uint32_t second_node[MOST_RANKS];

/* The job of `script` on g's nodes beside that of `second`. */
static enum fc_code beside(struct rig *g, struct fc_beside *b)
{
    struct fc_placement other = {second.trace.n_ranks, second_node};
    fc_replay_free(&g->out);
    g->st = (struct fc_status){0};
    g->placement = (struct fc_placement){script.trace.n_ranks, g->node};
    return fc_replay_beside(&g->net, &script.trace, &g->placement, &second.trace, &other, &g->settings, &g->out, b,
                            &g->st);
}

static void one_message(struct script *s, double compute_s, int64_t bytes)
{
    start_script(s, 2);
    next_rank(s);
    add(s, FC_OP_SEND, 1, bytes)->compute_s = compute_s;
    next_rank(s);
    add(s, FC_OP_RECV, 0, bytes);
}

/* Both from router 0 to router 1, from nodes of their own: as long as both send, half of the link for each.
 */
static void one_link(void)
{
    struct rig g;
    struct fc_beside b;
    open_rig(&g, LINE_YAML);
    one_message(&script, 0, 10000000);
    one_message(&second, 0, 10000000);
    g.node[1] = 2;
    second_node[0] = 1;
    second_node[1] = 3;
    CU_ASSERT_EQUAL_FATAL(beside(&g, &b), FC_OK);
    CU_ASSERT(fc_near(b.alone_s, 10e-3, 1e-3) && b.alone_s == b.other_alone_s && b.runs >= 3);
    CU_ASSERT(fc_near(g.out.prediction.time_s, 20e-3, 2e-3) && fc_near(g.out.prediction.bound_s, b.alone_s, 1e-12));
    CU_ASSERT(fc_near(g.out.prediction.percent_of_peak, 50, 2e-3));
    CU_ASSERT(g.out.prediction.network_bytes == 10e6 && g.out.link_bytes[fc_find_link(&g.net, 0, 1)] == 10e6);
    double once_s = g.out.prediction.time_s;
    CU_ASSERT(!beside(&g, &b) && g.out.prediction.time_s == once_s);
    one_message(&second, 15e-3, 5000000); /* 15 ms of computation, then its message: slowed from 15 ms on */
    one_message(&script, 0, 20000000);
    CU_ASSERT_EQUAL_FATAL(beside(&g, &b), FC_OK);
    CU_ASSERT(fc_near(g.out.prediction.time_s, 25e-3, 2e-3));
    close_rig(&g);
}

/* A rank that only sends does not run ahead of its job's run: the other job runs as often as its time tells. */
static void runs_in_step(void)
{
    struct rig g;
    struct fc_beside b;
    open_rig(&g, LINE_YAML);
    one_message(&script, 10e-3, 1000);
    one_message(&second, 0, 100);
    second.trace.events[1].compute_s = 1e-3; /* the receiver */
    g.node[1] = 2;
    second_node[0] = 1;
    second_node[1] = 3;
    CU_ASSERT_EQUAL_FATAL(beside(&g, &b), FC_OK);
    CU_ASSERT(fc_near(b.other_alone_s, 1e-3, 1e-2) && b.runs >= 10 && b.runs <= 14);
    close_rig(&g);
}

/* On links of their own: the same as alone, with communicators, lists, requests, Finalize and a receive from
 * anyone. */
static void a_program(struct script *s)
{
    start_script(s, 4);
    for (int32_t r = 0; r < 4; r++) {
        next_rank(s);
        add(s, FC_OP_INIT, -1, 0);
        add(s, FC_OP_COMM, 0, 0)->comm = 1 + r / 2;
        struct fc_event *e = add(s, FC_OP_ALLTOALLV, -1, 60000);
        e->compute_s = 1e-5 * r;
        e->list = s->trace.n_lists;
        e->n_list = 4;
        for (uint32_t i = 0; i < 4; i++) s->list[s->trace.n_lists++] = 10000 * (int64_t)(i + 1);
        add(s, FC_OP_IRECV, FC_ANY, 5000);
        add(s, FC_OP_ISEND, (r + 1) % 4, 5000);
        add_wait(s, 0, 2);
        add(s, FC_OP_BCAST, r / 2 * 2, 30000)->comm = 1 + r / 2;
        add(s, FC_OP_FINALIZE, -1, 0);
    }
    add_comm(s, 0, 2);
    add_comm(s, 2, 2);
}

static void apart(void)
{
    struct rig g;
    struct fc_beside b;
    double alone_s[4];
    open_torus(&g, "4, 2", "dimension-order");
    a_program(&script);
    for (uint32_t r = 0; r < 4; r++) g.node[r] = r, second_node[r] = 4 + r;
    must_replay(&g, &script);
    for (uint32_t r = 0; r < 4; r++) alone_s[r] = g.out.rank_finish_s[r];
    a_program(&second);
    CU_ASSERT_EQUAL_FATAL(beside(&g, &b), FC_OK);
    for (uint32_t r = 0; r < 4; r++) CU_ASSERT(fc_near(g.out.rank_finish_s[r], alone_s[r], 1e-12));
    CU_ASSERT(fc_near(g.out.prediction.time_s, b.alone_s, 1e-12));
    for (uint32_t r = 0; r < 4; r++) second_node[r] = r; /* on the same nodes: later */
    CU_ASSERT_EQUAL_FATAL(beside(&g, &b), FC_OK);
    CU_ASSERT(g.out.prediction.time_s > 1.05 * b.alone_s && g.out.prediction.bound_s <= b.alone_s);
    g.settings.network = FC_NET_FLIT; /* and in the kernel */
    CU_ASSERT_EQUAL_FATAL(beside(&g, &b), FC_OK);
    CU_ASSERT(g.out.prediction.time_s > 1.05 * b.alone_s);
    close_rig(&g);
}

static void refusals(void)
{
    struct rig g;
    struct fc_beside b;
    open_rig(&g, LINE_YAML);
    one_message(&script, 0, 1000);
    one_message(&second, 0, 1000);
    g.node[1] = 2;
    second_node[0] = 1;
    second_node[1] = 3;
    g.settings.network = FC_NET_IDEAL;
    CU_ASSERT(beside(&g, &b) == FC_INPUT && fc_says(&g.st, FC_INPUT, "two jobs do not notice each other"));
    g.settings.network = FC_NET_CONTENTION;
    second.trace.graph = true;
    CU_ASSERT(beside(&g, &b) == FC_INPUT && fc_says(&g.st, FC_INPUT, "is a graph of events"));
    start_script(&second, 2);
    next_rank(&second);
    next_rank(&second);
    CU_ASSERT(beside(&g, &b) == FC_INPUT && fc_says(&g.st, FC_INPUT, "takes no time"));
    one_message(&second, 0, 1000);
    second.trace.events = NULL;
    CU_ASSERT(beside(&g, &b) == FC_INPUT && fc_says(&g.st, FC_INPUT, "is not in memory"));
    one_message(&second, 0, 1000);
    script.event[0].compute_s = 1e6; /* the other would run 3 10^11 times */
    CU_ASSERT(beside(&g, &b) == FC_NO && fc_says(&g.st, FC_NO, "take its mean rates"));
    close_rig(&g);
}

int suite_replay_beside(void)
{
    static const CU_TestInfo tests[] = {
        {"one link", one_link}, {"runs in step", runs_in_step}, {"apart", apart}, {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("replay beside another", tests);
}
