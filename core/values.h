/* values.h - orders and divisors of plain numbers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* For qsort and bsearch, ascending: uint32_t, or what begins with one; double. */
static inline int fc_by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}
static inline int fc_by_real(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
/* The greatest number that divides both; the other one where one is 0. */
static inline uint64_t fc_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
static inline bool fc_is_digit(char c)
{
    return c >= '0' && c <= '9';
}
