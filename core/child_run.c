/* child_run.c - a program that has the terminal while it runs, as with system(3): an interrupt is for the program, and so is the
 * end that a batch system sets; we stay to clean up. Ended in another way, we take the program with us. */
#include "core/unfinished.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* A handler has no other place for what it knows. */
static volatile sig_atomic_t asked_to_end;

static void note_end(int signal_number)
{
    (void)signal_number;
    asked_to_end = 1;
}

static void note_nothing(int signal_number)
{
    (void)signal_number;
}

/* Waits for the child and hands SIGTERM on to it; both signals are blocked here. Another thread of the
 * process may take either of them: SIGTERM is then noted, and we look again now and then. */
static int wait_for(pid_t child, const sigset_t *signals)
{
    static const struct timespec pause = {.tv_nsec = 200000000};
    int status = 0;
    while (!fc_child_ended(child, false, &status)) {
        if (sigtimedwait(signals, NULL, &pause) != SIGTERM && !asked_to_end) continue;
        asked_to_end = 0;
        kill(child, SIGTERM);
    }
    return status;
}

/* Our handler, where the signal is not ignored; the program has it as it was. */
static void take(int signal_number, void (*handler)(int), struct sigaction *before)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(signal_number, NULL, before);
    if (before->sa_handler != SIG_IGN) sigaction(signal_number, &action, NULL);
}

enum fc_code fc_child_run(const struct fc_child *program, int *exit_status, struct fc_status *st)
{
    struct sigaction old_int, old_quit, old_term;
    sigset_t ours, old_mask;
    int status = 0;
    asked_to_end = 0;
    take(SIGINT, note_nothing, &old_int);
    take(SIGQUIT, note_nothing, &old_quit);
    take(SIGTERM, note_end, &old_term);
    pid_t child = fc_child_start(program);
    int error = errno;
    sigemptyset(&ours);
    sigaddset(&ours, SIGCHLD);
    sigaddset(&ours, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ours, &old_mask);
    if (child > 0) status = wait_for(child, &ours);
    pthread_sigmask(SIG_SETMASK, &old_mask, NULL);
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGQUIT, &old_quit, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    if (child < 0) return fc_refuse(st, FC_INPUT, "%s cannot be run: %s", program->argv[0], strerror(error));
    *exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return FC_OK;
}
