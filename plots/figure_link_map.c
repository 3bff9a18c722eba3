/* figure_link_map.c - every router link as a cell of its panel, coloured by the time it is busy; grey: it
 * carries nothing. Lightness falls all the way, so the picture reads in grey. Links of nodes are left out
 * where they are a class apart. */
#include "plots/link_figures.h"

#include <string.h>

static double busy_ms(const void *context, uint32_t link)
{
    return 1e3 * ((const double *)context)[link];
}

/* The largest unit in which it is not below 1. */
static const struct unit {
    const char *name;
    double of_ms;
} units[] = {{"s", 1e-3}, {"ms", 1}, {"us", 1e3}, {"ns", 1e6}};
static const struct unit *unit_of(double ms)
{
    size_t i = 0;
    while (i + 1 < FC_COUNT(units) && ms * units[i].of_ms < 1) i++;
    return &units[i];
}

/* The title with the name of the busiest link behind its first line; NULL: no memory. */
static const char *name_busiest(const char *title, const struct fc_picture *picture, uint32_t link,
                                struct fc_arena *arena, struct fc_status *st)
{
    char name[256];
    size_t first = strcspn(title, "\n"), size = strlen(title) + sizeof name + 32;
    char *all = fc_alloc(arena, size, 1, st);
    if (all)
        snprintf(all, size, "%.*s; busiest: %s%s", (int)first, title,
                 picture->link_name(picture->network, link, name, sizeof name), title + first);
    return all;
}

enum fc_code fc_plot_link_map(const char *directory, const char *title, const struct fc_picture *picture,
                              const double *busy_s, struct fc_status *st)
{
    static const char palette[] = "0 '#e4e2de', 0.0001 '#e4e2de', 0.0001 '#fcde9c', 0.2 '#fabe64', 0.4 '#f0863e', "
                                  "0.6 '#ca4234', 0.8 '#82184c', 1 '#2c0834'";
    char legend[80];
    struct fc_cell_image image;
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    const struct fc_panel **panels = fc_alloc(&arena, (size_t)picture->n_panels, sizeof *panels, st);
    int n = 0;
    uint32_t busiest = FC_NONE;
    double most = 0;
    for (int i = 0; panels && i < picture->n_panels; i++)
        if (picture->panels[i].link_class != picture->node_class) panels[n++] = &picture->panels[i];
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < fc_panel_cells(panels[i]); k++)
            if (panels[i]->cell[k] != FC_NONE && busy_ms(busy_s, panels[i]->cell[k]) > most) {
                busiest = panels[i]->cell[k];
                most = busy_ms(busy_s, busiest);
            }
    if (busiest != FC_NONE && picture->link_name && !st->code)
        title = name_busiest(title, picture, busiest, &arena, st);
    if (!st->code && !fc_cell_image_make(panels, n, busy_ms, busy_s, &image, st)) {
        const struct unit *unit = unit_of(most);
        snprintf(legend, sizeof legend, "time the link is busy (%s); grey: carries nothing", unit->name);
        fc_cell_image_draw(&image, panels, n, directory, "link-map", title, "busy_ms", palette, legend, unit->of_ms,
                           most, st);
        fc_cell_image_free(&image);
    }
    return st->code;
}
