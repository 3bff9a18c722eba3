/* job.c - the job of a question: its traffic, or its trace with the settings of a replay. */
#include "answer/job.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- end points, network model ---- */

struct loggops {
    double L, o, g, G, O, S;
};
enum fc_code fc_read_loggops(const char *text, const struct fc_software *software, struct fc_replay_settings *out,
                             struct fc_status *st)
{
#define IN(field) offsetof(struct loggops, field)
    static const struct fc_key keys[] = {
        {"L", FC_KEY_QUANTITY, FC_SECONDS, IN(L), 0, 1e3, NULL, NULL, "latency"},
        {"o", FC_KEY_QUANTITY, FC_SECONDS, IN(o), 0, 1e3, NULL, NULL, "overhead of a send or a receive"},
        {"g", FC_KEY_QUANTITY, FC_SECONDS, IN(g), 0, 1e3, NULL, NULL, "gap between messages"},
        {"G", FC_KEY_QUANTITY, FC_SECONDS_PER_BYTE, IN(G), 0, 1, NULL, NULL, "gap per byte"},
        {"O", FC_KEY_QUANTITY, FC_SECONDS_PER_BYTE, IN(O), 0, 1, NULL, NULL, "overhead per byte"},
        {"S", FC_KEY_QUANTITY, FC_BYTES, IN(S), 0, 1e18, NULL, NULL, "longest eager message"},
    };
#undef IN
    struct loggops l = {0, software->send_s, software->gap_s, 0, software->per_byte_s, software->eager_bytes};
    out->software = *software;
    if (!text) return FC_OK;
    FC_SCOPED(fc_arena_free) struct fc_arena none = {0};
    struct fc_place where = {"--loggops", 0};
    enum fc_code code = fc_keys_parse(keys, FC_COUNT(keys), &l, text, 0, &none, where, st);
    if (code) return code;
    out->software = (struct fc_software){.send_s = l.o,
                                         .recv_s = l.o,
                                         .gap_s = l.g,
                                         .eager_bytes = l.S,
                                         .compute_scale = software->compute_scale,
                                         .per_byte_s = l.O};
    out->loggops = true;
    out->loggops_latency_s = l.L;
    out->loggops_per_byte_s = l.G;
    return FC_OK;
}

static enum fc_code read_network(const struct fc_question *q, enum fc_network_model *model, struct fc_status *st)
{
    *model = FC_NET_CONTENTION;
    if (!q->network) return FC_OK;
    for (int i = 0; fc_network_model_names[i]; i++)
        if (!strcmp(fc_network_model_names[i], q->network)) {
            *model = (enum fc_network_model)i;
            return FC_OK;
        }
    return fc_refuse(st, FC_INPUT, "--network: '%s' is unknown (expected ideal, contention, queueing or flit)",
                     q->network);
}

/* ---- traces ---- */

enum fc_code fc_trace_options_of(const struct fc_question *q, struct fc_arena *arena, struct fc_trace_options *options,
                                 struct fc_status *st)
{
    const char **item;
    size_t n;
    *options = (struct fc_trace_options)FC_TRACE_OPTIONS;
    if (!q->flops_per_s) return FC_OK;
    if (fc_split_list(q->flops_per_s, arena, &item, &n, st)) return st->code;
    double *speeds = fc_alloc(arena, n, sizeof *speeds, st);
    if (!speeds) return st->code;
    for (size_t i = 0; i < n; i++) {
        char *end;
        speeds[i] = strtod(item[i], &end);
        if (*end || !(speeds[i] > 0 && speeds[i] <= 1e30))
            return fc_refuse(st, FC_INPUT, "--flops-per-s: '%s' is not a number above 0 and up to 1e30", item[i]);
    }
    options->speeds = speeds;
    options->n_speeds = (uint32_t)n;
    return FC_OK;
}

enum fc_code fc_check_speeds(const struct fc_question *q, const struct fc_trace *trace, struct fc_status *st)
{
    if (!q->flops_per_s || trace->operations) return FC_OK;
    return fc_refuse(st, FC_INPUT,
                     "--flops-per-s: %s has times, not operations (expected a trace of SimGrid or Chakra)",
                     trace->file);
}

enum fc_code fc_read_collectives(const struct fc_question *q, const char *recorded, struct fc_collective_choice *choice,
                                 struct fc_status *st)
{
    *choice = (struct fc_collective_choice){NULL};
    if (q->collectives && fc_collective_choice_read(q->collectives, choice, st)) return st->code;
    if (!choice->rules) choice->rules = fc_collective_rules_of(recorded);
    return FC_OK;
}

/* ---- phases ---- */

/* Digits only; moves *at behind them. */
static bool read_number(const char **at, uint64_t *number)
{
    char *end;
    if (!isdigit((unsigned char)**at)) return false;
    errno = 0;
    *number = strtoull(*at, &end, 10);
    *at = end;
    return errno == 0;
}

