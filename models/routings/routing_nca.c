/* routing_nca.c - fat-trees: adaptive ascent to any nearest common ancestor, then the only way down.
 *
 * Every one of the P W_L switches at the top of the smallest subtree (height L) that holds source and
 * destination is equally likely, as is every cable of a bundle (uniform over parents at each step: Petrini &
 * Vanneschi, IPPS 1997; what adaptive routing tends to under load). So each of the P W_{l+1} p_{l+1} cables
 * between levels l and l+1 above the source's subtree of height l, l < L, carries the share 1/(P W_{l+1}
 * p_{l+1}), and the same on the way down above the destination's. A link's load therefore depends only on
 * what leaves or enters the subtree below it:
 *
 *   load_up(x) = [sum of traffic from inside x to outside] / (P W_{l+1} p_{l+1}),   load_down(x) likewise,
 *
 * by subtree sums for rank-one traffic and by counting the digits in which source and destination differ for
 * single entries: O(h) an entry, whatever the number of paths. Limits: the split is uniform, not optimised
 * for the traffic.
 *
 * nca-random picks every up link uniformly at random whatever the load: oblivious, and the same loads. */
#include "models/routings/fat_tree_loads.h"

static void walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    int top = fc_fat_tree_nca(s, src, dst);
    for (int l = 0; l < top; l++) {
        double weight = share / s->planes / fc_fat_tree_cables(s, l);
        for (uint32_t plane = 0; plane < s->planes; plane++)
            for (uint32_t y = 0; y < s->subtree_switches[l]; y++)
                for (uint32_t u = 0; u < s->w[l + 1]; u++)
                    for (uint32_t c = 0; c < s->p[l + 1]; c++)
                        fc_walk_add(walk, fc_fat_tree_up(net, l, plane, src / s->subtree_nodes[l], y, u, c), weight);
    }
    for (int l = top - 1; l >= 0; l--) {
        double weight = share / s->planes / fc_fat_tree_cables(s, l);
        for (uint32_t plane = 0; plane < s->planes; plane++)
            for (uint32_t y = 0; y < s->subtree_switches[l + 1]; y++)
                for (uint32_t c = 0; c < s->p[l + 1]; c++)
                    fc_walk_add(walk, fc_fat_tree_down(net, l, plane, dst / s->subtree_nodes[l], y, c), weight);
    }
}

/* Spreads what leaves (up) and enters (down) every subtree over its cables. */
static void spread(const struct fc_network *net, const struct fc_subtree_values *up,
                   const struct fc_subtree_values *down, double *load)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    for (int l = 0; l < s->h; l++) {
        double cables = (double)s->planes * fc_fat_tree_cables(s, l);
        uint32_t switches = s->subtree_switches[l], above = s->subtree_switches[l + 1];
        for (uint32_t x = 0; x < s->n_subtrees[l]; x++) {
            double each_up = up->value[up->first[l] + x] / cables, each_down = down->value[down->first[l] + x] / cables;
            for (uint32_t plane = 0; plane < s->planes; plane++) {
                for (uint32_t y = 0; y < switches; y++) {
                    double *link = load + fc_fat_tree_up(net, l, plane, x, y, 0, 0);
                    for (uint32_t i = 0; i < s->w[l + 1] * s->p[l + 1]; i++) link[i] += each_up;
                }
                for (uint32_t y = 0; y < above; y++) {
                    double *link = load + fc_fat_tree_down(net, l, plane, x, y, 0);
                    for (uint32_t c = 0; c < s->p[l + 1]; c++) link[c] += each_down;
                }
            }
        }
    }
}

static enum fc_code rank_one(const struct fc_network *net, const double *a, const double *b, double *load,
                             struct fc_status *st)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_subtree_values a_in, a_out, b_in, b_out;
    if (!fc_subtree_start(s, &scratch, &a_in, st) && !fc_subtree_start(s, &scratch, &a_out, st) &&
        !fc_subtree_start(s, &scratch, &b_in, st) && !fc_subtree_start(s, &scratch, &b_out, st)) {
        fc_subtree_sums(s, a, &a_in, &a_out);
        fc_subtree_sums(s, b, &b_in, &b_out);
        for (size_t i = 0; i < a_in.first[s->h + 1]; i++) {
            a_in.value[i] *= b_out.value[i];
            b_in.value[i] *= a_out.value[i];
        }
        spread(net, &a_in, &b_in, load);
    }
    return st->code;
}

static enum fc_code sparse(const struct fc_network *net, const uint32_t *src, const uint32_t *dst, const double *bytes,
                           size_t n, double *load, struct fc_status *st)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_subtree_values up, down;
    if (!fc_subtree_start(s, &scratch, &up, st) && !fc_subtree_start(s, &scratch, &down, st)) {
        for (size_t i = 0; i < n; i++) {
            uint32_t from = src[i], to = dst[i];
            for (int l = 0; from != to; l++) {
                up.value[up.first[l] + from] += bytes[i];
                down.value[down.first[l] + to] += bytes[i];
                from /= s->m[l + 1];
                to /= s->m[l + 1];
            }
        }
        spread(net, &up, &down, load);
    }
    return st->code;
}

static const char *const families[] = {"fat-tree", NULL};

const struct fc_routing_ops fc_routing_nca = {
    .name = "nca",
    .help = "adaptive ascent, uniform over the nearest common ancestors, then straight down",
    .source = "Petrini & Vanneschi, IPPS 1997; Ohring et al., IPPS 1995",
    .families = families,
    .adaptive = true,
    .minimal = true,
    .by_router = true,
    .walk_capacity = fc_fat_tree_walk_capacity,
    .walk = walk,
    .rank_one = rank_one,
    .sparse = sparse,
};

const struct fc_routing_ops fc_routing_nca_random = {
    .name = "nca-random",
    .help = "ascent by up links picked at random afresh at every level, then straight down",
    .source = "Valiant 1982; Leiserson 1985; Petrini & Vanneschi, IPPS 1997",
    .families = families,
    .walk_capacity = fc_fat_tree_walk_capacity,
    .walk = walk,
    .rank_one = rank_one,
    .sparse = sparse,
};
