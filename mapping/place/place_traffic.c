/* place_traffic.c - what uniform traffic on a k_1 x ... x k_n torus does in one chip, in closed form.
 *
 * A packet draws its offset in each dimension: none with 1/k, else each way with p = (k - 1) / (2 k) and q =
 * kbar / 2 hops on average (kbar the mean ring distance; Dally & Towles ch. 5; ties of even rings go either
 * way with 1/2). Per packet:
 *
 *   straight on in dimension i      q_i - p_i                                    (each way)
 *   from dimension i to j           p_i p_j x (nothing between them moves)
 *   i is the first, the last        p_i x (nothing before, after it moves)
 *
 * In dimension order "between" are those of i < m < j, each still with 1/k_m. Over all n! orders a set of m
 * dimensions is what lies between i and j in m! (n-m-1)! of them, and before or after i in m! (n-1-m)!, so
 * the means are sums of elementary symmetric functions of the 1/k. Over all minimal paths (h hops, a_i of
 * them in dimension i, h!/prod a_i! paths alike) a step i is followed by a step j != i on average a_i a_j / h
 * times, by another i a_i (a_i - 1) / h times, and i is first, or last, with a_i / h: means over offsets by
 * convolution of their distributions. */
#include "mapping/place/place.h"

#include <stdlib.h>
#include <string.h>

const char *const fc_chip_turns_names[] = {"dimension-order", "orders", "paths", NULL};

static double moves(uint32_t k)
{
    return (k - 1.0) / (2.0 * k);
}

/* Mean hops each way. */
static double hops(uint32_t size)
{
    double k = size;
    return (size % 2 ? (k - 1 / k) / 4 : k / 4) / 2;
}

static void spread(struct fc_torus_turns *out, int i, int j, double value)
{
    for (int s = 0; s < 2; s++)
        for (int t = 0; t < 2; t++)
            if (i != j || s == t) out->turn[i][s][j][t] = value;
}

static void in_order(int n, const uint32_t *k, struct fc_torus_turns *out)
{
    double before = 1, stay = 1;
    for (int i = 0; i < n; i++) stay /= k[i];
    for (int i = 0; i < n; i++) {
        double p = moves(k[i]), between = 1;
        stay *= k[i]; /* now of the dimensions after i */
        for (int s = 0; s < 2; s++) {
            out->first[i][s] = p * before;
            out->last[i][s] = p * stay;
        }
        for (int j = i + 1; j < n; j++) {
            spread(out, i, j, p * moves(k[j]) * between);
            between /= k[j];
        }
        before /= k[i];
    }
}

/* Sum over subsets of the dimensions but i and j, of m of them, of prod 1/k times m! (n - left - m)! / n!. */
static double mean_over_orders(int n, const uint32_t *k, int i, int j, int left)
{
    double e[FC_MAX_DIMS + 1] = {1}, factorial[FC_MAX_DIMS + 1] = {1}, sum = 0;
    int others = 0;
    for (int d = 1; d <= n; d++) factorial[d] = d * factorial[d - 1];
    for (int d = 0; d < n; d++) {
        if (d == i || d == j) continue;
        others++;
        for (int m = others; m > 0; m--) e[m] += e[m - 1] / k[d];
    }
    for (int m = 0; m <= others; m++) sum += e[m] * factorial[m] * factorial[n - left - m] / factorial[n];
    return sum;
}

static void over_orders(int n, const uint32_t *k, struct fc_torus_turns *out)
{
    for (int i = 0; i < n; i++) {
        double end = moves(k[i]) * mean_over_orders(n, k, i, i, 1);
        for (int s = 0; s < 2; s++) out->first[i][s] = out->last[i][s] = end;
        for (int j = 0; j < n; j++)
            if (j != i) spread(out, i, j, moves(k[i]) * moves(k[j]) * mean_over_orders(n, k, i, j, 1));
    }
}

/* Probability of offset a one way (a > 0), or of none. */
static double offset_share(uint32_t k, uint32_t a)
{
    return a && 2 * a == k ? 0.5 / k : 1.0 / k;
}

enum step { BOTH_WAYS, ONE_WAY, TWO_STEPS }; /* weights of an offset: 1; a; a (a - 1), the last two one way only */

/* x[0..length) convolved with the distribution of dimension size k, weighted; returns the new length. */
static size_t convolve(double *x, size_t length, double *scratch, uint32_t k, enum step step)
{
    uint32_t reach = k / 2;
    memset(scratch, 0, (length + reach) * sizeof *scratch);
    for (uint32_t a = 0; a <= reach; a++) {
        double share = offset_share(k, a), weight = step == BOTH_WAYS ? (a ? 2 : 1)
                                                    : step == ONE_WAY ? a
                                                                      : a * (a - 1.0);
        for (size_t h = 0; h < length; h++) scratch[h + a] += x[h] * share * weight;
    }
    memcpy(x, scratch, (length + reach) * sizeof *x);
    return length + reach;
}

/* Mean of (weight of i) (weight of j) / h; j == i: of one dimension. */
static double mean_over_paths(int n, const uint32_t *k, int i, enum step of_i, int j, double *x, double *scratch)
{
    size_t length = 1;
    double sum = 0;
    x[0] = 1;
    for (int d = 0; d < n; d++)
        length = convolve(x, length, scratch, k[d], d == i ? of_i : d == j ? ONE_WAY : BOTH_WAYS);
    for (size_t h = 1; h < length; h++) sum += x[h] / (double)h;
    return sum;
}

static void over_paths(int n, const uint32_t *k, struct fc_torus_turns *out, double *x, double *scratch)
{
    for (int i = 0; i < n; i++) {
        double end = mean_over_paths(n, k, i, ONE_WAY, i, x, scratch);
        for (int s = 0; s < 2; s++) out->first[i][s] = out->last[i][s] = end;
        for (int j = 0; j < n; j++)
            spread(out, i, j, mean_over_paths(n, k, i, i == j ? TWO_STEPS : ONE_WAY, j, x, scratch));
    }
}

void fc_torus_turns_uniform(int n, const uint32_t *k, int turns, struct fc_torus_turns *out)
{
    size_t reach = 2;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < n; i++) spread(out, i, i, hops(k[i]) - moves(k[i]));
    for (int i = 0; i < n; i++) reach += k[i] / 2 + 1;
    if (turns == FC_CHIP_DIMENSION_ORDER) in_order(n, k, out);
    if (turns == FC_CHIP_ORDERS) over_orders(n, k, out);
    double *x = turns == FC_CHIP_PATHS ? calloc(2 * reach, sizeof *x) : NULL;
    if (x) over_paths(n, k, out, x, x + reach);
    free(x);
}
