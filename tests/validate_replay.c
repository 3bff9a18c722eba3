/* validate_replay.c - replays of traces over the network models against the kernel, with the error that is stated.
 *
 * For each machine the calibration beside its file has its replays made anew, without the network that is tested
 * here; then jobs that no calibration runs are replayed on that network with contention, queueing and through the
 * kernel: other patterns, message lengths, mappings, and recorded programs. So neither network nor job was seen.
 * A row a job: times in us, deviation of each model from the kernel in percent of the kernel's time over the
 * model's, and the error stated of it; `no` where it is not covered, `ext` where it is flagged as extrapolated.
 * Goal: of all rows at least 80 % covered (90 % are stated; 80 % is what a sample of this size may show at the
 * least), and of no machine less than two thirds. Exit status 1 when missed. `make validate`, or with part of a
 * machine's name: only those. */
#include "solvers/calibration/calibration.h"
#include "traces/traces.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct job {
    const char *what; /* pattern, or a file */
    double compute_s;
    bool random, one_a_node;
};
static const struct {
    const char *machine;
    int relative; /* tested: this relative of it (machine_smaller.c), -1: itself */
    struct job job[10];
} groups[] = {
    {"bgl-64",
     -1,
     {{"stencil3d:grid=4x4x8,bytes=500", 1e-5, false, false},
      {"stencil3d:grid=4x4x8,bytes=8000", 2e-5, true, false},
      {"complement:bytes=300", 0, true, true},
      {"transpose:bytes=12000", 0, false, true},
      {"permutation:seed=21,bytes=5000", 1e-5, true, true},
      {"stencil2d:grid=8x8,bytes=20000", 1e-5, true, true},
      {"alltoall:bytes=100", 0, false, true},
      {"stencil3d:grid=4x4x4,bytes=100000", 0, false, true},
      {"traces/samples/qe-si-16.fct", 0, false, false},
      {"traces/samples/lammps-lj-16.fct", 0, false, false}}},
    {"qsnet-64",
     -1,
     {{"stencil3d:grid=4x4x8,bytes=500", 1e-5, false, false},
      {"stencil3d:grid=4x4x8,bytes=8000", 2e-5, true, false},
      {"bit-reverse:bytes=300", 0, true, true},
      {"bit-reverse:bytes=12000", 0, false, true},
      {"permutation:seed=21,bytes=5000", 1e-5, true, true},
      {"stencil2d:grid=8x8,bytes=20000", 1e-5, true, true},
      {"alltoall:bytes=100", 0, false, true},
      {"stencil3d:grid=4x4x4,bytes=40000", 0, false, true},
      {"traces/samples/qe-si-16.fct", 0, false, false},
      {"traces/samples/lammps-lj-16.fct", 0, false, false}}},
    {"percs-16",
     -1,
     {{"stencil3d:grid=8x8x4,bytes=500", 1e-5, false, false},
      {"stencil3d:grid=8x8x8,bytes=8000", 0, true, true},
      {"bit-reverse:bytes=300", 0, true, true},
      {"bit-reverse:bytes=12000", 0, false, true},
      {"permutation:seed=21,bytes=5000", 1e-5, true, true},
      {"stencil2d:grid=16x32,bytes=20000", 1e-5, false, true},
      {"stencil3d:grid=4x4x4,bytes=100000", 0, false, false},
      {"traces/samples/lammps-lj-16.fct", 0, false, true}}},
    {"tmesh-216",
     0,
     {{"stencil3d:grid=4x4x5,bytes=500", 1e-5, false, true},
      {"stencil3d:grid=4x4x5,bytes=8000", 0, true, true},
      {"permutation:seed=21,bytes=300", 0, true, true},
      {"permutation:seed=22,bytes=5000", 1e-5, false, true},
      {"stencil2d:grid=8x10,bytes=20000", 1e-5, true, true},
      {"alltoall:bytes=20", 0, false, true}}},
    {"gemini-xe6",
     0,
     {{"stencil3d:grid=4x4x8,bytes=500", 1e-5, false, true},
      {"stencil3d:grid=4x4x8,bytes=4000", 0, true, true},
      {"permutation:seed=21,bytes=300", 0, true, true},
      {"permutation:seed=22,bytes=5000", 1e-5, false, true},
      {"stencil2d:grid=8x8,bytes=3000", 1e-5, true, true}}},
};

