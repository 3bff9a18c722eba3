/* cmd_predict.c - `predict`: time, communication, percent of peak, bottleneck and error band of a job on one or several
 * machines under one or several mappings. */
#include "cli/period.h"
#include "plots/plots.h"
#include "solvers/bound/bound.h"
#include "traces/trace_source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One prediction: everything printed of it, copied, since the machine is gone by then. */
struct row {
    const char *machine, *title, *confidence, *mapping, *routing, *traffic;
    const char *calibration; /* file, or NULL */
    struct fc_prediction p;
    char bottleneck[256];
    uint32_t n_tasks;
    double hop_bytes; /* NaN: not known */
    uint64_t n_unmatched_sends, n_unmatched_receives, n_uneven_calls; /* of a trace */
    double assumed_flops_per_s; /* 0: nothing was assumed */
    struct fc_period_row period; /* of a trace, with --period */
    char *background; /* NULL: none */
    double *busy_s; /* [n_busy] descending */
    size_t n_busy;
    json_t *json;
    const char *nodes; /* --nodes, where several are compared; else NULL */
    size_t number;
};
struct report {
    struct row *rows;
    size_t n;
};
struct settings {
    const struct fc_arguments *arguments;
    struct fc_trace_source source; /* head NULL: none */
    enum fc_period_mode period_mode;
    struct fc_period period;
    struct fc_collective_choice collectives;
    enum fc_network_model network;
    struct fc_arena *arena;
};

/* ---- options ---- */

struct loggops {
    double L, o, g, G, O, S;
};
enum fc_code fc_read_loggops(const char *text, const struct fc_software *software,
                             struct fc_replay_settings *out, struct fc_status *st)
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
    struct fc_arena none = {0};
    struct fc_place where = {"--loggops", 0};
    enum fc_code code = fc_keys_parse(keys, FC_COUNT(keys), &l, text, 0, &none, where, st);
    fc_arena_free(&none);
    if (code) return code;
    out->software = (struct fc_software){l.o, l.o, l.g, l.S, software->compute_scale, l.O};
    out->loggops = true;
    out->loggops_latency_s = l.L;
    out->loggops_per_byte_s = l.G;
    return FC_OK;
}

static enum fc_code read_network(const struct fc_arguments *a, enum fc_network_model *model, struct fc_status *st)
{
    *model = FC_NET_CONTENTION;
    if (!a->network) return FC_OK;
    for (int i = 0; fc_network_model_names[i]; i++)
        if (!strcmp(fc_network_model_names[i], a->network)) {
            *model = (enum fc_network_model)i;
            return FC_OK;
        }
    return fc_refuse(st, FC_INPUT, "--network: '%s' is unknown (expected ideal, contention, queueing or flit)",
                     a->network);
}

/* ---- one prediction ---- */

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static enum fc_code keep_busy(struct settings *s, const double *busy_s, uint32_t n_links, struct row *row,
                              struct fc_status *st)
{
    row->busy_s = fc_alloc(s->arena, n_links, sizeof *row->busy_s, st);
    if (!row->busy_s) return st->code;
    for (uint32_t l = 0; l < n_links; l++)
        if (busy_s[l] > 0 && isfinite(busy_s[l])) row->busy_s[row->n_busy++] = busy_s[l];
    qsort(row->busy_s, row->n_busy, sizeof *row->busy_s, descending);
    return FC_OK;
}

static json_t *row_json(const struct fc_network *net, const struct row *row, const struct fc_load_summary *links)
{
    const struct fc_prediction *p = &row->p;
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:b, s:s, s:s?, "
                     "s:o, s:o, s:s}", "machine", row->machine, "traffic", row->traffic, "mapping", row->mapping, "routing", row->routing,
                     "tasks", (json_int_t)row->n_tasks, "time_s", fc_json_real(p->time_s), "communication_s",
                     fc_json_real(p->communication_s), "computation_s", fc_json_real(p->computation_s), "bound_s",
                     fc_json_real(p->bound_s), "percent_of_peak", fc_json_real(p->percent_of_peak), "binds", p->binds,
                     "bottleneck", fc_json_bottleneck(net, p->bottleneck, p->bottleneck_bytes), "links",
                     links ? fc_json_links(net, links) : json_null(), "hop_bytes", fc_json_real(row->hop_bytes), "error_percent",
                     fc_json_real(p->error_percent), "extrapolated", p->extrapolated, "why", p->why, "calibration",
                     row->calibration, "network_bytes", fc_json_real(p->network_bytes), "local_bytes",
                     fc_json_real(p->local_bytes), "confidence", row->confidence);
}

