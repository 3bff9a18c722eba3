/* cycle_fast.c - the tick of cycle_fast_run.h and of cycle_boxes_run.h for processors with 32-byte vectors and
 * instructions for the bits of a word (AVX2, BMI); on others that of cycle_fast_wide.c or cycle_fast_narrow.c, with the
 * same results. */
#if defined(__x86_64__) && defined(__GNUC__)
#define FC_LANE_BYTES 32
#define FC_FAST_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#include "solvers/flit/cycle_boxes_run.h"

FC_FAST_TARGET static void run_avx2(block *b, uint64_t from, uint64_t to)
{
    run_any(b, from, to);
}
static void run_block(block *b, uint64_t from, uint64_t to)
{
    int most = b->engine->flit->vector_bytes ? b->engine->flit->vector_bytes : 64;
    bool avx2 =
        most > 16 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    if (avx2 && most > 32 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        fc_cycle_fast_run_wide(b, from, to);
    else if (avx2)
        run_avx2(b, from, to);
    else
        fc_cycle_fast_run_narrow(b, from, to);
}
#else
#include "solvers/flit/cycle_fast.h"

typedef struct fc_cycle_block block;
#define run_block fc_cycle_fast_run_narrow
#endif
void fc_cycle_block_run_fast(block *b, uint64_t from, uint64_t to)
{
    uint64_t flits = b->flits_in, packets = b->packets_in;
    run_block(b, from, to);
    b->counts->flits_injected += b->flits_in - flits;
    b->counts->packets_injected += b->packets_in - packets;
    b->counts->flit_hops += b->hops;
    b->hops = 0;
}
