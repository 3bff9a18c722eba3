/* source.c - open-loop sources: Bernoulli births, destinations by weight; and the calls common to both kinds.
 *
 * Node s offers r_s flits a cycle, r_s proportional to the bytes that the demand has it send, mean over all
 * nodes = load. In every cycle a packet is born with probability p = r_s / (mean packet length); the gap
 * between two births is then geometric, P(gap = g) = p (1-p)^(g-1), drawn by inversion: gap = 1 + floor(log u
 * / log(1-p)). Where p would exceed 1 the trials are made m = 2, 4, 8, ... times a cycle with p/m. Source:
 * Dally & Towles (2004), section 24.2; Devroye, Non-Uniform Random Variate Generation (1986), chapter X.2.
 * Destinations: Walker's alias method in the construction of Vose, IEEE Trans. Softw. Eng. 17(9), 1991, one
 * draw and one comparison each. A dense part a[s] b[d] is drawn over all d, the sender included (Dally &
 * Towles table 3.1): such packets turn round in the node's router.
 *
 * A background (traffic of others beside the demand's) shares the nodes' queues: births come at the rate of both,
 * p = r_s / length + r'_s / length', and each is one of the background with its share of p; so both are Bernoulli
 * processes of their own rates that never give birth in the same trial. Its destinations have tables and draws of
 * their own: without one nothing changes.
 *
 * Packet number i of node s is a function of (seed, s, i) but for the birth, which adds the gap to the birth
 * before it: the source queue is never stored. Draws a packet: 2, and 1 more with several lengths or
 * components. Limits: gaps above 36.7/p (probability 2^-53) do not occur; weights of destinations are exact
 * to 2^-32 of the mean weight. */
#include "solvers/flit/source_draw.h"
#include "models/hosts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- alias tables ---------------------------------------------------------------------------------------- */

void fc_flit_alias_make(const double *weight, uint32_t n, struct fc_flit_alias *out, uint32_t *scratch, double *scaled)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += weight[i];
    uint32_t n_small = 0, n_large = 0; /* small from the front of scratch, large from its end */
    for (uint32_t i = 0; i < n; i++) {
        scaled[i] = weight[i] / sum * n;
        out[i] = (struct fc_flit_alias){i, UINT32_MAX};
        if (scaled[i] < 1)
            scratch[n_small++] = i;
        else
            scratch[n - ++n_large] = i;
    }
    uint32_t donor = n_large ? scratch[n - n_large] : 0;
    while (n_small && n_large) {
        uint32_t small = scratch[--n_small], large = scratch[n - n_large];
        donor = large;
        out[small] = (struct fc_flit_alias){large, (uint32_t)fmin(scaled[small] * 0x1p32, UINT32_MAX)};
        scaled[large] -= 1 - scaled[small];
        if (scaled[large] < 1) {
            n_large--;
            scratch[n_small++] = large;
        }
    }
    /* What rounding leaves over counts as full, but a destination without weight must never be drawn. */
    while (n_small) {
        uint32_t small = scratch[--n_small];
        if (weight[small] == 0) out[small] = (struct fc_flit_alias){donor, 0};
    }
}

/* Index below n by the high word of bits * n; its low word is uniform given the index and decides column or
 * alias. */
static inline uint32_t pick(const struct fc_flit_alias *table, uint32_t n, uint64_t bits)
{
    unsigned __int128 product = (unsigned __int128)bits * n;
    uint32_t i = (uint32_t)(product >> 64);
    if (!table) return i;
    return (uint32_t)((uint64_t)product >> 32) <= table[i].keep && table[i].keep ? i : table[i].alias;
}

/* ---- packets --------------------------------------------------------------------------------------------- */

