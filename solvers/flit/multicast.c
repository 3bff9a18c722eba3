/* multicast.c - messages to several nodes: from the demand's list to the groups that the engine copies
 * packets for, and what the links need for them at least.
 *
 * A multicast stands in place of the entries that software would send: its packets leave the source once, and
 * a packet counts as delivered at every target. bound = max over links of (wire bytes of all multicasts whose
 * line or tree has the link) / bandwidth. */
#include "solvers/flit/source.h"

#include <math.h>

static const struct fc_flit_multicast_ops *const all_ops[] = {
    [FC_MULTICAST_DEPOSIT] = &fc_multicast_deposit,
    [FC_MULTICAST_TREE] = &fc_multicast_tree,
};

bool fc_flit_copies(const struct fc_network *net, const struct fc_demand *demand)
{
    return net->machine->router.multicast != FC_MULTICAST_NONE && demand->n_multicasts > 0 && !demand->open_loop;
}

void fc_flit_multicast_use(struct fc_flit_net *flit, const struct fc_demand *demand)
{
    flit->multicast = fc_flit_copies(flit->net, demand) ? all_ops[flit->net->machine->router.multicast] : NULL;
}

const struct fc_flit_group *fc_flit_traffic_groups(const struct fc_flit_traffic *traffic)
{
    return traffic->closed.group;
}

/* The node of a task, as in source_lists.c. */
static enum fc_code place(const struct fc_network *net, const uint32_t *node, uint32_t task, uint32_t *at,
                          struct fc_status *st)
{
    *at = node ? node[task] : (uint32_t)(task / net->machine->cores_per_node);
    if (*at < net->n_nodes) return FC_OK;
    return fc_refuse(st, FC_INPUT, "task %u is placed on node %u of a network of %u nodes", task, *at, net->n_nodes);
}

/* The group of a multicast, and a target that is not the sender's node. */
static enum fc_code make_group(const struct fc_network *net, const struct fc_multicast *m, const uint32_t *node,
                               uint32_t *target, struct fc_flit_group *group, uint32_t *dst, struct fc_status *st)
{
    uint32_t src;
    *dst = FC_NONE;
    *group = (struct fc_flit_group){.root = FC_NONE};
    if (place(net, node, m->src, &src, st)) return st->code;
    for (uint32_t i = 0; i < m->n_targets; i++) {
        if (place(net, node, m->target[i], &target[i], st)) return st->code;
        if (target[i] != src) *dst = m->target[i];
    }
    if (*dst == FC_NONE) return fc_refuse(st, FC_INPUT, "task %u sends a multicast to its own node only", m->src);
    group->src = src;
    group->n_targets = m->n_targets;
    return all_ops[net->machine->router.multicast]->group(net, m, src, target, group, st);
}

static uint32_t most_targets(const struct fc_demand *demand)
{
    uint32_t most = 1;
    for (size_t i = 0; i < demand->n_multicasts; i++)
        if (demand->multicasts[i].n_targets > most) most = demand->multicasts[i].n_targets;
    return most;
}

enum fc_code fc_flit_groups_make(const struct fc_flit_net *flit, const struct fc_demand *demand, const uint32_t *node,
                                 struct fc_flit_traffic *traffic, struct fc_status *st)
{
    struct fc_demand *d = &traffic->multicasts;
    struct fc_arena *arena = &traffic->arena;
    size_t n = demand->n_multicasts;
    struct fc_flit_group *group = fc_alloc(arena, n, sizeof *group, st);
    uint32_t *target = group ? fc_alloc(arena, most_targets(demand), sizeof *target, st) : NULL;
    *d = (struct fc_demand){.name = demand->name, .n_tasks = demand->n_tasks, .n_entries = n};
    d->src = target ? fc_alloc(arena, n, sizeof *d->src, st) : NULL;
    d->dst = d->src ? fc_alloc(arena, n, sizeof *d->dst, st) : NULL;
    d->bytes = d->dst ? fc_alloc(arena, n, sizeof *d->bytes, st) : NULL;
    d->messages = d->bytes ? fc_alloc(arena, n, sizeof *d->messages, st) : NULL;
    if (!d->messages) return st->code;
    for (size_t i = 0; i < n; i++) {
        const struct fc_multicast *m = &demand->multicasts[i];
        if (make_group(flit->net, m, node, target, &group[i], &d->dst[i], st) ||
            flit->multicast->route(flit, &group[i], st))
            return st->code;
        d->src[i] = m->src;
        d->bytes[i] = m->bytes;
        d->messages[i] = 1;
    }
    traffic->closed.group = group;
    return FC_OK;
}

enum fc_code fc_flit_multicast_bound(const struct fc_network *net, const struct fc_demand *demand, const uint32_t *node,
                                     double *bound_s, struct fc_status *st)
{
    const struct fc_flit_multicast_ops *ops = all_ops[net->machine->router.multicast];
    struct fc_arena arena = {0};
    struct fc_flit_group group;
    double *load = fc_alloc(&arena, net->n_links, sizeof *load, st);
    uint32_t *target = load ? fc_alloc(&arena, most_targets(demand), sizeof *target, st) : NULL, dst;
    *bound_s = 0;
    for (size_t i = 0; target && i < demand->n_multicasts && !st->code; i++) {
        const struct fc_multicast *m = &demand->multicasts[i];
        if (!make_group(net, m, node, target, &group, &dst, st))
            ops->loads(net, &group, fc_wire_bytes(net->machine, m->bytes), load);
    }
    for (uint32_t l = 0; target && l < net->n_links; l++)
        *bound_s = fmax(*bound_s, load[l] / fc_link_bandwidth(net, l));
    fc_arena_free(&arena);
    return st->code;
}
