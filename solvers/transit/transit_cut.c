/* transit_cut.c - how fast a message can be whatever paths its packets take.
 *
 * Where all paths to a vertex are equally long, every packet crosses one of the links that start d hops from the source, for each d.
 * So no split of a message over its paths is faster than
 *
 *     R = min over d of sum over the walk's links l that start d hops from the source of b_l
 *
 * (cuts of Ford & Fulkerson 1956). On a torus with equal links the first and last hops bind: R is the bandwidth of a link times the dimensions
 * in which the two nodes differ, twice that where both ways round are short.
 *
 * Limits: other cuts may be narrower. Bandwidth without what a background takes of it. */
#include "solvers/transit/transit_cut.h"

#include "core/array.h"
#include "solvers/transit/transit_fifos.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum fc_code fc_cuts_open(struct fc_cuts *c, const struct fc_network *net, struct fc_status *st)
{
    c->depth = malloc((size_t)net->n_vertices * sizeof *c->depth);
    c->seen = calloc((size_t)net->n_links + 1, sizeof *c->seen);
    if (!c->depth || !c->seen) return fc_out_of_memory(st, "the routes of the job");
    memset(c->depth, 0xff, (size_t)net->n_vertices * sizeof *c->depth);
    return FC_OK;
}

void fc_cuts_close(struct fc_cuts *c)
{
    free(c->depth);
    free(c->seen);
    free(c->bytes_per_s);
    *c = (struct fc_cuts){0};
}

/* Sums up the links by distance: how many distances, 0: paths of unlike lengths, or out of memory. */
static uint32_t sum_up(struct fc_cuts *c, const struct fc_network *net, const struct fc_walk *walk,
                       struct fc_status *st)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < walk->n; i++) {
        uint32_t link = walk->link[i], depth = c->depth[net->link_source[link]], to = net->link_target[link];
        if (depth == FC_NONE || (c->depth[to] != FC_NONE && c->depth[to] != depth + 1)) return 0;
        c->depth[to] = depth + 1;
        if (c->seen[link]) continue;
        c->seen[link] = true;
        if (depth == n) {
            if (!FC_GROW(c->bytes_per_s, c->capacity, n + 1)) return fc_out_of_memory(st, "the routes of the job"), 0;
            c->bytes_per_s[n++] = 0;
        }
        c->bytes_per_s[depth] += fc_link_bandwidth(net, link);
    }
    return n;
}

double fc_cut_of_walk(struct fc_cuts *c, const struct fc_network *net, uint32_t src, const struct fc_walk *walk,
                      struct fc_status *st)
{
    double least = INFINITY;
    c->depth[fc_node_vertex(net, src)] = 0;
    uint32_t n = sum_up(c, net, walk, st);
    for (uint32_t d = 0; d < n; d++) least = fmin(least, c->bytes_per_s[d]);
    c->depth[fc_node_vertex(net, src)] = FC_NONE;
    for (uint32_t i = 0; i < walk->n; i++) {
        c->depth[net->link_target[walk->link[i]]] = FC_NONE;
        c->seen[walk->link[i]] = false;
    }
    return st->code ? NAN : least;
}

uint32_t fc_out_of_walk(const struct fc_network *net, uint32_t src, const struct fc_walk *walk, uint32_t most,
                        uint32_t *link)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < walk->n && n < most; i++) {
        uint32_t l = walk->link[i], k = 0;
        if (fc_is_node(net, net->link_source[l]) || !fc_fifos_feed(net, src, l)) continue;
        while (k < n && link[k] != l) k++;
        if (k == n) link[n++] = l;
    }
    return n;
}