static uint32_t destination(const struct fc_flit_traffic *t, uint32_t node, uint64_t bits, uint64_t more)
{
    const struct fc_flit_open *o = &t->open;
    int c = o->only[node];
    if (c == FC_FLIT_MANY) {
        const double *share = o->component + (size_t)node * ((size_t)o->n_parts + 1);
        double u = (double)(uint32_t)more * 0x1p-32;
        for (c = 0; c < o->n_parts && u >= share[c];) c++;
    }
    if (c < o->n_parts) return pick(o->column[c], t->n_nodes, bits);
    uint64_t first = o->row_first[node];
    return o->row_dst[first + pick(o->row + first, (uint32_t)(o->row_first[node + 1] - first), bits)];
}

/* ln(m / 2^53) for 1 <= m <= 2^53, to 10^-12 of itself: m = 2^e x, sqrt(1/2) <= x < sqrt(2), ln x = 2 artanh f with
 * f = (x-1)/(x+1) as its power series to f^13. The same on every machine, and in half the time of a libm's. */
static inline double log_of_share(uint64_t m)
{
    double d = (double)(int64_t)m;
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    bits += UINT64_C(0x3ff0000000000000) - UINT64_C(0x3fe6a09e667f3bcd);
    double e = (double)((int)(bits >> 52) - (1023 + 53));
    bits = (bits & UINT64_C(0x000fffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd);
    memcpy(&d, &bits, sizeof d);
    double f = (d - 1) / (d + 1), s = f * f, s2 = s * s;
    double series =
        (1 + s * (1. / 3)) + s2 * ((1. / 5 + s * (1. / 7)) + s2 * ((1. / 9 + s * (1. / 11)) + s2 * (1. / 13)));
    return e * 0x1.62e42fefa39efp-1 + 2 * f * series;
}

/* Gaps that the upper bits of the draw decide: those of the least and of the greatest draw with these bits,
 * with a margin a thousand times the error of the logarithm, are the same. */
static enum fc_code make_quick_gaps(struct fc_flit_traffic *t, struct fc_status *st)
{
    struct fc_flit_open *o = &t->open;
    o->quick_scale = NAN;
    if (!(o->quick_gap = fc_alloc(&t->arena, FC_FLIT_QUICK_GAPS, sizeof *o->quick_gap, st))) return st->code;
    if (!o->whole_ticks || o->whole_ticks > 1 << 20) return FC_OK;
    for (uint32_t s = t->n_nodes; s-- > 0;)
        if (!isnan(o->gap_scale[s])) o->quick_scale = o->gap_scale[s];
    for (uint64_t i = 0; i < FC_FLIT_QUICK_GAPS; i++) {
        uint64_t least = i * FC_QUICK_DRAWS, greatest = least + (FC_QUICK_DRAWS - 1);
        double most = log_of_share((least >> 11) + 1) * o->quick_scale * (1 + 1e-9) + 1e-9;
        double low = log_of_share((greatest >> 11) + 1) * o->quick_scale * (1 - 1e-9) - 1e-9;
        if (greatest >> 11 == UINT64_MAX >> 11 && most < 1) low = 0; /* ln 1 is 0 */
        if (low >= 0 && most < UINT16_MAX - 1 && floor(low) == floor(most))
            o->quick_gap[i] = (uint16_t)(floor(low) + 1);
    }
    return FC_OK;
}

/* Decided by a draw that packets of the background have no other use for: their births are not drawn apart. */
static inline bool is_background(const struct fc_flit_traffic *t, uint32_t node, uint64_t number)
{
    return t->background && fc_flit_draw(t->background, node, number, FC_DRAW_GAP) <= t->open.background_below[node];
}

/* Everything of packet source->number; its birth comes `gap` steps after cursor, which counts steps + 1. */
static void make(const struct fc_flit_traffic *t, uint32_t node, struct fc_flit_source *source)
{
    const struct fc_flit_open *o = &t->open;
    uint64_t a = fc_flit_draw(t, node, source->number, FC_DRAW_GAP),
             b = fc_flit_draw(t, node, source->number, FC_DRAW_DST);
    const struct fc_flit_traffic *of = is_background(t, node, source->number) ? t->background : t;
    uint64_t where = of == t ? b : fc_flit_draw(of, node, source->number, FC_DRAW_DST);
    uint64_t more = of->open.flits_range > 1 || of->open.only[node] == FC_FLIT_MANY
                        ? fc_flit_draw(of, node, source->number, FC_DRAW_MORE)
                        : 0;
    source->dst = destination(of, node, where, more);
    source->flits = of->open.flits_min + (uint32_t)((more >> 32) * of->open.flits_range >> 32);
    source->random = fc_flit_third_draw(a, b);
    source->tag = of == t ? 0 : FC_FLIT_BACKGROUND;
    if (t->backlog) {
        source->born = 0;
        return;
    }
    uint64_t quick = o->gap_scale[node] == o->quick_scale ? o->quick_gap[a / FC_QUICK_DRAWS] : 0;
    if (__builtin_expect(quick && source->cursor < UINT64_C(1) << 40, 1)) {
        uint64_t birth = source->cursor + quick - 1;
        source->cursor = birth + 1;
        source->born = birth * o->whole_ticks;
        return;
    }
    double gap = log_of_share((a >> 11) + 1) * o->gap_scale[node], /* of a number in (0, 1] */
        most = 0x1p53 - 1 - (double)(int64_t)source->cursor;
    double tick = ((double)(int64_t)source->cursor + gap) * o->ticks_per_step;
    if (!(gap < most && tick < 0x1p62)) {
        source->born = UINT64_MAX;
        return;
    }
    uint64_t step = source->cursor + (uint64_t)(int64_t)gap; /* of birth */
    source->cursor = step + 1;
    source->born = o->whole_ticks ? step * o->whole_ticks : (uint64_t)rint((double)step * o->ticks_per_step);
}

void fc_flit_first(const struct fc_flit_traffic *traffic, uint32_t node, struct fc_flit_source *source)
{
    if (!traffic->open_loop) {
        fc_flit_closed_first(traffic, node, source);
        return;
    }
    *source = (struct fc_flit_source){.born = UINT64_MAX};
    if (fc_flit_sends(traffic, node)) make(traffic, node, source);
}

void fc_flit_next(const struct fc_flit_traffic *traffic, uint32_t node, struct fc_flit_source *source)
{
    if (source->born == UINT64_MAX) return;
    if (!traffic->open_loop) {
        fc_flit_closed_next(traffic, node, source);
        return;
    }
    source->number++;
    make(traffic, node, source);
}

bool fc_flit_sends(const struct fc_flit_traffic *traffic, uint32_t node)
{
    if (traffic->open_loop) return !isnan(traffic->open.gap_scale[node]);
    struct fc_flit_source first;
    fc_flit_closed_first(traffic, node, &first);
    return first.born != UINT64_MAX;
}

/* ---- preparation ----------------------------------------------------------------------------------------- */

enum fc_code fc_flit_lengths(const struct fc_flit_net *flit, const struct fc_flit_settings *settings, uint32_t *least,
                             uint32_t *most, struct fc_status *st)
{
    *most = settings->packet_flits_max                            ? settings->packet_flits_max
            : settings->packet_flits_min > flit->packet_flits_max ? settings->packet_flits_min
                                                                  : flit->packet_flits_max;
    *least = settings->packet_flits_min ? settings->packet_flits_min : *most;
    if (*least > *most)
        return fc_refuse(st, FC_INPUT, "packet length: least of %u flits is above the most of %u", *least, *most);
    if (*most > flit->packet_flits_max)
        return fc_refuse(st, FC_INPUT, "packet length: %u flits are more than the %u of the machine's largest packet",
                         *most, flit->packet_flits_max);
    return FC_OK;
}

double fc_flit_injection_capacity(const struct fc_flit_net *flit, uint32_t node, double flits)
{
    const struct fc_network *net = flit->net;
    uint32_t v = fc_node_vertex(net, node);
    double capacity = 0;
    for (uint32_t l = net->first_link[v]; l < net->first_link[v + 1]; l++) {
        int c = net->link_class[l];
        double ticks = flits * flit->flit_ticks[c] + flit->trailer_ticks[c];
        capacity += ticks > 0 ? flits / ticks * flit->ticks_per_cycle : INFINITY;
    }
    return capacity;
}

enum fc_code fc_flit_weights(const struct fc_flit_net *flit, const struct fc_demand *demand, double *weight,
                             struct fc_status *st)
{
    uint32_t n = flit->n_nodes;
    if (demand->n_tasks != n)
        return fc_refuse(st, FC_INPUT,
                         "open-loop traffic has one source a node: '%s' has %u tasks, the network %u nodes",
                         demand->name ? demand->name : "the demand", demand->n_tasks, n);
    for (uint32_t s = 0; s < n; s++) weight[s] = 0;
    for (int p = 0; p < demand->n_dense; p++) {
        double b = 0;
        for (uint32_t d = 0; d < n; d++) b += demand->dense[p].b[d];
        for (uint32_t s = 0; s < n; s++) weight[s] += demand->dense[p].a[s] * b;
    }
    for (size_t i = 0; i < demand->n_entries; i++) weight[demand->src[i]] += demand->bytes[i];
    double sum = 0;
    for (uint32_t s = 0; s < n; s++) sum += weight[s];
    if (!(sum > 0) || !isfinite(sum))
        return fc_refuse(st, FC_INPUT, "'%s' sends %g bytes in all: nothing to offer",
                         demand->name ? demand->name : "the demand", sum);
    return FC_OK;
}

/* Rates of nodes, flits a cycle: load n weight / sum. */
struct rates {
    double load, n, sum;
    const double *weight; /* [n] NULL: nothing is sent */
};
static struct rates rates_of(double load, const double *weight, uint32_t n)
{
    struct rates r = {load, n, 0, weight};
    for (uint32_t s = 0; s < n; s++) r.sum += weight[s];
    return r;
}
static double rate_of(const struct rates *r, uint32_t s)
{
    return r->weight ? r->load * r->n * r->weight[s] / r->sum : 0;
}

static enum fc_code check_rate(const struct fc_flit_net *flit, const struct fc_flit_traffic *t, uint32_t s, double all,
                               double beside, struct fc_status *st)
{
    double capacity = fc_flit_injection_capacity(flit, s, t->mean_flits);
    char name[360];
    if (!(all > 0) || all + beside <= capacity * (1 + 1e-9)) return FC_OK;
    fc_node_name(flit->net, s, name, sizeof name);
    if (beside > 0)
        return fc_refuse(st, FC_INPUT,
                         "load %g: %s would offer %.6g flits a cycle and its background %.6g, but its injection "
                         "links take %.6g",
                         t->offered, name, all, beside, capacity);
    return fc_refuse(st, FC_INPUT,
                     "load %g: %s would offer %.6g flits a cycle, but its injection links take %.6g "
                     "(load counts flits a node and cycle; at most %.6g here; write a percentage, such as 80%%, "
                     "for a share of the ideal throughput)",
                     t->offered, name, all, capacity, t->offered * capacity / all);
}

/* Births a cycle of the node, packets of the background in. */
static double births(const struct fc_flit_traffic *t, const struct rates *own, const struct rates *beside, uint32_t s)
{
    double others = t->background ? rate_of(beside, s) / t->background->mean_flits : 0;
    return rate_of(own, s) / t->mean_flits + others;
}

/* Rates from weights (beside: the background's); refuses a load that the busiest sender cannot inject. */
static enum fc_code set_rates(const struct fc_flit_net *flit, const struct rates *own, const struct rates *beside,
                              struct fc_flit_traffic *t, struct fc_status *st)
{
    struct fc_flit_open *o = &t->open;
    struct rates all = *own;
    double p_most = 0;
    all.load = t->offered; /* of all priorities */
    for (uint32_t s = 0; s < t->n_nodes; s++) {
        if (check_rate(flit, t, s, rate_of(&all, s), rate_of(beside, s), st)) return st->code;
        if (own->weight[s] > 0 && !(rate_of(own, s) / t->mean_flits > 1e-12))
            return fc_refuse(st, FC_INPUT, "load %g: %s would send less than a packet in 10^12 cycles", own->load,
                             fc_node_name(flit->net, s, (char[360]){0}, 360));
        p_most = fmax(p_most, births(t, own, beside, s));
    }
    double steps = 1; /* a cycle */
    while (p_most / steps > 1 + 1e-9) steps *= 2;
    o->ticks_per_step = flit->ticks_per_cycle / steps;
    if (o->ticks_per_step >= 1 && o->ticks_per_step == floor(o->ticks_per_step))
        o->whole_ticks = (uint64_t)o->ticks_per_step;
    for (uint32_t s = 0; s < t->n_nodes; s++) {
        double p = births(t, own, beside, s);
        o->gap_scale[s] = p > 0 ? 1 / log1p(-fmin(p / steps, 1)) : NAN;
        if (!t->background) continue;
        double share = p > 0 ? rate_of(beside, s) / t->background->mean_flits / p : 0;
        o->background_below[s] = own->weight[s] > 0 ? (uint64_t)fmin(share * 0x1p64, 0x1.fffffffffffffp63) : UINT64_MAX;
    }
    o->load = own->load;
    return FC_OK;
}

static enum fc_code make_rows(const struct fc_demand *demand, struct fc_flit_traffic *t, struct fc_status *st)
{
    struct fc_flit_open *o = &t->open;
    size_t n = demand->n_entries;
    o->row_first = fc_alloc(&t->arena, (size_t)t->n_nodes + 1, sizeof *o->row_first, st);
    uint32_t *dst = o->row_first ? fc_alloc(&t->arena, n, sizeof *dst, st) : NULL;
    o->row = dst ? fc_alloc(&t->arena, n, sizeof *o->row, st) : NULL;
    if (!o->row) return st->code;
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && demand->src[i] < demand->src[i - 1])
            return fc_refuse(st, FC_FAULT, "demand entry %zu is not in order of senders", i);
        o->row_first[demand->src[i] + 1]++;
        dst[i] = demand->dst[i];
    }
    o->row_dst = dst;
    for (uint32_t s = 0; s < t->n_nodes; s++) {
        most = o->row_first[s + 1] > most ? o->row_first[s + 1] : most;
        o->row_first[s + 1] += o->row_first[s];
    }
    uint32_t *scratch = malloc(most * sizeof *scratch + 1);
    double *scaled = malloc(most * sizeof *scaled + 1);
    if (!scratch || !scaled) {
        free(scratch);
        free(scaled);
        return fc_out_of_memory(st, "the destinations of %llu entries", (unsigned long long)most);
    }
    for (uint32_t s = 0; s < t->n_nodes; s++) {
        uint64_t first = o->row_first[s], size = o->row_first[s + 1] - first;
        fc_flit_alias_make(demand->bytes + first, (uint32_t)size, o->row + first, scratch, scaled);
    }
    free(scratch);
    free(scaled);
    return FC_OK;
}

