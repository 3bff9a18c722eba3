/* family_fat_tree.c - extended generalised fat-trees XGFT(h; m_1..m_h; w_1..w_h) (Ohring, Ibel, Das & Kumar,
 * IPPS 1995) with bundles of parallel cables and parallel planes; k-ary n-trees (Petrini & Vanneschi, IPPS
 * 1997) are the case m = k..k, w = 1,k..k; tapering is fewer parents or cables than children.
 *
 * Closed forms, with M_l = m_1...m_l, W_l = w_1...w_l, P planes, p_l cables a link: nodes N = M_h; switches
 * of level l P W_l N/M_l; cables between levels l and l+1 C_l = P (N/M_l) W_{l+1} p_{l+1}. Two nodes whose
 * nearest common ancestors are of level l are 2(l-1) switch-to-switch hops apart and M_l - M_{l-1} nodes are
 * so for each node, hence the mean distance; diameter 2(t-1), t the highest level with m_t > 1. Bisection:
 * half the height t-1 subtrees (the smaller half of an odd number) against the rest; by max-flow = min-cut
 * over a tree of symmetric stages the cut is the least stage, min_{l<t} floor(m_t/2) (M_{t-1}/M_l) P W_{l+1}
 * p_{l+1} cables, each one link a direction. Limits: all subtrees alike; leaf links count as a stage (they
 * bound what a half can send). */
#include "models/family_fat_tree.h"

#include "models/family_parts.h"

/* The four lists agree in length; the missing `links` means one cable everywhere. */
static enum fc_code check_lists(const struct fc_fat_tree_shape *s, struct fc_place where, struct fc_status *st)
{
    if (s->children.n == 0)
        return fc_fail(st, FC_INPUT, where, "network.children is missing (e.g. children: [4, 4, 4])");
    if (s->parents.n == 0) return fc_fail(st, FC_INPUT, where, "network.parents is missing (e.g. parents: [1, 4, 4])");
    if (s->children.n > FC_MAX_LEVELS)
        return fc_fail(st, FC_INPUT, where, "network.children has %d levels (at most %d)", s->children.n,
                       FC_MAX_LEVELS);
    if (s->parents.n != s->children.n)
        return fc_fail(st, FC_INPUT, where, "network.parents has %d entries (expected %d, one a level as children)",
                       s->parents.n, s->children.n);
    if (s->links.n && s->links.n != s->children.n)
        return fc_fail(st, FC_INPUT, where, "network.links has %d entries (expected %d, one a level as children)",
                       s->links.n, s->children.n);
    return FC_OK;
}

/* Counts nodes, switches and directed links in doubles, which cannot overflow (15 factors below 2^31 each),
 * and refuses what 32-bit numbers cannot hold, so that all products below are exact. */
static enum fc_code check_size(const struct fc_fat_tree_shape *s, struct fc_place where, struct fc_status *st)
{
    double nodes = 1, switches = 0, links = 0, per_level = 1;
    for (int l = 0; l < s->children.n; l++) nodes *= (double)s->children.v[l];
    per_level = nodes;
    for (int l = 0; l < s->children.n; l++) {
        double planes = l == 0 ? (double)s->planes_given : 1;
        double cables = s->links.n ? (double)s->links.v[l] : 1;
        links += 2 * per_level * planes * (double)s->parents.v[l] * cables;
        per_level *= planes * (double)s->parents.v[l] / (double)s->children.v[l];
        switches += per_level;
    }
    if (nodes + switches >= 2147483648.0)
        return fc_fail(st, FC_NO, where,
                       "network.children: %.4g nodes and %.4g switches are too many (at most 2^31 - 1)", nodes,
                       switches);
    if (links >= FC_NONE)
        return fc_fail(st, FC_NO, where, "network.parents: %.4g links are too many (at most %u can be held)", links,
                       FC_NONE - 1);
    return FC_OK;
}

