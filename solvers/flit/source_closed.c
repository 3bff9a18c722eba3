/* source_closed.c - closed loop: finite message lists, cut into packets and sent as fast as they go. The
 * lists are made in source_lists.c.
 *
 * An entry of the demand is `messages` messages of bytes / messages each (rounded to a whole number, at least
 * 1 where there are bytes); a dense part's a[s] b[d] bytes are messages of message_bytes and a shorter last
 * one. A message is cut into packets of payload P = packet.max - packet.header, the last one shorter; a
 * packet has ceil((payload + header) / flit) flits, at least ceil(packet.min / flit); a message of 0 bytes is
 * one packet. Messages between tasks of one node never enter the network.
 *
 * Packet number i of a node is born at i x gap. in_order: flow by flow as the demand lists them, entries
 * before dense parts. Else in rounds: round k sends packet k to each destination that has more than k, in a
 * random order of destinations that is the same in all rounds with the same number of them, as the all-to-all
 * of Adiga et al., IBM J. Res. Dev. 49(2/3), 2005 is read. The order is a permutation computed, not stored: a
 * keyed Feistel network on the next power of two with cycle walking (Black & Rogaway, CT-RSA 2002), then a
 * keyed rotation; flows are kept with the most packets first so that those of round k are a prefix. So
 * all-to-all on n nodes takes O(n) memory and O(1) a packet. Limits: at most 2^32 - 2 packets a flow and
 * flows a node; small orders (2, 3 destinations) are not exactly uniform. */
#include "solvers/flit/source.h"

#include <math.h>

static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* The halves are `low` and `high` bits wide and take turns, so every round is invertible. */
uint32_t fc_flit_shuffled(uint64_t key, uint32_t n, uint32_t at)
{
    if (n < 2) return 0;
    int bits = 32 - __builtin_clz(n - 1), low = bits / 2, high = bits - low;
    uint32_t low_mask = (1u << low) - 1, high_mask = (uint32_t)((UINT64_C(1) << high) - 1);
    uint32_t x = at;
    do {
        uint32_t l = x & low_mask, h = x >> low;
        for (uint64_t round = 0; round < 6; round += 2) {
            h ^= (uint32_t)(mix(key + round * UINT64_C(0x9E3779B97F4A7C15) + l) >> 32) & high_mask;
            l ^= (uint32_t)(mix(key + (round + 1) * UINT64_C(0x9E3779B97F4A7C15) + h) >> 32) & low_mask;
        }
        x = h << low | l;
    } while (x >= n);
    uint64_t turned = (uint64_t)x + (mix(key ^ n) >> 32) * n / (UINT64_C(1) << 32);
    return (uint32_t)(turned >= n ? turned - n : turned);
}

/* ---- order ----------------------------------------------------------------------------------------------- */

