/* event_report.c - what the packet-event engine reports at a standstill: heads that cannot move and what they
 * wait for, and whether every credit is back. */
#include "solvers/flit/engine.h"
#include "solvers/flit/event.h"
#include "solvers/flit/event_block.h"
#include "solvers/flit/event_parts.h"
#include "solvers/flit/prepared.h"
#include "solvers/flit/route_ops.h"

static uint32_t list_wanted(const struct fc_event_engine *e, const struct fc_flit_choice *choice, int n,
                            uint32_t *wanted)
{
    uint32_t count = 0;
    for (int i = 0; i < n; i++)
        for (uint32_t left = choice[i].vcs; left; left &= left - 1) {
            if (wanted) wanted[count] = choice[i].link * e->n_vcs + (uint32_t)__builtin_ctz(left);
            count++;
        }
    return count;
}

/* Lists the blocked heads; counts only where the arrays are NULL. */
static void list_blocked(const struct fc_event_engine *e, struct fc_flit_blocked *blocked, uint32_t *wanted,
                         uint32_t *n, uint32_t *n_wanted)
{
    *n = *n_wanted = 0;
    for (uint64_t at = 0; at < (uint64_t)e->flit->n_links * e->n_vcs; at++) {
        uint32_t c = (uint32_t)at, l = c / e->n_vcs, vc = c % e->n_vcs;
        if (vc >= fc_event_vcs_of(e, l)) continue;
        const struct fc_event_channel *channel = &e->channel[fc_event_channel_at(e, l, vc)];
        struct fc_flit_choice choice[FC_FLIT_MOST_CHOICES];
        if (!(channel->flags & FC_EVENT_WAITS)) continue; /* nor does one of another rank's, here */
        const struct fc_event_packet *packet = &e->block[e->vertex_block[channel->router]].packet[channel->head];
        struct fc_flit_head head = {.route = packet->route, .dst = packet->dst, .random = packet->random};
        int count =
            e->flit->route->choices(e->flit, channel->router, channel->link, e->bit_vc[channel->bit], &head, choice);
        uint32_t more = list_wanted(e, choice, count, wanted ? wanted + *n_wanted : NULL);
        if (blocked)
            blocked[*n] = (struct fc_flit_blocked){.channel = c,
                                                   .packet_src = packet->src,
                                                   .packet_dst = packet->dst,
                                                   .packet_flits = packet->flits,
                                                   .n_wanted = more,
                                                   .first_wanted = *n_wanted};
        (*n)++;
        *n_wanted += more;
    }
}

enum fc_code fc_event_blocked(void *engine, struct fc_arena *arena, struct fc_flit_blocked **blocked, uint32_t *n,
                              uint32_t **wanted, struct fc_status *st)
{
    const struct fc_event_engine *e = engine;
    uint32_t n_wanted;
    list_blocked(engine, NULL, NULL, n, &n_wanted);
    *blocked = fc_alloc(arena, *n, sizeof **blocked, st);
    *wanted = fc_alloc(arena, n_wanted, sizeof **wanted, st);
    if (*blocked && *wanted) list_blocked(engine, *blocked, *wanted, n, &n_wanted);
    if (!e->ranks) return st->code;
    return fc_event_gather_blocked(e, arena, blocked, n, wanted, n_wanted, st);
}

/* Tokens that are under way count: nothing can keep them from coming. */
static int64_t tokens_in_the_end(const struct fc_event_block *block, const struct fc_event_tokens *t)
{
    int64_t tokens = (int64_t)t->count;
    if (t->ramp.flits) tokens += t->ramp.flits + t->ramp.extra;
    for (uint32_t i = t->more; i;) {
        i = block->more[i].next;
        tokens += block->more[i].ramp.flits + block->more[i].ramp.extra;
        if (i == t->more) break;
    }
    return tokens;
}

static bool credits_full_here(const struct fc_event_engine *e)
{
    for (uint32_t l = 0; l < e->flit->n_links; l++) {
        if (e->ranks && !fc_event_here(e, e->flit->net->link_source[l])) continue;
        const struct fc_event_block *block = &e->block[e->vertex_block[fc_event_link(e, l)->source]];
        for (uint32_t v = 0; v < fc_event_vcs_of(e, l); v++)
            if (tokens_in_the_end(block, fc_event_tokens_of(e, l, v)) != fc_flit_depth(e->flit, l)) return false;
    }
    return true;
}

bool fc_event_credits_full(const void *engine)
{
    const struct fc_event_engine *e = engine;
    uint64_t lost = !credits_full_here(e);
    if (e->ranks) e->ranks->sum(e->ranks, &lost, 1);
    return lost == 0;
}
