/* routing_nca_hash.c - fat-trees: deterministic d-mod-k ascent, one path a destination and plane.
 *
 * From level l to l+1 a packet for node d leaves by up port floor(d / W_l) mod (w_{l+1} p_{l+1}), parent =
 * port mod w_{l+1}, cable = port / w_{l+1} (Zahavi, D-Mod-K routing, Technion CCIT report 776, 2010; Gomez et
 * al., IPDPS 2007), and comes down over the cable of the same number. With the numbering of family_fat_tree.h
 * all is in the residue r = d mod (W_{l+1} p_{l+1}): the switch of level l is r mod W_l, its parent r mod
 * W_{l+1}, the cable r / W_{l+1}. All traffic to one node shares these choices whatever its source; over
 * several planes it is split evenly (messages are striped over rails at the sender), with the same choices in
 * each.
 *
 * Rank-one traffic a(s) b(d): the up link of residue r above subtree x carries S_a(x) sum_{d not in x,
 * residue r} b(d), the down link O_a(x) sum_{d in x, residue r} b(d), divided by the planes: O(nodes + links)
 * a level. */
#include "models/routings/fat_tree_loads.h"

#include <string.h>

static uint32_t up_link(const struct fc_network *net, int l, uint32_t plane, uint32_t x, uint32_t residue)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    return fc_fat_tree_up(net, l, plane, x, residue % s->subtree_switches[l],
                          residue / s->subtree_switches[l] % s->w[l + 1], residue / s->subtree_switches[l + 1]);
}

static uint32_t down_link(const struct fc_network *net, int l, uint32_t plane, uint32_t x, uint32_t residue)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    return fc_fat_tree_down(net, l, plane, x, residue % s->subtree_switches[l + 1],
                            residue / s->subtree_switches[l + 1]);
}

static uint32_t walk_capacity(const struct fc_network *net)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    return 2 * (uint32_t)s->h * s->planes;
}

static void walk(const struct fc_network *net, uint32_t src, uint32_t dst, double share, struct fc_walk *walk)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    int top = fc_fat_tree_nca(s, src, dst);
    for (uint32_t plane = 0; plane < s->planes; plane++) {
        for (int l = 0; l < top; l++)
            fc_walk_add(walk, up_link(net, l, plane, src / s->subtree_nodes[l], dst % fc_fat_tree_cables(s, l)),
                        share / s->planes);
        for (int l = top - 1; l >= 0; l--)
            fc_walk_add(walk, down_link(net, l, plane, dst / s->subtree_nodes[l], dst % fc_fat_tree_cables(s, l)),
                        share / s->planes);
    }
}

static enum fc_code sparse(const struct fc_network *net, const uint32_t *src, const uint32_t *dst, const double *bytes,
                           size_t n, double *load, struct fc_status *st)
{
    (void)st;
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    for (size_t i = 0; i < n; i++) {
        uint32_t from = src[i], to = dst[i];
        double each = bytes[i] / s->planes;
        for (int l = 0; from != to; l++) {
            uint32_t residue = dst[i] % fc_fat_tree_cables(s, l);
            for (uint32_t plane = 0; plane < s->planes; plane++) {
                load[up_link(net, l, plane, from, residue)] += each;
                load[down_link(net, l, plane, to, residue)] += each;
            }
            from /= s->m[l + 1];
            to /= s->m[l + 1];
        }
    }
    return FC_OK;
}

/* Loads between levels l and l+1. inside, others [n_subtrees[l] * residues]: sums of b by subtree and
 * residue. */
static void level_loads(const struct fc_network *net, int l, const double *b, const double *a_in, const double *a_out,
                        double *inside, double *others, double *load)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    uint32_t residues = fc_fat_tree_cables(s, l), subtrees = s->n_subtrees[l];
    memset(inside, 0, (size_t)subtrees * residues * sizeof *inside);
    for (uint32_t d = 0; d < s->n_nodes; d++)
        inside[(size_t)(d / s->subtree_nodes[l]) * residues + d % residues] += b[d];
    for (uint32_t r = 0; r < residues; r++) fc_sums_of_others(inside + r, others + r, subtrees, residues, 0);
    for (uint32_t x = 0; x < subtrees; x++)
        for (uint32_t r = 0; r < residues; r++) {
            size_t at = (size_t)x * residues + r;
            for (uint32_t plane = 0; plane < s->planes; plane++) {
                load[up_link(net, l, plane, x, r)] += a_in[x] * others[at] / s->planes;
                load[down_link(net, l, plane, x, r)] += a_out[x] * inside[at] / s->planes;
            }
        }
}

static enum fc_code rank_one(const struct fc_network *net, const double *a, const double *b, double *load,
                             struct fc_status *st)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_subtree_values a_in, a_out;
    size_t largest = 0;
    for (int l = 0; l < s->h; l++) {
        size_t links = (size_t)s->n_subtrees[l] * fc_fat_tree_cables(s, l);
        if (links > largest) largest = links;
    }
    double *inside = fc_alloc(&scratch, largest, sizeof *inside, st);
    double *others = fc_alloc(&scratch, largest, sizeof *others, st);
    if (inside && others && !fc_subtree_start(s, &scratch, &a_in, st) && !fc_subtree_start(s, &scratch, &a_out, st)) {
        fc_subtree_sums(s, a, &a_in, &a_out);
        for (int l = 0; l < s->h; l++)
            level_loads(net, l, b, a_in.value + a_in.first[l], a_out.value + a_out.first[l], inside, others, load);
    }
    return st->code;
}

static const char *const families[] = {"fat-tree", NULL};

const struct fc_routing_ops fc_routing_nca_hash = {
    .name = "nca-hash",
    .help = "deterministic d-mod-k: the destination's digits choose the way up",
    .source = "Zahavi, Technion CCIT report 776, 2010; Gomez et al., IPDPS 2007",
    .families = families,
    .walk_capacity = walk_capacity,
    .walk = walk,
    .rank_one = rank_one,
    .sparse = sparse,
};
