/* place.h - which nodes of a chip's mesh host the interfaces (bridges, NICs) of its torus: an exact model of
 * what a layout costs, all layouts searched, and proofs of the best. docs/place.md has the method and what
 * was measured.
 *
 * A chip is a mesh of any number of axes whose routes take the axes in one order; a torus of n dimensions has
 * 2 n interfaces on it, one a mesh node. Interface 2 d + FC_TMESH_PLUS leads to the next chip of dimension d
 * (the paper's RN), 2 d + FC_TMESH_MINUS to the one before (LN); what moves in + comes in by MINUS and leaves
 * by PLUS. Traffic is uniform over all nodes of the machine. All loads are flits a cycle on a mesh link when
 * every core sends one flit a cycle; they are exact (rational numbers with one denominator).
 *
 * Source of the problem: Liu, Xun, Cao & Sun, Co-design of on-chip networks and system interconnection
 * networks (TMesh), sec. 2.2 and 3.2, Table 1. */
#pragma once

#include "models/family_tmesh.h"

enum { FC_LAYOUT_MOST = 2 * FC_MAX_DIMS, FC_CHIP_AXES = 4, FC_CHIP_MOST_NODES = 256 };

/* How packets take the dimensions of the torus: in order; in any of the n! orders, each as often; or over all
 * of the minimal paths, each as often (both: ends of what adaptive routing does; the machines of this build
 * route in order). */
enum fc_chip_turns { FC_CHIP_DIMENSION_ORDER, FC_CHIP_ORDERS, FC_CHIP_PATHS };
extern const char *const fc_chip_turns_names[]; /* NULL-terminated */

struct fc_chip {
    int n_dims;
    uint32_t k[FC_MAX_DIMS]; /* chips along each dimension of the torus */
    int n_axes;              /* of the mesh; nodes are numbered with the last axis fastest (row by row) */
    uint32_t side[FC_CHIP_AXES];
    int order[FC_CHIP_AXES]; /* axes as routes take them: {1, 0} goes along its row first */
    bool bridges_compute;    /* nodes with an interface carry a core too */
    int turns;               /* enum fc_chip_turns */
    double on_chip;          /* a core also sends so many flits to the other cores of its chip for each one into the
                       machine */
    double mesh_bytes_per_s, torus_bytes_per_s; /* bandwidth of a link */
};
/* The chip of a machine. FC_INPUT: not of family tmesh. */
enum fc_code fc_chip_of_machine(const struct fc_machine *machine, struct fc_chip *chip, struct fc_status *st);

/* A layout: the mesh node of each interface. */
struct fc_bridge_layout {
    uint32_t node[FC_LAYOUT_MOST]; /* [2 n_dims] */
};

/* Table 1 of the paper (place_paper.c): a 4 x 4 mesh in a 6 x 6 x 6 torus. */
enum { FC_PLACE_TABLE1 = 7 };
struct fc_published_layout {
    const char *ln; /* nodes of x- y- z-: what the paper calls the layout by */
    struct fc_bridge_layout layout;
    double latency_cycles, throughput_percent /* of capacity */, turn_hops;
};
extern const struct fc_published_layout fc_place_table1[FC_PLACE_TABLE1];

/* ---- the model (place_model.c, place_traffic.c): a link's load is quadratic in the layout ---- */

