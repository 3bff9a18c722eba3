/* trace_merge.c - the files of the ranks (pmpi_raw.h) become one trace.
 *
 * Communicators: trace_merge_comm.c. Requests: a receive gets what its completion saw; one
 * that was cancelled or never completed moved nothing, so it stays only as time; the others are numbered
 * anew. Clocks: ranks on one host share the monotonic clock; with several hosts the real-time offset at start
 * joins them, and is as good as the hosts' clocks are. Time 0 is when the first rank enters MPI_Init.
 * Recordings that broke off: trace_merge_cut.c. */
#include "traces/trace_merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A SEND may name the request of another record. */
static bool makes_request(const struct fc_raw_event *raw)
{
    return raw->request >= 0 && raw->kind != FC_OP_SEND;
}

/* First walk: sizes. */
static enum fc_code count_records(struct fc_merger *m, struct fc_rank_file *file)
{
    const int64_t *words;
    for (const struct fc_raw_event *r; (r = fc_next_record(file, &words));) {
        if (r->kind == FC_RAW_END) file->whole = true;
        if (r->kind == FC_RAW_COMM) file->n_comms++;
        if (r->kind < FC_N_OPS) {
            file->n_events++;
            file->n_words += r->n_words;
            file->n_splits += file->head->threads && fc_merge_splits(r);
            if (r->leave_ns > file->last_ns) file->last_ns = r->leave_ns;
            if (makes_request(r) && (uint64_t)r->request >= file->n_requests)
                file->n_requests = (uint64_t)r->request + 1;
        }
        if ((r->kind == FC_RAW_OBJECT && fc_names_add(m->objects, (const char *)words, m->scratch, m->st)) ||
            (r->kind == FC_RAW_NOTE && fc_names_add(&m->notes, (const char *)words, &m->trace->arena, m->st)))
            return FC_NO;
    }
    file->n_all_events = file->n_events;
    file->cut_ns = INT64_MAX;
    if (!file->whole) m->cut = true;
    if ((!file->whole && !m->partial) || file->at != file->end)
        return fc_refuse(m->st, FC_NO,
                         "the recording of rank %" PRId32 " is not whole (was the rank killed, or the "
                         "disk full?)",
                         file->head->rank);
    return FC_OK;
}

static enum fc_code open_rank(struct fc_merger *m, const char *directory, uint32_t rank)
{
    struct fc_rank_file *file = &m->rank[rank];
    char path[1024];
    struct fc_text text;
    struct fc_status why = {0};
    snprintf(path, sizeof path, "%s/%" PRIu32, directory, rank);
    enum fc_code code = fc_read_file(path, m->scratch, &text, &why);
    if (code)
        return fc_refuse(m->st, FC_NO,
                         "rank %" PRIu32 " left no recording (%s; do all hosts get LD_PRELOAD and " FC_RAW_DIRECTORY
                         ", and share the output's directory?)",
                         rank, why.message);
    file->head = (const struct fc_raw_head *)(const void *)text.data;
    file->end = text.data + text.size;
    if (text.size < sizeof *file->head || memcmp(file->head->magic, FC_RAW_MAGIC, sizeof file->head->magic) != 0 ||
        file->head->rank != (int32_t)rank || file->head->size < sizeof *file->head || file->head->size > text.size)
        return fc_refuse(m->st, FC_NO, "the recording of rank %" PRIu32 " is not whole (was the disk full?)", rank);
    file->end = text.data + file->head->size;
    fc_rewind_file(file);
    return count_records(m, file);
}

/* ---- events ---- */

/* What becomes of a raw request. */
struct request {
    uint64_t event; /* that made it */
    int how;        /* enum fc_raw_how; -1: not completed */
    int64_t number; /* in the trace; -1: dropped */
};

static int32_t common_comm(const struct fc_rank_file *file, int32_t own)
{
    return own >= 0 && (uint32_t)own < file->n_comms ? file->comm[own] : -1;
}

static double seconds(const struct fc_rank_file *file, int64_t ns, int64_t base_ns)
{
    return fc_from_ns(ns + file->clock_ns - base_ns);
}

/* A record as an event, its request still the rank's own number. */
static void convert(const struct fc_rank_file *file, const struct fc_raw_event *raw, int64_t base_ns,
                    struct fc_event *e)
{
    int fields = fc_op_fields[raw->kind];
    *e = (struct fc_event){.op = raw->kind,
                           .mode = raw->mode,
                           .polls = raw->polls,
                           .peer = raw->peer,
                           .request = -1,
                           .tag = raw->tag,
                           .bytes = raw->bytes,
                           .enter_s = seconds(file, raw->enter_ns, base_ns),
                           .leave_s = seconds(file, raw->leave_ns, base_ns),
                           .compute_s = fc_from_ns(raw->compute_ns > 0 ? raw->compute_ns : 0)};
    if (fields & FC_HAS_COMM) e->comm = common_comm(file, raw->comm);
    if (fields & FC_HAS_PARENT) e->peer = common_comm(file, raw->peer);
    if ((e->op == FC_OP_COMM ? e->peer : e->comm) < 0) fc_merge_only_time(e);
}

