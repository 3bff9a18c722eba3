/* bgl_response.c - Blue Gene/L: response time under uniform traffic, Figures 2 (routing, channels, paths) and
 * 4 (arbitration), by the flit-level kernel on 8x8x8 instead of 32K nodes. The curves are not printed as
 * numbers: held is what the text says of them. */
#include "reproduce/bluegene.h"

enum { FIG2, FIG4, N };
static const struct fc_figure figures[N] = {
    [FIG2] = {"bgl-fig2", "response time by routing, channels and paths, uniform traffic", FC_BGL_PAPER ", Figure 2",
              "bgl-512", "fabricast curve -m bgl-512 -p uniform --loads 10%:90%:20%"},
    [FIG4] = {"bgl-fig4", "response time by arbitration, uniform traffic", FC_BGL_PAPER ", Figure 4", "bgl-512",
              "fabricast curve -m bgl-512 -p uniform --loads 10%:90%:20%"},
};

struct response {
    double mean, half; /* cycles over the seeds; NaN: a run was unstable */
    double accepted;   /* links busy, percent */
};

static enum fc_code respond(const struct fc_reproducing *how, const char *edits, double busy, int seeds,
                            struct response *x, struct fc_status *st)
{
    double least = INFINITY, most = 0;
    *x = (struct response){0, NAN, 0};
    for (int i = 0; i < seeds; i++) {
        struct fc_flit_settings settings = fc_bgl_settings(how);
        FC_SCOPED(fc_bgl_done) struct fc_bgl run = {0};
        char all[256];
        settings.load_flits_per_cycle = fc_bgl_load(busy);
        settings.warmup_cycles = how->quick ? 30000 : 60000;
        settings.measure_cycles = how->quick ? 40000 : 100000;
        settings.seed = how->seed + (uint64_t)i;
        snprintf(all, sizeof all, "%s%s", edits, FC_BGL_ENDLESS);
        if (fc_bgl_start(&run, all, "uniform", &settings, st)) return st->code;
        double mean = run.r.stable ? run.r.latency_mean_cycles : (double)NAN;
        x->mean += mean / seeds;
        x->accepted += 100 * run.r.accepted_flits_per_node_cycle / fc_bgl_load(1) / seeds;
        least = fmin(least, mean);
        most = fmax(most, mean);
        x->half = seeds > 1 ? (most - least) / 2 : run.r.latency_half_width_cycles;
    }
    return FC_OK;
}

/* Curves of configurations over loads: x[configuration][load]; the loads of `careful` with three seeds
 * (quick: two). */
struct curves {
    int n, n_loads;
    const char *const *names, *const *edits;
    const double *loads;
    const bool *careful;
};

static enum fc_code run_curves(const struct fc_reproducing *how, struct fc_reproduction *r, const struct curves *c,
                               int from, int all, struct response x[][8], struct fc_status *st)
{
    fc_reproduction_axes(r, FC_PAPER_CURVES, "links_busy_percent", "offered: links busy (%)", "response_cycles",
                         "response time (cycles of 5.7 ns)");
    for (int i = 0; i < c->n; i++) {
        int s = fc_reproduction_series(r, FC_PAPER_OURS, i, "%s", c->names[i]);
        bool saturated = false;
        for (int l = 0; l < c->n_loads; l++) {
            int seeds = c->careful[l] ? (how->quick ? 2 : 3) : 1;
            x[i][l] = (struct response){NAN, NAN, NAN};
            fc_reproducing_step(how, from + i * c->n_loads + l, all);
            if (saturated && !c->careful[l]) continue;
            if (respond(how, c->edits[i], c->loads[l], seeds, &x[i][l], st)) return st->code;
            saturated = isnan(x[i][l].mean);
            fc_reproduction_at(r, s, 100 * c->loads[l], x[i][l].mean, x[i][l].half);
        }
    }
    return FC_OK;
}

enum { L20, L50, L65, L80, L90, L95, LOADS };
static const double loads[LOADS] = {0.2, 0.5, 0.65, 0.8, 0.9, 0.95};