static enum fc_code make_columns(const struct fc_demand *demand, struct fc_flit_traffic *t, struct fc_status *st)
{
    struct fc_arena reading = {0};
    uint32_t *scratch = NULL;
    double *scaled = NULL;
    for (int p = 0; p < demand->n_dense; p++) {
        if (fc_all_equal(demand->dense[p].b, t->n_nodes)) continue;
        if (!scratch) scratch = fc_alloc(&reading, t->n_nodes, sizeof *scratch, st);
        if (scratch && !scaled) scaled = fc_alloc(&reading, t->n_nodes, sizeof *scaled, st);
        t->open.column[p] = scaled ? fc_alloc(&t->arena, t->n_nodes, sizeof(struct fc_flit_alias), st) : NULL;
        if (!t->open.column[p]) break;
        fc_flit_alias_make(demand->dense[p].b, t->n_nodes, t->open.column[p], scratch, scaled);
    }
    fc_arena_free(&reading);
    return st->code;
}

/* Cumulative shares of the components of each node, and the only one where there is but one. */
static enum fc_code make_components(const struct fc_demand *demand, const double *weight, struct fc_flit_traffic *t,
                                    struct fc_status *st)
{
    struct fc_flit_open *o = &t->open;
    size_t width = (size_t)demand->n_dense + 1;
    o->n_parts = demand->n_dense;
    o->only = fc_alloc(&t->arena, t->n_nodes, 1, st);
    o->component = o->only ? fc_alloc(&t->arena, t->n_nodes * width, sizeof *o->component, st) : NULL;
    if (!o->component) return st->code;
    double total_b[FC_FLIT_PARTS] = {0};
    for (int p = 0; p < demand->n_dense; p++)
        for (uint32_t d = 0; d < t->n_nodes; d++) total_b[p] += demand->dense[p].b[d];
    for (size_t i = 0; i < demand->n_entries; i++) o->component[demand->src[i] * width + width - 1] += demand->bytes[i];
    for (uint32_t s = 0; s < t->n_nodes; s++) {
        double *share = o->component + s * width, before = 0;
        int used = 0;
        for (size_t c = 0; c < width; c++) {
            double bytes = c + 1 < width ? demand->dense[c].a[s] * total_b[c] : share[c];
            if (bytes > 0) o->only[s] = used++ ? FC_FLIT_MANY : (uint8_t)c;
            before += bytes;
            share[c] = weight[s] > 0 ? before / weight[s] : 0;
        }
    }
    return FC_OK;
}

