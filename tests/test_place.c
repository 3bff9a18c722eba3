/* test_place.c - layouts of interfaces on a chip: the model against the load solver and against every offset,
 * Table 1 of the TMesh paper, the rules, and one case per refusal. */
#include "solvers/solvers.h"
#include "tests/place_chips.h"
#include "tests/support.h"

/* ---- the model ---- */

/* Every mesh link of every chip carries what the model says, with traffic from all nodes to all others. */
static void against_load_solver(const char *yaml)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    struct fc_demand demand;
    struct fc_load solved;
    struct fc_chip chip;
    struct fc_place_model m;
    struct fc_load_settings settings = {.threads = 1};
    if (!fc_test_network(yaml, &machine, &net)) return;
    const struct fc_tmesh_shape *s = machine.shape;
    const struct fc_tmesh_tables *tables = net.extra;
    CU_ASSERT_EQUAL(fc_chip_of_machine(&machine, &chip, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_demand_from_pattern(&net, "uniform", 1, &demand, &st), FC_OK);
    uint32_t *node = malloc(net.n_nodes * sizeof *node);
    for (uint32_t i = 0; i < net.n_nodes; i++) node[i] = i;
    struct fc_placement placement = {net.n_nodes, node};
    CU_ASSERT_EQUAL(fc_load_solve(&net, &demand, &placement, &settings, &solved, &st), FC_OK);
    free(node);
    if (!st.code && model_of(chip, &m)) {
        struct fc_bridge_layout layout;
        struct fc_layout_figures f;
        double load[256], unit = fc_demand_bytes(&demand) / net.n_nodes, worst = 0, torus = 0;
        for (int i = 0; i < m.n; i++) layout.node[i] = s->bridge[i / 2][i % 2];
        fc_layout_figure(&m, &layout, load, &f);
        CU_ASSERT(m.scale > 0);
        for (uint32_t c = 0; c < s->n_chips; c++)
            for (uint32_t l = 0; l < m.n_links; l++) {
                uint32_t u = m.link_source[l], v = m.link_target[l];
                int port = v == u + 1 && s->columns > 1   ? FC_EAST
                           : v + 1 == u && s->columns > 1 ? FC_WEST
                           : v > u                        ? FC_SOUTH
                                                          : FC_NORTH;
                double bytes = solved.bytes[c * s->chip_links + tables->mesh_port[u][port]];
                worst = fmax(worst, fabs(bytes / unit - load[l]));
            }
        for (uint32_t l = 0; l < net.n_links; l++)
            if (net.link_class[l] == 0) torus = fmax(torus, solved.bytes[l] / unit);
        CU_ASSERT(worst < 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(torus, m.torus_load, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(f.turn_hops, fc_tmesh_mean_turn_hops(s), 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(f.weighted_hops, fc_tmesh_mean_mesh_hops(s, false) * net.n_nodes / (net.n_nodes - 1.0),
                               1e-9);
        fc_place_model_free(&m);
    }
    fc_load_free(&solved);
    fc_demand_free(&demand);
    fc_test_close(&machine, &net);
}

static void loads_of_shipped_machines(void)
{
    static const char *const names[] = {"024", "159", "456", "459", "546", "840", "964", "central"};
    char name[32];
    for (size_t i = 0; i < FC_COUNT(names) - 1; i++) {
        snprintf(name, sizeof name, "tmesh-216-%s", names[i]);
        against_load_solver(name);
    }
}

#define LINKS "links: {torus: {bandwidth: 2 GB/s, latency: 1 ns}, mesh: {bandwidth: 25.6 GB/s, latency: 1 ns}}\n"
#define TMESH(keys) "name: t\nnetwork: {family: tmesh, " keys "}\n" LINKS

static void loads_of_other_shapes(void)
{
    against_load_solver(TMESH("dims: [3, 2, 4], mesh: [3, 3], bridges: {x-: 0, y-: 2, z-: 4, x+: 1, y+: 3, z+: 5}"));
    against_load_solver(
        TMESH("dims: [4, 3], mesh: [2, 5], mesh_order: column-first, bridges: {x-: 0, y-: 9, x+: 4, y+: 6}"));
    against_load_solver(TMESH("dims: [5], mesh: [1, 4], bridges: {x-: 3, x+: 1}"));
    against_load_solver(TMESH("dims: [6], mesh: [5, 1], bridges: {x-: 0, x+: 4}, router_nodes_compute: true"));
    against_load_solver(TMESH("dims: [2, 2, 1], mesh: [2, 3], bridges: {x-: 0, y-: 2, z-: 4, x+: 1, y+: 3, z+: 5}, "
                              "router_nodes_compute: true"));
    against_load_solver(TMESH("dims: [2, 2, 2, 2], mesh: [3, 3], bridges: {x-: 0, y-: 1, z-: 2, a-: 3, x+: 5, y+: 6, "
                              "z+: 7, a+: 8}"));
}

static void published_turn_hops(void)
{
    struct fc_place_model m;
    struct fc_layout_figures f;
    if (!model_of(chip_of(3, 6, 4, 4, false), &m)) return;
    for (size_t i = 0; i < FC_PLACE_TABLE1; i++) {
        fc_layout_figure(&m, &fc_place_table1[i].layout, NULL, &f);
        CU_ASSERT_DOUBLE_EQUAL(f.turn_hops, fc_place_table1[i].turn_hops, 0.005);
        CU_ASSERT(f.fairness > 0 && f.fairness < 1 && f.utilization > 0);
    }
    CU_ASSERT_EQUAL(fc_layout_turn_sum(&m, &fc_place_table1[6].layout), 28);
    fc_place_model_free(&m);
}

/* ---- turns of other orders, by every offset and every path ---- */

/* Adds what all paths of the offsets left[] do, each with `share`; before: dimension of the step before, -1:
 * none. */
static void walk_paths(int n, int *left, const int *way, int before, double share, struct fc_torus_turns *out)
{
    int total = 0;
    for (int d = 0; d < n; d++) total += left[d];
    if (!total && before >= 0) out->last[before][way[before]] += share;
    for (int d = 0; d < n; d++) {
        if (!left[d]) continue;
        double part = share * left[d] / total; /* so that every path is as likely */
        if (before < 0)
            out->first[d][way[d]] += part;
        else
            out->turn[before][way[before]][d][way[d]] += part;
        left[d]--;
        walk_paths(n, left, way, d, part, out);
        left[d]++;
    }
}

/* The same of all n! orders: `used` dimensions are through. */
static void walk_orders(int n, const int *offset, const int *way, unsigned used, int before, double share,
                        struct fc_torus_turns *out)
{
    int left = n - __builtin_popcount(used);
    if (!left && before >= 0) out->last[before][way[before]] += share;
    for (int d = 0; d < n; d++) {
        if (used >> d & 1) continue;
        if (offset[d] && before < 0) out->first[d][way[d]] += share / left;
        if (offset[d] && before >= 0) out->turn[before][way[before]][d][way[d]] += share / left;
        if (offset[d]) out->turn[d][way[d]][d][way[d]] += share / left * (offset[d] - 1);
        walk_orders(n, offset, way, used | 1u << d, offset[d] ? d : before, share / left, out);
    }
}

static void every_offset(int n, const uint32_t *k, int d, int *offset, int *way, double share, int turns,
                         struct fc_torus_turns *out)
{
    if (d == n) {
        if (turns == FC_CHIP_PATHS)
            walk_paths(n, offset, way, -1, share, out);
        else
            walk_orders(n, offset, way, 0, -1, share, out);
        return;
    }
    for (int a = 0; a <= (int)k[d] / 2; a++)
        for (int w = 0; w < (a ? 2 : 1); w++) {
            offset[d] = a;
            way[d] = w;
            every_offset(n, k, d + 1, offset, way, share * (2 * a == (int)k[d] ? 0.5 : 1) / k[d], turns, out);
        }
}

static void turns_of_all_offsets(void)
{
    static const struct {
        int n;
        uint32_t k[4];
    } tori[] = {{1, {5}}, {2, {4, 3}}, {3, {4, 1, 5}}, {3, {2, 6, 3}}, {4, {3, 4, 2, 3}}};
    struct fc_torus_turns ours, counted;
    for (size_t i = 0; i < FC_COUNT(tori); i++)
        for (int turns = FC_CHIP_ORDERS; turns <= FC_CHIP_PATHS; turns++) {
            int offset[4], way[4];
            memset(&counted, 0, sizeof counted);
            every_offset(tori[i].n, tori[i].k, 0, offset, way, 1, turns, &counted);
            fc_torus_turns_uniform(tori[i].n, tori[i].k, turns, &ours);
            double worst = 0;
            const double *a = (const double *)&ours, *b = (const double *)&counted;
            for (size_t x = 0; x < sizeof ours / sizeof *a; x++) worst = fmax(worst, fabs(a[x] - b[x]));
            CU_ASSERT(worst < 1e-12);
        }
}

/* What comes in goes out, however the dimensions are taken, and a mesh of three axes counts like any other.
 */
static void flows_are_kept(void)
{
    for (int turns = 0; turns <= FC_CHIP_PATHS; turns++) {
        struct fc_chip chip = chip_of(3, 5, 3, 3, turns == 1);
        struct fc_place_model m;
        struct fc_bridge_layout layout = {{0, 5, 8, 13, 22, 26}};
        struct fc_layout_figures f;
        chip.n_axes = 3;
        chip.side[2] = 3;
        chip.order[0] = 2, chip.order[1] = 0, chip.order[2] = 1;
        chip.turns = turns;
        chip.on_chip = turns == 2 ? 0.5 : 0;
        if (!model_of(chip, &m)) continue;
        double load[256], hops = 0, sum = 0;
        fc_layout_figure(&m, &layout, load, &f);
        for (int i = 0; i < m.n; i++) {
            double in = m.n_cores * m.eject[i], out = m.n_cores * m.inject[i];
            for (int j = 0; j < m.n; j++) {
                in += m.rate[i][j];
                out += m.rate[j][i];
                hops += m.rate[i][j] * m.distance[layout.node[i] * m.n_mesh + layout.node[j]];
            }
            CU_ASSERT_DOUBLE_EQUAL(in, m.torus_load, 1e-12);
            CU_ASSERT_DOUBLE_EQUAL(out, m.torus_load, 1e-12);
        }
        for (uint32_t u = 0; u < m.n_mesh; u++) {
            bool core = true;
            for (int i = 0; i < m.n; i++) core = core && (layout.node[i] != u || chip.bridges_compute);
            if (!core) continue;
            for (int i = 0; i < m.n; i++)
                hops += (m.inject[i] + m.eject[i]) * m.distance[u * m.n_mesh + layout.node[i]];
            for (uint32_t v = 0; v < m.n_mesh; v++) {
                bool other = true;
                for (int i = 0; i < m.n; i++) other = other && (layout.node[i] != v || chip.bridges_compute);
                if (other) hops += m.local * m.distance[u * m.n_mesh + v];
            }
        }
        for (uint32_t l = 0; l < m.n_links; l++) {
            sum += load[l];
            CU_ASSERT(load[l] > -1e-12);
        }
        CU_ASSERT_DOUBLE_EQUAL(sum, hops, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(f.weighted_hops * m.n_cores, hops, 1e-9);
        CU_ASSERT((m.scale > 0) == (turns < 2));
        fc_place_model_free(&m);
    }
}

/* ---- rules ---- */

static void refused_rules(const struct fc_place_model *m, const char *pins, const char *taken, bool lines,
                          const char *part)
{
    struct fc_layout_rules rules;
    struct fc_status st = {0};
    uint8_t none[64] = {0};
    fc_layout_rules_none(&rules);
    rules.lines = lines;
    if (*taken) rules.taken = none;
    for (const char *at = taken; *at; at++) none[*at >= 'a' ? *at - 'a' + 10 : *at - '0'] = 1;
    if (pins) fc_layout_read(pins, "--pin", m, rules.pinned, &st);
    if (!st.code) fc_layout_rules_check(m, &rules, &st);
    CU_ASSERT_EQUAL(st.code, part ? FC_INPUT : FC_OK);
    if (part && !strstr(st.message, part)) {
        printf("\n    %s\n", st.message);
        CU_FAIL("another message was expected");
    }
}

static void rules_and_refusals(void)
{
    struct fc_place_model m;
    struct fc_status st = {0};
    if (!model_of(chip_of(3, 6, 4, 4, false), &m)) return;
    refused_rules(&m, NULL, "", true, NULL);
    refused_rules(&m, "x-=0,x+=3,y-=4", "", true, NULL);
    refused_rules(&m, "x-=0,z+=12,x+=5", "", true,
                  "by pins x+=5, x-=0; lines (for each of 3 dimensions one of 4 rows of 4 nodes), which ");
    refused_rules(&m, "x-=0,z+=0,x+=5", "", false, "by pins x-=0, z+=0, which contradict each other");
    refused_rules(&m, "x-=0", "0", false, "by pins x-=0; keep-free 0, which");
    refused_rules(&m, "x-=0,y+=3", "", true, "by pins x-=0, y+=3; lines");
    refused_rules(&m, NULL, "0123456789a", false, "by keep-free 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, which");
    refused_rules(&m, NULL, "0123456789", false, NULL);
    refused_rules(&m, NULL, "0124569", true, "by keep-free 0, 1, 2, 4, 5, 6; lines (");
    refused_rules(&m, "w-=0", "", false, "'w-=0' names no interface");
    refused_rules(&m, "x-=16", "", false, "--pin");
    refused_rules(&m, "x-=1,x-=2", "", false, "x- is given twice");
    refused_rules(&m, "", "", false, "'' names no interface");
    refused_rules(&m, "x-=1,", "", false, "'' names no interface");
    refused_rules(&m, "x-=0", "0123456789abcdef", false, "by pins x-=0; keep-free 0, which");
    fc_place_model_free(&m);
    struct fc_chip small = chip_of(3, 6, 2, 5, false);
    if (model_of(small, &m)) {
        refused_rules(&m, NULL, "", true, "by lines (for each of 3 dimensions one of 2 rows of 5 nodes) (6 interfaces");
        fc_place_model_free(&m);
    }
    small = chip_of(3, 6, 2, 3, false);
    CU_ASSERT_EQUAL(fc_place_model_make(&small, &m, &st), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "the mesh of 6 nodes is too small for the 6 interfaces"));
    st = (struct fc_status){0};
    small = chip_of(1, 1, 1, 3, false);
    CU_ASSERT_EQUAL(fc_place_model_make(&small, &m, &st), FC_INPUT);
    st = (struct fc_status){0};
    small = chip_of(3, 6, 40, 40, false);
    CU_ASSERT_EQUAL(fc_place_model_make(&small, &m, &st), FC_INPUT);
    struct fc_machine machine;
    st = (struct fc_status){0};
    if (!fc_machine_load("bgl-64", &machine, &st)) {
        CU_ASSERT_EQUAL(fc_chip_of_machine(&machine, &small, &st), FC_INPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "family torus"));
        fc_machine_free(&machine);
    }
}

int suite_place(void)
{
    CU_pSuite model = CU_add_suite("place: model", NULL, NULL);
    CU_add_test(model, "mesh links carry what the load solver says, shipped machines", loads_of_shipped_machines);
    CU_add_test(model, "the same of other shapes", loads_of_other_shapes);
    CU_add_test(model, "mean turn hops of Table 1", published_turn_hops);
    CU_add_test(model, "turns of any order and of all paths, by every offset", turns_of_all_offsets);
    CU_add_test(model, "flows are kept, also on three axes", flows_are_kept);
    CU_pSuite rules = CU_add_suite("place: rules", NULL, NULL);
    CU_add_test(rules, "contradictions and refusals", rules_and_refusals);
    return 0;
}
