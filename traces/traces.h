/* traces.h - recorded MPI programs: our own format, the recorder, and a trace turned into demand.
 *
 * A trace holds every MPI call of every rank with what it moved: communicators with members, datatypes as bytes,
 * wildcards resolved to what completed, failed polls folded into counters, and for each call the wall clock and the
 * thread's CPU time. Two forms of one format (docs/trace-format.md): readable text, and the same records packed and
 * compressed with zstd. Places in errors are lines of the text form, also for a packed file. */
#pragma once

#include "core/core.h"
#include "models/models.h"

/* What a call does, not its name: Send, Ssend, Bsend are FC_OP_SEND, told apart by fc_op_mode; Sendrecv is recorded
 * as IRECV + SEND + WAIT; persistent requests as ISEND/IRECV at each Start. */
enum fc_op {
    FC_OP_INIT,
    FC_OP_FINALIZE,
    FC_OP_SEND,  /* peer, tag, bytes */
    FC_OP_RECV,  /* peer, tag, bytes received (resolved, never a wildcard) */
    FC_OP_ISEND, /* peer, tag, bytes, request */
    FC_OP_IRECV, /* peer, tag, bytes, request: all resolved at completion */
    FC_OP_WAIT,  /* completes the requests of its list (Wait, Waitall, Waitany, Test that succeeded...) */
    FC_OP_POLL,  /* `polls` unsuccessful tests or probes, folded */
    FC_OP_BARRIER,
    FC_OP_BCAST,          /* root; bytes = message */
    FC_OP_GATHER,         /* root; bytes = this rank's contribution (gatherv too) */
    FC_OP_SCATTER,        /* root; bytes = received by this rank */
    FC_OP_ALLGATHER,      /* bytes = this rank's contribution (allgatherv too) */
    FC_OP_ALLTOALL,       /* bytes = to each rank */
    FC_OP_ALLTOALLV,      /* bytes = total sent; list = bytes to each member */
    FC_OP_REDUCE,         /* root; bytes */
    FC_OP_ALLREDUCE,      /* bytes */
    FC_OP_REDUCE_SCATTER, /* bytes = this rank's result */
    FC_OP_SCAN,           /* bytes; exscan too */
    FC_OP_COMM,           /* creates communicator `comm` (-1: this rank is not in it), collective over `peer`, the
                           * parent or, where only its members take part (create_group), itself */
    FC_OP_RMA,            /* one-sided: peer, bytes moved as `mode` tells (counted, not timed exactly) */
    FC_OP_OTHER,          /* any other wrapped call that only takes time */
    FC_N_OPS
};
extern const char *const fc_op_names[FC_N_OPS]; /* "init", "finalize", "send", ... as in the text form */

/* Peer of a receive from any source, tag of one with any tag: only where a foreign format does not tell what came. Our
 * recorder resolves both. */
enum { FC_ANY = -1 };

struct fc_event {
    uint8_t op;     /* enum fc_op */
    uint8_t mode;   /* send: 0 standard 1 synchronous 2 buffered 3 ready; collective: 1 nonblocking (has a request);
                      * RMA: 0 put (to the peer) 1 get (from it) 2 update (both ways) */
    uint16_t polls; /* failed polls before this event, folded; more than fit go ahead as POLL events. Graph: the NIC */
    int32_t comm;   /* communicator, index in trace->comm_* */
    int32_t
        peer; /* WORLD rank of the peer or root; -1: none (MPI_PROC_NULL is recorded as OTHER), of a receive FC_ANY */
    int32_t tag; /* of a receive also FC_ANY */
    int64_t bytes;
    int32_t request; /* number of the request this call makes, per rank from 0; -1: none. Graph: the processor */
    uint32_t n_list; /* WAIT: requests completed; ALLTOALLV: members; graph: what it depends on */
    uint64_t list;   /* index of the list in trace->lists */
    double enter_s, leave_s; /* wall clock since the start of the trace */
    double compute_s;        /* thread CPU time since the previous call left */
};

/* Most traces are programs: a rank makes its calls one after the other. A `graph` (GOAL, Chakra) says instead, event by
 * event, what must come before: entry d >= 0 of its list is an earlier event of the rank (from 0) that must have
 * finished, entry ~d one that must have started; an empty list lets it start at time 0. Its events are SEND, RECV, OTHER
 * (computation for compute_s) and collectives but ALLTOALLV; they make no requests, and occupy processor `request` and NIC
 * `polls` of their rank. Clocks (enter_s, leave_s) are 0. */
struct fc_trace {
    struct fc_arena arena;
    bool graph;
    const char *file;
    const char *program;        /* command line as recorded */
    const char *recorded;       /* MPI library, date, how (free text) */
    bool operations;            /* the format counts operations where others have time */
    double assumed_flops_per_s; /* they were turned into time at this speed, which nobody gave; 0: no such */
    uint32_t n_ranks;
    uint32_t n_comms;        /* comm 0 is the world */
    uint64_t *comm_first;    /* [n_comms + 1] */
    uint32_t *comm_member;   /* [comm_first[n_comms]] world ranks in communicator order */
    uint64_t *first_event;   /* [n_ranks + 1] */
    struct fc_event *events; /* [first_event[n_ranks]] rank-major, in program order */
    uint64_t n_lists;
    int64_t *lists;
    uint32_t n_unwrapped; /* MPI functions the program can call that the recorder does not wrap */
    const char **unwrapped;
    long *first_line;       /* [n_ranks] line of each rank's first event in the text form; event k is k lines below;
                            * NULL: read from a foreign format */
    const char **rank_file; /* [n_ranks] file of each rank, foreign formats of many files; NULL: all in `file` */
};

