/* test_queue.c - which nodes now, which later: sets by their definition, packed against all sets, the decision, what is refused. */
#include "answer/queue.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MESH                                                                                                           \
    "name: m\nnetwork: {family: mesh, dims: [4, 4]}\nlinks: {mesh: {bandwidth: 1 GB/s}}\nnode: {cores: 2}\n"           \
    "hosts: [a0, a1, a2, a3, b08, b09, b10, b11, login, c, c1, c3, c4, 'd007', 'd008', 'd010']\n"

/* `queue` of that many tasks and that file; the session stays open. */
static bool read_queue(const char *yaml, const char *text, uint32_t n_tasks, uint64_t seed, struct fc_session *session,
                       struct fc_start_choices *queue, struct fc_status *st)
{
    char machine[64], file[64];
    *st = (struct fc_status){0};
    *queue = (struct fc_start_choices){0};
    if (!fc_test_file(machine, ".yaml", yaml, strlen(yaml)) || !fc_test_file(file, ".txt", text, strlen(text)))
        return false;
    struct fc_question q = {.machine = machine, .seed = seed, .threads = 1};
    bool open = !fc_session_open(&q, machine, session, st);
    if (open && fc_queue_read(&q, session, NULL, n_tasks, file, queue, st)) fc_session_close(session);
    unlink(machine);
    unlink(file);
    return open && !st->code;
}

static void has(const struct fc_start_choices *queue, size_t i, double start_s, const char *policy, const char *nodes,
                const char *label)
{
    CU_ASSERT_FATAL(i < queue->n);
    const struct fc_queue_candidate *c = &queue->candidate[i];
    bool good =
        c->start_s == start_s && !strcmp(c->policy, policy) && !strcmp(c->nodes, nodes) && !strcmp(c->label, label);
    if (!good) printf("\n    %zu: %g %s %s %s\n", i, c->start_s, c->policy, c->nodes, c->label);
    CU_ASSERT(good);
}

static void test_sets(void)
{
    struct fc_session session;
    struct fc_start_choices queue;
    struct fc_status st;
    /* 5 tasks: 3 nodes. Now the three that there are, in the file's order; then a corner, and what is far from it. */
    if (!read_queue(MESH, "+0.5 login , 3,a0 # now\n\n+10 b[08-09]\n+10 a1 d010\n", 5, 1, &session, &queue, &st)) {
        CU_FAIL(st.message);
        return;
    }
    CU_ASSERT(queue.n_nodes == 3 && queue.n_free_now == 0);
    has(&queue, 0, 30, "listed", "8,3,0", "login,a3,a0");
    has(&queue, 1, 600, "listed", "4-5,1", "b[08-09],a1");
    has(&queue, 2, 600, "packed", "0-1,4", "a[0-1],b08");
    has(&queue, 3, 600, "spread", "0,3,15", "a0,a3,d010");
    CU_ASSERT(queue.n == 4 || queue.n == 5); /* the random one may be one of them */
    fc_queue_free(&queue);
    fc_session_close(&session);
}

static void test_random(void)
{
    struct fc_session session;
    struct fc_start_choices a, b, c;
    struct fc_status st;
    static const char all[] = "+0 0-15\n";
    if (!read_queue(MESH, all, 10, 7, &session, &a, &st)) return;
    fc_session_close(&session);
    if (!read_queue(MESH, all, 10, 7, &session, &b, &st)) return;
    fc_session_close(&session);
    if (!read_queue(MESH, all, 10, 8, &session, &c, &st)) return;
    fc_session_close(&session);
    CU_ASSERT_FATAL(a.n == 4 && b.n == 4 && c.n == 4);
    CU_ASSERT_STRING_EQUAL(a.candidate[3].policy, "random");
    CU_ASSERT_STRING_EQUAL(a.candidate[3].nodes, b.candidate[3].nodes);
    CU_ASSERT_STRING_NOT_EQUAL(a.candidate[3].nodes, c.candidate[3].nodes);
    CU_ASSERT_STRING_EQUAL(a.candidate[2].nodes, c.candidate[2].nodes);
    fc_queue_free(&a);
    fc_queue_free(&b);
    fc_queue_free(&c);
}

static int apart(uint32_t a, uint32_t b)
{
    return abs((int)(a % 4) - (int)(b % 4)) + abs((int)(a / 4) - (int)(b / 4)) + 2 * (a != b);
}

