/* units.c - quantities with units, the only place where units are converted.
 *
 * Inside the library everything is in base units: bytes, seconds, bytes/s, Hz, s/B, m. Decimal prefixes are
 * powers of 1000, Ki Mi Gi Ti Pi powers of 1024; B is a byte, b or bit an eighth of one. Sub-units of time
 * divide by an exact power of ten instead of multiplying by an inexact one, so a whole number of ns is the
 * nearest double ("35 ns" equals 35e-9); a fraction is within one unit in the last place. */
#include "core/core.h"
#include "core/number.h"

#include <math.h>
#include <string.h>

struct name_scale {
    const char *name;
    double times, over; /* base = number * times / over */
};

static const struct name_scale times_of_day[] = {
    {"s", 1, 1},           {"ms", 1, 1e3},        {"us", 1, 1e6},
    {"\xc2\xb5s", 1, 1e6}, /* U+00B5 micro sign */
    {"ns", 1, 1e9},        {"\xce\xbcs", 1, 1e6}, /* U+03BC Greek mu */ {"ps", 1, 1e12},
};
static const struct name_scale prefixes[] = {
    {"Ki", 1024, 1},   {"Mi", 1024. * 1024, 1}, {"Gi", 1024. * 1024 * 1024, 1},
    {"Ti", 0x1p40, 1}, {"Pi", 0x1p50, 1},       {"k", 1e3, 1},
    {"K", 1e3, 1},     {"M", 1e6, 1},           {"G", 1e9, 1},
    {"T", 1e12, 1},    {"P", 1e15, 1},          {"", 1, 1},
};
static const struct name_scale sizes[] = {{"B", 1, 1}, {"byte", 1, 1}, {"bytes", 1, 1}};
static const struct name_scale rates[] = {{"B/s", 1, 1}, {"b/s", 1, 8}, {"bit/s", 1, 8}, {"bits/s", 1, 8}};
static const struct name_scale hertz[] = {{"Hz", 1, 1}};
static const struct name_scale metres[] = {{"m", 1, 1}, {"cm", 1, 100}, {"mm", 1, 1000}};

static const char *expected(enum fc_unit unit)
{
    switch (unit) {
    case FC_NUMBER: return "a number without unit, e.g. 0.25";
    case FC_BYTES: return "bytes, e.g. 256 B or 1 KiB";
    case FC_SECONDS: return "a time, e.g. 35 ns, 1.5 us or 12 cycles";
    case FC_BYTES_PER_S: return "bytes/s, e.g. 175 MB/s";
    case FC_HERTZ: return "a frequency, e.g. 700 MHz";
    case FC_SECONDS_PER_BYTE: return "a time per byte, e.g. 6 ns/B";
    case FC_METRES: return "a length, e.g. 2 m or 60 cm";
    }
    return "a quantity";
}