/* Reads a trace in either form (told by the first bytes), or in any foreign format of trace_formats.h, and checks it: ops,
 * peers, communicators, requests, lists. FC_INPUT with file:line (text form's line; for a file cut in the middle the last
 * good record). O(size). */
enum fc_code fc_trace_read(const char *path, struct fc_trace *trace, struct fc_status *st);
/* Writes it packed (version 2), or as text when `text`. Whole or not at all. */
enum fc_code fc_trace_write(const struct fc_trace *trace, const char *path, bool text, struct fc_status *st);
void fc_trace_free(struct fc_trace *trace);

/* The place of an event (its index in trace->events), for messages: line of the text form. */
struct fc_place fc_event_place(const struct fc_trace *trace, uint32_t rank, uint64_t event);

/* Totals, for `trace info`. */
struct fc_trace_summary {
    uint64_t n_events, n_messages, n_collectives, n_polls;
    double p2p_bytes, collective_bytes; /* collective: bytes as recorded, summed over ranks */
    uint64_t n_pairs;                   /* ordered pairs of ranks with point-to-point traffic */
    double span_s, compute_s, mpi_s;    /* longest wall time; CPU time outside and wall time inside MPI, mean a rank */
    uint64_t op_count[FC_N_OPS];
    double op_bytes[FC_N_OPS];
};

/* ---- phases (trace_phases.c): what lies between two synchronisations of all ranks ---- */

/* A phase ends with a blocking operation over all ranks that no rank leaves before every rank has entered it, because
 * it needs something of each: barrier; allreduce, allgather, alltoall and reduce_scatter of at least a byte a rank;
 * alltoallv with at least a byte from each to each; making a communicator. So whatever a rank does up to its call in
 * phase k happens before whatever any rank does in phase k + 1. The operation belongs to the phase that it ends:
 * nothing keeps a rank from starting it while others still send. A trace without one is one phase. */
struct fc_phase_cut {
    struct fc_arena arena;
    const struct fc_trace *trace;
    uint64_t number;       /* of the phase at hand, from 0 */
    uint64_t *begin, *end; /* [n_ranks] events begin[r] .. end[r] - 1 of rank r are the phase at hand */
    uint64_t ending;       /* rank 0's event that ends it (Finalize, where it is every rank's last call); UINT64_MAX:
                             * the trace ends without one */
    bool last;             /* nothing comes after the phase at hand */
    bool started;          /* private from here */
    uint32_t *whole;       /* [n_comms] number among the communicators of all ranks; FC_NONE: of some ranks */
    uint32_t *made;        /* [communicators of all ranks][n_ranks] collective calls so far */
};
/* Stands before the first phase. Memory O(ranks + members of communicators). */
enum fc_code fc_phases_start(const struct fc_trace *trace, struct fc_phase_cut *cut, struct fc_status *st);
/* Steps to the next phase; to be called until `last`: every trace has at least one. FC_INPUT with file:line when the
 * ranks do not call the operations in the same order. O(events) for all phases together. */
enum fc_code fc_phases_next(struct fc_phase_cut *cut, struct fc_status *st);
void fc_phases_free(struct fc_phase_cut *cut);

/* Makes a trace of `iterations` of a pattern's phase: Irecv all, Isend all, Waitall, `computation_s` before each. */
enum fc_code fc_trace_generate(const struct fc_demand *demand, int iterations, double computation_s,
                               struct fc_trace *trace, struct fc_status *st);

/* Makes a trace of `calls` calls of one collective operation of all n ranks, one after the other (trace_calls.c). `bytes` as
 * in enum fc_op, at least one; the root, where there is one, is rank 0. The caller frees, not after a failure. */
enum fc_code fc_trace_of_calls(enum fc_op op, uint32_t n, double bytes, uint32_t calls, struct fc_trace *trace,
                               struct fc_status *st);

/* Records a program: runs `argv` (an mpirun command line) with the interposer preloaded into every rank, merges the
 * ranks' files into `path`. FC_NO when the program failed (its exit status named) or recorded nothing. With `partial`
 * what all ranks of a failed program did up to one moment is kept in `path`; the code is FC_NO all the same, and
 * report->kept tells. SIGTERM is handed on to the program. */
struct fc_capture_report {
    int exit_status;
    bool kept;
    uint32_t n_ranks;
    uint64_t n_events;
    uint32_t n_unwrapped; /* MPI functions the program refers to that are not wrapped */
    const char **unwrapped;
};
enum fc_code fc_trace_capture(char *const *argv, const char *path, bool partial, struct fc_arena *arena,
                              struct fc_capture_report *report, struct fc_status *st);
