/* cycle_fast_narrow.c - the tick of cycle_fast_run.h with 16-byte vectors, for any processor. */
#define FC_LANE_BYTES 16
#include "solvers/flit/cycle_fast_run.h"

void fc_cycle_fast_run_narrow(struct fc_cycle_block *b, uint64_t from, uint64_t to)
{
    const struct fc_fast *f = b->engine->fast;
    if (f->place_bits == 3 && f->vc_bits == 1)
        run_kind(b, from, to, 0, 3, 1);
    else
        run_kind(b, from, to, 0, f->place_bits, f->vc_bits);
}
