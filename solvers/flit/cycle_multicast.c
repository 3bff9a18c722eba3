/* cycle_multicast.c - routers of the cycle engine that copy packets.
 *
 * A packet to be copied (multicast_*.c tell where to) gets its outputs one by one in the order of its
 * branches: a virtual channel of each link between routers, with the room that flow control asks for; to a
 * node none, so that flits of copies go between those of other packets there. When it has all, the front flit
 * is sent to each output as that becomes free and has a credit, and leaves the buffer when all have sent it:
 * copies of one flit may leave at different ticks, but no copy is a flit ahead. A copy is a packet of its own
 * from then on; what goes to the last branch is the original. injected + copied = delivered + in flight.
 *
 * Copies go before other flits: they ask before the switch is allocated, input ports in turn. The crossbar
 * reads a flit once however many outputs take it, so a flit needs a free transfer of its port (router.paths)
 * for its first copy only. The credit goes back as after the slowest of the outputs. With a virtual-channel
 * stage flits move from the tick after the last output was allocated.
 *
 * Acknowledged multicasts: a reply is no flit. Each delivery lowers the count of targets left at sender and
 * root and raises the tick by which all replies are there. The next packet at the root waits for both of the
 * one before it, the sender's packet i + window for those of packet i. These runs take one block, so that all
 * of it is in one place. */
#include "solvers/flit/cycle_multicast.h"
#include "solvers/flit/cycle_router.h"

enum fc_code fc_cycle_multicast_open(engine *e, struct fc_status *st)
{
    const struct fc_flit_net *flit = e->flit;
    size_t channels = (size_t)e->first_port[flit->n_routers] << e->vc_shift;
    struct fc_cycle_multicast *m = fc_alloc(&e->arena, 1, sizeof *m, st);
    if (!m) return st->code;
    m->ops = flit->multicast;
    m->group_of = fc_flit_traffic_groups(e->traffic);
    m->most = flit->multicast->most_copies(flit->net);
    m->fork = fc_alloc(&e->arena, channels, sizeof *m->fork, st);
    m->branch = m->fork ? fc_alloc(&e->arena, channels * m->most, sizeof *m->branch, st) : NULL;
    m->group = m->branch ? fc_alloc(&e->arena, e->n_packets, sizeof *m->group, st) : NULL;
    m->turn = m->group ? fc_alloc(&e->arena, flit->n_routers, sizeof *m->turn, st) : NULL;
    m->marks = m->turn ? fc_alloc(&e->arena, (size_t)e->n_blocks, sizeof *m->marks, st) : NULL;
    if (!m->marks) return st->code;
    for (int b = 0; b < e->n_blocks; b++) { /* a router's ports and links at most */
        size_t most_links = 1, most_ports = 1;
        for (uint32_t r = 0; r < flit->n_routers; r++) {
            size_t links = flit->net->first_link[r + 1] - flit->net->first_link[r],
                   ports = e->first_port[r + 1] - e->first_port[r];
            if (links > most_links) most_links = links;
            if (ports > most_ports) most_ports = ports;
        }
        m->marks[b].link = fc_alloc(&e->arena, most_links, sizeof(uint32_t), st);
        m->marks[b].port = m->marks[b].link ? fc_alloc(&e->arena, most_links + most_ports, sizeof(uint32_t), st) : NULL;
        if (!m->marks[b].port) return st->code;
    }
    if (m->ops->acknowledged) {
        m->window = (uint32_t)flit->net->machine->router.multicast_window;
        m->root = fc_alloc(&e->arena, flit->n_routers, sizeof *m->root, st);
        m->started = m->root ? fc_alloc(&e->arena, flit->n_nodes, sizeof *m->started, st) : NULL;
        m->place = m->started ? fc_alloc(&e->arena, e->n_packets, sizeof *m->place, st) : NULL;
        m->sender = m->place ? fc_alloc(&e->arena, (size_t)flit->n_nodes * m->window, sizeof *m->sender, st) : NULL;
        if (!m->sender) return st->code;
    }
    e->multicast = m;
    return FC_OK;
}

