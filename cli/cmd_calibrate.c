/* cmd_calibrate.c - `calibrate`: the queueing model fitted to short kernel runs of a kind of router. */
#include "cli/calibrate_measured.h"
#include "cli/command.h"
#include "cli/heartbeat.h"
#include "cli/print.h"
#include "cli/watch.h"
#include "models/deadlock/cdg.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct answer {
    const struct fc_machine *machine;
    const struct fc_calibration *calibration;
    const char *path;
    const struct fc_calibration_case *added; /* NULL: all was made, */
    const struct fc_bulk_case *phase;        /* or this was added */
};

static const char *number(char *out, size_t size, double value, const char *format)
{
    if (isnan(value))
        snprintf(out, size, "-");
    else
        snprintf(out, size, format, value); /* formats are ours, below */
    return out;
}

static void print_parameters(FILE *stream, const struct fc_calibration *c)
{
    fprintf(stream, "%-14s %10s %10s %10s\n", "parameter", "value", "low", "high");
    for (int i = 0; i < FC_Q_PARAMETERS; i++) {
        fprintf(stream, "%-14s %10.4g ", fc_queueing_parameter_names[i], c->parameters.value[i]);
        if (c->free_parameter[i])
            fprintf(stream, "%10.4g %10.4g\n", c->low.value[i], c->high.value[i]);
        else
            fprintf(stream, "%10s %10s\n", "stands", "-");
    }
}

static void print_cases(FILE *stream, const struct fc_calibration *c)
{
    char a[4][24];
    const char *network = "";
    fprintf(stream, "\n%-28s %6s %12s %10s %8s %8s %10s\n", "case", "flits", "saturation", "of ideal", "mean",
            "greatest", "saturation");
    fprintf(stream, "%-28s %6s %12s %10s %8s %8s %10s\n", "", "", "flits/node/c", "%", "error %", "error %", "error %");
    for (uint32_t i = 0; i < c->n_cases; i++) {
        const struct fc_calibration_case *k = &c->cases[i];
        if (strcmp(k->network, network)) fprintf(stream, "%s, %llu nodes\n", k->network, (unsigned long long)k->nodes);
        network = k->network;
        fprintf(stream, "  %-26s %6g %12.4g %10s %8s %8s %10s%s\n", k->pattern, k->flits_max, k->saturation,
                number(a[0], sizeof a[0], 100 * k->saturation / k->ideal, "%.1f"),
                number(a[1], sizeof a[1], k->mean_error_percent, "%.1f"),
                number(a[2], sizeof a[2], k->greatest_error_percent, "%.1f"),
                number(a[3], sizeof a[3], k->saturation_error_percent, "%.1f"), k->fitted ? "" : "  held out");
    }
}

static void print_errors(FILE *stream, const struct fc_calibration *c)
{
    char a[3][24];
    fprintf(stream, "\nerrors        of every %s left out of fit and correction: latency up to 80 %% of saturation\n",
            fc_left_out_names[c->left_out]);
    fprintf(stream, "latency       mean %s %%, greatest %s %%; the largest network left out: %s %%\n",
            number(a[0], sizeof a[0], c->left_out_mean_percent, "%.1f"),
            number(a[1], sizeof a[1], c->left_out_greatest_percent, "%.1f"),
            number(a[2], sizeof a[2], c->largest_left_out_percent, "%.1f"));
    fprintf(stream, "saturation    mean %s %%, greatest %s %%\n",
            number(a[0], sizeof a[0], c->saturation_mean_percent, "%.1f"),
            number(a[1], sizeof a[1], c->saturation_greatest_percent, "%.1f"));
    fprintf(stream, "patterns      of a kind that was not run: latency mean %s %%, saturation mean %s %%\n",
            number(a[0], sizeof a[0], c->kind_mean_percent, "%.1f"),
            number(a[1], sizeof a[1], c->kind_saturation_mean_percent, "%.1f"));
    fprintf(stream, "at 90 %%       mean %s %%\n", number(a[0], sizeof a[0], c->error_at[9], "%.1f"));
    fprintf(stream, "fit           residual %s %%\n", number(a[0], sizeof a[0], c->residual_percent, "%.1f"));
    fprintf(stream, "runs          %.3g million hops\n", c->hops_run / 1e6);
    if (c->n_not_begun || c->n_given_up)
        fprintf(stream, "left out      %u cases not run for want of budget, %u given up on the way\n", c->n_not_begun,
                c->n_given_up);
    fprintf(stream, "phases        %u closed runs, %.3g million hops; networks left out %s %%, patterns too %s %%\n",
            c->phases.n_cases, c->phases.hops_run / 1e6,
            number(a[0], sizeof a[0], fc_bulk_error_percent(&c->phases, false), "%.1f"),
            number(a[1], sizeof a[1], fc_bulk_error_percent(&c->phases, true), "%.1f"));
    fprintf(stream,
            "replays       %u jobs; networks left out the stated error covers %s %% (contention), %s %% (queueing)\n",
            c->replays.n_cases, number(a[0], sizeof a[0], c->replays.covered_percent[FC_MEASURED_CONTENTION], "%.0f"),
            number(a[1], sizeof a[1], c->replays.covered_percent[FC_MEASURED_QUEUEING], "%.0f"));
}

