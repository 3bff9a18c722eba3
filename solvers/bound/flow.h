/* flow.h - the parts of the flow program: the network and traffic it sees, shortest paths, its solvers. */
#pragma once

#include "solvers/bound/bound.h"

#define FC_FLOW_MOST_VARIABLES 3e7
#define FC_FLOW_FREE FC_NONE       /* row of an arc of endless bandwidth */
#define FC_FLOW_DEAD (FC_NONE - 1) /* of one without bandwidth left */

/* Vertices are the routers, then the nodes that hang on several routers. Parallel cables are one arc. Every arc
 * has a row (its capacity), shared by the arcs that symmetry makes alike; without symmetry one an arc. */
struct fc_bound_flow {
    struct fc_arena arena;
    const struct fc_network *net;
    enum fc_flow_paths paths;
    uint32_t n_vertices, n_arcs, n_rows;
    uint32_t *first_out;     /* [n_vertices + 1] arcs by source */
    uint32_t *from, *to;     /* [n_arcs] */
    uint32_t *first_in, *in; /* [n_vertices + 1], [n_arcs] arcs by target */
    uint32_t *row;           /* [n_arcs] < n_rows, or FC_FLOW_FREE or FC_FLOW_DEAD */
    double *capacity;        /* [n_rows] bytes/s of each arc of the row */
    uint32_t *row_arcs;      /* [n_rows] how many arcs share it */
    uint32_t *row_arc;       /* [n_rows] the first of them */
    uint32_t *link_arc;      /* [n_links]; FC_NONE: not in the program */
    uint32_t *node_vertex;   /* [n_nodes] */
    uint32_t symmetry;
    /* Commodities: traffic to one vertex, of one destination an orbit of the translations. */
    uint32_t n_commodities; /* sparse traffic: of one pair each */
    uint32_t n_targets;     /* destinations of them all */
    uint32_t *target;       /* [n_commodities] vertex */
    uint64_t *first_source; /* [n_commodities + 1] */
    uint32_t *source;       /* vertices, ascending, != target */
    double *bytes;
    /* Minimal paths: arcs of each commodity's shortest ways from its sources, those nearest to the target first. */
    uint64_t *first_variable; /* [n_commodities + 1]; all paths: c * n_arcs */
    uint32_t *variable;       /* arcs; all paths: [n_arcs] 0, 1, 2 ..., shared */
    double node_s;
};
static inline const uint32_t *fc_flow_arcs(const struct fc_bound_flow *flow, uint32_t c)
{
    return flow->variable + (flow->paths == FC_FLOW_ALL ? 0 : flow->first_variable[c]);
}

/* flow_build.c. `work` limits the variables. */
enum fc_code fc_flow_build(const struct fc_network *net, const struct fc_node_demand *demand,
                           const struct fc_flow_settings *settings, struct fc_bound_flow *flow, struct fc_status *st);
/* flow_symmetry.c: the translations of a network that leave it as it is. */
struct fc_translations {
    uint32_t n;          /* of them; 1: none but the identity */
    uint32_t *orbit;     /* [n_routers] representative, a router */
    uint32_t *shift;     /* [n_routers] the translation that takes the representative here */
    struct fc_grid grid; /* no grid: n is 1 and the arrays are NULL */
};
enum fc_code fc_translations_find(const struct fc_network *net, struct fc_arena *arena, struct fc_translations *t,
                                  struct fc_status *st);
/* Where translation `shift`, or its inverse (`back`), takes a router. n > 1 only. */
uint32_t fc_translate(const struct fc_translations *t, uint32_t router, uint32_t shift, bool back);

