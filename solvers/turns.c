/* turns.c - follows packets by the kernel's own routing functions and adds up the turns that they take.
 *
 * A packet of rate w goes from its source to the first router and on; wherever its head may choose, it takes the
 * choice that is furthest behind its share (a rotor: the error of a share falls as 1 / visits, not as their
 * root). Shares are (1 - rho)^2 of each output's utilisation rho at LOAD_SHARE of the load that fills the busiest
 * link, by successive averages over ROUNDS walks; equal in the first. This is the equilibrium of routers that
 * join the shortest queue, not the best split (science text 2.4). Escape channels are taken only where there is
 * nothing else. Zero load, as the kernel has it: sum of router delays and wire latencies + the longest time that
 * the packet keeps one of its links.
 * Limits: with more pairs than the work allows, pairs are sampled, receivers by a van der Corput sequence;
 * UGAL decides as in an empty network (minimal). */
#include "solvers/flit/source.h"
#include "solvers/turns_internal.h"

#include <math.h>
#include <string.h>

#define LOAD_SHARE 0.8
#define MOST_SET 32 /* choices of one head that are told apart */
enum { ROUNDS = 6, LEAST_REPEATS = 4, MOST_REPEATS = 64 };
static const uint64_t packet_stream = UINT64_C(0x7475726e73);

struct choice {
    uint32_t link, channel;
};
struct walk {
    const struct fc_network *net;
    struct fc_flit_net flit;
    struct fc_turns *turns;
    struct fc_arena *arena; /* scratch */
    const struct fc_demand *demand;
    struct fc_cells cells;
    uint32_t *orbit;
    double *utilisation;               /* [n_links] relative to the busiest, of the rounds before */
    uint32_t *channel_of;              /* hash of (link, mask) */
    uint64_t *channel_key;
    uint32_t channel_slots, state_slots;
    uint32_t *state_of;                /* hash of states */
    uint32_t states_capacity, choices_capacity, channels_capacity;
    double rate, hops, zero_load, zero_load2; /* sums of w, w x hops, w x T0, w x T0^2 */
    double least_zero_load;
    uint64_t n_walked, n_hops, seed;
    double scale; /* packets a cycle for a byte of the demand */
    bool choosing;
    uint32_t flits_least, flits_most;
};

static uint32_t no_queue(const void *engine, uint32_t link)
{
    (void)engine;
    (void)link;
    return 0;
}

/* ---- tables that grow ---- */

static enum fc_code grow(struct fc_arena *arena, void **array, uint32_t used, uint32_t capacity, size_t size,
                         struct fc_status *st)
{
    void *larger = fc_alloc(arena, capacity, size, st);
    if (!larger) return st->code;
    if (used) memcpy(larger, *array, used * size);
    *array = larger;
    return FC_OK;
}
#define GROW(a, n) grow(&t->arena, (void **)&(a), used, n, sizeof *(a), st)

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static enum fc_code more_channels(struct walk *w, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    uint32_t used = t->n_channels, n = used ? 2 * used : 256, slots = 4 * n;
    if (GROW(t->channel_link, n) || GROW(t->channel_vcs, n) || GROW(t->channel_rate, n)) return st->code;
    if (grow(w->arena, (void **)&w->channel_key, used, n, sizeof *w->channel_key, st)) return st->code;
    w->channel_of = fc_alloc(w->arena, slots, sizeof *w->channel_of, st);
    if (!w->channel_of) return st->code;
    w->channels_capacity = n;
    w->channel_slots = slots;
    for (uint32_t c = 0; c < used; c++) {
        uint32_t at = (uint32_t)mix(w->channel_key[c]) & (slots - 1);
        while (w->channel_of[at]) at = (at + 1) & (slots - 1);
        w->channel_of[at] = c + 1;
    }
    return FC_OK;
}

/* The channel of a mask on a link (an orbit), new or known; FC_NONE: out of memory. */
static uint32_t channel(struct walk *w, uint32_t link, uint16_t vcs, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    uint64_t key = (uint64_t)link << 16 | vcs;
    if (t->n_channels == w->channels_capacity && more_channels(w, st)) return FC_NONE;
    uint32_t mask = w->channel_slots - 1, at = (uint32_t)mix(key) & mask;
    for (; w->channel_of[at]; at = (at + 1) & mask)
        if (w->channel_key[w->channel_of[at] - 1] == key) return w->channel_of[at] - 1;
    uint32_t c = t->n_channels++;
    w->channel_of[at] = c + 1;
    w->channel_key[c] = key;
    t->channel_link[c] = link;
    t->channel_vcs[c] = (uint8_t)__builtin_popcount(vcs);
    return c;
}

