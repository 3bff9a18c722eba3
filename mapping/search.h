/* search.h - private to mapping/: moving units (tasks, or whole node contents) between slots with the loads
 * of all links kept up to date (unit_graph.c, search.c). */
#pragma once

#include "mapping/routes.h"

/* Who exchanges bytes with whom: the neighbours of unit u are other[first[u] .. first[u+1]), each once,
 * ascending. */
struct fc_unit_graph {
    uint32_t n;       /* units */
    uint64_t *first;  /* [n + 1] */
    uint32_t *other;  /* [first[n]] */
    double *out, *in; /* [first[n]] bytes from u to other, and back */
};
/* The graph of the demand's sparse entries between tasks of different units (unit[n_tasks] < n_units).
 * O(entries). */
enum fc_code fc_unit_graph_build(const struct fc_demand *demand, const uint32_t *unit, uint32_t n_units,
                                 struct fc_arena *arena, struct fc_unit_graph *graph, struct fc_status *st);
/* Bytes from unit u to another; 0: none. O(its neighbours). */
static inline double fc_unit_bytes(const struct fc_unit_graph *graph, uint32_t u, uint32_t other)
{
    for (uint64_t e = graph->first[u]; e < graph->first[u + 1]; e++)
        if (graph->other[e] == other) return graph->out[e];
    return 0;
}

/* Allowed nodes in groups: group g has place[first[g]] .. place[first[g + 1] - 1]. */
struct fc_place_groups {
    uint32_t n, *of_place, *first, *place; /* of_place[places], first[n + 1], place[places] */
};

struct fc_search_settings {
    double start_temperature, end_temperature; /* in relative change of the objective, lowered geometrically */
    int doublings;                             /* the norm's p = 2^doublings */
    double hop_weight;                         /* weight of ln(hop time) beside ln(p-norm) */
    double cap_s;             /* above 0: only hop time counts, and no link that is under this time may come over it */
    uint64_t work;            /* link updates allowed */
    double enough_s;          /* a longest link time of this or less ends the search; not with cap_s */
    const volatile int *stop; /* not 0 ends the search; NULL: nothing does */
    uint32_t blocks;          /* one move in so many tries to exchange runs of consecutive places; 0: none does */
    const struct fc_place_groups *within; /* units stay in the group of their place; NULL: they go anywhere */
    uint64_t seed, stream;                /* streams `stream` and `stream` + 1 are used */
};

struct fc_search_link {
    double load;    /* bytes */
    double inverse; /* seconds a byte, over scale_s; 0: an unused number */
    double power;   /* (load * inverse)^p */
    uint32_t stamp; /* == now: the trial has touched it */
};
/* Bytes that a trial adds to a bundle of links (routes.h); listed: it is in `changed`. */
struct fc_search_sum {
    double bytes;
    bool listed;
};
/* What the objective is made of, as in struct fc_search. */
struct fc_search_sums {
    double power, hop;
    long over;
};
/* Above these a trial is given up: sums as below. */
struct fc_search_most {
    double power, hop;
    long over;
};
struct fc_search {
    struct fc_arena arena;
    const struct fc_sites *sites;
    const struct fc_routes *routes;
    const struct fc_unit_graph *graph;
    uint32_t n_slots;
    uint32_t *place_of;          /* [n_nodes of the machine] index among the allowed nodes, or FC_NONE */
    uint32_t *slot, *place;      /* [graph->n] slot of each unit; its place */
    uint32_t *unit;              /* [n_slots] unit in each slot, FC_NONE where free */
    struct fc_search_link *link; /* [routes->n_links] */
    double scale_s;              /* longest link time when the sums were last made afresh */
    double power_sum;            /* sum over links of (load * inverse)^p */
    double hop_sum;              /* sum over links of load * inverse */
    double fresh_sum;            /* power_sum when it was last made afresh: it has lost what is far below that */
    struct fc_search_most most;  /* of the trial at hand; no limits between trials */
    double cap;                  /* links with load * inverse above it are counted */
    long n_over;                 /* such links */
    int doublings;               /* p = 2^doublings */
    struct fc_walk walk;
    uint64_t work;        /* link updates so far */
    uint64_t n_evaluated; /* moves whose change of the objective was found or bounded */
    /* The links that the trial has touched, as they were before it. */
    struct fc_search_before *before; /* [routes->n_links + 1] */
    uint32_t n_before, now;
    /* FC_ROUTES_SPREAD: bundles whose bytes the trial has changed; sums of less than `dust` are rounding. */
    struct fc_search_sum *sum; /* [n_bundles], all 0 between trials */
    uint32_t *changed, n_changed;
    bool *is_hot; /* [n_bundles] crosses a hot link; only OUT to D_IN */
    double dust;
    /* Units whose traffic crosses the hottest links; what each unit's traffic adds to power_sum, at most (as
     * of the last refresh). */
    uint32_t *hot, n_hot; /* [graph->n] */
    double *heat;         /* [graph->n] */
    uint32_t *best;       /* [graph->n] slots of the best placement met */
    double best_norm;
};

/* Places unit u on slot[u] and sums the loads. `routes` are those of the sites. On failure nothing is left to
 * free. */
enum fc_code fc_search_start(const struct fc_sites *sites, const struct fc_routes *routes,
                             const struct fc_unit_graph *graph, const uint32_t *slot, struct fc_search *search,
                             struct fc_status *st);
/* Anneals until the work is spent; leaves the placement of the least p-norm met (with cap_s: of the least hop
 * time). */
void fc_search_run(struct fc_search *search, const struct fc_search_settings *settings);
/* Longest link time of the present placement, and all link times summed, seconds. */
double fc_search_time_s(const struct fc_search *search);
double fc_search_hop_s(const struct fc_search *search);
/* ln of the norm of all link times with exponent 16, whatever the run minimised. O(links). */
double fc_search_norm(const struct fc_search *search);
void fc_search_free(struct fc_search *search);

/* ---- for the files of the search ---- */

/* A move: slots from .. from + n against to .. to + n. */
struct fc_search_proposal {
    uint32_t from, to, n;
};
/* The move of a step (search_propose.c), drawn with this key. False when it would change nothing. */
bool fc_search_propose(const struct fc_search *search, const struct fc_search_settings *settings, uint64_t key,
                       uint64_t step, struct fc_search_proposal *proposal);

/* x^(2^doublings). */
static inline double fc_search_power(double x, int doublings)
{
    for (int i = 0; i < doublings; i++) x *= x;
    return x;
}
/* Lists the units with a flow over a hot link, and what each adds to the norm (search_heat.c). Needs fresh sums. */
void fc_search_heat(struct fc_search *search);
