/* test_place.c - layouts of interfaces on a chip: the model against the load solver and against every offset, Table 1
 * of the TMesh paper, all layouts, the rules, the integer programs, and one case per refusal. */
#include "mapping/place/place_best.h"
#include "mapping/place/place_service.h"
#include "solvers/solvers.h"
#include "tests/network_checks.h"
#include "tests/support.h"

/* Table 1: nodes of x+ x- y+ y- z+ z-, mean turn hops, and weighted hops as facts have them. */
static const struct {
    struct fc_layout layout;
    double turn_hops;
} table1[] = {
    {{{11, 8, 7, 4, 3, 0}}, 2.89}, {{{1, 0, 3, 2, 5, 4}}, 1.78}, {{{7, 4, 9, 5, 10, 6}}, 1.78},
    {{{10, 9, 7, 6, 5, 4}}, 1.67}, {{{8, 4, 6, 5, 10, 9}}, 1.56}, {{{9, 5, 8, 4, 10, 6}}, 1.56},
    {{{2, 1, 6, 5, 10, 9}}, 1.56},
};

static struct fc_chip chip_of(int n_dims, uint32_t k, uint32_t rows, uint32_t columns, bool compute)
{
    struct fc_chip c = {.n_dims = n_dims, .n_axes = 2, .side = {rows, columns}, .order = {1, 0},
                        .bridges_compute = compute, .mesh_bytes_per_s = 25.6e9, .torus_bytes_per_s = 2e9};
    for (int d = 0; d < n_dims; d++) c.k[d] = k;
    return c;
}

