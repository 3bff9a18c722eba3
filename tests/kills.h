/* kills.h - programs of fabricast ended by signals at random times, again and again in one directory, until each has
 * answered: for test_kills.c (a few) and validate_kills.c (1,000).
 *
 * After every signal: a file under its final name has the bytes of an undisturbed run; what else is there is what the signal
 * allows (SIGKILL: parts; SIGTERM, SIGINT: nothing new but a sweep's journal); no child is left; the status is the signal's.
 * The bytes of what goes on are those of the undisturbed run, and then nothing but the answer is left, of earlier kills
 * neither. Children that lose their parent become ours (PR_SET_CHILD_SUBREAPER), so none can hide. */
#pragma once

#include "core/core.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KILLS_WORDS = 24, KILLS_FILES = 64, KILLS_GRACE_S = 5, KILLS_LONG_GRACE_S = 20 };

struct kills_job {
    const char *name;
    const char *words[KILLS_WORDS]; /* "fabricast" stands for the program; the first word is run */
    const char *journal;            /* what may stay when it is ended by any signal; NULL: nothing */
    /* Hands SIGTERM and SIGINT on to what it runs (trace capture, mpirun), or ends a search at SIGINT with the best it has:
     * it may end by itself after them, and what it has written need only be whole */
    bool hands_on;
    bool stops_early; /* at SIGINT only: an answer of its own */
    bool differs;     /* what it writes holds times: fabricast trace info must read it, the bytes do not repeat */
};
struct kills_counts {
    int sent[3], completed, wrong; /* of SIGKILL, SIGTERM, SIGINT; answers held against the undisturbed one */
};
struct kills_files {
    int n;
    struct kills_file {
        char name[200];
        char *bytes;
        size_t size;
    } file[KILLS_FILES];
};
struct kills {
    const char *program;
    char directory[PATH_MAX];
    uint64_t seed;
    struct kills_counts counts;
};

static const int kills_signals[] = {SIGKILL, SIGTERM, SIGINT};

/* ---- files ---- */

static void kills_free(struct kills_files *files)
{
    for (int i = 0; i < files->n; i++) free(files->file[i].bytes);
    files->n = 0;
}

static bool kills_read(const char *path, struct kills_file *file)
{
    struct stat info;
    FILE *stream = fopen(path, "rb");
    if (!stream) return false;
    fstat(fileno(stream), &info);
    file->bytes = malloc((size_t)info.st_size + 1);
    file->size = fread(file->bytes, 1, (size_t)info.st_size, stream);
    fclose(stream);
    return true;
}

/* All files of `folder` and its subfolders, with paths from `top`; the folders count only where nothing is in them. */
static void kills_list(const char *top, const char *folder, struct kills_files *files)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", top, folder);
    DIR *list = opendir(path);
    for (struct dirent *entry; list && (entry = readdir(list)) && files->n < KILLS_FILES;) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        struct kills_file *f = &files->file[files->n];
        struct stat info;
        char name[PATH_MAX];
        snprintf(name, sizeof name, "%s%s%s", folder, *folder ? "/" : "", entry->d_name);
        snprintf(f->name, sizeof f->name, "%.190s", name);
        snprintf(path, sizeof path, "%s/%s", top, name);
        if (lstat(path, &info)) continue;
        if (!S_ISDIR(info.st_mode))
            files->n += kills_read(path, f);
        else if (strstr(name, ".ranks."))
            f->bytes = calloc(1, 1), f->size = 0, files->n++;
        else
            kills_list(top, name, files);
    }
    if (list) closedir(list);
}

static const struct kills_file *kills_find(const struct kills_files *files, const char *name)
{
    for (int i = 0; i < files->n; i++)
        if (!strcmp(files->file[i].name, name)) return &files->file[i];
    return NULL;
}

static void kills_empty(const char *directory)
{
    char command[2 * PATH_MAX + 64];
    snprintf(command, sizeof command, "rm -rf '%.4000s'; mkdir '%.4000s'", directory, directory);
    if (system(command)) printf("    %s cannot be emptied\n", directory);
}

/* ---- one run ---- */