static uint64_t state_hash(uint32_t in, const struct choice *set, uint32_t n)
{
    uint64_t x = mix(in + UINT64_C(0x9e3779b97f4a7c15));
    for (uint32_t i = 0; i < n; i++) x = mix(x ^ set[i].channel);
    return x;
}

static enum fc_code more_states(struct walk *w, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    uint32_t used = t->n_states, n = used ? 2 * used : 1024, slots = 4 * n;
    if (GROW(t->state_in, n) || GROW(t->state_rate, n)) return st->code;
    used = used ? used + 1 : 0;
    if (GROW(t->first_choice, n + 1)) return st->code;
    w->state_of = fc_alloc(w->arena, slots, sizeof *w->state_of, st);
    if (!w->state_of) return st->code;
    w->states_capacity = n;
    w->state_slots = slots;
    for (uint32_t s = 0; s < t->n_states; s++) {
        struct choice set[MOST_SET];
        uint32_t m = t->first_choice[s + 1] - t->first_choice[s];
        for (uint32_t i = 0; i < m; i++) set[i].channel = t->choice_channel[t->first_choice[s] + i];
        uint32_t at = (uint32_t)state_hash(t->state_in[s], set, m) & (slots - 1);
        while (w->state_of[at]) at = (at + 1) & (slots - 1);
        w->state_of[at] = s + 1;
    }
    return FC_OK;
}

static enum fc_code more_choices(struct walk *w, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    uint32_t used = t->n_choices, n = used ? 2 * used : 4096;
    if (GROW(t->choice_link, n) || GROW(t->choice_channel, n) || GROW(t->choice_rate, n)) return st->code;
    w->choices_capacity = n;
    return FC_OK;
}

static bool same_state(const struct fc_turns *t, uint32_t s, uint32_t in, const struct choice *set, uint32_t n)
{
    uint32_t first = t->first_choice[s];
    if (t->state_in[s] != in || t->first_choice[s + 1] - first != n) return false;
    for (uint32_t i = 0; i < n; i++)
        if (t->choice_channel[first + i] != set[i].channel) return false;
    return true;
}

/* The state of a head that came by `in` and has the n choices of the set; FC_NONE: out of memory. */
static uint32_t state(struct walk *w, uint32_t in, const struct choice *set, uint32_t n, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    if (t->n_states == w->states_capacity && more_states(w, st)) return FC_NONE;
    while (t->n_choices + n > w->choices_capacity)
        if (more_choices(w, st)) return FC_NONE;
    uint32_t mask = w->state_slots - 1, at = (uint32_t)state_hash(in, set, n) & mask;
    for (; w->state_of[at]; at = (at + 1) & mask)
        if (same_state(t, w->state_of[at] - 1, in, set, n)) return w->state_of[at] - 1;
    uint32_t s = t->n_states++;
    w->state_of[at] = s + 1;
    t->state_in[s] = in;
    for (uint32_t i = 0; i < n; i++) {
        t->choice_link[t->n_choices + i] = set[i].link;
        t->choice_channel[t->n_choices + i] = set[i].channel;
    }
    t->n_choices += n;
    t->first_choice[s + 1] = t->n_choices;
    return s;
}

/* ---- one packet ---- */

/* The choice that is furthest behind its share of the state's traffic. */
static uint32_t behind(const struct walk *w, uint32_t s, double rate)
{
    const struct fc_turns *t = w->turns;
    uint32_t first = t->first_choice[s], n = t->first_choice[s + 1] - first, best = 0;
    double share[MOST_SET], sum = 0, most = -INFINITY;
    if (n == 1) return 0;
    for (uint32_t i = 0; i < n; i++) {
        double free = fmax(1e-3, 1 - LOAD_SHARE * w->utilisation[t->choice_link[first + i]]);
        sum += share[i] = free * free;
    }
    for (uint32_t i = 0; i < n; i++) {
        double late = share[i] / sum * (t->state_rate[s] + rate) - t->choice_rate[first + i];
        if (late > most) most = late, best = i;
    }
    return best;
}

