/* cycle_fast_wide.c - the ticks of cycle_fast.c with 64-byte vectors, for processors with AVX-512 (BW, VL). */
#if defined(__x86_64__) && defined(__GNUC__)
#define FC_LANE_BYTES 64
#define FC_FAST_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx2,bmi,bmi2,popcnt")))
#include "solvers/flit/cycle_boxes_run.h"

FC_FAST_TARGET void fc_cycle_fast_run_wide(struct fc_cycle_block *b, uint64_t from, uint64_t to)
{
    run_any(b, from, to);
}
#endif
