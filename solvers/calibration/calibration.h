/* calibration.h - the queueing model fitted to kernel runs, and how far to trust it.
 *
 * A calibration belongs to a router kind (family, routing, rule, channels, flow control, arbitration, buffers
 * in flits...), not to a size. It holds the parameters of queueing.h with 95 % intervals, the hull of what
 * they were fitted on, the errors that were measured on networks left out, and anchors: kernel points of the
 * very networks, patterns and packet lengths that were run. Two tiers: *anchored* (between anchors of the
 * same case: the model times the measured ratio) and *transfer* (the model times what the ratios of the cases
 * say of one like it, kriging.h). Written as YAML beside the machine file: NAME.calibration.yaml.
 * docs/calibration.md has the method. */
#pragma once

#include "solvers/calibration/bulk.h"
#include "solvers/calibration/kriging.h"
#include "solvers/calibration/replay_error.h"
#include "solvers/queueing/queueing.h"

/* Of the kernel's answers, not of the program: a calibration made by another one is refused. Raised when a
 * change of the kernel or of the equations of queueing.c moves latencies or saturations. */
#define FC_KERNEL_VERSION "4"

/* Features of traffic on a network; of these, inputs that meet at an output and ways that a packet chooses among, in the mean. */
enum { FC_CALIBRATION_FEATURES = 6, FC_CALIBRATION_INPUTS = 4, FC_CALIBRATION_CHOICES = 5 };
struct fc_calibration_point {
    double load_share;                        /* of the case's saturation */
    double latency_cycles, half_width_cycles; /* of the kernel; 95 % by batch means, NaN: unknown */
    double model_ratio;                       /* model over kernel, both at this share of their own saturation */
};
#define FC_CALIBRATION_MOST_POINTS 15
/* One network, pattern and packet length that was run. */
struct fc_calibration_case {
    const char *network; /* shape in words: fc_machine_shape */
    const char *pattern; /* as the user types it: "uniform", "stencil3d:grid=8x8x8" */
    const char *kind;    /* of the pattern: fc_calibration_pattern_kind */
    uint64_t nodes;
    double flits_min, flits_max;
    double features[FC_CALIBRATION_FEATURES]; /* fc_calibration_features */
    double hops, anisotropy, buffer_packets;  /* where the case lies in the hull */
    double saturation, ideal;                 /* flits a node and cycle */
    double saturation_ratio;                  /* the model's over the kernel's */
    double escape_percent; /* of the flit-hops at the greatest load run, those on escape channels; NaN: none
                              exist */
    int n_points;
    struct fc_calibration_point *points; /* [n_points] ascending */
    bool fitted;                         /* used for the parameters; else held out */
    double mean_error_percent, greatest_error_percent, saturation_error_percent; /* of the transfer tier with this
network left out of fit and correction (calibration->left_out), latency up to 0.8 of saturation */
};
/* How well a case's latencies are known up to 0.9 of saturation: the greatest half width, percent of the latency. */
double fc_calibration_known_percent(const struct fc_calibration_case *k);
/* Known to 3 % and up to 0.8 of saturation at least: answers of its traffic are its own. */
bool fc_calibration_is_anchor(const struct fc_calibration_case *k);
/* The correction at one share of saturation; share 1: of the saturation itself. */
struct fc_calibration_correction {
    double share;
    struct fc_kriging_shape shape;
};
#define FC_CALIBRATION_MOST_CORRECTIONS (FC_CALIBRATION_MOST_POINTS + 1)
/* What an error is measured on: parameters fitted without that network, or, where only one network was run,
 * without that case. */
