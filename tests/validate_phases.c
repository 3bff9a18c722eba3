/* validate_phases.c - phases and traces against the kernel: how far off, what is stated, how much of it is covered.
 *
 * Machines: shipped ones with their own calibration (tier "own"), and small machines of tests/machines/unseen, which no calibration
 * knows: as their family answers (tier "family") and with one made now, --budget 10 (tier "calibrated"). The machines o..
 * and the shipped ones were in sight when models and errors were chosen; the machines u.. judge.
 * Jobs: patterns with tasks in order and at random, hot spots, and three kinds of graphs (random partners with log-normal sizes,
 * sparse ones, incast), as phases and as traces of three rounds; collective calls, also of several ranks a node. In rows
 * of their own ("few") and without a goal: 1 and 16 messages between random nodes, of three lengths.
 *
 * Deviation: model / kernel - 1, of the time on the network (phases) or of the job (traces). Prints a table; without arguments
 * (`make validate`) it also replaces the one in docs/trust.md. Goals: of u.. 85 to 95 % covered, stated in the median at most 2.5
 * times what is true; phases of shipped machines 8 % off in the mean, 15 % stated in the median, traces 5 %. Exit status: 1 missed.
 * Usage: validate_phases [DIRECTORY [NAME [all|phases|traces [family]]]]: kernel times (by kernel version and machine file),
 * calibrations and all rows are kept in DIRECTORY. NAME: machines with that in their name. family: without calibrations. */
#include "solvers/calibration/family.h"
#include "solvers/flit/flit.h"
#include "traces/traces.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Large ones in a shape of which the kernel runs all jobs in minutes; `traced`: another for traces, of at most MOST_TRACED nodes. */
static const struct {
    const char *name, *setting, *traced;
} shipped[] = {{"bgl-64", NULL, NULL},
               {"bgl-8x8x1", NULL, NULL},
               {"bgl-512", NULL, NULL},
               {"gemini-xe6", "network.dims=[4,4,4]", NULL},
               {"tpu-v4", "network.dims=[4,4,4]", NULL},
               {"qsnet-64", NULL, NULL},
               {"percs-16", NULL, NULL},
               {"tmesh-216", NULL, "network.dims=[3,3,3]"}};
static const char *const others[] = {"o01-t55ad",  "o02-t66dl", "o03-t444dl", "o04-t842ad", "o05-ft3n",   "o06-ft2h",
                                     "u01-t333ad", "u02-t55dl", "u03-t644ad", "u04-t644dl", "u05-ftslim", "u06-ft3"};
#define BUDGET_S 10

/* ---- jobs ---- */

enum place { ORDER, RANDOM, FEW }; /* FEW: as many ranks a node as it has cores, at most 8, on the first nodes */
struct job {
    const char *kind, *text; /* a pattern; or rand, sparse, incast and a number of tasks; or few, messages and bytes */
    enum place place;
};
static const struct job phases[] = {
    {"alltoall", "alltoall:bytes=200", ORDER},
    {"alltoall", "alltoall:bytes=3000", ORDER},
    {"permutation", "permutation:seed=7,bytes=400", ORDER},
    {"permutation", "permutation:seed=8,bytes=20000", ORDER},
    {"permutation", "permutation:seed=9,bytes=6000", RANDOM},
    {"bit-reverse", "bit-reverse:bytes=8000", ORDER},
    {"transpose", "transpose:bytes=8000", ORDER},
    {"tornado", "tornado:bytes=8000", ORDER},
    {"neighbor", "neighbor:bytes=5000", ORDER},
    {"stencil", "stencil2d:bytes=2000", ORDER},
    {"stencil", "stencil3d:bytes=9000", ORDER},
    {"stencil", "stencil2d:bytes=6000", RANDOM},
    {"hotspot", "hotspot:bytes=2000", ORDER},
    {"rand", "rand 24", ORDER},
    {"rand", "rand 50", RANDOM},
    {"rand", "rand 120", ORDER},
    {"rand", "rand 192", RANDOM},
    {"sparse", "sparse 50", ORDER},
    {"sparse", "sparse 120", RANDOM},
    {"incast", "incast 50", ORDER},
    {"incast", "incast 120", RANDOM},
    {"few", "few 1 200", ORDER},
    {"few", "few 1 4000", ORDER},
    {"few", "few 1 100000", ORDER},
    {"few", "few 16 200", ORDER},
    {"few", "few 16 4000", ORDER},
    {"few", "few 16 100000", ORDER},
};
static const struct job traces[] = {
    {"permutation", "permutation:seed=7,bytes=400", ORDER},
    {"permutation", "permutation:seed=9,bytes=6000", RANDOM},
    {"bit-reverse", "bit-reverse:bytes=8000", ORDER},
    {"stencil", "stencil2d:bytes=2000", ORDER},
    {"stencil", "stencil3d:bytes=9000", ORDER},
    {"stencil", "stencil2d:bytes=6000", RANDOM},
    {"rand", "rand 50", RANDOM},
    {"sparse", "sparse 50", ORDER},
    {"incast", "incast 50", ORDER},
    {"calls", "alltoall 1000", ORDER},
    {"calls", "allreduce 20000", ORDER},
    {"calls", "allgather 4000", RANDOM},
    {"several", "alltoall 65536", FEW},
    {"several", "allreduce 65536", FEW},
};

