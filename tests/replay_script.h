/* replay_script.h - traces and machines by hand for the tests of the replay. */
#pragma once

#include "models/family_torus.h"
#include "solvers/solvers.h"
#include "solvers/timing.h"
#include "tests/support.h"
#include "tests/tests.h"
#include "traces/traces.h"

#include <math.h>
#include <string.h>

/* ---- traces by hand ---- */

enum { MOST_EVENTS = 6000, MOST_RANKS = 64 };
struct script {
    struct fc_trace trace;
    struct fc_event event[MOST_EVENTS];
    int64_t list[MOST_EVENTS];
    uint64_t first[MOST_RANKS + 1], comm_first[8];
    uint32_t member[8 * MOST_RANKS];
    long line[MOST_RANKS];
    int32_t n_requests;
};

/* A trace of n ranks without events; the ranks are then written one after the other. */
static inline void start_script(struct script *s, uint32_t n_ranks)
{
    memset(s, 0, sizeof *s);
    for (uint32_t r = 0; r < n_ranks; r++) s->member[r] = r;
    s->comm_first[1] = n_ranks;
    s->trace = (struct fc_trace){.file = "job.trace",
                                 .program = "a.out",
                                 .n_comms = 1,
                                 .comm_first = s->comm_first,
                                 .comm_member = s->member,
                                 .first_event = s->first,
                                 .events = s->event,
                                 .lists = s->list,
                                 .first_line = s->line};
}
static inline void next_rank(struct script *s)
{
    s->line[s->trace.n_ranks] = 1000 * ((long)s->trace.n_ranks + 1);
    s->trace.n_ranks++;
    s->first[s->trace.n_ranks] = s->first[s->trace.n_ranks - 1];
    s->n_requests = 0;
}
static inline struct fc_event *add(struct script *s, enum fc_op op, int32_t peer, int64_t bytes)
{
    CU_ASSERT_FATAL(s->first[s->trace.n_ranks] < MOST_EVENTS);
    struct fc_event *e = &s->event[s->first[s->trace.n_ranks]++];
    *e = (struct fc_event){.op = (uint8_t)op, .peer = peer, .bytes = bytes, .request = -1};
    if (op == FC_OP_ISEND || op == FC_OP_IRECV) e->request = s->n_requests++;
    return e;
}
static inline void add_wait(struct script *s, int32_t first, int32_t n)
{
    struct fc_event *e = add(s, FC_OP_WAIT, -1, 0);
    e->list = s->trace.n_lists;
    e->n_list = (uint32_t)n;
    for (int32_t i = 0; i < n; i++) s->list[s->trace.n_lists++] = first + i;
}
static inline void add_comm(struct script *s, uint32_t first, uint32_t n)
{
    uint32_t *at = s->member + s->comm_first[s->trace.n_comms];
    for (uint32_t i = 0; i < n; i++) at[i] = first + i;
    s->trace.n_comms++;
    s->comm_first[s->trace.n_comms] = s->comm_first[s->trace.n_comms - 1] + n;
}

/* ---- machines ---- */

/* Four routers in a line, two nodes each. Crossing h links takes 2 node wires of 10 ns, h wires of 100 ns
 * and h + 1 routers of 50 ns. o = 1 us and 2 us. Packets carry payload only. */
#define LINE_OF(router)                                                                                                \
    "name: line\nnetwork: {family: mesh, dims: [4], nodes_per_router: 2}\n"                                            \
    "links: {mesh: {bandwidth: 1 GB/s, latency: 100 ns}, injection: {bandwidth: 2 GB/s, latency: 10 ns}}\n"            \
    "router: {" router "}\nnode: {cores: 2}\n"                                                                         \
    "software: {send: 1 us, recv: 2 us, gap: 0 s, eager: 1 MiB}\n"
#define LINE_YAML LINE_OF("delay: 50 ns")
static inline double line_head_s(double hops)
{
    return 20e-9 + hops * 100e-9 + (hops + 1) * 50e-9;
}

static const char torus_yaml[] =
    "name: torus\nnetwork: {family: torus, dims: [%s]}\n"
    "links: {torus: {bandwidth: 1 GB/s, latency: 40 ns}, injection: {bandwidth: 4 GB/s}}\n"
    "router: {delay: 60 ns, flit: 16 B, routing: %s, vcs: 2, escape: bubble}\n"
    "packet: {min: 32 B, max: 256 B, header: 16 B, trailer: 8 B}\nnode: {cores: 1}\n"
    "software: {send: 300 ns, recv: 400 ns, gap: 100 ns, eager: 4 KiB, per_byte: 0.01 ns/B}\n";

struct rig {
    struct fc_machine machine;
    struct fc_network net;
    uint32_t node[MOST_RANKS];
    struct fc_placement placement;
    struct fc_replay_settings settings;
    struct fc_replay out;
    struct fc_status st;
};

static inline void open_rig(struct rig *g, const char *yaml)
{
    memset(g, 0, sizeof *g);
    CU_ASSERT_FATAL(fc_test_network(yaml, &g->machine, &g->net));
    g->settings.network = FC_NET_CONTENTION;
    g->settings.software = g->machine.software;
    for (uint32_t r = 0; r < MOST_RANKS; r++) g->node[r] = r % g->net.n_nodes;
}
static inline void open_torus(struct rig *g, const char *dims, const char *routing)
{
    char yaml[1000];
    snprintf(yaml, sizeof yaml, torus_yaml, dims, routing);
    open_rig(g, yaml);
}
static inline void close_rig(struct rig *g)
{
    fc_replay_free(&g->out);
    fc_test_close(&g->machine, &g->net);
}
static inline enum fc_code replay(struct rig *g, const struct script *s)
{
    fc_replay_free(&g->out);
    g->st = (struct fc_status){0};
    g->placement = (struct fc_placement){s->trace.n_ranks, g->node};
    return fc_replay_run(&g->net, &s->trace, &g->placement, &g->settings, &g->out, &g->st);
}
static inline void must_replay(struct rig *g, const struct script *s)
{
    char text[2048];
    if (replay(g, s) != FC_OK) printf("\n    %s", (fc_status_text(&g->st, text, sizeof text), text));
    CU_ASSERT_EQUAL_FATAL(g->st.code, FC_OK);
}

extern struct script script; /* one at a time: too large for the stack, and once (support.c) */

/* LogGOPS instead of the machine; o the same at both ends, no O. */
static inline void use_loggops(struct rig *g, double latency_s, double o_s, double gap_s, double per_byte_s)
{
    g->settings.network = FC_NET_IDEAL;
    g->settings.loggops = true;
    g->settings.loggops_latency_s = latency_s;
    g->settings.loggops_per_byte_s = per_byte_s;
    g->settings.software =
        (struct fc_software){.send_s = o_s, .recv_s = o_s, .gap_s = gap_s, .eager_bytes = 65535, .compute_scale = 1};
}
