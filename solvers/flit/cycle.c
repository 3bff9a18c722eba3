/* cycle.c - the cycle engine: every flit, tick by tick, in blocks of routers that meet every few ticks.
 *
 * Router model and timing: cycle_step.c. A block is simulated for a window of W ticks without looking at the
 * others; W is the least number of ticks after which an event of one block can show in another (a flit on a
 * wire, a credit), so that all events of a window are known when it begins: conservative windows (Nicol, "The
 * cost of conservative synchronization in parallel discrete event simulations", 1993; used by the Blue Gene/L
 * simulator). Within a tick events commute, and random draws are functions of (seed, place, tick), so any
 * number of blocks gives the same numbers. */
#include "solvers/flit/cycle_boxes.h"
#include "solvers/flit/cycle_fast.h"
#include "solvers/flit/cycle_multicast.h"
#include "solvers/flit/cycle_strip.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_PACKETS = 1 << 26, /* in the network at a time: 2.7 GB */
    STOP = 256,             /* ticks, see window_end */
    ALIKE = 2048            /* blocks' stocks of free records may differ by so many */
};

/* ---- building ---- */

static enum fc_code allocate(struct fc_cycle *e, struct fc_status *st)
{
    const struct fc_network *net = e->flit->net;
    uint32_t most_ports = 1;
    if (!(e->first_port = fc_alloc(&e->arena, net->n_routers + 1u, sizeof *e->first_port, st))) return st->code;
    for (uint32_t r = 0; r < net->n_routers; r++) {
        uint32_t ports = e->flit->in_first[r + 1] - e->flit->in_first[r];
        e->first_port[r + 1] = e->first_port[r] + ports;
        most_ports = fc_most(most_ports, ports);
    }
    if (most_ports > 256)
        return fc_refuse(st, FC_INPUT, "the cycle engine takes routers of at most 256 ports, not %u", most_ports);
    while (1 << e->vc_shift < e->flit->n_vcs) e->vc_shift++;
    uint32_t deepest = fc_most(e->flit->buffer_flits, e->flit->injection_flits);
    uint64_t ring = fc_ceil_power_of_two(deepest > 1 ? deepest - 1 : 1);
    e->ring_mask = (uint32_t)(ring - 1);
    e->ring_shift = (uint32_t)__builtin_ctzll(ring);
    e->port_words = (most_ports + 63) / 64;
    size_t ports = e->first_port[net->n_routers], channels = ports << e->vc_shift;
    uint64_t packets = (uint64_t)ports * (uint64_t)e->flit->n_vcs * e->flit->buffer_flits + 2ull * net->n_nodes;
    for (uint32_t l = 0; e->flit->injection_flits > e->flit->buffer_flits && l < net->n_links; l++)
        if (fc_is_node(net, net->link_source[l]))
            packets += (uint64_t)e->flit->n_vcs * (e->flit->injection_flits - e->flit->buffer_flits);
    for (uint32_t l = 0; e->flit->reception_flits && l < net->n_links; l++)
        if (fc_is_node(net, net->link_target[l]))
            packets += (uint64_t)__builtin_popcount(e->flit->reception_vcs) * e->flit->reception_flits;
    if (e->flit->multicast) /* copies on their way to nodes sit in no buffer */
        packets += (uint64_t)ports * (uint64_t)e->flit->n_vcs * e->flit->multicast->most_copies(net);
    /* What lies in the stocks of others, and what a block's nodes start in a window, is not to be missed. */
    if (e->n_blocks > 1)
        packets += (uint64_t)e->n_blocks * ALIKE + (uint64_t)net->n_nodes * (e->window < STOP ? e->window : STOP);
    e->n_packets = (uint32_t)(packets < MOST_PACKETS ? packets : MOST_PACKETS);
    if (!(e->port = fc_alloc(&e->arena, ports, sizeof *e->port, st)) ||
        !(e->channel = fc_alloc(&e->arena, channels, sizeof *e->channel, st)) ||
        !(e->ring = fc_alloc(&e->arena, channels * ring, sizeof *e->ring, st)) ||
        !(e->out = fc_alloc(&e->arena, net->n_links, sizeof *e->out, st)) ||
        !(e->active_ports = fc_alloc(&e->arena, (size_t)net->n_routers * e->port_words, sizeof(uint64_t), st)) ||
        !(e->asleep = fc_alloc(&e->arena, (size_t)net->n_links * (e->port_words - 1), sizeof(uint64_t), st)) ||
        !(e->vc_last = fc_alloc(&e->arena, e->flit->vc_stage ? channels : 0, sizeof *e->vc_last, st)) ||
        !(e->vc_rr =
              fc_alloc(&e->arena, e->flit->vc_stage ? (size_t)net->n_links << e->vc_shift : 0, sizeof *e->vc_rr, st)) ||
        !(e->packet = fc_alloc(&e->arena, e->n_packets, sizeof *e->packet, st)) ||
        !(e->packet_src = fc_alloc(&e->arena, e->n_packets, sizeof *e->packet_src, st)) ||
        (fc_flit_has_background(e->traffic) &&
         !(e->background = fc_alloc(&e->arena, e->n_packets, sizeof *e->background, st))) ||
        !(e->node = fc_alloc(&e->arena, net->n_nodes, sizeof *e->node, st)) ||
        !(e->router_block = fc_alloc(&e->arena, net->n_routers, sizeof *e->router_block, st)) ||
        !(e->block = fc_alloc(&e->arena, (size_t)e->n_blocks, sizeof *e->block, st)))
        return st->code;
    return FC_OK;
}
static uint16_t block_of(const struct fc_cycle *e, uint32_t vertex)
{
    const struct fc_network *net = e->flit->net;
    if (fc_is_node(net, vertex)) vertex = net->link_target[net->first_link[vertex]];
    return e->router_block[vertex];
}
static void connect_links(struct fc_cycle *e)
{
    const struct fc_network *net = e->flit->net;
    for (uint32_t l = 0; l < net->n_links; l++) {
        struct fc_cycle_out *o = &e->out[l];
        uint32_t to = net->link_target[l], from = net->link_source[l];
        uint32_t buffer = fc_is_node(net, to) ? e->flit->reception_flits : fc_flit_depth(e->flit, l);
        for (int v = 0; v < e->flit->n_vcs; v++) o->credits[v] = (uint16_t)buffer;
        o->endless = fc_is_node(net, to) && !e->flit->reception_flits;
        o->free = o->credited = (uint16_t)((1u << e->flit->n_vcs) - 1);
        o->link_class = net->link_class[l];
        o->target = FC_NONE;
        o->last_port = (uint8_t)(fc_is_node(net, from) ? 0 : e->first_port[from + 1] - e->first_port[from] - 1);
        o->last_vc = (uint8_t)(e->flit->n_vcs - 1);
        o->router_link = !fc_is_node(net, to) && !fc_is_node(net, from);
        if (fc_is_node(net, to)) continue;
        uint32_t p = e->first_port[to] + e->flit->in_port[l];
        o->target = p << e->vc_shift;
        o->target_block = block_of(e, to);
        e->port[p] = (struct fc_cycle_port){.router = to,
                                            .link = l,
                                            .number = (uint8_t)e->flit->in_port[l],
                                            .last_out = (uint16_t)(net->first_link[to + 1] - net->first_link[to] - 1),
                                            .last_vc = (uint8_t)(e->flit->n_vcs - 1),
                                            .link_class = net->link_class[l],
                                            .paths = e->flit->port_paths[l],
                                            .source_block = block_of(e, from)};
    }
    for (uint32_t p = 0; p < e->first_port[net->n_routers]; p++)
        for (uint32_t v = 0; v < 1u << e->vc_shift; v++) e->channel[(size_t)p << e->vc_shift | v].out_vc = FC_NO_VC;
}
static enum fc_code open_block(struct fc_cycle *e, struct fc_cycle_block *b, struct fc_status *st)
{
    const struct fc_network *net = e->flit->net;
    uint64_t links = 0, most_out = 1, most_in = 1;
    b->engine = e;
    b->counts = &e->counts[b - e->block];
    for (uint32_t r = b->first_router; r < b->last_router; r++) {
        uint64_t out = net->first_link[r + 1] - net->first_link[r], in = e->first_port[r + 1] - e->first_port[r];
        links += out > in ? out : in;
        most_out = out > most_out ? out : most_out;
        most_in = in > most_in ? in : most_in;
    }
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        uint32_t v = net->n_routers + n;
        if (&e->block[block_of(e, v)] != b) continue;
        b->n_nodes++;
        links += net->first_link[v + 1] - net->first_link[v];
    }
    e->wheel_mask = 1023;
    if (!(b->active = fc_alloc(&e->arena, (b->last_router - b->first_router) / 64u + 1, sizeof *b->active, st)) ||
        !(b->node = fc_alloc(&e->arena, b->n_nodes, sizeof *b->node, st)) ||
        !(b->sending = fc_alloc(&e->arena, b->n_nodes / 64u + 1, sizeof *b->sending, st)) ||
        !(b->wheel = fc_alloc(&e->arena, e->wheel_mask + 1u, sizeof *b->wheel, st)) ||
        !(b->wheel_next = fc_alloc(&e->arena, b->n_nodes, sizeof *b->wheel_next, st)) ||
        !(b->free_packet = fc_alloc(&e->arena, e->n_packets, sizeof *b->free_packet, st)) ||
        !(b->bid = fc_alloc(&e->arena, most_out << e->vc_shift, sizeof *b->bid, st)) ||
        !(b->touched = fc_alloc(&e->arena, (most_out << e->vc_shift) + 1, sizeof *b->touched, st)) ||
        !(b->bids = fc_alloc(&e->arena, most_out << e->vc_shift, sizeof *b->bids, st)) ||
        !(b->bidder = fc_alloc(&e->arena, most_out << e->vc_shift, sizeof *b->bidder, st)) ||
        !(b->vc_grant = fc_alloc(&e->arena, most_in << e->vc_shift, sizeof *b->vc_grant, st)) ||
        !(b->queue = fc_alloc(&e->arena, (size_t)e->n_blocks * (size_t)e->n_queues, sizeof *b->queue, st)) ||
        !(b->write = fc_alloc(&e->arena, (size_t)e->n_blocks * (size_t)e->n_queues + 64, sizeof *b->write, st)))
        return st->code;
    for (int to = 0; to < e->n_blocks; to++)
        for (int k = 0; k < e->n_queues; k++)
            if (fc_cycle_open_queue(e, &b->queue[to * e->n_queues + k], k,
                                    e->queue_inside[k] && &e->block[to] != b ? 0 : links, st))
                return st->code;
    for (uint64_t i = 0; i < most_out << e->vc_shift; i++) b->bid[i].key = b->bids[i] = UINT64_MAX;
    memset(b->wheel, 0xff, (e->wheel_mask + 1) * sizeof *b->wheel);
    b->n_nodes = 0;
    for (uint32_t n = 0; n < net->n_nodes; n++)
        if (&e->block[block_of(e, net->n_routers + n)] == b) b->node[b->n_nodes++] = n;
    for (uint32_t i = 0; i < b->n_nodes; i++) {
        struct fc_cycle_node *node = &e->node[b->node[i]];
        node->last_vc = 15;
        node->link = net->first_link[net->n_routers + b->node[i]];
        fc_flit_first(e->traffic, b->node[i], &node->source);
        if (node->source.born == UINT64_MAX) b->n_done++;
        fc_cycle_await_birth(b, i, node->source.born, 0);
    }
    return fc_cycle_open_rails_block(b, st) || !e->high ? st->code : fc_cycle_open_high(b, st);
}
/* Blocks of equal numbers of routers. One block where a link without delay would join two. */
static void divide(struct fc_cycle *e)
{
    const struct fc_network *net = e->flit->net;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t r = 0; r < net->n_routers; r++)
            e->router_block[r] = (uint16_t)((uint64_t)r * (uint64_t)e->n_blocks / net->n_routers);
        for (uint32_t l = 0; l < net->n_links && e->n_blocks > 1 && !again; l++)
            if (fc_is_node(net, net->link_source[l]) && !e->delay_injection[net->link_class[l]] &&
                block_of(e, net->link_source[l]) != block_of(e, net->link_target[l])) {
                e->n_blocks = 1;
                again = true;
            }
    }
    for (int b = 0; b < e->n_blocks; b++) e->block[b].first_router = net->n_routers;
    for (uint32_t r = net->n_routers; r-- > 0;) {
        struct fc_cycle_block *b = &e->block[e->router_block[r]];
        b->first_router = r;
        if (!b->last_router) b->last_router = r + 1;
    }
}

