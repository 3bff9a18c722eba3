/* queueing_open.c - the arrays of the queueing model from the turns: edges and exits in the order of (channel, output),
 * pairs of (input port, output), rows of shares and moments of the states. */
#include "solvers/queueing/queueing_internal.h"

#include <string.h>

#define ACCURACY 1e-7

/* list in the order of key[list[i]] < n_keys, stable; to: room for as many. */
static enum fc_code sort_by(const uint32_t *key, uint32_t n_keys, uint32_t *list, uint32_t n, uint32_t *to,
                            struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t *first = fc_alloc(&scratch, n_keys + 1ull, sizeof *first, st);
    if (!first) return st->code;
    for (uint32_t i = 0; i < n; i++) first[key[list[i]] + 1]++;
    for (uint32_t k = 0; k < n_keys; k++) first[k + 1] += first[k];
    for (uint32_t i = 0; i < n; i++) to[first[key[list[i]]]++] = list[i];
    memcpy(list, to, n * sizeof *list);
    return FC_OK;
}

/* The exit of the edge numbered last to that channel, new or known. */
static uint32_t find_exit(struct fc_queueing *q, uint32_t channel)
{
    uint32_t k = q->n_exits;
    while (k > 0 && q->exit_edge[k - 1] == q->n_edges - 1)
        if (q->exit_channel[--k] == channel) return k;
    q->exit_edge[q->n_exits] = q->n_edges - 1;
    q->exit_channel[q->n_exits] = channel;
    return q->n_exits++;
}

/* Numbers the edges and the exits. exit_of, in: [n_choices] exit of each choice that has an edge, channel it came by. */
static enum fc_code make_edges(struct fc_queueing *q, uint32_t *exit_of, uint32_t *in, struct fc_arena *scratch,
                               struct fc_status *st)
{
    const struct fc_turns *t = q->t;
    uint32_t *list = fc_alloc(scratch, t->n_choices + 1ull, sizeof *list, st),
             *room = fc_alloc(scratch, t->n_choices + 1ull, sizeof *room, st), n = 0;
    if (st->code) return st->code;
    for (uint32_t s = 0; s < t->n_states; s++)
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) {
            q->edge_of[i] = FC_NONE;
            in[i] = t->state_in[s];
            if (t->state_in[s] != FC_NONE) list[n++] = i;
        }
    if (sort_by(t->choice_link, t->n_links, list, n, room, st) || sort_by(in, t->n_channels, list, n, room, st))
        return st->code;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = list[k], before = k > 0 ? list[k - 1] : i;
        if (k == 0 || in[i] != in[before] || t->choice_link[i] != t->choice_link[before])
            q->edge_channel[q->n_edges++] = in[i];
        q->edge_of[i] = q->n_edges - 1;
        q->edge_rate[q->n_edges - 1] += t->choice_rate[i];
        exit_of[i] = find_exit(q, t->choice_channel[i]);
    }
    return FC_OK;
}

/* Numbers the pairs in the order of their first edges. */
static enum fc_code make_pairs(struct fc_queueing *q, struct fc_arena *scratch, struct fc_status *st)
{
    const struct fc_turns *t = q->t;
    uint32_t n = q->n_edges, ports = 0;
    uint32_t *list = fc_alloc(scratch, n + 1ull, sizeof *list, st),
             *room = fc_alloc(scratch, n + 1ull, sizeof *room, st),
             *port = fc_alloc(scratch, n + 1ull, sizeof *port, st), *out = fc_alloc(scratch, n + 1ull, sizeof *out, st);
    if (st->code) return st->code;
    for (uint32_t k = 0; k < q->n_exits; k++) out[q->exit_edge[k]] = t->channel_link[q->exit_channel[k]];
    for (uint32_t e = 0; e < n; e++) {
        list[e] = e;
        port[e] = t->port[t->channel_link[q->edge_channel[e]]];
        if (port[e] >= ports) ports = port[e] + 1;
    }
    if (sort_by(out, t->n_links, list, n, room, st) || sort_by(port, ports, list, n, room, st)) return st->code;
    uint32_t *first = room;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t e = list[i], before = i > 0 ? list[i - 1] : e;
        first[e] = i > 0 && port[e] == port[before] && out[e] == out[before] ? first[before] : e;
    }
    for (uint32_t e = 0; e < n; e++) {
        if (first[e] == e) q->pair_out[q->n_pairs++] = out[e];
        q->edge_pair[e] = first[e] == e ? q->n_pairs - 1 : q->edge_pair[first[e]];
        q->pair_rate[q->edge_pair[e]] += q->edge_rate[e] / t->copies[out[e]];
    }
    return FC_OK;
}

