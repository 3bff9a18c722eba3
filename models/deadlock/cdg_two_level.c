/* cdg_two_level.c - channel dependencies of direct, indirect and UGAL routing on two-level networks.
 *
 * A route is segments of local links with D links between: direct LL/LR - D - LL/LR, indirect with one
 * more D link and segment; traffic within a supernode is a first segment alone. Channel = number of D
 * links taken so far; in a grid group, where a segment may have two hops either way round, twice that plus
 * the hop. Under UGAL it is counted from the end, 2 less the D links still to take, so that direct and indirect
 * packets of a source share no channel before their first D link. Where indirect routes cross to a router drawn in the
 * supernode between (router.ugal.via), the way to it and the way on are segments of their own, four channels in all; for
 * the router between the dependencies are all that any packet might have, whichever supernodes it goes between. On the way through supernode i from s to t (t != s) a packet goes from a router that hosts a D
 * link of s to one that hosts one of t. Complete sets of dependencies (all last links into a router before
 * all of its D links, ...) go through hubs; those that except the supernode the packet came from are
 * written out. d_link free counts no L hops in loads, but they are there: the dependencies are those of
 * the packed cabling it stands on. */
#include "models/deadlock/cdg.h"
#include "models/family_two_level.h"

#include <string.h>

const struct fc_routing_ops *const fc_two_level_routings[] = {&fc_routing_direct, &fc_routing_indirect,
                                                              &fc_routing_ugal, NULL};

/* A cable of a supernode to another one, at its end here. */
struct port {
    uint32_t peer, host, out, in; /* supernode, member, D link from here, D link to here */
};
struct two_level_relation {
    const struct fc_network *net;
    const struct fc_two_level_shape *s;
    struct fc_cdg *cdg;
    bool single, direct, indirect;
    bool both; /* UGAL: direct routes are the last two segments of three, traffic within a supernode the last */
    bool via;  /* and there are two segments in the supernode between */
    uint32_t second, last; /* segments before the second D link and behind it */
    uint32_t hops;         /* channels a segment */
    uint32_t base;         /* first router of the supernode at hand */
    struct port *port;     /* [(S - 1) * cables] of the supernode, by host */
    uint32_t *first;       /* [members + 2] ports of member m: first[m] .. first[m+1] */
    /* Hubs, one a router each: */
    uint32_t inject;  /* all that its nodes send */
    uint32_t depart;  /* its D links, taken as the first */
    uint32_t depart2; /* taken as the second */
    uint32_t deliver; /* two: what follows when the first, the second D link into it was the last */
    uint32_t pass;    /* on the way through: to members that host two supernodes or more */
    uint32_t stop;    /* at the router between */
    uint32_t eject;   /* its nodes */
};

static uint32_t vc(const struct two_level_relation *r, uint32_t segment, uint32_t hop)
{
    return r->single ? 0 : segment * r->hops + hop;
}

/* The ways from member a to b (a != b): n ways of `hops` links. */
struct ways {
    uint32_t n, hops, link[2][2];
};
static struct ways find_ways(const struct two_level_relation *r, uint32_t a, uint32_t b)
{
    uint32_t one = fc_two_level_local_link(r->net, r->base, a, b), p = r->s->n_positions;
    if (one != FC_NONE) return (struct ways){1, 1, {{one}}};
    struct ways w = {2, 2, {{0}}};
    uint32_t corner[2] = {a / p * p + b % p, b / p * p + a % p};
    for (int i = 0; i < 2; i++) {
        w.link[i][0] = fc_two_level_local_link(r->net, r->base, a, corner[i]);
        w.link[i][1] = fc_two_level_local_link(r->net, r->base, corner[i], b);
    }
    return w;
}

/* `from` waits for the first links of the ways. */
static void set_out(const struct two_level_relation *r, uint32_t from, const struct ways *w, uint32_t segment)
{
    for (uint32_t i = 0; i < w->n; i++)
        fc_cdg_add(r->cdg, from, fc_cdg_channel(r->cdg, w->link[i][0], vc(r, segment, 0)));
}
/* Their last links wait for `to`. */
static void arrive(const struct two_level_relation *r, const struct ways *w, uint32_t segment, uint32_t to)
{
    for (uint32_t i = 0; i < w->n; i++)
        fc_cdg_add(r->cdg, fc_cdg_channel(r->cdg, w->link[i][w->hops - 1], vc(r, segment, w->hops - 1)), to);
}
/* The links between. */
static void go_on(const struct two_level_relation *r, const struct ways *w, uint32_t segment)
{
    for (uint32_t i = 0; w->hops == 2 && i < w->n; i++)
        fc_cdg_add(r->cdg, fc_cdg_channel(r->cdg, w->link[i][0], vc(r, segment, 0)),
                   fc_cdg_channel(r->cdg, w->link[i][1], vc(r, segment, 1)));
}

