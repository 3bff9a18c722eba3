/* graph_sweep.h - all traffic to one place of a graph at once, over all shortest paths (routing_shortest.c), for
 * routing_graph_valiant.c too. */
#pragma once

#include "models/family_graph.h"

struct fc_graph_sweep {
    const struct fc_network *net;
    double *flow;    /* [n_routers] traffic at each router; zero between destinations */
    uint32_t *order; /* [n_routers] routers by falling hops, those without a path left out */
    uint32_t *first; /* [n_routers + 1] scratch of the counting sort */
    uint32_t n_order;
};
enum fc_code fc_sweep_start(struct fc_graph_sweep *w, const struct fc_network *net, struct fc_arena *scratch,
                            struct fc_status *st);
/* hops[n_routers] to the destination, of all that follows. */
void fc_sweep_order(struct fc_graph_sweep *w, const uint16_t *hops);
/* Sends `bytes` of node src over its nearest rails into the flow, scale * bytes onto their links. False: no path. */
bool fc_sweep_inject(struct fc_graph_sweep *w, uint32_t src, const uint16_t *hops, double bytes, double scale,
                     double *load);
/* Moves all flow to the routers with no hops left, where it stays; adds scale * flow to the links on the way. */
void fc_sweep_flow(struct fc_graph_sweep *w, const uint16_t *hops, double scale, double *load);
/* Delivers the flow that arrived at the routers of node dst, times scale. */
void fc_sweep_eject(const struct fc_graph_sweep *w, uint32_t dst, double scale, double *load);
/* Removes the flow that arrived for node `member` and others of its group. */
void fc_sweep_clear(struct fc_graph_sweep *w, uint32_t member);
/* FC_NO: there is no path from node src to node dst. */
enum fc_code fc_graph_no_path(const struct fc_network *net, uint32_t src, uint32_t dst, struct fc_status *st);
/* The number of a vertex's links whose router is nearest by hops[n_routers]; *nearest: its hops. */
uint32_t fc_graph_count_rails(const struct fc_network *net, uint32_t node, const uint16_t *hops, uint16_t *nearest);
/* Links of router v that lead one hop nearer. */
uint32_t fc_graph_count_next_hops(const struct fc_network *net, uint32_t v, const uint16_t *hops);
/* Traffic a(s) b(d) within one group, s != d: up one of s's rails, down d's cable to the same router. others_a, others_b
 * [n_nodes]: scratch. */
void fc_graph_within_group(const struct fc_network *net, uint32_t group, const double *a, const double *b,
                           double *others_a, double *others_b, double *load);
