/* collective_line.c - broadcast along a ring of a torus by packets that leave a copy at every node they pass
 * (Blue Gene/L's deposit bit), and what lines and planes share.
 *
 * The message is cut in two halves (colours); the root sends one in + direction and one in -, each once, over
 * k - 1 hops, so that both of its links are busy. With W = wire bytes of b / 2, r the rate of a link, i = 1
 * (+) and 2 (-):
 *
 *     colour at a node j hops away   i o_s + head(node in) + j head(hop) + head(node out) + W / r
 *     the node leaves                when it has taken both, o_r each, in the order of their coming
 *     the root leaves                2 o_s + W / r: its processor puts the packets into the FIFOs
 *
 * T -> b / (2 r) x wire factor for long messages. Source: Adiga et al., IBM J. Res. Dev. 49(2/3), 2005:
 * "dividing the data to be broadcast into different sections (colors) and broadcasting the different colors
 * in different directions"; more than 99 % of peak for large messages. Without software it is the kernel's
 * time of the pattern line-broadcast, (h + 1) delay + (h + 2) wires + n F T (docs/flit.md, Multicast; tests).
 * Limits: the members' nodes are one whole ring, one member a node or more (further members of a node read
 * its memory at no cost); members that have not entered yet do not hold packets up; the job's other messages
 * do not slow it, nor does it slow them; a background leaves its links the rest. */
#include "solvers/collective/collective_deposit.h"
#include "solvers/load_internal.h"
#include "solvers/timing.h"

/* ---- lines and planes ---- */

static enum fc_code check_machine(const struct fc_network *net, const char *what, struct fc_status *st)
{
    const struct fc_machine *m = net->machine;
    if (m->router.multicast != FC_MULTICAST_DEPOSIT)
        return fc_fail(st, FC_INPUT, (struct fc_place){m->file, m->network_line},
                       "%s needs routers that leave copies on the way (router.multicast: deposit)", what);
    return FC_OK;
}

/* In which dimensions do the members' nodes differ? */
static void find_dims(struct fc_deposit *d)
{
    for (int dim = 0; dim < d->shape->n_dims; dim++)
        for (uint32_t m = 0; m < d->call->n; m++) {
            uint32_t router = d->call->node[m] / d->shape->nodes_per_router;
            if (fc_torus_coordinate(d->shape, router, dim) == fc_torus_coordinate(d->shape, d->root, dim)) continue;
            if (d->n_dims < FC_MAX_DIMS) d->dim[d->n_dims++] = dim;
            break;
        }
}

/* Is there a member on every router of the rings? */
static enum fc_code check_all(const struct fc_deposit *d, const char *what, struct fc_status *st)
{
    const struct fc_torus_shape *s = d->shape;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    uint32_t n = 1, here = 0;
    bool *there = fc_alloc(&scratch, s->n_routers, sizeof *there, st);
    for (int i = 0; i < d->n_dims; i++) n *= s->k[d->dim[i]];
    for (uint32_t m = 0; there && m < d->call->n; m++) {
        bool *at = &there[d->call->node[m] / s->nodes_per_router];
        here += !*at;
        *at = true;
    }
    if (st->code || here == n) return st->code;
    return fc_refuse(st, FC_INPUT, "%s: members are on %u of the %u nodes of it (expected all)", what, here, n);
}

/* The least rate that a background leaves on the links among the members. */
static double least_rate(const struct fc_deposit *d)
{
    const struct fc_network *net = d->call->net;
    double rate = INFINITY;
    for (uint32_t m = 0; m < d->call->n; m++) {
        uint32_t router = d->call->node[m] / d->shape->nodes_per_router;
        for (int i = 0; i < 2 * d->n_dims; i++) {
            uint32_t link = fc_torus_port(net, router, d->dim[i / 2], i % 2);
            rate = fmin(rate, fc_free_bandwidth(net, d->call->background_bytes_per_s, link));
        }
    }
    return rate;
}

enum fc_code fc_deposit_find(const struct fc_hardware_call *call, int n_dims, const char *what, struct fc_deposit *d,
                             struct fc_status *st)
{
    const struct fc_network *net = call->net;
    if (check_machine(net, what, st)) return st->code;
    *d = (struct fc_deposit){.call = call, .shape = fc_torus(net)};
    if (d->shape->nodes_per_router > 1)
        return fc_refuse(st, FC_INPUT, "%s: %u nodes a router (packets leave copies at one)", what,
                         d->shape->nodes_per_router);
    d->root = call->node[call->root];
    find_dims(d);
    if (d->n_dims != n_dims)
        return fc_refuse(st, FC_INPUT, "%s: the members' nodes differ in %d dimensions (expected %d)", what, d->n_dims,
                         n_dims);
    for (int i = 0; i < n_dims; i++)
        if (!d->shape->ring[d->dim[i]])
            return fc_refuse(st, FC_INPUT, "%s: dimension %c is no ring", what, fc_torus_letter(d->dim[i]));
    if (check_all(d, what, st)) return st->code;
    d->rate = least_rate(d);
    if (!(d->rate > 0)) return fc_refuse(st, FC_NO, "%s: the background leaves nothing of a link", what);
    uint32_t in = net->first_link[fc_node_vertex(net, d->root)],
             out = fc_find_link(net, d->root, fc_node_vertex(net, d->root));
    d->ends_s = fc_head_delay_s(net, in) + fc_head_delay_s(net, out);
    return FC_OK;
}

double fc_deposit_hop_s(const struct fc_deposit *d, int dim)
{
    return fc_head_delay_s(d->call->net, fc_torus_port(d->call->net, d->root, dim, FC_PLUS));
}

double fc_deposit_receive_s(const struct fc_software *software, double bytes, const double *colour_s, int n)
{
    double done_s = 0, taken_s = -1;
    for (int i = 0; i < n; i++) { /* the next later one, those of one time at once */
        double next_s = INFINITY;
        int equal = 0;
        for (int c = 0; c < n; c++)
            if (colour_s[c] > taken_s && colour_s[c] < next_s) next_s = colour_s[c];
        if (isinf(next_s)) break;
        for (int c = 0; c < n; c++) equal += colour_s[c] == next_s;
        done_s = fmax(done_s, next_s) + equal * fc_recv_cpu_s(software, bytes);
        taken_s = next_s;
    }
    return done_s;
}

/* ---- the line ---- */

static enum fc_code times(const struct fc_hardware_call *call, double *at_s, struct fc_status *st)
{
    struct fc_deposit d;
    if (fc_deposit_find(call, 1, "bcast by line", &d, st)) return st->code;
    const struct fc_software *software = call->software;
    double half = call->bytes / 2, wire_s = fc_wire_bytes(call->net->machine, half) / d.rate;
    double send_s = fc_send_cpu_s(software, half), hop_s = fc_deposit_hop_s(&d, d.dim[0]);
    for (uint32_t m = 0; m < call->n; m++) {
        uint32_t router = call->node[m];
        double colour_s[2];
        for (int c = 0; c < 2; c++)
            colour_s[c] = (c + 1) * send_s + d.ends_s + fc_deposit_hops(&d, router, d.dim[0], c) * hop_s + wire_s;
        at_s[m] = router == d.root ? 2 * send_s + wire_s : fc_deposit_receive_s(software, half, colour_s, 2);
    }
    return FC_OK;
}

const struct fc_collective_hardware fc_hardware_line = {false, times};
