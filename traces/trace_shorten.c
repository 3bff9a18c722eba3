/* trace_shorten.c - a trace with some of its periods left out (trace_period.h).
 *
 * Period j of n is kept when floor((j + 1) m / n) > floor(j m / n): m of them, evenly spread; with m / 2 of
 * the n every other one of those. Requests count on without those of the periods left out: within the stretch
 * what a wait completes is as far back as it was; behind it a request from before the stretch keeps its
 * number. */
#include "traces/trace_format.h"
#include "traces/trace_period.h"

#include <inttypes.h>
#include <string.h>

/* One rank on its way. */
struct shortening {
    const struct fc_period_rank *rank;
    uint64_t n, keep;          /* periods, and those kept */
    uint64_t at;               /* calls seen */
    int64_t made, made_before; /* requests so far; before the stretch */
    double compute_s;          /* of polls that went */
    struct fc_event *to;
    int64_t *lists;
    uint64_t n_lists, list_capacity;
};

uint64_t fc_period_calls(const struct fc_period *p, uint64_t keep)
{
    uint64_t calls = 0;
    for (uint32_t r = 0; r < p->n_ranks; r++) calls += p->rank[r].n_calls - (p->repeats - keep) * p->rank[r].length;
    return calls;
}

/* How many of the first j periods are kept. */
static uint64_t kept(const struct shortening *s, uint64_t j)
{
    return (uint64_t)((unsigned __int128)j * s->keep / s->n);
}

/* Is the next call kept, and how many periods were left out before it? */
static bool stays(const struct shortening *s, uint64_t *left_out)
{
    *left_out = 0;
    if (!s->rank->length || s->at < s->rank->start) return true;
    uint64_t j = (s->at - s->rank->start) / s->rank->length;
    if (j >= s->n) {
        *left_out = s->n - s->keep;
        return true;
    }
    *left_out = j - kept(s, j);
    return kept(s, j + 1) > kept(s, j);
}

static void take(struct shortening *s, const struct fc_event *e, const int64_t *list, uint64_t left_out)
{
    int64_t shift = (int64_t)(left_out * s->rank->n_requests);
    bool behind = s->rank->length && s->at >= s->rank->start + s->n * s->rank->length;
    *s->to = *e;
    s->to->compute_s += s->compute_s;
    s->compute_s = 0;
    if (e->request >= 0) s->to->request = (int32_t)(e->request - shift);
    s->to->list = s->n_lists;
    for (uint32_t i = 0; i < e->n_list; i++) {
        bool old = e->op != FC_OP_WAIT || (behind && list[i] < s->made_before);
        s->lists[s->n_lists++] = old ? list[i] : list[i] - shift;
    }
    s->to++;
}

static enum fc_code shorten_rank(struct shortening *s, struct fc_trace_source *source, uint32_t rank,
                                 struct fc_trace *t, struct fc_status *st)
{
    const struct fc_event *e;
    s->at = 0;
    s->made = s->made_before = 0;
    s->compute_s = 0;
    for (; (e = fc_source_peek(source, rank)) != NULL; fc_source_take(source, rank)) {
        uint64_t left_out;
        bool stay = stays(s, &left_out);
        if (e->op == FC_OP_POLL) {
            if (stay && e->compute_s > 0) s->compute_s += e->compute_s;
            continue;
        }
        if (s->at == s->rank->start) s->made_before = s->made;
        s->made += fc_makes_request(e->op, e->mode);
        if (stay) {
            if (s->n_lists + e->n_list > s->list_capacity) {
                uint64_t more = 2 * (s->n_lists + e->n_list) + 1024;
                int64_t *lists = fc_alloc(&t->arena, more, sizeof *lists, st);
                if (!lists) return st->code;
                if (s->n_lists) memcpy(lists, s->lists, s->n_lists * sizeof *lists);
                s->lists = lists;
                s->list_capacity = more;
            }
            take(s, e, fc_source_list(source, rank, e), left_out);
        }
        s->at++;
    }
    if (source->st->code && !st->code) *st = *source->st;
    if (st->code || !(s->compute_s > 0)) return st->code;
    *s->to++ = (struct fc_event){.op = FC_OP_OTHER, .peer = -1, .request = -1, .compute_s = s->compute_s};
    return FC_OK;
}

