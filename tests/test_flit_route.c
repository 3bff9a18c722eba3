/* test_flit_route.c - routes of packets in the flit-level kernel: every choice of every pair of nodes on
 * small machines of every family against the models' loads and the certificates' dependencies; how UGAL
 * decides. */
#include "tests/flit_walker.h"

#define CELL_LINKS(within) "links: {" within "global: {bandwidth: 1 GB/s}, injection: {bandwidth: 1 GB/s}}\n"
#define SPINE "spine: {bandwidth: 1 GB/s}, "
#define LOCAL "local: {bandwidth: 1 GB/s}, "

/* ---- families ---- */

#define PACKET "router: {vcs: 4}\npacket: {max: 256 B}\n"

/* With several cables a packet keeps the number of its cable, so not all that the relation allows occurs. */
static void ordered_tori(void)
{
    static const char *const machines[] = {
        TORUS("dims: [4, 3, 2]") PACKET,
        TORUS("dims: [7]") PACKET,
        TORUS("dims: [6, 3]") PACKET,
        MESH("dims: [4, 3]") PACKET,
        TORUS("dims: [2, 1, 3]") PACKET,
        TORUS("dims: [4, 2, 3], wrap: [1, 0, 0], links_per_dim: [2, 1, 3], nodes_per_router: 2") PACKET,
    };
    static const char *const rules[] = {"none", "dateline", "direction-ordered", "bubble", "bubble-direction-ordered"};
    struct fc_machine machine;
    struct fc_network net;
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        if (!fc_test_network(machines[i], &machine, &net)) continue;
        route_by(&machine, "dimension-order");
        for (int r = 0; r < (int)FC_COUNT(rules); r++)
            for (int entry = 0; entry < 2; entry++) {
                machine.router.dateline = entry;
                run_trial(&net,
                          &(struct trial){"dimension-order", rules[r], EXACT, i == 5 ? SUBSET : EQUAL, 0, true, false});
            }
        machine.router.dateline = FC_DATELINE_CROSSED;
        run_trial(&net, &(struct trial){"dimension-order", "bubble", EXACT, i == 5 ? SUBSET : EQUAL, 0, true, true});
        fc_test_close(&machine, &net);
    }
}

static void adaptive_tori(void)
{
    static const char *const machines[] = {
        TORUS("dims: [4, 3, 2]") PACKET,
        TORUS("dims: [5, 4]") PACKET,
        TORUS("dims: [6]") PACKET,
        MESH("dims: [4, 3]") PACKET,
        TORUS("dims: [4, 4], wrap: [1, 0]") PACKET,
        TORUS("dims: [4, 2], links_per_dim: [2, 1], nodes_per_router: 2") PACKET,
    };
    struct fc_machine machine;
    struct fc_network net;
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        if (!fc_test_network(machines[i], &machine, &net)) continue;
        route_by(&machine, "adaptive");
        for (int entry = 0; entry < 2; entry++) {
            machine.router.dateline = entry;
            run_trial(&net, &(struct trial){"adaptive", "dateline", LINKS_ONLY, SUBSET, 16, true, false});
            run_trial(&net, &(struct trial){"adaptive", "direction-ordered", LINKS_ONLY, SUBSET, 16, true, false});
        }
        run_trial(&net, &(struct trial){"adaptive", "bubble", LINKS_ONLY, SUBSET, 16, true, false});
        run_trial(&net, &(struct trial){"adaptive", "bubble-direction-ordered", LINKS_ONLY, SUBSET, 16, true, false});
        run_trial(&net, &(struct trial){"adaptive", "none", LINKS_ONLY, SUBSET, 16, true, false});
        fc_test_close(&machine, &net);
    }
}

static void valiant_tori(void)
{
    static const char *const machines[] = {
        TORUS("dims: [4, 3]") PACKET,
        TORUS("dims: [5, 2]") PACKET,
        MESH("dims: [3, 3]") PACKET,
        TORUS("dims: [4, 2], wrap: [1, 0], links_per_dim: [2, 1]") PACKET,
    };
    static const char *const rules[] = {"none", "dateline", "direction-ordered", "bubble", "bubble-direction-ordered"};
    struct fc_machine machine;
    struct fc_network net;
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        if (!fc_test_network(machines[i], &machine, &net)) continue;
        route_by(&machine, "valiant");
        for (int r = 0; r < (int)FC_COUNT(rules); r++)
            for (int entry = 0; entry < (r == 1 ? 2 : 1); entry++) {
                machine.router.dateline = entry;
                run_trial(&net, &(struct trial){"valiant", rules[r], STATISTICAL, i == 0 && r != 0 ? EQUAL : SUBSET,
                                                1000, false, false});
            }
        fc_test_close(&machine, &net);
    }
}

