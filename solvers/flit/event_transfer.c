/* event_transfer.c - a packet leaves a channel and enters the next: queues, tokens, counters, other blocks.
 *
 * A packet of n flits that starts on a link at tick s leaves its buffer flit by flit until s + n flit times;
 * its channel calls the next head then. Where it came by a faster link the last flit takes a flit time of that: a
 * buffer passes on what its link brings, to as many slower links as that takes (the port's paths, prepare.c). Where it
 * came by a slower link the last flit leaves when it has come. The link is busy for the trailer too. Token number i of
 * the buffer is with the sender at s + i flit times + credit handling + latency of the link that it came by, all of them
 * as much sooner as the packet has left. A packet counted as full size gives back what it took beyond its length with
 * its last token. */
#include "solvers/flit/event.h"
#include "solvers/flit/event_block.h"
#include "solvers/flit/event_count.h"
#include "solvers/flit/event_node.h"
#include "solvers/flit/event_parts.h"
#include "solvers/flit/event_tokens.h"
#include "solvers/flit/event_transfer.h"
#include "solvers/flit/event_wait.h"
#include "solvers/flit/route_ops.h"

/* A packet came to the front of its channel, or none is left: the link that it asks for, for UGAL (event_node.c). */
static __attribute__((noinline)) void note_head(struct fc_event_block *block, const struct fc_event_channel *channel)
{
    struct fc_event_engine *e = block->engine;
    uint32_t link = FC_NONE;
    if (channel->head) {
        struct fc_flit_choice choice[FC_FLIT_MOST_CHOICES];
        const struct fc_event_packet *packet = &block->packet[channel->head];
        struct fc_flit_head head = {.route = packet->route, .dst = packet->dst, .random = packet->random};
        e->flit->route->choices(e->flit, channel->router, channel->link, e->bit_vc[channel->bit], &head, choice);
        link = choice[0].link;
    }
    e->asked[e->head_first[channel->router] + channel->bit] = link;
}

static inline __attribute__((always_inline)) void append(struct fc_event_block *block, uint32_t c, uint32_t p)
{
    struct fc_event_channel *channel = &block->engine->channel[c];
    uint64_t ready = block->packet[p].ready;
    channel->queued = (uint16_t)(channel->queued + block->packet[p].flits);
    channel->tail_ready = ready & 0xffffffu;
    if (channel->head) {
        block->packet[channel->tail].next = p;
        channel->tail = p;
        return;
    }
    channel->head = channel->tail = p;
    channel->when = channel->when > ready ? channel->when : ready;
    channel->flags = FC_EVENT_DUE;
    if (block->engine->asked) note_head(block, channel);
    fc_event_push(&block->wheel, channel->when, FC_EVENT_CHANNEL, c);
}

void fc_event_append(struct fc_event_block *block, uint32_t c, uint32_t p)
{
    append(block, c, p);
}

/* Counts a packet that starts on the link now. */
static inline void count_sent(struct fc_event_block *block, uint32_t l, uint32_t flits, uint32_t flit_ticks)
{
    uint64_t since = block->wheel.now - block->counts->measure_from;
    if (since >= block->well_within) {
        fc_event_count_edge(block, l, flits, flit_ticks);
        return;
    }
    block->engine->sent[l] += (uint64_t)flits << 32 | 1;
}

/* How much sooner than the next link, where that is slower, has sent it the last flit has left its buffer: both links between
 * routers. */
static inline uint32_t sooner(const struct fc_event_engine *e, const struct fc_event_packet *packet, int kind,
                              uint32_t flit_ticks)
{
    uint32_t came = e->times[packet->in_class].flit;
    if (kind != FC_EVENT_BETWEEN || !packet->hops || came >= flit_ticks) return 0;
    return flit_ticks - (came ? came : 1);
}

/* Takes the head off its queue, frees its tokens, and calls the next. */
static inline void leave_channel(struct fc_event_block *block, uint32_t c, struct fc_event_channel *channel,
                                 const struct fc_event_packet *packet, int kind, uint32_t flit_ticks)
{
    struct fc_event_engine *e = block->engine;
    uint64_t now = block->wheel.now;
    uint32_t ticks = packet->flits * flit_ticks, vc = e->bit_vc[channel->bit];
    uint64_t left_at = now + ticks - sooner(e, packet, kind, flit_ticks);
    if (packet->tail > left_at) left_at = packet->tail; /* its flits go on as they come, by a slower link */
    struct fc_event_arrived *arrived = e->arrived ? &e->arrived[c] : NULL;
    if (arrived && arrived->last) {
        arrived->flits -= packet->flits;
        if (arrived->last == channel->head) arrived->last = 0;
    }
    channel->head = packet->next;
    channel->queued = (uint16_t)(channel->queued - packet->flits);
    channel->flags = 0;
    channel->when = left_at;
    if (packet->next) {
        uint64_t ready = block->packet[packet->next].ready;
        channel->when = ready > left_at ? ready : left_at;
        channel->flags = FC_EVENT_DUE;
        fc_event_push(&block->wheel, channel->when, FC_EVENT_CHANNEL, c);
    }
    if (e->asked) note_head(block, channel);
    uint32_t one_by_one = flit_ticks ? packet->flits : 1;
    struct fc_event_ramp ramp = {.last = left_at + e->times[packet->in_class].token,
                                 .step = flit_ticks ? flit_ticks : 1,
                                 .flits = (uint16_t)one_by_one,
                                 .extra = (uint16_t)(packet->held - one_by_one)};
    if (block->counts->interval_ticks) fc_event_count_return(block, ramp.last);
    int to = e->n_blocks > 1 ? e->vertex_block[fc_event_link(e, channel->link)->source] : 0;
    if (to == block->index) {
        fc_event_take_return(block, channel->link, vc, &ramp);
        return;
    }
    fc_event_post_return(block, to, channel->link, vc, &ramp);
}

