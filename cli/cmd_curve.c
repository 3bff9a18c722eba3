/* cmd_curve.c - `curve`: latency and accepted throughput against offered load, and the saturation point, by
 * the flit-level kernel, by the queueing model (curve_model.c), or by both side by side. */
#include "answer/run.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/curve_print.h"
#include "cli/heartbeat.h"
#include "cli/print.h"
#include "cli/terminal.h"
#include "cli/watch.h"
#include "core/values.h"
#include "plots/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct answer {
    const struct fc_session *session;
    const struct fc_demand *demand;
    const struct fc_flit_settings *settings;
    bool flit, queueing;            /* what was asked */
    double *load;                   /* [n] ascending */
    struct fc_plot_latency *points; /* [n] of the kernel; all but load NaN where it was not asked */
    size_t n;
    struct fc_curve_model model;
    double saturation, ideal; /* offered flits/node/cycle; NaN: unknown */
    const char *engine, *vc_rule;
};

enum { MOST_POINTS = 1000 };

/* ---- text ---- */

/* Model over kernel - 1, percent; NaN where one of them has no latency. */
static double deviation_percent(const struct answer *a, size_t i)
{
    const struct fc_queueing_answer *m = &a->model.answers[i].model;
    return m->stable ? 100 * (m->latency_mean_cycles / a->points[i].latency_cycles - 1) : (double)NAN;
}

static void print_head(const struct answer *a, FILE *stream)
{
    fc_print_machine(&a->session->machine, stream);
    fprintf(stream, "run         %s, routing %s, rule %s", a->demand->name, a->session->machine.routing->name,
            a->vc_rule);
    if (a->flit) fprintf(stream, ", %s engine", a->engine);
    fprintf(stream, "\n");
    if (a->queueing) fc_curve_model_print_head(&a->model, stream);
    fprintf(stream, "\n%12s", "offered");
    if (a->flit) fprintf(stream, " %12s %12s %12s", "accepted", "latency", "+-");
    if (a->queueing) fprintf(stream, " %12s %12s", a->flit ? "model" : "latency", "+-");
    if (a->flit && a->queueing) fprintf(stream, " %12s", "deviation");
    fprintf(stream, "\n%12s", "flits/node/c");
    if (a->flit) fprintf(stream, " %12s %12s %12s", "flits/node/c", "cycles", "cycles");
    if (a->queueing) fprintf(stream, " %12s %12s", "cycles", "%");
    fprintf(stream, "%s\n", a->flit && a->queueing ? "            %" : "");
}

/* A number in a column of 12; "-" for NaN. */
static void print_number(FILE *stream, const char *format, double value)
{
    if (isnan(value))
        fprintf(stream, " %12s", "-");
    else
        fprintf(stream, format, value);
}

static void print_point(const struct answer *a, size_t i, FILE *stream)
{
    const struct fc_plot_latency *p = &a->points[i];
    fprintf(stream, "%12.4g", p->load);
    if (a->flit) {
        fprintf(stream, " %12.4g", p->accepted);
        if (isnan(p->latency_cycles))
            fprintf(stream, " %12s", "unstable");
        else
            fprintf(stream, " %12.2f", p->latency_cycles);
        print_number(stream, " %12.2f", p->half_width_cycles);
    }
    if (a->queueing) {
        const struct fc_calibrated_answer *m = &a->model.answers[i];
        print_number(stream, " %12.2f", m->model.latency_mean_cycles);
        if (m->model.stable && m->extrapolated && !isnan(m->error_percent)) {
            char text[32];
            snprintf(text, sizeof text, "%.1f *", m->error_percent);
            fprintf(stream, " %12s", text);
        } else {
            print_number(stream, " %12.1f", m->model.stable ? m->error_percent : (double)NAN);
        }
    }
    if (a->flit && a->queueing) print_number(stream, " %12.1f", deviation_percent(a, i));
    fprintf(stream, "\n");
}

