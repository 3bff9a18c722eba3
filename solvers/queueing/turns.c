/* turns.c - follows packets by the kernel's own routing functions and adds up the turns that they take.
 *
 * A packet of rate w goes from its source to the first router and on; wherever its head may choose, it takes
 * the choice that is furthest behind its share (a rotor: the error of a share falls as 1 / visits, not as
 * their root). Shares are by fc_turns_weight of each output's utilisation, by successive averages over ROUNDS walks;
 * equal in the first. Escape channels
 * are taken only where there is nothing else. Each pair is followed once for every random word that makes a
 * difference, so that rates under a routing without choices are exact. Adaptive tori with traffic that looks
 * alike everywhere are not walked (turns_torus.c), of large networks like groups tell of each other (turns_groups.c). Zero load: turns_zero.c. Limits: with more pairs than the
 * work allows, pairs are sampled, receivers by a van der Corput sequence; routings that hash the random word
 * (cables of a bundle, planes, Valiant) are followed up to MOST_HASHED times a pair. UGAL: turns_ugal.c. */
#include "solvers/flit/run.h"
#include "solvers/queueing/turns_internal.h"

#include <string.h>

enum { ROUNDS = 6, MOST_REPEATS = 64, MOST_HASHED = 1024, EDGES_A_HOP = 10 };
/* Where noise is minded all rungs of UGAL have so many hops a link, if that is at most so many times those asked for: the saturation of
 * piz-daint is 1.05, 1.14 and 1.14 with 200, 600 and 2000. */
enum { RUNG_HOPS_A_LINK = 600, MORE_ON_RUNGS = 3 };
/* Like groups: from so many links on; hops a set of links of each rung of UGAL; and what pairs may be, times the packets asked for, for
 * all of them to be followed. */
enum { GROUPED_LINKS = 20000, GROUPED_HOPS = 170, GROUPED_PAIRS = 8, LEAST_MIXES = 2 };
static const uint64_t packet_stream = UINT64_C(0x7475726e73);

static uint32_t no_queue(const void *engine, uint32_t link)
{
    (void)engine;
    (void)link;
    return 0;
}

/* ---- one packet ---- */

/* The choice that is furthest behind its share of the state's traffic. */
static uint32_t behind(struct fc_turns_walk *w, uint32_t s, double rate)
{
    const struct fc_turns *t = w->turns;
    uint32_t first = t->first_choice[s], n = t->first_choice[s + 1] - first, best = 0;
    double *share = w->share, sum = 0, most = -INFINITY;
    for (uint32_t i = 0; i < n; i++) sum += share[i] = fc_turns_weight(t, w->utilisation[t->choice_link[first + i]]);
    for (uint32_t i = 0; i < n; i++) {
        double late = share[i] / sum * (t->state_rate[s] + rate) - t->choice_rate[first + i];
        if (late > most) most = late, best = i;
    }
    return best;
}

/* Counts a head that has a choice. */
static enum fc_code choose(struct fc_turns_walk *w, const struct fc_flit_choice *out, uint32_t n, bool at_source,
                           double rate, uint32_t *pick, struct fc_status *st)
{
    struct fc_turns_choice set[FC_TURNS_MOST_SET];
    if (fc_turns_count_pending(w, st) || fc_turns_set(w, out, n, set, st)) return st->code;
    uint32_t s = fc_turns_state(w, at_source ? FC_NONE : w->came_by, set, n, st);
    if (s == FC_NONE) return st->code;
    w->choosing = true;
    *pick = behind(w, s, rate);
    w->came_by = set[*pick].channel;
    fc_turns_add(w, s, *pick, rate);
    return FC_OK;
}

/* A packet that arrived after `ticks` alone and `hops` links between routers. */
static void arrived(struct fc_turns_walk *w, double rate, double ticks, uint32_t hops)
{
    double zero_load = ticks / w->flit.ticks_per_cycle;
    w->rate += rate;
    w->hops += rate * hops;
    w->zero_load += rate * zero_load;
    w->zero_load2 += rate * zero_load * zero_load;
    w->least_zero_load = fmin(w->least_zero_load, zero_load);
    w->n_walked++;
    w->n_hops += hops + 1;
}

