/* tmesh.h - runs of TMesh's networks: what is accepted and how long packets take, by offered load. Private to
 * the room. */
#pragma once

#include "mapping/place/place.h"
#include "reproduce/figure.h"
#include "solvers/flit/flit.h"

#define FC_TMESH_PAPER "Liu, Xun, Cao, Sun (TMesh)"
enum { FC_TMESH_LOADS = 16 };

/* Loads are percent of the ideal throughput: the torus links' full use by uniform traffic. */
struct fc_tmesh_curve {
    int n;
    double load[FC_TMESH_LOADS], accepted[FC_TMESH_LOADS], latency[FC_TMESH_LOADS]; /* cycles; NaN: no steady state */
    double at_65;                                                                   /* latency there */
    double most, half_width; /* most accepted at any load, over seeds; half_width NaN for one run */
};
/* What every core sends to the other cores of its chip beside; 0: nothing. */
struct fc_tmesh_beside {
    double bytes_per_s;
};
/* Uniform traffic on the network, by the kernel: latencies up to 65 %, and the most that is accepted in
 * windows of 2500 cycles behind 2500, mean of three seeds. Quick: fewer loads, one seed. */
enum fc_code fc_tmesh_curve_of(const struct fc_reproducing *how, const struct fc_network *net,
                               struct fc_tmesh_beside beside, struct fc_tmesh_curve *c, struct fc_status *st);
/* tmesh-3456 with this layout (NULL: as shipped) and mesh links of this rate (0: as shipped). */
enum fc_code fc_tmesh_open(const struct fc_bridge_layout *layout, double mesh_bytes_per_s, struct fc_bench *b,
                           struct fc_status *st);
/* Throughput against latency, in the paper's form: the abscissa is what is accepted. */
void fc_tmesh_plot(struct fc_reproduction *f, int style, const char *label, const struct fc_tmesh_curve *c);
