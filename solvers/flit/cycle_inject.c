/* cycle_inject.c - nodes of the cycle engine: packets leave their sources flit by flit, one virtual channel a
 * packet, round robin over those of the injection link; and the counts of a block over the measurement. */
#include "solvers/flit/cycle_boxes.h"
#include "solvers/flit/cycle_router.h"
#include "solvers/flit/cycle_strip.h"

static uint32_t queued_flits(const void *engine_, uint32_t link)
{
    const engine *e = engine_;
    const struct fc_cycle_out *o = &e->out[link];
    uint32_t sum = 0;
    if (o->target == FC_NONE) return 0;
    if (e->strips) return fc_cycle_strips_queued(e, link);
    for (int v = 0; v < e->flit->n_vcs; v++) sum += e->flit->buffer_flits - o->credits[v];
    return sum;
}
/* The link's source is a router of the block that asks. */
static uint32_t waiting_flits(const void *engine_, uint32_t link)
{
    const engine *e = engine_;
    uint32_t r = e->flit->net->link_source[link], sum = 0;
    if (e->strips) return fc_cycle_strips_waiting(e, link);
    for (uint32_t p = e->first_port[r]; p < e->first_port[r + 1]; p++) {
        const struct fc_cycle_channel *c = &e->channel[(size_t)p << e->vc_shift];
        for (int v = 0; v < e->flit->n_vcs; v++)
            if (c[v].count && c[v].out == link && c[v].out_vc == FC_NO_VC)
                sum += c[v].count; /* else it is on its way */
    }
    return sum;
}
struct fc_flit_view fc_cycle_view(const engine *e)
{
    return (struct fc_flit_view){e, queued_flits, waiting_flits};
}
uint32_t fc_cycle_make_packet(block *b, uint32_t n, const struct fc_flit_source *s, uint64_t t)
{
    engine *e = b->engine;
    struct fc_flit_counts *counts = b->counts;
    const struct fc_flit_view view = fc_cycle_view(e);
    uint32_t id = fc_cycle_record(b);
    if (id == FC_NONE) return FC_NONE;
    struct fc_cycle_packet *packet = &e->packet[id];
    fc_cycle_packet_starts(packet, s, t, 0);
    packet->head.random = s->random;
    packet->head.route = e->flit->route->start(e->flit, n, s->dst, s->random, &view);
    e->packet_src[id] = n;
    if (e->multicast) fc_cycle_multicast_start(e, n, id, s->tag);
    bool own = s->tag != FC_FLIT_BACKGROUND;
    if (e->background) e->background[id] = !own;
    b->packets_in++;
    counts->packets_injected++;
    counts->measured_started += own && s->born >= counts->measure_from && s->born < counts->measure_to;
    e->injected[n] += own && t >= counts->measure_from && t < counts->measure_to;
    return id;
}
/* Channels of the injection link that the packet at the front may take. */
static uint16_t allowed(const engine *e, uint32_t n, const struct fc_flit_source *s)
{
    struct fc_flit_choice choice[FC_FLIT_MOST_CHOICES];
    struct fc_flit_head head = {.dst = s->dst, .random = s->random};
    const struct fc_flit_view view = fc_cycle_view(e);
    if (!e->flit->own_fifos) return e->flit->injection_vcs;
    head.route = e->multicast ? fc_cycle_multicast_route(e, s->tag)
                              : e->flit->route->start(e->flit, n, s->dst, s->random, &view);
    e->flit->route->choices(e->flit, e->flit->n_routers + n, FC_NONE, 0, &head, choice);
    return choice[0].vcs;
}
bool fc_cycle_new_packet(block *b, uint32_t n, const struct fc_flit_source *s, struct fc_cycle_node *node, uint64_t t)
{
    engine *e = b->engine;
    if (e->multicast && !fc_cycle_may_start(e, n, t)) return false;
    struct fc_cycle_out *o = &e->out[node->link];
    uint16_t a = o->free & o->credited & allowed(e, n, s);
    if (e->flit->cut_through)
        for (uint16_t rest = a; rest; rest &= (uint16_t)(rest - 1))
            if (o->credits[LOW(rest)] < s->flits) a &= (uint16_t) ~(1u << LOW(rest));
    if (!a) return false;
    uint16_t next = a & (uint16_t)(0xfffeu << node->last_vc);
    node->packet = fc_cycle_make_packet(b, n, s, t);
    if (node->packet == FC_NONE) return false;
    node->vc = node->last_vc = (uint8_t)LOW(next ? next : a);
    node->left = (uint16_t)s->flits;
    o->free &= (uint16_t) ~(1u << node->vc);
    return true;
}

