/* family_fat_tree.h - shape and index arithmetic of fat-trees (family_fat_tree.c, fat_tree_loads.c,
 * routing_nca*.c). */
#pragma once

#include "models/models.h"

#define FC_MAX_LEVELS (FC_MAX_CLASSES - 1) /* classes: leaf, level1 .. level(h-1), injection */

/* XGFT(h; m_1..m_h; w_1..w_h): node n lies in subtree x = n / M_l of height l, M_l = m_1...m_l. At the top of
 * that subtree stand W_l = w_1...w_l switches (l, x, y), y = 0 .. W_l - 1. Parent u of (l, x, y) is (l+1, x /
 * m_{l+1}, y + W_l u), so y mod W_i tells the switch of level i < l below; node n is (0, n, 0). Every tree
 * link is a bundle of p_l cables (l: level of its upper end); `planes` copies of all switches share the
 * nodes. Switches are numbered level by level, level 1 first; within a level plane, x, y from slow to fast.
 * Links of a switch: up (parent, cable), then down (child, cable); of a node: (plane, parent, cable). */
struct fc_fat_tree_shape {
    struct fc_ints children, parents, links; /* as in the file: m, w, p */
    long long planes_given;
    /* Derived by check; index is the level: */
    int h;
    uint32_t planes;
    uint32_t m[FC_MAX_LEVELS + 1], w[FC_MAX_LEVELS + 1], p[FC_MAX_LEVELS + 1]; /* [1..h] */
    uint32_t subtree_nodes[FC_MAX_LEVELS + 1];                                 /* M_l, M_0 = 1 */
    uint32_t subtree_switches[FC_MAX_LEVELS + 1];                              /* W_l, W_0 = 1 */
    uint32_t n_subtrees[FC_MAX_LEVELS + 1];                                    /* N / M_l */
    uint32_t first_switch[FC_MAX_LEVELS + 2]; /* [1..h+1] number of the level's first switch */
    uint32_t n_nodes, n_switches, n_links;
};

extern const struct fc_family_ops fc_family_fat_tree;
extern const struct fc_routing_ops fc_routing_nca, fc_routing_nca_hash, fc_routing_nca_random;
extern const struct fc_layout fc_fat_tree_layout;
/* The shape of a fat-tree; NULL: the machine is of another family. */
static inline const struct fc_fat_tree_shape *fc_machine_fat_tree(const struct fc_machine *machine)
{
    return machine->family == &fc_family_fat_tree ? machine->shape : NULL;
}
static inline const struct fc_fat_tree_shape *fc_fat_tree(const struct fc_network *net)
{
    return fc_machine_fat_tree(net->machine);
}
/* Router number of switch (l, x, y) of a plane, l >= 1. */
static inline uint32_t fc_fat_tree_switch(const struct fc_fat_tree_shape *s, int l, uint32_t plane, uint32_t x,
                                          uint32_t y)
{
    return s->first_switch[l] + (plane * s->n_subtrees[l] + x) * s->subtree_switches[l] + y;
}
/* Cable c of the link from (l, x, y) up to its parent u; l = 0 is node x. */
static inline uint32_t fc_fat_tree_up(const struct fc_network *net, int l, uint32_t plane, uint32_t x, uint32_t y,
                                      uint32_t u, uint32_t c)
{
    const struct fc_fat_tree_shape *s = net->machine->shape;
    if (l == 0) return net->first_link[net->n_routers + x] + (plane * s->w[1] + u) * s->p[1] + c;
    return net->first_link[fc_fat_tree_switch(s, l, plane, x, y)] + u * s->p[l + 1] + c;
}
/* Cable c of the link from the switch (l + 1, ., y) above subtree x of height l down into that subtree. */
static inline uint32_t fc_fat_tree_down(const struct fc_network *net, int l, uint32_t plane, uint32_t x, uint32_t y,
                                        uint32_t c)
{
    const struct fc_fat_tree_shape *s = net->machine->shape;
    uint32_t up = l + 1 < s->h ? s->w[l + 2] * s->p[l + 2] : 0;
    return net->first_link[fc_fat_tree_switch(s, l + 1, plane, x / s->m[l + 1], y)] + up +
           x % s->m[l + 1] * s->p[l + 1] + c;
}
/* Cables between the top of a subtree of height l and the level above, in one plane: W_{l+1} p_{l+1}. */
static inline uint32_t fc_fat_tree_cables(const struct fc_fat_tree_shape *s, int l)
{
    return s->subtree_switches[l + 1] * s->p[l + 1];
}
/* Level of the nearest common ancestors of two distinct nodes: the lowest subtree that holds both. */
static inline int fc_fat_tree_nca(const struct fc_fat_tree_shape *s, uint32_t a, uint32_t b)
{
    int l = 1;
    while (a / s->subtree_nodes[l] != b / s->subtree_nodes[l]) l++;
    return l;
}
/* Links of the longest uniform walk (routing_nca.c): both ways through every level. */
uint32_t fc_fat_tree_walk_capacity(const struct fc_network *net);
