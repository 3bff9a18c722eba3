/* nic_collective.c - barriers and broadcasts of a fat-tree whose switches copy packets and combine
 * acknowledgements (QsNET; Petrini, Coll, Frachtenberg, Hoisie, IEEE NCA 2001, sections 2.3, 4 and 6.2).
 *
 *   c(l) = (2 l - 1) d + wires    up to a switch of level l and down; d: a switch's delay
 *   L, D                          level above the P nodes; depth of the software's tree, k^D >= P
 *   noise = (1 - (1 - q)^P) m     somebody's operating system holds the operation up
 *
 *   hardware barrier = barrier (+ event) + 3 c(L) + noise         test, combined answer, closing token
 *   software barrier = tree + sum over l = 1..D of (put + c(min(l, L)) + empty packet) + c(L) + noise
 *                                                                 signals up, one hardware broadcast down
 *   broadcast = hardware barrier + broadcast + c(L), or software barrier + broadcast_event,
 *               + first packet + (packets - 1) t
 *   t = max(F + 2 d, (acknowledge + F + 2 c(L)) / W, data / B_host)
 *
 * F: a packet's time on a link; 2 d: the pause of a root switch between two packets, the closing token
 * through it and the next head behind that ("the second multicast packet will be able to proceed only
 * after an EOP token cleans the circuit of the first"); W: packets of a sender that may wait for
 * acknowledgements.
 *
 * Beside traffic that fills the network the waits of nic_loaded.c are added; a link is shared flit by flit
 * with one other worm, so packets take twice their time; and a broadcast gets a turn of B bytes after each
 * N of the background, so that every B bytes take  N s + wait for channels + slice,  s = B / accepted
 * rate. Within a turn packets follow one another on channels that they have just let go, as the root hands
 * them on by age.
 * L is the level of the lowest subtree that holds all P adjacent nodes, wherever they begin.
 * Limits: one barrier or broadcast at a time; adjacent nodes; the background is not slowed. */
#include "solvers/nic/nic_loaded.h"

struct group {
    const struct fc_machine *m;
    const struct fc_fat_tree_shape *shape;
    uint32_t first, n_nodes;
    int level; /* L */
    int depth; /* D */
};

/* ---- closed forms ---- */

/* c(l) */
static double crossing_s(const struct fc_machine *m, int level)
{
    double wires = 0;
    for (int l = 0; l < level; l++) wires += 2 * m->classes[l].latency_s;
    return (2 * level - 1) * m->router.delay_s + wires;
}

static double link_rate(const struct group *g)
{
    double rate = INFINITY;
    for (int l = 0; l < g->level; l++) rate = fmin(rate, g->m->classes[l].bandwidth_bytes_per_s);
    return rate;
}

static double noise_share(const struct group *g)
{
    return 1 - pow(1 - g->m->nic.noise_percent / 100, g->n_nodes);
}

static enum fc_code find_group(const struct fc_network *net, uint32_t first, uint32_t n_nodes, struct group *g,
                               struct fc_status *st)
{
    const struct fc_machine *m = net->machine;
    if (m->router.multicast != FC_MULTICAST_TREE || m->nic.line == 0)
        return fc_fail(st, FC_INPUT, (struct fc_place){m->file, m->nic.line},
                       "nic: a barrier or broadcast in hardware is for machines with nic: and router.multicast: tree");
    if (n_nodes < 2 || n_nodes > net->n_nodes)
        return fc_refuse(st, FC_INPUT, "a barrier or broadcast of %u nodes (expected 2 to %u)", n_nodes, net->n_nodes);
    if (first > net->n_nodes - n_nodes)
        return fc_refuse(st, FC_INPUT, "a barrier or broadcast of nodes %u to %u (the machine has %u)", first,
                         first + n_nodes - 1, net->n_nodes);
    *g = (struct group){.m = m, .shape = m->shape, .first = first, .n_nodes = n_nodes, .depth = 1};
    g->level = fc_fat_tree_nca(g->shape, first, first + n_nodes - 1);
    for (double reached = (double)m->nic.tree_arity; reached < n_nodes; reached *= (double)m->nic.tree_arity)
        g->depth++;
    return FC_OK;
}

