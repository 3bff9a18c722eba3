/* kernel.h - what the parts of the flit-level kernel share: prepared network, routing, sources, counts,
 * engines.
 *
 * Time is counted in ticks, a whole fraction or multiple of the machine's cycle, so chosen that the flit
 * times of all link classes, wire latencies and router delays are whole numbers of ticks (prepare.c). */
#ifndef FC_FLIT_KERNEL_H
#define FC_FLIT_KERNEL_H

#include "solvers/flit/flit.h"

/* ---- the network as the engines see it (prepare.c)
 * ------------------------------------------------------------------- */

/* How a head picks among its adaptive choices. */
enum fc_flit_select {
    FC_SELECT_RANDOM, /* any available one */
    /* Most downstream credits in four ranges (2 bits), ties random: Blue Gene/L. Exact counts would send all heads
     * of a tick to the same output. */
    FC_SELECT_JSQ
};
struct fc_flit_route_ops;

/* Channel (link, vc) = link * n_vcs + vc: the buffer at the link's target, of every link, injection and
 * ejection too. Ejection buffers are drained at once, unless reception_flits limits them. */
struct fc_flit_net {
    struct fc_arena arena;
    const struct fc_network *net;
    uint32_t n_routers, n_nodes, n_links;
    int n_vcs;              /* on every link; at most FC_FLIT_MOST_VCS */
    int n_network_vcs;      /* that router-to-router links use, the first ones; injection links may have more */
    int n_escape_vcs;       /* channels 0 .. n_escape_vcs-1 follow the deadlock rule; the rest are adaptive */
    uint16_t injection_vcs; /* mask of those that injection links use */
    bool own_fifos;         /* of those a packet may take what choices() at its source says (router.injection) */
    uint16_t high_vcs;      /* mask of those for high-priority packets, on every link; 0: there are none */
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
    uint32_t router_ticks;    /* head: buffer write to link, no contention */
    uint32_t credit_ticks;    /* from a flit's last byte leaving the buffer to the credit's use upstream, wire
                            * latency of the link (class) added */
    uint32_t buffer_flits;    /* of each channel */
    uint32_t injection_flits; /* but of those of injection links */
    uint32_t packet_flits_max;
    uint32_t reception_flits;                            /* of each reception queue; 0: endless, taken in at once */
    double reception_packet_ticks, reception_flit_ticks; /* a node is busy with a packet, and with a flit of it */
    uint32_t bypass_ticks; /* instead of router_ticks for a head that meets an idle router */
    bool bypass;           /* it may be less than router_ticks */
    bool high_priority;    /* some packets are of high priority: high_vcs */
    bool cut_through;
    bool vc_stage;            /* virtual channels are allocated in a stage of their own (router.vc_allocation: stage) */
    bool adaptive;            /* choices beside the escape exist */
    bool bubble_as_published; /* of the settings */
    enum fc_flit_select select;
    int arbitration; /* enum fc_arbitration */
    bool plain;      /* cycle engine: the general path even for simple routers; tests hold the two together */
    /* [n_links] most simultaneous transfers to routers out of the input port behind the link: router.paths, times
     * what the link brings in the time of the slowest link that leaves the router; at most n_vcs. */
    uint8_t *port_paths;
    uint32_t most_paths; /* of any port */
    uint32_t paths;      /* router.paths */
    const struct fc_flit_route_ops *route;
    void *route_tables;                            /* in the arena */
    const struct fc_flit_multicast_ops *multicast; /* NULL: every packet of the demand has one target */
};
/* Prepares the network for packets of the settings. FC_INPUT: what the machine file or the settings leave
 * impossible (no channel left for the escape, buffer smaller than a packet in cut-through, no deadlock
 * certificate...). */
