/* calibration_fit.h - private to the fit (calibration_fit.c) and to what uses it (calibrate.c). */
#pragma once

#include "solvers/calibration/calibration_correction.h"

#include <gsl/gsl_vector.h>

struct fc_fit {
    struct fc_arena arena;
    struct fc_calibration_job *const *jobs; /* [n_jobs] */
    uint32_t n_jobs;
    bool *use;         /* [n_jobs] fitted to */
    int *first_row;    /* [n_jobs + 1] residuals of job j */
    double *r, *trial; /* [first_row[n_jobs]] */
    bool *fitted;      /* [n_jobs] in use in the last fc_fit_all */
    double *jacobian;  /* [rows of fitted jobs][n_free] of the last fc_fit_all */
    int n_free, free[FC_Q_PARAMETERS];
    int threads, n_evaluations;
};
/* Opens the models of the jobs, which it tunes for fits. The caller closes, also after a failure. */
enum fc_code fc_fit_open(struct fc_fit *fit, struct fc_calibration_job *const *jobs, uint32_t n_jobs, int threads,
                         struct fc_status *st);
void fc_fit_close(struct fc_fit *fit);
/* The parameters that matter for the jobs in use, free, at their start. */
void fc_fit_start(struct fc_fit *fit, struct fc_queueing_parameters *parameters);
/* No parameter is free; all are those of theory. */
void fc_fit_by_theory(struct fc_fit *fit, struct fc_queueing_parameters *parameters);
/* From *parameters to the optimum; parameters that the data does not tell are no longer free. half[n_free]:
 * half widths of the 95 % intervals of their logarithms. FC_NO: no solution. */
enum fc_code fc_fit_all(struct fc_fit *fit, struct fc_queueing_parameters *parameters, double *half,
                        struct fc_status *st);
/* The same free parameters for a part of these jobs, by one Gauss-Newton step from the optimum. */
void fc_fit_again(struct fc_fit *fit, struct fc_queueing_parameters *parameters);
/* The sum of squares over the jobs in use. */
double fc_fit_residuals(struct fc_fit *fit, const struct fc_queueing_parameters *parameters);
/* Answer (the model, and what `corrected` says where it is not NULL) against kernel at the kernel's loads:
 * log_ratio[n_points] of the latencies, *log_saturation. FC_NO: the model has no steady state (with `corrected`: nor below, as of
 * fc_calibration_ratios). */
enum fc_code fc_calibration_compare(struct fc_calibration_job *job, const struct fc_queueing_parameters *parameters,
                                    const struct fc_corrected *corrected, double *log_ratio, double *log_saturation,
                                    struct fc_status *st);
/* Model over kernel at the same shares of saturation: sets saturation_ratio and the points' model_ratio. Of a share without a
 * steady state by the next lower one that has one, latencies as the square of the load; FC_NO: none down to 0.74 of the share. */
enum fc_code fc_calibration_ratios(struct fc_calibration_job *job, const struct fc_queueing_parameters *parameters,
                                   struct fc_status *st);
