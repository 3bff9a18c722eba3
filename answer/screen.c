/* screen.c - lists of nodes by what the network costs a job on them, without replaying it.
 *
 *     score = max over links of (bytes on it / bandwidth) + max over tasks of sum over its messages of (latency of the route)
 *
 * Bytes are those of the whole job by the routing's own walk, latencies means over the ways that the walk takes, head delays of
 * routers and wires. The first part is a bound of the time that links take together, the second what distance costs a task that
 * waits for each message. Only differences between lists of one job mean anything: what is the same everywhere (computation,
 * overheads) is left out.
 *
 * Limits: of what adaptive routings do under load nothing but their minimal split; no two messages meet in time; the order of
 * tasks is that of the list; nodes that are known to be slow (node.slow_hosts) are not told from others. So the best few are
 * predicted in full. */
#include "answer/screen.h"
#include "models/hosts.h"
#include "solvers/load_internal.h"
#include "solvers/timing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a task sends to those on another node. */
struct sent {
    uint32_t src, dst; /* nodes, by their places in a list */
    uint32_t task;
    double bytes, messages;
};
struct screened_link {
    double latency_s, s_per_byte;
    double busy_s; /* 0 but for the touched ones */
};
/* Scratch of one thread. */
struct screen {
    const struct fc_session *session;
    const struct fc_demand *demand;
    const struct sent *sent; /* [n_sent] of the demand's entries: those of two nodes one after the other */
    size_t n_sent;
    uint32_t ranks_per_node;
    struct fc_arena arena, list; /* list: of the list at hand */
    struct fc_walk walk;
    struct screened_link *link; /* [n_links] */
    uint32_t *touched;          /* [n_touched] */
    double *waits_s;            /* [n_tasks] */
    uint32_t n_touched;
    struct fc_status st;
};

static enum fc_code open_screen(struct screen *s)
{
    const struct fc_network *net = &s->session->net;
    uint32_t capacity = s->session->machine.routing->walk_capacity(net);
    s->link = fc_alloc(&s->arena, net->n_links, sizeof *s->link, &s->st);
    s->touched = fc_alloc(&s->arena, net->n_links, sizeof *s->touched, &s->st);
    s->waits_s = fc_alloc(&s->arena, s->demand->n_tasks, sizeof *s->waits_s, &s->st);
    for (uint32_t l = 0; l < net->n_links && !s->st.code; l++) {
        double free_bytes_per_s = fc_free_bandwidth(net, s->session->background_bytes_per_s, l);
        s->link[l] = (struct screened_link){fc_head_delay_s(net, l), 1 / fmin(fmax(free_bytes_per_s, 1e-9), 1e30), 0};
    }
    return s->st.code ? s->st.code : fc_walk_start(&s->walk, capacity, &s->st);
}

static void close_screen(struct screen *s)
{
    fc_walk_free(&s->walk);
    fc_arena_free(&s->arena);
    fc_arena_free(&s->list);
}

static int by_nodes(const void *a, const void *b)
{
    const struct sent *x = a, *y = b;
    if (x->src != y->src) return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst) return x->dst < y->dst ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

/* The demand's entries between nodes, for all lists. */
static enum fc_code gather(struct screen *s, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_demand *d = s->demand;
    struct sent *sent = fc_alloc(arena, d->n_entries, sizeof *sent, st);
    for (size_t e = 0; sent && e < d->n_entries; e++) {
        struct sent x = {d->src[e] / s->ranks_per_node, d->dst[e] / s->ranks_per_node, d->src[e], d->bytes[e],
                         d->messages[e]};
        if (x.src != x.dst) sent[s->n_sent++] = x;
    }
    if (s->n_sent > 0) qsort(sent, s->n_sent, sizeof *sent, by_nodes);
    s->sent = sent;
    return st->code;
}

/* So many bytes over the links between two nodes; returns the route's latency. */
static double send(struct screen *s, uint32_t src, uint32_t dst, double bytes)
{
    double latency_s = 0;
    s->walk.n = 0;
    s->session->machine.routing->walk(&s->session->net, src, dst, 1, &s->walk);
    for (uint32_t i = 0; i < s->walk.n; i++) {
        struct screened_link *link = &s->link[s->walk.link[i]];
        latency_s += s->walk.weight[i] * link->latency_s;
        if (link->busy_s == 0) s->touched[s->n_touched++] = s->walk.link[i];
        /* never 0 again, not of a link without a limit either: touched once */
        link->busy_s += s->walk.weight[i] * (bytes + 1e-30) * link->s_per_byte + 1e-300;
    }
    return latency_s;
}