/* Puts the next flit of the node's packet on its injection link. Returns the ticks that it keeps the link; 0: no
 * credit. */
uint32_t fc_cycle_put_flit(block *b, struct fc_cycle_node *node, uint32_t flags, uint64_t t)
{
    engine *e = b->engine;
    struct fc_cycle_out *o = &e->out[node->link];
    uint16_t bit = (uint16_t)(1u << node->vc);
    if (!(o->credited & bit)) return 0;
    if (--o->credits[node->vc] == 0) o->credited &= (uint16_t)~bit;
    uint32_t ticks = e->flit->flit_ticks[o->link_class];
    o->sent++;
    b->counts->flits_injected++;
    b->flits_in++;
    b->last_move = t;
    if (--node->left == 0) {
        flags |= FC_FLIT_TAIL;
        o->sent += 1ull << 32;
        o->free |= bit;
        ticks += e->flit->trailer_ticks[o->link_class];
    }
    uint64_t item = (uint64_t)(node->packet | flags) << 32 | (o->target + node->vc);
    if (e->delay_injection[o->link_class])
        push(b, o->target_block, e->queue_injection[o->link_class], item);
    else
        arrive(e, b, item);
    return ticks ? ticks : 1;
}

void fc_cycle_send(block *b, uint32_t place, uint64_t t)
{
    engine *e = b->engine;
    uint32_t n = b->node[place];
    struct fc_cycle_node *node = &e->node[n];
    if (node->link_free > t) return;
    uint32_t flags = 0;
    if (!node->left) {
        if (!fc_cycle_new_packet(b, n, &node->source, node, t)) return;
        flags = FC_FLIT_HEAD;
    }
    uint32_t ticks = fc_cycle_put_flit(b, node, flags, t);
    if (!ticks) return;
    node->link_free = t + ticks;
    if (!node->left) fc_cycle_next_packet(b, e->traffic, place, n, &node->source, t, t);
    if (ticks == 1 || !(b->sending[place / 64] >> place % 64 & 1)) return;
    b->sending[place / 64] &= ~(1ull << place % 64);
    fc_cycle_await_birth(b, place, node->link_free, t);
}

/* ---- counts over the window ---- */

void fc_cycle_flush_links(struct fc_cycle_block *b, bool keep)
{
    engine *e = b->engine;
    const struct fc_network *net = e->flit->net;
    if (e->fast) fc_cycle_fast_sync_sent(b);
    if (e->strips) fc_cycle_strips_sync_sent(b);
    for (uint32_t i = 0; i < b->last_router - b->first_router + b->n_nodes; i++) {
        uint32_t routers = b->last_router - b->first_router;
        uint32_t v = i < routers ? b->first_router + i : net->n_routers + b->node[i - routers];
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
            if (keep) {
                e->link_flits[l] += (uint32_t)e->out[l].sent;
                e->link_packets[l] += e->out[l].sent >> 32;
            }
            e->out[l].sent = 0;
        }
    }
}
/* Flits in the channels behind router-to-router links, every 64 ticks. */
static void sample_occupancy(engine *e, block *b)
{
    const struct fc_network *net = e->flit->net;
    const struct fc_cycle_port *end = e->port + e->first_port[b->last_router];
    const int n_vcs = e->flit->n_vcs;
    uint64_t *sum = b->counts->occupancy_flit_ticks, flits[FC_FLIT_MOST_VCS] = {0};
    if (e->fast && e->fast->boxes) fc_cycle_boxes_occupancy(e, flits);
    if (e->bits || (e->fast && e->fast->boxes)) {
        for (int v = 0; v < n_vcs; v++) sum[v] += 64 * (e->bits ? b->occupied[v] : flits[v]);
        return;
    }
    for (const struct fc_cycle_port *p = e->port + e->first_port[b->first_router]; p < end; p++) {
        if (fc_is_node(net, net->link_source[p->link])) continue; /* out[link] is another block's to read */
        const struct fc_cycle_channel *channel = e->channel + ((size_t)(p - e->port) << e->vc_shift);
        for (int v = 0; v < n_vcs; v++)
            sum[v] += 64ull * (e->fast     ? fc_cycle_fast_count(e, p, v)
                               : e->strips ? fc_cycle_strips_count(e, p, v)
                                           : channel[v].count);
    }
}

void fc_cycle_watch(block *b, uint64_t t)
{
    const struct fc_flit_counts *counts = b->counts;
    if (t == counts->measure_from) fc_cycle_flush_links(b, false);
    if (t == counts->measure_to) fc_cycle_flush_links(b, true);
    if (t % 64 == 0 && t >= counts->measure_from && t < counts->measure_to) sample_occupancy(b->engine, b);
}
