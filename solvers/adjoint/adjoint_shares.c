/* adjoint_shares.c - what the rates of messages that share links have of each bandwidth.
 *
 * A flow's max-min fair rate is the level of its bottleneck link l (transit_fair.c),
 *
 *     level = (C_l - sum over flows j of lower levels of w_j r_j) / sum of the weights of all others there
 *
 * a linear function of bandwidths and of the r_j, which have lower levels and so are known. Each flow keeps dr / d ln b of
 * every class of links and of some single links, a vector whose parts sum up to r (Euler). It is made anew where a solve
 * changed the rate. Its integral over the time that a message takes, over the last rate, is what the message's end has of each
 * bandwidth. When rates are found anew is a node of the tape: the start or the end of a message.
 *
 * One link that is a bottleneck beside others, which fill at the same level, binds when it becomes slower and does not when
 * it becomes faster: two numbers each. Flows of the same level as the link's count as its own. What mixing leaves of a link
 * (transit_fair_mix.c) depends on who is there, and so is a factor of C_l.
 *
 * Limits: what a message that starts in a crowd waits for its rate (transit_contention.c) counts as if its narrowest link
 * alone held it up. Flows whose rate stays as it was keep their vector. */
#include "solvers/adjoint/adjoint.h"
#include "solvers/load_internal.h"
#include "solvers/transit/transit_fair.h"
#include "solvers/transit/transit_fifos.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME 1e-9 /* levels that differ by less are equal */

struct share {
    uint32_t message, next; /* as in transit_contention.c */
    uint32_t steps;         /* of a message: its last one */
    uint32_t seen;          /* last place in changed[] */
    uint32_t solve;         /* of the last step */
    uint32_t departs;
    uint32_t src, before, after;  /* of a message: node; its messages under way, in a list, FC_NONE at the ends */
    uint8_t crosses;              /* bits of the links looked at one by one */
    double start_s, since_s;      /* since_s: up to then is in the sums */
    double share, rate, all_rate; /* bytes/s; all_rate: of a message */
};
struct fc_adjoint_shares {
    struct share *share; /* [flow] */
    double *by, *moved;  /* [flow][width] dr / d ln b; its integral */
    size_t share_capacity, by_capacity, moved_capacity;
    uint32_t *place; /* [n_links] where its level is, of solve stamp[link] */
    uint32_t *stamp;
    uint8_t *which; /* [n_links] 1 + its number among the links looked at one by one; 0: none of them */
    uint32_t n_links, solve, n_levels;
    double *level; /* [n_levels][width] */
    size_t level_capacity;
    uint32_t *sender;   /* [n_nodes] the first of its messages under way, or FC_NONE */
    uint32_t *happened; /* [n_happened] nodes because of which rates are found at due_s */
    size_t n_happened, happened_capacity;
    double due_s;
};

static void close_shares(struct fc_adjoint_shares *s)
{
    free(s->share);
    free(s->by);
    free(s->moved);
    free(s->place);
    free(s->stamp);
    free(s->which);
    free(s->level);
    free(s->sender);
    free(s->happened);
    free(s);
}

/* NULL: lost. */
static struct fc_adjoint_shares *shares_of(struct fc_adjoint *a, const struct fc_fair *fair)
{
    struct fc_adjoint_shares *s = a->shares;
    if (a->lost) return NULL;
    if (s) return s;
    s = a->shares = calloc(1, sizeof *s);
    a->close_shares = close_shares;
    if (s) {
        s->n_links = fair->n_links;
        s->due_s = INFINITY;
        s->place = calloc(s->n_links + 1ull, sizeof *s->place);
        s->stamp = calloc(s->n_links + 1ull, sizeof *s->stamp);
        s->which = calloc(s->n_links + 1ull, sizeof *s->which);
        s->sender = malloc((a->net->n_nodes + 1ull) * sizeof *s->sender);
    }
    a->lost = !s || !s->place || !s->stamp || !s->which || !s->sender;
    for (uint32_t i = 0; !a->lost && i < a->net->n_nodes; i++) s->sender[i] = FC_NONE;
    for (int i = 0; !a->lost && i < a->n_links; i++) s->which[a->link[i]] = (uint8_t)(i + 1);
    return a->lost ? NULL : s;
}

/* ---- messages ---- */

