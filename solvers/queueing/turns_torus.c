/* turns_torus.c - adaptive routing of translation-invariant traffic on tori, without following packets.
 *
 * All routers look alike, so what counts of a packet is the offset that is left to it, with a sign in every
 * dimension (half of those half way round an even ring go each way). V(x), packets a cycle that come to a
 * router with offset x left, obeys V(x) = T(x) + sum over d of V(x + e_d) p_d(x + e_d), T: those that start
 * there; e_d: one hop further in the direction of x (where x has no hops left in d, from both sides); p_d:
 * share of the packets that leave in dimension d, over those with hops left in proportion to cables x (1 -
 * rho)^2 (turns.c). One pass from the farthest offset to none is exact: O(N n) for N routers in n dimensions.
 * The rate of heads that came by port a and may choose among the set Q of ports is the sum of the terms of V
 * over all x with that Q. Utilisations by successive averages until they change by less than ACCURACY
 * (Sheffi, Urban Transportation Networks, 1985: method of successive averages).
 * Limits: one node a router or traffic without entries, all dimensions with links of one speed; what does not
 * fit is walked. */
#include "models/family_torus.h"
#include "solvers/queueing/turns_internal.h"

#include <string.h>

#define ACCURACY 1e-6
enum { MOST_ROUNDS = 60 };

struct torus {
    struct fc_turns_walk *w;
    const struct fc_torus_shape *s;
    int n;                                           /* dimensions */
    uint32_t half[FC_MAX_DIMS];                      /* most hops in each */
    uint32_t size[FC_MAX_DIMS], stride[FC_MAX_DIMS]; /* of the box of offsets, see place */
    uint32_t n_offsets, n_sets;      /* sets: base 3 number, digit of a dimension 0 none, 1 plus, 2 minus */
    uint32_t three[FC_MAX_DIMS + 1]; /* powers */
    double *start, *pass;            /* [n_offsets] T, V, packets a cycle of a router */
    double *share;                   /* [n_sets][n] p_d */
    double *come;                    /* [n_sets][2 n + 1] rates by port come by (2 d + (minus)), last: source */
    double *set_passes;              /* [n_sets] sum of those */
    uint32_t *port_orbit;            /* [2 n] link of the turns of the first cable */
};

bool fc_turns_is_torus(const struct fc_turns_walk *w)
{
    const struct fc_torus_shape *s = fc_torus(w->net);
    if (!w->turns->folded || !s || w->net->machine->routing != &fc_routing_adaptive) return false;
    int first = -1;
    for (int d = 0; d < s->n_dims; d++) {
        if (s->k[d] < 2) continue;
        int c = s->dim_class[d];
        if (first < 0) first = c;
        if (w->flit.flit_ticks[c] != w->flit.flit_ticks[first] ||
            w->flit.trailer_ticks[c] != w->flit.trailer_ticks[first])
            return false;
    }
    return first >= 0 && w->flit.n_network_vcs > w->flit.n_escape_vcs &&
           (s->nodes_per_router == 1 || w->demand->n_entries == 0);
}

/* Places along a dimension, farthest first: +h, -h, +(h-1), -(h-1), ... +1, -1, 0. */
static uint32_t place(uint32_t half, uint32_t hops, bool minus)
{
    return 2 * (half - hops) + (hops && minus);
}
static uint32_t hops_at(uint32_t half, uint32_t place)
{
    return half - place / 2;
}

static enum fc_code lay_out(struct torus *t, struct fc_status *st)
{
    struct fc_arena *arena = t->w->arena;
    t->n = t->s->n_dims;
    t->n_offsets = t->n_sets = 1;
    for (int d = 0; d < t->n; d++) {
        t->half[d] = t->s->k[d] / 2;
        t->size[d] = 2 * t->half[d] + 1;
        t->stride[d] = t->n_offsets;
        t->n_offsets *= t->size[d];
        t->three[d] = t->n_sets;
        t->n_sets *= 3;
    }
    t->start = fc_alloc(arena, t->n_offsets, sizeof *t->start, st);
    t->pass = fc_alloc(arena, t->n_offsets, sizeof *t->pass, st);
    t->share = fc_alloc(arena, (size_t)t->n_sets * (size_t)t->n, sizeof *t->share, st);
    t->come = fc_alloc(arena, (size_t)t->n_sets * (2 * (size_t)t->n + 1), sizeof *t->come, st);
    t->set_passes = fc_alloc(arena, t->n_sets, sizeof *t->set_passes, st);
    t->port_orbit = fc_alloc(arena, 2 * (size_t)t->n, sizeof *t->port_orbit, st);
    if (st->code) return st->code;
    for (int d = 0; d < t->n; d++)
        for (int i = 0; i < 2 && t->half[d]; i++)
            t->port_orbit[2 * d + i] = t->w->orbit[fc_torus_port(t->w->net, 0, d, i)];
    return FC_OK;
}

