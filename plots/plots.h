/* plots.h - figures: a .tsv with units in its head plus a .gp beside it, drawn by gnuplot; plots compute nothing. */
#pragma once

#include "core/core.h"

/* DIR/NAME.ENDING. FC_INPUT: that is longer than a figure's path may be. */
enum { FC_FIGURE_PATH = 1024 };
enum fc_code fc_figure_path(char out[FC_FIGURE_PATH], const char *directory, const char *name, const char *ending,
                            struct fc_status *st);
/* FC_INPUT: the directory cannot be made or written (one that is there is not changed); FC_NO: gnuplot is
 * missing. Before anything is computed. */
enum fc_code fc_plots_check(const char *directory, struct fc_status *st);
enum { FC_MOST_PICTURES = 4 };
/* Runs DIR/NAME.gp with part='.part', so that it writes NAME.PICTURE.part, [n <= FC_MOST_PICTURES], which get their names when all are
 * drawn. FC_NO: gnuplot refused; then its messages stay in NAME.log. */
enum fc_code fc_gnuplot_draw(const char *directory, const char *name, const char *const *pictures, size_t n,
                             struct fc_status *st);
/* Writes DIR/NAME.tsv and DIR/NAME.gp (the script reads the .tsv and writes NAME.png; it can be run by hand in DIR) and
 * runs gnuplot. DIR is made when it does not exist. Each file appears whole or not at all. FC_NO: gnuplot is missing or
 * failed; then .tsv and .gp stay. */
enum fc_code fc_figure_write(const char *directory, const char *name, const struct fc_table *data, const char *script,
                             struct fc_status *st);
/* A figure in the making: add rows to data, print the gnuplot script to stream, then fc_script_draw, also after a failure. */
struct fc_script {
    FILE *stream;                   /* NULL: the status was filled before, or there is no memory */
    struct fc_memory_stream memory; /* of the stream; stays where it is */
    struct fc_table data;
};
void fc_script_open(struct fc_script *script, const struct fc_column *columns, int n_columns, struct fc_status *st);
/* fc_figure_write of both; frees them. Nothing is written where the status is filled. */
enum fc_code fc_script_draw(struct fc_script *script, const char *directory, const char *name, struct fc_status *st);

/* Every text of a script is written by one of these (script.c), as a gnuplot string that shows it letter by letter, what is
 * no letter as fc_visible writes it, and of which nothing is evaluated. */
void fc_script_text(FILE *script, const char *text);
/* Words of the script, and the text behind them. */
void fc_script_words(FILE *script, const char *words, const char *text);
/* A title: its first line, in lines that fit a figure of that width (at most three). */
void fc_script_title(FILE *script, const char *text, double width_in);
/* "set title" of that. */
void fc_script_titled(FILE *script, const char *text, double width_in);
/* The name of a tic in `set xtics`, which is a format. Where it holds a %, gnuplot shows 49 letters. */
void fc_script_tic(FILE *script, const char *text);
/* The file NAME with that ending in the directory of the script: never a pipe, whatever NAME begins with. */
void fc_script_file(FILE *script, const char *name, const char *ending);
/* gnuplot's array name[1..n] of the rows' names: names of others are not drawn from the .tsv, whose backslashes it reads.
 * For row 0, 1, ... of the table: name[int($0)+1]. Rows of `size` bytes begin with their label. */
void fc_script_names(FILE *script, const void *rows, size_t size, size_t n);
/* Bytes of the longest label of such rows. */
size_t fc_script_longest(const void *rows, size_t size, size_t n);
/* Widths of figures as they are printed, inches: of a column, of a page. All text is 8 pt at that size (style.c). */
#define FC_COLUMN_IN 3.3
#define FC_PAGE_IN 7.0
/* Letters of 8 pt that stand side by side in a figure of that width. */
static inline size_t fc_script_letters(double width_in)
{
    return (size_t)(15.5 * width_in); /* DejaVu Sans: some 4.6 pt a letter */
}
/* The lines that all scripts begin with: NAME.png (300 dots an inch), .pdf or .svg of that size in inches, the project's style,
 * no text enhanced, tabs between columns, no comments. What stands behind the title's first line (the command) is a comment. */
void fc_script_start(FILE *script, const char *name, const char *title, double width_in, double height_in);
/* A step between ticks of an axis that is so long: 1, 2 or 5 times a power of ten, at most `most` of them. */
double fc_round_step(double span, int most);
/* Of series: marks (filled) and dashes, so that they differ without colour. */
extern const int fc_series_marks[8], fc_series_dashes[8];
/* Of series, colour-blind safe, neighbours apart in grey (Paul Tol's high-contrast and bright schemes). */
extern const char *const fc_series_colours[8];
/* How times up to most_s are written on an axis: 1e3, "ms". */
struct fc_time_axis {
    double per_s;
    const char *unit;
};
struct fc_time_axis fc_time_axis(double most_s);

/* Titles of figures may have a second line: the command, which is a comment of the script. */

/* Stacked bars of computation and communication time, one a prediction, with the bound as a mark.
 * (figure_predictions.c) */
