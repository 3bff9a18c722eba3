/* test_replay_online.c - receives from anyone, windows of a run, traces as streams, collectives worked out as
 * they come. */
#include "solvers/replay/replay_calls.h"
#include "solvers/replay/replay_job.h"
#include "tests/replay_script.h"
#include "traces/trace_source.h"

#include <stdlib.h>

int suite_replay_online(void);

/* ---- receives from anyone ---- */

static struct fc_event *add_any(enum fc_op op, int64_t bytes)
{
    struct fc_event *e = add(&script, op, FC_ANY, bytes);
    e->tag = FC_ANY;
    return e;
}

/* What is there first is taken first, whoever sends it and in whatever order ranks are replayed. */
static void first_come(void)
{
    for (int network = FC_NET_IDEAL; network <= FC_NET_CONTENTION; network++) {
        struct rig g;
        open_rig(&g, LINE_YAML);
        g.settings.network = (enum fc_network_model)network;
        start_script(&script, 3);
        next_rank(&script);
        add_any(FC_OP_RECV, 0);
        add(&script, FC_OP_OTHER, -1, 0);
        add_any(FC_OP_RECV, 0);
        next_rank(&script);
        add(&script, FC_OP_SEND, 0, 1000)->compute_s = 1e-3;
        next_rank(&script);
        add(&script, FC_OP_SEND, 0, 8)->tag = 7;
        g.node[1] = 2;
        g.node[2] = 4;
        must_replay(&g, &script);
        double first_s = 1e-6 + line_head_s(2) + 8e-9 + 2e-6, second_s = 1e-3 + 1e-6 + line_head_s(1) + 1e-6 + 2e-6;
        CU_ASSERT(fc_near(g.out.rank_finish_s[0], second_s, 1e-12));
        CU_ASSERT(fc_near(g.out.p2p_wait_s, (first_s - 2e-6 + second_s - first_s - 2e-6) / 3, 1e-9));
        CU_ASSERT(fc_near(g.out.prediction.bound_s, g.out.prediction.time_s, 1e-12));
        close_rig(&g);
    }
}

/* A receive with a source behind one from anyone waits until that one has chosen: the first message of rank 1
 * is the wildcard's when it comes before rank 2's, else its own. */
static void behind_a_wildcard(void)
{
    for (int late = 0; late < 2; late++) {
        struct rig g;
        open_rig(&g, LINE_YAML);
        start_script(&script, 3);
        next_rank(&script);
        add_any(FC_OP_IRECV, 0);
        add(&script, FC_OP_IRECV, 1, 0);
        add_wait(&script, 0, 1);
        add_wait(&script, 1, 1);
        next_rank(&script);
        add(&script, FC_OP_SEND, 0, 8)->compute_s = late ? 1e-3 : 0;
        add(&script, FC_OP_SEND, 0, 8)->compute_s = 2e-3;
        next_rank(&script);
        add(&script, FC_OP_SEND, 0, 8)->compute_s = late ? 0 : 1e-3;
        g.node[1] = 2;
        g.node[2] = 4;
        must_replay(&g, &script);
        double hop_s = line_head_s(1) + 8e-9 + 2e-6;
        CU_ASSERT(fc_near(g.out.rank_finish_s[0], late ? 1e-3 + 1e-6 + hop_s : 2e-3 + 2e-6 + hop_s, 1e-12));
        CU_ASSERT_EQUAL(g.out.n_unmatched_sends, 1); /* rank 1's second, or rank 2's */
        CU_ASSERT_EQUAL(g.out.n_unmatched_receives, 0);
        close_rig(&g);
    }
}

/* Messages of one sender do not overtake: the long one, announced first, is taken first, though the other has
 * arrived. */
static void no_overtaking(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 2);
    next_rank(&script);
    add_any(FC_OP_RECV, 0)->compute_s = 1e-3;
    add(&script, FC_OP_RECV, 1, 0)->tag = 5;
    next_rank(&script);
    add(&script, FC_OP_ISEND, 0, 3000000)->tag = 4;
    add(&script, FC_OP_SEND, 0, 8)->tag = 5;
    add_wait(&script, 0, 1);
    g.node[1] = 2;
    must_replay(&g, &script);
    double arrives_s = 1e-3 + 2 * line_head_s(1) + 3e-3;
    CU_ASSERT(fc_near(g.out.rank_finish_s[0], arrives_s + 4e-6, 1e-12));
    CU_ASSERT(fc_near(g.out.rank_finish_s[1], arrives_s, 1e-12));
    close_rig(&g);
}

/* Many senders, one receiver that waits for all: whether it names them makes no difference, since all
 * receives are posted before anything comes, and no message is long: one from the same sender would hold back
 * the next. */
