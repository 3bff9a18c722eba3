/* route_tmesh.c - dimension-order routing of packets on tori of mesh chips (Liu, Xun, Cao & Sun, TMesh,
 * section 3.1.2).
 *
 * Torus dimensions in order by a shortest way round, fixed at the source (ties by a random bit of the
 * packet); on every chip straight over the mesh, in mesh_order, to the bridge of the next torus hop and at
 * last to the node. Virtual channels by the rules shared, separate and six-vc of docs/deadlock.md. router.vcs
 * counts the channels of a torus link, a dateline pair of vcs/2 each; the mesh has as many classes as the
 * rule needs, of vcs/2 channels each too.
 *
 * Route word, low bits first: hops left in each torus dimension, mesh node of the destination, from bit 42
 * one bit a dimension each for - and for the far side of the dateline, the dimension of the last torus hop
 * (15: none yet). */
#include "models/deadlock/cdg.h"
#include "models/family_tmesh.h"
#include "solvers/flit/route.h"

#include <string.h>

enum { MINUS = 42, CROSSED = 50, LAST = 58, NO_DIM = 15 };

struct tmesh_routes {
    const struct fc_tmesh_shape *shape;
    const struct fc_tmesh_tables *tables;
    uint64_t hops, mesh_mask;
    uint64_t field[FC_MAX_DIMS], unit[FC_MAX_DIMS];
    uint8_t shift[FC_MAX_DIMS], dim_at[64];
    int mesh_shift, policy, rep;
    uint32_t *chip, *mesh_node; /* [n_routers] */
    uint32_t *row, *column;     /* [n_mesh] */
    uint16_t *wraps;            /* [n_chips] bit 2d + direction where that torus link crosses a dateline */
    uint16_t all;
};

static uint64_t start(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                      const struct fc_flit_view *view)
{
    const struct tmesh_routes *t = flit->route_tables;
    const struct fc_tmesh_shape *s = t->shape;
    uint32_t a = src / s->n_computing, b = dst / s->n_computing;
    uint64_t route = (uint64_t)t->tables->computing[dst - b * s->n_computing] << t->mesh_shift | (uint64_t)NO_DIM
                                                                                                     << LAST;
    (void)view;
    for (int d = 0; d < s->n_dims; d++) {
        uint32_t k = s->k[d], from = a % k, to = b % k, plus = to >= from ? to - from : to + k - from;
        bool minus = 2 * plus == k ? random >> d & 1 : 2 * plus > k;
        a /= k;
        b /= k;
        route |= (uint64_t)(minus && plus ? k - plus : plus) << t->shift[d];
        route |= (uint64_t)(minus && plus) << (MINUS + d);
    }
    return route;
}

/* Class of the mesh channels that the packet takes on this chip; d: dimension it leaves by, or NO_DIM. */
static inline int mesh_class(const struct tmesh_routes *t, uint64_t route, int d)
{
    int last = (int)(route >> LAST & 15), side = last == NO_DIM ? 0 : (int)(route >> (CROSSED + last) & 1);
    switch (t->policy) {
    case FC_TMESH_SIX_VC:
        if (d != NO_DIM) return 2 * d + (int)(route >> (CROSSED + d) & 1);
        return last == NO_DIM ? 0 : 2 * last + side;
    case FC_TMESH_SEPARATE: return d == NO_DIM ? 3 : last == NO_DIM ? 2 : side;
    default: return side;
    }
}

/* Local link from mesh node m one hop towards another one. */
static inline uint32_t mesh_step(const struct tmesh_routes *t, uint32_t m, uint32_t to)
{
    bool along_row = t->shape->mesh_order == FC_ROW_FIRST ? t->column[m] != t->column[to] : t->row[m] == t->row[to];
    int port =
        along_row ? (t->column[m] < t->column[to] ? FC_EAST : FC_WEST) : (t->row[m] < t->row[to] ? FC_SOUTH : FC_NORTH);
    return t->tables->mesh_port[m][port];
}

static int choices(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                   const struct fc_flit_head *head, struct fc_flit_choice *out)
{
    const struct tmesh_routes *t = flit->route_tables;
    const struct fc_tmesh_shape *s = t->shape;
    uint64_t route = head->route;
    (void)in_link, (void)in_vc;
    if (router >= flit->n_routers) return fc_route_inject(flit, router, route, out);
    uint32_t chip = t->chip[router], m = t->mesh_node[router], base = chip * s->chip_links, link;
    int d = route & t->hops ? t->dim_at[__builtin_ctzll(route)] : NO_DIM;
    int way = d == NO_DIM ? 0 : (int)(route >> (MINUS + d) & 1);
    uint32_t to = d == NO_DIM ? (uint32_t)(route >> t->mesh_shift & t->mesh_mask) : s->bridge[d][way];
    uint16_t vcs;
    if (m != to) {
        link = base + mesh_step(t, m, to);
        vcs = fc_flit_vc_mask(mesh_class(t, route, d), t->rep);
    } else if (d == NO_DIM) {
        link = base + t->tables->ejection[head->dst - chip * s->n_computing];
        vcs = t->all;
    } else {
        link = base + t->tables->torus_port[d][way];
        route = (route & ~(15ull << LAST)) - t->unit[d];
        route |= (uint64_t)d << LAST | (uint64_t)(t->wraps[chip] >> (2 * d + way) & 1) << (CROSSED + d);
        vcs = fc_flit_vc_mask((int)(route >> (CROSSED + d) & 1), t->rep);
    }
    out[0] = (struct fc_flit_choice){.route = route, .link = link, .vcs = vcs};
    return 1;
}

