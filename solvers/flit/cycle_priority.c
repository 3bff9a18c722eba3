/* cycle_priority.c - packets of high priority in the cycle engine (router.high_priority): their sources.
 *
 * They are a second stream of births at every node, with channels of their own on every link (high_vcs, after
 * the extra virtual channel of Blue Gene/L: Adiga et al., IBM J. Res. Dev. 49(2/3), 2005), in dimension order
 * (route_torus.c), and go before all others wherever both could go: on the injection link (here), at the
 * switch's inputs and outputs (cycle_allocate.c). In cut-through a packet on a link is not interrupted, so
 * that a high-priority one waits for the rest of it: a queue with non-preemptive priorities (Cobham 1954). In
 * wormhole it goes before the next flit. */
#include "solvers/flit/cycle_router.h"

#include <string.h>

/* The node's next packet of high priority is born at tick `born`. */
static void await(block *b, uint32_t place, uint64_t born, uint64_t now)
{
    uint32_t mask = b->engine->wheel_mask;
    if (born == UINT64_MAX) return;
    if (born <= now) {
        b->high_sending[place / 64] |= 1ull << place % 64;
        return;
    }
    uint32_t *slot = &b->high_wheel[(born - now > mask ? now + mask : born) & mask];
    b->high_next[place] = *slot;
    *slot = place;
}

enum fc_code fc_cycle_open_high(block *b, struct fc_status *st)
{
    engine *e = b->engine;
    if (!(b->high_sending = fc_alloc(&e->arena, b->n_nodes / 64u + 1, sizeof *b->high_sending, st)) ||
        !(b->high_wheel = fc_alloc(&e->arena, e->wheel_mask + 1u, sizeof *b->high_wheel, st)) ||
        !(b->high_next = fc_alloc(&e->arena, b->n_nodes, sizeof *b->high_next, st)))
        return st->code;
    memset(b->high_wheel, 0xff, (e->wheel_mask + 1) * sizeof *b->high_wheel);
    for (uint32_t i = 0; i < b->n_nodes; i++) {
        struct fc_cycle_node *node = &e->high[b->node[i]];
        node->last_vc = 15;
        fc_flit_first(e->high_traffic, b->node[i], &node->source);
        await(b, i, node->source.born, 0);
    }
    return FC_OK;
}

/* The front packet gets a channel of the injection link. */
static bool start_packet(block *b, uint32_t n, struct fc_cycle_node *node, uint64_t t)
{
    engine *e = b->engine;
    const struct fc_flit_net *flit = e->flit;
    const struct fc_flit_source *s = &node->source;
    uint32_t link = flit->net->first_link[flit->n_routers + n];
    struct fc_cycle_out *o = &e->out[link];
    uint16_t a = o->free & o->credited & flit->high_vcs;
    if (flit->cut_through && e->node[n].left) return false; /* a packet is on its way: it is not interrupted */
    for (uint16_t rest = flit->cut_through ? a : 0; rest; rest &= (uint16_t)(rest - 1))
        if (o->credits[LOW(rest)] < s->flits) a &= (uint16_t) ~(1u << LOW(rest));
    if (!a) return false;
    uint16_t next = a & (uint16_t)(0xfffeu << node->last_vc);
    uint32_t packet = fc_cycle_make_packet(b, n, s, t);
    if (packet == FC_NONE) return false;
    node->packet = packet;
    node->vc = node->last_vc = (uint8_t)LOW(next ? next : a);
    node->link = link;
    node->left = (uint16_t)s->flits;
    o->free &= (uint16_t) ~(1u << node->vc);
    return true;
}

static void next_packet(block *b, uint32_t place, uint32_t n, struct fc_flit_source *source, uint64_t t)
{
    fc_flit_next(b->engine->high_traffic, n, source);
    if (source->born <= t) return;
    b->high_sending[place / 64] &= ~(1ull << place % 64);
    await(b, place, source->born, t);
}

/* One flit of the node at `place`, if it can go. */
static void send(block *b, uint32_t place, uint64_t t)
{
    engine *e = b->engine;
    uint32_t n = b->node[place], flags = 0;
    struct fc_cycle_node *node = &e->high[n];
    if (e->node[n].link_free > t) return;
    if (!node->left) {
        if (!start_packet(b, n, node, t)) return;
        flags = FC_FLIT_HEAD;
    }
    uint32_t ticks = fc_cycle_put_flit(b, node, flags, t);
    if (!ticks) return;
    e->node[n].link_free = t + ticks; /* the other packets' turn comes after */
    if (!node->left) next_packet(b, place, n, &node->source, t);
}

void fc_cycle_send_high(block *b, uint64_t t)
{
    engine *e = b->engine;
    uint32_t *slot = &b->high_wheel[t & e->wheel_mask], place = *slot;
    *slot = FC_NONE;
    while (place != FC_NONE) {
        uint32_t next = b->high_next[place];
        await(b, place, e->high[b->node[place]].source.born, t);
        place = next;
    }
    for (uint32_t w = 0; w < (b->n_nodes + 63) / 64; w++)
        for (uint64_t rest = b->high_sending[w]; rest; rest &= rest - 1) send(b, 64 * w + LOW(rest), t);
}
