/* answer.c - the answer to a question: the machine is opened, the job's tasks are placed, and its time is
 *
 *     of a pattern, a graph, traffic in memory   one phase under contention (contention.c)
 *     of a trace                                 its replay on the chosen network model (replay.c)
 *
 * with the error that the machine's calibration states for such a job. Limits: those of the two. */
#include "answer/answer.h"
#include "solvers/calibration/measured_error.h"
#include "solvers/bound/bound.h"
#include "core/timeline.h"
#include "models/hosts.h"

#include <string.h>

/* One answer in the making. */
struct work {
    const struct fc_question *q;
    struct fc_session *session;
    struct fc_predicted_job *job;
    const struct fc_demand *demand;
    const char *map;
    struct fc_mapping mapping;
    struct fc_placement placement;
    const struct fc_bulk *bulk; /* of the calibration; NULL: none */
    double sensitive_below_s;   /* it is asked what the time depends on where it is below this */
    struct fc_answer *answer;
    struct fc_status *st;
};

/* ---- machine and mapping ---- */

/* Contention and queueing are calibrated; where nothing fits the answer says why. */
static enum fc_code find_calibration(struct work *w)
{
    enum fc_network_model network = w->job->network;
    struct fc_answer *a = w->answer;
    if (w->job->source.head && network != FC_NET_CONTENTION && network != FC_NET_QUEUEING) return FC_OK;
    if (w->q->uncalibrated) return FC_OK;
    if (fc_session_calibrate(w->session, &w->bulk, w->st)) return w->st->code;
    a->misfit = w->session->misfit.mistake;
    if (*w->session->misfit.text) a->uncalibrated = fc_copy_text(&a->arena, w->session->misfit.text, w->st);
    return w->st->code;
}

static enum fc_code place(struct work *w)
{
    struct fc_answer *a = w->answer;
    if (fc_place_tasks(w->q, w->session, w->demand, w->map, &w->mapping, w->st)) return w->st->code;
    w->placement = (struct fc_placement){w->mapping.n_tasks, w->mapping.node};
    a->n_tasks = w->mapping.n_tasks;
    a->stopped = w->mapping.stopped;
    a->unsearched = w->mapping.unsearched;
    if (!w->q->keep_links) return FC_OK;
    a->node = fc_alloc(&a->arena, a->n_tasks, sizeof *a->node, w->st);
    a->core = fc_alloc(&a->arena, a->n_tasks, sizeof *a->core, w->st);
    if (w->st->code) return w->st->code;
    memcpy(a->node, w->mapping.node, a->n_tasks * sizeof *a->node);
    memcpy(a->core, w->mapping.core, a->n_tasks * sizeof *a->core);
    return FC_OK;
}

static enum fc_code describe(struct work *w)
{
    const struct fc_machine *m = &w->session->machine;
    struct fc_answer *a = w->answer;
    const char *name = w->job->source.head ? w->job->source.head->file : w->demand->name;
    const char *slash = w->job->source.head ? strrchr(name, '/') : NULL;
    a->machine = fc_copy_text(&a->arena, m->name, w->st);
    a->title = fc_copy_text(&a->arena, m->title, w->st);
    a->confidence = fc_copy_text(&a->arena, m->confidence, w->st);
    a->mapping = fc_copy_text(&a->arena, w->mapping.strategy, w->st);
    a->routing = fc_copy_text(&a->arena, m->routing->name, w->st);
    a->traffic = fc_copy_text(&a->arena, slash ? slash + 1 : name, w->st);
    a->n_links = w->session->net.n_links;
    return w->st->code;
}

/* ---- loads ---- */

static enum fc_code keep_classes(struct work *w, const struct fc_load_summary *links)
{
    const struct fc_machine *m = &w->session->machine;
    struct fc_answer *a = w->answer;
    a->classes = fc_alloc(&a->arena, (size_t)m->n_classes, sizeof *a->classes, w->st);
    for (int c = 0; a->classes && c < m->n_classes; c++) {
        const struct fc_load_class *k = &links->classes[c];
        if (k->count == 0) continue;
        a->classes[a->n_classes++] = (struct fc_answer_class){fc_copy_text(&a->arena, m->classes[c].name, w->st),
                                                              k->count,
                                                              k->used,
                                                              k->min_bytes,
                                                              k->mean_bytes,
                                                              k->max_bytes};
    }
    return w->st->code;
}

