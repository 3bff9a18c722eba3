/* route_ways.c - ways that are known when a packet leaves its source, as bit fields: where a routing gives one output at every
 * router, by the router and the head alone, the whole way is made once at the source (way() of struct fc_flit_route_ops), and
 * every router takes its output and channels from the next field. Source routing: Dally & Towles (2004), section 11.1.
 *
 * Limits: at most 8 channels, 128 pairs of output and class of channels, 48 bits a way; nodes with one link each way. */
#include "solvers/flit/route.h"
#include "solvers/flit/route_fields.h"

#include <string.h>

/* Whether nodes have one link each way, all of one class, and follow their routers in order; most nodes a router. */
static bool nodes_in_order(const struct fc_flit_net *flit, uint32_t *most)
{
    const struct fc_network *net = flit->net;
    const int node_class = net->link_class[net->first_link[net->n_routers]];
    uint32_t before = 0, here = 0;
    *most = 0;
    for (uint32_t n = 0; n < flit->n_nodes; n++) {
        uint32_t v = net->n_routers + n, link = net->first_link[v];
        if (net->first_link[v + 1] != link + 1 || flit->in_first[v + 1] - flit->in_first[v] != 1) return false;
        uint32_t back = flit->in_link[flit->in_first[v]], router = net->link_target[link];
        if (net->link_source[back] != router || router < before) return false;
        if (net->link_class[link] != node_class || net->link_class[back] != node_class) return false;
        here = router == before ? here + 1 : 1;
        before = router;
        if (here > *most) *most = here;
    }
    return *most > 0;
}
/* Outputs and nodes of routers. */
static bool shape(const struct fc_flit_net *flit, struct fc_route_fields *fields)
{
    const struct fc_network *net = flit->net;
    *fields = (struct fc_route_fields){0};
    if (flit->own_fifos || flit->n_vcs > 8) return false;
    for (uint32_t r = 0; r < flit->n_routers; r++) {
        uint32_t outs = net->first_link[r + 1] - net->first_link[r];
        if (outs > fields->n_outs) fields->n_outs = outs;
    }
    return fields->n_outs && nodes_in_order(flit, &fields->per_router);
}
bool fc_route_looked_up_fields(const struct fc_flit_net *flit, struct fc_route_fields *fields)
{
    const struct fc_routing_ops *routing = flit->net->machine->routing;
    if (routing->adaptive && routing->detours) return false; /* the choice at the source sees queues */
    if (!strncmp(flit->vc_rule, "bubble", 6) || !strcmp(flit->vc_rule, "updown"))
        return false; /* room, FC_FLIT_PATIENT */
    return shape(flit, fields) && (fields->looked_up = true);
}
bool fc_route_ways_fields(const struct fc_flit_net *flit, struct fc_route_fields *fields)
{
    if (!flit->route->way || !shape(flit, fields)) return false;
    int out_bits = fc_route_bits(fields->n_outs - 1), code_bits = fc_route_bits(flit->n_way_vcs - 1);
    if (out_bits + code_bits > 7 || (uint32_t)(out_bits + code_bits) * flit->way_links > 48) return false;
    fields->out_bits = (uint8_t)out_bits;
    fields->code_bits = (uint8_t)code_bits;
    fields->bits = (uint8_t)((uint32_t)(out_bits + code_bits) * flit->way_links);
    for (uint32_t i = 0; i < flit->n_way_vcs; i++) {
        if (flit->way_vcs[i] > UINT8_MAX) return false;
        fields->class_of[flit->way_vcs[i]] = (uint8_t)i;
        memset(fields->vcs + (i << out_bits), flit->way_vcs[i], (size_t)1 << out_bits);
    }
    return true;
}
