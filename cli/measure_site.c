/* measure_site.c - a machine file from our own benchmark: run under the user's launcher, or its rows read. */
#include "cli/measure_site.h"
#include "answer/measurement.h"
#include "cli/heartbeat.h"
#include "cli/print.h"
#include "cli/watch.h"
#include "core/unfinished.h"

#include <string.h>
#include <unistd.h>

#define BUDGET_S 120

struct site {
    struct fc_measurement measured;
    struct fc_measurement_fit fit;
    struct fc_measured_links links;
    const struct fc_network *net; /* NULL: no machine was named */
    const char *path, *rows;      /* NULL: not written */
};

static const char *const names[FC_NUMBERS] = {
    [FC_NUMBER_SEND] = "send_s",
    [FC_NUMBER_RECV] = "recv_s",
    [FC_NUMBER_LATENCY] = "latency_s",
    [FC_NUMBER_GAP] = "gap_s",
    [FC_NUMBER_PER_BYTE] = "per_byte_s",
    [FC_NUMBER_COPY] = "copy_per_byte_s",
    [FC_NUMBER_RENDEZVOUS] = "rendezvous_s",
    [FC_NUMBER_G] = "stream_per_byte_s",
    [FC_NUMBER_LOCAL] = "local_s",
    [FC_NUMBER_MEMORY] = "memory_per_byte_s",
    [FC_NUMBER_REDUCE] = "reduce_per_byte_s",
};

/* ---- the answer ---- */

static void print_number(FILE *stream, const char *name, struct fc_interval v, enum fc_unit unit, const char *what)
{
    char x[3][32];
    if (isnan(v.value)) return;
    fprintf(stream, "%-12s%s (%s to %s) %s\n", name, fc_format(x[0], sizeof x[0], v.value, unit),
            fc_format(x[1], sizeof x[1], v.low, unit), fc_format(x[2], sizeof x[2], v.high, unit), what);
}

static void print_ends(FILE *stream, const struct site *s)
{
    const struct fc_interval *v = s->fit.number;
    struct fc_interval rate = {1 / v[FC_NUMBER_G].value, 1 / v[FC_NUMBER_G].high, 1 / v[FC_NUMBER_G].low};
    struct fc_interval memory = {1 / v[FC_NUMBER_MEMORY].value, 1 / v[FC_NUMBER_MEMORY].high,
                                 1 / v[FC_NUMBER_MEMORY].low};
    char x[32];
    print_number(stream, "send", v[FC_NUMBER_SEND], FC_SECONDS, "a message");
    print_number(stream, "receive", v[FC_NUMBER_RECV], FC_SECONDS, "a message");
    if (v[FC_NUMBER_GAP].value > 0) print_number(stream, "gap", v[FC_NUMBER_GAP], FC_SECONDS, "between short messages");
    print_number(stream, "latency", v[FC_NUMBER_LATENCY], FC_SECONDS, "of the network, near pair");
    fprintf(stream, "%-12s%s, pair of the greatest latency\n", "",
            fc_format(x, sizeof x, s->fit.far_latency_s, FC_SECONDS));
    print_number(stream, "rate", rate, FC_BYTES_PER_S, "between two ranks");
    if (s->fit.most_sharing > 1)
        fprintf(stream, "%-12s%s, up to %u ranks a node together\n", "",
                fc_format(x, sizeof x, 1 / s->fit.node_s_per_byte, FC_BYTES_PER_S), s->fit.most_sharing);
    if (v[FC_NUMBER_PER_BYTE].value > 0)
        print_number(stream, "per byte", v[FC_NUMBER_PER_BYTE], FC_SECONDS_PER_BYTE, "at either end");
    print_number(stream, "copies", v[FC_NUMBER_COPY], FC_SECONDS_PER_BYTE, "at either end of an eager message");
    if (s->measured.eager_is_bound)
        fprintf(stream, "%-12s%.0f B and less: no send waited for its receive\n", "eager", s->measured.eager_bytes);
    else
        fprintf(stream, "%-12sup to %.0f B, exactly\n", "eager", s->measured.eager_bytes);
    print_number(stream, "rendezvous", v[FC_NUMBER_RENDEZVOUS], FC_SECONDS, "at either end of a longer one");
    print_number(stream, "local", v[FC_NUMBER_LOCAL], FC_SECONDS, "at either end, within a node");
    if (!isnan(memory.value)) print_number(stream, "memory", memory, FC_BYTES_PER_S, "of a node's messages to itself");
    print_number(stream, "reduction", v[FC_NUMBER_REDUCE], FC_SECONDS_PER_BYTE, "in memory");
}

