/* pattern_adversarial.c - a permutation that is hard for the machine's family, or else for its routing.
 *
 * Where one is known it is the family's own (`adversarial` of its record):
 *
 *   torus       tornado: just short of half-way round every ring (Dally & Towles 2004, section 3.2)
 *   two-level, dragonfly-plus
 *               group-shift by 1 (Kim et al., ISCA 2008, section 4.2)
 *   tmesh       every core to its place on the chip just short of half-way round the first dimension longer than 2: all of a chip
 *               leaves over one bridge (Liu et al., TMesh, section on bridges)
 *
 * On all others (mesh, fat-tree, graph) it is searched for by the greatest channel load, after Towles & Dally, SPAA 2002: under
 * the routing's shares P_c(s, d) (adaptive: even) link c can carry at most the lesser of the sums of row and column maxima; of
 * the CANDIDATES links for which that takes longest, each gets its heaviest pairs one by one, and the link that is then
 * busiest gives the permutation. Greedy: at least half of the worst for that link; `load --worst-case` has the worst of all,
 * proven. O(pairs of routers x route length). Limits: at most MOST_PAIRS routes; the known ones are the same for every routing, and
 * not its worst: on a torus of 8 x 8 x 8 tornado loads a link 3 times a node's bytes under dimension order, the worst permutation
 * 24 times. */
#include "models/demand_build.h"

#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 8 };
#define MOST_PAIRS 2e7

struct pair {
    double share;
    uint32_t src, dst; /* groups */
};
struct search {
    const struct fc_network *net;
    struct fc_status *st;
    struct fc_arena scratch;
    struct fc_walk walk;
    uint32_t n_groups;
    uint32_t *group, *member, *size; /* [n_nodes], [n_groups], [n_groups] nodes that are alike to the routing */
    double *rows, *columns;          /* [n_links] sums of maxima */
    double *most, *sum;              /* [n_links] zero between uses */
    uint32_t *touched, *touched_row; /* [n_links] */
    uint32_t n_links_found, link[CANDIDATES];
    struct pair *pairs[CANDIDATES];
    size_t n_pairs[CANDIDATES], room[CANDIDATES];
};

/* ---- nodes that are alike ---- */

static enum fc_code group_nodes(struct search *s)
{
    const struct fc_network *net = s->net;
    bool by_router = net->machine->routing->by_router;
    for (uint32_t v = net->n_routers; by_router && v < net->n_vertices; v++)
        by_router = net->first_link[v + 1] == net->first_link[v] + 1;
    s->group = fc_alloc(&s->scratch, net->n_nodes, sizeof *s->group, s->st);
    s->member = fc_alloc(&s->scratch, net->n_nodes, sizeof *s->member, s->st);
    s->size = fc_alloc(&s->scratch, net->n_nodes, sizeof *s->size, s->st);
    uint32_t *of_router = fc_alloc(&s->scratch, net->n_routers, sizeof *of_router, s->st);
    if (s->st->code) return s->st->code;
    memset(of_router, 0xff, net->n_routers * sizeof *of_router);
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        uint32_t router = net->link_target[net->first_link[fc_node_vertex(net, n)]];
        uint32_t g = by_router && of_router[router] != FC_NONE ? of_router[router] : s->n_groups;
        if (g == s->n_groups) s->member[s->n_groups++] = n;
        of_router[router] = s->group[n] = g;
        s->size[g]++;
    }
    return FC_OK;
}

/* ---- routes ---- */

/* Shares of the route between two groups by link: sum[touched], to be cleared. Nodes' own links carry what they must. */
static uint32_t route(struct search *s, uint32_t a, uint32_t b)
{
    const struct fc_network *net = s->net;
    uint32_t n = 0;
    s->walk.n = 0;
    net->machine->routing->walk(net, s->member[a], s->member[b], 1, &s->walk);
    for (uint32_t i = 0; i < s->walk.n; i++) {
        uint32_t l = s->walk.link[i];
        if (!fc_is_between_routers(net, l) || !(s->walk.weight[i] > 0)) continue;
        if (s->sum[l] == 0) s->touched[n++] = l;
        s->sum[l] += s->walk.weight[i];
    }
    return n;
}

