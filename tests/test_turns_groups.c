/* test_turns_groups.c - groups of routers that can change places: which they are, that links of one set are alike, and that the
 * turns, latencies and saturations of the folded network are those of the whole one. */
#include "solvers/queueing/queueing.h"
#include "tests/turns_oracles.h"

static const uint64_t many_hops = 100000; /* all pairs, some times */

#define TWO_LEVEL                                                                                                      \
    "drawers: 1, nodes_per_router: 2}\nlinks: {ll: {bandwidth: 8 GB/s, latency: 3 cycles}, d: {bandwidth: 8 GB/s, "    \
    "latency: 40 cycles}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\n"
#define CELLS                                                                                                          \
    "}\nlinks: {local: {bandwidth: 8 GB/s, latency: 3 cycles}, global: {bandwidth: 8 GB/s, latency: 40 cycles}, "      \
    "injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\n"
static const struct {
    const char *what, *network;
    uint32_t groups, classes;
} machines[] = {
    /* Link c to supernode t is at router (t + c) mod 4, or at t / 2: four classes of two. */
    {"modulo", "family: two-level, supernodes: 8, nodes_per_drawer: 4, d_link: modulo, " TWO_LEVEL, 8, 4},
    {"packed", "family: two-level, supernodes: 8, nodes_per_drawer: 4, d_link: packed, d_ports: 2, " TWO_LEVEL, 8, 4},
    {"two cables",
     "family: two-level, supernodes: 8, nodes_per_drawer: 4, links_per_pair: 2, d_link: modulo, " TWO_LEVEL, 8, 2},
    /* Of 2, 2, 2 and 1 groups. */
    {"unequal", "family: two-level, supernodes: 7, nodes_per_drawer: 4, d_link: modulo, " TWO_LEVEL, 7, 4},
    {"cells", "family: dragonfly-plus, cells: [9], leaves: [4], nodes_per_cell: [8]" CELLS, 9, 4},
};

static bool open_network(const char *network, const char *routing, struct fc_machine *machine, struct fc_network *net)
{
    char yaml[1024];
    snprintf(
        yaml, sizeof yaml,
        "name: t\nclock: 1 GHz\nnetwork: {%srouter: {delay: 2 cycles, flit: 8 B, flow_control: cut-through, vcs: 4, "
        "buffer: 512 B, escape: none, routing: %s}\npacket: {min: 24 B, max: 24 B}\n",
        network, routing);
    return fc_test_network(yaml, machine, net);
}

static void uniform(const struct fc_network *net, struct fc_demand *demand)
{
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(net, "uniform", 3, demand, &st), FC_OK);
    demand->open_loop = true;
}

/* Rates of the whole network's links: all of a set's are the same, and those of the folded one. */
static void compare_links(const char *what, const struct fc_turns *folded, const struct fc_turns *all, double tolerance)
{
    double apart = 0, most = 0;
    for (uint32_t l = 0; l < all->n_links; l++) {
        apart = fmax(apart, fabs(all->rate[l] - folded->rate[folded->orbit[l]]));
        most = fmax(most, all->rate[l]);
    }
    if (!(apart <= tolerance * most)) printf("\n    %s: link rates %g apart\n", what, apart / most);
    CU_ASSERT(apart <= tolerance * most);
    CU_ASSERT(fc_near(folded->packets, all->packets, 1e-9));
    CU_ASSERT(fc_near(folded->hops_mean, all->hops_mean, 1e-9));
    CU_ASSERT(fc_near(folded->zero_load_cycles, all->zero_load_cycles, 1e-9));
    CU_ASSERT(fc_near(folded->max_service_rate, all->max_service_rate, tolerance));
}

