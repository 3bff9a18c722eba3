/* curve_print.h - what `curve` tells of the queueing model (curve_print.c). */
#pragma once

#include "answer/curve_model.h"

#include <jansson.h>

/* "queueing, calibrated by FILE (anchored)"; the reasons for which answers are extrapolated or have no error,
 * a line each; the answer of load number i for JSON (a new
 * reference). */
void fc_curve_model_print_head(const struct fc_curve_model *model, FILE *stream);
void fc_curve_model_print_notes(const struct fc_curve_model *model, FILE *stream);
json_t *fc_curve_model_json(const struct fc_curve_model *model, size_t i);
/* The windows: a table, and for JSON (a new reference; NULL: none asked). */
void fc_curve_model_print_windows(const struct fc_curve_model *model, FILE *stream);
json_t *fc_curve_model_windows_json(const struct fc_curve_model *model);

/* Latencies of pairs: tables, a line for each load that has an answer. */
void fc_curve_pairs_print(const struct fc_curve_pairs *pairs, const double *load, FILE *stream);