static void master_and_workers(void)
{
    struct rig g;
    double end_s[2];
    open_torus(&g, "3, 3, 3", "dimension-order");
    for (int wild = 0; wild < 2; wild++) {
        start_script(&script, 32);
        next_rank(&script);
        for (int32_t r = 1; r < 32; r++)
            for (int k = 0; k < 3; k++) {
                if (wild)
                    add_any(FC_OP_IRECV, 0);
                else
                    add(&script, FC_OP_IRECV, r, 0)->tag = k;
            }
        add_wait(&script, 0, 93);
        for (uint32_t r = 1; r < 32; r++) {
            next_rank(&script);
            for (int k = 0; k < 3; k++) {
                struct fc_event *e =
                    add(&script, FC_OP_SEND, 0, (int64_t)fc_random_below(9, 0, 3 * r + (uint32_t)k, 4000));
                e->tag = k;
                e->compute_s = 1e-5 * fc_random_real(9, 1, 3 * r + (uint32_t)k);
            }
        }
        must_replay(&g, &script);
        end_s[wild] = g.out.rank_finish_s[0];
        CU_ASSERT_EQUAL(g.out.n_messages, 93);
        CU_ASSERT_EQUAL(g.out.n_unmatched_sends + g.out.n_unmatched_receives, 0);
    }
    CU_ASSERT_EQUAL(end_s[0], end_s[1]);
    close_rig(&g);
}

/* ---- windows ---- */

static void windows(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 3);
    next_rank(&script);
    add(&script, FC_OP_SEND, 1, 100);
    add(&script, FC_OP_ISEND, 2, 2000000);
    next_rank(&script);
    add(&script, FC_OP_IRECV, 2, 100);
    add_any(FC_OP_IRECV, 100)->tag = 3;
    next_rank(&script);
    add(&script, FC_OP_FINALIZE, -1, 0); /* not every rank's: no barrier */
    g.node[1] = 2;
    must_replay(&g, &script);
    CU_ASSERT_EQUAL(g.out.n_unmatched_sends, 2);
    CU_ASSERT_EQUAL(g.out.n_unmatched_receives, 2);
    CU_ASSERT(fc_near(g.out.rank_finish_s[0], 2e-6, 1e-12));
    CU_ASSERT_EQUAL(g.out.rank_finish_s[2], 0);
    CU_ASSERT_EQUAL(g.out.n_messages, 1); /* the long one has not left */
    close_rig(&g);
}

static void waits_for_ever(void)
{
    struct rig g;
    open_rig(&g, LINE_YAML);
    start_script(&script, 3);
    next_rank(&script);
    add_any(FC_OP_RECV, 1);
    next_rank(&script);
    add(&script, FC_OP_RECV, 0, 1);
    next_rank(&script);
    CU_ASSERT_EQUAL(replay(&g, &script), FC_INPUT);
    CU_ASSERT(fc_says(&g.st, FC_INPUT,
                      "job.trace:1000: ranks wait for ever: rank 0 in recv (line 1000) for a message from anyone"));
    script.trace.first_line = NULL; /* a foreign format: rank and call */
    script.event[1].compute_s = 1;
    CU_ASSERT_EQUAL(replay(&g, &script), FC_INPUT);
    CU_ASSERT(
        fc_says(&g.st, FC_INPUT, "job.trace: ranks wait for ever: rank 0 in recv (call 0) for a message from anyone"));
    start_script(&script, 2);
    next_rank(&script);
    add_wait(&script, 3, 1);
    next_rank(&script);
    CU_ASSERT_EQUAL(replay(&g, &script), FC_INPUT);
    CU_ASSERT(fc_says(&g.st, FC_INPUT, "job.trace:1000: rank 0, call 0: waits for request 3, which is not open"));
    start_script(&script, 2);
    next_rank(&script);
    add(&script, FC_OP_SEND, 2, 1);
    next_rank(&script);
    CU_ASSERT_EQUAL(replay(&g, &script), FC_INPUT);
    CU_ASSERT(
        fc_says(&g.st, FC_INPUT, "rank 0, call 0: send with peer 2, communicator 0, 1 bytes (allowed: ranks below 2,"));
    close_rig(&g);
}

/* ---- collectives ---- */

/* Every operation, on the world and on a part of it, by lists (few members) and worked out (64): the messages
 * are those that fc_demand_of_job expands on its own. */
