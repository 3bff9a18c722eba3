/* cycle_queues.c - delays of the cycle engine in ticks, and the queues of events that are under way for so
 * long.
 *
 * A head granted the switch at g is on the link at g + D - s and in the next buffer a wire latency later
 * (router delay D, s = 1 with a virtual-channel stage); a node's flit is in the router's buffer a wire
 * latency after it is sent; a credit is back flit time + handling + wire latency after the grant. Limits: see
 * fc_cycle_takes. */
#include "solvers/flit/cycle.h"

bool fc_cycle_takes(const struct fc_flit_net *flit, char *why, size_t size)
{
    uint32_t stage = flit->vc_stage ? 1 : 0, delay = flit->bypass ? flit->bypass_ticks : flit->router_ticks;
    const struct fc_machine *machine = flit->net->machine;
    if (flit->router_ticks < stage) {
        snprintf(why, size, "a virtual-channel stage needs a router delay of at least one tick");
        return false;
    }
    for (uint32_t l = 0; l < flit->n_links; l++) {
        int c = flit->net->link_class[l];
        if (fc_is_node(flit->net, flit->net->link_source[l]) || fc_is_node(flit->net, flit->net->link_target[l]))
            continue;
        if (delay - stage + flit->latency_ticks[c] >= 1) continue;
        snprintf(why, size, "router %s and latency of class %s are zero together", flit->bypass ? "bypass" : "delay",
                 machine->classes[c].name);
        return false;
    }
    if (flit->buffer_flits > UINT16_MAX || flit->packet_flits_max > UINT16_MAX) {
        snprintf(why, size, "buffers and packets are limited to %u flits", UINT16_MAX);
        return false;
    }
    if (flit->reception_flits > UINT16_MAX) {
        snprintf(why, size, "reception queues are limited to %u flits", UINT16_MAX);
        return false;
    }
    return true;
}

/* ---- delays and event queues ---- */

static uint16_t queue_for(struct fc_cycle *e, int kind, uint32_t delay, uint32_t period)
{
    for (int k = 0; k < e->n_queues; k++)
        if (e->queue_kind[k] == kind && e->queue_delay[k] == delay) {
            if (period < e->queue_period[k]) e->queue_period[k] = period;
            return (uint16_t)k;
        }
    e->queue_period[e->n_queues] = period;
    e->queue_kind[e->n_queues] = (uint8_t)kind;
    e->queue_delay[e->n_queues] = delay;
    e->queue_inside[e->n_queues] = kind == FC_QUEUE_FREE;
    return (uint16_t)e->n_queues++;
}
/* What links of a class do: join routers, carry from or to nodes. */
enum { JOINS = 1, INJECTS = 2, EJECTS = 4 };
static void class_uses(const struct fc_network *net, uint8_t *uses)
{
    for (uint32_t l = 0; l < net->n_links; l++)
        uses[net->link_class[l]] |= fc_is_node(net, net->link_source[l])   ? INJECTS
                                    : fc_is_node(net, net->link_target[l]) ? EJECTS
                                                                           : JOINS;
}
/* Whether every node sends to one router, with which it shares a block. */
static bool nodes_have_one_router(const struct fc_network *net)
{
    for (uint32_t v = net->n_routers; v < net->n_routers + net->n_nodes; v++)
        if (net->first_link[v + 1] - net->first_link[v] != 1) return false;
    return true;
}
/* Least delay of what goes from a block to another: between routers, and from nodes where they may stand in another
 * block than their router. What comes sooner stays inside. */
