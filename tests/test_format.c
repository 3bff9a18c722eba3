/* test_format.c - all C files are as clang-format leaves them (.clang-format; `make format` applies it). */
#include "tests/tests.h"

#include <stdlib.h>

static void test_format(void)
{
    char line[512];
    int n = 0;
    if (system("command -v clang-format >/dev/null") != 0) {
        printf("    skipped: no clang-format\n");
        return;
    }
    FILE *out = popen("find . -path ./obj -prune -o -name '*.[ch]' -print0 | "
                      "xargs -0 -n 40 clang-format --dry-run --Werror 2>&1 | grep -a 'error:' | head -n 20",
                      "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    while (fgets(line, sizeof line, out)) {
        printf("    %s", line);
        n++;
    }
    pclose(out);
    CU_ASSERT_EQUAL(n, 0);
}

static const CU_TestInfo tests[] = {
    {"C files are formatted", test_format},
    CU_TEST_INFO_NULL,
};
int suite_format(void)
{
    return fc_add_suite("format of C files", tests);
}
