/* transit_fair.c - max-min fair rates of flows that come and go, by local water filling.
 *
 * The max-min fair rates are the only ones under which every flow has a bottleneck: a full link on which no
 * other flow has a greater rate (Bertsekas & Gallager, Data Networks, 2nd ed. 1992, section 6.5.2; with
 * shares w_fl of a flow's rate on link l as in maxmin.c). So rates that have this property need no other
 * proof:
 *
 * A flow that goes changes nobody when no flow has its bottleneck on a link that it leaves.
 *
 * A flow that comes gets r = min over its links of what is left there / w, if r > 0 and no flow on that link
 * is faster: it has its bottleneck there, and full links stay as they were. Nobody else changes.
 *
 * Else a region of flows is filled anew while all flows outside keep their rates, and the property is checked
 * for those who share a link with it: whoever is faster than a flow stopped on a link, or has lost its
 * bottleneck (the link is no longer full, or someone there is faster now), joins the region. When the rounds
 * have filled twice as many flows as there are, or three quarters of them are inside, the region becomes all
 * that is connected with it and needs no check: a solve costs at most a constant times a solve from scratch.
 *
 * The region starts with the flows that came, those whose bottleneck lost a flow, and on links that are short
 * for the newcomers all that have more than an equal share. Filling is that of maxmin.c. Rates equal those of
 * fc_maxmin to 1e-9; the tests hold them against it at every event. Nothing is allocated once the arrays have
 * grown. */
#include "solvers/transit_fair.h"
#include "solvers/transit_internal.h"

#include <math.h>
#include <stdlib.h>

#define CLOSE 1e-10 /* rates and capacities that differ by less are equal */
enum { INSIDE = 1, FROZEN = 2, LIVING = 4 };

#define RESERVE(f, array, capacity, need)                                                                    \
    fc_transit_reserve((void **)&(f)->array, &(f)->capacity, need, sizeof *(f)->array, (f)->st)

enum fc_code fc_fair_open(struct fc_fair *f, uint32_t n_links, const double *capacity, struct fc_status *st)
{
    *f = (struct fc_fair){.st = st, .n_links = n_links};
    f->link = malloc(((size_t)n_links + 1) * sizeof *f->link);
    f->loose = malloc(((size_t)n_links + 1) * sizeof *f->loose);
    if (!f->link || !f->loose) return fc_refuse(st, FC_NO, "out of memory for %u links", n_links);
    for (uint32_t l = 0; l < n_links; l++) f->link[l].capacity = capacity[l];
    fc_fair_reset(f);
    return FC_OK;
}

void fc_fair_close(struct fc_fair *f)
{
    free(f->link);
    free(f->flow);
    free(f->entry);
    free(f->free_entries);
    free(f->inside);
    free(f->heap);
    free(f->changed);
    free(f->loose);
    free(f->part);
    memset(f, 0, sizeof *f);
}

void fc_fair_reset(struct fc_fair *f)
{
    for (uint32_t l = 0; l < f->n_links; l++)
        f->link[l] =
            (struct fc_fair_link){.capacity = f->link[l].capacity, .head = FC_NONE, .place = FC_NONE};
    for (uint32_t n = 0; n < f->longest; n++) f->free_entries[n] = FC_NONE;
    f->free_flow = FC_NONE;
    f->n_flows = f->n_entries = f->n_living = f->n_inside = f->n_heap = f->n_changed = f->n_loose =
        f->n_parts = 0;
}

/* ---- flows come and go ---- */

/* A block of n entries. FC_NONE: no memory. */
static uint32_t take_entries(struct fc_fair *f, uint32_t n)
{
    while (f->longest <= n) {
        if (!RESERVE(f, free_entries, free_capacity, f->longest + 1ull)) return FC_NONE;
        f->free_entries[f->longest++] = FC_NONE;
    }
    uint32_t first = f->free_entries[n];
    if (first != FC_NONE) {
        f->free_entries[n] = f->entry[first].after;
        return first;
    }
    if (!RESERVE(f, entry, entry_capacity, f->n_entries + n)) return FC_NONE;
    first = (uint32_t)f->n_entries;
    f->n_entries += n;
    return first;
}

/* Puts the flow into the region; the array has room for all living flows. */
static inline void join(struct fc_fair *f, uint32_t flow)
{
    if (f->flow[flow].state & INSIDE) return;
    f->flow[flow].state |= INSIDE;
    f->flow[flow].place = (uint32_t)f->n_inside;
    f->inside[f->n_inside++] = flow;
}

