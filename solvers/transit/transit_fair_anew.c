/* transit_fair_anew.c - max-min fair rates of all flows at once: water filling from nothing.
 *
 * All flows rise together; the link of least (capacity - sum of w r over flows that stopped) / (sum of w over those
 * that rise) fills first, and its flows stop there (Bertsekas & Gallager, Data Networks, 2nd ed. 1992, section
 * 6.5.2; shares w as in tests/maxmin.c). The rates are those of fc_fair_solve, to rounding, and so is the state that is
 * left to it. A link's level never falls while others fill, so its key may lag behind and is put right when it is
 * the least.
 *
 * Limits: sums are kept by subtraction: a level is right to some 1e-13 of the link's capacity. Costs every entry
 * of every flow twice, half of what looking for what changes costs when everything does. */
#include "solvers/transit/transit_fair.h"

#include <stdlib.h>

#define SAME 1e-10 /* a rate that differs by less has not changed */

/* What decides about a link, close together: flows visit links at random. */
struct fc_fair_sums {
    double spare, active; /* left by flows that have stopped; sum of the weights of all others, */
    uint32_t n_active;    /* and how many they are */
};

/* What was added last is last, so this is what additions alone make it. */
static double weight_of(const struct fc_fair *f, const struct fc_fair_link *l)
{
    double sum = 0;
    for (const struct fc_fair_on *o = f->on + l->first, *end = o + l->n_flows; o < end; o++) sum += o->weight;
    return sum;
}

static void start_links(struct fc_fair *f)
{
    for (uint32_t i = 0; i < f->n_links; i++) {
        struct fc_fair_link *l = &f->link[i];
        if (!fc_fair_is_ready(l)) continue;
        l->n_bound = 0;
        l->level = INFINITY;
        l->loose = false;
        if (f->mix && f->mix[i].stirred) {
            l->capacity = fc_fair_mixed(f, i);
            f->mix[i].stirred = false;
        }
        if (l->n_flows == 0) continue;
        if (!l->in_order) l->weight = weight_of(f, l);
        l->in_order = true;
        f->sums[i] = (struct fc_fair_sums){l->capacity, l->weight, l->n_flows};
        l->place = f->lows.n;
        f->at_hand[l->place] = i;
        f->lows.n++;
        fc_lows_set(&f->lows, l->place, l->capacity / l->weight);
    }
}

/* The flow has its bottleneck at the link, at this level. */
static inline void stop(struct fc_fair *f, uint32_t flow, uint32_t link, double level)
{
    struct fc_fair_flow *x = &f->flow[flow];
    double old = x->rate;
    for (const struct fc_fair_entry *e = f->entry + x->first, *end = e + x->n; e < end; e++) {
        struct fc_fair_sums *s = &f->sums[e->link];
        s->spare -= e->weight * level;
        s->active -= e->weight;
        s->n_active--;
    }
    x->bottleneck = link;
    x->state = FC_FAIR_LIVING;
    x->rate = f->pace[flow] = level;
    if (fabs(level - old) > SAME * old) f->changed[f->n_changed++] = flow;
}

static void fill_links(struct fc_fair *f)
{
    uint32_t place = 0;
    double least = 0;
    for (;;) {
        double key = fc_lows_least(&f->lows, &place);
        if (isinf(key)) return;
        uint32_t link = f->at_hand[place];
        const struct fc_fair_sums *s = &f->sums[link];
        double level = s->n_active > 0 ? s->spare / s->active : INFINITY;
        if (level < least) level = least; /* by rounding */
        if (level > key * (1 + 1e-12)) {
            fc_lows_set(&f->lows, place, level);
            continue;
        }
        fc_lows_set(&f->lows, place, INFINITY);
        least = level;
        struct fc_fair_link *l = &f->link[link];
        l->level = level;
        uint32_t n = 0;
        for (const struct fc_fair_on *o = f->on + l->first, *end = o + l->n_flows; o < end; o++) {
            __builtin_prefetch(&f->flow[o->flow]);
            f->sharing[n] = o->flow;
            n += f->pace[o->flow] == INFINITY;
        }
        for (uint32_t k = 0; k < n; k++) {
            if (k + FC_FAIR_AHEAD < n) fc_fair_call_in(f, f->sharing[k + FC_FAIR_AHEAD]);
            stop(f, f->sharing[k], link, level);
        }
        l->n_bound = n;
    }
}

enum fc_code fc_fair_solve_anew(struct fc_fair *f)
{
    if (!f->sums && !(f->sums = malloc(((size_t)f->n_links + 1) * sizeof *f->sums)))
        return fc_out_of_memory(f->st, "%u links", f->n_links);
    for (size_t i = 0; i < f->n_given; i++) f->link[f->given[i].link].capacity = f->given[i].capacity;
    f->n_changed = f->n_came = f->n_loose = f->n_stirred = f->n_given = 0;
    for (size_t i = 0; i < f->n_flows; i++)
        if (f->flow[i].state & FC_FAIR_LIVING) f->flow[i].state = FC_FAIR_LIVING, f->pace[i] = INFINITY;
    start_links(f);
    fill_links(f);
    for (uint32_t i = 0; i < f->lows.n; i++) {
        struct fc_fair_link *l = &f->link[f->at_hand[i]];
        l->used = l->capacity - f->sums[f->at_hand[i]].spare;
        l->place = FC_NONE;
    }
    fc_lows_clear(&f->lows);
    return FC_OK;
}
