/* transit_mix.h - what flows that mix leave of a link, by the definition of transit_fair_mix.c. */
#pragma once

#include <stdint.h>

/* The definition: what is left of 1 where these flows mix. */
static inline double part_left(uint32_t n, const double *w, const double *blocks, const uint32_t *way, double limit)
{
    double sum = 0, squares = 0, blocked = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += w[i];
        for (uint32_t j = 0; j < n; j++) /* those of one way are one */
            if (i == j || (way && way[i] == way[j])) squares += w[i] * w[j];
        blocked += w[i] * blocks[i];
    }
    return n < 2 ? 1 : 1 - (1 - limit) * (blocked / sum) * (1 - squares / (sum * sum));
}

/* The definition: how often its bandwidth b a link has, where the weights of messages that spread are w[n], free_bytes_per_s[n] what each has alone, of
 * `weight` of all flows. */
static inline double part_spread(uint32_t n, const double *w, const double *free_bytes_per_s, double weight, double b)
{
    double squares = 0, more = 0;
    for (uint32_t i = 0; i < n; i++) {
        double g = w[i] * free_bytes_per_s[i] / b - 1;
        squares += w[i] * w[i];
        more += w[i] * w[i] * (g > 0 ? g : 0);
    }
    double q = n ? (4 * squares / (weight * weight) - 1) / 3 : 0;
    return q > 0 ? 1 + q * q * (more / squares) : 1;
}
