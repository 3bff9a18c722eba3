/* transit_fair.h - max-min fair rates of flows that come and go (transit_fair.c has the rule and why it is
 * exact). */
#pragma once

#include "models/models.h"
#include "solvers/transit/transit_lows.h"

#include <math.h>

/* One cache line. */
struct fc_fair_link {
    double capacity;   /* bytes/s */
    double used;       /* by all flows; solve at hand: what those that have a rate leave of the capacity */
    double level;      /* the rate of those bound to it, nobody on it is faster; INFINITY: nobody is */
    double weight;     /* sum over its flows, to rounding */
    double active;     /* solve at hand: the same of those whose rate is sought, */
    uint32_t n_active; /* and how many they are */
    uint32_t place;    /* solve at hand: among its links, or FC_NONE */
    uint32_t first;    /* on[first .. first + 2^room) is its, and */
    uint32_t n_flows;  /* so many are there */
    uint32_t n_bound;  /* flows whose bottleneck it is */
    uint8_t room;      /* 0: none yet */
    bool full;         /* solve at hand: all there have their rates, and the link is the bottleneck of some */
    bool loose;        /* has lost a flow since the last solve */
    bool in_order;     /* weight is the sum in the order of on[] */
};
/* A flow on a link, seen from the link, */
struct fc_fair_on {
    double weight;
    uint32_t flow, entry;
};
/* and from the flow. */
struct fc_fair_entry {
    double weight;
    uint32_t link, place; /* on[link's first + place] */
};
struct fc_fair_flow {
    double rate;         /* bytes/s; 0 when new */
    uint32_t first, n;   /* its entries */
    uint32_t bottleneck; /* link; FC_NONE: none yet */
    uint32_t place;      /* in came[] */
    uint8_t state;
    float blocks;            /* 0 to 1 */
    uint32_t end;            /* the node that it goes to */
    uint32_t start;          /* and comes from; the caller's, for fc_fair_interference alone */
    uint32_t message;        /* the caller's: its first flow; itself, unless said otherwise */
    double free_bytes_per_s; /* what its message would have alone, over its claim; 0: it does not spread */
    double claim;            /* what its weights were multiplied by */
    uint32_t way;            /* the caller's, for fc_claims_settle: which it takes (transit_routes.c); FC_NONE: none */
};
/* Of a link that has less for flows that mix there (transit_fair_mix.c): */
struct fc_fair_mix {
    double alone;       /* bytes/s for one flow; 0: nothing is lost there */
    uint32_t n_spreads; /* flows there that spread */
    bool stirred;       /* a flow has come or gone since its capacity was found */
};
/* What the flows of a link to one end, or of one message, weigh together, in the sum at hand. */
struct fc_fair_met {
    double weight;
    uint64_t sum;  /* its number */
    double beyond; /* of a message: what that adds to how much the link spreads */
};
/* What there is to know of a link; asked when its first flow comes, so links without flows cost no more than their zeroed memory. */
struct fc_fair_links {
    double (*capacity)(const void *of, uint32_t link); /* > 0, bytes/s */
    bool (*mixes)(const void *of, uint32_t link);      /* for fc_fair_lose; else NULL */
    const void *of;
};
/* A link has another capacity from the next solve on. */
struct fc_fair_given {
    double capacity;
    uint32_t link;
};
/* One more link of a flow, and what crosses it of the flow's share. */
struct fc_fair_more {
    uint32_t link;
    double weight;
};
enum { FC_FAIR_LIVING = 1, FC_FAIR_CAME = 2 }; /* state */
struct fc_fair {
    struct fc_status *st;
    uint32_t n_links, n_ready;
    struct fc_fair_links of;
    void *memory;              /* what `link` lies in */
    struct fc_fair_link *link; /* [n_links]; zeros until it is made ready */
    struct fc_fair_flow *flow; /* [n_flows] slots; free ones in a list by `first` */
    double *pace;              /* [n_flows] the flow's rate; INFINITY: it is sought in the solve at hand */
    struct fc_fair_entry *entry;
    struct fc_fair_on *on;
    uint32_t *free_entries; /* [longest] first free block of that many entries, or FC_NONE */
    uint32_t free_on[32];   /* of 2^k */
    uint32_t free_flow, longest;
    size_t n_flows, n_entries, n_on, n_living, flow_capacity, pace_capacity, entry_capacity, on_capacity, free_capacity;
    /* Of the solve at hand: */
    uint32_t *came, *changed, *loose; /* [n_came] flows, [n_changed] flows, [n_loose] links */
    uint32_t *at_hand;                /* [lows.n] links; the next to fill has the least key */
    struct fc_lows lows;              /* on keys */
    double *keys;                     /* of n_ready links at least */
    double level;                     /* what is lower is decided */
    uint32_t *sharing;                /* [n_sharing] flows of the link at hand that fill it, */
    double filling, kept;             /* the sum of their weights, and what the others have there */
    struct fc_fair_sums *sums;        /* [n_links] NULL: never solved anew */
    struct fc_fair_mix *mix;          /* [n_links] NULL: no link loses anything */
    uint32_t *stirred;                /* [n_stirred] links */
    double limit;                     /* of the capacity, where very many mix */
    struct fc_fair_met *met;          /* [n_ends] NULL without `mix` */
    struct fc_fair_met *own;          /* [n_flows] of messages by their first flow; grown where any spreads */
    uint64_t n_sums;                  /* over the flows of a link, so far */
    uint64_t *looked;                 /* [n_links] the look for interference that a link has been in last, */
    uint64_t n_looks;                 /* of so many */
    double *opened;                   /* [n_links] capacities that they were made ready with */
    struct fc_fair_given *given;      /* [n_given] */
    size_t n_stirred, n_sharing, n_given, given_capacity, own_capacity;
    size_t n_came, n_changed, n_loose, came_capacity, changed_capacity, sharing_capacity;
    uint32_t keys_capacity; /* links that `keys` has room for */
};
/* links->of outlives it. */
enum fc_code fc_fair_open(struct fc_fair *fair, uint32_t n_links, const struct fc_fair_links *links,
                          struct fc_status *st);
