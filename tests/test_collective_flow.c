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

/* ---- step by step ---- */

/* Sends are the messages; every receive is somebody's send. */
static void steps_are_messages(void)
{
    struct fc_schedule s = {.bytes = 24};
    for (const struct fc_collective_algorithm *a = fc_collective_algorithms; a->name; a++)
        for (s.n = 1; s.n <= MOST && a->alike; s.n++) {
            struct fc_status st = {0};
            if (fc_collective_fits(a, s.n, &st) || a->op == FC_OP_ALLTOALLV) continue;
            make(a, s.n, 0, 24, NULL);
            uint64_t at = 0;
            int wrong = 0;
            for (uint32_t round = 0; round < fc_collective_rounds(a, s.n); round++)
                for (uint32_t m = 0; m < s.n; m++)
                    for (uint32_t k = 0; k < fc_collective_n_steps(a, s.n); k++) {
                        struct fc_collective_step x = fc_collective_step(a, &s, m, round, k);
                        if (!x.receives) {
                            const struct fc_message *y = &w.message[at++];
                            wrong += y->from != m || y->to != x.peer;
                            wrong += y->bytes != x.bytes || y->round != round;
                            continue;
                        }
                        uint32_t matches = 0; /* the peer's k-th send of the round */
                        for (uint32_t j = 0; j < fc_collective_n_steps(a, s.n) / 2; j++) {
                            struct fc_collective_step z = fc_collective_step(a, &s, x.peer, round, j);
                            matches += !z.receives && z.peer == m && z.bytes == x.bytes;
                        }
                        wrong += matches != 1;
                    }
            CU_ASSERT_EQUAL(wrong, 0);
            CU_ASSERT_EQUAL(at, w.n_messages);
        }
    fc_arena_free(&w.arena);
}

/* ---- choices ---- */

static bool takes_by(const char *rules, enum fc_op op, uint32_t n, double total, bool uneven, const char *name)
{
    struct fc_collective_choice choice = {.rules = fc_collective_rules_named(rules)};
    struct fc_collective_call call = {op, n, total, uneven};
    const struct fc_collective_algorithm *a = fc_collective_select(&choice, &call);
    if (a && !strcmp(a->name, name)) return true;
    printf("\n    %s: %s, %u members, %g bytes: %s", rules, fc_op_names[op], n, total, a ? a->name : "none");
    return false;
}
static bool takes(enum fc_op op, uint32_t n, double total, bool uneven, const char *name)
{
    return takes_by("openmpi", op, n, total, uneven, name);
}

