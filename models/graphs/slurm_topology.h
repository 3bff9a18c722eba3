/* slurm_topology.h - what Slurm's two topology files have in common (slurm_topology.c): the network of what read_slurm_topology.c
 * and read_slurm_yaml.c find. */
#pragma once

#include "models/family_graph.h"

enum fc_slurm_kind { FC_SLURM_SWITCH, FC_SLURM_BLOCK, FC_SLURM_RING };
/* One switch, block or ring. Texts are borrowed. */
struct fc_slurm_line {
    enum fc_slurm_kind kind;
    const char *name, *list, *speed; /* list: host list expression of its members; speed NULL: not told */
    size_t name_length, list_length, speed_length;
    bool nodes;         /* the members are nodes, not switches */
    uint32_t owner;     /* set: the router */
    uint8_t link_class; /* set: of a switch's cables */
    long line;
};
/* Routers, nodes and cables of lines[n], all of one kind, which they may be given in any order but for blocks, of which
 * sizes[n_sizes] (BlockSizes: 0 or more) neighbours form a larger one. */
enum fc_code fc_slurm_build(struct fc_graph_reader *reader, struct fc_slurm_line *lines, size_t n,
                            const uint32_t *sizes, size_t n_sizes, struct fc_status *st);
/* "4,16" or "[4, 16]"; at most FC_SLURM_SIZES. */
#define FC_SLURM_SIZES 8
enum fc_code fc_slurm_sizes(const char *text, size_t length, uint32_t *sizes, size_t *n, struct fc_place where,
                            struct fc_status *st);
/* topology.yaml (topology.yaml(5)). */
bool fc_is_slurm_yaml(const struct fc_text *text);
enum fc_code fc_read_slurm_yaml(struct fc_graph_reader *reader, struct fc_status *st);
