/* event_node.c - the two ends of a packet's way in the packet-event engine: source queue to injection
 * channel, arrival.
 *
 * Packets leave the source queue in order of birth, each when it is born, an injection link that its routing
 * allows is free, and one of the link's channels (injection FIFOs) has room for a packet of full size; of those the
 * emptiest is taken, of equals the first from a link drawn for the packet on, and of its channels the lowest. A node
 * that waits has one event in the calendar, or is woken by the tokens it lacks. */
#include "solvers/flit/counts.h"
#include "solvers/flit/event.h"
#include "solvers/flit/event_block.h"
#include "solvers/flit/event_node.h"
#include "solvers/flit/event_parts.h"
#include "solvers/flit/event_tokens.h"
#include "solvers/flit/event_torus.h"
#include "solvers/flit/event_transfer.h"
#include "solvers/flit/route_ops.h"
#include "solvers/flit/traffic.h"

uint32_t fc_event_new_packet(struct fc_event_block *block)
{
    uint32_t p = block->free_packet;
    if (p) {
        block->free_packet = block->packet[p].next;
        return p;
    }
    void *pool = block->packet;
    if (!fc_event_grow(&pool, &block->packet_capacity, block->n_packets, sizeof *block->packet)) {
        block->out_of_memory = true;
        return 0;
    }
    block->packet = pool;
    return block->n_packets++;
}

/* What routing at the source may see of a link: for links of the routers of this block. */
static uint32_t queued_flits(const void *view, uint32_t l)
{
    struct fc_event_block *block = (struct fc_event_block *)view;
    struct fc_event_engine *e = block->engine;
    int64_t queued = 0;
    for (uint32_t v = 0; v < e->n_network_vcs; v++)
        queued += (int64_t)e->flit->buffer_flits - fc_event_count(block, fc_event_tokens_of(e, l, v), block->wheel.now);
    return (uint32_t)queued;
}

/* Flits of the channel's packets that came whole or in part; those still on the wire do not count. */
static uint32_t arrived_flits(const struct fc_event_block *block, uint32_t c)
{
    struct fc_event_arrived *arrived = &block->engine->arrived[c];
    uint32_t p = arrived->last ? block->packet[arrived->last].next : block->engine->channel[c].head;
    for (; p && block->packet[p].ready <= block->wheel.now; p = block->packet[p].next) {
        arrived->flits += block->packet[p].flits;
        arrived->last = p;
    }
    return arrived->flits;
}

static uint32_t waiting_flits(const void *view, uint32_t l)
{
    struct fc_event_block *block = (struct fc_event_block *)view;
    const struct fc_event_engine *e = block->engine;
    uint32_t r = e->flit->net->link_source[l], sum = 0;
    for (uint32_t i = e->head_first[r]; i < e->head_first[r + 1]; i++)
        if (e->asked[i] == l && block->packet[e->channel[e->head_channel[i]].head].ready <= block->wheel.now)
            sum += arrived_flits(block, e->head_channel[i]);
    return sum;
}

static void node_due(struct fc_event_block *block, uint32_t n, uint64_t tick)
{
    struct fc_event_node *node = &block->engine->node[n];
    if (tick >= node->when) return;
    node->when = tick;
    fc_event_push(&block->wheel, tick, FC_EVENT_NODE, n);
}

/* The choice and channel that the front packet may take now, -1 when it must wait: then until `again` at the
 * earliest, as far as is known. `random` says which choice is looked at first. */
static int pick_link(struct fc_event_block *block, const struct fc_flit_choice *choice, int n, uint64_t random,
                     uint32_t *vc, uint64_t *again)
{
    struct fc_event_engine *e = block->engine;
    uint64_t now = block->wheel.now;
    int picked = -1;
    int32_t most = (int32_t)e->full - 1;
    int first = n > 1 ? (int)((random >> 16) % (unsigned)n) : 0;
    *again = FC_EVENT_NEVER;
    for (int k = 0; k < n; k++) {
        int i = first + k < n ? first + k : first + k - n;
        const struct fc_event_link *link = fc_event_link(e, choice[i].link);
        if (link->busy_until > now) {
            if (link->busy_until < *again) *again = link->busy_until;
            continue;
        }
        for (uint32_t left = choice[i].vcs; left; left &= left - 1) {
            uint32_t v = (uint32_t)__builtin_ctz(left);
            struct fc_event_tokens *t = fc_event_tokens_of(e, choice[i].link, v);
            int32_t tokens = fc_event_count(block, t, now);
            if (tokens > most) most = tokens, picked = i, *vc = v;
            if (tokens >= (int32_t)e->full) continue;
            uint64_t tick = fc_event_token_tick(block, t, e->full);
            if (tick < *again) *again = tick;
        }
    }
    return picked;
}

