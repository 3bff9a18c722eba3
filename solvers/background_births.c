/* background_births.c - the packets of a background one by one.
 *
 * A node whose rates add up to r payload bytes/s is a Poisson process of full packets, r / P a second: the
 * gap to its next packet is -ln(1 - U) P / r. Its destination is a pair of the node, drawn by the rates: an
 * entry by binary search in their running sums, or a dense part a b and then d by the running sums of b (the
 * node itself is drawn again). Random numbers are functions of (seed, node, number of the packet), so births
 * do not depend on who asks for them when. A birth costs O(log nodes + log pairs of the node). */
#include "solvers/background.h"

#include <stdlib.h>

enum { DRAW_GAP, DRAW_PART, DRAW_DST }; /* DRAW_DST and what follows: tries */

struct sender {
    uint32_t node;
    double at;       /* tick of its next birth */
    uint64_t number; /* of that packet */
};
struct fc_births {
    struct fc_arena arena;
    uint32_t n_nodes, n_senders;
    const struct fc_demand *demand;
    double tick_s, packet_bytes;
    uint64_t seed;
    struct sender *sender; /* [n_senders] a heap by (at, node) */
    uint64_t *first;       /* [n_nodes + 1] entries of each node: */
    uint32_t *dst;         /* [first[n_nodes]] */
    double *sum;           /* [first[n_nodes]] rates of the node's entries up to this one */
    double *part_sum[4];   /* [n_nodes] b[0] + ... + b[d] of a dense part */
    double *rate;          /* [n_nodes] payload bytes/s, of everything */
};

static double random_of(const struct fc_births *x, uint32_t node, uint64_t number, uint64_t draw)
{
    uint64_t key = fc_random(x->seed, UINT64_C(0x626972746873), node); /* "births" */
    return (double)(fc_random_quick(key, number << 8 | draw) >> 11) * 0x1p-53;
}

/* ---- who sends how much ---- */

static double entries_rate(const struct fc_births *x, uint32_t node)
{
    return x->first[node + 1] > x->first[node] ? x->sum[x->first[node + 1] - 1] : 0;
}
static double part_rate(const struct fc_births *x, int part, uint32_t node)
{
    const struct fc_dense *p = &x->demand->dense[part];
    return p->a[node] * fmax(0, x->part_sum[part][x->n_nodes - 1] - p->b[node]);
}

static enum fc_code sum_up(struct fc_births *x, struct fc_status *st)
{
    const struct fc_demand *d = x->demand;
    x->first = fc_alloc(&x->arena, (size_t)x->n_nodes + 1, sizeof *x->first, st);
    x->dst = fc_alloc(&x->arena, d->n_entries, sizeof *x->dst, st);
    x->sum = fc_alloc(&x->arena, d->n_entries, sizeof *x->sum, st);
    x->rate = fc_alloc(&x->arena, x->n_nodes, sizeof *x->rate, st);
    x->sender = fc_alloc(&x->arena, x->n_nodes, sizeof *x->sender, st);
    for (int i = 0; i < d->n_dense && !st->code; i++)
        x->part_sum[i] = fc_alloc(&x->arena, x->n_nodes, sizeof(double), st);
    if (st->code) return st->code;
    for (size_t e = 0; e < d->n_entries; e++) x->first[d->src[e] + 1] += d->src[e] != d->dst[e];
    for (uint32_t n = 0; n < x->n_nodes; n++) x->first[n + 1] += x->first[n];
    for (size_t e = 0; e < d->n_entries; e++) {
        if (d->src[e] == d->dst[e]) continue;
        uint64_t at = x->first[d->src[e]]++;
        x->dst[at] = d->dst[e];
        x->sum[at] = d->bytes[e];
    }
    for (uint32_t n = x->n_nodes; n > 0; n--) x->first[n] = x->first[n - 1];
    x->first[0] = 0;
    for (uint32_t n = 0; n < x->n_nodes; n++)
        for (uint64_t i = x->first[n] + 1; i < x->first[n + 1]; i++) x->sum[i] += x->sum[i - 1];
    for (int i = 0; i < d->n_dense; i++)
        for (uint32_t n = 0; n < x->n_nodes; n++)
            x->part_sum[i][n] = d->dense[i].b[n] + (n ? x->part_sum[i][n - 1] : 0);
    for (uint32_t n = 0; n < x->n_nodes; n++) {
        x->rate[n] = entries_rate(x, n);
        for (int i = 0; i < d->n_dense; i++) x->rate[n] += part_rate(x, i, n);
    }
    return FC_OK;
}