/* The choices of a head, escapes only where there is nothing else, as channels in the order of the routing. */
static uint32_t choices(struct walk *w, uint32_t vertex, uint32_t in_link, int in_vc,
                        const struct fc_flit_head *head, struct fc_flit_choice *out, struct choice *set,
                        struct fc_status *st)
{
    struct fc_flit_choice all[FC_FLIT_MOST_CHOICES];
    int n = w->flit.route->choices(&w->flit, vertex, in_link, in_vc, head, all);
    uint32_t m = 0;
    bool free = false;
    for (int i = 0; i < n; i++) free = free || !all[i].escape;
    for (int i = 0; i < n && m < MOST_SET; i++) {
        if (free && all[i].escape) continue;
        out[m] = all[i];
        set[m].link = w->orbit ? w->orbit[all[i].link] : all[i].link;
        set[m].channel = channel(w, set[m].link, all[i].vcs, st);
        if (set[m].channel == FC_NONE) return 0;
        m++;
    }
    return m;
}

static enum fc_code follow(struct walk *w, uint32_t src, uint32_t dst, double rate, struct fc_status *st)
{
    const struct fc_network *net = w->net;
    static const struct fc_flit_view view = {NULL, no_queue};
    struct fc_flit_head head = {.dst = dst,
                                .random = (uint32_t)(fc_random_quick(w->seed, w->n_walked) >> 32)};
    head.route = w->flit.route->start(&w->flit, src, dst, head.random, &view);
    uint32_t vertex = fc_node_vertex(net, src), in = FC_NONE, in_link = FC_NONE, routers = 0;
    uint64_t ticks = 0, longest = 0;
    int in_vc = 0;
    for (;;) {
        struct fc_flit_choice out[MOST_SET];
        struct choice set[MOST_SET];
        uint32_t n = choices(w, vertex, in_link, in_vc, &head, out, set, st);
        uint32_t s = n ? state(w, in, set, n, st) : FC_NONE;
        if (s == FC_NONE) return st->code;
        uint32_t pick = behind(w, s, rate), first = w->turns->first_choice[s];
        w->choosing = w->choosing || n > 1;
        w->turns->state_rate[s] += rate;
        w->turns->choice_rate[first + pick] += rate;
        head.route = out[pick].route;
        if (vertex < net->n_routers) ticks += w->flit.router_ticks;
        in = set[pick].channel;
        in_link = out[pick].link;
        in_vc = __builtin_ctz(out[pick].vcs);
        int class = net->link_class[in_link];
        uint64_t keeps = w->flit.flit_ticks[class] * (uint64_t)(w->flits_least + w->flits_most) / 2 +
                         w->flit.trailer_ticks[class];
        ticks += w->flit.latency_ticks[class];
        longest = keeps > longest ? keeps : longest;
        vertex = net->link_target[in_link];
        if (fc_is_node(net, vertex)) break;
        routers++;
    }
    double zero_load = (double)(ticks + longest) / w->flit.ticks_per_cycle;
    w->rate += rate;
    w->hops += rate * (routers - 1);
    w->zero_load += rate * zero_load;
    w->zero_load2 += rate * zero_load * zero_load;
    w->least_zero_load = fmin(w->least_zero_load, zero_load);
    w->n_walked++;
    w->n_hops += routers;
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

static uint32_t cumulative_find(const double *cumulative, uint32_t n, double x)
{
    uint32_t low = 0, high = n - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cumulative[middle] > x) high = middle;
        else low = middle + 1;
    }
    return low;
}

static enum fc_code all_pairs(struct walk *w, const struct fc_dense *part, uint32_t repeats, struct fc_status *st)
{
    uint32_t n = w->net->n_nodes;
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t d = 0; d < n; d++) {
            double bytes = part->a[s] * part->b[d];
            for (uint32_t i = 0; bytes > 0 && i < repeats; i++)
                if (follow(w, s, d, bytes * w->scale / repeats, st)) return st->code;
        }
    return FC_OK;
}

