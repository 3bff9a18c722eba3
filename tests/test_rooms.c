/* test_rooms.c - rooms include and call only what is below them, and few files need each other in circles (tests/rooms.py). */
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

static void test_rooms(void)
{
    char line[4096];
    int n_includes = 0, n_circles = -1;
    FILE *out = popen("python3 tests/rooms.py obj/test/o 2>&1", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    while (fgets(line, sizeof line, out))
        if (sscanf(line, "%d includes, %d circles", &n_includes, &n_circles) != 2) printf("    %s", line);
    CU_ASSERT_EQUAL(pclose(out), 0);
    CU_ASSERT(n_includes > 500 && n_circles >= 0);
}

static const CU_TestInfo tests[] = {
    {"rooms stand one on the other, files hardly in circles", test_rooms},
    CU_TEST_INFO_NULL,
};
int suite_rooms(void)
{
    return fc_add_suite("rooms", tests);
}
