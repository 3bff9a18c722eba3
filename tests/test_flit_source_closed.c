/* test_flit_source_closed.c - sources of finite messages: packet by packet against a list that is expanded
 * here, orders of destinations (chi-square at 6 standard deviations), and one case per refusal. */
#include "tests/flit_source.h"

static void shuffles_are_permutations(void)
{
    static const uint32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 100, 511, 4096, 100003};
    for (size_t k = 0; k < FC_COUNT(sizes); k++) {
        uint32_t n = sizes[k], fixed = 0;
        bool *seen = calloc(n, 1);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t x = fc_flit_shuffled(77 + k, n, i);
            CU_ASSERT_FATAL(x < n && !seen[x]);
            seen[x] = true;
            fixed += x == i;
        }
        free(seen);
        CU_ASSERT(n < 31 || fixed < 12);
    }
    /* Over the keys every place gets every value alike, neighbours too. */
    enum { N = 11, KEYS = 20000 };
    uint64_t place[N][N] = {{0}}, pair[N * N] = {0};
    double share[N], pair_share[N * N];
    for (uint64_t key = 0; key < KEYS; key++)
        for (uint32_t i = 0; i < N; i++) {
            uint32_t x = fc_flit_shuffled(fc_random(1, 2, key), N, i);
            place[i][x]++;
            if (i == 4) pair[x * N + fc_flit_shuffled(fc_random(1, 2, key), N, 5)]++;
        }
    for (int i = 0; i < N; i++) share[i] = 1.0 / N;
    for (int i = 0; i < N * N; i++) pair_share[i] = i / N == i % N ? 0 : 1.0 / N / (N - 1);
    for (int i = 0; i < N; i++) CU_ASSERT(fits(place[i], share, N, KEYS));
    CU_ASSERT(fits(pair, pair_share, N * N, KEYS));
}

/* Packets and flits that every pair of nodes exchanges, by expanding the demand. */
struct expected {
    uint64_t packets[16][16], flits[16][16];
};

static void add_message(struct expected *x, uint32_t src, uint32_t dst, double bytes)
{
    if (src == dst) return;
    do {
        double payload = fmin(bytes, 48);
        uint64_t flits = (uint64_t)ceil((payload + 16) / 8);
        x->packets[src][dst]++;
        x->flits[src][dst] += flits < 2 ? 2 : flits;
        bytes -= payload;
    } while (bytes > 0);
}

static void expand(const struct set *s, const uint32_t *node, struct expected *x)
{
    memset(x, 0, sizeof *x);
    for (size_t i = 0; i < s->demand.n_entries; i++)
        for (int m = 0; m < s->demand.messages[i]; m++)
            add_message(x, node[s->demand.src[i]], node[s->demand.dst[i]], s->demand.bytes[i] / s->demand.messages[i]);
    for (int p = 0; p < s->demand.n_dense; p++)
        for (uint32_t a = 0; a < s->demand.n_tasks; a++)
            for (uint32_t b = 0; b < s->demand.n_tasks; b++) {
                const struct fc_dense *part = &s->demand.dense[p];
                double bytes = part->a[a] * part->b[b];
                for (; a != b && bytes > 0; bytes -= part->message_bytes)
                    add_message(x, node[a], node[b], fmin(bytes, part->message_bytes));
            }
}

/* Every packet of the expanded demand is made exactly once, and the totals are right. */
static void check_closed(struct set *s, const uint32_t *node)
{
    struct expected x, got;
    uint64_t packets = 0, flits = 0;
    CU_ASSERT_EQUAL_FATAL(make(s, node), FC_OK);
    expand(s, s->traffic->closed.node, &x);
    memset(&got, 0, sizeof got);
    for (uint32_t v = 0; v < 16; v++) {
        struct fc_flit_source source;
        uint64_t number = 0;
        for (fc_flit_first(s->traffic, v, &source); source.born != UINT64_MAX; fc_flit_next(s->traffic, v, &source)) {
            CU_ASSERT_EQUAL(source.number, number);
            CU_ASSERT_EQUAL(source.born,
                            (uint64_t)rint((double)number * s->settings.source_gap_cycles * s->flit.ticks_per_cycle));
            got.packets[v][source.dst]++;
            got.flits[v][source.dst] += source.flits;
            number++;
            packets++, flits += source.flits;
        }
        CU_ASSERT_EQUAL(fc_flit_sends(s->traffic, v), number > 0);
    }
    CU_ASSERT_EQUAL(memcmp(&x, &got, sizeof x), 0);
    CU_ASSERT_EQUAL(packets, s->traffic->closed.packets);
    CU_ASSERT_EQUAL(flits, s->traffic->closed.flits);
}

