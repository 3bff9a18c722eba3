/* test_tmesh.c - tori of mesh chips: wiring, routes, structural loads against walks, closed forms against
 * every route, Table 1 of the TMesh paper, and one case per refusal. */
#include "mapping/place/place.h"
#include "tests/network_checks.h"

#define LINKS "links: {torus: {bandwidth: 2 GB/s, latency: 1 ns}, mesh: {bandwidth: 25.6 GB/s, latency: 1 ns}}\n"
#define TMESH(keys) "name: t\nnetwork: {family: tmesh, " keys "}\n" LINKS
#define SIX "bridges: {x-: 0, y-: 2, z-: 4, x+: 1, y+: 3, z+: 5}"

/* Sizes 1, 2, odd and even; one to four dimensions; lines of mesh nodes; both orders; cores on bridges. */
static const char *const shapes[] = {
    TMESH("dims: [3, 2, 4], mesh: [3, 3], " SIX),
    TMESH("dims: [4, 3], mesh: [2, 5], mesh_order: column-first, bridges: {x-: 0, y-: 9, x+: 4, y+: 6}"),
    TMESH("dims: [5], mesh: [1, 4], bridges: {x-: 3, x+: 1}"),
    TMESH("dims: [6], mesh: [5, 1], bridges: {x-: 0, x+: 4}, router_nodes_compute: true"),
    TMESH("dims: [2, 2, 1], mesh: [2, 3], " SIX ", router_nodes_compute: true"),
    TMESH("dims: [1, 4, 2], mesh: [3, 4], bridges: {x-: 8, y-: 4, z-: 0, x+: 11, y+: 7, z+: 3}, mesh_order: "
          "column-first"),
    TMESH("dims: [2, 2, 2, 2], mesh: [3, 3], bridges: {x-: 0, y-: 1, z-: 2, a-: 3, x+: 5, y+: 6, z+: 7, a+: "
          "8}"),
};

/* On-chip hops of the layouts of Table 1, cores on every mesh node, traffic that stays on its chip counted as none. */
static const double chip_hops[FC_PLACE_TABLE1] = {15.28, 10.69, 10.41, 9.27, 9.07, 9.07, 8.78};

static void place(struct fc_tmesh_shape *s, const struct fc_published_layout *published)
{
    for (int i = 0; i < 6; i++) s->bridge[i / 2][i % 2] = published->layout.node[i];
    fc_tmesh_derive(s);
}

static struct fc_tmesh_shape six_cubed(bool compute)
{
    struct fc_tmesh_shape s = {.n_dims = 3, .k = {6, 6, 6}, .rows = 4, .columns = 4, .router_nodes_compute = compute};
    place(&s, &fc_place_table1[1]);
    return s;
}

static void published_turn_hops(void)
{
    struct fc_tmesh_shape s = six_cubed(false);
    for (size_t i = 0; i < FC_PLACE_TABLE1; i++) {
        place(&s, &fc_place_table1[i]);
        CU_ASSERT_DOUBLE_EQUAL(fc_tmesh_mean_turn_hops(&s), fc_place_table1[i].turn_hops, 0.005);
    }
    CU_ASSERT_DOUBLE_EQUAL(fc_tmesh_mean_turn_hops(&s), 28.0 / 18, 1e-15); /* the least possible */
}

/* The published latencies are linear in these: 226.5 + 10.33 h cycles fits all seven within 1.3 %. */
static void published_latency_follows_chip_hops(void)
{
    struct fc_tmesh_shape s = six_cubed(true);
    for (size_t i = 0; i < FC_PLACE_TABLE1; i++) {
        double cycles = fc_place_table1[i].latency_cycles;
        place(&s, &fc_place_table1[i]);
        double hops = fc_tmesh_mean_mesh_hops(&s, true) * 215 / 216;
        CU_ASSERT_DOUBLE_EQUAL(hops, chip_hops[i], 0.006);
        CU_ASSERT(fabs(226.5 + 10.33 * hops - cycles) < 0.014 * cycles);
    }
}

