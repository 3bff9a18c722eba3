/* trace_merge.h - private to the merge of the ranks' files: what trace_merge.c and trace_merge_comm.c share.
 */
#pragma once

#include "traces/pmpi/pmpi_raw.h"
#include "traces/trace_capture.h"

/* One rank's file, walked record by record. */
struct fc_rank_file {
    const char *at, *end;
    const struct fc_raw_head *head;
    int64_t clock_ns; /* what makes its times comparable */
    uint32_t n_comms;
    int32_t *comm; /* [n_comms] common number, -1: cannot be held */
    uint64_t n_events, n_requests, n_words;
    uint64_t n_all_events; /* also behind the cut */
    int64_t last_ns;       /* when its last call left, by its own clock */
    int64_t cut_ns;        /* calls that began then or later are left out; INT64_MAX: none */
    bool whole;
    uint64_t n_splits; /* of threads that may call MPI at the same time: blocking calls */
};

/* A communicator in the table of all: of these members, the nth. */
struct fc_known_comm {
    uint64_t a, b;
    uint32_t nth;
    bool used;
    int32_t number;
    uint64_t size;
    const int64_t *member;        /* [size] NULL until its first member's file is read */
    uint32_t counted_rank, count; /* in entry nth = 0: how many of them this rank has made so far */
};

struct fc_merger {
    struct fc_trace *trace;
    struct fc_arena *scratch;
    struct fc_status *st;
    struct fc_rank_file *rank;
    struct fc_name_list *objects;
    struct fc_name_list notes;
    struct fc_known_comm *known;
    uint64_t mask;
    uint32_t n_comms;
    uint64_t *by_number; /* [n_comms] slot */
    bool partial;        /* recordings that are not whole are wanted */
    bool cut;            /* and there are some */
};

/* The next record and its words, or NULL at the end or where the file is cut. */
static inline const struct fc_raw_event *fc_next_record(struct fc_rank_file *file, const int64_t **words)
{
    const struct fc_raw_event *record = (const struct fc_raw_event *)(const void *)file->at;
    size_t left = (size_t)(file->end - file->at);
    if (left < sizeof *record || record->n_words > (left - sizeof *record) / 8) return NULL;
    *words = (const int64_t *)(const void *)(file->at + sizeof *record);
    file->at += sizeof *record + record->n_words * 8;
    return record;
}

static inline void fc_rewind_file(struct fc_rank_file *file)
{
    file->at = (const char *)file->head + sizeof *file->head;
}

/* Is it a call that stays? */
static inline bool fc_is_kept(const struct fc_rank_file *file, const struct fc_raw_event *record)
{
    return record->kind < FC_N_OPS && record->enter_ns < file->cut_ns;
}

/* A message's end; those of one communicator, sender, receiver and tag match in order. */
struct fc_message_end {
    int32_t comm, from, to, tag;
    bool receives;
    uint64_t at; /* its event or step */
};
/* For qsort: by channel, its receives first, in order. */
int fc_by_channel(const void *left, const void *right);
bool fc_same_channel(const struct fc_message_end *a, const struct fc_message_end *b);

/* Chooses cut_ns of every rank, so that what stays is what all ranks did up to one moment; needs
 * communicators' numbers and comparable clocks. */
enum fc_code fc_merge_cut(struct fc_merger *m);
/* What stays of a call that had not left at the cut. */
/* Leaves of an event that it took its time. */
void fc_merge_only_time(struct fc_event *e);
void fc_merge_shorten(const struct fc_rank_file *file, const struct fc_raw_event *raw, struct fc_event *e);
/* After a cut: sends without a receive, and receives without a send, are not waited for. */
enum fc_code fc_merge_release_lone(struct fc_trace *t, struct fc_arena *scratch, struct fc_status *st);
/* A step of a rank: what an event gives to others, what it waits for, or both. A blocking call of a rank whose threads call
 * MPI at the same time is two steps. */
struct fc_step {
    double key_s;
    uint64_t event; /* its number in the trace as the calls returned */
    bool starts, waits;
};
struct fc_steps {
    struct fc_step *step; /* rank-major */
    uint64_t *first;      /* [n_ranks + 1] */
    bool *threads;        /* [n_ranks] threads call MPI at the same time: steps may change places */
    uint64_t *maker;      /* [events] by the rank's first event plus a request's number: the event that makes it */
    uint64_t *partner;    /* [events] of a receive: the send that ends with it (MPI_Sendrecv); UINT64_MAX: none */
};
/* Is the call of such a rank two steps? */
bool fc_merge_splits(const struct fc_raw_event *raw);
/* One sequence for each rank whose threads call MPI at the same time. Until then a SEND of such a rank may hold the
 * request of the receive that ends with it. */
enum fc_code fc_merge_untangle(struct fc_merger *m);
/* Moves ends of calls behind what must come first when every send waits for its receive; where that cannot be had (the
 * program needs buffering) the steps stay as they are. */
enum fc_code fc_merge_order(struct fc_merger *m, struct fc_steps *steps);
/* Numbers the requests of a rank's events[n] in the order in which they are made; number[] has room for all.
 */
void fc_merge_renumber(struct fc_trace *t, struct fc_event *events, uint64_t n, int64_t *number);
/* Gives every communicator of every rank its common number. */
enum fc_code fc_merge_number_comms(struct fc_merger *m);
/* Writes them, with their members, into the trace. */
enum fc_code fc_merge_build_comms(struct fc_merger *m);
