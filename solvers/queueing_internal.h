/* queueing_internal.h - what queueing.c, queueing_open.c and queueing_head.c share. */
#ifndef FC_QUEUEING_INTERNAL_H
#define FC_QUEUEING_INTERNAL_H

#include "solvers/queueing.h"

/* An edge is (channel, output link): all states of the channel that may choose it. A pair is (input port,
 * output link). */
struct fc_queueing {
    struct fc_arena arena;
    const struct fc_turns *t;
    uint32_t n_edges, n_pairs;
    uint32_t *edge_of;                  /* [n_choices] FC_NONE for choices at the source */
    uint32_t *edge_channel, *edge_pair; /* [n_edges] */
    double *edge_rate;                 /* [n_edges] of the whole network */
    uint32_t *pair_out;                /* [n_pairs] */
    double *pair_rate;                 /* [n_pairs] of one output link */
    double *edge_share;                /* [n_edges] of its channel's packets */
    double *edge_unit;                 /* [n_edges] 1 / edge_rate, or 0 */
    double *choice_share;              /* [n_choices] of its state's packets */
    double *state_service;             /* [n_states] mean time on the outputs */
    double *state_vary;                /* [n_states] variance of that time by the lengths of packets */
    double *state_rho;                 /* [n_states] mean rate x service of the outputs */
    double *behind;                    /* [n_channels] mean time on the links behind it */
    double *state_power;               /* [n_states] sqrt(2 (m + 1)) - 2 */
    /* The fixed point: */
    double *edge_wait;                /* [n_edges] W_co, mean of its states' */
    double *edge_next;                /* [n_edges] W_co by (1) */
    double *state_factor;             /* [n_states] (2) at the load */
    double *state_step;               /* [n_states] last change of W_set */
    double *state_wait;               /* [n_states] W_set */
    double *room;                     /* [n_channels] X before it */
    double *front, *front2;           /* [n_channels] mean and mean square of S */
    double *busy;                     /* [n_channels] u_c */
    double *queue;                    /* [n_channels] (3) + (4) */
    double *port, *port2, *port_busy; /* [n_links] */
    double *pair_waiting;             /* [n_pairs] l_jo W_jo */
    double *out_waiting, *out_follow; /* [n_links] sums over inputs */
    double *link_wait;                /* [n_links] */
    /* For fits (fc_queueing_tune): */
    double accuracy; /* of the waits, relative to the greatest */
    bool warm;
    double solved_load;   /* stable load that the arrays hold the solution of; 0: none */
    double solved_cycles; /* mean latency that the solve before found; NaN: none */
    struct fc_queueing_parameters solved;
};

#endif
