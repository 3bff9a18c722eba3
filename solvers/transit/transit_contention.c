/* transit_contention.c - messages share links: max-min fair rates, anew whenever a message starts or ends.
 *
 * A message that leaves at d is a flow over the links of its way from d on; its rate r(t) is its max-min fair
 * share among all flows of that instant (transit_fair.c: exact), where link l, of the bandwidth b_l that the
 * background leaves, carries w_l r(t) of it, w_l the share of its packets whose path crosses l. It ends at F,
 * when the integral of r(t) is its wire bytes, and has arrived at F + the head delays of its longest path:
 * cut-through, latency at the end. Alone it takes as long as on an ideal network, and never less, since r <=
 * min b_l / w_l. This is the fluid model of Bertsekas & Gallager (Data Networks, 2nd ed. 1992, 6.5.2), as
 * SimGrid uses it (Casanova et al., JPDC 74(10), 2014), with several paths a message.
 *
 * Where packets are given directions at their source, the larger part takes longer (fc_transit_uneven_s), also alone, but for the part of the
 * link's load that is of others, which evens it out (fc_arrival's interference).
 *
 * Those from afar have less: rates are fair in claims (transit_routes.c; of messages to one node transit_claims.c), a message of claim c has c times what one of
 * claim 1 has of the link that binds both.
 *
 * What happens within 1e-13 of the time, and ends within 1e-11 of a message's own least time, is one instant,
 * so that equal messages stay equal in spite of rounding. Order within an instant: by id.
 *
 * Parts. A long message of a minimal adaptive routing is up to 4 flows, its parts, each over some of its paths and with a max-min fair rate of its
 * own; the message's rate is the sum of w r over them, w the share of the bytes that the part would take on an empty network. So bytes go where there
 * is room: packets that find a queue take another way. Nor do they keep to the paths where they meet nobody (transit_fair_mix.c, "Spreading").
 *
 * Crowds. Where a start or an end changes the rates of MANY flows, and MANY_EACH times as many as there were
 * starts and ends, the next ones count late: rates stay as they are until one start or end would be later than LATE
 * of its message's duration (of a start: the one expected at the rates of its links). A message that ends arrives
 * on time by its rate; what it leaves is idle till then, and one that starts waits. So a link loses at most LATE of
 * the time that each of its messages takes, twice; nobody goes faster than is fair but who gains by another's
 * wait. Without it F messages in one region cost F^2 changes of rates. Fewer changes than MANY: exact.
 *
 * Mixing. With a calibration that has found one (calibration_mixing.c), links between routers lose to flows that mix
 * there down to a limit (transit_fair_mix.c); a message of p packets blocks others by p / (p + HALF_BLOCKS): a short
 * one fits into buffers. The parts of a message go to one node and do not hold up each other. Routers whose packets wait at
 * their outputs (router.queues) lose nothing so.
 *
 * Injection FIFOs. What they let through at a time is one more link of the node, and a message that finds them full leaves later
 * (transit_fifos.c).
 *
 * Ports. Where a node's ports have a bandwidth (node.port_bandwidth), an eager message is put through one of its sender's, a
 * longer one is fetched through one of its receiver's (and with node.port_sides 2 out of one of its sender's), each node's next in
 * turn, or where tasks have ports (node.port_of) its task's, as over one more link.
 *
 * Exchanges. Two nodes may carry less both ways together than each way alone: one more link, of the two (transit_exchange.h).
 *
 * Memory. Where the messages within a node share its bandwidth (node.memory_bandwidth), each is a flow over one more link, the
 * node's; alone none is faster than an injection link.
 *
 * Limits: a fluid has no packets (a message of one packet between others gets its share at once), blocked messages hold no buffers upstream,
 * packets of a part keep their shares of its paths whatever they meet there, so it goes at the pace of the slowest. A message costs O(links of
 * its way) where no link is in short supply, else what its region costs (transit_fair.c). */
