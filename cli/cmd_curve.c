/* cmd_curve.c - `curve`: latency and accepted throughput against offered load, and the saturation point. */
#include "cli/cli.h"
#include "plots/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct answer {
    const struct fc_session *session;
    const struct fc_demand *demand;
    const struct fc_flit_settings *settings;
    struct fc_plot_latency *points; /* [n] ascending load */
    size_t n;
    double saturation, ideal; /* offered flits/node/cycle; NaN: unknown */
    const char *engine, *vc_rule;
};

static void print(FILE *stream, const void *what)
{
    const struct answer *a = what;
    fc_print_machine(&a->session->machine, stream);
    fprintf(stream, "run         %s, routing %s, rule %s, %s engine\n\n", a->demand->name,
            a->session->machine.routing->name, a->vc_rule, a->engine);
    fprintf(stream, "%12s %12s %12s %12s\n", "offered", "accepted", "latency", "+-");
    fprintf(stream, "%12s %12s %12s %12s\n", "flits/node/c", "flits/node/c", "cycles", "cycles");
    for (size_t i = 0; i < a->n; i++) {
        const struct fc_plot_latency *p = &a->points[i];
        fprintf(stream, "%12.4g %12.4g ", p->load, p->accepted);
        if (isnan(p->latency_cycles))
            fprintf(stream, "%12s %12s\n", "unstable", "-");
        else if (isnan(p->half_width_cycles))
            fprintf(stream, "%12.2f %12s\n", p->latency_cycles, "-");
        else
            fprintf(stream, "%12.2f %12.2f\n", p->latency_cycles, p->half_width_cycles);
    }
    if (isnan(a->saturation))
        fprintf(stream, "\nsaturation  not found; ideal throughput %.4g\n", a->ideal);
    else
        fprintf(stream, "\nsaturation  %.4g flits/node/cycle offered, %.1f %% of the ideal throughput %.4g\n",
                a->saturation, 100 * a->saturation / a->ideal, a->ideal);
}

static json_t *to_json(const struct answer *a)
{
    json_t *points = json_array();
    for (size_t i = 0; i < a->n; i++) {
        const struct fc_plot_latency *p = &a->points[i];
        json_array_append_new(
            points, json_pack("{s:o, s:n, s:{s:o, s:o, s:o, s:b}}", "load", fc_json_real(p->load), "queueing",
                              "flit", "packet_latency_cycles", fc_json_real(p->latency_cycles), "accepted",
                              fc_json_real(p->accepted), "half_width_cycles",
                              fc_json_real(p->half_width_cycles), "stable", !isnan(p->latency_cycles)));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:{s:n, s:o}, s:o, s:n}", "machine",
                     a->session->machine.name, "traffic", a->demand->name, "routing",
                     a->session->machine.routing->name, "vc_rule", a->vc_rule, "engine", a->engine, "points",
                     points, "saturation", "queueing", "flit", fc_json_real(a->saturation),
                     "ideal_throughput", fc_json_real(a->ideal), "calibration");
}

/* ---- --loads ---- */

enum { MOST_POINTS = 1000 };