/* All-to-all: in every round each node sends to each other node once, in an order of its own. */
static void all_to_all_in_rounds(void)
{
    struct set s;
    if (!open_set(&s, MACHINE(""), 2)) return;
    dense(&s, 100, 1, 100); /* 48 + 48 + 4 bytes: 8, 8 and 3 flits */
    s.settings.source_gap_cycles = 12.5;
    uint32_t node[16], order[16][15];
    for (uint32_t v = 0; v < 16; v++) node[v] = v;
    check_closed(&s, node);
    CU_ASSERT_EQUAL(s.traffic->closed.packets, 16 * 15 * 3);
    CU_ASSERT_EQUAL(s.traffic->closed.flits, 16 * 15 * 19);
    int alike = 0;
    for (uint32_t v = 0; v < 16; v++) {
        struct fc_flit_source source;
        fc_flit_first(s.traffic, v, &source);
        for (int round = 0; round < 3; round++) {
            uint32_t mask = 0;
            for (int i = 0; i < 15; i++, fc_flit_next(s.traffic, v, &source)) {
                mask |= 1u << source.dst;
                CU_ASSERT_EQUAL(source.flits, round < 2 ? 8 : 3);
                CU_ASSERT_EQUAL(source.tag, FC_NONE);
                if (round == 0) order[v][i] = source.dst;
                CU_ASSERT_EQUAL(source.dst, order[v][i]);
            }
            CU_ASSERT_EQUAL(mask, 0xffff & ~(1u << v));
        }
        for (int i = 0; v && i < 15; i++) alike += order[v][i] == order[v - 1][i];
    }
    CU_ASSERT(alike < 40); /* 15 expected */
    s.settings.in_order = true;
    check_closed(&s, node);
    struct fc_flit_source source;
    fc_flit_first(s.traffic, 2, &source);
    for (uint32_t d = 0; d < 16; d++)
        for (int k = 0; d != 2 && k < 3; k++, fc_flit_next(s.traffic, 2, &source)) CU_ASSERT_EQUAL(source.dst, d);
    CU_ASSERT_EQUAL(source.born, UINT64_MAX);
    close_set(&s);
}

/* Unequal flows, several tasks a node, several parts, messages within a node, whole and random placements. */
static void uneven_messages(void)
{
    struct set s;
    if (!open_set(&s, MACHINE(""), 1)) return;
    s.demand.n_tasks = 32;
    entry(&s, 0, 1, 1000, 1), entry(&s, 0, 5, 0, 3), entry(&s, 0, 9, 96, 2), entry(&s, 0, 31, 500, 7);
    entry(&s, 1, 9, 49, 1), entry(&s, 1, 9, 47.5, 1), entry(&s, 1, 1, 10, 1), entry(&s, 30, 2, 4800, 100);
    struct fc_dense *part = dense(&s, 0, 0, 70), *other = dense(&s, 0, 0, 1000);
    for (uint32_t t = 0; t < 32; t++) {
        part->a[t] = t % 5 * 10;
        part->b[t] = t % 4;
        other->a[t] = t == 3 || t == 20 ? 1 : 0;
        other->b[t] = t < 10 ? 300 * t : 0;
    }
    uint32_t node[32];
    for (s.settings.in_order = false;; s.settings.in_order = true) {
        check_closed(&s, NULL); /* two tasks a node */
        for (uint32_t t = 0; t < 32; t++) node[t] = (uint32_t)fc_random_below(9, 1, t, 16);
        check_closed(&s, node);
        for (uint32_t t = 0; t < 32; t++) node[t] = 15 - t / 8; /* nodes without tasks */
        check_closed(&s, node);
        if (s.settings.in_order) break;
    }
    close_set(&s);
}

