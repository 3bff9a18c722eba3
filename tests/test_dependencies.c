/* test_dependencies.c - the dependency relations of the families against every route of every pair, and
 * the certificates on them arc by arc. */
#include "models/family_dragonfly_plus.h"
#include "models/family_graph.h"
#include "tests/dependencies.h"

/* ---- comparing ---- */

static void expand_from(const struct fc_cdg *cdg, uint64_t from, uint64_t v, uint32_t *met, struct arcs *set)
{
    for (uint64_t i = cdg->first[v]; i < cdg->first[v + 1]; i++) {
        uint32_t to = cdg->to[i];
        if (to < cdg->n_channels) {
            arcs_add(set, from, to);
        } else if (met[to - cdg->n_channels] != from + 1) {
            met[to - cdg->n_channels] = (uint32_t)from + 1;
            expand_from(cdg, from, to, met, set);
        }
    }
}

/* Dependencies from channel to channel, hubs passed through. */
static void expand(const struct fc_cdg *cdg, struct arcs *set)
{
    uint32_t *met = calloc(cdg->n_vertices - cdg->n_channels + 1, sizeof *met);
    for (uint64_t c = 0; c < cdg->n_channels; c++) expand_from(cdg, c, c, met, set);
    arcs_unique(set);
    free(met);
}

static void show_arc(const struct fc_network *net, int n_vcs, uint64_t arc, const char *what)
{
    char from[200], to[200];
    printf("\n    %s: %s => %s", what, fc_channel_name(net, (uint32_t)(arc >> 32), n_vcs, from, sizeof from),
           fc_channel_name(net, (uint32_t)arc, n_vcs, to, sizeof to));
}

static bool contains(const struct arcs *set, uint64_t arc)
{
    return bsearch(&arc, set->arc, set->n, sizeof arc, compare_keys) != NULL;
}

/* Every arc of `part` is in `whole` (both unique); shows the first that is not. */
static bool within(const struct fc_network *net, int n_vcs, const struct arcs *part, const struct arcs *whole,
                   const char *what)
{
    for (size_t i = 0; i < part->n; i++)
        if (!contains(whole, part->arc[i])) {
            show_arc(net, n_vcs, part->arc[i], what);
            return false;
        }
    return true;
}

enum verdict { UNSAFE, SAFE, SEARCHED }; /* SEARCHED: nothing is known but what the test's own search finds */

/* What the certificate says holds: the order grows along every arc of `set`, or the cycle is one. */
static void check_certificate(const struct fc_network *net, const char *rule, const struct arcs *set,
                              enum verdict verdict)
{
    struct fc_certificate c;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_certify(net, rule, &c, &st), FC_OK);
    CU_ASSERT_EQUAL(c.acyclic, !arcs_cyclic(set, c.n_channels));
    CU_ASSERT(verdict == SEARCHED || c.safe == (verdict == SAFE));
    CU_ASSERT(c.argument && *c.argument && c.n_channels == (uint64_t)net->n_links * (uint64_t)c.n_vcs);
    CU_ASSERT(c.acyclic == (c.order != NULL) && (c.n_cycle > 0) == !c.safe);
    size_t falls = 0;
    for (size_t i = 0; c.acyclic && i < set->n; i++)
        falls += c.order[set->arc[i] >> 32] >= c.order[(uint32_t)set->arc[i]];
    CU_ASSERT_EQUAL(falls, 0);
    for (uint32_t i = 0; i < c.n_cycle; i++) {
        CU_ASSERT(contains(set, (uint64_t)c.cycle[i] << 32 | c.cycle[(i + 1) % c.n_cycle]));
        for (uint32_t j = 0; j < i; j++) CU_ASSERT(c.cycle[i] != c.cycle[j]);
    }
    fc_certificate_free(&c);
}

enum agreement { EQUAL, SUBSET }; /* the routes' arcs are all of the relation's, or some of them */