/* The packets of high priority: a traffic of its own, a share of the load, with other draws; `low` gets the
 * rest. */
static enum fc_code split_priorities(const struct fc_flit_net *flit, const struct fc_demand *demand,
                                     const struct fc_flit_settings *settings, struct fc_flit_settings *low,
                                     struct fc_flit_traffic *t, struct fc_status *st)
{
    double share = settings->high_priority_share;
    if (share == 0) return FC_OK;
    if (settings->background)
        return fc_refuse(st, FC_INPUT, "high priority and a background cannot both be counted apart");
    if (!(share > 0) || !(share < 1))
        return fc_refuse(st, FC_INPUT, "high-priority share %g: expected 0 or more and less than 1", share);
    if (!demand->open_loop || settings->backlog)
        return fc_refuse(st, FC_INPUT, "high-priority share %g: %s have no rate to take a share of", share,
                         settings->backlog ? "sources that always have a packet waiting" : "finite messages");
    struct fc_flit_settings high = *settings;
    high.high_priority_share = 0;
    high.load_flits_per_cycle *= share;
    high.seed = fc_random(settings->seed, UINT64_C(0x7072696f72697479), 0); /* "priority" */
    low->load_flits_per_cycle *= 1 - share;
    t->high_share = share;
    return fc_flit_traffic_make(flit, demand, NULL, &high, &t->high, st);
}

