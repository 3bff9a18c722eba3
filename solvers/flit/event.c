/* event.c - the packet-event engine: virtual cut-through, whole packets, one event a packet and hop.
 *
 * Rule. A packet of n flits that starts on a link at tick s keeps it until s + n flit times + trailer; its
 * head may start on the next link from s + latency + router delay on, where that link is faster later by the
 * difference of their flit times: a flit goes on when it is there whole. Flits need no events of their own: room
 * for the whole packet is there before its first flit leaves, so that they follow the head at the rate of the
 * link, or at that of a slower one that they came by: then the last flit leaves when it is there, while the link,
 * busy for n of its own flit times, takes others between them. Tokens come back as a ramp in time that is
 * evaluated when somebody asks. A packet is delivered when the ejection link has brought it whole; on a faster
 * one it starts so late that its tail never has to be sent before it is there, and is not delivered later for it.
 * Source: Kermani & Kleinrock, Computer Networks 3(4), 1979; Dally & Towles (2004), 13.2.
 *
 * Limits. Whole packets in one channel, one after the other: no wormhole, no interleaving of packets on a
 * link but of those that a slower one brought, which do not hold the virtual channel behind it meanwhile; no separate
 * stage that allocates virtual channels. Ejected packets leave at once: nodes never push back. */
#include "solvers/flit/counts.h"
#include "solvers/flit/engine.h"
#include "solvers/flit/event.h"
#include "solvers/flit/event_block.h"
#include "solvers/flit/event_parts.h"
#include "solvers/flit/event_torus.h"
#include "solvers/flit/prepared.h"
#include "solvers/flit/route_ops.h"
#include "solvers/flit/traffic.h"

#include <stdlib.h>

static bool takes(const struct fc_flit_net *flit, char *why, size_t size)
{
    const char *reason = NULL;
    if (!flit->cut_through)
        reason = "wormhole flow control spreads a packet over several buffers (router.flow_control)";
    else if (flit->vc_stage)
        reason = "virtual channels are allocated in a stage before the switch (router.vc_allocation)";
    else if (flit->reception_flits)
        reason = "reception queues of finite size (node.reception)";
    else if (flit->bypass)
        reason = "routers with a bypass (router.bypass)";
    else if (flit->high_vcs)
        reason = "packets of high priority (router.high_priority)";
    else if (flit->packet_flits_max > UINT16_MAX)
        reason = "packets of more than 65535 flits";
    else if ((uint64_t)flit->n_links * (uint64_t)flit->n_vcs > FC_EVENT_INDEX)
        reason = "more than 2^30 virtual channels";
    else if (flit->multicast)
        reason = "routers copy packets on the way (router.multicast)";
    if (reason) snprintf(why, size, "%s", reason);
    return !reason;
}

/* ---- open ------------------------------------------------------------ */

static int link_kind(const struct fc_network *net, uint32_t l)
{
    if (fc_is_node(net, net->link_source[l])) return FC_EVENT_INJECTION;
    return fc_is_node(net, net->link_target[l]) ? FC_EVENT_EJECTION : FC_EVENT_BETWEEN;
}

static void set_times(struct fc_event_engine *e)
{
    const struct fc_flit_net *flit = e->flit;
    for (int i = 0; i < flit->net->machine->n_classes; i++)
        e->times[i] = (struct fc_event_times){.flit = flit->flit_ticks[i],
                                              .trailer = flit->trailer_ticks[i],
                                              .latency = flit->latency_ticks[i],
                                              .ready = flit->latency_ticks[i] + flit->router_ticks,
                                              .token = flit->latency_ticks[i] + flit->credit_ticks};
}

/* Whether event_torus*.c may decide: links of each kind of one class, those into the network no slower than
 * those between routers, which take time; masks of one word; ramps short enough for fc_event_room. */