static void derive(struct fc_fat_tree_shape *s)
{
    s->h = s->children.n;
    s->planes = (uint32_t)s->planes_given;
    s->subtree_nodes[0] = s->subtree_switches[0] = 1;
    for (int l = 1; l <= s->h; l++) {
        s->m[l] = (uint32_t)s->children.v[l - 1];
        s->w[l] = (uint32_t)s->parents.v[l - 1];
        s->p[l] = s->links.n ? (uint32_t)s->links.v[l - 1] : 1;
        s->subtree_nodes[l] = s->subtree_nodes[l - 1] * s->m[l];
        s->subtree_switches[l] = s->subtree_switches[l - 1] * s->w[l];
    }
    s->n_nodes = s->subtree_nodes[s->h];
    s->n_links = 0;
    for (int l = 0; l <= s->h; l++) s->n_subtrees[l] = s->n_nodes / s->subtree_nodes[l];
    for (int l = 1; l <= s->h; l++) {
        s->first_switch[l + 1] = s->first_switch[l] + s->planes * s->n_subtrees[l] * s->subtree_switches[l];
        s->n_links += 2 * s->planes * s->n_subtrees[l - 1] * fc_fat_tree_cables(s, l - 1);
    }
    s->n_switches = s->first_switch[s->h + 1];
}

static enum fc_code check(struct fc_machine *machine, struct fc_place where, struct fc_status *st)
{
    struct fc_fat_tree_shape *s = machine->shape;
    if (check_lists(s, where, st) || check_size(s, where, st)) return st->code;
    derive(s);
    machine->n_classes = s->h;
    snprintf(machine->classes[0].name, sizeof machine->classes[0].name, "leaf");
    for (int l = 1; l < s->h; l++) snprintf(machine->classes[l].name, sizeof machine->classes[l].name, "level%d", l);
    return FC_OK;
}

/* Level of a switch, and its number within the level. */
static int level_of(const struct fc_fat_tree_shape *s, uint32_t router, uint32_t *index)
{
    int l = 1;
    while (router >= s->first_switch[l + 1]) l++;
    *index = router - s->first_switch[l];
    return l;
}

/* Links of switch (l, plane, x, y) in their order. */
static void add_switch(const struct fc_fat_tree_shape *s, struct fc_link_list *list, int l, uint32_t index)
{
    uint32_t router = s->first_switch[l] + index, y = index % s->subtree_switches[l];
    uint32_t x = index / s->subtree_switches[l] % s->n_subtrees[l];
    uint32_t plane = index / s->subtree_switches[l] / s->n_subtrees[l];
    for (uint32_t u = 0; l < s->h && u < s->w[l + 1]; u++)
        for (uint32_t c = 0; c < s->p[l + 1]; c++)
            fc_links_add(list, router,
                         fc_fat_tree_switch(s, l + 1, plane, x / s->m[l + 1], y + s->subtree_switches[l] * u), l);
    for (uint32_t j = 0; j < s->m[l]; j++) {
        uint32_t child = x * s->m[l] + j;
        uint32_t below =
            l == 1 ? s->n_switches + child : fc_fat_tree_switch(s, l - 1, plane, child, y % s->subtree_switches[l - 1]);
        for (uint32_t c = 0; c < s->p[l]; c++) fc_links_add(list, router, below, l - 1);
    }
}

static enum fc_code build(const struct fc_machine *machine, struct fc_network *net, struct fc_status *st)
{
    const struct fc_fat_tree_shape *s = machine->shape;
    struct fc_place where = {machine->file, machine->network_line};
    double need = (double)s->n_links * 9 + ((double)s->n_switches + s->n_nodes + 1) * 4;
    if (need > (double)fc_memory_bytes()) {
        char text[2][32];
        return fc_fail(st, FC_NO, where, "network: %u links need %s of memory (this machine allows %s)", s->n_links,
                       fc_format(text[0], sizeof text[0], need, FC_BYTES),
                       fc_format(text[1], sizeof text[1], (double)fc_memory_bytes(), FC_BYTES));
    }
    net->n_routers = s->n_switches;
    net->n_nodes = s->n_nodes;
    struct fc_link_list list;
    if (fc_links_start(&list, &net->arena, s->n_links, st)) return st->code;
    for (int l = 1; l <= s->h; l++)
        for (uint32_t i = 0; i < s->first_switch[l + 1] - s->first_switch[l]; i++) add_switch(s, &list, l, i);
    for (uint32_t node = 0; node < s->n_nodes; node++)
        for (uint32_t plane = 0; plane < s->planes; plane++)
            for (uint32_t u = 0; u < s->w[1]; u++)
                for (uint32_t c = 0; c < s->p[1]; c++)
                    fc_links_add(&list, s->n_switches + node, fc_fat_tree_switch(s, 1, plane, node / s->m[1], u), 0);
    return fc_links_seal(net, &list, NULL, st);
}

