/* replay_beside.h - this job and another one in the same replay (replay_beside.c). */
#pragma once

#include "solvers/solvers.h"

struct fc_beside {
    double alone_s, other_alone_s; /* time of this job, and of one run of the other, alone */
    uint64_t runs;                 /* of the other, at most: the last ones end after this job */
};
/* fc_replay_run of `job` while `other` runs on its nodes (may be shared), again and again. Both placements
 * given. FC_INPUT: an ideal network, graphs, traces that are streamed; also what fc_replay_run refuses of
 * either. */
enum fc_code fc_replay_beside(const struct fc_network *net, const struct fc_trace *job,
                              const struct fc_placement *placement, const struct fc_trace *other,
                              const struct fc_placement *other_placement, const struct fc_replay_settings *settings,
                              struct fc_replay *replay, struct fc_beside *beside, struct fc_status *st);
