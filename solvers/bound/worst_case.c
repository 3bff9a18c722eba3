/* worst_case.c - the permutation that an oblivious routing carries worst.
 *
 * Where the split of the routes is fixed, the load of link c under a traffic matrix L is sum_{s,d} L(s,d) P_c(s,d),
 * P_c(s,d): the share of the route s -> d that crosses c. Over all matrices whose rows and columns sum to at most 1
 * it is greatest at a permutation (Birkhoff), which is a maximum-weight assignment with the weights P_c (Towles &
 * Dally, "Worst-case traffic for oblivious routing functions", SPAA 2002); the assignment's dual certifies it. On a
 * network that translations leave as it is, one link an orbit will do, and the routes from one source an orbit give
 * its P_c. Links are tried in the order of what their weights allow at most (the lesser of the sums of row and column
 * maxima), until that is below the best found. Adaptive routing: its uniform split, which is one that it can take, so
 * that its best split carries every permutation at least as well. */
#include "solvers/bound/flow.h"
#include "models/hosts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NODES 4096
#define MOST_PAIRS 2e7  /* routes walked */
#define MOST_SHARES 3e7 /* of routes on links */

struct worst {
    const struct fc_network *net;
    struct fc_worst_case *out;
    struct fc_status *st;
    struct fc_arena scratch;
    struct fc_translations translations;
    struct fc_walk walk;
    uint32_t n_shifts;   /* n of the translations */
    uint32_t n_slots;    /* links of representatives */
    uint32_t *slot;      /* [n_links]; FC_NONE: endless bandwidth */
    uint32_t *slot_link; /* [n_slots] */
    double *share;       /* [n_slots][n_shifts] of one route, zero between routes */
    uint64_t *touched;   /* [n_slots * n_shifts] */
    uint64_t n_touched, n_shares;
    uint64_t *first;     /* [n_slots + 1] shares of each slot */
    uint32_t *src, *dst; /* [n_shares] nodes */
    double *part;
};

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
        bool counts = !isinf(fc_link_bandwidth(net, l)) && shift_of(w, l) == 0;
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

/* All routes: counts the shares of every slot, or writes them (`write`), first[slot + 1] being the next place. */
static enum fc_code walk_all(struct worst *w, bool write)
{
    uint32_t n = w->net->n_nodes, numbers = shift_numbers(w);
    for (uint32_t s = 0; s < n; s++) {
        if (w->n_shifts > 1 && w->translations.shift[router_of(w, s)] != 0) continue;
        for (uint32_t d = 0; d < n; d++) {
            if (s == d) continue;
            if (walk_pair(w, s, d)) return w->st->code;
            w->n_shares += w->n_touched;
            for (uint64_t i = 0; i < w->n_touched; i++) {
                uint32_t slot = (uint32_t)(w->touched[i] / numbers), shift = (uint32_t)(w->touched[i] % numbers);
                uint64_t at = write ? w->first[slot + 1]++ : w->first[slot + 2]++;
                if (write) {
                    w->src[at] = node_back(w, s, shift);
                    w->dst[at] = node_back(w, d, shift);
                    w->part[at] = w->share[w->touched[i]];
                }
                w->share[w->touched[i]] = 0;
            }
        }
        if ((double)w->n_shares > MOST_SHARES)
            return fc_refuse(w->st, FC_NO,
                             "the routes of %u nodes cross more than %.3g links in all (routing %s; "
                             "too many for the worst case)",
                             n, MOST_SHARES, w->net->machine->routing->name);
    }
    return FC_OK;
}