/* Notes what the completions of a wait saw. */
static void note_completions(const int64_t *words, uint64_t n_words, struct request *requests, uint64_t n_requests,
                             struct fc_event *events)
{
    for (uint64_t i = 0; i + FC_DONE_WORDS <= n_words; i += FC_DONE_WORDS) {
        const int64_t *done = words + i;
        if (done[FC_DONE_REQUEST] < 0 || (uint64_t)done[FC_DONE_REQUEST] >= n_requests) continue;
        struct request *r = &requests[done[FC_DONE_REQUEST]];
        r->how = (int)done[FC_DONE_HOW];
        if (r->event == UINT64_MAX || r->how != FC_HOW_RECEIVED) continue;
        struct fc_event *e = &events[r->event];
        e->peer = (int32_t)done[FC_DONE_SOURCE];
        e->tag = (int32_t)done[FC_DONE_TAG];
        e->bytes = done[FC_DONE_BYTES];
    }
}

/* Does the call that made the request stay a message? */
static bool stays(const struct fc_merger *m, const struct fc_event *e, int how)
{
    if (e->op != FC_OP_IRECV) return how != FC_HOW_CANCELLED;
    bool open = m->cut && how == -1; /* the program broke off before it came */
    return (how == FC_HOW_RECEIVED || how == FC_HOW_FREED || open) && e->peer >= 0 && e->tag >= 0;
}

/* Numbers the requests that stay, in the order in which they were made. */
static enum fc_code number_requests(struct fc_merger *m, const struct fc_rank_file *file, struct request *requests,
                                    struct fc_event *events)
{
    int64_t next = 0;
    for (uint64_t i = 0; i < file->n_requests; i++) {
        struct request *r = &requests[i];
        r->number = -1;
        if (r->event == UINT64_MAX) continue;
        struct fc_event *e = &events[r->event];
        if (!fc_makes_request(e->op, e->mode)) continue; /* its communicator cannot be held */
        if (stays(m, e, r->how)) {
            r->number = next++;
            if (next > INT32_MAX)
                return fc_refuse(m->st, FC_NO, "rank %" PRId32 " made more than %d requests", file->head->rank,
                                 INT32_MAX);
            e->request = (int32_t)r->number;
            continue;
        }
        if (r->how == -1 &&
            fc_names_add(&m->notes, "(receives that never completed: left out)", &m->trace->arena, m->st))
            return FC_NO;
        if (r->how == FC_HOW_FREED &&
            fc_names_add(&m->notes, "(MPI_Request_free of a receive from any source: left out)", &m->trace->arena,
                         m->st))
            return FC_NO;
        fc_merge_only_time(e);
    }
    return FC_OK;
}

static void fill_list(struct fc_trace *t, struct fc_event *e, const int64_t *words, uint64_t n_words,
                      const struct request *requests)
{
    uint64_t step = e->op == FC_OP_WAIT ? FC_DONE_WORDS : 1;
    if (e->op != FC_OP_WAIT && e->op != FC_OP_ALLTOALLV) return;
    e->list = t->n_lists;
    for (uint64_t i = 0; i + step <= n_words; i += step) {
        int64_t value = e->op == FC_OP_WAIT ? requests[words[i]].number : words[i];
        if (value >= 0) t->lists[t->n_lists++] = value;
    }
    e->n_list = (uint32_t)(t->n_lists - e->list);
}

static enum fc_code merge_rank(struct fc_merger *m, uint32_t rank, int64_t base_ns)
{
    struct fc_trace *t = m->trace;
    struct fc_rank_file *file = &m->rank[rank];
    const int64_t *words;
    const struct fc_raw_event *raw;
    uint64_t at = t->first_event[rank];
    struct request *requests = malloc((file->n_requests + 1) * sizeof *requests);
    if (!requests) return fc_out_of_memory(m->st, "the ranks are merged");
    for (uint64_t i = 0; i < file->n_requests; i++) requests[i] = (struct request){UINT64_MAX, -1, -1};
    fc_rewind_file(file);
    while ((raw = fc_next_record(file, &words))) {
        if (!fc_is_kept(file, raw)) continue;
        convert(file, raw, base_ns, &t->events[at]);
        bool left = raw->leave_ns <= file->cut_ns;
        if (!left) fc_merge_shorten(file, raw, &t->events[at]);
        if (makes_request(raw)) requests[raw->request].event = at;
        if (left && (raw->kind == FC_OP_WAIT || raw->kind == FC_OP_OTHER))
            note_completions(words, raw->n_words, requests, file->n_requests, t->events);
        at++;
    }
    enum fc_code code = number_requests(m, file, requests, t->events);
    at = t->first_event[rank];
    fc_rewind_file(file);
    while (!code && (raw = fc_next_record(file, &words))) {
        if (!fc_is_kept(file, raw)) continue;
        struct fc_event *e = &t->events[at++];
        fill_list(t, e, words, raw->n_words, requests);
        if (file->head->threads && e->op == FC_OP_SEND && raw->request >= 0)
            e->request = (int32_t)requests[raw->request].number;
    }
    free(requests);
    t->first_event[rank + 1] = at;
    return code;
}

