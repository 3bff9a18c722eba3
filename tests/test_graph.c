/* test_graph.c - networks from edge lists and Slurm's topology.conf: grammar and refusals; shortest-path
 * routing against the path walk, closed forms and the fat-tree's own routing. */
#include "models/family_fat_tree.h"
#include "tests/graph_checks.h"

/* ---- edge lists ---- */

static void edge_list(void)
{
    static const char *const text = "# three routers in a row\n"
                                    "router A router B 25GB/s 100ns 2   # two cables\n"
                                    "router B router C 12.5 GB/s 3 cycles\n"
                                    "router C router A\n"
                                    "\n"
                                    "router A node 0 25 GB/s\n"
                                    "node 10 router B\n"
                                    "router C node 2 25 GB/s 0 3\n"
                                    "node 2 router A 25.001 GB/s\r\n"
                                    "node 2 router B 25.0012 GB/s";
    struct fc_machine machine;
    struct fc_network net;
    char name[300];
    uint32_t inner, outer;
    if (!graph_of("edge-list", text, "links: {link: {bandwidth: 7 GB/s, latency: 1 us}}\n", &machine, &net)) return;
    count_cables(&net, &inner, &outer);
    CU_ASSERT(net.n_routers == 3 && net.n_nodes == 3 && inner == 4 && outer == 7);
    CU_ASSERT(class_cables(&net, "25 GB/s 100 ns") == 2 && class_cables(&net, "12.5 GB/s 6 ns") == 1);
    CU_ASSERT(class_cables(&net, "link") == 2 && class_cables(&net, "25 GB/s") == 4);
    CU_ASSERT(class_cables(&net, "25 GB/s#2") == 1 && class_cables(&net, "25 GB/s#3") == 1);
    CU_ASSERT_EQUAL(class_bandwidth(&net, "link"), 7e9);
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&net, 1, name, sizeof name), "B");
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&net, fc_node_vertex(&net, 1), name, sizeof name), "node 2");
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&net, fc_node_vertex(&net, 2), name, sizeof name), "node 10");
    CU_ASSERT_STRING_EQUAL(fc_link_name(&net, fc_find_link(&net, 0, 1) + 1, name, sizeof name),
                           "25 GB/s 100 ns A->B cable 1");
    network_is_sound(&net);
    loads_agree_always(&net, &fc_routing_shortest, 4);
    fc_test_close(&machine, &net);
}

static void edge_list_refusals(void)
{
    static const char e[] = "edge-list";
    refused_text(e, "", "has no nodes");
    refused_text(e, "router A router B\n", "has no nodes");
    refused_text(e, "switch A router B\n", ":1: 'switch' (expected router or node)");
    refused_text(e, "router A\n", ":1: the line ends early");
    refused_text(e, "router A node\n", ":1: node has no name");
    refused_text(e, "node A node B\n", "a cable joins two nodes");
    refused_text(e, "router A router A\n", "router 'A' to itself");
    refused_text(e, "\nrouter A node 1 fast\n", ":2:");
    refused_text(e, "router A node 1 -1GB/s\n", ":1: '-1GB/s' is negative");
    refused_text(e, "router A node 1 0\n", "bandwidth: '0' is out of range");
    refused_text(e, "router A node 1 1 ns\n", ":1:");
    refused_text(e, "router A node 1 1GB/s 12\n", "12");
    refused_text(e, "router A node 1 1GB/s -1ns\n", ":1: '-1ns' is negative");
    refused_text(e, "router A node 1 1GB/s 1ns 0\n", "count: '0' is out of range");
    refused_text(e, "router A node 1 1GB/s 1ns -2\n", "count: '-2' is out of range");
    refused_text(e, "router A node 1 1GB/s 1ns 9223372036854775808\n", "count: '9223372036854775808' is out of range");
    refused_text(e, "router A node 1 1GB/s 1ns 1 1\n", "one word too many");
    refused_text(e, "router A node 1\nrouter A router B\nrouter B router A\n",
                 ":3: router A router B again, as on line 2");
    refused_text(e, "router A node 1 1GB/s\nrouter A node 1 1GB/s\n", ":2: router A node 1 again, as on line 1");
}

/* ---- Slurm ---- */

