/* cycle_fast_open.c - the fast path of the cycle engine: which machines it takes, its state at tick 0, and
 * copies of the state for reports. */
#include "solvers/flit/cycle_boxes.h"

#include <string.h>

/* Least b with 2^b >= n. */
static uint32_t bits_of(uint64_t n)
{
    return (uint32_t)__builtin_ctzll(fc_ceil_power_of_two(n));
}
static uint32_t ports_of(const struct fc_cycle *e, uint32_t router)
{
    return e->first_port[router + 1] - e->first_port[router];
}
/* Places for the ports and for the senders of a router, as a power of two, at least 8. */
static uint32_t place_bits(const struct fc_cycle *e, const struct fc_route_fields *route)
{
    uint32_t most = fc_most(8, route->n_outs + route->per_router);
    for (uint32_t r = 0; r < e->flit->n_routers; r++) most = fc_most(most, ports_of(e, r));
    return bits_of(most);
}
static uint32_t ring_bits(const struct fc_cycle *e)
{
    return bits_of(e->flit->buffer_flits);
}
/* First chunk of a block; of all behind the last. */
static uint32_t first_chunk(const struct fc_cycle *e, int block)
{
    uint32_t chunks = 0;
    for (int b = 0; b < block; b++)
        chunks += (e->block[b].last_router - e->block[b].first_router + FC_LANES - 1) / FC_LANES;
    return chunks;
}
/* Ticks of a ring for the events of a kind, as a power of two: the longest delay and a window. */
static uint32_t tick_slots(const struct fc_cycle *e, int kind)
{
    uint32_t slowest = 0;
    for (int k = 0; k < e->n_queues; k++)
        if (e->queue_kind[k] == kind) slowest = fc_most(slowest, e->queue_delay[k]);
    return bits_of((uint64_t)slowest + e->window + 1);
}
/* Whether every link takes a tick for a flit, trailers included. */
static bool links_are_alike(const struct fc_flit_net *f)
{
    for (uint32_t l = 0; l < f->n_links; l++)
        if (f->flit_ticks[f->net->link_class[l]] + f->trailer_ticks[f->net->link_class[l]] > 1) return false;
    return true;
}
/* What can be said of the machine without its size. */
static bool router_is_simple(const struct fc_flit_net *f, struct fc_route_fields *route)
{
    if (f->plain || f->vc_stage || f->most_paths != 1) return false;
    if (f->arbitration != FC_ROUND_ROBIN || f->net->machine->router.in_network_percent > 0) return false;
    if (f->n_vcs > FC_FAST_VCS || f->buffer_flits > UINT8_MAX || f->buffer_flits == 0) return false;
    if (f->injection_flits != f->buffer_flits) return false;
    return links_are_alike(f) && fc_route_torus_fields(f, route);
}
uint32_t fc_cycle_quick_flits(const struct fc_flit_net *f)
{
    struct fc_route_fields route;
    bool turns = f->arbitration == FC_ROUND_ROBIN && f->most_paths == 1; /* cycle_bits.c */
    if (router_is_simple(f, &route)) return 4;
    return links_are_alike(f) ? turns ? 2 : 1 : 0;
}
bool fc_cycle_is_simple(const struct fc_cycle *e)
{
    const struct fc_flit_net *f = e->flit;
    struct fc_route_fields route;
    if (e->counts->interval_ticks || !router_is_simple(f, &route)) return false;
    if (route.n_outs > FC_FAST_PORTS) return false;
    for (uint32_t r = 0; r < f->n_routers; r++)
        if (ports_of(e, r) > FC_FAST_PORTS) return false;
    uint32_t places = place_bits(e, &route), vcs = (uint32_t)e->vc_shift, id_bits = bits_of(e->n_packets);
    uint64_t chunks = first_chunk(e, e->n_blocks);
    uint32_t ticks = fc_most(tick_slots(e, FC_QUEUE_CREDIT), tick_slots(e, FC_QUEUE_ARRIVAL));
    return route.bits + 2 + id_bits <= 64 && bits_of(chunks << (9 + places)) + ticks < 32 &&
           bits_of(chunks) + 6 + places + vcs + ring_bits(e) < 32;
}

static uint8_t *chunk_of(const struct fc_cycle *e, uint32_t router)
{
    return e->fast->chunk + (size_t)(e->fast->lane[router] / FC_LANES) * e->fast->rows.size;
}
/* Where a link stands: the router of its chunk and its place among the senders. */
static uint32_t sender(const struct fc_cycle *e, uint32_t link, uint32_t *router)
{
    const struct fc_network *net = e->flit->net;
    const struct fc_fast *f = e->fast;
    uint32_t from = net->link_source[link];
    if (fc_is_node(net, from)) {
        *router = net->link_target[link];
        return f->n_outs + (from - net->n_routers) % f->route.per_router;
    }
    *router = from;
    for (uint32_t out = 0;; out++)
        if (fc_route_torus_link(e->flit, from, out) == link) return out;
}