enum fc_left_out { FC_LEFT_OUT_NETWORK, FC_LEFT_OUT_CASE };
extern const char *const fc_left_out_names[]; /* NULL-terminated */
struct fc_calibration {
    struct fc_arena arena;
    const char *file, *machine, *kind; /* file: read from or to be written to, may be NULL; kind: fc_calibration_kind */
    const char *kernel_version;
    uint64_t seed;
    double budget_s; /* that it was made with; 0: not told (files made before it was) */
    struct fc_queueing_parameters parameters, low, high; /* 95 % interval */
    bool free_parameter[FC_Q_PARAMETERS]; /* fitted; the others stand at their default or at an end of their
                                             range */
    uint32_t n_cases;
    struct fc_calibration_case *cases;
    uint32_t n_not_begun, n_given_up; /* cases that the budget did not allow, or not to the end; not in the file */
    /* Hull: least and most over the cases. hops_step: hops of the largest network over those of the largest
     * but one (1: none), the step in size that leaving the largest out has tested. */
    double hops[2], anisotropy[2], flits[2], buffer_packets[2], hops_step;
    int n_corrections;
    struct fc_calibration_correction corrections[FC_CALIBRATION_MOST_CORRECTIONS]; /* ascending; the last is
                                                                                      of share 1 */
    double residual_percent;                                                       /* root mean square of the fit */
    int left_out;                                                                  /* enum fc_left_out */
    /* All NaN where nothing could be left out (a single case). */
    double left_out_mean_percent, left_out_greatest_percent; /* latency, up to 80 % of saturation */
    double largest_left_out_percent;                         /* the largest network left out, mean */
    double saturation_mean_percent, saturation_greatest_percent;
    /* The same with a kind of pattern left out on all networks, NaN where there is one: means. */
    double kind_mean_percent, kind_saturation_mean_percent;
    double error_at[10];       /* mean absolute left-out error at load share 0, 0.1, ... 0.9 */
    double hops_run;           /* flit-hops (event engine: packet-hops) that the kernel made for it */
    struct fc_bulk phases;     /* closed runs */
    struct fc_replays replays; /* jobs; n_cases 0: the file has none */
    /* Not of this kind of router, but of its family (family.h): the rest is then that of the nearest, `file` names all. */
    uint32_t n_relatives; /* 0: its own */
    struct fc_calibration *relatives;
    double distance;  /* of the nearest's router; 0: of this very kind */
    const char *from; /* in words: "6 calibrated torus machines (nearest bgl-512)" */
    struct fc_calibration
        *aside; /* its own, with few jobs: the family's, whose jobs count beside; NULL; freed with it */
};

#define FC_CALIBRATION_BUDGET_S 60.0
struct fc_calibration_settings {
    double budget_s; /* CPU seconds of a nominal core, counted in hops, so that results do not depend on the clock; 0:
                   * FC_CALIBRATION_BUDGET_S */
    int threads;
    uint64_t seed;
    const char *without; /* a network (fc_machine_shape) that is not to be run, to be predicted; NULL: none */
    struct fc_progress *progress;
};
/* The router kind of a network in one line of key=value: what must be equal for a calibration to apply.
 * `vc_rule` NULL: the machine's. In the arena. FC_INPUT: the kernel cannot run this network. */
enum fc_code fc_calibration_kind(const struct fc_network *net, const char *vc_rule, struct fc_arena *arena,
                                 const char **kind, struct fc_status *st);
/* Designs the runs, makes them, fits, holds out. The caller frees. Same result for any number of threads.
 * FC_NO: the fit does not converge or the budget allows no case. */
enum fc_code fc_calibrate(const struct fc_machine *machine, const struct fc_calibration_settings *settings,
                          struct fc_calibration *calibration, struct fc_status *st);
/* Makes the replays of a calibration of this machine anew, those that fc_calibrate makes with the same settings, and finds the fluids of its
 * phases again, by the new limit of mixing; leaves all else as it is. FC_INPUT: it is of another kind of router, or of another kernel version. */
enum fc_code fc_calibrate_replays(const struct fc_machine *machine, const struct fc_calibration_settings *settings,
                                  struct fc_calibration *calibration, struct fc_status *st);
/* FC_NO where the fit says nothing of the machine's routers, with what to change (calibration_sound.c). */
enum fc_code fc_calibration_check(const struct fc_calibration *calibration, const struct fc_machine *machine,
                                  struct fc_status *st);
void fc_calibration_free(struct fc_calibration *calibration);
enum fc_code fc_calibration_write(const struct fc_calibration *calibration, const char *path, struct fc_status *st);
/* FC_INPUT with file:line for what is wrong in the file. The caller frees. */
enum fc_code fc_calibration_read(const char *path, struct fc_calibration *calibration, struct fc_status *st);
/* Runs the kernel on this machine's own network under one more traffic, packets of the longest, and keeps it among the calibration's cases
 * (instead of the same one where it is there): `curve` then answers it from these runs, and what is like it better. Parameters, corrections'
 * shapes and the errors of all else stay as they are. pattern: of rates, as the user types it; copied. `added` (may be NULL): the case, of the
 * calibration. FC_INPUT: another kind of router, kernel version, or no such pattern; FC_NO: the budget does not allow it, or the kernel finds no
 * saturation; the calibration is then as it was. */
