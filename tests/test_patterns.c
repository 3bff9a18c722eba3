/* test_patterns.c - traffic patterns against their definitions: permutations permute, totals and shares have
 * their closed forms, broadcasts reach everybody once and load every link alike; one case a refusal. */
#include "solvers/solvers.h"
#include "tests/patterns_hard.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TORUS(dims, cores)                                                                                             \
    "name: t\nnetwork: {family: torus, dims: " dims "}\nlinks: {torus: {bandwidth: 1 GB/s, latency: 0 s}}\n"           \
    "router: {delay: 1 us, routing: dimension-order}\nnode: {cores: " cores "}\n"
static const char ring7[] = TORUS("[7]", "1"), torus88[] = TORUS("[8, 8]", "2"), torus444[] = TORUS("[4, 4, 4]", "1");
static const char torus888[] = TORUS("[8, 8, 8]", "1"), torus66[] = TORUS("[6, 6]", "1"), line[] = TORUS("[1, 4]", "1");
static const char mesh44[] = "name: m\nnetwork: {family: mesh, dims: [4, 4]}\n"
                             "links: {mesh: {bandwidth: 1 GB/s, latency: 0 s}}\nrouter: {delay: 1 us}\n";
static const char tree[] = "name: f\nnetwork: {family: fat-tree, children: [4, 4], parents: [1, 4]}\n"
                           "links: {up: {bandwidth: 1 GB/s, latency: 0 s}, leaf: {bandwidth: 1 GB/s, latency: 0 s}}\n"
                           "router: {delay: 1 us}\n";
static const char gemini[] = "name: g\nnetwork: {family: torus, dims: [4, 4], nodes_per_router: 2}\n"
                             "links: {torus: {bandwidth: 1 GB/s, latency: 0 s}}\n"
                             "router: {delay: 1 us, routing: dimension-order}\n";

static const char two_level[] =
    "name: p\nnetwork: {family: two-level, supernodes: 4, drawers: 2, nodes_per_drawer: 2, d_ports: 2}\n"
    "links: {ll: {bandwidth: 24 GB/s, latency: 1 ns}, lr: {bandwidth: 5 GB/s, latency: 1 ns}, "
    "d: {bandwidth: 10 GB/s, latency: 1 ns}}\n";
static const char tmesh[] =
    "name: t\nnetwork: {family: tmesh, dims: [3, 2, 4], mesh: [3, 3], bridges: {x-: 0, y-: 2, z-: 4, x+: 1, "
    "y+: 3, z+: 5}}\nlinks: {torus: {bandwidth: 2 GB/s, latency: 1 ns}, mesh: {bandwidth: 25.6 GB/s, "
    "latency: 1 ns}}\n";

/* A machine and a pattern's demand on it. */
struct made {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
};

static bool make(struct made *m, const char *yaml, const char *pattern)
{
    struct fc_status st = {0};
    if (!fc_test_network(yaml, &m->machine, &m->net)) return false;
    if (fc_demand_from_pattern(&m->net, pattern, 1, &m->d, &st) == FC_OK) return true;
    printf("\n    %s: %s\n", pattern, st.message);
    CU_FAIL("the pattern is refused");
    fc_test_close(&m->machine, &m->net);
    return false;
}

static void done(struct made *m)
{
    fc_demand_free(&m->d);
    fc_test_close(&m->machine, &m->net);
}

static bool source_major(const struct fc_demand *d)
{
    for (size_t i = 1; i < d->n_entries; i++)
        if (d->src[i] < d->src[i - 1]) return false;
    return true;
}

/* ---- every pattern on every family: a sound demand, or a refusal with its reason ---- */

