/* period.c - an iterative program's trace, replayed by some of its periods or in full. */
#include "answer/period.h"

#include <string.h>

enum fc_code fc_read_period(const struct fc_question *q, enum fc_period_mode *mode, struct fc_status *st)
{
    static const char *const words[] = {"off", "auto", "check"};
    *mode = FC_PERIOD_OFF;
    if (!q->period) return FC_OK;
    for (size_t i = 0; i < FC_COUNT(words); i++)
        if (!strcmp(q->period, words[i])) {
            *mode = (enum fc_period_mode)i;
            return FC_OK;
        }
    return fc_refuse(st, FC_INPUT, "--period: '%s' is unknown (expected auto, check or off)", q->period);
}

enum fc_code fc_replay_by(enum fc_period_mode mode, const struct fc_network *net, struct fc_trace_source *source,
                          const struct fc_period *period, const struct fc_placement *placement,
                          const struct fc_replay_settings *settings, struct fc_replay *replay,
                          struct fc_period_row *row, struct fc_status *st)
{
    *row = (struct fc_period_row){.asked = mode != FC_PERIOD_OFF, .full_time_s = NAN, .error_percent = NAN};
    if (row->asked) {
        row->repeats = period->repeats;
        row->least_calls = period->least_calls;
        row->most_calls = period->most_calls;
        row->covers = period->covers;
    }
    if (row->asked && fc_replay_periods(net, source, period, placement, settings, replay, &row->use, st))
        return st->code;
    if (row->use.replayed && mode != FC_PERIOD_CHECK) return FC_OK;
    struct fc_replay full;
    if (!source->restart(source) && !fc_replay_source(net, source, placement, settings, &full, st)) {
        if (!row->use.replayed) {
            *replay = full;
            return FC_OK;
        }
        row->full_time_s = full.prediction.time_s;
        row->error_percent = 100 * (replay->prediction.time_s / full.prediction.time_s - 1);
        fc_replay_free(&full);
        return FC_OK;
    }
    if (row->use.replayed) fc_replay_free(replay);
    return st->code;
}
