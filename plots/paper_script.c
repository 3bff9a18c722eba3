/* paper_script.c - gnuplot for a figure in a paper's form.
 *
 * Axes and keys by form; the series are in paper_series.c, several panels in paper_panels.c. */
#include "plots/paper_script.h"
#include "plots/plots.h"

#include <math.h>
#include <string.h>

static size_t longest(const char *const *texts, int n)
{
    size_t most = 0;
    for (int i = 0; i < n; i++)
        if (texts[i] && strlen(texts[i]) > most) most = strlen(texts[i]);
    return most;
}

static void put_titles(const struct fc_paper_plot *plot, FILE *script)
{
    fc_script_words(script, "set title ", plot->title);
    fc_script_words(script, "\nset label 1 ", plot->subtitle);
    fc_script_words(script,
                    " at graph 0.5, graph 1 center offset 0, 0.7\n"
                    "set title offset 0, 1.1\nset tmargin 4.5\n"
                    "set xlabel ",
                    plot->x_label);
    fc_script_words(script, "\nset ylabel ", plot->y_label);
    fprintf(script, "\n");
}

/* ---- axes by form ---- */

static void put_categories(const struct fc_paper_plot *plot, FILE *script)
{
    fprintf(script, "set xtics (");
    for (int i = 0; i < plot->n_categories; i++) {
        fprintf(script, "%s", i ? ", " : "");
        fc_script_tic(script, plot->category[i]);
        fprintf(script, " %d", i);
    }
    fprintf(script, ")\n");
}

/* Sizes and counts are powers of two as a rule. */
static bool powers_of_two(const struct fc_paper_plot *plot)
{
    for (int i = 0; i < plot->n_series; i++)
        for (size_t j = 0; j < plot->series[i].n; j++) {
            int exponent;
            if (frexp(plot->series[i].x[j], &exponent) != 0.5) return false;
        }
    return true;
}

/* Marks at 1, 2, 5 of each decade; at 1 only where there are many. */
static void put_decades(double least, double most, FILE *script)
{
    static const int steps[] = {1, 2, 5};
    bool few = most / least < 2e3, first = true;
    fprintf(script, "set ytics (");
    for (int e = (int)floor(log10(least)); e <= (int)ceil(log10(most)); e++)
        for (int i = 0; i < (few ? 3 : 1); i++) {
            double y = steps[i] * pow(10, e);
            if (y < least || y > most) continue;
            fprintf(script, "%s%g", first ? "" : ", ", y);
            first = false;
        }
    fprintf(script, ")\n");
}

/* A little more than the data and its error bars. */
static void put_y_range(const struct fc_paper_plot *plot, FILE *script)
{
    double least = plot->y_least, most = plot->y_most;
    if (least == 0 && most == 0) {
        least = INFINITY;
        for (int i = 0; i < plot->n_series; i++)
            for (size_t j = 0; j < plot->series[i].n; j++) {
                const struct fc_paper_series *s = &plot->series[i];
                const double values[] = {s->y[j], s->low[j], s->high[j]};
                for (size_t v = 0; v < FC_COUNT(values); v++) { /* fmin and fmax pass over NaN */
                    if (values[v] > 0) least = fmin(least, values[v]);
                    most = fmax(most, values[v]);
                }
            }
        least = plot->log_y ? least / 1.6 : 0;
        most = plot->log_y ? 1.6 * most : 1.06 * most;
    }
    if (!(least < most && isfinite(least) && isfinite(most))) return;
    fprintf(script, "set yrange [%g:%g]\n", least, most);
    if (plot->log_y && least > 0) put_decades(least, most, script);
}

static void curve_axes(const struct fc_paper_plot *plot, FILE *script)
{
    if (plot->log_x && powers_of_two(plot))
        fprintf(script, "set logscale x 2\nset format x '%%.0b%%B'\n");
    else if (plot->log_x)
        fprintf(script, "set logscale x\n");
    if (plot->log_y) fprintf(script, "set logscale y\n");
    put_y_range(plot, script);
    fprintf(script, "set key outside right top Left reverse\nset grid x y lc rgb '#cccccc'\n");
}

static void bar_axes(const struct fc_paper_plot *plot, FILE *script)
{
    curve_axes(plot, script);
    put_categories(plot, script);
    if (longest(plot->category, plot->n_categories) * (size_t)plot->n_categories > 75)
        fprintf(script, "set xtics rotate by -30\n");
    fprintf(script, "set xrange [-0.6:%g]\nunset grid\nset grid y lc rgb '#cccccc'\n", plot->n_categories - 0.4);
}

