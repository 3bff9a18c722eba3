/* flit_source.h - what the tests of the kernel's sources share: a network prepared by hand, demands, and a
 * chi-square test. */
#pragma once

#include "solvers/flit/source.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE(more)                                                                                                  \
    "name: t\nclock: 1 GHz\nnetwork: {family: torus, dims: [4, 4]}\n"                                                  \
    "links: {torus: {bandwidth: 1 GB/s, latency: 1 ns}" more "}\n"                                                     \
    "router: {flit: 8 B, buffer: 1 KiB}\npacket: {min: 16 B, max: 64 B, header: 16 B}\nnode: {cores: 2}\n"

/* A network of 16 nodes, prepared by hand: 48 payload bytes in packets of 2 to 8 flits. */
struct set {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_flit_net flit;
    struct fc_flit_settings settings;
    struct fc_demand demand;
    struct fc_flit_traffic *traffic;
    struct fc_status st;
};

static inline bool open_set(struct set *s, const char *yaml, double ticks_per_cycle)
{
    memset(s, 0, sizeof *s);
    if (!fc_test_network(yaml, &s->machine, &s->net)) return false;
    s->flit = (struct fc_flit_net){.net = &s->net,
                                   .n_routers = s->net.n_routers,
                                   .n_nodes = s->net.n_nodes,
                                   .n_links = s->net.n_links,
                                   .ticks_per_cycle = ticks_per_cycle,
                                   .packet_flits_max = 8};
    for (int c = 0; c < s->machine.n_classes; c++)
        if (isfinite(s->machine.classes[c].bandwidth_bytes_per_s))
            s->flit.flit_ticks[c] = (uint32_t)(8e9 / s->machine.classes[c].bandwidth_bytes_per_s * ticks_per_cycle);
    s->settings = (struct fc_flit_settings){.threads = 1, .seed = 5};
    s->demand.name = "test";
    s->demand.n_tasks = s->net.n_nodes;
    return true;
}

static inline void close_set(struct set *s)
{
    fc_flit_traffic_free(s->traffic);
    fc_demand_free(&s->demand);
    fc_test_close(&s->machine, &s->net);
}

static inline enum fc_code make(struct set *s, const uint32_t *node)
{
    fc_flit_traffic_free(s->traffic);
    s->traffic = NULL;
    memset(&s->st, 0, sizeof s->st);
    return fc_flit_traffic_make(&s->flit, &s->demand, node, &s->settings, &s->traffic, &s->st);
}

static inline struct fc_dense *dense(struct set *s, double a, double b, double message_bytes)
{
    struct fc_dense *part = &s->demand.dense[s->demand.n_dense++];
    part->a = fc_alloc(&s->demand.arena, s->demand.n_tasks, sizeof(double), &s->st);
    part->b = fc_alloc(&s->demand.arena, s->demand.n_tasks, sizeof(double), &s->st);
    part->message_bytes = message_bytes;
    for (uint32_t t = 0; t < s->demand.n_tasks; t++) part->a[t] = a, part->b[t] = b;
    return part;
}

static inline void entry(struct set *s, uint32_t src, uint32_t dst, double bytes, double messages)
{
    struct fc_demand *d = &s->demand;
    enum { ROOM = 64 };
    if (!d->src) {
        d->src = fc_alloc(&d->arena, ROOM, sizeof *d->src, &s->st);
        d->dst = fc_alloc(&d->arena, ROOM, sizeof *d->dst, &s->st);
        d->bytes = fc_alloc(&d->arena, ROOM, sizeof *d->bytes, &s->st);
        d->messages = fc_alloc(&d->arena, ROOM, sizeof *d->messages, &s->st);
    }
    size_t i = d->n_entries++;
    CU_ASSERT_FATAL(i < ROOM);
    d->src[i] = src, d->dst[i] = dst, d->bytes[i] = bytes, d->messages[i] = messages;
}

/* Chi-square of observed[n] against share[n] of `total` draws is within 6 standard deviations of its mean;
 * nothing falls where the share is 0. */
static inline bool fits(const uint64_t *observed, const double *share, int n, double total)
{
    double chi = 0, cells = -1;
    for (int i = 0; i < n; i++) {
        double expected = share[i] * total;
        if (share[i] == 0 && observed[i]) return false;
        if (share[i] == 0) continue;
        chi += ((double)observed[i] - expected) * ((double)observed[i] - expected) / expected;
        cells++;
    }
    bool good = cells < 1 ? chi == 0 : fabs(chi - cells) <= 6 * sqrt(2 * cells) + 6;
    if (!good) printf("\n    chi-square %g with %g degrees of freedom\n", chi, cells);
    return good;
}
