/* event_run.c - time goes on in the packet-event engine: ticks, windows, threads.
 *
 * Threads. Blocks of consecutive routers meet every `window` ticks, the least time in which a head or a token
 * crosses from one block to another (conservative synchronisation, Nicol, J. ACM 40(2), 1993). What a router
 * does at a tick depends only on the heads, tokens and links that are known at that tick, and random draws on
 * (seed, router, tick), so that the number of blocks changes nothing. Where some link between blocks takes no
 * time, one thread runs all. Blocks of other ranks meet these in the same way, by messages (event_ranks.c). */
#include "solvers/flit/engine.h"
#include "solvers/flit/event.h"
#include "solvers/flit/event_block.h"
#include "solvers/flit/event_node.h"
#include "solvers/flit/event_parts.h"
#include "solvers/flit/event_router.h"
#include "solvers/flit/event_torus.h"
#include "solvers/flit/event_transfer.h"
#include "solvers/flit/event_wait.h"

#include <string.h>

/* Adds an event to those of its router at this tick. */
static inline void gather(struct fc_event_block *block, uint32_t router, uint32_t word)
{
    struct fc_event_engine *e = block->engine;
    uint32_t at = e->dirty_at[router];
    /* one branch: each half of it alone would be a random one */
    if ((at >= block->n_dirty) | (block->dirty[at].router != router)) {
        e->dirty_at[router] = block->n_dirty;
        block->dirty[block->n_dirty++] = (struct fc_event_dirty){.router = router, .n = 1, .word = word};
        return;
    }
    void *array = block->note;
    if (!fc_event_grow(&array, &block->note_capacity, block->n_notes, sizeof *block->note)) {
        block->out_of_memory = true;
        return;
    }
    block->note = array;
    block->note[block->n_notes] = (struct fc_event_note){word, block->dirty[at].more};
    block->dirty[at].more = block->n_notes++;
    block->dirty[at].n++;
}

static void take_event(struct fc_event_block *block, uint32_t word)
{
    struct fc_event_engine *e = block->engine;
    uint32_t index = word & FC_EVENT_INDEX;
    uint64_t now = block->wheel.now;
    switch (word >> FC_EVENT_KIND_SHIFT) {
    case FC_EVENT_CHANNEL: {
        struct fc_event_channel *channel = &e->channel[index];
        if (!(channel->flags & FC_EVENT_DUE) || channel->when != now) return; /* it moved before */
        channel->flags &= 0xffu & ~FC_EVENT_DUE;
        __builtin_prefetch(&block->packet[channel->head]);
        if (e->is_adaptive_torus) __builtin_prefetch(&e->adaptive.row[(size_t)channel->router * e->adaptive.width]);
        __builtin_prefetch(fc_event_link(e, channel->link));
        __builtin_prefetch(fc_event_tokens_of(e, channel->link, e->bit_vc[channel->bit]));
        if (e->few_paths) __builtin_prefetch(&e->path_end[(size_t)channel->link * e->paths]);
        gather(block, channel->router, word);
        return;
    }
    case FC_EVENT_LINK: {
        struct fc_event_link *link = fc_event_link(e, index);
        if (link->wake != now) return;
        link->wake = FC_EVENT_NEVER;
        if (link->wanted == 0) return;
        if (e->is_large) {
            __builtin_prefetch((const union fc_event_lane *)link + e->stride - 1);
            if (e->n_groups) __builtin_prefetch(fc_event_waiting(e, index, 0));
        }
        gather(block, link->source, word);
        return;
    }
    default:
        if (e->node[index].when != now) return;
        e->node[index].when = FC_EVENT_NEVER;
        fc_event_inject(block, index);
    }
}

/* Calls what the events of a chunk are about into the cache. */
static void prefetch_chunk(const struct fc_event_block *block, const struct fc_event_chunk *chunk)
{
    const struct fc_event_engine *e = block->engine;
    for (uint32_t i = 0; i < chunk->n; i++) {
        uint32_t index = chunk->word[i] & FC_EVENT_INDEX;
        switch (chunk->word[i] >> FC_EVENT_KIND_SHIFT) {
        case FC_EVENT_CHANNEL: __builtin_prefetch(&e->channel[index]); break;
        case FC_EVENT_LINK: __builtin_prefetch(fc_event_link(e, index)); break;
        default: __builtin_prefetch(&e->node[index]);
        }
    }
    if (chunk->next) __builtin_prefetch(&block->wheel.chunk[chunk->next]);
}

/* Takes the events out of a slot, unless there are more than there is place for: 0. */
static uint32_t empty_slot(struct fc_event_block *block, struct fc_event_chunk *slot)
{
    struct fc_event_wheel *wheel = &block->wheel;
    uint32_t *words = block->words;
    uint32_t n = slot->n, c = slot->next;
    memcpy(words, slot->word, sizeof slot->word);
    for (uint32_t more = c; more; more = wheel->chunk[more].next) {
        if (n + FC_EVENT_CHUNK > block->n_words) return 0;
        memcpy(words + n, wheel->chunk[more].word, sizeof slot->word);
        n += wheel->chunk[more].n;
    }
    slot->n = slot->next = 0;
    while (c) {
        uint32_t next = wheel->chunk[c].next;
        wheel->chunk[c].next = wheel->free_chunk;
        wheel->free_chunk = c;
        c = next;
    }
    return n;
}

