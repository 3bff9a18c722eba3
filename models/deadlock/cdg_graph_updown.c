/* cdg_graph_updown.c - channel dependencies of up*-down* routes on a graph (graph_updown.c): a packet that came up, or from its
 * node, may wait for every link out of the router, one that came down for those that go down and for nodes. A superset of the
 * shortest such routes; without a cycle, since links up in falling and then links down in rising places are an order. Two hubs a
 * router: O(links). */
#include "models/deadlock/cdg.h"
#include "models/family_graph.h"

enum fc_code fc_graph_updown_dependencies(const struct fc_network *net, bool escape, struct fc_cdg *cdg,
                                          struct fc_status *st)
{
    uint32_t any = fc_cdg_hubs(cdg, net->n_routers), down = fc_cdg_hubs(cdg, net->n_routers);
    cdg->extended = escape;
    if (cdg->pass == FC_CDG_HUBS) {
        struct fc_updown *updown = fc_alloc(&cdg->arena, 1, sizeof *updown, st);
        cdg->kept = updown;
        return updown ? fc_graph_updown(net, &cdg->arena, updown, st) : st->code;
    }
    const struct fc_updown *u = cdg->kept;
    for (uint32_t v = 0; v < net->n_routers; v++) fc_cdg_add(cdg, any + v, down + v); /* what came up may go down */
    for (uint32_t l = 0; l < net->n_links; l++) {
        uint32_t from = net->link_source[l], to = net->link_target[l], channel = fc_cdg_channel(cdg, l, 0);
        bool injected = fc_is_node(net, from), ejected = fc_is_node(net, to);
        bool falls = !injected && !ejected && fc_updown_is_down(u, from, to);
        if (!injected) fc_cdg_add(cdg, (ejected || falls ? down : any) + from, channel);
        if (!ejected) fc_cdg_add(cdg, channel, (falls ? down : any) + to);
    }
    return FC_OK;
}