static void depart(struct fc_event_block *block, uint32_t n, const struct fc_flit_choice *choice, uint32_t vc,
                   uint32_t p)
{
    struct fc_event_engine *e = block->engine;
    const struct fc_flit_source *source = &e->node[n].source;
    struct fc_flit_counts *counts = block->counts;
    uint64_t now = block->wheel.now;
    bool background = source->tag == FC_FLIT_BACKGROUND;
    block->packet[p] = (struct fc_event_packet){.route = choice->route,
                                                .born = source->born,
                                                .entered = now,
                                                .dst = source->dst,
                                                .random = source->random,
                                                .src = n,
                                                .flits = (uint16_t)source->flits,
                                                .held = (uint16_t)source->flits,
                                                .background = background};
    counts->packets_injected++;
    counts->flits_injected += source->flits;
    counts->measured_started +=
        !background && source->born >= counts->measure_from && source->born < counts->measure_to;
    e->injected[n] += !background && now >= counts->measure_from && now < counts->measure_to;
    block->packets_in++;
    block->flits_in += source->flits;
    fc_event_depart(block, choice->link, vc, p);
}

/* The first tick at which one of the node's links is free. */
static uint64_t link_free(const struct fc_event_engine *e, uint32_t n)
{
    const struct fc_network *net = e->flit->net;
    uint32_t v = net->n_routers + n;
    uint64_t first = FC_EVENT_NEVER;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
        if (fc_event_link(e, l)->busy_until < first) first = fc_event_link(e, l)->busy_until;
    return first;
}

void fc_event_inject(struct fc_event_block *block, uint32_t n)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_node *node = &e->node[n];
    if (e->is_adaptive_torus) {
        fc_event_torus_inject(block, n);
        return;
    }
    struct fc_flit_view view = {block, queued_flits, waiting_flits};
    uint64_t now = block->wheel.now;
    while (node->source.born <= now) {
        const struct fc_flit_source *source = &node->source;
        struct fc_flit_head head = {.dst = source->dst, .random = source->random};
        uint64_t again = FC_EVENT_NEVER;
        uint32_t vc = 0;
        head.route = e->flit->route->start(e->flit, n, source->dst, source->random, &view);
        int count = e->flit->route->choices(e->flit, e->flit->n_routers + n, FC_NONE, 0, &head, block->choice);
        int i = pick_link(block, block->choice, count, source->random, &vc, &again);
        for (int j = 0; j < count; j++) fc_event_link(e, block->choice[j].link)->wanted = i < 0;
        if (i < 0) {
            if (again != FC_EVENT_NEVER) node_due(block, n, again);
            return;
        }
        uint32_t p = fc_event_new_packet(block);
        if (p == 0) return;
        depart(block, n, &block->choice[i], vc, p);
        fc_flit_next(e->traffic, n, &node->source);
        if (node->source.born == UINT64_MAX) {
            block->live_sources--;
            return;
        }
        uint64_t free_at = link_free(e, n);
        if (free_at > now) {
            node_due(block, n, node->source.born > free_at ? node->source.born : free_at);
            return;
        }
    }
    node_due(block, n, node->source.born);
}

static inline void count_landing(struct fc_event_block *block, const struct fc_event_landing *l)
{
    if (l->background)
        fc_flit_count_background(block->counts, l->born, l->entered, l->tick, l->flits);
    else
        fc_flit_count_delivery(block->counts, l->born, l->entered, l->tick, l->hops);
    fc_flit_count_flits(block->counts, l->tick, l->flits);
    block->packets_out++;
    block->flits_out += l->flits;
    if (l->tick > block->last_delivery) block->last_delivery = l->tick;
}

void fc_event_deliver(struct fc_event_block *block, uint32_t p, uint64_t tick)
{
    struct fc_event_packet *packet = &block->packet[p];
    struct fc_event_landing landing = {tick,         packet->born,  packet->entered,
                                       packet->hops, packet->flits, packet->background};
    packet->next = block->free_packet;
    block->free_packet = p;
    if (tick < block->until) {
        count_landing(block, &landing);
        return;
    }
    void *array = block->landing;
    if (!fc_event_grow(&array, &block->landing_capacity, block->n_landings, sizeof landing)) {
        block->out_of_memory = true;
        return;
    }
    block->landing = array;
    block->landing[block->n_landings++] = landing;
}

void fc_event_land(struct fc_event_block *block)
{
    uint32_t n = block->n_landings;
    block->n_landings = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct fc_event_landing landing = block->landing[i];
        if (landing.tick < block->until)
            count_landing(block, &landing);
        else
            block->landing[block->n_landings++] = landing;
    }
}
