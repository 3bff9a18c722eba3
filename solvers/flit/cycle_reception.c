/* cycle_reception.c - reception queues of finite size (node.reception): the buffers behind ejection links,
 * and the node that takes packets out of them one after the other.
 *
 * Every ejection link ends in node.reception_queues queues of node.reception bytes, virtual channels with
 * credits like all others; a packet takes any queue that is free and has room. The node takes whole packets
 * in the order in which they arrived, of any queue, and is busy with one of F flits for
 *
 *   S = reception_time + F flit reception_per_byte    (rounded to ticks, at least one)
 *
 * so that a packet that is whole at a is taken at T = max(a, T of the one before) + S: a queue with one
 * server (Kendall's G/D/1 for packets of one length). Then its latency ends, its flits count as delivered,
 * and their room is free: the credit is at the router after credit handling and the wire's latency, at least
 * one tick. Until then the packet is in flight. T is known when the tail leaves the router, since nothing
 * overtakes; a wheel of ticks per block wakes the link then. Nodes with several ejection links take from each
 * of them at that rate. Source: the reception FIFOs of Adiga et al., IBM J. Res. Dev. 49(2/3), 2005. Limits:
 * the node's time is a function of the packet alone; high-priority packets have queues of their own, but are
 * not taken before others. */
#include "solvers/flit/cycle_router.h"

#include <string.h>

enum fc_code fc_cycle_open_intake(engine *e, struct fc_status *st)
{
    uint32_t n_links = e->flit->n_links;
    if (!e->flit->reception_flits) return FC_OK;
    if (!(e->intake = fc_alloc(&e->arena, n_links, sizeof *e->intake, st)) ||
        !(e->intake_next = fc_alloc(&e->arena, n_links, sizeof *e->intake_next, st)) ||
        !(e->taken = fc_alloc(&e->arena, e->n_packets, sizeof *e->taken, st)))
        return st->code;
    e->wheel_mask = 1023;
    for (uint32_t l = 0; l < n_links; l++) e->intake[l] = (struct fc_cycle_intake){0, FC_NONE, FC_NONE};
    for (int i = 0; i < e->n_blocks; i++) {
        block *b = &e->block[i];
        if (!(b->intake_wheel = fc_alloc(&e->arena, e->wheel_mask + 1u, sizeof *b->intake_wheel, st))) return st->code;
        memset(b->intake_wheel, 0xff, (e->wheel_mask + 1) * sizeof *b->intake_wheel);
    }
    return FC_OK;
}

/* Wakes the link at tick `at`, or at the far end of the wheel to be put in again. */
static void await(block *b, uint32_t link, uint64_t at, uint64_t now)
{
    engine *e = b->engine;
    uint32_t mask = e->wheel_mask, *slot = &b->intake_wheel[(at - now > mask ? now + mask : at) & mask];
    e->intake_next[link] = *slot;
    *slot = link;
}

void fc_cycle_intake(block *b, uint32_t link, uint32_t vc, uint32_t packet, uint64_t arrived, uint64_t t)
{
    engine *e = b->engine;
    struct fc_cycle_intake *in = &e->intake[link];
    uint64_t from = arrived > in->busy_until ? arrived : in->busy_until;
    in->busy_until = from + fc_flit_reception_ticks(e->flit, e->packet[packet].flits);
    e->taken[packet] = (struct fc_cycle_taken){in->busy_until, FC_NONE, (uint8_t)vc};
    b->n_received++;
    if (in->first == FC_NONE) {
        in->first = packet;
        await(b, link, in->busy_until, t);
    } else
        e->taken[in->last].next = packet;
    in->last = packet;
}

/* The first packet of the link is taken at tick t. */
static void take(block *b, uint32_t link, uint64_t t)
{
    engine *e = b->engine;
    struct fc_cycle_intake *in = &e->intake[link];
    uint32_t packet = in->first, flits = e->packet[packet].flits, vc = e->taken[packet].vc;
    in->first = e->taken[packet].next;
    b->n_received--;
    b->flits_out += flits;
    b->last_move = t;
    fc_flit_count_flits(b->counts, t, flits);
    fc_cycle_end_high(b, packet, vc, t);
    fc_cycle_end_packet(b, packet, t);
    push(b, (uint32_t)(b - e->block), e->queue_taken[e->out[link].link_class],
         (uint64_t)flits << 32 | link << e->vc_shift | vc);
    if (in->first != FC_NONE) await(b, link, e->taken[in->first].at, t);
}

void fc_cycle_take(block *b, uint64_t t)
{
    engine *e = b->engine;
    uint32_t *slot = &b->intake_wheel[t & e->wheel_mask], link = *slot;
    *slot = FC_NONE;
    while (link != FC_NONE) {
        uint32_t next = e->intake_next[link], first = e->intake[link].first;
        if (e->taken[first].at > t)
            await(b, link, e->taken[first].at, t);
        else
            take(b, link, t);
        link = next;
    }
}
