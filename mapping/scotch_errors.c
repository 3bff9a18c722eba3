/* scotch_errors.c - Scotch's own hooks for errors (User's Guide 7.0, section 8.18), instead of libscotcherr's, which print. */
#include "mapping/scotch_errors.h"

#include <scotch/scotch.h>
#include <setjmp.h>
#include <stdlib.h>

/* Of the thread's fc_scotch; NULL: none. */
static _Thread_local struct guard {
    jmp_buf broken;
    char said[200];
} * guard;

#define SEEN __attribute__((visibility("default"))) /* Scotch is another library */

SEEN void SCOTCH_errorProg(const char *name)
{
    (void)name;
}

SEEN void SCOTCH_errorPrint(const char *format, ...)
{
    va_list args;
    if (!guard) return; /* a host program's own use of Scotch: its return codes tell */
    va_start(args, format);
    vsnprintf(guard->said, sizeof guard->said, format, args);
    va_end(args);
    longjmp(guard->broken, 1);
}

SEEN void SCOTCH_errorPrintW(const char *format, ...)
{
    (void)format;
}

enum fc_code fc_scotch(void (*work)(void *of), void *of, size_t bytes, struct fc_status *st)
{
    struct guard mine = {.said = ""}, *outer = guard;
    void *room = malloc(bytes);
    if (!room) return fc_out_of_memory(st, "%zu bytes for Scotch", bytes);
    free(room);
    guard = &mine;
    if (setjmp(mine.broken))
        fc_out_of_memory(st, "Scotch: %s", mine.said);
    else
        work(of);
    guard = outer;
    return st->code;
}

enum fc_code fc_scotch_check(bool good, const char *what, struct fc_status *st)
{
    return good ? FC_OK : fc_out_of_memory(st, "%s by Scotch", what);
}
