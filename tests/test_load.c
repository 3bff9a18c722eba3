/* test_load.c - channel loads: structural formulas against the path walk on every family and routing, conservation
 * (sum of link bytes = hop-bytes), the adaptive split against the linear program, cuts against loads. */
#include "models/family_torus.h"
#include "solvers/load_internal.h"
#include "tests/flit_oracles.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <glpk.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TORUS(dims)                                                                                                    \
    "name: t\nnetwork: {family: torus, dims: " dims "}\nlinks: {torus: {bandwidth: 1 GB/s, latency: 1 ns}}\n"

struct network_case {
    const char *yaml;
    const char *routings[4];
};
/* Small networks of every family, with the odd cases: sizes 1 and 2, lines, cables, several nodes a router. */
static const struct network_case networks[] = {
    {TORUS("[4, 4, 4]"), {"dimension-order", "valiant"}},
    {TORUS("[5, 4, 3]"), {"dimension-order", "valiant"}},
    {TORUS("[2, 1, 6]"), {"dimension-order", "valiant"}},
    {TORUS("[7]"), {"dimension-order", "valiant"}},
    {"name: t\nnetwork: {family: torus, dims: [4, 3, 2, 2], wrap: [1, 0, 1, 0], links_per_dim: [2, 1, 3, 1], "
     "nodes_per_router: 2}\nlinks: {torus: {bandwidth: 1 GB/s, latency: 1 ns}}\n",
     {"dimension-order", "valiant"}},
    {"name: t\nnetwork: {family: mesh, dims: [5, 3], nodes_per_router: 3}\n"
     "links: {x: {bandwidth: 1 GB/s, latency: 1 ns}, y: {bandwidth: 2 GB/s, latency: 1 ns}}\n",
     {"dimension-order", "valiant"}},
    {"name: t\nnetwork: {family: two-level, supernodes: 5, drawers: 2, nodes_per_drawer: 3, d_ports: 2}\n"
     "links: {ll: {bandwidth: 24 GB/s, latency: 1 ns}, lr: {bandwidth: 5 GB/s, latency: 1 ns}, "
     "d: {bandwidth: 10 GB/s, latency: 1 ns}}\n",
     {"direct", "indirect"}},
    {"name: t\nnetwork: {family: two-level, supernodes: 6, drawers: 1, nodes_per_drawer: 4, links_per_pair: 3, "
     "d_link: modulo, nodes_per_router: 2}\n"
     "links: {ll: {bandwidth: 24 GB/s, latency: 1 ns}, d: {bandwidth: 10 GB/s, latency: 1 ns}}\n",
     {"direct", "indirect"}},
    {"name: t\nnetwork: {family: two-level, supernodes: 4, drawers: 3, nodes_per_drawer: 2, local: grid, "
     "links_per_pair: 2, d_link: hashed}\n"
     "links: {ll: {bandwidth: 24 GB/s, latency: 1 ns}, lr: {bandwidth: 5 GB/s, latency: 1 ns}, "
     "d: {bandwidth: 10 GB/s, latency: 1 ns}}\n",
     {"direct", "indirect"}},
    {"name: t\nnetwork: {family: two-level, supernodes: 2, drawers: 2, nodes_per_drawer: 2, d_link: free}\n"
     "links: {ll: {bandwidth: 24 GB/s, latency: 1 ns}, lr: {bandwidth: 5 GB/s, latency: 1 ns}, "
     "d: {bandwidth: 10 GB/s, latency: 1 ns}}\n",
     {"direct", "indirect"}},
    {"name: t\nnetwork: {family: dragonfly-plus, cells: [2, 1], leaves: [3, 2], spines: [2, 3], "
     "leaf_nodes: '2/2, 0, 3, 2*1, 2, 1/3, 2', links_per_pair: 3}\n"
     "links: {spine: {bandwidth: 25 GB/s, latency: 1 ns}, global: {bandwidth: 10 GB/s, latency: 1 ns}}\n",
     {"direct", "indirect"}},
    {"name: t\nnetwork: {family: dragonfly-plus, cells: [2, 3], leaves: [4, 3], nodes_per_cell: [7, 5], rails: [2, 3], "
     "node_links: [2, 1], links_per_pair: 2}\n"
     "links: {local: {bandwidth: 25 GB/s, latency: 1 ns}, global: {bandwidth: 10 GB/s, latency: 1 ns}}\n",
     {"direct", "indirect"}},
    {"name: t\nnetwork: {family: dragonfly-plus, cells: [1, 1, 2], leaves: [2, 1, 4], spines: [3, 0, 0], "
     "nodes_per_cell: [5, 2, 6], links_per_pair: 4}\nlinks: {local: {bandwidth: 25 GB/s, latency: 1 ns}, "
     "spine: {bandwidth: 25 GB/s, latency: 1 ns}, global: {bandwidth: 10 GB/s, latency: 1 ns}}\n",
     {"direct", "indirect"}},
    {"name: t\nnetwork: {family: dragonfly-plus, cells: [2], leaves: [3], spines: [2], nodes_per_cell: [6]}\n"
     "links: {spine: {bandwidth: 25 GB/s, latency: 1 ns}, global: {bandwidth: 10 GB/s, latency: 1 ns}}\n",
     {"direct", "indirect"}},
    {"name: t\nnetwork: {family: fat-tree, children: [4, 4, 4], parents: [1, 4, 4]}\n"
     "links: {leaf: {bandwidth: 400 MB/s, latency: 1 ns}, up: {bandwidth: 400 MB/s, latency: 1 ns}}\n",
     {"nca", "nca-hash"}},
    {"name: t\nnetwork: {family: fat-tree, children: [3, 5], parents: [2, 2]}\n"
     "links: {leaf: {bandwidth: 400 MB/s, latency: 1 ns}, up: {bandwidth: 400 MB/s, latency: 1 ns}}\n",
     {"nca", "nca-hash"}},
    {"name: t\nnetwork: {family: tmesh, dims: [3, 2, 4], mesh: [3, 3], bridges: {x-: 0, y-: 2, z-: 4, x+: 1, y+: 3, "
     "z+: 5}}\nlinks: {torus: {bandwidth: 2 GB/s, latency: 1 ns}, mesh: {bandwidth: 25.6 GB/s, latency: 1 ns}}\n",
     {"dimension-order"}},
};