static void relation_agrees(const struct fc_network *net, const char *rule, struct arcs *oracle,
                            enum agreement agreement, enum verdict verdict)
{
    struct fc_cdg cdg;
    struct fc_status st = {0};
    struct arcs set = {0};
    CU_ASSERT_EQUAL_FATAL(fc_cdg_build(net, rule_of(net, rule), &cdg, &st), FC_OK);
    expand(&cdg, &set);
    arcs_unique(oracle);
    bool good = within(net, cdg.n_vcs, oracle, &set, "missing");
    good = (agreement == SUBSET || within(net, cdg.n_vcs, &set, oracle, "no route does")) && good;
    if (!good) printf("\n    %s under %s\n", net->machine->routing->name, rule);
    CU_ASSERT(good && oracle->n > 0);
    check_certificate(net, rule, &set, verdict);
    fc_cdg_free(&cdg);
    arcs_free(&set);
    arcs_free(oracle);
}

/* ---- tori and meshes ---- */

static void ordered_relations(void)
{
    static const struct {
        const char *yaml;
        enum verdict none;      /* dimension order on one channel: safe without a ring of 4 or more */
        enum agreement valiant; /* rings of 2 and 3 alone: the second phase may not return to the source */
    } machines[] = {
        {TORUS("dims: [4, 3, 2]"), UNSAFE, EQUAL},
        {TORUS("dims: [5, 4]"), UNSAFE, EQUAL},
        {TORUS("dims: [7]"), UNSAFE, EQUAL},
        {TORUS("dims: [3, 3, 2]"), SAFE, EQUAL},
        {TORUS("dims: [2, 1, 3]"), SAFE, SUBSET},
        {MESH("dims: [4, 3, 2]"), SAFE, SUBSET},
        {TORUS("dims: [4, 2, 3], wrap: [1, 0, 0], links_per_dim: [2, 1, 3], nodes_per_router: 2"), UNSAFE, EQUAL},
        {TORUS("dims: [4, 2], links_per_dim: [2, 1], nodes_per_router: 2"), UNSAFE, EQUAL},
        {MESH("dims: [5], nodes_per_router: 2"), SAFE, SUBSET},
    };
    struct fc_machine machine;
    struct fc_network net;
    struct arcs set = {0};
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        if (!fc_test_network(machines[i].yaml, &machine, &net)) continue;
        route_by(&machine, "dimension-order");
        torus_arcs(&net, 1, ONE, &set);
        relation_agrees(&net, "none", &set, EQUAL, machines[i].none);
        torus_arcs(&net, 1, BUBBLE, &set);
        relation_agrees(&net, "bubble", &set, EQUAL, machines[i].none); /* these name no packet size */
        torus_arcs(&net, 2, PAIR, &set);
        relation_agrees(&net, "dateline", &set, EQUAL, SAFE);
        torus_arcs(&net, 2, PAIR, &set);
        relation_agrees(&net, "direction-ordered", &set, EQUAL, SAFE);
        route_by(&machine, "valiant"); /* every pair by every router: small ones only */
        if (net.n_nodes > 24) {
            fc_test_close(&machine, &net);
            continue;
        }
        torus_arcs(&net, 4, PAIR, &set);
        relation_agrees(&net, "dateline", &set, machines[i].valiant, SAFE);
        torus_arcs(&net, 2, BUBBLE, &set);
        relation_agrees(&net, "bubble", &set, machines[i].valiant, machines[i].none);
        torus_arcs(&net, 1, ONE, &set);
        relation_agrees(&net, "none", &set, machines[i].valiant, SEARCHED);
        fc_test_close(&machine, &net);
    }
}

static void adaptive_relations(void)
{
    static const char *const machines[] = {TORUS("dims: [4, 3, 2]"),
                                           TORUS("dims: [5, 4]"),
                                           TORUS("dims: [6, 4]"),
                                           MESH("dims: [4, 3]"),
                                           TORUS("dims: [4, 4], wrap: [1, 0]"),
                                           TORUS("dims: [2, 5, 4]")};
    struct fc_machine machine;
    struct fc_network net;
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        struct arcs any = {0}, by_dimension = {0}, by_direction = {0};
        struct box box;
        if (!fc_test_network(machines[i], &machine, &net)) continue;
        route_by(&machine, "adaptive");
        for (uint32_t a = 0; a < net.n_nodes; a++)
            for (uint32_t b = 0; b < net.n_nodes; b++)
                for (uint32_t ways = 0; a != b && ways < 1u << fc_torus(&net)->n_dims; ways++) {
                    if (!make_box(&net, a, b, ways, &box)) continue;
                    adaptive_box_arcs(&box, &any);
                    extended_box_arcs(&box, false, &by_dimension);
                    extended_box_arcs(&box, true, &by_direction);
                    for (int d = 0; d < fc_torus(&net)->n_dims; d++) {
                        bool crossed;
                        if (box.hops[d])
                            arcs_add(&any, in_link(&net, a), box_link(&box, box.hops, d, box.direction[d], &crossed));
                    }
                }
        relation_agrees(&net, "none", &any, EQUAL, UNSAFE);
        relation_agrees(&net, "dateline", &by_dimension, SUBSET, SAFE);
        relation_agrees(&net, "direction-ordered", &by_direction, SUBSET, SAFE);
        fc_test_close(&machine, &net);
    }
}

