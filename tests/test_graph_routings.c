/* test_graph_routings.c - detours, hashed paths and up*-down* routes on graphs: path walks against structural loads and closed
 * forms; that routes are what they are called; refusals. */
#include "solvers/solvers.h"
#include "tests/graph_checks.h"

#include <math.h>

static const char fast[] = "links: {link: {bandwidth: 1 GB/s, latency: 1 ns}}\n";

struct text {
    char *data;
    size_t size;
    FILE *stream;
};
static void text_start(struct text *t)
{
    t->stream = open_memstream(&t->data, &t->size);
}

/* A connected network with parallel cables; nodes on one to three routers, or all on one and some routers without. */
static bool random_network(uint64_t seed, bool rails, struct fc_machine *machine, struct fc_network *net)
{
    struct text t;
    struct fc_status st = {0};
    uint64_t at = 0, n = 4 + fc_random_below(seed, 5, at++, 6);
    text_start(&t);
    for (uint64_t i = 1; i < n; i++) {
        uint64_t to = fc_random_below(seed, 5, at++, i), count = 1 + fc_random_below(seed, 5, at++, 2);
        fprintf(t.stream, "router r%d router r%d 1GB/s 0 %d\n", (int)i, (int)to, (int)count);
    }
    for (uint64_t i = 0; i + 2 < n; i++) {
        uint64_t to = fc_random_below(seed, 5, at++, n);
        if (to != i) fprintf(t.stream, "router r%d router r%d %dMB/s\n", (int)i, (int)to, (int)(i + 2 + (to < i) * 50));
    }
    for (uint64_t i = 0; i < n + 3; i++)
        for (uint64_t rail = 0, all = rails ? 1 + (i % 3 == 0) : 1; rail < all; rail++)
            fprintf(t.stream, "node h%d router r%d 1GB/s 0 %d\n", (int)i, (int)((i / 2 + rail) % n), 1 + (i % 4 == 1));
    fclose(t.stream);
    bool good = !graph_machine("edge-list", t.data, "", machine, &st) &&
                !fc_machine_route(machine, "updown-hash", &st) && !fc_network_build(machine, net, &st);
    if (!good) CU_ASSERT(fc_says(&st, FC_INPUT, "again, as on line"));
    free(t.data);
    return good;
}

/* Detours: the walk of every pair is a flow, and all walks together are the structural loads. */
static void detours_agree(const struct fc_network *net, uint64_t seed)
{
    const struct fc_routing_ops *r = &fc_routing_graph_valiant;
    struct fc_status st = {0};
    uint32_t n = net->n_nodes;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *load[3], hop_bytes;
    double *bytes = malloc((size_t)n * n * sizeof *bytes);
    uint32_t *src = malloc((size_t)n * n * sizeof *src), *dst = malloc((size_t)n * n * sizeof *dst);
    size_t entries = 0;
    for (int i = 0; i < 3; i++) load[i] = calloc(net->n_links, sizeof *load[i]);
    for (uint32_t i = 0; i < n; i++) {
        a[i] = seed % 2 && i % 3 ? 0 : 1e3 * fc_random_real(seed, 0, i);
        b[i] = fc_random_real(seed, 1, i);
    }
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t d = 0; d < n; d++)
            if (s != d) src[entries] = s, dst[entries] = d, bytes[entries++] = a[s] * b[d];
    walk_all(net, r, a, b, load[0], &hop_bytes);
    CU_ASSERT_EQUAL(r->rank_one(net, a, b, load[1], &st), FC_OK);
    CU_ASSERT_EQUAL(r->sparse(net, src, dst, bytes, entries, load[2], &st), FC_OK);
    CU_ASSERT(load_difference(net, load[0], load[1]) < 1e-12);
    CU_ASSERT(load_difference(net, load[0], load[2]) < 1e-12);
    for (int i = 0; i < 3; i++) free(load[i]);
    free(a), free(b), free(bytes), free(src), free(dst);
}

/* A walk that follows others, and has what they left with it, is to the bit what it is alone. */
static void kept_as_alone(const struct fc_network *net)
{
    const struct fc_routing_ops *r = &fc_routing_graph_valiant;
    FC_SCOPED(fc_walk_free) struct fc_walk kept = {0};
    struct fc_status st = {0};
    bool same = !fc_walk_start(&kept, r->walk_capacity(net), &st);
    for (uint32_t pair = 0; same && pair < net->n_nodes * net->n_nodes; pair++) {
        uint32_t src = pair % net->n_nodes, dst = pair / net->n_nodes;
        FC_SCOPED(fc_walk_free) struct fc_walk alone = {0};
        if (src == dst) continue;
        same = !fc_walk_start(&alone, r->walk_capacity(net), &st);
        kept.n = 0;
        r->walk(net, src, dst, 1, &kept);
        if (same) r->walk(net, src, dst, 1, &alone);
        same = same && alone.n > 0 && kept.n == alone.n && !memcmp(kept.link, alone.link, kept.n * sizeof *kept.link) &&
               !memcmp(kept.weight, alone.weight, kept.n * sizeof *kept.weight);
    }
    CU_ASSERT(same);
}