static struct share *new_share(struct fc_adjoint *a, const struct fc_fair *fair, uint32_t flow, double share)
{
    struct fc_adjoint_shares *s = shares_of(a, fair);
    size_t width = (size_t)a->width;
    if (!s || !fc_adjoint_grow(a, (void **)&s->share, &s->share_capacity, flow + 1ull, sizeof *s->share) ||
        !fc_adjoint_grow(a, (void **)&s->by, &s->by_capacity, (flow + 1ull) * width, sizeof *s->by) ||
        !fc_adjoint_grow(a, (void **)&s->moved, &s->moved_capacity, (flow + 1ull) * width, sizeof *s->moved))
        return NULL;
    struct share *x = &s->share[flow];
    *x = (struct share){
        .message = flow, .next = flow, .steps = FC_NONE, .solve = FC_NONE, .src = FC_NONE, .share = share};
    memset(s->by + flow * width, 0, width * sizeof *s->by);
    memset(s->moved + flow * width, 0, width * sizeof *s->moved);
    const struct fc_fair_flow *f = &fair->flow[flow];
    for (uint32_t i = f->first; a->n_links && i < f->first + f->n; i++) {
        uint8_t which = s->which[fair->entry[i].link];
        if (which) x->crosses |= (uint8_t)(1 << (which - 1));
    }
    return x;
}

void fc_adjoint_begins(struct fc_adjoint *a, const struct fc_fair *fair, uint64_t id, uint32_t flow, double start_s,
                       double share, uint32_t src)
{
    struct share *x = new_share(a, fair, flow, share);
    if (!x) return;
    x->start_s = x->since_s = start_s;
    x->departs = a->departs[fc_adjoint_slot(id)];
    x->src = src;
    if (src == FC_NONE) return;
    x->before = FC_NONE;
    x->after = a->shares->sender[src];
    if (x->after != FC_NONE) a->shares->share[x->after].before = flow;
    a->shares->sender[src] = flow;
}

/* It is no longer under way. */
static void leave_sender(struct fc_adjoint_shares *s, const struct share *x)
{
    if (x->src == FC_NONE) return;
    *(x->before == FC_NONE ? &s->sender[x->src] : &s->share[x->before].after) = x->after;
    if (x->after != FC_NONE) s->share[x->after].before = x->before;
}

void fc_adjoint_joins(struct fc_adjoint *a, const struct fc_fair *fair, uint32_t message, uint32_t flow, double share)
{
    struct share *x = new_share(a, fair, flow, share);
    if (!x) return;
    struct share *first = &a->shares->share[message];
    x->message = message;
    x->next = first->next;
    x->since_s = first->start_s;
    first->next = flow;
}

static void sum_up(const struct fc_adjoint *a, struct share *x, uint32_t flow, double now_s)
{
    size_t width = (size_t)a->width;
    double lasted = x->share * (now_s - x->since_s), *moved = a->shares->moved + flow * width;
    const double *by = a->shares->by + flow * width;
    for (size_t p = 0; p < width; p++) moved[p] += lasted * by[p];
    x->since_s = now_s;
}

/* The node at which a message had moved what it has moved by now. */
static uint32_t moved_by(struct fc_adjoint *a, uint32_t message, double now_s)
{
    size_t width = (size_t)a->width;
    if (a->lost ||
        !fc_adjoint_grow(a, (void **)&a->end_by, &a->end_capacity, (a->n_ends + 1) * width, sizeof *a->end_by))
        return 0;
    struct fc_adjoint_shares *s = a->shares;
    struct share *first = &s->share[message];
    float *end_by = a->end_by + a->n_ends * width;
    uint32_t f = message;
    double *total = s->moved + message * width;
    sum_up(a, first, message, now_s);
    while ((f = s->share[f].next) != message) {
        sum_up(a, &s->share[f], f, now_s);
        for (size_t p = 0; p < width; p++) total[p] += s->moved[f * width + p];
    }
    for (size_t p = 0; p < width; p++) end_by[p] = (float)(total[p] / first->all_rate);
    return fc_adjoint_add(a, first->steps, FC_COST_END, (uint32_t)a->n_ends++, first->all_rate);
}

uint32_t fc_adjoint_ends(struct fc_adjoint *a, uint32_t message, double now_s)
{
    uint32_t end = moved_by(a, message, now_s);
    if (!a->lost) leave_sender(a->shares, &a->shares->share[message]);
    return end;
}

