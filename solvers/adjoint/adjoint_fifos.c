/* adjoint_fifos.c - what the start of a message that waits for its node's injection FIFOs (transit_fifos.c) depends on.
 *
 * It begins at t, when the others of its node have moved some bytes more than at t_0, when it left. With M(t) what those under way at t
 * have moved until then, R their rates together, and M_0, R_0 the same at t_0, an early or a late time or another rate shifts t by
 *
 *     R dt = - dM(t)                        all that they had left was before it
 *     R dt = - dM(t) + R_0 dt_0 + dM(t_0)   the FIFOs held no more: so many bytes
 *
 * where, with steps of rates r_k - r_k-1 at the times t_k of a message, and rates r that lasted so long,
 *
 *     dM = sum over messages under way of  - sum_k (r_k - r_k-1) dt_k + sum dr x lasted.
 *
 * M is one running sum a node. Of it nothing is kept but a log of what changes it: a message's new step and rate, and its end, after
 * which it has none of M (what it moved is its bytes, whenever it did). A wait is an entry's cost, whoever is under way. Gone through
 * backwards, x is the derivative by -M from all waits that come later, and X its integral over time from now on: a message whose end was
 * passed when they were x_e, and a rate that ended when the integral was X_b, have
 *
 *     (r_k - r_k-1) (x - x_e)   of step k,     X - X_b - x_e (t_b - t)   of the rate, from t to t_b.
 *
 * So each entry is looked at once, and what happened outside of a message's life says nothing of it. Where nobody has waited for long,
 * all get their end in the log though they go on; of what comes then the next wait has one step of each again, the time at which it had
 * moved what it has.
 *
 * What the node's links had brought until t_0 counts as what the FIFOs hold: its own slope, that of the node's links over R, holds only
 * for delays shorter than a FIFO takes to fill, and says nothing of longer ones. Where meetings are kept the others come and go along
 * with the message: its wait has of each rate what it has of R.
 *
 * Limits: sums are doubles; a derivative that is below 1e-12 of what it is the difference of is none. Griewank & Walther, Evaluating
 * Derivatives, SIAM 2008, ch. 3. */
#include "solvers/adjoint/adjoint_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING 1e-12 /* of the numbers that it is the difference of */
enum { SLOPES = FC_MEETINGS_KEPT };

/* The node at which the message had moved what it has by now; it goes on from there. */
static uint32_t moved_by(struct fc_adjoint *a, uint32_t message, double now_s)
{
    struct fc_adjoint_share *x = &a->shares->share[message];
    uint32_t *stop = &a->shares->sent[message].stop;
    fc_adjoint_note_all(a, message, now_s);
    if (a->lost) return 0;
    uint32_t node = fc_adjoint_add_end(
        a, (struct fc_adjoint_end){x->steps, x->stretches, *stop, x->departs, x->all_rate, x->all_rate});
    x->steps = fc_adjoint_with(a, FC_NONE, node, x->all_rate);
    *stop = x->stretches;
    return x->steps;
}

/* The node's sum is kept from now on: what those under way have moved until now is one step of each. O(them). */
static void keep_sum(struct fc_adjoint *a, uint32_t src, double now_s)
{
    struct fc_adjoint_shares *s = a->shares;
    struct fc_adjoint_sender *sender = &s->sender[src];
    if (sender->logged) return;
    *sender = (struct fc_adjoint_sender){.first = sender->first, .logged = sender->first != FC_NONE};
    for (uint32_t m = sender->first; m != FC_NONE && !a->lost; m = s->sent[m].after) {
        bool rated = s->share[m].all_rate > 0;
        uint32_t step = rated ? moved_by(a, m, now_s) : FC_NONE, f = m;
        sender->rate += s->share[m].all_rate;
        sender->n_rated += rated;
        do {
            s->share[f].logged = true;
            if (s->seen[f].rate_number != FC_NONE)
                fc_adjoint_log_add(a, f, f == m ? step : FC_NONE, s->seen[f].rate_number, now_s);
            f = s->share[f].next;
        } while (f != m);
    }
}

/* The node of one more use of the sum. */
static uint32_t use(struct fc_adjoint *a, struct fc_adjoint_use use, enum fc_adjoint_cost cost)
{
    struct fc_adjoint_shares *s = a->shares;
    fc_adjoint_log_time(a, use.now_s);
    use.before = s->last_use;
    use.n_entries = a->n_entries;
    if (a->lost || !fc_adjoint_grow(a, (void **)&a->use, &a->use_capacity, a->n_uses + 1, sizeof *a->use)) return 0;
    a->use[a->n_uses] = use;
    return s->last_use = fc_adjoint_add(a, 0, cost, (uint32_t)a->n_uses++, 1);
}