static void all_operations(void)
{
    static const int64_t bytes[] = {0, 8, 3000, 100000, 1000000};
    struct rig g;
    open_torus(&g, "4, 4, 4", "adaptive");
    for (size_t b = 0; b < FC_COUNT(bytes); b++)
        for (int op = FC_OP_BARRIER; op <= FC_OP_SCAN; op++) {
            struct fc_demand demand;
            double messages = 0;
            start_script(&script, 64);
            add_comm(&script, 5, 7);
            for (int32_t r = 0; r < 64; r++) {
                next_rank(&script);
                for (int32_t comm = 0; comm < 2; comm++) {
                    if (comm && (r < 5 || r >= 12)) continue;
                    bool rooted = op == FC_OP_BCAST || op == FC_OP_GATHER || op == FC_OP_SCATTER || op == FC_OP_REDUCE;
                    bool differ = op == FC_OP_GATHER || op == FC_OP_SCATTER || op == FC_OP_ALLGATHER ||
                                  op == FC_OP_REDUCE_SCATTER;
                    struct fc_event *e = add(&script, (enum fc_op)op, rooted ? 6 : -1, bytes[b] + (differ ? r % 3 : 0));
                    e->comm = comm;
                    if (op != FC_OP_ALLTOALLV) continue;
                    e->n_list = comm ? 7 : 64;
                    e->list = script.trace.n_lists;
                    e->bytes = 0;
                    for (uint32_t i = 0; i < e->n_list; i++)
                        e->bytes += script.list[script.trace.n_lists++] = (r + (int32_t)i) % 3 ? bytes[b] : 0;
                }
            }
            must_replay(&g, &script);
            CU_ASSERT_EQUAL_FATAL(fc_demand_of_job(&script.trace, &demand, &g.st), FC_OK);
            for (size_t i = 0; i < demand.n_entries; i++) messages += demand.messages[i];
            CU_ASSERT_EQUAL((double)g.out.n_messages, messages);
            CU_ASSERT(fc_near(g.out.prediction.network_bytes + g.out.prediction.local_bytes, fc_demand_bytes(&demand),
                              1e-12));
            CU_ASSERT_EQUAL(g.out.n_unmatched_sends + g.out.n_unmatched_receives + g.out.n_uneven_calls, 0);
            fc_demand_free(&demand);
        }
    close_rig(&g);
}

/* The same call by a list and worked out: the same messages, round by round. */
static void check_rounds(const struct fc_collective_algorithm *a, uint32_t n, bool uneven)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0}, none = {0};
    if (!a->alike || !a->alike->from || fc_collective_fits(a, n, &none)) return;
    struct fc_message *list = NULL;
    uint64_t n_list = 0, found = 0;
    double *sizes = fc_alloc(&arena, (size_t)n * n, sizeof *sizes, &st);
    int64_t **blocks = fc_alloc(&arena, n, sizeof *blocks, &st);
    for (uint32_t i = 0; i < n * n; i++) sizes[i] = uneven ? 10 * (i % 7) : 50;
    for (uint32_t i = 0; i < n; i++) {
        blocks[i] = fc_alloc(&arena, n, sizeof **blocks, &st);
        for (uint32_t k = 0; k < n; k++) blocks[i][k] = (int64_t)sizes[i * n + k];
    }
    bool matrix = a->op == FC_OP_ALLTOALLV,
         vector = uneven && (a->op == FC_OP_ALLGATHER || a->op == FC_OP_REDUCE_SCATTER);
    CU_ASSERT_EQUAL_FATAL(
        fc_collective_build(a, n, 0, 50, matrix || vector ? sizes : NULL, &arena, &list, &n_list, &st), FC_OK);
    struct fc_live_call call = {.op = (uint8_t)a->op,
                                .n = n,
                                .bytes = 50,
                                .sizes = vector ? sizes : NULL,
                                .blocks = matrix ? blocks : NULL,
                                .alike = a->alike};
    bool at_once = a->alike->n_sends;
    for (uint32_t m = 0; m < n; m++)
        for (uint32_t k = 0; k < fc_alike_sends(a->alike, n); k++) {
            uint32_t to, from;
            double bytes;
            if (!fc_call_sends(&call, m, k, &to, &bytes)) continue;
            bool listed = false;
            for (uint64_t i = 0; i < n_list && !listed; i++)
                listed = list[i].from == m && list[i].to == to && list[i].bytes == bytes &&
                         list[i].round == (at_once ? 0 : k);
            CU_ASSERT(listed);
            bool received = false;
            for (uint32_t j = at_once ? 0 : k; j < (at_once ? n - 1 : k + 1); j++)
                received = received || (fc_call_receives(&call, to, j, &from) && from == m);
            CU_ASSERT(received);
            found++;
        }
    CU_ASSERT_EQUAL(found, n_list);
    fc_arena_free(&arena);
}