/* A demand on nodes: n_entries random pairs, or one dense part. The caller frees. */
static void random_sparse(uint32_t n, size_t n_entries, uint64_t seed, struct fc_demand *d)
{
    struct fc_status st = {0};
    memset(d, 0, sizeof *d);
    d->name = "random pairs";
    d->n_tasks = n;
    d->n_entries = n_entries;
    d->src = fc_alloc(&d->arena, n_entries, sizeof *d->src, &st);
    d->dst = fc_alloc(&d->arena, n_entries, sizeof *d->dst, &st);
    d->bytes = fc_alloc(&d->arena, n_entries, sizeof *d->bytes, &st);
    d->messages = fc_alloc(&d->arena, n_entries, sizeof *d->messages, &st);
    for (size_t e = 0; e < n_entries; e++) {
        d->src[e] = (uint32_t)(e * n / n_entries);
        d->dst[e] = (uint32_t)fc_random_below(seed, 1, e, n);
        d->bytes[e] = 1 + (double)fc_random_below(seed, 2, e, 1000);
        d->messages[e] = 1;
    }
}
static void dense(uint32_t n, bool even, uint64_t seed, struct fc_demand *d)
{
    struct fc_status st = {0};
    memset(d, 0, sizeof *d);
    d->name = "dense";
    d->n_tasks = n;
    d->n_dense = 1;
    d->dense[0].a = fc_alloc(&d->arena, n, sizeof(double), &st);
    d->dense[0].b = fc_alloc(&d->arena, n, sizeof(double), &st);
    d->dense[0].message_bytes = 1;
    for (uint32_t i = 0; i < n; i++) {
        d->dense[0].a[i] = even ? 3 : fc_random_real(seed, 1, i);
        d->dense[0].b[i] = even ? 2 : fc_random_real(seed, 2, i) < 0.3 ? 0 : fc_random_real(seed, 3, i);
    }
}

