/* figure_link_loads.c - busy time of the links of several predictions, most first: hot spots stand out on the left. Behind
 * the first thousand links of a series a growing part is left out, which no dot of the picture shows. */
#include "plots/plots.h"

#include <math.h>

static const struct fc_column columns[] = {
    {"series", FC_CELL_INT, NULL, FC_NUMBER, NULL},
    {"prediction", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
    {"link_rank", FC_CELL_INT, NULL, FC_NUMBER, NULL},
    {"busy_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
};

/* At most four decades below the busiest are shown: what is less is no hot spot. */
static void write_script(FILE *script, const char *title, const struct fc_plot_links *series, size_t n, double most_s)
{
    double least_s = most_s;
    for (size_t i = 0; i < n; i++) /* they descend */
        for (size_t j = 0; j < series[i].n && series[i].busy_s[j] >= 1e-4 * most_s; j++)
            least_s = fmin(least_s, series[i].busy_s[j]);
    bool many = n > 3; /* more names than stand below the curves */
    fc_script_start(script, "link-loads", title, FC_COLUMN_IN, 2.6 + (many ? 0.13 * (double)n : 0));
    fc_script_titled(script, title, FC_COLUMN_IN);
    fprintf(
        script,
        "\n"
        "set xlabel 'link, busiest first'\n"
        "set ylabel 'time the link is busy (ms)'\n"
        "set logscale xy\n"
        "set format y '%%g'\n"
        "set yrange [%g:%g]\n"
        "set key %s Left reverse\n"
        "set grid\n%s%s"
        "plot ",
        most_s > 0 ? least_s * 5e2 : 1e-6, most_s > 0 ? most_s * 2e3 : 1,
        many ? "outside bottom center horizontal height 1" : "bottom left",
        most_s > 0 && most_s < 30 * least_s
            ? "set ytics (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)\n"
            : "",
        most_s > 0 ? "" : "set label 'no link carries anything' at graph 0.5, 0.5 center\n");
    if (!(most_s > 0)) {
        fprintf(script, "[1:10] NaN notitle\n");
        return;
    }
    for (size_t i = 0; i < n; i++) { /* each series is the rows with its number */
        fprintf(script,
                "%s'link-loads.tsv' skip 1 using (column(1) == %zu ? column(3) : NaN):(column(4)*1e3) "
                "with lines lw 1.2 dt %zu lc rgb '%s' title ",
                i ? ", \\\n     " : "", i, i % 4 + 1, fc_series_colours[i % FC_COUNT(fc_series_colours)]);
        fc_script_text(script, series[i].label);
    }
    fprintf(script, "\n");
}

enum fc_code fc_plot_link_loads(const char *directory, const char *title, const struct fc_plot_links *series, size_t n,
                                struct fc_status *st)
{
    double most_s = 0;
    struct fc_script script;
    fc_script_open(&script, columns, FC_COUNT(columns), st);
    for (size_t i = 0; i < n; i++)
        if (series[i].n && series[i].busy_s[0] > most_s) most_s = series[i].busy_s[0];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < series[i].n && !st->code; j += 1 + j / 1000) { /* all of the first thousand */
            if (series[i].busy_s[j] <= 0) break;
            struct fc_cell cells[] = {{.integer = (long long)i},
                                      {.text = series[i].label},
                                      {.integer = (long long)j + 1},
                                      {.real = series[i].busy_s[j]}};
            fc_table_row(&script.data, cells, st);
        }
    if (script.stream) write_script(script.stream, title, series, n, most_s);
    return fc_script_draw(&script, directory, "link-loads", st);
}
