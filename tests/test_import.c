/* test_import.c - topology files as machine files: tori and fat-trees are recognised whatever their switches are called, node
 * by node; what only looks like one stays a graph; hosts keep their names; refusals. */
#include "models/family_graph.h"
#include "models/import/import.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct imported {
    char folder[40], path[64], hosts[64], words[2048];
    struct fc_machine machine;
    struct fc_network net;
};

static bool import(const char *kind, const char *file, struct imported *i, struct fc_status *st)
{
    snprintf(i->folder, sizeof i->folder, "/tmp/fc_import_XXXXXX");
    if (!mkdtemp(i->folder)) return false;
    snprintf(i->path, sizeof i->path, "%s/site.yaml", i->folder);
    snprintf(i->hosts, sizeof i->hosts, "%s/site.hosts", i->folder);
    bool open = !fc_machine_import(kind, &file, 1, i->path, i->words, sizeof i->words, st) &&
                !fc_machine_load(i->path, &i->machine, st);
    if (open && fc_network_build(&i->machine, &i->net, st)) {
        fc_machine_free(&i->machine);
        open = false;
    }
    unlink(i->path);
    unlink(i->hosts);
    rmdir(i->folder);
    return open;
}

/* The network as a list of cables between switches "s<number>" and hosts "h<number>", drawn anew; cable number `but` is left
 * out (FC_NONE: none). */
static bool as_edges(const struct fc_network *net, uint64_t seed, uint32_t but, char *path)
{
    uint32_t *router = malloc(net->n_routers * sizeof *router), *node = malloc(net->n_nodes * sizeof *node), n = 0;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    fc_random_permutation(seed, 1, router, net->n_routers);
    fc_random_permutation(seed, 2, node, net->n_nodes);
    for (uint32_t r = 0; r < net->n_routers; r++)
        for (uint32_t l = net->first_link[r]; l < net->first_link[r + 1]; l++) {
            uint32_t to = net->link_target[l], parallel = 0, first = l;
            for (uint32_t k = net->first_link[r]; k < net->first_link[r + 1]; k++) {
                parallel += net->link_target[k] == to;
                if (net->link_target[k] == to && k < first) first = k;
            }
            if (first < l || (!fc_is_node(net, to) && to < r) || n++ == but) continue;
            if (fc_is_node(net, to))
                fprintf(f, "router s%u node h%u\n", router[r], node[to - net->n_routers]);
            else
                fprintf(f, "router s%u router s%u 10 GB/s 5 ns %u\n", router[r], router[to], parallel);
        }
    fclose(f);
    bool made = fc_test_file(path, ".edges", text, size);
    free(text);
    free(router);
    free(node);
    return made;
}

/* Reads it back: as many of everything, the same distances between all pairs of hosts, by their names. */
static void comes_back(const char *yaml, const char *says)
{
    struct fc_machine machine;
    struct fc_network net;
    char path[64];
    if (!fc_test_network(yaml, &machine, &net)) return;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct imported i;
        struct fc_status st = {0};
        CU_ASSERT_TRUE_FATAL(as_edges(&net, seed, FC_NONE, path));
        if (!import("edges", path, &i, &st)) {
            printf("%s\n", st.message);
            CU_FAIL_FATAL("not imported");
        }
        if (!strstr(i.words, says)) printf("%s", i.words);
        CU_ASSERT_PTR_NOT_NULL(strstr(i.words, says));
        CU_ASSERT_STRING_EQUAL(i.machine.family->name, machine.family->name);
        CU_ASSERT(i.net.n_routers == net.n_routers && i.net.n_nodes == net.n_nodes && i.net.n_links == net.n_links);
        uint32_t *hops[2], *queue = malloc(net.n_vertices * sizeof *queue), *node = malloc(net.n_nodes * sizeof *node);
        for (int k = 0; k < 2; k++) hops[k] = malloc(net.n_vertices * sizeof *hops[k]);
        fc_random_permutation(seed, 2, node, net.n_nodes); /* the host of node n is h<node[n]> */
        uint32_t *at = malloc(net.n_nodes * sizeof *at);   /* where it stands in what came back */
        for (uint32_t n = 0; n < net.n_nodes; n++) at[atoi(i.net.host_name[n] + 1)] = n;
        for (uint32_t a = 0; a < net.n_nodes; a += 1 + net.n_nodes / 9) {
            fc_distances(&net, fc_node_vertex(&net, a), hops[0], queue);
            fc_distances(&i.net, fc_node_vertex(&i.net, at[node[a]]), hops[1], queue);
            for (uint32_t b = 0; b < net.n_nodes; b++)
                CU_ASSERT_EQUAL(hops[0][net.n_routers + b], hops[1][net.n_routers + at[node[b]]]);
        }
        free(hops[0]);
        free(hops[1]);
        free(queue);
        free(node);
        free(at);
        fc_test_close(&i.machine, &i.net);
        unlink(path);
    }
    fc_test_close(&machine, &net);
}

#define RATES "links: {torus: {bandwidth: 10 GB/s}}\n"
#define TREE_RATES "links: {leaf: {bandwidth: 10 GB/s}, up: {bandwidth: 10 GB/s}}\n"

static void tori(void)
{
    comes_back("name: a\nnetwork: {family: torus, dims: [5]}\n" RATES, "a torus of 5 routers, 1 nodes each");
    comes_back("name: a\nnetwork: {family: torus, dims: [5, 5], nodes_per_router: 2}\n" RATES,
               "a torus of 5 x 5 routers, 2 nodes each");
    comes_back("name: a\nnetwork: {family: torus, dims: [4, 4, 4]}\n" RATES, "a torus of 4 x 4 x 4 routers");
    comes_back("name: a\nnetwork: {family: torus, dims: [3, 3, 3, 3]}\n" RATES, "a torus of 3 x 3 x 3 x 3 routers");
    comes_back("name: a\nnetwork: {family: torus, dims: [6, 6], links_per_dim: [2, 2]}\n" RATES,
               "a torus of 6 x 6 routers");
}

