/* paraver.h - private to traces/: between the lines of a Paraver trace (format_paraver.c) and the calls of
 * its ranks (paraver_calls.c). Times are whole units of the trace. */
#pragma once

#include "traces/trace_formats.h"

struct fc_prv_call {
    int64_t enter, leave; /* leave -1: open */
    int64_t compute;
    int64_t value; /* Extrae's number */
    int64_t sent, received, target;
    uint32_t comm; /* index in comms; FC_NONE: not told, or the rank is not in it */
    bool is_root, counted;
    uint64_t instance; /* counted: number of the rooted call on its communicator */
};
struct fc_prv_item { /* one end of a communication */
    int64_t time, physical, bytes;
    uint64_t order;
    uint32_t peer;
    int32_t tag, request;
};
struct fc_prv_heap {
    struct fc_prv_item *item;
    size_t n, capacity;
};
struct fc_prv_rank {
    struct fc_prv_call *calls; /* ring */
    size_t first, n, capacity;
    uint32_t thread; /* in the open call; 0: none is open */
    bool has_states;
    int64_t run_from, run_to; /* running interval not yet accounted; from == to: none */
    int64_t left, compute;    /* end of the last call; computation since */
    struct fc_prv_heap sends, receives, completions;
    int64_t *open_sends; /* requests, oldest first: open_first .. open_n - 1 */
    size_t open_first, open_n, open_capacity;
    int64_t waitall_left; /* end of the last Waitall */
    uint32_t polls;       /* failed polls not handed on yet, with their computation and last time */
    int64_t poll_compute, poll_time;
    uint64_t order;
};
struct fc_prv_instance {
    uint32_t root, entered, taken;
};
struct fc_prv_comm {
    int64_t id;
    int32_t number;               /* in the sink */
    uint32_t n, *sorted;          /* members */
    uint64_t *calls;              /* [n] rooted calls so far, by place in `sorted` */
    struct fc_prv_instance *open; /* instances base .. base + n_open - 1 */
    uint64_t base;
    size_t n_open, capacity;
};

struct fc_prv {
    struct fc_trace_sink *sink;
    uint32_t n_ranks;
    double units_per_s;
    int64_t now;               /* time of the last state or event */
    bool ended;                /* nothing more comes: what is open stays open */
    struct fc_prv_rank *ranks; /* [n_ranks] */
    struct fc_prv_comm *comms; /* [n_comms] by the trace's id once an event came */
    uint32_t n_comms, comms_capacity;
    bool comms_sorted, world_seen;
    int64_t largest_id; /* of the communicators */
};

/* Event types of the MPI calls and of what they carry (Extrae). */
enum {
    FC_PRV_CALL_FIRST = 50000001, /* point-to-point, collective, other, one-sided, I/O: value 0 leaves, else enters */
    FC_PRV_CALL_LAST = 50000005,
    FC_PRV_SENT = 50100001,
    FC_PRV_RECEIVED = 50100002,
    FC_PRV_ROOT = 50100003, /* 1: this rank is the root */
    FC_PRV_COMM = 50100004,
    FC_PRV_RMA_BYTES = 50001000,
    FC_PRV_RMA_TARGET = 50001001
};

struct fc_prv_message {
    int64_t sent, posted, received; /* logical send, logical receive, physical receive */
    int64_t bytes;
    int32_t tag;
};

/* ---- MPI calls by their event value (paraver_functions.c) ---- */

enum fc_prv_kind {
    FC_PRV_TIME,    /* only takes time */
    FC_PRV_UNKNOWN, /* not in the list */
    FC_PRV_LOST,    /* does more than take time, which the trace does not tell */
    FC_PRV_CALL,    /* Init, Finalize */
    FC_PRV_SEND,
    FC_PRV_ISEND,
    FC_PRV_RECV,
    FC_PRV_IRECV,
    FC_PRV_SENDRECV,
    FC_PRV_START,
    FC_PRV_STARTALL,
    FC_PRV_WAIT, /* completes one */
    FC_PRV_WAITALL,
    FC_PRV_WAITSOME,
    FC_PRV_TEST, /* completes one or none */
    FC_PRV_TESTSOME,
    FC_PRV_POLL,
    FC_PRV_COLLECTIVE,
    FC_PRV_RMA
};
struct fc_prv_function {
    const char *name;       /* without MPI_; NULL: no name is needed */
    uint8_t kind, op, mode; /* fc_prv_kind, fc_op, mode of the event */
};
const struct fc_prv_function *fc_prv_function(int64_t value);

/* ---- what is open (paraver_open.c) ---- */

enum fc_code fc_prv_no_memory(struct fc_prv *p);
/* `array` with room for one more than n things of `size` bytes, moved when it had none; NULL: out of memory,
 * st filled. */
void *fc_prv_room(struct fc_prv *p, void *array, size_t n, size_t *capacity, size_t size);
/* item[0] is the earliest. */
enum fc_code fc_prv_push(struct fc_prv *p, struct fc_prv_heap *h, const struct fc_prv_item *item);
struct fc_prv_item fc_prv_pop(struct fc_prv_heap *h);
/* Index of the communicator of that id, or FC_NONE when there is none or the rank is not in it. */
uint32_t fc_prv_find(struct fc_prv *p, int64_t id, uint32_t rank);
/* The call takes its place among the rooted calls of its communicator; later, each once, whether its root is
 * known (or that no member is it), and the root (FC_NONE: no member). */
enum fc_code fc_prv_count_rooted(struct fc_prv *p, uint32_t rank, struct fc_prv_call *call);
bool fc_prv_root_known(const struct fc_prv *p, const struct fc_prv_call *call);
uint32_t fc_prv_take_root(struct fc_prv *p, const struct fc_prv_call *call);

/* ---- calls (paraver_calls.c) ---- */

/* The sink must be started. Safe to end on a zeroed struct. */
enum fc_code fc_prv_start(struct fc_prv *p, struct fc_trace_sink *sink, uint32_t n_ranks, double units_per_s);
/* Communicator `id` of the trace, before any event; member[n] world ranks, copied. *again: the id is taken.
 */
enum fc_code fc_prv_comm(struct fc_prv *p, int64_t id, const uint32_t *member, uint32_t n, bool *again);
void fc_prv_state(struct fc_prv *p, uint32_t rank, int64_t begin, int64_t end, bool running);
enum fc_code fc_prv_event(struct fc_prv *p, uint32_t rank, uint32_t thread, int64_t time, int64_t type, int64_t value);
enum fc_code fc_prv_message(struct fc_prv *p, uint32_t src, uint32_t dst, const struct fc_prv_message *message);
/* Hands on all that is left. */
enum fc_code fc_prv_finish(struct fc_prv *p);
void fc_prv_free(struct fc_prv *p);
