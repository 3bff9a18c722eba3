/* cdg_torus.c - channel dependencies of minimal routing on tori and meshes, generated locally: which ports
 * a packet that arrives over a given channel may ask for, from ring arithmetic alone, without visiting
 * pairs. O(channels).
 *
 * On a ring of k a minimal route takes at most h = floor(k/2) hops one way (both ways at a tie). Read + at
 * coordinate c; - is its mirror image k-1-c. The dateline lies between k-1 and 0; a link that crosses it
 * is of the second channel already (Dally & Seitz 1987; Blue Gene/L: "after crossing, the higher-numbered
 * of the pair"). Then
 *
 *   a packet can arrive at c before the dateline   when c >= 1,     and go on when also h >= 2,
 *                          after it                when c < h,      and go on when c + 2 <= h;
 *
 * on a line it arrives when c >= 1 and goes on when c < k-1. With router.dateline: entry the second channel
 * is that of packets whose route will cross the dateline, all the way in the dimension:
 *
 *   such a packet can begin at c                    when c >= k-h,
 *                     arrive at c, still before it, when c > k-h,   and always goes on;
 *                     arrive at c behind it         when c < h,     and go on when c + 2 <= h;
 *   the others begin where c < k-1, arrive where c >= 1, and go on when also c < k-1 and h >= 2.
 *
 * Packets of the second channel leave the links from h-1 to k-h-1 unused (h <= k/2: at least one), those of
 * the first the dateline, so neither closes a ring. The conditions are independent between dimensions, so the
 * dependencies of dimension order are exactly: straight on where the ring allows, into every port of a later
 * dimension, and out. Valiant's two phases each have their own channels; where a
 * phase ends any port may follow.
 *
 * Escape channels of adaptive routing (Duato 1993): between two escape channels a packet may take any
 * number of adaptive hops in any dimension with hops left. An escape of dimension i is asked for only when
 * all dimensions of lower rank are done, and hops left never grow; so from escape class (i, direction,
 * channel, c) a packet reaches the classes ahead on the same ring and every class of higher rank, at any
 * coordinates in the other dimensions. These extended dependencies are held by hubs: one gate a rank, an
 * entry and an exit a class. What the hubs join is a superset of them (coordinates in other dimensions are
 * dropped), but each of its cycles would project to a cycle of one ring's classes, so no false one arises.
 * Rank: the dimension, or all + directions before all - (Cray T3E; there a tie counts as +). */
#include "models/deadlock/cdg.h"
#include "models/routings/torus_loads.h"

const struct fc_routing_ops *const fc_torus_routings[] = {&fc_routing_dimension_order, &fc_routing_adaptive,
                                                          &fc_routing_valiant, NULL};

/* What can happen at one coordinate in one direction, by channel. Channel 0: before the dateline, 1: after
 * it; with entry 0: never to cross it, 1: to cross it or across. */
struct stop {
    bool leaves;                          /* a link goes on from here */
    bool begins[2];                       /* packets that begin the dimension here */
    bool arrives[2], goes_on[2], ends[2]; /* packets on their way in it */
    int side[2];                          /* the channel on which they go on */
};

static struct stop stop_at(const struct fc_torus_shape *s, bool entry, int dim, int direction, uint32_t c)
{
    uint32_t k = s->k[dim], h = k / 2;
    if (direction == FC_MINUS) c = k - 1 - c;
    bool first = c == 0, last = c + 1 == k, far = h >= 2;
    struct stop stop = {.leaves = !last, .begins = {!last}, .arrives = {!first}, .ends = {!first}, .side = {0, 1}};
    stop.goes_on[0] = !first && !last && (far || !s->ring[dim]);
    if (!s->ring[dim] || k == 1) return stop;
    stop.leaves = true;
    stop.begins[1] = entry ? c >= k - h : last;
    stop.arrives[1] = c < h || (entry && c > k - h);
    stop.goes_on[1] = c + 2 <= h || (entry && c > k - h);
    stop.ends[1] = c < h;
    if (!entry) stop.side[0] = last;
    if (!entry) stop.goes_on[0] = !first && far; /* over the dateline too */
    return stop;
}

static bool by_entry(const struct fc_network *net)
{
    return net->machine->router.dateline == FC_DATELINE_ENTRY;
}

/* How a packet's state becomes a virtual channel of a link: one; one a phase; two a phase, before and after the dateline. */
enum scheme { ONE, PHASE, PAIR };

static enum scheme scheme_of(int escape)
{
    bool bubble = escape == FC_ESCAPE_BUBBLE || escape == FC_ESCAPE_BUBBLE_DIRECTION_ORDERED;
    return escape == FC_ESCAPE_NONE ? ONE : bubble ? PHASE : PAIR;
}

