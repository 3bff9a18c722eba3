/* test_threads.c - core/threads.c: how many threads work at a time, teams that meet; and the program under limits of
 * the operating system and of OpenMP: it ends, its answer stays, waiting costs no processor time. */
#include "core/core.h"
#include "tests/tests.h"

#include <limits.h>
#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- how many ---- */

static void never_more_than_processors(void)
{
    cpu_set_t before, one;
    CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof before, &before), 0);
    int processors = CPU_COUNT(&before);
    CU_ASSERT_EQUAL(fc_threads(1), 1);
    CU_ASSERT_EQUAL(fc_threads(0), 1);
    CU_ASSERT_EQUAL(fc_threads(INT_MAX), processors);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    CU_ASSERT_EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
    CU_ASSERT_EQUAL(fc_threads(16), 1);
    CU_ASSERT_EQUAL(sched_setaffinity(0, sizeof before, &before), 0);
    int within = 0;
#pragma omp parallel num_threads(2) reduction(max : within)
    within = fc_threads(16);
    CU_ASSERT_EQUAL(within, omp_get_max_active_levels() > 1 ? processors : 1);
}

/* ---- teams ---- */

struct table { /* each round, every thread writes its place and reads all others' of the round before */
    int rounds, size;
    long value[2][64];
    long wrong[64];
};

static void write_and_read(void *of, int thread, struct fc_team *team)
{
    struct table *t = of;
    for (int r = 1; r <= t->rounds; r++) {
        for (int i = 0; r > 1 && i < t->size; i++) t->wrong[thread] += t->value[(r - 1) % 2][i] != r - 1;
        t->value[r % 2][thread] = r;
        fc_team_meet(team);
    }
}

static void teams_meet(void)
{
    struct fc_team *team = fc_team_open(64);
    struct table t = {.rounds = 500, .size = fc_team_size(team)};
    CU_ASSERT_EQUAL(t.size, fc_threads(64));
    for (int again = 0; again < 20; again++) {
        memset(t.value, 0, sizeof t.value);
        fc_team_run(team, write_and_read, &t);
        for (int i = 0; i < t.size; i++) CU_ASSERT(t.value[t.rounds % 2][i] == t.rounds && t.wrong[i] == 0);
        if (again == 10) usleep(20000); /* all asleep */
    }
    fc_team_close(team);
    fc_team_close(NULL);
    t.size = fc_team_size(NULL);
    fc_team_run(NULL, write_and_read, &t);
    CU_ASSERT(t.size == 1 && t.value[0][0] == t.rounds);
}

/* The others wait for half a second: that costs next to nothing. */
static void sleep_first(void *of, int thread, struct fc_team *team)
{
    (void)of;
    if (thread == 0) usleep(250000);
    fc_team_meet(team);
}

static void waits_sleep(void)
{
    struct fc_team *team = fc_team_open(64);
    double cpu_s = fc_cpu_s();
    fc_team_run(team, sleep_first, NULL);
    usleep(250000);
    CU_ASSERT(fc_cpu_s() - cpu_s < 0.05);
    fc_team_close(team);
}

/* ---- the program ---- */

static char program[PATH_MAX + 16];

/* Runs `command` (with $P the program) for at most 30 s: its standard output, and the processor time it took. The
 * caller frees. NULL: it failed or did not end. */
static char *run(const char *command, double *cpu_s)
{
    char line[PATH_MAX + 1024];
    struct rusage before, after;
    getrusage(RUSAGE_CHILDREN, &before);
    snprintf(
        line, sizeof line,
        "P='timeout -k 1 30 %s'; FABRICAST_DATA=\"$PWD/models\"; export FABRICAST_DATA; { %s; } 2>&1 </dev/null | grep -v 'cpu_s\\|peak_rss'",
        program, command);
    FILE *stream = popen(line, "r");
    if (!stream) return NULL;
    size_t capacity = 1 << 20, n = 0, got;
    char *text = malloc(capacity + 1);
    while ((got = fread(text + n, 1, capacity - n, stream)) > 0)
        if ((n += got) == capacity) text = realloc(text, (capacity *= 2) + 1);
    text[n] = 0;
    int status = pclose(stream);
    getrusage(RUSAGE_CHILDREN, &after);
    *cpu_s = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
             1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) +
             (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
             1e-6 * (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec);
    if (status == 0 && n > 1000) return text;
    printf("\n    %s\n    did not answer in 30 s or failed: %.300s", command, text);
    free(text);
    return NULL;
}

/* Whatever OpenMP's environment, the affinity and --threads say: it ends, with the bytes of one thread, for about the
 * time of one thread. */
static void same_under_limits(void)
{
    static const char *const engines[] = {"cycle", "event"};
    static const char *const limits[][2] = {
        {"OMP_THREAD_LIMIT=1", "2"},
        {"OMP_THREAD_LIMIT=1", "16"},
        {"OMP_NUM_THREADS=1", "2"},
        {"OMP_NUM_THREADS=7", "8"},
        {"OMP_DYNAMIC=true", "2"},
        {"OMP_MAX_ACTIVE_LEVELS=0", "2"},
        {"OMP_MAX_ACTIVE_LEVELS=3", "2"},
        {"OMP_PROC_BIND=true", "2"},
        {"taskset -c $(taskset -cp $$ | sed 's/.*: *\\([0-9]*\\).*/\\1/')", "2"},
        {"env", "8"},
        {"env", "16"},
        {"env", "1024"},
    };
    char command[512];
    for (int e = 0; e < 2; e++) {
        double one_s, cpu_s;
        snprintf(command, sizeof command,
                 "$P flit -m bgl-64 -p uniform --load 30%% --engine %s --warmup 500 --measure 1500 --json", engines[e]);
        char *one = run(command, &one_s);
        CU_ASSERT_PTR_NOT_NULL_FATAL(one);
        for (size_t i = 0; i < FC_COUNT(limits); i++) {
            snprintf(command, sizeof command,
                     "env %s $P flit -m bgl-64 -p uniform --load 30%% --engine %s --warmup 500 "
                     "--measure 1500 --json --threads %s",
                     limits[i][0], engines[e], limits[i][1]);
            char *text = run(command, &cpu_s);
            CU_ASSERT_PTR_NOT_NULL_FATAL(text);
            CU_ASSERT_STRING_EQUAL(text, one);
            double most_s = fc_threads(atoi(limits[i][1])) * (2 * one_s + 1);
            CU_ASSERT(cpu_s < most_s);
            if (cpu_s >= most_s) printf("\n    %s: %.2f s, one thread %.2f s", command, cpu_s, one_s);
            free(text);
        }
        free(one);
    }
}

int suite_threads(void)
{
    static const CU_TestInfo tests[] = {{"never more than processors", never_more_than_processors},
                                        {"a team meets", teams_meet},
                                        {"waits sleep", waits_sleep},
                                        {"flit: same answer, no burnt time under any limit", same_under_limits},
                                        CU_TEST_INFO_NULL};
    ssize_t n = readlink("/proc/self/exe", program, PATH_MAX - 1);
    program[n > 0 ? n : 0] = 0;
    strcpy(n > 0 ? strrchr(program, '/') : program, "/fabricast");
    return fc_add_suite("core/threads", tests);
}
