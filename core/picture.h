/* picture.h - a network as a picture, in plain values for who draws it: panels of cells, a cell a link or a node, and what is
 * seen at a glance. models/link_map.c lays a network out; plots/ draws. */
#pragma once

#include "core/core.h"

enum { FC_PICTURE_CLASSES = 16, FC_PICTURE_LEVELS = 16 };

/* A panel is a row of tiles, each a matrix of cells: the slices of a torus, the supernodes of a two-level network, the subtrees
 * of a fat-tree, the chips of a mesh-in-torus. All its links are of one class and direction. */
struct fc_panel {
    char title[48]; /* "x+ links", "D links" */
    char tile[40], row[40],
        column[40]; /* what a tile, a row, a column is: "z", "from supernode"; "" where there is one */
    int link_class; /* -1: cells are nodes */
    bool at_glance; /* its links are in the picture at a glance */
    uint32_t n_tiles, rows, columns;
    uint32_t *cell;        /* [n_tiles][rows][columns] link or node; FC_NONE: nothing stands there */
    const char **row_name; /* [n_tiles][rows], NULL: none of its own; NULL: rows have no names */
};
static inline size_t fc_panel_cells(const struct fc_panel *p)
{
    return (size_t)p->n_tiles * p->rows * p->columns;
}

/* The whole network in one picture. */
struct fc_glance {
    enum fc_glance_kind {
        FC_GLANCE_NONE,
        FC_GLANCE_SQUARES, /* a square a router, in tiles as the panels': the busiest link that leaves it */
        FC_GLANCE_RING,    /* spots on a ring, links as curves; bands of the busiest link within a spot */
        FC_GLANCE_TREE     /* nodes at the bottom, a line a link: a generalised fat-tree as its machine file has it */
    } kind;
    const char *square;                 /* what it is: "router", "chip" */
    uint32_t columns;                   /* of squares in a tile */
    uint32_t n_spots, cables, per_spot; /* ring: links of a pair of spots; rows of a panel within a spot */
    int n_levels;                       /* tree: of switches */
    uint32_t children[FC_PICTURE_LEVELS], parents[FC_PICTURE_LEVELS], links[FC_PICTURE_LEVELS],
        planes; /* [1..n_levels] */
};

/* Every link is in one cell of one panel, every node in one cell of `nodes`. The network outlives it. */
struct fc_picture {
    struct fc_arena arena;
    int n_panels;
    struct fc_panel *panels; /* [n_panels] network links first, then node to network, then network to node */
    struct fc_panel nodes;
    struct fc_glance glance;
    const char *machine; /* its name */
    uint32_t n_links, n_nodes;
    int n_classes, node_class; /* of links; of those between nodes and network */
    const uint8_t *link_class; /* [n_links] */
    const char *class_name[FC_PICTURE_CLASSES];
    char class_title[FC_PICTURE_CLASSES][32]; /* as link names have it: "D" for class d */
    char *(*link_name)(const void *network, uint32_t link, char *out, size_t size);
    const void *network;
};
