/* kriging.h - what is left over of a model, predicted from where it was measured (kriging.c has the
 * equations).
 *
 * Values at points (kind of traffic, features, network) are interpolated by a Gaussian process of mean 0:
 * near points of the same kind it follows what was measured, far from all points it returns 0 with the
 * standard deviation of all that was seen. Deterministic. */
#pragma once

#include "core/core.h"

enum { FC_KRIGING_FEATURES = 8, FC_KRIGING_MOST_POINTS = 512 };
#define FC_KRIGING_NO_GROUP UINT32_MAX /* of no network that was measured */

struct fc_kriging_point {
    const char *kind;              /* in words; compared whole */
    double x[FC_KRIGING_FEATURES]; /* features, best as logarithms; those not in use 0 */
    double value;                  /* measured; not read where a value is asked for */
    uint32_t group;                /* network; FC_KRIGING_NO_GROUP: one of its own */
};
/* Covariance of two points: variance ((1 if of one kind, else `kinds`) M(r) + (`groups` if of one group)
 * + (`noise` if one measurement)), r^2 = sum ((x - x') / length)^2. */
struct fc_kriging_shape {
    double length[FC_KRIGING_FEATURES]; /* above 0, in units of the feature; INFINITY: of no influence */
    double kinds;                       /* 0..1 */
    double groups, noise;               /* noise above 0 */
    double variance;
};
enum fc_kriging_left_out { FC_KRIGING_GROUP, FC_KRIGING_KIND, FC_KRIGING_POINT };
struct fc_kriging; /* points, shape and the inverse of their covariance */

/* With a shape found by what it says of groups, and of kinds, that are left out (search on a fixed grid;
 * where there is one group, points are left out one by one). Copies the points but not the words. The caller
 * closes. FC_INPUT: no point, too many, or one that is not finite. FC_NO: out of memory. A hundred inversions
 * of an n x n matrix. */
enum fc_code fc_kriging_fit(const struct fc_kriging_point *points, uint32_t n, struct fc_kriging **kriging,
                            struct fc_status *st);
/* With a given shape. FC_INPUT also: the shape is out of range. */
enum fc_code fc_kriging_make(const struct fc_kriging_point *points, uint32_t n, const struct fc_kriging_shape *shape,
                             struct fc_kriging **kriging, struct fc_status *st);
/* Value at a point and the standard deviation of a measurement there. O(n^2), no allocation. */
void fc_kriging_at(const struct fc_kriging *kriging, const struct fc_kriging_point *point, double *value,
                   double *standard_deviation);
/* What the same shape says at each of the points when all points of its group, or of its kind, or it alone, are left out:
 * value[n], standard_deviation[n]. FC_NO: out of memory. */
enum fc_code fc_kriging_leave_out(const struct fc_kriging *kriging, enum fc_kriging_left_out what, double *value,
                                  double *standard_deviation, struct fc_status *st);
/* The same, but what was measured less what is said: error[n], standard_deviation[n]. FC_NO as above. */
enum fc_code fc_kriging_errors(const struct fc_kriging *kriging, enum fc_kriging_left_out what, double *error,
                               double *standard_deviation, struct fc_status *st);
/* What was measured at point number `at`, of those that it was made of, less what it says there (the noise's part); as if point
 * `without` had not been among them (FC_NONE: all count). O(1). */
double fc_kriging_residual(const struct fc_kriging *kriging, uint32_t at, uint32_t without);
const struct fc_kriging_shape *fc_kriging_shape_of(const struct fc_kriging *kriging);
void fc_kriging_close(struct fc_kriging *kriging);
