/* calibration_sound.c - whether a fit says anything. One that has failed is not written: answers by it would be wrong with a small
 * error stated, since what the fit leaves over on one network is alike on the next.
 *
 * Refused is what leaves more than MOST_PERCENT (root mean square of the fit; mean of latency, of saturation with a network left
 * out), and where an all-to-all of long messages takes MOST_RATIO times what its links need: they then stand idle most of the time
 * though every node has something for every other, which no model here knows a reason for. Shipped fits leave at most 31 %, and
 * their all-to-alls take at most 3.8 times. */
#include "solvers/calibration/calibration.h"

#include <string.h>

#define MOST_PERCENT 60.0
#define MOST_RATIO 5.0
enum { LONG_PACKETS = 8 };

/* The greatest ratio of an all-to-all of long messages; 0: none was run. */
static double worst_ratio(const struct fc_bulk *phases)
{
    double most = 0;
    for (uint32_t i = 0; i < phases->n_cases; i++)
        if (!strcmp(phases->cases[i].kind, "alltoall") && phases->cases[i].at.packets >= LONG_PACKETS)
            most = fmax(most, phases->cases[i].ratio);
    return most;
}

/* Without a fit (its budget was too small) only what the correction leaves on networks left out tells. */
static bool fitted(const struct fc_calibration *c)
{
    for (int i = 0; i < FC_Q_PARAMETERS; i++)
        if (c->free_parameter[i]) return true;
    return false;
}

enum fc_code fc_calibration_check(const struct fc_calibration *c, const struct fc_machine *m, struct fc_status *st)
{
    const struct {
        const char *what;
        double percent;
    } left[] = {{"the fit leaves", fitted(c) ? c->residual_percent : NAN},
                {"latency on networks left out is off by", c->left_out_mean_percent},
                {"saturation on networks left out is off by", c->saturation_mean_percent}};
    char why[120] = "", advice[240];
    double ratio = worst_ratio(&c->phases);
    for (size_t i = 0; i < FC_COUNT(left) && !*why; i++)
        if (left[i].percent > MOST_PERCENT) /* a NaN was not measured */
            snprintf(why, sizeof why, "%s %.0f %% (expected at most %.0f %%)", left[i].what, left[i].percent,
                     MOST_PERCENT);
    if (!*why && ratio > MOST_RATIO)
        snprintf(why, sizeof why,
                 "an all-to-all of long messages takes %.1f times what its links need (expected at most %g)", ratio,
                 MOST_RATIO);
    if (!*why) return FC_OK;
    double need = fc_buffer_needed_bytes(m);
    if (m->router.buffer_bytes < need)
        snprintf(
            advice, sizeof advice,
            "router.buffer is %.15g B, and a virtual channel fills its link from %.15g B on: give it more, or leave it out",
            m->router.buffer_bytes, need);
    else
        snprintf(advice, sizeof advice,
                 "a larger --budget, or more of router.buffer, router.vcs, router.paths may help");
    return fc_refuse(st, FC_NO, "the calibration says nothing and is not written: %s; %s", why, advice);
}