static void trees(void)
{
    comes_back(
        "name: a\nnetwork: {family: fat-tree, children: [5], parents: [1]}\nlinks: {leaf: {bandwidth: 10 GB/s}}\n",
        "a fat-tree of 1 levels: children [5], parents [1]");
    comes_back("name: a\nnetwork: {family: fat-tree, children: [4, 6], parents: [1, 3], links: [1, 2]}\n" TREE_RATES,
               "a fat-tree of 2 levels: children [4, 6], parents [1, 3], links [1, 2]");
    comes_back("name: a\nnetwork: {family: fat-tree, children: [3, 2, 5], parents: [1, 4, 2]}\n" TREE_RATES,
               "a fat-tree of 3 levels: children [3, 2, 5], parents [1, 4, 2]");
    comes_back("name: a\nnetwork: {family: fat-tree, children: [4, 4, 4], parents: [1, 4, 4]}\n" TREE_RATES,
               "a fat-tree of 3 levels: children [4, 4, 4], parents [1, 4, 4]");
}

/* One cable less, or one end elsewhere. */
static void nearly(void)
{
    static const char *const yaml[] = {
        "name: a\nnetwork: {family: torus, dims: [5, 4]}\n" RATES,
        "name: a\nnetwork: {family: fat-tree, children: [3, 2, 5], parents: [1, 4, 2]}\n" TREE_RATES,
        "name: a\nnetwork: {family: mesh, dims: [4, 4]}\nlinks: {mesh: {bandwidth: 10 GB/s}}\n",
        "name: a\nnetwork: {family: two-level, supernodes: 5, nodes_per_drawer: 4, d_ports: 1, d_link: relative}\n"
        "links: {ll: {bandwidth: 10 GB/s}, d: {bandwidth: 10 GB/s}}\n"};
    static const uint32_t but[] = {3, 20, FC_NONE, FC_NONE};
    for (size_t k = 0; k < FC_COUNT(yaml); k++) {
        struct fc_machine machine;
        struct fc_network net;
        struct imported i;
        struct fc_status st = {0};
        char path[64];
        if (!fc_test_network(yaml[k], &machine, &net)) continue;
        CU_ASSERT_TRUE_FATAL(as_edges(&net, 7, but[k], path));
        if (import("edges", path, &i, &st)) {
            CU_ASSERT_STRING_EQUAL(i.machine.family->name, "graph");
            CU_ASSERT_PTR_NOT_NULL(strstr(i.words, "kept as a graph"));
            fc_test_close(&i.machine, &i.net);
        } else {
            CU_FAIL("not imported");
        }
        unlink(path);
        fc_test_close(&machine, &net);
    }
}

/* A two-dimensional torus whose rings close one row further is a torus of no sides. */
static void twisted(void)
{
    char text[4000] = "", path[64];
    struct imported i;
    struct fc_status st = {0};
    for (int y = 0, n = 0; y < 6; y++)
        for (int x = 0; x < 5; x++) {
            int right = x < 4 ? 5 * y + x + 1 : 5 * ((y + 1) % 6), down = 5 * ((y + 1) % 6) + x;
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "router %d router %d\nrouter %d router %d\nrouter %d node %d\n", 5 * y + x, right, 5 * y + x,
                          down, 5 * y + x, 5 * y + x);
        }
    CU_ASSERT_TRUE_FATAL(fc_test_file(path, ".edges", text, strlen(text)));
    if (import("edges", path, &i, &st)) {
        CU_ASSERT_STRING_EQUAL(i.machine.family->name, "graph");
        CU_ASSERT_PTR_NOT_NULL(strstr(i.words, "kept as a graph"));
        CU_ASSERT_PTR_NOT_NULL(strstr(i.words, "12.5 GB/s is a placeholder"));
        fc_test_close(&i.machine, &i.net);
    } else {
        CU_FAIL("not imported");
    }
    unlink(path);
}

static void refusals(void)
{
    static const struct {
        const char *kind, *file, *path, *says;
    } cases[] = {
        {"nonsense", "tests/fabrics/tree.conf", "/tmp/m.yaml",
         "no kind of topology file (known: slurm, ibnetdiscover, edges)"},
        {"slurm", "tests/fabrics/none.conf", "/tmp/m.yaml", "cannot be opened"},
        {"slurm", "tests/fabrics/tree.conf", "/tmp/m.txt", "expected NAME.yaml"},
        {"slurm", "tests/fabrics/malformed.txt", "/tmp/m.yaml", ""},
        {"edges", "tests/fabrics/tree.conf", "/tmp/m.yaml", "(expected router or node)"},
    };
    char words[200];
    for (size_t k = 0; k < FC_COUNT(cases); k++) {
        struct fc_status st = {0};
        CU_ASSERT_EQUAL(fc_machine_import(cases[k].kind, &cases[k].file, 1, cases[k].path, words, sizeof words, &st),
                        FC_INPUT);
        if (!strstr(st.message, cases[k].says)) printf("%s\n", st.message);
        CU_ASSERT_PTR_NOT_NULL(strstr(st.message, cases[k].says));
        CU_ASSERT(access(cases[k].path, F_OK) != 0);
    }
}

int suite_import(void)
{
    static const CU_TestInfo tests[] = {
        {"tori, whatever their switches are called", tori},
        {"fat-trees", trees},
        {"what is nearly one", nearly},
        {"a twisted torus", twisted},
        {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("import", tests);
}
