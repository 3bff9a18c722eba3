/* turns_tables.c - the channels and states that packets met: tables that grow, found by hashing (open
 * addressing, linear probing, at most a quarter full; the finaliser of MurmurHash3, Appleby 2011). Numbers
 * are given in the order in which things are met, so they do not depend on the hash. */
#include "solvers/queueing/turns_internal.h"

#include <string.h>

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

static enum fc_code more_channels(struct fc_turns_walk *w, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    uint32_t used = t->n_channels, n = used ? 2 * used : 256, slots = 4 * n;
    if (GROW(t->channel_link, n) || GROW(t->channel_vcs, n) || GROW(t->channel_rate, n) || GROW(t->channel_key, n))
        return st->code;
    w->channel_of = fc_alloc(w->arena, slots, sizeof *w->channel_of, st);
    if (!w->channel_of) return st->code;
    w->channels_capacity = n;
    w->channel_slots = slots;
    for (uint32_t c = 0; c < used; c++) {
        uint32_t at = (uint32_t)mix(t->channel_key[c]) & (slots - 1);
        while (w->channel_of[at]) at = (at + 1) & (slots - 1);
        w->channel_of[at] = c + 1;
    }
    return FC_OK;
}

static inline uint64_t *recent_of(const struct fc_turns_walk *w, uint32_t link, uint16_t vcs)
{
    uint32_t lowest = vcs ? (uint32_t)__builtin_ctz(vcs) : 0;
    return &w->recent[(size_t)link * w->recent_width + (lowest & (w->recent_width - 1))];
}

uint32_t fc_turns_channel(struct fc_turns_walk *w, uint32_t link, uint16_t vcs, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    uint64_t key = (uint64_t)link << 16 | vcs;
    uint64_t *recent = recent_of(w, link, vcs);
    if (*recent && (uint16_t)*recent == vcs) return (uint32_t)(*recent >> 16) - 1;
    if (t->n_channels == w->channels_capacity && more_channels(w, st)) return FC_NONE;
    uint32_t mask = w->channel_slots - 1, at = (uint32_t)mix(key) & mask;
    for (; w->channel_of[at]; at = (at + 1) & mask)
        if (t->channel_key[w->channel_of[at] - 1] == key) {
            *recent = (uint64_t)w->channel_of[at] << 16 | vcs;
            return w->channel_of[at] - 1;
        }
    uint32_t c = t->n_channels++;
    w->channel_of[at] = c + 1;
    *recent = (uint64_t)(c + 1) << 16 | vcs;
    t->channel_key[c] = key;
    t->channel_link[c] = link;
    t->channel_vcs[c] = (uint8_t)__builtin_popcount(vcs);
    return c;
}

static uint64_t state_hash(uint32_t in, const struct fc_turns_choice *set, uint32_t n)
{
    uint64_t x = mix(in + UINT64_C(0x9e3779b97f4a7c15));
    for (uint32_t i = 0; i < n; i++) x = mix(x ^ set[i].channel);
    return x;
}

static enum fc_code more_states(struct fc_turns_walk *w, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    uint32_t used = t->n_states, n = used ? 2 * used : 1024, slots = 2 * n;
    if (GROW(t->state_in, n) || GROW(t->state_rate, n)) return st->code;
    used = used ? used + 1 : 0;
    if (GROW(t->first_choice, n + 1)) return st->code;
    w->state_of = fc_alloc(w->arena, slots, sizeof *w->state_of, st);
    uint64_t *met = fc_alloc(w->arena, n / 64 + 1ull, sizeof *met, st);
    if (st->code) return st->code;
    if (t->n_states) memcpy(met, w->met, (t->n_states / 64 + 1ull) * sizeof *met);
    w->met = met;
    w->states_capacity = n;
    w->state_slots = slots;
    for (uint32_t s = 0; s < t->n_states; s++) {
        struct fc_turns_choice set[FC_TURNS_MOST_SET];
        uint32_t m = t->first_choice[s + 1] - t->first_choice[s];
        for (uint32_t i = 0; i < m; i++) set[i].channel = t->choice_channel[t->first_choice[s] + i];
        uint32_t at = (uint32_t)state_hash(t->state_in[s], set, m) & (slots - 1);
        while (w->state_of[at].state) at = (at + 1) & (slots - 1);
        w->state_of[at] = (struct fc_turns_slot){t->state_in[s], m ? set[0].channel : 0, m, s + 1};
    }
    return FC_OK;
}

static enum fc_code more_choices(struct fc_turns_walk *w, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    uint32_t used = t->n_choices, n = used ? 2 * used : 4096;
    if (GROW(t->choice_link, n) || GROW(t->choice_channel, n) || GROW(t->choice_rate, n)) return st->code;
    w->choices_capacity = n;
    return FC_OK;
}

static inline bool same_state(const struct fc_turns *t, const struct fc_turns_slot *slot, uint32_t in,
                              const struct fc_turns_choice *set, uint32_t n)
{
    if (slot->in != in || slot->n != n || slot->channel != set[0].channel) return false;
    if (n == 1) return true;
    uint32_t first = t->first_choice[slot->state - 1];
    for (uint32_t i = 1; i < n; i++)
        if (t->choice_channel[first + i] != set[i].channel) return false;
    return true;
}

