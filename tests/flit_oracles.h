/* flit_oracles.h - exact answers that the kernel must give, whichever engine runs it.
 *
 * Zero load: one packet alone needs sum of wire latencies + routers visited x delay + flits x cycle (Dally &
 * Towles 2004, section 3.3). Geo/D/1: packets of F flits born with probability p a cycle wait p F (F-1) / (2
 * (1 - p F)) cycles for their injection link (Hunter, Mathematical Techniques of Applied Probability 2, 1983;
 * p -> 0: M/D/1). Crossbar: inputs with one queue each and uniform traffic pass 2 - sqrt 2 = 0.586 (Karol,
 * Hluchyj & Morgan, IEEE Trans. Commun. 35(12), 1987). Ring, every node h hops on: 1/h flits a node and
 * cycle. */
#pragma once

#include "solvers/flit/flit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The Petersen graph, a node on each router; shortest paths are unique. */
static const char oracle_petersen[] =
    "router 0 router 1\nrouter 1 router 2\nrouter 2 router 3\nrouter 3 router 4\nrouter 4 router 0\nrouter 5 "
    "router 7\nrouter 7 "
    "router 9\nrouter 9 router 6\nrouter 6 router 8\nrouter 8 router 5\nrouter 0 router 5\nrouter 1 router "
    "6\nrouter 2 router "
    "7\nrouter 3 router 8\nrouter 4 router 9\nrouter 0 node 0\nrouter 1 node 1\nrouter 2 node 2\nrouter 3 "
    "node 3\nrouter 4 node "
    "4\nrouter 5 node 5\nrouter 6 node 6\nrouter 7 node 7\nrouter 8 node 8\nrouter 9 node 9\n";