static bool solve(const struct fc_network *net, const struct fc_demand *d, struct fc_load_settings settings,
                  struct fc_load *load)
{
    struct fc_status st = {0};
    uint32_t *node = malloc(d->n_tasks * sizeof *node);
    for (uint32_t t = 0; t < d->n_tasks; t++) node[t] = t % net->n_nodes;
    struct fc_placement placement = {d->n_tasks, node};
    enum fc_code code = fc_load_solve(net, d, &placement, &settings, load, &st);
    free(node);
    if (code) printf("\n    %s %s: %s\n", net->machine->family->name, net->machine->routing->name, st.message);
    CU_ASSERT_EQUAL_FATAL(code, FC_OK);
    return code == FC_OK;
}

/* Same bytes on every link, 1e-12 of the greatest load. */
static void expect_equal(const struct fc_network *net, const double *a, const double *b, const char *what)
{
    double most = 0, off = 0;
    for (uint32_t l = 0; l < net->n_links; l++) {
        most = fmax(most, fmax(fabs(a[l]), fabs(b[l])));
        off = fmax(off, fabs(a[l] - b[l]));
    }
    if (!(off <= 1e-12 * most))
        printf("\n    %s %s, %s: off by %g of %g\n", net->machine->family->name, net->machine->routing->name, what, off,
               most);
    CU_ASSERT(off <= 1e-12 * most);
    CU_ASSERT(most > 0);
}

static void for_each_network(void (*body)(struct fc_network *net))
{
    for (size_t i = 0; i < FC_COUNT(networks); i++) {
        struct fc_machine machine;
        struct fc_network net;
        if (!fc_test_network(networks[i].yaml, &machine, &net)) continue;
        for (int r = 0; r < 4 && networks[i].routings[r]; r++) {
            struct fc_status st = {0};
            CU_ASSERT_EQUAL(fc_machine_route(&machine, networks[i].routings[r], &st), FC_OK);
            body(&net);
        }
        fc_test_close(&machine, &net);
    }
}

static void structural_equals_walk(struct fc_network *net)
{
    struct fc_load_settings formulas = {0}, walk = {.path_walk = true};
    for (int kind = 0; kind < 3; kind++) {
        static const char *const what[] = {"random pairs", "dense", "uniform"};
        struct fc_demand d;
        struct fc_load a, b;
        if (kind == 0)
            random_sparse(net->n_nodes, 4 * net->n_nodes, 7, &d);
        else
            dense(net->n_nodes, kind == 2, 11, &d);
        if (solve(net, &d, formulas, &a) && solve(net, &d, walk, &b)) {
            expect_equal(net, a.bytes, b.bytes, what[kind]);
            CU_ASSERT(fc_near(a.hop_bytes, b.hop_bytes, 1e-12));
        }
        fc_load_free(&a);
        fc_load_free(&b);
        fc_demand_free(&d);
    }
}
static void test_structural(void)
{
    for_each_network(structural_equals_walk);
}

