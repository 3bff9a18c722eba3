/* test_import.c - topology files as machine files: tori and fat-trees are recognised whatever their switches are called, node
 * by node; what only looks like one stays a graph; hosts keep their names; refusals. */
#include "models/family_graph.h"
#include "models/import/import.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <CUnit/CUnit.h>
#include <math.h>
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
    snprintf(i->hosts, sizeof i->hosts, "%s/site.cables", i->folder);
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

#define GROUP_RATES "links: {ll: {bandwidth: 10 GB/s}, d: {bandwidth: 10 GB/s}}\n"

/* Groups that stand out by what their routers share; cables between groups as they are, by any rule, or none. */
static void dragonflies(void)
{
    comes_back(
        "name: a\nnetwork: {family: two-level, supernodes: 9, nodes_per_drawer: 4, nodes_per_router: 2, d_ports: 2, "
        "d_link: relative}\n" GROUP_RATES,
        "a dragonfly of 9 groups of 4 routers, 2 nodes each, 1 links a pair of groups");
    comes_back("name: a\nnetwork: {family: two-level, supernodes: 5, nodes_per_drawer: 6, links_per_pair: 3, d_link: "
               "modulo}\n" GROUP_RATES,
               "a dragonfly of 5 groups of 6 routers, 1 nodes each, 3 links a pair of groups");
    comes_back(
        "name: a\nnetwork: {family: two-level, supernodes: 6, nodes_per_drawer: 8, d_link: hashed}\n" GROUP_RATES,
        "a dragonfly of 6 groups of 8 routers");
}

/* A Cray XC of `groups` groups of 2 x 3 routers: three black cables of a column, one green of a row, `blue` between groups. */
struct xc {
    int used[8 * 6];
    FILE *f;
};
static void cable(struct xc *x, int a, int b, const char *colour)
{
    char name[2][80];
    int end[2] = {a, b}, tile[2];
    for (int e = 0; e < 2; e++) {
        tile[e] = x->used[end[e]]++;
        snprintf(name[e], sizeof name[e], "c%d-0c%ds%da0l%o%o(%d:%d:%d)", 2 * (end[e] / 6), end[e] / 3 % 2, end[e] % 3,
                 tile[e] / 8, tile[e] % 8, end[e] / 6, end[e] / 3 % 2, end[e] % 3);
    }
    fprintf(x->f, "%s %s -> %s\n%s %s -> %s\n", name[0], colour, name[1], name[1], colour, name[0]);
}
static char *cray(int groups)
{
    char *text = NULL;
    size_t size;
    struct xc x = {.f = open_memstream(&text, &size)};
    for (int a = 0; a < 6 * groups; a++) {
        for (int b = a + 1; b < 6 * groups; b++) {
            if (a / 6 != b / 6) continue;
            if (a / 3 == b / 3) cable(&x, a, b, "green");
            for (int k = 0; a % 3 == b % 3 && k < 3; k++) cable(&x, a, b, "black");
        }
        fprintf(x.f, "c%d-0c%ds%da0l47(0:0:0) blue -> unused\n", 2 * (a / 6), a / 3 % 2, a % 3);
        for (int p = 0; p < 4; p++)
            fprintf(x.f, "c%d-0c%ds%da0l5%d(0:0:0) ptile -> processor\n", 2 * (a / 6), a / 3 % 2, a % 3, p);
    }
    for (int s = 0; s < groups; s++)
        for (int t = s + 1; t < groups; t++)
            for (int k = 0; k < 2; k++) cable(&x, 6 * s + (t + 3 * k) % 6, 6 * t + (s + 2 * k) % 6, "blue");
    fclose(x.f);
    return text;
}

