/* turns_groups.c - groups of routers that can change places (supernodes, cells), so that the links of one tell of all like it.
 *
 * Two groups are alike where exchanging them leaves every link in place: the same members are joined within both, both have the
 * same nodes at the same members, every third group is joined to both by the same members, and each of the two to the other.
 * That is an equivalence, so any order of like groups is as good as any other, and under traffic that is the same between all
 * nodes their links have like rates. With groups i of class a and j of class b, n the greater number of groups in either, links
 * are of one set that have the same
 *
 *     place within their group, and a;       place among the links from i to j, a, b and j - i mod n.
 *
 * So a router has at most one link of a set, and one of a set leads to it, which contention wants (a Latin square). Limit: where
 * the classes have different sizes some of their routers lack a set; it is taken to be at all of them, as often as they have it in the mean. */
#include "solvers/queueing/turns_internal.h"

#include <string.h>

enum { MOST_GROUPS = 2048 };

static inline void mix(uint64_t *hash, uint64_t a, uint64_t b, uint64_t c)
{
    *hash = fc_random_quick(*hash ^ a, b << 32 ^ c << 8 ^ 1);
}

/* What tells whether groups are alike. */
struct looks {
    uint64_t *inside; /* [n_groups] hash of a group's own links */
    uint64_t *pair;   /* [n_groups][n_groups] of those from one to the other */
};

/* Groups of the routers and nodes, and their places there; *good: every vertex is in one, and there are some. */
static enum fc_code divide(const struct fc_network *net, struct fc_groups *g, struct fc_arena *arena, bool *good,
                           struct fc_status *st)
{
    uint32_t n = net->n_vertices;
    *good = false;
    g->group = fc_alloc(arena, n, sizeof *g->group, st);
    g->place = fc_alloc(arena, n, sizeof *g->place, st);
    if (st->code) return st->code;
    g->n_groups = net->machine->family->partition(net, 0, g->group);
    if (g->n_groups < 2 || g->n_groups > MOST_GROUPS) return FC_OK;
    uint32_t *routers = fc_alloc(arena, g->n_groups, sizeof *routers, st);
    g->first_node = fc_alloc(arena, g->n_groups + 1ull, sizeof *g->first_node, st);
    g->node = fc_alloc(arena, net->n_nodes + 1ull, sizeof *g->node, st);
    if (st->code) return st->code;
    for (uint32_t v = 0; v < n; v++) {
        bool node = v >= net->n_routers;
        if (node && net->first_link[v] == net->first_link[v + 1]) return FC_OK;
        if (node) g->group[v] = g->group[net->link_target[net->first_link[v]]];
        if (g->group[v] == FC_NONE) return FC_OK;
        g->place[v] = node ? g->first_node[g->group[v] + 1]++ : routers[g->group[v]]++;
    }
    for (uint32_t i = 0; i < g->n_groups; i++) g->first_node[i + 1] += g->first_node[i];
    for (uint32_t v = net->n_routers; v < n; v++)
        g->node[g->first_node[g->group[v]] + g->place[v]] = v - net->n_routers;
    *good = true;
    return FC_OK;
}

static enum fc_code look(const struct fc_network *net, const struct fc_groups *g, struct fc_arena *arena,
                         struct looks *looks, struct fc_status *st)
{
    looks->inside = fc_alloc(arena, g->n_groups, sizeof *looks->inside, st);
    looks->pair = fc_alloc(arena, (size_t)g->n_groups * g->n_groups, sizeof *looks->pair, st);
    for (uint32_t l = 0; l < net->n_links && !st->code; l++) {
        uint32_t a = net->link_source[l], b = net->link_target[l], from = g->group[a], to = g->group[b];
        uint64_t *hash = from == to ? &looks->inside[from] : &looks->pair[(size_t)from * g->n_groups + to];
        uint64_t ends = 2ull * fc_is_node(net, a) + fc_is_node(net, b);
        mix(hash, (uint64_t)net->link_class[l] << 2 | ends, g->place[a], g->place[b]);
    }
    return st->code;
}

