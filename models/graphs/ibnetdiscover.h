/* ibnetdiscover.h - an InfiniBand fabric between its text (read_ibnetdiscover.c) and its graph
 * (ibnetdiscover_graph.c). */
#pragma once

#include "models/family_graph.h"

enum fc_ib_kind { FC_IB_SWITCH, FC_IB_ADAPTER, FC_IB_UNKNOWN };
struct fc_ib_device {
    enum fc_ib_kind kind;
    long first_line; /* first mention */
    long line;       /* of its record; 0: none */
    long long ports; /* as its record says */
    const char *description;
    bool left_out;
    uint32_t vertex; /* router or node of the reader */
};
/* One end of a cable as one line tells it. */
struct fc_ib_end {
    uint32_t device, remote;
    uint16_t port, remote_port;
    uint8_t link_class;       /* FC_IB_NO_SPEED: the line tells none */
    uint32_t lid, remote_lid; /* 0: the line tells none */
    long line;
};
#define FC_IB_NO_SPEED UINT8_MAX

struct fc_ib_fabric {
    struct fc_graph_reader *reader;
    struct fc_status *st;
    struct fc_arena scratch;
    struct fc_names ids; /* "S-0002c9..." */
    struct fc_ib_device *devices;
    struct fc_ib_end *ends;
    uint32_t n_devices, capacity, n_ends;
    uint32_t current; /* device of the record being read, FC_NONE between records */
};

static inline struct fc_place fc_ib_place(const struct fc_ib_fabric *f, long line)
{
    return (struct fc_place){f->reader->text.file, line};
}
/* Devices become routers and nodes of f->reader, ends become cables; refuses ends that contradict each other.
 */
enum fc_code fc_ib_graph(struct fc_ib_fabric *f);
