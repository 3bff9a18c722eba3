/* test_flit_source.c - open-loop sources of the flit-level kernel: births against the geometric distribution,
 * destinations and lengths against their weights (chi-square at 6 standard deviations), and one case per
 * refusal. Closed loops: test_flit_source_closed.c. */
#include "tests/flit_source.h"

/* Gaps of node 0 are geometric: chi-square over the first lengths, mean 1/p, variance (1-p)/p^2. */
static void check_gaps(double load, double p)
{
    struct set s;
    if (!open_set(&s, MACHINE(""), 1)) return;
    enum { DRAWS = 200000, CELLS = 40 };
    uint64_t seen[CELLS] = {0};
    double share[CELLS], sum = 0, squares = 0;
    s.demand.open_loop = true;
    s.settings.load_flits_per_cycle = load;
    dense(&s, 1, 1, 1);
    CU_ASSERT_EQUAL(make(&s, NULL), FC_OK);
    struct fc_flit_source source;
    fc_flit_first(s.traffic, 0, &source);
    CU_ASSERT_EQUAL(source.number, 0);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t before = source.born;
        fc_flit_next(s.traffic, 0, &source);
        double gap = (double)(source.born - before);
        CU_ASSERT_FATAL(gap >= 1);
        sum += gap, squares += gap * gap;
        seen[gap < CELLS ? (int)gap - 1 : CELLS - 1]++;
    }
    CU_ASSERT_EQUAL(source.number, DRAWS);
    for (int i = 0; i < CELLS - 1; i++) share[i] = p * pow(1 - p, i);
    share[CELLS - 1] = pow(1 - p, CELLS - 1);
    CU_ASSERT(fits(seen, share, CELLS, DRAWS));
    double mean = sum / DRAWS, variance = squares / DRAWS - mean * mean, q = (1 - p) / p / p;
    CU_ASSERT(fabs(mean - 1 / p) <= 5 * sqrt(q / DRAWS));
    /* var of the sample variance: (mu4 - sigma^4) / n, mu4 of the geometric = q (9 (1-p) + p^2 ) / p^2 */
    CU_ASSERT(fabs(variance - q) <= 5 * sqrt((q * (9 * (1 - p) + p * p) / p / p - q * q) / DRAWS));
    close_set(&s);
}

static void births_are_geometric(void)
{
    check_gaps(0.8, 0.1);
    check_gaps(4, 0.5);
    check_gaps(7.6, 0.95);
}

/* First births over many nodes and seeds: cycle 0 with probability p. */
static void first_birth(void)
{
    struct set s;
    if (!open_set(&s, MACHINE(""), 1)) return;
    uint64_t zero = 0, n = 0;
    s.demand.open_loop = true;
    s.settings.load_flits_per_cycle = 2.4;
    dense(&s, 1, 1, 1);
    for (s.settings.seed = 0; s.settings.seed < 500; s.settings.seed++) {
        CU_ASSERT_EQUAL_FATAL(make(&s, NULL), FC_OK);
        for (uint32_t v = 0; v < 16; v++) {
            struct fc_flit_source source;
            fc_flit_first(s.traffic, v, &source);
            zero += source.born == 0;
            n++;
        }
    }
    CU_ASSERT(fabs((double)zero / (double)n - 0.3) < 5 * sqrt(0.21 / (double)n));
    close_set(&s);
}

static void ticks_and_steps(void)
{
    struct set s;
    if (!open_set(&s, MACHINE(""), 1)) return;
    s.demand.open_loop = true;
    dense(&s, 1, 1, 1);
    static const double per_cycle[] = {1, 0.5, 2.5, 16, 1.0 / 32};
    for (size_t k = 0; k < FC_COUNT(per_cycle); k++) {
        s.flit.ticks_per_cycle = per_cycle[k];
        s.settings.load_flits_per_cycle = 8; /* p = 1: a packet every cycle */
        CU_ASSERT_EQUAL_FATAL(make(&s, NULL), FC_OK);
        struct fc_flit_source source;
        fc_flit_first(s.traffic, 3, &source);
        for (int i = 0; i < 1000; i++, fc_flit_next(s.traffic, 3, &source))
            CU_ASSERT_EQUAL_FATAL(source.born, (uint64_t)rint(i * per_cycle[k]));
    }
    /* More than a packet a cycle: 3 a cycle are trials every quarter cycle with 3/4. */
    s.flit.ticks_per_cycle = 16;
    s.settings.load_flits_per_cycle = 24;
    CU_ASSERT_EQUAL_FATAL(make(&s, NULL), FC_OK);
    struct fc_flit_source source;
    enum { DRAWS = 100000 };
    fc_flit_first(s.traffic, 3, &source);
    uint64_t first = source.born;
    for (int i = 0; i < DRAWS; i++) {
        uint64_t before = source.born;
        fc_flit_next(s.traffic, 3, &source);
        CU_ASSERT_FATAL(source.born > before && source.born % 4 == 0);
    }
    double mean = (double)(source.born - first) / DRAWS / 16;
    CU_ASSERT(fabs(mean - 1.0 / 3) < 5 * sqrt(0.25 / 0.5625 / DRAWS) / 4);
    close_set(&s);
}

