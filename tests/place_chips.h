/* place_chips.h - chips for the tests of layouts. */
#pragma once

#include "mapping/place/place.h"
#include "tests/network_checks.h"

/* A row-first mesh in a torus of n_dims rings of k. */
static inline struct fc_chip chip_of(int n_dims, uint32_t k, uint32_t rows, uint32_t columns, bool compute)
{
    struct fc_chip c = {.n_dims = n_dims,
                        .n_axes = 2,
                        .side = {rows, columns},
                        .order = {1, 0},
                        .bridges_compute = compute,
                        .mesh_bytes_per_s = 25.6e9,
                        .torus_bytes_per_s = 2e9};
    for (int d = 0; d < n_dims; d++) c.k[d] = k;
    return c;
}

static inline bool model_of(struct fc_chip chip, struct fc_place_model *m)
{
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_place_model_make(&chip, m, &st), FC_OK);
    if (st.code) printf("\n    %s\n", st.message);
    return st.code == FC_OK;
}