static void cray_xc(void)
{
    char path[64], *text = cray(5), name[300];
    struct imported i;
    struct fc_status st = {0};
    struct fc_facts facts;
    CU_ASSERT_TRUE_FATAL(fc_test_file(path, ".tiles", text, strlen(text)));
    if (!import("cray-xname", path, &i, &st)) {
        printf("%s\n", st.message);
        CU_FAIL_FATAL("not imported");
    }
    CU_ASSERT_PTR_NOT_NULL(
        strstr(i.words, "a dragonfly of 5 groups of 2 x 3 routers (a grid), 2 nodes each, 2 links a pair"));
    CU_ASSERT_STRING_EQUAL(i.machine.family->name, "two-level");
    CU_ASSERT(i.net.n_routers == 30 && i.net.n_nodes == 60 && i.machine.n_classes == 4);
    CU_ASSERT(i.machine.classes[0].bandwidth_bytes_per_s == 5.25e9 &&
              i.machine.classes[1].bandwidth_bytes_per_s == 15.75e9);
    CU_ASSERT(i.machine.classes[2].bandwidth_bytes_per_s == 4.6875e9 &&
              i.machine.classes[3].bandwidth_bytes_per_s == 16e9);
    CU_ASSERT_FALSE(fc_network_facts(&i.net, &facts, &st));
    CU_ASSERT_EQUAL(facts.class_links[2], 5 * 4 * 2);
    CU_ASSERT_STRING_EQUAL(i.net.host_name[0], "c0-0c0s0n0");
    CU_ASSERT_STRING_EQUAL(i.net.host_name[59], "c8-0c1s2n1");
    /* s = 1, t = 3, k = 1: routers 6 + (3 + 3) % 6 and 18 + (1 + 2) % 6 */
    uint32_t link = fc_find_link(&i.net, 6, 21);
    CU_ASSERT_NOT_EQUAL_FATAL(link, FC_NONE);
    CU_ASSERT_STRING_EQUAL(fc_link_name(&i.net, link, name, sizeof name), "D 1.0->3.3");
    fc_test_close(&i.machine, &i.net);
    unlink(path);
    /* One blue cable less, from both ends, and it is a graph; from one end, and it is refused. */
    for (int ends = 1; ends <= 2; ends++) {
        char *cut = strstr(text, " blue -> c"), *line = cut;
        while (line > text && line[-1] != '\n') line--;
        char *next = strchr(cut, '\n') + 1;
        memmove(line, next, strlen(next) + 1);
        CU_ASSERT_TRUE_FATAL(fc_test_file(path, ".tiles", text, strlen(text)));
        st = (struct fc_status){0};
        bool open = import("cray-xname", path, &i, &st);
        CU_ASSERT_EQUAL(open, ends == 2);
        if (open) CU_ASSERT_STRING_EQUAL(i.machine.family->name, "graph");
        if (!open)
            CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "does not list this blue cable (expected it from both ends)"));
        if (open) fc_test_close(&i.machine, &i.net);
        unlink(path);
    }
    free(text);
}

/* LinkSpeed: with a unit a rate; bare numbers only where they differ. */
static void speeds(void)
{
    static const struct {
        const char *text, *name[2];
        double rate[2];
    } cases[] = {
        {"SwitchName=a Nodes=n[0-1] LinkSpeed=200Gb/s\nSwitchName=b Nodes=n[2-3]\nSwitchName=c Switches=a,b\n",
         {"25 GB/s", "link"},
         {25e9, 12.5e9}},
        {"SwitchName=a Nodes=n[0-1] LinkSpeed=100\nSwitchName=b Nodes=n2 LinkSpeed=400\nSwitchName=c Switches=a,b LinkSpeed=100\n",
         {"speed 100", "speed 400"},
         {12.5e9 / 4, 12.5e9}},
        {"SwitchName=a Nodes=n0 LinkSpeed=100\nSwitchName=b Nodes=n[2-3]\nSwitchName=c Switches=a,b LinkSpeed=100\n",
         {"link", "injection"},
         {12.5e9, INFINITY}}};
    char path[64];
    for (size_t k = 0; k < FC_COUNT(cases); k++) {
        struct imported i;
        struct fc_status st = {0};
        CU_ASSERT_TRUE_FATAL(fc_test_file(path, ".conf", cases[k].text, strlen(cases[k].text)));
        if (!import("slurm", path, &i, &st)) printf("%s\n", st.message);
        CU_ASSERT_FALSE_FATAL(st.code);
        for (int c = 0; c < 2; c++) {
            CU_ASSERT_STRING_EQUAL(i.machine.classes[c].name, cases[k].name[c]);
            CU_ASSERT_EQUAL(i.machine.classes[c].bandwidth_bytes_per_s, cases[k].rate[c]);
        }
        fc_test_close(&i.machine, &i.net);
        unlink(path);
    }
    static const char *const wrong[] = {"SwitchName=a Nodes=n LinkSpeed=0\n",
                                        "SwitchName=a Nodes=n LinkSpeed=1 LinkSpeed=2\n",
                                        "SwitchName=a Nodes=n LinkSpeed=fast\n"};
    for (size_t k = 0; k < FC_COUNT(wrong); k++) {
        struct imported i;
        struct fc_status st = {0};
        CU_ASSERT_TRUE_FATAL(fc_test_file(path, ".conf", wrong[k], strlen(wrong[k])));
        CU_ASSERT_FALSE(import("slurm", path, &i, &st));
        CU_ASSERT(st.code == FC_INPUT && st.line == 1);
        unlink(path);
    }
}

