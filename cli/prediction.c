/* prediction.c - one prediction: traffic, mapping, loads or replay, error. */
#include "cli/prediction.h"
#include "solvers/bound/bound.h"
#include "solvers/replay/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    if (!a->ask.network) return FC_OK;
    for (int i = 0; fc_network_model_names[i]; i++)
        if (!strcmp(fc_network_model_names[i], a->ask.network)) {
            *model = (enum fc_network_model)i;
            return FC_OK;
        }
    return fc_refuse(st, FC_INPUT, "--network: '%s' is unknown (expected ideal, contention, queueing or flit)",
                     a->ask.network);
}

/* ---- one prediction ---- */

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static enum fc_code keep_busy(struct fc_predictor *s, const double *busy_s, uint32_t n_links, struct fc_predicted *row,
                              struct fc_status *st)
{
    row->busy_s = fc_alloc(s->arena, n_links, sizeof *row->busy_s, st);
    if (!row->busy_s) return st->code;
    for (uint32_t l = 0; l < n_links; l++)
        if (busy_s[l] > 0 && isfinite(busy_s[l])) row->busy_s[row->n_busy++] = busy_s[l];
    qsort(row->busy_s, row->n_busy, sizeof *row->busy_s, descending);
    return FC_OK;
}

/* Copies of what pictures need. Unlimited links are never busy. */
static enum fc_code keep_links(struct fc_predictor *s, const struct fc_network *net, const double *bytes,
                               const double *busy_s, struct fc_predicted *row, struct fc_status *st)
{
    row->link_bytes = fc_alloc(s->arena, net->n_links, sizeof *row->link_bytes, st);
    row->link_busy_s = fc_alloc(s->arena, net->n_links, sizeof *row->link_busy_s, st);
    if (st->code) return st->code;
    memcpy(row->link_bytes, bytes, net->n_links * sizeof *bytes);
    for (uint32_t l = 0; l < net->n_links; l++) row->link_busy_s[l] = isfinite(busy_s[l]) ? busy_s[l] : 0;
    return FC_OK;
}

static double *keep_ranks(struct fc_predictor *s, const double *of_rank, uint32_t n, struct fc_status *st)
{
    double *copy = fc_alloc(s->arena, n, sizeof *copy, st);
    if (copy) memcpy(copy, of_rank, n * sizeof *copy);
    return copy;
}

static json_t *row_json(const struct fc_network *net, const struct fc_predicted *row, const struct fc_load_summary *links)
{
    const struct fc_prediction *p = &row->p;
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:b, s:s, s:s?, s:s?, "
                     "s:o, s:o, s:s}", "machine", row->machine, "traffic", row->traffic, "mapping", row->mapping, "routing", row->routing,
                     "tasks", (json_int_t)row->n_tasks, "time_s", fc_json_real(p->time_s), "communication_s",
                     fc_json_real(p->communication_s), "computation_s", fc_json_real(p->computation_s), "bound_s",
                     fc_json_real(p->bound_s), "percent_of_peak", fc_json_real(p->percent_of_peak), "binds", p->binds,
                     "bottleneck", fc_json_bottleneck(net, p->bottleneck, p->bottleneck_bytes), "links",
                     links ? fc_json_links(net, links) : json_null(), "hop_bytes", fc_json_real(row->hop_bytes), "error_percent",
                     fc_json_real(p->error_percent), "extrapolated", p->extrapolated, "why", p->why, "calibration",
                     row->calibration, "uncalibrated_because", row->calibration ? NULL : row->uncalibrated, "network_bytes", fc_json_real(p->network_bytes), "local_bytes",
                     fc_json_real(p->local_bytes), "confidence", row->confidence);
}

/* The error by the jobs that the machine's calibration has replayed. */
static enum fc_code state_error(struct fc_predictor *s, struct fc_session *session,
                                const struct fc_replay_settings *settings, struct fc_replay *replay, struct fc_predicted *row,
                                struct fc_status *st)
{
    const struct fc_calibration *calibration = settings->calibration;
    if (settings->network != FC_NET_CONTENTION && settings->network != FC_NET_QUEUEING) return FC_OK;
    fc_replay_state_error(&session->net, calibration ? &calibration->replays : NULL, settings,
                          session->other.first_event != NULL, replay);
    if (!isnan(replay->prediction.error_percent) && calibration)
        row->calibration = fc_copy_text(s->arena, calibration->file, st);
    return st->code;
}

/* Looks for the machine's calibration; where none fits the row says why. */
static enum fc_code calibrate(struct fc_predictor *s, struct fc_session *session, const struct fc_bulk **bulk,
                              struct fc_predicted *row, struct fc_status *st)
{
    if (fc_session_calibrate(session, bulk, st)) return st->code;
    row->misfit = session->misfit.mistake;
    if (!session->calibrated) row->uncalibrated = fc_copy_text(s->arena, session->misfit.text, st);
    return st->code;
}

