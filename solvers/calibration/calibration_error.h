/* calibration_error.h - private to calibrated.c and its tests: how far an answer may be off, from what the cases of a calibration
 * are off when they are left out (calibration_error.c). */
#ifndef FC_CALIBRATION_ERROR_H
#define FC_CALIBRATION_ERROR_H

#include "solvers/calibration/calibration_correction.h"

/* The part of a latency's error that counts, where it is not of own runs (calibration_error.c). */
#define FC_CURVE_ERROR_OTHERS 0.42

/* What a case, left out, is off: logarithms of answer over kernel. */
struct fc_off {
    double weight;     /* how much it is like the traffic asked for */
    double saturation; /* NaN: not known */
    double latency
        [FC_CALIBRATION_MOST_CORRECTIONS]; /* [n_shares] each side at this share of its own saturation; NaN: no point */
};
struct fc_curve_error {
    uint32_t n;     /* 0: nothing was left out */
    bool elsewhere; /* the calibration is the machine's, but nothing was run on its network */
    struct fc_off *off;
    int n_shares;
    double share[FC_CALIBRATION_MOST_CORRECTIONS]; /* ascending, below 1 */
};
/* For traffic `own`, of which kind, features and network are read; a relative's network is empty. `part`: of the
 * correction, that the answer takes. In the arena. */
enum fc_code fc_curve_error_make(const struct fc_correction *correction, const struct fc_calibration_case *own,
                                 double part, struct fc_arena *arena, struct fc_curve_error *error,
                                 struct fc_status *st);
/* Logarithm by which the saturation may be off; NaN: nothing was left out. `beyond`: one by which it may be off besides. */
double fc_curve_error_saturation(const struct fc_curve_error *error, double beyond);
/* Percent of a latency for which the model was asked at share x of a saturation that may be off by log_saturation, `asked` >= x having
 * been asked for; `excess` of it is waiting. `times`: how many times as wide the range is, by logarithms. Below 100. */
double fc_curve_error_latency(const struct fc_curve_error *error, double x, double asked, double excess,
                              double log_saturation, double times);
/* The same of theory and of relatives, whose waits may be off by `beyond` besides. */
double fc_curve_error_of_others(const struct fc_curve_error *error, double x, double excess, double log_saturation,
                                double beyond, double times);
/* The same where only the saturation may be off. */
double fc_curve_error_shifted(double x, double asked, double excess, double log_saturation);

#endif
