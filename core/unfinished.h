/* unfinished.h - what must not outlive the program: files that are being written, directories of such files, and child
 * processes. They are noted here from the moment they exist, so that a signal's handler can end and remove them all, and
 * none besides. What a killed program (SIGKILL, a crash) left is removed by the next one that writes the same file. */
#pragma once

#include "core/core.h"

#include <sys/types.h>

struct fc_unfinished; /* a file or directory; its own memory, freed when it is named, kept or removed */

/* Makes "PATH.part.HOST.PID", opened for writing only and locked; its descriptor, or -1 with errno. On a clash the next
 * free name is taken; nobody's is removed, but for those of PATH that nobody holds any more: their program on this host
 * was killed. O(files in the directory). */
int fc_unfinished_file(const char *path, struct fc_unfinished **file);
/* The same for a private directory "PATH.ranks.HOST.XXXXXX"; false with errno. */
bool fc_unfinished_directory(const char *path, struct fc_unfinished **directory);
/* Notes a file that another program makes, or that exists. NULL: out of memory. */
struct fc_unfinished *fc_unfinished_name(const char *path);
const char *fc_unfinished_path(const struct fc_unfinished *what);
/* Gives a finished file its name; 0 or errno. NULL afterwards in any case: a file that cannot be named is removed. */
int fc_unfinished_publish(struct fc_unfinished **file, const char *path);
/* Removes it, a directory with its files. NULL is fine, and it is NULL afterwards. */
void fc_unfinished_remove(struct fc_unfinished **what);
/* Is no longer ours to remove. NULL is fine, and it is NULL afterwards. */
void fc_unfinished_keep(struct fc_unfinished **what);

/* How a child process is started. */
struct fc_child {
    char *const *argv;        /* argv[0] is looked for in PATH, when it has no slash */
    char *const *environment; /* NULL: ours */
    const char *directory;    /* NULL: ours */
    int stream[3];            /* its standard input, output, error; -1: ours */
    bool deaf;                /* it ignores SIGINT and SIGQUIT: those of the terminal are for us */
    int end; /* the signal that ends it when we are ended, in whatever way: SIGKILL, or SIGTERM for programs
                                 that have children of their own to end */
};
/* Starts it; -1 with errno, also where the program cannot be run. */
pid_t fc_child_start(const struct fc_child *child);
/* Whether it has ended, with its status (as of waitpid); waits for it when asked to. */
bool fc_child_ended(pid_t pid, bool wait, int *status);
/* Starts it with .end SIGTERM and stays until it ends; SIGINT, SIGQUIT and SIGTERM are meanwhile for it (child_run.c). Its exit
 * status, 128 + the signal that ended it. FC_INPUT: it cannot be run. */
enum fc_code fc_child_run(const struct fc_child *program, int *exit_status, struct fc_status *st);

/* For the handler of a signal that ends the program (async-signal-safe): ends the children, waits for them, removes what is
 * unfinished. Nothing can be begun or finished afterwards: other threads that try wait for ever. */
void fc_unfinished_end(void);
