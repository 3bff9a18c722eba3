/* adjoint_internal.h - private to adjoint*.c: what is known of messages under way while a tape is made, and derivatives by what is
 * on it while it is gone through. */
#pragma once

#include "solvers/adjoint/adjoint.h"
#include "solvers/transit/transit_fair.h"

/* ---- while the tape is made ---- */

/* A flow; one cache line. */
struct fc_adjoint_share {
    uint32_t message, next;    /* as in transit_contention.c */
    uint32_t steps, stretches; /* of a message: its last ones */
    uint32_t solve;            /* of the last step */
    uint32_t departs;
    double start_s, since_s; /* since_s: up to then it is on the tape */
    double all_rate;         /* bytes/s of a message */
    float share, rate;       /* bytes/s of the message that a rate of 1 B/s stands for; its own */
    uint8_t crosses;         /* bits of the links looked at one by one */
    bool logged;             /* its node's sum is kept: what happens to it is an entry */
    uint32_t src;            /* node; FC_NONE: nobody waits for it */
};
_Static_assert(sizeof(struct fc_adjoint_share) == 64, "one cache line");
/* The same, which others on its links look at: */
struct fc_adjoint_seen {
    uint32_t rate_number; /* of the tape; FC_NONE: none yet */
    uint32_t pending;     /* solve that has changed its rate, which is not on the tape yet; 0: none */
};
/* A message, among those of its node under way to others. */
struct fc_adjoint_sent {
    uint32_t before, after; /* the next ones in the node's list, FC_NONE at the ends */
    uint32_t stop;          /* as in fc_adjoint_end */
};
/* Those of a node. */
struct fc_adjoint_sender {
    uint32_t first;   /* FC_NONE: there are none */
    uint32_t n_rated; /* where their sum is kept: those that have a rate, */
    uint32_t n_since; /* entries since somebody last waited, */
    double rate;      /* bytes/s of all together */
    bool logged; /* it is: from the first that has waited for them until none is left, or nobody has waited for long */
};
/* Of a link in the solve at hand. */
struct fc_adjoint_level {
    uint32_t solve, full_solve; /* of rate and own; of fastest */
    uint32_t rate;
    float own; /* bytes/s of ln of its bandwidth */
    double
        fastest; /* of a link that is full: the greatest rate of the first n_seen of the flows there; INFINITY: it is not */
    uint32_t n_seen;
};
struct fc_adjoint_shares {
    struct fc_adjoint_share *share;   /* [flow] */
    struct fc_adjoint_seen *seen;     /* [flow] */
    struct fc_adjoint_sent *sent;     /* [flow] of messages */
    struct fc_adjoint_sender *sender; /* [n_nodes] */
    size_t share_capacity, seen_capacity, sent_capacity;
    struct fc_adjoint_level *level; /* [n_links] */
    uint8_t *which;                 /* [n_links] 1 + its number among the links looked at one by one; 0: none of them */
    uint32_t n_links, solve;
    uint32_t *place; /* [n_rates] where a rate's term is, of the rate being made */
    size_t place_capacity;
    uint32_t *slower; /* [n_slower] places in on[] of flows that are slower than the links of the levels being made */
    size_t n_slower, slower_capacity;
    uint32_t *happened; /* [n_happened] nodes because of which rates are found at due_s */
    size_t n_happened, happened_capacity;
    double due_s;
    double log_s;      /* the time of the last entries, from closed on */
    size_t log_closed; /* before it: entries whose time stands in the log */
    uint32_t last_use; /* node; FC_NONE: nobody has waited */
};

/* adjoint_shares.c. One more of several that a node depends on; the new list, FC_NONE: lost. */
uint32_t fc_adjoint_with(struct fc_adjoint *a, uint32_t list, uint32_t node, double more);
/* The node of a transfer's end. */
uint32_t fc_adjoint_add_end(struct fc_adjoint *a, struct fc_adjoint_end end);
/* The rates of all parts of a message up to now are on the tape. */
void fc_adjoint_note_all(struct fc_adjoint *a, uint32_t message, double now_s);
/* adjoint_log.c. What comes next is of now_s. */
void fc_adjoint_log_time(struct fc_adjoint *a, double now_s);
/* From now_s on the flow, whose node's sum is kept, has this rate, and its message a new step (FC_NONE: none). */
void fc_adjoint_log_add(struct fc_adjoint *a, uint32_t flow, uint32_t step, uint32_t rate, double now_s);
/* The same, because rates were found anew: that may be the last entry, after many since somebody has waited. */
void fc_adjoint_log_rate(struct fc_adjoint *a, uint32_t flow, uint32_t step, uint32_t rate, double now_s);
/* The message, whose node's sum is kept, has ended and is in the node's list no more. */
void fc_adjoint_log_end(struct fc_adjoint *a, uint32_t message, double now_s);
/* A flow whose node's sum is kept will have another share than it has now. */
void fc_adjoint_log_share(struct fc_adjoint *a, uint32_t flow, double now_s);
/* Of an entry that is no rate: a flow's end, the time of the entries before, the flow's share in them. */
#define FC_ADJOINT_ENTRY_END (FC_NONE - 1)
#define FC_ADJOINT_ENTRY_TIME (FC_NONE - 2)
#define FC_ADJOINT_ENTRY_SHARE (FC_NONE - 3)

/* ---- while it is gone through ---- */

/* Derivatives by a node, or by a rate, in each view. */
struct fc_adjoint_lanes {
    float v[FC_GRADIENTS];
};
/* Derivatives by nodes or rates; few count, so those that do are marked, and the others never looked at. Those of nodes live
 * from their first mark until they are gone through: few at a time. */
struct fc_adjoint_marks {
    uint64_t *marks;             /* a bit each */
    uint32_t *place;             /* of those marked: in of[] */
    struct fc_adjoint_lanes *of; /* [n_of]; of[0] is nobody's */
    uint32_t *spare;             /* [n_spare] places in of[] */
    size_t n_of, n_spare, of_capacity, spare_capacity;
    bool refused; /* there was no memory */
};
/* adjoint_marks.c. Of n; false: there is no memory. Close them anyway. */
bool fc_adjoint_open_marks(struct fc_adjoint_marks *x, size_t n);
void fc_adjoint_close_marks(struct fc_adjoint_marks *x);
/* The first mark of i. */
uint32_t fc_adjoint_place_of(struct fc_adjoint_marks *x, uint32_t i);
/* Good until the next mark. */
static inline struct fc_adjoint_lanes *fc_adjoint_mark(struct fc_adjoint_marks *x, uint32_t i)
{
    uint32_t place = x->marks[i / 64] >> i % 64 & 1 ? x->place[i] : fc_adjoint_place_of(x, i);
    return &x->of[place];
}
/* adjoint_fifos.c: the log, read from its end. */
struct fc_adjoint_reader {
    struct fc_adjoint_back_node *node; /* [n_nodes of the network] */
    struct fc_adjoint_back_flow *flow; /* [n_log_flows] */
    size_t at;                         /* what is before is still to be read */
    double now_s;
};
bool fc_adjoint_open_reader(const struct fc_adjoint *a,
                            struct fc_adjoint_reader *r); /* false: there is no memory; close it anyway */
void fc_adjoint_close_reader(struct fc_adjoint_reader *r);
/* Use `number`, whose node has the derivative `by`, to what the node's messages had moved, and to what else it depends on. */
void fc_adjoint_divide_use(const struct fc_adjoint *a, struct fc_adjoint_reader *r, uint32_t number, bool waits,
                           const struct fc_adjoint_lanes *by, struct fc_adjoint_marks *nodes,
                           struct fc_adjoint_marks *rates);
