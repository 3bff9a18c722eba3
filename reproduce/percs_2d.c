/* percs_2d.c - PERCS: Table 1 and Figure 2 (closed forms), and the 2D stencil on 64 supernodes, Table 4 and
 * Figure 5. The reasons of what lies outside: docs/percs.md. */
#include "reproduce/percs.h"

/* ---- Table 1, Figure 2 ---- */

enum { TABLE1, FIG2, N_FORMS };
static const struct fc_figure forms[N_FORMS] = {
    [TABLE1] = {"percs-table1", "effective bandwidth of a message, 2D stencil of 16K tasks", FC_PERCS_PAPER ", Table 1",
                "percs-16", "fabricast load -m percs-16 -p stencil2d:grid=128x128,bytes=64KiB"},
    [FIG2] = {"percs-fig2", "links of the tiers by supernodes", FC_PERCS_PAPER ", Figure 2", "percs-16 to percs-512",
              "fabricast machines percs-64"},
};

static const struct mapped {
    const char *map, *label;
    double sharers[FC_PERCS_CLASSES], gb_per_s[FC_PERCS_CLASSES], d_used;
} mapped[] = {{"def", "default", {32, 32, 128}, {0.75, 0.156, 0.078}, 16},
              {"shapes:8x4/16x16/32x32", "good", {8, 8, 32}, {3.0, 0.625, 0.313}, 32}};

static void rows_1(struct fc_reproduction *f, const struct mapped *m, const struct fc_percs_result *r, int published,
                   int ours)
{
    static const double class_gb_per_s[] = {24, 5, 10};
    struct fc_point_of stated = {f, FC_POINT_CLOSED_FORM, FC_POINT_STATED, ""},
                       rate = {f, FC_POINT_CLOSED_FORM, FC_POINT_STATED, "GB/s"};
    for (int c = 0; c < FC_PERCS_CLASSES; c++) {
        double sharers = r->link[c].max_bytes / 65536, gb_per_s = class_gb_per_s[c] / sharers;
        fc_point_percent(stated, m->sharers[c], sharers, 0, "%s mapping, %s: sharers", m->label, fc_percs_classes[c]);
        fc_point_width(rate, m->gb_per_s[c], gb_per_s, 0.0005 + 1e-12, "%s mapping, %s: bandwidth of each", m->label,
                       fc_percs_classes[c]);
        fc_reproduction_category(f, fc_reproduction_text(f, "%s, %s", m->label, fc_percs_classes[c]));
        fc_reproduction_at(f, published, f->plot.n_categories - 1, m->gb_per_s[c], NAN);
        fc_reproduction_at(f, ours, f->plot.n_categories - 1, gb_per_s, NAN);
    }
    fc_point_percent(stated, m->d_used, (double)r->link[FC_PERCS_D].used / 2, 0, "section 3: D cables used, %s mapping",
                     m->label);
}

/* Sharers of the busiest link; ways to and from D links not counted, as the paper's table does. */
static enum fc_code table_1(struct fc_reproduction *f, uint64_t seed, struct fc_status *st)
{
    static const int rules[] = {FC_D_FREE, -1};
    fc_reproduction_axes(f, FC_PAPER_BARS, "mapping_class", "mapping, link class", "GB_per_s",
                         "bandwidth of each (GB/s)");
    f->plot.log_y = true;
    int published = fc_reproduction_series(f, FC_PAPER_PUBLISHED, 0, "published"),
        ours = fc_reproduction_series(f, FC_PAPER_OURS, 0, "ours");
    for (int real = 0; real < 2; real++) {
        FC_SCOPED(fc_percs_close) struct fc_percs_job j = {0};
        if (fc_percs_open(&j, "percs-16", rules[real], "stencil2d:grid=128x128,bytes=64KiB", st)) return st->code;
        for (int i = 0; i < 2 && !st->code; i++) {
            struct fc_percs_result r;
            if (fc_percs_once(&j, mapped[i].map, false, seed, &r, st)) break;
            if (!real) rows_1(f, &mapped[i], &r, published, ours);
            struct fc_point_of stated = {f, FC_POINT_CLOSED_FORM, FC_POINT_STATED, ""};
            if (!real && i == 0)
                fc_point_percent(stated, 240, (double)r.link[FC_PERCS_D].count, 0, "section 3: of D links there");
            for (int c = 0; c < FC_PERCS_CLASSES && real; c++)
                fc_point_shown(stated, mapped[i].sharers[c], r.link[c].max_bytes / 65536,
                               "%s mapping, %s: sharers with the real ways to and from D links", mapped[i].label,
                               fc_percs_classes[c]);
        }
    }
    return st->code;
}