/* Five partners each of log-normal sizes; an eighth of the tasks send 100 kB to three others; all to tasks 0 and 1. */
static enum fc_code graph(const char *text, struct fc_demand *demand, struct fc_status *st)
{
    enum { MOST = 1024 };
    uint32_t src[MOST], dst[MOST], n_tasks = (uint32_t)atoi(strchr(text, ' ') + 1);
    double bytes[MOST];
    size_t n = 0;
    uint64_t seed = 41 + n_tasks;
    for (uint32_t t = 0; t < n_tasks; t++) {
        int partners = *text == 'r' ? 5 : *text == 's' ? (fc_random_below(seed, 1, t, 8) == 0 ? 3 : 0) : t > 1;
        for (int k = 0; k < partners; k++) {
            uint64_t at = t * 8ull + (uint64_t)k;
            uint32_t to = *text == 'i' ? t % 2 : (uint32_t)fc_random_below(seed, 2, at, n_tasks - 1);
            double normal = -6; /* near enough: the sum of twelve */
            for (uint64_t u = 0; u < 12; u++) normal += fc_random_real(seed, 3 + u, at);
            src[n] = t;
            dst[n] = *text == 'i' ? to : to + (to >= t);
            bytes[n++] = *text == 'r' ? floor(exp(9 + 1.2 * normal)) : *text == 's' ? 100000 : 4096;
        }
    }
    return fc_demand_of_pairs(text, n_tasks, n, src, dst, bytes, demand, st);
}

/* So many messages between random nodes, one task a node; of a pair drawn again none. */
static enum fc_code few(const struct fc_network *net, const char *text, struct fc_demand *demand, struct fc_status *st)
{
    enum { MOST = 16 };
    uint32_t src[MOST], dst[MOST], n = 0;
    double bytes[MOST];
    char *end;
    long asked = strtol(strchr(text, ' '), &end, 10);
    uint64_t seed = 77 + (uint64_t)asked;
    for (uint64_t i = 0; n < asked && n < MOST; i++) {
        bool again = false;
        src[n] = (uint32_t)fc_random_below(seed, 1, i, net->n_nodes);
        dst[n] = (uint32_t)fc_random_below(seed, 2, i, net->n_nodes - 1);
        dst[n] += dst[n] >= src[n];
        bytes[n] = strtod(end, NULL);
        for (uint32_t k = 0; k < n; k++) again = again || (src[k] == src[n] && dst[k] == dst[n]);
        n += !again;
    }
    return fc_demand_of_pairs(text, net->n_nodes, n, src, dst, bytes, demand, st);
}

static bool is_few(const struct job *job)
{
    return !strcmp(job->kind, "few");
}
static bool is_pattern(const struct job *job)
{
    return !strchr(job->text, ' ');
}

