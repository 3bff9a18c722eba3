/* adjoint.h - the derivative of a replay's time by every parameter at once: what the replay did is kept on a tape, which is
 * gone through once from its end to its beginning (adjoint_back.c; rates of messages that share links: adjoint_shares.c; waits for FIFOs:
 * adjoint_fifos.c).
 *
 * Nodes of the tape are points of time. Each is one or more earlier ones and a cost later. Numbers of nodes grow with
 * their making, which is after that of all that they depend on. */
#pragma once

#include "core/core.h"
#include "models/network.h"

/* What lies between a node and the one before. The amount: */
enum fc_adjoint_cost {
    FC_COST_SEND,     /* how many o of a sender */
    FC_COST_RECV,     /* and of a receiver */
    FC_COST_LATENCY,  /* seconds of routers and wires, or of L */
    FC_COST_GAP,      /* how many g */
    FC_COST_PER_BYTE, /* bytes at O */
    FC_COST_WIRE,     /* bytes at G */
    FC_COST_COMPUTE,  /* seconds of rank `index` */
    FC_COST_LINK,     /* seconds that link `index` alone would need less of, were it faster */
    FC_COST_CLASS,    /* the same of a class of links */
    FC_COST_OTHER,    /* seconds that are no parameter */
    FC_COST_END,      /* private: the end of a transfer under contention; index: which */
    FC_COST_SEVERAL,  /* private: a weighted sum of several nodes */
    FC_COST_INSTANT,  /* private: the mean of several nodes */
    FC_COST_MOVED,    /* private: what a node's messages had moved; index: of a use, */
    FC_COST_WAIT      /* and the end of a wait for so much of it */
};
enum { FC_ADJOINT_LINKS = 5 };

struct fc_adjoint_node {
    uint32_t before; /* node 0 is the start of the replay */
    uint32_t what;   /* fc_adjoint_cost << 28 | index */
    double amount;
};
/* One of several nodes that another depends on, and by how much: of the end of a transfer, where its rate changed by so
 * many bytes/s. */
struct fc_adjoint_step {
    uint32_t before; /* the next of them, or FC_NONE */
    uint32_t node;
    float more;
};
/* So many seconds (times the part's share of the message) a transfer had a rate. */
struct fc_adjoint_stretch {
    uint32_t before; /* the next one of the transfer, or FC_NONE */
    uint32_t rate;
    float lasted_s;
};
struct fc_adjoint_end {
    uint32_t steps, stretches; /* the last ones */
    uint32_t stop;             /* stretch from which on steps do not count: the first step has them; FC_NONE */
    uint32_t departs;          /* node */
    double rate, mean_rate;    /* bytes/s: the last one, and bytes by duration */
};
/* What a rate has of ln of a bandwidth, or of another rate, which was made before. */
struct fc_adjoint_term {
    uint32_t what; /* fc_adjoint_of << 28 | index */
    float part;    /* bytes/s; of a rate: the derivative */
};
/* What changes what a node's messages have moved (adjoint_fifos.c). */
struct fc_adjoint_entry {
    uint32_t rate, flow; /* a rate of the tape that the flow has from now on; or what else it is */
    union {
        uint32_t step; /* its message's, or FC_NONE */
        struct {
            uint32_t src;
            float share;
        } of;          /* a message's end, or its share until then */
        double time_s; /* of the entries before */
    };
};
/* And who needs to know: a message that has left, or that has waited. */
struct fc_adjoint_use {
    double now_s, rate, waited_s; /* rate: of the node, bytes/s */
    size_t n_entries;             /* before it */
    uint32_t src;
    uint32_t before, queued; /* nodes of the use before, of any node, and of that when it left; FC_NONE: none */
    uint32_t departs;        /* node */
};
/* What its arrays lie on (adjoint_pages.c). */
enum { FC_ADJOINT_PIECES = 7 };
struct fc_adjoint_pages {
    char *block; /* the last one */
    size_t left; /* of it: bytes */
    void *spare[FC_ADJOINT_PIECES];
};
enum fc_adjoint_of { FC_OF_RATE, FC_OF_LINK, FC_OF_SLOWER, FC_OF_FASTER, FC_OF_REST };
struct fc_adjoint {
    const struct fc_network *net;       /* NULL: loggops */
    struct fc_adjoint_node *node;       /* [n_nodes] */
    struct fc_adjoint_step *step;       /* [n_steps] */
    struct fc_adjoint_stretch *stretch; /* [n_stretches] */
    struct fc_adjoint_end *end;         /* [n_ends] */
    struct fc_adjoint_term *term;       /* [n_terms] of all rates, one after the other */
    uint32_t *rate;                     /* [n_rates] the first term of each */
    struct fc_adjoint_entry *entry;     /* [n_entries] */
    struct fc_adjoint_use *use;         /* [n_uses] */
    size_t n_nodes, n_steps, n_stretches, n_ends, n_terms, n_rates, n_entries, n_uses;
    size_t node_capacity, step_capacity, stretch_capacity, end_capacity, term_capacity, rate_capacity, entry_capacity,
        use_capacity;
    uint32_t n_log_flows;            /* flows of entries are below */
    uint32_t last;                   /* the node that is the replay's end */
    bool lost;                       /* of no use: too large, or something has no derivative here, */
    bool refused;                    /* or there was no memory */
    uint32_t link[FC_ADJOINT_LINKS]; /* [n_links] links that are looked at one by one */
    int n_links;
    uint32_t first_fifo;              /* links of the shares from here on are injection FIFOs, of the nodes in order */
    struct fc_adjoint_shares *shares; /* adjoint_shares.c; NULL: no message has met another; */
    void (*close_shares)(struct fc_adjoint_shares *shares); /* else what closes them */
    uint32_t *departs, *arrives; /* [slot_capacity] nodes of messages under way, by the low bits of their ids */
    size_t slot_capacity, arrive_capacity;
    struct fc_adjoint_pages pages;
};
/* What T, a replay's time, has of each parameter: derivatives times their parameters, seconds; they sum up to T. */
struct fc_gradient {
    double send, recv, gap;              /* how many o, g: the derivative itself */
    double latency_s, bytes, wire_bytes; /* of all latencies together; bytes at O, G: the derivative itself */
    double *compute_s;                   /* [n_ranks] computation of each rank, in the arena */
    double class_s[FC_MAX_CLASSES];      /* bandwidth of all links of a class: -dT / d ln b; */
    double slower_s[FC_ADJOINT_LINKS], faster_s[FC_ADJOINT_LINKS]; /* of one link, as it becomes slower, or faster */
    double rest_s;                                                 /* ports, memory, what is no parameter */
    double greatest; /* of all |dT/dt|: how much of an early delay is there in the end, at most */
};
enum { FC_ADJOINT_SLOT_BITS = 26 };