static enum fc_code missing(const struct group *g, const char *key, struct fc_status *st)
{
    return fc_fail(st, FC_INPUT, (struct fc_place){g->m->file, g->m->nic.line}, "nic.%s is missing", key);
}

static double hardware_s(const struct group *g)
{
    return g->m->nic.barrier_s + 3 * crossing_s(g->m, g->level);
}

static double software_s(const struct group *g)
{
    double sum = g->m->nic.tree_s + crossing_s(g->m, g->level);
    for (int l = 1; l <= g->depth; l++)
        sum += g->m->nic.put_s + crossing_s(g->m, l < g->level ? l : g->level) + fc_wire_bytes(g->m, 0) / link_rate(g);
    return sum;
}

/* t; `sharers` worms share a link. */
static double packet_s(const struct group *g, enum fc_nic_memory memory, double sharers)
{
    const struct fc_machine *m = g->m;
    struct fc_nic_peaks peaks;
    fc_nic_peaks(m, &peaks);
    double wire = sharers * (m->packet.max_bytes + m->packet.trailer_bytes) / link_rate(g);
    double turned = wire + 2 * m->router.delay_s;
    double acknowledged =
        (m->nic.acknowledge_s + wire + 2 * crossing_s(m, g->level)) / (double)m->router.multicast_window;
    double bus = memory == FC_NIC_HOST ? (m->packet.max_bytes - m->packet.header_bytes) / peaks.put : 0;
    return fmax(fmax(turned, acknowledged), bus);
}

/* ---- with waits ---- */

static struct fc_nic_load open_load(const struct group *g, const struct fc_nic_background *b, double step_s,
                                    struct fc_arena *arena, struct fc_status *st)
{
    return (struct fc_nic_load){g->m, g->shape, b, step_s, arena, st};
}

/* A grid that holds nearly all of what can be waited. */
static double step_for(const struct group *g, const struct fc_nic_background *b, bool software)
{
    struct fc_nic_load load = open_load(g, b, 0, NULL, NULL);
    double most = 30 * g->m->nic.noise_s;
    if (b && b->contended) most += (2 * g->level + (software ? g->depth * 2 * g->level : 0)) * b->held_s;
    if (b && software) most += (double)(g->depth * g->m->nic.dma_queue) * fc_nic_turn_s(&load);
    return most > 0 ? most / (FC_SPREAD_CELLS - 64) : 1e-9;
}

static enum fc_code spread_barrier(const struct group *g, const struct fc_nic_background *b, bool software,
                                   struct fc_arena *arena, struct fc_spread *wait, struct fc_status *st)
{
    struct fc_nic_load load = open_load(g, b, step_for(g, b, software), arena, st);
    struct fc_spread more;
    if (fc_nic_wait_copies(&load, g->level, g->first, g->n_nodes, wait)) return st->code;
    if (software &&
        (fc_nic_wait_tree(&load, g->depth, (int)g->m->nic.tree_arity, &more) || fc_spread_add(wait, &more, arena, st)))
        return st->code;
    if (fc_spread_exponential(&more, load.step_s, noise_share(g), g->m->nic.noise_s, arena, st)) return st->code;
    return fc_spread_add(wait, &more, arena, st);
}

enum fc_code fc_nic_barrier(const struct fc_network *net, uint32_t n_nodes, enum fc_nic_barrier kind,
                            const struct fc_nic_background *background, double limit_s, struct fc_nic_time *time,
                            struct fc_status *st)
{
    return fc_nic_barrier_from(net, 0, n_nodes, kind, background, limit_s, time, st);
}

