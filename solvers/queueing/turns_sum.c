/* turns_sum.c - what the flows together ask of every link, and how unevenly.
 *
 * Where packets are drawn, a link's rate r is off by chance: n packets of weight w, with a variance of about r w. The busiest
 * of thousands of links would be one that had luck. So rates are drawn in to the mean m of their class of link as far as their
 * spread is chance (James & Stein 1961; Efron & Morris 1973):
 *
 *     r' = m + (r - m) max(0, 1 - sum r w / sum (r - m)^2).
 *
 * Links that differ by more than chance keep what they differ by. Limit: chance is taken for that of independent packets. */
#include "solvers/queueing/turns_internal.h"
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

void fc_turns_level(const struct fc_turns_walk *w, double share, double *rate)
{
    const struct fc_turns *t = w->turns;
    double weight = w->rate / (double)(w->n_walked ? w->n_walked : 1) * share;
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
        rate[l] = m + (rate[l] - m) * part;
    }
}

/* What comes to a channel leaves it again: states behind it are scaled, hop after hop. */
enum { MOST_PASSES = 1000 };
static void conserve(struct fc_turns_walk *w, double *leaves)
{
    struct fc_turns *t = w->turns;
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        double worst = 0;
        fc_turns_add_up(w);
        memset(leaves, 0, t->n_channels * sizeof *leaves);
        for (uint32_t s = 0; s < t->n_states; s++)
            if (t->state_in[s] != FC_NONE) leaves[t->state_in[s]] += t->state_rate[s];
        for (uint32_t s = 0; s < t->n_states; s++) {
            uint32_t in = t->state_in[s];
            if (in == FC_NONE || !(leaves[in] > 0)) continue;
            double factor = t->channel_rate[in] / leaves[in];
            worst = fmax(worst, fabs(factor - 1));
            t->state_rate[s] *= factor;
            for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) t->choice_rate[i] *= factor;
        }
        if (worst < 1e-13) break;
    }
    fc_turns_add_up(w);
}

/* Choices by their links' rates over what they are now; the greatest difference. */
static double scale(struct fc_turns *t, const double *rate)
{
    double worst = 0;
    for (uint32_t l = 0; l < t->n_links; l++)
        if (t->rate[l] > 0) worst = fmax(worst, fabs(rate[l] / t->rate[l] - 1));
    for (uint32_t s = 0; s < t->n_states; s++) {
        double sum = 0;
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) {
            uint32_t l = t->choice_link[i];
            if (t->rate[l] > 0) t->choice_rate[i] *= rate[l] / t->rate[l];
            sum += t->choice_rate[i];
        }
        t->state_rate[s] = sum;
    }
    return worst;
}

/* The two in turn (iterative proportional fitting, Deming & Stephan 1940). */
enum { FITTING_ROUNDS = 12 };
enum fc_code fc_turns_smooth(struct fc_turns_walk *w, double share, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    double *rate = fc_alloc(w->arena, t->n_links, sizeof *rate, st),
           *leaves = fc_alloc(w->arena, t->n_channels, sizeof *leaves, st);
    if (st->code) return st->code;
    memcpy(rate, t->rate, t->n_links * sizeof *rate);
    fc_turns_level(w, share, rate);
    for (int round = 0; round < FITTING_ROUNDS; round++) {
        double worst = scale(t, rate);
        conserve(w, leaves);
        if (worst < 0.01) break;
    }
    return FC_OK;
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
