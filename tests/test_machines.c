/* test_machines.c - the shipped machine files: counts, distances and bisections against closed forms written here once
 * more, breadth-first search, loads and published figures. A new machine file needs a line in `machines`. */
#include "models/family_two_level.h"
#include "solvers/solvers.h"
#include "tests/network_checks.h"
#include "tests/support.h"

/* ---- closed forms ---- */

#define RING(k) ((k) / 4.0) /* mean hops of an even ring, a node with itself included */
#define ODD_RING(k) (((k)-1.0 / (k)) / 4)
#define LINE(k) (((k)-1.0 / (k)) / 3)
/* Direct routing on s cliques of m (grids of a x b), linked pair by pair. */
#define CLIQUES(s, m) (((s)-1.0) / (s) + (2.0 - 1.0 / (s)) * ((m)-1.0) / (m))
#define GRIDS(s, a, b) (((s)-1.0) / (s) + (2.0 - 1.0 / (s)) * (((a)-1.0) / (a) + ((b)-1.0) / (b)))
#define SYMMETRIC -1 /* routers as many as nodes */

struct expected {
    const char *name;
    long nodes, routers;
    struct {
        const char *name;
        long count;
        double bytes_per_s;
    } links[4];
    double diameter, mean, bisection; /* hops, hops, links of one direction; 0: see `layouts` */
};

#define BGL(name, x, y, z, longest)                                                                                    \
    {                                                                                                                  \
        name, (x) * (y) * (z), SYMMETRIC,                                                                              \
            {{"torus", 6 * (x) * (y) * (z), 175e6}, {"injection", 2 * (x) * (y) * (z), 1.05e9}},                       \
            ((x) + (y) + (z)) / 2.0, RING(x) + RING(y) + RING(z), 2.0 * (x) * (y) * (z) / (longest)                    \
    }
#define PERCS(name, s)                                                                                                 \
    {                                                                                                                  \
        name, 32 * (s), SYMMETRIC,                                                                                     \
            {{"ll", 32 * 7 * (s), 24e9},                                                                               \
             {"lr", 32 * 24 * (s), 5e9},                                                                               \
             {"d", (s) * ((s)-1), 10e9},                                                                               \
             {"injection", 64 * (s), 192e9}},                                                                          \
            3, CLIQUES(s, 32), (s) * (s) / 4.0                                                                         \
    }
#define TMESH(name)                                                                                                    \
    {                                                                                                                  \
        name, 216 * 10, 216 * 16,                                                                                      \
            {{"torus", 216 * 6, 2e9}, {"mesh", 216 * 48, 25.6e9}, {"injection", 2 * 2160, 25.6e9}}, 0, 0, 2 * 36       \
    }

/* Nodes of 4 of a group's 32 switches each; two cables a pair of groups on two of them. */
#define AURORA_HOPS (165 / 166.0 * (3 - 2 / 32.0) + 7 / 8.0 / 166)

