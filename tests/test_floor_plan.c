/* test_floor_plan.c - which router stands in which rack, lengths and prices of cables by hand and by published counts. */
#include "mapping/floor_plan.h"
#include "models/generate/generate.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Adds the price and the plan of a machine's network. */
static void priced(const struct fc_network *net, struct fc_arena *arena, struct fc_floor_plan *plan,
                   struct fc_network_cost *cost)
{
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_floor_plan_make(net, arena, plan, &st), FC_OK);
    fc_network_cost(net, plan, cost);
}

#define LINE "name: l\nnetwork: {family: mesh, dims: [6]}\nlinks: {mesh: {bandwidth: 1 GB/s}%s}\ncost: {%s}\n"

/* Six routers in a line, two in a rack of half a metre by two: three racks in a row, three cables within racks, two between. */
static void a_line_by_hand(void)
{
    static const struct {
        const char *injection, *cost;
        double total, metres, optical;
    } cases[] = {
        {"", "cable: 5, cable_per_metre: 2", 25 + 2 * (3 * 1 + 2 * 3.5), 10, 0},
        {"", "cable: 5, cable_per_metre: 2, optical: 20, reach: 3", 15 + 6 + 40, 10, 2},
        {"", "cable: 5, cable_per_metre: 2, optical_per_metre: 10, reach: 3.5 m", 25 + 20, 10, 0},
        {"", "cable: 5, cable_per_metre: 2, optical: 1, optical_per_metre: 10, reach: 349 cm", 15 + 6 + 2 + 70, 10, 2},
        {"", "cable_per_metre: 2, cables: {mesh: 3}", 15, 10, 0},
        {", injection: {bandwidth: 1 GB/s}", "cable: 5", 55, 16, 0},
        {", injection: {bandwidth: 1 GB/s}", "cable: 5, cables: {injection: 2}, node_cable: 1", 31, 16, 0},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_arena arena = {0};
        struct fc_floor_plan plan;
        struct fc_network_cost cost;
        char text[512], keys[300];
        snprintf(keys, sizeof keys, "%s, rack_nodes: 2, rack_width: 0.5, rack_depth: 2, rack_cable: 1, rack_slack: 3",
                 cases[i].cost);
        snprintf(text, sizeof text, LINE, cases[i].injection, keys);
        if (!fc_test_network(text, &machine, &net)) continue;
        priced(&net, &arena, &plan, &cost);
        CU_ASSERT(plan.columns == 3 && plan.rows == 1 && plan.n_racks == 3 && cost.racks == 3);
        CU_ASSERT(fc_near(cost.total, cases[i].total, 1e-12) && fc_near(cost.cables_m, cases[i].metres, 1e-12));
        CU_ASSERT(cost.optical == cases[i].optical && fc_near(cost.longest_m, 3.5, 1e-12));
        fc_arena_free(&arena);
        fc_test_close(&machine, &net);
    }
}

/* A k-ary n-flat with a rack for each row of its first dimension has (n - 2)(k - 1) links a switch that leave the rack (Abts & Kim,
 * High Performance Datacenter Networks, equation 7.4). */
