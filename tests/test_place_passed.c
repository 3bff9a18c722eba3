/* test_place_passed.c - bridges that packets pass on their own mesh channel: against every pair of cores and every offset,
 * and the front of them and weighted hops against all layouts. */
#include "tests/place_chips.h"

/* Nodes `a` and `b` strictly between u and v, one axis after the other. */
static int between(const struct fc_chip *c, uint32_t u, uint32_t v, uint32_t a, uint32_t b)
{
    int n = 0;
    for (int i = 0; i < 2; i++) {
        uint32_t unit = c->order[i] == 1 ? 1 : c->side[1];
        for (;;) {
            int at = (int)(c->order[i] == 1 ? u % c->side[1] : u / c->side[1]),
                to = (int)(c->order[i] == 1 ? v % c->side[1] : v / c->side[1]);
            if (at == to) break;
            u = to > at ? u + unit : u - unit;
            n += u != v && (u == a || u == b);
        }
    }
    return n;
}

/* The packets of cores s and t whose chips are `offset` apart; half a ring is gone each way by half of them. */
static double passed_of(const struct fc_chip *c, const uint32_t *node, uint32_t s, uint32_t t, const uint32_t *offset)
{
    double sum = 0;
    int n = c->n_dims, ways = 1 << n;
    for (int way = 0; way < ways; way++) { /* bit d: dimension d in - */
        double share = 1;
        uint32_t at = s;
        int passed = 0;
        bool leaves = false;
        for (int d = 0; d < n; d++) {
            bool minus = way >> d & 1;
            uint32_t o = offset[d], hops = minus ? c->k[d] - o : o, other = c->k[d] - hops;
            share *= o == 0 ? (minus ? 0 : 1) : hops < other ? 1 : hops == other ? 0.5 : 0;
            for (uint32_t h = 0; o > 0 && h < hops && share > 0; h++) {
                passed += between(c, at, node[2 * d + minus], node[2 * d + !minus], FC_NONE);
                at = node[2 * d + !minus];
                leaves = true;
            }
        }
        if (leaves && share > 0) sum += share * (passed + between(c, at, t, node[2 * n - 2], node[2 * n - 1]));
    }
    return sum;
}

static double passed_of_all(const struct fc_chip *c, uint32_t n_mesh, const uint32_t *node)
{
    double sum = 0, pairs = 0;
    uint32_t chips = 1;
    bool core[64];
    for (uint32_t u = 0; u < n_mesh; u++) core[u] = true;
    for (int i = 0; i < 2 * c->n_dims; i++) core[node[i]] = c->bridges_compute;
    for (int d = 0; d < c->n_dims; d++) chips *= c->k[d];
    for (uint32_t chip = 0; chip < chips; chip++)
        for (uint32_t s = 0; s < n_mesh; s++)
            for (uint32_t t = 0; t < n_mesh; t++) {
                uint32_t offset[FC_MAX_DIMS], rest = chip;
                if (!core[s] || !core[t] || (chip == 0 && s == t)) continue; /* to all others */
                for (int d = 0; d < c->n_dims; rest /= c->k[d], d++) offset[d] = rest % c->k[d];
                sum += passed_of(c, node, s, t, offset);
                pairs++;
            }
    return sum / pairs;
}

static void passed_of_all_offsets(void)
{
    for (int i = 0; i < 6; i++) {
        struct fc_chip c = chip_of(2 + i % 2, 3 + (uint32_t)i % 3, 3, 3 + (uint32_t)i / 3, i & 1);
        struct fc_place_model m;
        if (i >= 2) c.order[0] = 0, c.order[1] = 1;
        if (!model_of(c, &m)) continue;
        for (uint64_t draw = 0; draw < 5; draw++) {
            struct fc_bridge_layout layout;
            struct fc_layout_figures f;
            for (int k = 0; k < m.n; k++)
                for (uint64_t again = 0, known = 1; known; again++) {
                    layout.node[k] = (uint32_t)fc_random_below(7, draw * 8 + (uint64_t)k, again, m.n_mesh);
                    known = 0;
                    for (int j = 0; j < k; j++) known |= layout.node[j] == layout.node[k];
                }
            fc_layout_figure(&m, &layout, NULL, &f);
            CU_ASSERT_DOUBLE_EQUAL(f.passed, passed_of_all(&c, m.n_mesh, layout.node), 1e-12);
        }
        fc_place_model_free(&m);
    }
}

/* 9 x 8 x 7 x 6 layouts: each is beaten, or equalled, by one of the front, and none of the front by another. */
static void front_of_all_layouts(void)
{
    struct fc_arena arena = {0};
    struct fc_place_model m;
    struct fc_layout_rules rules;
    struct fc_status st = {0};
    struct fc_layout_point *front;
    uint32_t n, layouts = 0, covered = 0;
    if (!model_of(chip_of(2, 4, 3, 3, true), &m)) return;
    fc_layout_rules_none(&rules);
    for (int pinned = 0; pinned < 2; pinned++) {
        layouts = covered = 0;
        if (pinned) rules.pinned[0] = 1; /* no symmetry */
        CU_ASSERT_EQUAL_FATAL(fc_place_passed_front(&m, &rules, &arena, &front, &n, &st), FC_OK);
        CU_ASSERT(n > 1);
        for (uint32_t f = 1; f < n; f++)
            CU_ASSERT(front[f].figures.weighted_hops > front[f - 1].figures.weighted_hops &&
                      front[f].figures.passed < front[f - 1].figures.passed);
        for (uint32_t code = 0; code < 9 * 9 * 9 * 9; code++) {
            struct fc_bridge_layout layout = {{code % 9, code / 9 % 9, code / 81 % 9, code / 729}};
            struct fc_layout_figures a;
            bool apart = true, beaten = false;
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < i; j++) apart = apart && layout.node[i] != layout.node[j];
            if (!apart || !fc_layout_allowed(&m, &rules, &layout)) continue;
            fc_layout_figure(&m, &layout, NULL, &a);
            for (uint32_t f = 0; f < n; f++)
                beaten = beaten || (front[f].figures.weighted_hops <= a.weighted_hops + 1e-9 &&
                                    front[f].figures.passed <= a.passed + 1e-9);
            layouts++;
            covered += beaten;
        }
        CU_ASSERT_EQUAL(layouts, pinned ? 336 : 3024);
        CU_ASSERT_EQUAL(covered, layouts);
    }
    fc_arena_free(&arena);
    fc_place_model_free(&m);
}

int suite_place_passed(void)
{
    CU_pSuite suite = CU_add_suite("place: passed bridges", NULL, NULL);
    if (!suite) return 1;
    CU_ADD_TEST(suite, passed_of_all_offsets);
    CU_ADD_TEST(suite, front_of_all_layouts);
    return 0;
}
