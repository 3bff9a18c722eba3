/* test_fat_tree.c - fat-trees: counts and distances against closed forms and search, loads of both routings
 * against the path walk and against theory, refusals. */
#include "models/family_fat_tree.h"
#include "tests/network_checks.h"

/* h levels of children m, parents w, cables p; planes. */
struct tree {
    int h, m[4], w[4], p[4], planes;
};
static const struct tree trees[] = {
    {3, {4, 4, 4}, {1, 4, 4}, {1, 1, 1}, 1}, /* QsNET-64, a 4-ary 3-tree */
    {4, {2, 2, 2, 2}, {1, 2, 2, 2}, {1, 1, 1, 1}, 1},
    {2, {6, 5}, {1, 3}, {1, 1}, 1},          /* tapered by parents */
    {3, {4, 3, 2}, {1, 2, 2}, {1, 2, 1}, 1}, /* parallel cables */
    {2, {3, 4}, {2, 3}, {2, 1}, 1},          /* two leaf switches a node, two cables to each */
    {2, {4, 4}, {1, 2}, {1, 2}, 2},          /* two planes */
    {3, {2, 3, 4}, {2, 2, 3}, {1, 3, 2}, 3},
    {1, {7}, {1}, {1}, 1}, /* one crossbar */
    {1, {5}, {3}, {2}, 1},
    {3, {5, 1, 3}, {1, 2, 1}, {1, 1, 1}, 1}, /* a level that joins nothing */
    {3, {3, 4, 1}, {1, 3, 2}, {1, 1, 1}, 1}, /* a top that joins nothing */
    {2, {1, 8}, {1, 1}, {1, 4}, 1},
    {1, {1}, {1}, {1}, 1}, /* one node */
};

static void write_list(char *out, size_t size, const char *key, const int *v, int n)
{
    size_t used = (size_t)snprintf(out, size, ", %s: [", key);
    for (int i = 0; i < n; i++) used += (size_t)snprintf(out + used, size - used, "%s%d", i ? ", " : "", v[i]);
    snprintf(out + used, size - used, "]");
}

static bool build_tree(const struct tree *t, struct fc_machine *machine, struct fc_network *net)
{
    char yaml[600], list[3][80];
    write_list(list[0], sizeof list[0], "children", t->m, t->h);
    write_list(list[1], sizeof list[1], "parents", t->w, t->h);
    write_list(list[2], sizeof list[2], "links", t->p, t->h);
    snprintf(yaml, sizeof yaml,
             "name: tree\nnetwork: {family: fat-tree%s%s%s, planes: %d}\n"
             "links: {leaf: {bandwidth: 1 GB/s}%s}\n",
             list[0], list[1], list[2], t->planes, t->h > 1 ? ", up: {bandwidth: 2 GB/s, latency: 10 ns}" : "");
    return fc_test_network(yaml, machine, net);
}

static const struct fc_routing_ops *routing_named(const char *name)
{
    const struct fc_routing_ops *routing = fc_routing_find(name, "fat-tree");
    CU_ASSERT_PTR_NOT_NULL_FATAL(routing);
    return routing;
}

static void counts(void)
{
    for (size_t i = 0; i < FC_COUNT(trees); i++) {
        const struct tree *t = &trees[i];
        struct fc_machine machine;
        struct fc_network net;
        struct fc_facts facts;
        struct fc_status st = {0};
        if (!build_tree(t, &machine, &net)) continue;
        uint64_t nodes = 1, switches = 0, at_level, per_plane;
        for (int l = 0; l < t->h; l++) nodes *= (uint64_t)t->m[l];
        CU_ASSERT_EQUAL(fc_network_facts(&net, &facts, &st), FC_OK);
        at_level = nodes;
        for (int l = 0; l < t->h; l++) { /* cables below level l + 1, then its switches */
            uint64_t planes = l == 0 ? (uint64_t)t->planes : 1;
            CU_ASSERT_EQUAL(facts.class_links[l], 2 * planes * at_level * (uint64_t)(t->w[l] * t->p[l]));
            per_plane = planes * at_level * (uint64_t)t->w[l];
            CU_ASSERT_EQUAL(per_plane % (uint64_t)t->m[l], 0);
            at_level = per_plane / (uint64_t)t->m[l];
            switches += at_level;
        }
        CU_ASSERT_EQUAL(net.n_nodes, nodes);
        CU_ASSERT_EQUAL(net.n_routers, switches);
        CU_ASSERT_EQUAL(facts.class_links[fc_injection_class(&machine)], 0);
        network_is_sound(&net);
        fc_test_close(&machine, &net);
    }
}