/* Injection and ejection carry each node's bytes exactly; hops x bytes by the walk's own count. */
static void conserves(struct fc_network *net)
{
    struct fc_demand d;
    struct fc_load load;
    struct fc_load_settings settings = {0};
    struct fc_walk walk;
    struct fc_status st = {0};
    random_sparse(net->n_nodes, 3 * net->n_nodes, 23, &d);
    CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, net->machine->routing->walk_capacity(net), &st), FC_OK);
    if (solve(net, &d, settings, &load)) {
        double hop_bytes = 0, into = 0, out_of = 0, bytes = 0;
        for (size_t e = 0; e < d.n_entries; e++) {
            if (d.src[e] == d.dst[e]) continue;
            bytes += d.bytes[e];
            walk.n = 0;
            net->machine->routing->walk(net, d.src[e], d.dst[e], 1, &walk);
            CU_ASSERT(walk.n <= walk.capacity);
            for (uint32_t i = 0; i < walk.n; i++)
                if (!fc_is_node(net, net->link_source[walk.link[i]]) &&
                    !fc_is_node(net, net->link_target[walk.link[i]]))
                    hop_bytes += d.bytes[e] * walk.weight[i];
        }
        for (uint32_t l = 0; l < net->n_links; l++) {
            if (fc_is_node(net, net->link_source[l])) into += load.bytes[l];
            if (fc_is_node(net, net->link_target[l])) out_of += load.bytes[l];
        }
        CU_ASSERT(fc_near(load.hop_bytes, hop_bytes, 1e-12));
        CU_ASSERT(fc_near(into, bytes, 1e-12));
        CU_ASSERT(fc_near(out_of, bytes, 1e-12));
        CU_ASSERT(fc_near(load.network_bytes, bytes, 1e-12));
    }
    fc_load_free(&load);
    fc_walk_free(&walk);
    fc_demand_free(&d);
}
static void test_conservation(void)
{
    for_each_network(conserves);
}

/* A walk is a flow: what enters a router leaves it, the shares of every cut add to one, links come after their feeders. */
static void walk_is_flow(struct fc_network *net)
{
    struct fc_walk walk;
    struct fc_status st = {0};
    double *at = calloc(net->n_vertices, sizeof *at);
    CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, net->machine->routing->walk_capacity(net), &st), FC_OK);
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t s = (uint32_t)fc_random_below(3, 1, i, net->n_nodes),
                 t = (uint32_t)fc_random_below(3, 2, i, net->n_nodes);
        if (s == t) continue;
        memset(at, 0, net->n_vertices * sizeof *at);
        at[fc_node_vertex(net, s)] = 1;
        walk.n = 0;
        net->machine->routing->walk(net, s, t, 1, &walk);
        for (uint32_t j = 0; j < walk.n; j++) {
            at[net->link_source[walk.link[j]]] -= walk.weight[j];
            at[net->link_target[walk.link[j]]] += walk.weight[j];
        }
        bool flow = true;
        for (uint32_t v = 0; v < net->n_vertices; v++)
            flow = flow && fabs(at[v] - (v == fc_node_vertex(net, t))) < 1e-12;
        CU_ASSERT(flow);
    }
    free(at);
    fc_walk_free(&walk);
}
static void test_walk_flow(void)
{
    for (size_t i = 0; i < FC_COUNT(networks); i++) {
        struct fc_machine machine;
        struct fc_network net;
        if (strstr(networks[i].yaml, "d_link: free")) continue; /* leaves local hops out on purpose */
        if (!fc_test_network(networks[i].yaml, &machine, &net)) continue;
        for (const struct fc_routing_ops *const *r = fc_routings; *r; r++) {
            struct fc_status st = {0};
            if (fc_routing_find((*r)->name, machine.family->name) != *r) continue;
            CU_ASSERT_EQUAL(fc_machine_route(&machine, (*r)->name, &st), FC_OK);
            walk_is_flow(&net);
        }
        fc_test_close(&machine, &net);
    }
}

/* Uniform traffic on a k-ary n-cube loads each link k/8 of a node's rate (k even), (k - 1/k)/8 (odd): Dally & Towles. */
static void test_uniform_closed_form(void)
{
    static const struct {
        const char *yaml;
        double k;
    } cubes[] = {{TORUS("[8, 8]"), 8}, {TORUS("[6, 6, 6]"), 6}, {TORUS("[5, 5]"), 5}, {TORUS("[16, 16]"), 16}};
    for (size_t i = 0; i < FC_COUNT(cubes); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand d;
        struct fc_load load;
        struct fc_status st = {0};
        if (!fc_test_network(cubes[i].yaml, &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "uniform", 1, &d, &st), FC_OK);
        double expected = (int)cubes[i].k % 2 ? (cubes[i].k - 1 / cubes[i].k) / 8 : cubes[i].k / 8;
        if (solve(&net, &d, (struct fc_load_settings){0}, &load))
            for (uint32_t l = 0; l < net.n_links; l++)
                if (!strcmp(machine.classes[net.link_class[l]].name, "torus"))
                    CU_ASSERT(fabs(load.bytes[l] - expected) < 1e-12);
        fc_load_free(&load);
        fc_demand_free(&d);
        fc_test_close(&machine, &net);
    }
}