#include "solvers/adjoint/adjoint.h"
#include "solvers/calibration/calibration.h"
#include "solvers/load_internal.h"
#include "solvers/transit/transit_claims.h"
#include "solvers/transit/transit_ends.h"
#include "solvers/transit/transit_exchange.h"
#include "solvers/transit/transit_fair.h"
#include "solvers/transit/transit_fifos.h"
#include "solvers/transit/transit_heads.h"
#include "solvers/transit/transit_internal.h"

#include <stdlib.h>

#define LATE (1.0 / 32)
enum { MANY = 256, MANY_EACH = 8 };
#define HALF_BLOCKS 4.0 /* packets of a message; trees like qsnet-64: 2 to 4 are equally near the kernel */
enum { MOST = 10 };     /* all rates are found anew where one of so many changed the last time */

/* A message under way; its number is that of its flow, of the first where it has several. */
struct moving {
    double left_bytes, since_s; /* wire bytes left at since_s, */
    double rate;                /* from then on */
    uint64_t id;
    uint64_t solved;   /* the solve whose rates it has */
    uint32_t src, dst; /* nodes; src FC_NONE: it stays within one */
    double began_s, head_s, alone_s;
    double uneven_s;          /* fc_transit_uneven_s */
    double slack_s;           /* what is the same instant as its end */
    double least_s;           /* it does not arrive before: alone_s and what its packets wait (transit_queueing.c) */
    uint32_t narrow;          /* the link that it would be alone as slow as */
    bool arrived;             /* whatever rate it has: only its load remains */
    uint32_t pair;            /* whose bytes it is counted in; FC_NONE: nobody's */
    uint32_t way;             /* of all its parts */
    float interference;       /* of fc_arrival, since it began */
    double bytes, wire_bytes; /* in all */
};
/* A flow as part of a message. */
struct part {
    uint32_t message, next;   /* flows: the message's first, the next of its parts, in a ring */
    double share;             /* of the message's bytes, on an empty network */
    double rate, moved_bytes; /* its bytes/s of the message since the message's since_s, bytes until then */
};
struct contention {
    struct fc_fair fair;
    struct moving *moving;       /* [fair.n_flows] */
    struct part *part;           /* [fair.n_flows] */
    struct fc_transit_ends ends; /* messages under way */
    size_t moving_capacity, part_capacity;
    double due_s;                 /* rates are found again then; INFINITY: nothing has happened since */
    bool late;                    /* what happens counts late */
    bool most;                    /* the last solve changed most rates: so will the next */
    uint32_t n_happened;          /* starts and ends since the last solve */
    uint64_t n_solved;            /* solves so far */
    uint32_t ports, first_port;   /* of a node, out and in, links behind those of the network; 0: no limit */
    uint32_t first_memory;        /* one link a node, behind the ports */
    uint32_t first_pair;          /* one link a node, behind those: of the lower number of a pair */
    struct fc_exchange *exchange; /* [n_nodes]; NULL: exchanges are no limit */
    uint32_t first_fifo;          /* one link a node behind those, its injection FIFOs; FC_NONE: they hold nobody up */
    struct fc_fifos fifos;
    struct fc_heads heads;
    struct fc_claims claims;
    uint32_t *next_port; /* [2 n_nodes] messages that went out of, came into the node so far */
};

static double limit_of(const struct fc_transit *t)
{
    bool outputs = t->net->machine->router.queues == FC_QUEUES_OUTPUT; /* nobody waits behind others there */
    double limit = t->settings.made && !outputs ? t->settings.made->replays.mixing : 1;
    return limit > 0 ? limit : 1;
}

static bool mixes(const void *transit, uint32_t link)
{
    const struct fc_network *net = ((const struct fc_transit *)transit)->net;
    return link < net->n_links && fc_is_between_routers(net, link);
}

/* Links behind those of the network. False: too many. */
static bool number_links(struct fc_transit *t, struct contention *c, uint32_t *n)
{
    const struct fc_network *net = t->net;
    uint32_t nodes = net->n_nodes;
    c->ports = fc_has_ports(net->machine) ? (uint32_t)net->machine->ports : 0;
    if (net->n_links + (2 * (uint64_t)c->ports + 3) * nodes >= FC_NONE) return false;
    c->first_port = net->n_links;
    c->first_memory = c->first_port + 2 * nodes * c->ports;
    c->first_pair = c->first_memory + (fc_transit_shares_memory(t) ? nodes : 0);
    *n = c->first_pair + (net->machine->exchange_bytes_per_s < INFINITY ? nodes : 0);
    c->first_fifo = c->fifos.bind ? *n : FC_NONE;
    *n += c->fifos.bind ? nodes : 0;
    return true;
}

