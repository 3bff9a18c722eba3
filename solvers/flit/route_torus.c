/* route_torus.c - dimension-order, minimal adaptive and Valiant routing of packets on tori and meshes.
 *
 * The route word holds the hops left, fixed at the source: a packet half way round an even ring goes + or -
 * by a random bit of its own. Dimension order crosses x, then y, ...; one of several cables is picked by the
 * packet's random word. Adaptive: any dimension with hops left, any cable, on the adaptive channels; beside
 * them the escape, in dimension order or with all + directions before all - (Cray T3E). Valiant (1982):
 * dimension order to a router chosen uniformly among all, then to the destination.
 *
 * Virtual channels as in docs/deadlock.md. dateline pair: 1 on the link that crosses the dateline (between
 * k-1 and 0) and from there on, 0 before; with router.dateline: entry 1 all the way in a dimension where the
 * route will cross it (both are one bit a dimension, set by the crossing or at the start of the phase). Lines
 * have no dateline: all of the pair is theirs. Bubble (Puente et al. 1999; Adiga et al. 2005): room for one
 * full packet to go on in the ring on the bubble channel, for two to enter it; on a line, which no ring
 * closes, one is enough. Valiant: the second phase has channels of its own.
 *
 * router.injection: direction gives each direction that the network has the same number of injection FIFOs, in
 * the order x+, x-, y+, ...; what is left over stays empty. A packet takes those of the directions that it may
 * leave in: dimension order the first, adaptive all that lead nearer. random: each packet has one, by its random
 * word.
 *
 * Route word, low bits first: hops left in each dimension side by side, then one bit a dimension each for -
 * and for the far side of the dateline, the phase, and the port of the last hop. */
#include "models/family_torus.h"
#include "solvers/flit/route.h"
#include "solvers/flit/route_adaptive.h"
#include "solvers/flit/route_fields.h"

#include <string.h>

enum { MINUS = 42, CROSSED = 50, PHASE = 58, LAST = 59 };
#define NO_PORT (31ull << LAST)

/* Row of a router: its first ejection link, bit 2d + direction where that port crosses a dateline, the first
 * cable of each port 2d + direction. */
enum { EJECTION, WRAPS, PORTS };
struct torus_routes {
    uint32_t *row; /* [n_routers][width] */
    uint64_t hops; /* mask of all hops left */
    uint64_t field[FC_MAX_DIMS], unit[FC_MAX_DIMS];
    uint8_t shift[FC_MAX_DIMS];
    uint8_t dim_at[64]; /* dimension of a bit of the hops left */
    uint32_t width, per_router, n_routers;
    int n_dims;
    bool entry, bubble, plus_first, two_phases;
    bool one_cable, plain;          /* no parallel cables; and neither phases nor bubble */
    uint64_t step[2 * FC_MAX_DIMS]; /* a hop by that port, added to a word whose last port is 0 */
    uint8_t full_size;
    uint16_t all, free_vcs; /* masks: every channel but those of high priority, the adaptive ones */
    bool ring[FC_MAX_DIMS];
    uint32_t k[FC_MAX_DIMS], parallel[FC_MAX_DIMS];
    uint64_t *place;         /* [n_routers] coordinates side by side */
    uint8_t at[FC_MAX_DIMS]; /* where each lies, and its mask */
    uint32_t coordinate[FC_MAX_DIMS];
    uint16_t vcs[2][2][FC_MAX_DIMS]; /* [phase][side of the dateline][dimension] of the rule's channels */
    uint16_t high[2][FC_MAX_DIMS];   /* [side][dimension] of those of high priority */
    uint16_t fifos[2 * FC_MAX_DIMS]; /* router.injection direction: injection channels of each port */
    uint16_t fifo[FC_FLIT_MOST_VCS]; /* random: the n_fifos to draw from, else n_fifos = 0 */
    uint32_t n_fifos;
};

/* ---- hops left ---- */

/* The part of a dimension in the route word, from coordinate `from` to `to`; `ties` has a bit a dimension for even
 * rings. No branches in it: they would be random ones. */
