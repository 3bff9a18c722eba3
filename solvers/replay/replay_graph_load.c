/* replay_graph_load.c - a graph before it is replayed: who is told when an event starts or finishes, how many
 * processors and cards there are, which calls belong together, parameters in whole nanoseconds. */
#include "core/array.h"
#include "solvers/replay/replay_graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The graph of a source that is not in memory. */
static enum fc_code copy_events(struct fc_graph *g, uint64_t *first, int64_t **lists)
{
    struct fc_job *job = g->run->job;
    size_t capacity = 0, list_capacity = 0, n_list = 0;
    for (uint32_t r = 0; r < job->trace->n_ranks; r++) {
        const struct fc_event *e;
        for (first[r] = g->n; (e = fc_source_peek(job->source, r)) != NULL; fc_source_take(job->source, r), g->n++) {
            if (!FC_GROW(g->copies, capacity, g->n + 1)) return fc_out_of_memory(g->st, "the events of the graph");
            if (!FC_GROW(*lists, list_capacity, n_list + e->n_list))
                return fc_out_of_memory(g->st, "the events of the graph");
            g->copies[g->n] = *e;
            g->copies[g->n].list = n_list;
            if (e->n_list) memcpy(*lists + n_list, fc_source_list(job->source, r, e), e->n_list * sizeof **lists);
            n_list += e->n_list;
        }
    }
    first[job->trace->n_ranks] = g->n;
    g->event = g->copies;
    return g->st->code;
}

static enum fc_code check_event(const struct fc_graph *g, uint32_t rank, uint64_t number, const struct fc_event *e)
{
    const struct fc_trace *t = g->run->job->trace;
    bool message = e->op == FC_OP_SEND || e->op == FC_OP_RECV;
    if (e->request >= 0 && e->request < 256 && e->polls < 256 && (!message || e->comm >= 0) &&
        (!message || (e->op == FC_OP_RECV && e->peer == FC_ANY) || (e->peer >= 0 && (uint32_t)e->peer < t->n_ranks)))
        return FC_OK;
    return fc_fail(g->st, FC_INPUT, (struct fc_place){t->rank_file ? t->rank_file[rank] : t->file, 0},
                   "rank %" PRIu32 ", event %" PRIu64 ": processor %" PRId32 ", card %d, peer %" PRId32
                   " (allowed: 0 to 255 for both, ranks below %" PRIu32 ")",
                   rank, number, e->request, e->polls, e->peer, t->n_ranks);
}

