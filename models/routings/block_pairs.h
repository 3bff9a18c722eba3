/* block_pairs.h - bytes between the routers and the blocks (supernodes, cells) of a network of two levels, from which the loads
 * of routes by way of another block follow without a look at every pair of nodes. */
#pragma once

#include "core/core.h"

#include <string.h>

/* out[r][t]: bytes of router r to block t; in[r][s]: bytes to router r from block s; pair[s][t], diagonal 0. */
struct fc_block_pairs {
    struct fc_arena arena;
    double *out, *in, *pair;
};

/* All zero; O(routers * blocks). */
static inline enum fc_code fc_block_pairs_start(struct fc_block_pairs *g, size_t n_routers, size_t n_blocks,
                                                struct fc_status *st)
{
    memset(g, 0, sizeof *g);
    g->out = fc_alloc(&g->arena, n_routers * n_blocks, sizeof *g->out, st);
    g->in = fc_alloc(&g->arena, n_routers * n_blocks, sizeof *g->in, st);
    g->pair = fc_alloc(&g->arena, n_blocks * n_blocks, sizeof *g->pair, st);
    return st->code;
}

static inline void fc_block_pairs_free(struct fc_block_pairs *g)
{
    fc_arena_free(&g->arena);
}