static inline uint64_t set_out_along(const struct torus_routes *t, int d, uint32_t from, uint32_t to, uint32_t ties)
{
    uint32_t k = t->k[d], before = to < from, plus = to - from + (-before & k);
    uint32_t tie = (uint32_t)(2 * plus == k) & (ties >> d) & 1, back = (uint32_t)(2 * plus > k) | tie;
    uint32_t ring = t->ring[d], minus = ring ? back : before;
    uint32_t hops = (plus ^ -minus) + (-minus & (k + 1)), crosses = t->entry & ring & (before ^ minus);
    return (uint64_t)hops << t->shift[d] | (uint64_t)minus << (MINUS + d) | (uint64_t)crosses << (CROSSED + d);
}
/* Hops from router a to b. */
static inline uint64_t set_out(const struct torus_routes *t, uint32_t a, uint32_t b, uint32_t ties)
{
    uint64_t route = 0, from = t->place[a], to = t->place[b];
    for (int d = 0; d < t->n_dims; d++)
        route |= set_out_along(t, d, (uint32_t)(from >> t->at[d]) & t->coordinate[d],
                               (uint32_t)(to >> t->at[d]) & t->coordinate[d], ties);
    return route;
}

/* The second phase of Valiant's routing, from the router in between. */
static uint64_t second_phase(const struct torus_routes *t, uint64_t route, uint32_t router,
                             const struct fc_flit_head *head)
{
    uint64_t last = route & NO_PORT;
    return last | 1ull << PHASE | set_out(t, router, head->dst / t->per_router, head->random >> 8);
}

static uint64_t start(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                      const struct fc_flit_view *view)
{
    const struct torus_routes *t = flit->route_tables;
    uint32_t from = t->per_router == 1 ? src : src / t->per_router, to = t->per_router == 1 ? dst : dst / t->per_router;
    (void)view;
    if (t->two_phases) to = fc_route_below(fc_route_mix(random, 0), t->n_routers);
    return NO_PORT | set_out(t, from, to, random);
}

uint64_t fc_route_torus_along(const struct fc_flit_net *flit, int dim, int direction, uint32_t hops)
{
    const struct torus_routes *t = flit->route_tables;
    return NO_PORT | (uint64_t)hops << t->shift[dim] | (uint64_t)(direction == FC_MINUS) << (MINUS + dim);
}
bool fc_route_torus_goes_on(const struct fc_flit_net *flit, uint64_t route)
{
    const struct torus_routes *t = flit->route_tables;
    return (route & t->hops) != 0;
}

/* ---- choices ---- */

static inline int eject(const struct torus_routes *t, uint32_t router, const uint32_t *row, uint32_t dst,
                        uint64_t route, struct fc_flit_choice *out)
{
    out[0] =
        (struct fc_flit_choice){.route = route, .link = row[EJECTION] + (dst - router * t->per_router), .vcs = t->all};
    return 1;
}

/* The injection link of a node's vertex. */
static int inject(const struct fc_flit_net *flit, uint32_t vertex, const struct fc_flit_head *head, bool first_only,
                  struct fc_flit_choice *out)
{
    const struct torus_routes *t = flit->route_tables;
    uint64_t route = head->route;
    fc_route_inject(flit, vertex, route, out);
    if (t->n_fifos) out->vcs = t->fifo[fc_route_drawn(head->random, t->n_fifos)];
    if (!flit->own_fifos || t->n_fifos || !(route & t->hops)) return 1;
    out->vcs = 0;
    for (int d = t->dim_at[__builtin_ctzll(route)]; d < t->n_dims; d++) {
        if (route & t->field[d]) out->vcs |= t->fifos[2 * d + (int)(route >> (MINUS + d) & 1)];
        if (first_only) break;
    }
    return 1;
}

/* The route behind a hop in dimension d by port 2d + direction. */
static inline uint64_t after_hop(const struct torus_routes *t, uint32_t wraps, uint64_t route, int d, int port)
{
    uint64_t moved = (route & ~NO_PORT) - t->unit[d];
    return moved | (uint64_t)(wraps >> port & 1) << (CROSSED + d) | (uint64_t)port << LAST;
}

