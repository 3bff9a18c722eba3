/* embedding.c - a task grid laid on a torus or mesh so that grid neighbours sit on the same or on
 * neighbouring routers.
 *
 * Grid dimension i of size g_i goes along a torus dimension of size k with g_i = c k, c tasks to a router, or
 * lies within the router (c = g_i); the product of the c must not exceed the router's slots. Among the
 * choices the one with the least product, which uses most routers, is taken. Dilation 1 is optimal in hops.
 * Source: Ma & Tao, Embeddings among toruses and meshes, ICPP'87 (the case without folds). Limits: no folds,
 * so a grid side that is no multiple of a torus side does not fit. */
#include "mapping/embedding.h"

struct choice {
    int along[FC_MAX_DIMS];           /* torus dimension of each grid dimension, -1: inside the router */
    uint64_t per_router[FC_MAX_DIMS]; /* c */
    uint64_t product;
};

static void choose(const struct fc_demand *demand, const struct fc_grid *s, int i, unsigned used, struct choice *at,
                   struct choice *best)
{
    if (at->product >= best->product) return;
    if (i == demand->n_grid) {
        *best = *at;
        return;
    }
    uint64_t g = (uint64_t)demand->grid[i], before = at->product;
    for (int d = -1; d < s->n_dims; d++) {
        uint64_t k = d < 0 ? 1 : s->k[d];
        if (d >= 0 && ((used >> d & 1) || g % k || k == 1)) continue;
        at->along[i] = d;
        at->per_router[i] = g / k;
        at->product = before * (g / k);
        choose(demand, s, i + 1, d < 0 ? used : used | 1u << d, at, best);
    }
    at->product = before;
}

bool fc_embed_grid(const struct fc_map_problem *problem, const struct fc_slots *slots, uint32_t *slot)
{
    const struct fc_network *net = problem->net;
    const struct fc_demand *demand = problem->demand;
    struct fc_grid grid;
    if (demand->n_grid == 0 || slots->n_nodes != net->n_nodes || !fc_grid(net, &grid) || grid.routers > 1) return false;
    for (uint32_t i = 0; i < slots->n_nodes; i++)
        if (slots->node[i] != i) return false;
    uint64_t room = (uint64_t)grid.nodes * slots->per_node;
    struct choice at = {.product = 1}, best = {.product = room + 1};
    choose(demand, &grid, 0, 0, &at, &best);
    if (best.product > room) return false;
    long long c[FC_MAX_DIMS] = {0};
    for (uint32_t task = 0; task < demand->n_tasks; task++) {
        uint64_t router = 0, inside = 0;
        for (int i = 0; i < demand->n_grid; i++) {
            uint64_t per = best.per_router[i], x = (uint64_t)c[i];
            if (best.along[i] >= 0) router += x / per * grid.stride[best.along[i]];
            inside = inside * per + x % per;
        }
        slot[task] = (uint32_t)(router * room + inside);
        for (int d = demand->n_grid - 1; d >= 0 && ++c[d] == demand->grid[d]; d--) c[d] = 0;
    }
    return true;
}