static enum fc_code collect(struct worst *w)
{
    uint32_t n = w->net->n_nodes, capacity = w->net->machine->routing->walk_capacity(w->net);
    double pairs = (double)n / w->n_shifts * n;
    if (n > MOST_NODES)
        return fc_refuse(w->st, FC_NO,
                         "the worst case of %u nodes is an assignment of %.3g pairs for each link (at "
                         "most %d nodes)",
                         n, (double)n * n, MOST_NODES);
    if (pairs > MOST_PAIRS || capacity == FC_NONE)
        return fc_refuse(w->st, FC_NO, "the worst case needs %.3g routes (at most %.3g)", pairs, MOST_PAIRS);
    if (number_links(w) || fc_walk_start(&w->walk, capacity, w->st)) return w->st->code;
    if (!walk_all(w, false)) {
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

/* row, column [n_nodes]: zero between calls. */
static double promise(const struct worst *w, uint32_t slot, double *row, double *column)
{
    double rows = 0, columns = 0;
    for (uint64_t i = w->first[slot]; i < w->first[slot + 1]; i++) {
        row[w->src[i]] = fmax(row[w->src[i]], w->part[i]);
        column[w->dst[i]] = fmax(column[w->dst[i]], w->part[i]);
    }
    for (uint64_t i = w->first[slot]; i < w->first[slot + 1]; i++) {
        rows += row[w->src[i]];
        columns += column[w->dst[i]];
        row[w->src[i]] = column[w->dst[i]] = 0;
    }
    return fmin(rows, columns) / fc_link_bandwidth(w->net, w->slot_link[slot]);
}

static void keep(struct worst *w, uint32_t link, double load, const uint32_t *to, const double *u, const double *v)
{
    struct fc_worst_case *out = w->out;
    uint32_t n = w->net->n_nodes;
    out->load = load;
    out->time_s = load / fc_link_bandwidth(w->net, link);
    out->link = link;
    memcpy(out->to, to, n * sizeof *to);
    memcpy(out->u, u, n * sizeof *u);
    memcpy(out->v, v, n * sizeof *v);
}

static enum fc_code search(struct worst *w)
{
    struct fc_worst_case *out = w->out;
    uint32_t n = w->net->n_nodes;
    double *u = fc_alloc(&w->scratch, n, sizeof *u, w->st), *v = fc_alloc(&w->scratch, n, sizeof *v, w->st);
    uint32_t *to = fc_alloc(&w->scratch, n, sizeof *to, w->st);
    double *weight = fc_alloc(&w->scratch, (size_t)n * n, sizeof *weight, w->st);
    struct candidate *order = fc_alloc(&w->scratch, w->n_slots, sizeof *order, w->st);
    if (w->st->code) return w->st->code;
    for (uint32_t i = 0; i < w->n_slots; i++) order[i] = (struct candidate){i, promise(w, i, u, v)};
    qsort(order, w->n_slots, sizeof *order, by_promise);
    for (uint32_t i = 0; i < w->n_slots && order[i].most_s > out->time_s * (1 + 1e-12); i++) {
        uint32_t slot = order[i].slot;
        double load = 0;
        for (uint64_t j = w->first[slot]; j < w->first[slot + 1]; j++)
            weight[(size_t)w->src[j] * n + w->dst[j]] = w->part[j];
        if (fc_assign(n, weight, to, u, v, w->st)) return w->st->code;
        for (uint32_t s = 0; s < n; s++) load += weight[(size_t)s * n + to[s]];
        out->n_solved++;
        if (load / fc_link_bandwidth(w->net, w->slot_link[slot]) > out->time_s)
            keep(w, w->slot_link[slot], load, to, u, v);
        for (uint64_t j = w->first[slot]; j < w->first[slot + 1]; j++) weight[(size_t)w->src[j] * n + w->dst[j]] = 0;
    }
    return FC_OK;
}

enum fc_code fc_worst_case_solve(const struct fc_network *net, bool whole, struct fc_worst_case *out,
                                 struct fc_status *st)
{
    struct worst w = {.net = net, .out = out, .st = st};
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
    if (!st->code && !collect(&w)) search(&w);
    fc_arena_free(&w.scratch);
    if (st->code) fc_worst_case_free(out);
    return st->code;
}

void fc_worst_case_free(struct fc_worst_case *out)
{
    fc_arena_free(&out->arena);
    memset(out, 0, sizeof *out);
}