static enum fc_code sampled_pairs(struct walk *w, const struct fc_dense *part, uint64_t n_samples,
                                  struct fc_status *st)
{
    uint32_t n = w->net->n_nodes;
    double *a = fc_alloc(w->arena, n, sizeof *a, st), *b = a ? fc_alloc(w->arena, n, sizeof *b, st) : NULL;
    if (!b) return st->code;
    double sum_a = 0, sum_b = 0;
    for (uint32_t i = 0; i < n; i++) {
        a[i] = sum_a += part->a[i];
        b[i] = sum_b += part->b[i];
    }
    for (uint64_t i = 0; i < n_samples; i++) {
        uint32_t s = cumulative_find(a, n, ((double)i + 0.5) / (double)n_samples * sum_a);
        uint32_t d = cumulative_find(b, n, radical((uint32_t)i) * sum_b);
        if (follow(w, s, d, sum_a * sum_b * w->scale / (double)n_samples, st)) return st->code;
    }
    return FC_OK;
}

static enum fc_code sparse_pairs(struct walk *w, uint32_t repeats, struct fc_status *st)
{
    const struct fc_demand *demand = w->demand;
    for (size_t i = 0; i < demand->n_entries; i++)
        for (uint32_t r = 0; demand->bytes[i] > 0 && r < repeats; r++)
            if (follow(w, demand->src[i], demand->dst[i], demand->bytes[i] * w->scale / repeats, st))
                return st->code;
    return FC_OK;
}

static uint32_t repeats_of(double pairs, double packets)
{
    return (uint32_t)fmin(MOST_REPEATS, fmax(LEAST_REPEATS, packets / pairs));
}

/* One walk of all traffic with about that many packets. */
static enum fc_code walk_all(struct walk *w, double packets, struct fc_status *st)
{
    const struct fc_demand *demand = w->demand;
    struct fc_turns *t = w->turns;
    double pairs = (double)w->net->n_nodes * w->net->n_nodes;
    w->n_walked = w->n_hops = 0;
    w->rate = w->hops = w->zero_load = w->zero_load2 = 0;
    w->least_zero_load = INFINITY;
    memset(t->state_rate, 0, t->n_states * sizeof *t->state_rate);
    memset(t->choice_rate, 0, t->n_choices * sizeof *t->choice_rate);
    if (demand->n_entries && sparse_pairs(w, repeats_of((double)demand->n_entries, packets), st)) return st->code;
    for (int p = 0; p < demand->n_dense; p++) {
        double share = packets / demand->n_dense;
        t->sampled = LEAST_REPEATS * pairs > share;
        if (LEAST_REPEATS * pairs > share ? sampled_pairs(w, &demand->dense[p], (uint64_t)share, st)
                                          : all_pairs(w, &demand->dense[p], repeats_of(pairs, share), st))
            return st->code;
    }
    return FC_OK;
}

/* Rates of links and channels from those of the choices. */
static void add_up(struct walk *w)
{
    struct fc_turns *t = w->turns;
    memset(t->rate, 0, t->n_links * sizeof *t->rate);
    memset(t->channel_rate, 0, t->n_channels * sizeof *t->channel_rate);
    for (uint32_t i = 0; i < t->n_choices; i++) {
        t->rate[t->choice_link[i]] += t->choice_rate[i] / t->copies[t->choice_link[i]];
        t->channel_rate[t->choice_channel[i]] += t->choice_rate[i];
    }
    t->max_service_rate = 0;
    for (uint32_t l = 0; l < t->n_links; l++)
        t->max_service_rate = fmax(t->max_service_rate, t->rate[l] * t->service[l]);
}

/* Utilisations for the shares of the next round: the mean of those so far, the first ones counting less. */
static void average(struct walk *w, int round)
{
    const struct fc_turns *t = w->turns;
    for (uint32_t l = 0; l < t->n_links; l++) {
        double now = t->rate[l] * t->service[l] / t->max_service_rate;
        w->utilisation[l] += (now - w->utilisation[l]) / (round < 2 ? 1 : round);
    }
}

