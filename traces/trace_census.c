/* trace_census.c - counts a trace in one pass: totals, sizes, partners, and whether messages have two ends.
 *
 * Balance is kept by ordered pair of ranks, not by message, so that memory does not grow with the trace: sends and receives
 * of a pair, and the sums of a hash of (communicator, tag) over both, which are equal when the same tags are there the same
 * number of times (a pair that differs and has equal sums: probability 2^-64). Receives from any source take what their
 * rank has left over. Bytes are counted where they are sent, collective bytes as each rank recorded them. */
#include "traces/trace_census.h"
#include "traces/trace_format.h"

#include <stdlib.h>

struct pair {
    uint32_t src, dst;
    uint64_t sends, receives, any_tag; /* receives that take any tag: the hashes tell nothing then */
    uint64_t sent, received;           /* sums of hashes */
};
struct counter {
    const struct fc_trace *head;
    struct fc_trace_census *census;
    struct fc_status *st;
    struct pair *pair; /* [mask + 1]; free: no sends and no receives */
    uint64_t mask, n;
    uint64_t *any_source; /* [n_ranks] receives from any source */
    bool *whole;          /* [n_comms] has all ranks */
    double first_s, last_s, mpi_s, compute_s;
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 32;
}

static struct pair *slot(const struct counter *c, uint32_t src, uint32_t dst)
{
    uint64_t i = mix((uint64_t)src << 32 | dst) & c->mask;
    while ((c->pair[i].sends || c->pair[i].receives) && (c->pair[i].src != src || c->pair[i].dst != dst))
        i = (i + 1) & c->mask;
    return &c->pair[i];
}

/* The pair, with room for one more; NULL: no memory. */
static struct pair *find(struct counter *c, uint32_t src, uint32_t dst)
{
    if (2 * c->n >= c->mask) {
        struct counter larger = {.mask = c->mask ? 2 * c->mask + 1 : 1023};
        larger.pair = calloc(larger.mask + 1, sizeof *larger.pair);
        if (!larger.pair) {
            fc_out_of_memory(c->st, "the messages between %llu pairs of ranks", (unsigned long long)c->n);
            return NULL;
        }
        for (uint64_t i = 0; c->pair && i <= c->mask; i++)
            if (c->pair[i].sends || c->pair[i].receives) *slot(&larger, c->pair[i].src, c->pair[i].dst) = c->pair[i];
        free(c->pair);
        c->pair = larger.pair;
        c->mask = larger.mask;
    }
    struct pair *p = slot(c, src, dst);
    if (!p->sends && !p->receives) {
        c->n++;
        p->src = src;
        p->dst = dst;
    }
    return p;
}

static void count_message(struct counter *c, uint32_t rank, const struct fc_event *e)
{
    bool sends = e->op == FC_OP_SEND || e->op == FC_OP_ISEND;
    uint64_t hash = mix(mix((uint64_t)e->comm + 1) ^ (uint64_t)(uint32_t)e->tag);
    c->census->wildcards += e->peer == FC_ANY || e->tag == FC_ANY;
    if (e->peer == FC_ANY) {
        c->any_source[rank]++;
        return;
    }
    struct pair *p = sends ? find(c, rank, (uint32_t)e->peer) : find(c, (uint32_t)e->peer, rank);
    if (!p) return;
    p->sends += sends;
    p->receives += !sends;
    p->sent += sends ? hash : 0;
    p->received += sends ? 0 : hash;
    p->any_tag += e->tag == FC_ANY;
    if (!sends) return;
    c->census->messages[fc_size_class((uint64_t)e->bytes)]++;
    c->census->message_bytes[fc_size_class((uint64_t)e->bytes)] += (double)e->bytes;
}

static void count_event(struct counter *c, uint32_t rank, const struct fc_event *e)
{
    struct fc_trace_census *s = c->census;
    s->totals.n_events++;
    s->totals.op_count[e->op]++;
    s->totals.op_bytes[e->op] += (double)e->bytes;
    s->totals.n_polls += c->head->graph ? 0 : e->polls;
    c->compute_s += e->compute_s;
    c->mpi_s += e->leave_s - e->enter_s;
    c->first_s = fmin(c->first_s, e->enter_s);
    c->last_s = fmax(c->last_s, e->leave_s);
    if (e->op >= FC_OP_SEND && e->op <= FC_OP_IRECV) count_message(c, rank, e);
    if (e->op >= FC_OP_BARRIER && e->op < FC_OP_COMM) {
        s->calls[fc_size_class((uint64_t)e->bytes)]++;
        s->n_sub_calls += !c->whole[e->comm];
    }
    if (c->head->graph) return;
    s->open_requests += fc_makes_request(e->op, e->mode);
    if (e->op == FC_OP_WAIT) s->open_requests -= e->n_list;
}