/* All that is sent from one node to another, from sent[i] on; the first of the next two. */
static size_t send_between(struct screen *s, const uint32_t *node, size_t i)
{
    const struct sent *first = &s->sent[i];
    double bytes = 0;
    size_t end = i;
    for (; end < s->n_sent && s->sent[end].src == first->src && s->sent[end].dst == first->dst; end++)
        bytes += s->sent[end].bytes;
    double latency_s = send(s, node[first->src], node[first->dst], bytes);
    for (; i < end; i++) s->waits_s[s->sent[i].task] += s->sent[i].messages * latency_s;
    return end;
}

static void score(struct screen *s, struct fc_screened *list)
{
    const struct fc_demand *d = s->demand;
    uint32_t *node, n_tasks = d->n_tasks;
    double busy_s = 0, waits_s = 0;
    size_t n;
    if (fc_nodes_read(&s->session->net, list->nodes, 0, &s->list, &node, &n, &s->st)) return;
    if (n * s->ranks_per_node < n_tasks) {
        fc_refuse(&s->st, FC_INPUT, "%zu nodes of %u tasks (expected room for %u)", n, s->ranks_per_node, n_tasks);
        return;
    }
    memset(s->waits_s, 0, n_tasks * sizeof *s->waits_s);
    for (size_t i = 0; i < s->n_sent;) i = send_between(s, node, i);
    for (int k = 0; k < d->n_dense; k++) /* a node's tasks together: the same pairs of nodes */
        for (uint32_t a = 0; a < n_tasks; a += s->ranks_per_node)
            for (uint32_t b = 0; b < n_tasks; b += s->ranks_per_node) {
                double out = 0, in = 0;
                for (uint32_t t = a; t < a + s->ranks_per_node && t < n_tasks; t++) out += d->dense[k].a[t];
                for (uint32_t t = b; t < b + s->ranks_per_node && t < n_tasks; t++) in += d->dense[k].b[t];
                if (a == b || !(out * in > 0)) continue;
                double messages = out * in / fmax(1, d->dense[k].message_bytes) / s->ranks_per_node;
                s->waits_s[a] += messages * send(s, node[a / s->ranks_per_node], node[b / s->ranks_per_node], out * in);
            }
    for (uint32_t i = 0; i < s->n_touched; i++) {
        busy_s = fmax(busy_s, s->link[s->touched[i]].busy_s);
        s->link[s->touched[i]].busy_s = 0;
    }
    s->n_touched = 0;
    for (uint32_t t = 0; t < n_tasks; t++) waits_s = fmax(waits_s, s->waits_s[t]);
    list->score_s = busy_s + waits_s;
    fc_arena_free(&s->list);
}

enum fc_code fc_screen_nodes(const struct fc_question *q, const struct fc_session *session,
                             const struct fc_demand *demand, struct fc_screened *lists, size_t n, struct fc_status *st)
{
    long long cores = session->machine.cores_per_node;
    struct screen first = {.session = session, .demand = demand, .ranks_per_node = (uint32_t)cores};
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    if (gather(&first, &arena, st)) return st->code;
#pragma omp parallel num_threads(fc_threads(q->threads))
    {
        struct screen s = first;
        bool open = !open_screen(&s);
#pragma omp for schedule(dynamic, 16)
        for (size_t i = 0; i < n; i++) {
            lists[i].score_s = NAN;
            if (open) score(&s, &lists[i]);
            s.st = (struct fc_status){0};
            fc_arena_free(&s.list);
        }
        close_screen(&s);
    }
    size_t wrong = 0; /* the first that is, and why */
    while (wrong < n && !isnan(lists[wrong].score_s)) wrong++;
    if (wrong < n && open_screen(&first)) fc_refuse(st, first.st.code, "%s", first.st.message);
    for (; wrong < n && !first.st.code; wrong++)
        if (isnan(lists[wrong].score_s)) {
            score(&first, &lists[wrong]);
            if (!first.st.code) continue; /* memory had run out */
            char line[32] = "";
            if (lists[wrong].line) snprintf(line, sizeof line, "line %ld: ", lists[wrong].line);
            fc_refuse(st, first.st.code, "%s%s (with --nodes %.200s)", line, first.st.message, lists[wrong].nodes);
        }
    close_screen(&first);
    return st->code;
}
