/* cdg_fat_tree.c - channel dependencies of routing by nearest common ancestors on fat-trees: up to any
 * parent while the destination lies outside the subtree, over to another child where it lies inside, down
 * from there. With hashed ascent (nca-hash) a packet uses some of these; all are written, which the order
 * up - down makes safe to do. */
#include "models/deadlock/cdg.h"
#include "models/family_fat_tree.h"

const struct fc_routing_ops *const fc_fat_tree_routings[] = {&fc_routing_nca, &fc_routing_nca_hash,
                                                             &fc_routing_nca_random, NULL};

/* The links of a switch: [up, down) to parents, [down, end) to children, `cables` a child. */
struct ports {
    uint32_t up, down, end, cables;
};
static struct ports ports_of(const struct fc_network *net, uint32_t router, int level)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    uint32_t up = net->first_link[router], n = level < s->h ? s->w[level + 1] * s->p[level + 1] : 0;
    return (struct ports){up, up + n, net->first_link[router + 1], s->p[level]};
}

/* Hubs of a switch: hub 0 all its parents, hub 1 all its children; then before[i] and after[i]: children
 * up to i, and from i on, so that "every child but this one" is two arcs. */
static uint32_t hubs_of(const struct fc_fat_tree_shape *s, int level)
{
    return 2 + 2 * s->m[level];
}

static void wait_for(struct fc_cdg *cdg, uint32_t from, uint32_t first, uint32_t end)
{
    for (uint32_t l = first; l < end; l++) fc_cdg_add(cdg, from, fc_cdg_channel(cdg, l, 0));
}

static void open_hubs(const struct fc_network *net, int level, const struct ports *p, uint32_t hub, struct fc_cdg *cdg)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    uint32_t before = hub + 2, after = before + s->m[level];
    bool outside = s->n_subtrees[level] > 1; /* some destination lies outside this subtree */
    if (outside) wait_for(cdg, hub, p->up, p->down);
    if (outside) wait_for(cdg, hub + 1, p->down, p->end);
    for (uint32_t i = 0; s->m[level] > 1 && i < s->m[level]; i++) {
        uint32_t child = p->down + i * p->cables;
        if (i + 1 < s->m[level]) wait_for(cdg, before + i, child, child + p->cables);
        if (i > 0) wait_for(cdg, after + i, child, child + p->cables);
        if (i > 0 && i + 1 < s->m[level]) {
            fc_cdg_add(cdg, before + i, before + i - 1);
            fc_cdg_add(cdg, after + i, after + i + 1);
        }
    }
}

/* Links into the switch: the i-th child's by `link`, or a parent's. */
static void from_child(const struct fc_fat_tree_shape *s, int level, uint32_t i, uint32_t link, uint32_t hub,
                       struct fc_cdg *cdg)
{
    uint32_t from = fc_cdg_channel(cdg, link, 0), before = hub + 2, after = before + s->m[level];
    if (s->n_subtrees[level] > 1) fc_cdg_add(cdg, from, hub);
    if (i > 0) fc_cdg_add(cdg, from, before + i - 1);
    if (i + 1 < s->m[level]) fc_cdg_add(cdg, from, after + i + 1);
}

/* Number of the child through which `below` hangs on a switch of the level. */
static uint32_t child_number(const struct fc_network *net, uint32_t below, int level)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    if (level == 1) return (below - net->n_routers) % s->m[1];
    uint32_t index = below - s->first_switch[level - 1];
    return index / s->subtree_switches[level - 1] % s->n_subtrees[level - 1] % s->m[level];
}

static int level_of(const struct fc_fat_tree_shape *s, uint32_t router)
{
    int level = 1;
    while (router >= s->first_switch[level + 1]) level++;
    return level;
}

enum fc_code fc_fat_tree_dependencies(const struct fc_network *net, int variant, struct fc_cdg *cdg,
                                      struct fc_status *st)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    uint32_t first_hub[FC_MAX_LEVELS + 1];
    (void)variant, (void)st;
    for (int l = 1; l <= s->h; l++)
        first_hub[l] = fc_cdg_hubs(cdg, (uint64_t)hubs_of(s, l) * (s->first_switch[l + 1] - s->first_switch[l]));
    if (cdg->pass == FC_CDG_HUBS) return FC_OK;
    for (uint32_t router = 0; router < net->n_routers; router++) {
        int level = level_of(s, router);
        struct ports p = ports_of(net, router, level);
        open_hubs(net, level, &p, first_hub[level] + hubs_of(s, level) * (router - s->first_switch[level]), cdg);
    }
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t a = net->link_source[l], b = net->link_target[l];
        if (fc_is_node(net, b)) continue;
        bool up = fc_is_node(net, a) || a < b;
        int level = level_of(s, b);
        uint32_t hub = first_hub[level] + hubs_of(s, level) * (b - s->first_switch[level]);
        if (up)
            from_child(s, level, child_number(net, a, level), l, hub, cdg);
        else if (s->n_subtrees[level] > 1)
            fc_cdg_add(cdg, fc_cdg_channel(cdg, l, 0), hub + 1);
    }
    return FC_OK;
}
