/* source_lists.c - closed loop: from a placed demand to the lists that source_closed.c draws packets from.
 *
 * Tasks are grouped by node, their entries become flows; targets of dense parts are listed once for all
 * senders. Flows (targets) are sorted by packets (by b[d], which gives the same order for every sender), most
 * first, so that those of any round are a prefix; in_order keeps the order of the demand. Packets and flits
 * are counted without visiting the pairs of dense parts: senders of equal a and targets of equal b at once.
 * O(entries log entries + tasks log tasks + cores^2 nodes + distinct a x distinct b) time, O(entries + tasks)
 * memory. */
#include "solvers/flit/source.h"

#include <math.h>
#include <stdlib.h>

static enum fc_code place_tasks(const struct fc_flit_net *flit, const uint32_t *node, struct fc_arena *arena,
                                struct fc_flit_closed *c, struct fc_status *st)
{
    uint32_t n = c->demand->n_tasks;
    long long cores = flit->net->machine->cores_per_node > 0 ? flit->net->machine->cores_per_node : 1;
    c->node = fc_alloc(arena, n, sizeof *c->node, st);
    c->task = c->node ? fc_alloc(arena, n, sizeof *c->task, st) : NULL;
    c->task_first = c->task ? fc_alloc(arena, (size_t)flit->n_nodes + 2, sizeof *c->task_first, st) : NULL;
    if (!c->task_first) return st->code;
    for (uint32_t t = 0; t < n; t++) {
        c->node[t] = node ? node[t] : (uint32_t)(t / cores);
        if (c->node[t] >= flit->n_nodes)
            return node ? fc_refuse(st, FC_INPUT, "task %u is placed on node %u of a network of %u nodes", t, node[t],
                                    flit->n_nodes)
                        : fc_refuse(st, FC_INPUT, "%u tasks do not fit on %u nodes of %lld cores", n, flit->n_nodes,
                                    cores);
        c->task_first[c->node[t] + 2]++;
    }
    for (uint32_t v = 1; v <= flit->n_nodes; v++) c->task_first[v + 1] += c->task_first[v];
    for (uint32_t t = 0; t < n; t++) c->task[c->task_first[c->node[t] + 1]++] = t; /* shifted back to its start */
    return FC_OK;
}

static enum fc_code check_flow(const struct fc_flit_flow *f, uint32_t src, struct fc_status *st)
{
    if (f->packets < UINT32_MAX - 1) return FC_OK;
    return fc_refuse(st, FC_NO, "task %u sends more than %u packets to one task", src, UINT32_MAX - 2);
}

struct sized { /* a flow or target, to be sorted: greatest first, then as listed */
    double size;
    uint32_t id;
};

static int by_size(const void *x, const void *y)
{
    const struct sized *a = x, *b = y;
    return a->size != b->size ? (a->size < b->size ? 1 : -1) : (a->id > b->id) - (a->id < b->id);
}

static void sort_flows(const struct fc_flit_closed *c, uint32_t *flow, size_t n, struct sized *scratch)
{
    bool sorted = true;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = (struct sized){(double)fc_flit_entry_flow(c, flow[i]).packets, flow[i]};
        sorted = sorted && (i == 0 || scratch[i].size <= scratch[i - 1].size);
    }
    if (sorted) return;
    qsort(scratch, n, sizeof *scratch, by_size);
    for (size_t i = 0; i < n; i++) flow[i] = scratch[i].id;
}

/* The sparse flows of each node that enter the network and have packets. */
static enum fc_code list_flows(const struct fc_flit_net *flit, struct fc_arena *arena, struct fc_arena *reading,
                               struct fc_flit_closed *c, struct fc_status *st)
{
    const struct fc_demand *d = c->demand;
    if (d->n_entries >= FC_FLIT_BACKGROUND) return fc_refuse(st, FC_NO, "%zu messages are too many", d->n_entries);
    uint64_t *row = fc_alloc(reading, (size_t)d->n_tasks + 1, sizeof *row, st);
    c->flow = row ? fc_alloc(arena, d->n_entries, sizeof *c->flow, st) : NULL;
    c->flow_first = c->flow ? fc_alloc(arena, (size_t)flit->n_nodes + 1, sizeof *c->flow_first, st) : NULL;
    struct sized *scratch = c->flow_first ? fc_alloc(reading, d->n_entries, sizeof *scratch, st) : NULL;
    if (!scratch) return st->code;
    for (size_t i = 0; i < d->n_entries; i++) {
        if (i && d->src[i] < d->src[i - 1])
            return fc_refuse(st, FC_FAULT, "demand entry %zu is not in order of senders", i);
        if (!(d->bytes[i] >= 0) || !isfinite(d->bytes[i]) || !(d->messages[i] >= 0))
            return fc_refuse(st, FC_INPUT, "task %u sends %g bytes in %g messages", d->src[i], d->bytes[i],
                             d->messages[i]);
        row[d->src[i] + 1]++;
    }
    for (uint32_t t = 0; t < d->n_tasks; t++) row[t + 1] += row[t];
    uint64_t n = 0;
    for (uint32_t v = 0; v < flit->n_nodes; v++) {
        c->flow_first[v] = n;
        for (uint64_t i = c->task_first[v]; i < c->task_first[v + 1]; i++)
            for (uint64_t e = row[c->task[i]]; e < row[c->task[i] + 1]; e++) {
                struct fc_flit_flow f = fc_flit_entry_flow(c, (uint32_t)e);
                if (f.dst_node == v || f.packets == 0) continue;
                if (check_flow(&f, c->task[i], st)) return st->code;
                c->flow[n++] = (uint32_t)e;
                c->packets += f.packets;
                c->deliveries += f.packets * (c->group ? c->group[e].n_targets - 1 : 0); /* beyond one each */
                c->flits += fc_flit_flow_flits(c, &f);
            }
        if (!c->in_order) sort_flows(c, c->flow + c->flow_first[v], n - c->flow_first[v], scratch);
    }
    c->flow_first[flit->n_nodes] = n;
    return FC_OK;
}