static void wiring(void)
{
    struct fc_machine machine;
    struct fc_network net;
    for (size_t i = 0; i < FC_COUNT(shapes); i++) {
        if (!fc_test_network(shapes[i], &machine, &net)) continue;
        const struct fc_tmesh_shape *s = fc_tmesh(&net);
        CU_ASSERT_EQUAL(net.n_routers, s->n_chips * s->n_mesh);
        CU_ASSERT_EQUAL(net.n_nodes,
                        s->n_chips * (s->n_mesh - (s->router_nodes_compute ? 0 : 2 * (uint32_t)s->n_dims)));
        CU_ASSERT_EQUAL(net.n_links, s->n_chips * s->chip_links + net.n_nodes);
        for (uint32_t c = 0; c < s->n_chips; c++)
            for (int d = 0; d < s->n_dims; d++)
                for (int way = 0; way < 2 && s->k[d] > 1; way++) {
                    uint32_t link = c * s->chip_links + fc_tmesh_tables(&net)->torus_port[d][way];
                    uint32_t to = fc_tmesh_neighbour(s, c, d, way);
                    CU_ASSERT_EQUAL(net.link_source[link], c * s->n_mesh + s->bridge[d][way]);
                    CU_ASSERT_EQUAL(net.link_target[link], to * s->n_mesh + s->bridge[d][!way]);
                    CU_ASSERT_EQUAL(net.link_class[link], 0);
                    CU_ASSERT_EQUAL(fc_tmesh_neighbour(s, to, d, !way), c);
                }
        for (uint32_t n = 0; n < net.n_nodes; n++) { /* its two links join it to the same router, which computes */
            uint32_t in = net.first_link[net.n_routers + n], router = net.link_target[in];
            uint32_t out = n / s->n_computing * s->chip_links + fc_tmesh_tables(&net)->ejection[n % s->n_computing];
            CU_ASSERT(net.link_source[out] == router && net.link_target[out] == net.n_routers + n);
            for (int d = 0; d < s->n_dims && !s->router_nodes_compute; d++)
                CU_ASSERT(router % s->n_mesh != s->bridge[d][0] && router % s->n_mesh != s->bridge[d][1]);
        }
        fc_test_close(&machine, &net);
    }
}

static void links_by_class(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_facts facts;
    struct fc_status st = {0};
    if (!fc_test_network(TMESH("dims: [6, 6, 6], mesh: [4, 4], " SIX), &machine, &net)) return;
    CU_ASSERT_EQUAL(fc_network_facts(&net, &facts, &st), FC_OK);
    CU_ASSERT_EQUAL(facts.n_nodes, 2160); /* the paper's formula; its text counts 3456, cores on bridges included */
    CU_ASSERT_EQUAL(facts.class_links[0], 6 * 216);
    CU_ASSERT_EQUAL(facts.class_links[1], 48 * 216);
    CU_ASSERT_EQUAL(facts.class_links[2], 2 * 2160);
    CU_ASSERT_EQUAL(facts.bisection_links, 2 * 36);
    CU_ASSERT_DOUBLE_EQUAL(facts.bisection_bytes_per_s, 72 * 2e9, 1);
    fc_test_close(&machine, &net);
}

/* Hops of the longest dimension-order route between two routers, by trying both directions of every tie. */
static uint32_t longest_route(const struct fc_tmesh_shape *s, int dim, uint32_t a, uint32_t b, uint32_t from,
                              uint32_t to)
{
    if (dim == s->n_dims) return fc_tmesh_mesh_hops(s, from, to);
    uint32_t k = s->k[dim], plus = (b / s->stride[dim] % k + k - a / s->stride[dim] % k) % k, longest = 0;
    if (plus == 0) return longest_route(s, dim + 1, a, b, from, to);
    for (int way = 0; way < 2; way++) {
        uint32_t hops = way == FC_TMESH_PLUS ? plus : k - plus, at = from, n = 0;
        if (2 * hops > k) continue;
        for (uint32_t h = 0; h < hops; h++) {
            n += fc_tmesh_mesh_hops(s, at, s->bridge[dim][way]) + 1;
            at = s->bridge[dim][!way];
        }
        n += longest_route(s, dim + 1, a, b, at, to);
        if (n > longest) longest = n;
    }
    return longest;
}

