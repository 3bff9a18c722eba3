/* background.c - traffic of other jobs: its rates between nodes, and what they take of every link.
 *
 *     a_l = w sum over pairs (s, d) of rate(s, d) * share of the route from s to d that crosses l
 *
 * with the machine's routing (load.c: under adaptive routing the split that its solver finds), w wire bytes
 * over payload of full packets. a_l / b_l is the link's utilisation, below 1 everywhere, or the background is
 * refused: then there is no steady state beside which a job could run (Dally & Towles 2004, section 23.1).
 *
 * The background is inelastic: it keeps its rate whatever the job does, and leaves b_l - a_l. Its sessions
 * are those of limited demand in max-min fairness (Bertsekas & Gallager, Data Networks, 2nd ed. 1992, 6.5.2),
 * who get what they ask for where that is below the fair share, and an open-loop source (Dally & Towles 2004,
 * section 23.1) asks for no more when it is delayed. Networks that serve packets under way before new ones
 * (Blue Gene/L) enforce just this at the job's own nodes. Where the demand is above its fair share a fair
 * arbiter would hold it back, and the job would get more than b_l - a_l: docs/background.md holds the rule
 * against the kernel, with which error at which load.
 *
 *     contention   flows share b_l - a_l max-min fairly (transit_contention.c); phases take b_l - a_l too
 *     queueing     a_l / b_l adds to every channel's load, in full packets; short messages wait as follows
 *                  from that, long ones share b_l - a_l (transit_queueing.c)
 *     flit         the packets themselves, drawn by the rates (background_births.c, transit_flit.c)
 *
 * Limits: rates do not change in time; all packets are full; the background does not feel the job. Of sources
 * that always have a packet waiting (FULL) the kernel tells what the network lets through; that rate is taken
 * of the links, but what blocked worms keep from others beyond it is known only for barriers and broadcasts
 * of network interfaces (nic_background.c). */
#include "models/demand_build.h"
#include "solvers/background.h"
#include "solvers/flit/prepared.h"

#include <string.h>

#define WARM_UP_CYCLES 5000
#define MEASURE_CYCLES 20000

/* ---- rates ---- */

/* Arrays for entries and dense parts; the rates come later. */
static enum fc_code start(const struct fc_network *net, const struct fc_demand *from, struct fc_background *b,
                          struct fc_status *st)
{
    struct fc_demand *d = &b->demand;
    *d = (struct fc_demand){.n_tasks = net->n_nodes, .open_loop = true};
    d->name = fc_copy_text(&b->arena, from->name ? from->name : "background", st);
    d->src = fc_alloc(&b->arena, from->n_entries, sizeof *d->src, st);
    d->dst = fc_alloc(&b->arena, from->n_entries, sizeof *d->dst, st);
    d->bytes = fc_alloc(&b->arena, from->n_entries, sizeof *d->bytes, st);
    d->messages = fc_alloc(&b->arena, from->n_entries, sizeof *d->messages, st);
    for (int i = 0; i < from->n_dense && !st->code; i++) {
        d->dense[i].a = fc_alloc(&b->arena, net->n_nodes, sizeof(double), st);
        d->dense[i].b = fc_alloc(&b->arena, net->n_nodes, sizeof(double), st);
        d->dense[i].message_bytes = b->packet_bytes;
        d->n_dense++;
    }
    return st->code;
}

/* The pairs of `from` with task t on node[t], FC_NONE: left out. */
static enum fc_code take(const struct fc_network *net, const struct fc_demand *from, const uint32_t *node,
                         struct fc_background *b, struct fc_status *st)
{
    struct fc_demand *d = &b->demand;
    if (start(net, from, b, st)) return st->code;
    for (size_t e = 0; e < from->n_entries; e++) {
        uint32_t src = node[from->src[e]], dst = node[from->dst[e]];
        if (src == FC_NONE || dst == FC_NONE || !(from->bytes[e] > 0)) continue;
        d->src[d->n_entries] = src;
        d->dst[d->n_entries] = dst;
        d->bytes[d->n_entries++] = from->bytes[e];
    }
    for (int i = 0; i < from->n_dense; i++)
        for (uint32_t t = 0; t < from->n_tasks; t++) {
            if (node[t] == FC_NONE) continue;
            d->dense[i].a[node[t]] += from->dense[i].a[t];
            d->dense[i].b[node[t]] += from->dense[i].b[t];
        }
    return FC_OK;
}