/* Adds the packets and flits of a part: senders of equal a and targets of equal b are counted at once, then
 * what stays within a node is taken off. b_of and a_of are sorted. */
static enum fc_code count_part(struct fc_flit_closed *c, uint32_t n_nodes, int part, const struct sized *a_of,
                               const struct sized *b_of, uint32_t n_b, struct fc_status *st)
{
    const struct fc_dense *dense = &c->demand->dense[part];
    for (uint32_t i = 0, next; i < c->demand->n_tasks && a_of[i].size > 0; i = next) {
        for (next = i + 1; next < c->demand->n_tasks && a_of[next].size == a_of[i].size;) next++;
        for (uint32_t j = 0, last; j < n_b; j = last) {
            for (last = j + 1; last < n_b && b_of[last].size == b_of[j].size;) last++;
            struct fc_flit_flow f = fc_flit_bytes_flow(c, a_of[i].size * b_of[j].size, dense->message_bytes);
            if (check_flow(&f, a_of[i].id, st)) return st->code;
            uint64_t pairs = (uint64_t)(next - i) * (last - j);
            c->packets += pairs * f.packets;
            c->flits += pairs * fc_flit_flow_flits(c, &f);
        }
    }
    for (uint32_t v = 0; v < n_nodes; v++)
        for (uint64_t i = c->task_first[v]; i < c->task_first[v + 1]; i++)
            for (uint64_t j = c->task_first[v]; j < c->task_first[v + 1]; j++) {
                struct fc_flit_flow f = fc_flit_dense_flow(c, c->task[i], part, c->task[j]);
                c->packets -= f.packets;
                c->flits -= fc_flit_flow_flits(c, &f);
            }
    return FC_OK;
}

static enum fc_code list_targets(const struct fc_flit_net *flit, struct fc_arena *arena, struct fc_arena *reading,
                                 struct fc_flit_closed *c, struct fc_status *st)
{
    const struct fc_demand *d = c->demand;
    uint32_t n = d->n_tasks, used = 0;
    c->n_parts = d->n_dense;
    size_t cells = (size_t)n * (size_t)d->n_dense;
    struct sized *a_of = fc_alloc(reading, n, sizeof *a_of, st), *b_of = fc_alloc(reading, n, sizeof *b_of, st);
    if (cells >= FC_NONE) return fc_refuse(st, FC_NO, "%u tasks are too many", n);
    c->target = fc_alloc(arena, cells, sizeof *c->target, st);
    c->most = c->target ? fc_alloc(arena, cells, sizeof *c->most, st) : NULL;
    c->least = c->most ? fc_alloc(arena, cells, sizeof *c->least, st) : NULL;
    if (!a_of || !b_of || !c->least) return st->code;
    for (int p = 0; p < d->n_dense; p++) {
        const struct fc_dense *dense = &d->dense[p];
        uint32_t n_b = 0;
        for (uint32_t t = 0; t < n; t++) {
            a_of[t] = (struct sized){dense->a[t], t};
            if (dense->b[t] > 0) b_of[n_b++] = (struct sized){dense->b[t], t};
        }
        if (c->in_order) /* listed by number, counted by size */
            for (uint32_t i = 0; i < n_b; i++) c->target[used + i] = b_of[i].id;
        qsort(a_of, n, sizeof *a_of, by_size);
        qsort(b_of, n_b, sizeof *b_of, by_size);
        if (!c->in_order)
            for (uint32_t i = 0; i < n_b; i++) c->target[used + i] = b_of[i].id;
        if (count_part(c, flit->n_nodes, p, a_of, b_of, n_b, st)) return st->code;
        for (uint32_t t = 0; t < n && n_b; t++) {
            size_t at = (size_t)t * (size_t)d->n_dense + (size_t)p;
            c->most[at] = (uint32_t)fc_flit_dense_flow(c, t, p, b_of[0].id).packets;
            c->least[at] = (uint32_t)fc_flit_dense_flow(c, t, p, b_of[n_b - 1].id).packets;
        }
        used += n_b;
        c->part_first[p + 1] = used;
    }
    return FC_OK;
}

