/* cycle_step.c - one tick of the cycle engine: arrivals, credits, injection, virtual-channel and switch
 * allocation.
 *
 * Router: input-buffered, one crossbar port an input (router.paths transfers at a time), separable
 * input-first allocation with round-robin pointers that move only on a grant (Dally & Towles 2004, sections
 * 16 to 19). With vc_stage a head first wins a virtual channel (bids of tick t see the channels that were
 * free before t's switch grants), then the switch from the next tick on; else both at once, bodies before
 * heads.
 *
 *   head at the buffer at a: switch at a (+1 with vc_stage), on the link at a + D, in the next buffer at a +
 * D + L
 *
 * with router delay D and wire latency L. Credits return flit time + router.credit + L after the switch. A
 * channel that cannot move sleeps until the link it waits for gets a credit, a free channel or the end of a
 * transfer.
 *
 * Limits: a flit that comes by a slower link than the router's fastest is forwarded when it is there whole.
 */
#include "solvers/flit/cycle_router.h"

/* ---- events ---- */

static inline void credit(engine *e, block *b, uint64_t item, uint32_t interval)
{
    uint32_t link = (uint32_t)item >> e->vc_shift, vc = (uint32_t)item & ((1u << e->vc_shift) - 1);
    struct fc_cycle_out *o = &e->out[link];
    o->credits[vc] = (uint16_t)(o->credits[vc] + (item >> 32));
    o->credited |= (uint16_t)(1u << vc);
    if (interval != FC_NONE && o->router_link) {
        b->counts->interval_returns[interval]++;
        b->counts->interval_unblocked[interval] += anyone_asleep(e, link);
    }
    if (anyone_asleep(e, link)) wake(e, b, link);
}
static inline void transfer_ends(engine *e, block *b, uint64_t item)
{
    struct fc_cycle_port *port = &e->port[item >> 32];
    uint32_t link = (uint32_t)item;
    e->out[link].busy = 0;
    port->busy--;
    wake_port(e, b, port);
    if (anyone_asleep(e, link)) wake(e, b, link);
}
static void receive(engine *e, block *b, uint64_t t, uint32_t interval)
{
    uint32_t me = (uint32_t)(b - e->block);
    for (int from = 0; from < e->n_blocks; from++)
        for (int k = 0; k < e->n_queues; k++) {
            const struct fc_cycle_queue *q = &e->block[from].queue[me * (uint32_t)e->n_queues + (uint32_t)k];
            if (t < q->delay || !q->delay) continue;
            uint64_t slot = (t - q->delay) & q->slot_mask;
            if (!q->count[slot]) continue;
            const uint64_t *item = q->item + q->start[slot], *stop = item + q->count[slot];
            if (e->bits)
                fc_cycle_bits_events(e, b, e->queue_kind[k], item, stop);
            else if (e->queue_kind[k] == FC_QUEUE_ARRIVAL)
                for (; item != stop; item++) arrive(e, b, *item);
            else if (e->queue_kind[k] == FC_QUEUE_CREDIT)
                for (; item != stop; item++) credit(e, b, *item, interval);
            else
                for (; item != stop; item++) transfer_ends(e, b, *item);
        }
}

/* ---- a tick ---- */

static void routers(engine *e, block *b, uint64_t t, uint32_t interval)
{
    uint32_t n_words = (b->last_router - b->first_router + 63) / 64;
    for (uint32_t w = 0; w < n_words; w++)
        for (uint64_t rest = b->active[w]; rest; rest &= rest - 1) {
            uint32_t r = b->first_router + 64 * w + LOW(rest), granted = 0;
            b->active[w] &= ~(1ull << LOW(rest));
            if (e->flit->vc_stage) granted = fc_cycle_allocate_channels(e, b, r, t);
            fc_cycle_allocate_switch(e, b, r, t, interval);
            for (uint32_t i = 0; i < granted; i++) {
                uint32_t channel = (uint32_t)b->vc_grant[i];
                struct fc_cycle_port *port = &e->port[channel >> e->vc_shift];
                port->ready |= (uint16_t)(1u << (channel & ((1u << e->vc_shift) - 1)));
                activate(e, b, port);
            }
            for (uint32_t p = 0; p < e->port_words; p++)
                if (e->active_ports[(size_t)r * e->port_words + p]) b->active[w] |= 1ull << LOW(rest);
        }
}

void fc_cycle_block_run(block *b, uint64_t from, uint64_t to)
{
    engine *e = b->engine;
    const struct fc_flit_counts *counts = b->counts;
    fc_cycle_queues_start(b, from);
    for (uint64_t t = from; t < to; t++) {
        uint32_t interval = FC_NONE;
        if (counts->interval_ticks && t / counts->interval_ticks < counts->n_intervals)
            interval = (uint32_t)(t / counts->interval_ticks);
        fc_cycle_watch(b, t);
        receive(e, b, t, interval);
        if (e->intake) fc_cycle_take(b, t);
        fc_cycle_births(b, t, t);
        if (e->high) fc_cycle_send_high(b, t);
        if (e->rail) fc_cycle_send_rails(b, t);
        for (uint32_t w = 0; w < (b->n_nodes + 63) / 64 && !e->rail; w++)
            for (uint64_t rest = b->sending[w]; rest; rest &= rest - 1) fc_cycle_send(b, 64 * w + LOW(rest), t);
        if (e->bits)
            fc_cycle_bits_routers(e, b, t);
        else
            routers(e, b, t, interval);
        fc_cycle_queues_turn(b, t);
    }
    b->counts->flit_hops += b->hops;
    b->hops = 0;
}