enum { N_FAMILIES = 4 };
static const char *const families[N_FAMILIES] = {torus88, tree, two_level, tmesh};
static const struct {
    const char *name, *refused[N_FAMILIES]; /* NULL: makes a demand */
} expected[] = {
    {"uniform", {0}},
    {"alltoall", {0}},
    {"hotregion", {0}},
    {"hotspot", {0}},
    {"neighbor", {0}},
    {"complement", {0}},
    {"permutation", {0}},
    {"random", {0}},
    {"stencil2d", {0}},
    {"stencil3d", {0}},
    {"stencil4d", {0}},
    {"multicast", {0}},
    /* tmesh: 24 chips of 9 cores, 6 of which are bridges: 72 nodes */
    {"bit-reverse", {NULL, NULL, NULL, "pattern bit-reverse: 72 nodes are not a power of two"}},
    {"transpose", {NULL, NULL, NULL, "pattern transpose: 72 nodes have no two equal halves of an address"}},
    {"tornado",
     {NULL, "pattern tornado: a fat-tree network has no rings", "pattern tornado: a two-level network has no rings",
      "pattern tornado: a tmesh network has no rings"}},
    {"line-broadcast",
     {NULL, "a fat-tree network has no line in x", "a two-level network has no line in x",
      "a tmesh network has no line in x"}},
    {"broadcast", {0}},
    {"plane-broadcast", {NULL, "needs a torus with rings", "needs a torus with rings", "needs a torus with rings"}},
    {"group-shift", {NULL, NULL, NULL, "pattern group-shift: a tmesh network has no groups"}},
    {"adversarial", {0}},
    {"blocks", {NULL, NULL, NULL, "nodes: blocks of 16 do not divide the 72 nodes"}},
};

static bool sound(const struct fc_demand *d)
{
    bool good = d->n_tasks > 0 && source_major(d) && fc_demand_bytes(d) > 0;
    for (size_t i = 0; i < d->n_entries; i++)
        good = good && d->src[i] < d->n_tasks && d->dst[i] < d->n_tasks && d->bytes[i] > 0 && d->messages[i] == 1;
    for (int p = 0; p < d->n_dense; p++)
        for (uint32_t t = 0; t < d->n_tasks; t++) good = good && d->dense[p].a[t] >= 0 && d->dense[p].b[t] >= 0;
    return good && (d->n_entries > 0) != (d->n_dense > 0);
}

static void test_every_pattern(void)
{
    size_t n_patterns = 0;
    for (; fc_patterns[n_patterns]; n_patterns++) CU_ASSERT(fc_patterns[n_patterns]->help != NULL);
    CU_ASSERT_EQUAL(n_patterns, FC_COUNT(expected)); /* a new pattern needs its line above */
    for (int f = 0; f < N_FAMILIES; f++) {
        struct fc_machine machine;
        struct fc_network net;
        if (!fc_test_network(families[f], &machine, &net)) continue;
        for (size_t i = 0; i < FC_COUNT(expected); i++) {
            struct fc_demand d;
            struct fc_status st = {0};
            enum fc_code code = fc_demand_from_pattern(&net, expected[i].name, 1, &d, &st);
            if (expected[i].refused[f]) CU_ASSERT(fc_says(&st, FC_INPUT, expected[i].refused[f]));
            if (code && !expected[i].refused[f]) CU_ASSERT(fc_says(&st, FC_OK, "a demand"));
            if (code) continue;
            CU_ASSERT(sound(&d) && !strcmp(d.name, expected[i].name));
            fc_demand_free(&d);
        }
        fc_test_close(&machine, &net);
    }
}

/* ---- permutations ---- */

static void test_permutations(void)
{
    static const char *const names[] = {"complement", "transpose",   "tornado",           "bit-reverse",
                                        "neighbor",   "permutation", "permutation:seed=7"};
    static const char *const machines[] = {torus88, torus444, gemini}; /* 64, 64 and 32 nodes */
    for (size_t k = 0; k < FC_COUNT(machines); k++)
        for (size_t i = 0; i < FC_COUNT(names); i++) {
            struct made m;
            if (!make(&m, machines[k], names[i])) continue;
            uint32_t n = m.net.n_nodes, seen = 0;
            bool *hit = calloc(n, 1);
            CU_ASSERT(m.d.n_tasks == n && m.d.n_entries == n && !m.d.open_loop);
            for (uint32_t s = 0; s < n; s++) {
                CU_ASSERT(m.d.src[s] == s && m.d.dst[s] < n && m.d.bytes[s] == 1048576 && m.d.messages[s] == 1);
                seen += !hit[m.d.dst[s]];
                hit[m.d.dst[s]] = true;
            }
            CU_ASSERT_EQUAL(seen, n);
            free(hit);
            done(&m);
        }
}

