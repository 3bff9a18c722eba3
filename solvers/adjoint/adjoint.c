/* adjoint.c - the tape of a replay: its arrays, and the nodes at which messages leave and arrive. What it means: adjoint_back.c. */
#include "solvers/adjoint/adjoint_internal.h"

#include <string.h>

void fc_adjoint_open(struct fc_adjoint *a, const struct fc_network *net, const uint32_t *link, int n_links)
{
    *a = (struct fc_adjoint){.net = net};
    for (int i = 0; i < n_links && i < FC_ADJOINT_LINKS; i++) a->link[a->n_links++] = link[i];
    a->first_fifo = FC_NONE;
    if (fc_adjoint_grow(a, (void **)&a->node, &a->node_capacity, 1024, sizeof *a->node))
        a->node[a->n_nodes++] = (struct fc_adjoint_node){0};
}

void fc_adjoint_close(struct fc_adjoint *a)
{
    fc_adjoint_release(a->node, a->node_capacity, sizeof *a->node);
    fc_adjoint_release(a->step, a->step_capacity, sizeof *a->step);
    fc_adjoint_release(a->stretch, a->stretch_capacity, sizeof *a->stretch);
    fc_adjoint_release(a->end, a->end_capacity, sizeof *a->end);
    fc_adjoint_release(a->term, a->term_capacity, sizeof *a->term);
    fc_adjoint_release(a->rate, a->rate_capacity, sizeof *a->rate);
    fc_adjoint_release(a->entry, a->entry_capacity, sizeof *a->entry);
    fc_adjoint_release(a->use, a->use_capacity, sizeof *a->use);
    fc_adjoint_release(a->departs, a->slot_capacity, sizeof *a->departs);
    fc_adjoint_release(a->arrives, a->arrive_capacity, sizeof *a->arrives);
    if (a->shares) a->close_shares(a->shares);
    fc_adjoint_close_pages(&a->pages);
    memset(a, 0, sizeof *a);
}

bool fc_adjoint_widen(struct fc_adjoint *a, void **array, size_t *capacity, size_t need, size_t size)
{
    size_t used = a->n_nodes * (sizeof *a->node + sizeof(uint32_t)) + a->n_steps * sizeof *a->step +
                  a->n_stretches * sizeof *a->stretch + a->n_ends * sizeof *a->end + a->n_terms * sizeof *a->term +
                  a->n_entries * sizeof *a->entry + a->n_uses * sizeof *a->use +
                  a->n_rates * (sizeof *a->rate + sizeof(uint32_t) + sizeof(struct fc_adjoint_lanes));
    a->lost = a->lost || used > FC_ADJOINT_BYTES || need >= FC_NONE;
    if (!a->lost) a->lost = a->refused = !fc_adjoint_more(&a->pages, array, capacity, need, size);
    return !a->lost;
}

/* ---- messages under way ---- */

void fc_adjoint_departs(struct fc_adjoint *a, uint64_t id, uint32_t node)
{
    size_t slot = fc_adjoint_slot(id);
    if (fc_adjoint_grow(a, (void **)&a->departs, &a->slot_capacity, slot + 1, sizeof *a->departs) &&
        fc_adjoint_grow(a, (void **)&a->arrives, &a->arrive_capacity, slot + 1, sizeof *a->arrives))
        a->departs[slot] = a->arrives[slot] = node;
}

uint32_t fc_adjoint_arrived(const struct fc_adjoint *a, uint64_t id)
{
    return a->lost ? 0 : a->arrives[fc_adjoint_slot(id)];
}

/* FC_NONE: a port, which is no parameter. */
static uint32_t add_of_link(struct fc_adjoint *a, uint32_t before, uint32_t link, double seconds)
{
    return link != FC_NONE ? fc_adjoint_add(a, before, FC_COST_LINK, link, seconds)
                           : fc_adjoint_add(a, before, FC_COST_OTHER, 0, seconds);
}

void fc_adjoint_arrives(struct fc_adjoint *a, uint64_t id, uint32_t end, double head_s, double uneven_s,
                        uint32_t narrow)
{
    if (a->lost) return;
    uint32_t arrives = fc_adjoint_add(a, end, FC_COST_LATENCY, 0, head_s);
    a->arrives[fc_adjoint_slot(id)] = uneven_s > 0 ? add_of_link(a, arrives, narrow, uneven_s) : arrives;
}

void fc_adjoint_arrives_alone(struct fc_adjoint *a, uint64_t id, double head_s, double least_s, uint32_t narrow)
{
    if (a->lost) return;
    fc_adjoint_arrives(a, id, a->departs[fc_adjoint_slot(id)], head_s, 0, FC_NONE);
    uint32_t *arrives = &a->arrives[fc_adjoint_slot(id)];
    *arrives = add_of_link(a, *arrives, narrow, least_s);
}
