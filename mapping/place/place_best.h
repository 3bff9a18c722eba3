/* place_best.h - the best layout for one objective with a proof or a gap, where all layouts are too many:
 * local search for the layout, branch and bound or an integer program for the proof. */
#pragma once

#include "mapping/place/place.h"

struct fc_place_best {
    struct fc_bridge_layout layout;
    struct fc_layout_figures figures;
    double value;       /* of the objective (fc_layout_value) */
    double bound;       /* no allowed layout is below */
    bool proven;        /* value and bound are the same */
    double gap_percent; /* 100 (value / bound - 1); NaN: no bound above 0 */
    const char *by; /* "all layouts", "branch and bound", "integer program", "town bound", ...; what gave the bound */
    uint64_t steps; /* work: layouts, moves looked at, some 64 additions of a tree, nodes of a program */
};

/* A good layout by local search from `starts` random ones (place_local.c): moves of one interface, exchanges
 * of two, a dimension to another line. Deterministic. FC_INPUT: none is allowed. */
enum fc_code fc_place_local(const struct fc_place_model *model, const struct fc_layout_rules *rules, int objective,
                            int starts, uint64_t seed, struct fc_place_best *best, struct fc_status *st);

/* Least sum of the distances between all pairs of `points` different nodes of a rows x columns mesh
 * (place_town.c), exact. O(2^points + partitions^2); points at most 16. */
int fc_town_least(uint32_t rows, uint32_t columns, int points);
/* The same of all interfaces of a chip; of more than two axes a hop a pair. */
int fc_town_pairs(const struct fc_place_model *model);
/* What no layout's turn sum (turn_hops x turn_pairs) is below: the town of all interfaces, and once more a
 * hop for each dimension; rounded up to an even number, as turn sums are. */
int fc_town_bound(const struct fc_place_model *model);

/* Branch and bound from a known layout (in `best`), for `most_steps` nodes (place_branch.c); improves it and
 * its bound. Where it ends before that, layout and bound are proven best. Deterministic. FC_NO: out of
 * memory. */
enum fc_code fc_place_branch(const struct fc_place_model *model, const struct fc_layout_rules *rules, int objective,
                             uint64_t most_steps, struct fc_place_best *best, struct fc_status *st);

/* The same for the greatest load (place_cuts.c). */
enum fc_code fc_place_cuts(const struct fc_place_model *model, const struct fc_layout_rules *rules, uint64_t most_steps,
                           struct fc_place_best *best, struct fc_status *st);

/* Profiles: positions of all interfaces on the axis that routes take first. Every allowed layout with a
 * greatest load below `below` (INFINITY: all), or one that is alike (mirrored, interfaces of a dimension
 * exchanged), has one of these; ascending in what no layout of the profile is below. */
struct fc_place_profile {
    uint32_t position[FC_LAYOUT_MOST];
    double bound;
};
struct fc_place_profiles {
    uint32_t n;
    struct fc_place_profile *profile; /* [n] in the arena */
};
/* FC_NO: more than `most`. */
enum fc_code fc_place_profiles_find(const struct fc_place_model *model, const struct fc_layout_rules *rules,
                                    double below, uint32_t most, struct fc_arena *arena,
                                    struct fc_place_profiles *profiles, struct fc_status *st);

/* The integer program, by GLPK (place_milp.c). */
struct fc_place_milp_settings {
    double time_s;    /* limit of the branch and cut; what then holds is reported with its gap */
    double most_load; /* layouts above are not allowed; 0: any */
    bool bare;        /* without the bounds that place_town.c adds (hops), and without a layout to start from */
};
/* Hops: compact (distances by rows and columns); weighted and load: with a variable for each pair of
 * positions (RLT). `best` holds a known layout, or is zeroed with by == NULL. FC_NO: too large for it, or
 * stopped without a layout. FC_INPUT: no layout is allowed. */
enum fc_code fc_place_milp(const struct fc_place_model *model, const struct fc_layout_rules *rules, int objective,
                           const struct fc_place_milp_settings *settings, struct fc_place_best *best,
                           struct fc_status *st);

/* All layouts where they are few enough, else local search, branch and bound and the town bound, in about
 * `time_s` of a nominal machine (steps are counted, so results repeat). */
enum fc_code fc_place_best_find(const struct fc_place_model *model, const struct fc_layout_rules *rules, int objective,
                                double time_s, int threads, struct fc_place_best *best, struct fc_status *st);