static enum fc_code open_demand(const struct fc_network *net, const struct job *job, struct fc_demand *demand,
                                struct fc_status *st)
{
    char text[160];
    if (is_few(job)) return few(net, job->text, demand, st);
    if (!is_pattern(job)) return graph(job->text, demand, st);
    snprintf(text, sizeof text, "%s", job->text);
    if (!strncmp(text, "stencil", 7)) { /* one task a node, as equal sides as they get */
        uint32_t side[3] = {1, 1, net->n_nodes};
        int dims = text[7] - '0';
        for (int d = 3 - dims; d < 2; d++)
            for (uint32_t f = 1; pow(f, 3 - d) <= side[2] * (1 + 1e-9); f++)
                if (side[2] % f == 0) side[d] = f;
        if (dims == 3) {
            for (uint32_t f = 1; f * f <= net->n_nodes / side[0]; f++)
                if (net->n_nodes / side[0] % f == 0) side[1] = f;
            side[2] = net->n_nodes / side[0] / side[1];
            snprintf(text, sizeof text, "stencil3d:grid=%ux%ux%u,%s", side[0], side[1], side[2],
                     strstr(job->text, "bytes"));
        } else {
            side[2] = net->n_nodes / side[1];
            snprintf(text, sizeof text, "stencil2d:grid=%ux%u,%s", side[1], side[2], strstr(job->text, "bytes"));
        }
    }
    return fc_demand_from_pattern(net, text, 1, demand, st);
}

/* Patterns sit one task a node; graphs fill cores in order, or spread over nodes at random. False: it does not fit. */
static bool place(const struct fc_network *net, const struct job *job, uint32_t n_tasks, struct fc_arena *arena,
                  struct fc_placement *placement, struct fc_status *st)
{
    uint32_t *node = fc_alloc(arena, n_tasks, sizeof *node, st),
             *order = fc_alloc(arena, net->n_nodes, sizeof *order, st);
    uint32_t cores = (uint32_t)net->machine->cores_per_node, least = (n_tasks + net->n_nodes - 1) / net->n_nodes;
    if (!node || !order || least > cores) return false;
    uint32_t each = job->place == RANDOM || is_pattern(job) || is_few(job) ? least : cores;
    if (job->place == FEW) each = cores < 8 ? cores : 8;
    fc_random_permutation(99, 1, order, net->n_nodes);
    for (uint32_t t = 0; t < n_tasks; t++) node[t] = job->place == RANDOM ? order[t / each] : t / each;
    *placement = (struct fc_placement){n_tasks, node};
    return node[n_tasks - 1] != node[0];
}

/* ---- kept kernel times ---- */

struct kept {
    char *key;
    double time_s;
};
static struct kept *kept;
static size_t n_kept, kept_capacity;
static FILE *keeping, *rows;

static void keep(const char *key, double time_s)
{
    if (n_kept == kept_capacity) kept = realloc(kept, (kept_capacity = 2 * kept_capacity + 64) * sizeof *kept);
    if (!kept) exit(3);
    kept[n_kept++] = (struct kept){strdup(key), time_s};
}

static void open_kept(const char *directory)
{
    char path[1200], line[1200];
    snprintf(path, sizeof path, "%s/kernel.tsv", directory);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        char *tab = strchr(line, '\t');
        if (tab) *tab = '\0', keep(line, strtod(tab + 1, NULL));
    }
    if (file) fclose(file);
    keeping = fopen(path, "a");
    snprintf(path, sizeof path, "%s/rows.tsv", directory);
    rows = fopen(path, "w");
}

/* ---- machines ---- */

struct tested {
    const char *name;
    uint64_t hash; /* of its file */
    struct fc_machine machine;
    struct fc_network net;
    struct fc_calibration calibration;
    bool calibrated;
};

/* Of a file, and what is changed of it. */
static uint64_t hash_of(const char *path, const char *setting)
{
    uint64_t h = UINT64_C(14695981039346656037);
    FILE *file = fopen(path, "rb");
    for (int c; file && (c = fgetc(file)) != EOF;) h = (h ^ (uint64_t)c) * UINT64_C(1099511628211);
    if (file) fclose(file);
    for (; setting && *setting; setting++) h = (h ^ (uint64_t)*setting) * UINT64_C(1099511628211);
    return h;
}

