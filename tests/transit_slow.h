/* transit_slow.h - contention by filling from scratch at every event: what transit_contention.c is held against. */
#pragma once

#include "solvers/flit/flit.h"
#include "solvers/transit/transit_internal.h"
#include "tests/maxmin.h"
#include "tests/support.h"
#include "tests/transit_mix.h"

#include <math.h>
#include <stdlib.h>

enum { MESSAGES = 400 };
struct load {
    double time_s[MESSAGES], bytes[MESSAGES], arrived_s[MESSAGES], alone_s[MESSAGES], interference[MESSAGES];
    uint32_t src[MESSAGES], dst[MESSAGES];
};
static void draw_load(struct load *m, const struct fc_network *net, double span_s, double most_bytes)
{
    for (uint64_t i = 0; i < MESSAGES; i++) {
        uint64_t kind = fc_random_below(5, 1, i, 4);
        m->time_s[i] = span_s * fc_random_real(5, 2, kind == 0 ? i / 40 : i); /* some at one time */
        m->bytes[i] = kind == 1 ? floor(300 * fc_random_real(5, 3, i)) : floor(most_bytes * fc_random_real(5, 3, i));
        m->src[i] = (uint32_t)fc_random_below(5, 4, i, net->n_nodes);
        m->dst[i] = kind == 2 ? 0 : (uint32_t)fc_random_below(5, 5, i, net->n_nodes);
    }
}

enum { PARTS = MESSAGES * FC_WAY_PARTS };
enum stage { TO_COME, WAITS, MOVES, OVER };
struct slow { /* one message of the reference */
    uint32_t whole, n_parts, way[FC_WAY_PARTS];
    double part[FC_WAY_PARTS], claim, left, rate;
    double share[FC_WAY_PARTS]; /* parts times the claim */
    enum stage stage;
    double until; /* begins when its node's have moved so much */
};
struct door { /* a node's injection FIFOs, in bytes on the wire (transit_fifos.c) */
    double in, full, heads, packet, held, moved, rate, left;
    uint32_t n, n_moving;
};

static void open_doors(const struct fc_network *net, struct door *door)
{
    const struct fc_machine *machine = net->machine;
    double packet = machine->packet.max_bytes > 0 ? machine->packet.max_bytes : machine->router.flit_bytes;
    double wire = fc_wire_bytes(machine, packet - machine->packet.header_bytes) / packet;
    double buffer = machine->router.injection_buffer_bytes > 0 ? machine->router.injection_buffer_bytes
                                                               : machine->router.buffer_bytes;
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        uint32_t v = fc_node_vertex(net, i);
        double fifos = fc_flit_fifos(net) * (double)(net->first_link[v + 1] - net->first_link[v]);
        door[i] = (struct door){.full = fifos * buffer * wire, .heads = fifos * packet * wire, .packet = packet * wire};
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) door[i].in += fc_link_bandwidth(net, l);
        if (!machine->router.vcs_given) door[i].full = door[i].heads = 0;
    }
}

/* What is behind each door, and how fast it goes on. */
static void look(const struct fc_network *net, const struct load *m, const struct slow *s, struct door *door)
{
    for (uint32_t i = 0; i < net->n_nodes; i++) door[i].rate = door[i].left = 0, door[i].n = door[i].n_moving = 0;
    for (uint32_t i = 0; i < MESSAGES; i++) {
        struct door *d = &door[m->src[i]];
        if (m->src[i] == m->dst[i] || s[i].stage == TO_COME || s[i].stage == OVER) continue;
        d->left += s[i].left;
        d->n++;
        d->n_moving += s[i].stage == MOVES;
        d->rate += s[i].stage == MOVES ? s[i].rate : 0;
    }
}

/* Its node's FIFOs, dt later. */
static void pass(struct door *d, double dt)
{
    d->moved += d->rate * dt;
    d->held = fmin(d->held + (d->in - d->rate) * dt, fmin(d->full, d->left - d->rate * dt));
}

static double next_change(const struct slow *s, const struct load *m, const double *leaves_s, const struct door *door,
                          double now)
{
    double next = INFINITY;
    for (uint32_t i = 0; i < MESSAGES; i++) {
        const struct door *d = &door[m->src[i]];
        if (s[i].stage == MOVES) next = fmin(next, now + s[i].left / s[i].rate);
        if (s[i].stage == TO_COME) next = fmin(next, leaves_s[i]);
        if (s[i].stage == WAITS && d->rate > 0) next = fmin(next, now + fmax(0, s[i].until - d->moved) / d->rate);
    }
    return next;
}