static bool alike(const struct fc_groups *g, const struct looks *looks, uint32_t s, uint32_t t)
{
    const uint64_t *pair = looks->pair;
    size_t n = g->n_groups;
    if (looks->inside[s] != looks->inside[t] || pair[s * n + t] != pair[t * n + s]) return false;
    for (uint32_t i = 0; i < n; i++)
        if (i != s && i != t && (pair[i * n + s] != pair[i * n + t] || pair[s * n + i] != pair[t * n + i]))
            return false;
    return true;
}

/* Classes in the order of their first groups. */
static enum fc_code classify(struct fc_groups *g, const struct looks *looks, struct fc_arena *arena,
                             struct fc_status *st)
{
    uint32_t *first = fc_alloc(arena, g->n_groups, sizeof *first, st);
    g->class_of = fc_alloc(arena, g->n_groups, sizeof *g->class_of, st);
    g->rank = fc_alloc(arena, g->n_groups, sizeof *g->rank, st);
    g->size = fc_alloc(arena, g->n_groups, sizeof *g->size, st);
    g->member = fc_alloc(arena, g->n_groups, sizeof *g->member, st);
    for (uint32_t t = 0; t < g->n_groups && !st->code; t++) {
        uint32_t c = 0;
        while (c < g->n_classes && !alike(g, looks, first[c], t)) c++;
        if (c == g->n_classes) first[g->n_classes++] = t;
        g->class_of[t] = c;
        g->rank[t] = g->size[c]++;
    }
    g->first_member = fc_alloc(arena, g->n_classes + 1ull, sizeof *g->first_member, st);
    for (uint32_t c = 0; c < g->n_classes && !st->code; c++) g->first_member[c + 1] = g->first_member[c] + g->size[c];
    for (uint32_t t = 0; t < g->n_groups && !st->code; t++) g->member[g->first_member[g->class_of[t]] + g->rank[t]] = t;
    return st->code;
}

enum fc_code fc_turns_groups(struct fc_turns_walk *w, struct fc_status *st)
{
    const struct fc_network *net = w->net;
    const struct fc_demand *demand = w->demand;
    struct fc_groups *g = fc_alloc(w->arena, 1, sizeof *g, st);
    struct looks looks;
    bool good;
    if (!g) return st->code;
    if (!net->machine->family->groups_by_links || demand->n_entries || !fc_turns_is_even(net, demand)) return FC_OK;
    if (divide(net, g, w->arena, &good, st) || !good) return st->code;
    if (look(net, g, w->arena, &looks, st) || classify(g, &looks, w->arena, st)) return st->code;
    if (g->n_classes < g->n_groups) w->groups = g;
    return FC_OK;
}

/* Sets of links by number as they are met: those within a group, then those between groups. */
struct sets {
    uint32_t *inside;     /* [n_classes + 1] first */
    size_t *pair;         /* [n_classes][n_classes] first */
    uint32_t *seen, *cut; /* links met so far: [n_groups] within, [n_groups][n_groups] between */
    size_t n;
};
static uint32_t wider(const struct fc_groups *g, uint32_t a, uint32_t b)
{
    return g->size[a] > g->size[b] ? g->size[a] : g->size[b];
}

/* How many links a group of each class has, and two groups of each two; then where their sets begin. */
static enum fc_code open_sets(const struct fc_network *net, const struct fc_groups *g, struct sets *s,
                              struct fc_arena *arena, struct fc_status *st)
{
    uint32_t c = g->n_classes, n = g->n_groups;
    s->inside = fc_alloc(arena, c + 1ull, sizeof *s->inside, st);
    s->pair = fc_alloc(arena, (size_t)c * c, sizeof *s->pair, st);
    s->seen = fc_alloc(arena, n, sizeof *s->seen, st);
    s->cut = fc_alloc(arena, (size_t)n * n, sizeof *s->cut, st);
    if (st->code) return st->code;
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t from = g->group[net->link_source[l]], to = g->group[net->link_target[l]];
        ++*(from == to ? &s->seen[from] : &s->cut[(size_t)from * n + to]);
    }
    for (uint32_t i = 0; i < c; i++) {
        s->inside[i] = (uint32_t)s->n;
        s->n += s->seen[g->member[g->first_member[i]]];
    }
    for (uint32_t a = 0; a < c; a++)
        for (uint32_t b = 0; b < c; b++) {
            uint32_t from = g->member[g->first_member[a]], last = g->member[g->first_member[b + 1] - 1];
            s->pair[(size_t)a * c + b] = s->n;
            s->n += (size_t)s->cut[(size_t)from * n + last] * wider(g, a, b);
        }
    memset(s->seen, 0, n * sizeof *s->seen);
    memset(s->cut, 0, (size_t)n * n * sizeof *s->cut);
    return FC_OK;
}

