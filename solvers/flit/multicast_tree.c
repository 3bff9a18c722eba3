/* multicast_tree.c - hardware broadcast of a fat-tree: up to a root above sender and targets, then onto every
 * link down that leads to some of the targets; the acknowledgements of all targets are combined on the way
 * back. Source: Petrini, Coll, Frachtenberg, Hoisie, IEEE NCA 2001, sections 2.3.1 and 4.2.
 *
 * Way: the leftmost switches and first cables, on virtual channel 0, to the lowest of them above sender and
 * targets: the paper's "pre-determined path". The targets are adjacent nodes, the sender's may be one of
 * them. At the root one packet at a time: the next turns down when the acknowledgement of the one before has
 * passed the root. A sender has router.multicast_window packets under way that are not acknowledged, 1 unless
 * set.
 *
 * An acknowledgement starts when the packet is whole at its target; every switch waits for those of all links
 * that it copied the packet to and sends one on. All targets are equally far below the root, so ack = last
 * arrival + sum of wire latencies + (2 top - 1) switch delays,   without bandwidth or contention.
 *
 * No deadlock. All ways lie in one tree, each multicast's below its root. A switch gives a packet its links
 * down one by one in ascending order and sends nothing before it has all (cycle_multicast.c). Number the
 * links down by level, higher levels first, and ascending within a switch. Unicasts hold a link and wait for
 * one further down. A multicast that waits at a switch S holds links of S below the one that it waits for,
 * and nothing below S, as nothing was sent. One that has all its links at S is, on channel 0 and below them,
 * the only one from above S; those rooted further down end by induction over the level, as links to nodes
 * always move (copies to nodes hold no channel). So it ends, and its links become free. On the way up it
 * holds one link at a time like any unicast.
 *
 * Limits: planes and nodes of several links are refused; no negative acknowledgement, no retry, no EOP token.
 */
#include "models/family_fat_tree.h"
#include "solvers/flit/multicast.h"
#include "solvers/flit/route.h"

#include <stdlib.h>

enum { UP, DOWN }; /* route word */

static uint32_t most_copies(const struct fc_network *net)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    uint32_t most = 1;
    for (int l = 1; l <= s->h; l++)
        if (s->m[l] > most) most = s->m[l];
    return most;
}

static int ascending(const void *x, const void *y)
{
    const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

static enum fc_code group(const struct fc_network *net, const struct fc_multicast *m, uint32_t src, uint32_t *target,
                          struct fc_flit_group *g, struct fc_status *st)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    qsort(target, m->n_targets, sizeof *target, ascending);
    for (uint32_t i = 1; i < m->n_targets; i++)
        if (target[i] != target[0] + i)
            return fc_refuse(
                st, FC_INPUT,
                "router.multicast: tree reaches adjacent nodes, each once: of the receivers of node %u two "
                "are on nodes %u and %u (mapping def keeps them adjacent)",
                src, target[i - 1], target[i]);
    g->first = target[0];
    g->last = target[m->n_targets - 1];
    int top = 1;
    while (g->first / s->subtree_nodes[top] != g->last / s->subtree_nodes[top] ||
           g->first / s->subtree_nodes[top] != src / s->subtree_nodes[top])
        top++;
    g->top = (uint8_t)top;
    g->root = fc_fat_tree_switch(s, top, 0, src / s->subtree_nodes[top], 0);
    return FC_OK;
}

static enum fc_code route(const struct fc_flit_net *flit, struct fc_flit_group *g, struct fc_status *st)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(flit->net);
    if (most_copies(flit->net) > 64)
        return fc_route_refuse(flit, st, "router.multicast: tree with %u links down a switch (at most 64)",
                               most_copies(flit->net));
    g->route = UP;
    uint64_t wires = 0;
    for (int l = 0; l < g->top; l++) {
        uint32_t up = fc_fat_tree_up(flit->net, l, 0, g->src / s->subtree_nodes[l], 0, 0, 0);
        wires += flit->latency_ticks[flit->net->link_class[up]];
    }
    g->root_ticks = wires + (uint64_t)g->top * flit->router_ticks;
    g->ack_ticks = g->root_ticks + wires + (g->top - 1ull) * flit->router_ticks;
    return FC_OK;
}

static int branches(const struct fc_flit_net *flit, const struct fc_flit_group *g, uint32_t router, uint64_t word,
                    struct fc_flit_choice *out, bool *onward)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(flit->net);
    int l = 1, n = 0;
    while (router >= s->first_switch[l + 1]) l++;
    uint32_t x = (router - s->first_switch[l]) / s->subtree_switches[l];
    *onward = false;
    if (word == UP && router != g->root) {
        out[0] = (struct fc_flit_choice){.route = UP, .link = fc_fat_tree_up(flit->net, l, 0, x, 0, 0, 0), .vcs = 1};
        return 1;
    }
    for (uint32_t child = x * s->m[l]; child < (x + 1) * s->m[l]; child++) {
        uint32_t size = s->subtree_nodes[l - 1];
        if (g->last < child * size || g->first >= (child + 1) * size) continue;
        out[n++] = (struct fc_flit_choice){
            .route = DOWN, .link = fc_fat_tree_down(flit->net, l - 1, 0, child, 0, 0), .vcs = l > 1};
    }
    return n;
}

static void loads(const struct fc_network *net, const struct fc_flit_group *g, double bytes, double *load)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    for (int l = 0; l < g->top; l++) {
        uint32_t size = s->subtree_nodes[l];
        load[fc_fat_tree_up(net, l, 0, g->src / size, 0, 0, 0)] += bytes;
        for (uint32_t x = g->first / size; x <= g->last / size; x++)
            load[fc_fat_tree_down(net, l, 0, x, 0, 0)] += bytes;
    }
}

const struct fc_flit_multicast_ops fc_multicast_tree = {
    .name = "tree",
    .acknowledged = true,
    .most_copies = most_copies,
    .group = group,
    .route = route,
    .branches = branches,
    .loads = loads,
};
