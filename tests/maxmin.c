/* maxmin.c - max-min fair rates by progressive filling.
 *
 * All rates rise together from 0; when a link is full the flows that cross it are frozen at the common
 * level. With weight w_fl (the share of flow f's rate that crosses link l), frozen flows F and active
 * flows A the level at which link l fills is
 *     share_l = (capacity_l - sum_{f in F} w_fl r_f) / sum_{f in A} w_fl,
 * and the next level is the least share. The result is the only allocation in which every flow has a
 * bottleneck: a full link on which no other flow has a greater rate. Source: Bertsekas & Gallager, Data
 * Networks (2nd ed. 1992), section 6.5.2; with weights the same argument holds because every flow of a
 * link rises at the same speed.
 *
 * A link's share never falls as flows freeze (the removed rate is at most the old share), so a heap whose
 * keys may lag behind is enough: a popped key that is too low is put back. O(nnz + (F + L + put backs) log
 * L), exact up to rounding. Limits: rates are those of fluids that last for ever; latency, packets and
 * blocking are not seen. */
#include "tests/maxmin.h"

#include <math.h>

struct filling {
    uint32_t n_links, n_flows;
    const double *capacity, *weight;
    const uint64_t *first;
    const uint32_t *link;
    double *rate;
    uint32_t *bottleneck;
    uint64_t *link_first; /* [n_links + 1] flows of each link, only links that can fill */
    uint32_t *link_flow;
    double *left;       /* [n_links] capacity not yet taken by frozen flows */
    double *active;     /* [n_links] sum of weights of active flows */
    double *summed;     /* [n_links] `active` when it was last summed afresh */
    uint64_t *n_active; /* [n_links] entries of active flows: tells without rounding when none is left */
    bool *frozen;       /* [n_flows] */
    uint32_t *heap;     /* links, least key first */
    double *key;        /* [n_links] */
    uint32_t n_heap;
    struct fc_status *st;
};

static bool counts(const struct filling *f, uint64_t entry)
{
    return f->weight[entry] > 0 && isfinite(f->capacity[f->link[entry]]);
}

static enum fc_code check(const struct filling *f)
{
    for (uint64_t i = 0; i < f->first[f->n_flows]; i++) {
        uint32_t l = f->link[i];
        if (l >= f->n_links)
            return fc_refuse(f->st, FC_INPUT, "a flow crosses link %u (there are %u links)", l, f->n_links);
        if (!(f->weight[i] >= 0) || isinf(f->weight[i]))
            return fc_refuse(f->st, FC_INPUT, "a flow crosses link %u with weight %g (expected 0 or more)", l,
                             f->weight[i]);
        if (isnan(f->capacity[l]))
            return fc_refuse(f->st, FC_INPUT, "link %u has no capacity given, but a flow crosses it", l);
        if (f->weight[i] > 0 && !(f->capacity[l] > 0))
            return fc_refuse(f->st, FC_NO, "link %u has no capacity left (%g bytes/s), but a flow crosses it", l,
                             f->capacity[l]);
    }
    return FC_OK;
}

static enum fc_code allocate(struct filling *f, struct fc_arena *arena)
{
    f->link_first = fc_alloc(arena, (size_t)f->n_links + 1, sizeof *f->link_first, f->st);
    f->link_flow = fc_alloc(arena, f->first[f->n_flows], sizeof *f->link_flow, f->st);
    f->left = fc_alloc(arena, f->n_links, sizeof *f->left, f->st);
    f->active = fc_alloc(arena, f->n_links, sizeof *f->active, f->st);
    f->summed = fc_alloc(arena, f->n_links, sizeof *f->summed, f->st);
    f->n_active = fc_alloc(arena, f->n_links, sizeof *f->n_active, f->st);
    f->frozen = fc_alloc(arena, f->n_flows, sizeof *f->frozen, f->st);
    f->heap = fc_alloc(arena, f->n_links, sizeof *f->heap, f->st);
    f->key = fc_alloc(arena, f->n_links, sizeof *f->key, f->st);
    return f->st->code;
}

/* ---- heap of links ---- */

/* Equal keys go by link number, so the result does not depend on the heap's history. */
static bool before(const struct filling *f, uint32_t a, uint32_t b)
{
    return f->key[a] < f->key[b] || (f->key[a] == f->key[b] && a < b);
}

static void sink(struct filling *f, uint32_t at)
{
    uint32_t link = f->heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= f->n_heap) break;
        if (child + 1 < f->n_heap && before(f, f->heap[child + 1], f->heap[child])) child++;
        if (!before(f, f->heap[child], link)) break;
        f->heap[at] = f->heap[child];
        at = child;
    }
    f->heap[at] = link;
}

