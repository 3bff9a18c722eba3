/* nic.c - one-sided transfers of a network interface: LogGP (Alexandrov et al., SPAA 1995) with its constants
 * taken apart into host bus, interface and network.
 *
 *   T(n) = put + head + wire(n1) / b + (n - n1) / B
 *   get  = 2 (put + head) + (wire of request and reply) / b + (n - n1) / B
 *   B    = min(bus e u / (u + h), u f / c, bundle x efficiency, ports)
 *   rate of p processes = min(bus e u / (u + h), u f / c, p n / (g + n G))
 *
 * n1 = min(n, data of a packet); b: the narrowest link's rate; u: data of a bus transaction, h: bytes beside
 * it, e: share of the bus that is had, u f / c: c cycles of f for each; bundle: all links of the way at once
 * (Gemini spreads packets over parallel links); efficiency: data over wire bytes, responses counted, as every
 * request brings one. Sources: Alverson et al. 2010, section V; Petrini et al. 2001, section 6.1.
 * Limits: one transfer alone; the two directions of a bus do not disturb each other beyond block_header. */
#include "solvers/nic/nic.h"
#include "solvers/timing.h"

/* Payload rate of the host bus with h bytes beside each unit. */
static double bus_rate(const struct fc_nic *n, double header_bytes)
{
    if (n->host_bytes_per_s == 0) return INFINITY;
    double share = n->unit_bytes > 0 ? n->unit_bytes / (n->unit_bytes + header_bytes) : 1;
    return n->host_bytes_per_s * n->host_efficiency * share;
}

static double full_packet(const struct fc_machine *m)
{
    if (m->nic.put_flits > 0 && m->nic.unit_bytes > 0) return m->nic.unit_bytes;
    return m->packet.max_bytes > 0 ? m->packet.max_bytes - m->packet.header_bytes : 1;
}

void fc_nic_peaks(const struct fc_machine *m, struct fc_nic_peaks *p)
{
    const struct fc_nic *n = &m->nic;
    double data = full_packet(m);
    struct fc_nic_wire wire = fc_nic_put_wire(m, data);
    *p = (struct fc_nic_peaks){
        .engine = n->unit_cycles > 0 ? n->unit_bytes * n->clock_hz / n->unit_cycles : INFINITY,
        .bus = n->host_bytes_per_s > 0 ? n->host_bytes_per_s : INFINITY,
        .put = bus_rate(n, n->host_header_bytes),
        .block = bus_rate(n, n->block_header_bytes > 0 ? n->block_header_bytes : n->host_header_bytes),
        .ports = n->ports > 0 ? (double)n->ports * n->unit_bytes * m->clock_hz / n->port_cycles : INFINITY,
        .efficiency = data / (wire.request_bytes + wire.response_bytes),
    };
}

static double flits(const struct fc_machine *m, long long fixed, double bytes)
{
    return ((double)fixed + (double)m->nic.data_flits * ceil(bytes / 8)) * m->router.flit_bytes;
}

struct fc_nic_wire fc_nic_put_wire(const struct fc_machine *m, double bytes)
{
    const struct fc_nic *n = &m->nic;
    if (n->put_flits == 0) return (struct fc_nic_wire){.request_bytes = fc_wire_bytes(m, bytes)};
    return (struct fc_nic_wire){flits(m, n->put_flits, bytes), (double)n->ack_flits * m->router.flit_bytes};
}

struct fc_nic_wire fc_nic_get_wire(const struct fc_machine *m, double bytes)
{
    if (m->nic.get_flits == 0) return (struct fc_nic_wire){fc_wire_bytes(m, 0), fc_wire_bytes(m, bytes)};
    return (struct fc_nic_wire){(double)m->nic.get_flits * m->router.flit_bytes, flits(m, m->nic.reply_flits, bytes)};
}

/* Share of the traffic that crosses the link of entry i (a walk may hold a link more than once). */
static double share_of(const struct fc_walk *walk, uint32_t i)
{
    double share = 0;
    for (uint32_t j = 0; j < walk->n; j++) share += walk->link[j] == walk->link[i] ? walk->weight[j] : 0;
    return share;
}

