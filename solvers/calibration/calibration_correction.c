/* calibration_correction.c - the transfer tier's correction of the queueing model.
 *
 * What the model leaves over is much alike for traffic of one kind on networks of one kind of router. So
 *     g_s = log(s_model / s_kernel),    g_x = log(T_model(x s_model) / T_kernel(x s_kernel))
 * of the cases that were run, x a share of saturation, are interpolated by Gaussian processes (kriging.h)
 * over the kind of pattern and features of the turns. Latencies are compared at one share of the saturation,
 * each side's own, because there they are alike; at one load a small error of the saturation would be a great
 * one of the latency. Features, of which logarithms are taken:
 *     flits a packet; mean hops; greatest over mean utilisation of the links; greatest utilisation of an
 *     injection link over that of the links; inputs that feed a link (1 / sum of p^2 of their shares, mean
 *     over packets); outputs that a head may choose from, mean.
 * Kind: the pattern's name up to a digit, and those of its options whose value is no number
 * (stencil2d:grid=4x4 and stencil3d:grid=8x8x8 are of one kind).
 * Above the last share the ratio goes on over -log(1 - x), which the length of a queue follows, with TREND times the slope between the last
 * two, to TREND_TO. From 0.9 to 0.95 of saturation the 158 cases of shipped calibrations that have both go on with 1.3 to 1.9 times that slope,
 * in the median of a machine, where they have one; 1.4 is off least on f1 to f6 (docs/notes/calibration.md).
 * Limits: a kind of pattern that was never run gets what kinds have in common, mostly nothing. */
#include "solvers/calibration/calibration_correction.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_PRESENT (2 / 3.0) /* of the cases have a point at a share that is corrected */
#define TREND 1.4               /* of the slope over log(1 - share) between the last two shares */
#define TREND_TO 0.95
#define LEAST_INJECTION 0.05 /* links of less use are all alike */

/* ---- features ---- */

const char *fc_calibration_pattern_kind(const char *pattern, struct fc_arena *arena, struct fc_status *st)
{
    char text[512];
    size_t n = strcspn(pattern, ":0123456789");
    const char *option = strchr(pattern, ':');
    n = n < sizeof text ? n : sizeof text - 1;
    memcpy(text, pattern, n);
    while (option) {
        const char *next = strchr(++option, ','), *value = strchr(option, '=');
        size_t length = next ? (size_t)(next - option) : strlen(option);
        bool number = value && value < option + length && isdigit((unsigned char)value[1]);
        if (!number && n + length + 1 < sizeof text) {
            text[n++] = ':';
            memcpy(text + n, option, length);
            n += length;
        }
        option = next;
    }
    text[n] = '\0';
    return fc_copy_text(arena, text, st);
}

struct feed {
    uint32_t link, from; /* FC_NONE: the source */
    double rate;
};

static int by_links(const void *a, const void *b)
{
    const struct feed *x = a, *y = b;
    if (x->link != y->link) return x->link < y->link ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Mean over packets and links of the inputs that feed a link. */
static enum fc_code inputs_of_links(const struct fc_turns *t, double *inputs, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct feed *feeds = fc_alloc(&arena, t->n_choices, sizeof *feeds, st);
    double sum = 0, all = 0;
    uint32_t n = 0;
    for (uint32_t s = 0; feeds && s < t->n_states; s++)
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++)
            if (t->kind[t->choice_link[i]] == FC_TURN_NETWORK)
                feeds[n++] = (struct feed){t->choice_link[i],
                                           t->state_in[s] == FC_NONE ? FC_NONE : t->channel_link[t->state_in[s]],
                                           t->choice_rate[i]};
    if (feeds) qsort(feeds, n, sizeof *feeds, by_links);
    for (uint32_t i = 0; i < n;) {
        double rate = 0, squares = 0;
        uint32_t link = feeds[i].link;
        while (i < n && feeds[i].link == link) {
            uint32_t from = feeds[i].from;
            double one = 0;
            for (; i < n && feeds[i].link == link && feeds[i].from == from; i++) one += feeds[i].rate;
            squares += one * one; /* of a set of links alike, one leads to each */
            rate += one;
        }
        if (rate > 0) sum += rate * rate * rate / squares;
        all += rate;
    }
    *inputs = all > 0 ? fmax(1, sum / all) : 1;
    return st->code;
}

enum fc_code fc_calibration_features(const struct fc_turns *t, double *value, struct fc_status *st)
{
    double injection = 0, network = 0, choices = 0, heads = 0, inputs;
    if (inputs_of_links(t, &inputs, st)) return st->code;
    for (uint32_t l = 0; l < t->n_links; l++) {
        double utilisation = t->rate[l] * t->service[l];
        if (t->kind[l] == FC_TURN_INJECTION) injection = fmax(injection, utilisation);
        if (t->kind[l] == FC_TURN_NETWORK) network = fmax(network, utilisation);
    }
    for (uint32_t s = 0; s < t->n_states; s++) {
        choices += t->state_rate[s] * t->state_outputs[s];
        heads += t->state_rate[s];
    }
    value[0] = t->flits_mean;
    value[1] = fmax(t->hops_mean, 0.5);
    value[2] = fc_turns_anisotropy(t);
    value[3] = network > 0 ? fmax(LEAST_INJECTION, injection / network) : 1;
    value[4] = inputs;
    value[5] = heads > 0 ? choices / heads : 1;
    return FC_OK;
}

