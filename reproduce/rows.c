/* rows.c - the plot of a figure that has only points: a row each, where ours lies within its limits.
 *
 * Abscissa, in tolerances: 0 is the published number (or the middle of two limits), -1 and 1 are the limits.
 * With one limit L > 0 only: ours / L below it from above, -L / ours above it from below: 1 is the limit, 0
 * far from it. Beyond
 * +-4 the mark stays at the edge; the number stands at the end of the row. */
#include "reproduce/figure.h"

static double place(const struct fc_point *p)
{
    double low = p->low, high = p->high, x;
    if (isinf(low) && isinf(high)) return NAN;
    if (isinf(low))
        x = high > 0 ? p->ours / high : 1 + (p->ours - high) / (fabs(high) + 1);
    else if (isinf(high))
        x = p->ours > 0 && low > 0 ? -low / p->ours : -1 + (p->ours - low) / (fabs(low) + 1);
    else {
        double middle = isnan(p->published) ? (low + high) / 2 : p->published, half = high - middle;
        x = fabs(p->ours - middle) <= 1e-9 * fabs(middle) ? 0 : half > 0 ? (p->ours - middle) / half : INFINITY;
    }
    return fmax(-4, fmin(4, x));
}

void fc_reproduction_rows(struct fc_reproduction *r)
{
    fc_reproduction_axes(r, FC_PAPER_ROWS, "tolerances", "deviation, in tolerances (shaded: inside)", "row", "");
    int inside = fc_reproduction_series(r, FC_PAPER_OURS, 0, "inside"),
        outside = fc_reproduction_series(r, FC_PAPER_PUBLISHED, 2, "outside");
    for (size_t i = 0; i < r->n_points; i++) {
        const struct fc_point *p = &r->points[i];
        char limits[64];
        const char *note, *gap = p->unit[0] ? " " : "";
        if (!p->judged) continue;
        fc_point_limits_text(p, limits, sizeof limits);
        if (isnan(p->published))
            note = fc_reproduction_text(r, "%s, ours %.4g%s%s", limits, p->ours, gap, p->unit);
        else
            note = fc_reproduction_text(r, "%.4g, ours %.4g%s%s (%+.1f %%)", p->published, p->ours, gap, p->unit,
                                        p->deviation_percent);
        int row = fc_paper_category_add(&r->plot, p->what, note);
        if (row < 0)
            fc_out_of_memory(&r->st, "the points of a figure");
        else
            fc_reproduction_between(r, p->inside ? inside : outside, place(p), row, NAN, NAN);
    }
}