/* The hop in dimension d on the rule's channels. */
static inline void ruled_hop(const struct torus_routes *t, const uint32_t *row, uint64_t route, int d, int in_vc,
                             uint32_t random, struct fc_flit_choice *c)
{
    int port = 2 * d + (int)(route >> (MINUS + d) & 1);
    uint64_t after = after_hop(t, row[WRAPS], route, d, port);
    c->route = after;
    c->link = row[PORTS + port] + fc_route_below16(random >> 16, t->parallel[d]);
    c->vcs = t->vcs[route >> PHASE & 1][after >> (CROSSED + d) & 1][d];
    c->escape = 0;
    c->room_packets = 0;
    c->full_size = 0;
    if (!t->bubble) return;
    bool within = (int)(route >> LAST) == port && (c->vcs >> in_vc & 1);
    c->room_packets = within || !t->ring[d] ? 1 : 2;
    c->full_size = t->full_size;
}

/* A packet of high priority: dimension order on channels of its own, under the rule. */
static int high_choice(const struct fc_flit_net *flit, uint32_t router, int in_vc, const struct fc_flit_head *head,
                       struct fc_flit_choice *out)
{
    const struct torus_routes *t = flit->route_tables;
    const uint32_t *row = t->row + (size_t)router * t->width;
    uint64_t route = head->route;
    if (!(route & t->hops)) {
        eject(t, router, row, head->dst, route, out);
        out->vcs = flit->high_vcs;
        return 1;
    }
    int d = t->dim_at[__builtin_ctzll(route)], port = 2 * d + (int)(route >> (MINUS + d) & 1);
    ruled_hop(t, row, route, d, in_vc, head->random, out);
    out->vcs = t->high[out->route >> (CROSSED + d) & 1][d];
    bool within = (int)(route >> LAST) == port && (out->vcs >> in_vc & 1);
    if (t->bubble) out->room_packets = within || !t->ring[d] ? 1 : 2;
    return 1;
}

static int ordered_choices(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                           const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    const struct torus_routes *t = flit->route_tables;
    uint64_t route = head->route;
    (void)in_link;
    if (router >= t->n_routers) return inject(flit, router, head, true, out);
    if (__builtin_expect(flit->high_vcs >> in_vc & 1, 0)) return high_choice(flit, router, in_vc, head, out);
    const uint32_t *row = t->row + (size_t)router * t->width;
    if (t->two_phases && !(route & (t->hops | 1ull << PHASE))) route = second_phase(t, route, router, head);
    if (!(route & t->hops)) return eject(t, router, row, head->dst, route, out);
    int d = t->dim_at[__builtin_ctzll(route)];
    if (!t->plain) {
        ruled_hop(t, row, route, d, in_vc, head->random, out);
        return 1;
    }
    uint32_t port = 2 * (uint32_t)d + (uint32_t)(route >> (MINUS + d) & 1), wraps = row[WRAPS] >> port & 1;
    route = (route - t->unit[d]) | (uint64_t)wraps << (CROSSED + d);
    out[0] = (struct fc_flit_choice){
        .route = route, .link = row[PORTS + port], .vcs = t->vcs[0][route >> (CROSSED + d) & 1][d]};
    return 1;
}

/* The dimension of the escape: the first with hops left, or the first of those that move +. */
static inline int escape_dimension(const struct torus_routes *t, uint64_t route)
{
    int first = t->dim_at[__builtin_ctzll(route)];
    if (!t->plus_first) return first;
    for (int d = first; d < t->n_dims; d++)
        if ((route & t->field[d]) && !(route >> (MINUS + d) & 1)) return d;
    return first;
}

/* Every hop nearer on the adaptive channels. What has no hops left is written too and overwritten: a branch
 * would be guessed wrong every third time. */
