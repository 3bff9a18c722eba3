/* test_families.c - families know themselves: whose shape a network has, what generic code does where a record leaves a
 * member out, and what is walked because no rule or kernel routing knows it. */
#include "models/family_fat_tree.h"
#include "models/family_graph.h"
#include "models/link_map.h"
#include "solvers/flit/route.h"
#include "tests/dependencies.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

enum { IS_TORUS = 1, IS_FAT_TREE = 2, IS_TMESH = 4, IS_TWO_LEVEL = 8, IS_GRAPH = 16 };

static int kinds(const struct fc_network *net)
{
    return (fc_torus(net) ? IS_TORUS : 0) | (fc_fat_tree(net) ? IS_FAT_TREE : 0) | (fc_tmesh(net) ? IS_TMESH : 0) |
           (fc_two_level(net) ? IS_TWO_LEVEL : 0) | (fc_graph(net) ? IS_GRAPH : 0);
}

static void shape_of_its_own_family(void)
{
    static const struct {
        const char *machine;
        int kind;
    } cases[] = {{"bgl-64", IS_TORUS},    {MESH("dims: [5, 3]"), IS_TORUS}, {"qsnet-64", IS_FAT_TREE},
                 {"tmesh-216", IS_TMESH}, {"percs-16", IS_TWO_LEVEL},       {"tests/fabrics/rails_ndr.yaml", IS_GRAPH}};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        if (!fc_test_network(cases[i].machine, &machine, &net)) continue;
        CU_ASSERT_EQUAL(kinds(&net), cases[i].kind);
        CU_ASSERT(fc_machine_torus(&machine) == fc_torus(&net) && fc_machine_fat_tree(&machine) == fc_fat_tree(&net));
        CU_ASSERT(fc_machine_tmesh(&machine) == fc_tmesh(&net) && fc_machine_two_level(&machine) == fc_two_level(&net));
        CU_ASSERT_PTR_EQUAL(fc_machine_graph(&machine), fc_graph(&net));
        fc_test_close(&machine, &net);
    }
}

/* The record without what may be left out. */
static struct fc_family_ops bare(const struct fc_family_ops *family)
{
    struct fc_family_ops b = *family;
    b.words = NULL;
    b.relative = NULL;
    b.grid = NULL;
    b.tree = NULL;
    b.hard_patterns = NULL;
    b.layout = NULL;
    b.block_name = NULL;
    b.units = NULL;
    b.looks_alike = NULL;
    b.node_names = NULL;
    b.left_out = NULL;
    b.order = NULL;
    return b;
}

/* Cells with a link or node, all different. */
static uint64_t distinct(const struct fc_panel *panels, int n_panels, uint32_t n)
{
    uint8_t *seen = calloc(n, 1);
    uint64_t count = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(seen);
    for (int p = 0; p < n_panels; p++)
        for (size_t i = 0; i < fc_panel_cells(&panels[p]); i++) {
            uint32_t cell = panels[p].cell[i];
            if (cell == FC_NONE) continue;
            CU_ASSERT_FATAL(cell < n);
            count += !seen[cell];
            seen[cell] = 1;
        }
    free(seen);
    return count;
}

static void left_out(void)
{
    static const char *const machines[] = {"bgl-64", "qsnet-64", "tmesh-216", "percs-16"};
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        struct fc_machine machine, smaller;
        struct fc_network net;
        struct fc_status st = {0};
        struct fc_picture map;
        char own[512], words[512];
        bool exists = true;
        if (!fc_test_network(machines[i], &machine, &net)) continue;
        fc_machine_shape(&machine, own, sizeof own);
        struct fc_family_ops family = bare(machine.family);
        machine.family = &family;
        CU_ASSERT_EQUAL(kinds(&net), 0); /* nobody takes it for one of ours */
        fc_machine_shape(&machine, words, sizeof words);
        if (i < 2) CU_ASSERT_STRING_EQUAL(words, own);
        CU_ASSERT(strlen(words) > 0);
        CU_ASSERT(fc_machine_smaller(&machine, 0, &smaller, &exists, &st) == FC_OK && !exists);
        CU_ASSERT_EQUAL(fc_link_map_build(&net, &map, &st), FC_OK);
        CU_ASSERT_EQUAL(distinct(map.panels, map.n_panels, net.n_links), net.n_links);
        CU_ASSERT_EQUAL(distinct(&map.nodes, 1, net.n_nodes), net.n_nodes);
        fc_link_map_free(&map);
        fc_test_close(&machine, &net);
    }
}