/* min z over minimal routings by the flow LP: commodity = destination, f >= 0 on profitable links, conservation. */
static double lp_optimum(const struct fc_network *net, const struct fc_demand *d)
{
    uint32_t n = net->n_routers, links = net->first_link[n], *distance = malloc(net->n_vertices * sizeof *distance);
    uint32_t *queue = malloc(net->n_vertices * sizeof *queue);
    glp_prob *lp = glp_create_prob();
    glp_set_obj_dir(lp, GLP_MIN);
    int z = glp_add_cols(lp, 1), first_row = glp_add_rows(lp, (int)links);
    glp_set_col_bnds(lp, z, GLP_LO, 0, 0);
    glp_set_obj_coef(lp, z, 1);
    for (uint32_t l = 0; l < links; l++) { /* sum of flows - z <= 0 */
        int column[] = {0, z};
        double minus[] = {0, -1};
        glp_set_mat_row(lp, first_row + (int)l, 1, column, minus);
        glp_set_row_bnds(lp, first_row + (int)l, GLP_UP, 0, 0);
    }
    for (uint32_t t = 0; t < n; t++) {
        double wanted = 0;
        for (size_t e = 0; e < d->n_entries; e++) wanted += d->dst[e] == t && d->src[e] != t ? d->bytes[e] : 0;
        if (wanted == 0) continue;
        fc_distances(net, t, distance, queue); /* tori are symmetric: distance to t */
        int rows = glp_add_rows(lp, (int)n);
        for (uint32_t v = 0; v < n; v++) {
            double demand = 0;
            for (size_t e = 0; e < d->n_entries; e++)
                demand += d->dst[e] == t && d->src[e] == v && v != t ? d->bytes[e] : 0;
            glp_set_row_bnds(lp, rows + (int)v, v == t ? GLP_FR : GLP_FX, demand, demand); /* out - in = demand */
        }
        for (uint32_t l = 0; l < links; l++) {
            uint32_t a = net->link_source[l], b = net->link_target[l];
            if (fc_is_node(net, b) || distance[b] + 1 != distance[a]) continue;
            int column = glp_add_cols(lp, 1), row[] = {0, rows + (int)a, rows + (int)b, first_row + (int)l};
            double one[] = {0, 1, -1, 1};
            glp_set_col_bnds(lp, column, GLP_LO, 0, 0);
            glp_set_mat_col(lp, column, 3, row, one);
        }
    }
    glp_smcp parameters;
    glp_init_smcp(&parameters);
    parameters.msg_lev = GLP_MSG_OFF;
    parameters.presolve = GLP_ON;
    CU_ASSERT_EQUAL_FATAL(glp_simplex(lp, &parameters), 0);
    double optimum = glp_get_obj_val(lp);
    glp_delete_prob(lp);
    free(distance);
    free(queue);
    return optimum;
}

