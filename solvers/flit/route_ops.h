/* route_ops.h - routings of the kernel: what the head of a packet may ask for (route_*.c). */
#pragma once

#include "solvers/flit/prepared.h"

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
struct fc_route_fields;
struct fc_flit_choice {
    uint64_t route;
    uint32_t link;
    uint16_t vcs;
    uint8_t escape, room_packets, full_size;
};
#define FC_FLIT_MOST_CHOICES 64
/* struct fc_flit_choice.escape of an escape that leads away from the shortest paths: it is asked for only where no other choice
 * has room, a busy link is waited for. */
#define FC_FLIT_PATIENT 2
/* What the choice at the source (UGAL) may see of a link of the source's router, summed over virtual channels. */
struct fc_flit_view {
    const void *engine;
    uint32_t (*queued_flits)(const void *engine, uint32_t link);  /* whose credits are out: beyond the link or on it */
    uint32_t (*waiting_flits)(const void *engine, uint32_t link); /* in the input queues whose head asks for the link */
};
/* What UGAL counts of the link: `queue` is an enum fc_ugal_queue. */
static inline uint64_t fc_flit_ugal_count(const struct fc_flit_view *view, int queue, uint32_t link)
{
    uint64_t credits = queue != FC_UGAL_LOCAL ? view->queued_flits(view->engine, link) : 0;
    return credits + (queue != FC_UGAL_CREDITS ? view->waiting_flits(view->engine, link) : 0);
}
/* Random words that stand for all: taken in turn, they meet each case of the routing equally often. */
#define FC_FLIT_MOST_WORDS 64
struct fc_flit_words {
    uint32_t n_start, n_way;            /* counts; before words(): 1 each, the words 0 */
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
    /* The whole way of a packet as fields (route_fields.h), where choices() never has more than one and looks at nothing but
     * router and head; its hops between routers, its bits. NULL: no way is known at the source. */
    uint64_t (*way)(const struct fc_flit_net *flit, const struct fc_route_fields *fields, uint32_t src, uint32_t dst,
                    uint32_t random, const struct fc_flit_view *view, uint32_t *hops, uint32_t *bits);
    /* What the random word decides, for models that go through all cases: fills the words, false where there are more
     * than it holds. Where picks() is, as few as need no pick. NULL: as many as there are words (hashes). */
    bool (*words)(const struct fc_flit_net *flit, struct fc_flit_words *words);
    /* The same for packets that are followed one by one: words of which the low *tie_bits decide ties of even rings
     * and the rest the cable; returns how many stand for all. NULL: as many as there are words. */
    uint32_t (*strata)(const struct fc_flit_net *flit, int *tie_bits);
};
/* The channels of rule number c < n_rule when `vcs` are divided evenly among n_rule: mask of channels c*rep
 * .. c*rep+rep-1. */
static inline uint16_t fc_flit_vc_mask(int c, int rep)
{
    return (uint16_t)(((1u << rep) - 1) << (c * rep));
}
