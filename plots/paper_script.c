/* paper_script.c - gnuplot for a figure in a paper's form.
 *
 * Axes and keys by form; the series are in paper_series.c, several panels in paper_panels.c. */
#include "plots/paper_script.h"
#include "plots/plots.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_NARROW = 10,
    SAMPLE = 9,
    MOST_SIZES = 6
}; /* categories of a figure a column wide; letters that a key's sample takes; names below an axis */

#define MARGIN_IN 0.4 /* a title is not wider than what is drawn */
#define LETTER 0.85   /* letters of a text are narrower than those that margins are counted in */
#define AXIS 0.55     /* the height of what is drawn, of a figure's width */

static size_t longest(const char *const *texts, int n)
{
    size_t most = 0;
    for (int i = 0; i < n; i++)
        if (texts[i] && strlen(texts[i]) > most) most = strlen(texts[i]);
    return most;
}

/* A column wide, but what has rows of words, panels or more categories than names fit below. */
static double width_in(const struct fc_paper_plot *plot)
{
    bool narrow = plot->form == FC_PAPER_CURVES || (plot->form == FC_PAPER_BARS && plot->n_categories <= MOST_NARROW);
    return narrow ? FC_COLUMN_IN : FC_PAGE_IN;
}

static void put_titles(const struct fc_paper_plot *plot, FILE *script)
{
    fprintf(script, "set title ");
    fc_script_title(script, plot->title, width_in(plot) - MARGIN_IN);
    fprintf(script, ".\"\\n\".");
    fc_script_title(script, plot->subtitle, width_in(plot) - MARGIN_IN);
    fc_script_words(script, "\nset xlabel ", plot->x_label);
    fprintf(script, "\nset ylabel ");
    fc_script_title(script, plot->y_label, AXIS * width_in(plot));
    fprintf(script, "\n");
}

/* ---- the key, below: as many columns as names fit beside each other ---- */

static int n_keys(const struct fc_paper_plot *plot, size_t *longest_name)
{
    int n = 0;
    *longest_name = 0;
    for (int i = 0; i < plot->n_series; i++) {
        const char *label = plot->series[i].label;
        if (!fc_paper_has_points(&plot->series[i]) || !*label) continue;
        if (strlen(label) > *longest_name) *longest_name = strlen(label);
        n++;
    }
    return n;
}

static int key_columns(const struct fc_paper_plot *plot)
{
    size_t name, letters = fc_script_letters(width_in(plot));
    n_keys(plot, &name);
    return letters / (name + SAMPLE) > 1 ? (int)(letters / (name + SAMPLE)) : 1;
}

static int key_rows(const struct fc_paper_plot *plot)
{
    size_t name;
    int columns = key_columns(plot);
    return (n_keys(plot, &name) + columns - 1) / columns;
}

/* ---- axes by form ---- */

/* The letters of the longest line of a category's name, which goes on below behind ", ". */
static size_t longest_line(const struct fc_paper_plot *plot)
{
    size_t most = 0;
    for (int i = 0; i < plot->n_categories; i++)
        for (const char *at = plot->category[i]; at && *at;) {
            const char *end = strstr(at, ", ");
            size_t n = end ? (size_t)(end - at) + 1 : strlen(at);
            most = n > most ? n : most;
            at = end ? end + 2 : NULL;
        }
    return most;
}

static bool are_numbers(const struct fc_paper_plot *plot)
{
    for (int i = 0; i < plot->n_categories; i++)
        if (plot->category[i][strspn(plot->category[i], "0123456789.")]) return false;
    return true;
}