static bool is_adaptive_torus(struct fc_event_engine *e)
{
    const struct fc_flit_net *flit = e->flit;
    int class[3] = {-1, -1, -1};
    if (e->words != 1 || flit->n_escape_vcs > 2 || !fc_route_torus_adaptive_fields(flit, &e->adaptive)) return false;
    e->adaptive.n_free = (uint32_t)__builtin_popcount(e->adaptive.free_vcs);
    if (e->adaptive.n_free == 0) return false;
    for (uint32_t l = 0; l < flit->n_links; l++) {
        int kind = link_kind(flit->net, l), of = flit->net->link_class[l];
        if (class[kind] >= 0 && class[kind] != of) return false;
        class[kind] = of;
    }
    if (class[FC_EVENT_INJECTION] < 0 || class[FC_EVENT_BETWEEN] < 0 || class[FC_EVENT_EJECTION] < 0) return false;
    e->hop_class = (uint32_t) class[FC_EVENT_BETWEEN];
    e->hop = e->times[e->hop_class];
    e->injection = e->times[class[FC_EVENT_INJECTION]];
    e->ejection = e->times[class[FC_EVENT_EJECTION]];
    uint64_t longest = e->hop.flit > e->ejection.flit ? e->hop.flit : e->ejection.flit;
    return e->hop.flit > 0 && e->full * longest * longest < FC_EVENT_STEPS && e->injection.flit <= e->hop.flit &&
           e->injection.trailer <= e->hop.trailer;
}

/* Lanes of a link of an adaptive torus: link, tokens, these at the end so that those of two adaptive
 * channels share a cache line. */
static void set_torus(struct fc_event_engine *e)
{
    const struct fc_flit_net *flit = e->flit;
    e->is_adaptive_torus = is_adaptive_torus(e);
    if (!e->is_adaptive_torus) return;
    e->hop_per_step = (uint32_t)(FC_EVENT_STEPS / e->hop.flit);
    e->eject_per_step = (uint32_t)(FC_EVENT_STEPS / (e->ejection.flit ? e->ejection.flit : 1));
    e->direct = e->ejection.flit > 0;
    e->is_usual =
        e->adaptive.n_dims == 3 && e->adaptive.n_free == 2 && e->n_network_vcs == 3 && e->few_paths && e->paths == 2;
    e->first_tokens = e->stride - e->n_network_vcs;
    for (uint32_t k = 0; k < 2; k++) {
        e->escape_vc[k] = e->adaptive.bubble || flit->n_escape_vcs < 2 ? 0 : k;
        e->escape_need[k] = e->adaptive.bubble ? (k + 1) * e->full : e->full;
    }
}

/* Injection ports that have a path for every queue are not looked at; all others have room for the most paths
 * of any of them. Out of a queue behind a link that has slower ones before it several go at a time: those ports are
 * looked at too. */
static void set_paths(struct fc_event_engine *e)
{
    const struct fc_flit_net *flit = e->flit;
    uint32_t injection = flit->net->first_link[flit->n_routers];
    e->first_unlimited = injection;
    for (uint32_t l = injection; l < flit->n_links; l++)
        if (flit->port_paths[l] < e->n_vcs) e->first_unlimited = flit->n_links;
    e->paths = 0;
    for (uint32_t l = 0; l < e->first_unlimited; l++) {
        if (fc_is_node(flit->net, flit->net->link_target[l])) continue;
        if (flit->port_paths[l] > e->paths) e->paths = flit->port_paths[l];
        if (flit->port_paths[l] < e->n_vcs || (l < injection && flit->port_paths[l] > flit->paths)) e->few_paths = true;
    }
}

static void close_paths(struct fc_event_engine *e)
{
    for (uint32_t l = 0; e->few_paths && l < e->first_unlimited; l++)
        for (uint32_t i = e->flit->port_paths[l]; i < e->paths && fc_event_here(e, e->flit->net->link_target[l]); i++)
            e->path_end[(size_t)l * e->paths + i] = FC_EVENT_NEVER;
}