static void set_window(struct fc_cycle *e, const uint8_t *uses)
{
    int n = e->flit->net->machine->n_classes, crosses = nodes_have_one_router(e->flit->net) ? JOINS : JOINS | INJECTS;
    e->window = UINT32_MAX;
    for (int c = 0; c < n; c++) {
        if (!(uses[c] & crosses)) continue;
        for (int out = 0; out < n; out++) {
            uint32_t delay = uses[out] ? e->queue_delay[e->queue_credit[c][out]] : 0;
            if (delay && delay < e->window) e->window = delay;
        }
        if (uses[c] & JOINS) {
            uint32_t delay = e->delay_arrival[c] - e->gain;
            if (delay && delay < e->window) e->window = delay;
        }
        if (uses[c] & crosses & INJECTS && e->delay_injection[c] && e->delay_injection[c] < e->window)
            e->window = e->delay_injection[c];
    }
    if (e->window == UINT32_MAX) e->window = 1; /* a router alone */
    for (int k = 0; k < e->n_queues; k++)
        if (e->queue_delay[k] < e->window) e->queue_inside[k] = true;
}
void fc_cycle_set_delays(struct fc_cycle *e)
{
    const struct fc_flit_net *f = e->flit;
    int n = f->net->machine->n_classes;
    uint32_t stage = f->vc_stage ? 1 : 0, fastest = UINT32_MAX, flit_ticks[FC_MAX_CLASSES];
    uint8_t uses[FC_MAX_CLASSES] = {0};
    class_uses(f->net, uses);
    e->gain = f->bypass ? f->router_ticks - f->bypass_ticks : 0;
    for (int c = 0; c < n; c++) {
        flit_ticks[c] = fc_most(f->flit_ticks[c], 1);
        if (uses[c] & JOINS && flit_ticks[c] < fastest) fastest = flit_ticks[c];
    }
    for (int c = 0; c < n; c++) {
        if (!uses[c]) continue;
        /* Whole before it is sent on, where a faster link may do so; at a node it is whole anyway. */
        uint32_t whole = flit_ticks[c] > fastest ? flit_ticks[c] - fastest : 0;
        if (uses[c] & JOINS) {
            e->delay_arrival[c] = f->latency_ticks[c] + whole + f->router_ticks - stage;
            e->queue_arrival[c] = queue_for(e, FC_QUEUE_ARRIVAL, e->delay_arrival[c], flit_ticks[c]);
            if (f->bypass)
                e->queue_bypass[c] = queue_for(e, FC_QUEUE_ARRIVAL, e->delay_arrival[c] - e->gain, flit_ticks[c]);
        }
        if (uses[c] & INJECTS) {
            e->delay_injection[c] = f->latency_ticks[c] + whole;
            e->queue_injection[c] = queue_for(e, FC_QUEUE_ARRIVAL, e->delay_injection[c], flit_ticks[c]);
        }
        e->slow[c] = flit_ticks[c] + f->trailer_ticks[c] > 1;
        e->queue_free[c] = queue_for(e, FC_QUEUE_FREE, flit_ticks[c], flit_ticks[c]);
        e->queue_free_tail[c] = queue_for(e, FC_QUEUE_FREE, flit_ticks[c] + f->trailer_ticks[c], flit_ticks[c]);
        for (int out = 0; out < n; out++) {
            if (!uses[out]) continue;
            e->queue_credit[c][out] =
                queue_for(e, FC_QUEUE_CREDIT, flit_ticks[out] + f->credit_ticks + f->latency_ticks[c], flit_ticks[out]);
            e->delay_delivery[c][out] =
                f->router_ticks - stage + f->latency_ticks[out] + fc_most(flit_ticks[c], flit_ticks[out]);
            e->trailer[c][out] = fc_most(f->trailer_ticks[c], f->trailer_ticks[out]);
        }
    }
    set_window(e, uses);
    for (int c = 0; f->reception_flits && c < n; c++) {
        e->queue_taken[c] = (uint16_t)e->n_queues++;
        e->queue_kind[e->queue_taken[c]] = FC_QUEUE_CREDIT;
        e->queue_delay[e->queue_taken[c]] = fc_most(f->credit_ticks + f->latency_ticks[c], 1);
        e->queue_period[e->queue_taken[c]] = 1;
        e->queue_inside[e->queue_taken[c]] = true;
    }
}
enum fc_code fc_cycle_open_bypass(struct fc_cycle *e, struct fc_status *st)
{
    uint32_t ports = e->first_port[e->flit->n_routers];
    if (!e->flit->bypass) return FC_OK;
    if (!(e->line = fc_alloc(&e->arena, e->flit->n_links, sizeof *e->line, st)) ||
        !(e->fresh = fc_alloc(&e->arena, ports, sizeof *e->fresh, st)) ||
        !(e->passing = fc_alloc(&e->arena, ports, sizeof *e->passing, st)))
        return st->code;
    return FC_OK;
}
/* A tick makes at most one arrival and one end of transfer a link, as many credits a port as it has paths; a link no more
 * than one every `period` ticks. The ring holds what is under way and two full ticks, one of them the gap at
 * its end. */
enum fc_code fc_cycle_open_queue(struct fc_cycle *e, struct fc_cycle_queue *q, int k, uint64_t links,
                                 struct fc_status *st)
{
    uint64_t each = e->queue_kind[k] == FC_QUEUE_CREDIT ? e->flit->most_paths : 1;
    if (e->flit->multicast) each += (uint64_t)e->flit->n_vcs; /* last copies of one flit of each channel */
    uint64_t slots = fc_ceil_power_of_two(e->queue_delay[k] + e->window + 2ull);
    uint64_t alive = (e->queue_delay[k] + (uint64_t)e->window) / e->queue_period[k] + 2;
    q->delay = links ? e->queue_delay[k] : 0;
    q->most = links * each;
    q->size = q->most * (alive + 2) + 64;
    q->slot_mask = (uint32_t)(slots - 1);
    if (!(q->item = fc_alloc(&e->arena, q->size + 64, sizeof *q->item, st)) ||
        !(q->start = fc_alloc(&e->arena, slots, sizeof *q->start, st)) ||
        !(q->count = fc_alloc(&e->arena, slots, sizeof *q->count, st)))
        return st->code;
    return FC_OK;
}
