/* validate_memory.c - every allocation of the commands failed once, all of them (tests/memory_check.h tells what is
 * promised). A row a command; exit status 1 where a run broke a promise.
 *
 *     FABRICAST  the program (default obj/fabricast)
 *     ONLY       commands that contain this
 *     FROM, STEP which allocations (default: 1, 1: all) */
#include "tests/memory_jobs.h"

#include <time.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static unsigned long number(const char *name)
{
    const char *text = getenv(name);
    unsigned long n = text ? strtoul(text, NULL, 10) : 1;
    return n ? n : 1;
}

int main(int argc, char **argv)
{
    struct memory_check m;
    char library[PATH_MAX], command[1024];
    const char *program = getenv("FABRICAST"), *only = getenv("ONLY");
    unsigned long all = 0, scotch = 0, wrong = 0;
    snprintf(library, sizeof library, "%.*sfail_allocation.so",
             (int)(strrchr(argv[0], '/') ? strrchr(argv[0], '/') - argv[0] + 1 : 0), argv[0]);
    if (argc > 1 || !memory_open(&m, program ? program : "obj/fabricast", library)) return 1;
    printf("%11s %9s %9s %7s %7s %7s  command\n", "allocations", "refused", "harmless", "scotch", "wrong", "s");
    for (size_t i = 0; i < FC_COUNT_OF(memory_commands); i++) {
        if (only && !strstr(memory_commands[i], only)) continue;
        double start = seconds();
        memory_command(command, sizeof command, memory_commands[i]);
        unsigned long n = memory_walk(&m, command, number("FROM"), number("STEP"));
        printf("%11lu %9lu %9lu %7lu %7lu %7.1f  %s\n", n, m.n_refused, m.n_harmless, m.n_scotch, m.n_wrong,
               seconds() - start, memory_commands[i]);
        fflush(stdout);
        all += m.n_failed;
        scotch += m.n_scotch;
        wrong += m.n_wrong + (n == 0);
        m.n_told = 0;
    }
    memory_close(&m);
    printf("%lu allocations failed, one a run: %lu runs not as promised, %lu more in Scotch itself\n", all, wrong,
           scotch);
    return wrong > 0;
}