/* The greatest share of each source (`columns`: destination), times its nodes, summed over them. */
static void add_maxima(struct search *s, bool columns, double *total)
{
    for (uint32_t a = 0; a < s->n_groups; a++) {
        uint32_t n_row = 0;
        for (uint32_t b = 0; b < s->n_groups; b++) {
            if (a == b) continue;
            uint32_t n = columns ? route(s, b, a) : route(s, a, b);
            for (uint32_t i = 0; i < n; i++) {
                uint32_t l = s->touched[i];
                if (s->most[l] == 0) s->touched_row[n_row++] = l;
                s->most[l] = fmax(s->most[l], s->sum[l]);
                s->sum[l] = 0;
            }
        }
        for (uint32_t i = 0; i < n_row; i++) {
            total[s->touched_row[i]] += s->most[s->touched_row[i]] * s->size[a];
            s->most[s->touched_row[i]] = 0;
        }
    }
}

static void choose_links(struct search *s)
{
    double promise[CANDIDATES];
    for (uint32_t l = 0; l < s->net->n_links; l++) {
        double at = fmin(s->rows[l], s->columns[l]) / fc_link_bandwidth(s->net, l);
        uint32_t k = s->n_links_found;
        if (!(at > 0)) continue;
        if (k == CANDIDATES && !(at > promise[k - 1])) continue;
        if (k < CANDIDATES) s->n_links_found++;
        if (k == CANDIDATES) k--;
        for (; k > 0 && promise[k - 1] < at; k--) promise[k] = promise[k - 1], s->link[k] = s->link[k - 1];
        promise[k] = at;
        s->link[k] = l;
    }
}

static enum fc_code keep_pair(struct search *s, uint32_t k, struct pair pair)
{
    if (s->n_pairs[k] == s->room[k]) {
        size_t room = s->room[k] ? 2 * s->room[k] : 1024;
        struct pair *more = realloc(s->pairs[k], room * sizeof *more);
        if (!more) return fc_out_of_memory(s->st, "the pattern adversarial");
        s->pairs[k] = more;
        s->room[k] = room;
    }
    s->pairs[k][s->n_pairs[k]++] = pair;
    return FC_OK;
}

static enum fc_code collect_pairs(struct search *s)
{
    for (uint32_t a = 0; a < s->n_groups; a++)
        for (uint32_t b = 0; b < s->n_groups; b++) {
            if (a == b) continue;
            uint32_t n = route(s, a, b);
            for (uint32_t k = 0; k < s->n_links_found; k++)
                if (s->sum[s->link[k]] > 0 && keep_pair(s, k, (struct pair){s->sum[s->link[k]], a, b}))
                    return s->st->code;
            for (uint32_t i = 0; i < n; i++) s->sum[s->touched[i]] = 0;
        }
    return FC_OK;
}

/* ---- pairs, the heaviest first ---- */

static int by_share(const void *x, const void *y)
{
    const struct pair *a = x, *b = y;
    if (a->share != b->share) return a->share > b->share ? -1 : 1;
    if (a->src != b->src) return a->src < b->src ? -1 : 1;
    return a->dst < b->dst ? -1 : a->dst > b->dst;
}

/* Pairs whose groups have nodes left, as many messages as both have; `to` (NULL: not wanted) takes them. Returns the link's time. */
static double take_pairs(struct search *s, uint32_t k, uint32_t *send, uint32_t *get, uint32_t *next_send,
                         uint32_t *next_get, const uint32_t *order, uint32_t *to)
{
    double load = 0;
    memcpy(send, s->size, s->n_groups * sizeof *send);
    memcpy(get, s->size, s->n_groups * sizeof *get);
    for (size_t i = 0; i < s->n_pairs[k]; i++) {
        const struct pair *p = &s->pairs[k][i];
        uint32_t n = send[p->src] < get[p->dst] ? send[p->src] : get[p->dst];
        send[p->src] -= n;
        get[p->dst] -= n;
        load += n * p->share;
        for (; to && n > 0; n--) to[order[next_send[p->src]++]] = order[next_get[p->dst]++];
    }
    return load / fc_link_bandwidth(s->net, s->link[k]);
}

