/* event_transfer.c - a packet leaves a channel and enters the next: queues, tokens, counters, other blocks.
 *
 * A packet of n flits that starts on a link at tick s leaves its buffer flit by flit until s + n flit times;
 * its channel calls the next head then. The link is busy for the trailer too. Token number i of the buffer is
 * with the sender at s + i flit times + credit handling + latency of the link that it came by. A packet
 * counted as full size gives back what it took beyond its length with its last token. Limit: occupancy splits
 * at the borders of the measurement by the packet's head, not flit by flit. */
#include "solvers/flit/event.h"

static inline void take_path(struct fc_event *e, uint32_t in_link, int kind, uint64_t now, uint64_t end)
{
    if (kind == FC_EVENT_EJECTION) {
        e->eject_end[in_link] = end;
        return;
    }
    if (!e->few_paths) return;
    uint64_t *path = &e->path_end[(size_t)in_link * e->paths];
    if (e->paths == 2) {
        path[path[1] < path[0]] = end;
        return;
    }
    while (*path > now) path++;
    *path = end;
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
    fc_event_push(&block->wheel, channel->when, FC_EVENT_CHANNEL, c);
}

void fc_event_append(struct fc_event_block *block, uint32_t c, uint32_t p)
{
    append(block, c, p);
}

/* Flits of a packet that starts at `now` that go out within [from, to). */
static uint32_t flits_within(uint64_t now, uint32_t flits, uint32_t flit_ticks, uint64_t from, uint64_t to)
{
    uint64_t last = now + (uint64_t)(flits - 1) * flit_ticks;
    if (now >= from && last < to) return flits;
    if (last < from || now >= to) return 0;
    uint64_t before = now >= from ? 0 : (from - now + flit_ticks - 1) / flit_ticks;
    uint64_t until = last < to ? flits : (to - now + flit_ticks - 1) / flit_ticks;
    return (uint32_t)(until - before);
}

static void count_at_edge(struct fc_event_block *block, uint32_t l, uint32_t flits, uint32_t flit_ticks)
{
    const struct fc_flit_counts *counts = block->counts;
    uint64_t now = block->wheel.now;
    if (now >= counts->measure_to || now + (uint64_t)flits * flit_ticks < counts->measure_from) return;
    struct fc_event_sent *sent = &block->engine->sent[l];
    sent->flits += flits_within(now, flits, flit_ticks, counts->measure_from, counts->measure_to);
    sent->packets += now >= counts->measure_from && now < counts->measure_to;
}

/* Counts a packet that starts on the link now. */
static inline void count_sent(struct fc_event_block *block, uint32_t l, uint32_t flits, uint32_t flit_ticks)
{
    uint64_t since = block->wheel.now - block->counts->measure_from;
    if (since >= block->well_within) {
        count_at_edge(block, l, flits, flit_ticks);
        return;
    }
    block->engine->sent[l].flits += flits;
    block->engine->sent[l].packets++;
}

static void count_intervals(struct fc_event_block *block, uint32_t flits, uint32_t flit_ticks, int vc)
{
    struct fc_flit_counts *counts = block->counts;
    uint64_t now = block->wheel.now, length = counts->interval_ticks;
    for (uint64_t i = now / length; i < counts->n_intervals; i++) {
        uint32_t part = flits_within(now, flits, flit_ticks, i * length, (i + 1) * length);
        if (part == 0) break;
        counts->interval_vc_flits[i][vc] += part;
    }
}

/* Flits x ticks in the buffer within the window: flit i came at arrived + (i + 1) in_ticks, leaves at now +
 * (i + 1) out_ticks. The part that differs in rate counts whole where the packet starts within the window. */
static void count_occupancy_at_edge(struct fc_event_block *block, uint64_t arrived, uint32_t vc, uint64_t n,
                                    int64_t slower)
{
    struct fc_flit_counts *counts = block->counts;
    uint64_t now = block->wheel.now;
    uint64_t from = arrived > counts->measure_from ? arrived : counts->measure_from;
    uint64_t to = now < counts->measure_to ? now : counts->measure_to;
    if (to <= from) return;
    counts->occupancy_flit_ticks[vc] += (to - from) * n;
    if (now < counts->measure_to)
        counts->occupancy_flit_ticks[vc] += (uint64_t)((int64_t)(n * (n + 1) / 2) * slower);
}

static inline void count_occupancy(struct fc_event_block *block, const struct fc_event_packet *packet,
                                   uint32_t vc, uint32_t out_ticks)
{
    struct fc_flit_counts *counts = block->counts;
    uint64_t now = block->wheel.now, arrived = packet->ready - block->engine->flit->router_ticks,
             n = packet->flits;
    int64_t slower = (int64_t)out_ticks - (int64_t)block->engine->times[packet->in_class].flit;
    if (arrived < counts->measure_from || now >= counts->measure_to || slower)
        count_occupancy_at_edge(block, arrived, vc, n, slower);
    else
        counts->occupancy_flit_ticks[vc] += (now - arrived) * n;
}

/* A return for the packet that leaves the channel; whether it is this tick's token that let a head that
 * waited move. */
static void count_returns(struct fc_event_block *block, uint64_t tick)
{
    struct fc_flit_counts *counts = block->counts;
    uint64_t i = tick / counts->interval_ticks;
    if (i < counts->n_intervals) counts->interval_returns[i]++;
}

