/* place_symmetry.c - layouts that are mirror images of each other are looked at once. */
#include "mapping/place/place_search.h"

/* Node u mirrored along the axes of the mask. */
static uint32_t mirror(const struct fc_chip *c, uint32_t u, unsigned axes)
{
    uint32_t result = 0, stride = 1;
    for (int a = c->n_axes - 1; a >= 0; a--) {
        uint32_t at = u / stride % c->side[a];
        result += (axes >> a & 1 ? c->side[a] - 1 - at : at) * stride;
        stride *= c->side[a];
    }
    return result;
}

static bool alike(const struct fc_place_model *m, int d)
{
    int a = 2 * d, b = 2 * d + 1;
    bool same = m->inject[a] == m->inject[b] && m->eject[a] == m->eject[b] && m->rate[a][b] == m->rate[b][a];
    for (int j = 0; j < m->n; j++)
        if (j / 2 != d) same = same && m->rate[a][j] == m->rate[b][j] && m->rate[j][a] == m->rate[j][b];
    return same;
}

uint64_t fc_place_class(const struct fc_chip *c, uint32_t u, uint32_t v, bool swap, bool symmetry)
{
    uint64_t own = (uint64_t)u << 32 | v, seen[1 << FC_CHIP_AXES], n = 0;
    for (unsigned axes = 0; axes < (symmetry ? 1u << c->n_axes : 1); axes++) {
        uint64_t a = mirror(c, u, axes), b = mirror(c, v, axes);
        uint64_t image = swap && b < a ? b << 32 | a : a << 32 | b;
        bool known = false;
        if (image < own) return 0;
        for (uint64_t i = 0; i < n; i++) known = known || seen[i] == image;
        if (!known) seen[n++] = image;
    }
    return n;
}

bool fc_place_symmetry(const struct fc_place_model *m, const struct fc_layout_rules *rules, bool *swap)
{
    bool symmetry = !rules->taken;
    for (int i = 0; i < m->n; i++) symmetry = symmetry && rules->pinned[i] == FC_NONE;
    for (int d = 0; d < m->chip.n_dims; d++) swap[d] = symmetry && alike(m, d);
    return symmetry;
}
