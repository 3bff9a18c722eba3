/* test_place_cuts.c - the proof of the greatest load by cuts, against all layouts of small chips: no bound is
 * above any layout, the best is found from a bad one, profiles leave none out; the integer program by
 * profiles on 3 x 3 nodes. */
#include "mapping/place/place_best.h"
#include "tests/place_chips.h"

struct shape {
    int n_dims;
    uint32_t k;
    int n_axes;
    uint32_t side[3];
    int order[3];
    bool compute, lines;
    int turns;
    double on_chip;
};
static const struct shape shapes[] = {
    {2, 4, 2, {2, 3}, {1, 0}, false, false, 0, 0},
    {3, 5, 2, {2, 3}, {0, 1}, true, false, 0, 0},
    {2, 6, 2, {3, 3}, {0, 1}, false, false, 0, 0},
    {2, 5, 2, {3, 3}, {1, 0}, true, true, 0, 0},
    {3, 4, 2, {3, 3}, {1, 0}, false, false, 0, 0},
    {3, 4, 2, {3, 3}, {0, 1}, false, true, 0, 0},
    {3, 4, 2, {3, 4}, {1, 0}, false, false, 0, 0},
    {3, 5, 2, {3, 4}, {0, 1}, true, false, 0, 0},
    {3, 6, 2, {3, 4}, {0, 1}, false, true, 0, 0},
    {3, 3, 2, {4, 3}, {1, 0}, false, true, 0, 0},
    {4, 3, 2, {3, 3}, {1, 0}, true, false, 0, 0},
    {4, 4, 2, {3, 4}, {0, 1}, false, false, 0, 0},
    {2, 4, 2, {3, 4}, {1, 0}, false, false, 1, 0},
    {3, 4, 2, {3, 3}, {1, 0}, false, false, 2, 0},
    {2, 4, 2, {4, 3}, {0, 1}, false, false, 0, 0.7},
    {2, 4, 2, {3, 3}, {1, 0}, false, false, 0, 40},
    {3, 4, 2, {3, 3}, {0, 1}, false, false, 0, 15},
    {1, 5, 1, {7}, {0}, false, false, 0, 0},
    {2, 5, 1, {6}, {0}, true, false, 0, 0},
    {2, 4, 2, {1, 8}, {1, 0}, false, false, 0, 0},
    {2, 4, 3, {2, 2, 3}, {2, 0, 1}, false, false, 0, 0},
    {2, 5, 3, {3, 2, 2}, {0, 2, 1}, true, true, 0, 0},
};

static bool shape_model(const struct shape *s, struct fc_place_model *m, struct fc_layout_rules *rules)
{
    struct fc_chip chip = chip_of(s->n_dims, s->k, 1, 1, s->compute);
    chip.n_axes = s->n_axes;
    memcpy(chip.side, s->side, sizeof s->side);
    memcpy(chip.order, s->order, sizeof s->order);
    chip.turns = s->turns;
    chip.on_chip = s->on_chip;
    fc_layout_rules_none(rules);
    rules->lines = s->lines;
    return model_of(chip, m);
}

/* Any layout, by the seed. */
static void draw(const struct fc_place_model *m, uint64_t seed, struct fc_bridge_layout *layout)
{
    uint32_t order[256];
    fc_random_permutation(11, seed, order, m->n_mesh);
    memset(layout, 0, sizeof *layout);
    memcpy(layout->node, order, (size_t)m->n * sizeof *order);
}

/* The worst of some layouts, allowed or not: where searches start from. */
static void bad_start(const struct fc_place_model *m, struct fc_place_best *best)
{
    memset(best, 0, sizeof *best);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct fc_bridge_layout layout;
        struct fc_layout_figures f;
        draw(m, seed, &layout);
        fc_layout_figure(m, &layout, NULL, &f);
        if (f.greatest_load <= best->figures.greatest_load) continue;
        best->layout = layout;
        best->figures = f;
    }
    best->value = best->figures.greatest_load;
    best->by = "a bad layout";
}