static enum fc_code keep_bottleneck(struct work *w)
{
    const struct fc_network *net = &w->session->net;
    struct fc_answer *a = w->answer;
    uint32_t link = a->p.bottleneck;
    char name[256];
    a->bottleneck =
        fc_copy_text(&a->arena, link == FC_NONE ? a->p.binds : fc_link_name(net, link, name, sizeof name), w->st);
    if (link != FC_NONE)
        a->bottleneck_class = fc_copy_text(&a->arena, w->session->machine.classes[net->link_class[link]].name, w->st);
    return w->st->code;
}

static enum fc_code keep_links(struct work *w, const double *bytes, const double *busy_s)
{
    struct fc_answer *a = w->answer;
    if (!w->q->keep_links) return FC_OK;
    a->link_bytes = fc_alloc(&a->arena, a->n_links, sizeof *a->link_bytes, w->st);
    a->link_busy_s = fc_alloc(&a->arena, a->n_links, sizeof *a->link_busy_s, w->st);
    if (w->st->code) return w->st->code;
    memcpy(a->link_bytes, bytes, a->n_links * sizeof *bytes);
    for (uint32_t l = 0; l < a->n_links; l++) a->link_busy_s[l] = isfinite(busy_s[l]) ? busy_s[l] : 0;
    return FC_OK;
}

/* ---- a trace ---- */

static enum fc_code name_calibration(struct work *w)
{
    const struct fc_calibration *calibration = &w->session->calibration;
    struct fc_answer *a = w->answer;
    if (!w->bulk) return FC_OK;
    a->calibration = fc_copy_text(&a->arena, calibration->file, w->st);
    if (calibration->from) a->calibration_from = fc_copy_text(&a->arena, calibration->from, w->st);
    return w->st->code;
}

/* The error by the jobs that the machine's calibration has replayed. */
static enum fc_code state_error(struct work *w, const struct fc_replay_settings *settings, struct fc_replay *replay)
{
    const struct fc_calibration *calibration = settings->calibration;
    if (settings->network != FC_NET_CONTENTION && settings->network != FC_NET_QUEUEING) return FC_OK;
    fc_replay_state_error(&w->session->net, calibration ? &calibration->replays : NULL, settings,
                          w->session->other.first_event != NULL, replay);
    if (w->session->machine.measured.n && !settings->loggops && !w->session->other.first_event)
        fc_measured_state_error(&w->session->machine, w->job->source.head, &w->placement, replay);
    enum fc_error_against against = replay->prediction.error_against;
    if (against == FC_AGAINST_MEASURED) {
        char from[120];
        snprintf(from, sizeof from, "%u collectives measured on the machine", w->session->machine.measured.n);
        w->answer->calibration_from = fc_copy_text(&w->answer->arena, from, w->st);
        return w->st->code;
    }
    return against == FC_AGAINST_KERNEL || against == FC_AGAINST_FAMILY ? name_calibration(w) : FC_OK;
}

static double *copy_reals(struct work *w, const double *from, uint32_t n)
{
    double *copy = fc_alloc(&w->answer->arena, n, sizeof *copy, w->st);
    if (copy) memcpy(copy, from, n * sizeof *copy);
    return copy;
}

/* No trace has file operations that take time in a replay: none is in the time, and where the program can call some that are
 * not recorded, what they would take is not known. */
static void keep_io(struct work *w)
{
    const struct fc_trace *trace = w->job->source.head;
    struct fc_answer *a = w->answer;
    for (uint32_t i = 0; i < trace->n_unwrapped && !a->io_why; i++)
        if (strstr(trace->unwrapped[i], "File_")) a->io_why = fc_copy_text(&a->arena, trace->unwrapped[i], w->st);
    if (a->io_why) a->io_s = NAN;
}