/* Gathers all events of a slot. */
static void gather_slot(struct fc_event_block *block, struct fc_event_chunk *slot)
{
    struct fc_event_wheel *wheel = &block->wheel;
    struct fc_event_chunk chunk = *slot; /* what happens may add to the slot */
    slot->n = slot->next = 0;
    if (block->engine->is_large) prefetch_chunk(block, &chunk);
    for (;;) {
        uint32_t next = chunk.next;
        if (block->engine->is_large && next) prefetch_chunk(block, &wheel->chunk[next]);
        for (uint32_t i = 0; i < chunk.n; i++) take_event(block, chunk.word[i]);
        if (next == 0) break;
        chunk = wheel->chunk[next];
        wheel->chunk[next].next = wheel->free_chunk;
        wheel->free_chunk = next;
    }
}

/* Everything of the present tick; more than once round only where a delay is zero. */
static void run_tick(struct fc_event_block *block)
{
    struct fc_event_wheel *wheel = &block->wheel;
    uint32_t s = (uint32_t)wheel->now & ((1u << wheel->bits) - 1), n;
    while (wheel->slot[s].n && !block->out_of_memory && !wheel->out_of_memory) {
        block->n_dirty = 0;
        block->n_notes = 1;
        if (block->engine->direct && (n = empty_slot(block, &wheel->slot[s]))) {
            n = fc_event_torus_direct(block, n);
            for (uint32_t i = 0; i < n; i++) take_event(block, block->words[i]);
        } else {
            gather_slot(block, &wheel->slot[s]);
        }
        for (uint32_t i = 0; i < block->n_dirty; i += FC_EVENT_BATCH) {
            n = block->n_dirty - i;
            fc_event_arbitrate(block, &block->dirty[i], n < FC_EVENT_BATCH ? n : FC_EVENT_BATCH);
        }
    }
    wheel->filled[s / 64] &= ~(1ull << s % 64);
}

static bool run_window(struct fc_event_block *block, uint64_t end)
{
    bool alone = block->engine->n_blocks == 1;
    if (block->out_of_memory || block->wheel.out_of_memory) return false; /* in a window before */
    while (fc_event_next_tick(&block->wheel, end)) {
        run_tick(block);
        if (block->out_of_memory || block->wheel.out_of_memory) return false;
        if (alone && block->live_sources == 0 && block->packets_in == block->packets_out) return true;
    }
    return true;
}

/* Takes in what other blocks sent in the window before. */
static void read_mail(struct fc_event_block *block, int parity)
{
    struct fc_event_engine *e = block->engine;
    for (int from = e->first_block; from < e->first_block + e->n_here; from++) {
        struct fc_event_outbox *outbox = fc_event_outbox_at(e, parity, from, block->index);
        if (!block->out_of_memory)
            fc_event_read_outbox(block, outbox->arrival, outbox->n_arrivals, outbox->back, outbox->n_back);
        outbox->n_arrivals = outbox->n_back = 0;
    }
    if (e->ranks && !block->out_of_memory) fc_event_read_ranks(block);
}

/* What the blocks of this process add up to. */
static struct fc_event_totals add_up(const struct fc_event_engine *e)
{
    struct fc_event_totals t = {0};
    for (int b = e->first_block; b < e->first_block + e->n_here; b++) {
        const struct fc_event_block *block = &e->block[b];
        t.packets += block->packets_in - block->packets_out;
        t.flits += block->flits_in - block->flits_out;
        t.live_sources += block->live_sources;
        t.out_of_memory += block->out_of_memory || block->wheel.out_of_memory;
        if (block->last_move > t.last_move) t.last_move = block->last_move;
        if (block->last_delivery > t.last_delivery) t.last_delivery = block->last_delivery;
    }
    return t;
}

static bool exhausted(const struct fc_event_engine *e)
{
    if (e->ranks) return e->over;
    struct fc_event_totals t = add_up(e);
    return t.live_sources == 0 && t.packets == 0;
}

/* Whether all is done or memory is out, after the window of that parity; the same answer for every thread. Ranks find out
 * at the end of an advance: until then their windows are empty, and messages without memory for them too. */
static bool finished(const struct fc_event_engine *e, int parity)
{
    uint64_t in = 0, out = 0, live = 0;
    bool no_memory = false;
    if (e->ranks) return false;
    for (int b = 0; b < e->n_blocks; b++) {
        const struct fc_event_report *report = &e->block[b].report[parity];
        in += report->packets_in;
        out += report->packets_out;
        live += report->live_sources;
        no_memory = no_memory || report->out_of_memory;
    }
    return no_memory || (live == 0 && in == out);
}

