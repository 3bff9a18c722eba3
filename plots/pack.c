/* pack.c - arrays as short text: a dictionary, byte planes, deflate, base64.
 *
 * Loads of a structured pattern take few distinct values, so a link costs an index of one or two bytes, whose
 * low bytes come first and then the high ones, which deflate well. Layout before deflate, little-endian:
 * reals: u32 count, u32 bytes of an index, f64 value[count] (value 0 is NaN, the others ascend), then the
 * planes of the indices. Numbers: u32 bytes, u32 0, then planes of the differences modulo 2^32 to the number
 * before. Limits: where there are more distinct reals than asked for, mantissas lose bits, all of them as
 * many; 16 bits are an error of at most 2^-16. */
#include "core/values.h"
#include "plots/pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static enum fc_code encode(const unsigned char *raw, size_t size, struct fc_arena *arena, struct fc_packed *out,
                           struct fc_status *st)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uLongf n = compressBound(size);
    unsigned char *z = fc_alloc(&scratch, n + 3, 1, st);
    char *text = NULL, *to;
    if (z && compress2(z, &n, raw, size, 9) != Z_OK) fc_out_of_memory(st, "the page");
    if (!st->code) text = fc_alloc(arena, (n + 2) / 3 * 4 + 1, 1, st);
    if (!st->code) {
        memset(z + n, 0, 3);
        to = text;
        for (size_t i = 0; i < n; i += 3) {
            uint32_t three = (uint32_t)z[i] << 16 | (uint32_t)z[i + 1] << 8 | z[i + 2];
            for (int k = 0; k < 4; k++) *to++ = digits[three >> (18 - 6 * k) & 63];
        }
        for (size_t i = n; i % 3; i++) to[(long)(i % 3) - 3] = '=';
        out->text = text;
        out->length = (n + 2) / 3 * 4;
    }
    return st->code;
}

static void put32(unsigned char *to, uint32_t x)
{
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(x >> (8 * i));
}

static void put_real(unsigned char *to, double x)
{
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    put32(to, (uint32_t)word);
    put32(to + 4, (uint32_t)(word >> 32));
}

/* ---- reals ---- */

/* The nearest number of `bits` mantissa bits. */
static double rounded(double x, int bits)
{
    int exponent;
    if (bits >= 53 || x == 0 || !isfinite(x)) return x;
    double m = frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(m, bits)), exponent - bits);
}

/* Sorted v without NaN and repetitions into value; returns how many. */
static size_t distinct(const double *v, size_t n, double *value)
{
    size_t m = 0, k = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(v[i])) value[m++] = v[i] + 0.0; /* no -0 */
    qsort(value, m, sizeof *value, fc_by_real);
    for (size_t i = 0; i < m; i++)
        if (i == 0 || value[i] != value[k - 1]) value[k++] = value[i];
    return k;
}

/* The distinct values of `bits` mantissa bits; rounding keeps the order. */
static size_t fewer(const double *exact, size_t n, int bits, double *value)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        double x = rounded(exact[i], bits);
        if (k == 0 || x != value[k - 1]) value[k++] = x;
    }
    return k;
}

static uint32_t place_of(const double *value, size_t n, double x)
{
    size_t low = 0, high = n;
    while (low + 1 < high) {
        size_t middle = (low + high) / 2;
        if (value[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

enum fc_code fc_pack_reals(const double *v, size_t n, uint32_t most_values, struct fc_arena *arena,
                           struct fc_packed *out, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    double *exact = fc_alloc(&scratch, n + 1, sizeof *exact, st), *value = fc_alloc(&scratch, n + 1, sizeof *value, st);
    size_t n_exact = exact && value ? distinct(v, n, exact) : 0, count = n_exact;
    int bits = 53;
    while (count > most_values && bits > 1) {
        bits = bits == 53 ? 24 : bits - 1;
        count = fewer(exact, n_exact, bits, value);
    }
    if (bits == 53 && !st->code) memcpy(value, exact, count * sizeof *value);
    if (!st->code && count > most_values) fc_refuse(st, FC_NO, "the loads span too many powers of two for a page");
    uint32_t width = count + 1 <= 256 ? 1 : 2;
    size_t head = 8 + 8 * (count + 1), size = head + n * width;
    unsigned char *raw = st->code ? NULL : fc_alloc(&scratch, size, 1, st);
    if (raw) {
        put32(raw, (uint32_t)count + 1);
        put32(raw + 4, width);
        put_real(raw + 8, NAN);
        for (size_t i = 0; i < count; i++) put_real(raw + 16 + 8 * i, value[i]);
        for (size_t i = 0; i < n; i++) {
            uint32_t index = isnan(v[i]) ? 0 : 1 + place_of(value, count, rounded(v[i], bits));
            for (uint32_t k = 0; k < width; k++) raw[head + k * n + i] = (unsigned char)(index >> (8 * k));
        }
        out->n_values = (uint32_t)count;
        out->bits = bits;
        encode(raw, size, arena, out, st);
    }
    return st->code;
}

/* ---- whole numbers and text ---- */

enum fc_code fc_pack_numbers(const uint32_t *v, size_t n, struct fc_arena *arena, struct fc_packed *out,
                             struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    unsigned char *raw = fc_alloc(&scratch, 8 + 4 * n, 1, st);
    if (raw) {
        put32(raw, 4);
        for (size_t i = 0; i < n; i++) {
            uint32_t difference = v[i] - (i ? v[i - 1] : 0);
            for (int k = 0; k < 4; k++) raw[8 + (size_t)k * n + i] = (unsigned char)(difference >> (8 * k));
        }
        encode(raw, 8 + 4 * n, arena, out, st);
    }
    return st->code;
}

enum fc_code fc_pack_text(const char *text, size_t n, struct fc_arena *arena, struct fc_packed *out,
                          struct fc_status *st)
{
    return encode((const unsigned char *)text, n, arena, out, st);
}