static void close_engine(void *engine)
{
    struct fc_cycle *e = engine;
    if (!e) return;
    fc_team_close(e->team);
    fc_arena_free(&e->arena);
    free(e);
}
static enum fc_code open_blocks(const struct fc_flit_net *flit, const struct fc_flit_traffic *traffic, int threads,
                                uint64_t seed, struct fc_flit_counts *counts, uint64_t *link_flits,
                                uint64_t *link_packets, uint32_t *injected, void **engine, struct fc_status *st)
{
    struct fc_cycle *e = calloc(1, sizeof *e);
    *engine = e;
    if (!e) return fc_out_of_memory(st, "the cycle engine");
    e->flit = flit;
    e->traffic = traffic;
    e->high_traffic = fc_flit_high_traffic(traffic);
    for (uint64_t i = 0; i < FC_COUNT(e->draws); i++) e->draws[i] = fc_random(seed, 0x6379636c65, i); /* "cycle" */
    e->counts = counts;
    e->link_flits = link_flits;
    e->link_packets = link_packets;
    e->injected = injected;
    e->n_blocks = threads < 1 ? 1 : (uint32_t)threads > flit->n_routers ? (int)flit->n_routers : threads;
    if (flit->multicast && flit->multicast->acknowledged) e->n_blocks = 1;
    fc_cycle_set_delays(e);
    if (allocate(e, st)) goto failed;
    if (flit->multicast && fc_cycle_multicast_open(e, st)) goto failed;
    divide(e);
    if (fc_cycle_open_rails(e, st) || fc_cycle_open_bypass(e, st) || fc_cycle_open_intake(e, st) ||
        (e->high_traffic && !(e->high = fc_alloc(&e->arena, flit->n_nodes, sizeof *e->high, st))))
        goto failed;
    connect_links(e);
    for (int b = 0; b < e->n_blocks; b++)
        if (open_block(e, &e->block[b], st)) goto failed;
    bool special =
        e->rail || e->line || e->intake || e->high || e->multicast || e->background; /* what the fast path has not */
    if (!special && fc_cycle_is_simple(e) && fc_cycle_fast_open(e, st)) goto failed;
    if (!special && !e->fast && fc_cycle_has_strips(e) && fc_cycle_strips_open(e, st)) goto failed;
    if (!e->fast && !e->strips && fc_cycle_has_bits(e) && fc_cycle_bits_open(e, st)) goto failed;
    e->team = fc_team_open(e->n_blocks);
    return FC_OK;
failed:
    close_engine(e);
    *engine = NULL;
    return st->code;
}