static void count_unblocked(struct fc_event_block *block, struct fc_event_tokens *t)
{
    struct fc_flit_counts *counts = block->counts;
    uint64_t now = block->wheel.now, i = now / counts->interval_ticks;
    const struct fc_event_ramp *r = &t->ramp;
    while (r->flits && now >= r->last) fc_event_next_ramp(block, t);
    bool coming = r->flits && r->step && r->last - now <= (uint64_t)(r->flits - 1u) * r->step;
    bool token = t->last == (uint32_t)now || (coming && (r->last - now) % r->step == 0);
    if (token && i < counts->n_intervals) counts->interval_unblocked[i]++;
}

/* Takes the head off its queue, frees its tokens, and calls the next. */
static inline void leave_channel(struct fc_event_block *block, uint32_t c, struct fc_event_channel *channel,
                                 const struct fc_event_packet *packet, uint32_t flit_ticks)
{
    struct fc_event *e = block->engine;
    uint64_t now = block->wheel.now;
    uint32_t ticks = packet->flits * flit_ticks, vc = e->bit_vc[channel->bit];
    channel->head = packet->next;
    channel->queued = (uint16_t)(channel->queued - packet->flits);
    channel->flags = 0;
    channel->when = now + ticks;
    if (packet->next) {
        uint64_t ready = block->packet[packet->next].ready;
        channel->when = ready > now + ticks ? ready : now + ticks;
        channel->flags = FC_EVENT_DUE;
        fc_event_push(&block->wheel, channel->when, FC_EVENT_CHANNEL, c);
    }
    uint32_t one_by_one = flit_ticks ? packet->flits : 1;
    struct fc_event_ramp ramp = {.last = now + ticks + e->times[packet->in_class].token,
                                 .step = flit_ticks ? flit_ticks : 1,
                                 .flits = (uint16_t)one_by_one,
                                 .extra = (uint16_t)(packet->held - one_by_one)};
    if (block->counts->interval_ticks) count_returns(block, ramp.last);
    int to = e->n_blocks > 1 ? e->vertex_block[fc_event_link(e, channel->link)->source] : 0;
    if (to == block->index) {
        fc_event_take_return(block, channel->link, vc, &ramp);
        return;
    }
    struct fc_event_mail *mail = fc_event_mail_to(block, to);
    void *array = mail->back;
    if (!fc_event_grow(&array, &mail->back_capacity, mail->n_back, sizeof *mail->back)) {
        block->out_of_memory = true;
        return;
    }
    mail->back = array;
    mail->back[mail->n_back++] = (struct fc_event_return){ramp, channel->link, vc};
}

/* The packet comes to a channel of another block. */
static void post_arrival(struct fc_event_block *block, int to, uint32_t c, uint32_t p)
{
    struct fc_event_mail *mail = fc_event_mail_to(block, to);
    void *array = mail->arrival;
    if (!fc_event_grow(&array, &mail->arrival_capacity, mail->n_arrivals, sizeof *mail->arrival)) {
        block->out_of_memory = true;
        return;
    }
    mail->arrival = array;
    mail->arrival[mail->n_arrivals++] = (struct fc_event_arrival){block->packet[p], c};
    block->packet[p].next = block->free_packet;
    block->free_packet = p;
}

/* The packet starts on a link that does not lead to a node, for channel vc. */
static inline void start_on(struct fc_event_block *block, uint32_t l, uint32_t vc, uint32_t p,
                            uint32_t link_class)
{
    struct fc_event *e = block->engine;
    struct fc_event_packet *packet = &block->packet[p];
    uint64_t now = block->wheel.now;
    uint32_t c = fc_event_channel_at(e, l, vc), ticks = fc_event_ticks(e, link_class, packet->flits);
    fc_event_tokens_of(e, l, vc)->count -= packet->held;
    packet->ready = now + e->times[link_class].ready;
    packet->tail = packet->ready + ticks;
    packet->in_class = (uint16_t)link_class;
    packet->next = 0;
    int to = e->n_blocks > 1 ? e->vertex_block[e->channel[c].router] : 0;
    if (to == block->index)
        append(block, c, p);
    else
        post_arrival(block, to, c, p);
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
    struct fc_event *e = block->engine;
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
    take_path(e, channel->link, link->kind, now, now + (uint64_t)flits * flit_ticks);
    if (packet->hops) count_occupancy(block, packet, in_vc, flit_ticks);
    count_sent(block, choice->link, flits, flit_ticks);
    leave_channel(block, c, channel, packet, flit_ticks);

    block->last_move = now;
    packet->route = choice->route;
    if (link->kind == FC_EVENT_EJECTION) {
        fc_event_deliver(block, p, now + ticks + e->times[class].latency);
        return;
    }
    if (block->counts->interval_ticks) {
        count_intervals(block, flits, flit_ticks, (int)vc);
        if (waited) count_unblocked(block, fc_event_tokens_of(e, choice->link, vc));
    }
    block->counts->flit_hops += flits;
    if (choice->escape) block->counts->escape_flit_hops += flits;
    packet->held = choice->full_size ? (uint16_t)e->full : (uint16_t)flits;
    packet->hops++;
    start_on(block, choice->link, vc, p, class);
}