/* Sparse flows of the node with more than `round` packets: a prefix of its list. */
static uint32_t active_sparse(const struct fc_flit_closed *c, uint32_t node, uint64_t round)
{
    const uint32_t *flow = c->flow + c->flow_first[node];
    uint32_t n = (uint32_t)(c->flow_first[node + 1] - c->flow_first[node]), low = 0, high = n;
    if (n == 0 || fc_flit_entry_flow(c, flow[n - 1]).packets > round) return n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (fc_flit_entry_flow(c, flow[middle]).packets > round)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t active_dense(const struct fc_flit_closed *c, uint32_t task, int part, uint64_t round)
{
    size_t at = (size_t)task * (size_t)c->n_parts + (size_t)part;
    if (c->most[at] <= round) return 0;
    uint32_t first = c->part_first[part], low = 0, high = c->part_first[part + 1] - first;
    if (c->least[at] > round) return high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (fc_flit_dense_flow(c, task, part, c->target[first + middle]).packets > round)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t active(const struct fc_flit_closed *c, uint32_t node, uint64_t round)
{
    uint32_t n = active_sparse(c, node, round);
    for (uint64_t i = c->task_first[node]; i < c->task_first[node + 1]; i++)
        for (int p = 0; p < c->n_parts; p++) n += active_dense(c, c->task[i], p, round);
    return n;
}

/* Flow number `at` of those active in the round. */
static struct fc_flit_flow flow_in_round(const struct fc_flit_closed *c, uint32_t node, uint64_t round, uint32_t at)
{
    uint32_t n = active_sparse(c, node, round);
    if (at < n) return fc_flit_entry_flow(c, c->flow[c->flow_first[node] + at]);
    at -= n;
    for (uint64_t i = c->task_first[node];; i++)
        for (int p = 0; p < c->n_parts; p++) {
            n = active_dense(c, c->task[i], p, round);
            if (at < n) return fc_flit_dense_flow(c, c->task[i], p, c->target[c->part_first[p] + at]);
            at -= n;
        }
}

/* Flow number `at` of all of the node; false behind the last. */
static bool flow_in_list(const struct fc_flit_closed *c, uint32_t node, uint64_t at, struct fc_flit_flow *flow)
{
    uint64_t n = c->flow_first[node + 1] - c->flow_first[node], targets = c->part_first[c->n_parts];
    if (at < n) {
        *flow = fc_flit_entry_flow(c, c->flow[c->flow_first[node] + at]);
        return true;
    }
    at -= n;
    if (targets == 0 || at / targets >= c->task_first[node + 1] - c->task_first[node]) return false;
    uint32_t place = (uint32_t)(at % targets), task = c->task[c->task_first[node] + at / targets];
    int p = 0;
    while (place >= c->part_first[p + 1]) p++;
    *flow = fc_flit_dense_flow(c, task, p, c->target[place]);
    return true;
}

static void emit(const struct fc_flit_traffic *t, uint32_t node, const struct fc_flit_flow *f, uint64_t k,
                 struct fc_flit_source *source)
{
    const struct fc_flit_closed *c = &t->closed;
    source->born = (uint64_t)fmin(rint((double)source->number * c->gap_ticks), 0x1p62);
    source->dst = f->dst_node;
    source->flits = fc_flit_packet_flits(c, f, k);
    source->random = (uint32_t)(fc_random(t->key, node, source->number) >> 32);
    source->tag = f->tag;
}

/* The packet at the cursor or the first behind it that enters the network. cursor = round << 32 | place in
 * its order. */
static void seek_round(const struct fc_flit_traffic *t, uint32_t node, struct fc_flit_source *source)
{
    const struct fc_flit_closed *c = &t->closed;
    uint64_t round = source->cursor >> 32, key = mix(t->key + node * UINT64_C(0x9E3779B97F4A7C15));
    uint32_t at = (uint32_t)source->cursor, n = active(c, node, round);
    for (;; at++) {
        if (at >= n) {
            n = active(c, node, ++round);
            at = 0;
        }
        if (n == 0) break;
        struct fc_flit_flow f = flow_in_round(c, node, round, fc_flit_shuffled(key, n, at));
        if (f.dst_node == node) continue;
        source->cursor = round << 32 | at;
        emit(t, node, &f, round, source);
        return;
    }
    source->born = UINT64_MAX;
}

/* The same in the demand's order. cursor = flow << 32 | packet of the flow. */
static void seek_list(const struct fc_flit_traffic *t, uint32_t node, struct fc_flit_source *source)
{
    const struct fc_flit_closed *c = &t->closed;
    uint64_t at = source->cursor >> 32, k = source->cursor & UINT32_MAX;
    for (struct fc_flit_flow f; flow_in_list(c, node, at, &f); at++, k = 0) {
        if (f.dst_node == node || k >= f.packets) continue;
        source->cursor = at << 32 | k;
        emit(t, node, &f, k, source);
        return;
    }
    source->born = UINT64_MAX;
}

static void seek(const struct fc_flit_traffic *t, uint32_t node, struct fc_flit_source *source)
{
    if (t->closed.in_order) {
        if (t->closed.outside)
            fc_flit_outside_seek(t, node, source);
        else
            seek_list(t, node, source);
    } else
        seek_round(t, node, source);
}

void fc_flit_closed_first(const struct fc_flit_traffic *traffic, uint32_t node, struct fc_flit_source *source)
{
    *source = (struct fc_flit_source){0};
    seek(traffic, node, source);
}

/* No carry over the halves of the cursor: packets of a flow and places of an order stay below 2^32 - 1. */
void fc_flit_closed_next(const struct fc_flit_traffic *traffic, uint32_t node, struct fc_flit_source *source)
{
    source->number++;
    source->cursor++;
    seek(traffic, node, source);
}
