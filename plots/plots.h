/* plots.h - figures: a .tsv with units in its head plus a .gp beside it, drawn by gnuplot; plots compute nothing. */
#ifndef FC_PLOTS_H
#define FC_PLOTS_H

#include "core/core.h"

/* Writes DIR/NAME.tsv and DIR/NAME.gp (the script reads the .tsv and writes NAME.png; it can be run by hand in DIR) and
 * runs gnuplot. DIR is made when it does not exist. FC_NO: gnuplot is missing or failed; then .tsv and .gp stay. */
enum fc_code fc_figure_write(const char *directory, const char *name, const struct fc_table *data,
                             const char *script, struct fc_status *st);
/* A gnuplot script in the making: print to stream, then hand it to fc_script_draw, also after a failure. */
struct fc_script {
    FILE *stream; /* NULL: the status was filled before, or there is no memory */
    char *text;
    size_t size;
};
void fc_script_open(struct fc_script *script, struct fc_status *st);
/* fc_figure_write of the script; closes and frees it. Nothing is written where the status is filled. */
enum fc_code fc_script_draw(struct fc_script *script, const char *directory, const char *name,
                            const struct fc_table *data, struct fc_status *st);

/* Stacked bars of computation and communication time, one a prediction, with the bound as a mark.
 * (figure_predictions.c) */
struct fc_plot_prediction {
    const char *label; /* "bgl-64 def" */
    double computation_s, communication_s, bound_s, percent_of_peak;
};
enum fc_code fc_plot_predictions(const char *directory, const char *title, const struct fc_plot_prediction *rows,
                                 size_t n, struct fc_status *st);

/* How evenly the links are used: for each prediction its links' busy times, most first (figure_link_loads.c). */
struct fc_plot_links {
    const char *label;
    const double *busy_s; /* [n], descending */
    size_t n;
};
enum fc_code fc_plot_link_loads(const char *directory, const char *title, const struct fc_plot_links *series, size_t n,
                                struct fc_status *st);

/* What each rank of a replayed job does with the time, a frame a prediction (figure_ranks.c). */
struct fc_plot_ranks {
    const char *label;
    const double *compute_s, *finish_s; /* [n] */
    uint32_t n;
    double time_s; /* of the job */
};
enum fc_code fc_plot_ranks(const char *directory, const char *title, const struct fc_plot_ranks *series, size_t n,
                           struct fc_status *st);

/* Latency and accepted load against offered load, with the saturation point (figure_latency_curve.c). */
struct fc_plot_latency {
    double load, accepted; /* flits/node/cycle */
    double latency_cycles, half_width_cycles; /* NaN: unstable, or unknown */
};
struct fc_plot_band { /* of a model; NaN: no steady state, or error unknown */
    double latency_cycles, low_cycles, high_cycles;
};
struct fc_plot_curve {
    const char *label;
    const struct fc_plot_latency *points; /* [n] ascending load */
    size_t n;
    double saturation; /* offered flits/node/cycle; NaN: unknown */
    const struct fc_plot_band *model; /* [n] at the same loads, or NULL */
    bool measured;     /* the points hold more than loads */
};
enum fc_code fc_plot_latency_curves(const char *directory, const char *title,
                                    const struct fc_plot_curve *curves, size_t n, struct fc_status *st);

/* Layouts of a chip's interfaces: latency against saturation, the front marked (figure_placements.c). */
struct fc_plot_placement {
    const char *label;
    double saturation, latency_cycles; /* flits/node/cycle; NaN: unknown */
    int kind;                          /* sum of 1: of the front, 2: published (marked with its label); 0: searched */
};
enum fc_code fc_plot_placements(const char *directory, const char *title, const struct fc_plot_placement *rows, size_t n,
                                struct fc_status *st);

#endif