static inline __attribute__((always_inline)) int free_hops(const struct torus_routes *t, const uint32_t *row,
                                                           uint64_t route, bool cables, struct fc_flit_choice *out)
{
    uint64_t bare = route & ~NO_PORT, wraps = row[WRAPS];
    uint16_t vcs = t->free_vcs;
    int n = 0, n_dims = t->n_dims;
    for (int d = 0; d < n_dims; d++) {
        uint64_t port = 2 * (uint64_t)d + (route >> (MINUS + d) & 1);
        bool more = (route & t->field[d]) != 0;
        uint64_t after = (bare + t->step[port]) | (wraps >> port & 1) << (CROSSED + d);
        out[n] = (struct fc_flit_choice){.route = after, .link = row[PORTS + port], .vcs = vcs};
        n += more;
        for (uint32_t p = 1; cables && more && p < t->parallel[d]; p++, n++) {
            out[n] = out[n - 1];
            out[n].link++;
        }
    }
    return n;
}

static int adaptive_choices(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                            const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    const struct torus_routes *t = flit->route_tables;
    uint64_t route = head->route;
    (void)in_link;
    if (router >= t->n_routers) return inject(flit, router, head, false, out);
    if (__builtin_expect(flit->high_vcs >> in_vc & 1, 0)) return high_choice(flit, router, in_vc, head, out);
    const uint32_t *row = t->row + (size_t)router * t->width;
    int n = 0;
    if (!(route & t->hops)) return eject(t, router, row, head->dst, route, out);
    n = t->one_cable ? free_hops(t, row, route, false, out) : free_hops(t, row, route, true, out);
    if (flit->n_escape_vcs == 0) return n;
    ruled_hop(t, row, route, escape_dimension(t, route), in_vc, head->random, &out[n]);
    out[n++].escape = 1;
    return n;
}

/* ---- tables ---- */

static enum fc_code fill_rows(struct fc_flit_net *flit, struct torus_routes *t, struct fc_status *st)
{
    const struct fc_network *net = flit->net;
    const struct fc_torus_shape *s = fc_torus(net);
    t->width = PORTS + 2 * (uint32_t)s->n_dims;
    t->row = fc_alloc(&flit->arena, (size_t)net->n_routers * t->width, sizeof *t->row, st);
    t->place = fc_alloc(&flit->arena, net->n_routers, sizeof *t->place, st);
    if (!t->row || !t->place) return st->code;
    for (uint32_t v = 0; v < net->n_routers; v++) {
        uint32_t *row = t->row + (size_t)v * t->width;
        row[EJECTION] = net->first_link[v + 1] - s->nodes_per_router;
        for (int d = 0; d < s->n_dims; d++) {
            uint32_t c = fc_torus_coordinate(s, v, d);
            t->place[v] |= (uint64_t)c << t->at[d];
            row[PORTS + 2 * d] = fc_torus_port(net, v, d, FC_PLUS);
            row[PORTS + 2 * d + 1] = fc_torus_port(net, v, d, FC_MINUS);
            if (s->ring[d] && c + 1 == s->k[d]) row[WRAPS] |= 1u << 2 * d;
            if (s->ring[d] && c == 0) row[WRAPS] |= 2u << 2 * d;
        }
    }
    return FC_OK;
}

/* `whole_rings`: with room for routes that go all but round a ring (multicast). */
static void lay_out_word(const struct fc_torus_shape *s, bool whole_rings, struct torus_routes *t)
{
    int at = 0, place = 0;
    t->one_cable = true;
    for (int d = 0; d < s->n_dims; d++) {
        int bits = fc_route_bits(s->ring[d] && !whole_rings ? s->k[d] / 2 : s->k[d] - 1);
        t->shift[d] = (uint8_t)at;
        t->unit[d] = 1ull << at;
        t->field[d] = ((1ull << bits) - 1) << at;
        t->hops |= t->field[d];
        for (int i = 0; i < bits; i++) t->dim_at[at++] = (uint8_t)d;
        t->k[d] = s->k[d];
        t->at[d] = (uint8_t)place;
        t->coordinate[d] = (1u << fc_route_bits(s->k[d] - 1)) - 1;
        place += fc_route_bits(s->k[d] - 1);
        t->ring[d] = s->ring[d];
        t->parallel[d] = s->parallel[d];
        t->one_cable = t->one_cable && t->parallel[d] == 1;
        for (int i = 2 * d; i < 2 * d + 2; i++) t->step[i] = ((uint64_t)i << LAST) - t->unit[d];
    }
}

