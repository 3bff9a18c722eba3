/* tmesh_layouts.c - TMesh: seven layouts of the interfaces on the chip's mesh, Table 1 and Figure 15.
 *
 * Row 3 is a closed form: mean on-chip hops over the 18 legal ordered pairs of interfaces, from which the RN
 * nodes are inferred. Rows 1 and 2 are the flit-level kernel's, with one set of parameters for all seven (machine
 * tmesh-3456): what the paper states, and packets, buffers and delays fitted to these rows (docs/place.md). The
 * paper takes latencies "at 60 to 70 % of throughput", we at 65. */
#include "reproduce/tmesh.h"

#include "mapping/place/place_service.h"
#include "models/family_tmesh.h"

enum { TABLE1, FIG15, N };
static const struct fc_figure figures[N] = {
    [TABLE1] = {"tmesh-table1", "seven layouts: latency, throughput, hops", FC_TMESH_PAPER ", Table 1",
                "tmesh-3456", "fabricast place -m tmesh-3456 --time 1s --confirm"},
    [FIG15] = {"tmesh-fig15", "throughput and latency of seven layouts, uniform traffic",
               FC_TMESH_PAPER ", Figure 15", "tmesh-3456",
               "fabricast curve -m tmesh-3456 -p uniform --loads 20%:100%:20%"},
};
enum { LAYOUTS = 7, L840 = 0, L546 = 5, L159 = 6 };
static const struct {
    const char *name;
    struct fc_layout layout; /* nodes of x+ x- y+ y- z+ z- */
    double cycles, throughput_percent, hops;
} layouts[LAYOUTS] = {
    {"8,4,0", {{11, 8, 7, 4, 3, 0}}, 383.1, 84.0, 2.89},  {"0,2,4", {{1, 0, 3, 2, 5, 4}}, 341.3, 75.9, 1.78},
    {"4,5,6", {{7, 4, 9, 5, 10, 6}}, 333.9, 77.2, 1.78},  {"9,6,4", {{10, 9, 7, 6, 5, 4}}, 321.0, 78.0, 1.67},
    {"4,5,9", {{8, 4, 6, 5, 10, 9}}, 321.2, 79.6, 1.56},  {"5,4,6", {{9, 5, 8, 4, 10, 6}}, 318.8, 80.2, 1.56},
    {"1,5,9", {{2, 1, 6, 5, 10, 9}}, 315.5, 74.0, 1.56},
};
#define LATENCY_SHARE 0.65
static const char unknown_router[] =
    "order and width of the paper's throughputs hang on its router: packet size, buffers, channels, allocation and "
    "length of the runs are not printed; no reading of them that we tried gives the order in more than one seed "
    "(docs/place.md)";

static void judge_hops_and_latency(struct fc_reproduction *f, const double *turns, const double *latency)
{
    for (int i = 0; i < LAYOUTS; i++)
        fc_point_width((struct fc_point_of){f, FC_POINT_CLOSED_FORM, FC_POINT_INFERRED, "hops"},
                       layouts[i].hops, turns[i], 0.005, "LN %s: mean on-chip hops", layouts[i].name);
    for (int i = 0; i < LAYOUTS; i++) {
        fc_point_percent((struct fc_point_of){f, FC_POINT_FLIT, FC_POINT_FITTED, "cycles"}, layouts[i].cycles,
                         latency[i], 2, "LN %s: latency at %g %% of the ideal", layouts[i].name,
                         100 * LATENCY_SHARE);
        fc_point_reason(f, unknown_router);
    }
}

/* Spearman's rank correlation of the throughputs with the published ones, of which none are equal. */
static double spearman(const struct fc_tmesh_curve *c)
{
    double sum = 0;
    for (int i = 0; i < LAYOUTS; i++) {
        int a = 0, b = 0;
        for (int j = 0; j < LAYOUTS; j++) {
            a += layouts[j].throughput_percent < layouts[i].throughput_percent;
            b += c[j].most < c[i].most || (c[j].most <= c[i].most && j < i);
        }
        sum += (a - b) * (a - b);
    }
    return 1 - 6 * sum / (LAYOUTS * (LAYOUTS * LAYOUTS - 1));
}

