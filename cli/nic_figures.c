/* nic_figures.c - what `machines NAME` says of a network interface, from the models of solvers/nic/nic.h. */
#include "cli/nic_figures.h"
#include "solvers/nic/nic.h"

#define LONG_BYTES (1 << 20)

/* The node farthest from node 0, the last one of several. */
static enum fc_code farthest(const struct fc_network *net, uint32_t *node, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    uint32_t *distance = fc_alloc(&arena, 2 * (size_t)net->n_vertices, sizeof *distance, st);
    *node = 0;
    if (distance) {
        fc_distances(net, fc_node_vertex(net, 0), distance, distance + net->n_vertices);
        for (uint32_t n = 1; n < net->n_nodes; n++)
            if (distance[fc_node_vertex(net, n)] >= distance[fc_node_vertex(net, *node)]) *node = n;
    }
    return st->code;
}

static enum fc_code pair_figures(const struct fc_network *net, struct fc_nic_figures *f, struct fc_status *st)
{
    const struct fc_machine *m = net->machine;
    struct fc_nic_way way;
    struct fc_nic_peaks peaks;
    uint32_t node;
    if (farthest(net, &node, st) || fc_nic_way(net, 0, node, &way, st)) return st->code;
    fc_nic_peaks(m, &peaks);
    f->put_s = fc_nic_put_s(m, &way, 0, FC_NIC_HOST);
    f->message_s = fc_nic_message_s(m, &way, 0, FC_NIC_HOST);
    f->put_bytes_per_s = fmin(peaks.put, peaks.engine);
    f->pair_bytes_per_s = fc_nic_pair_rate(m, &way, FC_NIC_HOST);
    if (m->nic.amo_hit_cycles > 0) {
        f->amo_hit_per_s = m->nic.clock_hz / m->nic.amo_hit_cycles;
        f->amo_miss_per_s = m->nic.clock_hz / m->nic.amo_miss_cycles;
    }
    return FC_OK;
}

static enum fc_code collective_figures(const struct fc_network *net, struct fc_nic_figures *f, struct fc_status *st)
{
    const struct fc_nic *nic = &net->machine->nic;
    struct fc_nic_time time;
    if (nic->barrier_s > 0) {
        if (fc_nic_barrier(net, net->n_nodes, FC_NIC_BARRIER_HARDWARE, NULL, 0, &time, st)) return st->code;
        f->barrier_s = time.mean_s;
    }
    if (nic->tree_s > 0) {
        if (fc_nic_barrier(net, net->n_nodes, FC_NIC_BARRIER_SOFTWARE, NULL, 0, &time, st)) return st->code;
        f->software_barrier_s = time.mean_s;
    }
    if (nic->broadcast_s > 0 && net->machine->packet.max_bytes > 0) {
        double long_s;
        if (fc_nic_broadcast(net, net->n_nodes, 64, FC_NIC_BROADCAST_HARDWARE, FC_NIC_OWN, NULL, &f->broadcast_s, st) ||
            fc_nic_broadcast(net, net->n_nodes, LONG_BYTES, FC_NIC_BROADCAST_HARDWARE, FC_NIC_OWN, NULL, &long_s, st))
            return st->code;
        f->broadcast_bytes_per_s = LONG_BYTES / long_s;
    }
    return FC_OK;
}

enum fc_code fc_nic_figures(const struct fc_network *net, struct fc_nic_figures *f, struct fc_status *st)
{
    *f = (struct fc_nic_figures){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (net->machine->nic.line == 0 || net->n_nodes < 2) return FC_OK;
    if (pair_figures(net, f, st)) return st->code;
    return collective_figures(net, f, st);
}

static const char *rate(char *out, size_t size, double bytes_per_s)
{
    return isinf(bytes_per_s) ? "no limit" : fc_format(out, size, bytes_per_s, FC_BYTES_PER_S);
}

void fc_nic_print(const struct fc_nic_figures *f, FILE *stream)
{
    char a[64], b[64];
    if (isnan(f->put_s)) return;
    fprintf(stream, "nic         to the farthest node: put %s, message %s, empty\n",
            fc_format(a, sizeof a, f->put_s, FC_SECONDS), fc_format(b, sizeof b, f->message_s, FC_SECONDS));
    fprintf(stream, "nic         puts of a node %s, to the farthest node alone %s\n",
            rate(a, sizeof a, f->put_bytes_per_s), rate(b, sizeof b, f->pair_bytes_per_s));
    if (!isnan(f->amo_hit_per_s))
        fprintf(stream, "nic         atomic operations on a node %.4g M/s cached, %.4g M/s not\n",
                f->amo_hit_per_s / 1e6, f->amo_miss_per_s / 1e6);
    if (!isnan(f->barrier_s))
        fprintf(stream, "nic         barrier of all nodes in hardware %s\n",
                fc_format(a, sizeof a, f->barrier_s, FC_SECONDS));
    if (!isnan(f->software_barrier_s))
        fprintf(stream, "nic         barrier of all nodes in software %s\n",
                fc_format(a, sizeof a, f->software_barrier_s, FC_SECONDS));
    if (!isnan(f->broadcast_s))
        fprintf(stream, "nic         broadcast to all nodes, of 64 bytes %s, of 1 MiB at %s\n",
                fc_format(a, sizeof a, f->broadcast_s, FC_SECONDS),
                fc_format(b, sizeof b, f->broadcast_bytes_per_s, FC_BYTES_PER_S));
}

json_t *fc_nic_json(const struct fc_network *net, const struct fc_nic_figures *f)
{
    if (net->machine->nic.line == 0) return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "put_s", fc_json_real(f->put_s), "message_s",
                     fc_json_real(f->message_s), "put_bytes_per_s", fc_json_real(f->put_bytes_per_s),
                     "pair_bytes_per_s", fc_json_real(f->pair_bytes_per_s), "amo_cached_per_s",
                     fc_json_real(f->amo_hit_per_s), "amo_uncached_per_s", fc_json_real(f->amo_miss_per_s), "barrier_s",
                     fc_json_real(f->barrier_s), "software_barrier_s", fc_json_real(f->software_barrier_s),
                     "broadcast_64_bytes_s", fc_json_real(f->broadcast_s), "broadcast_1_mib_bytes_per_s",
                     fc_json_real(f->broadcast_bytes_per_s));
}