static enum fc_code figure_2(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    enum { DETERMINISTIC, V1P1, V2P1, V4P1, V2P2, V4P4, KINDS };
    static const char *const edits[KINDS] = {"router.arbitration=random; router.vcs=1; router.routing=dimension-order",
                                             "router.arbitration=random; router.vcs=1; router.paths=1",
                                             "router.arbitration=random; router.vcs=2; router.paths=1",
                                             "router.arbitration=random; router.vcs=4; router.paths=1",
                                             "router.arbitration=random; router.vcs=2; router.paths=2",
                                             "router.arbitration=random; router.vcs=4; router.paths=4"};
    static const char *const names[KINDS] = {"deterministic", "1 dynamic VC, 1 path", "2 VCs, 1 path",
                                             "4 VCs, 1 path", "2 VCs, 2 paths",       "4 VCs, 4 paths"};
    static const bool careful[LOADS] = {[L50] = true, [L80] = true};
    struct response x[KINDS][8], edge;
    struct curves c = {KINDS, LOADS, names, edits, loads, careful};
    if (run_curves(how, r, &c, 0, KINDS * LOADS * 5 / 3, x, st)) return st->code;
    if (respond(how, edits[DETERMINISTIC], 0.95, how->quick ? 1 : 3, &edge, st)) return st->code;
    for (int i = 0; i < KINDS; i++) {
        fc_point_shown(fc_bgl_of(r, "cycles"), NAN, x[i][L50].mean, "%s: response, links 50 %% busy", names[i]);
        fc_point_shown(fc_bgl_of(r, "cycles"), NAN, x[i][L80].mean, "%s: 80 %% (-: saturated)", names[i]);
    }
    fc_point_limits(fc_bgl_of(r, "%"), -INFINITY, 70, 100 * x[V1P1][L50].mean / x[DETERMINISTIC][L50].mean,
                    "dynamic far below deterministic: share of its response at 50 %% busy");
    fc_point_limits(fc_bgl_of(r, "%"), -INFINITY, isnan(x[DETERMINISTIC][L80].mean) ? 70 : -INFINITY, edge.accepted,
                    "deterministic saturates with the links busy for");
    double alone = x[V1P1][L80].mean - x[V2P1][L80].mean, together = x[V1P1][L80].mean - x[V2P2][L80].mean,
           more = x[V2P2][L80].mean - x[V4P4][L80].mean;
    fc_point_limits(fc_bgl_of(r, "%"), -INFINITY, how->quick ? 60 : 50, 100 * alone / together,
                    "2 channels on 1 path gain little, of the gain of 2 on 2 paths");
    fc_point_limits(fc_bgl_of(r, "%"), 0, 50, 100 * more / together, "4 and 4 marginal, of the gain of 2 and 2");
    return FC_OK;
}

static enum fc_code figure_4(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    enum { BASE, JSQ, SLQ, BOTH, KINDS };
    static const char *const edits[KINDS] = {"router.arbitration=random", "router.arbitration=jsq",
                                             "router.arbitration=slq", "router.arbitration=jsq-slq"};
    static const char *const names[KINDS] = {"random (base)", "JSQ", "SLQ", "JSQ and SLQ"};
    static const bool careful[LOADS] = {[L95] = true};
    struct response x[KINDS][8];
    struct curves c = {KINDS, LOADS, names, edits, loads, careful};
    if (run_curves(how, r, &c, KINDS * LOADS * 3 / 2, KINDS * LOADS * 5 / 2, x, st)) return st->code;
    int p = fc_reproduction_series(r, FC_PAPER_PUBLISHED, JSQ, "published: 20 %% below our base");
    fc_reproduction_at(r, p, 95, 0.8 * x[BASE][L95].mean, NAN);
    fc_point_width(fc_bgl_of(r, "%"), -20, 100 * (x[JSQ][L95].mean / x[BASE][L95].mean - 1), how->quick ? 10 : 6,
                   "links 95 %% busy: JSQ changes the response by");
    fc_point_half_width(r, 100 * hypot(x[JSQ][L95].half / x[JSQ][L95].mean, x[BASE][L95].half / x[BASE][L95].mean));
    fc_point_limits(fc_bgl_of(r, "%"), -3, 3, 100 * (x[SLQ][L65].mean / x[BASE][L65].mean - 1),
                    "SLQ in light traffic (65 %%): little");
    fc_point_shown(fc_bgl_of(r, "%"), NAN, 100 * (x[SLQ][L95].mean / x[BASE][L95].mean - 1),
                   "links 95 %% busy: SLQ alone");
    fc_point_shown(fc_bgl_of(r, "%"), NAN, 100 * (x[BOTH][L95].mean / x[JSQ][L95].mean - 1), "SLQ beside JSQ");
    return FC_OK;
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    static const char shorter[] = "quick: 40,000 cycles measured instead of 100,000, fewer seeds, limits wider";
    if (figure_2(how, &r[FIG2], st) || figure_4(how, &r[FIG4], st)) return st->code;
    if (how->quick) fc_reproduction_note(&r[FIG2], shorter);
    if (how->quick) fc_reproduction_note(&r[FIG4], shorter);
    return FC_OK;
}

const struct fc_reproduction_ops fc_reproduction_bgl_response = {figures, N, 13, 50, make};
