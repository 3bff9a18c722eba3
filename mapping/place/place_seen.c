/* place_seen.c - the best layouts seen so far, by objective, and the front of two. */
#include "core/array.h"
#include "mapping/place/place_search.h"
#include <string.h>

/* < 0: a is better for the objective, ties by the others. */
static int compare(const struct fc_place_key *a, const struct fc_place_key *b, int objective)
{
    int turns = (a->turns > b->turns) - (a->turns < b->turns), load = (a->load > b->load) - (a->load < b->load);
    int weighted = (a->weighted > b->weighted) - (a->weighted < b->weighted);
    int first = objective == FC_PLACE_HOPS ? turns : objective == FC_PLACE_WEIGHTED ? weighted : load;
    if (first) return first;
    if (weighted) return weighted;
    return load ? load : turns;
}

static bool same_value(const struct fc_place_key *a, const struct fc_place_key *b, int objective)
{
    return objective == FC_PLACE_HOPS       ? a->turns == b->turns
           : objective == FC_PLACE_WEIGHTED ? a->weighted == b->weighted
                                            : a->load == b->load;
}

/* The last of the front with weighted hops up to these, or FC_NONE: of those the one with the least load. */
static uint32_t front_before(const struct fc_place_seen *seen, int64_t weighted)
{
    uint32_t low = 0, high = seen->n_front;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (seen->front[middle].key.weighted <= weighted)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : FC_NONE;
}

static void see_front(struct fc_place_seen *seen, const struct fc_place_key *key, const uint32_t *node, size_t bytes,
                      uint64_t times)
{
    uint32_t before = front_before(seen, key->weighted), at = before == FC_NONE ? 0 : before + 1, drop = at;
    if (before != FC_NONE && seen->front[before].key.load <= key->load) {
        struct fc_place_found *same = &seen->front[before];
        if (same->key.load == key->load && same->key.weighted == key->weighted) same->layouts += times;
        return;
    }
    if (before != FC_NONE && seen->front[before].key.weighted == key->weighted) at = before;
    while (drop < seen->n_front && seen->front[drop].key.load >= key->load) drop++;
    if (!FC_GROW(seen->front, seen->capacity, seen->n_front + 1)) {
        seen->full = true;
        return;
    }
    memmove(&seen->front[at + 1], &seen->front[drop], (seen->n_front - drop) * sizeof *seen->front);
    seen->n_front += at + 1 - drop;
    seen->front[at] = (struct fc_place_found){.key = *key, .layouts = times};
    memcpy(seen->front[at].layout.node, node, bytes);
}

void fc_place_see(struct fc_place_seen *seen, int n, const struct fc_place_key *key, const uint32_t *node,
                  uint64_t times)
{
    size_t bytes = (size_t)n * sizeof *node;
    for (int o = 0; o < FC_PLACE_OBJECTIVES; o++) {
        struct fc_place_found *best = &seen->best[o];
        bool same = best->layouts && same_value(key, &best->key, o);
        bool better = !best->layouts || compare(key, &best->key, o) < 0;
        if (same)
            best->layouts += times;
        else if (better)
            best->layouts = times;
        if (!better) continue;
        best->key = *key;
        memcpy(best->layout.node, node, bytes);
    }
    see_front(seen, key, node, bytes, times);
    seen->layouts += times;
    seen->evaluated++;
}

/* Adds what a later task has seen. */
void fc_place_join(struct fc_place_seen *all, const struct fc_place_seen *task, int n)
{
    size_t bytes = (size_t)n * sizeof *task->front->layout.node;
    for (int o = 0; o < FC_PLACE_OBJECTIVES; o++) {
        const struct fc_place_found *mine = &task->best[o];
        struct fc_place_found *best = &all->best[o];
        if (!mine->layouts) continue;
        bool same = best->layouts && same_value(&mine->key, &best->key, o);
        bool better = !best->layouts || compare(&mine->key, &best->key, o) < 0;
        uint64_t layouts = same ? mine->layouts + best->layouts : better ? mine->layouts : best->layouts;
        if (better) *best = *mine;
        best->layouts = layouts;
    }
    for (uint32_t f = 0; f < task->n_front; f++)
        see_front(all, &task->front[f].key, task->front[f].layout.node, bytes, task->front[f].layouts);
    all->layouts += task->layouts;
    all->evaluated += task->evaluated;
    all->full = all->full || task->full;
}
