/* replay.h - private parts of the replay: routes (replay_routes.c), links (replay_links.c), end points
 * (replay_ends.c), ranks (replay_ranks.c). */
#ifndef FC_REPLAY_H
#define FC_REPLAY_H

#include "solvers/job_calls.h"
#include "solvers/timing.h"

/* ---- routes between nodes (replay_routes.c) ---- */

enum { FC_MOST_PATHS = 8 };
struct fc_path {
    uint32_t first, n; /* its links: routes->link[first .. first + n), in order */
    double share;      /* of the bytes of a message that uses all paths of its route */
    double head_s;     /* head delays of all links */
    double s_per_byte; /* of the slowest link */
};
struct fc_route {
    uint32_t src, dst; /* nodes */
    uint32_t first_path, n_paths;
    double latency_s;  /* least head_s of its paths */
    double wire_bytes; /* sent over it in the run at hand */
};
struct fc_routes {
    const struct fc_network *net;
    const double *background;
    struct fc_status *st;
    uint32_t *link;
    struct fc_path *path;
    struct fc_route *route;
    uint32_t n_links, n_paths, n_routes;
    size_t link_capacity, path_capacity, route_capacity;
    struct fc_route_slot {
        uint64_t key; /* src << 32 | dst; UINT64_MAX: free */
        uint32_t route;
    } * slot; /* [mask + 1], at most half full */
    uint32_t mask;
    struct fc_walk walk;
    uint32_t *top; /* [n_vertices] latest parcel waiting at each vertex */
    struct fc_parcel *parcel;
    size_t n_parcels, parcel_capacity;
};
enum fc_code fc_routes_start(struct fc_routes *routes, const struct fc_network *net, const double *background,
                             struct fc_status *st);
void fc_routes_free(struct fc_routes *routes);
/* Adds the route from node to node; NULL with the status filled when it cannot be. */
struct fc_route *fc_routes_add(struct fc_routes *routes, uint32_t src, uint32_t dst);

static inline uint64_t fc_route_hash(uint64_t key)
{
    key *= UINT64_C(0x9E3779B97F4A7C15);
    return key ^ key >> 32;
}
/* The route from node to another node. Valid until the next call. */
static inline struct fc_route *fc_routes_find(struct fc_routes *routes, uint32_t src, uint32_t dst)
{
    uint64_t key = (uint64_t)src << 32 | dst;
    for (uint64_t i = fc_route_hash(key);; i++) {
        const struct fc_route_slot *slot = &routes->slot[i & routes->mask];
        if (slot->key == key) return &routes->route[slot->route];
        if (slot->key == UINT64_MAX) return fc_routes_add(routes, src, dst);
    }
}

/* fc_event.mode of sends and of one-sided calls. */
enum { FC_SEND_SYNCHRONOUS = 1, FC_SEND_BUFFERED = 2 };
enum { FC_MOVE_PUT = 0, FC_MOVE_GET = 1, FC_MOVE_UPDATE = 2 };

/* ---- what is replayed: fixed before the first run (replay.c) ---- */

struct fc_job {
    const struct fc_network *net; /* NULL only with loggops */
    const struct fc_trace *trace;
    const struct fc_replay_settings *settings;
    struct fc_status *st;
    struct fc_arena arena;
    const uint32_t *node; /* [n_ranks] */
    struct fc_job_calls calls;
    struct fc_routes routes;
    uint64_t *part; /* [n_events] point-to-point and one-sided: message; collective: fc_call_part */
    uint64_t n_messages, n_expected; /* between ranks; and with those of the calls */
    struct fc_message *message;      /* [n_messages] between ranks; round: unused */
    uint64_t *first_request;         /* [n_ranks + 1] */
    uint32_t longest_wait;           /* most things that one wait or one round of a call completes */
    double packet_bytes;             /* payload of one packet: a message is split over paths by packets */
    double local_s_per_byte;         /* memory of a node */
};

/* ---- one run ---- */

struct fc_strand;

/* What the chain of events that ends at a certain time spent that time on; the rest is latency. */
struct fc_chain {
    double computation_s, software_s;
    double link_s; /* serialisation and waiting for links */
};

/* A message under way. */
struct fc_mail {
    double sent_s;    /* it, or with rendezvous its announcement, has left the sender's CPU; after it has left
                    * its node: when it would arrive if links took no time */
    double posted_s;  /* its receive was posted */
    double arrived_s; /* its last byte is at the receiver's node */
    struct fc_chain chain; /* behind sent_s or posted_s, whatever decides; then behind arrived_s */
    struct fc_strand *sender, *receiver; /* blocked until it has arrived; NULL: nobody */
    uint8_t state;                       /* FC_SENT... */
    uint8_t shares_left;                 /* parts still on the way */
};
enum { FC_SENT = 1, FC_POSTED = 2, FC_RENDEZVOUS = 4, FC_ARRIVED = 8 };

/* Messages that belong together: all of the ranks' own, or those of one collective call. */
struct fc_batch {
    const struct fc_message *message;
    const uint32_t *member; /* world rank of a member; NULL: they are ranks */
    struct fc_mail *mail;
    uint64_t number; /* of its first message: orders what happens at the same time */
    uint32_t n_done; /* members that have left the call */
    struct fc_batch *next_free;
};