/* Open MPI 4.1.4's fixed rules on both sides of their limits. */
static void openmpi_choices(void)
{
    CU_ASSERT(takes(FC_OP_BARRIER, 3, 0, false, "doubling") && takes(FC_OP_BARRIER, 4, 0, false, "linear"));
    CU_ASSERT(takes(FC_OP_BARRIER, 8, 0, false, "doubling"));
    CU_ASSERT(takes(FC_OP_BARRIER, 64, 0, false, "dissemination"));
    CU_ASSERT(takes(FC_OP_BARRIER, 256, 0, false, "binomial"));
    CU_ASSERT(takes(FC_OP_BARRIER, 4096, 0, false, "dissemination"));
    CU_ASSERT(takes(FC_OP_BCAST, 7, 8191, false, "binomial-doubling") && takes(FC_OP_BCAST, 7, 8192, false, "linear"));
    CU_ASSERT(takes(FC_OP_BCAST, 7, 1048576, false, "chain"));
    CU_ASSERT(takes(FC_OP_BCAST, 64, 1e9, false, "4-nomial"));
    CU_ASSERT(takes(FC_OP_BCAST, 16, 1048576, false, "scatter+doubling"));
    CU_ASSERT(takes(FC_OP_BCAST, 17, 1048576, false, "scatter+doubling-any"));
    CU_ASSERT(takes(FC_OP_BCAST, 5000, 8192, false, "binary"));
    CU_ASSERT(takes(FC_OP_BCAST, 5000, 8191, false, "4-nomial"));
    CU_ASSERT(takes(FC_OP_GATHER, 4, 4 * 1023, false, "binomial"));
    CU_ASSERT(takes(FC_OP_GATHER, 4, 4096, false, "linear"));
    CU_ASSERT(takes(FC_OP_GATHER, 64, 64 * 1e6, false, "binomial"));
    CU_ASSERT(takes(FC_OP_GATHER, 64, 640, true, "linear"));
    CU_ASSERT(takes(FC_OP_SCATTER, 64, 64 * 511, false, "binomial"));
    CU_ASSERT(takes(FC_OP_SCATTER, 64, 64 * 512, false, "linear"));
    CU_ASSERT(takes(FC_OP_ALLGATHER, 8, 8e6, false, "doubling"));
    CU_ASSERT(takes(FC_OP_ALLGATHER, 9, 9e6, false, "bruck"));
    CU_ASSERT(takes(FC_OP_ALLGATHER, 32, 32 * 1024, false, "neighbor"));
    CU_ASSERT(takes(FC_OP_ALLGATHER, 33, 33 * 1024, false, "ring"));
    CU_ASSERT(takes(FC_OP_ALLGATHER, 32, 32 * 65536, false, "ring"));
    CU_ASSERT(takes(FC_OP_ALLGATHER, 32, 3200, true, "gather+bcast"));
    CU_ASSERT(takes(FC_OP_ALLTOALL, 2, 2 * 32767, false, "shifted"));
    CU_ASSERT(takes(FC_OP_ALLTOALL, 2, 2 * 32768, false, "linear"));
    CU_ASSERT(takes(FC_OP_ALLTOALL, 32, 32 * 511, false, "bruck"));
    CU_ASSERT(takes(FC_OP_ALLTOALL, 32, 32 * 512, false, "linear"));
    CU_ASSERT(takes(FC_OP_ALLTOALL, 64, 64 * 262144, false, "shifted"));
    CU_ASSERT(takes(FC_OP_ALLTOALLV, 63, 0, false, "linear"));
    CU_ASSERT(takes(FC_OP_ALLTOALLV, 64, 0, false, "shifted"));
    CU_ASSERT(takes(FC_OP_REDUCE, 8, 8191, false, "binary"));
    CU_ASSERT(takes(FC_OP_REDUCE, 8, 8192, false, "binomial"));
    CU_ASSERT(takes(FC_OP_REDUCE, 7, 4096, false, "chain") && takes(FC_OP_REDUCE, 3, 7, false, "linear"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 8, 8191, false, "doubling"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 8, 8192, false, "rabenseifner"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 3, 24, false, "doubling"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 3, 4096, false, "ring"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 16, 8, false, "doubling")); /* a ring of one element is none */
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 32, 128, false, "linear"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 32, 256, false, "rabenseifner"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 256, 4095, false, "reduce+bcast"));
    CU_ASSERT(takes(FC_OP_REDUCE_SCATTER, 8, 262143, false, "halving"));
    CU_ASSERT(takes(FC_OP_REDUCE_SCATTER, 8, 262144, false, "ring"));
    CU_ASSERT(takes(FC_OP_REDUCE_SCATTER, 64, 255, false, "reduce+scatter"));
    CU_ASSERT(takes(FC_OP_SCAN, 8, 8, false, "linear"));
}

/* Whatever is chosen can do it. */
static void choices_fit(void)
{
    static const double sizes[] = {1, 7, 63, 100, 300, 1500, 3000, 20000, 50000, 3e5, 9e5, 1e7};
    int wrong = 0;
    for (uint32_t n = 1; n <= 5000; n += n < 70 ? 1 : 61)
        for (size_t b = 0; b < FC_COUNT(sizes); b++)
            for (int op = 0; op < 12 * FC_N_OPS; op++) {
                struct fc_collective_choice choice = {.rules = &fc_collective_rules[op % 6]};
                struct fc_collective_call call = {(enum fc_op)(op / 12), n, sizes[b], op / 6 & 1};
                struct fc_status st = {0};
                const struct fc_collective_algorithm *a = fc_collective_select(&choice, &call);
                bool is = fc_collective_named(call.op, NULL) != NULL;
                wrong += is ? !a || fc_collective_fits(a, n, &st) : a != NULL;
            }
    CU_ASSERT_EQUAL(wrong, 0);
}

static struct fc_status reads(const char *text, struct fc_collective_choice *choice)
{
    struct fc_status st = {0};
    fc_collective_choice_read(text, choice, &st);
    return st;
}