/* ---- walked ---- */

/* The walks give the dependencies of the relations that were written for these routings. */
static void walked_dependencies(void)
{
    static const struct {
        const char *machine, *routing, *rule;
    } cases[] = {{MESH("dims: [4, 3]"), "dimension-order", "none"},
                 {MESH("dims: [3, 2, 3], nodes_per_router: 2"), "dimension-order", "none"},
                 {TORUS("dims: [5, 3]"), "dimension-order", "none"},
                 {"qsnet-64", "nca", "up-down"}};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_status st = {0};
        struct fc_cdg walked, own;
        if (!fc_test_network(cases[i].machine, &machine, &net)) continue;
        route_by(&machine, cases[i].routing);
        CU_ASSERT_EQUAL_FATAL(fc_cdg_build(&net, &fc_vc_walked, &walked, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_cdg_build(&net, rule_of(&net, cases[i].rule), &own, &st), FC_OK);
        CU_ASSERT_EQUAL(walked.n_channels, own.n_channels);
        if (own.n_vertices == own.n_channels) { /* no hubs: arc by arc */
            CU_ASSERT_EQUAL_FATAL(walked.n_arcs, own.n_arcs);
            CU_ASSERT(!memcmp(walked.to, own.to, own.n_arcs * sizeof *own.to));
            CU_ASSERT(!memcmp(walked.first, own.first, (own.n_vertices + 1) * sizeof *own.first));
        }
        uint32_t *order = malloc(3 * (walked.n_vertices + own.n_vertices) * sizeof *order);
        CU_ASSERT_PTR_NOT_NULL_FATAL(order);
        bool acyclic = fc_cdg_sort(&walked, order, order + walked.n_vertices) == walked.n_vertices;
        CU_ASSERT_EQUAL(acyclic, fc_cdg_sort(&own, order, order + own.n_vertices) == own.n_vertices);
        free(order);
        fc_cdg_free(&walked);
        fc_cdg_free(&own);
        fc_test_close(&machine, &net);
    }
}

/* A routing that nobody lists: certified by its walks, which the kernel's packets follow. */
static void walked_packets(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_flit_net flit;
    struct fc_flit_settings settings;
    struct fc_status st = {0};
    struct fc_walk walk;
    struct fc_routing_ops other = fc_routing_dimension_order;
    size_t wrong = 0;
    other.name = "other";
    if (!fc_test_network(MESH("dims: [4, 3], nodes_per_router: 2"), &machine, &net)) return;
    machine.routing = &other;
    fc_flit_defaults(&settings);
    CU_ASSERT_EQUAL_FATAL(fc_flit_prepare(&net, &settings, &flit, &st), FC_OK);
    CU_ASSERT(flit.route == &fc_route_walked && flit.safe && !strcmp(flit.vc_rule, fc_vc_walked.name));
    CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, other.walk_capacity(&net), &st), FC_OK);
    for (uint32_t s = 0; s < net.n_nodes; s++)
        for (uint32_t d = 0; d < net.n_nodes; d++) {
            struct fc_flit_head head = {.dst = d, .route = flit.route->start(&flit, s, d, 7, NULL)};
            struct fc_flit_choice out;
            uint32_t at = fc_node_vertex(&net, s), in = FC_NONE;
            walk.n = 0;
            if (s != d) {
                other.walk(&net, s, d, 1, &walk);
            } else { /* to itself: in and out */
                fc_walk_add(&walk, net.first_link[at], 1);
                fc_walk_add(&walk, fc_find_link(&net, net.link_target[net.first_link[at]], at), 1);
            }
            for (uint32_t i = 0; i < walk.n; i++) {
                wrong += flit.route->choices(&flit, at, in, 0, &head, &out) != 1;
                wrong += out.link != walk.link[i] || !out.vcs;
                in = walk.link[i];
                at = net.link_target[in];
            }
            wrong += at != fc_node_vertex(&net, d);
        }
    CU_ASSERT_EQUAL(wrong, 0);
    fc_walk_free(&walk);
    fc_flit_unprepare(&flit);
    fc_test_close(&machine, &net);
}