static void fat_trees(void)
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
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        if (!fc_test_network(machines[i], &machine, &net)) continue;
        machine.router.vcs = 2;
        route_by(&machine, "nca");
        run_trial(&net, &(struct trial){"nca", NULL, EXACT, EQUAL, 1, true, false});
        route_by(&machine, "nca-random");
        run_trial(&net, &(struct trial){"nca-random", NULL, STATISTICAL, EQUAL, 500, true, false});
        loads_agree_always(&net, machine.routing, i);
        route_by(&machine, "nca-hash");
        bool planes = i == 1;
        run_trial(&net, &(struct trial){"nca-hash", NULL, planes ? STATISTICAL : EXACT, SUBSET, planes ? 200 : 1, true,
                                        false});
        fc_test_close(&machine, &net);
    }
}

static void two_level(void)
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
        "name: t\nnetwork: {family: two-level, supernodes: 2, drawers: 2, nodes_per_drawer: 2, d_link: "
        "block}\n" LL_LR,
    };
    static const char *const routings[] = {"direct", "indirect", "ugal"};
    struct fc_machine machine;
    struct fc_network net;
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        if (!fc_test_network(machines[i], &machine, &net)) continue;
        machine.router.vcs = 6;
        for (int r = 0; r < 3; r++) {
            uint32_t draws = r == 0 ? 64 : r == 1 ? 200 : 400;
            bool random = r > 0 || i == 2 || i == 3;
            enum loads loads = r == 2 ? LINKS_ONLY : random ? STATISTICAL : EXACT;
            /* UGAL takes no indirect route that begins with the link of the direct one; the certificate does not know. */
            enum agreement arcs = r == 2 ? SUBSET : EQUAL;
            route_by(&machine, routings[r]);
            run_trial(&net, &(struct trial){routings[r], "hops", loads, arcs, draws, false, false});
            run_trial(&net, &(struct trial){routings[r], "none", loads, arcs, draws, false, false});
        }
        machine.router.vcs = 8; /* to a router in the supernode between: a way more, and its channels */
        machine.router.ugal.via = FC_UGAL_ROUTER;
        if (i == 1 || i == 3) run_trial(&net, &(struct trial){"ugal", "hops", LINKS_ONLY, SUBSET, 200, false, false});
        fc_test_close(&machine, &net);
    }
}

static void cells(void)
{
    static const char *const machines[] = {
        "name: t\nnetwork: {family: dragonfly-plus, cells: [2, 1], leaves: [3, 2], spines: [2, 3], nodes_per_cell: [3, 4], "
        "links_per_pair: 3}\n" CELL_LINKS(SPINE),
        "name: t\nnetwork: {family: dragonfly-plus, cells: [2, 1], leaves: [4, 3], nodes_per_cell: [4, 3], rails: [2, 3], "
        "node_links: [1, 2], links_per_pair: 2}\n" CELL_LINKS(LOCAL),
        "name: t\nnetwork: {family: dragonfly-plus, cells: [1, 3], leaves: [2, 3], spines: [3, 0], nodes_per_cell: [2, 3], "
        "links_per_pair: 5}\n" CELL_LINKS(SPINE LOCAL),
        "name: t\nnetwork: {family: dragonfly-plus, cells: [2], leaves: [4], nodes_per_cell: [4]}\n" CELL_LINKS(LOCAL),
    };
    static const char *const routings[] = {"direct", "indirect", "ugal"};
    struct fc_machine machine;
    struct fc_network net;
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        if (!fc_test_network(machines[i], &machine, &net)) continue;
        machine.router.vcs = 4;
        for (int r = 0; r < 3; r++) {
            enum loads loads = r == 2 ? LINKS_ONLY : STATISTICAL;
            route_by(&machine, routings[r]);
            run_trial(&net, &(struct trial){routings[r], "cell-hops", loads, SUBSET, 400, false, false});
        }
        fc_test_close(&machine, &net);
    }
}

