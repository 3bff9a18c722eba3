/* test_collective_flow.c - what each member holds after every round, for every algorithm and 1 to 17, 32 and
 * 33 members: contributions are combined exactly once, blocks reach who needs them exactly once.
 *
 * Blocks of 2^i bytes: the bytes of a message tell which blocks it carries, and blocks that its sender does
 * not hold are an error. A vector carries all that its sender has combined: it must be new to the receiver,
 * or the result that replaces a part of it. */
#include "solvers/collective/collective.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <string.h>

enum { MOST = 33 };
typedef uint64_t set; /* of members */

struct world {
    const struct fc_collective_algorithm *a;
    uint32_t n, root;
    struct fc_arena arena;
    struct fc_message *message;
    uint64_t n_messages;
    set has[MOST][MOST]; /* contributions of member m to block b (vectors: block 0) */
};
static struct world w; /* one at a time */

static set all(void)
{
    return (UINT64_C(1) << w.n) - 1;
}

static void make(const struct fc_collective_algorithm *a, uint32_t n, uint32_t root, double bytes, const double *list)
{
    struct fc_status st = {0};
    fc_arena_free(&w.arena);
    memset(&w, 0, sizeof w);
    w.a = a;
    w.n = n;
    w.root = root;
    fc_collective_build(a, n, root, bytes, list, &w.arena, &w.message, &w.n_messages, &st);
    CU_ASSERT_EQUAL_FATAL(st.code, FC_OK);
}

/* Runs all rounds: `carry` tells the effect of a message, given what its sender had before the round. */
static bool play(bool (*carry)(const struct fc_message *m, set before[MOST][MOST]))
{
    static set before[MOST][MOST];
    for (uint64_t i = 0, end; i < w.n_messages; i = end) {
        memcpy(before, w.has, sizeof before);
        for (end = i; end < w.n_messages && w.message[end].round == w.message[i].round; end++) {
            const struct fc_message *m = &w.message[end];
            if (m->from >= w.n || m->to >= w.n || m->from == m->to || !carry(m, before)) return false;
        }
        if (end < w.n_messages && w.message[end].round < w.message[i].round) return false;
    }
    return true;
}

/* ---- blocks: gather, scatter, allgather ---- */

static bool carry_blocks(const struct fc_message *m, set before[MOST][MOST])
{
    set blocks = (set)m->bytes;
    if ((double)blocks != m->bytes || (blocks & ~before[m->from][0])) return false;
    if (blocks & w.has[m->to][0]) return false; /* twice */
    w.has[m->to][0] |= blocks;
    return true;
}
static bool moves_blocks(void)
{
    for (uint32_t r = 0; r < w.n; r++) w.has[r][0] = UINT64_C(1) << r;
    if (w.a->op == FC_OP_SCATTER)
        for (uint32_t r = 0; r < w.n; r++) w.has[r][0] = r == w.root ? all() : 0;
    if (!play(carry_blocks)) return false;
    for (uint32_t r = 0; r < w.n; r++) {
        bool whole = w.a->op == FC_OP_ALLGATHER || (w.a->op == FC_OP_GATHER && r == w.root);
        set need = whole ? all() : UINT64_C(1) << r;
        if ((w.has[r][0] & need) != need) return false;
    }
    return true;
}

/* The bcast of all blocks sends again what a member gave to the gather. */
static bool gathers_then_broadcasts(void)
{
    uint64_t up = w.n - 1, whole = w.n_messages;
    for (uint64_t i = 0; i < whole; i++) {
        bool down = i >= up;
        if (down && (set)w.message[i].bytes != all()) return false;
    }
    w.n_messages = up;
    for (uint32_t r = 0; r < w.n; r++) w.has[r][0] = UINT64_C(1) << r;
    if (!play(carry_blocks) || w.has[0][0] != all()) return false;
    set reached = 1;
    for (uint64_t i = up; i < whole; i++) {
        if (!(reached >> w.message[i].from & 1) || (reached >> w.message[i].to & 1)) return false;
        reached |= UINT64_C(1) << w.message[i].to;
    }
    return reached == all();
}

/* ---- combining: reduce_scatter of blocks, reductions of vectors ---- */