static enum fc_code demand_of_phase(const struct fc_question *q, const struct fc_trace *trace, struct fc_demand *demand,
                                    struct fc_status *st)
{
    const char *at = q->phase;
    uint64_t first = 0, last = 0;
    bool good = read_number(&at, &first);
    last = first;
    if (good && *at == '-') {
        at++;
        good = read_number(&at, &last) && last >= first;
    }
    if (!good || *at)
        return fc_refuse(st, FC_INPUT, "--phase: '%s' is no phase (expected N or N-M, counted from 0)", q->phase);
    struct fc_collective_choice choice;
    if (fc_read_collectives(q, trace->recorded, &choice, st)) return st->code;
    return fc_demand_of_phases_by(trace, &choice, first, last, demand, st);
}

/* Phases are cut in memory. */
static enum fc_code demand_of_phases(const struct fc_question *q, struct fc_demand *demand, struct fc_status *st)
{
    FC_SCOPED(fc_trace_free) struct fc_trace trace = {0};
    if (fc_trace_read(q->trace, &trace, st)) return st->code;
    return demand_of_phase(q, &trace, demand, st);
}

enum fc_code fc_job_demand(const struct fc_question *q, const struct fc_session *s, struct fc_demand *demand,
                           struct fc_status *st)
{
    int given = (q->pattern != NULL) + (q->graph != NULL) + (q->trace != NULL) + (q->traffic != NULL);
    memset(demand, 0, sizeof *demand);
    if (given != 1)
        return fc_refuse(st, FC_INPUT, "%s (expected one of -p PATTERN, -g GRAPH, -t TRACE)",
                         given ? "more than one kind of traffic" : "no traffic");
    if (q->traffic) { /* lent: nothing of it is freed with the demand */
        *demand = *q->traffic;
        demand->arena = (struct fc_arena){0};
        return FC_OK;
    }
    if (q->pattern) return fc_demand_from_pattern(&s->net, q->pattern, q->seed, demand, st);
    if (q->graph) return fc_demand_from_graph(q->graph, demand, st);
    if (q->phase) return demand_of_phases(q, demand, st);
    FC_SCOPED(fc_source_close) struct fc_trace_source source = {0};
    struct fc_collective_choice choice;
    if (fc_source_open(q->trace, NULL, &source, st)) return st->code;
    if (!fc_read_collectives(q, source.head->recorded, &choice, st)) fc_demand_of_source(&source, &choice, demand, st);
    return st->code;
}

/* ---- the job ---- */

/* The traffic of the trace; a pass over it only for mappings that look at more than the number of tasks. */
static enum fc_code trace_demand(struct fc_predicted_job *job, const char *const *maps, size_t n_maps,
                                 struct fc_demand *demand, struct fc_status *st)
{
    bool blind = true;
    for (size_t i = 0; i < n_maps; i++)
        for (int k = 0; fc_strategies[k]; k++)
            blind = blind && (strcmp(maps[i], fc_strategies[k]->name) || fc_strategies[k]->blind);
    *demand = (struct fc_demand){.n_tasks = job->source.head->n_ranks};
    if (blind) return FC_OK;
    if (job->source.restart(&job->source)) return st->code;
    return fc_demand_of_source(&job->source, &job->collectives, demand, st);
}

enum fc_code fc_job_traffic(struct fc_predicted_job *job, const struct fc_question *q, const struct fc_session *session,
                            const char *const *maps, size_t n_maps, struct fc_demand *demand, struct fc_status *st)
{
    job->best.known = false;
    if (job->source.head) return trace_demand(job, maps, n_maps, demand, st);
    if (!fc_job_demand(q, session, demand, st) && !q->traffic) demand->computation_s = q->compute_s;
    return st->code;
}

static enum fc_code open_trace(const struct fc_question *q, const struct fc_trace_options *options,
                               struct fc_trace_source *source, struct fc_status *st)
{
    return q->read ? fc_source_memory(q->read, source, st) : fc_source_open(q->trace, options, source, st);
}

enum fc_code fc_job_open(const struct fc_question *q, struct fc_predicted_job *job, struct fc_status *st)
{
    struct fc_trace_options options;
    *job = (struct fc_predicted_job){.network = FC_NET_CONTENTION};
    if (q->trace && (q->pattern || q->graph || q->traffic))
        return fc_refuse(st, FC_INPUT, "more than one kind of traffic (expected one of -p, -g, -t)");
    if (read_network(q, &job->network, st) || fc_read_period(q, &job->period_mode, st) ||
        fc_read_collectives(q, NULL, &job->collectives, st) || !q->trace)
        return st->code;
    if (fc_trace_options_of(q, &job->arena, &options, st) || open_trace(q, &options, &job->source, st) ||
        fc_check_speeds(q, job->source.head, st) ||
        fc_read_collectives(q, job->source.head->recorded, &job->collectives, st) || !job->period_mode)
        return st->code;
    return fc_period_find(&job->source, &job->period, st);
}

void fc_job_close(struct fc_predicted_job *job)
{
    fc_period_free(&job->period);
    fc_demand_free(&job->whole);
    fc_source_close(&job->source);
    fc_arena_free(&job->arena);
}