/* ---- T ---- */

/* Adds packets for the router that is `delta` away, half of them each way at a tie. */
static void add_start(struct torus *t, const uint32_t *delta, double rate)
{
    uint32_t at = 0, tie_step[FC_MAX_DIMS];
    int ties = 0;
    for (int d = 0; d < t->n; d++) {
        uint32_t k = t->s->k[d], x = delta[d];
        bool minus = 2 * x > k;
        at += t->stride[d] * place(t->half[d], minus ? k - x : x, minus);
        if (x && 2 * x == k) tie_step[ties++] = t->stride[d];
    }
    for (uint32_t way = 0; way < 1u << ties; way++) {
        uint32_t to = at;
        for (int i = 0; i < ties; i++) to += way >> i & 1 ? tie_step[i] : 0;
        t->start[to] += rate / (double)(1u << ties);
    }
}

static void add_starts(struct torus *t)
{
    const struct fc_demand *demand = t->w->demand;
    const struct fc_torus_shape *s = t->s;
    double per_router = s->nodes_per_router, dense = 0;
    uint32_t delta[FC_MAX_DIMS] = {0};
    for (int p = 0; p < demand->n_dense; p++)
        dense += demand->dense[p].a[0] * demand->dense[p].b[0] * per_router * per_router * t->w->scale;
    for (uint32_t v = 0; dense > 0 && v < s->n_routers; v++) {
        add_start(t, delta, dense);
        for (int d = 0; d < t->n && ++delta[d] == s->k[d]; d++) delta[d] = 0;
    }
    for (size_t i = 0; i < demand->n_entries; i++) {
        if (demand->src[i] != 0) continue;
        for (int d = 0; d < t->n; d++) delta[d] = fc_torus_coordinate(s, demand->dst[i], d);
        add_start(t, delta, demand->bytes[i] * t->w->scale);
    }
}

/* ---- V ---- */

static void set_shares(struct torus *t)
{
    const struct fc_turns_walk *w = t->w;
    for (uint32_t q = 0; q < t->n_sets; q++) {
        double sum = 0, *share = t->share + q * (uint32_t)t->n;
        for (int d = 0; d < t->n; d++) {
            uint32_t digit = q / t->three[d] % 3;
            share[d] = 0;
            if (!digit || !t->half[d]) continue;
            double rho = w->utilisation[t->port_orbit[2 * d + (int)digit - 1]];
            sum += share[d] = t->s->parallel[d] * fc_turns_weight(w->turns, rho);
        }
        for (int d = 0; d < t->n && sum > 0; d++) share[d] /= sum;
    }
}

/* Steps to the next offset; q: its set. */
static void step(const struct torus *t, uint32_t *at, uint32_t *q)
{
    for (int d = 0; d < t->n; d++) {
        uint32_t last = t->size[d] - 1;
        uint32_t before = at[d] == last ? 0 : 1 + at[d] % 2;
        at[d] = at[d] == last ? 0 : at[d] + 1;
        uint32_t now = at[d] == last ? 0 : 1 + at[d] % 2;
        *q += (now - before) * t->three[d];
        if (at[d]) return;
    }
}

/* The packets that come from offset x with set q, one hop in dimension d. */
static double from(const struct torus *t, uint32_t x, uint32_t q, int d)
{
    return t->pass[x] * t->share[q * (uint32_t)t->n + (uint32_t)d];
}

static void pass_on(struct torus *t)
{
    uint32_t at[FC_MAX_DIMS] = {0}, q = 0, ports = 2 * (uint32_t)t->n + 1;
    memset(t->come, 0, (size_t)t->n_sets * ports * sizeof *t->come);
    memset(t->set_passes, 0, t->n_sets * sizeof *t->set_passes);
    for (int d = 0; d < t->n; d++) q += t->size[d] > 1 ? t->three[d] : 0;
    for (uint32_t x = 0; x < t->n_offsets; x++, step(t, at, &q)) {
        double sum = t->start[x], *come = t->come + q * ports;
        come[ports - 1] += sum;
        for (int d = 0; d < t->n; d++) {
            if (at[d] + 1 < t->size[d]) { /* hops left: from one hop further on the same side */
                if (at[d] < 2) continue;
                double more = from(t, x - 2 * t->stride[d], q, d);
                come[2 * d + (int)(at[d] & 1)] += more;
                sum += more;
            } else if (t->size[d] > 1) {
                double plus = from(t, x - 2 * t->stride[d], q + t->three[d], d);
                double minus = from(t, x - t->stride[d], q + 2 * t->three[d], d);
                come[2 * d] += plus;
                come[2 * d + 1] += minus;
                sum += plus + minus;
            }
        }
        t->pass[x] = sum;
        t->set_passes[q] += sum;
    }
}