/* The background as a traffic of its own, of which destinations and lengths are used, and its rates. */
static enum fc_code make_background(const struct fc_flit_net *flit, const struct fc_flit_settings *settings,
                                    struct fc_flit_traffic *t, struct rates *beside, struct fc_status *st)
{
    struct fc_demand rates = *settings->background; /* shares its arrays */
    struct fc_flit_settings own = *settings;
    double *weight = fc_alloc(&t->arena, t->n_nodes, sizeof *weight, st);
    if (settings->backlog)
        return fc_refuse(st, FC_INPUT,
                         "backlog: sources that always have a packet waiting leave a background no place");
    rates.open_loop = true;
    own.background = NULL;
    own.packet_flits_min = own.packet_flits_max; /* 0: the machine's largest packet */
    own.load_flits_per_cycle = settings->background_flits_per_cycle;
    own.seed = fc_random(settings->seed, UINT64_C(0x6261636b67726f75), 0); /* "backgrou" */
    t->open.background_below = fc_alloc(&t->arena, t->n_nodes, sizeof *t->open.background_below, st);
    if (!weight || !t->open.background_below || fc_flit_traffic_make(flit, &rates, NULL, &own, &t->background, st) ||
        fc_flit_weights(flit, &rates, weight, st))
        return st->code;
    *beside = rates_of(own.load_flits_per_cycle, weight, t->n_nodes);
    return FC_OK;
}

