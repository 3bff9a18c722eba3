/* bulk_rounds.c - a bulk phase as a fluid of nodes that send in rounds.
 *
 * A node sends a packet to each of its destinations in turn, as long as it has any for it (solvers/flit/source_closed.c), through
 * one queue. So all its messages go at the pace of the slowest: a destination whose way is busy holds up those whose way is
 * free. A node is thus one flow, of whose bytes each link carries a share that stays the same until its shortest message is over;
 * nodes have max-min fair rates (transit_fair.c), found again whenever one of them has a message less. The phase takes until the
 * last node has sent all.
 *
 * At least the time of the busiest link of the even split, more where a node that has much for a busy link was held up elsewhere
 * first. Limits: a fluid. Adaptive tori are not looked at, whose packets go round what is busy; nor dense parts, nor phases that would take
 * seconds (MOST_WORK walks times routers, or senders squared). */
#include "solvers/calibration/bulk.h"
#include "models/family_torus.h"
#include "solvers/load_internal.h"
#include "solvers/transit/transit_fair.h"

#include <stdlib.h>
#include <string.h>

#define MOST_WORK 2.5e8

struct message {
    uint32_t src, dst; /* nodes */
    double packets, packet_bytes;
};
/* A node that sends: messages first .. first + n of the sorted list, the shortest first. */
struct sender {
    uint32_t first, n, done;
    double rounds; /* over */
    uint32_t flow;
    double left, since_s, rate, end_s;
};
struct fluid {
    const struct fc_network *net;
    const double *background; /* [n_links] or NULL */
    struct fc_arena arena;
    struct message *message;
    struct sender *sender;
    uint32_t n_messages, n_senders;
    double *share; /* [n_links] of the flow at hand */
    uint32_t *used;
    double *weight;
    uint32_t *sender_of; /* [flow] */
    struct fc_fair fair;
    struct fc_walk walk;
    struct fc_status *st;
};

static int by_node_and_length(const void *a, const void *b)
{
    const struct message *x = a, *y = b;
    if (x->src != y->src) return x->src < y->src ? -1 : 1;
    if (x->packets != y->packets) return x->packets < y->packets ? -1 : 1;
    return (x->dst > y->dst) - (x->dst < y->dst);
}

static enum fc_code list_messages(struct fluid *f, const struct fc_demand *d, const struct fc_placement *placement)
{
    const struct fc_machine *m = f->net->machine;
    double payload = m->packet.max_bytes > 0 ? m->packet.max_bytes - m->packet.header_bytes : m->router.flit_bytes;
    f->message = fc_alloc(&f->arena, d->n_entries + 1, sizeof *f->message, f->st);
    f->sender = fc_alloc(&f->arena, f->net->n_nodes, sizeof *f->sender, f->st);
    f->share = fc_alloc(&f->arena, f->net->n_links, sizeof *f->share, f->st);
    f->used = fc_alloc(&f->arena, f->net->n_links, sizeof *f->used, f->st);
    f->weight = fc_alloc(&f->arena, f->net->n_links, sizeof *f->weight, f->st);
    f->sender_of = fc_alloc(&f->arena, (size_t)f->net->n_nodes + 1, sizeof *f->sender_of, f->st);
    if (f->st->code) return f->st->code;
    for (size_t e = 0; e < d->n_entries; e++) {
        uint32_t src = placement->node[d->src[e]], dst = placement->node[d->dst[e]];
        if (src == dst || !(d->messages[e] > 0)) continue;
        double each = d->bytes[e] / d->messages[e], packets = fmax(1, ceil(each / fmax(payload, 1) - 1e-9));
        f->message[f->n_messages++] =
            (struct message){src, dst, packets * d->messages[e], fc_wire_bytes(m, each) / packets};
    }
    qsort(f->message, f->n_messages, sizeof *f->message, by_node_and_length);
    for (uint32_t i = 0; i < f->n_messages; i++) {
        if (i == 0 || f->message[i].src != f->message[i - 1].src)
            f->sender[f->n_senders++] = (struct sender){.first = i, .flow = FC_NONE};
        f->sender[f->n_senders - 1].n++;
    }
    return FC_OK;
}

