/* main.c - runs the suites of tests.h: all, or those whose name contains the argument. Exit status 0 only
 * when at least one test ran and none failed. */
#include "tests/tests.h"

#include <CUnit/Basic.h>
#include <string.h>

int fc_add_suite(const char *name, const CU_TestInfo *tests)
{
    CU_pSuite suite = CU_add_suite(name, NULL, NULL);
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

static void choose_suites(const char *part)
{
    CU_set_fail_on_inactive(CU_FALSE);
    for (CU_pSuite suite = CU_get_registry()->pSuite; suite; suite = suite->pNext)
        if (!strstr(suite->pName, part)) CU_set_suite_active(suite, CU_FALSE);
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
        printf("%s: %s\n", list[i].name,
               list[i].add ? "could not be registered" : "listed in tests.h but not linked");
        missing++;
    }
    return missing;
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";
    if (CU_initialize_registry() != CUE_SUCCESS) return 1;
    int missing = register_suites(!*only);
    choose_suites(only);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    unsigned ran = CU_get_number_of_tests_run();
    unsigned failed = CU_get_number_of_failures() + CU_get_number_of_suites_failed();
    if (ran == 0) printf("no test ran%s%s\n", *only ? ": no suite's name contains " : "", only);
    CU_cleanup_registry();
    return missing > 0 || failed > 0 || ran == 0;
}
