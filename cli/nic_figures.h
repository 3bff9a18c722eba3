/* nic_figures.h - what `machines NAME` says of a network interface (section `nic:`). */
#pragma once

#include "models/models.h"

#include <jansson.h>

/* NaN: the machine file has not what it takes. */
struct fc_nic_figures {
    double put_s, message_s;                   /* empty, from node 0 to the node farthest from it */
    double put_bytes_per_s, pair_bytes_per_s;  /* of a node; between these two */
    double amo_hit_per_s, amo_miss_per_s;      /* at most, on cached variables and on others */
    double barrier_s, software_barrier_s;      /* of all nodes, network empty */
    double broadcast_s, broadcast_bytes_per_s; /* 64 bytes and 1 MiB to all nodes, synchronisation included */
};
/* All NaN for a machine without `nic:`. */
enum fc_code fc_nic_figures(const struct fc_network *net, struct fc_nic_figures *figures, struct fc_status *st);
void fc_nic_print(const struct fc_nic_figures *figures, FILE *stream); /* nothing where all are NaN */
/* null without `nic:` */
json_t *fc_nic_json(const struct fc_network *net, const struct fc_nic_figures *figures);