/* At half of the load that fills the busiest link; the saturation. */
static void compare_answers(const char *what, const struct fc_turns *folded, const struct fc_turns *all,
                            double tolerance)
{
    const struct fc_turns *turns[] = {folded, all};
    double cycles[2] = {0}, saturation[2] = {0};
    for (int i = 0; i < 2; i++) {
        struct fc_queueing *model;
        struct fc_queueing_parameters theory;
        struct fc_queueing_answer a;
        struct fc_status st = {0};
        fc_queueing_defaults(&theory);
        CU_ASSERT_EQUAL_FATAL(fc_queueing_open(turns[i], &model, &st), FC_OK);
        CU_ASSERT_EQUAL(fc_queueing_solve(model, &theory, 0.5 / all->max_service_rate, &a, &st), FC_OK);
        CU_ASSERT_EQUAL(fc_queueing_saturation(model, &theory, &saturation[i], &st), FC_OK);
        cycles[i] = a.latency_mean_cycles;
        fc_queueing_close(model);
    }
    if (!fc_near(cycles[0], cycles[1], tolerance) || !fc_near(saturation[0], saturation[1], tolerance))
        printf("\n    %s: latency %g and %g, saturation %g and %g\n", what, cycles[0], cycles[1], saturation[0],
               saturation[1]);
    CU_ASSERT(fc_near(cycles[0], cycles[1], tolerance));
    CU_ASSERT(fc_near(saturation[0], saturation[1], tolerance));
}

static void folds(void)
{
    for (size_t m = 0; m < FC_COUNT(machines); m++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand demand;
        struct fc_turns folded, all;
        if (!open_network(machines[m].network, "direct", &machine, &net)) continue;
        bool drawn = strstr(machines[m].network, "links_per_pair: 2") != NULL; /* one of two cables */
        uint64_t hops = drawn ? 3 * many_hops : many_hops;
        uniform(&net, &demand);
        if (make(FC_TURNS_GROUPS, &net, &demand, NULL, hops, &folded)) {
            if (make(FC_TURNS_UNFOLDED, &net, &demand, NULL, hops, &all)) {
                bool equal = machines[m].groups % machines[m].classes == 0;
                CU_ASSERT(folded.folded && folded.n_links < all.n_links);
                compare_links(machines[m].what, &folded, &all, drawn ? 0.05 : 1e-9);
                compare_answers(machines[m].what, &folded, &all, drawn ? 0.03 : equal ? 2e-4 : 0.01);
                fc_turns_free(&all);
            }
            fc_turns_free(&folded);
        }
        fc_demand_free(&demand);
        fc_test_close(&machine, &net);
    }
}

/* Links of a set begin at most once at a router and end at most once at one: contention is among those of a router. */
static void latin(void)
{
    for (size_t m = 0; m < FC_COUNT(machines); m++) {
        FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand demand;
        struct fc_status st = {0};
        uint32_t *orbit, n_orbits;
        if (!open_network(machines[m].network, "direct", &machine, &net)) continue;
        uniform(&net, &demand);
        struct fc_turns_walk w = {.net = &net, .demand = &demand, .arena = &arena};
        CU_ASSERT_EQUAL_FATAL(fc_turns_groups(&w, &st), FC_OK);
        CU_ASSERT_FATAL(w.groups != NULL);
        CU_ASSERT_EQUAL(w.groups->n_groups, machines[m].groups);
        CU_ASSERT_EQUAL(w.groups->n_classes, machines[m].classes);
        CU_ASSERT_EQUAL_FATAL(fc_turns_group_orbits(&net, w.groups, &arena, &orbit, &n_orbits, &st), FC_OK);
        uint8_t *met = fc_alloc(&arena, 2ull * n_orbits * net.n_vertices, 1, &st);
        uint32_t twice = 0;
        for (uint32_t l = 0; l < net.n_links && met; l++) {
            uint8_t *from = &met[((size_t)orbit[l] * net.n_vertices + net.link_source[l]) * 2];
            uint8_t *to = &met[((size_t)orbit[l] * net.n_vertices + net.link_target[l]) * 2 + 1];
            twice += ++*from > 1;
            twice += ++*to > 1;
        }
        CU_ASSERT_EQUAL(twice, 0);
        fc_demand_free(&demand);
        fc_test_close(&machine, &net);
    }
}

