/* compare.h - a set of jobs on several machines: every time, their mean, what the machines cost, and which of them no other
 * beats in both (job_set.c, compare.c). */
#pragma once

#include "answer/question.h"
#include "models/models.h"
#include "solvers/solvers.h"

/* ---- the jobs (job_set.c) ---- */

enum fc_job_kind { FC_SET_TRACE, FC_SET_PATTERN, FC_SET_GRAPH };
extern const char *const fc_job_kind_names[]; /* ends with NULL */
struct fc_set_job {
    enum fc_job_kind kind;
    const char *what; /* the pattern, or the file as it can be opened */
    const char *name; /* for people */
    double weight;    /* above 0, at most 1e15 */
    long line;
};
struct fc_job_set {
    const char *file;
    struct fc_set_job *jobs; /* [n], n >= 1 */
    size_t n;
};
/* Reads lines `WEIGHT trace|pattern|graph WHAT [NAME]`; # begins a comment; files are relative to the set's own. The arena owns
 * all. FC_INPUT with file:line. */
enum fc_code fc_job_set_read(const char *path, struct fc_arena *arena, struct fc_job_set *set, struct fc_status *st);

/* ---- the comparison (compare.c) ---- */

/* What a row rests on. */
enum fc_tier { FC_TIER_THEORY, FC_TIER_FAMILY, FC_TIER_CALIBRATED };
extern const char *const fc_tier_names[]; /* by that number */
enum fc_tiers { FC_TIERS_SAME, FC_TIERS_OWN, FC_TIERS_THEORY };
extern const char *const fc_tiers_names[]; /* by that number; ends with NULL */

struct fc_compared_cell {                                           /* a job on a machine */
    double time_s, communication_s, percent_of_peak, error_percent; /* error NaN: unknown */
    enum fc_error_against error_against;
    uint32_t n_tasks;
    const char *bottleneck, *mapping;
};
struct fc_compared_machine {
    const char *name, *title, *routing, *currency;
    const char **class_names; /* [n_classes] */
    int n_classes;
    uint32_t n_nodes;
    struct fc_network_cost cost;
    struct fc_compared_cell *cells; /* [n_jobs] */
    double mean_s;                  /* exp(sum w ln t / sum w): the geometric mean by weight */
    double relative;                /* to the first machine's */
    double error_percent;           /* the mean of the jobs' errors by weight; NaN: one is unknown */
    enum fc_tier tier;
    bool on_front; /* none costs less and is as fast, nor as little and is faster */
};
struct fc_comparison {
    struct fc_arena arena;
    struct fc_compared_machine *machines; /* [n] as they were asked for */
    size_t n, n_jobs;
    bool uneven_tasks;    /* a pattern has other numbers of tasks on other machines */
    bool mixed_tiers;     /* rows do not rest on the same */
    bool tiers_lowered;   /* calibrations there are were left out, since not all machines have one */
    bool one_currency;    /* the costs that are known are comparable */
    const char *currency; /* of the first machine with a cost; "": not named, or none has one */
    const char *without;  /* then: the first machine that has none */
};
/* Every job of the set under q->map ("def" where NULL) on every machine; job and machine of the question are not looked at.
 * FC_INPUT, FC_NO: with the job's line and the machine. Milliseconds a pattern and machine; a trace costs its replay. The
 * caller frees it, also after a failure. */
enum fc_code fc_compare(const struct fc_question *q, const struct fc_job_set *set, const char *const *machines,
                        size_t n, enum fc_tiers tiers, struct fc_comparison *out, struct fc_status *st);
void fc_comparison_free(struct fc_comparison *comparison);
