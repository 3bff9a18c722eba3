/* test_format.c - all C files are as clang-format leaves them (.clang-format; `make format` applies it), and those that `make test` does
 * not build, of `make validate` and `make bench`, compile. */
#include "tests/tests.h"

#include <stdlib.h>

/* Prints what the command does and counts its lines. */
static int lines_of(const char *command)
{
    char line[512];
    int n = 0;
    FILE *out = popen(command, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    for (; fgets(line, sizeof line, out); n++) printf("    %s", line);
    pclose(out);
    return n;
}

static void test_format(void)
{
    if (system("command -v clang-format >/dev/null") != 0) {
        printf("    skipped: no clang-format\n");
        return;
    }
    CU_ASSERT_EQUAL(lines_of("find . -path ./obj -prune -o -name '*.[ch]' -print0 | "
                             "xargs -0 -n 40 clang-format --dry-run --Werror 2>&1 | grep -a 'error:' | head -n 20"),
                    0);
}

static void test_compile(void)
{
    CU_ASSERT_EQUAL(
        lines_of(
            "for f in tests/validate_*.c tests/bench_*.c; do "
            "${CC:-gcc} -std=c17 -D_GNU_SOURCE -I. -fopenmp -Wall -Wextra -fsyntax-only $f 2>&1; done | head -n 20"),
        0);
}

static const CU_TestInfo tests[] = {
    {"C files are formatted", test_format},
    {"validations and benchmarks compile", test_compile},
    CU_TEST_INFO_NULL,
};
int suite_format(void)
{
    return fc_add_suite("format of C files", tests);
}
