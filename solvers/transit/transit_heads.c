/* transit_heads.c - what links lose because of a node's packets only the heads of its FIFOs go on, in a model without packets.
 *
 * F packets are at the heads of a node's F FIFOs. A link that none of them wants stands idle, though packets behind them want it. The
 * node's messages take turns, so where n messages move a head is one of each with 1/n, and wants link l with
 *
 *     a_l = 1/n sum over its messages of w_il       w_il: the share of message i's packets that take l; of a routing
 *                                                   whose packets choose what is free, 1 for each link that they may take.
 *
 * No head wants l with (1 - a_l)^F, independent draws. It is the bandwidth of F processors that ask for memories at random
 * (Strecker 1970; Patel, IEEE Trans. Comput. C-30(10), 1981; with queues in saturation Karol, Hluchyj & Morgan 1987 have 0.586 for many
 * inputs with one head each, this has 1 - 1/e). Two cases:
 *
 * Behind the node's routers, where a link there is slower than the node's: heads wait for these. With b_i as in transit_fifos.c the
 * node's FIFOs feed no more than
 *
 *     sum over messages of r_i / b_i <= min(F, sum over l of 1 - (1 - a_l)^F),       sum over links behind its routers.
 *
 *   Kernel, bgl-64: one node, 20 messages to each of m neighbours, F FIFOs, links busy / this: F = 6, m = 2, 3, 4, 6: 1.00, 1.04, 1.02,
 *   1.05; F = 4: 1.02, 1.02, 1.04, 1.10; F = 8: 0.99, 1.01, 1.01, 1.02. gemini-xe6, whose packets draw a cable each: one message over
 *   8 or 4 cables, F = 2: 0.99, 1.00.
 *
 * Before the receiver, where links behind routers are as fast as the node's: heads wait for the receivers' links, at the senders and at the
 * receiver's router, whose inputs have a head each. The link into node d has, of its bandwidth, the lesser of
 *
 *     1 - product over the nodes s that send to d of (1 - a_sd)^F_s                                   a_sd: of the messages of s, those to d
 *     1 - product over the inputs i of its router of (1 - a_id), over its own nodes s of (1 - a_sd)^F_s    a_id: of what crosses input i, what goes to d
 *
 *   All of it in an incast, whose senders have no other messages. Only where a calibration has found that packets
 *   hold up each other (replays.mixing below 1: transit_fair_mix.c).
 *   Kernel, trees of one virtual channel, four nodes a leaf switch whose links up are 2 to 8 times as fast, saturation of a permutation and of complement
 *   over the node's links: 1 up 0.25, 2 up 0.46, 3 up 0.57, 4 up 0.68; this: 0.25, 0.44, 0.58, 0.68. With 2, 4, 8 channels (3 up) 0.66, 0.72, 0.75: the channels
 *   of an input are one head here. Traces through trees: docs/notes/theory-timing.md.
 *
 * Limits: draws are independent, but turns fall into step: six long messages that leave a node with six FIFOs at once lose 1 to 20 %
 * in the kernel, not 33. Who is there counts, not rates: a message that crawls counts as one that runs, and
 * FIFOs and inputs are taken to be full. Of links between routers nothing is known here (transit_fair_mix.c). */
#include "solvers/transit/transit_heads.h"
#include "solvers/transit/transit_internal.h"

#include <math.h>

#define ROUNDING 1e-9 /* messages; less is what it has left of a sum */

static uint32_t degree(const struct fc_network *net, uint32_t vertex)
{
    return net->first_link[vertex + 1] - net->first_link[vertex];
}

static bool open_behind(struct fc_heads *h, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_network *net = h->net;
    size_t n = 0;
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        uint32_t v = fc_node_vertex(net, i);
        if (n >= FC_NONE)
            return !fc_refuse(st, FC_NO, "%u nodes have too many links behind their routers", net->n_nodes);
        h->node[i].first = (uint32_t)n;
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) n += degree(net, net->link_target[l]);
    }
    h->wanted = fc_alloc(arena, n + 1, sizeof *h->wanted, st);
    return h->wanted != NULL;
}

