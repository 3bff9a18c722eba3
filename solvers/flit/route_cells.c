/* route_cells.c - direct, indirect and UGAL routing of packets between unequal cells (dragonfly+, dragonfly).
 *
 * The paths are those of models/routings/routing_dragonfly_plus.c (Shpiner et al., HiPINEB 2017), every even spread drawn by
 * the packet's random word: the rail and the cable of its node, the cable between two cells, the spine within a cell, the cell
 * in between and, where a packet must pass from one switch to another there, the leaf it passes through. Within a cell
 * without spines a detour goes over a third leaf.
 * UGAL (Singh 2005; Kim, Dally, Scott & Abts, ISCA 2008): as in route_two_level.c. When a packet leaves its source, the
 * detour through a cell drawn among all (within a cell without spines: over a leaf drawn among all) is held against the
 * direct path,
 *
 *     direct  if  q_direct <= weight q_detour + threshold,
 *
 * q the flits that the leaf switch of the packet's rail counts for the first link of each (router.ugal). A detour drawn
 * at the packet's own place or its destination's, or with the same first link, is none.
 *
 * Channel = global links taken so far (UGAL: packets on direct paths between cells begin at 1, within a cell at 2, so that
 * they do not hold up detours at their source; the same order, so the certificate of cdg_dragonfly_plus.c holds); second
 * local links have a channel of their own, the last.
 *
 * Route word, low bits first: what lies between (a cell, or a leaf of the cell; the greatest value: nothing), channel (2).
 * All else follows from the random word and the place. Limit: choices of a packet do not see queues on its way. */
#include "models/deadlock/cdg.h"
#include "models/family_dragonfly_plus.h"
#include "solvers/flit/route.h"

/* What a random word is drawn for. */
enum draws { FIRST_CABLE, SECOND_CABLE, OWN_CABLE, SPINE, BETWEEN, RAIL, IN_CABLE, OUT_CABLE, LEAF };

struct cell_routes {
    const struct fc_network *net;
    const struct fc_plus_shape *s;
    uint32_t rails; /* least common multiple of the blocks' */
    uint64_t nothing;
    int channel_at; /* bits of what lies between */
    uint32_t n;     /* global links that a packet takes at most */
    uint16_t vcs[4], second_local, all;
    uint64_t weight, threshold_flits; /* UGAL */
    int queue;                        /* what it counts, enum fc_ugal_queue */
};

static inline uint32_t draw(uint32_t random, enum draws what, uint32_t n)
{
    return fc_route_below(fc_route_mix(random, what), n);
}
static inline uint64_t word(const struct cell_routes *t, uint64_t between, uint64_t channel)
{
    return between | channel << t->channel_at;
}

/* The leaf switch of a node that the packet leaves or reaches it by. */
static inline const struct fc_plus_block *block_of(const struct cell_routes *t, uint32_t node)
{
    return &t->s->block[t->s->node_block[node]];
}
static inline uint32_t leaf_of(const struct cell_routes *t, uint32_t node, uint32_t random)
{
    const struct fc_plus_block *b = block_of(t, node);
    return b->first_leaf + draw(random, RAIL, t->rails) % b->rails;
}

/* A switch in its cell. */
struct place {
    const struct fc_plus_cell *cell;
    uint32_t cell_number, leaf, spine; /* one of the latter: FC_NONE */
};
static inline struct place place_of(const struct cell_routes *t, uint32_t router)
{
    uint32_t c = t->s->router_cell[router];
    const struct fc_plus_cell *cell = &t->s->cell[c];
    uint32_t i = router - cell->first_router;
    bool leaf = i < cell->n_leaves;
    return (struct place){cell, c, leaf ? i : FC_NONE, leaf ? FC_NONE : i - cell->n_leaves};
}

/* Towards host h of the cell, which is another switch: a leaf goes up or over, a spine down to a leaf drawn. */
static uint32_t towards_host(const struct cell_routes *t, const struct place *p, uint32_t h, uint32_t random)
{
    if (!p->cell->n_spines) return fc_plus_local(t->net, p->cell, p->leaf, h);
    if (p->spine == FC_NONE) return fc_plus_up(t->net, p->cell, p->leaf, h);
    return fc_plus_down(t->net, p->cell, p->spine, draw(random, LEAF, p->cell->n_leaves));
}

