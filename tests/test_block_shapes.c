/* test_block_shapes.c - block shapes that the user gives: the chosen one given is the same mapping; wrong
 * ones name the nearest valid shapes. */
#include "mapping/mapping.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <string.h>

static void test_block_shapes(void)
{
    static const struct {
        const char *map, *what; /* NULL: works */
    } shapes[] = {
        {"bsm:node=2x2x2x4", NULL},
        {"rnm:node=2x4x2x2", NULL},
        {"rdm:drawer=8x8x2x2", NULL},
        {"bsm:node=4x4x2x1,drawer=8x8x4x1,supernode=8x8x8x2", NULL},
        {"bsm:node=4x4x3x1",
         "block 4x4x3x1 of a node does not divide the task grid: 3 is no part of 16 (nearest valid shapes: "
         "4x4x2x1, "},
        {"bnm:node=8x8x2x1", "block 8x8x2x1 of a node has 128 tasks, and a node holds 32 (nearest valid shapes: "},
        {"bnm:node=2x2x2x1",
         "block 2x2x2x1 of a node makes 8192 blocks, and 2048 nodes are at hand (nearest valid shapes: "},
        {"bsm:node=4x4x2x1,drawer=8x2x4x4",
         "block 8x2x4x4 of a drawer is not made of whole blocks of a node: 2 is no multiple "
         "of 4 (nearest valid shapes: 4x4x4x4, "},
        {"bnm:drawer=8x8x2x1", "strategy bnm has no blocks of a drawer (its largest are of a node)"},
        {"bnm:node=4x4", "the block of a node has 2 sides and the task grid 4 dimensions"},
        {"bnm:node=0x1x1x1", "node: '0' is out of range"},
        {"bnm:rack=1x1x1x1", "unknown key 'rack'"},
        {"bnm:", "no shape behind the ':'"},
        {"def:node=4x4x2x1", "strategy def takes nothing behind its name"},
    };
    struct fc_machine machine;
    struct fc_network net;
    struct fc_demand d;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_machine_load("percs-64", &machine, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_network_build(&machine, &net, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_demand_from_pattern(&net, "stencil4d:grid=16x16x16x16,bytes=2MiB", 1, &d, &st), FC_OK);
    struct fc_map_problem problem = {.net = &net, .demand = &d, .seed = 1};
    struct fc_mapping chosen = {0};
    CU_ASSERT_EQUAL_FATAL(fc_mapping_make(&problem, "bsm", &chosen, &st), FC_OK);
    for (size_t i = 0; i < FC_COUNT(shapes); i++) {
        struct fc_mapping m = {0};
        st = (struct fc_status){0};
        enum fc_code code = fc_mapping_make(&problem, shapes[i].map, &m, &st);
        if (shapes[i].what) {
            CU_ASSERT_EQUAL(code, FC_INPUT);
            CU_ASSERT(fc_says(&st, FC_INPUT, shapes[i].what));
        } else {
            CU_ASSERT_EQUAL(code, FC_OK);
            if (code) printf("\n%s\n", st.message);
            /* the shape that is chosen (SC'11, tables 3 and 5), given: the same mapping */
            if (i == 0) CU_ASSERT(!code && !memcmp(m.core, chosen.core, m.n_tasks * sizeof *m.core));
        }
        fc_mapping_free(&m);
    }
    fc_mapping_free(&chosen);
    fc_demand_free(&d);
    fc_test_close(&machine, &net);
}

int suite_block_shapes(void)
{
    static const CU_TestInfo tests[] = {
        {"given, and refused", test_block_shapes},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("block_shapes", tests);
}