static enum fc_code keep_replay(struct work *w, const struct fc_replay *replay)
{
    const struct fc_network *net = &w->session->net;
    struct fc_load load = {.bytes = replay->link_bytes, .wire_factor = 1, .least_wire_factor = 1, .cut_bound_s = NAN};
    struct fc_load_summary links;
    struct fc_answer *a = w->answer;
    bool known = w->job->network != FC_NET_FLIT; /* the kernel routes packets, not messages */
    char rules[256];
    fc_collective_choice_text(&w->job->collectives, rules, sizeof rules);
    a->of_trace = true;
    a->compute_scale = w->session->machine.software.compute_scale;
    keep_io(w);
    a->collectives = fc_copy_text(&a->arena, rules, w->st);
    a->p = replay->prediction;
    a->n_unmatched_sends = replay->n_unmatched_sends;
    a->n_unmatched_receives = replay->n_unmatched_receives;
    a->n_uneven_calls = replay->n_uneven_calls;
    a->assumed_flops_per_s = w->job->source.head->assumed_flops_per_s;
    fc_load_summarise(net, &load, NULL, &links);
    if (!known) a->hop_bytes = NAN;
    for (uint32_t l = 0; l < net->first_link[net->n_routers]; l++)
        if (!fc_is_node(net, net->link_target[l])) a->hop_bytes += replay->link_bytes[l];
    if (known && keep_classes(w, &links)) return w->st->code;
    a->rank_finish_s = copy_reals(w, replay->rank_finish_s, a->n_tasks);
    a->rank_compute_s = copy_reals(w, replay->rank_compute_s, a->n_tasks);
    return w->st->code ? w->st->code : keep_links(w, replay->link_bytes, replay->link_busy_s);
}

static enum fc_code replay_beside(struct work *w, const struct fc_replay_settings *settings, struct fc_replay *replay)
{
    struct fc_session *s = w->session;
    const struct fc_trace *trace = w->job->source.head;
    if (!trace->events)
        return fc_refuse(w->st, FC_NO,
                         "--background job: %s is too long to be joined with another trace in memory "
                         "(expected trace: and the other's mean rates)",
                         trace->file);
    return fc_replay_beside(&s->net, trace, &w->placement, &s->other, &s->other_placement, settings, replay,
                            &w->answer->other.beside, w->st);
}

/* ---- what the time depends on ---- */

/* Replays that --sensitivity may take where --time says nothing: of so many events, a million being a second of work. */
#define SENSITIVITY_EVENTS 30e6

struct again {
    struct work *w;
    struct fc_replay_settings settings;
    struct fc_load *load; /* a phase: its loads, where bandwidths do not change them, and how they are found */
    const struct fc_load_settings *load_settings;
    double *rank_scale; /* [n_ranks] */
    double *background; /* [n_links] */
};

static void scale_software(struct fc_software *software, const struct fc_scales *by)
{
    software->send_s *= by->send;
    software->recv_s *= by->recv;
    software->gap_s = software->gap_s * by->gap + by->gap_more_s;
    software->per_byte_s *= by->per_byte;
    software->eager_bytes *= by->eager;
    software->compute_scale *= by->compute;
}

static void scale_machine(struct fc_machine *m, const struct fc_scales *by)
{
    for (int c = 0; c < m->n_classes; c++) {
        m->classes[c].bandwidth_bytes_per_s *= by->bandwidth[c];
        m->classes[c].latency_s *= by->latency;
    }
    m->router.delay_s *= by->latency;
    scale_software(&m->software, by);
}

/* One link is faster than its class: the same as traffic of others that gives instead of taking. */
static const double *one_link(const struct again *g, const struct fc_scales *by)
{
    const struct fc_session *s = g->w->session;
    const double *others = s->background_bytes_per_s;
    if (by->link == FC_NONE) return others;
    for (uint32_t l = 0; l < s->net.n_links; l++) g->background[l] = others ? others[l] : 0;
    g->background[by->link] -= (by->link_bandwidth - 1) * fc_link_bandwidth(&s->net, by->link);
    return g->background;
}