/* For one replay on net (NULL: loggops), which has to outlive it, with these links looked at one by one. The caller closes.
 * Memory: 16 bytes an operation of the job (some 6 a message), 12 for each change of a message's rate and for its time until the
 * next, 16 more where one of its node has waited, 8 for each rate that a link's own depends on; and while it is gone
 * through 4 an operation and 20 a rate. Once that is more than FC_ADJOINT_BYTES nothing more is kept, and there is no gradient.
 * Arrays double, so twice as much may be reserved. */
#define FC_ADJOINT_BYTES ((size_t)3 << 30)
void fc_adjoint_open(struct fc_adjoint *a, const struct fc_network *net, const uint32_t *link, int n_links);
void fc_adjoint_close(struct fc_adjoint *a);
/* Gradients of one tape differ in what an instant depends on where several things happen at once: on all alike, on one of them;
 * and in whether the end of a transfer depends on when others that it met came and went, or they are taken to come and go along
 * with it: then no time counts more than once, and each gradient's parts sum up to T all the same. */
enum fc_adjoint_view { FC_TIE_MEAN, FC_TIE_FIRST, FC_TIE_LAST, FC_MEETINGS_KEPT, FC_GRADIENTS };
/* After the replay; gradient[FC_GRADIENTS]. False: there is none (lost), or there was no memory (st). O(tape). */
bool fc_adjoint_gradients(const struct fc_adjoint *a, uint32_t n_ranks, struct fc_gradient *gradient,
                          struct fc_arena *arena, struct fc_status *st);

/* ---- for the replay ---- */

/* Arrays of the tape and of its shares have room for need elements of up to 64 bytes after this; false: lost. */
bool fc_adjoint_widen(struct fc_adjoint *a, void **array, size_t *capacity, size_t need, size_t size);
static inline bool fc_adjoint_grow(struct fc_adjoint *a, void **array, size_t *capacity, size_t need, size_t size)
{
    return __builtin_expect(need <= *capacity, 1) || fc_adjoint_widen(a, array, capacity, need, size);
}
/* adjoint_pages.c: moves an array (NULL, 0 at first) to at least twice its room, and room for need; false: there is no memory, and it
 * is as it was. Each is released, then all pages are closed. */