static void print_saturation(const struct answer *a, FILE *stream)
{
    if (a->flit && isnan(a->saturation))
        fprintf(stream, "\nsaturation  not found; ideal throughput %.4g\n", a->ideal);
    else if (a->flit)
        fprintf(stream, "\nsaturation  %.4g flits/node/cycle offered, %.1f %% of the ideal throughput %.4g\n",
                a->saturation, 100 * a->saturation / a->ideal, a->ideal);
    if (!a->queueing) return;
    const struct fc_curve_model *m = &a->model;
    if (a->flit)
        fprintf(stream, "model       %.4g", m->saturation);
    else
        fprintf(stream, "\nsaturation  %.4g flits/node/cycle offered", m->saturation);
    if (!isnan(m->saturation_percent)) fprintf(stream, " +- %.1f %%", m->saturation_percent);
    if (!a->flit)
        fprintf(stream, ", %.1f %% of the ideal throughput %.4g", 100 * m->saturation / a->ideal, a->ideal);
    else if (!isnan(a->saturation))
        fprintf(stream, ", deviation %+.1f %%", 100 * (m->saturation / a->saturation - 1));
    fprintf(stream, "\n");
    fc_curve_model_print_notes(m, stream);
    fc_curve_pairs_print(&m->pairs, a->load, stream);
    fc_curve_model_print_windows(m, stream);
}

/* At a terminal latency in a line, up to six times the least, as the plot has it. */
static void print_shape(const struct answer *a, FILE *stream)
{
    double latency[MOST_POINTS], least = INFINITY;
    for (size_t i = 0; i < a->n; i++) {
        const struct fc_queueing_answer *m = a->queueing ? &a->model.answers[i].model : NULL;
        latency[i] = a->flit ? a->points[i].latency_cycles : m->stable ? m->latency_mean_cycles : (double)NAN;
        least = fmin(least, latency[i]);
    }
    char after[64];
    snprintf(after, sizeof after, " 0 to %.4g cycles\n", 6 * least);
    if (isfinite(least)) fc_print_sparkline(stream, "\nlatency     ", latency, a->n, 6 * least, after);
}

static void print(FILE *stream, const void *what)
{
    const struct answer *a = what;
    print_head(a, stream);
    for (size_t i = 0; i < a->n; i++) print_point(a, i, stream);
    print_shape(a, stream);
    print_saturation(a, stream);
}

/* ---- JSON ---- */

static json_t *to_json(const struct answer *a)
{
    json_t *points = json_array();
    for (size_t i = 0; i < a->n; i++) {
        const struct fc_plot_latency *p = &a->points[i];
        json_t *model = a->queueing ? fc_curve_model_json(&a->model, i) : json_null(), *flit = json_null();
        if (a->flit)
            flit = json_pack("{s:o, s:o, s:o, s:b}", "packet_latency_cycles", fc_json_real(p->latency_cycles),
                             "accepted", fc_json_real(p->accepted), "half_width_cycles",
                             fc_json_real(p->half_width_cycles), "stable", !isnan(p->latency_cycles));
        json_t *point = json_pack("{s:o, s:o, s:o}", "load", fc_json_real(p->load), "queueing", model, "flit", flit);
        if (a->flit && a->queueing)
            json_object_set_new(point, "deviation_percent", fc_json_real(deviation_percent(a, i)));
        json_array_append_new(points, point);
    }
    json_t *saturation =
        json_pack("{s:o, s:o}", "queueing", fc_json_real(a->queueing ? a->model.saturation : (double)NAN), "flit",
                  fc_json_real(a->saturation));
    if (a->queueing)
        json_object_set_new(saturation, "queueing_error_percent", fc_json_real(a->model.saturation_percent));
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:s, s:s?, s:o, s:o, s:o, s:s?, s:s?, s:s?}", "machine", a->session->machine.name,
                  "traffic", a->demand->name, "routing", a->session->machine.routing->name, "vc_rule", a->vc_rule,
                  "engine", a->engine, "points", points, "saturation", saturation, "ideal_throughput",
                  fc_json_real(a->ideal), "error_against", fc_error_against_name(a->model.error_against), "calibration",
                  a->queueing && a->model.calibrated ? a->model.calibration.file : NULL, "uncalibrated_because",
                  a->queueing && *a->model.misfit.text ? a->model.misfit.text : NULL);
    json_t *windows = a->queueing ? fc_curve_model_windows_json(&a->model) : NULL;
    if (windows) json_object_set_new(json, "windows", windows);
    return json;
}

/* ---- --loads ---- */

/* "from:to:step"; a step that misses `to` by less than a thousandth of itself still reaches it. */
static enum fc_code read_range(const char *text, const struct answer *a, double *ideal, double *loads, size_t *n,
                               struct fc_status *st)
{
    char part[3][64];
    double value[3];
    int used = 0;
    if (sscanf(text, "%63[^:]:%63[^:]:%63[^:]%n", part[0], part[1], part[2], &used) != 3 || text[used])
        return fc_refuse(st, FC_INPUT, "--loads: '%s' is no range (expected FROM:TO:STEP, e.g. 0.05:0.95:0.05)", text);
    for (int i = 0; i < 3; i++)
        if (fc_run_load("--loads", part[i], &a->session->net, a->demand, a->settings, ideal, &value[i], st))
            return st->code;
    double steps = (value[1] - value[0]) / value[2];
    if (steps < 0) return fc_refuse(st, FC_INPUT, "--loads: '%s' ends below its start (expected FROM:TO:STEP)", text);
    if (steps + 1 > MOST_POINTS)
        return fc_refuse(st, FC_INPUT, "--loads: '%s' are %.0f points (at most %d)", text, steps + 1, MOST_POINTS);
    *n = (size_t)floor(steps + 1e-3) + 1;
    for (size_t i = 0; i < *n; i++) loads[i] = value[0] + (double)i * value[2];
    return FC_OK;
}

