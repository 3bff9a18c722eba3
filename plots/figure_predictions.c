/* figure_predictions.c - computation, communication and waiting of several predictions side by side. */
#include "plots/plots.h"

#include <math.h>
#include <string.h>

static const struct fc_column columns[] = {
    {"prediction", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
    {"computation_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"communication_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"waiting_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"bound_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"percent_of_peak", FC_CELL_REAL, "%.1f", FC_NUMBER, NULL},
};

static double waits_s(const struct fc_plot_prediction *row)
{
    return isnan(row->waiting_s) ? 0 : row->waiting_s;
}

static void write_script(FILE *script, const char *title, const struct fc_plot_prediction *rows, size_t n,
                         double most_s)
{
    struct fc_time_axis axis = fc_time_axis(most_s);
    size_t longest = fc_script_longest(rows, sizeof *rows, n);        /* names slant down to the right */
    double width = n > 4 || longest > 40 ? FC_PAGE_IN : FC_COLUMN_IN; /* a column has room for four percentages */
    fc_script_start(script, "predictions", title, width, 2.6 + 0.02 * (double)(longest > 8 ? longest : 8));
    fc_script_names(script, rows, sizeof *rows, n);
    fc_script_titled(script, title, width);
    fprintf(
        script,
        "\n"
        "set style data histograms\n"
        "set style histogram rowstacked\n"
        "set style fill solid 0.85 border -1\n"
        "set boxwidth 0.6\n"
        "set xtics rotate by -25\n"
        "set ylabel 'time (%s)'\n"
        "set yrange [0:%g]\n"
        "set key outside bottom center horizontal\n"
        "set grid ytics\n"
        "s = %g\n"
        "plot 'predictions.tsv' skip 1 using ($2*s):xtic(name[int($0)+1]) title 'computation' lc rgb '#1f3f7a', \\\n"
        "     '' skip 1 using ($3*s) title 'communication' lc rgb '#e69f45', \\\n"
        "     '' skip 1 using ($4*s) title 'waiting' lc rgb '#c9c9c9', \\\n"
        "     '' skip 1 using 0:($5*s) with points pt 9 ps 1 lc rgb 'black' title 'proven bound', \\\n"
        "     '' skip 1 using 0:(($2+$3+$4)*s):(sprintf('%%.0f %%%%', $6)) with labels offset 0,0.8 title ''\n",
        axis.unit, most_s > 0 ? most_s * 1.15 * axis.per_s : 1, axis.per_s);
}

enum fc_code fc_plot_predictions(const char *directory, const char *title, const struct fc_plot_prediction *rows,
                                 size_t n, struct fc_status *st)
{
    struct fc_script script;
    double most_s = 0;
    fc_script_open(&script, columns, FC_COUNT(columns), st);
    for (size_t i = 0; i < n && !st->code; i++) {
        struct fc_cell cells[] = {{.text = rows[i].label},           {.real = rows[i].computation_s},
                                  {.real = rows[i].communication_s}, {.real = waits_s(&rows[i])},
                                  {.real = rows[i].bound_s},         {.real = rows[i].percent_of_peak}};
        fc_table_row(&script.data, cells, st);
        most_s = fmax(most_s, rows[i].computation_s + rows[i].communication_s + waits_s(&rows[i]));
    }
    if (script.stream) write_script(script.stream, title, rows, n, most_s);
    return fc_script_draw(&script, directory, "predictions", st);
}
