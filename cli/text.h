/* text.h - text for people (text.c): no control character of others passes but line ends and tabs. */
#pragma once

#include "core/core.h"

#include <stdarg.h>
#include <stdio.h>

/* The stream that a command's text goes through to `to`, one at a time; NULL: out of memory. Closed by fc_text_close, which
 * leaves `to` open. */
FILE *fc_text_open(FILE *to);
/* Makes what fc_text_open needs, which then cannot fail; false: out of memory. */
bool fc_text_reserve(void);
void fc_text_close(void);
/* What the stream of fc_text_open goes to; any other stream itself. */
FILE *fc_text_behind(FILE *stream);
/* The program's own bytes for a terminal: they pass as they are. */
void fc_text_own(FILE *stream, const char *bytes);
/* A text to standard output or error. */
void fc_say(FILE *to, const char *format, ...) FC_PRINTF(2, 3);
void fc_vsay(FILE *to, const char *format, va_list rest) FC_PRINTF(2, 0);
/* A new stream to standard error, for messages of the C library. NULL: out of memory. */
FILE *fc_text_errors(void);