struct fc_place_model {
    struct fc_arena arena;
    struct fc_chip chip;
    int n;                               /* interfaces */
    uint32_t n_mesh, n_links;            /* nodes; directed mesh links, numbered by node, last axis first, + before - */
    uint32_t n_cores;                    /* a chip; the same for every layout */
    uint32_t *link_source, *link_target; /* [n_links] mesh nodes */
    uint32_t *first_hop;                 /* [n_mesh^2 + 1] the route from u to v is route[first_hop[u n_mesh + v]...] */
    uint32_t *route;                     /* links */
    uint8_t *distance;                   /* [n_mesh^2] hops */
    /* What flows, in flits a cycle when every core sends one. */
    double rate[FC_LAYOUT_MOST][FC_LAYOUT_MOST];          /* from the interface of arrival to that of departure */
    double inject[FC_LAYOUT_MOST], eject[FC_LAYOUT_MOST]; /* from each core; to each core */
    double local;      /* from each core to each other core of its chip, on_chip included */
    double torus_load; /* of the busiest torus link */
    /* load = base + sum_i unary[i][u_i] + sum_{i != j} flow[i][j] on the route u_i -> u_j. Where bridges have
     * no core, what cores there would send and get is taken off: flow may be negative, loads never are. */
    double flow[FC_LAYOUT_MOST][FC_LAYOUT_MOST];
    double *base;       /* [n_links] */
    double *unary;      /* [n][n_mesh][n_links] */
    double *unary_hops; /* [n][n_mesh] sum over links */
    double base_hops;
    int turn_weight[FC_LAYOUT_MOST][FC_LAYOUT_MOST]; /* i < j: legal ordered pairs of dimension order: 2, 1 */
    int turn_pairs;                                  /* their sum: 2 n_dims^2 */
    double scale; /* every number above times it is whole; loads stay below 2^53. 0: none known */
};
/* FC_INPUT: mesh too small for the interfaces (and a core), or a field out of range. O(n n_mesh^2 diameter).
 */
enum fc_code fc_place_model_make(const struct fc_chip *chip, struct fc_place_model *model, struct fc_status *st);
void fc_place_model_free(struct fc_place_model *model);

/* What a layout costs. */
struct fc_layout_figures {
    double turn_hops;     /* mean over the legal ordered pairs of interfaces: Table 1, row 3 */
    double weighted_hops; /* mean on-chip hops of a packet, source, transit and destination chips together */
    double greatest_load; /* of a mesh link */
    uint32_t busiest;     /* that link */
    double utilization;   /* of it when the busiest torus link is full */
    double fairness;      /* least over greatest of what cores have to go to and from interfaces, mean hops; 1:
                        alike */
    double passed; /* bridges that a packet passes on its own mesh channel (place_passed.c): the fewer, the more the
                        kernel accepts */
};
/* Whether all figures but rounding are the same. */
bool fc_layout_alike(const struct fc_layout_figures *a, const struct fc_layout_figures *b);
/* Every node must be on the mesh, no two the same (not checked). load [n_links] may be NULL. */
void fc_layout_figure(const struct fc_place_model *model, const struct fc_bridge_layout *layout, double *load,
                      struct fc_layout_figures *figures);
/* The same but for passed (0), which searches do not look at and which takes most of the time. */
void fc_layout_cost(const struct fc_place_model *model, const struct fc_bridge_layout *layout, double *load,
                    struct fc_layout_figures *figures);
/* Sum over i < j of turn_weight x distance: turn_hops x turn_pairs. */
int fc_layout_turn_sum(const struct fc_place_model *model, const struct fc_bridge_layout *layout);

/* Rates of uniform traffic on a k_1 x ... torus (place_traffic.c), for a packet whose source and destination
 * are drawn from all chips, the same included. turn[i][s][j][t]: expected number of times it goes on from
 * direction s (0 +, 1 -) of dimension i to direction t of j on the next chip; first and last: that it leaves
 * its source chip, or enters its last one, so. */
struct fc_torus_turns {
    double turn[FC_MAX_DIMS][2][FC_MAX_DIMS][2], first[FC_MAX_DIMS][2], last[FC_MAX_DIMS][2];
};
void fc_torus_turns_uniform(int n_dims, const uint32_t *k, int turns, struct fc_torus_turns *out);

/* ---- which layouts are allowed (place_rules.c) ---- */

