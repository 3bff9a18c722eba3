/* transit_lows.h - which of many keys is least, when they are changed more often than asked for.
 *
 * A tree of minima with FAN children: level 0 holds the keys, level k + 1 the least of each block of level k. A
 * key that falls rises through the levels until somebody is less; where one grows that was its block's least,
 * that is looked for anew. Either is O(FAN log n), and a few comparisons without branches for the dozens of
 * keys of a usual solve, where a heap mispredicts every exchange. */
#pragma once

#include <math.h>
#include <stdint.h>

enum { FC_LOWS_FAN = 16, FC_LOWS_LEVELS = 8 };
struct fc_lows {
    double *key[FC_LOWS_LEVELS]; /* [k][n / FAN^k, rounded up, and INFINITY to the end of the block] */
    uint32_t n;
    int top; /* the level that is one block */
};

/* Doubles that `most` keys need, and *lows on them. */
static inline uint64_t fc_lows_room(uint32_t most)
{
    uint64_t room = 0, n = most;
    for (int k = 0; k < FC_LOWS_LEVELS; k++) {
        n = (n + FC_LOWS_FAN - 1) / FC_LOWS_FAN;
        room += (n + 1) * FC_LOWS_FAN;
    }
    return room;
}
static inline void fc_lows_on(struct fc_lows *lows, double *room, uint32_t most)
{
    uint64_t n = most;
    for (int k = 0; k < FC_LOWS_LEVELS; k++) {
        n = (n + FC_LOWS_FAN - 1) / FC_LOWS_FAN;
        lows->key[k] = room;
        room += (n + 1) * FC_LOWS_FAN;
    }
    lows->n = 0;
    lows->top = 0;
}

static inline double fc_lows_block(const double *key)
{
    double least[4] = {key[0], key[1], key[2], key[3]};
    for (int i = 4; i < FC_LOWS_FAN; i += 4)
        for (int j = 0; j < 4; j++) least[j] = key[i + j] < least[j] ? key[i + j] : least[j];
    least[0] = least[2] < least[0] ? least[2] : least[0];
    least[1] = least[3] < least[1] ? least[3] : least[1];
    return least[1] < least[0] ? least[1] : least[0];
}

/* One more key, INFINITY: its number is the old n. */
static inline void fc_lows_add(struct fc_lows *lows)
{
    uint32_t i = lows->n++;
    if (i % FC_LOWS_FAN) return;
    for (int k = 0; k <= lows->top && i % FC_LOWS_FAN == 0; k++, i /= FC_LOWS_FAN) {
        if (i > 0 && k == lows->top) { /* a second block: a level above it */
            double *above = lows->key[++lows->top];
            for (int j = 0; j < FC_LOWS_FAN; j++) above[j] = INFINITY;
            above[0] = fc_lows_block(lows->key[k]);
        }
        for (uint32_t j = i; j < i + FC_LOWS_FAN; j++) lows->key[k][j] = INFINITY;
    }
}

static inline void fc_lows_set(struct fc_lows *lows, uint32_t i, double key)
{
    double old = lows->key[0][i];
    lows->key[0][i] = key;
    if (key < old) {
        for (int k = 1; k <= lows->top; k++) {
            i /= FC_LOWS_FAN;
            if (lows->key[k][i] <= key) return;
            lows->key[k][i] = key;
        }
    } else {
        for (int k = 1; k <= lows->top; k++) {
            i /= FC_LOWS_FAN;
            if (lows->key[k][i] < old) return;
            lows->key[k][i] = fc_lows_block(lows->key[k - 1] + i * FC_LOWS_FAN);
        }
    }
}

/* The least key and its number (the first of equals); INFINITY: nobody has one. */
static inline double fc_lows_least(const struct fc_lows *lows, uint32_t *number)
{
    double least = lows->n ? fc_lows_block(lows->key[lows->top]) : INFINITY;
    uint32_t i = 0;
    if (isinf(least)) return least;
    for (int k = lows->top; k >= 0; k--) {
        i *= FC_LOWS_FAN;
        while (lows->key[k][i] != least) i++;
    }
    *number = i;
    return least;
}

static inline void fc_lows_clear(struct fc_lows *lows)
{
    lows->n = 0;
    lows->top = 0;
}
