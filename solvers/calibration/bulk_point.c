/* bulk_point.c - where a bulk phase lies among those that calibrations run: its kind of pattern and five features, chosen such
 * that they stay within what was run where a phase or a network only grows:
 *
 *     packets^-1/2      a message of few packets cannot be split evenly, and ends far from where the mean does
 *     1 / hops          channels taken by others in turn even out on long ways
 *     log anisotropy    of link loads: long dimensions hold up the short ones (Adiga et al. 2005, 32 x 16 x 16)
 *     log split         what the solver's best split saves over the even one, which routers see nothing of
 *     latency share     of the reference: a lone packet takes exactly that
 *     log fluid         over the reference: what fair shares, FIFOs and heads of nodes take (bulk_fluid.c), where that is known
 *     spread            packets for many destinations hold up each other; those for one do not */
#include "solvers/calibration/bulk.h"

#include <string.h>

/* Entries times routers for a second load solution, which walks the box of each: 4096 nodes with 60 000 pairs (half a
 * second) are within, a permutation of 65 536 nodes (three seconds) is not. */
#define MOST_WORK 2.5e8

static const char *const kinds[] = {"tornado",  "transpose",         "complement", "bit-reverse",
                                    "neighbor", FC_BULK_PERMUTATION, NULL};

/* ---- kinds ---- */

/* Every node sends every other the same: one dense part, the same for all tasks, and nodes that inject alike.
 */
static bool is_all_to_all(const struct fc_network *net, const struct fc_demand *demand, const struct fc_load *load)
{
    if (demand->n_entries || demand->n_dense != 1 || net->n_nodes < 2) return false;
    if (!fc_all_equal(demand->dense[0].a, demand->n_tasks) || !fc_all_equal(demand->dense[0].b, demand->n_tasks))
        return false;
    double first = -1;
    for (uint32_t node = 0; node < net->n_nodes; node++) {
        double out = 0;
        for (uint32_t l = net->first_link[net->n_routers + node]; l < net->first_link[net->n_routers + node + 1]; l++)
            out += load->bytes[l];
        if (first < 0) first = out;
        if (!(out > 0) || fabs(out - first) > 1e-9 * first) return false;
    }
    return true;
}

static bool in_order(const struct fc_network *net, const struct fc_placement *placement)
{
    uint32_t each = placement->n_tasks / net->n_nodes;
    if (each == 0 || placement->n_tasks % net->n_nodes) return false;
    for (uint32_t t = 0; t < placement->n_tasks; t++)
        if (placement->node[t] != t / each) return false;
    return true;
}

/* Every node sends to at most one and receives from at most one; where there is no memory for it, false. */
static bool is_one_to_one(const struct fc_network *net, const struct fc_demand *demand,
                          const struct fc_placement *placement)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_status none = {0};
    bool one = demand->n_dense == 0;
    uint32_t *to = fc_alloc(&arena, 2 * (size_t)net->n_nodes, sizeof *to, &none), *from = to + net->n_nodes;
    for (size_t e = 0; to && e < demand->n_entries && one; e++) {
        uint32_t src = placement->node[demand->src[e]], dst = placement->node[demand->dst[e]];
        if (src == dst) continue;
        one = (to[src] == 0 || to[src] == dst + 1) && (from[dst] == 0 || from[dst] == src + 1);
        to[src] = dst + 1;
        from[dst] = src + 1;
    }
    return to && one;
}

const char *fc_bulk_kind(const struct fc_network *net, const struct fc_demand *demand,
                         const struct fc_placement *placement, const struct fc_load *load)
{
    if (is_all_to_all(net, demand, load)) return FC_BULK_ALL_TO_ALL;
    bool ordered = in_order(net, placement) && !demand->n_dense;
    if (ordered && demand->n_grid) return "stencil"; /* no other demand has one */
    size_t n = strcspn(demand->name, ":");
    for (int i = 0; ordered && kinds[i] && demand->n_entries <= demand->n_tasks; i++)
        if (strlen(kinds[i]) == n && !strncmp(demand->name, kinds[i], n)) return kinds[i];
    return is_one_to_one(net, demand, placement) ? FC_BULK_PERMUTATION : FC_BULK_GRAPH;
}

/* ---- points ---- */

/* Packets of a message; machines without packets send flits. */
static double packets_of(const struct fc_machine *m, double bytes)
{
    double payload = m->packet.max_bytes > 0 ? m->packet.max_bytes - m->packet.header_bytes : m->router.flit_bytes;
    return payload > 0 ? fmax(1, ceil(bytes / payload - 1e-9)) : 1;
}

/* Packets between two tasks, mean, and whole flits over wire bytes, for machines whose packets are flits
 * (others are rounded by fc_wire_bytes already). */
