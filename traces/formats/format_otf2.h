/* format_otf2.h - private to the OTF2 reader: what the library's records (format_otf2.c) become
 * (format_otf2_call.c). */
#pragma once

#include "traces/trace_hold.h"

struct fc_otf2_comm {
    uint32_t ref;     /* in the archive */
    bool self, known; /* of each rank alone; its members are known */
    int32_t number;   /* in the trace; -1: not defined yet */
    uint32_t n;
    const uint32_t *member; /* [n] world ranks */
};
/* What the calls of one rank need; kept from rank to rank. */
struct fc_otf2_rank {
    struct fc_trace_sink *sink;
    struct fc_status *st;
    const char *path;
    uint32_t rank;
    struct fc_otf2_comm *comms; /* [n_comms] by ref, ascending */
    size_t n_comms;
    struct fc_hold hold;
    int32_t self;                    /* number of the rank's own communicator, -1: not defined yet */
    uint64_t n_records;              /* seen so far */
    const char *call;                /* MPI function that the rank is in, NULL: none */
    uint32_t depth;                  /* MPI functions entered inside it */
    double enter_s, leave_s, free_s; /* of the call; when the last one left or measurement was switched on */
    bool off;                        /* measurement is */
    struct fc_otf2_item *items;      /* [n_items] messages and collectives of the call */
    size_t n_items, item_capacity;
    int64_t *done, *list; /* numbers completed by the call; room for sizes */
    size_t n_done, done_capacity, list_capacity;
    bool completes; /* the call completed something */
    int32_t made;   /* communicator that the call made, -1: none */
};
/* A collective as recorded. */
struct fc_otf2_collective {
    int op; /* OTF2_CollectiveOp */
    uint32_t comm, root;
    uint64_t sent, received;
};
enum { FC_OTF2_SEND, FC_OTF2_RECV, FC_OTF2_ISEND, FC_OTF2_IRECV };

void fc_otf2_start(struct fc_otf2_rank *r, uint32_t rank);
enum fc_code fc_otf2_end(struct fc_otf2_rank *r);
void fc_otf2_free(struct fc_otf2_rank *r);
/* Regions that are MPI functions; others do not come here. */
enum fc_code fc_otf2_enter(struct fc_otf2_rank *r, const char *name, double time_s);
enum fc_code fc_otf2_leave(struct fc_otf2_rank *r, double time_s);
/* Records; time_s counts where they stand outside a call. `request` of sends and receives without one is
 * ignored. */
enum fc_code fc_otf2_message(struct fc_otf2_rank *r, int kind, uint32_t peer, uint32_t comm, uint32_t tag,
                             uint64_t bytes, uint64_t request, double time_s);
enum fc_code fc_otf2_request(struct fc_otf2_rank *r, bool collective, uint64_t request, double time_s);
enum fc_code fc_otf2_send_done(struct fc_otf2_rank *r, uint64_t request, double time_s);
enum fc_code fc_otf2_collective(struct fc_otf2_rank *r, const struct fc_otf2_collective *c, double time_s);
enum fc_code fc_otf2_collective_done(struct fc_otf2_rank *r, const struct fc_otf2_collective *c, uint64_t request,
                                     double time_s);
enum fc_code fc_otf2_cancelled(struct fc_otf2_rank *r, uint64_t request);
/* A test that failed; inside a call its name tells it. */
void fc_otf2_tested(struct fc_otf2_rank *r);
/* mode as in FC_OP_RMA. */
enum fc_code fc_otf2_move(struct fc_otf2_rank *r, int mode, uint32_t comm, uint32_t peer, uint64_t bytes,
                          double time_s);
void fc_otf2_comm_made(struct fc_otf2_rank *r, uint32_t comm);
enum fc_code fc_otf2_switch(struct fc_otf2_rank *r, bool on, double time_s);
/* FC_INPUT at the rank's record at hand. */
enum fc_code fc_otf2_fail(const struct fc_otf2_rank *r, const char *format, ...) FC_PRINTF(2, 3);

/* ---- shared by format_otf2_call.c and format_otf2_collective.c ---- */

/* What a call did: an event when it is left. */
struct fc_otf2_item {
    struct fc_event event;
    uint64_t key;
    bool request; /* makes one, key */
    uint32_t n;   /* sizes of an alltoallv are its bytes spread over n */
};
/* Adds one to the call at hand; NULL: out of memory. */
struct fc_otf2_item *fc_otf2_add_item(struct fc_otf2_rank *r, int op);
/* A record outside a call is a call of its own that takes no time: its events are made now. */
enum fc_code fc_otf2_settle(struct fc_otf2_rank *r, double time_s);
/* The open request of that key, or NULL (also with r->st filled). */
struct fc_hold_request *fc_otf2_find_request(struct fc_otf2_rank *r, uint64_t key);
/* It is complete, in this call; it brought nothing; it is unknown (noted). */
enum fc_code fc_otf2_done(struct fc_otf2_rank *r, struct fc_hold_request *request);
void fc_otf2_cancel(struct fc_otf2_rank *r, struct fc_hold_request *request);
enum fc_code fc_otf2_unknown_request(struct fc_otf2_rank *r);
/* A communicator and its number in the trace; *found NULL: its members are unknown (noted). FC_INPUT: not
 * defined. */
enum fc_code fc_otf2_comm_of(struct fc_otf2_rank *r, uint32_t ref, const struct fc_otf2_comm **found, int32_t *number);
/* World rank of a communicator's rank; FC_INPUT when it has none. */
enum fc_code fc_otf2_world_of(const struct fc_otf2_rank *r, const struct fc_otf2_comm *c, uint32_t rank,
                              int32_t *world);
/* `name` without "MPI_" is a word of a list that ends with NULL, or begins with one that ends with '*'. */
bool fc_otf2_is_one_of(const char *name, const char *const *words);
/* Room for n entries; false: out of memory, r->st filled. */
bool fc_otf2_make_room(struct fc_otf2_rank *r, void **array, size_t n, size_t *capacity, size_t size);
