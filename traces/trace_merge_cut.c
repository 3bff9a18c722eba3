/* trace_merge_cut.c - recordings that broke off (a rank was killed or aborted) end at one moment.
 *
 * What stays is every call that began before the moment T, when the first of the broken recordings ends. A
 * message received before T was sent by a call that began before T, and a rank whose recording goes on to T
 * has recorded every call that began before T: so no receive that stays lacks its send. Collectives let some
 * members leave before others come: a call that not all members of its communicator have made moves T back to
 * its own beginning, until there is none. A wait or receive that had not left at T keeps only its time. A
 * send whose receive is not there may have left since it was small; on another machine it might not, so it
 * stays as one that nobody waits for; so does a receive whose sender, a thread among several, was still in
 * its call. Limits: exact where the ranks share a clock; with several hosts as good as theirs are, and the
 * replay names what then is left over. */
#include "traces/trace_merge.h"

#include <inttypes.h>
#include <stdlib.h>

/* The communicator, by its common number, over which the call is collective; -1: none. */
static int32_t collective_over(const struct fc_rank_file *file, const struct fc_raw_event *raw)
{
    int32_t own = raw->kind == FC_OP_COMM ? raw->peer : raw->comm;
    bool collective = raw->kind == FC_OP_COMM || (raw->kind >= FC_OP_BARRIER && raw->kind <= FC_OP_SCAN);
    return collective && own >= 0 && (uint32_t)own < file->n_comms ? file->comm[own] : -1;
}

static void set_cut(struct fc_merger *m, int64_t moment_ns)
{
    for (uint32_t r = 0; r < m->trace->n_ranks; r++) m->rank[r].cut_ns = moment_ns - m->rank[r].clock_ns;
}

/* Counts the collective calls of a rank that stay, by communicator. */
static void count_calls(struct fc_rank_file *file, uint64_t *calls)
{
    const int64_t *words;
    fc_rewind_file(file);
    for (const struct fc_raw_event *raw; (raw = fc_next_record(file, &words));) {
        int32_t over = fc_is_kept(file, raw) ? collective_over(file, raw) : -1;
        if (over >= 0) calls[over]++;
    }
}

/* least[c]: the collective calls on communicator c that all its members have made. */
static void find_least(struct fc_merger *m, uint64_t *calls, uint64_t *least, uint64_t *members)
{
    for (uint32_t c = 0; c < m->n_comms; c++) least[c] = UINT64_MAX, members[c] = 0;
    for (uint32_t r = 0; r < m->trace->n_ranks; r++) {
        struct fc_rank_file *file = &m->rank[r];
        for (uint32_t k = 0; k < file->n_comms; k++)
            if (file->comm[k] >= 0) calls[file->comm[k]] = 0;
        count_calls(file, calls);
        for (uint32_t k = 0; k < file->n_comms; k++) {
            int32_t c = file->comm[k];
            if (c < 0) continue;
            members[c]++;
            if (calls[c] < least[c]) least[c] = calls[c];
        }
    }
    for (uint32_t c = 0; c < m->n_comms; c++) /* a member that has not come to make it */
        if (members[c] < m->known[m->by_number[c]].size) least[c] = 0;
}

/* The earliest beginning of a call that not all members have made; INT64_MAX: none. */
static int64_t first_excess(struct fc_merger *m, uint64_t *calls, const uint64_t *least)
{
    int64_t first_ns = INT64_MAX;
    const int64_t *words;
    for (uint32_t r = 0; r < m->trace->n_ranks; r++) {
        struct fc_rank_file *file = &m->rank[r];
        for (uint32_t k = 0; k < file->n_comms; k++)
            if (file->comm[k] >= 0) calls[file->comm[k]] = 0;
        fc_rewind_file(file);
        for (const struct fc_raw_event *raw; (raw = fc_next_record(file, &words));) {
            int32_t over = fc_is_kept(file, raw) ? collective_over(file, raw) : -1;
            if (over < 0 || ++calls[over] <= least[over]) continue;
            if (raw->enter_ns + file->clock_ns < first_ns) first_ns = raw->enter_ns + file->clock_ns;
        }
    }
    return first_ns;
}

/* Numbers of what stays, and of communicators whose members nobody told: those have no place in a trace. */
static void recount(struct fc_merger *m)
{
    const int64_t *words;
    for (uint32_t r = 0; r < m->trace->n_ranks; r++) {
        struct fc_rank_file *file = &m->rank[r];
        file->n_events = file->n_words = 0;
        fc_rewind_file(file);
        for (const struct fc_raw_event *raw; (raw = fc_next_record(file, &words));)
            if (fc_is_kept(file, raw)) file->n_events++, file->n_words += raw->n_words;
    }
}

static enum fc_code drop_untold(struct fc_merger *m)
{
    int32_t *number = fc_alloc(m->scratch, m->n_comms, sizeof *number, m->st);
    uint32_t kept = 0;
    if (!number) return FC_NO;
    for (uint32_t c = 0; c < m->n_comms; c++) {
        number[c] = m->known[m->by_number[c]].member ? (int32_t)kept : -1;
        if (number[c] >= 0) m->by_number[kept++] = m->by_number[c];
    }
    for (uint32_t r = 0; r < m->trace->n_ranks; r++)
        for (uint32_t k = 0; k < m->rank[r].n_comms; k++)
            if (m->rank[r].comm[k] >= 0) m->rank[r].comm[k] = number[m->rank[r].comm[k]];
    m->n_comms = kept;
    return FC_OK;
}