static void set_rules(struct fc_event_engine *e)
{
    const struct fc_flit_net *flit = e->flit;
    const struct fc_router *router = &flit->net->machine->router;
    e->in_turn = flit->arbitration == FC_ROUND_ROBIN;
    e->elects_of_word = e->words == 1 && !e->in_turn && flit->arbitration != FC_AGE;
    e->router_ticks = flit->router_ticks;
    e->longest_queue = flit->arbitration == FC_SLQ || flit->arbitration == FC_JSQ_SLQ;
    e->longest_queue_share = (uint32_t)(router->slq_percent * (0x1p24 / 100) + 0.5);
    e->in_network_share = (uint32_t)(router->in_network_percent * (0x1p24 / 100) + 0.5);
    e->short_times = flit->buffer_flits <= UINT16_MAX;
    for (int i = 0; i < flit->net->machine->n_classes; i++)
        e->short_times = e->short_times && flit->latency_ticks[i] + flit->router_ticks < 1u << 23;
    e->is_large = (uint64_t)flit->n_links * e->stride * sizeof *e->lane > (1u << 20);
}

static enum fc_code make_arrays(struct fc_event_engine *e, struct fc_status *st)
{
    const struct fc_flit_net *flit = e->flit;
    size_t channels = (size_t)flit->n_links * e->n_network_vcs, most = 1, bits_of_all = 0, n_more = 0,
           vertices = (size_t)flit->n_routers + flit->n_nodes;
    for (uint32_t r = 0; r < flit->n_routers; r++) {
        size_t bits = (size_t)(flit->in_first[r + 1] - flit->in_first[r]) * e->n_vcs;
        if (bits > most) most = bits;
        bits_of_all += bits;
    }
    e->more_at = fc_alloc(&e->arena, flit->n_links, sizeof *e->more_at, st);
    for (uint32_t l = 0; l < flit->n_links && e->more_at; l++) {
        if (link_kind(flit->net, l) != FC_EVENT_INJECTION) continue;
        e->more_at[l] = (uint32_t)n_more;
        n_more += e->n_vcs - e->n_network_vcs;
    }
    channels += n_more;
    if (most > UINT16_MAX)
        return fc_refuse(st, FC_NO, "a router with %zu virtual channels into it is too large for the event engine",
                         most);
    e->words = (int)((most + 63) / 64);
    set_times(e);
    set_paths(e);
    set_torus(e);
    set_rules(e);
    size_t words = (size_t)e->words, links = flit->n_links;
    e->channel = fc_alloc(&e->arena, channels, sizeof *e->channel, st);
    const struct fc_routing_ops *routing = flit->net->machine->routing;
    bool counts_waiting =
        routing->adaptive && routing->detours && flit->net->machine->router.ugal.queue != FC_UGAL_CREDITS;
    e->arrived = counts_waiting ? fc_alloc(&e->arena, channels, sizeof *e->arrived, st) : NULL;
    e->lane = fc_alloc(&e->arena, links * e->stride, sizeof *e->lane, st);
    e->node = fc_alloc(&e->arena, flit->n_nodes, sizeof *e->node, st);
    e->more_tokens = fc_alloc(&e->arena, n_more, sizeof *e->more_tokens, st);
    e->sent = fc_alloc(&e->arena, links, sizeof *e->sent, st);
    if (e->is_adaptive_torus) {
        e->port_stride = fc_event_port_stride((uint32_t)e->adaptive.n_dims);
        size_t ports = (size_t)flit->n_routers * e->port_stride;
        e->port_busy = fc_alloc(&e->arena, ports, sizeof *e->port_busy, st);
        e->escape_wanted = fc_alloc(&e->arena, 2 * ports, sizeof *e->escape_wanted, st);
    }
    e->path_end = e->few_paths ? fc_alloc(&e->arena, links * e->paths, sizeof *e->path_end, st) : NULL;
    e->range = fc_alloc(&e->arena, (size_t)flit->buffer_flits + 1, sizeof *e->range, st);
    e->score = fc_alloc(&e->arena, (size_t)flit->buffer_flits + 1, sizeof *e->score, st);
    e->worth = fc_alloc(&e->arena, (size_t)flit->buffer_flits + 1, sizeof *e->worth, st);
    e->eject_end = fc_alloc(&e->arena, flit->n_links, sizeof *e->eject_end, st);
    e->injected_mask = fc_alloc(&e->arena, flit->n_routers * words, sizeof *e->injected_mask, st);
    e->head_first = fc_alloc(&e->arena, (size_t)flit->n_routers + 1, sizeof *e->head_first, st);
    e->head_channel = fc_alloc(&e->arena, bits_of_all, sizeof *e->head_channel, st);
    e->asked = counts_waiting ? fc_alloc(&e->arena, bits_of_all, sizeof *e->asked, st) : NULL;
    e->bit_port = fc_alloc(&e->arena, 64 * words, sizeof *e->bit_port, st);
    e->bit_vc = fc_alloc(&e->arena, 64 * words, sizeof *e->bit_vc, st);
    e->stamp = fc_alloc(&e->arena, vertices, sizeof *e->stamp, st);
    e->dirty_at = fc_alloc(&e->arena, flit->n_routers, sizeof *e->dirty_at, st);
    e->port_turn = fc_alloc(&e->arena, flit->n_links, sizeof *e->port_turn, st);
    e->vertex_block = fc_alloc(&e->arena, vertices, sizeof *e->vertex_block, st);
    return st->code;
}