/* (3): how much sooner than its output has sent it a packet has left channel c, where the next one goes elsewhere, both links
 * between routers; rate: of heads of c that go there. */
static double sooner(const struct fc_turns *t, uint32_t c, uint32_t output, double rate)
{
    uint32_t l = t->channel_link[c];
    double slower = t->service[output] - t->service[l];
    if (t->kind[l] != FC_TURN_NETWORK || t->kind[output] != FC_TURN_NETWORK || !(slower > 1e-12 * t->service[l]))
        return 0;
    return slower / t->flits_mean * (1 - fmin(1, rate / t->channel_rate[c]));
}

/* Heads of channel c: times on their outputs of that mean and variance, and how much sooner they leave. */
static void add_own(struct fc_queueing *q, uint32_t c, double rate, double service, double variance, double gained)
{
    q->own_time[c] += rate * service;
    q->own_square[c] += rate * (service * service + fmax(0, variance));
    service -= gained;
    q->held_time[c] += rate * service;
    q->held_square[c] += rate * (service * service + fmax(0, variance));
    q->behind[c] -= rate * gained / q->t->channel_rate[c];
}

static void make_shares(struct fc_queueing *q)
{
    const struct fc_turns *t = q->t;
    for (uint32_t c = 0; c < t->n_channels; c++)
        q->channel_unit[c] = t->channel_rate[c] > 0 ? 1 / t->channel_rate[c] : 0;
    for (uint32_t l = 0; l < t->n_links; l++) q->link_unit[l] = 1.0 / t->copies[l];
    for (uint32_t p = 0; p < q->n_pairs; p++) {
        uint32_t o = q->pair_out[p];
        double others = t->rate[o] - q->pair_rate[p], busy = others * t->service[o];
        q->pair_unit[p] = busy > 0 ? 1 / busy : 0;
        q->pair_half[p] = fmax(0, others) * t->service2[o] / 2;
    }
    for (uint32_t k = 0; k < q->n_exits; k++) {
        uint32_t o = t->channel_link[q->exit_channel[k]];
        uint32_t c = q->edge_channel[q->exit_edge[k]];
        q->exit_service[k] = t->service[o];
        if (q->exit_rate[k] > 0)
            add_own(q, c, q->exit_rate[k], t->service[o], t->service2[o] - t->service[o] * t->service[o],
                    sooner(t, c, o, q->exit_rate[k]));
    }
}

double fc_queueing_set_power(uint8_t outputs)
{
    return sqrt(2.0 * (outputs + 1)) - 2;
}

/* Whether heads of the state have a choice, and that they are any. */
static bool is_row(const struct fc_turns *t, uint32_t s)
{
    uint32_t n = t->first_choice[s + 1] - t->first_choice[s];
    return t->state_in[s] != FC_NONE && t->state_rate[s] > 0 && (n != 1 || t->state_outputs[s] > 1);
}

/* The exits of a row: *n from *first on; or *first FC_NONE and *n its choices, where those are less than half
 * of them. */
static void find_span(const struct fc_turns *t, uint32_t s, const uint32_t *exit_of, uint32_t *first, uint32_t *n)
{
    uint32_t low = UINT32_MAX, high = 0, choices = t->first_choice[s + 1] - t->first_choice[s];
    for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) {
        low = exit_of[i] < low ? exit_of[i] : low;
        high = exit_of[i] > high ? exit_of[i] : high;
    }
    bool dense = high - low < 2 * choices;
    *first = dense ? low : FC_NONE;
    *n = dense ? high - low + 1 : choices;
}

static uint32_t fill_up(uint32_t n)
{
    return (n + FC_PLACES_AT_ONCE - 1) / FC_PLACES_AT_ONCE * FC_PLACES_AT_ONCE;
}

