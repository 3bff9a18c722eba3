/* test_timeline.c - what ranks do over time: the sums that the replay itself keeps, jobs whose course is known,
 * bins that double. */
#include "solvers/replay/replay_beside.h"
#include "core/timeline.h"
#include "tests/replay_script.h"
#include "traces/traces.h"

int suite_timeline(void);

/* Sums over the bins of a row. */
struct sums {
    double s[FC_RANK_STATES];
};
static struct sums sum_row(const struct fc_timeline *t, uint32_t row)
{
    struct sums sum = {{0}};
    for (uint32_t b = 0; b < FC_TIMELINE_BINS; b++)
        for (int k = 0; k < FC_RANK_STATES; k++) sum.s[k] += fc_timeline_at(t, row, b)[k];
    return sum;
}
static double sum_bytes(const struct fc_timeline *t)
{
    double bytes = 0;
    for (uint32_t b = 0; b < FC_TIMELINE_BINS; b++) bytes += t->network_bytes[b];
    return bytes;
}

/* No bin holds more than its time, none lies behind the end; each row sums to what the replay says of its ranks. */
static void same_sums(const struct fc_timeline *t, const struct fc_replay *r, uint32_t n_ranks)
{
    uint32_t counted = 0;
    CU_ASSERT_EQUAL_FATAL(t->n_ranks, n_ranks);
    for (uint32_t row = 0; row < t->n_rows; row++) {
        struct sums sum = sum_row(t, row);
        double compute_s = 0, finish_s = 0, most_s = fc_timeline_ranks(t, row) * t->bin_s * t->n_processors;
        for (uint32_t i = 0; i < fc_timeline_ranks(t, row); i++, counted++) {
            compute_s += r->rank_compute_s[counted];
            finish_s += r->rank_finish_s[counted];
        }
        double all_s = sum.s[FC_RANK_COMPUTES] + sum.s[FC_RANK_SENDS] + sum.s[FC_RANK_RECEIVES] + sum.s[FC_RANK_WAITS];
        CU_ASSERT(fc_near(sum.s[FC_RANK_COMPUTES], compute_s, 1e-9));
        CU_ASSERT(fc_near(all_s, t->n_processors * finish_s, 1e-9));
        for (uint32_t b = 0; b < FC_TIMELINE_BINS; b++) {
            const double *s = fc_timeline_at(t, row, b);
            double in_bin_s = s[FC_RANK_COMPUTES] + s[FC_RANK_SENDS] + s[FC_RANK_RECEIVES] + s[FC_RANK_WAITS];
            CU_ASSERT(in_bin_s <= most_s * (1 + 1e-9));
            CU_ASSERT(b < t->n_bins || in_bin_s == 0);
        }
    }
    CU_ASSERT_EQUAL(counted, n_ranks);
    CU_ASSERT(fc_near(sum_bytes(t), r->prediction.network_bytes, 1e-9));
    CU_ASSERT(t->n_bins > FC_TIMELINE_BINS / 2 - 1 && t->n_bins <= FC_TIMELINE_BINS);
    CU_ASSERT(fabs(t->n_bins * t->bin_s - r->prediction.time_s) <= t->bin_s * (1 + 1e-9));
}

static double total(const struct fc_timeline *t, enum fc_rank_state state)
{
    double s = 0;
    for (uint32_t row = 0; row < t->n_rows; row++) s += sum_row(t, row).s[state];
    return s;
}

