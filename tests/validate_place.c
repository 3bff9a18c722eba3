/* validate_place.c - layouts of the TMesh paper's chip and of larger ones: what was to be shown, with its CPU
 * seconds. A row a statement: value, bound, seconds, limits, whether they hold; exit status 1 where one is
 * missed. The integer programs are given wall time (GLPK knows no other). Rows without a limit are for
 * information. `make validate` */
#include "mapping/place/place_best.h"

#include <math.h>
#include <string.h>

static int n_missed;

static void row(const char *what, const struct fc_place_best *b, double value, double seconds, double most_s,
                double most_gap)
{
    double gap = b->proven ? 0 : b->gap_percent;
    bool limited = most_s > 0,
         holds = seconds <= most_s && gap <= most_gap && (isnan(value) || fabs(b->value - value) < 1e-6);
    printf("%-44s %10.6f %10.6f %7.1f %8.2f %7.3g %s\n", what, b->value, b->bound, gap, seconds, most_s,
           !limited ? "for information"
           : holds  ? "ok"
                    : "MISSED");
    n_missed += limited && !holds;
}

static bool make(int n_dims, uint32_t k, uint32_t side, struct fc_place_model *m)
{
    struct fc_chip c = {.n_dims = n_dims,
                        .n_axes = 2,
                        .side = {side, side},
                        .order = {1, 0},
                        .mesh_bytes_per_s = 25.6e9,
                        .torus_bytes_per_s = 2e9};
    struct fc_status st = {0};
    for (int d = 0; d < n_dims; d++) c.k[d] = k;
    if (!fc_place_model_make(&c, m, &st)) return true;
    printf("%s\n", st.message);
    n_missed++;
    return false;
}

static void failed(const struct fc_status *st)
{
    printf("%s\n", st->message);
    n_missed++;
}

/* All 16!/10! layouts, one by one; returns the best of each objective. */
static void all_layouts(const struct fc_place_model *m, const struct fc_layout_rules *rules, bool symmetry,
                        double most_s, double *best)
{
    struct fc_place_all_settings settings = {.symmetry = symmetry, .threads = 1};
    struct fc_place_all all;
    struct fc_status st = {0};
    double start = fc_cpu_s();
    if (fc_place_all(m, rules, &settings, &all, &st)) {
        failed(&st);
        return;
    }
    double seconds = fc_cpu_s() - start;
    bool holds = seconds <= most_s && all.exact && all.best[0].layouts == (rules->lines ? 288 : 1728);
    printf("%-44s %10llu %10llu %7s %8.2f %7.3g %s\n",
           symmetry ? "different layouts, all allowed" : "layouts, all allowed", (unsigned long long)all.evaluated,
           (unsigned long long)all.layouts, "", seconds, most_s, holds ? "ok" : "MISSED");
    n_missed += !holds;
    for (int o = 0; o < FC_PLACE_OBJECTIVES; o++) best[o] = fc_layout_value(&all.best[o].figures, o);
    fc_place_all_free(&all);
}

static void program(const struct fc_place_model *m, const struct fc_layout_rules *rules, int objective, bool bare,
                    const char *what, double value, double time_s, double most_s)
{
    struct fc_place_milp_settings settings = {.time_s = time_s, .bare = bare};
    struct fc_place_best best = {0};
    struct fc_status st = {0};
    double start = fc_cpu_s();
    if (fc_place_milp(m, rules, objective, &settings, &best, &st))
        failed(&st);
    else
        row(what, &best, value, fc_cpu_s() - start, most_s, 0);
}

static void papers_chip(void)
{
    struct fc_place_model m;
    struct fc_layout_rules rules;
    double best[2][FC_PLACE_OBJECTIVES] = {{0}};
    if (!make(3, 6, 4, &m)) return;
    fc_layout_rules_none(&rules);
    all_layouts(&m, &rules, false, 1.5, best[0]);
    all_layouts(&m, &rules, true, 0.5, best[0]);
    program(&m, &rules, FC_PLACE_HOPS, true, "4x4 hops, plain integer program", 28.0 / 18, 600, 60);
    program(&m, &rules, FC_PLACE_HOPS, false, "4x4 hops, with the least town", 28.0 / 18, 600, 60);
    program(&m, &rules, FC_PLACE_WEIGHTED, false, "4x4 weighted hops, integer program", best[0][1], 600, 60);
    rules.lines = true;
    all_layouts(&m, &rules, false, 0.5, best[1]);
    program(&m, &rules, FC_PLACE_HOPS, true, "4x4 hops, lines, plain integer program", 28.0 / 18, 600, 2);
    program(&m, &rules, FC_PLACE_WEIGHTED, false, "4x4 weighted hops, lines, integer program", best[1][1], 600, 60);
    program(&m, &rules, FC_PLACE_LOAD, false, "4x4 greatest load, lines, integer program", best[1][2], 600, 60);
    rules.lines = false;
    program(&m, &rules, FC_PLACE_LOAD, false, "4x4 greatest load, integer program", best[0][2], 600, 60);
    fc_place_model_free(&m);
}

static void larger(int n_dims, uint32_t k, uint32_t side, double most_gap)
{
    struct fc_place_model m;
    struct fc_layout_rules rules;
    char what[64];
    if (!make(n_dims, k, side, &m)) return;
    fc_layout_rules_none(&rules);
    for (int o = 0; o < FC_PLACE_OBJECTIVES; o++) {
        struct fc_place_best best;
        struct fc_status st = {0};
        double start = fc_cpu_s();
        if (fc_place_best_find(&m, &rules, o, most_gap > 0 ? 60 : 10, 1, &best, &st)) {
            failed(&st);
            continue;
        }
        snprintf(what, sizeof what, "%ux%u, %d dimensions, %s", side, side, n_dims, fc_place_objective_names[o]);
        row(what, &best, NAN, fc_cpu_s() - start, most_gap > 0 ? 60 : 0, most_gap);
    }
    fc_place_model_free(&m);
}

int main(void)
{
    printf("%-44s %10s %10s %7s %8s %7s\n", "", "value", "bound", "gap %", "CPU s", "limit");
    papers_chip();
    larger(3, 6, 6, 5);
    larger(3, 6, 8, 5);
    larger(4, 4, 8, 5);
    larger(5, 4, 8, 5);
    larger(6, 4, 8, 5);
    larger(6, 4, 10, 0);
    return n_missed ? 1 : 0;
}
