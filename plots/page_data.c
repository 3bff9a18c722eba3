/* page_data.c - the page's data: classes, layout of the network, and under each mapping what every link
 * carries and where every task sits, in the order of the layout's cells. */
#include "plots/page_internal.h"

#include <math.h>

/* ---- at a glance ---- */

static json_t *levels(const uint32_t *v, int n)
{
    json_t *list = json_array();
    for (int l = 1; l <= n; l++) json_array_append_new(list, json_integer(v[l]));
    return list;
}

static json_t *glance(const struct fc_glance *g)
{
    switch (g->kind) {
    case FC_GLANCE_SQUARES:
        return json_pack("{s:s, s:s, s:I}", "kind", "squares", "square", g->square, "columns", (json_int_t)g->columns);
    case FC_GLANCE_RING:
        return json_pack("{s:s, s:I, s:I, s:I}", "kind", "ring", "spots", (json_int_t)g->n_spots, "cables",
                         (json_int_t)g->cables, "perSpot", (json_int_t)g->per_spot);
    case FC_GLANCE_TREE:
        return json_pack("{s:s, s:o, s:o, s:o, s:I}", "kind", "tree", "children", levels(g->children, g->n_levels),
                         "parents", levels(g->parents, g->n_levels), "links", levels(g->links, g->n_levels), "planes",
                         (json_int_t)g->planes);
    case FC_GLANCE_NONE: break;
    }
    return json_pack("{s:s}", "kind", "none");
}

/* ---- layout ---- */

static json_t *panel_json(const struct fc_panel *p)
{
    return json_pack("{s:s, s:i, s:b, s:I, s:I, s:I, s:s, s:s, s:s}", "title", p->title, "class", p->link_class,
                     "glance", p->at_glance, "tiles", (json_int_t)p->n_tiles, "rows", (json_int_t)p->rows, "columns",
                     (json_int_t)p->columns, "tile", p->tile, "row", p->row, "column", p->column);
}

static json_t *classes(const struct fc_page *page)
{
    json_t *list = json_array();
    for (int c = 0; c < page->picture->n_classes; c++)
        json_array_append_new(list, json_pack("{s:s, s:I, s:b}", "title", page->picture->class_title[c], "links",
                                              (json_int_t)page->side[0].classes[c].count, "bottleneck",
                                              c == page->bottleneck_class));
    return list;
}

/* ---- loads ---- */

static size_t n_cells(const struct fc_picture *map)
{
    size_t n = 0;
    for (int i = 0; i < map->n_panels; i++) n += fc_panel_cells(&map->panels[i]);
    return n;
}

/* The value of every cell's link; NaN where there is none. */
static void by_cell(const struct fc_picture *map, const double *of_link, double *out)
{
    for (int i = 0; i < map->n_panels; i++)
        for (size_t k = 0; k < fc_panel_cells(&map->panels[i]); k++) {
            uint32_t link = map->panels[i].cell[k];
            *out++ = link == FC_NONE ? NAN : of_link[link];
        }
}

/* Seconds a byte of each class where all its links agree to 1e-9; false where some do not. */
static bool busy_factors(const struct fc_picture *picture, const struct fc_page_side *side, double *factor)
{
    for (int c = 0; c < picture->n_classes; c++) factor[c] = 0;
    for (uint32_t l = 0; l < picture->n_links; l++) {
        double *f = &factor[picture->link_class[l]];
        if (side->link_bytes[l] <= 0) {
            if (side->link_busy_s[l] != 0) return false;
            continue;
        }
        double own = side->link_busy_s[l] / side->link_bytes[l];
        if (*f == 0) *f = own;
        if (fabs(own - *f) > 1e-9 * *f) return false;
    }
    return true;
}

static json_t *side_json(const struct fc_page *page, const struct fc_page_side *side, uint32_t most_values,
                         struct fc_arena *arena, int *bits, struct fc_status *st)
{
    size_t n = n_cells(page->picture);
    double factor[FC_PICTURE_CLASSES];
    struct fc_packed bytes = {0}, busy = {0}, node = {0};
    double *v = fc_alloc(arena, n, sizeof *v, st);
    if (!v) return NULL;
    by_cell(page->picture, side->link_bytes, v);
    if (fc_pack_reals(v, n, most_values, arena, &bytes, st) ||
        fc_pack_numbers(side->node, page->n_tasks, arena, &node, st))
        return NULL;
    bool proportional = busy_factors(page->picture, side, factor);
    by_cell(page->picture, side->link_busy_s, v);
    if (!proportional && fc_pack_reals(v, n, most_values, arena, &busy, st)) return NULL;
    *bits = bytes.bits < *bits ? bytes.bits : *bits;
    if (!proportional && busy.bits < *bits) *bits = busy.bits;
    json_t *json = json_pack("{s:s, s:s%, s:s%}", "label", side->label, "bytes", bytes.text, bytes.length, "node",
                             node.text, node.length);
    if (!json) return NULL;
    json_t *factors = json_array();
    for (int c = 0; c < page->picture->n_classes; c++) json_array_append_new(factors, json_real(factor[c]));
    json_object_set_new(json, proportional ? "factor" : "busy",
                        proportional ? factors : json_stringn(busy.text, busy.length));
    if (!proportional) json_decref(factors);
    return json;
}

json_t *fc_page_data(const struct fc_page *page, uint32_t most_values, struct fc_arena *arena, int *bits,
                     struct fc_status *st)
{
    json_t *panels = json_array(), *sides = json_array(), *kinds = classes(page), *nodes = NULL;
    struct fc_packed cells = {0};
    size_t n_panels = (size_t)page->picture->n_panels;
    *bits = 53;
    for (size_t i = 0; i < n_panels && !st->code; i++) {
        json_t *panel = panel_json(&page->picture->panels[i]);
        if (panel)
            json_object_set_new(panel, "names", fc_page_names(page->picture, &page->picture->panels[i], arena, st));
        json_array_append_new(panels, panel);
    }
    for (int i = 0; i < 2 && !st->code; i++)
        json_array_append_new(sides, side_json(page, &page->side[i], most_values, arena, bits, st));
    if (!st->code) fc_pack_numbers(page->picture->nodes.cell, fc_panel_cells(&page->picture->nodes), arena, &cells, st);
    if (!st->code) {
        nodes = panel_json(&page->picture->nodes);
        json_object_set_new(nodes, "cell", json_stringn(cells.text, cells.length));
    }
    /* Jansson makes nothing of bytes that are not UTF-8 */
    bool whole = json_array_size(panels) == n_panels && json_array_size(sides) == 2 &&
                 json_array_size(kinds) == (size_t)page->picture->n_classes && page->side[0].prediction &&
                 page->side[1].prediction;
    if (!st->code && !whole)
        fc_refuse(st, FC_INPUT, "a name of the job, a mapping or the network is not UTF-8, which a page must be");
    if (!st->code)
        return json_pack("{s:o, s:o, s:o, s:o, s:i, s:o}", "glance", glance(&page->picture->glance), "classes", kinds,
                         "panels", panels, "nodes", nodes, "tasks", (int)page->n_tasks, "sides", sides);
    json_decref(panels);
    json_decref(sides);
    json_decref(kinds);
    json_decref(nodes);
    return NULL;
}
