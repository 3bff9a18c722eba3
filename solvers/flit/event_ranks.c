/* event_ranks.c - the packet-event engine over ranks: each has some of the blocks, and at the end of a window it sends one
 * message to every rank with which it shares links.
 *
 * The window is that of threads (event_run.c): the least time in which a head or a token crosses from block to block, so what a
 * rank learns at its end is in time (conservative synchronisation by lookahead; Chandy & Misra, IEEE Trans. Softw. Eng.
 * 5(5), 1979; Nicol, J. ACM 40(2), 1993). A rank waits for its neighbours only, not for all. A message has
 *
 *     {arrivals, returns}     of every pair of blocks, the sender's first: two 32-bit numbers each
 *     the arrivals (packets that start on a link into the other block), then the returns (tokens), pair by pair
 *
 * 72 bytes a packet, 24 a return of tokens. Without memory for a message an empty one is sent, and the advance fails. Limits:
 * what all ranks have of the network (CSR, routing tables, tables of sources) is not divided. */
#include "solvers/flit/event.h"

#include <stdlib.h>
#include <string.h>

struct fc_event_peers {
    int n;
    int *rank;                  /* [n] ascending */
    struct fc_parcel *out, *in; /* [n] */
    uint64_t exchanges, messages, bytes;
};
/* Of a pair of blocks; the pairs of a message: block i of the sender, block j of the receiver at i n_here + j. */
struct pair {
    uint32_t n_arrivals, n_back;
};
_Static_assert(sizeof(struct fc_event_arrival) % 8 == 0 && sizeof(struct fc_event_return) % 8 == 0,
               "parcels of 8 bytes");

static int rank_of(const struct fc_event_engine *e, uint32_t vertex)
{
    return e->vertex_block[vertex] / e->n_here;
}

enum fc_code fc_event_peers_make(struct fc_event_engine *e, struct fc_status *st)
{
    const struct fc_network *net = e->flit->net;
    struct fc_event_peers *peers = fc_alloc(&e->arena, 1, sizeof *peers, st);
    bool *shares = peers ? fc_alloc(&e->arena, (size_t)e->ranks->size, sizeof *shares, st) : NULL;
    if (!shares) return st->code;
    for (uint32_t l = 0; l < net->n_links; l++) {
        bool from = fc_event_here(e, net->link_source[l]), to = fc_event_here(e, net->link_target[l]);
        if (from != to) shares[rank_of(e, from ? net->link_target[l] : net->link_source[l])] = true;
    }
    for (int r = 0; r < e->ranks->size; r++) peers->n += shares[r];
    size_t n = (size_t)peers->n;
    peers->rank = fc_alloc(&e->arena, n, sizeof *peers->rank, st);
    peers->out = fc_alloc(&e->arena, n, sizeof *peers->out, st);
    peers->in = fc_alloc(&e->arena, n, sizeof *peers->in, st);
    if (st->code) return st->code;
    for (int r = 0, at = 0; r < e->ranks->size; r++)
        if (shares[r]) peers->rank[at++] = r;
    e->peers = peers;
    return FC_OK;
}

void fc_event_peers_free(struct fc_event_engine *e)
{
    for (int i = 0; e->peers && i < e->peers->n; i++) {
        free(e->peers->out[i].bytes);
        free(e->peers->in[i].bytes);
    }
}

/* ---- messages -------------------------------------------------------------------------------------------- */

static char *put(char *to, const void *from, size_t bytes)
{
    if (bytes) memcpy(to, from, bytes);
    return to + bytes;
}

/* Empties the outboxes of this rank's blocks for those of a rank into the message. */
static void pack(struct fc_event_engine *e, int parity, int rank, struct fc_parcel *out)
{
    size_t n_pairs = (size_t)e->n_here * (size_t)e->n_here, bytes = n_pairs * sizeof(struct pair);
    for (size_t k = 0; k < n_pairs; k++) {
        const struct fc_event_outbox *box =
            fc_event_outbox_at(e, parity, e->first_block + (int)k / e->n_here, rank * e->n_here + (int)k % e->n_here);
        bytes += box->n_arrivals * sizeof *box->arrival + box->n_back * sizeof *box->back;
    }
    out->n = 0;
    if (!fc_parcel_room(out, bytes)) {
        e->block[e->first_block].out_of_memory = true;
        return;
    }
    char *at = (char *)out->bytes + n_pairs * sizeof(struct pair);
    for (size_t k = 0; k < n_pairs; k++) {
        struct fc_event_outbox *box =
            fc_event_outbox_at(e, parity, e->first_block + (int)k / e->n_here, rank * e->n_here + (int)k % e->n_here);
        ((struct pair *)out->bytes)[k] = (struct pair){box->n_arrivals, box->n_back};
        at = put(at, box->arrival, box->n_arrivals * sizeof *box->arrival);
        at = put(at, box->back, box->n_back * sizeof *box->back);
        box->n_arrivals = box->n_back = 0;
    }
    out->n = bytes;
}

