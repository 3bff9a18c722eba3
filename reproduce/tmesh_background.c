/* tmesh_background.c - TMesh: what traffic within the chips costs the traffic between them, Figure 17: mesh links of
 * 8 GB/s, every core beside sends 30, 50 and 80 % of a core's peak to the other cores of its chip, uniformly (the paper does
 * not say how), by the flit-level kernel.
 *
 * A core's peak is 2 Gb/s (section 3.2: 4 GB/s a chip of 16), of which a mesh link carries 2 % at 80 %. Read as what the
 * core's port carries it contradicts the text (docs/notes/place.md). The paper's curves are not in the text, which says: at
 * 30 and 50 % hardly any influence, at 80 % some difference in latency. */
#include "reproduce/tmesh.h"

static const struct fc_figure figures[] = {
    {"tmesh-fig17", "TMesh beside traffic within its chips, uniform traffic", FC_TMESH_PAPER ", Figure 17",
     "tmesh-3456",
     "fabricast flit -m tmesh-3456 --set links.mesh.bandwidth=8GB/s -p uniform --load 65% --background "
     "blocks:nodes=16,load=0.025"}};
enum { BESIDE = 4 };
static const double percents[BESIDE] = {0, 30, 50, 80};
#define MESH_BYTES_PER_S 8e9
#define CORE_BYTES_PER_S 0.25e9

static void judge(const struct fc_reproducing *how, struct fc_reproduction *f, const struct fc_tmesh_curve *c)
{
    struct fc_point_of x = {f, FC_POINT_FLIT, FC_POINT_PREDICTED, "x"};
    for (int i = 1; i < BESIDE; i++) {
        bool last = i + 1 == BESIDE;
        double most = c[i].most / c[0].most, spread = hypot(c[i].half_width / c[i].most, c[0].half_width / c[0].most);
        if (!last)
            fc_point_percent(x, 1, most, how->quick ? 4 : 2, "%g %% within chips: most accepted over none",
                             percents[i]);
        else
            fc_point_shown(x, NAN, most, "%g %% within chips: most accepted over none", percents[i]);
        fc_point_half_width(f, most * spread);
        if (!last)
            fc_point_percent(x, 1, c[i].at_65 / c[0].at_65, how->quick ? 3 : 2,
                             "%g %% within chips: latency at 65 %% over none", percents[i]);
        else
            fc_point_limits(x, 1, 1.1, c[i].at_65 / c[0].at_65,
                            "%g %% within chips: latency at 65 %% over none: somewhat more", percents[i]);
    }
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *f, struct fc_status *st)
{
    struct fc_tmesh_curve c[BESIDE];
    struct fc_bench b;
    if (fc_tmesh_open(NULL, MESH_BYTES_PER_S, &b, st)) return st->code;
    for (int i = 0; i < BESIDE && !st->code; i++) {
        struct fc_tmesh_beside beside = {CORE_BYTES_PER_S * percents[i] / 100};
        fc_reproducing_step(how, i, BESIDE);
        fc_tmesh_curve_of(how, &b.net, beside, &c[i], st);
    }
    fc_bench_close(&b);
    if (st->code) return st->code;
    judge(how, f, c);
    for (int i = 0; i < BESIDE; i++)
        fc_tmesh_plot(f, i, fc_reproduction_text(f, "%g %% of a core's peak within chips", percents[i]), &c[i]);
    if (how->quick) fc_reproduction_note(f, "quick: fewer loads, one seed instead of three");
    return FC_OK;
}

const struct fc_reproduction_ops fc_reproduction_tmesh_background = {figures, 1, 6, 60, make};
