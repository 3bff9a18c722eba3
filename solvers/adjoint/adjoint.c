/* adjoint.c - the derivative of a replay's time T by every parameter, in one pass from the tape's end to its beginning.
 *
 * A replay adds costs to times and takes the latest of several times. Where it takes the latest, a derivative is that of the
 * one that was latest; so a node t of the tape is
 *
 *     t = t_before + amount x cost                        an operation: o, L, g, O, G, computation, a link alone
 *     r_n t = sum_k (r_k - r_k-1) t_k + moved             the end of a transfer: rates r_1 ... r_n from the times t_k on
 *     t = mean of t_i                                     an instant: rates were found anew when several things happened
 *
 * and dT/dt of all nodes follows from the last one's, which is 1, against the order of their making (the adjoint, or reverse
 * mode; Griewank & Walther, Evaluating Derivatives, SIAM 2008, ch. 3). A parameter's derivative is the sum over its nodes of
 * dT/dt times what t has of it. On an ideal network that is how often the longest path has the parameter, the dual of the
 * job as a linear program (Hoefler, Schneider & Lumsdaine, HPDC'10; Shen et al., "LLAMP", SC'24). The second line is
 * the bytes of a message, W = sum_k r_k (t_k+1 - t_k), with r_0 = 0; what the rates themselves have of each
 * bandwidth is in `moved` (adjoint_shares.c). Its coefficients sum up to 1.
 *
 * T is homogeneous: twice every cost is twice the time, so that all derivatives times their parameters sum up to T
 * (Euler), but for costs that are no parameter.
 *
 * Limits: which receive takes which message, and on which of several ways a message goes, is as it was. At a corner
 * of T, where two things come last at once, one of them is taken: a derivative to one side. */
#include "solvers/adjoint/adjoint.h"

#include "core/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void fc_adjoint_open(struct fc_adjoint *a, const struct fc_network *net, const uint32_t *link, int n_links)
{
    *a = (struct fc_adjoint){.net = net};
    for (int i = 0; i < n_links && i < FC_ADJOINT_LINKS; i++) a->link[a->n_links++] = link[i];
    a->first_fifo = FC_NONE;
    a->width = (net ? net->machine->n_classes : 0) + 1 + 2 * a->n_links;
    if (fc_adjoint_grow(a, (void **)&a->node, &a->node_capacity, 1024, sizeof *a->node))
        a->node[a->n_nodes++] = (struct fc_adjoint_node){0};
}

void fc_adjoint_close(struct fc_adjoint *a)
{
    free(a->node);
    free(a->step);
    free(a->end_by);
    free(a->departs);
    free(a->arrives);
    if (a->shares) a->close_shares(a->shares);
    memset(a, 0, sizeof *a);
}

bool fc_adjoint_grow(struct fc_adjoint *a, void **array, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity) return true;
    size_t used = a->n_nodes * (sizeof *a->node + sizeof(double)) + a->n_steps * sizeof *a->step +
                  a->n_ends * (size_t)a->width * sizeof *a->end_by;
    a->lost = a->lost || used > FC_ADJOINT_BYTES || need >= FC_NONE ||
              !fc_array_grow(array, capacity, sizeof *capacity, need, size);
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

void fc_adjoint_arrives(struct fc_adjoint *a, uint64_t id, uint32_t end, double head_s)
{
    if (!a->lost) a->arrives[fc_adjoint_slot(id)] = fc_adjoint_add(a, end, FC_COST_LATENCY, 0, head_s);
}

/* FC_NONE: a port, which is no parameter. */
static uint32_t add_of_link(struct fc_adjoint *a, uint32_t before, uint32_t link, double seconds)
{
    return link != FC_NONE ? fc_adjoint_add(a, before, FC_COST_LINK, link, seconds)
                           : fc_adjoint_add(a, before, FC_COST_OTHER, 0, seconds);
}

void fc_adjoint_arrives_alone(struct fc_adjoint *a, uint64_t id, double head_s, double least_s, uint32_t narrow)
{
    if (a->lost) return;
    fc_adjoint_arrives(a, id, a->departs[fc_adjoint_slot(id)], head_s);
    uint32_t *arrives = &a->arrives[fc_adjoint_slot(id)];
    *arrives = add_of_link(a, *arrives, narrow, least_s);
}