/* Petrini, Fernandez et al.: QsNET with 64 nodes is a quaternary fat-tree of dimension 3 with 48 switches. */
static void qsnet(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_facts f;
    struct fc_status st = {0};
    if (!build_tree(&trees[0], &machine, &net)) return;
    const struct fc_fat_tree_shape *s = fc_fat_tree(&net);
    CU_ASSERT(net.n_nodes == 64 && net.n_routers == 48);
    for (int l = 1; l <= 3; l++) CU_ASSERT_EQUAL(s->first_switch[l + 1] - s->first_switch[l], 16);
    for (uint32_t v = 0; v < 48; v++) CU_ASSERT_EQUAL(net.first_link[v + 1] - net.first_link[v], v < 32 ? 8 : 4);
    CU_ASSERT_EQUAL(fc_network_facts(&net, &f, &st), FC_OK);
    CU_ASSERT_EQUAL(f.diameter_hops, 4);
    CU_ASSERT_EQUAL(f.mean_hops, (12 * 2 + 48 * 4) / 64.0);
    CU_ASSERT_EQUAL(f.bisection_links, 32);
    CU_ASSERT_EQUAL(f.bisection_bytes_per_s, 32 * 1e9); /* the leaf links are the slower stage */
    CU_ASSERT_STRING_EQUAL(machine.classes[0].name, "leaf");
    CU_ASSERT_STRING_EQUAL(machine.classes[2].name, "level2");
    CU_ASSERT(machine.classes[1].bandwidth_bytes_per_s == 2e9 && machine.classes[2].latency_s == 10e-9);
    fc_test_close(&machine, &net);
}

static void bisection(void)
{
    static const struct {
        struct tree tree;
        double links;
    } known[] = {
        {{4, {2, 2, 2, 2}, {1, 2, 2, 2}, {1, 1, 1, 1}, 1}, 8}, /* k-ary n-tree: N/2 */
        {{2, {16, 6}, {1, 4}, {1, 2}, 1}, 24},                 /* 4:2 tapered: 3 leaves of 8 uplinks */
        {{2, {16, 6}, {1, 4}, {1, 2}, 2}, 48},
        {{3, {4, 4, 4}, {1, 1, 8}, {1, 1, 4}, 1}, 8}, /* the middle stage is the thin one: 8 leaves of 1 uplink */
        {{2, {2, 3}, {1, 8}, {1, 1}, 1}, 2},          /* odd: one leaf of three; its 2 nodes bind */
        {{1, {7}, {1}, {1}, 1}, 3},
    };
    for (size_t i = 0; i < FC_COUNT(known); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_facts f;
        struct fc_status st = {0};
        if (!build_tree(&known[i].tree, &machine, &net)) continue;
        for (int c = 0; c < machine.n_classes; c++) machine.classes[c].bandwidth_bytes_per_s = 1;
        CU_ASSERT_EQUAL(fc_network_facts(&net, &f, &st), FC_OK);
        CU_ASSERT_EQUAL(f.bisection_links, known[i].links);
        fc_test_close(&machine, &net);
    }
}

static void loads(void)
{
    static const char *const names[] = {"nca", "nca-hash"};
    for (size_t i = 0; i < FC_COUNT(trees); i++) {
        struct fc_machine machine;
        struct fc_network net;
        if (!build_tree(&trees[i], &machine, &net)) continue;
        for (size_t r = 0; r < FC_COUNT(names); r++) loads_agree_always(&net, routing_named(names[r]), 10 * i + r);
        fc_test_close(&machine, &net);
    }
}

