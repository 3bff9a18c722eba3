/* transit_fifos.c - what a node's injection FIFOs cost its messages, in a model without packets.
 *
 * A node's packets enter their router through FIFOs, the virtual channels of the injection link (Blue Gene/L has six: Adiga et
 * al., IBM J. Res. Dev. 49(2/3), 2005), the messages of a node a packet each in turn. A packet at the head of a FIFO goes on when
 * a link that it may take is free; those behind it wait. Three things follow that rates over links do not show:
 *
 * 1. A FIFO feeds one link at a time, at the pace of that link: with r_i the rate of message i of the node, b_i the bandwidth
 *    of the links that it takes behind the router (1/b_i the mean of theirs, by what crosses each), and F FIFOs,
 *
 *        sum r_i / b_i <= F.
 *
 *    Six neighbours of a node with two FIFOs get a third of what their links carry; the kernel says 0.33 under dimension order
 *    and 0.40 under adaptive routing, with one FIFO 0.17 and 0.20.
 * 2. A message that leaves while others of its node are under way finds their packets in the FIFOs. All but those at the heads go
 *    before it, so it begins when the node's messages have moved
 *
 *        q - F packets
 *
 *    bytes more, at whatever rates they get. q, what is in the FIFOs, is the least of what the others have left, those that wait
 *    included, of what the FIFOs hold, and of what was there when the last one before left and the node's links have brought since,
 *    but for what has gone on. q + bytes gone on never falls, so messages begin in the order in which they left.
 *
 *    Ten rounds of six messages, each begun when its receiver has said so, take 1.45 times as long as their links need (kernel,
 *    six FIFOs of 1 KiB). What of several ways was chosen against the kernel, and what it brings: docs/notes/theory-timing.md.
 *
 * 3. A node's links carry a packet after the other. Of messages of less than SHORT packets that leave a node together, or go to one together, each
 *    begins when the first packets of those before it are there, a packet's time on the node's links later than the last one:
 *
 *        t_k = max(d_k, t_k-1 + min(W_k-1, packet) / b_node)
 *
 *    d_k when message k left. So messages of one packet arrive one after the other; shares alone would have all of them
 *    arrive with the last (allreduce of four ranks a node on qsnet-64: 12 % slow without, 4 % fast; two or three packets to one node
 *    from all others on trees: 8 to 25 % slow without, since the receiver's software has nothing to do until then). Of longer ones a packet is
 *    less than a SHORT-th, and each turn costs a solve: they have their share at once. A receiver's turns are taken when a message has had its sender's,
 *    not when it comes, and are COMES packets apart.
 *
 * Limits: which of the packets at the heads want the same link is not looked at, so as many FIFOs as links feed all of them. High-priority
 * channels are no FIFOs of data. */
#include "solvers/transit/transit_fifos.h"
#include "solvers/adjoint/adjoint.h"
#include "solvers/flit/flit.h"
#include "solvers/transit/transit_internal.h"

#include <math.h>
#include <stdlib.h>

#define COMES 0.9       /* packets' times between turns at a receiver: 1 leaves its links idle behind slower ones */
#define SHORT 8         /* packets of a message; with 4 to all (no limit) traces are as near to the kernel */
#define SLACK 1e-6      /* of a packet: as good as nothing */
#define LEAST_RATE 1e-9 /* of the node's links; less is what rounding has left of a sum */

/* A message that waits. */
struct fc_fifos_waiting {
    struct fc_transit_message message;
    double until_bytes; /* it begins when so many have gone on */
    uint32_t next, steps;
};