/* A network in boxes (cycle_boxes.h) is one block, and faster in one thread than blocks are in two. */
static enum fc_code open_engine(const struct fc_flit_net *flit, const struct fc_flit_traffic *traffic, int threads,
                                uint64_t seed, struct fc_flit_counts *counts, uint64_t *link_flits,
                                uint64_t *link_packets, uint32_t *injected, void **engine, struct fc_status *st)
{
    if (threads == 2 && fc_cycle_boxes_fit(flit, traffic)) {
        if (open_blocks(flit, traffic, 1, seed, counts, link_flits, link_packets, injected, engine, st))
            return st->code;
        const struct fc_cycle *e = *engine;
        if (e->fast && e->fast->boxes) return FC_OK;
        close_engine(*engine);
    }
    return open_blocks(flit, traffic, threads, seed, counts, link_flits, link_packets, injected, engine, st);
}

/* ---- running ---- */

static uint64_t in_flight(const struct fc_cycle *e)
{
    uint64_t n = 0;
    for (int b = 0; b < e->n_blocks; b++) n += e->block[b].packets_in - e->block[b].packets_out;
    return n;
}
static bool exhausted(const struct fc_cycle *e)
{
    uint64_t done = 0;
    for (int b = 0; b < e->n_blocks; b++) done += e->block[b].n_done;
    return done == e->flit->n_nodes && in_flight(e) == 0;
}
/* Packet records wander with the traffic: the richest block gives to the poorest, until all have about as many. */
static void share_packets(struct fc_cycle *e)
{
    for (;;) {
        struct fc_cycle_block *rich = e->block, *poor = e->block;
        for (struct fc_cycle_block *b = e->block; b < e->block + e->n_blocks; b++) {
            if (b->n_free > rich->n_free) rich = b;
            if (b->n_free < poor->n_free) poor = b;
        }
        if (rich->n_free - poor->n_free < ALIKE) return;
        uint32_t n = (rich->n_free - poor->n_free) / 2;
        rich->n_free -= n;
        memcpy(poor->free_packet + poor->n_free, rich->free_packet + rich->n_free, n * sizeof *poor->free_packet);
        poor->n_free += n;
    }
}
/* Windows also end at multiples of STOP ticks, the only places where a run may stop early: the same for any
 * number of blocks. */