struct opened {
    struct fc_machine machine, relative;
    struct fc_network net;
    bool small;
};
static bool open_machine(const char *name, int relative, struct opened *o, struct fc_status *st)
{
    bool exists = true;
    *o = (struct opened){.small = relative >= 0};
    if (fc_machine_load(name, &o->machine, st)) return false;
    if (o->small && (fc_machine_smaller(&o->machine, relative, &o->relative, &exists, st) || !exists)) return false;
    return !fc_network_build(o->small ? &o->relative : &o->machine, &o->net, st);
}
static void close_machine(struct opened *o)
{
    fc_network_free(&o->net);
    if (o->small) fc_machine_free(&o->relative);
    fc_machine_free(&o->machine);
}

static bool make_job(const struct fc_network *net, const struct job *job, struct fc_trace *trace,
                     struct fc_placement *placement, struct fc_status *st)
{
    struct fc_demand demand;
    *trace = (struct fc_trace){0};
    if (strchr(job->what, '/')) {
        if (fc_trace_read(job->what, trace, st)) return false;
    } else {
        if (fc_demand_from_pattern(net, job->what, 9, &demand, st)) return false;
        fc_trace_generate(&demand, 3, job->compute_s, trace, st);
        fc_demand_free(&demand);
        if (st->code) return false;
    }
    uint32_t each = job->one_a_node ? 1 : (uint32_t)net->machine->cores_per_node;
    uint32_t *node = fc_alloc(&trace->arena, trace->n_ranks, sizeof *node, st),
             *order = fc_alloc(&trace->arena, net->n_nodes, sizeof *order, st);
    if (!node || !order) return false;
    fc_random_permutation(99, 1, order, net->n_nodes);
    for (uint32_t r = 0; r < trace->n_ranks; r++) {
        if (r / each >= net->n_nodes) {
            fc_refuse(st, FC_INPUT, "%s does not fit", job->what);
            return false;
        }
        node[r] = job->random ? order[r / each] : r / each;
    }
    *placement = (struct fc_placement){trace->n_ranks, node};
    return true;
}

struct tally {
    int n[FC_MEASURED], covered[FC_MEASURED];
    double deviation[FC_MEASURED], stated[FC_MEASURED];
};

static bool row(const struct opened *o, const struct fc_calibration *c, const struct job *job, struct tally *t,
                struct fc_status *st)
{
    static const enum fc_network_model networks[] = {FC_NET_CONTENTION, FC_NET_QUEUEING, FC_NET_FLIT};
    struct fc_trace trace;
    struct fc_placement placement;
    double time_s[3] = {0}, error[2] = {NAN, NAN};
    bool extrapolated[2] = {false, false};
    if (!make_job(&o->net, job, &trace, &placement, st)) return false;
    for (int i = 0; i < 3 && !st->code; i++) {
        struct fc_replay_settings how = {
            .network = networks[i], .software = o->net.machine->software, .calibration = c};
        struct fc_replay replay;
        if (fc_replay_run(&o->net, &trace, &placement, &how, &replay, st)) break;
        fc_replay_state_error(&o->net, &c->replays, &how, false, &replay);
        time_s[i] = replay.prediction.time_s;
        if (i < 2) error[i] = replay.prediction.error_percent;
        if (i < 2) extrapolated[i] = replay.prediction.extrapolated;
        fc_replay_free(&replay);
    }
    fc_trace_free(&trace);
    if (st->code) return false;
    const char *name = strrchr(job->what, '/') ? strrchr(job->what, '/') + 1 : job->what;
    printf("%-34s %-6s %10.1f", name, job->random ? "random" : "order", 1e6 * time_s[2]);
    for (int m = 0; m < FC_MEASURED; m++) {
        double off = 100 * (time_s[2] / time_s[m] - 1);
        bool covered = fabs(off) <= error[m];
        printf("  %10.1f %+6.1f +-%-5.1f%-3s%-3s", 1e6 * time_s[m], off, error[m], covered ? "" : " no",
               extrapolated[m] ? "ext" : "");
        if (isnan(error[m])) continue;
        t->n[m]++;
        t->covered[m] += covered;
        t->deviation[m] += fabs(off);
        t->stated[m] += error[m];
    }
    printf("\n");
    fflush(stdout);
    return true;
}