/* ---- the heap ---- */

static bool before(const struct sender *a, const struct sender *b)
{
    return a->at < b->at || (a->at == b->at && a->node < b->node);
}

static void sink(struct fc_births *x, uint32_t at)
{
    struct sender s = x->sender[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= x->n_senders) break;
        if (child + 1 < x->n_senders && before(&x->sender[child + 1], &x->sender[child])) child++;
        if (!before(&x->sender[child], &s)) break;
        x->sender[at] = x->sender[child];
        at = child;
    }
    x->sender[at] = s;
}

static double gap(const struct fc_births *x, uint32_t node, uint64_t number)
{
    return -log1p(-random_of(x, node, number, DRAW_GAP)) * x->packet_bytes / x->rate[node] / x->tick_s;
}

/* ---- births ---- */

/* The first index in low .. high - 1 whose running sum is above `value`, else the last. */
static uint64_t search(const double *sum, uint64_t low, uint64_t high, double value)
{
    for (high--; low < high;) {
        uint64_t middle = low + (high - low) / 2;
        if (sum[middle] > value)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static uint32_t draw_of_part(const struct fc_births *x, int part, uint32_t node, uint64_t number)
{
    const double *sum = x->part_sum[part];
    for (uint64_t draw = DRAW_DST; draw < 256; draw++) {
        double value = random_of(x, node, number, draw) * sum[x->n_nodes - 1];
        uint32_t dst = (uint32_t)search(sum, 0, x->n_nodes, value);
        if (dst != node) return dst;
    }
    uint32_t other = node ? 0 : 1; /* nearly all of b is the node's own: the first of the others */
    while (!(x->demand->dense[part].b[other] > 0) || other == node) other++;
    return other;
}

static uint32_t draw_destination(const struct fc_births *x, uint32_t node, uint64_t number)
{
    double value = random_of(x, node, number, DRAW_PART) * x->rate[node], entries = entries_rate(x, node);
    if (value < entries) return x->dst[search(x->sum, x->first[node], x->first[node + 1], value)];
    value -= entries;
    int last = -1;
    for (int i = 0; i < x->demand->n_dense; i++) {
        double rate = part_rate(x, i, node);
        if (rate > 0) last = i;
        if (value < rate) return draw_of_part(x, i, node, number);
        value -= rate;
    }
    return last < 0 ? x->dst[x->first[node + 1] - 1] : draw_of_part(x, last, node, number); /* rounding */
}

uint64_t fc_births_next_tick(const struct fc_births *x)
{
    return x->n_senders && x->sender[0].at < 0x1p62 ? (uint64_t)x->sender[0].at : UINT64_MAX;
}

void fc_births_take(struct fc_births *x, uint32_t *src, uint32_t *dst)
{
    struct sender *s = &x->sender[0];
    *src = s->node;
    *dst = draw_destination(x, s->node, s->number);
    s->number++;
    s->at += gap(x, s->node, s->number);
    sink(x, 0);
}

enum fc_code fc_births_open(const struct fc_background *background, uint32_t n_nodes, double tick_s, uint64_t seed,
                            struct fc_births **births, struct fc_status *st)
{
    struct fc_births *x = *births = calloc(1, sizeof *x);
    if (!x) return fc_out_of_memory(st, "the background");
    x->demand = &background->demand;
    x->n_nodes = n_nodes;
    x->tick_s = tick_s;
    x->packet_bytes = background->packet_bytes;
    x->seed = seed;
    if (sum_up(x, st)) {
        fc_births_close(x);
        *births = NULL;
        return st->code;
    }
    for (uint32_t n = 0; n < x->n_nodes; n++)
        if (x->rate[n] > 0) x->sender[x->n_senders++] = (struct sender){n, gap(x, n, 0), 0};
    for (uint32_t i = x->n_senders / 2; i-- > 0;) sink(x, i);
    return FC_OK;
}

void fc_births_close(struct fc_births *x)
{
    if (!x) return;
    fc_arena_free(&x->arena);
    free(x);
}
