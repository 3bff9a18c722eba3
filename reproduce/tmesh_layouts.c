/* tmesh_layouts.c - TMesh: seven layouts of the interfaces on the chip's mesh, Table 1 and Figure 15; the
 * mesh against the standard torus, Figure 8; the mesh links' rate, Figure 16.
 *
 * Table 1, row 3, is a closed form: mean on-chip hops over the 18 legal ordered pairs of interfaces. Row 1 is
 * linear in the on-chip hops h of a packet by the traffic, with two fitted numbers for seven points: latency
 * = a + b h (least squares). Row 2 is the flit-level kernel's. RN nodes are inferred from row 3
 * (docs/place.md). */
#include "reproduce/tmesh.h"

#include <gsl/gsl_fit.h>

enum { TABLE1, FIG15, N };
static const struct fc_figure figures[N] = {
    [TABLE1] = {"tmesh-table1", "seven layouts: latency, throughput, hops", FC_TMESH_PAPER ", Table 1", "tmesh-3456",
                "fabricast place -m tmesh-3456 --time 1s --confirm"},
    [FIG15] = {"tmesh-fig15", "throughput and latency of seven layouts, uniform traffic", FC_TMESH_PAPER ", Figure 15",
               "tmesh-3456", "fabricast curve -m tmesh-3456 -p uniform --loads 20%:100%:20%"},
};
enum { LAYOUTS = FC_PLACE_TABLE1, L840 = 0, L546 = 5, L159 = 6 };
static const struct fc_published_layout *const layouts = fc_place_table1;
static const char unknown_router[] =
    "order and width of the paper's throughputs hang on its router: packet size, buffers, "
    "channels and allocation are not printed";

/* On-chip hops of a packet, cores on every mesh node, traffic that stays on its chip counted as none. */
static double weighted_hops(const struct fc_machine *m)
{
    struct fc_tmesh_shape s = *(const struct fc_tmesh_shape *)m->shape;
    double chips = 1;
    for (int d = 0; d < s.n_dims; d++) chips *= s.k[d];
    s.router_nodes_compute = true;
    fc_tmesh_derive(&s);
    return fc_tmesh_mean_mesh_hops(&s, true) * (chips - 1) / chips;
}

static void judge_hops(struct fc_reproduction *f, const double *turns, const double *hops)
{
    double cycles[LAYOUTS], a, b, c00, c01, c11, squares;
    for (int i = 0; i < LAYOUTS; i++) {
        cycles[i] = layouts[i].latency_cycles;
        fc_point_width((struct fc_point_of){f, FC_POINT_CLOSED_FORM, FC_POINT_INFERRED, "hops"}, layouts[i].turn_hops,
                       turns[i], 0.005, "LN %s: mean on-chip hops", layouts[i].ln);
    }
    gsl_fit_linear(hops, 1, cycles, 1, LAYOUTS, &a, &b, &c00, &c01, &c11, &squares);
    for (int i = 0; i < LAYOUTS; i++)
        fc_point_percent((struct fc_point_of){f, FC_POINT_TIMING, FC_POINT_FITTED, "cycles"}, cycles[i],
                         a + b * hops[i], 2, "LN %s: latency, %.1f + %.2f cycles a weighted hop", layouts[i].ln, a, b);
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
                       "LN %s: maximum throughput", layouts[i].ln);
        fc_point_half_width(f, c[i].half_width);
        fc_point_reason(f, unknown_router);
        fc_reproduction_category(f, layouts[i].ln);
        fc_reproduction_at(f, p, i, layouts[i].throughput_percent, NAN);
        fc_reproduction_at(f, o, i, c[i].most, c[i].half_width);
    }
    double others = 0;
    for (int i = 1; i < LAYOUTS; i++) others = fmax(others, c[i].most);
    fc_point_limits(percent, 0, INFINITY, c[L840].most - others, "8,4,0 has the most throughput, above the next by");
    fc_point_reason(f, unknown_router);
    fc_point_shown(percent, layouts[L546].throughput_percent - layouts[L159].throughput_percent,
                   c[L546].most - c[L159].most, "5,4,6 above 1,5,9, of equal hops, by");
}

static void judge_curves(const struct fc_reproducing *how, struct fc_reproduction *f, const struct fc_tmesh_curve *c)
{
    double others = 0;
    for (int i = 0; i < LAYOUTS; i++) {
        fc_tmesh_plot(f, i, layouts[i].ln, &c[i]);
        if (i != L840) others = fmax(others, c[i].at_65);
        fc_point_percent((struct fc_point_of){f, FC_POINT_FLIT, FC_POINT_FITTED, "cycles"}, layouts[i].latency_cycles,
                         c[i].at_65, how->quick ? 4 : 2, "LN %s: latency at 65 %% of the capacity", layouts[i].ln);
    }
    int published = fc_reproduction_series(f, FC_PAPER_PUBLISHED, 3, "published, 60 to 70 %%");
    for (int i = 0; i < LAYOUTS; i++) fc_reproduction_at(f, published, 65, layouts[i].latency_cycles, NAN);
    fc_point_limits((struct fc_point_of){f, FC_POINT_FLIT, FC_POINT_FITTED, "x"}, 1, INFINITY, c[L840].at_65 / others,
                    "8,4,0 has the longest latency, over the next");
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *f, struct fc_status *st)
{
    struct fc_tmesh_curve c[LAYOUTS];
    double turns[LAYOUTS], hops[LAYOUTS];
    for (int i = 0; i < LAYOUTS; i++) {
        struct fc_bench b;
        fc_reproducing_step(how, i, LAYOUTS);
        if (fc_tmesh_open(&layouts[i].layout, 0, &b, st)) return st->code;
        turns[i] = fc_tmesh_mean_turn_hops(b.machine.shape);
        hops[i] = weighted_hops(&b.machine);
        fc_tmesh_curve_of(how, &b.net, (struct fc_tmesh_beside){0}, &c[i], st);
        fc_bench_close(&b);
        if (st->code) return st->code;
    }
    judge_hops(&f[TABLE1], turns, hops);
    judge_throughput(how, &f[TABLE1], c);
    judge_curves(how, &f[FIG15], c);
    for (int i = 0; i < N && how->quick; i++)
        fc_reproduction_note(
            &f[i], "quick: fewer loads, one seed instead of three; latencies to 4 %, throughputs to 6 points");
    return FC_OK;
}

const struct fc_reproduction_ops fc_reproduction_tmesh_layouts = {figures, N, 12, 80, make};
