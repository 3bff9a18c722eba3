/* queueing_saturation.c - the load at which the steady state of the queueing model ends. */
#include "solvers/queueing/queueing_internal.h"

/* Where the greatest utilisation u reaches 1. u grows with the load, a little faster than in proportion, and
 * smoothly also beyond 1 (the queues are capped there), so that secants between the greatest stable and the
 * least unstable load need a handful of solves. With strong backpressure the steady state ends before u = 1
 * and u jumps: secants that do not halve the interval are followed by a halving step. */
struct search {
    double low, low_u, high, high_u; /* high_u: INFINITY where the iteration has not converged, 0: not tried */
    double width;
};

static bool smooth(const struct search *s)
{
    return s->low > 0 && s->low_u > 0.9 && s->high_u > 0 && s->high_u < 1.2;
}

static double root(const struct search *s)
{
    return s->low + (s->high - s->low) * (1 - s->low_u) / (s->high_u - s->low_u);
}

static double next_load(const struct search *s, bool halve, double push)
{
    double middle = (s->low + s->high) / 2, x = middle;
    if (halve) return middle;
    if (smooth(s))
        x = root(s);
    else if (s->low > 0.5 * s->high && s->high_u > 1.2)
        return middle;
    else if (s->low > 0)
        x = fmin(s->low / s->low_u, s->high);
    else if (s->high_u < 1.2)
        x = s->high / s->high_u;
    /* A little to the side where the end is still far, so that the root comes between. */
    x += s->high - x > x - s->low ? push : -push;
    return x > s->low && x < s->high ? x : middle;
}

static enum fc_code search_load(struct fc_queueing *queueing, const struct fc_queueing_parameters *parameters, double x,
                                struct search *s, struct fc_status *st)
{
    double push = 0.4 * s->width;
    bool halve = false;
    while (s->high - s->low > s->width) {
        bool stable;
        double u;
        struct fc_status hard = {0};
        double before = s->high - s->low;
        if (fc_queueing_is_stable(queueing, parameters, x, &stable, &u, &hard) && hard.code != FC_NO) {
            *st = hard;
            return st->code;
        }
        if (stable)
            s->low = x, s->low_u = u;
        else
            s->high = x, s->high_u = hard.code ? INFINITY : u;
        halve = !halve && s->high - s->low > before / 2 && s->high - s->low > 20 * s->width;
        x = next_load(s, halve, push);
        if (s->high - s->low > before / 2) push *= 1.5;
    }
    return FC_OK;
}

enum fc_code fc_queueing_saturation_near(struct fc_queueing *queueing, const struct fc_queueing_parameters *parameters,
                                         double guess, double accuracy, double *load_flits_per_cycle,
                                         struct fc_status *st)
{
    double most = 1 / fc_queueing_turns(queueing)->max_service_rate;
    struct search s = {.high = most, .width = accuracy * most};
    enum fc_code code = search_load(queueing, parameters, guess > 0 && guess < most ? guess : 0.7 * most, &s, st);
    *load_flits_per_cycle = smooth(&s) ? root(&s) : (s.low + s.high) / 2;
    return code;
}

enum fc_code fc_queueing_saturation(struct fc_queueing *queueing, const struct fc_queueing_parameters *parameters,
                                    double *load_flits_per_cycle, struct fc_status *st)
{
    double most = 1 / fc_queueing_turns(queueing)->max_service_rate;
    struct search s = {.high = most, .width = 1e-4 * most};
    enum fc_code code = search_load(queueing, parameters, 0.7 * most, &s, st);
    *load_flits_per_cycle = s.low;
    return code;
}