/* Channels of the rule: `rep` each, for a pair on both sides of the dateline where there are rings at all. */
static void assign_channels(struct torus_routes *t, bool pair, bool phased, int rep)
{
    for (int phase = 0; phase < 2; phase++)
        for (int side = 0; side < 2; side++)
            for (int d = 0; d < t->n_dims; d++) {
                int first = phased ? phase * (pair ? 2 : 1) : 0;
                uint16_t mask = fc_flit_vc_mask(first + (pair ? side : 0), rep);
                if (pair && !t->ring[d]) mask = fc_flit_vc_mask(first, rep) | fc_flit_vc_mask(first + 1, rep);
                t->vcs[phase][side][d] = mask;
            }
}

/* The same for packets of high priority: one channel each. */
static void assign_high_channels(const struct fc_flit_net *flit, struct torus_routes *t, bool pair)
{
    int first = __builtin_ctz(flit->high_vcs);
    for (int side = 0; side < 2; side++)
        for (int d = 0; d < t->n_dims; d++)
            t->high[side][d] = pair && !t->ring[d] ? flit->high_vcs : (uint16_t)(1u << (first + (pair ? side : 0)));
}

/* Injection FIFOs of each direction (router.injection). */
static enum fc_code assign_fifos(struct fc_flit_net *flit, struct torus_routes *t, struct fc_status *st)
{
    int n_directions = 0, n_fifos = __builtin_popcount(flit->injection_vcs);
    uint32_t left = flit->injection_vcs;
    int injection = flit->net->machine->router.injection;
    flit->own_fifos = injection != FC_INJECTION_ANY;
    for (; injection == FC_INJECTION_RANDOM && left; left &= left - 1) t->fifo[t->n_fifos++] = (uint16_t)(left & -left);
    if (injection != FC_INJECTION_DIRECTION) return FC_OK;
    for (int d = 0; d < t->n_dims; d++) n_directions += t->k[d] > 1 ? 2 : 0;
    if (n_fifos < n_directions)
        return fc_route_refuse(flit, st,
                               "router.injection: direction: %d injection FIFOs for %d directions (expected "
                               "injection_fifos: %d or more)",
                               n_fifos, n_directions, n_directions);
    for (int port = 0; port < 2 * t->n_dims; port++)
        for (int i = 0; t->k[port / 2] > 1 && i < n_fifos / n_directions; i++) {
            t->fifos[port] |= (uint16_t)(left & -left);
            left &= left - 1;
        }
    return FC_OK;
}

static enum fc_code adaptive_channels(struct fc_flit_net *flit, struct torus_routes *t, int escapes,
                                      struct fc_status *st)
{
    int vcs = (int)flit->net->machine->router.vcs;
    uint32_t cables = 0;
    for (int d = 0; d < t->n_dims; d++) cables += t->parallel[d];
    if (cables + 1 > FC_FLIT_MOST_CHOICES)
        return fc_route_refuse(flit, st,
                               "network.links_per_dim: %u cables to choose from under adaptive routing (at most %d)",
                               cables, FC_FLIT_MOST_CHOICES - 1);
    if (fc_route_set_channels(flit, escapes + vcs, escapes, st)) return st->code;
    t->free_vcs = (uint16_t)(((1u << vcs) - 1) << escapes);
    flit->adaptive = true;
    return FC_OK;
}

