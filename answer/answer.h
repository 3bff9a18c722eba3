/* answer.h - the answer to a question (question.h): time, error, loads, placement, timeline of a job on a machine, in plain
 * values (answer.c). */
#pragma once

#include "answer/job.h"
#include "answer/sensitivity.h"

/* The links of one class that carry something; payload bytes, least and mean over used ones. */
struct fc_answer_class {
    const char *name;
    uint64_t count, used;
    double min_bytes, mean_bytes, max_bytes;
};

/* All of it is the answer's own: machine and job may be closed. Its arena owns texts and arrays. */
struct fc_answer {
    struct fc_arena arena;
    const char *machine, *title, *confidence; /* confidence: in the machine's data, "" */
    const char *traffic, *mapping, *routing;
    struct fc_prediction p;
    const char *bottleneck;       /* the link's name, or what binds */
    const char *bottleneck_class; /* NULL: no link binds */
    const char *calibration;      /* file that the error is from, or several, ", " between; NULL: none */
    const char *calibration_from; /* what else the error is from, in words; NULL: that file */
    const char *uncalibrated;     /* why there is none where one was looked for; else NULL */
    bool misfit;                  /* it is there and does not fit: to be told */
    double best_bound_s;          /* no mapping of the job onto the nodes allowed is faster; NaN: unknown */
    const char *best_bound_by;    /* what it is by */
    const char *best_bound_why;   /* it is unknown; else NULL */
    double compute_scale;         /* of recorded computation; 1 of traffic that is no trace */
    double io_s;                  /* part of the time: files; NaN: not recorded */
    const char *io_why;           /* a function that is not; else NULL */
    uint32_t n_tasks, n_links;
    struct fc_answer_class *classes; /* [n_classes]; 0: loads of links are not known */
    int n_classes;
    double hop_bytes; /* NaN: not known */
    struct fc_other_traffic other;
    const char *other_text; /* of it, in a sentence; NULL: none */

    /* Of a trace. */
    bool of_trace;
    const char *collectives; /* rules and fixed algorithms, as --collectives reads them */
    uint64_t n_unmatched_sends, n_unmatched_receives, n_uneven_calls;
    double assumed_flops_per_s; /* 0: nothing was assumed */
    struct fc_period_row period;
    double *rank_finish_s, *rank_compute_s; /* [n_tasks]; else NULL */
    struct fc_timeline *timeline;           /* with keep_timeline; else NULL */

    /* With keep_links, else NULL. */
    double *link_bytes, *link_busy_s; /* [n_links] payload bytes; time that the link is busy, 0 where it has no limit */
    uint32_t *node, *core;            /* [n_tasks] where each task sits */

    struct fc_sensitivity *sensitivity; /* where it was asked for; else NULL */

    bool stopped;    /* the watcher ended the search */
    bool unsearched; /* q->search_s ended before the search could begin */
};

/* The answer to the question: opens its machine and its job, predicts, closes them. q->map names one mapping. The caller
 * frees the answer, also after a failure. Milliseconds for a pattern; a trace costs its replay, "optimize" its search. */
enum fc_code fc_answer_make(const struct fc_question *q, struct fc_answer *answer, struct fc_status *st);
/* The same of a session and a job that are open, and the job's traffic (fc_job_traffic), under mapping `map`. "optimize"
 * predicts rank order too and gives the faster one. */
enum fc_code fc_answer_placed(const struct fc_question *q, struct fc_session *session, struct fc_predicted_job *job,
                              const struct fc_demand *demand, const char *map, struct fc_answer *answer,
                              struct fc_status *st);
/* The answer from a session that others may use at the same time: the question's nodes and background are those of *view, a
 * session beside it. The caller frees the answer and closes the view, also after a failure. */
enum fc_code fc_answer_view(const struct fc_question *q, const struct fc_session *session, struct fc_session *view,
                            struct fc_answer *answer, struct fc_status *st);
void fc_answer_view_close(const struct fc_session *session, struct fc_session *view);
/* best_bound_s of an answer that has everything else, predicted under mapping `map` (best_bound.c). At most about half
 * a second, once for all mappings of a job on a machine. */
enum fc_code fc_answer_best_bound(const struct fc_question *q, const struct fc_session *session,
                                  struct fc_predicted_job *job, const struct fc_demand *demand, const char *map,
                                  struct fc_answer *answer, struct fc_status *st);
/* 100 best_bound_s / time_s; NaN: unknown. */
double fc_answer_percent_of_best(const struct fc_answer *answer);

/* A change and what it would do to the time, percent (helps.c). */
struct fc_help {
    char change[320];
    double percent;
    bool at_most; /* proven: not more than that */
};
enum { FC_MOST_HELPS = 40 };
/* What would make the job faster by 0.05 % or more, most first; of an answer with sensitivity. Returns how many. */
int fc_answer_helps(const struct fc_answer *answer, struct fc_help help[FC_MOST_HELPS]);
void fc_answer_free(struct fc_answer *answer);
