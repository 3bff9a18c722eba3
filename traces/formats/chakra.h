/* chakra.h - private to traces/: nodes of a Chakra execution trace, between their two encodings
 * (chakra_protobuf.c, chakra_json.c) and the graph that is made of them (format_chakra.c). */
#pragma once

#include "core/stream.h"
#include "traces/trace_formats.h"

enum fc_chakra_type { /* as in the schema */
                      FC_CHAKRA_METADATA = 1,
                      FC_CHAKRA_LOAD,
                      FC_CHAKRA_STORE,
                      FC_CHAKRA_COMP,
                      FC_CHAKRA_SEND,
                      FC_CHAKRA_RECV,
                      FC_CHAKRA_COLL,
                      FC_CHAKRA_LAST = 10 /* storage, batch, checkpoint */
};

struct fc_chakra_dependency {
    uint64_t id;
    uint32_t node; /* place of that node in the file's order; FC_NONE: not there */
    bool control;  /* of order only; else of data */
    bool dropped;
};
struct fc_chakra_node {
    uint64_t id;
    uint64_t record; /* where it stands in the file, from 1 */
    double duration_s;
    int64_t type, comm_type, bytes, src, dst, tag, root, num_ops; /* -1: not given; type 0: not given */
    int32_t group;                                                /* index in groups; -1: the world */
    bool on_cpu, some_dims;
    uint32_t n_before;
    uint64_t before; /* what it depends on: n_before entries of the rank's list from here on */
};

struct fc_chakra_group {
    char *name;
    int32_t comm;
    uint32_t n;
    uint32_t *member; /* [n] */
};

struct fc_chakra {
    struct fc_status *st;
    struct fc_trace_sink *sink;
    const char *file; /* of the rank at hand */
    uint32_t rank, n_ranks;
    struct fc_chakra_node *nodes; /* [n_nodes] of the rank at hand, as in the file */
    size_t n_nodes, nodes_capacity;
    struct fc_chakra_dependency *before; /* [n_before] */
    size_t n_before, before_capacity;
    struct fc_chakra_group *groups; /* [n_groups] by name */
    size_t n_groups;
    const char *groups_file; /* NULL: none */
};

/* The array with room for one more of `size` bytes behind n; NULL: no memory. */
void *fc_chakra_room(struct fc_chakra *c, void *array, size_t n, size_t *capacity, size_t size);
/* The next node of the rank, with everything not given; NULL: out of memory. Valid until the next one. */
struct fc_chakra_node *fc_chakra_add(struct fc_chakra *c);
/* The node last added depends on the node `id`: for its data, or (control) for the order only. */
enum fc_code fc_chakra_depend(struct fc_chakra *c, uint64_t id, bool control);
/* A named attribute of a node: a number, or where `text` is not NULL a text. Names count without underscores
 * and case; unknown ones are left. */
enum fc_code fc_chakra_attribute(struct fc_chakra *c, struct fc_chakra_node *node, const char *name, size_t length,
                                 int64_t value, const char *text, size_t text_length);
/* name without underscores and in lower case, cut to size. */
void fc_chakra_plain(const char *name, size_t length, char *out, size_t size);
/* FC_INPUT "FILE: rank R, record K: ..." */
enum fc_code fc_chakra_fail(struct fc_chakra *c, uint64_t record, const char *format, ...) FC_PRINTF(3, 4);

/* The order of the events of one rank (chakra_order.c). */
struct fc_chakra_order {
    uint32_t n;
    uint32_t *order; /* [n] nodes in the order of their events */
    uint32_t *event; /* [n] the event of each node */
};
/* Sorts the nodes of the rank at hand; owned by the arena. Finds the nodes of all dependencies and marks
 * those that are dropped. */
enum fc_code fc_chakra_sort(struct fc_chakra *c, struct fc_arena *arena, struct fc_chakra_order *order);

/* Read the nodes of one rank from c->file. */
enum fc_code fc_chakra_read_protobuf(struct fc_chakra *c);
enum fc_code fc_chakra_read_json(struct fc_chakra *c);
/* Loads a JSON file, perhaps compressed. */
struct json_t;
struct json_t *fc_chakra_load_json(const char *path, struct fc_status *st);
