/* trace_period.c - what repeats in a rank's calls.
 *
 * Calls become numbers, equal for equal calls (lists by a 64-bit hash, requests counted back from the
 * newest). With c the middle call of s[0 .. n), s[i] = s[i + p] holds from c on for after(p) calls and before
 * c for before(p) calls; both are known for all p from Z functions (Gusfield, Algorithms on Strings, Trees,
 * and Sequences, 1997, section 1.3), of s[c ..] and of the calls before c read backwards, in linear time. The
 * stretch about c with period p then has before + p + after calls. The p is taken that leaves most calls
 * beside four periods; among equals the shortest, so never a multiple of another. Limit: a loop that does not
 * reach the middle call is not seen; one of half of the calls always does. */
#include "core/array.h"
#include "traces/trace_format.h"
#include "traces/trace_period_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KINDS = 1 << 20, MOST_CALLS = INT32_MAX };

/* What calls have in common that are alike. */
struct kind {
    uint64_t list; /* hash */
    int64_t bytes;
    int32_t comm, peer, tag;
    uint32_t n_list;
    uint8_t op, mode;
};
struct fc_period_finder {
    const struct fc_trace *head;
    struct fc_period *period;
    struct fc_status *st;
    uint32_t rank;  /* the rank at hand, and of it: */
    uint32_t *call; /* [n] kind of each call */
    size_t n, capacity;
    struct kind *kind; /* [n_kinds] */
    uint32_t *slot;    /* [mask + 1] kind + 1; 0: free; at most half full */
    uint32_t n_kinds, kind_capacity, mask;
    int64_t made;              /* requests so far */
    bool gave_up;              /* too many kinds, or calls */
    uint32_t *count, *touched; /* [n_ranks or n_comms, the greater] scratch */
    struct fc_period_rates rates;
    uint64_t best_stretch, best_length, best_of; /* of a rank: for the message when nothing is found */
    uint32_t best_rank;
};

static enum fc_code no_memory(const struct fc_period_finder *f)
{
    return fc_out_of_memory(f->st, "looking for what repeats in rank %" PRIu32 "'s calls", f->rank);
}

/* ---- calls as numbers ---- */

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 32;
}

static uint64_t hash_kind(const struct kind *k)
{
    uint64_t h = mix(k->list ^ k->op ^ (uint64_t)k->mode << 8, (uint64_t)k->bytes);
    return mix(h, (uint64_t)(uint32_t)k->comm << 40 ^ (uint64_t)(uint32_t)k->peer << 20 ^ (uint32_t)k->tag);
}

static bool same_kind(const struct kind *a, const struct kind *b)
{
    return a->list == b->list && a->bytes == b->bytes && a->comm == b->comm && a->peer == b->peer && a->tag == b->tag &&
           a->n_list == b->n_list && a->op == b->op && a->mode == b->mode;
}

static bool grow_kinds(struct fc_period_finder *f)
{
    uint32_t capacity = f->kind_capacity ? 2 * f->kind_capacity : 256, mask = 2 * capacity - 1;
    struct kind *kind = realloc(f->kind, capacity * sizeof *kind);
    if (kind) f->kind = kind;
    uint32_t *slot = calloc((size_t)mask + 1, sizeof *slot);
    if (!kind || !slot) {
        free(slot);
        return false;
    }
    for (uint32_t i = 0; i < f->n_kinds; i++) {
        uint64_t at = hash_kind(&kind[i]) & mask;
        while (slot[at]) at = (at + 1) & mask;
        slot[at] = i + 1;
    }
    free(f->slot);
    f->slot = slot;
    f->mask = mask;
    f->kind_capacity = capacity;
    return true;
}

enum fc_code fc_period_event(struct fc_period_finder *f, const struct fc_event *e, const int64_t *list)
{
    if (e->compute_s > 0) f->period->rank[f->rank].compute_s += e->compute_s;
    if (e->op == FC_OP_POLL) return FC_OK;
    f->period->rank[f->rank].n_calls++;
    if (f->gave_up || f->head->graph) return FC_OK;
    struct kind k = {.bytes = e->bytes,
                     .comm = e->comm,
                     .peer = e->peer,
                     .tag = e->tag,
                     .n_list = e->n_list,
                     .op = e->op,
                     .mode = e->mode};
    for (uint32_t i = 0; i < e->n_list; i++)
        k.list = mix(k.list, (uint64_t)(e->op == FC_OP_WAIT ? f->made - list[i] : list[i]));
    f->made += fc_makes_request(e->op, e->mode);
    if (f->n_kinds == f->kind_capacity && !grow_kinds(f)) return no_memory(f);
    uint64_t at = hash_kind(&k) & f->mask;
    while (f->slot[at] && !same_kind(&f->kind[f->slot[at] - 1], &k)) at = (at + 1) & f->mask;
    if (!f->slot[at]) {
        f->kind[f->n_kinds] = k;
        f->slot[at] = ++f->n_kinds;
    }
    if (!FC_GROW(f->call, f->capacity, f->n + 1)) return no_memory(f);
    f->call[f->n++] = f->slot[at] - 1;
    f->gave_up = f->n_kinds > MOST_KINDS || f->n > MOST_CALLS;
    return FC_OK;
}

