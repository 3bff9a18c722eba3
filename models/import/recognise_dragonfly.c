/* recognise_dragonfly.c - whether a graph is a two-level network: groups that are all alike, linked each to each.
 *
 * Groups are looked for in three ways, and the first that leads to a two-level network counts:
 *   by one kind of link     parts that hang together by the links of one class, in which every two routers are linked (a dragonfly
 *                           of Kim et al., ISCA 2008)
 *   by two kinds            drawers that hang together by one class, groups by the two; across drawers every two routers are linked
 *                           (PERCS), or those at the same position (the grid of a Cray XC)
 *   by common neighbours    where links are of one class: a router's neighbours that are linked to as many of each other as a group
 *                           of that size has, for every size that fits
 * Then every two groups must have as many cables between them, all of one class, and every router as many nodes of one cable each.
 * Which routers host them is written down cable by cable (d_link: listed), so the network is the graph's, not only like it, whatever
 * its groups and routers are called. As many parallel cables between every two routers of a kind become one link of their sum. Limits:
 * groups that differ; by common neighbours: groups that are too small to stand out (a <= h + 1 in Kim's letters). */
#include "core/values.h"
#include "models/import/import.h"

#include <stdlib.h>
#include <string.h>

struct dragonfly {
    const struct fc_network *net;
    struct fc_arena scratch;
    struct fc_status *st;
    uint32_t *group, *drawer;                       /* [n_routers] */
    uint32_t *member;                               /* [n_routers] number within the group: drawer, then position */
    uint32_t *order;                                /* [n_routers] routers by group, then member */
    uint32_t *queue, *mark;                         /* [n_routers] scratch */
    uint32_t n_groups, n_drawers, n_members, nodes; /* drawers: of a group */
    int node_class, ll_class, lr_class, d_class;
    uint32_t ll_cables, lr_cables, d_cables; /* parallel ones; d: between two groups */
    bool grid;
};

/* Parts that hang together by links of class a or b, numbered in the order of their first router. */
static uint32_t find_parts(struct dragonfly *d, int a, int b, uint32_t *part)
{
    const struct fc_network *net = d->net;
    uint32_t n = 0;
    for (uint32_t r = 0; r < net->n_routers; r++) part[r] = FC_NONE;
    for (uint32_t r = 0; r < net->n_routers; r++) {
        uint32_t head = 0, tail = 0;
        if (part[r] != FC_NONE) continue;
        part[r] = n;
        for (d->queue[tail++] = r; head < tail; head++)
            for (uint32_t l = net->first_link[d->queue[head]]; l < net->first_link[d->queue[head] + 1]; l++) {
                uint32_t to = net->link_target[l];
                if (fc_is_node(net, to) || part[to] != FC_NONE) continue;
                if (net->link_class[l] != a && net->link_class[l] != b) continue;
                part[to] = n;
                d->queue[tail++] = to;
            }
        n++;
    }
    return n;
}

/* All parts have as many routers: how many; 0: they differ. */
static uint32_t equal_size(struct dragonfly *d, const uint32_t *part, uint32_t n_parts)
{
    memset(d->mark, 0, d->net->n_routers * sizeof *d->mark);
    for (uint32_t r = 0; r < d->net->n_routers; r++) d->mark[part[r]]++;
    for (uint32_t p = 1; p < n_parts; p++)
        if (d->mark[p] != d->mark[0]) return 0;
    return d->mark[0];
}

/* ---- what every router must have ---- */

/* As many nodes, of one cable each and one class; and the one class of links to other groups. */
static bool nodes_are_alike(struct dragonfly *d)
{
    const struct fc_network *net = d->net;
    d->node_class = -1;
    for (uint32_t r = 0; r < net->n_routers; r++) {
        uint32_t n = 0;
        for (uint32_t l = net->first_link[r]; l < net->first_link[r + 1]; l++) {
            uint32_t to = net->link_target[l];
            if (!fc_is_node(net, to)) continue;
            if (net->first_link[to + 1] - net->first_link[to] != 1) return false;
            if (d->node_class < 0) d->node_class = net->link_class[l];
            if (d->node_class != net->link_class[l]) return false;
            n++;
        }
        if (r == 0) d->nodes = n;
        if (n == 0 || n != d->nodes) return false;
    }
    return true;
}

