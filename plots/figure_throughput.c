/* figure_throughput.c - throughput over time: what a replay moves between nodes, or the flits that a run of the
 * kernel delivers, a frame a course on the same axes. A bar a bin, at most MOST of a course: neighbours averaged. */
#include "plots/plots.h"

#include <math.h>

enum { MOST = 512, VALUE = 4 }; /* VALUE: its column */

static size_t joined(const struct fc_plot_course *c)
{
    return c->n > MOST ? (c->n + MOST - 1) / MOST : 1;
}

static void add_course(struct fc_table *table, size_t i, const struct fc_plot_course *c, struct fc_status *st)
{
    for (size_t b = 0, step = joined(c); b < c->n && !st->code; b += step) {
        size_t end = b + step < c->n ? b + step : c->n;
        double sum = 0;
        for (size_t k = b; k < end; k++) sum += c->value[k];
        struct fc_cell cells[] = {{.integer = (long long)i},
                                  {.text = c->label},
                                  {.real = (double)b * c->bin},
                                  {.real = (double)end * c->bin},
                                  {.real = sum / (double)(end - b)}};
        fc_table_row(table, cells, st);
    }
}

static void put_part(FILE *script, const struct fc_plot_throughput *plot)
{
    if (isnan(plot->from)) return;
    fprintf(script,
            "set object 1 rectangle from %.9g, graph 0 to %.9g, graph 1 fc rgb '#eeeeee' fs solid 1 noborder behind\n"
            "set label 1 ",
            plot->from * plot->x_scale, plot->to * plot->x_scale);
    fc_script_text(script, plot->part_label);
    fprintf(script, " at %.9g, graph 0.96 left offset 0.5,0\n", plot->from * plot->x_scale);
}

static void put_axes(FILE *script, const struct fc_plot_throughput *plot, const struct fc_table *table)
{
    double end = 0, most = isnan(plot->level) ? 0 : plot->level;
    for (size_t i = 0; i < plot->n; i++) end = fmax(end, (double)plot->courses[i].n * plot->courses[i].bin);
    for (size_t i = 0; i < table->n_rows; i++)
        most = fmax(most, table->cells[i * (size_t)table->n_columns + VALUE].real);
    fc_script_words(script, "\nset xlabel ", plot->x_label);
    fc_script_words(script, "\nset ylabel ", plot->y_label);
    fprintf(script,
            "\nset xrange [0:%.9g]\nset yrange [0:%.9g]\nset key outside top right horizontal\nset tics nomirror\n"
            "set border 3\nset grid y\nset style fill solid 1 noborder\nsx = %.9g\nsy = %.9g\n",
            end > 0 ? end * plot->x_scale : 1, most > 0 ? 1.15 * most * plot->y_scale : 1, plot->x_scale,
            plot->y_scale);
}

static void write_script(FILE *script, const char *title, const struct fc_plot_throughput *plot,
                         const struct fc_table *table)
{
    fc_script_start(script, "throughput", title, FC_PAGE_IN, 0.6 + 1.7 * (double)plot->n);
    fprintf(script, "set multiplot layout %zu,1 title ", plot->n);
    fc_script_title(script, title, 0.6 * FC_PAGE_IN);
    fprintf(script, " left offset -50,0");
    put_axes(script, plot, table);
    put_part(script, plot);
    for (size_t i = 0; i < plot->n; i++) {
        fc_script_words(script, "set title ", plot->courses[i].label);
        fprintf(script,
                "\nplot 'throughput.tsv' skip 1 using (column(1) == %zu ? ($3 + $4)/2*sx : NaN):"
                "($5*sy):(($4 - $3)*1.1*sx) with boxes lc rgb '#5b8cc4' notitle",
                i);
        if (!isnan(plot->level)) {
            fprintf(script, ", \\\n     %.9g with lines lw 2 dt 2 lc rgb 'black' title ", plot->level * plot->y_scale);
            fc_script_text(script, plot->level_label);
        }
        fprintf(script, "\n");
    }
    fprintf(script, "unset multiplot\n");
}

enum fc_code fc_plot_throughput(const char *directory, const char *title, const struct fc_plot_throughput *plot,
                                struct fc_status *st)
{
    char from[64], to[64];
    snprintf(from, sizeof from, "from_%s", plot->x_name);
    snprintf(to, sizeof to, "to_%s", plot->x_name);
    const struct fc_column columns[] = {{"series", FC_CELL_INT, NULL, FC_NUMBER, NULL},
                                        {"run", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
                                        {from, FC_CELL_REAL, NULL, FC_NUMBER, NULL},
                                        {to, FC_CELL_REAL, NULL, FC_NUMBER, NULL},
                                        {plot->y_name, FC_CELL_REAL, NULL, FC_NUMBER, NULL}};
    struct fc_script script;
    fc_script_open(&script, columns, FC_COUNT(columns), st);
    for (size_t i = 0; i < plot->n; i++) add_course(&script.data, i, &plot->courses[i], st);
    if (script.stream) write_script(script.stream, title, plot, &script.data);
    return fc_script_draw(&script, directory, "throughput", st);
}