/* The kernel's time of the key, or NaN: run it. */
static double known(const struct tested *t, const char *what, const struct job *job, char *key, size_t size)
{
    snprintf(key, size, "%s %s %016llx %s %s %d", FC_KERNEL_VERSION, t->name, (unsigned long long)t->hash, what,
             job->text, job->place);
    for (size_t i = 0; i < n_kept; i++)
        if (!strcmp(kept[i].key, key)) return kept[i].time_s;
    return NAN;
}

static void learn(const char *key, double time_s)
{
    keep(key, time_s);
    if (keeping) fprintf(keeping, "%s\t%.17g\n", key, time_s), fflush(keeping);
}

/* ---- cases ---- */

struct outcome {
    const char *what, *kind, *machine, *tier;
    double off_percent, stated_percent; /* stated NaN: unknown */
};
static struct outcome outcomes[8000];
static size_t n_outcomes;

static void note(const char *what, const struct job *job, const struct tested *t, const char *tier, double kernel_s,
                 const struct fc_prediction *p, double time_s)
{
    double off = 100 * (time_s / kernel_s - 1);
    if (n_outcomes < FC_COUNT(outcomes))
        outcomes[n_outcomes++] = (struct outcome){what, job->kind, t->name, tier, off, p->error_percent};
    if (rows)
        fprintf(rows, "%s\t%s\t%s\t%s\t%s\t%d\t%.6g\t%.6g\t%.2f\t%.2f\t%s\n", what, tier, t->name, job->kind, job->text,
                job->place, kernel_s, time_s, off, p->error_percent, p->why),
            fflush(rows);
}

static double phase_kernel_s(const struct tested *t, const struct job *job, const struct fc_demand *demand,
                             const struct fc_placement *placement, struct fc_status *st)
{
    char key[400];
    struct fc_flit_settings how;
    struct fc_flit_result result;
    double time_s = known(t, "phase", job, key, sizeof key);
    if (!isnan(time_s)) return time_s;
    fc_flit_defaults(&how);
    if (fc_flit_run(&t->net, demand, placement->node, &how, &result, st)) return NAN;
    time_s = result.complete ? (double)result.cycles * result.cycle_s : -1;
    fc_flit_free(&result);
    learn(key, time_s);
    return time_s;
}

static bool phase(const struct tested *t, const char *tier, const struct job *job, struct fc_status *st)
{
    struct fc_demand demand;
    struct fc_load load;
    struct fc_placement placement;
    struct fc_prediction p;
    struct fc_arena arena = {0};
    struct fc_status none = {0};
    struct fc_load_settings settings = {.threads = 1, .seed = 1, .bulk = t->calibrated ? &t->calibration.phases : NULL};
    if (open_demand(&t->net, job, &demand, &none)) return true; /* not defined there */
    if (place(&t->net, job, demand.n_tasks, &arena, &placement, st)) {
        double kernel_s = phase_kernel_s(t, job, &demand, &placement, st);
        if (kernel_s > 0 && !fc_load_solve(&t->net, &demand, &placement, &settings, &load, st)) {
            if (!fc_predict_phase(&t->net, &demand, &placement, &load, &settings, &p, st) && p.network_s > 0)
                note(is_few(job) ? "few" : "phase", job, t, tier, kernel_s, &p, p.network_s);
            fc_load_free(&load);
        }
    }
    fc_demand_free(&demand);
    fc_arena_free(&arena);
    return !st->code;
}

