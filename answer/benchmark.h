/* benchmark.h - what point-to-point benchmarks of others measured, and the end points that follow from it (benchmark_read.c,
 * benchmark_fit.c). */
#ifndef FC_ANSWER_BENCHMARK_H
#define FC_ANSWER_BENCHMARK_H

#include "core/core.h"

enum fc_benchmark_kind {
    FC_BENCHMARK_LATENCY,   /* seconds of a message one way */
    FC_BENCHMARK_BANDWIDTH, /* bytes/s of messages in a stream, one way */
    FC_BENCHMARK_PAIRS      /* bytes/s of all pairs of ranks together, one way */
};
/* One table: value[i] of messages of bytes[i], rising. */
struct fc_benchmark {
    enum fc_benchmark_kind kind;
    const char *file;
    uint32_t n, pairs;
    double *bytes, *value; /* [n] */
};
/* Reads a table as `program` prints it: "osu" (OSU Micro-Benchmarks: osu_latency, osu_bw, osu_mbw_mr; lines around it are
 * passed over) or "netpipe" (NPmpi's output, or its file np.out). FC_INPUT with file:line: no such table, one of collectives or
 * of both directions, sizes that do not rise, times that are none. Owned by the arena. */
enum fc_code fc_benchmark_read(const char *program, const char *path, struct fc_arena *arena,
                               struct fc_benchmark *table, struct fc_status *st);

/* What one table or several say of a message of m bytes between two nodes,
 *     T(m) = 2 o + L + m (G + 2 c)                                    up to the eager limit S,
 *     T(m) = 2 o + L + 2 L + 2 R + m G                                above,
 * o at either end (a stream's messages come every o at least), L of the network, G a byte of the stream, c a byte of a copy at
 * either end, R of a rendezvous at either end (docs/theory-timing.md). NaN: the tables do not tell. */
struct fc_benchmark_fit {
    double overhead_s, latency_s, bandwidth_bytes_per_s;
    double eager_bytes, copy_per_byte_s, rendezvous_s;
    double pairs_bytes_per_s; /* all pairs together, long messages */
    uint32_t pairs;
    double off_percent;     /* median deviation of T from the latency table */
    bool overhead_is_bound; /* no stream was measured: o is at most this, and L what it leaves */
};
/* A stretch of a table on one line t = a + b m. */
struct fc_benchmark_segment {
    uint32_t first, last; /* rows */
    double a, b, cost;    /* cost: sum of squares of relative deviations */
};
enum { FC_BENCHMARK_SEGMENTS = 5 };
/* Cuts a table into at most that many; how many by Schwarz' criterion (benchmark_fit.c). Returns their number; 0: st tells, or
 * there are too few rows (three a segment). */
int fc_benchmark_cut(const struct fc_benchmark *table, struct fc_benchmark_segment *segment, struct fc_arena *scratch,
                     struct fc_status *st);
/* `latency_s`: L where it is known (a machine file's), NaN: not. FC_INPUT: no table of latencies, or too few rows. Breaks between
 * segments by least squares of relative deviations, their number by Schwarz' criterion (as in Netgauge, Hoefler et al., HPCC 2007;
 * Stanisic et al., SimGrid's calibration, PDP 2017). O(rows^3). */
enum fc_code fc_benchmark_fit_tables(const struct fc_benchmark *tables, int n_tables, double latency_s,
                                     struct fc_benchmark_fit *fit, struct fc_status *st);

#endif
