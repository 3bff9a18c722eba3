/* paper.h - a figure in the form of a paper: published values as open marks, ours as lines and filled marks
 * with error bars, or as bars by category. Readable in grey: a series has its own mark, dash and shade beside
 * its colour. */
#pragma once

#include "core/core.h"

enum fc_paper_form {
    FC_PAPER_CURVES, /* x and y are numbers */
    FC_PAPER_BARS,   /* x is a category, series side by side */
    FC_PAPER_ROWS,   /* rows from top to bottom: y is a category, x its value, the band -1..1 shaded */
    FC_PAPER_PANELS  /* curves in several panels, log-log, bytes and microseconds: categories are the panels' titles */
};
enum fc_paper_mark {
    FC_PAPER_PUBLISHED, /* open marks, no line; bars: hollow */
    FC_PAPER_FILLED,    /* the same marks, filled */
    FC_PAPER_OURS,      /* a line with filled marks and error bars; bars: filled */
    FC_PAPER_LINE,      /* a line alone: a model, or many points */
    FC_PAPER_LIMIT      /* a dashed line: a bound of the text */
};
struct fc_paper_series {
    const char *label;
    enum fc_paper_mark mark;
    int style; /* series of one style share colour, shade and form of mark */
    int panel; /* FC_PAPER_PANELS: the number of its panel */
    size_t n, capacity;
    double *x, *y, *low, *high; /* [n]; low and high: the error bar, NaN: none */
};
struct fc_paper_plot {
    const char *name; /* of the files */
    const char *title, *subtitle;
    const char *x_name, *y_name;   /* columns of the table, units at the end: "size_bytes" */
    const char *x_label, *y_label; /* axes: "size (bytes)" */
    enum fc_paper_form form;
    bool log_x, log_y;
    double y_least, y_most; /* range of y; both 0: by the data */
    int n_series, capacity;
    struct fc_paper_series *series;
    int n_categories, category_capacity;
    const char **category; /* [n_categories] */
    const char **note;     /* FC_PAPER_ROWS: [n_categories] at the right end; else NULL */
};

/* Writes DIR/NAME.tsv, .gp, .png, .svg and .pdf; each appears whole or not at all. `gnuplot NAME.gp` in DIR
 * draws them again. FC_NO: gnuplot refused; then .tsv, .gp and its messages stay. */
enum fc_code fc_paper_write(const char *directory, const struct fc_paper_plot *plot, struct fc_status *st);

/* Grow a plot; texts are borrowed. Return the index, -1 out of memory (a point: false). low < high: an error
 * bar. */
int fc_paper_series_add(struct fc_paper_plot *plot, enum fc_paper_mark mark, int style, const char *label);
int fc_paper_category_add(struct fc_paper_plot *plot, const char *name, const char *note);
bool fc_paper_point_add(struct fc_paper_plot *plot, int series, double x, double y, double low, double high);
void fc_paper_free(struct fc_paper_plot *plot);