static void print_links(FILE *stream, const struct site *s)
{
    char x[2][32];
    for (int c = 0; s->net && c < s->net->machine->n_classes; c++) {
        const struct fc_measured_class *l = &s->links.class[c];
        if (isnan(l->bytes_per_s)) continue;
        fprintf(stream, "%-12s%-12s %s%s, %s\n", "links", s->net->machine->classes[c].name, l->binds ? "" : "at least ",
                fc_format(x[0], sizeof x[0], l->bytes_per_s, FC_BYTES_PER_S),
                isnan(l->latency_s) ? "latency not known" : fc_format(x[1], sizeof x[1], l->latency_s, FC_SECONDS));
    }
    if (s->net)
        fprintf(stream, "%-12s%s; latencies of pairs off by %.1f %% at most\n", "routers",
                fc_format(x[0], sizeof x[0], s->links.delay_s, FC_SECONDS), s->links.off_percent);
}

static void print(FILE *stream, const void *what)
{
    const struct site *s = what;
    fprintf(stream, "%-12s%u ranks on %u nodes%s\n", "measured", s->measured.n_ranks, s->measured.n_nodes,
            s->measured.one_host ? ": all on one host, each rank taken as a node" : "");
    print_ends(stream, s);
    if (!isnan(s->fit.across))
        fprintf(stream, "%-12sall pairs at once: %.2f of what one has alone\n", "across", s->fit.across);
    print_links(stream, s);
    for (uint32_t i = 0; i < s->fit.n_steps; i++)
        fprintf(stream, "%s%.0f B%s", i ? ", " : "steps       the latency's line also bends at ", s->fit.step_bytes[i],
                i + 1 == s->fit.n_steps ? "\n" : "");
    fprintf(stream, "%-12s%.1f %% in the median of the near pair's latencies\n", "off", s->fit.off_percent);
    if (s->path)
        fprintf(stream, "%-12s%s%s%s\n", "written", s->path, s->rows ? ", rows in " : "", s->rows ? s->rows : "");
}

static json_t *interval(struct fc_interval v)
{
    return json_pack("{s:o, s:o, s:o}", "value", fc_json_real(v.value), "low", fc_json_real(v.low), "high",
                     fc_json_real(v.high));
}

static json_t *to_json(const struct site *s)
{
    json_t *links = json_object();
    json_t *json =
        json_pack("{s:i, s:i, s:b, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:s?, s:s?}", "ranks", (int)s->measured.n_ranks,
                  "nodes", (int)s->measured.n_nodes, "one_host", s->measured.one_host, "eager_bytes",
                  fc_json_real(s->measured.eager_bytes), "eager_is_bound", s->measured.eager_is_bound,
                  "node_bytes_per_s", fc_json_real(1 / s->fit.node_s_per_byte), "far_latency_s",
                  fc_json_real(s->fit.far_latency_s), "across", fc_json_real(s->fit.across), "off_percent",
                  fc_json_real(s->fit.off_percent), "links", links, "machine_file", s->path, "rows_file", s->rows);
    for (int i = 0; i < FC_NUMBERS; i++) json_object_set_new(json, names[i], interval(s->fit.number[i]));
    for (int c = 0; s->net && c < s->net->machine->n_classes; c++) {
        const struct fc_measured_class *l = &s->links.class[c];
        json_object_set_new(links, s->net->machine->classes[c].name,
                            json_pack("{s:o, s:b, s:o}", "bytes_per_s", fc_json_real(l->bytes_per_s), "binds", l->binds,
                                      "latency_s", fc_json_real(l->latency_s)));
    }
    return json;
}

/* ---- from rows to the machine ---- */

