/* figure_percent_of_peak.c - percent of peak as bars, one below the other, with its range by the error of the time and
 * the time beside it. */
#include "plots/plots.h"

#include <math.h>
#include <string.h>

static const struct fc_column columns[] = {
    {"what", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},          {"percent_of_peak", FC_CELL_REAL, NULL, FC_NUMBER, NULL},
    {"least_percent", FC_CELL_REAL, NULL, FC_NUMBER, NULL}, {"most_percent", FC_CELL_REAL, NULL, FC_NUMBER, NULL},
    {"time_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
};

/* Nothing is above the bound. NaN where the error is unknown. */
static double most_percent(const struct fc_plot_peak *row)
{
    double part = row->error_percent / 100;
    if (isnan(part) || isnan(row->percent)) return NAN;
    return part < 1 ? fmin(100, row->percent / (1 - part)) : 100;
}

static void write_script(FILE *script, const char *title, const char *axis, const struct fc_plot_peak *rows, size_t n)
{
    size_t longest = fc_script_longest(rows, sizeof *rows, n);
    double width = longest > 20 ? FC_PAGE_IN : FC_COLUMN_IN;
    fc_script_start(script, "percent-of-peak", title, width, 0.9 + 0.2 * (double)n);
    fc_script_names(script, rows, sizeof *rows, n);
    fc_script_titled(script, title, width);
    fc_script_words(script, "\nset xlabel ", axis);
    fprintf(
        script,
        "\nset xrange [0:210]\nset xtics 0,50,100 nomirror\n"
        "set yrange [%zu.6:-0.6]\nset ytics nomirror scale 0\nset lmargin %zu\nset border 3\nunset key\nset grid x\n"
        "set style fill solid 1 noborder\n"
        "plot 'percent-of-peak.tsv' skip 1 using (0):0:(0):2:($0 - 0.35):($0 + 0.35):ytic(name[int($0)+1]) with boxxyerror lc rgb '#5b8cc4', \\\n"
        "     '' skip 1 using ($3 == $3 ? $3 : NaN):0:($4 - $3):(0) with vectors heads size graph 0.008,90 lw 2 lc rgb 'black'",
        n - 1, longest + 1);
    for (size_t i = 0; i < n; i++) {
        char time[64], text[128];
        double most = most_percent(&rows[i]), right = isnan(most) ? rows[i].percent : most;
        snprintf(text, sizeof text, "%.1f %%, %s", rows[i].percent,
                 fc_format(time, sizeof time, rows[i].time_s, FC_SECONDS));
        if (isnan(rows[i].percent)) snprintf(text, sizeof text, "unknown");
        fprintf(script, ", \\\n     '+' using (%.9g):(%zu):(", isnan(right) ? 0 : right, i);
        fc_script_text(script, text);
        fprintf(script, ") every ::0::0 with labels left offset 1,0");
    }
    fprintf(script, "\n");
}

enum fc_code fc_plot_percent_of_peak(const char *directory, const char *title, const char *axis,
                                     const struct fc_plot_peak *rows, size_t n, struct fc_status *st)
{
    struct fc_script script;
    fc_script_open(&script, columns, FC_COUNT(columns), st);
    for (size_t i = 0; i < n && !st->code; i++) {
        double part = rows[i].error_percent / 100;
        struct fc_cell cells[] = {{.text = rows[i].label},
                                  {.real = rows[i].percent},
                                  {.real = rows[i].percent / (1 + part)},
                                  {.real = most_percent(&rows[i])},
                                  {.real = rows[i].time_s}};
        fc_table_row(&script.data, cells, st);
    }
    if (script.stream) write_script(script.stream, title, axis, rows, n);
    return fc_script_draw(&script, directory, "percent-of-peak", st);
}
