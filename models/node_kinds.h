/* node_kinds.h - private to models/: nodes that differ (node_kinds.c). */
#pragma once

#include "core/yaml_file.h"
#include "models/network.h"

/* Reads `node: [{hosts: LIST, cores: N, ...}, ...]` into machine->kinds, and adds a link class for
 * each kind with its own injection; the class `injection` itself comes behind them. */
enum fc_code fc_node_kinds_decode(struct fc_yaml *yaml, const yaml_node_t *list, struct fc_machine *machine);
/* The machine's ports and memory are those of the kinds that have most. */
void fc_node_kinds_most(struct fc_machine *machine);
/* Says which nodes are slow (node.slow_hosts), gives every node its kind, and its links the kind's class; the hosts have their names. FC_INPUT at the file's entry: a node of
 * two kinds or of none, and injection where nodes hang on links of another class. */
enum fc_code fc_node_kinds_assign(struct fc_network *net, struct fc_status *st);