static void connect_link(struct fc_cycle *e, uint32_t link)
{
    struct fc_fast *f = e->fast;
    const struct fc_cycle_out *from = &e->out[link];
    uint32_t router, s = sender(e, link, &router), lane = f->lane[router] % FC_LANES, at = s * 64 + lane;
    uint8_t *chunk = chunk_of(e, router);
    f->sender[link] = ((f->lane[router] / FC_LANES) << (6 + f->place_bits)) + at;
    for (int v = 0; v < e->flit->n_vcs; v++)
        chunk[f->rows.credits + ((s << f->vc_bits | (uint32_t)v) << 6) + lane] = (uint8_t)e->flit->buffer_flits;
    chunk[f->rows.free + at] = (uint8_t)from->free;
    if (f->place_bits > 3) chunk[f->rows.last_port + at] = (uint8_t)(f->n_ports - 1);
    if (from->target == FC_NONE) return;
    const struct fc_cycle_port *port = &e->port[from->target >> e->vc_shift];
    if (s < f->n_network_outs && fc_route_torus_wraps(e->flit, port->router, s))
        chunk[f->rows.wraps + at] = (uint8_t)(1u << f->route.out_bits);
    int c = from->link_class;
    uint32_t takes = e->queue_delay[from->router_link ? e->queue_arrival[c] : e->queue_injection[c]];
    uint32_t there = f->lane[port->router] % FC_LANES, there_chunk = f->lane[port->router] / FC_LANES;
    uint32_t port_at = port->number * 64u + there, channel_bits = 6 + f->place_bits + f->vc_bits;
    ((uint32_t *)(chunk + f->rows.arrives))[at] =
        (takes << f->arriving_bits) + (there_chunk << (8 + f->place_bits)) + port_at;
    ((uint32_t *)(chunk + f->rows.slot))[at] =
        (there_chunk << (channel_bits + f->ring_bits)) + ((uint32_t)port->number << (f->vc_bits + 6)) + there;
    /* Classes alike: what a flit leaves by does not matter for its credit, as no link is slow. */
    uint32_t delay = e->queue_delay[e->queue_credit[c][c]];
    uint32_t *upstream = (uint32_t *)(chunk_of(e, port->router) + f->rows.upstream);
    uint32_t back = ((f->lane[router] / FC_LANES << f->place_bits | s) << f->vc_bits << 6) + lane;
    for (uint32_t v = 0; v < 1u << f->vc_bits; v++)
        upstream[(((uint32_t)port->number << f->vc_bits | v) << 6) + there] =
            (delay << f->tick_bits) + back + v * FC_LANES;
}
static void first_winners(struct fc_cycle *e)
{
    struct fc_fast *f = e->fast;
    for (uint32_t c = 0; c < f->n_chunks; c++) {
        uint8_t *chunk = f->chunk + (size_t)c * f->rows.size;
        memset(chunk + f->rows.last_out, (int)f->n_outs - 1, f->n_ports * 64);
        memset(chunk + f->rows.last_vc, e->flit->n_vcs - 1, f->n_ports * 64);
    }
    for (uint32_t n = 0; n < e->flit->n_nodes; n++) e->node[n].last_vc = FC_FAST_VCS - 1;
    for (uint32_t last = 0; last < FC_FAST_VCS; last++)
        for (uint32_t mask = 1; mask < 1u << FC_FAST_VCS; mask++) {
            uint32_t twice = mask | mask << FC_FAST_VCS;
            f->next_vc[last << FC_FAST_VCS | mask] =
                (uint8_t)(__builtin_ctz(twice & 0xfffffffeu << last) % FC_FAST_VCS);
        }
}
enum fc_code fc_cycle_fast_open(struct fc_cycle *e, struct fc_status *st)
{
    struct fc_fast *f = e->fast = fc_alloc(&e->arena, 1, sizeof *f, st);
    if (!f || fc_route_torus_start_tables(e->flit, &f->route, &e->arena, st)) return st->code;
    for (uint32_t r = 0; r < e->flit->n_routers; r++) f->n_ports = fc_most(f->n_ports, ports_of(e, r));
    f->n_outs = f->route.n_outs;
    f->n_network_outs = f->n_outs - f->route.per_router;
    f->n_senders = f->n_outs + f->route.per_router;
    f->place_bits = place_bits(e, &f->route);
    f->vc_bits = (uint32_t)e->vc_shift;
    f->ring_bits = ring_bits(e);
    f->rows = fc_fast_rows(f->place_bits, f->vc_bits);
    f->n_chunks = first_chunk(e, e->n_blocks);
    f->tick_bits = bits_of((uint64_t)f->n_chunks << (6 + f->place_bits + f->vc_bits));
    f->arriving_bits = bits_of((uint64_t)f->n_chunks << (8 + f->place_bits));
    f->returned_mask = (1u << (f->tick_bits + tick_slots(e, FC_QUEUE_CREDIT))) - 1;
    f->arriving_mask = (1u << (f->arriving_bits + tick_slots(e, FC_QUEUE_ARRIVAL))) - 1;
    size_t slots = (size_t)f->n_chunks << (6 + f->place_bits + f->vc_bits + f->ring_bits);
    if (!(f->chunk = fc_alloc(&e->arena, f->n_chunks, f->rows.size, st)) ||
        !(f->slot = fc_alloc(&e->arena, slots, sizeof *f->slot, st)) ||
        !(f->arriving = fc_alloc(&e->arena, (size_t)f->arriving_mask + 1, 1, st)) ||
        !(f->returned = fc_alloc(&e->arena, (size_t)f->returned_mask + 1, 1, st)) ||
        !(f->sender = fc_alloc(&e->arena, e->flit->n_links, sizeof *f->sender, st)) ||
        !(f->lane = fc_alloc(&e->arena, e->flit->n_routers, sizeof *f->lane, st)))
        return st->code;
    for (uint32_t r = 0; r < e->flit->n_routers; r++) {
        int b = e->router_block[r];
        f->lane[r] = first_chunk(e, b) * FC_LANES + r - e->block[b].first_router;
    }
    first_winners(e);
    for (uint32_t l = 0; l < e->flit->n_links; l++) connect_link(e, l);
    return fc_cycle_boxes_open(e, st);
}