/* ---- tori of mesh chips ---- */

static void tmesh_relations(void)
{
    static const char *const machines[] = {
        TMESH("dims: [4, 3], mesh: [2, 3], bridges: {x-: 0, y-: 1, x+: 3, y+: 5}"),
        TMESH("dims: [4, 3], mesh: [2, 3], mesh_order: column-first, bridges: {x-: 0, y-: 1, x+: 3, y+: 5}"),
        TMESH("dims: [5], mesh: [1, 4], bridges: {x-: 3, x+: 1}, router_nodes_compute: true"),
        TMESH("dims: [2, 4, 1], mesh: [3, 3], bridges: {x-: 0, y-: 8, z-: 3, x+: 2, y+: 4, z+: 6}"),
        TMESH("dims: [3, 2, 4], mesh: [2, 4], mesh_order: column-first, bridges: {x-: 0, y-: 2, z-: 4, x+: "
              "1, y+: 3, z+: 5}"),
    };
    static const char *const rules[] = {"shared", "separate", "six-vc"};
    struct fc_machine machine;
    struct fc_network net;
    struct arcs set = {0};
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        if (!fc_test_network(machines[i], &machine, &net)) continue;
        for (int r = 0; r < 3; r++) {
            tmesh_arcs(&net, rules[r], vcs_of(&net, rules[r]), &set);
            relation_agrees(&net, rules[r], &set, EQUAL, r == 2 ? SAFE : SEARCHED);
        }
        fc_test_close(&machine, &net);
    }
}

/* ---- two-level, fat-tree, graph ---- */

static void two_level_relations(void)
{
    static const char *const machines[] = {
        "name: t\nnetwork: {family: two-level, supernodes: 4, drawers: 2, nodes_per_drawer: 2, d_ports: "
        "1}\n" LL_LR,
        "name: t\nnetwork: {family: two-level, supernodes: 5, drawers: 1, nodes_per_drawer: 3, d_link: "
        "modulo, "
        "nodes_per_router: 2}\n" LL_ONLY,
        "name: t\nnetwork: {family: two-level, supernodes: 3, drawers: 2, nodes_per_drawer: 2, "
        "links_per_pair: 2, "
        "d_link: hashed}\n" LL_LR,
        "name: t\nnetwork: {family: two-level, supernodes: 4, drawers: 2, nodes_per_drawer: 3, local: grid, "
        "d_link: modulo}\n" LL_LR,
        "name: t\nnetwork: {family: two-level, supernodes: 3, drawers: 2, nodes_per_drawer: 3, local: grid, "
        "links_per_pair: 2, d_link: hashed}\n" LL_LR,
        "name: t\nnetwork: {family: two-level, supernodes: 2, drawers: 2, nodes_per_drawer: 2, d_link: "
        "block}\n" LL_LR,
    };
    static const enum verdict single[][2] = {{UNSAFE, UNSAFE}, {UNSAFE, UNSAFE}, {UNSAFE, UNSAFE},
                                             {UNSAFE, UNSAFE}, {UNSAFE, UNSAFE}, {SAFE, SAFE}};
    static const char *const routings[] = {"direct", "indirect", "ugal"};
    struct fc_machine machine;
    struct fc_network net;
    struct arcs set = {0};
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        if (!fc_test_network(machines[i], &machine, &net)) continue;
        for (int r = 0; r < 3; r++) {
            route_by(&machine, routings[r]);
            int n_vcs = vcs_of(&net, "hops");
            CU_ASSERT_EQUAL(n_vcs, (r == 0 || i == 5 ? 2 : 3) * (i == 3 || i == 4 ? 2 : 1));
            two_level_arcs(&net, false, n_vcs, &set);
            relation_agrees(&net, "hops", &set, EQUAL, SAFE);
            two_level_arcs(&net, true, 1, &set);
            relation_agrees(&net, "none", &set, EQUAL, single[i][r > 0]);
        }
        machine.router.ugal.via = FC_UGAL_ROUTER;
        CU_ASSERT_EQUAL(vcs_of(&net, "hops"), (i == 5 ? 2 : 4) * (i == 3 || i == 4 ? 2 : 1));
        fc_test_close(&machine, &net);
    }
}

