/* forced.h - what forced_bound.c and the families' rules (forced_torus.c, forced_graph.c) share. */
#pragma once

#include "solvers/load_internal.h"

struct fc_forced {
    const struct fc_network *net; /* under minimal routing */
    const struct fc_node_demand *demand;
    double *bytes; /* [n_links] at the first cable between two routers */
};
/* Add the bytes that minimal paths leave no choice; nothing on networks of other families. */
enum fc_code fc_forced_torus(struct fc_forced *f, struct fc_arena *scratch, struct fc_status *st);
enum fc_code fc_forced_graph(struct fc_forced *f, struct fc_arena *scratch, struct fc_status *st);
