/* trace_merge_cut.c - recordings that broke off (a rank was killed or aborted) end at one moment.
 *
 * What stays is every call that began before the moment T, when the first of the broken recordings ends. A message
 * received before T was sent by a call that began before T, and a rank whose recording goes on to T has recorded
 * every call that began before T: so no receive that stays lacks its send. Collectives let some members leave
 * before others come: a call that not all members of its communicator have made moves T back to its own
 * beginning, until there is none. A call that had not left at T had not happened for all we know: only its time
 * stays, and a blocking send stays as one that is not waited for. Limits: exact where the ranks share a clock;
 * with several hosts as good as theirs are, and the replay names what then is left over. */
#include "traces/trace_merge.h"

#include <inttypes.h>

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
        if (!file->whole && file->last_ns + file->clock_ns < moment_ns)
            moment_ns = file->last_ns + file->clock_ns;
    }
    for (int64_t excess_ns = moment_ns; excess_ns != INT64_MAX;) {
        moment_ns = excess_ns;
        set_cut(m, moment_ns);
        find_least(m, calls, least, members);
        excess_ns = first_excess(m, calls, least);
    }
    recount(m);
    if (drop_untold(m)) return m->st->code;
    return fc_names_add(&m->notes, "(the program broke off: what all ranks did until then)", &m->trace->arena,
                        m->st);
}

void fc_merge_shorten(const struct fc_rank_file *file, const struct fc_raw_event *raw, struct fc_event *e)
{
    e->leave_s = e->enter_s + fc_from_ns(file->cut_ns - raw->enter_ns);
    if (e->op == FC_OP_WAIT || e->op == FC_OP_RECV)
        *e = (struct fc_event){.op = FC_OP_OTHER,
                               .polls = e->polls,
                               .peer = -1,
                               .request = -1,
                               .enter_s = e->enter_s,
                               .leave_s = e->leave_s,
                               .compute_s = e->compute_s};
}

/* The last call of the rank, or the last but one where a sendrecv was under way. */
void fc_merge_let_go(const struct fc_rank_file *file, struct fc_event *events, uint64_t n, int64_t n_requests)
{
    if (n == 0 || !file->spans) return;
    for (uint64_t k = n > 1 ? n - 2 : 0; k < n; k++) {
        if (events[k].op != FC_OP_SEND || events[k].enter_s < events[n - 1].enter_s) continue;
        events[k].op = FC_OP_ISEND;
        events[k].request = (int32_t)n_requests++;
    }
}
