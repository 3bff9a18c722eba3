/* family_parts.h - what the records of several families do alike: shapes in words, sides of smaller relatives
 * (machine_smaller.c). */
#pragma once

#include "models/models.h"

/* Append "name [4, 4]", "name 4", "name text" to the words, behind a comma where there are some. */
void fc_words_list(char *out, size_t size, const char *name, const struct fc_ints *list);
void fc_words_number(char *out, size_t size, const char *name, long long value);
void fc_words_text(char *out, size_t size, const char *name, const char *value);
/* Makes every side longer than 2 `side` long; `first_doubled`: the first of them twice that. */
void fc_cap_sides(struct fc_ints *dims, long long side, bool first_doubled);