static void balance(const struct again *g, double imbalance)
{
    const struct fc_answer *a = g->w->answer;
    double mean_s = 0;
    for (uint32_t r = 0; r < a->n_tasks; r++) mean_s += a->rank_compute_s[r] / a->n_tasks;
    for (uint32_t r = 0; r < a->n_tasks; r++) {
        double own_s = a->rank_compute_s[r];
        g->rank_scale[r] = own_s > 0 ? fmax(0, mean_s + imbalance * (own_s - mean_s)) / own_s : 1;
    }
}

static enum fc_code replay_under(void *context, const struct fc_scales *by, double *time_s, struct fc_status *st)
{
    const struct again *g = context;
    struct fc_machine machine = g->w->session->machine;
    struct fc_network net = g->w->session->net;
    struct fc_replay_settings settings = g->settings;
    FC_SCOPED(fc_replay_free) struct fc_replay replay = {0};
    struct fc_period_row row;
    net.machine = &machine;
    scale_machine(&machine, by);
    scale_software(&settings.software, by);
    settings.loggops_latency_s *= by->latency;
    settings.loggops_per_byte_s /= by->bandwidth[0];
    settings.background_bytes_per_s = one_link(g, by);
    if (by->ideal) settings.network = FC_NET_IDEAL;
    if (by->imbalance != 1) {
        balance(g, by->imbalance);
        settings.rank_scale = g->rank_scale;
    }
    if (!g->w->job->source.restart(&g->w->job->source) &&
        !fc_replay_by(g->w->job->period_mode, &net, &g->w->job->source, &g->w->job->period, &g->w->placement, &settings,
                      &replay, &row, st))
        *time_s = replay.prediction.time_s;
    return st->code;
}

static enum fc_code find_sensitivity(struct again *g, struct fc_sensitivity_job *job, double n_events)
{
    struct work *w = g->w;
    struct fc_answer *a = w->answer;
    double events = w->q->search_given ? 1e6 * w->q->search_s : SENSITIVITY_EVENTS;
    job->some_times = (uint64_t)fmin(1e6, events / fmax(1, n_events));
    job->most_times = w->q->search_given ? job->some_times : UINT64_MAX;
    job->time_s = a->p.time_s;
    job->machine = &w->session->machine;
    job->context = g;
    a->sensitivity = fc_alloc(&a->arena, 1, sizeof *a->sensitivity, w->st);
    return a->sensitivity ? fc_sensitivity_find(job, &a->arena, a->sensitivity, w->st) : w->st->code;
}

/* The replay once more, with a tape, and the derivatives of its time: path[FC_GRADIENTS], false where there are none. */
static bool find_path(struct again *g, struct fc_sensitivity_job *job, struct fc_gradient *path, struct fc_arena *arena)
{
    struct work *w = g->w;
    struct fc_adjoint adjoint;
    uint32_t link[FC_SENSITIVITY_LINKS];
    double time_s;
    if (w->job->period_mode || g->settings.network > FC_NET_CONTENTION) return false;
    fc_adjoint_open(&adjoint, job->net, link, job->net ? fc_sensitivity_links(job->net, job->busy_s, link) : 0);
    g->settings.adjoint = &adjoint;
    bool found = !replay_under(g, &fc_scales_of_1, &time_s, w->st);
    g->settings.adjoint = NULL;
    found = found && fc_adjoint_gradients(&adjoint, w->answer->n_tasks, path, arena, w->st);
    fc_adjoint_close(&adjoint);
    return found;
}