static enum fc_code figure_2(struct fc_reproduction *f, struct fc_status *st)
{
    static const struct {
        const char *machine;
        double supernodes;
    } sizes[] = {{"percs-16", 16}, {"percs-64", 64}, {"percs-300", 300}, {"percs-512", 512}};
    static const char *const names[] = {"LL and LR", "D"};
    fc_reproduction_axes(f, FC_PAPER_CURVES, "supernodes", "supernodes", "links", "directed links");
    f->plot.log_x = f->plot.log_y = true;
    int published = fc_reproduction_series(f, FC_PAPER_PUBLISHED, 0, "published: 992/(n-1) times the D links"), ours[2];
    for (int t = 0; t < 2; t++) ours[t] = fc_reproduction_series(f, FC_PAPER_OURS, t, "ours, %s", names[t]);
    for (size_t i = 0; i < FC_COUNT(sizes); i++) {
        FC_SCOPED(fc_bench_close) struct fc_bench b = {0};
        struct fc_facts facts;
        if (fc_bench_open(&b, sizes[i].machine, NULL, st)) return st->code;
        if (!fc_network_facts(&b.net, &facts, st)) {
            double first = (double)(facts.class_links[FC_PERCS_LL] + facts.class_links[FC_PERCS_LR]),
                   second = (double)facts.class_links[FC_PERCS_D], ratio = 992 / (sizes[i].supernodes - 1);
            struct fc_point_of stated = {f, FC_POINT_CLOSED_FORM, FC_POINT_STATED, ""};
            fc_point_percent(stated, ratio, first / second, 1e-9, "first-tier links for every D link, %g supernodes",
                             sizes[i].supernodes);
            fc_reproduction_at(f, published, sizes[i].supernodes, ratio * second, NAN);
            fc_reproduction_at(f, ours[0], sizes[i].supernodes, first, NAN);
            fc_reproduction_at(f, ours[1], sizes[i].supernodes, second, NAN);
        }
    }
    return st->code;
}

static enum fc_code make_forms(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st)
{
    return table_1(&r[TABLE1], how->seed, st) ? st->code : figure_2(&r[FIG2], st);
}

const struct fc_reproduction_ops fc_reproduction_percs_forms = {forms, N_FORMS, 1, 1, make_forms};

/* ---- Table 4, Figure 5 ---- */

enum { TABLE4, FIG5, N_2D };
static const struct fc_figure stencil[N_2D] = {
    [TABLE4] = {"percs-table4", "time of a step less its computation, 2D stencil, 64 supernodes",
                FC_PERCS_PAPER ", Table 4", "percs-64",
                "fabricast predict -m percs-64 -p " FC_PERCS_2D " --compute 479ms --map def,bnm,bdm,bsm,rnm,rdm"},
    [FIG5] = {"percs-fig5", "bytes on the links, 2D stencil, 64 supernodes", FC_PERCS_PAPER ", Figure 5", "percs-64",
              "fabricast load -m percs-64 -p " FC_PERCS_2D " --map bsm"},
};
#define COMPUTE_MS 479
static const char no_software[] =
    "some 1.1 ms a step, +-0.6, are no matter of links (BSM is slower than BDM, no link carries "
    "more): the simulator's software, for which the paper gives no figure";

