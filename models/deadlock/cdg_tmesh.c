/* cdg_tmesh.c - channel dependencies of dimension order on tori of mesh chips, one template for all chips.
 *
 * Every on-chip route is a segment: from a core or an arrival (dimension, direction, side of the dateline)
 * over mesh links of one virtual channel to a core or a departure. Which arrivals a chip sees depends on
 * its coordinates alone, by the ring arithmetic of cdg_torus.c (dateline between k-1 and 0, the link that
 * crosses it is of channel 1 already), and arrivals of different dimensions are independent. So the
 * dependencies of one chip are worked out once, each with the set of arrivals that bring it about, and
 * written for every chip where one of them occurs: O(chips * template). */
#include "core/array.h"
#include "models/deadlock/cdg.h"
#include "models/family_tmesh.h"

#include <stdlib.h>

const struct fc_routing_ops *const fc_tmesh_routings[] = {&fc_routing_tmesh, NULL};

/* A channel relative to a chip. index: mesh link (local) and vc; arrival and departure: 2 * dim +
 * direction and the side of the dateline before the link (departure) or on it (arrival); terminals: rank
 * on the chip. */
enum place_kind { MESH, ARRIVAL, DEPARTURE, INJECTION, EJECTION };
static inline uint64_t place(enum place_kind kind, uint32_t index, uint32_t vc)
{
    return (uint64_t)kind << 48 | (uint64_t)index << 16 | vc;
}
static inline enum place_kind kind_of(uint64_t p)
{
    return (enum place_kind)(p >> 48);
}
static inline uint32_t index_of(uint64_t p)
{
    return (uint32_t)(p >> 16);
}
static inline uint32_t vc_of(uint64_t p)
{
    return (uint32_t)p & 0xffff;
}

/* reasons: bit 2 * (2 dim + direction) + side: packets that arrive so and turn or end here; the same bit +
 * 32: those that go on in their dimension. Traffic from the chip's own cores is always there. */
struct arc {
    uint64_t from, to, reasons;
    bool always;
};
struct template
{
    const struct fc_network *net;
    const struct fc_tmesh_shape *s;
    int policy;
    struct arc *arcs;
    size_t n, capacity;
    bool full;     /* out of memory */
    uint32_t *met; /* [chip_links] the last tree that has the link */
    uint32_t trees;
};
#define GOES_ON 32

static int compare_arcs(const void *a, const void *b)
{
    const struct arc *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

/* Sorts and joins arcs that are the same. */
static void compact(struct template *t)
{
    size_t kept = 0;
    if (t->n == 0) return;
    qsort(t->arcs, t->n, sizeof *t->arcs, compare_arcs);
    for (size_t i = 0; i < t->n; i++) {
        if (kept && compare_arcs(&t->arcs[kept - 1], &t->arcs[i]) == 0) {
            t->arcs[kept - 1].reasons |= t->arcs[i].reasons;
            t->arcs[kept - 1].always |= t->arcs[i].always;
        } else {
            t->arcs[kept++] = t->arcs[i];
        }
    }
    t->n = kept;
}

static void add_arc(struct template *t, uint64_t from, uint64_t to, uint64_t reasons, bool always)
{
    if (t->n == t->capacity) {
        compact(t);
        if (2 * t->n >= t->capacity && !FC_GROW(t->arcs, t->capacity, t->capacity + 1)) t->full = true;
    }
    if (!t->full) t->arcs[t->n++] = (struct arc){from, to, reasons, always};
}

/* The dependencies of one segment: `from`, the mesh links from mesh node a to b on channel vc, `to`. */
static void add_segment(struct template *t, uint64_t from, uint32_t a, uint32_t b, uint32_t vc, uint64_t to,
                        uint64_t reasons, bool always)
{
    uint32_t path[2 * FC_TMESH_MOST_LINES], n = fc_tmesh_mesh_path(t->net, a, b, path);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t link = place(MESH, path[i], vc);
        add_arc(t, from, link, reasons, always);
        from = link;
    }
    add_arc(t, from, to, reasons, always);
}

