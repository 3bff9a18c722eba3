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
