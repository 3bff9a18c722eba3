/* cmd_curve.c - `curve`: latency and accepted throughput against offered load, and the saturation point, by
 * the flit-level kernel, by the queueing model (curve_model.c), or by both side by side. */
#include "answer/run.h"
#include "cli/command.h"
#include "cli/curve_print.h"
#include "cli/heartbeat.h"
#include "cli/print.h"
#include "cli/terminal.h"
#include "cli/watch.h"
#include "core/values.h"
#include "plots/plots.h"

#include <stdlib.h>
#include <string.h>

/* What a kernel run with a precision knows of a point. */
struct precision {
    double accepted_half_width;
    bool reached;
};

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
    double cycle_s;            /* NaN: not known yet */
    struct precision *precise; /* [n] of the kernel's runs of no given length, else NULL */
};

enum { MOST_POINTS = 1000 };
#define PRECISION 0.01 /* of runs for which neither a length nor a precision is given */

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

/* Which loads are not known as precisely as was asked. */
static void print_imprecise(const struct answer *a, FILE *stream)
{
    bool first = true;
    for (size_t i = 0; a->precise && i < a->n; i++) {
        if (a->precise[i].reached || isnan(a->points[i].latency_cycles)) continue;
        if (first) fprintf(stream, "\nprecision   %.4g %% not reached at", 100 * a->settings->precision);
        fprintf(stream, "%s %.4g", first ? "" : ",", a->points[i].load);
        first = false;
    }
    if (!first) fprintf(stream, "\n");
}

/* At a terminal latency in a line, up to six times the least, as the plot has it where it only rises. */
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
    print_imprecise(a, stream);
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
        if (a->precise) {
            json_object_set_new(flit, "accepted_half_width", fc_json_real(a->precise[i].accepted_half_width));
            json_object_set_new(flit, "precision_reached", json_boolean(a->precise[i].reached));
        }
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
    if (a->precise) json_object_set_new(json, "precision", fc_json_real(a->settings->precision));
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

/* Past the first unstable point latencies end. Where a load behind it is stable, bad luck made it so; else the saturation lies between. */
static enum fc_code run_points(struct answer *a, struct fc_flit_settings *settings, struct fc_arena *arena,
                               struct fc_status *st)
{
    bool stable = true;
    for (size_t i = 0; i < a->n && !st->code; i++) {
        struct fc_flit_result r;
        double load = settings->load_flits_per_cycle = a->points[i].load;
        if (fc_flit_run(&a->session->net, a->demand, NULL, settings, &r, st)) return st->code;
        if (r.deadlock) fc_refuse(st, FC_NO, "deadlock at load %g: %s", load, r.deadlock_text);
        if (r.stable) settings->stable_load = load, settings->unstable_load = 0;
        if (!r.stable && !(settings->unstable_load > 0)) settings->unstable_load = load;
        stable = stable && r.stable;
        a->points[i].accepted = r.accepted_flits_per_node_cycle;
        a->points[i].latency_cycles = stable ? r.latency_mean_cycles : (double)NAN;
        a->points[i].half_width_cycles = stable ? r.latency_half_width_cycles : (double)NAN;
        if (a->precise) a->precise[i] = (struct precision){r.accepted_half_width_flits, r.precision_reached};
        a->cycle_s = r.cycle_s;
        a->engine = fc_copy_text(arena, r.engine, st);
        a->vc_rule = fc_copy_text(arena, r.vc_rule, st);
        fc_flit_free(&r);
    }
    return st->code;
}