uint32_t fc_fair_add(struct fc_fair *f, uint32_t n, const uint32_t *link, const double *weight)
{
    if (!RESERVE(f, inside, inside_capacity, f->n_living + 1) ||
        !RESERVE(f, changed, changed_capacity, 2 * f->n_living + 2) ||
        (f->free_flow == FC_NONE && !RESERVE(f, flow, flow_capacity, f->n_flows + 1)))
        return FC_NONE;
    uint32_t first = take_entries(f, n), flow = f->free_flow;
    if (first == FC_NONE) return FC_NONE;
    if (flow != FC_NONE)
        f->free_flow = f->flow[flow].first;
    else
        flow = (uint32_t)f->n_flows++;
    f->flow[flow] = (struct fc_fair_flow){0, 0, first, n, FC_NONE, FC_NONE, 0, LIVING};
    f->n_living++;
    for (uint32_t i = 0; i < n; i++) {
        struct fc_fair_link *l = &f->link[link[i]];
        f->entry[first + i] = (struct fc_fair_entry){weight[i], link[i], flow, FC_NONE, l->head};
        if (l->head != FC_NONE) f->entry[l->head].before = first + i;
        l->head = first + i;
        l->n_flows++;
        l->weight += weight[i];
    }
    join(f, flow);
    return flow;
}

void fc_fair_remove(struct fc_fair *f, uint32_t flow)
{
    struct fc_fair_flow *gone = &f->flow[flow];
    if (gone->bottleneck != FC_NONE) f->link[gone->bottleneck].n_bound--;
    for (uint32_t i = gone->first; i < gone->first + gone->n; i++) {
        const struct fc_fair_entry *e = &f->entry[i];
        struct fc_fair_link *l = &f->link[e->link];
        if (e->before == FC_NONE)
            l->head = e->after;
        else
            f->entry[e->before].after = e->after;
        if (e->after != FC_NONE) f->entry[e->after].before = e->before;
        l->used -= e->weight * gone->rate;
        l->weight -= e->weight;
        if (--l->n_flows == 0) l->used = l->weight = 0; /* without what rounding has left */
        if (l->n_bound > 0 && !l->loose) {
            l->loose = true;
            f->loose[f->n_loose++] = e->link;
        }
    }
    if (gone->state & INSIDE) { /* came since the last solve */
        uint32_t last = f->inside[--f->n_inside];
        f->inside[gone->place] = last;
        f->flow[last].place = gone->place;
    }
    f->entry[gone->first].after = f->free_entries[gone->n];
    f->free_entries[gone->n] = gone->first;
    gone->state = 0;
    gone->first = f->free_flow;
    f->free_flow = flow;
    f->n_living--;
}

/* ---- a newcomer that disturbs nobody ---- */

static void change(struct fc_fair *f, uint32_t flow, double rate, uint32_t bottleneck)
{
    struct fc_fair_flow *x = &f->flow[flow];
    if (x->bottleneck != bottleneck) {
        if (x->bottleneck != FC_NONE) f->link[x->bottleneck].n_bound--;
        f->link[bottleneck].n_bound++;
        x->bottleneck = bottleneck;
    }
    f->link[bottleneck].level = rate;
    if (fabs(rate - x->rate) <= 1e-13 * x->rate) return;
    for (uint32_t i = x->first; i < x->first + x->n; i++)
        f->link[f->entry[i].link].used += f->entry[i].weight * (rate - x->rate);
    x->rate = rate;
    f->changed[f->n_changed++] = flow;
}

static bool fits(struct fc_fair *f, uint32_t flow)
{
    const struct fc_fair_flow *x = &f->flow[flow];
    double rate = INFINITY;
    uint32_t narrow = FC_NONE;
    for (uint32_t i = x->first; i < x->first + x->n; i++) {
        const struct fc_fair_link *l = &f->link[f->entry[i].link];
        double left = l->capacity - l->used;
        if (left < rate * f->entry[i].weight) {
            if (left <= CLOSE * l->capacity) return false;
            rate = left / f->entry[i].weight;
            narrow = f->entry[i].link;
        }
    }
    for (uint32_t e = f->link[narrow].head; e != FC_NONE; e = f->entry[e].after)
        if (f->flow[f->entry[e].flow].rate > rate * (1 + CLOSE)) return false;
    change(f, flow, rate, narrow);
    return true;
}

/* ---- the region ---- */

