/* queue.h - which nodes a job could start on now, and which if it waits (queue.c). */
#pragma once

#include "answer/answer.h"

/* One choice: nodes and when all of them are free. */
struct fc_queue_candidate {
    double start_s;     /* from now */
    const char *policy; /* how the nodes were chosen: listed, packed, spread, random */
    const char *nodes;  /* numbers, as --nodes takes them */
    const char *label;  /* the same for people: hosts where the machine names them, else `nodes` itself */
};
#define FC_QUEUE_MOST 256 /* candidates */
/* The arena owns all. */
struct fc_start_choices {
    struct fc_arena arena;
    struct fc_queue_candidate *candidate; /* [n] by rising start; of one start as the policies stand above */
    size_t n;
    uint32_t n_nodes;    /* that the job takes */
    uint32_t n_free_now; /* at +0 */
};
/* The candidates of a job of n_tasks on the whole machine (fc_session_open_whole) or one that has lost nothing; `now`, if not
 * NULL, is fc_session.now of what is left of it. q->ranks_per_node or the node's cores on each node, from the file `path`. FC_INPUT with
 * file:line: a line that is no +MINUTES LIST, a node that is free twice; or there never are enough nodes. q->seed draws the
 * random ones. O((256 + nodes of the job) x links) for each time at which nodes become free. The caller frees it, also after a
 * failure. */
enum fc_code fc_queue_read(const struct fc_question *q, const struct fc_session *session, const uint32_t *now,
                           uint32_t n_tasks, const char *path, struct fc_start_choices *queue, struct fc_status *st);
void fc_queue_free(struct fc_start_choices *queue);

/* The decision between candidates that have been predicted. */
struct fc_queue_choice {
    size_t best;    /* that ends first; of equal ones the one that starts first */
    size_t now;     /* of those that can run and start first, the one that ends first */
    double gain_s;  /* by which the best ends before that */
    double error_s; /* of the difference: the larger error of the two run times */
    bool wait;      /* the best starts later, and the gain exceeds the error */
};
/* run_s[n] (NaN: it cannot run there; not all are) and their errors in percent (NaN: not stated, FC_QUEUE_ERROR_PERCENT is assumed) of the queue's candidates. */
#define FC_QUEUE_ERROR_PERCENT 25.0
struct fc_queue_choice fc_queue_choose(const struct fc_start_choices *queue, const double *run_s,
                                       const double *error_percent);
