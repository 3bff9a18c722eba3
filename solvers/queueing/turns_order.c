/* turns_order.c - channels in the order of the routers where they end.
 *
 * Packets meet the channels of a large network in no order, so that a round of the queueing model would wait for memory at
 * every head. The sort is stable: the channels that come to one router stay in the order in which they were met, and with
 * it every sum of the model over the inputs of an output, over the channels of a link or over the heads of a channel. */
#include "solvers/queueing/turns_internal.h"

#include <string.h>

/* Array of n things of the size, moved: what was at i is at place[i]. */
static void move(void *array, size_t size, const uint32_t *place, uint32_t n, char *scratch)
{
    char *bytes = array;
    memcpy(scratch, bytes, n * size);
    for (uint32_t i = 0; i < n; i++) memcpy(bytes + place[i] * size, scratch + i * size, size);
}

enum fc_code fc_turns_order(struct fc_turns_walk *w, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    const struct fc_network *net = w->net;
    uint32_t n = t->n_channels;
    if (t->folded) return FC_OK;
    uint32_t *next = fc_alloc(w->arena, net->n_vertices + 1ull, sizeof *next, st);
    char *scratch = fc_alloc(w->arena, n + 1ull, sizeof(uint64_t), st);
    uint32_t *place = fc_alloc(&t->arena, n + 1ull, sizeof *place, st);
    if (st->code) return st->code;
    for (uint32_t c = 0; c < n; c++) next[net->link_target[t->link[t->channel_link[c]]] + 1]++;
    for (uint32_t v = 0; v < net->n_vertices; v++) next[v + 1] += next[v];
    for (uint32_t c = 0; c < n; c++) place[c] = next[net->link_target[t->link[t->channel_link[c]]]]++;
    move(t->channel_link, sizeof *t->channel_link, place, n, scratch);
    move(t->channel_vcs, sizeof *t->channel_vcs, place, n, scratch);
    move(t->channel_key, sizeof *t->channel_key, place, n, scratch);
    move(t->channel_rate, sizeof *t->channel_rate, place, n, scratch);
    for (uint32_t s = 0; s < t->n_states; s++)
        if (t->state_in[s] != FC_NONE) t->state_in[s] = place[t->state_in[s]];
    for (uint32_t i = 0; i < t->n_choices; i++) t->choice_channel[i] = place[t->choice_channel[i]];
    t->channel_met = place; /* that met as number c is now at place[c] */
    return FC_OK;
}