/* ---- instants ---- */

/* One more of several; the new list, FC_NONE: lost. */
static uint32_t with(struct fc_adjoint *a, uint32_t list, uint32_t node, double more)
{
    if (!fc_adjoint_grow(a, (void **)&a->step, &a->step_capacity, a->n_steps + 1, sizeof *a->step)) return FC_NONE;
    a->step[a->n_steps] = (struct fc_adjoint_step){list, node, (float)more};
    return (uint32_t)a->n_steps++;
}

/* ---- waiting for a FIFO ---- */

/* From now on the message goes on from one node, of what it has moved by now; that node. */
static uint32_t go_on(struct fc_adjoint *a, uint32_t message, double now_s)
{
    struct fc_adjoint_shares *s = a->shares;
    uint32_t node = moved_by(a, message, now_s), f = message;
    if (a->lost) return 0;
    do {
        memset(s->moved + f * (size_t)a->width, 0, (size_t)a->width * sizeof *s->moved);
    } while ((f = s->share[f].next) != message);
    s->share[message].steps = with(a, FC_NONE, node, s->share[message].all_rate);
    return node;
}

/* Adds, times `times`, what the rates of all parts of a message have of each bandwidth. */
static void add_rates(const struct fc_adjoint_shares *s, size_t width, uint32_t message, double times, double *sum)
{
    uint32_t f = message;
    do {
        for (size_t p = 0; p < width; p++) sum[p] += times * s->share[f].share * s->by[f * width + p];
    } while ((f = s->share[f].next) != message);
}

/* With R the others' rate, a sum of parts R_p by bandwidths, the wait w ends at
 *
 *     R t = sum r_i t_i + R w      they have no more: t_i is where message i had moved what it has
 *     t = t_departs + w            the FIFOs hold no more: w is a constant over R
 *
 * so of each bandwidth it has w R_p / R. What has come so far counts as what the FIFOs hold: its own slope, more than 1
 * by far, holds only for delays shorter than a FIFO takes to fill, and says nothing of longer ones. */
void fc_adjoint_waits(struct fc_adjoint *a, uint64_t id, uint32_t src, const struct fc_fifos_wait *wait, double now_s)
{
    struct fc_adjoint_shares *s = a->shares;
    size_t width = (size_t)a->width;
    if (a->lost || !s ||
        !fc_adjoint_grow(a, (void **)&s->level, &s->level_capacity, (s->n_levels + 1) * width, sizeof *s->level))
        return;
    double *sum = s->level + s->n_levels * width; /* of no level yet */
    uint32_t list = FC_NONE;
    memset(sum, 0, width * sizeof *sum);
    for (uint32_t m = s->sender[src]; m != FC_NONE && !a->lost; m = s->share[m].after) {
        if (!(s->share[m].all_rate > 0)) continue;
        add_rates(s, width, m, wait->s / wait->rate, sum);
        if (wait->is_all) list = with(a, list, go_on(a, m, now_s), s->share[m].all_rate);
    }
    if (!wait->is_all) list = with(a, list, a->departs[fc_adjoint_slot(id)], wait->rate);
    if (a->lost ||
        !fc_adjoint_grow(a, (void **)&a->end_by, &a->end_capacity, (a->n_ends + 1) * width, sizeof *a->end_by))
        return;
    for (size_t p = 0; p < width; p++) a->end_by[a->n_ends * width + p] = (float)sum[p];
    fc_adjoint_departs(a, id, fc_adjoint_add(a, list, FC_COST_END, (uint32_t)a->n_ends++, wait->rate));
}

/* ---- what makes rates anew ---- */

/* Is it as early as what makes rates anew so far? Then it takes part. */
static bool is_first(struct fc_adjoint *a, double due_s)
{
    struct fc_adjoint_shares *s = a->shares;
    if (a->lost || (s->n_happened && due_s > s->due_s * (1 + 1e-12))) return false;
    if (due_s < s->due_s * (1 - 1e-12)) s->n_happened = 0;
    if (!s->n_happened) s->due_s = due_s;
    return true;
}

static void happens(struct fc_adjoint *a, uint32_t node)
{
    struct fc_adjoint_shares *s = a->shares;
    if (s->n_happened && s->happened[s->n_happened - 1] == node) return;
    if (fc_adjoint_grow(a, (void **)&s->happened, &s->happened_capacity, s->n_happened + 1, sizeof *s->happened))
        s->happened[s->n_happened++] = node;
}

