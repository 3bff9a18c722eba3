/* cycle_fast.c - the tick of cycle_fast_run.h for processors with 32-byte vectors and instructions for the
 * bits of a word (AVX2, BMI); on others that of cycle_fast_narrow.c, with the same results. The commonest
 * size, three dimensions with a node a router and 2 channels, has a copy of its own. */
#if defined(__x86_64__) && defined(__GNUC__)
#define FC_LANE_BYTES 32
#define FC_FAST_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#include "solvers/flit/cycle_fast_run.h"

FC_FAST_TARGET static void run_avx2(block *b, uint64_t from, uint64_t to)
{
    const struct fc_fast *f = b->engine->fast;
    uint32_t ports = f->n_outs == f->n_ports && f->route.per_router == 1 ? f->n_ports : 0;
    if (ports == 7 && f->vc_bits == 1)
        run_kind(b, from, to, 7, 3, 1);
    else
        run_kind(b, from, to, 0, f->place_bits, f->vc_bits);
}
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#else
#include "solvers/flit/cycle_fast.h"

typedef struct fc_cycle_block block;
#define run_avx2 fc_cycle_fast_run_narrow
static bool has_avx2(void)
{
    return false;
}
#endif
void fc_cycle_block_run_fast(block *b, uint64_t from, uint64_t to)
{
    uint64_t flits = b->flits_in, packets = b->packets_in;
    if (has_avx2())
        run_avx2(b, from, to);
    else
        fc_cycle_fast_run_narrow(b, from, to);
    b->counts->flits_injected += b->flits_in - flits;
    b->counts->packets_injected += b->packets_in - packets;
    b->counts->flit_hops += b->hops;
    b->hops = 0;
}