/* Routers in consecutive blocks of equal length; a node belongs to the block of the router that its first
 * link leads to. */
static void divide(struct fc_event_engine *e)
{
    const struct fc_network *net = e->flit->net;
    uint32_t n = e->flit->n_routers;
    for (int b = 0; b < e->n_blocks; b++) {
        struct fc_event_block *block = &e->block[b];
        block->first_router = (uint32_t)((uint64_t)n * (uint64_t)b / (uint64_t)e->n_blocks);
        block->last_router = (uint32_t)((uint64_t)n * (uint64_t)(b + 1) / (uint64_t)e->n_blocks);
        for (uint32_t r = block->first_router; r < block->last_router; r++) e->vertex_block[r] = (uint16_t)b;
    }
    for (uint32_t v = n; v < n + e->flit->n_nodes; v++)
        if (net->first_link[v] < net->first_link[v + 1])
            e->vertex_block[v] = e->vertex_block[net->link_target[net->first_link[v]]];
}

/* The least time, in ticks, in which what happens in one block can matter in another. */
static uint64_t find_window(const struct fc_event_engine *e)
{
    const struct fc_flit_net *flit = e->flit;
    const struct fc_network *net = flit->net;
    uint32_t flit_ticks = UINT32_MAX;
    uint64_t window = FC_EVENT_NEVER;
    for (int i = 0; i < net->machine->n_classes; i++)
        if (flit->flit_ticks[i] < flit_ticks) flit_ticks = flit->flit_ticks[i];
    uint64_t token = (uint64_t)flit_ticks + flit->credit_ticks, head = flit->router_ticks;
    for (uint32_t l = 0; l < flit->n_links; l++) {
        if (link_kind(net, l) == FC_EVENT_EJECTION) continue;
        if (e->vertex_block[net->link_source[l]] == e->vertex_block[net->link_target[l]]) continue;
        uint64_t time = flit->latency_ticks[net->link_class[l]] + (token < head ? token : head);
        if (time < window) window = time;
    }
    return window;
}

