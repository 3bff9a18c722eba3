/* trace_info.c - `trace info`: what is in a trace, counted in one pass, and with --phases its phases. */
#include "cli/arguments.h"
#include "cli/phases.h"
#include "cli/print.h"
#include "cli/trace_info.h"
#include "traces/trace_census.h"

typedef unsigned long long count; /* as printf takes it */

struct info {
    const struct fc_trace *trace;
    struct fc_trace_census census;
    struct fc_period period;
    const struct fc_job_phases *phases; /* NULL: not asked for */
    struct fc_table rows;
};

/* ---- for people ---- */

/* "0", "1", "2 .. <4", "512 .. <1Ki". */
static const char *class_name(char *out, size_t size, int k)
{
    static const char *const unit[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    int from = k - 1;
    if (k < 2)
        snprintf(out, size, "%d", k);
    else if (k == 64)
        snprintf(out, size, "from 8Ei");
    else
        snprintf(out, size, "%d%s .. <%d%s", 1 << from % 10, unit[from / 10], 1 << k % 10, unit[k / 10]);
    return out;
}

static void print_sizes(FILE *stream, const struct fc_trace_census *c)
{
    char a[64], b[64];
    fprintf(stream, "\n%-16s %10s %12s %16s\n", "bytes", "messages", "volume", "collective calls");
    for (int k = 0; k < FC_SIZE_CLASSES; k++)
        if (c->messages[k] || c->calls[k])
            fprintf(stream, "%-16s %10llu %12s %16llu\n", class_name(a, sizeof a, k), (count)c->messages[k],
                    fc_format(b, sizeof b, c->message_bytes[k], FC_BYTES), (count)c->calls[k]);
}

static void print_partners(FILE *stream, const struct fc_trace_census *c)
{
    char a[64];
    fprintf(stream, "\n%-16s %10s   (at most %u)\n", "sends to", "ranks", c->most_partners);
    for (int k = 0; k < FC_SIZE_CLASSES; k++)
        if (c->partners[k]) fprintf(stream, "%-16s %10llu\n", class_name(a, sizeof a, k), (count)c->partners[k]);
}

/* What keeps the trace from being a whole run. */
static void print_balance(FILE *stream, const struct fc_trace_census *c)
{
    bool whole = !c->unmatched_sends && !c->unmatched_receives && !c->other_tags && !c->open_requests && !c->wildcards;
    if (whole) fprintf(stream, "balance      every message has a sender and a receiver, every request is waited for\n");
    if (c->unmatched_sends || c->unmatched_receives)
        fprintf(stream,
                "unmatched    sends without a receive: %llu, receives without a send: %llu (by pair of ranks)\n",
                (count)c->unmatched_sends, (count)c->unmatched_receives);
    if (c->other_tags)
        fprintf(stream, "unmatched    pairs of ranks whose ends differ in tags or communicators: %llu\n",
                (count)c->other_tags);
    if (c->open_requests)
        fprintf(stream, "unmatched    requests that are never waited for: %llu\n", (count)c->open_requests);
    if (c->wildcards)
        fprintf(stream, "wildcards    receives that do not tell their source or tag: %llu\n", (count)c->wildcards);
}

static void print_period(FILE *stream, const struct fc_period *p)
{
    if (!p->repeats) {
        fprintf(stream, "period       none: %s\n", p->why);
        return;
    }
    fprintf(stream, "period       repeats %llu times, period of %llu", (count)p->repeats, (count)p->least_calls);
    if (p->most_calls != p->least_calls) fprintf(stream, " to %llu", (count)p->most_calls);
    fprintf(stream, " events a rank, %.1f %% of all\n", 100 * p->covers);
}

static void print_head(FILE *stream, const struct info *i)
{
    const struct fc_trace *t = i->trace;
    const struct fc_trace_census *c = &i->census;
    const struct fc_trace_summary *s = &c->totals;
    char a[64], b[64];
    fprintf(stream, "trace        %s%s\n", t->file, t->graph ? " (a graph of dependencies)" : "");
    fprintf(stream, "program      %s\n", t->program ? t->program : "unknown");
    fprintf(stream, "recorded     %s\n", t->recorded ? t->recorded : "unknown");
    fprintf(stream, "ranks        %u, communicators %u", t->n_ranks, t->n_comms);
    if (c->n_sub_comms) fprintf(stream, " (%llu of some ranks)", (count)c->n_sub_comms);
    fprintf(stream, "\nevents       %llu, messages %llu, collective calls %llu", (count)s->n_events,
            (count)s->n_messages, (count)s->n_collectives);
    if (c->n_sub_comms) fprintf(stream, " (%llu on some ranks)", (count)c->n_sub_calls);
    fprintf(stream, ", failed polls %llu\n", (count)s->n_polls);
    fprintf(stream, "volume       point-to-point %s over %llu pairs, collectives %s\n",
            fc_format(a, sizeof a, s->p2p_bytes, FC_BYTES), (count)s->n_pairs,
            fc_format(b, sizeof b, s->collective_bytes, FC_BYTES));
    fprintf(stream, "time         span %s", fc_format(a, sizeof a, s->span_s, FC_SECONDS));
    fprintf(stream, "; a rank on average: %s CPU between calls,", fc_format(a, sizeof a, s->compute_s, FC_SECONDS));
    fprintf(stream, " %s inside MPI (wall, as recorded)\n", fc_format(a, sizeof a, s->mpi_s, FC_SECONDS));
    if (t->assumed_flops_per_s > 0)
        fprintf(stream, "assumed      %g operations/s: the trace counts operations and does not tell (--flops-per-s)\n",
                t->assumed_flops_per_s);
    if (!isnan(c->computation_share)) fprintf(stream, "computation  %.1f %% of the time\n", 100 * c->computation_share);
    print_balance(stream, c);
    print_period(stream, &i->period);
}

static void print_info(FILE *stream, const void *what)
{
    const struct info *i = what;
    const struct fc_trace *t = i->trace;
    const struct fc_trace_summary *s = &i->census.totals;
    char a[64];
    print_head(stream, i);
    fprintf(stream, "\n%-16s %10s %12s\n", "call", "count", "bytes");
    for (int op = 0; op < FC_N_OPS; op++)
        if (s->op_count[op])
            fprintf(stream, "%-16s %10llu %12s\n", fc_op_names[op], (count)s->op_count[op],
                    fc_format(a, sizeof a, s->op_bytes[op], FC_BYTES));
    if (s->n_messages || s->n_collectives) print_sizes(stream, &i->census);
    if (s->n_messages) print_partners(stream, &i->census);
    if (t->n_unwrapped)
        fprintf(stream, "\nnot recorded, or not fully (names of functions: the program can call them):\n");
    for (uint32_t u = 0; u < t->n_unwrapped; u++) fprintf(stream, "  %s\n", t->unwrapped[u]);
    if (!i->phases) return;
    count n = i->phases->n_phases, kinds = i->phases->n_kinds;
    fprintf(stream, "\n%llu phase%s of %llu kind%s, collectives expanded\n", n, n > 1 ? "s" : "", kinds,
            kinds > 1 ? "s" : "");
    fc_table_print(&i->rows, stream);
}

/* ---- JSON ---- */

/* Classes that are not empty: {"from": 1024, "to": 2047, NAME: ..., ...}. */
static json_t *class_json(int k)
{
    double from = k ? ldexp(1, k - 1) : 0, to = k ? ldexp(1, k) - 1 : 0;
    return json_pack("{s:o, s:o}", "from", fc_json_real(from), "to", fc_json_real(to));
}

static void add_histograms(json_t *json, const struct fc_trace_census *c)
{
    json_t *sizes = json_array(), *partners = json_array();
    for (int k = 0; k < FC_SIZE_CLASSES; k++) {
        if (c->messages[k] || c->calls[k]) {
            json_t *row = class_json(k);
            json_object_set_new(row, "messages", json_integer((json_int_t)c->messages[k]));
            json_object_set_new(row, "message_bytes", fc_json_real(c->message_bytes[k]));
            json_object_set_new(row, "collective_calls", json_integer((json_int_t)c->calls[k]));
            json_array_append_new(sizes, row);
        }
        if (c->partners[k]) {
            json_t *row = class_json(k);
            json_object_set_new(row, "ranks", json_integer((json_int_t)c->partners[k]));
            json_array_append_new(partners, row);
        }
    }
    json_object_set_new(json, "sizes", sizes);
    json_object_set_new(json, "partners", partners);
}

static json_t *info_json(const struct info *i)
{
    const struct fc_trace_census *c = &i->census;
    const struct fc_trace_summary *s = &c->totals;
    json_t *calls = json_object(), *unwrapped = json_array();
    for (int op = 0; op < FC_N_OPS; op++)
        if (s->op_count[op])
            json_object_set_new(
                calls, fc_op_names[op],
                json_pack("{s:I, s:o}", "count", (json_int_t)s->op_count[op], "bytes", fc_json_real(s->op_bytes[op])));
    for (uint32_t u = 0; u < i->trace->n_unwrapped; u++)
        json_array_append_new(unwrapped, json_string(i->trace->unwrapped[u]));
    json_t *json =
        json_pack("{s:s, s:s?, s:s?, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "trace",
                  i->trace->file, "program", i->trace->program, "recorded", i->trace->recorded, "ranks",
                  (json_int_t)i->trace->n_ranks, "communicators", (json_int_t)i->trace->n_comms, "events",
                  (json_int_t)s->n_events, "messages", (json_int_t)s->n_messages, "collective_calls",
                  (json_int_t)s->n_collectives, "failed_polls", (json_int_t)s->n_polls, "p2p_bytes",
                  fc_json_real(s->p2p_bytes), "collective_bytes", fc_json_real(s->collective_bytes), "pairs",
                  (json_int_t)s->n_pairs, "span_s", fc_json_real(s->span_s), "compute_s", fc_json_real(s->compute_s),
                  "mpi_s", fc_json_real(s->mpi_s), "calls", calls, "unwrapped", unwrapped);
    json_object_set_new(json, "assumed_flops_per_s",
                        i->trace->assumed_flops_per_s > 0 ? json_real(i->trace->assumed_flops_per_s) : json_null());
    json_object_set_new(json, "graph", json_boolean(i->trace->graph));
    json_object_set_new(json, "computation_share", fc_json_real(c->computation_share));
    json_object_set_new(json, "sub_communicators", json_integer((json_int_t)c->n_sub_comms));
    json_object_set_new(json, "sub_communicator_calls", json_integer((json_int_t)c->n_sub_calls));
    json_object_set_new(json, "unmatched_sends", json_integer((json_int_t)c->unmatched_sends));
    json_object_set_new(json, "unmatched_receives", json_integer((json_int_t)c->unmatched_receives));
    json_object_set_new(json, "pairs_of_other_tags", json_integer((json_int_t)c->other_tags));
    json_object_set_new(json, "open_requests", json_integer((json_int_t)c->open_requests));
    json_object_set_new(json, "wildcards", json_integer((json_int_t)c->wildcards));
    json_object_set_new(json, "most_partners", json_integer(c->most_partners));
    const struct fc_period *p = &i->period;
    json_object_set_new(json, "period",
                        json_pack("{s:I, s:I, s:I, s:o, s:s}", "repeats", (json_int_t)p->repeats, "least_events",
                                  (json_int_t)p->least_calls, "most_events", (json_int_t)p->most_calls,
                                  "covers_percent", fc_json_real(100 * p->covers), "why", p->why));
    add_histograms(json, c);
    return json;
}

/* ---- the command ---- */

/* The phases of a trace need it in memory. */
static enum fc_code find_phases(const struct fc_arguments *a, const char *path, const struct fc_trace_options *options,
                                struct fc_job_phases *phases, struct fc_status *st)
{
    FC_SCOPED(fc_trace_free) struct fc_trace trace = {0};
    struct fc_collective_choice choice;
    if (fc_trace_read_with(path, options, &trace, st)) return st->code;
    if (!fc_read_collectives(&a->ask, trace.recorded, &choice, st)) fc_job_phases_find_by(&trace, &choice, phases, st);
    return st->code;
}

enum fc_code fc_trace_info(const struct fc_arguments *a, struct fc_status *st)
{
    const char *path = a->n_words > 1 ? a->words[1] : a->ask.trace;
    FC_SCOPED(fc_source_close) struct fc_trace_source source = {0};
    struct fc_job_phases phases = {0};
    struct info i = {.phases = a->phases ? &phases : NULL};
    struct fc_trace_options options;
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    if (!path) return fc_refuse(st, FC_INPUT, "no trace (expected `trace %s FILE`)", a->words[0]);
    if (fc_trace_options_of(&a->ask, &arena, &options, st) || fc_source_open(path, &options, &source, st))
        return st->code;
    i.trace = source.head;
    if (!fc_check_speeds(&a->ask, i.trace, st) && !fc_trace_count_periods(&source, &i.census, &i.period, st) &&
        (!a->phases ||
         (!find_phases(a, path, &options, &phases, st) && !fc_table_phases(&phases, &phases.arena, &i.rows, st)))) {
        json_t *json = a->json ? info_json(&i) : NULL;
        if (json && a->phases) json_object_set_new(json, "phases", fc_json_phases(&phases));
        fc_deliver(a, json, print_info, &i, st);
    }
    fc_period_free(&i.period);
    fc_table_free(&i.rows);
    fc_job_phases_free(&phases);
    return st->code;
}
