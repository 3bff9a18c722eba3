/* routes_spread.c - the loads of routings that send each message over the whole network as few sums, for a search:
 * indirect and UGAL on two-level networks (routes_spread_two_level.c), Valiant's on tori and meshes
 * (routes_spread_torus.c).
 *
 * What a flow adds to all loads is a sum of fixed vectors ("bundles"), which flows share. A move first sums bytes
 * by bundle, where much cancels, and then adds each changed bundle to the links once (search.c). Limit: tables of
 * up to FC_SPREAD_MOST_ENTRIES links in all. */
#include "mapping/routes_spread.h"

static const struct fc_spread_kind *const kinds[] = {&fc_spread_torus, &fc_spread_two_level};

static const struct fc_spread_kind *kind_of(const struct fc_sites *sites)
{
    for (size_t i = 0; i < FC_COUNT(kinds); i++)
        if (kinds[i]->serves(sites)) return kinds[i];
    return NULL;
}

uint64_t fc_spread_work(const struct fc_sites *sites)
{
    const struct fc_spread_kind *kind = kind_of(sites);
    return kind ? kind->work(sites) : 0;
}

bool fc_spread_fits(const struct fc_sites *sites)
{
    const struct fc_spread_kind *kind = sites->no_spread ? NULL : kind_of(sites);
    return kind && kind->fits(sites);
}

/* ---- bundles ---- */

/* Counts the entries, makes room and fills it. */
static enum fc_code make_bundles(struct fc_spread_maker *m, const struct fc_spread_kind *kind, struct fc_status *st)
{
    struct fc_routes *r = m->r;
    struct fc_route_spread *spread = &r->spread;
    for (int pass = 0; pass < 2 && !st->code; pass++) {
        m->total = 0;
        if (kind->make(m, st) || pass > 0) break;
        m->room = m->total + 1;
        spread->first = fc_alloc(&r->arena, spread->n_bundles + 1ull, sizeof *spread->first, st);
        spread->seconds = spread->first ? fc_alloc(&r->arena, spread->n_bundles, sizeof *spread->seconds, st) : NULL;
        spread->link = spread->seconds ? fc_alloc(&r->arena, m->room, sizeof *spread->link, st) : NULL;
        spread->weight = spread->link ? fc_alloc(&r->arena, m->room, sizeof *spread->weight, st) : NULL;
    }
    r->work += 2 * m->total;
    return st->code;
}

enum fc_code fc_spread_make(struct fc_routes *r, struct fc_status *st)
{
    const struct fc_spread_kind *kind = kind_of(r->sites);
    struct fc_arena scratch = {0};
    struct fc_spread_maker m = {.r = r, .net = r->sites->net};
    m.sum = fc_alloc(&scratch, r->n_links, sizeof *m.sum, st);
    m.list = m.sum ? fc_alloc(&scratch, r->n_links, sizeof *m.list, st) : NULL;
    if (m.list && !kind->start(r, st)) make_bundles(&m, kind, st);
    fc_arena_free(&scratch);
    return st->code;
}

double fc_spread_distance(const struct fc_routes *r, uint32_t a, uint32_t b)
{
    const struct fc_route_spread *s = &r->spread;
    double seconds =
        (r->out[a] == FC_NONE ? 0 : r->seconds[r->out[a]]) + (r->in[b] == FC_NONE ? 0 : r->seconds[r->in[b]]);
    if (fc_spread_is_local(s, a, b)) {
        uint32_t links[4];
        double weights[4];
        int n = fc_spread_local(r, a, b, links, weights);
        for (int i = 0; i < n; i++)
            if (r->number[links[i]] != FC_NONE) seconds += weights[i] * r->seconds[r->number[links[i]]];
        return seconds;
    }
    struct fc_spread_use use[FC_SPREAD_USES];
    fc_spread_uses(s, a, b, use);
    for (int i = 0; i < s->n_uses; i++) seconds += use[i].share * s->seconds[use[i].bundle];
    return seconds;
}
