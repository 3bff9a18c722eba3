/* turns_fit.c - turns of packets that were drawn, made to agree with the rates of their links and with themselves.
 *
 * Choices are scaled by what their link should carry over what it carries, then states so that what comes to a channel
 * leaves it again, hop after hop, the two in turn (iterative proportional fitting, Deming & Stephan 1940).
 *
 * Order: states stand by the router at which they came and by channel, so that what a pass reads and writes for a
 * router lies together; all sums are made in the order of the turns, as if nothing had been moved. */
#include "solvers/queueing/turns_internal.h"

#include <string.h>

enum { MOST_PASSES = 1000, FITTING_ROUNDS = 12 };

/* Lists of numbers for each of n keys. */
struct lists {
    uint32_t *first; /* [n + 1] */
    uint32_t *list;
};
struct fit {
    struct fc_turns_walk *w;
    uint32_t n_states, n_choices; /* those of any rate */
    uint32_t *state;              /* [n_states] of the turns */
    /* Channels have two places: among the states that came by them, and by the router that they leave. */
    uint32_t *in_place, *out_place; /* [t->n_channels] */
    uint32_t *in_of_out;            /* [t->n_channels] */
    uint32_t *first_state;          /* [t->n_channels + 2] by in place + 1; 0: those at their source */
    uint32_t *first_choice;         /* [n_states + 1] */
    uint32_t *place;                /* [t->n_choices] where a choice stands; FC_NONE: nowhere */
    struct lists to_channel;        /* by out place: choices at their places, in the order of the turns */
    struct lists to_link;           /* by link */
    double *rate;                   /* [n_choices] */
    double *state_rate;             /* [n_states] the same array where each state has one choice */
    double *arrives, *leaves;       /* [t->n_channels] by in place */
    double *link_rate;              /* [t->n_links] */
};

/* order[n]: 0 .. n-1 by key < n_keys, stable; first[n_keys + 1]: where each begins. */
static void sort_by(const uint32_t *key, uint32_t n, uint32_t n_keys, uint32_t *first, uint32_t *order)
{
    memset(first, 0, (n_keys + 1ull) * sizeof *first);
    for (uint32_t i = 0; i < n; i++)
        if (key[i] != FC_NONE) first[key[i]]++;
    for (uint32_t k = 0, sum = 0; k <= n_keys; k++) {
        uint32_t count = first[k];
        first[k] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++)
        if (key[i] != FC_NONE) order[first[key[i]]++] = i;
    memmove(first + 1, first, n_keys * sizeof *first);
    first[0] = 0;
}

static bool is_any(const struct fc_turns *t, uint32_t s)
{
    bool any = t->state_rate[s] > 0;
    for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) any = any || t->choice_rate[i] > 0;
    return any;
}

/* Places of channels: by the vertex where they end, and by that where they begin. */
static enum fc_code place_channels(struct fit *f, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_turns *t = f->w->turns;
    const struct fc_network *net = f->w->net;
    uint32_t n = t->n_channels;
    uint32_t *key = fc_alloc(arena, n + 1ull, sizeof *key, st), *order = fc_alloc(arena, n + 1ull, sizeof *order, st),
             *first = fc_alloc(arena, net->n_vertices + 1ull, sizeof *first, st);
    f->in_place = fc_alloc(arena, n + 1ull, sizeof *f->in_place, st);
    f->out_place = fc_alloc(arena, n + 1ull, sizeof *f->out_place, st);
    f->in_of_out = fc_alloc(arena, n + 1ull, sizeof *f->in_of_out, st);
    if (st->code) return st->code;
    for (uint32_t c = 0; c < n; c++) key[c] = net->link_target[t->link[t->channel_link[c]]];
    sort_by(key, n, net->n_vertices, first, order);
    for (uint32_t k = 0; k < n; k++) f->in_place[order[k]] = k;
    for (uint32_t c = 0; c < n; c++) key[c] = net->link_source[t->link[t->channel_link[c]]];
    sort_by(key, n, net->n_vertices, first, order);
    for (uint32_t k = 0; k < n; k++) {
        f->out_place[order[k]] = k;
        f->in_of_out[k] = f->in_place[order[k]];
    }
    return FC_OK;
}

