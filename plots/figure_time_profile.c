/* figure_time_profile.c - the share of all ranks that computes, receives, sends, waits, over time, a frame a
 * prediction: the time profile of Projections, the form of Figure 10 of Bhatele et al., SC'11. */
#include "plots/plots.h"
#include "plots/rank_states.h"

#include <math.h>

static const struct fc_column columns[] = {
    {"series", FC_CELL_INT, NULL, FC_NUMBER, NULL},
    {"prediction", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
    {"from_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"to_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"computation_percent", FC_CELL_REAL, NULL, FC_NUMBER, NULL},
    {"receiving_percent", FC_CELL_REAL, NULL, FC_NUMBER, NULL},
    {"sending_percent", FC_CELL_REAL, NULL, FC_NUMBER, NULL},
    {"waiting_percent", FC_CELL_REAL, NULL, FC_NUMBER, NULL},
};
enum { FIRST_PERCENT = 5, JOINED = FC_TIMELINE_BINS / 256 }; /* at most 256 bins are shown */

/* Of all ranks in bins b .. b + JOINED - 1. */
static void add_bin(struct fc_table *table, size_t i, const struct fc_plot_timeline *series, uint32_t b,
                    struct fc_status *st)
{
    const struct fc_timeline *t = series->timeline;
    uint32_t end = b + JOINED < t->n_bins ? b + JOINED : t->n_bins;
    double percent[FC_RANK_STATES] = {0}, all_s = t->n_ranks * t->n_processors * t->bin_s * (end - b);
    for (uint32_t row = 0; row < t->n_rows; row++)
        for (uint32_t at = b; at < end; at++)
            for (int k = 0; k < FC_RANK_STATES; k++)
                percent[k] += 100 * fc_timeline_at(t, row, at)[fc_rank_shades[k].state] / all_s;
    struct fc_cell cells[] = {{.integer = (long long)i}, {.text = series->label}, {.real = b * t->bin_s},
                              {.real = end * t->bin_s},  {.real = percent[0]},    {.real = percent[1]},
                              {.real = percent[2]},      {.real = percent[3]}};
    fc_table_row(table, cells, st);
}

static void put_frame(FILE *script, size_t i, const char *label)
{
    fc_script_words(script, "set title ", label);
    fprintf(script, "\n");
    for (int k = FC_RANK_STATES; k-- > 0;) {
        fprintf(script, "%s skip 1 using (column(1) == %zu ? ($3 + $4)/2*s : NaN):(",
                k + 1 == FC_RANK_STATES ? "plot 'time-profile.tsv'" : "     ''", i);
        for (int j = 0; j <= k; j++) fprintf(script, "%s$%d", j ? " + " : "", FIRST_PERCENT + j);
        fprintf(script, "):(($4 - $3)*1.1*s) with boxes lc rgb '%s' title '%s'%s", fc_rank_shades[k].colour,
                fc_rank_shades[k].name, k ? ", \\\n" : "\n");
    }
}

static void write_script(FILE *script, const char *title, const struct fc_plot_timeline *series, size_t n)
{
    double end_s = 0;
    for (size_t i = 0; i < n; i++) end_s = fmax(end_s, series[i].timeline->n_bins * series[i].timeline->bin_s);
    if (!(end_s > 0)) end_s = 1e-9; /* nothing takes any time */
    struct fc_time_axis axis = fc_time_axis(end_s);
    fc_script_start(script, "time-profile", title, FC_PAGE_IN, 0.6 + 1.7 * (double)n);
    fprintf(script, "set multiplot layout %zu,1 title ", n);
    fc_script_title(script, title, 0.6 * FC_PAGE_IN);
    fprintf(script, " left offset -50,0");
    fprintf(script,
            "\nset key outside top right horizontal\nset style fill solid 1 noborder\nset tics nomirror out\n"
            "set border 3\nset xlabel 'time (%s)'\nset ylabel 'share of the ranks (%%)'\nset xrange [0:%.9g]\n"
            "set yrange [0:100]\ns = %g\n",
            axis.unit, end_s * axis.per_s, axis.per_s);
    for (size_t i = 0; i < n; i++) put_frame(script, i, series[i].label);
    fprintf(script, "unset multiplot\n");
}

enum fc_code fc_plot_time_profiles(const char *directory, const char *title, const struct fc_plot_timeline *series,
                                   size_t n, struct fc_status *st)
{
    struct fc_script script;
    fc_script_open(&script, columns, FC_COUNT(columns), st);
    for (size_t i = 0; i < n; i++)
        for (uint32_t b = 0; b < series[i].timeline->n_bins && !st->code; b += JOINED)
            add_bin(&script.data, i, &series[i], b, st);
    if (script.stream) write_script(script.stream, title, series, n);
    return fc_script_draw(&script, directory, "time-profile", st);
}
