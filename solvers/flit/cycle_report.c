/* cycle_report.c - what the cycle engine tells about itself between two advances: blocked flits for deadlock
 * reports, and whether every credit is back. A front flit waits for the channel it has, or for any that its
 * head may take; fronts of bodies are told too, so that a worm can be followed to its head. */
#include "solvers/flit/cycle_fast.h"
#include "solvers/flit/cycle_multicast.h"
#include "solvers/flit/cycle_strip.h"

static uint32_t wanted_of(const struct fc_cycle *e, size_t channel, uint32_t *out)
{
    const struct fc_cycle_channel *c = &e->channel[channel];
    const struct fc_cycle_port *port = &e->port[channel >> e->vc_shift];
    uint32_t n = 0, vcs = (uint32_t)e->flit->n_vcs;
    struct fc_flit_choice choice[FC_FLIT_MOST_CHOICES];
    int n_choices = 1;
    if (e->multicast && (n = fc_cycle_fork_wanted(e, channel, out))) return n;
    if (c->out_vc != FC_NO_VC) {
        if (out) *out = c->out * vcs + c->out_vc;
        return 1;
    }
    if (c->out == FC_NONE)
        n_choices =
            e->flit->route->choices(e->flit, port->router, port->link, (int)(channel & ((1u << e->vc_shift) - 1)),
                                    &e->packet[c->front & FC_FLIT_PACKET].head, choice);
    else
        choice[0] = (struct fc_flit_choice){.link = c->out, .vcs = c->vcs};
    for (int i = 0; i < n_choices; i++)
        for (uint32_t v = 0; v < vcs; v++)
            if (choice[i].vcs >> v & 1) {
                if (out) out[n] = choice[i].link * vcs + v;
                n++;
            }
    return n;
}
enum fc_code fc_cycle_blocked(void *engine, struct fc_arena *arena, struct fc_flit_blocked **blocked, uint32_t *n,
                              uint32_t **wanted, struct fc_status *st)
{
    struct fc_cycle *e = engine;
    size_t channels = (size_t)e->first_port[e->flit->n_routers] << e->vc_shift;
    uint32_t n_blocked = 0, n_wanted = 0;
    if (e->fast) fc_cycle_fast_sync(e);
    if (e->strips) fc_cycle_strips_sync(e);
    for (size_t c = 0; c < channels; c++)
        if (e->channel[c].count) {
            n_blocked++;
            n_wanted += wanted_of(e, c, NULL);
        }
    if (!(*blocked = fc_alloc(arena, n_blocked, sizeof **blocked, st)) ||
        !(*wanted = fc_alloc(arena, n_wanted, sizeof **wanted, st)))
        return st->code;
    *n = n_blocked;
    n_blocked = n_wanted = 0;
    for (size_t c = 0; c < channels; c++) {
        if (!e->channel[c].count) continue;
        uint32_t id = e->channel[c].front & FC_FLIT_PACKET, vc = (uint32_t)(c & ((1u << e->vc_shift) - 1));
        struct fc_flit_blocked *b = &(*blocked)[n_blocked++];
        b->channel = e->port[c >> e->vc_shift].link * (uint32_t)e->flit->n_vcs + vc;
        b->packet_src = e->packet_src[id];
        b->packet_dst = e->packet[id].head.dst;
        b->packet_flits = e->packet[id].flits;
        b->first_wanted = n_wanted;
        b->n_wanted = wanted_of(e, c, *wanted + n_wanted);
        n_wanted += b->n_wanted;
    }
    return FC_OK;
}
bool fc_cycle_credits_full(const void *engine)
{
    struct fc_cycle *e = (struct fc_cycle *)engine;
    if (e->fast) fc_cycle_fast_sync(e);
    if (e->strips) fc_cycle_strips_sync(e);
    for (uint32_t l = 0; l < e->flit->n_links; l++) {
        if (e->out[l].endless) continue;
        uint32_t all = e->out[l].target == FC_NONE ? e->flit->reception_flits : fc_flit_depth(e->flit, l);
        for (int v = 0; v < e->flit->n_vcs; v++)
            if (e->out[l].credits[v] != all) return false;
    }
    return true;
}
