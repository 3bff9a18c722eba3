/* turns_destinations.c - turns without following packets, destination by destination.
 *
 * What a head may do depends on its spot (turns_ways.c), so all packets of a destination flow through one
 * graph without cycles, and one pass in topological order is exact: x(s) = starts(s) + sum over edges (r, s)
 * of x(r) p(r, s), p: share of the output among those of the spot, in proportion to fc_turns_weight as in
 * turns.c. Heads that came by channel c and have the outputs of s are the flow of the edges into s by c.
 * Utilisations: rounds of passes, each adding the share `step` of the change, until they change by less than
 * ACCURACY of the busiest; the step shrinks while the change does not fall (Sheffi, Urban Transportation
 * Networks, 1985, chapter 12: step sizes). The last pass counts states, too.
 *
 * Alone: ticks of a packet alone are sums of terms that depend on (gap between head and tail, class of the
 * link before) and the link, so the moments are carried through the graph for each such kind.
 *
 * States: exact where they are few; beyond MOST_STATES those of one channel with as many outputs are counted
 * as one at once (turns_pool.c says what that leaves out). O(edges) a pass. Limits: those of turns_ways.c;
 * graphs of more edges than KEPT are built anew every round, of which there are then few. */
#include "solvers/queueing/turns_ways.h"

#include <string.h>

#define ACCURACY 1e-5
#define KEPT 12e6
enum {
    MOST_ROUNDS = 40,
    ROUNDS_UNKEPT = 6,
    MOST_STATES = 20000,
    TRIED = 16,
    AHEAD = 8,
    MOST_KINDS = FC_MAX_CLASSES * FC_MAX_CLASSES + 2
};

/* How far a packet alone has come: first and second moments of its ticks, weighted by rate; the least. */
struct moments {
    double rate, ticks, square, least;
};
struct step {
    uint32_t kind; /* + 1; 0: not known yet */
    double ticks;
};
/* Rates of heads that came by one channel (or from one node) and have one number of outputs. */
struct row {
    double *rate; /* [width] by slot of the output channel */
    uint32_t width;
};
/* Heads of a rate that came to a spot, for their row. */
struct arrival {
    struct row row;
    double rate;
    uint32_t spot;
};
struct pass {
    struct fc_turns_walk *w;
    struct fc_ways_builder b;
    struct fc_kept_ways *kept; /* [n_graphs] NULL: built when needed */
    uint32_t n_graphs;
    uint32_t spots, edges; /* room in what follows */
    double *x;             /* [spots + 1] packets a cycle; of the last spot + 1: arrived */
    double *share;         /* [edges] */
    struct moments *alone; /* [spots][n_kinds room] */
    double *weight, *flow; /* [channels] fc_turns_weight, packets a cycle */
    uint32_t channels;
    uint32_t n_kinds;
    struct fc_turns_alone kind[MOST_KINDS];
    struct step (*steps)[FC_MAX_CLASSES][4]; /* [MOST_KINDS][class][2 x from router + to node] */
    bool pooled, overflow;
    uint32_t stride;          /* most outputs + 1 */
    struct row *row;          /* [n_nodes + rows_channels][stride] of heads from nodes, by channels; by outputs */
    struct arrival *arrivals; /* [most_arrivals] of the destination at hand */
    uint32_t rows_channels, n_arrivals, most_arrivals;
    uint32_t *slot;  /* [channels] among those out of the same vertex */
    uint32_t *slots; /* [n_vertices] */
    uint32_t n_slotted;
};

/* ---- graphs, kept or built ---- */

static const struct fc_ways *ways_of(struct pass *p, uint32_t i, struct fc_status *st)
{
    if (p->kept) return fc_ways_kept(&p->b, &p->kept[i]);
    return fc_ways_build(&p->b, p->b.destination[i / p->b.words.n_way], i % p->b.words.n_way, st) ? NULL : &p->b.ways;
}

static enum fc_code keep_all(struct pass *p, struct fc_status *st)
{
    struct fc_kept_ways *kept = fc_alloc(p->w->arena, p->n_graphs, sizeof *kept, st);
    struct fc_ways_store store = {.arena = p->w->arena};
    for (uint32_t i = 0; kept && i < p->n_graphs; i++) {
        const struct fc_ways *ways = ways_of(p, i, st);
        if (!ways || fc_ways_keep(ways, &store, &kept[i], st)) return st->code;
    }
    p->kept = kept;
    return st->code;
}