/* The walk is one path from src to dst; with routes up and then down: that it is such a one. Its hops. */
static uint32_t path_hops(const struct fc_network *net, const struct fc_routing_ops *r, uint32_t src, uint32_t dst,
                          struct fc_walk *walk)
{
    const struct fc_updown *u = ((const struct fc_graph_tables *)net->extra)->updown;
    uint32_t at = fc_node_vertex(net, src);
    bool down = false, wrong = false;
    walk->n = 0;
    r->walk(net, src, dst, 1, walk);
    for (uint32_t i = 0; i < walk->n; i++) {
        uint32_t l = walk->link[i], to = net->link_target[l];
        wrong = wrong || net->link_source[l] != at || walk->weight[i] != 1;
        if (i > 0 && !fc_is_node(net, to)) {
            bool falls = u->place[to] > u->place[at];
            wrong = wrong || (r == &fc_routing_updown && down && !falls);
            down = falls;
        }
        at = to;
    }
    CU_ASSERT(!wrong && at == fc_node_vertex(net, dst));
    return walk->n - 2;
}

static void single_paths(const struct fc_network *net)
{
    struct fc_walk walk;
    struct fc_status st = {0};
    uint32_t *distance = malloc(net->n_vertices * sizeof *distance), *queue = malloc(net->n_vertices * sizeof *queue);
    CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, fc_routing_updown.walk_capacity(net), &st), FC_OK);
    for (uint32_t s = 0; s < net->n_nodes; s++) {
        fc_distances(net, fc_node_vertex(net, s), distance, queue);
        for (uint32_t d = 0; d < net->n_nodes; d++) {
            if (s == d) continue;
            CU_ASSERT_EQUAL(path_hops(net, &fc_routing_shortest_hash, s, d, &walk), distance[fc_node_vertex(net, d)]);
            CU_ASSERT(path_hops(net, &fc_routing_updown, s, d, &walk) >= distance[fc_node_vertex(net, d)]);
        }
    }
    fc_walk_free(&walk);
    free(distance), free(queue);
}

static void random_networks(void)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct fc_machine machine;
        struct fc_network net;
        if (!random_network(seed, seed >= 6, &machine, &net)) continue;
        detours_agree(&net, seed);
        kept_as_alone(&net);
        single_paths(&net);
        fc_test_close(&machine, &net);
    }
}

/* All routers linked to all, a node each: a pair goes 1 hop where the stop is one of its ends, else 2: 2 (n - 1) / n on average,
 * the same on every link. */
static void complete(void)
{
    enum { N = 7 };
    struct text t;
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    double a[N], load[N * (N - 1) + 2 * N] = {0};
    text_start(&t);
    for (int i = 0; i < N; i++) {
        fprintf(t.stream, "router %d node %d\n", i, i);
        for (int j = 0; j < i; j++) fprintf(t.stream, "router %d router %d\n", i, j);
        a[i] = 1;
    }
    fclose(t.stream);
    if (graph_of("edge-list", t.data, fast, &machine, &net)) {
        CU_ASSERT_EQUAL_FATAL(net.n_links, FC_COUNT(load));
        CU_ASSERT_EQUAL(fc_routing_graph_valiant.rank_one(&net, a, a, load, &st), FC_OK);
        for (uint32_t l = 0; l < net.n_links; l++) {
            bool outer = fc_is_node(&net, net.link_source[l]) || fc_is_node(&net, net.link_target[l]);
            CU_ASSERT_DOUBLE_EQUAL(load[l], outer ? N - 1 : 2.0 * (N - 1) / N, 1e-12);
        }
        fc_test_close(&machine, &net);
    }
    free(t.data);
}

/* A fat-tree of two levels: its top switches are the roots, so up*-down* routes are its shortest ones, and no cable between
 * levels is left out by the hash. */
static void fat_tree(void)
{
    struct text t;
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    text_start(&t);
    for (int leaf = 0; leaf < 4; leaf++) {
        for (int top = 0; top < 3; top++) fprintf(t.stream, "router leaf%d router top%d\n", leaf, top);
        for (int node = 0; node < 6; node++) fprintf(t.stream, "router leaf%d node n%d\n", leaf, 6 * leaf + node);
    }
    fclose(t.stream);
    if (!graph_machine("edge-list", t.data, fast, &machine, &st) && !fc_machine_route(&machine, "updown-hash", &st) &&
        !fc_network_build(&machine, &net, &st)) {
        struct fc_walk walk;
        uint8_t *used = calloc(net.n_links, 1);
        CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, fc_routing_updown.walk_capacity(&net), &st), FC_OK);
        for (uint32_t s = 0; s < net.n_nodes; s++)
            for (uint32_t d = 0; d < net.n_nodes; d++) {
                if (s == d) continue;
                CU_ASSERT_EQUAL(path_hops(&net, &fc_routing_updown, s, d, &walk), s / 6 == d / 6 ? 0 : 2);
                for (uint32_t i = 0; i < walk.n; i++) used[walk.link[i]] = 1;
            }
        for (uint32_t l = 0; l < net.n_links; l++) CU_ASSERT(used[l]);
        fc_walk_free(&walk);
        free(used);
        fc_network_free(&net);
        fc_machine_free(&machine);
    }
    CU_ASSERT_EQUAL(st.code, FC_OK);
    free(t.data);
}

