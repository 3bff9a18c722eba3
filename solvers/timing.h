/* timing.h - zero-load times shared by the phase model (contention.c) and the replay. */
#pragma once

#include "solvers/solvers.h"

/* Time from the head of a packet asking for a free link to the head standing at the far end: the delay of
 * the router it leaves (none in a node) and the wire. A route of H hops crosses H + 1 routers and H + 2
 * wires. */
static inline double fc_head_delay_s(const struct fc_network *net, uint32_t link)
{
    double wire = net->machine->classes[net->link_class[link]].latency_s;
    return fc_is_node(net, net->link_source[link]) ? wire : wire + net->machine->router.delay_s;
}

/* CPU time of the end points for one message of n bytes: LogGOPS's o + (n - 1) O, o alone for an empty one; beyond it n times
 * the copy of an eager message, or what a rendezvous (`is_long`) costs at each end. */
static inline double fc_beyond_o_s(const struct fc_software *software, double bytes, bool is_long)
{
    return (bytes > 1 ? (bytes - 1) * software->per_byte_s : 0) +
           (is_long ? software->rendezvous_s : bytes * software->copy_per_byte_s);
}
/* Until the interface has an eager message that did not go with its request (`inline`): it is fetched from memory while the
 * processor goes on. */
static inline double fc_eager_start_s(const struct fc_software *software, double bytes, bool is_long)
{
    return !is_long && bytes > software->inline_bytes ? software->eager_start_s : 0;
}
/* o at one end of a message within a node, o_s between nodes. */
static inline double fc_local_o_s(const struct fc_software *software, double o_s)
{
    return software->local_s > 0 ? software->local_s : o_s;
}
/* Between tasks that have eager buffers for each other. */
static inline double fc_send_cpu_s(const struct fc_software *software, double bytes)
{
    return software->send_s + fc_beyond_o_s(software, bytes, bytes > software->eager_bytes);
}
static inline double fc_recv_cpu_s(const struct fc_software *software, double bytes)
{
    return software->recv_s + fc_beyond_o_s(software, bytes, bytes > software->eager_bytes);
}
/* The work of a call whose vector, all blocks together, has so many bytes. */
static inline enum fc_message_work fc_work_of_vector(const struct fc_software *software, enum fc_message_work work,
                                                     double vector_bytes)
{
    return work == FC_WORK_REDUCES && software->cache_bytes > 0 && vector_bytes > software->cache_bytes
               ? FC_WORK_REDUCES_IN_MEMORY
               : work;
}
/* CPU time of buffers that a call takes anew, each as long as its vector: their pages are mapped, cleared and registered. Shorter
 * ones are used again: glibc's malloc maps each block from M_MMAP_THRESHOLD on, which rises to 32 MiB (mallopt(3)). */
#define FC_FRESH_BYTES 33554432.0
static inline double fc_fresh_s(const struct fc_software *software, uint32_t buffers, double vector_bytes)
{
    return vector_bytes >= FC_FRESH_BYTES ? buffers * vector_bytes * software->fresh_per_byte_s : 0;
}
/* CPU time for what a message of so many blocks brings, beyond receiving it. */
static inline double fc_work_s(const struct fc_software *software, enum fc_message_work work, double bytes,
                               double blocks)
{
    double copies_s = 2 * bytes * software->copy_per_byte_s;
    return work == FC_WORK_REDUCES             ? bytes * software->reduce_per_byte_s
           : work == FC_WORK_REDUCES_IN_MEMORY ? bytes * software->reduce_memory_per_byte_s
           : work == FC_WORK_PACKS             ? copies_s
           : work == FC_WORK_PICKS             ? copies_s + software->pack_s + blocks * software->pack_per_block_s
                                               : 0;
}