static const struct expected machines[] = {
    {"aurora",
     10624,
     166 * 32,
     {{"local", 166 * 32 * 31, 25e9}, {"global", 166 * 165 * 2, 25e9}, {"injection", 2 * 8 * 10624, 25e9}},
     3,
     AURORA_HOPS,
     83 * 83 * 2},
    BGL("bgl-32k", 32, 32, 32, 32),
    BGL("bgl-4k", 16, 16, 16, 16),
    BGL("bgl-512", 8, 8, 8, 8),
    BGL("bgl-64", 4, 4, 4, 4),
    BGL("bgl-64k", 64, 32, 32, 64),
    {"bgl-8x8x1", 64, 64, {{"torus", 4 * 64, 175e6}, {"injection", 128, 1.05e9}}, 8, 2 * RING(8), 2 * 8},
    {"dgx-superpod", 4 * 32, 32 + 16, {{"leaf", 2 * 1024, 50e9}, {"level1", 2 * 1024, 50e9}}, 2, 2 * 3 / 4.0, 512},
    {"frontier",
     74 * 128,
     74 * 32,
     {{"ll", 74 * 32 * 31, 25e9}, {"d", 74 * 73 * 4, 25e9}, {"injection", 2 * 9472, 100e9}},
     3,
     CLIQUES(74, 32),
     37 * 37 * 4},
    {"fugaku",
     158976,
     SYMMETRIC,
     {{"torus", 158976 * 10, 6.8e9}, {"injection", 2 * 158976, 40.8e9}},
     12 + 11 + 12 + 1 + 1 + 1,
     2 * RING(24) + ODD_RING(23) + 2 * LINE(2) + ODD_RING(3),
     2.0 * 158976 / 24},
    {"fugaku-torus",
     512,
     SYMMETRIC,
     {{"torus", 6 * 512, 6.8e9}, {"injection", 2 * 512, 40.8e9}},
     12,
     3 * RING(8),
     2 * 64},
    {"gemini-xe6",
     4096,
     2048,
     {{"torus", 2048 * 40, 9.375e9 / 8}, {"injection", 2 * 4096, 12.88e9}},
     8 + 4 + 8,
     2 * RING(16) + RING(8),
     2 * 8 * 16 * 8},
    /* 18 leaves and 18 spines a cell, 16 in the last two; 3456 nodes of 4 links, 1536 of one */
    {"leonardo",
     4992,
     20 * 36 + 2 * 34,
     {{"spine", 2 * 18 * (20 * 18 + 2 * 16), 25e9},
      {"global", 22 * 21 * 18, 25e9},
      {"injection", 2 * (3456 * 4 + 1536), 12.5e9}},
     0,
     0,
     11 * 11 * 18},
    {"lumi",
     2048 + 2978,
     8 * 16 + 24 * 32,
     {{"local", 8 * 16 * 15 + 24 * 32 * 31, 25e9},
      {"global", 8 * 7 * 16 + 2 * 8 * 24 * 4 + 24 * 23 * 20, 25e9},
      {"injection", 2 * (2048 + 4 * 2978), 25e9}},
     0,
     0,
     8 * 16 * 4 + 8 * 16 * 20},
    PERCS("percs-16", 16),
    PERCS("percs-300", 300),
    PERCS("percs-512", 512),
    PERCS("percs-64", 64),
    {"perlmutter",
     28 * 64,
     28 * 32,
     {{"ll", 28 * 32 * 31, 25e9}, {"d", 28 * 27 * 4, 25e9}, {"injection", 2 * 1792, 100e9}},
     3,
     CLIQUES(28, 32),
     14 * 14 * 4},
    {"piz-daint",
     7680,
     1920,
     {{"ll", 1920 * 15, 5.25e9},
      {"lr", 1920 * 5, 15.75e9},
      {"d", 20 * 19 * 20, 4.6875e9},
      {"injection", 2 * 7680, 16e9}},
     5,
     GRIDS(20, 6, 16),
     10 * 10 * 20},
    {"qsnet-64",
     64,
     3 * 16,
     {{"leaf", 128, 400e6}, {"level1", 128, 400e6}, {"level2", 128, 400e6}},
     4,
     (2 * 12 + 4 * 48) / 64.0,
     32},
    {"summit",
     256 * 18,
     2 * (256 + 288 + 288),
     {{"leaf", 4 * 4608, 11.5e9}, {"level1", 4 * 4608, 12.5e9}, {"level2", 4 * 4608, 12.5e9}},
     4,
     (2 * 270 + 4 * 4320) / 4608.0,
     4608},
    {"theta",
     9 * 96 * 4,
     9 * 96,
     {{"ll", 864 * 15, 5.25e9}, {"lr", 864 * 5, 15.75e9}, {"d", 72 * 48, 37.5e9 / 8}, {"injection", 2 * 3456, 16e9}},
     5,
     GRIDS(9, 16, 6),
     4 * 5 * 48},
    TMESH("tmesh-216"),
    TMESH("tmesh-216-024"),
    TMESH("tmesh-216-159"),
    TMESH("tmesh-216-456"),
    TMESH("tmesh-216-459"),
    TMESH("tmesh-216-546"),
    TMESH("tmesh-216-840"),
    TMESH("tmesh-216-964"),
    {"tmesh-216-central",
     2160,
     216,
     {{"torus", 216 * 6, 2e9}, {"injection", 2 * 2160, 7.68e9}},
     9,
     3 * RING(6),
     2 * 36},
    {"tmesh-3456",
     216 * 16,
     216 * 16,
     {{"torus", 216 * 6, 2e9}, {"mesh", 216 * 48, 25.6e9}, {"injection", 2 * 3456, 25.6e9}},
     0,
     0,
     2 * 36},
    {"tmesh-3456-central",
     216,
     SYMMETRIC,
     {{"torus", 216 * 6, 2e9}, {"injection", 2 * 216, 76.8e9}},
     9,
     3 * RING(6),
     2 * 36},
    {"tpu-v4", 4096, SYMMETRIC, {{"torus", 6 * 4096, 50e9}, {"injection", 2 * 4096, 300e9}}, 24, 3 * RING(16), 2 * 256},
};

