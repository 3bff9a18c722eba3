/* demand.h - bytes between tasks, and what a traffic pattern is (demand.c, patterns/). */
#pragma once

#include "models/network.h"

/* Bytes that tasks send each other in one phase. Sparse entries in source-major order, plus dense parts a[s]*b[d]
 * (s != d) that are never expanded. Arrays are owned by the arena. */
/* One message to several tasks that routers of the machine's kind copy on the way. */
struct fc_multicast {
    uint32_t src, n_targets;
    uint32_t *target;       /* [n_targets] tasks; deposit: in the order of the line; tree: on adjacent nodes (the
                               sender may be among them: it gets a copy too) */
    double bytes;           /* payload */
    uint8_t dim, direction; /* deposit: the line; direction 0 +, 1 - */
};
struct fc_demand {
    struct fc_arena arena;
    const char *name; /* what it is, for people */
    uint32_t n_tasks;
    size_t n_entries;
    uint32_t *src, *dst; /* [n_entries] tasks, src-major; duplicates allowed, src == dst allowed (stays in the task) */
    double *bytes;       /* [n_entries] payload bytes */
    double *messages;    /* [n_entries] number of messages those bytes come in */
    int n_dense;
    struct fc_dense {
        double *a, *b;        /* [n_tasks] bytes from s to d = a[s] * b[d], s != d */
        double message_bytes; /* payload of one message of this part */
    } dense[4];
    bool open_loop; /* bytes are relative rates only (uniform, hotregion...), not a message */
    int n_grid;     /* stencil patterns: the task grid, slowest dimension first; else 0 */
    long long grid[FC_MAX_DIMS];
    double computation_s; /* per task in this phase, 0 unless given */
    /* The same messages once more, as routers that copy packets are given them (router.multicast); the
     * entries are how software passes them on. The flit-level kernel sends these instead; everything else
     * sees the entries. */
    size_t n_multicasts;
    struct fc_multicast *multicasts; /* [n_multicasts] src-major */
};
void fc_demand_free(struct fc_demand *demand);

/* A traffic pattern: one file, one record. */
struct fc_pattern_ops {
    const char *name, *help, *source;
    const struct fc_key *keys;
    size_t n_keys, settings_size;
    /* Fills demand (n_tasks, entries or dense parts) for this machine. */
    enum fc_code (*make)(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st);
};
/* "name[:key=value,...]" for this network. Patterns over nodes place one task a node; stencils and multicast one a
 * core. FC_INPUT names the valid patterns or keys. */
enum fc_code fc_demand_from_pattern(const struct fc_network *net, const char *text, uint64_t seed,
                                    struct fc_demand *demand, struct fc_status *st);
/* A communication graph in one of the formats of fc_graph_formats: a file, perhaps compressed (.gz, .xz, .zst), or for Open
 * MPI's monitoring also the folder of its files. The format is told by the content (dense also by a name NAME.mat). */
enum fc_code fc_demand_from_graph(const char *path, struct fc_demand *demand, struct fc_status *st);
/* bytes[i] from task src[i] to dst[i], i < n, one message each, copied; FC_INPUT names the entry that is none. The caller
 * frees the demand, also after a failure. O(n). */
enum fc_code fc_demand_of_pairs(const char *name, uint32_t n_tasks, size_t n, const uint32_t *src, const uint32_t *dst,
                                const double *bytes, struct fc_demand *demand, struct fc_status *st);
extern const struct fc_graph_format *const fc_graph_formats[]; /* ends with NULL (demand_build.h) */
