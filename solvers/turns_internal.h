/* turns_internal.h - what turns.c and turns_cells.c share. */
#ifndef FC_TURNS_INTERNAL_H
#define FC_TURNS_INTERNAL_H

#include "solvers/turns.h"

struct fc_cells {
    int n_dims;
    uint32_t k[FC_MAX_DIMS], stride[FC_MAX_DIMS]; /* of the torus of cells */
    uint32_t n_cells, routers, nodes;             /* cells; of each cell */
    bool along;                                   /* coordinates along the ring matter */
};
/* The cells of the network, and whether it and the demand look alike from all of them. */
enum fc_code fc_turns_cells(const struct fc_network *net, const struct fc_demand *demand, struct fc_cells *cells,
                            bool *folded, struct fc_status *st);
/* orbit[n_links]: the set that each link belongs to; place[n_orbits]: the place of a set in the cell. */
enum fc_code fc_turns_orbits(const struct fc_network *net, const struct fc_cells *cells, struct fc_arena *arena,
                             uint32_t **orbit, uint32_t **place, uint32_t *n_orbits, struct fc_status *st);

#endif
