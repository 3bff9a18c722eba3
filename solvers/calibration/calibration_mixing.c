/* calibration_mixing.c - the limit of what links lose to flows that mix (transit_fair_mix.c), from a calibration's jobs.
 *
 * A job takes T_k through the kernel and T(x) by contention with the limit x. Fitted is the x of the least
 *
 *     S(x) + PRIOR_SQUARES ((x - FC_MIXING_PRIOR) / PRIOR_DEVIATION)^2,      S(x) = sum over jobs of h(log(T_k / T(x)))
 *
 * with h(d) = d^2 up to CLOSE, and CLOSE (2 |d| - CLOSE) beyond (Huber, Ann. Math. Stat. 35, 1964): one job that is a third off for
 * another reason does not decide for all. x goes in steps of 1 / PARTS, with log T linear between the limits that jobs were replayed with. The second term is what is known beforehand: with
 * limits that come nearest to the kernel on traces of o01 to o06 (tests/validate_phases.c: 0.5 to 0.8) and what the jobs of shipped machines say
 * (0.34 to 1), machines are at 0.8 +- 0.18. The few jobs of a small budget, most of whose messages meet nobody, say less than that, and by
 * themselves led anywhere between 0.2 and 1; what those of a large one say is moved by 0.02 to 0.07, as a rule. Its interval (95 %) holds all x with S(x) at most S at the fit
 * and F_0.95(1, n - 1) / (n - 1) of S_least, both terms, more: the likelihood's profile for one parameter; and no farther from what is known beforehand than that is
 * sure of, 0.8 +- 0.35, or the fit is.
 *
 * There is none (1) where one does not hold for others: every network is left out in turn (of one network every job), x is fitted to the rest,
 * and what S sums up of what was left out, each with the x of the others, are more than LEAVES of those without loss, and by more than
 * PRIOR_SQUARES, which few jobs that meet nobody are not. Nor where x runs to the end of what was tried, nearer to it than to the limit
 * before, nor where one below LOW leaves more than LOW_LEAVES of that without loss: it would stand for something else (jobs with messages of one
 * or two packets). qsnet-64: 0.37, 30 %.
 *
 * Limits: jobs of one network are not independent, so the interval is somewhat narrow. */
#include "solvers/calibration/calibration_mixing.h"

#include <gsl/gsl_cdf.h>
#include <string.h>

enum { PARTS = 200 };
#define FAR 1.5
#define CLOSE 0.03 /* of log T; farther off a job counts by its distance, not its square */
#define PRIOR_DEVIATION 0.18
#define PRIOR_SQUARES 0.01 /* of one deviation, beside the squares of the jobs */
#define LEAVES 1.05
#define LOW 0.4 /* a limit below leaves no more than LOW_LEAVES of S without loss */
#define LOW_LEAVES 0.5

static double square_at(const struct fc_mixing_case *c, int n_steps, double limit)
{
    double at = (1 - limit) / (1 - fc_mixing_limit(1));
    int k = (int)at < n_steps - 1 ? (int)at : n_steps - 1, next = k + 1 < n_steps ? k + 1 : k;
    double low = log(c->kernel_s / c->time_s[k]), high = log(c->kernel_s / c->time_s[next]);
    double off = low + (at - k) * (high - low);
    return fabs(off) <= CLOSE ? off * off : CLOSE * (2 * fabs(off) - CLOSE);
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

/* Deviations from what is known beforehand. */
static double beyond(double limit)
{
    return fabs(limit - FC_MIXING_PRIOR) / PRIOR_DEVIATION;
}

/* The squares and what is known beforehand. */
static double lacks(const struct fc_mixing_case *cases, uint32_t n, int n_steps, double limit, uint32_t out,
                    bool several)
{
    return squares(cases, n, n_steps, limit, out, several) + PRIOR_SQUARES * beyond(limit) * beyond(limit);
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

/* The first, from 1 down, that lacks least without the network or job `out`. */
static int best(const struct fc_mixing_case *cases, uint32_t n, int n_steps, uint32_t out, bool several)
{
    double least = INFINITY;
    int at = 0;
    for (int k = 0; k < n_tried(n_steps); k++) {
        double s = lacks(cases, n, n_steps, limit_at(k), out, several);
        if (s < least) least = s, at = k;
    }
    return at;
}

bool fc_mixing_enough(const struct fc_mixing_case *cases, uint32_t n, int n_steps)
{
    double least = INFINITY, last = 0;
    for (int k = 0; k < n_steps; k++) {
        last = lacks(cases, n, n_steps, fc_mixing_limit(k), FC_NONE, false);
        least = fmin(least, last);
    }
    return n_steps == FC_MIXING_LIMITS || last > FAR * least;
}

static void set_interval(const struct fc_mixing_case *cases, uint32_t n, int n_steps, struct fc_replays *r)
{
    int at = best(cases, n, n_steps, FC_NONE, false), low = at, high = at;
    double df = n > 1 ? n - 1.0 : 1, far = fmax(beyond(limit_at(at)), gsl_cdf_ugaussian_Pinv(0.975));
    double most = squares(cases, n, n_steps, limit_at(at), FC_NONE, false) +
                  lacks(cases, n, n_steps, limit_at(at), FC_NONE, false) * gsl_cdf_fdist_Pinv(0.95, 1, df) / df;
    for (; low + 1 < n_tried(n_steps) && beyond(limit_at(low + 1)) <= far; low++)
        if (squares(cases, n, n_steps, limit_at(low + 1), FC_NONE, false) > most) break;
    for (; high > 0 && beyond(limit_at(high - 1)) <= far; high--)
        if (squares(cases, n, n_steps, limit_at(high - 1), FC_NONE, false) > most) break;
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
    bool low = limit_at(at) < LOW,
         holds = low ? with < LOW_LEAVES * without : with < LEAVES * without || with - without < PRIOR_SQUARES;
    bool gains = at > 0 && at < end - step / 2 && holds;
    for (uint32_t i = 0; i < n && !gains; i++) cases[i].left_out = 1;
    if (gains) set_interval(cases, n, n_steps, replays);
}