/* A node without a limit of its own has no flow over that link. */
static double some(double bytes_per_s)
{
    return bytes_per_s < INFINITY ? bytes_per_s : 1;
}

static double capacity_of(const void *transit, uint32_t link)
{
    const struct fc_transit *t = transit;
    const struct contention *c = t->own;
    const struct fc_machine *m = t->net->machine;
    return link >= c->first_fifo     ? fc_fifos_capacity(&c->fifos, link - c->first_fifo)
           : link >= c->first_pair   ? m->exchange_bytes_per_s
           : link >= c->first_memory ? some(fc_node_memory_bandwidth(t->net, link - c->first_memory))
           : link >= c->first_port   ? some(fc_node_port_bandwidth(t->net, (link - c->first_port) / c->ports / 2))
                                     : fc_free_bandwidth(t->net, t->settings.background_bytes_per_s, link);
}

static enum fc_code open_contention(struct fc_transit *t)
{
    const struct fc_network *net = t->net;
    struct fc_fair_links links = {.capacity = capacity_of, .mixes = mixes, .of = t};
    struct contention *c = t->own = fc_alloc(&t->arena, 1, sizeof *c, t->st);
    uint32_t n = 0;
    if (!c || fc_fifos_open(&c->fifos, net, &t->arena, t->st)) return t->st->code;
    if (!number_links(t, c, &n))
        return fc_refuse(t->st, FC_NO, "%u nodes of %u ports are too many", net->n_nodes, c->ports);
    if (fc_heads_open(&c->heads, net, &c->fifos, c->first_fifo, limit_of(t) < 1, &t->arena, t->st)) return t->st->code;
    if (fc_claims_open(&c->claims, net, &t->arena, t->st)) return t->st->code;
    c->next_port = fc_alloc(&t->arena, 2 * (size_t)net->n_nodes, sizeof *c->next_port, t->st);
    c->due_s = INFINITY;
    bool exchanges = net->machine->exchange_bytes_per_s < INFINITY;
    c->exchange = exchanges ? fc_alloc(&t->arena, net->n_nodes, sizeof *c->exchange, t->st) : NULL;
    if (t->st->code) return t->st->code;
    if (!fc_fair_open(&c->fair, n, &links, t->st) && (limit_of(t) < 1 || fc_goes_round(net)))
        fc_fair_lose(&c->fair, limit_of(t), net->n_nodes);
    if (t->settings.adjoint) t->settings.adjoint->first_fifo = c->first_fifo;
    return t->st->code;
}

static void close_contention(struct fc_transit *t)
{
    struct contention *c = t->own;
    if (!c) return;
    fc_fair_close(&c->fair);
    free(c->moving);
    free(c->part);
    fc_transit_ends_close(&c->ends);
    fc_fifos_close(&c->fifos);
    fc_claims_close(&c->claims);
}

/* ---- instants ---- */

static uint32_t crowd(const void *contention, uint32_t link)
{
    const struct contention *c = contention;
    return c->fair.link[link].n_flows;
}

/* Something happened at now_s to a message that takes lasts_s. Returns when rates are to be found anew for it. */
static inline double happens(struct contention *c, double now_s, double lasts_s)
{
    double due_s = c->late ? now_s + LATE * lasts_s : now_s;
    if (due_s < c->due_s) c->due_s = due_s;
    c->n_happened++;
    return due_s;
}

