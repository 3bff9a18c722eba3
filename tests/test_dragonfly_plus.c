/* test_dragonfly_plus.c - networks of unequal cells: counts, names and ports by hand, refusals; the real machines of that
 * family: ports of their switches, hosts in their places, and the node lists of real jobs. */
#include "models/family_dragonfly_plus.h"
#include "models/hosts.h"
#include "tests/network_checks.h"
#include "tests/support.h"

#include <ctype.h>
#include <glob.h>

#define LINKS "\nlinks: {spine: {bandwidth: 25 GB/s}, global: {bandwidth: 10 GB/s}, injection: {bandwidth: 1 GB/s}}\n"
#define CELLS(keys) "name: t\nnetwork: {family: dragonfly-plus, " keys "}" LINKS

/* ---- by hand ---- */

static void counts_and_names(void)
{
    /* Cells of 2 leaves and 3 spines (nodes 2, 0), and of 3 leaves and 2 spines (1, 4 with two links, 2). */
    static const char yaml[] =
        CELLS("cells: [1, 1], leaves: [2, 3], spines: [3, 2], leaf_nodes: '2, 0, 1, 4/2, 2', links_per_pair: 4");
    struct fc_machine m;
    struct fc_network net;
    struct fc_facts f;
    struct fc_status st = {0};
    char name[100];
    if (!fc_test_network(yaml, &m, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_network_facts(&net, &f, &st), FC_OK);
    CU_ASSERT_EQUAL(net.n_nodes, 9);
    CU_ASSERT_EQUAL(net.n_routers, 10);
    CU_ASSERT_EQUAL(f.class_links[0], 2 * (2 * 3 + 3 * 2));
    CU_ASSERT_EQUAL(f.class_links[1], 2 * 4);
    CU_ASSERT_EQUAL(f.class_links[2], 2 * (2 + 1 + 8 + 2));
    CU_ASSERT_EQUAL(f.bisection_links, 4);
    CU_ASSERT_EQUAL(f.diameter_hops, 3);
    /* Ordered pairs: 2 x 2 x 7 between cells; within the second 49 - (1 + 16 + 4) on different leaves; of 81. */
    CU_ASSERT(fc_near(f.mean_hops, (3 * 28 + 2 * 28) / 81.0, 1e-14));
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&net, 1, name, sizeof name), "0.1");
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&net, 4, name, sizeof name), "0.s2");
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&net, 6, name, sizeof name), "1.1");
    CU_ASSERT_STRING_EQUAL(fc_link_name(&net, fc_plus_up(&net, &fc_plus(&net)->cell[0], 1, 2), name, sizeof name),
                           "up 0.1->0.s2");
    CU_ASSERT_STRING_EQUAL(fc_link_name(&net, fc_plus_down(&net, &fc_plus(&net)->cell[1], 1, 0), name, sizeof name),
                           "down 1.s1->1.0");
    /* Cable c to cell 1 at spine (4 + c) mod 3, at its other end at spine c mod 2. */
    CU_ASSERT_STRING_EQUAL(fc_link_name(&net, fc_plus_global(&net, 0, 1, 0), name, sizeof name), "global 0.s1->1.s0");
    CU_ASSERT_STRING_EQUAL(fc_link_name(&net, fc_plus_global(&net, 0, 1, 3), name, sizeof name), "global 0.s1->1.s1");
    CU_ASSERT_STRING_EQUAL(fc_link_name(&net, fc_plus_global(&net, 1, 0, 1), name, sizeof name), "global 1.s1->0.s2");
    fc_test_close(&m, &net);
}

