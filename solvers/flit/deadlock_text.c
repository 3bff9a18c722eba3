/* deadlock_text.c - a deadlock in words: one cycle of packets that wait for each other's channels.
 *
 * Heads and channels form a wait graph in which a head needs any one of the channels it wants. Such a system
 * is deadlocked exactly where it has a knot: a set of heads none of which wants a channel outside what the
 * set holds (Holt, Computing Surveys 4(3), 1972; Dally & Towles 2004, section 14.1). So heads that want a
 * channel which no blocked head holds are taken away until none is left to take; every cycle among the rest
 * is part of the deadlock, and a shortest one through one of its heads is shown.
 *
 * Limits: of a packet that lies in several channels (wormhole) only those that the engine reports count as
 * held. When nothing remains, a cycle among all blocked heads is shown and the text says that it proves no
 * deadlock; when there is none either, the first heads and what they wait for. O(heads + wanted channels). */
#include "solvers/flit/engine.h"
#include "solvers/flit/prepared.h"

#include <string.h>

enum { MOST_SHOWN = 12 };

struct graph {
    const struct fc_flit_net *flit;
    const struct fc_flit_blocked *blocked; /* [n] */
    const uint32_t *wanted;
    uint32_t n;
    uint32_t *holder;       /* [channels] blocked head in it, or FC_NONE */
    uint32_t *lost;         /* [n] wanted channels that no head of the set holds */
    bool *taken;            /* [n] not of the set any more */
    uint32_t *queue, *from; /* [n] scratch */
    uint32_t *cycle;        /* [n] */
    uint32_t n_cycle;
};

static uint32_t wanted_holder(const struct graph *g, uint32_t head, uint32_t i)
{
    return g->holder[g->wanted[g->blocked[head].first_wanted + i]];
}

static enum fc_code start(struct graph *g, struct fc_arena *arena, struct fc_status *st)
{
    uint64_t n_channels = (uint64_t)g->flit->n_links * (uint64_t)g->flit->n_vcs;
    g->holder = fc_alloc(arena, n_channels, sizeof *g->holder, st);
    g->queue = fc_alloc(arena, g->n, sizeof *g->queue, st);
    g->from = fc_alloc(arena, g->n, sizeof *g->from, st);
    g->lost = fc_alloc(arena, g->n, sizeof *g->lost, st);
    g->taken = fc_alloc(arena, g->n, sizeof *g->taken, st);
    g->cycle = fc_alloc(arena, g->n, sizeof *g->cycle, st);
    if (st->code) return st->code;
    memset(g->holder, 0xff, n_channels * sizeof *g->holder);
    for (uint32_t i = 0; i < g->n; i++) g->holder[g->blocked[i].channel] = i;
    return FC_OK;
}

/* Takes away the heads that have lost one wanted channel (`any`: what remains is the knot) or all of them
 * (what remains has cycles), and then those that thereby lose theirs. Who wants the channel of head h is
 * listed by waiters[first[h] .. first[h+1]). */
static enum fc_code take_away(struct graph *g, bool any, struct fc_arena *arena, struct fc_status *st)
{
    uint64_t n_waits = 0;
    for (uint32_t h = 0; h < g->n; h++) n_waits += g->blocked[h].n_wanted;
    uint64_t *first = fc_alloc(arena, (uint64_t)g->n + 2, sizeof *first, st);
    uint32_t *waiters = fc_alloc(arena, n_waits, sizeof *waiters, st);
    if (!first || !waiters) return st->code;
    memset(g->lost, 0, g->n * sizeof *g->lost);
    for (uint32_t h = 0; h < g->n; h++)
        for (uint32_t i = 0; i < g->blocked[h].n_wanted; i++) {
            uint32_t holder = wanted_holder(g, h, i);
            if (holder == FC_NONE)
                g->lost[h]++;
            else
                first[holder + 2]++;
        }
    for (uint32_t h = 0; h < g->n; h++) first[h + 2] += first[h + 1];
    for (uint32_t h = 0; h < g->n; h++)
        for (uint32_t i = 0; i < g->blocked[h].n_wanted; i++)
            if (wanted_holder(g, h, i) != FC_NONE) waiters[first[wanted_holder(g, h, i) + 1]++] = h;
    uint32_t head = 0, tail = 0;
    for (uint32_t h = 0; h < g->n; h++) {
        g->taken[h] = g->lost[h] >= (any ? 1 : g->blocked[h].n_wanted) || g->blocked[h].n_wanted == 0;
        if (g->taken[h]) g->queue[tail++] = h;
    }
    while (head < tail) {
        uint32_t h = g->queue[head++];
        for (uint64_t w = first[h]; w < first[h + 1]; w++) {
            uint32_t waiter = waiters[w];
            g->lost[waiter]++;
            if (g->taken[waiter] || (!any && g->lost[waiter] < g->blocked[waiter].n_wanted)) continue;
            g->taken[waiter] = true;
            g->queue[tail++] = waiter;
        }
    }
    return FC_OK;
}