void fc_event_exchange(struct fc_event_engine *e, int parity)
{
    struct fc_event_peers *peers = e->peers;
    for (int i = 0; i < peers->n; i++) {
        pack(e, parity, peers->rank[i], &peers->out[i]);
        peers->bytes += peers->out[i].n;
    }
    e->ranks->exchange(e->ranks, peers->n, peers->rank, peers->out, peers->in);
    peers->messages += (uint64_t)peers->n;
    peers->exchanges++;
}

void fc_event_read_ranks(struct fc_event_block *block)
{
    struct fc_event_engine *e = block->engine;
    size_t n_pairs = (size_t)e->n_here * (size_t)e->n_here;
    if (block->exchange_read == e->peers->exchanges) return;
    block->exchange_read = e->peers->exchanges;
    for (int i = 0; i < e->peers->n; i++) {
        const struct fc_parcel *in = &e->peers->in[i];
        if (in->n == 0) continue;
        const struct pair *pair = in->bytes;
        const char *at = (const char *)in->bytes + n_pairs * sizeof *pair;
        for (size_t k = 0; k < n_pairs; k++) {
            const void *arrivals = at, *back = at + pair[k].n_arrivals * sizeof(struct fc_event_arrival);
            at = (const char *)back + pair[k].n_back * sizeof(struct fc_event_return);
            if (e->first_block + (int)k % e->n_here == block->index)
                fc_event_read_outbox(block, arrivals, pair[k].n_arrivals, back, pair[k].n_back);
        }
    }
}

/* ---- what all ranks know --------------------------------------------------------------------------------- */

void fc_event_share(const struct fc_event_engine *e, struct fc_event_totals *t)
{
    uint64_t sum[] = {t->packets, t->flits, t->live_sources, t->sources_waiting, t->out_of_memory},
             most[] = {t->last_move, t->last_delivery, t->longest_wait};
    e->ranks->sum(e->ranks, sum, FC_COUNT(sum));
    e->ranks->greatest(e->ranks, most, FC_COUNT(most));
    *t = (struct fc_event_totals){sum[0], sum[1], sum[2], sum[3], sum[4], most[0], most[1], most[2]};
}

void fc_event_tell_exchanged(const struct fc_event_engine *e, struct fc_flit_state *state)
{
    state->windows = e->peers->exchanges;
    state->messages = e->peers->messages;
    state->message_bytes = e->peers->bytes;
    state->neighbours = e->peers->n;
}

static int by_channel(const void *a, const void *b)
{
    const struct fc_flit_blocked *x = a, *y = b;
    return (x->channel > y->channel) - (x->channel < y->channel);
}

/* What a rank has: n, n_wanted, the heads, the channels. */
enum fc_code fc_event_gather_blocked(const struct fc_event_engine *e, struct fc_arena *arena,
                                     struct fc_flit_blocked **blocked, uint32_t *n, uint32_t **wanted,
                                     uint32_t n_wanted, struct fc_status *st)
{
    const struct fc_ranks *ranks = e->ranks;
    struct fc_parcel out = {0}, in = {0};
    size_t *first = fc_alloc(arena, (size_t)ranks->size + 1, sizeof *first, st);
    size_t bytes = 8 + *n * sizeof **blocked + n_wanted * sizeof **wanted;
    if (!st->code && !fc_parcel_room(&out, bytes)) fc_out_of_memory(st, "blocked packets");
    if (!fc_ranks_agree(ranks, st)) {
        char *at = put(out.bytes, n, 4);
        at = put(at, &n_wanted, 4);
        at = put(at, *blocked, *n * sizeof **blocked);
        put(at, *wanted, n_wanted * sizeof **wanted);
        out.n = bytes;
        ranks->gather(ranks, &out, &in, first);
        size_t most = in.n / sizeof **blocked + 1, n_all = 0, wanted_all = 0;
        *blocked = fc_alloc(arena, most, sizeof **blocked, st);
        *wanted = *blocked ? fc_alloc(arena, in.n / sizeof **wanted + 1, sizeof **wanted, st) : NULL;
        for (int r = 0; *wanted && r < ranks->size; r++) {
            const char *from = (const char *)in.bytes + first[r];
            uint32_t size[2];
            memcpy(size, from, sizeof size);
            memcpy(*blocked + n_all, from + 8, size[0] * sizeof **blocked);
            memcpy(*wanted + wanted_all, from + 8 + size[0] * sizeof **blocked, size[1] * sizeof **wanted);
            for (size_t i = n_all; i < n_all + size[0]; i++) (*blocked)[i].first_wanted += (uint32_t)wanted_all;
            n_all += size[0];
            wanted_all += size[1];
        }
        *n = (uint32_t)n_all;
        if (*wanted) qsort(*blocked, n_all, sizeof **blocked, by_channel);
    }
    free(out.bytes);
    free(in.bytes);
    return st->code;
}
