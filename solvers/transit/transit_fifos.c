/* transit_fifos.c - what a node's injection FIFOs let through, in a model without packets.
 *
 * A node's packets enter their router through FIFOs, the virtual channels of the injection link (Blue Gene/L has six: Adiga et
 * al., IBM J. Res. Dev. 49(2/3), 2005), the messages of a node a packet each in turn. A packet at the head of a FIFO goes on when
 * a link that it may take is free; those behind it wait. So a FIFO feeds one link at a time, at the pace of that link: with r_i
 * the rate of message i of the node, b_i the bandwidth of the links that it takes behind the router (1/b_i the mean of theirs, by
 * what crosses each), and F FIFOs,
 *
 *     sum r_i / b_i <= F.
 *
 * Six neighbours of a node with two FIFOs get a third of what their links carry; the kernel says 0.33 under dimension order and
 * 0.40 under adaptive routing, with one FIFO 0.17 and 0.20.
 *
 * Limits: which of the packets at the heads want the same link is not looked at, so as many FIFOs as links feed all of them,
 * where the kernel loses up to a third once the messages of a node do not start at one time. Nor is how long a message waits
 * that finds the FIFOs full (docs/notes/theory-timing.md has what that would bring). High-priority channels are no FIFOs of data. */
#include "solvers/transit/transit_fifos.h"
#include "solvers/flit/flit.h"

/* Whether so many FIFOs could feed a link out of a router more slowly than a node's link brings. */
static bool bind(const struct fc_network *net, int n_fifos)
{
    for (uint32_t l = net->first_link[net->n_routers]; l < net->n_links; l++) {
        uint32_t router = net->link_target[l];
        if (fc_is_node(net, router)) continue;
        for (uint32_t k = net->first_link[router]; k < net->first_link[router + 1]; k++)
            if (n_fifos * fc_link_bandwidth(net, k) < fc_link_bandwidth(net, l) * (1 - 1e-9)) return true;
    }
    return false;
}

int fc_fifos_that_bind(const struct fc_network *net)
{
    const struct fc_router *router = &net->machine->router;
    bool known = router->injection_fifos > 0 || router->vcs_given;
    int n_fifos = known && bind(net, 1) ? fc_flit_fifos(net) : 0;
    return n_fifos > 0 && bind(net, n_fifos) ? n_fifos : 0;
}

double fc_fifos_capacity(const struct fc_network *net, uint32_t node, int n_fifos)
{
    uint32_t v = fc_node_vertex(net, node);
    return n_fifos * (double)(net->first_link[v + 1] - net->first_link[v]);
}

double fc_fifos_s_per_byte(const struct fc_network *net, uint32_t node, uint32_t n, const uint32_t *link,
                           const double *weight)
{
    double sum = 0;
    for (uint32_t k = 0; k < n; k++)
        if (fc_fifos_feed(net, node, link[k])) sum += weight[k] / fc_link_bandwidth(net, link[k]);
    return sum;
}
