/* figure_link_loads.c - busy time of the links of several predictions, most first: hot spots stand out on the left. */
#include "plots/plots.h"

#include <stdlib.h>
#include <string.h>

static const struct fc_column columns[] = {
    {"series", FC_CELL_INT, NULL, FC_NUMBER, NULL},
    {"prediction", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
    {"link_rank", FC_CELL_INT, NULL, FC_NUMBER, NULL},
    {"busy_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
};

enum fc_code fc_plot_link_loads(const char *directory, const char *title, const struct fc_plot_links *series, size_t n,
                                struct fc_status *st)
{
    char safe[256], *script = NULL;
    size_t length = 0;
    double most_s = 0; /* four decades below it are shown: what is less is no hot spot */
    struct fc_table table;
    fc_table_start(&table, columns, FC_COUNT(columns));
    for (size_t i = 0; i < n; i++)
        if (series[i].n && series[i].busy_s[0] > most_s) most_s = series[i].busy_s[0];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < series[i].n && !st->code; j++) {
            if (series[i].busy_s[j] <= 0) break;
            struct fc_cell cells[] = {{.integer = (long long)i},
                                      {.text = series[i].label},
                                      {.integer = (long long)j + 1},
                                      {.real = series[i].busy_s[j]}};
            fc_table_row(&table, cells, st);
        }
    FILE *text = st->code ? NULL : open_memstream(&script, &length);
    if (text) {
        snprintf(safe, sizeof safe, "%s", title);
        for (char *c = safe; *c; c++)
            if (*c == '"' || *c == '\\' || *c == '\n') *c = ' ';
        fprintf(text,
                "set terminal pngcairo size 1000,560 font 'DejaVu Sans,11'\n"
                "set output 'link-loads.png'\n"
                "set datafile separator '\\t'\n"
                "set title \"%s\" noenhanced\n"
                "set xlabel 'link, busiest first'\n"
                "set ylabel 'time the link is busy (ms)'\n"
                "set logscale xy\n"
                "set format y '%%g'\n"
                "set yrange [%g:%g]\n"
                "set key noenhanced outside right top\n"
                "set grid\n"
                "plot ",
                safe, most_s > 0 ? most_s * 1e-1 : 1e-6, most_s > 0 ? most_s * 2e3 : 1);
        for (size_t i = 0; i < n; i++) /* each series is the rows with its number */
            fprintf(text, "%s'link-loads.tsv' skip 1 using (column(1) == %zu ? column(3) : NaN):(column(4)*1e3) "
                          "with lines lw 2 dt %d title \"%s\"", i ? ", \\\n     " : "", i, i % 2 ? 2 : 1, series[i].label);
        fprintf(text, "\n");
        if (fclose(text) == 0) fc_figure_write(directory, "link-loads", &table, script, st);
        else fc_refuse(st, FC_NO, "out of memory for the plot");
        free(script);
    } else if (!st->code) {
        fc_refuse(st, FC_NO, "out of memory for the plot");
    }
    fc_table_free(&table);
    return st->code;
}
