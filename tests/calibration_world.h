/* calibration_world.h - what the tests of calibrations share: two networks whose kernel is the queueing model
 * with known parameters. */
#pragma once

#include "solvers/calibration/calibration_internal.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MACHINE(network)                                                                                               \
    "name: a\nclock: 1 GHz\nnetwork: " network "\n"                                                                    \
    "links: {torus: {bandwidth: 8 GB/s, latency: 1 cycles}, injection: {bandwidth: 16 GB/s}}\n"                        \
    "router: {delay: 2 cycles, flit: 8 B, vcs: 2, buffer: 64 B, escape: dateline, routing: "                           \
    "dimension-order}\n"                                                                                               \
    "packet: {min: 8 B, max: 64 B, header: 8 B}\n"
#define SQUARE MACHINE("{family: torus, dims: [5, 5]}")
#define LARGER MACHINE("{family: torus, dims: [7, 3]}")

static const struct fc_queueing_parameters truth = {.value = {1.15, 0.8, 4, 0.6, 1, 0.02}};
static const double shares[] = {0.3, 0.5, 0.65, 0.8, 0.9};
enum { N_NETWORKS = 2, N_POINTS = 5, MOST_JOBS = 12 };

/* Jobs whose kernel is the model with `truth`. */
struct world {
    struct fc_machine machine[N_NETWORKS];
    struct fc_network net[N_NETWORKS];
    struct fc_arena arena;
    struct fc_calibration_job job[MOST_JOBS], *list[MOST_JOBS];
    uint32_t n, n_list; /* of job, of list */
};

static bool add_job(struct world *w, int network, const char *pattern, uint32_t flits, struct fc_status *st)
{
    struct fc_calibration_job *job = w->list[w->n_list++] = &w->job[w->n];
    struct fc_queueing *q;
    char shape[256];
    job->net = &w->net[network];
    fc_flit_defaults(&job->settings);
    job->settings.packet_flits_min = job->settings.packet_flits_max = flits;
    struct fc_calibration_case *k = job->out = fc_alloc(&w->arena, 1, sizeof *k, st);
    if (!k || fc_demand_from_pattern(job->net, pattern, 1, &job->demand, st)) return false;
    job->demand.open_loop = true;
    if (fc_turns_make(job->net, &job->demand, &job->settings, 2000000, &job->turns, st) ||
        fc_queueing_open(&job->turns, &q, st) || fc_queueing_saturation(q, &truth, &k->saturation, st))
        return false;
    k->network = fc_copy_text(&w->arena, fc_machine_shape(&w->machine[network], shape, sizeof shape), st);
    k->pattern = fc_copy_text(&w->arena, pattern, st);
    k->kind = fc_calibration_pattern_kind(pattern, &w->arena, st);
    k->nodes = job->net->n_nodes;
    k->flits_min = k->flits_max = flits;
    k->hops = job->turns.hops_mean;
    k->anisotropy = fc_turns_anisotropy(&job->turns);
    k->buffer_packets = job->turns.buffer_packets;
    if (!k->kind || fc_calibration_features(&job->turns, k->features, st)) return false;
    k->ideal = 1 / job->turns.max_service_rate;
    k->escape_percent = NAN;
    k->saturation_ratio = 1;
    k->n_points = N_POINTS;
    k->points = fc_alloc(&w->arena, N_POINTS, sizeof *k->points, st);
    for (int i = 0; k->points && i < N_POINTS; i++) {
        struct fc_queueing_answer a;
        if (fc_queueing_solve(q, &truth, shares[i] * k->saturation, &a, st)) return false;
        k->points[i] = (struct fc_calibration_point){shares[i], a.latency_mean_cycles, 0.01 * a.latency_mean_cycles, 1};
    }
    fc_queueing_close(q);
    w->n++;
    return !st->code;
}

static bool open_world(struct world *w)
{
    static const char *const patterns[] = {"uniform", "tornado", "neighbor"};
    static const char *const yaml[] = {SQUARE, LARGER};
    struct fc_status st = {0};
    memset(w, 0, sizeof *w);
    for (int i = 0; i < N_NETWORKS; i++) {
        if (!fc_test_network(yaml[i], &w->machine[i], &w->net[i])) return false;
        for (int p = 0; p < 3; p++)
            for (uint32_t flits = 1; flits <= 8; flits += 7)
                if (!add_job(w, i, patterns[p], flits, &st)) {
                    CU_FAIL("job");
                    printf("\n    %s\n", st.message);
                    return false;
                }
    }
    return true;
}

/* Fits of the jobs with packets of one flit only, which are quicker. */
static inline void keep_short(struct world *w)
{
    w->n_list = 0;
    for (uint32_t i = 0; i < w->n; i++)
        if (w->job[i].out->flits_max == 1) w->list[w->n_list++] = &w->job[i];
}

static void close_world(struct world *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        fc_queueing_close(w->job[i].queueing);
        fc_turns_free(&w->job[i].turns);
        fc_demand_free(&w->job[i].demand);
    }
    for (int i = 0; i < N_NETWORKS; i++) fc_test_close(&w->machine[i], &w->net[i]);
    fc_arena_free(&w->arena);
}

/* A calibration of the world as if fitted: what files and answers are tested on. */
static bool plain(const struct world *w, struct fc_calibration *c)
{
    struct fc_status st = {0};
    memset(c, 0, sizeof *c);
    *c = (struct fc_calibration){.machine = "a",
                                 .kernel_version = FC_KERNEL_VERSION,
                                 .seed = 7,
                                 .parameters = truth,
                                 .low = truth,
                                 .high = truth,
                                 .n_cases = w->n,
                                 .hops = {1, 8},
                                 .anisotropy = {1, 3},
                                 .flits = {1, 8},
                                 .buffer_packets = {1, 8},
                                 .hops_step = 1.2,
                                 .hops_run = 12345678,
                                 .residual_percent = 1,
                                 .left_out_mean_percent = 2,
                                 .left_out_greatest_percent = 3,
                                 .largest_left_out_percent = 2.5,
                                 .saturation_mean_percent = 1.0 / 3,
                                 .saturation_greatest_percent = 1};
    c->high.value[FC_Q_PORT] = 0.7;
    c->free_parameter[FC_Q_PORT] = true;
    for (int i = 0; i < 10; i++) c->error_at[i] = 0.5 * i;
    for (int i = 0; i <= N_POINTS; i++) {
        struct fc_calibration_correction *one = &c->corrections[c->n_corrections++];
        *one = (struct fc_calibration_correction){i < N_POINTS ? shares[i] : 1,
                                                  {.kinds = 0, .groups = 0.1, .noise = 0.01, .variance = 1e-3}};
        for (int f = 0; f < FC_KRIGING_FEATURES; f++) one->shape.length[f] = 1;
    }
    c->cases = fc_alloc(&c->arena, w->n, sizeof *c->cases, &st);
    for (uint32_t i = 0; c->cases && i < w->n; i++) {
        c->cases[i] = *w->job[i].out;
        c->cases[i].fitted = true;
    }
    return c->cases && !fc_calibration_kind(&w->net[0], NULL, &c->arena, &c->kind, &st);
}

static inline char *text_of_file(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 16);
    if (!f || !text || fread(text, 1, (1 << 16) - 1, f) == 0) CU_FAIL("file");
    if (f) fclose(f);
    return text;
}

static inline const char *path_in(char *out, size_t size, const char *name)
{
    snprintf(out, size, "/tmp/fabricast-calibration-%ld-%s", (long)getpid(), name);
    return out;
}