/* Whether some link out of a node's router is slower than the node's own: what the FIFOs feed may be less than the node's links bring. */
static bool bind(const struct fc_network *net, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    double *slowest =
        fc_alloc(&scratch, net->n_routers, sizeof *slowest, st); /* link out of a router; 0: not looked at */
    for (uint32_t l = net->first_link[net->n_routers]; slowest && l < net->n_links; l++) {
        uint32_t router = net->link_target[l];
        if (fc_is_node(net, router)) continue;
        if (slowest[router] == 0) {
            double least = INFINITY;
            for (uint32_t k = net->first_link[router]; k < net->first_link[router + 1]; k++) {
                double here = fc_link_bandwidth(net, k);
                least = here < least ? here : least;
            }
            slowest[router] = least;
        }
        if (slowest[router] < fc_link_bandwidth(net, l) * (1 - 1e-9)) return true;
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
    fifos->bind = n_fifos > 0 && bind(net, st);
    fifos->free = FC_NONE;
    fifos->node = fc_alloc(arena, net->n_nodes, sizeof *fifos->node, st);
    fifos->turn = fc_alloc(arena, 2 * (size_t)net->n_nodes, sizeof *fifos->turn, st);
    for (uint32_t i = 0; fifos->node && i < net->n_nodes; i++)
        fifos->node[i] = (struct fc_fifos_node){.first = FC_NONE, .last = FC_NONE, .foreseen_s = INFINITY};
    return st->code;
}

void fc_fifos_close(struct fc_fifos *fifos)
{
    free(fifos->waiting);
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

/* Bytes of the node's messages that have gone on by now, since there have been any without a pause. */
static double moved(const struct fc_fifos_node *x, double now_s)
{
    return x->sent_bytes - (x->left_bytes - x->rate * now_s);
}

/* Bytes in the FIFOs. */
static double held(const struct fc_fifos *fifos, uint32_t node, double now_s)
{
    const struct fc_fifos_node *x = &fifos->node[node];
    double left = x->left_bytes - x->rate * now_s, full = fc_fifos_capacity(fifos, node) * fifos->buffer_bytes;
    double in = bandwidth_in(fifos->net, node) * (now_s - x->at_s);
    return fmax(0, fmin(fmin(left, full), x->held_bytes + in - (moved(x, now_s) - x->moved_bytes)));
}

static double heads(const struct fc_fifos *fifos, uint32_t node)
{
    return fc_fifos_capacity(fifos, node) * fifos->packet_bytes;
}

static enum fc_code keep(struct fc_transit *t, struct fc_fifos *fifos, const struct fc_transit_message *m,
                         double until_bytes, bool is_all)
{
    struct fc_fifos_node *x = &fifos->node[m->src];
    uint32_t i = fifos->free;
    if (i == FC_NONE && !fc_transit_reserve((void **)&fifos->waiting, &fifos->waiting_capacity, fifos->n_made + 1,
                                            sizeof *fifos->waiting, t->st))
        return t->st->code;
    if (i == FC_NONE)
        i = (uint32_t)fifos->n_made++;
    else
        fifos->free = fifos->waiting[i].next;
    struct fc_adjoint *a = t->settings.adjoint;
    fifos->waiting[i] = (struct fc_fifos_waiting){*m, until_bytes, FC_NONE,
                                                  a && !is_all ? fc_adjoint_queues(a, m->src, m->time_s) : FC_NONE};
    *(x->first == FC_NONE ? &x->first : &fifos->waiting[x->last].next) = i;
    x->last = i;
    fifos->n_waiting++;
    return fc_fifos_foresee(t, fifos, m->src, m->time_s);
}

enum fc_code fc_fifos_turn(struct fc_transit *t, struct fc_fifos *fifos, const struct fc_transit_message *m,
                           bool *later)
{
    struct fc_transit_message after = *m;
    struct fc_adjoint *a = t->settings.adjoint;
    *later = false;
    if (!(fifos->n_fifos > 0) || !(m->wire_bytes < SHORT * fifos->packet_bytes)) return FC_OK;
    while (after.turns < 2 && !*later) {
        bool comes = after.turns++ > 0;
        uint32_t node = comes ? m->dst : m->src, link = t->net->first_link[fc_node_vertex(t->net, node)];
        struct fc_fifos_turn *turn = &fifos->turn[2 * (size_t)node + comes];
        *later = turn->until_s > m->time_s;
        if (*later) after.time_s = turn->until_s;
        if (*later && a) fc_adjoint_follows(a, m->id, turn->began, t->net->link_class[link], turn->packet_s);
        if (a) turn->began = a->departs[fc_adjoint_slot(m->id)];
        turn->packet_s = (comes ? COMES : 1) * fmin(m->wire_bytes, fifos->packet_bytes) / bandwidth_in(t->net, node);
        turn->until_s = after.time_s + turn->packet_s;
    }
    return *later ? fc_transit_hold(t, &after) : FC_OK;
}

enum fc_code fc_fifos_leaves(struct fc_transit *t, struct fc_fifos *fifos, const struct fc_transit_message *m,
                             bool *waits)
{
    *waits = false;
    if (!(fifos->n_fifos > 0)) return FC_OK;
    struct fc_fifos_node *x = &fifos->node[m->src];
    double now_s = m->time_s;
    if (x->n == 0)
        *x = (struct fc_fifos_node){.first = FC_NONE, .last = FC_NONE, .foreseen_s = INFINITY, .at_s = now_s};
    double left = x->left_bytes - x->rate * now_s, before = held(fifos, m->src, now_s), least = heads(fifos, m->src);
    x->held_bytes = before;
    x->at_s = now_s;
    x->moved_bytes = moved(x, now_s);
    x->sent_bytes += m->wire_bytes;
    x->left_bytes += m->wire_bytes;
    x->n++;
    *waits = x->first != FC_NONE || (before > least + SLACK * fifos->packet_bytes && x->n_moving > 0);
    return *waits ? keep(t, fifos, m, x->moved_bytes + before - least, before == left) : FC_OK;
}

static bool reached(const struct fc_fifos *fifos, const struct fc_fifos_node *x, double now_s)
{
    return x->n_moving == 0 || moved(x, now_s) >= fifos->waiting[x->first].until_bytes - SLACK * fifos->packet_bytes;
}

bool fc_fifos_next(struct fc_fifos *fifos, uint32_t node, double now_s, struct fc_transit_message *m, uint32_t *steps,
                   double *waited_s)
{
    struct fc_fifos_node *x = &fifos->node[node];
    if (now_s >= x->foreseen_s) x->foreseen_s = INFINITY;
    if (x->first == FC_NONE || !reached(fifos, x, now_s)) return false;
    struct fc_fifos_waiting *w = &fifos->waiting[x->first];
    uint32_t next = w->next;
    *m = w->message;
    *waited_s = now_s - m->time_s;
    m->time_s = now_s;
    m->waited = true;
    *steps = w->steps;
    w->next = fifos->free;
    fifos->free = x->first;
    x->first = next;
    fifos->n_waiting--;
    return true;
}

enum fc_code fc_fifos_foresee_first(struct fc_transit *t, struct fc_fifos *fifos, uint32_t node, double now_s)
{
    struct fc_fifos_node *x = &fifos->node[node];
    const struct fc_fifos_waiting *w = &fifos->waiting[x->first];
    double at_s = now_s;
    if (!reached(fifos, x, now_s))
        at_s = x->rate > LEAST_RATE * bandwidth_in(fifos->net, node)
                   ? now_s + (w->until_bytes - moved(x, now_s)) / x->rate
                   : INFINITY;
    if (!(at_s < x->foreseen_s)) return FC_OK;
    struct fc_transit_message m = w->message;
    m.time_s = x->foreseen_s = at_s;
    m.waited = true;
    return fc_transit_hold(t, &m);
}

void fc_fifos_ends(struct fc_fifos *fifos, uint32_t node, double left_bytes, double since_s, double rate)
{
    if (!(fifos->n_fifos > 0)) return;
    struct fc_fifos_node *x = &fifos->node[node];
    fc_fifos_drops(fifos, node, left_bytes, since_s, rate);
    if (--x->n_moving == 0) x->rate = 0; /* without what rounding has left */
    x->n--;
}
