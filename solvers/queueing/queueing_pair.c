/* queueing_pair.c - what one pair's packets wait, from the network's fixed point.
 *
 * A packet of the pair is followed by the kernel's own routing functions. At every router its head waits W_set of
 * the choices that it has there (queueing.c (2)), for room (5), and before, in the channel that it came by, behind
 * others ((3), (4)); at its source M/G/1. Where it may choose, outputs share as (1 - rho)^2, as in turns.c. WALKS
 * packets (for classes a quarter of them), whose random words take all values of the bits that decide ties in turn,
 * give the mean over the pair's ways; the variance is that of the waits along a way (W^2 + 2/3 t W each, queueing.c) plus that of the ways' means. The sum over
 * all pairs, by their rates, is the network's mean.
 * Limits: those of queueing.c. A way that no packet of the (sampled) turns took waits as the mean of its links. */
#include "solvers/queueing/queueing_pair.h"
#include "solvers/queueing/turns_internal.h"

#include <stdlib.h>

enum { WALKS = 64, MOST_PAIRS = 4096 };

struct fc_queueing_pairs {
    struct fc_arena arena;
    const struct fc_queueing *queueing;
    const struct fc_turns *turns;
    struct fc_turns_walk w; /* the routers only */
    uint32_t *by_key;       /* [n_channels] ascending by channel_key */
    uint64_t *key;          /* [n_channels] the keys in that order */
};