static void reading(void)
{
    struct fc_collective_choice c;
    CU_ASSERT(!reads("mpich", &c).code && !strcmp(c.rules->name, "mpich") && !c.fixed[FC_OP_BCAST]);
    CU_ASSERT(!reads("bcast=chain,openmpi,scan=linear", &c).code && !strcmp(c.rules->name, "openmpi"));
    CU_ASSERT(!strcmp(c.fixed[FC_OP_BCAST]->name, "chain") && c.fixed[FC_OP_SCAN]->op == FC_OP_SCAN);
    struct fc_collective_call call = {FC_OP_BCAST, 8, 8, false};
    CU_ASSERT_PTR_EQUAL(fc_collective_select(&c, &call), c.fixed[FC_OP_BCAST]);
    struct fc_status set_ = reads("", &c), none = reads("mpich,", &c), op = reads("sand=linear", &c);
    struct fc_status send = reads("send=linear", &c), name = reads("scan=ring", &c), no = reads("scan=", &c);
    struct fc_status twice = reads("scan=linear,scan=doubling", &c);
    CU_ASSERT(fc_says(&set_, FC_INPUT,
                      "unknown set '' (known: mpich, mpich4, openmpi, openmpi5, cray-mpich, fjmpi, hardware, or "
                      "OP=ALGORITHM)"));
    CU_ASSERT(fc_says(&none, FC_INPUT, "unknown set ''"));
    CU_ASSERT(fc_says(&op, FC_INPUT, "unknown operation 'sand' (known: barrier, bcast, gather, "));
    CU_ASSERT(fc_says(&send, FC_INPUT, "unknown operation 'send'"));
    CU_ASSERT(fc_says(&name, FC_INPUT, "unknown algorithm 'ring' of scan (known: doubling, linear)"));
    CU_ASSERT(fc_says(&no, FC_INPUT, "unknown algorithm '' of scan"));
    CU_ASSERT(fc_says(&twice, FC_INPUT, "scan is given twice"));
}

/* A library's name has that library's meaning. */
static bool means(enum fc_op op, const char *text, const char *name)
{
    const struct fc_collective_rules *rules;
    const struct fc_collective_algorithm *a = fc_collective_known_as(op, text, strlen(text), &rules);
    const char *found = a ? a->name : rules ? rules->name : "nothing";
    if (!strcmp(found, name)) return true;
    printf("\n    %s of %s: %s", text, fc_op_names[op], found);
    return false;
}
static void aliases(void)
{
    for (const struct fc_collective_alias *a = fc_collective_aliases; a->alias; a++)
        CU_ASSERT(fc_collective_named(a->op, a->name) != NULL && !strchr(a->alias, '_'));
    CU_ASSERT(means(FC_OP_BCAST, "binomial", "binomial") && means(FC_OP_BCAST, "binomial_mpich", "binomial"));
    CU_ASSERT(means(FC_OP_BCAST, "binomial_ompi", "binomial-doubling"));
    CU_ASSERT(means(FC_OP_BCAST, "default-binomial", "binomial-doubling"));
    CU_ASSERT(means(FC_OP_BCAST, "chain", "chain") && means(FC_OP_BCAST, "chain_ompi", "4-chains"));
    CU_ASSERT(means(FC_OP_BCAST, "default-chain", "3-chains") && means(FC_OP_BCAST, "pipeline_ompi", "chain"));
    CU_ASSERT(means(FC_OP_ALLGATHER, "recursive_doubling_ompi", "doubling"));
    CU_ASSERT(means(FC_OP_ALLGATHER, "recursive-doubling_mpich", "doubling-any"));
    CU_ASSERT(means(FC_OP_ALLGATHER, "k_bruck_over", "bruck") && means(FC_OP_ALLGATHER, "sparbit_over", "sparbit"));
    CU_ASSERT(means(FC_OP_ALLREDUCE, "rabenseifner_mpich", "rabenseifner"));
    CU_ASSERT(means(FC_OP_ALLREDUCE, "rabenseifner_over", "rabenseifner-halves"));
    CU_ASSERT(means(FC_OP_ALLTOALL, "pairwise_ompi", "shifted") && means(FC_OP_ALLTOALL, "pairwise", "pairwise"));
    CU_ASSERT(means(FC_OP_REDUCE_SCATTER, "recursive_doubling_mpich", "doubling"));
    CU_ASSERT(means(FC_OP_BCAST, "default_ompi", "openmpi") && means(FC_OP_BCAST, "default-default", "fjmpi"));
    CU_ASSERT(means(FC_OP_BCAST, "non_blocking_mpich", "mpich4") && means(FC_OP_BCAST, "fjmpi", "fjmpi"));
    CU_ASSERT(means(FC_OP_BCAST, "default", "nothing") && means(FC_OP_BCAST, "", "nothing"));
    CU_ASSERT(means(FC_OP_BCAST, "trinaryx3", "nothing") && means(FC_OP_BCAST, "_ompi", "nothing"));
    CU_ASSERT(means(FC_OP_BCAST, "a-name-that-is-longer-than-any-that-is-known-here", "nothing"));
}