static enum fc_code open_make(const struct fc_flit_net *flit, const struct fc_demand *demand,
                              const struct fc_flit_settings *settings, struct fc_flit_traffic *t, struct fc_status *st)
{
    uint32_t least, most;
    if (fc_flit_lengths(flit, settings, &least, &most, st)) return st->code;
    double load = settings->load_flits_per_cycle;
    if (settings->backlog && load != 0)
        return fc_refuse(st, FC_INPUT, "load %g with a backlog: sources that always have a packet waiting have no load",
                         load);
    if (!settings->backlog && (!(load > 0) || !isfinite(load)))
        return fc_refuse(st, FC_INPUT, "load %g: expected a positive number of flits a node and cycle", load);
    t->mean_flits = ((double)least + most) / 2;
    t->open.flits_min = least;
    t->open.flits_range = most - least + 1;
    double *weight = fc_alloc(&t->arena, t->n_nodes, sizeof *weight, st);
    t->open.gap_scale = weight ? fc_alloc(&t->arena, t->n_nodes, sizeof(double), st) : NULL;
    t->open.key = weight ? fc_alloc(&t->arena, t->n_nodes, sizeof *t->open.key, st) : NULL;
    if (!t->open.key) return st->code;
    for (uint32_t s = 0; s < t->n_nodes; s++) t->open.key[s] = fc_random(t->key, s, 0);
    if (!t->open.gap_scale || fc_flit_weights(flit, demand, weight, st)) return st->code;
    struct rates own = rates_of(load, weight, t->n_nodes), beside = {0};
    if (settings->background && make_background(flit, settings, t, &beside, st)) return st->code;
    if (settings->backlog)
        for (uint32_t s = 0; s < t->n_nodes; s++) t->open.gap_scale[s] = weight[s] > 0 ? 0 : NAN;
    else if (set_rates(flit, &own, &beside, t, st))
        return st->code;
    if (make_quick_gaps(t, st)) return st->code;
    if (demand->n_entries && make_rows(demand, t, st)) return st->code;
    if (make_columns(demand, t, st)) return st->code;
    return make_components(demand, weight, t, st);
}

