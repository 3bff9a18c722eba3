/* cycle_boxes.c - cuts a torus into boxes (cycle_boxes.h): which engines it suits, their state at tick 0, copies of it
 * for reports. */
#include "solvers/flit/cycle_boxes.h"
#include "models/family_torus.h"
#include "solvers/flit/source_draw.h"

#include <string.h>

enum { SIDE = 4, MOST_DELAY = 13, MOST_PLACES = 16 };

static uint32_t lane_of(const struct fc_cycle *e, uint32_t router)
{
    const struct fc_torus_shape *s = fc_torus(e->flit->net);
    uint32_t lane = 0, step = 1;
    for (int d = 0; d < FC_SITE_DIMS; d++, step *= SIDE)
        lane += fc_torus_coordinate(s, router, d) / (s->k[d] / SIDE) * step;
    return lane;
}
static uint32_t site_of(const struct fc_cycle *e, uint32_t router)
{
    const struct fc_torus_shape *s = fc_torus(e->flit->net);
    uint32_t site = 0, step = 1;
    for (int d = 0; d < FC_SITE_DIMS; step *= s->k[d] / SIDE, d++)
        site += fc_torus_coordinate(s, router, d) % (s->k[d] / SIDE) * step;
    return site;
}

/* ---- which engines ---- */

static bool has_boxes(const struct fc_network *net)
{
    const struct fc_torus_shape *s = fc_torus(net);
    if (!s || s->n_dims != FC_SITE_DIMS || s->nodes_per_router != 1) return false;
    for (int d = 0; d < FC_SITE_DIMS; d++)
        if (!s->ring[d] || s->k[d] % SIDE || s->parallel[d] > 1) return false;
    return true;
}
bool fc_cycle_boxes_fit(const struct fc_flit_net *flit, const struct fc_flit_traffic *traffic)
{
    return flit->n_vcs == 2 && traffic->open_loop && has_boxes(flit->net);
}
static uint32_t arrival_delay(const struct fc_cycle *e, uint32_t link)
{
    int c = e->flit->net->link_class[link];
    return e->queue_delay[e->out[link].router_link ? e->queue_arrival[c] : e->queue_injection[c]];
}
static uint32_t credit_delay(const struct fc_cycle *e, uint32_t link)
{
    int c = e->flit->net->link_class[link];
    return e->queue_delay[e->queue_credit[c][c]];
}
static bool suits(const struct fc_cycle *e)
{
    const struct fc_flit_net *f = e->flit;
    const struct fc_fast *fast = e->fast;
    if (e->n_blocks != 1 || e->counts->log || !fc_cycle_boxes_fit(f, e->traffic)) return false;
    if (fast->n_outs != FC_SITE_PORTS || 1u << fast->ring_bits > MOST_PLACES) return false;
    for (uint32_t code = 0; code < 2u << fast->route.out_bits; code++) {
        uint32_t out = code & ((1u << fast->route.out_bits) - 1);
        if (out < FC_SITE_OUTS && fast->route.vcs[code] != 1 && fast->route.vcs[code] != 2) return false;
        if (out == FC_SITE_OUTS && fast->route.vcs[code] != 3) return false;
    }
    for (uint32_t l = 0; l < f->n_links; l++)
        if (e->out[l].target != FC_NONE && (arrival_delay(e, l) > MOST_DELAY || credit_delay(e, l) > MOST_DELAY))
            return false;
    return true;
}

/* ---- state ---- */

