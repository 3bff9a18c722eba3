/* scotch_errors.c - Scotch's own hooks for errors (User's Guide 7.0, section 8.18), instead of libscotcherr's, which print:
 * the first words are kept for the status. A host program that brings its own hooks keeps them where they come first. */
#include "mapping/scotch_errors.h"

#include <stdint.h>
#include <stdio.h>
#include <scotch/scotch.h>

static _Thread_local char said[200];

void SCOTCH_errorProg(const char *name)
{
    (void)name;
}

void SCOTCH_errorPrint(const char *format, ...)
{
    va_list args;
    if (*said) return; /* the first is the cause */
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    fc_out_of_memory(&(struct fc_status){0}, "Scotch: %s", said);
}

void SCOTCH_errorPrintW(const char *format, ...)
{
    (void)format;
}

void fc_scotch_begin(void)
{
    *said = 0;
}

enum fc_code fc_scotch_end(bool good, const char *what, struct fc_status *st)
{
    return good && !*said ? FC_OK : fc_out_of_memory(st, "%s by Scotch%s%s", what, *said ? ": " : "", said);
}
