/* test_collective.c - collective algorithms: every one delivers for 1 to 33 members, volumes against
 * closed forms and against the traffic measured inside Open MPI, the choice by size, refusals. */
#include "solvers/collective/collective.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <string.h>

enum { MOST = 33 };

struct call {
    struct fc_arena arena;
    struct fc_status st;
    struct fc_message *message;
    uint64_t n;
};

static void free_call(struct call *c)
{
    fc_arena_free(&c->arena);
    memset(c, 0, sizeof *c);
}

static const struct fc_collective_algorithm *algorithm(enum fc_op op, const char *name)
{
    const struct fc_collective_algorithm *a = fc_collective_algorithms;
    while (a->name && !(a->op == op && !strcmp(a->name, name))) a++;
    CU_ASSERT_PTR_NOT_NULL_FATAL(a->name);
    return a;
}

static struct call build(enum fc_op op, const char *name, uint32_t n, uint32_t root, double bytes, const double *list)
{
    struct call c = {0};
    CU_ASSERT_EQUAL_FATAL(
        fc_collective_build(algorithm(op, name), n, root, bytes, list, &c.arena, &c.message, &c.n, &c.st), FC_OK);
    return c;
}

static double sent(const struct call *c, uint32_t from, int64_t to)
{
    double sum = 0;
    for (uint64_t i = 0; i < c->n; i++)
        if (c->message[i].from == from && (to < 0 || c->message[i].to == to)) sum += c->message[i].bytes;
    return sum;
}
static double received(const struct call *c, uint32_t to)
{
    double sum = 0;
    for (uint64_t i = 0; i < c->n; i++)
        if (c->message[i].to == to) sum += c->message[i].bytes;
    return sum;
}
static uint32_t rounds(const struct call *c)
{
    return c->n ? c->message[c->n - 1].round + 1 : 0;
}
static uint32_t ceil_log2(uint32_t n)
{
    uint32_t k = 0;
    while (UINT32_C(1) << k < n) k++;
    return k;
}

static bool fits(const struct fc_collective_algorithm *a, uint32_t n)
{
    struct fc_status st = {0};
    return !fc_collective_fits(a, n, &st);
}

/* ---- every algorithm delivers ---- */

/* What each member knows of the others' contributions after all rounds, when every message carries all
 * that its sender knew at the start of the round. Also: rounds in order, members in range, nobody sends to
 * himself. */
static bool simulate(const struct call *c, uint32_t n, uint64_t *knows)
{
    for (uint32_t r = 0; r < n; r++) knows[r] = UINT64_C(1) << r;
    for (uint64_t i = 0, end; i < c->n; i = end) {
        uint64_t before[MOST];
        memcpy(before, knows, n * sizeof *knows);
        for (end = i; end < c->n && c->message[end].round == c->message[i].round; end++) {
            const struct fc_message *m = &c->message[end];
            if (m->from >= n || m->to >= n || m->from == m->to || !(m->bytes >= 0)) return false;
            knows[m->to] |= before[m->from];
        }
        if (end < c->n && c->message[end].round < c->message[i].round) return false;
    }
    return true;
}

static bool delivers(enum fc_op op, uint32_t n, uint32_t root, const uint64_t *knows)
{
    uint64_t all = (UINT64_C(1) << n) - 1;
    for (uint32_t r = 0; r < n; r++) {
        uint64_t need = all;
        if (op == FC_OP_BCAST || op == FC_OP_SCATTER) need = UINT64_C(1) << root;
        if (op == FC_OP_GATHER || op == FC_OP_REDUCE) need = r == root ? all : 0;
        if (op == FC_OP_SCAN) need = (UINT64_C(2) << r) - 1;
        if ((knows[r] & need) != need) return false;
    }
    return true;
}