/* Channel of a link of a walk from node a to b: global links taken before it; the second local link of a way within a cell
 * has the last. Nodes of one rail. */
static uint32_t cell_channel(const struct fc_network *net, uint32_t a, uint32_t b, uint32_t link, uint32_t n_vcs)
{
    const struct fc_plus_shape *s = fc_plus(net);
    const struct fc_plus_block *from = &s->block[s->node_block[a]], *to = &s->block[s->node_block[b]];
    uint32_t source = net->link_source[link], taken = net->machine->routing == &fc_routing_plus_indirect ? 2 : 1;
    if (fc_is_node(net, source) || fc_is_node(net, net->link_target[link])) return 0;
    uint32_t cell = s->router_cell[source];
    bool second = net->link_class[link] == s->local_class && source != from->first_leaf;
    if (from->cell == to->cell) return second ? n_vcs - 1 : 0;
    return cell == from->cell ? 0 : cell == to->cell ? taken : 1;
}

static void cell_arcs(const struct fc_network *net, uint32_t n_vcs, struct arcs *set)
{
    const struct fc_routing_ops *routing = net->machine->routing;
    struct fc_walk walk;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, routing->walk_capacity(net), &st), FC_OK);
    for (uint32_t a = 0; a < net->n_nodes; a++)
        for (uint32_t b = 0; b < net->n_nodes; b++) {
            walk.n = 0;
            if (a != b) routing->walk(net, a, b, 1, &walk);
            for (uint32_t i = 0; i < walk.n; i++)
                for (uint32_t j = i + 1; j < walk.n; j++)
                    if (net->link_target[walk.link[i]] == net->link_source[walk.link[j]])
                        arcs_add(set, walk.link[i] * n_vcs + cell_channel(net, a, b, walk.link[i], n_vcs),
                                 walk.link[j] * n_vcs + cell_channel(net, a, b, walk.link[j], n_vcs));
        }
    fc_walk_free(&walk);
}

/* Routes are some of what the relation has. */
static void cell_relations(void)
{
    static const struct {
        const char *keys;
        int vcs[3];
    } machines[] = {
        {"cells: [3, 1], leaves: [2, 3], spines: [3, 2], nodes_per_cell: [4, 3], links_per_pair: 2", {2, 3, 3}},
        {"cells: [4], leaves: [3], nodes_per_cell: [6], links_per_pair: 2", {2, 4, 4}},
        {"cells: [2, 2], leaves: [4, 2], spines: [0, 2], nodes_per_cell: [4, 4], links_per_pair: 3", {2, 4, 4}},
        {"cells: [1], leaves: [4], nodes_per_cell: [4]", {1, 2, 2}}};
    static const char *const routings[] = {"direct", "indirect", "ugal"};
    struct fc_machine machine;
    struct fc_network net;
    struct arcs set = {0};
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        char yaml[500];
        snprintf(yaml, sizeof yaml, "name: t\nnetwork: {family: dragonfly-plus, %s}\nlinks: {%s%s%s}\n",
                 machines[i].keys, i == 3 ? "" : "global: {bandwidth: 1 GB/s}",
                 i == 0 || i == 2 ? ", spine: {bandwidth: 1 GB/s}" : "",
                 i == 0   ? ""
                 : i == 3 ? "local: {bandwidth: 1 GB/s}"
                          : ", local: {bandwidth: 1 GB/s}");
        if (!fc_test_network(yaml, &machine, &net)) continue;
        for (int r = 0; r < 3; r++) {
            route_by(&machine, routings[r]);
            int n_vcs = vcs_of(&net, "cell-hops");
            CU_ASSERT_EQUAL(n_vcs, machines[i].vcs[r]);
            cell_arcs(&net, (uint32_t)n_vcs, &set);
            relation_agrees(&net, "cell-hops", &set, SUBSET, SAFE);
        }
        fc_test_close(&machine, &net);
    }
}