/* One thread of control: a rank's program, or a nonblocking collective of it, which goes on by itself. */
struct fc_strand {
    double clock_s, send_s, receive_s; /* now; when the next message may be sent, received (gap) */
    double compute_s;                  /* computation so far */
    struct fc_chain chain;             /* behind clock_s */
    double entered_s;                  /* the call at hand */
    uint32_t rank;
    uint32_t pending; /* messages and calls that it is blocked on */
    uint64_t event;   /* main: the event at hand */
    bool main, begun, in_call, in_round, finished;
    uint64_t part, step, round_end; /* of the call at hand */
    struct fc_strand *waiter;       /* nonblocking call: blocked until it has finished */
    struct fc_strand *next_ready;
};
struct fc_request {
    struct fc_mail *mail;
    struct fc_strand *call; /* nonblocking collective */
    bool receives;
};

struct fc_link_state {
    double free_s, busy_s, bytes; /* bytes: payload */
    double s_per_byte, delay_s;
};
struct fc_flight {
    struct fc_mail *mail;
    uint32_t at, end; /* links of the routes' list still to cross */
    double wire_bytes, bytes, tail_s;
    uint32_t next_free;
};
/* A head arrives at a link. Times are not negative, so their bits order as they do: the key's high half is the
 * time, the low half the message's number, and one comparison without a branch orders two happenings. */
struct fc_happening {
    unsigned __int128 key;
    uint32_t flight;
};

struct fc_run {
    struct fc_job *job;
    struct fc_arena arena;
    bool ideal;
    struct fc_batch own;          /* the ranks' messages */
    struct fc_batch **batch;      /* [n_calls] */
    struct fc_batch **free_batch; /* [n_schedules] */
    struct fc_strand *strand;     /* [n_ranks] */
    struct fc_request *request;
    struct fc_strand *ready;
    struct fc_link_state *link; /* [n_links]; free_s unused when ideal */
    struct fc_flight *flight;
    uint32_t n_flights, free_flight;
    size_t flight_capacity, heap_capacity, n_heap;
    struct fc_happening *heap;
    struct fc_taken {
        double arrived_s, bytes;
        const struct fc_chain *chain;
    } * taken;             /* [longest_wait] scratch: the receives of one wait */
    double time_s;         /* latest end or arrival so far, and */
    struct fc_chain chain; /* what led to it */
    uint64_t n_messages, n_finished;
    struct {
        double p2p_wait_s, collective_s, link_wait_s, local_bytes, network_bytes;
    } total;
};

/* replay_links.c */
enum fc_code fc_flights_start(struct fc_run *run);
/* Free links, totals 0. */
void fc_flights_reset(struct fc_run *run);
/* Both sides agree: the message leaves. Its arrival wakes who waits for it, at once or in a later
 * fc_flights_run. */
void fc_mail_leave(struct fc_run *run, struct fc_batch *batch, uint64_t i);
/* Moves heads over links until a message arrives; false when none is under way. */
bool fc_flights_run(struct fc_run *run);

/* replay_ends.c */
void fc_end_send(struct fc_run *run, struct fc_strand *s, struct fc_batch *batch, uint64_t i,
                 bool rendezvous);
void fc_end_post(struct fc_run *run, const struct fc_strand *s, struct fc_batch *batch, uint64_t i);
/* A side blocks on a message that is not there yet. */
void fc_wait_for_receive(struct fc_strand *s, struct fc_mail *mail);
void fc_wait_for_send(struct fc_strand *s, struct fc_mail *mail);
/* What a wait has completed. */
struct fc_harvest {
    uint32_t n;                   /* receives: run->taken[n] */
    double last_s;                /* latest completion of anything that costs no CPU time, and */
    const struct fc_chain *chain; /* what led to it */
};
void fc_harvest_receive(struct fc_run *run, struct fc_harvest *h, const struct fc_mail *mail, double bytes);
void fc_harvest_send(struct fc_harvest *h, const struct fc_mail *mail);
void fc_harvest_other(struct fc_harvest *h, double time_s, const struct fc_chain *chain);
/* Advances the clock over the wait; returns the time spent blocked. */
double fc_end_wait(struct fc_run *run, struct fc_strand *s, const struct fc_harvest *h);

/* replay_ranks.c */
static inline void fc_wake(struct fc_run *run, struct fc_strand *s)
{
    if (s && --s->pending == 0) {
        s->next_ready = run->ready;
        run->ready = s;
    }
}
/* Something ends at time_s: the latest such end is the job's. */
static inline void fc_run_ends(struct fc_run *run, double time_s, const struct fc_chain *chain)
{
    if (time_s <= run->time_s) return;
    run->time_s = time_s;
    run->chain = *chain;
}
/* Memory for any number of runs. */
enum fc_code fc_run_start(struct fc_run *run, struct fc_job *job);
/* One run from the start to the end. FC_INPUT when ranks wait for each other for ever. */
enum fc_code fc_run_all(struct fc_run *run, bool ideal);
void fc_run_free(struct fc_run *run);
/* replay_deadlock.c */
enum fc_code fc_report_deadlock(const struct fc_run *run);

/* fmax is a call into the library, this is not. */
static inline double fc_later(double a_s, double b_s)
{
    return a_s > b_s ? a_s : b_s;
}

static inline uint32_t fc_batch_rank(const struct fc_batch *batch, uint32_t member)
{
    return batch->member ? batch->member[member] : member;
}

#endif