/* Dependencies the other way round: who is told; and the calls' numbers. */
static enum fc_code link_events(struct fc_graph *g, const uint64_t *first, const int64_t *lists)
{
    struct fc_run *run = g->run;
    const struct fc_trace *t = run->job->trace;
    uint64_t n_after = 0;
    for (uint32_t r = 0; r < t->n_ranks; r++)
        for (uint64_t v = first[r]; v < first[r + 1]; v++) {
            const struct fc_event *e = &g->event[v];
            if (check_event(g, r, v - first[r], e)) return g->st->code;
            g->vertex[v].rank = r;
            g->vertex[v].n_left = e->n_list;
            n_after += e->n_list;
            if ((uint32_t)e->request >= g->n_processors) g->n_processors = (uint32_t)e->request + 1;
            if (e->polls >= g->n_cards) g->n_cards = e->polls + 1u;
            for (uint32_t i = 0; i < e->n_list; i++) {
                int64_t d = lists[e->list + i] < 0 ? ~lists[e->list + i] : lists[e->list + i];
                if ((uint64_t)d >= v - first[r])
                    return fc_fail(g->st, FC_INPUT, (struct fc_place){t->rank_file ? t->rank_file[r] : t->file, 0},
                                   "rank %" PRIu32 ", event %" PRIu64 " depends on event %" PRId64
                                   ", which does not come before it",
                                   r, v - first[r], d);
                g->vertex[first[r] + (uint64_t)d + 1].after++;
            }
            if (e->op < FC_OP_BARRIER || e->op > FC_OP_SCAN) continue;
            uint32_t comm = (uint32_t)e->comm,
                     member = comm < t->n_comms ? fc_calls_member(&run->calls, comm, r) : FC_NONE;
            if (member == FC_NONE)
                return fc_fail(g->st, FC_INPUT, (struct fc_place){t->rank_file ? t->rank_file[r] : t->file, 0},
                               "rank %" PRIu32 ", event %" PRIu64 ": it is no member of communicator %" PRId32, r,
                               v - first[r], e->comm);
            g->vertex[v].call = run->calls.made[t->comm_first[comm] + member]++;
            if (fc_calls_announce(&run->calls, comm, g->vertex[v].call, member, r, v - first[r], e, NULL))
                return g->st->code;
        }
    for (uint64_t v = 0; v < g->n; v++) g->vertex[v + 1].after += g->vertex[v].after;
    g->after = fc_alloc(&g->arena, n_after, sizeof *g->after, g->st);
    if (!g->after) return g->st->code;
    for (uint32_t r = 0; r < t->n_ranks; r++) /* filled: after of v is then where those of v + 1 begin */
        for (uint64_t v = first[r]; v < first[r + 1]; v++)
            for (uint32_t i = 0; i < g->event[v].n_list; i++) {
                int64_t d = lists[g->event[v].list + i];
                g->after[g->vertex[first[r] + (uint64_t)(d < 0 ? ~d : d)].after++] = v << 1 | (d < 0);
            }
    for (uint64_t v = g->n; v > 0; v--) g->vertex[v].after = g->vertex[v - 1].after;
    g->vertex[0].after = 0;
    return FC_OK;
}

static double whole_ns(double seconds) /* parameters are given in nanoseconds: no digit of rounding */
{
    return round(seconds * 1e15) * 1e-6;
}

enum fc_code fc_graph_prepare(struct fc_graph *g)
{
    const struct fc_job *job = g->run->job;
    const struct fc_trace *t = job->trace;
    int64_t *lists = NULL;
    uint64_t *first = t->first_event;
    if (!t->events) {
        first = fc_alloc(&g->arena, (size_t)t->n_ranks + 1, sizeof *first, g->st);
        if (!first || copy_events(g, first, &lists)) goto done;
    } else {
        g->event = t->events;
        g->n = first[t->n_ranks];
    }
    g->vertex = g->n < UINT32_MAX ? fc_alloc(&g->arena, g->n + 2, sizeof *g->vertex, g->st) : NULL;
    if (!g->vertex) fc_refuse(g->st, FC_NO, "%" PRIu64 " events are too many for a graph", g->n);
    g->n_processors = g->n_cards = 1;
    if (!g->vertex || link_events(g, first, t->events ? t->lists : lists)) goto done;
    size_t n_processors = (size_t)t->n_ranks * g->n_processors;
    g->processor = fc_alloc(&g->arena, n_processors, sizeof *g->processor, g->st);
    g->card = fc_alloc(&g->arena, (size_t)t->n_ranks * g->n_cards, sizeof *g->card, g->st);
    g->line = fc_alloc(&g->arena, n_processors * (1 + 2 * (size_t)g->n_cards), sizeof *g->line, g->st);
    const struct fc_replay_settings *s = job->settings;
    g->o_ns = whole_ns(s->software.send_s);
    g->recv_ns = whole_ns(s->software.recv_s);
    g->gap_ns = whole_ns(s->software.gap_s);
    g->cpu_byte_ns = whole_ns(s->software.per_byte_s);
    g->byte_ns = s->loggops ? whole_ns(s->loggops_per_byte_s) : 0;
    g->latency_ns = s->loggops ? whole_ns(s->loggops_latency_s) : 0;
    g->eager = s->software.eager_bytes;
    g->rendezvous_ns = 1e9 * s->software.rendezvous_s;
    g->copy_byte_ns = 1e9 * s->software.copy_per_byte_s;
done:
    free(lists);
    return g->st->code;
}