/* "L2.5", with several planes "P0.L2.5"; "node 17". */
static int bare_name(const struct fc_network *net, uint32_t vertex, char *out, size_t size)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    uint32_t index;
    if (fc_is_node(net, vertex)) return snprintf(out, size, "node %u", vertex - net->n_routers);
    int l = level_of(s, vertex, &index);
    uint32_t per_plane = s->n_subtrees[l] * s->subtree_switches[l];
    if (s->planes == 1) return snprintf(out, size, "L%d.%u", l, index);
    return snprintf(out, size, "P%u.L%d.%u", index / per_plane, l, index % per_plane);
}

static void vertex_name(const struct fc_network *net, uint32_t vertex, char *out, size_t size)
{
    char bare[64];
    bare_name(net, vertex, bare, sizeof bare);
    snprintf(out, size, "%s%s", fc_is_node(net, vertex) ? "" : "switch ", bare);
}

static void link_name(const struct fc_network *net, uint32_t link, char *out, size_t size)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    uint32_t a = net->link_source[link], b = net->link_target[link], cables = s->p[net->link_class[link] + 1];
    char from[64], to[64];
    bare_name(net, a, from, sizeof from);
    bare_name(net, b, to, sizeof to);
    bool up = fc_is_node(net, a) || (!fc_is_node(net, b) && b > a);
    int n = snprintf(out, size, "%s %s->%s", up ? "up" : "down", from, to);
    if (cables > 1 && n > 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, " cable %u", link - fc_find_link(net, a, b));
}

static void facts(const struct fc_network *net, struct fc_facts *f)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    int t = s->h;
    while (t > 1 && s->m[t] == 1) t--;
    f->diameter_hops = 2 * (t - 1);
    f->mean_hops = 0;
    for (int l = 2; l <= s->h; l++)
        f->mean_hops += 2.0 * (l - 1) * (s->subtree_nodes[l] - s->subtree_nodes[l - 1]) / s->n_nodes;
    double best_bytes_per_s = INFINITY;
    for (int l = t - 1; l >= 0 && s->m[t] > 1; l--) {
        double subtrees = (double)(s->m[t] / 2) * (s->subtree_nodes[t - 1] / s->subtree_nodes[l]);
        double links = subtrees * s->planes * fc_fat_tree_cables(s, l);
        double bytes_per_s = links * net->machine->classes[l].bandwidth_bytes_per_s;
        if (bytes_per_s >= best_bytes_per_s) continue;
        best_bytes_per_s = f->bisection_bytes_per_s = bytes_per_s;
        f->bisection_links = links;
    }
}

uint32_t fc_fat_tree_walk_capacity(const struct fc_network *net)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    uint32_t n = 0; /* each level's links of one subtree: never more than all links, so no overflow */
    for (int l = 0; l < s->h; l++) n += 2 * s->planes * fc_fat_tree_cables(s, l);
    return n;
}

static void words(const struct fc_machine *machine, char *out, size_t size)
{
    const struct fc_fat_tree_shape *s = machine->shape;
    fc_words_list(out, size, "children", &s->children);
    fc_words_list(out, size, "parents", &s->parents);
    if (s->links.n) fc_words_list(out, size, "links", &s->links);
    if (s->planes > 1) fc_words_number(out, size, "planes", s->planes);
}

enum { LOW_TREE = 2 }; /* levels */

/* One level more on top of a tree of two children a level, as slim as its highest. */
static void add_level(struct fc_fat_tree_shape *s)
{
    int n = s->children.n;
    double slim = n > 1 ? (double)s->parents.v[n - 1] / (double)s->children.v[n - 2] : 1;
    s->parents.v[n] = (long long)fmax(1, round(slim * (double)s->children.v[n - 1]));
    s->children.v[n] = 2;
    s->children.n = s->parents.n = n + 1;
    if (s->links.n) s->links.v[s->links.n++] = s->links.v[n - 1];
}