static void fill_link(struct fc_event_engine *e, uint32_t l)
{
    const struct fc_network *net = e->flit->net;
    *fc_event_link(e, l) = (struct fc_event_link){.wake = FC_EVENT_NEVER,
                                                  .source = net->link_source[l],
                                                  .link_class = net->link_class[l],
                                                  .kind = (uint8_t)link_kind(net, l)};
    if (e->is_adaptive_torus) {
        const uint32_t *row = e->adaptive.row + (size_t)net->link_source[l] * e->adaptive.width;
        for (uint32_t p = 0; link_kind(net, l) == FC_EVENT_BETWEEN && p < 2 * (uint32_t)e->adaptive.n_dims; p++)
            if (row[FC_ROUTE_PORTS + p] == l) fc_event_link(e, l)->port = (uint8_t)(p & 63);
    }
    for (uint32_t v = 0; v < fc_event_vcs_of(e, l); v++) {
        e->channel[fc_event_channel_at(e, l, v)] = (struct fc_event_channel){
            .router = net->link_target[l],
            .link = l,
        };
        *fc_event_tokens_of(e, l, v) =
            (struct fc_event_tokens){.ramp.step = 1, .count = (int32_t)fc_flit_depth(e->flit, l), .last = UINT32_MAX};
    }
}

/* Those of which an end is here: who sends to another rank looks up the channel's router, who frees tokens the link's source. */
static void fill_links(struct fc_event_engine *e)
{
    const struct fc_flit_net *flit = e->flit;
    for (uint32_t l = 0; l < flit->n_links; l++)
        if (fc_event_here(e, flit->net->link_source[l]) || fc_event_here(e, flit->net->link_target[l])) fill_link(e, l);
    for (uint32_t r = 0; r < flit->n_routers; r++) {
        uint32_t bits = (flit->in_first[r + 1] - flit->in_first[r]) * e->n_vcs;
        e->head_first[r + 1] = e->head_first[r] + bits;
        if (!fc_event_here(e, r)) continue;
        for (uint32_t bit = 0; bit < bits; bit++) {
            if (e->asked) e->asked[e->head_first[r] + bit] = FC_NONE;
            uint32_t l = flit->in_link[flit->in_first[r] + bit / e->n_vcs];
            if (bit % e->n_vcs >= fc_event_vcs_of(e, l)) continue; /* a bit that is never set */
            uint32_t c = fc_event_channel_at(e, l, bit % e->n_vcs);
            e->channel[c].bit = (uint16_t)bit;
            e->head_channel[e->head_first[r] + bit] = c;
            if (fc_event_link(e, l)->kind == FC_EVENT_INJECTION)
                e->injected_mask[(size_t)r * (size_t)e->words + bit / 64] |= 1ull << bit % 64;
        }
    }
    for (uint32_t bit = 0; bit < 64u * (uint32_t)e->words; bit++) {
        e->bit_port[bit] = (uint16_t)(bit / e->n_vcs);
        e->bit_vc[bit] = (uint8_t)(bit % e->n_vcs);
    }
}

static enum fc_code make_block(struct fc_event_engine *e, int b, struct fc_status *st)
{
    const struct fc_flit_net *flit = e->flit;
    struct fc_event_block *block = &e->block[b];
    uint64_t reach = 0;
    size_t bits = 64 * (size_t)e->words, outputs = 1;
    for (int i = 0; i < flit->net->machine->n_classes; i++) {
        uint64_t time = 2ull * fc_flit_packet_ticks(flit, i, flit->packet_flits_max) + flit->latency_ticks[i];
        if (time > reach) reach = time;
    }
    for (uint32_t r = 0; r < flit->n_routers; r++) {
        uint32_t n = flit->net->first_link[r + 1] - flit->net->first_link[r];
        if (n > outputs) outputs = n;
    }
    block->engine = e;
    block->index = b;
    block->n_packets = block->n_more = block->n_notes = 1;
    if (fc_event_wheel_make(&block->wheel, reach, &e->arena, st)) return st->code;
    block->dirty =
        fc_alloc(&e->arena, (size_t)(block->last_router - block->first_router) + 1, sizeof *block->dirty, st);
    block->bid = fc_alloc(&e->arena, bits, sizeof *block->bid, st);
    block->choice = fc_alloc(&e->arena, (FC_EVENT_BATCH + bits + 1) * FC_FLIT_MOST_CHOICES, sizeof *block->choice, st);
    block->mask = fc_alloc(&e->arena, 5 * (size_t)e->words, sizeof *block->mask, st);
    block->bid_at = fc_alloc(&e->arena, bits, sizeof *block->bid_at, st);
    block->woken = fc_alloc(&e->arena, outputs, sizeof *block->woken, st);
    block->n_words = block->last_router - block->first_router + 4 * FC_EVENT_CHUNK;
    block->words = fc_alloc(&e->arena, block->n_words, sizeof *block->words, st);
    block->head = fc_alloc(&e->arena, block->n_words, sizeof *block->head, st);
    block->other = fc_alloc(&e->arena, block->n_words, sizeof *block->other, st);
    return st->code;
}

