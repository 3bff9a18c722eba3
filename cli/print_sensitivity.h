/* print_sensitivity.h - what a time depends on, for people (print_sensitivity.c). */
#pragma once

#include "answer/answer.h"

#include <stdio.h>

/* The table of an answer with sensitivity, and below it what would help, most first. */
void fc_print_sensitivity(FILE *stream, const struct fc_answer *answer);