/* Names alone: cabinets or pairs of them are groups, slots or the switches of a chassis routers. */
static void xnames(void)
{
    static const struct {
        const char *text, *says, *family, *first, *last;
        uint32_t n_routers, n_nodes;
    } cases[] = {
        {"x1000c[0-1]s[0-7]b[0-1]n0\nx1001c0s[0-7]b0n0 # a smaller one\n",
         "a dragonfly of 2 groups of 1 to 2 routers, by the names of 40 nodes", "dragonfly-plus", "x1000c0s0b0n0",
         "x1001c0s7b0n0", 3, 40},
        {"x9c0r1b0 x9c0r3b0 x9c0r5b0 x9c0r7b0\nnid5 x9c0s1b0n0\nnid4 x9c0s0b0n0\nx9c0s2b0n[0-1]\n",
         "a dragonfly of 1 groups of 4 routers, by the names of 4 nodes", "dragonfly-plus", "nid4", "x9c0s2b0n1", 4, 4},
        {"c[0-3]-0c[0-2]s[0-3]n[0-3]\n", "a dragonfly of 2 groups of 24 routers, by the names of 192 nodes",
         "two-level", "c0-0c0s0n0", "c3-0c2s3n3", 48, 192},
        {"c[0-1]-0c[0-2]s[0-3]n[0-3] c2-0c1s2n0\n", "a dragonfly of 2 groups of 1 to 24 routers", "dragonfly-plus",
         "c0-0c0s0n0", "c2-0c1s2n0", 25, 97},
    };
    char path[64];
    for (size_t k = 0; k < FC_COUNT(cases); k++) {
        struct imported i;
        struct fc_status st = {0};
        CU_ASSERT_TRUE_FATAL(fc_test_file(path, ".txt", cases[k].text, strlen(cases[k].text)));
        if (!import("cray-xname", path, &i, &st)) printf("%s:%ld: %s\n", st.file, st.line, st.message);
        CU_ASSERT_FALSE_FATAL(st.code);
        if (!strstr(i.words, cases[k].says)) printf("%s", i.words);
        CU_ASSERT_PTR_NOT_NULL(strstr(i.words, cases[k].says));
        CU_ASSERT_STRING_EQUAL(i.machine.family->name, cases[k].family);
        CU_ASSERT(i.net.n_routers == cases[k].n_routers && i.net.n_nodes == cases[k].n_nodes);
        CU_ASSERT_STRING_EQUAL(i.net.host_name[0], cases[k].first);
        CU_ASSERT_STRING_EQUAL(i.net.host_name[i.net.n_nodes - 1], cases[k].last);
        fc_test_close(&i.machine, &i.net);
        unlink(path);
    }
    static const struct {
        const char *text, *says;
        long line;
    } wrong[] = {{"x1c0s0b0n0\nnonsense\n", "'nonsense' is no xname", 2},
                 {"a b x1c0s0b0n0\n", "'b' is no xname", 1},
                 {"x1c0s0b0n0 c0-0c0s0n0\n", "names of a Cray EX and of an XC in one file", 1},
                 {"x1c0s0b0n0\n\nx1c0s0b0n0\n", "'x1c0s0b0n0' is listed twice", 3},
                 {"c1000-0c0s0n0\n", "'c1000-0c0s0n0' is no xname", 1}, /* two such could be one group */
                 {"c0-1000c0s0n0\n", "'c0-1000c0s0n0' is no xname", 1},
                 {"x1c0r0b0\n", "names no node", 0},
                 {"# nothing\n", "names no node", 0},
                 {"c0-0c0s0a0l50 ptile -> processor\nc0-0c0s0a0l50 ptile -> processor\n",
                  "tile l50 of 'c0-0c0s0a0' is listed twice", 2},
                 {"c0-0c0s0a0l50 ptile -> processor\nc0-0c0s0a1l50 ptile -> processor\n",
                  "'c0-0c0s0n0' is a node of 'c0-0c0s0a1' and of another router", 0}};
    for (size_t k = 0; k < FC_COUNT(wrong); k++) {
        struct imported i;
        struct fc_status st = {0};
        CU_ASSERT_TRUE_FATAL(fc_test_file(path, ".txt", wrong[k].text, strlen(wrong[k].text)));
        CU_ASSERT_FALSE(import("cray-xname", path, &i, &st));
        if (!strstr(st.message, wrong[k].says) || st.line != wrong[k].line) printf("%ld: %s\n", st.line, st.message);
        CU_ASSERT(strstr(st.message, wrong[k].says) && st.line == wrong[k].line);
        unlink(path);
    }
}