static void judge_throughput(const struct fc_reproducing *how, struct fc_reproduction *f,
                             const struct fc_tmesh_curve *c)
{
    struct fc_point_of percent = {f, FC_POINT_FLIT, FC_POINT_FITTED, "%"};
    fc_reproduction_axes(f, FC_PAPER_BARS, "layout", "interfaces of the layout (LN)", "throughput_percent",
                         "maximum throughput (% of capacity)");
    int p = fc_reproduction_series(f, FC_PAPER_PUBLISHED, 0, "published"),
        o = fc_reproduction_series(f, FC_PAPER_OURS, 0, "ours, kernel");
    for (int i = 0; i < LAYOUTS; i++) {
        fc_point_width(percent, layouts[i].throughput_percent, c[i].most, how->quick ? 6 : 3,
                       "LN %s: maximum throughput", layouts[i].name);
        fc_point_half_width(f, c[i].half_width);
        fc_point_reason(f, unknown_router);
        fc_reproduction_category(f, layouts[i].name);
        fc_reproduction_at(f, p, i, layouts[i].throughput_percent, NAN);
        fc_reproduction_at(f, o, i, c[i].most, c[i].half_width);
    }
    double others = 0;
    for (int i = 1; i < LAYOUTS; i++) others = fmax(others, c[i].most);
    fc_point_limits(percent, 0, INFINITY, c[L840].most - others,
                    "8,4,0 has the most throughput, above the next by");
    fc_point_reason(f, unknown_router);
    fc_point_limits(percent, 0, INFINITY, c[L546].most - c[L159].most,
                    "5,4,6 has more than 1,5,9 at equal hops (published: 6.2), by");
    fc_point_reason(f, unknown_router);
    fc_point_limits((struct fc_point_of){f, FC_POINT_FLIT, FC_POINT_FITTED, ""}, 0.8, 1, spearman(c),
                    "order of the throughputs: Spearman's rank correlation");
    fc_point_reason(f, unknown_router);
}

static void judge_curves(struct fc_reproduction *f, const struct fc_tmesh_curve *c)
{
    struct fc_point_of of = {f, FC_POINT_FLIT, FC_POINT_PREDICTED, "x"};
    int at = 0;
    while (at + 1 < c[0].n && c[0].load[at] < 62)
        at++; /* the load nearest to the paper's saturation point that all bear */
    double others = 0;
    for (int i = 0; i < LAYOUTS; i++) {
        fc_tmesh_plot(f, i, layouts[i].name, &c[i]);
        if (i != L840) others = fmax(others, c[i].latency[at]);
        fc_point_shown((struct fc_point_of){f, FC_POINT_FLIT, FC_POINT_PREDICTED, "cycles"},
                       layouts[i].cycles, c[i].latency[at],
                       "LN %s: latency at %g %% offered, our router's cycles", layouts[i].name,
                       c[i].load[at]);
    }
    fc_point_limits(of, 1, INFINITY, c[L840].latency[at] / others,
                    "8,4,0 has the longest latency at %g %%, over the next", c[0].load[at]);
    fc_point_reason(f, unknown_router);
}

/* Layout i by the kernel. */
static enum fc_code measure(const struct fc_reproducing *how, const struct fc_machine *base, int i,
                            struct fc_tmesh_curve *c, double *turns, double *latency, struct fc_status *st)
{
    struct fc_machine machine;
    struct fc_network net;
    if (fc_layout_machine(base, &layouts[i].layout, -1, &machine, st)) return st->code;
    *turns = fc_tmesh_mean_turn_hops(machine.shape);
    if (!fc_network_build(&machine, &net, st)) {
        if (!fc_tmesh_curve_of(how, &net, c, st))
            fc_tmesh_latency_at(how, &net, c->ideal, LATENCY_SHARE, latency, st);
        fc_network_free(&net);
    }
    fc_machine_free(&machine);
    return st->code;
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *f, struct fc_status *st)
{
    struct fc_tmesh_curve c[LAYOUTS];
    struct fc_machine base;
    double turns[LAYOUTS], latency[LAYOUTS];
    if (fc_machine_load("tmesh-3456", &base, st)) return st->code;
    for (int i = 0; i < LAYOUTS && !st->code; i++) {
        fc_reproducing_step(how, i, LAYOUTS);
        measure(how, &base, i, &c[i], &turns[i], &latency[i], st);
    }
    fc_machine_free(&base);
    if (st->code) return st->code;
    judge_hops_and_latency(&f[TABLE1], turns, latency);
    judge_throughput(how, &f[TABLE1], c);
    judge_curves(&f[FIG15], c);
    for (int i = 0; i < N && how->quick; i++)
        fc_reproduction_note(&f[i], "quick: six loads, one seed; throughputs to 6 points");
    return FC_OK;
}

const struct fc_reproduction_ops fc_reproduction_tmesh_layouts = {figures, N, 40, 160, make};