static void print_added(FILE *stream, const struct answer *a)
{
    const struct fc_calibration_case *k = a->added;
    double known_percent = fc_calibration_known_percent(k);
    fprintf(stream, "added         %s, packets of %g flits, %s, %llu nodes\n", k->pattern, k->flits_max, k->network,
            (unsigned long long)k->nodes);
    fprintf(stream, "saturation    %.4g flits a node and cycle, %.1f %% of the ideal throughput\n", k->saturation,
            100 * k->saturation / k->ideal);
    fprintf(stream, "latency       at %d loads, up to %g %% of saturation; known to %.2g %% up to 90 %% of it%s\n",
            k->n_points, 100 * k->points[k->n_points - 1].load_share, known_percent,
            fc_calibration_is_anchor(k) ? "" : ": too little to be the answer itself (a greater --budget)");
    fprintf(stream, "cases         %u\n", a->calibration->n_cases);
}

static void print_phase(FILE *stream, const struct answer *a)
{
    const struct fc_bulk_case *k = a->phase;
    char time[32], off[2][24];
    fprintf(stream, "added         %s, %s, %llu nodes\n", k->pattern, k->network, (unsigned long long)k->nodes);
    fprintf(stream, "time          %s by the kernel; without this network foreseen to %s %%\n",
            fc_format(time, sizeof time, k->ratio * k->at.reference_s, FC_SECONDS),
            number(off[0], sizeof off[0], k->left_network_percent, "%.1f"));
    fprintf(stream, "phases        %u closed runs; networks left out %s %%\n", a->calibration->phases.n_cases,
            number(off[1], sizeof off[1], fc_bulk_error_percent(&a->calibration->phases, false), "%.1f"));
}

static void print(FILE *stream, const void *what)
{
    const struct answer *a = what;
    fc_print_machine(a->machine, stream);
    if (a->added || a->phase) {
        a->added ? print_added(stream, a) : print_phase(stream, a);
        fprintf(stream, "written       %s\n", a->path);
        return;
    }
    fprintf(stream, "kind        %s\n\n", a->calibration->kind);
    print_parameters(stream, a->calibration);
    print_cases(stream, a->calibration);
    print_errors(stream, a->calibration);
    fprintf(stream, "written       %s\n", a->path);
}

static json_t *pair(const double *range)
{
    return json_pack("[o, o]", fc_json_real(range[0]), fc_json_real(range[1]));
}

