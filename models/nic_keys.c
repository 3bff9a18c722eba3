/* nic_keys.c - the section `nic:` of a machine file: the network interface, as the papers on Gemini
 * (Alverson, Roweth, Kaplan, HOTI 2010) and QsNET (Petrini et al., IEEE NCA 2001) describe theirs.
 * solvers/nic/nic*.c has the equations. A key that is left out is 0, and what needs it is not answered. */
#include "models/machine_keys.h"

#define IN(field) offsetof(struct fc_machine, nic.field)
#define TIME(name, field, help)                                                                                        \
    {                                                                                                                  \
        name, FC_KEY_QUANTITY, FC_SECONDS, IN(field), 0, 1, NULL, "0", help                                            \
    }
static const struct fc_key nic_keys[] = {
    TIME("put", put_s, "end points of a put: from the call to the data at the target, the network apart"),
    TIME("gap", gap_s, "g: least time between two puts of a process"),
    {"per_byte", FC_KEY_QUANTITY, FC_SECONDS_PER_BYTE, IN(per_byte_s), 0, 1, NULL, "0", "G of one process"},
    {"clock", FC_KEY_QUANTITY, FC_HERTZ, IN(clock_hz), 1, 1e13, NULL, NULL, "of the interface"},
    {"unit", FC_KEY_QUANTITY, FC_BYTES, IN(unit_bytes), 1, 1e6, NULL, NULL, "payload of one transaction, at most"},
    {"unit_cycles", FC_KEY_QUANTITY, FC_NUMBER, IN(unit_cycles), 0, 1e6, NULL, "0", "cycles of `clock` for each"},
    {"host", FC_KEY_QUANTITY, FC_BYTES_PER_S, IN(host_bytes_per_s), 1, 1e18, NULL, NULL,
     "host bus, one direction, raw"},
    {"host_efficiency", FC_KEY_QUANTITY, FC_NUMBER, IN(host_efficiency), 0.001, 1, NULL, "1",
     "share of it that is had"},
    {"host_header", FC_KEY_QUANTITY, FC_BYTES, IN(host_header_bytes), 0, 1e6, NULL, "0", "beside each unit of a put"},
    {"block_header", FC_KEY_QUANTITY, FC_BYTES, IN(block_header_bytes), 0, 1e6, NULL, "0",
     "beside each unit of block transfers both ways"},
    {"ports", FC_KEY_INT, FC_NUMBER, IN(ports), 0, 1024, NULL, "0", "of the router for its nodes, all together"},
    {"port_cycles", FC_KEY_QUANTITY, FC_NUMBER, IN(port_cycles), 0, 1e6, NULL, "0",
     "cycles of the machine's clock for a unit on one of them"},
    {"put_flits", FC_KEY_INT, FC_NUMBER, IN(put_flits), 0, 1024, NULL, "0", "of a put, beside its data"},
    {"ack_flits", FC_KEY_INT, FC_NUMBER, IN(ack_flits), 0, 1024, NULL, "0", "of the response to a put"},
    {"get_flits", FC_KEY_INT, FC_NUMBER, IN(get_flits), 0, 1024, NULL, "0", "of a get's request"},
    {"reply_flits", FC_KEY_INT, FC_NUMBER, IN(reply_flits), 0, 1024, NULL, "0", "of a get's reply, beside its data"},
    {"data_flits", FC_KEY_INT, FC_NUMBER, IN(data_flits), 0, 1024, NULL, "0", "of each 8 bytes of data"},
    {"amo_hit", FC_KEY_QUANTITY, FC_NUMBER, IN(amo_hit_cycles), 0, 1e6, NULL, "0",
     "cycles of `clock` for an atomic operation on a cached variable"},
    {"amo_miss", FC_KEY_QUANTITY, FC_NUMBER, IN(amo_miss_cycles), 0, 1e6, NULL, "0", "and on one that is not"},
    {"amo_lines", FC_KEY_INT, FC_NUMBER, IN(amo_lines), 0, 1 << 30, NULL, "0", "variables that the cache holds"},
    TIME("barrier", barrier_s, "hardware barrier, the network apart"),
    TIME("event", event_s, "more where its end is told by an event"),
    TIME("tree", tree_s, "software barrier, messages and network apart"),
    {"tree_arity", FC_KEY_INT, FC_NUMBER, IN(tree_arity), 2, 64, NULL, "2", "of its tree"},
    TIME("broadcast", broadcast_s, "hardware broadcast behind a hardware barrier, the network apart"),
    TIME("broadcast_event", broadcast_event_s, "the same where the end of the software tree starts it"),
    TIME("acknowledge", acknowledge_s, "from a broadcast packet in the node to its acknowledgement leaving"),
    {"noise_percent", FC_KEY_QUANTITY, FC_NUMBER, IN(noise_percent), 0, 99, NULL, "0",
     "of operations that the operating system of one node holds up"},
    TIME("noise", noise_s, "by so much, on average; exponential"),
    {"dma_queue", FC_KEY_INT, FC_NUMBER, IN(dma_queue), 0, 1 << 20, NULL, "0",
     "transfers of a background under way in each node"},
    {"dma_slice", FC_KEY_QUANTITY, FC_BYTES, IN(dma_slice_bytes), 0, 1e12, NULL, "0", "sent of one before the next"},
};
#undef TIME
#undef IN
const struct fc_key_table fc_nic_keys = {nic_keys, FC_COUNT(nic_keys)};

