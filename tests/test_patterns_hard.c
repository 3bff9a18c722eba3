/* test_patterns_hard.c - permutations that are hard for a family: group-shift and adversarial, where the answer is known (part of
 * suite patterns). */
#include "tests/patterns_hard.h"
#include "models/group_shift.h"
#include "solvers/solvers.h"
#include "tests/support.h"
#include "tests/tests.h"

/* Each node's target; [n] up to 64. False: no permutation. */
static bool targets(const char *yaml, const char *routing, const char *pattern, uint32_t *to, uint32_t *n)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d = {0};
    struct fc_status st = {0};
    uint64_t seen = 0;
    if (!fc_test_network(yaml, &machine, &net)) return false;
    if (routing) CU_ASSERT_EQUAL_FATAL(fc_machine_route(&machine, routing, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, pattern, 1, &d, &st), FC_OK);
    *n = net.n_nodes;
    for (size_t i = 0; i < d.n_entries; i++) {
        to[d.src[i]] = d.dst[i];
        seen |= UINT64_C(1) << d.dst[i];
    }
    bool all = d.n_entries == *n && seen == (*n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << *n) - 1);
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
    return all;
}

/* Groups of 2 x 2 nodes; a line of four routers of two nodes, whose middle cable all of one half can cross. */
void fc_test_hard_permutations(void)
{
    static const char groups[] = "name: g\nnetwork: {family: two-level, supernodes: 5, nodes_per_drawer: 2, "
                                 "nodes_per_router: 2, d_link: relative, d_ports: 2}\nlinks: {ll: {bandwidth: 1 GB/s}, "
                                 "d: {bandwidth: 1 GB/s}}\n",
                      row[] = "name: l\nnetwork: {family: mesh, dims: [4], nodes_per_router: 2}\nlinks: {mesh: "
                              "{bandwidth: 1 GB/s}}\n",
                      ring[] = "name: r\nnetwork: {family: torus, dims: [8]}\nlinks: {torus: {bandwidth: 1 GB/s}}\n";
    uint32_t to[64], n, across[2] = {0, 0};
    CU_ASSERT(targets(groups, NULL, "group-shift:by=2", to, &n));
    for (uint32_t s = 0; s < n; s++) CU_ASSERT_EQUAL(to[s], (s + 8) % n);
    CU_ASSERT(targets(groups, NULL, "adversarial", to, &n));
    for (uint32_t s = 0; s < n; s++) CU_ASSERT_EQUAL(to[s], (s + 4) % n);
    CU_ASSERT(targets(ring, NULL, "adversarial", to, &n));
    for (uint32_t s = 0; s < n; s++) CU_ASSERT_EQUAL(to[s], (s + 3) % n);
    CU_ASSERT(targets(row, NULL, "adversarial", to, &n));
    for (uint32_t s = 0; s < n; s++) across[s < 4] += (s < 4) != (to[s] < 4);
    CU_ASSERT(across[1] == 4 || across[0] == 4);
}

/* Five groups on of five: every node would send to itself. */
void fc_test_group_shift_to_itself(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    uint32_t to[20];
    if (!fc_test_network(
            "name: g\nnetwork: {family: two-level, supernodes: 5, nodes_per_drawer: 2, nodes_per_router: 2, "
            "d_link: relative, d_ports: 2}\nlinks: {ll: {bandwidth: 1 GB/s}, d: {bandwidth: 1 GB/s}}\n",
            &machine, &net))
        return;
    CU_ASSERT_EQUAL(net.n_nodes, 20);
    CU_ASSERT_EQUAL(fc_group_shift(&net, 4, to, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_group_shift(&net, 10, to, &st), FC_INPUT);
    CU_ASSERT_STRING_EQUAL(st.message, "by: 10 groups on from a group is the group itself (there are 5)");
    fc_test_close(&machine, &net);
}