/* Rates follow the bytes, mean over all nodes = load; who sends nothing never does. */
static void rates_follow_bytes(void)
{
    struct set s;
    if (!open_set(&s, MACHINE(""), 1)) return;
    s.demand.open_loop = true;
    s.settings.load_flits_per_cycle = 0.5;
    struct fc_dense *part = dense(&s, 0, 1, 1);
    for (uint32_t v = 0; v < 16; v++) part->a[v] = v < 8 ? v : 0;
    part->b[3] = 5;
    CU_ASSERT_EQUAL_FATAL(make(&s, NULL), FC_OK);
    uint64_t flits = 0, end = 400000;
    for (uint32_t v = 0; v < 16; v++) {
        struct fc_flit_source source;
        double packets = 0, expected = 0.5 * 16 * (v < 8 ? v : 0) / 28 / 8 * (double)end;
        for (fc_flit_first(s.traffic, v, &source); source.born < end; fc_flit_next(s.traffic, v, &source)) {
            packets++;
            flits += source.flits;
        }
        CU_ASSERT(fabs(packets - expected) <= 5 * sqrt(expected));
        CU_ASSERT_EQUAL(fc_flit_sends(s.traffic, v), v >= 1 && v < 8);
    }
    CU_ASSERT(fabs((double)flits / 16 / (double)end - 0.5) < 0.01);
    close_set(&s);
}

/* Draws from node `v` against the shares. */
static void check_destinations(struct set *s, uint32_t v, const double *weight)
{
    enum { DRAWS = 100000 };
    uint64_t seen[16] = {0};
    double share[16], sum = 0;
    struct fc_flit_source source;
    for (int d = 0; d < 16; d++) sum += weight[d];
    for (int d = 0; d < 16; d++) share[d] = weight[d] / sum;
    fc_flit_first(s->traffic, v, &source);
    for (int i = 0; i < DRAWS; i++, fc_flit_next(s->traffic, v, &source)) seen[source.dst]++;
    CU_ASSERT(fits(seen, share, 16, DRAWS));
}

static void destinations_follow_weights(void)
{
    struct set s;
    double weight[16];
    if (!open_set(&s, MACHINE(""), 1)) return;
    s.demand.open_loop = true;
    s.settings.load_flits_per_cycle = 0.5;
    struct fc_dense *part = dense(&s, 1, 1, 1);
    for (int d = 0; d < 16; d++) weight[d] = 1; /* the sender included */
    CU_ASSERT_EQUAL_FATAL(make(&s, NULL), FC_OK);
    check_destinations(&s, 2, weight);
    for (int d = 0; d < 16; d++) weight[d] = part->b[d] = d % 3 ? d * d : 0;
    CU_ASSERT_EQUAL_FATAL(make(&s, NULL), FC_OK);
    check_destinations(&s, 7, weight);
    /* Two parts and a sparse row with a repeated destination and the sender itself. */
    struct fc_dense *other = dense(&s, 0.5, 0, 1);
    other->b[1] = 40, other->b[4] = 7;
    entry(&s, 7, 7, 100, 1), entry(&s, 7, 2, 30, 1), entry(&s, 7, 2, 15, 2), entry(&s, 7, 9, 0, 1);
    entry(&s, 9, 0, 1, 1);
    weight[1] += 20, weight[4] += 3.5;
    CU_ASSERT_EQUAL_FATAL(make(&s, NULL), FC_OK);
    check_destinations(&s, 8, weight);
    weight[7] += 100, weight[2] += 45;
    check_destinations(&s, 7, weight);
    /* Rows only: a permutation sends to its one destination. */
    s.demand.n_dense = 0;
    s.demand.n_entries = 0;
    for (uint32_t v = 0; v < 16; v++) entry(&s, v, (v * 5 + 3) % 16, 8, 1);
    CU_ASSERT_EQUAL_FATAL(make(&s, NULL), FC_OK);
    for (uint32_t v = 0; v < 16; v++) {
        memset(weight, 0, sizeof weight);
        weight[(v * 5 + 3) % 16] = 1;
        check_destinations(&s, v, weight);
    }
    close_set(&s);
}

