/* family_torus_fold.c - rings that are longer than any line of the machine.
 *
 * A ring of L nodes on a machine whose lines have at most M is laid through F columns of l = L/F nodes, F the least even
 * divisor of L with L/F <= M: up the first, down the second, and so on (a snake), and back to the first through a link
 * between the last column and it. Packets take the shortest way in both dimensions, [l, F], not along the snake: the links
 * between neighbouring columns that the snake does not use are there for them. Node c of the ring is at
 *
 *     column q = c / l,   place  p = c % l  (q even),  l - 1 - c % l  (q odd).
 *
 * Torus folding of Tofu: Ajima, Sumimoto & Shimizu, IEEE Computer 42(11), 2009; which axes a job gets is the job
 * manager's and not published. Limits: columns are lines (parts of an axis do not wrap); F > 2 columns are a ring, 2 are
 * joined by one link a place. A dimension that is no ring is not folded. */
#include "models/family_torus.h"

/* Columns of a ring of n; 0: it cannot be folded. O(root of n). */
static uint32_t columns(uint32_t n, long long longest)
{
    uint32_t best = 1; /* places of a column */
    for (uint32_t i = 1; i <= n / i; i++) {
        if (n % i) continue;
        const uint32_t pair[] = {i, n / i};
        for (int j = 0; j < 2; j++)
            if (pair[j] > best && pair[j] <= longest && n / pair[j] % 2 == 0) best = pair[j];
    }
    return best > 1 ? n / best : 0;
}

static void add(struct fc_torus_shape *s, int of, uint32_t k, bool ring, bool folds)
{
    int d = s->n_dims++;
    s->of[d] = of;
    s->folds[d] = folds;
    s->k[d] = k;
    s->ring[d] = ring;
    s->stride[d] = d ? s->stride[d - 1] * s->k[d - 1] : 1;
    s->parallel[d] = s->links_per_dim.n ? (uint32_t)s->links_per_dim.v[of] : 1;
}

enum fc_code fc_torus_fold(struct fc_torus_shape *s, bool default_ring, struct fc_place where, struct fc_status *st)
{
    s->n_dims = 0;
    for (int of = 0; of < s->dims.n; of++) {
        uint32_t n = (uint32_t)s->dims.v[of];
        bool ring = s->wrap.n ? s->wrap.v[of] != 0 : default_ring, longer = s->longest_line && n > s->longest_line;
        uint32_t f = longer && ring ? columns(n, s->longest_line) : 1;
        if (longer && (!ring || f == 0))
            return fc_fail(
                st, FC_INPUT, where,
                "network.dims: %u is longer than longest_line and %s (expected at most %lld, or a ring that an "
                "even number of such lines makes up)",
                n, ring ? "no whole lines make it up" : "no ring", s->longest_line);
        if (s->n_dims + (f > 1 ? 2 : 1) > FC_MAX_DIMS)
            return fc_fail(st, FC_INPUT, where, "network.dims: more than %d dimensions when folded", FC_MAX_DIMS);
        add(s, of, n / f, f == 1 && ring, f > 1);
        if (f > 1) add(s, of, f, f > 2, false);
    }
    return FC_OK;
}

void fc_torus_folds(const struct fc_network *net, char *out, size_t size)
{
    const struct fc_torus_shape *s = fc_torus(net);
    size_t n = 0;
    *out = 0;
    for (int d = 0; d < s->n_dims && n < size; d++)
        if (s->folds[d])
            n += (size_t)snprintf(out + n, size - n, "%s%u as %u columns of %u",
                                  n ? ", " : "rings folded: ", s->k[d] * s->k[d + 1], s->k[d + 1], s->k[d]);
    if (n && n < size) snprintf(out + n, size - n, "; tasks go along them");
}

bool fc_torus_snake(const struct fc_network *net, uint32_t *node)
{
    const struct fc_torus_shape *s = fc_torus(net);
    if (s->n_dims == s->dims.n) return false;
    for (uint32_t v = 0; v < s->n_routers; v++) {
        uint32_t router = 0, rest = v; /* v: the router's place in the torus as the file has it */
        for (int d = 0; d < s->n_dims; d++) {
            uint32_t c = rest % s->k[d];
            rest /= s->k[d];
            if (s->folds[d] && rest % s->k[d + 1] % 2) c = s->k[d] - 1 - c;
            router += c * s->stride[d];
        }
        for (uint32_t t = 0; t < s->nodes_per_router; t++)
            node[v * s->nodes_per_router + t] = router * s->nodes_per_router + t;
    }
    return true;
}