/* dst of node s under a pattern. */
static void destinations(const char *yaml, const char *pattern, const uint32_t *s, const uint32_t *d, int n)
{
    struct made m;
    if (!make(&m, yaml, pattern)) return;
    for (int i = 0; i < n; i++) {
        if (m.d.dst[s[i]] != d[i]) printf("\n    %s: %u -> %u, expected %u\n", pattern, s[i], m.d.dst[s[i]], d[i]);
        CU_ASSERT_EQUAL(m.d.dst[s[i]], d[i]);
    }
    done(&m);
}
#define TO(yaml, pattern, s, d) destinations(yaml, pattern, (const uint32_t[])s, (const uint32_t[])d, 4)
#define LIST(...)                                                                                                      \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static void test_definitions(void)
{
    TO(ring7, "tornado", LIST(0, 1, 4, 6), LIST(3, 4, 0, 2));           /* ceil(7/2) - 1 = 3 */
    TO(torus88, "tornado", LIST(0, 7, 8, 63), LIST(27, 26, 35, 18));    /* 3 in x and y */
    TO(torus88, "neighbor", LIST(0, 7, 56, 63), LIST(9, 8, 1, 0));      /* one step in both */
    TO(tree, "neighbor", LIST(0, 3, 14, 15), LIST(1, 4, 15, 0));        /* one digit: the node number */
    TO(torus88, "transpose", LIST(0, 1, 10, 63), LIST(0, 8, 17, 63));   /* (x, y) -> (y, x) */
    TO(torus444, "transpose", LIST(0, 1, 9, 63), LIST(0, 8, 9, 63));    /* 6 bits: halves of 3 */
    TO(gemini, "transpose", LIST(0, 1, 3, 31), LIST(0, 1, 9, 31));      /* the place on the router stays */
    TO(torus88, "bit-reverse", LIST(0, 1, 3, 6), LIST(0, 32, 48, 24));  /* over 6 bits */
    TO(torus88, "complement", LIST(0, 1, 19, 63), LIST(63, 62, 44, 0)); /* (3,2) -> (4,5) */
    TO(torus88, "tornado", LIST(5, 19, 45, 58), LIST(24, 46, 0, 21));   /* (5,0) (3,2) (5,5) (2,7) */
    TO(torus66, "tornado", LIST(0, 4, 5, 35), LIST(14, 12, 13, 7));     /* even: 6/2 - 1 = 2 */
    TO(torus88, "bit-reverse", LIST(4, 11, 37, 62), LIST(8, 52, 41, 31));
    TO(two_level, "bit-reverse", LIST(1, 2, 3, 6), LIST(8, 4, 12, 6)); /* over 4 bits */
    TO(two_level, "transpose", LIST(1, 2, 3, 6), LIST(4, 8, 12, 9));
    TO(torus66, "complement", LIST(0, 1, 6, 35), LIST(35, 34, 29, 0)); /* every coordinate k - 1 - c */
}

static void test_random_permutation(void)
{
    struct made a, b, c;
    if (!make(&a, torus88, "permutation:seed=3") || !make(&b, torus88, "permutation:seed=3,bytes=8") ||
        !make(&c, torus88, "permutation:seed=4"))
        return;
    CU_ASSERT(!memcmp(a.d.dst, b.d.dst, 64 * sizeof *a.d.dst));
    CU_ASSERT(memcmp(a.d.dst, c.d.dst, 64 * sizeof *a.d.dst) != 0);
    CU_ASSERT(b.d.bytes[5] == 8);
    struct fc_status st = {0};
    struct fc_demand other_run; /* the run's seed does not choose the permutation */
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&a.net, "permutation:seed=3", 99, &other_run, &st), FC_OK);
    CU_ASSERT(!memcmp(a.d.dst, other_run.dst, 64 * sizeof *a.d.dst));
    fc_demand_free(&other_run);
    done(&a), done(&b), done(&c);
}

/* Who sends, to whom and how much: by the seed of the pattern alone; sizes have the mean that is asked for. */
static void test_random_graph(void)
{
    struct made a, b, c;
    if (!make(&a, torus888, "random:partners=8,bytes=4KiB") ||
        !make(&b, torus888, "random:share=0.25,sigma=0,bytes=100") ||
        !make(&c, torus888, "random:partners=8,bytes=4KiB,seed=2"))
        return;
    CU_ASSERT_EQUAL_FATAL(a.d.n_entries, 512 * 8);
    CU_ASSERT(memcmp(a.d.dst, c.d.dst, a.d.n_entries * sizeof *a.d.dst) != 0);
    CU_ASSERT(fabs(fc_demand_bytes(&a.d) / (512 * 8 * 4096.0) - 1) < 0.1);
    for (size_t i = 0; i < a.d.n_entries; i++) CU_ASSERT(a.d.src[i] != a.d.dst[i] && a.d.bytes[i] >= 1);
    CU_ASSERT(b.d.n_entries % 5 == 0 && b.d.n_entries > 96 * 5 && b.d.n_entries < 160 * 5);
    CU_ASSERT_EQUAL(fc_demand_bytes(&b.d), 100.0 * (double)b.d.n_entries);
    done(&a), done(&b), done(&c);
}