enum fc_code fc_nic_way(const struct fc_network *net, uint32_t source, uint32_t target, struct fc_nic_way *way,
                        struct fc_status *st)
{
    const struct fc_routing_ops *routing = net->machine->routing;
    FC_SCOPED(fc_walk_free) struct fc_walk walk = {0};
    if (source >= net->n_nodes || target >= net->n_nodes || source == target)
        return fc_refuse(st, FC_INPUT, "a way from node %u to node %u (expected two different ones below %u)", source,
                         target, net->n_nodes);
    if (fc_walk_start(&walk, routing->walk_capacity(net), st)) return st->code;
    routing->walk(net, source, target, 1, &walk);
    *way = (struct fc_nic_way){.narrowest_bytes_per_s = INFINITY, .bundle_bytes_per_s = INFINITY};
    for (uint32_t i = 0; i < walk.n; i++) {
        double rate = fc_link_bandwidth(net, walk.link[i]);
        way->head_s += walk.weight[i] * fc_head_delay_s(net, walk.link[i]);
        way->narrowest_bytes_per_s = fmin(way->narrowest_bytes_per_s, rate);
        way->bundle_bytes_per_s = fmin(way->bundle_bytes_per_s, rate / share_of(&walk, i));
    }
    return FC_OK;
}

double fc_nic_pair_rate(const struct fc_machine *m, const struct fc_nic_way *way, enum fc_nic_memory memory)
{
    struct fc_nic_peaks p;
    fc_nic_peaks(m, &p);
    double rate = fmin(fmin(p.engine, p.ports), way->bundle_bytes_per_s * p.efficiency);
    return memory == FC_NIC_HOST ? fmin(rate, p.put) : rate;
}

/* Of a transfer, the network's part: first packet and the rest behind it. */
static double stream_s(const struct fc_machine *m, const struct fc_nic_way *way, double bytes, double rate)
{
    double first = fmin(bytes, full_packet(m));
    return way->head_s + fc_nic_put_wire(m, first).request_bytes / way->narrowest_bytes_per_s +
           (bytes > first ? (bytes - first) / rate : 0);
}

double fc_nic_put_s(const struct fc_machine *m, const struct fc_nic_way *way, double bytes, enum fc_nic_memory memory)
{
    return m->nic.put_s + stream_s(m, way, bytes, fc_nic_pair_rate(m, way, memory));
}

double fc_nic_get_s(const struct fc_machine *m, const struct fc_nic_way *way, double bytes)
{
    double first = fmin(bytes, full_packet(m));
    struct fc_nic_wire wire = fc_nic_get_wire(m, first);
    return 2 * (m->nic.put_s + way->head_s) + (wire.request_bytes + wire.response_bytes) / way->narrowest_bytes_per_s +
           (bytes > first ? (bytes - first) / fc_nic_pair_rate(m, way, FC_NIC_HOST) : 0);
}

double fc_nic_message_s(const struct fc_machine *m, const struct fc_nic_way *way, double bytes,
                        enum fc_nic_memory memory)
{
    return fc_send_cpu_s(&m->software, bytes) + fc_recv_cpu_s(&m->software, bytes) +
           fc_eager_start_s(&m->software, bytes, bytes > m->software.eager_bytes) +
           stream_s(m, way, bytes, fc_nic_pair_rate(m, way, memory));
}

double fc_nic_put_rate(const struct fc_machine *m, double bytes, double processes, enum fc_nic_memory memory)
{
    const struct fc_nic *n = &m->nic;
    struct fc_nic_peaks p;
    fc_nic_peaks(m, &p);
    double busy = n->gap_s + bytes * n->per_byte_s, rate = fmin(p.engine, memory == FC_NIC_HOST ? p.put : INFINITY);
    return busy > 0 ? fmin(rate, processes * bytes / busy) : rate;
}
