/* calibrated.c - the queueing model with its calibration: latency, saturation, and the error of both.
 *
 * With s the model's saturation:
 * transfer   g_s, g(x) from the correction (calibration_correction.c), s* = s exp(-g_s), x = load / s*, T(load) =
 *            model(x s) exp(-g(x)). Errors: calibration_error.c, a latency's at least LEAST_TRANSFER.
 * anchored   where this network, pattern and packet length were run, to ANCHOR_PERCENT and up to ANCHORED_TO: s* the kernel's
 *            saturation, x = load / s*, T(load) = model(x s) exp(r(x)), r(x_i) = log(kernel_i / model(x_i s))
 *            at the anchors, r(0) = 0, r by Steffen's monotone cubic (Astron. Astrophys. 239, 1990; GSL),
 *            which makes no waves between anchors, and beyond them as the correction goes on. Error: at least LEAST_PERCENT; of the
 *            two anchors about x the half width (the run that it is compared with has one, too), and a quarter of
 *            the misfit when an inner one is left out (that doubles the spacing, and the cubic is of second
 *            order at least). Above the last anchor the saturation's error shifts the load: by nothing there, by
 *            ABOVE times all of it at saturation. Such an answer is `extrapolated`. Where an anchor is known to no more than
 *            VAGUE_PERCENT: the error of a transfer answer where that is less, as the correction knows this case too.
 * alone      where nobody meets in the traffic (alone.c): latency and saturation of that, with the model's
 *            parts of it, whether there is a calibration or not. Error: LEAST_PERCENT, and what ALONE_KNOWN of the saturation
 *            shifts the load by.
 * theory     no calibration, or only one of a relative of other routers, where theory leaves nothing open: as transfer without a
 *            correction, with the error of check_theory.
 * A calibration of a relative (family.h): its correction counts in part, its error is wider (family_distance.c).
 * So has one of routers of few ports for such of many (check_ports), with log2 of the factor as distance.
 * Transfer outside the hull is `extrapolated`, and its range twice as wide. The hull in hops reaches as many times
 * beyond the largest network as that is beyond the largest but one, because leaving the largest out has tested
 * just this step.
 *
 * Knee: no share of saturation is told apart from it by less than its error, nor by less than KNEE. Above x_0 = 1 - 2
 * of that, or above the last anchor, the model is asked at x - (x - x_0)^2 / (2 (1 - x_0)), which never reaches 1:
 * a saturation that is found a little too low does not make the latency endless.
 *
 * Saturation: that of the run wherever this very case was run, also where its latencies are too vague for anchors, and it is known
 * the better the better these are: RUN_HALF_WIDTHS of the greatest half width up to ANCHORED_TO, between RESOLUTION and
 * MOST_RESOLUTION of the ideal; else s*, known to RESOLUTION at best. */
#include "solvers/calibration/alone.h"
#include "solvers/calibration/calibration_error.h"
#include "solvers/calibration/family_distance.h"
#include "solvers/gsl_errors.h"

#include <gsl/gsl_interp.h>
#include <string.h>

#define LEAST_PERCENT 1.0
#define LEAST_TRANSFER 1.2 /* of traffic that was not run */
#define LAST_SHARE 0.9
#define ANCHOR_PERCENT 10.0
#define VAGUE_PERCENT 3.0
#define ANCHORED_TO 0.8      /* a run whose points end below, as its budget did, says nothing of where queues grow */
#define SOLVE_ACCURACY 1e-5  /* of the greatest wait */
#define SEARCH_ACCURACY 1e-6 /* the same where loads are tried: the next is found from the last */
#define HULL_MARGIN 1.1
#define MOST_ESCAPE_PERCENT 5.0
#define MORE_PORTS 1.0 /* log2: twice as many */
/* Of the ideal: how well the runs of a calibration tell saturations: with other random numbers `curve` finds them up to so
 * much away. Such that nine of ten keep to it, on f1 to f6 and o01 to o06 of tests/validate_curve.c calibrated
 * with 10 and with 60 s (docs/notes/calibration.md). */
