/* cycle_fast_narrow.c - the ticks of cycle_fast.c with 16-byte vectors, for any processor. */
#define FC_LANE_BYTES 16
#include "solvers/flit/cycle_boxes_run.h"

void fc_cycle_fast_run_narrow(struct fc_cycle_block *b, uint64_t from, uint64_t to)
{
    run_any(b, from, to);
}
