/* test_waiting.c - what of a replay's time is waiting for others, what messages: small jobs whose split is worked out by
 * hand. */
#include "answer/answer.h"
#include "tests/replay_script.h"

static const double o_s = 1e-6, r_s = 2e-6; /* of LINE_YAML */

static void check(const struct rig *g, double computation_s, double waiting_s, double communication_s)
{
    const struct fc_prediction *p = &g->out.prediction;
    CU_ASSERT(fc_near(p->computation_s, computation_s, 1e-12));
    CU_ASSERT(fabs(p->waiting_s - waiting_s) < 1e-12);
    CU_ASSERT(fabs(p->communication_s - communication_s) < 1e-12);
    CU_ASSERT(fc_near(p->computation_s + p->waiting_s + p->communication_s, p->time_s, 1e-12));
}

/* Two ranks without a message: the one that computes less waits, and nothing is communication. */
static void no_message(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 2);
    next_rank(&script);
    add(&script, FC_OP_OTHER, -1, 0)->compute_s = 3e-3;
    next_rank(&script);
    add(&script, FC_OP_OTHER, -1, 0)->compute_s = 1e-3;
    must_replay(&g, &script);
    check(&g, 2e-3, 1e-3, 0);
    g.settings.network = FC_NET_IDEAL;
    must_replay(&g, &script);
    check(&g, 2e-3, 1e-3, 0);
    close_rig(&g);
}

/* A late sender, and a late receiver of a long message: waiting up to then, communication from then on. */
static void late_partner(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 2);
    next_rank(&script);
    struct fc_event *send = add(&script, FC_OP_SEND, 1, 50000);
    next_rank(&script);
    struct fc_event *recv = add(&script, FC_OP_RECV, 0, 50000);
    g.node[1] = 6;
    double way_s = line_head_s(3) + 50e-6;
    send->compute_s = 4e-3;
    must_replay(&g, &script);
    check(&g, 2e-3, 2e-3, o_s + way_s + r_s);
    send->compute_s = 0;
    send->bytes = recv->bytes = 3000000;
    recv->compute_s = 4e-3;
    must_replay(&g, &script);
    check(&g, 2e-3, 2e-3, g.out.prediction.time_s - 4e-3); /* the sender, whose path has 4 ms less computation */
    close_rig(&g);
}

/* To and fro, nobody computes: all of it is messages, though each side does nothing half of the time. */
static void ping_pong(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 2);
    next_rank(&script);
    add(&script, FC_OP_SEND, 1, 50000);
    add(&script, FC_OP_RECV, 1, 50000);
    next_rank(&script);
    add(&script, FC_OP_RECV, 0, 50000);
    add(&script, FC_OP_SEND, 0, 50000);
    must_replay(&g, &script);
    check(&g, 0, 0, g.out.prediction.time_s);
    close_rig(&g);
}

/* A barrier and an all-to-all (by rounds and all at once) to which one of eight comes 7 ms late: seven wait for that long, less
 * what they do meanwhile. */
static void late_member(void)
{
    static const enum fc_op op[] = {FC_OP_BARRIER, FC_OP_ALLREDUCE, FC_OP_ALLTOALL};
    struct rig g;
    open_rig(&g, LINE_YAML);
    for (size_t i = 0; i < FC_COUNT(op); i++)
        for (int64_t bytes = 8; bytes <= 40008; bytes += 40000) {
            start_script(&script, 8);
            for (int r = 0; r < 8; r++) {
                next_rank(&script);
                add(&script, op[i], -1, op[i] == FC_OP_BARRIER ? 0 : bytes)->compute_s = r == 5 ? 7e-3 : 0;
            }
            must_replay(&g, &script);
            const struct fc_prediction *p = &g.out.prediction;
            double short_s = p->time_s - 7e-3; /* the call itself, with what goes on before the late one comes */
            CU_ASSERT(fc_near(p->computation_s, 7e-3 / 8, 1e-12));
            CU_ASSERT(p->waiting_s <= 7 * 7e-3 / 8 * (1 + 1e-12) && p->waiting_s > 7 * (7e-3 - 3 * short_s) / 8);
            CU_ASSERT(fc_near(p->computation_s + p->waiting_s + p->communication_s, p->time_s, 1e-12));
            for (int r = 0; r < 8; r++) /* not the late one */
                CU_ASSERT(r == 5 ? g.out.rank_waiting_s[r] == 0 : g.out.rank_waiting_s[r] > 0);
        }
    close_rig(&g);
}

/* The bound of all mappings beside answers: one for all mappings of a job, proven, and unknown with a reason. */
static void best_bound(void)
{
    struct fc_question q = {
        .machine = "bgl-64", .pattern = "stencil3d:grid=4x4x8,bytes=64KiB", .seed = 1, .threads = 1};
    struct fc_answer rank_order, found;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_answer_make(&q, &rank_order, &st), FC_OK);
    q.map = "optimize";
    CU_ASSERT_EQUAL_FATAL(fc_answer_make(&q, &found, &st), FC_OK);
    CU_ASSERT(rank_order.best_bound_s > 0 && rank_order.best_bound_s == found.best_bound_s); /* of the job */
    CU_ASSERT(found.best_bound_s <= found.p.bound_s && rank_order.best_bound_s <= rank_order.p.bound_s);
    CU_ASSERT(found.best_bound_s > 0.5 * found.p.time_s); /* says something */
    CU_ASSERT_STRING_EQUAL(rank_order.best_bound_by, "all tasks, nodes");
    CU_ASSERT_PTR_NULL(rank_order.best_bound_why);
    CU_ASSERT(isnan(rank_order.p.waiting_s) && rank_order.io_s == 0); /* a phase is one stretch of messages */
    fc_answer_free(&rank_order);
    fc_answer_free(&found);
    q = (struct fc_question){.machine = "bgl-64", .trace = "traces/samples/lammps-lj-16.fct", .seed = 1, .threads = 1};
    CU_ASSERT_EQUAL_FATAL(fc_answer_make(&q, &found, &st), FC_OK);
    double most_s = 0;
    for (uint32_t r = 0; r < found.n_tasks; r++) most_s = fmax(most_s, found.rank_compute_s[r]);
    CU_ASSERT(found.best_bound_s >= most_s && found.best_bound_s <= found.p.bound_s);
    CU_ASSERT(isnan(found.io_s) && !strncmp(found.io_why, "MPI_File_", 9)); /* LAMMPS can write dumps by MPI-IO */
    fc_answer_free(&found);
    q.network = "ideal";
    CU_ASSERT_EQUAL_FATAL(fc_answer_make(&q, &found, &st), FC_OK);
    CU_ASSERT(isnan(found.best_bound_s) && found.best_bound_why);
    fc_answer_free(&found);
}

int suite_waiting(void)
{
    static const CU_TestInfo tests[] = {
        {"two ranks without a message", no_message}, {"a partner is late", late_partner},
        {"to and fro is no waiting", ping_pong},     {"a member of a collective is late", late_member},
        {"the bound of all mappings", best_bound},   CU_TEST_INFO_NULL,
    };
    return fc_add_suite("waiting", tests);
}
