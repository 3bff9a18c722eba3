/* nic_loaded.c - waits of barriers and broadcasts beside traffic that fills the network.
 *
 * A packet takes any free virtual channel. A link of class c has none with probability A_c; then the packet,
 * oldest and so next (priorities with ageing), waits for the first of its V channels to be let go. Each is
 * held for H, of which at a random moment a uniform part is left:
 *
 *   P(W_c <= x) = 1 - A_c (1 - x / H)^V
 *
 * A packet that is copied goes down all links of a switch at once, each copy by itself; the slowest counts:
 *
 *   D_1 = max over children of W_leaf,   D_l = max over children of (W_{l-1} + D_{l-1})
 *   in all  W of the links up + D_top
 *
 * A transfer by DMA waits in its node first: the N transfers of the background are served in turns of B
 * bytes, each taking s = B / a with the rate a that the network accepts. A new one comes last: (N - 1) s
 * and the uniform rest of the turn under way. Packets that the interface's thread sends, test-and-set and
 * the final word of a barrier, do not queue there. ("time-slices large DMAs", section 2.1; "uses an Elan
 * thread to send a special test-and-set broadcast packet", section 4.1 of Petrini et al. 2001.)
 *
 * Signals up a tree of arity k: R_l = max(R_{l-1}, k - 1 times (R_{l-1} + source wait + waits on the way)).
 *
 * Limits: waits are independent, the background does not feel the barrier, no network is fuller in one place
 * than in another of its class. */
#include "solvers/nic/nic_loaded.h"

/* One of the links between levels l and l + 1 (0: nodes). */
static enum fc_code wait_link(const struct fc_nic_load *g, int level, struct fc_spread *wait)
{
    const struct fc_nic_background *b = g->background;
    if (!b || !b->contended) return fc_spread_none(wait, g->step_s, g->arena, g->st);
    return fc_spread_residual(wait, g->step_s, 0, b->all_held[level], b->held_s, (double)g->machine->router.vcs,
                              g->arena, g->st);
}

static enum fc_code add_link(const struct fc_nic_load *g, int level, struct fc_spread *wait)
{
    struct fc_spread link;
    if (wait_link(g, level, &link)) return g->st->code;
    return fc_spread_add(wait, &link, g->arena, g->st);
}

enum fc_code fc_nic_wait_way(const struct fc_nic_load *g, int level, struct fc_spread *wait)
{
    if (fc_spread_none(wait, g->step_s, g->arena, g->st)) return g->st->code;
    for (int l = 0; l < 2 * level; l++)
        if (add_link(g, l / 2, wait)) return g->st->code;
    return FC_OK;
}

enum fc_code fc_nic_wait_copies(const struct fc_nic_load *g, int top, uint32_t first, uint32_t n_nodes,
                                struct fc_spread *wait)
{
    struct fc_spread down;
    const uint32_t *nodes = g->shape->subtree_nodes;
    if (fc_spread_none(wait, g->step_s, g->arena, g->st) || fc_spread_none(&down, g->step_s, g->arena, g->st))
        return g->st->code;
    for (int l = 1; l <= top; l++) {
        uint32_t last = first + n_nodes - 1;
        uint32_t children = l < top ? g->shape->m[l] : last / nodes[l - 1] - first / nodes[l - 1] + 1;
        if (add_link(g, l - 1, wait) || add_link(g, l - 1, &down)) return g->st->code;
        fc_spread_copies(&down, children);
    }
    return fc_spread_add(wait, &down, g->arena, g->st);
}

double fc_nic_turn_s(const struct fc_nic_load *g)
{
    return g->background ? g->machine->nic.dma_slice_bytes / g->background->accepted_bytes_per_s : 0;
}

enum fc_code fc_nic_wait_source(const struct fc_nic_load *g, struct fc_spread *wait)
{
    long long queue = g->machine->nic.dma_queue;
    double turn_s = fc_nic_turn_s(g);
    if (!g->background || queue == 0) return fc_spread_none(wait, g->step_s, g->arena, g->st);
    return fc_spread_residual(wait, g->step_s, (double)(queue - 1) * turn_s, 1, turn_s, 1, g->arena, g->st);
}

enum fc_code fc_nic_wait_tree(const struct fc_nic_load *g, int depth, int arity, struct fc_spread *wait)
{
    if (fc_spread_none(wait, g->step_s, g->arena, g->st)) return g->st->code;
    for (int l = 1; l <= depth; l++) {
        struct fc_spread signal, way;
        int levels = l < g->shape->h ? l : g->shape->h;
        if (fc_nic_wait_source(g, &signal) || fc_nic_wait_way(g, levels, &way) ||
            fc_spread_add(&signal, &way, g->arena, g->st) || fc_spread_add(&signal, wait, g->arena, g->st))
            return g->st->code;
        fc_spread_copies(&signal, arity - 1);
        if (fc_spread_max(wait, &signal, g->arena, g->st)) return g->st->code;
    }
    return FC_OK;
}