/* The walk of hashed ascent is one path a plane, its links in order. */
static void hashed_arcs(const struct fc_network *net, struct arcs *set)
{
    const struct fc_routing_ops *routing = net->machine->routing;
    struct fc_walk walk;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, routing->walk_capacity(net), &st), FC_OK);
    for (uint32_t a = 0; a < net->n_nodes; a++)
        for (uint32_t b = 0; b < net->n_nodes; b++) {
            walk.n = 0;
            if (a != b) routing->walk(net, a, b, 1, &walk);
            for (uint32_t i = 0; i + 1 < walk.n; i++)
                if (net->link_target[walk.link[i]] == net->link_source[walk.link[i + 1]] &&
                    !fc_is_node(net, net->link_target[walk.link[i]]))
                    arcs_add(set, walk.link[i], walk.link[i + 1]);
        }
    fc_walk_free(&walk);
}

static void fat_tree_relations(void)
{
    static const char *const machines[] = {
        "name: t\nnetwork: {family: fat-tree, children: [3, 2, 2], parents: [1, 2, 3]}\n"
        "links: {leaf: {bandwidth: 1 GB/s, latency: 1 ns}, up: {bandwidth: 1 GB/s, latency: 1 ns}}\n",
        "name: t\nnetwork: {family: fat-tree, children: [2, 4], parents: [2, 3], links: [1, 2], planes: 2}\n"
        "links: {leaf: {bandwidth: 1 GB/s, latency: 1 ns}, up: {bandwidth: 1 GB/s, latency: 1 ns}}\n",
        "name: t\nnetwork: {family: fat-tree, children: [4, 1, 3], parents: [1, 2, 2]}\n"
        "links: {leaf: {bandwidth: 1 GB/s, latency: 1 ns}, up: {bandwidth: 1 GB/s, latency: 1 ns}}\n",
    };
    struct fc_machine machine;
    struct fc_network net;
    struct arcs set = {0};
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        if (!fc_test_network(machines[i], &machine, &net)) continue;
        shortest_arcs(&net, NULL, 1, &set); /* up to a nearest common ancestor and down are all the shortest paths */
        relation_agrees(&net, "up-down", &set, EQUAL, SAFE);
        route_by(&machine, "nca-hash");
        hashed_arcs(&net, &set);
        relation_agrees(&net, "up-down", &set, SUBSET, SAFE);
        fc_test_close(&machine, &net);
    }
}

/* Every layer by itself is acyclic, packets stay in the layer of their destination, and no more layers
 * than known. */
static void layered_relation(const struct fc_network *net, uint32_t known)
{
    const struct fc_graph_tables *t = net->extra;
    struct fc_status st = {0};
    struct arcs set = {0};
    uint32_t *layer = malloc(t->n_groups * sizeof *layer), *vc = malloc(net->n_nodes * sizeof *vc), n_layers;
    CU_ASSERT_EQUAL_FATAL(fc_graph_layers(net, layer, &n_layers, &st), FC_OK);
    CU_ASSERT_EQUAL(n_layers, known);
    for (uint32_t n = 0; n < net->n_nodes; n++) vc[n] = layer[t->group[n]];
    CU_ASSERT_EQUAL(vcs_of(net, "layers"), (int)n_layers);
    shortest_arcs(net, vc, (int)n_layers, &set);
    relation_agrees(net, "layers", &set, EQUAL, SAFE);
    free(layer), free(vc);
}

/* Detours, on one channel and on one a hop. The relation does not ask whether a source and a destination on the two ways from a
 * stop are on one router, and go directly: on a ring that is another's way, too. */
static void detour_relations(struct fc_machine *machine, const struct fc_network *net, enum agreement agreement)
{
    static const char *const routings[] = {"valiant", "ugal"};
    struct arcs set = {0};
    for (int r = 0; r < 2; r++) {
        route_by(machine, routings[r]);
        int n_vcs = vcs_of(net, "hops");
        CU_ASSERT(n_vcs > 0 && n_vcs % 2 == 0);
        detour_arcs(net, true, (uint32_t)n_vcs / 2, &set);
        relation_agrees(net, "hops", &set, agreement, SAFE);
        detour_arcs(net, false, 0, &set);
        relation_agrees(net, "none", &set, agreement, SEARCHED);
    }
    route_by(machine, "shortest");
}