void fc_fair_close(struct fc_fair *fair);
/* From now on (no flow is there yet) a link that mixes has, of what it was opened with, the part
 *     1 - (1 - limit) B/W (1 - Q/W^2),    W, Q, B: sums over its flows of w, w^2, w blocks
 * for its flows together, those to one end being one in Q; 0 < limit <= 1. Ends are below n_ends.
 * FC_NO: out of memory. */
enum fc_code fc_fair_lose(struct fc_fair *fair, double limit, uint32_t n_ends);
/* A flow just added is part of a message that spreads: alone, all its parts together would have bytes_per_s > 0, whatever shares they
 * have of the links that mix (transit_fair_mix.c); the flow's `message` says which. After fc_fair_lose. FC_NO: out of memory. */
enum fc_code fc_fair_spreads(struct fc_fair *fair, uint32_t flow, double bytes_per_s);
/* The link, which does not mix, has this capacity > 0 from the next solve on; the last one counts. False: out of memory. */
bool fc_fair_give(struct fc_fair *fair, uint32_t link, double capacity);
/* A flow to `end` over links link[n] (each once), of whose rate share * claim * weight[n] > 0 cross them, and over the n_more others;
 * in all at least one. Of a link that binds it and another it has claim / the other's claim times as much, shares and weights alike.
 * blocks, 0 to 1: how much it keeps others from going on (fc_fair_lose). Returns its number, FC_NONE with the status filled when there
 * is no memory. It has no rate before the next solve. */
uint32_t fc_fair_add(struct fc_fair *fair, uint32_t n, const uint32_t *link, const double *weight, double share,
                     double claim, const struct fc_fair_more *more, uint32_t n_more, double blocks, uint32_t end);
void fc_fair_remove(struct fc_fair *fair, uint32_t flow);
/* From the next solve on it has this claim > 0; until then no rate. It comes anew. FC_NO: out of memory. O(its links). */
enum fc_code fc_fair_claim(struct fc_fair *fair, uint32_t flow, double claim);
/* Makes all rates max-min fair again; changed[n_changed] are the flows that got another rate (some twice).
 * Costs the links of the flows that came and of those whose rate changes, and who is on links that fill. */
enum fc_code fc_fair_solve(struct fc_fair *fair);
/* The same from nothing (transit_fair_anew.c): all links of all flows, cheaper where most rates change. */
enum fc_code fc_fair_solve_anew(struct fc_fair *fair);

/* The greatest part of a link's load, over the links of the flow, that is of other pairs of nodes (start, end): 0 to 1. Of a link
 * with more than FC_FAIR_SEEN flows so many, evenly spread, stand for all. At least `least`, which may save looking. again: of the pair of the
 * flow asked for before, nothing has happened since, and `least` has that: links of both are not looked at again. O(its links x FC_FAIR_SEEN). */
enum { FC_FAIR_SEEN = 16 };
double fc_fair_interference(struct fc_fair *fair, uint32_t flow, bool again, double least);

/* ---- for the files of the above ---- */

/* One flow less has the link as its bottleneck. */
static inline void fc_fair_unbind(struct fc_fair_link *link)
{
    link->n_bound--;
    link->level = link->n_bound ? link->level : INFINITY;
}
/* Whether the link has its capacity; not while a solve is at hand: of others the place is 0, as all is. */
static inline bool fc_fair_is_ready(const struct fc_fair_link *link)
{
    return link->place == FC_NONE;
}
/* The link has it, if not yet. False: out of memory. */
bool fc_fair_make_ready(struct fc_fair *fair, uint32_t link);

enum { FC_FAIR_AHEAD = 2, FC_FAIR_LINE = 64 / sizeof(struct fc_fair_entry) }; /* flows; entries */
/* Calls the flow's links into the cache, where many flows would not be. */
static inline void fc_fair_call_in(const struct fc_fair *fair, uint32_t flow)
{
    const struct fc_fair_flow *x = &fair->flow[flow];
    for (uint32_t i = 0; i < x->n; i += FC_FAIR_LINE) __builtin_prefetch(&fair->entry[x->first + i]);
}

/* The flow comes to its links, or leaves them: their capacities are to be found anew. */
void fc_fair_stir(struct fc_fair *fair, uint32_t flow);
void fc_fair_unstir(struct fc_fair *fair, uint32_t flow);
/* The capacity that a link has for the flows that are there now. O(them). */
double fc_fair_mixed(struct fc_fair *fair, uint32_t link);