/* What a trace's library takes, and the text that says it. */
static void libraries(void)
{
    static const struct {
        const char *recorded, *rules;
    } known[] = {{"Open MPI v4.1.4; 4 ranks on 1 host", "openmpi"},
                 {"Open MPI v5.0.3, package: Debian", "openmpi5"},
                 {"MPICH 4.0.2; 2 ranks", "mpich4"},
                 {"CRAY MPICH version 8.1.29.31 (ANL base 3.4a2)", "cray-mpich"},
                 {"FUJITSU MPI Library 4.0.1", "fjmpi"},
                 {"MPICH 3.3.2", "mpich"}};
    struct fc_collective_choice choice;
    char text[64], few[8];
    for (size_t i = 0; i < FC_COUNT(known); i++)
        CU_ASSERT_STRING_EQUAL(fc_collective_rules_of(known[i].recorded)->name, known[i].rules);
    CU_ASSERT_PTR_NULL(fc_collective_rules_of("Intel MPI 2021"));
    CU_ASSERT_PTR_NULL(fc_collective_rules_of(NULL));
    CU_ASSERT(!reads("openmpi,bcast=pipeline_ompi,scan=default-default", &choice).code);
    fc_collective_choice_text(&choice, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "openmpi,bcast=chain,scan=fjmpi");
    struct fc_collective_choice again;
    CU_ASSERT(!reads(text, &again).code && !memcmp(&again, &choice, sizeof again));
    fc_collective_choice_text(&choice, few, sizeof few);
    CU_ASSERT_STRING_EQUAL(few, "openmpi");
    struct fc_collective_call call = {FC_OP_SCAN, 8, 8, false};
    CU_ASSERT_STRING_EQUAL(fc_collective_select(&choice, &call)->name, "linear"); /* FJMPI's */
}

/* Both sides of the limits that MPICH 4, Cray and FJMPI have of their own. */
static void other_choices(void)
{
    CU_ASSERT(takes_by("mpich4", FC_OP_ALLREDUCE, 8, 8, false, "doubling"));
    CU_ASSERT(takes_by("mpich4", FC_OP_ALLREDUCE, 8, 63, false, "doubling")); /* fewer elements than members */
    CU_ASSERT(takes_by("mpich4", FC_OP_ALLREDUCE, 8, 64, false, "rabenseifner"));
    CU_ASSERT(takes_by("mpich4", FC_OP_ALLREDUCE, 63, 1e6, false, "rabenseifner"));
    CU_ASSERT(takes_by("mpich4", FC_OP_BCAST, 8, 12288, false, "binomial"));
    CU_ASSERT(takes_by("mpich4", FC_OP_BCAST, 8, 524288, false, "scatter+doubling"));
    CU_ASSERT(takes_by("mpich4", FC_OP_BCAST, 8, 524289, false, "scatter+ring"));
    CU_ASSERT(takes_by("mpich4", FC_OP_GATHER, 8, 800, true, "linear"));
    CU_ASSERT(takes_by("mpich4", FC_OP_ALLTOALLV, 33, 800, false, "linear"));
    CU_ASSERT(takes_by("mpich4", FC_OP_ALLTOALLV, 34, 800, false, "scattered"));
    CU_ASSERT(takes_by("mpich4", FC_OP_ALLTOALL, 34, 34 * 257, false, "scattered"));
    CU_ASSERT(takes_by("cray-mpich", FC_OP_BCAST, 64, 1e7, false, "4-nomial"));
    CU_ASSERT(takes_by("cray-mpich", FC_OP_ALLREDUCE, 64, 1e7, false, "rabenseifner"));
    CU_ASSERT(takes_by("fjmpi", FC_OP_ALLGATHER, 8, 49999, false, "doubling"));
    CU_ASSERT(takes_by("fjmpi", FC_OP_ALLGATHER, 8, 50000, false, "neighbor"));
    CU_ASSERT(takes_by("fjmpi", FC_OP_ALLGATHER, 9, 50000, false, "ring"));
    CU_ASSERT(takes_by("fjmpi", FC_OP_ALLREDUCE, 8, 65536, false, "ring"));
    CU_ASSERT(takes_by("fjmpi", FC_OP_REDUCE_SCATTER, 8, 262144, false, "halving"));
    CU_ASSERT(takes_by("fjmpi", FC_OP_REDUCE_SCATTER, 9, 262144, false, "ring"));
    CU_ASSERT(takes(FC_OP_BCAST, 512, 20000, false, "split-binary"));
    CU_ASSERT(takes(FC_OP_REDUCE, 300, 10000, false, "in-order-binary"));
    CU_ASSERT(takes(FC_OP_REDUCE_SCATTER, 32, 4096, false, "butterfly"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 6, 1e6, false, "rabenseifner-halves"));
}

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
        {"steps are the messages", steps_are_messages},
        {"Open MPI's choices at their limits", openmpi_choices},
        {"what is chosen fits", choices_fit},
        {"reading a choice, refusals", reading},
        {"names of libraries", aliases},
        {"a trace's library, a choice as text", libraries},
        {"choices of MPICH 4, Cray MPICH, FJMPI", other_choices},
        {"algorithms that need 2^k or even members", misfits},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("collective flow", tests);
}