void fc_adjoint_happens_start(struct fc_adjoint *a, uint64_t id, double now_s, double due_s, uint32_t narrow)
{
    if (!is_first(a, due_s)) return;
    uint32_t node = a->departs[fc_adjoint_slot(id)];
    double late_s = due_s - now_s;
    node = narrow == FC_NONE ? fc_adjoint_add(a, node, FC_COST_OTHER, 0, late_s)
                             : fc_adjoint_add(a, node, FC_COST_LINK, narrow, late_s);
    happens(a, node);
}

void fc_adjoint_happens_end(struct fc_adjoint *a, uint64_t id, uint32_t end, double due_s, double late)
{
    if (!is_first(a, due_s)) return;
    if (late > 0) {
        uint32_t list = with(a, FC_NONE, a->departs[fc_adjoint_slot(id)], -late);
        list = with(a, list, end, 1 + late);
        if (!a->lost) end = fc_adjoint_add(a, list, FC_COST_SEVERAL, 0, 1);
    }
    happens(a, end);
}

static uint32_t instant(struct fc_adjoint *a)
{
    struct fc_adjoint_shares *s = a->shares;
    size_t n = s->n_happened;
    uint32_t list = FC_NONE;
    s->n_happened = 0;
    if (n < 2) return n ? s->happened[0] : 0;
    for (size_t i = 0; i < n && !a->lost; i++) list = with(a, list, s->happened[i], 1);
    return fc_adjoint_add(a, list, FC_COST_INSTANT, 0, (double)n);
}

/* ---- rates ---- */

/* Of a node's injection FIFOs: sum of r_i w_i / b_i <= F, so the sum's parts by the links behind the router. */
static void start_fifo(const struct fc_adjoint *a, const struct fc_fair *fair, uint32_t link, double *level)
{
    const struct fc_network *net = a->net;
    const struct fc_fair_link *l = &fair->link[link];
    for (const struct fc_fair_on *x = fair->on + l->first, *end = x + l->n_flows; x < end; x++) {
        const struct fc_fair_flow *flow = &fair->flow[x->flow];
        for (uint32_t k = flow->first; k < flow->first + flow->n; k++) {
            uint32_t other = fair->entry[k].link;
            if (other >= net->n_links || !fc_fifos_feed(net, link - a->first_fifo, other)) continue;
            double busy = flow->rate * fair->entry[k].weight / fc_link_bandwidth(net, other);
            int i = a->shares->which[other] - 1;
            level[net->link_class[other]] += busy;
            if (i >= 0) level[net->machine->n_classes + 1 + 2 * i] += busy;
            if (i >= 0) level[net->machine->n_classes + 2 + 2 * i] += busy;
        }
    }
}

/* C_l / d ln b, and of whom. */
static void start_level(const struct fc_adjoint *a, const struct fc_fair *fair, uint32_t link, double *level)
{
    const struct fc_network *net = a->net;
    int n_classes = net->machine->n_classes, i = link < net->n_links ? a->shares->which[link] - 1 : -1;
    for (int p = 0; p < a->width; p++) level[p] = 0;
    if (link >= a->first_fifo) {
        start_fifo(a, fair, link, level);
        return;
    }
    if (link >= net->n_links) { /* a port, or a node's memory */
        level[n_classes] = fair->link[link].capacity;
        return;
    }
    double opened = fair->mix && fair->mix[link].alone > 0 ? fair->mix[link].alone : fair->link[link].capacity;
    double all = fair->link[link].capacity * (fc_link_bandwidth(net, link) / opened);
    level[net->link_class[link]] = all;
    if (i >= 0) level[n_classes + 1 + 2 * i] = level[n_classes + 2 + 2 * i] = all;
}

/* The rate of the fastest flow on a link. */
static double fastest(const struct fc_fair *fair, uint32_t link)
{
    const struct fc_fair_link *l = &fair->link[link];
    double rate = 0;
    if (l->n_bound > 0) return l->level;
    for (const struct fc_fair_on *x = fair->on + l->first, *end = x + l->n_flows; x < end; x++)
        if (fair->flow[x->flow].rate > rate) rate = fair->flow[x->flow].rate;
    return rate;
}