/* The error by the jobs that the machine's calibration has replayed. */
static enum fc_code state_error(struct settings *s, struct fc_session *session,
                                const struct fc_replay_settings *settings, struct fc_replay *replay, struct row *row,
                                struct fc_status *st)
{
    const struct fc_bulk *bulk;
    if (settings->network != FC_NET_CONTENTION && settings->network != FC_NET_QUEUEING) return FC_OK;
    if (fc_session_calibrate(session, &bulk, st)) return st->code;
    fc_replay_state_error(&session->net, session->calibrated ? &session->calibration.replays : NULL, settings,
                          session->other.first_event != NULL, replay);
    if (!isnan(replay->prediction.error_percent) && session->calibrated)
        row->calibration = fc_copy_text(s->arena, session->calibration.file, st);
    return st->code;
}

static enum fc_code predict_trace(struct settings *s, struct fc_session *session, const struct fc_placement *placement,
                                  struct row *row, struct fc_status *st)
{
    struct fc_progress progress;
    struct fc_replay replay;
    struct fc_replay_settings settings = {.network = s->network,
                                          .background_bytes_per_s = session->background_bytes_per_s,
                                          .background = session->background_bytes_per_s ? &session->background : NULL,
                                          .collectives = &s->collectives,
                                          .progress = &progress};
    if (fc_read_loggops(s->arguments->loggops, &session->machine.software, &settings, st)) return st->code;
    fc_progress_start(&progress, s->arguments->quiet);
    enum fc_code code =
        session->other.first_event
            ? fc_session_replay_beside(session, &s->source, placement, &settings, &replay, st)
            : fc_replay_by(s->period_mode, &session->net, &s->source, &s->period, placement, &settings, &replay,
                           &row->period, st);
    fc_progress_end(&progress);
    if (code) return code;
    if (state_error(s, session, &settings, &replay, row, st)) {
        fc_replay_free(&replay);
        return st->code;
    }
    row->p = replay.prediction;
    row->n_unmatched_sends = replay.n_unmatched_sends;
    row->n_unmatched_receives = replay.n_unmatched_receives;
    row->n_uneven_calls = replay.n_uneven_calls;
    row->assumed_flops_per_s = s->source.head ? s->source.head->assumed_flops_per_s : 0;
    struct fc_load load = {.bytes = replay.link_bytes, .wire_factor = 1, .least_wire_factor = 1, .cut_bound_s = NAN};
    struct fc_load_summary links;
    bool known = settings.network != FC_NET_FLIT; /* the kernel routes packets, not messages */
    fc_load_summarise(&session->net, &load, NULL, &links);
    if (!known) row->hop_bytes = NAN;
    for (uint32_t l = 0; l < session->net.first_link[session->net.n_routers]; l++)
        if (!fc_is_node(&session->net, session->net.link_target[l])) row->hop_bytes += replay.link_bytes[l];
    row->json = row_json(&session->net, row, known ? &links : NULL);
    json_object_set_new(row->json, "unmatched_sends", json_integer((json_int_t)row->n_unmatched_sends));
    json_object_set_new(row->json, "unmatched_receives", json_integer((json_int_t)row->n_unmatched_receives));
    json_object_set_new(row->json, "uneven_calls", json_integer((json_int_t)row->n_uneven_calls));
    json_object_set_new(row->json, "assumed_flops_per_s",
                        row->assumed_flops_per_s > 0 ? json_real(row->assumed_flops_per_s) : json_null());
    if (row->period.asked) json_object_set_new(row->json, "period", fc_json_period_row(&row->period));
    keep_busy(s, replay.link_busy_s, session->net.n_links, row, st);
    fc_replay_free(&replay);
    return st->code;
}

