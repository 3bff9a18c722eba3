/* worst_case.c - the permutation that an oblivious routing carries worst.
 *
 * Where the split of the routes is fixed, the load of link c under a traffic matrix L is sum_{s,d} L(s,d) P_c(s,d),
 * P_c(s,d): the share of the route s -> d that crosses c. Over all matrices whose rows and columns sum to at most 1
 * it is greatest at a permutation (Birkhoff), which is a maximum-weight assignment with the weights P_c (Towles &
 * Dally, "Worst-case traffic for oblivious routing functions", SPAA 2002); the assignment's dual certifies it.
 *
 * Three things make it small. On a network that translations leave as it is, one link an orbit will do, and the routes from one
 * source an orbit give its P_c. Nodes of one router are alike where the routing goes by routers. And of one link the sources
 * with the same row of P_c are one kind, the destinations with the same column, too (worst_classes.c): a link between groups
 * of a dragonfly knows only its own group and others. Links are tried in the order of what their weights allow at most (the
 * lesser of the sums of row and column maxima), until that is below the best found, or the work, the walk of the routes among it,
 * is used up: then the greatest of what is left is the proven end (one link is solved in any case; where not even all
 * routes were walked it is a byte of every node). Adaptive routing: its uniform split, which is one that it can take, so that
 * its best split carries every permutation at least as well. */
#include "solvers/bound/worst_classes.h"
#include "models/hosts.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NODES 4096
#define MOST_PAIRS 2e7  /* routes walked */
#define MOST_SHARES 6e7 /* of routes on links */
#define MOST_WORK 5e10
#define STEPS_A_LINK 20 /* of a walk: measured, theta and tmesh-216 */
#define LEAST_WALK 5e7  /* steps of the walk that are done in any case: a tenth of a second */
#define STEPS_A_SHARE 4 /* of what a link promises */

struct worst {
    const struct fc_network *net;
    struct fc_worst_case *out;
    struct fc_status *st;
    struct fc_arena scratch;
    struct fc_translations translations;
    struct fc_walk walk;
    uint32_t n_shifts; /* n of the translations */
    bool whole;        /* the oracle: no symmetry, every node by itself */
    bool by_router;    /* groups are the nodes of a router; else each is one node */
    uint32_t n_groups;
    uint32_t *group;     /* [n_nodes] */
    uint32_t *member;    /* [n_groups] its first node */
    uint32_t *size;      /* [n_groups] */
    uint32_t n_slots;    /* links of representatives */
    uint32_t *slot;      /* [n_links]; FC_NONE: endless bandwidth */
    uint32_t *slot_link; /* [n_slots] */
    double *share;       /* [n_slots][n_shifts] of one route, zero between routes */
    uint64_t *touched;   /* [n_slots * n_shifts] */
    uint64_t n_touched, n_shares;
    uint64_t *first;     /* [n_slots + 1] shares of each slot */
    uint32_t *src, *dst; /* [n_shares] groups */
    double *part;
    double work; /* elementary steps that are left */
    bool cut;    /* they were used up before all routes were walked: nothing is known of the links between routers */
};

/* ---- groups of nodes ---- */

/* Every node hangs on one router by one cable. */
static bool one_cable(const struct fc_network *net)
{
    for (uint32_t v = net->n_routers; v < net->n_vertices; v++)
        if (net->first_link[v + 1] != net->first_link[v] + 1) return false;
    return true;
}

static enum fc_code group_nodes(struct worst *w)
{
    const struct fc_network *net = w->net;
    w->by_router = !w->whole && w->n_shifts == 1 && net->machine->routing->by_router && one_cable(net);
    w->group = fc_alloc(&w->scratch, net->n_nodes, sizeof *w->group, w->st);
    w->member = fc_alloc(&w->scratch, net->n_nodes, sizeof *w->member, w->st);
    w->size = fc_alloc(&w->scratch, net->n_nodes, sizeof *w->size, w->st);
    uint32_t *of_router = fc_alloc(&w->scratch, net->n_routers, sizeof *of_router, w->st);
    if (w->st->code) return w->st->code;
    memset(of_router, 0xff, net->n_routers * sizeof *of_router);
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        uint32_t router = net->link_target[net->first_link[fc_node_vertex(net, n)]], g = w->n_groups;
        if (w->by_router && of_router[router] != FC_NONE) g = of_router[router];
        if (g == w->n_groups) {
            w->member[w->n_groups++] = n;
            if (w->by_router) of_router[router] = g;
        }
        w->group[n] = g;
        w->size[g]++;
    }
    return FC_OK;
}

