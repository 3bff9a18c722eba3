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
/* Model over kernel of a case at a share that is corrected, the saturation's at 1; 0: it has none. Those above 0 are the points of
 * the share's process, in the order of the cases. */
double fc_correction_ratio(const struct fc_calibration_case *k, double share);

/* What it says of one case: logarithms of model over kernel. */
struct fc_corrected {
    int n;                                                                                     /* shares below 1 */
    double share[FC_CALIBRATION_MOST_CORRECTIONS], log_ratio[FC_CALIBRATION_MOST_CORRECTIONS]; /* [n] */
    double saturation;
};
/* network, kind and features of the case are read. */
void fc_correction_at(const struct fc_correction *correction, const struct fc_calibration_case *k,
                      struct fc_corrected *corrected);
/* The logarithm of the ratio at share x of saturation, not below share[1]: as share[2], ascending and below 1, and log_ratio[2] go on
 * (calibration_correction.c), constant from 0.95 on, and where share[0] is no load. */
double fc_correction_beyond(const double *share, const double *log_ratio, double x);
/* log_ratio at share x: linear between the shares, from 0 at no load, beyond the last as above. */
double fc_corrected_latency(const struct fc_corrected *corrected, double x);