static enum fc_code make_room(struct pass *p, const struct fc_ways *ways, struct fc_status *st)
{
    struct fc_arena *arena = p->w->arena;
    uint32_t edges = ways->first[ways->n_spots];
    if (ways->n_spots > p->spots) {
        p->spots = 2 * ways->n_spots;
        p->x = fc_alloc(arena, p->spots + 1ull, sizeof *p->x, st);
        p->alone = fc_alloc(arena, (size_t)p->spots * p->n_kinds, sizeof *p->alone, st);
    }
    if (edges > p->edges) {
        p->edges = 2 * edges;
        p->share = fc_alloc(arena, p->edges, sizeof *p->share, st);
    }
    if (p->pooled && ways->n_starts + edges > p->most_arrivals) {
        p->most_arrivals = 2 * (ways->n_starts + edges);
        p->arrivals = fc_alloc(arena, p->most_arrivals, sizeof *p->arrivals, st);
    }
    if (p->w->turns->n_channels > p->channels) {
        uint32_t more = 2 * p->w->turns->n_channels;
        double *weight = fc_alloc(arena, more, sizeof *weight, st), *flow = fc_alloc(arena, more, sizeof *flow, st);
        if (st->code) return st->code;
        if (p->channels) memcpy(flow, p->flow, p->channels * sizeof *flow);
        for (uint32_t c = 0; c < more; c++) weight[c] = 1;
        if (p->channels) memcpy(weight, p->weight, p->channels * sizeof *weight);
        p->weight = weight;
        p->flow = flow;
        p->channels = more;
    }
    return st->code;
}

/* ---- flow ---- */

/* Sum of the weights of a spot's outputs; where they share alike, their number. */
static double weights_of(const struct pass *p, const struct fc_ways *ways, uint32_t first, uint32_t last)
{
    double sum = 0;
    if (p->w->picks) return last - first;
    for (uint32_t e = first; e < last; e++) sum += p->weight[ways->channel[e]];
    return sum;
}

static void set_shares(struct pass *p, const struct fc_ways *ways)
{
    for (uint32_t s = 0; s < ways->n_spots; s++) {
        uint32_t first = ways->first[s], last = ways->first[s + 1];
        double part = 1 / weights_of(p, ways, first, last);
        for (uint32_t e = first; e < last; e++)
            p->share[e] = last == first + 1 ? 1 : p->w->picks ? part : p->weight[ways->channel[e]] * part;
    }
}

/* The flow of one destination through the outputs, which share by their weights. */
static void pass_on(struct pass *p, const struct fc_ways *ways)
{
    double *x = p->x, *flow = p->flow;
    memset(x, 0, (ways->n_spots + 1ull) * sizeof *x);
    memcpy(x, ways->start, ways->n_starts * sizeof *x);
    for (uint32_t s = 0; s < ways->n_spots; s++) {
        uint32_t first = ways->first[s], last = ways->first[s + 1];
        double part = last == first + 1 ? 0 : x[s] / weights_of(p, ways, first, last);
        for (uint32_t e = first; e < last; e++) {
            uint32_t c = ways->channel[e], to = ways->to[e] == FC_NONE ? ways->n_spots : ways->to[e];
            double y = last == first + 1 ? x[s] : part * p->weight[c];
            flow[c] += y;
            x[to] += y;
        }
    }
}

/* Rates of links from the flows of their channels. */
static void add_links(struct pass *p)
{
    struct fc_turns *t = p->w->turns;
    memset(t->rate, 0, t->n_links * sizeof *t->rate);
    for (uint32_t c = 0; c < t->n_channels; c++) t->rate[t->channel_link[c]] += p->flow[c];
    t->max_service_rate = 0;
    for (uint32_t l = 0; l < t->n_links; l++)
        t->max_service_rate = fmax(t->max_service_rate, t->rate[l] * t->service[l]);
}

/* Utilisations that much further, and the weights by them; the greatest change asked for. */
static double go_on(struct pass *p, double step)
{
    const struct fc_turns *t = p->w->turns;
    double change = 0;
    for (uint32_t l = 0; l < t->n_links; l++) {
        double more = t->rate[l] * t->service[l] / t->max_service_rate - p->w->utilisation[l];
        change = fmax(change, fabs(more));
        p->w->utilisation[l] += step * more;
    }
    for (uint32_t c = 0; c < t->n_channels; c++)
        p->weight[c] = fc_turns_weight(t, p->w->utilisation[t->channel_link[c]]);
    return change;
}

