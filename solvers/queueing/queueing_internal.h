/* queueing_internal.h - what queueing*.c share. */
#pragma once

#include "solvers/queueing/queueing.h"

/* What a pair brings to its output, or all pairs of an output: (1). Two doubles side by side, for one instruction. */
typedef double fc_two_doubles __attribute__((vector_size(16), may_alias));
enum { FC_WAITING, FC_FOLLOW };
enum { FC_PLACES_AT_ONCE = 4 }; /* shares of a row taken by one instruction, or by two */

/* The unknowns at a load: edge_wait, room, busy. */
struct fc_queueing_point {
    double load;     /* 0: none */
    double *unknown; /* [n_unknowns] */
};

/* An edge is (channel, output link): all states of the channel that may choose it. A pair is (input port,
 * output link). An exit is (channel, next channel). Edges and exits stand in the order of (channel, output):
 * where there are as many of both, an edge and its exit have one number; pairs stand in the order of their
 * first edges. A row is a state whose heads have a choice; heads that have none are counted at their exits. The
 * places of a row are shares of its packets by exit, with zeros behind them to a multiple of
 * FC_PLACES_AT_ONCE: consecutive exits from row_exit on (shares of 0 for those that the row has not), or, where
 * more than half would be zeros, those of place_exit. */
struct fc_queueing {
    struct fc_arena arena;
    const struct fc_turns *t;
    uint32_t n_edges, n_pairs, n_exits, n_rows;
    uint32_t *edge_of;                  /* [n_choices] FC_NONE for choices at the source */
    uint32_t *state_row;                /* [n_states] FC_NONE: none */
    uint32_t *edge_channel, *edge_pair; /* [n_edges] */
    double *edge_rate;                  /* [n_edges] of the whole network */
    double *link_unit;                  /* [n_links] 1 / copies */
    double *channel_unit;               /* [n_channels] 1 / rate of its packets, or 0 */
    uint32_t *pair_out;                 /* [n_pairs] */
    double *pair_rate;                  /* [n_pairs] of one output link */
    double *pair_unit;                  /* [n_pairs] 1 / load that others bring to the output, or 0 */
    double *pair_half;                  /* [n_pairs] what others are met at random with, E[t^2] / 2 a packet */
    double *behind;                     /* [n_channels] mean time on the links behind it */
    uint32_t *first_exit, *first_row;   /* [n_channels + 1] */
    /* Channels whose outputs no other channels have: those that end at one router, where channels stand by routers. */
    struct fc_queueing_block {
        uint32_t channel, exit, edge, pair; /* first */
    } * block;                              /* [n_blocks + 1] */
    uint32_t n_blocks;
    uint32_t *exit_edge, *exit_channel; /* [n_exits] */
    double *exit_rate;                  /* [n_exits] of heads without a choice */
    double *exit_service;               /* [n_exits] mean time on the output */
    double *own_time, *own_square;      /* [n_channels] rate x mean and mean square of heads' times on their outputs */
    double *held_time, *held_square;    /* [n_channels] the same of what they hold up others of the channel, (3) */
    uint8_t *row_outputs;               /* [n_rows] */
    double *row_rate, *row_service;     /* [n_rows] as of exits */
    double *row_rho;                    /* [n_rows] mean rate x service of the outputs */
    uint32_t *row_exit;                 /* [n_rows] among the exits of the row's channel; FC_NONE: see place_exit */
    uint32_t *first_place;              /* [n_rows + 1] multiples of FC_PLACES_AT_ONCE */
    uint32_t *place_exit;               /* [places] among the exits of the row's channel */
    double *place_share;                /* [places] of the row's packets */
    /* The fixed point: */
    size_t n_unknowns;
    double *edge_wait;                         /* [n_edges] W_co, mean of its states' */
    double *room;                              /* [n_channels] X before it */
    double *busy;                              /* [n_channels] u_c */
    double *edge_next;                         /* [n_edges] W_co by (1) */
    double *edge_step;                         /* [n_edges] change of edge_wait in the round before a leap */
    double *row_power, *row_factor;            /* [n_rows] rho^...; (2) at the load */
    double powers_of;                          /* the choice parameter of row_power */
    double *exit_next, *exit_room, *exit_wait; /* [exits of one channel + 3] of the edge, of the channel, rate x wait */
    double *front, *front2;                    /* [n_channels] rate x mean and mean square of S */
    double *queue;                             /* [n_channels] (3) + (4) */
    double *port, *port2, *port_busy;          /* [n_links] */
    double *pair_waiting;                      /* [n_pairs] l_jo W_jo at load one */
    fc_two_doubles *pair_part; /* [n_pairs] l_jo W_jo; how likely a packet of the pair is to be followed into */
    fc_two_doubles *out_part;  /* [n_links] sums over inputs */
    double *link_wait;         /* [n_links] */
    /* By theory (t->by_theory) and without that stage, else NULL: */
    double *edge_room; /* [n_edges] X of the edge's packets, as far as others of their output stand behind them */
    double *exit_own;  /* [n_exits] share of an output's packets that come by the same virtual channel of it */
    /* Virtual channels given out in a stage of their own (t->stage > 0, queueing_stage.c); else NULL: */
    uint32_t *choice_exit; /* [n_choices] of those that have an edge */
    double *not_own,
        *not_own_power; /* [n_exits] of what the next channel carries, all but what one virtual channel of this one
                                        brings; its power in Y */
    double *vc_load, *vc_waits; /* [n_channels] load of a virtual channel; how likely one waits for it */
    double *others;             /* [n_exits] share of a link's load that is not of one virtual channel of the exit */
    double *exit_link_wait, *exit_vc_wait; /* [n_exits] W, Y of a head without a choice */
    double *beside; /* [n_channels] what others bring to its port, 1 where all of its virtual channels bring as much */
    double *held;   /* [n_channels] rate x time for which a virtual channel is held */
    double *port_waits;       /* [n_links] rate of the packets that waited for a virtual channel */
    double *hold, *port_free; /* [n_channels] H, [n_links] P: unknowns */
    /* For fits (fc_queueing_tune): */
    double accuracy; /* of the waits, relative to the greatest */
    bool warm;
    struct fc_queueing_point found[2]; /* stable solutions, of ascending loads */
    struct fc_queueing_parameters found_with;
    struct fc_queueing **rung; /* [t->n_rungs] see queueing_rungs.c; NULL: none */
    /* Solves of the empty network's turns that nobody has asked to see yet, in order (queueing_rungs.c): */
    struct fc_queueing_later {
        struct fc_queueing_parameters parameters;
        double load;
    } * later;
    uint32_t n_later, later_room;
    bool unsolved;        /* the solve asked for last found no steady state */
    double solved_load;   /* load solved last that is stable */
    double solved_cycles; /* mean latency that the solve before found; NaN: none */
    struct fc_queueing_parameters solved;
};

