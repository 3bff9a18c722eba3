/* figure_sensitivity.c - how much longer or shorter a time is with each parameter doubled and halved: two bars a parameter,
 * from the time as it is, those that move most on top; those that move nothing are left out. */
#include "plots/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PERCENT 200.0 /* longer bars are cut; their labels say how long they are */

#define LEAST_PERCENT 0.005 /* what moves less is left out */

static const struct fc_column columns[] = {
    {"what", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
    {"if_doubled_percent", FC_CELL_REAL, NULL, FC_NUMBER, NULL},
    {"if_halved_percent", FC_CELL_REAL, NULL, FC_NUMBER, NULL},
};

static double moves(const struct fc_plot_change *row)
{
    double twice = fabs(row->doubled_percent), half = fabs(row->halved_percent);
    if (isnan(twice)) twice = 0;
    return isnan(half) || half < twice ? twice : half;
}

static int most_first(const void *a, const void *b)
{
    const struct fc_plot_change *x = a, *y = b;
    double left = moves(x), right = moves(y);
    if (left != right) return left > right ? -1 : 1;
    return strcmp(x->label, y->label);
}

static void write_label(FILE *script, double percent, double y)
{
    char text[64];
    double at = fmin(fmax(percent, -MOST_PERCENT), MOST_PERCENT);
    if (isnan(percent) || fabs(percent) < 0.05) return;
    snprintf(text, sizeof text, fabs(percent) < 9.95 ? "%+.1f %%" : "%+.0f %%", percent);
    fprintf(script, ", \\\n     '+' using (%.9g):(%.9g):(", at, y);
    fc_script_text(script, text);
    fprintf(script, ") every ::0::0 with labels %s offset %d,0 notitle", percent < 0 ? "right" : "left",
            percent < 0 ? -1 : 1);
}

static void write_script(FILE *script, const char *title, const struct fc_plot_change *rows, size_t n)
{
    size_t longest = fc_script_longest(rows, sizeof *rows, n);
    double least = -10, most = 10;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) {
            double x = k ? rows[i].halved_percent : rows[i].doubled_percent;
            if (x < least) least = x;
            if (x > most) most = x;
        }
    most = fmin(most, MOST_PERCENT);
    double room = 0.42 * (most - least);
    double width = longest > 22 ? FC_PAGE_IN : FC_COLUMN_IN;
    fc_script_start(script, "sensitivity", title, width, 1.1 + 0.26 * (double)n);
    fc_script_names(script, rows, sizeof *rows, n);
    fc_script_titled(script, title, width - 0.07 * (double)longest); /* it stands over the bars */
    fprintf(
        script,
        "\nset xlabel 'change of the time (%%)'\nset xrange [%.9g:%.9g]\nset xtics %.9g nomirror\nset yrange "
        "[%zu.6:-0.6]\nset ytics nomirror scale 0\nset lmargin %zu\nset border 1\nset key outside top center horizontal\nset grid x\n"
        "set arrow 1 from 0, graph 0 to 0, graph 1 nohead lw 1.5 lc rgb 'black' front\n"
        "most = %.9g\ncut(x) = x == x ? (x > most ? most : x) : 0\n"
        "plot 'sensitivity.tsv' skip 1 using (0):0:(0):(cut($2)):($0 - 0.4):($0):ytic(name[int($0)+1]) with "
        "boxxyerror fill solid 1 noborder lc rgb '#5b8cc4' title 'doubled', \\\n"
        "     '' skip 1 using (0):0:(0):(cut($3)):($0):($0 + 0.4) with boxxyerror fill pattern 4 border lc rgb "
        "'#8a4b14' lc rgb '#8a4b14' title 'halved'",
        least - room, most + room, fc_round_step(most - least + 2 * room, width > FC_COLUMN_IN ? 10 : 5), n ? n - 1 : 0,
        longest + 1, MOST_PERCENT);
    for (size_t i = 0; i < n; i++) {
        write_label(script, rows[i].doubled_percent, (double)i - 0.2);
        write_label(script, rows[i].halved_percent, (double)i + 0.2);
    }
    fprintf(script, "\n");
}

enum fc_code fc_plot_sensitivity(const char *directory, const char *title, struct fc_plot_change *rows, size_t n,
                                 struct fc_status *st)
{
    struct fc_script script;
    fc_script_open(&script, columns, FC_COUNT(columns), st);
    qsort(rows, n, sizeof *rows, most_first);
    while (n > 1 && moves(&rows[n - 1]) < LEAST_PERCENT) n--;
    for (size_t i = 0; i < n && !st->code; i++) {
        struct fc_cell cells[] = {
            {.text = rows[i].label}, {.real = rows[i].doubled_percent}, {.real = rows[i].halved_percent}};
        fc_table_row(&script.data, cells, st);
    }
    if (script.stream) write_script(script.stream, title, rows, n);
    return fc_script_draw(&script, directory, "sensitivity", st);
}
