/* page.h - the page of `report`: one HTML file that holds everything it shows (page.c). It computes nothing.
 */
#pragma once

#include "core/picture.h"

#include <jansson.h>

#define FC_PAGE_MOST_BYTES 3000000
enum { FC_PAGE_BINS = 20, FC_PAGE_HOT = 8 };

/* Strings are borrowed; they may hold any characters. */
struct fc_page_line {
    const char *name, *value;
};
struct fc_page_link {
    const char *name;
    double bytes, busy_s;
};
/* One class of links under one mapping. */
struct fc_page_class {
    uint64_t count, used;
    double mean_bytes, max_bytes; /* payload; mean over used links */
    double max_busy_s;
    uint64_t bins[FC_PAGE_BINS]; /* used links by bytes, equal bins from 0 to most_bytes of the page's class */
};
/* One mapping. */
struct fc_page_side {
    const char *label, *note; /* "def", "tasks in rank order" */
    double time_s, bound_s, percent_of_peak;
    double percent_of_best;                 /* of the bound of all mappings; NaN: unknown */
    double error_percent;                   /* NaN: unknown */
    const char *against;                    /* what that is against, in words; "": nothing */
    const char *bottleneck, *error;         /* words */
    const double *link_bytes, *link_busy_s; /* [n_links] */
    const uint32_t *node;                   /* [n_tasks] */
    struct fc_page_class classes[FC_PICTURE_CLASSES];
    struct fc_page_link hot[FC_PAGE_HOT];
    int n_hot;
    const json_t *prediction; /* as `predict --json` gives it */
};
/* What would change the time under the mapping before. */
struct fc_page_help {
    const char *change; /* words */
    double percent;     /* below 0: faster */
    bool at_most;       /* proven to be no more than that */
};
struct fc_page {
    const struct fc_picture *picture;
    const char *title, *question, *time, *error, *sentence, *command;
    struct fc_page_side side[2]; /* before, after */
    uint32_t n_tasks;
    double most_bytes[FC_PICTURE_CLASSES]; /* of both sides */
    int bottleneck_class;                  /* of the side before; -1: no link binds */
    const struct fc_page_line *inputs;
    int n_inputs;
    const struct fc_page_help *helps; /* [n_helps] most first; asked: somebody wants to know */
    int n_helps;
    bool helps_asked, helps_cut; /* cut: not all that could be was looked at */
};
/* What became of it. */
struct fc_page_facts {
    size_t bytes;
    uint32_t n_links;
    int bits; /* of the loads' mantissas; 53: exact */
};
/* Writes the page, whole or not at all. Loads are rounded, as the page then says, where it would be larger
 * than FC_PAGE_MOST_BYTES; FC_NO: it still would. FC_INPUT: a name is not UTF-8, or the path cannot be
 * written. O(links log links). */
enum fc_code fc_page_write(const struct fc_page *page, const char *path, struct fc_page_facts *facts,
                           struct fc_status *st);
