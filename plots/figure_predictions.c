/* figure_predictions.c - computation and communication time of several predictions side by side. */
#include "plots/plots.h"

#include <math.h>
#include <stdlib.h>

static const struct fc_column columns[] = {
    {"prediction", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
    {"computation_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"communication_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"bound_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"percent_of_peak", FC_CELL_REAL, "%.1f", FC_NUMBER, NULL},
};

/* A quoted gnuplot string cannot hold a quote or a backslash of the user's. */
static void quote_safe(const char *text, char *out, size_t size)
{
    size_t n = 0;
    for (; *text && n + 1 < size; text++) out[n++] = *text == '"' || *text == '\\' || *text == '\n' ? ' ' : *text;
    out[n] = 0;
}

enum fc_code fc_plot_predictions(const char *directory, const char *title, const struct fc_plot_prediction *rows,
                                 size_t n, struct fc_status *st)
{
    char safe[256], script[2048];
    struct fc_table table;
    double most = 0;
    fc_table_start(&table, columns, FC_COUNT(columns));
    for (size_t i = 0; i < n && !st->code; i++) {
        struct fc_cell cells[] = {{.text = rows[i].label},
                                  {.real = rows[i].computation_s},
                                  {.real = rows[i].communication_s},
                                  {.real = rows[i].bound_s},
                                  {.real = rows[i].percent_of_peak}};
        fc_table_row(&table, cells, st);
        most = fmax(most, rows[i].computation_s + rows[i].communication_s);
    }
    quote_safe(title, safe, sizeof safe);
    snprintf(script, sizeof script,
             "set terminal pngcairo size 1000,560 font 'DejaVu Sans,11'\n"
             "set output 'predictions.png'\n"
             "set datafile separator '\\t'\n"
             "set title \"%s\" noenhanced\n"
             "set style data histograms\n"
             "set style histogram rowstacked\n"
             "set style fill solid 0.85 border -1\n"
             "set boxwidth 0.6\n"
             "set xtics rotate by -25 noenhanced\n"
             "set ylabel 'time (%s)'\n"
             "set yrange [0:%g]\n"
             "set key outside right top\n"
             "set grid ytics\n"
             "s = %g\n"
             "plot 'predictions.tsv' skip 1 using ($2*s):xtic(1) title 'computation' lc rgb '#4c72b0', \\\n"
             "     '' skip 1 using ($3*s) title 'communication' lc rgb '#dd8452', \\\n"
             "     '' skip 1 using 0:($4*s) with points pt 9 ps 1.6 lc rgb 'black' title 'proven bound', \\\n"
             "     '' skip 1 using 0:(($2+$3)*s):(sprintf('%%.0f %%%%', $5)) with labels offset 0,0.8 title ''\n",
             safe, most < 1e-3 ? "µs" : most < 1 ? "ms" : "s",
             most * 1.15 * (most < 1e-3 ? 1e6 : most < 1 ? 1e3 : 1), most < 1e-3 ? 1e6 : most < 1 ? 1e3 : 1.0);
    if (!st->code) fc_figure_write(directory, "predictions", &table, script, st);
    fc_table_free(&table);
    return st->code;
}