/* D links from a file: those of a rule, written down, are the rule's; what is wrong in it. */
static void listed(void)
{
    static const struct {
        const char *cables, *says;
        long line;
    } cases[] = {{"0.0 1.0\n0.1 2.0\n1.1\n", "not two routers", 3},
                 {"0.0 1.0 1\n", "not two routers", 1},
                 {"0.0 1.2\n", "'1.2' is no router (expected GROUP.MEMBER, 0.0 to 2.1)", 1},
                 {"0.0 3.0\n", "'3.0' is no router", 1},
                 {"0.0 0.1\n", "a D link within supernode 0", 1},
                 {"# one\n0.0 1.0\n1.1 0.1\n", "more than 1 cables between supernodes 1 and 0", 3},
                 {"0.0 1.0\n0.1 2.0\n", "0 cables between supernodes 1 and 2 (expected 1", 0}};
    char path[64], yaml[400];
    struct fc_machine m[2];
    struct fc_network net[2];
    for (size_t k = 0; k < FC_COUNT(cases); k++) {
        struct fc_status st = {0};
        CU_ASSERT_TRUE_FATAL(fc_test_file(path, ".cables", cases[k].cables, strlen(cases[k].cables)));
        snprintf(
            yaml, sizeof yaml,
            "name: a\nnetwork: {family: two-level, supernodes: 3, nodes_per_drawer: 2, d_link: listed, d_links: %s}\n" GROUP_RATES,
            path);
        CU_ASSERT_EQUAL(fc_test_machine(yaml, &m[0], &st), FC_INPUT);
        if (!strstr(st.message, cases[k].says)) printf("%s\n", st.message);
        CU_ASSERT(strstr(st.message, cases[k].says) && st.line == cases[k].line && !strcmp(st.file, path));
        unlink(path);
    }
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(
        fc_test_machine(
            "name: a\nnetwork: {family: two-level, supernodes: 3, nodes_per_drawer: 2, d_links: x}\n" GROUP_RATES,
            &m[0], &st),
        FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "network.d_links: is for d_link: listed"));
    if (!fc_test_network(
            "name: a\nnetwork: {family: two-level, supernodes: 4, nodes_per_drawer: 3, d_ports: 1, d_link: relative}\n" GROUP_RATES,
            &m[0], &net[0]))
        return;
    char text[2000] = "";
    for (uint32_t l = 0, n = 0; l < net[0].n_links; l++) {
        uint32_t a = net[0].link_source[l], b = net[0].link_target[l];
        if (!fc_is_node(&net[0], a) && !fc_is_node(&net[0], b) && a / 3 < b / 3)
            n += (uint32_t)snprintf(text + n, sizeof text - n, "%u.%u %u.%u\n", b / 3, b % 3, a / 3, a % 3);
    }
    CU_ASSERT_TRUE_FATAL(fc_test_file(path, ".cables", text, strlen(text)));
    snprintf(
        yaml, sizeof yaml,
        "name: a\nnetwork: {family: two-level, supernodes: 4, nodes_per_drawer: 3, d_link: listed, d_links: %s}\n" GROUP_RATES,
        path);
    if (fc_test_network(yaml, &m[1], &net[1])) {
        CU_ASSERT_EQUAL_FATAL(net[1].n_links, net[0].n_links);
        CU_ASSERT(!memcmp(net[1].link_target, net[0].link_target, net[0].n_links * sizeof(uint32_t)));
        fc_test_close(&m[1], &net[1]);
    }
    unlink(path);
    fc_test_close(&m[0], &net[0]);
}

