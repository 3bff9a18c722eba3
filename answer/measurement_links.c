/* measurement_links.c - rates and latencies of link classes from pairs, and sets of pairs, over known routes.
 *
 * Rates. A link carries what the streams across it had together; no link carries more than its bandwidth, so
 *
 *     b_class >= max over sets, over links of the class, of the bytes/s on the link, headers included.
 *
 * It is the bandwidth where the link was the limit: in some set it is used by BUSY of that, every other class by less than IDLE,
 * and its messages were slower than one alone between near nodes (or several ranks of a node could do no more). Else it stays a
 * least one.
 *
 * Latencies. Each pair's L is the sum over its route of wires x_class and, at each router, delay d:
 *
 *     minimise  sum over pairs (L - n x - r d)^2 + RIDGE (sum (x - x0)^2 + (d - d0)^2),   x, d >= 0,
 *
 * x0, d0 the machine file's, by coordinates: what the pairs do not tell apart stays near the file. */
#include "answer/measurement.h"
#include "models/hosts.h"

#include <string.h>

#define BUSY 0.95
#define IDLE 0.9
#define RIDGE 1e-3
enum { ROUNDS = 20000, UNKNOWNS = FC_MAX_CLASSES + 1, DELAY = FC_MAX_CLASSES };

/* node[i] of the machine for node i of the measurement, in the arena. */
static enum fc_code find_nodes(const struct fc_measurement *m, const struct fc_network *net, struct fc_arena *arena,
                               uint32_t **node, bool *by_host, struct fc_status *st)
{
    struct fc_host_index index;
    *node = fc_alloc(arena, m->n_nodes, sizeof **node, st);
    *by_host = net->host_name && !m->one_host;
    if (!*node) return st->code;
    if (m->n_nodes > net->n_nodes)
        return fc_refuse(st, FC_INPUT,
                         "-m: %s has %u nodes, measured were %u (expected the machine of the measurement)",
                         net->machine->name, net->n_nodes, m->n_nodes);
    if (*by_host && fc_host_index_start(net, arena, &index, st)) return st->code;
    for (uint32_t i = 0; i < m->n_nodes; i++) {
        (*node)[i] = *by_host ? fc_host_find(&index, m->host[i], strlen(m->host[i])) : i;
        if ((*node)[i] == FC_NONE)
            return fc_host_unknown(net, m->host[i], strlen(m->host[i]), (struct fc_place){m->file, 0}, st);
    }
    return FC_OK;
}

struct work {
    const struct fc_measurement *m;
    const struct fc_network *net;
    const uint32_t *node;
    struct fc_walk walk;
    double *load, used[FC_MAX_CLASSES]; /* [n_links]; the greatest of a class */
};

static bool walk_row(struct work *w, const struct fc_measurement_row *r)
{
    uint32_t a = w->node[w->m->node[r->from]], b = w->node[w->m->node[r->to]];
    w->walk.n = 0;
    if (a == b) return false;
    w->net->machine->routing->walk(w->net, a, b, 1, &w->walk);
    return true;
}

/* bytes/s on the busiest link of each class, of set `set` or of row `alone` (FC_NONE: the set). Returns the greatest rate of one
 * pair of ranks, 0: nothing crosses the network. */
static double load_set(struct work *w, uint32_t set, uint32_t alone)
{
    double most = 0;
    memset(w->load, 0, w->net->n_links * sizeof *w->load);
    for (int c = 0; c < FC_MAX_CLASSES; c++) w->used[c] = 0;
    for (uint32_t i = 0; i < w->m->n_rows; i++) {
        const struct fc_measurement_row *r = &w->m->row[i];
        if (r->part != FC_ROW_STREAM || r->bytes < 1024 || (alone == FC_NONE ? r->set != set : i != alone) ||
            !walk_row(w, r))
            continue;
        double rate = fc_wire_bytes(w->net->machine, r->bytes) / r->median_s;
        most = fmax(most, r->bytes / r->median_s);
        for (uint32_t k = 0; k < w->walk.n; k++) w->load[w->walk.link[k]] += rate * w->walk.weight[k];
    }
    for (uint32_t l = 0; l < w->net->n_links; l++)
        w->used[w->net->link_class[l]] = fmax(w->used[w->net->link_class[l]], w->load[l]);
    return most;
}

/* Every experiment: the sets, and each row alone. */
static bool next_experiment(const struct fc_measurement *m, uint32_t *set, uint32_t *alone)
{
    if (*set < m->n_sets) return ++*set, *alone = FC_NONE, true;
    for (*alone = *alone == FC_NONE ? 0 : *alone + 1; *alone < m->n_rows; ++*alone)
        if (m->row[*alone].set == 0 && m->row[*alone].part == FC_ROW_STREAM) return true;
    return false;
}

