/* measure_mpi.h - private to the benchmark that `fabricast measure -- mpirun ...` starts: orders that rank 0 gives, and what
 * comes back (measure_mpi.c gives them, measure_parts.c carries them out). */
#pragma once

#include <mpi.h>

enum part {
    PART_END,     /* no more orders */
    PART_LATENCY, /* half a ping-pong */
    PART_SEND,    /* a call of MPI_Send, the receive posted */
    PART_RECEIVE, /* a call of MPI_Recv, the message there */
    PART_PROBE,   /* MPI_Send, while the receiver posts no receive for pause_s */
    PART_STREAM,  /* messages that follow each other, seconds of one */
    PART_REDUCE   /* MPI_Reduce_local of doubles; `from` alone */
};
struct order {
    int part, from, to, bytes;
    int window;   /* stream: messages in one */
    int together; /* begins with others, when rank 0 says so, and goes on for pause_s */
    double pause_s, budget_s;
};
/* The median of n samples, and where 95 % of such medians lie. */
struct result {
    double median_s, low_s, high_s;
    int n;
};

/* Carries out this rank's side; `result` is what rank `from` has found. */
void carry_out(const struct order *order, struct result *result);
/* Waits for a message without keeping the processor busy. */
void wait_softly(int from, int tag, MPI_Comm comm);
extern MPI_Comm control; /* orders and results; data goes over MPI_COMM_WORLD */
enum { TAG_ORDER = 1, TAG_READY, TAG_GO, TAG_RESULT };