static bool group(size_t g, struct tally *all, bool *good, struct fc_status *st)
{
    struct opened o = {.small = false};
    struct fc_calibration c;
    struct tally t = {.n = {0}};
    char shape[512], path[1200];
    struct fc_progress progress;
    if (!open_machine(groups[g].machine, groups[g].relative, &o, st)) return false;
    fc_progress_start(&progress, true);
    struct fc_calibration_settings how = {.threads = 2,
                                          .seed = 1,
                                          .without = fc_machine_shape(o.net.machine, shape, sizeof shape),
                                          .progress = &progress};
    if (!fc_calibration_read(fc_calibration_path(&o.machine, path, sizeof path), &c, st)) {
        if (!fc_calibrate_replays(&o.machine, &how, &c, st)) {
            printf("\n%s, tested on %s; %u jobs replayed by the calibration elsewhere\n", groups[g].machine, shape,
                   c.replays.n_cases);
            for (size_t j = 0; j < FC_COUNT(groups[g].job) && groups[g].job[j].what && !st->code; j++)
                row(&o, &c, &groups[g].job[j], &t, st);
        }
        fc_calibration_free(&c);
    }
    close_machine(&o);
    for (int m = 0; m < FC_MEASURED && !st->code; m++) {
        bool goal = 3 * t.covered[m] >= 2 * t.n[m] && t.n[m] > 0;
        printf("  %s: %d of %d covered, deviation %.1f %% in the mean, stated %.1f %%%s\n",
               m == FC_MEASURED_CONTENTION ? "contention" : "queueing", t.covered[m], t.n[m], t.deviation[m] / t.n[m],
               t.stated[m] / t.n[m], goal ? "" : "  MISSED (goal: two thirds)");
        *good = *good && goal;
        all->n[m] += t.n[m];
        all->covered[m] += t.covered[m];
    }
    return !st->code;
}

int main(int argc, char **argv)
{
    struct fc_status st = {0};
    struct tally all = {.n = {0}};
    bool good = true;
    clock_t start = clock();
    printf("%-34s %-6s %10s  %10s %6s %s  %16s %6s %s\n", "job", "map", "kernel us", "contention", "dev %", "stated",
           "queueing", "dev %", "stated");
    for (size_t g = 0; g < FC_COUNT(groups); g++) {
        if (argc > 1 && !strstr(groups[g].machine, argv[1])) continue;
        if (group(g, &all, &good, &st)) continue;
        printf("%s: %s\n", groups[g].machine, st.message);
        return 1;
    }
    for (int m = 0; m < FC_MEASURED; m++) {
        bool goal = all.covered[m] >= 0.8 * all.n[m];
        printf("%sall, %s: the stated error covers %d of %d rows%s\n", m ? "" : "\n",
               m == FC_MEASURED_CONTENTION ? "contention" : "queueing", all.covered[m], all.n[m],
               goal ? "" : "  MISSED (goal: 80 %)");
        good = good && goal;
    }
    printf("%.0f CPU s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
    return good ? 0 : 1;
}