/* 8 us of computation, a message, its answer: who does what when is arithmetic. */
static void ping(void)
{
    struct rig g;
    struct fc_timeline t = {0};
    open_rig(&g, LINE_YAML);
    g.settings.timeline = &t;
    start_script(&script, 2);
    next_rank(&script);
    add(&script, FC_OP_SEND, 1, 50000)->compute_s = 8e-6;
    next_rank(&script);
    add(&script, FC_OP_RECV, 0, 50000);
    g.node[1] = 6; /* three hops */
    must_replay(&g, &script);
    double arrives_s = 9e-6 + line_head_s(3) + 50e-6, bin = t.bin_s;
    same_sums(&t, &g.out, 2);
    struct sums a = sum_row(&t, 0), b = sum_row(&t, 1);
    CU_ASSERT(fc_near(a.s[FC_RANK_COMPUTES], 8e-6, 1e-9) && fc_near(a.s[FC_RANK_SENDS], 1e-6, 1e-9) &&
              a.s[FC_RANK_RECEIVES] == 0);
    CU_ASSERT(a.s[FC_RANK_WAITS] < 1e-15);
    CU_ASSERT(b.s[FC_RANK_COMPUTES] == 0 && b.s[FC_RANK_SENDS] == 0 && fc_near(b.s[FC_RANK_RECEIVES], 2e-6, 1e-9));
    CU_ASSERT(fc_near(b.s[FC_RANK_WAITS], arrives_s, 1e-9));
    /* to the bin: computation, then sending; waiting until the message is there, then receiving; bytes in between */
    for (uint32_t i = 0; i < t.n_bins; i++) {
        double from = i * bin, to = from + bin;
        const double *s = fc_timeline_at(&t, 0, i), *r = fc_timeline_at(&t, 1, i);
        CU_ASSERT(fc_near(s[FC_RANK_COMPUTES], fmax(0, fmin(to, 8e-6) - from), 1e-9));
        CU_ASSERT(fc_near(s[FC_RANK_SENDS], fmax(0, fmin(to, 9e-6) - fmax(from, 8e-6)), 1e-6));
        CU_ASSERT(fabs(r[FC_RANK_WAITS] - fmax(0, fmin(to, arrives_s) - from)) < 1e-15);
        CU_ASSERT(fabs(r[FC_RANK_RECEIVES] - fmax(0, fmin(to, arrives_s + 2e-6) - fmax(from, arrives_s))) < 1e-15);
        double moves = fmax(0, fmin(to, arrives_s) - fmax(from, 9e-6)) / (arrives_s - 9e-6);
        CU_ASSERT(fabs(t.network_bytes[i] - 50000 * moves) < 1e-3);
    }
    fc_timeline_free(&t);
    close_rig(&g);
}

/* Neighbours on a ring with unequal computation, then every kind of collective call: by list, worked out, all at
 * once, nonblocking. */
static void write_calls(uint32_t n)
{
    start_script(&script, n);
    for (int32_t r = 0; r < (int32_t)n; r++) {
        next_rank(&script);
        int32_t right = (r + 1) % (int32_t)n, left = (r + (int32_t)n - 1) % (int32_t)n;
        for (int i = 0; i < 5; i++) {
            int32_t first = script.n_requests;
            add(&script, FC_OP_IRECV, left, 20000)->compute_s = 1e-6 * (1 + (r * 7 + i) % 5);
            add(&script, FC_OP_ISEND, right, 20000);
            add_wait(&script, first, 2);
        }
        add(&script, FC_OP_BARRIER, -1, 0);
        add(&script, FC_OP_ALLTOALL, -1, 512)->compute_s = 2e-6 * (1 + r % 3);
        add(&script, FC_OP_ALLREDUCE, -1, 1 << 15)->compute_s = 3e-6;
        struct fc_event *call = add(&script, FC_OP_ALLREDUCE, -1, 4096);
        call->request = script.n_requests++;
        add_wait(&script, call->request, 1);
        script.event[script.first[script.trace.n_ranks] - 1].compute_s = 5e-6;
    }
}

static void every_network(void)
{
    struct rig g;
    struct fc_timeline t = {0};
    open_torus(&g, "4, 4", "dimension-order");
    write_calls(16);
    for (int model = FC_NET_IDEAL; model <= FC_NET_FLIT; model++) {
        g.settings.network = (enum fc_network_model)model;
        g.settings.timeline = NULL;
        must_replay(&g, &script);
        double time_s = g.out.prediction.time_s;
        g.settings.timeline = &t;
        must_replay(&g, &script);
        CU_ASSERT_EQUAL(g.out.prediction.time_s, time_s);
        same_sums(&t, &g.out, 16);
        CU_ASSERT(total(&t, FC_RANK_SENDS) > 0 && total(&t, FC_RANK_RECEIVES) > 0);
    }
    use_loggops(&g, 1e-6, 2e-6, 3e-6, 1e-9);
    must_replay(&g, &script);
    same_sums(&t, &g.out, 16);
    fc_timeline_free(&t);
    close_rig(&g);
}

