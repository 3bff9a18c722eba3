/* figure_ranks.c - what the ranks of a replayed job do with the time, a frame a prediction: computing, the
 * rest until they finish (calls, messages, waiting), idle until the last one finishes. The usage profile of
 * Projections (Kale et al.), in the order of the ranks. Sums over the whole run; the course is in figure_timeline.c. */
#include "plots/plots.h"

#include <math.h>

static const struct fc_column columns[] = {
    {"series", FC_CELL_INT, NULL, FC_NUMBER, NULL},     {"prediction", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
    {"rank", FC_CELL_INT, NULL, FC_NUMBER, NULL},       {"computation_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"finish_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL}, {"job_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"ranks", FC_CELL_INT, NULL, FC_NUMBER, NULL},
};
enum { MOST_BARS = 512 }; /* of a series; more ranks share them */

static uint32_t ranks_per_bar(const struct fc_plot_ranks *series)
{
    return (series->n + MOST_BARS - 1) / MOST_BARS;
}

/* The mean of the bar's ranks. */
static void add_bar(struct fc_table *table, size_t i, const struct fc_plot_ranks *series, uint32_t first,
                    struct fc_status *st)
{
    uint32_t end = first + ranks_per_bar(series) < series->n ? first + ranks_per_bar(series) : series->n;
    double compute_s = 0, finish_s = 0;
    for (uint32_t r = first; r < end; r++) compute_s += series->compute_s[r], finish_s += series->finish_s[r];
    struct fc_cell cells[] = {{.integer = (long long)i},
                              {.text = series->label},
                              {.integer = first},
                              {.real = compute_s / (end - first)},
                              {.real = finish_s / (end - first)},
                              {.real = series->time_s},
                              {.integer = end - first}};
    fc_table_row(table, cells, st);
}

static void write_script(FILE *script, const char *title, const struct fc_plot_ranks *series, size_t n)
{
    double most_s = 0;
    for (size_t i = 0; i < n; i++) most_s = fmax(most_s, series[i].time_s);
    struct fc_time_axis axis = fc_time_axis(most_s);
    double scale = axis.per_s;
    fc_script_start(script, "ranks", title, FC_PAGE_IN, 0.6 + 1.7 * (double)n);
    fprintf(script, "set multiplot layout %zu,1 title ", n);
    fc_script_title(script, title, 0.6 * FC_PAGE_IN);
    fprintf(script, " left offset -50,0");
    fprintf(script,
            "\nset key outside top right horizontal\nset ylabel 'time (%s)'\nset yrange "
            "[0:%g]\nset grid y\n"
            "set style fill solid 1 noborder\nset tics nomirror\nset border 3\n",
            axis.unit, most_s > 0 ? most_s * scale * 1.04 : 1);
    for (size_t i = 0; i < n; i++) {
        static const char pick[] =
            "%s skip 1 using (column(1) == %zu ? column(3) + ($7 - 1)/2.0 : NaN):(column(%d) * %g):($7 > 1 ? 1.2*$7 : 1) "
            "with boxes lc rgb '%s' title '%s'%s"; /* shared bars overlap, or the seams would pale them */
        char label[400], shared[64] = "";
        if (ranks_per_bar(&series[i]) > 1)
            snprintf(shared, sizeof shared, " (a bar: mean of %u ranks)", ranks_per_bar(&series[i]));
        snprintf(label, sizeof label, "%s%s", series[i].label, shared);
        fc_script_words(script, "set title ", label);
        fprintf(script, "\nset xlabel '%s'\nset xrange [-0.7:%g]\nset xtics %s\n", i + 1 == n ? "rank" : "",
                (double)series[i].n - 0.3, series[i].n <= 16 ? "1" : "autofreq");
        fprintf(script, pick, "plot 'ranks.tsv'", i, 6, scale, "#e4e2de", "idle", ", \\\n");
        fprintf(script, pick, "     ''", i, 5, scale, "#e69f45", "calls and waiting", ", \\\n");
        fprintf(script, pick, "     ''", i, 4, scale, "#1f3f7a", "computation", "\n");
    }
    fprintf(script, "unset multiplot\n");
}

enum fc_code fc_plot_ranks(const char *directory, const char *title, const struct fc_plot_ranks *series, size_t n,
                           struct fc_status *st)
{
    struct fc_script script;
    fc_script_open(&script, columns, FC_COUNT(columns), st);
    for (size_t i = 0; i < n; i++)
        for (uint32_t r = 0; r < series[i].n && !st->code; r += ranks_per_bar(&series[i]))
            add_bar(&script.data, i, &series[i], r, st);
    if (script.stream) write_script(script.stream, title, series, n);
    return fc_script_draw(&script, directory, "ranks", st);
}