/* Between alike nodes of routers the nodes' own links are left out: each carries what its node sends or gets. */
static bool is_own(const struct worst *w, uint32_t link)
{
    return w->by_router &&
           (fc_is_node(w->net, w->net->link_source[link]) || fc_is_node(w->net, w->net->link_target[link]));
}

/* ---- nodes and links under translations ---- */

static uint32_t router_of(const struct worst *w, uint32_t node)
{
    return w->net->link_target[w->net->first_link[fc_node_vertex(w->net, node)]];
}

static uint32_t node_back(const struct worst *w, uint32_t node, uint32_t shift)
{
    const struct fc_grid *grid = &w->translations.grid;
    if (shift == 0 || w->n_shifts == 1) return node;
    uint32_t to = fc_translate(&w->translations, router_of(w, node), shift, true);
    return to / grid->routers * grid->nodes + node % grid->nodes;
}

/* The translation that brings the source of a link to its representative. */
static uint32_t shift_of(const struct worst *w, uint32_t link)
{
    if (w->n_shifts == 1) return 0;
    uint32_t v = w->net->link_source[link];
    return w->translations.shift[fc_is_node(w->net, v) ? router_of(w, v - w->net->n_routers) : v];
}

/* The same link at the representative. */
static uint32_t link_back(const struct worst *w, uint32_t link)
{
    uint32_t v = w->net->link_source[link], shift = shift_of(w, link), to = v;
    if (shift == 0) return link;
    if (fc_is_node(w->net, v))
        to = fc_node_vertex(w->net, node_back(w, v - w->net->n_routers, shift));
    else
        to = w->translations.orbit[v];
    return w->net->first_link[to] + (link - w->net->first_link[v]);
}

/* Shifts are cells: all below this number. */
static uint32_t shift_numbers(const struct worst *w)
{
    return w->n_shifts == 1 ? 1 : w->translations.grid.n_cells;
}

static enum fc_code number_links(struct worst *w)
{
    const struct fc_network *net = w->net;
    w->slot = fc_alloc(&w->scratch, net->n_links, sizeof *w->slot, w->st);
    w->slot_link = fc_alloc(&w->scratch, net->n_links, sizeof *w->slot_link, w->st);
    if (w->st->code) return w->st->code;
    for (uint32_t l = 0; l < net->n_links; l++) {
        bool counts = !isinf(fc_link_bandwidth(net, l)) && shift_of(w, l) == 0 && !is_own(w, l);
        w->slot[l] = counts ? w->n_slots : FC_NONE;
        if (counts) w->slot_link[w->n_slots++] = l;
    }
    for (uint32_t l = 0; w->n_shifts > 1 && l < net->n_links; l++) w->slot[l] = w->slot[link_back(w, l)];
    size_t n = (size_t)w->n_slots * shift_numbers(w);
    w->share = fc_alloc(&w->scratch, n, sizeof *w->share, w->st);
    w->touched = fc_alloc(&w->scratch, n, sizeof *w->touched, w->st);
    w->first = fc_alloc(&w->scratch, w->n_slots + 2ull, sizeof *w->first, w->st);
    return w->st->code;
}

/* ---- the shares of the routes ---- */

/* The route's shares by (slot, shift). */
static enum fc_code walk_pair(struct worst *w, uint32_t s, uint32_t d)
{
    uint32_t numbers = shift_numbers(w);
    w->walk.n = 0;
    w->net->machine->routing->walk(w->net, s, d, 1, &w->walk);
    w->work -= STEPS_A_LINK * (1.0 + w->walk.n);
    if (w->walk.n == 0) {
        char from[360], to[360];
        return fc_refuse(w->st, FC_NO, "no route from %s to %s", fc_node_name(w->net, s, from, sizeof from),
                         fc_node_name(w->net, d, to, sizeof to));
    }
    w->n_touched = 0;
    for (uint32_t i = 0; i < w->walk.n; i++) {
        uint32_t l = w->walk.link[i];
        if (w->slot[l] == FC_NONE || !(w->walk.weight[i] > 0)) continue;
        uint64_t at = (uint64_t)w->slot[l] * numbers + shift_of(w, l);
        if (w->share[at] == 0) w->touched[w->n_touched++] = at;
        w->share[at] += w->walk.weight[i];
    }
    return FC_OK;
}