static enum fc_code replay_sensitivity(struct work *w, const struct fc_replay_settings *settings,
                                       const struct fc_replay *replay)
{
    const struct fc_network *net = &w->session->net;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct again again = {.w = w,
                          .settings = *settings,
                          .rank_scale = fc_alloc(&scratch, w->answer->n_tasks, sizeof(double), w->st),
                          .background = fc_alloc(&scratch, net->n_links, sizeof(double), w->st)};
    bool links = !settings->loggops;
    struct fc_sensitivity_job job = {.net = links ? net : NULL,
                                     .software = &settings->software,
                                     .loggops_latency_s = settings->loggops_latency_s,
                                     .loggops_per_byte_s = settings->loggops_per_byte_s,
                                     .busy_s = links ? replay->link_busy_s : NULL,
                                     .bytes = links ? replay->link_bytes : NULL,
                                     .of_trace = true,
                                     .rank_compute_s = w->answer->rank_compute_s,
                                     .n_ranks = w->answer->n_tasks,
                                     .time_under = replay_under};
    again.settings.time_only = true;
    again.settings.timeline = NULL;
    struct fc_gradient path[FC_GRADIENTS];
    if (!w->st->code && find_path(&again, &job, path, &scratch)) job.path = path;
    if (!w->st->code) find_sensitivity(&again, &job, (double)replay->n_events);
    return w->st->code;
}

static enum fc_code replay_settings(const struct work *w, struct fc_replay_settings *settings)
{
    const struct fc_session *s = w->session;
    *settings = (struct fc_replay_settings){.network = w->job->network,
                                            .background_bytes_per_s = s->background_bytes_per_s,
                                            .background = s->background_bytes_per_s ? &s->background : NULL,
                                            .collectives = &w->job->collectives,
                                            .calibration = w->bulk ? &s->calibration : NULL,
                                            .progress = w->q->watcher ? w->q->watcher->progress : NULL};
    return fc_read_loggops(w->q->loggops, &s->machine.software, settings, w->st);
}

static enum fc_code replay(struct work *w)
{
    struct fc_session *s = w->session;
    struct fc_predicted_job *job = w->job;
    struct fc_answer *a = w->answer;
    FC_SCOPED(fc_replay_free) struct fc_replay replay = {0};
    struct fc_replay_settings settings;
    if (replay_settings(w, &settings)) return w->st->code;
    if (job->period_mode && fc_session_only_alike(s, "--period", w->st)) return w->st->code;
    if (job->network >= FC_NET_QUEUEING && fc_session_only_alike(s, "--network queueing or flit", w->st))
        return w->st->code;
    if (w->q->keep_timeline) settings.timeline = a->timeline = fc_alloc(&a->arena, 1, sizeof *a->timeline, w->st);
    if (w->st->code) return w->st->code;
    if (s->other.first_event ? replay_beside(w, &settings, &replay)
                             : fc_replay_by(job->period_mode, &s->net, &job->source, &job->period, &w->placement,
                                            &settings, &replay, &a->period, w->st))
        return w->st->code;
    if (!state_error(w, &settings, &replay) && !keep_replay(w, &replay) && w->answer->p.time_s < w->sensitive_below_s)
        replay_sensitivity(w, &settings, &replay);
    return w->st->code;
}

/* ---- one phase ---- */

/* Seconds that each link is busy with the loads, in the arena; NULL: no memory. */
static double *busy_of_phase(const struct work *w, const struct fc_load *load, struct fc_arena *arena)
{
    const struct fc_network *net = &w->session->net;
    double *busy_s = fc_alloc(arena, net->n_links, sizeof *busy_s, w->st);
    for (uint32_t l = 0; busy_s && l < net->n_links; l++)
        busy_s[l] = load->bytes[l] * load->wire_factor / fc_link_bandwidth(net, l);
    return busy_s;
}

static enum fc_code keep_phase(struct work *w, const struct fc_load *load, const struct fc_load_settings *settings)
{
    const struct fc_network *net = &w->session->net;
    struct fc_load_summary links;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    fc_load_summarise(net, load, settings, &links);
    w->answer->hop_bytes = load->hop_bytes;
    if (keep_classes(w, &links) || !w->q->keep_links) return w->st->code;
    double *busy_s = busy_of_phase(w, load, &scratch);
    if (busy_s) keep_links(w, load->bytes, busy_s);
    return w->st->code;
}

