/* test_sanitizers.c - the checks of the checked build are on: a planted mistake of each kind ends a process with a report. */
#include "tests/tests.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether a process that does it ends badly, and says so on standard error. */
static bool reported(void (*mistake)(void), const char *says)
{
    char text[1 << 14] = "";
    int file = memfd_create("report", 0), status = 0;
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        dup2(file, 2);
        mistake();
        exit(0);
    }
    bool ended = process > 0 && waitpid(process, &status, 0) == process;
    ended = ended && pread(file, text, sizeof text - 1, 0) > 0 && WIFEXITED(status) && WEXITSTATUS(status) != 0;
    close(file);
    if (ended && strstr(text, says)) return true;
    printf("\n    status %d, no \"%s\" in: %s\n", status, says, text);
    return false;
}

static volatile int big = INT_MAX, three = 3, zero = 0;

static void overflows(void)
{
    big = big + three;
}

static void divides(void)
{
    big = big / zero;
}

static void shifts(void)
{
    big = three << (big & 63);
}

static void passes_the_end(void)
{
    int four[4] = {0};
    big = four[three + 1];
}

static void passes_the_block(void)
{
    char *volatile block = malloc(30);
    big = block[10 * three];
    free(block);
}

static char fixed[3] = "ab";

static void passes_the_static(void)
{
    char *volatile at = fixed;
    big = at[three];
}

static void uses_the_freed(void)
{
    char *volatile block = malloc(30);
    free(block);
    big = block[three];
}

static __attribute__((noinline)) void loses(void)
{
    char *volatile block[16];
    for (int i = 0; i < 16; i++) block[i] = malloc(100);
    for (int i = 0; i < 16; i++) block[i] = NULL;
    big = block[three] != NULL;
}

/* The report of a trap has the line (tests/sanitizers.c). */
static void test_undefined(void)
{
    CU_ASSERT(reported(overflows, "test_sanitizers.c:"));
    CU_ASSERT(reported(divides, "test_sanitizers.c:"));
    CU_ASSERT(reported(shifts, "test_sanitizers.c:"));
    CU_ASSERT(reported(passes_the_end, "test_sanitizers.c:"));
}

static void test_address(void)
{
    CU_ASSERT(reported(passes_the_block, "heap-buffer-overflow"));
    CU_ASSERT(reported(passes_the_static, "global-buffer-overflow"));
    CU_ASSERT(reported(uses_the_freed, "heap-use-after-free"));
}

static void test_leaks(void)
{
    CU_ASSERT(reported(loses, "LeakSanitizer: detected memory leaks"));
}

int suite_sanitizers(void)
{
    static const CU_TestInfo tests[] = {
        {"what is undefined", test_undefined}, {"addresses", test_address}, {"leaks", test_leaks}, CU_TEST_INFO_NULL};
    return fc_add_suite("sanitizers", tests);
}
