/* fake_engine.h - an engine for tests of run control, in which every node is a Geo/D/1 queue whose waiting time is a closed form;
 * it can also be told to lose packets, to stand still, and to lose credits. And a run with it. Included once a test file. */
#pragma once

#include "solvers/flit/run.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the engine ------------------------------------------------------------------------------------------
 */

/* A node serves its packets one by one, service_ticks each, in order of birth; nothing else is in the way.
 * Which fault it has is chosen by its record of functions. */
struct fake_node {
    struct fc_flit_source source;
    uint64_t free_at, started;
    uint64_t born, finish; /* of the packet in service */
    uint32_t flits;
    bool busy;
};
struct fake {
    const struct fc_flit_net *flit;
    const struct fc_flit_traffic *traffic;
    struct fc_flit_counts *counts;
    uint64_t *link_flits, *link_packets;
    uint32_t *injected;
    int threads;
    uint64_t now, last_move;
    struct fake_node node[];
};
enum { SERVICE = 10, STOP_TICK = 5000 };
enum fault { SOUND, LOSES_FLITS, LOSES_PACKETS, STANDS_STILL, KEEPS_CREDITS, ENDS_EARLY };

static inline bool fake_takes(const struct fc_flit_net *flit, char *why, size_t size)
{
    (void)flit, (void)why, (void)size;
    return true;
}

static inline enum fc_code fake_open(const struct fc_flit_net *flit, const struct fc_flit_traffic *traffic, int threads,
                                     uint64_t seed, struct fc_flit_counts *counts, uint64_t *link_flits,
                                     uint64_t *link_packets, uint32_t *injected, void **engine, struct fc_status *st)
{
    (void)seed;
    struct fake *e = calloc(1, sizeof *e + flit->n_nodes * sizeof e->node[0]);
    if (!e) return fc_refuse(st, FC_NO, "out of memory");
    e->flit = flit, e->traffic = traffic, e->counts = counts, e->threads = threads;
    e->link_flits = link_flits, e->link_packets = link_packets, e->injected = injected;
    for (uint32_t v = 0; v < flit->n_nodes; v++) fc_flit_first(traffic, v, &e->node[v].source);
    *engine = e;
    return FC_OK;
}

static inline void fake_start(struct fake *e, uint32_t v, uint64_t start, uint64_t service)
{
    struct fake_node *n = &e->node[v];
    struct fc_flit_counts *c = &e->counts[v % (uint32_t)e->threads];
    uint32_t link = e->flit->net->first_link[fc_node_vertex(e->flit->net, v)];
    *n = (struct fake_node){.source = n->source,
                            .started = start,
                            .born = n->source.born,
                            .finish = start + service,
                            .free_at = start + service,
                            .flits = n->source.flits,
                            .busy = true};
    c->packets_injected++;
    c->flits_injected += n->flits;
    if (n->born >= c->measure_from && n->born < c->measure_to) c->measured_started++;
    if (start >= c->measure_from && start < c->measure_to) {
        e->link_flits[link] += n->flits;
        e->link_packets[link]++;
        e->injected[v]++;
    }
    if (start > e->last_move) e->last_move = start;
    fc_flit_next(e->traffic, v, &n->source);
}

static inline enum fc_code fake_advance(void *engine, uint64_t until, struct fc_flit_state *state, enum fault fault)
{
    struct fake *e = engine;
    *state = (struct fc_flit_state){.exhausted = true};
    for (uint32_t v = 0; v < e->flit->n_nodes; v++) {
        struct fake_node *n = &e->node[v];
        struct fc_flit_counts *c = &e->counts[v % (uint32_t)e->threads];
        for (;;) {
            if (n->busy) {
                if (n->finish >= until) break;
                uint32_t lost = fault == LOSES_FLITS && n->finish > STOP_TICK;
                fc_flit_count_flits(c, n->finish, n->flits - lost);
                if (fault != LOSES_PACKETS || n->finish <= STOP_TICK)
                    fc_flit_count_delivery(c, n->born, n->started, n->finish, 3);
                if (n->finish > e->last_move) e->last_move = n->finish;
                n->busy = false;
            } else {
                uint64_t start = n->source.born > n->free_at ? n->source.born : n->free_at;
                if (n->source.born == UINT64_MAX || start >= until) break;
                fake_start(e, v, start, fault == STANDS_STILL && start > STOP_TICK ? UINT64_MAX / 4 : SERVICE);
            }
        }
        if (fault == ENDS_EARLY && n->source.number > 3) n->source.born = UINT64_MAX;
        state->packets_in_flight += n->busy;
        state->flits_in_flight += n->busy ? n->flits : 0;
        state->sources_waiting += n->source.born < c->measure_to;
        if (n->source.born < until && until - n->source.born > state->longest_wait)
            state->longest_wait = until - n->source.born;
        state->exhausted = state->exhausted && !n->busy && n->source.born == UINT64_MAX;
    }
    e->now = state->now = until;
    state->last_move = e->last_move;
    return FC_OK;
}

