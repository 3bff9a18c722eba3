/* family_distance.h - how unlike two machines of a family are, and what that does to a correction (family_distance.c). */
#pragma once

#include <stdbool.h>

/* What tells machines of a family apart. */
struct fc_likeness {
    const char *kind;    /* of the router: fc_calibration_kind */
    double packet_flits; /* of the longest packet */
    double nodes;
    double aspect; /* longest over shortest of the dimensions with more than one node; 1: none, or no torus or mesh */
    int dims;      /* so many; 0: none */
};
/* nodes is not set. `shape`: fc_machine_shape. */
void fc_likeness_of_shape(const char *shape, struct fc_likeness *likeness);
/* 0: of one kind of router. Symmetric. */
double fc_router_distance(const struct fc_likeness *a, const struct fc_likeness *b);
double fc_network_distance(const struct fc_likeness *a, const struct fc_likeness *b);
/* The value of a key of a kind; false: it has none. */
bool fc_kind_value(const char *kind, const char *key, const char **value, int *length);

/* The part of the relatives' mean correction that counts, 0 to 1: 1/2 at the distance `half`, of curves and of phases. */
#define FC_FADE_CURVES 4.0
#define FC_FADE_PHASES 2.0
double fc_family_fade(double distance, double half);
