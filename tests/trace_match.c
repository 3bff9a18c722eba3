/* trace_match.c - which receive takes which message.
 *
 * MPI's order rule (MPI 3.1, section 3.5): messages of one sender to one receiver with one tag in one
 * communicator are taken in the order sent by the receives in the order posted. Wildcards are resolved in a
 * trace, so the k-th send of a key (communicator, source, destination, tag) belongs to the k-th receive of
 * that key. Receives that a rank posts from several threads at once have no order; theirs is that of the
 * recording.
 *
 * Per destination: a hash table of keys, each a queue of sends in order. O(events). */
#include "tests/trace_oracles.h"

#include <inttypes.h>
#include <string.h>

static bool is_send(const struct fc_event *e)
{
    return e->op == FC_OP_SEND || e->op == FC_OP_ISEND;
}

static bool is_receive(const struct fc_event *e)
{
    return e->op == FC_OP_RECV || e->op == FC_OP_IRECV;
}

/* A queue of sends with one key to the destination at hand; free when stamp is not the destination's. */
struct queue {
    uint32_t stamp;
    int32_t comm, source, tag;
    uint64_t head, tail;
};

struct matcher {
    const struct fc_trace *trace;
    uint64_t *match;
    uint64_t *first;     /* [n_ranks + 1] sends to each destination */
    uint64_t *send;      /* events of those sends, in order of source and time */
    uint64_t *next;      /* [n sends] the following one of the same queue, by position in `send` */
    struct queue *queue; /* [mask + 1] */
    uint64_t mask;
};

static struct queue *find(const struct matcher *m, uint32_t destination, int32_t comm, int32_t source, int32_t tag)
{
    uint64_t h = (uint64_t)(uint32_t)comm * 0x9e3779b97f4a7c15u ^ (uint64_t)(uint32_t)source * 0xc2b2ae3d27d4eb4fu ^
                 (uint64_t)(uint32_t)tag * 0x165667b19e3779f9u;
    for (uint64_t i = h ^ h >> 29;; i++) {
        struct queue *q = &m->queue[i & m->mask];
        if (q->stamp != destination + 1) {
            *q = (struct queue){destination + 1, comm, source, tag, UINT64_MAX, UINT64_MAX};
            return q;
        }
        if (q->comm == comm && q->source == source && q->tag == tag) return q;
    }
}

/* Sorts the sends by destination (counting sort: order of source and time is kept). */
static enum fc_code collect(struct matcher *m, struct fc_arena *scratch, struct fc_status *st)
{
    const struct fc_trace *t = m->trace;
    uint64_t n = t->first_event[t->n_ranks], most = 0;
    m->first = fc_alloc(scratch, (size_t)t->n_ranks + 2, sizeof *m->first, st);
    if (!m->first) return FC_NO;
    for (uint64_t e = 0; e < n; e++)
        if (is_send(&t->events[e])) m->first[t->events[e].peer + 2]++;
    for (uint32_t r = 0; r < t->n_ranks; r++) m->first[r + 2] += m->first[r + 1];
    uint64_t n_sends = m->first[t->n_ranks + 1];
    for (uint32_t r = 0; r < t->n_ranks; r++) { /* a receive without a send opens a queue too */
        uint64_t receives = 0;
        for (uint64_t e = t->first_event[r]; e < t->first_event[r + 1]; e++) receives += is_receive(&t->events[e]);
        uint64_t keys = receives + m->first[r + 2] - m->first[r + 1];
        if (keys > most) most = keys;
    }
    for (m->mask = 15; m->mask < 2 * most; m->mask = 2 * m->mask + 1) {
    }
    m->send = fc_alloc(scratch, n_sends, sizeof *m->send, st);
    m->next = fc_alloc(scratch, n_sends, sizeof *m->next, st);
    m->queue = fc_alloc(scratch, m->mask + 1, sizeof *m->queue, st);
    if (!m->send || !m->next || !m->queue) return FC_NO;
    for (uint64_t e = 0; e < n; e++)
        if (is_send(&t->events[e])) m->send[m->first[t->events[e].peer + 1]++] = e;
    return FC_OK; /* now first[r] .. first[r + 1] are the sends to r */
}

