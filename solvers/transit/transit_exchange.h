/* transit_exchange.h - nodes that carry less both ways together than each way alone (node.exchange_bandwidth).
 *
 * A message is a flow over one more link, of its two nodes, if more than node.exchange_beyond bytes are under way between
 * them when it starts, its own counted. A node that has begun a message with one partner counts none with others until it is
 * over: with several partners at once its ports are what limits it. */
#pragma once

#include "models/models.h"

/* What goes on between a node and one other, both ways. */
struct fc_exchange {
    uint32_t partner, n_messages; /* partner: of n_messages > 0 */
    double bytes;                 /* of the one with the lower number: under way */
};
/* Counts a message of so many wire bytes between two nodes of exchange[n_nodes]: *pair is then the lower of them, to be told when
 * it ends, or FC_NONE, it is not counted. True: they are over their limit. O(1). */
static inline bool fc_exchange_begins(struct fc_exchange *exchange, const struct fc_machine *machine, uint32_t a,
                                      uint32_t b, double wire_bytes, uint32_t *pair)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    struct fc_exchange *x = &exchange[low], *y = &exchange[high];
    *pair = FC_NONE;
    if ((x->n_messages && x->partner != high) || (y->n_messages && y->partner != low)) return false;
    x->partner = high, y->partner = low;
    x->n_messages++, y->n_messages++;
    x->bytes += wire_bytes;
    *pair = low;
    return x->bytes > machine->exchange_beyond_bytes;
}
/* A message that was counted in `pair` is over. */
static inline void fc_exchange_ends(struct fc_exchange *exchange, uint32_t pair, double wire_bytes)
{
    struct fc_exchange *x = &exchange[pair];
    x->bytes -= wire_bytes;
    exchange[x->partner].n_messages--;
    if (--x->n_messages == 0) x->bytes = 0;
}
