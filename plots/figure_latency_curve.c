/* figure_latency_curve.c - latency (left axis) and accepted load (right axis) against offered load: the usual
 * figure of a network (Dally & Towles 2004, section 23.1). Latency ends where the network is saturated;
 * it counts the queue at the source. A model is a line with its error as a band, what was measured points with error bars. */
#include "plots/plots.h"

#include <math.h>

enum { MOST_BANDS = 4 }; /* more lie on each other */

static const struct fc_plot_axes native = {"flits/node/cycle", "flits_per_node_cycle", "cycles", "cycles"};

static double latency_at(const struct fc_plot_curve *curve, size_t j, bool model)
{
    if (!model) return curve->points[j].latency_cycles;
    return curve->model ? curve->model[j].latency_cycles : (double)NAN;
}

/* The greatest latency from which the curve comes down again (as UGAL's does where packets begin to turn away); 0: none. */
static double hump(const struct fc_plot_curve *curve, bool model)
{
    double lowest = INFINITY, most = 0;
    for (size_t j = curve->n; j-- > 0;) {
        double latency = latency_at(curve, j, model);
        if (latency > 1.1 * lowest) most = fmax(most, latency);
        lowest = fmin(lowest, latency); /* fmin and fmax pass over NaN */
    }
    return most;
}

/* What the axes span: loads to the last point that shows anything, and past what saturates, latencies to a few times the least one of the curve for which that is most,
 * as papers cut them, and to where a curve comes down again. */
static void spans(const struct fc_plot_curve *curves, size_t n, double *load, double *latency)
{
    *load = *latency = 0;
    for (size_t i = 0; i < n; i++) {
        double least = INFINITY, most = 0, humps = fmax(hump(&curves[i], false), hump(&curves[i], true));
        for (size_t j = 0; j < curves[i].n; j++) {
            const struct fc_plot_latency *p = &curves[i].points[j];
            bool shown = !isnan(p->accepted) || !isnan(p->latency_cycles);
            if (shown || !isnan(latency_at(&curves[i], j, true))) *load = fmax(*load, p->load);
            least = fmin(least, fmin(p->latency_cycles, latency_at(&curves[i], j, true)));
            most = fmax(most, fmax(p->latency_cycles, latency_at(&curves[i], j, true)));
        }
        if (isfinite(curves[i].saturation)) *load = fmax(*load, 1.05 * curves[i].saturation);
        if (isfinite(least)) *latency = fmax(*latency, fmin(1.1 * most, fmax(6 * least, 1.1 * humps)));
    }
    if (*latency == 0) *latency = 1;
    for (size_t i = 0; *load == 0 && i < n; i++)
        for (size_t j = 0; j < curves[i].n; j++) *load = fmax(*load, curves[i].points[j].load);
}

/* Starts a series of curve i: the columns `using` of the data, abscissa the offered load. */
static void put_series(FILE *script, size_t i, const char *columns_used, size_t *n_series)
{
    fprintf(script, "%s'latency-curve.tsv' skip 1 using (column(1) == %zu ? column(3) : NaN):%s ",
            (*n_series)++ ? ", \\\n     " : "", i, columns_used);
}

/* Bands first, so that they lie behind all lines. */
static void put_band(FILE *script, const struct fc_plot_curve *curve, size_t i, const char *colour, size_t *n_series)
{
    bool banded = false;
    for (size_t j = 0; j < curve->n; j++) banded = banded || !isnan(curve->model[j].low_cycles);
    if (!banded) return;
    put_series(script, i, "8:9", n_series);
    fprintf(script, "with filledcurves fs solid 0.2 noborder lc rgb '%s' notitle", colour);
}

/* The key has the saturation, since a label at its line would lie on curves, on the frame, or on that of another curve. */
static const char *key_text(char out[256], const struct fc_plot_curve *curve, const char *what, bool saturation)
{
    int n = snprintf(out, 256, "%.150s%s", curve->label, what);
    if (saturation && !isnan(curve->saturation))
        snprintf(out + n, 256 - (size_t)n, ", saturation %.4g", curve->saturation);
    return out;
}

/* Of curves of one colour each has another. */
static int dash_of(size_t i)
{
    return (int)((i + i / FC_COUNT(fc_series_colours)) % 5) + 1;
}

static void put_model(FILE *script, const struct fc_plot_curve *curve, size_t i, const char *colour, size_t *n_series)
{
    char label[256];
    put_series(script, i, "7", n_series);
    fprintf(script, "with lines lw 1.2 dt %d lc rgb '%s' title ", dash_of(i), colour);
    fc_script_text(script, key_text(label, curve, curve->measured ? ", queueing model" : "", !curve->measured));
}

