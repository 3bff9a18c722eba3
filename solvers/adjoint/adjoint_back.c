/* adjoint_back.c - the derivative of a replay's time T by every parameter, in one pass from the tape's end to its beginning.
 *
 * A replay adds costs to times and takes the latest of several times. Where it takes the latest, a derivative is that of the
 * one that was latest; so a node t of the tape is
 *
 *     t = t_before + amount x cost                        an operation: o, L, g, O, G, computation, a link alone
 *     r_n t = sum_k (r_k - r_k-1) t_k + moved             the end of a transfer: rates r_1 ... r_n from the times t_k on
 *     R t = R_0 t_0 + what others have moved              the end of a wait for FIFOs (adjoint_fifos.c)
 *     t = mean of t_i                                     an instant: rates were found anew when several things happened
 *
 * and dT/dt of all nodes follows from the last one's, which is 1, against the order of their making (the adjoint, or reverse
 * mode; Griewank & Walther, Evaluating Derivatives, SIAM 2008, ch. 3). A parameter's derivative is the sum over its nodes of
 * dT/dt times what t has of it. On an ideal network that is how often the longest path has the parameter, the dual of the
 * job as a linear program (Hoefler, Schneider & Lumsdaine, HPDC'10; Shen et al., "LLAMP", SC'24). The second line is
 * the bytes of a message, W = sum_k r_k (t_k+1 - t_k), with r_0 = 0; what the rates themselves have of each
 * bandwidth is in `moved` (adjoint_shares.c). Its coefficients sum up to 1.
 *
 * T is homogeneous: twice every cost is twice the time, so that all derivatives times their parameters sum up to T
 * (Euler), but for costs that are no parameter.
 *
 * Limits: which receive takes which message, and on which of several ways a message goes, is as it was. At a corner
 * of T, where two things come last at once, one of them is taken: a derivative to one side. */
#include "core/array.h"
#include "solvers/adjoint/adjoint_internal.h"

#include <math.h>
#include <stdlib.h>

/* Sums of derivatives, in each view. */
struct sum {
    double v[FC_GRADIENTS];
};

struct sums {
    struct sum cost[FC_COST_END], bandwidth[FC_MAX_CLASSES], slower[FC_ADJOINT_LINKS], faster[FC_ADJOINT_LINKS];
    struct sum *compute; /* [n_ranks] */
    struct fc_adjoint_lanes greatest;
    uint8_t *which; /* [links] 1 + its number among those looked at one by one; NULL: there are none */
};
/* What i has, which is marked no more after. */
static inline struct fc_adjoint_lanes take_out(struct fc_adjoint_marks *x, uint32_t i)
{
    uint32_t place = x->place[i];
    if (FC_GROW(x->spare, x->spare_capacity, x->n_spare + 1)) x->spare[x->n_spare++] = place;
    return x->of[place];
}

/* The last one marked below *i, that of *i. False: there is none. */
static inline bool next(const struct fc_adjoint_marks *x, size_t *i)
{
    size_t word = *i / 64;
    uint64_t bits = *i % 64 ? x->marks[word] & ((UINT64_C(1) << *i % 64) - 1) : 0;
    while (!bits && word > 0) bits = x->marks[--word];
    if (bits) *i = 64 * word + 63 - (size_t)__builtin_clzll(bits);
    return bits != 0;
}

static inline void add(struct fc_adjoint_lanes *to, const struct fc_adjoint_lanes *by, float part)
{
    for (int k = 0; k < FC_GRADIENTS; k++) to->v[k] += by->v[k] * part;
}

static inline void add_up(struct sum *sum, const struct fc_adjoint_lanes *by, double amount)
{
    for (int k = 0; k < FC_GRADIENTS; k++) sum->v[k] += by->v[k] * amount;
}

static void add_link(const struct fc_adjoint *a, uint32_t link, const struct fc_adjoint_lanes *by, double seconds,
                     struct sums *s)
{
    int i = s->which ? s->which[link] - 1 : -1;
    add_up(&s->bandwidth[a->net->link_class[link]], by, seconds);
    if (i < 0) return;
    add_up(&s->slower[i], by, seconds);
    add_up(&s->faster[i], by, seconds);
}