/* Without collective calls what ranks wait is what the replay counts as blocked. */
static void waits(void)
{
    struct rig g;
    struct fc_timeline t = {0};
    open_torus(&g, "4, 4", "dimension-order");
    g.settings.timeline = &t;
    start_script(&script, 16);
    for (int32_t r = 0; r < 16; r++) {
        next_rank(&script);
        for (int i = 0; i < 20; i++) {
            int32_t first = script.n_requests;
            add(&script, FC_OP_IRECV, (r * 5 + 3) % 16, 8000)->compute_s = 1e-6 * ((r * 11 + i * 3) % 7);
            add(&script, FC_OP_ISEND, ((r - 3) * 13 % 16 + 16) % 16, 8000);
            add_wait(&script, first, 2);
        }
    }
    must_replay(&g, &script);
    same_sums(&t, &g.out, 16);
    CU_ASSERT(g.out.p2p_wait_s > 1e-6);
    CU_ASSERT(fc_near(total(&t, FC_RANK_WAITS), 16 * g.out.p2p_wait_s, 1e-9));
    fc_timeline_free(&t);
    close_rig(&g);
}

/* More ranks than rows share them; of two jobs only the one asked for. */
static void shared_rows(void)
{
    struct fc_timeline t = {0};
    struct fc_status st = {0};
    double finish_s[200];
    CU_ASSERT_FATAL(fc_timeline_start(&t, 200, &st) == FC_OK);
    CU_ASSERT(t.ranks_per_row == 4 && t.n_rows == 50);
    for (uint32_t r = 0; r < 200; r++) {
        finish_s[r] = 1 + 0.001 * r;
        fc_timeline_does(&t, r, FC_RANK_COMPUTES, 0.25, 0.25 + 0.001 * r);
    }
    fc_timeline_end(&t, finish_s);
    for (uint32_t row = 0; row < 50; row++) {
        struct sums s = sum_row(&t, row);
        CU_ASSERT(fc_near(s.s[FC_RANK_COMPUTES], 0.001 * (16 * row + 6), 1e-9));
        CU_ASSERT(fc_near(s.s[FC_RANK_WAITS], 4, 1e-9)); /* 4 ranks, each 1 s more than it computes */
    }
    CU_ASSERT(fc_timeline_start(&t, 130, &st) == FC_OK && t.ranks_per_row == 3 && t.n_rows == 44);
    CU_ASSERT(fc_timeline_ranks(&t, 42) == 3 && fc_timeline_ranks(&t, 43) == 1);
    fc_timeline_free(&t);
    t.only_ranks = 3;
    CU_ASSERT(fc_timeline_start(&t, 130, &st) == FC_OK && t.n_ranks == 3 && t.n_rows == 3);
    fc_timeline_does(&t, 3, FC_RANK_COMPUTES, 0, 1);
    fc_timeline_moves(&t, 3, 1000, 0, 1);
    CU_ASSERT(t.n_bins == 0 && sum_bytes(&t) == 0);
    fc_timeline_free(&t);
}

/* The same intervals in another order, the last first or last: the same bins. */
static void any_order(void)
{
    struct fc_timeline a = {0}, b = {0};
    struct fc_status st = {0};
    enum { N = 3000 };
    CU_ASSERT_FATAL(fc_timeline_start(&a, 1, &st) == FC_OK && fc_timeline_start(&b, 1, &st) == FC_OK);
    for (int i = 0; i < N; i++) {
        int k = (int)(i * 1237LL % N);
        fc_timeline_does(&a, 0, FC_RANK_COMPUTES, 1e-3 * i, 1e-3 * (i + 0.4));
        fc_timeline_does(&b, 0, FC_RANK_COMPUTES, 1e-3 * k, 1e-3 * (k + 0.4));
    }
    CU_ASSERT(a.bin_s == b.bin_s && a.n_bins == b.n_bins);
    for (uint32_t i = 0; i < a.n_bins; i++)
        CU_ASSERT(fabs(fc_timeline_at(&a, 0, i)[FC_RANK_COMPUTES] - fc_timeline_at(&b, 0, i)[FC_RANK_COMPUTES]) <
                  1e-12);
    CU_ASSERT(fc_near(sum_row(&a, 0).s[FC_RANK_COMPUTES], N * 0.4e-3, 1e-9));
    fc_timeline_free(&a);
    fc_timeline_free(&b);
}