/* What all nodes send, to others and to themselves. */
static void add_up(const struct fc_background *b, double *to_others, double *to_themselves)
{
    const struct fc_demand *d = &b->demand;
    *to_others = *to_themselves = 0;
    for (size_t e = 0; e < d->n_entries; e++) *(d->src[e] == d->dst[e] ? to_themselves : to_others) += d->bytes[e];
    for (int i = 0; i < d->n_dense; i++) {
        double sum_a = 0, sum_b = 0, own = 0;
        for (uint32_t n = 0; n < d->n_tasks; n++) {
            sum_a += d->dense[i].a[n];
            sum_b += d->dense[i].b[n];
            own += d->dense[i].a[n] * d->dense[i].b[n];
        }
        *to_themselves += own;
        *to_others += sum_a * sum_b - own;
    }
}

static void multiply(struct fc_background *b, double per_s)
{
    struct fc_demand *d = &b->demand;
    for (size_t e = 0; e < d->n_entries; e++) {
        d->bytes[e] *= per_s;
        d->messages[e] = d->bytes[e] / b->packet_bytes;
    }
    for (int i = 0; i < d->n_dense; i++)
        for (uint32_t n = 0; n < d->n_tasks; n++) d->dense[i].a[n] *= per_s;
}

static enum fc_code count_senders(struct fc_background *b, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    const struct fc_demand *d = &b->demand;
    bool *sends = fc_alloc(&scratch, d->n_tasks, sizeof *sends, st);
    for (size_t e = 0; sends && e < d->n_entries; e++) sends[d->src[e]] |= d->src[e] != d->dst[e];
    for (int i = 0; sends && i < d->n_dense; i++) {
        double sum = 0;
        for (uint32_t n = 0; n < d->n_tasks; n++) sum += d->dense[i].b[n];
        for (uint32_t n = 0; n < d->n_tasks; n++) sends[n] |= d->dense[i].a[n] > 0 && sum > d->dense[i].b[n];
    }
    for (uint32_t n = 0; sends && n < d->n_tasks; n++) b->n_senders += sends[n];
    return st->code;
}

/* ---- links ---- */

/* Wire bytes that one second's rates put on the links; the busiest link. */
static enum fc_code load_links(const struct fc_network *net, uint64_t seed, struct fc_background *b,
                               struct fc_status *st)
{
    FC_SCOPED(fc_load_free) struct fc_load load = {0};
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t *node = fc_alloc(&scratch, net->n_nodes, sizeof *node, st);
    b->link_bytes_per_s = fc_alloc(&b->arena, net->n_links, sizeof *b->link_bytes_per_s, st);
    for (uint32_t n = 0; node && n < net->n_nodes; n++) node[n] = n;
    struct fc_placement placement = {net->n_nodes, node};
    struct fc_load_settings settings = {.threads = 1, .seed = seed};
    double wire = fc_wire_bytes(net->machine, b->packet_bytes) / b->packet_bytes;
    b->max_utilization = 0;
    b->busiest = FC_NONE;
    if (!st->code && !fc_load_solve(net, &b->demand, &placement, &settings, &load, st))
        for (uint32_t l = 0; l < net->n_links; l++) {
            b->link_bytes_per_s[l] = load.bytes[l] * wire;
            double utilization = b->link_bytes_per_s[l] / fc_link_bandwidth(net, l);
            if (utilization <= b->max_utilization) continue;
            b->max_utilization = utilization;
            b->busiest = l;
        }
    return st->code;
}

static enum fc_code check_links(const struct fc_network *net, const struct fc_background *b, struct fc_status *st)
{
    char name[96];
    if (b->max_utilization < 1) return FC_OK;
    return fc_refuse(st, FC_INPUT,
                     "the background would keep link %s busy for %.4g %% of the time (expected less than 100 %%)",
                     fc_link_name(net, b->busiest, name, sizeof name), 100 * b->max_utilization);
}

/* The demand's pairs are in b; makes them rates. */
static enum fc_code finish(const struct fc_network *net, double per_s, uint64_t seed, struct fc_background *b,
                           struct fc_status *st)
{
    double own;
    multiply(b, per_s);
    add_up(b, &b->offered_bytes_per_s, &own);
    if (count_senders(b, st) || load_links(net, seed, b, st)) return st->code;
    return check_links(net, b, st);
}

static void begin(const struct fc_network *net, struct fc_background *b)
{
    *b = (struct fc_background){.busiest = FC_NONE, .packet_bytes = fc_packet_payload_bytes(net->machine)};
}