static bool model_of(struct fc_chip chip, struct fc_place_model *m)
{
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_place_model_make(&chip, m, &st), FC_OK);
    if (st.code) printf("\n    %s\n", st.message);
    return st.code == FC_OK;
}

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
    if (!network_of(yaml, &machine, &net)) return;
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
        struct fc_layout layout;
        struct fc_layout_figures f;
        double load[256], unit = fc_demand_bytes(&demand) / net.n_nodes, worst = 0, torus = 0;
        for (int i = 0; i < m.n; i++) layout.node[i] = s->bridge[i / 2][i % 2];
        fc_layout_figure(&m, &layout, load, &f);
        CU_ASSERT(m.scale > 0);
        for (uint32_t c = 0; c < s->n_chips; c++)
            for (uint32_t l = 0; l < m.n_links; l++) {
                uint32_t u = m.link_source[l], v = m.link_target[l];
                int port = v == u + 1 && s->columns > 1 ? FC_EAST : v + 1 == u && s->columns > 1 ? FC_WEST : v > u ? FC_SOUTH : FC_NORTH;
                double bytes = solved.bytes[c * s->chip_links + tables->mesh_port[u][port]];
                worst = fmax(worst, fabs(bytes / unit - load[l]));
            }
        for (uint32_t l = 0; l < net.n_links; l++)
            if (net.link_class[l] == 0) torus = fmax(torus, solved.bytes[l] / unit);
        CU_ASSERT(worst < 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(torus, m.torus_load, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(f.turn_hops, fc_tmesh_mean_turn_hops(s), 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(f.weighted_hops, fc_tmesh_mean_mesh_hops(s, false) * net.n_nodes / (net.n_nodes - 1.0), 1e-9);
        fc_place_model_free(&m);
    }
    fc_load_free(&solved);
    fc_demand_free(&demand);
    free_network(&machine, &net);
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

#define LINKS                                                                                                \
    "links: {torus: {bandwidth: 2 GB/s, latency: 1 ns}, mesh: {bandwidth: 25.6 GB/s, latency: 1 ns}}\n"
#define TMESH(keys) "name: t\nnetwork: {family: tmesh, " keys "}\n" LINKS

static void loads_of_other_shapes(void)
{
    against_load_solver(TMESH("dims: [3, 2, 4], mesh: [3, 3], bridges: {x-: 0, y-: 2, z-: 4, x+: 1, y+: 3, z+: 5}"));
    against_load_solver(TMESH("dims: [4, 3], mesh: [2, 5], mesh_order: column-first, bridges: {x-: 0, y-: 9, x+: 4, y+: 6}"));
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
    for (size_t i = 0; i < FC_COUNT(table1); i++) {
        fc_layout_figure(&m, &table1[i].layout, NULL, &f);
        CU_ASSERT_DOUBLE_EQUAL(f.turn_hops, table1[i].turn_hops, 0.005);
        CU_ASSERT(f.fairness > 0 && f.fairness < 1 && f.utilization > 0);
    }
    CU_ASSERT_EQUAL(fc_layout_turn_sum(&m, &table1[6].layout), 28);
    fc_place_model_free(&m);
}

/* ---- turns of other orders, by every offset and every path ---- */

/* Adds what all paths of the offsets left[] do, each with `share`; before: dimension of the step before, -1: none. */
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

/* What comes in goes out, however the dimensions are taken, and a mesh of three axes counts like any other. */
static void flows_are_kept(void)
{
    for (int turns = 0; turns <= FC_CHIP_PATHS; turns++) {
        struct fc_chip chip = chip_of(3, 5, 3, 3, turns == 1);
        struct fc_place_model m;
        struct fc_layout layout = {{0, 5, 8, 13, 22, 26}};
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
            for (int i = 0; i < m.n; i++) hops += (m.inject[i] + m.eject[i]) * m.distance[u * m.n_mesh + layout.node[i]];
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

static void refused_rules(const struct fc_place_model *m, const char *pins, const char *taken, bool lines, const char *part)
{
    struct fc_layout_rules rules;
    struct fc_status st = {0};
    uint8_t none[64] = {0};
    fc_layout_rules_none(&rules);
    rules.lines = lines;
    if (*taken) rules.taken = none;
    for (const char *at = taken; *at; at++) none[*at >= 'a' ? *at - 'a' + 10 : *at - '0'] = 1;
    fc_layout_read(pins, "--pin", m, rules.pinned, &st);
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
    refused_rules(&m, "", "", true, NULL);
    refused_rules(&m, "x-=0,x+=3,y-=4", "", true, NULL);
    refused_rules(&m, "x-=0,z+=12,x+=5", "", true, "x+=5, x-=0, a row of its own for each of the 3 dimensions");
    refused_rules(&m, "x-=0,z+=0,x+=5", "", false, "x-=0, z+=0 (");
    refused_rules(&m, "x-=0", "0", false, "x-=0, none on node 0 (");
    refused_rules(&m, "x-=0,y+=3", "", true, "x-=0, y+=3, a row");
    refused_rules(&m, "", "0123456789a", false, "none on node 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 (");
    refused_rules(&m, "", "0123456789", false, NULL);
    refused_rules(&m, "", "0124569", true, "none on node 0, 1, 2, 4, 5, 6, a row");
    refused_rules(&m, "w-=0", "", false, "'w-=0' names no interface");
    refused_rules(&m, "x-=16", "", false, "--pin");
    refused_rules(&m, "x-=1,x-=2", "", false, "x- is given twice");
    fc_place_model_free(&m);
    struct fc_chip small = chip_of(3, 6, 2, 3, false);
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

/* ---- all layouts ---- */

/* Every layout by the model's own figures. */
struct tried {
    double best[FC_PLACE_OBJECTIVES];
    uint64_t layouts, count[FC_PLACE_OBJECTIVES];
    uint32_t n_front;
    double front[64][2]; /* weighted, load: not dominated so far */
};

static void try_front(struct tried *t, double weighted, double load)
{
    uint32_t kept = 0;
    for (uint32_t f = 0; f < t->n_front; f++)
        if (t->front[f][0] <= weighted + 1e-9 && t->front[f][1] <= load + 1e-9) return;
    for (uint32_t f = 0; f < t->n_front; f++) {
        if (weighted <= t->front[f][0] + 1e-9 && load <= t->front[f][1] + 1e-9) continue;
        memmove(t->front[kept++], t->front[f], sizeof t->front[f]);
    }
    t->front[kept][0] = weighted;
    t->front[kept][1] = load;
    t->n_front = kept + 1;
}

static void try_all(const struct fc_place_model *m, const struct fc_layout_rules *rules, int i, struct fc_layout *layout,
                    struct tried *t)
{
    struct fc_layout_figures f;
    for (uint32_t u = 0; u < m->n_mesh && i < m->n; u++) {
        layout->node[i] = u;
        bool other = true;
        for (int j = 0; j < i; j++) other = other && layout->node[j] != u;
        if (other) try_all(m, rules, i + 1, layout, t);
    }
    if (i < m->n || !fc_layout_allowed(m, rules, layout)) return;
    fc_layout_figure(m, layout, NULL, &f);
    for (int o = 0; o < FC_PLACE_OBJECTIVES; o++) {
        double value = fc_layout_value(&f, o);
        bool better = !t->layouts || value < t->best[o] - 1e-9, same = !better && value < t->best[o] + 1e-9;
        if (better) t->best[o] = value;
        t->count[o] = better ? 1 : t->count[o] + same;
    }
    try_front(t, f.weighted_hops, f.greatest_load);
    t->layouts++;
}

static void same_as_tried(const struct fc_place_all *all, const struct tried *t)
{
    CU_ASSERT_EQUAL(all->layouts, t->layouts);
    CU_ASSERT_EQUAL(all->n_front, t->n_front);
    for (int o = 0; o < FC_PLACE_OBJECTIVES; o++) {
        CU_ASSERT_DOUBLE_EQUAL(fc_layout_value(&all->best[o].figures, o), t->best[o], 1e-9);
        CU_ASSERT_EQUAL(all->best[o].layouts, t->count[o]);
    }
    for (uint32_t f = 0; f < all->n_front; f++) {
        bool found = false;
        for (uint32_t g = 0; g < t->n_front; g++)
            found = found || (fabs(all->front[f].figures.weighted_hops - t->front[g][0]) < 1e-9 &&
                              fabs(all->front[f].figures.greatest_load - t->front[g][1]) < 1e-9);
        CU_ASSERT(found);
    }
}

/* Chips small enough to try every layout the slow way. */
static const struct {
    int n_dims;
    uint32_t k, rows, columns;
    bool compute, lines;
    int turns;
} small[] = {{1, 4, 1, 4, false, false, 0}, {1, 5, 2, 2, true, false, 0},  {2, 4, 2, 4, false, false, 0},
             {2, 6, 3, 3, false, true, 0},  {2, 6, 3, 3, false, false, 0}, {2, 5, 3, 2, true, false, 1},
             {2, 4, 3, 3, false, false, 2}, {3, 2, 2, 3, true, false, 0}};

static bool small_model(size_t i, struct fc_place_model *m, struct fc_layout_rules *rules)
{
    struct fc_chip chip = chip_of(small[i].n_dims, small[i].k, small[i].rows, small[i].columns, small[i].compute);
    chip.turns = small[i].turns;
    fc_layout_rules_none(rules);
    rules->lines = small[i].lines;
    return model_of(chip, m);
}

static void all_layouts_of_small_chips(void)
{
    for (size_t i = 0; i < FC_COUNT(small); i++) {
        struct fc_place_model m;
        struct fc_layout_rules rules;
        struct fc_layout layout = {{0}};
        struct tried t = {0};
        if (!small_model(i, &m, &rules)) continue;
        try_all(&m, &rules, 0, &layout, &t);
        CU_ASSERT_EQUAL((uint64_t)fc_place_count(&m, &rules), t.layouts);
        for (int symmetry = 0; symmetry < 2; symmetry++) {
            struct fc_place_all_settings settings = {.symmetry = symmetry, .threads = 2};
            struct fc_place_all all;
            struct fc_status st = {0};
            CU_ASSERT_EQUAL(fc_place_all(&m, &rules, &settings, &all, &st), FC_OK);
            if (st.code) continue;
            CU_ASSERT_EQUAL(all.exact, small[i].turns < FC_CHIP_PATHS);
            CU_ASSERT(symmetry ? all.evaluated < all.layouts : all.evaluated == all.layouts);
            same_as_tried(&all, &t);
            fc_place_all_free(&all);
        }
        fc_place_model_free(&m);
    }
}

static void pins_and_taken_nodes(void)
{
    struct fc_place_model m;
    struct fc_layout_rules rules;
    struct fc_layout layout = {{0}};
    struct tried t = {0};
    struct fc_status st = {0};
    struct fc_place_all all;
    struct fc_place_best best, local;
    struct fc_place_all_settings settings = {.symmetry = true, .threads = 1};
    uint8_t taken[9] = {0, 0, 0, 0, 1, 0, 0, 0, 0};
    if (!model_of(chip_of(2, 4, 3, 3, false), &m)) return;
    fc_layout_rules_none(&rules);
    rules.taken = taken;
    rules.pinned[1] = 7;
    try_all(&m, &rules, 0, &layout, &t);
    CU_ASSERT_EQUAL(fc_place_all(&m, &rules, &settings, &all, &st), FC_OK);
    same_as_tried(&all, &t);
    for (int o = 0; o < FC_PLACE_OBJECTIVES && !st.code; o++) {
        struct fc_place_milp_settings milp = {.time_s = 20};
        CU_ASSERT_EQUAL(fc_place_local(&m, &rules, o, 20, 1, &local, &st), FC_OK);
        CU_ASSERT(fc_layout_allowed(&m, &rules, &local.layout));
        CU_ASSERT_EQUAL(fc_place_branch(&m, &rules, o, 10000000, &local, &st), FC_OK);
        CU_ASSERT(local.proven && fabs(local.value - t.best[o]) < 1e-9);
        memset(&best, 0, sizeof best);
        CU_ASSERT_EQUAL(fc_place_milp(&m, &rules, o, &milp, &best, &st), FC_OK);
        CU_ASSERT(best.proven && fabs(best.value - t.best[o]) < 1e-9);
    }
    fc_place_all_free(&all);
    fc_place_model_free(&m);
}

/* The paper's chip: 16!/10! layouts, the least mean of turn hops in 1728 of them; the same for any threads. */
static void all_layouts_of_the_paper(void)
{
    struct fc_place_model m;
    struct fc_layout_rules rules;
    struct fc_status st = {0};
    struct fc_place_all all[2];
    if (!model_of(chip_of(3, 6, 4, 4, false), &m)) return;
    fc_layout_rules_none(&rules);
    for (int threads = 1; threads < 3; threads++) {
        struct fc_place_all_settings settings = {.symmetry = true, .threads = threads};
        CU_ASSERT_EQUAL(fc_place_all(&m, &rules, &settings, &all[threads - 1], &st), FC_OK);
    }
    if (st.code) return;
    CU_ASSERT(all[0].exact && all[0].layouts == 5765760 && all[0].evaluated == 216216);
    CU_ASSERT_EQUAL(all[0].best[FC_PLACE_HOPS].layouts, 1728);
    CU_ASSERT_DOUBLE_EQUAL(all[0].best[FC_PLACE_HOPS].figures.turn_hops, 28.0 / 18, 1e-12);
    CU_ASSERT_EQUAL(all[0].n_front, 1);
    CU_ASSERT(!memcmp(all[0].best, all[1].best, sizeof all[0].best));
    CU_ASSERT(!memcmp(all[0].front, all[1].front, all[0].n_front * sizeof *all[0].front));
    fc_place_all_free(&all[0]);
    fc_place_all_free(&all[1]);
    struct fc_place_all_settings few = {.symmetry = true, .threads = 1, .most = 1000};
    CU_ASSERT_EQUAL(fc_place_all(&m, &rules, &few, &all[0], &st), FC_NO);
    fc_place_model_free(&m);
}

/* ---- proofs ---- */

static void towns(void)
{
    static const int least[] = {0, 0, 1, 4, 8, 16, 25, 38, 54, 72, 96};
    for (int n = 0; n < (int)FC_COUNT(least); n++) CU_ASSERT_EQUAL(fc_town_least(8, 8, n), least[n]);
    CU_ASSERT_EQUAL(fc_town_least(1, 9, 5), 20); /* a line: sum of |i - j| */
    CU_ASSERT_EQUAL(fc_town_least(2, 8, 6), 25);
    CU_ASSERT_EQUAL(fc_town_least(3, 3, 9), 72);
}

static void searches_agree(void)
{
    for (size_t i = 0; i < FC_COUNT(small); i++) {
        struct fc_place_model m;
        struct fc_layout_rules rules;
        if (!small_model(i, &m, &rules)) continue;
        struct fc_place_all_settings settings = {.symmetry = true, .threads = 1};
        struct fc_place_milp_settings milp = {.time_s = 60}, bare = {.time_s = 60, .bare = true};
        struct fc_place_all all;
        struct fc_status st = {0};
        if (fc_place_all(&m, &rules, &settings, &all, &st)) continue;
        for (int o = 0; o < FC_PLACE_OBJECTIVES; o++) {
            struct fc_place_best branch, program = {0}, alone = {0};
            double value = fc_layout_value(&all.best[o].figures, o);
            CU_ASSERT_EQUAL(fc_place_local(&m, &rules, o, 1, 3, &branch, &st), FC_OK);
            CU_ASSERT_EQUAL(fc_place_branch(&m, &rules, o, 1000000000, &branch, &st), FC_OK);
            CU_ASSERT(branch.proven && fabs(branch.value - value) < 1e-8);
            CU_ASSERT_EQUAL(fc_place_milp(&m, &rules, o, &milp, &program, &st), FC_OK);
            CU_ASSERT(program.proven && fabs(program.value - value) < 1e-6);
            CU_ASSERT(fc_layout_allowed(&m, &rules, &program.layout));
            if (o == FC_PLACE_HOPS) CU_ASSERT_EQUAL(fc_place_milp(&m, &rules, o, &bare, &alone, &st), FC_OK);
            CU_ASSERT(o != FC_PLACE_HOPS || (alone.proven && fabs(alone.value - value) < 1e-9));
            program = branch; /* from a known best layout: only the proof is left */
            CU_ASSERT_EQUAL(fc_place_milp(&m, &rules, o, &milp, &program, &st), FC_OK);
            CU_ASSERT(program.proven && fabs(program.value - value) < 1e-8);
        }
        for (uint32_t f = 0; f < all.n_front && !small[i].turns; f++) { /* least weighted hops under each load of the front */
            struct fc_place_best least = {0};
            milp.most_load = all.front[f].figures.greatest_load;
            CU_ASSERT_EQUAL(fc_place_milp(&m, &rules, FC_PLACE_WEIGHTED, &milp, &least, &st), FC_OK);
            CU_ASSERT(least.proven && fabs(least.value - all.front[f].figures.weighted_hops) < 1e-6);
        }
        if (st.code) printf("\n    chip %zu: %s\n", i, st.message);
        fc_place_all_free(&all);
        fc_place_model_free(&m);
    }
}

/* The paper's chip: hops free and with lines; weighted hops with lines; branch and bound for all. */
static void proofs_of_the_paper(void)
{
    struct fc_place_model m;
    struct fc_layout_rules rules;
    struct fc_status st = {0};
    if (!model_of(chip_of(3, 6, 4, 4, false), &m)) return;
    fc_layout_rules_none(&rules);
    for (int lines = 0; lines < 2; lines++) {
        struct fc_place_milp_settings milp = {.time_s = 60};
        rules.lines = lines;
        for (int o = 0; o < (lines ? 2 : 1); o++) {
            struct fc_place_best best = {0};
            CU_ASSERT_EQUAL(fc_place_milp(&m, &rules, o, &milp, &best, &st), FC_OK);
            CU_ASSERT(best.proven && fc_layout_allowed(&m, &rules, &best.layout));
            CU_ASSERT_DOUBLE_EQUAL(best.value, o ? 9.70930987 : 28.0 / 18, 1e-7);
        }
        for (int o = 0; o < FC_PLACE_OBJECTIVES; o++) {
            static const double values[] = {28.0 / 18, 9.70930987, 5.919407133};
            struct fc_place_best best;
            CU_ASSERT_EQUAL(fc_place_local(&m, &rules, o, 3, 1, &best, &st), FC_OK);
            CU_ASSERT_EQUAL(fc_place_branch(&m, &rules, o, 1000000000, &best, &st), FC_OK);
            CU_ASSERT(best.proven && best.gap_percent == 0);
            CU_ASSERT_DOUBLE_EQUAL(best.value, values[o], 1e-7);
        }
    }
    fc_place_model_free(&m);
}

/* 8 x 8 nodes: proven in three dimensions; out of steps with a bound below the layout in six. */
static void large_meshes(void)
{
    struct fc_place_model m;
    struct fc_layout_rules rules;
    struct fc_status st = {0};
    struct fc_place_best best;
    fc_layout_rules_none(&rules);
    if (model_of(chip_of(3, 6, 8, 8, false), &m)) {
        for (int o = 0; o < 2; o++) {
            CU_ASSERT_EQUAL(fc_place_local(&m, &rules, o, 1, 2, &best, &st), FC_OK);
            CU_ASSERT_EQUAL(fc_place_branch(&m, &rules, o, 1000000000, &best, &st), FC_OK);
            CU_ASSERT(best.proven);
        }
        fc_place_model_free(&m);
    }
    if (model_of(chip_of(6, 4, 6, 6, true), &m)) {
        for (int o = 0; o < FC_PLACE_OBJECTIVES; o++) {
            CU_ASSERT_EQUAL(fc_place_local(&m, &rules, o, 1, 2, &best, &st), FC_OK);
            CU_ASSERT_EQUAL(fc_place_branch(&m, &rules, o, 100000, &best, &st), FC_OK);
            CU_ASSERT(best.bound > 0 && best.bound <= best.value && !best.proven);
            CU_ASSERT(fc_layout_allowed(&m, &rules, &best.layout));
        }
        struct fc_place_best none = {0};
        struct fc_place_milp_settings milp = {.time_s = 1};
        CU_ASSERT_EQUAL(fc_place_milp(&m, &rules, FC_PLACE_LOAD, &milp, &none, &st), FC_NO);
        CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "too large"));
        fc_place_model_free(&m);
    }
}

/* ---- latency and saturation ---- */

static const char chip16[] = "name: t\nclock: 500 MHz\nnetwork: {family: tmesh, dims: [3, 2], mesh: [3, 3], bridges: {x-: 0, y-: 2, "
                             "x+: 1, y+: 3}}\nlinks: {torus: {bandwidth: 2 GB/s, latency: 8 cycles}, mesh: {bandwidth: 8 GB/s, latency: 1 "
                             "cycle}, injection: {bandwidth: 8 GB/s}}\nrouter: {delay: 4 cycles, flow_control: cut-through, flit: 32 "
                             "B, vcs: 2, escape: dateline, buffer: 512 B, routing: dimension-order}\npacket: {min: 32 B, max: 160 B}\n";

static void front_of_a_small_machine(void)
{
    struct fc_machine machine;
    struct fc_status st = {0};
    struct fc_chip chip;
    struct fc_place_model m;
    struct fc_layout_rules rules;
    struct fc_served_layout list[2][6] = {{{.layout = {{1, 0, 3, 2}}}}, {{.layout = {{1, 0, 3, 2}}}}};
    size_t n[2] = {1, 1};
    if (machine_of(chip16, &machine, &st)) printf("\n    %s\n", st.message);
    CU_ASSERT_EQUAL(st.code, FC_OK);
    if (st.code || fc_chip_of_machine(&machine, &chip, &st) || !model_of(chip, &m)) return;
    fc_layout_rules_none(&rules);
    for (int again = 0; again < 2; again++)
        CU_ASSERT_EQUAL(fc_place_front(&machine, &m, &rules, -1, 0.02, 4, 1, NULL, list[again], &n[again], &st), FC_OK);
    CU_ASSERT(n[0] == 5 && n[1] == 5 && !memcmp(list[0], list[1], sizeof list[0]));
    size_t on_front = 0;
    for (size_t i = 0; i < n[0]; i++) {
        const struct fc_layout_service *s = &list[0][i].service;
        CU_ASSERT(list[0][i].allowed && s->deadlock_free && s->saturation > 0.02 && s->latency_cycles > 0);
        CU_ASSERT(isnan(s->latency_percent)); /* no calibration beside a temporary file */
        on_front += list[0][i].front;
        for (size_t j = 0; j < n[0] && list[0][i].front; j++)
            CU_ASSERT(list[0][j].service.latency_cycles >= s->latency_cycles ||
                      list[0][j].service.saturation <= s->saturation * 1.0003);
    }
    CU_ASSERT(on_front > 0);
    struct fc_layout_kernel kernel;
    CU_ASSERT_EQUAL(fc_layout_confirm(&machine, &list[0][0].layout, -1, 0.02, 2, 1, &kernel, &st), FC_OK);
    CU_ASSERT(kernel.runs == 2 && kernel.throughput > 0.02 && kernel.throughput_half_width >= 0);
    CU_ASSERT(fabs(kernel.latency_cycles / list[0][0].service.latency_cycles - 1) < 0.2);
    struct fc_layout_service shared; /* two channels for all: this layout can deadlock */
    CU_ASSERT_EQUAL(fc_layout_serve(&machine, &list[0][0].layout, FC_TMESH_SHARED, 0.02, &shared, &st), FC_OK);
    CU_ASSERT(!shared.deadlock_free);
    fc_place_model_free(&m);
    fc_machine_free(&machine);
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
    CU_pSuite search = CU_add_suite("place: search", NULL, NULL);
    CU_add_test(search, "all layouts of small chips, each tried alone", all_layouts_of_small_chips);
    CU_add_test(search, "pins and taken nodes", pins_and_taken_nodes);
    CU_add_test(search, "all layouts of the paper's chip", all_layouts_of_the_paper);
    CU_add_test(search, "least towns", towns);
    CU_add_test(search, "tree and integer program agree with all layouts", searches_agree);
    CU_add_test(search, "proofs for the paper's chip", proofs_of_the_paper);
    CU_add_test(search, "8 x 8 nodes, and six dimensions out of steps", large_meshes);
    CU_add_test(search, "latency, saturation and kernel of a small machine", front_of_a_small_machine);
    return 0;
}