/* How long a message of so many wire bytes takes at the rate that its links give the others now. */
static double expected_s(const struct contention *c, const struct fc_transit_ways *ways,
                         const struct fc_transit_way *way, double wire_bytes)
{
    double s_per_byte = 0;
    for (uint32_t k = way->first; k < way->first + way->n_finite; k++) {
        const struct fc_fair_link *l = &c->fair.link[ways->link[k]];
        double rate = l->n_bound > 0 ? l->level : l->n_flows > 0 ? l->capacity / l->n_flows : INFINITY;
        if (ways->weight[k] > s_per_byte * rate) s_per_byte = ways->weight[k] / rate;
    }
    return wire_bytes * s_per_byte;
}

/* The port that the message is bound to, or else the next of the node in turn, out of it (side 0) or into it (1), as one more link. */
static inline uint32_t add_port(struct fc_transit *t, uint32_t node, uint32_t side, uint32_t bound,
                                struct fc_fair_more *more, uint32_t n)
{
    struct contention *c = t->own;
    if (!(fc_node_port_bandwidth(t->net, node) < INFINITY)) return n;
    uint32_t at = 2 * node + side, turn = bound != FC_NONE ? bound : c->next_port[at]++;
    more[n] = (struct fc_fair_more){c->first_port + at * c->ports + turn % (uint32_t)fc_node_ports(t->net, node), 1};
    return n + 1;
}

/* The links of its end points that a message crosses: more[3], how many. */
static uint32_t more_links(struct fc_transit *t, const struct fc_transit_message *m, struct fc_fair_more *more,
                           uint32_t *pair)
{
    struct contention *c = t->own;
    uint32_t n = 0;
    if (c->ports && m->ports.fetched) n = add_port(t, m->dst, 1, m->ports.in, more, n);
    if (c->ports && (!m->ports.fetched || fc_node_port_sides(t->net, m->src) > 1))
        n = add_port(t, m->src, 0, m->ports.out, more, n);
    *pair = FC_NONE;
    if (c->exchange && fc_exchange_begins(c->exchange, t->net->machine, m->src, m->dst, m->wire_bytes, pair))
        more[n++] = (struct fc_fair_more){c->first_pair + *pair, 1};
    return n;
}

/* Room to tell of all flows there are. */
static enum fc_code widen(struct fc_transit *t)
{
    struct contention *c = t->own;
    size_t n = c->fair.n_flows;
    if (fc_transit_reserve((void **)&c->moving, &c->moving_capacity, n, sizeof *c->moving, t->st))
        fc_transit_reserve((void **)&c->part, &c->part_capacity, n, sizeof *c->part, t->st);
    return t->st->code;
}

/* The message moves from now on, as flow f (FC_NONE: refused). `late_s`: what it is expected to take where it counts late. */
static enum fc_code moves(struct fc_transit *t, const struct fc_transit_message *m, uint32_t f, double late_s,
                          double share, struct moving moving)
{
    struct contention *c = t->own;
    if (f == FC_NONE || widen(t)) return t->st->code;
    double due_s = happens(c, m->time_s, late_s);
    if (t->settings.adjoint) {
        fc_adjoint_begins(t->settings.adjoint, &c->fair, m->id, f, m->time_s, share,
                          m->src != m->dst && c->fifos.n_fifos > 0 ? m->src : FC_NONE);
        fc_adjoint_happens_start(t->settings.adjoint, m->id, m->time_s, due_s, moving.narrow);
    }
    moving.id = m->id;
    moving.src = m->src != m->dst ? m->src : FC_NONE;
    moving.dst = m->dst;
    if (moving.src != FC_NONE) {
        fc_fifos_begins(&c->fifos, m->src);
        fc_heads_begins(&c->heads, &t->ways, moving.way, m->src, m->dst);
    }
    moving.began_s = moving.since_s = m->time_s;
    moving.left_bytes = m->wire_bytes;
    moving.bytes = m->bytes;
    moving.wire_bytes = m->wire_bytes;
    c->moving[f] = moving;
    c->part[f] = (struct part){.message = f, .next = f, .share = 1};
    return fc_transit_ends_add(&c->ends, f, m->id, c->fair.n_flows, t->st) ? FC_OK : t->st->code;
}