/* A transfer's end, to the times at which its rate changed and to its rates. */
static void divide_end(const struct fc_adjoint *a, uint32_t number, const struct fc_adjoint_lanes *by,
                       struct fc_adjoint_marks *nodes, struct fc_adjoint_marks *rates)
{
    const struct fc_adjoint_end *end = &a->end[number];
    float last = (float)(1 / end->rate), mean = (float)(1 / end->mean_rate);
    struct fc_adjoint_lanes part = {{by->v[0] * last, by->v[1] * last, by->v[2] * last, 0}};
    struct fc_adjoint_lanes lasts = part;
    lasts.v[FC_MEETINGS_KEPT] = by->v[FC_MEETINGS_KEPT] * mean;
    uint32_t s = end->steps, t = end->stretches; /* side by side: each step waits for memory */
    while (s != FC_NONE || t != FC_NONE) {
        if (s != FC_NONE) {
            add(fc_adjoint_mark(nodes, a->step[s].node), &part, a->step[s].more);
            s = a->step[s].before;
        }
        if (t == FC_NONE) continue;
        if (t == end->stop) lasts = (struct fc_adjoint_lanes){{0, 0, 0, lasts.v[FC_MEETINGS_KEPT]}};
        if (t == end->stop && lasts.v[FC_MEETINGS_KEPT] == 0) {
            t = FC_NONE;
        } else {
            add(fc_adjoint_mark(rates, a->stretch[t].rate), &lasts, a->stretch[t].lasted_s);
            t = a->stretch[t].before;
        }
    }
    fc_adjoint_mark(nodes, end->departs)->v[FC_MEETINGS_KEPT] += by->v[FC_MEETINGS_KEPT];
}

/* To the several nodes that one depends on. */
static void divide(const struct fc_adjoint *a, const struct fc_adjoint_node *node, const struct fc_adjoint_lanes *by,
                   struct fc_adjoint_marks *nodes)
{
    for (uint32_t s = node->before; s != FC_NONE; s = a->step[s].before)
        add(fc_adjoint_mark(nodes, a->step[s].node), by, a->step[s].more / (float)node->amount);
}

/* To those of an instant: that which was noted first is the last of the list. */
static void divide_instant(const struct fc_adjoint *a, const struct fc_adjoint_node *node,
                           const struct fc_adjoint_lanes *by, struct fc_adjoint_marks *nodes)
{
    struct fc_adjoint_lanes mean = *by;
    uint32_t s = node->before;
    mean.v[FC_TIE_FIRST] = mean.v[FC_TIE_LAST] = 0;
    fc_adjoint_mark(nodes, a->step[s].node)->v[FC_TIE_LAST] += by->v[FC_TIE_LAST];
    divide(a, node, &mean, nodes);
    while (a->step[s].before != FC_NONE) s = a->step[s].before;
    fc_adjoint_mark(nodes, a->step[s].node)->v[FC_TIE_FIRST] += by->v[FC_TIE_FIRST];
}

/* What node i has, `by`, to what it is made of. True: the node before has all of it. */
static bool divide_node(const struct fc_adjoint *a, size_t i, const struct fc_adjoint_lanes *by,
                        struct fc_adjoint_marks *nodes, struct fc_adjoint_marks *rates, struct fc_adjoint_reader *log,
                        struct sums *s)
{
    const struct fc_adjoint_node *node = &a->node[i];
    uint32_t index = node->what & 0x0fffffff;
    enum fc_adjoint_cost cost = (enum fc_adjoint_cost)(node->what >> 28);
    if (cost == FC_COST_MOVED) { /* no time, but bytes */
        fc_adjoint_divide_use(a, log, index, false, by, nodes, rates);
        return false;
    }
    for (int k = 0; k < FC_GRADIENTS; k++) {
        float size = fabsf(by->v[k]);
        s->greatest.v[k] = size > s->greatest.v[k] ? size : s->greatest.v[k];
    }
    switch (cost) {
    case FC_COST_COMPUTE: add_up(&s->compute[index], by, node->amount); break;
    case FC_COST_LINK: add_link(a, index, by, node->amount, s); break;
    case FC_COST_CLASS: add_up(&s->bandwidth[index], by, node->amount); break;
    case FC_COST_END: divide_end(a, index, by, nodes, rates); return false;
    case FC_COST_SEVERAL: divide(a, node, by, nodes); return false;
    case FC_COST_WAIT: fc_adjoint_divide_use(a, log, index, true, by, nodes, rates); return false;
    case FC_COST_INSTANT: divide_instant(a, node, by, nodes); return false;
    default: add_up(&s->cost[cost], by, node->amount); break;
    }
    return true;
}

static void go_through_nodes(const struct fc_adjoint *a, struct fc_adjoint_marks *nodes, struct fc_adjoint_marks *rates,
                             struct fc_adjoint_reader *log, struct sums *s)
{
    size_t i = (size_t)a->last + 1;
    while (next(nodes, &i) && i > 0) {
        struct fc_adjoint_lanes by = take_out(nodes, (uint32_t)i);
        while (divide_node(a, i, &by, nodes, rates, log, s)) {
            uint32_t before = a->node[i].before;
            if (before == 0 || before + 1 != i) {
                add(fc_adjoint_mark(nodes, before), &by, 1);
                break;
            }
            i = before; /* the next one at once */
            if (nodes->marks[i / 64] >> i % 64 & 1) {
                const struct fc_adjoint_lanes more = take_out(nodes, before);
                add(&by, &more, 1);
            }
        }
    }
}

