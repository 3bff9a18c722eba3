/* sensitivity_search.h - private parts of sensitivity.c: what is known of a parameter while it is looked at. */
#pragma once

#include "answer/sensitivity.h"

enum { MOST_POINTS = 48 };

/* One parameter while it is looked at. */
struct fc_sensitivity_parameter {
    size_t field; /* of struct fc_scales: what it multiplies */
    uint32_t link;
    bool rate;                   /* worse is less */
    bool step;                   /* no derivative */
    double part_s[FC_GRADIENTS]; /* what T has of it by the path: derivative x value */
    double averaged_s;           /* what it has of it by the design of replays; NaN: unknown */
    double sides_s; /* of a single link: by how much that differs from its becoming slower to its becoming faster */
    struct {
        double worse, time_s; /* so many times worse, in ascending order */
    } point[MOST_POINTS];     /* [n_points] what is known */
    int n_points;
};
struct fc_sensitivity_search {
    const struct fc_sensitivity_job *job;
    struct fc_arena *arena;
    struct fc_sensitivity *found;
    struct fc_sensitivity_parameter *parameters; /* beside the rows */
    bool kept;                                   /* there are derivatives with meetings kept */
    bool all_kept;                               /* and they are better than the path's, and than differences */
    struct fc_status *st;
};
/* What T has of each parameter by the path, if there is one, and whether that is of use (sensitivity_path.c). */
void fc_sensitivity_take_path(struct fc_sensitivity_search *s);
