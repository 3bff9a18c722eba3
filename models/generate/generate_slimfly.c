/* generate_slimfly.c - Slim Fly: McKay, Miller & Siran's graphs of diameter two.
 *
 * Over the finite field of q = 4 w + delta elements (delta -1, 0, 1; q a power of a prime) with primitive element z there are
 * routers (0, x, y) and (1, m, c), 2 q^2 in all, and
 *     (0, x, y) ~ (0, x, y')    where y - y' is in X
 *     (1, m, c) ~ (1, m, c')    where c - c' is in X'
 *     (0, x, y) ~ (1, m, c)     where y = m x + c
 *     delta  1:  X = {z^0, z^2, .., z^(q-3)}                        X' = {z^1, z^3, .., z^(q-2)}
 *     delta  0:  X = {z^0, z^2, .., z^(q-2)}                        X' = {z^1, z^3, .., z^(q-1)}
 *     delta -1:  X = {z^0, z^2, .., z^(2w-2), z^(2w-1), z^(2w+1), .., z^(4w-3)}
 *                X' = {z^1, z^3, .., z^(2w-1), z^(2w), z^(2w+2), .., z^(4w-2)}
 * Each router has (3 q - delta) / 2 links; half as many nodes, rounded up, fill them (the default). Source: Besta & Hoefler,
 * "Slim Fly: a cost effective low-diameter network topology", SC'14, section 3; Hafner, SIAM J. Discrete Math. 2004. */
#include "models/generate/generate.h"

#include <string.h>

enum { MOST_Q = 128 };

struct settings {
    struct fc_generated_rates rates;
    long long q, nodes;
};

/* The field of p^m elements; an element is a polynomial over the integers mod p, its coefficients the digits in base p. */
struct field {
    uint32_t p, m, q;
    uint32_t modulus[8]; /* coefficients of z^0 .. z^(m-1) of the irreducible polynomial z^m + ... */
};

static bool is_power_of_prime(uint32_t q, struct field *f)
{
    uint32_t p = 2, rest = q;
    while (p * p <= q && q % p) p++;
    if (q % p) p = q;
    for (f->m = 0; rest % p == 0; rest /= p) f->m++;
    f->p = p;
    f->q = q;
    return rest == 1;
}

static uint32_t difference(const struct field *f, uint32_t a, uint32_t b)
{
    uint32_t out = 0;
    for (uint32_t i = 0, scale = 1; i < f->m; i++, scale *= f->p, a /= f->p, b /= f->p)
        out += (a % f->p + f->p - b % f->p) % f->p * scale;
    return out;
}
static uint32_t product(const struct field *f, uint32_t a, uint32_t b)
{
    uint32_t digits[16] = {0}, out = 0;
    for (uint32_t i = 0, x = a; i < f->m; i++, x /= f->p)
        for (uint32_t k = 0, y = b; k < f->m; k++, y /= f->p)
            digits[i + k] = (digits[i + k] + x % f->p * (y % f->p)) % f->p;
    for (uint32_t i = 2 * f->m - 1; i-- > f->m;) /* z^i = -z^(i-m) (modulus) */
        for (uint32_t k = 0; k < f->m; k++)
            digits[i - f->m + k] = (digits[i - f->m + k] + digits[i] * (f->p - f->modulus[k])) % f->p;
    for (uint32_t i = f->m; i-- > 0;) out = out * f->p + digits[i];
    return out;
}

/* power[i] = z^i, i < q - 1, where they are all different: then the modulus is irreducible and z primitive. */
static bool powers_of(const struct field *f, uint32_t z, uint32_t *power)
{
    bool seen[MOST_Q] = {false};
    uint32_t x = 1;
    for (uint32_t i = 0; i + 1 < f->q; i++, x = product(f, x, z)) {
        if (x == 0 || seen[x]) return false;
        seen[x] = true;
        power[i] = x;
    }
    return x == 1;
}

static bool find_field(struct field *f, uint32_t *power)
{
    for (uint32_t modulus = 0; modulus < f->q; modulus++) {
        for (uint32_t i = 0, x = modulus; i < f->m; i++, x /= f->p) f->modulus[i] = x % f->p;
        if (f->m == 1) f->modulus[0] = 0;
        for (uint32_t z = 1; z < f->q; z++)
            if (powers_of(f, z, power)) return true;
    }
    return false;
}

/* X and X' as sets. */
static void find_sets(uint32_t q, int delta, const uint32_t *power, bool *x, bool *x1)
{
    uint32_t w = (uint32_t)((int)q - delta) / 4;
    for (uint32_t i = 0; i + 1 < q; i++) {
        bool even = i % 2 == 0;
        bool in = delta < 0 ? (i < 2 * w - 1 ? even : !even) : even;
        bool in1 = delta < 0 ? (i < 2 * w ? !even : even) : !even;
        if (delta <= 0 && i == 0) in1 = true; /* z^(q-1) = z^0 */
        x[power[i]] = in;
        x1[power[i]] = in1;
    }
}

static enum fc_code make(const void *settings, struct fc_generated *g, struct fc_status *st)
{
    const struct settings *s = settings;
    struct field f = {0};
    uint32_t q = (uint32_t)s->q, power[MOST_Q];
    int delta = q % 4 == 3 ? -1 : (int)(q % 4);
    bool x[MOST_Q] = {false}, x1[MOST_Q] = {false};
    if (delta == 2 || !is_power_of_prime(q, &f) || !find_field(&f, power))
        return fc_refuse(st, FC_INPUT, "q: %u is no power of a prime of the form 4 w - 1, 4 w or 4 w + 1", q);
    uint32_t degree = (uint32_t)((int)(3 * q) - delta) / 2;
    uint64_t nodes = s->nodes ? (uint64_t)s->nodes : (degree + 1) / 2;
    if (fc_generated_graph(g, 2ull * q * q, nodes, (uint64_t)q * q * degree, st)) return st->code;
    g->vcs = 2;
    snprintf(g->title, sizeof g->title, "Slim Fly of q = %u: %u routers of %u links to others, %llu nodes each", q,
             2 * q * q, degree, (unsigned long long)nodes);
    find_sets(q, delta, power, x, x1);
    for (uint32_t a = 0; a < q; a++) /* x, or m */
        for (uint32_t b = 0; b < q; b++) {
            for (uint32_t c = b + 1; c < q; c++) {
                if (x[difference(&f, b, c)]) fc_generated_cable(g, a * q + b, a * q + c);
                if (x1[difference(&f, b, c)]) fc_generated_cable(g, (q + a) * q + b, (q + a) * q + c);
            }
            for (uint32_t m = 0; m < q; m++) /* y = b is m x + c */
                fc_generated_cable(g, a * q + b, (q + m) * q + difference(&f, b, product(&f, m, a)));
        }
    return FC_OK;
}

static const struct fc_key keys[] = {
    {"q", FC_KEY_INT, FC_NUMBER, offsetof(struct settings, q), 3, MOST_Q - 1, NULL, "9", "a power of a prime"},
    {"nodes", FC_KEY_INT, FC_NUMBER, offsetof(struct settings, nodes), 0, 1024, NULL, "0",
     "of a router; 0: half its links to others"},
    FC_GENERATED_RATES(struct settings),
};

const struct fc_generator_ops fc_generator_slimfly = {
    .name = "slimfly",
    .help = "graphs of diameter two: q=9,nodes=7",
    .source = "Besta & Hoefler, SC'14",
    FC_SETTINGS(keys, struct settings),
    .make = make,
};