static void files_and_lines_agree(void)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    const char **names;
    size_t n;
    CU_ASSERT_EQUAL_FATAL(fc_machine_names(&arena, &names, &n, &st), FC_OK);
    CU_ASSERT_EQUAL(n, FC_COUNT(machines));
    for (size_t i = 0; i < n && i < FC_COUNT(machines); i++) CU_ASSERT_STRING_EQUAL(names[i], machines[i].name);
    fc_arena_free(&arena);
}

static void says_where_it_comes_from(const struct fc_machine *m, const char *name)
{
    CU_ASSERT_STRING_EQUAL(m->name, name);
    CU_ASSERT(strlen(m->title) > 10 && strlen(m->source) > 10 && strlen(m->confidence) > 10);
    CU_ASSERT(strstr(m->confidence, "estimate") != NULL); /* none is without; each says so */
    CU_ASSERT(m->clock_hz > 0 && m->cores_per_node >= 1 && m->router.delay_s > 0);
}

static void counts(const struct fc_machine *m, const struct fc_facts *f, const struct expected *e)
{
    int n = 0;
    CU_ASSERT_EQUAL(f->n_nodes, e->nodes);
    CU_ASSERT_EQUAL(f->n_routers, e->routers == SYMMETRIC ? e->nodes : e->routers);
    for (int c = 0; c < m->n_classes; c++) {
        if (f->class_links[c] == 0) continue;
        CU_ASSERT_FATAL(n < 4 && e->links[n].name != NULL);
        CU_ASSERT_STRING_EQUAL(m->classes[c].name, e->links[n].name);
        CU_ASSERT_EQUAL(f->class_links[c], e->links[n].count);
        CU_ASSERT(fc_near(m->classes[c].bandwidth_bytes_per_s, e->links[n].bytes_per_s, 1e-14));
        n++;
    }
    CU_ASSERT(n == 4 || e->links[n].name == NULL);
}

/* From node 0, by search: enough for the networks in which all nodes are alike. */
static void search(const struct fc_network *net, const struct fc_facts *f)
{
    uint32_t *distance = malloc(net->n_vertices * sizeof *distance), *queue = malloc(net->n_vertices * sizeof *queue);
    double sum = 0, greatest = 0;
    fc_distances(net, fc_node_vertex(net, 0), distance, queue);
    for (uint32_t d = 0; d < net->n_nodes; d++) {
        sum += distance[fc_node_vertex(net, d)];
        greatest = fmax(greatest, distance[fc_node_vertex(net, d)]);
    }
    CU_ASSERT(fc_near(f->mean_hops, sum / net->n_nodes, 1e-12));
    CU_ASSERT_EQUAL(f->diameter_hops, greatest);
    free(distance), free(queue);
}