/* Of all sets of four of the free nodes, none has less than half the sum over pairs; the bound is reached by no case of many. */
static void test_packed(void)
{
    double worst = 1;
    for (uint64_t draw = 0; draw < 24; draw++) {
        uint32_t free_node[16], n_free = 0, set[4], n = 0;
        char text[128] = "+0 ";
        for (uint32_t i = 0; i < 16; i++)
            if (fc_random_below(3, draw, i, 16) < 9) {
                snprintf(text + strlen(text), 8, "%s%u", n_free ? "," : "", i);
                free_node[n_free++] = i;
            }
        struct fc_session session;
        struct fc_start_choices queue;
        struct fc_status st;
        if (n_free < 5) continue;
        if (!read_queue(MESH, text, 8, 1, &session, &queue, &st)) continue;
        fc_session_close(&session);
        const char *packed = NULL;
        for (size_t i = 0; i < queue.n; i++)
            if (!packed || !strcmp(queue.candidate[i].policy, "packed")) packed = queue.candidate[i].nodes;
        for (const char *at = packed; n < 4;) { /* "0-1,4" */
            char *end;
            uint32_t first = (uint32_t)strtoul(at, &end, 10),
                     last = *end == '-' ? (uint32_t)strtoul(end + 1, &end, 10) : first;
            while (first <= last && n < 4) set[n++] = first++;
            at = *end ? end + 1 : end;
        }
        int ours = 0, least = 1 << 20;
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < i; k++) ours += apart(set[i], set[k]);
        for (uint32_t mask = 0; mask < 1u << n_free; mask++) {
            uint32_t of[4], m = 0;
            int sum = 0;
            if (__builtin_popcount(mask) != 4) continue;
            for (uint32_t i = 0; i < n_free; i++)
                if (mask >> i & 1) of[m++] = free_node[i];
            for (int i = 0; i < 4; i++)
                for (int k = 0; k < i; k++) sum += apart(of[i], of[k]);
            if (sum < least) least = sum;
        }
        CU_ASSERT(ours <= 2 * least);
        worst = fmax(worst, (double)ours / least);
        fc_queue_free(&queue);
    }
    CU_ASSERT(worst < 1.3);
}

static void test_choice(void)
{
    struct fc_queue_candidate at[] = {{0, "", "", ""}, {0, "", "", ""}, {600, "", "", ""}, {900, "", "", ""}};
    struct fc_start_choices queue = {.candidate = at, .n = 4};
    double run_s[] = {3000, 2900, 2000, 1700}, error[] = {10, 10, 10, 10};
    struct fc_queue_choice c = fc_queue_choose(&queue, run_s, error);
    CU_ASSERT(c.best == 2 && c.now == 1 && c.gain_s == 300 && fc_near(c.error_s, 290, 1e-12) &&
              c.wait); /* equal ends: the earlier */
    error[1] = 11;
    c = fc_queue_choose(&queue, run_s, error);
    CU_ASSERT(c.best == 2 && fc_near(c.error_s, 319, 1e-12) && !c.wait);
    error[1] = NAN;
    c = fc_queue_choose(&queue, run_s, error);
    CU_ASSERT(fc_near(c.error_s, 725, 1e-12) && !c.wait);
    run_s[0] = 2600;
    error[0] = 0;
    c = fc_queue_choose(&queue, run_s, error);
    CU_ASSERT(c.best == 0 && c.now == 0 && c.gain_s == 0 && !c.wait);
    run_s[0] = run_s[2] = NAN; /* it cannot run there */
    c = fc_queue_choose(&queue, run_s, error);
    CU_ASSERT(c.best == 3 && c.now == 1 && c.gain_s == 300);
    run_s[1] = NAN;
    c = fc_queue_choose(&queue, run_s, error);
    CU_ASSERT(c.best == 3 && c.now == 3 && c.gain_s == 0 && !c.wait);
    run_s[0] = 2600;
    queue.n = 1;
    c = fc_queue_choose(&queue, run_s, error);
    CU_ASSERT(c.best == 0 && c.now == 0 && !c.wait);
}

