/* trace_hold.h - private to traces/: one rank's events on their way from a reader to the sink. A receive
 * whose sender, tag or bytes are known only when it completes is held, and what comes behind it waits with
 * it; failed polls are folded into the event that follows; requests are found by the number that the foreign
 * format gives them. Memory: what is open and the events behind the oldest open receive. */
#pragma once

#include "traces/trace_formats.h"

/* A request that is not completed. */
struct fc_hold_request {
    uint64_t key;   /* the format's number; several may have the same: the oldest completes first */
    int32_t number; /* in the trace; -1: none (a message to nobody, or a persistent one that is not started) */
    bool receive, persistent, cancelled;
    uint64_t event;       /* the event that made it, counted from 0 */
    struct fc_event post; /* what was asked for */
    int32_t next;         /* private */
};
struct fc_hold {
    struct fc_trace_sink *sink;
    uint32_t rank;
    int32_t n_made; /* requests so far */
    uint64_t polls;
    uint64_t n_passed;    /* events handed on; from here private */
    struct fc_held *held; /* [capacity] those waiting: held[head] .. held[n - 1] */
    size_t head, n, capacity;
    int64_t *lists;
    size_t n_lists, lists_capacity;
    struct fc_hold_request *requests; /* pool; a free one has its next in `next` */
    int32_t n_requests, requests_capacity, first_free;
    int32_t *bucket; /* [n_buckets] first request, -1: none */
    uint32_t n_buckets, n_open;
};

void fc_hold_start(struct fc_hold *hold, struct fc_trace_sink *sink, uint32_t rank);
/* The rank's next event; event->request is set here for what makes one (such go through fc_hold_make). list
 * as in fc_sink_event. Failed polls so far go with it. */
enum fc_code fc_hold_event(struct fc_hold *hold, const struct fc_event *event, const int64_t *list);
/* An event that makes request `key`; `open`: hold it until it is resolved. The request, or NULL; valid until
 * the next is made. */
struct fc_hold_request *fc_hold_make(struct fc_hold *hold, uint64_t key, const struct fc_event *event, bool open);
/* A request without an event of the trace. */
struct fc_hold_request *fc_hold_none(struct fc_hold *hold, uint64_t key);
/* Starts a persistent request: an event that makes a request number for it. */
enum fc_code fc_hold_restart(struct fc_hold *hold, struct fc_hold_request *request, const struct fc_event *event);
/* The oldest request of that key, or NULL. */
struct fc_hold_request *fc_hold_find(const struct fc_hold *hold, uint64_t key);
/* What a held event turned out to be: op, communicator, peer, tag, bytes and list of `as`; nothing when it is
 * not held. */
enum fc_code fc_hold_resolve(struct fc_hold *hold, const struct fc_hold_request *request, const struct fc_event *as,
                             const int64_t *list);
/* The held event brought nothing: it becomes FC_OP_OTHER, and its number goes to the next request. O(held).
 */
void fc_hold_cancel(struct fc_hold *hold, struct fc_hold_request *request);
/* So for all that are held open; how many. */
uint64_t fc_hold_cancel_open(struct fc_hold *hold);
/* It is completed, or forgotten. */
void fc_hold_drop(struct fc_hold *hold, struct fc_hold_request *request);
/* Events so far, handed on or waiting. */
static inline uint64_t fc_hold_events(const struct fc_hold *hold)
{
    return hold->n_passed + (hold->n - hold->head);
}
static inline void fc_hold_poll(struct fc_hold *hold)
{
    hold->polls++;
}
/* Hands the rest on, open receives as they are. The hold can then be started again. */
enum fc_code fc_hold_end(struct fc_hold *hold);
/* Frees; safe on a zeroed struct. */
void fc_hold_free(struct fc_hold *hold);

/* An event without communicator, peer or request. */
static inline struct fc_event fc_hold_plain(int op, double enter_s, double leave_s, double compute_s)
{
    return (struct fc_event){
        .op = (uint8_t)op, .peer = -1, .request = -1, .enter_s = enter_s, .leave_s = leave_s, .compute_s = compute_s};
}