/* Flows over each link, for ways that are chosen. */
struct crowds {
    const struct fc_transit_ways *ways;
    const struct slow *s;
    const uint32_t *who;
    uint32_t n;
};
static uint32_t crowd(const void *context, uint32_t link)
{
    const struct crowds *c = context;
    uint32_t there = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct slow *s = &c->s[c->who[i]];
        for (uint32_t p = 0; p < s->n_parts; p++) {
            const struct fc_transit_way *way = &c->ways->way[s->way[p]];
            for (uint32_t k = way->first; k < way->first + way->n_finite; k++) there += c->ways->link[k] == link;
        }
    }
    return there;
}

/* What no head of a node wants of what one wants with `wanted` (transit_heads.c). */
static double idle(const struct fc_network *net, uint32_t node, double wanted)
{
    uint32_t v = fc_node_vertex(net, node);
    return pow(1 - fmin(1, wanted), fc_flit_fifos(net) * (double)(net->first_link[v + 1] - net->first_link[v]));
}

/* Whether a node's links are faster than one behind its routers. */
static bool behind(const struct fc_network *net)
{
    for (uint32_t i = 0; i < net->n_links; i++)
        for (uint32_t k = 0; k < net->n_links; k++)
            if (fc_is_node(net, net->link_source[i]) && net->link_target[i] == net->link_source[k] &&
                fc_link_bandwidth(net, k) < fc_link_bandwidth(net, i) * (1 - 1e-9))
                return true;
    return false;
}

/* The part of the time in which no head at the router before a node's link `door` wants it. 0: nothing comes there. */
static double none_comes(const struct fc_network *net, const struct fc_transit_ways *ways, const struct load *m,
                         const struct slow *s, const uint32_t *who, uint32_t n, uint32_t door)
{
    double none = 1;
    uint32_t router = net->link_source[door], node = net->link_target[door] - net->n_routers;
    for (uint32_t l = 0; l < net->n_links; l++) { /* what comes in over l, or is sent by the node behind it */
        double to = 0, all = 0;
        bool sent = fc_is_node(net, net->link_source[l]);
        if (net->link_target[l] != router) continue;
        for (uint32_t k = 0; k < n; k++) {
            const struct fc_transit_way *way = &ways->way[s[who[k]].whole];
            double weight = sent && m->src[who[k]] == net->link_source[l] - net->n_routers ? 1 : 0;
            for (uint32_t x = way->first; x < way->first + way->n && !sent; x++)
                if (ways->link[x] == l) weight += ways->weight[x];
            all += weight;
            if (m->dst[who[k]] == node) to += weight;
        }
        if (to > 0) none *= sent ? idle(net, net->link_source[l] - net->n_routers, to / all) : 1 - fmin(1, to / all);
    }
    return none < 1 ? none : 0;
}

/* What the nodes' FIFOs feed, and what the links into nodes have, when these messages are there. */
static void heads(const struct fc_network *net, const struct fc_transit_ways *ways, const struct load *m,
                  const struct slow *s, const uint32_t *who, uint32_t n, double limit, bool is_behind, double *capacity)
{
    double *wanted = calloc(net->n_links, sizeof *wanted), *to = calloc(net->n_nodes, sizeof *to);
    double *none = calloc(net->n_nodes, sizeof *none);
    for (uint32_t i = 0; i < net->n_nodes; i++) none[i] = 1;
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        double there = 0, busy = 0, most = fc_flit_fifos(net);
        uint32_t v = fc_node_vertex(net, i);
        most *= net->first_link[v + 1] - net->first_link[v];
        for (uint32_t k = 0; k < n; k++) {
            if (m->src[who[k]] != i) continue;
            const struct fc_transit_way *way = &ways->way[s[who[k]].whole];
            if (there++ == 0) { /* most nodes send nothing */
                memset(wanted, 0, net->n_links * sizeof *wanted);
                memset(to, 0, net->n_nodes * sizeof *to);
            }
            to[m->dst[who[k]]]++;
            for (uint32_t x = way->first; x < way->first + way->n; x++) /* some are wanted, but no path takes them */
                if (isfinite(fc_link_bandwidth(net, ways->link[x])))
                    wanted[ways->link[x]] += net->machine->routing->adaptive ? 1 : ways->weight[x];
        }
        for (uint32_t l = 0; l < net->n_links && there > 0; l++)
            if (wanted[l] > 0 && fc_find_link(net, v, net->link_source[l]) != FC_NONE)
                busy += 1 - idle(net, i, wanted[l] / there);
        for (uint32_t k = 0; k < net->n_nodes && there > 0; k++)
            if (to[k] > 0) none[k] *= idle(net, i, to[k] / there);
        capacity[net->n_links + i] = !is_behind ? INFINITY : busy > 0 ? fmin(busy, most) : most;
    }
    for (uint32_t l = 0; l < net->n_links && !is_behind && limit < 1; l++) {
        if (!fc_is_node(net, net->link_target[l])) continue;
        double left = 1 - fmax(none[net->link_target[l] - net->n_routers], none_comes(net, ways, m, s, who, n, l));
        capacity[l] = fc_link_bandwidth(net, l) * (left > 0 ? left : 1);
    }
    free(wanted);
    free(to);
    free(none);
}