static void facts_against_routes(void)
{
    struct fc_machine machine;
    struct fc_network net;
    for (size_t i = 0; i < FC_COUNT(shapes); i++) {
        if (!fc_test_network(shapes[i], &machine, &net)) continue;
        const struct fc_tmesh_shape *s = fc_tmesh(&net);
        const uint32_t *node = fc_tmesh_tables(&net)->computing;
        struct fc_facts facts;
        struct fc_status st = {0};
        uint32_t diameter = 0;
        for (uint32_t a = 0; a < net.n_nodes; a++)
            for (uint32_t b = 0; b < net.n_nodes; b++) {
                uint32_t hops = longest_route(s, 0, a / s->n_computing, b / s->n_computing, node[a % s->n_computing],
                                              node[b % s->n_computing]);
                if (hops > diameter) diameter = hops;
            }
        double *ones = malloc(net.n_nodes * sizeof *ones), *load = calloc(net.n_links, sizeof *load), bfs,
               n = net.n_nodes;
        double torus = 0, mesh = 0, within = 0;
        for (uint32_t a = 0; a < net.n_nodes; a++) ones[a] = 1;
        walk_all(&net, machine.routing, ones, ones, load, &bfs);
        for (uint32_t l = 0; l < net.n_links; l++)
            *(net.link_class[l] == 0 ? &torus : net.link_class[l] == 1 ? &mesh : &bfs) += load[l];
        for (uint32_t a = 0; a < s->n_computing; a++)
            for (uint32_t b = 0; b < s->n_computing; b++) within += fc_tmesh_mesh_hops(s, node[a], node[b]);
        double chips = s->n_chips, pairs = n * n * (1 - 1 / chips);
        CU_ASSERT_EQUAL(fc_network_facts(&net, &facts, &st), FC_OK);
        CU_ASSERT_EQUAL(facts.diameter_hops, diameter);
        CU_ASSERT_DOUBLE_EQUAL(facts.mean_hops, (torus + mesh) / n / n, 1e-12 * facts.mean_hops);
        CU_ASSERT_DOUBLE_EQUAL(fc_tmesh_mean_mesh_hops(s, false), mesh / n / n, 1e-12 * facts.mean_hops);
        CU_ASSERT_DOUBLE_EQUAL(fc_tmesh_mean_mesh_hops(s, true), (mesh - chips * within) / pairs,
                               1e-12 * facts.mean_hops);
        free(ones), free(load);
        fc_test_close(&machine, &net);
    }
}

static void structural_loads(void)
{
    struct fc_machine machine;
    struct fc_network net;
    for (size_t i = 0; i < FC_COUNT(shapes); i++) {
        if (!fc_test_network(shapes[i], &machine, &net)) continue;
        uint32_t n = net.n_nodes;
        double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), bfs;
        double *walked = calloc(net.n_links, sizeof *walked), *load = calloc(net.n_links, sizeof *load);
        for (int pass = 0; pass < 3; pass++) { /* uniform, random, few nodes */
            struct fc_status st = {0};
            for (uint32_t v = 0; v < n; v++) {
                a[v] = pass == 0 ? 1 : pass == 2 && v % 5 ? 0 : 1e6 * fc_random_real(i, 0, v);
                b[v] = pass == 0 ? 1 : pass == 2 && v / 3 % 2 ? 0 : fc_random_real(i, 1, v);
            }
            memset(load, 0, net.n_links * sizeof *load);
            walk_all(&net, machine.routing, a, b, walked, &bfs);
            CU_ASSERT_EQUAL(machine.routing->rank_one(&net, a, b, load, &st), FC_OK);
            CU_ASSERT(load_difference(&net, walked, load) < 1e-12);
            for (uint32_t l = 0; l < net.n_links; l++) CU_ASSERT((walked[l] == 0) == (load[l] == 0));
        }
        free(a), free(b), free(walked), free(load);
        fc_test_close(&machine, &net);
    }
}

