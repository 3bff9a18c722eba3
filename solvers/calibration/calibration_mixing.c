/* calibration_mixing.c - the limit of what links lose to flows that mix (transit_fair_mix.c), from a calibration's jobs.
 *
 * A job takes T_k through the kernel and T(x) by contention with the limit x. Fitted is the x of the least
 *
 *     S(x) = sum over jobs of log(T_k / T(x))^2
 *
 * in steps of 1 / PARTS, with log T linear between the limits that jobs were replayed with. Its interval (95 %) holds all x with
 * S(x) <= S_least (1 + F_0.95(1, n - 1) / (n - 1)): the likelihood's profile for one parameter. A limit is kept
 * where it holds for others: every network is left out in turn (of one network every job), x is fitted to the rest,
 * and the squares of what was left out, each with the x of the others, must be less than LEAVES of those without loss: packets behind
 * others do hold each other up, and where two networks cannot tell (gemini-xe6, 1.015) none is as much a choice as the best.
 * Else there is none (1), as on percs-16; nor where x runs to the end of what was tried, nearer to it than to the limit before, nor where
 * one below LOW leaves more than LOW_LEAVES of the squares: it would stand for something else (summit, 0.2: jobs with messages of one
 * or two packets; percs-64, 0.31 and 85 % of the squares, by which two-level machines without a calibration of theirs came out
 * 3.7 % off the kernel, and 2.9 without it). qsnet-64: 0.335, 27 %.
 *
 * Limits: jobs of one network are not independent, so the interval is somewhat narrow. */
#include "solvers/calibration/calibration_mixing.h"

#include <gsl/gsl_cdf.h>
#include <string.h>

enum { PARTS = 200 };
#define FAR 1.5
#define LEAVES 1.05
#define LOW 0.4 /* a limit below leaves no more than this of the squares */
#define LOW_LEAVES 0.5

static double square_at(const struct fc_mixing_case *c, int n_steps, double limit)
{
    double at = (1 - limit) / (1 - fc_mixing_limit(1));
    int k = (int)at < n_steps - 1 ? (int)at : n_steps - 1, next = k + 1 < n_steps ? k + 1 : k;
    double low = log(c->kernel_s / c->time_s[k]), high = log(c->kernel_s / c->time_s[next]);
    double off = low + (at - k) * (high - low);
    return off * off;
}

static bool is_left_out(const struct fc_mixing_case *cases, uint32_t i, uint32_t out, bool several)
{
    if (out == FC_NONE) return false;
    return several ? !strcmp(cases[i].network, cases[out].network) : i == out;
}

static double squares(const struct fc_mixing_case *cases, uint32_t n, int n_steps, double limit, uint32_t out,
                      bool several)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!is_left_out(cases, i, out, several)) sum += square_at(&cases[i], n_steps, limit);
    return sum;
}

/* Of the limits that are tried. */
static double limit_at(int k)
{
    return (PARTS - k) / (double)PARTS;
}
static int n_tried(int n_steps)
{
    return (int)lround((1 - fc_mixing_limit(n_steps - 1)) * PARTS) + 1;
}

/* The first, from 1 down, of the least S without the network or job `out`. */
static int best(const struct fc_mixing_case *cases, uint32_t n, int n_steps, uint32_t out, bool several)
{
    double least = INFINITY;
    int at = 0;
    for (int k = 0; k < n_tried(n_steps); k++) {
        double s = squares(cases, n, n_steps, limit_at(k), out, several);
        if (s < least) least = s, at = k;
    }
    return at;
}

bool fc_mixing_enough(const struct fc_mixing_case *cases, uint32_t n, int n_steps)
{
    double least = INFINITY, last = 0;
    for (int k = 0; k < n_steps; k++) {
        last = squares(cases, n, n_steps, fc_mixing_limit(k), FC_NONE, false);
        least = fmin(least, last);
    }
    return n_steps == FC_MIXING_LIMITS || last > FAR * least;
}

static void set_interval(const struct fc_mixing_case *cases, uint32_t n, int n_steps, struct fc_replays *r)
{
    int at = best(cases, n, n_steps, FC_NONE, false), low = at, high = at;
    double df = n > 1 ? n - 1.0 : 1;
    double most = squares(cases, n, n_steps, limit_at(at), FC_NONE, false) * (1 + gsl_cdf_fdist_Pinv(0.95, 1, df) / df);
    while (low + 1 < n_tried(n_steps) && squares(cases, n, n_steps, limit_at(low + 1), FC_NONE, false) <= most) low++;
    while (high > 0 && squares(cases, n, n_steps, limit_at(high - 1), FC_NONE, false) <= most) high--;
    r->mixing = limit_at(at);
    r->mixing_low = limit_at(low);
    r->mixing_high = limit_at(high);
}

void fc_mixing_fit(struct fc_mixing_case *cases, uint32_t n, int n_steps, struct fc_replays *replays)
{
    double with = 0, without = 0;
    bool several = false;
    for (uint32_t i = 1; i < n; i++) several = several || strcmp(cases[i].network, cases[0].network);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = 0;
        while (several && strcmp(cases[first].network, cases[i].network)) first++;
        cases[i].left_out =
            several && first < i ? cases[first].left_out : limit_at(best(cases, n, n_steps, i, several));
        with += square_at(&cases[i], n_steps, cases[i].left_out);
        without += square_at(&cases[i], n_steps, 1);
    }
    replays->mixing = replays->mixing_low = replays->mixing_high = 1;
    int end = n_tried(n_steps) - 1, step = (int)lround((1 - fc_mixing_limit(1)) * PARTS);
    int at = best(cases, n, n_steps, FC_NONE, several);
    bool gains = at > 0 && at < end - step / 2 && with < without * (limit_at(at) < LOW ? LOW_LEAVES : LEAVES);
    for (uint32_t i = 0; i < n && !gains; i++) cases[i].left_out = 1;
    if (gains) set_interval(cases, n, n_steps, replays);
}
