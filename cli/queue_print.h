/* queue_print.h - start now or wait for better nodes, as text and JSON (queue_print.c). */
#pragma once

#include "answer/queue.h"
#include "cli/predictions.h"

#include <jansson.h>
#include <stdio.h>

/* The candidates, rows[queue->n] in their order, each repeat times what was predicted. */
void fc_print_queue(FILE *stream, const struct fc_start_choices *queue, const struct fc_prediction_row *rows,
                    double repeat);
json_t *fc_queue_json(const struct fc_start_choices *queue, const struct fc_prediction_row *rows, double repeat);
