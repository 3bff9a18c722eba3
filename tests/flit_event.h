/* flit_event.h - what the tests of the packet-event engine share: one engine on its own, opened, advanced and
 * closed by hand. */
#pragma once

#include "solvers/flit/counts.h"
#include "solvers/flit/engine.h"
#include "solvers/flit/prepared.h"
#include "solvers/flit/traffic.h"
#include "tests/network_checks.h"
#include "tests/support.h"

struct run {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_flit_net flit;
    struct fc_demand demand;
    struct fc_flit_traffic *traffic;
    struct fc_flit_counts part[8], counts; /* of each thread; all */
    struct fc_arena arena;
    uint64_t *link_flits, *link_packets;
    uint32_t *injected;
    void *engine;
    struct fc_flit_state state;
    struct fc_status st;
    int threads;
};

static inline bool fine(const struct run *r)
{
    if (r->st.code) printf("\n    %s:%ld: %s\n", r->st.file, r->st.line, r->st.message);
    CU_ASSERT_EQUAL(r->st.code, FC_OK);
    return r->st.code == FC_OK;
}

/* A demand of one entry; open loop or one message. */
static inline void one_flow(struct run *r, uint32_t src, uint32_t dst, double bytes, bool open_loop)
{
    struct fc_demand *d = &r->demand;
    d->name = "one flow";
    d->n_tasks = r->net.n_nodes;
    d->n_entries = 1;
    d->src = fc_alloc(&d->arena, 1, sizeof *d->src, &r->st);
    d->dst = fc_alloc(&d->arena, 1, sizeof *d->dst, &r->st);
    d->bytes = fc_alloc(&d->arena, 1, sizeof *d->bytes, &r->st);
    d->messages = fc_alloc(&d->arena, 1, sizeof *d->messages, &r->st);
    d->src[0] = src;
    d->dst[0] = dst;
    d->bytes[0] = bytes;
    d->messages[0] = 1;
    d->open_loop = open_loop;
}

/* Machine of a YAML text or name. */
static inline bool build(struct run *r, const char *yaml)
{
    memset(r, 0, sizeof *r);
    return fc_test_network(yaml, &r->machine, &r->net);
}

/* Everything but the machine and the demand; the measurement is [from, to) ticks, `intervals` equal parts of
 * [0, to). */
static inline bool start(struct run *r, const struct fc_flit_settings *settings, uint64_t from, uint64_t to,
                         uint32_t intervals)
{
    uint32_t *node = fc_alloc(&r->arena, r->net.n_nodes, sizeof *node, &r->st);
    for (uint32_t i = 0; i < r->net.n_nodes; i++) node[i] = i;
    r->threads = settings->threads;
    fc_flit_prepare(&r->net, settings, &r->flit, &r->st);
    if (!r->st.code)
        fc_flit_traffic_make(&r->flit, &r->demand, r->demand.open_loop ? NULL : node, settings, &r->traffic, &r->st);
    for (int i = 0; i <= r->threads && !r->st.code; i++) {
        struct fc_flit_counts *counts = i < r->threads ? &r->part[i] : &r->counts;
        counts->measure_from = from;
        counts->measure_to = to;
        counts->interval_ticks = intervals ? to / intervals : 0;
        counts->n_intervals = intervals;
        fc_flit_counts_make(counts, &r->arena, &r->st);
    }
    r->link_flits = fc_alloc(&r->arena, r->net.n_links, sizeof *r->link_flits, &r->st);
    r->link_packets = fc_alloc(&r->arena, r->net.n_links, sizeof *r->link_packets, &r->st);
    r->injected = fc_alloc(&r->arena, r->net.n_nodes, sizeof *r->injected, &r->st);
    char why[200];
    if (!r->st.code) CU_ASSERT(fc_flit_event_engine.takes(&r->flit, why, sizeof why));
    if (!r->st.code)
        fc_flit_event_engine.open(&r->flit, r->traffic, r->threads, settings->seed, r->part, r->link_flits,
                                  r->link_packets, r->injected, &r->engine, &r->st);
    return fine(r);
}

static inline void advance(struct run *r, uint64_t until)
{
    fc_flit_event_engine.advance(r->engine, until, &r->state, &r->st);
    fine(r);
}

/* Sums the counts of the threads, checks that nothing was lost. */
static inline void finish(struct run *r)
{
    for (int i = 0; i < r->threads; i++) fc_flit_counts_add(&r->counts, &r->part[i]);
    CU_ASSERT_EQUAL(r->counts.packets_injected, r->counts.packets_delivered + r->state.packets_in_flight);
    CU_ASSERT_EQUAL(r->counts.flits_injected, r->counts.flits_delivered + r->state.flits_in_flight);
}

static inline void end(struct run *r)
{
    if (r->engine) fc_flit_event_engine.close(r->engine);
    if (r->traffic) fc_flit_traffic_free(r->traffic);
    fc_flit_unprepare(&r->flit);
    fc_demand_free(&r->demand);
    fc_arena_free(&r->arena);
    fc_test_close(&r->machine, &r->net);
}

static inline struct fc_flit_settings settings_of(double load)
{
    return (struct fc_flit_settings){.load_flits_per_cycle = load, .threads = 1, .seed = 7};
}

/* The injection link is the slow one. */
#define NARROW_INJECTION                                                                                               \
    "name: t\nclock: 1 GHz\nnetwork: {family: mesh, dims: [2]}\n"                                                      \
    "links: {mesh: {bandwidth: 128 GB/s, latency: 2 cycles}, injection: {bandwidth: 32 GB/s, latency: 1 "              \
    "cycle}}\n"                                                                                                        \
    "router: {delay: 3 cycles, flow_control: cut-through, flit: 32 B, buffer: 1 KiB, vcs: 2, routing: "                \
    "dimension-order,"                                                                                                 \
    " escape: none}\npacket: {min: 32 B, max: 256 B}\n"