/* A whole segment after which the packet leaves the network at b. */
static void last_segment(const struct two_level_relation *r, uint32_t from, const struct ways *w, uint32_t b,
                         uint32_t segment)
{
    set_out(r, from, w, segment);
    go_on(r, w, segment);
    arrive(r, w, segment, r->eject + r->base + b);
}

/* The only supernode whose cables a member hosts; FC_NONE for several. The member hosts some. */
static uint32_t only_peer(const struct two_level_relation *r, uint32_t m)
{
    uint32_t peer = r->port[r->first[m]].peer;
    for (uint32_t i = r->first[m]; i < r->first[m + 1]; i++)
        if (peer != r->port[i].peer) return FC_NONE;
    return peer;
}

/* On the way through, from host y of the supernode a packet came from to host b of another one. */
static void transit(const struct two_level_relation *r, uint32_t y, uint32_t b, const struct ways *w)
{
    uint32_t from = only_peer(r, y), to = only_peer(r, b);
    if (from == to && from != FC_NONE) return;
    go_on(r, w, 1);
    if (to == FC_NONE) set_out(r, r->pass + r->base + y, w, 1);
    for (uint32_t i = r->first[y]; to != FC_NONE && i < r->first[y + 1]; i++)
        if (r->port[i].peer != to) set_out(r, fc_cdg_channel(r->cdg, r->port[i].in, vc(r, 0, 0)), w, 1);
    if (from == FC_NONE) arrive(r, w, 1, r->depart2 + r->base + b);
    for (uint32_t i = r->first[b]; from != FC_NONE && i < r->first[b + 1]; i++)
        if (r->port[i].peer != from) arrive(r, w, 1, fc_cdg_channel(r->cdg, r->port[i].out, vc(r, 1, 0)));
}

/* On the way through, to the router between and on from it: from host a of any supernode to b, and from b to any host. */
static void cross(const struct two_level_relation *r, uint32_t a, uint32_t b, const struct ways *w)
{
    if (r->first[a] < r->first[a + 1]) {
        set_out(r, r->pass + r->base + a, w, 1);
        set_out(r, r->pass + r->base + a, w, r->second);
    }
    go_on(r, w, 1);
    arrive(r, w, 1, r->stop + r->base + b);
    set_out(r, r->stop + r->base + a, w, r->second);
}

/* Segments from member a to b. */
static void member_pair(const struct two_level_relation *r, uint32_t a, uint32_t b)
{
    struct ways w = find_ways(r, a, b);
    uint32_t deliver = r->deliver + 2 * (r->base + a);
    bool a_hosts = r->first[a] < r->first[a + 1], b_hosts = r->first[b] < r->first[b + 1];
    last_segment(r, r->inject + r->base + a, &w, b, r->both ? r->last : 0);
    for (uint32_t segment = 0; r->both && b_hosts && segment <= r->second; segment += r->second) {
        set_out(r, r->inject + r->base + a, &w, segment);
        go_on(r, &w, segment);
    }
    if (b_hosts) arrive(r, &w, 0, r->depart + r->base + b);
    if (b_hosts && r->both) arrive(r, &w, r->second, r->depart2 + r->base + b);
    if (a_hosts && r->direct && !r->both) last_segment(r, deliver, &w, b, 1);
    if (a_hosts && r->indirect) last_segment(r, deliver + 1, &w, b, r->last);
    if (a_hosts && b_hosts && r->indirect && !r->via) transit(r, a, b, &w);
    if (r->via) cross(r, a, b, &w);
}

