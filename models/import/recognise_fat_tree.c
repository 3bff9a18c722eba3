/* recognise_fat_tree.c - whether a graph is an extended generalised fat-tree of one to three levels of switches.
 *
 * Level 1 are the switches with nodes, level i + 1 those without a level yet that are linked to level i. XGFT(h; m; 1, w2, w3)
 * (Ohring et al., IPPS 1995) then is
 *   two levels:   every leaf has the same m1 nodes and is linked to every switch of level 2 by the same number of cables;
 *   three levels: without level 3 the network falls into m3 parts that are trees of two levels, all alike; the switches of
 *                 level 3 fall into w2 groups of w3, and each is linked to one switch of level 2 in every part, the same one
 *                 for its whole group, by the same number of cables.
 * Which switch of a part a group has does not matter, since the switches of level 2 of a part are all linked alike. Limits:
 * nodes with one cable; no planes. */
#include "models/import/import.h"

#include <stdlib.h>
#include <string.h>

struct tree {
    const struct fc_network *net;
    uint8_t *level; /* [n_routers] 1 to 3 */
    uint32_t *part; /* [n_routers] of levels 1 and 2 */
    uint32_t *mark; /* [n_routers] scratch */
    uint32_t n[4];  /* switches of each level */
    uint32_t nodes, parts, cables[4];
    int link_class[4]; /* below each level; -1: none yet */
};

static bool same(uint32_t *known, uint32_t value)
{
    if (*known == 0) *known = value;
    return *known == value;
}

static bool same_class(int *known, int link_class)
{
    if (*known < 0) *known = link_class;
    return *known == link_class;
}

static bool find_levels(struct tree *t)
{
    const struct fc_network *net = t->net;
    memset(t->level, 0, net->n_routers);
    for (uint32_t l = net->first_link[net->n_routers]; l < net->n_links; l++) t->level[net->link_target[l]] = 1;
    for (uint8_t level = 1; level < 4; level++)
        for (uint32_t r = 0; r < net->n_routers; r++) {
            if (t->level[r] != level) continue;
            if (level < 4) t->n[level]++;
            for (uint32_t l = net->first_link[r]; l < net->first_link[r + 1]; l++) {
                uint32_t to = net->link_target[l];
                if (fc_is_node(net, to)) {
                    if (!same_class(&t->link_class[1], net->link_class[l])) return false;
                    continue;
                }
                if (t->level[to] == 0) t->level[to] = level + 1;
                uint8_t other = t->level[to];
                if (other == level || other > 3) return false; /* a tree has no links within a level */
                if (!same_class(&t->link_class[other > level ? other : level], net->link_class[l])) return false;
            }
        }
    for (uint32_t r = 0; r < net->n_routers; r++)
        if (t->level[r] == 0 || t->level[r] > 3) return false;
    return true;
}

static uint32_t cables_between(const struct fc_network *net, uint32_t a, uint32_t b)
{
    uint32_t n = 0;
    for (uint32_t l = net->first_link[a]; l < net->first_link[a + 1]; l++) n += net->link_target[l] == b;
    return n;
}

/* Parts of levels 1 and 2, numbered in the order of their first leaf. */
static void find_parts(struct tree *t)
{
    const struct fc_network *net = t->net;
    for (uint32_t r = 0; r < net->n_routers; r++) t->part[r] = FC_NONE;
    for (uint32_t r = 0; r < net->n_routers; r++) {
        uint32_t head = 0, tail = 0;
        if (t->level[r] != 1 || t->part[r] != FC_NONE) continue;
        t->part[r] = t->parts;
        for (t->mark[tail++] = r; head < tail; head++)
            for (uint32_t l = net->first_link[t->mark[head]]; l < net->first_link[t->mark[head] + 1]; l++) {
                uint32_t to = net->link_target[l];
                if (fc_is_node(net, to) || t->level[to] == 3 || t->part[to] != FC_NONE) continue;
                t->part[to] = t->parts;
                t->mark[tail++] = to;
            }
        t->parts++;
    }
}

/* Every leaf has as many nodes and is linked to every switch of level 2 of its part by as many cables. */
static bool parts_are_full(struct tree *t, uint32_t *leaves, uint32_t *spines)
{
    const struct fc_network *net = t->net;
    uint32_t *count = t->mark; /* of level 2 in each part: parts <= routers */
    memset(count, 0, net->n_routers * sizeof *count);
    for (uint32_t r = 0; r < net->n_routers; r++) count[t->level[r] == 2 ? t->part[r] : 0] += t->level[r] == 2;
    for (uint32_t p = 0; p < t->parts; p++)
        if (count[p] != count[0]) return false;
    *spines = count[0];
    *leaves = t->n[1] / t->parts;
    for (uint32_t r = 0; r < net->n_routers; r++) {
        uint32_t nodes = 0, up = 0;
        for (uint32_t l = net->first_link[r]; l < net->first_link[r + 1]; l++) {
            uint32_t to = net->link_target[l];
            nodes += fc_is_node(net, to);
            if (t->level[r] != 1 || fc_is_node(net, to)) continue;
            if (!same(&t->cables[2], cables_between(net, r, to))) return false;
            up++;
        }
        if (t->level[r] == 1 && (!same(&t->nodes, nodes) || (*spines && up != *spines * t->cables[2]))) return false;
    }
    memset(count, 0, net->n_routers * sizeof *count);
    for (uint32_t r = 0; r < net->n_routers; r++)
        if (t->level[r] == 1) count[t->part[r]]++;
    for (uint32_t p = 0; p < t->parts; p++)
        if (count[p] != *leaves) return false;
    return true;
}

