/* page_data.c - the page's data: classes, layout of the network, and under each mapping what every link
 * carries and where every task sits, in the order of the layout's cells. Names of links follow from the shape
 * by the rules of the families (plots/report_names.js); those of graphs are listed. */
#include "plots/page_internal.h"
#include "models/family_fat_tree.h"
#include "models/family_tmesh.h"
#include "models/family_torus.h"
#include "models/family_two_level.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes ---- */

static json_t *list_of(const uint32_t *v, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, json_integer(v[i]));
    return list;
}

static json_t *torus_shape(const struct fc_network *net)
{
    const struct fc_torus_shape *s = fc_torus(net);
    return json_pack("{s:o, s:o, s:i}", "k", list_of(s->k, s->n_dims), "parallel",
                     list_of(s->parallel, s->n_dims), "perRouter", (int)s->nodes_per_router);
}

static json_t *fat_tree_shape(const struct fc_network *net)
{
    const struct fc_fat_tree_shape *s = fc_fat_tree(net);
    return json_pack("{s:o, s:o, s:o, s:i}", "m", list_of(s->m, s->h + 1), "w", list_of(s->w, s->h + 1), "p",
                     list_of(s->p, s->h + 1), "planes", (int)s->planes);
}

static json_t *tmesh_shape(const struct fc_network *net)
{
    const struct fc_tmesh_shape *s = fc_tmesh(net);
    json_t *bridges = json_array();
    for (int d = 0; d < s->n_dims; d++) json_array_append_new(bridges, list_of(s->bridge[d], 2));
    return json_pack("{s:o, s:i, s:i, s:o}", "k", list_of(s->k, s->n_dims), "rows", (int)s->rows, "columns",
                     (int)s->columns, "bridge", bridges);
}

static json_t *two_level_shape(const struct fc_network *net, struct fc_arena *arena, struct fc_status *st)
{
    const struct fc_two_level_shape *s = fc_two_level(net);
    size_t n = (size_t)s->n_supernodes * s->n_supernodes * s->pair_links;
    uint32_t *host = fc_alloc(arena, n, sizeof *host, st);
    struct fc_packed packed = {0};
    for (size_t i = 0; host && i < n; i++) {
        uint32_t from = (uint32_t)(i / s->pair_links / s->n_supernodes),
                 to = (uint32_t)(i / s->pair_links % s->n_supernodes);
        if (from != to) host[i] = fc_two_level_host(s, from, to, (uint32_t)(i % s->pair_links));
    }
    if (!host || fc_pack_numbers(host, n, arena, &packed, st)) return NULL;
    return json_pack("{s:i, s:i, s:i, s:i, s:s%}", "supernodes", (int)s->n_supernodes, "members",
                     (int)s->members, "positions", (int)s->n_positions, "cables", (int)s->pair_links, "host",
                     packed.text, packed.length);
}

/* Names in the order of the cells, a line each. */
static json_t *listed_names(const struct fc_page *page, struct fc_arena *arena, struct fc_status *st)
{
    char name[700], visible[4 * sizeof name];
    struct fc_packed packed = {0};
    struct fc_memory_stream out;
    if (fc_memory_open(&out, st)) return NULL;
    for (int i = 0; i < page->map->n_panels; i++)
        for (size_t k = 0; k < fc_panel_cells(&page->map->panels[i]); k++) {
            uint32_t link = page->map->panels[i].cell[k];
            const char *own = link == FC_NONE ? "" : fc_link_name(page->net, link, name, sizeof name);
            fprintf(out.stream, "%s\n", fc_visible(visible, sizeof visible, own, ""));
        }
    if (!fc_memory_close(&out, st)) fc_pack_text(out.text, out.size, arena, &packed, st);
    free(out.text);
    return st->code ? NULL : json_pack("{s:s%}", "names", packed.text, packed.length);
}

static json_t *shape(const struct fc_page *page, struct fc_arena *arena, struct fc_status *st)
{
    const char *family = page->net->machine->family->name;
    if (!strcmp(family, "torus") || !strcmp(family, "mesh")) return torus_shape(page->net);
    if (!strcmp(family, "fat-tree")) return fat_tree_shape(page->net);
    if (!strcmp(family, "tmesh")) return tmesh_shape(page->net);
    if (!strcmp(family, "two-level")) return two_level_shape(page->net, arena, st);
    return listed_names(page, arena, st);
}

/* ---- layout ---- */

static json_t *panel_json(const struct fc_panel *p)
{
    return json_pack("{s:s, s:i, s:I, s:I, s:I, s:s, s:s, s:s}", "title", p->title, "class", p->link_class,
                     "tiles", (json_int_t)p->n_tiles, "rows", (json_int_t)p->rows, "columns",
                     (json_int_t)p->columns, "tile", p->tile, "row", p->row, "column", p->column);
}