/* Flow f (FC_NONE: refused) is one more part of a message. */
static enum fc_code joins(struct fc_transit *t, uint32_t message, uint32_t f)
{
    struct contention *c = t->own;
    if (f == FC_NONE || widen(t)) return t->st->code;
    c->part[f] = (struct part){.message = message, .next = c->part[message].next};
    c->part[message].next = f;
    return FC_OK;
}

/* The most that it has met (fc_arrival), so far and now. */
static float interference(struct contention *c, uint32_t message)
{
    double most = c->moving[message].interference;
    uint32_t f = message;
    if (c->moving[message].src == FC_NONE) return 0; /* it stays in its node */
    do {
        most = fc_fair_interference(&c->fair, f, f != message, most);
        f = c->part[f].next;
    } while (f != message);
    return (float)most;
}

/* A part over the way crosses its sender's injection FIFOs, too: more[n], how many there are then. */
static uint32_t with_fifos(const struct fc_transit *t, uint32_t src, struct fc_transit_way *way,
                           struct fc_fair_more *more, uint32_t n)
{
    const struct contention *c = t->own;
    if (c->first_fifo == FC_NONE) return n;
    if (way->fifos_s_per_byte < 0)
        way->fifos_s_per_byte =
            fc_fifos_s_per_byte(t->net, src, way->n_finite, t->ways.link + way->first, t->ways.weight + way->first);
    if (way->fifos_s_per_byte > 0) more[n++] = (struct fc_fair_more){c->first_fifo + src, way->fifos_s_per_byte};
    return n;
}

/* Way w from now on, in one flow or a flow for each of its parts. The links' bytes are counted by shares, and set right in the
 * end. */
static enum fc_code moves_over(struct fc_transit *t, const struct fc_transit_message *m, uint32_t w, double late_s,
                               struct moving moving)
{
    struct contention *c = t->own;
    double packets = fmax(1, m->bytes / t->ways.packet_bytes), blocks = packets / (packets + HALF_BLOCKS);
    uint32_t first = FC_NONE, n_of_ends = 0;
    struct fc_fair_more more[4]; /* of its end points, then of the part */
    moving.way = w;
    uint32_t n_parts = fc_transit_parts(&t->ways, w, m->bytes);
    double port_s = fc_transit_port_s_per_byte(t->net, m->src, m->dst, m->ports.fetched), claim = t->ways.way[w].claim;
    for (uint32_t i = 0; i < n_parts; i++) {
        uint32_t number = n_parts > 1 ? fc_transit_part(&t->ways, w, i) : w;
        if (number == FC_NONE) return t->st->code;
        struct fc_transit_way *way = &t->ways.way[number];
        double share = n_parts > 1 ? way->share : 1;
        way->bytes += share * m->bytes;
        way->wire_bytes += share * m->wire_bytes;
        if (n_parts == 1 && !(m->wire_bytes * fmax(way->s_per_byte, port_s) > 0)) { /* it is there at once */
            fc_fifos_begins(&c->fifos, m->src);
            fc_fifos_ends(&c->fifos, m->src, m->wire_bytes, m->time_s, 0);
            return FC_OK;
        }
        if (i == 0) n_of_ends = more_links(t, m, more, &moving.pair);
        uint32_t n_more = with_fifos(t, m->src, way, more, n_of_ends);
        uint32_t f = fc_fair_add(&c->fair, way->n_finite, t->ways.link + way->first, t->ways.weight + way->first, share,
                                 claim, more, n_more, blocks, m->dst);
        if (i == 0 ? moves(t, m, first = f, late_s, share * claim, moving) : joins(t, first, f)) return t->st->code;
        c->part[f].share = share;
        c->fair.flow[f].start = m->src;
        c->fair.flow[f].way = number;
        c->fair.flow[f].message = first;
        double free_bytes_per_s = t->ways.way[w].free_bytes_per_s;
        if (free_bytes_per_s > 0 && fc_fair_spreads(&c->fair, f, free_bytes_per_s)) return t->st->code;
        if (t->settings.adjoint && i > 0) fc_adjoint_joins(t->settings.adjoint, &c->fair, first, f, share * claim);
    }
    if (first != FC_NONE) c->moving[first].interference = interference(c, first);
    return FC_OK;
}

