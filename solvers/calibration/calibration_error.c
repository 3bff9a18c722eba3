/* calibration_error.c - how far an answer of the transfer tier may be off.
 *
 * Every case that was run is left out with its network, and predicted: e_s, the logarithm of its saturation, answer over kernel,
 * and e_x, that of its latency, each side at share x of its own saturation. The correction is made of the others in closed form
 * (kriging.h); where the parameters were fitted without the network, too (the file's error_saturation), and that is off by more,
 * it counts. Pseudo-cases of weight 1 in all, whose saturation is off by PRIOR, stand for what few cases do not show.
 *
 * |e_s| and |e_x| are the quantiles that cover COVERED of the cases, each with the weight
 *
 *     exp(-d^2 / 2),   d^2 = sum over features of (difference of logarithms / half their range)^2 + (OTHER_KIND: of another kind)
 *
 * so that those most like the traffic decide, and an outlier counts for traffic like it. A saturation may be off by the factor
 * exp(|e_s|). A latency T at share x, with u the part of T that is waiting, is the kernel's at a share between x exp(-|e_s|) and
 * x exp(|e_s|), where waits grow like w(x) = x / (1 - x): near saturation a small error of it is a great one of the latency.
 *
 *     T(z) = T (1 - u + u w(z) / w(x))
 *     log(high / T) = sqrt(log(T(y exp(SHIFT |e_s|)) / T)^2 + (SHAPE |e_x|)^2),   log(T / low) alike, with T(x exp(-SHIFT |e_s|))
 *
 * and the error is that of the middle of the range, (high - low) / (high + low), which is below 1. y >= x is the share that was
 * asked for, where the model was asked at a lower one (calibrated.c, "Knee"). Both ends count in part, as a case is seldom at its
 * worst, and as squares, as one is seldom off in both. Nearer than CLOSEST to saturation z is not taken: an error is of loads of up to
 * 99 % of the kernel's saturation.
 *
 * Where something was run on the machine's own network, a case left out with its network is farther off than such an answer,
 * so that less than all of it counts. Where nothing was (of large machines always), the cases left out are just such answers,
 * and COVERED, SHIFT, SHAPE and PRIOR are others (`rules`).
 *
 * Theory, and what relatives of other routers say (but not the machine's own runs before a key was changed), are off in ways that the cases
 * left out do not show, wider:
 *
 *     log(high / T) = (OTHERS_SHIFT + OTHERS_NEAR x^8) log(T(x exp(|e_s|)) / T) + FC_CURVE_ERROR_OTHERS |e_x| + RELATIVE b u
 *
 * with z no nearer than OTHERS_CLOSEST, and e_s and the last term by how far the relative is (`beyond`, the logarithm b).
 * SHAPE, CLOSEST, RELATIVE and what begins with OTHERS are those of the least quantile loss (Koenker & Bassett 1978) of log |deviation| for
 * 0.87, on machines f1 to f6 and shipped ones of tests/validate_curve.c (docs/notes/calibration.md); SHIFT is that on f1 to f6
 * and o01 to o06 at 90 and 95 % of saturation, since points of short windows end when they are precise, and COVERED was chosen so that
 * what is stated covers some nine of ten latencies and saturations, with first results of the others in sight. Those of
 * elsewhere were chosen on four networks of shipped machines' kinds that no calibration ran, and judged on five others; the
 * greatest PRIOR with all nine in sight (docs/notes/calibration.md). */
#include "solvers/calibration/calibration_error.h"

#include <stdlib.h>
#include <string.h>

#define OTHER_KIND 2.0
#define LEAST_RANGE 0.2
#define LEAST_LEFT 1e-3 /* of saturation */
#define CLOSEST 0.01
#define OTHERS_SHIFT 0.5
#define OTHERS_NEAR 0.85
#define OTHERS_CLOSEST 0.04
#define RELATIVE 2.1
enum { PRIORS = 4 };
/* Where something was run on the network, and elsewhere. */
static const struct rule {
    double covered, shift, shape, prior[PRIORS];
} rules[] = {{0.7, 0.4, 0.17, {0.01, 0.03, 0.05, 0.09}}, {0.92, 0.5, 0.3, {0.01, 0.03, 0.05, 0.12}}};

