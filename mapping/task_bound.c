/* task_bound.c - a lower bound of the longest link time that holds for every mapping and every routing.
 *
 * Some node holds the task t, with at most m = its slots - 1 others. What t sends (receives) beyond its m
 * heaviest partners crosses the node's own links, so one of them takes at least (bytes of t - m heaviest) /
 * (sum of their bandwidths). The same holds for the router, its slots and its links to (from) other routers,
 * where every node hangs on one router. Limits: weak where many tasks share a node; 0 where such links never
 * bind. */
#include "mapping/optimizer.h"

#include <math.h>

/* Bytes per second that leave vertex v towards routers, or enter it from routers, whichever is more; INFINITY
 * when one of the links never binds. */
static double widest_way(const struct fc_network *net, uint32_t v, const double *in)
{
    double out = 0;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++)
        if (!fc_is_node(net, net->link_target[l])) out += fc_link_bandwidth(net, l);
    return fmax(out, in[v]);
}

/* bytes[] of task t's edges but the `most` heaviest ones, whose partners may share its place. sorted[most] is
 * scratch. */
static double beyond(const struct fc_unit_graph *g, uint32_t t, uint32_t most, const double *bytes,
                     double *sorted)
{
    uint32_t n = 0;
    double total = 0;
    for (uint64_t e = g->first[t]; e < g->first[t + 1]; e++) {
        uint32_t at = n < most ? n++ : n;
        total += bytes[e];
        if (at == most && (most == 0 || sorted[most - 1] >= bytes[e])) continue;
        if (at == most) at--;
        for (; at > 0 && sorted[at - 1] < bytes[e]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = bytes[e];
    }
    for (uint32_t i = 0; i < n; i++) total -= sorted[i];
    return total;
}

/* Longest time that a task needs to move what it has beyond `most` partners over `bandwidth`, either way. */
static double slowest_task_s(const struct fc_unit_graph *tasks, uint32_t most, double bandwidth,
                             double *sorted)
{
    double bytes = 0;
    for (uint32_t t = 0; t < tasks->n; t++) {
        bytes = fmax(bytes, beyond(tasks, t, most, tasks->out, sorted));
        bytes = fmax(bytes, beyond(tasks, t, most, tasks->in, sorted));
    }
    return bandwidth > 0 ? bytes / bandwidth : 0;
}

enum fc_code fc_task_bound(const struct fc_sites *sites, const struct fc_unit_graph *tasks, double *bound_s,
                           struct fc_status *st)
{
    const struct fc_network *net = sites->net;
    struct fc_arena scratch = {0};
    uint32_t *nodes = fc_alloc(&scratch, net->n_vertices, sizeof *nodes, st), most_nodes = 0;
    double *in = nodes ? fc_alloc(&scratch, net->n_vertices, sizeof *in, st) : NULL;
    double widest_router = 0, widest_node = 0;
    bool one_router = true;
    for (uint32_t l = 0; in && l < net->n_links; l++)
        if (!fc_is_node(net, net->link_source[l])) in[net->link_target[l]] += fc_link_bandwidth(net, l);
    for (uint32_t i = 0; in && i < sites->n_nodes; i++) {
        uint32_t vertex = fc_node_vertex(net, sites->node[i]), first = net->first_link[vertex];
        uint32_t router = net->link_target[first];
        one_router = one_router && net->first_link[vertex + 1] == first + 1;
        if (++nodes[router] > most_nodes) most_nodes = nodes[router];
        widest_node = fmax(widest_node, widest_way(net, vertex, in));
        widest_router = fmax(widest_router, widest_way(net, router, in));
    }
    uint32_t beside = sites->slots_per_node - 1, near = most_nodes * sites->slots_per_node - 1;
    double *sorted = in ? fc_alloc(&scratch, (size_t)near + 1, sizeof *sorted, st) : NULL;
    if (sorted) *bound_s = slowest_task_s(tasks, beside, widest_node, sorted);
    if (sorted && one_router) *bound_s = fmax(*bound_s, slowest_task_s(tasks, near, widest_router, sorted));
    fc_arena_free(&scratch);
    return st->code;
}
