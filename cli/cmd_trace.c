/* cmd_trace.c - `trace capture|info|convert|generate`. */
#include "cli/cli.h"

#include <math.h>
#include <string.h>

struct info {
    const struct fc_trace *trace;
    struct fc_trace_summary summary;
    const struct fc_job_phases *phases; /* NULL: not asked for */
    struct fc_table rows;
};

static void print_info(FILE *stream, const void *what)
{
    const struct info *i = what;
    const struct fc_trace *t = i->trace;
    const struct fc_trace_summary *s = &i->summary;
    char a[64], b[64];
    fprintf(stream, "trace        %s\n", t->file);
    fprintf(stream, "program      %s\n", t->program ? t->program : "unknown");
    fprintf(stream, "recorded     %s\n", t->recorded ? t->recorded : "unknown");
    fprintf(stream, "ranks        %u, communicators %u\n", t->n_ranks, t->n_comms);
    fprintf(stream, "events       %llu, messages %llu, collective calls %llu, failed polls %llu\n",
            (unsigned long long)s->n_events, (unsigned long long)s->n_messages, (unsigned long long)s->n_collectives,
            (unsigned long long)s->n_polls);
    fprintf(stream, "volume       point-to-point %s over %llu pairs, collectives %s\n",
            fc_format(a, sizeof a, s->p2p_bytes, FC_BYTES), (unsigned long long)s->n_pairs,
            fc_format(b, sizeof b, s->collective_bytes, FC_BYTES));
    fprintf(stream, "time         span %s", fc_format(a, sizeof a, s->span_s, FC_SECONDS));
    fprintf(stream, "; a rank on average: %s CPU between calls,", fc_format(a, sizeof a, s->compute_s, FC_SECONDS));
    fprintf(stream, " %s inside MPI (wall, as recorded)\n\n", fc_format(a, sizeof a, s->mpi_s, FC_SECONDS));
    fprintf(stream, "%-16s %10s %12s\n", "call", "count", "bytes");
    for (int op = 0; op < FC_N_OPS; op++)
        if (s->op_count[op])
            fprintf(stream, "%-16s %10llu %12s\n", fc_op_names[op], (unsigned long long)s->op_count[op],
                    fc_format(a, sizeof a, s->op_bytes[op], FC_BYTES));
    if (t->n_unwrapped) fprintf(stream, "\nnot recorded (the program can call them, the recorder does not wrap them):\n");
    for (uint32_t u = 0; u < t->n_unwrapped; u++) fprintf(stream, "  %s\n", t->unwrapped[u]);
    if (!i->phases) return;
    unsigned long long n = i->phases->n_phases, kinds = i->phases->n_kinds;
    fprintf(stream, "\n%llu phase%s of %llu kind%s, collectives expanded\n", n, n > 1 ? "s" : "", kinds,
            kinds > 1 ? "s" : "");
    fc_table_print(&i->rows, stream);
}

static json_t *info_json(const struct info *i)
{
    const struct fc_trace_summary *s = &i->summary;
    json_t *calls = json_object(), *unwrapped = json_array();
    for (int op = 0; op < FC_N_OPS; op++)
        if (s->op_count[op])
            json_object_set_new(calls, fc_op_names[op], json_pack("{s:I, s:o}", "count", (json_int_t)s->op_count[op],
                                                                  "bytes", fc_json_real(s->op_bytes[op])));
    for (uint32_t u = 0; u < i->trace->n_unwrapped; u++)
        json_array_append_new(unwrapped, json_string(i->trace->unwrapped[u]));
    return json_pack("{s:s, s:s?, s:s?, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "trace",
                     i->trace->file, "program", i->trace->program, "recorded", i->trace->recorded, "ranks",
                     (json_int_t)i->trace->n_ranks, "communicators", (json_int_t)i->trace->n_comms, "events",
                     (json_int_t)s->n_events, "messages", (json_int_t)s->n_messages, "collective_calls",
                     (json_int_t)s->n_collectives, "failed_polls", (json_int_t)s->n_polls, "p2p_bytes",
                     fc_json_real(s->p2p_bytes), "collective_bytes", fc_json_real(s->collective_bytes), "pairs",
                     (json_int_t)s->n_pairs, "span_s", fc_json_real(s->span_s), "compute_s", fc_json_real(s->compute_s),
                     "mpi_s", fc_json_real(s->mpi_s), "calls", calls, "unwrapped", unwrapped);
}

static enum fc_code read_argument(const struct fc_arguments *a, struct fc_trace *trace, struct fc_status *st)
{
    const char *path = a->n_words > 1 ? a->words[1] : a->trace;
    if (!path) return fc_refuse(st, FC_INPUT, "no trace (expected `trace %s FILE`)", a->words[0]);
    return fc_trace_read(path, trace, st);
}