static json_t *case_json(const struct fc_calibration_case *k)
{
    json_t *points = json_array();
    for (int i = 0; i < k->n_points; i++)
        json_array_append_new(points, json_pack("{s:o, s:o, s:o}", "load_share", fc_json_real(k->points[i].load_share),
                                                "packet_latency_cycles", fc_json_real(k->points[i].latency_cycles),
                                                "half_width_cycles", fc_json_real(k->points[i].half_width_cycles)));
    return json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "network", k->network,
                     "pattern", k->pattern, "nodes", (json_int_t)k->nodes, "packet_flits_min",
                     fc_json_real(k->flits_min), "packet_flits_max", fc_json_real(k->flits_max), "hops_mean",
                     fc_json_real(k->hops), "saturation", fc_json_real(k->saturation), "ideal_throughput",
                     fc_json_real(k->ideal), "escape_percent", fc_json_real(k->escape_percent), "fitted", k->fitted,
                     "mean_error_percent", fc_json_real(k->mean_error_percent), "greatest_error_percent",
                     fc_json_real(k->greatest_error_percent), "saturation_error_percent",
                     fc_json_real(k->saturation_error_percent), "points", points);
}

static json_t *to_json(const struct answer *a)
{
    const struct fc_calibration *c = a->calibration;
    json_t *parameters = json_object(), *cases = json_array(), *at = json_array();
    for (int i = 0; i < FC_Q_PARAMETERS; i++)
        json_object_set_new(parameters, fc_queueing_parameter_names[i],
                            json_pack("{s:o, s:o, s:o, s:b}", "value", fc_json_real(c->parameters.value[i]), "low",
                                      fc_json_real(c->low.value[i]), "high", fc_json_real(c->high.value[i]), "fitted",
                                      c->free_parameter[i]));
    for (uint32_t i = 0; i < c->n_cases; i++) json_array_append_new(cases, case_json(&c->cases[i]));
    for (size_t i = 0; i < FC_COUNT(c->error_at); i++) json_array_append_new(at, fc_json_real(c->error_at[i]));
    json_t *hull =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "hops", pair(c->hops), "anisotropy", pair(c->anisotropy), "flits",
                  pair(c->flits), "buffer_packets", pair(c->buffer_packets), "hops_step", fc_json_real(c->hops_step));
    json_t *errors = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "left_out", fc_left_out_names[c->left_out],
        "residual_percent", fc_json_real(c->residual_percent), "latency_mean_percent",
        fc_json_real(c->left_out_mean_percent), "latency_greatest_percent", fc_json_real(c->left_out_greatest_percent),
        "largest_network_mean_percent", fc_json_real(c->largest_left_out_percent), "saturation_mean_percent",
        fc_json_real(c->saturation_mean_percent), "saturation_greatest_percent",
        fc_json_real(c->saturation_greatest_percent), "at_load_share_percent", at, "kind_latency_mean_percent",
        fc_json_real(c->kind_mean_percent), "kind_saturation_mean_percent",
        fc_json_real(c->kind_saturation_mean_percent));
    json_t *phases = json_pack("{s:I, s:o, s:o, s:o}", "cases", (json_int_t)c->phases.n_cases, "hops_run",
                               fc_json_real(c->phases.hops_run), "network_left_out_percent",
                               fc_json_real(fc_bulk_error_percent(&c->phases, false)), "kind_left_out_percent",
                               fc_json_real(fc_bulk_error_percent(&c->phases, true)));
    json_t *replays =
        json_pack("{s:I, s:o, s:o}", "cases", (json_int_t)c->replays.n_cases, "contention_covered_percent",
                  fc_json_real(c->replays.n_cases ? c->replays.covered_percent[FC_MEASURED_CONTENTION] : NAN),
                  "queueing_covered_percent",
                  fc_json_real(c->replays.n_cases ? c->replays.covered_percent[FC_MEASURED_QUEUEING] : NAN));
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "machine", c->machine,
                     "calibration", a->path, "kind", c->kind, "kernel_version", c->kernel_version, "seed",
                     (json_int_t)c->seed, "hops_run", fc_json_real(c->hops_run), "cases_not_run",
                     (json_int_t)c->n_not_begun, "cases_given_up", (json_int_t)c->n_given_up, "parameters", parameters,
                     "hull", hull, "errors", errors, "cases", cases, "phases", phases, "replays", replays);
}

/* Minutes of runs must not end in "cannot be written". */
static enum fc_code check_path(const char *path, struct fc_status *st)
{
    char directory[1200];
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash) slash[slash == directory] = '\0';
    const char *where = slash ? directory : ".";
    bool exists = access(path, F_OK) == 0;
    if (access(exists ? path : where, W_OK) == 0) return FC_OK;
    return fc_fail(st, FC_INPUT, (struct fc_place){path, 0}, "cannot be written: %s (-o FILE names another place)",
                   strerror(errno));
}

