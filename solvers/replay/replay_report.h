/* replay_report.h - the result of a replay (replay_report.c), and ranks that wait for ever (replay_deadlock.c). */
#pragma once

#include "solvers/replay/replay_run.h"

/* waits_for[n_ranks]: FC_NONE: it has ended, or is not blocked; describe: what it is in.
 */
struct fc_blocked {
    uint32_t rank, waits_for; /* waits_for: FC_NONE anyone */
    uint8_t op;
    uint64_t event;
};
enum fc_code fc_report_deadlock(struct fc_run *run,
                                bool (*blocked)(const struct fc_run *, uint32_t, struct fc_blocked *));
enum fc_code fc_report_replay(struct fc_run *run, struct fc_replay *replay);
