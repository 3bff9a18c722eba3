/* page_internal.h - what the files of the page share. */
#pragma once

#include "plots/pack.h"
#include "plots/page.h"

/* The fixed parts (page_parts.c), NUL-terminated. */
extern const char fc_part_html[], fc_part_css[], fc_part_js[], fc_part_inflate_js[], fc_part_draw_js[];

/* `text` as HTML text or attribute: & < > " ' escaped. */
void fc_html_text(FILE *out, const char *text);
/* Links, layout and loads (page_data.c): a new reference, NULL after a failure. *bits: fewest bits of a
 * mantissa. */
json_t *fc_page_data(const struct fc_page *page, uint32_t most_values, struct fc_arena *arena, int *bits,
                     struct fc_status *st);
/* What the names of a panel's links are made of again (page_names.c): {patterns, numbers, which}; a new reference, NULL after a
 * failure. O(cells log patterns). */
json_t *fc_page_names(const struct fc_picture *picture, const struct fc_panel *panel, struct fc_arena *arena,
                      struct fc_status *st);
/* The parts that need no script (page_tables.c). */
void fc_page_bars(const struct fc_page *page, FILE *out);
void fc_page_histograms(const struct fc_page *page, FILE *out);
void fc_page_numbers(const struct fc_page *page, FILE *out);
void fc_page_hottest(const struct fc_page *page, FILE *out);
void fc_page_inputs(const struct fc_page *page, int bits, FILE *out);