static void put_points(FILE *script, const struct fc_plot_curve *curve, size_t i, const char *colour, size_t *n_series)
{
    put_series(script, i, "5:6", n_series);
    fprintf(script, "with %s pt %d ps 0.8 lc rgb '%s' title ", curve->model ? "yerrorbars lw 0.8" : "yerrorlines lw 1",
            fc_series_marks[i % 8], colour);
    char label[256];
    fc_script_text(script, key_text(label, curve, curve->model ? ", kernel" : "", true));
    put_series(script, i, "4", n_series);
    fprintf(script, "axes x1y2 with linespoints lw 1 dt 2 pt 4 ps 0.7 lc rgb '%s' title 'accepted'", colour);
}

static void write_script(FILE *script, const char *title, const struct fc_plot_axes *axes,
                         const struct fc_plot_curve *curves, size_t n)
{
    double load, latency;
    bool measured = false;
    int lines = 0; /* of the key */
    for (size_t i = 0; i < n; i++) {
        measured |= curves[i].measured;
        lines += (curves[i].model != NULL) + 2 * curves[i].measured;
    }
    spans(curves, n, &load, &latency);
    fc_script_start(script, "latency-curve", title, FC_COLUMN_IN, (n > 1 ? 2.9 : 2.5) + 0.14 * lines);
    fc_script_titled(script, title, FC_COLUMN_IN);
    fprintf(script,
            "\n"
            "set xlabel 'offered load (%s)'\n"
            "set ylabel 'packet latency (%s)'\n"
            "set xrange [0:%g]\n"
            "set yrange [0:%g]\n"
            "set xtics %g nomirror\n"
            "set ytics nomirror\n"
            "set border 3\n"
            "set key below maxcols 1 height 1 Left reverse\n" /* over the curves it would hide some */
            "set grid x y\n",
            axes->load, axes->latency, load * 1.02, latency, fc_round_step(load, 5));
    if (measured)
        fprintf(script, "set y2label 'accepted load (%s)'\nset y2range [0:%g]\nset y2tics %g\nset border 11\n",
                axes->load, load * 1.02, fc_round_step(load, 5));
    for (size_t i = 0; i < n; i++)
        if (!isnan(curves[i].saturation))
            fprintf(script, "set arrow from %g, graph 0 to %g, graph 1 nohead dt 3 lc rgb '%s'\n", curves[i].saturation,
                    curves[i].saturation, fc_series_colours[i % FC_COUNT(fc_series_colours)]);
    fprintf(script, "plot ");
    size_t n_series = 0;
    for (size_t i = 0; i < n; i++)
        if (curves[i].model && n <= MOST_BANDS)
            put_band(script, &curves[i], i, fc_series_colours[i % FC_COUNT(fc_series_colours)], &n_series);
    for (size_t i = 0; i < n; i++) {
        const char *colour = fc_series_colours[i % FC_COUNT(fc_series_colours)];
        if (curves[i].model) put_model(script, &curves[i], i, colour, &n_series);
        if (curves[i].measured) put_points(script, &curves[i], i, colour, &n_series);
    }
    fprintf(script, "\n");
}

enum fc_code fc_plot_latency_curves(const char *directory, const char *title, const struct fc_plot_axes *axes,
                                    const struct fc_plot_curve *curves, size_t n, struct fc_status *st)
{
    static const struct {
        const char *before;
        bool is_load;
    } heads[] = {{"offered", true},        {"accepted", true},   {"packet_latency", false}, {"half_width", false},
                 {"model_latency", false}, {"model_low", false}, {"model_high", false}};
    char name[FC_COUNT(heads)][64];
    struct fc_column columns[2 + FC_COUNT(heads)] = {{"series", FC_CELL_INT, NULL, FC_NUMBER, NULL},
                                                     {"machine", FC_CELL_TEXT, NULL, FC_NUMBER, NULL}};
    struct fc_script script;
    if (!axes) axes = &native;
    for (size_t k = 0; k < FC_COUNT(heads); k++) {
        snprintf(name[k], sizeof name[k], "%s_%s", heads[k].before,
                 heads[k].is_load ? axes->load_column : axes->latency_column);
        columns[2 + k] = (struct fc_column){name[k], FC_CELL_REAL, NULL, FC_NUMBER, NULL};
    }
    fc_script_open(&script, columns, FC_COUNT(columns), st);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < curves[i].n && !st->code; j++) {
            const struct fc_plot_latency *p = &curves[i].points[j];
            const struct fc_plot_band none = {NAN, NAN, NAN}, *m = curves[i].model ? &curves[i].model[j] : &none;
            struct fc_cell cells[] = {
                {.integer = (long long)i},   {.text = curves[i].label},   {.real = p->load},
                {.real = p->accepted},       {.real = p->latency_cycles}, {.real = p->half_width_cycles},
                {.real = m->latency_cycles}, {.real = m->low_cycles},     {.real = m->high_cycles}};
            fc_table_row(&script.data, cells, st);
        }
    if (script.stream) write_script(script.stream, title, axes, curves, n);
    return fc_script_draw(&script, directory, "latency-curve", st);
}