/* Numbers the members of every group: drawers in the order of their first router, and positions as in the group's first drawer:
 * in the order of the routers, or in a grid each below the one that it is linked to across drawers. */
static bool number_members(struct dragonfly *d)
{
    const struct fc_network *net = d->net;
    uint32_t n = net->n_routers, per_drawer = d->n_members / d->n_drawers;
    uint32_t *drawers = fc_alloc(&d->scratch, d->n_groups, sizeof *drawers, d->st); /* seen in each group */
    uint32_t *rank = fc_alloc(&d->scratch, n, sizeof *rank, d->st),
             *count = fc_alloc(&d->scratch, n, sizeof *count, d->st);
    if (d->st->code) return false;
    for (uint32_t r = 0; r < n; r++) rank[r] = d->member[r] = FC_NONE;
    for (uint32_t r = 0; r < n; r++) {
        uint32_t part = d->drawer[r];
        if (rank[part] == FC_NONE) rank[part] = drawers[d->group[r]]++; /* parts are numbered below n */
        uint32_t position = count[part]++;
        if (d->grid && rank[part] > 0) continue;
        d->member[r] = rank[part] * per_drawer + position;
    }
    for (uint32_t r = 0; d->grid && r < n; r++) { /* positions of the first drawers go down their columns */
        if (rank[d->drawer[r]] != 0) continue;
        for (uint32_t l = net->first_link[r]; l < net->first_link[r + 1]; l++) {
            uint32_t to = net->link_target[l];
            if (fc_is_node(net, to) || net->link_class[l] != d->lr_class) continue;
            uint32_t member = rank[d->drawer[to]] * per_drawer + d->member[r];
            if (d->member[to] != FC_NONE && d->member[to] != member) return false;
            d->member[to] = member;
        }
    }
    for (uint32_t r = 0; r < n; r++) d->order[r] = FC_NONE;
    for (uint32_t r = 0; r < n; r++) {
        if (d->member[r] >= d->n_members) return false;
        uint32_t *place = &d->order[(size_t)d->group[r] * d->n_members + d->member[r]];
        if (*place != FC_NONE) return false;
        *place = r;
    }
    return true;
}

/* Every router has exactly the local links of its place, and all else leads to other groups by one class. */
static bool groups_are_full(struct dragonfly *d)
{
    const struct fc_network *net = d->net;
    uint32_t per_drawer = d->n_members / d->n_drawers;
    d->d_class = -1;
    d->ll_cables = d->lr_cables = 0;
    for (uint32_t r = 0; r < net->n_routers; r++) {
        uint32_t first = d->group[r] * d->n_members, own_drawer = d->member[r] / per_drawer;
        memset(d->mark, 0, d->n_members * sizeof *d->mark);
        for (uint32_t l = net->first_link[r]; l < net->first_link[r + 1]; l++) {
            uint32_t to = net->link_target[l];
            if (fc_is_node(net, to)) continue;
            bool same = d->group[to] == d->group[r];
            if (same) {
                bool drawer = d->member[to] / per_drawer == own_drawer;
                if (net->link_class[l] != (drawer ? d->ll_class : d->lr_class)) return false;
                d->mark[d->member[to]]++;
                continue;
            }
            if (d->d_class < 0) d->d_class = net->link_class[l];
            if (net->link_class[l] != d->d_class) return false;
        }
        for (uint32_t m = 0; m < d->n_members; m++) {
            bool drawer = m / per_drawer == own_drawer,
                 linked = drawer || !d->grid || m % per_drawer == d->member[r] % per_drawer;
            uint32_t *cables = drawer ? &d->ll_cables : &d->lr_cables;
            if (first + m == first + d->member[r] || !linked) {
                if (d->mark[m]) return false;
                continue;
            }
            if (*cables == 0) *cables = d->mark[m];
            if (d->mark[m] == 0 || d->mark[m] != *cables) return false;
        }
    }
    return true;
}

