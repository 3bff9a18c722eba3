/* cycle_strip_open.c - strips (cycle_strip.h): which machines they take, their state at tick 0, copies of it for reports. */
#include "solvers/flit/cycle_strip.h"
#include "solvers/flit/source_draw.h"

#include <string.h>

enum { MOST_SLOTS = 1 << 26 }; /* half a gigabyte, most of which is not written to */

static uint32_t bits_of(uint64_t n)
{
    return (uint32_t)__builtin_ctzll(fc_ceil_power_of_two(n));
}
static uint32_t ports_of(const struct fc_cycle *e, uint32_t router)
{
    return e->first_port[router + 1] - e->first_port[router];
}

/* ---- which machines ---- */

static bool processor_has_vectors(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}
/* Every link takes a tick for a flit, trailers included. */
static bool links_are_alike(const struct fc_flit_net *f)
{
    for (uint32_t l = 0; l < f->n_links; l++)
        if (f->flit_ticks[f->net->link_class[l]] + f->trailer_ticks[f->net->link_class[l]] > 1) return false;
    return true;
}
static bool takes_turns(const struct fc_flit_net *f)
{
    return f->arbitration == FC_ROUND_ROBIN && f->net->machine->router.in_network_percent <= 0;
}
static bool router_is_plain(const struct fc_flit_net *f)
{
    bool sees_waiting =
        f->net->machine->router.ugal.queue != FC_UGAL_CREDITS; /* the stage is not over when nodes send */
    const struct fc_routing_ops *routing = f->net->machine->routing;
    if (f->vc_stage && sees_waiting && routing->adaptive && routing->detours) return false;
    if (f->vector_bytes && f->vector_bytes < FC_STRIP) return false;
    if (f->plain || f->cut_through || f->most_paths != 1 || f->high_vcs || f->multicast) return false;
    if (f->vc_stage && !takes_turns(f)) return false;
    if (f->n_vcs > FC_STRIP_VCS || f->buffer_flits > 256 || f->buffer_flits == 0) return false;
    return f->injection_flits == f->buffer_flits && links_are_alike(f);
}
static bool finds_ways(const struct fc_flit_net *f, struct fc_route_fields *route)
{
    if (fc_route_torus_fields(f, route) || fc_route_ways_fields(f, route)) return true;
    return !f->vc_stage && fc_route_looked_up_fields(f, route);
}
/* A log of arrivals is in the order of routers within a tick, which strips have not. */
bool fc_cycle_has_strips(const struct fc_cycle *e)
{
    const struct fc_flit_net *f = e->flit;
    const struct fc_network *net = f->net;
    struct fc_route_fields route;
    uint32_t vc_bits = (uint32_t)e->vc_shift, outs = vc_bits > 2 ? 8 : FC_STRIP_SENDERS;
    if (!processor_has_vectors() || e->counts->interval_ticks || e->counts->log) return false;
    if (!router_is_plain(f) || !finds_ways(f, &route)) return false;
    if (route.n_outs > outs || route.n_outs + route.per_router > FC_STRIP_SENDERS) return false;
    for (uint32_t r = 0; r < f->n_routers; r++)
        if (ports_of(e, r) << vc_bits > FC_STRIP || net->first_link[r + 1] - net->first_link[r] > outs) return false;
    return route.bits + bits_of(e->n_packets) <= 64 &&
           (uint64_t)f->n_routers * FC_STRIP << bits_of(f->buffer_flits) <= MOST_SLOTS;
}

/* ---- state ---- */