/* ---- dense patterns: never expanded, totals in closed form ---- */

static void test_dense(void)
{
    static const struct {
        const char *yaml, *pattern;
        double total;
        bool open_loop;
    } cases[] = {
        {torus88, "uniform", 63, true},                 /* N (1 - 1/N) */
        {torus88, "alltoall:bytes=100", 403200, false}, /* N (N-1) bytes */
        {tree, "alltoall:bytes=1KiB", 245760, false},
        {torus888, "hotspot", 130816, false}, /* 511 senders of 256 B */
        {torus888, "hotspot:size=2x2x2", 504 * 8 * 256.0, false},
        {torus888, "hotspot:size=4x4x4,bytes=32", 448 * 64 * 32.0, false},
        {tree, "hotspot:size=2x2", 12 * 4 * 256.0, false},   /* no coordinates: the first 4 nodes */
        {gemini, "hotspot:size=1x1", 30 * 2 * 256.0, false}, /* both nodes of the router */
        {torus444, "hotregion", 63, true},                   /* sum of b is 1: N - sum b */
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct made m;
        if (!make(&m, cases[i].yaml, cases[i].pattern)) continue;
        CU_ASSERT(m.d.n_entries == 0 && m.d.n_dense == 1 && m.d.open_loop == cases[i].open_loop);
        CU_ASSERT(fc_near(fc_demand_bytes(&m.d), cases[i].total, 1e-12));
        done(&m);
    }
}

/* Each node offers 1 byte in all, 1/N of it to itself; a message is the payload of the largest packet. */
static void test_uniform(void)
{
    static const char packets[] =
        "name: t\nnetwork: {family: torus, dims: [6, 6]}\nlinks: {torus: {bandwidth: 1 GB/s, latency: 0 s}}\n"
        "packet: {min: 32 B, max: 256 B, header: 16 B}\n";
    struct made m;
    if (!make(&m, packets, "uniform")) return;
    double sum = 0;
    for (uint32_t t = 0; t < 36; t++) {
        CU_ASSERT(m.d.dense[0].a[t] * m.d.dense[0].b[35 - t] == 1.0 / 36);
        sum += m.d.dense[0].b[t];
    }
    CU_ASSERT(fc_near(sum, 1, 1e-14));
    CU_ASSERT(m.d.dense[0].message_bytes == 240);
    done(&m);
}

/* Messages of a dense part = its bytes / bytes of a message. */
static void test_dense_messages(void)
{
    static const struct {
        const char *yaml, *pattern;
        double messages;
    } cases[] = {
        {torus88, "alltoall:bytes=100", 64 * 63},
        {two_level, "alltoall", 16 * 15},
        {torus888, "hotspot", 511},
        {torus888, "hotspot:size=2x2x2", 504 * 8},
        {torus888, "hotspot:size=2,bytes=1", 510 * 2}, /* dimensions not named have side 1 */
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct made m;
        if (!make(&m, cases[i].yaml, cases[i].pattern)) continue;
        CU_ASSERT(fc_near(fc_demand_bytes(&m.d) / m.d.dense[0].message_bytes, cases[i].messages, 1e-12));
        done(&m);
    }
}