static void slurm(void)
{
    struct fc_machine machine;
    struct fc_network net;
    uint32_t inner, outer;
    char name[300];
    if (!fc_test_network("tests/fabrics/tree.yaml", &machine, &net)) return;
    count_cables(&net, &inner, &outer);
    CU_ASSERT(net.n_routers == 5 && net.n_nodes == 14 && inner == 6 && outer == 14);
    CU_ASSERT_EQUAL(degree(&net, vertex_named(&net, "rack1")), 2 + 5);
    CU_ASSERT_EQUAL(degree(&net, vertex_named(&net, "rack2")), 2 + 3);
    CU_ASSERT_EQUAL(degree(&net, vertex_named(&net, "core2")), 3);
    CU_ASSERT_EQUAL(degree(&net, vertex_named(&net, "gpu1-n10")), 1);
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&net, fc_node_vertex(&net, 6), name, sizeof name), "cn007");
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&net, fc_node_vertex(&net, 7), name, sizeof name), "gpu0-n8");
    CU_ASSERT(machine.classes[0].bandwidth_bytes_per_s == 12.5e9 && machine.classes[0].latency_s == 150e-9);
    network_is_sound(&net);
    loads_agree_always(&net, &fc_routing_shortest, 5);
    fc_test_close(&machine, &net);
}

static void slurm_refusals(void)
{
    static const char s[] = "slurm-topology";
    refused_text(s, "", "has no nodes");
    refused_text(s, "Nodes=a\n", ":1: a line: 'Nodes=a' (expected SwitchName=..., BlockName=... or RingName=...)");
    refused_text(s, "\nSwitchName=s\n", ":2: a line: 'SwitchName=s' (expected Nodes=... or Switches=...)");
    refused_text(s, "SwitchName=s Nodes=a Switches=t\n", "either Nodes or Switches");
    refused_text(s, "SwitchName=s SwitchName=t Nodes=a\n", "one SwitchName, BlockName or RingName");
    refused_text(s, "SwitchName=s Nodes=a\nSwitchName=s Nodes=b\n", ":2: SwitchName: 's' (expected one line a switch)");
    refused_text(s, "SwitchName=s Nodes\n", "KEY=VALUE");
    refused_text(s, "SwitchName= Nodes=a\n", "KEY=VALUE");
    refused_text(s, "SwitchName=s Nodes=a\nSwitchName=t Switches=u\n", ":2: Switches: 'u'");
    refused_text(s, "SwitchName=s Switches=s\n", "another switch than itself");
    refused_text(s, "SwitchName=s Nodes=a,a\n", "'s' and 'a' are joined twice");
    refused_text(s, "SwitchName=s Nodes=a\nSwitchName=t Switches=u\nSwitchName=u Switches=t\n", "are joined twice");
    refused_text(s, "SwitchName=s Nodes=a[1\n", "a ] behind the [");
    refused_text(s, "SwitchName=s Nodes=a1]\n", "a [ before the ]");
    refused_text(s, "SwitchName=s Nodes=a[]\n", "rising ranges");
    refused_text(s, "SwitchName=s Nodes=a[3-1]\n", "rising ranges");
    refused_text(s, "SwitchName=s Nodes=a[-1]\n", "rising ranges");
    refused_text(s, "SwitchName=s Nodes=a[1-]\n", "rising ranges");
    refused_text(s, "SwitchName=s Nodes=a[1,]\n", "rising ranges");
    refused_text(s, "SwitchName=s Nodes=a[9223372036854775808]\n", "rising ranges");
    refused_text(s, "SwitchName=s Nodes=a,,b\n", "names between commas");
    struct fc_machine machine;
    struct fc_status st = {0};
    graph_machine(s, "SwitchName=s Nodes=a[0-999999999]\n", "", &machine, &st);
    CU_ASSERT(fc_says(&st, FC_INPUT, ":1: more than 1000000 members"));
}

static void machine_file_refusals(void)
{
    static const char class[] = "links: {link: {bandwidth: 1 GB/s}}\n";
    char yaml[300];
    refused("name: g\nnetwork: {family: graph, format: edge-list}\n", FC_INPUT, ":2: network.file is missing");
    refused("name: g\nnetwork: {family: graph, file: x}\n", FC_INPUT, "network.format is missing");
    refused(
        "name: g\nnetwork: {family: graph, file: x, format: dot}\n", FC_INPUT,
        "network.format: 'dot' is unknown (expected one of: ibnetdiscover, slurm-topology, edge-list, cray-xname, kubernetes)");
    refused("name: g\nnetwork: {family: graph, file: no-such-file, format: edge-list}\n", FC_INPUT,
            "/tmp/no-such-file: cannot be read");
    refused("name: g\nnetwork: {family: graph, file: /, format: edge-list}\n", FC_INPUT, "cannot be read");
    snprintf(yaml, sizeof yaml, "name: g\nnetwork: {family: graph, file: /dev/null, format: edge-list, dims: 3}\n%s",
             class);
    refused(yaml, FC_INPUT, "dims");
    refused("name: g\nnetwork: {family: graph, file: x, format: ibnetdiscover, unnamed: guess}\n", FC_INPUT, "unnamed");
    struct fc_machine machine;
    struct fc_status st = {0};
    graph_machine("edge-list", "router A node 1\n", "", &machine, &st);
    CU_ASSERT(fc_says(&st, FC_INPUT, "class 'link' is missing"));
    memset(&st, 0, sizeof st);
    graph_machine("edge-list", "router A node 1\n", "links: {link: {bandwidth: 1}, up: {bandwidth: 1}}\n", &machine,
                  &st);
    CU_ASSERT(fc_says(&st, FC_INPUT, "no link class 'up'"));
}

