/* memory_check.h - runs a command once for each of its allocations, that one failing (tests/fail_allocation.c), and holds
 * every run against what is promised: no crash, exit status 1, a message that says "out of memory", no output file. A run
 * that ends with 0 must have the bytes of the undisturbed one: the failure was harmless.
 *
 * Counted apart: allocations that Scotch (7.0.3) itself makes and does not check. It crashes, or goes on with another
 * answer, before it has called anything of ours; that memory for it is there is made sure before it is called. */
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FC_MEMORY_AT_ONCE = 2, FC_MEMORY_CPU_S = 30 };

struct memory_check {
    char program[PATH_MAX], preload[2 * PATH_MAX]; /* whole paths; of the library and what must come with it */
    char folder[64];                               /* fresh; the inputs lie here */
    const char *environment;                       /* "NAME=value" more, or NULL */
    unsigned long n_failed, n_refused, n_harmless, n_scotch, n_wrong; /* of the last command: runs */
    unsigned long n_told;                                             /* runs that were printed */
};

/* One run in DIR: output in DIR/stdout, DIR/stderr, files in DIR/out. */
struct memory_run {
    pid_t pid;
    unsigned long at;
    char folder[128];
};

static inline char *memory_read(const char *folder, const char *name, size_t *size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    size_t capacity = 1 << 16;
    char *text = malloc(capacity + 1);
    *size = 0;
    for (size_t got; file && text && (got = fread(text + *size, 1, capacity - *size, file)) > 0;)
        if ((*size += got) == capacity) text = realloc(text, (capacity *= 2) + 1);
    if (file) fclose(file);
    if (text) text[*size] = 0;
    return text;
}

/* Makes `folder` and removes what lies in its "out". */
static inline void memory_clear(const char *folder)
{
    char command[400];
    snprintf(command, sizeof command, "%s/stdout", folder);
    unlink(command);
    snprintf(command, sizeof command, "%s/stderr", folder);
    unlink(command);
    snprintf(command, sizeof command, "%s/out", folder);
    if (rmdir(command)) { /* not empty: files of the run before */
        snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", folder, folder);
        if (system(command)) abort();
        snprintf(command, sizeof command, "%s/out", folder);
    }
    if (mkdir(command, 0700)) abort();
}

/* Starts `command` (words between blanks) in folder/out; at 0: nothing fails, and the allocations are counted. */
static inline void memory_start(const struct memory_check *m, const char *command, struct memory_run *run)
{
    memory_clear(run->folder);
    if ((run->pid = fork()) != 0) return;
    char words[1200], number[32], out[300], err[300], count[300], work[300], *argv[64];
    int n = 0;
    snprintf(words, sizeof words, "fabricast %s", command);
    for (char *word = strtok(words, " "); word && n < 63; word = strtok(NULL, " ")) argv[n++] = word;
    argv[n] = NULL;
    snprintf(out, sizeof out, "%s/stdout", run->folder);
    snprintf(err, sizeof err, "%s/stderr", run->folder);
    snprintf(count, sizeof count, "%s/count", run->folder);
    snprintf(work, sizeof work, "%s/out", run->folder);
    snprintf(number, sizeof number, "%lu", run->at);
    struct rlimit cpu = {FC_MEMORY_CPU_S, FC_MEMORY_CPU_S}, core = {0, 0};
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &core);
    alarm(4 * FC_MEMORY_CPU_S);
    setenv("FAIL_AT", number, 1);
    setenv("FAIL_COUNT", count, 1);
    snprintf(count, sizeof count, "%s/caller", run->folder);
    unlink(count);
    setenv("FAIL_CALLER", count, 1);
    setenv("LD_PRELOAD", m->preload, 1);
    if (m->environment) putenv((char *)m->environment);
    if (chdir(work) || !freopen("/dev/null", "r", stdin)) _exit(98);
    int to = open(out, O_WRONLY | O_CREAT, 0666), error = open(err, O_WRONLY | O_CREAT, 0666);
    if (to < 0 || error < 0 || dup2(to, 1) < 0 || dup2(error, 2) < 0) _exit(98);
    execv(m->program, argv);
    _exit(98);
}

static inline bool memory_no_files(const char *folder, char *name, size_t size)
{
    char path[300];
    bool none = true;
    snprintf(path, sizeof path, "%s/out", folder);
    DIR *all = opendir(path);
    for (struct dirent *e; all && (e = readdir(all));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) none = false, snprintf(name, size, "%s", e->d_name);
    if (all) closedir(all);
    return none;
}

