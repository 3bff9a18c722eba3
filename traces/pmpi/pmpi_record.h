/* pmpi_record.h - the recorder inside a rank: what the wrappers of C and Fortran calls share.
 *
 * A wrapper is: fc_pmpi_enter(&call); call.rc = the real call; one fc_log_...(&call, what it did). Logging
 * takes C handles; the Fortran wrappers convert. A call inside a call (MPI libraries that call themselves
 * through the public names) is not recorded. The recorder sends no message, so it cannot change the
 * program's. One lock guards its state: a program may call MPI from any thread. */
#pragma once

#include "traces/pmpi/pmpi_raw.h"
#include "traces/traces.h"

#include <mpi.h>
#pragma GCC visibility push(hidden)

struct fc_pmpi_call {
    bool on;
    int rc; /* what MPI returned */
    int64_t enter_ns, leave_ns;
};

/* ---- pmpi_record.c: clocks, the rank's file ---- */
void fc_pmpi_enter(struct fc_pmpi_call *call);
/* Notes the time; false when nothing is to be recorded, else the lock is held until fc_pmpi_done. */
bool fc_pmpi_left(struct fc_pmpi_call *call);
void fc_pmpi_done(void);
/* Between fc_pmpi_enter and the real call: true with the lock held, until fc_pmpi_unlock, when what handles
 * stand for must be looked up now. MPI may give a handle that this call frees to another thread's call, and
 * that one may be logged first. fc_pmpi_shared: only where several threads may call MPI at once. */
bool fc_pmpi_ahead(const struct fc_pmpi_call *call);
bool fc_pmpi_shared(const struct fc_pmpi_call *call);
void fc_pmpi_unlock(void);
/* A failed poll: folded into the next event of this thread. */
void fc_pmpi_fold_poll(void);
struct fc_raw_event fc_pmpi_event(const struct fc_pmpi_call *call, int kind);
void fc_pmpi_write(struct fc_raw_event *event, const int64_t *words, uint64_t n_words);
/* An event that only takes its time. */
void fc_pmpi_write_plain(const struct fc_pmpi_call *call, int kind);
/* Names something that cannot be recorded fully; `what` is a constant, reported once. */
void fc_pmpi_note(const char *what);
void fc_pmpi_start(struct fc_pmpi_call *call);  /* MPI_Init returned */
void fc_pmpi_finish(struct fc_pmpi_call *call); /* MPI_Finalize returned */
void fc_pmpi_abort(void);
void fc_log_other(struct fc_pmpi_call *call);

/* ---- pmpi_comm.c: handles, communicators, windows ---- */
struct fc_handles { /* pointer to pointer, open addressing */
    void **key, **value;
    size_t capacity, used;
};
#define FC_KEY(handle) ((void *)(intptr_t)(handle)) /* Open MPI's handles are addresses, MPICH's integers */
void *fc_handles_get(const struct fc_handles *table, const void *key);
void fc_handles_set(struct fc_handles *table, void *key, void *value); /* value NULL removes */

struct fc_comm {
    int number;                /* as in the rank's file */
    uint64_t identity, n_made; /* the same on all members; communicators made by calls over all of it */
    int rank;                  /* mine in it */
    int n, n_remote;
    int *world;   /* world ranks that a peer's number stands for (between two groups: the other's); -1 outside */
    bool between; /* an intercommunicator */
    int users;    /* requests under way; freed when the last is gone */
    bool freed;
};
struct fc_comm *fc_comm_of(MPI_Comm handle);
void fc_comm_release(struct fc_comm *comm);
int fc_world_of(const struct fc_comm *comm, int peer);
void fc_comm_start(void);
/* Made by a call over the parent; or over the new one's members only, for a tag (parent MPI_COMM_NULL: of two). */
void fc_log_comm(struct fc_pmpi_call *call, MPI_Comm parent, MPI_Comm made);
void fc_log_comm_of_group(struct fc_pmpi_call *call, MPI_Comm parent, int tag, MPI_Comm made);
void fc_log_spawn(struct fc_pmpi_call *call);
void fc_log_comm_idup(struct fc_pmpi_call *call, MPI_Comm parent, MPI_Comm made, MPI_Request request);
/* What a handle stands for, taken out of its table ahead of the call that frees it; NULL: unknown. The log of
 * that call releases it. */
