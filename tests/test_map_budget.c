/* test_map_budget.c - the budget of a search pays for all that is done, in counted work: starts, tables, the bound and
 * the evaluation; what is too dear is left out, the same for any number of threads. */
#include "mapping/work.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool open_job(const char *machine_name, const char *pattern, struct fc_machine *machine, struct fc_network *net,
                     struct fc_demand *d)
{
    struct fc_status st = {0};
    if (fc_machine_load(machine_name, machine, &st) || fc_network_build(machine, net, &st) ||
        fc_demand_from_pattern(net, pattern, 1, d, &st)) {
        CU_FAIL(st.message);
        return false;
    }
    return true;
}

static void close_job(struct fc_machine *machine, struct fc_network *net, struct fc_demand *d)
{
    fc_demand_free(d);
    fc_network_free(net);
    fc_machine_free(machine);
}

static double time_of(const struct fc_network *net, const struct fc_demand *d, const struct fc_mapping *m, double share)
{
    struct fc_placement placement = {d->n_tasks, m->node};
    struct fc_load_settings settings = {.seed = 1, .split_share = share};
    struct fc_load load;
    struct fc_load_summary summary;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_load_solve(net, d, &placement, &settings, &load, &st), FC_OK);
    fc_load_summarise(net, &load, &settings, &summary);
    fc_load_free(&load);
    return summary.max_link_s;
}

/* Jobs whose starts, tables and evaluations once took up to 160 times the budget. */
static const struct {
    const char *machine, *pattern;
    double enough_s; /* of a budget that pays for a search */
} jobs[] = {
    {"bgl-4k", "stencil2d:grid=64x64", 0.6},     {"bgl-512", "stencil2d:grid=64x16", 0.4},
    {"tmesh-216", "stencil3d:grid=6x6x6", 0.15}, {"perlmutter", "stencil3d:grid=8x8x8", 0.2},
    {"percs-16", "stencil2d:grid=64x64", 0.3},   {"qsnet-64", "multicast:tasks=256,targets=5,stride=7", 0.1},
};

/* No more work than the budget's, but where that does not pay for the answer's own evaluation; the same mapping with
 * two threads; a search where it is enough. */
static void test_kept(void)
{
    static const double budgets[] = {0.02, 0.1, 0};
    for (size_t i = 0; i < FC_COUNT(jobs); i++) {
        struct fc_machine machine;
        struct fc_network net;
        struct fc_demand d;
        if (!open_job(jobs[i].machine, jobs[i].pattern, &machine, &net, &d)) return;
        for (size_t b = 0; b < FC_COUNT(budgets); b++) {
            double budget_s = budgets[b] > 0 ? budgets[b] : jobs[i].enough_s;
            struct fc_mapping one, two;
            struct fc_status st = {0};
            struct fc_map_problem problem = {.net = &net,
                                             .demand = &d,
                                             .seed = 1,
                                             .threads = 1,
                                             .time_s = budget_s,
                                             .split_share = fmin(1, budget_s / 4)};
            CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "optimize", &one, &st), FC_OK);
            double least = (double)(fc_load_work(&problem) + fc_bound_work(&problem)) + 30.0 * (double)d.n_entries +
                           20.0 * d.n_tasks + 2.0 * net.n_links;
            double allowed = fmax(1.1 * budget_s * FC_WORK_PER_S, least);
            CU_ASSERT(one.work > 0 && (double)one.work <= allowed);
            if ((double)one.work > allowed)
                printf("\n    %s %s, %g s: %.3g of %.3g\n", jobs[i].machine, jobs[i].pattern, budget_s,
                       (double)one.work, allowed);
            if (budgets[b] == 0) CU_ASSERT(!one.unsearched);
            if (b < 2) {
                problem.threads = 2;
                CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "optimize", &two, &st), FC_OK);
                CU_ASSERT(!memcmp(one.core, two.core, d.n_tasks * sizeof *one.core) && one.work == two.work);
                fc_mapping_free(&two);
            }
            fc_mapping_free(&one);
        }
        close_job(&machine, &net, &d);
    }
}

/* A budget that pays for nothing: rank order, and it is said; with starts_free the starts are tried all the same. */
static void test_too_small(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_status st = {0};
    if (!open_job("percs-16", "stencil2d:grid=64x64", &machine, &net, &d)) return;
    struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1, .time_s = 1e-6};
    struct fc_mapping in_order, none, starts;
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "def", &in_order, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "optimize", &none, &st), FC_OK);
    CU_ASSERT(none.unsearched && !in_order.unsearched);
    CU_ASSERT(!memcmp(none.core, in_order.core, d.n_tasks * sizeof *none.core));
    problem.starts_free = true;
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "optimize", &starts, &st), FC_OK);
    CU_ASSERT(time_of(&net, &d, &starts, 0) < time_of(&net, &d, &in_order, 0));
    fc_mapping_free(&in_order);
    fc_mapping_free(&none);
    fc_mapping_free(&starts);
    close_job(&machine, &net, &d);
}

/* Mappings that are there already are starts that cost nothing, and the answer is not above the best of them even where
 * the search's even splits are not the solver's. */
static void test_made(void)
{
    static const char *const names[] = {"def", "random", "fold", "scotch"};
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_mapping m[FC_COUNT(names)], found;
    struct fc_map_made made[FC_COUNT(names)];
    struct fc_status st = {0};
    double best_s = INFINITY;
    if (!open_job("bgl-64", "stencil2d:grid=16x8", &machine, &net, &d)) return;
    struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1, .time_s = 0.1, .split_share = 0.02};
    for (size_t i = 0; i < FC_COUNT(names); i++) {
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, names[i], &m[i], &st), FC_OK);
        made[i] = (struct fc_map_made){names[i], &m[i], time_of(&net, &d, &m[i], problem.split_share), 1};
        best_s = fmin(best_s, made[i].time_s);
    }
    for (int small = 0; small < 2; small++) {
        struct fc_map_problem with = problem;
        with.made = made;
        with.n_made = FC_COUNT(made);
        if (small) with.time_s = 1e-6;
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&with, "optimize", &found, &st), FC_OK);
        CU_ASSERT(time_of(&net, &d, &found, problem.split_share) <= best_s * (1 + 1e-12));
        CU_ASSERT(found.unsearched == (small == 1));
        fc_mapping_free(&found);
    }
    for (size_t i = 0; i < FC_COUNT(names); i++) fc_mapping_free(&m[i]);
    close_job(&machine, &net, &d);
}

/* Less work on the adaptive split: all traffic is still sent, and the split found is hardly worse. */
static void test_split_share(void)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_mapping m;
    struct fc_status st = {0};
    if (!open_job("bgl-64", "stencil2d:grid=16x8", &machine, &net, &d)) return;
    struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1};
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "random", &m, &st), FC_OK);
    double whole_s = time_of(&net, &d, &m, 0), tenth_s = time_of(&net, &d, &m, 0.1);
    CU_ASSERT_EQUAL(whole_s, time_of(&net, &d, &m, 1));
    CU_ASSERT(tenth_s >= whole_s * 0.999 && tenth_s <= whole_s * 1.1);
    fc_mapping_free(&m);
    close_job(&machine, &net, &d);
}

int suite_map_budget(void)
{
    static const CU_TestInfo tests[] = {
        {"budget kept, on any number of threads", test_kept},
        {"too small for anything", test_too_small},
        {"mappings that are there", test_made},
        {"less work on the adaptive split", test_split_share},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("map budget", tests);
}