/* A new file with the text; path[40] ends in its name. */
static inline bool oracle_write(char *path, const char *suffix, const char *text)
{
    snprintf(path, 40, "/tmp/fabricast-test-XXXXXX%s", suffix);
    int fd = mkstemps(path, (int)strlen(suffix));
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    return file && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* Machine and network of a YAML text, in which PETERSEN stands for the name of that graph's file; false with
 * the reason in st. */
static inline bool oracle_open(const char *yaml, struct fc_machine *machine, struct fc_network *net,
                               struct fc_status *st)
{
    char path[40] = "", graph[40] = "", text[8192];
    const char *at = strstr(yaml, "PETERSEN");
    if (at && !oracle_write(graph, ".txt", oracle_petersen)) fc_refuse(st, FC_NO, "%s cannot be written", graph);
    snprintf(text, sizeof text, "%.*s%s%s", at ? (int)(at - yaml) : 0, yaml, graph, at ? at + 8 : yaml);
    if (!st->code && !oracle_write(path, ".yaml", text)) fc_refuse(st, FC_NO, "%s cannot be written", path);
    if (!st->code && !fc_machine_load(path, machine, st) && fc_network_build(machine, net, st))
        fc_machine_free(machine);
    if (*graph) unlink(graph);
    if (*path) unlink(path);
    return st->code == FC_OK;
}
static inline void oracle_close(struct fc_machine *machine, struct fc_network *net)
{
    fc_network_free(net);
    fc_machine_free(machine);
}

/* Link classes of equal width and unequal latency; `%s` of the router: what the engine asks for. */
#define ORACLE_ROUTER                                                                                                  \
    "router: {delay: %d cycles, vc_allocation: %s, credit: 1 cycle, flit: 8 B, flow_control: %s, "                     \
    "vcs: %d, buffer: %s, "
struct oracle_machine {
    const char *name, *yaml; /* head up to the router's braces, then what closes them */
    const char *rest;
    int vcs;
    const char *vc_rule; /* NULL: the machine's */
};
static const struct oracle_machine oracle_machines[] = {
    {"mesh 4x3, dimension order",
     "network: {family: mesh, dims: [4, 3], nodes_per_router: 2}\nlinks: {x: {bandwidth: 8 GB/s, latency: 2 "
     "cycles}, "
     "y: {bandwidth: 8 GB/s, latency: 5 cycles}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\n",
     "escape: none}\n", 1, NULL},
    {"torus 5x4, dimension order",
     "network: {family: torus, dims: [5, 4]}\nlinks: {x: {bandwidth: 8 GB/s, latency: 2 cycles}, y: "
     "{bandwidth: 8 GB/s, "
     "latency: 3 cycles}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\n",
     "escape: dateline, routing: dimension-order}\n", 2, NULL},
    {"torus 4x4x3, adaptive, bubble",
     "network: {family: torus, dims: [4, 4, 3]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 4 cycles}, "
     "injection: "
     "{bandwidth: 8 GB/s, latency: 0 cycles}}\n",
     "escape: bubble, routing: adaptive}\n", 2, NULL},
    {"torus 4x4, adaptive, dateline",
     "network: {family: torus, dims: [4, 4]}\nlinks: {torus: {bandwidth: 8 GB/s, latency: 1 cycle}, "
     "injection: "
     "{bandwidth: 8 GB/s, latency: 1 cycle}}\n",
     "escape: dateline, routing: adaptive}\n", 1, NULL},
    {"fat-tree 3-4-2, ascent by load",
     "network: {family: fat-tree, children: [3, 4, 2], parents: [1, 2, 2]}\nlinks: {leaf: {bandwidth: 8 "
     "GB/s, latency: 4 "
     "cycles}, level1: {bandwidth: 8 GB/s, latency: 2 cycles}, level2: {bandwidth: 8 GB/s, latency: 7 "
     "cycles}}\n",
     "escape: none, routing: nca}\n", 2, NULL},
    {"fat-tree 3-4-2, hashed ascent",
     "network: {family: fat-tree, children: [3, 4, 2], parents: [1, 2, 2]}\nlinks: {leaf: {bandwidth: 8 "
     "GB/s, latency: 1 "
     "cycle}, up: {bandwidth: 8 GB/s, latency: 3 cycles}}\n",
     "escape: none, routing: nca-hash}\n", 1, NULL},
    {"tmesh 3x3x3 of 4x4 meshes",
     "network: {family: tmesh, dims: [3, 3, 3], mesh: [4, 4], bridges: {x-: 0, y-: 2, z-: 4, x+: 1, y+: 3, "
     "z+: 5}}\nlinks: "
     "{torus: {bandwidth: 8 GB/s, latency: 9 cycles}, mesh: {bandwidth: 8 GB/s, latency: 1 cycle}}\n",
     "escape: dateline}\n", 2, NULL},
    {"dragonfly of 5 groups, direct",
     "network: {family: two-level, supernodes: 5, drawers: 2, nodes_per_drawer: 2, d_link: modulo, "
     "nodes_per_router: "
     "2}\nlinks: {ll: {bandwidth: 8 GB/s, latency: 3 cycles}, lr: {bandwidth: 8 GB/s, latency: 5 cycles}, d: "
     "{bandwidth: 8 "
     "GB/s, latency: 40 cycles}, injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\n",
     "escape: none, routing: direct}\n", 2, NULL},
    {"mesh 3x3, instant injection",
     "network: {family: mesh, dims: [3, 3]}\nlinks: {mesh: {bandwidth: 8 GB/s, latency: 2 cycles}}\n",
     "escape: none}\n", 1, NULL},
    {"fat-tree 3-4, two planes",
     "network: {family: fat-tree, children: [3, 4], parents: [1, 2], planes: 2}\nlinks: {leaf: {bandwidth: 8 "
     "GB/s, latency: 2 "
     "cycles}, up: {bandwidth: 8 GB/s, latency: 3 cycles}}\n",
     "escape: none, routing: nca-random}\n", 2, NULL},
    {"Petersen graph, shortest paths",
     "network: {family: graph, file: PETERSEN, format: edge-list}\nlinks: {link: {bandwidth: 8 GB/s, "
     "latency: 6 cycles}}\n",
     "escape: none}\n", 4, "layers"},
};

enum oracle_flow { ORACLE_WORMHOLE, ORACLE_CUT_THROUGH };

/* The machine's text with a router of that kind; static storage. */
static inline const char *oracle_yaml(const struct oracle_machine *m, int delay, bool stage, enum oracle_flow flow,
                                      const char *buffer)
{
    static char text[4096];
    snprintf(text, sizeof text, "name: oracle\nclock: 1 GHz\n%s" ORACLE_ROUTER "%spacket: {min: 8 B, max: 64 B}\n",
             m->yaml, delay, stage ? "stage" : "combined", flow == ORACLE_WORMHOLE ? "wormhole" : "cut-through", m->vcs,
             buffer, m->rest);
    return text;
}

/* ---- zero load
 * ---------------------------------------------------------------------------------------------------------
 */

/* Latency of a packet alone, cycles of 1 ns. All routes of the pair must be alike in length. */
static inline double oracle_zero_load(const struct fc_network *net, uint32_t src, uint32_t dst, uint32_t flits)
{
    struct fc_walk walk;
    struct fc_status st = {0};
    const struct fc_machine *m = net->machine;
    double cycles = flits, routers = 0;
    if (fc_walk_start(&walk, m->routing->walk_capacity(net), &st)) return NAN;
    m->routing->walk(net, src, dst, 1, &walk);
    for (uint32_t i = 0; i < walk.n; i++) {
        cycles += walk.weight[i] * m->classes[net->link_class[walk.link[i]]].latency_s * m->clock_hz;
        if (!fc_is_node(net, net->link_target[walk.link[i]])) routers += walk.weight[i];
    }
    fc_walk_free(&walk);
    return cycles + routers * m->router.delay_s * m->clock_hz;
}

/* Latency of one packet in the kernel, NaN with the reason in st. */
static inline double oracle_measure_one(const struct fc_network *net, int engine, const char *vc_rule, uint32_t src,
                                        uint32_t dst, uint32_t flits, uint32_t *node, struct fc_status *st)
{
    struct fc_flit_settings settings;
    struct fc_flit_result r;
    double bytes = flits * net->machine->router.flit_bytes, one = 1;
    struct fc_demand demand = {.name = "one packet",
                               .n_tasks = net->n_nodes,
                               .n_entries = 1,
                               .src = &src,
                               .dst = &dst,
                               .bytes = &bytes,
                               .messages = &one};
    fc_flit_defaults(&settings);
    settings.engine = engine;
    settings.vc_rule = vc_rule;
    for (uint32_t t = 0; t < net->n_nodes; t++) node[t] = t;
    if (fc_flit_run(net, &demand, node, &settings, &r, st)) return NAN;
    double latency = r.packets_delivered == 1 && r.credits_full ? r.latency_max_cycles : (double)NAN;
    fc_flit_free(&r);
    return latency;
}

/* The engine does not take this machine and says so. */
static inline bool oracle_not_taken(const struct fc_status *st)
{
    return st->code == FC_INPUT && !strncmp(st->message, "engine ", 7);
}

/* Greatest difference to the closed form over `pairs` random pairs of nodes, packets of 1 and 5 flits in
 * turn; *sum: of the closed forms. NaN with the reason in st. */
static inline double oracle_zero_load_worst(const struct oracle_machine *o, int engine, int delay, bool stage,
                                            enum oracle_flow flow, int pairs, double *sum, struct fc_status *st)
{
    struct fc_machine machine;
    struct fc_network net;
    double worst = 0;
    *sum = 0;
    if (!oracle_open(oracle_yaml(o, delay, stage, flow, "128 B"), &machine, &net, st)) return NAN;
    uint32_t *node = malloc(net.n_nodes * sizeof *node), n = net.n_nodes;
    for (uint64_t i = 0; node && i < (uint64_t)pairs && !st->code; i++) {
        uint32_t src = (uint32_t)fc_random_below(1, 0, i, n), dst = (uint32_t)fc_random_below(1, 1, i, n);
        uint32_t flits = i % 2 ? 5 : 1;
        if (src == dst) continue;
        double expected = oracle_zero_load(&net, src, dst, flits);
        double off = oracle_measure_one(&net, engine, o->vc_rule, src, dst, flits, node, st) - expected;
        if (!(fabs(off) <= fabs(worst))) worst = off;
        *sum += expected;
    }
    free(node);
    oracle_close(&machine, &net);
    return worst;
}

/* ---- open-loop oracles
 * ------------------------------------------------------------------------------------------------- */

/* Links of 8 and of 4 GB/s behind each other. */
#define FAST_FEEDS_SLOW                                                                                                \
    "name: t\nclock: 1 GHz\nnetwork: {family: mesh, dims: [2, 3]}\n"                                                   \
    "links: {x: {bandwidth: 8 GB/s, latency: 2 cycles}, y: {bandwidth: 4 GB/s, latency: 2 cycles},"                    \
    " injection: {bandwidth: 32 GB/s}}\n"                                                                              \
    "router: {flit: 8 B, delay: 3 cycles, flow_control: cut-through, buffer: 256 B, vcs: 1,"                           \
    " routing: dimension-order, escape: none}\npacket: {max: 8 B}\n"

/* Every node sends to node shift(s) only. The arrays are [n] of the caller. */
static inline void oracle_shift(struct fc_demand *demand, uint32_t n, uint32_t by, uint32_t *src, uint32_t *dst,
                                double *bytes)
{
    for (uint32_t s = 0; s < n; s++) {
        src[s] = s;
        dst[s] = (s + by) % n;
        bytes[s] = 1;
    }
    *demand = (struct fc_demand){.name = "shift",
                                 .n_tasks = n,
                                 .n_entries = n,
                                 .src = src,
                                 .dst = dst,
                                 .bytes = bytes,
                                 .messages = bytes,
                                 .open_loop = true};
}

/* Long runs, as its load or with every source backlogged (load 0). */
static inline enum fc_code oracle_run(const struct fc_network *net, const struct fc_demand *demand, int engine,
                                      double load, uint32_t flits, uint64_t cycles, struct fc_flit_result *r,
                                      struct fc_status *st)
{
    struct fc_flit_settings settings;
    fc_flit_defaults(&settings);
    settings.engine = engine;
    settings.load_flits_per_cycle = load;
    settings.backlog = load == 0;
    settings.packet_flits_min = settings.packet_flits_max = flits;
    settings.warmup_cycles = cycles / 5;
    settings.measure_cycles = cycles;
    return fc_flit_run(net, demand, NULL, &settings, r, st);
}

/* Mean wait for the injection link at `load`, cycles: theory, and the kernel on a ring where every node sends
 * one hop on and nothing else is in the way. */
static inline double oracle_geo_d_1(double load, uint32_t flits)
{
    return load * (flits - 1) / (2 * (1 - load));
}
static inline double oracle_measure_ring(const struct fc_network *net, int engine, uint32_t hops, double load,
                                         uint32_t flits, uint64_t cycles, struct fc_status *st)
{
    uint32_t src[64], dst[64];
    double bytes[64];
    struct fc_demand demand;
    struct fc_flit_result r;
    oracle_shift(&demand, net->n_nodes, hops, src, dst, bytes);
    if (oracle_run(net, &demand, engine, load, flits, cycles, &r, st)) return NAN;
    double answer = load > 0 ? r.latency_mean_cycles - r.network_latency_mean_cycles : r.accepted_flits_per_node_cycle;
    fc_flit_free(&r);
    return answer;
}
static const char oracle_ring[] = "name: ring\nclock: 1 GHz\nnetwork: {family: torus, dims: [8]}\nlinks: "
                                  "{torus: {bandwidth: 8 GB/s, latency: 1 cycle}, "
                                  "injection: {bandwidth: 8 GB/s, latency: 1 cycle}}\nrouter: {delay: 2 "
                                  "cycles, flit: 8 B, flow_control: cut-through, "
                                  "credit: 1 cycle, vcs: 2, buffer: 4 KiB, escape: dateline, routing: "
                                  "dimension-order}\npacket: {min: 8 B, max: 512 B}\n";

/* One switch with one queue at each of n inputs; saturation throughput of uniform traffic with 1-flit
 * packets. */
static const char oracle_crossbar[] =
    "name: crossbar\nclock: 1 GHz\nnetwork: {family: fat-tree, children: [256], parents: [1]}\nlinks: {leaf: "
    "{bandwidth: 8 "
    "GB/s, latency: 1 cycle}}\nrouter: {delay: 1 cycle, flit: 8 B, flow_control: cut-through, credit: 1 "
    "cycle, vcs: 1, "
    "buffer: 256 B, escape: none, routing: nca-hash, arbitration: random}\npacket: {min: 8 B, max: 8 B}\n";
static inline double oracle_measure_crossbar(const struct fc_network *net, int engine, uint64_t cycles,
                                             struct fc_status *st)
{
    struct fc_demand demand;
    struct fc_flit_result r;
    if (fc_demand_from_pattern(net, "uniform", 1, &demand, st)) return NAN;
    double answer = NAN;
    if (!oracle_run(net, &demand, engine, 0, 1, cycles, &r, st)) {
        answer = r.accepted_flits_per_node_cycle;
        fc_flit_free(&r);
    }
    fc_demand_free(&demand);
    return answer;
}