/* Within a node. */
static enum fc_code begin_locally(struct fc_transit *t, const struct fc_transit_message *m)
{
    struct contention *c = t->own;
    uint32_t memory = c->first_memory + m->src;
    double local_s = fc_local_s_per_byte(t->net, m->src), bytes_per_s = fc_node_memory_bandwidth(t->net, m->src);
    double alone_s = m->time_s + m->bytes * fmax(local_s, 1 / bytes_per_s);
    if (!(m->bytes > 0) || isinf(bytes_per_s)) return fc_transit_arrive(t, m->id, alone_s, alone_s);
    double late_s = c->late ? m->bytes * (c->fair.link[memory].n_flows + 1) / bytes_per_s : 0;
    if (t->settings.adjoint && local_s * bytes_per_s > 1) t->settings.adjoint->lost = true;
    uint32_t f = fc_fair_add(&c->fair, 0, NULL, NULL, 1, 1, &(struct fc_fair_more){memory, 1}, 1, 0, m->src);
    return moves(t, m, f, late_s, 1,
                 (struct moving){.slack_s = 1e-11 * (alone_s - m->time_s),
                                 .alone_s = alone_s,
                                 .least_s = alone_s,
                                 .narrow = FC_NONE,
                                 .pair = FC_NONE});
}

/* A message that leaves for another node now, or has waited until now. */
static enum fc_code begin_over(struct fc_transit *t, const struct fc_transit_message *m)
{
    struct contention *c = t->own;
    uint32_t turn = m->route == FC_NONE ? fc_transit_ways_find(&t->ways, m->src, m->dst, m->bytes, m->turn)
                                        : fc_transit_way_over(&t->ways, m->route, m->bytes, m->turn);
    uint32_t w = turn == FC_NONE ? FC_NONE : fc_transit_way_free(&t->ways, turn, m->bytes, crowd, c);
    if (w == FC_NONE) return t->st->code;
    const struct fc_transit_way *way = &t->ways.way[w];
    /* Alone it arrives as on an ideal network, to the last bit. */
    double head_s = fc_transit_head_s(&t->ways, &t->ways.way[turn], m->wire_bytes);
    double port_s = fc_transit_port_s_per_byte(t->net, m->src, m->dst, m->ports.fetched);
    bool by_port = port_s > t->ways.way[turn].s_per_byte;
    double uneven_s = by_port ? 0 : fc_transit_uneven_s(&t->ways, turn, m->bytes, m->wire_bytes);
    double least_s = m->wire_bytes * fmax(t->ways.way[turn].s_per_byte, port_s);
    double alone_s = m->left_s + head_s + least_s;
    bool shares = true;
    double wait_s = t->waits ? fc_transit_wait_s(t, way, m->time_s, m->bytes, m->wire_bytes, &shares) : 0;
    bool arrived = !shares || !(least_s > 0);
    if (arrived && t->settings.adjoint)
        fc_adjoint_arrives_alone(t->settings.adjoint, m->id, head_s, uneven_s, t->ways.way[turn].narrow);
    if (arrived && fc_transit_arrive(t, m->id, m->time_s + head_s + uneven_s + least_s + wait_s, alone_s))
        return t->st->code;
    return moves_over(t, m, w, c->late ? expected_s(c, &t->ways, way, m->wire_bytes) : 0,
                      (struct moving){.slack_s = 1e-11 * least_s,
                                      .head_s = head_s,
                                      .uneven_s = uneven_s,
                                      .alone_s = alone_s,
                                      .least_s = alone_s + wait_s,
                                      .narrow = by_port ? FC_NONE : t->ways.way[turn].narrow,
                                      .arrived = arrived});
}

static enum fc_code begin(struct fc_transit *t, const struct fc_transit_message *m)
{
    struct contention *c = t->own;
    bool waits;
    if (m->src == m->dst) return begin_locally(t, m);
    if (!t->waits && (fc_fifos_turn(t, &c->fifos, m, &waits) || waits)) return t->st->code; /* else in its waits */
    if (fc_fifos_leaves(t, &c->fifos, m, &waits) || waits) return t->st->code;
    return begin_over(t, m);
}

