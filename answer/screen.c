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
 * tasks is that of the list. So the best few are predicted in full. */
#include "answer/screen.h"
#include "models/hosts.h"
#include "solvers/load_internal.h"
#include "solvers/timing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Scratch of one thread. */
struct screen {
    const struct fc_session *session;
    const struct fc_demand *demand;
    uint32_t ranks_per_node;
    struct fc_arena arena, list; /* list: of the list at hand */
    struct fc_walk walk;
    double *busy_s;    /* [n_links] 0 but for the touched ones */
    uint32_t *touched; /* [n_touched] */
    double *waits_s;   /* [n_tasks] */
    uint32_t n_touched;
    struct fc_status st;
};

static enum fc_code open_screen(struct screen *s)
{
    const struct fc_network *net = &s->session->net;
    uint32_t capacity = s->session->machine.routing->walk_capacity(net);
    s->busy_s = fc_alloc(&s->arena, net->n_links, sizeof *s->busy_s, &s->st);
    s->touched = fc_alloc(&s->arena, net->n_links, sizeof *s->touched, &s->st);
    s->waits_s = fc_alloc(&s->arena, s->demand->n_tasks, sizeof *s->waits_s, &s->st);
    return s->st.code ? s->st.code : fc_walk_start(&s->walk, capacity, &s->st);
}

static void close_screen(struct screen *s)
{
    fc_walk_free(&s->walk);
    fc_arena_free(&s->arena);
    fc_arena_free(&s->list);
}

static void send(struct screen *s, uint32_t task, uint32_t src, uint32_t dst, double bytes, double messages)
{
    const struct fc_network *net = &s->session->net;
    double latency_s = 0;
    s->walk.n = 0;
    s->session->machine.routing->walk(net, src, dst, 1, &s->walk);
    for (uint32_t i = 0; i < s->walk.n; i++) {
        uint32_t link = s->walk.link[i];
        double free_bytes_per_s = fc_free_bandwidth(net, s->session->background_bytes_per_s, link);
        latency_s += s->walk.weight[i] * fc_head_delay_s(net, link);
        if (s->busy_s[link] == 0) s->touched[s->n_touched++] = link;
        /* never 0 again, not of a link without a limit either: touched once */
        s->busy_s[link] += s->walk.weight[i] * (bytes + 1e-30) / fmin(fmax(free_bytes_per_s, 1e-9), 1e30) + 1e-300;
    }
    s->waits_s[task] += messages * latency_s;
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
    for (size_t e = 0; e < d->n_entries; e++) {
        uint32_t src = node[d->src[e] / s->ranks_per_node], dst = node[d->dst[e] / s->ranks_per_node];
        if (src != dst) send(s, d->src[e], src, dst, d->bytes[e], d->messages[e]);
    }
    for (int k = 0; k < d->n_dense; k++) /* a node's tasks together: the same pairs of nodes */
        for (uint32_t a = 0; a < n_tasks; a += s->ranks_per_node)
            for (uint32_t b = 0; b < n_tasks; b += s->ranks_per_node) {
                double out = 0, in = 0;
                for (uint32_t t = a; t < a + s->ranks_per_node && t < n_tasks; t++) out += d->dense[k].a[t];
                for (uint32_t t = b; t < b + s->ranks_per_node && t < n_tasks; t++) in += d->dense[k].b[t];
                if (a != b && out * in > 0)
                    send(s, a, node[a / s->ranks_per_node], node[b / s->ranks_per_node], out * in,
                         out * in / fmax(1, d->dense[k].message_bytes) / s->ranks_per_node);
            }
    for (uint32_t i = 0; i < s->n_touched; i++) {
        busy_s = fmax(busy_s, s->busy_s[s->touched[i]]);
        s->busy_s[s->touched[i]] = 0;
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