/* Of messages of less than eight packets a node's links carry the first packet of one after the other, so many of its
 * times apart: when[i], from when it would be there. */
static void take_turns(const struct fc_network *net, const struct load *m, const uint32_t *node,
                       const struct door *door, double apart, double *when)
{
    double *turn_s = calloc(net->n_nodes, sizeof *turn_s), from_s[MESSAGES];
    bool had[MESSAGES] = {false};
    memcpy(from_s, when, sizeof from_s);
    for (uint32_t k = 0; k < MESSAGES; k++) { /* in order of time, then number */
        uint32_t next = FC_NONE;
        for (uint32_t i = 0; i < MESSAGES; i++)
            if (!had[i] && (next == FC_NONE || from_s[i] < from_s[next])) next = i;
        const struct door *d = &door[node[next]];
        had[next] = true;
        if (m->src[next] == m->dst[next] || !(d->heads > 0)) continue;
        if (fc_wire_bytes(net->machine, m->bytes[next]) >= 8 * d->packet) continue; /* long ones share at once */
        when[next] = fmax(from_s[next], turn_s[node[next]]);
        turn_s[node[next]] = when[next] + apart * fmin(fc_wire_bytes(net->machine, m->bytes[next]), d->packet) / d->in;
    }
    free(turn_s);
}

/* What the links have when n messages over these ways are there. */
static void mix(const struct fc_network *net, const struct fc_transit_ways *ways, const struct load *m,
                const struct slow *s, const uint32_t *who, uint32_t n, double limit, double *capacity)
{
    static double weight[PARTS], blocks[PARTS], own[MESSAGES], free_bytes_per_s[MESSAGES];
    static uint32_t same[PARTS], spreads[MESSAGES];
    bool *crossed = calloc(net->n_links, sizeof *crossed);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t p = 0; p < s[who[i]].n_parts; p++) {
            const struct fc_transit_way *way = &ways->way[s[who[i]].way[p]];
            for (uint32_t k = way->first; k < way->first + way->n_finite; k++) crossed[ways->link[k]] = true;
        }
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t there = 0, n_spread = 0;
        double all = 0;
        if (fc_is_node(net, net->link_source[l]) || fc_is_node(net, net->link_target[l])) continue;
        if (!crossed[l]) {
            capacity[l] = fc_link_bandwidth(net, l);
            continue;
        }
        for (uint32_t i = 0; i < n * FC_WAY_PARTS; i++) {
            const struct slow *x = &s[who[i / FC_WAY_PARTS]];
            uint32_t p = i % FC_WAY_PARTS;
            if (p >= x->n_parts) continue;
            const struct fc_transit_way *way = &ways->way[x->way[p]];
            for (uint32_t k = way->first; k < way->first + way->n_finite; k++) {
                if (ways->link[k] != l) continue;
                double packets = fmax(1, m->bytes[who[i / FC_WAY_PARTS]] / ways->packet_bytes);
                weight[there] = x->share[p] * ways->weight[k];
                all += weight[there];
                if (ways->way[x->whole].free_bytes_per_s > 0) {
                    if (n_spread == 0 || spreads[n_spread - 1] != i / FC_WAY_PARTS) own[n_spread++] = 0;
                    spreads[n_spread - 1] = i / FC_WAY_PARTS;
                    free_bytes_per_s[n_spread - 1] = ways->way[x->whole].free_bytes_per_s / x->claim;
                    own[n_spread - 1] += weight[there];
                }
                same[there] = m->dst[who[i / FC_WAY_PARTS]];
                blocks[there++] = (float)(packets / (packets + 4));
            }
        }
        double b = fc_link_bandwidth(net, l);
        capacity[l] =
            b * part_left(there, weight, blocks, same, limit) * part_spread(n_spread, own, free_bytes_per_s, all, b);
    }
    free(crossed);
}

