/* test_even_pairs.c - the optimizer's start that cuts a grid evenly for all pairs of groups: shifts that are a group, loads
 * counted anew message by message, what the search makes of it, the same for any number of threads. */
#include "mapping/even_pairs.h"
#include "mapping/mapping.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct fc_task_torus make_torus(int n, const uint32_t *side, const double *weight)
{
    struct fc_task_torus torus = {.n = n, .n_tasks = 1};
    for (int d = 0; d < n; d++) {
        torus.side[d] = side[d];
        torus.stride[d] = torus.n_tasks;
        torus.weight[d] = weight[d];
        torus.n_tasks *= side[d];
    }
    return torus;
}

static void check_shifts(int dims, const uint32_t *side, uint32_t n)
{
    static const double weight[] = {1, 1, 1, 1};
    struct fc_task_torus torus = make_torus(dims, side, weight);
    struct fc_grid_shifts list[FC_MOST_SHIFT_GROUPS];
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    int found;
    bool *in = calloc(torus.n_tasks, 1);
    CU_ASSERT_EQUAL_FATAL(fc_grid_shifts_find(&torus, n, 1, 5, &arena, list, &found, &st), FC_OK);
    CU_ASSERT(found > 0);
    for (int k = 0; k < found; k++) {
        memset(in, 0, torus.n_tasks);
        CU_ASSERT(list[k].n == n && list[k].shift[0] == 0);
        CU_ASSERT(k == 0 || list[k].short_ones >= list[k - 1].short_ones);
        for (uint32_t i = 0; i < n; i++) {
            CU_ASSERT_FALSE(in[list[k].shift[i]]);
            in[list[k].shift[i]] = true;
        }
        bool closed = true;
        for (uint32_t i = k % 16; i < n; i += 16) /* of each a part */
            for (uint32_t j = 0; j < n; j++)
                closed = closed && in[fc_torus_add(&torus, list[k].shift[i], list[k].shift[j])];
        CU_ASSERT(closed);
    }
    free(in);
    fc_arena_free(&arena);
}

static void test_shifts(void)
{
    check_shifts(4, (uint32_t[]){16, 16, 16, 16}, 64);
    check_shifts(3, (uint32_t[]){12, 10, 6}, 36);
    check_shifts(2, (uint32_t[]){9, 25}, 45);
    check_shifts(1, (uint32_t[]){30}, 15);
}

/* Every group has as many tasks, each of another cell; no pair of groups exchanges more than `most`, one does. */
static void check_cut(const struct fc_task_torus *t, uint32_t n, const struct fc_even_pairs *p)
{
    uint32_t each = t->n_tasks / n;
    double *load = calloc((size_t)n * n, sizeof *load), most = 0;
    bool *used = calloc(t->n_tasks, 1);
    for (uint32_t x = 0; x < t->n_tasks; x++) {
        CU_ASSERT_FATAL(p->group[x] < n && p->cell[x] < each && !used[p->group[x] * each + p->cell[x]]);
        used[p->group[x] * each + p->cell[x]] = true;
        for (int d = 0; d < t->n; d++) {
            uint32_t a = p->group[x], b = p->group[fc_torus_add(t, x, t->stride[d])];
            load[(size_t)a * n + b] += t->weight[d];
            load[(size_t)b * n + a] += t->weight[d];
        }
    }
    for (uint32_t a = 0; a < n; a++) {
        double sum = 0;
        for (uint32_t b = 0; b < n; b++) {
            if (a == b) continue;
            most = fmax(most, load[(size_t)a * n + b]);
            sum += load[(size_t)a * n + b];
        }
        CU_ASSERT_DOUBLE_EQUAL(sum, p->sum, 1e-9 * sum);
    }
    CU_ASSERT_DOUBLE_EQUAL(most, p->most, 1e-9 * most);
    free(used);
    free(load);
}