static enum fc_code place_arrays(struct fc_queueing *q, const uint32_t *exit_of, struct fc_arena *arena,
                                 struct fc_status *st)
{
    size_t places = 0;
    uint32_t first, n;
    for (uint32_t s = 0; s < q->t->n_states; s++) {
        if (!is_row(q->t, s)) continue;
        find_span(q->t, s, exit_of, &first, &n);
        places += fill_up(n);
    }
    if (places >= FC_NONE) return fc_refuse(st, FC_NO, "%zu turns with a choice are too many", places);
    q->place_exit = fc_alloc(arena, places + 1, sizeof *q->place_exit, st);
    q->place_share = fc_alloc(arena, places + 1, sizeof *q->place_share, st);
    return st->code;
}

/* A state as the next row. */
static void add_row(struct fc_queueing *q, uint32_t s, const uint32_t *exit_of, uint32_t *places)
{
    const struct fc_turns *t = q->t;
    uint32_t r = q->n_rows++, c = t->state_in[s], first, n;
    double variance = 0, gained = 0;
    q->state_row[s] = r;
    q->row_outputs[r] = t->state_outputs[s];
    q->row_rate[r] = t->state_rate[s];
    find_span(t, s, exit_of, &first, &n);
    q->row_exit[r] = first == FC_NONE ? FC_NONE : first - q->first_exit[c];
    for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) {
        uint32_t o = t->choice_link[i];
        uint32_t place = *places + (first == FC_NONE ? i - t->first_choice[s] : exit_of[i] - first);
        double share = t->choice_rate[i] / t->state_rate[s];
        q->row_service[r] += share * t->service[o];
        variance += share * (t->service2[o] - t->service[o] * t->service[o]);
        gained += share * sooner(t, c, o, t->choice_rate[i]);
        q->row_rho[r] += share * t->rate[o] * t->service[o];
        q->place_exit[place] = exit_of[i] - q->first_exit[c];
        q->place_share[place] += share;
    }
    add_own(q, c, q->row_rate[r], q->row_service[r], variance, gained);
    q->first_place[r + 1] = *places += fill_up(n);
}

/* Heads of channel c, the states of which are listed: at their exits or in rows. */
static void add_states(struct fc_queueing *q, const uint32_t *states, uint32_t n, const uint32_t *exit_of,
                       uint32_t *places)
{
    const struct fc_turns *t = q->t;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t s = states[k], c = t->state_in[s], first = t->first_choice[s];
        double rate = t->state_rate[s], service = 0;
        for (uint32_t i = first; i < t->first_choice[s + 1]; i++)
            service += t->choice_rate[i] * t->service[t->choice_link[i]];
        if (t->channel_rate[c] > 0) q->behind[c] += service / t->channel_rate[c];
        if (is_row(t, s))
            add_row(q, s, exit_of, places);
        else if (rate > 0)
            q->exit_rate[exit_of[first]] += rate;
    }
}

/* Rows channel by channel. */
static enum fc_code make_rows(struct fc_queueing *q, const uint32_t *exit_of, struct fc_arena *arena,
                              struct fc_arena *scratch, struct fc_status *st)
{
    const struct fc_turns *t = q->t;
    uint32_t n = 0, places = 0, k = 0;
    uint32_t *list = fc_alloc(scratch, t->n_states + 1ull, sizeof *list, st),
             *room = fc_alloc(scratch, t->n_states + 1ull, sizeof *room, st);
    if (st->code || place_arrays(q, exit_of, arena, st)) return st->code;
    for (uint32_t s = 0; s < t->n_states; s++) {
        q->state_row[s] = FC_NONE;
        if (t->state_in[s] != FC_NONE) list[n++] = s;
    }
    if (sort_by(t->state_in, t->n_channels, list, n, room, st)) return st->code;
    for (uint32_t c = 0, exit = 0; c < t->n_channels; c++) {
        uint32_t first = k;
        q->first_exit[c] = exit;
        q->first_row[c] = q->n_rows;
        while (exit < q->n_exits && q->edge_channel[q->exit_edge[exit]] == c) exit++;
        while (k < n && t->state_in[list[k]] == c) k++;
        add_states(q, list + first, k - first, exit_of, &places);
    }
    q->first_exit[t->n_channels] = q->n_exits;
    q->first_row[t->n_channels] = q->n_rows;
    return FC_OK;
}