/* Walks that split, and rings that close a cycle. */
static void walked_refusals(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_flit_net flit;
    struct fc_flit_settings settings;
    struct fc_status cycle = {0}, split = {0}, unknown = {0};
    struct fc_certificate c;
    struct fc_routing_ops other = fc_routing_dimension_order;
    other.name = "other";
    if (!fc_test_network(TORUS("dims: [4, 3]"), &machine, &net)) return;
    machine.routing = &other;
    fc_flit_defaults(&settings);
    CU_ASSERT_NOT_EQUAL(fc_flit_prepare(&net, &settings, &flit, &cycle), FC_OK);
    CU_ASSERT(fc_says(&cycle, FC_INPUT, "other routing can deadlock under rule walked: x+ (0,0)->(1,0) vc 0"));
    settings.allow_deadlock = true;
    CU_ASSERT_NOT_EQUAL(fc_flit_prepare(&net, &settings, &flit, &split), FC_OK);
    CU_ASSERT(fc_says(&split, FC_INPUT,
                      "the flit-level kernel has no other routing of torus networks, and its walks "
                      "are no single paths"));
    CU_ASSERT_EQUAL(fc_certify(&net, "hops", &c, &unknown), FC_INPUT);
    CU_ASSERT(fc_says(&unknown, FC_INPUT, "no virtual-channel rule 'hops' (it has: walked, "));
    fc_test_close(&machine, &net);
}

/* A ring of 24 on a machine of lines of 8 is laid through 4 columns of 6, one of 12 through 2: neighbours of either ring
 * are neighbours in the network, with chords between columns that the ring does not use. */
static void folded(void)
{
    struct fc_machine machine;
    struct fc_network net;
    if (!fc_test_network(TORUS("dims: [24, 3, 12], links_per_dim: [1, 1, 2], nodes_per_router: 2, longest_line: 8"),
                         &machine, &net))
        return;
    const struct fc_torus_shape *s = fc_torus(&net);
    static const uint32_t k[] = {6, 4, 3, 6, 2}, parallel[] = {1, 1, 1, 2, 2};
    static const bool ring[] = {false, true, true, false, false};
    CU_ASSERT_FATAL(s->n_dims == 5 && net.n_nodes == 2 * 24 * 3 * 12);
    for (int d = 0; d < 5; d++) CU_ASSERT(s->k[d] == k[d] && s->ring[d] == ring[d] && s->parallel[d] == parallel[d]);
    uint32_t *node = calloc(net.n_nodes, sizeof *node), *seen = calloc(net.n_nodes, sizeof *seen), chords = 0;
    CU_ASSERT_FATAL(node && seen && machine.family->order(&net, node));
    for (uint32_t i = 0; i < net.n_nodes; i++) CU_ASSERT_FATAL(node[i] < net.n_nodes && !seen[node[i]]++);
    for (uint32_t place = 0; place < 24 * 3 * 12; place++) { /* in the torus that the job asked for */
        uint32_t x = place % 24, z = place / 72, router = node[2 * place] / 2;
        CU_ASSERT(node[2 * place] % 2 == 0 && node[2 * place + 1] == node[2 * place] + 1);
        CU_ASSERT(fc_find_link(&net, router, node[2 * (place - x + (x + 1) % 24)] / 2) != FC_NONE);
        CU_ASSERT(fc_find_link(&net, router, node[2 * (place - 72 * z + 72 * ((z + 1) % 12))] / 2) != FC_NONE);
        if (x < 12) chords += fc_find_link(&net, router, node[2 * (place - x + 11 - x)] / 2) != FC_NONE;
    }
    CU_ASSERT_EQUAL(chords, 12 * 3 * 12); /* the way back is beside it everywhere, not at the turn alone */
    free(node), free(seen);
    fc_test_close(&machine, &net);
    if (!fc_test_network(TORUS("dims: [8, 3], longest_line: 8"), &machine, &net)) return;
    CU_ASSERT(fc_torus(&net)->n_dims == 2 && fc_torus(&net)->ring[0] && !machine.family->order(&net, NULL));
    fc_test_close(&machine, &net);
}

static const CU_TestInfo tests[] = {
    {"rings that are folded", folded},
    {"a shape is its own family's", shape_of_its_own_family},
    {"what a record leaves out", left_out},
    {"dependencies of walks", walked_dependencies},
    {"packets follow walks", walked_packets},
    {"what cannot be walked", walked_refusals},
    CU_TEST_INFO_NULL,
};

int suite_families(void)
{
    return fc_add_suite("families", tests);
}