/* Of categories that are numbers, each as much above the one before: marks at round ones instead. False: they are not. */
static bool put_round(const struct fc_paper_plot *plot, FILE *script)
{
    int n = plot->n_categories;
    double first = atof(plot->category[0]), step = (atof(plot->category[n - 1]) - first) / (n - 1);
    for (int i = 0; i < n; i++) /* to the digits that they have */
        if (!(step > 0) || fabs(atof(plot->category[i]) - first - i * step) > 0.05 * step) return false;
    double round = fc_round_step(step * n, MOST_SIZES);
    double least = ceil((first - 0.5 * step) / round) * round, last = first + (n - 0.5) * step;
    fprintf(script, "set xtics (");
    for (int i = 0; least + i * round <= last; i++)
        fprintf(script, "%s\"%g\" %g", i ? ", " : "", least + i * round, (least + i * round - first) / step);
    fprintf(script, ")\n");
    return true;
}

/* Names that would run into each other go on below; numbers are left out; other names stand upright. */
static void put_categories(const struct fc_paper_plot *plot, FILE *script)
{
    size_t letters = fc_script_letters(width_in(plot)) * 17 / 20, n = (size_t)plot->n_categories;
    bool broken = (longest(plot->category, plot->n_categories) + 1) * n > letters;
    size_t wide = (broken ? longest_line(plot) : longest(plot->category, plot->n_categories)) + 1;
    int step = wide * n > letters && are_numbers(plot) ? (int)(wide * n / letters) + 1 : 1;
    bool upright = wide * n > letters && step == 1;
    double below = upright ? 0.4 * (double)wide : broken && step == 1 ? 1 : 0;
    if (upright) fprintf(script, "set xtics rotate by 90 right\n");
    if (!upright && broken && step == 1)
        fprintf(script, "set xlabel offset 0, -1\n"); /* gnuplot has room for one line */
    fprintf(script, "set bmargin %g\n", 3.4 + 1.05 * key_rows(plot) + below);
    if (step > 1 && put_round(plot, script)) return;
    fprintf(script, "set xtics (");
    for (int i = 0; i < plot->n_categories; i += step) {
        fprintf(script, "%s", i ? ", " : "");
        for (const char *at = plot->category[i], *end; at; at = end ? end + 2 : NULL) {
            char line[256];
            end = broken ? strstr(at, ", ") : NULL;
            snprintf(line, sizeof line, "%.*s", end ? (int)(end - at) + 1 : (int)strlen(at), at);
            if (at != plot->category[i]) fputs(".\"\\n\".", script);
            fc_script_tic(script, line);
        }
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

/* Names of powers of two, as many as fit: 64, 256, 1 Ki, ... */
static void put_sizes(const struct fc_paper_plot *plot, FILE *script)
{
    static const char *const unit[] = {"", " Ki", " Mi", " Gi", " Ti"};
    int least = INT_MAX, most = INT_MIN, exponent;
    for (int i = 0; i < plot->n_series; i++)
        for (size_t j = 0; j < plot->series[i].n; j++) {
            frexp(plot->series[i].x[j], &exponent);
            least = exponent - 1 < least ? exponent - 1 : least;
            most = exponent - 1 > most ? exponent - 1 : most;
        }
    if (most < least || least < 0 || most >= 50) return; /* no points, fractions, or no such unit */
    int step = (most - least) / MOST_SIZES + 1;
    fprintf(script, "set xrange [%g:%g]\nset xtics (", ldexp(1, least) / 1.02, ldexp(1, most) * 1.02);
    for (int e = (least + step - 1) / step * step; e <= most; e += step)
        fprintf(script, "%s\"%d%s\" %.0f", e > least + step - 1 ? ", " : "", 1 << e % 10, unit[e / 10], ldexp(1, e));
    fprintf(script, ")\n");
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
    bool sizes = plot->log_x && powers_of_two(plot);
    if (plot->log_x) fprintf(script, sizes ? "set logscale x 2\n" : "set logscale x\n");
    if (sizes) put_sizes(plot, script);
    if (plot->log_y) fprintf(script, "set logscale y\n");
    put_y_range(plot, script);
    fprintf(script,
            "set key at screen 0.5, screen 0.01 center bottom horizontal Left reverse maxcols %d samplen 3 spacing 1\n"
            "set bmargin %g\nset grid x y lc rgb '#cccccc'\n",
            key_columns(plot), 3.4 + 1.05 * key_rows(plot));
}

static void bar_axes(const struct fc_paper_plot *plot, FILE *script)
{
    curve_axes(plot, script);
    put_categories(plot, script);
    fprintf(script, "set xrange [-0.6:%g]\nunset grid\nset grid y lc rgb '#cccccc'\n", plot->n_categories - 0.4);
}

static void row_axes(const struct fc_paper_plot *plot, FILE *script)
{
    double most = 1.4;
    for (int i = 0; i < plot->n_series; i++)
        for (size_t j = 0; j < plot->series[i].n; j++)
            if (isfinite(plot->series[i].x[j])) most = fmax(most, 1.15 * fabs(plot->series[i].x[j]));
    fprintf(
        script,
        "unset ytics\nset yrange [%g:-0.7]\nset xrange [%g:%g]\nset xtics %g\nset rmargin %g\nset lmargin %g\nunset key\n"
        "set object 1 rectangle from -1, graph 0 to 1, graph 1 fc rgb '#dddddd' fs solid noborder behind\n"
        "set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#666666'\n"
        "set grid x lc rgb '#cccccc'\n",
        plot->n_categories - 0.3, -most, most, most < 2 ? 1 : fc_round_step(2 * most, 6),
        3 + LETTER * (double)longest(plot->note, plot->n_categories),
        3 + LETTER * (double)longest(plot->category, plot->n_categories));
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
    double wide_in = width_in(plot), high_in = 0.62 * wide_in + 0.75 + 0.14 * key_rows(plot);
    int width = 1000, height = 0;
    if (plot->form == FC_PAPER_ROWS) {
        width = 420 + 7 * (int)(longest(plot->category, plot->n_categories) + longest(plot->note, plot->n_categories));
        height = 150 + 22 * plot->n_categories;
    }
    if (plot->form == FC_PAPER_PANELS) height = fc_paper_panels_height(plot);
    if (height) high_in = wide_in * height / width;
    fprintf(
        script,
        "if (!exists('part')) part = ''\n"
        "if (!exists('width')) width = %g # inches, as printed; letters are 8 pt\n"
        "height = width * %g\n"
        "set terminal pngcairo size 300*width,300*height font 'DejaVu Sans,8' fontscale 300/96. linewidth 300/96.*0.6 "
        "pointscale 300/96.*0.6 noenhanced\n"
        "set datafile separator '\\t'\n"
        "set datafile missing 'nan'\n"
        "set datafile commentschars ''\n",
        wide_in, high_in / wide_in);
    put_output(plot, script, ".png");
    if (plot->form != FC_PAPER_PANELS) put_titles(plot, script);
    switch (plot->form) {
    case FC_PAPER_CURVES: curve_axes(plot, script); break;
    case FC_PAPER_BARS: bar_axes(plot, script); break;
    case FC_PAPER_ROWS: row_axes(plot, script); break;
    case FC_PAPER_PANELS: break;
    }
    put_drawing(plot, script, false);
    fprintf(script,
            "set terminal svg size 96*width,96*height font 'DejaVu Sans,10.67' noenhanced background 'white'\n");
    put_output(plot, script, ".svg");
    put_drawing(plot, script, true);
    /* Letters of 8 pt: pango counts them at 96 to an inch, pages at 72. Wider by a letter than drawn, keys would take more rows. */
    fprintf(script,
            "set terminal pdfcairo size width,height font 'DejaVu Sans,8' fontscale 0.75 pointscale 0.6 noenhanced\n%s",
            plot->form == FC_PAPER_CURVES || plot->form == FC_PAPER_BARS ? "set key width -1\n" : "");
    put_output(plot, script, ".pdf");
    put_drawing(plot, script, true);
    fprintf(script, "unset output\n");
}