static enum fc_code balance(struct pass *p, struct fc_status *st)
{
    int most = p->kept ? MOST_ROUNDS : ROUNDS_UNKEPT;
    double step = 1, before = INFINITY;
    for (int round = 0; round < most; round++) {
        if (p->channels) memset(p->flow, 0, p->channels * sizeof *p->flow);
        for (uint32_t i = 0; i < p->n_graphs; i++) {
            const struct fc_ways *ways = ways_of(p, i, st);
            if (!ways || make_room(p, ways, st)) return st->code;
            pass_on(p, ways);
        }
        add_links(p);
        double change = go_on(p, step);
        if (change < ACCURACY) break;
        step = round == 0 ? 0.7 : change > 0.5 * before ? fmax(0.1, 0.8 * step) : step;
        before = change;
    }
    return FC_OK;
}

/* ---- alone ---- */

static uint32_t kind_of(struct pass *p, const struct fc_turns_alone *alone)
{
    double gap = alone->tail - alone->head;
    for (uint32_t k = 0; k < p->n_kinds; k++)
        if (p->kind[k].in_class == alone->in_class && fabs(p->kind[k].tail - gap) < 1e-6) return k;
    p->kind[p->n_kinds] = (struct fc_turns_alone){0, gap, alone->in_class};
    return p->n_kinds++;
}

/* All kinds that links of the network's classes can bring about, and the steps between them. There are at
 * most a gap and a class before for each kind but the first. */
static enum fc_code find_kinds(struct pass *p, struct fc_status *st)
{
    const struct fc_turns_walk *w = p->w;
    p->steps = fc_alloc(w->arena, MOST_KINDS, sizeof *p->steps, st);
    if (!p->steps) return st->code;
    bool met[FC_MAX_CLASSES][4] = {{false}};
    for (uint32_t l = 0; l < w->net->n_links; l++)
        met[w->net->link_class[l]]
           [2 * !fc_is_node(w->net, w->net->link_source[l]) + fc_is_node(w->net, w->net->link_target[l])] = true;
    struct fc_turns_alone none = {0};
    kind_of(p, &none);
    for (uint32_t k = 0; k < p->n_kinds; k++)
        for (int class = 0; class < w->net->machine->n_classes; class ++)
            for (int ends = 0; ends < 4; ends++) {
                if (!met[class][ends]) continue;
                struct fc_turns_alone next = p->kind[k];
                fc_turns_hop(w, &next, class, ends >> 1, ends & 1);
                if (ends & 1) {
                    p->steps[k][class][ends] = (struct step){1, next.tail};
                    continue;
                }
                p->steps[k][class][ends] = (struct step){kind_of(p, &next) + 1, next.head};
            }
    return FC_OK;
}

static void add_moments(struct moments *to, const struct moments *from, double share, double ticks)
{
    double rate = from->rate * share, sum = from->ticks * share;
    to->least = to->rate > 0 ? fmin(to->least, from->least + ticks) : from->least + ticks;
    to->rate += rate;
    to->ticks += sum + rate * ticks;
    to->square += from->square * share + 2 * ticks * sum + rate * ticks * ticks;
}

/* The packets of spot s by edge e. */
static void move_alone(struct pass *p, const struct fc_ways *ways, uint32_t s, uint32_t e, struct moments *arrived)
{
    const struct fc_network *net = p->w->net;
    const struct fc_turns *t = p->w->turns;
    uint32_t l = t->link[t->channel_link[ways->channel[e]]];
    int ends = 2 * !fc_is_node(net, net->link_source[l]) + fc_is_node(net, net->link_target[l]);
    for (uint32_t k = 0; k < p->n_kinds; k++) {
        const struct moments *from = &p->alone[(size_t)s * p->n_kinds + k];
        if (!(from->rate > 0)) continue;
        const struct step *step = &p->steps[k][net->link_class[l]][ends];
        struct moments *to =
            ways->to[e] == FC_NONE ? arrived : &p->alone[(size_t)ways->to[e] * p->n_kinds + step->kind - 1];
        add_moments(to, from, p->share[e], step->ticks);
    }
}

/* ---- states ---- */