/* ---- senders and acknowledgements ---- */

static inline bool replied(const struct fc_cycle_reply *reply, uint64_t t)
{
    return reply->left == 0 && t >= reply->at;
}
bool fc_cycle_may_start(const engine *e, uint32_t node, uint64_t t)
{
    const struct fc_cycle_multicast *m = e->multicast;
    return !m->sender || replied(&m->sender[(size_t)node * m->window + m->started[node] % m->window], t);
}
void fc_cycle_multicast_start(engine *e, uint32_t node, uint32_t packet, uint32_t tag)
{
    struct fc_cycle_multicast *m = e->multicast;
    m->group[packet] = tag;
    e->packet[packet].head.route = m->group_of[tag].route;
    if (!m->sender) return;
    m->place[packet] = (uint8_t)(m->started[node]++ % m->window);
    m->sender[(size_t)node * m->window + m->place[packet]] =
        (struct fc_cycle_reply){.left = m->group_of[tag].n_targets};
}
uint64_t fc_cycle_multicast_route(const engine *e, uint32_t tag)
{
    return e->multicast->group_of[tag].route;
}
static void reply(struct fc_cycle_reply *r, uint64_t at)
{
    r->left--;
    if (at > r->at) r->at = at;
}

/* ---- outputs ---- */

bool fc_cycle_fork_front(engine *e, block *b, struct fc_cycle_channel *c, struct fc_cycle_port *port, int vc)
{
    struct fc_cycle_multicast *m = e->multicast;
    size_t channel = (size_t)(c - e->channel);
    struct fc_cycle_fork *fork = &m->fork[channel];
    uint16_t bit = (uint16_t)(1u << vc);
    if (c->front & FC_FLIT_HEAD) {
        uint32_t id = c->front & FC_FLIT_PACKET;
        struct fc_flit_choice choice[FC_FLIT_MOST_CHOICES];
        struct fc_cycle_branch *branch = &m->branch[channel * m->most];
        bool onward;
        int n = m->ops->branches(e->flit, &m->group_of[m->group[id]], port->router, e->packet[id].head.route, choice,
                                 &onward);
        *fork = (struct fc_cycle_fork){0};
        if (n == 0) return false;
        for (int i = 0; i < n; i++)
            branch[i] = (struct fc_cycle_branch){
                .route = choice[i].route, .link = choice[i].link, .vcs = choice[i].vcs, .room = room_of(&choice[i])};
        fork->onward = onward;
        fork->flits = e->packet[id].flits;
        fork->n = (uint8_t)(n + onward);
        c->out = FC_NONE;
    }
    if (!fork->n) return false;
    fork->sent = 0;
    port->forks |= bit;
    port->ready &= (uint16_t)~bit;
    port->heads &= (uint16_t)~bit;
    activate(e, b, port);
    return true;
}

