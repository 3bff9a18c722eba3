/* routes.c - the routes between the places of a search: rings of a torus (routes_torus.c), a table, or the routing's
 * own walk.
 *
 * Dimension order on a torus or mesh with single cables needs no table. Other routings of networks that are small
 * enough get a table of all pairs. Limits: the table takes 8 bytes a pair and 4 or 8 a link of a route. */
#include "mapping/routes.h"

#include <string.h>

enum { MOST_ENTRIES = 12000000, MOST_TABLE_PLACES = 4096 };

static enum fc_code number_links(struct fc_routes *r, struct fc_status *st)
{
    const struct fc_network *net = r->sites->net;
    r->real = fc_alloc(&r->arena, net->n_links, sizeof *r->real, st);
    r->number = r->real ? fc_alloc(&r->arena, net->n_links, sizeof *r->number, st) : NULL;
    r->seconds = r->number ? fc_alloc(&r->arena, net->n_links, sizeof *r->seconds, st) : NULL;
    if (!r->seconds) return st->code;
    memset(r->number, 0xff, net->n_links * sizeof *r->number);
    return FC_OK;
}

/* ---- the table ---- */

double fc_sites_mean_route(const struct fc_sites *sites, struct fc_walk *walk)
{
    double total = 0;
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t a = sites->node[fc_random_below(1, FC_MAP_PROPOSALS, 2 * i, sites->n_nodes)];
        uint32_t b = sites->node[fc_random_below(1, FC_MAP_PROPOSALS, 2 * i + 1, sites->n_nodes)];
        walk->n = 0;
        if (a != b) sites->routing->walk(sites->net, a, b, 1, walk);
        total += walk->n;
    }
    return total / 64;
}

/* One pair's route to the table's end; false when that is full. */
static bool append_route(struct fc_routes *r, const struct fc_walk *walk, size_t pair, uint64_t room, bool *whole)
{
    uint32_t at = r->first[pair];
    double seconds = 0;
    for (uint32_t i = 0; i < walk->n; i++) {
        uint32_t l = r->number[walk->link[i]];
        if (l == FC_NONE) continue;
        if (at == room) return false;
        r->link[at] = l;
        r->share[at++] = (float)walk->weight[i];
        *whole = *whole && walk->weight[i] == 1;
        seconds += walk->weight[i] * r->seconds[l];
    }
    r->distance[pair] = (float)seconds;
    r->first[pair + 1] = at;
    return true;
}

/* Leaves out the links that no route of the table crosses, where they are most: a job on a few nodes of a large machine
 * pays for no others. The order stays. */
static enum fc_code drop_unused(struct fc_routes *r, struct fc_status *st)
{
    uint32_t n = 0, *now = fc_alloc(&r->arena, r->n_links, sizeof *now, st);
    size_t end = r->first[(size_t)r->n * r->n];
    if (!now) return st->code;
    for (size_t i = 0; i < end; i++) now[r->link[i]] = 1;
    for (uint32_t l = 0; l < r->n_links; l++) n += now[l];
    if (n > r->n_links / 2) return FC_OK;
    n = 0;
    for (uint32_t l = 0; l < r->n_links; l++) {
        bool used = now[l];
        r->number[r->real[l]] = used ? n : FC_NONE;
        now[l] = n;
        if (!used) continue;
        r->real[n] = r->real[l];
        r->seconds[n++] = r->seconds[l];
    }
    for (size_t i = 0; i < end; i++) r->link[i] = now[r->link[i]];
    r->n_links = n;
    return FC_OK;
}

/* Leaves the kind as it is when the table would be too large. */
static enum fc_code make_table(struct fc_routes *r, uint64_t most_work, struct fc_status *st)
{
    struct fc_walk walk;
    size_t n = r->n, pairs = n * n;
    if (n > MOST_TABLE_PLACES) return FC_OK;
    if (fc_walk_start(&walk, r->sites->routing->walk_capacity(r->sites->net), st)) return st->code;
    double entries = fc_sites_mean_route(r->sites, &walk) * (double)pairs * 1.1 + 1000;
    if (entries <= MOST_ENTRIES && entries <= (double)most_work) {
        uint64_t room = (uint64_t)entries;
        bool whole = true, fits = true;
        r->first = fc_alloc(&r->arena, pairs + 1, sizeof *r->first, st);
        r->link = r->first ? fc_alloc(&r->arena, room, sizeof *r->link, st) : NULL;
        r->share = r->link ? fc_alloc(&r->arena, room, sizeof *r->share, st) : NULL;
        r->distance = r->share ? fc_alloc(&r->arena, pairs, sizeof *r->distance, st) : NULL;
        for (size_t i = 0; r->distance && fits && i < n; i++)
            for (size_t j = 0; fits && j < n; j++) {
                walk.n = 0;
                if (i != j) r->sites->routing->walk(r->sites->net, r->sites->node[i], r->sites->node[j], 1, &walk);
                fits = append_route(r, &walk, i * n + j, room, &whole);
            }
        if (r->distance && fits) {
            r->kind = FC_ROUTES_TABLE;
            r->work += r->first[pairs];
            if (whole) r->share = NULL;
            drop_unused(r, st);
        }
    }
    fc_walk_free(&walk);
    return st->code;
}

enum fc_code fc_routes_make(const struct fc_sites *sites, uint64_t most_work, struct fc_routes *r, struct fc_status *st)
{
    *r = (struct fc_routes){.kind = FC_ROUTES_WALK, .sites = sites, .n = sites->n_nodes};
    if (fc_torus_has_rings(sites)) {
        r->kind = FC_ROUTES_RINGS;
        fc_torus_make_rings(r, st);
    } else if (!number_links(r, st)) {
        for (uint32_t l = 0; l < sites->net->n_links; l++) fc_routes_add_link(r, l);
        r->capacity = sites->routing->walk_capacity(sites->net);
        if (fc_spread_fits(sites)) {
            r->kind = FC_ROUTES_SPREAD;
            fc_spread_make(r, st);
        } else {
            make_table(r, most_work, st);
        }
    }
    if (st->code) fc_arena_free(&r->arena);
    return st->code;
}

void fc_routes_free(struct fc_routes *r)
{
    fc_arena_free(&r->arena);
    memset(r, 0, sizeof *r);
}