#define RESOLUTION 0.015
#define RUN_HALF_WIDTHS 0.9
#define MOST_RESOLUTION 0.03
#define ABOVE 1.4 /* chosen like RUN_HALF_WIDTHS */
#define KNEE 0.05
/* Of the logarithm of a saturation: what the queue and the runs of f1 to f6 and o01 to o06 differ by near it, with room
 * (docs/notes/calibration.md). */
#define ALONE_KNOWN 0.004
#define SLOPE 0.07 /* of a saturation by the distance of a relative, logarithm */

const char *const fc_calibration_tier_names[] = {"none", "anchored", "transfer", "alone", NULL};

enum { MOST = FC_CALIBRATION_MOST_POINTS + 1 };
struct fc_calibrated {
    struct fc_arena arena;
    const struct fc_calibration *calibration; /* NULL: theory */
    bool theory;                              /* of which it is known how far it is off: see check_theory */
    const struct fc_turns *turns;
    struct fc_queueing *queueing;
    struct fc_queueing_parameters parameters;
    double model_saturation;
    const struct fc_calibration_case *own;     /* this very case; NULL: not run */
    const struct fc_calibration_case *anchors; /* the same where it is precise; NULL: transfer */
    bool vague;                                /* but not very precise */
    struct fc_alone alone;                     /* goes before both */
    int n;                                     /* of x, r: anchors and the origin */
    double x[MOST], r[MOST], half_percent[MOST];
    double misfit_percent[MOST];   /* with this anchor left out; 0: an end */
    struct fc_corrected corrected; /* transfer */
    double part;                   /* of it that counts: 1, of a relative less */
    double ports;                  /* log2 of how many times as many ports as were run, where above MORE_PORTS; 0 */
    struct fc_curve_error error;   /* transfer, and vague anchors */
    const char *none, *outside, *above; /* why; "": does not hold */
};

/* ---- interpolation ---- */

/* r at x by Steffen's cubic through the points but `left_out` (-1: none); linear through two points. */
static double ratio_at(const struct fc_calibrated *c, int left_out, double x)
{
    double xs[MOST], rs[MOST];
    int n = 0;
    for (int i = 0; i < c->n; i++)
        if (i != left_out) xs[n] = c->x[i], rs[n++] = c->r[i];
    if (x >= xs[n - 1]) return n < 2 ? rs[n - 1] : fc_correction_beyond(&xs[n - 2], &rs[n - 2], x);
    fc_gsl_errors();
    gsl_interp *interp = gsl_interp_alloc(n > 2 ? gsl_interp_steffen : gsl_interp_linear, (size_t)n);
    if (!interp) return NAN;
    double y = gsl_interp_init(interp, xs, rs, (size_t)n) ? NAN : gsl_interp_eval(interp, xs, rs, x, NULL);
    gsl_interp_free(interp);
    return y;
}

static enum fc_code make_anchors(struct fc_calibrated *c, struct fc_status *st)
{
    const struct fc_calibration_case *k = c->anchors;
    c->n = 1;
    for (int i = 0; i < k->n_points; i++) {
        const struct fc_calibration_point *p = &k->points[i];
        struct fc_queueing_answer a;
        if (fc_queueing_solve(c->queueing, &c->parameters, p->load_share * c->model_saturation, &a, st))
            return st->code;
        c->x[c->n] = p->load_share;
        c->r[c->n] = log(p->latency_cycles / a.latency_mean_cycles);
        c->half_percent[c->n++] = isnan(p->half_width_cycles) ? 0 : 100 * p->half_width_cycles / p->latency_cycles;
    }
    for (int i = 1; i + 1 < c->n; i++) c->misfit_percent[i] = 100 * fabs(expm1(ratio_at(c, i, c->x[i]) - c->r[i]));
    return FC_OK;
}