/* Equal standard output and files, but for times that the program took. */
static inline bool memory_same(const char *a, const char *b)
{
    static const char plain[] = "sed -E 's/\"(elapsed_s|cpu_s|flit_hops_per_cpu_s|peak_rss_bytes)\": .*/\"\\1\"/; "
                                "s/(.*) [0-9]+\\.[0-9]{3}  /\\1  /; s/^speed .*/speed/'";
    char command[1500];
    snprintf(
        command, sizeof command,
        "cd '%s' && a=$(%s stdout; cd out; ls; for f in *; do [ ! -f \"$f\" ] || %s \"$f\" | cksum; done); "
        "cd '%s' && b=$(%s stdout; cd out; ls; for f in *; do [ ! -f \"$f\" ] || %s \"$f\" | cksum; done); [ \"$a\" = \"$b\" ]",
        a, plain, plain, b, plain, plain);
    return system(command) == 0;
}

/* NULL: as promised; else what is wrong, in `wrong`. */
static inline const char *memory_verdict(const struct memory_run *run, int status, const char *undisturbed, char *wrong,
                                         size_t size)
{
    char file[300] = "";
    size_t n;
    if (WIFSIGNALED(status)) return snprintf(wrong, size, "ended by signal %d", WTERMSIG(status)), wrong;
    if (WEXITSTATUS(status) == 0)
        return memory_same(run->folder, undisturbed) ? NULL : "exit status 0 and another answer";
    if (WEXITSTATUS(status) != 1) return snprintf(wrong, size, "exit status %d", WEXITSTATUS(status)), wrong;
    char *err = memory_read(run->folder, "stderr", &n);
    bool said = err && strstr(err, "fabricast: ") && strstr(err, "out of memory");
    free(err);
    if (!said) return "no message that says out of memory";
    if (!memory_no_files(run->folder, file, sizeof file)) return snprintf(wrong, size, "left %.200s", file), wrong;
    return NULL;
}

/* The allocation that failed was Scotch's. */
static inline bool memory_of_scotch(const struct memory_run *run)
{
    size_t n;
    char *caller = memory_read(run->folder, "caller", &n);
    bool is = caller && strstr(caller, "libscotch");
    free(caller);
    return is;
}

static inline void memory_end(struct memory_check *m, const char *command, struct memory_run *run, int status,
                              const char *undisturbed)
{
    char wrong[400];
    const char *verdict = memory_verdict(run, status, undisturbed, wrong, sizeof wrong);
    m->n_failed++;
    if (verdict && (WIFSIGNALED(status) || !WEXITSTATUS(status)) && memory_of_scotch(run)) {
        m->n_scotch++;
        verdict = NULL;
    } else if (verdict)
        m->n_wrong++;
    else if (WEXITSTATUS(status))
        m->n_refused++;
    else
        m->n_harmless++;
    run->pid = 0;
    if (!verdict || m->n_told++ >= 20) return;
    size_t n;
    char *err = memory_read(run->folder, "stderr", &n);
    printf("\n    %s: allocation %lu fails: %s\n%.1500s", command, run->at, verdict, err ? err : "");
    free(err);
}

/* Runs the command undisturbed. The number of its allocations; 0: it fails. */
static inline unsigned long memory_count(const struct memory_check *m, const char *command, struct memory_run *plain)
{
    int status;
    size_t size;
    snprintf(plain->folder, sizeof plain->folder, "%s/plain", m->folder);
    memory_start(m, command, plain);
    waitpid(plain->pid, &status, 0);
    char *text = memory_read(plain->folder, "count", &size);
    unsigned long n = text ? strtoul(text, NULL, 10) : 0;
    free(text);
    if (!status && n) return n;
    text = memory_read(plain->folder, "stderr", &size);
    printf("\n    %s: status %d, %lu allocations, without any failure: %s\n", command, status, n, text ? text : "");
    free(text);
    return 0;
}

/* Fails the allocations first, first + step, .. of the command, two at once; step 0: `first` of them, spread evenly. The
 * number of allocations, 0: the command itself fails. */
static inline unsigned long memory_walk(struct memory_check *m, const char *command, unsigned long first,
                                        unsigned long step)
{
    struct memory_run plain = {.at = 0}, run[FC_MEMORY_AT_ONCE] = {{0}};
    m->n_failed = m->n_refused = m->n_harmless = m->n_scotch = m->n_wrong = 0;
    unsigned long n = memory_count(m, command, &plain), next = first;
    if (!step) step = n > first ? n / first : 1, next = step / 2 + 1;
    for (;;) {
        int busy = 0, status;
        for (int i = 0; i < FC_MEMORY_AT_ONCE; i++) {
            if (!run[i].pid && next <= n) {
                snprintf(run[i].folder, sizeof run[i].folder, "%s/run%d", m->folder, i);
                run[i].at = next;
                next += step;
                memory_start(m, command, &run[i]);
            }
            busy += run[i].pid != 0;
        }
        if (!busy) return n;
        pid_t ended = wait(&status);
        for (int i = 0; i < FC_MEMORY_AT_ONCE; i++)
            if (run[i].pid == ended) memory_end(m, command, &run[i], status, plain.folder);
    }
}