enum fc_code fc_nic_barrier_from(const struct fc_network *net, uint32_t first, uint32_t n_nodes,
                                 enum fc_nic_barrier kind, const struct fc_nic_background *background, double limit_s,
                                 struct fc_nic_time *time, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_spread wait;
    struct group g;
    bool software = kind == FC_NIC_BARRIER_SOFTWARE;
    if (find_group(net, first, n_nodes, &g, st)) return st->code;
    if (background && !(background->accepted_bytes_per_s > 0 && background->held_s >= 0))
        return fc_refuse(st, FC_INPUT,
                         "a background that moves %g bytes/s a node and holds channels %g s (expected more "
                         "than 0, and a time)",
                         background->accepted_bytes_per_s, background->held_s);
    if (software && g.m->nic.tree_s == 0) return missing(&g, "tree", st);
    if (!software && g.m->nic.barrier_s == 0) return missing(&g, "barrier", st);
    double alone = software ? software_s(&g) : hardware_s(&g) + (kind == FC_NIC_BARRIER_EVENT ? g.m->nic.event_s : 0);
    /* A shared link: every empty packet in turn takes its time once more. */
    if (background) alone += (software ? g.depth + 1 : 1) * fc_wire_bytes(g.m, 0) / link_rate(&g);
    if (!spread_barrier(&g, background, software, &arena, &wait, st)) {
        time->mean_s = alone + fc_spread_mean(&wait);
        time->below = limit_s > 0 ? fc_spread_below(&wait, limit_s - alone) : (double)NAN;
    }
    return st->code;
}

/* Data of a broadcast beside a background, from its start in the sender. */
static enum fc_code loaded_data_s(const struct group *g, double bytes, enum fc_nic_memory memory,
                                  const struct fc_nic_background *b, double *time_s, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_nic_load load = open_load(g, b, step_for(g, b, true), &arena, st);
    struct fc_spread source, copies;
    if (!fc_nic_wait_source(&load, &source) && !fc_nic_wait_copies(&load, g->level, g->first, g->n_nodes, &copies)) {
        double payload = g->m->packet.max_bytes - g->m->packet.header_bytes, slice = g->m->nic.dma_slice_bytes;
        double turns = slice > 0 ? fmax(ceil(bytes / slice), 1) : 1, packets = fmax(ceil(bytes / payload), 1);
        double others_s = (double)g->m->nic.dma_queue * fc_nic_turn_s(&load);
        double first = 2 * fc_wire_bytes(g->m, fmin(bytes, payload)) / link_rate(g);
        *time_s = fc_spread_mean(&source) + (turns - 1) * others_s + turns * fc_spread_mean(&copies) + first +
                  (packets - 1) * packet_s(g, memory, 2);
    }
    return st->code;
}

enum fc_code fc_nic_broadcast(const struct fc_network *net, uint32_t n_nodes, double bytes, enum fc_nic_broadcast kind,
                              enum fc_nic_memory memory, const struct fc_nic_background *background, double *time_s,
                              struct fc_status *st)
{
    return fc_nic_broadcast_from(net, 0, n_nodes, bytes, kind, memory, background, time_s, st);
}

enum fc_code fc_nic_broadcast_from(const struct fc_network *net, uint32_t first, uint32_t n_nodes, double bytes,
                                   enum fc_nic_broadcast kind, enum fc_nic_memory memory,
                                   const struct fc_nic_background *background, double *time_s, struct fc_status *st)
{
    struct group g;
    struct fc_nic_time barrier;
    bool software = kind == FC_NIC_BROADCAST_SOFTWARE;
    if (find_group(net, first, n_nodes, &g, st)) return st->code;
    if (!(bytes >= 0) || isinf(bytes))
        return fc_refuse(st, FC_INPUT, "a broadcast of %g bytes (expected 0 or more)", bytes);
    if (g.m->nic.broadcast_s == 0) return missing(&g, "broadcast", st);
    if (g.m->packet.max_bytes == 0) return missing(&g, "broadcast: without packet:, which", st);
    if (software && g.m->nic.broadcast_event_s == 0) return missing(&g, "broadcast_event", st);
    if (fc_nic_barrier_from(net, first, n_nodes, software ? FC_NIC_BARRIER_SOFTWARE : FC_NIC_BARRIER_HARDWARE,
                            background, 0, &barrier, st))
        return st->code;
    double payload = g.m->packet.max_bytes - g.m->packet.header_bytes, packets = fmax(ceil(bytes / payload), 1);
    double data_s = fc_wire_bytes(g.m, fmin(bytes, payload)) / link_rate(&g) + (packets - 1) * packet_s(&g, memory, 1);
    if (background && loaded_data_s(&g, bytes, memory, background, &data_s, st)) return st->code;
    double start_s = software ? g.m->nic.broadcast_event_s : g.m->nic.broadcast_s + crossing_s(g.m, g.level);
    *time_s = barrier.mean_s + start_s + data_s;
    return FC_OK;
}