static void table_4(struct fc_reproduction *f, const struct fc_percs_result *r)
{
    static const double total_ms[FC_PERCS_WAYS] = {481.70, 481.74, 480.07, 480.90, 480.71, 481.03, 480.07, 479.74};
    struct fc_point_of ms = {f, FC_POINT_BOUND, FC_POINT_PREDICTED, "ms"},
                       order = {f, FC_POINT_BOUND, FC_POINT_PREDICTED, ""},
                       with = {f, FC_POINT_BOUND, FC_POINT_INFERRED, "ms"};
    double constant_ms = 0;
    fc_reproduction_axes(f, FC_PAPER_BARS, "mapping", "mapping", "time_ms", "time less 479 ms of computation (ms)");
    int published = fc_reproduction_series(f, FC_PAPER_PUBLISHED, 0, "published"),
        ours = fc_reproduction_series(f, FC_PAPER_OURS, 0, "ours: links alone, 5 seeds"),
        shifted = fc_reproduction_series(f, FC_PAPER_OURS, 1, "ours + one constant for all");
    for (int w = 0; w < FC_PERCS_WAYS; w++)
        constant_ms += (total_ms[w] - COMPUTE_MS - 1e3 * r[w].comm_s) / FC_PERCS_WAYS;
    for (int w = 0; w < FC_PERCS_WAYS; w++) {
        double comm_ms = total_ms[w] - COMPUTE_MS;
        fc_point_width(ms, comm_ms, 1e3 * r[w].comm_s, 1, "%s: less 479", fc_percs_ways[w]);
        fc_point_half_width(f, 1e3 * (r[w].most_s - r[w].least_s) / 2);
        fc_point_reason(f, no_software);
        fc_reproduction_category(f, fc_percs_ways[w]);
        fc_reproduction_at(f, published, w, comm_ms, NAN);
        fc_reproduction_between(f, ours, w, 1e3 * r[w].comm_s, 1e3 * r[w].least_s, 1e3 * r[w].most_s);
        fc_reproduction_at(f, shifted, w, 1e3 * r[w].comm_s + constant_ms, NAN);
    }
    for (int w = 0; w < FC_PERCS_WAYS; w++)
        fc_point_width(with, total_ms[w] - COMPUTE_MS, 1e3 * r[w].comm_s + constant_ms, 0.7,
                       "%s, with one constant (%.2f ms) for all", fc_percs_ways[w], constant_ms);
    fc_point_limits(order, 1, INFINITY, fc_percs_least(r, FC_DEF, FC_BNM) / fc_percs_greatest(r, FC_BDM, FC_RDI),
                    "DEF and BNM over the slowest of the others");
    fc_point_limits(order, -INFINITY, 1, r[FC_RDI].comm_s / fc_percs_least(r, FC_DEF, FC_DFI),
                    "RDI over the fastest of the others");
}

static double total(const struct fc_percs_result *r, int c)
{
    return (double)r->link[c].used * r->link[c].mean_bytes;
}

static void figure_5(struct fc_reproduction *f, const struct fc_percs_result *r, const struct fc_percs_result *apart)
{
    static const int steps[][2] = {{FC_BNM, FC_BDM}, {FC_BDM, FC_BSM}, {FC_BSM, FC_DFI}, {FC_BSM, FC_RDI}};
    struct fc_point_of order = {f, FC_POINT_BOUND, FC_POINT_PREDICTED, ""};
    fc_point_limits(order, -INFINITY, 1, r[FC_BNM].link[FC_PERCS_D].mean_bytes / r[FC_DEF].link[FC_PERCS_D].mean_bytes,
                    "mean bytes of D links fall, BNM over DEF");
    for (size_t i = 0; i < FC_COUNT(steps); i++)
        fc_point_limits(order, -INFINITY, 0.99,
                        r[steps[i][1]].link[FC_PERCS_D].mean_bytes / r[steps[i][0]].link[FC_PERCS_D].mean_bytes,
                        "the same, %s over %s", fc_percs_ways[steps[i][1]], fc_percs_ways[steps[i][0]]);
    fc_point_limits(order, 1, INFINITY, total(&apart[FC_BSM], FC_PERCS_LL) / total(&apart[FC_DEF], FC_PERCS_LL),
                    "more on LL links when blocked, BSM over DEF, ways to D links apart");
    fc_point_limits(order, 1, INFINITY, total(&r[FC_BSM], FC_PERCS_LL) / total(&r[FC_DEF], FC_PERCS_LL),
                    "the same with them");
    fc_percs_plot_links(f, r);
}

static enum fc_code make_2d(const struct fc_reproducing *how, struct fc_reproduction *f, struct fc_status *st)
{
    struct fc_percs_result r[FC_PERCS_WAYS], apart[FC_PERCS_WAYS];
    if (fc_percs_run("percs-64", -1, FC_PERCS_2D, fc_percs_ways_64, false, how->seed, r, st) ||
        /* what tasks of one supernode send each other, alone */
        fc_percs_run("percs-64", FC_D_FREE, FC_PERCS_2D, fc_percs_ways_64, false, how->seed, apart, st))
        return st->code;
    table_4(&f[TABLE4], r);
    figure_5(&f[FIG5], r, apart);
    return FC_OK;
}

const struct fc_reproduction_ops fc_reproduction_percs_2d = {stencil, N_2D, 3, 3, make_2d};