/* As many cables between every two groups; and not every router with one to every group, which is a HyperX. */
static bool groups_are_linked(struct dragonfly *d)
{
    const struct fc_network *net = d->net;
    uint32_t *count, *seen, missed = 0;
    if ((double)d->n_groups * (d->n_groups - 1) > net->first_link[net->n_routers]) return false;
    count = fc_alloc(&d->scratch, (size_t)d->n_groups * d->n_groups, sizeof *count, d->st);
    seen = fc_alloc(&d->scratch, d->n_groups, sizeof *seen, d->st);
    if (d->st->code) return false;
    for (uint32_t r = 0; r < net->n_routers; r++) {
        uint32_t reached = 0;
        for (uint32_t l = net->first_link[r]; l < net->first_link[r + 1]; l++) {
            uint32_t to = net->link_target[l];
            if (fc_is_node(net, to) || d->group[to] == d->group[r]) continue;
            count[(size_t)d->group[r] * d->n_groups + d->group[to]]++;
            reached += seen[d->group[to]] != r + 1;
            seen[d->group[to]] = r + 1;
        }
        missed += reached + 1 < d->n_groups;
    }
    if (!missed) return false;
    d->d_cables = d->n_groups > 1 ? count[1] : 1;
    for (uint32_t s = 0; s < d->n_groups; s++)
        for (uint32_t t = 0; t < d->n_groups; t++)
            if (s != t && count[(size_t)s * d->n_groups + t] != d->d_cables) return false;
    return d->d_cables > 0;
}

/* The groups that are set up as `group` and `drawer`. */
static bool is_two_level(struct dragonfly *d, uint32_t n_groups, uint32_t n_drawers)
{
    d->n_groups = n_groups;
    d->n_members = equal_size(d, d->group, n_groups);
    uint32_t per_drawer = equal_size(d, d->drawer, n_drawers);
    if (d->n_members < 2 || per_drawer == 0 || n_drawers % n_groups || n_groups < 2) return false;
    d->n_drawers = n_drawers / n_groups;
    for (int grid = 0; grid < (d->n_drawers > 1 ? 2 : 1); grid++) {
        d->grid = grid;
        if (number_members(d) && groups_are_full(d) && groups_are_linked(d)) return true;
        if (d->st->code) return false;
    }
    return false;
}

/* ---- ways to find groups ---- */

static bool by_classes(struct dragonfly *d)
{
    int n = d->net->machine->n_classes;
    for (int ll = 0; ll < n && !d->st->code; ll++) {
        d->ll_class = ll;
        d->lr_class = -1;
        uint32_t drawers = find_parts(d, ll, ll, d->drawer);
        if (drawers == d->net->n_routers || drawers == 1) continue;
        memcpy(d->group, d->drawer, d->net->n_routers * sizeof *d->group);
        if (is_two_level(d, drawers, drawers)) return true;
        for (int lr = 0; lr < n && !d->st->code; lr++) {
            if (lr == ll) continue;
            d->lr_class = lr;
            uint32_t groups = find_parts(d, ll, lr, d->group);
            if (groups == drawers || groups == 1) continue;
            if (is_two_level(d, groups, drawers)) return true;
        }
    }
    return false;
}

