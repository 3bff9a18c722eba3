/* pmpi_raw.h - what a rank's recorder writes and trace_merge.c reads: one file a rank, gone after the merge.
 *
 * A head, then records of one struct followed by `n_words` words of 8 bytes, in the order in which the calls
 * returned. Both ends come from one build on one kind of machine, so structs are written as they are in
 * memory. */
#pragma once

#include <stdint.h>

#define FC_RAW_MAGIC "fcraw003"
#define FC_RAW_DIRECTORY "FABRICAST_TRACE_DIR" /* environment: where the ranks write; unset: nothing is recorded */
/* Files of that directory that say: */
#define FC_RAW_AGAIN "again"     /* a second MPI program started */
#define FC_RAW_LEFT "left"       /* a rank ended by itself, without MPI_Finalize: MPI_Abort, exit */
#define FC_RAW_LOADED "loaded"   /* libfabricast-pmpi.so was loaded into a process */
#define FC_RAW_HAS_MPI "has-mpi" /* and one of these had an MPI library */
#define FC_RAW_REFUSED "refused" /* there is no recorder for its MPI, which the text names */

struct fc_raw_head {
    char magic[8];
    int32_t rank, n_ranks;
    int64_t clock_offset_ns; /* real time minus the monotonic clock of the records */
    uint64_t host;           /* hash of the host's name and boot: equal where the monotonic clock is shared */
    char library[128];       /* what MPI says it is */
    uint64_t threads;        /* not 0: several threads called MPI and may do so at the same time */
    uint64_t size;           /* bytes of the file up to the last whole record; the file may be longer */
};

/* Kinds of records: the ops of traces.h, and these. */
enum fc_raw_kind {
    FC_RAW_COMM = 100, /* a communicator: number in .comm, words as in enum fc_raw_comm */
    FC_RAW_OBJECT,     /* words hold the path of a loaded program or library */
    FC_RAW_NOTE,       /* words hold the name of something that could not be recorded */
    FC_RAW_END         /* the recording is whole */
};

struct fc_raw_event {
    uint8_t kind, mode;
    uint16_t polls;
    int32_t comm; /* the rank's own number, counted from 0 = world */
    int32_t peer; /* world rank or root; for a COMM op the parent's number */
    int32_t tag;
    int64_t bytes;
    int64_t request; /* the rank's own number, -1: none; SEND: the receive that ends with it (MPI_Sendrecv) */
    int64_t enter_ns, leave_ns, compute_ns;
    uint64_t n_words;
};

/* Communicators get the same number on every rank without any message. The members of a communicator all make it, by a
 * call over its parent whose place in the order of such calls they agree on, or by a call of its own for a tag. So its
 * members with its parent's identity and that place (or tag) give it an identity; where several have the same, their order
 * tells. Only the first member writes the list of members, all write the identity, as a hash. */
enum fc_raw_comm {
    FC_COMM_HASH_A,
    FC_COMM_HASH_B,
    FC_COMM_SIZE,
    FC_COMM_OUTSIDE, /* 1: has members outside of MPI_COMM_WORLD, so the trace cannot hold it */
    FC_COMM_MEMBERS
};

/* A wait's words: five for each request that it completes (also behind OTHER: a request that was freed). */
enum fc_raw_completion { FC_DONE_REQUEST, FC_DONE_HOW, FC_DONE_SOURCE, FC_DONE_TAG, FC_DONE_BYTES, FC_DONE_WORDS };
enum fc_raw_how {
    FC_HOW_PLAIN,     /* nothing more to know */
    FC_HOW_RECEIVED,  /* source, tag, bytes as they came */
    FC_HOW_CANCELLED, /* the call had no effect */
    FC_HOW_FREED      /* given away: completes unseen */
};