static bool same(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

static bool find_scale(const struct name_scale *list, size_t n, const char *text, size_t length,
                       struct name_scale *scale)
{
    for (size_t i = 0; i < n; i++)
        if (same(list[i].name, text, length)) {
            *scale = list[i];
            return true;
        }
    return false;
}

/* A prefix and a unit of `list`; binary prefixes stand before the decimal ones that start alike. */
static bool find_prefixed(const struct name_scale *list, size_t n, bool binary, const char *text, size_t length,
                          struct name_scale *scale)
{
    for (size_t i = 0; i < FC_COUNT(prefixes); i++) {
        size_t skip = strlen(prefixes[i].name);
        if ((skip == 2 && !binary) || skip > length || memcmp(prefixes[i].name, text, skip) != 0) continue;
        if (find_scale(list, n, text + skip, length - skip, scale)) {
            scale->times *= prefixes[i].times;
            return true;
        }
    }
    return false;
}

/* Times, and cycles where a clock is known. A phit is what a link moves in one cycle, so its time is one
 * cycle. */
static bool find_time(const char *text, size_t length, double clock_hz, struct name_scale *scale)
{
    static const char *const cycles[] = {"cycles", "cycle", "phits", "phit"};
    for (size_t i = 0; clock_hz > 0 && i < FC_COUNT(cycles); i++)
        if (same(cycles[i], text, length)) {
            *scale = (struct name_scale){cycles[i], 1, clock_hz};
            return true;
        }
    return find_scale(times_of_day, FC_COUNT(times_of_day), text, length, scale);
}

static bool find_unit(enum fc_unit unit, const char *text, size_t length, double clock_hz, struct name_scale *scale)
{
    *scale = (struct name_scale){"", 1, 1};
    if (length == 0) return true;
    switch (unit) {
    case FC_NUMBER: return false;
    case FC_BYTES: return find_prefixed(sizes, FC_COUNT(sizes), true, text, length, scale);
    case FC_SECONDS: return find_time(text, length, clock_hz, scale);
    case FC_BYTES_PER_S: return find_prefixed(rates, FC_COUNT(rates), true, text, length, scale);
    case FC_HERTZ: return find_prefixed(hertz, FC_COUNT(hertz), false, text, length, scale);
    case FC_SECONDS_PER_BYTE:
        return length > 2 && memcmp(text + length - 2, "/B", 2) == 0 && find_time(text, length - 2, clock_hz, scale);
    case FC_METRES: return find_scale(metres, FC_COUNT(metres), text, length, scale);
    }
    return false;
}

static bool wants_clock(enum fc_unit unit, const char *text, size_t length)
{
    struct name_scale scale;
    return (unit == FC_SECONDS || unit == FC_SECONDS_PER_BYTE) && find_unit(unit, text, length, 1, &scale);
}

enum fc_code fc_quantity(const char *text, enum fc_unit unit, double clock_hz, double *value, struct fc_place where,
                         struct fc_status *st)
{
    static const char blanks[] = " \t\r\n";
    text += strspn(text, blanks);
    size_t length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1])) length--;
    int shown = length < 60 ? (int)length : 60;

    double number;
    size_t used = fc_scan_real(text, length, &number);
    const char *name = text + used + strspn(text + used, blanks);
    size_t name_length = used < length ? (size_t)(text + length - name) : 0;
    struct name_scale scale;
    if (used == 0)
        return fc_fail(st, FC_INPUT, where, "'%.*s' is not a quantity (expected %s)", shown, text, expected(unit));
    if (!find_unit(unit, name, name_length, clock_hz, &scale)) {
        if (wants_clock(unit, name, name_length))
            return fc_fail(st, FC_INPUT, where,
                           "'%.*s' needs a clock, and none is known here (expected a time, "
                           "e.g. 35 ns)",
                           shown, text);
        return fc_fail(st, FC_INPUT, where, "'%.*s' is not a quantity (expected %s)", shown, text, expected(unit));
    }
    if (isnan(number))
        return fc_fail(st, FC_INPUT, where, "'%.*s' is too large or too small (expected %s)", shown, text,
                       expected(unit));
    if (text[0] == '-')
        return fc_fail(st, FC_INPUT, where, "'%.*s' is negative (expected %s)", shown, text, expected(unit));
    if (unit == FC_SECONDS && clock_hz > 0 && name_length == 0 && number != 0)
        return fc_fail(st, FC_INPUT, where, "'%.*s' is ambiguous (write %.*s cycles or %.*s ns)", shown, text, shown,
                       text, shown, text);

    /* Sizes become counts of bytes in 64-bit integers further on. */
    double base = number * scale.times / scale.over;
    if (!isfinite(base) || (unit == FC_BYTES && base >= 0x1p63))
        return fc_fail(st, FC_INPUT, where, "'%.*s' is too large (expected %s)", shown, text, expected(unit));
    if (base == 0 && number != 0)
        return fc_fail(st, FC_INPUT, where, "'%.*s' is too small (expected %s)", shown, text, expected(unit));
    *value = base;
    return FC_OK;
}

/* Four significant digits, but whole numbers stay whole: 12345, not 1.234e+04. */
static void format_number(char *out, size_t size, double value)
{
    double v = fabs(value);
    snprintf(out, size, v >= 999.95 && v < 1e15 ? "%.0f" : "%.4g", value);
}

/* The prefix that leaves 1 <= number < 1000 after rounding to four digits, or the nearest there is. */
static size_t choose(const double *scales, size_t n, double value)
{
    size_t i = 0; /* scales fall */
    while (i + 1 < n && fabs(value) / scales[i] < 0.99995) i++;
    return i;
}

char *fc_format(char *out, size_t size, double value, enum fc_unit unit)
{
    static const double down[] = {1, 1e-3, 1e-6, 1e-9, 1e-12}, up[] = {1e15, 1e12, 1e9, 1e6, 1e3, 1};
    static const char *const down_name[] = {"", "m", "u", "n", "p"}, *const up_name[] = {"P", "T", "G", "M", "K", ""};
    char number[40];
    if (isnan(value)) return snprintf(out, size, "-"), out;
    if (unit == FC_NUMBER || unit == FC_METRES || isinf(value)) {
        format_number(number, sizeof number, value);
        return snprintf(out, size, "%s%s", number, unit == FC_METRES ? " m" : ""), out;
    }
    bool time = unit == FC_SECONDS || unit == FC_SECONDS_PER_BYTE;
    size_t i = time ? choose(down, FC_COUNT(down), value) : choose(up, FC_COUNT(up), value);
    if (value == 0) i = time ? 0 : FC_COUNT(up) - 1;
    format_number(number, sizeof number, time ? value / down[i] : value / up[i]);
    const char *prefix = time ? down_name[i] : unit == FC_HERTZ && i == 4 ? "k" : up_name[i];
    const char *base = unit == FC_BYTES         ? "B"
                       : unit == FC_BYTES_PER_S ? "B/s"
                       : unit == FC_HERTZ       ? "Hz"
                       : unit == FC_SECONDS     ? "s"
                                                : "s/B";
    snprintf(out, size, "%s %s%s", number, prefix, base);
    return out;
}