/* From how many there are in first[i + 2] to where those of i begin once each has moved first[i + 1] up. */
static void begin_lists(uint32_t *first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) first[i + 2] += first[i + 1];
}

/* The links into nodes, and those between routers that lead to each. */
static void list_doors(struct fc_heads *h)
{
    const struct fc_network *net = h->net;
    for (uint32_t l = 0; l < net->n_links; l++)
        if (fc_is_node(net, net->link_target[l])) {
            h->first_door[net->link_target[l] - net->n_routers + 2]++;
            if (!fc_is_node(net, net->link_source[l])) h->first_own[net->link_source[l] + 2]++;
        } else if (fc_is_between_routers(net, l)) {
            h->place[l] = h->first_input[net->link_target[l] + 2]++;
        }
    begin_lists(h->first_door, net->n_nodes);
    begin_lists(h->first_own, net->n_routers);
    begin_lists(h->first_input, net->n_routers);
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t from = net->link_source[l], to = net->link_target[l];
        if (fc_is_between_routers(net, l)) h->input[h->first_input[to + 1]++] = l;
        if (!fc_is_node(net, to)) continue;
        uint32_t k = h->first_door[to - net->n_routers + 1]++;
        h->door[k] = (struct fc_heads_door){.link = l, .node = to - net->n_routers, .stale = true};
        if (!fc_is_node(net, from)) h->own_door[h->first_own[from + 1]++] = k;
    }
}

/* Room for what comes to each of them over each input. */
static bool open_inputs(struct fc_heads *h, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_network *net = h->net;
    size_t n = 0;
    for (uint32_t k = 0; k < h->first_door[net->n_nodes]; k++) {
        uint32_t from = net->link_source[h->door[k].link];
        if (n >= FC_NONE) return !fc_refuse(st, FC_NO, "%u nodes have too many inputs before them", net->n_nodes);
        h->door[k].first = (uint32_t)n;
        if (!fc_is_node(net, from)) n += h->first_input[from + 1] - h->first_input[from];
    }
    h->come = fc_alloc(arena, n + 1, sizeof *h->come, st);
    return h->come != NULL;
}

static bool open_before(struct fc_heads *h, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_network *net = h->net;
    h->first_door = fc_alloc(arena, net->n_nodes + (size_t)2, sizeof *h->first_door, st);
    h->first_own = fc_alloc(arena, net->n_routers + (size_t)2, sizeof *h->first_own, st);
    h->first_input = fc_alloc(arena, net->n_routers + (size_t)2, sizeof *h->first_input, st);
    h->door = fc_alloc(arena, net->n_links + (size_t)1, sizeof *h->door, st);
    h->own_door = fc_alloc(arena, net->n_links + (size_t)1, sizeof *h->own_door, st);
    h->input = fc_alloc(arena, net->n_links + (size_t)1, sizeof *h->input, st);
    h->place = fc_alloc(arena, net->n_links + (size_t)1, sizeof *h->place, st);
    h->crossing = fc_alloc(arena, net->n_links + (size_t)1, sizeof *h->crossing, st);
    h->share = fc_alloc(arena, net->n_nodes, sizeof *h->share, st);
    h->doors = fc_alloc(arena, net->n_links + (size_t)1, sizeof *h->doors, st);
    h->starts = fc_alloc(arena, net->n_nodes, sizeof *h->starts, st);
    if (st->code) return false;
    list_doors(h);
    return open_inputs(h, arena, st);
}

enum fc_code fc_heads_open(struct fc_heads *h, const struct fc_network *net, const struct fc_fifos *fifos,
                           uint32_t first_fifo, bool loses, struct fc_arena *arena, struct fc_status *st)
{
    *h = (struct fc_heads){.net = net, .fifos = fifos, .first_fifo = first_fifo};
    h->behind = first_fifo != FC_NONE;
    h->before = !h->behind && loses && fifos->n_fifos > 0;
    if (!h->behind && !h->before) return FC_OK;
    h->node = fc_alloc(arena, net->n_nodes, sizeof *h->node, st);
    h->stirred = fc_alloc(arena, net->n_nodes, sizeof *h->stirred, st);
    if (st->code || !(h->behind ? open_behind(h, arena, st) : open_before(h, arena, st))) return st->code;
    return FC_OK;
}