static uint32_t rank_of(const struct fc_trace *t, uint64_t event)
{
    uint32_t low = 0, high = t->n_ranks;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (t->first_event[middle] <= event)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void match_destination(const struct matcher *m, uint32_t destination)
{
    const struct fc_trace *t = m->trace;
    uint32_t source = 0;
    for (uint64_t i = m->first[destination]; i < m->first[destination + 1]; i++) {
        const struct fc_event *e = &t->events[m->send[i]];
        while (t->first_event[source + 1] <= m->send[i]) source++;
        struct queue *q = find(m, destination, e->comm, (int32_t)source, e->tag);
        m->next[i] = UINT64_MAX;
        if (q->head == UINT64_MAX)
            q->head = i;
        else
            m->next[q->tail] = i;
        q->tail = i;
    }
    for (uint64_t r = t->first_event[destination]; r < t->first_event[destination + 1]; r++) {
        const struct fc_event *e = &t->events[r];
        if (!is_receive(e)) continue;
        struct queue *q = find(m, destination, e->comm, e->peer, e->tag);
        if (q->head == UINT64_MAX) continue;
        m->match[r] = m->send[q->head];
        m->match[m->send[q->head]] = r;
        q->head = m->next[q->head];
    }
}

/* The first call in the file's order that found no partner. */
static enum fc_code check_all(const struct matcher *m, struct fc_status *st)
{
    const struct fc_trace *t = m->trace;
    for (uint64_t i = 0; i < t->first_event[t->n_ranks]; i++) {
        const struct fc_event *e = &t->events[i];
        if (m->match[i] != UINT64_MAX || !(is_send(e) || is_receive(e))) continue;
        uint32_t rank = rank_of(t, i);
        return fc_fail(st, FC_INPUT, fc_event_place(t, rank, i),
                       "rank %" PRIu32 ": no %s rank %" PRId32 " with tag %" PRId32 " in communicator %" PRId32
                       " for this %s of %" PRId64 " bytes",
                       rank, is_send(e) ? "receive is posted by" : "message is sent by", e->peer, e->tag, e->comm,
                       fc_op_names[e->op], e->bytes);
    }
    return FC_OK;
}

/* What comes to a receive from anyone, and when a graph's events run, only a replay can tell. */
static enum fc_code refuse_open(const struct fc_trace *t, struct fc_status *st)
{
    if (t->graph)
        return fc_fail(st, FC_INPUT, (struct fc_place){t->file, 0},
                       "the events are a graph, not programs (expected ranks that call one after the other)");
    for (uint64_t i = 0; i < t->first_event[t->n_ranks]; i++) {
        const struct fc_event *e = &t->events[i];
        if (!is_receive(e) || (e->peer != FC_ANY && e->tag != FC_ANY)) continue;
        uint32_t rank = rank_of(t, i);
        return fc_fail(st, FC_INPUT, fc_event_place(t, rank, i),
                       "rank %" PRIu32 ", call %" PRIu64
                       ": a receive with any %s, and the trace does not tell what came",
                       rank, i - t->first_event[rank], e->peer == FC_ANY ? "source" : "tag");
    }
    return FC_OK;
}

enum fc_code fc_trace_match(const struct fc_trace *trace, struct fc_arena *arena, uint64_t **match,
                            struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct matcher m = {.trace = trace};
    uint64_t n = trace->first_event[trace->n_ranks];
    *match = NULL;
    if (refuse_open(trace, st)) return st->code;
    m.match = fc_alloc(arena, n, sizeof *m.match, st);
    if (!m.match) return FC_NO;
    memset(m.match, 0xff, n * sizeof *m.match);
    enum fc_code code = collect(&m, &scratch, st);
    for (uint32_t r = 0; !code && r < trace->n_ranks; r++) match_destination(&m, r);
    if (!code) code = check_all(&m, st);
    fc_arena_free(&scratch);
    *match = m.match;
    return code;
}
