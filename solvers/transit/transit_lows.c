/* transit_lows.c - the least of more keys than are looked at one by one: the tree (transit_lows.h has the rule). Out of the way of code for a few keys,
 * which is hot and would be several times as long. */
#include "solvers/transit/transit_lows.h"

/* There are more than FLAT keys: from now on they have a tree. */
static void plant(struct fc_lows *lows)
{
    size_t n = lows->n;
    for (lows->room = FC_LOWS_FAN; lows->room < lows->n; lows->room *= FC_LOWS_FAN) {
        const double *key = lows->key[lows->top++];
        n = (n + FC_LOWS_FAN - 1) / FC_LOWS_FAN;
        for (size_t i = 0; i < n; i++) lows->key[lows->top][i] = fc_lows_block(key + i * FC_LOWS_FAN);
    }
}
/* There is a level above `top`. */
static void raise_tree(struct fc_lows *lows)
{
    lows->room *= FC_LOWS_FAN;
    lows->top++;
    lows->key[lows->top][0] = fc_lows_block(lows->key[lows->top - 1]);
}
/* The levels above level k know of its block, as far as they change. */
static void tell(struct fc_lows *lows, int k, size_t block)
{
    for (; k < lows->top; k++, block /= FC_LOWS_FAN) {
        double least = fc_lows_block(lows->key[k] + block * FC_LOWS_FAN), before = lows->key[k + 1][block];
        lows->key[k + 1][block] = least;
        if (least == before) return;
    }
}

void fc_lows_set_in_tree(struct fc_lows *lows, uint32_t i, double key)
{
    size_t block = i / FC_LOWS_FAN;
    double before = lows->key[0][i];
    lows->key[0][i] = key;
    if (i < FC_LOWS_FEW) {
        lows->noted |= UINT64_C(1) << block;
        return;
    }
    double least = lows->key[1][block];
    bool other = (key < least) | ((before <= least) & (key != before));
    if (i < FC_LOWS_NOTED) {
        lows->noted |= (uint64_t)other << block;
        return;
    }
    while (i >= lows->room) raise_tree(lows);
    if (other) tell(lows, 0, block);
}

double fc_lows_least_in_tree(struct fc_lows *lows, uint32_t *number)
{
    if (lows->top == 0) plant(lows);
    uint64_t noted = lows->noted;
    lows->noted = 0;
    while (lows->n > lows->room) raise_tree(lows);
    for (uint64_t left = noted; left; left &= left - 1) {
        size_t block = (size_t)__builtin_ctzll(left);
        lows->key[1][block] = fc_lows_block(lows->key[0] + block * FC_LOWS_FAN);
    }
    for (size_t i = 0; lows->top > 1 && noted; i++, noted >>= FC_LOWS_FAN)
        if (noted & ((1 << FC_LOWS_FAN) - 1)) tell(lows, 1, i);
    double least = fc_lows_block(lows->key[lows->top]);
    uint32_t i = 0;
    if (isinf(least)) return least;
    for (int k = lows->top; k >= 0; k--)
        i = i * FC_LOWS_FAN + fc_lows_first(lows->key[k] + (size_t)i * FC_LOWS_FAN, least);
    *number = i;
    return least;
}
