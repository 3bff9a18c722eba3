/* report_words.h - what `report` says in words (report_words.c). Texts are in the arena. */
#pragma once

#include "cli/predictions.h"

/* "330 ms": three digits. */
const char *fc_words_time(double time_s, struct fc_arena *arena, struct fc_status *st);
/* "± 42 % against the kernel", or "error unknown". */
const char *fc_words_error(const struct fc_prediction *p, struct fc_arena *arena, struct fc_status *st);
/* The same with blanks inside numbers ("65 536") that do not break. */
const char *fc_words_unbroken(const char *text, struct fc_arena *arena, struct fc_status *st);
/* What the mapping is. */
const char *fc_words_mapping(const char *label);
/* "the D links are the bottleneck"; class_title: of the bottleneck link, or NULL. */
const char *fc_words_bottleneck(const struct fc_prediction *p, const char *class_title, struct fc_arena *arena,
                                struct fc_status *st);
/* "optimized mapping 14.5× faster", and whether the errors of the two times overlap. */
const char *fc_words_speedup(const struct fc_answer *before, const struct fc_answer *after, struct fc_arena *arena,
                             struct fc_status *st);