static enum fc_code phase_under(void *context, const struct fc_scales *by, double *time_s, struct fc_status *st)
{
    const struct again *g = context;
    struct fc_machine machine = g->w->session->machine;
    struct fc_network net = g->w->session->net;
    struct fc_load_settings settings = *g->load_settings;
    struct fc_load own, *load = g->load;
    struct fc_prediction p;
    bool other_loads = by->link != FC_NONE;
    for (int c = 0; c < FC_MAX_CLASSES; c++) other_loads |= by->bandwidth[c] != 1;
    other_loads &= machine.routing->adaptive;
    net.machine = &machine;
    scale_machine(&machine, by);
    settings.background_bytes_per_s = one_link(g, by);
    if (other_loads && !fc_load_solve(&net, g->w->demand, &g->w->placement, &settings, &own, st)) load = &own;
    if (!st->code && !fc_predict_phase(&net, g->w->demand, &g->w->placement, load, &settings, &p, st))
        *time_s = p.time_s + (by->compute - 1) * p.computation_s;
    if (load == &own) fc_load_free(&own);
    return st->code;
}

static enum fc_code phase_sensitivity(struct work *w, struct fc_load *load, const struct fc_load_settings *settings)
{
    const struct fc_network *net = &w->session->net;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    double *busy_s = busy_of_phase(w, load, &scratch);
    struct again again = {.w = w,
                          .load = load,
                          .load_settings = settings,
                          .background = fc_alloc(&scratch, net->n_links, sizeof(double), w->st)};
    struct fc_sensitivity_job job = {.net = net,
                                     .software = &w->session->machine.software,
                                     .busy_s = busy_s,
                                     .bytes = load->bytes,
                                     .compute_s = w->answer->p.computation_s,
                                     .time_under = phase_under};
    if (!w->st->code) find_sensitivity(&again, &job, net->n_links);
    return w->st->code;
}

static enum fc_code phase(struct work *w)
{
    const struct fc_network *net = &w->session->net;
    FC_SCOPED(fc_load_free) struct fc_load load = {0};
    struct fc_flow_settings flow = fc_flow_cheap(net);
    bool hurried = w->q->time_only && w->q->split_share > 0 && w->q->split_share < 1; /* no bound by the flow program */
    struct fc_load_settings settings = {.threads = w->q->threads,
                                        .flow = hurried ? NULL : &flow,
                                        .seed = w->q->seed,
                                        .split_share = w->q->split_share,
                                        .background_bytes_per_s = w->session->background_bytes_per_s,
                                        .bulk = w->bulk};
    if (name_calibration(w) || fc_load_solve(net, w->demand, &w->placement, &settings, &load, w->st))
        return w->st->code;
    if (!fc_predict_phase(net, w->demand, &w->placement, &load, &settings, &w->answer->p, w->st) &&
        !keep_phase(w, &load, &settings) && w->answer->p.time_s < w->sensitive_below_s)
        phase_sensitivity(w, &load, &settings);
    return w->st->code;
}

/* ---- the answer ---- */

static enum fc_code keep_other(struct work *w)
{
    struct fc_answer *a = w->answer;
    if (fc_other_traffic_of(w->q, w->session, a->p.bottleneck, &a->arena, &a->other, w->st)) return w->st->code;
    a->other_text = fc_other_traffic_text(&a->other, &a->arena, w->st);
    return w->st->code;
}

/* q->sensitivity is for answers below that time. */
static enum fc_code answer_one(const struct fc_question *q, struct fc_session *session, struct fc_predicted_job *job,
                               const struct fc_demand *demand, const char *map, double sensitive_below_s,
                               struct fc_answer *answer, struct fc_status *st)
{
    struct work w = {.q = q, .session = session, .job = job, .demand = demand, .map = map, .answer = answer, .st = st};
    w.sensitive_below_s = q->sensitivity ? sensitive_below_s : 0;
    memset(answer, 0, sizeof *answer);
    answer->compute_scale = 1;
    answer->best_bound_s = NAN;
    bool made = !place(&w) && !describe(&w) && !find_calibration(&w) && !(job->source.head ? replay(&w) : phase(&w)) &&
                !keep_bottleneck(&w) && !keep_other(&w) &&
                (q->time_only || !fc_answer_best_bound(q, session, job, demand, map, answer, st));
    fc_mapping_free(&w.mapping);
    return made ? FC_OK : st->code;
}

