/* figure_link_histogram.c - used links of each class by the bytes they carry, in equal bins up to the busiest
 * of the class; counts on a log scale. The form of Figures 6 and 7 of Bhatele et al., SC'11. */
#include "plots/link_figures.h"
#include "plots/plots.h"

#include <math.h>
#include <string.h>

enum { BINS = 20 };

static const struct fc_column columns[] = {
    {"class", FC_CELL_INT, NULL, FC_NUMBER, NULL},      {"name", FC_CELL_TEXT, NULL, FC_NUMBER, NULL},
    {"from_bytes", FC_CELL_REAL, NULL, FC_BYTES, NULL}, {"to_bytes", FC_CELL_REAL, NULL, FC_BYTES, NULL},
    {"links", FC_CELL_INT, NULL, FC_NUMBER, NULL},
};

struct bins {
    uint64_t n, used, links[BINS], tallest;
    double most_bytes;
};

static void count(const struct fc_picture *picture, const double *bytes, struct bins *bins)
{
    memset(bins, 0, FC_PICTURE_CLASSES * sizeof *bins);
    for (uint32_t l = 0; l < picture->n_links; l++) {
        struct bins *b = &bins[picture->link_class[l]];
        b->n++;
        b->most_bytes = fmax(b->most_bytes, bytes[l]);
    }
    for (uint32_t l = 0; l < picture->n_links; l++) {
        struct bins *b = &bins[picture->link_class[l]];
        if (bytes[l] <= 0) continue;
        int bin = (int)(bytes[l] / b->most_bytes * BINS);
        uint64_t n = ++b->links[bin < BINS ? bin : BINS - 1];
        b->used++;
        if (n > b->tallest) b->tallest = n;
    }
}

static void write_script(FILE *script, const char *title, const struct fc_picture *picture, const struct bins *bins,
                         int n_frames)
{
    fc_script_start(script, "link-histogram", title, FC_PAGE_IN, 2.4);
    fprintf(script, "set multiplot layout 1,%d title ", n_frames);
    fc_script_title(script, title, FC_PAGE_IN);
    fprintf(script,
            "\nset style fill solid 0.9 border lc rgb 'white'\nset logscale y\nset format y '%%g'\n"
            "set grid y\nunset key\nset xtics nomirror\nset ytics nomirror\nset border 3\nset ylabel 'links'\n");
    for (int c = 0; c < picture->n_classes; c++) {
        const struct bins *b = &bins[c];
        if (!b->used) continue;
        double unit = b->most_bytes >= 1e9 ? 1e9 : b->most_bytes >= 1e6 ? 1e6 : b->most_bytes >= 1e3 ? 1e3 : 1;
        double width = b->most_bytes / BINS / unit;
        char title_of[400];
        snprintf(title_of, sizeof title_of, "%s: %llu of %llu links used", picture->class_title[c],
                 (unsigned long long)b->used, (unsigned long long)b->n);
        fc_script_words(script, "set title ", title_of);
        fprintf(script, "\n");
        fprintf(script,
                "set xlabel 'bytes of a link (%s)'\nset boxwidth %g\nset xrange [0:%g]\nset xtics %g\nset "
                "yrange [0.6:%g]\n",
                unit == 1e9   ? "GB"
                : unit == 1e6 ? "MB"
                : unit == 1e3 ? "KB"
                              : "B",
                width, b->most_bytes / unit * 1.02, fc_round_step(b->most_bytes / unit, n_frames > 2 ? 3 : 5),
                2.0 * (double)b->tallest);
        fprintf(script,
                "set format x '%%.3g'\nplot 'link-histogram.tsv' skip 1 using (column(1) == %d && column(5) "
                "> 0 ? "
                "(column(3) + column(4)) / 2 / %g : NaN):5 with boxes lc rgb '#005c99'\n",
                c, unit);
    }
    fprintf(script, "unset multiplot\n");
}

enum fc_code fc_plot_link_histogram(const char *directory, const char *title, const struct fc_picture *picture,
                                    const double *bytes, struct fc_status *st)
{
    struct bins bins[FC_PICTURE_CLASSES];
    struct fc_script script;
    int n_frames = 0;
    count(picture, bytes, bins);
    fc_script_open(&script, columns, FC_COUNT(columns), st);
    for (int c = 0; c < picture->n_classes; c++) {
        n_frames += bins[c].used > 0;
        for (int b = 0; bins[c].used && b < BINS && !st->code; b++) {
            struct fc_cell cells[] = {{.integer = c},
                                      {.text = picture->class_name[c]},
                                      {.real = b * bins[c].most_bytes / BINS},
                                      {.real = (b + 1) * bins[c].most_bytes / BINS},
                                      {.integer = (long long)bins[c].links[b]}};
            fc_table_row(&script.data, cells, st);
        }
    }
    if (!st->code && n_frames == 0) fc_refuse(st, FC_NO, "no link carries anything: there is no histogram to plot");
    if (script.stream) write_script(script.stream, title, picture, bins, n_frames);
    return fc_script_draw(&script, directory, "link-histogram", st);
}