/* Some pairs that stand for all: as much to every link. */
static void some_pairs(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_turns some, all;
    if (!open_network("family: two-level, supernodes: 16, nodes_per_drawer: 4, d_link: modulo, " TWO_LEVEL, "direct",
                      &machine, &net))
        return;
    uniform(&net, &demand);
    if (make(FC_TURNS_GROUPS, &net, &demand, NULL, 16000, &some)) {
        if (make(FC_TURNS_UNFOLDED, &net, &demand, NULL, many_hops, &all)) {
            CU_ASSERT(some.n_walked < all.n_walked);
            CU_ASSERT(!some.sampled);
            compare_links("some pairs", &some, &all, 0.03);
            compare_answers("some pairs", &some, &all, 0.01);
            fc_turns_free(&all);
        }
        fc_turns_free(&some);
    }
    fc_demand_free(&demand);
    fc_test_close(&machine, &net);
}

/* The network is folded for no other traffic, and where all groups differ. */
static void refuses(void)
{
    static const struct {
        const char *d_link, *pattern;
    } whole[] = {{"modulo", "permutation:seed=4"}, {"hashed", "uniform"}};
    for (size_t i = 0; i < FC_COUNT(whole); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand demand;
        struct fc_turns t;
        struct fc_status st = {0};
        char network[512];
        snprintf(network, sizeof network,
                 "family: two-level, supernodes: 8, nodes_per_drawer: 4, d_link: %s, " TWO_LEVEL, whole[i].d_link);
        if (!open_network(network, "direct", &machine, &net)) continue;
        CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, whole[i].pattern, 3, &demand, &st), FC_OK);
        demand.open_loop = true;
        if (make(FC_TURNS_GROUPS, &net, &demand, NULL, many_hops, &t)) {
            CU_ASSERT(!t.folded);
            CU_ASSERT_EQUAL(t.n_links, net.n_links);
            fc_turns_free(&t);
        }
        fc_demand_free(&demand);
        fc_test_close(&machine, &net);
    }
}

/* Under UGAL, where both ways draw their packets: saturation and latencies. The top rung is where the search for it, among what was
 * drawn, ended: with ten times the packets it is a tenth elsewhere either way. */
static void ugal(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand demand;
    struct fc_turns t[2];
    struct fc_status st = {0};
    struct fc_flit_settings settings;
    if (!open_network("family: two-level, supernodes: 16, nodes_per_drawer: 8, d_link: modulo, " TWO_LEVEL, "ugal",
                      &machine, &net))
        return;
    fc_flit_defaults(&settings);
    uniform(&net, &demand);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL_FATAL(fc_turns_make_rungs_by(i ? FC_TURNS_UNFOLDED : FC_TURNS_GROUPS, &net, &demand, &settings,
                                                     1000000, 1000000, 0, &t[i], &st),
                              FC_OK);
    CU_ASSERT(t[0].folded && !t[1].folded && t[0].n_rungs > 0);
    for (uint32_t i = 0; i < t[0].n_rungs; i++) CU_ASSERT(t[0].rung[i].folded && t[0].rung[i].n_links == t[0].n_links);
    CU_ASSERT(fc_near(t[0].rung_top, t[1].rung_top, 0.25));
    compare_answers("ugal", &t[0], &t[1], 0.05);
    for (int i = 0; i < 2; i++) fc_turns_free(&t[i]);
    fc_demand_free(&demand);
    fc_test_close(&machine, &net);
}

int suite_turns_groups(void)
{
    static const CU_TestInfo tests[] = {
        {"like groups tell all", folds},
        {"links of a set meet no router twice", latin},
        {"some pairs stand for all", some_pairs},
        {"other traffic, other groups", refuses},
        {"under UGAL", ugal},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("turns: like groups", tests);
}
