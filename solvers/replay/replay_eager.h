/* replay_eager.h - with which others a task has long eager buffers (replay_eager.c). */
#pragma once

#include "core/core.h"

struct fc_eager {
    uint32_t most; /* of a rank; 0: no limit, and nothing else is set */
    uint32_t mask;
    uint32_t *slot;       /* [n_ranks][mask + 1] partner + 1, by hash; 0: free. At most half full */
    uint32_t *n;          /* [n_ranks] partners so far */
    const uint32_t *node; /* [n_ranks], NULL: every rank has a node of its own */
};
/* most 0, or as many as there are others: no limit. node must outlive it. 4 bytes a rank and 8 to 16 a rank and partner,
 * in the arena. */
enum fc_code fc_eager_start(struct fc_eager *eager, long long most, uint32_t n_ranks, const uint32_t *node,
                            struct fc_arena *arena, struct fc_status *st);
/* A message between two ranks: do they have long buffers for each other? The first messages between a rank and others
 * take them. Only with a limit. O(1). */
bool fc_eager_between(struct fc_eager *eager, uint32_t a, uint32_t b);