/* States of any rate, those at their source first, then by channel. */
static enum fc_code order_states(struct fit *f, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_turns *t = f->w->turns;
    uint32_t *key = fc_alloc(arena, t->n_states + 1ull, sizeof *key, st);
    f->state = fc_alloc(arena, t->n_states + 1ull, sizeof *f->state, st);
    f->first_state = fc_alloc(arena, t->n_channels + 2ull, sizeof *f->first_state, st);
    f->first_choice = fc_alloc(arena, t->n_states + 1ull, sizeof *f->first_choice, st);
    f->place = fc_alloc(arena, t->n_choices + 1ull, sizeof *f->place, st);
    if (st->code) return st->code;
    for (uint32_t s = 0; s < t->n_states; s++) {
        key[s] = !is_any(t, s) ? FC_NONE : t->state_in[s] == FC_NONE ? 0 : f->in_place[t->state_in[s]] + 1;
        f->n_states += key[s] != FC_NONE;
    }
    sort_by(key, t->n_states, t->n_channels + 1, f->first_state, f->state);
    memset(f->place, 0xff, t->n_choices * sizeof *f->place);
    for (uint32_t k = 0; k < f->n_states; k++) {
        uint32_t s = f->state[k];
        f->first_choice[k] = f->n_choices;
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) f->place[i] = f->n_choices++;
    }
    f->first_choice[f->n_states] = f->n_choices;
    return FC_OK;
}

/* Places of the choices by out place of their channel, if that is given, or by link. */
static enum fc_code list_choices(struct fit *f, const uint32_t *out_place, uint32_t n_keys, struct lists *lists,
                                 struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_turns *t = f->w->turns;
    uint32_t *key = fc_alloc(arena, t->n_choices + 1ull, sizeof *key, st);
    lists->first = fc_alloc(arena, n_keys + 1ull, sizeof *lists->first, st);
    lists->list = fc_alloc(arena, f->n_choices + 1ull, sizeof *lists->list, st);
    if (st->code) return st->code;
    for (uint32_t i = 0; i < t->n_choices; i++)
        key[i] = f->place[i] == FC_NONE ? FC_NONE : out_place ? out_place[t->choice_channel[i]] : t->choice_link[i];
    sort_by(key, t->n_choices, n_keys, lists->first, lists->list);
    for (uint32_t i = 0; i < f->n_choices; i++) lists->list[i] = f->place[lists->list[i]];
    return FC_OK;
}

static enum fc_code open_fit(struct fit *f, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_turns *t = f->w->turns;
    if (place_channels(f, arena, st) || order_states(f, arena, st) ||
        list_choices(f, f->out_place, t->n_channels, &f->to_channel, arena, st) ||
        list_choices(f, NULL, t->n_links, &f->to_link, arena, st))
        return st->code;
    f->rate = fc_alloc(arena, f->n_choices + 1ull, sizeof *f->rate, st);
    f->state_rate = f->n_choices == f->n_states ? f->rate : fc_alloc(arena, f->n_states + 1ull, sizeof *f->rate, st);
    f->arrives = fc_alloc(arena, t->n_channels + 1ull, sizeof *f->arrives, st);
    f->leaves = fc_alloc(arena, t->n_channels + 1ull, sizeof *f->leaves, st);
    f->link_rate = fc_alloc(arena, t->n_links + 1ull, sizeof *f->link_rate, st);
    if (st->code) return st->code;
    for (uint32_t i = 0; i < t->n_choices; i++)
        if (f->place[i] != FC_NONE) f->rate[f->place[i]] = t->choice_rate[i];
    memcpy(f->link_rate, t->rate, t->n_links * sizeof *f->link_rate);
    return FC_OK;
}

/* What is listed for a key, summed. */
static inline double sum_of(const double *rate, const struct lists *lists, uint32_t key)
{
    double sum = 0;
    for (uint32_t i = lists->first[key]; i < lists->first[key + 1]; i++) sum += rate[lists->list[i]];
    return sum;
}

