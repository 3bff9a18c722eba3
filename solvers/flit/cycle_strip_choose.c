/* cycle_strip_choose.c - strips (cycle_strip.h) whose routers look up what a head may do, or whose outputs take ports by other orders
 * than turns: what is done for a head, or where ports meet, by the rules of cycle_router.h.
 *
 * A head that has a choice stands in a list, and its channel asks for what it would choose at this tick. */
#include "solvers/flit/cycle_router.h"
#include "solvers/flit/cycle_strip.h"

#include <string.h>

static const struct fc_cycle_port *port_of(const engine *e, uint32_t g)
{
    return &e->port[e->first_port[g / FC_STRIP] + (g % FC_STRIP >> e->strips->vc_bits)];
}
static int choices_of(const engine *e, uint32_t g, uint32_t packet, struct fc_flit_choice *choice)
{
    int vc = (int)(g & ((1u << e->strips->vc_bits) - 1));
    return e->flit->route->choices(e->flit, g / FC_STRIP, port_of(e, g)->link, vc, &e->packet[packet].head, choice);
}
void fc_cycle_strips_starts(engine *e, uint32_t packet, uint32_t n, const struct fc_flit_source *source)
{
    const struct fc_flit_view view = fc_cycle_view(e);
    struct fc_flit_head *head = &e->packet[packet].head;
    head->random = source->random;
    head->route = e->flit->route->start(e->flit, n, source->dst, source->random, &view);
}
bool fc_cycle_strips_look_up(engine *e, uint32_t g, uint32_t packet)
{
    struct fc_strips *x = e->strips;
    struct fc_strip_worm *worm = &x->worm[g];
    struct fc_flit_choice choice[FC_FLIT_MOST_CHOICES];
    uint32_t first_link = e->flit->net->first_link[g / FC_STRIP];
    int n = choices_of(e, g, packet, choice);
    worm->outs = 0;
    if (n == 1) {
        x->out[g] = (uint8_t)(choice->link - first_link);
        x->want[g] = x->channel[g].asks = (uint8_t)choice->vcs;
        worm->route = e->packet[packet].head.route = choice->route;
        return false;
    }
    for (int i = 0; i < n; i++) worm->outs |= (uint16_t)(1u << (choice[i].link - first_link));
    x->want[g] = 0;
    x->channel[g].asks = 0xff;
    bool listed = worm->listed;
    worm->listed = true;
    return !listed;
}

/* What the head at the front of channel g would choose now. */
static void choose_now(engine *e, uint32_t g, uint64_t t)
{
    struct fc_strips *x = e->strips;
    struct fc_flit_choice choice[FC_FLIT_MOST_CHOICES];
    const uint32_t router = g / FC_STRIP, first_link = e->flit->net->first_link[router];
    uint32_t vc = g & ((1u << x->vc_bits) - 1), from = port_of(e, g)->link << 4 | vc;
    int n = choices_of(e, g, (uint32_t)(x->worm[g].front >> x->route.bits), choice);
    uint64_t best = 0;
    uint16_t vcs = 0;
    for (int i = 0; i < n; i++) {
        if (choice[i].escape && vcs) break;
        uint32_t out = choice[i].link - first_link, q = router * FC_STRIP_SENDERS + out;
        uint16_t a = (uint16_t)(x->able[q] & x->free[q] & choice[i].vcs), credits[FC_STRIP_VCS] = {0};
        if (!a) continue;
        for (uint32_t v = 0; v < FC_STRIP_VCS && e->flit->select == FC_SELECT_JSQ; v++)
            credits[v] = (uint16_t)fc_cycle_strips_credits(e, q, v);
        if (!is_better(e, a, x->sender[q].to == FC_NONE ? NULL : credits, from * 64u + (uint32_t)i, t, &best, &vcs))
            continue;
        x->out[g] = (uint8_t)out;
        x->worm[g].route = choice[i].route;
    }
    x->want[g] = (uint8_t)vcs;
}
uint32_t fc_cycle_strips_choose(engine *e, uint32_t *list, uint32_t n, uint8_t *busy, uint64_t t)
{
    struct fc_strips *x = e->strips;
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t g = list[i], fit = 0, router = g / FC_STRIP, outs = x->worm[g].outs;
        if (!outs) {
            x->worm[g].listed = false;
            continue;
        }
        list[left++] = g;
        for (uint32_t rest = outs; rest; rest &= rest - 1) {
            uint32_t q = router * FC_STRIP_SENDERS + LOW(rest);
            fit |= x->able[q] & x->free[q];
        }
        x->want[g] = 0;
        if (!fit) continue;
        choose_now(e, g, t);
        busy[router] |= x->want[g] != 0;
    }
    return left;
}

uint32_t fc_cycle_strips_contend(const engine *e, uint32_t r, uint32_t won, uint64_t t)
{
    const struct fc_strips *x = e->strips;
    const uint32_t first_link = e->flit->net->first_link[r], first = e->first_port[r] << e->vc_shift;
    uint64_t best[FC_STRIP_SENDERS];
    uint8_t whose[FC_STRIP_SENDERS];
    uint32_t taken = 0, left = 0;
    for (uint32_t rest = won; rest; rest &= rest - 1) {
        uint32_t c = LOW(rest), g = r * FC_STRIP + c, o = x->out[g];
        uint32_t packet = (uint32_t)(x->worm[g].front >> x->route.bits);
        uint32_t distance = ((c >> x->vc_bits) - x->sender[r * FC_STRIP_SENDERS + o].port_turn) & 31;
        uint64_t key = order_of(e, first + c, packet, x->channel[g].count, distance, first_link + o, t);
        key |= (uint64_t)!x->held[g] << 62;
        if (taken >> o & 1 && key >= best[o]) continue;
        best[o] = key;
        whose[o] = (uint8_t)c;
        taken |= 1u << o;
    }
    for (; taken; taken &= taken - 1) left |= 1u << whose[LOW(taken)];
    return left;
}
