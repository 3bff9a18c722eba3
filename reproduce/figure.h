/* figure.h - what the files of figures build their results with. Private to the room. The first failure stays
 * in r->st, so a figure's function need not look at each call. */
#pragma once

#include "reproduce/reproduce.h"

/* ---- points: `what` is a printf format ---- */

/* What all points of a part of a figure have in common. */
struct fc_point_of {
    struct fc_reproduction *r;
    enum fc_point_kind kind;
    enum fc_point_origin origin;
    const char *unit;
};
static inline struct fc_point_of fc_of(struct fc_reproduction *r, enum fc_point_kind kind, enum fc_point_origin origin,
                                       const char *unit)
{
    return (struct fc_point_of){r, kind, origin, unit};
}
/* Within `percent` of the published number; within `width` of it. */
void fc_point_percent(struct fc_point_of of, double published, double ours, double percent, const char *what, ...)
    FC_PRINTF(5, 6);
void fc_point_width(struct fc_point_of of, double published, double ours, double width, const char *what, ...)
    FC_PRINTF(5, 6);
/* low <= ours <= high (infinite: open): a statement of the text. */
void fc_point_limits(struct fc_point_of of, double low, double high, double ours, const char *what, ...)
    FC_PRINTF(5, 6);
/* For information: not judged. */
void fc_point_shown(struct fc_point_of of, double published, double ours, const char *what, ...) FC_PRINTF(4, 5);
/* Of the point added last. */
void fc_point_half_width(struct fc_reproduction *r, double half_width);
void fc_point_reason(struct fc_reproduction *r, const char *reason);

/* ---- the plot ---- */

/* A text in the reproduction's arena. */
const char *fc_reproduction_text(struct fc_reproduction *r, const char *format, ...) FC_PRINTF(2, 3);
void fc_reproduction_axes(struct fc_reproduction *r, enum fc_paper_form form, const char *x_name, const char *x_label,
                          const char *y_name, const char *y_label);
int fc_reproduction_series(struct fc_reproduction *r, enum fc_paper_mark mark, int style, const char *label, ...)
    FC_PRINTF(4, 5);
void fc_reproduction_category(struct fc_reproduction *r, const char *name);
/* half_width NaN: no error bar. */
void fc_reproduction_at(struct fc_reproduction *r, int series, double x, double y, double half_width);
void fc_reproduction_between(struct fc_reproduction *r, int series, double x, double y, double low, double high);
/* What a quick run left out. */
void fc_reproduction_note(struct fc_reproduction *r, const char *note);

/* A plot of the points, for figures without one of their own: where each lies between its limits (rows.c). */
void fc_reproduction_rows(struct fc_reproduction *r);
/* Frees what it holds. */
void fc_reproduction_clear(struct fc_reproduction *r);

/* ---- progress and machines ---- */

/* Part i of n of the group's work; the solvers' progress then runs within it. */
void fc_reproducing_step(const struct fc_reproducing *how, int i, int n);

/* A machine with its network. */
struct fc_bench {
    struct fc_machine machine;
    struct fc_network net;
};
/* A shipped machine with settings KEY=VALUE as --set takes them, apart at ';'; "" or NULL: as shipped. Free with
 * fc_bench_close. */
enum fc_code fc_bench_open(struct fc_bench *b, const char *name, const char *settings, struct fc_status *st);
void fc_bench_close(struct fc_bench *b);