/* The table itself represents its weights exactly, also skewed ones: sum of columns = weight. */
static void alias_table_is_exact(void)
{
    enum { N = 1000 };
    static double weight[N], scaled[N], got[N];
    static struct fc_flit_alias table[N];
    static uint32_t scratch[N];
    for (int kind = 0; kind < 4; kind++) {
        double sum = 0;
        for (uint32_t i = 0; i < N; i++) {
            double u = fc_random_real(3, (uint64_t)kind, i);
            weight[i] = kind == 0 ? 1 : kind == 1 ? u : kind == 2 ? (i % 100 ? 0 : u) : pow(u, 8);
            sum += weight[i];
            got[i] = 0;
        }
        fc_flit_alias_make(weight, N, table, scratch, scaled);
        for (uint32_t i = 0; i < N; i++) {
            double keep = table[i].keep == UINT32_MAX ? 1 : table[i].keep * 0x1p-32;
            got[i] += keep / N;
            got[table[i].alias] += (1 - keep) / N;
        }
        for (uint32_t i = 0; i < N; i++) {
            CU_ASSERT(fabs(got[i] - weight[i] / sum) < 1e-9);
            if (weight[i] == 0) CU_ASSERT_EQUAL(got[i], 0);
        }
    }
}

static void lengths_and_random_bits(void)
{
    struct set s;
    if (!open_set(&s, MACHINE(""), 1)) return;
    enum { DRAWS = 120000 };
    uint64_t seen[9] = {0}, ones[32] = {0}, by_dst[16][2] = {{0}};
    double share[9];
    s.demand.open_loop = true;
    s.settings.load_flits_per_cycle = 1;
    s.settings.packet_flits_min = 3, s.settings.packet_flits_max = 8;
    dense(&s, 1, 1, 1);
    CU_ASSERT_EQUAL_FATAL(make(&s, NULL), FC_OK);
    CU_ASSERT_EQUAL(s.traffic->mean_flits, 5.5);
    struct fc_flit_source source;
    fc_flit_first(s.traffic, 1, &source);
    for (int i = 0; i < DRAWS; i++, fc_flit_next(s.traffic, 1, &source)) {
        CU_ASSERT_FATAL(source.flits < 9);
        seen[source.flits]++;
        for (int b = 0; b < 32; b++) ones[b] += source.random >> b & 1;
        by_dst[source.dst][source.random >> 31]++;
        CU_ASSERT_EQUAL(source.tag, 0);
    }
    for (int l = 0; l < 9; l++) share[l] = l < 3 ? 0 : 1 / 6.0;
    CU_ASSERT(fits(seen, share, 9, DRAWS));
    CU_ASSERT(fabs((double)source.born / DRAWS - 5.5) < 5 * sqrt(5.5 * 4.5 / DRAWS));
    for (int b = 0; b < 32; b++) CU_ASSERT(fabs((double)ones[b] / DRAWS - 0.5) < 5 * 0.5 / sqrt(DRAWS));
    for (int d = 0; d < 16; d++) {
        double n = (double)(by_dst[d][0] + by_dst[d][1]);
        CU_ASSERT(fabs((double)by_dst[d][1] / n - 0.5) < 5 * 0.5 / sqrt(n));
    }
    close_set(&s);
}

static bool same(const struct fc_flit_source *a, const struct fc_flit_source *b)
{
    return a->born == b->born && a->number == b->number && a->dst == b->dst && a->flits == b->flits &&
           a->random == b->random && a->tag == b->tag;
}

/* Packets of a node do not depend on when they are asked for, nor on other nodes; they do depend on the seed.
 */
static void any_order_of_calls(void)
{
    struct set s;
    if (!open_set(&s, MACHINE(""), 1)) return;
    enum { N = 50 };
    uint32_t node[16];
    for (uint32_t v = 0; v < 16; v++) node[v] = v;
    struct fc_flit_source all[16][N], source[16];
    dense(&s, 480, 1, 480);
    for (int kind = 0; kind < 4; kind++) {
        s.demand.open_loop = kind < 2;
        s.settings.load_flits_per_cycle = kind == 0 ? 1 : 0;
        s.settings.backlog = kind == 1;
        s.settings.in_order = kind == 3;
        s.settings.seed = 5;
        CU_ASSERT_EQUAL_FATAL(make(&s, node), FC_OK);
        for (uint32_t v = 0; v < 16; v++) {
            fc_flit_first(s.traffic, v, &all[v][0]);
            for (int i = 1; i < N; i++) all[v][i] = all[v][i - 1], fc_flit_next(s.traffic, v, &all[v][i]);
        }
        CU_ASSERT_EQUAL_FATAL(make(&s, node), FC_OK);
        for (uint32_t v = 0; v < 16; v++) fc_flit_first(s.traffic, 15 - v, &source[15 - v]);
        for (int i = 0; i < N; i++)
            for (uint32_t v = 0; v < 16; v++) {
                uint32_t u = (v * 7 + (uint32_t)i) % 16;
                CU_ASSERT_FATAL(same(&source[u], &all[u][i]));
                fc_flit_next(s.traffic, u, &source[u]);
            }
        int equal = 0;
        s.settings.seed = 6;
        CU_ASSERT_EQUAL_FATAL(make(&s, node), FC_OK);
        for (uint32_t v = 0; v < 16; v++) {
            fc_flit_first(s.traffic, v, &source[v]);
            equal += same(&source[v], &all[v][0]);
        }
        CU_ASSERT(equal < 2);
    }
    close_set(&s);
}

