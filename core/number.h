/* number.h - private to core/: decimal text to numbers, the one place that does it (number.c). */
#pragma once

#include <stddef.h>

/* Reads a decimal number (sign, digits, fraction, exponent; no hex, no inf, no nan) at the start of [text, text +
 * length). Returns the bytes used, 0 when there is none. *value is the nearest double, or NaN when the number is too
 * large for one, too small (non-zero text that would become 0) or longer than 120 characters. */
size_t fc_scan_real(const char *text, size_t length, double *value);

/* Reads a decimal integer with an optional sign. Returns the bytes used, 0 when there is none; *fits tells whether it
 * is within long long (else *value is the nearest limit). */
size_t fc_scan_int(const char *text, size_t length, long long *value, int *fits);