static void test_hot_region(void)
{
    struct made m;
    if (!make(&m, torus888, "hotregion")) return; /* an eighth is 4x4x4; a quarter of the traffic goes there */
    double share = 0, all = 0;
    for (uint32_t t = 0; t < 512; t++) {
        bool inside = t % 8 < 4 && t / 8 % 8 < 4 && t / 64 < 4;
        CU_ASSERT(fc_near(m.d.dense[0].b[t], 0.75 / 512 + (inside ? 0.25 / 64 : 0), 1e-14));
        share += inside ? m.d.dense[0].b[t] : 0;
        all += m.d.dense[0].a[t] * m.d.dense[0].b[t];
    }
    CU_ASSERT(fc_near(share, 0.25 + 0.75 / 8, 1e-13) && fc_near(all, 1, 1e-13));
    done(&m);
    if (!make(&m, torus444, "hotregion:fraction=0.4,region=0.125")) return;
    double sum = 0;
    for (uint32_t t = 0; t < 64; t++) {
        bool inside = t % 4 < 2 && t / 4 % 4 < 2 && t / 16 < 2; /* half of each dimension */
        CU_ASSERT(fc_near(m.d.dense[0].b[t], 0.6 / 64 + (inside ? 0.4 / 8 : 0), 1e-14));
        CU_ASSERT(m.d.dense[0].a[t] == 1);
        sum += m.d.dense[0].b[t];
    }
    CU_ASSERT(fc_near(sum, 1, 1e-14));
    done(&m);
    if (!make(&m, torus88, "hotregion:region=0.125")) return; /* 8 of 64: 4 x 2, the most equal box */
    for (uint32_t t = 0; t < 64; t++) CU_ASSERT((m.d.dense[0].b[t] > 0.02) == (t % 8 < 4 && t / 8 < 2));
    done(&m);
    if (!make(&m, tree, "hotregion:region=0.25,fraction=1")) return;
    for (uint32_t t = 0; t < 16; t++) CU_ASSERT(fc_near(m.d.dense[0].b[t], t < 4 ? 0.25 : 0, 1e-14));
    done(&m);
}

/* ---- broadcasts ---- */

/* What each node receives. */
static void received(const struct fc_demand *d, double *bytes)
{
    memset(bytes, 0, d->n_tasks * sizeof *bytes);
    for (size_t i = 0; i < d->n_entries; i++) bytes[d->dst[i]] += d->bytes[i];
}

static void test_broadcasts(void)
{
    struct made m;
    double bytes[64];
    if (!make(&m, torus88, "line-broadcast:bytes=1000")) return;
    received(&m.d, bytes);
    for (uint32_t t = 0; t < 64; t++) CU_ASSERT(bytes[t] == (t > 0 && t < 8 ? 1000 : 0));
    for (size_t i = 0; i < m.d.n_entries; i++) CU_ASSERT(m.d.bytes[i] == 500);
    CU_ASSERT(source_major(&m.d));
    done(&m);
    if (!make(&m, mesh44, "line-broadcast:bytes=1000")) return; /* one direction only: the whole message a link */
    CU_ASSERT(m.d.n_entries == 3 && m.d.bytes[2] == 1000 && m.d.dst[2] == 3);
    done(&m);
    if (!make(&m, gemini, "plane-broadcast:bytes=1000")) return;
    received(&m.d, bytes);
    for (uint32_t t = 0; t < 32; t++) CU_ASSERT(bytes[t] == (t > 0 ? 1000 : 0));
    done(&m);
}

/* Plane fill: every link of the plane but the four into the root carries a quarter, none carries more. */
static void test_plane_links(void)
{
    struct made m;
    if (!make(&m, torus888, "plane-broadcast:bytes=1000")) return;
    uint32_t node[512], used = 0;
    struct fc_status st = {0};
    struct fc_load load;
    struct fc_load_settings settings = {0};
    for (uint32_t t = 0; t < 512; t++) node[t] = t;
    struct fc_placement placement = {512, node};
    CU_ASSERT_EQUAL_FATAL(fc_load_solve(&m.net, &m.d, &placement, &settings, &load, &st), FC_OK);
    for (uint32_t l = 0; l < m.net.n_links; l++) {
        if (fc_is_node(&m.net, m.net.link_source[l]) || fc_is_node(&m.net, m.net.link_target[l])) continue;
        CU_ASSERT(load.bytes[l] == 0 || load.bytes[l] == 250);
        used += load.bytes[l] > 0;
    }
    CU_ASSERT_EQUAL(used, 4 * 63);
    fc_load_free(&load);
    done(&m);
}

/* ---- stencils ---- */