static enum fc_code end(struct fc_background *b, const struct fc_status *st)
{
    if (st->code) fc_background_free(b);
    return st->code;
}

FC_FREES(fc_background_free, fc_background)

enum fc_code fc_background_of_demand(const struct fc_network *net, const struct fc_demand *demand, const uint32_t *node,
                                     double per_s, uint64_t seed, struct fc_background *b, struct fc_status *st)
{
    begin(net, b);
    if (!(per_s > 0) || isinf(per_s))
        fc_refuse(st, FC_INPUT, "a background that takes its bytes %g times a second (expected more than 0)", per_s);
    else if (!take(net, demand, node, b, st))
        finish(net, per_s, seed, b, st);
    return end(b, st);
}

enum fc_code fc_background_add(const struct fc_network *net, const struct fc_background *more, uint64_t seed,
                               struct fc_background *b, struct fc_status *st)
{
    struct fc_background sum;
    const struct fc_background *parts[] = {b, more};
    struct fc_demand sizes = {.name = "backgrounds",
                              .n_entries = b->demand.n_entries + more->demand.n_entries,
                              .n_dense = b->demand.n_dense + more->demand.n_dense};
    double own;
    begin(net, &sum);
    if (b->fills || more->fills)
        fc_refuse(st, FC_INPUT, "--background: full is of one background alone (expected a load)");
    else if (sizes.n_dense > (int)FC_COUNT(sizes.dense))
        fc_refuse(st, FC_INPUT, "--background: backgrounds with more than %zu all-to-all parts together",
                  FC_COUNT(sizes.dense));
    else if (!start(net, &sizes, &sum, st)) {
        struct fc_demand *d = &sum.demand;
        int n_dense = 0;
        for (int k = 0; k < 2; k++) {
            const struct fc_demand *from = &parts[k]->demand;
            for (size_t e = 0; e < from->n_entries; e++, d->n_entries++) {
                d->src[d->n_entries] = from->src[e];
                d->dst[d->n_entries] = from->dst[e];
                d->bytes[d->n_entries] = from->bytes[e];
            }
            for (int i = 0; i < from->n_dense; i++, n_dense++) {
                memcpy(d->dense[n_dense].a, from->dense[i].a, d->n_tasks * sizeof *from->dense[i].a);
                memcpy(d->dense[n_dense].b, from->dense[i].b, d->n_tasks * sizeof *from->dense[i].b);
            }
        }
        multiply(&sum, 1);
        add_up(&sum, &sum.offered_bytes_per_s, &own);
        if (!count_senders(&sum, st) && !load_links(net, seed, &sum, st)) check_links(net, &sum, st);
    }
    fc_background_free(b);
    *b = sum;
    return end(b, st);
}

/* ---- patterns ---- */

/* Payload a node and second of a flit a node and cycle: full packets of F flits. */
static enum fc_code payload_of_flit(const struct fc_network *net, const struct fc_background *b, double *bytes_per_s,
                                    struct fc_status *st)
{
    struct fc_flit_settings settings;
    struct fc_flit_net flit;
    fc_flit_defaults(&settings);
    settings.allow_deadlock = true;
    if (fc_flit_prepare(net, &settings, &flit, st)) return st->code;
    *bytes_per_s = 1 / flit.cycle_s / flit.packet_flits_max * b->packet_bytes;
    fc_flit_unprepare(&flit);
    return FC_OK;
}

enum fc_code fc_background_flits(const struct fc_network *net, const struct fc_background *b, double *flits_per_cycle,
                                 struct fc_status *st)
{
    double others, own, a_flit;
    add_up(b, &others, &own);
    if (payload_of_flit(net, b, &a_flit, st)) return st->code;
    *flits_per_cycle = (others + own) / net->n_nodes / a_flit;
    return FC_OK;
}

/* Of a load in flits a node and cycle. */
static enum fc_code payload_of_flits(const struct fc_network *net, double load, const struct fc_background *b,
                                     double *bytes_per_s, struct fc_status *st)
{
    if (payload_of_flit(net, b, bytes_per_s, st)) return st->code;
    *bytes_per_s *= load;
    return FC_OK;
}