enum fc_code fc_calibrate_curve(const struct fc_machine *machine, const struct fc_calibration_settings *settings,
                                const char *pattern, struct fc_calibration *calibration,
                                const struct fc_calibration_case **added, struct fc_status *st);
/* The same for a phase, a pattern of messages with their bytes: kept among the closed runs, whose process is fitted anew with it. Not limited by
 * the budget. */
enum fc_code fc_calibrate_phase(const struct fc_machine *machine, const struct fc_calibration_settings *settings,
                                const char *pattern, struct fc_calibration *calibration,
                                const struct fc_bulk_case **added, struct fc_status *st);
/* "DIR/NAME.calibration.yaml" beside the machine's file. Returns out. */
char *fc_calibration_path(const struct fc_machine *machine, char *out, size_t size);
/* Why a machine has no calibration, for people: "FILE: made for another kind of router: vcs=4 (expected vcs=3)". */
struct fc_calibration_misfit {
    char text[900]; /* "": it has one */
    bool mistake;   /* the file is there and should fit: the machine is as its file has it */
};
/* The calibration beside the machine's file, if there is one that fits: *found. It does not where it is made for another
 * kind of router (every key that differs is named) or by another kernel version: the answer is then without one, and
 * *misfit (may be NULL) says why. FC_INPUT: it cannot be read. */
enum fc_code fc_calibration_find(const struct fc_network *net, struct fc_calibration *calibration, bool *found,
                                 struct fc_calibration_misfit *misfit, struct fc_status *st);

/* An answer with its error. */
enum fc_calibration_tier { FC_TIER_NONE, FC_TIER_ANCHORED, FC_TIER_TRANSFER, FC_TIER_ALONE };
extern const char *const fc_calibration_tier_names[]; /* NULL-terminated */
struct fc_calibrated_answer {
    struct fc_queueing_answer model; /* latency corrected when anchored; stable false at and above saturation */
    enum fc_calibration_tier tier;
    double saturation;    /* flits a node and cycle: of the case when anchored, else of the model */
    double error_percent; /* of the mean latency; NaN: nothing measured applies */
    bool elsewhere;       /* transfer: the machine's own calibration has no run on this network */
    bool extrapolated;    /* outside the hull or above 0.9 of saturation; the error is widened */
    const char *why;      /* the reason for that, or for a NaN, in words; "". Lives as long as the calibrated */
};
/* One load of open-loop traffic: calibration may be NULL (parameters of theory; error NaN but where theory or, without other
 * traffic in the way, a short run of the kernel tells it: alone.c). `pattern` names
 * the case as the user typed it; the settings give packet lengths and rule as for fc_turns_make. A rule of
 * another kind than the calibration's: theory, error NaN, `why` names both kinds. Calibration and turns must
 * outlive it. The caller closes. Cost: one saturation, and that run. */
struct fc_calibrated; /* a queueing with its calibration and saturation */
enum fc_code fc_calibrated_open(const struct fc_calibration *calibration, const struct fc_turns *turns,
                                const char *pattern, const struct fc_flit_settings *settings,
                                struct fc_calibrated **calibrated, struct fc_status *st);
/* Latency at or above saturation is NaN. Cost: that of fc_queueing_solve. */
enum fc_code fc_calibrated_solve(struct fc_calibrated *calibrated, double load_flits_per_cycle,
                                 struct fc_calibrated_answer *answer, struct fc_status *st);
/* Saturation, flits a node and cycle; *error_percent (may be NULL): NaN when nothing measured applies. */
double fc_calibrated_saturation(const struct fc_calibrated *calibrated, double *error_percent);
/* Whether nobody meets in the traffic, so that a short run of the kernel told how each source goes (alone.c): good without a
 * calibration, too. */
bool fc_calibrated_alone(const struct fc_calibrated *calibrated);
/* Whether an answer is by the parameters of theory, with an error that is known of them: calibration NULL was as good. */
bool fc_calibrated_by_theory(const struct fc_calibrated *calibrated);
/* The model inside, at the load that the last answer was found with. */
const struct fc_queueing *fc_calibrated_queueing(const struct fc_calibrated *calibrated);
void fc_calibrated_close(struct fc_calibrated *calibrated);
