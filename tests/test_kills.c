/* test_kills.c - signals at random times, and at the worst one: a few of what validate_kills.c does 1,000 times. */
#include "tests/kills_jobs.h"
#include "core/unfinished.h"
#include "tests/tests.h"

#include <sys/file.h>

static struct kills k;
static struct kills_inputs in;
static struct kills_job jobs[KILLS_JOBS];

static bool opened(void)
{
    static char program[PATH_MAX];
    char root[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 12);
    program[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(program, '/');
    strcpy(slash ? slash + 1 : program, "fabricast");
    if (access(program, X_OK)) {
        printf("\n    SKIPPED: the program is not built ");
        return false;
    }
    CU_ASSERT_FATAL(realpath(".", root) && kills_open(&k, program, 1) && kills_make_inputs(&k, root, &in));
    kills_make_jobs(&in, jobs);
    return true;
}

static void leaves_nothing_torn(void)
{
    static const struct {
        int job, n;
    } some[] = {{KILLS_EXPORT, 10}, {KILLS_SWEEP, 6}, {KILLS_MAP, 8}, {KILLS_PLOTS, 6}};
    if (!opened()) return;
    for (size_t i = 0; i < FC_COUNT(some); i++) kills_run(&k, &jobs[some[i].job], some[i].n);
    CU_ASSERT_EQUAL(k.counts.wrong, 0);
    CU_ASSERT(k.counts.completed > 0);
    kills_close(&k);
}

/* Has it a child that runs our program? */
static bool has_point(pid_t pid)
{
    char path[100], text[100] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *file = fopen(path, "r");
    if (file && !fgets(text, sizeof text, file)) *text = '\0';
    if (file) fclose(file);
    return *text != '\0';
}

static bool is_free(const char *journal)
{
    int fd = open(journal, O_RDWR);
    if (fd < 0) return errno == ENOENT;
    bool mine = flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return mine;
}

/* Ended while its points search for hours: they are gone, and the journal is nobody's. */
static void points_end_with_the_sweep(void)
{
    char sweep[PATH_MAX + 32], directory[PATH_MAX + 16], journal[PATH_MAX + 32];
    if (!opened()) return;
    snprintf(sweep, sizeof sweep, "%s/long.yaml", k.directory);
    snprintf(directory, sizeof directory, "%s/job", k.directory);
    snprintf(journal, sizeof journal, "%s/s.tsv.part", directory);
    CU_ASSERT(kills_put(sweep, "command: map -m bgl-64 -p stencil2d:grid=4x12,bytes=1KiB --strategy optimize:time\n"
                               "vary: {time: [100000s, 200000s, 300000s]}\ncolumns: [bound_s]\n"));
    struct kills_job job = {.name = "long sweep",
                            .words = {"fabricast", "sweep", sweep, "-o", "s.tsv", "--threads", "2"}};
    for (size_t i = 0; i < FC_COUNT(kills_signals); i++) {
        int status = 0;
        kills_empty(directory);
        pid_t pid = kills_start(&k, &job, directory);
        for (int waits = 0; !has_point(pid) && waits < 10000; waits++)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        kill(pid, kills_signals[i]);
        waitpid(pid, &status, 0);
        CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == kills_signals[i]);
        CU_ASSERT(kills_none_left(pid, 3));
        CU_ASSERT(is_free(journal));
        CU_ASSERT(kills_signals[i] == SIGKILL || access(journal, F_OK)); /* it holds nothing */
    }
    kills_close(&k);
}

/* `trap '' INT TERM` before the program, as nohup does with another signal. */
static void ignored_signals_stay_ignored(void)
{
    char script[3 * PATH_MAX], directory[PATH_MAX + 16];
    struct kills_files files = {0};
    if (!opened()) return;
    snprintf(directory, sizeof directory, "%s/job", k.directory);
    snprintf(script, sizeof script, "trap '' INT TERM; exec '%s' trace convert '%s' -o t.goal", k.program,
             in.small_trace);
    struct kills_job job = {.name = "deaf convert", .words = {"sh", "-c", script}};
    double time_s = kills_undisturbed(&k, &job, directory, &files);
    kills_empty(directory);
    pid_t pid = kills_start(&k, &job, directory);
    int status = -1;
    for (int i = 0; i < 8; i++) {
        double pause_s = time_s / 8;
        nanosleep(&(struct timespec){(time_t)pause_s, (long)(1e9 * (pause_s - (double)(time_t)pause_s))}, NULL);
        if (i > 0) kill(pid, i % 2 ? SIGINT : SIGTERM); /* after the shell's trap */
    }
    waitpid(pid, &status, 0);
    CU_ASSERT_EQUAL(status, 0);
    kills_check(&k, &job, directory, 0, false, &files, &files);
    CU_ASSERT_EQUAL(k.counts.wrong, 0);
    kills_free(&files);
    kills_close(&k);
}

/* What a killed program left is removed by the next one that writes the file; what somebody still writes is not. */
static void tidies_what_nobody_holds(void)
{
    char path[PATH_MAX + 32], left[2 * PATH_MAX], other[2 * PATH_MAX];
    struct fc_status st = {0};
    struct fc_output out, beside;
    if (!opened()) return;
    snprintf(path, sizeof path, "%s/out", k.directory);
    pid_t pid = fork();
    if (pid == 0) {
        if (!fc_output_open(&out, path, &st)) raise(SIGKILL);
        _exit(1);
    }
    waitpid(pid, NULL, 0);
    CU_ASSERT_EQUAL_FATAL(fc_output_open(&out, path, &st), FC_OK);
    snprintf(left, sizeof left, "%s", fc_unfinished_path(out.file));
    char *number = strrchr(left, '.') + 1;
    sprintf(number, "%ld", (long)pid);
    CU_ASSERT_NOT_EQUAL(access(left, F_OK), 0);
    strcpy(number, "note");
    snprintf(other, sizeof other, "%s", left);
    fclose(fopen(other, "w")); /* somebody else's name */
    CU_ASSERT_EQUAL(fc_output_open(&beside, path, &st), FC_OK);
    CU_ASSERT_EQUAL(access(fc_unfinished_path(out.file), F_OK), 0);
    CU_ASSERT_EQUAL(fc_output_close(&beside, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_output_close(&out, &st), FC_OK);
    CU_ASSERT_EQUAL(access(other, F_OK), 0);
    kills_close(&k);
}

int suite_kills(void)
{
    static const CU_TestInfo tests[] = {
        {"leaves nothing torn", leaves_nothing_torn},
        {"points end with the sweep", points_end_with_the_sweep},
        {"ignored signals stay ignored", ignored_signals_stay_ignored},
        {"tidies what nobody holds", tidies_what_nobody_holds},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("kills", tests);
}
