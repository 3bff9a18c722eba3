/* paper_panels.c - gnuplot for a figure of several panels, one below and beside the other (FC_PAPER_PANELS).
 *
 * Two panels a row. A panel has a y range and a key of its own; all have the range of x, so that sizes can be compared from one to
 * the next. A key stands in the upper left corner, which curves that rise leave free; the range of y has room for it. */
#include "plots/paper_script.h"
#include "plots/plots.h"

#include <math.h>

enum { COLUMNS = 2, HEIGHT = 330, HEAD = 90 };

/* A panel that nothing is in is left out: a quick run measures less. */
static bool is_empty(const struct fc_paper_plot *plot, int panel)
{
    for (int i = 0; i < plot->n_series; i++)
        if (plot->series[i].panel == panel && fc_paper_has_points(&plot->series[i])) return false;
    return true;
}

static int n_panels(const struct fc_paper_plot *plot)
{
    int n = 0;
    for (int p = 0; p < plot->n_categories; p++) n += !is_empty(plot, p);
    return n > 0 ? n : 1;
}

static int rows_of(const struct fc_paper_plot *plot)
{
    return (n_panels(plot) + COLUMNS - 1) / COLUMNS;
}

int fc_paper_panels_height(const struct fc_paper_plot *plot)
{
    return HEAD + HEIGHT * rows_of(plot);
}

/* Names of every fifth power of two: 32, 1 Ki, 32 Ki, 1 Mi, ... */
static void put_sizes(const struct fc_paper_plot *plot, FILE *script)
{
    static const char *const unit[] = {"", " Ki", " Mi", " Gi", " Ti"};
    double least = INFINITY, most = 0;
    for (int i = 0; i < plot->n_series; i++)
        for (size_t j = 0; j < plot->series[i].n; j++) {
            least = fmin(least, plot->series[i].x[j]);
            most = fmax(most, plot->series[i].x[j]);
        }
    if (!(least > 0 && most > least)) return;
    fprintf(script, "set logscale x 2\nset xrange [%g:%g]\nset xtics (", least / 1.6, 1.6 * most);
    for (int e = 0; e <= 45; e += 5)
        fprintf(script, "%s\"%d%s\" %.0f", e ? ", " : "", 1 << e % 10, unit[e / 10], ldexp(1, e));
    fprintf(script, ")\n");
}

/* Decades of microseconds. */
static void put_times(FILE *script)
{
    static const char *const unit[] = {"µs", "ms", "s", "ks"};
    fprintf(script, "set ytics (");
    for (int e = 0; e <= 10; e++)
        fprintf(script, "%s\"%.0f %s\" %g", e ? ", " : "", pow(10, e % 3), unit[e / 3], pow(10, e));
    fprintf(script, ")\n");
}

static void put_range(const struct fc_paper_plot *plot, int panel, FILE *script)
{
    double least = INFINITY, most = 0;
    int n = 0;
    for (int i = 0; i < plot->n_series; i++) {
        const struct fc_paper_series *s = &plot->series[i];
        if (s->panel != panel) continue;
        n += *s->label != '\0';
        for (size_t j = 0; j < s->n; j++)
            if (s->y[j] > 0) {
                least = fmin(least, s->y[j]);
                most = fmax(most, s->y[j]);
            }
    }
    if (!(most > 0)) return;
    double room = pow(most / least, 0.05 + 0.035 * n); /* a line of the key is a fourteenth of a panel; curves rise */
    least /= 1.5;
    most *= 1.5 * room;
    fprintf(script, "set yrange [%g:%g]\n", least, most);
    put_times(script);
}

/* `at`: of those that are drawn. */
static void put_panel(const struct fc_paper_plot *plot, int panel, int at, FILE *script)
{
    bool first = true;
    fc_script_words(script, "set title ", plot->category[panel]);
    fc_script_words(script, " offset 0, -0.6\nset ylabel ", at % COLUMNS == 0 ? plot->y_label : "");
    fprintf(script, " offset 2, 0"); /* else it is cut: marks are shorter than gnuplot takes them to be */
    fc_script_words(script, "\nset xlabel ", at + COLUMNS >= n_panels(plot) ? plot->x_label : "");
    fprintf(script, "\n");
    put_range(plot, panel, script);
    for (int i = 0; i < plot->n_series; i++)
        if (plot->series[i].panel == panel) fc_paper_put_curve(plot, script, i, &first);
    fprintf(script, first ? "plot NaN notitle\n" : "\n");
}

void fc_paper_put_panels(const struct fc_paper_plot *plot, FILE *script)
{
    fprintf(script, "set multiplot layout %d, %d title ", rows_of(plot), COLUMNS);
    fc_script_title(script, plot->title, FC_PAGE_IN);
    fprintf(script, ".\"\\n\".");
    fc_script_title(script, plot->subtitle, FC_PAGE_IN);
    fprintf(script, ".\"\\n\".");
    fc_script_title(script, "lines: predicted; marks: measured, filled: judged, open: fitted to or chosen by",
                    FC_PAGE_IN);
    fprintf(
        script,
        "\nset lmargin 10\nset rmargin 2\nset bmargin 3.5\nset key at graph 0.02, 0.98 left top Left reverse samplen 3.5 spacing 1\n"
        "set grid xtics ytics lw 0.6 lt 1 lc rgb '#bbbbbb'\nset logscale y\n");
    put_sizes(plot, script);
    for (int p = 0, at = 0; p < plot->n_categories; p++)
        if (!is_empty(plot, p)) put_panel(plot, p, at++, script);
    fprintf(script, "unset multiplot\n");
}
