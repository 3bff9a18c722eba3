/* percs_multicast.c - PERCS: the multicast on 64 supernodes, Table 6 and Figure 11. x, which the paper does
 * not give, is 12: then indirect routing fits. The reasons of what lies outside: docs/percs.md. */
#include "reproduce/percs.h"

enum { TABLE6, FIG11, N };
static const struct fc_figure figures[N] = {
    [TABLE6] = {"percs-table6", "time of a step, multicast, 64 supernodes", FC_PERCS_PAPER ", Table 6", "percs-64",
                "fabricast predict -m percs-64 -p " FC_PERCS_MULTICAST " --map def,rnm,rdm"},
    [FIG11] = {"percs-fig11", "bytes on the links, multicast, 64 supernodes", FC_PERCS_PAPER ", Figure 11", "percs-64",
               "fabricast load -m percs-64 -p " FC_PERCS_MULTICAST},
};

static void table_6(struct fc_reproduction *f, const struct fc_percs_result *r, const struct fc_percs_result *modulo)
{
    static const double total_ms[FC_PERCS_WAYS] = {
        [FC_DEF] = 54.64, [FC_RNM] = 87.73, [FC_RDM] = 44.24, [FC_DFI] = 17.81, [FC_RDI] = 17.64};
    static const char *const reasons[FC_PERCS_WAYS] = {
        [FC_DEF] = "an LR bound that depends on the hosts of the D links, which the paper does not give: "
                   "41.1 (packed) to "
                   "64.6 ms (modulo)",
        [FC_RDM] = "256 drawers in random places have 256 boundaries of 352 MB for 2016 pairs of supernodes: "
                   "two meet on some D "
                   "link with every seed; two cables a pair would give 41.1 ms and halve DEF in Figure 13"};
    fc_reproduction_axes(f, FC_PAPER_BARS, "mapping", "mapping", "time_ms", "time of a step (ms)");
    int published = fc_reproduction_series(f, FC_PAPER_PUBLISHED, 0, "published"),
        packed = fc_reproduction_series(f, FC_PAPER_OURS, 0, "ours, D links packed, 5 seeds"),
        other = fc_reproduction_series(f, FC_PAPER_OURS, 1, "ours, D links modulo, 5 seeds");
    for (int w = 0, at = 0; w < FC_PERCS_WAYS; w++) {
        struct fc_point_of ms = {f, FC_POINT_BOUND, w >= FC_DFI ? FC_POINT_INFERRED : FC_POINT_PREDICTED, "ms"};
        if (!r[w].map) continue;
        fc_point_percent(ms, total_ms[w], 1e3 * r[w].comm_s, 20, "%s", fc_percs_ways[w]);
        fc_point_half_width(f, 1e3 * (r[w].most_s - r[w].least_s) / 2);
        fc_point_reason(f, reasons[w]);
        fc_point_shown(ms, total_ms[w], 1e3 * modulo[w].comm_s, "%s with d_link: modulo", fc_percs_ways[w]);
        fc_reproduction_category(f, fc_percs_ways[w]);
        fc_reproduction_at(f, published, at, total_ms[w], NAN);
        fc_reproduction_between(f, packed, at, 1e3 * r[w].comm_s, 1e3 * r[w].least_s, 1e3 * r[w].most_s);
        fc_reproduction_between(f, other, at++, 1e3 * modulo[w].comm_s, 1e3 * modulo[w].least_s,
                                1e3 * modulo[w].most_s);
    }
    fc_point_percent((struct fc_point_of){f, FC_POINT_BOUND, FC_POINT_INFERRED, "ms"}, total_ms[FC_RDI],
                     84 * 1048576 / 5e6, 1, "84 MiB on one LR link: RDI");
}

static void figure_11(struct fc_reproduction *f, const struct fc_percs_result *r)
{
    struct fc_point_of text = {f, FC_POINT_BOUND, FC_POINT_PREDICTED, ""};
    const struct fc_load_class *def = &r[FC_DEF].link[FC_PERCS_D];
    fc_point_limits(text, 1, INFINITY,
                    fmin(r[FC_RNM].link[FC_PERCS_D].max_bytes, r[FC_RDM].link[FC_PERCS_D].max_bytes) / def->max_bytes,
                    "RNM, RDM no better: least of their max on D over DEF's");
    for (int w = FC_DFI; w <= FC_RDI; w++) {
        fc_point_limits(text, 0, 0.5, r[w].link[FC_PERCS_D].max_bytes / def->max_bytes,
                        "much less: max on D, %s over DEF", fc_percs_ways[w]);
        fc_point_limits(text, 0, 0.5, r[w].link[FC_PERCS_D].mean_bytes / def->mean_bytes,
                        "much less: mean on D, %s over DEF", fc_percs_ways[w]);
    }
    fc_percs_plot_links(f, r);
}

static enum fc_code make(const struct fc_reproducing *how, struct fc_reproduction *f, struct fc_status *st)
{
    struct fc_percs_result r[FC_PERCS_WAYS], modulo[FC_PERCS_WAYS];
    if (fc_percs_run("percs-64", -1, FC_PERCS_MULTICAST, fc_percs_ways_multicast, false, how->seed, r, st) ||
        fc_percs_run("percs-64", FC_D_MODULO, FC_PERCS_MULTICAST, fc_percs_ways_multicast, false, how->seed, modulo,
                     st))
        return st->code;
    table_6(&f[TABLE6], r, modulo);
    figure_11(&f[FIG11], r);
    return FC_OK;
}

const struct fc_reproduction_ops fc_reproduction_percs_multicast = {figures, N, 3, 3, make};
