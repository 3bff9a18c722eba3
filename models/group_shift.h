/* group_shift.h - private to models/: from every node to one in another group (group_shift.c). */
#pragma once

#include "models/models.h"

/* to[n_nodes]: the node at the same place `by` groups on. Groups are the greatest parts of the family's tree, else the blocks of
 * its first partition; a place is taken modulo the other group's size. FC_INPUT: the family has no groups, or a
 * group would send to itself. O(nodes). */
enum fc_code fc_group_shift(const struct fc_network *net, uint64_t by, uint32_t *to, struct fc_status *st);
