/* test_scotch_boxes.c - tasks of boxes of routers on the routers: every even side of a large torus is halved; a stencil that
 * is in the right boxes ends as near its partners as it can; routers get as many tasks as their box has for them. */
#include "mapping/scotch_target.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <string.h>

enum { SIDE = 8, N = SIDE * SIDE };

static struct fc_grid square(uint32_t side)
{
    return (struct fc_grid){.n_dims = 2,
                            .k = {side, side},
                            .stride = {1, side},
                            .ring = {true, true},
                            .n_cells = side * side,
                            .routers = 1,
                            .nodes = 1};
}

static void test_choice(void)
{
    uint32_t factor[FC_MAX_DIMS];
    struct fc_grid small = square(8), large = square(128), odd = square(129);
    CU_ASSERT(!fc_scotch_boxes_choose(&small, factor));
    CU_ASSERT(factor[0] == 1 && factor[1] == 1);
    CU_ASSERT(fc_scotch_boxes_choose(&large, factor));
    CU_ASSERT(factor[0] == 2 && factor[1] == 2);
    CU_ASSERT(!fc_scotch_boxes_choose(&odd, factor));
    large.k[0] = 64, large.k[1] = 255, large.stride[1] = 64, large.n_cells = 64 * 255;
    CU_ASSERT(fc_scotch_boxes_choose(&large, factor));
    CU_ASSERT(factor[0] == 2 && factor[1] == 1);
}

/* Neighbours on the ring of 8 x 8, task t at (t % 8, t / 8). */
static void ring_graph(SCOTCH_Num *first, SCOTCH_Num *other, SCOTCH_Num *weight)
{
    for (SCOTCH_Num t = 0, e = 0; t < N; t++) {
        SCOTCH_Num x = t % SIDE, y = t / SIDE;
        other[e++] = y * SIDE + (x + 1) % SIDE;
        other[e++] = y * SIDE + (x + SIDE - 1) % SIDE;
        other[e++] = (y + 1) % SIDE * SIDE + x;
        other[e++] = (y + SIDE - 1) % SIDE * SIDE + x;
        first[t + 1] = e;
    }
    for (int e = 0; e < 4 * N; e++) weight[e] = 3;
}

static uint32_t hops(SCOTCH_Num a, SCOTCH_Num b)
{
    uint32_t sum = 0;
    for (int d = 0; d < 2; d++, a /= SIDE, b /= SIDE) {
        uint32_t way = (uint32_t)((a % SIDE - b % SIDE + SIDE) % SIDE);
        sum += way < SIDE - way ? way : SIDE - way;
    }
    return sum;
}

static uint32_t all_hops(const SCOTCH_Num *first, const SCOTCH_Num *other, const SCOTCH_Num *part)
{
    uint32_t sum = 0;
    for (int t = 0; t < N; t++)
        for (SCOTCH_Num e = first[t]; e < first[t + 1]; e++) sum += hops(part[t], part[other[e]]);
    return sum;
}

static void test_spread(void)
{
    static SCOTCH_Num first[N + 1], other[4 * N], weight[4 * N], part[N], again[N];
    struct fc_grid grid = square(SIDE);
    struct fc_scotch_graph graph = {N, first, other, weight};
    uint32_t factor[FC_MAX_DIMS] = {2, 2}, count[N] = {0};
    struct fc_status st = {0};
    ring_graph(first, other, weight);
    for (int t = 0; t < N; t++) part[t] = again[t] = t / SIDE / 2 * (SIDE / 2) + t % SIDE / 2;
    CU_ASSERT_EQUAL_FATAL(fc_scotch_boxes_spread(&graph, &grid, factor, part, &st), FC_OK);
    for (int t = 0; t < N; t++) {
        CU_ASSERT_FATAL(part[t] >= 0 && part[t] < N);
        CU_ASSERT_EQUAL(count[part[t]]++, 0);
    }
    CU_ASSERT(all_hops(first, other, part) < 4 * N * 5 / 4); /* 1 a message is the least */
    CU_ASSERT_EQUAL_FATAL(fc_scotch_boxes_spread(&graph, &grid, factor, again, &st), FC_OK);
    CU_ASSERT(!memcmp(part, again, sizeof part));
}

/* All tasks in one box of four routers. */
static void test_full_box(void)
{
    static SCOTCH_Num first[N + 1], other[4 * N], weight[4 * N], part[N];
    struct fc_grid grid = square(SIDE);
    struct fc_scotch_graph graph = {N, first, other, weight};
    uint32_t factor[FC_MAX_DIMS] = {2, 2}, count[N] = {0};
    struct fc_status st = {0};
    ring_graph(first, other, weight);
    for (int t = 0; t < N; t++) part[t] = 5; /* routers (2, 2) to (3, 3) */
    CU_ASSERT_EQUAL_FATAL(fc_scotch_boxes_spread(&graph, &grid, factor, part, &st), FC_OK);
    for (int t = 0; t < N; t++) count[part[t]]++;
    CU_ASSERT(count[18] == N / 4 && count[19] == N / 4 && count[26] == N / 4 && count[27] == N / 4);
}

int suite_scotch_boxes(void)
{
    static const CU_TestInfo tests[] = {
        {"sides that are halved", test_choice},
        {"a stencil in the right boxes", test_spread},
        {"a box that is full", test_full_box},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("scotch boxes", tests);
}