static void row_axes(const struct fc_paper_plot *plot, FILE *script)
{
    double most = 1.4;
    for (int i = 0; i < plot->n_series; i++)
        for (size_t j = 0; j < plot->series[i].n; j++)
            if (isfinite(plot->series[i].x[j])) most = fmax(most, 1.15 * fabs(plot->series[i].x[j]));
    fprintf(script,
            "unset ytics\nset yrange [%g:-0.7]\nset xrange [%g:%g]\nset rmargin %zu\nset lmargin %zu\nunset key\n"
            "set object 1 rectangle from -1, graph 0 to 1, graph 1 fc rgb '#dddddd' fs solid noborder behind\n"
            "set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#666666'\n"
            "set grid x lc rgb '#cccccc'\n",
            plot->n_categories - 0.3, -most, most, longest(plot->note, plot->n_categories) + 3,
            longest(plot->category, plot->n_categories) + 3);
    for (int i = 0; i < plot->n_categories; i++) { /* labels: gnuplot cuts the names of tics at 50 letters */
        fprintf(script, "set label %d ", 2 * i + 2);
        fc_script_text(script, plot->category[i]);
        fprintf(script, " at graph 0, first %d right offset -1, 0\n", i);
        if (!plot->note[i]) continue;
        fprintf(script, "set label %d ", 2 * i + 3);
        fc_script_text(script, plot->note[i]);
        fprintf(script, " at graph 1, first %d left offset 1, 0\n", i);
    }
}

/* ---- series ---- */

static void put_series(const struct fc_paper_plot *plot, FILE *script)
{
    int n_bars = 0, at = 0;
    bool first = true;
    for (int i = 0; i < plot->n_series; i++)
        n_bars += plot->series[i].mark != FC_PAPER_LIMIT && fc_paper_has_points(&plot->series[i]);
    for (int i = 0; i < plot->n_series; i++) {
        if (!fc_paper_has_points(&plot->series[i])) continue;
        switch (plot->form) {
        case FC_PAPER_CURVES: fc_paper_put_curve(plot, script, i, &first); break;
        case FC_PAPER_PANELS: break; /* paper_panels.c */
        case FC_PAPER_BARS: fc_paper_put_bar(plot, script, i, at, n_bars, &first); break;
        case FC_PAPER_ROWS: fc_paper_put_row(plot, script, i, &first); break;
        }
        at += plot->series[i].mark != FC_PAPER_LIMIT;
    }
    if (first) fprintf(script, "set xrange [0:1]\nset yrange [0:1]\nplot NaN notitle");
    fprintf(script, "\n");
}

static void put_output(const struct fc_paper_plot *plot, FILE *script, const char *ending)
{
    fprintf(script, "set output ");
    fc_script_file(script, plot->name, ending);
    fprintf(script, ".part\n");
}

/* What is drawn, for the terminal that is set. */
static void put_drawing(const struct fc_paper_plot *plot, FILE *script, bool again)
{
    if (plot->form == FC_PAPER_PANELS)
        fc_paper_put_panels(plot, script);
    else if (again)
        fprintf(script, "replot\n");
    else
        put_series(plot, script);
}

void fc_paper_print_script(const struct fc_paper_plot *plot, FILE *script)
{
    int width = 1000, height = 560;
    if (plot->form == FC_PAPER_ROWS) {
        width = 420 + 7 * (int)(longest(plot->category, plot->n_categories) + longest(plot->note, plot->n_categories));
        height = 150 + 22 * plot->n_categories;
    }
    if (plot->form == FC_PAPER_PANELS) height = fc_paper_panels_height(plot);
    double width_in = FC_PAGE_IN, height_in = FC_PAGE_IN * height / width;
    fprintf(
        script,
        "if (!exists('part')) part = ''\n"
        "set terminal pngcairo size %.0f,%.0f font 'DejaVu Sans,8' fontscale 300/96. linewidth 300/96.*0.6 pointscale "
        "300/96.*0.6 noenhanced\n"
        "set datafile separator '\\t'\n"
        "set datafile missing 'nan'\n"
        "set datafile commentschars ''\n",
        300 * width_in, 300 * height_in);
    put_output(plot, script, ".png");
    if (plot->form != FC_PAPER_PANELS) put_titles(plot, script);
    switch (plot->form) {
    case FC_PAPER_CURVES: curve_axes(plot, script); break;
    case FC_PAPER_BARS: bar_axes(plot, script); break;
    case FC_PAPER_ROWS: row_axes(plot, script); break;
    case FC_PAPER_PANELS: break;
    }
    put_drawing(plot, script, false);
    fprintf(script, "set terminal svg size %.0f,%.0f font 'DejaVu Sans,10.67' noenhanced background 'white'\n",
            96 * width_in, 96 * height_in);
    put_output(plot, script, ".svg");
    put_drawing(plot, script, true);
    fprintf(script, "set terminal pdfcairo size %gin,%gin font 'DejaVu Sans,8' fontscale 1 pointscale 0.6 noenhanced\n",
            width_in, height_in);
    put_output(plot, script, ".pdf");
    put_drawing(plot, script, true);
    fprintf(script, "unset output\n");
}