/* Whether the file is what the same command made, so that it would come out as it is, but for changes of the machine's file. */
static bool made_alike(const struct fc_calibration *there, const struct fc_machine *machine,
                       const struct fc_calibration_settings *settings)
{
    double budget_s = settings->budget_s > 0 ? settings->budget_s : FC_CALIBRATION_BUDGET_S;
    FC_SCOPED(fc_network_free) struct fc_network net = {0};
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_status why = {0};
    const char *kind = NULL;
    return !strcmp(there->machine, machine->name) && !strcmp(there->kernel_version, FC_KERNEL_VERSION) &&
           there->seed == settings->seed && fabs(there->budget_s - budget_s) <= 1e-9 * budget_s &&
           !fc_network_build(machine, &net, &why) && !fc_calibration_kind(&net, NULL, &arena, &kind, &why) &&
           !strcmp(there->kind, kind);
}

/* Without -o a calibration beside the machine that is of other settings is kept under another name, and the answer says so. */
static enum fc_code keep_earlier(const char *path, const struct fc_machine *machine,
                                 const struct fc_calibration_settings *settings, struct fc_status *st)
{
    FC_SCOPED(fc_calibration_free) struct fc_calibration there = {0};
    struct fc_status why = {0};
    char kept[1400];
    if (access(path, F_OK) != 0) return FC_OK;
    if (!fc_calibration_read(path, &there, &why) && made_alike(&there, machine, settings)) return FC_OK;
    snprintf(kept, sizeof kept, "%s.before", path);
    unlink(kept);
    if (link(path, kept) != 0)
        return fc_fail(st, FC_NO, (struct fc_place){kept, 0}, "the earlier calibration cannot be kept: %s (-o FILE)",
                       strerror(errno));
    fc_note("the calibration of other settings that was there is kept as %s", kept);
    return FC_OK;
}

/* Of the calibration beside the machine, all as it is but the replays, or one more traffic: a phase where its messages have bytes. */
static enum fc_code add(const struct fc_machine *machine, const struct fc_arguments *arguments,
                        const struct fc_calibration_settings *settings, struct fc_calibration *calibration,
                        struct answer *a, struct fc_status *st)
{
    char beside[1200];
    const char *pattern = arguments->ask.pattern;
    if (fc_calibration_read(fc_calibration_path(machine, beside, sizeof beside), calibration, st)) return st->code;
    if (arguments->replays)
        fc_calibrate_replays(machine, settings, calibration, st);
    else if (strstr(pattern, "bytes="))
        fc_calibrate_phase(machine, settings, pattern, calibration, &a->phase, st);
    else
        fc_calibrate_curve(machine, settings, pattern, calibration, &a->added, st);
    if (st->code) fc_calibration_free(calibration);
    return st->code;
}

static enum fc_code calibrate(const struct fc_arguments *arguments, const struct fc_machine *machine,
                              struct fc_status *st)
{
    char beside[1200];
    FC_SCOPED(fc_calibration_free) struct fc_calibration calibration = {0};
    struct fc_progress progress;
    struct fc_calibration_settings settings = {.budget_s = arguments->budget_s,
                                               .threads = arguments->ask.threads,
                                               .seed = arguments->ask.seed,
                                               .progress = &progress};
    struct answer a = {machine, &calibration, arguments->output, NULL, NULL};
    bool adds = arguments->replays || arguments->ask.pattern;
    if (!a.path) a.path = fc_calibration_path(machine, beside, sizeof beside);
    if (strcmp(a.path, "-") && check_path(a.path, st)) return st->code;
    if (!arguments->output && !arguments->quiet && !(adds && access(a.path, F_OK)))
        fc_note("writes %s (-o FILE names another place)", a.path);
    fc_note_buffer(arguments, arguments->ask.machine, machine);
    fc_work_start(&progress, arguments->quiet);
    enum fc_code code = adds ? add(machine, arguments, &settings, &calibration, &a, st)
                             : fc_calibrate(machine, &settings, &calibration, st);
    fc_work_end(&progress);
    if (code) return code;
    if (fc_calibration_check(&calibration, machine, st)) return st->code;
    if (!arguments->output && !adds && keep_earlier(a.path, machine, &settings, st)) return st->code;
    if (!fc_calibration_write(&calibration, a.path, st) && strcmp(a.path, "-")) {
        struct fc_arguments answer = *arguments;
        answer.output = NULL; /* -o names the calibration */
        fc_deliver(&answer, arguments->json ? to_json(&a) : NULL, print, &a, st);
    }
    return st->code;
}