static const struct rule *rule_of(const struct fc_curve_error *e)
{
    return &rules[e->elsewhere];
}

/* ---- the cases ---- */

static void weigh(const struct fc_correction *c, const struct fc_calibration_case *own, struct fc_off *off)
{
    double nearest = INFINITY;
    for (uint32_t i = 0; i < c->n_cases; i++) off[i].weight = strcmp(c->cases[i]->kind, own->kind) ? OTHER_KIND : 0;
    for (int f = 0; f < FC_CALIBRATION_FEATURES; f++) {
        double least = INFINITY, most = -INFINITY;
        for (uint32_t i = 0; i < c->n_cases; i++) {
            least = fmin(least, log(c->cases[i]->features[f]));
            most = fmax(most, log(c->cases[i]->features[f]));
        }
        for (uint32_t i = 0; i < c->n_cases; i++) {
            double d = log(own->features[f] / c->cases[i]->features[f]) / (fmax(most - least, LEAST_RANGE) / 2);
            off[i].weight += d * d;
        }
    }
    for (uint32_t i = 0; i < c->n_cases; i++) nearest = fmin(nearest, off[i].weight);
    for (uint32_t i = 0; i < c->n_cases; i++) off[i].weight = exp((nearest - off[i].weight) / 2);
}

/* Logarithms at one share of saturation, or of the saturation. scratch[2 n_cases]. */
static enum fc_code leave_out(const struct fc_correction *c, int process, double part, double *scratch,
                              struct fc_off *off, int at, struct fc_status *st)
{
    bool saturation = c->share[process] == 1;
    uint32_t n = 0;
    if (fc_kriging_leave_out(c->kriging[process], FC_KRIGING_GROUP, scratch, scratch + c->n_cases, st)) return st->code;
    for (uint32_t i = 0; i < c->n_cases; i++) {
        double ratio = fc_correction_ratio(c->cases[i], c->share[process]);
        double log_off = ratio > 0 ? log(ratio) - part * scratch[n++] : (double)NAN;
        double refitted = log1p(c->cases[i]->saturation_error_percent / 100); /* NaN: nothing was left out */
        if (saturation)
            off[i].saturation = fmax(fabs(log_off), isnan(refitted) ? 0 : refitted);
        else
            off[i].latency[at] = log_off;
    }
    return FC_OK;
}

enum fc_code fc_curve_error_make(const struct fc_correction *c, const struct fc_calibration_case *own, double part,
                                 struct fc_arena *arena, struct fc_curve_error *error, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    memset(error, 0, sizeof *error);
    if (c->n_cases < 2) return FC_OK;
    error->elsewhere = *own->network;
    for (uint32_t i = 0; i < c->n_cases && error->elsewhere; i++)
        error->elsewhere = strcmp(c->cases[i]->network, own->network) != 0;
    struct fc_off *off = error->off = fc_alloc(arena, c->n_cases + PRIORS, sizeof *off, st);
    double *value = off ? fc_alloc(&scratch, 2ull * c->n_cases, sizeof *value, st) : NULL;
    if (value) weigh(c, own, off);
    for (int k = 0; value && !st->code && k < c->n; k++) {
        if (c->share[k] < 1) error->share[error->n_shares] = c->share[k];
        leave_out(c, k, part, value, off, error->n_shares, st);
        error->n_shares += c->share[k] < 1;
    }
    for (int i = 0; off && i < PRIORS; i++) {
        struct fc_off *one = &off[c->n_cases + (uint32_t)i];
        *one = (struct fc_off){.weight = 1.0 / PRIORS, .saturation = rule_of(error)->prior[i]};
        for (int k = 0; k < error->n_shares; k++) one->latency[k] = NAN;
    }
    error->n = st->code ? 0 : c->n_cases + PRIORS;
    return st->code;
}

/* ---- what they say ---- */

struct weighted {
    double value, weight;
};