struct array {
    void **array;
    size_t n, size;
};
static enum fc_code make_arrays(const struct array *arrays, size_t n, struct fc_arena *arena, struct fc_status *st)
{
    for (size_t i = 0; i < n && !st->code; i++) *arrays[i].array = fc_alloc(arena, arrays[i].n, arrays[i].size, st);
    return st->code;
}
#define ARRAY(a, count)                                                                                                \
    {                                                                                                                  \
        (void **)&q->a, count, sizeof *q->a                                                                            \
    }

/* Arrays from the sizes of the turns: numbers that are not known yet are at most that of the choices. */
static enum fc_code first_arrays(struct fc_queueing *q, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_turns *t = q->t;
    const struct array arrays[] = {
        ARRAY(edge_of, t->n_choices),
        ARRAY(state_row, t->n_states),
        ARRAY(edge_channel, t->n_choices),
        ARRAY(edge_pair, t->n_choices),
        ARRAY(edge_rate, t->n_choices),
        ARRAY(pair_rate, t->n_choices),
        ARRAY(pair_out, t->n_choices),
        ARRAY(exit_edge, t->n_choices),
        ARRAY(exit_channel, t->n_choices),
        ARRAY(exit_rate, t->n_choices),
        ARRAY(row_outputs, t->n_states),
        ARRAY(row_rate, t->n_states),
        ARRAY(row_service, t->n_states),
        ARRAY(row_exit, t->n_states),
        ARRAY(row_rho, t->n_states),
        ARRAY(first_place, t->n_states + 1ull),
        ARRAY(behind, t->n_channels),
        ARRAY(own_time, t->n_channels),
        ARRAY(own_square, t->n_channels),
        ARRAY(held_time, t->n_channels),
        ARRAY(held_square, t->n_channels),
        ARRAY(first_exit, t->n_channels + 1ull),
        ARRAY(first_row, t->n_channels + 1ull),
    };
    return make_arrays(arrays, FC_COUNT(arrays), arena, st);
}

/* Where channels stand by routers (turns_order.c), a block each; else one. */
static enum fc_code make_blocks(struct fc_queueing *q, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_turns *t = q->t;
    uint32_t n = t->n_channels, before = FC_NONE, edge = 0, pairs = 0;
    q->block = fc_alloc(arena, (t->channel_met ? n : 0) + 2ull, sizeof *q->block, st);
    if (!q->block) return st->code;
    for (uint32_t c = 0; c < n; c++) {
        uint32_t router = t->net->link_target[t->link[t->channel_link[c]]];
        if (c == 0 || (t->channel_met && router != before))
            q->block[q->n_blocks++] = (struct fc_queueing_block){c, q->first_exit[c], edge, pairs};
        for (; edge < q->n_edges && q->edge_channel[edge] == c; edge++)
            pairs = q->edge_pair[edge] < pairs ? pairs : q->edge_pair[edge] + 1;
        before = router;
    }
    q->block[q->n_blocks] = (struct fc_queueing_block){n, q->n_exits, q->n_edges, q->n_pairs};
    return FC_OK;
}

static enum fc_code open_rooms(struct fc_queueing *q, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_turns *t = q->t;
    q->edge_room = fc_alloc(arena, q->n_edges + 1ull, sizeof *q->edge_room, st);
    q->exit_own = fc_alloc(arena, q->n_exits + 1ull, sizeof *q->exit_own, st);
    for (uint32_t k = 0; k < q->n_exits && !st->code; k++) {
        uint32_t to = q->exit_channel[k], o = t->channel_link[to];
        double all = t->rate[o] * t->copies[o] * t->channel_vcs[to];
        q->exit_own[k] = all > 0 ? t->channel_rate[to] / all : 0;
    }
    return st->code;
}

