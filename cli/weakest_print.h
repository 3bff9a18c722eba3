/* weakest_print.h - the cables that a job can spare least, as text and JSON (weakest_print.c). */
#pragma once

#include "answer/weakest.h"

#include <jansson.h>
#include <stdio.h>

void fc_print_weakest(FILE *stream, const struct fc_weakest *weakest);
/* Adds the key `weakest` and those that tell what it is of to the prediction's object. */
void fc_add_weakest(json_t *prediction, const struct fc_weakest *weakest);
