/* vc_walked.c - any network whose family has no rule of its own: one virtual channel, and what the routing's own walks
 * hold and wait for.
 *
 * A packet that holds a link waits for those that the walk takes next, so the walks of all pairs of nodes give every
 * dependency (Dally & Seitz 1987). Of a walk that splits every link that may follow another counts. O(pairs x hops^2);
 * limit: at most most_pairs pairs. */
#include "models/deadlock/cdg.h"

static const double most_pairs = 3e7;

/* Which output of its target a link was seen to wait for: bit first[l] + output. */
struct walked {
    uint64_t *first; /* [n_links + 1] */
    uint8_t *bits;
};

static void keep_walk(const struct fc_network *net, const struct fc_walk *walk, struct walked *kept)
{
    for (uint32_t i = 0; i < walk->n; i++) {
        uint32_t at = net->link_target[walk->link[i]];
        for (uint32_t j = i + 1; j < walk->n; j++) {
            if (net->link_source[walk->link[j]] != at) continue;
            uint64_t bit = kept->first[walk->link[i]] + walk->link[j] - net->first_link[at];
            kept->bits[bit / 8] |= (uint8_t)(1u << bit % 8);
        }
    }
}

static enum fc_code keep_walks(const struct fc_network *net, struct walked *kept, struct fc_status *st)
{
    const struct fc_routing_ops *routing = net->machine->routing;
    FC_SCOPED(fc_walk_free) struct fc_walk walk = {0};
    uint32_t capacity = routing->walk_capacity(net);
    if (capacity == FC_NONE || (double)net->n_nodes * net->n_nodes > most_pairs)
        return fc_refuse(st, FC_NO,
                         "the %s family has no virtual-channel rule for %s routing, and following it between all "
                         "of the %u nodes is too much",
                         net->machine->family->name, routing->name, net->n_nodes);
    if (fc_walk_start(&walk, capacity, st)) return st->code;
    for (uint32_t s = 0; s < net->n_nodes; s++)
        for (uint32_t d = 0; d < net->n_nodes; d++) {
            if (s == d) continue;
            walk.n = 0;
            routing->walk(net, s, d, 1, &walk);
            keep_walk(net, &walk, kept);
        }
    return FC_OK;
}

static enum fc_code start(const struct fc_network *net, struct fc_cdg *cdg, struct fc_status *st)
{
    struct walked *kept = fc_alloc(&cdg->arena, 1, sizeof *kept, st);
    if (!kept) return st->code;
    kept->first = fc_alloc(&cdg->arena, net->n_links + 1ull, sizeof *kept->first, st);
    if (!kept->first) return st->code;
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t v = net->link_target[l];
        kept->first[l + 1] = kept->first[l] + net->first_link[v + 1] - net->first_link[v];
    }
    kept->bits = fc_alloc(&cdg->arena, kept->first[net->n_links] / 8 + 1, 1, st);
    cdg->kept = kept;
    return kept->bits ? keep_walks(net, kept, st) : st->code;
}

static enum fc_code dependencies(const struct fc_network *net, int variant, struct fc_cdg *cdg, struct fc_status *st)
{
    (void)variant;
    if (cdg->pass == FC_CDG_HUBS) return start(net, cdg, st);
    const struct walked *kept = cdg->kept;
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t first = net->first_link[net->link_target[l]];
        for (uint64_t bit = kept->first[l]; bit < kept->first[l + 1]; bit++)
            if (kept->bits[bit / 8] >> bit % 8 & 1) fc_cdg_add(cdg, l, first + (uint32_t)(bit - kept->first[l]));
    }
    return FC_OK;
}

/* Not in the list: it is for the families that no rule there names. */
const struct fc_vc_rule_ops fc_vc_walked = {
    .name = "walked",
    .help = "one virtual channel; every dependency of the routing's walks",
    .source = "Dally & Seitz 1987",
    .dependencies = dependencies,
};