/* ---- messages ---- */

/* Whether a link of the node before this one leads to the same router, and stands for both. */
static bool is_again(const struct fc_network *net, uint32_t door, uint32_t first_door)
{
    uint32_t l = first_door;
    while (net->link_target[l] != net->link_target[door]) l++;
    return l < door;
}

/* The link is to be looked at; stale: its senders, too. */
static void list_door(struct fc_heads *h, uint32_t k, bool stale)
{
    struct fc_heads_door *door = &h->door[k];
    if (!door->is_listed) h->doors[h->n_doors++] = k;
    door->is_listed = true;
    door->stale = door->stale || stale;
}

static void add(double *sum, double weight)
{
    *sum += weight;
    if (*sum < ROUNDING) *sum = 0;
}

/* A message comes into the routers on its way, at its receiver's for the receiver; by -1: no longer. */
static void comes_in(struct fc_heads *h, const struct fc_transit_ways *ways, uint32_t number, uint32_t dst, int by)
{
    const struct fc_transit_way *way = &ways->way[number];
    for (uint32_t k = way->first; k < way->first + way->n; k++) {
        uint32_t link = ways->link[k], router = h->net->link_target[link];
        if (!fc_is_between_routers(h->net, link) || h->first_own[router] == h->first_own[router + 1]) continue;
        add(&h->crossing[link], by * ways->weight[k]);
        for (uint32_t i = h->first_own[router]; i < h->first_own[router + 1]; i++) {
            const struct fc_heads_door *door = &h->door[h->own_door[i]];
            if (door->node == dst) add(&h->come[door->first + h->place[link]], by * ways->weight[k]);
            list_door(h, h->own_door[i], false);
        }
    }
    for (uint32_t k = h->first_door[dst]; k < h->first_door[dst + 1]; k++) list_door(h, k, true);
}

static void change(struct fc_heads *h, const struct fc_transit_ways *ways, uint32_t number, uint32_t src, uint32_t dst,
                   int by)
{
    if (!h->node) return;
    struct fc_heads_node *x = &h->node[src];
    x->n += (uint32_t)by;
    if (!x->stirred) h->stirred[h->n_stirred++] = src;
    x->stirred = true;
    if (h->before) comes_in(h, ways, number, dst, by);
    if (!h->behind) return;
    const struct fc_network *net = h->net;
    const struct fc_transit_way *way = &ways->way[number];
    bool chooses = net->machine->routing->adaptive;
    uint32_t v = fc_node_vertex(net, src), first = x->first, end = way->first + (chooses ? way->n : way->n_finite);
    for (uint32_t door = net->first_link[v]; door < net->first_link[v + 1]; door++) {
        uint32_t router = net->link_target[door], at = first - net->first_link[router];
        bool again = is_again(net, door, net->first_link[v]);
        for (uint32_t k = way->first; k < end && !again; k++) {
            uint32_t l = ways->link[k];
            if (net->link_source[l] != router || !isfinite(fc_link_bandwidth(net, l))) continue;
            h->wanted[at + l] += by * (chooses ? 1 : ways->weight[k]);
            if (x->n == 0) h->wanted[at + l] = 0; /* without what rounding has left */
        }
        first += degree(net, router);
    }
}

void fc_heads_begins(struct fc_heads *h, const struct fc_transit_ways *ways, uint32_t way, uint32_t src, uint32_t dst)
{
    change(h, ways, way, src, dst, 1);
}

void fc_heads_ends(struct fc_heads *h, const struct fc_transit_ways *ways, uint32_t way, uint32_t src, uint32_t dst)
{
    change(h, ways, way, src, dst, -1);
}

/* ---- capacities ---- */

static int heads_of(const struct fc_heads *h, uint32_t node)
{
    return (int)fc_fifos_capacity(h->fifos, node);
}