/* What contention and queueing take from the machine's calibration. */
static enum fc_code find_calibration(struct fc_predictor *s, struct fc_session *session,
                                     struct fc_replay_settings *settings, struct fc_predicted *row, struct fc_status *st)
{
    const struct fc_bulk *bulk;
    if (settings->network != FC_NET_CONTENTION && settings->network != FC_NET_QUEUEING) return FC_OK;
    if (calibrate(s, session, &bulk, row, st)) return st->code;
    settings->calibration = session->calibrated ? &session->calibration : NULL;
    return FC_OK;
}

static enum fc_code predict_trace(struct fc_predictor *s, struct fc_session *session, const struct fc_placement *placement,
                                  struct fc_predicted *row, struct fc_status *st)
{
    struct fc_progress progress;
    struct fc_replay replay;
    struct fc_replay_settings settings = {.network = s->network,
                                          .background_bytes_per_s = session->background_bytes_per_s,
                                          .background = session->background_bytes_per_s ? &session->background : NULL,
                                          .collectives = &s->collectives,
                                          .progress = &progress};
    if (s->most_timelines > 0) settings.timeline = row->timeline = fc_alloc(s->arena, 1, sizeof *row->timeline, st);
    if (st->code) return st->code;
    if (fc_read_loggops(s->arguments->ask.loggops, &session->machine.software, &settings, st) ||
        find_calibration(s, session, &settings, row, st))
        return st->code;
    fc_work_start(&progress, s->arguments->quiet);
    enum fc_code code =
        session->other.first_event
            ? fc_session_replay_beside(session, &s->source, placement, &settings, &replay, st)
            : fc_replay_by(s->period_mode, &session->net, &s->source, &s->period, placement, &settings, &replay,
                           &row->period, st);
    fc_work_end(&progress);
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
    if (!keep_busy(s, replay.link_busy_s, session->net.n_links, row, st) && s->keep_links)
        keep_links(s, &session->net, replay.link_bytes, replay.link_busy_s, row, st);
    row->rank_finish_s = keep_ranks(s, replay.rank_finish_s, row->n_tasks, st);
    row->rank_compute_s = keep_ranks(s, replay.rank_compute_s, row->n_tasks, st);
    fc_replay_free(&replay);
    return st->code;
}

static enum fc_code predict_demand(struct fc_predictor *s, struct fc_session *session, const struct fc_demand *demand,
                                   const struct fc_placement *placement, struct fc_predicted *row, struct fc_status *st)
{
    struct fc_load load;
    struct fc_load_summary links;
    struct fc_flow_settings flow = fc_flow_cheap(&session->net);
    struct fc_load_settings settings = {.threads = s->arguments->ask.threads,
                                        .flow = &flow,
                                        .seed = s->arguments->ask.seed,
                                        .background_bytes_per_s = session->background_bytes_per_s};
    if (calibrate(s, session, &settings.bulk, row, st)) return st->code;
    if (settings.bulk) row->calibration = fc_copy_text(s->arena, session->calibration.file, st);
    if (fc_load_solve(&session->net, demand, placement, &settings, &load, st)) return st->code;
    if (!fc_predict_phase(&session->net, demand, placement, &load, &settings, &row->p, st)) {
        fc_load_summarise(&session->net, &load, &settings, &links);
        row->hop_bytes = load.hop_bytes;
        row->json = row_json(&session->net, row, &links);
        double *busy_s = fc_alloc(s->arena, session->net.n_links, sizeof *busy_s, st);
        for (uint32_t l = 0; busy_s && l < session->net.n_links; l++)
            busy_s[l] = load.bytes[l] * load.wire_factor / fc_link_bandwidth(&session->net, l);
        if (busy_s && !keep_busy(s, busy_s, session->net.n_links, row, st) && s->keep_links)
            keep_links(s, &session->net, load.bytes, busy_s, row, st);
    }
    fc_load_free(&load);
    return st->code;
}

static enum fc_code describe(struct fc_predictor *s, struct fc_session *session, const struct fc_mapping *mapping,
                             const struct fc_demand *demand, struct fc_predicted *row, struct fc_status *st)
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