uint32_t fc_adjoint_queues(struct fc_adjoint *a, uint32_t src, double now_s)
{
    struct fc_adjoint_shares *s = a->shares;
    if (a->lost || !s) return FC_NONE;
    keep_sum(a, src, now_s);
    s->sender[src].n_since = 0;
    if (a->lost || !(s->sender[src].rate > 0)) return FC_NONE;
    return use(a, (struct fc_adjoint_use){.now_s = now_s, .rate = s->sender[src].rate, .src = src, .queued = FC_NONE},
               FC_COST_MOVED);
}

void fc_adjoint_waits(struct fc_adjoint *a, uint64_t id, uint32_t src, uint32_t queued, double waited_s, double now_s)
{
    struct fc_adjoint_shares *s = a->shares;
    if (a->lost || !s) return;
    keep_sum(a, src, now_s);
    s->sender[src].n_since = 0;
    uint32_t departs = a->departs[fc_adjoint_slot(id)];
    double rate = s->sender[src].rate;
    struct fc_adjoint_use waits = {
        .now_s = now_s, .rate = rate, .waited_s = waited_s, .src = src, .queued = queued, .departs = departs};
    if (!a->lost)
        fc_adjoint_departs(
            a, id, rate > 0 ? use(a, waits, FC_COST_WAIT) : fc_adjoint_add(a, departs, FC_COST_OTHER, 0, waited_s));
}

void fc_adjoint_follows(struct fc_adjoint *a, uint64_t id, uint32_t before, int class, double packet_s)
{
    if (!a->lost) fc_adjoint_departs(a, id, fc_adjoint_add(a, before, FC_COST_CLASS, (uint32_t) class, packet_s));
}

/* ---- back through it ---- */

/* The derivative by -M of a node, its integral from since_s on; in the last view that by the node's rate instead. */
struct fc_adjoint_back_node {
    double slope[SLOPES], integral[FC_GRADIENTS], since_s;
    uint32_t n_uses; /* that had a derivative */
};
/* A flow: the same at the end of its message, and at that of its rate, until_s. */
struct fc_adjoint_back_flow {
    double slope[SLOPES], integral[FC_GRADIENTS], until_s;
    uint32_t src;
    float share;
    uint32_t n_uses; /* of the node, at the end of its message */
};

bool fc_adjoint_open_reader(const struct fc_adjoint *a, struct fc_adjoint_reader *r)
{
    *r = (struct fc_adjoint_reader){.at = a->n_entries};
    if (a->n_uses == 0) return true;
    r->node = calloc(a->net->n_nodes, sizeof *r->node);
    r->flow = calloc(a->n_log_flows + (size_t)1, sizeof *r->flow);
    return r->node && r->flow;
}

void fc_adjoint_close_reader(struct fc_adjoint_reader *r)
{
    free(r->node);
    free(r->flow);
}

static inline double integral(const struct fc_adjoint_back_node *n, int k, double now_s)
{
    return n->integral[k] + n->slope[k] * (n->since_s - now_s);
}

/* Its message has ended here, none of its rates lasts longer. */
static void read_end(struct fc_adjoint_reader *r, const struct fc_adjoint_entry *e)
{
    const struct fc_adjoint_back_node *n = &r->node[e->of.src];
    struct fc_adjoint_back_flow *f = &r->flow[e->flow];
    f->src = e->of.src;
    f->share = e->of.share;
    f->n_uses = n->n_uses;
    f->until_s = r->now_s;
    for (int k = 0; k < SLOPES; k++) {
        f->slope[k] = n->slope[k];
        f->integral[k] = integral(n, k, r->now_s);
    }
    f->integral[FC_MEETINGS_KEPT] = n->integral[FC_MEETINGS_KEPT];
}

static inline double difference(double x, double y)
{
    double d = x - y;
    return fabs(d) > NOTHING * fabs(y) ? d : 0;
}

