/* turns_ways.c - all ways of the traffic to one destination, by the kernel's routing functions.
 *
 * What a head may do depends on its place, its route word and its packet's random word alone. For one
 * destination and one random word the pairs (place, route word) that the sources reach form a graph, breadth
 * first from the sources; it has no cycle, as routes end, and is put in topological order (Kahn 1962). Its
 * size is O(links) where routes are kept as hops that are left or by level, so all destinations cost O(nodes
 * x links).
 *
 * Random words are those of the routing (words() of its record), every case equally often. Where the word picks afresh
 * at every router (nca-random) all picks are taken as equal shares. Not for Valiant's routings, whose words are as many
 * as there are places in between, and injection FIFOs drawn by hash. */
#include "solvers/queueing/turns_ways.h"

#include <string.h>

enum { STORE_BLOCK = 4 << 20 };

static bool find_words(struct fc_ways_builder *b)
{
    const struct fc_flit_net *flit = &b->w->flit;
    b->words = (struct fc_flit_words){.n_start = 1, .n_way = 1};
    b->w->picks = flit->route->picks != NULL;
    return flit->route->words && flit->route->words(flit, &b->words);
}

/* ---- preparation ---- */

static bool is_sent_to(const struct fc_ways_builder *b, uint32_t node)
{
    const struct fc_demand *demand = b->w->demand;
    bool dense = false;
    for (int p = 0; p < demand->n_dense; p++) dense = dense || demand->dense[p].b[node] > 0;
    return dense || b->first_entry[node + 1] > b->first_entry[node];
}

static enum fc_code sort_entries(struct fc_ways_builder *b, struct fc_status *st)
{
    const struct fc_demand *demand = b->w->demand;
    uint32_t n = b->w->net->n_nodes;
    b->first_entry = fc_alloc(b->w->arena, n + 2ull, sizeof *b->first_entry, st);
    b->entry = fc_alloc(b->w->arena, demand->n_entries + 1, sizeof *b->entry, st);
    b->destination = fc_alloc(b->w->arena, n, sizeof *b->destination, st);
    if (st->code) return st->code;
    for (size_t i = 0; i < demand->n_entries; i++) b->first_entry[demand->dst[i] + 2]++;
    for (uint32_t i = 0; i < n; i++) b->first_entry[i + 2] += b->first_entry[i + 1];
    for (size_t i = 0; i < demand->n_entries; i++) b->entry[b->first_entry[demand->dst[i] + 1]++] = (uint32_t)i;
    for (uint32_t i = 0; i < n; i++)
        if (is_sent_to(b, i)) b->destination[b->n_destinations++] = i;
    return FC_OK;
}

static enum fc_code larger(struct fc_arena *arena, void *array, uint32_t used, uint32_t capacity, size_t size,
                           struct fc_status *st)
{
    void *old = *(void **)array, *new = fc_alloc(arena, capacity, size, st);
    if (!new) return st->code;
    if (used) memcpy(new, old, used * size);
    *(void **)array = new;
    return FC_OK;
}
#define LARGER(a) larger(b->w->arena, &(a), used, more, sizeof *(a), st)

static enum fc_code more_spots(struct fc_ways_builder *b, struct fc_status *st)
{
    uint32_t used = b->capacity, more = used ? 2 * used : 4096;
    if (LARGER(b->vertex) || LARGER(b->next) || LARGER(b->waits) || LARGER(b->order) || LARGER(b->place) ||
        LARGER(b->route) || LARGER(b->start))
        return st->code;
    b->capacity = more++;
    used += used > 0;
    return LARGER(b->first) || LARGER(b->ways.first) ? st->code : FC_OK;
}

static enum fc_code more_edges(struct fc_ways_builder *b, struct fc_status *st)
{
    uint32_t used = b->edges_capacity, more = used ? 2 * used : 16384;
    if (LARGER(b->channel) || LARGER(b->to) || LARGER(b->ways.channel) || LARGER(b->ways.to)) return st->code;
    b->edges_capacity = more;
    return FC_OK;
}

enum fc_code fc_ways_open(struct fc_turns_walk *w, struct fc_ways_builder *b, bool *good, struct fc_status *st)
{
    memset(b, 0, sizeof *b);
    b->w = w;
    *good = w->demand->n_entries < FC_NONE && find_words(b);
    if (!*good) {
        w->picks = false;
        return FC_OK;
    }
    b->rate = fc_alloc(w->arena, w->net->n_nodes, sizeof *b->rate, st);
    b->last_at = fc_alloc(w->arena, w->net->n_vertices, sizeof *b->last_at, st);
    b->met = fc_alloc(w->arena, w->net->n_vertices, sizeof *b->met, st);
    if (st->code || sort_entries(b, st) || more_spots(b, st)) return st->code;
    return more_edges(b, st);
}