/* ---- the stretch about the middle ---- */

/* z[i]: how many numbers from s[i] on are those from s[0] on. */
static void z_function(const uint32_t *s, size_t n, uint32_t *z)
{
    if (n) z[0] = (uint32_t)n;
    for (size_t i = 1, l = 0, r = 0; i < n; i++) {
        size_t k = i < r ? (r - i < z[i - l] ? r - i : z[i - l]) : 0;
        while (i + k < n && s[k] == s[i + k]) k++;
        z[i] = (uint32_t)k;
        if (i + k > r) {
            l = i;
            r = i + k;
        }
    }
}

/* match[i], i < n_match: how many numbers from text[i] on are those from s[0] on. */
static void z_match(const uint32_t *s, size_t n, const uint32_t *z, const uint32_t *text, size_t n_text, size_t n_match,
                    uint32_t *match)
{
    for (size_t i = 0, l = 0, r = 0; i < n_match; i++) {
        size_t k = i < r ? (r - i < z[i - l] ? r - i : z[i - l]) : 0;
        while (k < n && i + k < n_text && s[k] == text[i + k]) k++;
        match[i] = (uint32_t)k;
        if (i + k > r) {
            l = i;
            r = i + k;
        }
    }
}

struct stretch {
    size_t start, length, period; /* period 0: none */
};

static enum fc_code find_stretch(const struct fc_period_finder *f, struct stretch *best)
{
    size_t n = f->n, c = n / 2, gain = 0;
    *best = (struct stretch){0};
    if (n < FC_LEAST_REPEATS) return FC_OK;
    uint32_t *back = malloc(n * sizeof *back), *after = malloc((n - c) * sizeof *after);
    uint32_t *z = malloc((c + 1) * sizeof *z), *before = malloc((n - c) * sizeof *before);
    if (back && after && z && before) {
        for (size_t i = 0; i < n; i++) back[i] = f->call[n - 1 - i];
        z_function(f->call + c, n - c, after);
        z_function(back + (n - c), c, z); /* the calls before c, backwards; s[c + p - 1] is back[n - c - p] */
        z_match(back + (n - c), c, z, back, n, n - c, before);
        for (size_t p = 1; p < n - c; p++) {
            size_t length = before[n - c - p] + p + after[p];
            if (length / p < FC_LEAST_REPEATS || length - 4 * p <= gain) continue;
            gain = length - 4 * p;
            *best = (struct stretch){c - before[n - c - p], length, p};
        }
    }
    bool good = back && after && z && before;
    free(back);
    free(after);
    free(z);
    free(before);
    return good ? FC_OK : no_memory(f);
}

/* ---- what a period of the rank does ---- */

static bool rate_add(struct fc_rate_list *list, struct fc_rate rate)
{
    if (!FC_GROW(list->rate, list->capacity, list->n + 1)) return false;
    list->rate[list->n++] = rate;
    return true;
}

/* Which of the three lists a call counts in, and for whom; -1: none. */
static int counts_as(const struct kind *k)
{
    if (k->op == FC_OP_SEND || k->op == FC_OP_ISEND) return 0;
    if (k->op == FC_OP_RECV || k->op == FC_OP_IRECV) return k->peer == FC_ANY ? -1 : 1;
    return k->op >= FC_OP_BARRIER && k->op <= FC_OP_COMM ? 2 : -1;
}
static uint32_t comm_of(const struct kind *k)
{
    return (uint32_t)(k->op == FC_OP_COMM ? k->peer : k->comm);
}

/* Counts one period by peer or communicator into a list. */
static enum fc_code add_rates(struct fc_period_finder *f, const struct stretch *s, int which)
{
    struct fc_rate_list *lists[] = {&f->rates.sends, &f->rates.receives, &f->rates.calls};
    uint32_t n_touched = 0;
    bool good = true;
    for (size_t i = s->start; i < s->start + s->period; i++) {
        const struct kind *k = &f->kind[f->call[i]];
        if (counts_as(k) != which) continue;
        uint32_t whom = which == 2 ? comm_of(k) : (uint32_t)k->peer;
        if (f->count[whom]++ == 0) f->touched[n_touched++] = whom;
    }
    for (uint32_t i = 0; i < n_touched; i++) {
        uint32_t whom = f->touched[i];
        struct fc_rate rate = {which == 1 ? whom : f->rank, which == 1 ? f->rank : whom, f->count[whom]};
        f->count[whom] = 0;
        good = good && rate_add(lists[which], rate);
    }
    return good ? FC_OK : no_memory(f);
}

