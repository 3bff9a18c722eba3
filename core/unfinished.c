/* unfinished.c - see unfinished.h.
 *
 * One list under one lock. Who changes it, or what it tells of, holds the lock and has all signals blocked: a handler that
 * runs in another thread waits for these few system calls, and one in the same thread comes after them. So a file is made
 * and noted, or named and forgotten, in one step.
 *
 * Who writes a file holds a lock on it (flock), which the system takes away when the program ends in whatever way. A name
 * holds the host, since such a lock may not reach beyond it: what another host left is not touched. */
#include "core/unfinished.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct fc_unfinished {
    struct fc_unfinished *next;
    pid_t pid; /* a child; 0: a file or directory */
    int end;   /* its signal */
    bool directory;
    int lock; /* of a directory; else -1 */
    char path[];
};

static struct fc_unfinished *list;
static atomic_flag changing = ATOMIC_FLAG_INIT;

static void hold(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
    while (atomic_flag_test_and_set_explicit(&changing, memory_order_acquire)) sched_yield();
}

static void release(const sigset_t *before)
{
    int error = errno;
    atomic_flag_clear_explicit(&changing, memory_order_release);
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = error;
}

static struct fc_unfinished *make(const char *path)
{
    struct fc_unfinished *u = calloc(1, sizeof *u + strlen(path) + 1);
    if (!u) return NULL;
    strcpy(u->path, path);
    u->lock = -1;
    return u;
}

/* Held. */
static void note(struct fc_unfinished *u)
{
    u->next = list;
    list = u;
}

/* Held. */
static void forget(const struct fc_unfinished *u)
{
    for (struct fc_unfinished **at = &list; *at; at = &(*at)->next)
        if (*at == u) {
            *at = u->next;
            return;
        }
}

static void discard(struct fc_unfinished **what)
{
    if ((*what)->lock >= 0) close((*what)->lock);
    free(*what);
    *what = NULL;
}

/* ---- removing, async-signal-safe ---- */

/* A directory with the files in it: getdents64, since opendir allocates. */
static void remove_directory(const char *path)
{
    _Alignas(struct dirent64) char entries[4096];
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = getdents64(fd, entries, sizeof entries)) > 0;)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(entries + at);
            if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) unlinkat(fd, entry->d_name, 0);
            at += entry->d_reclen;
        }
    if (fd >= 0) close(fd);
    rmdir(path);
}

static void remove_one(const struct fc_unfinished *u)
{
    if (u->directory)
        remove_directory(u->path);
    else
        unlink(u->path);
}

/* A program that ends its own children gets ten seconds. */
static void wait_for(const struct fc_unfinished *child)
{
    static const struct timespec pause = {.tv_nsec = 5000000};
    for (int i = 0; child->end != SIGKILL && i < 2000; i++) {
        if (waitpid(child->pid, NULL, WNOHANG) != 0) return;
        nanosleep(&pause, NULL);
    }
    kill(child->pid, SIGKILL);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

void fc_unfinished_end(void)
{
    sigset_t before;
    hold(&before);
    for (const struct fc_unfinished *u = list; u; u = u->next)
        if (u->pid) kill(u->pid, u->end);
    for (const struct fc_unfinished *u = list; u; u = u->next)
        if (u->pid) wait_for(u);
    for (const struct fc_unfinished *u = list; u; u = u->next)
        if (!u->pid) remove_one(u);
}

/* ---- what killed programs left ---- */

/* Is the rest of a name what we append: 12, 12.3, or six of mkdtemp's characters? */
static bool is_ours(const char *rest, bool directory)
{
    size_t n = 0;
    if (directory) {
        while (isalnum((unsigned char)rest[n])) n++;
        return n == 6 && rest[n] == '\0';
    }
    n = strspn(rest, "0123456789");
    if (n > 0 && rest[n] == '.') n += 1 + strspn(rest + n + 1, "0123456789");
    return n > 0 && rest[n] == '\0';
}

/* Nobody holds it: its program has ended. Held by us while it goes, so that nobody takes it for his. */
static void remove_when_left(int folder, const char *name, bool directory)
{
    struct stat is, named;
    int fd =
        openat(folder, name, (directory ? O_RDONLY | O_DIRECTORY : O_WRONLY | O_NONBLOCK) | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    if (!fstat(fd, &is) && is.st_uid == geteuid() && (directory || S_ISREG(is.st_mode)) &&
        !flock(fd, LOCK_EX | LOCK_NB) && !fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) &&
        named.st_ino == is.st_ino && named.st_dev == is.st_dev) {
        char path[PATH_MAX];
        int n = directory ? snprintf(path, sizeof path, "/proc/self/fd/%d/%s", folder, name) : 0;
        if (directory && n < (int)sizeof path) remove_directory(path);
        if (!directory) unlinkat(folder, name, 0);
    }
    close(fd);
}

/* Those that begin with `start`, a path. */
static void tidy(const char *start, bool directory)
{
    const char *slash = strrchr(start, '/'), *name = slash ? slash + 1 : start;
    char *folder = slash ? strndup(start, (size_t)(slash + 1 - start)) : strdup(".");
    DIR *open = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; open && (entry = readdir(open));)
        if (!strncmp(entry->d_name, name, strlen(name)) && is_ours(entry->d_name + strlen(name), directory))
            remove_when_left(dirfd(open), entry->d_name, directory);
    if (open) closedir(open);
    free(folder);
}

