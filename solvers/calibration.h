/* calibration.h - the queueing model fitted to kernel runs, and how far to trust it.
 *
 * A calibration belongs to a router kind (family, routing, rule, channels, flow control, arbitration, buffers in
 * flits...), not to a size. It holds the parameters of queueing.h with 95 % intervals, the hull of what they were
 * fitted on, the errors that were measured on networks left out, and anchors: kernel points of the very networks,
 * patterns and packet lengths that were run. Two tiers: *anchored* (between anchors of the same case: the model
 * times the measured ratio) and *transfer* (the model alone). Written as YAML beside the machine file:
 * NAME.calibration.yaml. */
#ifndef FC_CALIBRATION_H
#define FC_CALIBRATION_H

#include "solvers/queueing.h"

struct fc_calibration_point {
    double load_share; /* of the case's saturation */
    double latency_cycles, half_width_cycles;
};
/* One network, pattern and packet length that was run. */
struct fc_calibration_case {
    const char *network; /* shape in words: "dims [8, 8, 8]" */
    const char *pattern; /* as the user types it: "uniform", "stencil3d:grid=8x8x8,..." */
    double flits_min, flits_max;
    double saturation, ideal; /* flits a node and cycle */
    int n_points;
    struct fc_calibration_point *points; /* [n_points] ascending */
    bool fitted;          /* used for the parameters; else held out */
    double mean_error_percent, greatest_error_percent, saturation_error_percent; /* of the transfer tier; when
                             fitted: with this network left out */
};
struct fc_calibration {
    struct fc_arena arena;
    const char *file, *machine, *kind; /* kind: see fc_calibration_kind */
    const char *kernel_version;
    uint64_t seed;
    struct fc_queueing_parameters parameters, low, high; /* 95 % interval */
    bool free_parameter[FC_Q_PARAMETERS];                /* fitted; the others stand at their default */
    uint32_t n_cases;
    struct fc_calibration_case *cases;
    /* Hull: least and most over the cases. */
    double hops[2], anisotropy[2], flits[2], buffer_packets[2];
    double residual_percent;          /* root mean square of the fit */
    double left_out_mean_percent, left_out_greatest_percent;       /* leave one network out, to 80 % of saturation */
    double largest_left_out_percent;                               /* leave the largest network out, mean */
    double saturation_mean_percent, saturation_greatest_percent;   /* leave one network out */
    /* Mean absolute left-out error by load share [0.1 steps up to 0.9]: what transfer answers carry. */
    double error_at[10];
};

struct fc_calibration_settings {
    double budget_s;  /* of a nominal machine with two cores: counted in flit-hops, so that results do not
                         depend on the clock; 0: 60 */
    int threads;
    uint64_t seed;
    struct fc_progress *progress;
};
/* The router kind of a machine in one line: what must be equal for a calibration to apply. In the arena. */
enum fc_code fc_calibration_kind(const struct fc_network *net, struct fc_arena *arena, const char **kind,
                                 struct fc_status *st);
/* Designs the runs, makes them, fits, holds out. The caller frees. FC_NO: the fit does not converge or the budget
 * allows no case. */
enum fc_code fc_calibrate(const struct fc_machine *machine, const struct fc_calibration_settings *settings,
                          struct fc_calibration *calibration, struct fc_status *st);
void fc_calibration_free(struct fc_calibration *calibration);
enum fc_code fc_calibration_write(const struct fc_calibration *calibration, const char *path, struct fc_status *st);
/* FC_INPUT with file:line for what is wrong in the file. */
enum fc_code fc_calibration_read(const char *path, struct fc_calibration *calibration, struct fc_status *st);
/* The calibration beside the machine's file, if there is one: *found. FC_INPUT: it is made for another kind (both
 * kinds named) or cannot be read. */
enum fc_code fc_calibration_find(const struct fc_network *net, struct fc_calibration *calibration, bool *found,
                                 struct fc_status *st);

/* An answer with its error. */
enum fc_calibration_tier { FC_TIER_NONE, FC_TIER_ANCHORED, FC_TIER_TRANSFER };
struct fc_calibrated_answer {
    struct fc_queueing_answer model; /* latency corrected when anchored; stable false at and above saturation */
    enum fc_calibration_tier tier;
    double saturation;     /* flits a node and cycle: of the case when anchored, else of the model */
    double error_percent;  /* of the mean latency; NaN: nothing measured applies */
    bool extrapolated;     /* outside the hull or above 0.9 of saturation; the error is widened */
    const char *why;       /* the reason for that, or for a NaN, in words; "" */
};
/* One load of open-loop traffic: calibration may be NULL (parameters of theory, error NaN). `pattern` names the case
 * as the user typed it. Latency at or above saturation is NaN. Cost: that of fc_queueing_solve, and once a
 * queueing a saturation. */
struct fc_calibrated; /* a queueing with its calibration and saturation */
enum fc_code fc_calibrated_open(const struct fc_calibration *calibration, const struct fc_turns *turns,
                                const char *pattern, const struct fc_flit_settings *settings,
                                struct fc_calibrated **calibrated, struct fc_status *st);
enum fc_code fc_calibrated_solve(struct fc_calibrated *calibrated, double load_flits_per_cycle,
                                 struct fc_calibrated_answer *answer, struct fc_status *st);
double fc_calibrated_saturation(const struct fc_calibrated *calibrated, double *error_percent);
void fc_calibrated_close(struct fc_calibrated *calibrated);

#endif