/* The adaptive split is a feasible flow (never below the LP), close to it, and the cut bound never exceeds the LP. */
static void test_adaptive_against_lp(void)
{
    static const char *const yaml[] = {TORUS("[4, 4]"), TORUS("[4, 4, 2]"), TORUS("[6, 3]"), TORUS("[5, 5]")};
    double worst = 1;
    for (size_t i = 0; i < FC_COUNT(yaml); i++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            struct fc_machine machine;
            struct fc_network net;
            struct fc_demand d;
            struct fc_load load;
            if (!fc_test_network(yaml[i], &machine, &net)) continue;
            random_sparse(net.n_nodes, net.n_nodes * seed, seed, &d);
            double optimum = lp_optimum(&net, &d), most = 0;
            if (solve(&net, &d, (struct fc_load_settings){0}, &load)) {
                CU_ASSERT_STRING_EQUAL(load.method, "adaptive split");
                for (uint32_t l = 0; l < net.n_links; l++)
                    if (!strcmp(machine.classes[net.link_class[l]].name, "torus")) most = fmax(most, load.bytes[l]);
                CU_ASSERT(most >= optimum * (1 - 1e-9));
                CU_ASSERT(load.cut_bound_s <= optimum / 1e9 * (1 + 1e-9));
                CU_ASSERT(load.cut_bound_s > 0);
                worst = fmax(worst, most / optimum);
            }
            fc_load_free(&load);
            fc_demand_free(&d);
            fc_test_close(&machine, &net);
        }
    printf("\n    adaptive split: at most %.3f of the linear program's optimum ", worst);
    CU_ASSERT(worst < 1.08);
}

/* The bound by forced traffic alone; entries between different nodes. */
static double forced_bound(const struct fc_network *net, const struct fc_demand *d)
{
    struct fc_node_demand nodes = {.n_dense = d->n_dense};
    double bound_s = NAN;
    struct fc_status st = {0};
    nodes.src = calloc(d->n_entries + 1, sizeof *nodes.src);
    nodes.dst = calloc(d->n_entries + 1, sizeof *nodes.dst);
    nodes.bytes = calloc(d->n_entries + 1, sizeof *nodes.bytes);
    CU_ASSERT_FATAL(nodes.src && nodes.dst && nodes.bytes);
    for (size_t e = 0; e < d->n_entries; e++) {
        if (d->src[e] == d->dst[e]) continue;
        nodes.src[nodes.n] = d->src[e];
        nodes.dst[nodes.n] = d->dst[e];
        nodes.bytes[nodes.n++] = d->bytes[e];
    }
    for (int p = 0; p < d->n_dense; p++) nodes.a[p] = d->dense[p].a, nodes.b[p] = d->dense[p].b;
    CU_ASSERT_EQUAL(fc_forced_bound(net, &nodes, NULL, &bound_s, &st), FC_OK);
    free(nodes.src);
    free(nodes.dst);
    free(nodes.bytes);
    return bound_s;
}

/* The Petersen graph has one shortest path a pair: all is forced. A ring of 12 with chords has choices. */
static void test_forced_graph(void)
{
    static const char head[] = "name: t\nclock: 1 GHz\nnetwork: {family: graph, file: ",
                      tail[] = ", format: edge-list}\nlinks: {link: {bandwidth: 1 GB/s, latency: 1 ns}}\n";
    char yaml[512], ring[2048] = "", path[40];
    size_t at = 0;
    for (int v = 0; v < 12; v++)
        at += (size_t)snprintf(ring + at, sizeof ring - at, "router %d router %d\nrouter %d node %d\n", v, (v + 1) % 12,
                               v, v);
    for (int v = 0; v < 12; v += 3)
        at += (size_t)snprintf(ring + at, sizeof ring - at, "router %d router %d\n", v, (5 * v + 4) % 12);
    CU_ASSERT_FATAL(oracle_write(path, ".txt", ring));
    double best = 0;
    for (int which = 0; which < 2; which++)
        for (uint64_t seed = 1; seed <= 6; seed++) {
            struct fc_machine machine;
            struct fc_network net;
            struct fc_status st = {0};
            struct fc_demand d;
            snprintf(yaml, sizeof yaml, "%s%s%s", head, which ? path : "PETERSEN", tail);
            CU_ASSERT_FATAL(oracle_open(yaml, &machine, &net, &st));
            random_sparse(net.n_nodes, 2 * net.n_nodes, seed, &d);
            double optimum = lp_optimum(&net, &d) / 1e9, bound = forced_bound(&net, &d);
            CU_ASSERT(bound <= optimum * (1 + 1e-9));
            if (!which) CU_ASSERT(fc_near(bound, optimum, 1e-9));
            best = fmax(best, bound / optimum);
            fc_demand_free(&d);
            oracle_close(&machine, &net);
        }
    unlink(path);
    CU_ASSERT(best > 0.9);
}

