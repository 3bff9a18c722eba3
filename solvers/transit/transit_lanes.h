/* transit_lanes.h - doubles that are chosen by masks, not by branches, which processors would guess wrong half of the time. Kept in
 * vector registers from load to store, since masks are there. The same bits as plain arithmetic. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
typedef __m128d fc_lane; /* the lower half counts */
typedef __m128d fc_lane_mask;
static inline fc_lane fc_lane_of(double x)
{
    return _mm_set_sd(x);
}
static inline double fc_lane_value(fc_lane a)
{
    return _mm_cvtsd_f64(a);
}
static inline fc_lane fc_lane_load(const double *x)
{
    return _mm_load_sd(x);
}
static inline void fc_lane_store(double *x, fc_lane a)
{
    _mm_store_sd(x, a);
}
static inline fc_lane fc_lane_add(fc_lane a, fc_lane b)
{
    return _mm_add_sd(a, b);
}
static inline fc_lane fc_lane_sub(fc_lane a, fc_lane b)
{
    return _mm_sub_sd(a, b);
}
static inline fc_lane fc_lane_mul(fc_lane a, fc_lane b)
{
    return _mm_mul_sd(a, b);
}
static inline fc_lane fc_lane_div(fc_lane a, fc_lane b)
{
    return _mm_div_sd(a, b);
}
static inline fc_lane fc_lane_min(fc_lane a, fc_lane b)
{
    return _mm_min_sd(a, b);
}
static inline fc_lane_mask fc_lane_greater(fc_lane a, fc_lane b)
{
    return _mm_cmplt_sd(b, a);
}
static inline fc_lane_mask fc_lane_where(bool is)
{
    return _mm_castsi128_pd(_mm_cvtsi64_si128(-(int64_t)is));
}
static inline uint32_t fc_lane_is(fc_lane_mask mask)
{
    return (uint32_t)_mm_movemask_pd(mask) & 1;
}
static inline fc_lane_mask fc_lane_any(fc_lane_mask a, fc_lane_mask b)
{
    return _mm_or_pd(a, b);
}
/* a where the mask is, 0 elsewhere; the other way round. */
static inline fc_lane fc_lane_inside(fc_lane_mask mask, fc_lane a)
{
    return _mm_and_pd(mask, a);
}
static inline fc_lane fc_lane_outside(fc_lane_mask mask, fc_lane a)
{
    return _mm_andnot_pd(mask, a);
}
static inline fc_lane fc_lane_choose(fc_lane_mask mask, fc_lane a, fc_lane b)
{
    return _mm_or_pd(_mm_and_pd(mask, a), _mm_andnot_pd(mask, b));
}
/* a - b where `is`, else b. */
static inline fc_lane fc_lane_rest(bool is, fc_lane a, fc_lane b)
{
    static const uint64_t bits[2][4] __attribute__((aligned(16))) = {{0}, {UINT64_MAX, 0, UINT64_C(1) << 63, 0}};
    const __m128d *masks = (const __m128d *)bits[is];
    return _mm_add_sd(_mm_xor_pd(b, masks[1]), _mm_and_pd(a, masks[0]));
}
#else
typedef double fc_lane;
typedef bool fc_lane_mask;
static inline fc_lane fc_lane_of(double x)
{
    return x;
}
static inline double fc_lane_value(fc_lane a)
{
    return a;
}
static inline fc_lane fc_lane_load(const double *x)
{
    return *x;
}
static inline void fc_lane_store(double *x, fc_lane a)
{
    *x = a;
}
static inline fc_lane fc_lane_add(fc_lane a, fc_lane b)
{
    return a + b;
}
static inline fc_lane fc_lane_sub(fc_lane a, fc_lane b)
{
    return a - b;
}
static inline fc_lane fc_lane_mul(fc_lane a, fc_lane b)
{
    return a * b;
}
static inline fc_lane fc_lane_div(fc_lane a, fc_lane b)
{
    return a / b;
}
static inline fc_lane fc_lane_min(fc_lane a, fc_lane b)
{
    return a < b ? a : b;
}
static inline fc_lane_mask fc_lane_greater(fc_lane a, fc_lane b)
{
    return a > b;
}
static inline fc_lane_mask fc_lane_where(bool is)
{
    return is;
}
static inline uint32_t fc_lane_is(fc_lane_mask mask)
{
    return mask;
}
static inline fc_lane_mask fc_lane_any(fc_lane_mask a, fc_lane_mask b)
{
    return a | b;
}
static inline fc_lane fc_lane_inside(fc_lane_mask mask, fc_lane a)
{
    return mask ? a : 0;
}
static inline fc_lane fc_lane_outside(fc_lane_mask mask, fc_lane a)
{
    return mask ? 0 : a;
}
static inline fc_lane fc_lane_choose(fc_lane_mask mask, fc_lane a, fc_lane b)
{
    return mask ? a : b;
}
static inline fc_lane fc_lane_rest(bool is, fc_lane a, fc_lane b)
{
    return is ? a - b : b;
}
#endif