/* ---- processes ---- */

static bool same_network(const struct fc_calibration_case *a, const struct fc_calibration_case *b)
{
    return !strcmp(a->network, b->network);
}

static struct fc_kriging_point point_of(const struct fc_correction *c, const struct fc_calibration_case *k)
{
    struct fc_kriging_point p = {.kind = k->kind, .group = FC_KRIGING_NO_GROUP};
    for (int f = 0; f < FC_CALIBRATION_FEATURES; f++) p.x[f] = log(k->features[f]);
    for (uint32_t i = 0; i < c->n_cases && p.group == FC_KRIGING_NO_GROUP; i++)
        if (same_network(c->cases[i], k)) p.group = i;
    return p;
}

double fc_correction_ratio(const struct fc_calibration_case *k, double share)
{
    double ratio = share == 1 ? k->saturation_ratio : 0;
    for (int i = 0; i < k->n_points && ratio == 0; i++)
        if (k->points[i].load_share == share) ratio = k->points[i].model_ratio;
    return ratio;
}

/* Points of the process for one share, and their number. */
static uint32_t collect(const struct fc_correction *c, double share, struct fc_kriging_point *points)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < c->n_cases; j++) {
        const struct fc_calibration_case *k = c->cases[j];
        double ratio = fc_correction_ratio(k, share);
        if (!(ratio > 0)) continue;
        points[n] = point_of(c, k);
        points[n++].value = log(ratio);
    }
    return n;
}

static double next_share(const struct fc_correction *c, double last)
{
    double next = 1;
    for (uint32_t j = 0; j < c->n_cases; j++)
        for (int i = 0; i < c->cases[j]->n_points; i++)
            if (c->cases[j]->points[i].load_share > last) next = fmin(next, c->cases[j]->points[i].load_share);
    return next;
}

static enum fc_code make(const struct fc_calibration_case *const *cases, uint32_t n_cases,
                         const struct fc_calibration_correction *shapes, int n, struct fc_correction *c,
                         struct fc_status *st)
{
    memset(c, 0, sizeof *c);
    c->cases = cases;
    c->n_cases = n_cases < FC_KRIGING_MOST_POINTS ? n_cases : FC_KRIGING_MOST_POINTS;
    struct fc_kriging_point *points = fc_alloc(&c->arena, c->n_cases, sizeof *points, st);
    double share = 0;
    for (int i = 0; points && c->n_cases && share < 1; i++) {
        if (shapes && i == n) break;
        share = shapes ? shapes[i].share : next_share(c, share);
        uint32_t found = collect(c, share, points);
        if (found == 0 || (!shapes && found < LEAST_PRESENT * c->n_cases)) continue;
        struct fc_kriging **k = &c->kriging[c->n];
        if (shapes ? fc_kriging_make(points, found, &shapes[i].shape, k, st) : fc_kriging_fit(points, found, k, st))
            return st->code;
        c->share[c->n++] = share;
    }
    return st->code;
}

enum fc_code fc_correction_fit(const struct fc_calibration_case *const *cases, uint32_t n_cases,
                               struct fc_correction *correction, struct fc_status *st)
{
    return make(cases, n_cases, NULL, 0, correction, st);
}

enum fc_code fc_correction_make(const struct fc_calibration_case *const *cases, uint32_t n_cases,
                                const struct fc_calibration_correction *shapes, int n, struct fc_correction *correction,
                                struct fc_status *st)
{
    return make(cases, n_cases, shapes, n, correction, st);
}

void fc_correction_close(struct fc_correction *c)
{
    for (int i = 0; i < c->n; i++) fc_kriging_close(c->kriging[i]);
    fc_arena_free(&c->arena);
    memset(c, 0, sizeof *c);
}

/* ---- a case ---- */

void fc_correction_at(const struct fc_correction *c, const struct fc_calibration_case *k, struct fc_corrected *out)
{
    struct fc_kriging_point p = point_of(c, k);
    memset(out, 0, sizeof *out);
    for (int i = 0; i < c->n; i++) {
        double ratio, deviation;
        fc_kriging_at(c->kriging[i], &p, &ratio, &deviation);
        if (c->share[i] == 1) {
            out->saturation = ratio;
            continue;
        }
        out->share[out->n] = c->share[i];
        out->log_ratio[out->n++] = ratio;
    }
}

double fc_correction_beyond(const double *share, const double *log_ratio, double x)
{
    double before = share[0], last = share[1], to = fmin(x, TREND_TO);
    if (to <= last || before <= 0) return log_ratio[1];
    double steps = log((1 - last) / (1 - to)) / log((1 - before) / (1 - last));
    return log_ratio[1] + TREND * (log_ratio[1] - log_ratio[0]) * steps;
}

double fc_corrected_latency(const struct fc_corrected *c, double x)
{
    double x0 = 0, y0 = 0;
    for (int i = 0; i < c->n; i++) {
        if (x <= c->share[i]) return y0 + (c->log_ratio[i] - y0) * (x - x0) / (c->share[i] - x0);
        x0 = c->share[i];
        y0 = c->log_ratio[i];
    }
    return c->n < 2 ? y0 : fc_correction_beyond(&c->share[c->n - 2], &c->log_ratio[c->n - 2], x);
}
