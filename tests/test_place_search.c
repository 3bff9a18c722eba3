/* test_place_search.c - searches of layouts against each other: every layout tried alone, all of them by
 * vectors, branch and bound, integer programs, least towns; the front of a small machine. */
#include "mapping/place/place_best.h"
#include "mapping/place/place_service.h"
#include "tests/place_chips.h"

/* ---- all layouts ---- */

/* Every layout by the model's own figures. */
struct tried {
    double best[FC_PLACE_OBJECTIVES];
    uint64_t layouts, count[FC_PLACE_OBJECTIVES], odd; /* odd: turn sums; none is */
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

static void try_all(const struct fc_place_model *m, const struct fc_layout_rules *rules, int i,
                    struct fc_bridge_layout *layout, struct tried *t)
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
    t->odd += fc_layout_turn_sum(m, layout) % 2;
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
        struct fc_bridge_layout layout = {{0}};
        struct tried t = {0};
        if (!small_model(i, &m, &rules)) continue;
        try_all(&m, &rules, 0, &layout, &t);
        CU_ASSERT_EQUAL((uint64_t)fc_place_count(&m, &rules), t.layouts);
        CU_ASSERT_EQUAL(t.odd, 0);
        CU_ASSERT(fc_town_bound(&m) <= t.best[FC_PLACE_HOPS] * m.turn_pairs + 1e-9);
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
    struct fc_bridge_layout layout = {{0}};
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

/* The paper's chip: 16!/10! layouts, the least mean of turn hops in 1728 of them; the same for any threads.
 */
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
        for (uint32_t f = 0; f < all.n_front && !small[i].turns;
             f++) { /* least weighted hops under each load of the front */
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

static const char chip16[] =
    "name: t\nclock: 500 MHz\nnetwork: {family: tmesh, dims: [3, 2], mesh: [3, 3], bridges: {x-: 0, y-: 2, "
    "x+: 1, y+: 3}}\nlinks: {torus: {bandwidth: 2 GB/s, latency: 8 cycles}, mesh: {bandwidth: 8 GB/s, "
    "latency: 1 "
    "cycle}, injection: {bandwidth: 8 GB/s}}\nrouter: {delay: 4 cycles, flow_control: cut-through, flit: 32 "
    "B, vcs: 2, escape: dateline, buffer: 512 B, routing: dimension-order}\npacket: {min: 32 B, max: 160 "
    "B}\n";

static void front_of_a_small_machine(void)
{
    struct fc_machine machine;
    struct fc_status st = {0};
    struct fc_chip chip;
    struct fc_place_model m;
    struct fc_layout_rules rules;
    struct fc_served_layout list[2][6] = {{{.layout = {{1, 0, 3, 2}}}}, {{.layout = {{1, 0, 3, 2}}}}};
    size_t n[2] = {1, 1};
    if (fc_test_machine(chip16, &machine, &st)) printf("\n    %s\n", st.message);
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
    struct fc_layout_kernel kernel, loaded;
    struct fc_layout_confirming how = {
        .load_flits_per_cycle = 0.02, .half_width_share = 1e-9, .most_runs = 4, .seed = 1};
    CU_ASSERT_EQUAL(fc_layout_confirm(&machine, &list[0][0].layout, -1, &how, &kernel, &st), FC_OK);
    CU_ASSERT(kernel.runs == 4 && kernel.throughput > 0.02 && kernel.throughput_half_width > 0);
    CU_ASSERT(fabs(kernel.latency_cycles / list[0][0].service.latency_cycles - 1) < 0.2);
    CU_ASSERT(kernel.window_cycles > 0 && fmod(kernel.window_cycles, 500) == 0);
    how.half_width_share = 1; /* any interval is narrow enough */
    how.on_chip = 2;
    CU_ASSERT_EQUAL(fc_layout_confirm(&machine, &list[0][0].layout, -1, &how, &loaded, &st), FC_OK);
    CU_ASSERT(loaded.runs == 3 &&
              loaded.latency_cycles > kernel.latency_cycles); /* the chip's own traffic is in the way */
    how.least_runs = 2;
    how.half_width_share = 1e-9;
    how.budget_s = 1e-6;
    CU_ASSERT_EQUAL(fc_layout_confirm(&machine, &list[0][0].layout, -1, &how, &loaded, &st), FC_OK);
    CU_ASSERT_EQUAL(loaded.runs, 2);
    struct fc_layout_service shared; /* two channels for all: this layout can deadlock */
    CU_ASSERT_EQUAL(fc_layout_serve(&machine, &list[0][0].layout, FC_TMESH_SHARED, 0.02, &shared, &st), FC_OK);
    CU_ASSERT(!shared.deadlock_free);
    fc_place_model_free(&m);
    fc_machine_free(&machine);
}

/* `lines` keeps its word: every layout that it allows on these chips is certified with separate channels. */
static void lines_are_safe(void)
{
    static const struct {
        const char *keys;
        uint32_t n_random; /* layouts drawn at random; 0: all */
    } chips[] = {{"dims: [5, 4], mesh: [3, 3], bridges: {x-: 0, y-: 3, x+: 1, y+: 4}", 0},
                 {"dims: [4, 5], mesh: [3, 3], mesh_order: column-first, bridges: {x-: 0, y-: 3, x+: 1, y+: 4}", 0},
                 {"dims: [4, 4, 4], mesh: [4, 4], bridges: {x-: 0, y-: 4, z-: 8, x+: 1, y+: 5, z+: 9}", 12}};
    for (size_t i = 0; i < FC_COUNT(chips); i++) {
        char yaml[512];
        struct fc_machine machine, made;
        struct fc_chip chip;
        struct fc_place_model m;
        struct fc_layout_rules rules;
        struct fc_status st = {0};
        snprintf(yaml, sizeof yaml,
                 "name: t\nnetwork: {family: tmesh, %s}\nlinks: {torus: {bandwidth: 2 GB/s, latency: 1 ns}, "
                 "mesh: {bandwidth: 8 GB/s, latency: 1 ns}}\n",
                 chips[i].keys);
        CU_ASSERT_EQUAL(fc_test_machine(yaml, &machine, &st), FC_OK);
        if (st.code || fc_chip_of_machine(&machine, &chip, &st) || !model_of(chip, &m)) continue;
        fc_layout_rules_none(&rules);
        rules.lines = true;
        uint32_t tried = 0, all = m.n_mesh * m.n_mesh * m.n_mesh * m.n_mesh;
        for (uint32_t x = 0; x < all && (!chips[i].n_random || tried < chips[i].n_random); x++) {
            struct fc_bridge_layout layout = {{x % m.n_mesh, x / m.n_mesh % m.n_mesh,
                                               x / m.n_mesh / m.n_mesh % m.n_mesh, x / m.n_mesh / m.n_mesh / m.n_mesh}};
            for (int j = 0; j < m.n && chips[i].n_random; j++)
                layout.node[j] = (uint32_t)fc_random_below(5, x, (uint64_t)j, m.n_mesh);
            struct fc_network net;
            struct fc_certificate certificate;
            if (!fc_layout_allowed(&m, &rules, &layout)) continue;
            tried++;
            if (fc_layout_machine(&machine, &layout, FC_TMESH_SEPARATE, &made, &st) ||
                fc_network_build(&made, &net, &st) || fc_certify(&net, NULL, &certificate, &st))
                break;
            CU_ASSERT(certificate.safe && !strcmp(certificate.policy, "separate"));
            fc_certificate_free(&certificate);
            fc_network_free(&net);
            fc_machine_free(&made);
        }
        CU_ASSERT_EQUAL(st.code, FC_OK);
        CU_ASSERT_EQUAL(tried, chips[i].n_random ? chips[i].n_random : (uint32_t)fc_place_count(&m, &rules));
        fc_place_model_free(&m);
        fc_machine_free(&machine);
    }
}

int suite_place_search(void)
{
    CU_pSuite search = CU_add_suite("place: search", NULL, NULL);
    CU_add_test(search, "all layouts of small chips, each tried alone", all_layouts_of_small_chips);
    CU_add_test(search, "pins and taken nodes", pins_and_taken_nodes);
    CU_add_test(search, "all layouts of the paper's chip", all_layouts_of_the_paper);
    CU_add_test(search, "least towns", towns);
    CU_add_test(search, "tree and integer program agree with all layouts", searches_agree);
    CU_add_test(search, "proofs for the paper's chip", proofs_of_the_paper);
    CU_add_test(search, "8 x 8 nodes, and six dimensions out of steps", large_meshes);
    CU_add_test(search, "latency, saturation and kernel of a small machine", front_of_a_small_machine);
    CU_add_test(search, "layouts on lines are certified with separate channels", lines_are_safe);
    return 0;
}
