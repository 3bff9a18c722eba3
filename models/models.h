/* models.h - WHAT is modelled: machine files, the network graph, families, routings, traffic, deadlock certificates.
 *
 * A machine file becomes a struct fc_machine (everything checked, base units), the machine becomes a struct fc_network
 * (flat arrays), a pattern or graph file or trace becomes a struct fc_demand (bytes between tasks). A family, a
 * routing, a virtual-channel rule and a pattern is each one file ending in one `const struct ..._ops` and one line in
 * lists.c; everything generic is derived from the arrays. Source: Dally & Towles, Principles and Practices of
 * Interconnection Networks (2004), chapters 3 to 14. */
#pragma once

#include "models/certificate.h"
#include "models/demand.h"
#include "models/routing.h"

/* ---- the lists (lists.c): one line a family, routing, virtual-channel rule, pattern ----------------------------------- */
extern const struct fc_family_ops *const fc_families[];  /* NULL-terminated */
extern const struct fc_routing_ops *const fc_routings[]; /* NULL-terminated */
extern const struct fc_vc_rule_ops *const fc_vc_rules[]; /* NULL-terminated */
extern const struct fc_pattern_ops *const fc_patterns[]; /* NULL-terminated */