/* What needs no local link: nodes of the router, and its D links. */
static void member_alone(const struct two_level_relation *r, uint32_t a)
{
    uint32_t router = r->base + a, per_router = r->s->nodes_per_router;
    uint32_t first_out = r->net->first_link[router + 1] - per_router;
    for (uint32_t t = 0; t < per_router; t++) {
        uint32_t from = fc_cdg_channel(r->cdg, r->net->first_link[r->net->n_routers + router * per_router + t], 0);
        fc_cdg_add(r->cdg, from, r->inject + router);
        fc_cdg_add(r->cdg, r->eject + router, fc_cdg_channel(r->cdg, first_out + t, 0));
        for (uint32_t e = 0; e < per_router; e++)
            if (e != t) fc_cdg_add(r->cdg, from, fc_cdg_channel(r->cdg, first_out + e, 0));
    }
    if (r->first[a] == r->first[a + 1]) return;
    if (r->via) {
        fc_cdg_add(r->cdg, r->pass + router, r->depart2 + router);
        fc_cdg_add(r->cdg, r->stop + router, r->depart2 + router);
    }
    fc_cdg_add(r->cdg, r->inject + router, r->depart + router);
    if (r->both) fc_cdg_add(r->cdg, r->inject + router, r->depart2 + router);
    if (r->direct && !r->both) fc_cdg_add(r->cdg, r->deliver + 2 * router, r->eject + router);
    if (r->indirect) fc_cdg_add(r->cdg, r->deliver + 2 * router + 1, r->eject + router);
    for (uint32_t i = r->first[a]; i < r->first[a + 1]; i++) {
        const struct port *p = &r->port[i];
        uint32_t in = fc_cdg_channel(r->cdg, p->in, vc(r, 0, 0)),
                 out2 = fc_cdg_channel(r->cdg, p->out, vc(r, r->second, 0));
        fc_cdg_add(r->cdg, r->depart + router, fc_cdg_channel(r->cdg, p->out, vc(r, 0, 0)));
        if (r->direct && !r->both) fc_cdg_add(r->cdg, in, r->deliver + 2 * router);
        if (!r->indirect) continue;
        fc_cdg_add(r->cdg, r->depart2 + router, out2);
        fc_cdg_add(r->cdg, fc_cdg_channel(r->cdg, p->in, vc(r, r->second, 0)), r->deliver + 2 * router + 1);
        fc_cdg_add(r->cdg, in, r->pass + router);
        for (uint32_t j = r->first[a]; !r->via && j < r->first[a + 1]; j++)
            if (r->port[j].peer != p->peer) fc_cdg_add(r->cdg, in, fc_cdg_channel(r->cdg, r->port[j].out, vc(r, 1, 0)));
    }
}

/* The supernode's ports by host (counting sort). */
static void list_ports(const struct two_level_relation *r, uint32_t supernode)
{
    const struct fc_two_level_shape *s = r->s;
    memset(r->first, 0, (s->members + 2) * sizeof *r->first);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t peer = 0; peer < s->n_supernodes; peer++)
            for (uint32_t c = 0; peer != supernode && c < s->pair_links; c++) {
                uint32_t out = fc_two_level_cross(r->net, supernode, peer, c).link;
                uint32_t host = r->net->link_source[out] - r->base;
                if (pass == 0)
                    r->first[host + 2]++;
                else
                    r->port[r->first[host + 1]++] =
                        (struct port){peer, host, out, fc_two_level_cross(r->net, peer, supernode, c).link};
            }
        for (uint32_t m = 0; pass == 0 && m < s->members; m++) r->first[m + 2] += r->first[m + 1];
    }
}

static uint32_t count_segments(const struct fc_network *net)
{
    return net->machine->routing->detours && fc_two_level(net)->n_supernodes >= 3 ? 3 + fc_two_level_via_router(net)
                                                                                  : 2;
}
static bool has_corners(const struct fc_two_level_shape *s)
{
    return s->local == FC_LOCAL_GRID && s->n_drawers > 1 && s->n_positions > 1;
}

int fc_two_level_vcs(const struct fc_network *net, int single)
{
    return single ? 1 : (int)count_segments(net) * (has_corners(fc_two_level(net)) ? 2 : 1);
}

enum fc_code fc_two_level_dependencies(const struct fc_network *net, int single, struct fc_cdg *cdg,
                                       struct fc_status *st)
{
    const struct fc_two_level_shape *s = fc_two_level(net);
    struct two_level_relation r = {.net = net, .s = s, .cdg = cdg, .single = single};
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    r.indirect = count_segments(net) >= 3;
    r.via = fc_two_level_via_router(net);
    r.second = r.via ? 2 : 1;
    r.last = r.second + 1;
    r.direct = !r.indirect || net->machine->routing == &fc_routing_ugal;
    r.both = r.direct && r.indirect;
    r.hops = has_corners(s) ? 2 : 1;
    r.inject = fc_cdg_hubs(cdg, s->n_routers);
    r.depart = fc_cdg_hubs(cdg, s->n_routers);
    r.depart2 = fc_cdg_hubs(cdg, r.indirect ? s->n_routers : 0);
    r.deliver = fc_cdg_hubs(cdg, 2ull * s->n_routers);
    r.pass = fc_cdg_hubs(cdg, r.indirect ? s->n_routers : 0);
    r.stop = fc_cdg_hubs(cdg, r.via ? s->n_routers : 0);
    r.eject = fc_cdg_hubs(cdg, s->n_routers);
    if (cdg->pass == FC_CDG_HUBS) return FC_OK;
    r.port = fc_alloc(&scratch, (size_t)s->n_supernodes * s->pair_links, sizeof *r.port, st);
    r.first = fc_alloc(&scratch, (size_t)s->members + 2, sizeof *r.first, st);
    for (uint32_t sn = 0; !st->code && sn < s->n_supernodes; sn++) {
        r.base = sn * s->members;
        list_ports(&r, sn);
        for (uint32_t m = 0; m < s->members; m++) {
            member_alone(&r, m);
            for (uint32_t b = 0; b < s->members; b++)
                if (b != m) member_pair(&r, m, b);
        }
    }
    return st->code;
}
