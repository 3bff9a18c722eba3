/* format_dumpi.h - private to the DUMPI reader: files and records (format_dumpi_file.c), their arguments
 * (format_dumpi_layout.c), who is in which communicator (format_dumpi_comm.c), records as events
 * (format_dumpi_event.c, format_dumpi_message.c), and what ties them together (format_dumpi.c). */
#pragma once

#include "traces/trace_hold.h"

#include <stdio.h>

enum {
    FC_DUMPI_FUNCTIONS = 294,
    FC_DUMPI_COUNTED = 291, /* functions in the footer's counters */
    FC_DUMPI_END = 293,
    FC_DUMPI_ARGUMENTS = 12,
    FC_DUMPI_NULL = 1, /* communicator or request */
    FC_DUMPI_WORLD = 2,
    FC_DUMPI_SELF = 3,
    FC_DUMPI_EMPTY = 2,      /* the group */
    FC_DUMPI_FIRST_TYPE = 28 /* made by the program from here on */
};
/* Function numbers that are looked at; the others go by their class. */
enum fc_dumpi_number {
    DUMPI_SEND = 0,
    DUMPI_RECV = 1,
    DUMPI_BSEND = 3,
    DUMPI_SSEND = 4,
    DUMPI_RSEND = 5,
    DUMPI_ISEND = 8,
    DUMPI_IBSEND = 9,
    DUMPI_ISSEND = 10,
    DUMPI_IRSEND = 11,
    DUMPI_IRECV = 12,
    DUMPI_WAIT = 13,
    DUMPI_TEST = 14,
    DUMPI_REQUEST_FREE = 15,
    DUMPI_WAITANY = 16,
    DUMPI_TESTANY = 17,
    DUMPI_WAITALL = 18,
    DUMPI_TESTALL = 19,
    DUMPI_WAITSOME = 20,
    DUMPI_TESTSOME = 21,
    DUMPI_IPROBE = 22,
    DUMPI_CANCEL = 24,
    DUMPI_SEND_INIT = 26,
    DUMPI_BSEND_INIT = 27,
    DUMPI_SSEND_INIT = 28,
    DUMPI_RSEND_INIT = 29,
    DUMPI_RECV_INIT = 30,
    DUMPI_START = 31,
    DUMPI_STARTALL = 32,
    DUMPI_SENDRECV = 33,
    DUMPI_SENDRECV_REPLACE = 34,
    DUMPI_TYPE_CONTIGUOUS = 35,
    DUMPI_TYPE_VECTOR = 36,
    DUMPI_TYPE_HVECTOR = 37,
    DUMPI_TYPE_INDEXED = 38,
    DUMPI_TYPE_HINDEXED = 39,
    DUMPI_TYPE_STRUCT = 40,
    DUMPI_BARRIER = 52,
    DUMPI_BCAST = 53,
    DUMPI_GATHER = 54,
    DUMPI_GATHERV = 55,
    DUMPI_SCATTER = 56,
    DUMPI_SCATTERV = 57,
    DUMPI_ALLGATHER = 58,
    DUMPI_ALLGATHERV = 59,
    DUMPI_ALLTOALL = 60,
    DUMPI_ALLTOALLV = 61,
    DUMPI_REDUCE = 62,
    DUMPI_ALLREDUCE = 65,
    DUMPI_REDUCE_SCATTER = 66,
    DUMPI_SCAN = 67,
    DUMPI_COMM_GROUP = 72,
    DUMPI_GROUP_UNION = 73,
    DUMPI_GROUP_INTERSECTION = 74,
    DUMPI_GROUP_DIFFERENCE = 75,
    DUMPI_GROUP_INCL = 76,
    DUMPI_GROUP_EXCL = 77,
    DUMPI_GROUP_RANGE_INCL = 78,
    DUMPI_GROUP_RANGE_EXCL = 79,
    DUMPI_COMM_SIZE = 81,
    DUMPI_COMM_RANK = 82,
    DUMPI_COMM_DUP = 84,
    DUMPI_COMM_CREATE = 85,
    DUMPI_COMM_SPLIT = 86,
    DUMPI_COMM_FREE = 87,
    DUMPI_INTERCOMM_CREATE = 91,
    DUMPI_INTERCOMM_MERGE = 92,
    DUMPI_CART_CREATE = 99,
    DUMPI_GRAPH_CREATE = 101,
    DUMPI_CART_SUB = 111,
    DUMPI_INIT = 124,
    DUMPI_FINALIZE = 125,
    DUMPI_COMM_ACCEPT = 130,
    DUMPI_COMM_CONNECT = 131,
    DUMPI_COMM_GET_PARENT = 133,
    DUMPI_COMM_JOIN = 134,
    DUMPI_COMM_SPAWN = 135,
    DUMPI_COMM_SPAWN_MULTIPLE = 136,
    DUMPI_ACCUMULATE = 141,
    DUMPI_GET = 142,
    DUMPI_PUT = 143,
    DUMPI_WIN_CREATE = 145,
    DUMPI_ALLTOALLW = 155,
    DUMPI_EXSCAN = 156,
    DUMPI_GREQUEST_START = 170,
    DUMPI_INIT_THREAD = 171,
    DUMPI_TYPE_DUP = 178,
    DUMPI_REQUEST_GET_STATUS = 216,
    DUMPI_TYPE_DARRAY = 217,
    DUMPI_TYPE_CREATE_HINDEXED = 218,
    DUMPI_TYPE_CREATE_HVECTOR = 219,
    DUMPI_TYPE_INDEXED_BLOCK = 220,
    DUMPI_TYPE_RESIZED = 221,
    DUMPI_TYPE_CREATE_STRUCT = 222,
    DUMPI_TYPE_SUBARRAY = 223
};