static enum fc_code predict_placed(struct fc_predictor *s, struct fc_session *session, const struct fc_demand *demand,
                                   const char *map, struct fc_predicted *row, struct fc_status *st)
{
    struct fc_mapping mapping = {0};
    if (fc_session_map(s->arguments, session, demand, map, &mapping, st)) return st->code;
    struct fc_placement placement = {mapping.n_tasks, mapping.node};
    enum fc_code code = describe(s, session, &mapping, demand, row, st);
    if (!code && s->source.head) code = predict_trace(s, session, &placement, row, st);
    else if (!code) code = predict_demand(s, session, demand, &placement, row, st);
    if (!code) {
        if (s->keep_links) row->node = fc_alloc(s->arena, mapping.n_tasks, sizeof *row->node, st);
        if (row->node) memcpy(row->node, mapping.node, mapping.n_tasks * sizeof *row->node);
        json_object_set_new(row->json, "background", fc_json_background(s->arguments, session, row->p.bottleneck));
        row->background = fc_text_background(s->arguments, session, row->p.bottleneck, s->arena, st);
        if (row->p.bottleneck == FC_NONE) snprintf(row->bottleneck, sizeof row->bottleneck, "%s", row->p.binds);
        else fc_link_name(&session->net, row->p.bottleneck, row->bottleneck, sizeof row->bottleneck);
    }
    fc_mapping_free(&mapping);
    return code;
}

void fc_predicted_note(const struct fc_predicted *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool told = !rows[i].misfit;
        for (size_t j = 0; j < i && !told; j++) told = rows[j].misfit && !strcmp(rows[j].uncalibrated, rows[i].uncalibrated);
        if (!told) fc_note_uncalibrated(rows[i].uncalibrated);
    }
}

void fc_predicted_free(struct fc_predicted *row)
{
    json_decref(row->json);
    if (row->timeline) fc_timeline_free(row->timeline);
    row->json = NULL;
    row->timeline = NULL;
}

/* The search behind `optimize` relieves the busiest link; a job bound by computation or latency can lose by it. The job
 * is therefore predicted in rank order too, and the faster of the two is the answer. */
enum fc_code fc_predict_one(struct fc_predictor *s, struct fc_session *session, const struct fc_demand *demand,
                            const char *map, struct fc_predicted *row, struct fc_status *st)
{
    if (predict_placed(s, session, demand, map, row, st) || strcmp(map, "optimize")) return st->code;
    struct fc_predicted in_order = {0};
    if (predict_placed(s, session, demand, "def", &in_order, st)) {
        fc_predicted_free(&in_order);
        return st->code;
    }
    bool better = row->p.time_s < in_order.p.time_s;
    fc_predicted_free(better ? &in_order : row);
    if (better) return FC_OK;
    *row = in_order;
    row->mapping = "optimize=def";
    json_object_set_new(row->json, "mapping", json_string(row->mapping));
    return FC_OK;
}

/* ---- traffic, beginning and end ---- */

/* The traffic of the trace; a pass over it only for mappings that look at more than the number of tasks. */
static enum fc_code trace_demand(struct fc_predictor *s, const char *const *maps, size_t n_maps,
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

enum fc_code fc_predictor_traffic(struct fc_predictor *s, const struct fc_session *session, const char *const *maps,
                                  size_t n_maps, struct fc_demand *demand, struct fc_status *st)
{
    if (s->source.head) return trace_demand(s, maps, n_maps, demand, st);
    if (!fc_session_demand(s->arguments, session, demand, st)) demand->computation_s = s->arguments->ask.compute_s;
    return st->code;
}

static enum fc_code check_options(const struct fc_arguments *arguments, struct fc_status *st)
{
    if (!arguments->ask.machine) return fc_refuse(st, FC_INPUT, "no machine (expected -m NAME or -m FILE)");
    if (arguments->ask.trace && (arguments->ask.pattern || arguments->ask.graph))
        return fc_refuse(st, FC_INPUT, "more than one kind of traffic (expected one of -p, -g, -t)");
    return FC_OK;
}

enum fc_code fc_predictor_start(const struct fc_arguments *arguments, struct fc_arena *arena, struct fc_predictor *s,
                                struct fc_status *st)
{
    struct fc_trace_options options;
    *s = (struct fc_predictor){.arguments = arguments, .arena = arena};
    if (check_options(arguments, st) || read_network(arguments, &s->network, st) ||
        fc_read_period(arguments, &s->period_mode, st) || fc_session_collectives(arguments, &s->collectives, st) ||
        !arguments->ask.trace)
        return st->code;
    if (fc_trace_options_of(arguments, arena, &options, st) ||
        fc_source_open(arguments->ask.trace, &options, &s->source, st) || fc_check_speeds(arguments, s->source.head, st) ||
        !s->period_mode)
        return st->code;
    return fc_period_find(&s->source, &s->period, st);
}

void fc_predictor_end(struct fc_predictor *s)
{
    fc_period_free(&s->period);
    fc_source_close(&s->source);
}
