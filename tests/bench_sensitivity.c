/* bench_sensitivity.c - what the derivatives of a replay's time cost: a replay with a tape and the way back through it, in replays
 * without. Five jobs on four families, those of tests/validate_sensitivity.c; CPU seconds, the system's included, the least of a second
 * or two of runs in turn; then the median. With a part of a machine's name, and of a job's: only those. Not a test: machines differ. `make bench` */
#include "solvers/adjoint/adjoint.h"
#include "tests/sensitivity_jobs.h"

enum { RUNS = 5, MOST = 32 };
#define ENOUGH_S 1.5

static double replay(struct work *w, struct fc_adjoint *adjoint, uint32_t *link, int *n_links)
{
    struct fc_placement placement = {w->mapping.n_tasks, w->mapping.node};
    FC_SCOPED(fc_replay_free) struct fc_replay replay = {0};
    struct fc_replay_settings how = {.network = FC_NET_CONTENTION,
                                     .software = w->session.machine.software,
                                     .collectives = &w->job.collectives,
                                     .calibration = w->bulk ? &w->session.calibration : NULL,
                                     .time_only = !link,
                                     .adjoint = adjoint};
    double start_s = fc_cpu_s();
    if (w->job.source.restart(&w->job.source) ||
        fc_replay_source(&w->session.net, &w->job.source, &placement, &how, &replay, &w->st)) {
        fprintf(stderr, "bench_sensitivity: %s\n", w->st.message);
        exit(1);
    }
    double took_s = fc_cpu_s() - start_s;
    if (link) *n_links = fc_sensitivity_links(&w->session.net, replay.link_busy_s, link);
    return took_s;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double compare(struct work *w, const char *machine, const char *job)
{
    uint32_t link[FC_SENSITIVITY_LINKS];
    int n_links = 0;
    double plain_s = INFINITY, pass_s = INFINITY, back_s = 0, tape_mb = 0;
    replay(w, NULL, link, &n_links);
    double began_s = fc_cpu_s();
    for (int i = 0; i < RUNS || fc_cpu_s() - began_s < ENOUGH_S; i++) {
        FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
        struct fc_adjoint a;
        struct fc_gradient path[FC_GRADIENTS];
        plain_s = least(plain_s, replay(w, NULL, NULL, NULL));
        double start_s = fc_cpu_s();
        fc_adjoint_open(&a, &w->session.net, link, n_links);
        replay(w, &a, NULL, NULL);
        double recorded_s = fc_cpu_s();
        if (!fc_adjoint_gradients(&a, w->mapping.n_tasks, path, &arena, &w->st)) exit(1);
        size_t bytes = a.n_nodes * sizeof *a.node + a.n_steps * sizeof *a.step + a.n_stretches * sizeof *a.stretch +
                       a.n_ends * sizeof *a.end + a.n_terms * sizeof *a.term + a.n_rates * sizeof *a.rate +
                       a.n_entries * sizeof *a.entry + a.n_uses * sizeof *a.use;
        tape_mb = 1e-6 * (double)bytes;
        fc_adjoint_close(&a);
        double now_s = fc_cpu_s();
        if (now_s - start_s < pass_s) back_s = now_s - recorded_s;
        pass_s = least(pass_s, now_s - start_s);
    }
    printf("%-10s %-20s %9.2f %9.2f %9.2f %9.2f %7.2f\n", machine, job, 1e3 * plain_s, 1e3 * pass_s, 1e3 * back_s,
           tape_mb, pass_s / plain_s);
    fflush(stdout);
    return pass_s / plain_s;
}

static double job_on(const char *machine, size_t j, const struct fc_trace *made)
{
    struct work w;
    struct fc_question q;
    double ratio = open_work(&w, machine, j, made, &q) ? compare(&w, machine, jobs[j].name) : NAN;
    if (w.st.code) fprintf(stderr, "bench_sensitivity: %s\n", w.st.message);
    close_work(&w);
    return ratio;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    double ratio[MOST];
    size_t n = 0;
    printf("%-10s %-20s %9s %9s %9s %9s %7s\n", "machine", "job", "replay ms", "pass ms", "of it back", "tape MB",
           "replays");
    for (size_t i = 0; i < FC_COUNT(machines); i++) {
        if (argc > 1 && !strstr(machines[i], argv[1])) continue;
        for (size_t j = 0; j < FC_COUNT(jobs); j++) {
            struct fc_trace trace = {0};
            if (argc > 2 && !strstr(jobs[j].name, argv[2])) continue;
            if (jobs[j].phases && !make(j, &trace)) return 1;
            double x = job_on(machines[i], j, jobs[j].phases ? &trace : NULL);
            if (jobs[j].phases) fc_trace_free(&trace);
            if (!(x > 0)) return 1;
            ratio[n++] = x;
        }
    }
    if (n == 0) return printf("no such machine or job\n"), 1;
    qsort(ratio, n, sizeof *ratio, ascending);
    printf("derivatives cost %.2f to %.2f replays, %.2f in the median (goal: 1.5)\n", ratio[0], ratio[n - 1],
           (ratio[(n - 1) / 2] + ratio[n / 2]) / 2);
    return 0;
}