static enum fc_code info(const struct fc_arguments *a, struct fc_status *st)
{
    struct fc_trace trace;
    struct fc_collective_choice choice;
    if (fc_session_collectives(a, &choice, st) || read_argument(a, &trace, st)) return st->code;
    struct fc_job_phases phases = {0};
    struct info i = {.trace = &trace, .phases = a->phases ? &phases : NULL};
    fc_trace_summarise(&trace, &i.summary);
    if (!a->phases || (!fc_job_phases_find_by(&trace, &choice, &phases, st) &&
                       !fc_table_phases(&phases, &phases.arena, &i.rows, st))) {
        json_t *json = a->json ? info_json(&i) : NULL;
        if (json && a->phases) json_object_set_new(json, "phases", fc_json_phases(&phases));
        fc_deliver(a, json, print_info, &i, st);
        json_decref(json);
    }
    fc_table_free(&i.rows);
    fc_job_phases_free(&phases);
    fc_trace_free(&trace);
    return st->code;
}

static enum fc_code convert(const struct fc_arguments *a, struct fc_status *st)
{
    struct fc_trace trace;
    if (!a->output) return fc_refuse(st, FC_INPUT, "no output (expected `trace convert IN -o OUT`, --text for the readable form)");
    if (read_argument(a, &trace, st)) return st->code;
    fc_trace_write(&trace, a->output, a->text, st);
    fc_trace_free(&trace);
    return st->code;
}

static enum fc_code generate(const struct fc_arguments *a, struct fc_status *st)
{
    struct fc_session session;
    struct fc_demand demand = {0};
    struct fc_trace trace = {0};
    if (!a->output) return fc_refuse(st, FC_INPUT, "no output (expected `trace generate -m M -p PATTERN -o FILE`)");
    if (fc_session_open(a, a->machine, &session, st)) return st->code;
    if (!fc_session_demand(a, &session, &demand, st) &&
        !fc_trace_generate(&demand, a->iterations, a->compute_s, &trace, st)) {
        fc_trace_write(&trace, a->output, a->text, st);
        fc_trace_free(&trace);
    }
    fc_demand_free(&demand);
    fc_session_close(&session);
    return st->code;
}

static enum fc_code capture(const struct fc_arguments *a, struct fc_status *st)
{
    struct fc_arena arena = {0};
    struct fc_capture_report report = {0};
    if (!a->program || !a->program[0])
        return fc_refuse(st, FC_INPUT, "no program (expected `trace capture -o FILE -- mpirun -n 4 ./app`)");
    const char *path = a->output ? a->output : "trace.fct";
    if (!fc_trace_capture(a->program, path, &arena, &report, st) && !a->quiet) {
        fprintf(stderr, "fabricast: recorded %llu events of %u ranks in %s\n", (unsigned long long)report.n_events,
                report.n_ranks, path);
        if (report.n_unwrapped) {
            fprintf(stderr, "fabricast: MPI functions the program can call that are not recorded:");
            for (uint32_t u = 0; u < report.n_unwrapped; u++) fprintf(stderr, " %s", report.unwrapped[u]);
            fprintf(stderr, "\n");
        }
    }
    fc_arena_free(&arena);
    return st->code;
}

static enum fc_code run(const struct fc_arguments *a, struct fc_status *st)
{
    static const struct {
        const char *name;
        enum fc_code (*run)(const struct fc_arguments *, struct fc_status *);
    } verbs[] = {{"capture", capture}, {"info", info}, {"convert", convert}, {"generate", generate}};
    if (a->phases && a->n_words && strcmp(a->words[0], "info"))
        return fc_refuse(st, FC_INPUT, "--phases: trace %s has no table of phases (expected trace info)", a->words[0]);
    for (size_t i = 0; a->n_words && i < FC_COUNT(verbs); i++)
        if (!strcmp(a->words[0], verbs[i].name)) return verbs[i].run(a, st);
    return fc_refuse(st, FC_INPUT, "%s%s%s (expected trace capture, info, convert or generate)",
                     a->n_words ? "unknown: trace '" : "no verb", a->n_words ? a->words[0] : "", a->n_words ? "'" : "");
}

const struct fc_command fc_command_trace = {
    .name = "trace",
    .arguments = "info FILE [--phases]\nconvert FILE -o FILE [--text]\ngenerate -m M -p PATTERN -o FILE\n"
                 "capture -o FILE -- mpirun ... app",
    .summary = "reads, converts, makes and records traces",
    .example = "fabricast trace capture -o lj.fct -- mpirun -n 16 lmp -in lj.in",
    .options = "mpgtrnYKxicosjJq",
    .run = run,
};
