/* signals.c - a signal that ends the program ends its children and removes what it had not finished; the exit status is the
 * signal's, as if it had not been caught. Signals that were ignored when the program was started stay ignored. */
#include "cli/signals.h"
#include "core/unfinished.h"

#include <time.h>
#include <unistd.h>

static _Noreturn void end_by_signal(int number)
{
    sigset_t one;
    fc_unfinished_end();
    signal(number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    _exit(128 + number); /* the first process of a container is not ended by signals */
}

void fc_signals_start(void)
{
    static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGALRM,
                                 SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};
    struct sigaction before, action = {.sa_handler = end_by_signal};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < FC_COUNT(ending); i++)
        if (!sigaction(ending[i], NULL, &before) && before.sa_handler == SIG_DFL) sigaction(ending[i], &action, NULL);
}

/* ---- a search that an interrupt ends ---- */

/* A signal handler can reach nothing but globals. */
static volatile sig_atomic_t interrupted;
static struct timespec first_interrupt;

/* timeout(1) and some launchers send one Ctrl-C twice, to the process and to its group: what comes within
 * 0.2 s of the first is the first. */
static void note_interrupt(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!interrupted) {
        first_interrupt = now;
        interrupted = number;
    } else if ((double)(now.tv_sec - first_interrupt.tv_sec) + 1e-9 * (double)(now.tv_nsec - first_interrupt.tv_nsec) >
               0.2) {
        end_by_signal(number);
    }
}

const volatile sig_atomic_t *fc_catch_interrupt(struct sigaction *before)
{
    struct sigaction action = {.sa_handler = note_interrupt};
    sigfillset(&action.sa_mask);
    interrupted = 0;
    sigaction(SIGINT, NULL, before);
    if (before->sa_handler != SIG_IGN) sigaction(SIGINT, &action, NULL);
    return &interrupted;
}
