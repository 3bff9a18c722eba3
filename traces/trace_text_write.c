/* trace_text_write.c - writes the readable form of a trace: one line an event (grammar: docs/trace-format.md). */
#include "traces/trace_format.h"
#include "traces/trace_source.h"

#include <inttypes.h>

static void write_time(FILE *out, double seconds)
{
    int64_t ns = fc_to_ns(seconds);
    fprintf(out, " %" PRId64 ".%09" PRId64, ns / 1000000000, ns % 1000000000);
}

/* Requests with runs as ranges; sizes one by one. */
static void write_list(FILE *out, const struct fc_event *e, const int64_t *list)
{
    bool ranges = fc_op_fields[e->op] & FC_HAS_REQUESTS;
    if (e->n_list == 0) return;
    fputs(ranges ? " requests=" : " sizes=", out);
    for (uint32_t i = 0; i < e->n_list;) {
        uint32_t last = i;
        while (ranges && last + 1 < e->n_list && list[last + 1] == list[last] + 1) last++;
        fprintf(out, i ? ",%" PRId64 : "%" PRId64, list[i]);
        if (last > i) fprintf(out, "-%" PRId64, list[last]);
        i = last + 1;
    }
}

/* What must have finished, then what must have started. */
static void write_vertex(FILE *out, const struct fc_event *e, const int64_t *list)
{
    for (int started = 0; started < 2; started++) {
        const char *before = started ? " started=" : " after=";
        for (uint32_t i = 0; i < e->n_list; i++) {
            if ((list[i] < 0) != started) continue;
            fprintf(out, "%s%" PRId64, before, started ? ~list[i] : list[i]);
            before = ",";
        }
    }
    if (e->request) fprintf(out, " cpu=%" PRId32, e->request);
    if (e->polls) fprintf(out, " nic=%d", e->polls);
}

/* A peer or tag; FC_ANY of a receive as a word. */
static void write_match(FILE *out, const char *key, const struct fc_event *e, int32_t value)
{
    if (value == FC_ANY && (e->op == FC_OP_RECV || e->op == FC_OP_IRECV))
        fprintf(out, " %s=any", key);
    else
        fprintf(out, " %s=%" PRId32, key, value);
}

void fc_write_event_text(FILE *out, const struct fc_event *e, const int64_t *list, bool graph)
{
    int fields = fc_event_fields(graph, e->op);
    fputs(fc_op_names[e->op], out);
    write_time(out, e->enter_s);
    write_time(out, e->leave_s);
    write_time(out, e->compute_s);
    if (e->mode || (fields & FC_MOVES)) fprintf(out, " mode=%s", fc_mode_name(e->op, e->mode));
    if (fields & FC_HAS_COMM) fprintf(out, " comm=%" PRId32, e->comm);
    if (fields & FC_HAS_PEER) write_match(out, "peer", e, e->peer);
    if (fields & FC_HAS_ROOT) fprintf(out, " root=%" PRId32, e->peer);
    if (fields & FC_HAS_PARENT) fprintf(out, " parent=%" PRId32, e->peer);
    if (fields & FC_HAS_TAG) write_match(out, "tag", e, e->tag);
    if (fields & FC_HAS_BYTES) fprintf(out, " bytes=%" PRId64, e->bytes);
    if (graph) {
        write_vertex(out, e, list);
    } else {
        if (fc_makes_request(e->op, e->mode)) fprintf(out, " request=%" PRId32, e->request);
        write_list(out, e, list);
        if (e->polls) fprintf(out, " polls=%d", e->polls);
    }
    fputc('\n', out);
}

enum fc_code fc_write_trace_text(const struct fc_trace *trace, FILE *out, struct fc_status *st)
{
    (void)st; /* the stream's errors are found when it is closed */
    fc_write_head(out, trace);
    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        uint64_t first = trace->first_event[r], end = trace->first_event[r + 1];
        fprintf(out, "rank %" PRIu32 " %" PRIu64 "\n", r, end - first);
        for (uint64_t e = first; e < end; e++)
            fc_write_event_text(out, &trace->events[e], fc_event_list(trace->lists, &trace->events[e]), trace->graph);
    }
    fputs("end\n", out);
    return FC_OK;
}
