/* glpk_thread.c - GLPK where it can do no harm.
 *
 * GLPK ends the process when an allocation fails, unless its error hook jumps away; after that its environment can only be
 * thrown away, and with it every problem of the thread, a host program's too. So work runs in a thread of its own: the
 * environment is a thread's (GLPK is built with thread-local storage; where it is not, a host's environment is found and
 * left alone, at the price of the memory of the failed problem). */
#include "solvers/glpk_thread.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

struct call {
    void (*work)(void *of);
    void *of;
    const char *what;
    struct fc_status *st;
    jmp_buf broken;
    char said[256]; /* the last lines of GLPK */
};

static void give_up(void *info)
{
    longjmp(((struct call *)info)->broken, 1);
}

/* GLPK prints no more: what it says before it gives up tells why. */
static int listen(void *info, const char *text)
{
    struct call *c = info;
    size_t n = strlen(c->said), more = strlen(text);
    if (n + more >= sizeof c->said) n = 0;
    snprintf(c->said + n, sizeof c->said - n, "%s", text);
    return 1;
}

static void failed(struct call *c)
{
    if (strstr(c->said, "memory"))
        fc_out_of_memory(c->st, "%s (GLPK)", c->what);
    else
        fc_refuse(c->st, FC_NO, "GLPK failed on %s: %.*s", c->what, (int)strcspn(c->said, "\n"), c->said);
}

static void *run(void *of)
{
    struct call *c = of;
    int environment = glp_init_env();
    if (environment > 1) return failed((strcpy(c->said, "memory"), c)), NULL;
    glp_term_hook(listen, c);
    glp_error_hook(give_up, c);
    if (setjmp(c->broken))
        failed(c);
    else
        c->work(c->of);
    glp_error_hook(NULL, NULL);
    glp_term_hook(NULL, NULL);
    if (environment == 0) glp_free_env();
    return NULL;
}

enum fc_code fc_glpk(void (*work)(void *of), void *of, const char *what, struct fc_status *st)
{
    struct call c = {.work = work, .of = of, .what = what, .st = st};
    sigset_t all, before;
    pthread_t thread;
    if (st->code) return st->code;
    sigfillset(&all); /* signals are the caller's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, run, &c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) return fc_out_of_memory(st, "a thread for %s: %s", what, strerror(error));
    pthread_join(thread, NULL);
    return st->code;
}
