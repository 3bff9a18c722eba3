/* transit_lows.h - which of many keys is least, when they are changed more often than asked for.
 *
 * Up to FLAT keys are all looked at when the least is asked for: setting one is no more than that.
 *
 * More are a tree of minima with FAN children: level 0 holds the keys, level k + 1 the least of each block of level k. Setting one
 * of the first NOTED keys only notes its block (behind the first FEW, where most are not looked at again, only if the block
 * may have another least), and what is noted is looked at when the least is asked for; a key behind them is told to the
 * levels above at once. Setting is O(1), asking O(FAN) for each block noted, both without branches that a processor
 * would guess wrong, where a heap mispredicts every exchange. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    FC_LOWS_FAN = 16,
    FC_LOWS_LEVELS = 8,
    FC_LOWS_NOTED = 64 * FC_LOWS_FAN,
    FC_LOWS_FEW = 256,
    FC_LOWS_FLAT = 16 * FC_LOWS_FAN
};
struct fc_lows {
    double *key[FC_LOWS_LEVELS]; /* [k][n / FAN^k, rounded up]; behind them, and wherever nobody has a key, INFINITY */
    uint32_t n;
    int top;        /* 0: at most FLAT keys, there is no tree; else the level that is one block, */
    uint64_t room;  /* with which so many keys can be */
    uint64_t noted; /* bit i: block i of level 0 */
};

/* Doubles that `most` keys need, and *lows on them. */
static inline uint64_t fc_lows_room(uint32_t most)
{
    uint64_t room = 0, n = (uint64_t)most + 1;
    for (int k = 0; k < FC_LOWS_LEVELS; k++) {
        n = (n + FC_LOWS_FAN - 1) / FC_LOWS_FAN;
        room += n * FC_LOWS_FAN;
    }
    return room;
}
static inline void fc_lows_on(struct fc_lows *lows, double *room, uint32_t most)
{
    uint64_t n = (uint64_t)most + 1;
    for (uint64_t i = fc_lows_room(most); i-- > 0;) room[i] = INFINITY;
    *lows = (struct fc_lows){.room = FC_LOWS_FLAT};
    for (int k = 0; k < FC_LOWS_LEVELS; k++) {
        n = (n + FC_LOWS_FAN - 1) / FC_LOWS_FAN;
        lows->key[k] = room;
        room += n * FC_LOWS_FAN;
    }
}

#ifdef __SSE2__
static inline double fc_lows_block(const double *key)
{
    __m128d a = _mm_min_pd(_mm_loadu_pd(key), _mm_loadu_pd(key + 2));
    __m128d b = _mm_min_pd(_mm_loadu_pd(key + 4), _mm_loadu_pd(key + 6));
    __m128d c = _mm_min_pd(_mm_loadu_pd(key + 8), _mm_loadu_pd(key + 10));
    __m128d d = _mm_min_pd(_mm_loadu_pd(key + 12), _mm_loadu_pd(key + 14));
    a = _mm_min_pd(_mm_min_pd(a, b), _mm_min_pd(c, d));
    return _mm_cvtsd_f64(_mm_min_sd(a, _mm_unpackhi_pd(a, a)));
}
/* Which of 8 keys are `least`: two bits each. */
static inline uint32_t fc_lows_equal(const double *key, __m128d least)
{
    __m128i a = _mm_castpd_si128(_mm_cmpeq_pd(_mm_loadu_pd(key), least));
    __m128i b = _mm_castpd_si128(_mm_cmpeq_pd(_mm_loadu_pd(key + 2), least));
    __m128i c = _mm_castpd_si128(_mm_cmpeq_pd(_mm_loadu_pd(key + 4), least));
    __m128i d = _mm_castpd_si128(_mm_cmpeq_pd(_mm_loadu_pd(key + 6), least));
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)));
}
static inline bool fc_lows_holds(const double *key, double least)
{
    __m128d both = _mm_set1_pd(least);
    return fc_lows_equal(key, both) | fc_lows_equal(key + 8, both);
}
/* The first of a block that is `least`; one is. */
static inline uint32_t fc_lows_first(const double *key, double least)
{
    __m128d both = _mm_set1_pd(least);
    return (uint32_t)__builtin_ctz(fc_lows_equal(key, both) | fc_lows_equal(key + 8, both) << 16) / 2;
}
#else
static inline bool fc_lows_holds(const double *key, double least)
{
    bool any = false;
    for (int i = 0; i < FC_LOWS_FAN; i++) any |= key[i] == least;
    return any;
}
static inline double fc_lows_block(const double *key)
{
    double least = key[0];
    for (int i = 1; i < FC_LOWS_FAN; i++) least = key[i] < least ? key[i] : least;
    return least;
}
static inline uint32_t fc_lows_first(const double *key, double least)
{
    uint32_t i = 0;
    while (key[i] != least) i++;
    return i;
}
#endif

/* Of more than FLAT keys (transit_lows.c). */
void fc_lows_set_in_tree(struct fc_lows *lows, uint32_t i, double key);
double fc_lows_least_in_tree(struct fc_lows *lows, uint32_t *number);

static inline void fc_lows_set(struct fc_lows *lows, uint32_t i, double key)
{
    if (lows->top == 0)
        lows->key[0][i] = key;
    else
        fc_lows_set_in_tree(lows, i, key);
}

/* The least key and its number (the first of equals); INFINITY: nobody has one. */
static inline double fc_lows_least(struct fc_lows *lows, uint32_t *number)
{
    if (lows->n > FC_LOWS_FLAT) return fc_lows_least_in_tree(lows, number);
    const double *key = lows->key[0];
    double least = fc_lows_block(key);
    for (uint32_t i = FC_LOWS_FAN; i < lows->n; i += FC_LOWS_FAN) {
        double other = fc_lows_block(key + i);
        least = other < least ? other : least;
    }
    if (isinf(least)) return least;
    uint32_t i = 0;
    while (!fc_lows_holds(key + i, least)) i += FC_LOWS_FAN;
    *number = i + fc_lows_first(key + i, least);
    return least;
}

/* Nobody has a key any more: fc_lows_least has said so. */
static inline void fc_lows_clear(struct fc_lows *lows)
{
    lows->n = 0;
    lows->noted = 0;
    lows->top = 0;
    lows->room = FC_LOWS_FLAT;
}