/* The search behind `optimize` relieves the busiest link; a job bound by computation or latency can lose by it. The job
 * is therefore predicted in rank order too, and the faster of the two is the answer. */
static enum fc_code answer_searched(const struct fc_question *q, struct fc_session *session,
                                    struct fc_predicted_job *job, const struct fc_demand *demand,
                                    struct fc_answer *answer, struct fc_status *st)
{
    struct fc_answer in_order;
    if (answer_one(q, session, job, demand, "def", 0, &in_order, st)) goto done;
    if (answer_one(q, session, job, demand, "optimize", in_order.p.time_s, answer, st)) goto done;
    if (answer->p.time_s < in_order.p.time_s) goto done;
    bool stopped = answer->stopped, unsearched = answer->unsearched;
    fc_answer_free(answer);
    if (!q->sensitivity) {
        *answer = in_order;
        memset(&in_order, 0, sizeof in_order);
    } else {
        answer_one(q, session, job, demand, "def", INFINITY, answer, st);
    }
    answer->mapping = "optimize=def";
    answer->stopped = stopped;
    answer->unsearched = unsearched;
done:
    fc_answer_free(&in_order);
    return st->code;
}

enum fc_code fc_answer_placed(const struct fc_question *q, struct fc_session *session, struct fc_predicted_job *job,
                              const struct fc_demand *demand, const char *map, struct fc_answer *answer,
                              struct fc_status *st)
{
    memset(answer, 0, sizeof *answer);
    return strcmp(map, "optimize") ? answer_one(q, session, job, demand, map, INFINITY, answer, st)
                                   : answer_searched(q, session, job, demand, answer, st);
}

enum fc_code fc_answer_make(const struct fc_question *q, struct fc_answer *answer, struct fc_status *st)
{
    const char *map = q->map ? q->map : "def";
    FC_SCOPED(fc_session_close) struct fc_session session = {0};
    FC_SCOPED(fc_job_close) struct fc_predicted_job job = {0};
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    memset(answer, 0, sizeof *answer);
    if (!fc_job_open(q, &job, st) && !fc_session_open(q, q->machine, &session, st)) {
        if (!fc_job_traffic(&job, q, &session, &map, 1, &demand, st))
            fc_answer_placed(q, &session, &job, &demand, map, answer, st);
    }
    return st->code;
}

enum fc_code fc_answer_view(const struct fc_question *q, const struct fc_session *session, struct fc_session *view,
                            struct fc_answer *answer, struct fc_status *st)
{
    const char *map = q->map ? q->map : "def";
    FC_SCOPED(fc_job_close) struct fc_predicted_job job = {0};
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    *view = *session;
    view->arena = (struct fc_arena){0};
    memset(answer, 0, sizeof *answer);
    if (q->n_allowed > 0) {
        view->nodes = (uint32_t *)q->allowed;
        view->n_nodes = q->n_allowed;
    }
    if ((!q->nodes || !fc_nodes_read(&view->net, q->nodes, 0, &view->arena, &view->nodes, &view->n_nodes, st)) &&
        !fc_session_background(q, view, st) && !fc_job_open(q, &job, st) &&
        !fc_job_traffic(&job, q, view, &map, 1, &demand, st))
        fc_answer_placed(q, view, &job, &demand, map, answer, st);
    return st->code;
}

void fc_answer_view_close(const struct fc_session *session, struct fc_session *view)
{
    fc_background_free(&view->background);
    if (view->other.first_event) fc_trace_free(&view->other);
    if (view->calibrated && !session->calibrated) fc_calibration_free(&view->calibration);
    fc_arena_free(&view->arena);
}

void fc_answer_free(struct fc_answer *answer)
{
    if (answer->timeline) fc_timeline_free(answer->timeline);
    fc_arena_free(&answer->arena);
    memset(answer, 0, sizeof *answer);
}
