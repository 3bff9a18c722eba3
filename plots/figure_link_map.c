/* figure_link_map.c - every router link as a cell of its panel, coloured by the time it is busy; grey: it
 * carries nothing. Lightness falls all the way, so the picture reads in grey. Links of nodes are left out
 * where they are a class apart. */
#include "plots/link_figures.h"

#include <math.h>

static double busy_ms(const void *context, uint32_t link)
{
    return 1e3 * ((const double *)context)[link];
}

enum fc_code fc_plot_link_map(const char *directory, const char *title, const struct fc_picture *picture,
                              const double *busy_s, struct fc_status *st)
{
    static const char palette[] = "0 '#e4e2de', 0.0001 '#e4e2de', 0.0001 '#fcde9c', 0.2 '#fabe64', 0.4 '#f0863e', "
                                  "0.6 '#ca4234', 0.8 '#82184c', 1 '#2c0834'";
    struct fc_cell_image image;
    struct fc_arena arena = {0};
    const struct fc_panel **panels = fc_alloc(&arena, (size_t)picture->n_panels, sizeof *panels, st);
    int n = 0;
    double most = 0;
    for (int i = 0; panels && i < picture->n_panels; i++)
        if (picture->panels[i].link_class != picture->node_class) panels[n++] = &picture->panels[i];
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < fc_panel_cells(panels[i]); k++)
            if (panels[i]->cell[k] != FC_NONE) most = fmax(most, busy_ms(busy_s, panels[i]->cell[k]));
    if (!st->code && !fc_cell_image_make(panels, n, busy_ms, busy_s, &image, st)) {
        fc_cell_image_draw(&image, panels, n, directory, "link-map", title, "busy_ms", palette,
                           "time the link is busy (ms); grey: carries nothing", most, st);
        fc_cell_image_free(&image);
    }
    fc_arena_free(&arena);
    return st->code;
}