static enum fc_code last_arrays(struct fc_queueing *q, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_turns *t = q->t;
    q->n_unknowns = q->n_edges + 2ull * t->n_channels + (t->stage > 0 ? 0ull + t->n_channels + t->n_links : 0);
    const struct array arrays[] = {
        ARRAY(link_unit, t->n_links),
        ARRAY(channel_unit, t->n_channels),
        ARRAY(pair_unit, q->n_pairs),
        ARRAY(pair_half, q->n_pairs),
        ARRAY(exit_service, q->n_exits),
        ARRAY(edge_wait, q->n_unknowns),
        ARRAY(edge_next, q->n_edges + 3ull),
        ARRAY(edge_step, q->n_edges),
        ARRAY(row_power, q->n_rows),
        ARRAY(row_factor, q->n_rows),
        ARRAY(exit_next, q->n_exits + 3ull),
        ARRAY(exit_room, q->n_exits + 3ull),
        ARRAY(exit_wait, q->n_exits + 3ull),
        ARRAY(front, t->n_channels),
        ARRAY(front2, t->n_channels),
        ARRAY(queue, t->n_channels),
        ARRAY(port, t->n_links),
        ARRAY(port2, t->n_links),
        ARRAY(port_busy, t->n_links),
        ARRAY(pair_waiting, q->n_pairs),
        ARRAY(pair_part, q->n_pairs),
        ARRAY(out_part, t->n_links),
        ARRAY(link_wait, t->n_links),
        ARRAY(found[0].unknown, q->n_unknowns),
        ARRAY(found[1].unknown, q->n_unknowns),
    };
    if (make_arrays(arrays, FC_COUNT(arrays), arena, st)) return st->code;
    q->room = q->edge_wait + q->n_edges;
    q->busy = q->room + t->n_channels;
    if (t->stage > 0) {
        q->hold = q->busy + t->n_channels;
        q->port_free = q->hold + t->n_channels;
    }
    return FC_OK;
}

static enum fc_code make(struct fc_queueing *q, struct fc_arena *arena, struct fc_arena *scratch, struct fc_status *st)
{
    const struct fc_turns *t = q->t;
    uint32_t *exit_of = fc_alloc(scratch, t->n_choices + 1ull, sizeof *exit_of, st),
             *in = fc_alloc(scratch, t->n_choices + 1ull, sizeof *in, st);
    if (st->code || first_arrays(q, arena, st) || make_edges(q, exit_of, in, scratch, st) ||
        make_pairs(q, scratch, st) || make_rows(q, exit_of, arena, scratch, st) || make_blocks(q, arena, st) ||
        last_arrays(q, arena, st))
        return st->code;
    make_shares(q);
    if (t->stage > 0) return fc_queueing_stage_open(q, exit_of, arena, st);
    return t->by_theory ? open_rooms(q, arena, st) : FC_OK;
}

enum fc_code fc_queueing_open(const struct fc_turns *turns, struct fc_queueing **queueing, struct fc_status *st)
{
    struct fc_arena arena = {0}, scratch = {0};
    *queueing = NULL;
    if (fc_check_input_queues(turns->net->machine, "the queueing model's routers queue", st)) return st->code;
    struct fc_queueing *q = fc_alloc(&arena, 1, sizeof *q, st);
    if (!q) return st->code;
    q->t = turns;
    q->accuracy = ACCURACY;
    q->solved_cycles = q->powers_of = NAN;
    make(q, &arena, &scratch, st);
    fc_arena_free(&scratch);
    q->arena = arena; /* holds q itself too: freed from a copy */
    if (turns->n_rungs && !st->code) q->rung = fc_alloc(&q->arena, turns->n_rungs, sizeof(struct fc_queueing *), st);
    for (uint32_t i = 0; !st->code && i < turns->n_rungs; i++) fc_queueing_open(&turns->rung[i], &q->rung[i], st);
    if (st->code)
        fc_queueing_close(q);
    else
        *queueing = q;
    return st->code;
}

void fc_queueing_close(struct fc_queueing *queueing)
{
    if (!queueing) return;
    for (uint32_t i = 0; queueing->rung && i < queueing->t->n_rungs; i++) fc_queueing_close(queueing->rung[i]);
    struct fc_arena arena = queueing->arena;
    fc_arena_free(&arena);
}

const struct fc_turns *fc_queueing_turns(const struct fc_queueing *queueing)
{
    return queueing->t;
}