static void backlog_never_ends(void)
{
    struct set s;
    if (!open_set(&s, MACHINE(""), 1)) return;
    struct fc_flit_source source;
    s.demand.open_loop = s.settings.backlog = true;
    dense(&s, 1, 1, 1)->a[4] = 0;
    CU_ASSERT_EQUAL_FATAL(make(&s, NULL), FC_OK);
    fc_flit_first(s.traffic, 0, &source);
    for (int i = 0; i < 1000; i++, fc_flit_next(s.traffic, 0, &source)) {
        CU_ASSERT_EQUAL_FATAL(source.born, 0);
        CU_ASSERT_EQUAL_FATAL(source.number, (uint64_t)i);
    }
    fc_flit_first(s.traffic, 4, &source);
    CU_ASSERT_EQUAL(source.born, UINT64_MAX);
    fc_flit_next(s.traffic, 4, &source);
    CU_ASSERT_EQUAL(source.born, UINT64_MAX);
    close_set(&s);
}

static void open_refusals(void)
{
    struct set s;
    if (!open_set(&s, MACHINE(", injection: {bandwidth: 2 GB/s}"), 2)) return;
    s.demand.open_loop = true;
    struct fc_dense *part = dense(&s, 1, 1, 1);
    static const double wrong[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        s.settings.load_flits_per_cycle = wrong[i];
        CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "expected a positive number of flits"));
    }
    /* 2 GB/s carry a flit of 8 B in 4 cycles of 1 ns. */
    s.settings.load_flits_per_cycle = 0.25;
    CU_ASSERT_EQUAL(make(&s, NULL), FC_OK);
    s.settings.load_flits_per_cycle = 0.26;
    CU_ASSERT(make(&s, NULL) == FC_INPUT &&
              fc_says(&s.st, FC_INPUT, "load 0.26: node 0 would offer 0.26 flits a cycle"));
    CU_ASSERT(fc_says(&s.st, FC_INPUT, "injection links take 0.25"));
    CU_ASSERT(fc_says(&s.st, FC_INPUT, "80%"));
    s.settings.load_flits_per_cycle = 0.2;
    part->a[5] = 2; /* offers 2 * 16/17 of the mean */
    CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "node 5 would offer 0.376471"));
    CU_ASSERT(fc_says(&s.st, FC_INPUT, "at most 0.132812"));
    part->a[5] = 1;
    s.flit.trailer_ticks[s.machine.n_classes - 1] = 64; /* as long again as a packet of 8 flits */
    s.settings.load_flits_per_cycle = 0.13;
    CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "take 0.125"));
    s.settings.load_flits_per_cycle = 1e-13;
    CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "less than a packet in 10^12 cycles"));
    s.settings.load_flits_per_cycle = 0.1;
    s.settings.packet_flits_min = 5, s.settings.packet_flits_max = 4;
    CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "least of 5 flits is above the most of 4"));
    s.settings.packet_flits_min = 0, s.settings.packet_flits_max = 9;
    CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "9 flits are more than the 8"));
    s.settings.packet_flits_min = 9, s.settings.packet_flits_max = 0;
    CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "9 flits are more than the 8"));
    s.settings.packet_flits_min = 0;
    s.settings.backlog = true;
    CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "with a backlog"));
    s.settings.backlog = false;
    for (uint32_t v = 0; v < 16; v++) part->a[v] = 0;
    CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "sends 0 bytes in all"));
    s.demand.n_tasks = 15;
    CU_ASSERT(make(&s, NULL) == FC_INPUT && fc_says(&s.st, FC_INPUT, "has 15 tasks, the network 16 nodes"));
    close_set(&s);
}
int suite_flit_source(void)
{
    static const CU_TestInfo tests[] = {
        {"births are geometric", births_are_geometric},
        {"first birth", first_birth},
        {"ticks and steps", ticks_and_steps},
        {"rates follow bytes", rates_follow_bytes},
        {"destinations follow weights", destinations_follow_weights},
        {"alias table is exact", alias_table_is_exact},
        {"lengths and random bits", lengths_and_random_bits},
        {"any order of calls", any_order_of_calls},
        {"backlog never ends", backlog_never_ends},
        {"open-loop refusals", open_refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("flit_source", tests);
}