static double cut(int dims, const uint32_t *side, const double *weight, uint32_t n)
{
    struct fc_task_torus torus = make_torus(dims, side, weight);
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_even_pairs pairs[2];
    for (int threads = 1; threads <= 2; threads++) {
        struct fc_even_pairs_settings set = {.work = 8000000, .seed = 1, .stream = 9, .threads = threads};
        CU_ASSERT_EQUAL_FATAL(fc_even_pairs_cut(&torus, n, &set, &arena, &pairs[threads - 1], &st), FC_OK);
        CU_ASSERT_FATAL(pairs[threads - 1].work > 0 && pairs[threads - 1].work <= set.work);
    }
    check_cut(&torus, n, &pairs[0]);
    CU_ASSERT_EQUAL(memcmp(pairs[0].group, pairs[1].group, torus.n_tasks * sizeof *pairs[0].group), 0);
    double uneven = pairs[0].most / (pairs[0].sum / (n - 1));
    fc_arena_free(&arena);
    return uneven;
}

/* Measured: 1.03 to 1.17. Blocks have a few partners each. */
static void test_cut(void)
{
    static const double equal[] = {1, 1, 1, 1}, three[] = {1, 2, 4};
    CU_ASSERT(cut(4, (uint32_t[]){8, 8, 8, 8}, equal, 32) < 1.2);
    CU_ASSERT(cut(3, (uint32_t[]){16, 16, 16}, equal, 16) < 1.2);
    CU_ASSERT(cut(3, (uint32_t[]){12, 12, 18}, three, 9) < 1.2);
    CU_ASSERT(cut(2, (uint32_t[]){32, 32}, equal, 8) < 1.2);
}

/* Too little work, and numbers of groups that do not divide the tasks. */
static void test_none(void)
{
    struct fc_task_torus torus = make_torus(2, (uint32_t[]){32, 32}, (double[]){1, 1});
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_even_pairs pairs;
    struct fc_even_pairs_settings set = {.work = 1000, .seed = 1, .threads = 1};
    CU_ASSERT_EQUAL(fc_even_pairs_cut(&torus, 8, &set, &arena, &pairs, &st), FC_OK);
    CU_ASSERT_EQUAL(pairs.work, 0);
    set.work = 60000000;
    CU_ASSERT_EQUAL(fc_even_pairs_cut(&torus, 7, &set, &arena, &pairs, &st), FC_OK);
    CU_ASSERT_EQUAL(pairs.work, 0);
    fc_arena_free(&arena);
}

/* 16 supernodes with one link from each to each: 4,096 tasks. Measured: 46 messages; without this start 61. */
static void test_optimize(void)
{
    static const char text[] =
        "name: l\nnetwork: {family: two-level, supernodes: 16, drawers: 2, nodes_per_drawer: 4}\n"
        "links: {ll: {bandwidth: 24 GB/s}, lr: {bandwidth: 5 GB/s}, d: {bandwidth: 1 GB/s}}\n"
        "node: {cores: 32}\n";
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_mapping mapping[2];
    struct fc_status st = {0};
    if (!fc_test_network(text, &machine, &net)) return;
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "stencil4d:grid=8x8x8x8,bytes=1MB", 1, &d, &st), FC_OK);
    for (int threads = 1; threads <= 2; threads++) {
        struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1, .time_s = 0.5, .threads = threads};
        CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "optimize", &mapping[threads - 1], &st), FC_OK);
    }
    CU_ASSERT_EQUAL(memcmp(mapping[0].core, mapping[1].core, d.n_tasks * sizeof *mapping[0].core), 0);
    double *load = calloc(16 * 16, sizeof *load), most = 0;
    for (size_t e = 0; e < d.n_entries; e++) {
        uint32_t a = mapping[0].node[d.src[e]] / 8, b = mapping[0].node[d.dst[e]] / 8;
        if (a == b) continue;
        load[a * 16 + b] += d.bytes[e] / 1e6;
        most = fmax(most, load[a * 16 + b]);
    }
    CU_ASSERT(most <= 52);
    free(load);
    for (int i = 0; i < 2; i++) fc_mapping_free(&mapping[i]);
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

int suite_even_pairs(void)
{
    static const CU_TestInfo tests[] = {
        {"shifts that are a group", test_shifts},
        {"pairs are even, and counted right", test_cut},
        {"where there is no such cut", test_none},
        {"the search from it, 1 and 2 threads", test_optimize},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("mapping even pairs", tests);
}