static enum fc_code predict_demand(struct settings *s, struct fc_session *session, const struct fc_demand *demand,
                                   const struct fc_placement *placement, struct row *row, struct fc_status *st)
{
    struct fc_load load;
    struct fc_load_summary links;
    struct fc_flow_settings flow = fc_flow_cheap(&session->net);
    struct fc_load_settings settings = {.threads = s->arguments->threads,
                                        .flow = &flow,
                                        .seed = s->arguments->seed,
                                        .background_bytes_per_s = session->background_bytes_per_s};
    if (fc_session_calibrate(session, &settings.bulk, st)) return st->code;
    if (settings.bulk) row->calibration = fc_copy_text(s->arena, session->calibration.file, st);
    if (fc_load_solve(&session->net, demand, placement, &settings, &load, st)) return st->code;
    if (!fc_predict_phase(&session->net, demand, placement, &load, &settings, &row->p, st)) {
        fc_load_summarise(&session->net, &load, &settings, &links);
        row->hop_bytes = load.hop_bytes;
        row->json = row_json(&session->net, row, &links);
        for (uint32_t l = 0; l < session->net.n_links; l++)
            load.bytes[l] *= load.wire_factor / fc_link_bandwidth(&session->net, l);
        keep_busy(s, load.bytes, session->net.n_links, row, st);
    }
    fc_load_free(&load);
    return st->code;
}

static enum fc_code describe(struct settings *s, struct fc_session *session, const struct fc_mapping *mapping,
                             const struct fc_demand *demand, struct row *row, struct fc_status *st)
{
    row->machine = fc_copy_text(s->arena, session->machine.name, st);
    row->title = fc_copy_text(s->arena, session->machine.title, st);
    row->confidence = fc_copy_text(s->arena, session->machine.confidence, st);
    row->mapping = fc_copy_text(s->arena, mapping->strategy, st);
    row->routing = fc_copy_text(s->arena, session->machine.routing->name, st);
    const char *name = s->source.head ? s->source.head->file : demand->name;
    const char *slash = s->source.head ? strrchr(name, '/') : NULL;
    row->traffic = fc_copy_text(s->arena, slash ? slash + 1 : name, st);
    row->n_tasks = mapping->n_tasks;
    return st->code;
}

static enum fc_code predict_placed(struct settings *s, struct fc_session *session, const struct fc_demand *demand,
                                   const char *map, struct row *row, struct fc_status *st)
{
    struct fc_mapping mapping = {0};
    if (fc_session_map(s->arguments, session, demand, map, &mapping, st)) return st->code;
    struct fc_placement placement = {mapping.n_tasks, mapping.node};
    enum fc_code code = describe(s, session, &mapping, demand, row, st);
    if (!code && s->source.head) code = predict_trace(s, session, &placement, row, st);
    else if (!code) code = predict_demand(s, session, demand, &placement, row, st);
    if (!code) {
        json_object_set_new(row->json, "background", fc_json_background(s->arguments, session, row->p.bottleneck));
        row->background = fc_text_background(s->arguments, session, row->p.bottleneck, s->arena, st);
        if (row->p.bottleneck == FC_NONE) snprintf(row->bottleneck, sizeof row->bottleneck, "%s", row->p.binds);
        else fc_link_name(&session->net, row->p.bottleneck, row->bottleneck, sizeof row->bottleneck);
    }
    fc_mapping_free(&mapping);
    return code;
}

/* The search behind `optimize` relieves the busiest link; a job bound by computation or latency can lose by it. The job
 * is therefore predicted in rank order too, and the faster of the two is the answer. */
static enum fc_code predict_one(struct settings *s, struct fc_session *session, const struct fc_demand *demand,
                                const char *map, struct row *row, struct fc_status *st)
{
    if (predict_placed(s, session, demand, map, row, st) || strcmp(map, "optimize")) return st->code;
    struct row in_order = {0};
    if (predict_placed(s, session, demand, "def", &in_order, st)) return st->code;
    bool better = row->p.time_s < in_order.p.time_s;
    json_decref(better ? in_order.json : row->json);
    if (better) return FC_OK;
    *row = in_order;
    row->mapping = "optimize=def";
    json_object_set_new(row->json, "mapping", json_string(row->mapping));
    return FC_OK;
}

/* ---- printing ---- */

static void print_assumed(FILE *stream, const struct row *row)
{
    if (row->assumed_flops_per_s > 0)
        fprintf(stream, "assumed        %g operations/s: the trace counts operations and does not tell (--flops-per-s)\n",
                row->assumed_flops_per_s);
}