static void find_rates(struct work *w, const struct fc_measurement_fit *fit, struct fc_measured_links *links)
{
    const struct fc_machine *machine = w->net->machine;
    double alone_rate = 1 / fit->number[FC_NUMBER_G].value;
    for (int c = 0; c < machine->n_classes; c++) links->class[c].bytes_per_s = NAN;
    for (uint32_t set = 0, alone = FC_NONE; next_experiment(w->m, &set, &alone);) {
        load_set(w, set, alone);
        for (int c = 0; c < machine->n_classes; c++)
            if (w->used[c] > 0)
                links->class[c].bytes_per_s =
                    fmax(w->used[c], isnan(links->class[c].bytes_per_s) ? 0 : links->class[c].bytes_per_s);
    }
    for (uint32_t set = 0, alone = FC_NONE; next_experiment(w->m, &set, &alone);) {
        double pair_rate = load_set(w, set, alone);
        for (int c = 0; c < machine->n_classes; c++) {
            bool binds = w->used[c] >= BUSY * links->class[c].bytes_per_s;
            for (int other = 0; other < machine->n_classes; other++)
                binds &= other == c || !(w->used[other] >= IDLE * links->class[other].bytes_per_s);
            /* One rank alone may be the limit itself; ranks that share a node and are no faster together are not. */
            if (binds && pair_rate < IDLE * alone_rate) links->class[c].binds = true;
        }
    }
    /* One rank a node: nobody can tell a rank's limit from its node's. */
    struct fc_measured_class *nodes = &links->class[links->node_class];
    if (fit->most_sharing == 1 && nodes->bytes_per_s > 0) nodes->binds = true;
}

/* Wires of each class, and routers, on the way. */
static void count_route(const struct work *w, double *n)
{
    memset(n, 0, UNKNOWNS * sizeof *n);
    for (uint32_t k = 0; k < w->walk.n; k++) {
        n[w->net->link_class[w->walk.link[k]]] += w->walk.weight[k];
        if (!fc_is_node(w->net, w->net->link_source[w->walk.link[k]])) n[DELAY] += w->walk.weight[k];
    }
}

static enum fc_code find_latencies(struct work *w, const struct fc_measurement_fit *fit, struct fc_arena *arena,
                                   struct fc_measured_links *links, struct fc_status *st)
{
    const struct fc_measurement *m = w->m;
    const struct fc_machine *machine = w->net->machine;
    double(*n)[UNKNOWNS] = fc_alloc(arena, m->n_rows, sizeof *n, st),
    *left = fc_alloc(arena, m->n_rows, sizeof *left, st);
    double x[UNKNOWNS] = {0}, before[UNKNOWNS] = {0};
    uint32_t pairs = 0;
    if (st->code) return st->code;
    double ends = fit->number[FC_NUMBER_SEND].value + fit->number[FC_NUMBER_RECV].value;
    for (int c = 0; c < machine->n_classes; c++) x[c] = before[c] = machine->classes[c].latency_s;
    x[DELAY] = before[DELAY] = machine->router.delay_s;
    for (uint32_t i = 0; i < m->n_rows; i++) {
        const struct fc_measurement_row *r = &m->row[i];
        if (r->part != FC_ROW_LATENCY || r->set || r->bytes != 8 || r->n < 5 || !walk_row(w, r)) continue;
        count_route(w, n[pairs]);
        left[pairs] = fmax(0, r->median_s - ends);
        for (int u = 0; u < UNKNOWNS; u++) left[pairs] -= n[pairs][u] * x[u];
        pairs++;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double moved = 0;
        for (int u = 0; u < UNKNOWNS; u++) {
            double top = RIDGE * (before[u] - x[u]), bottom = RIDGE;
            for (uint32_t p = 0; p < pairs; p++) top += n[p][u] * left[p], bottom += n[p][u] * n[p][u];
            double step = fmax(top / bottom, -x[u]);
            x[u] += step;
            for (uint32_t p = 0; p < pairs; p++) left[p] -= n[p][u] * step;
            moved = fmax(moved, fabs(step));
        }
        if (moved < 1e-13) break;
    }
    links->delay_s = x[DELAY];
    for (int c = 0; c < machine->n_classes; c++) {
        links->class[c].latency_s = NAN;
        for (uint32_t p = 0; p < pairs; p++)
            if (n[p][c] > 0) links->class[c].latency_s = x[c];
    }
    for (uint32_t p = 0; p < pairs; p++) {
        double whole = left[p];
        for (int u = 0; u < UNKNOWNS; u++) whole += n[p][u] * x[u];
        links->off_percent = fmax(links->off_percent, whole > 0 ? 100 * fabs(left[p]) / whole : 0);
    }
    return FC_OK;
}

enum fc_code fc_measurement_links(const struct fc_measurement *m, const struct fc_measurement_fit *fit,
                                  const struct fc_network *net, struct fc_measured_links *links, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct work w = {.m = m, .net = net};
    uint32_t *node;
    *links = (struct fc_measured_links){.node_class = net->link_class[net->first_link[fc_node_vertex(net, 0)]]};
    if (!find_nodes(m, net, &arena, &node, &links->by_host, st) &&
        !fc_walk_start(&w.walk, net->machine->routing->walk_capacity(net), st)) {
        w.node = node;
        w.load = fc_alloc(&arena, net->n_links, sizeof *w.load, st);
        if (w.load) {
            find_rates(&w, fit, links);
            find_latencies(&w, fit, &arena, links, st);
        }
        fc_walk_free(&w.walk);
    }
    return st->code;
}
