/* trace_format.h - private to traces/: what the two forms of a trace share (docs/trace-format.md). */
#pragma once

#include "traces/traces.h"

#include <math.h>

struct fc_trace_format;

/* Which fields a call has; the others hold their rest value (comm 0, peer -1, tag 0, bytes 0, no list). */
enum fc_field {
    FC_HAS_COMM = 1,
    FC_HAS_PEER = 2,   /* the other rank */
    FC_HAS_ROOT = 4,   /* the root's rank, in `peer` */
    FC_HAS_PARENT = 8, /* the communicator the call is collective over, in `peer` */
    FC_HAS_TAG = 16,
    FC_HAS_BYTES = 32,
    FC_HAS_REQUESTS = 64, /* list of requests */
    FC_HAS_SIZES = 128,   /* list of bytes, one for each member */
    FC_MAKES_REQUEST = 256,
    FC_MAY_BE_NONBLOCKING = 512, /* mode 1 makes a request */
    FC_SENDS = 1024,             /* mode is one of the four ways to send */
    FC_MOVES = 2048,             /* mode is one of the three ways to move data one-sided */
    FC_IN_GRAPH = 4096,          /* processor, NIC, and a list of what it depends on */
    FC_HAS_POLLS = 8192
};
extern const uint16_t fc_op_fields[FC_N_OPS];
/* The fields of a call in a program, or of a vertex in a graph. */
static inline int fc_event_fields(bool graph, int op)
{
    int calls = FC_HAS_REQUESTS | FC_HAS_SIZES | FC_MAKES_REQUEST | FC_MAY_BE_NONBLOCKING;
    return graph ? (fc_op_fields[op] & ~calls) | FC_IN_GRAPH : fc_op_fields[op] | FC_HAS_POLLS;
}
/* Words of the text form for modes 0 to 3; "" for 0 of what may be nonblocking, NULL where there is no such
 * mode. */
const char *fc_mode_name(int op, int mode);

static inline bool fc_makes_request(int op, int mode)
{
    int fields = fc_op_fields[op];
    return (fields & FC_MAKES_REQUEST) || ((fields & FC_MAY_BE_NONBLOCKING) && mode == 1);
}

/* Times are whole nanoseconds in both forms. Division rounds correctly, so every reader gets the same double.
 */
#define FC_MAX_TIME_NS INT64_C(9000000000000000)
static inline int64_t fc_to_ns(double seconds)
{
    return llround(seconds * 1e9);
}
static inline double fc_from_ns(int64_t ns)
{
    return (double)ns / 1e9;
}

/* Members of all communicators together that a file of so many bytes is believed: a range of ranks is short, and a program
 * may give all its ranks a hundred communicators, but each of them then has its own bytes in the file. */
static inline uint64_t fc_members_room(uint64_t bytes)
{
    return (4 << 20) + (bytes < INT64_MAX / 32 ? 32 * bytes : INT64_MAX / 2);
}

/* The head of the text form, which the packed forms carry as it is: everything before the first rank.
 * Reading leaves `lines` behind the head's last line and fills all of the trace but the events; their number is
 * first_event[n_ranks]. What the head announces is believed as far as there is room for it in the file. */
static inline long fc_head_lines(const struct fc_trace *trace)
{
    return 5 + trace->graph + (long)trace->n_unwrapped + (long)trace->n_comms;
}
void fc_write_head(FILE *out, const struct fc_trace *trace);
struct fc_head_room {
    uint64_t ranks, events, members; /* at most so many; members: of all communicators together */
};
/* Of the text form in a file of so many bytes. A rank and an event take some ten, but a file that was cut should be told
 * where it ends. */
static inline struct fc_head_room fc_text_room(uint64_t bytes)
{
    return (struct fc_head_room){bytes, bytes, fc_members_room(bytes)};
}
enum fc_code fc_read_head(struct fc_lines *lines, struct fc_head_room room, struct fc_trace *trace,
                          struct fc_status *st);

enum fc_code fc_read_trace_text(const struct fc_text *text, struct fc_trace *trace, struct fc_status *st);
/* The same text as it streams by, also compressed, and version 1 of the packed form, into a sink. */
extern const struct fc_trace_format fc_own_text_format, fc_own_packed_format;
/* Starts a sink with a head of ours; its trace's first_line is there to be filled. */
struct fc_trace_sink;
enum fc_code fc_sink_head(struct fc_trace_sink *sink, const struct fc_trace *head);
enum fc_code fc_write_trace_text(const struct fc_trace *trace, FILE *out, struct fc_status *st);
/* One event's line; list: its own. */
void fc_write_event_text(FILE *out, const struct fc_event *event, const int64_t *list, bool graph);
bool fc_is_packed(const struct fc_text *text);
enum fc_code fc_read_trace_packed(const struct fc_text *text, struct fc_trace *trace, struct fc_status *st);

/* Lines of the ranks' first events in the text form, from first_event. */
static inline void fc_set_lines(const struct fc_trace *trace)
{
    for (uint32_t r = 0; r < trace->n_ranks; r++)
        trace->first_line[r] = fc_head_lines(trace) + 2 + (long)r + (long)trace->first_event[r];
}

/* Checks what a reader cannot see in one record: members, peers, requests made and completed once, times.
 * O(size). */
enum fc_code fc_trace_check(const struct fc_trace *trace, struct fc_status *st);

/* The same event by event, each rank's in order, ranks in any order. */
struct fc_rank_check {                            /* zeroed at the rank's start */
    int32_t comm;                                 /* that the rank is known to be in */
    uint64_t made;                                /* requests so far */
    uint64_t base;                                /* all requests before it are completed; a multiple of 64 */
    uint64_t *completed, head, n_words, capacity; /* bit k - base of completed[head ..]: request k is completed */
};
struct fc_trace_checker {
    const struct fc_trace *trace; /* its head */
    struct fc_status *st;
    uint32_t *sorted;         /* members of each communicator, ascending; layout of comm_member */
    struct fc_rank_check *of; /* event at hand: */
    uint32_t rank;
    uint64_t number;
    const struct fc_event *event;
    const int64_t *list;
};
/* O(members of communicators). */
enum fc_code fc_check_start(struct fc_trace_checker *c, const struct fc_trace *trace, struct fc_status *st);
/* The rank's event `number`, with its own list. */
enum fc_code fc_check_event(struct fc_trace_checker *c, struct fc_rank_check *of, uint32_t rank, uint64_t number,
                            const struct fc_event *event, const int64_t *list);
void fc_check_rank_free(struct fc_rank_check *of);
void fc_check_end(struct fc_trace_checker *c);