static void mesh_chips(void)
{
    static const char *const machines[] = {
        TMESH("dims: [4, 3], mesh: [2, 3], bridges: {x-: 0, y-: 1, x+: 3, y+: 5}"),
        TMESH("dims: [4, 3], mesh: [2, 3], mesh_order: column-first, bridges: {x-: 0, y-: 1, x+: 3, y+: 5}"),
        TMESH("dims: [5], mesh: [1, 4], bridges: {x-: 3, x+: 1}, router_nodes_compute: true"),
        TMESH("dims: [2, 3, 1], mesh: [3, 3], bridges: {x-: 0, y-: 8, z-: 3, x+: 2, y+: 4, z+: 6}"),
    };
    static const char *const rules[] = {"shared", "separate", "six-vc"};
    struct fc_machine machine;
    struct fc_network net;
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        if (!fc_test_network(machines[i], &machine, &net)) continue;
        for (int r = 0; r < 3; r++) {
            machine.router.vcs = r == 1 ? 4 : 2;
            bool ties = i != 2;
            run_trial(&net, &(struct trial){"dimension-order", rules[r], ties ? STATISTICAL : EXACT, EQUAL,
                                            ties ? 24 : 1, false, false});
        }
        fc_test_close(&machine, &net);
    }
}

/* Hashes and UGAL's queues leave out some of what the relations have; an escape is a subset of all that goes up and down. */
static void graph_routings(struct fc_machine *machine, const struct fc_network *net, enum agreement detours)
{
    static const char *const names[] = {"shortest", "shortest-hash", "valiant", "ugal"};
    for (size_t i = 0; i < FC_COUNT(names); i++) {
        enum loads loads = i < 2 ? EXACT : i == 2 ? STATISTICAL : LINKS_ONLY;
        enum agreement arcs = i == 0 ? EQUAL : i == 2 ? detours : SUBSET;
        uint32_t draws = i < 2 ? 1 : 50;
        route_by(machine, names[i]);
        machine->router.vcs = 2 * 2 * fc_graph_longest(net);
        run_trial(net, &(struct trial){names[i], "hops", loads, arcs, draws, i < 2, false});
        run_trial(net, &(struct trial){names[i], "none", loads, arcs, draws, i < 2, false});
        machine->router.vcs = 2;
        run_trial(net, &(struct trial){names[i], "updown", loads, SUBSET, draws, false, false});
    }
    route_by(machine, "shortest");
}

static void graphs(void)
{
    static const char *const texts[] = {
        "router a router s\nrouter a router t\nrouter b router s 1GB/s 1ns 2\nrouter b router t\nnode 0 "
        "router a\n"
        "node 1 router a\nnode 2 router b\nnode 3 router b\nnode 4 router a\nnode 4 router b\n",
        "router a router b\nrouter b router c\nrouter c router d\nrouter d router e\nrouter e router a\nnode "
        "0 router a\n"
        "node 1 router b\nnode 2 router c\nnode 3 router d\nnode 4 router e\nnode 5 router e\n",
    };
    struct fc_machine machine;
    struct fc_network net;
    char path[64], yaml[512];
    for (size_t i = 0; i < FC_COUNT(texts); i++) {
        CU_ASSERT_FATAL(fc_test_file(path, ".txt", texts[i], strlen(texts[i])));
        snprintf(yaml, sizeof yaml,
                 "name: g\nnetwork: {family: graph, file: %s, format: edge-list}\n"
                 "links: {link: {bandwidth: 1 GB/s, latency: 1 ns}}\n",
                 path);
        if (fc_test_network(yaml, &machine, &net)) {
            machine.router.vcs = 2;
            run_trial(&net, &(struct trial){"shortest", "none", EXACT, EQUAL, 1, true, false});
            run_trial(&net, &(struct trial){"shortest", "layers", EXACT, EQUAL, 1, true, false});
            graph_routings(&machine, &net, i == 1 ? EQUAL : SUBSET);
            fc_test_close(&machine, &net);
        }
        unlink(path);
    }
}

/* ---- UGAL ---- */

struct two_queues {
    uint32_t direct_link, direct, others;
};
static uint32_t one_queue(const void *engine, uint32_t link)
{
    const struct two_queues *q = engine;
    return link == q->direct_link ? q->direct : q->others;
}