static void start_nodes(struct fc_event_engine *e)
{
    for (uint32_t n = 0; n < e->flit->n_nodes; n++) {
        struct fc_event_node *node = &e->node[n];
        struct fc_event_block *block = &e->block[e->vertex_block[e->flit->n_routers + n]];
        if (!fc_event_here(e, e->flit->n_routers + n)) continue;
        node->when = FC_EVENT_NEVER;
        node->vertex = e->flit->n_routers + n;
        node->link = e->flit->net->first_link[node->vertex];
        fc_flit_first(e->traffic, n, &node->source);
        if (node->source.born == UINT64_MAX) continue;
        block->live_sources++;
        node->when = node->source.born;
        fc_event_push(&block->wheel, node->when, FC_EVENT_NODE, n);
    }
}

static void close_engine(void *engine)
{
    struct fc_event_engine *e = engine;
    fc_team_close(e->team);
    for (int b = e->first_block; b < e->first_block + e->n_here && e->block; b++) {
        struct fc_event_block *block = &e->block[b];
        fc_event_wheel_free(&block->wheel);
        free(block->packet);
        free(block->more);
        free(block->note);
        free(block->landing);
    }
    for (size_t i = 0; i < 2 * (size_t)e->n_here * (size_t)e->n_blocks && e->outbox; i++) {
        free(e->outbox[i].arrival);
        free(e->outbox[i].back);
    }
    fc_event_peers_free(e);
    fc_arena_free(&e->arena);
    free(e);
}

/* Credits for the choice of an output: in four ranges (2 bits), or not at all. */
static void fill_scores(struct fc_event_engine *e)
{
    uint64_t b = e->flit->buffer_flits;
    for (uint64_t t = 0; t <= b; t++) e->range[t] = (uint8_t)((4 * t > b) + (2 * t > b) + (4 * t > 3 * b));
    for (uint64_t t = 0; t <= b; t++) e->score[t] = e->flit->select == FC_SELECT_JSQ ? e->range[t] : 0;
    for (uint64_t t = 0; t <= b; t++) e->worth[t] = t < e->full ? 0 : (uint64_t)(e->score[t] + 1) << 32;
}

/* One block a thread, of this rank or of each. */
static enum fc_code count_blocks(struct fc_event_engine *e, int threads, struct fc_status *st)
{
    enum { MOST_HERE = 1024 };
    int ranks = e->ranks ? e->ranks->size : 1;
    if (e->flit->n_routers < (uint32_t)ranks || ranks > UINT16_MAX)
        return fc_refuse(st, FC_INPUT, "%u routers cannot be divided over %d ranks (expected at most one a router)",
                         e->flit->n_routers, ranks);
    uint32_t most = e->flit->n_routers / (uint32_t)ranks;
    if (most > MOST_HERE) most = MOST_HERE;
    if (most > UINT16_MAX / (uint32_t)ranks) most = UINT16_MAX / (uint32_t)ranks;
    e->n_here = threads < 1 ? 1 : (uint32_t)threads > most ? (int)most : threads;
    e->first_block = e->ranks ? e->ranks->rank * e->n_here : 0;
    e->n_blocks = ranks * e->n_here;
    return FC_OK;
}