/* k-ary n-tree, every node sends 1 evenly to all others: each link between levels l and l+1 carries
 * (k^n - k^l)/(k^n - 1) under either routing (Dally & Towles ch. 3). */
static void uniform_closed_form(void)
{
    static const int k_n[][2] = {{2, 4}, {3, 3}, {4, 3}, {16, 2}};
    for (size_t i = 0; i < FC_COUNT(k_n); i++) {
        int k = k_n[i][0], n = k_n[i][1];
        struct tree t = {.h = n, .planes = 1};
        for (int l = 0; l < n; l++) t.m[l] = k, t.w[l] = l == 0 ? 1 : k, t.p[l] = 1;
        struct fc_machine machine;
        struct fc_network net;
        struct fc_status st = {0};
        if (!build_tree(&t, &machine, &net)) continue;
        double *a = malloc(net.n_nodes * sizeof *a), *b = malloc(net.n_nodes * sizeof *b);
        for (uint32_t v = 0; v < net.n_nodes; v++) a[v] = 1, b[v] = 1.0 / (net.n_nodes - 1);
        for (int hash = 0; hash < 2; hash++) {
            double *load = calloc(net.n_links, sizeof *load), worst = 0;
            CU_ASSERT_EQUAL(routing_named(hash ? "nca-hash" : "nca")->rank_one(&net, a, b, load, &st), FC_OK);
            for (uint32_t l = 0; l < net.n_links; l++) {
                double level = net.link_class[l], expected = (pow(k, n) - pow(k, level)) / (pow(k, n) - 1);
                worst = fmax(worst, fabs(load[l] - expected));
            }
            CU_ASSERT(worst < 1e-12);
            free(load);
        }
        free(a), free(b);
        fc_test_close(&machine, &net);
    }
}

/* All of the nearest common ancestors, all parents and all cables alike. */
static void ascent_is_uniform(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_walk walk;
    struct fc_status st = {0};
    if (!build_tree(&trees[6], &machine, &net)) return;
    const struct fc_routing_ops *routing = routing_named("nca");
    const struct fc_fat_tree_shape *s = fc_fat_tree(&net);
    CU_ASSERT(routing->adaptive);
    CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, routing->walk_capacity(&net), &st), FC_OK);
    routing->walk(&net, 0, net.n_nodes - 1, 7, &walk);
    CU_ASSERT_EQUAL(walk.n, walk.capacity);
    double *arrives = calloc(net.n_vertices, sizeof *arrives);
    for (uint32_t i = 0; i < walk.n; i++)
        if (net.link_source[walk.link[i]] >= net.n_routers ||
            net.link_source[walk.link[i]] < net.link_target[walk.link[i]])
            arrives[net.link_target[walk.link[i]]] += walk.weight[i];
    for (uint32_t v = s->first_switch[3]; v < s->first_switch[4]; v++)
        CU_ASSERT_DOUBLE_EQUAL(arrives[v], 7.0 / (3 * 12), 1e-14);
    free(arrives);
    fc_walk_free(&walk);
    fc_test_close(&machine, &net);
}

/* Zahavi 2010: d-mod-k carries every shift permutation d = s + shift of a full k-ary n-tree without
 * contention. */