/* Two cells of kind 0 and two of kind 1: 3 links within the former, 1 between kinds, 5 within the latter. */
static void kinds_of_links(void)
{
    static const char yaml[] =
        CELLS("cells: [2, 2], leaves: [2, 2], spines: [2, 3], nodes_per_cell: [4, 4], links_by_kind: [3, 1, 5]");
    static const uint32_t cables[4][4] = {{0, 3, 1, 1}, {3, 0, 1, 1}, {1, 1, 0, 5}, {1, 1, 5, 0}};
    struct fc_machine m;
    struct fc_network net;
    struct fc_facts f;
    struct fc_status st = {0};
    if (!fc_test_network(yaml, &m, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_network_facts(&net, &f, &st), FC_OK);
    CU_ASSERT_EQUAL(f.class_links[1], 2 * (3 + 4 * 1 + 5));
    CU_ASSERT_EQUAL(f.bisection_links, 4); /* the first two cells against the others */
    for (uint32_t a = 0; a < 4; a++)
        for (uint32_t b = 0; b < 4; b++) {
            uint32_t n = 0, hosts = fc_plus_hosts(&fc_plus(&net)->cell[a]);
            for (uint32_t h = 0; h < hosts; h++) {
                uint32_t router = fc_plus_host_router(&fc_plus(&net)->cell[a], h);
                for (uint32_t l = net.first_link[router]; l < net.first_link[router + 1]; l++)
                    n += !fc_is_node(&net, net.link_target[l]) && net.link_class[l] == fc_plus(&net)->global_class &&
                         fc_plus(&net)->router_cell[net.link_target[l]] == b;
            }
            CU_ASSERT_EQUAL(n, cables[a][b]);
        }
    fc_test_close(&m, &net);
}

static void refusals(void)
{
    refused(CELLS("cells: [2, 1], leaves: [2, 2], spines: [1, 1], nodes_per_cell: [4, 4], links_by_kind: [1, 2]"),
            FC_INPUT, "network.links_by_kind has 2 entries (expected 3, of kind 0 with 0, 1, ...");
    refused(CELLS("cells: [2], leaves: [2], spines: [1], nodes_per_cell: [4], links_by_kind: [2], links_per_pair: 2"),
            FC_INPUT, "expected one of links_per_pair and links_by_kind");
    refused(CELLS("leaves: [2], nodes_per_cell: [4]"), FC_INPUT, "network.cells is missing");
    refused(CELLS("cells: [2], nodes_per_cell: [4]"), FC_INPUT, "network.leaves has 0 entries (expected 1");
    refused(CELLS("cells: [2, 1], leaves: [2, 2], spines: [1], nodes_per_cell: [4, 4]"), FC_INPUT,
            "network.spines has 1 entries (expected 2");
    refused(CELLS("cells: [2], leaves: [2]"), FC_INPUT, "expected one of nodes_per_cell and leaf_nodes");
    refused(CELLS("cells: [1], leaves: [2], nodes_per_cell: [4], leaf_nodes: '2, 2'"), FC_INPUT,
            "expected one of nodes_per_cell and leaf_nodes");
    refused(CELLS("cells: [2], leaves: [3], rails: [2], nodes_per_cell: [4]"), FC_INPUT,
            "network.rails: 3 leaf switches a cell are not whole sets of 2");
    refused(CELLS("cells: [2], leaves: [1], nodes_per_cell: [70000]"), FC_INPUT, "at most 65535 nodes a leaf switch");
    refused(CELLS("cells: [2], leaves: [2], spines: [1], leaf_nodes: '3*2'"), FC_INPUT,
            "ends after 3 leaf switches (expected 4)");
    refused(CELLS("cells: [2], leaves: [2], spines: [1], leaf_nodes: '5*2'"), FC_INPUT,
            "more than the 4 leaf switches");
    refused(CELLS("cells: [2], leaves: [2], spines: [1], leaf_nodes: '4*2, 1'"), FC_INPUT,
            "more than the 4 leaf switches");
    static const char *const wrong[] = {"0*2, 4*1", "2*70000, 2", "4*2/0", "4*2/256", "2,, 2", "x", "2*", "-1", "4*2;"};
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        char yaml[400];
        snprintf(yaml, sizeof yaml, CELLS("cells: [2], leaves: [2], spines: [1], leaf_nodes: '%s'"), wrong[i]);
        refused(yaml, FC_INPUT, "expected nodes of each leaf switch, such as");
    }
    refused(CELLS("cells: [1], leaves: [2], spines: [1], leaf_nodes: '0, 0'"), FC_INPUT, "network: no nodes");
    refused(CELLS("cells: [65535], leaves: [1024], nodes_per_cell: [4]"), FC_NO, "switches are too many");
    refused(CELLS("cells: [4096], leaves: [1024], leaf_nodes: '4194304*65535'"), FC_NO, "nodes");
    refused(CELLS("cells: [2], leaves: [2], nodes_per_cell: [4]"), FC_INPUT, "has no link class 'spine'");
}

/* ---- the real machines ---- */

/* Most and fewest cables between switches, and all ports, of the leaf and spine switches of a cell. */
static void check_ports(const struct fc_network *net, uint32_t cell, uint32_t nodes, uint32_t within, uint32_t global)
{
    const struct fc_plus_shape *s = fc_plus(net);
    const struct fc_plus_cell *c = &s->cell[cell];
    uint32_t most[3] = {0};
    for (uint32_t r = c->first_router; r < c->first_router + c->n_leaves + c->n_spines; r++) {
        uint32_t n[3] = {0};
        for (uint32_t l = net->first_link[r]; l < net->first_link[r + 1]; l++)
            n[fc_is_node(net, net->link_target[l]) ? 0 : net->link_class[l] == s->global_class ? 2 : 1]++;
        for (int i = 0; i < 3; i++) most[i] = n[i] > most[i] ? n[i] : most[i];
    }
    CU_ASSERT_EQUAL(most[0], nodes);
    CU_ASSERT_EQUAL(most[1], within);
    CU_ASSERT(most[2] <= global);
}