/* The relation being generated. A port with several cables is reached through one hub a channel. */
struct torus_relation {
    const struct fc_network *net;
    const struct fc_torus_shape *s;
    struct fc_cdg *cdg;
    enum scheme scheme;
    bool entry; /* router.dateline, where there is one */
    bool bundled;
    uint32_t hub; /* first hub of the ports, when bundled */
};

static uint32_t channel_of(const struct torus_relation *r, int phase, int after)
{
    return r->scheme == ONE ? 0 : r->scheme == PHASE ? (uint32_t)phase : (uint32_t)(2 * phase + after);
}

/* The vertex that stands for a port's channel as something to wait for. */
static uint32_t ask(const struct torus_relation *r, uint32_t router, int dim, int direction, uint32_t vc)
{
    uint32_t port = fc_torus_port(r->net, router, dim, direction);
    if (!r->bundled) return fc_cdg_channel(r->cdg, port, vc);
    uint32_t number = (router * (uint32_t)r->s->n_dims + (uint32_t)dim) * 2 + (uint32_t)direction;
    return r->hub + number * (uint32_t)r->cdg->n_vcs + vc;
}

static struct torus_relation start_relation(const struct fc_network *net, enum scheme scheme, struct fc_cdg *cdg)
{
    struct torus_relation r = {.net = net, .s = fc_torus(net), .cdg = cdg, .scheme = scheme};
    r.entry = scheme == PAIR && by_entry(net);
    for (int d = 0; d < r.s->n_dims; d++) r.bundled = r.bundled || r.s->parallel[d] > 1;
    if (r.bundled)
        r.hub = fc_cdg_hubs(cdg, (uint64_t)net->n_routers * (uint64_t)r.s->n_dims * 2 * (uint64_t)cdg->n_vcs);
    return r;
}

/* From a port's hub to its cables, for the channels that packets leave by. */
static void open_bundle(const struct torus_relation *r, uint32_t router, int dim, int direction, int n_phases)
{
    uint32_t next = fc_torus_neighbour(r->s, router, dim, direction);
    struct stop there = stop_at(r->s, r->entry, dim, direction, fc_torus_coordinate(r->s, next, dim));
    for (int phase = 0; phase < n_phases; phase++)
        for (int after = 0; after < 2; after++)
            for (uint32_t p = 0; there.arrives[after] && p < r->s->parallel[dim]; p++) {
                uint32_t vc = channel_of(r, phase, after);
                fc_cdg_add(r->cdg, ask(r, router, dim, direction, vc),
                           fc_cdg_channel(r->cdg, fc_torus_port(r->net, router, dim, direction) + p, vc));
            }
}

static void to_ejection(const struct torus_relation *r, uint32_t from, uint32_t router, uint32_t but)
{
    for (uint32_t t = 0; t < r->s->nodes_per_router; t++) {
        uint32_t node = router * r->s->nodes_per_router + t;
        if (node != but) fc_cdg_add(r->cdg, from, fc_cdg_channel(r->cdg, fc_torus_ejection(r->net, node), 0));
    }
}

/* A packet that may begin dimension `first_dim` or a later one at the router. */
static void begin_dimensions(const struct torus_relation *r, uint32_t from, uint32_t router, const struct stop *here,
                             int first_dim, int phase)
{
    for (int d = first_dim; d < r->s->n_dims; d++)
        for (int direction = 0; direction < 2; direction++) {
            for (int side = 0; side < 2; side++)
                if (here[2 * d + direction].begins[side])
                    fc_cdg_add(r->cdg, from, ask(r, router, d, direction, channel_of(r, phase, side)));
        }
}

static void look_around(const struct torus_relation *r, uint32_t router, struct stop *here)
{
    for (int d = 0; d < r->s->n_dims; d++)
        for (int direction = 0; direction < 2; direction++)
            here[2 * d + direction] = stop_at(r->s, r->entry, d, direction, fc_torus_coordinate(r->s, router, d));
}

/* Everything that follows an arrival at the router in dimension d. */
static void ordered_arrival(const struct torus_relation *r, uint32_t router, const struct stop *here, int d,
                            int direction, int after, int phase, bool another_phase)
{
    const struct stop *stop = &here[2 * d + direction];
    uint32_t before = fc_torus_neighbour(r->s, router, d, !direction);
    for (uint32_t p = 0; p < r->s->parallel[d]; p++) {
        uint32_t from =
            fc_cdg_channel(r->cdg, fc_torus_port(r->net, before, d, direction) + p, channel_of(r, phase, after));
        if (stop->goes_on[after])
            fc_cdg_add(r->cdg, from, ask(r, router, d, direction, channel_of(r, phase, stop->side[after])));
        if (!stop->ends[after]) continue;
        begin_dimensions(r, from, router, here, d + 1, phase);
        if (another_phase) begin_dimensions(r, from, router, here, 0, phase + 1);
        to_ejection(r, from, router, FC_NONE);
    }
}