static void same_as_all_layouts(const struct fc_place_model *m, const struct fc_layout_rules *rules)
{
    struct fc_place_all_settings settings = {.symmetry = true, .threads = 1};
    struct fc_place_all all;
    struct fc_place_best best;
    struct fc_status st = {0};
    bad_start(m, &best);
    double start = best.value;
    CU_ASSERT_EQUAL(fc_place_all(m, rules, &settings, &all, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_place_cuts(m, rules, UINT64_MAX, &best, &st), FC_OK);
    if (st.code) return;
    double least = fmin(all.best[FC_PLACE_LOAD].figures.greatest_load, start);
    CU_ASSERT(best.proven && best.bound == best.value);
    CU_ASSERT_DOUBLE_EQUAL(best.value, least, 1e-8 * start);
    if (least < start * (1 - 1e-8)) CU_ASSERT(fc_layout_allowed(m, rules, &best.layout));
    for (uint64_t steps = 10; steps < best.steps; steps *= 4) { /* stopped before: still a bound */
        struct fc_place_best part;
        bad_start(m, &part);
        CU_ASSERT_EQUAL(fc_place_cuts(m, rules, steps, &part, &st), FC_OK);
        CU_ASSERT(!part.proven && part.bound <= least * (1 + 1e-9) && part.value >= least * (1 - 1e-9));
    }
    fc_place_all_free(&all);
}

static void best_of_small_chips(void)
{
    for (size_t i = 0; i < FC_COUNT(shapes); i++) {
        struct fc_place_model m;
        struct fc_layout_rules rules;
        if (!shape_model(&shapes[i], &m, &rules)) continue;
        same_as_all_layouts(&m, &rules);
        fc_place_model_free(&m);
    }
}

/* With all interfaces pinned, from one unit above what that layout has: no cut on the way to it may be above
 * its load. With some pinned, or nodes taken, the best of those that are left. */
static void every_layout_gets_through(void)
{
    for (uint64_t seed = 0; seed < 1500; seed++) {
        struct fc_place_model m;
        struct fc_layout_rules rules;
        struct fc_bridge_layout layout;
        struct fc_layout_figures f;
        struct fc_place_best best;
        struct fc_status st = {0};
        if (!shape_model(&shapes[seed % FC_COUNT(shapes)], &m, &rules)) continue;
        draw(&m, 1000 + seed, &layout);
        fc_layout_figure(&m, &layout, NULL, &f);
        for (int j = 0; j < m.n; j++) rules.pinned[j] = layout.node[j];
        if (fc_layout_allowed(&m, &rules, &layout)) {
            bad_start(&m, &best);
            best.figures.greatest_load = f.greatest_load * (1 + 1e-6) + (m.scale > 0 ? 1 / m.scale : 0);
            CU_ASSERT_EQUAL(fc_place_cuts(&m, &rules, UINT64_MAX, &best, &st), FC_OK);
            CU_ASSERT(best.proven && !memcmp(best.layout.node, layout.node, (size_t)m.n * sizeof *layout.node));
        }
        fc_place_model_free(&m);
    }
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct fc_place_model m;
        struct fc_layout_rules rules;
        struct fc_bridge_layout layout;
        uint8_t taken[16] = {0};
        if (!shape_model(&shapes[seed % 10], &m, &rules)) continue;
        draw(&m, seed, &layout);
        for (int j = 0; j < m.n; j++)
            if (fc_random_below(3, seed, (uint64_t)j, 3) == 0) rules.pinned[j] = layout.node[j];
        if (m.n_mesh > (uint32_t)m.n && !rules.lines) taken[fc_random_below(4, seed, 0, m.n_mesh)] = 1;
        for (int j = 0; j < m.n; j++) taken[layout.node[j]] = 0;
        rules.taken = taken;
        struct fc_status st = {0};
        if (!fc_layout_rules_check(&m, &rules, &st)) same_as_all_layouts(&m, &rules);
        fc_place_model_free(&m);
    }
}

/* ---- profiles ---- */

struct counted {
    uint32_t n_layouts, n_below, n_found, n_bounded;
};

/* Whether the layout, or its mirror along the first axis, with the pairs that are alike exchanged, has the
 * profile. */
static bool has_profile(const struct fc_place_model *m, const struct fc_bridge_layout *layout, const uint32_t *position)
{
    int axis = m->chip.order[0];
    uint32_t side = m->chip.side[axis];
    for (int mirror = 0; mirror < 2; mirror++) {
        bool same = true;
        for (int d = 0; d < m->chip.n_dims && same; d++) {
            uint32_t x[2];
            for (int w = 0; w < 2; w++) {
                uint32_t u = layout->node[2 * d + w], at = axis == 1 ? u % side : u / (m->n_mesh / side);
                x[w] = mirror ? side - 1 - at : at;
            }
            const uint32_t *p = position + 2 * d;
            same = (x[0] == p[0] && x[1] == p[1]) || (x[1] == p[0] && x[0] == p[1]);
        }
        if (same) return true;
    }
    return false;
}

static void look_up(const struct fc_place_model *m, const struct fc_place_profiles *profiles, double below, int i,
                    struct fc_bridge_layout *layout, struct counted *c)
{
    struct fc_layout_figures f;
    for (uint32_t u = 0; u < m->n_mesh && i < m->n; u++) {
        bool other = true;
        for (int j = 0; j < i; j++) other = other && layout->node[j] != u;
        layout->node[i] = u;
        if (other) look_up(m, profiles, below, i + 1, layout, c);
    }
    if (i < m->n) return;
    fc_layout_figure(m, layout, NULL, &f);
    c->n_layouts++;
    if (f.greatest_load >= below * (1 - 1e-9)) return;
    c->n_below++;
    bool found = false, bounded = true;
    for (uint32_t p = 0; p < profiles->n; p++) {
        if (!has_profile(m, layout, profiles->profile[p].position)) continue;
        found = true;
        bounded = bounded && profiles->profile[p].bound <= f.greatest_load * (1 + 1e-9);
    }
    c->n_found += found;
    c->n_bounded += found && bounded;
}