static void print_one(FILE *stream, const struct row *row)
{
    char a[64], b[64];
    const struct fc_prediction *p = &row->p;
    fprintf(stream, "machine        %s: %s\n", row->machine, row->title);
    fprintf(stream, "job            %s, %u tasks, mapping %s, routing %s\n", row->traffic, row->n_tasks, row->mapping,
            row->routing);
    print_assumed(stream, row);
    fprintf(stream, "time           %s\n", fc_format(a, sizeof a, p->time_s, FC_SECONDS));
    fprintf(stream, "computation    %s\n", fc_format(a, sizeof a, p->computation_s, FC_SECONDS));
    fprintf(stream, "communication  %s (%.1f %% of the time)\n", fc_format(a, sizeof a, p->communication_s, FC_SECONDS),
            p->time_s > 0 ? 100 * p->communication_s / p->time_s : 0);
    fprintf(stream, "bound          %s: %s\n", fc_format(a, sizeof a, p->bound_s, FC_SECONDS),
            row->period.use.replayed ? "extrapolated from periods, as the time is"
                                     : "no run with this mapping and routing is faster");
    bool is_bound = isnan(p->error_percent) && p->percent_of_peak > 99.95 && p->bottleneck != FC_NONE;
    fprintf(stream, "of peak        %.1f %%%s\n", p->percent_of_peak,
            is_bound ? ": the time is the bound itself; how far the routers stay below it is not measured" : "");
    if (p->bottleneck == FC_NONE) fprintf(stream, "bottleneck     %s\n", p->binds);
    else
        fprintf(stream, "bottleneck     %s carries %s; %s binds\n", row->bottleneck,
                fc_format(a, sizeof a, p->bottleneck_bytes, FC_BYTES), p->binds);
    fprintf(stream, "error          ");
    fc_print_error(stream, row->calibration, p->error_percent, p->extrapolated, p->why);
    if (row->background) fprintf(stream, "background     %s\n", row->background);
    fprintf(stream, "traffic        %s between nodes, %s inside, %s hop-bytes\n",
            fc_format(a, sizeof a, p->network_bytes, FC_BYTES), fc_format(b, sizeof b, p->local_bytes, FC_BYTES),
            isnan(row->hop_bytes) ? "unknown" : fc_format((char[64]){0}, 64, row->hop_bytes, FC_BYTES));
    if (row->n_unmatched_sends || row->n_unmatched_receives)
        fprintf(stream, "left over      %llu messages that nobody received, %llu receives that got nothing\n",
                (unsigned long long)row->n_unmatched_sends, (unsigned long long)row->n_unmatched_receives);
    if (row->n_uneven_calls)
        fprintf(stream, "uneven         %llu collective calls whose members recorded different bytes\n",
                (unsigned long long)row->n_uneven_calls);
    fc_print_period_row(stream, &row->period);
    if (*row->confidence) fprintf(stream, "machine data   %s\n", row->confidence);
}

static void print(FILE *stream, const void *what)
{
    const struct report *report = what;
    if (report->n == 1) {
        print_one(stream, report->rows);
        return;
    }
    fprintf(stream, "%s, %u tasks\n", report->rows->traffic, report->rows->n_tasks);
    print_assumed(stream, report->rows);
    fprintf(stream, "\n");
    bool by_nodes = report->rows->nodes != NULL;
    fprintf(stream, "%-16s %-12s %10s %8s %8s %8s  %s%s\n", "machine", "mapping", "time", "comm %", "of peak", "error",
            by_nodes ? "nodes; " : "", "bottleneck");
    for (size_t i = 0; i < report->n; i++) {
        const struct row *r = &report->rows[i];
        char time[64], error[32];
        if (isnan(r->p.error_percent)) snprintf(error, sizeof error, "unknown");
        else snprintf(error, sizeof error, "+-%.0f %%", r->p.error_percent);
        fprintf(stream, "%-16s %-12s %10s %8.1f %8.1f %8s  %s%s%s\n", r->machine, r->mapping,
                fc_format(time, sizeof time, r->p.time_s, FC_SECONDS),
                r->p.time_s > 0 ? 100 * r->p.communication_s / r->p.time_s : 0, r->p.percent_of_peak, error,
                by_nodes ? r->nodes : "", by_nodes ? "; " : "", r->bottleneck);
    }
}