/* by[part], child_of[part]: the switch of level 3 that was looked at last, and its child there.
 * Level 3: groups of w3 switches with the same children, one in each part, and every switch of level 2 in one group. */
static bool top_is_full(struct tree *t, uint32_t spines, uint32_t *w3, uint32_t *by, uint32_t *child_of)
{
    const struct fc_network *net = t->net;
    uint32_t *leader = t->mark; /* of a switch of level 2: the first of level 3 that it is linked to */
    for (uint32_t r = 0; r < net->n_routers; r++) leader[r] = by[r] = FC_NONE;
    if (t->n[3] % spines) return false;
    *w3 = t->n[3] / spines;
    for (uint32_t top = 0; top < net->n_routers; top++) {
        uint32_t children = 0, mine = FC_NONE;
        if (t->level[top] != 3) continue;
        for (uint32_t l = net->first_link[top]; l < net->first_link[top + 1]; l++) {
            uint32_t child = net->link_target[l], n = cables_between(net, top, child), part = t->part[child];
            if (!same(&t->cables[3], n)) return false;
            if (leader[child] == FC_NONE) leader[child] = top;
            if (mine == FC_NONE) mine = leader[child];
            if (leader[child] != mine || (by[part] == top && child_of[part] != child)) return false;
            by[part] = top;
            child_of[part] = child;
            children++;
        }
        if (children != t->parts * t->cables[3]) return false; /* one in each part, those of the group's first */
    }
    for (uint32_t r = 0; r < net->n_routers; r++) {
        uint32_t up = 0;
        for (uint32_t l = net->first_link[r]; t->level[r] == 2 && l < net->first_link[r + 1]; l++)
            up += t->level[net->link_target[l]] == 3;
        if (t->level[r] == 2 && up != *w3 * t->cables[3]) return false;
    }
    return true;
}

/* Nodes part by part, leaf by leaf. */
static enum fc_code list_nodes(const struct tree *t, struct fc_recognised *r, struct fc_status *st)
{
    const struct fc_network *net = t->net;
    uint32_t n = 0;
    r->node = fc_alloc(&r->arena, net->n_nodes, sizeof *r->node, st);
    for (uint32_t p = 0; r->node && p < t->parts; p++)
        for (uint32_t leaf = 0; leaf < net->n_routers; leaf++)
            for (uint32_t l = net->first_link[leaf]; t->part[leaf] == p && l < net->first_link[leaf + 1]; l++)
                if (fc_is_node(net, net->link_target[l])) r->node[n++] = net->link_target[l] - net->n_routers;
    return st->code;
}

static void tell(const struct tree *t, int levels, uint32_t leaves, uint32_t spines, uint32_t w3,
                 struct fc_recognised *r)
{
    uint32_t m[3] = {t->nodes, leaves, t->parts}, w[3] = {1, spines, w3}, c[3] = {1, t->cables[2], t->cables[3]};
    char text[3][60] = {"", "", ""};
    bool several = c[1] > 1 || (levels > 2 && c[2] > 1);
    for (int i = 0; i < levels; i++) {
        snprintf(text[0] + strlen(text[0]), 60 - strlen(text[0]), "%s%u", i ? ", " : "", m[i]);
        snprintf(text[1] + strlen(text[1]), 60 - strlen(text[1]), "%s%u", i ? ", " : "", w[i]);
        snprintf(text[2] + strlen(text[2]), 60 - strlen(text[2]), "%s%u", i ? ", " : "", c[i]);
        char *name = (char *[]){"leaf", "level1", "level2"}[i];
        r->classes[i] = name;
        r->class_of[i] = t->link_class[i + 1];
    }
    int n = snprintf(r->keys, sizeof r->keys, "children: [%s]\n  parents: [%s]\n", text[0], text[1]);
    if (several) snprintf(r->keys + n, sizeof r->keys - (size_t)n, "  links: [%s]\n", text[2]);
    snprintf(r->words, sizeof r->words, "a fat-tree of %d levels: children [%s], parents [%s]%s%s%s", levels, text[0],
             text[1], several ? ", links [" : "", several ? text[2] : "", several ? "]" : "");
    r->family = "fat-tree";
    r->n_classes = levels;
}

enum fc_code fc_recognise_fat_tree(const struct fc_network *net, struct fc_recognised *r, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct tree t = {.net = net, .link_class = {-1, -1, -1, -1}};
    uint32_t leaves = 0, spines = 0, w3 = 0;
    for (uint32_t n = 0; n < net->n_nodes; n++)
        if (net->first_link[net->n_routers + n + 1] - net->first_link[net->n_routers + n] != 1) return FC_OK;
    t.level = fc_alloc(&scratch, net->n_routers, sizeof *t.level, st);
    t.part = fc_alloc(&scratch, net->n_routers, sizeof *t.part, st);
    t.mark = fc_alloc(&scratch, net->n_routers, sizeof *t.mark, st);
    uint32_t *work = fc_alloc(&scratch, net->n_routers, 2 * sizeof *work, st);
    if (!st->code && find_levels(&t)) {
        find_parts(&t);
        int levels = t.n[3] ? 3 : t.n[2] ? 2 : 1;
        bool is = parts_are_full(&t, &leaves, &spines) &&
                  (levels < 3 ? t.parts == 1 : top_is_full(&t, spines, &w3, work, work + net->n_routers)) &&
                  (levels > 1 || leaves == 1);
        if (is && !list_nodes(&t, r, st)) tell(&t, levels, leaves, spines, w3, r);
    }
    return st->code;
}
