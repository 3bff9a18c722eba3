/* points.c - points and series of a reproduction, and the arithmetic of deviations.
 *
 *   deviation = 100 (ours - published) / |published|     tolerance = 100 (high - published) / |published|
 *
 * A point is inside when low <= ours <= high; limits given as a share or width about the published number are
 * widened by 1e-9 of it, so that a point exactly on the limit is inside. NaN is never inside. */
#include "reproduce/figure.h"

#include <stdlib.h>
#include <string.h>

const char *const fc_point_kinds[] = {"closed-form", "bound", "queueing", "flit", "timing", NULL};
const char *const fc_point_origins[] = {"stated", "fitted", "inferred", "predicted", NULL};

static const char *text_of(struct fc_reproduction *r, const char *format, va_list arguments)
{
    char text[400];
    vsnprintf(text, sizeof text, format, arguments);
    const char *copy = fc_copy_text(&r->arena, text, &r->st);
    return copy ? copy : "";
}

const char *fc_reproduction_text(struct fc_reproduction *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = text_of(r, format, arguments);
    va_end(arguments);
    return text;
}

/* ---- points ---- */

static void add(struct fc_point_of of, struct fc_point point)
{
    struct fc_reproduction *r = of.r;
    if ((r->n_points & (r->n_points - 1)) == 0) { /* full at powers of two */
        struct fc_point *more = realloc(r->points, (r->n_points ? 2 * r->n_points : 1) * sizeof *more);
        if (!more) {
            fc_out_of_memory(&r->st, "the points of a figure");
            return;
        }
        r->points = more;
    }
    point.unit = of.unit;
    point.kind = of.kind;
    point.origin = of.origin;
    point.half_width = NAN;
    point.deviation_percent = 100 * (point.ours - point.published) / fabs(point.published);
    bool about = !isnan(point.published) && isfinite(point.low) && isfinite(point.high) && point.judged;
    point.tolerance_percent = about ? 100 * (point.high - point.published) / fabs(point.published) : (double)NAN;
    double slack = about ? 1e-9 * fabs(point.published) : 0;
    point.inside = point.judged && point.ours >= point.low - slack && point.ours <= point.high + slack;
    r->points[r->n_points++] = point;
    r->n_judged += point.judged;
    r->n_inside += point.inside;
}

#define WHAT(of, what, text)                                                                                           \
    va_list arguments;                                                                                                 \
    va_start(arguments, what);                                                                                         \
    const char *text = text_of((of).r, what, arguments);                                                               \
    va_end(arguments)

/* Judged by its distance from the published number. */
static void add_about(struct fc_point_of of, const char *text, double published, double ours, double width)
{
    add(of, (struct fc_point){.what = text,
                              .published = published,
                              .ours = ours,
                              .low = published - width,
                              .high = published + width,
                              .judged = true});
}

void fc_point_percent(struct fc_point_of of, double published, double ours, double percent, const char *what, ...)
{
    WHAT(of, what, text);
    add_about(of, text, published, ours, percent / 100 * fabs(published));
}

void fc_point_width(struct fc_point_of of, double published, double ours, double width, const char *what, ...)
{
    WHAT(of, what, text);
    add_about(of, text, published, ours, width);
}

void fc_point_limits(struct fc_point_of of, double low, double high, double ours, const char *what, ...)
{
    WHAT(of, what, text);
    add(of, (struct fc_point){.what = text, .published = NAN, .ours = ours, .low = low, .high = high, .judged = true});
}

void fc_point_shown(struct fc_point_of of, double published, double ours, const char *what, ...)
{
    WHAT(of, what, text);
    add(of, (struct fc_point){.what = text, .published = published, .ours = ours, .low = -INFINITY, .high = INFINITY});
}

void fc_point_half_width(struct fc_reproduction *r, double half_width)
{
    if (r->n_points) r->points[r->n_points - 1].half_width = half_width;
}

void fc_point_reason(struct fc_reproduction *r, const char *reason)
{
    if (r->n_points) r->points[r->n_points - 1].reason = reason;
}

char *fc_point_limits_text(const struct fc_point *point, char *out, size_t size)
{
    if (!point->judged)
        snprintf(out, size, "-");
    else if (!isnan(point->tolerance_percent))
        snprintf(out, size, "+-%.3g %%", point->tolerance_percent);
    else if (isinf(point->low))
        snprintf(out, size, "<= %.4g", point->high);
    else if (isinf(point->high))
        snprintf(out, size, ">= %.4g", point->low);
    else
        snprintf(out, size, "%.4g..%.4g", point->low, point->high);
    return out;
}

double fc_reproduction_worst(const struct fc_reproduction *r)
{
    double worst = NAN;
    for (size_t i = 0; i < r->n_points; i++) {
        double d = r->points[i].deviation_percent;
        if (r->points[i].judged && !isnan(d) && !(fabs(worst) >= fabs(d))) worst = d;
    }
    return worst;
}

/* ---- the plot ---- */

void fc_reproduction_axes(struct fc_reproduction *r, enum fc_paper_form form, const char *x_name, const char *x_label,
                          const char *y_name, const char *y_label)
{
    r->plot.form = form;
    r->plot.x_name = x_name;
    r->plot.x_label = x_label;
    r->plot.y_name = y_name;
    r->plot.y_label = y_label;
}

int fc_reproduction_series(struct fc_reproduction *r, enum fc_paper_mark mark, int style, const char *label, ...)
{
    va_list arguments;
    va_start(arguments, label);
    int s = fc_paper_series_add(&r->plot, mark, style, text_of(r, label, arguments));
    va_end(arguments);
    if (s < 0) fc_out_of_memory(&r->st, "the points of a figure");
    return s;
}

void fc_reproduction_category(struct fc_reproduction *r, const char *name)
{
    if (fc_paper_category_add(&r->plot, name, NULL) < 0) fc_out_of_memory(&r->st, "the points of a figure");
}

void fc_reproduction_at(struct fc_reproduction *r, int series, double x, double y, double half_width)
{
    fc_reproduction_between(r, series, x, y, y - half_width, y + half_width);
}

void fc_reproduction_between(struct fc_reproduction *r, int series, double x, double y, double low, double high)
{
    if (series >= 0 && !fc_paper_point_add(&r->plot, series, x, y, low, high))
        fc_out_of_memory(&r->st, "the points of a figure");
}

void fc_reproduction_note(struct fc_reproduction *r, const char *note)
{
    r->note = note;
}

void fc_reproduction_clear(struct fc_reproduction *r)
{
    free(r->points);
    fc_paper_free(&r->plot);
    fc_arena_free(&r->arena);
    memset(r, 0, sizeof *r);
}