/* What comes to each channel. */
static void arrive(struct fit *f)
{
    for (uint32_t k = 0; k < f->w->turns->n_channels; k++)
        f->arrives[f->in_of_out[k]] = sum_of(f->rate, &f->to_channel, k);
}

/* States of the channel at that place times a factor; what leaves it. */
static inline double leave(struct fit *f, uint32_t place, double factor)
{
    uint32_t first = f->first_state[place + 1], last = f->first_state[place + 2];
    double sum = 0;
    for (uint32_t k = first; k < last; k++) sum += f->state_rate[k] *= factor;
    if (f->rate != f->state_rate)
        for (uint32_t i = f->first_choice[first]; i < f->first_choice[last]; i++) f->rate[i] *= factor;
    return sum;
}

/* What comes to a channel leaves it again: states behind it are scaled, hop after hop. */
static void conserve(struct fit *f)
{
    const struct fc_turns *t = f->w->turns;
    for (uint32_t k = 0; k < t->n_channels; k++) f->leaves[k] = leave(f, k, 1);
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        double worst = 0;
        arrive(f);
        for (uint32_t k = 0; k < t->n_channels; k++) {
            if (!(f->leaves[k] > 0)) continue;
            double factor = f->arrives[k] / f->leaves[k], off = fabs(factor - 1);
            worst = off > worst ? off : worst;
            if (factor != 1) f->leaves[k] = leave(f, k, factor);
        }
        if (worst < 1e-13) break;
    }
}

/* Rates of links as fc_turns_add_up sums them. */
static void add_up_links(struct fit *f)
{
    const struct fc_turns *t = f->w->turns;
    for (uint32_t l = 0; l < t->n_links; l++) {
        double sum = 0, copies = t->copies[l];
        if (copies == 1) {
            f->link_rate[l] = sum_of(f->rate, &f->to_link, l);
            continue;
        }
        for (uint32_t i = f->to_link.first[l]; i < f->to_link.first[l + 1]; i++)
            sum += f->rate[f->to_link.list[i]] / copies;
        f->link_rate[l] = sum;
    }
}

/* Choices by their links' rates over what they are now; the greatest difference. */
static double scale(struct fit *f, const double *rate)
{
    const struct fc_turns *t = f->w->turns;
    double worst = 0;
    for (uint32_t l = 0; l < t->n_links; l++) {
        if (!(f->link_rate[l] > 0)) continue;
        double factor = rate[l] / f->link_rate[l];
        worst = fmax(worst, fabs(factor - 1));
        for (uint32_t i = f->to_link.first[l]; i < f->to_link.first[l + 1]; i++) f->rate[f->to_link.list[i]] *= factor;
    }
    for (uint32_t k = 0; f->state_rate != f->rate && k < f->n_states; k++) {
        double sum = 0;
        for (uint32_t i = f->first_choice[k]; i < f->first_choice[k + 1]; i++) sum += f->rate[i];
        f->state_rate[k] = sum;
    }
    return worst;
}

static void write_back(const struct fit *f)
{
    struct fc_turns *t = f->w->turns;
    for (uint32_t k = 0; k < f->n_states; k++) t->state_rate[f->state[k]] = f->state_rate[k];
    for (uint32_t i = 0; i < t->n_choices; i++)
        if (f->place[i] != FC_NONE) t->choice_rate[i] = f->rate[f->place[i]];
    fc_turns_add_up(f->w);
}

enum fc_code fc_turns_smooth(struct fc_turns_walk *w, double share, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    const struct fc_turns *t = w->turns;
    struct fit f = {.w = w};
    double *rate = fc_alloc(&scratch, t->n_links, sizeof *rate, st);
    if (st->code || open_fit(&f, &scratch, st)) return st->code;
    memcpy(rate, t->rate, t->n_links * sizeof *rate);
    fc_turns_level(w, share, rate);
    for (int round = 0; round < FITTING_ROUNDS; round++) {
        double worst = scale(&f, rate);
        conserve(&f);
        add_up_links(&f);
        if (worst < 0.01) break;
    }
    write_back(&f);
    return FC_OK;
}