/* All levels, at most 4, 2, 6, 3, 8 children a level; parents and cables shrink with the children below them, so that
 * the slimness of the tree stays; trees of one or two levels of two children get one more, of links like those of the
 * highest, for ways longer than the machine's own (of two levels, four nodes would be left). */
static bool relative(void *shape, int number)
{
    static const long long most[] = {4, 2, 6, 3, 8};
    struct fc_fat_tree_shape *s = shape;
    if (number >= (int)FC_COUNT(most)) return false;
    double shrunk = 1; /* children of the level below, new over old: parents follow */
    for (int l = 0; l < s->children.n; l++) {
        long long m = s->children.v[l] < most[number] ? s->children.v[l] : most[number];
        s->parents.v[l] = (long long)fmax(1, round((double)s->parents.v[l] * shrunk));
        shrunk = (double)m / (double)s->children.v[l];
        s->children.v[l] = m;
    }
    if (most[number] == 2 && s->children.n <= LOW_TREE) add_level(s);
    return true;
}

/* Subtrees of subtrees, down to the nodes of a leaf switch. */
static bool tree(const struct fc_machine *machine, struct fc_tree *t)
{
    const struct fc_fat_tree_shape *s = machine->shape;
    t->n = s->h;
    t->leaf_nodes = 1;
    for (int l = s->h; l >= 1; l--) {
        t->level[s->h - l].parts = s->m[l];
        t->level[s->h - l].link_class = l > 1 ? l - 1 : -1;
    }
    return true;
}

static const char *const hard_patterns[] = {"complement", "bit-reverse", NULL};

/* Subtrees of height 1, 2, ... */
static uint32_t units(const struct fc_network *net, int index, uint32_t *label, char *name, size_t size)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    int top = index + 1;
    if (top >= s->h) return 0;
    for (uint32_t v = 0; v < net->n_routers; v++) label[v] = FC_NONE;
    for (int l = 1; l <= top; l++)
        for (uint32_t plane = 0; plane < s->planes; plane++)
            for (uint32_t x = 0; x < s->n_subtrees[l]; x++)
                for (uint32_t y = 0; y < s->subtree_switches[l]; y++)
                    label[fc_fat_tree_switch(s, l, plane, x, y)] = x / (s->subtree_nodes[top] / s->subtree_nodes[l]);
    snprintf(name, size, "subtrees of height %d", top);
    return s->n_subtrees[top];
}

#define OFFSET(field) offsetof(struct fc_fat_tree_shape, field)
static const struct fc_key keys[] = {
    {"children", FC_KEY_INTS, FC_NUMBER, OFFSET(children), 1, 2147483647.0, NULL, NULL,
     "m: children of a switch, from level 1 (its nodes) up"},
    {"parents", FC_KEY_INTS, FC_NUMBER, OFFSET(parents), 1, 2147483647.0, NULL, NULL,
     "w: parents of a node, then of a switch of level 1 and up"},
    {"links", FC_KEY_INTS, FC_NUMBER, OFFSET(links), 1, 65535, NULL, NULL,
     "parallel cables of each link, as parents (default 1)"},
    {"planes", FC_KEY_INT, FC_NUMBER, OFFSET(planes_given), 1, 65535, NULL, "1",
     "disjoint copies of the switches, every node on each (rails)"},
};

const struct fc_family_ops fc_family_fat_tree = {
    .name = "fat-tree",
    .usage = "children: [4, 4, 4]; parents: [1, 4, 4]; links: [1, 1, 1]; planes: 1; classes: leaf, level1 "
             "... or up",
    .source = "Ohring et al., IPPS 1995 (XGFT); Petrini & Vanneschi, IPPS 1997 (k-ary n-trees)",
    .shape_size = sizeof(struct fc_fat_tree_shape),
    .keys = keys,
    .n_keys = FC_COUNT(keys),
    .default_routing = "nca",
    .check = check,
    .build = build,
    .link_name = link_name,
    .vertex_name = vertex_name,
    .facts = facts,
    .words = words,
    .relative = relative,
    .tree = tree,
    .hard_patterns = hard_patterns,
    .layout = &fc_fat_tree_layout,
    .units = units,
};
