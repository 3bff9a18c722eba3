/* test_export.c - traces written for other tools: the same messages come out, and what was written runs to its end. */
#include "solvers/replay/export.h"
#include "tests/trace_good.h"

static char *text;
static size_t text_size;
static uint64_t losses[FC_N_LOSSES];

/* Nonblocking calls, several requests a wait, one tag in two communicators, collectives on three of four ranks in another
 * order, a nonblocking one, unequal shares. */
static const char job[] = "fabricast-trace 1\nranks 4\ncomm 0 0-3\ncomm 1 3,1,0\nevents 37\n"
                          "rank 0 12\ninit 0 0 0\n"
                          "irecv 0 0 0.000000050 comm=0 peer=1 tag=7 bytes=100 request=0\n"
                          "isend 0 0 0 comm=1 peer=1 tag=7 bytes=33 request=1\n"
                          "wait 0 0 0.000001000 requests=0-1\n"
                          "comm 0 0 0 comm=1 parent=0\n"
                          "allreduce 0 0 0 comm=1 bytes=4000\n"
                          "bcast 0 0 0 mode=nonblocking comm=1 root=3 bytes=64 request=2\n"
                          "send 0 0 0 comm=0 peer=2 tag=1 bytes=0\n"
                          "wait 0 0 0 requests=2\n"
                          "alltoallv 0 0 0 comm=1 bytes=6 sizes=1,2,3\n"
                          "gather 0 0 0 comm=0 root=2 bytes=10\n"
                          "finalize 0 0 0\n"
                          "rank 1 12\ninit 0 0 0\n"
                          "isend 0 0 0 comm=0 peer=0 tag=7 bytes=100 request=0\n"
                          "irecv 0 0 0 comm=1 peer=0 tag=7 bytes=33 request=1\n"
                          "wait 0 0 0 requests=1\nwait 0 0 0 requests=0\n"
                          "comm 0 0 0 comm=1 parent=0\n"
                          "allreduce 0 0 0 comm=1 bytes=4000\n"
                          "bcast 0 0 0 mode=nonblocking comm=1 root=3 bytes=64 request=2\n"
                          "wait 0 0 0 requests=2\n"
                          "alltoallv 0 0 0 comm=1 bytes=15 sizes=4,5,6\n"
                          "gather 0 0 0 comm=0 root=2 bytes=20\n"
                          "finalize 0 0 0\n"
                          "rank 2 5\ninit 0 0 0\n"
                          "comm 0 0 0 comm=-1 parent=0\n"
                          "recv 0 0 0 comm=0 peer=0 tag=1 bytes=0\n"
                          "gather 0 0 0 comm=0 root=2 bytes=30\n"
                          "finalize 0 0 0\n"
                          "rank 3 8\ninit 0 0 0\n"
                          "comm 0 0 0 comm=1 parent=0\n"
                          "allreduce 0 0 0 comm=1 bytes=4000\n"
                          "bcast 0 0 0 mode=nonblocking comm=1 root=3 bytes=64 request=0\n"
                          "wait 0 0 0 requests=0\n"
                          "alltoallv 0 0 0 comm=1 bytes=24 sizes=7,8,9\n"
                          "gather 0 0 0 comm=0 root=2 bytes=40\n"
                          "finalize 0 0 0\nend\n";

/* Writes the trace into `text`. */
static enum fc_code write_as(const char *name, const struct fc_trace *t, struct fc_status *st)
{
    static const struct fc_trace_options options = FC_TRACE_OPTIONS;
    const struct fc_trace_writer *w = fc_trace_writers;
    while (w->name && strcmp(w->name, name)) w++;
    CU_ASSERT_PTR_NOT_NULL_FATAL(w->name);
    free(text);
    FILE *out = open_memstream(&text, &text_size);
    *st = (struct fc_status){0};
    memset(losses, 0, sizeof losses);
    w->write(t, &options, out, losses, st);
    fclose(out);
    return st->code;
}

/* ---- GOAL, read and run without clocks ---- */

enum { MOST = 6000, MOST_RANKS = 4 };
struct statement {
    int kind; /* 0 calc, 1 send, 2 recv */
    int peer, tag, n_before, before[64], how[64];
    long long amount;
    bool started, finished, matched;
};
static struct statement (*goal)[MOST]; /* of each rank */
static int n_goal[MOST_RANKS];

