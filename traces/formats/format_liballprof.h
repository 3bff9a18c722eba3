/* format_liballprof.h - private to the reader of liballprof's text: one call a line, and what is known before
 * the calls are read. */
#pragma once

#include "traces/formats/format_text.h"

enum { FC_ALLPROF_FIELDS = 24 };

struct fc_allprof_field {
    const char *text; /* borrowed from the line */
    size_t length;
};
/* One call: its name, its arguments in C order, its times. */
struct fc_allprof_call {
    struct fc_allprof_field name, field[FC_ALLPROF_FIELDS];
    int n_fields;
    int64_t enter_ns, leave_ns; /* since the epoch; equal where the line has one time only (Init, Finalize) */
    struct fc_place where;
};

/* Where the request, the communicator and what is waited for stand among a call's arguments. */
enum fc_allprof_shape {
    FC_ALLPROF_MESSAGE,  /* buffer, count, type, peer, tag, communicator, then status or request */
    FC_ALLPROF_EXCHANGE, /* Sendrecv */
    FC_ALLPROF_REPLACE,  /* Sendrecv_replace */
    FC_ALLPROF_WAIT,     /* request */
    FC_ALLPROF_WAITALL,  /* count, requests */
    FC_ALLPROF_START,    /* request */
    FC_ALLPROF_STARTALL, /* count, requests */
    FC_ALLPROF_RELEASE,  /* Request_free: request */
    FC_ALLPROF_OPEN,     /* Waitany, Waitsome: which completed is not written */
    FC_ALLPROF_POLL,     /* Test..., Iprobe: whether it succeeded is not written */
    FC_ALLPROF_COLLECTIVE,
    FC_ALLPROF_SHARES, /* Reduce_scatter: a list of counts */
    FC_ALLPROF_SIZES,  /* Alltoallv: a list of counts */
    FC_ALLPROF_MAKES,  /* Comm_split...: collective over the communicator of the first argument */
    FC_ALLPROF_PLAIN   /* only takes time, and nothing is lost by that */
};
struct fc_allprof_kind {
    const char *name; /* behind "MPI_" */
    uint8_t shape, op, mode;
    bool request, persistent;                   /* makes a request, in the last argument; only at each Start */
    uint8_t n_low, n_high;                      /* arguments */
    int8_t count_at, type_at, root_at, comm_at; /* below 0: from the back, -1 the last; ABSENT where there is none */
};
#define FC_ALLPROF_ABSENT 127
/* NULL: unknown. A nonblocking collective is that of the blocking one with *nonblocking set: its last
 * argument, the request, is one more. */
const struct fc_allprof_kind *fc_allprof_kind(const struct fc_allprof_call *call, bool *nonblocking);

/* A communicator as one rank writes it. */
struct fc_allprof_use {
    int64_t handle;
    uint32_t size, rank; /* number of members, this rank's place among them */
    uint32_t world_rank;
    int32_t comm; /* number in the trace, -1: not known yet */
    long line;    /* of the first call on it */
};
struct fc_allprof_comm {
    const uint32_t *member; /* [n] world ranks */
    uint32_t n;
};

/* What the first reading of all files gives. */
struct fc_allprof {
    struct fc_trace_sink *sink;
    struct fc_status *st;
    struct fc_arena arena;
    const char *before, *after; /* rank R is in BEFORE R AFTER, R with at least `width` digits */
    int width;
    uint32_t n_ranks;
    struct fc_allprof_use *use; /* [n_uses] rank by rank */
    size_t n_uses, use_capacity;
    size_t *first_use;            /* [n_ranks + 1] */
    struct fc_allprof_comm *comm; /* [n_comms] */
    size_t n_comms, comm_capacity;
    int64_t start_ns;            /* earliest time of all ranks */
    uint64_t known[2], n_waited; /* requests of lists found with a stride of 4 and of 8 bytes, of how many */
    bool odd;                    /* a request stands at an address that is no multiple of 8 */
    unsigned stride;             /* bytes between requests of a list */
    bool mpich;                  /* any source is -2, no process -1 (else the other way round: Open MPI) */
};

/* The folder's or file's name as that of rank 0; false when it is no trace of this format. Fills before,
 * after, width. */
bool fc_allprof_name(const char *path, bool folder, struct fc_allprof *a, struct fc_status *st);
/* Name of a rank's file, in the arena; NULL when memory is out. */
const char *fc_allprof_file(struct fc_allprof *a, uint32_t rank);
/* Reads all files once; starts the sink and defines the communicators. */
enum fc_code fc_allprof_survey(struct fc_allprof *a);
void fc_allprof_free(struct fc_allprof *a);

/* The next call; call->name.text NULL at the end of the file. */
enum fc_code fc_allprof_next(struct fc_stream *s, struct fc_allprof_call *call, struct fc_status *st);
/* Argument `at` (below 0: from the back) as an integer; as handle, rank and size of a communicator; as a
 * type's size. */
enum fc_code fc_allprof_integer(const struct fc_allprof_call *call, int at, const char *what, int64_t low, int64_t high,
                                int64_t *value, struct fc_status *st);
enum fc_code fc_allprof_comm_of(const struct fc_allprof_call *call, int at, struct fc_allprof_use *use,
                                struct fc_status *st);
enum fc_code fc_allprof_type_size(const struct fc_allprof_call *call, int at, int64_t *size, struct fc_status *st);
/* Its head is that of this format. */
bool fc_allprof_is(const struct fc_trace_probe *probe);