static enum fc_code prepare(struct fc_flit_net *flit, bool adaptive, bool two_phases, struct fc_status *st)
{
    const struct fc_torus_shape *s = fc_torus(flit->net);
    struct torus_routes *t = fc_alloc(&flit->arena, 1, sizeof *t, st);
    bool any_ring = false, none = !strcmp(flit->vc_rule, "none");
    int rep = 1;
    if (!t) return st->code;
    flit->route_tables = t;
    t->n_dims = s->n_dims;
    t->n_routers = s->n_routers;
    t->per_router = s->nodes_per_router;
    lay_out_word(s, flit->net->machine->router.multicast == FC_MULTICAST_DEPOSIT, t);
    for (int d = 0; d < s->n_dims; d++) any_ring = any_ring || (s->ring[d] && s->k[d] > 1);
    t->bubble = fc_route_is_bubble(flit->vc_rule);
    t->full_size = t->bubble && !flit->bubble_as_published;
    t->plus_first = !strcmp(flit->vc_rule, "direction-ordered") || !strcmp(flit->vc_rule, "bubble-direction-ordered");
    t->two_phases = two_phases;
    t->plain = t->one_cable && !two_phases && !t->bubble;
    bool pair = !none && !t->bubble && any_ring;
    t->entry = pair && flit->net->machine->router.dateline == FC_DATELINE_ENTRY;
    int n_rule = (pair ? 2 : 1) * (two_phases && !none ? 2 : 1);
    if (adaptive    ? adaptive_channels(flit, t, none ? 0 : n_rule, st)
        : t->bubble ? fc_route_set_channels(flit, n_rule, n_rule, st)
                    : fc_route_data_channels(flit, n_rule, &rep, st))
        return st->code;
    if (flit->high_priority) {
        if (fc_route_add_high_channels(flit, pair ? 2 : 1, st)) return st->code;
        assign_high_channels(flit, t, pair);
    }
    assign_channels(t, pair, two_phases && !none, rep);
    t->all = fc_route_all(flit);
    if (assign_fifos(flit, t, st)) return st->code;
    return flit->figures ? FC_OK : fill_rows(flit, t, st);
}

static enum fc_code prepare_ordered(struct fc_flit_net *flit, struct fc_status *st)
{
    return prepare(flit, false, false, st);
}
static enum fc_code prepare_adaptive(struct fc_flit_net *flit, struct fc_status *st)
{
    return prepare(flit, true, false, st);
}
static enum fc_code prepare_valiant(struct fc_flit_net *flit, struct fc_status *st)
{
    return prepare(flit, false, true, st);
}

/* Ties of even rings; one of the cables on the way, where the deterministic choice is one. */
static bool words(const struct fc_flit_net *flit, struct fc_flit_words *out)
{
    const struct fc_torus_shape *s = fc_torus(flit->net);
    uint32_t bits = 0, cables = 1;
    if (flit->net->machine->router.injection == FC_INJECTION_RANDOM) return false;
    for (int d = 0; d < s->n_dims; d++) {
        if (s->ring[d] && s->k[d] > 1 && s->k[d] % 2 == 0) bits |= 1u << d;
        uint32_t a = cables, c = s->k[d] > 1 ? s->parallel[d] : 1;
        while (a % c) a += cables; /* least common multiple */
        cables = a;
        if (cables > FC_FLIT_MOST_WORDS) return false;
    }
    fc_route_tie_words(out, bits);
    if (flit->net->machine->routing->adaptive && flit->n_network_vcs > flit->n_escape_vcs) return true;
    out->n_way = cables;
    for (uint32_t i = 0; i < cables; i++) out->way[i] = (uint32_t)((i + 0.5) / cables * 65536) << 16;
    return true;
}
static uint32_t strata(const struct fc_flit_net *flit, int *tie_bits)
{
    const struct fc_torus_shape *s = fc_torus(flit->net);
    uint32_t cables = 1;
    *tie_bits = 0;
    for (int d = 0; d < s->n_dims; d++) {
        if (s->ring[d] && s->k[d] % 2 == 0) *tie_bits = d + 1;
        if (s->k[d] > 1) cables = s->parallel[d] > cables ? s->parallel[d] : cables;
    }
    return cables << *tie_bits;
}