/* x: the share that is asked for; `at`: that at which the model was. */
static double anchored_error(const struct fc_calibrated *c, double x, double at, double waiting, double log_saturation)
{
    int i = 1;
    double last = c->x[c->n - 1];
    while (i + 1 < c->n && c->x[i] < x * (1 - 1e-9)) i++;
    double misfit = fmax(c->misfit_percent[i], c->misfit_percent[i - 1]) / 4;
    double error = fmax(fmax(LEAST_PERCENT, misfit), fmax(c->half_percent[i], c->half_percent[i - 1]));
    if (x <= last) return error;
    return hypot(error, fc_curve_error_shifted(at, x, waiting, ABOVE * log_saturation * (x - last) / (1 - last)));
}

/* The logarithm by which an answer of a relative, or of routers of many more ports, may be off besides. */
static double beyond(const struct fc_calibrated *c)
{
    bool other = c->calibration && c->calibration->n_relatives && c->calibration->distance > 0;
    return SLOPE * hypot(other ? c->calibration->distance : 0, c->ports);
}

static double excess(const struct fc_calibrated *c, double latency)
{
    return fmax(0, 1 - c->turns->zero_load_cycles / latency);
}

/* ---- what applies ---- */

static const char *words(struct fc_calibrated *c, struct fc_status *st, const char *format, ...) FC_PRINTF(3, 4);
static const char *words(struct fc_calibrated *c, struct fc_status *st, const char *format, ...)
{
    char text[2400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return fc_copy_text(&c->arena, text, st);
}

static double distance(double a, double b)
{
    return fabs(log(fmax(a, 1e-9) / fmax(b, 1e-9)));
}

/* The case that is most like the traffic: the least sum of logarithms of the hull's measures. */
static const struct fc_calibration_case *nearest(const struct fc_calibration *k, const struct fc_turns *t)
{
    const struct fc_calibration_case *best = NULL;
    double least = INFINITY, anisotropy = fc_turns_anisotropy(t);
    for (uint32_t i = 0; i < k->n_cases; i++) {
        const struct fc_calibration_case *c = &k->cases[i];
        double d = distance(c->hops, t->hops_mean) + distance(c->anisotropy, anisotropy) +
                   distance((c->flits_min + c->flits_max) / 2, t->flits_mean);
        if (d < least) least = d, best = c;
    }
    return best;
}

/* Routers of many more ports than those that were run are others: packets meet more inputs, and choose among more ways up. */
static enum fc_code check_ports(struct fc_calibrated *c, const double features[], struct fc_status *st)
{
    static const struct {
        const char *name;
        int feature;
    } list[] = {{"inputs that meet at an output", FC_CALIBRATION_INPUTS},
                {"ways to choose among", FC_CALIBRATION_CHOICES}};
    for (size_t i = 0; i < FC_COUNT(list) && !st->code; i++) {
        double most = 0, own = features[list[i].feature];
        for (uint32_t k = 0; k < c->calibration->n_cases; k++)
            most = fmax(most, c->calibration->cases[k].features[list[i].feature]);
        double further = most > 0 ? log2(own / most) : 0;
        if (further <= MORE_PORTS || further <= c->ports) continue;
        c->ports = further;
        c->outside = words(c, st, "%.3g %s: calibrated for %.3g at most", own, list[i].name, most);
    }
    return st->code;
}

static enum fc_code check_hull(struct fc_calibrated *c, struct fc_status *st)
{
    const struct fc_calibration *k = c->calibration;
    const struct fc_turns *t = c->turns;
    const struct {
        const char *name;
        double value, low, high;
    } list[] = {{"mean hops", t->hops_mean, k->hops[0], k->hops[1] * k->hops_step},
                {"anisotropy of link loads", fc_turns_anisotropy(t), k->anisotropy[0], k->anisotropy[1]},
                {"mean packet length in flits", t->flits_mean, k->flits[0], k->flits[1]},
                {"packets a buffer", t->buffer_packets, k->buffer_packets[0], k->buffer_packets[1]}};
    for (size_t i = 0; i < FC_COUNT(list) && !*c->outside && !st->code; i++)
        if (list[i].value < list[i].low / HULL_MARGIN || list[i].value > list[i].high * HULL_MARGIN)
            c->outside = words(c, st, "%s %.4g: calibrated for %.4g to %.4g", list[i].name, list[i].value, list[i].low,
                               list[i].high);
    const struct fc_calibration_case *near = nearest(k, t);
    if (!st->code && !*c->outside && near->escape_percent > MOST_ESCAPE_PERCENT)
        c->outside = words(c, st, "in the nearest run (%s, %s) %.3g %% of the flits took escape channels",
                           near->network, near->pattern, near->escape_percent);
    return st->code;
}

/* Whether the calibration is of the kind of this rule; else theory, and why. */
static enum fc_code check_kind(struct fc_calibrated *c, const char *vc_rule, struct fc_status *st)
{
    const char *kind;
    if (!c->calibration) {
        c->none = "not calibrated";
        return FC_OK;
    }
    if (c->calibration->n_relatives) return FC_OK; /* another kind of router, and its distance widens the error */
    if (fc_calibration_kind(c->turns->net, vc_rule, &c->arena, &kind, st)) return st->code;
    if (strcmp(kind, c->calibration->kind)) {
        c->none = words(c, st, "calibrated for another kind of router: %s (this one: %s)", c->calibration->kind, kind);
        c->calibration = NULL;
    }
    return st->code;
}

/* Routers with a stage of their own for virtual channels leave theory nothing to fit, so that other routers of the family
 * say less of them than theory does. Off by: of 25 runs on ten networks of 64 to 342 nodes (tests/validate_theory.sh; six more of
 * 1,000 nodes were 4 % off at most) what 23 keep to, at shares of the saturation. Families that theory answers for (by_theory) under
 * uniform traffic: the same, which 19 of 20 runs there keep to (the other is -21 %), and under UGAL ten of twelve (the other two, +13 and
 * +18 %, have buffers of four packets, where twice as much is stated). Latencies: 0.03, 0.05 and 0.1, of which all counts. */
static const double theory_share[] = {0.3, 0.6, 0.85};
static const struct fc_off theory_off = {
    .weight = 1,
    .saturation = 0.093,
    .latency = {0.03 / FC_CURVE_ERROR_OTHERS, 0.05 / FC_CURVE_ERROR_OTHERS, 0.1 / FC_CURVE_ERROR_OTHERS}};
/* Latencies under UGAL, as six of the twelve show (the other six are off by 0.003, 0.008 and 0.031 at most). */
static const struct fc_off theory_off_ugal = {
    .weight = 1,
    .saturation = 0.093,
    .latency = {0.01 / FC_CURVE_ERROR_OTHERS, 0.015 / FC_CURVE_ERROR_OTHERS, 0.035 / FC_CURVE_ERROR_OTHERS}};
#define THEORY_FLITS 8
#define UGAL_MOST_FLITS 67     /* most flits of a packet in the runs under UGAL */
#define UGAL_LEAST_PACKETS 6.0 /* packets that a virtual channel must hold for what they showed */

static bool says_more(const struct fc_calibration *k)
{
    const char *value;
    int n;
    bool stage = fc_kind_value(k->kind, "vc_allocation", &value, &n) && n == (int)strlen("own-stage") &&
                 !strncmp(value, "own-stage", (size_t)n);
    return !k->n_relatives || stage;
}

/* What puts routers without that stage outside of what was held against runs; "" for nothing. */
static const char *outside_of_whole(const struct fc_turns *t, const char *pattern)
{
    if (t->one_bid) return "packets that do not move whole, in routers that allocate channel and switch at once";
    return strcmp(pattern, "uniform") ? "traffic that is not uniform: a few links may be full while most packets pass"
                                      : "";
}

/* Links between routers of one speed. */
static bool links_alike(const struct fc_turns *t)
{
    double one = 0;
    for (uint32_t l = 0; l < t->n_links; l++) {
        if (t->kind[l] != FC_TURN_NETWORK) continue;
        if (one > 0 && t->service[l] != one) return false;
        one = t->service[l];
    }
    return true;
}

/* Whether theory was held against runs of the kernel on such routers: without UGAL where links have one speed if packets move whole; with
 * it those alone, under uniform traffic. */
static bool held(const struct fc_turns *t, const char *pattern)
{
    bool whole = t->by_theory && links_alike(t);
    if (t->n_rungs) return whole && !(t->stage > 0) && !t->one_bid && !strcmp(pattern, "uniform");
    return t->stage > 0 || whole;
}

/* The least that a buffer holds of what its link sends in a credit's round trip. Under UGAL between routers: nodes' links have several
 * queues there. */
static double least_room(const struct fc_turns *t)
{
    double least = INFINITY;
    for (uint32_t l = 0; l < t->n_links; l++)
        if (t->rate[l] > 0 && t->places[l] > 0 && !(t->n_rungs && t->kind[l] == FC_TURN_INJECTION))
            least = fmin(least, t->places[l] * t->service[l] / t->round_trip[l]);
    return least;
}

static enum fc_code check_theory(struct fc_calibrated *c, const char *pattern, struct fc_status *st)
{
    const struct fc_turns *t = c->turns;
    if (!held(t, pattern)) return FC_OK;
    if (c->calibration && !says_more(c->calibration)) c->calibration = NULL;
    if (c->calibration) return FC_OK;
    c->theory = true;
    c->none = "";
    memcpy(c->error.share, theory_share, sizeof theory_share);
    c->error.n_shares = FC_COUNT(theory_share);
    c->error.n = 1;
    c->error.off = fc_alloc(&c->arena, 1, sizeof *c->error.off, st);
    if (st->code) return st->code;
    *c->error.off = t->n_rungs ? theory_off_ugal : theory_off;
    double least = least_room(t);
    int most_flits = t->n_rungs ? UGAL_MOST_FLITS : THEORY_FLITS;
    if (*c->outside || st->code) return st->code;
    if (t->flits_mean > most_flits)
        c->outside =
            words(c, st, "mean packet length in flits %.4g: held against runs of 1 to %d", t->flits_mean, most_flits);
    else if (t->n_rungs && t->buffer_packets < UGAL_LEAST_PACKETS)
        c->outside = words(c, st, "a virtual channel holds %.3g packets: held against runs where it holds %g and more",
                           t->buffer_packets, UGAL_LEAST_PACKETS);
    else if (least < 1)
        c->outside = words(c, st, "a buffer holds %.3g of what a link sends in a credit's round trip", least);
    else if (!(t->stage > 0))
        c->outside = outside_of_whole(t, pattern);
    else if (!t->one_bid)
        c->outside = "links slower than a flit a cycle of the router";
    return st->code;
}

/* Of the points up to a share of saturation, as a part of their latencies. */
static double greatest_half_width(const struct fc_calibration_case *k, double share)
{
    double most = 0;
    for (int i = 0; i < k->n_points; i++)
        if (k->points[i].load_share <= share)
            most = fmax(most, k->points[i].half_width_cycles / k->points[i].latency_cycles);
    return most;
}

double fc_calibration_known_percent(const struct fc_calibration_case *k)
{
    return 100 * greatest_half_width(k, LAST_SHARE);
}

bool fc_calibration_is_anchor(const struct fc_calibration_case *k)
{
    bool reaches = k->n_points > 0 && k->points[k->n_points - 1].load_share >= ANCHORED_TO;
    return reaches && fc_calibration_known_percent(k) <= ANCHOR_PERCENT;
}

static void find_own(struct fc_calibrated *c, const char *shape, const char *pattern,
                     const struct fc_flit_settings *settings)
{
    double mean = c->turns->flits_mean;
    double most = settings->packet_flits_max ? settings->packet_flits_max : mean;
    double least = settings->packet_flits_min ? settings->packet_flits_min : 2 * mean - most;
    for (uint32_t i = 0; i < c->calibration->n_cases && !c->own; i++) {
        const struct fc_calibration_case *k = &c->calibration->cases[i];
        if (!strcmp(k->network, shape) && !strcmp(k->pattern, pattern) && fabs(k->flits_min - least) < 0.25 &&
            fabs(k->flits_min + k->flits_max - 2 * mean) < 0.25)
            c->own = k;
    }
    if (c->own && fc_calibration_is_anchor(c->own)) c->anchors = c->own;
    c->vague = c->anchors && fc_calibration_known_percent(c->anchors) > VAGUE_PERCENT;
}

static enum fc_code make_correction(struct fc_calibrated *c, const char *shape, const char *pattern,
                                    struct fc_status *st)
{
    const struct fc_calibration *k = c->calibration;
    struct fc_calibration_case own = {.network = shape};
    struct fc_correction correction = {0};
    const struct fc_calibration_case **cases = fc_alloc(&c->arena, k->n_cases, sizeof *cases, st);
    own.kind = cases ? fc_calibration_pattern_kind(pattern, &c->arena, st) : NULL;
    if (!own.kind || fc_calibration_features(c->turns, own.features, st)) return st->code;
    for (uint32_t i = 0; i < k->n_cases; i++) cases[i] = &k->cases[i];
    if (check_ports(c, own.features, st)) return st->code;
    if (!fc_correction_make(cases, k->n_cases, k->corrections, k->n_corrections, &correction, st)) {
        fc_correction_at(&correction, &own, &c->corrected);
        fc_curve_error_make(&correction, &own, c->part, &c->arena, &c->error, st);
    }
    fc_correction_close(&correction);
    return st->code;
}

static enum fc_code prepare(struct fc_calibrated *c, const char *pattern, const struct fc_flit_settings *settings,
                            struct fc_status *st)
{
    if (check_kind(c, settings->vc_rule, st)) return st->code;
    /* A run that was allowed although it can deadlock has no steady state to speak of. */
    if (!c->turns->safe) c->outside = "the routing can deadlock";
    if (check_theory(c, pattern, st)) return st->code;
    if (c->calibration) c->parameters = c->calibration->parameters;
    if (fc_queueing_open(c->turns, &c->queueing, st)) return st->code;
    fc_queueing_tune(c->queueing, SEARCH_ACCURACY, true);
    if (fc_queueing_saturation(c->queueing, &c->parameters, &c->model_saturation, st)) return st->code;
    fc_queueing_tune(c->queueing, SOLVE_ACCURACY, true);
    if (pattern && fc_alone_find(c->turns, pattern, settings, &c->arena, &c->alone, st)) return st->code;
    if (c->alone.holds) c->none = c->outside = "";
    if (!c->calibration || c->alone.holds) return FC_OK;
    char shape[512];
    fc_machine_shape(c->turns->net->machine, shape, sizeof shape);
    if (c->calibration->distance > 0) shape[0] = '\0'; /* what a relative ran is not this network */
    find_own(c, shape, pattern ? pattern : "", settings);
    if (c->anchors && make_anchors(c, st)) return st->code;
    if (c->anchors && !c->vague) return FC_OK;
    if (make_correction(c, shape, pattern ? pattern : "", st)) return st->code;
    return c->anchors ? FC_OK : check_hull(c, st);
}

enum fc_code fc_calibrated_open(const struct fc_calibration *calibration, const struct fc_turns *turns,
                                const char *pattern, const struct fc_flit_settings *settings,
                                struct fc_calibrated **calibrated, struct fc_status *st)
{
    struct fc_arena arena = {0};
    struct fc_calibrated *c = fc_alloc(&arena, 1, sizeof *c, st);
    *calibrated = NULL;
    if (!c) return st->code;
    c->arena = arena;
    c->calibration = calibration;
    c->turns = turns;
    c->part =
        calibration && !calibration->phases.before_changes ? fc_family_fade(calibration->distance, FC_FADE_CURVES) : 1;
    c->none = c->outside = "";
    c->above = "above the highest load that was run";
    fc_queueing_theory(turns, &c->parameters);
    if (prepare(c, pattern, settings, st))
        fc_calibrated_close(c);
    else
        *calibrated = c;
    return st->code;
}

void fc_calibrated_close(struct fc_calibrated *calibrated)
{
    if (!calibrated) return;
    struct fc_arena arena = calibrated->arena; /* holds the struct too */
    fc_queueing_close(calibrated->queueing);
    fc_arena_free(&arena);
}

bool fc_calibrated_alone(const struct fc_calibrated *calibrated)
{
    return calibrated->alone.holds;
}

bool fc_calibrated_by_theory(const struct fc_calibrated *calibrated)
{
    return calibrated->theory && !calibrated->alone.holds;
}

const struct fc_queueing *fc_calibrated_queueing(const struct fc_calibrated *calibrated)
{
    return calibrated->queueing;
}

/* ---- answers ---- */

/* All times times `factor`, so that the parts still sum to the latency. */
static void scale(struct fc_queueing_answer *a, double factor)
{
    double *const times[] = {&a->latency_mean_cycles, &a->network_cycles,     &a->source_cycles,
                             &a->latency_sd_cycles,   &a->latency_p95_cycles, &a->latency_p99_cycles,
                             &a->contention_cycles,   &a->queue_cycles,       &a->backpressure_cycles,
                             &a->kept_off_cycles};
    for (size_t i = 0; i < FC_COUNT(times); i++) *times[i] *= factor;
}

/* An error as it is stated: unknown above FC_MOST_ERROR_PERCENT. */
static double limited(double percent)
{
    return percent > FC_MOST_ERROR_PERCENT ? (double)NAN : percent;
}

/* Percent to which a saturation that was run is known, or any is at best. */
static double resolution(const struct fc_calibrated *c, double saturation)
{
    double known = RESOLUTION;
    if (c->own) known = RUN_HALF_WIDTHS * greatest_half_width(c->own, ANCHORED_TO);
    if (c->own) known = fmin(MOST_RESOLUTION, fmax(RESOLUTION, known));
    return 100 * known / c->turns->max_service_rate / saturation;
}

/* The logarithm by which the saturation may be off inside of the hull. */
static double saturation_off(const struct fc_calibrated *c, double saturation)
{
    double known = log1p(resolution(c, saturation) / 100);
    if (c->own || c->alone.holds || (!c->calibration && !c->theory)) return known;
    double off = fc_curve_error_saturation(&c->error, beyond(c));
    return isnan(off) ? off : fmax(off, known);
}

static double times_wider(const struct fc_calibrated *c)
{
    return *c->outside ? 2 : 1;
}

double fc_calibrated_saturation(const struct fc_calibrated *c, double *error_percent)
{
    double saturation = c->own           ? c->own->saturation
                        : c->alone.holds ? fc_alone_saturation(&c->alone)
                                         : c->model_saturation * exp(-c->part * c->corrected.saturation);
    double off = c->calibration || c->theory || c->alone.holds ? saturation_off(c, saturation) : (double)NAN;
    if (error_percent) *error_percent = limited(100 * expm1(c->own ? off : times_wider(c) * off));
    return saturation;
}

/* Of a latency, with or without a run of this case; arguments as anchored_error's. */
static double transfer_error(const struct fc_calibrated *c, double asked, double x, double waiting,
                             double log_saturation)
{
    double times = times_wider(c), other = beyond(c);
    bool others = c->theory || c->ports > 0 || (other > 0 && !c->calibration->phases.before_changes);
    double error = others ? fc_curve_error_of_others(&c->error, x, waiting, log_saturation, other, times)
                          : fc_curve_error_latency(&c->error, x, asked, waiting, log_saturation, times);
    return fmax(LEAST_TRANSFER, error);
}

static void add_error(const struct fc_calibrated *c, double asked, double x, double saturation,
                      struct fc_calibrated_answer *answer)
{
    answer->why = c->none;
    if (c->alone.holds && answer->model.stable) {
        double waiting = excess(c, answer->model.latency_mean_cycles);
        answer->error_percent = hypot(LEAST_PERCENT, fc_curve_error_shifted(asked, asked, waiting, ALONE_KNOWN));
        return;
    }
    if ((!c->calibration && !c->theory) || !answer->model.stable) return;
    double waiting = excess(c, answer->model.latency_mean_cycles), off = saturation_off(c, saturation);
    bool above = c->anchors && asked > c->x[c->n - 1] * (1 + 1e-9);
    if (c->anchors) answer->error_percent = anchored_error(c, asked, x, waiting, off);
    if (c->vague && c->error.n)
        answer->error_percent = fmin(answer->error_percent, transfer_error(c, asked, x, waiting, off));
    if (!c->anchors)
        answer->error_percent = hypot(transfer_error(c, asked, x, waiting, off),
                                      100 * answer->model.kept_off_cycles / answer->model.latency_mean_cycles);
    if (isnan(off)) {
        answer->error_percent = NAN;
        answer->why = "nothing was left out of the fit";
    }
    answer->extrapolated = above || *c->outside;
    if (answer->extrapolated) answer->why = *c->outside ? c->outside : c->above;
    bool known = !isnan(answer->error_percent);
    answer->error_percent = limited(answer->error_percent);
    if (known && isnan(answer->error_percent)) answer->why = "over 100 %";
}

/* The share at which the model is asked for share x < 1. */
static double before_knee(const struct fc_calibrated *c, double x, double saturation)
{
    if (!c->calibration) return x;
    double off = saturation_off(c, saturation), from = 1 - 2 * (isnan(off) ? KNEE : fmin(off, KNEE));
    if (c->anchors) from = fmax(from, c->x[c->n - 1]);
    return x <= from ? x : x - (x - from) * (x - from) / (2 * (1 - from));
}

enum fc_code fc_calibrated_solve(struct fc_calibrated *c, double load_flits_per_cycle,
                                 struct fc_calibrated_answer *answer, struct fc_status *st)
{
    double saturation = fc_calibrated_saturation(c, NULL), asked = load_flits_per_cycle / saturation, x = asked;
    *answer = (struct fc_calibrated_answer){.saturation = saturation, .error_percent = NAN, .why = c->none};
    answer->tier = c->anchors       ? FC_TIER_ANCHORED
                   : c->alone.holds ? FC_TIER_ALONE
                   : c->calibration ? FC_TIER_TRANSFER
                                    : FC_TIER_NONE;
    answer->elsewhere = answer->tier == FC_TIER_TRANSFER && c->error.elsewhere;
    if (x >= 1) {
        scale(&answer->model, NAN);
        answer->model.greatest_utilization = 1;
    } else {
        x = before_knee(c, x, saturation);
        double load = x * c->model_saturation;
        if (fc_queueing_solve(c->queueing, &c->parameters, load, &answer->model, st)) return st->code;
        double log_ratio = c->anchors ? ratio_at(c, -1, x) : -c->part * fc_corrected_latency(&c->corrected, x);
        double factor = c->alone.holds
                            ? fc_alone_latency(&c->alone, load_flits_per_cycle) / answer->model.latency_mean_cycles
                            : exp(log_ratio);
        if (answer->model.stable) scale(&answer->model, factor);
    }
    answer->model.load_flits_per_cycle = load_flits_per_cycle;
    add_error(c, asked, x, saturation, answer);
    return FC_OK;
}
