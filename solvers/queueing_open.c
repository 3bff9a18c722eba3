/* queueing_open.c - the arrays of the queueing model from the turns: edges in the order of (channel, output), pairs of
 * (input port, output), moments of the states. */
#include "solvers/queueing_internal.h"

#include <math.h>
#include <stdlib.h>

#define ACCURACY 1e-7

struct numbered {
    uint64_t key;
    uint32_t choice;
};
static int by_key(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->choice > y->choice) - (x->choice < y->choice);
}

/* Numbers the edges in the order of (channel, output), and the pairs. */
static enum fc_code make_edges(struct fc_queueing *q, struct fc_arena *scratch, struct fc_status *st)
{
    const struct fc_turns *t = q->t;
    struct numbered *list = fc_alloc(scratch, t->n_choices + 1ull, sizeof *list, st);
    uint32_t n = 0;
    if (!list) return st->code;
    for (uint32_t s = 0; s < t->n_states; s++)
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) {
            q->edge_of[i] = FC_NONE;
            if (t->state_in[s] != FC_NONE)
                list[n++] = (struct numbered){(uint64_t)t->state_in[s] << 32 | t->choice_link[i], i};
        }
    qsort(list, n, sizeof *list, by_key);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || list[i].key != list[i - 1].key)
            q->edge_channel[q->n_edges++] = (uint32_t)(list[i].key >> 32);
        q->edge_of[list[i].choice] = q->n_edges - 1;
        q->edge_rate[q->n_edges - 1] += t->choice_rate[list[i].choice];
    }
    uint32_t edges = 0;
    for (uint32_t i = 0; i < n; i++)
        if (q->edge_of[list[i].choice] == edges) {
            uint32_t in = t->port[t->channel_link[list[i].key >> 32]];
            list[edges] = (struct numbered){(uint64_t)in << 32 | (uint32_t)list[i].key, edges};
            edges++;
        }
    qsort(list, edges, sizeof *list, by_key);
    for (uint32_t i = 0; i < edges; i++) {
        if (i == 0 || list[i].key != list[i - 1].key) q->pair_out[q->n_pairs++] = (uint32_t)list[i].key;
        q->edge_pair[list[i].choice] = q->n_pairs - 1;
        q->pair_rate[q->n_pairs - 1] += q->edge_rate[list[i].choice] / t->copies[(uint32_t)list[i].key];
    }
    return FC_OK;
}

static void make_states(struct fc_queueing *q)
{
    const struct fc_turns *t = q->t;
    for (uint32_t s = 0; s < t->n_states; s++) {
        double service = 0, vary = 0, rho = 0, m = t->first_choice[s + 1] - t->first_choice[s];
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) {
            uint32_t o = t->choice_link[i];
            double share = t->state_rate[s] > 0 ? t->choice_rate[i] / t->state_rate[s] : 1 / m;
            service += share * t->service[o];
            vary += share * (t->service2[o] - t->service[o] * t->service[o]);
            rho += share * t->rate[o] * t->service[o];
        }
        q->state_service[s] = service;
        q->state_vary[s] = fmax(0, vary);
        uint32_t c = t->state_in[s];
        if (c != FC_NONE && t->channel_rate[c] > 0)
            q->behind[c] += service * t->state_rate[s] / t->channel_rate[c];
        q->state_rho[s] = rho;
        q->state_power[s] = sqrt(2.0 * (t->state_outputs[s] + 1)) - 2;
    }
}

static void make_shares(struct fc_queueing *q)
{
    const struct fc_turns *t = q->t;
    for (uint32_t s = 0; s < t->n_states; s++)
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++)
            if (t->choice_rate[i] > 0) q->choice_share[i] = t->choice_rate[i] / t->state_rate[s];
    for (uint32_t e = 0; e < q->n_edges; e++) {
        double rate = t->channel_rate[q->edge_channel[e]];
        q->edge_share[e] = rate > 0 ? q->edge_rate[e] / rate : 0;
        q->edge_unit[e] = q->edge_rate[e] > 0 ? 1 / q->edge_rate[e] : 0;
    }
}