static const char *const families[] = {"torus", "mesh", NULL};
const struct fc_flit_route_ops fc_route_torus_dimension_order = {
    .name = "dimension-order",
    .families = families,
    .prepare = prepare_ordered,
    .start = start,
    .choices = ordered_choices,
    .words = words,
    .strata = strata,
};
const struct fc_flit_route_ops fc_route_torus_adaptive = {
    .name = "adaptive",
    .families = families,
    .prepare = prepare_adaptive,
    .start = start,
    .choices = adaptive_choices,
    .words = words,
    .strata = strata,
};
const struct fc_flit_route_ops fc_route_torus_valiant = {
    .name = "valiant",
    .families = families,
    .prepare = prepare_valiant,
    .start = start,
    .choices = ordered_choices,
};

/* ---- the same as bit fields ---- */

bool fc_route_torus_fields(const struct fc_flit_net *flit, struct fc_route_fields *fields)
{
    const struct torus_routes *t = flit->route_tables;
    uint32_t most_hops = 1, n_ports, all;
    int at = 0;
    *fields = (struct fc_route_fields){.code_bits = 1};
    if (flit->route != &fc_route_torus_dimension_order || t->bubble || flit->own_fifos || t->all > UINT8_MAX)
        return false;
    n_ports = 2 * (uint32_t)t->n_dims;
    all = t->all;
    if (t->per_router > 64 - n_ports) return false;
    for (int d = 0; d < t->n_dims; d++) {
        uint32_t hops = t->ring[d] ? t->k[d] / 2 : t->k[d] - 1;
        if (t->parallel[d] > 1) return false;
        if (hops > most_hops) most_hops = hops;
        fields->at[d] = (uint8_t)at;
        fields->mask[d] = (1u << (fc_route_bits(2 * t->k[d] - 1) + 3)) - 1;
        if ((at += __builtin_popcount(fields->mask[d])) > 64) return false;
    }
    fields->n_dims = t->n_dims;
    fields->per_router = t->per_router;
    fields->n_outs = n_ports + t->per_router;
    fields->out_bits = (uint8_t)fc_route_bits(fields->n_outs - 1);
    fields->hop_bits = (uint8_t)fc_route_bits(most_hops - 1);
    int field = fields->out_bits + 1 + fields->hop_bits, bits = (t->n_dims + 1) * field;
    if (field > 32 || bits > 48) return false;
    fields->bits = (uint8_t)bits;
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t out = 0; out < fields->n_outs; out++)
            fields->vcs[side << fields->out_bits | out] = (uint8_t)(out < n_ports ? t->vcs[0][side][out / 2] : all);
    return true;
}
enum fc_code fc_route_torus_start_tables(const struct fc_flit_net *flit, struct fc_route_fields *fields,
                                         struct fc_arena *arena, struct fc_status *st)
{
    const struct torus_routes *t = flit->route_tables;
    if (!fc_route_torus_fields(flit, fields)) return fc_refuse(st, FC_FAULT, "the routing does not fit bit fields");
    uint64_t length = fields->out_bits + 1u + fields->hop_bits;
    if (!(fields->from = fc_alloc(arena, t->n_routers, sizeof *fields->from, st)) ||
        !(fields->to = fc_alloc(arena, t->n_routers, sizeof *fields->to, st)))
        return st->code;
    for (int d = 0; d < t->n_dims; d++) {
        uint32_t k = t->k[d], bits = (uint32_t)fc_route_bits(2 * t->k[d] - 1);
        uint64_t *table = fields->start[d] = fc_alloc(arena, 8ull << bits, sizeof *table, st);
        if (!table) return st->code;
        for (uint32_t ties = 0; ties < 1u << t->n_dims; ties++)
            fields->ties[ties] |= (uint64_t)(ties >> d & 1) << (fields->at[d] + bits + 2);
        for (uint32_t i = 0; i < 8u << bits; i++) {
            uint32_t x = i & ((1u << bits) - 1), edges = i >> bits & 3, tie = i >> bits >> 2;
            if (x == 0 || x >= 2 * k) continue;
            uint64_t way = set_out_along(t, d, x < k ? k - x : 0, x < k ? 0 : x - k, tie << d);
            uint64_t hops = (way & t->hops) >> t->shift[d], minus = way >> (MINUS + d) & 1;
            uint64_t far = (way >> (CROSSED + d) & 1) | (edges >> minus & 1), out = 2 * (uint64_t)d + minus;
            if (hops) table[i] = out | (far | (hops - 1) << 1) << fields->out_bits | length << 32 | hops << 48;
        }
        for (uint32_t r = 0; r < t->n_routers; r++) {
            uint64_t c = t->place[r] >> t->at[d] & t->coordinate[d];
            uint64_t edges = t->row[(size_t)r * t->width + WRAPS] >> 2 * d & 3;
            fields->from[r] |= (edges << bits | (k - c)) << fields->at[d];
            fields->to[r] |= c << fields->at[d];
        }
    }
    return FC_OK;
}
bool fc_route_torus_wraps(const struct fc_flit_net *flit, uint32_t router, uint32_t port)
{
    const struct torus_routes *t = flit->route_tables;
    return t->row[(size_t)router * t->width + WRAPS] >> port & 1;
}
uint32_t fc_route_torus_link(const struct fc_flit_net *flit, uint32_t router, uint32_t out)
{
    const struct torus_routes *t = flit->route_tables;
    const uint32_t *row = t->row + (size_t)router * t->width;
    uint32_t n_ports = 2 * (uint32_t)t->n_dims;
    return out < n_ports ? row[PORTS + out] : row[EJECTION] + (out - n_ports);
}