/* Blocks, and the time for which they need nothing of each other. */
static enum fc_code divide_in_time(struct fc_event_engine *e, struct fc_status *st)
{
    divide(e);
    e->window = find_window(e);
    if (e->window) return FC_OK;
    if (e->ranks)
        return fc_refuse(st, FC_INPUT,
                         "some link between ranks takes no time (latency, and router delay or credit, are 0): ranks "
                         "cannot run apart (expected a start without mpirun)");
    e->n_blocks = e->n_here = 1;
    divide(e);
    e->window = FC_EVENT_NEVER;
    return FC_OK;
}

static enum fc_code build(struct fc_event_engine *e, int threads, struct fc_flit_counts *counts, struct fc_status *st)
{
    if (count_blocks(e, threads, st)) return st->code;
    size_t n_boxes = 2 * (size_t)e->n_here * (size_t)e->n_blocks;
    e->block = fc_alloc(&e->arena, (size_t)e->n_blocks, sizeof *e->block, st);
    e->outbox = fc_alloc(&e->arena, n_boxes, sizeof *e->outbox, st);
    if (!e->block || !e->outbox || make_arrays(e, st) || divide_in_time(e, st)) return st->code;
    if (e->ranks && fc_event_peers_make(e, st)) return st->code;
    close_paths(e);
    fill_links(e);
    fill_scores(e);
    if (e->is_adaptive_torus && fc_route_torus_adaptive_starts(e->flit, &e->adaptive, &e->arena, st)) return st->code;
    e->n_groups = e->is_adaptive_torus ? 0 : 2 * e->n_network_vcs + FC_EVENT_GROUPS;
    e->waiting = fc_alloc(&e->arena, (size_t)e->flit->n_links * e->n_groups * (size_t)e->words, sizeof *e->waiting, st);
    if (!e->waiting) return st->code;
    for (int i = 0; i < e->n_here; i++) {
        if (make_block(e, e->first_block + i, st)) return st->code;
        e->block[e->first_block + i].counts = &counts[i];
    }
    start_nodes(e);
    for (int i = 0; i < e->n_here; i++)
        if (e->block[e->first_block + i].wheel.out_of_memory) return fc_out_of_memory(st, "the first events");
    return FC_OK;
}

static enum fc_code open_engine(const struct fc_flit_net *flit, const struct fc_flit_traffic *traffic, int threads,
                                uint64_t seed, struct fc_flit_counts *counts, uint64_t *link_flits,
                                uint64_t *link_packets, uint32_t *injected, void **engine, struct fc_status *st)
{
    struct fc_event_engine *e = calloc(1, sizeof *e);
    if (!e) return fc_out_of_memory(st, "the event engine");
    e->flit = flit;
    e->ranks = flit->ranks;
    if (e->ranks &&
        fc_memory_bytes() < SIZE_MAX / (size_t)e->ranks->size) /* of what is asked for a share is written to */
        e->arena.limit_bytes = fc_memory_bytes() * (size_t)e->ranks->size;
    e->traffic = traffic;
    e->seed = fc_random(seed, UINT64_C(0x6576656e74), 0); /* apart from the draws of the sources */
    e->n_vcs = (uint32_t)flit->n_vcs;
    e->n_network_vcs = (uint32_t)flit->n_network_vcs;
    e->stride = (e->n_network_vcs + 2) / 2 * 2; /* whole cache lines */
    e->first_tokens = 1;
    e->full = flit->packet_flits_max;
    e->link_flits = link_flits;
    e->link_packets = link_packets;
    e->injected = injected;
    if (build(e, threads, counts, st)) {
        close_engine(e);
        return st->code;
    }
    e->team = fc_team_open(e->n_here);
    *engine = e;
    return FC_OK;
}

const struct fc_flit_engine_ops fc_flit_event_engine = {
    .name = "event",
    .takes = takes,
    .open = open_engine,
    .advance = fc_event_advance,
    .blocked = fc_event_blocked,
    .credits_full = fc_event_credits_full,
    .close = close_engine,
};
