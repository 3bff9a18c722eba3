/* network_checks.h - what the tests of network families share: refused machines, and loads that must agree. */
#pragma once

#include "models/models.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Loading or building the text is refused with a message that contains `part`. */
static inline void refused(const char *yaml, enum fc_code code, const char *part)
{
    struct fc_machine machine;
    struct fc_network net;
    struct fc_status st = {0};
    if (fc_test_machine(yaml, &machine, &st) == FC_OK) {
        if (fc_network_build(&machine, &net, &st) == FC_OK) fc_network_free(&net);
        fc_machine_free(&machine);
    }
    CU_ASSERT(fc_says(&st, code, part));
}

/* Greatest difference of two load vectors relative to the greatest load. */
static inline double load_difference(const struct fc_network *net, const double *a, const double *b)
{
    double difference = 0, greatest = 0;
    for (uint32_t l = 0; l < net->n_links; l++) {
        difference = fmax(difference, fabs(a[l] - b[l]));
        greatest = fmax(greatest, fmax(fabs(a[l]), fabs(b[l])));
    }
    return greatest > 0 ? difference / greatest : 0;
}

/* Loads of a[s] b[d] (s != d) by walking every pair; hop_bytes: sum of bytes times the BFS distance. Also
 * checks of each walk that it leaves src whole, arrives at dst whole, never overflows, and that no link comes
 * before what feeds it. */
static inline void walk_all(const struct fc_network *net, const struct fc_routing_ops *routing, const double *a,
                            const double *b, double *load, double *hop_bytes)
{
    struct fc_walk walk;
    struct fc_status st = {0};
    uint32_t *distance = malloc(net->n_vertices * sizeof *distance), *queue = malloc(net->n_vertices * sizeof *queue);
    double *at = calloc(net->n_vertices, sizeof *at); /* share now at each vertex */
    CU_ASSERT_EQUAL_FATAL(fc_walk_start(&walk, routing->walk_capacity(net), &st), FC_OK);
    memset(load, 0, net->n_links * sizeof *load);
    *hop_bytes = 0;
    double worst = 0;
    for (uint32_t s = 0; s < net->n_nodes; s++) {
        fc_distances(net, fc_node_vertex(net, s), distance, queue);
        for (uint32_t d = 0; d < net->n_nodes; d++) {
            if (s == d || a[s] * b[d] == 0) continue;
            walk.n = 0;
            routing->walk(net, s, d, 1, &walk);
            CU_ASSERT_FATAL(walk.n > 0 && walk.n <= walk.capacity);
            at[fc_node_vertex(net, s)] = 1;
            for (uint32_t i = 0; i < walk.n; i++) {
                load[walk.link[i]] += walk.weight[i] * a[s] * b[d];
                at[net->link_source[walk.link[i]]] -= walk.weight[i];
                at[net->link_target[walk.link[i]]] += walk.weight[i];
                if (at[net->link_source[walk.link[i]]] < -1e-12) worst = 1;
            }
            worst = fmax(worst, fabs(at[fc_node_vertex(net, d)] - 1));
            at[fc_node_vertex(net, d)] = 0;
            for (uint32_t i = 0; i < walk.n; i++) {
                worst = fmax(worst, fabs(at[net->link_source[walk.link[i]]]));
                at[net->link_source[walk.link[i]]] = 0;
            }
            *hop_bytes += a[s] * b[d] * distance[fc_node_vertex(net, d)];
        }
    }
    CU_ASSERT(worst < 1e-12);
    fc_walk_free(&walk);
    free(at), free(distance), free(queue);
}

/* path walk = rank-one = sparse to 1e-12; router-to-router bytes = hop-bytes; injected = ejected = all bytes.
 */
