/* paper_series.c - series of a figure in a paper's form, as elements of gnuplot's `plot`.
 *
 * A series' form of mark and dash differ as its colour does, so that a figure printed in grey can be read. Published values have
 * open marks or hollow bars, ours filled ones. */
#include "plots/paper_script.h"
#include "plots/plots.h"

#include <math.h>

enum { STYLES = 8, HATCHED = 4 }; /* bars from there on: their greys are those of the ones before */
static const int filled[STYLES] = {7, 5, 9, 13, 11, 15, 7, 5}, hollow[STYLES] = {6, 4, 8, 12, 10, 14, 6, 4};

bool fc_paper_has_points(const struct fc_paper_series *s)
{
    for (size_t j = 0; j < s->n; j++)
        if (isfinite(s->x[j]) && isfinite(s->y[j])) return true;
    return false;
}

static bool has_bars(const struct fc_paper_series *s)
{
    for (size_t j = 0; j < s->n; j++)
        if (isfinite(s->low[j]) && isfinite(s->high[j])) return true;
    return false;
}

/* Of limits each has a dash of its own. */
static int limit_dash(const struct fc_paper_plot *plot, int i)
{
    int n = 2;
    for (int k = 0; k < i; k++) n += plot->series[k].mark == FC_PAPER_LIMIT;
    return n;
}

/* Starts a series: rows of number i, shifted along x, then the columns `using`. */
static void start(const struct fc_paper_plot *plot, FILE *script, int i, double shift, const char *columns, bool *first)
{
    fprintf(script, "%s", *first ? "plot " : ", \\\n     ");
    fc_script_file(script, plot->name, ".tsv");
    fprintf(script, " skip 1 using (column(1) == %d ? column(4) + %g : NaN):%s ", i, shift, columns);
    *first = false;
}

/* Error bars as arrows with flat heads: those of gnuplot wipe out the mark that they stand on. */
#define ERROR_BAR "with vectors heads size graph 0.008,90 lw 1.5 lc rgb '%s' notitle"

static void put_label(FILE *script, const char *label)
{
    if (!*label) {
        fprintf(script, " notitle");
        return;
    }
    fprintf(script, " title ");
    fc_script_text(script, label);
}

void fc_paper_put_curve(const struct fc_paper_plot *plot, FILE *script, int i, bool *first)
{
    const struct fc_paper_series *s = &plot->series[i];
    int style = s->style % STYLES;
    const char *colour = fc_series_colours[style];
    start(plot, script, i, 0, "5", first);
    switch (s->mark) {
    case FC_PAPER_PUBLISHED: fprintf(script, "with points pt %d ps 1.8 lw 2 lc rgb '%s'", hollow[style], colour); break;
    case FC_PAPER_FILLED: fprintf(script, "with points pt %d ps 1 lc rgb '%s'", filled[style], colour); break;
    case FC_PAPER_OURS:
        fprintf(script, "with linespoints lw 2 dt %d pt %d ps 0.9 lc rgb '%s'", style % 5 + 1, filled[style], colour);
        break;
    case FC_PAPER_LINE: fprintf(script, "with lines lw 2 dt %d lc rgb '%s'", style % 5 + 1, colour); break;
    case FC_PAPER_LIMIT: fprintf(script, "with lines lw 1.5 dt %d lc rgb '#666666'", limit_dash(plot, i)); break;
    }
    put_label(script, s->label);
    if (!has_bars(s)) return;
    start(plot, script, i, 0, "6:(0):(column(7) - column(6))", first);
    fprintf(script, ERROR_BAR, colour);
}

/* Bar series side by side: `at` of `n`. */
void fc_paper_put_bar(const struct fc_paper_plot *plot, FILE *script, int i, int at, int n, bool *first)
{
    const struct fc_paper_series *s = &plot->series[i];
    double width = 0.8 / n, shift = (at - (n - 1) / 2.0) * width;
    const char *colour = fc_series_colours[s->style % STYLES];
    if (s->mark == FC_PAPER_LIMIT) {
        start(plot, script, i, -0.42, "5:(0.84):(0)", first);
        fprintf(script, "with vectors nohead lw 2 dt %d lc rgb 'black'", limit_dash(plot, i));
        put_label(script, s->label);
        return;
    }
    char columns[32];
    snprintf(columns, sizeof columns, "5:(%g)", 0.92 * width);
    start(plot, script, i, shift, columns, first);
    if (s->mark == FC_PAPER_PUBLISHED)
        fprintf(script, "with boxes fs solid 0 border lc rgb 'black' lw 1.5");
    else if (s->style % STYLES < HATCHED)
        fprintf(script, "with boxes lc rgb '%s' fs solid 0.9 border lc rgb 'black'", colour);
    else
        fprintf(script, "with boxes lc rgb '%s' fs pattern %d border lc rgb 'black'", colour, 4 + s->style % 2);
    put_label(script, s->label);
    if (!has_bars(s)) return;
    start(plot, script, i, shift, "6:(0):(column(7) - column(6))", first);
    fprintf(script, ERROR_BAR, "black");
}

void fc_paper_put_row(const struct fc_paper_plot *plot, FILE *script, int i, bool *first)
{
    const struct fc_paper_series *s = &plot->series[i];
    start(plot, script, i, 0, "5", first);
    fprintf(script, "with points pt %d ps 1.2 lw 2 lc rgb '%s'",
            (s->mark == FC_PAPER_PUBLISHED ? hollow : filled)[s->style % STYLES], fc_series_colours[s->style % STYLES]);
    put_label(script, s->label);
    if (!has_bars(s)) return;
    fprintf(script, ", \\\n     ");
    fc_script_file(script, plot->name, ".tsv");
    fprintf(script, " skip 1 using (column(1) == %d ? column(6) : NaN):5:(column(7) - column(6)):(0) " ERROR_BAR, i,
            fc_series_colours[s->style % STYLES]);
}