static uint32_t no_queue(const void *engine, uint32_t link)
{
    (void)engine, (void)link;
    return 0;
}

/* D links that a packet takes. */
static uint32_t count_global(const struct fc_flit_net *flit, uint32_t src, struct fc_flit_head head, uint32_t *first,
                             uint32_t *hops)
{
    struct fc_flit_choice c;
    uint32_t at = flit->net->link_target[in_link(flit->net, src)], n = 0, members = fc_two_level(flit->net)->members;
    for (*hops = 0;; ++*hops) {
        flit->route->choices(flit, at, FC_NONE, 0, &head, &c);
        uint32_t to = flit->net->link_target[c.link];
        if (fc_is_node(flit->net, to)) return n;
        if (*hops == 0) *first = c.link;
        n += at / members != to / members;
        head.route = c.route;
        at = to;
    }
}

/* Direct exactly where the direct route's queue is no more than weight times the other's and the threshold. */
static void decide(const char *ugal_keys, int counts, uint32_t weight, uint32_t threshold)
{
    struct prepared p;
    char text[700];
    snprintf(text, sizeof text,
             "name: t\nnetwork: {family: two-level, supernodes: 6, nodes_per_drawer: 4, d_link: modulo}\n" LL_ONLY
             "router: {vcs: 3, routing: ugal%s}\n",
             ugal_keys);
    if (!prepare_text(text, NULL, &p)) return;
    uint32_t both[2] = {0, 0}, own = 0;
    for (uint32_t i = 0; i < 300; i++) {
        uint32_t word = (uint32_t)fc_random(3, 0, i), src = (uint32_t)fc_random_below(3, 1, i, 24), first[2], hops[2];
        uint32_t dst = (src + 4 + (uint32_t)fc_random_below(3, 2, i, 17)) % 24;
        struct two_queues q = {FC_NONE, 0, 0};
        struct fc_flit_view view = {&q, counts == FC_UGAL_LOCAL ? no_queue : one_queue,
                                    counts == FC_UGAL_CREDITS ? no_queue : one_queue};
        uint32_t seen = counts == FC_UGAL_BOTH ? 2 : 1;
        const struct fc_flit_route_ops *ugal = p.flit.route;
        if (src / 4 == dst / 4) continue;
        struct fc_flit_head direct = {ugal->start(&p.flit, src, dst, word, &view), dst, word};
        CU_ASSERT_EQUAL(count_global(&p.flit, src, direct, &first[0], &hops[0]), 1); /* no queues: direct */
        q = (struct two_queues){first[0], 1000000, 0};
        struct fc_flit_head indirect = {ugal->start(&p.flit, src, dst, word, &view), dst, word};
        uint32_t global = count_global(&p.flit, src, indirect, &first[1], &hops[1]);
        own += first[0] == first[1];
        if (first[0] == first[1]) continue; /* drew its own supernode or the destination's, or one queue for both */
        CU_ASSERT_EQUAL(global, 2);
        q.others = 60;
        for (q.direct = 0; q.direct < 400; q.direct += 7) {
            bool goes_direct = ugal->start(&p.flit, src, dst, word, &view) == direct.route;
            CU_ASSERT_EQUAL(goes_direct, seen * q.direct <= seen * weight * 60 + threshold);
            both[goes_direct]++;
        }
    }
    CU_ASSERT(both[0] > 100 && both[1] > 100 && own > 60);
    close_prepared(&p);
}
static void ugal_decides(void)
{
    decide("", FC_UGAL_BOTH, 2, 30);
    decide(", ugal: {queue: credits, threshold: 7, weight: 3}", FC_UGAL_CREDITS, 3, 7);
    decide(", ugal: {queue: local, threshold: 0, weight: 1}", FC_UGAL_LOCAL, 1, 0);
}

static const CU_TestInfo tests[] = {
    {"dimension order on tori and meshes", ordered_tori},
    {"adaptive on tori and meshes", adaptive_tori},
    {"Valiant on tori and meshes", valiant_tori},
    {"fat-trees", fat_trees},
    {"two-level networks", two_level},
    {"cells", cells},
    {"tori of mesh chips", mesh_chips},
    {"graphs", graphs},
    {"UGAL chooses by queue, weight and threshold", ugal_decides},
    CU_TEST_INFO_NULL,
};
int suite_flit_route(void)
{
    return fc_add_suite("flit_route", tests);
}