static pid_t kills_start(const struct kills *k, const struct kills_job *job, const char *directory)
{
    char *argv[KILLS_WORDS + 1], log[PATH_MAX + 16];
    int n = 0;
    for (; n < KILLS_WORDS && job->words[n]; n++)
        argv[n] = (char *)(strcmp(job->words[n], "fabricast") ? job->words[n] : k->program);
    argv[n] = NULL;
    snprintf(log, sizeof log, "%s/log", k->directory);
    fflush(NULL);
    pid_t pid = fork();
    if (pid) {
        setpgid(pid, pid);
        return pid;
    }
    sigset_t none;
    setpgid(0, 0);
    for (size_t i = 0; i < FC_COUNT(kills_signals); i++) signal(kills_signals[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666), in = open("/dev/null", O_RDONLY);
    if (chdir(directory) || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(126);
    execvp(argv[0], argv);
    _exit(127);
}

/* Whether every child has ended, of the job's too; those that have not are ended now. */
static bool kills_none_left(pid_t job, double grace_s)
{
    bool none = false;
    for (double end = fc_wall_s() + grace_s; !none && fc_wall_s() < end;) {
        pid_t got = waitpid(-1, NULL, WNOHANG);
        none = got < 0 && errno == ECHILD;
        if (got == 0) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    if (!none) kill(-job, SIGKILL);
    for (int i = 0; !none && i < 1000 && (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD); i++)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    return none;
}

static void kills_wrong(struct kills *k, const struct kills_job *job, const char *what, const char *which)
{
    char path[PATH_MAX + 16], line[400] = "";
    snprintf(path, sizeof path, "%s/log", k->directory);
    FILE *log = fopen(path, "r");
    printf("\n    %s: %s%s%s\n", job->name, which ? which : "", which ? " " : "", what);
    for (int i = 0; log && i < 4 && fgets(line, sizeof line, log); i++) printf("        %s", line);
    if (log) fclose(log);
    k->counts.wrong++;
}

/* ---- what a run left ---- */

/* Is a trace whole? */
static bool kills_is_trace(const struct kills *k, const char *directory, const char *name)
{
    char command[3 * PATH_MAX];
    snprintf(command, sizeof command, "'%s' trace info '%s/%s' >/dev/null 2>&1", k->program, directory, name);
    return system(command) == 0;
}

/* Lines where the bytes may differ: a mapping of the same tasks. */
static size_t kills_lines(const struct kills_file *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->size; i++) n += f->bytes[i] == '\n';
    return f->size && f->bytes[f->size - 1] == '\n' ? n : 0;
}

/* A PDF holds the time when it was drawn. */
static bool kills_same(const struct kills_file *a, const struct kills_file *b)
{
    static const char date[] = "/CreationDate (";
    if (a->size != b->size) return false;
    const char *at = memmem(a->bytes, a->size, date, sizeof date - 1);
    size_t from = at ? (size_t)(at - a->bytes) : a->size, to = from;
    while (to < a->size && a->bytes[to] != ')') to++;
    return !memcmp(a->bytes, b->bytes, from) && !memcmp(a->bytes + to, b->bytes + to, a->size - to);
}

/* What may stay after `signal`, 0: after an answer. */
static bool kills_may_stay(const struct kills_job *job, const char *name, int signal)
{
    if (signal && job->journal && !strcmp(name, job->journal)) return true;
    size_t n = strlen(name);
    return signal == SIGKILL &&
           (strstr(name, ".part") || strstr(name, ".ranks.") || (n > 4 && !strcmp(name + n - 4, ".log")));
}

static void kills_check(struct kills *k, const struct kills_job *job, const char *directory, int signal,
                        bool own_answer, const struct kills_files *before, const struct kills_files *expected)
{
    struct kills_files now = {0};
    kills_list(directory, "", &now);
    for (int i = 0; i < now.n; i++) {
        const struct kills_file *f = &now.file[i], *right = kills_find(expected, f->name);
        if (!right && !kills_may_stay(job, f->name, signal) && !(signal && kills_find(before, f->name)))
            kills_wrong(k, job,
                        signal == SIGKILL ? "was left"
                        : signal          ? "was left after the signal"
                                          : "was left beside the answer",
                        f->name);
        if (!right) continue;
        bool whole = job->differs ? kills_is_trace(k, directory, f->name)
                     : own_answer ? kills_lines(f) > 0
                                  : kills_same(f, right);
        if (!whole) kills_wrong(k, job, "is not that of an undisturbed run", f->name);
    }
    for (int i = 0; !signal && i < expected->n; i++)
        if (!kills_find(&now, expected->file[i].name)) kills_wrong(k, job, "is missing", expected->file[i].name);
    kills_free(&now);
}

/* ---- many runs ---- */

/* One undisturbed run in a fresh directory; its wall time, or -1. */
static double kills_undisturbed(struct kills *k, const struct kills_job *job, const char *directory,
                                struct kills_files *files)
{
    int status = -1;
    kills_empty(directory);
    double start = fc_wall_s();
    pid_t pid = kills_start(k, job, directory);
    waitpid(pid, &status, 0);
    double time_s = fc_wall_s() - start;
    kills_list(directory, "", files);
    if (status == 0 && files->n > 0) return time_s;
    kills_wrong(k, job, "does not run", NULL);
    return -1;
}

/* Starts the job, sends the signal when `delay_s` has passed, sees what is left. True: it has answered. */
static bool kills_once(struct kills *k, const struct kills_job *job, const char *directory, int signal, double delay_s,
                       const struct kills_files *expected)
{
    struct kills_files before = {0};
    char what[100];
    int status = 0;
    kills_list(directory, "", &before);
    pid_t pid = kills_start(k, job, directory);
    if (signal) {
        nanosleep(&(struct timespec){(time_t)delay_s, (long)(1e9 * (delay_s - (double)(time_t)delay_s))}, NULL);
        kill(pid, signal);
    }
    waitpid(pid, &status, 0);
    bool answered = WIFEXITED(status) && WEXITSTATUS(status) == 0,
         by_signal = WIFSIGNALED(status) && WTERMSIG(status) == signal;
    if (!kills_none_left(pid, job->hands_on ? KILLS_LONG_GRACE_S : KILLS_GRACE_S))
        kills_wrong(k, job, "left a child", NULL);
    snprintf(what, sizeof what, "status %#x after signal %d", (unsigned)status, signal);
    if (!answered && !by_signal && !(signal && job->hands_on)) kills_wrong(k, job, what, NULL);
    bool own_answer = answered && job->stops_early && signal == SIGINT;
    kills_check(k, job, directory, answered ? 0 : signal, own_answer, &before, expected);
    kills_free(&before);
    if (answered) k->counts.completed++;
    return answered;
}

/* `n` signals, chosen and timed by the seed; half of them late in the run, where files are written. */
static void kills_run(struct kills *k, const struct kills_job *job, int n)
{
    struct kills_files expected = {0};
    char directory[PATH_MAX + 8];
    uint64_t stream = 0;
    snprintf(directory, sizeof directory, "%s/job", k->directory);
    for (const char *c = job->name; *c; c++) stream = 31 * stream + (unsigned char)*c;
    double time_s = kills_undisturbed(k, job, directory, &expected);
    kills_empty(directory);
    for (int i = 0, tries = 0; i < n && time_s > 0; i++) {
        int which = (int)fc_random_below(k->seed, stream, 3 * (uint64_t)i, 3);
        double late = i % 2 ? 0.6 : 0;
        double share = late + (1.15 - late) * fc_random_real(k->seed, stream, 3 * (uint64_t)i + 1);
        k->counts.sent[which]++;
        bool answered = kills_once(k, job, directory, kills_signals[which], share * time_s, &expected);
        if (!answered && (++tries % 4 == 0 || i + 1 == n)) /* it goes on */
            answered = kills_once(k, job, directory, 0, 0, &expected);
        if (answered) kills_empty(directory);
    }
    kills_free(&expected);
}

/* The directory for it all; orphans become ours. */
static bool kills_open(struct kills *k, const char *program, uint64_t seed)
{
    const char *top = getenv("TMPDIR");
    *k = (struct kills){.program = program, .seed = seed};
    snprintf(k->directory, sizeof k->directory, "%s/fabricast-kills-XXXXXX", top && *top ? top : "/tmp");
    return mkdtemp(k->directory) && !prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void kills_close(struct kills *k)
{
    char command[PATH_MAX + 32];
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    snprintf(command, sizeof command, "rm -rf '%s'", k->directory);
    if (system(command)) printf("    %s stays\n", k->directory);
}
