/* format_simgrid.h - private to the reader of SimGrid's time-independent traces: what the lines share with
 * the files. */
#pragma once

#include "traces/formats/format_text.h"

struct fc_simgrid_rank {
    bool real;                          /* default type: MPI_DOUBLE (true) or MPI_BYTE */
    struct fc_open_requests open;       /* (source << 32 | destination, tag) -> request */
    struct fc_open_requests collective; /* (number of the action, 0) -> request of a nonblocking collective */
    double compute_s;                   /* since the event before */
    uint32_t polls;
};
struct fc_simgrid_word {
    const char *text; /* borrowed from the line */
    size_t length;
};
/* The trace being read, and of the line at hand its rank and arguments. */
struct fc_simgrid {
    struct fc_trace_sink *sink;
    struct fc_status *st;
    const struct fc_trace_options *options;
    struct fc_arena arena;
    uint32_t n_ranks, first;      /* of the job at hand, and its first rank among those of all jobs */
    int32_t comm;                 /* its communicator: 0, the world, when there is one job */
    struct fc_simgrid_rank *rank; /* [n_ranks] of the job at hand */
    struct fc_stream stream;
    uint32_t at;                  /* rank of the line at hand, in its job */
    struct fc_simgrid_word *word; /* [n_words] */
    size_t n_words, word_capacity;
    int64_t *list; /* [list_capacity] */
    size_t list_capacity;
};

/* The name is that of an action. */
bool fc_simgrid_is_action(const char *name, size_t length);
/* Hands the event of the line at hand on. FC_INPUT when the action is unknown or wrong. */
enum fc_code fc_simgrid_act(struct fc_simgrid *s, const char *name, size_t length);
/* What the rank computed and polled after its last event. */
enum fc_code fc_simgrid_end(struct fc_simgrid *s, uint32_t rank);