/* The level of a link that is full, as a vector; all flows there that are slower have theirs. NULL: lost. */
static const double *level_of(struct fc_adjoint *a, const struct fc_fair *fair, uint32_t link)
{
    struct fc_adjoint_shares *s = a->shares;
    size_t width = (size_t)a->width;
    if (s->stamp[link] == s->solve) return s->level + s->place[link] * width;
    if (!fc_adjoint_grow(a, (void **)&s->level, &s->level_capacity, (s->n_levels + 1) * width, sizeof *s->level))
        return NULL;
    double *level = s->level + s->n_levels * width, weight = 0, rate = fastest(fair, link) * (1 - SAME);
    const struct fc_fair_link *l = &fair->link[link];
    s->stamp[link] = s->solve;
    s->place[link] = s->n_levels++;
    start_level(a, fair, link, level);
    for (const struct fc_fair_on *x = fair->on + l->first, *end = x + l->n_flows; x < end; x++) {
        const double *by = s->by + x->flow * width;
        if (fair->flow[x->flow].rate >= rate)
            weight += x->weight;
        else
            for (size_t p = 0; p < width; p++) level[p] -= x->weight * by[p];
    }
    for (size_t p = 0; p < width; p++) level[p] /= weight;
    return level;
}

static bool fills_at(const struct fc_fair *fair, uint32_t link, double rate)
{
    const struct fc_fair_link *l = &fair->link[link];
    return l->used >= l->capacity * (1 - SAME) && fastest(fair, link) <= rate * (1 + SAME);
}

/* The flow goes over links that are looked at one by one: are they bottlenecks too, or are there others beside them? */
static void look_at_links(struct fc_adjoint *a, const struct fc_fair *fair, uint32_t flow, double *by)
{
    struct fc_adjoint_shares *s = a->shares;
    const struct fc_fair_flow *f = &fair->flow[flow];
    int first = a->net->machine->n_classes + 1;
    for (int i = 0; i < a->n_links; i++) {
        uint32_t link = a->link[i];
        if (!(s->share[flow].crosses >> i & 1) || !fills_at(fair, link, f->rate)) continue;
        const double *level = level_of(a, fair, link);
        if (level) by[first + 2 * i] = level[first + 2 * i];
        if (f->bottleneck != link) continue;
        for (uint32_t k = f->first; k < f->first + f->n; k++) {
            uint32_t other = fair->entry[k].link;
            if (other == link || !fills_at(fair, other, f->rate)) continue;
            level = level_of(a, fair, other);
            if (level) by[first + 2 * i + 1] = level[first + 2 * i + 1];
            break;
        }
    }
}

static void step(struct fc_adjoint *a, uint32_t flow, double more, double now_s, uint32_t at)
{
    struct fc_adjoint_shares *s = a->shares;
    struct share *m = &s->share[s->share[flow].message];
    m->all_rate += more;
    if (m->solve == s->solve) {
        a->step[m->steps].more += (float)more;
        return;
    }
    bool begins = m->steps == FC_NONE && m->start_s >= now_s * (1 - 1e-12);
    m->steps = with(a, m->steps, begins ? m->departs : at, more);
    m->solve = s->solve;
}

void fc_adjoint_solved(struct fc_adjoint *a, const struct fc_fair *fair, double now_s)
{
    struct fc_adjoint_shares *s = shares_of(a, fair);
    if (!s) return;
    size_t width = (size_t)a->width;
    uint32_t at = instant(a);
    s->due_s = INFINITY;
    s->solve++;
    s->n_levels = 0;
    for (size_t k = 0; k < fair->n_changed; k++) s->share[fair->changed[k]].seen = (uint32_t)k;
    for (size_t k = 0; k < fair->n_changed && !a->lost; k++) { /* levels rise */
        uint32_t flow = fair->changed[k];
        struct share *x = &s->share[flow];
        if (x->seen != k) continue;
        sum_up(a, x, flow, now_s);
        const double *level = level_of(a, fair, fair->flow[flow].bottleneck);
        if (!level) return;
        double *by = s->by + flow * width;
        memcpy(by, level, width * sizeof *by);
        if (x->crosses) look_at_links(a, fair, flow, by);
        double rate = x->share * fair->flow[flow].rate;
        step(a, flow, rate - x->rate, now_s, at);
        x->rate = rate;
    }
}