/* Distinct neighbours of every router: near[first[r]] .. near[first[r + 1] - 1], in their order. */
struct neighbours {
    uint32_t *first, *near;
};
static enum fc_code list_neighbours(struct dragonfly *d, struct neighbours *n)
{
    const struct fc_network *net = d->net;
    uint32_t at = 0;
    n->first = fc_alloc(&d->scratch, net->n_routers + 1ull, sizeof *n->first, d->st);
    n->near = fc_alloc(&d->scratch, net->first_link[net->n_routers], sizeof *n->near, d->st);
    for (uint32_t r = 0; !d->st->code && r < net->n_routers; r++) {
        uint32_t begin = at;
        for (uint32_t l = net->first_link[r]; l < net->first_link[r + 1]; l++)
            if (!fc_is_node(net, net->link_target[l])) n->near[at++] = net->link_target[l];
        if (at > begin) qsort(n->near + begin, at - begin, sizeof *n->near, fc_by_number);
        uint32_t kept = begin;
        for (uint32_t i = begin; i < at; i++)
            if (i == begin || n->near[i] != n->near[i - 1]) n->near[kept++] = n->near[i];
        n->first[r + 1] = at = kept;
    }
    return d->st->code;
}

static uint32_t common(const struct neighbours *n, uint32_t a, uint32_t b)
{
    uint32_t i = n->first[a], j = n->first[b], count = 0;
    while (i < n->first[a + 1] && j < n->first[b + 1]) {
        if (n->near[i] == n->near[j])
            count++, i++, j++;
        else if (n->near[i] < n->near[j])
            i++;
        else
            j++;
    }
    return count;
}

/* Groups of `size` routers: those neighbours of the first that has none yet which share size - 2 neighbours with it. */
static bool by_common(struct dragonfly *d, const struct neighbours *near, uint32_t size)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < d->net->n_routers; r++) d->group[r] = FC_NONE;
    for (uint32_t r = 0; r < d->net->n_routers; r++) {
        uint32_t members = 1;
        if (d->group[r] != FC_NONE) continue;
        d->group[r] = n;
        for (uint32_t i = near->first[r]; i < near->first[r + 1]; i++) {
            uint32_t to = near->near[i];
            if (common(near, r, to) + 2 < size) continue;
            if (d->group[to] != FC_NONE) return false;
            d->group[to] = n;
            members++;
        }
        if (members != size) return false;
        n++;
    }
    memcpy(d->drawer, d->group, d->net->n_routers * sizeof *d->group);
    return is_two_level(d, n, n);
}

static bool by_neighbours(struct dragonfly *d)
{
    const struct fc_network *net = d->net;
    struct neighbours near;
    d->ll_class = -1;
    d->lr_class = -1;
    for (uint32_t l = 0; l < net->first_link[net->n_routers]; l++)
        if (!fc_is_node(net, net->link_target[l])) {
            if (d->ll_class < 0) d->ll_class = net->link_class[l];
            if (d->ll_class != net->link_class[l]) return false;
        }
    if (list_neighbours(d, &near)) return false;
    for (uint32_t size = near.first[1] + 1; size >= 3 && !d->st->code; size--)
        if (net->n_routers % size == 0 && by_common(d, &near, size)) return true;
    return false;
}

/* ---- what is told ---- */

/* "GROUP.MEMBER GROUP.MEMBER", a cable a line, of each two groups in the order of the lower one's routers. */
static char *list_cables(const struct dragonfly *d, struct fc_arena *arena)
{
    const struct fc_network *net = d->net;
    char *text = NULL, *copy = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f) {
        fc_refuse(d->st, FC_NO, "out of memory");
        return NULL;
    }
    for (uint32_t i = 0; i < net->n_routers; i++)
        for (uint32_t r = d->order[i], l = net->first_link[r]; l < net->first_link[r + 1]; l++) {
            uint32_t to = net->link_target[l];
            if (fc_is_node(net, to) || d->group[to] <= d->group[r]) continue;
            fprintf(f, "%u.%u %u.%u\n", d->group[r], d->member[r], d->group[to], d->member[to]);
        }
    fclose(f);
    if (text) copy = fc_copy_text(arena, text, d->st);
    free(text);
    return copy;
}