static void go_through_rates(const struct fc_adjoint *a, struct fc_adjoint_marks *rates, struct sums *s)
{
    size_t i = a->n_rates;
    while (next(rates, &i)) {
        const struct fc_adjoint_lanes out = rates->of[rates->place[i]], *by = &out;
        size_t end = i + 1 < a->n_rates ? a->rate[i + 1] : a->n_terms;
        for (size_t t = a->rate[i]; t < end; t++) {
            uint32_t index = a->term[t].what & 0x0fffffff;
            float part = a->term[t].part;
            switch ((enum fc_adjoint_of)(a->term[t].what >> 28)) {
            case FC_OF_RATE: add(fc_adjoint_mark(rates, index), by, part); break;
            case FC_OF_LINK: add_link(a, index, by, part, s); break;
            case FC_OF_SLOWER: add_up(&s->slower[index], by, part); break;
            case FC_OF_FASTER: add_up(&s->faster[index], by, part); break;
            case FC_OF_REST: add_up(&s->cost[FC_COST_OTHER], by, part); break;
            }
        }
    }
}

static void take(const struct sums *s, int k, uint32_t n_ranks, struct fc_gradient *g)
{
    g->send = s->cost[FC_COST_SEND].v[k];
    g->recv = s->cost[FC_COST_RECV].v[k];
    g->gap = s->cost[FC_COST_GAP].v[k];
    g->latency_s = s->cost[FC_COST_LATENCY].v[k];
    g->bytes = s->cost[FC_COST_PER_BYTE].v[k];
    g->wire_bytes = s->cost[FC_COST_WIRE].v[k];
    g->rest_s = s->cost[FC_COST_OTHER].v[k];
    g->greatest = s->greatest.v[k];
    for (uint32_t r = 0; r < n_ranks; r++) g->compute_s[r] = s->compute[r].v[k];
    for (int c = 0; c < FC_MAX_CLASSES; c++) g->class_s[c] = s->bandwidth[c].v[k];
    for (int i = 0; i < FC_ADJOINT_LINKS; i++) {
        g->slower_s[i] = s->slower[i].v[k];
        g->faster_s[i] = s->faster[i].v[k];
    }
}

bool fc_adjoint_gradients(const struct fc_adjoint *a, uint32_t n_ranks, struct fc_gradient *g, struct fc_arena *arena,
                          struct fc_status *st)
{
    struct sums s = {.compute = NULL};
    for (int k = 0; k < FC_GRADIENTS; k++)
        g[k] = (struct fc_gradient){.compute_s = fc_alloc(arena, n_ranks, sizeof *g->compute_s, st)};
    struct fc_adjoint_marks nodes = {NULL}, rates = {NULL};
    struct fc_adjoint_reader log = {NULL};
    s.compute = calloc(n_ranks + (size_t)1, sizeof *s.compute);
    if (a->n_links > 0) s.which = calloc(a->net->n_links, 1);
    bool room = !a->refused && s.compute && (s.which || a->n_links == 0);
    if (room && !a->lost)
        room = fc_adjoint_open_marks(&nodes, a->n_nodes) && fc_adjoint_open_marks(&rates, a->n_rates) &&
               fc_adjoint_open_reader(a, &log);
    if (!room) fc_out_of_memory(st, "derivatives of a replay of %zu operations", a->n_nodes);
    bool good = !a->lost && !st->code;
    if (good) {
        for (int i = 0; i < a->n_links; i++) s.which[a->link[i]] = (uint8_t)(i + 1);
        for (int k = 0; k < FC_GRADIENTS; k++) fc_adjoint_mark(&nodes, a->last)->v[k] = 1;
        go_through_nodes(a, &nodes, &rates, &log, &s);
        go_through_rates(a, &rates, &s);
        if (nodes.refused || rates.refused)
            fc_out_of_memory(st, "derivatives of a replay of %zu operations", a->n_nodes);
        for (int k = 0; k < FC_GRADIENTS; k++) take(&s, k, n_ranks, &g[k]);
    }
    fc_adjoint_close_marks(&nodes);
    fc_adjoint_close_marks(&rates);
    fc_adjoint_close_reader(&log);
    free(s.compute);
    free(s.which);
    return good && !st->code;
}
