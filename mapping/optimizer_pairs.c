/* optimizer_pairs.c - a start of `optimize` for networks whose groups of routers are joined two by two by links of their own:
 * the task grid cut so that every two groups exchange about as much (even_pairs.c).
 *
 * Where the cut's greatest load takes less time between groups than the best start so far, tasks are laid on the nodes of
 * their group in random order, so that what goes to another group leaves from many nodes, and change nodes within it by the
 * search of all links (search.c), which leaves the loads between groups as they are. Limits: as many groups as divide the
 * tasks, at least half of those allowed; routings that spread each message over the whole network are left alone, as
 * no pair of groups counts there. */
#include "mapping/even_pairs.h"
#include "mapping/optimizer.h"

#include <math.h>
#include <string.h>

/* Shares: one in so many parts of the budget. A short cut is soon better than what the search within groups can lay out in time. */
enum { LEAST_GROUPS = 4, CUT_SHARE = 4, LONG_CUT_SHARE = 3, WITHIN_SHARE = 2 };
static const uint64_t long_budget = 500000000; /* link updates; some ten seconds */

struct groups {
    struct fc_place_groups places; /* n 0: the network has none of this kind */
    uint32_t *room;                /* [places.n] tasks that a group holds */
    uint32_t used, *use;           /* use[used] groups that get tasks */
    double bytes_per_s;            /* from one group to another, at least */
};

/* Bytes/s from one group to another, the least of all pairs; 0: some are not joined, or by way of what is in no group. */
static double least_rate(const struct fc_sites *sites, const uint32_t *label, uint32_t n, double *bytes_per_s)
{
    const struct fc_network *net = sites->net;
    double least = INFINITY;
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t from = net->link_source[l], to = net->link_target[l];
        if (fc_is_node(net, from) || fc_is_node(net, to)) continue;
        if (label[from] == FC_NONE || label[to] == FC_NONE) return 0;
        bytes_per_s[(size_t)label[from] * n + label[to]] += fc_site_bandwidth(sites, l);
    }
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            if (a != b) least = fmin(least, bytes_per_s[(size_t)a * n + b]);
    return least;
}

static enum fc_code list_places(uint32_t n_places, struct fc_arena *arena, struct fc_place_groups *g,
                                struct fc_status *st)
{
    g->first = fc_alloc(arena, g->n + 2ull, sizeof *g->first, st);
    g->place = g->first ? fc_alloc(arena, n_places, sizeof *g->place, st) : NULL;
    if (!g->place) return st->code;
    for (uint32_t i = 0; i < n_places; i++) g->first[g->of_place[i] + 2]++;
    for (uint32_t k = 0; k < g->n; k++) g->first[k + 2] += g->first[k + 1];
    for (uint32_t i = 0; i < n_places; i++) g->place[g->first[g->of_place[i] + 1]++] = i;
    return FC_OK;
}

/* The groups that the allowed nodes lie in. */
static enum fc_code find_groups(const struct fc_optimizer *o, struct fc_arena *arena, struct groups *g,
                                struct fc_status *st)
{
    const struct fc_network *net = o->sites.net;
    struct fc_place_groups *places = &g->places;
    *g = (struct groups){0};
    if (!net->machine->family->partition || o->routes.kind == FC_ROUTES_SPREAD) return FC_OK;
    uint32_t *label = fc_alloc(arena, net->n_routers, sizeof *label, st);
    uint32_t n = label ? net->machine->family->partition(net, 0, label) : 0;
    if (n < LEAST_GROUPS || n > FC_MOST_SHIFTS) return st->code;
    double *bytes_per_s = fc_alloc(arena, (size_t)n * n, sizeof *bytes_per_s, st);
    places->of_place = bytes_per_s ? fc_alloc(arena, o->slots->n_nodes, sizeof *places->of_place, st) : NULL;
    g->room = places->of_place ? fc_alloc(arena, n, sizeof *g->room, st) : NULL;
    g->use = g->room ? fc_alloc(arena, n, sizeof *g->use, st) : NULL;
    g->bytes_per_s = g->use ? least_rate(&o->sites, label, n, bytes_per_s) : 0;
    if (!(g->bytes_per_s > 0)) return st->code;
    for (uint32_t i = 0; i < o->slots->n_nodes; i++) {
        uint32_t vertex = fc_node_vertex(net, o->slots->node[i]), first = net->first_link[vertex];
        if (first == net->first_link[vertex + 1]) return FC_OK;
        places->of_place[i] = label[net->link_target[first]];
        if (places->of_place[i] == FC_NONE) return FC_OK;
        g->room[places->of_place[i]] += o->slots->per_node;
    }
    places->n = n;
    return list_places(o->slots->n_nodes, arena, places, st);
}

/* The most groups that hold equal shares of all tasks. */
static void choose_groups(uint32_t n_tasks, struct groups *g)
{
    uint32_t allowed = 0;
    for (uint32_t k = 0; k < g->places.n; k++) allowed += g->room[k] > 0;
    for (uint32_t n = allowed; n >= LEAST_GROUPS && n >= allowed / 2; n--) {
        if (n_tasks % n || n_tasks / n < 2) continue;
        g->used = 0;
        for (uint32_t k = 0; k < g->places.n && g->used < n; k++)
            if (g->room[k] >= n_tasks / n) g->use[g->used++] = k;
        if (g->used == n) return;
    }
    g->used = 0;
}