/* The dependencies of the segments from mesh node a to all cores but `except`: a tree, each of its arcs
 * once. */
static void add_tree(struct template *t, uint64_t from, uint32_t a, uint32_t except, uint32_t vc, uint64_t reasons,
                     bool always)
{
    const uint32_t *node = fc_tmesh_tables(t->net)->computing;
    uint32_t path[2 * FC_TMESH_MOST_LINES], tree = ++t->trees;
    for (uint32_t e = 0; e < t->s->n_computing; e++) {
        if (e == except) continue;
        uint32_t n = fc_tmesh_mesh_path(t->net, a, node[e], path);
        uint64_t to = place(EJECTION, e, 0);
        bool known = false;
        for (uint32_t i = n; i > 0 && !known; i--) {
            add_arc(t, place(MESH, path[i - 1], vc), to, reasons, always);
            to = place(MESH, path[i - 1], vc);
            known = t->met[path[i - 1]] == tree;
            t->met[path[i - 1]] = tree;
        }
        if (!known) add_arc(t, from, to, reasons, always);
    }
}

/* ---- the mesh channel of a segment ---- */

static uint32_t vc_from_core(int policy, int dim)
{
    return policy == FC_TMESH_SHARED ? 0 : policy == FC_TMESH_SEPARATE ? 2 : 2 * (uint32_t)dim;
}
static uint32_t vc_on_chip(int policy)
{
    return policy == FC_TMESH_SEPARATE ? 3 : 0;
}
static uint32_t vc_straight(int policy, int dim, int side)
{
    return policy == FC_TMESH_SIX_VC ? 2 * (uint32_t)dim + (uint32_t)side : (uint32_t)side;
}
static uint32_t vc_turn(int policy, int side, int to_dim)
{
    return policy == FC_TMESH_SIX_VC ? 2 * (uint32_t)to_dim : (uint32_t)side;
}
static uint32_t vc_to_core(int policy, int dim, int side)
{
    return policy == FC_TMESH_SEPARATE ? 3 : vc_straight(policy, dim, side);
}

bool fc_tmesh_chosen(const struct fc_machine *machine, int policy)
{
    return (int)((const struct fc_tmesh_shape *)machine->shape)->vc_policy == policy;
}

int fc_tmesh_vcs(const struct fc_network *net, int policy)
{
    return policy == FC_TMESH_SHARED ? 2 : policy == FC_TMESH_SEPARATE ? 4 : 2 * fc_tmesh(net)->n_dims;
}

int fc_tmesh_data_vcs(const struct fc_network *net, int policy)
{
    (void)net, (void)policy;
    return 2;
}

/* ---- the template ---- */

static void from_cores(struct template *t)
{
    const struct fc_tmesh_shape *s = t->s;
    const uint32_t *node = fc_tmesh_tables(t->net)->computing;
    for (uint32_t c = 0; c < s->n_computing; c++) {
        uint64_t from = place(INJECTION, c, 0);
        add_tree(t, from, node[c], c, vc_on_chip(t->policy), 0, true);
        for (int d = 0; d < s->n_dims; d++)
            for (int way = 0; way < 2 && s->k[d] > 1; way++)
                add_segment(t, from, node[c], s->bridge[d][way], vc_from_core(t->policy, d),
                            place(DEPARTURE, (uint32_t)(2 * d + way), 0), 0, true);
    }
}

static void from_arrival(struct template *t, int d, int way, int side)
{
    const struct fc_tmesh_shape *s = t->s;
    uint32_t port = (uint32_t)(2 * d + way), entry = fc_tmesh_entry(s, d, way);
    uint64_t from = place(ARRIVAL, port, (uint32_t)side), reason = 1ull << (2 * port + (uint32_t)side);
    add_segment(t, from, entry, s->bridge[d][way], vc_straight(t->policy, d, side),
                place(DEPARTURE, port, (uint32_t)side), reason << GOES_ON, false);
    for (int j = d + 1; j < s->n_dims; j++)
        for (int turn = 0; turn < 2 && s->k[j] > 1; turn++)
            add_segment(t, from, entry, s->bridge[j][turn], vc_turn(t->policy, side, j),
                        place(DEPARTURE, (uint32_t)(2 * j + turn), 0), reason, false);
    add_tree(t, from, entry, FC_NONE, vc_to_core(t->policy, d, side), reason, false);
}

