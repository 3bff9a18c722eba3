/* replay_net.h - messages on the way between nodes: idle networks by formula, others through transit.h (replay_net.c). */
#pragma once

#include "solvers/replay/replay_run.h"

enum fc_code fc_net_start(struct fc_run *run);
void fc_net_stop(struct fc_run *run);
/* Both sides agree: the message leaves. Its arrival wakes who waits for it, at once or in a later
 * fc_net_next. */
void fc_mail_leave(struct fc_run *run, struct fc_mail *mail);
/* Takes the next arrival at or before until_s; false: there is none, or the status is filled. */
bool fc_net_next(struct fc_run *run, double until_s);
/* When an announcement is at the receiver. */
double fc_mail_announced_s(void *run, struct fc_mail *mail);
