/* group_shift.c - of G groups of nodes, node (g, i) to node (g + by mod G, i mod the other's size): the traffic of
 * pattern_group_shift.c, which two families know as hard. */
#include "models/group_shift.h"

/* Nodes by block (label NULL: equal parts), those of one in the order of their numbers: order[n], first[n_blocks + 1], block[n]. */
static enum fc_code sort_nodes(const struct fc_network *net, const uint32_t *label, uint32_t n_blocks, uint32_t *block,
                               uint32_t *order, uint32_t *first, struct fc_status *st)
{
    for (uint32_t n = 0; n < net->n_nodes; n++) {
        block[n] = label ? label[net->link_target[net->first_link[fc_node_vertex(net, n)]]]
                         : (uint32_t)((uint64_t)n * n_blocks / net->n_nodes);
        if (block[n] >= n_blocks) return fc_refuse(st, FC_INPUT, "node %u is in no group of this network", n);
        first[block[n] + 1]++;
    }
    for (uint32_t b = 0; b < n_blocks; b++) first[b + 1] += first[b];
    for (uint32_t n = net->n_nodes; n-- > 0;) order[--first[block[n] + 1]] = n;
    for (uint32_t b = 0; b < n_blocks; b++) first[b] = first[b + 1];
    first[n_blocks] = net->n_nodes;
    return FC_OK;
}

enum fc_code fc_group_shift(const struct fc_network *net, uint64_t by, uint32_t *to, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t *label = fc_alloc(&scratch, net->n_routers, sizeof *label, st);
    uint32_t *block = fc_alloc(&scratch, net->n_nodes, sizeof *block, st);
    uint32_t *order = fc_alloc(&scratch, net->n_nodes, sizeof *order, st);
    uint32_t *first = fc_alloc(&scratch, net->n_routers + 2ull, sizeof *first, st);
    const struct fc_family_ops *family = net->machine->family;
    struct fc_tree tree = {0};
    uint32_t n_blocks = 0;
    if (!st->code && family->tree && family->tree(net->machine, &tree) && tree.n > 0)
        n_blocks = tree.level[0].parts;
    else if (!st->code && family->partition)
        n_blocks = family->partition(net, 0, label);
    if (!st->code && n_blocks < 2)
        fc_refuse(st, FC_INPUT, "a %s network has no groups (defined where the family divides itself)", family->name);
    if (!st->code && !sort_nodes(net, tree.n > 0 ? NULL : label, n_blocks, block, order, first, st)) {
        for (uint32_t b = 0; b < n_blocks; b++) {
            uint32_t other = (uint32_t)((b + by) % n_blocks);
            while (first[other] == first[other + 1])
                other = (other + 1) % n_blocks; /* blocks without nodes are passed by */
            if (other == b && first[b] < first[b + 1]) {
                fc_refuse(st, FC_INPUT, "by: %llu groups on from a group is the group itself (there are %u)",
                          (unsigned long long)by, n_blocks);
                break;
            }
            uint32_t size = first[other + 1] - first[other];
            for (uint32_t i = first[b]; i < first[b + 1]; i++)
                to[order[i]] = order[first[other] + (i - first[b]) % size];
        }
    }
    return st->code;
}