static void fill_tables(struct tmesh_routes *t, uint32_t n_routers)
{
    const struct fc_tmesh_shape *s = t->shape;
    int at = 0;
    for (int d = 0; d < s->n_dims; d++) {
        int bits = fc_route_bits(s->k[d] / 2);
        t->shift[d] = (uint8_t)at;
        t->unit[d] = 1ull << at;
        t->field[d] = ((1ull << bits) - 1) << at;
        t->hops |= t->field[d];
        for (int i = 0; i < bits; i++) t->dim_at[at++] = (uint8_t)d;
    }
    t->mesh_shift = at;
    t->mesh_mask = (1ull << fc_route_bits(s->n_mesh - 1)) - 1;
    for (uint32_t r = 0; r < n_routers; r++) t->chip[r] = r / s->n_mesh, t->mesh_node[r] = r % s->n_mesh;
    for (uint32_t m = 0; m < s->n_mesh; m++) t->row[m] = m / s->columns, t->column[m] = m % s->columns;
    for (uint32_t chip = 0; chip < s->n_chips; chip++)
        for (int d = 0; d < s->n_dims; d++) {
            uint32_t c = fc_tmesh_coordinate(s, chip, d);
            if (c + 1 == s->k[d]) t->wraps[chip] |= (uint16_t)(1u << 2 * d);
            if (c == 0) t->wraps[chip] |= (uint16_t)(2u << 2 * d);
        }
}

static enum fc_code prepare(struct fc_flit_net *flit, struct fc_status *st)
{
    struct tmesh_routes *t = fc_alloc(&flit->arena, 1, sizeof *t, st);
    int rep, n_classes;
    if (!t) return st->code;
    flit->route_tables = t;
    t->shape = fc_tmesh(flit->net);
    t->tables = fc_tmesh_tables(flit->net);
    t->policy = !strcmp(flit->vc_rule, "shared")     ? FC_TMESH_SHARED
                : !strcmp(flit->vc_rule, "separate") ? FC_TMESH_SEPARATE
                                                     : FC_TMESH_SIX_VC;
    n_classes = fc_tmesh_vcs(flit->net, t->policy);
    if (fc_route_data_channels(flit, 2, &rep, st) || fc_route_set_channels(flit, n_classes * rep, n_classes * rep, st))
        return st->code;
    t->rep = rep;
    t->all = fc_route_all(flit);
    if (flit->figures) return FC_OK;
    t->chip = fc_alloc(&flit->arena, flit->n_routers, sizeof *t->chip, st);
    t->mesh_node = fc_alloc(&flit->arena, flit->n_routers, sizeof *t->mesh_node, st);
    t->row = fc_alloc(&flit->arena, t->shape->n_mesh, sizeof *t->row, st);
    t->column = fc_alloc(&flit->arena, t->shape->n_mesh, sizeof *t->column, st);
    t->wraps = fc_alloc(&flit->arena, t->shape->n_chips, sizeof *t->wraps, st);
    if (st->code) return st->code;
    fill_tables(t, flit->n_routers);
    return FC_OK;
}

static bool words(const struct fc_flit_net *flit, struct fc_flit_words *out)
{
    const struct fc_tmesh_shape *s = fc_tmesh(flit->net);
    uint32_t bits = 0;
    for (int d = 0; d < s->n_dims; d++)
        if (s->k[d] % 2 == 0) bits |= 1u << d;
    fc_route_tie_words(out, bits);
    return true;
}
static uint32_t strata(const struct fc_flit_net *flit, int *tie_bits)
{
    const struct fc_tmesh_shape *s = fc_tmesh(flit->net);
    *tie_bits = 0;
    for (int d = 0; d < s->n_dims; d++)
        if (s->k[d] % 2 == 0) *tie_bits = d + 1;
    return 1u << *tie_bits;
}

static const char *const families[] = {"tmesh", NULL};
const struct fc_flit_route_ops fc_route_tmesh = {
    .name = "dimension-order",
    .families = families,
    .prepare = prepare,
    .start = start,
    .choices = choices,
    .words = words,
    .strata = strata,
};
