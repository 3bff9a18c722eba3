/* transit_shapes.c - paths between nodes that lie to each other alike, kept once.
 *
 * On a network that looks the same from every router (tori; fc_routing_ops.displacement) the walk of a pair is
 * that of any other pair of its displacement, translated: so are the paths that it comes apart into, and which
 * of them a pair draws depends only on its random number (transit_routes.c). Kept are, of each displacement
 * that was asked for twice, the paths as ports and their weights summed up: a pair then costs a look-up for each of
 * its 8 points and a load for each link, instead of a walk over a box of three dimensions.
 *
 * Limits: MOST_BYTES of them (shapes of 65 536 nodes would not fit); paths of one displacement that differ in
 * length, and routers of more than 256 links, are not kept. */
#include "solvers/transit/transit_shapes.h"

#include <stdlib.h>

#define MOST_BYTES ((size_t)1 << 26)

enum fc_code fc_way_shapes_open(struct fc_way_shapes *s, const struct fc_network *net, struct fc_status *st)
{
    const struct fc_routing_ops *routing = net->machine->routing;
    *s = (struct fc_way_shapes){0};
    uint32_t n = routing->n_displacements ? routing->n_displacements(net) : 0;
    for (uint32_t v = 0; v < net->n_vertices; v++)
        if (net->first_link[v + 1] - net->first_link[v] > 256) n = 0;
    if (n == 0) return FC_OK;
    s->shape = calloc(n, sizeof(struct fc_way_shape *));
    s->asked = calloc(n, sizeof *s->asked);
    if (!s->shape || !s->asked) return fc_out_of_memory(st, "the routes of the job");
    s->n_displacements = n;
    return FC_OK;
}

void fc_way_shapes_close(struct fc_way_shapes *s)
{
    for (uint32_t i = 0; i < s->n_displacements; i++) free(s->shape[i]);
    free(s->shape);
    free(s->asked);
    *s = (struct fc_way_shapes){0};
}

struct fc_way_shape *fc_way_shape_new(struct fc_way_shapes *s, uint32_t displacement, uint32_t n, uint32_t n_hops)
{
    size_t bytes = sizeof(struct fc_way_shape) + 2 * (size_t)n * sizeof(double) + (size_t)n * n_hops;
    if (s->bytes + bytes > MOST_BYTES) return NULL;
    struct fc_way_shape *shape = malloc(bytes);
    if (!shape) return NULL;
    s->bytes += bytes;
    shape->n = n;
    shape->n_hops = n_hops;
    shape->seen = (double *)(shape + 1);
    shape->head_s = shape->seen + n;
    shape->port = (uint8_t *)(shape->head_s + n);
    s->shape[displacement] = shape;
    return shape;
}

void fc_way_shape_guide(struct fc_way_shape *shape)
{
    uint32_t i = 0;
    for (uint32_t k = 0; k < FC_SHAPE_GUIDES; k++) {
        double x8 = (double)k * 8 / FC_SHAPE_GUIDES;
        while (i + 1 < shape->n && !(x8 < shape->seen[i] * 8)) i++;
        shape->guide[k] = i;
    }
}