static double share(const struct filling *f, uint32_t link)
{
    return fmax(f->left[link], 0) / f->active[link];
}

/* ---- filling ---- */

static void start(struct filling *f)
{
    for (uint32_t l = 0; l < f->n_links; l++) f->left[l] = f->capacity[l];
    for (uint32_t flow = 0; flow < f->n_flows; flow++) {
        f->rate[flow] = INFINITY;
        if (f->bottleneck) f->bottleneck[flow] = FC_NONE;
        for (uint64_t i = f->first[flow]; i < f->first[flow + 1]; i++) {
            if (!counts(f, i)) continue;
            f->n_active[f->link[i]]++;
            f->active[f->link[i]] += f->weight[i];
        }
    }
    for (uint32_t l = 0; l < f->n_links; l++) f->link_first[l + 1] = f->link_first[l] + f->n_active[l];
    for (uint32_t flow = f->n_flows; flow-- > 0;) /* from behind, so each list ends up in order from link_first[l] */
        for (uint64_t i = f->first[flow + 1]; i-- > f->first[flow];)
            if (counts(f, i)) f->link_flow[f->link_first[f->link[i]] + --f->n_active[f->link[i]]] = flow;
    for (uint32_t l = 0; l < f->n_links; l++) {
        f->n_active[l] = f->link_first[l + 1] - f->link_first[l];
        if (f->n_active[l] == 0) continue;
        f->summed[l] = f->active[l];
        f->key[l] = share(f, l);
        f->heap[f->n_heap++] = l;
    }
    for (uint32_t i = f->n_heap / 2; i-- > 0;) sink(f, i);
}

/* Freezes the active flows of a full link at the level and takes their rates off every other link. */
static void freeze(struct filling *f, uint32_t full, double level)
{
    for (uint64_t j = f->link_first[full]; j < f->link_first[full + 1]; j++) {
        uint32_t flow = f->link_flow[j];
        if (f->frozen[flow]) continue;
        f->frozen[flow] = true;
        f->rate[flow] = level;
        if (f->bottleneck) f->bottleneck[flow] = full;
        for (uint64_t i = f->first[flow]; i < f->first[flow + 1]; i++) {
            if (!counts(f, i)) continue;
            uint32_t l = f->link[i];
            f->left[l] -= f->weight[i] * level;
            f->active[l] -= f->weight[i];
            f->n_active[l]--;
        }
    }
}

/* Subtracting many weights leaves their rounding behind: the sum is taken afresh from the flows left
 * whenever little of it remains (every factor of 1024, so a link's list is read O(log) times). */
static void sum_active(struct filling *f, uint32_t link)
{
    double sum = 0;
    for (uint64_t j = f->link_first[link]; j < f->link_first[link + 1]; j++) {
        uint32_t flow = f->link_flow[j];
        if (f->frozen[flow] || (j > f->link_first[link] && f->link_flow[j - 1] == flow)) continue;
        for (uint64_t i = f->first[flow]; i < f->first[flow + 1]; i++)
            if (f->link[i] == link) sum += f->weight[i];
    }
    f->active[link] = f->summed[link] = sum;
}

static void fill(struct filling *f)
{
    double level = 0;
    while (f->n_heap > 0) {
        uint32_t l = f->heap[0];
        if (f->n_active[l] == 0) { /* nothing left to freeze here */
            f->heap[0] = f->heap[--f->n_heap];
            if (f->n_heap) sink(f, 0);
            continue;
        }
        if (f->active[l] < f->summed[l] / 1024) sum_active(f, l);
        double now = share(f, l);
        if (now > f->key[l]) {
            f->key[l] = now;
            sink(f, 0);
            if (f->heap[0] != l) continue;
        }
        level = fmax(level, now);
        freeze(f, l, level);
    }
}

enum fc_code fc_maxmin(uint32_t n_links, const double *capacity, uint32_t n_flows, const uint64_t *first,
                       const uint32_t *link, const double *weight, double *rate, uint32_t *bottleneck,
                       struct fc_status *st)
{
    struct filling f = {.n_links = n_links,
                        .n_flows = n_flows,
                        .capacity = capacity,
                        .weight = weight,
                        .first = first,
                        .link = link,
                        .rate = rate,
                        .bottleneck = bottleneck,
                        .st = st};
    struct fc_arena scratch = {0};
    enum fc_code code = check(&f);
    if (!code) code = allocate(&f, &scratch);
    if (!code) {
        start(&f);
        fill(&f);
    }
    fc_arena_free(&scratch);
    return code;
}