enum fc_dumpi_class {
    FC_DUMPI_LOCAL, /* no communication: its time is computation */
    FC_DUMPI_TIME,  /* an event that only takes time */
    FC_DUMPI_LOST,  /* so too, but it communicates: noted */
    FC_DUMPI_CALL   /* looked at */
};
struct fc_dumpi_function {
    const char *name, *layout;
    enum fc_dumpi_class class;
};
extern const struct fc_dumpi_function fc_dumpi_functions[FC_DUMPI_FUNCTIONS];

/* One argument: a number, or a list of n entries of `width` bytes that starts `at` bytes behind the record's.
 */
struct fc_dumpi_argument {
    int64_t value;
    uint32_t n, width;
    size_t at;
};
struct fc_dumpi_record {
    uint16_t function, thread;
    bool has_cpu, has_wall;
    int64_t cpu_enter_ns, cpu_leave_ns, wall_enter_ns, wall_leave_ns;
    struct fc_dumpi_argument arg[FC_DUMPI_ARGUMENTS];
};

/* One rank's file, read from front to back. */
struct fc_dumpi_file {
    FILE *stream;
    const char *path;
    struct fc_status *st;
    uint32_t rank;
    uint8_t version[3];
    int64_t started_s; /* seconds since 1970 */
    char host[256];
    uint64_t size, body, footer, sizes, header; /* offsets; 0: absent */
    uint64_t body_end;
    int64_t cpu_bias_s, wall_bias_s;
    uint32_t called[FC_DUMPI_COUNTED], ignored[FC_DUMPI_COUNTED];
    int32_t *type_size; /* [n_types] of the file's own table; owned */
    uint32_t n_types;
    uint8_t *buffer; /* what is read ahead: buffer[at] .. buffer[n - 1] */
    size_t at, n, capacity, record_at;
    uint64_t buffer_offset; /* of buffer[0] in the file */
    uint64_t n_records;     /* read so far */
};

/* Opens a rank's file: index, header, counters, table of sizes; stands before the first record. FC_INPUT with
 * the file. */
enum fc_code fc_dumpi_open(struct fc_dumpi_file *file, const char *path, uint32_t rank, struct fc_status *st);
/* The next record; *there false at the end. Valid until the next. FC_INPUT "file: rank R, record K: ...". */
enum fc_code fc_dumpi_next(struct fc_dumpi_file *file, struct fc_dumpi_record *record, bool *there);
void fc_dumpi_close(struct fc_dumpi_file *file);
/* FC_INPUT at the record read last. */
enum fc_code fc_dumpi_fail(const struct fc_dumpi_file *file, const char *format, ...) FC_PRINTF(2, 3);
/* Entry k of a list of numbers. */
int32_t fc_dumpi_entry(const struct fc_dumpi_file *file, const struct fc_dumpi_argument *list, uint32_t k);

/* The texts of an argv, blanks between them. */
void fc_dumpi_text(const struct fc_dumpi_file *file, const struct fc_dumpi_argument *list, char *out, size_t size);

/* Entry k of a list of statuses; false when there is none. */
struct fc_dumpi_status {
    int32_t bytes, source, tag;
    bool cancelled;
};
bool fc_dumpi_status(const struct fc_dumpi_file *file, const struct fc_dumpi_argument *list, uint32_t k,
                     struct fc_dumpi_status *status);