static uint64_t window_end(const struct fc_cycle *e, uint64_t from, uint64_t until)
{
    uint64_t window = e->n_blocks == 1 ? STOP : e->window, next = (from / STOP + 1) * STOP;
    uint64_t to = from + window < next ? from + window : next;
    return to < until ? to : until;
}
static inline void run_block(struct fc_cycle_block *b, uint64_t from, uint64_t to)
{
    if (b->engine->fast)
        fc_cycle_block_run_fast(b, from, to);
    else if (b->engine->strips)
        fc_cycle_strips_run(b, from, to);
    else
        fc_cycle_block_run(b, from, to);
}
/* What the threads of one advance share; the first one writes it, between two meetings. */
struct run {
    struct fc_cycle *engine;
    uint64_t until, now; /* asked for; reached */
    bool drained, stop;  /* once drained only credits travel, up to `until` */
};
/* One thread's blocks, window after window. */
static void run_thread(void *of, int thread, struct fc_team *team)
{
    struct run *run = of;
    struct fc_cycle *e = run->engine;
    int n_threads = fc_team_size(team);
    for (uint64_t t = e->now; t < run->until && !run->stop;) {
        uint64_t to = window_end(e, t, run->until);
        for (int b = thread; b < e->n_blocks; b += n_threads) run_block(&e->block[b], t, to);
        fc_team_meet(team);
        if (thread == 0) {
            share_packets(e);
            run->now = to;
            run->stop = !run->drained && to % STOP == 0 && exhausted(e);
            for (int b = 0; b < e->n_blocks; b++) run->stop |= e->block[b].out_of_packets;
        }
        fc_team_meet(team);
        t = to;
    }
}
static enum fc_code advance(void *engine, uint64_t until, struct fc_flit_state *state, struct fc_status *st)
{
    struct fc_cycle *e = engine;
    struct run run = {.engine = e, .until = until, .now = e->now, .drained = exhausted(e)};
    fc_team_run(e->team, run_thread, &run);
    uint64_t now = run.now;
    e->now = now;
    *state = (struct fc_flit_state){.now = now, .packets_in_flight = in_flight(e), .exhausted = exhausted(e)};
    for (int i = 0; i < e->n_blocks; i++) {
        struct fc_cycle_block *b = &e->block[i];
        if (b->out_of_packets)
            return fc_refuse(
                st, FC_NO,
                "the cycle engine holds at most %u packets at a time: take longer packets or smaller buffers",
                e->n_packets);
        if (now > b->counts->measure_from && now <= b->counts->measure_to) fc_cycle_flush_links(b, true);
        state->flits_in_flight += b->flits_in - b->flits_out;
        if (b->n_received) b->last_move = now; /* a node is busy taking them in */
        if (b->last_move > e->last_move) e->last_move = b->last_move;
    }
    for (uint32_t node = 0; node < e->flit->n_nodes; node++) {
        const struct fc_cycle_node *s = &e->node[node];
        state->sources_waiting += (!s->left && s->source.born < e->counts->measure_to) ||
                                  (e->high && !e->high[node].left && e->high[node].source.born < e->counts->measure_to);
        if (!s->left && s->source.born < now && now - s->source.born > state->longest_wait)
            state->longest_wait = now - s->source.born;
    }
    state->last_move = e->last_move;
    for (int i = 0; state->exhausted && i < e->n_blocks; i++)
        if (i == 0 || e->counts[i].last_delivery > state->now) state->now = e->counts[i].last_delivery;
    return FC_OK;
}

static void start_at(void *engine, uint64_t tick)
{
    struct fc_cycle *e = engine;
    e->now = tick;
}
/* One block: its nodes are all nodes in order. */
static void wake_source(void *engine, uint32_t node)
{
    struct fc_cycle *e = engine;
    struct fc_flit_source *source = &e->node[node].source;
    if (source->born != UINT64_MAX) return;
    fc_flit_first(e->traffic, node, source);
    if (source->born == UINT64_MAX) return;
    e->block->n_done--;
    fc_cycle_await_birth(e->block, node, source->born, e->now);
}

const struct fc_flit_engine_ops fc_flit_cycle_engine = {
    .name = "cycle",
    .takes = fc_cycle_takes,
    .open = open_engine,
    .advance = advance,
    .blocked = fc_cycle_blocked,
    .credits_full = fc_cycle_credits_full,
    .close = close_engine,
    .wake = wake_source,
    .start_at = start_at,
};
