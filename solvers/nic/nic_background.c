/* nic_background.c - what saturating traffic leaves to others: from one run of the flit-level kernel with
 * backlogged sources.
 *
 * The run gives the flits a that a node gets rid of in a cycle and the use u_c of the links of every class c.
 * If a is nearly the rate of a node's link, no worm waits for another: it holds one virtual channel of each
 * link for its own length, and another one is always free ("with complement traffic there is always one
 * virtual channel available in each link", Petrini et al. 2001, section 6.2.1). Else links idle although
 * sources have packets, because all their channels are held by worms that wait: at the links of the busiest
 * class all V of them, so that by Little's law a worm of time F holds its channel for
 *
 *   H = V F / u_max,    and a link of class c has no channel free for a share (u_c / u_max)^V of the time,
 *
 * taking channels as independent and holding times as equal, since a worm is longer than a buffer.
 * Limit: between the two regimes (CONTENDED) nothing is known; uniform traffic on qsnet-64 gives a = 0.59,
 * complement 0.98. */
#include "solvers/nic/nic.h"
#include "solvers/flit/flit.h"

#define CONTENDED 0.9 /* of a node's link */
#define WARM_UP_CYCLES 5000
#define MEASURE_CYCLES 20000

static void derive(const struct fc_machine *m, const struct fc_flit_result *r, double node_flits_per_cycle,
                   struct fc_nic_background *b)
{
    double most = 0, data = m->packet.max_bytes - m->packet.header_bytes, vcs = (double)m->router.vcs;
    double wire = m->packet.max_bytes + m->packet.trailer_bytes;
    double rate = r->accepted_flits_per_node_cycle * m->router.flit_bytes / r->cycle_s; /* wire bytes/s */
    *b = (struct fc_nic_background){.accepted_bytes_per_s = rate * data / wire};
    b->contended = r->accepted_flits_per_node_cycle < CONTENDED * node_flits_per_cycle;
    if (!b->contended) return;
    for (int c = 0; c < r->n_classes; c++) most = fmax(most, r->classes[c].mean_utilization);
    for (int c = 0; c < r->n_classes; c++) b->all_held[c] = pow(r->classes[c].mean_utilization / most, vcs);
    b->held_s = vcs * wire / (node_flits_per_cycle * m->router.flit_bytes / r->cycle_s) / most;
}

enum fc_code fc_nic_background_run(const struct fc_network *net, const char *pattern, uint64_t seed,
                                   struct fc_nic_background *background, struct fc_status *st)
{
    const struct fc_machine *m = net->machine;
    FC_SCOPED(fc_demand_free) struct fc_demand demand = {0};
    struct fc_flit_settings settings;
    FC_SCOPED(fc_flit_free) struct fc_flit_result result = {0};
    if (m->router.multicast != FC_MULTICAST_TREE)
        return fc_fail(st, FC_INPUT, (struct fc_place){m->file, m->network_line},
                       "a background for barriers and broadcasts is for machines with router.multicast: tree");
    if (m->packet.max_bytes == 0)
        return fc_fail(st, FC_INPUT, (struct fc_place){m->file, 0},
                       "packet: is missing (a background is made of packets)");
    if (fc_demand_from_pattern(net, pattern, seed, &demand, st)) return st->code;
    fc_flit_defaults(&settings);
    settings.seed = seed;
    demand.open_loop = true; /* bytes of messages as rates */
    settings.backlog = true;
    settings.warmup_cycles = WARM_UP_CYCLES;
    settings.measure_cycles = MEASURE_CYCLES;
    if (!fc_flit_run(net, &demand, NULL, &settings, &result, st)) {
        uint32_t link = net->first_link[fc_node_vertex(net, 0)];
        derive(m, &result, fc_link_bandwidth(net, link) * result.cycle_s / m->router.flit_bytes, background);
    }
    return st->code;
}
