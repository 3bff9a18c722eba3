/* predictions.h - what `predict` and `report` tell of answers. */
#pragma once

#include "answer/answer.h"
#include "cli/arguments.h"

/* A row of `predict`. */
struct fc_prediction_row {
    struct fc_answer answer;
    const char *nodes; /* --nodes, where several are compared; else NULL */
    size_t number;     /* as they were asked for */
    const char *why;   /* of --queue: there is no answer; NULL: there is */
};
/* Tells on standard error which calibrations do not fit their machines, each once, and which searches were cut short. */
void fc_note_answer(const struct fc_arguments *arguments, const struct fc_answer *answer,
                    const struct fc_answer *before);
/* --plot: all figures of the predictions (predict_plots.c). */
enum { FC_MOST_TIMELINES = 4, FC_MOST_RANK_FRAMES = 8 };
enum fc_code fc_plot_prediction_rows(const struct fc_arguments *arguments, const struct fc_prediction_row *rows,
                                     size_t n, struct fc_arena *arena, struct fc_status *st);
