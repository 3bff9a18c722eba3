/* family_tmesh.h - shape and index arithmetic of tori of mesh chips (family_tmesh.c, tmesh_hops.c,
 * routing_tmesh.c, cdg_tmesh.c). */
#pragma once

#include "models/models.h"

enum fc_mesh_order { FC_ROW_FIRST, FC_COLUMN_FIRST };
enum fc_tmesh_policy { FC_TMESH_SHARED, FC_TMESH_SEPARATE, FC_TMESH_SIX_VC };
enum { FC_TMESH_PLUS = 0, FC_TMESH_MINUS = 1 };
#define FC_TMESH_MOST_LINES 4096 /* rows, columns of a mesh */
/* Ports of a mesh node: to the next column, previous column, next row, previous row. */
enum { FC_EAST, FC_WEST, FC_SOUTH, FC_NORTH, FC_MESH_PORTS };

/* Chip c has torus coordinates (c / stride[i]) % k[i], x fastest; its mesh node m is at row m / columns,
 * column m % columns, and is router c * n_mesh + m. bridge[i][PLUS] hosts the NIC to the next chip of
 * dimension i (the paper's RN), bridge[i][MINUS] the one to the previous (LN): a packet that moves in +
 * leaves by the PLUS bridge and enters the next chip by its MINUS bridge. Every computing mesh node has
 * one terminal: node c * n_computing + rank. All chips are wired alike: link l of chip c's routers is c *
 * chip_links + (local link); a router's links lie in the order east, west, south, north, torus ports (by
 * dimension, + before -), ejection. */
struct fc_tmesh_shape {
    struct fc_ints dims, mesh; /* as in the file */
    const char *bridges;
    bool router_nodes_compute;
    int mesh_order, vc_policy;
    /* Derived by check: */
    int n_dims;
    uint32_t k[FC_MAX_DIMS], stride[FC_MAX_DIMS], n_chips;
    uint32_t rows, columns, n_mesh;
    uint32_t bridge[FC_MAX_DIMS][2]; /* mesh node */
    uint32_t n_computing;            /* computing mesh nodes a chip */
    uint32_t chip_links;             /* links of a chip's routers */
};
/* net->extra: local links (of a chip), FC_NONE where there is none. */
struct fc_tmesh_tables {
    uint32_t (*mesh_port)[FC_MESH_PORTS]; /* [n_mesh] */
    uint32_t torus_port[FC_MAX_DIMS][2];  /* NONE in a dimension of size 1 */
    uint32_t *ejection;                   /* [n_computing] */
    uint32_t *computing;                  /* [n_computing] mesh node of a terminal */
};

extern const struct fc_family_ops fc_family_tmesh;
extern const struct fc_routing_ops fc_routing_tmesh;
extern const struct fc_layout fc_tmesh_layout;
/* The shape of a torus of mesh chips; NULL: the machine is of another family. */
static inline const struct fc_tmesh_shape *fc_machine_tmesh(const struct fc_machine *machine)
{
    return machine->family == &fc_family_tmesh ? machine->shape : NULL;
}
static inline const struct fc_tmesh_shape *fc_tmesh(const struct fc_network *net)
{
    return fc_machine_tmesh(net->machine);
}
static inline const struct fc_tmesh_tables *fc_tmesh_tables(const struct fc_network *net)
{
    return net->extra;
}
static inline uint32_t fc_tmesh_coordinate(const struct fc_tmesh_shape *s, uint32_t chip, int dim)
{
    return chip / s->stride[dim] % s->k[dim];
}
static inline uint32_t fc_tmesh_neighbour(const struct fc_tmesh_shape *s, uint32_t chip, int dim, int direction)
{
    uint32_t c = fc_tmesh_coordinate(s, chip, dim), k = s->k[dim];
    uint32_t to = direction == FC_TMESH_PLUS ? (c + 1 == k ? 0 : c + 1) : (c == 0 ? k - 1 : c - 1);
    return chip + to * s->stride[dim] - c * s->stride[dim];
}
/* The mesh node by which a packet that moves in `direction` enters a chip: the bridge of the other
 * direction. */
static inline uint32_t fc_tmesh_entry(const struct fc_tmesh_shape *s, int dim, int direction)
{
    return s->bridge[dim][!direction];
}
static inline uint32_t fc_tmesh_mesh_hops(const struct fc_tmesh_shape *s, uint32_t a, uint32_t b)
{
    uint32_t ra = a / s->columns, rb = b / s->columns, ca = a % s->columns, cb = b % s->columns;
    return (ra > rb ? ra - rb : rb - ra) + (ca > cb ? ca - cb : cb - ca);
}
/* Most hops a minimal route takes in a dimension, either way. */
static inline uint32_t fc_tmesh_reach(const struct fc_tmesh_shape *s, int dim)
{
    return s->k[dim] / 2;
}

/* Local links of the on-chip route from mesh node a to b, in order; out [rows + columns - 2]. Returns how
 * many. */
uint32_t fc_tmesh_mesh_path(const struct fc_network *net, uint32_t a, uint32_t b, uint32_t *out);
/* Fills what follows from k, rows, columns, bridge and router_nodes_compute (for a shape whose bridges
 * were moved). */
void fc_tmesh_derive(struct fc_tmesh_shape *shape);
/* "{x-: 0, y-: 2, z-: 4, x+: 1, y+: 3, z+: 5}". Returns out. */
char *fc_tmesh_bridges_text(const struct fc_tmesh_shape *shape, char *out, size_t size);

/* Whether a mesh node carries a core. */
bool fc_tmesh_computes(const struct fc_tmesh_shape *shape, uint32_t mesh_node);

/* Mean on-chip hops between the bridge a packet enters by and the one it leaves by, over the legal ordered
 * pairs of dimension order, unweighted: - to + and + to - of a dimension, and every pair of an earlier and
 * a later dimension (18 pairs in 3D): Table 1, third row, of the TMesh paper. */
double fc_tmesh_mean_turn_hops(const struct fc_tmesh_shape *shape);
/* Mean on-chip hops a packet of uniform traffic under dimension order: source, transit and destination
 * chips. Over all ordered pairs of nodes, a node with itself included; `between_chips`: over pairs on
 * different chips only. */
double fc_tmesh_mean_mesh_hops(const struct fc_tmesh_shape *shape, bool between_chips);
/* Mean hops of any kind under dimension order over all ordered pairs, a node with itself included. */
double fc_tmesh_mean_hops(const struct fc_tmesh_shape *shape);
/* Hops of the longest route; at a tie the longer way. */
double fc_tmesh_diameter_hops(const struct fc_tmesh_shape *shape);
