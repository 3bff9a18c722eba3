/* near_free.c - cores still free: the nearest of them through the network, the next of them in the machine's
 * order. */
#include "mapping/near_free.h"

#include <string.h>

enum fc_code fc_near_free_start(struct fc_near_free *near, const struct fc_network *net, const struct fc_slots *slots,
                                struct fc_arena *arena, struct fc_status *st)
{
    *near = (struct fc_near_free){.net = net, .slots = slots};
    near->place = fc_alloc(arena, net->n_nodes, sizeof *near->place, st);
    near->taken = near->place ? fc_alloc(arena, slots->n_nodes, sizeof *near->taken, st) : NULL;
    near->next = near->taken ? fc_alloc(arena, (size_t)slots->n_nodes + 1, sizeof *near->next, st) : NULL;
    near->queue = near->next ? fc_alloc(arena, net->n_vertices, sizeof *near->queue, st) : NULL;
    near->stamp = near->queue ? fc_alloc(arena, net->n_vertices, sizeof *near->stamp, st) : NULL;
    if (!near->stamp) return st->code;
    memset(near->place, 0xff, net->n_nodes * sizeof *near->place);
    for (uint32_t i = 0; i < slots->n_nodes; i++) near->place[slots->node[i]] = i;
    for (uint32_t i = 0; i <= slots->n_nodes; i++) near->next[i] = i;
    return FC_OK;
}

void fc_near_free_take(struct fc_near_free *near, uint32_t place, uint32_t task, struct fc_mapping *mapping)
{
    fc_map_put(mapping, near->slots, task, near->slots->node[place], near->taken[place]++);
    if (near->taken[place] == near->slots->per_node) near->next[place] = place + 1;
}

int fc_near_free_find(struct fc_near_free *near, uint32_t node, uint32_t most_seen, uint32_t *place, int most)
{
    const struct fc_network *net = near->net;
    uint32_t head = 0, tail = 0, seen = 0;
    int n = 0;
    near->now++;
    near->queue[tail++] = fc_node_vertex(net, node);
    near->stamp[near->queue[0]] = near->now;
    while (head < tail && n < most && seen < most_seen) {
        uint32_t v = near->queue[head++];
        uint32_t at = fc_is_node(net, v) ? near->place[v - net->n_routers] : FC_NONE;
        if (at != FC_NONE && near->taken[at] < near->slots->per_node) place[n++] = at;
        if (fc_is_node(net, v) && head > 1) continue; /* nothing is routed through other nodes */
        for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++, seen++) {
            uint32_t to = net->link_target[l];
            if (near->stamp[to] == near->now) continue;
            near->stamp[to] = near->now;
            near->queue[tail++] = to;
        }
    }
    return n;
}

uint32_t fc_near_free_next(struct fc_near_free *near, uint32_t i)
{
    uint32_t *next = near->next, n = near->slots->n_nodes;
    for (int round = 0; round < 2; round++, i = 0) {
        while (i < n && next[i] != i) i = next[i] = next[next[i]];
        if (i < n) return i;
    }
    return FC_NONE;
}