static uint32_t link_of(const struct fc_cycle *e, uint32_t router, uint32_t out)
{
    const struct fc_network *net = e->flit->net;
    if (e->strips->route.n_dims) return fc_route_torus_link(e->flit, router, out);
    uint32_t link = net->first_link[router] + out;
    return link < net->first_link[router + 1] ? link : FC_NONE;
}
/* The sender of a link. */
static uint32_t sender_of(const struct fc_cycle *e, uint32_t link)
{
    const struct fc_network *net = e->flit->net;
    uint32_t from = net->link_source[link], out = 0;
    if (fc_is_node(net, from)) return e->strips->node_sender[from - net->n_routers];
    if (!e->strips->route.n_dims) return from * FC_STRIP_SENDERS + link - net->first_link[from];
    while (link_of(e, from, out) != link) out++;
    return from * FC_STRIP_SENDERS + out;
}
static void connect_link(struct fc_cycle *e, uint32_t link)
{
    struct fc_strips *x = e->strips;
    const struct fc_cycle_out *o = &e->out[link];
    uint32_t q = sender_of(e, link);
    struct fc_strip_sender *s = &x->sender[q];
    x->able[q] = x->free[q] = (uint8_t)o->free;
    for (int v = 0; v < e->flit->n_vcs; v++) s->credits[v] = (uint8_t)e->flit->buffer_flits;
    s->to = FC_NONE;
    if (o->target == FC_NONE) {
        x->ejects[q / FC_STRIP_SENDERS] |= (uint16_t)(1u << q % FC_STRIP_SENDERS);
        return;
    }
    const struct fc_cycle_port *port = &e->port[o->target >> e->vc_shift];
    uint32_t first = port->router * FC_STRIP;
    s->to = first + ((uint32_t)port->number << x->vc_bits);
    uint32_t queue = o->router_link ? e->queue_arrival[o->link_class] : e->queue_injection[o->link_class];
    bool now = !o->router_link && !e->delay_injection[o->link_class];
    s->queue = now ? FC_NONE : o->target_block * (uint32_t)e->n_queues + queue;
    if (x->route.n_dims && o->router_link && fc_route_torus_wraps(e->flit, port->router, q % FC_STRIP_SENDERS))
        s->wraps = (uint8_t)(1u << x->route.out_bits);
    /* What a flit leaves by does not matter for its credit, as no link is slow. */
    x->back[first + port->number] = (struct fc_strip_back){q, port->source_block * (uint32_t)e->n_queues +
                                                                  e->queue_credit[o->link_class][o->link_class]};
}
static void start(struct fc_cycle *e)
{
    const struct fc_network *net = e->flit->net;
    struct fc_strips *x = e->strips;
    const uint32_t vc_mask = (1u << x->vc_bits) - 1;
    for (uint32_t won = 0; won < FC_STRIP_VCS; won++)
        for (uint32_t vc = 0; vc < FC_STRIP_VCS; vc++) x->rank_of[won][vc] = (uint8_t)((vc - won - 1) & vc_mask);
    for (uint32_t n = 0, before = 0; n < e->flit->n_nodes; n++) {
        uint32_t router = net->link_target[net->first_link[net->n_routers + n]];
        before = n && x->node_sender[n - 1] / FC_STRIP_SENDERS == router ? before + 1 : 0;
        x->node_sender[n] = router * FC_STRIP_SENDERS + x->n_outs + before;
        x->wake[n] = e->node[n].source.born;
        e->node[n].last_vc = 15;
    }
    for (uint32_t n = e->flit->n_nodes; n % 4; n++) x->wake[n] = UINT64_MAX;
    memset(x->bid, 0xff, ((size_t)e->flit->n_routers * FC_STRIP_SENDERS << x->vc_bits) * sizeof *x->bid);
    for (uint32_t g = 0; g < x->n_channels; g++) {
        x->channel[g].won = 0xff;
        x->rank[g] = x->rank_of[e->flit->n_vcs - 1][g & vc_mask];
    }
    for (uint32_t l = 0; l < e->flit->n_links; l++) connect_link(e, l);
    /* The general path begins as if everybody had won channel 0 of link 0 (vc_last). */
    uint32_t router = net->link_source[0];
    for (uint32_t c = 0; c < FC_STRIP && router < e->flit->n_routers; c++)
        x->channel[router * FC_STRIP + c].won = (uint8_t)(sender_of(e, 0) % FC_STRIP_SENDERS << 3);
}
static void *rows(struct fc_cycle *e, size_t n, size_t size, struct fc_status *st)
{
    uint8_t *room = fc_alloc(&e->arena, n + (64 + size - 1) / size, size, st);
    return room ? room + (-(uintptr_t)room & 63) : NULL;
}
enum fc_code fc_cycle_strips_open(struct fc_cycle *e, struct fc_status *st)
{
    struct fc_strips *x = e->strips = fc_alloc(&e->arena, 1, sizeof *x, st);
    if (!x) return st->code;
    finds_ways(e->flit, &x->route); /* it does: fc_cycle_has_strips */
    if (x->route.n_dims && fc_route_torus_start_tables(e->flit, &x->route, &e->arena, st)) return st->code;
    size_t channels = x->n_channels = e->flit->n_routers * FC_STRIP;
    size_t senders = (size_t)e->flit->n_routers * FC_STRIP_SENDERS, blocks = (size_t)e->n_blocks;
    x->ring_bits = bits_of(e->flit->buffer_flits);
    x->vc_bits = (uint32_t)e->vc_shift;
    x->n_outs = x->route.n_outs;
    x->n_list = x->n_channels + 64 * (uint32_t)blocks;
    x->turns = takes_turns(e->flit);
    x->single = e->flit->packet_flits_max == 1 && x->turns && !x->route.looked_up;
    x->plain = fc_flit_is_plain(e->traffic);
    if (!(x->slot = rows(e, channels << x->ring_bits, sizeof *x->slot, st)) || !(x->out = rows(e, channels, 1, st)) ||
        !(x->want = rows(e, channels, 1, st)) || !(x->turn = rows(e, channels, 1, st)) ||
        !(x->rank = rows(e, channels, 1, st)) || !(x->held = rows(e, channels, 1, st)) ||
        !(x->able = rows(e, senders, 1, st)) || !(x->free = rows(e, senders, 1, st)) ||
        !(x->channel = fc_alloc(&e->arena, channels, sizeof *x->channel, st)) ||
        (!x->single && !(x->worm = fc_alloc(&e->arena, channels, sizeof *x->worm, st))) ||
        !(x->sender = rows(e, senders, sizeof *x->sender, st)) ||
        !(x->back = fc_alloc(&e->arena, channels, sizeof *x->back, st)) ||
        !(x->ejects = fc_alloc(&e->arena, e->flit->n_routers, sizeof *x->ejects, st)) ||
        !(x->bid = fc_alloc(&e->arena, senders << x->vc_bits, sizeof *x->bid, st)) ||
        !(x->lost = fc_alloc(&e->arena, senders << x->vc_bits, sizeof *x->lost, st)) ||
        !(x->vc_turn = fc_alloc(&e->arena, senders << x->vc_bits, sizeof *x->vc_turn, st)) ||
        !(x->node_sender = fc_alloc(&e->arena, e->flit->n_nodes, sizeof *x->node_sender, st)) ||
        !(x->wake = fc_alloc(&e->arena, e->flit->n_nodes + 4u, sizeof *x->wake, st)) ||
        !(x->busy = fc_alloc(&e->arena, e->flit->n_routers + 32 * (blocks + 1), sizeof *x->busy, st)) ||
        !(x->waits = fc_alloc(&e->arena, x->n_list, sizeof *x->waits, st)) ||
        !(x->list = fc_alloc(&e->arena, 4 * (size_t)x->n_list, sizeof *x->list, st)))
        return st->code;
    start(e);
    return FC_OK;
}

