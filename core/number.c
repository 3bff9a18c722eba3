/* number.c - decimal text to numbers, correctly rounded.
 *
 * Fast path of W. D. Clinger, "How to read floating point numbers accurately" (PLDI 1990): with a significand
 * below 2^53 and |exponent| <= 22 both operands are exact doubles, so one multiplication or division rounds
 * correctly. All other numbers go to strtod. Limits: double arithmetic must be IEEE without excess precision
 * (SSE2, not x87); strtod wants the C locale, which a program has unless it calls setlocale. */
#include "core/number.h"
#include "core/values.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct decimal {
    uint64_t digits; /* significand, exact when n_digits <= 19 */
    int n_digits;    /* significant digits seen, without leading zeros */
    long point;      /* digits behind the decimal point */
    bool any;        /* at least one digit */
};

static size_t scan_digits(const char *text, size_t at, size_t length, bool behind_point, struct decimal *d)
{
    for (; at < length && fc_is_digit(text[at]); at++) {
        d->any = true;
        if (behind_point) d->point++;
        if (d->n_digits == 0 && text[at] == '0') continue;
        if (++d->n_digits <= 19) d->digits = d->digits * 10 + (uint64_t)(text[at] - '0');
    }
    return at;
}

/* The exponent at text[at], if one is there with a digit; saturates far outside the range of double. */
static size_t scan_exponent(const char *text, size_t at, size_t length, long *exponent)
{
    *exponent = 0;
    if (at >= length || (text[at] != 'e' && text[at] != 'E')) return at;
    size_t digit = at + 1;
    bool minus = digit < length && text[digit] == '-';
    if (minus || (digit < length && text[digit] == '+')) digit++;
    if (digit >= length || !fc_is_digit(text[digit])) return at;
    for (; digit < length && fc_is_digit(text[digit]); digit++)
        if (*exponent < 100000) *exponent = *exponent * 10 + (text[digit] - '0');
    if (minus) *exponent = -*exponent;
    return digit;
}

size_t fc_scan_real(const char *text, size_t length, double *value)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    struct decimal d = {0};
    long exponent;
    size_t at = length > 0 && (text[0] == '-' || text[0] == '+');
    bool minus = at && text[0] == '-';
    at = scan_digits(text, at, length, false, &d);
    if (at < length && text[at] == '.') at = scan_digits(text, at + 1, length, true, &d);
    if (!d.any) return 0;
    at = scan_exponent(text, at, length, &exponent);

    exponent -= d.point;
    if (d.n_digits <= 19 && d.digits <= (UINT64_C(1) << 53) && exponent >= -22 && exponent <= 22) {
        double v = (double)d.digits;
        v = exponent < 0 ? v / power[-exponent] : v * power[exponent];
        *value = minus ? -v : v;
        return at;
    }
    char copy[121];
    *value = NAN;
    if (at >= sizeof copy) return at;
    memcpy(copy, text, at);
    copy[at] = '\0';
    double v = strtod(copy, NULL);
    if (isfinite(v) && (v != 0 || d.n_digits == 0)) *value = v;
    return at;
}

size_t fc_scan_int(const char *text, size_t length, long long *value, int *fits)
{
    size_t start = length > 0 && (text[0] == '-' || text[0] == '+'), at = start;
    bool minus = start && text[0] == '-';
    long long v = 0;
    *fits = 1;
    for (; at < length && fc_is_digit(text[at]); at++) {
        int digit = text[at] - '0';
        if (*fits && (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, minus ? -digit : digit, &v)))
            *fits = 0;
    }
    *value = *fits ? v : minus ? LLONG_MIN : LLONG_MAX;
    return at == start ? 0 : at;
}