/* Tori: never above the linear program; dense parts as their pairs; all flows along rings: exact. */
static void test_forced_torus(void)
{
    static const char *const yaml[] = {TORUS("[4, 4]"), TORUS("[5, 3]"), TORUS("[6, 2, 3]"), TORUS("[8]")};
    for (size_t i = 0; i < FC_COUNT(yaml); i++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            struct fc_machine machine;
            struct fc_network net;
            struct fc_status st = {0};
            struct fc_demand d, pairs;
            if (!fc_test_network(yaml[i], &machine, &net)) continue;
            CU_ASSERT_EQUAL_FATAL(fc_machine_route(&machine, "adaptive", &st), FC_OK);
            uint32_t n = net.n_nodes;
            dense(n, false, seed, &d);
            random_sparse(n, (size_t)n * n, seed, &pairs);
            for (uint32_t e = 0; e < n * n; e++) {
                pairs.src[e] = e / n;
                pairs.dst[e] = e % n;
                pairs.bytes[e] = d.dense[0].a[e / n] * d.dense[0].b[e % n];
            }
            double bound = forced_bound(&net, &d), optimum = lp_optimum(&net, &pairs) / 1e9;
            CU_ASSERT(bound > 0 && bound <= optimum * (1 + 1e-9));
            CU_ASSERT(fc_near(bound, forced_bound(&net, &pairs), 1e-12));
            for (uint32_t v = 0; v < n; v++) { /* as far round x as there is one way */
                uint32_t k = fc_torus(&net)->k[0], far = (k - 1) / 2;
                pairs.src[v] = v;
                pairs.dst[v] = v / k * k + (v % k + far) % k;
                pairs.bytes[v] = 7;
            }
            pairs.n_entries = n;
            CU_ASSERT(fc_near(forced_bound(&net, &pairs), 7e-9 * ((fc_torus(&net)->k[0] - 1) / 2), 1e-12));
            CU_ASSERT(fc_near(lp_optimum(&net, &pairs) / 1e9, 7e-9 * ((fc_torus(&net)->k[0] - 1) / 2), 1e-9));
            fc_demand_free(&d);
            fc_demand_free(&pairs);
            fc_test_close(&machine, &net);
        }
}

/* Hot spots on 8x8x8: the links into the region bound, 511/6 and 4032/24 messages (facts: LP optimum = links bound). */
static void test_hot_spot_bound(void)
{
    static const struct {
        const char *pattern;
        double messages;
    } spots[] = {{"hotspot:size=1x1x1,bytes=1", 511.0 / 6}, {"hotspot:size=2x2x2,bytes=1", 4032.0 / 24}};
    struct fc_machine machine;
    struct fc_network net;
    if (!fc_test_network(TORUS("[8, 8, 8]"), &machine, &net)) return;
    for (size_t i = 0; i < FC_COUNT(spots); i++) {
        struct fc_status st = {0};
        struct fc_demand d;
        struct fc_load load;
        struct fc_load_summary summary;
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, spots[i].pattern, 1, &d, &st), FC_OK);
        if (solve(&net, &d, (struct fc_load_settings){0}, &load)) {
            fc_load_summarise(&net, &load, NULL, &summary);
            CU_ASSERT(fc_near(summary.max_link_s, spots[i].messages / 1e9, 1e-9));
            CU_ASSERT(fc_near(summary.bound_s, spots[i].messages / 1e9, 1e-9));
        }
        fc_load_free(&load);
        fc_demand_free(&d);
    }
    fc_test_close(&machine, &net);
}