void fc_event_post_arrival(struct fc_event_block *block, int to, uint32_t c, uint32_t p)
{
    struct fc_event_outbox *outbox = fc_event_outbox_to(block, to);
    void *array = outbox->arrival;
    if (!fc_event_grow(&array, &outbox->arrival_capacity, outbox->n_arrivals, sizeof *outbox->arrival)) {
        block->out_of_memory = true;
        return;
    }
    outbox->arrival = array;
    outbox->arrival[outbox->n_arrivals++] = (struct fc_event_arrival){block->packet[p], c};
    block->packet[p].next = block->free_packet;
    block->free_packet = p;
}

void fc_event_post_return(struct fc_event_block *block, int to, uint32_t l, uint32_t vc,
                          const struct fc_event_ramp *ramp)
{
    struct fc_event_outbox *outbox = fc_event_outbox_to(block, to);
    void *array = outbox->back;
    if (!fc_event_grow(&array, &outbox->back_capacity, outbox->n_back, sizeof *outbox->back)) {
        block->out_of_memory = true;
        return;
    }
    outbox->back = array;
    outbox->back[outbox->n_back++] = (struct fc_event_return){*ramp, l, vc};
}

/* The packet starts on a link that does not lead to a node, for channel vc. */
static inline void start_on(struct fc_event_block *block, uint32_t l, uint32_t vc, uint32_t p, uint32_t link_class)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_packet *packet = &block->packet[p];
    uint64_t now = block->wheel.now;
    uint32_t c = fc_event_channel_at(e, l, vc), ticks = fc_event_ticks(e, link_class, packet->flits);
    fc_event_tokens_of(e, l, vc)->count -= packet->held;
    uint64_t end = now + ticks > packet->tail ? now + ticks : packet->tail;
    packet->ready = now + e->times[link_class].ready;
    packet->tail = end + e->times[link_class].ready;
    packet->in_class = (uint8_t)link_class;
    packet->next = 0;
    int to = e->n_blocks > 1 ? e->vertex_block[e->channel[c].router] : 0;
    if (to == block->index)
        append(block, c, p);
    else
        fc_event_post_arrival(block, to, c, p);
}

void fc_event_depart(struct fc_event_block *block, uint32_t l, uint32_t vc, uint32_t p)
{
    struct fc_event_link *link = fc_event_link(block->engine, l);
    uint32_t flits = block->packet[p].flits, ticks = fc_event_ticks(block->engine, link->link_class, flits);
    link->busy_until = block->wheel.now + ticks;
    block->last_move = block->wheel.now;
    count_sent(block, l, flits, block->engine->times[link->link_class].flit);
    start_on(block, l, vc, p, link->link_class);
}

void fc_event_send(struct fc_event_block *block, uint32_t c, const struct fc_flit_choice *choice, uint32_t vc,
                   bool waited)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_channel *channel = &e->channel[c];
    struct fc_event_link *link = fc_event_link(e, choice->link);
    uint32_t p = channel->head, in_vc = e->bit_vc[channel->bit];
    struct fc_event_packet *packet = &block->packet[p];
    uint64_t now = block->wheel.now;
    uint32_t class = link->link_class, flits = packet->flits, flit_ticks = e->times[class].flit;
    uint32_t ticks = flits * flit_ticks + e->times[class].trailer;

    __builtin_prefetch(&e->channel[choice->link * e->n_network_vcs + vc]);
    __builtin_prefetch(&e->sent[choice->link]);
    link->busy_until = now + ticks;
    if (link->wanted) {
        if (ticks) link->wake = FC_EVENT_NEVER; /* whatever it was, it comes too early now */
        fc_event_rearm(block, choice->link);
    }
    if (e->flit->arbitration == FC_ROUND_ROBIN) {
        link->turn = e->bit_port[channel->bit];
        e->port_turn[channel->link] = (uint8_t)in_vc;
    }
    fc_event_take_path(e, channel->link, link->kind, now, now + (uint64_t)flits * flit_ticks);
    if (packet->hops) fc_event_count_occupancy(block, packet, in_vc, flits, flit_ticks);
    count_sent(block, choice->link, flits, flit_ticks);
    leave_channel(block, c, channel, packet, link->kind, flit_ticks);

    block->last_move = now;
    packet->route = choice->route;
    if (link->kind == FC_EVENT_EJECTION) {
        fc_event_deliver(block, p, now + ticks + e->times[class].latency);
        return;
    }
    if (block->counts->interval_ticks) {
        fc_event_count_intervals(block, flits, flit_ticks, (int)vc);
        if (waited) fc_event_count_unblocked(block, fc_event_tokens_of(e, choice->link, vc));
    }
    block->counts->flit_hops += flits;
    if (choice->escape) block->counts->escape_flit_hops += flits;
    packet->held = choice->full_size ? (uint16_t)e->full : (uint16_t)flits;
    packet->hops++;
    start_on(block, choice->link, vc, p, class);
}