/* Link to another cell, or towards the host of one. */
static uint32_t leave_cell(const struct cell_routes *t, const struct place *p, uint32_t to, bool passes,
                           uint32_t random)
{
    const struct fc_plus_shape *s = t->s;
    uint32_t here = p->cell->n_spines ? p->spine : p->leaf, hosts = fc_plus_hosts(p->cell);
    uint32_t cables = fc_plus_cables(s, p->cell_number, to);
    uint32_t cable = draw(random, passes ? SECOND_CABLE : FIRST_CABLE, cables);
    if (passes && here != FC_NONE) {
        uint32_t own = fc_plus_own_cable(s, p->cell_number, here, to);
        if (own < cables) {
            uint32_t n = (cables - own + hosts - 1) / hosts;
            return fc_plus_global(t->net, p->cell_number, to, own + draw(random, OWN_CABLE, n) * hosts);
        }
    }
    uint32_t h = fc_plus_host(s, p->cell_number, to, cable);
    return here == h ? fc_plus_global(t->net, p->cell_number, to, cable) : towards_host(t, p, h, random);
}

/* The next link of a packet to `target`, a leaf, at a router; FC_NONE: it is there. Within a cell without spines, `between`
 * is a leaf; between cells, a cell. */
static uint32_t next_link(const struct cell_routes *t, uint32_t router, uint32_t target, uint64_t between,
                          uint32_t random)
{
    struct place p = place_of(t, router);
    uint32_t to = t->s->router_cell[target];
    if (router == target) return FC_NONE;
    if (p.cell_number != to) {
        bool passes = p.cell_number == between, detour = between != t->nothing && !passes;
        return leave_cell(t, &p, detour ? (uint32_t)between : to, passes, random);
    }
    uint32_t b = target - p.cell->first_router;
    if (p.spine != FC_NONE) return fc_plus_down(t->net, p.cell, p.spine, b);
    if (p.cell->n_spines) return fc_plus_up(t->net, p.cell, p.leaf, draw(random, SPINE, p.cell->n_spines));
    return fc_plus_local(t->net, p.cell, p.leaf, between == t->nothing || between == p.leaf ? b : (uint32_t)between);
}

static int choices(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                   const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    const struct cell_routes *t = flit->route_tables;
    (void)in_link, (void)in_vc;
    if (router >= flit->n_routers) {
        uint32_t node = router - flit->n_routers;
        const struct fc_plus_block *b = block_of(t, node);
        uint32_t link = fc_plus_injection(t->net, b, node, draw(head->random, RAIL, t->rails) % b->rails);
        out[0] = (struct fc_flit_choice){
            .route = head->route, .link = link + draw(head->random, IN_CABLE, b->cables), .vcs = flit->injection_vcs};
        return 1;
    }
    uint64_t between = head->route & t->nothing, channel = head->route >> t->channel_at;
    uint32_t target = leaf_of(t, head->dst, head->random), link = next_link(t, router, target, between, head->random);
    if (link == FC_NONE) {
        const struct fc_plus_block *b = block_of(t, head->dst);
        link =
            fc_plus_ejection(t->net, b, head->dst, target - b->first_leaf) + draw(head->random, OUT_CABLE, b->cables);
        out[0] = (struct fc_flit_choice){.route = head->route, .link = link, .vcs = t->all};
        return 1;
    }
    uint64_t after = head->route;
    uint16_t vcs = t->vcs[channel];
    uint32_t cell = t->s->router_cell[router];
    if (t->net->link_class[link] == t->s->global_class)
        after = word(t, between == cell ? t->nothing : between, channel + 1);
    else if (between != t->nothing && cell == t->s->router_cell[target] &&
             router - t->s->cell[cell].first_router == between)
        vcs = t->second_local;
    out[0] = (struct fc_flit_choice){.route = after, .link = link, .vcs = vcs};
    return 1;
}

/* ---- starts ---- */

static uint64_t direct_start(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                             const struct fc_flit_view *view)
{
    const struct cell_routes *t = flit->route_tables;
    (void)src, (void)dst, (void)random, (void)view;
    return word(t, t->nothing, 0);
}

/* What may lie between: cells, or leaves of the cell of both; n of them. `from`, `to`: the ends among them. */
struct middle {
    uint32_t n, from, to;
};
static struct middle middle_of(const struct cell_routes *t, uint32_t leaf, uint32_t target)
{
    const struct fc_plus_shape *s = t->s;
    uint32_t from = s->router_cell[leaf], to = s->router_cell[target];
    const struct fc_plus_cell *cell = &s->cell[from];
    if (from != to) return (struct middle){s->n_cells, from, to};
    if (cell->n_spines || leaf == target) return (struct middle){0};
    return (struct middle){cell->n_leaves, leaf - cell->first_router, target - cell->first_router};
}