enum fc_code fc_flit_traffic_make(const struct fc_flit_net *flit, const struct fc_demand *demand, const uint32_t *node,
                                  const struct fc_flit_settings *settings, struct fc_flit_traffic **traffic,
                                  struct fc_status *st)
{
    *traffic = NULL;
    struct fc_flit_traffic *t = calloc(1, sizeof *t);
    if (!t) return fc_out_of_memory(st, "the sources");
    t->n_nodes = flit->n_nodes;
    t->open_loop = demand->open_loop;
    t->few_pairs = fc_flit_has_few_pairs(demand, flit->n_nodes);
    t->backlog = settings->backlog;
    t->key = fc_random(settings->seed, UINT64_C(0x736f7572636573), 0); /* "sources" */
    t->offered = settings->load_flits_per_cycle;
    struct fc_flit_settings own = *settings;
    enum fc_code code = split_priorities(flit, demand, settings, &own, t, st);
    if (!code)
        code =
            t->open_loop ? open_make(flit, demand, &own, t, st) : fc_flit_closed_make(flit, demand, node, &own, t, st);
    if (code) {
        fc_flit_traffic_free(t);
        return code;
    }
    *traffic = t;
    return FC_OK;
}

bool fc_flit_has_background(const struct fc_flit_traffic *traffic)
{
    return traffic->background != NULL;
}

const struct fc_flit_traffic *fc_flit_high_traffic(const struct fc_flit_traffic *traffic)
{
    return traffic->high;
}