static json_t *classes(const struct fc_page *page)
{
    json_t *list = json_array();
    const struct fc_machine *m = page->net->machine;
    for (int c = 0; c < m->n_classes; c++)
        json_array_append_new(list, json_pack("{s:s, s:I, s:b}", "title", page->map->class_title[c], "links",
                                              (json_int_t)page->side[0].classes[c].count, "bottleneck",
                                              c == page->bottleneck_class));
    return list;
}

/* ---- loads ---- */

static size_t n_cells(const struct fc_link_map *map)
{
    size_t n = 0;
    for (int i = 0; i < map->n_panels; i++) n += fc_panel_cells(&map->panels[i]);
    return n;
}

/* The value of every cell's link; NaN where there is none. */
static void by_cell(const struct fc_link_map *map, const double *of_link, double *out)
{
    for (int i = 0; i < map->n_panels; i++)
        for (size_t k = 0; k < fc_panel_cells(&map->panels[i]); k++) {
            uint32_t link = map->panels[i].cell[k];
            *out++ = link == FC_NONE ? NAN : of_link[link];
        }
}

/* Seconds a byte of each class where all its links agree to 1e-9; false where some do not. */
static bool busy_factors(const struct fc_network *net, const struct fc_page_side *side, double *factor)
{
    for (int c = 0; c < net->machine->n_classes; c++) factor[c] = 0;
    for (uint32_t l = 0; l < net->n_links; l++) {
        double *f = &factor[net->link_class[l]];
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
    size_t n = n_cells(page->map);
    double factor[FC_MAX_CLASSES];
    struct fc_packed bytes = {0}, busy = {0}, node = {0};
    double *v = fc_alloc(arena, n, sizeof *v, st);
    if (!v) return NULL;
    by_cell(page->map, side->link_bytes, v);
    if (fc_pack_reals(v, n, most_values, arena, &bytes, st) ||
        fc_pack_numbers(side->node, page->n_tasks, arena, &node, st))
        return NULL;
    bool proportional = busy_factors(page->net, side, factor);
    by_cell(page->map, side->link_busy_s, v);
    if (!proportional && fc_pack_reals(v, n, most_values, arena, &busy, st)) return NULL;
    *bits = bytes.bits < *bits ? bytes.bits : *bits;
    if (!proportional && busy.bits < *bits) *bits = busy.bits;
    json_t *json = json_pack("{s:s, s:s%, s:s%}", "label", side->label, "bytes", bytes.text, bytes.length,
                             "node", node.text, node.length);
    if (!json) return NULL;
    json_t *factors = json_array();
    for (int c = 0; c < page->net->machine->n_classes; c++)
        json_array_append_new(factors, json_real(factor[c]));
    json_object_set_new(json, proportional ? "factor" : "busy",
                        proportional ? factors : json_stringn(busy.text, busy.length));
    if (!proportional) json_decref(factors);
    return json;
}

json_t *fc_page_data(const struct fc_page *page, uint32_t most_values, struct fc_arena *arena, int *bits,
                     struct fc_status *st)
{
    json_t *panels = json_array(), *sides = json_array(), *kinds = classes(page), *network = NULL,
           *nodes = NULL;
    struct fc_packed cells = {0};
    size_t n_panels = (size_t)page->map->n_panels;
    *bits = 53;
    for (size_t i = 0; i < n_panels; i++) json_array_append_new(panels, panel_json(&page->map->panels[i]));
    for (int i = 0; i < 2 && !st->code; i++)
        json_array_append_new(sides, side_json(page, &page->side[i], most_values, arena, bits, st));
    if (!st->code) network = shape(page, arena, st);
    if (!st->code)
        fc_pack_numbers(page->map->nodes.cell, fc_panel_cells(&page->map->nodes), arena, &cells, st);
    if (!st->code) {
        nodes = panel_json(&page->map->nodes);
        json_object_set_new(nodes, "cell", json_stringn(cells.text, cells.length));
    }
    /* Jansson makes nothing of bytes that are not UTF-8 */
    bool whole = json_array_size(panels) == n_panels && json_array_size(sides) == 2 && network &&
                 json_array_size(kinds) == (size_t)page->net->machine->n_classes &&
                 page->side[0].prediction && page->side[1].prediction;
    if (!st->code && !whole)
        fc_refuse(st, FC_INPUT,
                  "a name of the job, a mapping or the network is not UTF-8, which a page must be");
    if (!st->code)
        return json_pack("{s:s, s:o, s:o, s:o, s:o, s:i, s:o}", "family", page->net->machine->family->name,
                         "shape", network, "classes", kinds, "panels", panels, "nodes", nodes, "tasks",
                         (int)page->n_tasks, "sides", sides);
    json_decref(panels);
    json_decref(sides);
    json_decref(kinds);
    json_decref(network);
    json_decref(nodes);
    return NULL;
}