bool fc_adjoint_more(struct fc_adjoint_pages *pages, void **array, size_t *capacity, size_t need, size_t size);
void fc_adjoint_release(void *array, size_t capacity, size_t size);
void fc_adjoint_close_pages(struct fc_adjoint_pages *pages);
/* A node that is a cost later than another; without cost that one. */
static inline uint32_t fc_adjoint_add(struct fc_adjoint *a, uint32_t before, enum fc_adjoint_cost cost, uint32_t index,
                                      double amount)
{
    if (amount == 0 || a->lost) return before;
    if (a->n_nodes == a->node_capacity &&
        !fc_adjoint_grow(a, (void **)&a->node, &a->node_capacity, a->n_nodes + 1, sizeof *a->node))
        return before;
    a->node[a->n_nodes] = (struct fc_adjoint_node){before, (uint32_t)cost << 28 | index, amount};
    return (uint32_t)a->n_nodes++;
}
static inline size_t fc_adjoint_slot(uint64_t id)
{
    return (size_t)(id & ((UINT64_C(1) << FC_ADJOINT_SLOT_BITS) - 1));
}
/* Message `id` has left its sender at the node; where it has arrived. */
void fc_adjoint_departs(struct fc_adjoint *a, uint64_t id, uint32_t node);
uint32_t fc_adjoint_arrived(const struct fc_adjoint *a, uint64_t id);

/* ---- for the transit with contention (adjoint_shares.c); flows are numbered as in transit_fair.h ---- */

struct fc_fair;
/* Message `id` is the flow from start_s on, of node `src` (FC_NONE: one whose messages never wait for each other); flow `f` is
 * one more part of it. `share` as in transit_contention.c. */
void fc_adjoint_begins(struct fc_adjoint *a, const struct fc_fair *fair, uint64_t id, uint32_t flow, double start_s,
                       double share, uint32_t src);
/* One leaves node src now_s and waits until so much has gone on as its FIFOs hold: what that depends on, for fc_adjoint_waits
 * (FC_NONE: nothing; nor where what the others have left is less). O(1), but for the first that waits for those under way. */
uint32_t fc_adjoint_queues(struct fc_adjoint *a, uint32_t src, double now_s);
/* It has waited so long for those of its node that are under way, until now_s; before it begins. The same. */
void fc_adjoint_waits(struct fc_adjoint *a, uint64_t id, uint32_t src, uint32_t queued, double waited_s, double now_s);
/* Before: message `id`, which has left, begins packet_s after node `before`, so long as links of a class take for it, of its sender or its receiver. */
void fc_adjoint_follows(struct fc_adjoint *a, uint64_t id, uint32_t before, int class, double packet_s);
void fc_adjoint_joins(struct fc_adjoint *a, const struct fc_fair *fair, uint32_t message, uint32_t flow, double share);
/* A flow has another `share` from now_s on. */
void fc_adjoint_claims(struct fc_adjoint *a, uint32_t flow, double share, double now_s);
/* It has moved everything, so many wire bytes; before its flows are removed. Arrives head_s later, and uneven_s over link `narrow`
 * (fc_transit_uneven_s), or, `alone`, as if it had met nobody: least_s and head_s after its start, its rate that of link `narrow`
 * (FC_NONE: of no link). */
uint32_t fc_adjoint_ends(struct fc_adjoint *a, uint32_t message, double now_s, double bytes);
void fc_adjoint_arrives(struct fc_adjoint *a, uint64_t id, uint32_t end, double head_s, double uneven_s,
                        uint32_t narrow);
void fc_adjoint_arrives_alone(struct fc_adjoint *a, uint64_t id, double head_s, double least_s, uint32_t narrow);
/* Rates will be found anew at due_s because something happened now_s: message `id` left, whose rate link `narrow` holds up
 * (FC_NONE: none), or ended at node `end`, after it took the late-th part of due_s - now_s. */
void fc_adjoint_happens_start(struct fc_adjoint *a, uint64_t id, double now_s, double due_s, uint32_t narrow);
void fc_adjoint_happens_end(struct fc_adjoint *a, uint64_t id, uint32_t end, double due_s, double late);
/* They have been, at now_s. */
void fc_adjoint_solved(struct fc_adjoint *a, const struct fc_fair *fair, double now_s);
