/* test_launched.c - the ranks land where the launcher file says: a few checks with real Slurm, Open MPI and MPICH, where they and
 * namespaces are to be had (tests/validate_slurm.sh --quick; the others are in `make validate`). */
#include "tests/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void launchers(void)
{
    char line[600];
    int passed = -1, failed = -1, skipped = 0;
    FILE *out = popen("FABRICAST=obj/test/fabricast tests/validate_slurm.sh --quick 2>&1", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    while (fgets(line, sizeof line, out)) {
        bool skip = strstr(line, "SKIPPED") != NULL;
        skipped += skip;
        if (skip || !strstr(line, "  ok  ")) printf("\n    %.*s", (int)strcspn(line, "\n"), line);
        sscanf(line, "%d passed, %d failed", &passed, &failed);
    }
    CU_ASSERT_EQUAL(pclose(out), 0);
    if (passed < 0 && skipped) return; /* no root, or no namespaces: said above */
    CU_ASSERT(failed == 0 && (passed > 0 || skipped));
}

int suite_launched(void)
{
    static const CU_TestInfo tests[] = {
        {"Slurm, Open MPI and MPICH put ranks where the file says", launchers},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("launched", tests);
}
