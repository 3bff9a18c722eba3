/* link_map.h - where each link and node stands in a picture of the network (link_map.c). */
#pragma once

#include "core/picture.h"
#include "models/models.h"

/* Lays out the network by its family; routers read from a file come one a row. O(links) and the empty cells.
 * FC_NO: memory. Free with fc_link_map_free, also after a failure. */
enum fc_code fc_link_map_build(const struct fc_network *net, struct fc_picture *picture, struct fc_status *st);
void fc_link_map_free(struct fc_picture *picture);
