/* cut_bound.c - lower bounds of max over links of load / bandwidth that hold however the routing splits the traffic.
 *
 * Cut: whatever the routes, the bytes that must leave (enter) a set of routers cross the links that leave (enter)
 * it: T >= bytes across / bandwidth across. Evaluated for every block of the family's partitions, for every router
 * and for every node; of tori with minimal routing for every dimension (cut_torus.c). All are weak duals of the
 * flow LP (Dally & Towles, sec. 3.3), never above it. Traffic without a choice: forced_bound.c. */
#include "solvers/bound/cut_torus.h"

#include <string.h>

struct cuts {
    const struct fc_network *net;
    const struct fc_node_demand *demand;
    const double *background;
    uint32_t *label;            /* [n_routers] */
    uint32_t *node_label;       /* [n_nodes] */
    double *out, *in;           /* [labels] bytes */
    double *out_rate, *in_rate; /* [labels] bytes/s across */
    double *sum_a, *sum_b;      /* [labels] */
    double bound_s;
};

/* A node belongs to a block when all its routers do. */
static void label_nodes(struct cuts *c)
{
    const struct fc_network *net = c->net;
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        uint32_t v = fc_node_vertex(net, n), first = net->first_link[v], end = net->first_link[v + 1];
        c->node_label[n] = first == end ? FC_NONE : c->label[net->link_target[first]];
        for (uint32_t l = first; l < end; l++)
            if (c->label[net->link_target[l]] != c->node_label[n]) c->node_label[n] = FC_NONE;
    }
}

static void raise(struct cuts *c, double bytes, double bytes_per_s)
{
    if (bytes > 0 && bytes_per_s > 0 && isfinite(bytes_per_s)) c->bound_s = fmax(c->bound_s, bytes / bytes_per_s);
}

static void cut_blocks(struct cuts *c, uint32_t n_labels)
{
    const struct fc_network *net = c->net;
    const struct fc_node_demand *d = c->demand;
    double *arrays[] = {c->out, c->in, c->out_rate, c->in_rate};
    for (size_t i = 0; i < FC_COUNT(arrays); i++) memset(arrays[i], 0, n_labels * sizeof **arrays);
    label_nodes(c);
    for (uint32_t l = 0; l < net->first_link[net->n_routers]; l++) {
        uint32_t to = net->link_target[l];
        if (fc_is_node(net, to)) continue;
        uint32_t a = c->label[net->link_source[l]], b = c->label[to];
        if (a == b) continue;
        double rate = fc_free_bandwidth(net, c->background, l);
        if (a != FC_NONE) c->out_rate[a] += rate;
        if (b != FC_NONE) c->in_rate[b] += rate;
    }
    for (size_t e = 0; e < d->n; e++) {
        uint32_t a = c->node_label[d->src[e]], b = c->node_label[d->dst[e]];
        if (a == b) continue;
        if (a != FC_NONE) c->out[a] += d->bytes[e];
        if (b != FC_NONE) c->in[b] += d->bytes[e];
    }
    for (int i = 0; i < d->n_dense; i++) {
        double total_a = 0, total_b = 0;
        memset(c->sum_a, 0, n_labels * sizeof *c->sum_a);
        memset(c->sum_b, 0, n_labels * sizeof *c->sum_b);
        for (uint32_t n = 0; n < net->n_nodes; n++) {
            total_a += d->a[i][n];
            total_b += d->b[i][n];
            if (c->node_label[n] == FC_NONE) continue;
            c->sum_a[c->node_label[n]] += d->a[i][n];
            c->sum_b[c->node_label[n]] += d->b[i][n];
        }
        for (uint32_t b = 0; b < n_labels; b++) {
            c->out[b] += c->sum_a[b] * (total_b - c->sum_b[b]);
            c->in[b] += c->sum_b[b] * (total_a - c->sum_a[b]);
        }
    }
    for (uint32_t b = 0; b < n_labels; b++) {
        raise(c, c->out[b], c->out_rate[b]);
        raise(c, c->in[b], c->in_rate[b]);
    }
}

/* Each node against all its injection links and all its ejection links: the loads of both are fixed in sum. */
static void cut_nodes(struct cuts *c)
{
    const struct fc_network *net = c->net;
    const struct fc_node_demand *d = c->demand;
    double *out = c->out, *in = c->in, *in_rate = c->in_rate;
    memset(out, 0, net->n_nodes * sizeof *out);
    memset(in, 0, net->n_nodes * sizeof *in);
    memset(in_rate, 0, net->n_nodes * sizeof *in_rate);
    for (size_t e = 0; e < d->n; e++) {
        out[d->src[e]] += d->bytes[e];
        in[d->dst[e]] += d->bytes[e];
    }
    for (int i = 0; i < d->n_dense; i++) {
        double total_a = 0, total_b = 0;
        for (uint32_t n = 0; n < net->n_nodes; n++) total_a += d->a[i][n], total_b += d->b[i][n];
        for (uint32_t n = 0; n < net->n_nodes; n++) {
            out[n] += d->a[i][n] * (total_b - d->b[i][n]);
            in[n] += d->b[i][n] * (total_a - d->a[i][n]);
        }
    }
    for (uint32_t l = 0; l < net->n_links; l++)
        if (fc_is_node(net, net->link_target[l]))
            in_rate[net->link_target[l] - net->n_routers] += fc_free_bandwidth(net, c->background, l);
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        double rate = 0;
        uint32_t v = fc_node_vertex(net, n);
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
            rate += fc_free_bandwidth(net, c->background, l);
        raise(c, out[n], rate);
        raise(c, in[n], in_rate[n]);
    }
}

enum fc_code fc_cut_bound(const struct fc_network *net, const struct fc_node_demand *demand,
                          const double *background_bytes_per_s, double *bound_s, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t most = net->n_vertices;
    struct cuts c = {.net = net, .demand = demand, .background = background_bytes_per_s};
    c.label = fc_alloc(&scratch, net->n_routers, sizeof *c.label, st);
    c.node_label = fc_alloc(&scratch, net->n_nodes, sizeof *c.node_label, st);
    double **arrays[] = {&c.out, &c.in, &c.out_rate, &c.in_rate, &c.sum_a, &c.sum_b};
    for (size_t i = 0; i < FC_COUNT(arrays); i++) *arrays[i] = fc_alloc(&scratch, most, sizeof(double), st);
    if (!st->code) {
        for (uint32_t v = 0; v < net->n_routers; v++) c.label[v] = v;
        cut_blocks(&c, net->n_routers);
        cut_nodes(&c);
        const struct fc_family_ops *family = net->machine->family;
        for (int i = 0; family->partition; i++) {
            uint32_t n = family->partition(net, i, c.label);
            if (n == 0) break;
            cut_blocks(&c, n);
        }
        double forced_s = 0, dimensions_s = 0;
        fc_cut_torus(net, demand, background_bytes_per_s, &dimensions_s, st);
        fc_forced_bound(net, demand, background_bytes_per_s, &forced_s, st);
        *bound_s = fmax(fmax(c.bound_s, dimensions_s), forced_s);
    }
    return st->code;
}
