/* bluegene.h - the setups of Adiga et al., Blue Gene/L torus interconnection network, IBM J. Res. Dev.
 * 49(2/3), 2005, as runs of the kernel: the shipped machine with single keys replaced, patterns, a scripted
 * deadlock. For validate_bluegene.c and test_flit_bluegene.c. */
#ifndef FC_TEST_BLUEGENE_H
#define FC_TEST_BLUEGENE_H

#include "models/family_torus.h"
#include "solvers/flit/flit.h"
#include "solvers/solvers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BGL_MOST_KEYS 8
/* Bytes of a full packet's flits, and the time it keeps a link for: 256 + 4 trailer + 8 token + 2 gap. */
#define BGL_PACKET 256.0
#define BGL_PACKET_TIME 270.0
#define BGL_CHUNK 32.0

struct bgl {
    struct fc_machine machine;
    struct fc_network net;
};

/* Copies the line to `to`; where its key is that of one of the edits ("key: value"), the edit instead. */
static inline void bgl_line(const char *line, const char *const *edit, int n, FILE *to)
{
    size_t indent = strspn(line, " ");
    for (int i = 0; i < n; i++) {
        size_t key = strcspn(edit[i], ":") + 1;
        if (strncmp(line + indent, edit[i], key)) continue;
        fprintf(to, "%.*s%s\n", (int)indent, line, edit[i]);
        return;
    }
    fputs(line, to);
}

/* The shipped machine bgl-512 with lines replaced: edits are "key: value", separated by ';'. */
static inline bool bgl_open(struct bgl *b, const char *edits, struct fc_status *st)
{
    char directory[1024], from[1100], path[] = "/tmp/fabricast-bgl-XXXXXX.yaml", line[512], text[512];
    const char *edit[BGL_MOST_KEYS];
    char *save = NULL;
    int n = 0;
    snprintf(text, sizeof text, "%s", edits);
    for (char *e = strtok_r(text, ";", &save); e && n < BGL_MOST_KEYS; e = strtok_r(NULL, ";", &save))
        edit[n++] = e + strspn(e, " ");
    snprintf(from, sizeof from, "%s/bgl-512.yaml", fc_machines_directory(directory, sizeof directory));
    FILE *source = fopen(from, "r");
    int fd = mkstemps(path, 5);
    FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
    if (!source || !to) fc_refuse(st, FC_NO, "%s cannot be copied to %s", from, path);
    while (!st->code && fgets(line, sizeof line, source)) bgl_line(line, edit, n, to);
    if (source) fclose(source);
    if (to) fclose(to);
    if (!st->code && !fc_machine_load(path, &b->machine, st) && fc_network_build(&b->machine, &b->net, st))
        fc_machine_free(&b->machine);
    if (fd >= 0) unlink(path);
    return st->code == FC_OK;
}

static inline void bgl_close(struct bgl *b)
{
    fc_network_free(&b->net);
    fc_machine_free(&b->machine);
}

/* The demand's messages, task t on node t, as fast as they go; *bound_s what the links alone would need. */
static inline enum fc_code bgl_messages(const struct bgl *b, const struct fc_demand *demand,
                                        const struct fc_flit_settings *settings, struct fc_flit_result *r,
                                        double *bound_s, struct fc_status *st)
{
    struct fc_load load = {0};
    struct fc_load_settings how = {.threads = 1, .seed = settings->seed};
    struct fc_load_summary summary;
    uint32_t *node = malloc(demand->n_tasks * sizeof *node);
    if (!node) return fc_refuse(st, FC_NO, "out of memory");
    for (uint32_t t = 0; t < demand->n_tasks; t++) node[t] = t;
    struct fc_placement placement = {demand->n_tasks, node};
    if (!fc_load_solve(&b->net, demand, &placement, &how, &load, st)) {
        fc_load_summarise(&b->net, &load, &how, &summary);
        *bound_s = summary.bound_s;
        if (fc_flit_copies(&b->net, demand)) fc_flit_multicast_bound(&b->net, demand, node, bound_s, st);
    }
    if (!st->code) fc_flit_run(&b->net, demand, node, settings, r, st);
    fc_load_free(&load);
    free(node);
    if (!st->code && !r->complete) {
        fc_refuse(st, FC_NO, "%s: not all packets have arrived", demand->name);
        fc_flit_free(r);
    }
    return st->code;
}

/* A pattern, run open or closed as it is; bound_s may be NULL for open loop. */
static inline enum fc_code bgl_run(const struct bgl *b, const char *pattern,
                                   const struct fc_flit_settings *settings, struct fc_flit_result *r,
                                   double *bound_s, struct fc_status *st)
{
    struct fc_demand demand;
    *r = (struct fc_flit_result){0};
    if (fc_demand_from_pattern(&b->net, pattern, settings->seed, &demand, st)) return st->code;
    if (demand.open_loop)
        fc_flit_run(&b->net, &demand, NULL, settings, r, st);
    else
        bgl_messages(b, &demand, settings, r, bound_s, st);
    fc_demand_free(&demand);
    return st->code;
}