static void links_that_leave_a_rack(void)
{
    static const struct {
        const char *text, *nodes;
        double k, n;
    } cases[] = {{"hyperx:dims=4x4x4,nodes=4", "cost.rack_nodes=16", 4, 4},
                 {"hyperx:dims=6x6,nodes=6", "cost.rack_nodes=36", 6, 3},
                 {"hyperx:dims=3x3x3x3,nodes=3", "cost.rack_nodes=9", 3, 5}};
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_status st = {0};
        struct fc_arena arena = {0};
        struct fc_floor_plan plan;
        struct fc_network_cost cost;
        char folder[] = "/tmp/fc_floor_XXXXXX", path[64], edges[64];
        const char *const set[] = {cases[i].nodes, "cost.optical=1", "cost.reach=3m"};
        CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
        snprintf(path, sizeof path, "%s/m.yaml", folder);
        snprintf(edges, sizeof edges, "%s/m.edges", folder);
        CU_ASSERT_EQUAL_FATAL(fc_machine_generate(cases[i].text, path, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_machine_load_changed(path, set, FC_COUNT(set), &machine, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_network_build(&machine, &net, &st), FC_OK);
        unlink(path);
        unlink(edges);
        rmdir(folder);
        priced(&net, &arena, &plan, &cost);
        CU_ASSERT_EQUAL(cost.optical, net.n_routers * (cases[i].n - 2) * (cases[i].k - 1) / 2);
        CU_ASSERT_EQUAL(plan.n_racks, net.n_routers / (uint32_t)cases[i].k);
        fc_arena_free(&arena);
        fc_test_close(&machine, &net);
    }
}

/* On machines of all families: no rack holds more than it can, every router has a place, twice the same, and cables are no longer
 * than with routers in order. */
static void racks_hold_what_they_can(void)
{
    static const char *const machines[] = {"bgl-512", "qsnet-64", "summit", "percs-16", "tmesh-216", "theta", "lumi"};
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_status st = {0};
        struct fc_arena arena = {0};
        struct fc_floor_plan plan, again;
        struct fc_network_cost cost;
        const char *const set[] = {"cost.rack_nodes=40", "cost.rack_switches=12", "cost.rack_slack=2"};
        CU_ASSERT_EQUAL_FATAL(fc_machine_load_changed(machines[i], set, FC_COUNT(set), &machine, &st), FC_OK);
        CU_ASSERT_EQUAL_FATAL(fc_network_build(&machine, &net, &st), FC_OK);
        priced(&net, &arena, &again, &cost);
        priced(&net, &arena, &plan, &cost);
        CU_ASSERT(!memcmp(plan.router_rack, again.router_rack, net.n_routers * sizeof *plan.router_rack));
        uint32_t places = plan.columns * plan.rows;
        double *full = calloc(places, sizeof *full), *nodes = calloc(net.n_routers, sizeof *nodes), fullest = 0;
        for (uint32_t n = 0; n < net.n_nodes; n++) nodes[net.link_target[net.first_link[fc_node_vertex(&net, n)]]] += 1;
        for (uint32_t r = 0; r < net.n_routers; r++) {
            CU_ASSERT_FATAL(plan.router_rack[r] < places);
            full[plan.router_rack[r]] += nodes[r] > 0 ? nodes[r] / 40 : 1. / 12;
        }
        for (uint32_t r = 0; r < places; r++) fullest = fmax(fullest, full[r]);
        CU_ASSERT(fullest <= 1 + 1e-9 && plan.n_racks <= places && (plan.columns - 1) * plan.rows < places);
        struct fc_floor_plan ordered = plan;
        double taken = 0, in_order_m = 0;
        uint32_t rack = 0;
        ordered.router_rack = fc_alloc(&arena, net.n_routers, sizeof *ordered.router_rack, &st);
        for (uint32_t r = 0; r < net.n_routers; r++) {
            double needs = nodes[r] > 0 ? nodes[r] / 40 : 1. / 12;
            if (taken + needs > 1 + 1e-9) rack++, taken = 0;
            taken += needs;
            ordered.router_rack[r] = rack;
        }
        CU_ASSERT_FATAL(rack < places);
        fc_network_cost(&net, &ordered, &cost);
        in_order_m = cost.cables_m;
        fc_network_cost(&net, &plan, &cost);
        CU_ASSERT(cost.cables_m <= in_order_m * (1 + 1e-9));
        free(full);
        free(nodes);
        fc_arena_free(&arena);
        fc_test_close(&machine, &net);
    }
}

static void plans_refused(void)
{
    static const char *const wrong[][2] = {
        {"cable_per_metre: 2", "prices by length without a floor plan (expected rack_nodes"},
        {"optical: 2", "prices by length without a floor plan (expected rack_nodes"},
        {"rack_nodes: 2.5", "cost.rack_nodes"},
        {"rack_nodes: -1", "cost.rack_nodes"},
        {"rack_nodes: 4, rack_switches: 0", "cost.rack_switches"},
        {"rack_nodes: 4, rack_width: 0", "cost.rack_width"},
        {"rack_nodes: 4, rack_depth: 2 s", "(expected a length, e.g. 2 m or 60 cm)"},
        {"rack_nodes: 4, node_cable: -2", "cost.node_cable"},
    };
    struct fc_status st = {0};
    struct fc_machine machine;
    struct fc_network net;
    struct fc_arena arena = {0};
    struct fc_floor_plan plan;
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        char text[512];
        st = (struct fc_status){0};
        snprintf(text, sizeof text, LINE, "", wrong[i][0]);
        CU_ASSERT_EQUAL(fc_test_machine(text, &machine, &st), FC_INPUT);
        CU_ASSERT(strstr(st.message, wrong[i][1]) != NULL && st.line == 4);
        if (!strstr(st.message, wrong[i][1])) printf("\n    %s\n", st.message);
    }
    st = (struct fc_status){0};
    const char *const set[] = {"cost.rack_nodes=3"}; /* of a leaf's 4 */
    CU_ASSERT_EQUAL_FATAL(fc_machine_load_changed("qsnet-64", set, 1, &machine, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_network_build(&machine, &net, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_floor_plan_make(&net, &arena, &plan, &st), FC_INPUT);
    CU_ASSERT(strstr(st.message, "has 4 nodes, more than the 3 of a rack") != NULL);
    fc_arena_free(&arena);
    fc_test_close(&machine, &net);
}

int suite_floor_plan(void)
{
    static const CU_TestInfo tests[] = {
        {"a line by hand", a_line_by_hand},
        {"links that leave a rack", links_that_leave_a_rack},
        {"racks hold what they can", racks_hold_what_they_can},
        {"plans refused", plans_refused},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("floor plan", tests);
}
