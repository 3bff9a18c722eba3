/* run_ticks.c - cycles as ticks of the event engine, and back. */
#include "solvers/flit/run.h"
#include <math.h>

uint64_t fc_flit_cycles_to_ticks(const struct fc_flit_net *flit, double cycles)
{
    double ticks = ceil(cycles * flit->ticks_per_cycle - 1e-9);
    return ticks >= 0x1p62 ? UINT64_C(1) << 62 : ticks > 1 ? (uint64_t)ticks : 1;
}

double fc_flit_to_cycles(const struct fc_flit_net *flit, uint64_t ticks)
{
    return (double)ticks / flit->ticks_per_cycle;
}

void fc_flit_slowest_ticks(const struct fc_flit_net *flit, uint64_t *flit_ticks, uint64_t *packet_ticks,
                           uint64_t *wire_ticks)
{
    *flit_ticks = *packet_ticks = *wire_ticks = 0;
    for (int c = 0; c < flit->net->machine->n_classes; c++) {
        uint64_t packet = fc_flit_packet_ticks(flit, c, flit->packet_flits_max);
        if (flit->flit_ticks[c] > *flit_ticks) *flit_ticks = flit->flit_ticks[c];
        if (flit->latency_ticks[c] > *wire_ticks) *wire_ticks = flit->latency_ticks[c];
        if (packet > *packet_ticks) *packet_ticks = packet;
    }
}
