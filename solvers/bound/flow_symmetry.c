/* flow_symmetry.c - the translations that leave a network as it is: of a grid along its rings, from cell to cell
 * (of a torus from router to router, of a torus of chips from chip to chip). Where they leave the traffic as it
 * is, too, some optimal flow is the same from everywhere (the mean of an optimal flow over all translations is
 * feasible and no worse), so that one destination an orbit and one capacity a class of links suffice. Translations
 * other than the identity move every router, so all orbits of routers and links are as large as there are
 * translations. Limit: no reflections or exchanges of dimensions. */
#include "solvers/bound/flow.h"

#include <string.h>

/* A translation is the cell that it takes cell 0 to. */
enum fc_code fc_translations_find(const struct fc_network *net, struct fc_arena *arena, struct fc_translations *t,
                                  struct fc_status *st)
{
    struct fc_grid *g = &t->grid;
    memset(t, 0, sizeof *t);
    t->n = 1;
    if (!fc_grid(net, g)) return FC_OK;
    t->orbit = fc_alloc(arena, net->n_routers, sizeof *t->orbit, st);
    t->shift = fc_alloc(arena, net->n_routers, sizeof *t->shift, st);
    if (!t->orbit || !t->shift) return st->code;
    for (int d = 0; d < g->n_dims; d++) t->n *= g->ring[d] ? g->k[d] : 1;
    for (uint32_t v = 0; v < net->n_routers; v++) {
        uint32_t cell = v / g->routers, on_lines = 0;
        t->shift[v] = 0;
        for (int d = 0; d < g->n_dims; d++)
            *(g->ring[d] ? &t->shift[v] : &on_lines) += cell / g->stride[d] % g->k[d] * g->stride[d];
        t->orbit[v] = on_lines * g->routers + v % g->routers;
    }
    return FC_OK;
}

/* Coordinate by coordinate: (a + b) mod k, or (a - b). */
static uint32_t add(int n_dims, const uint32_t *k, const uint32_t *stride, uint32_t a, uint32_t b, bool back)
{
    uint32_t sum = 0;
    for (int d = 0; d < n_dims; d++) {
        uint32_t x = a / stride[d] % k[d], y = b / stride[d] % k[d];
        uint32_t c = back ? (x >= y ? x - y : x + k[d] - y) : (x + y >= k[d] ? x + y - k[d] : x + y);
        sum += c * stride[d];
    }
    return sum;
}

uint32_t fc_translate(const struct fc_translations *t, uint32_t router, uint32_t shift, bool back)
{
    const struct fc_grid *g = &t->grid;
    return add(g->n_dims, g->k, g->stride, router / g->routers, shift, back) * g->routers + router % g->routers;
}
