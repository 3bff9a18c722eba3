/* transit_fifos.c - what a node's injection FIFOs cost its messages, in a model without packets.
 *
 * A node's packets enter their router through FIFOs, the virtual channels of the injection link (Blue Gene/L has six: Adiga et
 * al., IBM J. Res. Dev. 49(2/3), 2005), the messages of a node a packet each in turn. A packet at the head of a FIFO goes on when
 * a link that it may take is free; those behind it wait. Two things follow that rates over links do not show:
 *
 * 1. A FIFO feeds one link at a time, at the pace of that link: with r_i the rate of message i of the node, b_i the bandwidth
 *    of the links that it takes behind the router (1/b_i the mean of theirs, by what crosses each), and F FIFOs,
 *
 *        sum r_i / b_i <= F.
 *
 *    Six neighbours of a node with two FIFOs get a third of what their links carry; the kernel says 0.33 under dimension order
 *    and 0.40 under adaptive routing, with one FIFO 0.17 and 0.20.
 * 2. A message that leaves while others of its node are under way finds the FIFOs full of their packets. All but the packets at
 *    the heads go before it. With q the bytes there - the least of what the others have left, of what the FIFOs hold, and of what
 *    the node's links have brought beyond what went on, (in - R) times how long there have been others without a pause - and R
 *    the rate of the others together, it waits for
 *
 *        max(0, q - F packets) / R.
 *
 *    Ten rounds of six messages, each begun when its receiver has said so, take 1.45 times as long as their links need (kernel,
 *    six FIFOs of 1 KiB). What of the two was chosen against the kernel, and what it brings: docs/notes/theory-timing.md.
 *
 * Limits: which of the packets at the heads want the same link is not looked at, so as many FIFOs as links feed all of them. R is
 * what it is when the message leaves. Messages that wait do not count for those after them. High-priority channels are no FIFOs of
 * data. */
#include "solvers/transit/transit_fifos.h"
#include "solvers/flit/flit.h"

#include <math.h>

#define LEAST_RATE 1e-9 /* of the node's links; less is what rounding has left of a sum */

/* Whether so many FIFOs could feed a link out of a router more slowly than a node's link brings. */
static bool bind(const struct fc_network *net, int n_fifos)
{
    for (uint32_t l = net->first_link[net->n_routers]; l < net->n_links; l++) {
        uint32_t router = net->link_target[l];
        if (fc_is_node(net, router)) continue;
        for (uint32_t k = net->first_link[router]; k < net->first_link[router + 1]; k++)
            if (n_fifos * fc_link_bandwidth(net, k) < fc_link_bandwidth(net, l) * (1 - 1e-9)) return true;
    }
    return false;
}

enum fc_code fc_fifos_open(struct fc_fifos *fifos, const struct fc_network *net, struct fc_arena *arena,
                           struct fc_status *st)
{
    const struct fc_machine *m = net->machine;
    const struct fc_router *router = &m->router;
    *fifos = (struct fc_fifos){.net = net};
    if (!(router->injection_fifos > 0 || router->vcs_given)) return FC_OK;
    double longest = m->packet.max_bytes > 0 ? m->packet.max_bytes : router->flit_bytes;
    double wire = fc_wire_bytes(m, longest - (m->packet.max_bytes > 0 ? m->packet.header_bytes : 0)) / longest;
    double buffer = router->injection_buffer_bytes > 0 ? router->injection_buffer_bytes : router->buffer_bytes;
    int n_fifos = fc_flit_fifos(net);
    fifos->n_fifos = n_fifos;
    fifos->buffer_bytes = buffer * wire;
    fifos->packet_bytes = longest * wire;
    fifos->bind = n_fifos > 0 && bind(net, n_fifos);
    fifos->node = fc_alloc(arena, net->n_nodes, sizeof *fifos->node, st);
    return st->code;
}

double fc_fifos_capacity(const struct fc_fifos *fifos, uint32_t node)
{
    uint32_t v = fc_node_vertex(fifos->net, node);
    return fifos->n_fifos * (fifos->net->first_link[v + 1] - fifos->net->first_link[v]);
}

double fc_fifos_s_per_byte(const struct fc_network *net, uint32_t node, uint32_t n, const uint32_t *link,
                           const double *weight)
{
    double sum = 0;
    for (uint32_t k = 0; k < n; k++)
        if (fc_fifos_feed(net, node, link[k])) sum += weight[k] / fc_link_bandwidth(net, link[k]);
    return sum;
}

static double bandwidth_in(const struct fc_network *net, uint32_t node)
{
    uint32_t v = fc_node_vertex(net, node);
    double sum = 0;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) sum += fc_link_bandwidth(net, l);
    return sum;
}

struct fc_fifos_wait fc_fifos_wait(const struct fc_fifos *fifos, uint32_t node, double now_s)
{
    struct fc_fifos_wait wait = {0};
    const struct fc_fifos_node *x = fifos->n_fifos > 0 ? &fifos->node[node] : NULL;
    if (!x || x->n == 0 || !(now_s > x->since_s)) return wait;
    double in = bandwidth_in(fifos->net, node), capacity = fc_fifos_capacity(fifos, node);
    if (!(x->rate > LEAST_RATE * in)) return wait;
    double left = x->left_bytes - x->rate * now_s, brought = (in - x->rate) * (now_s - x->since_s);
    double bytes = fmin(left, fmin(capacity * fifos->buffer_bytes, brought));
    wait.rate = x->rate;
    wait.is_all = bytes == left;
    wait.s = fmax(0, bytes - capacity * fifos->packet_bytes) / x->rate;
    return wait;
}

void fc_fifos_begins(struct fc_fifos *fifos, uint32_t node, double wire_bytes, double now_s)
{
    if (!(fifos->n_fifos > 0)) return;
    struct fc_fifos_node *x = &fifos->node[node];
    if (x->n++ == 0) x->since_s = now_s;
    x->left_bytes += wire_bytes;
}

void fc_fifos_drops(struct fc_fifos *fifos, uint32_t node, double left_bytes, double since_s, double rate)
{
    if (!(fifos->n_fifos > 0)) return;
    fifos->node[node].rate -= rate;
    fifos->node[node].left_bytes -= left_bytes + rate * since_s;
}

void fc_fifos_takes(struct fc_fifos *fifos, uint32_t node, double left_bytes, double since_s, double rate)
{
    fc_fifos_drops(fifos, node, -left_bytes, since_s, -rate);
}

void fc_fifos_ends(struct fc_fifos *fifos, uint32_t node, double left_bytes, double since_s, double rate)
{
    if (!(fifos->n_fifos > 0)) return;
    struct fc_fifos_node *x = &fifos->node[node];
    fc_fifos_drops(fifos, node, left_bytes, since_s, rate);
    if (--x->n == 0) x->rate = x->left_bytes = 0; /* without what rounding has left */
}