static void test_stencils(void)
{
    struct made m;
    if (!make(&m, torus88, "stencil2d:grid=5x3,bytes=10/7,order=row-major")) return;
    CU_ASSERT(m.d.n_tasks == 15 && m.d.n_entries == 60 && m.d.n_grid == 2 && m.d.grid[0] == 5 && m.d.grid[1] == 3);
    CU_ASSERT(fc_demand_bytes(&m.d) == 15 * 2 * 17 && source_major(&m.d));
    static const uint32_t of0[] = {12, 3, 2, 1}, of7[] = {4, 10, 6, 8}; /* -y +y -x +x, last dimension fastest */
    CU_ASSERT(!memcmp(m.d.dst, of0, sizeof of0) && !memcmp(m.d.dst + 28, of7, sizeof of7));
    CU_ASSERT(m.d.bytes[0] == 10 && m.d.bytes[2] == 7);
    done(&m);
    if (!make(&m, torus88, "stencil2d:grid=5x3,bytes=10/7,order=column-major")) return;
    CU_ASSERT(m.d.grid[0] == 3 && m.d.grid[1] == 5); /* always slowest first */
    static const uint32_t first[] = {10, 5, 4, 1};
    CU_ASSERT(!memcmp(m.d.dst, first, sizeof first) && m.d.bytes[0] == 7 && m.d.bytes[2] == 10);
    done(&m);
    if (!make(&m, torus88, "stencil4d:grid=2x1x3x2,bytes=1")) return; /* size 2: two messages to one task; 1: none */
    CU_ASSERT(m.d.n_tasks == 12 && m.d.n_entries == 12 * 6 && fc_demand_bytes(&m.d) == 72);
    done(&m);
    if (!make(&m, torus88, "stencil3d")) return; /* 128 cores: 8 x 4 x 4, 1 MiB */
    CU_ASSERT(m.d.n_tasks == 128 && fc_demand_bytes(&m.d) == 128 * 6 * 1048576.0);
    long long sides = m.d.grid[0] + m.d.grid[1] + m.d.grid[2];
    CU_ASSERT_EQUAL(sides, 16);
    done(&m);
}

/* Against the definition, in the user's dimensions: task = sum of c_i * stride_i, the first dimension fastest
 * or the last, `bytes` to c_i - 1 and c_i + 1 of each dimension of more than one task. */
static void stencil_by_definition(const char *pattern, int n, const uint32_t *k, const double *bytes, bool row_major)
{
    struct made m;
    if (!make(&m, torus88, pattern)) return;
    uint32_t tasks = 1, stride[4], degree = 0;
    double of_task = 0;
    for (int i = 0; i < n; i++) {
        int d = row_major ? n - 1 - i : i;
        stride[d] = tasks;
        tasks *= k[d];
        degree += k[d] > 1 ? 2 : 0;
        of_task += k[d] > 1 ? 2 * bytes[d] : 0;
    }
    CU_ASSERT_EQUAL_FATAL(m.d.n_tasks, tasks);
    CU_ASSERT_EQUAL(m.d.n_entries, tasks * degree);
    CU_ASSERT(m.d.n_grid == n && m.d.n_dense == 0 && !m.d.open_loop && source_major(&m.d));
    CU_ASSERT(fc_demand_bytes(&m.d) == tasks * of_task);
    double *matrix = calloc((size_t)tasks * tasks, sizeof *matrix), *messages = calloc(tasks, sizeof *messages);
    for (size_t i = 0; i < m.d.n_entries; i++) {
        matrix[m.d.src[i] * tasks + m.d.dst[i]] += m.d.bytes[i];
        messages[m.d.src[i]] += m.d.messages[i];
    }
    bool symmetric = true, empty = true;
    for (uint32_t r = 0; r < tasks; r++) {
        CU_ASSERT_EQUAL(messages[r], degree);
        for (uint32_t t = 0; t < tasks; t++) symmetric = symmetric && matrix[r * tasks + t] == matrix[t * tasks + r];
    }
    for (uint32_t r = 0; r < tasks; r++)
        for (int d = 0; d < n; d++) {
            uint32_t c = r / stride[d] % k[d], base = r - c * stride[d];
            if (k[d] == 1) continue;
            matrix[r * tasks + base + (c + 1) % k[d] * stride[d]] -= bytes[d];
            matrix[r * tasks + base + (c + k[d] - 1) % k[d] * stride[d]] -= bytes[d];
        }
    for (uint32_t i = 0; i < tasks * tasks; i++) empty = empty && matrix[i] == 0;
    if (!symmetric || !empty) printf("\n    %s\n", pattern);
    CU_ASSERT(symmetric && empty);
    free(matrix), free(messages);
    done(&m);
}
#define STENCIL(text, n, k, bytes, row_major)                                                                          \
    stencil_by_definition(text, n, (const uint32_t[])k, (const double[])bytes, row_major)

