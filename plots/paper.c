/* paper.c - grows a figure in a paper's form and writes its files: the table, the script, and what gnuplot
 * makes of them.
 *
 * gnuplot writes to NAME.png.part and so on, which take their names when all three are there: a figure that
 * was interrupted leaves no half picture. */
#include "core/array.h"
#include "plots/paper_script.h"
#include "plots/plots.h"

#include <math.h>
#include <stdlib.h>

/* ---- growing ---- */

int fc_paper_series_add(struct fc_paper_plot *plot, enum fc_paper_mark mark, int style, const char *label)
{
    if (!FC_GROW(plot->series, plot->capacity, plot->n_series + 1)) return -1;
    plot->series[plot->n_series] = (struct fc_paper_series){.label = label, .mark = mark, .style = style};
    return plot->n_series++;
}

int fc_paper_category_add(struct fc_paper_plot *plot, const char *name, const char *note)
{
    if (plot->n_categories == plot->category_capacity) {
        int more = plot->category_capacity ? 2 * plot->category_capacity : 16;
        const char **names = realloc(plot->category, (size_t)more * sizeof *names);
        if (names) plot->category = names;
        const char **notes = names ? realloc(plot->note, (size_t)more * sizeof *notes) : NULL;
        if (!notes) return -1;
        plot->note = notes;
        plot->category_capacity = more;
    }
    plot->category[plot->n_categories] = name;
    plot->note[plot->n_categories] = note;
    return plot->n_categories++;
}

bool fc_paper_point_add(struct fc_paper_plot *plot, int series, double x, double y, double low, double high)
{
    struct fc_paper_series *s = &plot->series[series];
    if (s->n == s->capacity) {
        size_t more = s->capacity ? 2 * s->capacity : 16;
        double **column[] = {&s->x, &s->y, &s->low, &s->high};
        for (int c = 0; c < 4; c++) {
            double *grown = realloc(*column[c], more * sizeof *grown);
            if (!grown) return false;
            *column[c] = grown;
        }
        s->capacity = more;
    }
    s->x[s->n] = x;
    s->y[s->n] = y;
    s->low[s->n] = low < high ? low : NAN;
    s->high[s->n++] = low < high ? high : NAN;
    return true;
}

void fc_paper_free(struct fc_paper_plot *plot)
{
    for (int i = 0; i < plot->n_series; i++) {
        struct fc_paper_series *s = &plot->series[i];
        free(s->x);
        free(s->y);
        free(s->low);
        free(s->high);
    }
    free(plot->series);
    free(plot->category);
    free(plot->note);
    *plot = (struct fc_paper_plot){0};
}

/* ---- the table ---- */

static enum fc_code write_table(const char *path, const struct fc_paper_plot *plot, struct fc_status *st)
{
    char low[96], high[96];
    bool rows = plot->form == FC_PAPER_ROWS;
    snprintf(low, sizeof low, "low_%s", rows ? plot->x_name : plot->y_name);
    snprintf(high, sizeof high, "high_%s", rows ? plot->x_name : plot->y_name);
    struct fc_column columns[] = {
        {.name = "series", .kind = FC_CELL_INT},      {.name = "label", .kind = FC_CELL_TEXT},
        {.name = "category", .kind = FC_CELL_TEXT},   {.name = plot->x_name, .kind = FC_CELL_REAL},
        {.name = plot->y_name, .kind = FC_CELL_REAL}, {.name = low, .kind = FC_CELL_REAL},
        {.name = high, .kind = FC_CELL_REAL}};
    FC_SCOPED(fc_table_free) struct fc_table table = {0};
    fc_table_start(&table, columns, FC_COUNT(columns));
    for (int i = 0; i < plot->n_series; i++)
        for (size_t j = 0; j < plot->series[i].n && !st->code; j++) {
            const struct fc_paper_series *s = &plot->series[i];
            bool panels = plot->form == FC_PAPER_PANELS;
            int category = panels ? s->panel : (int)lround(rows ? s->y[j] : s->x[j]);
            bool known = plot->form != FC_PAPER_CURVES && category >= 0 && category < plot->n_categories;
            struct fc_cell cells[] = {
                {.integer = i},      {.text = s->label}, {.text = known ? plot->category[category] : "-"},
                {.real = s->x[j]},   {.real = s->y[j]},  {.real = s->low[j]},
                {.real = s->high[j]}};
            fc_table_row(&table, cells, st);
        }
    struct fc_output out;
    if (!st->code && !fc_output_open(&out, path, st)) {
        fc_table_print_tsv(&table, out.stream);
        fc_output_close(&out, st);
    }
    return st->code;
}

enum fc_code fc_paper_write(const char *directory, const struct fc_paper_plot *plot, struct fc_status *st)
{
    static const char *const pictures[] = {"png", "svg", "pdf"};
    char path[FC_FIGURE_PATH];
    struct fc_output out;
    if (fc_figure_path(path, directory, plot->name, "tsv", st) || write_table(path, plot, st) ||
        fc_figure_path(path, directory, plot->name, "gp", st) || fc_output_open(&out, path, st))
        return st->code;
    fc_paper_print_script(plot, out.stream);
    if (fc_output_close(&out, st)) return st->code;
    return fc_gnuplot_draw(directory, plot->name, pictures, FC_COUNT(pictures), st);
}