static enum fc_code make_template(struct template *t, struct fc_status *st)
{
    t->met = calloc(t->s->chip_links, sizeof *t->met);
    if (!t->met) return fc_out_of_memory(st, "the dependencies of a chip");
    from_cores(t);
    for (int d = 0; d < t->s->n_dims; d++)
        for (int way = 0; way < 2 && t->s->k[d] > 1; way++)
            for (int side = 0; side < 2; side++) from_arrival(t, d, way, side);
    if (t->full) return fc_out_of_memory(st, "the dependencies of a chip");
    compact(t);
    return FC_OK;
}

/* ---- every chip ---- */

/* c: coordinate, mirrored where the packet moves in -. */
static uint64_t reasons_at(const struct fc_tmesh_shape *s, uint32_t chip)
{
    uint64_t reasons = 0;
    for (int d = 0; d < s->n_dims; d++)
        for (int way = 0; way < 2 && s->k[d] > 1; way++) {
            uint32_t k = s->k[d], reach = fc_tmesh_reach(s, d), c = fc_tmesh_coordinate(s, chip, d);
            if (way == FC_TMESH_MINUS) c = k - 1 - c;
            uint64_t bit = 1ull << (4 * d + 2 * way);
            if (c > 0) reasons |= bit | (reach >= 2 ? bit << GOES_ON : 0);
            if (c < reach) reasons |= bit << 1;
            if (c + 2 <= reach) reasons |= bit << 1 << GOES_ON;
        }
    return reasons;
}

static uint32_t channel_at(const struct template *t, const struct fc_cdg *cdg, uint32_t chip, uint64_t p)
{
    const struct fc_tmesh_shape *s = t->s;
    const struct fc_tmesh_tables *tables = fc_tmesh_tables(t->net);
    uint32_t index = index_of(p), vc = vc_of(p), link;
    int dim = (int)index / 2, way = (int)index % 2;
    switch (kind_of(p)) {
    case MESH: link = chip * s->chip_links + index; break;
    case ARRIVAL: link = fc_tmesh_neighbour(s, chip, dim, !way) * s->chip_links + tables->torus_port[dim][way]; break;
    case DEPARTURE: {
        uint32_t c = fc_tmesh_coordinate(s, chip, dim);
        if (c == (way == FC_TMESH_PLUS ? s->k[dim] - 1 : 0)) vc = 1;
        link = chip * s->chip_links + tables->torus_port[dim][way];
        break;
    }
    case INJECTION: link = t->net->first_link[t->net->n_routers + chip * s->n_computing + index]; break;
    default: link = chip * s->chip_links + tables->ejection[index]; break;
    }
    return fc_cdg_channel(cdg, link, vc);
}

enum fc_code fc_tmesh_dependencies(const struct fc_network *net, int policy, struct fc_cdg *cdg, struct fc_status *st)
{
    struct template t = {.net = net, .s = fc_tmesh(net), .policy = policy};
    if (cdg->pass == FC_CDG_HUBS || make_template(&t, st)) {
        free(t.arcs), free(t.met);
        return st->code;
    }
    for (uint32_t chip = 0; chip < t.s->n_chips; chip++) {
        uint64_t reasons = reasons_at(t.s, chip);
        for (size_t i = 0; i < t.n; i++)
            if (t.arcs[i].always || (t.arcs[i].reasons & reasons))
                fc_cdg_add(cdg, channel_at(&t, cdg, chip, t.arcs[i].from), channel_at(&t, cdg, chip, t.arcs[i].to));
    }
    free(t.arcs), free(t.met);
    return FC_OK;
}