static void profiles_leave_none_out(void)
{
    static const double parts[] = {1.2, 1.6, 100};
    for (int column_first = 0; column_first < 2; column_first++)
        for (size_t part = 0; part < FC_COUNT(parts); part++) {
            struct fc_chip chip = chip_of(2, 5, 3, 3, column_first);
            struct fc_place_model m;
            struct fc_layout_rules rules;
            struct fc_arena arena = {0};
            struct fc_place_profiles profiles;
            struct fc_status st = {0};
            struct fc_bridge_layout layout = {{0}};
            struct counted c = {0};
            if (column_first) chip.order[0] = 0, chip.order[1] = 1;
            if (!model_of(chip, &m)) continue;
            fc_layout_rules_none(&rules);
            struct fc_place_best best;
            CU_ASSERT_EQUAL(fc_place_local(&m, &rules, FC_PLACE_LOAD, 5, 1, &best, &st), FC_OK);
            double below = best.value * parts[part];
            CU_ASSERT_EQUAL(fc_place_profiles_find(&m, &rules, below, 1000, &arena, &profiles, &st), FC_OK);
            look_up(&m, &profiles, below, 0, &layout, &c);
            CU_ASSERT(c.n_layouts == 3024 && c.n_below > 0 && c.n_found == c.n_below && c.n_bounded == c.n_below);
            for (uint32_t p = 1; p < profiles.n; p++)
                CU_ASSERT(profiles.profile[p - 1].bound <= profiles.profile[p].bound);
            CU_ASSERT(part > 1 || profiles.n < 27); /* of 3^4, mirrors and pairs once */
            CU_ASSERT_EQUAL(fc_place_profiles_find(&m, &rules, INFINITY, 2, &arena, &profiles, &st), FC_NO);
            fc_arena_free(&arena);
            fc_place_model_free(&m);
        }
}

/* ---- the integer program and all layouts, every objective on 3 x 3 nodes ---- */

static void program_on_3x3(void)
{
    for (int column_first = 0; column_first < 2; column_first++)
        for (int lines = 0; lines < 2; lines++) {
            struct fc_chip chip = chip_of(3, 4, 3, 3, false);
            struct fc_place_model m;
            struct fc_layout_rules rules;
            struct fc_place_all_settings settings = {.symmetry = true, .threads = 1};
            struct fc_place_all all;
            struct fc_status st = {0};
            if (column_first) chip.order[0] = 0, chip.order[1] = 1;
            if (!model_of(chip, &m)) continue;
            fc_layout_rules_none(&rules);
            rules.lines = lines;
            CU_ASSERT_EQUAL(fc_place_all(&m, &rules, &settings, &all, &st), FC_OK);
            for (int o = 0; o < FC_PLACE_OBJECTIVES && !st.code; o++) {
                struct fc_place_milp_settings milp = {.time_s = 60};
                struct fc_place_best best = {0}; /* nothing known: the program finds it */
                CU_ASSERT_EQUAL(fc_place_milp(&m, &rules, o, &milp, &best, &st), FC_OK);
                CU_ASSERT(best.proven && fc_layout_allowed(&m, &rules, &best.layout));
                CU_ASSERT_DOUBLE_EQUAL(best.value, fc_layout_value(&all.best[o].figures, o), 1e-8);
            }
            fc_place_all_free(&all);
            fc_place_model_free(&m);
        }
}

/* ---- larger meshes: what docs/notes/place.md says ---- */

static void eight_by_eight(void)
{
    struct fc_place_model m;
    struct fc_layout_rules rules;
    struct fc_status st = {0};
    struct fc_place_best best;
    fc_layout_rules_none(&rules);
    if (!model_of(chip_of(4, 4, 8, 8, false), &m)) return;
    CU_ASSERT_EQUAL(fc_place_local(&m, &rules, FC_PLACE_LOAD, 1, 1, &best, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_place_cuts(&m, &rules, 1000000000, &best, &st), FC_OK);
    CU_ASSERT(best.proven && !strcmp(best.by, "cuts"));
    CU_ASSERT_DOUBLE_EQUAL(best.value, 21.168469, 1e-6);
    fc_place_model_free(&m);
}

int suite_place_cuts(void)
{
    CU_pSuite cuts = CU_add_suite("place: cuts", NULL, NULL);
    CU_add_test(cuts, "the best of small chips from a bad layout, and every bound on the way", best_of_small_chips);
    CU_add_test(cuts, "no cut is above any layout, also with pins", every_layout_gets_through);
    CU_add_test(cuts, "profiles leave no layout out", profiles_leave_none_out);
    CU_add_test(cuts, "integer programs and all layouts agree on 3 x 3 nodes", program_on_3x3);
    CU_add_test(cuts, "8 x 8 nodes and four dimensions", eight_by_eight);
    return 0;
}