static inline double bgl_percent_of_peak(const struct fc_flit_result *r, double bound_s)
{
    return 100 * bound_s / ((double)r->cycles * r->cycle_s);
}

/* Busy share, in percent, of the links from outside a box of `side` routers a dimension at the origin into
 * it. */
static inline double bgl_links_into_region(const struct bgl *b, const struct fc_flit_result *r, uint32_t side)
{
    const struct fc_torus_shape *s = fc_torus(&b->net);
    double sum = 0, n = 0;
    for (uint32_t l = 0; l < b->net.n_links; l++) {
        uint32_t from = b->net.link_source[l], to = b->net.link_target[l];
        bool from_in = true, to_in = true;
        if (fc_is_node(&b->net, from) || fc_is_node(&b->net, to)) continue;
        for (int d = 0; d < s->n_dims; d++) {
            from_in = from_in && fc_torus_coordinate(s, from, d) < side;
            to_in = to_in && fc_torus_coordinate(s, to, d) < side;
        }
        if (from_in || !to_in) continue;
        sum += r->link_utilization[l];
        n++;
    }
    return 100 * sum / n;
}

/* Delivered bytes a node and cycle of interval i, the unit of the paper's throughput plots. */
static inline double bgl_throughput(const struct fc_flit_result *r, uint32_t i)
{
    return r->intervals[i].flits_per_node_cycle * BGL_CHUNK;
}

/* Mean throughput over the intervals within [from, to). */
static inline double bgl_mean_throughput(const struct fc_flit_result *r, uint32_t from, uint32_t to)
{
    double sum = 0;
    for (uint32_t i = from; i < to; i++) sum += bgl_throughput(r, i);
    return sum / (to - from);
}

/* Busy share of the links between routers within intervals [from, to), in percent, for full packets. */
static inline double bgl_busy(const struct fc_flit_result *r, uint32_t from, uint32_t to)
{
    double flits = 0;
    for (uint32_t i = from; i < to; i++)
        for (int v = 0; v < r->n_vcs; v++) flits += r->intervals[i].vc_flits_per_link_cycle[v];
    return 100 * flits / (to - from) * BGL_CHUNK * BGL_PACKET_TIME / BGL_PACKET;
}

/* ---- the deadlock of the bubble as first published
 * ---------------------------------------------------------
 *
 * A ring of ten routers, two full packets a buffer. A router of 600 cycles makes the script readable: heads
 * sit in the pipeline between two steps of 588 cycles (the gap between a node's packets). Every second buffer
 * ends with packets of 1, 1 and 8 flits, those between with one of 8; then the first 1 moves on:
 *
 *   even nodes  S (8 flits, 4 hops) at 0, Q (1 flit, 3 hops) at 2
 *   odd nodes   P (1 flit, 3 hops) at 1, R (8 flits, 2 hops) at 3; steps between: a flit the other way round
 *
 *   1  P enters the empty buffer behind S just before S is ready; S follows it
 *   2  Q enters the buffer that S left, P and S follow: 1 + 1 + 8
 *   3  R enters the buffer that P and S left: 8
 *   4  Q moves on into R's buffer: now every buffer holds 9 of 16 flits, its head wants to go on, and a full
 *      packet fits nowhere, though each entry had found room for two. */
#define BGL_RING 10
#define BGL_RING_GAP 588
static const char bgl_ring_edits[] =
    "dims: [10]; delay: 600 cycles; vcs: 1; buffer: 512 B; routing: dimension-order; injection_fifos: 1";

static inline enum fc_code bgl_ring_run(const struct bgl *b, bool as_published, int engine, uint64_t seed,
                                        struct fc_flit_result *r, struct fc_status *st)
{
    static const struct {
        int hops, flits;
    } script[2][4] = {{{4, 8}, {-1, 1}, {3, 1}, {0, 0}}, {{-1, 1}, {3, 1}, {-1, 1}, {2, 8}}};
    uint32_t node[BGL_RING], src[4 * BGL_RING], dst[4 * BGL_RING], n = 0;
    double bytes[4 * BGL_RING], messages[4 * BGL_RING];
    for (int t = 0; t < BGL_RING; t++) {
        node[t] = (uint32_t)t;
        for (int i = 0; i < 4 && script[t % 2][i].hops; i++, n++) {
            src[n] = (uint32_t)t;
            dst[n] = (uint32_t)((t + BGL_RING + script[t % 2][i].hops) % BGL_RING);
            bytes[n] = script[t % 2][i].flits * BGL_CHUNK - b->machine.packet.header_bytes;
            messages[n] = 1;
        }
    }
    struct fc_demand demand = {.name = "bubble script",
                               .n_tasks = BGL_RING,
                               .n_entries = n,
                               .src = src,
                               .dst = dst,
                               .bytes = bytes,
                               .messages = messages};
    struct fc_flit_settings settings;
    fc_flit_defaults(&settings);
    settings.engine = engine;
    settings.in_order = true;
    settings.source_gap_cycles = BGL_RING_GAP;
    settings.bubble_as_published = as_published;
    settings.seed = seed;
    *r = (struct fc_flit_result){0};
    return fc_flit_run(&b->net, &demand, node, &settings, r, st);
}

#endif