/* Routes: torus dimensions in order, minimal, on the mesh the named axis first. */
static void routes(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_walk walk;
    struct fc_status st = {0};
    static const char *const yaml[2] = {
        TMESH("dims: [5, 5], mesh: [4, 4], bridges: {x-: 0, y-: 12, x+: 15, y+: 3}"),
        TMESH("dims: [5, 5], mesh: [4, 4], mesh_order: column-first, bridges: {x-: 0, y-: 12, x+: 15, y+: 3}")};
    static const char *const expected[2][4] = {
        {"mesh (4,0).5->6", "mesh (4,0).6->7", "mesh (4,0).7->11", "mesh (4,0).11->15"},
        {"mesh (4,0).5->9", "mesh (4,0).9->13", "mesh (4,0).13->14", "mesh (4,0).14->15"}};
    for (int order = 0; order < 2; order++) {
        if (!fc_test_network(yaml[order], &machine, &net)) return;
        char name[128];
        uint32_t chip = 4, to = 5 + 0; /* (4,0) -> (0,1), node of mesh node 5 to itself */
        CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, machine.routing->walk_capacity(&net), &st), FC_OK);
        machine.routing->walk(&net, chip * 12 + 3, to * 12 + 3, 1, &walk);
        CU_ASSERT_EQUAL(fc_tmesh_tables(&net)->computing[3], 5);
        CU_ASSERT_STRING_EQUAL(fc_link_name(&net, walk.link[0], name, sizeof name), "node 51 in");
        for (int i = 0; i < 4; i++)
            CU_ASSERT_STRING_EQUAL(fc_link_name(&net, walk.link[1 + i], name, sizeof name), expected[order][i]);
        CU_ASSERT_STRING_EQUAL(fc_link_name(&net, walk.link[5], name, sizeof name), "x+ (4,0).15->(0,0).0");
        CU_ASSERT_STRING_EQUAL(fc_link_name(&net, walk.link[9], name, sizeof name), "y+ (0,0).3->(0,1).12");
        CU_ASSERT_STRING_EQUAL(fc_link_name(&net, walk.link[walk.n - 1], name, sizeof name), "node 63 out");
        CU_ASSERT_EQUAL(walk.n, 1 + 4 + 1 + 3 + 1 + 3 + 1);
        fc_walk_free(&walk);
        fc_test_close(&machine, &net);
    }
}

static void bridges_written_and_read(void)
{
    struct fc_machine machine;
    struct fc_network net;
    char text[128], yaml[512];
    if (!fc_test_network(TMESH("dims: [3, 3, 3], mesh: [4, 4], " SIX), &machine, &net)) return;
    CU_ASSERT_STRING_EQUAL(fc_tmesh_bridges_text(fc_tmesh(&net), text, sizeof text),
                           "{x-: 0, y-: 2, z-: 4, x+: 1, y+: 3, z+: 5}");
    snprintf(yaml, sizeof yaml, TMESH("dims: [3, 3, 3], mesh: [4, 4], bridges: %s"), text);
    fc_test_close(&machine, &net);
    if (!fc_test_network(yaml, &machine, &net)) return;
    CU_ASSERT_EQUAL(fc_tmesh(&net)->bridge[1][FC_TMESH_MINUS], 2);
    CU_ASSERT_EQUAL(fc_tmesh(&net)->bridge[2][FC_TMESH_PLUS], 5);
    fc_test_close(&machine, &net);
}