static enum fc_code follow(struct fc_turns_walk *w, uint32_t src, uint32_t dst, uint32_t random, double rate,
                           struct fc_status *st)
{
    const struct fc_network *net = w->net;
    struct fc_turns_sight sight = {w, random};
    struct fc_flit_view view = w->waits ? fc_turns_see(&sight) : (struct fc_flit_view){NULL, no_queue, no_queue};
    struct fc_flit_head head = {.dst = dst, .random = random};
    head.route = w->flit.route->start(&w->flit, src, dst, head.random, &view);
    uint32_t vertex = fc_node_vertex(net, src), in_link = FC_NONE, links = 0;
    struct fc_turns_alone alone = {0};
    struct fc_flit_choice out[FC_TURNS_MOST_SET];
    int in_vc = 0;
    while (links == 0 || !fc_is_node(net, vertex)) {
        uint32_t n = fc_turns_outputs(w, vertex, in_link, in_vc, &head, out);
        uint32_t pick = 0;
        if (n == 1 ? fc_turns_pass(w, out, links == 0, rate, st) : choose(w, out, n, links == 0, rate, &pick, st))
            return st->code;
        head.route = out[pick].route;
        in_link = out[pick].link;
        in_vc = __builtin_ctz(out[pick].vcs);
        bool from_router = vertex < net->n_routers;
        vertex = net->link_target[in_link];
        fc_turns_hop(w, &alone, net->link_class[in_link], from_router, fc_is_node(net, vertex));
        links++;
    }
    arrived(w, rate, alone.tail, links - 2);
    return FC_OK;
}

/* ---- all packets ---- */

/* Van der Corput, base 2: i in 0 .. 2^32-1 to [0, 1). */
static double radical(uint32_t i)
{
    i = (i & 0x55555555) << 1 | (i >> 1 & 0x55555555);
    i = (i & 0x33333333) << 2 | (i >> 2 & 0x33333333);
    i = (i & 0x0f0f0f0f) << 4 | (i >> 4 & 0x0f0f0f0f);
    return __builtin_bswap32(i) * 0x1p-32;
}