/* ---- the graph ---- */

/* The spot, new or known; FC_NONE: out of memory. */
static uint32_t find_spot(struct fc_ways_builder *b, uint32_t vertex, uint64_t route, struct fc_status *st)
{
    uint32_t s = b->met[vertex] == b->stamp ? b->last_at[vertex] : FC_NONE;
    for (; s != FC_NONE; s = b->next[s])
        if (b->route[s] == route) return s;
    if (b->n == b->capacity && more_spots(b, st)) return FC_NONE;
    s = b->n++;
    b->vertex[s] = vertex;
    b->route[s] = route;
    b->next[s] = b->met[vertex] == b->stamp ? b->last_at[vertex] : FC_NONE;
    b->waits[s] = 0;
    b->start[s] = 0;
    b->met[vertex] = b->stamp;
    b->last_at[vertex] = s;
    return s;
}

static enum fc_code add_source(struct fc_ways_builder *b, uint32_t src, uint32_t dst, uint32_t word, double rate,
                               struct fc_status *st)
{
    const struct fc_flit_net *flit = &b->w->flit;
    rate *= b->w->scale / b->words.n_way / b->words.n_start;
    for (uint32_t i = 0; rate > 0 && i < b->words.n_start; i++) {
        uint64_t route = flit->route->start(flit, src, dst, word | b->words.start[i], NULL);
        uint32_t s = find_spot(b, fc_node_vertex(b->w->net, src), route, st);
        if (s == FC_NONE) return st->code;
        b->start[s] += rate;
    }
    return FC_OK;
}

/* Sources as starts, in the order of nodes or, without dense parts, of the entries. */
static enum fc_code add_sources(struct fc_ways_builder *b, uint32_t dst, uint32_t word, struct fc_status *st)
{
    const struct fc_demand *demand = b->w->demand;
    uint32_t n = b->w->net->n_nodes, first = b->first_entry[dst], last = b->first_entry[dst + 1];
    bool dense = false;
    for (int p = 0; p < demand->n_dense; p++) {
        const struct fc_dense *part = &demand->dense[p];
        if (!(part->b[dst] > 0)) continue;
        dense = true;
        for (uint32_t s = 0; s < n; s++) b->rate[s] += part->a[s] * part->b[dst];
    }
    for (uint32_t i = first; i < last; i++) b->rate[demand->src[b->entry[i]]] += demand->bytes[b->entry[i]];
    for (uint32_t i = first; !dense && i < last; i++) {
        uint32_t s = demand->src[b->entry[i]];
        if (add_source(b, s, dst, word, b->rate[s], st)) return st->code;
        b->rate[s] = 0;
    }
    for (uint32_t s = 0; dense && s < n; s++) {
        if (add_source(b, s, dst, word, b->rate[s], st)) return st->code;
        b->rate[s] = 0;
    }
    return FC_OK;
}

/* The outputs of a spot as edges. */
static enum fc_code expand(struct fc_ways_builder *b, uint32_t s, uint32_t dst, uint32_t word, struct fc_status *st)
{
    struct fc_flit_head head = {.dst = dst, .random = word, .route = b->route[s]};
    struct fc_flit_choice out[FC_TURNS_MOST_SET];
    struct fc_turns_choice set[FC_TURNS_MOST_SET];
    uint32_t n = fc_turns_choices(b->w, b->vertex[s], FC_NONE, 0, &head, out, set, st);
    if (!n) return st->code;
    while (b->n_edges + n > b->edges_capacity)
        if (more_edges(b, st)) return st->code;
    b->first[s] = b->n_edges;
    if (n > b->most_outputs) b->most_outputs = n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t vertex = b->w->net->link_target[out[i].link];
        uint32_t to = fc_is_node(b->w->net, vertex) ? FC_NONE : find_spot(b, vertex, out[i].route, st);
        if (st->code) return st->code;
        if (to != FC_NONE) b->waits[to]++;
        b->channel[b->n_edges] = set[i].channel;
        b->to[b->n_edges++] = to;
    }
    return FC_OK;
}