/* What no head wants of what one wants with `wanted`. */
static double idle(double wanted, int heads)
{
    double rest = wanted < 1 ? 1 - wanted : 0, all = 1;
    for (; heads > 0; heads /= 2, rest *= rest)
        if (heads % 2) all *= rest;
    return all;
}

static bool settle_behind(const struct fc_heads *h, uint32_t node, struct fc_fair *fair)
{
    const struct fc_network *net = h->net;
    uint32_t v = fc_node_vertex(net, node), at = h->node[node].first;
    int heads = heads_of(h, node);
    double n = h->node[node].n, busy = 0;
    if (n == 0) return true;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
        for (uint32_t end = at + degree(net, net->link_target[l]); at < end; at++)
            if (h->wanted[at] > 0) busy += 1 - idle(h->wanted[at] / n, heads);
    return fc_fair_give(fair, h->first_fifo + node, busy > 0 && busy < heads ? busy : heads);
}

/* The links into those to whom the node sends. */
static void list_ends(struct fc_heads *h, uint32_t node, const struct fc_fair *fair)
{
    uint32_t v = fc_node_vertex(h->net, node);
    for (uint32_t l = h->net->first_link[v]; l < h->net->first_link[v + 1]; l++) {
        const struct fc_fair_link *out = &fair->link[l];
        for (uint32_t i = 0; i < out->n_flows; i++) {
            uint32_t end = fair->flow[fair->on[out->first + i].flow].end;
            for (uint32_t k = h->first_door[end]; k < h->first_door[end + 1]; k++) list_door(h, k, true);
        }
    }
}

static bool is_beside(const struct fc_heads *h, uint32_t node, uint32_t router)
{
    for (uint32_t k = h->first_door[node]; k < h->first_door[node + 1]; k++)
        if (h->net->link_source[h->door[k].link] == router) return true;
    return false;
}

/* What the heads of its senders' FIFOs leave of it. */
static void look_at_senders(struct fc_heads *h, struct fc_heads_door *door, const struct fc_fair *fair)
{
    const struct fc_fair_link *l = &fair->link[door->link];
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n_flows; i++) {
        const struct fc_fair_on *o = &fair->on[l->first + i];
        uint32_t start = fair->flow[o->flow].start;
        if (h->share[start] == 0) h->starts[n++] = start;
        h->share[start] += o->weight / fair->flow[o->flow].claim;
    }
    door->unsent = door->unbeside = 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t start = h->starts[i];
        double rests = idle(h->share[start] / h->node[start].n, heads_of(h, start));
        door->unsent *= rests;
        if (is_beside(h, start, h->net->link_source[door->link])) door->unbeside *= rests;
        h->share[start] = 0;
    }
    door->stale = false;
}

static bool settle_before(struct fc_heads *h, struct fc_heads_door *door, struct fc_fair *fair)
{
    const struct fc_fair_link *l = &fair->link[door->link];
    uint32_t router = h->net->link_source[door->link];
    const double *come = h->come + door->first;
    if (!fc_fair_is_ready(l) || l->n_flows == 0) return true; /* whoever comes next lists it */
    if (door->stale) look_at_senders(h, door, fair);
    double none = door->unbeside;
    bool some = none < 1;
    for (uint32_t i = h->first_input[router]; i < h->first_input[router + 1]; i++, come++)
        if (*come > 0) none *= idle(*come / h->crossing[h->input[i]], 1), some = true;
    none = some ? fmax(none, door->unsent) : door->unsent;
    return fc_fair_give(fair, door->link, fair->opened[door->link] * (1 - none));
}

bool fc_heads_settle(struct fc_heads *h, struct fc_fair *fair)
{
    bool good = true;
    for (uint32_t i = 0; i < h->n_stirred; i++) {
        h->node[h->stirred[i]].stirred = false;
        if (h->behind)
            good = good && settle_behind(h, h->stirred[i], fair);
        else
            list_ends(h, h->stirred[i], fair);
    }
    for (uint32_t i = 0; i < h->n_doors; i++) {
        struct fc_heads_door *door = &h->door[h->doors[i]];
        door->is_listed = false;
        good = good && settle_before(h, door, fair);
    }
    h->n_stirred = h->n_doors = 0;
    return good;
}