/* The first head of the set that `head` waits for, or FC_NONE. */
static uint32_t successor(const struct graph *g, uint32_t head)
{
    for (uint32_t i = 0; i < g->blocked[head].n_wanted; i++) {
        uint32_t holder = wanted_holder(g, head, i);
        if (holder != FC_NONE && !g->taken[holder]) return holder;
    }
    return FC_NONE;
}

/* A head on a cycle of the set; FC_NONE when the set is empty. Every head of the set has a successor in it,
 * so a walk of n steps has come round. */
static uint32_t on_cycle(const struct graph *g)
{
    uint32_t h = 0;
    while (h < g->n && g->taken[h]) h++;
    if (h == g->n) return FC_NONE;
    for (uint32_t i = 0; i < g->n; i++) h = successor(g, h);
    return h;
}

/* Breadth first search within the set for the shortest cycle through `root`. */
static void shortest(struct graph *g, uint32_t root)
{
    uint32_t head = 0, tail = 0, last = FC_NONE;
    memset(g->from, 0xff, g->n * sizeof *g->from);
    g->queue[tail++] = root;
    while (head < tail && last == FC_NONE) {
        uint32_t h = g->queue[head++];
        for (uint32_t i = 0; i < g->blocked[h].n_wanted && last == FC_NONE; i++) {
            uint32_t to = wanted_holder(g, h, i);
            if (to == root) {
                last = h;
            } else if (to != FC_NONE && !g->taken[to] && g->from[to] == FC_NONE) {
                g->from[to] = h;
                g->queue[tail++] = to;
            }
        }
    }
    uint32_t n = 0, first = last; /* shown from the head that the engine named first */
    for (uint32_t h = last; h != FC_NONE; h = g->from[h], n++) first = h < first ? h : first;
    for (uint32_t h = first, i = n; i > 0; i--) { /* backwards: places 0, n - 1, ... 1 */
        g->cycle[i % n] = h;
        h = g->from[h] == FC_NONE ? last : g->from[h];
    }
    g->n_cycle = n;
}

struct text {
    char *at, *end;
};
static FC_PRINTF(2, 3) void add(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(t->at, (size_t)(t->end - t->at), format, arguments);
    va_end(arguments);
    if (n > 0) t->at += n < t->end - t->at ? n : t->end - t->at - 1;
}

/* One head: its channel, its packet, and the channel of head `next` that it waits for (FC_NONE: the first).
 */
static void add_head(struct text *t, const struct graph *g, uint32_t head, uint32_t next)
{
    const struct fc_flit_blocked *b = &g->blocked[head];
    char name[448];
    add(t, "%s holds packet %u -> %u (%u flit%s)",
        fc_channel_name(g->flit->net, b->channel, g->flit->n_vcs, name, sizeof name), b->packet_src, b->packet_dst,
        b->packet_flits, b->packet_flits == 1 ? "" : "s");
    if (b->n_wanted == 0) {
        add(t, ", waits for nothing that is known\n");
        return;
    }
    uint32_t channel = next == FC_NONE ? g->wanted[b->first_wanted] : g->blocked[next].channel;
    add(t, ", waits for %s", fc_channel_name(g->flit->net, channel, g->flit->n_vcs, name, sizeof name));
    if (b->n_wanted > 1) add(t, " or %u other%s", b->n_wanted - 1, b->n_wanted == 2 ? "" : "s");
    add(t, "\n");
}

static void write_text(struct text *t, const struct graph *g, bool knot)
{
    uint32_t n = g->n_cycle ? g->n_cycle : g->n;
    const char *packets = n == 1 ? "packet waits" : "packets wait";
    if (g->n_cycle && knot)
        add(t, "%u %s in a cycle:\n", n, packets);
    else if (g->n_cycle)
        add(t, "%u %s in a cycle, though some want channels that no blocked packet holds:\n", n, packets);
    else
        add(t, "%u %s for channels that no blocked packet holds:\n", n, packets);
    for (uint32_t i = 0; i < n && i < MOST_SHOWN; i++)
        add_head(t, g, g->n_cycle ? g->cycle[i] : i, g->n_cycle ? g->cycle[(i + 1) % n] : FC_NONE);
    if (n > MOST_SHOWN) add(t, "... and %u more\n", n - MOST_SHOWN);
}

enum fc_code fc_flit_deadlock_text(const struct fc_flit_net *flit, const struct fc_flit_blocked *blocked, uint32_t n,
                                   const uint32_t *wanted, struct fc_arena *arena, const char **text,
                                   struct fc_status *st)
{
    enum { MOST_BYTES = (MOST_SHOWN + 2) * 1024 };
    struct fc_arena scratch = {0};
    struct graph g = {.flit = flit, .blocked = blocked, .wanted = wanted, .n = n};
    char *out = fc_alloc(arena, MOST_BYTES, 1, st);
    *text = out;
    if (out && !start(&g, &scratch, st) && !take_away(&g, true, &scratch, st)) {
        uint32_t root = on_cycle(&g);
        bool knot = root != FC_NONE;
        if (!knot && !take_away(&g, false, &scratch, st)) root = on_cycle(&g);
        if (root != FC_NONE) shortest(&g, root);
        write_text(&(struct text){out, out + MOST_BYTES}, &g, knot);
    }
    fc_arena_free(&scratch);
    return st->code;
}
