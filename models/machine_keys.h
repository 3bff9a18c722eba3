/* machine_keys.h - the tables of keys of a machine file (machine_keys.c), for the one that reads it (machine.c). */
#pragma once

#include "core/yaml_file.h"
#include "models/models.h"

struct fc_key_table {
    const struct fc_key *keys; /* [n] */
    size_t n;
};
/* Fields of struct fc_machine; of struct fc_link_class. */
extern const struct fc_key_table fc_router_keys, fc_ugal_keys, fc_packet_keys, fc_node_keys, fc_software_keys;
extern const struct fc_key_table fc_nic_keys;  /* nic_keys.c */
extern const struct fc_key_table fc_cost_keys; /* machine_cost.c */
extern const struct fc_key_table fc_link_keys;

/* What the keys of `nic:` need of each other and of the machine. FC_INPUT: a message that begins with the key. */
enum fc_code fc_nic_check(const struct fc_machine *machine, struct fc_status *st);
/* The section `cost:` into the machine, whose classes are known (machine_cost.c); NULL: the file has none. */
enum fc_code fc_cost_decode(struct fc_yaml *yaml, const yaml_node_t *section, struct fc_machine *machine);
/* The section `measured:` into the machine (machine_measured.c); NULL: the file has none. */
enum fc_code fc_measured_decode(struct fc_yaml *yaml, const yaml_node_t *section, struct fc_machine *machine);