static void all_deliver(void)
{
    double matrix[MOST * MOST];
    uint64_t knows[MOST];
    for (int i = 0; i < MOST * MOST; i++) matrix[i] = 100 + i;
    for (const struct fc_collective_algorithm *a = fc_collective_algorithms; a->name; a++)
        for (uint32_t n = 1; n <= MOST; n++)
            for (uint32_t root = 0; root < n; root += 1 + n / 4) {
                if (!fits(a, n)) continue;
                struct call c = build(a->op, a->name, n, root, 65536, a->op == FC_OP_ALLTOALLV ? matrix : NULL);
                bool good = simulate(&c, n, knows) && delivers(a->op, n, root, knows);
                if (!good) printf("\n    %s %s, %u members, root %u", fc_op_names[a->op], a->name, n, root);
                CU_ASSERT(good);
                free_call(&c);
            }
}

/* The one that is chosen delivers too, whatever the size. */
static void chosen_deliver(void)
{
    static const double sizes[] = {1, 300, 3000, 50000, 1e6};
    static const enum fc_op ops[] = {FC_OP_BARRIER,        FC_OP_BCAST,    FC_OP_GATHER, FC_OP_SCATTER,
                                     FC_OP_ALLGATHER,      FC_OP_ALLTOALL, FC_OP_REDUCE, FC_OP_ALLREDUCE,
                                     FC_OP_REDUCE_SCATTER, FC_OP_SCAN};
    uint64_t knows[MOST];
    int wrong = 0;
    for (size_t o = 0; o < FC_COUNT(ops); o++)
        for (size_t s = 0; s < FC_COUNT(sizes); s++)
            for (uint32_t n = 1; n <= MOST; n++) {
                struct call c = {0};
                fc_collective_messages_by(NULL, ops[o], n, n / 2, sizes[s], NULL, &c.arena, &c.message, &c.n, &c.st);
                wrong += c.st.code || !simulate(&c, n, knows) || !delivers(ops[o], n, n / 2, knows);
                free_call(&c);
            }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* ---- volumes ---- */

/* Traffic inside Open MPI 4.1.4 (pml_monitoring), allreduce of 64,000 bytes on 8 ranks. */
static void as_measured(void)
{
    struct call doubling = build(FC_OP_ALLREDUCE, "doubling", 8, 0, 64000, NULL);
    struct call ring = build(FC_OP_ALLREDUCE, "ring", 8, 0, 64000, NULL);
    struct call halving = build(FC_OP_ALLREDUCE, "rabenseifner", 8, 0, 64000, NULL);
    for (uint32_t r = 0; r < 8; r++) {
        CU_ASSERT_EQUAL(sent(&doubling, r, -1), 3 * 64000);
        CU_ASSERT_EQUAL(sent(&ring, r, (r + 1) % 8), 112000);
        CU_ASSERT_EQUAL(sent(&ring, r, -1), 112000);
        CU_ASSERT_EQUAL(sent(&halving, r, r ^ 1), 64000);
        CU_ASSERT_EQUAL(sent(&halving, r, r ^ 2), 32000);
        CU_ASSERT_EQUAL(sent(&halving, r, r ^ 4), 16000);
    }
    CU_ASSERT(doubling.n == 8 * 3 && ring.n == 8 * 14 && halving.n == 8 * 6);
    free_call(&doubling);
    free_call(&ring);
    free_call(&halving);
}

static void allreduce_volumes(void)
{
    for (uint32_t n = 2; n <= MOST; n++) {
        uint32_t power = fc_floor_power_of_two(n), folded = n - power, k = ceil_log2(power);
        struct call doubling = build(FC_OP_ALLREDUCE, "doubling", n, 0, 1000, NULL);
        struct call halving = build(FC_OP_ALLREDUCE, "rabenseifner", n, 0, 1000, NULL);
        struct call ring = build(FC_OP_ALLREDUCE, "ring", n, 0, 1000, NULL);
        double total_doubling = 0, total_halving = 0;
        for (uint32_t r = 0; r < n; r++) {
            total_doubling += sent(&doubling, r, -1);
            total_halving += sent(&halving, r, -1);
            CU_ASSERT_DOUBLE_EQUAL(received(&ring, r), 2000.0 * (n - 1) / n, 1e-9);
        }
        CU_ASSERT_DOUBLE_EQUAL(total_doubling, 1000.0 * (power * k + 2 * folded), 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(total_halving, 2000.0 * (power - 1) + 2000.0 * folded, 1e-6);
        CU_ASSERT_EQUAL(rounds(&doubling), k + (folded ? 2 : 0));
        CU_ASSERT_EQUAL(rounds(&halving), 2 * k + (folded ? 2 : 0));
        CU_ASSERT_EQUAL(rounds(&ring), 2 * (n - 1));
        free_call(&doubling);
        free_call(&halving);
        free_call(&ring);
    }
}

/* Trees: n - 1 messages, ceil(log2 n) rounds; every byte of another member crosses the root's links once. */
static void tree_volumes(void)
{
    for (uint32_t n = 2; n <= MOST; n++) {
        uint32_t root = n / 3, k = ceil_log2(n);
        struct call bcast = build(FC_OP_BCAST, "binomial", n, root, 10, NULL);
        struct call scatter = build(FC_OP_SCATTER, "binomial", n, root, 10, NULL);
        struct call gather = build(FC_OP_GATHER, "binomial", n, root, 10, NULL);
        struct call reduce = build(FC_OP_REDUCE, "binomial", n, root, 10, NULL);
        CU_ASSERT(bcast.n == n - 1 && scatter.n == n - 1 && gather.n == n - 1 && reduce.n == n - 1);
        CU_ASSERT(rounds(&bcast) == k && rounds(&scatter) == k && rounds(&gather) == k && rounds(&reduce) == k);
        CU_ASSERT_EQUAL(sent(&bcast, root, -1), 10.0 * k);
        CU_ASSERT_EQUAL(sent(&scatter, root, -1), 10.0 * (n - 1));
        CU_ASSERT_EQUAL(received(&gather, root), 10.0 * (n - 1));
        for (uint32_t r = 0; r < n; r++) {
            CU_ASSERT_EQUAL(received(&bcast, r), r == root ? 0 : 10);
            CU_ASSERT_EQUAL(received(&scatter, r) - sent(&scatter, r, -1), r == root ? -10.0 * (n - 1) : 10);
            CU_ASSERT_EQUAL(sent(&gather, r, -1) - received(&gather, r), r == root ? -10.0 * (n - 1) : 10);
            CU_ASSERT_EQUAL(sent(&reduce, r, -1), r == root ? 0 : 10);
        }
        free_call(&bcast);
        free_call(&scatter);
        free_call(&gather);
        free_call(&reduce);
    }
}

/* Van de Geijn: scatter of n blocks, then everybody receives what it lacks. Rabenseifner's reduce: halving,
 * then the root gathers. */
static void long_trees(void)
{
    for (uint32_t n = 2; n <= MOST; n++) {
        uint32_t power = fc_floor_power_of_two(n), folded = n - power;
        struct call ring = build(FC_OP_BCAST, "scatter+ring", n, n - 1, 1000, NULL);
        struct call reduce = build(FC_OP_REDUCE, "rabenseifner", n, n - 1, 1000, NULL);
        double scattered = 0, total = 0;
        for (uint64_t i = 0; i < ring.n; i++)
            scattered += ring.message[i].round < ceil_log2(n) ? ring.message[i].bytes : 0;
        for (uint64_t i = 0; i < ring.n; i++) total += ring.message[i].bytes;
        CU_ASSERT_DOUBLE_EQUAL(total - scattered, 1000.0 * (n - 1), 1e-6);
        CU_ASSERT_EQUAL(rounds(&ring), ceil_log2(n) + n - 1);
        total = 0;
        for (uint64_t i = 0; i < reduce.n; i++) total += reduce.message[i].bytes;
        CU_ASSERT_DOUBLE_EQUAL(total, 1000.0 * (folded + power - 1) + 1000.0 * ceil_log2(power) / 2, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(sent(&reduce, n - 1, -1), 1000 * (1 - 1.0 / power), 1e-6);
        free_call(&ring);
        free_call(&reduce);
    }
}

static void gather_all_volumes(void)
{
    static const char *const names[] = {"doubling", "bruck", "ring"};
    double list[MOST], sum;
    for (uint32_t n = 2; n <= MOST; n++)
        for (int a = 0; a < 3; a++) {
            if (a == 0 && fc_floor_power_of_two(n) != n) continue;
            sum = 0;
            for (uint32_t i = 0; i < n; i++) sum += list[i] = 1 + i * i % 7;
            struct call equal = build(FC_OP_ALLGATHER, names[a], n, 0, 10, NULL);
            struct call uneven = build(FC_OP_ALLGATHER, names[a], n, 0, 0, list);
            for (uint32_t r = 0; r < n; r++) {
                CU_ASSERT_EQUAL(received(&equal, r), 10.0 * (n - 1));
                CU_ASSERT_EQUAL(received(&uneven, r), sum - list[r]); /* each foreign block once */
            }
            CU_ASSERT_EQUAL(rounds(&equal), a == 2 ? n - 1 : ceil_log2(n));
            free_call(&equal);
            free_call(&uneven);
        }
}

static void exchange_volumes(void)
{
    double matrix[MOST * MOST];
    for (uint32_t n = 2; n <= MOST; n++) {
        struct call bruck = build(FC_OP_ALLTOALL, "bruck", n, 0, 10, NULL);
        struct call linear = build(FC_OP_ALLTOALL, "linear", n, 0, 10, NULL);
        struct call pairwise = build(FC_OP_ALLTOALL, "pairwise", n, 0, 10, NULL);
        for (uint32_t i = 0; i < n * n; i++) matrix[i] = i % 3;
        struct call uneven = build(FC_OP_ALLTOALLV, "pairwise", n, 0, 0, matrix);
        double bits = 0;
        for (uint32_t i = 1; i < n; i++)
            bits += __builtin_popcount(i); /* offset i is moved once for each of its bits */
        for (uint32_t r = 0; r < n; r++) {
            CU_ASSERT_EQUAL(sent(&bruck, r, -1), 10 * bits);
            for (uint32_t d = 0; d < n; d++) {
                CU_ASSERT_EQUAL(sent(&linear, r, d), r == d ? 0 : 10);
                CU_ASSERT_EQUAL(sent(&pairwise, r, d), r == d ? 0 : 10);
                CU_ASSERT_EQUAL(sent(&uneven, r, d), r == d ? 0 : matrix[r * n + d]);
            }
        }
        CU_ASSERT(rounds(&linear) == 1 && rounds(&bruck) == ceil_log2(n) && rounds(&pairwise) == n - 1);
        for (uint64_t i = 0; i < uneven.n; i++) CU_ASSERT(uneven.message[i].bytes > 0); /* nothing is not sent */
        free_call(&bruck);
        free_call(&linear);
        free_call(&pairwise);
        free_call(&uneven);
    }
}

static void reduce_scatter_volumes(void)
{
    double list[MOST];
    for (uint32_t n = 2; n <= MOST; n++) {
        uint32_t power = fc_floor_power_of_two(n), folded = n - power;
        double sum = 0, total = 0, folded_back = 0;
        for (uint32_t i = 0; i < n; i++) sum += list[i] = 1 + i % 5;
        struct call halving = build(FC_OP_REDUCE_SCATTER, "halving", n, 0, 0, list);
        struct call pairwise = build(FC_OP_REDUCE_SCATTER, "pairwise", n, 0, 0, list);
        for (uint32_t i = 0; i < folded; i++) folded_back += list[2 * i];
        for (uint32_t r = 0; r < n; r++) {
            total += sent(&halving, r, -1);
            CU_ASSERT_EQUAL(received(&pairwise, r), (n - 1) * list[r]);
        }
        /* members left exchange until each holds its own part of every vector: (power - 1) vectors in all */
        CU_ASSERT_DOUBLE_EQUAL(total, folded * sum + (power - 1) * sum + folded_back, 1e-9);
        free_call(&halving);
        free_call(&pairwise);
    }
}

static void scan_volumes(void)
{
    struct call scan = build(FC_OP_SCAN, "doubling", 6, 0, 10, NULL); /* pairs 01 23 45; 02 13; 04 15 */
    CU_ASSERT_EQUAL(scan.n, 2 * (3 + 2 + 2));
    CU_ASSERT_EQUAL(sent(&scan, 3, -1), 20);
    CU_ASSERT_EQUAL(sent(&scan, 5, -1), 20);
    free_call(&scan);
}

/* ---- the choice ---- */

static bool chooses(enum fc_op op, uint32_t n, double total, const char *name)
{
    struct fc_collective_call call = {op, n, total, false};
    const struct fc_collective_algorithm *a = fc_collective_select(NULL, &call);
    if (a && a->op == op && !strcmp(a->name, name)) return true;
    printf("\n    %s, %u members, %g bytes: %s", fc_op_names[op], n, total, a ? a->name : "none");
    return false;
}

static void choices(void)
{
    CU_ASSERT(chooses(FC_OP_BCAST, 64, 12287, "binomial"));
    CU_ASSERT(chooses(FC_OP_BCAST, 7, 1e9, "binomial"));
    CU_ASSERT(chooses(FC_OP_BCAST, 64, 12288, "scatter+doubling"));
    CU_ASSERT(chooses(FC_OP_BCAST, 65, 12288, "scatter+ring"));
    CU_ASSERT(chooses(FC_OP_BCAST, 64, 524288, "scatter+ring"));
    CU_ASSERT(chooses(FC_OP_REDUCE, 64, 2048, "binomial"));
    CU_ASSERT(chooses(FC_OP_REDUCE, 64, 2049, "rabenseifner"));
    CU_ASSERT(chooses(FC_OP_REDUCE, 1024, 4096, "binomial")); /* fewer elements than members */
    CU_ASSERT(chooses(FC_OP_ALLREDUCE, 64, 2048, "doubling"));
    CU_ASSERT(chooses(FC_OP_ALLREDUCE, 64, 1e7, "rabenseifner"));
    CU_ASSERT(chooses(FC_OP_ALLREDUCE, 63, 1e5, "rabenseifner"));
    CU_ASSERT(chooses(FC_OP_ALLREDUCE, 63, 524288, "ring"));
    CU_ASSERT(chooses(FC_OP_ALLGATHER, 64, 524287, "doubling"));
    CU_ASSERT(chooses(FC_OP_ALLGATHER, 64, 524288, "ring"));
    CU_ASSERT(chooses(FC_OP_ALLGATHER, 63, 81919, "bruck"));
    CU_ASSERT(chooses(FC_OP_ALLGATHER, 63, 81920, "ring"));
    CU_ASSERT(chooses(FC_OP_ALLTOALL, 8, 8 * 256, "bruck"));
    CU_ASSERT(chooses(FC_OP_ALLTOALL, 7, 7 * 256, "linear"));
    CU_ASSERT(chooses(FC_OP_ALLTOALL, 8, 8 * 32768, "linear"));
    CU_ASSERT(chooses(FC_OP_ALLTOALL, 8, 8 * 32769, "pairwise"));
    CU_ASSERT(chooses(FC_OP_REDUCE_SCATTER, 9, 524287, "halving"));
    CU_ASSERT(chooses(FC_OP_REDUCE_SCATTER, 9, 524288, "pairwise"));
    CU_ASSERT_PTR_NULL(fc_collective_select(NULL, &(struct fc_collective_call){FC_OP_SEND, 8, 1, false}));
}

static void appends(void)
{
    struct call c = {0};
    CU_ASSERT_EQUAL(fc_collective_messages_by(NULL, FC_OP_BARRIER, 4, 0, 0, NULL, &c.arena, &c.message, &c.n, &c.st),
                    FC_OK);
    CU_ASSERT_EQUAL(c.n, 8);
    CU_ASSERT_EQUAL(fc_collective_messages_by(NULL, FC_OP_BCAST, 4, 3, 7, NULL, &c.arena, &c.message, &c.n, &c.st),
                    FC_OK);
    CU_ASSERT_EQUAL(c.n, 11);
    CU_ASSERT(c.message[0].bytes == 0 && c.message[8].from == 3 && c.message[8].bytes == 7);
    CU_ASSERT_EQUAL(fc_collective_messages_by(NULL, FC_OP_BCAST, 4, 3, 0, NULL, &c.arena, &c.message, &c.n, &c.st),
                    FC_OK);
    CU_ASSERT_EQUAL(fc_collective_messages_by(NULL, FC_OP_ALLTOALL, 1, 0, 9, NULL, &c.arena, &c.message, &c.n, &c.st),
                    FC_OK);
    CU_ASSERT_EQUAL(c.n, 11); /* nothing to move, nobody to talk to */
    free_call(&c);
}

static struct fc_status refused(enum fc_op op, uint32_t n, uint32_t root, double bytes, const double *list)
{
    struct call c = {0};
    fc_collective_messages_by(NULL, op, n, root, bytes, list, &c.arena, &c.message, &c.n, &c.st);
    struct fc_status st = c.st;
    free_call(&c);
    return st;
}

static void refusals(void)
{
    double list[2] = {1, -1};
    struct fc_status root = refused(FC_OP_BCAST, 4, 4, 1, NULL), none = refused(FC_OP_BCAST, 0, 0, 1, NULL);
    struct fc_status op = refused(FC_OP_SEND, 4, 0, 1, NULL), bytes = refused(FC_OP_SCAN, 4, 0, -1, NULL);
    struct fc_status nan = refused(FC_OP_SCAN, 4, 0, NAN, NULL), no_list = refused(FC_OP_ALLTOALLV, 2, 0, 1, NULL);
    struct fc_status bad_list = refused(FC_OP_GATHER, 2, 0, 1, list);
    CU_ASSERT(fc_says(&root, FC_INPUT, "bcast: root 4 is not among the 4 members"));
    CU_ASSERT(fc_says(&none, FC_INPUT, "root 0 is not among the 0 members"));
    CU_ASSERT(fc_says(&op, FC_INPUT, "send is no collective operation"));
    CU_ASSERT(fc_says(&bytes, FC_INPUT, "scan: -1 bytes (expected 0 or more)"));
    CU_ASSERT(fc_says(&nan, FC_INPUT, "expected 0 or more"));
    CU_ASSERT(fc_says(&no_list, FC_INPUT, "bytes from each to each are missing"));
    CU_ASSERT(fc_says(&bad_list, FC_INPUT, "gather: -1 bytes"));
}

int suite_collective(void)
{
    static const CU_TestInfo tests[] = {
        {"every algorithm delivers, 1 to 33 members", all_deliver},
        {"the chosen one delivers", chosen_deliver},
        {"allreduce as measured inside Open MPI", as_measured},
        {"allreduce volumes", allreduce_volumes},
        {"binomial trees", tree_volumes},
        {"long broadcast and reduce", long_trees},
        {"allgather volumes", gather_all_volumes},
        {"alltoall volumes", exchange_volumes},
        {"reduce-scatter volumes", reduce_scatter_volumes},
        {"scan", scan_volumes},
        {"choice by size", choices},
        {"messages are appended", appends},
        {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("collective", tests);
}