static void refusals(void)
{
    refused(TMESH("mesh: [4, 4], " SIX), FC_INPUT, "network.dims is missing");
    refused(TMESH("dims: [1,1,1,1,1,1,1,1,1], mesh: [9, 9], " SIX), FC_INPUT, "9 dimensions (at most 8)");
    refused(TMESH("dims: [4, 4, 4], " SIX), FC_INPUT, "network.mesh has 0 entries");
    refused(TMESH("dims: [4, 4, 4], mesh: [4], " SIX), FC_INPUT,
            "network.mesh has 1 entries (expected rows and columns");
    refused(TMESH("dims: [4, 4, 4], mesh: [4, 4]"), FC_INPUT, "network.bridges is missing");
    refused(TMESH("dims: [4, 4, 4], mesh: [4, 4], bridges: {x-: 0, x+: 1, y-: 2, y+: 3, z-: 4}"), FC_INPUT,
            "network.bridges: z+ is missing");
    refused(TMESH("dims: [4, 4, 4], mesh: [4, 4], bridges: {x-: 0, x+: 1, y-: 2, y+: 3, z-: 4, z+: 16}"), FC_INPUT,
            "network.bridges: z+: '16' is out of range (allowed: 0 to 15)");
    refused(TMESH("dims: [4, 4], mesh: [4, 4], " SIX), FC_INPUT, "'z-=4' names no torus direction of 2 dimensions");
    refused(TMESH("dims: [4], mesh: [4, 4], bridges: [0, 1]"), FC_INPUT,
            "network.bridges: a list where one value is expected");
    refused(TMESH("dims: [4], mesh: [4, 4], bridges: {x-: 0, x+: no}"), FC_INPUT, "x+: 'no' is not an integer");
    refused(TMESH("dims: [4], mesh: [4, 4], bridges: {x-: 3, x+: 3}"), FC_INPUT,
            "network.bridges: x+: mesh node 3 hosts the bridge x- already");
    refused(TMESH("dims: [4], mesh: [4, 4], bridges: {x-: 3, x+: 4, x-: 5}"), FC_INPUT, "x- is given twice");
    refused(TMESH("dims: [4, 4, 4], mesh: [2, 3], " SIX), FC_INPUT,
            "6 nodes are too few for 6 bridges and a node that computes");
    refused(TMESH("dims: [4, 4, 4], mesh: [1, 5], router_nodes_compute: true, " SIX), FC_INPUT,
            "5 nodes are too few for 6 bridges");
    refused(TMESH("dims: [4, 4, 4], mesh: [4, 4], mesh_order: diagonal, " SIX), FC_INPUT, "mesh_order");
    refused(TMESH("dims: [4, 4, 4], mesh: [4, 4], vc_policy: five, " SIX), FC_INPUT, "vc_policy");
    refused(TMESH("dims: [4, 4, 4], mesh: [4, 4], nodes_per_router: 2, " SIX), FC_INPUT, "nodes_per_router");
    refused(TMESH("dims: [1000, 1000, 1000], mesh: [4, 4], " SIX), FC_NO, "1.6e+10 routers are too many");
    refused("name: t\nnetwork: {family: tmesh, dims: [4], mesh: [2, 2], bridges: {x-: 0, x+: 1}}\n"
            "links: {torus: {bandwidth: 1 GB/s, latency: 1 ns}}\n",
            FC_INPUT, "class 'mesh' is missing");
}

static const CU_TestInfo tests[] = {
    {"mean turn hops of Table 1", published_turn_hops},
    {"on-chip hops behind Table 1's latencies", published_latency_follows_chip_hops},
    {"wiring", wiring},
    {"links by class", links_by_class},
    {"routes", routes},
    {"facts against every route", facts_against_routes},
    {"structural loads against walks", structural_loads},
    {"bridges written and read", bridges_written_and_read},
    {"refusals", refusals},
    CU_TEST_INFO_NULL,
};
int suite_tmesh(void)
{
    return fc_add_suite("tmesh", tests);
}