/* ---- copies ---- */

uint32_t fc_cycle_fast_count(const struct fc_cycle *e, const struct fc_cycle_port *port, int vc)
{
    const struct fc_fast *f = e->fast;
    uint32_t row = (uint32_t)port->number << f->vc_bits | (uint32_t)vc;
    return chunk_of(e, port->router)[f->rows.count + (row << 6) + f->lane[port->router] % FC_LANES];
}
void fc_cycle_fast_sync_sent(struct fc_cycle_block *b)
{
    const struct fc_cycle *e = b->engine;
    const struct fc_network *net = e->flit->net;
    const struct fc_fast *f = e->fast;
    bool single = e->flit->packet_flits_max == 1;
    uint32_t places = (FC_LANES << f->place_bits) - 1;
    if (f->boxes) fc_cycle_boxes_sync_sent(e);
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t router = fc_is_node(net, net->link_source[l]) ? net->link_target[l] : net->link_source[l];
        if (router < b->first_router || router >= b->last_router) continue;
        uint32_t at = f->sender[l] & places;
        uint8_t *chunk = chunk_of(e, router);
        uint32_t *sent = (uint32_t *)(chunk + f->rows.sent) + at;
        uint32_t *packets = (uint32_t *)(chunk + f->rows.packets_sent) + at;
        e->out[l].sent += *sent + ((uint64_t)(single ? *sent : *packets) << 32);
        *sent = *packets = 0;
    }
}
/* The packet of a flit. */
static uint32_t packet_of(const struct fc_cycle *e, uint64_t flit)
{
    const struct fc_fast *f = e->fast;
    if (e->flit->packet_flits_max > 1) return (uint32_t)(flit >> (f->route.bits + 2));
    while ((flit & ((1u << f->route.out_bits) - 1)) < f->n_network_outs)
        flit >>= f->route.out_bits + 1 + f->route.hop_bits;
    return (uint32_t)(flit >> (f->route.out_bits + 1));
}
void fc_cycle_fast_sync(struct fc_cycle *e)
{
    const struct fc_fast *f = e->fast;
    uint32_t slot_bits = 6 + f->place_bits + f->vc_bits;
    bool single = e->flit->packet_flits_max == 1;
    if (f->boxes) fc_cycle_boxes_sync(e);
    for (uint32_t r = 0; r < e->flit->n_routers; r++) {
        const uint8_t *chunk = chunk_of(e, r);
        uint32_t lane = f->lane[r] % FC_LANES;
        const uint64_t *slots = f->slot + ((size_t)(f->lane[r] / FC_LANES) << (slot_bits + f->ring_bits));
        for (uint32_t i = 0; i < ports_of(e, r) << e->vc_shift; i++) {
            struct fc_cycle_channel *c = &e->channel[((size_t)e->first_port[r] << e->vc_shift) + i];
            uint32_t at = (i << 6) + lane;
            uint64_t flit = slots[((size_t)chunk[f->rows.head + at] << slot_bits) + at];
            bool held = chunk[f->rows.held + at];
            c->count = chunk[f->rows.count + at];
            if (!c->count) continue;
            bool head = single || flit >> f->route.bits & 1, tail = single || flit >> f->route.bits & 2;
            c->front = packet_of(e, flit) | (head ? FC_FLIT_HEAD : 0) | (tail ? FC_FLIT_TAIL : 0);
            c->out = fc_route_torus_link(e->flit, r, chunk[f->rows.out + at]);
            c->vcs = chunk[f->rows.want + at];
            c->out_vc = held ? (uint8_t)__builtin_ctz(c->vcs) : FC_NO_VC;
        }
    }
    for (uint32_t l = 0; l < e->flit->n_links; l++) {
        uint32_t s = f->sender[l] / FC_LANES & ((1u << f->place_bits) - 1), lane = f->sender[l] % FC_LANES;
        const uint8_t *chunk = f->chunk + (size_t)(f->sender[l] >> (6 + f->place_bits)) * f->rows.size;
        for (int v = 0; v < e->flit->n_vcs; v++)
            e->out[l].credits[v] = chunk[f->rows.credits + ((s << f->vc_bits | (uint32_t)v) << 6) + lane];
    }
}