static void certified(const struct fc_network *net)
{
    struct fc_certificate c;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_certify(net, NULL, &c, &st), FC_OK);
    CU_ASSERT(c.safe && c.acyclic && c.enough);
    fc_certificate_free(&c);
}

/* Node numbers of hosts, -1: refused. */
static long node_of(const struct fc_network *net, const char *host)
{
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    uint32_t *node;
    size_t n;
    long found = fc_nodes_read(net, host, 0, &arena, &node, &n, &st) || n != 1 ? -1 : (long)node[0];
    fc_arena_free(&arena);
    return found;
}
static uint32_t cell_of(const struct fc_network *net, const char *host)
{
    long node = node_of(net, host);
    return node < 0 ? FC_NONE : fc_plus(net)->block[fc_plus(net)->node_block[node]].cell;
}

static void lumi(void)
{
    struct fc_machine m;
    struct fc_network net;
    if (!fc_test_network("lumi", &m, &net)) return;
    check_ports(&net, 0, 16, 15, 17);
    check_ports(&net, 8, 16, 31, 17);
    check_ports(&net, 31, 16, 31, 17);
    CU_ASSERT_EQUAL(fc_plus_cables(fc_plus(&net), 0, 7), 16);  /* 22.4 TB/s of 28 pairs, 50 GB/s a link */
    CU_ASSERT_EQUAL(fc_plus_cables(fc_plus(&net), 31, 0), 4);  /* 38.4 TB/s of 8 * 24 */
    CU_ASSERT_EQUAL(fc_plus_cables(fc_plus(&net), 8, 31), 20); /* 276 TB/s of 276 */
    certified(&net);
    CU_ASSERT_EQUAL(node_of(&net, "nid001000"), 0);
    CU_ASSERT_EQUAL(node_of(&net, "nid003047"), 2047);
    CU_ASSERT_EQUAL(node_of(&net, "nid003048"), -1);
    CU_ASSERT_EQUAL(node_of(&net, "nid005000"), 2048);
    CU_ASSERT_EQUAL(node_of(&net, "nid007977"), 5025);
    CU_ASSERT_EQUAL(node_of(&net, "nid007978"), -1);
    CU_ASSERT_EQUAL(cell_of(&net, "nid001255"), 0);
    CU_ASSERT_EQUAL(cell_of(&net, "nid001256"), 1);
    CU_ASSERT_EQUAL(cell_of(&net, "nid005123"), 8);
    CU_ASSERT_EQUAL(cell_of(&net, "nid005124"), 9);
    CU_ASSERT_EQUAL(cell_of(&net, "nid007851"), 30);
    CU_ASSERT_EQUAL(cell_of(&net, "nid007852"), 31);
    fc_test_close(&m, &net);
}

static void leonardo(void)
{
    /* Host, cell, leaf switch in the cell, as the site's map has them (cell and switches counted from 0). */
    static const struct {
        const char *host;
        uint32_t cell, leaf;
    } places[] = {{"lrdn0001", 0, 0},  {"lrdn0014", 0, 0},  {"lrdn0009", 0, 2},   {"lrdn0015", 0, 1},
                  {"lrdn0030", 0, 2},  {"lrdn0031", 0, 3},  {"lrdn0181", 1, 0},   {"lrdn3420", 18, 17},
                  {"lrdn3435", 19, 1}, {"lrdn3438", 19, 2}, {"lrdn3457", 19, 6},  {"lrdn3483", 19, 7},
                  {"lrdn3745", 20, 0}, {"lrdn3771", 20, 1}, {"lrdn4368", 20, 15}, {"lrdn4369", 21, 0},
                  {"lrdn4992", 21, 15}};
    struct fc_machine m;
    struct fc_network net;
    if (!fc_test_network("leonardo", &m, &net)) return;
    check_ports(&net, 0, 40, 18, 22);
    check_ports(&net, 19, 40, 18, 22);
    check_ports(&net, 20, 40, 18, 22);
    certified(&net);
    for (size_t i = 0; i < FC_COUNT(places); i++) {
        const struct fc_plus_shape *s = fc_plus(&net);
        long node = node_of(&net, places[i].host);
        CU_ASSERT_FATAL(node >= 0);
        const struct fc_plus_block *b = &s->block[s->node_block[node]];
        CU_ASSERT_EQUAL(b->cell, places[i].cell);
        CU_ASSERT_EQUAL(b->first_leaf - s->cell[b->cell].first_router, places[i].leaf);
        CU_ASSERT_EQUAL(b->cables, strcmp(places[i].host, "lrdn3456") > 0 ? 1 : 4);
    }
    CU_ASSERT_EQUAL(node_of(&net, "lrdn4993"), -1);
    fc_test_close(&m, &net);
}

