/* hosts.h - the host names of a machine's nodes, and nodes as users name them (hosts.c, node_list.c). */
#pragma once

#include "models/models.h"

/* Gives net->host_name the machine file's `hosts` or `hosts_file`, or a fabric file's node names unless one
 * of them is a number. FC_INPUT at the key: another number of hosts than nodes, a host twice. Called by
 * fc_network_build. */
enum fc_code fc_hosts_of_machine(struct fc_network *net, struct fc_status *st);

/* Reads host names as users give them: a host list, "@FILE" or a path with '/'. Names repeated in a file
 * count once (a $PBS_NODEFILE); elsewhere they are refused. Owned by the arena. */
enum fc_code fc_hosts_read(const char *text, struct fc_arena *arena, const char ***name, uint32_t *n,
                           struct fc_status *st);

/* Finds hosts by name. */
struct fc_host_index {
    uint32_t *slot; /* [n_slots] node + 1, 0 empty */
    uint32_t n_slots;
    const char *const *name;
};
enum fc_code fc_host_index_start(const struct fc_network *net, struct fc_arena *arena, struct fc_host_index *index,
                                 struct fc_status *st);
/* The node of that name, or FC_NONE. */
uint32_t fc_host_find(const struct fc_host_index *index, const char *name, size_t length);
/* FC_INPUT: "host 'cn99' is not in machine X (near: cn09, cn19; it has cn00 to cn63)". */
enum fc_code fc_host_unknown(const struct fc_network *net, const char *name, size_t length, struct fc_place where,
                             struct fc_status *st);

/* For messages: "node 67 (cn067)" by its host, or by its name in the fabric's file; "node 67" where it has neither.
 * Returns out. */
char *fc_node_name(const struct fc_network *net, uint32_t node, char *out, size_t size);

/* Nodes as users name them, in the order written: "@FILE" or the path of a file, or a list whose elements are
 * node numbers and ranges (0-31), hosts (cn[000-015,020]), coordinates or other names of routers, which stand
 * for all nodes there ((0-3,0,1), 12.5, leaf0). A node twice is refused, except in a file and where "host*2"
 * says so. Messages begin with "--nodes: " where no file is at fault. Owned by the arena. `line`: the candidate list on
 * that line of the file; 0: all of it, FC_INPUT where it holds several candidate lists (fc_host_file_lists). */
enum fc_code fc_nodes_read(const struct fc_network *net, const char *text, long line, struct fc_arena *arena,
                           uint32_t **node, size_t *n, struct fc_status *st);
/* Whether the text names a file of nodes: "@FILE", a path with '/', or the name of a file that is there. */
bool fc_nodes_in_file(const char *text);