/* Without its first router: lists still go by the numbers of the whole machine. */
static void test_lost(void)
{
    static const char text[] = "+0 5-8\n", gone[] = "+0 1\n+9 0-3\n";
    char machine[64], file[64], second[64];
    struct fc_session left, whole;
    struct fc_start_choices queue = {0}, none = {0};
    struct fc_arena arena = {0};
    struct fc_status st = {0}, why = {0}, other = {0};
    uint32_t *node;
    size_t n;
    if (!fc_test_file(machine, ".yaml", MESH, strlen(MESH)) || !fc_test_file(file, ".txt", text, strlen(text)) ||
        !fc_test_file(second, ".txt", gone, strlen(gone)))
        return;
    struct fc_question q = {.machine = machine, .seed = 1, .threads = 1, .without = "(0,0)"};
    if (!fc_session_open(&q, machine, &left, &st)) {
        CU_ASSERT(left.net.n_nodes == 15);
        CU_ASSERT(!fc_session_read_nodes(&q, &left, "15,b08", &arena, &node, &n, &st) && n == 2 && node[0] == 14 &&
                  node[1] == 3);
        CU_ASSERT(fc_session_read_nodes(&q, &left, "3,0", &arena, &node, &n, &why) == FC_INPUT &&
                  fc_says(&why, FC_INPUT, "node 0 (a0) is gone"));
        if (!fc_session_open_whole(&q, machine, &whole, &st)) {
            if (!fc_queue_read(&q, &whole, left.now, 8, file, &queue, &st))
                has(&queue, 0, 0, "listed", "5-8", "b[09-11],login");
            CU_ASSERT(fc_queue_read(&q, &whole, left.now, 8, second, &none, &other) == FC_INPUT &&
                      fc_says(&other, FC_INPUT, ":2: node 0 (a0) is gone"));
            fc_session_close(&whole);
        }
        fc_session_close(&left);
    }
    CU_ASSERT(!st.code);
    fc_queue_free(&queue);
    fc_queue_free(&none);
    fc_arena_free(&arena);
    unlink(machine);
    unlink(file);
    unlink(second);
}

static void test_refusals(void)
{
    static const struct {
        const char *text, *what;
    } wrong[] = {
        {"", "0 nodes are ever free, and the job takes 2"},
        {"+0 1\n", "1 nodes are ever free, and the job takes 2"},
        {"# x\n0 1-3\n", ":2: no +MINUTES (expected +MINUTES and nodes"},
        {"+ 1-3\n", ":1: no +MINUTES"},
        {"+-1 1-3\n", ":1: no +MINUTES"},
        {"+nan 1-3\n", ":1: no +MINUTES"},
        {"+1h 1-3\n", ":1: no +MINUTES"},
        {"+1e9 1-3\n", ":1: no +MINUTES"},
        {"+0x10 1-3\n", ":1: no +MINUTES"},
        {"+1000000000 1-3\n", ":1: more than 10000000 minutes"},
        {"+0\n", ":1: no nodes"},
        {"+0 # 1-3\n", ":1: no nodes"},
        {"+0 @list\n", ":1: nodes of another file"},
        {"+0 /dev/null\n", ":1: nodes of another file"},
        {"+0 1-3\n+5 9,3\n", ":2: node 3 (a3) is free by line 1 already"},
        {"+0 1,1\n", ":1:"},
        {"+0 16\n", ":1: "},
        {"+0 z1\n", ":1: host 'z1'"},
        {"+0 a[1\n", ":1: "},
    };
    struct fc_session session;
    struct fc_start_choices queue;
    struct fc_status st;
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        CU_ASSERT(!read_queue(MESH, wrong[i].text, 3, 1, &session, &queue, &st));
        CU_ASSERT(fc_says(&st, FC_INPUT, wrong[i].what));
        fc_queue_free(&queue);
    }
    char *text = calloc(66, 20);
    for (int i = 0; i < 65; i++) sprintf(text + strlen(text), "+%d %d\n", i, i % 16);
    CU_ASSERT(!read_queue(MESH, text, 1, 1, &session, &queue, &st));
    CU_ASSERT(fc_says(&st, FC_INPUT, ":17: node 0 (a0) is free by line 1 already"));
    fc_queue_free(&queue);
    free(text);
    CU_ASSERT(!read_queue(
        "name: k\nnetwork: {family: mesh, dims: [4]}\nlinks: {mesh: {bandwidth: 1 GB/s}}\nnode: [{hosts: 0-1, "
        "cores: 2}, {hosts: 2-3, cores: 4}]\n",
        "+0 0-3\n", 3, 1, &session, &queue, &st));
    CU_ASSERT(fc_says(&st, FC_INPUT, "--queue is for machines whose nodes are all alike"));
    fc_queue_free(&queue);
}

int suite_queue(void)
{
    static const CU_TestInfo tests[] = {
        {"sets of nodes by policy", test_sets},
        {"drawn by the seed", test_random},
        {"packed against all sets", test_packed},
        {"wait or start", test_choice},
        {"of what is left", test_lost},
        {"what is refused", test_refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("queue", tests);
}
