/* place_report.h - what `place` found, as text and as JSON (place_report.c). */
#pragma once

#include "cli/arguments.h"
#include "mapping/place/place_best.h"
#include "mapping/place/place_service.h"

#include <jansson.h>

enum fc_place_constraint { FC_PLACE_SIX_VC, FC_PLACE_LINES, FC_PLACE_NONE };
extern const char *const fc_place_constraint_names[]; /* NULL-terminated */
enum { FC_PLACE_PARETO = FC_PLACE_OBJECTIVES };

struct fc_place_answer {
    const struct fc_arguments *arguments;
    const struct fc_session *session;
    struct fc_arena arena;
    struct fc_place_model model;
    struct fc_layout_rules rules;
    int constraint, objective, policy; /* policy: of the machines made; -1: the machine's own */
    double load, ideal;                /* load of latencies, flits/node/cycle */
    bool counted;                      /* all layouts were evaluated */
    double n_layouts, n_evaluated;
    struct fc_place_best best[FC_PLACE_OBJECTIVES], proof[FC_PLACE_OBJECTIVES]; /* by NULL: not asked */
    struct fc_served_layout
        *rows;         /* [n] Table 1 first, then the machine's own, the best, the front, what was searched */
    char (*name)[160]; /* [n] "" : only searched */
    struct fc_layout_kernel *kernel; /* [n] runs 0: none */
    size_t n, n_table1;
    bool served; /* by the queueing model */
    double elapsed_s;
};

/* Rows that are printed: named, or of the front. */
static inline bool fc_place_shown(const struct fc_place_answer *a, size_t i)
{
    return a->name[i][0] || a->rows[i].front;
}
void fc_place_print(FILE *stream, const void *answer);
json_t *fc_place_json(const struct fc_place_answer *answer);