/* Utilisations relative to the busiest of all links from the passes, averaged in; returns the greatest
 * change. */
static double average(struct torus *t, int round)
{
    const struct fc_turns *turns = t->w->turns;
    double rate[2 * FC_MAX_DIMS] = {0}, busiest = 0, change = 0;
    for (uint32_t q = 0; q < t->n_sets; q++)
        for (int d = 0; d < t->n; d++) {
            uint32_t digit = q / t->three[d] % 3;
            if (digit) rate[2 * d + (int)digit - 1] += t->set_passes[q] * t->share[q * (uint32_t)t->n + (uint32_t)d];
        }
    double node = t->set_passes[0] / t->s->nodes_per_router; /* packets to each node, and from it */
    for (uint32_t o = 0; o < turns->n_links; o++)
        if (turns->kind[o] != FC_TURN_NETWORK) busiest = fmax(busiest, node * turns->service[o]);
    for (int p = 0; p < 2 * t->n; p++) {
        if (!t->half[p / 2]) continue;
        rate[p] *= turns->service[t->port_orbit[p]] / t->s->parallel[p / 2];
        busiest = fmax(busiest, rate[p]);
    }
    for (int p = 0; p < 2 * t->n; p++)
        for (uint32_t c = 0; t->half[p / 2] && c < t->s->parallel[p / 2]; c++) {
            double *u = &t->w->utilisation[t->w->orbit[fc_torus_port(t->w->net, 0, p / 2, p % 2) + c]];
            double more = (rate[p] / busiest - *u) / (round < 2 ? 1 : round);
            change = fmax(change, fabs(rate[p] / busiest - *u));
            *u += more;
        }
    return change;
}

/* ---- states ---- */

/* The choices of a head with hops left in the set, one in each of its dimensions, at a router; `to`: one of
 * its nodes, with a random word that decides ties the right way. */
static uint32_t choices_of_set(struct torus *t, uint32_t q, uint32_t node, struct fc_turns_choice *set,
                               struct fc_flit_choice *out, struct fc_status *st)
{
    struct fc_flit_net *flit = &t->w->flit;
    uint32_t router = 0, random = 0;
    for (int d = 0; d < t->n; d++) {
        uint32_t digit = q / t->three[d] % 3, k = t->s->k[d];
        if (digit) router += t->s->stride[d] * (digit == 1 ? 1 : k - 1);
        if (digit == 2) random |= 1u << d;
    }
    uint32_t dst = router * t->s->nodes_per_router + node;
    struct fc_flit_head head = {.dst = dst, .random = random};
    head.route = flit->route->start(flit, 0, dst, random, NULL);
    return fc_turns_choices(t->w, 0, FC_NONE, 0, &head, out, set, st);
}

/* Heads with that set that came by the channel `in`. */
static enum fc_code add_state(struct torus *t, uint32_t q, uint32_t in, const struct fc_turns_choice *set,
                              const struct fc_flit_choice *out, uint32_t n, double rate, struct fc_status *st)
{
    struct fc_turns *turns = t->w->turns;
    if (!(rate > 0)) return FC_OK;
    uint32_t s = fc_turns_state(t->w, in, set, n, st);
    if (s == FC_NONE) return st->code;
    double copies = t->w->cells.n_cells;
    turns->state_rate[s] += rate * copies;
    for (uint32_t i = 0; i < n; i++) {
        double share = 1;
        for (int p = 0; p < 2 * t->n && q; p++) {
            if (!t->half[p / 2]) continue;
            uint32_t first = fc_torus_port(t->w->net, 0, p / 2, p % 2), cables = t->s->parallel[p / 2];
            if (out[i].link >= first && out[i].link < first + cables)
                share = t->share[q * (uint32_t)t->n + (uint32_t)p / 2] / cables;
        }
        turns->choice_rate[turns->first_choice[s] + i] += rate * copies * share;
    }
    return FC_OK;
}

/* Heads that came from the nodes of the router and by its ports, for one set (and, of the empty set, one
 * node). */