/* "from:to:step"; a step that misses `to` by less than a thousandth of itself still reaches it. */
static enum fc_code read_range(const char *text, const struct answer *a, double *ideal, double *loads,
                               size_t *n, struct fc_status *st)
{
    char part[3][64];
    double value[3];
    int used = 0;
    if (sscanf(text, "%63[^:]:%63[^:]:%63[^:]%n", part[0], part[1], part[2], &used) != 3 || text[used])
        return fc_refuse(st, FC_INPUT,
                         "--loads: '%s' is no range (expected FROM:TO:STEP, e.g. 0.05:0.95:0.05)", text);
    for (int i = 0; i < 3; i++)
        if (fc_flit_read_load("--loads", part[i], a->session, a->demand, a->settings, ideal, &value[i], st))
            return st->code;
    double steps = (value[1] - value[0]) / value[2];
    if (steps < 0)
        return fc_refuse(st, FC_INPUT, "--loads: '%s' ends below its start (expected FROM:TO:STEP)", text);
    if (steps + 1 > MOST_POINTS)
        return fc_refuse(st, FC_INPUT, "--loads: '%s' are %.0f points (at most %d)", text, steps + 1,
                         MOST_POINTS);
    *n = (size_t)floor(steps + 1e-3) + 1;
    for (size_t i = 0; i < *n; i++) loads[i] = value[0] + (double)i * value[2];
    return FC_OK;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static enum fc_code read_loads(const char *text, const struct answer *a, struct fc_arena *arena,
                               double *ideal, double *loads, size_t *n, struct fc_status *st)
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
        if (fc_flit_read_load("--loads", items[i], a->session, a->demand, a->settings, ideal, &loads[i], st))
            return st->code;
    qsort(loads, *n, sizeof *loads, ascending);
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

static enum fc_code plot(const struct fc_arguments *arguments, const struct answer *a, struct fc_status *st)
{
    char title[512];
    snprintf(title, sizeof title, "%s, %s", a->session->machine.title, a->demand->name);
    struct fc_plot_curve curve = {a->session->machine.name, a->points, a->n, a->saturation};
    if (fc_plot_latency_curves(arguments->plot, title, &curve, 1, st)) return st->code;
    if (!arguments->quiet && !arguments->json) printf("\nplot: %s/latency-curve.png\n", arguments->plot);
    return FC_OK;
}

static enum fc_code check(const struct fc_arguments *arguments, const struct fc_session *session,
                          struct fc_demand *demand, struct fc_status *st)
{
    const char *solver = arguments->solver ? arguments->solver : "flit";
    if (!strcmp(solver, "queueing") || !strcmp(solver, "both"))
        return fc_refuse(st, FC_INPUT, "--solver: %s: queueing is not in this build (expected flit)", solver);
    if (strcmp(solver, "flit"))
        return fc_refuse(st, FC_INPUT, "--solver: '%s' is unknown (expected flit)", solver);
    return fc_flit_as_rates("--loads", session, demand, st);
}

static enum fc_code run_demand(const struct fc_arguments *arguments, const struct fc_session *session,
                               struct fc_demand *demand, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_flit_settings settings;
    struct answer a = {
        .session = session, .demand = demand, .settings = &settings, .saturation = NAN, .ideal = NAN};
    double *loads = fc_alloc(arena, MOST_POINTS, sizeof *loads, st);
    if (!loads || check(arguments, session, demand, st) || fc_flit_of_arguments(arguments, &settings, st) ||
        read_loads(arguments->loads, &a, arena, &a.ideal, loads, &a.n, st))
        return st->code;
    a.points = fc_alloc(arena, a.n, sizeof *a.points, st);
    for (size_t i = 0; a.points && i < a.n; i++) a.points[i].load = loads[i];
    struct fc_progress progress;
    fc_progress_start(&progress, arguments->quiet);
    settings.progress = &progress;
    struct fc_status no_saturation = {0}; /* the points are an answer all the same */
    if (!st->code && !run_points(&a, &settings, arena, st) &&
        (!isnan(a.ideal) || !fc_flit_ideal_throughput(&session->net, demand, &settings, &a.ideal, st)))
        fc_flit_saturation(&session->net, demand, &settings, &a.saturation, &no_saturation);
    fc_progress_end(&progress);
    if (st->code) return st->code;
    json_t *json = arguments->json ? to_json(&a) : NULL;
    fc_deliver(arguments, json, print, &a, st);
    json_decref(json);
    if (!st->code && arguments->plot) plot(arguments, &a, st);
    if (!st->code) *st = no_saturation;
    return st->code;
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    struct fc_session session;
    struct fc_demand demand;
    struct fc_arena arena = {0};
    if (fc_session_open(arguments, arguments->machine, &session, st)) return st->code;
    if (!fc_session_demand(arguments, &session, &demand, st)) {
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
    .options = "mprvARPEfweCausjoJq",
    .run = run,
};
