/* gsl_errors.c - see gsl_errors.h. GSL's own handler prints and aborts. */
#include "solvers/gsl_errors.h"

#include "core/core.h"

#include <gsl/gsl_errno.h>
#include <pthread.h>

static void handle(const char *reason, const char *file, int line, int code)
{
    (void)file, (void)line;
    if (code == GSL_ENOMEM) fc_out_of_memory(&(struct fc_status){0}, "GSL: %s", reason);
}

static void install(void)
{
    gsl_error_handler_t *theirs = gsl_set_error_handler(handle);
    if (theirs) gsl_set_error_handler(theirs);
}

void fc_gsl_errors(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}
