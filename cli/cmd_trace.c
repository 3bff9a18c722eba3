/* cmd_trace.c - `trace capture|info|convert|generate`. */
#include "answer/job.h"
#include "cli/command.h"
#include "cli/heartbeat.h"
#include "cli/text.h"
#include "cli/trace_info.h"
#include "cli/watch.h"
#include "solvers/replay/export.h"

#include <string.h>

static bool ends_in(const char *path, const char *end)
{
    size_t n = strlen(path), k = strlen(end);
    return n > k && !strcmp(path + n - k, end);
}

/* What is written: a writer for another tool, or NULL and our own form, as text or packed. */
static enum fc_code choose_form(const struct fc_arguments *a, const struct fc_trace_writer **writer, bool *text,
                                struct fc_status *st)
{
    const struct fc_trace_writer *w = fc_trace_writers;
    *writer = NULL;
    *text = a->text || (a->format ? !strcmp(a->format, "text") : ends_in(a->output, ".txt"));
    if (a->text && a->format && strcmp(a->format, "text"))
        return fc_refuse(st, FC_INPUT, "--text and --format %s contradict each other", a->format);
    if (*text) return FC_OK;
    while (w->name && !(a->format ? !strcmp(a->format, w->name) : ends_in(a->output, w->extension))) w++;
    if (w->name) *writer = w;
    if (w->name || !a->format || !strcmp(a->format, "fct")) return FC_OK;
    return fc_refuse(st, FC_INPUT, "--format: '%s' cannot be written (expected fct, text, goal, ti or mtx)", a->format);
}

/* For another tool: the whole trace is needed, since the messages of a collective depend on all its members. */
static enum fc_code export(const char *path, const struct fc_trace_writer *writer, const struct fc_arguments *a,
                           const struct fc_trace_options *options, struct fc_status *st) {
    uint64_t losses[FC_N_LOSSES] = {0}; struct fc_trace trace; struct fc_output out;
    if (fc_trace_read_with(path, options, &trace, st)) return st->code;
    bool writes_operations = !strcmp(writer->name, "ti");
    if ((writes_operations || !fc_check_speeds(&a->ask, &trace, st)) && !fc_output_open(&out, a->output, st)){
        if (!writer->write(&trace, options, out.stream, losses, st)) fc_output_close(&out, st);
        fc_output_abandon(&out);}
for (int i = 0; !st->code && !a->quiet && i < FC_N_LOSSES; i++) if (losses[i])
    fc_note("%s: %s: %llu", writer->name, fc_export_losses[i], (unsigned long long)losses[i]);
fc_trace_free(&trace);
return st->code;
}

static enum fc_code convert_with(const struct fc_arguments *a, const struct fc_trace_options *options,
                                 struct fc_status *st)
{
    FC_SCOPED(fc_source_close) struct fc_trace_source source = {0};
    const struct fc_trace_writer *writer;
    const char *path = a->n_words > 1 ? a->words[1] : a->ask.trace;
    bool text;
    if (!a->output)
        return fc_refuse(st, FC_INPUT, "no output (expected `trace convert IN -o OUT`, --text for the readable form)");
    if (!path) return fc_refuse(st, FC_INPUT, "no trace (expected `trace %s FILE`)", a->words[0]);
    if (choose_form(a, &writer, &text, st)) return st->code;
    if (writer) return export(path, writer, a, options, st);
    if (fc_source_open(path, options, &source, st)) return st->code;
    if (!fc_check_speeds(&a->ask, source.head, st)) fc_source_write(&source, a->output, text, st);
    return st->code;
}

static enum fc_code convert(const struct fc_arguments *a, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_trace_options options;
    if (!fc_trace_options_of(&a->ask, &arena, &options, st)) convert_with(a, &options, st);
    return st->code;
}

static enum fc_code generate(const struct fc_arguments *a, struct fc_status *st)
{
    FC_SCOPED(fc_session_close) struct fc_session session = {0};
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    FC_SCOPED(fc_trace_free) struct fc_trace trace = {0};
    if (!a->output) return fc_refuse(st, FC_INPUT, "no output (expected `trace generate -m M -p PATTERN -o FILE`)");
    if (fc_open_machine(a, a->ask.machine, &session, st)) return st->code;
    if (!fc_job_demand(&a->ask, &session, &demand, st) &&
        !fc_trace_generate(&demand, a->iterations, a->ask.compute_s, &trace, st))
        fc_trace_write(&trace, a->output, a->text, st);
    return st->code;
}

/* Names of functions in one line; what the recorder noted, in brackets, in a line each. */
static void tell_unrecorded(const struct fc_capture_report *report)
{
    bool any = false;
    for (uint32_t u = 0; u < report->n_unwrapped; u++) {
        if (report->unwrapped[u][0] == '(') continue;
        if (!any) fprintf(stderr, "fabricast: MPI functions the program can call that are not recorded:");
        any = true;
        fc_say(stderr, " %s", report->unwrapped[u]);
    }
    if (any) fprintf(stderr, "\n");
    for (uint32_t u = 0; u < report->n_unwrapped; u++)
        if (report->unwrapped[u][0] == '(') fc_say(stderr, "fabricast: %s\n", report->unwrapped[u]);
}

static enum fc_code capture(const struct fc_arguments *a, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_capture_report report = {0};
    if (!a->program || !a->program[0])
        return fc_refuse(st, FC_INPUT, "no program (expected `trace capture -o FILE -- mpirun -n 4 ./app`)");
    const char *path = a->output ? a->output : "trace.fct";
    fc_heartbeat_stop(); /* the terminal is the program's */
    fc_trace_capture(a->program, path, a->partial, &arena, &report, st);
    if (report.kept && !a->quiet) {
        fc_say(stderr, "fabricast: recorded %llu events of %u ranks in %s\n", (unsigned long long)report.n_events,
               report.n_ranks, path);
        tell_unrecorded(&report);
    }
    return st->code;
}

static enum fc_code run(const struct fc_arguments *a, struct fc_status *st)
{
    static const struct {
        const char *name;
        enum fc_code (*run)(const struct fc_arguments *, struct fc_status *);
    } verbs[] = {{"capture", capture}, {"info", fc_trace_info}, {"convert", convert}, {"generate", generate}};
    for (size_t i = 0; a->n_words && i < FC_COUNT(verbs); i++)
        if (!strcmp(a->words[0], verbs[i].name)) return verbs[i].run(a, st);
    return fc_refuse(st, FC_INPUT, "%s%s%s (expected trace capture, info, convert or generate)",
                     a->n_words ? "unknown: trace '" : "no verb", a->n_words ? a->words[0] : "", a->n_words ? "'" : "");
}

const struct fc_command fc_command_trace = {
    .name = "trace",
    .arguments =
        "info FILE [--phases]\nconvert FILE -o FILE [--format fct|text|goal|ti|mtx]\ngenerate -m M -p PATTERN -o FILE\n"
        "capture [--partial] -o FILE -- mpirun ... app",
    .summary = "reads, converts, makes and records traces",
    .example = "fabricast trace capture -o lj.fct -- mpirun -n 16 lmp -in lj.in",
    .options = FC_GROUPS(FC_MACHINE, FC_PATTERN, FC_JOB, FC_SPEED, FC_TRACES, FC_COMMON) | FC_RUNS,
    .run = run,
    .swept = "info",
};