/* ---- back to the start ---- */

static void add_link(const struct fc_adjoint *a, uint32_t link, double seconds, struct fc_gradient *g)
{
    g->class_s[a->net->link_class[link]] += seconds;
    for (int i = 0; i < a->n_links; i++)
        if (a->link[i] == link) {
            g->slower_s[i] += seconds;
            g->faster_s[i] += seconds;
        }
}

/* A transfer that ended at a node of adjoint `by`: what held it up. */
static void end_transfer(const struct fc_adjoint *a, const struct fc_adjoint_node *node, double by,
                         struct fc_gradient *g)
{
    const float *end_by = a->end_by + (size_t)(node->what & 0x0fffffff) * (size_t)a->width;
    int n_classes = a->net->machine->n_classes;
    for (int c = 0; c < n_classes; c++) g->class_s[c] += by * end_by[c];
    for (int i = 0; i < a->n_links; i++) {
        g->slower_s[i] += by * end_by[n_classes + 1 + 2 * i];
        g->faster_s[i] += by * end_by[n_classes + 2 + 2 * i];
    }
    g->rest_s += by * end_by[n_classes];
}

/* To the several nodes that one depends on. */
static void divide(const struct fc_adjoint *a, const struct fc_adjoint_node *node, double by, double *adjoint)
{
    for (uint32_t s = node->before; s != FC_NONE; s = a->step[s].before)
        adjoint[a->step[s].node] += by * a->step[s].more / node->amount;
}

/* To those of an instant. */
static void divide_tie(const struct fc_adjoint *a, const struct fc_adjoint_node *node, enum fc_adjoint_tie tie,
                       double by, double *adjoint)
{
    uint32_t s = node->before;
    if (tie == FC_TIE_MEAN) {
        divide(a, node, by, adjoint);
        return;
    }
    while (tie == FC_TIE_FIRST && a->step[s].before != FC_NONE) s = a->step[s].before;
    adjoint[a->step[s].node] += by;
}

bool fc_adjoint_gradient(const struct fc_adjoint *a, enum fc_adjoint_tie tie, uint32_t n_ranks, struct fc_gradient *g,
                         struct fc_arena *arena, struct fc_status *st)
{
    *g = (struct fc_gradient){.compute_s = fc_alloc(arena, n_ranks, sizeof *g->compute_s, st)};
    double *adjoint = a->lost ? NULL : calloc(a->n_nodes, sizeof *adjoint);
    if (!adjoint || st->code) {
        free(adjoint);
        return false;
    }
    adjoint[a->last] = 1;
    for (size_t i = a->last; i > 0; i--) {
        const struct fc_adjoint_node *node = &a->node[i];
        uint32_t index = node->what & 0x0fffffff;
        double by = adjoint[i], amount = by * node->amount;
        if (by == 0) continue;
        if (!(fabs(by) <= g->greatest)) g->greatest = fabs(by);
        enum fc_adjoint_cost cost = (enum fc_adjoint_cost)(node->what >> 28);
        switch (cost) {
        case FC_COST_SEND: g->send += amount; break;
        case FC_COST_RECV: g->recv += amount; break;
        case FC_COST_LATENCY: g->latency_s += amount; break;
        case FC_COST_GAP: g->gap += amount; break;
        case FC_COST_PER_BYTE: g->bytes += amount; break;
        case FC_COST_WIRE: g->wire_bytes += amount; break;
        case FC_COST_COMPUTE: g->compute_s[index] += amount; break;
        case FC_COST_LINK: add_link(a, index, amount, g); break;
        case FC_COST_OTHER: g->rest_s += amount; break;
        case FC_COST_CLASS: g->class_s[index] += amount; break;
        case FC_COST_END:
            end_transfer(a, node, by, g);
            divide(a, node, by, adjoint);
            break;
        case FC_COST_SEVERAL: divide(a, node, by, adjoint); break;
        case FC_COST_INSTANT: divide_tie(a, node, tie, by, adjoint); break;
        }
        if (cost < FC_COST_END) adjoint[node->before] += by;
    }
    free(adjoint);
    return true;
}