/* Those of the node that have waited long enough. */
static enum fc_code begin_waiting(struct fc_transit *t, uint32_t node, double now_s)
{
    struct contention *c = t->own;
    struct fc_transit_message m;
    uint32_t steps;
    double waited_s;
    while (fc_fifos_next(&c->fifos, node, now_s, &m, &steps, &waited_s)) {
        if (t->settings.adjoint) fc_adjoint_waits(t->settings.adjoint, m.id, node, steps, waited_s, now_s);
        if (begin_over(t, &m)) return t->st->code;
    }
    return fc_fifos_foresee(t, &c->fifos, node, now_s);
}

/* The rate that its parts have now, the old ones having lasted so long. */
static double rate_of(struct contention *c, uint32_t message, double lasted_s)
{
    double rate = 0;
    uint32_t f = message;
    do {
        struct part *part = &c->part[f];
        part->moved_bytes += part->rate * lasted_s;
        part->rate = part->share * c->fair.flow[f].claim * c->fair.flow[f].rate;
        rate += part->rate;
        f = part->next;
    } while (f != message);
    return rate;
}

/* Its flows leave the links, over which each part has moved what it has. */
static void leaves(struct fc_transit *t, uint32_t message, double now_s)
{
    struct contention *c = t->own;
    const struct moving *m = &c->moving[message];
    bool in_parts = c->part[message].next != message;
    uint32_t f = message;
    if (in_parts) rate_of(c, message, now_s - m->since_s);
    do {
        const struct part *part = &c->part[f];
        if (in_parts) {
            struct fc_transit_way *way = &t->ways.way[c->fair.flow[f].way];
            double more = part->moved_bytes / m->wire_bytes - part->share;
            way->bytes += more * m->bytes;
            way->wire_bytes += more * m->wire_bytes;
        }
        fc_fair_remove(&c->fair, f);
        f = part->next;
    } while (f != message);
}

/* From now on the messages have the rates that the solve found. */
static void adopt(struct contention *c, double now_s)
{
    bool many = c->fair.n_changed > c->ends.n / 4;
    c->n_solved++;
    for (size_t k = 0; k < c->fair.n_changed; k++) {
        uint32_t f = c->part[c->fair.changed[k]].message;
        struct moving *m = &c->moving[f];
        if (m->solved == c->n_solved) continue; /* of another of its parts */
        m->solved = c->n_solved;
        if (m->src != FC_NONE) fc_fifos_drops(&c->fifos, m->src, m->left_bytes, m->since_s, m->rate);
        m->left_bytes -= m->rate * (now_s - m->since_s);
        if (m->left_bytes < 0) m->left_bytes = 0;
        m->rate = rate_of(c, f, now_s - m->since_s);
        m->since_s = now_s;
        if (m->src != FC_NONE) fc_fifos_takes(&c->fifos, m->src, m->left_bytes, now_s, m->rate);
        fc_transit_ends_move(&c->ends, f, m->id, now_s + m->left_bytes / m->rate, many);
    }
    if (many) fc_transit_ends_sort(&c->ends);
}

/* For the adjoint: the node of its end, before it leaves. */
static uint32_t ends(struct fc_transit *t, const struct moving *m, uint32_t message, double now_s, double uneven_s)
{
    struct fc_adjoint *adjoint = t->settings.adjoint;
    uint32_t end = fc_adjoint_ends(adjoint, message, now_s, m->wire_bytes);
    if (m->alone_s <= (now_s + m->head_s + uneven_s) * (1 + 1e-12))
        fc_adjoint_arrives(adjoint, m->id, end, m->head_s, uneven_s, m->narrow);
    else
        fc_adjoint_arrives_alone(adjoint, m->id, m->head_s, m->alone_s - m->head_s - m->began_s, m->narrow);
    return end;
}