/* What the threads of one advance share. */
struct run {
    struct fc_event_engine *engine;
    uint64_t until, now; /* asked for; reached */
    int parity;
};

/* One thread's blocks, window after window until `until`. */
static void run_thread(void *of, int thread, struct fc_team *team)
{
    struct run *run = of;
    struct fc_event_engine *e = run->engine;
    uint64_t now = e->now, until = run->until;
    int parity = e->parity, n_threads = fc_team_size(team);
    for (bool done = false; !done;) {
        uint64_t end = e->window < until - now ? now + e->window : until;
        for (int b = e->first_block + thread; b < e->first_block + e->n_here; b += n_threads) {
            struct fc_event_block *block = &e->block[b];
            block->parity = parity;
            fc_event_set_now(&block->wheel, now);
            read_mail(block, !parity);
            run_window(block, end);
            block->report[parity] = (struct fc_event_report){block->packets_in, block->packets_out, block->live_sources,
                                                             block->out_of_memory || block->wheel.out_of_memory};
        }
        fc_team_meet(team);
        if (e->ranks) {
            if (thread == 0) fc_event_exchange(e, parity);
            fc_team_meet(team);
        }
        now = end;
        done = now >= until || finished(e, parity);
        parity = !parity;
    }
    if (thread == 0) run->now = now, run->parity = parity;
}

static void run_blocks(struct fc_event_engine *e, uint64_t until)
{
    if (e->now >= until || exhausted(e)) return;
    struct run run = {.engine = e, .until = until};
    fc_team_run(e->team, run_thread, &run);
    e->now = run.now;
    e->parity = run.parity;
}

/* The windows of the counts may have moved since the last call. */
static void set_windows(struct fc_event_engine *e)
{
    uint64_t longest = 0;
    for (int i = 0; i < e->flit->net->machine->n_classes; i++) {
        uint64_t ticks = fc_event_ticks(e, (uint32_t)i, e->full);
        if (ticks > longest) longest = ticks;
    }
    for (int b = e->first_block; b < e->first_block + e->n_here; b++) {
        uint64_t length = e->block[b].counts->measure_to - e->block[b].counts->measure_from;
        e->block[b].well_within = length > longest ? length - longest : 0;
    }
}

static void report_sent(struct fc_event_engine *e)
{
    for (uint32_t l = 0; l < e->flit->n_links; l++) {
        if (e->sent[l] == 0) continue;
        e->link_flits[l] += e->sent[l] >> 32;
        e->link_packets[l] += e->sent[l] & UINT32_MAX;
        e->sent[l] = 0;
    }
}

/* Nodes of this process whose front packet should have left, and the longest that one waits. Once nothing is to come no front
 * packet is there. */
static void count_waiting(const struct fc_event_engine *e, struct fc_event_totals *t)
{
    uint64_t measure_to = e->block[e->first_block].counts->measure_to;
    for (uint32_t i = 0; i < e->flit->n_nodes; i++) {
        if (e->ranks && !fc_event_here(e, e->flit->n_routers + i)) continue;
        uint64_t born = e->node[i].source.born;
        if (born >= e->now) continue;
        t->sources_waiting += born < measure_to;
        if (e->now - born > t->longest_wait) t->longest_wait = e->now - born;
    }
}

enum fc_code fc_event_advance(void *engine, uint64_t until, struct fc_flit_state *state, struct fc_status *st)
{
    struct fc_event_engine *e = engine;
    int first = e->first_block, end = first + e->n_here;
    set_windows(e);
    for (int b = first; b < end; b++) {
        e->block[b].until = until;
        fc_event_land(&e->block[b]);
    }
    run_blocks(e, until);
    report_sent(e);
    struct fc_event_totals totals = add_up(e);
    bool mine = totals.out_of_memory;
    count_waiting(e, &totals);
    if (e->ranks) fc_event_share(e, &totals);
    if (mine) fc_out_of_memory(st, "packets in flight");
    if (totals.out_of_memory) return fc_ranks_agree(e->ranks, st);
    *state = (struct fc_flit_state){.packets_in_flight = totals.packets,
                                    .flits_in_flight = totals.flits,
                                    .last_move = totals.last_move,
                                    .sources_waiting = totals.sources_waiting,
                                    .longest_wait = totals.longest_wait,
                                    .exhausted = totals.live_sources == 0 && totals.packets == 0};
    e->over = state->exhausted;
    for (int b = first; b < end && state->exhausted; b++) { /* the last tokens; nothing can happen any more */
        fc_event_set_now(&e->block[b].wheel, e->now);
        read_mail(&e->block[b], !e->parity);
    }
    state->now = state->exhausted ? totals.last_delivery : e->now;
    if (state->last_move > state->now) state->last_move = state->now;
    if (e->ranks) fc_event_tell_exchanged(e, state);
    return FC_OK;
}
