/* replay_period.h - the time of an iterative program from some of its periods (replay_period.c). */
#pragma once

#include "solvers/solvers.h"
#include "traces/trace_period.h"

struct fc_period_use {
    uint64_t repeats, replayed; /* periods of the trace, and of the longest replay; replayed 0: not used, `why` tells */
    double change_percent;      /* by which the last doubling of the periods moved the time: what is left to settle */
    char why[320];
};
/* Replays the trace shortened to 4, 8, 16, ... of its periods, until another doubling moves the extrapolated
 * time by less than 0.5 %, and extrapolates every figure of the replay linearly to all periods. Where that
 * does not work (no period, fewer than FC_LEAST_USED, too much outside of it, not settled with half of the
 * periods or 256) use->replayed is 0, the replay is empty and the caller replays the trace in full. The
 * source is read once (restarted before). Memory: a trace of at most 2^21 events twice. Errors: those of the
 * source, and of memory. O(events read + replayed). */
enum { FC_LEAST_USED = 32 };
enum fc_code fc_replay_periods(const struct fc_network *net, struct fc_trace_source *source,
                               const struct fc_period *period, const struct fc_placement *placement,
                               const struct fc_replay_settings *settings, struct fc_replay *replay,
                               struct fc_period_use *use, struct fc_status *st);