/* Flows of one node must be countable in 32 bits. */
static enum fc_code check_places(const struct fc_flit_net *flit, const struct fc_flit_closed *c, struct fc_status *st)
{
    for (uint32_t v = 0; v < flit->n_nodes; v++) {
        double flows = (double)(c->flow_first[v + 1] - c->flow_first[v]) +
                       (double)(c->task_first[v + 1] - c->task_first[v]) * c->part_first[c->n_parts];
        if (flows >= UINT32_MAX)
            return fc_refuse(st, FC_NO, "node %u sends to %.3g destinations (at most %u can be held)", v, flows,
                             UINT32_MAX - 1);
    }
    return FC_OK;
}

static enum fc_code check_settings(const struct fc_flit_settings *settings, struct fc_status *st)
{
    if (settings->load_flits_per_cycle != 0)
        return fc_refuse(st, FC_INPUT, "load %g: traffic of finite messages is sent as fast as it goes and has no load",
                         settings->load_flits_per_cycle);
    if (settings->backlog)
        return fc_refuse(st, FC_INPUT, "backlog: only open-loop traffic can have one; finite messages come to an end");
    if (settings->packet_flits_min || settings->packet_flits_max)
        return fc_refuse(st, FC_INPUT, "packet length: finite messages are cut as the machine's packet: says");
    if (!(settings->source_gap_cycles >= 0) || !isfinite(settings->source_gap_cycles))
        return fc_refuse(st, FC_INPUT, "source gap: %g cycles (expected 0 or more)", settings->source_gap_cycles);
    return FC_OK;
}

enum fc_code fc_flit_closed_shape(const struct fc_flit_net *flit, struct fc_flit_closed *c, struct fc_status *st)
{
    const struct fc_packet *packet = &flit->net->machine->packet;
    c->flit_bytes = flit->net->machine->router.flit_bytes;
    c->header_bytes = packet->header_bytes;
    double largest = packet->max_bytes > 0 ? packet->max_bytes : flit->packet_flits_max * c->flit_bytes;
    c->payload_bytes = largest - c->header_bytes;
    c->flits_most = flit->packet_flits_max;
    c->flits_least = (uint32_t)fmax(1, ceil(packet->min_bytes / c->flit_bytes - 1e-9));
    if (!(c->payload_bytes > 0) || fc_flit_flits_of(c, c->payload_bytes) * c->flit_bytes < largest * (1 - 1e-9))
        return fc_refuse(st, FC_FAULT, "packets of %g bytes, %g of them header, in %u flits of %g bytes", largest,
                         c->header_bytes, c->flits_most, c->flit_bytes);
    return FC_OK;
}

enum fc_code fc_flit_closed_make(const struct fc_flit_net *flit, const struct fc_demand *demand, const uint32_t *node,
                                 const struct fc_flit_settings *settings, struct fc_flit_traffic *traffic,
                                 struct fc_status *st)
{
    if (check_settings(settings, st)) return st->code;
    struct fc_flit_closed *c = &traffic->closed;
    if (flit->multicast) {
        if (fc_flit_groups_make(flit, demand, node, traffic, st)) return st->code;
        demand = &traffic->multicasts;
    }
    c->demand = demand;
    c->in_order = settings->in_order;
    c->gap_ticks = settings->source_gap_cycles * flit->ticks_per_cycle;
    if (fc_flit_closed_shape(flit, c, st)) return st->code;
    struct fc_arena reading = {0};
    enum fc_code code = place_tasks(flit, node, &traffic->arena, c, st);
    if (!code) code = list_flows(flit, &traffic->arena, &reading, c, st);
    if (!code) code = list_targets(flit, &traffic->arena, &reading, c, st);
    if (!code) code = check_places(flit, c, st);
    fc_arena_free(&reading);
    if (!code && c->packets == 0)
        code = fc_refuse(st, FC_INPUT, "'%s' has no message between different nodes: nothing to send",
                         demand->name ? demand->name : "the demand");
    c->deliveries += c->packets;
    if (!code) traffic->mean_flits = (double)c->flits / (double)c->packets;
    return code;
}

void fc_flit_traffic_free(struct fc_flit_traffic *traffic)
{
    if (!traffic) return;
    fc_flit_traffic_free(traffic->high);
    fc_flit_traffic_free(traffic->background);
    fc_arena_free(&traffic->arena);
    free(traffic);
}