/* A trace of three rounds of the job's traffic, or of four calls of all ranks. */
static enum fc_code open_trace(const struct fc_network *net, const struct job *job, struct fc_trace *trace,
                               struct fc_status *st)
{
    static const struct {
        const char *name;
        enum fc_op op;
    } calls[] = {{"alltoall", FC_OP_ALLTOALL}, {"allreduce", FC_OP_ALLREDUCE}, {"allgather", FC_OP_ALLGATHER}};
    struct fc_demand demand;
    uint32_t cores = (uint32_t)net->machine->cores_per_node, n = net->n_nodes < 64 ? net->n_nodes : 64;
    if (job->place == FEW) n = 2 * (cores < 8 ? cores : 8);
    for (size_t i = 0; i < FC_COUNT(calls); i++) {
        size_t length = strlen(calls[i].name);
        if (!strncmp(job->text, calls[i].name, length) && job->text[length] == ' ')
            return fc_trace_of_calls(calls[i].op, n, atof(job->text + length), job->place == FEW ? 1 : 4, trace, st);
    }
    if (open_demand(net, job, &demand, st)) return st->code;
    fc_trace_generate(&demand, 3, 2e-6, trace, st);
    fc_demand_free(&demand);
    return st->code;
}

static bool trace(const struct tested *t, const char *tier, const struct job *job, struct fc_status *st)
{
    struct fc_trace trace;
    struct fc_placement placement;
    struct fc_arena arena = {0};
    struct fc_status none = {0};
    struct fc_replay r;
    char key[400];
    if (job->place == FEW && t->machine.cores_per_node < 2) return true;
    if (open_trace(&t->net, job, &trace, &none)) return true;
    double kernel_s = known(t, "trace", job, key, sizeof key);
    if (place(&t->net, job, trace.n_ranks, &arena, &placement, st)) {
        struct fc_replay_settings how = {.network = FC_NET_FLIT,
                                         .software = t->machine.software,
                                         .calibration = t->calibrated ? &t->calibration : NULL};
        if (isnan(kernel_s)) {
            kernel_s = -1;
            if (!fc_replay_run(&t->net, &trace, &placement, &how, &r, &none)) {
                kernel_s = r.prediction.time_s;
                fc_replay_free(&r);
            }
            learn(key, kernel_s);
        }
        how.network = FC_NET_CONTENTION;
        if (kernel_s > 0 && !fc_replay_run(&t->net, &trace, &placement, &how, &r, st)) {
            fc_replay_state_error(&t->net, t->calibrated ? &t->calibration.replays : NULL, &how, false, &r);
            note("trace", job, t, tier, kernel_s, &r.prediction, r.prediction.time_s);
            fc_replay_free(&r);
        }
    }
    fc_trace_free(&trace);
    fc_arena_free(&arena);
    return !st->code;
}

enum { MOST_LONG = 256, MOST_TRACED = 512 }; /* nodes: for long all-to-all, for traces */
static char part = 'a';                      /* p: phases alone, t: traces alone */

static bool all_jobs(const struct tested *t, const char *tier, struct fc_status *st)
{
    for (size_t j = 0; j < FC_COUNT(phases) && part != 't'; j++)
        if ((t->net.n_nodes <= MOST_LONG || strcmp(phases[j].text, "alltoall:bytes=3000")) &&
            !phase(t, tier, &phases[j], st))
            return false;
    for (size_t j = 0; j < FC_COUNT(traces) && t->net.n_nodes <= MOST_TRACED && part != 'p'; j++)
        if (!trace(t, tier, &traces[j], st)) return false;
    return true;
}

/* Made now, or kept in the directory. */
static bool calibrate(struct tested *t, const char *directory, struct fc_status *st)
{
    char path[1200];
    struct fc_calibration_settings how = {.budget_s = BUDGET_S, .threads = 2, .seed = 1};
    snprintf(path, sizeof path, "%s/%s.calibration.yaml", directory ? directory : "", t->name);
    if (directory && access(path, R_OK) == 0) return !fc_calibration_read(path, &t->calibration, st);
    if (fc_calibrate(&t->machine, &how, &t->calibration, st)) return false;
    return !directory || !fc_calibration_write(&t->calibration, path, st);
}