static enum fc_code count_exact(struct pass *p, const struct fc_ways *ways, uint32_t in, uint32_t s, double rate,
                                struct fc_status *st)
{
    struct fc_turns *t = p->w->turns;
    struct fc_turns_choice set[FC_TURNS_MOST_SET];
    uint32_t first = ways->first[s], n = ways->first[s + 1] - first, own = p->w->picks ? 1 : n;
    for (uint32_t i = 0; i < n; i++)
        set[i] = (struct fc_turns_choice){t->channel_link[ways->channel[first + i]], ways->channel[first + i]};
    for (uint32_t at = 0; at < n; at += own) {
        uint32_t state = fc_turns_state(p->w, in, set + at, own, st);
        if (state == FC_NONE) return st->code;
        for (uint32_t i = 0; i < own; i++) {
            double y = rate * p->share[first + at + i];
            t->state_rate[state] += y;
            t->choice_rate[t->first_choice[state] + i] += y;
        }
    }
    p->overflow = t->n_states > MOST_STATES;
    return FC_OK;
}

/* Tables for the channels that there are now. */
static enum fc_code know_channels(struct pass *p, struct fc_status *st)
{
    const struct fc_turns *t = p->w->turns;
    uint32_t nodes = p->w->net->n_nodes;
    if (t->n_channels > p->rows_channels) {
        uint32_t more = 2 * t->n_channels;
        size_t old = ((size_t)nodes + p->rows_channels) * p->stride;
        struct row *row = fc_alloc(p->w->arena, ((size_t)nodes + more) * p->stride, sizeof *row, st);
        uint32_t *slot = fc_alloc(p->w->arena, more, sizeof *slot, st);
        if (st->code) return st->code;
        if (p->row) memcpy(row, p->row, old * sizeof *row);
        if (p->slot) memcpy(slot, p->slot, p->n_slotted * sizeof *slot);
        p->row = row;
        p->slot = slot;
        p->rows_channels = more;
    }
    for (; p->n_slotted < t->n_channels; p->n_slotted++) {
        uint32_t l = t->link[t->channel_link[p->n_slotted]];
        p->slot[p->n_slotted] = p->slots[p->w->net->link_source[l]]++;
    }
    return FC_OK;
}

/* The row gets room for all outputs of the vertex. */
static enum fc_code widen(struct pass *p, struct row *row, uint32_t vertex, struct fc_status *st)
{
    double *rate = fc_alloc(p->w->arena, p->slots[vertex], sizeof *rate, st);
    if (!rate) return st->code;
    if (row->width) memcpy(rate, row->rate, row->width * sizeof *rate);
    row->rate = rate;
    row->width = p->slots[vertex];
    return FC_OK;
}

/* Heads that came by channel `in` (FC_NONE: from the node that is `vertex`) to spot s. */
static enum fc_code count_pooled(struct pass *p, const struct fc_ways *ways, uint32_t in, uint32_t s, double rate,
                                 struct fc_status *st)
{
    const struct fc_turns *t = p->w->turns;
    const struct fc_network *net = p->w->net;
    uint32_t first = ways->first[s], last = ways->first[s + 1];
    uint32_t vertex = net->link_source[t->link[t->channel_link[ways->channel[first]]]];
    uint32_t index = in == FC_NONE ? vertex - net->n_routers : net->n_nodes + in;
    struct row *row = &p->row[(size_t)index * p->stride + (p->w->picks ? 1 : last - first)];
    if (row->width < p->slots[vertex] && widen(p, row, vertex, st)) return st->code;
    p->arrivals[p->n_arrivals++] = (struct arrival){*row, rate, s};
    return FC_OK;
}

/* Adds what the destination brought to its rows, which lie anywhere: those needed next are called for. */
static void add_arrivals(struct pass *p, const struct fc_ways *ways)
{
    for (uint32_t i = 0; i < p->n_arrivals; i++) {
        const struct arrival *a = &p->arrivals[i];
        if (i + AHEAD < p->n_arrivals) __builtin_prefetch(p->arrivals[i + AHEAD].row.rate, 1);
        for (uint32_t e = ways->first[a->spot]; e < ways->first[a->spot + 1]; e++)
            a->row.rate[p->slot[ways->channel[e]]] += a->rate * p->share[e];
    }
    p->n_arrivals = 0;
}

static enum fc_code count(struct pass *p, const struct fc_ways *ways, uint32_t in, uint32_t s, double rate,
                          struct fc_status *st)
{
    return p->pooled ? count_pooled(p, ways, in, s, rate, st) : count_exact(p, ways, in, s, rate, st);
}

