/* transit_delays.c - what distance costs a message: the head delays of a path, and of which of its paths.
 *
 * The head of a packet takes, over links k of latency t_k that routers of delay D are behind (fc_head_delay_s),
 *
 *     sum over links (t_k + D) + sum over links between routers max(0, f / b_(k-1) - f / b_k),     f: bytes of a flit, b: bandwidths:
 *
 * a flit that comes by a slower link goes on when it is there whole, as in the kernel (solvers/flit/event.h). Such waits behind the last of the
 * path's slowest links are left out: the last byte has come there only after them.
 *
 * Where routers compare ways by their queues (UGAL) half of the paths drawn are minimal: the median of the shorter half is that of a packet that
 * finds nobody, on theta, frontier and perlmutter within 0.6 % of the kernel's. The least of all may be of a link that few routers of a group have. */
#include "solvers/timing.h"
#include "solvers/transit/transit_internal.h"

#include <math.h>

double fc_transit_head_delays_s(const struct fc_network *net, const uint32_t *link, uint32_t n)
{
    double head_s = 0, flit_bytes = net->machine->router.flit_bytes, came_s = 0, slowest_s = 0, waits_s = 0;
    for (uint32_t k = 0; k < n; k++) {
        double flit_s = flit_bytes / fc_link_bandwidth(net, link[k]);
        bool between = k > 0 && !fc_is_node(net, net->link_target[link[k]]);
        head_s += fc_head_delay_s(net, link[k]);
        waits_s += between ? fmax(0, came_s - flit_s) : 0;
        if (flit_s >= slowest_s) {
            head_s += waits_s;
            waits_s = 0;
            slowest_s = flit_s;
        }
        came_s = flit_s;
    }
    return head_s;
}

double fc_transit_undisturbed_s(const struct fc_way_path *path, uint32_t n)
{
    double head_s = 0;
    for (uint32_t i = 0; i < n; i++) {
        double shorter = 0;
        for (uint32_t k = 0; k < n; k++)
            if (path[k].head_s < path[i].head_s) shorter += path[k].share;
        if (shorter <= 0.25 && path[i].head_s > head_s) head_s = path[i].head_s;
    }
    return head_s;
}
