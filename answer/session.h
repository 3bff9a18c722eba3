/* session.h - a machine that is open for questions: its network, the nodes that may be used, the traffic of others on its
 * links, its calibration (session.c, session_whole.c, background.c). */
#pragma once

#include "answer/question.h"
#include "solvers/background.h"
#include "solvers/calibration/calibration.h"
#include "solvers/replay/replay_beside.h"
#include "solvers/solvers.h"

struct fc_session {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_arena arena;
    uint32_t *nodes; /* [n_nodes] that may be used, in order; NULL: all */
    size_t n_nodes;
    uint32_t *now;      /* [nodes of the whole machine] their numbers here, FC_NONE: gone; NULL: nothing is gone */
    const char *opened; /* the machine's name or file */
    bool nodes_lost;    /* nodes of the network have failed, and are not among `nodes` */
    struct fc_background background; /* where there is one, and its */
    double *background_bytes_per_s;  /* [n_links], else NULL */
    struct fc_trace other;           /* a job in the same replay; first_event NULL: none */
    struct fc_placement other_placement;
    struct fc_calibration calibration; /* after fc_session_calibrate, where there is one: calibrated */
    bool calibrated;
    struct fc_calibration_misfit misfit; /* where there is none: why */
};
/* Opens `machine` (not q->machine, which may be a list) as the question changes it. FC_INPUT tells what is wrong with the
 * machine or with the question. O(links), and what the background costs. The caller closes it, not after a failure. */
enum fc_code fc_session_open(const struct fc_question *q, const char *machine, struct fc_session *session,
                             struct fc_status *st);
void fc_session_close(struct fc_session *session);
/* The same with all that has failed or is left out, and without a background: nodes have the numbers by which texts name them. */
enum fc_code fc_session_open_whole(const struct fc_question *q, const char *machine, struct fc_session *session,
                                   struct fc_status *st);
/* fc_nodes_read of nodes as the whole machine names them, and their numbers in this session, which `q` opened. FC_INPUT: one that
 * is gone, too. Where something is gone it opens the whole machine for that. */
enum fc_code fc_session_read_nodes(const struct fc_question *q, const struct fc_session *session, const char *text,
                                   struct fc_arena *arena, uint32_t **node, size_t *n, struct fc_status *st);
/* Looks, once, for the calibration beside the machine's file; its closed runs, or NULL where there is none that fits: why
 * is in session->misfit. FC_INPUT: it cannot be read. */
enum fc_code fc_session_calibrate(struct fc_session *session, const struct fc_bulk **bulk, struct fc_status *st);
/* FC_INPUT where the background is a job to be replayed: for answers that take rates only. */
enum fc_code fc_session_only_rates(const struct fc_session *session, struct fc_status *st);
/* FC_INPUT where nodes have failed, for traffic between all nodes of the network. */
enum fc_code fc_session_only_whole(const struct fc_session *session, struct fc_status *st);
/* FC_INPUT where nodes differ in kind, for answers (`who`) that do not know of it. */
enum fc_code fc_session_only_alike(const struct fc_session *session, const char *who, struct fc_status *st);
/* Splits "a,b,c" into the arena; "bsm:node=4x4,drawer=8x8" is one item. */
enum fc_code fc_split_list(const char *text, struct fc_arena *arena, const char ***items, size_t *n,
                           struct fc_status *st);

/* ---- the traffic of others (background.c) ---- */

/* q->background and q->background_nodes into the session: part of fc_session_open. */
enum fc_code fc_session_background(const struct fc_question *q, struct fc_session *session, struct fc_status *st);

enum fc_other_kind { FC_OTHER_NONE, FC_OTHER_RATES, FC_OTHER_JOB };
/* What is known of it beside an answer; texts in the answer's arena. */
struct fc_other_traffic {
    enum fc_other_kind kind;
    const char *what, *short_name; /* as it was asked for; a file without its folders */
    /* Of rates: */
    uint32_t n_senders;
    double offered_bytes_per_s, max_utilization;
    const char *busiest_link;      /* NULL: none */
    double bottleneck_utilization; /* of the answer's bottleneck; NaN: it has none */
    bool full;                     /* every source always has a packet waiting */
    /* Of a job: */
    uint32_t n_tasks;
    struct fc_beside beside;
};
/* `bottleneck`: the answer's link, FC_NONE: none. */
enum fc_code fc_other_traffic_of(const struct fc_question *q, const struct fc_session *session, uint32_t bottleneck,
                                 struct fc_arena *arena, struct fc_other_traffic *other, struct fc_status *st);
/* In a sentence for people, in the arena; NULL where there is none. */
const char *fc_other_traffic_text(const struct fc_other_traffic *other, struct fc_arena *arena, struct fc_status *st);
