/* collective_plane.c - broadcast over a plane of rings of a torus by packets that leave copies along lines
 * (Blue Gene/L's deposit bit).
 *
 * The message is cut in four quarters (colours), one for each link of the root; colour (d, s) goes along the
 * root's ring of dimension d in direction s, from every node of it but the root along the ring of the other
 * dimension e in direction s, and into the root's own line of e by the last hop of d. The four trees share no
 * link (pattern_plane_broadcast.c). With W = wire bytes of b / 4, r the rate of a link, i the colour's place
 * at the root, x and y hops along d and e in direction s:
 *
 *     y = 0           i o_s + head(node in) + x head(d) + head(node out) + W / r
 *     x, y > 0        the same + turn + y head(e)
 *     x = 0, y > 0    the way to (k_d - 1, y), + turn + head(d)
 *     turn            head(node out) + w / r + o_r + o_s + head(node in): a packet, w on the wire, is
 *                     received whole and put into the network again by the node's processor ("packets
 *                     traveling in the x+ direction are received and reinjected in the y+ direction")
 *
 * A node leaves when it has taken all four, o_r each, the root after 4 o_s + W / r. T -> b / (4 r) x wire
 * factor. Source: Adiga et al., IBM J. Res. Dev. 49(2/3), 2005: more than 96 % of peak with both processors,
 * 585 MB/s; ours keeps all turns within the pipeline, and so ends at 100 % for endless messages. Limits:
 * those of collective_line.c; the members' nodes are one whole plane; a turn costs the processor's time once,
 * not for every packet (the paper's prototype used both cores to keep up), and o are those of messages, more
 * than a turn's if the machine file has MPI's. */
#include "solvers/collective/collective_deposit.h"
#include "solvers/timing.h"

struct plane {
    struct fc_deposit d;
    double send_s, wire_s, turn_s;
    double hop_s[2];
};

/* Until the colour that goes along dim[i] first, in the direction, is whole at the router. */
static double colour_s(const struct plane *p, uint32_t router, int i, int direction)
{
    const struct fc_deposit *d = &p->d;
    uint32_t x = fc_deposit_hops(d, router, d->dim[i], direction),
             y = fc_deposit_hops(d, router, d->dim[1 - i], direction);
    double sum = (2 * i + direction + 1) * p->send_s + d->ends_s + p->wire_s;
    if (y == 0) return sum + x * p->hop_s[i];
    sum += p->turn_s + y * p->hop_s[1 - i];
    return x > 0 ? sum + x * p->hop_s[i] : sum + d->shape->k[d->dim[i]] * p->hop_s[i] + p->turn_s;
}

static enum fc_code times(const struct fc_hardware_call *call, double *at_s, struct fc_status *st)
{
    struct plane p;
    if (fc_deposit_find(call, 2, "bcast by plane", &p.d, st)) return st->code;
    const struct fc_machine *m = call->net->machine;
    const struct fc_software *software = call->software;
    double quarter = call->bytes / 4, wire = fc_wire_bytes(m, quarter);
    double packet = m->packet.max_bytes > 0 ? m->packet.max_bytes + m->packet.trailer_bytes : m->router.flit_bytes;
    p.send_s = fc_send_cpu_s(software, quarter);
    p.wire_s = wire / p.d.rate;
    p.turn_s = p.d.ends_s + (packet < wire ? packet : wire) / p.d.rate + software->recv_s + software->send_s;
    for (int i = 0; i < 2; i++) p.hop_s[i] = fc_deposit_hop_s(&p.d, p.d.dim[i]);
    for (uint32_t k = 0; k < call->n; k++) {
        double all[4];
        for (int c = 0; c < 4; c++) all[c] = colour_s(&p, call->node[k], c / 2, c % 2);
        at_s[k] = call->node[k] == p.d.root ? 4 * p.send_s + p.wire_s : fc_deposit_receive_s(software, quarter, all, 4);
    }
    return FC_OK;
}

const struct fc_collective_hardware fc_hardware_plane = {false, times};
