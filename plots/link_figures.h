/* link_figures.h - pictures of one run's links and nodes: heat maps, histograms by class, task blocks. */
#pragma once

#include "core/picture.h"

/* link-map.png: every router link as a cell by the time it is busy, the panels of the layout one under the
 * other (figure_link_map.c). busy_s [n_links]. */
enum fc_code fc_plot_link_map(const char *directory, const char *title, const struct fc_picture *picture,
                              const double *busy_s, struct fc_status *st);
/* link-histogram.png: used links by bytes, a frame a class, as Figures 6 and 7 of the PERCS paper
 * (figure_link_histogram.c). bytes [n_links]. */
enum fc_code fc_plot_link_histogram(const char *directory, const char *title, const struct fc_picture *picture,
                                    const double *bytes, struct fc_status *st);
/* mapping.png: every node as a cell by the mean number of its tasks (figure_mapping.c). node [n_tasks]. */
enum fc_code fc_plot_mapping(const char *directory, const char *title, const struct fc_picture *picture,
                             const uint32_t *node, uint32_t n_tasks, struct fc_status *st);

/* ---- what they share (cell_image.c): panels laid out as one image ---- */

struct fc_cell_image {
    struct fc_arena arena;
    uint32_t width, height;
    double *value;        /* [height][width], top row first; NaN: nothing there */
    uint32_t *top, *left; /* [n_panels] row of the panel's title, its first column */
};
/* `of(context, link or node)` of every cell of the panels; tiles fill rows of about `width` cells (0:
 * chosen). */
enum fc_code fc_cell_image_make(const struct fc_panel *const *panels, int n_panels,
                                double (*of)(const void *context, uint32_t item), const void *context,
                                struct fc_cell_image *image, struct fc_status *st);
void fc_cell_image_free(struct fc_cell_image *image);
/* Writes NAME.tsv (x, y, `column`) and NAME.gp and draws it, values from 0 to `most`, times `unit` beside the bar of colours:
 * `palette` and `legend` are gnuplot's. */
enum fc_code fc_cell_image_draw(const struct fc_cell_image *image, const struct fc_panel *const *panels, int n_panels,
                                const char *directory, const char *name, const char *title, const char *column,
                                const char *palette, const char *legend, double unit, double most,
                                struct fc_status *st);
