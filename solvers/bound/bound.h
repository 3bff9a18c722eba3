/* bound.h - throughput bounds by linear programming: the least greatest link load of a traffic, and the
 * permutation that an oblivious routing carries worst. */
#pragma once

#include "solvers/load_internal.h"

/* ---- the least greatest link load (flow_*.c) ---------------------------------------------------------------- */

/* Which ways the traffic may take: those of fewest hops, or any. */
enum fc_flow_paths { FC_FLOW_MINIMAL, FC_FLOW_ALL };
enum fc_flow_method {
    FC_FLOW_AUTO,    /* columns; weights where there are too many links */
    FC_FLOW_EDGES,   /* one variable a link and destination, GLPK simplex: small programs */
    FC_FLOW_COLUMNS, /* column generation: GLPK simplex over routes found by shortest paths */
    FC_FLOW_WEIGHTS  /* multiplicative weights alone: an interval */
};
struct fc_flow_settings {
    enum fc_flow_paths paths;
    enum fc_flow_method method;
    double gap;            /* relative distance of the two ends at which it stops; 0: 1e-9 */
    double work;           /* most elementary steps, some 2e-9 s each; 0: 5e9 */
    double most_variables; /* of the edge form, more are refused; 0: 3e7 */
    bool if_cheap;         /* channel loads only: a program too large is left out, and one that is not needed */
    bool whole;            /* leave symmetry unused (the oracle) */
    const double *background_bytes_per_s; /* [n_links] or NULL */
};
/* The answer is an interval of seconds for the payload: `lower_s` is proven by the prices, `upper_s` is that of
 * a flow that was found. */
struct fc_flow_bound {
    struct fc_arena arena;
    enum fc_flow_paths paths;
    double lower_s, upper_s;
    double *price;      /* [n_links] y >= 0 with sum of y * free bandwidth = 1; the sum over pairs of bytes times the
                     * shortest path under y is lower_s, unless a node's own links bind (lower_s = node_s) */
    double node_s;      /* of the links between nodes with one router and that router */
    bool exact;         /* the ends differ by no more than the gap asked for */
    const char *method; /* "edges", "columns", "weights"; "none": no traffic between routers */
    uint32_t n_commodities, n_rows; /* of the program solved */
    uint64_t n_variables;           /* of its edge form */
    uint32_t symmetry;              /* translations of the network that leave the traffic as it is; 1: not used */
    uint64_t rounds;                /* sweeps over all commodities */
};
/* min z such that all traffic flows and no link carries more than z x its free bandwidth:
 *
 *   sum_t f_t(l) <= z b(l),   sum_out f_t - sum_in f_t = D(v, t) for every v != t,   f >= 0,
 *
 * t: destinations (routers; nodes on several routers). FC_INPUT: bytes that are negative or no number, nodes that
 * the machine lacks. FC_NO: traffic without a way, or a program too large (with its figures). */
enum fc_code fc_flow_bound_solve(const struct fc_network *net, const struct fc_node_demand *demand,
                                 const struct fc_flow_settings *settings, struct fc_flow_bound *bound,
                                 struct fc_status *st);
void fc_flow_bound_free(struct fc_flow_bound *bound);
/* The machine's routing takes paths of fewest hops only. */
bool fc_flow_minimal(const struct fc_network *net);
/* Settings of a bound beside every answer: some tenths of a second at most, programs that are larger left out. */
struct fc_flow_settings fc_flow_cheap(const struct fc_network *net);

/* ---- the worst permutation of an oblivious routing (worst_case.c, assignment.c) ------------------------------ */

struct fc_worst_case {
    struct fc_arena arena;
    double load;   /* on the worst link, in bytes where every node sends one */
    double time_s; /* load / bandwidth: the least time of a byte a node; 1 / time_s is the throughput */
    double
        most_s; /* proven: no permutation takes longer a byte; time_s where all links that could be worse were solved */
    uint32_t link;
    uint32_t *to;      /* [n_nodes] the permutation: node s sends to to[s]; s itself: sends nothing */
    double *u, *v;     /* [n_nodes] certificate: u[s] + v[d] >= share of the route s -> d on the link, sum = load */
    uint32_t n_solved; /* assignment problems solved, of links or of classes of links */
    uint32_t n_left;   /* links that could still be worse when the work was used up; 0: exact */
    uint32_t symmetry; /* translations used; 1: none */
    double work_left;  /* elementary steps of those allowed */
};
/* The permutation that maximises max over links of load / bandwidth under the machine's routing, its split uniform
 * where it is adaptive (Towles & Dally 2002): for each link a maximum-weight assignment of destinations to sources.
 * `whole` leaves symmetry unused (the oracle). `work`: most elementary steps, some 2e-9 s each, after which it ends with an
 * interval (time_s found, most_s proven; link FC_NONE: nothing was found); 0: 5e10. FC_NO: too large, with the figures. */
enum fc_code fc_worst_case_solve(const struct fc_network *net, bool whole, double work, struct fc_worst_case *worst,
                                 struct fc_status *st);
void fc_worst_case_free(struct fc_worst_case *worst);

/* A maximum-weight assignment of supply[n_rows] rows of each kind to room[n_columns] columns of each kind. */
struct fc_assignment {
    uint32_t n_rows, n_columns;
    const double *weight; /* [n_rows][n_columns] finite and >= 0 */
    const uint32_t *supply, *room;
};
/* x[n_rows][n_columns] how many of a row's kind go to a column's, the sum of weight x greatest; u[n_rows], v[n_columns] >= 0
 * prove it: u + v >= weight, and the sum of supply u and room v is the same. Adds the elementary steps to *steps (NULL: not
 * counted). */
enum fc_code fc_assign(const struct fc_assignment *problem, uint32_t *x, double *u, double *v, double *steps,
                       struct fc_status *st);