enum fc_code fc_flit_prepare(const struct fc_network *net, const struct fc_flit_settings *settings,
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

/* ---- routing: what a packet's head may ask for (route_*.c)
 * ------------------------------------------------------------- */

/* What routing knows of a packet. `route` belongs to the routing: remaining offsets, phase, channels so far.
 */
struct fc_flit_head {
    uint64_t route;
    uint32_t dst;    /* node */
    uint32_t random; /* drawn once for the packet: ties, hashed paths, intermediate places */
};
/* One output that the head may take: any of the virtual channels `vcs` (mask) of `link`; `route` replaces the
 * packet's when it does. Choices that are not escape come first; an escape is asked for only when no other
 * choice is available. room_packets: full-size packets that must fit downstream (bubble: 1 in the ring, 2 to
 * enter it); 0: the packet itself in cut-through, one flit in wormhole. `full_size`: the packet is accounted
 * for as a full-size one there (bubble as corrected). Ejection links are choices like others, with all
 * virtual channels. A packet that sits in one of high_vcs is a high-priority one: it gets one choice, in
 * dimension order, of those channels. */
struct fc_flit_choice {
    uint64_t route;
    uint32_t link;
    uint16_t vcs;
    uint8_t escape, room_packets, full_size;
};
#define FC_FLIT_MOST_CHOICES 64
/* What the choice at the source (UGAL) may see of a link of the source's router, summed over virtual channels. */
struct fc_flit_view {
    const void *engine;
    uint32_t (*queued_flits)(const void *engine, uint32_t link);  /* whose credits are out: beyond the link or on it */
    uint32_t (*waiting_flits)(const void *engine, uint32_t link); /* in the input queues whose head asks for the link */
};
/* Random words that stand for all: each case equally often. */
#define FC_FLIT_MOST_WORDS 64
struct fc_flit_words {
    uint32_t n_start, n_way;            /* 1 each at first, the words 0 */
    uint32_t start[FC_FLIT_MOST_WORDS]; /* for start() */
    uint32_t way[FC_FLIT_MOST_WORDS];   /* for choices(), each with every one of start */
};

/* A routing of the kernel: one file, one record, one line in the list of prepare.c. */
struct fc_flit_route_ops {
    const char *name; /* as in fc_routing_ops: "dimension-order" */
    const char *const *families;
    /* Tables in flit->arena -> flit->route_tables; sets n_vcs, n_escape_vcs, injection_vcs, adaptive from
     * router.vcs and the rule (flit->vc_rule). FC_INPUT when there are too few or too many channels. */
    enum fc_code (*prepare)(struct fc_flit_net *flit, struct fc_status *st);
    /* The packet's first route word, drawn when it leaves the source queue. `view` may be used by UGAL. */
    uint64_t (*start)(const struct fc_flit_net *flit, uint32_t src, uint32_t dst, uint32_t random,
                      const struct fc_flit_view *view);
    /* Choices at `router` for a head that came by channel (in_link, in_vc). Returns how many (>= 1). Pure.
     * For a packet that still waits in its source, `router` is the node's vertex (n_routers + node), in_link
     * FC_NONE: the injection links that it may take (several where a node has rails), each with
     * injection_vcs or, if flit->own_fifos, those of them that it may take. */
    int (*choices)(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                   const struct fc_flit_head *head, struct fc_flit_choice *out);
    /* Where choices() picks one of several outputs by the random word, afresh at every router: all that it may
     * pick, equally likely. NULL: it does not, or not afresh. */
    int (*picks)(const struct fc_flit_net *flit, uint32_t router, uint32_t in_link, int in_vc,
                 const struct fc_flit_head *head, struct fc_flit_choice *out);
    /* What the random word decides, for models that go through all cases: fills the words, false where there are more
     * than it holds. Where picks() is, as few as need no pick. NULL: as many as there are words (hashes). */
    bool (*words)(const struct fc_flit_net *flit, struct fc_flit_words *words);
    /* The same for packets that are followed one by one: words of which the low *tie_bits decide ties of even rings
     * and the rest the cable; returns how many stand for all. NULL: as many as there are words. */
    uint32_t (*strata)(const struct fc_flit_net *flit, int *tie_bits);
};
extern const struct fc_flit_route_ops *const fc_flit_routes[]; /* NULL-terminated */
/* The channels of rule number c < n_rule when `vcs` are divided evenly among n_rule: mask of channels c*rep
 * .. c*rep+rep-1. */
static inline uint16_t fc_flit_vc_mask(int c, int rep)
{
    return (uint16_t)(((1u << rep) - 1) << (c * rep));
}

/* ---- multicast: packets that routers copy (multicast.c, multicast_*.c)
 * ------------------------------------------------------------- */

/* A message to several nodes; all its packets go the same way. */
struct fc_flit_group {
    uint32_t src, n_targets; /* nodes */
    uint32_t first, last;    /* targets, nodes: tree: all from first to last; deposit: ends of the line */
    uint8_t dim, direction;  /* deposit */
    uint8_t top;             /* tree: level of its root */
    uint32_t root;           /* tree: router where packets turn down, one at a time; else FC_NONE */
    uint64_t route;          /* first route word */
    uint64_t ack_ticks;      /* tree: from a packet whole at a target to the acknowledgement at the sender, */
    uint64_t root_ticks;     /* and behind the root */
};
struct fc_flit_multicast_ops {
    const char *name;  /* as in router.multicast */
    bool acknowledged; /* senders and roots wait until every target has acknowledged */
    uint32_t (*most_copies)(const struct fc_network *net); /* out of one router */
    /* Fills the group but for what needs ticks; target[n_targets] are the nodes of its tasks and may be
     * reordered. FC_INPUT: they are not a set that one packet reaches. */
    enum fc_code (*group)(const struct fc_network *net, const struct fc_multicast *multicast, uint32_t src,
                          uint32_t *target, struct fc_flit_group *group, struct fc_status *st);
    /* The rest. FC_INPUT: routing or rule of the machine cannot carry it. */
    enum fc_code (*route)(const struct fc_flit_net *flit, struct fc_flit_group *group, struct fc_status *st);
    /* The copies that a packet of the group with that route word leaves at `router`, links ascending: choices
     * that are final, without escapes; those to nodes hold no virtual channel (vcs 0). *onward: besides, the
     * packet goes on by one of the routing's choices(). Pure. */
    int (*branches)(const struct fc_flit_net *flit, const struct fc_flit_group *group, uint32_t router, uint64_t route,
                    struct fc_flit_choice *out, bool *onward);
    /* Adds `bytes` to load[n_links] of every link that the group's packets cross. */
    void (*loads)(const struct fc_network *net, const struct fc_flit_group *group, double bytes, double *load);
};
extern const struct fc_flit_multicast_ops fc_multicast_deposit, fc_multicast_tree;
/* Sets flit->multicast when the demand has messages that this machine's routers copy. */
void fc_flit_multicast_use(struct fc_flit_net *flit, const struct fc_demand *demand);

/* ---- sources: the packets of each node, in the order of birth (source*.c)
 * ---------------------------------------------- */

/* The packet at the front of a node's source queue. The queue itself is never stored: births are a function
 * of seed, node and packet number, so that the next packet is made when this one leaves. */
struct fc_flit_source {
    uint64_t born;   /* tick of birth; UINT64_MAX: no packet will come any more */
    uint64_t number; /* of this packet among the node's */
    uint32_t dst;
    uint32_t flits;
    uint32_t random;
    uint32_t tag; /* closed loop: the demand's entry or multicast, FC_NONE for its dense parts; open loop: 0, or */
#define FC_FLIT_BACKGROUND (FC_NONE - 1)
    uint64_t cursor; /* belongs to source*.c: keep it between calls */
};
/* source.c. High-priority packets, where the settings ask for some, are a traffic of their own beside the
 * other: fc_flit_high_traffic, NULL for none. */
struct fc_flit_traffic;
const struct fc_flit_traffic *fc_flit_high_traffic(const struct fc_flit_traffic *traffic);
/* Whether sources also send packets of a background, which have the tag FC_FLIT_BACKGROUND. */
bool fc_flit_has_background(const struct fc_flit_traffic *traffic);
enum fc_code fc_flit_traffic_make(const struct fc_flit_net *flit, const struct fc_demand *demand, const uint32_t *node,
                                  const struct fc_flit_settings *settings, struct fc_flit_traffic **traffic,
                                  struct fc_status *st);
void fc_flit_traffic_free(struct fc_flit_traffic *traffic);
/* With flit->multicast: the group of each tag. */
const struct fc_flit_group *fc_flit_traffic_groups(const struct fc_flit_traffic *traffic);
/* The node's first packet, and the one after `source` (in place). Thread-safe, no allocation. */
void fc_flit_first(const struct fc_flit_traffic *traffic, uint32_t node, struct fc_flit_source *source);
void fc_flit_next(const struct fc_flit_traffic *traffic, uint32_t node, struct fc_flit_source *source);

/* ---- counts: integers only, so that adding those of all threads in any order gives the same (counts.c)
 * ----------------- */

/* Packets that arrived, for whoever sent them (source_outside.c), who keeps room for all of an advance. No call in it:
 * that would cost the loops that it is inlined into their registers. */
struct fc_flit_log {
    struct fc_flit_logged {
        uint64_t born, tick;
    } * packet;
    size_t n, capacity;
    bool full; /* some are lost */
};
static inline void fc_flit_log_arrival(struct fc_flit_log *log, uint64_t born, uint64_t tick)
{
    if (log->n == log->capacity)
        log->full = true;
    else
        log->packet[log->n++] = (struct fc_flit_logged){born, tick};
}

#define FC_FLIT_BATCHES 32
#define FC_FLIT_BUCKETS 1536 /* log-linear: 32 a power of two, see fc_flit_bucket */
struct fc_flit_counts {
    /* Set by run.c and never changed by an engine. Between two calls of advance run.c may move a window that
     * lies ahead or is open to later ticks, clear what was measured, and replace the interval arrays by
     * longer ones: */
    uint64_t measure_from, measure_to; /* ticks: packets born in [from, to) are measured */
    uint64_t interval_ticks;           /* 0: no intervals */
    uint32_t n_intervals;
    struct fc_flit_log *log; /* gets the packets that are not born in the measurement; NULL: forgotten */
    /* Packets born in the measurement: */
    uint64_t measured_started; /* that left their source queue; neither these nor those below are of the background */
    uint64_t measured_delivered, latency_ticks, network_ticks, hops, latency_max_ticks;
    uint64_t batch_packets[FC_FLIT_BATCHES], batch_ticks[FC_FLIT_BATCHES]; /* by time of birth */
    uint64_t histogram[FC_FLIT_BUCKETS];
    struct fc_flit_apart_counts { /* those of high priority among them; or those of the background, not among them */
        uint64_t delivered, latency_ticks, network_ticks, latency_max_ticks;
        uint64_t histogram[FC_FLIT_BUCKETS];
    } apart;
    /* Whole run: */
    uint64_t packets_injected, packets_delivered, flits_injected, flits_delivered, flit_hops, escape_flit_hops;
    uint64_t packets_copied, flits_copied; /* by routers: injected + copied = delivered + in flight */
    uint64_t last_delivery;                /* tick of the latest delivery of a packet: greatest of all threads */
    /* Within [measure_from, measure_to): */
    uint64_t window_flits_delivered, window_background_flits; /* the latter of packets that arrived whole */
    uint64_t occupancy_flit_ticks[FC_FLIT_MOST_VCS];          /* sum over router-to-router channels of flits x ticks */
    /* Intervals, [n_intervals]: */
    uint64_t *interval_flits;                        /* delivered */
    uint64_t (*interval_vc_flits)[FC_FLIT_MOST_VCS]; /* sent on router-to-router links */
    uint64_t *interval_returns, *interval_unblocked; /* credit returns, those that let a blocked packet move */
};
/* Bucket of a latency: exact below 64 ticks, then 32 buckets a power of two (3 % wide). */
static inline uint32_t fc_flit_bucket(uint64_t ticks)
{
    if (ticks < 64) return (uint32_t)ticks;
    int top = 63 - __builtin_clzll(ticks);
    uint32_t b = (uint32_t)((top - 5) * 32 + (int)(ticks >> (top - 5)));
    return b < FC_FLIT_BUCKETS ? b : FC_FLIT_BUCKETS - 1;
}
/* A packet of `flits` arrived whole at its node at tick `now`. Inlined into the engines. */
static inline void fc_flit_count_delivery(struct fc_flit_counts *counts, uint64_t born, uint64_t entered, uint64_t now,
                                          uint32_t hops)
{
    counts->packets_delivered++;
    if (now > counts->last_delivery) counts->last_delivery = now;
    if (born < counts->measure_from || born >= counts->measure_to) {
        if (counts->log) fc_flit_log_arrival(counts->log, born, now);
        return;
    }
    uint64_t latency = now - born;
    counts->measured_delivered++;
    counts->latency_ticks += latency;
    counts->network_ticks += now - entered;
    counts->hops += hops;
    if (latency > counts->latency_max_ticks) counts->latency_max_ticks = latency;
    uint64_t batch = (born - counts->measure_from) * FC_FLIT_BATCHES / (counts->measure_to - counts->measure_from);
    counts->batch_packets[batch]++;
    counts->batch_ticks[batch] += latency;
    counts->histogram[fc_flit_bucket(latency)]++;
}
/* Beside fc_flit_count_delivery, for a packet of high priority. */
static inline void fc_flit_count_apart(struct fc_flit_counts *counts, uint64_t born, uint64_t entered, uint64_t now)
{
    struct fc_flit_apart_counts *apart = &counts->apart;
    if (born < counts->measure_from || born >= counts->measure_to) return;
    apart->delivered++;
    apart->latency_ticks += now - born;
    apart->network_ticks += now - entered;
    if (now - born > apart->latency_max_ticks) apart->latency_max_ticks = now - born;
    apart->histogram[fc_flit_bucket(now - born)]++;
}
/* Instead of fc_flit_count_delivery, for a packet of the background of `flits`. */
static inline void fc_flit_count_background(struct fc_flit_counts *counts, uint64_t born, uint64_t entered,
                                            uint64_t now, uint32_t flits)
{
    counts->packets_delivered++;
    if (now > counts->last_delivery) counts->last_delivery = now;
    if (now >= counts->measure_from && now < counts->measure_to) counts->window_background_flits += flits;
    fc_flit_count_apart(counts, born, entered, now);
}
/* `flits` flits arrived at a node at tick `now`. */
static inline void fc_flit_count_flits(struct fc_flit_counts *counts, uint64_t now, uint32_t flits)
{
    counts->flits_delivered += flits;
    if (now >= counts->measure_from && now < counts->measure_to) counts->window_flits_delivered += flits;
    if (counts->interval_ticks && now / counts->interval_ticks < counts->n_intervals)
        counts->interval_flits[now / counts->interval_ticks] += flits;
}
enum fc_code fc_flit_counts_make(struct fc_flit_counts *counts, struct fc_arena *arena, struct fc_status *st);
/* Adds `from` to `to` (same windows). */
void fc_flit_counts_add(struct fc_flit_counts *to, const struct fc_flit_counts *from);

/* ---- engines (event.c, cycle.c)
 * ----------------------------------------------------------------------------------------- */

struct fc_flit_state {  /* between two calls of advance, all threads joined */
    uint64_t now;       /* tick reached: everything before it has happened; once exhausted, that of the last arrival */
    uint64_t last_move; /* tick of the last movement of a flit; for deadlock detection */
    uint64_t packets_in_flight, flits_in_flight; /* injected and not delivered, counted in the engine's own buffers */
    uint64_t sources_waiting; /* nodes whose front packet was born before measure_to and has not left */
    bool exhausted;           /* no packet in flight and no source has one to come */
};
/* A head that cannot move: the channel it sits in, and the channels any of which would do. For deadlock
 * reports. */
struct fc_flit_blocked {
    uint32_t channel; /* link * n_vcs + vc, with the packet at its head */
    uint32_t packet_src, packet_dst, packet_flits;
    uint32_t n_wanted, first_wanted; /* wanted[first ..) channels */
};
struct fc_flit_engine_ops {
    const char *name;
    /* Whether the engine is exact for this machine; if not, why, in words for people. */
    bool (*takes)(const struct fc_flit_net *flit, char *why, size_t size);
    /* counts: one a thread, [threads], windows set; link_flits and link_packets [n_links] get what each link
     * sent within [measure_from, measure_to); injected [n_nodes] the packets that left each source then. All
     * outlive the engine, which only ever adds to the three: run.c takes differences when it moves the
     * window. */
    enum fc_code (*open)(const struct fc_flit_net *flit, const struct fc_flit_traffic *traffic, int threads,
                         uint64_t seed, struct fc_flit_counts *counts, uint64_t *link_flits, uint64_t *link_packets,
                         uint32_t *injected, void **engine, struct fc_status *st);
    /* Simulates up to tick `until` (exclusive), or less when exhausted. FC_NO: out of memory. */
    enum fc_code (*advance)(void *engine, uint64_t until, struct fc_flit_state *state, struct fc_status *st);
    /* The blocked heads, for a deadlock report: arrays in the arena. */
    enum fc_code (*blocked)(void *engine, struct fc_arena *arena, struct fc_flit_blocked **blocked, uint32_t *n,
                            uint32_t **wanted, struct fc_status *st);
    /* Whether every channel has all its credits (nothing in flight and credits returned). */
    bool (*credits_full)(const void *engine);
    void (*close)(void *engine);
    /* Between two advances, one thread: the node's source, which had no packet to come, may have one again (it is
     * asked by fc_flit_first); its birth is not after the tick reached. NULL: the engine cannot. */
    void (*wake)(void *engine, uint32_t node);
    /* Before the first advance, with sources that have no packet: the clock starts at `tick`. Goes with wake. */
    void (*start_at)(void *engine, uint64_t tick);
};
extern const struct fc_flit_engine_ops fc_flit_event_engine, fc_flit_cycle_engine;

/* The cycle of waiting packets in a deadlock, in words: "x+ (0,0)->(1,0) vc 0 holds packet 3 -> 7 (8 flits),
 * waits for ..." Text in the arena; says so when the blocked heads wait for channels that others than they
 * hold. */
enum fc_code fc_flit_deadlock_text(const struct fc_flit_net *flit, const struct fc_flit_blocked *blocked, uint32_t n,
                                   const uint32_t *wanted, struct fc_arena *arena, const char **text,
                                   struct fc_status *st);

#endif