static bool combine(set *into, set part)
{
    bool good = !(*into & part) || (*into & ~part) == 0;
    *into |= part;
    return good;
}
static bool carry_reduced(const struct fc_message *m, set before[MOST][MOST])
{
    set blocks = (set)m->bytes;
    if ((double)blocks != m->bytes || (blocks & ~all())) return false;
    for (uint32_t b = 0; b < w.n; b++)
        if ((blocks >> b & 1) && !combine(&w.has[m->to][b], before[m->from][b])) return false;
    return true;
}
/* Doubling of any number: over the longest distance so far, all that the sender has; over a shorter one, what it got last. */
static set came[MOST][MOST];
static bool carry_handed(const struct fc_message *m, set before[MOST][MOST])
{
    static uint32_t longest;
    uint32_t distance = m->from ^ m->to;
    set blocks = (set)m->bytes;
    if (m->round == 0) longest = 0;
    longest = distance > longest ? distance : longest;
    if ((double)blocks != m->bytes || (blocks & ~all())) return false;
    for (uint32_t b = 0; b < w.n; b++) {
        if (!(blocks >> b & 1)) continue;
        set part = distance == longest ? before[m->from][b] : came[m->from][b];
        if (!part || (w.has[m->to][b] & part)) return false;
        w.has[m->to][b] |= part;
        came[m->to][b] = part;
    }
    return true;
}

static bool reduces_blocks(void)
{
    for (uint32_t r = 0; r < w.n; r++)
        for (uint32_t b = 0; b < w.n; b++) w.has[r][b] = UINT64_C(1) << r;
    memset(came, 0, sizeof came);
    bool hands_on = !strcmp(w.a->name, "doubling");
    if (!play(hands_on ? carry_handed : carry_reduced)) return false;
    for (uint32_t r = 0; r < w.n; r++)
        if (w.has[r][r] != all()) return false;
    return true;
}

static bool carry_vector(const struct fc_message *m, set before[MOST][MOST])
{
    return combine(&w.has[m->to][0], before[m->from][0]);
}
static bool reduces_vectors(void)
{
    for (uint32_t r = 0; r < w.n; r++) w.has[r][0] = UINT64_C(1) << r;
    if (!play(carry_vector)) return false;
    for (uint32_t r = 0; r < w.n; r++)
        if ((w.a->op == FC_OP_ALLREDUCE || r == w.root) && w.has[r][0] != all()) return false;
    return true;
}

/* Of the vector in n parts, as the ring allreduce sends them. */
static bool carry_part(const struct fc_message *m, set before[MOST][MOST])
{
    uint32_t part = (m->from + 2 * w.n - m->round % (2 * w.n)) % w.n;
    return combine(&w.has[m->to][part], before[m->from][part]);
}
static bool rings(void)
{
    for (uint32_t r = 0; r < w.n; r++)
        for (uint32_t b = 0; b < w.n; b++) w.has[r][b] = UINT64_C(1) << r;
    if (!play(carry_part)) return false;
    for (uint32_t r = 0; r < w.n; r++)
        for (uint32_t b = 0; b < w.n; b++)
            if (w.has[r][b] != all()) return false;
    return true;
}

/* Scan: [0] the sum that is sent on, [1] the prefix. */
static bool carry_prefix(const struct fc_message *m, set before[MOST][MOST])
{
    if (w.has[m->to][0] & before[m->from][0]) return false;
    w.has[m->to][0] |= before[m->from][0];
    if (m->from < m->to) w.has[m->to][1] |= before[m->from][0];
    return true;
}
static bool scans(void)
{
    for (uint32_t r = 0; r < w.n; r++) w.has[r][0] = w.has[r][1] = UINT64_C(1) << r;
    if (!play(carry_prefix)) return false;
    for (uint32_t r = 0; r < w.n; r++)
        if (w.has[r][1] != (UINT64_C(2) << r) - 1) return false;
    return true;
}

/* ---- who knows of whom: barriers, broadcasts, and what has no blocks to tell ---- */

static bool carry_all(const struct fc_message *m, set before[MOST][MOST])
{
    w.has[m->to][0] |= before[m->from][0];
    return true;
}
static bool reaches(void)
{
    for (uint32_t r = 0; r < w.n; r++) w.has[r][0] = UINT64_C(1) << r;
    if (!play(carry_all)) return false;
    for (uint32_t r = 0; r < w.n; r++) {
        set need = w.a->op == FC_OP_BCAST ? UINT64_C(1) << w.root : w.a->op == FC_OP_REDUCE && r != w.root ? 0 : all();
        if ((w.has[r][0] & need) != need) return false;
    }
    return true;
}

