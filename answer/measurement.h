/* measurement.h - what `fabricast-measure-FAMILY` measured (docs/measure-format.md), and the machine that follows from it
 * (measurement_run.c, measurement_read.c, measurement_fit.c, measurement_links.c, measurement_write.c). */
#ifndef FC_ANSWER_MEASUREMENT_H
#define FC_ANSWER_MEASUREMENT_H

#include "answer/benchmark.h"
#include "answer/question.h"
#include "models/models.h"

enum fc_measurement_part {
    FC_ROW_LATENCY, /* half a ping-pong */
    FC_ROW_SEND,    /* a call of MPI_Send */
    FC_ROW_RECEIVE, /* a call of MPI_Recv whose message is there */
    FC_ROW_PROBE,   /* MPI_Send before its receive is posted */
    FC_ROW_STREAM,  /* a message of a stream */
    FC_ROW_REDUCE   /* a reduction in memory */
};
/* Seconds: the median of n samples, and its 95 % interval. Rows of one set > 0 were measured at the same time. */
struct fc_measurement_row {
    enum fc_measurement_part part;
    uint32_t set, from, to, n;
    double bytes, median_s, low_s, high_s;
};
struct fc_measurement {
    const char *file;
    uint32_t n_ranks, n_nodes, n_sets;
    uint32_t *node;    /* [n_ranks] */
    const char **host; /* [n_nodes] */
    bool one_host;     /* all ranks were on it, and each was taken as a node */
    uint32_t near[2];  /* the ranks of the pair that was measured over sizes */
    double eager_bytes;
    bool eager_is_bound; /* all that was tried was eager: the limit is at least that */
    uint32_t n_rows;
    struct fc_measurement_row *row; /* [n_rows] */
};
/* Lines before the title, and lines between rows that are none, are a launcher's and passed over. FC_INPUT with file:line:
 * no title, a row that is none, rows missing, no end. Owned by the arena. O(file). */
enum fc_code fc_measurement_read(const char *path, struct fc_arena *arena, struct fc_measurement *m,
                                 struct fc_status *st);

/* Low to high: 95 of 100 repetitions with the rows' own scatter. NaN: not known. */
struct fc_interval {
    double value, low, high;
};
/* Of a message of m bytes between two nodes, as fc_benchmark_fit has it, the ends apart, O a byte at either end:
 *     T(m) = send + recv + L + m (G + 2 c + 2 O)                 up to the eager limit,
 *     T(m) = send + recv + L + 2 L + 2 R + m (G + 2 O)           above. */
enum fc_measured_number {
    FC_NUMBER_SEND,
    FC_NUMBER_RECV,
    FC_NUMBER_LATENCY,
    FC_NUMBER_GAP,
    FC_NUMBER_PER_BYTE,
    FC_NUMBER_COPY,
    FC_NUMBER_RENDEZVOUS,
    FC_NUMBER_G,      /* seconds a byte, one message after the other between two ranks */
    FC_NUMBER_LOCAL,  /* o within a node; NaN: one rank a node */
    FC_NUMBER_MEMORY, /* seconds a byte within a node, all pairs at once */
    FC_NUMBER_REDUCE,
    FC_NUMBERS
};
struct fc_measurement_fit {
    struct fc_interval number[FC_NUMBERS];
    double node_s_per_byte; /* of all ranks of a node together, where several were measured; else G */
    uint32_t most_sharing;  /* ranks a node that were measured together; 1: one */
    double far_latency_s;   /* L of the pair of greatest latency */
    double across; /* all nodes at once across the middle: a pair's rate over that of one alone; NaN: not measured */
    double off_percent; /* median deviation of T from the latencies of the near pair */
    uint32_t n_steps;
    double step_bytes[2 * FC_BENCHMARK_SEGMENTS]; /* other sizes at which the latency's line breaks */
};
/* FC_INPUT: rows that are needed are missing. Resampled a hundred times for the intervals, O(sizes^3) each. */
enum fc_code fc_measurement_solve(const struct fc_measurement *m, struct fc_measurement_fit *fit, struct fc_status *st);

/* Runs launcher[0] ... with the benchmark and its arguments behind, its standard output into `rows`, an open file; no shell has a
 * part in it. `mpi`: openmpi or mpich, NULL: what the launcher says it is. `budget_s` is the benchmark's. FC_INPUT: the MPI
 * cannot be told, or the launcher not be run; FC_NO: no benchmark was built for it, or the launcher failed: with its status. */
enum fc_code fc_measurement_run(char *const *launcher, const char *mpi, double budget_s, int rows,
                                struct fc_status *st);

/* Rates and latencies of the links of a machine whose network is known. */
struct fc_measured_class {
    double bytes_per_s; /* the most that one link was seen to carry, headers included; NaN: not crossed */
    bool binds;         /* and that was the limit: else the link carries at least that */
    double latency_s;   /* NaN: not crossed */
};
struct fc_measured_links {
    struct fc_measured_class class[FC_MAX_CLASSES];
    int node_class;     /* of the links of nodes */
    double delay_s;     /* of a router */
    double off_percent; /* the worst pair's latency */
    bool by_host;       /* nodes found by their host names; else rank i's node is node i */
};
/* FC_INPUT: a host that the machine does not have, or more nodes than it has. O(rows x path). */
enum fc_code fc_measurement_links(const struct fc_measurement *m, const struct fc_measurement_fit *fit,
                                  const struct fc_network *net, struct fc_measured_links *links, struct fc_status *st);

/* Writes the machine file: the question's, with its end points and links as measured, or (`net` NULL) all nodes on one switch;
 * each figure with its interval in a comment. `links`, `net`: of that machine, else NULL. */
enum fc_code fc_measurement_write(const struct fc_measurement *m, const struct fc_measurement_fit *fit,
                                  const struct fc_measured_links *links, const struct fc_network *net,
                                  const struct fc_question *q, const char *path, struct fc_status *st);

#endif
