/* worst_classes.h - the worst permutation for one link, its sources and destinations by kind (worst_classes.c). */
#pragma once

#include "solvers/bound/flow.h"

/* Shares of the routes between groups of alike nodes on one link: entries with a share above 0, no pair twice. */
struct fc_link_shares {
    uint32_t n_groups;
    const uint32_t *size; /* [n_groups] nodes */
    uint64_t n;
    const uint32_t *src, *dst; /* [n] groups */
    const double *part;        /* [n] */
};
/* What one link's problem was, for its permutation; used again for the next link. */
struct fc_link_classes {
    struct fc_arena arena;
    uint32_t n_groups, n_rows, n_columns;
    uint64_t *row_hash[2], *column_hash[2]; /* [n_groups]; 0: no entry */
    uint32_t *row, *column;                 /* [n_groups] class; FC_NONE: it has no entry */
    uint32_t *order;                        /* [n_groups] scratch */
    uint32_t *supply, *room;                /* [n_rows], [n_columns] nodes */
    double *u, *v;
    double *weight; /* [n_rows][n_columns], grown */
    uint32_t *x;
    size_t cells;
};
enum fc_code fc_link_classes_start(struct fc_link_classes *classes, uint32_t n_groups, struct fc_status *st);
void fc_link_classes_free(struct fc_link_classes *classes);
/* The greatest load that a permutation puts on the link; takes the steps from *work. The dual is checked against every share:
 * FC_FAULT where it does not hold. */
enum fc_code fc_link_worst(struct fc_link_classes *classes, const struct fc_link_shares *shares, double *load,
                           double *work, struct fc_status *st);
/* That permutation of nodes, to[n_nodes], and its certificate u, v[n_nodes]; group[n_nodes]. */
enum fc_code fc_link_permutation(const struct fc_link_classes *classes, uint32_t n_nodes, const uint32_t *group,
                                 uint32_t *to, double *u, double *v, struct fc_status *st);
