/* main.c - runs the suites of tests.h: all, or those whose name contains an argument (`tests flit trace`).
 *
 * Each suite runs in a process of its own (run.c), one more at once than there are processors, since some wait for MPI and
 * Slurm; --jobs N changes that, --jobs 0 runs them one after another in this process (for a debugger). --update writes what
 * golden commands print now into their case files. Exit status 0 only when at least one test ran and none failed. */
#include "tests/run.h"
#include "tests/tests.h"

#include <CUnit/Basic.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

bool fc_update_cases = false;

int fc_add_suite(const char *name, const CU_TestInfo *tests)
{
    return fc_add_suite_between(name, NULL, NULL, tests);
}

int fc_add_suite_between(const char *name, int (*begin)(void), int (*end)(void), const CU_TestInfo *tests)
{
    CU_pSuite suite = CU_add_suite(name, begin, end);
    if (!suite) return 1;
    for (; tests->pName; tests++)
        if (!CU_add_test(suite, tests->pName, tests->pTestFunc)) return 1;
    return 0;
}

bool fc_says(const struct fc_status *st, enum fc_code code, const char *part)
{
    char text[2048];
    fc_status_text(st, text, sizeof text);
    if (st->code == code && strstr(text, part)) return true;
    printf("\n    expected %d \"%s\"\n    got      %d \"%s\"\n", code, part, st->code, text);
    return false;
}

static bool chosen(const char *name, char *const *parts, int n_parts)
{
    for (int i = 0; i < n_parts; i++)
        if (strstr(name, parts[i])) return true;
    return n_parts == 0;
}

/* Suites that could not be registered. */
static int register_suites(bool all)
{
    static const struct {
        const char *name;
        int (*add)(void);
    } list[] = {
#define ENTRY(name) {#name, name},
        FC_SUITES(ENTRY)
#undef ENTRY
    };
    int missing = 0;
    for (size_t i = 0; i < FC_COUNT(list); i++) {
        if (!list[i].add && !all) continue;
        if (list[i].add && list[i].add() == 0) continue;
        printf("%s: %s\n", list[i].name, list[i].add ? "could not be registered" : "listed in tests.h but not linked");
        missing++;
    }
    return missing;
}

static int processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

int main(int argc, char **argv)
{
    int jobs = processors() + 1, first = 1, one = -1, counts_file = -1;
    for (; first < argc && !strncmp(argv[first], "--", 2); first++) {
        if (!strcmp(argv[first], "--update"))
            fc_update_cases = true;
        else if (!strcmp(argv[first], "--jobs") && first + 1 < argc)
            jobs = atoi(argv[++first]);
        else if (!strcmp(argv[first], "--one") && first + 2 < argc) { /* run.c's own processes */
            one = atoi(argv[++first]);
            counts_file = atoi(argv[++first]);
        } else {
            fprintf(stderr, "usage: tests [--jobs N] [--update] [PART-OF-A-SUITE'S-NAME ...]\n");
            return 2;
        }
    }
    if (CU_initialize_registry() != CUE_SUCCESS) return 1;
    int missing = register_suites(first == argc && one < 0);
    CU_set_fail_on_inactive(CU_FALSE);
    for (CU_pSuite suite = CU_get_registry()->pSuite; suite; suite = suite->pNext)
        if (!chosen(suite->pName, argv + first, argc - first)) CU_set_suite_active(suite, CU_FALSE);
    CU_basic_set_mode(CU_BRM_NORMAL);
    struct fc_test_counts counts = {0};
    if (one >= 0) {
        bool good = fc_run_one_suite((unsigned)one, counts_file);
        CU_cleanup_registry();
        return !good;
    }
    fc_run_suites(jobs, &counts);
    if (counts.tests == 0) printf("no test ran: no suite's name contains what was asked\n");
    CU_cleanup_registry();
    return missing > 0 || counts.failed > 0 || counts.tests == 0;
}
