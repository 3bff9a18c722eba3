/* answer_json.h - an answer as JSON, with the keys of `predict --json` (answer_json.c). */
#pragma once

#include "answer/answer.h"

#include <jansson.h>

/* New references; NULL where a text is not UTF-8 or no memory is left. */
json_t *fc_answer_json(const struct fc_answer *answer);
/* null where there is no other traffic. */
json_t *fc_other_traffic_json(const struct fc_other_traffic *other);