static enum fc_code build(struct search *s, uint32_t *to)
{
    uint32_t n = s->net->n_nodes, *work[6], best = 0;
    for (int i = 0; i < 6; i++) work[i] = fc_alloc(&s->scratch, (size_t)n + 1, sizeof **work, s->st);
    if (s->st->code) return s->st->code;
    uint32_t *first = work[0], *order = work[1], *next = work[2], *next_get = work[3], *send = work[4], *get = work[5];
    double most = 0;
    for (uint32_t i = 0; i < n; i++) first[s->group[i] + 1]++;
    for (uint32_t g = 0; g < s->n_groups; g++) first[g + 1] += first[g];
    memcpy(next, first, s->n_groups * sizeof *next);
    for (uint32_t i = 0; i < n; i++) order[next[s->group[i]]++] = i;
    for (uint32_t k = 0; k < s->n_links_found; k++) {
        qsort(s->pairs[k], s->n_pairs[k], sizeof *s->pairs[k], by_share);
        double at = take_pairs(s, k, send, get, NULL, NULL, order, NULL);
        if (at > most) most = at, best = k;
    }
    memcpy(next, first, s->n_groups * sizeof *next);
    memcpy(next_get, first, s->n_groups * sizeof *next_get);
    memset(to, 0xff, n * sizeof *to);
    if (s->n_links_found) take_pairs(s, best, send, get, next, next_get, order, to);
    /* The rest, in the order of their groups, half of them apart. */
    uint32_t n_rest = 0, *from = send, *at = get;
    for (uint32_t g = 0; g < s->n_groups; g++)
        for (uint32_t i = next[g]; i < first[g + 1]; i++) from[n_rest++] = order[i];
    n_rest = 0;
    for (uint32_t g = 0; g < s->n_groups; g++)
        for (uint32_t i = next_get[g]; i < first[g + 1]; i++) at[n_rest++] = order[i];
    for (uint32_t i = 0; i < n_rest; i++) to[from[i]] = at[(i + n_rest / 2) % n_rest];
    return FC_OK;
}

static enum fc_code find(const struct fc_network *net, uint32_t *to, struct fc_status *st)
{
    struct search s = {.net = net, .st = st};
    uint32_t capacity = net->machine->routing->walk_capacity(net);
    if (group_nodes(&s)) goto done;
    if ((double)s.n_groups * s.n_groups > MOST_PAIRS || capacity == FC_NONE) {
        fc_refuse(st, FC_NO, "the hardest permutation is looked for among %.3g routes (at most %.3g)",
                  (double)s.n_groups * s.n_groups, MOST_PAIRS);
        goto done;
    }
    s.rows = fc_alloc(&s.scratch, net->n_links, sizeof *s.rows, st);
    s.columns = fc_alloc(&s.scratch, net->n_links, sizeof *s.columns, st);
    s.most = fc_alloc(&s.scratch, net->n_links, sizeof *s.most, st);
    s.sum = fc_alloc(&s.scratch, net->n_links, sizeof *s.sum, st);
    s.touched = fc_alloc(&s.scratch, net->n_links, sizeof *s.touched, st);
    s.touched_row = fc_alloc(&s.scratch, net->n_links, sizeof *s.touched_row, st);
    if (st->code || fc_walk_start(&s.walk, capacity, st)) goto done;
    add_maxima(&s, false, s.rows);
    add_maxima(&s, true, s.columns);
    choose_links(&s);
    if (!collect_pairs(&s)) build(&s, to);
done:
    for (int k = 0; k < CANDIDATES; k++) free(s.pairs[k]);
    fc_walk_free(&s.walk);
    fc_arena_free(&s.scratch);
    return st->code;
}

static enum fc_code make(const struct fc_network *net, const void *settings, uint64_t seed, struct fc_demand *demand,
                         struct fc_status *st)
{
    const struct fc_message_settings *set = settings;
    const struct fc_family_ops *family = net->machine->family;
    (void)seed;
    if (fc_demand_start(demand, net->n_nodes, net->n_nodes, st)) return st->code;
    uint32_t *to = fc_alloc(&demand->arena, net->n_nodes, sizeof *to, st);
    if (!to) return st->code;
    if (!(family->adversarial && family->adversarial(net, to)) && find(net, to, st)) return st->code;
    for (uint32_t s = 0; s < net->n_nodes; s++) fc_demand_add(demand, s, to[s], set->bytes);
    return FC_OK;
}

const struct fc_pattern_ops fc_pattern_adversarial = {
    .name = "adversarial",
    .help = "a permutation known as hard for the family, else searched for: bytes=1MiB",
    .source = "Dally & Towles 2004; Kim et al., ISCA 2008; Towles & Dally, SPAA 2002",
    FC_MESSAGE_SETTINGS("1 MiB"),
    .make = make,
};
