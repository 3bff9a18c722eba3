/* json.h - reading JSON where memory may run out: jansson 2.14 writes behind its buffers when one of them cannot grow. */
#pragma once

#include "core/core.h"

#include <jansson.h>

/* json_loadb and json_load_callback: NULL with the status filled where memory runs out (what jansson held then is lost), and
 * NULL with an empty status where the text is no JSON: `error` (may be NULL) tells. */
json_t *fc_json_text(const char *text, size_t size, size_t flags, json_error_t *error, struct fc_status *st);
json_t *fc_json_feed(json_load_callback_t read, void *of, size_t flags, json_error_t *error, struct fc_status *st);
/* The JSON of a whole file in memory, no key twice in an object; the caller's (json_decref). *where: the file, without a line. NULL
 * with the status filled: no memory, or FC_INPUT with file:line where it is no JSON. O(size). */
json_t *fc_json_of_file(const struct fc_text *text, struct fc_place *where, struct fc_status *st);