struct fc_comm *fc_comm_take(const struct fc_pmpi_call *call, MPI_Comm handle);
void fc_log_comm_free(struct fc_pmpi_call *call, struct fc_comm *was);
enum { FC_PUT, FC_GET, FC_UPDATE };
void fc_log_rma(struct fc_pmpi_call *call, int mode, int count, MPI_Datatype type, int target, MPI_Win win);
struct fc_window *fc_win_take(const struct fc_pmpi_call *call, MPI_Win handle);
void fc_log_win_free(struct fc_pmpi_call *call, struct fc_window *was);

static inline int64_t fc_bytes_of(int64_t count, MPI_Datatype type)
{
    int size = 0;
    if (count != 0) PMPI_Type_size(type, &size);
    return count * size;
}

/* ---- pmpi_message.c: point to point, requests ---- */
void fc_request_new(MPI_Request handle, int64_t *number); /* of anything but a receive; *number: its number */
void fc_log_send(struct fc_pmpi_call *call, int mode, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
void fc_log_isend(struct fc_pmpi_call *call, int mode, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                  MPI_Request request);
void fc_log_recv(struct fc_pmpi_call *call, MPI_Comm comm, const MPI_Status *status);
void fc_log_irecv(struct fc_pmpi_call *call, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request request);
void fc_log_sendrecv(struct fc_pmpi_call *call, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                     const MPI_Status *status);
/* mode -1: a receive */
void fc_log_persistent(struct fc_pmpi_call *call, int mode, int count, MPI_Datatype type, int peer, int tag,
                       MPI_Comm comm, MPI_Request request);
void fc_log_start(struct fc_pmpi_call *call, int n, const MPI_Request *requests);
void fc_log_cancel(struct fc_pmpi_call *call, MPI_Request request);
struct fc_pmpi_request *fc_request_take(const struct fc_pmpi_call *call, MPI_Request handle);
void fc_log_request_free(struct fc_pmpi_call *call, struct fc_pmpi_request *was);
void fc_log_probe(struct fc_pmpi_call *call, bool found);
void fc_log_mprobe(struct fc_pmpi_call *call, bool found, MPI_Comm comm, MPI_Message message);
struct fc_comm *fc_message_take(const struct fc_pmpi_call *call, MPI_Message handle);
void fc_log_mrecv(struct fc_pmpi_call *call, struct fc_comm *comm, const MPI_Status *status);
void fc_log_imrecv(struct fc_pmpi_call *call, struct fc_comm *comm, int count, MPI_Datatype type, MPI_Request request);

/* What the n handles of a wait or test stand for, looked up ahead of the call and kept from other threads until
 * it is logged; claimed is [n], allocated here, NULL where threads do not share MPI. */
void fc_request_claim(const struct fc_pmpi_call *call, int n, const MPI_Request *handles,
                      struct fc_pmpi_request ***claimed);

/* What a wait or test completes: n_done of the n `was` requests (the handles before the call), at index[] -
 * base, or all in order when index is NULL. status_at gives the status of the k-th completed one. n_done 0 of
 * a test: a poll. */
struct fc_wait {
    const MPI_Request *was;
    struct fc_pmpi_request **claimed; /* [n] or NULL; freed by fc_log_wait */
    int n;
    int n_done;
    const int *index;
    int base;
    bool is_test;
    const void *statuses;
    void (*status_at)(const void *statuses, int k, MPI_Status *status);
};
void fc_log_wait(struct fc_pmpi_call *call, const struct fc_wait *wait);

/* ---- pmpi_collective.c ---- */
/* request NULL: a blocking call */
void fc_log_collective(struct fc_pmpi_call *call, int op, MPI_Comm comm, int root, int64_t bytes,
                       const MPI_Request *request);
int64_t fc_own_bytes(MPI_Comm comm, const int *counts, MPI_Datatype type);
/* Bytes to each member: counts (types NULL: all `type`) or the same count to each neighbour of a topology. */
void fc_log_sizes(struct fc_pmpi_call *call, MPI_Comm comm, const int *counts, MPI_Datatype type,
                  const MPI_Datatype *types, const MPI_Request *request);
void fc_log_neighbors(struct fc_pmpi_call *call, MPI_Comm comm, int count, const int *counts, MPI_Datatype type,
                      const MPI_Datatype *types, const MPI_Request *request);
bool fc_is_root(MPI_Comm comm, int root);

#pragma GCC visibility pop
