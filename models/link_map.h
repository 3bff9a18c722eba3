/* link_map.h - where each link and node stands in a picture of the network (link_map.c). */
#ifndef FC_LINK_MAP_H
#define FC_LINK_MAP_H

#include "models/models.h"

/* A panel is a row of tiles, each a matrix of cells: the slices of a torus, the supernodes of a two-level
 * network, the subtrees of a fat-tree, the chips of a mesh-in-torus. All its links are of one class and
 * direction. */
struct fc_panel {
    char title[48]; /* "x+ links", "D links" */
    char tile[40], row[40],
        column[40]; /* what a tile, a row, a column is: "z", "from supernode"; "" where there is one */
    int link_class; /* of the machine; -1: cells are nodes */
    uint32_t n_tiles, rows, columns;
    uint32_t *cell; /* [n_tiles][rows][columns] link or node; FC_NONE: nothing stands there */
};

/* Every link is in one cell of one panel, every node in one cell of `nodes`. */
struct fc_link_map {
    struct fc_arena arena;
    int n_panels;
    struct fc_panel *panels; /* [n_panels] network links first, then node to network, then network to node */
    struct fc_panel nodes;
    char class_title[FC_MAX_CLASSES][32]; /* as link names have it: "D" for class d */
};

/* Lays out the network by its family; routers read from a file come one a row. O(links) and the empty cells.
 * FC_NO: memory. Free with fc_link_map_free, also after a failure. */
enum fc_code fc_link_map_build(const struct fc_network *net, struct fc_link_map *map, struct fc_status *st);
void fc_link_map_free(struct fc_link_map *map);
static inline size_t fc_panel_cells(const struct fc_panel *p)
{
    return (size_t)p->n_tiles * p->rows * p->columns;
}

#endif