/* Mean hops of uniform traffic under minimal routing, by the loads it puts on links. */
static void travel(struct fc_machine *m, const struct fc_network *net, const struct fc_facts *f)
{
    struct fc_demand demand;
    struct fc_load load;
    struct fc_load_settings settings = {.threads = 2};
    struct fc_status st = {0};
    uint32_t *node = malloc(net->n_nodes * sizeof *node);
    for (uint32_t i = 0; i < net->n_nodes; i++) node[i] = i;
    struct fc_placement placement = {net->n_nodes, node};
    if (fc_routing_find("direct", m->family->name)) CU_ASSERT_EQUAL(fc_machine_route(m, "direct", &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(net, "alltoall:bytes=1", 1, &demand, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_load_solve(net, &demand, &placement, &settings, &load, &st), FC_OK);
    CU_ASSERT(fc_near(f->mean_hops_distinct, load.hop_bytes / net->n_nodes / (net->n_nodes - 1.0), 1e-11));
    fc_load_free(&load);
    fc_demand_free(&demand);
    free(node);
}

static void every_machine(void)
{
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        const struct expected *e = &machines[i];
        struct fc_machine m;
        struct fc_network net;
        struct fc_facts f;
        struct fc_status st = {0};
        if (!fc_test_network(e->name, &m, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(fc_network_facts(&net, &f, &st), FC_OK);
        says_where_it_comes_from(&m, e->name);
        counts(&m, &f, e);
        CU_ASSERT_EQUAL(f.bisection_links, e->bisection);
        if (e->mean > 0) {
            CU_ASSERT_EQUAL(f.diameter_hops, e->diameter);
            CU_ASSERT(fc_near(f.mean_hops, e->mean, 1e-13));
        }
        double n = f.n_nodes;
        CU_ASSERT(fc_near(f.mean_hops_distinct, f.mean_hops * n / (n - 1), 1e-14));
        bool alike = !strcmp(m.family->name, "torus") || !strcmp(m.family->name, "fat-tree");
        if (alike) search(&net, &f);
        if (alike && net.n_nodes <= 600) network_is_sound(&net);
        travel(&m, &net, &f);
        fc_test_close(&m, &net);
    }
}

/* ---- TMesh: the layouts of Table 1, every route ---- */

static const struct {
    const char *name;
    int bridge[3][2]; /* x y z: - +, that is LN RN */
    double table1_hops;
    bool bridges_compute;
} layouts[] = {
    {"tmesh-216", {{0, 1}, {2, 3}, {4, 5}}, 1.78, false},
    {"tmesh-216-840", {{8, 11}, {4, 7}, {0, 3}}, 2.89, false},
    {"tmesh-216-024", {{0, 1}, {2, 3}, {4, 5}}, 1.78, false},
    {"tmesh-216-456", {{4, 7}, {5, 9}, {6, 10}}, 1.78, false},
    {"tmesh-216-964", {{9, 10}, {6, 7}, {4, 5}}, 1.67, false},
    {"tmesh-216-459", {{4, 8}, {5, 6}, {9, 10}}, 1.56, false},
    {"tmesh-216-546", {{5, 9}, {4, 8}, {6, 10}}, 1.56, false},
    {"tmesh-216-159", {{1, 2}, {5, 6}, {9, 10}}, 1.56, false},
    {"tmesh-3456", {{0, 1}, {2, 3}, {4, 5}}, 1.78, true},
};

static int mesh_hops(int a, int b)
{
    return abs(a / 4 - b / 4) + abs(a % 4 - b % 4);
}

/* Hops from mesh node `at` over the torus offset (dimension dim on) to mesh node `to`; both ways of a tie with half the
 * weight; greatest gets the longest. */
static double route(int (*bridge)[2], int dim, const int *offset, int at, int to, double so_far, double *greatest)
{
    if (dim == 3) {
        double hops = so_far + mesh_hops(at, to);
        *greatest = fmax(*greatest, hops);
        return hops;
    }
    if (offset[dim] == 0) return route(bridge, dim + 1, offset, at, to, so_far, greatest);
    double sum = 0, ways = 0;
    for (int plus = 0; plus < 2; plus++) {
        int hops = plus ? offset[dim] : 6 - offset[dim], in = bridge[dim][!plus], out = bridge[dim][plus];
        if (hops > 3) continue;
        double length = so_far + mesh_hops(at, out) + hops + (hops - 1) * mesh_hops(in, out);
        sum += route(bridge, dim + 1, offset, in, to, length, greatest);
        ways++;
    }
    return sum / ways;
}

static double turn_hops(int (*bridge)[2])
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += 2 * mesh_hops(bridge[i][0], bridge[i][1]);
        for (int j = i + 1; j < 3; j++)
            for (int k = 0; k < 4; k++) sum += mesh_hops(bridge[i][k / 2], bridge[j][k % 2]);
    }
    return sum / 18;
}

static void tmesh_layouts(void)
{
    for (size_t i = 0; i < FC_COUNT(layouts); i++) {
        int bridge[3][2], core[16], n_cores = 0;
        double sum = 0, greatest = 0;
        struct fc_machine m;
        struct fc_network net;
        struct fc_facts f;
        struct fc_status st = {0};
        memcpy(bridge, layouts[i].bridge, sizeof bridge);
        CU_ASSERT_DOUBLE_EQUAL(turn_hops(bridge), layouts[i].table1_hops, 0.005);
        for (int node = 0; node < 16; node++) {
            bool is_bridge = false;
            for (int k = 0; k < 6; k++) is_bridge = is_bridge || bridge[k / 2][k % 2] == node;
            if (!is_bridge || layouts[i].bridges_compute) core[n_cores++] = node;
        }
        CU_ASSERT_EQUAL(n_cores, layouts[i].bridges_compute ? 16 : 10);
        int pairs = n_cores * n_cores; /* of a chip's cores with another's */
        for (int k = 0; k < 216 * pairs; k++) {
            int chip = k / pairs, offset[3] = {chip % 6, chip / 6 % 6, chip / 36};
            sum += route(bridge, 0, offset, core[k % n_cores], core[k / n_cores % n_cores], 0, &greatest);
        }
        if (!fc_test_network(layouts[i].name, &m, &net)) continue;
        CU_ASSERT_EQUAL(fc_network_facts(&net, &f, &st), FC_OK);
        CU_ASSERT(fc_near(f.mean_hops, sum / 216 / pairs, 1e-12));
        CU_ASSERT_EQUAL(f.diameter_hops, greatest);
        fc_test_close(&m, &net);
    }
}

/* ---- published figures of links and packets ---- */

static void loaded(const char *name, struct fc_machine *m)
{
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_machine_load(name, m, &st), FC_OK);
}