static uint32_t find_state(struct fc_turns_walk *w, uint32_t hash, uint32_t in, const struct fc_turns_choice *set,
                           uint32_t n, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    if (t->n_states == w->states_capacity && more_states(w, st)) return FC_NONE;
    while (t->n_choices + n > w->choices_capacity)
        if (more_choices(w, st)) return FC_NONE;
    uint32_t mask = w->state_slots - 1, at = hash & mask;
    for (; w->state_of[at].state; at = (at + 1) & mask)
        if (same_state(t, &w->state_of[at], in, set, n)) return w->state_of[at].state - 1;
    uint32_t s = t->n_states++;
    w->state_of[at] = (struct fc_turns_slot){in, set[0].channel, n, s + 1};
    t->state_in[s] = in;
    for (uint32_t i = 0; i < n; i++) {
        t->choice_link[t->n_choices + i] = set[i].link;
        t->choice_channel[t->n_choices + i] = set[i].channel;
    }
    t->n_choices += n;
    t->first_choice[s + 1] = t->n_choices;
    return s;
}

uint32_t fc_turns_state(struct fc_turns_walk *w, uint32_t in, const struct fc_turns_choice *set, uint32_t n,
                        struct fc_status *st)
{
    return find_state(w, (uint32_t)state_hash(in, set, n), in, set, n, st);
}

/* ---- what packets add ---- */

void fc_turns_add(struct fc_turns_walk *w, uint32_t s, uint32_t choice, double rate)
{
    w->met[s / 64] |= UINT64_C(1) << (s & 63);
    w->turns->state_rate[s] += rate;
    w->turns->choice_rate[w->turns->first_choice[s] + choice] += rate;
}

/* What one after the other would wait for from memory is called for all of them first. */
enum fc_code fc_turns_count_pending(struct fc_turns_walk *w, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    struct fc_turns_pending *const end = w->pending + w->n_pending;
    w->n_pending = 0;
    for (struct fc_turns_pending *p = w->pending; p < end; p++) {
        p->in = p->at_source ? FC_NONE : w->came_by;
        p->channel = w->came_by = fc_turns_channel(w, p->link, p->vcs, st);
        if (p->channel == FC_NONE) return st->code;
        p->hash = (uint32_t)state_hash(p->in, &(struct fc_turns_choice){p->link, p->channel}, 1);
        __builtin_prefetch(&w->state_of[p->hash & (w->state_slots - 1)]);
    }
    for (struct fc_turns_pending *p = w->pending; p < end; p++) {
        p->state = find_state(w, p->hash, p->in, &(struct fc_turns_choice){p->link, p->channel}, 1, st);
        if (p->state == FC_NONE) return st->code;
        __builtin_prefetch(&t->state_rate[p->state], 1);
        __builtin_prefetch(&t->first_choice[p->state]);
        if (t->n_choices == t->n_states) __builtin_prefetch(&t->choice_rate[p->state], 1);
    }
    for (struct fc_turns_pending *p = w->pending; p < end; p++) fc_turns_add(w, p->state, 0, p->rate);
    return FC_OK;
}

enum fc_code fc_turns_pass(struct fc_turns_walk *w, const struct fc_flit_choice *out, bool at_source, double rate,
                           struct fc_status *st)
{
    uint32_t link = w->orbit ? w->orbit[out->link] : out->link;
    w->pending[w->n_pending++] =
        (struct fc_turns_pending){.link = link, .vcs = out->vcs, .at_source = at_source, .rate = rate};
    __builtin_prefetch(recent_of(w, link, out->vcs));
    return w->n_pending == FC_TURNS_PENDING ? fc_turns_count_pending(w, st) : FC_OK;
}

uint32_t fc_turns_next_met(const struct fc_turns_walk *w, uint32_t s)
{
    uint32_t n = w->turns->n_states, word = s / 64;
    if (s >= n) return n;
    uint64_t bits = w->met[word] & ~UINT64_C(0) << (s & 63);
    while (!bits)
        if (++word > (n - 1) / 64)
            return n;
        else
            bits = w->met[word];
    return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

void fc_turns_forget(struct fc_turns_walk *w)
{
    struct fc_turns *t = w->turns;
    for (uint32_t s = fc_turns_next_met(w, 0); s < t->n_states; s = fc_turns_next_met(w, s + 1)) {
        t->state_rate[s] = 0;
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1]; i++) t->choice_rate[i] = 0;
    }
    memset(w->met, 0, (t->n_states / 64 + 1ull) * sizeof *w->met);
}

enum fc_code fc_turns_tables(struct fc_turns_walk *w, struct fc_status *st)
{
    w->recent_width = w->flit.n_vcs > 4 ? 8 : w->flit.n_vcs > 2 ? 4 : 2;
    w->recent = fc_alloc(w->arena, (size_t)w->turns->n_links * w->recent_width, sizeof *w->recent, st);
    if (!w->recent || more_channels(w, st) || more_states(w, st)) return st->code;
    return more_choices(w, st);
}

enum fc_code fc_turns_set(struct fc_turns_walk *w, const struct fc_flit_choice *out, uint32_t n,
                          struct fc_turns_choice *set, struct fc_status *st)
{
    for (uint32_t i = 0; i < n && !st->code; i++) {
        set[i].link = w->orbit ? w->orbit[out[i].link] : out[i].link;
        set[i].channel = fc_turns_channel(w, set[i].link, out[i].vcs, st);
    }
    return st->code;
}

uint32_t fc_turns_choices(struct fc_turns_walk *w, uint32_t vertex, uint32_t in_link, int in_vc,
                          const struct fc_flit_head *head, struct fc_flit_choice *out, struct fc_turns_choice *set,
                          struct fc_status *st)
{
    uint32_t n = fc_turns_outputs(w, vertex, in_link, in_vc, head, out);
    return fc_turns_set(w, out, n, set, st) ? 0 : n;
}