static inline void take_channel(struct fc_cycle_out *o, uint16_t vcs, struct fc_cycle_branch *branch)
{
    uint16_t next = vcs & (uint16_t)(0xfffeu << o->last_vc);
    branch->vc = o->last_vc = (uint8_t)LOW(next ? next : vcs);
    o->free &= (uint16_t) ~(1u << branch->vc);
}
/* The root is the next packet's when the one before has been acknowledged. */
static bool take_root(struct fc_cycle_multicast *m, uint32_t router, uint32_t tag, uint64_t t)
{
    const struct fc_flit_group *g = &m->group_of[tag];
    if (!m->root || g->root != router) return true;
    if (!replied(&m->root[router], t)) return false;
    m->root[router] = (struct fc_cycle_reply){.left = g->n_targets};
    return true;
}
/* Every branch becomes a packet of its own; the last one is the original. */
static void make_copies(engine *e, block *b, struct fc_cycle_fork *fork, struct fc_cycle_branch *branch, uint32_t id)
{
    struct fc_flit_counts *counts = b->counts;
    struct fc_cycle_multicast *m = e->multicast;
    uint32_t n = fork->n - 1u;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t copy = fc_cycle_record(b);
        if (copy == FC_NONE) return; /* the run ends with out_of_packets */
        e->packet[copy] = e->packet[id];
        e->packet[copy].head.route = branch[i].route;
        e->packet_src[copy] = e->packet_src[id];
        m->group[copy] = m->group[id];
        if (m->place) m->place[copy] = m->place[id];
        branch[i].packet = copy;
    }
    branch[n].packet = id;
    e->packet[id].head.route = branch[n].route;
    b->packets_in += n;
    counts->packets_copied += n;
    if (e->packet[id].born >= counts->measure_from && e->packet[id].born < counts->measure_to)
        counts->measured_started += n;
}
/* Gets the outputs that are left to get. */
static void allocate(engine *e, block *b, uint32_t channel, struct fc_cycle_port *port, uint64_t t)
{
    struct fc_cycle_multicast *m = e->multicast;
    struct fc_cycle_channel *c = &e->channel[channel];
    struct fc_cycle_fork *fork = &m->fork[channel];
    struct fc_cycle_branch *branch = &m->branch[(size_t)channel * m->most];
    uint32_t id = c->front & FC_FLIT_PACKET;
    fork->rooted = fork->rooted || take_root(m, port->router, m->group[id], t);
    if (!fork->rooted) return;
    for (; fork->n_held < fork->n; fork->n_held++) {
        struct fc_cycle_branch *next = &branch[fork->n_held];
        struct fc_cycle_bid bid = {0};
        if (fork->onward && fork->n_held + 1 == fork->n) {
            if (!choose(e, c, port, (int)(channel & ((1u << e->vc_shift) - 1)), t, &bid)) return;
            *next =
                (struct fc_cycle_branch){.route = bid.route, .link = bid.out, .vcs = bid.vcs, .room = bid.room_packets};
        } else if (next->vcs) {
            bid.vcs = available(e, &e->out[next->link], next->vcs, next->room);
            if (!bid.vcs) return;
        } else
            continue; /* to a node */
        take_channel(&e->out[next->link], bid.vcs, next);
    }
    fork->allocated = t;
    make_copies(e, b, fork, branch, id);
}

/* ---- flits ---- */