static void read_goal(void)
{
    if (!goal) goal = malloc(MOST_RANKS * sizeof *goal);
    CU_ASSERT_PTR_NOT_NULL_FATAL(goal);
    int rank = -1, n_ranks, n = 0, a, b, used;
    char kind[16];
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        struct statement s = {0};
        if (sscanf(line, "num_ranks %d", &n_ranks) == 1) {
            CU_ASSERT(n_ranks <= MOST_RANKS);
        } else if (sscanf(line, "rank %d {", &a) == 1) {
            CU_ASSERT_EQUAL(a, rank + 1);
            rank = a;
            n = 0;
        } else if (strcmp(line, "}") == 0) {
            n_goal[rank] = n;
        } else if (sscanf(line, "l%d: calc %lld", &a, &s.amount) == 2) {
            CU_ASSERT_EQUAL_FATAL(a, n);
            goal[rank][n++] = s;
        } else if (sscanf(line, "l%d: %15s %lldb %*s %d tag %d", &a, kind, &s.amount, &s.peer, &s.tag) == 5) {
            s.kind = strcmp(kind, "send") == 0 ? 1 : 2;
            CU_ASSERT(strcmp(kind, s.kind == 1 ? "send" : "recv") == 0 &&
                      strstr(line, s.kind == 1 ? " to " : " from "));
            CU_ASSERT_EQUAL_FATAL(a, n);
            CU_ASSERT_FATAL(n < MOST);
            goal[rank][n++] = s;
        } else {
            CU_ASSERT_FATAL(sscanf(line, "l%d %15s l%d%n", &a, kind, &b, &used) == 3 && !line[used]);
            CU_ASSERT_FATAL(a < n && b < a && goal[rank][a].n_before < 64); /* earlier labels only */
            goal[rank][a].before[goal[rank][a].n_before] = b;
            goal[rank][a].how[goal[rank][a].n_before++] = strcmp(kind, "irequires") == 0;
        }
    }
}

static bool may_start(const struct statement *s, const struct statement *rank)
{
    for (int i = 0; i < s->n_before; i++)
        if (s->how[i] ? !rank[s->before[i]].started : !rank[s->before[i]].finished) return false;
    return true;
}

/* The oldest started, unmatched receive that fits. */
static struct statement *partner(int from, const struct statement *send)
{
    for (int i = 0; i < n_goal[send->peer]; i++) {
        struct statement *r = &goal[send->peer][i];
        if (r->kind == 2 && r->started && !r->matched && (r->peer == from || r->peer < 0) &&
            (r->tag == send->tag || r->tag < 0))
            return r;
    }
    return NULL;
}

/* Runs all statements, sends waiting for their receives; bytes[from][to] are added up. True when all finish. */
static bool run_goal(double bytes[MOST_RANKS][MOST_RANKS])
{
    bool all = true;
    for (bool moved = true; moved;) {
        moved = false;
        for (int r = 0; r < MOST_RANKS; r++)
            for (int i = 0; i < n_goal[r]; i++) {
                struct statement *s = &goal[r][i], *other;
                if (!s->started && may_start(s, goal[r])) {
                    s->started = moved = true;
                    s->finished = s->kind == 0;
                }
                if (s->kind == 1 && s->started && !s->finished && (other = partner(r, s))) {
                    CU_ASSERT_EQUAL(other->amount, s->amount);
                    s->finished = other->matched = other->finished = moved = true;
                    bytes[r][s->peer] += (double)s->amount;
                }
            }
    }
    for (int r = 0; r < MOST_RANKS; r++)
        for (int i = 0; i < n_goal[r]; i++) all &= goal[r][i].finished;
    return all;
}