/* Link `link` leaves the router by output `out` (FC_SITE_OUTS: it is its node's). */
static void connect(struct fc_cycle *e, uint32_t link, uint32_t router, uint32_t out)
{
    struct fc_boxes *x = e->fast->boxes;
    const struct fc_cycle_port *port = &e->port[e->out[link].target >> e->vc_shift];
    uint32_t here = lane_of(e, router), there = lane_of(e, port->router), to = site_of(e, port->router);
    struct fc_site *s = &x->site[site_of(e, router)], *behind = &x->site[to];
    uint8_t turns = here != there, delay = (uint8_t)arrival_delay(e, link);
    behind->bit[out][there] = (uint8_t)(1u << port->number);
    behind->port[port->number][there] = (uint8_t)out;
    behind->from[out] = (struct fc_site_link){.site = (uint32_t)(s - x->site), .delay = (uint8_t)credit_delay(e, link)};
    if (out == FC_SITE_OUTS) {
        x->node_delay = delay;
        return;
    }
    s->to[out] = (struct fc_site_link){.site = to, .delay = delay, .turn = (uint8_t)(turns ? out + 1 : 0)};
    behind->from[out].turn = (uint8_t)(turns ? (out ^ 1) + 1 : 0);
    s->lane[out][here] = (uint8_t)there;
    s->wraps[out][here] =
        (uint8_t)(fc_route_torus_wraps(e->flit, port->router, out) ? 1u << e->fast->route.out_bits : 0);
}
void fc_cycle_boxes_set_epoch(struct fc_cycle *e, uint64_t epoch)
{
    struct fc_boxes *x = e->fast->boxes;
    x->epoch = epoch;
    for (uint32_t place = 0; place < e->block->n_nodes; place++)
        x->site[place / FC_LANES].born[place % FC_LANES] =
            fc_site_born(e->node[e->block->node[place]].source.born, epoch);
}
static void fill(struct fc_cycle *e)
{
    struct fc_boxes *x = e->fast->boxes;
    const struct fc_network *net = e->flit->net;
    for (uint32_t code = 0; code < 2u << e->fast->route.out_bits; code++) {
        uint32_t out = code & ((1u << e->fast->route.out_bits) - 1);
        if (out < FC_SITE_PORTS)
            x->want[code] = (uint8_t)(1u << out | (e->fast->route.vcs[code] == 2 ? FC_SITE_FAR : 0));
    }
    for (uint32_t i = 0; i < x->n; i++) {
        memset(x->site[i].credits, e->flit->buffer_flits, sizeof x->site[i].credits);
        memset(x->site[i].free, 0xff, sizeof x->site[i].free);
        memset(x->site[i].last_vc, FC_FAST_VCS - 1, FC_LANES);
    }
    for (uint32_t r = 0; r < e->flit->n_routers; r++)
        for (uint32_t out = 0; out < FC_SITE_OUTS; out++) connect(e, fc_route_torus_link(e->flit, r, out), r, out);
    for (uint32_t n = 0; n < e->flit->n_nodes; n++) {
        uint32_t link = net->first_link[net->n_routers + n], router = net->link_target[link];
        connect(e, link, router, FC_SITE_OUTS);
        e->block->node[site_of(e, router) * FC_LANES + lane_of(e, router)] = n;
    }
    fc_cycle_boxes_set_epoch(e, 0);
}
enum fc_code fc_cycle_boxes_open(struct fc_cycle *e, struct fc_status *st)
{
    struct fc_fast *f = e->fast;
    uint32_t longest = 1, slots = 1;
    if (!suits(e)) return FC_OK;
    struct fc_boxes *x = f->boxes = fc_alloc(&e->arena, 1, sizeof *x, st);
    if (!x) return st->code;
    x->plain = fc_flit_is_plain(e->traffic);
    x->n = e->flit->n_routers / FC_LANES;
    x->window = e->window < 3 ? e->window : 3;
    for (uint32_t l = 0; l < e->flit->n_links; l++)
        if (e->out[l].target != FC_NONE) longest = fc_most(longest, fc_most(arrival_delay(e, l), credit_delay(e, l)));
    while (slots < longest + x->window) slots *= 2, x->due_bits++;
    x->due_mask = slots - 1;
    x->ring_places = 1u << f->ring_bits;
    size_t flits = (size_t)x->ring_places * FC_SITE_CHANNELS * FC_LANES;
    if (!(x->site = fc_alloc(&e->arena, x->n, sizeof *x->site, st)) ||
        !(x->due = fc_alloc(&e->arena, (size_t)x->n * slots, sizeof *x->due, st)) ||
        !(x->slot = fc_alloc(&e->arena, x->n, flits * sizeof *x->slot, st)))
        return st->code;
    fill(e);
    return FC_OK;
}