/* What the network lets through when every source always has a packet waiting, payload a node and second. */
static enum fc_code payload_of_backlog(const struct fc_network *net, const char *pattern, uint64_t seed,
                                       struct fc_background *b, double *bytes_per_s, struct fc_status *st)
{
    struct fc_flit_settings settings;
    FC_SCOPED(fc_flit_free) struct fc_flit_result result = {0};
    const struct fc_machine *m = net->machine;
    b->fills = true;
    b->interfaces = m->nic.line && m->router.multicast == FC_MULTICAST_TREE && m->packet.max_bytes > 0;
    if (b->interfaces) {
        if (fc_nic_background_run(net, pattern, seed, &b->nic, st)) return st->code;
        *bytes_per_s = b->nic.accepted_bytes_per_s;
        return FC_OK;
    }
    fc_flit_defaults(&settings);
    settings.seed = seed;
    settings.backlog = true;
    settings.warmup_cycles = WARM_UP_CYCLES;
    settings.measure_cycles = MEASURE_CYCLES;
    if (fc_flit_run(net, &b->demand, NULL, &settings, &result, st)) return st->code;
    double flits = result.accepted_flits_per_node_cycle;
    return payload_of_flits(net, flits, b, bytes_per_s, st);
}

/* Payload bytes/s of the mean node for this load; of SHARE it makes the links' loads on the way. */
static enum fc_code times_a_second(const struct fc_network *net, const char *pattern, size_t n_nodes,
                                   enum fc_background_load kind, double load, uint64_t seed, struct fc_background *b,
                                   double *per_s, struct fc_status *st)
{
    double others, own, node_bytes_per_s = load;
    add_up(b, &others, &own);
    if (!(others > 0))
        return fc_refuse(st, FC_INPUT, "%s: none of these %zu nodes sends to another of them", pattern, n_nodes);
    if (kind == FC_BACKGROUND_SHARE) {
        if (load_links(net, seed, b, st)) return st->code;
        if (b->busiest == FC_NONE)
            return fc_refuse(st, FC_INPUT, "%s crosses no link of finite bandwidth: no share of it keeps one busy",
                             pattern);
        *per_s = load / b->max_utilization;
        return FC_OK;
    }
    if (kind == FC_BACKGROUND_FLITS && payload_of_flits(net, load, b, &node_bytes_per_s, st)) return st->code;
    if (kind == FC_BACKGROUND_FULL && payload_of_backlog(net, pattern, seed, b, &node_bytes_per_s, st)) return st->code;
    *per_s = node_bytes_per_s * (double)n_nodes / (others + own);
    return FC_OK;
}

/* node[n_tasks]: itself where it takes part, else FC_NONE. */
static enum fc_code who_takes_part(const struct fc_network *net, const uint32_t *nodes, size_t n_nodes, uint32_t *node,
                                   struct fc_status *st)
{
    for (uint32_t n = 0; n < net->n_nodes; n++) node[n] = nodes ? FC_NONE : n;
    for (size_t i = 0; nodes && i < n_nodes; i++) {
        if (nodes[i] >= net->n_nodes)
            return fc_refuse(st, FC_INPUT, "a background on node %u (the machine has %u)", nodes[i], net->n_nodes);
        node[nodes[i]] = nodes[i];
    }
    return FC_OK;
}

enum fc_code fc_background_of_pattern(const struct fc_network *net, const char *pattern, const uint32_t *nodes,
                                      size_t n_nodes, enum fc_background_load kind, double load, uint64_t seed,
                                      struct fc_background *b, struct fc_status *st)
{
    FC_SCOPED(fc_demand_free) struct fc_demand whole = {0};
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    double per_s = 0;
    begin(net, b);
    if (kind != FC_BACKGROUND_FULL && (!(load > 0) || isinf(load)))
        return fc_refuse(st, FC_INPUT, "%s: a background of load %g (expected more than 0)", pattern, load);
    if (kind == FC_BACKGROUND_FULL && nodes)
        return fc_refuse(st, FC_INPUT,
                         "%s: sources that always have a packet waiting are those of all nodes (leave the list of "
                         "nodes out, or give a load)",
                         pattern);
    if (fc_demand_from_pattern(net, pattern, seed, &whole, st)) return end(b, st);
    uint32_t *node = fc_alloc(&scratch, net->n_nodes, sizeof *node, st);
    if (!st->code && whole.n_tasks != net->n_nodes)
        fc_refuse(st, FC_INPUT, "%s has %u tasks: a background has one a node, of %u", pattern, whole.n_tasks,
                  net->n_nodes);
    if (!nodes) n_nodes = net->n_nodes;
    if (!st->code && !who_takes_part(net, nodes, n_nodes, node, st) && !take(net, &whole, node, b, st) &&
        !times_a_second(net, pattern, n_nodes, kind, load, seed, b, &per_s, st))
        finish(net, per_s, seed, b, st);
    return end(b, st);
}