static void hash_shifts_without_contention(void)
{
    static const struct tree full[] = {
        {3, {4, 4, 4}, {1, 4, 4}, {1, 1, 1}, 1}, {2, {6, 6}, {1, 6}, {1, 1}, 1}, {2, {6, 4}, {1, 2}, {1, 3}, 1}};
    for (size_t i = 0; i < FC_COUNT(full); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_status st = {0};
        if (!build_tree(&full[i], &machine, &net)) continue;
        uint32_t n = net.n_nodes, *src = malloc(n * sizeof *src), *dst = malloc(n * sizeof *dst);
        double *bytes = malloc(n * sizeof *bytes), *load = malloc(net.n_links * sizeof *load), greatest = 0;
        for (uint32_t shift = 1; shift < n; shift++) {
            memset(load, 0, net.n_links * sizeof *load);
            for (uint32_t v = 0; v < n; v++) src[v] = v, dst[v] = (v + shift) % n, bytes[v] = 1;
            CU_ASSERT_EQUAL(routing_named("nca-hash")->sparse(&net, src, dst, bytes, n, load, &st), FC_OK);
            for (uint32_t l = 0; l < net.n_links; l++) greatest = fmax(greatest, load[l]);
        }
        CU_ASSERT_EQUAL(greatest, 1);
        free(src), free(dst), free(bytes), free(load);
        fc_test_close(&machine, &net);
    }
}

/* All traffic to one node shares its path: one link into every subtree on the way, in each plane. */
static void hash_is_one_path(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    if (!build_tree(&trees[6], &machine, &net)) return;
    double *a = malloc(net.n_nodes * sizeof *a), *b = calloc(net.n_nodes, sizeof *b);
    double *load = calloc(net.n_links, sizeof *load);
    for (uint32_t v = 0; v < net.n_nodes; v++) a[v] = 1;
    b[13] = 1;
    CU_ASSERT_EQUAL(routing_named("nca-hash")->rank_one(&net, a, b, load, &st), FC_OK);
    uint32_t used[3] = {0}, others = net.n_nodes - 1;
    for (uint32_t l = 0; l < net.n_links; l++) {
        bool down = net.link_target[l] >= net.n_routers ||
                    (net.link_source[l] < net.n_routers && net.link_source[l] > net.link_target[l]);
        if (!down || load[l] == 0) continue;
        used[net.link_class[l]]++;
        if (net.link_class[l] == 0) CU_ASSERT_DOUBLE_EQUAL(load[l], others / 3.0, 1e-12);
    }
    for (int level = 0; level < 3; level++) CU_ASSERT_EQUAL(used[level], 3);
    free(a), free(b), free(load);
    fc_test_close(&machine, &net);
}

static void names(void)
{
    struct fc_machine machine;
    struct fc_network net;
    char text[80];
    if (!build_tree(&trees[0], &machine, &net)) return;
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&net, 0, text, sizeof text), "switch L1.0");
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&net, 21, text, sizeof text), "switch L2.5");
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&net, 48 + 17, text, sizeof text), "node 17");
    uint32_t up = fc_find_link(&net, 3, 16 + 3); /* leaf 3 is the fourth of the first subtree: parents L2.0 .. L2.3 */
    CU_ASSERT_STRING_EQUAL(fc_link_name(&net, up, text, sizeof text), "up L1.3->L2.3");
    CU_ASSERT_STRING_EQUAL(fc_link_name(&net, fc_find_link(&net, 19, 3), text, sizeof text), "down L2.3->L1.3");
    CU_ASSERT_STRING_EQUAL(fc_link_name(&net, fc_find_link(&net, 48 + 17, 4), text, sizeof text), "up node 17->L1.4");
    fc_test_close(&machine, &net);
    if (!build_tree(&trees[6], &machine, &net)) return;
    CU_ASSERT_STRING_EQUAL(fc_vertex_name(&net, net.n_routers - 1, text, sizeof text), "switch P2.L3.11");
    CU_ASSERT_STRING_EQUAL(fc_link_name(&net, 2, text, sizeof text), "up P0.L1.0->P0.L2.0 cable 2");
    fc_test_close(&machine, &net);
}

#define REFUSED(keys, code, part)                                                                                      \
    refused("name: bad\nnetwork: {family: fat-tree, " keys "}\n"                                                       \
            "links: {leaf: {bandwidth: 1 GB/s}, up: {bandwidth: 1 GB/s}}\n",                                           \
            code, part)

