/* cdg_dragonfly_plus.c - channel dependencies of direct, indirect and UGAL routing between unequal cells.
 *
 * Channel = number v of global links taken so far; n of them at most (one, or two with detours). A packet that has taken v
 * may go, at a leaf: from its node or from a global link up (or over a local link), to a global link of the leaf (without
 * spines), to a node; from a spine to a node, and up once more where it passes through a cell (v = 1 of two); from a local
 * link to a global link or a node. At a spine: from a leaf to a global link, and down where v = 0 (a way within the cell);
 * from a global link down, and to a global link. All of a kind at a router wait for all of the next: sets go through hubs,
 * a few more dependencies than there are routes. In the order (v, up, down) with v = 1 taken as (down, up) none leads back.
 * With detours, traffic within a cell without spines may take a second local link, in a channel of its own, the last.
 * Under UGAL packets on direct paths begin at a higher channel (solvers/flit/route_cells.c): more that an injection link
 * waits for, nothing else. */
#include "models/deadlock/cdg.h"
#include "models/family_dragonfly_plus.h"

const struct fc_routing_ops *const fc_plus_routings[] = {&fc_routing_plus_direct, &fc_routing_plus_indirect,
                                                         &fc_routing_plus_ugal, NULL};

struct relation {
    const struct fc_network *net;
    const struct fc_plus_shape *s;
    struct fc_cdg *cdg;
    uint32_t n;      /* global links at most */
    bool from_end;   /* UGAL: packets on direct paths begin at a higher channel */
    bool around;     /* there are second local links */
    uint32_t second; /* hubs [n_routers]: its local links, taken as the second */
    uint32_t global; /* hubs [n_routers][n]: all global links of the router, as number v */
    uint32_t local;  /* hubs [n_routers][n + 1]: its links within the cell, v taken */
    uint32_t eject;  /* hubs [n_routers]: its links to nodes */
};

uint32_t fc_plus_most_global(const struct fc_network *net)
{
    const struct fc_plus_shape *s = fc_plus(net);
    if (s->n_cells < 2) return 0;
    return net->machine->routing->detours && s->n_cells > 2 ? 2 : 1;
}

static bool goes_around(const struct fc_network *net)
{
    const struct fc_plus_shape *s = fc_plus(net);
    bool found = false;
    for (uint32_t c = 0; c < s->n_cells; c++) found = found || (s->cell[c].n_spines == 0 && s->cell[c].n_leaves > 2);
    return found && net->machine->routing->detours;
}

int fc_plus_vcs(const struct fc_network *net, int variant)
{
    (void)variant;
    return (int)fc_plus_most_global(net) + 1 + goes_around(net);
}

static void to_global(const struct relation *r, uint32_t from, uint32_t router, uint32_t v)
{
    if (v < r->n) fc_cdg_add(r->cdg, from, r->global + router * r->n + v);
}
static void to_local(const struct relation *r, uint32_t from, uint32_t router, uint32_t v)
{
    fc_cdg_add(r->cdg, from, r->local + router * (r->n + 1) + v);
}
static bool is_spine(const struct relation *r, uint32_t router)
{
    return r->s->router_block[router] == FC_NONE;
}

/* What hubs of a link's source lead to it. */
static void from_hubs(const struct relation *r, uint32_t link)
{
    uint32_t at = r->net->link_source[link];
    int class = r->net->link_class[link];
    if (fc_is_node(r->net, at)) return;
    if (fc_is_node(r->net, r->net->link_target[link])) {
        fc_cdg_add(r->cdg, r->eject + at, fc_cdg_channel(r->cdg, link, 0));
        return;
    }
    bool global = class == r->s->global_class;
    for (uint32_t v = 0; v < r->n + !global; v++)
        fc_cdg_add(r->cdg, global ? r->global + at * r->n + v : r->local + at * (r->n + 1) + v,
                   fc_cdg_channel(r->cdg, link, v));
    if (r->around && class == r->s->local_class)
        fc_cdg_add(r->cdg, r->second + at, fc_cdg_channel(r->cdg, link, r->n + 1));
}

/* What a link waits for at its target. */
static void to_hubs(const struct relation *r, uint32_t link)
{
    uint32_t at = r->net->link_target[link], from = r->net->link_source[link];
    int class = r->net->link_class[link];
    if (fc_is_node(r->net, at)) return;
    bool injected = fc_is_node(r->net, from), global = class == r->s->global_class, spine = is_spine(r, at);
    for (uint32_t v = 0; v < (injected ? 1 : r->n + !global); v++) {
        uint32_t channel = fc_cdg_channel(r->cdg, link, v), taken = v + global;
        bool down = !injected && !global && is_spine(r, from), up = !injected && !global && spine;
        if (!down) to_global(r, channel, at, taken);
        if (injected || global || (up && v == 0) || (down && v > 0 && v < r->n)) to_local(r, channel, at, taken);
        for (uint32_t u = 1; r->from_end && injected && u <= r->n; u++) {
            to_global(r, channel, at, u);
            to_local(r, channel, at, u);
        }
        if (!spine) fc_cdg_add(r->cdg, channel, r->eject + at);
    }
    if (!r->around || class != r->s->local_class) return;
    fc_cdg_add(r->cdg, fc_cdg_channel(r->cdg, link, 0), r->second + at);
    fc_cdg_add(r->cdg, fc_cdg_channel(r->cdg, link, r->n + 1), r->eject + at);
}

enum fc_code fc_plus_dependencies(const struct fc_network *net, int variant, struct fc_cdg *cdg, struct fc_status *st)
{
    (void)variant;
    struct relation r = {.net = net,
                         .s = fc_plus(net),
                         .cdg = cdg,
                         .n = fc_plus_most_global(net),
                         .from_end = net->machine->routing == &fc_routing_plus_ugal,
                         .around = goes_around(net)};
    (void)st;
    r.global = fc_cdg_hubs(cdg, (uint64_t)net->n_routers * r.n);
    r.local = fc_cdg_hubs(cdg, (uint64_t)net->n_routers * (r.n + 1));
    r.eject = fc_cdg_hubs(cdg, net->n_routers);
    r.second = fc_cdg_hubs(cdg, r.around ? net->n_routers : 0);
    if (cdg->pass == FC_CDG_HUBS) return FC_OK;
    for (uint32_t l = 0; l < net->n_links; l++) {
        from_hubs(&r, l);
        to_hubs(&r, l);
    }
    return FC_OK;
}