static bool families_only;
static bool test_machine(const char *name, const char *file, const char *setting, const char *directory,
                         struct fc_status *st)
{
    struct tested t = {.name = name};
    bool found = false, good = false;
    char why[600];
    if (fc_machine_load_changed(file, &setting, setting != NULL, &t.machine, st) ||
        fc_network_build(&t.machine, &t.net, st))
        return false;
    t.hash = hash_of(t.machine.file, setting);
    bool is_shipped = !strcmp(file, name);
    if (is_shipped ? !fc_calibration_of(&t.net, &t.calibration, &found, NULL, st)
                   : !fc_family_find(&t.net, NULL, &t.calibration, &found, why, sizeof why, st)) {
        t.calibrated = found;
        good = all_jobs(&t, is_shipped ? "own" : "family", st);
        if (found) fc_calibration_free(&t.calibration);
    }
    if (good && !is_shipped && !families_only) {
        if (calibrate(&t, directory, st) && !fc_family_stand_by(&t.net, &t.calibration, st)) {
            t.calibrated = true;
            good = all_jobs(&t, "calibrated", st);
            fc_calibration_free(&t.calibration);
        } else {
            printf("%s: not calibrated: %s\n", name, st->message);
            good = st->code == FC_NO;
            *st = (struct fc_status){0};
        }
    }
    fc_network_free(&t.net);
    fc_machine_free(&t.machine);
    return good;
}

static bool test_traces(const char *name, const char *file, const char *setting, const char *directory,
                        struct fc_status *st)
{
    char asked = part;
    part = 't';
    bool good = test_machine(name, file, setting, directory, st);
    part = asked;
    return good;
}

/* ---- the table ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct summary {
    int n, unknown;
    double mean, median, worst, stated, covered; /* percent */
};

/* Of all that is alike; NULL: any. `machines`: what their names begin with; "" any. */
static struct summary summarise(const char *what, const char *tier, const char *machines, const char *kind)
{
    static double off[FC_COUNT(outcomes)], stated[FC_COUNT(outcomes)];
    struct summary s = {0};
    int known = 0, covered = 0;
    for (size_t i = 0; i < n_outcomes; i++) {
        const struct outcome *o = &outcomes[i];
        if (strcmp(o->what, what) || strcmp(o->tier, tier) || strncmp(o->machine, machines, strlen(machines)) ||
            (kind && strcmp(o->kind, kind)))
            continue;
        off[s.n] = fabs(o->off_percent);
        s.mean += off[s.n];
        if (off[s.n] > fabs(s.worst)) s.worst = o->off_percent;
        covered += off[s.n] <= o->stated_percent;
        if (!isnan(o->stated_percent)) stated[known++] = o->stated_percent;
        s.n++;
    }
    s.unknown = s.n - known;
    if (s.n == 0) return s;
    qsort(off, (size_t)s.n, sizeof *off, by_value);
    qsort(stated, (size_t)known, sizeof *stated, by_value);
    s.mean /= s.n;
    s.median = off[s.n / 2];
    s.stated = known ? stated[known / 2] : (double)NAN;
    s.covered = known ? 100.0 * covered / known : (double)NAN;
    return s;
}

static void print_row(FILE *f, const char *what, const char *tier, const char *machines, const char *kind)
{
    struct summary s = summarise(what, tier, machines, kind);
    if (s.n)
        fprintf(f, "| %s | %s | %s | %s | %d | %d | %.1f | %.1f | %+.0f | %.1f | %.0f |\n", what, tier,
                *machines ? machines : "all", kind ? kind : "all", s.n, s.unknown, s.mean, s.median, s.worst, s.stated,
                s.covered);
}

static void print_table(FILE *f, const char *what, const char *tier, const char *machines)
{
    const char *seen[64];
    size_t n = 0;
    for (size_t i = 0; i < n_outcomes; i++) {
        const struct outcome *o = &outcomes[i];
        bool is_new = !strcmp(o->what, what);
        for (size_t k = 0; k < n; k++) is_new = is_new && strcmp(seen[k], o->kind);
        if (is_new && n < FC_COUNT(seen)) seen[n++] = o->kind;
    }
    for (size_t k = 0; k < n; k++) print_row(f, what, tier, machines, seen[k]);
    print_row(f, what, tier, machines, NULL);
}

static const char *const whats[] = {"phase", "trace", "few"}, *const tiers[] = {"family", "calibrated"};