static uint64_t indirect_start(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                               const struct fc_flit_view *view)
{
    const struct cell_routes *t = flit->route_tables;
    struct middle m = middle_of(t, leaf_of(t, src, random), leaf_of(t, dst, random));
    (void)view;
    if (m.n < 3) return word(t, t->nothing, 0);
    uint32_t between = draw(random, BETWEEN, m.n - 2), low = m.from < m.to ? m.from : m.to;
    between += between >= low;
    between += between >= (m.from < m.to ? m.to : m.from);
    return word(t, between, 0);
}

static uint64_t ugal_start(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                           const struct fc_flit_view *view)
{
    const struct cell_routes *t = flit->route_tables;
    uint32_t leaf = leaf_of(t, src, random), target = leaf_of(t, dst, random);
    struct middle m = middle_of(t, leaf, target);
    bool within = t->s->router_cell[leaf] == t->s->router_cell[target];
    uint64_t direct = word(t, t->nothing, !within ? t->n - 1 : m.n ? t->n : 0);
    if (m.n < 3 || !view) return direct;
    uint32_t between = draw(random, BETWEEN, m.n);
    if (between == m.from || between == m.to) return direct;
    uint32_t first = next_link(t, leaf, target, t->nothing, random),
             other = next_link(t, leaf, target, between, random);
    if (first == other) return direct;
    uint64_t queue = fc_flit_ugal_count(view, t->queue, first);
    if (queue <= t->threshold_flits ||
        queue <= t->weight * fc_flit_ugal_count(view, t->queue, other) + t->threshold_flits)
        return direct;
    return word(t, between, 0);
}

/* ---- tables ---- */

static uint32_t all_rails(const struct fc_plus_shape *s)
{
    uint32_t n = 1;
    for (uint32_t b = 0; b < s->n_blocks; b++) {
        uint32_t step = n;
        while (n % s->block[b].rails) n += step;
    }
    return n;
}
static uint32_t most_between(const struct fc_plus_shape *s)
{
    uint32_t most = s->n_cells;
    for (uint32_t c = 0; c < s->n_cells; c++)
        if (s->cell[c].n_leaves > most) most = s->cell[c].n_leaves;
    return most;
}

static enum fc_code prepare(struct fc_flit_net *flit, struct fc_status *st)
{
    struct cell_routes *t = fc_alloc(&flit->arena, 1, sizeof *t, st);
    if (!t) return st->code;
    flit->route_tables = t;
    t->net = flit->net;
    t->s = fc_plus(flit->net);
    t->rails = all_rails(t->s);
    t->channel_at = fc_route_bits(most_between(t->s));
    t->nothing = (1ull << t->channel_at) - 1;
    t->n = fc_plus_most_global(flit->net);
    int n_rule = fc_plus_vcs(flit->net, 0), rep;
    if (fc_route_data_channels(flit, n_rule, &rep, st)) return st->code;
    for (int c = 0; c < 4; c++) t->vcs[c] = fc_flit_vc_mask(c < n_rule ? c : n_rule - 1, rep);
    t->second_local = fc_flit_vc_mask(n_rule - 1, rep);
    t->all = fc_route_all(flit);
    const struct fc_ugal *ugal = &flit->net->machine->router.ugal;
    t->weight = (uint64_t)ugal->weight;
    t->threshold_flits = (uint64_t)fc_ugal_threshold_flits(flit->net->machine);
    t->queue = ugal->queue;
    return FC_OK;
}

static const char *const families[] = {"dragonfly-plus", NULL};
const struct fc_flit_route_ops fc_route_plus_direct = {
    .name = "direct",
    .families = families,
    .prepare = prepare,
    .start = direct_start,
    .choices = choices,
};
const struct fc_flit_route_ops fc_route_plus_indirect = {
    .name = "indirect",
    .families = families,
    .prepare = prepare,
    .start = indirect_start,
    .choices = choices,
};
const struct fc_flit_route_ops fc_route_plus_ugal = {
    .name = "ugal",
    .families = families,
    .prepare = prepare,
    .start = ugal_start,
    .choices = choices,
};
