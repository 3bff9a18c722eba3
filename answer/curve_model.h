/* curve_model.h - latency against load by the queueing model, with its error (curve_model.c). */
#pragma once

#include "answer/curve_pairs.h"
#include "solvers/queueing/queueing_window.h"
#include "solvers/calibration/calibration.h"

/* A curve of the queueing model, with what it was calibrated with. */
struct fc_curve_model {
    struct fc_arena arena;
    struct fc_calibration calibration;
    bool calibrated;                     /* there is one */
    bool by_theory;                      /* none, but the error of theory is known: fc_calibrated_by_theory */
    struct fc_calibration_misfit misfit; /* why not */
    enum fc_error_against error_against; /* what the errors of its answers were measured against */
    struct fc_turns turns;
    struct fc_calibrated *model;
    struct fc_calibrated_answer *answers; /* [n] `why` lives as long as this */
    size_t n;
    struct fc_curve_pairs pairs;      /* --pairs, --by-hops */
    struct fc_window_answer *windows; /* [n_windows] --windows */
    size_t n_windows;
    double saturation, saturation_percent; /* flits/node/cycle; its error, NaN: unknown */
    double ideal;                          /* fc_flit_ideal_throughput */
    const char *vc_rule;
};
/* Solves the model at load[n], with the pairs and windows that the question asks. `pattern`: the traffic's name, by which its
 * calibration is found; NULL: none. No kernel run. The caller frees, also after a failure. */
enum fc_code fc_curve_model_solve(const struct fc_curve_question *q, const struct fc_session *session,
                                  const char *pattern, const struct fc_demand *demand,
                                  const struct fc_flit_settings *settings, const double *load, size_t n,
                                  struct fc_curve_model *model, struct fc_status *st);
void fc_curve_model_free(struct fc_curve_model *model);