static enum fc_code answer(const struct fc_arguments *arguments, struct site *s, struct fc_status *st)
{
    struct fc_session session;
    struct fc_arguments shown = *arguments;
    if (fc_measurement_solve(&s->measured, &s->fit, st)) return st->code;
    if (arguments->ask.machine && fc_open_machine(arguments, arguments->ask.machine, &session, st)) return st->code;
    if (arguments->ask.machine) {
        s->net = &session.net;
        fc_measurement_links(&s->measured, &s->fit, &session.net, &s->links, st);
    }
    if (!st->code && (!s->path || !fc_measurement_write(&s->measured, &s->fit, s->net ? &s->links : NULL, s->net,
                                                        &arguments->ask, s->path, st))) {
        shown.output = NULL;
        fc_deliver(&shown, arguments->json ? to_json(s) : NULL, print, s, st);
    }
    if (s->net) fc_session_close(&session);
    return st->code;
}

/* Runs the benchmark; its rows are kept as `rows` when they are whole (NULL: not kept). */
static enum fc_code run_benchmark(const struct fc_arguments *arguments, const char *rows, struct fc_arena *arena,
                                  struct site *s, struct fc_status *st)
{
    struct fc_unfinished *file = NULL;
    double budget_s = arguments->budget_s > 0 ? arguments->budget_s : BUDGET_S;
    const char *beside = rows ? rows : "measure.rows";
    int fd = fc_unfinished_file(beside, &file), error;
    if (fd < 0) return fc_fail(st, FC_INPUT, (struct fc_place){beside, 0}, "cannot be written: %m");
    fc_heartbeat_stop(); /* the terminal is the program's */
    if (!arguments->quiet) fc_note("measuring for some %.0f s", budget_s);
    if (!fc_measurement_run(arguments->program, arguments->mpi, budget_s, fd, st) &&
        fc_measurement_read(fc_unfinished_path(file), arena, &s->measured, st) == FC_INPUT) {
        const struct fc_status why = *st; /* of a file that is gone in a moment */
        *st = (struct fc_status){0};
        if (why.line > 0)
            fc_refuse(st, FC_NO, "what the benchmark printed, line %ld: %.900s; nothing is written", why.line,
                      why.message);
        else
            fc_refuse(st, FC_NO, "what the benchmark printed %.900s; nothing is written", why.message);
    }
    s->measured.file = rows ? rows : "what the benchmark printed";
    close(fd);
    if (!st->code && rows && (error = fc_unfinished_publish(&file, rows)))
        fc_fail(st, FC_NO, (struct fc_place){rows, 0}, "cannot be written: %s", strerror(error));
    fc_unfinished_remove(&file);
    return st->code;
}

/* Before minutes of measuring: the machine can be read, and takes numbers of all its nodes. */
static enum fc_code check_machine(const struct fc_arguments *arguments, struct fc_status *st)
{
    FC_SCOPED(fc_session_close) struct fc_session session = {0};
    if (!arguments->ask.machine || fc_session_open(&arguments->ask, arguments->ask.machine, &session, st))
        return st->code;
    return fc_session_only_alike(&session, "measure", st);
}

enum fc_code fc_measure_site(const struct fc_arguments *arguments, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct site s = {.path = arguments->output};
    char rows[4096];
    if (check_machine(arguments, st)) return st->code;
    if (!arguments->program) {
        if (arguments->n_words != 1)
            fc_refuse(st, FC_INPUT,
                      "--from fabricast reads one file (expected what fabricast-measure-openmpi or -mpich printed)");
        else if (!fc_measurement_read(arguments->words[0], &arena, &s.measured, st))
            answer(arguments, &s, st);
    } else if (arguments->n_words) {
        fc_refuse(st, FC_INPUT, "'%s': files are read, or a benchmark is run (leave one of them out)",
                  arguments->words[0]);
    } else {
        if (s.path && strcmp(s.path, "-")) {
            if (snprintf(rows, sizeof rows, "%s.rows", s.path) >= (int)sizeof rows)
                fc_refuse(st, FC_INPUT, "-o: the path is too long");
            s.rows = rows;
        }
        if (!st->code && !run_benchmark(arguments, s.rows, &arena, &s, st)) answer(arguments, &s, st);
    }
    return st->code;
}
