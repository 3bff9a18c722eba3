/* tmesh_links.c - TMesh: the mesh against the standard torus, Figure 8, and the rate of the mesh's links,
 * Figure 16, by the flit-level kernel, Figure 8 also by the queueing model with the shipped calibrations. The
 * standard torus' router is not printed: twice the delay of a mesh router, all else alike. */
#include "reproduce/tmesh.h"

enum { FIG8, FIG16, N };
static const struct fc_figure figures[N] = {
    [FIG8] = {"tmesh-fig8", "TMesh against the standard torus, uniform traffic", FC_TMESH_PAPER ", Figure 8",
              "tmesh-3456, tmesh-3456-central",
              "fabricast curve -m tmesh-3456-central -p uniform --loads 20%:100%:20%"},
    [FIG16] = {"tmesh-fig16", "TMesh by the rate of the mesh links, uniform traffic", FC_TMESH_PAPER ", Figure 16",
               "tmesh-3456", "fabricast curve -m tmesh-3456 -p uniform --loads 20%:100%:20%"},
};

static enum fc_code curve(const struct fc_reproducing *how, const char *machine, double mesh_bytes_per_s,
                          struct fc_tmesh_curve *c, struct fc_status *st)
{
    FC_SCOPED(fc_bench_close) struct fc_bench b = {0};
    if (machine ? fc_bench_open(&b, machine, NULL, st) : fc_tmesh_open(NULL, mesh_bytes_per_s, &b, st)) return st->code;
    fc_tmesh_curve_of(how, &b.net, (struct fc_tmesh_beside){0}, c, st);
    return st->code;
}

static void judge_8(struct fc_reproduction *f, const struct fc_tmesh_curve *mesh, const struct fc_tmesh_curve *torus)
{
    struct fc_point_of percent = {f, FC_POINT_FLIT, FC_POINT_INFERRED, "%"},
                       of = {f, FC_POINT_FLIT, FC_POINT_PREDICTED, "x"};
    fc_point_width(percent, 13.4, 100 * (mesh->most / torus->most - 1), 4,
                   "maximum throughput above the standard torus'");
    fc_point_half_width(f, 100 * mesh->most / torus->most *
                               hypot(mesh->half_width / mesh->most, torus->half_width / torus->most));
    fc_point_reason(f, "the standard torus' router is not printed: its buffers, channels and allocation "
                       "decide what it loses");
    fc_point_limits(of, 1, 1.5, mesh->latency[0] / torus->latency[0],
                    "latency over the torus', light traffic: slightly higher");
    fc_point_reason(f, "as above; the way over the chip to a central router is not modelled, which flatters the torus");
    fc_point_shown(percent, NAN, mesh->most, "TMesh: most accepted, of the torus links' capacity");
    fc_point_shown(percent, NAN, torus->most, "standard torus: the same");
    fc_tmesh_plot(f, 0, "TMesh, LN{0,2,4} RN{1,3,5}", mesh);
    fc_tmesh_plot(f, 1, "standard torus", torus);
}

static enum fc_code figure_16(const struct fc_reproducing *how, struct fc_reproduction *f,
                              struct fc_tmesh_curve *shipped, struct fc_status *st)
{
    static const double rates[] = {8e9, 12e9, 16e9, 25.6e9};
    struct fc_tmesh_curve c[FC_COUNT(rates)];
    for (size_t i = 0; i < FC_COUNT(rates); i++) {
        bool last = i + 1 == FC_COUNT(rates);
        fc_reproducing_step(how, 2 + (int)i, 2 + (int)FC_COUNT(rates));
        if (how->quick && !last && i > 0) continue;
        if (last)
            c[i] = *shipped;
        else if (curve(how, NULL, rates[i], &c[i], st))
            return st->code;
        fc_tmesh_plot(f, (int)i, fc_reproduction_text(f, "mesh links of %g GB/s", rates[i] / 1e9), &c[i]);
    }
    fc_point_percent((struct fc_point_of){f, FC_POINT_FLIT, FC_POINT_PREDICTED, "x"}, 1,
                     c[0].most / c[FC_COUNT(rates) - 1].most, how->quick ? 4 : 2,
                     "most accepted with 8 GB/s over that with 25.6: hardly any difference");
    fc_point_reason(
        f, "with 8 GB/s packets take longer through the chip and hold its channels longer, which this router's "
           "buffers do not cover");
    return FC_OK;
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *f, struct fc_status *st)
{
    struct fc_tmesh_curve mesh, torus;
    fc_reproducing_step(how, 0, 6);
    if (curve(how, NULL, 0, &mesh, st)) return st->code;
    fc_reproducing_step(how, 1, 6);
    if (curve(how, "tmesh-3456-central", 0, &torus, st)) return st->code;
    judge_8(&f[FIG8], &mesh, &torus);
    if (figure_16(how, &f[FIG16], &mesh, st)) return st->code;
    for (int i = 0; i < N && how->quick; i++)
        fc_reproduction_note(&f[i],
                             "quick: fewer loads, one seed instead of three; mesh links of 8 and 25.6 GB/s only");
    return FC_OK;
}

const struct fc_reproduction_ops fc_reproduction_tmesh_links = {figures, N, 5, 50, make};