/* What the pairs tell in the end. */
static enum fc_code count_pairs(struct counter *c)
{
    struct fc_trace_census *s = c->census;
    uint32_t n_ranks = c->head->n_ranks, *partners = calloc(n_ranks, sizeof *partners);
    if (!partners) return fc_out_of_memory(c->st, "%u ranks of a trace", n_ranks);
    for (uint64_t i = 0; c->pair && i <= c->mask; i++) {
        const struct pair *p = &c->pair[i];
        uint64_t more = p->sends > p->receives ? p->sends - p->receives : 0;
        if (!p->sends && !p->receives) continue;
        partners[p->src] += p->sends > 0;
        s->totals.n_pairs += p->sends > 0;
        bool any = c->any_source[p->dst] > 0;
        uint64_t taken = more < c->any_source[p->dst] ? more : c->any_source[p->dst];
        c->any_source[p->dst] -= taken;
        s->unmatched_sends += more - taken;
        s->unmatched_receives += p->receives > p->sends ? p->receives - p->sends : 0;
        s->other_tags += p->sends == p->receives && !p->any_tag && !any && p->sent != p->received;
    }
    for (uint32_t r = 0; r < n_ranks; r++) {
        s->partners[fc_size_class(partners[r])]++;
        if (partners[r] > s->most_partners) s->most_partners = partners[r];
        s->unmatched_receives += c->any_source[r];
    }
    free(partners);
    return FC_OK;
}

static void close_totals(struct counter *c)
{
    struct fc_trace_summary *t = &c->census->totals;
    t->span_s = fmax(0, c->last_s - c->first_s);
    t->compute_s = c->compute_s / c->head->n_ranks;
    t->mpi_s = c->mpi_s / c->head->n_ranks;
    c->census->computation_share = c->compute_s + c->mpi_s > 0 ? c->compute_s / (c->compute_s + c->mpi_s) : NAN;
    t->n_messages = t->op_count[FC_OP_SEND] + t->op_count[FC_OP_ISEND];
    t->p2p_bytes = t->op_bytes[FC_OP_SEND] + t->op_bytes[FC_OP_ISEND];
    for (int op = FC_OP_BARRIER; op < FC_OP_COMM; op++) {
        t->n_collectives += t->op_count[op];
        t->collective_bytes += t->op_bytes[op];
    }
}

static enum fc_code start(struct counter *c)
{
    const struct fc_trace *t = c->head;
    c->any_source = calloc(t->n_ranks, sizeof *c->any_source);
    c->whole = calloc(t->n_comms, sizeof *c->whole);
    if (!c->any_source || !c->whole) return fc_out_of_memory(c->st, "%u ranks of a trace", t->n_ranks);
    for (uint32_t k = 0; k < t->n_comms; k++) {
        c->whole[k] = t->comm_first[k + 1] - t->comm_first[k] == t->n_ranks;
        c->census->n_sub_comms += !c->whole[k];
    }
    return FC_OK;
}

/* Counts all; period NULL: not looked for. */
static enum fc_code count(struct fc_trace_source *source, struct fc_trace_census *census, struct fc_period *period,
                          struct fc_status *st)
{
    struct counter c = {.head = source->head, .census = census, .st = st, .first_s = INFINITY};
    struct fc_period_finder *finder = NULL;
    const struct fc_event *e;
    *census = (struct fc_trace_census){0};
    start(&c);
    if (!st->code && period) finder = fc_period_start(source->head, period, st);
    for (uint32_t r = 0; !st->code && r < source->head->n_ranks; r++) {
        for (; !st->code && (e = fc_source_peek(source, r)); fc_source_take(source, r)) {
            count_event(&c, r, e);
            if (finder) fc_period_event(finder, e, fc_source_list(source, r, e));
        }
        if (!st->code && finder) fc_period_next(finder);
    }
    if (!st->code && source->st->code) *st = *source->st;
    if (!st->code && !count_pairs(&c)) close_totals(&c);
    fc_period_finish(finder);
    free(c.pair);
    free(c.any_source);
    free(c.whole);
    return st->code;
}

enum fc_code fc_trace_count_periods(struct fc_trace_source *source, struct fc_trace_census *census,
                                    struct fc_period *period, struct fc_status *st)
{
    return count(source, census, period, st);
}
