/* machine_keys.c - the keys of a machine file: names, kinds, units, ranges, defaults; docs/machines.md. Those of
 * `network` are the family's (family_*.c). */
#include "models/machine_keys.h"

const char *const fc_port_of_names[] = {"message", "task", NULL};
const char *const fc_flow_control_names[] = {"cut-through", "wormhole", NULL};
const char *const fc_escape_names[] = {
    "none", "bubble", "dateline", "direction-ordered", "bubble-direction-ordered", "hops", "layers", "updown", NULL};
const char *const fc_arbitration_names[] = {"round-robin", "age", "random", "jsq", "slq", "jsq-slq", NULL};
const char *const fc_queues_names[] = {"input", "output", NULL};
const char *const fc_vc_allocation_names[] = {"combined", "stage", NULL};
const char *const fc_dateline_names[] = {"crossed", "entry", NULL};
const char *const fc_ugal_queue_names[] = {"local", "credits", "both", NULL};
const char *const fc_ugal_via_names[] = {"supernode", "router", NULL};
const char *const fc_injection_names[] = {"any", "direction", "random", NULL};

#define IN(field) offsetof(struct fc_machine, field)
static const struct fc_key router_keys[] = {
    {"delay", FC_KEY_QUANTITY, FC_SECONDS, IN(router.delay_s), 0, 1, NULL, "0", "head flit, buffer write to link"},
    {"flow_control", FC_KEY_CHOICE, FC_NUMBER, IN(router.flow_control), 0, 0, fc_flow_control_names, "cut-through",
     "cut-through or wormhole"},
    {"flit", FC_KEY_QUANTITY, FC_BYTES, IN(router.flit_bytes), 1, 1 << 20, NULL, "32 B", "unit of flow control"},
    {"vcs", FC_KEY_INT, FC_NUMBER, IN(router.vcs), 1, 64, NULL, "1", "virtual channels for data, escape apart"},
    {"escape", FC_KEY_CHOICE, FC_NUMBER, IN(router.escape), 0, 0, fc_escape_names, "dateline",
     "how rings stay free of deadlock"},
    {"buffer", FC_KEY_QUANTITY, FC_BYTES, IN(router.buffer_bytes), 1, 1e12, NULL, "1 KiB",
     "per virtual channel and input port; left out: what keeps a link busy, at least this"},
    {"routing", FC_KEY_TEXT, FC_NUMBER, IN(router.routing), 0, 0, NULL, NULL, "default: the family's"},
    {"arbitration", FC_KEY_CHOICE, FC_NUMBER, IN(router.arbitration), 0, 0, fc_arbitration_names, "round-robin",
     "who wins an output"},
    {"queues", FC_KEY_CHOICE, FC_NUMBER, IN(router.queues), 0, 0, fc_queues_names, "input",
     "where packets wait: at inputs behind others, or at outputs (replays of traces)"},
    {"paths", FC_KEY_INT, FC_NUMBER, IN(router.paths), 1, 64, NULL, "1", "receiver-to-sender buses per input port"},
    {"bypass", FC_KEY_QUANTITY, FC_SECONDS, IN(router.bypass_s), 0, 1, NULL, NULL,
     "head flit through an idle router, instead of delay"},
    {"high_priority", FC_KEY_BOOL, FC_NUMBER, IN(router.high_priority), 0, 0, NULL, "no",
     "channels of their own for high-priority packets"},
    {"credit", FC_KEY_QUANTITY, FC_SECONDS, IN(router.credit_s), 0, 1, NULL, "0", "handling of a credit, wire apart"},
    {"vc_allocation", FC_KEY_CHOICE, FC_NUMBER, IN(router.vc_allocation), 0, 0, fc_vc_allocation_names, "combined",
     "with the switch, or in a stage before it"},
    {"dateline", FC_KEY_CHOICE, FC_NUMBER, IN(router.dateline), 0, 0, fc_dateline_names, "crossed",
     "second channel from the dateline on, or for all of a route that will cross it"},
    {"injection_fifos", FC_KEY_INT, FC_NUMBER, IN(router.injection_fifos), 0, FC_MOST_INJECTION_FIFOS, NULL, "0",
     "of a node; 0: one a virtual channel"},
    {"injection", FC_KEY_CHOICE, FC_NUMBER, IN(router.injection), 0, 0, fc_injection_names, "any",
     "FIFO of a packet: any with room, of a direction in which it may leave, or drawn for it"},
    {"injection_buffer", FC_KEY_QUANTITY, FC_BYTES, IN(router.injection_buffer_bytes), 1, 1e12, NULL, NULL,
     "depth of an injection FIFO; left out: as buffer"},
    {"slq", FC_KEY_QUANTITY, FC_NUMBER, IN(router.slq_percent), 0, 100, NULL, "75",
     "percent of decisions that serve the longest queue, the rest are random"},
    {"in_network", FC_KEY_QUANTITY, FC_NUMBER, IN(router.in_network_percent), 0, 100, NULL, "0",
     "percent of decisions in which packets in the network go before injected ones"},
    {"multicast", FC_KEY_CHOICE, FC_NUMBER, IN(router.multicast), 0, 0, fc_multicast_names, "none",
     "what routers copy: deposit or tree"},
    {"multicast_window", FC_KEY_INT, FC_NUMBER, IN(router.multicast_window), 1, 255, NULL, "1",
     "tree: packets of a sender not acknowledged"},
};
/* router.ugal, a section within the section; models/machine.h has the rule. */
static const struct fc_key ugal_keys[] = {
    {"threshold", FC_KEY_QUANTITY, FC_NUMBER, IN(router.ugal.threshold_flits), 0, 1e6, NULL, NULL,
     "flits by which the direct route's queue may be longer"},
    {"weight", FC_KEY_INT, FC_NUMBER, IN(router.ugal.weight), 1, 1000, NULL, "2", "of the indirect route's queue"},
    {"queue", FC_KEY_CHOICE, FC_NUMBER, IN(router.ugal.queue), 0, 0, fc_ugal_queue_names, "both",
     "what counts: flits that wait in the router, credits that are out, or both"},
    {"via", FC_KEY_CHOICE, FC_NUMBER, IN(router.ugal.via), 0, 0, fc_ugal_via_names, "supernode",
     "two-level: an indirect route goes through a supernode, or to a router drawn in it"},
};
static const struct fc_key packet_keys[] = {
    {"min", FC_KEY_QUANTITY, FC_BYTES, IN(packet.min_bytes), 0, 1e9, NULL, "0", "shortest packet"},
    {"max", FC_KEY_QUANTITY, FC_BYTES, IN(packet.max_bytes), 1, 1e9, NULL, NULL, "longest packet, header inside"},
    {"header", FC_KEY_QUANTITY, FC_BYTES, IN(packet.header_bytes), 0, 1e9, NULL, "0", "bytes of max without payload"},
    {"trailer", FC_KEY_QUANTITY, FC_BYTES, IN(packet.trailer_bytes), 0, 1e9, NULL, "0", "link bytes outside max"},
};
static const struct fc_key node_keys[] = {
    {"cores", FC_KEY_INT, FC_NUMBER, IN(cores_per_node), 1, 1 << 20, NULL, "1", "tasks a node can hold"},
    {"ports", FC_KEY_INT, FC_NUMBER, IN(ports), 1, 64, NULL, "1",
     "interfaces of a node; a message goes through one of them"},
    {"port_bandwidth", FC_KEY_QUANTITY, FC_BYTES_PER_S, IN(port_bytes_per_s), 1, 1e18, NULL, NULL,
     "of one of them; left out: no limit"},
    {"port_of", FC_KEY_CHOICE, FC_NUMBER, IN(port_of), 0, 0, fc_port_of_names, "message",
     "each message takes the next port in turn, or a task has one for all of its own"},
    {"port_sides", FC_KEY_INT, FC_NUMBER, IN(port_sides), 1, 2, NULL, "1",
     "a long message crosses a port of its receiver (1), or of its sender too (2)"},
    {"memory_bandwidth", FC_KEY_QUANTITY, FC_BYTES_PER_S, IN(memory_bytes_per_s), 1, 1e18, NULL, NULL,
     "of all messages within a node together; left out: no limit"},
    {"exchange_bandwidth", FC_KEY_QUANTITY, FC_BYTES_PER_S, IN(exchange_bytes_per_s), 1, 1e18, NULL, NULL,
     "both ways between two nodes together; left out: no limit"},
    {"exchange_beyond", FC_KEY_QUANTITY, FC_BYTES, IN(exchange_beyond_bytes), 0, 1e18, NULL, "0",
     "where more than this is under way between them"},
    {"slow_hosts", FC_KEY_TEXT, FC_NUMBER, IN(slow_hosts), 0, 0, NULL, NULL,
     "nodes that are known to be slow, as --nodes names them; left out: none"},
    {"slow_overhead", FC_KEY_QUANTITY, FC_SECONDS, IN(slow_overhead_s), 0, 1e3, NULL, "0",
     "o is longer there, at each end of a message"},
    {"reception", FC_KEY_QUANTITY, FC_BYTES, IN(reception.bytes), 1, 1e12, NULL, NULL,
     "size of a reception queue; left out: endless"},
    {"reception_queues", FC_KEY_INT, FC_NUMBER, IN(reception.queues), 1, 16, NULL, "1", "of each ejection link"},
    {"reception_time", FC_KEY_QUANTITY, FC_SECONDS, IN(reception.packet_s), 0, 1, NULL, "0",
     "the node is busy with each packet"},
    {"reception_per_byte", FC_KEY_QUANTITY, FC_SECONDS_PER_BYTE, IN(reception.per_byte_s), 0, 1, NULL, "0",
     "and with each byte of it"},
};
static const struct fc_key software_keys[] = {
    {"send", FC_KEY_QUANTITY, FC_SECONDS, IN(software.send_s), 0, 1e3, NULL, "1 us", "o at the sender"},
    {"recv", FC_KEY_QUANTITY, FC_SECONDS, IN(software.recv_s), 0, 1e3, NULL, "1 us", "o at the receiver"},
    {"gap", FC_KEY_QUANTITY, FC_SECONDS, IN(software.gap_s), 0, 1e3, NULL, "0", "g: least time between messages"},
    {"eager", FC_KEY_QUANTITY, FC_BYTES, IN(software.eager_bytes), 0, 1e18, NULL, "64 KiB",
     "S: longer messages use rendezvous"},
    {"per_byte", FC_KEY_QUANTITY, FC_SECONDS_PER_BYTE, IN(software.per_byte_s), 0, 1, NULL, "0", "O: CPU time a byte"},
    {"copy_per_byte", FC_KEY_QUANTITY, FC_SECONDS_PER_BYTE, IN(software.copy_per_byte_s), 0, 1, NULL, "0",
     "and a byte of an eager message, copied at each end"},
    {"rendezvous", FC_KEY_QUANTITY, FC_SECONDS, IN(software.rendezvous_s), 0, 1e3, NULL, "0",
     "CPU time at each end of a longer message, beyond o"},
    {"local", FC_KEY_QUANTITY, FC_SECONDS, IN(software.local_s), 0, 1e3, NULL, "0",
     "o at each end of a message within a node (0: send, recv)"},
    {"call", FC_KEY_QUANTITY, FC_SECONDS, IN(software.call_s), 0, 1e3, NULL, "0",
     "CPU time of a collective call of each member, besides its messages"},
    {"own_per_byte", FC_KEY_QUANTITY, FC_SECONDS_PER_BYTE, IN(software.own_per_byte_s), 0, 1, NULL, "0",
     "CPU time a byte of a task's own block of an allgather, which is copied"},
    {"inline", FC_KEY_QUANTITY, FC_BYTES, IN(software.inline_bytes), 0, 1e18, NULL, "0",
     "a message up to this goes with its request"},
    {"eager_start", FC_KEY_QUANTITY, FC_SECONDS, IN(software.eager_start_s), 0, 1e3, NULL, "0",
     "an eager message above inline arrives so much later; no CPU time"},
    {"reduce_per_byte", FC_KEY_QUANTITY, FC_SECONDS_PER_BYTE, IN(software.reduce_per_byte_s), 0, 1, NULL, "0",
     "CPU time a byte that a reduction takes in"},
    {"cache", FC_KEY_QUANTITY, FC_BYTES, IN(software.cache_bytes), 1, 1e18, NULL, "1e18 B",
     "reductions of longer vectors come from memory"},
    {"reduce_memory_per_byte", FC_KEY_QUANTITY, FC_SECONDS_PER_BYTE, IN(software.reduce_memory_per_byte_s), 0, 1, NULL,
     "0", "then instead of reduce_per_byte"},
    {"fresh_per_byte", FC_KEY_QUANTITY, FC_SECONDS_PER_BYTE, IN(software.fresh_per_byte_s), 0, 1, NULL, "0",
     "CPU time a byte of buffers from 32 MiB on that a reduction takes anew"},
    {"fresh_local_per_byte", FC_KEY_QUANTITY, FC_SECONDS_PER_BYTE, IN(software.fresh_local_per_byte_s), 0, 1, NULL, "0",
     "and of each that comes out of one within the node"},
    {"pack", FC_KEY_QUANTITY, FC_SECONDS, IN(software.pack_s), 0, 1e3, NULL, "0",
     "CPU time of a message of blocks that lie apart, both ends together"},
    {"pack_per_block", FC_KEY_QUANTITY, FC_SECONDS, IN(software.pack_per_block_s), 0, 1, NULL, "0",
     "and of each of its blocks"},
    {"eager_partners", FC_KEY_INT, FC_NUMBER, IN(software.eager_partners), 0, 65536, NULL, "0",
     "partners of a task with long eager buffers (0: all)"},
    {"eager_beyond", FC_KEY_QUANTITY, FC_BYTES, IN(software.eager_beyond_bytes), 0, 1e18, NULL, "0",
     "S between others"},
    {"compute_scale", FC_KEY_QUANTITY, FC_NUMBER, IN(software.compute_scale), 0, 1e6, NULL, "1.0",
     "recorded computation times are multiplied by it"},
};
#undef IN
static const struct fc_key link_keys[] = {
    {"bandwidth", FC_KEY_QUANTITY, FC_BYTES_PER_S, offsetof(struct fc_link_class, bandwidth_bytes_per_s), 1, 1e18, NULL,
     NULL, "of one direction of one link"},
    {"latency", FC_KEY_QUANTITY, FC_SECONDS, offsetof(struct fc_link_class, latency_s), 0, 10, NULL, NULL,
     "of the wire"},
};

const struct fc_key_table fc_router_keys = {router_keys, FC_COUNT(router_keys)};
const struct fc_key_table fc_ugal_keys = {ugal_keys, FC_COUNT(ugal_keys)};
const struct fc_key_table fc_packet_keys = {packet_keys, FC_COUNT(packet_keys)};
const struct fc_key_table fc_node_keys = {node_keys, FC_COUNT(node_keys)};
const struct fc_key_table fc_software_keys = {software_keys, FC_COUNT(software_keys)};
const struct fc_key_table fc_link_keys = {link_keys, FC_COUNT(link_keys)};
