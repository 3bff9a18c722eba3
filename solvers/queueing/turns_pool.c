/* turns_pool.c - fewer states where there are very many.
 *
 * On irregular networks nearly every destination gives a channel's heads another set of outputs, and a state
 * is met once or twice among the packets followed: its rate is noise, and its cost is that of any other.
 * States of one channel whose heads have as many outputs to choose from, and more than one, are then taken as
 * one, whose choices are those of all of them with the sums of their rates. Rates of channels, links and
 * edges stay as they are; lost is only how waits differ among the sets of one channel. Done beyond
 * MOST_STATES. */
#include "solvers/queueing/turns_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STATES = 20000 };

struct pooled {
    uint64_t pool; /* state_in, number of outputs */
    uint32_t channel, choice;
    uint32_t own; /* of a state that is not pooled, its number + 1 */
};
static int in_order(const void *a, const void *b)
{
    const struct pooled *x = a, *y = b;
    if (x->pool != y->pool) return x->pool < y->pool ? -1 : 1;
    if (x->own != y->own) return x->own < y->own ? -1 : 1;
    if (x->channel != y->channel) return x->channel < y->channel ? -1 : 1;
    return (x->choice > y->choice) - (x->choice < y->choice);
}

static bool same_pool(const struct pooled *x, const struct pooled *y)
{
    return x->pool == y->pool && x->own == y->own;
}

/* One state a pool from the choices in order. */
static void gather(struct fc_turns *t, const struct pooled *list, uint32_t n, const uint32_t *link, const double *rate)
{
    t->n_states = t->n_choices = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool same = i > 0 && same_pool(&list[i], &list[i - 1]);
        if (!same) {
            t->state_in[t->n_states] = (uint32_t)(list[i].pool >> 8);
            t->state_outputs[t->n_states] = (uint8_t)list[i].pool;
            t->state_rate[t->n_states] = 0;
            t->first_choice[t->n_states++] = t->n_choices;
        }
        if (!same || list[i].channel != list[i - 1].channel) {
            t->choice_link[t->n_choices] = link[list[i].choice];
            t->choice_channel[t->n_choices] = list[i].channel;
            t->choice_rate[t->n_choices++] = 0;
        }
        t->choice_rate[t->n_choices - 1] += rate[list[i].choice];
        t->state_rate[t->n_states - 1] += rate[list[i].choice];
    }
    t->first_choice[t->n_states] = t->n_choices;
}

/* The choices by state_in, those of states at their source last, and then in order. */
static enum fc_code put_in_order(const struct fc_turns *t, struct pooled *list, struct fc_arena *arena,
                                 struct fc_status *st)
{
    uint32_t *next = fc_alloc(arena, t->n_channels + 2ull, sizeof *next, st);
    if (!next) return st->code;
#define KEY(s) (t->state_in[s] == FC_NONE ? t->n_channels : t->state_in[s])
    for (uint32_t s = 0; s < t->n_states; s++) next[KEY(s) + 1] += t->first_choice[s + 1] - t->first_choice[s];
    for (uint32_t c = 0; c <= t->n_channels; c++) next[c + 1] += next[c];
    for (uint32_t s = 0; s < t->n_states; s++)
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++)
            list[next[KEY(s)]++] = (struct pooled){(uint64_t)t->state_in[s] << 8 | t->state_outputs[s],
                                                   t->choice_channel[i], i, t->state_outputs[s] > 1 ? 0 : s + 1};
#undef KEY
    for (uint32_t c = 0, first = 0; c <= t->n_channels; first = next[c++]) {
        bool sorted = true;
        for (uint32_t i = first + 1; i < next[c] && sorted; i++) sorted = in_order(&list[i - 1], &list[i]) <= 0;
        if (!sorted) qsort(list + first, next[c] - first, sizeof *list, in_order);
    }
    return FC_OK;
}

enum fc_code fc_turns_pool(struct fc_turns_walk *w, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    t->state_outputs = fc_alloc(&t->arena, t->n_states, sizeof *t->state_outputs, st);
    if (!t->state_outputs) return st->code;
    for (uint32_t s = 0; s < t->n_states; s++)
        t->state_outputs[s] = (uint8_t)(t->first_choice[s + 1] - t->first_choice[s]);
    if (t->n_states <= MOST_STATES) return FC_OK;
    uint32_t n = t->n_choices;
    struct pooled *list = fc_alloc(w->arena, n, sizeof *list, st);
    uint32_t *link = fc_alloc(w->arena, n, sizeof *link, st);
    double *rate = fc_alloc(w->arena, n, sizeof *rate, st);
    if (st->code || put_in_order(t, list, w->arena, st)) return st->code;
    memcpy(link, t->choice_link, n * sizeof *link);
    memcpy(rate, t->choice_rate, n * sizeof *rate);
    gather(t, list, n, link, rate);
    return FC_OK;
}
