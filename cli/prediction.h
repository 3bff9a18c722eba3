/* prediction.h - one prediction, as `predict` and `report` make it. */
#ifndef FC_CLI_PREDICTION_H
#define FC_CLI_PREDICTION_H

#include "cli/period.h"
#include "traces/trace_source.h"

/* One prediction: everything printed of it, copied, since the machine is gone by then. */
struct fc_predicted {
    const char *machine, *title, *confidence, *mapping, *routing, *traffic;
    const char *calibration; /* file, or NULL */
    const char *uncalibrated; /* why there is none where one was looked for; else NULL */
    bool misfit;              /* it is there and does not fit: people are told */
    struct fc_prediction p;
    char bottleneck[256];
    uint32_t n_tasks;
    double hop_bytes; /* NaN: not known */
    uint64_t n_unmatched_sends, n_unmatched_receives, n_uneven_calls; /* of a trace */
    double assumed_flops_per_s; /* 0: nothing was assumed */
    struct fc_period_row period; /* of a trace, with --period */
    char *background; /* NULL: none */
    double *busy_s; /* [n_busy] descending */
    size_t n_busy;
    double *rank_finish_s, *rank_compute_s; /* [n_tasks] of a trace; else NULL */
    struct fc_timeline *timeline; /* of a trace, with most_timelines; else NULL. fc_predicted_free frees it */
    double *link_bytes, *link_busy_s; /* [n_links] payload bytes; busy INFINITY never: 0 there. With keep_links, else NULL */
    uint32_t *node; /* [n_tasks] where each task sits. With keep_links */
    json_t *json;
    const char *nodes; /* --nodes, where several are compared; else NULL */
    size_t number;
};
/* What predictions of one command line share. */
struct fc_predictor {
    const struct fc_arguments *arguments;
    struct fc_trace_source source; /* head NULL: none */
    enum fc_period_mode period_mode;
    struct fc_period period;
    struct fc_collective_choice collectives;
    enum fc_network_model network;
    struct fc_arena *arena; /* of what the rows hold */
    bool keep_links;
    int most_timelines; /* the first so many predictions have one */
};

/* Checks the options and opens the trace; end it also after a failure. */
enum fc_code fc_predictor_start(const struct fc_arguments *arguments, struct fc_arena *arena, struct fc_predictor *s,
                                struct fc_status *st);
void fc_predictor_end(struct fc_predictor *s);
/* The traffic: of a trace only the number of tasks, where no mapping of `maps` looks at more. */
enum fc_code fc_predictor_traffic(struct fc_predictor *s, const struct fc_session *session, const char *const *maps,
                                  size_t n_maps, struct fc_demand *demand, struct fc_status *st);
/* Predicts the traffic under mapping `map`; free the row, also after a failure. */
enum fc_code fc_predict_one(struct fc_predictor *s, struct fc_session *session, const struct fc_demand *demand,
                            const char *map, struct fc_predicted *row, struct fc_status *st);
/* Tells on standard error which rows' calibrations do not fit their machines. */
void fc_predicted_note(const struct fc_predicted *rows, size_t n);
void fc_predicted_free(struct fc_predicted *row);
/* --plot: all figures of the predictions (predict_plots.c). */
enum { FC_MOST_TIMELINES = 4, FC_MOST_RANK_FRAMES = 8 };
enum fc_code fc_predicted_plot(const struct fc_arguments *arguments, const struct fc_predicted *rows, size_t n,
                               struct fc_arena *arena, struct fc_status *st);

#endif