static size_t set_of(const struct fc_network *net, const struct fc_groups *g, struct sets *s, uint32_t l)
{
    uint32_t from = g->group[net->link_source[l]], to = g->group[net->link_target[l]];
    uint32_t a = g->class_of[from], b = g->class_of[to], n = wider(g, a, b);
    if (from == to) return s->inside[a] + s->seen[from]++;
    size_t place = s->cut[(size_t)from * g->n_groups + to]++;
    return s->pair[(size_t)a * g->n_classes + b] + place * n + (g->rank[to] + n - g->rank[from]) % n;
}

enum fc_code fc_turns_group_orbits(const struct fc_network *net, const struct fc_groups *g, struct fc_arena *arena,
                                   uint32_t **orbit, uint32_t *n_orbits, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct sets sets = {0};
    *n_orbits = 0;
    *orbit = fc_alloc(arena, net->n_links, sizeof **orbit, st);
    if (st->code || open_sets(net, g, &sets, &scratch, st)) return st->code;
    uint32_t *number = fc_alloc(&scratch, sets.n, sizeof *number, st); /* + 1 */
    for (uint32_t l = 0; l < net->n_links && number; l++) {
        uint32_t *set = &number[set_of(net, g, &sets, l)];
        if (!*set) *set = ++*n_orbits;
        (*orbit)[l] = *set - 1;
    }
    return st->code;
}

/* ---- pairs that stand for all ---- */

/* Groups of a class that a node sends to for each node of theirs, of n: so many that each set of links between the classes meets
 * every node of the sender's group `mixes` times. */
static uint32_t ranks_of(const struct fc_groups *g, uint32_t class, uint32_t n, uint32_t mixes)
{
    uint32_t first = g->member[g->first_member[class]], nodes = g->first_node[first + 1] - g->first_node[first];
    uint64_t ranks = nodes ? ((uint64_t)mixes * n + nodes - 1) / nodes : 1;
    return ranks < n ? (uint32_t)ranks : n;
}

double fc_turns_group_pairs(const struct fc_groups *g, uint32_t mixes)
{
    double pairs = 0;
    for (uint32_t t = 0; t < g->n_groups; t++) {
        double nodes = g->first_node[t + 1] - g->first_node[t], to = nodes;
        for (uint32_t b = 0; b < g->n_classes; b++) {
            uint32_t one = g->member[g->first_member[b]], n = g->size[b] - (b == g->class_of[t]);
            if (n) to += (double)(g->first_node[one + 1] - g->first_node[one]) * ranks_of(g, b, n, mixes);
        }
        pairs += nodes * to;
    }
    return pairs;
}

uint32_t fc_turns_group_receivers(const struct fc_groups *g, uint32_t mixes, uint32_t vertex, uint32_t turn,
                                  uint32_t *to, double *weight)
{
    uint32_t own = g->group[vertex], a = g->class_of[own], n_to = 0;
    for (uint32_t k = g->first_node[own]; k < g->first_node[own + 1]; k++) {
        to[n_to] = g->node[k];
        weight[n_to++] = 1;
    }
    for (uint32_t b = 0; b < g->n_classes; b++) {
        uint32_t n = g->size[b] - (a == b), ranks = n ? ranks_of(g, b, n, mixes) : 0;
        const uint32_t *member = g->member + g->first_member[b];
        uint32_t nodes = g->first_node[member[0] + 1] - g->first_node[member[0]];
        for (uint32_t p = 0; p < nodes; p++)
            for (uint32_t r = 0; r < ranks; r++) {
                uint64_t shift = (g->place[vertex] + p + turn + (uint64_t)r * n / ranks) % n;
                uint32_t group = member[(g->rank[own] + (a == b) + shift) % g->size[b]];
                to[n_to] = g->node[g->first_node[group] + p];
                weight[n_to++] = (double)n / ranks;
            }
    }
    return n_to;
}
