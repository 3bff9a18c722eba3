/* replay_rounds.h - collective calls in progress (replay_rounds.c). */
#pragma once

#include "solvers/replay/replay_run.h"

/* Goes on with the call of s until it is over (true) or must wait (false). */
bool fc_play_call(struct fc_run *run, struct fc_strand *s);
struct fc_strand *fc_strand_beside(struct fc_run *run);
void fc_strand_free(struct fc_run *run, struct fc_strand *s);
/* The strand keeps the message in hand until its round is over. */
bool fc_strand_takes(struct fc_run *run, struct fc_strand *s, struct fc_mail *mail);
/* The rank that the call in progress of s waits for. */
uint32_t fc_call_waits_for(const struct fc_strand *s);