struct keyed {
    uint64_t key;
    uint32_t channel;
};
static int ascending(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static enum fc_code sort_channels(struct fc_queueing_pairs *p, struct fc_status *st)
{
    const struct fc_turns *t = p->turns;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct keyed *list = fc_alloc(&scratch, t->n_channels + 1ull, sizeof *list, st);
    p->by_key = fc_alloc(&p->arena, t->n_channels + 1ull, sizeof *p->by_key, st);
    p->key = fc_alloc(&p->arena, t->n_channels + 1ull, sizeof *p->key, st);
    for (uint32_t c = 0; c < t->n_channels && !st->code; c++) list[c] = (struct keyed){t->channel_key[c], c};
    if (!st->code) qsort(list, t->n_channels, sizeof *list, ascending);
    for (uint32_t i = 0; i < t->n_channels && !st->code; i++) {
        p->key[i] = list[i].key;
        p->by_key[i] = list[i].channel;
    }
    return st->code;
}

enum fc_code fc_queueing_pairs_open(const struct fc_queueing *queueing, const struct fc_flit_settings *settings,
                                    struct fc_queueing_pairs **pairs, struct fc_status *st)
{
    struct fc_arena arena = {0};
    struct fc_queueing_pairs *p = fc_alloc(&arena, 1, sizeof *p, st);
    *pairs = NULL;
    if (!p) return st->code;
    const struct fc_turns *t = fc_queueing_turns(queueing);
    p->arena = arena; /* holds p itself too */
    p->queueing = queueing;
    p->turns = t;
    p->w.net = t->net;
    p->w.turns = (struct fc_turns *)t; /* read only: flits_mean */
    if (!sort_channels(p, st) && !fc_flit_prepare(t->net, settings, &p->w.flit, st)) {
        fc_turns_routers(&p->w, settings);
        p->w.seed = fc_random(settings->seed, UINT64_C(0x70616972), 0);
        *pairs = p;
    } else {
        arena = p->arena;
        fc_arena_free(&arena);
    }
    return st->code;
}

void fc_queueing_pairs_close(struct fc_queueing_pairs *pairs)
{
    if (!pairs) return;
    fc_flit_unprepare(&pairs->w.flit);
    struct fc_arena arena = pairs->arena;
    fc_arena_free(&arena);
}

/* ---- one packet ---- */

static uint32_t no_queue(const void *engine, uint32_t link)
{
    (void)engine;
    (void)link;
    return 0;
}

/* The turns' channel of a mask on a link of the network; FC_NONE: no packet of the turns used it. */
static uint32_t channel_of(const struct fc_queueing_pairs *p, uint32_t link, uint16_t vcs)
{
    uint64_t key = (uint64_t)(p->turns->orbit ? p->turns->orbit[link] : link) << 16 | vcs;
    uint32_t low = 0, high = p->turns->n_channels;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->key[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->turns->n_channels && p->key[low] == key ? p->by_key[low] : FC_NONE;
}

/* Mean over the channels of the link that are known, for a head or a queue on one that is not. */
static double link_wait(const struct fc_queueing_pairs *p, uint32_t link)
{
    return fc_queueing_link_wait(p->queueing)[p->turns->orbit ? p->turns->orbit[link] : link];
}

/* Choices of a head with their shares of the traffic; escapes only where there is nothing else. */
struct choices {
    struct fc_flit_choice out[FC_TURNS_MOST_SET];
    uint32_t channel[FC_TURNS_MOST_SET], n;
    double share[FC_TURNS_MOST_SET];
    bool known; /* all channels are */
};
static void find_choices(const struct fc_queueing_pairs *p, uint32_t vertex, uint32_t in_link, int in_vc,
                         const struct fc_flit_head *head, struct choices *c)
{
    const struct fc_turns *t = p->turns;
    int n = p->w.flit.route->choices(&p->w.flit, vertex, in_link, in_vc, head, c->out);
    bool free = false;
    double sum = 0;
    c->n = 0;
    c->known = true;
    for (int i = 0; i < n; i++) free = free || !c->out[i].escape;
    for (int i = 0; i < n; i++) {
        if (free && c->out[i].escape) continue;
        uint32_t m = c->n++, l = t->orbit ? t->orbit[c->out[i].link] : c->out[i].link;
        c->out[m] = c->out[i];
        c->channel[m] = channel_of(p, c->out[m].link, c->out[m].vcs);
        c->known = c->known && c->channel[m] != FC_NONE;
        sum += c->share[m] = fc_turns_weight(t, t->rate[l] * t->service[l] / t->max_service_rate);
    }
    for (uint32_t i = 0; i < c->n; i++) c->share[i] /= sum;
}

/* The choice where the running sum of shares passes x in 0..1. */
static uint32_t pick(const struct choices *c, double x)
{
    uint32_t i = 0;
    for (; i + 1 < c->n && x >= c->share[i]; i++) x -= c->share[i];
    return i;
}

struct way {
    double zero_load, wait, variance; /* cycles */
    uint32_t hops;
};
static void add_wait(struct way *way, double wait, double service)
{
    way->wait += wait;
    way->variance += wait * wait + 2.0 / 3 * service * wait;
}

static struct way follow(const struct fc_queueing_pairs *p, uint32_t src, uint32_t dst, uint64_t number)
{
    const struct fc_network *net = p->w.net;
    const struct fc_turns *t = p->turns;
    static const struct fc_flit_view view = {NULL, no_queue, no_queue};
    uint64_t own = fc_random_quick(p->w.seed, (uint64_t)src * net->n_nodes + dst), bits = fc_random_quick(own, number);
    struct fc_flit_head head = {.dst = dst,
                                .random = ((uint32_t)(bits >> 32) & 0xffff0000) | (uint32_t)((own + number) & 0xffff)};
    head.route = p->w.flit.route->start(&p->w.flit, src, dst, head.random, &view);
    uint32_t vertex = fc_node_vertex(net, src), in = FC_NONE, in_link = FC_NONE, links = 0;
    struct fc_turns_alone alone = {0};
    struct way way = {0};
    int in_vc = 0;
    while (links == 0 || !fc_is_node(net, vertex)) {
        struct choices c;
        find_choices(p, vertex, in_link, in_vc, &head, &c);
        uint32_t i = pick(&c, (double)(fc_random_quick(bits, links) >> 11) * 0x1p-53);
        bool at_source = in_link == FC_NONE, head_known = c.known && (at_source || in != FC_NONE);
        uint32_t l = t->orbit ? t->orbit[c.out[i].link] : c.out[i].link;
        double head_wait =
            head_known ? fc_queueing_head_wait(p->queueing, in, c.n, c.channel, c.share) : link_wait(p, c.out[i].link);
        add_wait(&way, head_wait, t->service[l]);
        in = c.channel[i];
        in_link = c.out[i].link;
        in_vc = __builtin_ctz(c.out[i].vcs);
        head.route = c.out[i].route;
        if (in != FC_NONE) add_wait(&way, fc_queueing_channel_wait(p->queueing, in), t->service[l]);
        bool from_router = vertex < net->n_routers;
        vertex = net->link_target[in_link];
        fc_turns_hop(&p->w, &alone, net->link_class[in_link], from_router, fc_is_node(net, vertex));
        links++;
    }
    way.zero_load = alone.tail / p->w.flit.ticks_per_cycle;
    way.hops = links - 2;
    return way;
}

/* ---- pairs ---- */

/* Sums over packets, by weight. */
struct sums {
    double weight, hops, zero_load, mean, square, variance, least;
};
static void add_pair(const struct fc_queueing_pairs *p, uint32_t src, uint32_t dst, uint32_t walks, double weight,
                     struct sums *sums)
{
    for (uint32_t i = 0; i < walks; i++) {
        struct way way = follow(p, src, dst, i);
        double part = weight / walks, cycles = way.zero_load + way.wait;
        if (sums->weight == 0 || way.zero_load < sums->least) sums->least = way.zero_load;
        sums->weight += part;
        sums->hops += part * way.hops;
        sums->zero_load += part * way.zero_load;
        sums->mean += part * cycles;
        sums->square += part * cycles * cycles;
        sums->variance += part * way.variance;
    }
}

static void merge(struct sums *all, const struct sums *one)
{
    if (all->weight == 0 || one->least < all->least) all->least = one->least;
    all->weight += one->weight;
    all->hops += one->hops;
    all->zero_load += one->zero_load;
    all->mean += one->mean;
    all->square += one->square;
    all->variance += one->variance;
}

static struct fc_pair_answer finish(const struct sums *s, double factor)
{
    struct fc_pair_answer a = {.hops_mean = s->hops / s->weight, .zero_load_cycles = s->zero_load / s->weight};
    double mean = s->mean / s->weight;
    double sd = sqrt(fmax(0, s->square / s->weight - mean * mean) + s->variance / s->weight);
    a.latency_mean_cycles = factor * mean;
    a.latency_sd_cycles = factor * sd;
    a.latency_p95_cycles = factor * fc_queueing_quantile(0.95, s->least, mean, sd);
    a.latency_p99_cycles = factor * fc_queueing_quantile(0.99, s->least, mean, sd);
    return a;
}

static enum fc_code check(const struct fc_queueing_pairs *p, struct fc_status *st)
{
    if (isnan(fc_queueing_solved_cycles(p->queueing)))
        return fc_refuse(st, FC_NO, "no latency of single pairs (expected a load below saturation, solved before)");
    return FC_OK;
}

enum fc_code fc_queueing_pair(const struct fc_queueing_pairs *pairs, uint32_t source, uint32_t target, double factor,
                              struct fc_pair_answer *answer, struct fc_status *st)
{
    uint32_t n = pairs->w.net->n_nodes;
    struct sums sums = {0};
    if (source >= n || target >= n)
        return fc_refuse(st, FC_INPUT, "pair %u-%u: the machine has nodes 0 to %u", source, target, n - 1);
    if (check(pairs, st)) return st->code;
    add_pair(pairs, source, target, WALKS, 1, &sums);
    *answer = finish(&sums, factor);
    return FC_OK;
}

/* ---- classes ---- */

struct classes {
    const struct fc_queueing_pairs *p;
    struct sums *sums; /* [FC_MOST_HOPS_CLASSES] */
};
static void classify(struct classes *c, uint32_t src, uint32_t dst, double weight)
{
    struct sums one = {0};
    if (!(weight > 0)) return;
    add_pair(c->p, src, dst, WALKS / 4, weight, &one);
    uint32_t hops = (uint32_t)lround(one.hops / one.weight);
    merge(&c->sums[hops < FC_MOST_HOPS_CLASSES ? hops : FC_MOST_HOPS_CLASSES - 1], &one);
}

/* A dense part: all its pairs, or `most` of them by senders in order and receivers spread
 * evenly. */
static enum fc_code dense(struct classes *c, const struct fc_dense *part, uint32_t n, uint32_t most,
                          struct fc_arena *scratch, struct fc_status *st)
{
    if ((uint64_t)n * n <= most) {
        for (uint32_t s = 0; s < n; s++)
            for (uint32_t d = 0; d < n; d++) classify(c, s, d, part->a[s] * part->b[d]);
        return FC_OK;
    }
    double *a = fc_alloc(scratch, n, sizeof *a, st), *b = a ? fc_alloc(scratch, n, sizeof *b, st) : NULL;
    if (!b) return st->code;
    double sum_a = 0, sum_b = 0;
    for (uint32_t i = 0; i < n; i++) {
        a[i] = sum_a += part->a[i];
        b[i] = sum_b += part->b[i];
    }
    for (uint32_t i = 0; i < most && sum_a > 0 && sum_b > 0; i++) {
        uint32_t s = fc_turns_find(a, n, (i + 0.5) / most * sum_a);
        double x = (i * UINT32_C(0x9e3779b9)) * 0x1p-32; /* multiples of the golden section, modulo 1 */
        classify(c, s, fc_turns_find(b, n, x * sum_b), sum_a * sum_b / most);
    }
    return FC_OK;
}

static void entries(struct classes *c, const struct fc_demand *demand, uint32_t most)
{
    double sum = 0, all = 0;
    if (demand->n_entries <= most) {
        for (size_t i = 0; i < demand->n_entries; i++) classify(c, demand->src[i], demand->dst[i], demand->bytes[i]);
        return;
    }
    for (size_t i = 0; i < demand->n_entries; i++) all += demand->bytes[i];
    uint32_t next = 0;
    for (size_t i = 0; i < demand->n_entries && next < most; i++) {
        uint32_t drawn = 0;
        for (sum += demand->bytes[i]; next < most && (next + 0.5) / most * all < sum; next++) drawn++;
        classify(c, demand->src[i], demand->dst[i], drawn * all / most);
    }
}

enum fc_code fc_queueing_by_hops(const struct fc_queueing_pairs *pairs, const struct fc_demand *demand, double factor,
                                 struct fc_hops_class *class, uint32_t *n, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct classes c = {.p = pairs};
    double all = 0;
    *n = 0;
    c.sums = fc_alloc(&scratch, FC_MOST_HOPS_CLASSES, sizeof *c.sums, st);
    if (!c.sums || check(pairs, st)) return st->code;
    int parts = demand->n_dense + (demand->n_entries > 0);
    if (demand->n_entries) entries(&c, demand, MOST_PAIRS / (uint32_t)parts);
    for (int d = 0; d < demand->n_dense; d++)
        if (dense(&c, &demand->dense[d], demand->n_tasks, MOST_PAIRS / (uint32_t)parts, &scratch, st)) return st->code;
    for (uint32_t h = 0; h < FC_MOST_HOPS_CLASSES; h++) all += c.sums[h].weight;
    for (uint32_t h = 0; h < FC_MOST_HOPS_CLASSES; h++)
        if (c.sums[h].weight > 0)
            class[(*n)++] = (struct fc_hops_class){h, c.sums[h].weight / all, finish(&c.sums[h], factor)};
    return st->code;
}