/* ---- the run ---- */

struct fc_dumpi_comm {
    int32_t number; /* in the trace */
    uint32_t n, n_dims;
    const uint32_t *member; /* [n] world ranks */
    const int32_t *dims;    /* [n_dims] of a cartesian one */
};
enum { FC_DUMPI_NOT_IN = -1, FC_DUMPI_UNKNOWN = -2 };

struct fc_dumpi_run {
    struct fc_trace_sink *sink;
    struct fc_status *st;
    struct fc_arena arena;
    uint32_t n_ranks, n_missing;
    const char **path;          /* [n_ranks] NULL: that rank has no file */
    int64_t start_ns;           /* earliest wall clock of any record */
    bool makes_comms;           /* some rank calls a function that makes a communicator */
    struct fc_dumpi_comm *comm; /* [n_comms] 0 is the world */
    uint32_t n_comms, comm_capacity;
    struct fc_dumpi_made *made; /* [n_ranks] */
};
/* What the calls of a rank that make communicators made, in order: index in run->comm, FC_DUMPI_NOT_IN or
 * FC_DUMPI_UNKNOWN. */
struct fc_dumpi_made {
    int32_t *comm; /* [n] owned */
    uint32_t n, capacity;
};
/* The argument with the new communicator of such a call, or -1; *parent, the argument with the one it is made
 * from, may be -1. */
int fc_dumpi_makes_comm(int function, int *parent);
/* Adds a communicator to the run and the sink. */
enum fc_code fc_dumpi_add_comm(struct fc_dumpi_run *run, const uint32_t *member, uint32_t n, const int32_t *dims,
                               uint32_t n_dims, int32_t *comm);
/* Finds the members of all communicators from the calls of all ranks: run->made. */
enum fc_code fc_dumpi_find_comms(struct fc_dumpi_run *run);

/* One rank's records on their way to events. */
struct fc_dumpi_reader {
    struct fc_dumpi_run *run;
    struct fc_dumpi_file file;
    struct fc_dumpi_record record;
    struct fc_hold hold;
    int64_t *type_size; /* [n_types] bytes; -1: unknown */
    uint32_t n_types;
    int32_t *comm, *window; /* [65536] by handle: index in run->comm, FC_DUMPI_UNKNOWN */
    uint32_t n_made;        /* communicators made so far */
    int64_t *list;          /* room for an event's list */
    size_t list_capacity;
    double enter_s, leave_s, compute_s; /* of the call at hand */
    int64_t last_cpu_ns, last_wall_ns;  /* when the last event or failed poll left */
    int64_t compute_ns, before_ns;      /* before the call at hand; the part of it before failed polls */
    double last_leave_s;
    bool started;
    bool behind_init; /* the last event was MPI_Init */
};
/* The event of an operation with the times of the call at hand. */
struct fc_event fc_dumpi_event(const struct fc_dumpi_reader *r, int op);
/* Only its time is kept; `why` (NULL: no note) follows the function's name. */
enum fc_code fc_dumpi_other(struct fc_dumpi_reader *r, const char *why);
/* Bytes of `count` elements of a datatype. */
enum fc_code fc_dumpi_bytes(const struct fc_dumpi_reader *r, int64_t count, int64_t type, int64_t *bytes);
/* The communicator of a handle; *comm NULL: its members are unknown, and the call was kept as time only. */
enum fc_code fc_dumpi_comm(struct fc_dumpi_reader *r, int64_t handle, const struct fc_dumpi_comm **comm);
/* The communicator without keeping anything; NULL: unknown. */
const struct fc_dumpi_comm *fc_dumpi_known_comm(const struct fc_dumpi_reader *r, int64_t handle);
/* World rank of a communicator's rank; FC_INPUT when it has none. */
enum fc_code fc_dumpi_world(const struct fc_dumpi_reader *r, const struct fc_dumpi_comm *comm, int64_t rank,
                            int32_t *world);
/* Room for n entries of a list in r->list. */
enum fc_code fc_dumpi_room(struct fc_dumpi_reader *r, size_t n);
/* Point-to-point calls, requests, and file operations that make one (format_dumpi_message.c). */
enum fc_code fc_dumpi_message(struct fc_dumpi_reader *r);
/* All records of the rank whose file is open. */
enum fc_code fc_dumpi_read_rank(struct fc_dumpi_reader *r);
