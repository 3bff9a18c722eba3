/* period.h - an iterative program's trace replayed by some of its periods (period.c). */
#pragma once

#include "answer/question.h"
#include "solvers/replay/replay_period.h"

enum fc_period_mode { FC_PERIOD_OFF, FC_PERIOD_AUTO, FC_PERIOD_CHECK };

/* What became of it, for one prediction. */
struct fc_period_row {
    bool asked;
    uint64_t repeats, least_calls, most_calls; /* of the trace: periods, events of a rank in one */
    double covers;                             /* share of the events that are in periods */
    struct fc_period_use use;
    double full_time_s, error_percent; /* NaN: not measured */
};
/* q->period; off where it is not given. FC_INPUT: another word. */
enum fc_code fc_read_period(const struct fc_question *q, enum fc_period_mode *mode, struct fc_status *st);
/* Replays the source (restarted) by its periods as the mode asks, or in full. */
enum fc_code fc_replay_by(enum fc_period_mode mode, const struct fc_network *net, struct fc_trace_source *source,
                          const struct fc_period *period, const struct fc_placement *placement,
                          const struct fc_replay_settings *settings, struct fc_replay *replay,
                          struct fc_period_row *row, struct fc_status *st);
