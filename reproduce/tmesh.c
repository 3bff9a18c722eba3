/* tmesh.c - runs of the flit-level kernel on TMesh's networks: uniform traffic at growing loads. "Maximum
 * throughput" is the most that is accepted at any load, percent of the ideal throughput, which is the paper's
 * capacity, 2.67 GB/s a chip: of the 4 GB/s a chip may inject, its torus carries at most 66.4 %.
 *
 * The paper does not say how long it measures: WINDOW cycles behind as many of warm-up belong to the parameters
 * fitted to its Table 1 (docs/place.md). Beyond saturation longer runs accept less. */
#include "reproduce/tmesh.h"

#include "solvers/calibration/calibration.h"

#include <string.h>

enum { WINDOW = 2500, SEEDS = 3, ABOUT = 2 };
static const int full_loads[] = {10, 20, 30, 40, 50, 58, 62, 66, 70, 74, 78, 82, 86, 90, 100},
                 quick_loads[] = {20, 40, 62, 66, 78, 86};
_Static_assert(FC_COUNT(full_loads) <= FC_TMESH_LOADS, "room for all loads");

/* One run: accepted percent of the ideal, latency (NULL: not asked for). */
static enum fc_code run(const struct fc_reproducing *how, const struct fc_network *net,
                        const struct fc_demand *demand, double load, uint64_t seed, double ideal, double *accepted,
                        double *latency, struct fc_status *st)
{
    struct fc_flit_settings settings;
    struct fc_flit_result r;
    *accepted = NAN;
    fc_flit_defaults(&settings);
    settings.seed = seed;
    settings.progress = how->progress;
    settings.load_flits_per_cycle = ideal * load / 100;
    settings.warmup_cycles = settings.measure_cycles = WINDOW;
    settings.most_cycles = 2 * WINDOW + 1;
    if (fc_flit_run(net, demand, NULL, &settings, &r, st)) return st->code;
    *accepted = 100 * r.accepted_flits_per_node_cycle / ideal;
    if (latency) *latency = r.stable ? r.latency_mean_cycles : (double)NAN;
    if (r.deadlock) fc_refuse(st, FC_NO, "the kernel runs into a deadlock: %.400s", r.deadlock_text);
    fc_flit_free(&r);
    return st->code;
}

/* More seeds about the load of the most accepted, c->load[best]; 95 % by Student's t. */
static enum fc_code repeat(const struct fc_reproducing *how, const struct fc_network *net,
                           const struct fc_demand *demand, int best, struct fc_tmesh_curve *c, struct fc_status *st)
{
    double sum = c->most, squares = c->most * c->most;
    int first = best > ABOUT ? best - ABOUT : 0, last = best + ABOUT < c->n ? best + ABOUT : c->n - 1;
    for (int seed = 1; seed < SEEDS; seed++) {
        double most = 0, accepted;
        for (int i = first; i <= last; i++) {
            if (run(how, net, demand, c->load[i], how->seed + (uint64_t)seed, c->ideal, &accepted, NULL, st))
                return st->code;
            most = fmax(most, accepted);
        }
        sum += most;
        squares += most * most;
    }
    c->most = sum / SEEDS;
    c->half_width = 4.303 * sqrt(fmax(0, squares - sum * c->most) / (SEEDS - 1) / SEEDS);
    return FC_OK;
}

enum fc_code fc_tmesh_curve_of(const struct fc_reproducing *how, const struct fc_network *net,
                               struct fc_tmesh_curve *c, struct fc_status *st)
{
    struct fc_demand demand;
    struct fc_flit_settings settings;
    const int *loads = how->quick ? quick_loads : full_loads;
    int best = 0;
    *c = (struct fc_tmesh_curve){.n = how->quick ? (int)FC_COUNT(quick_loads) : (int)FC_COUNT(full_loads),
                                 .half_width = NAN};
    if (fc_demand_from_pattern(net, "uniform", how->seed, &demand, st)) return st->code;
    demand.open_loop = true;
    fc_flit_defaults(&settings);
    fc_flit_ideal_throughput(net, &demand, &settings, &c->ideal, st);
    for (int i = 0; i < c->n && !st->code; i++) {
        c->load[i] = loads[i];
        run(how, net, &demand, loads[i], how->seed, c->ideal, &c->accepted[i], &c->latency[i], st);
        if (c->accepted[i] > c->most) c->most = c->accepted[i], best = i;
    }
    if (!how->quick && !st->code) repeat(how, net, &demand, best, c, st);
    fc_demand_free(&demand);
    return st->code;
}

