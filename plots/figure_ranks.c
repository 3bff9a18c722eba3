/* figure_ranks.c - what the ranks of a replayed job do with the time, a frame a prediction: computing, the
 * rest until they finish (calls, messages, waiting), idle until the last one finishes. The usage profile of
 * Projections (Kale et al.), in the order of the ranks. Sums over the whole run; the course is in figure_timeline.c. */
#include "plots/plots.h"

#include <math.h>
#include <stdlib.h>

static const struct fc_column columns[] = {
    {"series", FC_CELL_INT, NULL, FC_NUMBER, NULL},
    {"prediction", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
    {"rank", FC_CELL_INT, NULL, FC_NUMBER, NULL},
    {"computation_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"finish_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"job_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
};

static void write_script(FILE *script, const char *title, const struct fc_plot_ranks *series, size_t n)
{
    double most_s = 0;
    for (size_t i = 0; i < n; i++) most_s = fmax(most_s, series[i].time_s);
    struct fc_time_axis axis = fc_time_axis(most_s);
    double scale = axis.per_s;
    fc_script_start(script, "ranks", 1000, 110 + 230.0 * (double)n);
    fprintf(script, "set multiplot layout %zu,1 title ", n);
    fc_script_text(script, title);
    fprintf(script,
            " noenhanced\nset key outside right top noenhanced\nset ylabel 'time (%s)'\nset yrange "
            "[0:%g]\nset grid y\n"
            "set style fill solid 1 noborder\nset boxwidth 1\nset tics nomirror\nset border 3\n",
            axis.unit, most_s * scale * 1.04);
    for (size_t i = 0; i < n; i++) {
        static const char pick[] =
            "plot 'ranks.tsv' skip 1 using (column(1) == %zu ? column(3) : NaN):(column(6) * %g) with boxes "
            "lc "
            "rgb '#e4e2de' title 'idle', \\\n     '' skip 1 using (column(1) == %zu ? column(3) : "
            "NaN):(column(5) * %g) with boxes lc rgb '#e69f45' title 'calls and waiting', \\\n     '' "
            "skip 1 using (column(1) == %zu ? column(3) : NaN):(column(4) * %g) with boxes lc rgb "
            "'#1f3f7a' title 'computation'\n";
        fprintf(script, "set title ");
        fc_script_text(script, series[i].label);
        fprintf(script, " noenhanced font ',10'\nset xlabel '%s'\nset xrange [-0.7:%g]\n",
                i + 1 == n ? "rank" : "", (double)series[i].n - 0.3);
        fprintf(script, pick, i, scale, i, scale, i, scale);
    }
    fprintf(script, "unset multiplot\n");
}

enum fc_code fc_plot_ranks(const char *directory, const char *title, const struct fc_plot_ranks *series,
                           size_t n, struct fc_status *st)
{
    struct fc_table table;
    fc_table_start(&table, columns, FC_COUNT(columns));
    for (size_t i = 0; i < n; i++)
        for (uint32_t r = 0; r < series[i].n && !st->code; r++) {
            struct fc_cell cells[] = {{.integer = (long long)i},
                                      {.text = series[i].label},
                                      {.integer = r},
                                      {.real = series[i].compute_s[r]},
                                      {.real = series[i].finish_s[r]},
                                      {.real = series[i].time_s}};
            fc_table_row(&table, cells, st);
        }
    struct fc_script script;
    fc_script_open(&script, st);
    if (script.stream) write_script(script.stream, title, series, n);
    fc_script_draw(&script, directory, "ranks", &table, st);
    fc_table_free(&table);
    return st->code;
}
