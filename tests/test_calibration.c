/* test_calibration.c - calibrations: a synthetic truth is found again, files say the same after reading,
 * every wrong file is refused with its line, answers of both tiers, smaller relatives of machines, threads.
 */
#include "solvers/calibration_internal.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MACHINE(network)                                                                                     \
    "name: a\nclock: 1 GHz\nnetwork: " network "\n"                                                          \
    "links: {torus: {bandwidth: 8 GB/s, latency: 1 cycles}, injection: {bandwidth: 16 GB/s}}\n"              \
    "router: {delay: 2 cycles, flit: 8 B, vcs: 2, buffer: 64 B, escape: dateline, routing: "                 \
    "dimension-order}\n"                                                                                     \
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
    uint32_t n;
};

static bool add_job(struct world *w, int network, const char *pattern, uint32_t flits, struct fc_status *st)
{
    struct fc_calibration_job *job = w->list[w->n] = &w->job[w->n];
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
    k->nodes = job->net->n_nodes;
    k->flits_min = k->flits_max = flits;
    k->hops = job->turns.hops_mean;
    k->anisotropy = fc_turns_anisotropy(&job->turns);
    k->buffer_packets = job->turns.buffer_packets;
    k->ideal = 1 / job->turns.max_service_rate;
    k->escape_percent = NAN;
    k->n_points = N_POINTS;
    k->points = fc_alloc(&w->arena, N_POINTS, sizeof *k->points, st);
    for (int i = 0; k->points && i < N_POINTS; i++) {
        struct fc_queueing_answer a;
        if (fc_queueing_solve(q, &truth, shares[i] * k->saturation, &a, st)) return false;
        k->points[i] =
            (struct fc_calibration_point){shares[i], a.latency_mean_cycles, 0.01 * a.latency_mean_cycles};
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

/* A fitted calibration of the world. */
static bool fit(struct world *w, int threads, struct fc_calibration *c)
{
    struct fc_status st = {0};
    memset(c, 0, sizeof *c);
    c->machine = "a";
    c->kernel_version = FC_KERNEL_VERSION;
    c->seed = 7;
    c->hops_run = 12345678;
    if (!fc_calibration_kind(&w->net[0], NULL, &c->arena, &c->kind, &st) &&
        !fc_calibration_fit(w->list, w->n, threads, NULL, c, &st))
        return true;
    CU_FAIL("fit");
    printf("\n    %s\n", st.message);
    return false;
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
    c->cases = fc_alloc(&c->arena, w->n, sizeof *c->cases, &st);
    for (uint32_t i = 0; c->cases && i < w->n; i++) {
        c->cases[i] = *w->job[i].out;
        c->cases[i].fitted = true;
    }
    return c->cases && !fc_calibration_kind(&w->net[0], NULL, &c->arena, &c->kind, &st);
}

/* ---- the fit ---- */

static void test_truth(void)
{
    struct world w;
    struct fc_calibration c;
    if (open_world(&w) && fit(&w, 1, &c)) {
        static const int known[] = {FC_Q_CONTENTION, FC_Q_INPUT_QUEUE, FC_Q_BACKPRESSURE, FC_Q_PORT};
        for (size_t i = 0; i < FC_COUNT(known); i++) {
            int k = known[i];
            double value = c.parameters.value[k], low = c.low.value[k], high = c.high.value[k],
                   is = truth.value[k];
            CU_ASSERT(c.free_parameter[k]);
            /* The search ends at steps of 2 %, so that an interval of a noiseless truth can be narrower than
             * that. */
            CU_ASSERT(low * 0.98 <= is && is <= high * 1.02);
            CU_ASSERT(low <= value && value <= high);
            if (!(low * 0.98 <= is && is <= high * 1.02))
                printf("\n    parameter %d: %g in %g..%g, truth %g\n", k, value, low, high, is);
        }
        CU_ASSERT(!c.free_parameter[FC_Q_CHOICE]); /* nothing to choose in dimension order */
        CU_ASSERT_EQUAL(c.parameters.value[FC_Q_CHOICE], 1);
        CU_ASSERT(c.residual_percent < 0.3);
        CU_ASSERT(c.left_out == FC_LEFT_OUT_NETWORK);
        CU_ASSERT(c.left_out_mean_percent < 0.5);
        CU_ASSERT(c.left_out_greatest_percent >= c.left_out_mean_percent);
        CU_ASSERT(c.saturation_mean_percent < 0.5);
        CU_ASSERT(c.error_at[9] < 3 && c.error_at[0] == 0);
        CU_ASSERT(c.n_cases == w.n && c.flits[0] == 1 && c.flits[1] == 8);
        fc_calibration_free(&c);
    }
    close_world(&w);
}

/* A traffic without contention says nothing of contention: its parameters stand at their defaults. */
static void test_not_identifiable(void)
{
    struct world w;
    struct fc_calibration c;
    memset(&w, 0, sizeof w);
    struct fc_status st = {0};
    if (!fc_test_network(SQUARE, &w.machine[0], &w.net[0])) return;
    CU_ASSERT(add_job(&w, 0, "uniform", 1, &st));
    if (fit(&w, 1, &c)) {
        int n = 0;
        for (int i = 0; i < FC_Q_PARAMETERS; i++) n += c.free_parameter[i];
        CU_ASSERT(n < 5); /* of five rows */
        CU_ASSERT(c.left_out == FC_LEFT_OUT_CASE);
        CU_ASSERT(isnan(c.left_out_mean_percent) && isnan(c.error_at[5]));
        CU_ASSERT(isnan(c.cases[0].mean_error_percent));
        fc_calibration_free(&c);
    }
    close_world(&w);
}

static void test_threads(void)
{
    struct world w;
    struct fc_calibration c[2];
    for (int i = 0; i < 2; i++) {
        bool good = open_world(&w) && fit(&w, i + 1, &c[i]);
        close_world(&w);
        if (!good) return;
    }
    CU_ASSERT(!memcmp(&c[0].parameters, &c[1].parameters, sizeof c[0].parameters));
    CU_ASSERT(!memcmp(&c[0].high, &c[1].high, sizeof c[0].high));
    CU_ASSERT_EQUAL(c[0].left_out_mean_percent, c[1].left_out_mean_percent);
    for (int i = 0; i < 2; i++) fc_calibration_free(&c[i]);
}

/* ---- the file ---- */

static char *text_of_file(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 16);
    if (!f || !text || fread(text, 1, (1 << 16) - 1, f) == 0) CU_FAIL("file");
    if (f) fclose(f);
    return text;
}

static const char *path_in(char *out, size_t size, const char *name)
{
    snprintf(out, size, "/tmp/fabricast-calibration-%ld-%s", (long)getpid(), name);
    return out;
}

/* Writes the calibration of the world to a new file. */
static char *written(struct world *w, const char *path)
{
    struct fc_calibration c;
    struct fc_status st = {0};
    if (!open_world(w)) return NULL;
    w->list[1]->out->pattern = "permutation:seed=3,bytes=\"\\1\"";
    w->list[2]->out->points[1].half_width_cycles = NAN;
    if (!plain(w, &c)) return NULL;
    CU_ASSERT_EQUAL(fc_calibration_write(&c, path, &st), FC_OK);
    fc_calibration_free(&c);
    return text_of_file(path);
}

static void test_round_trip(void)
{
    char one[256], two[256];
    struct world w;
    struct fc_calibration c;
    struct fc_status st = {0};
    char *first = written(&w, path_in(one, sizeof one, "one"));
    if (first) {
        CU_ASSERT_EQUAL(fc_calibration_read(one, &c, &st), FC_OK);
        if (st.code) printf("\n    %s:%ld: %s\n", st.file, st.line, st.message);
        if (!st.code) {
            CU_ASSERT_STRING_EQUAL(c.cases[1].pattern, "permutation:seed=3,bytes=\"\\1\"");
            CU_ASSERT(isnan(c.cases[2].points[1].half_width_cycles));
            CU_ASSERT_EQUAL(c.seed, 7);
            CU_ASSERT_EQUAL(fc_calibration_write(&c, path_in(two, sizeof two, "two"), &st), FC_OK);
            char *second = text_of_file(two);
            CU_ASSERT_STRING_EQUAL(first, second);
            free(second);
            remove(two);
            fc_calibration_free(&c);
        }
    }
    free(first);
    remove(one);
    close_world(&w);
}

/* The first `find` of a good file becomes `put`; `line` is that of the place, 0: not told. */
static const struct edit {
    const char *find, *put;
    long line;
    const char *part;
} edits[] = {
    {"machine: \"a\"", "machine: [a]", 2, "machine: expected one value"},
    {"machine: \"a\"\n", "", 2, "calibration: machine is missing"},
    {"machine: \"a\"", "machina: \"a\"", 2, "unknown key 'machina' (did you mean 'machine'?"},
    {"machine: \"a\"", "machine: \"a\"\nmachine: \"a\"", 3, "machine: given twice"},
    {"seed: 7", "seed: -7", 5, "seed: '-7' is out of range"},
    {"seed: 7", "seed: many", 5, "seed: 'many' is not an integer"},
    {"hops_run: 12345678", "hops_run: null", 6, "hops_run:"},
    {"contention: {value: ", "contention: {value: 9", 8, "contention: "},
    {"contention: {value: ", "contention: {valu: ", 8, "unknown key 'valu'"},
    {"  choice: {", "  chance: {", 12, "unknown key 'chance'"},
    {"  hops: [", "  hops: [9", 15, "hops: "},
    {"  hops: [", "  hops: [1, ", 15, "hops: expected a list of 2 numbers"},
    {"  flits: [1, 8]", "  flits: one", 17, "flits: expected a list of 2 numbers"},
    {"  flits: [1, 8]", "  flits: [1, many]", 17, "flits: 'many'"},
    {"  hops_step: ", "  hops_step: -", 19, "hops_step: "},
    {"  left_out: network", "  left_out: node", 21, "left_out: 'node' is not known"},
    {"  residual: ", "  residual: -", 22, "residual: "},
    {"  at_load_share: [0, ", "  at_load_share: [", 28, "at_load_share: expected a list of 10 numbers"},
    {"    nodes: 25", "    nodes: 0", 32, "nodes: '0' is out of range"},
    {"    flits: [1, 1]", "    flits: [2, 1]", 33, "flits: 2 to 1 is no packet length"},
    {"    fitted: true", "    fitted: maybe", 40, "fitted: 'maybe' is neither true nor false"},
    {"      - at: [0.5, ", "      - at: [0.2, ", 46, "points: share 0.2 of saturation (expected ascending"},
    {"      - at: [0.3, ", "      - at: [0.3, 0, ", 45, "at: expected a list of 3 numbers"},
    {"      - at: [0.9, ", "      - at: [1.9, ", 49, "points: share 1.9"},
    {"      - at: [0.3, ", "      - on: [0.3, ", 45, "unknown key 'on'"},
    {"    points: ", "    points: 3 ", 45, "not YAML: "},
    {"hull: ", "hull: 3 ", 15, "not YAML: "},
    {"cases:\n", "cases: []\nrest:\n", 30, "unknown key 'rest'"},
    {"# Made", "- Made", 2, "not YAML: "},
};

static void test_refused(void)
{
    char path[256];
    struct world w;
    char *good = written(&w, path_in(path, sizeof path, "bad"));
    for (size_t i = 0; good && i < FC_COUNT(edits); i++) {
        const struct edit *e = &edits[i];
        struct fc_calibration c;
        struct fc_status st = {0};
        const char *at = strstr(good, e->find);
        CU_ASSERT(at != NULL);
        if (!at) {
            printf("\n    '%s' is not in the file\n", e->find);
            continue;
        }
        FILE *f = fopen(path, "w");
        if (!f) break;
        fprintf(f, "%.*s%s%s", (int)(at - good), good, e->put, at + strlen(e->find));
        fclose(f);
        if (fc_calibration_read(path, &c, &st) == FC_OK) {
            CU_FAIL("a wrong file is read");
            printf("\n    '%s' was read\n", e->put);
            fc_calibration_free(&c);
            continue;
        }
        CU_ASSERT(fc_says(&st, FC_INPUT, e->part));
        CU_ASSERT_EQUAL(st.line, e->line);
        if (st.line != e->line) printf("\n    line %ld, expected %ld: %s\n", st.line, e->line, st.message);
    }
    struct fc_calibration c;
    struct fc_status st = {0};
    remove(path);
    CU_ASSERT_EQUAL(fc_calibration_read(path, &c, &st), FC_INPUT);
    free(good);
    close_world(&w);
}

/* Beside a machine file: none, one for it, one for another kind, one of another kernel. */
static void test_find(void)
{
    char machine_path[300], path[400];
    struct world w;
    struct fc_calibration c, found;
    struct fc_status st = {0};
    bool is = true;
    path_in(machine_path, sizeof machine_path, "machine.yaml");
    FILE *f = fopen(machine_path, "w");
    if (!f || !open_world(&w)) return;
    fputs(LARGER, f);
    fclose(f);
    struct fc_machine m;
    struct fc_network net;
    CU_ASSERT_FATAL(!fc_machine_load(machine_path, &m, &st) && !fc_network_build(&m, &net, &st));
    fc_calibration_path(&m, path, sizeof path);
    CU_ASSERT(strstr(path, "-machine.calibration.yaml") != NULL);
    CU_ASSERT(!fc_calibration_find(&net, &found, &is, &st) && !is);
    if (plain(&w, &c)) {
        CU_ASSERT(!fc_calibration_write(&c, path, &st));
        CU_ASSERT(!fc_calibration_find(&net, &found, &is, &st) && is);
        if (is) fc_calibration_free(&found);
        CU_ASSERT(!fc_machine_route(&m, "valiant", &st));
        CU_ASSERT(!fc_calibration_find(&net, &found, &is, &st) &&
                  !is); /* the user's routing: not for this run */
        CU_ASSERT(!fc_machine_route(&m, "dimension-order", &st));
        c.kernel_version = "0";
        CU_ASSERT(!fc_calibration_write(&c, path, &st));
        CU_ASSERT(fc_calibration_find(&net, &found, &is, &st) == FC_INPUT &&
                  fc_says(&st, FC_INPUT, "kernel version 0"));
        memset(&st, 0, sizeof st);
        c.kernel_version = FC_KERNEL_VERSION;
        c.kind = "family=mesh";
        CU_ASSERT(!fc_calibration_write(&c, path, &st));
        CU_ASSERT(fc_calibration_find(&net, &found, &is, &st) == FC_INPUT &&
                  fc_says(&st, FC_INPUT, "family=mesh (this machine: family=torus routing=dimension-order"));
        fc_calibration_free(&c);
    }
    remove(path);
    remove(machine_path);
    fc_network_free(&net);
    fc_machine_free(&m);
    close_world(&w);
}

/* ---- answers ---- */

static void test_anchored(void)
{
    struct world w;
    struct fc_calibration c;
    struct fc_status st = {0};
    if (open_world(&w) && plain(&w, &c)) {
        const struct fc_calibration_job *job = &w.job[1];
        struct fc_calibration_case *k = &c.cases[1];
        struct fc_calibrated *a;
        struct fc_calibrated_answer answer;
        double error;
        for (int i = 0; i < N_POINTS; i++)
            k->points[i].latency_cycles *= 1 + 0.02 * i; /* no more the model's own */
        k->saturation *= 1.03;
        CU_ASSERT_FATAL(!fc_calibrated_open(&c, &job->turns, "uniform", &job->settings, &a, &st));
        CU_ASSERT_EQUAL(fc_calibrated_saturation(a, &error), k->saturation);
        CU_ASSERT(error > 0 && error < 2);
        for (int i = 0; i < N_POINTS; i++) {
            CU_ASSERT(!fc_calibrated_solve(a, shares[i] * k->saturation, &answer, &st));
            CU_ASSERT(answer.tier == FC_TIER_ANCHORED && !answer.extrapolated && !*answer.why);
            CU_ASSERT_DOUBLE_EQUAL(answer.model.latency_mean_cycles / k->points[i].latency_cycles, 1, 1e-9);
            CU_ASSERT_DOUBLE_EQUAL(answer.model.network_cycles + answer.model.source_cycles,
                                   answer.model.latency_mean_cycles, 1e-6 * answer.model.latency_mean_cycles);
            CU_ASSERT(answer.error_percent >= 1.5 && answer.error_percent < 5);
        }
        CU_ASSERT(!fc_calibrated_solve(a, 0.95 * k->saturation, &answer, &st));
        CU_ASSERT(answer.extrapolated && strstr(answer.why, "0.9") && answer.error_percent >= 3);
        CU_ASSERT(!fc_calibrated_solve(a, k->saturation, &answer, &st));
        CU_ASSERT(!answer.model.stable && isnan(answer.model.latency_mean_cycles) &&
                  isnan(answer.error_percent));
        CU_ASSERT_EQUAL(fc_calibrated_solve(a, 0, &answer, &st), FC_INPUT);
        fc_calibrated_close(a);
        fc_calibration_free(&c);
    }
    close_world(&w);
}

static void test_transfer(void)
{
    struct world w;
    struct fc_calibration c;
    struct fc_status st = {0};
    if (open_world(&w) && plain(&w, &c)) {
        struct fc_calibrated *a;
        struct fc_calibrated_answer answer;
        struct fc_queueing_answer model;
        const struct fc_calibration_job *job = &w.job[0];
        double error;
        CU_ASSERT_FATAL(!fc_calibrated_open(&c, &job->turns, "elsewhere", &job->settings, &a, &st));
        double s = fc_calibrated_saturation(a, &error);
        CU_ASSERT_EQUAL(error, c.saturation_mean_percent);
        CU_ASSERT(!fc_calibrated_solve(a, 0.75 * s, &answer, &st) && answer.tier == FC_TIER_TRANSFER);
        CU_ASSERT_DOUBLE_EQUAL(answer.error_percent, 3.75, 1e-9);
        CU_ASSERT(!answer.extrapolated && answer.saturation == s);
        struct fc_queueing *q;
        CU_ASSERT(!fc_queueing_open(&job->turns, &q, &st) &&
                  !fc_queueing_solve(q, &c.parameters, 0.75 * s, &model, &st));
        CU_ASSERT_DOUBLE_EQUAL(model.latency_mean_cycles / answer.model.latency_mean_cycles, 1, 1e-4);
        fc_queueing_close(q);
        CU_ASSERT(!fc_calibrated_solve(a, 0.1 * s, &answer, &st) && answer.error_percent == 1);
        CU_ASSERT(!fc_calibrated_solve(a, 0.95 * s, &answer, &st) && answer.extrapolated);
        CU_ASSERT_DOUBLE_EQUAL(answer.error_percent, 9, 1e-9);
        CU_ASSERT(!fc_calibrated_solve(a, 1.2 * s, &answer, &st) && !answer.model.stable);
        CU_ASSERT(isnan(answer.model.latency_mean_cycles) && isnan(answer.error_percent));
        fc_calibrated_close(a);

        c.flits[0] = c.flits[1] = 4; /* outside the hull */
        CU_ASSERT_FATAL(!fc_calibrated_open(&c, &job->turns, "elsewhere", &job->settings, &a, &st));
        CU_ASSERT(!fc_calibrated_solve(a, 0.75 * s, &answer, &st) && answer.extrapolated);
        CU_ASSERT_DOUBLE_EQUAL(answer.error_percent, 7.5, 1e-9);
        CU_ASSERT(strstr(answer.why, "packet length in flits 1: calibrated for 4 to 4") != NULL);
        fc_calibrated_close(a);

        c.kind = "another";
        CU_ASSERT_FATAL(!fc_calibrated_open(&c, &job->turns, "uniform", &job->settings, &a, &st));
        CU_ASSERT(!fc_calibrated_solve(a, 0.5 * s, &answer, &st) && answer.tier == FC_TIER_NONE);
        CU_ASSERT(isnan(answer.error_percent) &&
                  strstr(answer.why, "another kind of router: another (this one: family"));
        fc_calibrated_close(a);

        CU_ASSERT_FATAL(!fc_calibrated_open(NULL, &job->turns, "uniform", &job->settings, &a, &st));
        CU_ASSERT(!fc_calibrated_solve(a, 0.5 * s, &answer, &st) && answer.tier == FC_TIER_NONE);
        CU_ASSERT(isnan(answer.error_percent) && answer.model.stable &&
                  !strcmp(answer.why, "not calibrated"));
        fc_calibrated_close(a);
        fc_calibration_free(&c);
    }
    close_world(&w);
}

/* ---- a real one ---- */

#define TINY                                                                                                 \
    "name: tiny\nclock: 1 GHz\nnetwork: {family: torus, dims: [2, 2]}\n"                                     \
    "links: {torus: {bandwidth: 8 GB/s, latency: 1 cycles}}\n"                                               \
    "router: {delay: 2 cycles, flit: 8 B, vcs: 2, buffer: 64 B, escape: dateline, routing: "                 \
    "dimension-order, flow_control: wormhole}\npacket: {min: 64 B, max: 64 B}\n"

static void test_real(void)
{
    char *text[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        struct fc_machine m;
        struct fc_calibration c;
        struct fc_status st = {0};
        char path[256];
        struct fc_calibration_settings set = {.budget_s = 0.3, .threads = i + 1, .seed = 1};
        if (fc_test_machine(TINY, &m, &st)) {
            CU_FAIL("machine");
            return;
        }
        if (fc_calibrate(&m, &set, &c, &st)) {
            CU_FAIL("calibrate");
            printf("\n    %s\n", st.message);
            fc_machine_free(&m);
            return;
        }
        CU_ASSERT(c.hops_run > 0 && c.n_cases > 0);
        CU_ASSERT(!fc_calibration_write(&c, path_in(path, sizeof path, "real"), &st));
        text[i] = text_of_file(path);
        remove(path);
        fc_calibration_free(&c);
        fc_machine_free(&m);
    }
    CU_ASSERT_STRING_EQUAL(text[0], text[1]);
    for (int i = 0; i < 2; i++) free(text[i]);
}

static void test_no_budget(void)
{
    struct fc_machine m;
    struct fc_calibration c;
    struct fc_status st = {0};
    struct fc_calibration_settings set = {.budget_s = 1e-3, .threads = 1, .seed = 1};
    if (fc_test_machine(TINY, &m, &st)) return;
    CU_ASSERT_EQUAL(fc_calibrate(&m, &set, &c, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, "allows no"));
    memset(&st, 0, sizeof st);
    set.threads = 0;
    CU_ASSERT_EQUAL(fc_calibrate(&m, &set, &c, &st), FC_INPUT);
    fc_machine_free(&m);
}

/* ---- relatives ---- */

/* Every shipped machine but graphs has relatives of its kind that can be built. */
static void test_relatives(void)
{
    struct fc_arena arena = {0};
    const char **names;
    size_t n;
    struct fc_status st = {0};
    CU_ASSERT_FATAL(!fc_machine_names(&arena, &names, &n, &st));
    for (size_t i = 0; i < n; i++) {
        struct fc_machine m, smaller;
        bool exists = true;
        int made = 0;
        CU_ASSERT(strstr(names[i], "calibration") == NULL);
        if (fc_machine_load(names[i], &m, &st)) break;
        for (int k = 0; exists && !st.code; k++) {
            struct fc_network net;
            char shape[512];
            if (fc_machine_smaller(&m, k, &smaller, &exists, &st) || !exists) break;
            CU_ASSERT(!fc_network_build(&smaller, &net, &st) && net.n_nodes > 1);
            CU_ASSERT(strlen(fc_machine_shape(&smaller, shape, sizeof shape)) > 8);
            if (!st.code) fc_network_free(&net);
            fc_machine_free(&smaller);
            made++;
        }
        CU_ASSERT(made >= 3);
        CU_ASSERT(!st.code);
        if (st.code) printf("\n    %s: %s\n", names[i], st.message);
        fc_machine_free(&m);
    }
    fc_arena_free(&arena);
}

static void test_shape(void)
{
    struct fc_machine m, smaller;
    bool exists;
    char shape[256];
    struct fc_status st = {0};
    CU_ASSERT_FATAL(!fc_machine_load("bgl-4k", &m, &st));
    CU_ASSERT_STRING_EQUAL(fc_machine_shape(&m, shape, sizeof shape), "dims [16, 16, 16]");
    CU_ASSERT(!fc_machine_smaller(&m, 1, &smaller, &exists, &st) && exists);
    CU_ASSERT_STRING_EQUAL(fc_machine_shape(&smaller, shape, sizeof shape), "dims [8, 4, 4]");
    CU_ASSERT_EQUAL(smaller.classes[0].bandwidth_bytes_per_s, m.classes[0].bandwidth_bytes_per_s);
    fc_machine_free(&smaller);
    CU_ASSERT(!fc_machine_smaller(&m, 100, &smaller, &exists, &st) && !exists);
    fc_machine_free(&m);
}

int suite_calibration(void)
{
    static const CU_TestInfo tests[] = {
        {"a synthetic truth is found again", test_truth},
        {"what the data does not tell stands still", test_not_identifiable},
        {"threads do not change a fit", test_threads},
        {"a file that is read and written is the same", test_round_trip},
        {"wrong files are refused with their line", test_refused},
        {"the calibration beside a machine file", test_find},
        {"anchored answers go through their anchors", test_anchored},
        {"transfer answers carry the error of their load", test_transfer},
        {"kernel runs: the same for any number of threads", test_real},
        {"no budget, no threads", test_no_budget},
        {"relatives of every shipped machine", test_relatives},
        {"the shape in words", test_shape},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("calibration", tests);
}
