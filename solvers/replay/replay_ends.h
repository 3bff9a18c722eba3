/* replay_ends.h - what both ends of a message cost (replay_ends.c). */
#pragma once

#include "solvers/replay/replay_run.h"

static inline void fc_strand_computes(struct fc_run *run, struct fc_strand *s, double time_s)
{
    double before_s = s->at[FC_REAL].clock_s;
    for (int v = 0; v < run->views; v++) s->at[v].clock_s += time_s;
    s->chain.computation_s += time_s;
    s->chain.node = fc_node_after(run, s->chain.node, FC_COST_COMPUTE, s->rank, time_s);
    s->compute_s += time_s;
    fc_strand_does(run, s, FC_RANK_COMPUTES, before_s);
}
void fc_end_send(struct fc_run *run, struct fc_strand *s, struct fc_mail *mail, bool rendezvous);
void fc_end_post(struct fc_run *run, const struct fc_strand *s, struct fc_mail *mail);
/* A receive that was open has got its message, or its place in a queue. */
void fc_end_settle(struct fc_run *run, struct fc_mail *receive);
/* A side blocks on a message that is not there yet. */
void fc_wait_for_receive(struct fc_strand *s, struct fc_mail *mail);
void fc_wait_for_send(struct fc_strand *s, struct fc_mail *mail);
/* What a wait has completed. */
struct fc_harvest {
    uint32_t n;                   /* receives: run->taken[][n] */
    double last_s[FC_VIEWS];      /* latest completion of anything that costs no CPU time, and */
    const struct fc_chain *chain; /* what led to the real one */
};
/* `work`: of the receiver, beyond receiving, in blocks of so many bytes; fresh: the share of it that comes out of
 * memory taken anew. */
void fc_harvest_receive(struct fc_run *run, struct fc_harvest *h, const struct fc_mail *mail, enum fc_message_work work,
                        double block_bytes, double fresh);
void fc_harvest_arrived(struct fc_run *run, struct fc_harvest *h, const double *arrived_s, double bytes, bool is_long,
                        bool local, const struct fc_chain *chain); /* [views]; chain: kept until the wait is over */
void fc_harvest_send(const struct fc_run *run, struct fc_harvest *h, const struct fc_mail *mail);
void fc_harvest_call(const struct fc_run *run, struct fc_harvest *h, const struct fc_strand *call);
/* Advances the clock over the wait; returns the time spent blocked. */
double fc_end_wait(struct fc_run *run, struct fc_strand *s, const struct fc_harvest *h);
static inline struct fc_mail *fc_mail_taken(struct fc_mail *mail)
{
    return mail->taken ? mail->taken : mail;
}
