/* place_search.h - what place_search.c shares with its inner loops, made once for each width of numbers
 * (place_search_lanes.h). */
#pragma once

#include "mapping/place/place.h"

struct fc_place_key {
    int32_t turns, load; /* load: biased as the lanes are */
    int64_t weighted;
};
struct fc_place_found {
    struct fc_place_key key;
    struct fc_bridge_layout layout;
    uint64_t layouts;
};
/* What one task, or all of them, have seen. */
struct fc_place_seen {
    uint64_t layouts, evaluated;
    struct fc_place_found best[FC_PLACE_OBJECTIVES];
    uint32_t n_front, capacity;
    struct fc_place_found *front; /* [n_front] ascending weighted, descending load */
    bool full;                    /* out of memory */
};
struct fc_place_task {
    uint32_t first[2];
    uint64_t times; /* layouts that each layout of the task stands for */
};
struct fc_place_search {
    const struct fc_place_model *m;
    const struct fc_layout_rules *rules;
    double scale;
    int lane_bits;
    uint32_t lanes;      /* links, and zeros to a multiple of 16 */
    void *base;          /* [lanes] of a link that does not exist: the least number */
    void *unary;         /* [n][n_mesh][lanes] */
    void *pair;          /* [n (n - 1) / 2][n_mesh][n_mesh][lanes] */
    int64_t *unary_hops; /* [n][n_mesh] */
    int64_t pair_hops[FC_LAYOUT_MOST][FC_LAYOUT_MOST];
    uint32_t *line;         /* [n_mesh] */
    bool swap[FC_MAX_DIMS]; /* the two interfaces of this dimension are alike: the first on the lower node */
    uint32_t n_tasks;
    struct fc_place_task *tasks;
};
static inline size_t fc_place_pair(const struct fc_place_search *s, int i, int j)
{
    return (size_t)(i * s->m->n - i * (i + 1) / 2 + j - i - 1);
}
/* Whether mirrors keep the rules, and in which dimensions the two interfaces are alike: swap [n_dims]. */
bool fc_place_symmetry(const struct fc_place_model *model, const struct fc_layout_rules *rules, bool *swap);
/* Size of the class of the pair of nodes under mirrors (and its exchange), 0 when another pair stands for it.
 */
uint64_t fc_place_class(const struct fc_chip *chip, uint32_t u, uint32_t v, bool swap, bool symmetry);
/* Joins what a task saw to all that was seen. */
void fc_place_join(struct fc_place_seen *all, const struct fc_place_seen *task, int n);
/* Counts a layout with these values. */
void fc_place_see(struct fc_place_seen *seen, int n, const struct fc_place_key *key, const uint32_t *node,
                  uint64_t times);
/* All layouts of one task. FC_NO: out of memory. */
enum fc_code fc_place_task16(const struct fc_place_search *s, const struct fc_place_task *task,
                             struct fc_place_seen *seen, struct fc_status *st);
enum fc_code fc_place_task32(const struct fc_place_search *s, const struct fc_place_task *task,
                             struct fc_place_seen *seen, struct fc_status *st);