/* Max-min fair rates of the messages who[n] in their claims, each the sum of its parts'. */
static void fill(const struct fc_transit_ways *ways, const struct load *m, struct slow *s, const uint32_t *who,
                 uint32_t n, const double *capacity)
{
    static uint64_t first[PARTS + 1];
    static uint32_t link[PARTS * 64];
    static double weight[PARTS * 64], flow[PARTS];
    const struct fc_network *net = ways->net;
    struct fc_status st = {0};
    uint32_t n_flows = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t p = 0; p < s[who[i]].n_parts; p++) {
            const struct fc_transit_way *way = &ways->way[s[who[i]].way[p]];
            uint64_t at = first[n_flows];
            memcpy(link + at, ways->link + way->first, way->n * sizeof *link);
            link[at + way->n] = net->n_links + m->src[who[i]];
            weight[at + way->n] = 0;
            for (uint32_t k = 0; k < way->n; k++) {
                weight[at + k] = s[who[i]].share[p] * ways->weight[way->first + k];
                if (fc_find_link(net, fc_node_vertex(net, m->src[who[i]]), net->link_source[link[at + k]]) != FC_NONE)
                    weight[at + way->n] += weight[at + k] / fc_link_bandwidth(net, link[at + k]);
            }
            first[++n_flows] = at + way->n + 1;
        }
    CU_ASSERT_FATAL(fc_maxmin(net->n_links + net->n_nodes, capacity, n_flows, first, link, weight, flow, NULL, &st) ==
                    FC_OK);
    for (uint32_t i = 0, f = 0; i < n; i++) {
        struct slow *x = &s[who[i]];
        x->rate = 0;
        for (uint32_t p = 0; p < x->n_parts; p++) x->rate += x->share[p] * flow[f++];
    }
}

static void choose(struct fc_transit_ways *ways, const struct load *m, uint32_t i, const struct crowds *others,
                   struct slow *x)
{
    x->whole = fc_transit_ways_find(ways, m->src[i], m->dst[i], m->bytes[i], i);
    x->whole = fc_transit_way_free(ways, x->whole, m->bytes[i], crowd, others);
    x->left = fc_wire_bytes(ways->net->machine, m->bytes[i]);
    x->n_parts = fc_transit_parts(ways, x->whole, m->bytes[i]);
    for (uint32_t p = 0; p < x->n_parts; p++) {
        x->way[p] = x->n_parts > 1 ? fc_transit_part(ways, x->whole, p) : x->whole;
        x->part[p] = x->n_parts > 1 ? ways->way[x->way[p]].share : 1;
    }
    x->claim = ways->way[x->whole].claim;
}

/* How many of the parts of who[n] to `dst`, FC_NONE: to any, cross each link. */
static void cross(const struct fc_transit_ways *ways, const struct load *m, const struct slow *s, const uint32_t *who,
                  uint32_t n, uint32_t dst, uint32_t *crossing)
{
    for (uint32_t l = 0; l < ways->net->n_links; l++) crossing[l] = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t p = 0; p < s[who[i]].n_parts && (dst == FC_NONE || m->dst[who[i]] == dst); p++) {
            const struct fc_transit_way *way = &ways->way[s[who[i]].way[p]];
            for (uint32_t k = 0; k < way->n; k++)
                crossing[ways->link[way->first + k]] += ways->weight[way->first + k] > 0;
        }
}

/* Claims of all to dst (transit_claims.c), from the lists of links; all[n_links]: how many cross each. */
static void claim_to(const struct fc_transit_ways *ways, const struct load *m, struct slow *s, const uint32_t *who,
                     uint32_t n, uint32_t dst, const uint32_t *all)
{
    const struct fc_network *net = ways->net;
    uint32_t *to = calloc(net->n_links, sizeof *to);
    double *in = calloc(net->n_vertices, sizeof *in), *out = calloc(net->n_vertices, sizeof *out), sum = 0, parts = 0;
    double turns = 1 - net->machine->router.in_network_percent / 50, a[MESSAGES] = {0};
    cross(ways, m, s, who, n, dst, to);
    for (uint32_t l = 0; l < net->n_links; l++) {
        in[net->link_target[l]] += to[l] > 0;
        out[net->link_source[l]] += to[l] > 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct slow *x = &s[who[i]];
        if (m->dst[who[i]] != dst) continue;
        for (uint32_t p = 0; p < x->n_parts; p++) {
            const struct fc_transit_way *way = &ways->way[x->way[p]];
            for (uint32_t k = way->first; k < way->first + way->n; k++) {
                uint32_t l = ways->link[k], r = net->link_target[l];
                double part = k < way->first + way->n_finite ? (double)to[l] / all[l] : 1;
                if (!fc_is_node(net, r) && in[r] > out[r] && ways->weight[k] > 0)
                    a[i] += turns * ways->weight[k] * part * part * log(out[r] / in[r]) / x->n_parts;
            }
        }
        sum += x->n_parts * exp(a[i]);
        parts += x->n_parts;
    }
    for (uint32_t i = 0; i < n; i++)
        if (m->dst[who[i]] == dst) s[who[i]].claim = ways->way[s[who[i]].whole].claim * exp(a[i]) * parts / sum;
    free(to);
    free(in);
    free(out);
}

