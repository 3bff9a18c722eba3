/* prepared.h - the network as the engines see it (prepare.c).
 *
 * Time is counted in ticks, a whole fraction or multiple of the machine's cycle, so chosen that the flit
 * times of all link classes, wire latencies and router delays are whole numbers of ticks. */
#pragma once

#include "solvers/flit/flit.h"

/* How a head picks among its adaptive choices. */
enum fc_flit_select {
    FC_SELECT_RANDOM, /* any available one */
    /* Most downstream credits in four ranges (2 bits), ties random: Blue Gene/L. Exact counts would send all heads
     * of a tick to the same output. */
    FC_SELECT_JSQ
};

struct fc_flit_route_ops;
struct fc_flit_multicast_ops;

/* Channel (link, vc) = link * n_vcs + vc: the buffer at the link's target, of every link, injection and
 * ejection too. Ejection buffers are drained at once, unless reception_flits limits them. */
struct fc_flit_net {
    struct fc_arena arena;
    const struct fc_network *net;
    const struct fc_ranks *ranks; /* of the settings; NULL: this process has it all */
    uint32_t n_routers, n_nodes, n_links;
    int n_vcs;              /* on every link; at most FC_FLIT_MOST_VCS */
    int n_network_vcs;      /* that router-to-router links use, the first ones; injection links may have more */
    int n_escape_vcs;       /* channels 0 .. n_escape_vcs-1 follow the deadlock rule; the rest are adaptive */
    uint16_t injection_vcs; /* mask of those that injection links use */
    bool own_fifos;    /* of those a packet may take only some: choices() at its source says which (router.injection) */
    uint16_t high_vcs; /* mask of the channels for high-priority packets, on every link; 0: there are none */
    uint16_t reception_vcs; /* mask of the queues behind an ejection link, where they are of finite size */
    const char *vc_rule;
    bool safe;          /* certified free of deadlock */
    uint32_t *in_first; /* [n_routers + n_nodes + 1] links into vertex v: in_link[in_first[v] ..) */
    uint32_t *in_link;  /* [n_links] ascending for each vertex */
    uint32_t *in_port;  /* [n_links] position of the link among those into its target */
    double cycle_s, ticks_per_cycle;
    uint32_t flit_ticks[FC_MAX_CLASSES];    /* time a flit keeps the link; 0: infinite bandwidth */
    uint32_t trailer_ticks[FC_MAX_CLASSES]; /* the same for what follows a packet's last flit */
    uint32_t latency_ticks[FC_MAX_CLASSES];
    uint32_t router_ticks;    /* of a head without contention, from the buffer write to its start on the next link */
    uint32_t credit_ticks;    /* from a flit's last byte leaving the buffer to the credit's use upstream, wire
                            * latency of the link (class) added */
    uint32_t buffer_flits;    /* of each channel */
    uint32_t injection_flits; /* of each channel of injection links */
    uint32_t packet_flits_max;
    uint32_t reception_flits;                            /* of each reception queue; 0: endless, taken in at once */
    double reception_packet_ticks, reception_flit_ticks; /* a node is busy with a packet, and with a flit of it */
    uint32_t bypass_ticks; /* instead of router_ticks for a head that meets an idle router */
    bool bypass;           /* the router has a bypass: bypass_ticks may be less than router_ticks */
    bool high_priority;    /* some packets are of high priority: high_vcs */
    bool cut_through;
    bool vc_stage;            /* virtual channels are allocated in a stage of their own (router.vc_allocation: stage) */
    bool adaptive;            /* choices beside the escape exist */
    bool bubble_as_published; /* of the settings */
    enum fc_flit_select select;
    int arbitration;  /* enum fc_arbitration */
    bool figures;     /* of fc_flit_figures: no arrays of links, and tables of routes may be missing */
    bool plain;       /* cycle engine: the general path even for simple routers; tests hold the two together */
    int vector_bytes; /* cycle engine, fast path: at most so long; 0: as the processor has. Tests hold them together */
    /* [n_links] most simultaneous transfers to routers out of the input port behind the link: router.paths, times
     * what the link brings in the time of the slowest link that leaves the router; of a node's link at most n_vcs, of others
     * n_vcs times as many as it is faster. */
    uint8_t *port_paths;
    uint32_t most_paths; /* of any port */
    uint32_t paths;      /* router.paths */
    const struct fc_flit_route_ops *route;
    void *route_tables; /* in the arena */
    /* Of ways (route->way): the masks of channels that choices() gives, and the most links, the one to the node included. */
    uint16_t way_vcs[16];
    uint32_t n_way_vcs, way_links;
    const struct fc_flit_multicast_ops *multicast; /* NULL: every packet of the demand has one target */
};
/* Prepares the network for packets of the settings. FC_INPUT: what the machine file or the settings leave
 * impossible (no channel left for the escape, buffer smaller than a packet in cut-through, no deadlock
 * certificate...). */
enum fc_code fc_flit_prepare(const struct fc_network *net, const struct fc_flit_settings *settings,
                             struct fc_flit_net *flit, struct fc_status *st);
/* The same refusals and figures (channels, ticks, buffers, rule) without what an engine needs: in_first .. in_port and
 * port_paths are NULL, route_tables not filled. Most families: no O(links). */
enum fc_code fc_flit_figures(const struct fc_network *net, const struct fc_flit_settings *settings,
                             struct fc_flit_net *flit, struct fc_status *st);
void fc_flit_unprepare(struct fc_flit_net *flit);
/* Flits that a channel of the link holds; those of ejection links: see reception_flits. */
static inline uint32_t fc_flit_depth(const struct fc_flit_net *flit, uint32_t link)
{
    return fc_is_node(flit->net, flit->net->link_source[link]) ? flit->injection_flits : flit->buffer_flits;
}
/* Ticks of a packet on a link of the class. */
static inline uint32_t fc_flit_packet_ticks(const struct fc_flit_net *flit, int link_class, uint32_t flits)
{
    return flits * flit->flit_ticks[link_class] + flit->trailer_ticks[link_class];
}

/* Ticks that a node is busy taking in a packet from a finite reception queue. */
static inline uint64_t fc_flit_reception_ticks(const struct fc_flit_net *flit, uint32_t flits)
{
    double ticks = flit->reception_packet_ticks + flits * flit->reception_flit_ticks + 0.5;
    return ticks < 1 ? 1 : (uint64_t)ticks;
}