static void refusals(void)
{
    REFUSED("parents: [1, 4]", FC_INPUT, ":2: network.children is missing");
    REFUSED("children: [4, 4]", FC_INPUT, ":2: network.parents is missing");
    REFUSED("children: [4, 4], parents: [1, 4, 4]", FC_INPUT, "network.parents has 3 entries (expected 2");
    REFUSED("children: [4, 4], parents: [1, 4], links: [1]", FC_INPUT, "network.links has 1 entries (expected 2");
    REFUSED("children: [4, 0], parents: [1, 4]", FC_INPUT, "network.children");
    REFUSED("children: [4, 4], parents: [1, 0]", FC_INPUT, "network.parents");
    REFUSED("children: [4, -4], parents: [1, 4]", FC_INPUT, "network.children");
    REFUSED("children: [4, 4], parents: [1, 4], links: [1, 0]", FC_INPUT, "network.links");
    REFUSED("children: [4, 4], parents: [1, 4], planes: 0", FC_INPUT, "network.planes");
    REFUSED("children: [4, 4], parents: [1, 4], planes: -1", FC_INPUT, "network.planes");
    REFUSED("children: [4, 4.5], parents: [1, 4]", FC_INPUT, "network.children");
    REFUSED("children: [4, many], parents: [1, 4]", FC_INPUT, "network.children");
    REFUSED("children: [9223372036854775808], parents: [1]", FC_INPUT, "network.children");
    REFUSED("children: [9223372036854775807], parents: [1]", FC_INPUT, "network.children");
    REFUSED("children: [2147483647], parents: [1]", FC_NO, "too many");
    REFUSED("children: [65536, 65536], parents: [1, 65536]", FC_NO, "too many");
    REFUSED("children: [2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, "
            "2147483647, "
            "2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647], "
            "parents: [2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, "
            "2147483647, "
            "2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647]",
            FC_NO, "too many");
    REFUSED("children: [64, 64], parents: [1, 65536], links: [1, 65535]", FC_NO, "links are too many");
    REFUSED("children: [1,1,1,1, 1,1,1,1, 1,1,1,1, 1,1,1,1], parents: [1,1,1,1, 1,1,1,1, 1,1,1,1, 1,1,1,1]", FC_INPUT,
            "16 levels (at most 15)");
    REFUSED("children: [4, 4], parents: [1, 4], childs: 3", FC_INPUT, "childs");
    refused("name: bad\nnetwork: {family: fat-tree, children: [4, 4], parents: [1, 4]}\nlinks: {leaf: "
            "{bandwidth: 1}}\n",
            FC_INPUT, "class 'level1' is missing");
    refused("name: bad\nnetwork: {family: fat-tree, children: [4, 4], parents: [1, 4]}\n"
            "links: {leaf: {bandwidth: 1}, up: {bandwidth: 1}}\nrouter: {routing: valiant}\n",
            FC_INPUT, "nca, nca-hash");
}

/* 4.1e9 links fit 32 bits, but their 41 GB of arrays not this machine: refused before anything is touched. */
static void refused_for_memory(void)
{
    if (fc_memory_bytes() > 40e9) return;
    REFUSED("children: [32000, 32000], parents: [1, 32000]", FC_NO, "of memory");
}

int suite_fat_tree(void)
{
    static const CU_TestInfo tests[] = {
        {"counts, degrees and distances of XGFTs against closed forms and search", counts},
        {"QsNET-64", qsnet},
        {"bisection", bisection},
        {"path walk = rank-one = sparse, nca and nca-hash", loads},
        {"uniform traffic on k-ary n-trees against the closed form", uniform_closed_form},
        {"adaptive ascent is uniform over ancestors", ascent_is_uniform},
        {"d-mod-k carries all shifts without contention", hash_shifts_without_contention},
        {"d-mod-k has one path a destination and plane", hash_is_one_path},
        {"names of switches and links", names},
        {"refusals", refusals},
        {"too large for memory is refused", refused_for_memory},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("fat-tree", tests);
}