static void test_stencil_definition(void)
{
    STENCIL("stencil2d:grid=5x3,bytes=10/7", 2, LIST(5, 3), LIST(10, 7), false);
    STENCIL("stencil2d:grid=5x3,bytes=10/7,order=column-major", 2, LIST(5, 3), LIST(10, 7), false);
    STENCIL("stencil2d:grid=5x3,bytes=10/7,order=row-major", 2, LIST(5, 3), LIST(10, 7), true);
    STENCIL("stencil2d:grid=1x6,bytes=9", 2, LIST(1, 6), LIST(9, 9), false);
    STENCIL("stencil2d:grid=2x2", 2, LIST(2, 2), LIST(65536, 65536), false);
    STENCIL("stencil2d:grid=16x16", 2, LIST(16, 16), LIST(65536, 65536), false); /* 256 tasks on 128 cores */
    STENCIL("stencil3d:grid=4x5x3,bytes=1/2/3", 3, LIST(4, 5, 3), LIST(1, 2, 3), false);
    STENCIL("stencil3d:grid=4x2x3,bytes=1/2/3,order=row-major", 3, LIST(4, 2, 3), LIST(1, 2, 3), true);
    STENCIL("stencil4d:grid=3x4x2x5,bytes=1/2/3/4", 4, LIST(3, 4, 2, 5), LIST(1, 2, 3, 4), false);
    STENCIL("stencil4d:grid=3x1x2x5,bytes=1/2/3/4,order=row-major", 4, LIST(3, 1, 2, 5), LIST(1, 2, 3, 4), true);
    STENCIL("stencil4d:grid=3x3x3x3", 4, LIST(3, 3, 3, 3), LIST(2097152, 2097152, 2097152, 2097152), false);
}
/* ---- multicast ---- */

static void test_multicast(void)
{
    static const uint32_t paper[] = {20, 25, 30, 35, 40, 45, 55, 60, 65, 70, 75, 80, 85}; /* SC'11, section 6.3 */
    struct made m;
    if (!make(&m, torus88, "multicast:targets=13,stride=5,tasks=100")) return;
    CU_ASSERT(m.d.n_tasks == 100 && m.d.n_entries == 1300 && source_major(&m.d));
    CU_ASSERT(!memcmp(m.d.dst + 50 * 13, paper, sizeof paper));
    done(&m);
    if (!make(&m, torus88, "multicast:bytes=10")) return; /* 14 targets, stride 5, 128 cores */
    CU_ASSERT(m.d.n_tasks == 128 && fc_demand_bytes(&m.d) == 128 * 14 * 10);
    CU_ASSERT(m.d.dst[50 * 14] == 15 && !memcmp(m.d.dst + 50 * 14 + 1, paper, sizeof paper));
    CU_ASSERT(m.d.dst[0] == 93 && m.d.dst[13] == 35); /* -35 and +35 modulo 128 */
    done(&m);
}

/* ---- refusals ---- */

