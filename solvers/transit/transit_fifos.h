/* transit_fifos.h - what a node's injection FIFOs let through (transit_fifos.c has the rule). */
#pragma once

#include "models/models.h"

/* FIFOs of each of a node's links into the network; 0: those of no node let less through than its links carry, or the machine's
 * file says nothing of FIFOs and virtual channels. O(links). */
int fc_fifos_that_bind(const struct fc_network *net);
/* Seconds that a node with n_fifos a link can feed links in one second. */
double fc_fifos_capacity(const struct fc_network *net, uint32_t node, int n_fifos);
/* Of that, what a byte takes which crosses these links with these weights, a way from the node: the sum of weight / bandwidth
 * over those behind its routers. O(n). */
double fc_fifos_s_per_byte(const struct fc_network *net, uint32_t node, uint32_t n, const uint32_t *link,
                           const double *weight);
/* Whether the link leaves a router of the node. O(the node's links). */
static inline bool fc_fifos_feed(const struct fc_network *net, uint32_t node, uint32_t link)
{
    uint32_t v = fc_node_vertex(net, node);
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
        if (net->link_target[l] == net->link_source[link]) return true;
    return false;
}