static int by_value(const void *a, const void *b)
{
    const struct weighted *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* The least value that covers enough of the weight; 0: none. */
static double covering(const struct fc_curve_error *e, struct weighted *list, int n)
{
    double sum = 0, below = 0, covered = rule_of(e)->covered;
    for (int i = 0; i < n; i++) sum += list[i].weight;
    qsort(list, (size_t)n, sizeof *list, by_value);
    for (int i = 0; i < n; i++)
        if ((below += list[i].weight) >= covered * sum) return list[i].value;
    return n ? list[n - 1].value : 0;
}

/* At share x: linear between the shares, from 0 at no load, constant above. */
static double latency_off(const struct fc_curve_error *e, const struct fc_off *off, double x)
{
    double x0 = 0, y0 = 0;
    for (int i = 0; i < e->n_shares; i++) {
        if (isnan(off->latency[i])) continue;
        if (x <= e->share[i]) return y0 + (off->latency[i] - y0) * (x - x0) / (e->share[i] - x0);
        x0 = e->share[i];
        y0 = off->latency[i];
    }
    return x0 > 0 ? y0 : (double)NAN;
}

double fc_curve_error_saturation(const struct fc_curve_error *e, double beyond)
{
    struct weighted list[FC_KRIGING_MOST_POINTS + PRIORS];
    int n = 0;
    for (uint32_t i = 0; i < e->n; i++)
        if (!isnan(e->off[i].saturation)) list[n++] = (struct weighted){e->off[i].saturation, e->off[i].weight};
    return n ? hypot(covering(e, list, n), beyond) : (double)NAN;
}

static double shape_off(const struct fc_curve_error *e, double x)
{
    struct weighted list[FC_KRIGING_MOST_POINTS + PRIORS];
    int n = 0;
    for (uint32_t i = 0; i < e->n; i++) {
        double one = fabs(latency_off(e, &e->off[i], x));
        if (!isnan(one)) list[n++] = (struct weighted){one, e->off[i].weight};
    }
    return covering(e, list, n);
}

static double waits(double x)
{
    return x / fmax(1 - x, LEAST_LEFT);
}

/* log(T(z) / T(x)), z not nearer to saturation than `closest`. */
static double grown(double x, double excess, double z, double closest)
{
    if (z > x) {
        double back = fmin(x, 1 - 2 * closest) / x; /* so that the error does not shrink next to saturation */
        x *= back;
        z = fmin(z * back, 1 - closest);
    }
    return log(1 - excess + excess * waits(z) / waits(x));
}

/* Of a range from exp(-low) to exp(high) times the answer. */
static double of_middle(double low, double high)
{
    return 100 * (exp(high) - exp(-low)) / (exp(high) + exp(-low));
}

double fc_curve_error_latency(const struct fc_curve_error *e, double x, double asked, double excess,
                              double log_saturation, double times)
{
    double shape = rule_of(e)->shape * shape_off(e, x), off = rule_of(e)->shift * log_saturation;
    double low = grown(x, excess, x * exp(-off), CLOSEST), high = grown(x, excess, asked * exp(off), CLOSEST);
    return of_middle(times * hypot(shape, low), times * hypot(shape, high));
}

double fc_curve_error_of_others(const struct fc_curve_error *e, double x, double excess, double log_saturation,
                                double beyond, double times)
{
    double shift = OTHERS_SHIFT + OTHERS_NEAR * pow(x, 8),
           shape = FC_CURVE_ERROR_OTHERS * shape_off(e, x) + RELATIVE * beyond * excess;
    return of_middle(times * (shape - shift * grown(x, excess, x * exp(-log_saturation), OTHERS_CLOSEST)),
                     times * (shape + shift * grown(x, excess, x * exp(log_saturation), OTHERS_CLOSEST)));
}

double fc_curve_error_shifted(double x, double asked, double excess, double log_saturation)
{
    return of_middle(-grown(x, excess, x * exp(-log_saturation), CLOSEST),
                     grown(x, excess, asked * exp(log_saturation), CLOSEST));
}
