/* event_torus_node.c - from the source queue into an adaptive torus: event_node.c for a node with one link
 * whose routing looks at nothing at the source, so that it is asked only when the packet leaves. */
#include "solvers/flit/event_node.h"
#include "solvers/flit/event_torus_move.h"

static inline void node_due(struct fc_event_block *block, uint32_t n, uint64_t tick)
{
    struct fc_event_node *node = &block->engine->node[n];
    if (tick >= node->when) return;
    node->when = tick;
    fc_event_push(&block->wheel, tick, FC_EVENT_NODE, n);
}

/* The channels that the packet at the front may take. */
static inline uint32_t allowed(const struct fc_event_engine *e, uint32_t n)
{
    const struct fc_flit_source *source = &e->node[n].source;
    if (__builtin_expect(!e->flit->own_fifos, 1)) return e->flit->injection_vcs;
    uint32_t own = fc_route_adaptive_fifos(&e->adaptive, source->random,
                                           fc_route_adaptive_start(&e->adaptive, n, source->dst, source->random));
    return own ? own : e->flit->injection_vcs;
}

/* The emptiest of the channels with room, of equals the lowest; n_vcs: none, then not before `again`. */
static inline uint32_t emptiest(const struct fc_event_block *block, uint32_t l, uint32_t channels, uint64_t *again)
{
    const struct fc_event_engine *e = block->engine;
    int32_t most = (int32_t)e->full - 1;
    uint32_t picked = e->n_vcs;
    const union fc_event_lane *lane = fc_event_lane_of(e, l) + e->first_tokens;
    const struct fc_event_tokens *more = &e->more_tokens[e->more_at[l]] - e->n_network_vcs;
    for (uint32_t left = channels; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctz(left);
        int32_t tokens = fc_event_room(block, v < e->n_network_vcs ? &lane[v].tokens : &more[v]);
        picked = tokens > most ? v : picked;
        most = tokens > most ? tokens : most;
        if (tokens == (int32_t)e->flit->injection_flits) return picked;
    }
    *again = FC_EVENT_NEVER;
    for (uint32_t left = channels; left && picked == e->n_vcs; left &= left - 1) {
        uint64_t tick = fc_event_token_tick(block, fc_event_tokens_of(e, l, (uint32_t)__builtin_ctz(left)), e->full);
        if (tick < *again) *again = tick;
    }
    return picked;
}

/* The packet at the front leaves. */
static inline void depart(struct fc_event_block *block, uint32_t n, uint32_t l, uint32_t vc, uint32_t p)
{
    struct fc_event_engine *e = block->engine;
    const struct fc_flit_source *source = &e->node[n].source;
    struct fc_flit_counts *counts = block->counts;
    struct fc_event_packet *packet = &block->packet[p];
    struct fc_event_link *link = fc_event_link(e, l);
    uint64_t now = block->wheel.now, born = source->born;
    uint32_t flits = source->flits, ticks = flits * e->injection.flit + e->injection.trailer;
    bool own = source->tag != FC_FLIT_BACKGROUND;
    packet->route = fc_route_adaptive_start(&e->adaptive, n, source->dst, source->random);
    packet->born = born;
    packet->entered = now;
    packet->dst = source->dst;
    packet->random = source->random;
    packet->src = n;
    packet->flits = packet->held = (uint16_t)flits;
    packet->hops = 0;
    packet->background = !own;
    counts->packets_injected++;
    counts->flits_injected += flits;
    counts->measured_started += own & (born >= counts->measure_from) & (born < counts->measure_to);
    e->injected[n] += own & (now >= counts->measure_from) & (now < counts->measure_to);
    block->packets_in++;
    block->flits_in += flits;
    link->busy_until = now + ticks;
    block->last_move = now;
    fc_event_torus_count(block, l, flits, e->injection.flit);
    fc_event_enter(block, fc_event_channel_at(e, l, vc), fc_event_tokens_of(e, l, vc), p, packet, link->link_class,
                   ticks, e->injection.ready);
}

void fc_event_torus_inject(struct fc_event_block *block, uint32_t n)
{
    struct fc_event_engine *e = block->engine;
    struct fc_event_node *node = &e->node[n];
    uint32_t l = node->link;
    struct fc_event_link *link = fc_event_link(e, l);
    uint64_t now = block->wheel.now, again = FC_EVENT_NEVER;
    link->wanted = 0;
    while (node->source.born <= now) {
        if (link->busy_until > now) {
            node_due(block, n, link->busy_until);
            return;
        }
        uint32_t vc = emptiest(block, l, allowed(e, n), &again);
        if (vc == e->n_vcs) {
            link->wanted = 1;
            if (again != FC_EVENT_NEVER) node_due(block, n, again);
            return;
        }
        uint32_t p = fc_event_new_packet(block);
        if (p == 0) return;
        depart(block, n, l, vc, p);
        fc_flit_next(e->traffic, n, &node->source);
        if (node->source.born == UINT64_MAX) {
            block->live_sources--;
            return;
        }
    }
    node_due(block, n, node->source.born > link->busy_until ? node->source.born : link->busy_until);
}