static void inject(const struct torus_relation *r, uint32_t router, const struct stop *here, int n_phases)
{
    for (uint32_t t = 0; t < r->s->nodes_per_router; t++) {
        uint32_t node = router * r->s->nodes_per_router + t;
        uint32_t from = fc_cdg_channel(r->cdg, fc_torus_injection(r->net, node), 0);
        for (int phase = 0; phase < n_phases; phase++) begin_dimensions(r, from, router, here, 0, phase);
        to_ejection(r, from, router, node);
    }
}

static int count_phases(const struct fc_network *net)
{
    return net->machine->routing->phases > 1 ? 2 : 1;
}

enum fc_code fc_torus_ordered_dependencies(const struct fc_network *net, int variant, struct fc_cdg *cdg,
                                           struct fc_status *st)
{
    struct torus_relation r = start_relation(net, scheme_of(variant), cdg);
    struct stop here[2 * FC_MAX_DIMS];
    int n_phases = count_phases(net);
    (void)st;
    for (uint32_t v = 0; cdg->pass != FC_CDG_HUBS && v < net->n_routers; v++) {
        look_around(&r, v, here);
        for (int d = 0; d < r.s->n_dims; d++)
            for (int direction = 0; direction < 2; direction++) {
                if (r.bundled && here[2 * d + direction].leaves) open_bundle(&r, v, d, direction, n_phases);
                for (int after = 0; after < 2; after++)
                    for (int phase = 0; here[2 * d + direction].arrives[after] && phase < n_phases; phase++)
                        ordered_arrival(&r, v, here, d, direction, after, phase, phase + 1 < n_phases);
            }
        inject(&r, v, here, n_phases);
    }
    return FC_OK;
}

static void adaptive_dependencies(const struct fc_network *net, struct fc_cdg *cdg)
{
    struct torus_relation r = start_relation(net, ONE, cdg);
    struct stop here[2 * FC_MAX_DIMS];
    for (uint32_t v = 0; cdg->pass != FC_CDG_HUBS && v < net->n_routers; v++) {
        look_around(&r, v, here);
        for (int i = 0; i < 2 * r.s->n_dims; i++) {
            int d = i / 2, direction = i % 2;
            if (r.bundled && here[i].leaves) open_bundle(&r, v, d, direction, 1);
            if (!here[i].arrives[0] && !here[i].arrives[1]) continue;
            uint32_t port = fc_torus_port(net, fc_torus_neighbour(r.s, v, d, !direction), d, direction);
            for (uint32_t p = 0; p < r.s->parallel[d]; p++) {
                uint32_t from = fc_cdg_channel(cdg, port + p, 0);
                for (int j = 0; j < 2 * r.s->n_dims; j++)
                    if (j / 2 == d ? j == i && (here[i].goes_on[0] || here[i].goes_on[1]) : here[j].leaves)
                        fc_cdg_add(cdg, from, ask(&r, v, j / 2, j % 2, 0));
                to_ejection(&r, from, v, FC_NONE);
            }
        }
        inject(&r, v, here, 1);
    }
}

/* ---- escape channels of adaptive routing ---- */

/* Hubs: gate[rank] for what ranks from `rank` on may be asked for, the last one for ejection; then entry
 * and exit of class (dimension, direction, after, coordinate). */
struct escape_hubs {
    uint32_t gate, class;
    uint32_t first_class[FC_MAX_DIMS];
    int n_ranks;
};

static struct escape_hubs place_hubs(const struct fc_torus_shape *s, bool direction_ordered, struct fc_cdg *cdg)
{
    struct escape_hubs h = {0};
    uint32_t n = 0;
    for (int d = 0; d < s->n_dims; d++) {
        h.first_class[d] = n;
        n += 4 * s->k[d];
    }
    h.n_ranks = direction_ordered ? 2 * s->n_dims : s->n_dims;
    h.gate = fc_cdg_hubs(cdg, (uint64_t)h.n_ranks + 1);
    h.class = fc_cdg_hubs(cdg, 2ull * n);
    return h;
}

/* Entry of the class of links that leave coordinate c; the exit is the number behind it. */
static uint32_t entry_of(const struct escape_hubs *h, int dim, int direction, int after, uint32_t c)
{
    return h->class + 2 * (h->first_class[dim] + 4 * c + 2 * (uint32_t)direction + (uint32_t)after);
}

