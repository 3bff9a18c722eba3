/* test_link_map.c - the layout of networks in pictures: every link and node once, where its name says. */
#include "models/link_map.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const machines[] = {
    "bgl-64",
    "bgl-8x8x1",
    "gemini-xe6",
    "qsnet-64",
    "summit",
    "tmesh-216",
    "percs-16",
    "frontier",
    "theta",
    "name: line\nnetwork: {family: mesh, dims: [5]}\nlinks: {mesh: {bandwidth: 1 GB/s}}\n",
    "name: six\nnetwork: {family: torus, dims: [3, 2, 4, 2, 3, 2], nodes_per_router: 2}\nlinks: {torus: "
    "{bandwidth: 1 "
    "GB/s}}\n",
    "name: rails\nnetwork: {family: fat-tree, children: [4, 3, 2], parents: [2, 3, 2], links: [1, 2, 3], "
    "planes: 2}\n"
    "links: {leaf: {bandwidth: 1 GB/s}, up: {bandwidth: 1 GB/s}}\n",
};

/* Counts how often each link is in a cell, and that its panel is of its class. */
static bool covers(const struct fc_network *net, const struct fc_picture *map)
{
    uint8_t *seen = calloc(net->n_links, 1);
    bool good = seen != NULL;
    for (int p = 0; good && p < map->n_panels; p++) {
        const struct fc_panel *panel = &map->panels[p];
        for (size_t i = 0; good && i < fc_panel_cells(panel); i++)
            if (panel->cell[i] != FC_NONE)
                good = panel->cell[i] < net->n_links && net->link_class[panel->cell[i]] == panel->link_class &&
                       !seen[panel->cell[i]]++;
    }
    for (uint32_t l = 0; good && l < net->n_links; l++) good = seen[l] == 1;
    free(seen);
    return good;
}

static bool covers_nodes(const struct fc_network *net, const struct fc_picture *map)
{
    uint8_t *seen = calloc(net->n_nodes, 1);
    bool good = seen != NULL;
    for (size_t i = 0; good && i < fc_panel_cells(&map->nodes); i++)
        if (map->nodes.cell[i] != FC_NONE) good = map->nodes.cell[i] < net->n_nodes && !seen[map->nodes.cell[i]]++;
    for (uint32_t n = 0; good && n < net->n_nodes; n++) good = seen[n] == 1;
    free(seen);
    return good;
}

static void check_machine(const char *yaml)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_picture map;
    struct fc_status st = {0};
    if (!fc_test_network(yaml, &machine, &net)) return;
    CU_ASSERT(fc_link_map_build(&net, &map, &st) == FC_OK);
    if (!covers(&net, &map)) {
        printf("\n    %s: a link is missing, twice or of another class\n", machine.name);
        CU_FAIL("links");
    }
    CU_ASSERT(covers_nodes(&net, &map));
    fc_link_map_free(&map);
    fc_test_close(&machine, &net);
}

static void test_all(void)
{
    for (size_t i = 0; i < FC_COUNT(machines); i++) check_machine(machines[i]);
}

/* A star of 150 nodes on one router, whose links take three rows, beside a pair of routers. */
static void test_graph(void)
{
    char path[64], yaml[256], *text = NULL;
    size_t size = 0;
    FILE *edges = open_memstream(&text, &size);
    for (int i = 0; i < 150; i++) fprintf(edges, "router r0 node n%d 1 GB/s\n", i);
    fprintf(edges, "router r0 router r1 2 GB/s\nrouter r1 node m 1 GB/s\n");
    fclose(edges);
    CU_ASSERT_FATAL(fc_test_file(path, ".txt", text, size));
    snprintf(yaml, sizeof yaml, "name: star\nnetwork: {family: graph, file: %s, format: edge-list}\n", path);
    check_machine(yaml);
    unlink(path);
    free(text);
}

/* The name of the link in a cell. */
static void check_name(const char *machine_name, const char *title, uint32_t tile, uint32_t row, uint32_t column,
                       const char *expected)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_picture map;
    struct fc_status st = {0};
    char name[256] = "no such panel";
    if (!fc_test_network(machine_name, &machine, &net)) return;
    CU_ASSERT(fc_link_map_build(&net, &map, &st) == FC_OK);
    for (int p = 0; p < map.n_panels; p++) {
        const struct fc_panel *panel = &map.panels[p];
        if (strcmp(panel->title, title)) continue;
        uint32_t link = panel->cell[((size_t)tile * panel->rows + row) * panel->columns + column];
        if (link == FC_NONE)
            strcpy(name, "empty");
        else
            fc_link_name(&net, link, name, sizeof name);
    }
    if (strcmp(name, expected)) printf("\n    %s, %s: %s (expected %s)\n", machine_name, title, name, expected);
    CU_ASSERT_STRING_EQUAL(name, expected);
    fc_link_map_free(&map);
    fc_test_close(&machine, &net);
}

static void test_names(void)
{
    check_name("bgl-64", "y- links", 2, 0, 3, "y- (3,0,2)->(3,3,2)");
    check_name("gemini-xe6", "x+ links", 7, 3, 8 * 15 + 2, "x+ (15,3,7)->(0,3,7) cable 2");
    check_name("percs-64", "D links", 0, 48, 50, "D 48.3->50.3");
    check_name("percs-64", "D links", 0, 9, 9, "empty");
    check_name("percs-16", "LL links", 4 * 15 + 3, 7, 0, "LL 15.31->15.24");
    check_name("percs-16", "LR links", 2, 0, 31, "LR 2.0->2.31");
    check_name("percs-16", "LR links", 2, 8, 15, "empty");
    check_name("percs-16", "node to network", 1, 3, 7, "node 63 in");
    check_name("qsnet-64", "leaf up", 15, 3, 0, "up node 63->L1.15");
    check_name("qsnet-64", "leaf down", 15, 3, 0, "down L1.15->node 63");
    check_name("tmesh-216", "mesh east", 1, 0, 2, "mesh (1,0,0).2->3");
    check_name("tmesh-216", "mesh east", 1, 0, 3, "empty");
}

int suite_link_map(void)
{
    static const CU_TestInfo tests[] = {
        {"every link and node has one cell", test_all},
        {"a network from a file", test_graph},
        {"cells are where their names say", test_names},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("link map", tests);
}
