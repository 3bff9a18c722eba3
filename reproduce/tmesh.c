/* tmesh.c - runs of the flit-level kernel on TMesh's networks: uniform traffic at growing loads, percent of
 * the ideal throughput. "Maximum throughput" is the most that is accepted at any load; its percent are of the
 * paper's capacity, 2.67 GB/s a chip: of the 4 GB/s a chip may inject, its torus carries at most 66.4 %.
 * Windows and machine are those that fit Table 1 (docs/place.md). */
#include "reproduce/tmesh.h"

#include <string.h>

enum { LATENCY_AT = 65, WINDOW = 2500, SEEDS = 3 };
static const int full_latencies[] = {10, 20, 30, 40, 50, 60, LATENCY_AT}, quick_latencies[] = {10, 40, LATENCY_AT},
                 full_loads[] = {70, 74, 78, 82, 86, 90}, quick_loads[] = {70, 78, 86};

/* What runs need. */
struct tmesh {
    const struct fc_reproducing *how;
    const struct fc_network *net;
    struct fc_demand demand, local; /* local: within chips */
    double ideal, local_flits_per_cycle;
};

/* One run of warm-up and window (0: chosen): accepted percent of the ideal, latency. */
static enum fc_code run(const struct tmesh *t, double percent, uint64_t seed, uint64_t window, double *accepted,
                        double *latency, struct fc_status *st)
{
    struct fc_flit_settings settings;
    FC_SCOPED(fc_flit_free) struct fc_flit_result r = {0};
    *accepted = *latency = NAN;
    fc_flit_defaults(&settings);
    settings.seed = seed;
    if (t->local_flits_per_cycle > 0) settings.background = &t->local;
    settings.background_flits_per_cycle = t->local_flits_per_cycle;
    settings.progress = t->how->progress;
    settings.load_flits_per_cycle = t->ideal * percent / 100;
    settings.warmup_cycles = settings.measure_cycles = window;
    if (window == WINDOW) settings.most_cycles = 2 * WINDOW + 1;
    if (fc_flit_run(t->net, &t->demand, NULL, &settings, &r, st)) return st->code;
    *accepted = 100 * r.accepted_flits_per_node_cycle / t->ideal;
    *latency = r.stable ? r.latency_mean_cycles : (double)NAN;
    if (r.deadlock) fc_refuse(st, FC_NO, "the kernel runs into a deadlock: %.400s", r.deadlock_text);
    return st->code;
}

static enum fc_code latencies(const struct tmesh *t, struct fc_tmesh_curve *c, struct fc_status *st)
{
    const int *loads = t->how->quick ? quick_latencies : full_latencies;
    int n = t->how->quick ? (int)FC_COUNT(quick_latencies) : (int)FC_COUNT(full_latencies);
    for (int i = 0; i < n; i++, c->n++) {
        c->load[c->n] = loads[i];
        if (run(t, loads[i], t->how->seed, 0, &c->accepted[c->n], &c->latency[c->n], st)) return st->code;
        c->at_65 = c->latency[c->n];
    }
    return FC_OK;
}

/* Mean over seeds of the most accepted; 95 % by Student's t, 2 degrees of freedom. */
static enum fc_code throughput(const struct tmesh *t, struct fc_tmesh_curve *c, struct fc_status *st)
{
    const int *loads = t->how->quick ? quick_loads : full_loads;
    int n = t->how->quick ? (int)FC_COUNT(quick_loads) : (int)FC_COUNT(full_loads), seeds = t->how->quick ? 1 : SEEDS;
    double sum = 0, squares = 0, accepted, latency;
    for (int seed = 0; seed < seeds; seed++) {
        double most = 0;
        for (int i = 0; i < n; i++) {
            if (run(t, loads[i], t->how->seed + (uint64_t)seed, WINDOW, &accepted, &latency, st)) return st->code;
            most = fmax(most, accepted);
        }
        sum += most;
        squares += most * most;
    }
    c->most = sum / seeds;
    c->half_width = seeds == 1 ? (double)NAN : 4.303 * sqrt(fmax(0, squares - sum * c->most) / (seeds - 1) / seeds);
    return FC_OK;
}

static enum fc_code make_local(const struct fc_network *net, double bytes_per_s, struct tmesh *t, struct fc_status *st)
{
    const struct fc_machine *m = net->machine;
    char pattern[64];
    if (bytes_per_s == 0) return FC_OK;
    snprintf(pattern, sizeof pattern, "blocks:nodes=%u", fc_tmesh(net)->n_computing);
    t->local_flits_per_cycle = bytes_per_s / m->clock_hz / m->router.flit_bytes;
    return fc_demand_from_pattern(net, pattern, 1, &t->local, st);
}

enum fc_code fc_tmesh_curve_of(const struct fc_reproducing *how, const struct fc_network *net,
                               struct fc_tmesh_beside beside, struct fc_tmesh_curve *c, struct fc_status *st)
{
    struct tmesh t = {.how = how, .net = net};
    struct fc_flit_settings settings;
    *c = (struct fc_tmesh_curve){.n = 0};
    if (fc_demand_from_pattern(net, "uniform", how->seed, &t.demand, st)) return st->code;
    t.demand.open_loop = true;
    fc_flit_defaults(&settings);
    if (!make_local(net, beside.bytes_per_s, &t, st) &&
        !fc_flit_ideal_throughput(net, &t.demand, &settings, &t.ideal, st) && !latencies(&t, c, st))
        throughput(&t, c, st);
    fc_demand_free(&t.local);
    fc_demand_free(&t.demand);
    return st->code;
}

enum fc_code fc_tmesh_open(const struct fc_bridge_layout *layout, double mesh_bytes_per_s, struct fc_bench *b,
                           struct fc_status *st)
{
    char edits[128] = "";
    const uint32_t *u = layout ? layout->node : NULL;
    if (layout)
        snprintf(edits, sizeof edits, "network.bridges={x+: %u, x-: %u, y+: %u, y-: %u, z+: %u, z-: %u}", u[0], u[1],
                 u[2], u[3], u[4], u[5]);
    if (fc_bench_open(b, "tmesh-3456", edits, st) || mesh_bytes_per_s == 0) return st->code;
    fc_network_free(&b->net);
    for (int i = 0; i < b->machine.n_classes; i++)
        if (!strcmp(b->machine.classes[i].name, "mesh")) b->machine.classes[i].bandwidth_bytes_per_s = mesh_bytes_per_s;
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