static void count_packets(const struct fc_network *net, const struct fc_demand *d, const struct fc_placement *placement,
                          double *packets, double *whole_flits)
{
    const struct fc_machine *m = net->machine;
    double n_packets = 0, n_pairs = 0, bytes = 0;
    for (size_t e = 0; e < d->n_entries; e++) {
        if (placement->node[d->src[e]] == placement->node[d->dst[e]]) continue;
        double n = fmax(1, d->messages[e]);
        n_packets += n * packets_of(m, d->bytes[e] / n);
        bytes += d->bytes[e];
        n_pairs++;
    }
    for (int i = 0; i < d->n_dense; i++) {
        const struct fc_dense *part = &d->dense[i];
        double a = 0, b = 0, same = 0, as = 0, bs = 0;
        for (uint32_t t = 0; t < d->n_tasks; t++) {
            a += part->a[t];
            b += part->b[t];
            same += part->a[t] * part->b[t];
            as += part->a[t] > 0;
            bs += part->b[t] > 0;
        }
        double sum = a * b - same, each = part->message_bytes > 0 ? part->message_bytes : sum;
        if (!(sum > 0)) continue;
        n_packets += sum / each * packets_of(m, each);
        bytes += sum;
        n_pairs += fmax(1, as * bs - fmin(as, bs));
    }
    *packets = n_pairs > 0 ? n_packets / n_pairs : 1;
    *whole_flits = m->packet.max_bytes > 0 || !(bytes > 0) ? 1 : fmax(1, n_packets * m->router.flit_bytes / bytes);
}

static double anisotropy(const struct fc_network *net, const struct fc_load *load)
{
    double most = 0, sum = 0, n = 0;
    for (uint32_t l = 0; l < net->n_links; l++) {
        if (!(load->bytes[l] > 0) || !fc_is_between_routers(net, l)) continue;
        double time = load->bytes[l] / fc_link_bandwidth(net, l);
        most = fmax(most, time);
        sum += time;
        n++;
    }
    return sum > 0 ? fmax(1, most * n / sum) : 1;
}

enum fc_code fc_bulk_split(const struct fc_network *net, const struct fc_demand *demand,
                           const struct fc_placement *placement, const struct fc_load *load, double *gain,
                           struct fc_status *st)
{
    FC_SCOPED(fc_load_free) struct fc_load even = {0};
    struct fc_load_settings how = {.split = FC_SPLIT_UNIFORM, .threads = 1};
    struct fc_load_summary one, other;
    *gain = 1;
    if (!net->machine->routing->adaptive || demand->n_dense || (double)demand->n_entries * net->n_routers > MOST_WORK)
        return FC_OK;
    if (fc_load_solve(net, demand, placement, &how, &even, st)) return st->code;
    fc_load_summarise(net, load, &how, &one);
    fc_load_summarise(net, &even, &how, &other);
    if (one.max_link_s > 0) *gain = fmax(1, other.max_link_s / one.max_link_s);
    return FC_OK;
}

/* 1 - 1 / destinations of a node, mean over bytes. sums[2 n_nodes]: zeroed. */
static double spread(const struct fc_network *net, const struct fc_demand *d, const struct fc_placement *placement,
                     double *sums)
{
    double *squares = sums + net->n_nodes, all = 0, single = 0;
    for (size_t e = 0; e < d->n_entries; e++) {
        uint32_t node = placement->node[d->src[e]];
        if (node == placement->node[d->dst[e]]) continue;
        sums[node] += d->bytes[e];
        squares[node] += d->bytes[e] * d->bytes[e];
    }
    for (uint32_t node = 0; node < net->n_nodes; node++) {
        all += sums[node];
        if (sums[node] > 0) single += squares[node] / sums[node];
    }
    for (int i = 0; i < d->n_dense; i++) {
        const struct fc_dense *part = &d->dense[i];
        double a = 0, b = 0, squared = 0;
        for (uint32_t t = 0; t < d->n_tasks; t++) a += part->a[t], b += part->b[t], squared += part->b[t] * part->b[t];
        all += a * b;
        if (b > 0) single += a * squared / b;
    }
    return all > 0 ? fmax(0, 1 - single / all) : 0;
}

enum fc_code fc_bulk_locate(const struct fc_network *net, const struct fc_demand *demand,
                            const struct fc_placement *placement, const struct fc_load *load,
                            const struct fc_phase_parts *parts, double split, double fluid_s,
                            struct fc_bulk_point *point, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    double whole_flits, *sums = fc_alloc(&arena, 2 * (size_t)net->n_nodes, sizeof *sums, st);
    if (!sums) return st->code;
    count_packets(net, demand, placement, &point->packets, &whole_flits);
    point->hops = load->network_bytes > 0 ? load->hop_bytes / load->network_bytes : 0;
    point->anisotropy = anisotropy(net, load);
    point->split = split;
    point->reference_s = parts->links_s * whole_flits + parts->fill_s;
    point->latency_share = point->reference_s > 0 ? parts->fill_s / point->reference_s : 0;
    point->fluid = point->reference_s > 0 ? fluid_s / point->reference_s : 0;
    point->spread = spread(net, demand, placement, sums);
    return FC_OK;
}

void fc_bulk_features(const struct fc_bulk_point *point, double x[FC_KRIGING_FEATURES])
{
    memset(x, 0, FC_KRIGING_FEATURES * sizeof *x);
    x[0] = 1 / sqrt(fmax(1, point->packets));
    x[1] = 1 / fmax(1, point->hops);
    x[2] = log(point->anisotropy);
    x[3] = log(point->split);
    x[4] = point->latency_share;
    x[5] = point->fluid > 0 ? log(point->fluid) : 0;
    x[6] = point->spread;
}