bool fc_route_torus_adaptive_fields(const struct fc_flit_net *flit, struct fc_route_adaptive *fields)
{
    const struct torus_routes *t = flit->route_tables;
    *fields = (struct fc_route_adaptive){0};
    if (flit->route != &fc_route_torus_adaptive || !t->one_cable) return false;
    for (int d = 0; d < t->n_dims; d++) /* every router has every port */
        if (!t->ring[d] || t->k[d] < 2) return false;
    fields->row = t->row;
    fields->hops = t->hops;
    fields->no_port = NO_PORT;
    fields->width = t->width;
    fields->per_router = t->per_router;
    fields->n_dims = t->n_dims;
    fields->minus = MINUS;
    fields->crossed = CROSSED;
    fields->last = LAST;
    fields->plus_first = t->plus_first;
    fields->bubble = t->bubble;
    fields->full_size = t->full_size;
    fields->free_vcs = t->free_vcs;
    memcpy(fields->dim_at, t->dim_at, sizeof fields->dim_at);
    memcpy(fields->field, t->field, sizeof fields->field);
    memcpy(fields->step, t->step, sizeof fields->step);
    memcpy(fields->ring, t->ring, sizeof fields->ring);
    for (int side = 0; side < 2 && flit->n_escape_vcs; side++)
        memcpy(fields->vcs[side], t->vcs[0][side], sizeof fields->vcs[side]);
    memcpy(fields->fifos, t->fifos, sizeof fields->fifos);
    memcpy(fields->fifo, t->fifo, sizeof fields->fifo);
    fields->n_fifos = t->n_fifos;
    return true;
}

enum fc_code fc_route_torus_adaptive_starts(const struct fc_flit_net *flit, struct fc_route_adaptive *fields,
                                            struct fc_arena *arena, struct fc_status *st)
{
    const struct torus_routes *t = flit->route_tables;
    fields->place = t->place;
    memcpy(fields->at, t->at, sizeof fields->at);
    memcpy(fields->coordinate, t->coordinate, sizeof fields->coordinate);
    memcpy(fields->k, t->k, sizeof fields->k);
    for (int d = 0; d < t->n_dims; d++) {
        uint32_t k = t->k[d];
        uint64_t *start = fields->start[d] = fc_alloc(arena, 4 * (size_t)k, sizeof *start, st);
        if (!start) return st->code;
        for (uint32_t x = 1; x < 2 * k; x++) /* k + to - from */
            for (uint32_t tie = 0; tie < 2; tie++)
                start[tie * 2 * k + x] = set_out_along(t, d, x < k ? k - x : 0, x < k ? 0 : x - k, tie << d);
    }
    return FC_OK;
}
