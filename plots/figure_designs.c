/* figure_designs.c - machines by cost (abscissa) and mean time of their jobs: to the left and down is better. What no other
 * machine beats in both is joined by a line of steps, below and right of which there is none. */
#include "plots/labels.h"
#include "plots/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct fc_column columns[] = {
    {"machine", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
    {"cost", FC_CELL_REAL, NULL, FC_NUMBER, NULL},
    {"mean_time_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"on_front", FC_CELL_INT, NULL, FC_NUMBER, NULL},
};

/* The front first, which a line joins. */
static int by_cost(const void *a, const void *b)
{
    const struct fc_plot_design *x = a, *y = b;
    if (x->on_front != y->on_front) return x->on_front ? -1 : 1;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return x->time_s < y->time_s ? -1 : x->time_s > y->time_s;
}

struct range {
    double low, high;
};

/* With a tenth of its length at either end. */
static struct range range_of(const struct fc_plot_design *rows, size_t n, bool cost)
{
    struct range r = {INFINITY, -INFINITY};
    for (size_t i = 0; i < n; i++) {
        double value = cost ? rows[i].cost : rows[i].time_s;
        r.low = fmin(r.low, value);
        r.high = fmax(r.high, value);
    }
    double more = r.high > r.low ? 0.12 * (r.high - r.low) : 0.1 * fmax(fabs(r.high), 1e-12);
    return (struct range){fmax(0, r.low - more), r.high + more};
}

static void put_labels(FILE *script, const struct fc_plot_design *rows, size_t n, struct range x, struct range y,
                       double per_s, struct fc_status *st)
{
    struct fc_label *labels = calloc(n, sizeof *labels);
    if (!labels) fc_out_of_memory(st, "the plot");
    for (size_t i = 0; labels && i < n; i++) {
        labels[i].x = (rows[i].cost - x.low) / (x.high - x.low);
        labels[i].y = (rows[i].time_s - y.low) / (y.high - y.low);
        for (const char *c = rows[i].label; *c; labels[i].letters++) c += fc_letter(c) ? fc_letter(c) : 1;
    }
    if (labels) fc_labels_place(labels, n, 0.026, 0.075, 0.025, 0.03);
    for (size_t i = 0; labels && i < n; i++) {
        fprintf(script, "set label %zu ", i + 1);
        fc_script_text(script, rows[i].label);
        fprintf(script, " at %.9g, %.9g %s\n", x.low + labels[i].at_x * (x.high - x.low),
                per_s * (y.low + labels[i].at_y * (y.high - y.low)), fc_label_side(&labels[i]));
    }
    free(labels);
}

/* Marks at round costs, all in the same unit. */
static void put_costs(FILE *script, struct range x)
{
    static const char *const unit[] = {"", "k", "M", "G", "T"};
    double step = fc_round_step(x.high - x.low, 6), scale = 1;
    size_t k = 0;
    for (; k + 1 < FC_COUNT(unit) && x.high >= 1000 * scale; k++) scale *= 1000;
    double least = ceil(x.low / step) * step;
    fprintf(script, "set xtics (");
    for (int i = 0; least + i * step <= x.high; i++) {
        double cost = least + i * step;
        fprintf(script, "%s\"%.6g%s\" %.9g", i ? ", " : "", cost / scale, cost > 0 ? unit[k] : "", cost);
    }
    fprintf(script, ")\n");
}

static void write_script(FILE *script, const char *title, const char *currency, const struct fc_plot_design *rows,
                         size_t n, struct fc_status *st)
{
    size_t n_front = 0;
    while (n_front < n && rows[n_front].on_front) n_front++;
    struct range x = range_of(rows, n, true), y = range_of(rows, n, false);
    struct fc_time_axis axis = fc_time_axis(y.high);
    fc_script_start(script, "designs", title, FC_COLUMN_IN, 2.6);
    fc_script_titled(script, title, FC_COLUMN_IN);
    fc_script_words(script, "\nset xlabel ", currency);
    fprintf(script,
            "\nset ylabel 'mean time of the jobs (%s)'\nset xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n"
            "set border 3\nset tics nomirror\nset grid\nset key off\n",
            axis.unit, x.low, x.high, axis.per_s * y.low, axis.per_s * y.high);
    put_costs(script, x);
    put_labels(script, rows, n, x, y, axis.per_s, st);
    fprintf(script,
            "s = %.9g\n"
            "plot 'designs.tsv' skip 1 every ::0::%zu using 2:($3*s) with steps lw 0.8 dt 2 lc rgb '#777777', \\\n"
            "     '' skip 1 using ($4 > 0 ? NaN : $2):($3*s) with points pt 6 lw 1 lc rgb '#777777', \\\n"
            "     '' skip 1 using ($4 > 0 ? $2 : NaN):($3*s) with points pt 7 lc rgb '#004488'\n",
            axis.per_s, n_front - 1);
}

enum fc_code fc_plot_designs(const char *directory, const char *title, const char *currency,
                             struct fc_plot_design *rows, size_t n, struct fc_status *st)
{
    struct fc_script script;
    if (n) qsort(rows, n, sizeof *rows, by_cost);
    fc_script_open(&script, columns, FC_COUNT(columns), st);
    for (size_t i = 0; i < n && !st->code; i++) {
        struct fc_cell cells[] = {
            {.text = rows[i].label}, {.real = rows[i].cost}, {.real = rows[i].time_s}, {.integer = rows[i].on_front}};
        fc_table_row(&script.data, cells, st);
    }
    if (script.stream) write_script(script.stream, title, currency, rows, n, st);
    return fc_script_draw(&script, directory, "designs", st);
}