/* All routes between groups: counts the shares of every slot, or writes them (`write`), first[slot + 1] being the next place. */
static enum fc_code walk_all(struct worst *w, bool write)
{
    uint32_t n = w->n_groups, numbers = shift_numbers(w);
    for (uint32_t a = 0; a < n; a++) {
        uint32_t s = w->member[a];
        if (w->n_shifts > 1 && w->translations.shift[router_of(w, s)] != 0) continue;
        for (uint32_t b = 0; b < n; b++) {
            uint32_t d = w->member[b];
            if (a == b) continue;
            if (walk_pair(w, s, d)) return w->st->code;
            w->n_shares += w->n_touched;
            for (uint64_t i = 0; i < w->n_touched; i++) {
                uint32_t slot = (uint32_t)(w->touched[i] / numbers), shift = (uint32_t)(w->touched[i] % numbers);
                uint64_t at = write ? w->first[slot + 1]++ : w->first[slot + 2]++;
                if (write) {
                    w->src[at] = w->group[node_back(w, s, shift)];
                    w->dst[at] = w->group[node_back(w, d, shift)];
                    w->part[at] = w->share[w->touched[i]];
                }
                w->share[w->touched[i]] = 0;
            }
        }
        if ((w->cut = w->work <= -LEAST_WALK)) return FC_OK;
        if ((double)w->n_shares > MOST_SHARES)
            return fc_refuse(w->st, FC_NO,
                             "the routes of %u nodes cross more than %.3g links in all (routing %s; "
                             "too many for the worst case)",
                             w->net->n_nodes, MOST_SHARES, w->net->machine->routing->name);
    }
    return FC_OK;
}

static enum fc_code collect(struct worst *w)
{
    uint32_t n = w->net->n_nodes, capacity = w->net->machine->routing->walk_capacity(w->net);
    if (n > MOST_NODES)
        return fc_refuse(w->st, FC_NO,
                         "the worst case of %u nodes is an assignment of %.3g pairs for each link (at "
                         "most %d nodes)",
                         n, (double)n * n, MOST_NODES);
    if (group_nodes(w)) return w->st->code;
    double pairs = (double)w->n_groups / w->n_shifts * w->n_groups;
    if (pairs > MOST_PAIRS || capacity == FC_NONE)
        return fc_refuse(w->st, FC_NO, "the worst case needs %.3g routes (at most %.3g)", pairs, MOST_PAIRS);
    if (number_links(w) || fc_walk_start(&w->walk, capacity, w->st)) return w->st->code;
    if (!walk_all(w, false) && !w->cut) {
        for (uint32_t i = 0; i < w->n_slots; i++) w->first[i + 2] += w->first[i + 1];
        w->src = fc_alloc(&w->scratch, w->n_shares, sizeof *w->src, w->st);
        w->dst = fc_alloc(&w->scratch, w->n_shares, sizeof *w->dst, w->st);
        w->part = fc_alloc(&w->scratch, w->n_shares, sizeof *w->part, w->st);
        w->n_shares = 0;
        if (!w->st->code) walk_all(w, true);
    }
    fc_walk_free(&w->walk);
    return w->st->code;
}

/* ---- links, the most promising first ---- */

struct candidate {
    uint32_t slot;
    double most_s; /* no permutation takes longer on it */
};
static int by_promise(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
    if (a->most_s != b->most_s) return a->most_s > b->most_s ? -1 : 1;
    return a->slot < b->slot ? -1 : a->slot > b->slot;
}

/* row, column [n_groups]: zero between calls. */
static double promise(struct worst *w, uint32_t slot, double *row, double *column)
{
    double rows = 0, columns = 0;
    w->work -= STEPS_A_SHARE * (double)(w->first[slot + 1] - w->first[slot]);
    for (uint64_t i = w->first[slot]; i < w->first[slot + 1]; i++) {
        row[w->src[i]] = fmax(row[w->src[i]], w->part[i]);
        column[w->dst[i]] = fmax(column[w->dst[i]], w->part[i]);
    }
    for (uint64_t i = w->first[slot]; i < w->first[slot + 1]; i++) {
        rows += row[w->src[i]] * w->size[w->src[i]];
        columns += column[w->dst[i]] * w->size[w->dst[i]];
        row[w->src[i]] = column[w->dst[i]] = 0;
    }
    return fmin(rows, columns) / fc_link_bandwidth(w->net, w->slot_link[slot]);
}

/* The slowest of the nodes' own links, where they were left out or nothing is known of others: a node sends or gets one byte,
 * whatever the permutation. */