struct fc_layout_rules {
    bool lines; /* each dimension's two interfaces on one line along the axis that routes take first
                 * (row-first: a row), another line for each dimension: no deadlock with separate channels for
                 * injection and ejection */
    uint32_t pinned[FC_LAYOUT_MOST]; /* node of an interface, FC_NONE: any */
    const uint8_t *taken;            /* [n_mesh] 1: no interface here; NULL: none */
};
void fc_layout_rules_none(struct fc_layout_rules *rules);
/* The line of a node along the axis that routes take first: 0 .. lines - 1. */
uint32_t fc_layout_line(const struct fc_place_model *model, uint32_t node);
uint32_t fc_layout_lines(const struct fc_place_model *model);
bool fc_layout_allowed(const struct fc_place_model *model, const struct fc_layout_rules *rules,
                       const struct fc_bridge_layout *layout);
/* FC_INPUT: no layout is allowed; names a least set of rules that contradict each other (any of them left
 * out, the others can be met). Exact: matchings. */
enum fc_code fc_layout_rules_check(const struct fc_place_model *model, const struct fc_layout_rules *rules,
                                   struct fc_status *st);
/* "x-", "x+", "y-" of interface i. Returns out. */
char *fc_interface_name(int interface, char *out, size_t size);
/* "x-=0,y+=5": pins. FC_INPUT names what is wrong, after `what`. */
enum fc_code fc_layout_read(const char *text, const char *what, const struct fc_place_model *model, uint32_t *pinned,
                            struct fc_status *st);

/* ---- objectives and answers ---- */

enum fc_place_objective { FC_PLACE_HOPS, FC_PLACE_WEIGHTED, FC_PLACE_LOAD, FC_PLACE_OBJECTIVES };
extern const char *const fc_place_objective_names[]; /* NULL-terminated: hops, weighted, load */
static inline double fc_layout_value(const struct fc_layout_figures *figures, int objective)
{
    return objective == FC_PLACE_HOPS       ? figures->turn_hops
           : objective == FC_PLACE_WEIGHTED ? figures->weighted_hops
                                            : figures->greatest_load;
}

/* ---- all layouts (place_search.c) ---- */

struct fc_layout_point {
    struct fc_bridge_layout layout;
    struct fc_layout_figures figures;
    uint64_t layouts; /* allowed ones with the same value (front: the same weighted hops and load) */
};
struct fc_place_all {
    struct fc_arena arena;
    uint64_t layouts;   /* allowed */
    uint64_t evaluated; /* one of each class of layouts that are alike */
    bool exact;         /* compared as whole numbers; else rounded to about 1e-9 of a load */
    int lane_bits;      /* of the numbers that loads were added in */
    struct fc_layout_point best[FC_PLACE_OBJECTIVES]; /* first in the order of nodes; ties by the other objectives */
    uint32_t n_front;
    struct fc_layout_point *front; /* [n_front] of weighted hops and greatest load, ascending weighted hops */
};
struct fc_place_all_settings {
    bool symmetry; /* evaluate one layout of each class only (mirrored meshes, interfaces with equal traffic)
                    */
    int threads;
    double most; /* layouts to evaluate; more are refused with FC_NO. 0: 2e9 */
};
/* Number of layouts allowed by the rules, those with pins and taken nodes as if there were none. */
double fc_place_count(const struct fc_place_model *model, const struct fc_layout_rules *rules);
/* Evaluates every allowed layout. Same answer for any number of threads. FC_INPUT: none is allowed. FC_NO:
 * too many. 16!/10! layouts of a 4 x 4 mesh: some 0.3 s, with symmetry 0.02 s. */
enum fc_code fc_place_all(const struct fc_place_model *model, const struct fc_layout_rules *rules,
                          const struct fc_place_all_settings *settings, struct fc_place_all *all, struct fc_status *st);
void fc_place_all_free(struct fc_place_all *all);
/* The allowed layouts that no other beats in both weighted hops and passed bridges (place_passed.c), ascending weighted
 * hops, with all their figures; array in the arena. 216 216 layouts: about 0.5 s. FC_INPUT: none is allowed. */
enum fc_code fc_place_passed_front(const struct fc_place_model *model, const struct fc_layout_rules *rules,
                                   struct fc_arena *arena, struct fc_layout_point **front, uint32_t *n,
                                   struct fc_status *st);
