/* turns_sum.c - what the flows together ask of every link, and how unevenly. */
#include "solvers/queueing/turns_internal.h"
#include <math.h>
#include <string.h>

void fc_turns_add_up(struct fc_turns_walk *w)
{
    struct fc_turns *t = w->turns;
    memset(t->rate, 0, t->n_links * sizeof *t->rate);
    memset(t->channel_rate, 0, t->n_channels * sizeof *t->channel_rate);
    for (uint32_t i = 0; i < t->n_choices; i++) {
        t->rate[t->choice_link[i]] += t->choice_rate[i] / t->copies[t->choice_link[i]];
        t->channel_rate[t->choice_channel[i]] += t->choice_rate[i];
    }
    t->max_service_rate = 0;
    for (uint32_t l = 0; l < t->n_links; l++)
        t->max_service_rate = fmax(t->max_service_rate, t->rate[l] * t->service[l]);
}

double fc_turns_anisotropy(const struct fc_turns *t)
{
    double most = 0, sum = 0, n = 0;
    for (uint32_t l = 0; l < t->n_links; l++) {
        if (t->kind[l] != FC_TURN_NETWORK || !(t->rate[l] > 0)) continue;
        double utilisation = t->rate[l] * t->service[l];
        most = fmax(most, utilisation);
        sum += utilisation * t->copies[l];
        n += t->copies[l];
    }
    return sum > 0 ? fmax(1, most * n / sum) : 1;
}
