/* generate.h - machine files of networks that are made by a rule: what a generator is, and how it is called (generate.c). */
#ifndef FC_MODELS_GENERATE_H
#define FC_MODELS_GENERATE_H

#include "models/models.h"

/* What every generator takes besides its shape. */
struct fc_generated_rates {
    double bandwidth_bytes_per_s, latency_s; /* of every link */
    double delay_s;                          /* of a router */
    long long cores;                         /* of a node */
};
#define FC_GENERATED_RATES(settings)                                                                                     \
    {"bandwidth",                                                                                                        \
     FC_KEY_QUANTITY,                                                                                                    \
     FC_BYTES_PER_S,                                                                                                     \
     offsetof(settings, rates.bandwidth_bytes_per_s),                                                                    \
     1,                                                                                                                  \
     1e18,                                                                                                               \
     NULL,                                                                                                               \
     "25 GB/s",                                                                                                          \
     "of every link, a direction"},                                                                                      \
        {"latency", FC_KEY_QUANTITY, FC_SECONDS,     offsetof(settings, rates.latency_s), 0, 10,                         \
         NULL,      "50 ns",         "of every wire"},                                                                   \
        {"delay", FC_KEY_QUANTITY, FC_SECONDS, offsetof(settings, rates.delay_s), 0, 10, NULL, "100 ns", "of a router"}, \
    {                                                                                                                    \
        "cores", FC_KEY_INT, FC_NUMBER, offsetof(settings, rates.cores), 1, 65536, NULL, "1",                            \
            "tasks that a node holds"                                                                                    \
    }

/* A machine in the making. A generator sets the title, and either the lines of a family or the cables of a graph. */
struct fc_generated {
    struct fc_arena arena;
    struct fc_generated_rates rates;
    char name[64], title[160];
    int vcs;
    const char *routing; /* NULL: the family's */

    /* A family of its own: what stands behind `network:` and its link classes, without injection. */
    char network[400];
    const char *classes[4];

    /* Or a graph: cables between routers, each once, and nodes by their router's number. */
    uint32_t n_routers, nodes_per_router, n_cables, capacity;
    uint32_t (*cable)[2];
    bool too_many; /* more cables were added than announced: the generator's mistake */
};
/* Room for `capacity` cables. FC_INPUT: more routers, nodes or cables than are allowed. */
enum fc_code fc_generated_graph(struct fc_generated *g, uint64_t n_routers, uint64_t nodes_per_router,
                                uint64_t capacity, struct fc_status *st);
void fc_generated_cable(struct fc_generated *g, uint32_t a, uint32_t b);

struct fc_generator_ops {
    const char *name, *help, *source;
    const struct fc_key *keys;
    size_t n_keys, settings_size; /* the settings begin with struct fc_generated_rates */
    enum fc_code (*make)(const void *settings, struct fc_generated *g, struct fc_status *st);
};
extern const struct fc_generator_ops *const fc_generators[]; /* ends with NULL */

/* "hyperx:dims=10x10,nodes=5" as a machine file at `path`, and for a graph its list of cables beside it (NAME.edges for
 * NAME.yaml): both whole or neither. Figures that no rule gives (rates, delays) are the arguments' or marked as
 * placeholders. FC_INPUT names generators or keys. O(cables). */
enum fc_code fc_machine_generate(const char *text, const char *path, struct fc_status *st);

#endif