static inline void loads_agree(const struct fc_network *net, const struct fc_routing_ops *routing, const double *a,
                               const double *b)
{
    struct fc_status st = {0};
    size_t n = (size_t)net->n_nodes * net->n_nodes, entries = 0;
    double *load[3], *bytes = malloc(n * sizeof *bytes), hop_bytes, all = 0, sum[3] = {0, 0, 0};
    uint32_t *src = malloc(n * sizeof *src), *dst = malloc(n * sizeof *dst);
    for (int i = 0; i < 3; i++) load[i] = calloc(net->n_links, sizeof *load[i]);
    for (uint32_t s = 0; s < net->n_nodes; s++)
        for (uint32_t d = 0; d < net->n_nodes; d++)
            if (s != d) {
                src[entries] = s, dst[entries] = d, bytes[entries++] = a[s] * b[d];
                all += a[s] * b[d];
            }
    walk_all(net, routing, a, b, load[0], &hop_bytes);
    CU_ASSERT_EQUAL(routing->rank_one(net, a, b, load[1], &st), FC_OK);
    CU_ASSERT_EQUAL(routing->sparse(net, src, dst, bytes, entries, load[2], &st), FC_OK);
    CU_ASSERT(load_difference(net, load[0], load[1]) < 1e-12);
    CU_ASSERT(load_difference(net, load[0], load[2]) < 1e-12);
    for (uint32_t l = 0; l < net->n_links; l++) {
        bool from_node = fc_is_node(net, net->link_source[l]), to_node = fc_is_node(net, net->link_target[l]);
        sum[from_node ? 1 : to_node ? 2 : 0] += load[1][l];
    }
    CU_ASSERT_DOUBLE_EQUAL(sum[0], hop_bytes, 1e-12 * (hop_bytes + all));
    CU_ASSERT_DOUBLE_EQUAL(sum[1], all, 1e-12 * all);
    CU_ASSERT_DOUBLE_EQUAL(sum[2], all, 1e-12 * all);
    for (int i = 0; i < 3; i++) free(load[i]);
    free(bytes), free(src), free(dst);
}

/* loads_agree for uniform traffic, random traffic, and random traffic of a few nodes. */
static inline void loads_agree_always(const struct fc_network *net, const struct fc_routing_ops *routing, uint64_t seed)
{
    double *a = malloc(net->n_nodes * sizeof *a), *b = malloc(net->n_nodes * sizeof *b);
    for (int pass = 0; pass < 3; pass++) {
        for (uint32_t i = 0; i < net->n_nodes; i++) {
            a[i] = pass == 0 ? 1 : 1e6 * fc_random_real(seed, 0, i);
            b[i] = pass == 0 ? 1 : fc_random_real(seed, 1, i);
            if (pass == 2 && i % 5) a[i] = 0;
            if (pass == 2 && (i / 3) % 2) b[i] = 0;
        }
        loads_agree(net, routing, a, b);
    }
    free(a), free(b);
}

/* Every link has one back, CSR is sorted by source and the facts agree with breadth-first search. */
static inline void network_is_sound(const struct fc_network *net)
{
    struct fc_facts facts;
    struct fc_status st = {0};
    uint32_t *distance = malloc(net->n_vertices * sizeof *distance), *queue = malloc(net->n_vertices * sizeof *queue);
    double sum = 0, greatest = 0;
    long unbalanced = 0, n = net->n_nodes;
    for (uint32_t v = 0; v < net->n_vertices; v++)
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
            uint32_t to = net->link_target[l];
            CU_ASSERT_FATAL(net->link_source[l] == v && to < net->n_vertices && to != v);
            CU_ASSERT(!(fc_is_node(net, v) && fc_is_node(net, to)));
            for (uint32_t k = net->first_link[v]; k < net->first_link[v + 1]; k++)
                unbalanced += net->link_target[k] == to;
            for (uint32_t k = net->first_link[to]; k < net->first_link[to + 1]; k++)
                unbalanced -= net->link_target[k] == v;
        }
    CU_ASSERT_EQUAL(unbalanced, 0);
    for (uint32_t s = 0; s < net->n_nodes; s++) {
        fc_distances(net, fc_node_vertex(net, s), distance, queue);
        for (uint32_t d = 0; d < net->n_nodes; d++) {
            sum += distance[fc_node_vertex(net, d)];
            greatest = fmax(greatest, distance[fc_node_vertex(net, d)]);
        }
    }
    CU_ASSERT_EQUAL(fc_network_facts(net, &facts, &st), FC_OK);
    CU_ASSERT_DOUBLE_EQUAL(facts.mean_hops, sum / (double)(n * n), 1e-12 * facts.mean_hops);
    CU_ASSERT_EQUAL(facts.diameter_hops, greatest);
    free(distance), free(queue);
}
