/* percs_profile.c - PERCS, Figure 10: the time profile of the 4D stencil under DEF and RNM, as Projections draws it, from
 * a replay of three steps by all 65,536 tasks in which messages share links. The paper prints no numbers and shows other
 * periods of time in the two plots; of the figure only what the text says is held. */
#include "reproduce/percs.h"
#include "core/timeline.h"

static const struct fc_figure figures[] = {
    {"percs-fig10", "ranks computing over time, 4D stencil, 64 supernodes", FC_PERCS_PAPER ", Figure 10", "percs-64",
     "fabricast trace generate -m percs-64 -p " FC_PERCS_4D " --compute 224ms --iterations 3 -o 4d.fct; "
     "fabricast predict -m percs-64 -t 4d.fct --map def,rnm --plot out"},
};
enum { DEF, RNM, MAPS, STEPS = 3 };
#define COMPUTE_S 224e-3 /* of a step */

struct profile {
    struct fc_timeline timeline;
    double wait_percent, most_idle_percent, time_s; /* mean of the run; the bin in which most ranks wait */
};

static double share(const struct fc_timeline *t, uint32_t bin, enum fc_rank_state state)
{
    double s = 0;
    for (uint32_t row = 0; row < t->n_rows; row++) s += fc_timeline_at(t, row, bin)[state];
    return 100 * s / (t->n_ranks * t->bin_s);
}

static enum fc_code replay(struct fc_percs_job *j, const struct fc_trace *trace, const char *map, uint64_t seed,
                           struct profile *p, struct fc_status *st)
{
    FC_SCOPED(fc_mapping_free) struct fc_mapping mapping = {0};
    FC_SCOPED(fc_replay_free) struct fc_replay replay = {0};
    struct fc_replay_settings settings = {
        .network = FC_NET_CONTENTION, .software = j->bench.machine.software, .timeline = &p->timeline};
    if (fc_percs_map(j, map, seed, &mapping, st)) return st->code;
    struct fc_placement placement = {mapping.n_tasks, mapping.node};
    if (!fc_replay_run(&j->bench.net, trace, &placement, &settings, &replay, st)) {
        const struct fc_timeline *t = &p->timeline;
        p->time_s = replay.prediction.time_s;
        for (uint32_t b = 0; b < t->n_bins; b++) {
            p->wait_percent += share(t, b, FC_RANK_WAITS) * t->bin_s / p->time_s;
            p->most_idle_percent = fmax(p->most_idle_percent, share(t, b, FC_RANK_WAITS));
        }
    }
    return st->code;
}

static void show(struct fc_reproduction *f, const struct profile *p)
{
    struct fc_point_of percent = {f, FC_POINT_BOUND, FC_POINT_PREDICTED, "%"};
    fc_point_limits(percent, 50, 100, p[DEF].most_idle_percent,
                    "DEF: gaps between computation when most processors wait; at most so many do");
    fc_point_limits(percent, 50, 100,
                    100 * (1 - p[RNM].wait_percent * p[RNM].time_s / (p[DEF].wait_percent * p[DEF].time_s)),
                    "most of the idle time disappears with RNM: share of DEF's waiting");
    fc_point_shown(percent, NAN, p[DEF].wait_percent, "waiting of DEF, share of all ranks' time");
    fc_point_shown(percent, NAN, p[RNM].wait_percent, "waiting of RNM (the text: negligible)");
    fc_reproduction_axes(f, FC_PAPER_CURVES, "time_ms", "time (ms)", "computing_percent", "ranks that compute (%)");
    f->plot.y_most = 110;
    static const char *const names[MAPS] = {"DEF", "RNM"};
    for (int m = DEF; m < MAPS; m++) {
        const struct fc_timeline *t = &p[m].timeline;
        int s = fc_reproduction_series(f, FC_PAPER_LINE, m, "ours, %s, bins of %.2g ms", names[m], 1e3 * t->bin_s);
        for (uint32_t b = 0; b < t->n_bins; b++) { /* both ends: a step */
            double y = share(t, b, FC_RANK_COMPUTES);
            fc_reproduction_at(f, s, 1e3 * b * t->bin_s, y, NAN);
            fc_reproduction_at(f, s, 1e3 * (b + 1) * t->bin_s, y, NAN);
        }
    }
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *f, struct fc_status *st)
{
    FC_SCOPED(fc_percs_close) struct fc_percs_job j = {0};
    struct fc_trace trace;
    struct profile p[MAPS] = {0};
    if (fc_percs_open(&j, "percs-64", -1, FC_PERCS_4D, st)) return st->code;
    if (!fc_trace_generate(&j.demand, STEPS, COMPUTE_S, &trace, st)) {
        for (int m = DEF; m < MAPS && !st->code; m++) {
            fc_reproducing_step(how, m, MAPS);
            replay(&j, &trace, m == DEF ? "def" : "rnm", how->seed, &p[m], st);
        }
        if (!st->code) show(f, p);
        fc_trace_free(&trace);
    }
    for (int m = DEF; m < MAPS; m++) fc_timeline_free(&p[m].timeline);
    return st->code;
}

const struct fc_reproduction_ops fc_reproduction_percs_profile = {figures, FC_COUNT(figures), 10, 10, make};