/* ---- routing ---- */

/* Text of an edge list, grown as needed. */
struct text {
    char *data;
    size_t size;
    FILE *stream;
};
static void text_start(struct text *t)
{
    t->stream = open_memstream(&t->data, &t->size);
}
static const char *text_end(struct text *t)
{
    fclose(t->stream);
    return t->data;
}
static const char one_class[] = "links: {link: {bandwidth: 1 GB/s}}\n";

/* Routers in a ring of k, one node each, uniform traffic: k/8 (even) or (k^2-1)/(8k) (odd) of a node's
 * traffic, self included, on every ring link; and the mean distance k/4 or (k - 1/k)/4 (Dally & Towles ch.
 * 5). */
static void ring(void)
{
    for (int k = 3; k <= 12; k++) {
        struct text t;
        struct fc_machine machine;
        struct fc_network net;
        struct fc_facts facts;
        struct fc_status st = {0};
        text_start(&t);
        for (int i = 0; i < k; i++) fprintf(t.stream, "router %d router %d\nrouter %d node %d\n", i, (i + 1) % k, i, i);
        if (graph_of("edge-list", text_end(&t), one_class, &machine, &net)) {
            double *a = malloc(net.n_nodes * sizeof *a), *load = calloc(net.n_links, sizeof *load);
            double expected = k % 2 ? (k - 1.0 / k) / 8 : k / 8.0;
            for (int i = 0; i < k; i++) a[i] = sqrt(1.0 / k);
            CU_ASSERT_EQUAL(fc_routing_shortest.rank_one(&net, a, a, load, &st), FC_OK);
            for (uint32_t l = 0; l < net.n_links; l++)
                if (!fc_is_node(&net, net.link_source[l]) && !fc_is_node(&net, net.link_target[l]))
                    CU_ASSERT_DOUBLE_EQUAL(load[l], expected, 1e-12);
            CU_ASSERT_EQUAL(fc_network_facts(&net, &facts, &st), FC_OK);
            CU_ASSERT_DOUBLE_EQUAL(facts.mean_hops, 2 * expected, 1e-12);
            CU_ASSERT_EQUAL(facts.diameter_hops, k / 2);
            loads_agree_always(&net, &fc_routing_shortest, (uint64_t)k);
            free(a), free(load);
            fc_test_close(&machine, &net);
        }
        free(t.data);
    }
}

/* Nodes on one, two or three routers, parallel cables, hubs: the same on random connected networks. */
static void random_networks(void)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct text t;
        struct fc_machine machine;
        struct fc_network net;
        uint64_t at = 0, n = 2 + fc_random_below(seed, 9, at++, 12);
        text_start(&t);
        for (uint64_t i = 1; i < n; i++) { /* a random tree, then chords and parallel cables of different speed */
            uint64_t to = fc_random_below(seed, 9, at++, i), count = 1 + fc_random_below(seed, 9, at++, 3);
            fprintf(t.stream, "router r%d router r%d 1GB/s 0 %d\n", (int)i, (int)to, (int)count);
        }
        for (uint64_t i = 0; i < n; i++) {
            uint64_t to = fc_random_below(seed, 9, at++, n), speed = i % 3 + 2 + (to < i) * 5;
            if (to != i) fprintf(t.stream, "router r%d router r%d %dMB/s\n", (int)i, (int)to, (int)speed);
        }
        for (uint64_t i = 0; i < 2 * n; i++)
            for (uint64_t rail = 0, rails = 1 + (i % 3 == 0) + (i % 6 == 0); rail < rails; rail++)
                fprintf(t.stream, "node h%d router r%d 1GB/s 0 %d\n", (int)i, (int)((i / 6 + rail) % n),
                        i % 5 == 1 ? 2 : 1);
        struct fc_status st = {0};
        if (graph_machine("edge-list", text_end(&t), "", &machine, &st) == FC_OK) {
            CU_ASSERT_EQUAL(fc_network_build(&machine, &net, &st), FC_OK);
            network_is_sound(&net);
            loads_agree_always(&net, &fc_routing_shortest, seed);
            fc_test_close(&machine, &net);
        } else { /* the dice gave a pair or a rail twice */
            CU_ASSERT(fc_says(&st, FC_INPUT, "again, as on line"));
        }
        free(t.data);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A fat-tree written as an edge list: splitting over shortest paths is the uniform adaptive ascent, link for
 * link. */
