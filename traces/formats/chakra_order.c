/* chakra_order.c - the nodes of a Chakra trace in an order in which each stands behind what it depends on,
 * and otherwise as in the file.
 *
 * Data dependencies must not close a cycle: refused, with its nodes. Control dependencies of traces made from
 * PyTorch (a node's parent call) do: such a one, between two nodes that depend on each other over any
 * dependencies (a strongly connected component; Tarjan, SIAM J. Comput. 1, 1972), is dropped and counted.
 * Both searches are iterative: O((nodes + dependencies) log nodes) with finding nodes by their numbers. */
#include "traces/formats/chakra.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct place {
    uint64_t id;
    uint32_t node;
};
struct step {
    uint32_t node, next; /* dependency to look at next */
};
struct search {
    struct fc_chakra *c;
    struct step *path; /* [n] */
    uint32_t depth;
    uint32_t *number;    /* [n] components: when the search came to the node, from 1; 0: not yet */
    uint32_t *low;       /* [n] the earliest such number that it reaches */
    uint32_t *component; /* [n] FC_NONE: not known yet */
    uint32_t *stack;     /* [n] */
    uint32_t n_stack, n_numbers, n_components;
    uint8_t *open; /* [n] sorting: the node is on the path */
};

static int by_id(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Finds the node of each dependency. */
static enum fc_code find_nodes(struct fc_chakra *c, struct fc_arena *arena)
{
    size_t n = c->n_nodes;
    struct place *places = fc_alloc(arena, n, sizeof *places, c->st);
    if (!places) return c->st->code;
    for (uint32_t i = 0; i < n; i++) places[i] = (struct place){c->nodes[i].id, i};
    if (n) qsort(places, n, sizeof *places, by_id);
    for (size_t i = 1; i < n; i++)
        if (places[i].id == places[i - 1].id)
            return fc_chakra_fail(c, c->nodes[places[i].node].record,
                                  "node %" PRIu64 " is there twice (also record %" PRIu64 ")", places[i].id,
                                  c->nodes[places[i - 1].node].record);
    for (size_t i = 0; i < c->n_before; i++) {
        size_t low = 0, high = n;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (places[middle].id < c->before[i].id)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < n && places[low].id == c->before[i].id) c->before[i].node = places[low].node;
    }
    return FC_OK;
}

/* ---- components ---- */

static void enter(struct search *s, uint32_t node)
{
    s->path[s->depth++] = (struct step){node, 0};
    s->number[node] = s->low[node] = ++s->n_numbers;
    s->stack[s->n_stack++] = node;
}

static void leave(struct search *s)
{
    uint32_t node = s->path[--s->depth].node, member;
    uint32_t above = s->depth ? s->path[s->depth - 1].node : node;
    if (s->low[node] < s->low[above]) s->low[above] = s->low[node];
    if (s->low[node] != s->number[node]) return;
    do s->component[member = s->stack[--s->n_stack]] = s->n_components;
    while (member != node);
    s->n_components++;
}

static void find_components(struct search *s, uint32_t first)
{
    enter(s, first);
    while (s->depth) {
        struct step *at = &s->path[s->depth - 1];
        const struct fc_chakra_node *node = &s->c->nodes[at->node];
        if (at->next == node->n_before) {
            leave(s);
            continue;
        }
        uint32_t before = s->c->before[node->before + at->next++].node;
        if (before == FC_NONE || s->component[before] != FC_NONE) continue;
        if (!s->number[before])
            enter(s, before);
        else if (s->number[before] < s->low[at->node])
            s->low[at->node] = s->number[before];
    }
}

static void drop_control_cycles(struct search *s)
{
    struct fc_chakra *c = s->c;
    for (uint32_t i = 0; i < c->n_nodes; i++)
        if (!s->number[i]) find_components(s, i);
    for (uint32_t i = 0; i < c->n_nodes; i++)
        for (uint32_t k = 0; k < c->nodes[i].n_before; k++) {
            struct fc_chakra_dependency *d = &c->before[c->nodes[i].before + k];
            d->dropped = d->control && d->node != FC_NONE && s->component[d->node] == s->component[i];
        }
}

/* ---- order ---- */

static enum fc_code refuse_cycle(struct search *s, uint32_t node)
{
    struct fc_chakra *c = s->c;
    char text[300];
    uint32_t from = s->depth - 1;
    size_t n = 0;
    while (s->path[from].node != node) from--;
    for (uint32_t i = from; i < s->depth && n < sizeof text - 60; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%" PRIu64 " -> ", c->nodes[s->path[i].node].id);
    snprintf(text + n, sizeof text - n, "%s%" PRIu64, n >= sizeof text - 60 ? "... -> " : "", c->nodes[node].id);
    return fc_chakra_fail(c, c->nodes[node].record, "nodes depend on each other: %s", text);
}

/* Puts a node behind all that it depends on. */
static enum fc_code place_node(struct search *s, uint32_t first, struct fc_chakra_order *order)
{
    s->path[0] = (struct step){first, 0};
    s->depth = 1;
    s->open[first] = 1;
    while (s->depth) {
        struct step *at = &s->path[s->depth - 1];
        const struct fc_chakra_node *node = &s->c->nodes[at->node];
        if (at->next == node->n_before) {
            order->event[at->node] = order->n;
            order->order[order->n++] = at->node;
            s->open[at->node] = 0;
            s->depth--;
            continue;
        }
        const struct fc_chakra_dependency *d = &s->c->before[node->before + at->next++];
        if (d->node == FC_NONE || d->dropped || order->event[d->node] != FC_NONE) continue;
        if (s->open[d->node]) return refuse_cycle(s, d->node);
        s->open[d->node] = 1;
        s->path[s->depth++] = (struct step){d->node, 0};
    }
    return FC_OK;
}

enum fc_code fc_chakra_sort(struct fc_chakra *c, struct fc_arena *arena, struct fc_chakra_order *order)
{
    size_t n = c->n_nodes;
    struct search s = {.c = c};
    if (n >= FC_NONE) return fc_chakra_fail(c, 0, "more than 2^32 nodes");
    if (find_nodes(c, arena)) return c->st->code;
    order->n = 0;
    order->order = fc_alloc(arena, n, sizeof *order->order, c->st);
    order->event = fc_alloc(arena, n, sizeof *order->event, c->st);
    s.path = fc_alloc(arena, n, sizeof *s.path, c->st);
    s.number = fc_alloc(arena, n, sizeof *s.number, c->st);
    s.low = fc_alloc(arena, n, sizeof *s.low, c->st);
    s.component = fc_alloc(arena, n, sizeof *s.component, c->st);
    s.stack = fc_alloc(arena, n, sizeof *s.stack, c->st);
    s.open = fc_alloc(arena, n, sizeof *s.open, c->st);
    if (c->st->code) return c->st->code;
    memset(order->event, 0xff, n * sizeof *order->event);
    memset(s.component, 0xff, n * sizeof *s.component);
    drop_control_cycles(&s);
    for (uint32_t i = 0; i < n; i++)
        if (order->event[i] == FC_NONE && place_node(&s, i, order)) return c->st->code;
    return FC_OK;
}