/* UGAL finds the better of both: a ring of routers in which each sends to the next, where only detours use all links. */
static void ugal_mixes(void)
{
    enum { N = 8 };
    struct text t;
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    static const char *const routings[] = {"shortest", "valiant", "ugal"};
    double worst[3] = {0};
    text_start(&t);
    for (int i = 0; i < N; i++) {
        for (int node = 0; node < 4; node++) fprintf(t.stream, "router %d node %d\n", i, 4 * i + node);
        for (int j = 0; j < i; j++) fprintf(t.stream, "router %d router %d\n", i, j);
    }
    fclose(t.stream);
    if (graph_of("edge-list", t.data, fast, &machine, &net)) {
        uint32_t src[4 * N], dst[4 * N], node[4 * N];
        double bytes[4 * N], messages[4 * N];
        for (uint32_t n = 0; n < 4 * N; n++)
            src[n] = node[n] = n, dst[n] = (n + 4) % (4 * N), bytes[n] = 1e6, messages[n] = 1;
        struct fc_demand demand = {.name = "shift",
                                   .n_tasks = 4 * N,
                                   .n_entries = 4 * N,
                                   .src = src,
                                   .dst = dst,
                                   .bytes = bytes,
                                   .messages = messages};
        struct fc_placement placement = {.n_tasks = 4 * N, .node = node};
        for (int r = 0; r < 3; r++) {
            struct fc_load_settings settings = {0};
            struct fc_load load;
            CU_ASSERT_EQUAL_FATAL(fc_machine_route(&machine, routings[r], &st), FC_OK);
            CU_ASSERT_EQUAL_FATAL(fc_load_solve(&net, &demand, &placement, &settings, &load, &st), FC_OK);
            for (uint32_t l = 0; l < net.first_link[net.n_routers]; l++)
                if (!fc_is_node(&net, net.link_target[l])) worst[r] = fmax(worst[r], load.bytes[l]);
            fc_load_free(&load);
        }
        /* A share w of detours: 1 - w + w 2/N on the link to the next (a stop at either end), so many on those to stops. */
        CU_ASSERT_DOUBLE_EQUAL(worst[0], 4e6, 1);
        CU_ASSERT_DOUBLE_EQUAL(worst[1], 4e6 * 2 / N, 1);
        CU_ASSERT_DOUBLE_EQUAL(worst[2], 4e6 * 2 / N, 1);
        fc_test_close(&machine, &net);
    }
    free(t.data);
}

/* Two islands: detours between them are refused by name. */
static void islands(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    double a[4] = {1, 1, 1, 1}, load[64] = {0};
    if (!graph_of("edge-list",
                  "router a router b\nrouter c router d\nrouter a node 0\nrouter b node 1\nrouter c node 2\n"
                  "router d node 3\n",
                  fast, &machine, &net))
        return;
    CU_ASSERT_EQUAL(fc_routing_graph_valiant.rank_one(&net, a, a, load, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, "there is no path from node "));
    fc_test_close(&machine, &net);
}

/* Rules say which routings they know; the escape is a graph's. */
static void refusals(void)
{
    static const struct {
        const char *routing, *rule, *says;
    } cases[] = {
        {"valiant", "layers",
         "rule layers of the graph family does not know valiant routing (it knows: shortest, "
         "shortest-hash)"},
        {"updown-hash", "hops", "rule hops of the graph family does not know updown-hash routing"},
        {"updown-hash", "updown", "rule updown of the graph family does not know updown-hash routing"},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_certificate c;
        struct fc_status st = {0};
        if (!random_network(1, false, &machine, &net)) continue;
        CU_ASSERT_EQUAL(fc_machine_route(&machine, cases[i].routing, &st), FC_OK);
        CU_ASSERT_EQUAL(fc_certify(&net, cases[i].rule, &c, &st), FC_INPUT);
        CU_ASSERT(fc_says(&st, FC_INPUT, cases[i].says));
        fc_test_close(&machine, &net);
    }
    refused(
        "name: t\nnetwork: {family: torus, dims: [4, 4]}\nlinks: {torus: {bandwidth: 1}}\nrouter: {escape: updown}\n",
        FC_INPUT, "router.escape: a torus network has no rule 'updown' (graphs have it)");
}

static const CU_TestInfo tests[] = {
    {"random networks", random_networks},
    {"detours on a complete graph", complete},
    {"up and down a fat-tree", fat_tree},
    {"ugal mixes", ugal_mixes},
    {"islands", islands},
    {"refusals", refusals},
    CU_TEST_INFO_NULL,
};
int suite_graph_routings(void)
{
    return fc_add_suite("graph routings", tests);
}