uint32_t fc_turns_find(const double *cumulative, uint32_t n, double x)
{
    uint32_t low = 0, high = n - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cumulative[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Random word r of a pair's packets: the low bits, which decide ties, take all their values in turn, and the
 * high ones follow van der Corput's sequence, from a place of the pair's own. */
static uint32_t stratified(const struct fc_turns_walk *w, uint64_t pair, uint32_t r)
{
    uint64_t own = fc_random_quick(w->seed, pair);
    uint32_t high = (uint32_t)(radical(r >> w->tie_bits) * 0x1p32) + (uint32_t)(own >> 32);
    return (high & 0xffff0000) | (((uint32_t)own + r) & 0xffff);
}

static enum fc_code follow_pair(struct fc_turns_walk *w, uint32_t src, uint32_t dst, uint64_t pair, double bytes,
                                uint32_t repeats, struct fc_status *st)
{
    for (uint32_t r = 0; bytes > 0 && r < repeats; r++)
        if (follow(w, src, dst, stratified(w, pair, w->first_word + r), bytes * w->scale / repeats, st))
            return st->code;
    return FC_OK;
}

/* Sources whose packets are followed: those of one cell stand for all where that is enough. */
static uint32_t sources(const struct fc_turns_walk *w)
{
    return w->turns->folded && w->cells.one_source ? w->cells.nodes : w->net->n_nodes;
}

/* Those that stand for all where like groups are. */
static enum fc_code group_pairs(struct fc_turns_walk *w, const struct fc_dense *part, uint32_t repeats,
                                struct fc_status *st)
{
    uint32_t n = w->net->n_nodes;
    uint32_t *to = fc_alloc(w->arena, n, sizeof *to, st);
    double *weight = fc_alloc(w->arena, n, sizeof *weight, st);
    for (uint32_t s = 0; s < n && !st->code; s++) {
        uint32_t n_to =
            fc_turns_group_receivers(w->groups, w->mixes, fc_node_vertex(w->net, s), w->first_word, to, weight);
        for (uint32_t i = 0; i < n_to; i++)
            if (follow_pair(w, s, to[i], (uint64_t)s * n + to[i], part->a[s] * part->b[to[i]] * weight[i], repeats, st))
                return st->code;
    }
    if (w->waits) w->first_word += repeats;
    return st->code;
}

static enum fc_code all_pairs(struct fc_turns_walk *w, const struct fc_dense *part, uint32_t repeats,
                              struct fc_status *st)
{
    uint32_t n = w->net->n_nodes, n_sources = sources(w);
    for (uint32_t s = 0; s < n_sources; s++)
        for (uint32_t d = 0; d < n; d++)
            if (follow_pair(w, s, d, (uint64_t)s * n + d, part->a[s] * part->b[d] * n / n_sources, repeats, st))
                return st->code;
    if (w->waits) w->first_word += repeats;
    return FC_OK;
}

static enum fc_code sampled_pairs(struct fc_turns_walk *w, const struct fc_dense *part, uint64_t n_samples,
                                  struct fc_status *st)
{
    uint32_t n = w->net->n_nodes, n_sources = sources(w);
    double *a = fc_alloc(w->arena, n, sizeof *a, st), *b = a ? fc_alloc(w->arena, n, sizeof *b, st) : NULL;
    if (!b) return st->code;
    double sum_a = 0, sum_b = 0;
    for (uint32_t i = 0; i < n; i++) {
        a[i] = sum_a += i < n_sources ? part->a[i] * n / n_sources : 0;
        b[i] = sum_b += part->b[i];
    }
    w->turns->sampled = true;
    for (uint64_t i = 0; i < n_samples; i++) {
        uint32_t s = fc_turns_find(a, n, ((double)i + 0.5) / (double)n_samples * sum_a);
        uint32_t d = fc_turns_find(b, n, radical((uint32_t)(w->n_sampled + i)) * sum_b);
        uint32_t random = (uint32_t)(fc_random_quick(w->seed, w->n_sampled + i) >> 32);
        if (follow(w, s, d, random, sum_a * sum_b * w->scale / (double)n_samples, st)) return st->code;
    }
    if (w->waits) w->n_sampled += n_samples;
    return FC_OK;
}

/* The same where all senders are alike and all receivers are: every sender to receivers as many places on, so
 * that all are met equally often. */
static enum fc_code shifted_pairs(struct fc_turns_walk *w, const struct fc_dense *part, uint32_t n_shifts,
                                  struct fc_status *st)
{
    uint32_t n = w->net->n_nodes, n_sources = sources(w);
    double rate = part->a[0] * part->b[0] * n * w->scale * n / n_sources / n_shifts;
    w->turns->sampled = true;
    for (uint32_t i = 0; i < n_shifts; i++)
        for (uint32_t s = 0; s < n_sources; s++) {
            uint64_t shift = w->n_sampled + i;
            uint32_t to = (uint32_t)((s + (uint64_t)(radical((uint32_t)shift) * n)) % n);
            uint32_t random = (uint32_t)(fc_random_quick(w->seed, shift * n + s) >> 32);
            if (follow(w, s, to, random, rate, st)) return st->code;
        }
    if (w->waits) w->n_sampled += n_shifts;
    return FC_OK;
}

static enum fc_code sample(struct fc_turns_walk *w, const struct fc_dense *part, uint64_t n_samples,
                           struct fc_status *st)
{
    uint32_t n = w->net->n_nodes;
    if (n_samples >= 8 * (uint64_t)sources(w) && fc_all_equal(part->a, n) && fc_all_equal(part->b, n))
        return shifted_pairs(w, part, (uint32_t)(n_samples / sources(w)), st);
    return sampled_pairs(w, part, n_samples, st);
}

static enum fc_code sparse_pairs(struct fc_turns_walk *w, uint32_t repeats, struct fc_status *st)
{
    const struct fc_demand *demand = w->demand;
    uint32_t n = w->net->n_nodes, n_sources = sources(w);
    for (size_t i = 0; i < demand->n_entries; i++)
        if (demand->src[i] < n_sources &&
            follow_pair(w, demand->src[i], demand->dst[i], i, demand->bytes[i] * n / n_sources, repeats, st))
            return st->code;
    if (w->waits) w->first_word += repeats;
    return FC_OK;
}

/* How often each pair is followed with about so many packets in all: a whole number of times the random words
 * that stand for all; many times where they are hashed. */
static uint32_t repeats_of(const struct fc_turns_walk *w, double pairs, double packets)
{
    if (w->n_strata && !w->choosing) return w->n_strata;
    uint32_t least = w->n_strata > 1 ? w->n_strata : 1;
    double most = fmin(w->n_strata || w->choosing ? MOST_REPEATS : MOST_HASHED, packets / pairs);
    return most < least ? (uint32_t)fmax(1, most) : (uint32_t)(most / least) * least;
}

/* Pairs that may be followed for a packet that was asked for. */
static double most_pairs(const struct fc_turns_walk *w)
{
    return w->groups && !w->net->machine->routing->detours ? GROUPED_PAIRS : 1;
}
/* As many of like groups' pairs as that allows, but some at least. */
static double pairs_of_groups(struct fc_turns_walk *w, double packets)
{
    w->mixes = LEAST_MIXES;
    while (w->mixes < w->net->n_nodes && fc_turns_group_pairs(w->groups, 2 * w->mixes) <= packets) w->mixes *= 2;
    return fc_turns_group_pairs(w->groups, w->mixes);
}

/* One walk of all traffic with about that many packets. */
static enum fc_code walk_all(struct fc_turns_walk *w, double packets, struct fc_status *st)
{
    const struct fc_demand *demand = w->demand;
    struct fc_turns *t = w->turns;
    double share = (double)sources(w) / w->net->n_nodes;
    double pairs = share * w->net->n_nodes * w->net->n_nodes, entries = share * (double)demand->n_entries;
    if (w->groups) pairs = pairs_of_groups(w, packets);
    w->n_walked = w->n_hops = 0;
    w->rate = w->hops = w->zero_load = w->zero_load2 = 0;
    w->least_zero_load = INFINITY;
    fc_turns_forget(w);
    t->sampled = false;
    if (demand->n_entries && sparse_pairs(w, repeats_of(w, entries, packets), st)) return st->code;
    for (int p = 0; p < demand->n_dense; p++) {
        const struct fc_dense *part = &demand->dense[p];
        double some = packets / demand->n_dense;
        uint32_t repeats = repeats_of(w, pairs, some);
        if (pairs * repeats > most_pairs(w) * fmax(1, some) ? sample(w, part, (uint64_t)some, st)
            : w->groups                                     ? group_pairs(w, part, repeats, st)
                                                            : all_pairs(w, part, repeats, st))
            return st->code;
    }
    return fc_turns_count_pending(w, st);
}

/* Utilisations for the shares of the next round: the mean of those so far, the first ones counting less. */
static void average(struct fc_turns_walk *w, int round)
{
    const struct fc_turns *t = w->turns;
    for (uint32_t l = 0; l < t->n_links; l++) {
        double now = t->rate[l] * t->service[l] / t->max_service_rate;
        w->utilisation[l] += (now - w->utilisation[l]) / (round < 2 ? 1 : round);
    }
}

/* Refuses turns that are mostly noise: their busiest link, and so the saturation, would be an accident. */
static enum fc_code check_visits(const struct fc_turns_walk *w, struct fc_status *st)
{
    double visits = (double)w->n_walked * (w->hops / w->rate + 2) / w->turns->n_links;
    if (!(w->least_visits > 0) || !w->turns->sampled || visits >= w->least_visits) return FC_OK;
    return fc_refuse(st, FC_NO,
                     "the queueing model can follow only %.3g packets a link of this network's traffic (expected at "
                     "least %g; --solver flit does without)",
                     visits, w->least_visits);
}

static enum fc_code rounds(struct fc_turns_walk *w, uint64_t most_hops, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    double packets = 64;
    if (walk_all(w, packets, st)) return st->code; /* hops a packet, and whether there is anything to choose */
    double hops = (double)w->n_hops / (double)w->n_walked, most = (double)most_hops / hops;
    int n = w->choosing ? ROUNDS : t->sampled || !w->n_strata ? 1 : 0;
    fc_turns_add_up(w);
    if (w->choosing) memset(w->utilisation, 0, t->n_links * sizeof *w->utilisation);
    for (int round = 0; round < n; round++) {
        if (walk_all(w, round + 1 < n ? most / (2 * ROUNDS) : most / (n > 1 ? 2 : 1), st)) return st->code;
        fc_turns_add_up(w);
        average(w, round);
    }
    t->n_walked = w->n_walked;
    if (check_visits(w, st)) return st->code;
    return t->sampled ? fc_turns_smooth(w, 1, st) : FC_OK;
}

/* ---- links ---- */

static double moment(const struct fc_turns_walk *w, int class, int power)
{
    double sum = 0;
    for (uint32_t f = w->flits_least; f <= w->flits_most; f++)
        sum += pow((f * (double)w->flit.flit_ticks[class] + w->flit.trailer_ticks[class]) / w->flit.ticks_per_cycle,
                   power);
    return sum / (w->flits_most - w->flits_least + 1);
}

static enum fc_code make_links(struct fc_turns_walk *w, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    const struct fc_network *net = w->net;
    uint32_t n = net->n_links;
    uint32_t *place = NULL;
    if (w->groups   ? fc_turns_group_orbits(net, w->groups, &t->arena, &t->orbit, &n, st)
        : t->folded ? fc_turns_orbits(net, &w->cells, &t->arena, &t->orbit, &place, &n, st)
                    : FC_OK)
        return st->code;
    w->orbit = t->orbit;
    t->n_links = n;
    t->link = fc_alloc(&t->arena, n, sizeof *t->link, st);
    t->port = fc_alloc(&t->arena, n, sizeof *t->port, st);
    t->copies = fc_alloc(&t->arena, n, sizeof *t->copies, st);
    t->rate = fc_alloc(&t->arena, n, sizeof *t->rate, st);
    t->service = fc_alloc(&t->arena, n, sizeof *t->service, st);
    t->service2 = fc_alloc(&t->arena, n, sizeof *t->service2, st);
    t->kind = fc_alloc(&t->arena, n, sizeof *t->kind, st);
    t->paths = fc_alloc(&t->arena, n, sizeof *t->paths, st);
    w->utilisation = fc_alloc(w->arena, n, sizeof *w->utilisation, st);
    if (st->code) return st->code;
    double mean[FC_MAX_CLASSES], square[FC_MAX_CLASSES];
    for (int c = 0; c < net->machine->n_classes; c++) {
        mean[c] = moment(w, c, 1);
        square[c] = moment(w, c, 2);
    }
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t o = w->orbit ? w->orbit[l] : l;
        if (t->copies[o]++ > 0) continue;
        t->link[o] = l;
        t->port[o] = place ? place[o] : o;
        t->service[o] = mean[net->link_class[l]];
        t->service2[o] = square[net->link_class[l]];
        t->kind[o] = fc_is_node(net, net->link_source[l])   ? FC_TURN_INJECTION
                     : fc_is_node(net, net->link_target[l]) ? FC_TURN_EJECTION
                                                            : FC_TURN_NETWORK;
        t->paths[o] = fmax(1, w->flit.port_paths[l]);
    }
    return FC_OK;
}

/* Places of virtual channels and round trips of credits (solvers/flit/cycle_step.c; of packets that move whole, event_transfer.c:
 * the last flit's). */
static enum fc_code add_credits(struct fc_turns_walk *w, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    t->places = fc_alloc(&t->arena, t->n_links, sizeof *t->places, st);
    t->round_trip = fc_alloc(&t->arena, t->n_links, sizeof *t->round_trip, st);
    for (uint32_t l = 0; l < t->n_links && !st->code; l++) {
        int class = w->net->link_class[t->link[l]];
        double ticks = 2.0 * w->flit.latency_ticks[class] + w->flit.router_ticks + w->flit.credit_ticks +
                       (w->whole_packets ? t->flits_mean : 1) * w->flit.flit_ticks[class];
        t->round_trip[l] = ticks / w->flit.ticks_per_cycle;
        if (t->kind[l] != FC_TURN_EJECTION) t->places[l] = fc_flit_depth(&w->flit, t->link[l]) / t->flits_mean;
    }
    return st->code;
}

/* ---- the whole ---- */

/* Flit ticks of the fastest class between routers, at least 1. */
static uint32_t fastest_class(const struct fc_turns_walk *w)
{
    uint32_t fastest = UINT32_MAX;
    for (uint32_t l = 0; l < w->net->n_links; l++) {
        if (fc_is_node(w->net, w->net->link_source[l]) || fc_is_node(w->net, w->net->link_target[l])) continue;
        uint32_t ticks = w->flit.flit_ticks[w->net->link_class[l]];
        ticks = ticks ? ticks : 1;
        fastest = ticks < fastest ? ticks : fastest;
    }
    return fastest == UINT32_MAX ? 1 : fastest;
}

void fc_turns_routers(struct fc_turns_walk *w, const struct fc_flit_settings *settings)
{
    w->whole_packets = settings->engine == FC_ENGINE_EVENT ||
                       (settings->engine == FC_ENGINE_AUTO && w->flit.cut_through && !w->flit.vc_stage);
    w->fastest = fastest_class(w);
}

/* States, choices and their rates by the best way there is. */
static enum fc_code find(struct fc_turns_walk *w, enum fc_turns_method method, uint64_t most_hops, struct fc_status *st)
{
    bool done = false, whole = method == FC_TURNS_DESTINATIONS;
    if (w->groups && w->ugal) most_hops = (uint64_t)fmin((double)most_hops, GROUPED_HOPS * (double)w->turns->n_links);
    if (w->ugal) return fc_turns_ugal(w, walk_all, w->at_load, most_hops, &w->at_load, st);
    if (method == FC_TURNS_AUTO && fc_turns_is_torus(w)) return fc_turns_torus(w, st);
    if ((whole || (method == FC_TURNS_AUTO && !w->turns->folded)) &&
        fc_turns_destinations(w, EDGES_A_HOP * (double)most_hops, &done, st))
        return st->code;
    if (done) return FC_OK;
    return whole ? fc_refuse(st, FC_NO, "the turns cannot be found by destination") : rounds(w, most_hops, st);
}

/* By cells, or by like groups where there are none and the network is large. */
static enum fc_code fold(struct fc_turns_walk *w, enum fc_turns_method method, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    if (method < FC_TURNS_GROUPS && fc_turns_cells(w->net, w->demand, &w->cells, &t->folded, st)) return st->code;
    bool large = method == FC_TURNS_AUTO && !t->folded && w->net->n_links >= GROUPED_LINKS;
    if ((large || method == FC_TURNS_GROUPS) && fc_turns_groups(w, st)) return st->code;
    t->folded = t->folded || w->groups;
    return FC_OK;
}

static enum fc_code make(struct fc_turns_walk *w, const struct fc_flit_settings *settings, enum fc_turns_method method,
                         uint64_t most_hops, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    const struct fc_network *net = w->net;
    if (fc_flit_lengths(&w->flit, settings, &w->flits_least, &w->flits_most, st) || fold(w, method, st) ||
        make_links(w, st))
        return st->code;
    fc_turns_routers(w, settings);
    if (w->flit.route->strata) w->n_strata = w->flit.route->strata(&w->flit, &w->tie_bits);
    double *weight = fc_alloc(w->arena, net->n_nodes, sizeof *weight, st), sum = 0;
    if (!weight || fc_flit_weights(&w->flit, w->demand, weight, st)) return st->code;
    for (uint32_t s = 0; s < net->n_nodes; s++) sum += weight[s];
    t->flits_mean = (w->flits_least + (double)w->flits_most) / 2;
    t->buffer_packets = fmax(1, w->flit.buffer_flits / t->flits_mean);
    t->n_vcs = w->flit.n_vcs;
    t->stage = w->flit.vc_stage ? 1 / w->flit.ticks_per_cycle : 0;
    t->one_bid = !fc_flit_by_events(&w->flit, settings) && fastest_class(w) == 1;
    if ((t->stage > 0 || t->by_theory) && add_credits(w, st)) return st->code;
    w->scale = net->n_nodes / sum / t->flits_mean;
    w->seed = fc_random(settings->seed, packet_stream, 0);
    if (fc_turns_tables(w, st)) return st->code;
    if (find(w, method, most_hops, st) || (!t->state_outputs && fc_turns_pool(w, st)) || fc_turns_order(w, st))
        return st->code;
    t->packets = w->rate;
    t->hops_mean = w->hops / w->rate;
    t->zero_load_cycles = w->zero_load / w->rate;
    t->zero_load_variance = fmax(0, w->zero_load2 / w->rate - t->zero_load_cycles * t->zero_load_cycles);
    t->least_zero_load_cycles = w->least_zero_load;
    t->cycle_s = w->flit.cycle_s;
    t->safe = w->flit.safe;
    return FC_OK;
}

/* `load`: NULL: of any load, by an empty network; else as fc_turns_ugal, which sets a load of 0. */
static enum fc_code make_at(enum fc_turns_method method, const struct fc_network *net, const struct fc_demand *demand,
                            const struct fc_flit_settings *settings, uint64_t most_hops, double least_visits,
                            double *load, struct fc_turns *turns, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_turns_walk w = {
        .net = net, .turns = turns, .arena = &scratch, .demand = demand, .least_visits = least_visits};
    memset(turns, 0, sizeof *turns);
    turns->net = net;
    turns->by_theory = net->machine->family->queueing_by_theory;
    w.ugal = load != NULL;
    w.at_load = load ? *load : 0;
    if (fc_flit_prepare(net, settings, &w.flit, st)) return st->code;
    if (make(&w, settings, method, most_hops, st)) fc_turns_free(turns);
    if (load) *load = w.at_load;
    fc_flit_unprepare(&w.flit);
    return st->code;
}

enum fc_code fc_turns_make_by(enum fc_turns_method method, const struct fc_network *net, const struct fc_demand *demand,
                              const struct fc_flit_settings *settings, uint64_t most_hops, struct fc_turns *turns,
                              struct fc_status *st)
{
    return make_at(method, net, demand, settings, most_hops, 0, NULL, turns, st);
}

/* The last rung tells how far the others go. */
static enum fc_code add_rungs(enum fc_turns_method method, const struct fc_network *net, const struct fc_demand *demand,
                              const struct fc_flit_settings *settings, uint64_t most_hops, struct fc_turns *t,
                              struct fc_status *st)
{
    t->rung = fc_alloc(&t->arena, FC_TURNS_RUNGS, sizeof *t->rung, st);
    if (!t->rung) return st->code;
    t->n_rungs = FC_TURNS_RUNGS;
    for (uint32_t i = FC_TURNS_RUNGS; i-- > 0;) {
        double load = i + 1 == FC_TURNS_RUNGS ? 0 : fc_turns_rung_load(t, i);
        if (make_at(method, net, demand, settings, most_hops / FC_TURNS_RUNGS, 0, &load, &t->rung[i], st))
            return st->code;
        if (i + 1 < FC_TURNS_RUNGS) continue;
        t->rung_top = load;
        t->direct_load = t->rung[i].direct_load;
    }
    t->max_service_rate = 1 / t->rung_top;
    return FC_OK;
}

enum fc_code fc_turns_make_empty(const struct fc_network *net, const struct fc_demand *demand,
                                 const struct fc_flit_settings *settings, uint64_t most_hops, struct fc_turns *turns,
                                 struct fc_status *st)
{
    return fc_turns_make_by(FC_TURNS_AUTO, net, demand, settings, most_hops, turns, st);
}

enum fc_code fc_turns_make_rungs_by(enum fc_turns_method method, const struct fc_network *net,
                                    const struct fc_demand *demand, const struct fc_flit_settings *settings,
                                    uint64_t most_hops, uint64_t rung_hops, double least_visits, struct fc_turns *turns,
                                    struct fc_status *st)
{
    if (make_at(method, net, demand, settings, most_hops, least_visits, NULL, turns, st)) return st->code;
    /* Detours by load: the rule of router.ugal. */
    const struct fc_routing_ops *routing = net->machine->routing;
    if (routing->adaptive && routing->detours && add_rungs(method, net, demand, settings, rung_hops, turns, st))
        fc_turns_free(turns);
    return st->code;
}

enum fc_code fc_turns_make_seen(const struct fc_network *net, const struct fc_demand *demand,
                                const struct fc_flit_settings *settings, uint64_t most_hops, double least_visits,
                                struct fc_turns *turns, struct fc_status *st)
{
    double hops = (double)most_hops, on_rungs = fmax(hops, (double)RUNG_HOPS_A_LINK * net->n_links);
    return fc_turns_make_rungs_by(FC_TURNS_AUTO, net, demand, settings, most_hops,
                                  (uint64_t)fmin(MORE_ON_RUNGS * hops, on_rungs), least_visits, turns, st);
}

uint64_t fc_turns_hops(const struct fc_network *net)
{
    const double a_link = 200, least = 2e6, most = 20e6;
    return (uint64_t)fmin(most, fmax(least, a_link * net->n_links));
}

enum fc_code fc_turns_make(const struct fc_network *net, const struct fc_demand *demand,
                           const struct fc_flit_settings *settings, uint64_t most_hops, struct fc_turns *turns,
                           struct fc_status *st)
{
    return fc_turns_make_rungs_by(FC_TURNS_AUTO, net, demand, settings, most_hops, most_hops, 0, turns, st);
}

void fc_turns_free(struct fc_turns *turns)
{
    for (uint32_t i = 0; i < turns->n_rungs; i++) fc_turns_free(&turns->rung[i]);
    fc_arena_free(&turns->arena);
    memset(turns, 0, sizeof *turns);
}