struct fc_plot_prediction {
    const char *label;                                                          /* "bgl-64 def" */
    double computation_s, communication_s, waiting_s, bound_s, percent_of_peak; /* waiting_s: NaN: not told */
};
enum fc_code fc_plot_predictions(const char *directory, const char *title, const struct fc_plot_prediction *rows,
                                 size_t n, struct fc_status *st);

/* How evenly the links are used: for each prediction its links' busy times, most first (figure_link_loads.c). */
struct fc_plot_links {
    const char *label;
    const double *busy_s; /* [n], descending */
    size_t n;
};
enum fc_code fc_plot_link_loads(const char *directory, const char *title, const struct fc_plot_links *series, size_t n,
                                struct fc_status *st);

/* What each rank of a replayed job does with the time, a frame a prediction (figure_ranks.c). */
struct fc_plot_ranks {
    const char *label;
    const double *compute_s, *finish_s; /* [n] */
    uint32_t n;
    double time_s; /* of the job */
};
enum fc_code fc_plot_ranks(const char *directory, const char *title, const struct fc_plot_ranks *series, size_t n,
                           struct fc_status *st);

/* What ranks do when: a row a rank, or the mean of several (figure_timeline.c); and the share of all ranks that does it
 * (figure_time_profile.c). A frame a prediction. */
struct fc_timeline;
struct fc_plot_timeline {
    const char *label;
    const struct fc_timeline *timeline;
};
enum fc_code fc_plot_timelines(const char *directory, const char *title, const struct fc_plot_timeline *series,
                               size_t n, struct fc_status *st);
enum fc_code fc_plot_time_profiles(const char *directory, const char *title, const struct fc_plot_timeline *series,
                                   size_t n, struct fc_status *st);

/* Throughput over time, a frame a course (figure_throughput.c). */
struct fc_plot_course {
    const char *label;
    const double *value; /* [n] */
    size_t n;
    double bin; /* length of each; the last one ends at n * bin */
};
struct fc_plot_throughput {
    const char *x_name, *x_label, *y_name, *y_label; /* columns and axes, with units */
    double x_scale, y_scale;                         /* axes are the table's numbers times this */
    const struct fc_plot_course *courses;
    size_t n;
    double level, from, to; /* a dashed line at this height, the part from..to that counts; NaN: none */
    const char *level_label, *part_label;
};
enum fc_code fc_plot_throughput(const char *directory, const char *title, const struct fc_plot_throughput *plot,
                                struct fc_status *st);

/* What a time does when parameters are doubled and halved, percent; NaN: not known. Sorts the rows (figure_sensitivity.c). */
struct fc_plot_change {
    const char *label;
    double doubled_percent, halved_percent;
};
enum fc_code fc_plot_sensitivity(const char *directory, const char *title, struct fc_plot_change *rows, size_t n,
                                 struct fc_status *st);

/* Percent of peak as bars, in the order given; `axis` says of what (figure_percent_of_peak.c). */
struct fc_plot_peak {
    const char *label;
    double percent, error_percent, time_s; /* error of the time; NaN: unknown */
};
enum fc_code fc_plot_percent_of_peak(const char *directory, const char *title, const char *axis,
                                     const struct fc_plot_peak *rows, size_t n, struct fc_status *st);

/* Latency and accepted load against offered load, with the saturation point (figure_latency_curve.c). */
struct fc_plot_latency {
    double load, accepted;                    /* flits/node/cycle */
    double latency_cycles, half_width_cycles; /* NaN: unstable, or unknown */
};
struct fc_plot_band { /* of a model; NaN: no steady state, or error unknown */
    double latency_cycles, low_cycles, high_cycles;
};
struct fc_plot_curve {
    const char *label;
    const struct fc_plot_latency *points; /* [n] ascending load */
    size_t n;
    double saturation;                /* offered flits/node/cycle; NaN: unknown */
    const struct fc_plot_band *model; /* [n] at the same loads, or NULL */
    bool measured;                    /* the points hold more than loads */
};
/* What the curves' numbers are where they are not flits/node/cycle and cycles: units in words, and as ends of column names. */
struct fc_plot_axes {
    const char *load, *load_column, *latency, *latency_column; /* "GB/s a node", "GB_per_s", "ns", "ns" */
};
/* axes NULL: as said above. */
enum fc_code fc_plot_latency_curves(const char *directory, const char *title, const struct fc_plot_axes *axes,
                                    const struct fc_plot_curve *curves, size_t n, struct fc_status *st);

/* Layouts of a chip's interfaces: latency against saturation, the front marked (figure_placements.c). */
struct fc_plot_placement {
    const char *label;
    double saturation, latency_cycles; /* flits/node/cycle; NaN: unknown */
    int kind;                          /* sum of 1: of the front, 2: published (marked with its label); 0: searched */
};
enum fc_code fc_plot_placements(const char *directory, const char *title, const struct fc_plot_placement *rows,
                                size_t n, struct fc_status *st);

/* Machines by what they cost and how long their jobs take on average; `currency`: the abscissa's label. Sorts the rows
 * (figure_designs.c). */
struct fc_plot_design {
    const char *label;
    double cost, time_s;
    bool on_front;
};
enum fc_code fc_plot_designs(const char *directory, const char *title, const char *currency,
                             struct fc_plot_design *rows, size_t n, struct fc_status *st);
