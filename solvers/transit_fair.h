/* transit_fair.h - max-min fair rates of flows that come and go (transit_fair.c has the rule and why it is
 * exact). */
#ifndef FC_TRANSIT_FAIR_H
#define FC_TRANSIT_FAIR_H

#include "models/models.h"

struct fc_fair_link {
    double capacity; /* bytes/s */
    double used;     /* by all flows */
    double weight;   /* sum over flows */
    uint32_t head;   /* its latest entry, or FC_NONE */
    uint32_t n_flows;
    double level;     /* with n_bound > 0: the rate of those; nobody on it is faster */
    uint32_t n_bound; /* flows whose bottleneck it is */
    uint32_t place;   /* in the region at hand, or FC_NONE */
    bool loose;       /* has lost a flow since the last solve */
};
/* A flow on a link. */
struct fc_fair_entry {
    double weight;
    uint32_t link, flow, before, after; /* neighbours on the link, or FC_NONE */
};
struct fc_fair_flow {
    double rate, next;                    /* bytes/s now and after the solve at hand; 0 when new */
    uint32_t first, n;                    /* its entries */
    uint32_t bottleneck, next_bottleneck; /* link; FC_NONE: none yet */
    uint32_t place;                       /* in inside[] */
    uint8_t state;
};
/* A link in the region at hand. */
struct fc_fair_part {
    double spare;  /* left by flows outside */
    double weight; /* of flows inside */
    double left, active, level, highest;
    uint32_t link, n_inside, n_active, n_bound; /* n_bound: flows inside whose bottleneck it was */
};
struct fc_fair_key {
    double key; /* share that was left for each flow inside; may lag behind */
    uint32_t part;
};
struct fc_fair {
    struct fc_status *st;
    uint32_t n_links;
    struct fc_fair_link *link; /* [n_links] */
    struct fc_fair_flow *flow; /* [n_flows] slots; free ones in a list by `first` */
    struct fc_fair_entry *entry;
    uint32_t *free_entries; /* [longest + 1] first free block of that many entries, or FC_NONE */
    uint32_t free_flow, longest;
    size_t n_flows, n_entries, n_living, flow_capacity, entry_capacity, free_capacity;
    /* Of the solve at hand: */
    uint32_t *inside, *changed, *loose; /* [n_inside] flows, [n_changed] flows, [n_loose] links */
    struct fc_fair_part *part;          /* [n_parts] */
    struct fc_fair_key *heap;           /* [n_heap] least key first */
    size_t n_inside, n_frozen, n_heap, n_changed, n_loose, n_parts;
    size_t inside_capacity, heap_capacity, changed_capacity, part_capacity;
};
/* capacity[n_links] > 0 where flows will be; copied. */
enum fc_code fc_fair_open(struct fc_fair *fair, uint32_t n_links, const double *capacity,
                          struct fc_status *st);
void fc_fair_close(struct fc_fair *fair);
/* Takes all flows away. */
void fc_fair_reset(struct fc_fair *fair);
/* A flow over links link[n] (each once), of whose rate the shares weight[n] > 0 cross them; n > 0. Returns
 * its number, FC_NONE with the status filled when there is no memory. It has no rate before the next solve.
 */
uint32_t fc_fair_add(struct fc_fair *fair, uint32_t n, const uint32_t *link, const double *weight);
void fc_fair_remove(struct fc_fair *fair, uint32_t flow);
/* Makes all rates max-min fair again; changed[n_changed] are the flows that got another rate (some twice).
 * Amortised: links of the flows that came and went when none of those is in short supply, else flows and
 * links of the region that changes. */
enum fc_code fc_fair_solve(struct fc_fair *fair);

#endif