static enum fc_code rounds(struct walk *w, uint64_t most_hops, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    double packets = 64;
    if (walk_all(w, packets, st)) return st->code; /* hops a packet, and whether there is anything to choose */
    double hops = (double)w->n_hops / (double)w->n_walked, most = (double)most_hops / hops;
    int n = w->choosing ? ROUNDS : 1;
    add_up(w);
    if (w->choosing) memset(w->utilisation, 0, t->n_links * sizeof *w->utilisation);
    for (int round = 0; round < n; round++) {
        if (walk_all(w, round + 1 < n ? most / (2 * ROUNDS) : most / (n > 1 ? 2 : 1), st)) return st->code;
        add_up(w);
        average(w, round);
    }
    return FC_OK;
}

/* ---- links ---- */

static double moment(const struct walk *w, int class, int power)
{
    double sum = 0;
    for (uint32_t f = w->flits_least; f <= w->flits_most; f++)
        sum += pow((f * (double)w->flit.flit_ticks[class] + w->flit.trailer_ticks[class]) / w->flit.ticks_per_cycle,
                   power);
    return sum / (w->flits_most - w->flits_least + 1);
}

static enum fc_code make_links(struct walk *w, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    const struct fc_network *net = w->net;
    uint32_t n = net->n_links;
    uint32_t *place = NULL;
    if (t->folded && fc_turns_orbits(net, &w->cells, w->arena, &w->orbit, &place, &n, st)) return st->code;
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
        t->port[o] = place ? place[o] : l;
        t->service[o] = mean[net->link_class[l]];
        t->service2[o] = square[net->link_class[l]];
        t->kind[o] = fc_is_node(net, net->link_source[l])   ? FC_TURN_INJECTION
                     : fc_is_node(net, net->link_target[l]) ? FC_TURN_EJECTION
                                                            : FC_TURN_NETWORK;
        t->paths[o] = fmax(1, w->flit.port_paths[l]);
    }
    return FC_OK;
}

/* ---- the whole ---- */

static enum fc_code make(struct walk *w, const struct fc_flit_settings *settings, uint64_t most_hops,
                         struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    const struct fc_network *net = w->net;
    if (fc_flit_lengths(&w->flit, settings, &w->flits_least, &w->flits_most, st) ||
        fc_turns_cells(net, w->demand, &w->cells, &t->folded, st) || make_links(w, st))
        return st->code;
    double *weight = fc_alloc(w->arena, net->n_nodes, sizeof *weight, st), sum = 0;
    if (!weight || fc_flit_weights(&w->flit, w->demand, weight, st)) return st->code;
    for (uint32_t s = 0; s < net->n_nodes; s++) sum += weight[s];
    t->flits_mean = (w->flits_least + (double)w->flits_most) / 2;
    t->buffer_packets = fmax(1, w->flit.buffer_flits / t->flits_mean);
    t->n_vcs = w->flit.n_vcs;
    w->scale = net->n_nodes / sum / t->flits_mean;
    w->seed = fc_random(settings->seed, packet_stream, 0);
    if (more_channels(w, st) || more_states(w, st) || more_choices(w, st) || rounds(w, most_hops, st))
        return st->code;
    t->packets = w->rate;
    t->hops_mean = w->hops / w->rate;
    t->zero_load_cycles = w->zero_load / w->rate;
    t->zero_load_variance = fmax(0, w->zero_load2 / w->rate - t->zero_load_cycles * t->zero_load_cycles);
    t->least_zero_load_cycles = w->least_zero_load;
    t->n_walked = w->n_walked;
    t->cycle_s = w->flit.cycle_s;
    return FC_OK;
}

enum fc_code fc_turns_make(const struct fc_network *net, const struct fc_demand *demand,
                           const struct fc_flit_settings *settings, uint64_t most_hops, struct fc_turns *turns,
                           struct fc_status *st)
{
    struct fc_arena scratch = {0};
    struct walk w = {.net = net, .turns = turns, .arena = &scratch, .demand = demand};
    memset(turns, 0, sizeof *turns);
    turns->net = net;
    if (fc_flit_prepare(net, settings, &w.flit, st)) return st->code;
    if (make(&w, settings, most_hops, st)) fc_turns_free(turns);
    fc_flit_unprepare(&w.flit);
    fc_arena_free(&scratch);
    return st->code;
}

void fc_turns_free(struct fc_turns *turns)
{
    fc_arena_free(&turns->arena);
    memset(turns, 0, sizeof *turns);
}