static enum fc_code tell(struct dragonfly *d, struct fc_recognised *r, struct fc_status *st)
{
    const struct fc_network *net = d->net;
    uint32_t n = 0, per_drawer = d->n_members / d->n_drawers;
    r->node = fc_alloc(&r->arena, net->n_nodes, sizeof *r->node, st);
    r->cables = list_cables(d, &r->arena);
    for (uint32_t i = 0; !st->code && i < net->n_routers; i++)
        for (uint32_t router = d->order[i], l = net->first_link[router]; l < net->first_link[router + 1]; l++)
            if (fc_is_node(net, net->link_target[l])) r->node[n++] = net->link_target[l] - net->n_routers;
    if (st->code) return st->code;
    const char *name[] = {"ll", "lr", "d", "injection"};
    int class[] = {d->ll_class, d->n_drawers > 1 ? d->lr_class : -1, d->d_class, d->node_class};
    uint32_t times[] = {d->ll_cables, d->lr_cables, 1, 1};
    for (int c = 0; c < 4; c++) {
        if (class[c] < 0 || (c == 0 && per_drawer == 1)) continue;
        r->classes[r->n_classes] = name[c];
        r->class_of[r->n_classes] = class[c];
        r->times[r->n_classes++] = times[c];
    }
    snprintf(r->keys, sizeof r->keys,
             "supernodes: %u\n  drawers: %u\n  nodes_per_drawer: %u\n  local: %s\n  nodes_per_router: %u\n"
             "  links_per_pair: %u\n  d_link: listed\n",
             d->n_groups, d->n_drawers, per_drawer, d->grid ? "grid" : "full", d->nodes, d->d_cables);
    r->cables_key = "d_links";
    int length =
        d->n_drawers == 1
            ? snprintf(r->words, sizeof r->words, "a dragonfly of %u groups of %u routers", d->n_groups, d->n_members)
            : snprintf(r->words, sizeof r->words, "a dragonfly of %u groups of %u x %u routers%s", d->n_groups,
                       d->n_drawers, per_drawer, d->grid ? " (a grid)" : "");
    length += snprintf(r->words + length, sizeof r->words - (size_t)length,
                       ", %u nodes each, %u links a pair of groups", d->nodes, d->d_cables);
    uint32_t parallel = d->lr_cables > 1 ? d->lr_cables : d->ll_cables;
    if (parallel > 1)
        snprintf(r->words + length, sizeof r->words - (size_t)length, "; %u parallel cables %s are one link", parallel,
                 d->n_drawers == 1   ? "within a group"
                 : d->lr_cables == 1 ? "of a drawer"
                 : d->ll_cables == 1 ? "between drawers"
                                     : "between drawers, and those of a drawer,");
    r->router = d->grid ? "vcs: 6, routing: ugal" : "vcs: 4, routing: ugal";
    r->family = "two-level";
    return FC_OK;
}

enum fc_code fc_recognise_dragonfly(const struct fc_network *net, struct fc_recognised *r, struct fc_status *st)
{
    struct dragonfly d = {.net = net, .st = st};
    uint32_t n = net->n_routers;
    d.group = fc_alloc(&d.scratch, n, sizeof *d.group, st);
    d.drawer = fc_alloc(&d.scratch, n, sizeof *d.drawer, st);
    d.member = fc_alloc(&d.scratch, n, sizeof *d.member, st);
    d.order = fc_alloc(&d.scratch, n, sizeof *d.order, st);
    d.queue = fc_alloc(&d.scratch, n, sizeof *d.queue, st);
    d.mark = fc_alloc(&d.scratch, n, sizeof *d.mark, st);
    if (!st->code && nodes_are_alike(&d) && (by_classes(&d) || (!st->code && by_neighbours(&d))) && !st->code)
        tell(&d, r, st);
    fc_arena_free(&d.scratch);
    return st->code;
}