/* A graph on one processor, and on two at once. */
static void graphs(void)
{
    static const char goal[] = "num_ranks 2\n"
                               "rank 0 {\na: calc 4000\nb: send 1000b to 1\nb requires a\n%s}\n"
                               "rank 1 {\na: recv 1000b from 0\nb: calc 2000\nb requires a\n}\n";
    for (int two = 0; two < 2; two++) {
        char text[400], path[64];
        struct fc_trace trace;
        struct rig g;
        struct fc_timeline t = {0};
        snprintf(text, sizeof text, goal, two ? "c: calc 7000 cpu 1\n" : "");
        open_rig(&g, LINE_YAML);
        g.settings.timeline = &t;
        CU_ASSERT_FATAL(fc_test_file(path, ".goal", text, strlen(text)));
        CU_ASSERT_FATAL(fc_trace_read(path, &trace, &g.st) == FC_OK);
        remove(path);
        g.placement = (struct fc_placement){2, g.node};
        CU_ASSERT_FATAL(fc_replay_run(&g.net, &trace, &g.placement, &g.settings, &g.out, &g.st) == FC_OK);
        CU_ASSERT_EQUAL(t.n_processors, 1 + two);
        same_sums(&t, &g.out, 2);
        CU_ASSERT(fc_near(total(&t, FC_RANK_COMPUTES), two ? 13e-6 : 6e-6, 1e-9));
        CU_ASSERT(fc_near(sum_row(&t, 0).s[FC_RANK_SENDS], 1e-6, 1e-9));
        fc_trace_free(&trace);
        fc_timeline_free(&t);
        close_rig(&g);
    }
}

/* Another job in the same replay is not on the timeline. */
static void beside(void)
{
    static struct script other;
    struct rig g;
    struct fc_timeline t = {0};
    struct fc_beside b;
    uint32_t node[2] = {1, 3};
    open_rig(&g, LINE_YAML);
    g.settings.timeline = &t;
    for (int i = 0; i < 2; i++) {
        struct script *s = i ? &other : &script;
        start_script(s, 2);
        next_rank(s);
        add(s, FC_OP_SEND, 1, 30000);
        add(s, FC_OP_RECV, 1, 30000); /* so that the sender does not run ahead */
        next_rank(s);
        add(s, FC_OP_RECV, 0, 30000);
        add(s, FC_OP_SEND, 0, 30000);
    }
    g.node[1] = 2;
    struct fc_placement here = {2, g.node}, there = {2, node};
    CU_ASSERT_FATAL(
        fc_replay_beside(&g.net, &script.trace, &here, &other.trace, &there, &g.settings, &g.out, &b, &g.st) == FC_OK);
    CU_ASSERT(t.n_ranks == 2 && fc_near(sum_bytes(&t), 60000, 1e-9));
    struct sums s = sum_row(&t, 1);
    CU_ASSERT(fc_near(s.s[FC_RANK_RECEIVES] + s.s[FC_RANK_SENDS] + s.s[FC_RANK_WAITS], g.out.rank_finish_s[1], 1e-9));
    fc_timeline_free(&t);
    close_rig(&g);
}

int suite_timeline(void)
{
    static const CU_TestInfo tests[] = {
        {"a message", ping},
        {"every network", every_network},
        {"waits", waits},
        {"shared rows", shared_rows},
        {"any order", any_order},
        {"graphs", graphs},
        {"beside another job", beside},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("timeline", tests);
}