static void aurora(void)
{
    struct fc_machine m;
    struct fc_network net;
    if (!fc_test_network("aurora", &m, &net)) return;
    check_ports(&net, 7, 16, 31, 11);
    certified(&net);
    double all = 166 * 165.0 * 2 * m.classes[1].bandwidth_bytes_per_s; /* both ways of every cable: 1.38 PB/s */
    CU_ASSERT_DOUBLE_EQUAL(all, 1.38e15, 0.015e15);
    fc_test_close(&m, &net);
}

/* ---- jobs ---- */

#define SHARED "../shared/reference/measured/"

/* "32 lrdn[0043,...]", a job a line: as many nodes as it says. */
static void read_jobs(const struct fc_network *net, const char *path)
{
    struct fc_arena arena = {0};
    struct fc_text text;
    struct fc_status st = {0};
    size_t jobs = 0, wrong = 0;
    CU_ASSERT_EQUAL_FATAL(fc_read_file(path, &arena, &text, &st), FC_OK);
    for (char *line = strtok((char *)text.data, "\n"); line; line = strtok(NULL, "\n")) {
        struct fc_arena scratch = {0};
        char *list;
        unsigned long size = strtoul(line, &list, 10);
        uint32_t *node;
        size_t n;
        jobs++;
        if (fc_nodes_read(net, list + 1, 0, &scratch, &node, &n, &st) || n != size) {
            if (!wrong++) printf("\n    %.60s: %s", line, st.message);
            st = (struct fc_status){0};
        }
        fc_arena_free(&scratch);
    }
    CU_ASSERT(jobs > 100);
    CU_ASSERT_EQUAL(wrong, 0);
    fc_arena_free(&arena);
}

static void jobs_of(const char *machine)
{
    struct fc_machine m;
    struct fc_network net;
    char path[200];
    glob_t found;
    if (!fc_test_network(machine, &m, &net)) return;
    snprintf(path, sizeof path, SHARED "jobs-%s.txt", machine);
    read_jobs(&net, path);
    snprintf(path, sizeof path, SHARED "allocations/%s-*.txt", machine);
    CU_ASSERT_EQUAL_FATAL(glob(path, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct fc_arena arena = {0};
        struct fc_status st = {0};
        uint32_t *node;
        size_t n;
        enum fc_code code = fc_nodes_read(&net, found.gl_pathv[i], 0, &arena, &node, &n, &st);
        if (code) printf("\n    %s: %s", found.gl_pathv[i], st.message);
        CU_ASSERT(code == FC_OK && n > 0);
        fc_arena_free(&arena);
    }
    globfree(&found);
    fc_test_close(&m, &net);
}

/* The greatest groups of a real job of 1000 nodes as its authors counted them: 94, 85, 79, 66, 62, ... nodes. */
static void groups_of_a_job(void)
{
    static const uint32_t expected[] = {94, 85, 79, 66, 62, 56, 53, 52, 52, 50, 45,
                                        44, 38, 37, 35, 31, 26, 21, 21, 21, 18, 14};
    struct fc_machine m;
    struct fc_network net;
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    uint32_t *node, count[32] = {0};
    size_t n;
    if (!fc_test_network("lumi", &m, &net)) return;
    CU_ASSERT_EQUAL_FATAL(
        fc_nodes_read(&net, SHARED "allocations/lumi-2025_04_12___00_29_36.txt", 0, &arena, &node, &n, &st), FC_OK);
    for (size_t i = 0; i < n; i++) count[fc_plus(&net)->block[fc_plus(&net)->node_block[node[i]]].cell]++;
    for (size_t i = 0; i < FC_COUNT(expected); i++) {
        uint32_t greatest = 0;
        for (uint32_t c = 1; c < 32; c++) greatest = count[c] > count[greatest] ? c : greatest;
        CU_ASSERT_EQUAL(count[greatest], expected[i]);
        count[greatest] = 0;
    }
    fc_arena_free(&arena);
    fc_test_close(&m, &net);
}

static void jobs(void)
{
    if (access(SHARED "jobs-lumi.txt", R_OK)) {
        printf("\n    skipped: no " SHARED "jobs-lumi.txt");
        return;
    }
    jobs_of("lumi");
    jobs_of("leonardo");
    groups_of_a_job();
}

static const CU_TestInfo tests[] = {
    {"counts and names by hand", counts_and_names},
    {"links by kinds of cells", kinds_of_links},
    {"refusals", refusals},
    {"LUMI: ports, groups, hosts", lumi},
    {"Leonardo: ports, cells, leaf switches", leonardo},
    {"Aurora: ports and global bandwidth", aurora},
    {"node lists of real jobs", jobs},
    CU_TEST_INFO_NULL,
};

int suite_dragonfly_plus(void)
{
    return fc_add_suite("dragonfly-plus", tests);
}