static void expect_demand(const struct fc_trace *t, double bytes[MOST_RANKS][MOST_RANKS])
{
    struct fc_demand d;
    struct fc_status st = {0};
    double sum = 0, expected = 0;
    CU_ASSERT_EQUAL_FATAL(fc_demand_of_job(t, &d, &st), FC_OK);
    for (size_t i = 0; i < d.n_entries; i++) {
        CU_ASSERT_DOUBLE_EQUAL(bytes[d.src[i]][d.dst[i]], d.bytes[i], 0.5);
        expected += d.bytes[i];
    }
    for (int i = 0; i < MOST_RANKS * MOST_RANKS; i++) sum += bytes[i / MOST_RANKS][i % MOST_RANKS];
    CU_ASSERT_DOUBLE_EQUAL(sum, expected, 0.5);
    fc_demand_free(&d);
}

static void test_goal(void)
{
    struct fc_trace t;
    struct fc_status st;
    double bytes[MOST_RANKS][MOST_RANKS] = {{0}};
    CU_ASSERT_EQUAL_FATAL(read_text(job, &t, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(write_as("goal", &t, &st), FC_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(text,
                                  "num_ranks 4\nrank 0 {\nl0: calc 50\nl1: recv 100b from 1 tag 7\nl1 requires l0\n"
                                  "l2: send 33b to 1 tag 8\nl2 irequires l1\nl3: calc 1000\nl3 irequires l2\n"
                                  "l4: calc 0\nl4 requires l3\nl4 requires l1\nl4 requires l2\n"));
    read_goal();
    CU_ASSERT_TRUE(run_goal(bytes));
    expect_demand(&t, bytes);
    for (int i = 0; i < FC_N_LOSSES; i++) CU_ASSERT_EQUAL(losses[i], 0);
    fc_trace_free(&t);
}

static void test_goal_graph(void)
{
    static const char graph[] = "fabricast-trace 1\ngraph\nranks 2\ncomm 0 0-1\nevents 7\nrank 0 4\n"
                                "other 0 0 0.000000729\n"
                                "send 0 0 0 comm=0 peer=1 tag=5 bytes=1024 after=0 nic=2\n"
                                "barrier 0 0 0 comm=0 started=1 cpu=1\n"
                                "recv 0 0 0 comm=0 peer=any tag=any bytes=7 after=2,1\n"
                                "rank 1 3\n"
                                "recv 0 0 0 comm=0 peer=0 tag=5 bytes=1024\n"
                                "barrier 0 0 0 comm=0\n"
                                "send 0 0 0 comm=0 peer=0 tag=9 bytes=7 after=1\nend\n";
    struct fc_trace t;
    struct fc_status st;
    double bytes[MOST_RANKS][MOST_RANKS] = {{0}};
    CU_ASSERT_EQUAL_FATAL(read_text(graph, &t, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(write_as("goal", &t, &st), FC_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "l0: calc 729\nl1: send 1024b to 1 tag 5 nic 2\nl1 requires l0\n"
                                        "l2: calc 0 cpu 1\nl2 irequires l1\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ": recv 7b from -1 tag -1\n"));
    CU_ASSERT_EQUAL(losses[FC_LOST_WILDCARD], 1);
    memset(n_goal, 0, sizeof n_goal);
    read_goal();
    CU_ASSERT_TRUE(run_goal(bytes));
    CU_ASSERT_EQUAL(bytes[0][1], 1024);
    CU_ASSERT_EQUAL(bytes[1][0], 7);
    CU_ASSERT_EQUAL(write_as("ti", &t, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "which a time-independent trace cannot say (expected goal or mtx)"));
    fc_trace_free(&t);
}

/* ---- SimGrid ---- */

static void test_ti(void)
{
    static const char rank_2[] = "2 init\n2 allgather 8 8\n2 recv 0 1 0\n";
    struct fc_trace t;
    struct fc_status st;
    CU_ASSERT_EQUAL_FATAL(read_text(job, &t, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(write_as("ti", &t, &st), FC_OK);
    CU_ASSERT_EQUAL(losses[FC_LOST_NONBLOCKING], 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(text,
                                  "0 init\n0 compute 50\n0 irecv 1 7 100\n0 isend 1 8 33\n0 compute 1000\n0 waitall 2\n"
                                  "0 allgather 8 8\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "1 wait 0 1 8\n1 wait 1 0 7\n1 allgather 8 8\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, rank_2));
    /* Point-to-point lines, those of collectives on three ranks and of unequal shares too: as many bytes as without the
     * collectives of the world. */
    double bytes[MOST_RANKS][MOST_RANKS] = {{0}};
    int sends = 0, receives = 0, opened = 0, closed = 0, rank, peer, tag;
    long long count;
    char action[32];
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        CU_ASSERT_FATAL(sscanf(line, "%d %31s", &rank, action) == 2);
        if (strcmp(action, "waitall") == 0) closed += atoi(strrchr(line, ' '));
        closed += strcmp(action, "wait") == 0;
        if (!strstr("isend irecv send recv", action)) continue;
        CU_ASSERT_EQUAL(sscanf(line, "%*d %*s %d %d %lld", &peer, &tag, &count), 3);
        opened += action[0] == 'i';
        bool send = strstr(action, "send") != NULL;
        sends += send;
        receives += !send;
        bytes[send ? rank : peer][send ? peer : rank] += send ? (double)count : 0;
    }
    CU_ASSERT_EQUAL(sends, receives);
    CU_ASSERT_EQUAL(opened, closed);
    for (uint64_t i = 0; i < t.first_event[4]; i++) /* what is said as a collective of the world goes */
        if (t.events[i].op == FC_OP_COMM || t.events[i].op == FC_OP_FINALIZE) t.events[i].op = FC_OP_OTHER;
    expect_demand(&t, bytes);
    fc_trace_free(&t);
}

static void test_matrix(void)
{
    struct fc_trace t;
    struct fc_status st;
    struct fc_demand a, b;
    CU_ASSERT_EQUAL_FATAL(read_text(job, &t, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(write_as("mtx", &t, &st), FC_OK);
    put_file(second, text, text_size);
    CU_ASSERT_EQUAL_FATAL(fc_demand_of_job(&t, &a, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_graph(second, &b, &st), FC_OK);
    size_t k = 0;
    for (size_t i = 0; i < a.n_entries; i++)
        if (a.bytes[i] > 0) { /* one pair exchanges only an empty message */
            CU_ASSERT_FATAL(k < b.n_entries);
            CU_ASSERT(a.src[i] == b.src[k] && a.dst[i] == b.dst[k] && a.bytes[i] == b.bytes[k]);
            k++;
        }
    CU_ASSERT_EQUAL(k, b.n_entries);
    CU_ASSERT_EQUAL(k, a.n_entries - 1);
    fc_demand_free(&a);
    fc_demand_free(&b);
    fc_trace_free(&t);
}

/* Every op; what is lost is counted. A rank without a call has a statement all the same. */
static void test_losses(void)
{
    static const char lone[] = "fabricast-trace 1\nranks 2\ncomm 0 0-1\nevents 3\nrank 0 3\n"
                               "isend 0 0 0 comm=0 peer=1 tag=2147483647 bytes=1 request=0\n"
                               "rma 0 0 0 mode=put peer=1 bytes=9\n"
                               "irecv 0 0 0 comm=0 peer=1 tag=any bytes=1 request=1\nrank 1 0\nend\n";
    struct fc_trace t;
    struct fc_status st;
    CU_ASSERT_EQUAL_FATAL(read_text(lone, &t, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(write_as("goal", &t, &st), FC_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "l0: send 1b to 1 tag 0\n")); /* no room behind its own */
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "rank 1 {\nl0: calc 0\n}\n"));
    CU_ASSERT_EQUAL(losses[FC_LOST_OPEN], 2);
    CU_ASSERT_EQUAL(losses[FC_LOST_RMA], 1);
    CU_ASSERT_EQUAL(losses[FC_LOST_WILDCARD], 1);
    CU_ASSERT_EQUAL_FATAL(write_as("ti", &t, &st), FC_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "0 irecv 1 -444 1\n"));
    CU_ASSERT_EQUAL(losses[FC_LOST_OPEN], 2);
    fc_trace_free(&t);
    free(text);
    text = NULL;
}

int suite_export(void)
{
    static const CU_TestInfo tests[] = {{"goal", test_goal},     {"goal of a graph", test_goal_graph},
                                        {"simgrid", test_ti},    {"matrix", test_matrix},
                                        {"losses", test_losses}, CU_TEST_INFO_NULL};
    make_paths();
    return fc_add_suite("export", tests);
}