/* On links that may be too narrow for the newcomer, those with more than an equal share join. */
static void join_fast(struct fc_fair *f, uint32_t flow)
{
    const struct fc_fair_flow *x = &f->flow[flow];
    double most = INFINITY;
    for (uint32_t i = x->first; i < x->first + x->n; i++)
        most = fmin(most, f->link[f->entry[i].link].capacity / f->entry[i].weight);
    for (uint32_t i = x->first; i < x->first + x->n; i++) {
        const struct fc_fair_link *l = &f->link[f->entry[i].link];
        if (l->capacity - l->used >= f->entry[i].weight * most) continue;
        double equal = l->capacity / l->weight * (1 + CLOSE);
        for (uint32_t e = l->head; e != FC_NONE; e = f->entry[e].after)
            if (f->flow[f->entry[e].flow].rate > equal) join(f, f->entry[e].flow);
    }
}

/* Counts flows inside from number `from` on in the parts of their links. */
static bool count_inside(struct fc_fair *f, size_t from)
{
    for (size_t k = from; k < f->n_inside; k++) {
        const struct fc_fair_flow *x = &f->flow[f->inside[k]];
        if (!RESERVE(f, part, part_capacity, f->n_parts + x->n)) return false;
        for (uint32_t i = x->first; i < x->first + x->n; i++) {
            const struct fc_fair_entry *e = &f->entry[i];
            struct fc_fair_link *l = &f->link[e->link];
            if (l->place == FC_NONE) {
                l->place = (uint32_t)f->n_parts++;
                f->part[l->place] = (struct fc_fair_part){.spare = l->capacity - l->used, .link = e->link};
            }
            struct fc_fair_part *p = &f->part[l->place];
            p->spare += e->weight * x->rate;
            p->weight += e->weight;
            p->n_inside++;
            p->n_bound += x->bottleneck == e->link;
        }
    }
    return RESERVE(f, heap, heap_capacity, f->n_parts);
}

static void sink(struct fc_fair *f, size_t at)
{
    struct fc_fair_key *heap = f->heap, moved = heap[at];
    for (;;) {
        size_t child = 4 * at + 1, end = child + 4 < f->n_heap ? child + 4 : f->n_heap, least = child;
        if (child >= f->n_heap) break;
        for (size_t k = child + 1; k < end; k++) least = heap[k].key < heap[least].key ? k : least;
        if (!(heap[least].key < moved.key)) break;
        heap[at] = heap[least];
        at = least;
    }
    heap[at] = moved;
}

static double share(const struct fc_fair_part *p)
{
    return p->left > 0 ? p->left / p->active : 0;
}

static void start_filling(struct fc_fair *f)
{
    f->n_heap = f->n_frozen = 0;
    for (uint32_t i = 0; i < f->n_parts; i++) {
        struct fc_fair_part *p = &f->part[i];
        const struct fc_fair_link *l = &f->link[p->link];
        bool all = p->n_inside == l->n_flows;
        p->left = all ? l->capacity : p->spare;
        p->active = all ? l->weight : p->weight;
        p->n_active = p->n_inside;
        p->level = INFINITY;
        p->highest = 0;
        f->heap[f->n_heap++] = (struct fc_fair_key){share(p), i};
    }
    for (size_t i = (f->n_heap + 2) / 4; i-- > 0;) sink(f, i);
    for (size_t k = 0; k < f->n_inside; k++) f->flow[f->inside[k]].state &= (uint8_t)~FROZEN;
}

/* The flows inside that cross the part's link get the level. */
static void freeze(struct fc_fair *f, struct fc_fair_part *full, double level)
{
    full->level = level;
    for (uint32_t at = f->link[full->link].head; at != FC_NONE; at = f->entry[at].after) {
        struct fc_fair_flow *x = &f->flow[f->entry[at].flow];
        if ((x->state & (INSIDE | FROZEN)) != INSIDE) continue;
        x->state |= FROZEN;
        x->next = level;
        x->next_bottleneck = full->link;
        f->n_frozen++;
        for (uint32_t i = x->first; i < x->first + x->n; i++) {
            struct fc_fair_part *p = &f->part[f->link[f->entry[i].link].place];
            p->left -= f->entry[i].weight * level;
            p->active -= f->entry[i].weight;
            p->n_active--;
            p->highest = level;
        }
    }
}