/* ---- copies ---- */

void fc_cycle_boxes_occupancy(const struct fc_cycle *e, uint64_t flits[2])
{
    const struct fc_boxes *x = e->fast->boxes;
    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t c = 0; c < 2 * FC_SITE_OUTS; c++) { /* not the nodes' */
            uint32_t sum = 0;
            for (uint32_t lane = 0; lane < FC_LANES; lane++) sum += x->site[i].count[c][lane];
            flits[c % 2] += sum;
        }
}
void fc_cycle_boxes_sync_sent(const struct fc_cycle *e)
{
    const struct fc_fast *f = e->fast;
    for (uint32_t r = 0; r < e->flit->n_routers; r++) {
        struct fc_site *s = &f->boxes->site[site_of(e, r)];
        uint32_t lane = lane_of(e, r);
        uint8_t *chunk = f->chunk + f->lane[r] / FC_LANES * f->rows.size;
        uint32_t *sent = (uint32_t *)(chunk + f->rows.sent), *packets = (uint32_t *)(chunk + f->rows.packets_sent);
        for (uint32_t o = 0; o <= FC_SITE_PORTS; o++) {
            uint32_t at = o * FC_LANES + f->lane[r] % FC_LANES;
            bool since = o < FC_SITE_PORTS; /* those of nodes are in the sums at once */
            sent[at] = s->sent_sum[o][lane] + (since ? s->sent[o][lane] : 0);
            packets[at] = s->packets_sum[o][lane] + (since ? s->packets[o][lane] : 0);
            s->sent_sum[o][lane] = s->packets_sum[o][lane] = 0;
            if (since) s->sent[o][lane] = s->packets[o][lane] = 0;
        }
    }
}
void fc_cycle_boxes_sync(const struct fc_cycle *e)
{
    const struct fc_fast *f = e->fast;
    const struct fc_boxes *x = f->boxes;
    uint32_t slot_bits = 6 + f->place_bits + f->vc_bits;
    for (uint32_t r = 0; r < e->flit->n_routers; r++) {
        uint32_t site = site_of(e, r), lane = lane_of(e, r), at = f->lane[r] % FC_LANES;
        const struct fc_site *s = &x->site[site];
        uint8_t *chunk = f->chunk + f->lane[r] / FC_LANES * f->rows.size;
        uint64_t *slot = f->slot + ((size_t)(f->lane[r] / FC_LANES) << (slot_bits + f->ring_bits));
        for (uint32_t number = 0; number < FC_SITE_PORTS; number++)
            for (uint32_t vc = 0; vc < 2; vc++) {
                uint32_t c = 2 * s->port[number][lane] + vc, to = (2 * number + vc) * FC_LANES + at;
                uint32_t head = s->head[c][lane], want = s->want[c][lane];
                chunk[f->rows.count + to] = s->count[c][lane];
                chunk[f->rows.head + to] = (uint8_t)head;
                chunk[f->rows.out + to] = (uint8_t)(want ? __builtin_ctz(want) : 0);
                chunk[f->rows.held + to] = s->held[c][lane];
                bool either = want >> FC_SITE_OUTS & 1 && !s->held[c][lane];
                chunk[f->rows.want + to] = either ? 3 : want & FC_SITE_FAR ? 2 : 1;
                slot[((size_t)head << slot_bits) + to] =
                    x->slot[(((size_t)site * x->ring_places + head) * FC_SITE_CHANNELS + c) * FC_LANES + lane];
            }
        for (uint32_t c = 0; c < FC_SITE_CHANNELS; c++) { /* the fast path's senders: outputs, ejection, the node */
            uint32_t sender = c / 2 < FC_SITE_OUTS ? c / 2 : c / 2 + 1;
            chunk[f->rows.credits + (2 * sender + c % 2) * FC_LANES + at] = s->credits[c][lane];
        }
    }
}