/* Head and room; the period of what is left. */
static enum fc_code start(const struct fc_trace *head, const struct fc_period *period, uint64_t keep,
                          struct fc_trace *t, struct fc_period *left, struct fc_status *st)
{
    uint32_t n = head->n_ranks;
    uint64_t members = head->comm_first[head->n_comms];
    t->file = fc_copy_text(&t->arena, head->file, st);
    t->program = fc_copy_text(&t->arena, head->program ? head->program : "", st);
    t->recorded = fc_copy_text(&t->arena, head->recorded ? head->recorded : "", st);
    t->n_ranks = n;
    t->n_comms = head->n_comms;
    t->comm_first = fc_alloc(&t->arena, (size_t)head->n_comms + 1, sizeof *t->comm_first, st);
    t->comm_member = fc_alloc(&t->arena, members, sizeof *t->comm_member, st);
    t->first_event = fc_alloc(&t->arena, (size_t)n + 1, sizeof *t->first_event, st);
    t->unwrapped = fc_alloc(&t->arena, 0, sizeof *t->unwrapped, st);
    t->events = fc_alloc(&t->arena, fc_period_calls(period, keep) + n, sizeof *t->events, st); /* and last polls */
    left->rank = fc_alloc(&left->arena, n, sizeof *left->rank, st);
    if (st->code) return st->code;
    memcpy(t->comm_first, head->comm_first, ((size_t)head->n_comms + 1) * sizeof *t->comm_first);
    memcpy(t->comm_member, head->comm_member, members * sizeof *t->comm_member);
    left->n_ranks = n;
    left->repeats = keep;
    left->least_calls = period->least_calls;
    left->most_calls = period->most_calls;
    for (uint32_t r = 0; r < n; r++) {
        left->rank[r] = period->rank[r];
        left->rank[r].n_calls -= (period->repeats - keep) * period->rank[r].length;
    }
    return FC_OK;
}

enum fc_code fc_trace_shorten(struct fc_trace_source *source, const struct fc_period *period, uint64_t keep,
                              uint64_t most_calls, struct fc_trace *trace, struct fc_period *left, struct fc_status *st)
{
    *trace = (struct fc_trace){0};
    *left = (struct fc_period){0};
    if (keep < 1 || keep > period->repeats)
        return fc_refuse(st, FC_INPUT, "%" PRIu64 " of the trace's %" PRIu64 " periods cannot be kept", keep,
                         period->repeats);
    if (fc_period_calls(period, keep) > most_calls)
        return fc_refuse(st, FC_NO, "%" PRIu64 " calls are left with %" PRIu64 " periods (at most %" PRIu64 ")",
                         fc_period_calls(period, keep), keep, most_calls);
    struct shortening s = {.n = period->repeats, .keep = keep};
    enum fc_code code = start(source->head, period, keep, trace, left, st);
    if (!code) code = source->restart(source);
    if (!code) s.to = trace->events;
    for (uint32_t r = 0; !code && r < trace->n_ranks; r++) {
        s.rank = &period->rank[r];
        code = shorten_rank(&s, source, r, trace, st);
        trace->first_event[r + 1] = (uint64_t)(s.to - trace->events);
        left->rank[r].compute_s = 0;
        for (uint64_t i = trace->first_event[r]; !code && i < trace->first_event[r + 1]; i++)
            if (trace->events[i].compute_s > 0) left->rank[r].compute_s += trace->events[i].compute_s;
    }
    trace->lists = s.lists;
    trace->n_lists = s.n_lists;
    if (!code) return FC_OK;
    fc_trace_free(trace);
    fc_period_free(left);
    return code;
}
