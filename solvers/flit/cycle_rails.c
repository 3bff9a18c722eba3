/* cycle_rails.c - nodes of the cycle engine with several injection links, one into each plane of a network.
 *
 * The front packet of the source starts on any of them that has no packet under way and room, as in the event engine
 * (event_node.c), which takes the emptiest; here links are looked at in turn from one drawn for the packet on. So a
 * node sends as many packets at a time as it has links. */
#include "solvers/flit/cycle_router.h"

enum fc_code fc_cycle_open_rails(engine *e, struct fc_status *st)
{
    const struct fc_network *net = e->flit->net;
    uint32_t first = net->first_link[net->n_routers], n = net->first_link[net->n_routers + net->n_nodes] - first;
    if (n == net->n_nodes) return FC_OK;
    e->first_rail = first;
    e->rail = fc_alloc(&e->arena, n, sizeof *e->rail, st);
    for (uint32_t i = 0; e->rail && i < n; i++) e->rail[i] = (struct fc_cycle_node){.link = first + i, .last_vc = 15};
    return st->code;
}

enum fc_code fc_cycle_open_rails_block(block *b, struct fc_status *st)
{
    if (b->engine->rail) b->under_way = fc_alloc(&b->engine->arena, b->n_nodes / 64u + 1, sizeof *b->under_way, st);
    return st->code;
}

/* The front packet of the source starts on one of the node's n links, if any can take it. */
static bool start(block *b, uint32_t node, struct fc_cycle_node *rails, uint32_t n, uint64_t t)
{
    struct fc_flit_source *source = &b->engine->node[node].source;
    uint32_t from = (uint32_t)(source->random >> 16) % n;
    for (uint32_t i = 0; i < n; i++) {
        struct fc_cycle_node *rail = &rails[(from + i) % n];
        if (rail->left || rail->link_free > t) continue;
        if (b->out_of_packets || !fc_cycle_new_packet(b, node, source, rail, t)) continue;
        rail->link_free = t + fc_cycle_put_flit(b, rail, FC_FLIT_HEAD, t);
        return true;
    }
    return false;
}

static void send(block *b, uint32_t place, uint64_t t)
{
    engine *e = b->engine;
    const struct fc_network *net = e->flit->net;
    uint32_t node = b->node[place], first = net->first_link[net->n_routers + node];
    uint32_t n = net->first_link[net->n_routers + node + 1] - first;
    struct fc_cycle_node *rails = e->rail + (first - e->first_rail);
    bool under_way = false;
    for (uint32_t i = 0; i < n; i++)
        if (rails[i].left && rails[i].link_free <= t) rails[i].link_free = t + fc_cycle_put_flit(b, &rails[i], 0, t);
    while (b->sending[place / 64] >> place % 64 & 1 && start(b, node, rails, n, t))
        fc_cycle_next_packet(b, e->traffic, place, node, &e->node[node].source, t, t);
    for (uint32_t i = 0; i < n; i++) under_way = under_way || rails[i].left;
    b->under_way[place / 64] &= ~(1ull << place % 64);
    b->under_way[place / 64] |= (uint64_t)under_way << place % 64;
}

void fc_cycle_send_rails(block *b, uint64_t t)
{
    for (uint32_t w = 0; w < (b->n_nodes + 63) / 64; w++)
        for (uint64_t rest = b->sending[w] | b->under_way[w]; rest; rest &= rest - 1) send(b, 64 * w + LOW(rest), t);
}