static void print_all(FILE *f)
{
    fprintf(f,
            "| | tier | machines | kind | cases | unknown | mean off | median | worst | stated, median | covered %% |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t w = 0; w < FC_COUNT(whats); w++) {
        for (size_t i = 0; i < FC_COUNT(shipped); i++) print_row(f, whats[w], "own", shipped[i].name, NULL);
        print_table(f, whats[w], "own", "");
        for (size_t k = 0; k < FC_COUNT(tiers); k++) {
            for (size_t i = 0; i < FC_COUNT(others); i++)
                if (*others[i] == 'u') print_row(f, whats[w], tiers[k], others[i], NULL);
            print_row(f, whats[w], tiers[k], "o", NULL);
            print_table(f, whats[w], tiers[k], "u");
        }
    }
}

/* Whether it is within, or nothing was run. */
static bool goal(const char *name, double value, double low, double high)
{
    bool good = isnan(value) || (value >= low && value <= high);
    if (!isnan(value)) printf("%-52s %6.1f (%g to %g)  %s\n", name, value, low, high, good ? "reached" : "MISSED");
    return good;
}

static bool goals(void)
{
    bool good = true;
    for (size_t w = 0; w < 2; w++) { /* phases, traces */
        struct summary own = summarise(whats[w], "own", "", NULL);
        char name[120];
        snprintf(name, sizeof name, "%s, own: mean off, %%", whats[w]);
        good &= goal(name, own.n ? own.mean : (double)NAN, 0, w ? 5 : 8);
        snprintf(name, sizeof name, "%s, own: median stated, %%", whats[w]);
        good &= goal(name, own.n && !w ? own.stated : (double)NAN, 0, 15);
        for (size_t k = 0; k < FC_COUNT(tiers); k++) {
            struct summary u = summarise(whats[w], tiers[k], "u", NULL);
            snprintf(name, sizeof name, "%s, %s, unseen: covered, %%", whats[w], tiers[k]);
            good &= goal(name, u.n ? u.covered : (double)NAN, 85, 95);
            snprintf(name, sizeof name, "%s, %s, unseen: median stated over true", whats[w], tiers[k]);
            good &= goal(name, u.n ? u.stated / u.median : (double)NAN, 0, 2.5);
        }
    }
    return good;
}

/* Replaces what stands between the two marks. */
static bool write_into(const char *path)
{
    static const char begin[] = "<!-- validate_phases -->\n", end[] = "<!-- end -->";
    static char text[1 << 18];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[n] = '\0';
    char *from = strstr(text, begin), *to = from ? strstr(from, end) : NULL;
    if (!to || !(f = fopen(path, "w"))) {
        printf("%s: no place for the table\n", path);
        return false;
    }
    fwrite(text, 1, (size_t)(from - text) + strlen(begin), f);
    print_all(f);
    fputs(to, f);
    return fclose(f) == 0;
}

int main(int argc, char **argv)
{
    struct fc_status st = {0};
    const char *directory = argc > 1 ? argv[1] : NULL, *only = argc > 2 ? argv[2] : "";
    char file[200];
    if (argc > 3) part = argv[3][0];
    families_only = argc > 4;
    if (directory) open_kept(directory);
    for (size_t i = 0; i < FC_COUNT(shipped) + FC_COUNT(others); i++) {
        bool is_shipped = i < FC_COUNT(shipped);
        const char *name = is_shipped ? shipped[i].name : others[i - FC_COUNT(shipped)];
        const char *setting = is_shipped ? shipped[i].setting : NULL, *traced = is_shipped ? shipped[i].traced : NULL;
        snprintf(file, sizeof file, is_shipped ? "%s" : "tests/machines/unseen/%s.yaml", name);
        if (!strstr(name, only)) continue;
        if (!test_machine(name, file, setting, directory, &st) ||
            (traced && part != 'p' && !test_traces(name, file, traced, directory, &st))) {
            printf("%s: %s\n", name, st.message);
            return 1;
        }
    }
    print_all(stdout);
    return goals() & (argc > 1 || write_into("docs/trust.md")) ? 0 : 1;
}
