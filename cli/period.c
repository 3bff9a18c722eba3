/* period.c - `predict --period`: the option, the replay as it asks, and what is told of it. */
#include "cli/period.h"

#include <math.h>
#include <string.h>

enum fc_code fc_read_period(const struct fc_arguments *arguments, enum fc_period_mode *mode,
                            struct fc_status *st)
{
    static const char *const words[] = {"off", "auto", "check"};
    *mode = FC_PERIOD_OFF;
    if (!arguments->ask.period) return FC_OK;
    for (size_t i = 0; i < FC_COUNT(words); i++)
        if (!strcmp(arguments->ask.period, words[i])) {
            *mode = (enum fc_period_mode)i;
            return FC_OK;
        }
    return fc_refuse(st, FC_INPUT, "--period: '%s' is unknown (expected auto, check or off)",
                     arguments->ask.period);
}

enum fc_code fc_replay_by(enum fc_period_mode mode, const struct fc_network *net,
                          struct fc_trace_source *source, const struct fc_period *period,
                          const struct fc_placement *placement, const struct fc_replay_settings *settings,
                          struct fc_replay *replay, struct fc_period_row *row, struct fc_status *st)
{
    *row = (struct fc_period_row){mode != FC_PERIOD_OFF, period, {0}, NAN, NAN};
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

void fc_print_period_row(FILE *stream, const struct fc_period_row *row)
{
    char a[64];
    if (!row->asked) return;
    if (!row->use.replayed) {
        fprintf(stream, "period         not used, replayed in full: %s\n", row->use.why);
        return;
    }
    fprintf(stream, "period         %llu of %llu replayed; the last doubling moved the time by %.2g %%\n",
            (unsigned long long)row->use.replayed, (unsigned long long)row->use.repeats,
            row->use.change_percent);
    if (isnan(row->full_time_s))
        fprintf(stream, "period error   not measured (--period check replays in full too)\n");
    else
        fprintf(stream, "period error   %+.2g %%: in full the time is %s\n", row->error_percent,
                fc_format(a, sizeof a, row->full_time_s, FC_SECONDS));
}

json_t *fc_json_period_row(const struct fc_period_row *row)
{
    const struct fc_period *p = row->period;
    return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:s}", "repeats", (json_int_t)p->repeats,
                     "replayed", (json_int_t)row->use.replayed, "least_events", (json_int_t)p->least_calls,
                     "most_events", (json_int_t)p->most_calls, "covers_percent",
                     fc_json_real(100 * p->covers), "change_percent", fc_json_real(row->use.change_percent),
                     "full_time_s", fc_json_real(row->full_time_s), "error_percent",
                     fc_json_real(row->error_percent), "why", row->use.why);
}
