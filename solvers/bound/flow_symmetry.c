/* flow_symmetry.c - the translations that leave a network as it is: of a torus along its rings, of a torus of chips
 * from chip to chip. Where they leave the traffic as it is, too, some optimal flow is the same from everywhere (the
 * mean of an optimal flow over all translations is feasible and no worse), so that one destination an orbit and one
 * capacity a class of links suffice. Translations other than the identity move every router, so all orbits of
 * routers and links are as large as there are translations. Limit: no reflections or exchanges of dimensions. */
#include "models/family_tmesh.h"
#include "models/family_torus.h"
#include "solvers/bound/flow.h"

#include <string.h>

/* A translation of a torus is the router that it takes router 0 to; of a torus of chips, the chip. */
static void torus_translations(const struct fc_network *net, struct fc_translations *t)
{
    const struct fc_torus_shape *s = fc_torus(net);
    for (int d = 0; d < s->n_dims; d++) t->n *= s->ring[d] ? s->k[d] : 1;
    for (uint32_t v = 0; v < net->n_routers; v++) {
        t->orbit[v] = t->shift[v] = 0;
        for (int d = 0; d < s->n_dims; d++)
            *(s->ring[d] ? &t->shift[v] : &t->orbit[v]) += fc_torus_coordinate(s, v, d) * s->stride[d];
    }
}

enum fc_code fc_translations_find(const struct fc_network *net, struct fc_arena *arena, struct fc_translations *t,
                                  struct fc_status *st)
{
    memset(t, 0, sizeof *t);
    t->n = 1;
    t->torus = fc_torus(net) != NULL;
    t->chips = fc_tmesh(net) != NULL;
    if (!t->torus && !t->chips) return FC_OK;
    t->orbit = fc_alloc(arena, net->n_routers, sizeof *t->orbit, st);
    t->shift = fc_alloc(arena, net->n_routers, sizeof *t->shift, st);
    if (!t->orbit || !t->shift) return st->code;
    if (t->torus) {
        torus_translations(net, t);
    } else {
        const struct fc_tmesh_shape *s = fc_tmesh(net);
        t->n = s->n_chips;
        for (uint32_t v = 0; v < net->n_routers; v++) t->orbit[v] = v % s->n_mesh, t->shift[v] = v / s->n_mesh;
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

uint32_t fc_translate(const struct fc_network *net, const struct fc_translations *t, uint32_t router, uint32_t shift,
                      bool back)
{
    if (t->torus) {
        const struct fc_torus_shape *s = fc_torus(net);
        return add(s->n_dims, s->k, s->stride, router, shift, back);
    }
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    return add(s->n_dims, s->k, s->stride, router / s->n_mesh, shift, back) * s->n_mesh + router % s->n_mesh;
}
