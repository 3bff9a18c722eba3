/* demand_build.h - private to models/: what pattern and graph files share (demand.c). */
#pragma once

#include "models/family_torus.h"

#include <math.h>

/* Arrays for n_tasks tasks and n_entries entries, n_entries set to 0 (fc_demand_add counts). FC_NO when they
 * do not fit. */
enum fc_code fc_demand_start(struct fc_demand *demand, uint64_t n_tasks, uint64_t n_entries, struct fc_status *st);

/* Entries are added in order of src; the arrays have room for what fc_demand_start was told. */
static inline void fc_demand_add(struct fc_demand *demand, uint32_t src, uint32_t dst, double bytes)
{
    size_t i = demand->n_entries++;
    demand->src[i] = src;
    demand->dst[i] = dst;
    demand->bytes[i] = bytes;
    demand->messages[i] = 1;
}

/* Room for `n` multicasts; fc_demand_multicast counts. Added in order of src; NULL when out of memory, else
 * the targets [n_targets] to be filled (multicast.c). */
enum fc_code fc_demand_multicasts_start(struct fc_demand *demand, size_t n, struct fc_status *st);
uint32_t *fc_demand_multicast(struct fc_demand *demand, uint32_t src, double bytes, uint32_t n_targets,
                              struct fc_status *st);
/* A deposit from the node of a router along dimension d over `hops` links; one node a router. */
enum fc_code fc_demand_line(const struct fc_torus_shape *s, struct fc_demand *demand, uint32_t router, int d,
                            int direction, uint32_t hops, double bytes, struct fc_status *st);
/* Whether deposits are added to a demand on this machine. */
static inline bool fc_demand_deposits(const struct fc_network *net)
{
    return net->machine->router.multicast == FC_MULTICAST_DEPOSIT;
}
/* A further dense part with zeroed a and b [n_tasks], or NULL. */
struct fc_dense *fc_demand_dense(struct fc_demand *demand, double message_bytes, struct fc_status *st);
/* Payload of the machine's largest packet: the message of open-loop patterns. */
double fc_packet_payload_bytes(const struct fc_machine *machine);

/* Where every node sends `bytes` to node to[s] of the map; arrays are allocated. */
enum fc_code fc_demand_permutation(const struct fc_network *net, struct fc_demand *demand,
                                   uint32_t (*to)(const struct fc_network *net, uint32_t node), double bytes,
                                   struct fc_status *st);

/* 1 for the nodes of the first side[d] coordinates of each dimension, else 0: inside[n_nodes]. */
void fc_demand_box(const struct fc_torus_shape *s, const uint32_t *side, double *inside);
/* n as a power of two: the exponent, or -1. */
static inline int fc_exact_log2(uint64_t n)
{
    return n > 0 && (n & (n - 1)) == 0 ? __builtin_ctzll(n) : -1;
}

/* The settings and the key of patterns that send one message size. */
struct fc_message_settings {
    double bytes;
};
#define FC_KEY_MESSAGE_BYTES(type, preset_text)                                                                        \
    {                                                                                                                  \
        .name = "bytes", .kind = FC_KEY_QUANTITY, .unit = FC_BYTES, .offset = offsetof(type, bytes), .low = 0,         \
        .high = INFINITY, .preset = preset_text, .help = "payload of one message"                                      \
    }
/* In the record of a pattern that has no other key. */
#define FC_MESSAGE_SETTINGS(preset_text)                                                                               \
    FC_SETTINGS(((const struct fc_key[]){FC_KEY_MESSAGE_BYTES(struct fc_message_settings, preset_text)}),              \
                struct fc_message_settings)

/* Entries in any order, as a graph file gives them (graph_*.c). */
struct fc_triples {
    uint32_t *src, *dst; /* [n] */
    double *bytes;       /* [n] */
    long *line;          /* [n] where the file gives the entry */
    size_t n;
};
enum fc_code fc_triples_start(struct fc_triples *t, struct fc_arena *arena, uint64_t capacity, struct fc_status *st);
/* Sorts by (src, dst), stable, by two counting sorts over n_tasks. */
enum fc_code fc_triples_sort(struct fc_triples *t, uint32_t n_tasks, struct fc_arena *arena, struct fc_status *st);

/* A file format of communication graphs; the table is in graph_formats.c. */
struct fc_graph_format {
    const char *name; /* "metis" */
    const char *what; /* one line for `list` */
    /* Told apart from those behind it in the table by name or first bytes; a folder has no data (NULL). */
    bool (*is)(const struct fc_text *text);
    /* `reading` holds what only the reading needs. */
    enum fc_code (*read)(const struct fc_text *text, struct fc_arena *reading, struct fc_demand *demand,
                         struct fc_status *st);
};

/* Rows of Open MPI's monitoring: which kinds of messages. */
enum fc_monitored {
    FC_MONITORED_USER = 1,       /* E: the program's own messages */
    FC_MONITORED_COLLECTIVE = 2, /* I: messages inside collectives */
    FC_MONITORED_ONE_SIDED = 4,  /* S, R: put and got */
    FC_MONITORED_ALL = 7
};
enum fc_code fc_graph_monitored(const char *path, int kinds, struct fc_arena *reading, struct fc_demand *demand,
                                struct fc_status *st);
