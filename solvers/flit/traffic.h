/* traffic.h - the packets of each node, in the order of birth (source*.c). */
#pragma once

#include "solvers/flit/prepared.h"

/* The packet at the front of a node's source queue. The queue itself is never stored: births are a function
 * of seed, node and packet number, so that the next packet is made when this one leaves. */
struct fc_flit_source {
    uint64_t born;   /* tick of birth; UINT64_MAX: no packet will come any more */
    uint64_t number; /* of this packet among the node's */
    uint32_t dst;
    uint32_t flits;
    uint32_t random;
    uint32_t tag; /* closed loop: the demand's entry or multicast, FC_NONE for its dense parts; open loop: 0, or */
#define FC_FLIT_BACKGROUND (FC_NONE - 1)
    uint64_t cursor; /* belongs to source*.c: keep it between calls */
};
/* source.c. High-priority packets, where the settings ask for some, are a traffic of their own beside the
 * other: fc_flit_high_traffic, NULL for none. */
struct fc_flit_traffic;
const struct fc_flit_traffic *fc_flit_high_traffic(const struct fc_flit_traffic *traffic);
/* Whether sources also send packets of a background, which have the tag FC_FLIT_BACKGROUND. */
bool fc_flit_has_background(const struct fc_flit_traffic *traffic);
enum fc_code fc_flit_traffic_make(const struct fc_flit_net *flit, const struct fc_demand *demand, const uint32_t *node,
                                  const struct fc_flit_settings *settings, struct fc_flit_traffic **traffic,
                                  struct fc_status *st);
void fc_flit_traffic_free(struct fc_flit_traffic *traffic);
struct fc_flit_group;
/* With flit->multicast: the group of each tag. */
const struct fc_flit_group *fc_flit_traffic_groups(const struct fc_flit_traffic *traffic);
/* The node's first packet, and the one after `source` (in place). Thread-safe, no allocation. */
void fc_flit_first(const struct fc_flit_traffic *traffic, uint32_t node, struct fc_flit_source *source);
void fc_flit_next(const struct fc_flit_traffic *traffic, uint32_t node, struct fc_flit_source *source);