static void set_clocks(struct fc_merger *m)
{
    bool one_host = true;
    for (uint32_t r = 0; r < m->trace->n_ranks; r++) one_host &= m->rank[r].head->host == m->rank[0].head->host;
    for (uint32_t r = 0; r < m->trace->n_ranks; r++)
        m->rank[r].clock_ns = one_host ? 0 : m->rank[r].head->clock_offset_ns;
}

static int64_t start_ns(struct fc_merger *m)
{
    int64_t base_ns = INT64_MAX;
    const int64_t *words;
    for (uint32_t r = 0; r < m->trace->n_ranks; r++) {
        struct fc_rank_file *file = &m->rank[r];
        fc_rewind_file(file);
        for (const struct fc_raw_event *raw; (raw = fc_next_record(file, &words));)
            if (raw->kind < FC_N_OPS && raw->enter_ns + file->clock_ns < base_ns)
                base_ns = raw->enter_ns + file->clock_ns;
    }
    return base_ns;
}

static enum fc_code build_events(struct fc_merger *m)
{
    struct fc_trace *t = m->trace;
    uint64_t n_words = 0, n_events = 0;
    bool threads = false;
    t->first_event = fc_alloc(&t->arena, (size_t)t->n_ranks + 1, sizeof *t->first_event, m->st);
    t->first_line = fc_alloc(&t->arena, t->n_ranks, sizeof *t->first_line, m->st);
    if (!t->first_event || !t->first_line) return FC_NO;
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        n_events += m->rank[r].n_events;
        n_words += m->rank[r].n_words;
        threads |= m->rank[r].head->threads != 0;
    }
    struct fc_arena *arena = threads ? m->scratch : &t->arena; /* threads: these are the material only */
    t->events = fc_alloc(arena, n_events, sizeof *t->events, m->st);
    t->lists = fc_alloc(arena, n_words, sizeof *t->lists, m->st);
    if (!t->events || !t->lists) return FC_NO;
    int64_t base_ns = start_ns(m);
    for (uint32_t r = 0; r < t->n_ranks; r++)
        if (merge_rank(m, r, base_ns)) return m->st->code;
    if (threads && fc_merge_untangle(m)) return m->st->code;
    return m->cut ? fc_merge_release_lone(t, m->scratch, m->st) : FC_OK;
}

/* "Open MPI v4.1.4, ..., 16 ranks on 1 host, 2026-01-31 12:00 UTC; computation is thread CPU time" */
static enum fc_code describe(struct fc_merger *m)
{
    struct fc_trace *t = m->trace;
    char text[512], date[32] = "";
    uint32_t n_hosts = 0;
    time_t now = time(NULL);
    struct tm utc;
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        uint32_t k = 0;
        while (k < r && m->rank[k].head->host != m->rank[r].head->host) k++;
        n_hosts += k == r;
    }
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
    snprintf(text, sizeof text, "%.127s; %" PRIu32 " ranks on %" PRIu32 " host%s; %s; computation is thread CPU time",
             m->rank[0].head->library, t->n_ranks, n_hosts, n_hosts == 1 ? "" : "s", date);
    t->recorded = fc_copy_text(&t->arena, text, m->st);
    return t->recorded ? FC_OK : FC_NO;
}

enum fc_code fc_merge_ranks(const char *directory, const char *program, struct fc_trace *trace, bool partial,
                            struct fc_name_list *objects, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_merger m = {.trace = trace, .scratch = arena, .st = st, .objects = objects, .partial = partial};
    struct fc_rank_file first = {0};
    *trace = (struct fc_trace){0};
    m.rank = &first;
    enum fc_code code = open_rank(&m, directory, 0);
    if (!code) {
        trace->n_ranks = (uint32_t)first.head->n_ranks;
        m.rank = fc_alloc(arena, trace->n_ranks, sizeof *m.rank, st);
        code = m.rank ? FC_OK : FC_NO;
    }
    if (!code) m.rank[0] = first;
    for (uint32_t r = 1; !code && r < trace->n_ranks; r++) code = open_rank(&m, directory, r);
    if (!code) set_clocks(&m);
    if (!code) code = fc_merge_number_comms(&m);
    if (!code && m.cut) code = fc_merge_cut(&m);
    if (!code) code = fc_merge_build_comms(&m);
    if (!code) code = build_events(&m);
    if (!code) code = describe(&m);
    if (!code && !(trace->program = fc_copy_text(&trace->arena, program, st))) code = FC_NO;
    if (!code) {
        trace->unwrapped = m.notes.name;
        trace->n_unwrapped = m.notes.n;
        fc_set_lines(trace);
        code = fc_trace_check(trace, st);
        if (code == FC_INPUT) code = st->code = FC_FAULT; /* no user wrote this */
    }
    if (code) fc_trace_free(trace);
    return code;
}
