/* family_torus.h - shape and index arithmetic of tori and meshes (family_torus.c, routing_torus_*.c, vc_*.c). */
#pragma once

#include "models/models.h"

/* Router v has coordinates c_i = (v / stride[i]) % k[i]: dimension 0 (x) varies fastest. Node = router *
 * nodes_per_router + t. Router links lie in the order dimension, direction (+ then -), parallel cable; ejection links
 * come last. A wrapped dimension of size 2 has a + and a - link to the same neighbour; of size 1 none. */
struct fc_torus_shape {
    struct fc_ints dims, links_per_dim, wrap; /* as in the file; wrap: 1 ring, 0 line */
    long long longest_line;                   /* 0: lines and rings of any length */
    /* Derived by check: */
    int n_dims;              /* where dimensions are folded, more than in the file */
    int of[FC_MAX_DIMS];     /* dimension of the file that each belongs to, */
    bool folds[FC_MAX_DIMS]; /* and whether it holds the lines that one is folded into */
    uint32_t k[FC_MAX_DIMS], stride[FC_MAX_DIMS], parallel[FC_MAX_DIMS];
    bool ring[FC_MAX_DIMS];
    int dim_class[FC_MAX_DIMS]; /* link class of each dimension */
    uint32_t n_routers, nodes_per_router;
};
/* net->extra: */
struct fc_torus_tables {
    uint32_t
        *port; /* [n_routers][n_dims][2] first parallel link of (dimension, direction 0 + 1 -), FC_NONE at an edge */
};
enum { FC_PLUS = 0, FC_MINUS = 1 };

extern const struct fc_family_ops fc_family_torus, fc_family_mesh;
extern const struct fc_routing_ops fc_routing_dimension_order, fc_routing_adaptive, fc_routing_valiant;
/* The shape of a torus or mesh; NULL: the machine is of another family. */
static inline const struct fc_torus_shape *fc_machine_torus(const struct fc_machine *machine)
{
    return machine->family == &fc_family_torus || machine->family == &fc_family_mesh ? machine->shape : NULL;
}
static inline const struct fc_torus_shape *fc_torus(const struct fc_network *net)
{
    return fc_machine_torus(net->machine);
}
/* Of a torus or mesh. */
static inline uint32_t fc_torus_port(const struct fc_network *net, uint32_t router, int dim, int direction)
{
    const struct fc_torus_shape *s = net->machine->shape;
    const struct fc_torus_tables *tables = net->extra;
    return tables->port[(router * (uint32_t)s->n_dims + (uint32_t)dim) * 2 + (uint32_t)direction];
}
/* A parallel cable behind the first of its bundle, over which every route spreads evenly: what one of them carries, all do.
 * False for other links, and on networks of other families. */
static inline bool fc_torus_is_further_cable(const struct fc_network *net, uint32_t link)
{
    const struct fc_torus_shape *s = fc_torus(net);
    uint32_t router = net->link_source[link];
    for (int port = 0; s && router < s->n_routers && port < 2 * s->n_dims; port++) {
        uint32_t first = fc_torus_port(net, router, port / 2, port % 2);
        if (first != FC_NONE && link > first && link - first < s->parallel[port / 2]) return true;
    }
    return false;
}
static inline uint32_t fc_torus_coordinate(const struct fc_torus_shape *s, uint32_t router, int dim)
{
    return router / s->stride[dim] % s->k[dim];
}
/* The neighbour in that direction (wrapping whether or not the link exists). */
static inline uint32_t fc_torus_neighbour(const struct fc_torus_shape *s, uint32_t router, int dim, int direction)
{
    uint32_t c = fc_torus_coordinate(s, router, dim), k = s->k[dim];
    uint32_t to = direction == FC_PLUS ? (c + 1 == k ? 0 : c + 1) : (c == 0 ? k - 1 : c - 1);
    return router + to * s->stride[dim] - c * s->stride[dim];
}
/* Minimal hops from coordinate a to b of a dimension: hops in + direction and in -; `share` of the traffic that goes
 * +: 1, 0, or 0.5 at a tie (even ring, half way round). On a line only one direction exists. */
struct fc_torus_offset {
    uint32_t plus, minus; /* hops if one goes that way */
    double plus_share;    /* 1, 0 or 0.5; 0 with plus == 0 when a == b */
};
static inline struct fc_torus_offset fc_torus_offset(const struct fc_torus_shape *s, int dim, uint32_t a, uint32_t b)
{
    struct fc_torus_offset o = {0, 0, 0};
    uint32_t k = s->k[dim];
    if (!s->ring[dim]) {
        o.plus = b > a ? b - a : 0;
        o.minus = a > b ? a - b : 0;
        o.plus_share = b > a ? 1 : 0;
        return o;
    }
    o.plus = b >= a ? b - a : b + k - a;
    o.minus = o.plus ? k - o.plus : 0;
    o.plus_share = o.plus == 0 ? 0 : o.plus < o.minus ? 1 : o.plus == o.minus ? 0.5 : 0;
    return o;
}
/* From the shape as the file has it to n_dims, of, folds, k, stride, parallel and ring: rings longer than longest_line
 * are folded (family_torus_fold.c). FC_INPUT where one cannot be. */
enum fc_code fc_torus_fold(struct fc_torus_shape *s, bool default_ring, struct fc_place where, struct fc_status *st);
/* The order() of both families: the folded rings' own, dimension by dimension. False: nothing is folded. O(nodes). */
bool fc_torus_snake(const struct fc_network *net, uint32_t *node);
/* The note() of both families: which rings are folded, and into what; "" for none. */
void fc_torus_folds(const struct fc_network *net, char *out, size_t size);
/* Letter of a dimension: x y z a b c d e. */
char fc_torus_letter(int dim);
/* "z", "z, a, b": the dimensions from the third on, for pictures (family_torus_layout.c). */
void fc_torus_slice_name(int n_dims, char *out, size_t size);
extern const struct fc_layout fc_torus_layout;