/* Of two keys the first is given (have > 0) and the second is not. */
struct need {
    double have, needed;
    const char *key, *other;
};

static enum fc_code check_needs(const struct fc_machine *m, const struct need *need, size_t n, struct fc_status *st)
{
    for (size_t i = 0; i < n; i++)
        if (need[i].have > 0 && need[i].needed == 0)
            return fc_fail(st, FC_INPUT, (struct fc_place){m->file, m->nic.line}, "nic.%s: without %s", need[i].key,
                           need[i].other);
    return FC_OK;
}

enum fc_code fc_nic_check(const struct fc_machine *m, struct fc_status *st)
{
    const struct fc_nic *n = &m->nic;
    double tree = m->router.multicast == FC_MULTICAST_TREE;
    const struct need needs[] = {
        {n->unit_cycles, n->clock_hz, "unit_cycles", "nic.clock"},
        {n->unit_cycles, n->unit_bytes, "unit_cycles", "nic.unit"},
        {n->host_header_bytes, n->unit_bytes, "host_header", "nic.unit"},
        {n->block_header_bytes, n->unit_bytes, "block_header", "nic.unit"},
        {n->host_header_bytes, n->host_bytes_per_s, "host_header", "nic.host"},
        {n->block_header_bytes, n->host_bytes_per_s, "block_header", "nic.host"},
        {(double)n->ports, n->port_cycles, "ports", "nic.port_cycles"},
        {n->port_cycles, (double)n->ports, "port_cycles", "nic.ports"},
        {n->port_cycles, n->unit_bytes, "port_cycles", "nic.unit"},
        {n->port_cycles, m->clock_hz, "port_cycles", "the machine's clock"},
        {(double)n->put_flits, (double)n->data_flits, "put_flits", "nic.data_flits"},
        {(double)n->get_flits, (double)n->reply_flits, "get_flits", "nic.reply_flits"},
        {(double)n->get_flits, (double)n->data_flits, "get_flits", "nic.data_flits"},
        {(double)n->get_flits, (double)n->put_flits, "get_flits", "nic.put_flits"},
        {n->amo_hit_cycles, n->clock_hz, "amo_hit", "nic.clock"},
        {n->amo_hit_cycles, n->amo_miss_cycles, "amo_hit", "nic.amo_miss"},
        {n->amo_miss_cycles, n->amo_hit_cycles, "amo_miss", "nic.amo_hit"},
        {(double)n->amo_lines, n->amo_hit_cycles, "amo_lines", "nic.amo_hit"},
        {n->barrier_s, tree, "barrier", "router.multicast: tree"},
        {n->tree_s, tree, "tree", "router.multicast: tree"},
        {n->event_s, n->barrier_s, "event", "nic.barrier"},
        {n->broadcast_s, n->barrier_s, "broadcast", "nic.barrier"},
        {n->broadcast_s, n->acknowledge_s, "broadcast", "nic.acknowledge"},
        {n->acknowledge_s, n->broadcast_s, "acknowledge", "nic.broadcast"},
        {n->broadcast_event_s, n->tree_s, "broadcast_event", "nic.tree"},
        {n->broadcast_event_s, n->broadcast_s, "broadcast_event", "nic.broadcast"},
        {n->noise_percent, n->noise_s, "noise_percent", "nic.noise"},
        {n->noise_s, n->noise_percent, "noise", "nic.noise_percent"},
        {(double)n->dma_queue, n->dma_slice_bytes, "dma_queue", "nic.dma_slice"},
        {n->dma_slice_bytes, (double)n->dma_queue, "dma_slice", "nic.dma_queue"},
    };
    struct fc_place where = {m->file, n->line};
    if (n->put_s == 0) return fc_fail(st, FC_INPUT, where, "nic: put is missing (the time of a put's end points)");
    if (check_needs(m, needs, FC_COUNT(needs), st)) return st->code;
    if (n->amo_miss_cycles < n->amo_hit_cycles)
        return fc_fail(st, FC_INPUT, where, "nic.amo_miss: %g cycles are fewer than amo_hit, %g", n->amo_miss_cycles,
                       n->amo_hit_cycles);
    return FC_OK;
}