#define ADVANCE(name, fault)                                                                                           \
    static enum fc_code name(void *engine, uint64_t until, struct fc_flit_state *state, struct fc_status *st)          \
    {                                                                                                                  \
        (void)st;                                                                                                      \
        return fake_advance(engine, until, state, fault);                                                              \
    }
ADVANCE(advance_sound, SOUND)
ADVANCE(advance_losing_flits, LOSES_FLITS)
ADVANCE(advance_losing_packets, LOSES_PACKETS)
ADVANCE(advance_standing_still, STANDS_STILL)
ADVANCE(advance_ending_early, ENDS_EARLY)

static inline enum fc_code fake_blocked(void *engine, struct fc_arena *arena, struct fc_flit_blocked **blocked,
                                        uint32_t *n, uint32_t **wanted, struct fc_status *st)
{
    (void)engine;
    *n = 0;
    *blocked = fc_alloc(arena, 1, sizeof **blocked, st);
    *wanted = fc_alloc(arena, 1, sizeof **wanted, st);
    return st->code;
}

static inline bool all_credits(const void *engine)
{
    (void)engine;
    return true;
}

static inline bool no_credits(const void *engine)
{
    (void)engine;
    return false;
}

static inline struct fc_flit_engine_ops fake_engine(enum fault fault)
{
    return (struct fc_flit_engine_ops){.name = "fake",
                                       .takes = fake_takes,
                                       .open = fake_open,
                                       .advance = fault == LOSES_FLITS     ? advance_losing_flits
                                                  : fault == LOSES_PACKETS ? advance_losing_packets
                                                  : fault == STANDS_STILL  ? advance_standing_still
                                                  : fault == ENDS_EARLY    ? advance_ending_early
                                                                           : advance_sound,
                                       .blocked = fake_blocked,
                                       .credits_full = fault == KEEPS_CREDITS ? no_credits : all_credits,
                                       .close = free};
}

/* ---- a run -----------------------------------------------------------------------------------------------
 */

static const char machine_text[] = "name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 4]}\n"
                                   "links: {torus: {bandwidth: 8 GB/s, latency: 1 ns}}\n"
                                   "router: {flit: 8 B, buffer: 1 KiB}\npacket: {max: 16 B, header: 8 B}\n";

/* 16 nodes, packets of 2 flits; 2 ticks a cycle, so that a service takes 5 cycles. */
struct set {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_flit_net flit;
    struct fc_flit_settings settings;
    struct fc_demand demand;
    struct fc_flit_result result;
    struct fc_status st;
};

static inline bool open_set(struct set *s, bool open_loop)
{
    memset(s, 0, sizeof *s);
    if (!fc_test_network(machine_text, &s->machine, &s->net)) return false;
    s->flit = (struct fc_flit_net){.net = &s->net,
                                   .n_routers = s->net.n_routers,
                                   .n_nodes = s->net.n_nodes,
                                   .n_links = s->net.n_links,
                                   .n_vcs = 2,
                                   .n_network_vcs = 2,
                                   .vc_rule = "dateline",
                                   .cycle_s = 1e-9,
                                   .ticks_per_cycle = 2,
                                   .flit_ticks = {2, 0},
                                   .trailer_ticks = {1, 0},
                                   .latency_ticks = {2, 0},
                                   .router_ticks = 4,
                                   .packet_flits_max = 2};
    fc_flit_defaults(&s->settings);
    struct fc_dense *part = &s->demand.dense[0];
    s->demand.name = "test";
    s->demand.n_tasks = s->net.n_nodes;
    s->demand.n_dense = 1;
    s->demand.open_loop = open_loop;
    part->a = fc_alloc(&s->demand.arena, s->demand.n_tasks, sizeof(double), &s->st);
    part->b = fc_alloc(&s->demand.arena, s->demand.n_tasks, sizeof(double), &s->st);
    part->message_bytes = 80;
    for (uint32_t t = 0; t < s->demand.n_tasks; t++) part->a[t] = 80, part->b[t] = 1;
    return true;
}

static inline enum fc_code run(struct set *s, enum fault fault)
{
    struct fc_flit_traffic *traffic;
    struct fc_flit_engine_ops ops = fake_engine(fault);
    fc_flit_free(&s->result);
    memset(&s->st, 0, sizeof s->st);
    if (fc_flit_traffic_make(&s->flit, &s->demand, NULL, &s->settings, &traffic, &s->st)) return s->st.code;
    fc_flit_run_engine(&s->flit, traffic, &ops, &s->settings, &s->result, &s->st);
    fc_flit_traffic_free(traffic);
    return s->st.code;
}

static inline void close_set(struct set *s)
{
    fc_flit_free(&s->result);
    fc_demand_free(&s->demand);
    fc_test_close(&s->machine, &s->net);
}

/* Mean latency of the queue in cycles: births every cycle with probability p, service D = 5 cycles: D + p D
 * (D-1) / (2 (1 - p D)) (discrete-time Geo/D/1). */
static inline double geo_d_1(double load)
{
    double p = load / 2, d = 5;
    return d + p * d * (d - 1) / (2 * (1 - p * d));
}