enum fc_code fc_merge_cut(struct fc_merger *m)
{
    uint64_t *calls = fc_alloc(m->scratch, m->n_comms, sizeof *calls, m->st);
    uint64_t *least = fc_alloc(m->scratch, m->n_comms, sizeof *least, m->st);
    uint64_t *members = fc_alloc(m->scratch, m->n_comms, sizeof *members, m->st);
    if (!calls || !least || !members) return FC_NO;
    int64_t moment_ns = INT64_MAX;
    for (uint32_t r = 0; r < m->trace->n_ranks; r++) {
        const struct fc_rank_file *file = &m->rank[r];
        if (!file->whole && file->n_all_events == 0)
            return fc_refuse(m->st, FC_NO, "rank %" PRIu32 " recorded no call before it ended", r);
        if (!file->whole && file->last_ns + file->clock_ns < moment_ns) moment_ns = file->last_ns + file->clock_ns;
    }
    for (int64_t excess_ns = moment_ns; excess_ns != INT64_MAX;) {
        moment_ns = excess_ns;
        set_cut(m, moment_ns);
        find_least(m, calls, least, members);
        excess_ns = first_excess(m, calls, least);
    }
    recount(m);
    if (drop_untold(m)) return m->st->code;
    return fc_names_add(&m->notes, "(the program broke off: what all ranks did until then)", &m->trace->arena, m->st);
}

void fc_merge_only_time(struct fc_event *e)
{
    *e = (struct fc_event){.op = FC_OP_OTHER,
                           .polls = e->polls,
                           .peer = -1,
                           .request = -1,
                           .enter_s = e->enter_s,
                           .leave_s = e->leave_s,
                           .compute_s = e->compute_s};
}

void fc_merge_shorten(const struct fc_rank_file *file, const struct fc_raw_event *raw, struct fc_event *e)
{
    e->leave_s = e->enter_s + fc_from_ns(file->cut_ns - raw->enter_ns);
    if (e->op == FC_OP_WAIT || e->op == FC_OP_RECV) fc_merge_only_time(e);
}

static uint64_t list_ends(const struct fc_trace *t, struct fc_message_end *end)
{
    uint64_t n = 0;
    for (uint32_t r = 0; r < t->n_ranks; r++)
        for (uint64_t i = t->first_event[r]; i < t->first_event[r + 1]; i++) {
            const struct fc_event *e = &t->events[i];
            bool sends = e->op == FC_OP_SEND || e->op == FC_OP_ISEND;
            if (!sends && e->op != FC_OP_RECV && e->op != FC_OP_IRECV) continue;
            int32_t rank = (int32_t)r;
            end[n++] =
                (struct fc_message_end){e->comm, sends ? rank : e->peer, sends ? e->peer : rank, e->tag, !sends, i};
        }
    return n;
}

/* lone[i]: event i is a send or receive without its other end in the trace. */
static void find_lone(struct fc_message_end *end, uint64_t n, bool *lone)
{
    qsort(end, n, sizeof *end, fc_by_channel);
    for (uint64_t i = 0, next; i < n; i = next) {
        uint64_t receives = 0, pairs;
        for (next = i; next < n && fc_same_channel(&end[i], &end[next]); next++) receives += end[next].receives;
        pairs = receives < next - i - receives ? receives : next - i - receives;
        for (uint64_t k = i; k < next; k++)
            lone[end[k].at] = end[k].receives ? k - i >= pairs : k - i - receives >= pairs;
    }
}

/* A rank's lone messages are nonblocking ones that nobody waits for; dropped[] is by request. */
static void release(struct fc_trace *t, uint32_t r, const bool *lone, bool *dropped, int64_t *number)
{
    uint64_t first = t->first_event[r], n = t->first_event[r + 1] - first;
    int32_t n_requests = 0;
    for (uint64_t i = first; i < first + n; i++) {
        struct fc_event *e = &t->events[i];
        if (e->op == FC_OP_WAIT || e->request < 0) continue;
        dropped[e->request] = lone[i];
        if (e->request >= n_requests) n_requests = e->request + 1;
    }
    for (uint64_t i = first; i < first + n; i++) {
        struct fc_event *e = &t->events[i];
        uint32_t kept = 0;
        for (uint32_t k = 0; e->op == FC_OP_WAIT && k < e->n_list; k++)
            if (!dropped[t->lists[e->list + k]]) t->lists[e->list + kept++] = t->lists[e->list + k];
        if (e->op == FC_OP_WAIT) e->n_list = kept;
        if (!lone[i] || (e->op != FC_OP_SEND && e->op != FC_OP_RECV)) continue;
        e->op = e->op == FC_OP_SEND ? FC_OP_ISEND : FC_OP_IRECV;
        e->request = n_requests++;
    }
    fc_merge_renumber(t, &t->events[first], n, number);
}

enum fc_code fc_merge_release_lone(struct fc_trace *t, struct fc_arena *scratch, struct fc_status *st)
{
    uint64_t n = t->first_event[t->n_ranks];
    struct fc_message_end *end = fc_alloc(scratch, n, sizeof *end, st);
    bool *lone = fc_alloc(scratch, n, sizeof *lone, st), *dropped = fc_alloc(scratch, n, sizeof *dropped, st);
    int64_t *number = fc_alloc(scratch, n, sizeof *number, st);
    if (!end || !lone || !dropped || !number) return FC_NO;
    find_lone(end, list_ends(t, end), lone);
    for (uint32_t r = 0; r < t->n_ranks; r++) release(t, r, lone, dropped, number);
    return FC_OK;
}
