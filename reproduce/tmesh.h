/* tmesh.h - runs of TMesh's networks: what is accepted and how long packets take, by offered load. Private to
 * the room. */
#ifndef FC_REPRODUCE_TMESH_H
#define FC_REPRODUCE_TMESH_H

#include "reproduce/figure.h"
#include "solvers/flit/flit.h"

#define FC_TMESH_PAPER "Liu, Xun, Cao, Sun (TMesh)"
enum { FC_TMESH_LOADS = 15 };

/* Loads are percent of the ideal throughput: the torus links' full use by uniform traffic. */
struct fc_tmesh_curve {
    int n;
    double load[FC_TMESH_LOADS], accepted[FC_TMESH_LOADS],
        latency[FC_TMESH_LOADS]; /* cycles; NaN: no steady state */
    double most, half_width;     /* most accepted at any load, mean over seeds; half_width NaN for one seed */
    double ideal;                /* flits a node and cycle */
};
/* Uniform traffic on the network, by the kernel. Quick: fewer loads, one seed. */
enum fc_code fc_tmesh_curve_of(const struct fc_reproducing *how, const struct fc_network *net,
                               struct fc_tmesh_curve *c, struct fc_status *st);
/* Latency of one long run at a share of the ideal, cycles; NaN: no steady state. */
enum fc_code fc_tmesh_latency_at(const struct fc_reproducing *how, const struct fc_network *net, double ideal,
                                 double share, double *cycles, struct fc_status *st);
/* A shipped machine with its mesh links at this rate; 0: as shipped. */
enum fc_code fc_tmesh_open(const char *name, double mesh_bytes_per_s, struct fc_bench *b,
                           struct fc_status *st);
/* The same loads by the queueing model with the calibration beside the machine's file; most: its saturation.
 * FC_NO where there is none. */
enum fc_code fc_tmesh_model_of(const struct fc_reproducing *how, const struct fc_network *net,
                               const struct fc_tmesh_curve *kernel, struct fc_tmesh_curve *model,
                               struct fc_status *st);
/* Throughput against latency, in the paper's form: the abscissa is what is accepted. */
void fc_tmesh_plot(struct fc_reproduction *f, int style, const char *label, const struct fc_tmesh_curve *c);

#endif
