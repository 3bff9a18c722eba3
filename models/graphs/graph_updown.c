/* graph_updown.c - up*-down* routes on any graph (Schroeder et al., "Autonet: a high-speed, self-configuring local area
 * network using point-to-point links", IEEE JSAC 9(8), 1991).
 *
 * Routers stand in an order. With place(v) of router v, a route to destination d goes up (to smaller places) and then down:
 *     down(v) = 0 at routers of d, else 1 + min over links v -> w, place(w) > place(v), of down(w)
 *     up(v)   = min(down(v), 1 + min over links v -> w, place(w) < place(v), of up(w)),
 * found by one pass over the routers in falling, then in rising places. The order: by distance from the nearest node, the
 * farthest first, as OpenSM's updn ranks a fat-tree with its top switches as roots; where that joins not all nodes, and where
 * every router has nodes, breadth-first from the router with the fewest hops to all nodes (in each part of the network).
 * Limit: with one root, links near it carry more than their share. */
#include "models/family_graph.h"

#include <stdlib.h>
#include <string.h>

struct making {
    const struct fc_network *net;
    const struct fc_graph_tables *t;
    struct fc_updown *u;
    uint64_t *key;  /* [n_routers] by which routers are put in order */
    uint32_t *line; /* [n_routers] the routers in their order */
};

static int by_key(const void *a, const void *b, void *context)
{
    const uint64_t *key = context;
    uint32_t v = *(const uint32_t *)a, w = *(const uint32_t *)b;
    if (key[v] != key[w]) return key[v] < key[w] ? -1 : 1;
    return (v > w) - (v < w);
}

static void sort_line(struct making *m)
{
    for (uint32_t v = 0; v < m->net->n_routers; v++) m->line[v] = v;
    qsort_r(m->line, m->net->n_routers, sizeof *m->line, by_key, m->key);
}

/* The farthest from all nodes first; false: every router has nodes. */
static bool order_by_height(struct making *m)
{
    uint32_t n = m->net->n_routers;
    bool any = false;
    for (uint32_t v = 0; v < n; v++) {
        uint16_t height = FC_FAR;
        for (uint32_t g = 0; g < m->t->n_groups; g++)
            if (m->t->hops[(size_t)g * n + v] < height) height = m->t->hops[(size_t)g * n + v];
        m->key[v] = height == FC_FAR ? 0 : FC_FAR - height;
        any = any || (height != 0 && height != FC_FAR);
    }
    if (any) sort_line(m);
    return any;
}

/* Breadth-first from the router with the fewest hops to all nodes, in each part. */
static void order_from_root(struct making *m, uint32_t *queue, bool *met)
{
    const struct fc_network *net = m->net;
    uint32_t tail = 0;
    for (uint32_t v = 0; v < net->n_routers; v++) {
        m->key[v] = 0;
        met[v] = false;
        for (uint32_t g = 0; g < m->t->n_groups; g++) m->key[v] += m->t->hops[(size_t)g * net->n_routers + v];
    }
    sort_line(m);
    for (uint32_t i = 0, head = 0; i < net->n_routers; i++) {
        if (met[m->line[i]]) continue;
        met[m->line[i]] = true;
        queue[tail++] = m->line[i];
        for (; head < tail; head++)
            for (uint32_t l = net->first_link[queue[head]]; l < net->first_link[queue[head] + 1]; l++) {
                uint32_t to = net->link_target[l];
                if (fc_is_node(net, to)) break;
                if (met[to]) continue;
                met[to] = true;
                queue[tail++] = to;
            }
    }
    memcpy(m->line, queue, net->n_routers * sizeof *queue);
}

/* The least of hops[w] over links v -> w that go up, or down; FC_FAR: none. */
static uint16_t least(const struct making *m, const uint16_t *hops, uint32_t v, bool down)
{
    const struct fc_network *net = m->net;
    uint16_t found = FC_FAR;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
        uint32_t to = net->link_target[l];
        if (fc_is_node(net, to)) break;
        if (fc_updown_is_down(m->u, v, to) == down && hops[to] < found) found = hops[to];
    }
    return found;
}

/* Fills the group's hops; whether every router that has nodes and a path has such a route. */
static bool measure(struct making *m, uint32_t group)
{
    uint32_t n = m->net->n_routers;
    const uint16_t *hops = m->t->hops + (size_t)group * n;
    uint16_t *up = m->u->hops[0] + (size_t)group * n, *down = m->u->hops[1] + (size_t)group * n;
    bool all = true;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t v = m->line[i];
        uint16_t next = least(m, down, v, true);
        down[v] = hops[v] == 0 ? 0 : next >= FC_FAR - 1 ? FC_FAR : (uint16_t)(next + 1);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = m->line[i];
        uint16_t next = least(m, up, v, false);
        up[v] = next < FC_FAR - 1 && next + 1 < down[v] ? (uint16_t)(next + 1) : down[v];
    }
    for (uint32_t s = 0; s < m->t->n_stops; s++) {
        uint32_t v = m->t->stop[s];
        all = all && (hops[v] == FC_FAR || up[v] != FC_FAR);
    }
    return all;
}

/* With the routers in line; false: some nodes are not joined. */
static bool measure_all(struct making *m)
{
    bool all = true;
    for (uint32_t i = 0; i < m->net->n_routers; i++) m->u->place[m->line[i]] = i;
    for (uint32_t g = 0; all && g < m->t->n_groups; g++) {
        memset(m->u->hops[0] + (size_t)g * m->net->n_routers, 0xff, m->net->n_routers * sizeof(uint16_t));
        memset(m->u->hops[1] + (size_t)g * m->net->n_routers, 0xff, m->net->n_routers * sizeof(uint16_t));
        all = measure(m, g);
    }
    return all;
}

enum fc_code fc_graph_updown(const struct fc_network *net, struct fc_arena *arena, struct fc_updown *updown,
                             struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct making m = {.net = net, .t = net->extra, .u = updown};
    uint32_t n = net->n_routers;
    m.key = fc_alloc(&scratch, n, sizeof *m.key, st);
    m.line = fc_alloc(&scratch, n, sizeof *m.line, st);
    uint32_t *queue = fc_alloc(&scratch, n, sizeof *queue, st);
    bool *met = fc_alloc(&scratch, n, sizeof *met, st);
    updown->place = fc_alloc(arena, n, sizeof *updown->place, st);
    for (int i = 0; i < 2; i++) updown->hops[i] = fc_alloc(arena, m.t->n_groups, n * sizeof *updown->hops[i], st);
    if (!st->code && !(order_by_height(&m) && measure_all(&m))) {
        order_from_root(&m, queue, met);
        if (!measure_all(&m)) fc_refuse(st, FC_FAULT, "up*-down* routes do not join all nodes");
    }
    return st->code;
}