static void rounds_are_lists(void)
{
    int worked_out = 0;
    for (const struct fc_collective_algorithm *a = fc_collective_algorithms; a->name; a++) {
        worked_out += a->alike && a->alike->from;
        for (uint32_t n = 2; n < 18; n++)
            for (int uneven = 0; uneven < 2; uneven++) check_rounds(a, n, uneven);
    }
    CU_ASSERT_EQUAL(worked_out, 10);
}

/* ---- streams ---- */

struct trickle {
    const struct fc_trace *trace;
    struct fc_trace head;
    struct fc_event *event; /* [n_ranks] the one at hand */
    int64_t *list;
    uint64_t *taken; /* [n_ranks] handed out */
};

/* One event at a time, each where the last was. */
static void refill(struct fc_trace_source *source, uint32_t rank)
{
    struct trickle *t = source->private;
    uint64_t at = t->trace->first_event[rank] + t->taken[rank];
    if (at == t->trace->first_event[rank + 1]) return;
    t->event[rank] = t->trace->events[at];
    t->taken[rank]++;
    source->rank[rank].at = &t->event[rank];
    source->rank[rank].end = &t->event[rank] + 1;
    source->rank[rank].lists = t->trace->lists;
}

static void as_a_stream(struct rig *g, const struct fc_trace *trace)
{
    struct fc_replay memory, stream;
    struct trickle t = {.trace = trace, .head = *trace};
    t.event = calloc(trace->n_ranks, sizeof *t.event);
    t.taken = calloc(trace->n_ranks, sizeof *t.taken);
    t.head.events = NULL;
    t.head.first_event = NULL;
    struct fc_trace_source source = {.head = &t.head, .st = &g->st, .refill = refill, .private = &t};
    source.rank = calloc(trace->n_ranks, sizeof *source.rank);
    CU_ASSERT_FATAL(t.event && t.taken && source.rank);
    struct fc_placement placement = {trace->n_ranks, g->node};
    CU_ASSERT_EQUAL_FATAL(fc_replay_run(&g->net, trace, &placement, &g->settings, &memory, &g->st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_replay_source(&g->net, &source, &placement, &g->settings, &stream, &g->st), FC_OK);
    CU_ASSERT_EQUAL(memory.prediction.time_s, stream.prediction.time_s);
    CU_ASSERT_EQUAL(memory.prediction.bound_s, stream.prediction.bound_s);
    CU_ASSERT_EQUAL(memory.n_messages, stream.n_messages);
    CU_ASSERT_EQUAL(memory.n_events, stream.n_events);
    CU_ASSERT_EQUAL(memory.link_wait_s, stream.link_wait_s);
    CU_ASSERT_EQUAL(memory.collective_s, stream.collective_s);
    CU_ASSERT(!memcmp(memory.rank_finish_s, stream.rank_finish_s, trace->n_ranks * sizeof(double)));
    CU_ASSERT(!memcmp(memory.link_bytes, stream.link_bytes, g->net.n_links * sizeof(double)));
    fc_replay_free(&memory);
    fc_replay_free(&stream);
    fc_source_close(&source);
    free(t.event);
    free(t.taken);
}

static void streams(void)
{
    struct rig g;
    struct fc_trace trace;
    open_torus(&g, "3, 4, 5", "adaptive");
    CU_ASSERT_EQUAL_FATAL(fc_trace_read("traces/samples/qe-si-16.fct", &trace, &g.st), FC_OK);
    as_a_stream(&g, &trace);
    fc_trace_free(&trace);
    start_script(&script, 6); /* uneven collectives far apart: each must know what the others will bring */
    add_comm(&script, 1, 3);
    for (int32_t r = 0; r < 6; r++) {
        next_rank(&script);
        for (int k = 0; k < 40; k++) {
            for (int i = 0; i < r; i++) add(&script, FC_OP_OTHER, -1, 0)->compute_s = 1e-6;
            if (r >= 1 && r < 4) add(&script, FC_OP_SCATTER, 2, 100 * r + k)->comm = 1;
            add(&script, FC_OP_ALLGATHER, -1, r == k % 6 ? 5000 : 1);
            struct fc_event *e = add(&script, FC_OP_ALLTOALLV, -1, 0);
            e->n_list = 6;
            e->list = script.trace.n_lists;
            for (int i = 0; i < 6; i++) e->bytes += script.list[script.trace.n_lists++] = (r * 7 + i * 3 + k) % 50;
            if (r == 0) add(&script, FC_OP_SEND, 5, k);
            if (r == 5) add_any(FC_OP_RECV, 0);
        }
        add(&script, FC_OP_FINALIZE, -1, 0);
    }
    as_a_stream(&g, &script.trace);
    close_rig(&g);
}

/* ---- programs that make no sense ---- */

static void draw_event(uint64_t seed, uint32_t rank, uint32_t i, uint32_t n_ranks)
{
    static const enum fc_op ops[] = {FC_OP_SEND,  FC_OP_RECV,   FC_OP_ISEND,     FC_OP_IRECV,   FC_OP_WAIT,
                                     FC_OP_RMA,   FC_OP_OTHER,  FC_OP_BARRIER,   FC_OP_BCAST,   FC_OP_ALLGATHER,
                                     FC_OP_ISEND, FC_OP_IRECV,  FC_OP_IRECV,     FC_OP_SCATTER, FC_OP_ALLREDUCE,
                                     FC_OP_ISEND, FC_OP_GATHER, FC_OP_ALLREDUCE, FC_OP_FINALIZE};
    uint64_t index = (uint64_t)rank * 64 + i;
    enum fc_op op = ops[fc_random_below(seed, 1, index, seed % 3 ? 7 : FC_COUNT(ops))];
    if (seed % 3 && op == FC_OP_RECV) op = FC_OP_IRECV; /* two thirds: nobody need wait for ever, */
    if (seed % 3 && fc_random_below(seed, 8, i, 3) == 0)
        op = i % 2 ? FC_OP_ALLREDUCE : FC_OP_BARRIER; /* and all call */
    int32_t peer = (int32_t)fc_random_below(seed, 2, index, n_ranks);
    if (op == FC_OP_WAIT) {
        int32_t first = (int32_t)fc_random_below(seed, 3, index, (uint32_t)script.n_requests + 1);
        add_wait(&script, first, script.n_requests > first);
        return;
    }
    struct fc_event *e = add(&script, op, peer, fc_random_below(seed, 4, index, 8) ? 100 : 2000000);
    e->compute_s = 1e-6 * fc_random_real(seed, 5, index);
    bool receive = op == FC_OP_RECV || op == FC_OP_IRECV;
    if (receive && fc_random_below(seed, 6, index, 3) == 0) e->peer = FC_ANY;
    if (receive && fc_random_below(seed, 7, index, 3) == 0) e->tag = FC_ANY;
    if (op >= FC_OP_BARRIER && op <= FC_OP_SCAN)
        e->peer = op == FC_OP_BCAST || op == FC_OP_SCATTER || op == FC_OP_GATHER ? 0 : -1;
    if (op == FC_OP_SEND) e->mode = FC_SEND_BUFFERED;
    if (op == FC_OP_ALLREDUCE && i % 4 == 1) {
        e->mode = 1;
        e->request = script.n_requests++;
    }
}

/* Either it is replayed or somebody waits for ever, calls something else, or waits for a request again; twice
 * the same. */
static void nonsense(void)
{
    int replayed = 0, refused = 0;
    struct rig g;
    open_torus(&g, "3, 3, 3", "adaptive");
    for (uint64_t seed = 0; seed < 400; seed++) {
        uint32_t n_ranks = 2 + (uint32_t)(seed % 5);
        start_script(&script, n_ranks);
        for (uint32_t r = 0; r < n_ranks; r++) {
            next_rank(&script);
            for (uint32_t i = 0; i < 2 + seed % 9; i++) draw_event(seed, r, i, n_ranks);
        }
        g.settings.network = seed % 2 ? FC_NET_CONTENTION : FC_NET_IDEAL;
        enum fc_code code = replay(&g, &script);
        CU_ASSERT(code == FC_OK || code == FC_INPUT);
        if (code == FC_OK) {
            CU_ASSERT(g.out.prediction.bound_s <= g.out.prediction.time_s);
            as_a_stream(&g, &script.trace);
            replayed++;
        } else {
            refused++;
        }
    }
    CU_ASSERT(replayed > 40 && refused > 40);
    if (replayed <= 40 || refused <= 40) printf("\n    %d replayed, %d refused", replayed, refused);
    close_rig(&g);
}

int suite_replay_online(void)
{
    static const CU_TestInfo tests[] = {
        {"receives from anyone: first come", first_come},
        {"a receive behind one from anyone", behind_a_wildcard},
        {"messages of one sender do not overtake", no_overtaking},
        {"a master and its workers", master_and_workers},
        {"windows: what is left over is counted", windows},
        {"waiting for ever", waits_for_ever},
        {"all collectives, on parts too", all_operations},
        {"rounds worked out are the lists'", rounds_are_lists},
        {"streams", streams},
        {"programs that make no sense", nonsense},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("replay online", tests);
}
