/* collective_qsnet.c - barriers and broadcasts that the interfaces and switches of QsNET carry out.
 *
 *     barrier hardware        elan_hgsync       test-and-set broadcast, combined answer, closing token
 *     barrier hardware-event  elan_hgsyncEvent  the same, the processor sleeps until it is over
 *     barrier elan            elan_gsync        signals up a software tree, one hardware broadcast down
 *     bcast hardware          elan_hbcast       hardware barrier, then one packet stream to all
 *     bcast elan              elan_bcast        software barrier, then the same
 *
 * T is that of nic_collective.c, with the waits of nic_loaded.c beside a background of sources that always
 * have a packet waiting. All members leave at the time when the last has entered + T. Source: Petrini, Coll,
 * Frachtenberg, Hoisie, IEEE NCA 2001, sections 2.3, 4 and 6.2. docs/quadrics-gemini.md holds it against the
 * published figures. Limits: the nodes must be adjacent, all of them ("the hardware mechanism can only be
 * used with a contiguous subset of Elans"); members on one node meet there at no cost; calls at the same time
 * do not wait for each other at the root; the job's own messages do not delay a call, nor does it delay them;
 * a background below saturation is refused, since how long its worms hold channels is known for saturation
 * only. Data lies in main memory. */
#include "solvers/background.h"
#include "solvers/collective/collective_parts.h"

/* The range of adjacent nodes that the members fill. */
static enum fc_code find_range(const struct fc_hardware_call *call, const char *what, uint32_t *first, uint32_t *n,
                               struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t least = FC_NONE, most = 0, gap = FC_NONE;
    for (uint32_t m = 0; m < call->n; m++) {
        if (call->node[m] < least) least = call->node[m];
        if (call->node[m] > most) most = call->node[m];
    }
    *first = least;
    *n = most - least + 1;
    if (*n == 1)
        return fc_refuse(st, FC_INPUT, "%s: all %u members are on node %u, the network has no part in it", what,
                         call->n, least);
    bool *there = fc_alloc(&scratch, *n, sizeof *there, st);
    for (uint32_t m = 0; there && m < call->n; m++) there[call->node[m] - least] = true;
    for (uint32_t i = 0; there && i < *n && gap == FC_NONE; i++)
        if (!there[i]) gap = least + i;
    if (!st->code && gap != FC_NONE)
        return fc_refuse(st, FC_INPUT,
                         "%s: members are on nodes %u to %u but for node %u (the hardware takes adjacent nodes only)",
                         what, least, most, gap);
    return st->code;
}

/* What the background is to the interfaces; NULL: none. */
static enum fc_code look_at_background(const struct fc_hardware_call *call, const char *what,
                                       const struct fc_nic_background **nic, struct fc_status *st)
{
    const struct fc_background *b = call->background;
    *nic = b ? &b->nic : NULL;
    if (!b && call->background_bytes_per_s)
        return fc_refuse(st, FC_INPUT, "%s: the background is known only by what links carry (expected a pattern)",
                         what);
    if (b && !(b->fills && b->interfaces))
        return fc_refuse(st, FC_INPUT,
                         "%s: beside a background its time is known only for one that fills the network (expected a "
                         "pattern of load full, or no background)",
                         what);
    return FC_OK;
}

static enum fc_code barrier(const struct fc_hardware_call *call, enum fc_nic_barrier kind, const char *what,
                            double *at_s, struct fc_status *st)
{
    const struct fc_nic_background *nic;
    struct fc_nic_time time;
    uint32_t first, n;
    if (find_range(call, what, &first, &n, st) || look_at_background(call, what, &nic, st) ||
        fc_nic_barrier_from(call->net, first, n, kind, nic, 0, &time, st))
        return st->code;
    for (uint32_t m = 0; m < call->n; m++) at_s[m] = time.mean_s;
    return FC_OK;
}

static enum fc_code broadcast(const struct fc_hardware_call *call, enum fc_nic_broadcast kind, const char *what,
                              double *at_s, struct fc_status *st)
{
    const struct fc_nic_background *nic;
    uint32_t first, n;
    double time_s;
    if (find_range(call, what, &first, &n, st) || look_at_background(call, what, &nic, st) ||
        fc_nic_broadcast_from(call->net, first, n, call->bytes, kind, FC_NIC_HOST, nic, &time_s, st))
        return st->code;
    for (uint32_t m = 0; m < call->n; m++) at_s[m] = time_s;
    return FC_OK;
}

static enum fc_code barrier_hardware(const struct fc_hardware_call *call, double *at_s, struct fc_status *st)
{
    return barrier(call, FC_NIC_BARRIER_HARDWARE, "barrier by hardware", at_s, st);
}
static enum fc_code barrier_event(const struct fc_hardware_call *call, double *at_s, struct fc_status *st)
{
    return barrier(call, FC_NIC_BARRIER_EVENT, "barrier by hardware-event", at_s, st);
}
static enum fc_code barrier_elan(const struct fc_hardware_call *call, double *at_s, struct fc_status *st)
{
    return barrier(call, FC_NIC_BARRIER_SOFTWARE, "barrier by elan", at_s, st);
}
static enum fc_code bcast_hardware(const struct fc_hardware_call *call, double *at_s, struct fc_status *st)
{
    return broadcast(call, FC_NIC_BROADCAST_HARDWARE, "bcast by hardware", at_s, st);
}
static enum fc_code bcast_elan(const struct fc_hardware_call *call, double *at_s, struct fc_status *st)
{
    return broadcast(call, FC_NIC_BROADCAST_SOFTWARE, "bcast by elan", at_s, st);
}

const struct fc_collective_hardware fc_hardware_barrier = {true, barrier_hardware};
const struct fc_collective_hardware fc_hardware_barrier_event = {true, barrier_event};
const struct fc_collective_hardware fc_hardware_barrier_elan = {true, barrier_elan};
const struct fc_collective_hardware fc_hardware_bcast = {true, bcast_hardware};
const struct fc_collective_hardware fc_hardware_bcast_elan = {true, bcast_elan};