static void packets(void)
{
    struct fc_machine m;
    loaded("bgl-512", &m); /* Adiga et al.: 240 bytes in 270 byte times; one chunk with 14 more */
    CU_ASSERT_EQUAL(fc_wire_bytes(&m, 240), 270);
    CU_ASSERT_EQUAL(fc_wire_bytes(&m, 2400), 2700);
    CU_ASSERT_EQUAL(fc_wire_bytes(&m, 16), 32 + 14);
    CU_ASSERT_EQUAL(fc_wire_bytes(&m, 0), 32 + 14);
    CU_ASSERT_EQUAL(fc_wire_bytes(&m, 17), 64 + 14);
    CU_ASSERT_EQUAL(fc_wire_bytes(&m, 241), 270 + 32 + 14);
    fc_machine_free(&m);
    loaded("gemini-xe6", &m); /* Alverson et al.: (32 + 2) phits of 3 bytes; 63 %; 2.9 to 5.8 GB/s after protocol */
    CU_ASSERT_EQUAL(fc_wire_bytes(&m, 64), 34 * 3);
    CU_ASSERT_DOUBLE_EQUAL(64 / fc_wire_bytes(&m, 64), 0.627, 0.0005);
    CU_ASSERT_EQUAL(fc_wire_bytes(&m, 1 << 20), (1 << 20) / 64 * 102);
    double connection = 4 * m.classes[0].bandwidth_bytes_per_s;
    CU_ASSERT(connection >= 4.68e9 && connection <= 9.375e9);
    CU_ASSERT(connection * 64 / 102 >= 2.9e9 && connection * 64 / 102 <= 5.9e9);
    CU_ASSERT(8 * m.classes[0].bandwidth_bytes_per_s * 64 / 102 >= 5e9); /* "5 GB/s or more" to a neighbour in x */
    CU_ASSERT_DOUBLE_EQUAL(m.classes[1].bandwidth_bytes_per_s * 64 / 102, 9.6e9 * 64 / 76, 5e6); /* FMA put */
    CU_ASSERT_DOUBLE_EQUAL(m.router.delay_s + m.classes[0].latency_s, 105e-9, 1e-15);
    CU_ASSERT(m.software.send_s + m.software.recv_s <= 1.5e-6);
    fc_machine_free(&m);
    loaded("qsnet-64", &m); /* Petrini et al.: 320 bytes of payload and 58 more; MPI 5.5 us across five switches */
    CU_ASSERT_EQUAL(fc_wire_bytes(&m, 320), 378);
    CU_ASSERT_DOUBLE_EQUAL(400 * 320 / fc_wire_bytes(&m, 320), 338.6, 0.05);
    CU_ASSERT_EQUAL(m.router.delay_s, 35e-9);
    double head_s = 5 * m.router.delay_s + 6 * m.classes[0].latency_s;
    CU_ASSERT_DOUBLE_EQUAL(m.software.send_s + m.software.recv_s + head_s, 5.5e-6, 0.05e-6);
    fc_machine_free(&m);
}

/* Most D links that one router hosts. */
static uint32_t most_d_links(const struct fc_network *net)
{
    uint32_t most = 0;
    for (uint32_t r = 0; r < net->n_routers; r++) {
        uint32_t n = 0;
        for (uint32_t l = net->first_link[r]; l < net->first_link[r + 1]; l++)
            n += net->link_class[l] == fc_two_level(net)->d_class;
        if (n > most) most = n;
    }
    return most;
}

