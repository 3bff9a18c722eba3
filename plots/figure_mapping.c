/* figure_mapping.c - which tasks sit on which node: a cell a node, coloured by the mean number of its tasks,
 * grey without any. A smooth run of colours is rank order, blocks are blocks, a patchwork is scattered. */
#include "plots/link_figures.h"

#include <math.h>

static double of_node(const void *context, uint32_t node)
{
    return ((const double *)context)[node];
}

enum fc_code fc_plot_mapping(const char *directory, const char *title, const struct fc_picture *picture,
                             const uint32_t *node, uint32_t n_tasks, struct fc_status *st)
{
    static const char palette[] = "0 '#00224e', 0.25 '#414d6b', 0.5 '#7c7b78', 0.75 '#bcaf6f', 1 '#fee838'";
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_cell_image image;
    const struct fc_panel *panel = &picture->nodes;
    double *mean = fc_alloc(&arena, picture->n_nodes, sizeof *mean, st);
    uint32_t *count = fc_alloc(&arena, picture->n_nodes, sizeof *count, st);
    if (mean && count) {
        for (uint32_t t = 0; t < n_tasks; t++) mean[node[t]] += t, count[node[t]]++;
        for (uint32_t n = 0; n < picture->n_nodes; n++) mean[n] = count[n] ? mean[n] / count[n] : NAN;
        if (!fc_cell_image_make(&panel, 1, of_node, mean, &image, st)) {
            fc_cell_image_draw(&image, &panel, 1, directory, "mapping", title, "mean_task", palette,
                               "mean number of its tasks", 1, n_tasks > 1 ? n_tasks - 1.0 : 1, st);
            fc_cell_image_free(&image);
        }
    }
    return st->code;
}