/* Nothing of the model where it was not asked, else latency with its band. */
static enum fc_code plot_curve(const struct answer *a, struct fc_plot_curve *curve, struct fc_arena *arena,
                               struct fc_status *st)
{
    struct fc_plot_band *band = a->queueing ? fc_alloc(arena, a->n, sizeof *band, st) : NULL;
    for (size_t i = 0; band && i < a->n; i++) {
        const struct fc_calibrated_answer *m = &a->model.answers[i];
        double latency = m->model.stable ? m->model.latency_mean_cycles : (double)NAN, part = m->error_percent / 100;
        band[i] = (struct fc_plot_band){latency, latency * fmax(0, 1 - part), latency * (1 + part)};
        if (isnan(part)) band[i].low_cycles = band[i].high_cycles = NAN; /* fmax would pass over it */
    }
    *curve = (struct fc_plot_curve){
        a->session->machine.name, a->points, a->n, a->flit ? a->saturation : a->model.saturation, band, a->flit};
    return st->code;
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
    if (a->points && a->flit && a->settings->precision > 0) a->precise = fc_alloc(arena, a->n, sizeof *a->precise, st);
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

/* ---- one machine or several ---- */

/* A machine with its traffic and its curve. */
struct design {
    struct fc_session session;
    struct fc_demand demand;
    struct fc_flit_settings settings;
    struct fc_status no_saturation; /* the points are an answer all the same */
    bool is_open, has_demand;
};
struct designs {
    const struct fc_arguments *arguments;
    struct design *design;     /* [n] */
    struct answer *answer;     /* [n] */
    struct compared *compared; /* [n] with several */
    size_t n;
};

static enum fc_code work_out(const struct fc_arguments *arguments, struct design *d, struct answer *a,
                             struct fc_arena *arena, struct fc_status *st)
{
    *a = (struct answer){.session = &d->session,
                         .demand = &d->demand,
                         .settings = &d->settings,
                         .saturation = NAN,
                         .ideal = NAN,
                         .cycle_s = NAN};
    a->load = fc_alloc(arena, MOST_POINTS, sizeof *a->load, st);
    if (!a->load || check(arguments, &d->session, &d->demand, a, st) ||
        fc_run_settings(&arguments->run, arguments->ask.seed, arguments->ask.threads, &d->settings, st) ||
        read_loads(arguments->loads, a, arena, &a->ideal, a->load, &a->n, st))
        return st->code;
    if (a->flit && !d->settings.measure_cycles && !(d->settings.precision > 0)) d->settings.precision = PRECISION;
    if (make_points(a, arena, st)) return st->code;
    struct fc_progress progress;
    fc_work_start(&progress, arguments->quiet);
    d->settings.progress = &progress;
    d->settings.ranks = arguments->ranks;
    if (a->queueing && !fc_curve_model_solve(&arguments->curve, &d->session, arguments->ask.pattern, &d->demand,
                                             &d->settings, a->load, a->n, &a->model, st)) {
        a->vc_rule = a->model.vc_rule;
        a->cycle_s = a->model.turns.cycle_s;
        if (isnan(a->ideal)) a->ideal = a->flit ? a->ideal : a->model.ideal;
    }
    if (a->flit && !st->code) run_flit(a, &d->settings, arena, &d->no_saturation, st);
    fc_work_end(&progress);
    if (!st->code && a->queueing && a->model.misfit.mistake) fc_note_uncalibrated(a->model.misfit.text);
    return st->code;
}

static enum fc_code open_design(const struct fc_arguments *arguments, const char *machine, struct design *d,
                                struct fc_status *st)
{
    if (fc_open_machine(arguments, machine, &d->session, st)) return st->code;
    d->is_open = true;
    if (fc_session_only_whole(&d->session, st) || fc_session_only_alike(&d->session, "curve", st) ||
        fc_job_demand(&arguments->ask, &d->session, &d->demand, st))
        return st->code;
    d->has_demand = true;
    return FC_OK;
}

static void close_designs(struct designs *all)
{
    for (size_t i = 0; i < all->n; i++) {
        struct design *d = &all->design[i];
        if (all->answer[i].queueing) fc_curve_model_free(&all->answer[i].model);
        if (d->has_demand) fc_demand_free(&d->demand);
        if (d->is_open) fc_session_close(&d->session);
    }
}

/* ---- designs side by side ---- */

static const struct per {
    const char *name;
    enum { IN_NODE, IN_INJECTION, IN_BISECTION } of;
    struct fc_plot_axes axes;
} pers[] = {{"node", IN_NODE, {"GB/s a node", "GB_per_s_node", "ns", "ns"}},
            {"injection", IN_INJECTION, {"% of injection bandwidth", "percent_of_injection", "ns", "ns"}},
            {"bisection", IN_BISECTION, {"% of the bisection, as if uniform", "percent_of_bisection", "ns", "ns"}}};

/* NULL: another word. */
static const struct per *per_of(const struct fc_arguments *arguments)
{
    if (!arguments->per) return pers;
    for (size_t i = 0; i < FC_COUNT(pers); i++)
        if (!strcmp(arguments->per, pers[i].name)) return &pers[i];
    return NULL;
}

/* What makes them comparable. NaN: unknown. */
struct compared {
    double latency_s;                                                        /* at the least load that has one */
    double load_bytes_per_s, load_injection_percent, load_bisection_percent; /* of a load of 1 flit a node and cycle */
    double saturation, saturation_bytes_per_s, injection_percent, bisection_percent, error_percent;
};

static struct compared compare(const struct answer *a, struct fc_status *st)
{
    const struct fc_machine *m = &a->session->machine;
    const struct fc_network *net = &a->session->net;
    struct compared c = {.latency_s = NAN, .saturation = a->flit ? a->saturation : a->model.saturation};
    struct fc_facts facts;
    for (size_t i = a->n; i-- > 0;) {
        double cycles = a->flit ? a->points[i].latency_cycles : a->model.answers[i].model.latency_mean_cycles;
        if (a->flit || a->model.answers[i].model.stable)
            c.latency_s = isnan(cycles) ? c.latency_s : cycles * a->cycle_s;
    }
    double injection = 0;
    uint32_t node = fc_node_vertex(net, 0);
    for (uint32_t l = net->first_link[node]; l < net->first_link[node + 1]; l++) injection += fc_link_bandwidth(net, l);
    c.load_bytes_per_s = m->router.flit_bytes / a->cycle_s;
    c.load_injection_percent = isfinite(injection) ? 100 * c.load_bytes_per_s / injection : (double)NAN;
    fc_network_facts(net, &facts, st);
    /* Of uniform traffic half of all crosses the bisection, half of that each way. */
    c.load_bisection_percent = 100 * c.load_bytes_per_s * (double)net->n_nodes / 4 / facts.bisection_bytes_per_s;
    c.saturation_bytes_per_s = c.saturation * c.load_bytes_per_s;
    c.injection_percent = c.saturation * c.load_injection_percent;
    c.bisection_percent = c.saturation * c.load_bisection_percent;
    c.error_percent = a->flit ? (double)NAN : a->model.saturation_percent;
    return c;
}

static void print_compared(FILE *stream, const struct designs *all)
{
    fprintf(stream, "\n%-20s %8s %10s %14s %12s %10s %10s %8s\n", "machine", "nodes", "latency", "saturation",
            "GB/s a node", "injection", "bisection", "error");
    for (size_t i = 0; i < all->n; i++) {
        struct compared c = all->compared[i];
        char latency[64], injection[32], bisection[32], error[32];
        fprintf(stream, "%-20s %8u %10s %14.4g %12.4g %10s %10s %8s\n", all->design[i].session.machine.name,
                all->design[i].session.net.n_nodes,
                isnan(c.latency_s) ? "-" : fc_format(latency, sizeof latency, c.latency_s, FC_SECONDS), c.saturation,
                c.saturation_bytes_per_s / 1e9, fc_format_percent(injection, sizeof injection, c.injection_percent),
                fc_format_percent(bisection, sizeof bisection, c.bisection_percent),
                isnan(c.error_percent) ? "-" : fc_format_percent(error, sizeof error, c.error_percent));
    }
    fprintf(stream,
            "latency: of a packet at the least load; saturation: flits/node/cycle; injection, bisection: percent of "
            "these that it is, bisection as if traffic were uniform\n");
}

static void print_all(FILE *stream, const void *what)
{
    const struct designs *all = what;
    for (size_t i = 0; i < all->n; i++) {
        if (i) fprintf(stream, "\n");
        print(stream, &all->answer[i]);
    }
    if (all->n > 1) print_compared(stream, all);
}

static json_t *all_json(const struct designs *all)
{
    json_t *curves = json_array();
    if (all->n == 1) {
        json_decref(curves);
        return to_json(all->answer);
    }
    for (size_t i = 0; i < all->n; i++) {
        struct compared c = all->compared[i];
        json_t *curve = to_json(&all->answer[i]);
        json_t *more =
            json_pack("{s:I, s:o, s:o, s:o, s:o}", "nodes", (json_int_t)all->design[i].session.net.n_nodes, "latency_s",
                      fc_json_real(c.latency_s), "saturation_bytes_per_s", fc_json_real(c.saturation_bytes_per_s),
                      "injection_percent", fc_json_real(c.injection_percent), "bisection_percent",
                      fc_json_real(c.bisection_percent));
        json_object_update(curve, more);
        json_decref(more);
        json_array_append_new(curves, curve);
    }
    return json_pack("{s:o}", "curves", curves);
}

/* ---- the plot ---- */

/* What loads and latencies are multiplied by. */
struct scale {
    double load, latency;
};

static void scale_curve(struct fc_plot_curve *c, struct scale by, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_plot_latency *points = fc_alloc(arena, c->n, sizeof *points, st);
    struct fc_plot_band *band = (struct fc_plot_band *)c->model; /* made for this */
    for (size_t i = 0; points && i < c->n; i++) {
        const struct fc_plot_latency *p = &c->points[i];
        points[i] = (struct fc_plot_latency){p->load * by.load, p->accepted * by.load, p->latency_cycles * by.latency,
                                             p->half_width_cycles * by.latency};
        if (!band) continue;
        band[i].latency_cycles *= by.latency;
        band[i].low_cycles *= by.latency;
        band[i].high_cycles *= by.latency;
    }
    c->points = points;
    c->saturation *= by.load;
}

static enum fc_code plot(const struct designs *all, struct fc_arena *arena, struct fc_status *st)
{
    static const char *const names[] = {"latency-curve", NULL};
    const struct fc_arguments *arguments = all->arguments;
    const struct answer *a = all->answer;
    struct fc_plot_curve *curves = fc_alloc(arena, all->n, sizeof *curves, st);
    bool several = all->n > 1;
    const struct per *per = several ? per_of(arguments) : NULL;
    const struct fc_machine *m = &a->session->machine;
    const char *title = several ? fc_plot_title(arguments, arena, st, "%s on %zu machines", a->demand->name, all->n)
                                : fc_plot_title(arguments, arena, st, "%s%s%s, %s, routing %s", m->name,
                                                *m->title ? ": " : "", m->title, a->demand->name, m->routing->name);
    for (size_t i = 0; !st->code && i < all->n; i++) {
        if (plot_curve(&a[i], &curves[i], arena, st) || !several) continue;
        struct compared c = all->compared[i];
        double each = per->of == IN_NODE        ? c.load_bytes_per_s / 1e9
                      : per->of == IN_INJECTION ? c.load_injection_percent
                                                : c.load_bisection_percent;
        if (!isfinite(each))
            fc_refuse(st, FC_INPUT, "--per %s: of machine %s it is not known (expected --per node)", per->name,
                      a[i].session->machine.name);
        scale_curve(&curves[i], (struct scale){each, 1e9 * a[i].cycle_s}, arena, st);
    }
    if (st->code || fc_plot_latency_curves(arguments->plot, title, several ? &per->axes : NULL, curves, all->n, st))
        return st->code;
    fc_print_plots(arguments, names);
    return FC_OK;
}

static enum fc_code deliver(const struct designs *all, struct fc_arena *arena, struct fc_status *st)
{
    fc_deliver(all->arguments, all->arguments->json ? all_json(all) : NULL, print_all, all, st);
    if (!st->code && all->arguments->plot && fc_speaks(all->arguments)) plot(all, arena, st);
    return st->code;
}

/* Of several machines: which one a refusal is about. */
static void name_machine(const char *machine, size_t n, struct fc_status *st)
{
    size_t used = strlen(st->message);
    if (st->code && n > 1) snprintf(st->message + used, sizeof st->message - used, " (machine %.200s)", machine);
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct designs all = {.arguments = arguments};
    const char **machines;
    size_t n = 0;
    if ((arguments->plot && fc_plots_check(arguments->plot, st))) return st->code;
    if (!arguments->ask.machine) return fc_refuse(st, FC_INPUT, "no machine (expected -m NAME or -m FILE)");
    if (!per_of(arguments))
        return fc_refuse(st, FC_INPUT, "--per: '%s' is unknown (expected node, injection or bisection)",
                         arguments->per);
    if (!fc_split_list(arguments->ask.machine, &arena, &machines, &n, st)) {
        all.design = fc_alloc(&arena, n, sizeof *all.design, st);
        all.answer = fc_alloc(&arena, n, sizeof *all.answer, st);
        all.compared = fc_alloc(&arena, n, sizeof *all.compared, st);
    }
    for (size_t i = 0; !st->code && i < n; i++) {
        all.n++;
        if (!open_design(arguments, machines[i], &all.design[i], st))
            work_out(arguments, &all.design[i], &all.answer[i], &arena, st);
        name_machine(machines[i], n, st);
        name_machine(machines[i], n, &all.design[i].no_saturation);
    }
    for (size_t i = 0; n > 1 && !st->code && i < n; i++) all.compared[i] = compare(&all.answer[i], st);
    if (!st->code) deliver(&all, &arena, st);
    for (size_t i = 0; !st->code && i < n; i++) *st = all.design[i].no_saturation;
    close_designs(&all);
    return st->code;
}

const struct fc_command fc_command_curve = {
    .name = "curve",
    .summary =
        "latency and accepted throughput against offered load, and the saturation point; over MPI ranks under mpirun",
    .example = "fabricast curve -m bgl-512 -p uniform --loads 10%:100%:10% --plot out",
    .options =
        FC_GROUPS(FC_MACHINE, FC_ROUTING, FC_WITHOUT, FC_PATTERN, FC_CHANNELS, FC_CURVES, FC_KERNEL, FC_MEASURE) |
        FC_GROUPS(FC_PLOT, FC_COMMON) | FC_RUNS,
    .run = run,
    .swept = "",
    .over_ranks = true,
};
