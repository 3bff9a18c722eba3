/* pack.h - arrays as short text, for a script in a page to unfold (pack.c; plots/report.js reads them). */
#pragma once

#include "core/core.h"

/* Base64 of a zlib stream (RFC 4648, 1950), in the arena. */
struct fc_packed {
    const char *text;
    size_t length;
    uint32_t n_values; /* distinct reals */
    int bits;          /* of their mantissa; 53: exact */
};
/* n reals; NaN: nothing there. At most `most_values` (255 to 65535) distinct ones: mantissas are rounded to
 * as many bits as that takes. FC_NO: memory. O(n log n). */
enum fc_code fc_pack_reals(const double *v, size_t n, uint32_t most_values, struct fc_arena *arena,
                           struct fc_packed *out, struct fc_status *st);
/* n whole numbers, exact. */
enum fc_code fc_pack_numbers(const uint32_t *v, size_t n, struct fc_arena *arena, struct fc_packed *out,
                             struct fc_status *st);
/* Text as it is. */
enum fc_code fc_pack_text(const char *text, size_t n, struct fc_arena *arena, struct fc_packed *out,
                          struct fc_status *st);