/* The flow of one destination with its states and its packets alone. */
static enum fc_code count_graph(struct pass *p, const struct fc_ways *ways, struct moments *arrived,
                                struct fc_status *st)
{
    if (p->pooled && know_channels(p, st)) return st->code;
    set_shares(p, ways);
    memset(p->x, 0, ways->n_spots * sizeof *p->x);
    memset(p->alone, 0, (size_t)ways->n_spots * p->n_kinds * sizeof *p->alone);
    for (uint32_t s = 0; s < ways->n_starts; s++) {
        p->x[s] = ways->start[s];
        p->alone[(size_t)s * p->n_kinds].rate = ways->start[s];
        if (count(p, ways, FC_NONE, s, p->x[s], st)) return st->code;
    }
    for (uint32_t s = 0; s < ways->n_spots; s++)
        for (uint32_t e = ways->first[s]; e < ways->first[s + 1]; e++) {
            double y = p->x[s] * p->share[e];
            move_alone(p, ways, s, e, arrived);
            if (ways->to[e] == FC_NONE) continue;
            p->x[ways->to[e]] += y;
            if (count(p, ways, ways->channel[e], ways->to[e], y, st)) return st->code;
        }
    add_arrivals(p, ways);
    return FC_OK;
}

/* All destinations; stops where exact states turn out to be too many. */
static enum fc_code count_all(struct pass *p, struct moments *arrived, struct fc_status *st)
{
    *arrived = (struct moments){.least = INFINITY};
    for (uint32_t i = 0; i < p->n_graphs && !p->overflow; i++) {
        const struct fc_ways *ways = ways_of(p, i, st);
        if (!ways || make_room(p, ways, st) || count_graph(p, ways, arrived, st)) return st->code;
    }
    return FC_OK;
}

/* ---- rows as states ---- */

struct listed {
    uint32_t *first, *channel; /* [n_vertices + 1], [n_channels] by slot */
};
static enum fc_code list_channels(const struct pass *p, struct listed *list, struct fc_status *st)
{
    const struct fc_turns *t = p->w->turns;
    uint32_t n = p->w->net->n_vertices;
    list->first = fc_alloc(p->w->arena, n + 1ull, sizeof *list->first, st);
    list->channel = fc_alloc(p->w->arena, t->n_channels, sizeof *list->channel, st);
    if (st->code) return st->code;
    for (uint32_t v = 0; v < n; v++) list->first[v + 1] = list->first[v] + p->slots[v];
    for (uint32_t c = 0; c < t->n_channels; c++)
        list->channel[list->first[p->w->net->link_source[t->link[t->channel_link[c]]]] + p->slot[c]] = c;
    return FC_OK;
}

/* One state a row, or one an output where heads have no choice. channels: those out of the row's vertex by
 * slot. */
static void write_states(struct fc_turns *t, const struct row *row, uint32_t in, uint8_t outputs,
                         const uint32_t *channels)
{
    bool open = false;
    for (uint32_t i = 0; i < row->width; i++) {
        if (!(row->rate[i] > 0)) continue;
        if (!open || outputs == 1) {
            t->state_in[t->n_states] = in;
            t->state_outputs[t->n_states] = outputs;
            t->first_choice[t->n_states++] = t->n_choices;
            open = true;
        }
        t->choice_channel[t->n_choices] = channels[i];
        t->choice_link[t->n_choices] = t->channel_link[channels[i]];
        t->choice_rate[t->n_choices++] = row->rate[i];
        t->state_rate[t->n_states - 1] += row->rate[i];
    }
}