/* What the mean wait of m outputs is multiplied by is rho to this power, by m. */
double fc_queueing_set_power(uint8_t outputs);

/* Without the calls that fmin and fmax are; NaN comes through. */
static inline __attribute__((always_inline)) double fc_more(double a, double b)
{
    return a > b ? a : b;
}
static inline __attribute__((always_inline)) double fc_less(double a, double b)
{
    return a < b ? a : b;
}

/* One round of the fixed point. */
struct fc_queueing_round {
    struct fc_queueing *q;
    const double *p; /* [FC_Q_PARAMETERS] */
    double load;
    double most; /* greatest utilisation met */
    double damping;
    bool leap, leap_next; /* in this round, in the next */
    double change, greatest_wait;
};
/* queueing_heads.c: (1), (2) and the sums over heads of (3) and (4), and the waits of edges from them. */
void fc_queueing_heads(struct fc_queueing_round *round);

/* Parts of it, for queueing_stage.c: what all edges bring to their outputs; waits at the edges of a channel; and its edges as
 * its heads, summed in exit_wait, leave them. */
void fc_queueing_contention(struct fc_queueing_round *round);
void fc_queueing_edge_waits(struct fc_queueing_round *round, uint32_t channel);
void fc_queueing_edges_go_on(struct fc_queueing_round *round, uint32_t channel);
/* Exit of place i of row r, among those of the row's channel. */
static inline uint32_t fc_queueing_place(const struct fc_queueing *q, uint32_t r, uint32_t i)
{
    return q->row_exit[r] == FC_NONE ? q->place_exit[i] : q->row_exit[r] + i - q->first_place[r];
}

/* queueing_stage.c: its arrays; exit_of[n_choices]. */
enum fc_code fc_queueing_stage_open(struct fc_queueing *q, const uint32_t *exit_of, struct fc_arena *arena,
                                    struct fc_status *st);
/* For all channels what fc_queueing_heads does. */
void fc_queueing_stage_fronts(struct fc_queueing_round *round);
/* P of a link's port, from the mean time of its packets there and their wait by (4). */
double fc_queueing_stage_port(struct fc_queueing_round *round, uint32_t link, double mean, double queue);
/* Wait for a place in a channel of which each virtual channel has that rate, by X of queueing_stage.c; *places: packets for which
 * there is room besides those on their way. */
double fc_queueing_credits(struct fc_queueing_round *round, uint32_t channel, double rate, double *places);
/* How many times as long as first come, first served, a packet is late where flits go in turn. */
double fc_queueing_in_turn(const struct fc_queueing *q);
/* Y of the heads of a state, and *link W. */
double fc_queueing_stage_wait(const struct fc_queueing *q, uint32_t state, double *link);

struct fc_queueing_steady {
    double greatest_utilization, change, greatest_wait;
    int iterations;
};
/* Solves the fixed point at a load: true when it converged or is unstable beyond doubt (greatest_utilization). */
bool fc_queueing_rounds(struct fc_queueing *queueing, const struct fc_queueing_parameters *parameters, double load,
                        struct fc_queueing_steady *steady);
/* Before anything of a solve is read but its answer: what was put off is solved now. */
void fc_queueing_catch_up(const struct fc_queueing *queueing);
/* fc_queueing_solve and fc_queueing_is_stable for these turns alone, without rungs. */
enum fc_code fc_queueing_solve_one(struct fc_queueing *queueing, const struct fc_queueing_parameters *parameters,
                                   double load_flits_per_cycle, struct fc_queueing_answer *answer,
                                   struct fc_status *st);
enum fc_code fc_queueing_is_stable_one(struct fc_queueing *queueing, const struct fc_queueing_parameters *parameters,
                                       double load_flits_per_cycle, bool *stable, double *greatest_utilization,
                                       struct fc_status *st);
/* fc_queueing_solve without the sums over the way of a packet. */
enum fc_code fc_queueing_is_stable(struct fc_queueing *queueing, const struct fc_queueing_parameters *parameters,
                                   double load_flits_per_cycle, bool *stable, double *greatest_utilization,
                                   struct fc_status *st);
