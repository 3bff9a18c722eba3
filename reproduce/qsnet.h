/* qsnet.h - barriers and broadcasts of QsNET in the units of its paper's figures. Private to the room. */
#pragma once

#include "reproduce/figure.h"
#include "solvers/nic/nic.h"

#define FC_QSNET_PAPER "Petrini, Coll, Frachtenberg, Hoisie, IEEE NCA 2001"
#define FC_QSNET_HW FC_NIC_BARRIER_HARDWARE
#define FC_QSNET_EVENT FC_NIC_BARRIER_EVENT
#define FC_QSNET_SW FC_NIC_BARRIER_SOFTWARE
#define FC_QSNET_HB FC_NIC_BROADCAST_HARDWARE
#define FC_QSNET_SB FC_NIC_BROADCAST_SOFTWARE

/* A network, its background (NULL: none), and the first failure of what is asked below; NaN after one. */
struct fc_qsnet {
    const struct fc_network *net;
    const struct fc_nic_background *background;
    struct fc_status *st;
};
double fc_qsnet_barrier_us(const struct fc_qsnet *q, uint32_t nodes, enum fc_nic_barrier kind);
/* Share of barriers of 64 nodes that take less than limit_s, percent. */
double fc_qsnet_below_percent(const struct fc_qsnet *q, enum fc_nic_barrier kind, double limit_s);
double fc_qsnet_broadcast_us(const struct fc_qsnet *q, uint32_t nodes, double bytes, enum fc_nic_broadcast kind,
                             enum fc_nic_memory memory);
/* Bytes over that time, MB/s. */
double fc_qsnet_broadcast_mb_per_s(const struct fc_qsnet *q, uint32_t nodes, double bytes, enum fc_nic_broadcast kind,
                                   enum fc_nic_memory memory);
struct fc_point_of fc_qsnet_of(struct fc_reproduction *r, enum fc_point_origin origin, const char *unit);