static enum fc_code read_loads(const char *text, const struct answer *a, struct fc_arena *arena, double *ideal,
                               double *loads, size_t *n, struct fc_status *st)
{
    const char **items;
    if (!text)
        return fc_refuse(st, FC_INPUT,
                         "no loads (expected --loads FROM:TO:STEP in flits a node and cycle, e.g. --loads "
                         "0.05:0.95:0.05, or a list)");
    if (strchr(text, ':')) return read_range(text, a, ideal, loads, n, st);
    if (fc_split_list(text, arena, &items, n, st)) return st->code;
    if (*n > MOST_POINTS) return fc_refuse(st, FC_INPUT, "--loads: %zu points (at most %d)", *n, MOST_POINTS);
    for (size_t i = 0; i < *n; i++)
        if (fc_run_load("--loads", items[i], &a->session->net, a->demand, a->settings, ideal, &loads[i], st))
            return st->code;
    qsort(loads, *n, sizeof *loads, fc_by_real);
    return FC_OK;
}

/* ---- the command ---- */

/* Past the first unstable point only the accepted load is an answer, so latencies end there. */
static enum fc_code run_points(struct answer *a, struct fc_flit_settings *settings, struct fc_arena *arena,
                               struct fc_status *st)
{
    bool stable = true;
    for (size_t i = 0; i < a->n; i++) {
        struct fc_flit_result r;
        settings->load_flits_per_cycle = a->points[i].load;
        if (fc_flit_run(&a->session->net, a->demand, NULL, settings, &r, st)) return st->code;
        if (r.deadlock) fc_refuse(st, FC_NO, "deadlock at load %g: %s", a->points[i].load, r.deadlock_text);
        stable = stable && r.stable;
        a->points[i].accepted = r.accepted_flits_per_node_cycle;
        a->points[i].latency_cycles = stable ? r.latency_mean_cycles : (double)NAN;
        a->points[i].half_width_cycles = stable ? r.latency_half_width_cycles : (double)NAN;
        a->engine = fc_copy_text(arena, r.engine, st);
        a->vc_rule = fc_copy_text(arena, r.vc_rule, st);
        fc_flit_free(&r);
        if (st->code) return st->code;
    }
    return FC_OK;
}

/* Nothing of the model where it was not asked, else latency with its band. */
static enum fc_code plot(const struct fc_arguments *arguments, const struct answer *a, struct fc_arena *arena,
                         struct fc_status *st)
{
    static const char *const names[] = {"latency-curve", NULL};
    const char *title = fc_plot_title(arguments, arena, st, "%s: %s, %s, routing %s", a->session->machine.name,
                                      a->session->machine.title, a->demand->name, a->session->machine.routing->name);
    struct fc_plot_band *band = a->queueing ? fc_alloc(arena, a->n, sizeof *band, st) : NULL;
    if (st->code) return st->code;
    for (size_t i = 0; band && i < a->n; i++) {
        const struct fc_calibrated_answer *m = &a->model.answers[i];
        double latency = m->model.stable ? m->model.latency_mean_cycles : (double)NAN, part = m->error_percent / 100;
        band[i] = (struct fc_plot_band){latency, latency * fmax(0, 1 - part), latency * (1 + part)};
        if (isnan(part)) band[i].low_cycles = band[i].high_cycles = NAN; /* fmax would pass over it */
    }
    struct fc_plot_curve curve = {
        a->session->machine.name, a->points, a->n, a->flit ? a->saturation : a->model.saturation, band, a->flit};
    if (fc_plot_latency_curves(arguments->plot, title, &curve, 1, st)) return st->code;
    fc_print_plots(arguments, names);
    return FC_OK;
}

