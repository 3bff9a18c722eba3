/* link_map_build.h - what the layouts of the families are made with (link_map.c, family_*_layout.c). */
#pragma once

#include "models/link_map.h"

struct fc_layout_builder {
    const struct fc_network *net;
    struct fc_picture *map;
    struct fc_status *st;
};

/* How a family's network is laid out: its record's `layout`. */
struct fc_layout {
    /* Adds the panels of the links between routers; every link of theirs into one cell. */
    void (*links)(struct fc_layout_builder *b);
    /* Makes the panel of the nodes (fc_layout_nodes), every node in one cell. */
    void (*nodes)(struct fc_layout_builder *b);
    bool own_node_links; /* links() has those of nodes too; else they stand as the nodes do */
    bool capitals;       /* the family's link names have its classes in capitals: "D" for class d */
};

/* A new panel of links of the class, or that of the nodes, its cells empty; NULL: no memory. */
struct fc_panel *fc_layout_add(struct fc_layout_builder *b, int link_class, uint32_t n_tiles, uint32_t rows,
                               uint32_t columns);
struct fc_panel *fc_layout_nodes(struct fc_layout_builder *b, uint32_t n_tiles, uint32_t rows, uint32_t columns);
/* What the panel is called, and its tiles, rows and columns where there are several. */
void fc_layout_title(struct fc_panel *p, const char *text, const char *tile, const char *row, const char *column);
static inline uint32_t *fc_layout_at(const struct fc_panel *p, uint32_t tile, uint32_t row, uint32_t column)
{
    return &p->cell[((size_t)tile * p->rows + row) * p->columns + column];
}