static void begin_with_own_links(struct worst *w)
{
    const struct fc_network *net = w->net;
    struct fc_worst_case *out = w->out;
    uint32_t n = net->n_nodes;
    for (uint32_t l = 0; n > 1 && l < net->n_links; l++) {
        double time_s = 1 / fc_link_bandwidth(net, l);
        bool own = is_own(w, l) || (w->cut && one_cable(net) && !fc_is_between_routers(net, l));
        if (!own || !(time_s > out->time_s)) continue;
        out->link = l;
        out->load = 1;
        out->time_s = time_s;
    }
    if (out->link == FC_NONE) return;
    uint32_t from = net->link_source[out->link], to = net->link_target[out->link];
    if (fc_is_node(net, from))
        out->u[from - net->n_routers] = 1;
    else
        out->v[to - net->n_routers] = 1;
    for (uint32_t s = 0; s < n; s++) out->to[s] = (s + 1) % n;
}

static enum fc_code solve_slot(struct worst *w, struct fc_link_classes *classes, uint32_t slot)
{
    struct fc_worst_case *out = w->out;
    uint32_t link = w->slot_link[slot];
    uint64_t first = w->first[slot], n = w->first[slot + 1] - first;
    const struct fc_link_shares shares = {w->n_groups, w->size, n, w->src + first, w->dst + first, w->part + first};
    double load;
    if (fc_link_worst(classes, &shares, &load, &w->work, w->st)) return w->st->code;
    out->n_solved++;
    double time_s = load / fc_link_bandwidth(w->net, link);
    if (!(time_s > out->time_s)) return FC_OK;
    out->load = load;
    out->time_s = time_s;
    out->link = link;
    return fc_link_permutation(classes, w->net->n_nodes, w->group, out->to, out->u, out->v, w->st);
}

static enum fc_code search(struct worst *w)
{
    struct fc_worst_case *out = w->out;
    struct fc_link_classes classes;
    double *u = fc_alloc(&w->scratch, w->n_groups, sizeof *u, w->st),
           *v = fc_alloc(&w->scratch, w->n_groups, sizeof *v, w->st);
    struct candidate *order = fc_alloc(&w->scratch, w->n_slots, sizeof *order, w->st);
    if (w->st->code || fc_link_classes_start(&classes, w->n_groups, w->st)) return w->st->code;
    begin_with_own_links(w);
    for (uint32_t i = 0; i < w->n_slots; i++) order[i] = (struct candidate){i, promise(w, i, u, v)};
    qsort(order, w->n_slots, sizeof *order, by_promise);
    uint32_t i = 0;
    for (; i < w->n_slots && order[i].most_s > out->time_s * (1 + 1e-9) && (w->work > 0 || out->n_solved == 0) &&
           !w->st->code;
         i++)
        solve_slot(w, &classes, order[i].slot);
    out->most_s = out->time_s;
    for (; i < w->n_slots && order[i].most_s > out->time_s * (1 + 1e-9); i++) {
        out->most_s = fmax(out->most_s, order[i].most_s);
        out->n_left++;
    }
    fc_link_classes_free(&classes);
    return w->st->code;
}

/* No link carries more than a byte of every node. */
static enum fc_code bound_without_routes(struct worst *w)
{
    struct fc_worst_case *out = w->out;
    begin_with_own_links(w);
    out->n_left = w->n_slots;
    out->most_s = out->time_s;
    for (uint32_t i = 0; i < w->n_slots; i++)
        out->most_s = fmax(out->most_s, w->net->n_nodes / fc_link_bandwidth(w->net, w->slot_link[i]));
    return w->st->code;
}

enum fc_code fc_worst_case_solve(const struct fc_network *net, bool whole, double work, struct fc_worst_case *out,
                                 struct fc_status *st)
{
    struct worst w = {.net = net, .whole = whole, .out = out, .st = st, .work = work > 0 ? work : MOST_WORK};
    uint32_t n = net->n_nodes;
    memset(out, 0, sizeof *out);
    out->link = FC_NONE;
    out->to = fc_alloc(&out->arena, n, sizeof *out->to, st);
    out->u = fc_alloc(&out->arena, n, sizeof *out->u, st);
    out->v = fc_alloc(&out->arena, n, sizeof *out->v, st);
    w.n_shifts = 1;
    if (!st->code && !whole && !fc_translations_find(net, &w.scratch, &w.translations, st))
        w.n_shifts = w.translations.n;
    out->symmetry = w.n_shifts;
    for (uint32_t s = 0; !st->code && s < n; s++) out->to[s] = s;
    if (!st->code && !collect(&w)) w.cut ? bound_without_routes(&w) : search(&w);
    out->work_left = fmax(0, w.work);
    fc_arena_free(&w.scratch);
    if (st->code) fc_worst_case_free(out);
    return st->code;
}

FC_FREES(fc_worst_case_free, fc_worst_case)