/* ---- copies ---- */

static uint32_t channel_of(const struct fc_cycle *e, const struct fc_cycle_port *port, int vc)
{
    return port->router * FC_STRIP + ((uint32_t)port->number << e->strips->vc_bits) + (uint32_t)vc;
}
uint32_t fc_cycle_strips_count(const struct fc_cycle *e, const struct fc_cycle_port *port, int vc)
{
    return e->strips->channel[channel_of(e, port, vc)].count;
}
uint32_t fc_cycle_strips_credits(const struct fc_cycle *e, uint32_t q, uint32_t vc)
{
    uint32_t credits = e->strips->sender[q].credits[vc];
    return !credits && e->strips->able[q] >> vc & 1 ? 256 : credits;
}
uint32_t fc_cycle_strips_queued(const struct fc_cycle *e, uint32_t link)
{
    uint32_t q = sender_of(e, link), sum = 0;
    for (uint32_t v = 0; v < (uint32_t)e->flit->n_vcs; v++)
        sum += e->flit->buffer_flits - fc_cycle_strips_credits(e, q, v);
    return sum;
}
uint32_t fc_cycle_strips_waiting(const struct fc_cycle *e, uint32_t link)
{
    const struct fc_strips *x = e->strips;
    uint32_t q = sender_of(e, link), first = q / FC_STRIP_SENDERS * FC_STRIP, sum = 0;
    for (uint32_t g = first; g < first + FC_STRIP; g++)
        sum += x->out[g] == q % FC_STRIP_SENDERS && !x->held[g] ? x->channel[g].count : 0;
    return sum;
}
void fc_cycle_strips_sync_sent(struct fc_cycle_block *b)
{
    const struct fc_cycle *e = b->engine;
    for (uint32_t l = 0; l < e->flit->n_links; l++) {
        uint32_t q = sender_of(e, l), router = q / FC_STRIP_SENDERS;
        if (router < b->first_router || router >= b->last_router) continue;
        struct fc_strip_sender *s = &e->strips->sender[q];
        e->out[l].sent += s->sent + ((uint64_t)(e->strips->single ? s->sent : s->packets_sent) << 32);
        s->sent = s->packets_sent = 0;
    }
}
/* The packet of a flit at the router. */
static uint32_t packet_of(const struct fc_cycle *e, uint32_t router, uint64_t flit)
{
    const struct fc_route_fields *route = &e->strips->route;
    uint32_t field = route->out_bits + (uint32_t)route->code_bits;
    if (!e->strips->single) return (uint32_t)(flit >> route->bits);
    for (;; flit >>= field + route->hop_bits) {
        uint32_t out = (uint32_t)(flit & ((1u << route->out_bits) - 1));
        if (route->n_dims) {
            if (out >= 2 * (uint32_t)route->n_dims) break;
            continue;
        }
        uint32_t to = e->strips->sender[router * FC_STRIP_SENDERS + out].to;
        if (to == FC_NONE) break;
        router = to / FC_STRIP;
    }
    return (uint32_t)(flit >> field);
}
void fc_cycle_strips_sync(struct fc_cycle *e)
{
    const struct fc_strips *x = e->strips;
    for (uint32_t r = 0; r < e->flit->n_routers; r++)
        for (uint32_t i = 0; i < ports_of(e, r) << e->vc_shift; i++) {
            struct fc_cycle_channel *c = &e->channel[((size_t)e->first_port[r] << e->vc_shift) + i];
            uint32_t g = r * FC_STRIP + i;
            const struct fc_strip_channel *s = &x->channel[g];
            uint64_t flit = x->single ? x->slot[((size_t)g << x->ring_bits) + s->head] : x->worm[g].front;
            c->count = s->count;
            if (!c->count) continue;
            bool first = x->single || s->asks, last = x->single || s->left == 1;
            c->front = packet_of(e, r, flit) | (first ? FC_FLIT_HEAD : 0) | (last ? FC_FLIT_TAIL : 0);
            c->out = !x->single && x->worm[g].outs ? FC_NONE : link_of(e, r, x->out[g]);
            c->vcs = x->held[g] ? s->has : s->asks;
            c->out_vc = x->held[g] ? (uint8_t)__builtin_ctz(s->has) : FC_NO_VC;
        }
    for (uint32_t l = 0; l < e->flit->n_links; l++)
        for (uint32_t v = 0; v < (uint32_t)e->flit->n_vcs; v++)
            e->out[l].credits[v] = (uint16_t)fc_cycle_strips_credits(e, sender_of(e, l), v);
}