static bool is_busy(const struct fc_network *net, uint32_t node, const uint32_t *all)
{
    uint32_t parts = 0, v = fc_node_vertex(net, node);
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) parts += all[l];
    return parts > 16;
}

/* Of all to where one of the last n_new of who[n] goes; shares are those that claims give. */
static void claims(const struct fc_transit_ways *ways, const struct load *m, struct slow *s, const uint32_t *who,
                   uint32_t n, uint32_t n_new)
{
    uint32_t *all = calloc(ways->net->n_links, sizeof *all);
    cross(ways, m, s, who, n, FC_NONE, all);
    for (uint32_t i = n - n_new; i < n; i++) {
        bool again = is_busy(ways->net, m->src[who[i]], all);
        for (uint32_t k = n - n_new; k < i; k++)
            again = again || (m->dst[who[k]] == m->dst[who[i]] && !is_busy(ways->net, m->src[who[k]], all));
        if (!again) claim_to(ways, m, s, who, n, m->dst[who[i]], all);
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t p = 0; p < s[who[i]].n_parts; p++) s[who[i]].share[p] = s[who[i]].claim * s[who[i]].part[p];
    free(all);
}

/* The end of every message by filling from scratch at every event, O(events x flows). */
static void simulate(const struct load *m, struct fc_transit_ways *ways, double limit, double *capacity, double *end_s)
{
    static struct slow s[MESSAGES];
    static uint32_t who[MESSAGES];
    static double leaves_s[MESSAGES];
    const struct fc_network *net = ways->net;
    bool is_behind = behind(net);
    struct door *door = calloc(net->n_nodes, sizeof *door);
    uint32_t n = 0, ended = 0;
    double now = 0;
    open_doors(net, door);
    memcpy(leaves_s, m->time_s, sizeof leaves_s);
    take_turns(net, m, m->src, door, 1, leaves_s);
    take_turns(net, m, m->dst, door, 0.9, leaves_s);
    memset(s, 0, sizeof s);
    while (ended < MESSAGES) {
        mix(net, ways, m, s, who, n, limit, capacity);
        heads(net, ways, m, s, who, n, limit, is_behind, capacity);
        fill(ways, m, s, who, n, capacity);
        look(net, m, s, door);
        double then = next_change(s, m, leaves_s, door, now);
        for (uint32_t i = 0; i < net->n_nodes; i++) pass(&door[i], then - now);
        uint32_t stay = 0;
        for (uint32_t i = 0; i < n; i++) {
            struct slow *x = &s[who[i]];
            x->left -= x->rate * (then - now);
            if (x->left > 1e-9 * m->bytes[who[i]])
                who[stay++] = who[i];
            else
                end_s[who[i]] = then + ways->way[x->whole].head_s, ended++, x->stage = OVER;
        }
        n = stay;
        uint32_t before = n;
        now = then;
        look(net, m, s, door);
        for (uint32_t i = 0; i < MESSAGES; i++) {
            struct slow *x = &s[i];
            struct door *d = &door[m->src[i]];
            bool leaves = x->stage == TO_COME && leaves_s[i] <= now;
            if (leaves && m->src[i] == m->dst[i]) {
                x->stage = OVER;
                ended++;
            } else if (leaves) {
                x->left = fc_wire_bytes(net->machine, m->bytes[i]);
                if (d->n == 0) d->held = 0;
                x->until = d->moved + d->held - d->heads;
                x->stage = WAITS;
            }
            if (x->stage != WAITS || (d->n_moving > 0 && d->moved < x->until - 1e-9 * m->bytes[i])) continue;
            choose(ways, m, i, &(struct crowds){ways, s, who, n}, x);
            x->stage = MOVES;
            who[n++] = i;
            look(net, m, s, door);
        }
        claims(ways, m, s, who, n, n - before);
    }
    free(door);
}
