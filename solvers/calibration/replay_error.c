#include "solvers/calibration/replay_error.h"
#include <math.h>
#include <string.h>
void fc_replay_locate(const struct fc_network *net, const struct fc_replay *replay, struct fc_replay_point *point)
{
    const struct fc_machine *m = net->machine;
    const struct fc_prediction *p = &replay->prediction;
    double payload = m->packet.max_bytes > 0 ? m->packet.max_bytes - m->packet.header_bytes : m->router.flit_bytes;
    double time_s = p->time_s > 0 ? p->time_s : 1, hop_bytes = 0;
    for (uint32_t l = 0; l < net->first_link[net->n_routers]; l++)
        if (!fc_is_node(net, net->link_target[l])) hop_bytes += replay->link_bytes[l];
    *point = (struct fc_replay_point){
        .share = fmin(1, (replay->path_link_s + replay->path_latency_s) / time_s),
        .waiting = fmin(1, fmax(0, (p->time_s - replay->alone_s) / time_s)),
        .packets = replay->n_network_messages ? fmax(1, p->network_bytes / (double)replay->n_network_messages / payload) : 1,
        .hops = p->network_bytes > 0 ? hop_bytes / p->network_bytes : 0};
}
void fc_replays_cover(struct fc_replays *replays){(void)replays;}
