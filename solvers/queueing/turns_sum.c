/* turns_sum.c - what the flows together ask of every link, and how unevenly.
 *
 * Where packets are drawn, a link's rate r is off by chance: n packets of weight w, with a variance of about r w. The busiest
 * of thousands of links would be one that had luck. So rates are drawn in to the mean m of their class of link as far as their
 * spread is chance (James & Stein 1961; Efron & Morris 1973):
 *
 *     r' = m + (r - m) max(0, 1 - sum r w / sum (r - m)^2).
 *
 * Links that differ by more than chance keep what they differ by. Sets of like groups' links stand for few links or many, so each has a
 * factor of its own, t / (t + m w / copies), t the mean square of the differences that are not chance. Limit: chance is taken for that of independent packets. */
#include "solvers/queueing/turns_internal.h"
#include <string.h>

void fc_turns_add_up(struct fc_turns_walk *w)
{
    struct fc_turns *t = w->turns;
    memset(t->rate, 0, t->n_links * sizeof *t->rate);
    memset(t->channel_rate, 0, t->n_channels * sizeof *t->channel_rate);
    for (uint32_t i = 0; i < t->n_choices; i++) {
        double rate = t->choice_rate[i];
        t->rate[t->choice_link[i]] += t->folded ? rate / t->copies[t->choice_link[i]] : rate;
        t->channel_rate[t->choice_channel[i]] += rate;
    }
    t->max_service_rate = 0;
    for (uint32_t l = 0; l < t->n_links; l++)
        t->max_service_rate = fmax(t->max_service_rate, t->rate[l] * t->service[l]);
}

void fc_turns_add_up_met(struct fc_turns_walk *w)
{
    struct fc_turns *t = w->turns;
    memset(t->rate, 0, t->n_links * sizeof *t->rate);
    for (uint32_t s = fc_turns_next_met(w, 0); s < t->n_states; s = fc_turns_next_met(w, s + 1))
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++)
            t->rate[t->choice_link[i]] += t->choice_rate[i] / t->copies[t->choice_link[i]];
}

double fc_turns_packet_weight(const struct fc_turns_walk *w, double share)
{
    return w->rate / (double)(w->n_walked ? w->n_walked : 1) * share;
}

void fc_turns_level(const struct fc_turns_walk *w, double share, double *rate)
{
    const struct fc_turns *t = w->turns;
    double weight = fc_turns_packet_weight(w, share);
    double n[FC_MAX_CLASSES][3] = {0}, mean[FC_MAX_CLASSES][3] = {0}, chance[FC_MAX_CLASSES][3] = {0},
           spread[FC_MAX_CLASSES][3] = {0};
    for (uint32_t l = 0; l < t->n_links; l++) {
        int c = w->net->link_class[t->link[l]], k = t->kind[l];
        n[c][k] += t->copies[l];
        mean[c][k] += rate[l] * t->copies[l];
        chance[c][k] += rate[l] * weight; /* of one of `copies` links: rate weight / copies, as often */
    }
    for (uint32_t l = 0; l < t->n_links; l++) {
        int c = w->net->link_class[t->link[l]], k = t->kind[l];
        double off = rate[l] - mean[c][k] / n[c][k];
        spread[c][k] += off * off * t->copies[l];
    }
    for (uint32_t l = 0; l < t->n_links; l++) {
        int c = w->net->link_class[t->link[l]], k = t->kind[l];
        double m = mean[c][k] / n[c][k];
        double part = spread[c][k] > 0 ? fmax(0, 1 - chance[c][k] / spread[c][k]) : 1;
        if (w->groups && part > 0) {
            double true_spread = (spread[c][k] - chance[c][k]) / n[c][k];
            part = true_spread / (true_spread + m * weight / t->copies[l]);
        }
        rate[l] = m + (rate[l] - m) * part;
    }
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