/* "PATH.KIND.HOST." with room behind it; NULL with errno. */
static struct fc_unfinished *make_start(const char *path, const char *kind, bool directory)
{
    char host[32] = "", text[PATH_MAX];
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '-') *c = '\0';
    int n = snprintf(text, sizeof text, "%s.%s.%s.", path, kind, *host ? host : "host");
    if (n >= (int)sizeof text - 40) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    tidy(text, directory);
    memset(text + n, 'X', 40);
    text[n + (directory ? 6 : 39)] = '\0';
    struct fc_unfinished *u = make(text);
    if (!u) return NULL;
    u->directory = directory;
    if (!directory) u->path[n] = '\0';
    return u;
}

/* ---- files and directories ---- */

/* Opens and locks it; -1 with EEXIST also when somebody who tidied took it before it was locked. */
static int open_locked(const char *path)
{
    struct stat info;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return -1;
    bool lost = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK; /* where there are no locks, nobody tidies */
    if (!lost && !fstat(fd, &info) && info.st_nlink > 0) return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

int fc_unfinished_file(const char *path, struct fc_unfinished **file)
{
    sigset_t before;
    struct fc_unfinished *u = *file = make_start(path, "part", false);
    if (!u) return -1;
    char *rest = u->path + strlen(u->path);
    int fd = -1;
    hold(&before);
    for (int i = 0; i < 100 && fd < 0; i++) {
        int n = sprintf(rest, "%ld", (long)getpid());
        if (i > 0) sprintf(rest + n, ".%d", i);
        fd = open_locked(u->path);
        if (fd < 0 && errno != EEXIST) break;
    }
    if (fd >= 0) note(u);
    release(&before);
    if (fd < 0) discard(file);
    return fd;
}

bool fc_unfinished_directory(const char *path, struct fc_unfinished **directory)
{
    sigset_t before;
    struct fc_unfinished *u = *directory = make_start(path, "ranks", true);
    if (!u) return false;
    hold(&before);
    bool made = mkdtemp(u->path) != NULL;
    if (made) {
        u->lock = open(u->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (u->lock >= 0) flock(u->lock, LOCK_EX | LOCK_NB);
        note(u);
    }
    release(&before);
    if (!made) discard(directory);
    return made;
}

struct fc_unfinished *fc_unfinished_name(const char *path)
{
    sigset_t before;
    struct fc_unfinished *u = make(path);
    if (!u) return NULL;
    hold(&before);
    note(u);
    release(&before);
    return u;
}

const char *fc_unfinished_path(const struct fc_unfinished *what)
{
    return what->path;
}

int fc_unfinished_publish(struct fc_unfinished **file, const char *path)
{
    sigset_t before;
    hold(&before);
    int error = rename((*file)->path, path) ? errno : 0;
    if (error) remove_one(*file);
    forget(*file);
    release(&before);
    discard(file);
    return error;
}

static void end(struct fc_unfinished **what, bool removed)
{
    sigset_t before;
    if (!*what) return;
    hold(&before);
    if (removed) remove_one(*what);
    forget(*what);
    release(&before);
    discard(what);
}

void fc_unfinished_remove(struct fc_unfinished **what)
{
    end(what, true);
}

void fc_unfinished_keep(struct fc_unfinished **what)
{
    end(what, false);
}

/* ---- children ---- */

/* In the child of a vfork, which shares our memory until it runs the program: handlers of ours must not run there. */
static int become(const struct fc_child *child, pid_t parent, const sigset_t *mask)
{
    struct sigaction action, plain = {.sa_handler = SIG_DFL}, ignore = {.sa_handler = SIG_IGN};
    for (int i = 1; i < NSIG; i++)
        if (!sigaction(i, NULL, &action) && action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL)
            sigaction(i, &plain, NULL);
    if (child->deaf) sigaction(SIGINT, &ignore, NULL), sigaction(SIGQUIT, &ignore, NULL);
    if (prctl(PR_SET_PDEATHSIG, child->end)) return errno;
    if (getppid() != parent) _exit(127); /* it ended before that */
    int from[3];
    for (int i = 0; i < 3; i++) from[i] = child->stream[i] < 0 ? -1 : fcntl(child->stream[i], F_DUPFD_CLOEXEC, 3);
    for (int i = 0; i < 3; i++)
        if (child->stream[i] >= 0 && dup2(from[i], i) < 0) return errno;
    if (child->directory && chdir(child->directory)) return errno;
    pthread_sigmask(SIG_SETMASK, mask, NULL);
    execvpe(child->argv[0], child->argv, child->environment ? child->environment : environ);
    return errno;
}

static pid_t start(const struct fc_child *child, const sigset_t *mask)
{
    volatile int error = 0;
    pid_t parent = getpid();
    volatile pid_t pid = vfork(); /* of a large program too, and errors come back through the memory */
    if (pid == 0) {
        error = become(child, parent, mask);
        _exit(127);
    }
    if (pid > 0 && error) {
        waitpid(pid, NULL, 0);
        pid = -1;
        errno = error;
    }
    return pid;
}

pid_t fc_child_start(const struct fc_child *child)
{
    sigset_t before;
    struct fc_unfinished *u = make("");
    if (!u) return -1;
    hold(&before);
    pid_t pid = start(child, &before);
    if (pid > 0) {
        u->pid = pid;
        u->end = child->end;
        note(u);
    }
    release(&before);
    if (pid < 0) {
        int error = errno;
        discard(&u);
        errno = error;
    }
    return pid;
}

bool fc_child_ended(pid_t pid, bool wait, int *status)
{
    sigset_t before;
    siginfo_t info;
    while (wait && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) && errno == EINTR) {
    }
    hold(&before); /* from here its number may be another's */
    struct fc_unfinished *u = list;
    pid_t got = waitpid(pid, status, WNOHANG);
    if (got < 0) *status = 127 << 8; /* somebody else has waited for it */
    while (u && u->pid != pid) u = u->next;
    if (got && u) forget(u);
    release(&before);
    if (got && u) discard(&u);
    return got != 0;
}
