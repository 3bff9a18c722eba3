/* efficiency.c - the share of the channel-load bound that routers reach under an all-to-all exchange:
 * measured, never extrapolated.
 *
 * Source: backlog runs of an event-driven virtual-cut-through kernel with the router of Adiga et al. (IBM
 * J. Res. Dev. 49(2/3), 2005: 2 dynamic virtual channels, bubble escape, 256-byte packets, 1 KiB buffers);
 * the published figures that it meets are 94 to 98 % on cubes (figures 6 and 11) and 74 % on 32 x 16 x 16
 * (text).
 *   adaptive, cube k x k x k, 4 <= k <= 16:
 *       eta = 1 - 0.19 / H, H = 3 k / 4 mean hops: 0.937, 0.968, 0.984 for k = 4, 8, 16 (measured 0.93-0.94, 0.97,
 *       0.99); ten packets a pair 0.964, one 32-byte packet a pair 0.936 on 8 x 8 x 8: stated error 4 %
 *   adaptive, 2k x k x k in any order:
 *       0.91, 0.83, 0.74 for k = 4, 8, 16, each size measured by itself since the efficiency depends on absolute
 *       size; four runs at k = 16 gave 0.734 to 0.750: stated error 3 %
 *   dimension order, cube, 8 <= k <= 32:
 *       0.57 to 0.66 with the number of virtual channels: 0.615, error 8 %
 * Limits: tori with single cables, one node a router and cut-through; exchange between all nodes alike.
 * Every other network, routing or traffic has no measured efficiency: eta = 1 (the bound itself) and the
 * error is unknown. */
#include "solvers/efficiency.h"
#include "models/family_torus.h"

#include <math.h>
#include <string.h>

static const struct {
    uint32_t sides[3]; /* descending */
    double eta;
} anisotropic[] = {{{8, 4, 4}, 0.91}, {{16, 8, 8}, 0.83}, {{32, 16, 16}, 0.74}};

static const char kernel_runs[] = "backlog runs of a virtual-cut-through kernel, router of Adiga et al. 2005";

/* Every node sends every other the same: one dense part, the same for all tasks, and nodes that inject
 * alike. */
static bool is_all_to_all(const struct fc_network *net, const struct fc_demand *demand,
                          const struct fc_load *load)
{
    if (demand->n_entries || demand->n_dense != 1 || net->n_nodes < 2) return false;
    if (!fc_all_equal(demand->dense[0].a, demand->n_tasks) || !fc_all_equal(demand->dense[0].b, demand->n_tasks))
        return false;
    double first = -1;
    for (uint32_t node = 0; node < net->n_nodes; node++) {
        double out = 0;
        for (uint32_t l = net->first_link[net->n_routers + node];
             l < net->first_link[net->n_routers + node + 1]; l++)
            out += load->bytes[l];
        if (first < 0) first = out;
        if (!(out > 0) || fabs(out - first) > 1e-9 * first) return false;
    }
    return true;
}

/* The three sides, longest first, of a plain three-dimensional torus; dimensions of size 1 are no
 * dimensions. */
static bool plain_torus(const struct fc_network *net, uint32_t sides[3])
{
    const struct fc_machine *m = net->machine;
    if (strcmp(m->family->name, "torus") || m->router.flow_control != FC_CUT_THROUGH) return false;
    const struct fc_torus_shape *s = fc_torus(net);
    int n = 0;
    if (s->nodes_per_router != 1) return false;
    for (int d = 0; d < s->n_dims; d++) {
        if (s->k[d] == 1) continue;
        if (n == 3 || !s->ring[d] || s->parallel[d] != 1) return false;
        int at = n++;
        for (; at > 0 && sides[at - 1] < s->k[d]; at--) sides[at] = sides[at - 1];
        sides[at] = s->k[d];
    }
    return n == 3;
}

static bool same_bandwidth(const struct fc_network *net)
{
    const struct fc_torus_shape *s = fc_torus(net);
    const struct fc_link_class *classes = net->machine->classes;
    for (int d = 1; d < s->n_dims; d++)
        if (classes[s->dim_class[d]].bandwidth_bytes_per_s != classes[s->dim_class[0]].bandwidth_bytes_per_s)
            return false;
    return true;
}

static double mean_ring_hops(uint32_t k)
{
    return k % 2 ? (k * (double)k - 1) / (4.0 * k) : k / 4.0;
}

struct fc_efficiency fc_efficiency_of(const struct fc_network *net, const struct fc_demand *demand,
                                      const struct fc_load *load)
{
    const struct fc_efficiency unknown = {1, NAN, NULL};
    const struct fc_machine *m = net->machine;
    uint32_t k[3];
    if (!plain_torus(net, k) || !same_bandwidth(net) || !is_all_to_all(net, demand, load)) return unknown;
    bool cube = k[0] == k[2];
    if (!strcmp(m->routing->name, "adaptive")) {
        if (m->router.vcs < 2 || m->router.escape != FC_ESCAPE_BUBBLE) return unknown;
        if (cube && k[0] >= 4 && k[0] <= 16)
            return (struct fc_efficiency){1 - 0.19 / (3 * mean_ring_hops(k[0])), 4, kernel_runs};
        for (size_t i = 0; i < FC_COUNT(anisotropic); i++)
            if (!memcmp(k, anisotropic[i].sides, sizeof k))
                return (struct fc_efficiency){anisotropic[i].eta, 3, kernel_runs};
    } else if (!strcmp(m->routing->name, "dimension-order") && cube && k[0] >= 8 && k[0] <= 32) {
        return (struct fc_efficiency){0.615, 8, kernel_runs};
    }
    return unknown;
}