static enum fc_code states_of_set(struct torus *t, uint32_t q, uint32_t node, uint32_t nodes, struct fc_status *st)
{
    const struct fc_network *net = t->w->net;
    uint32_t ports = 2 * (uint32_t)t->n + 1;
    const double *come = t->come + q * ports;
    struct fc_turns_choice set[FC_TURNS_MOST_SET];
    struct fc_flit_choice out[FC_TURNS_MOST_SET];
    uint32_t n = choices_of_set(t, q, node, set, out, st), per_router = t->s->nodes_per_router;
    if (!n) return st->code;
    for (uint32_t p = 0; p + 1 < ports; p++) {
        uint32_t cables = t->half[p / 2] ? t->s->parallel[p / 2] : 0;
        for (uint32_t c = 0; c < cables && come[p] > 0; c++) {
            uint32_t link = t->w->orbit[fc_torus_port(net, 0, (int)p / 2, (int)p % 2) + c];
            uint32_t in = fc_turns_channel(
                t->w, link, (uint16_t)(((1u << t->w->flit.n_network_vcs) - 1) & ~((1u << t->w->flit.n_escape_vcs) - 1)),
                st);
            if (in == FC_NONE || add_state(t, q, in, set, out, n, come[p] / cables / nodes, st)) return st->code;
        }
    }
    for (uint32_t from_node = 0; from_node < per_router; from_node++) {
        uint32_t link = t->w->orbit[net->first_link[fc_node_vertex(net, from_node)]];
        uint32_t in = fc_turns_channel(t->w, link, t->w->flit.injection_vcs, st);
        if (in == FC_NONE || add_state(t, q, in, set, out, n, come[ports - 1] / per_router / nodes, st))
            return st->code;
    }
    return FC_OK;
}

static enum fc_code add_states(struct torus *t, struct fc_status *st)
{
    const struct fc_network *net = t->w->net;
    double all = 0;
    for (uint32_t q = 0; q < t->n_sets; q++) {
        uint32_t nodes = q ? 1 : t->s->nodes_per_router;
        all += t->come[q * (2 * (uint32_t)t->n + 1) + 2 * (uint32_t)t->n];
        for (uint32_t node = 0; node < nodes && t->set_passes[q] > 0; node++)
            if (states_of_set(t, q, node, nodes, st)) return st->code;
    }
    struct fc_flit_choice out[FC_TURNS_MOST_SET];
    struct fc_turns_choice set[FC_TURNS_MOST_SET];
    for (uint32_t node = 0; node < t->s->nodes_per_router; node++) {
        struct fc_flit_head head = {.dst = node};
        uint32_t n = fc_turns_choices(t->w, fc_node_vertex(net, node), FC_NONE, 0, &head, out, set, st);
        if (!n || add_state(t, 0, FC_NONE, set, out, n, all / t->s->nodes_per_router, st)) return st->code;
    }
    return FC_OK;
}

/* Hops and the latency of packets alone, which take as long by every way: one of each offset is followed. */
static void add_sums(struct torus *t)
{
    struct fc_turns_walk *w = t->w;
    int injection = fc_injection_class(w->net->machine);
    uint32_t at[FC_MAX_DIMS] = {0}, q = 0, longest = 0;
    double latency[FC_MAX_DIMS], ticks_per_cycle = w->flit.ticks_per_cycle;
    w->least_zero_load = INFINITY;
    struct fc_turns_alone way[3] = {{0}};
    int class = 0;
    for (int d = 0; d < t->n; d++) {
        latency[d] = w->flit.latency_ticks[t->s->dim_class[d]];
        longest += t->half[d];
        if (t->half[d]) class = t->s->dim_class[d];
    }
    /* After 0, 1 and 2 hops; a further one adds as much as the second. */
    for (uint32_t h = 0; h < 3; h++) {
        fc_turns_hop(w, &way[h], injection, false, false);
        for (uint32_t i = 0; i < h; i++) fc_turns_hop(w, &way[h], class, true, false);
        fc_turns_hop(w, &way[h], injection, true, true);
    }
    double more = way[2].tail - way[1].tail - w->flit.latency_ticks[class];
    double first = way[1].tail - w->flit.latency_ticks[class];
    for (uint32_t x = 0; x < t->n_offsets; x++, step(t, at, &q)) {
        if (!(t->start[x] > 0)) continue;
        double hops = 0, wires = 0, rate = t->start[x] * w->cells.n_cells;
        for (int d = 0; d < t->n; d++) {
            uint32_t h = hops_at(t->half[d], at[d]);
            hops += h;
            wires += h * latency[d];
        }
        double alone = (hops > 0 ? first + (hops - 1) * more + wires : way[0].tail) / ticks_per_cycle;
        w->rate += rate;
        w->hops += rate * hops;
        w->zero_load += rate * alone;
        w->zero_load2 += rate * alone * alone;
        w->least_zero_load = fmin(w->least_zero_load, alone);
    }
}

enum fc_code fc_turns_torus(struct fc_turns_walk *w, struct fc_status *st)
{
    struct torus t = {.w = w, .s = fc_torus(w->net)};
    if (lay_out(&t, st)) return st->code;
    add_starts(&t);
    memset(w->utilisation, 0, w->turns->n_links * sizeof *w->utilisation);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        set_shares(&t);
        pass_on(&t);
        if (average(&t, round) < ACCURACY) break;
    }
    if (add_states(&t, st)) return st->code;
    add_sums(&t);
    fc_turns_add_up(w);
    return FC_OK;
}