static void test_refusals(void)
{
    static const struct {
        const char *yaml, *pattern, *says;
    } wrong[] = {
        {torus88, "tornadoo", "unknown pattern 'tornadoo' (did you mean 'tornado'?"},
        {torus88, "", "unknown pattern ''"},
        {torus88, "uniform:bytes=3", "unknown key 'bytes' (known: none)"},
        {torus88, "hotspot:sise=2x2", "did you mean 'size'?"},
        {torus88, "alltoall:bytes=-1", "bytes: '-1' is negative"},
        {torus88, "alltoall:bytes=3 ns", "bytes: '3 ns' is not a quantity (expected bytes"},
        {torus88, "stencil2d:grid=4x", "grid: '4x' has an empty entry"},
        {tree, "tornado", "a fat-tree network has no rings"},
        {torus66, "bit-reverse", "36 nodes are not a power of two"},
        {torus888, "transpose", "512 nodes have no two equal halves"},
        {torus66, "hotregion", "0.125 of 36 routers is 4.5"},
        {torus66, "hotregion:region=0.19444444444", "is 7 routers, which no box of it holds"},
        {torus88, "hotregion:fraction=1.5", "fraction: '1.5' is out of range"},
        {torus88, "hotspot:size=9x1", "size: 9 in dimension 1, which has 8"},
        {torus88, "hotspot:size=1x1x2", "size: 2 in dimension 3, which has 1"},
        {torus88, "hotspot:size=8x8", "nobody is left to send"},
        {tree, "hotspot:size=5x5", "a region of 25 nodes in a machine of 16"},
        {tree, "line-broadcast", "no line in x"},
        {line, "line-broadcast", "dimension x has size 1"},
        {mesh44, "plane-broadcast", "needs a torus with rings"},
        {torus88, "stencil3d:grid=4x4", "grid: 2 dimensions (expected 3)"},
        {torus88, "stencil3d:grid=4x4x4,bytes=1/2", "bytes: 2 values (expected 1, or 3"},
        {torus88, "stencil2d:grid=0x4", "grid: '0' is out of range (allowed: 1 to 4000000000)"},
        {torus88, "stencil2d:grid=100000x100000", "1e+10 tasks are too many"},
        {torus88, "stencil2d:order=diagonal", "order: 'diagonal' is not known (allowed: row-major, column-major)"},
        {torus88, "stencil2d:grid=4x4x4x4x4", "grid: 5 dimensions (expected 2)"},
        {torus88, "stencil2d:grid=-4x4", "grid: '-4' is out of range"},
        {torus88, "stencil2d:bytes=1/-2", "bytes: '-2' is negative"},
        {torus88, "alltoall:bytes=inf", "bytes: 'inf' is not a quantity"},
        {torus88, "alltoall:bytes=nan", "bytes: 'nan' is not a quantity"},
        {torus88, "alltoall:bytes", "'bytes' is not name=value"},
        {torus88, "alltoall:bytes=1,bytes=2", "bytes: given twice"},
        {torus88, "permutation:seed=-1", "seed: '-1' is out of range"},
        {torus88, "permutation:seed=1.5", "seed: '1.5' is not a whole number"},
        {torus88, "hotregion:region=0", "region: 0 of 64 routers is 0 of them"},
        {torus88, "hotregion:fraction=-0.1", "fraction: '-0.1' is negative"},
        {torus88, "hotspot:size=0", "size: '0' is out of range"},
        {torus88, "multicast:targets=0", "targets: '0' is out of range"},
        {torus88, "multicast:stride=0", "stride: '0' is out of range"},
        {torus88, "multicast:tasks=1", "tasks: '1' is out of range (allowed: 2 to 4000000000)"},
        {line, "multicast", "targets: 14 others of 4 tasks"},
        {torus88, "multicast:stride=128", "1 steps of 128 lead back to the same task of 128"},
        {torus88, "multicast:targets=14,tasks=14", "targets: 14 others of 14 tasks"},
        {torus88, "multicast:targets=14,tasks=60", "12 steps of 5 lead back to the same task of 60"},
    };
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand d;
        struct fc_status st = {0};
        if (!fc_test_network(wrong[i].yaml, &machine, &net)) continue;
        enum fc_code code = fc_demand_from_pattern(&net, wrong[i].pattern, 1, &d, &st);
        CU_ASSERT_EQUAL(code, st.code);
        if (code == FC_OK) printf("\n    %s is not refused\n", wrong[i].pattern);
        bool too_many = strstr(wrong[i].says, "too many") != NULL; /* well formed, cannot be held */
        CU_ASSERT(fc_says(&st, too_many ? FC_NO : FC_INPUT, wrong[i].says));
        if (code == FC_OK) fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
}

int suite_patterns(void)
{
    static const CU_TestInfo tests[] = {
        {"every pattern on every family", test_every_pattern},
        {"permutations that are hard", fc_test_hard_permutations},
        {"group-shift that ends where it began", fc_test_group_shift_to_itself},
        {"permutations permute", test_permutations},
        {"destinations by definition", test_definitions},
        {"random permutations are named by their seed", test_random_permutation},
        {"a random graph", test_random_graph},
        {"dense patterns: totals", test_dense},
        {"uniform: shares", test_uniform},
        {"dense patterns: messages", test_dense_messages},
        {"hot region: shares", test_hot_region},
        {"broadcasts reach everybody once", test_broadcasts},
        {"plane broadcast loads every link alike", test_plane_links},
        {"stencils", test_stencils},
        {"stencils by definition, symmetric", test_stencil_definition},
        {"multicast: the paper's example", test_multicast},
        {"refusals", test_refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("patterns", tests);
}