static inline void mark(engine *e, struct fc_cycle_marks *marks, uint32_t link, struct fc_cycle_port *port)
{
    e->out[link].busy = 1;
    port->busy++;
    marks->link[marks->n_links++] = link;
    marks->port[marks->n_ports++] = (uint32_t)(port - e->port);
}
static void deliver(engine *e, block *b, const struct fc_cycle_branch *branch, uint32_t flags, uint64_t arrived)
{
    struct fc_cycle_multicast *m = e->multicast;
    fc_flit_count_flits(b->counts, arrived, 1);
    b->flits_out++;
    if (!(flags & FC_FLIT_TAIL)) return;
    if (m->sender) {
        const struct fc_flit_group *g = &m->group_of[m->group[branch->packet]];
        reply(&m->sender[(size_t)g->src * m->window + m->place[branch->packet]], arrived + g->ack_ticks);
        reply(&m->root[g->root], arrived + g->root_ticks);
    }
    fc_cycle_end_packet(b, branch->packet, arrived);
}
/* Takes credits of the channel and puts the flit on the link between routers. */
static void forward(engine *e, block *b, const struct fc_cycle_branch *branch, uint32_t flags, uint32_t interval)
{
    struct fc_cycle_out *o = &e->out[branch->link];
    struct fc_cycle_packet *packet = &e->packet[branch->packet];
    uint32_t full = branch->room & 0x80 ? FC_FLIT_FULL : 0;
    if (flags & FC_FLIT_HEAD) {
        if (full)
            o->credits[branch->vc] = (uint16_t)(o->credits[branch->vc] - (e->flit->packet_flits_max - packet->flits));
        packet->hops++;
    }
    if (--o->credits[branch->vc] == 0) o->credited &= (uint16_t) ~(1u << branch->vc);
    push(b, o->target_block, e->queue_arrival[o->link_class],
         (uint64_t)(branch->packet | flags | full) << 32 | (o->target + branch->vc));
    b->counts->flit_hops++;
    if (e->flit->adaptive && branch->vc < e->flit->n_escape_vcs) b->counts->escape_flit_hops++;
    if (interval != FC_NONE) b->counts->interval_vc_flits[interval][branch->vc]++;
}
static void send(engine *e, block *b, struct fc_cycle_port *port, const struct fc_cycle_branch *branch, uint32_t front,
                 uint64_t t, uint32_t interval)
{
    struct fc_cycle_out *o = &e->out[branch->link];
    uint32_t flags = front & (FC_FLIT_HEAD | FC_FLIT_TAIL);
    uint64_t after = e->delay_delivery[port->link_class][o->link_class];
    if (flags & FC_FLIT_TAIL) after += e->trailer[port->link_class][o->link_class];
    if (o->target == FC_NONE)
        deliver(e, b, branch, flags, t + after);
    else
        forward(e, b, branch, flags, interval);
    o->sent++;
    if (e->slow[o->link_class]) {
        o->busy = 1;
        port->busy++;
        push(b, (uint32_t)(b - e->block),
             flags & FC_FLIT_TAIL ? e->queue_free_tail[o->link_class] : e->queue_free[o->link_class],
             (uint64_t)(port - e->port) << 32 | branch->link);
    } else
        mark(e, &e->multicast->marks[b - e->block], branch->link, port);
    if (!(flags & FC_FLIT_TAIL)) return;
    o->sent += 1ull << 32;
    if (o->target != FC_NONE) o->free |= (uint16_t)(1u << branch->vc);
    if (anyone_asleep(e, branch->link)) wake(e, b, branch->link);
}
/* Every output has sent the front flit. */
static void leave(engine *e, block *b, uint32_t channel, struct fc_cycle_port *port)
{
    const struct fc_cycle_multicast *m = e->multicast;
    struct fc_cycle_channel *c = &e->channel[channel];
    uint32_t front = c->front, vc = channel & ((1u << e->vc_shift) - 1), returned = 1, slowest = 0, longest = 0;
    const struct fc_cycle_branch *branch = &m->branch[(size_t)channel * m->most];
    for (uint32_t i = 0; i < m->fork[channel].n; i++) {
        uint32_t class = e->out[branch[i].link].link_class, ticks = e->flit->flit_ticks[class];
        if (i == 0 || ticks > longest) slowest = class, longest = ticks;
    }
    if (front & FC_FLIT_FULL && front & FC_FLIT_TAIL) returned += e->flit->packet_flits_max - m->fork[channel].flits;
    push(b, port->source_block, e->queue_credit[port->link_class][slowest],
         (uint64_t)returned << 32 | port->link << e->vc_shift | vc);
    port->forks &= (uint16_t) ~(1u << vc);
    if (--c->count == 0) return;
    c->front = e->ring[((size_t)channel << e->ring_shift) + (c->ring_head & e->ring_mask)];
    c->ring_head++;
    front_is_new(e, b, c, port, (int)vc);
}
static bool move(engine *e, block *b, struct fc_cycle_port *port, uint32_t vc, uint64_t t, uint32_t interval)
{
    struct fc_cycle_multicast *m = e->multicast;
    uint32_t channel = (uint32_t)(port - e->port) << e->vc_shift | vc, front = e->channel[channel].front;
    struct fc_cycle_fork *fork = &m->fork[channel];
    const struct fc_cycle_branch *branch = &m->branch[(size_t)channel * m->most];
    uint64_t before = fork->sent;
    if (fork->n_held < fork->n || b->out_of_packets ||
        (e->flit->vc_stage && front & FC_FLIT_HEAD && t <= fork->allocated))
        return false;
    for (uint32_t i = 0; i < fork->n; i++) {
        const struct fc_cycle_out *o = &e->out[branch[i].link];
        if (fork->sent >> i & 1 || o->busy) continue;
        if (o->target != FC_NONE && !(o->credited >> branch[i].vc & 1)) continue;
        if (!fork->sent) {
            if (port->busy >= e->flit->port_paths[port->link]) break;
            b->flits_in += fork->n - 1u;
            b->counts->flits_copied += fork->n - 1u;
        }
        send(e, b, port, &branch[i], front, t, interval);
        fork->sent |= 1ull << i;
    }
    if (fork->sent == before) return false;
    b->last_move = t;
    if (fork->sent == UINT64_MAX >> (64 - fork->n)) leave(e, b, channel, port);
    return true;
}

