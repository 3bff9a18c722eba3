/* terminal.h - colours, bars and curves at a terminal (terminal.c). */
#pragma once

#include "core/core.h"

#include <stdio.h>

enum fc_colour { FC_COLOUR_GOOD, FC_COLOUR_BAD, FC_COLOUR_BAR };
/* The text, coloured where the stream is a terminal that may show colours. */
void fc_print_coloured(FILE *stream, enum fc_colour colour, const char *text);
/* A bar of `share` of `width` <= 80 columns, rounded up: '#', at a terminal in UTF-8 blocks to the eighth. */
void fc_print_bar(FILE *stream, double share, int width);
/* At a terminal in UTF-8: before, a column a value from 0 to top (NaN and 0: blank), after. Else nothing. The
 * first FC_SPARKLINE of them. */
enum { FC_SPARKLINE = 100 };
void fc_print_sparkline(FILE *stream, const char *before, const double *value, size_t n, double top, const char *after);