enum fc_code fc_tmesh_latency_at(const struct fc_reproducing *how, const struct fc_network *net, double ideal,
                                 double share, double *cycles, struct fc_status *st)
{
    struct fc_demand demand;
    struct fc_flit_settings settings;
    struct fc_flit_result r;
    *cycles = NAN;
    if (fc_demand_from_pattern(net, "uniform", how->seed, &demand, st)) return st->code;
    demand.open_loop = true;
    fc_flit_defaults(&settings);
    settings.seed = how->seed;
    settings.progress = how->progress;
    settings.load_flits_per_cycle = share * ideal;
    if (!fc_flit_run(net, &demand, NULL, &settings, &r, st)) {
        *cycles = r.stable ? r.latency_mean_cycles : (double)NAN;
        fc_flit_free(&r);
    }
    fc_demand_free(&demand);
    return st->code;
}

enum fc_code fc_tmesh_model_of(const struct fc_reproducing *how, const struct fc_network *net,
                               const struct fc_tmesh_curve *kernel, struct fc_tmesh_curve *model,
                               struct fc_status *st)
{
    enum { MOST_HOPS = 40000000 }; /* of the table of turns */
    struct fc_calibration calibration;
    struct fc_demand demand = {0};
    struct fc_turns turns = {0};
    struct fc_calibrated *queueing = NULL;
    struct fc_flit_settings settings;
    bool found = false;
    *model = *kernel;
    model->half_width = NAN;
    fc_flit_defaults(&settings);
    if (fc_calibration_find(net, &calibration, &found, st)) return st->code;
    if (!found) return fc_refuse(st, FC_NO, "%s: no calibration beside its file", net->machine->name);
    if (!fc_demand_from_pattern(net, "uniform", how->seed, &demand, st)) {
        demand.open_loop = true;
        if (!fc_turns_make(net, &demand, &settings, MOST_HOPS, &turns, st) &&
            !fc_calibrated_open(&calibration, &turns, "uniform", &settings, &queueing, st))
            model->most = 100 * fc_calibrated_saturation(queueing, NULL) / kernel->ideal;
    }
    for (int i = 0; i < model->n && !st->code; i++) {
        struct fc_calibrated_answer a;
        if (fc_calibrated_solve(queueing, kernel->ideal * model->load[i] / 100, &a, st)) break;
        model->accepted[i] = a.model.stable ? model->load[i] : model->most;
        model->latency[i] = a.model.stable ? a.model.latency_mean_cycles : (double)NAN;
    }
    fc_calibrated_close(queueing);
    fc_turns_free(&turns);
    fc_demand_free(&demand);
    fc_calibration_free(&calibration);
    return st->code;
}

enum fc_code fc_tmesh_open(const char *name, double mesh_bytes_per_s, struct fc_bench *b,
                           struct fc_status *st)
{
    if (mesh_bytes_per_s == 0) return fc_bench_open(b, name, NULL, st);
    memset(b, 0, sizeof *b);
    if (fc_machine_load(name, &b->machine, st)) return st->code;
    for (int i = 0; i < b->machine.n_classes; i++)
        if (!strcmp(b->machine.classes[i].name, "mesh"))
            b->machine.classes[i].bandwidth_bytes_per_s = mesh_bytes_per_s;
    if (fc_network_build(&b->machine, &b->net, st)) fc_machine_free(&b->machine);
    return st->code;
}

void fc_tmesh_plot(struct fc_reproduction *f, int style, const char *label, const struct fc_tmesh_curve *c)
{
    if (f->plot.n_series == 0)
        fc_reproduction_axes(f, FC_PAPER_CURVES, "accepted_percent", "throughput (% of the torus' capacity)",
                             "latency_cycles", "packet latency (cycles)");
    int s = fc_reproduction_series(f, FC_PAPER_OURS, style, "%s", label);
    for (int i = 0; i < c->n; i++) fc_reproduction_at(f, s, c->accepted[i], c->latency[i], NAN);
}