enum fc_code fc_queueing_open(const struct fc_turns *turns, struct fc_queueing **queueing,
                              struct fc_status *st)
{
    struct fc_arena arena = {0}, scratch = {0};
    struct fc_queueing *q = fc_alloc(&arena, 1, sizeof *q, st);
    *queueing = NULL;
    if (!q) return st->code;
    const struct {
        void **array;
        uint32_t n;
        size_t size;
    } arrays[] = {
        {(void **)&q->edge_of, turns->n_choices, sizeof *q->edge_of},
        {(void **)&q->edge_channel, turns->n_choices, sizeof *q->edge_channel},
        {(void **)&q->edge_pair, turns->n_choices, sizeof *q->edge_pair},
        {(void **)&q->edge_rate, turns->n_choices, sizeof *q->edge_rate},
        {(void **)&q->pair_out, turns->n_choices, sizeof *q->pair_out},
        {(void **)&q->pair_rate, turns->n_choices, sizeof *q->pair_rate},
        {(void **)&q->state_service, turns->n_states, sizeof *q->state_service},
        {(void **)&q->edge_share, turns->n_choices, sizeof *q->edge_share},
        {(void **)&q->edge_next, turns->n_choices, sizeof *q->edge_next},
        {(void **)&q->choice_share, turns->n_choices, sizeof *q->choice_share},
        {(void **)&q->edge_unit, turns->n_choices, sizeof *q->edge_unit},
        {(void **)&q->state_step, turns->n_states, sizeof *q->state_step},
        {(void **)&q->state_factor, turns->n_states, sizeof *q->state_factor},
        {(void **)&q->state_vary, turns->n_states, sizeof *q->state_vary},
        {(void **)&q->behind, turns->n_channels, sizeof *q->behind},
        {(void **)&q->state_rho, turns->n_states, sizeof *q->state_rho},
        {(void **)&q->state_power, turns->n_states, sizeof *q->state_power},
        {(void **)&q->edge_wait, turns->n_choices, sizeof *q->edge_wait},
        {(void **)&q->state_wait, turns->n_states, sizeof *q->state_wait},
        {(void **)&q->room, turns->n_channels, sizeof *q->room},
        {(void **)&q->front, turns->n_channels, sizeof *q->front},
        {(void **)&q->front2, turns->n_channels, sizeof *q->front2},
        {(void **)&q->busy, turns->n_channels, sizeof *q->busy},
        {(void **)&q->queue, turns->n_channels, sizeof *q->queue},
        {(void **)&q->port, turns->n_links, sizeof *q->port},
        {(void **)&q->port2, turns->n_links, sizeof *q->port2},
        {(void **)&q->port_busy, turns->n_links, sizeof *q->port_busy},
        {(void **)&q->pair_waiting, turns->n_choices, sizeof *q->pair_waiting},
        {(void **)&q->out_waiting, turns->n_links, sizeof *q->out_waiting},
        {(void **)&q->out_follow, turns->n_links, sizeof *q->out_follow},
        {(void **)&q->link_wait, turns->n_links, sizeof *q->link_wait},
    };
    q->t = turns;
    q->accuracy = ACCURACY;
    q->solved_cycles = NAN;
    for (size_t i = 0; i < FC_COUNT(arrays) && !st->code; i++)
        *arrays[i].array = fc_alloc(&arena, arrays[i].n, arrays[i].size, st);
    if (!st->code && !make_edges(q, &scratch, st)) {
        make_states(q);
        make_shares(q);
    }
    fc_arena_free(&scratch);
    q->arena = arena; /* holds q itself too: freed from a copy */
    if (st->code)
        fc_queueing_close(q);
    else
        *queueing = q;
    return st->code;
}

void fc_queueing_close(struct fc_queueing *queueing)
{
    if (!queueing) return;
    struct fc_arena arena = queueing->arena;
    fc_arena_free(&arena);
}

void fc_queueing_tune(struct fc_queueing *queueing, double accuracy, bool warm)
{
    queueing->accuracy = accuracy;
    queueing->warm = warm;
}

const struct fc_turns *fc_queueing_turns(const struct fc_queueing *queueing)
{
    return queueing->t;
}

const double *fc_queueing_link_wait(const struct fc_queueing *queueing)
{
    return queueing->link_wait;
}