static enum fc_code make_states(struct pass *p, struct fc_status *st)
{
    struct fc_turns *t = p->w->turns;
    const struct fc_network *net = p->w->net;
    struct listed list;
    size_t n_states = 0, n_choices = 0, rows = ((size_t)net->n_nodes + p->rows_channels) * p->stride;
    for (size_t r = 0; r < rows; r++) {
        size_t n = 0;
        for (uint32_t i = 0; i < p->row[r].width; i++) n += p->row[r].rate[i] > 0;
        n_choices += n;
        n_states += r % p->stride == 1 || n == 0 ? n : 1;
    }
    if (n_choices >= FC_NONE) return fc_refuse(st, FC_NO, "%zu turns are too many", n_choices);
    t->state_in = fc_alloc(&t->arena, n_states, sizeof *t->state_in, st);
    t->state_rate = fc_alloc(&t->arena, n_states, sizeof *t->state_rate, st);
    t->state_outputs = fc_alloc(&t->arena, n_states, sizeof *t->state_outputs, st);
    t->first_choice = fc_alloc(&t->arena, n_states + 1, sizeof *t->first_choice, st);
    t->choice_link = fc_alloc(&t->arena, n_choices, sizeof *t->choice_link, st);
    t->choice_channel = fc_alloc(&t->arena, n_choices, sizeof *t->choice_channel, st);
    t->choice_rate = fc_alloc(&t->arena, n_choices, sizeof *t->choice_rate, st);
    if (st->code || list_channels(p, &list, st)) return st->code;
    t->n_states = t->n_choices = 0;
    /* Those of one channel side by side: the fixed point goes through them again and again. */
    for (size_t r = 0; r < rows; r++) {
        if (p->row[r].width == 0) continue;
        size_t index = r / p->stride;
        uint32_t in = index < net->n_nodes ? FC_NONE : (uint32_t)(index - net->n_nodes);
        uint32_t vertex =
            in == FC_NONE ? net->n_routers + (uint32_t)index : net->link_target[t->link[t->channel_link[in]]];
        write_states(t, &p->row[r], in, (uint8_t)(r % p->stride), list.channel + list.first[vertex]);
    }
    t->first_choice[t->n_states] = t->n_choices;
    return FC_OK;
}

/* ---- the whole ---- */

static enum fc_code count_states(struct pass *p, struct moments *arrived, struct fc_status *st)
{
    struct fc_turns *t = p->w->turns;
    if (find_kinds(p, st)) return st->code;
    p->alone = NULL;
    p->spots = 0; /* moments need room of their own */
    if (count_all(p, arrived, st) || !p->overflow) return st->code;
    p->pooled = true;
    p->overflow = false;
    p->stride = p->w->picks ? 2 : (p->kept ? p->b.most_outputs : FC_TURNS_MOST_SET) + 1;
    p->slots = fc_alloc(p->w->arena, p->w->net->n_vertices, sizeof *p->slots, st);
    t->n_states = t->n_choices = 0;
    if (!p->slots || count_all(p, arrived, st)) return st->code;
    return make_states(p, st);
}

/* Edges of all graphs, from some of them. */
static enum fc_code estimate(struct pass *p, double *edges, struct fc_status *st)
{
    uint32_t n = p->n_graphs < TRIED ? p->n_graphs : TRIED;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct fc_ways *ways = ways_of(p, (uint32_t)((uint64_t)i * p->n_graphs / n), st);
        if (!ways) return st->code;
        sum += ways->first[ways->n_spots];
    }
    *edges = sum / n * p->n_graphs;
    return FC_OK;
}

static enum fc_code solve(struct pass *p, double edges, struct fc_status *st)
{
    struct fc_turns_walk *w = p->w;
    struct fc_turns *t = w->turns;
    struct moments arrived;
    bool choosing = w->flit.adaptive && !w->picks;
    memset(w->utilisation, 0, t->n_links * sizeof *w->utilisation);
    if (choosing && ((edges <= KEPT && keep_all(p, st)) || balance(p, st))) return st->code;
    if (count_states(p, &arrived, st)) return st->code;
    fc_turns_add_up(w);
    w->rate = arrived.rate;
    w->zero_load = arrived.ticks / w->flit.ticks_per_cycle;
    w->zero_load2 = arrived.square / w->flit.ticks_per_cycle / w->flit.ticks_per_cycle;
    w->least_zero_load = arrived.least / w->flit.ticks_per_cycle;
    w->hops = 0;
    for (uint32_t l = 0; l < t->n_links; l++)
        if (t->kind[l] == FC_TURN_NETWORK) w->hops += t->rate[l];
    return FC_OK;
}

enum fc_code fc_turns_destinations(struct fc_turns_walk *w, double most_edges, bool *done, struct fc_status *st)
{
    struct pass p = {.w = w};
    double edges = 0;
    *done = false;
    if (fc_ways_open(w, &p.b, done, st) || !*done) return st->code;
    double graphs = (double)p.b.n_destinations * p.b.words.n_way;
    p.n_graphs = graphs < FC_NONE ? (uint32_t)graphs : 0;
    *done = p.n_graphs > 0;
    if (*done && estimate(&p, &edges, st)) return st->code;
    *done = *done && edges <= most_edges;
    if (*done) return solve(&p, edges, st);
    w->picks = false;
    return FC_OK;
}
