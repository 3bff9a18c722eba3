/* run.c - settings of a run of the flit-level kernel, from a question. */
#include "answer/run.h"

#include <stdlib.h>
#include <string.h>

static enum fc_code read_engine(const char *name, int *engine, struct fc_status *st)
{
    size_t n = 0;
    while (fc_flit_engine_names[n]) n++;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(name, fc_flit_engine_names[i])) {
            *engine = (int)i;
            return FC_OK;
        }
    return fc_refuse(st, FC_INPUT, "--engine: '%s' is unknown (expected auto, event or cycle)", name);
}

/* "N" or "N-M", both at least 1. */
static enum fc_code read_lengths(const char *text, uint32_t *least, uint32_t *most, struct fc_status *st)
{
    char *end;
    long from = strtol(text, &end, 10), to = from;
    if (end != text && *end == '-') {
        const char *second = end + 1;
        to = strtol(second, &end, 10);
        if (end == second) to = 0;
    }
    if (end == text || *end || from < 1 || to < from || to > 65535)
        return fc_refuse(st, FC_INPUT, "--packet-flits: '%s' is no length (expected N or N-M flits, 1 to 65535)", text);
    *least = (uint32_t)from;
    *most = (uint32_t)to;
    return FC_OK;
}

/* "5%" or "0.05". */
static enum fc_code read_share(const char *text, double *share, struct fc_status *st)
{
    char *end;
    double value = strtod(text, &end);
    bool percent = end != text && !strcmp(end, "%");
    if (percent) value /= 100;
    if (end == text || (*end && !percent) || !(value > 0) || !(value < 1))
        return fc_refuse(st, FC_INPUT,
                         "--high-priority: '%s' is no share (expected more than 0 and less than 1, e.g. 5%%)", text);
    *share = value;
    return FC_OK;
}

enum fc_code fc_run_settings(const struct fc_run_question *run, uint64_t seed, int threads,
                             struct fc_flit_settings *settings, struct fc_status *st)
{
    fc_flit_defaults(settings);
    if (run->engine && read_engine(run->engine, &settings->engine, st)) return st->code;
    if (run->packet_flits &&
        read_lengths(run->packet_flits, &settings->packet_flits_min, &settings->packet_flits_max, st))
        return st->code;
    if (run->high_priority && read_share(run->high_priority, &settings->high_priority_share, st)) return st->code;
    settings->warmup_cycles = run->warmup_cycles;
    settings->measure_cycles = run->measure_cycles;
    settings->precision = run->precision;
    settings->most_cycles = run->most_cycles;
    settings->interval_cycles = run->interval_cycles;
    settings->source_gap_cycles = run->gap_cycles;
    settings->in_order = run->in_order;
    settings->allow_deadlock = run->allow_deadlock;
    settings->backlog = run->backlog;
    settings->bubble_as_published = run->bubble_as_published;
    settings->vc_rule = run->vc_rule;
    settings->threads = fc_threads(threads);
    settings->seed = seed;
    return FC_OK;
}

enum fc_code fc_run_load(const char *option, const char *text, const struct fc_network *net,
                         const struct fc_demand *demand, const struct fc_flit_settings *settings, double *ideal,
                         double *load_flits_per_cycle, struct fc_status *st)
{
    char *end;
    double value = strtod(text, &end);
    bool percent = end != text && !strcmp(end, "%");
    if (end == text || (*end && !percent) || !(value > 0) || isinf(value))
        return fc_refuse(st, FC_INPUT,
                         "%s: '%s' is no load (expected flits a node and cycle above 0, e.g. 0.3, or 60%% of "
                         "the ideal throughput)",
                         option, text);
    if (percent && isnan(*ideal) && fc_flit_ideal_throughput(net, demand, settings, ideal, st)) return st->code;
    *load_flits_per_cycle = percent ? value / 100 * *ideal : value;
    return FC_OK;
}

enum fc_code fc_run_rates(const char *option, const struct fc_network *net, struct fc_demand *demand,
                          struct fc_status *st)
{
    if (!demand->open_loop && demand->n_tasks != net->n_nodes)
        return fc_refuse(st, FC_INPUT,
                         "%s: %s has %u tasks, and rates are those of the %u nodes (without it its messages "
                         "are sent as fast as they go)",
                         option, demand->name, demand->n_tasks, net->n_nodes);
    demand->open_loop = true;
    return FC_OK;
}

enum fc_code fc_run_offer(const struct fc_run_question *run, const struct fc_network *net,
                          const struct fc_demand *demand, struct fc_flit_settings *settings, double *ideal,
                          struct fc_status *st)
{
    if (!demand->open_loop || run->backlog) return FC_OK;
    if (!run->load)
        return fc_refuse(st, FC_INPUT,
                         "no load: %s is open-loop traffic (expected --load L in flits a node and cycle, e.g. "
                         "--load 0.3, or --load 60%% of the ideal throughput, or --backlog)",
                         demand->name);
    return fc_run_load("--load", run->load, net, demand, settings, ideal, &settings->load_flits_per_cycle, st);
}