/* From here on it had a rate, until until_s. */
static void read_rate(const struct fc_adjoint *a, struct fc_adjoint_reader *r, const struct fc_adjoint_entry *e,
                      struct fc_adjoint_marks *nodes, struct fc_adjoint_marks *rates)
{
    struct fc_adjoint_back_flow *f = &r->flow[e->flow];
    const struct fc_adjoint_back_node *n = &r->node[f->src];
    if (n->n_uses == f->n_uses) return; /* nobody has needed to know since it ended: all differences are 0 */
    double lasted_s = f->until_s - r->now_s, slope[SLOPES], lasted[FC_GRADIENTS];
    bool stepped = false, lasts = false;
    for (int k = 0; k < SLOPES; k++) {
        double now = integral(n, k, r->now_s);
        slope[k] = difference(n->slope[k], f->slope[k]);
        lasted[k] = difference(now, f->integral[k] + f->slope[k] * lasted_s);
        f->integral[k] = now;
        stepped = stepped || slope[k] != 0;
        lasts = lasts || lasted[k] != 0;
    }
    lasted[FC_MEETINGS_KEPT] = difference(n->integral[FC_MEETINGS_KEPT], f->integral[FC_MEETINGS_KEPT]);
    f->integral[FC_MEETINGS_KEPT] = n->integral[FC_MEETINGS_KEPT];
    f->until_s = r->now_s;
    if (lasts || lasted[FC_MEETINGS_KEPT] != 0) {
        struct fc_adjoint_lanes *of = fc_adjoint_mark(rates, e->rate);
        for (int k = 0; k < FC_GRADIENTS; k++) of->v[k] += (float)(f->share * lasted[k]);
    }
    if (!stepped || e->step == FC_NONE) return;
    struct fc_adjoint_lanes *of = fc_adjoint_mark(nodes, a->step[e->step].node);
    for (int k = 0; k < SLOPES; k++) of->v[k] += (float)(a->step[e->step].more * slope[k]);
}

/* The entries from `to` on. */
static void read_log(const struct fc_adjoint *a, struct fc_adjoint_reader *r, size_t to, struct fc_adjoint_marks *nodes,
                     struct fc_adjoint_marks *rates)
{
    while (r->at > to) {
        const struct fc_adjoint_entry *e = &a->entry[--r->at];
        if (e->rate == FC_ADJOINT_ENTRY_TIME)
            r->now_s = e->time_s;
        else if (e->rate == FC_ADJOINT_ENTRY_END)
            read_end(r, e);
        else if (e->rate == FC_ADJOINT_ENTRY_SHARE)
            r->flow[e->flow].share = e->of.share;
        else
            read_rate(a, r, e, nodes, rates);
    }
}

void fc_adjoint_divide_use(const struct fc_adjoint *a, struct fc_adjoint_reader *r, uint32_t number, bool waits,
                           const struct fc_adjoint_lanes *by, struct fc_adjoint_marks *nodes,
                           struct fc_adjoint_marks *rates)
{
    const struct fc_adjoint_use *u = &a->use[number];
    const struct fc_adjoint_use *before = u->before != FC_NONE ? &a->use[a->node[u->before].what & 0x0fffffff] : NULL;
    struct fc_adjoint_back_node *n = &r->node[u->src];
    double bytes = waits ? 1 / u->rate : 1;
    struct fc_adjoint_lanes of = {{0}};
    read_log(a, r, u->n_entries, nodes, rates); /* at the last use: of what comes later nothing depends on the sum */
    r->now_s = u->now_s;
    for (int k = 0; k < SLOPES; k++) {
        n->integral[k] = integral(n, k, u->now_s);
        of.v[k] = (float)(by->v[k] * bytes);
        n->slope[k] += of.v[k];
    }
    n->since_s = u->now_s;
    n->n_uses += by->v[0] != 0 || by->v[1] != 0 || by->v[2] != 0 || by->v[3] != 0;
    if (waits) {
        n->integral[FC_MEETINGS_KEPT] += by->v[FC_MEETINGS_KEPT] * u->waited_s * bytes;
        fc_adjoint_mark(nodes, u->departs)->v[FC_MEETINGS_KEPT] += by->v[FC_MEETINGS_KEPT];
    }
    if (waits && u->queued != FC_NONE) {
        double rate = a->use[a->node[u->queued].what & 0x0fffffff].rate;
        struct fc_adjoint_lanes *departs = fc_adjoint_mark(nodes, u->departs);
        for (int k = 0; k < SLOPES; k++) departs->v[k] += (float)(of.v[k] * rate);
        struct fc_adjoint_lanes *queued = fc_adjoint_mark(nodes, u->queued);
        for (int k = 0; k < SLOPES; k++) queued->v[k] -= of.v[k];
    }
    read_log(a, r, before ? before->n_entries : 0, nodes, rates); /* all that comes later is known */
    if (before) fc_adjoint_mark(nodes, u->before);
}
