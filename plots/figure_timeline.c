/* figure_timeline.c - what each rank of a replayed job does when: the timeline of Projections (Kale, Zheng, Lee &
 * Kumar, FGCS 2006), a frame a prediction, a bar a rank, rank 0 on top. Where a bin of time, or a row of several
 * ranks, holds more than one thing, the height of the bar is divided; what is left white is over. */
#include "plots/plots.h"
#include "plots/rank_states.h"

#include <math.h>

static const struct fc_column columns[] = {
    {"series", FC_CELL_INT, NULL, FC_NUMBER, NULL},
    {"prediction", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
    {"first_rank", FC_CELL_INT, NULL, FC_NUMBER, NULL},
    {"ranks", FC_CELL_INT, NULL, FC_NUMBER, NULL},
    {"from_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"to_s", FC_CELL_REAL, NULL, FC_SECONDS, NULL},
    {"computation_share", FC_CELL_REAL, NULL, FC_NUMBER, NULL},
    {"receiving_share", FC_CELL_REAL, NULL, FC_NUMBER, NULL},
    {"sending_share", FC_CELL_REAL, NULL, FC_NUMBER, NULL},
    {"waiting_share", FC_CELL_REAL, NULL, FC_NUMBER, NULL},
};
enum { FIRST_SHARE = 7, JOINED = FC_TIMELINE_BINS / 512 }; /* gnuplot's number of the column; at most 512 bins */

struct shares {
    double of[FC_RANK_STATES]; /* in the order of the shades */
};

/* In bins b .. b + JOINED - 1, to the ten-thousandth: less is no dot high. */
static struct shares shares_of(const struct fc_timeline *t, uint32_t row, uint32_t b)
{
    struct shares s = {{0}};
    double all_s = fc_timeline_ranks(t, row) * t->n_processors * t->bin_s * JOINED;
    for (uint32_t at = b; at < b + JOINED; at++)
        for (int k = 0; k < FC_RANK_STATES; k++) s.of[k] += fc_timeline_at(t, row, at)[fc_rank_shades[k].state] / all_s;
    for (int k = 0; k < FC_RANK_STATES; k++) s.of[k] = round(1e4 * s.of[k]) / 1e4;
    return s;
}

static bool alike(const struct shares *a, const struct shares *b)
{
    for (int k = 0; k < FC_RANK_STATES; k++)
        if (a->of[k] != b->of[k]) return false;
    return true;
}

/* A row of the table for each run of bins that are alike; nothing where all ranks are through. */
static void add_row(struct fc_table *table, size_t i, const struct fc_plot_timeline *series, uint32_t row,
                    struct fc_status *st)
{
    const struct fc_timeline *t = series->timeline;
    for (uint32_t b = 0, end; b < t->n_bins && !st->code; b = end) {
        struct shares s = shares_of(t, row, b), next;
        for (end = b + JOINED; end < t->n_bins && (next = shares_of(t, row, end), alike(&s, &next));) end += JOINED;
        if (s.of[0] + s.of[1] + s.of[2] + s.of[3] == 0) continue;
        struct fc_cell cells[] = {{.integer = (long long)i},
                                  {.text = series->label},
                                  {.integer = (long long)row * t->ranks_per_row},
                                  {.integer = fc_timeline_ranks(t, row)},
                                  {.real = b * t->bin_s},
                                  {.real = end * t->bin_s},
                                  {.real = s.of[0]},
                                  {.real = s.of[1]},
                                  {.real = s.of[2]},
                                  {.real = s.of[3]}};
        fc_table_row(table, cells, st);
    }
}

/* Of a bar, in dots. */
static uint32_t pitch(uint32_t n_rows)
{
    return n_rows <= 8 ? 22 : n_rows <= 16 ? 14 : n_rows <= 32 ? 10 : 7;
}

/* Rows first .. end - 1 of the table. */
static void put_frame(FILE *script, size_t first, size_t end, const struct fc_plot_timeline *series)
{
    const struct fc_timeline *t = series->timeline;
    char label[400], rows[80] = "";
    if (t->ranks_per_row > 1) snprintf(rows, sizeof rows, " (a row: mean of %u ranks)", t->ranks_per_row);
    snprintf(label, sizeof label, "%s: %u rank%s%s", series->label, t->n_ranks, t->n_ranks == 1 ? "" : "s", rows);
    fc_script_words(script, "set title ", label);
    fprintf(script, "\nset yrange [%u:0]\nset ytics %s\n", t->n_ranks,
            t->n_ranks <= 8    ? "1"
            : t->n_ranks <= 16 ? "2"
                               : "autofreq");
    if (first == end) fprintf(script, "plot NaN notitle\n");
    if (first == end) return;
    for (int k = FC_RANK_STATES; k-- > 0;) { /* the lower ones over the upper ones */
        fprintf(script, "%s skip 1 every ::%zu::%zu using ((",
                k + 1 == FC_RANK_STATES ? "plot 'timeline.tsv'" : "     ''", first, end - 1);
        for (int j = 0; j <= k; j++) fprintf(script, "%s$%d", j ? " + " : "", FIRST_SHARE + j);
        fprintf(script, ") > 0 ? $5*s : NaN):3:($5*s):($6*s):($3 + 0.95*$4):($3 + 0.95*$4 - 0.9*$4*(");
        for (int j = 0; j <= k; j++) fprintf(script, "%s$%d", j ? " + " : "", FIRST_SHARE + j);
        fprintf(script, ")) with boxxyerror lc rgb '%s' title '%s'%s", fc_rank_shades[k].colour, fc_rank_shades[k].name,
                k ? ", \\\n" : "\n");
    }
}

static void write_script(FILE *script, const char *title, const struct fc_plot_timeline *series, size_t n,
                         const struct fc_table *table)
{
    double end_s = 0, height = 85;
    uint32_t bars[64];
    for (size_t i = 0; i < n; i++) {
        const struct fc_timeline *t = series[i].timeline;
        end_s = fmax(end_s, t->n_bins * t->bin_s);
        bars[i] = t->n_rows * pitch(t->n_rows) > 88 ? t->n_rows * pitch(t->n_rows) : 88; /* the key's height */
        height += bars[i] + 105;
    }
    if (!(end_s > 0)) end_s = 1e-9; /* nothing takes any time */
    struct fc_time_axis axis = fc_time_axis(end_s);
    fc_script_start(script, "timeline", title, FC_PAGE_IN, height / 150);
    fprintf(script, "set multiplot title ");
    fc_script_title(script, title, 0.6 * FC_PAGE_IN);
    fprintf(script, " left offset -50,0\n");
    fprintf(
        script,
        "set key outside top right horizontal\nset style fill solid 1 noborder\nset tics nomirror out\nset border 3\n"
        "set xlabel 'time (%s)'\nset ylabel 'rank'\nset xrange [0:%.9g]\ns = %g\n"
        "set lmargin at screen 0.1\nset rmargin at screen 0.98\n",
        axis.unit, end_s * axis.per_s, axis.per_s);
    double top = height - 85;
    for (size_t i = 0, first = 0, end = 0; i < n; i++, first = end) {
        while (end < table->n_rows && table->cells[end * (size_t)table->n_columns].integer == (long long)i) end++;
        fprintf(script, "set tmargin at screen %.4f\nset bmargin at screen %.4f\n", (top - 30) / height,
                (top - 30 - bars[i]) / height);
        put_frame(script, first, end, &series[i]);
        top -= bars[i] + 105;
    }
    fprintf(script, "unset multiplot\n");
}

enum fc_code fc_plot_timelines(const char *directory, const char *title, const struct fc_plot_timeline *series,
                               size_t n, struct fc_status *st)
{
    struct fc_script script;
    fc_script_open(&script, columns, FC_COUNT(columns), st);
    for (size_t i = 0; i < n; i++)
        for (uint32_t row = 0; row < series[i].timeline->n_rows && !st->code; row++)
            add_row(&script.data, i, &series[i], row, st);
    if (script.stream) write_script(script.stream, title, series, n, &script.data);
    return fc_script_draw(&script, directory, "timeline", st);
}