/* The uniform split of a single flow: (2,1) hops have 3 minimal paths, 2 of them begin with x. */
static void test_uniform_split(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_walk walk;
    struct fc_status st = {0};
    if (!fc_test_network(TORUS("[8, 8]"), &machine, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_machine_route(&machine, "adaptive", &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, machine.routing->walk_capacity(&net), &st), FC_OK);
    machine.routing->walk(&net, 0, 2 + 8, 1, &walk);
    double x_first = 0, y_first = 0;
    for (uint32_t i = 0; i < walk.n; i++)
        if (net.link_source[walk.link[i]] == 0)
            *(net.link_target[walk.link[i]] == 1 ? &x_first : &y_first) += walk.weight[i];
    CU_ASSERT(fabs(x_first - 2.0 / 3) < 1e-15);
    CU_ASSERT(fabs(y_first - 1.0 / 3) < 1e-15);
    fc_walk_free(&walk);
    fc_test_close(&machine, &net);
}

/* UGAL's mixture: never worse than direct or indirect, and better than both where the optimum lies between. */
static void test_ugal(void)
{
    static const char yaml[] = "name: t\nnetwork: {family: two-level, supernodes: 8, drawers: 1, nodes_per_drawer: 4, "
                               "d_link: block}\nlinks: {ll: {bandwidth: 24 GB/s, latency: 1 ns}, "
                               "d: {bandwidth: 1 GB/s, latency: 1 ns}}\n";
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    double most[3];
    if (!fc_test_network(yaml, &machine, &net)) return;
    random_sparse(net.n_nodes, net.n_nodes, 5, &d);
    for (size_t e = 0; e < d.n_entries; e++)
        d.dst[e] = (d.src[e] + 4) % 32, d.bytes[e] = 1000; /* all to the next group */
    static const char *const routings[] = {"direct", "indirect", "ugal"};
    for (int r = 0; r < 3; r++) {
        struct fc_status st = {0};
        struct fc_load load;
        struct fc_load_summary summary;
        CU_ASSERT_EQUAL(fc_machine_route(&machine, routings[r], &st), FC_OK);
        if (!solve(&net, &d, (struct fc_load_settings){0}, &load)) continue;
        fc_load_summarise(&net, &load, NULL, &summary);
        most[r] = summary.max_link_s;
        fc_load_free(&load);
    }
    /* Direct: 4000 bytes on one D link. Indirect: 2 x 4000 over 6 ways, each D link in two roles. Share w direct:
     * max(w 4000, (1-w) 4000/6 * 2) is least at w = 1/4: 1000. */
    CU_ASSERT(fc_near(most[0], 4000 / 1e9, 1e-12));
    CU_ASSERT(fc_near(most[1], 8000.0 / 6 / 1e9, 1e-12));
    CU_ASSERT(fc_near(most[2], 1000 / 1e9, 1e-6));
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

static void test_refusals(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_load load;
    struct fc_load_settings settings = {0};
    if (!fc_test_network(TORUS("[4, 4]"), &machine, &net)) return;
    random_sparse(16, 16, 1, &d);
    uint32_t node[16] = {0};
    struct fc_placement placement = {15, node};
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_load_solve(&net, &d, &placement, &settings, &load, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "places 15 tasks, the traffic has 16"));
    placement.n_tasks = 16;
    node[3] = 16;
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_load_solve(&net, &d, &placement, &settings, &load, &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "task 3 is mapped to node 16"));
    st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_machine_route(&machine, "nca", &st), FC_INPUT);
    CU_ASSERT(fc_says(&st, FC_INPUT, "it can: dimension-order, adaptive, valiant"));
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

int suite_load(void)
{
    static const CU_TestInfo tests[] = {
        {"structural loads = path walk, every family and routing", test_structural},
        {"sum of link bytes = hop-bytes; injection carries all", test_conservation},
        {"a walk is a flow", test_walk_flow},
        {"uniform traffic on k-ary n-cubes: k/8", test_uniform_closed_form},
        {"adaptive split against the linear program", test_adaptive_against_lp},
        {"forced traffic on tori against the linear program", test_forced_torus},
        {"forced traffic on graphs against the linear program", test_forced_graph},
        {"hot spots: the links into the region", test_hot_spot_bound},
        {"uniform split over minimal paths", test_uniform_split},
        {"UGAL finds the best share", test_ugal},
        {"refusals", test_refusals},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("solvers/load.c", tests);
}