static enum fc_code plot(const struct fc_arguments *arguments, const struct report *report, struct fc_arena *arena,
                         struct fc_status *st)
{
    struct fc_plot_prediction *bars = fc_alloc(arena, report->n, sizeof *bars, st);
    struct fc_plot_links *links = fc_alloc(arena, report->n, sizeof *links, st);
    for (size_t i = 0; bars && links && i < report->n; i++) {
        const struct row *r = &report->rows[i];
        char label[256];
        snprintf(label, sizeof label, "%s %s%s%s", r->machine, r->mapping, r->nodes ? " " : "", r->nodes ? r->nodes : "");
        bars[i] = (struct fc_plot_prediction){fc_copy_text(arena, label, st), r->p.computation_s, r->p.communication_s,
                                              r->p.bound_s, r->p.percent_of_peak};
        links[i] = (struct fc_plot_links){bars[i].label, r->busy_s, r->n_busy};
    }
    if (st->code) return st->code;
    char title[256];
    snprintf(title, sizeof title, "%s, %u tasks", report->rows->traffic, report->rows->n_tasks);
    if (fc_plot_predictions(arguments->plot, title, bars, report->n, st) ||
        fc_plot_link_loads(arguments->plot, title, links, report->n, st))
        return st->code;
    if (!arguments->quiet && !arguments->json)
        printf("\nplots: %s/predictions.png, %s/link-loads.png\n", arguments->plot, arguments->plot);
    return FC_OK;
}

/* ---- the command ---- */

/* The traffic of the trace; a pass over it only for mappings that look at more than the number of tasks. */
static enum fc_code trace_demand(struct settings *s, const char *const *maps, size_t n_maps,
                                 struct fc_demand *demand, struct fc_status *st)
{
    bool blind = true;
    for (size_t i = 0; i < n_maps; i++)
        for (int k = 0; fc_strategies[k]; k++)
            blind = blind && (strcmp(maps[i], fc_strategies[k]->name) || fc_strategies[k]->blind);
    *demand = (struct fc_demand){.n_tasks = s->source.head->n_ranks};
    if (blind) return FC_OK;
    if (s->source.restart(&s->source)) return st->code;
    return fc_demand_of_source(&s->source, &s->collectives, demand, st);
}

static enum fc_code predict_machine(struct settings *s, const char *name, const char *const *maps, size_t n_maps,
                                    struct row *rows, struct fc_status *st)
{
    struct fc_session session;
    struct fc_demand demand = {0};
    if (fc_session_open(s->arguments, name, &session, st)) return st->code;
    if (s->source.head) {
        trace_demand(s, maps, n_maps, &demand, st);
    } else if (!fc_session_demand(s->arguments, &session, &demand, st)) {
        demand.computation_s = s->arguments->compute_s;
    }
    for (size_t i = 0; i < n_maps && !st->code; i++) predict_one(s, &session, &demand, maps[i], &rows[i], st);
    fc_demand_free(&demand);
    fc_session_close(&session);
    return st->code;
}

/* ---- several lists of nodes ---- */

static int by_time(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->p.time_s != y->p.time_s) return x->p.time_s < y->p.time_s ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* Every machine with every list of nodes, fastest first where there are several lists. */
static enum fc_code predict_all(struct settings *s, const char **machines, size_t n_machines, const char **maps,
                                size_t n_maps, const struct report *report, struct fc_status *st)
{
    const struct fc_arguments *arguments = s->arguments;
    size_t n_lists = arguments->n_node_lists > 1 ? (size_t)arguments->n_node_lists : 1;
    struct fc_arguments one = *arguments;
    struct row *rows = report->rows;
    s->arguments = &one;
    for (size_t i = 0; i < n_machines * n_lists && !st->code; i++, rows += n_maps) {
        if (n_lists > 1) one.nodes = arguments->node_lists[i % n_lists];
        predict_machine(s, machines[i / n_lists], maps, n_maps, rows, st);
        for (size_t m = 0; m < n_maps && n_lists > 1 && !st->code; m++) {
            rows[m].nodes = one.nodes;
            rows[m].number = (size_t)(rows + m - report->rows);
            json_object_set_new(rows[m].json, "nodes", json_string(one.nodes));
        }
    }
    s->arguments = arguments;
    if (st->code && n_lists > 1) {
        size_t used = strlen(st->message);
        snprintf(st->message + used, sizeof st->message - used, " (with --nodes %.200s)", one.nodes);
    }
    if (!st->code && n_lists > 1) qsort(report->rows, report->n, sizeof *report->rows, by_time);
    return st->code;
}