static void fat_tree_as_graph(void)
{
    struct fc_machine tree, machine;
    struct fc_network as_tree, net;
    struct text t;
    struct fc_status st = {0};
    if (!fc_test_network(
            "name: t\nnetwork: {family: fat-tree, children: [3, 2, 3], parents: [1, 2, 2], links: [1, 1, 2], "
            "planes: 2}\nlinks: {leaf: {bandwidth: 1}, up: {bandwidth: 1}}\n",
            &tree, &as_tree))
        return;
    text_start(&t);
    for (uint32_t v = 0; v < as_tree.n_vertices; v++)
        for (uint32_t l = as_tree.first_link[v]; l < as_tree.first_link[v + 1]; l++) {
            uint32_t to = as_tree.link_target[l];
            if (to < v || (l > as_tree.first_link[v] && as_tree.link_target[l - 1] == to)) continue;
            bool node = fc_is_node(&as_tree, to);
            fprintf(t.stream, "router %u %s %u 1GB/s 0 %u\n", v, node ? "node" : "router",
                    node ? to - as_tree.n_routers : to, as_tree.link_class[l] == 2 ? 2 : 1);
        }
    if (graph_of("edge-list", text_end(&t), "", &machine, &net)) {
        CU_ASSERT(net.n_links == as_tree.n_links && net.n_routers == as_tree.n_routers);
        double *a = malloc(net.n_nodes * sizeof *a), *b = malloc(net.n_nodes * sizeof *b);
        double *x = calloc(net.n_links, sizeof *x), *y = calloc(net.n_links, sizeof *y);
        for (uint32_t i = 0; i < net.n_nodes; i++) a[i] = fc_random_real(7, 0, i), b[i] = fc_random_real(7, 1, i);
        CU_ASSERT_EQUAL(fc_routing_find("nca", "fat-tree")->rank_one(&as_tree, a, b, x, &st), FC_OK);
        CU_ASSERT_EQUAL(fc_routing_shortest.rank_one(&net, a, b, y, &st), FC_OK);
        for (uint32_t v = 0; v < net.n_vertices; v++) { /* links of a vertex come in another order */
            uint32_t first = net.first_link[v], n = degree(&net, v);
            CU_ASSERT_EQUAL_FATAL(n, degree(&as_tree, v));
            qsort(x + first, n, sizeof *x, by_value);
            qsort(y + first, n, sizeof *y, by_value);
        }
        CU_ASSERT(load_difference(&net, x, y) < 1e-12);
        free(a), free(b), free(x), free(y);
        fc_test_close(&machine, &net);
    }
    free(t.data);
    fc_test_close(&tree, &as_tree);
}

/* Two islands: traffic within them works, between them it is refused by name, and a walk there is empty. */
static void islands(void)
{
    static const char *const text = "SwitchName=s Nodes=a,b\nSwitchName=t Nodes=c,d\n";
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    struct fc_walk walk;
    if (!graph_of("slurm-topology", text, one_class, &machine, &net)) return;
    const struct fc_routing_ops *r = &fc_routing_shortest;
    uint32_t src[] = {0, 2}, within[] = {1, 3}, across[] = {1, 0};
    double bytes[] = {5, 7}, *load = calloc(net.n_links, sizeof *load), ones[] = {1, 1, 1, 1}, left[] = {1, 1, 0, 0};
    CU_ASSERT_EQUAL(r->sparse(&net, src, within, bytes, 2, load, &st), FC_OK);
    CU_ASSERT_EQUAL(r->rank_one(&net, left, left, load, &st), FC_OK);
    CU_ASSERT_EQUAL(r->sparse(&net, src, across, bytes, 2, load, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, "there is no path from c to a"));
    memset(&st, 0, sizeof st);
    CU_ASSERT_EQUAL(r->rank_one(&net, ones, ones, load, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, "there is no path from"));
    CU_ASSERT_EQUAL(fc_walk_start(&walk, r->walk_capacity(&net), &(struct fc_status){0}), FC_OK);
    r->walk(&net, 0, 2, 1, &walk);
    CU_ASSERT_EQUAL(walk.n, 0);
    fc_walk_free(&walk);
    free(load);
    fc_test_close(&machine, &net);
}

int suite_graph(void)
{
    static const CU_TestInfo tests[] = {
        {"edge list", edge_list},
        {"edge list: refusals", edge_list_refusals},
        {"Slurm topology.conf", slurm},
        {"Slurm topology.conf: refusals", slurm_refusals},
        {"machine file: refusals", machine_file_refusals},
        {"ring: loads and distances against the closed form", ring},
        {"path walk = rank-one = sparse on random networks", random_networks},
        {"a fat-tree as a graph carries what the fat-tree carries", fat_tree_as_graph},
        {"islands", islands},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("graph", tests);
}