/* The sender's next stage, until its shortest message is over; none left: its flow stays FC_NONE. */
static enum fc_code begin(struct fluid *f, uint32_t number, double now_s)
{
    struct sender *s = &f->sender[number];
    const struct message *all = f->message + s->first;
    double bytes = 0;
    uint32_t n = 0;
    s->flow = FC_NONE;
    while (s->done < s->n && all[s->done].packets <= s->rounds) s->done++;
    if (s->done == s->n) return FC_OK;
    for (uint32_t i = s->done; i < s->n; i++) bytes += all[i].packet_bytes;
    for (uint32_t i = s->done; i < s->n; i++) {
        f->walk.n = 0;
        f->net->machine->routing->walk(f->net, all[i].src, all[i].dst, 1, &f->walk);
        for (uint32_t k = 0; k < f->walk.n; k++) {
            uint32_t link = f->walk.link[k];
            if (!isfinite(fc_link_bandwidth(f->net, link)) || fc_torus_is_further_cable(f->net, link)) continue;
            if (f->share[link] == 0) f->used[n++] = link;
            f->share[link] += f->walk.weight[k] * all[i].packet_bytes / bytes;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        f->weight[k] = f->share[f->used[k]];
        f->share[f->used[k]] = 0;
    }
    s->left = bytes * (all[s->done].packets - s->rounds);
    s->rounds = all[s->done].packets;
    s->since_s = now_s;
    s->end_s = INFINITY;
    s->rate = 0;
    if (n == 0) return begin(f, number, now_s); /* no link of its ways takes time */
    s->flow = fc_fair_add(&f->fair, n, f->used, f->weight, 1, 1, NULL, 0, 1, FC_NONE);
    if (s->flow == FC_NONE) return f->st->code;
    f->sender_of[s->flow] = number;
    return FC_OK;
}

/* Routes that are walked in all stages of all senders. */
static double walks(const struct fluid *f)
{
    double n = 0;
    for (uint32_t i = 0; i < f->n_senders; i++) {
        const struct sender *s = &f->sender[i];
        const struct message *all = f->message + s->first;
        for (uint32_t k = 0; k < s->n; k++)
            if (k == 0 || all[k].packets > all[k - 1].packets) n += s->n - k;
    }
    return n;
}

static enum fc_code run(struct fluid *f, double *seconds)
{
    double now_s = 0;
    for (uint32_t i = 0; i < f->n_senders; i++)
        if (begin(f, i, 0)) return f->st->code;
    for (;;) {
        if (fc_fair_solve(&f->fair)) return f->st->code;
        for (size_t k = 0; k < f->fair.n_changed; k++) {
            uint32_t flow = f->fair.changed[k];
            struct sender *s = &f->sender[f->sender_of[flow]];
            s->left -= s->rate * (now_s - s->since_s);
            s->since_s = now_s;
            s->rate = f->fair.flow[flow].rate;
            s->end_s = now_s + fmax(0, s->left) / s->rate;
        }
        double next_s = INFINITY;
        for (uint32_t i = 0; i < f->n_senders; i++)
            if (f->sender[i].flow != FC_NONE) next_s = fmin(next_s, f->sender[i].end_s);
        if (isinf(next_s)) break;
        now_s = next_s;
        for (uint32_t i = 0; i < f->n_senders; i++) {
            struct sender *s = &f->sender[i];
            if (s->flow == FC_NONE || s->end_s > now_s * (1 + 1e-9)) continue;
            fc_fair_remove(&f->fair, s->flow);
            if (begin(f, i, now_s)) return f->st->code;
        }
    }
    *seconds = now_s;
    return FC_OK;
}

static double free_bandwidth(const void *of, uint32_t link)
{
    const struct fluid *f = of;
    return fc_free_bandwidth(f->net, f->background, link);
}

enum fc_code fc_bulk_rounds(const struct fc_network *net, const struct fc_demand *demand,
                            const struct fc_placement *placement, const double *background, double *seconds,
                            struct fc_status *st)
{
    struct fluid f = {.net = net, .background = background, .st = st};
    uint32_t capacity = net->machine->routing->walk_capacity(net);
    *seconds = 0;
    if (fc_adaptive_torus_takes(net) || demand->n_dense || (double)demand->n_entries * net->n_routers > MOST_WORK)
        return FC_OK;
    bool good = !list_messages(&f, demand, placement) &&
                fmax(walks(&f) * net->n_routers, (double)f.n_senders * f.n_senders) <= MOST_WORK;
    if (good && !fc_walk_start(&f.walk, capacity, st)) {
        struct fc_fair_links links = {.capacity = free_bandwidth, .of = &f};
        if (!fc_fair_open(&f.fair, net->n_links, &links, st)) run(&f, seconds);
        fc_fair_close(&f.fair);
        fc_walk_free(&f.walk);
    }
    fc_arena_free(&f.arena);
    return st->code;
}
