/* calibration_correction.h - private to calibration*.c and calibrated.c: what the model leaves over on the
 * cases that were run, carried over to one that was not (calibration_correction.c). */
#pragma once

#include "solvers/calibration/calibration_internal.h"

/* One process for each share of saturation at which most cases have a point, and one, of share 1, for the
 * saturation itself. */
struct fc_correction {
    struct fc_arena arena;
    const struct fc_calibration_case *const *cases; /* [n_cases] */
    uint32_t n_cases;
    int n;
    struct fc_kriging *kriging[FC_CALIBRATION_MOST_CORRECTIONS]; /* [n] */
    double share[FC_CALIBRATION_MOST_CORRECTIONS];               /* [n] ascending; the last is 1 */
};
/* From the ratios of the cases, which must outlive it; shapes searched. No case: a correction of nothing. The
 * caller closes, also after a failure. */
enum fc_code fc_correction_fit(const struct fc_calibration_case *const *cases, uint32_t n_cases,
                               struct fc_correction *correction, struct fc_status *st);
/* The same with the shapes of a calibration. */
enum fc_code fc_correction_make(const struct fc_calibration_case *const *cases, uint32_t n_cases,
                                const struct fc_calibration_correction *shapes, int n, struct fc_correction *correction,
                                struct fc_status *st);
void fc_correction_close(struct fc_correction *correction);

/* What it says of one case: logarithms of model over kernel, with standard deviations. */
struct fc_corrected {
    int n;      /* shares below 1 */
    bool known; /* a pattern of this kind was run */
    double share[FC_CALIBRATION_MOST_CORRECTIONS], log_ratio[FC_CALIBRATION_MOST_CORRECTIONS],
        deviation[FC_CALIBRATION_MOST_CORRECTIONS]; /* [n] */
    double saturation, saturation_deviation;
};
/* network, kind and features of the case are read. */
void fc_correction_at(const struct fc_correction *correction, const struct fc_calibration_case *k,
                      struct fc_corrected *corrected);
/* value[n] over the shares at share x: linear from `origin` at no load, constant above the last. */
double fc_corrected_between(const struct fc_corrected *corrected, const double *value, double origin, double x);
/* Standard deviation of the logarithm of a latency that is by `excess` of itself above zero load, at share x
 * of a saturation that is itself uncertain: a wait grows like x / (1 - x). */
double fc_corrected_deviation(const struct fc_corrected *corrected, double x, double excess);
