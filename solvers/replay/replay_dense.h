/* replay_dense.h - collective calls in which every member sends to every other at once (replay_dense.c). */
#pragma once

#include "solvers/replay/replay_calls.h"
#include "solvers/replay/replay_job.h"
#include "solvers/replay/replay_match.h"
#include "solvers/replay/replay_run.h"

/* A message from its sender's part of the call on, as its receiver will see it. */
struct fc_dense_part {
    double arrived_s[FC_VIEWS]; /* negated, so that 0 is: not yet */
    struct fc_chain chain;      /* behind it */
    union {
        double bytes;              /* negated: no eager buffer held it */
        struct fc_mail *announced; /* with 1 for arrived_s[FC_REAL]: it waits for its receive */
    };
};
/* What comes to one member. */
struct fc_dense_row {
    struct fc_dense_part *part; /* [n - 1] of the member 1, 2, ... before it, cyclically */
    struct fc_strand *receiver; /* blocked until all are there; NULL: not yet */
    double posted_s[FC_VIEWS];
    struct fc_chain chain; /* behind posted_s */
    uint32_t n_arrived, n_announced;
    bool posted;
};
struct fc_dense_call {
    struct fc_arena arena;
    struct fc_dense_row *row; /* [n] */
};
/* Room for all messages among n members. */
enum fc_code fc_dense_start(struct fc_live_call *call, struct fc_status *st);
void fc_dense_free(struct fc_dense_call *dense);
/* Goes on with the call of s: over (true), or it waits for others (false). */
bool fc_dense_play(struct fc_run *run, struct fc_strand *s);
/* Its last byte is there. */
void fc_dense_arrived(struct fc_run *run, struct fc_mail *mail);
/* The member whose message to s is missing; FC_NONE: none is. */
uint32_t fc_dense_missing(const struct fc_strand *s);