static void d_ports(void)
{
    static const struct {
        const char *name;
        uint32_t at_most;
    } ports[] = {{"percs-512", 16},  {"percs-300", 16}, {"frontier", 16},
                 {"perlmutter", 16}, {"theta", 10},     {"piz-daint", 10}};
    struct fc_machine m;
    struct fc_network net;
    for (size_t i = 0; i < FC_COUNT(ports); i++) {
        if (!fc_test_network(ports[i].name, &m, &net)) continue;
        CU_ASSERT(most_d_links(&net) <= ports[i].at_most);
        fc_test_close(&m, &net);
    }
}

static void published_totals(void)
{
    struct fc_machine m;
    struct fc_network net;
    struct fc_facts f;
    struct fc_status st = {0};
    static const int percs[] = {16, 64, 300, 512};
    for (int i = 0; i < 4; i++) { /* Bhatele et al., figure 2: 992/(n-1) first-tier links a D link */
        char name[16];
        snprintf(name, sizeof name, "percs-%d", percs[i]);
        if (!fc_test_network(name, &m, &net)) continue;
        CU_ASSERT_EQUAL(fc_network_facts(&net, &f, &st), FC_OK);
        CU_ASSERT(fc_near((double)(f.class_links[0] + f.class_links[1]) / (double)f.class_links[2],
                          992.0 / (percs[i] - 1), 1e-14));
        fc_test_close(&m, &net);
    }
    if (fc_test_network("summit", &m, &net)) { /* "nearly a petabit a second" both ways, of the fabric itself */
        CU_ASSERT_EQUAL(fc_network_facts(&net, &f, &st), FC_OK);
        CU_ASSERT_DOUBLE_EQUAL(2 * f.bisection_links * m.classes[1].bandwidth_bytes_per_s * 8, 0.92e15, 0.005e15);
        CU_ASSERT_EQUAL(f.bisection_bytes_per_s, 4608 * 11.5e9); /* the nodes' 23 GB/s bind first */
        fc_test_close(&m, &net);
    }
    if (fc_test_network("frontier", &m, &net)) { /* taper 102.4 / 58.4 of a group */
        double injected = 128 * m.classes[2].bandwidth_bytes_per_s, out = 73 * 4 * m.classes[1].bandwidth_bytes_per_s;
        CU_ASSERT_DOUBLE_EQUAL(injected / out, 102.4 / 58.4, 0.005);
        fc_test_close(&m, &net);
    }
}

/* ---- the reference ---- */

static void mentioned(const char *text, const char *before, const char *word)
{
    char quoted[80];
    snprintf(quoted, sizeof quoted, "%s%s`", before, word);
    if (!strstr(text, quoted)) printf("\n    docs/machines.md does not mention %s", quoted);
    CU_ASSERT(strstr(text, quoted) != NULL);
}

/* docs/machines.md names every family, every key of a family and every shipped machine. */
static void reference_is_whole(void)
{
    struct fc_arena arena = {0};
    struct fc_text text;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_read_file("docs/machines.md", &arena, &text, &st), FC_OK);
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        bool layout = !strncmp(machines[i].name, "tmesh-216-", 10) && strlen(machines[i].name) == 13;
        mentioned(text.data, "`", machines[i].name + (layout ? strlen("tmesh-216") : 0));
    }
    for (const struct fc_family_ops *const *f = fc_families; *f; f++) {
        mentioned(text.data, "`", (*f)->name);
        mentioned(text.data, "`", (*f)->default_routing);
        for (size_t k = 0; k < (*f)->n_keys; k++) mentioned(text.data, "| `", (*f)->keys[k].name);
    }
    fc_arena_free(&arena);
}

static const CU_TestInfo tests[] = {
    {"every file has its line", files_and_lines_agree},
    {"counts, distances, bisections", every_machine},
    {"TMesh layouts by every route", tmesh_layouts},
    {"packets and links as published", packets},
    {"global ports of a router", d_ports},
    {"totals as published", published_totals},
    {"docs/machines.md names all", reference_is_whole},
    CU_TEST_INFO_NULL,
};

int suite_machines(void)
{
    return fc_add_suite("machines", tests);
}