/* Before a solve: messages to nodes for which another has started have other claims. */
static enum fc_code settle_claims(struct fc_transit *t, double now_s)
{
    struct contention *c = t->own;
    if (fc_claims_settle(&c->claims, &c->fair, &t->ways)) return t->st->code;
    for (size_t k = 0; t->settings.adjoint && k < c->claims.n_changed; k++) {
        uint32_t f = c->claims.changed[k];
        fc_adjoint_claims(t->settings.adjoint, f, c->part[f].share * c->fair.flow[f].claim, now_s);
    }
    return FC_OK;
}

/* All that ends or starts at now_s. */
static enum fc_code step(struct fc_transit *t, double now_s)
{
    struct contention *c = t->own;
    double instant_s = now_s * (1 + 1e-13);
    while (c->ends.n > 0) {
        uint32_t f = c->ends.end[0].message;
        const struct moving *m = &c->moving[f];
        if (fc_transit_ends_first(&c->ends) > instant_s + m->slack_s) break;
        float met = interference(c, f);
        double uneven_s = m->uneven_s * (1 - met); /* what others have on the link evens it out */
        double arrives_s = fmax(now_s + m->head_s + uneven_s, m->least_s);
        if (!m->arrived && fc_transit_arrive_with(t, m->id, arrives_s, m->alone_s, met)) return t->st->code;
        uint32_t end = t->settings.adjoint ? ends(t, m, f, now_s, uneven_s) : 0;
        if (m->pair != FC_NONE) fc_exchange_ends(c->exchange, m->pair, m->wire_bytes);
        if (m->src != FC_NONE) {
            fc_fifos_ends(&c->fifos, m->src, m->left_bytes, m->since_s, m->rate);
            fc_heads_ends(&c->heads, &t->ways, m->way, m->src, m->dst);
        }
        if (m->src != FC_NONE && fc_fifos_foresee(t, &c->fifos, m->src, now_s)) return t->st->code;
        leaves(t, f, now_s);
        double due_s = happens(c, now_s, now_s - m->began_s);
        if (t->settings.adjoint) fc_adjoint_happens_end(t->settings.adjoint, m->id, end, due_s, c->late ? LATE : 0);
        fc_transit_ends_drop(&c->ends);
    }
    while (fc_transit_first_start_s(t) <= instant_s) {
        struct fc_transit_message message = fc_transit_pop_start(t);
        if (message.waited ? begin_waiting(t, message.src, message.time_s) : begin(t, &message)) return t->st->code;
    }
    if (c->due_s > instant_s) return FC_OK;
    if (settle_claims(t, now_s) || !fc_heads_settle(&c->heads, &c->fair)) return t->st->code;
    if (c->most ? fc_fair_solve_anew(&c->fair) : fc_fair_solve(&c->fair)) return t->st->code;
    adopt(c, now_s);
    for (size_t k = 0; c->fifos.n_waiting > 0 && k < c->fair.n_changed; k++) {
        uint32_t src = c->moving[c->part[c->fair.changed[k]].message].src;
        if (src != FC_NONE && fc_fifos_foresee(t, &c->fifos, src, now_s)) return t->st->code;
    }
    if (t->settings.adjoint) fc_adjoint_solved(t->settings.adjoint, &c->fair, now_s);
    c->late = c->fair.n_changed >= MANY && c->fair.n_changed >= MANY_EACH * (size_t)c->n_happened;
    c->most = c->late && MOST * c->fair.n_changed >= c->fair.n_living;
    c->due_s = INFINITY;
    c->n_happened = 0;
    return FC_OK;
}

static enum fc_code advance(struct fc_transit *t, double until_s)
{
    struct contention *c = t->own;
    for (;;) {
        double now_s = fmin(fmin(fc_transit_ends_first(&c->ends), c->due_s), fc_transit_first_start_s(t));
        if (isinf(now_s) || now_s > until_s || now_s > fc_transit_events_first(&t->arrivals)) return FC_OK;
        if (step(t, now_s)) return t->st->code;
    }
}

const struct fc_transit_ops fc_transit_contention = {.name = "contention",
                                                     .memory = true,
                                                     .open = open_contention,
                                                     .send = fc_transit_hold,
                                                     .advance = advance,
                                                     .close = close_contention};