static void graph_relations(void)
{
    static const struct {
        const char *text;
        enum verdict verdict;
        uint32_t layers;
    } graphs[] = {
        /* two levels, a node with two rails: acyclic */
        {"router a router s\nrouter a router t\nrouter b router s 1GB/s 1ns 2\nrouter b router t\nnode 0 "
         "router a\n"
         "node 1 router a\nnode 2 router b\nnode 3 router b\nnode 4 router a\nnode 4 router b\n",
         SAFE, 1},
        /* a ring of five: every two-hop route turns the same way round */
        {"router a router b\nrouter b router c\nrouter c router d\nrouter d router e\nrouter e router "
         "a\nnode 0 router a\n"
         "node 1 router b\nnode 2 router c\nnode 3 router d\nnode 4 router e\n",
         UNSAFE, 2},
        /* the ring of five with nodes on three neighbours only: one way round is left, nothing closes */
        {"router a router b\nrouter b router c\nrouter c router d\nrouter d router e\nrouter e router "
         "a\nnode 0 router a\n"
         "node 1 router b\nnode 2 router c\n",
         SAFE, 1},
    };
    struct fc_machine machine;
    struct fc_network net;
    struct arcs set = {0};
    char path[64], yaml[512];
    for (size_t i = 0; i < FC_COUNT(graphs); i++) {
        CU_ASSERT_FATAL(fc_test_file(path, ".txt", graphs[i].text, strlen(graphs[i].text)));
        snprintf(yaml, sizeof yaml,
                 "name: g\nnetwork: {family: graph, file: %s, format: edge-list}\n"
                 "links: {link: {bandwidth: 1 GB/s, latency: 1 ns}}\n",
                 path);
        if (fc_test_network(yaml, &machine, &net)) {
            shortest_arcs(&net, NULL, 1, &set);
            relation_agrees(&net, "none", &set, EQUAL, graphs[i].verdict);
            layered_relation(&net, graphs[i].layers);
            detour_relations(&machine, &net, i == 1 ? EQUAL : SUBSET);
            fc_test_close(&machine, &net);
        }
        unlink(path);
    }
}

/* Shortest paths of a 12 x 12 torus take more virtual channels than InfiniBand has. */
static void too_many_layers(void)
{
    enum { K = 12 };
    char path[64], yaml[512], *text = malloc(K * K * 100), *at = text;
    struct fc_machine machine;
    struct fc_network net;
    struct fc_certificate c;
    struct fc_status st = {0};
    for (int i = 0; i < K * K; i++)
        at += sprintf(at, "router %d node %d\nrouter %d router %d\nrouter %d router %d\n", i, i, i,
                      i / K * K + (i + 1) % K, i, (i + K) % (K * K));
    CU_ASSERT_FATAL(fc_test_file(path, ".txt", text, strlen(text)));
    snprintf(yaml, sizeof yaml,
             "name: g\nnetwork: {family: graph, file: %s, format: edge-list}\n"
             "links: {link: {bandwidth: 1 GB/s, latency: 1 ns}}\n",
             path);
    if (fc_test_network(yaml, &machine, &net)) {
        CU_ASSERT_EQUAL(fc_certify(&net, "layers", &c, &st), FC_NO);
        CU_ASSERT(fc_says(&st, FC_NO, "need more than 15 virtual channels"));
        fc_test_close(&machine, &net);
    }
    unlink(path);
    free(text);
}

static const CU_TestInfo tests[] = {
    {"ordered routes on tori and meshes", ordered_relations},
    {"adaptive routes and escape channels", adaptive_relations},
    {"tori of mesh chips", tmesh_relations},
    {"two-level networks", two_level_relations},
    {"networks of cells", cell_relations},
    {"fat-trees", fat_tree_relations},
    {"graphs", graph_relations},
    {"too many layers", too_many_layers},
    CU_TEST_INFO_NULL,
};
int suite_dependencies(void)
{
    return fc_add_suite("dependencies", tests);
}