/* Trees: every member but the root gets every byte once, whatever the segments. */
static bool broadcasts(double bytes)
{
    if (!reaches()) return false;
    for (uint32_t r = 0; r < w.n; r++) {
        double got = 0;
        for (uint64_t i = 0; i < w.n_messages; i++) got += w.message[i].to == r ? w.message[i].bytes : 0;
        if (!strncmp(w.a->name, "scatter", 7) ? got < bytes * (1 - 1.0 / w.n) - 1e-6 && r != w.root
                                              : fabs(got - (r == w.root ? 0 : bytes)) > 1e-6)
            return false;
    }
    return true;
}

/* The halves of a split vector, bits 0 and 1: the root's second child gets the other half, and so does the last member
 * from the root in the end. */
static bool carry_halves(const struct fc_message *m, set before[MOST][MOST])
{
    set part = before[m->from][0];
    if (m->from == w.root) part = m->to == (w.root + 1) % w.n && m->round == 0 ? 1 : 2;
    if (m->bytes != 50000 || (part != 1 && part != 2) || (w.has[m->to][0] & part)) return false;
    w.has[m->to][0] |= part;
    return true;
}
static bool splits(void)
{
    w.has[w.root][0] = 3;
    if (!play(carry_halves)) return false;
    for (uint32_t r = 0; r < w.n; r++)
        if (w.has[r][0] != 3) return false;
    return true;
}

/* Segments go up one after the other: all that a member has goes to its parent. */
static bool reduces_segments(const struct fc_collective_algorithm *a, uint32_t n, uint32_t root)
{
    make(a, n, root, 20000, NULL);
    uint64_t edges = w.n_messages;
    if (!reduces_vectors() || edges != n - 1) return false;
    make(a, n, root, 100000, NULL); /* four of them */
    for (uint32_t r = 0; r < n; r++) {
        double sent = 0;
        for (uint64_t i = 0; i < w.n_messages; i++) sent += w.message[i].from == r ? w.message[i].bytes : 0;
        if (sent != (r == root ? 0 : 100000)) return false;
    }
    return w.n_messages == 4 * edges && reaches();
}

/* ---- alltoall: Bruck's items go on by each bit of their distance ---- */

static bool brucks_of_radix(uint32_t k)
{
    uint64_t at = 0;
    for (uint32_t d = 1, round = 0; d < w.n; d *= k, round++)
        for (uint32_t m = 0; m < w.n; m++)
            for (uint32_t j = 1; j < k && j * d < w.n; j++, at++) {
                uint32_t count = 0;
                for (uint32_t distance = 1; distance < w.n; distance++) count += distance / d % k == j;
                const struct fc_message *x = &w.message[at];
                if (at == w.n_messages || x->from != m || x->to != (m + j * d) % w.n || x->round != round) return false;
                if (x->bytes != 10.0 * count || x->work != FC_WORK_PACKS) return false;
            }
    return at == w.n_messages;
}
static bool brucks(void)
{
    for (uint64_t i = 0; i < w.n_messages; i++) {
        const struct fc_message *m = &w.message[i];
        uint32_t d = UINT32_C(1) << m->round, count = 0;
        for (uint32_t distance = 1; distance < w.n; distance++) count += (distance & d) != 0;
        if (m->to != (m->from + d) % w.n || m->bytes != 10.0 * count) return false;
    }
    return w.n_messages == (uint64_t)w.n * fc_ceil_log2(w.n);
}
static bool delivers(const double *matrix)
{
    for (uint64_t i = 0; i < w.n_messages; i++) {
        const struct fc_message *m = &w.message[i];
        if (m->bytes != matrix[m->from * w.n + m->to] || w.has[m->from][m->to]++) return false;
    }
    for (uint32_t r = 0; r < w.n; r++)
        for (uint32_t d = 0; d < w.n; d++)
            if (w.has[r][d] != (r != d)) return false;
    return true;
}