/* ---- a router ---- */

void fc_cycle_forks_move(engine *e, block *b, uint32_t r, uint64_t t, uint32_t interval)
{
    struct fc_cycle_port *ports = e->port + e->first_port[r];
    uint32_t n = e->first_port[r + 1] - e->first_port[r], first = e->multicast->turn[r];
    for (uint32_t i = 0; i < n; i++) { /* outputs, before any is taken for the tick */
        struct fc_cycle_port *port = &ports[first + i < n ? first + i : first + i - n];
        for (uint16_t forks = port->forks; forks; forks &= (uint16_t)(forks - 1)) {
            uint32_t channel = (uint32_t)(port - e->port) << e->vc_shift | LOW(forks);
            if (e->multicast->fork[channel].n_held < e->multicast->fork[channel].n) allocate(e, b, channel, port, t);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = first + i < n ? first + i : first + i - n;
        struct fc_cycle_port *port = &ports[p];
        for (uint16_t forks = port->forks; forks; forks &= (uint16_t)(forks - 1))
            if (move(e, b, port, LOW(forks), t, interval)) e->multicast->turn[r] = p + 1 == n ? 0 : p + 1;
    }
}
void fc_cycle_forks_end(engine *e, block *b)
{
    struct fc_cycle_marks *marks = &e->multicast->marks[b - e->block];
    for (uint32_t i = 0; i < marks->n_links; i++) {
        e->out[marks->link[i]].busy = 0;
        if (anyone_asleep(e, marks->link[i])) wake(e, b, marks->link[i]);
    }
    for (uint32_t i = 0; i < marks->n_ports; i++) {
        struct fc_cycle_port *port = &e->port[marks->port[i]];
        port->busy--;
        wake_port(e, b, port);
    }
    marks->n_links = marks->n_ports = 0;
}

uint32_t fc_cycle_fork_wanted(const engine *e, size_t channel, uint32_t *out)
{
    const struct fc_cycle_multicast *m = e->multicast;
    const struct fc_cycle_fork *fork = &m->fork[channel];
    const struct fc_cycle_branch *branch = &m->branch[channel * m->most];
    uint32_t n = 0, vcs = (uint32_t)e->flit->n_vcs;
    if (fork->n_held < fork->n) {
        if (fork->onward) return 0; /* what the packet without copies would wait for */
        for (uint32_t v = 0; v < vcs; v++)
            if (branch[fork->n_held].vcs >> v & 1) {
                if (out) out[n] = branch[fork->n_held].link * vcs + v;
                n++;
            }
        return n;
    }
    for (uint32_t i = 0; i < fork->n && n == 0; i++)
        if (!(fork->sent >> i & 1)) {
            if (out) out[0] = branch[i].link * vcs + branch[i].vc;
            n = 1;
        }
    return n;
}