static void fill(struct fc_fair *f)
{
    double level = 0;
    start_filling(f);
    while (f->n_frozen < f->n_inside) {
        struct fc_fair_key *first = f->heap;
        struct fc_fair_part *p = &f->part[first->part];
        if (p->n_active > 0) {
            double now = share(p);
            if (now > first->key * (1 + 1e-12)) { /* it lagged behind */
                first->key = now;
                sink(f, 0);
                continue;
            }
            level = fmax(level, now);
            freeze(f, p, level);
        }
        *first = f->heap[--f->n_heap];
        sink(f, 0);
    }
}

/* Flows outside that no longer have a bottleneck, or take one's from a flow inside, join. */
static void check_outside(struct fc_fair *f)
{
    for (size_t i = 0; i < f->n_parts; i++) {
        const struct fc_fair_part *p = &f->part[i];
        const struct fc_fair_link *l = &f->link[p->link];
        if (p->n_inside == l->n_flows) continue;
        bool full = p->left <= CLOSE * l->capacity, bound = l->n_bound > p->n_bound;
        if (bound && full && p->highest <= l->level * (1 + CLOSE) && l->level <= p->level * (1 + CLOSE))
            continue;
        if (!bound && isinf(p->level)) continue;
        for (uint32_t e = l->head; e != FC_NONE; e = f->entry[e].after) {
            const struct fc_fair_flow *x = &f->flow[f->entry[e].flow];
            if (x->state & INSIDE) continue;
            bool faster = x->rate > p->level * (1 + CLOSE);
            bool lost = x->bottleneck == p->link && (!full || p->highest > x->rate * (1 + CLOSE));
            if (faster || lost) join(f, f->entry[e].flow);
        }
    }
}

/* All that is connected with the region joins. */
static bool close_region(struct fc_fair *f)
{
    size_t counted = f->n_inside;
    for (size_t i = 0; i < f->n_parts; i++) {
        for (uint32_t e = f->link[f->part[i].link].head; e != FC_NONE; e = f->entry[e].after)
            join(f, f->entry[e].flow);
        if (!count_inside(f, counted)) return false;
        counted = f->n_inside;
    }
    return true;
}

static bool solve_region(struct fc_fair *f)
{
    size_t counted = 0, work = 0;
    while (counted < f->n_inside) {
        if (!count_inside(f, counted)) return false;
        bool all = (work += f->n_inside) > 2 * f->n_living || 4 * f->n_inside > 3 * f->n_living;
        if (all && !close_region(f)) return false;
        counted = f->n_inside;
        fill(f);
        if (!all) check_outside(f);
    }
    return true;
}

static void leave_region(struct fc_fair *f)
{
    for (size_t k = 0; k < f->n_inside; k++) {
        struct fc_fair_flow *x = &f->flow[f->inside[k]];
        change(f, f->inside[k], x->next, x->next_bottleneck);
        x->state = LIVING;
    }
    for (size_t i = 0; i < f->n_parts; i++) {
        struct fc_fair_link *l = &f->link[f->part[i].link];
        l->place = FC_NONE;
        if (f->part[i].n_inside == l->n_flows) l->used = l->capacity - f->part[i].left;
    }
    f->n_inside = f->n_parts = 0;
}

/* Those whose bottleneck lost a flow may go faster. */
static void join_loose(struct fc_fair *f)
{
    for (size_t i = 0; i < f->n_loose; i++) {
        struct fc_fair_link *l = &f->link[f->loose[i]];
        l->loose = false;
        for (uint32_t e = l->head; l->n_bound > 0 && e != FC_NONE; e = f->entry[e].after)
            if (f->flow[f->entry[e].flow].bottleneck == f->loose[i]) join(f, f->entry[e].flow);
    }
    f->n_loose = 0;
}

enum fc_code fc_fair_solve(struct fc_fair *f)
{
    size_t came = f->n_inside, stay = 0;
    f->n_changed = 0;
    join_loose(f);
    if (f->n_inside == came) { /* only newcomers: those that disturb nobody are done */
        for (size_t k = 0; k < came; k++) {
            uint32_t flow = f->inside[k];
            f->flow[flow].state = LIVING;
            if (!fits(f, flow)) f->inside[stay++] = flow;
        }
        f->n_inside = 0;
        for (size_t k = 0; k < stay; k++) join(f, f->inside[k]);
        came = stay;
    }
    for (size_t k = 0; k < came; k++) join_fast(f, f->inside[k]);
    if (f->n_inside > 0 && !solve_region(f)) return f->st->code;
    leave_region(f);
    return FC_OK;
}