/* Requests, receives from anyone, calls on the world. False: the period leaves requests open. */
static bool add_rest(struct fc_period_finder *f, const struct stretch *s)
{
    uint64_t made = 0, completed = 0;
    for (size_t i = 0; i < s->start; i++) {
        const struct kind *k = &f->kind[f->call[i]];
        f->rates.world_before[f->rank] += counts_as(k) == 2 && comm_of(k) == 0;
    }
    for (size_t i = s->start; i < s->start + s->period; i++) {
        const struct kind *k = &f->kind[f->call[i]];
        made += fc_makes_request(k->op, k->mode);
        completed += k->op == FC_OP_WAIT ? k->n_list : 0;
        f->rates.any[f->rank] += (k->op == FC_OP_RECV || k->op == FC_OP_IRECV) && k->peer == FC_ANY;
        if (counts_as(k) == 2 && comm_of(k) == 0 &&
            !rate_add(&f->rates.world, (struct fc_rate){f->rank, (uint32_t)(i - s->start), 0}))
            no_memory(f);
    }
    f->period->rank[f->rank].n_requests = made;
    return made == completed;
}

static void note_best(struct fc_period_finder *f, const struct stretch *s)
{
    if (!s->period || s->length <= f->best_stretch) return;
    f->best_stretch = s->length;
    f->best_length = s->period;
    f->best_of = f->n;
    f->best_rank = f->rank;
}

enum fc_code fc_period_next(struct fc_period_finder *f)
{
    struct fc_period_rank *rank = &f->period->rank[f->rank];
    struct stretch s = {0};
    if (!f->gave_up && find_stretch(f, &s)) return f->st->code;
    note_best(f, &s);
    if (s.period) {
        bool closed = add_rest(f, &s);
        for (int which = 0; which < 3 && closed && !f->st->code; which++) add_rates(f, &s, which);
        if (!closed) f->rates.any[f->rank] = 0;
        if (closed) {
            rank->start = s.start;
            rank->length = s.period;
            f->rates.stretch[f->rank] = s.length;
        }
    }
    f->rank++;
    f->n = 0;
    f->n_kinds = 0;
    f->made = 0;
    f->gave_up = false;
    if (f->slot) memset(f->slot, 0, ((size_t)f->mask + 1) * sizeof *f->slot);
    return f->st->code;
}

/* ---- all of it ---- */

struct fc_period_finder *fc_period_start(const struct fc_trace *head, struct fc_period *period, struct fc_status *st)
{
    struct fc_period_finder *f = calloc(1, sizeof *f);
    uint32_t n = head->n_ranks, most = head->n_comms > n ? head->n_comms : n;
    *period = (struct fc_period){.n_ranks = n};
    if (!f) return fc_out_of_memory(st, "the periods of the trace"), NULL;
    *f =
        (struct fc_period_finder){.head = head, .period = period, .st = st, .rates.head = head, .rates.period = period};
    period->rank = fc_alloc(&period->arena, n, sizeof *period->rank, st);
    f->rates.stretch = calloc(n, sizeof *f->rates.stretch);
    f->rates.any = calloc(n, sizeof *f->rates.any);
    f->rates.world_before = calloc(n, sizeof *f->rates.world_before);
    f->count = calloc(most, sizeof *f->count);
    f->touched = malloc(most * sizeof *f->touched);
    if (!f->rates.stretch || !f->rates.any || !f->rates.world_before || !f->count || !f->touched) no_memory(f);
    if (!st->code) return f;
    fc_period_finish(f);
    return NULL;
}

enum fc_code fc_period_finish(struct fc_period_finder *f)
{
    if (!f) return FC_OK;
    struct fc_status *st = f->st;
    struct fc_period *p = f->period;
    if (!st->code && f->head->graph)
        snprintf(p->why, sizeof p->why, "a graph of dependencies has no order of calls that could repeat");
    else if (!st->code && !fc_period_join(&f->rates, st) && !p->repeats && f->best_of) {
        size_t n = strlen(p->why);
        p->covers = (double)f->best_stretch / (double)f->best_of;
        snprintf(p->why + n, sizeof p->why - n,
                 "; longest: %" PRIu64 " times %" PRIu64 " calls of rank %" PRIu32 ", %.0f %% of its",
                 f->best_stretch / f->best_length, f->best_length, f->best_rank, 100 * p->covers);
    }
    free(f->call);
    free(f->kind);
    free(f->slot);
    free(f->count);
    free(f->touched);
    free(f->rates.stretch);
    free(f->rates.any);
    free(f->rates.world_before);
    free(f->rates.sends.rate);
    free(f->rates.receives.rate);
    free(f->rates.calls.rate);
    free(f->rates.world.rate);
    free(f);
    if (st->code) fc_period_free(p);
    return st->code;
}

enum fc_code fc_period_find(struct fc_trace_source *source, struct fc_period *period, struct fc_status *st)
{
    const struct fc_event *e;
    struct fc_period_finder *f = fc_period_start(source->head, period, st);
    for (uint32_t r = 0; f && !st->code && r < source->head->n_ranks; r++) {
        for (; !st->code && (e = fc_source_peek(source, r)); fc_source_take(source, r))
            fc_period_event(f, e, fc_source_list(source, r, e));
        if (!st->code) fc_period_next(f);
    }
    if (f && !st->code && source->st->code) *st = *source->st;
    fc_period_finish(f);
    return st->code;
}

FC_FREES(fc_period_free, fc_period)
