/* source_flows.c - what a source sends to one destination: messages cut into packets, packets into flits. */
#include "solvers/flit/source.h"
#include <math.h>

/* 1e-9: bytes that are products of reals may lie a rounding error above a whole number of packets. */
static uint64_t packets_of(const struct fc_flit_closed *c, double bytes)
{
    double n = ceil(bytes / c->payload_bytes - 1e-9);
    return n > 1 ? n < 0x1p40 ? (uint64_t)n : UINT64_C(1) << 40 : 1;
}

uint32_t fc_flit_flits_of(const struct fc_flit_closed *c, double payload)
{
    double n = ceil((payload + c->header_bytes) / c->flit_bytes - 1e-9);
    uint32_t flits = n > c->flits_most ? c->flits_most : n > 1 ? (uint32_t)n : 1;
    return flits > c->flits_least ? flits : c->flits_least;
}

struct fc_flit_flow fc_flit_entry_flow(const struct fc_flit_closed *c, uint32_t entry)
{
    const struct fc_demand *d = c->demand;
    double messages = rint(d->messages[entry]);
    if (messages < 1 && d->bytes[entry] > 0) messages = 1;
    struct fc_flit_flow f = {.dst_node = c->node[d->dst[entry]], .tag = entry};
    if (messages < 1) return f;
    f.full_bytes = d->bytes[entry] / messages;
    f.full = (uint64_t)fmin(messages, 0x1p40);
    f.per_full = packets_of(c, f.full_bytes);
    f.packets = f.full * f.per_full;
    return f;
}

struct fc_flit_flow fc_flit_bytes_flow(const struct fc_flit_closed *c, double bytes, double message_bytes)
{
    struct fc_flit_flow f = {.tag = FC_NONE, .full_bytes = message_bytes > 0 ? message_bytes : bytes};
    if (!(bytes > 0)) return f;
    f.full = (uint64_t)fmin(floor(bytes / f.full_bytes + 1e-9), 0x1p40);
    f.rest_bytes = bytes - (double)f.full * f.full_bytes;
    if (f.rest_bytes < 1e-9 * bytes) f.rest_bytes = 0;
    f.per_full = packets_of(c, f.full_bytes);
    f.packets = f.full * f.per_full + (f.rest_bytes > 0 ? packets_of(c, f.rest_bytes) : 0);
    return f;
}

struct fc_flit_flow fc_flit_dense_flow(const struct fc_flit_closed *c, uint32_t task, int part, uint32_t target)
{
    const struct fc_dense *dense = &c->demand->dense[part];
    struct fc_flit_flow f = fc_flit_bytes_flow(c, dense->a[task] * dense->b[target], dense->message_bytes);
    f.dst_node = c->node[target];
    return f;
}

static double message_packet(const struct fc_flit_closed *c, double bytes, uint64_t packets, uint64_t k)
{
    return k + 1 < packets ? c->payload_bytes : bytes - (double)(packets - 1) * c->payload_bytes;
}

/* Flits of packet k of the flow. */
uint32_t fc_flit_packet_flits(const struct fc_flit_closed *c, const struct fc_flit_flow *f, uint64_t k)
{
    uint64_t in_full = f->full * f->per_full;
    return fc_flit_flits_of(c, k < in_full ? message_packet(c, f->full_bytes, f->per_full, k % f->per_full)
                                           : message_packet(c, f->rest_bytes, f->packets - in_full, k - in_full));
}

uint64_t fc_flit_flow_flits(const struct fc_flit_closed *c, const struct fc_flit_flow *f)
{
    uint64_t whole = fc_flit_flits_of(c, c->payload_bytes), flits = 0, rest = f->packets - f->full * f->per_full;
    if (f->full) flits += f->full * ((f->per_full - 1) * whole + fc_flit_packet_flits(c, f, f->per_full - 1));
    if (rest) flits += (rest - 1) * whole + fc_flit_packet_flits(c, f, f->packets - 1);
    return flits;
}