/* As many tasks of a group on each of its nodes, in random order. rank[tasks]: their numbers in the grid; NULL: their own. */
static enum fc_code place(struct fc_optimizer *o, const struct groups *g, const struct fc_even_pairs *pairs,
                          const uint32_t *rank, struct fc_arena *arena, uint32_t *slot, struct fc_status *st)
{
    uint32_t n_tasks = o->tasks.n, each = n_tasks / g->used;
    uint32_t *order = fc_alloc(arena, each, sizeof *order, st);
    uint32_t *site = order ? fc_alloc(arena, n_tasks, sizeof *site, st) : NULL;
    if (!site) return st->code;
    for (uint32_t k = 0; k < g->used; k++) {
        const uint32_t *nodes = g->places.place + g->places.first[g->use[k]];
        uint32_t n_nodes = g->places.first[g->use[k] + 1] - g->places.first[g->use[k]];
        fc_random_permutation(o->problem->seed, o->stream++, order, each);
        for (uint32_t i = 0; i < each; i++) {
            uint64_t node = (uint64_t)i * n_nodes / each, first = (node * each + n_nodes - 1) / n_nodes;
            site[(size_t)k * each + order[i]] = (uint32_t)(nodes[node] * o->slots->per_node + i - first);
        }
    }
    for (uint32_t t = 0; t < n_tasks; t++) {
        uint32_t at = rank ? rank[t] : t;
        slot[t] = site[(size_t)pairs->group[at] * each + pairs->cell[at]];
    }
    return FC_OK;
}

/* Tasks change nodes within their groups, until no link there binds or the work is spent. */
static enum fc_code search_within(struct fc_optimizer *o, const struct groups *g, double between_s, uint32_t *slot,
                                  struct fc_status *st)
{
    struct fc_search search;
    struct fc_search_settings how = {.doublings = 5, .hop_weight = 0.1};
    how.start_temperature = 0.2 / o->tasks.n;
    how.end_temperature = 0.002 / o->tasks.n;
    how.within = &g->places;
    how.work = o->budget / WITHIN_SHARE;
    how.enough_s = between_s * (1 + 1e-12);
    how.stop = o->problem->stop;
    how.seed = o->problem->seed;
    how.stream = o->stream;
    o->stream += 2;
    if (fc_search_start(&o->sites, &o->routes, &o->tasks, slot, &search, st)) return st->code;
    fc_search_run(&search, &how);
    memcpy(slot, search.slot, o->tasks.n * sizeof *slot);
    fc_optimizer_spend(o, search.work);
    fc_search_free(&search);
    return FC_OK;
}

/* Longest link time of the best start; those that have just been added have none yet. */
static double best_measured_s(const struct fc_optimizer *o)
{
    double best = INFINITY;
    for (int i = 0; i < o->n_starts; i++)
        if (o->start[i].time_s > 0) best = fmin(best, o->start[i].time_s);
    return best;
}

/* The job's torus, in the order of its own grid or of the one found; false: it has none. */
static bool find_torus(const struct fc_optimizer *o, struct fc_task_torus *torus, const uint32_t **rank)
{
    const struct fc_demand *d = o->problem->demand;
    long long side[FC_MAX_DIMS];
    int n = d->n_grid > 0 ? d->n_grid : o->grid.n;
    *rank = d->n_grid > 0 ? NULL : o->grid.rank;
    for (int i = 0; i < n; i++) side[i] = d->n_grid > 0 ? d->grid[i] : o->grid.side[i];
    return n > 0 && fc_task_torus(side, n, &o->tasks, *rank, torus);
}

enum fc_code fc_optimizer_pairs(struct fc_optimizer *o, struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct fc_task_torus torus;
    struct groups g;
    struct fc_even_pairs pairs;
    const uint32_t *rank;
    if (fc_optimizer_stopped(o)) return FC_OK;
    fc_progress_show(o->problem->progress, 0.08, "even pairs");
    if (find_groups(o, &scratch, &g, st) || g.places.n == 0) goto done;
    choose_groups(o->tasks.n, &g);
    if (g.used == 0 || !find_torus(o, &torus, &rank)) goto done;
    struct fc_even_pairs_settings set = {.work = o->budget / (o->budget > long_budget ? LONG_CUT_SHARE : CUT_SHARE),
                                         .worth = best_measured_s(o) * g.bytes_per_s,
                                         .stop = o->problem->stop,
                                         .seed = o->problem->seed,
                                         .stream = o->stream,
                                         .threads = o->threads};
    o->stream += FC_EVEN_PAIRS_STREAMS;
    if (fc_even_pairs_cut(&torus, g.used, &set, &scratch, &pairs, st) || pairs.work == 0) goto done;
    fc_optimizer_spend(o, pairs.work);
    double between_s = pairs.most / g.bytes_per_s;
    if (between_s >= best_measured_s(o) || fc_optimizer_stopped(o)) goto done;
    struct fc_start *start = fc_optimizer_add(o, "even pairs", st);
    if (!start || place(o, &g, &pairs, rank, &scratch, start->slot, st)) goto done;
    start->scattered = true;
    search_within(o, &g, between_s, start->slot, st);
    fc_optimizer_spend(o, o->measuring);
done:
    fc_arena_free(&scratch);
    return st->code;
}