/* Puts the graph into builder->ways in topological order. */
static enum fc_code put_in_order(struct fc_ways_builder *b, uint32_t n_starts, struct fc_status *st)
{
    struct fc_ways *ways = &b->ways;
    uint32_t tail = n_starts, n = 0;
    b->first[b->n] = b->n_edges;
    for (uint32_t s = 0; s < n_starts; s++) b->order[s] = s;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t s = b->order[head];
        b->place[s] = head;
        for (uint32_t e = b->first[s]; e < b->first[s + 1]; e++)
            if (b->to[e] != FC_NONE && --b->waits[b->to[e]] == 0) b->order[tail++] = b->to[e];
    }
    if (tail < b->n) return fc_refuse(st, FC_FAULT, "the ways to a destination close a cycle");
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t s = b->order[i];
        ways->first[i] = n;
        for (uint32_t e = b->first[s]; e < b->first[s + 1]; e++, n++) {
            ways->channel[n] = b->channel[e];
            ways->to[n] = b->to[e] == FC_NONE ? FC_NONE : b->place[b->to[e]];
        }
    }
    ways->first[b->n] = n;
    ways->n_starts = n_starts;
    ways->n_spots = b->n;
    ways->start = b->start;
    return FC_OK;
}

enum fc_code fc_ways_build(struct fc_ways_builder *b, uint32_t destination, uint32_t word, struct fc_status *st)
{
    b->stamp++;
    b->n = b->n_edges = 0;
    if (add_sources(b, destination, b->words.way[word], st)) return st->code;
    uint32_t n_starts = b->n;
    for (uint32_t s = 0; s < b->n; s++)
        if (expand(b, s, destination, b->words.way[word], st)) return st->code;
    return put_in_order(b, n_starts, st);
}

/* Room for n things of the size, a piece of a large block: pages of blocks are large, those of single
 * arrays small. */
static void *store_room(struct fc_ways_store *store, size_t n, size_t size, struct fc_status *st)
{
    size_t need = (n * size + 7) / 8 * 8;
    if (need > store->left) {
        size_t block = need > STORE_BLOCK ? need : STORE_BLOCK;
        store->at = fc_alloc(store->arena, block, 1, st);
        store->left = store->at ? block : 0;
        if (!store->at) return NULL;
    }
    void *room = store->at;
    store->at += need;
    store->left -= need;
    return room;
}

/* Starts of one destination after the other are often the same numbers. */
static double *store_starts(struct fc_ways_store *store, const struct fc_ways *ways, struct fc_status *st)
{
    size_t bytes = ways->n_starts * sizeof *ways->start;
    if (store->start && store->n_starts == ways->n_starts && !memcmp(store->start, ways->start, bytes))
        return store->start;
    store->start = store_room(store, ways->n_starts, sizeof *ways->start, st);
    store->n_starts = ways->n_starts;
    if (store->start) memcpy(store->start, ways->start, bytes);
    return store->start;
}

/* Numbers of half the size; FC_NONE becomes UINT16_MAX. */
static void narrow(uint16_t *to, const uint32_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) to[i] = (uint16_t)from[i];
}
static void widen(uint32_t *to, const uint16_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) to[i] = from[i] == UINT16_MAX ? FC_NONE : from[i];
}

enum fc_code fc_ways_keep(const struct fc_ways *ways, struct fc_ways_store *store, struct fc_kept_ways *copy,
                          struct fc_status *st)
{
    uint32_t n = ways->n_spots, edges = ways->first[n];
    copy->n_starts = ways->n_starts;
    copy->n_spots = n;
    copy->narrow = edges < UINT16_MAX && n < UINT16_MAX;
    for (uint32_t e = 0; e < edges && copy->narrow; e++) copy->narrow = ways->channel[e] < UINT16_MAX;
    size_t size = copy->narrow ? sizeof(uint16_t) : sizeof(uint32_t);
    copy->start = store_starts(store, ways, st);
    copy->first = store_room(store, n + 1ull, size, st);
    copy->channel = store_room(store, edges, size, st);
    copy->to = store_room(store, edges, size, st);
    if (st->code) return st->code;
    if (copy->narrow) {
        narrow(copy->first, ways->first, n + 1);
        narrow(copy->channel, ways->channel, edges);
        narrow(copy->to, ways->to, edges);
        return FC_OK;
    }
    memcpy(copy->first, ways->first, (n + 1ull) * size);
    memcpy(copy->channel, ways->channel, edges * size);
    memcpy(copy->to, ways->to, edges * size);
    return FC_OK;
}

const struct fc_ways *fc_ways_kept(struct fc_ways_builder *b, const struct fc_kept_ways *copy)
{
    uint32_t n = copy->n_spots;
    b->kept = (struct fc_ways){copy->n_starts, n, copy->start, copy->first, copy->channel, copy->to};
    if (copy->narrow) {
        b->kept = b->ways; /* its arrays have room for all that were built */
        b->kept.n_starts = copy->n_starts;
        b->kept.n_spots = n;
        b->kept.start = copy->start;
        widen(b->kept.first, copy->first, n + 1);
        widen(b->kept.channel, copy->channel, b->kept.first[n]);
        widen(b->kept.to, copy->to, b->kept.first[n]);
    }
    return &b->kept;
}