static bool good(const struct fc_collective_algorithm *a, uint32_t n, uint32_t root)
{
    double list[MOST], matrix[MOST * MOST];
    for (uint32_t i = 0; i < n; i++) list[i] = ldexp(1, (int)i);
    for (uint32_t i = 0; i < n * n; i++) matrix[i] = 100 + i;
    switch (a->op) {
    case FC_OP_GATHER:
    case FC_OP_SCATTER:
    case FC_OP_ALLGATHER:
        make(a, n, root, 0, list);
        return strcmp(a->name, "gather+bcast") || n == 1 ? moves_blocks() : gathers_then_broadcasts();
    case FC_OP_REDUCE_SCATTER: make(a, n, 0, 0, list); return reduces_blocks();
    case FC_OP_ALLTOALL:
        for (uint32_t i = 0; i < n * n; i++) matrix[i] = 10;
        make(a, n, 0, 10, NULL);
        if (!strcmp(a->name + 1, "-bruck")) return brucks_of_radix((uint32_t)(a->name[0] - '0'));
        return !strcmp(a->name, "bruck") ? brucks() : delivers(matrix);
    case FC_OP_ALLTOALLV: make(a, n, 0, 0, matrix); return delivers(matrix);
    case FC_OP_BCAST:
        make(a, n, root, 100000, NULL);
        return broadcasts(100000) &&
               (strcmp(a->name, "split-binary") || n == 1 || (make(a, n, root, 100000, NULL), splits()));
    case FC_OP_SCAN: make(a, n, 0, 8, NULL); return scans();
    case FC_OP_BARRIER: make(a, n, 0, 8, NULL); return reaches();
    default:
        make(a, n, a->op == FC_OP_ALLREDUCE ? 0 : root, 100000, NULL);
        if (!strncmp(a->name, "ring", 4)) return rings();
        if (a->op == FC_OP_REDUCE && n > 1 && (!strcmp(a->name, "pipeline") || strstr(a->name, "-segments")))
            return reduces_segments(a, n, root);
        bool parts = !strncmp(a->name, "rabenseifner", 12) || !strcmp(a->name, "allgather+reduce");
        return parts ? reaches() : reduces_vectors();
    }
}

static void every_algorithm(void)
{
    for (const struct fc_collective_algorithm *a = fc_collective_algorithms; a->name; a++)
        for (uint32_t n = 1; n <= MOST; n = n == 17 ? 32 : n + 1)
            for (uint32_t root = 0; root < n; root += 1 + n / 3) {
                struct fc_status st = {0};
                if (fc_collective_fits(a, n, &st)) continue;
                bool right = good(a, n, root);
                if (!right) printf("\n    %s %s, %u members, root %u", fc_op_names[a->op], a->name, n, root);
                CU_ASSERT(right);
            }
    fc_arena_free(&w.arena);
}

static void empty_barriers(void)
{
    for (const struct fc_collective_algorithm *a = fc_collective_algorithms; a->name; a++) {
        if (a->op != FC_OP_BARRIER) continue;
        make(a, 13, 0, 8, NULL);
        for (uint64_t i = 0; i < w.n_messages; i++) CU_ASSERT_EQUAL(w.message[i].bytes, 0);
    }
    fc_arena_free(&w.arena);
}

/* ---- refusals ---- */

static void misfits(void)
{
    struct fc_status power = {0}, even = {0};
    struct fc_message *message = NULL;
    uint64_t n_messages = 0;
    struct fc_arena arena = {0};
    fc_collective_build(fc_collective_named(FC_OP_BCAST, "scatter+doubling"), 12, 0, 8, NULL, &arena, &message,
                        &n_messages, &power);
    fc_collective_build(fc_collective_named(FC_OP_ALLGATHER, "neighbor"), 7, 0, 8, NULL, &arena, &message, &n_messages,
                        &even);
    CU_ASSERT(fc_says(&power, FC_INPUT, "bcast by scatter+doubling needs a power of two as members, not 12"));
    CU_ASSERT(fc_says(&even, FC_INPUT, "allgather by neighbor needs an even number of members, not 7"));
    CU_ASSERT_EQUAL(n_messages, 0);
}

int suite_collective_flow(void)
{
    static const CU_TestInfo tests[] = {
        {"exactly once: 1 to 17, 32, 33 members", every_algorithm},
        {"a barrier carries nothing", empty_barriers},
        {"algorithms that need 2^k or even members", misfits},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("collective flow", tests);
}