static void demand_order(void)
{
    struct set s;
    if (!open_set(&s, MACHINE(""), 1)) return;
    entry(&s, 3, 4, 96, 2), entry(&s, 3, 3, 96, 2), entry(&s, 3, 1, 100, 1), entry(&s, 3, 4, 1, 1);
    s.settings.in_order = true;
    CU_ASSERT_EQUAL_FATAL(make(&s, NULL), FC_OK); /* tasks 2v and 2v+1 on node v: 3 -> 4 is 1 -> 2 */
    static const struct {
        uint32_t dst, flits, tag;
    } want[] = {{2, 8, 0}, {2, 8, 0}, {0, 8, 2}, {0, 8, 2}, {0, 3, 2}, {2, 3, 3}};
    struct fc_flit_source source;
    fc_flit_first(s.traffic, 1, &source);
    for (size_t i = 0; i < FC_COUNT(want); i++, fc_flit_next(s.traffic, 1, &source)) {
        CU_ASSERT_EQUAL(source.dst, want[i].dst);
        CU_ASSERT_EQUAL(source.flits, want[i].flits);
        CU_ASSERT_EQUAL(source.tag, want[i].tag);
    }
    CU_ASSERT_EQUAL(source.born, UINT64_MAX);
    close_set(&s);
}

static void closed_refusals(void)
{
    struct set s;
    if (!open_set(&s, MACHINE(""), 1)) return;
    dense(&s, 100, 1, 100);
    s.settings.load_flits_per_cycle = 0.5;
    CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "load 0.5: traffic of finite messages"));
    s.settings.load_flits_per_cycle = 0;
    s.settings.backlog = true;
    CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "backlog: only open-loop"));
    s.settings.backlog = false;
    s.settings.packet_flits_max = 4;
    CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "packet length: finite messages"));
    s.settings.packet_flits_max = 0;
    s.settings.source_gap_cycles = -1;
    CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "source gap: -1 cycles"));
    s.settings.source_gap_cycles = 0;
    uint32_t node[16] = {0};
    node[7] = 16;
    CU_ASSERT(make(&s, node) == FC_INPUT && fc_says(&s.st, FC_INPUT, "task 7 is placed on node 16"));
    node[7] = 0;
    CU_ASSERT(make(&s, node) == FC_INPUT && fc_says(&s.st, FC_INPUT, "no message between different nodes"));
    s.demand.dense[0].a[3] = 1e13;
    CU_ASSERT(make(&s, NULL) == FC_NO && fc_says(&s.st, FC_NO, "more than 4294967293 packets"));
    s.demand.dense[0].a[3] = 1;
    entry(&s, 0, 1, -5, 1);
    CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "task 0 sends -5 bytes"));
    s.demand.bytes[0] = 5e13;
    s.demand.dst[0] = 9;
    CU_ASSERT(make(&s, NULL) == FC_NO && fc_says(&s.st, FC_NO, "task 0 sends more than"));
    s.demand.n_entries = 0;
    entry(&s, 4, 1, 5, 1), entry(&s, 2, 1, 5, 1);
    CU_ASSERT(make(&s, NULL) == FC_FAULT && fc_says(&s.st, FC_FAULT, "not in order of senders"));
    s.demand.n_entries = 0;
    s.demand.n_tasks = 33;
    s.demand.n_dense = 0;
    CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "33 tasks do not fit on 16 nodes of 2 cores"));
    close_set(&s);
}
int suite_flit_source_closed(void)
{
    static const CU_TestInfo tests[] = {
        {"shuffles are permutations", shuffles_are_permutations},
        {"all-to-all in rounds", all_to_all_in_rounds},
        {"uneven messages", uneven_messages},
        {"demand order", demand_order},
        {"closed-loop refusals", closed_refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("flit_source_closed", tests);
}