/* flow_paths.c: shortest paths of one commodity. */
struct fc_flow_search {
    double *distance; /* [n_vertices] */
    uint32_t *next;   /* [n_vertices] arc of the path to the target */
    uint32_t *order;  /* [n_vertices] vertices reached, nearest first */
    uint32_t n_order;
    double *amount;         /* [n_vertices] zero between calls */
    uint32_t *heap, *place; /* [n_vertices] */
    double steps;           /* arcs looked at, summed */
};
enum fc_code fc_flow_search_start(const struct fc_bound_flow *flow, struct fc_arena *arena,
                                  struct fc_flow_search *search, struct fc_status *st);
/* Sum over the commodity's sources of bytes x shortest path by length[n_arcs] >= 0; INFINITY where one has none. */
double fc_flow_price(const struct fc_bound_flow *flow, uint32_t c, const double *length, struct fc_flow_search *search);
/* The flow of the commodity along the tree of the last fc_flow_price: arcs and bytes [at most n_vertices]. */
uint32_t fc_flow_tree(const struct fc_bound_flow *flow, uint32_t c, struct fc_flow_search *search, uint32_t *arc,
                      double *bytes);

/* length[n_arcs] of prices[n_rows]: 0 for endless bandwidth, INFINITY for none. */
void fc_flow_lengths(const struct fc_bound_flow *flow, const double *price, double *length);

/* flow_pool.c: columns, each a flow of all traffic of one commodity. */
struct fc_flow_column {
    uint32_t commodity, n;
    uint64_t first; /* of arc, bytes */
    double weight;  /* of those of a commodity together 1 */
};
struct fc_flow_pool {
    struct fc_flow_column *column; /* [n_columns] */
    uint32_t n_columns, capacity;
    uint32_t *arc; /* [used] */
    double *bytes;
    uint64_t used, room;
};
enum fc_code fc_flow_pool_add(struct fc_flow_pool *pool, uint32_t commodity, double weight, uint32_t n,
                              const uint32_t *arc, const double *bytes, struct fc_status *st);
/* Drops columns of no weight and closes the gaps of those that were given up (n == 0). */
void fc_flow_pool_compact(struct fc_flow_pool *pool);
void fc_flow_pool_free(struct fc_flow_pool *pool);

/* What the solvers pass on. */
struct fc_flow_state {
    struct fc_arena arena;
    const struct fc_bound_flow *flow;
    struct fc_flow_search search;
    struct fc_flow_pool pool; /* the flow as it is: columns and weights */
    double lower_s, upper_s;  /* of the arcs of this program, without node_s */
    double *price;            /* [n_rows] of lower_s: sum price * capacity = 1 */
    double *load;             /* [n_rows] of the pool's flow, bytes on each arc of a row */
    double *length;           /* [n_arcs] scratch */
    uint32_t *tree_arc;       /* [n_arcs] scratch */
    double *tree_bytes;
    double *sum; /* [n_arcs] zero between uses */
    uint64_t rounds;
    double steps; /* beside those of the search */
};
/* The mean flow of some columns of one commodity, the parts `weight` / their sum, into tree_arc, tree_bytes;
 * returns how many arcs. */
uint32_t fc_flow_mean(struct fc_flow_state *state, uint32_t n, const uint32_t *columns);
/* The proven bound of prices >= 0 (scaled here to sum price * capacity = 1); kept when it is better. */
double fc_flow_prove(struct fc_flow_state *state, double *price);
/* state->load of the pool's flow; lowers upper_s. Returns the greatest load / capacity. */
double fc_flow_loads(struct fc_flow_state *state);
/* The ends differ by no more than `gap` of the lower one, node_s counted. */
bool fc_flow_done(const struct fc_flow_state *state, double gap);

/* flow_weights.c: from any state to a relative gap, or until the steps are used up. */
enum fc_code fc_flow_weights(struct fc_flow_state *state, double gap, double most_steps, uint64_t most_rounds,
                             struct fc_status *st);
enum fc_code fc_flow_edges(struct fc_flow_state *state, struct fc_status *st); /* flow_edges.c */
enum fc_code fc_flow_columns(struct fc_flow_state *state, double gap, double most_steps,
                             struct fc_status *st); /* flow_columns.c */