static enum fc_code check(const struct fc_arguments *arguments, const struct fc_session *session,
                          struct fc_demand *demand, struct answer *a, struct fc_status *st)
{
    const char *solver = arguments->solver ? arguments->solver : "flit";
    bool both = !strcmp(solver, "both");
    a->flit = both || !strcmp(solver, "flit");
    a->queueing = both || !strcmp(solver, "queueing");
    if (!a->flit && !a->queueing)
        return fc_refuse(st, FC_INPUT, "--solver: '%s' is unknown (expected queueing, flit or both)", solver);
    return fc_run_rates("--loads", &session->net, demand, st);
}

static enum fc_code make_points(struct answer *a, struct fc_arena *arena, struct fc_status *st)
{
    a->points = fc_alloc(arena, a->n, sizeof *a->points, st);
    for (size_t i = 0; a->points && i < a->n; i++) a->points[i] = (struct fc_plot_latency){a->load[i], NAN, NAN, NAN};
    return st->code;
}

/* The kernel's points, its saturation, and the ideal throughput. */
static void run_flit(struct answer *a, struct fc_flit_settings *settings, struct fc_arena *arena,
                     struct fc_status *no_saturation, struct fc_status *st)
{
    const struct fc_network *net = &a->session->net;
    if (!run_points(a, settings, arena, st) &&
        (!isnan(a->ideal) || !fc_flit_ideal_throughput(net, a->demand, settings, &a->ideal, st)))
        fc_flit_saturation(net, a->demand, settings, &a->saturation, no_saturation);
}

static enum fc_code deliver(const struct fc_arguments *arguments, const struct answer *a, struct fc_arena *arena,
                            struct fc_status *st)
{
    json_t *json = arguments->json ? to_json(a) : NULL;
    if (a->queueing && a->model.misfit.mistake) fc_note_uncalibrated(a->model.misfit.text);
    fc_deliver(arguments, json, print, a, st);
    json_decref(json);
    if (!st->code && arguments->plot) plot(arguments, a, arena, st);
    return st->code;
}

static enum fc_code run_demand(const struct fc_arguments *arguments, const struct fc_session *session,
                               struct fc_demand *demand, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_flit_settings settings;
    struct answer a = {.session = session, .demand = demand, .settings = &settings, .saturation = NAN, .ideal = NAN};
    a.load = fc_alloc(arena, MOST_POINTS, sizeof *a.load, st);
    if (!a.load || check(arguments, session, demand, &a, st) ||
        fc_run_settings(&arguments->run, arguments->ask.seed, arguments->ask.threads, &settings, st) ||
        read_loads(arguments->loads, &a, arena, &a.ideal, a.load, &a.n, st) || make_points(&a, arena, st))
        return st->code;
    struct fc_progress progress;
    fc_work_start(&progress, arguments->quiet);
    settings.progress = &progress;
    struct fc_status no_saturation = {0}; /* the points are an answer all the same */
    if (a.queueing && !fc_curve_model_solve(&arguments->curve, session, arguments->ask.pattern, demand, &settings,
                                            a.load, a.n, &a.model, st)) {
        a.vc_rule = a.model.vc_rule;
        if (isnan(a.ideal)) a.ideal = a.flit ? a.ideal : a.model.ideal;
    }
    if (a.flit && !st->code) run_flit(&a, &settings, arena, &no_saturation, st);
    fc_work_end(&progress);
    if (!st->code) deliver(arguments, &a, arena, st);
    if (a.queueing) fc_curve_model_free(&a.model);
    if (!st->code) *st = no_saturation;
    return st->code;
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    struct fc_session session;
    struct fc_demand demand;
    struct fc_arena arena = {0};
    if ((arguments->plot && fc_plots_check(arguments->plot, st)) ||
        fc_open_machine(arguments, arguments->ask.machine, &session, st))
        return st->code;
    if (!fc_session_only_whole(&session, st) && !fc_session_only_alike(&session, "curve", st) &&
        !fc_job_demand(&arguments->ask, &session, &demand, st)) {
        run_demand(arguments, &session, &demand, &arena, st);
        fc_demand_free(&demand);
    }
    fc_session_close(&session);
    fc_arena_free(&arena);
    return st->code;
}

const struct fc_command fc_command_curve = {
    .name = "curve",
    .summary = "latency and accepted throughput against offered load, and the saturation point",
    .example = "fabricast curve -m bgl-512 -p uniform --loads 10%:100%:10% --plot out",
    .options =
        FC_GROUPS(FC_MACHINE, FC_ROUTING, FC_WITHOUT, FC_PATTERN, FC_CHANNELS, FC_CURVES, FC_KERNEL, FC_MEASURE) |
        FC_GROUPS(FC_PLOT, FC_COMMON) | FC_RUNS,
    .run = run,
    .swept = "",
};