static enum fc_code deliver(const struct fc_arguments *arguments, const struct report *report, struct fc_arena *arena,
                            struct fc_status *st)
{
    json_t *json = report->rows[0].json;
    if (report->n > 1) {
        json_t *list = json_array();
        for (size_t i = 0; i < report->n; i++) json_array_append(list, report->rows[i].json);
        json = json_pack("{s:o}", "predictions", list);
    } else {
        json_incref(json);
    }
    enum fc_code code = fc_deliver(arguments, json, print, report, st);
    json_decref(json);
    return code || !arguments->plot ? code : plot(arguments, report, arena, st);
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    struct fc_arena arena = {0};
    struct settings s = {.arguments = arguments, .arena = &arena};
    const char **machines, **maps;
    size_t n_machines, n_maps;
    struct report report = {NULL, 0};
    struct fc_trace_options options;
    if (!arguments->machine) return fc_refuse(st, FC_INPUT, "no machine (expected -m NAME or -m FILE)");
    if (arguments->trace && (arguments->pattern || arguments->graph))
        return fc_refuse(st, FC_INPUT, "more than one kind of traffic (expected one of -p, -g, -t)");
    if (arguments->flops_per_s && !arguments->trace)
        return fc_refuse(st, FC_INPUT, "--flops-per-s: no operations (expected a trace, -t TRACE)");
    if (arguments->background && !strncmp(arguments->background, "job:", 4) && arguments->period &&
        strcmp(arguments->period, "off"))
        return fc_refuse(st, FC_INPUT, "--period: two jobs in one replay have no common period (expected --background "
                                       "trace: and its mean rates)");
    if (arguments->background && arguments->trace && arguments->network && !strcmp(arguments->network, "ideal"))
        return fc_refuse(st, FC_INPUT, "--background: on an ideal network no message meets another (expected --network "
                                       "contention, queueing or flit)");
    if (arguments->collectives && !arguments->trace)
        return fc_refuse(st, FC_INPUT, "--collectives: no collective calls (expected a trace, -t TRACE)");
    if (arguments->compute_s > 0 && arguments->trace)
        return fc_refuse(st, FC_INPUT, "--compute: a trace has its own computation (expected -p or -g)");
    if (read_network(arguments, &s.network, st) || fc_read_period(arguments, &s.period_mode, st) ||
        fc_session_collectives(arguments, &s.collectives, st) ||
        fc_split_list(arguments->machine, &arena, &machines, &n_machines, st) ||
        fc_split_list(arguments->map ? arguments->map : "def", &arena, &maps, &n_maps, st) ||
        (arguments->trace && (fc_trace_options_of(arguments, &arena, &options, st) ||
                              fc_source_open(arguments->trace, &options, &s.source, st) ||
                              fc_check_speeds(arguments, s.source.head, st))) ||
        (s.period_mode && fc_period_find(&s.source, &s.period, st)))
        goto done;
    report.n = n_machines * n_maps * (arguments->n_node_lists > 1 ? (size_t)arguments->n_node_lists : 1);
    report.rows = fc_alloc(&arena, report.n, sizeof *report.rows, st);
    if (report.rows) predict_all(&s, machines, n_machines, maps, n_maps, &report, st);
    if (!st->code) deliver(arguments, &report, &arena, st);
done:
    for (size_t i = 0; report.rows && i < report.n; i++) json_decref(report.rows[i].json);
    fc_period_free(&s.period);
    fc_source_close(&s.source);
    fc_arena_free(&arena);
    return st->code;
}

const struct fc_command fc_command_predict = {
    .name = "predict",
    .summary = "time, communication, percent of peak, bottleneck and error of a job on one or several machines",
    .example = "fabricast predict -t traces/samples/lammps-lj-64.fct -m bgl-64,qsnet-64,percs-16,tmesh-216 "
               "--map def,optimize --plot out",
    .options = "mpgtZKMVnXrcbNLPTsjoJq",
    .run = run,
};