/* One cable less, or one end elsewhere. */
static void nearly(void)
{
    static const char *const yaml[] = {
        "name: a\nnetwork: {family: torus, dims: [5, 4]}\n" RATES,
        "name: a\nnetwork: {family: fat-tree, children: [3, 2, 5], parents: [1, 4, 2]}\n" TREE_RATES,
        "name: a\nnetwork: {family: mesh, dims: [4, 4]}\nlinks: {mesh: {bandwidth: 10 GB/s}}\n",
        "name: a\nnetwork: {family: two-level, supernodes: 5, nodes_per_drawer: 4, d_ports: 1, d_link: relative}\n" GROUP_RATES};
    static const uint32_t but[] = {3, 20, FC_NONE, 40};
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

/* A ring of 24 switches, `slow` of its cables at a tenth of the rate: told of where they are few. In two rings: not connected. */
static void slow_cables(void)
{
    static const struct {
        int slow, second; /* the second ring begins at this switch; 0: one ring */
        const char *says;
    } cases[] = {
        {0, 0, NULL},
        {1, 0, "1 GB/s is the rate of 1 of the cables between switches, 10 GB/s that of 23: fallen back? s0 - s1\n"},
        {2, 0, NULL},
        {0, 10, NULL},
    };
    for (size_t k = 0; k < FC_COUNT(cases); k++) {
        char text[4000] = "", path[64], note[400] = "";
        struct imported i;
        struct fc_status st = {0};
        int second = cases[k].second, n = 0;
        for (int v = 0; v < 24; v++) {
            int to = v + 1 == 24 ? second : v + 1 == second ? 0 : v + 1;
            n += snprintf(text + n, sizeof text - (size_t)n, "router s%d router s%d %s\nrouter s%d node h%d 10GB/s\n",
                          v, to, v < cases[k].slow ? "1GB/s" : "10GB/s", v, v);
            if (v % 5 == 0) n += snprintf(text + n, sizeof text - (size_t)n, "router s%d node g%d 10GB/s\n", v, v);
        }
        CU_ASSERT_TRUE_FATAL(fc_test_file(path, ".edges", text, strlen(text)));
        CU_ASSERT_TRUE_FATAL(import("edges", path, &i, &st));
        CU_ASSERT_EQUAL(strstr(i.words, "fallen back") != NULL, cases[k].says != NULL);
        if (cases[k].says && !strstr(i.words, cases[k].says)) printf("%s", i.words);
        if (cases[k].says) CU_ASSERT_PTR_NOT_NULL(strstr(i.words, cases[k].says));
        i.machine.family->note(&i.net, note, sizeof note);
        CU_ASSERT_STRING_EQUAL(
            note, second ? "not connected: no path joins node 0 (g0) (with 12 nodes) and node 2 (g10) (with "
                           "17), so traffic between such is refused; "
                         : "");
        fc_test_close(&i.machine, &i.net);
        unlink(path);
    }
}

static void refusals(void)
{
    static const struct {
        const char *kind, *file, *path, *says;
    } cases[] = {
        {"nonsense", "tests/fabrics/tree.conf", "/tmp/m.yaml",
         "no kind of topology file (known: slurm, ibnetdiscover, edges, opensm-routes, cray-xname, kubernetes)"},
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
        {"dragonflies", dragonflies},
        {"a Cray XC by its tiles", cray_xc},
        {"D links from a file", listed},
        {"LinkSpeed", speeds},
        {"xnames", xnames},
        {"what is nearly one", nearly},
        {"a twisted torus", twisted},
        {"cables that fell back, networks in parts", slow_cables},
        {"refusals", refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("import", tests);
}
