/* bound.h - private to mapping/: the parts of the bound of a mapping problem (mapping_bound.c). All hold for
 * every mapping and every routing, but for the level of supernodes, which knows indirect routing. */
#pragma once

#include "mapping/search.h"

/* What tasks exchange beyond their heaviest partners (bound_partners.c). */
struct fc_partners {
    uint32_t n;            /* tasks */
    const uint64_t *first; /* [n + 1] */
    double *out, *in;      /* [first[n]] first[t] + i: bytes of t's list of partners but its i heaviest */
    int n_dense;
    const double *a[4], *b[4];     /* [n] dense parts of the demand */
    double *rest_a[4], *rest_b[4]; /* [n + 1] sum of all but the i greatest */
};
/* O(entries log entries). The graph and the demand must outlive it. */
enum fc_code fc_partners_start(const struct fc_demand *demand, const struct fc_unit_graph *tasks,
                               struct fc_arena *arena, struct fc_partners *partners, struct fc_status *st);
/* Bytes that all tasks together send (`in`: that one task receives, the sums being equal) to tasks beyond
 * `beside` each; *heaviest: of the task that has most, out[0] and in[1]. O(tasks). */
double fc_partners_beyond(const struct fc_partners *partners, uint64_t beside, bool in, double *heaviest);

/* The surface of sets of tasks of a grid (bound_grid.c). */
struct fc_grid_surface {
    uint32_t k;      /* side of the last dimension */
    double line;     /* bytes that leave the set for each of its lines there that it meets and does not fill */
    uint64_t n;      /* tasks in a slice: the product of the other sides */
    double *leaving; /* [n + 1] least bytes that leave s tasks of a slice; NULL: no surface is known */
    double unit;     /* it is a multiple of it; 0: of nothing known */
};
/* Looks up in the graph what neighbours on the demand's grid exchange. O(tasks + table); tables that would cost
 * too much are left out. */
enum fc_code fc_grid_surface_start(const struct fc_demand *demand, const struct fc_unit_graph *tasks,
                                   struct fc_arena *arena, struct fc_grid_surface *surface, struct fc_status *st);
/* Least bytes a task that leave (enter) a set of `least` to `most` tasks, 1 <= least <= most. O(n^2), mostly
 * far less. */
double fc_grid_leaving(const struct fc_grid_surface *surface, uint64_t least, uint64_t most);
/* Least bytes that leave (enter) any one set of `least` to `most` tasks. As above. */
double fc_grid_surface_of_one(const struct fc_grid_surface *surface, uint64_t least, uint64_t most);

/* The surface of sets of tasks of rings (bound_ring.c). */
enum { FC_MOST_RING_PARTNERS = 64 };
struct fc_ring_surface {
    uint64_t length, d;                  /* tasks of a ring; partners on either side, 0: no surface is known */
    double bytes[FC_MOST_RING_PARTNERS]; /* [d] least that a task sends to its k-th next and before, falling */
};
/* The stride of most bytes among those of task 0's partners. O(strides * partners * entries), bounded. */
struct fc_ring_surface fc_ring_surface_find(const struct fc_unit_graph *tasks);
/* Least bytes a task that leave (enter) a set of 1 to `most` tasks. */
double fc_ring_leaving(const struct fc_ring_surface *ring, uint64_t most);

/* Units of the network that hold the tasks between them: nodes, routers, drawers, halves (bound_levels.c). */
struct fc_cut_level {
    char name[40];
    bool nodes;                   /* the units are single nodes */
    uint64_t least, most;         /* tasks that a unit holds */
    uint64_t fullest;             /* the unit with most holds at least these */
    double out, in;               /* bytes/s that leave, enter all units, summed */
    double widest_out, widest_in; /* of the unit that has most */
    double rate;                  /* of each of the links between units and out of them; 0: they differ */
};
enum { FC_MOST_CUT_LEVELS = 64 };
/* Sets level[*n]: those in which every allowed node is in a unit. O(levels x links). */
enum fc_code fc_cut_levels(const struct fc_sites *sites, uint32_t n_tasks, struct fc_cut_level *level, int *n,
                           struct fc_status *st);

/* Least time of all hops over all links between routers, seconds; 0 where it is not known or would cost too
 * much (bound_hops.c). */
enum fc_code fc_hop_bound(const struct fc_sites *sites, const struct fc_partners *partners, double *bound_s,
                          struct fc_status *st);

/* What single messages cost, and in what portions loads come (bound_message.c). */
enum { FC_MOST_MESSAGE_WALK = 4096 /* links of a route that are looked at */ };
struct fc_message_bound {
    double time_s;  /* no mapping is under it; 0: none is known */
    int parts;      /* shares of routes are multiples of 1 / parts; 0: of nothing known */
    double portion; /* loads are multiples of so many bytes; 0: of nothing known */
};
/* O(n log n + routes x links) for n pairs of tasks; nothing where the routes would cost more than most_work visits of
 * links. */
enum fc_code fc_message_bound(const struct fc_sites *sites, const struct fc_unit_graph *tasks, double most_work,
                              struct fc_message_bound *bound, struct fc_status *st);

/* fc_mapping_bound without the search of all mappings. */
enum fc_code fc_mapping_bound_of_sets(const struct fc_map_problem *problem, struct fc_map_bound *bound,
                                      struct fc_status *st);