/* The machine by that rule, as its router.escape chooses it. */
static enum fc_code load_under(const struct fc_arguments *arguments, const char *rule, struct fc_machine *machine,
                               struct fc_status *st)
{
    size_t n = arguments->ask.n_settings;
    char escape[128];
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_status why = {0};
    const char **settings = fc_alloc(&scratch, n + 1, sizeof *settings, st);
    if (!settings) return st->code;
    for (size_t i = 0; i < n; i++) settings[i] = arguments->ask.settings[i];
    snprintf(escape, sizeof escape, "router.escape=%s", rule);
    settings[n] = escape;
    if (fc_machine_load_changed(arguments->ask.machine, settings, n + 1, machine, &why)) {
        if (!strncmp(why.file, "--set router.escape", 19))
            fc_refuse(st, why.code, "--vc-rule: %s", why.message);
        else
            *st = why;
    }
    return st->code;
}

/* The machine, under the rule of --vc-rule where it is not its own: a calibration is of a machine as a file could have it. */
static enum fc_code load_machine(const struct fc_arguments *arguments, struct fc_machine *machine, struct fc_status *st)
{
    const char *rule = arguments->run.vc_rule;
    if (fc_machine_load_changed(arguments->ask.machine, arguments->ask.settings, arguments->ask.n_settings, machine,
                                st))
        return st->code;
    for (int changed = 0; !fc_machine_route(machine, arguments->ask.routing, st); changed++) {
        const struct fc_vc_rule_ops *made = fc_vc_rule_of(machine);
        if (!rule || (made && !strcmp(made->name, rule))) return FC_OK;
        if (changed) {
            fc_refuse(st, FC_INPUT, "--vc-rule: no router.escape of a %s network chooses rule %s (%s has %s)",
                      machine->family->name, rule, machine->name, made ? made->name : "none");
            break;
        }
        fc_machine_free(machine);
        if (load_under(arguments, rule, machine, st)) return st->code;
    }
    fc_machine_free(machine);
    return st->code;
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    FC_SCOPED(fc_machine_free) struct fc_machine machine = {0};
    if (!arguments->ask.machine)
        return fc_refuse(st, FC_INPUT, "no machine (expected -m NAME or -m FILE; `fabricast machines` lists)");
    if (load_machine(arguments, &machine, st)) return st->code;
    if (machine.failed && !arguments->measured) {
        fc_fail(st, FC_INPUT, (struct fc_place){machine.file, machine.failed_line},
                "failed: a calibration is of a whole machine (expected a copy of the file without it)");
    } else if (machine.kinds.n) {
        fc_fail(st, FC_INPUT, (struct fc_place){machine.file, machine.kinds.kind[0].line},
                "node: a calibration is of a machine whose nodes are all alike (expected node: {...})");
    } else if (arguments->measured) {
        fc_calibrate_measured(arguments, &machine, st);
    } else {
        calibrate(arguments, &machine, st);
    }
    return st->code;
}

const struct fc_command fc_command_calibrate = {
    .name = "calibrate",
    .summary =
        "fits the queueing model to kernel runs; errors on networks left out; written beside the machine (-p adds one traffic)",
    .example = "fabricast calibrate -m bgl-64 --budget 30 -o bgl-64.calibration.yaml",
    .options =
        FC_GROUPS(FC_MACHINE, FC_ROUTING, FC_PATTERN, FC_CHANNELS, FC_BUDGET, FC_CALIBRATION, FC_COMMON) | FC_RUNS,
    .run = run,
};