static void add_classes(const struct fc_torus_shape *s, const struct escape_hubs *h, bool entry_side,
                        bool direction_ordered, struct fc_cdg *cdg)
{
    for (int rank = 0; rank < h->n_ranks; rank++)
        fc_cdg_add(cdg, h->gate + (uint32_t)rank, h->gate + (uint32_t)rank + 1);
    for (int d = 0; d < s->n_dims; d++)
        for (int direction = 0; direction < 2; direction++)
            for (uint32_t c = 0; c < s->k[d]; c++) {
                if (!stop_at(s, entry_side, d, direction, c).leaves) continue;
                uint32_t rank = (uint32_t)(direction_ordered ? direction * s->n_dims + d : d);
                uint32_t to = direction == FC_PLUS ? (c + 1) % s->k[d] : (c + s->k[d] - 1) % s->k[d];
                struct stop there = stop_at(s, entry_side, d, direction, to);
                for (int after = 0; after < 2; after++) {
                    if (!there.arrives[after]) continue;
                    uint32_t entry = entry_of(h, d, direction, after, c);
                    fc_cdg_add(cdg, h->gate + rank, entry);
                    fc_cdg_add(cdg, entry + 1, h->gate + rank + 1);
                    if (!there.goes_on[after]) continue;
                    uint32_t ahead = entry_of(h, d, direction, there.side[after], to);
                    fc_cdg_add(cdg, entry + 1, ahead);
                    fc_cdg_add(cdg, entry, ahead); /* past here on adaptive channels */
                }
            }
}

static void escape_dependencies(const struct fc_network *net, bool direction_ordered, struct fc_cdg *cdg)
{
    const struct fc_torus_shape *s = fc_torus(net);
    struct escape_hubs h = place_hubs(s, direction_ordered, cdg);
    cdg->extended = true;
    if (cdg->pass == FC_CDG_HUBS) return;
    add_classes(s, &h, by_entry(cdg->net), direction_ordered, cdg);
    for (uint32_t v = 0; v < net->n_routers; v++)
        for (int d = 0; d < s->n_dims; d++)
            for (int direction = 0; direction < 2; direction++) {
                uint32_t c = fc_torus_coordinate(s, v, d), port = fc_torus_port(net, v, d, direction);
                if (port == FC_NONE) continue;
                uint32_t next = fc_torus_coordinate(s, fc_torus_neighbour(s, v, d, direction), d);
                struct stop there = stop_at(s, by_entry(net), d, direction, next);
                for (int after = 0; after < 2; after++)
                    for (uint32_t p = 0; there.arrives[after] && p < s->parallel[d]; p++) {
                        uint32_t vc = cdg->n_vcs > 1 ? (uint32_t)after : 0, channel = fc_cdg_channel(cdg, port + p, vc);
                        uint32_t entry = entry_of(&h, d, direction, after, c);
                        fc_cdg_add(cdg, entry, channel);
                        fc_cdg_add(cdg, channel, entry + 1);
                    }
            }
    for (uint32_t node = 0; node < net->n_nodes; node++) {
        fc_cdg_add(cdg, fc_cdg_channel(cdg, fc_torus_injection(net, node), 0), h.gate);
        fc_cdg_add(cdg, h.gate + (uint32_t)h.n_ranks, fc_cdg_channel(cdg, fc_torus_ejection(net, node), 0));
    }
}

bool fc_torus_is_adaptive(const struct fc_network *net)
{
    return net->machine->routing == &fc_routing_adaptive;
}

enum fc_code fc_torus_dependencies(const struct fc_network *net, int variant, struct fc_cdg *cdg, struct fc_status *st)
{
    if (!fc_torus_is_adaptive(net)) return fc_torus_ordered_dependencies(net, variant, cdg, st);
    if (variant == FC_ESCAPE_NONE)
        adaptive_dependencies(net, cdg);
    else
        escape_dependencies(net, variant >= FC_ESCAPE_DIRECTION_ORDERED, cdg);
    return FC_OK;
}

bool fc_torus_chosen(const struct fc_machine *machine, int variant)
{
    return (int)machine->router.escape == variant;
}

int fc_torus_vcs(const struct fc_network *net, int variant)
{
    enum scheme scheme = scheme_of(variant);
    return scheme == ONE ? 1 : scheme == PHASE ? count_phases(net) : 2 * count_phases(net);
}

int fc_torus_pair_data_vcs(const struct fc_network *net, int variant)
{
    (void)variant;
    const struct fc_torus_shape *s = fc_torus(net);
    bool any_ring = false;
    if (fc_torus_is_adaptive(net)) return 0;
    for (int d = 0; d < s->n_dims; d++) any_ring = any_ring || (s->ring[d] && s->k[d] > 1);
    return fc_torus_vcs(net, any_ring ? FC_ESCAPE_DATELINE : FC_ESCAPE_BUBBLE);
}
