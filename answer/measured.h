/* measured.h - predictions held against times that were measured on the machine: rows of a table, the end points fitted to a
 * part of them, and what the other part says of the error (measured_table.c, measured_predict.c, measured_fit.c).
 * docs/measured.md has the method. */
#pragma once

#include "answer/session.h"
#include "solvers/calibration/measured_error.h"
#include "solvers/collective/collective.h"

/* One collective call of all ranks of a job, measured. Texts are the table's arena's. */
struct fc_measured_row {
    long line;              /* of the table */
    const char *collective; /* as fc_op_names has it */
    enum fc_op op;
    const char *algorithm; /* as the table names it */
    struct fc_collective_choice choice;
    double bytes;      /* of the vector: of an all-to-all what a rank sends, of an allgather what it gets */
    double call_bytes; /* as in enum fc_op */
    double measured_s;
    bool barrier;         /* each rank's time is from where the library's barrier lets it go; else all enter at once */
    double predicted_s;   /* NaN: not predicted */
    uint32_t job;         /* of table->jobs */
    bool fitted;          /* it is one of those that the end points are fitted to */
    bool told;            /* the table says what part it has; else fc_measured_choose does */
    bool seen;            /* a key of the machine file was chosen on it by hand: neither fitted to nor judged */
    const char *left_out; /* why it is not predicted; NULL: it is */
};

/* A job that rows are of: its nodes, and the machine as the job has it. */
struct fc_measured_job {
    const char *nodes; /* "8x8x8" is the torus that the job got, "16" a number of nodes */
    const char *text;  /* its hosts as the table has them; NULL: none */
    const char *hosts; /* as --nodes takes them; NULL: the question's, or the first nodes */
    long hosts_line;   /* of the file that `hosts` names; 0: all of it, or a list */
    int ranks_per_node;
    uint32_t n_nodes, n_ranks;
    bool open; /* the session is */
    struct fc_session session;
    struct fc_mapping *mapping;
    const char *why_not; /* it cannot be predicted: the reason; NULL: it can */
};

struct fc_measured {
    struct fc_arena arena;
    const char *file;
    uint32_t n_rows, n_jobs, n_other; /* n_other: rows of other systems, left out */
    struct fc_measured_row *rows;     /* [n_rows] in the order of the file */
    struct fc_measured_job *jobs;     /* [n_jobs] in order of size */
};

/* Reads a table: tab-separated, its first line names the columns. Needed: nodes, collective, algorithm, total_bytes (or bytes),
 * median_us (or time_us). Known: system (rows of another one than the machine are left out: its name up to a '-' counts),
 * ppn (or ranks_per_node; 1), library (rules by which a barrier before each call runs; without: all ranks enter at once), hosts (as --nodes takes them; "@FILE:LINE": a line of a file beside the table), part (what the
 * machine file owes to the row: fit, seen or judge). Others are passed over, and lines that begin with #. FC_INPUT with
 * file:line. The caller frees, not after a failure. */
enum fc_code fc_measured_read(const char *path, const char *machine, struct fc_measured *table, struct fc_status *st);
/* Opens the question's machine for every job of the table; a job that does not fit it says why (job->why_not). Rows are then
 * predictable or left out. */
enum fc_code fc_measured_open(const struct fc_question *q, struct fc_measured *table, struct fc_status *st);
void fc_measured_free(struct fc_measured *table);

/* ---- end points ---- */

/* What is fitted. Each has its own line in a machine file. */
enum fc_end_point {
    FC_END_OVERHEAD,
    FC_END_EAGER_START,
    FC_END_COPY,
    FC_END_RENDEZVOUS,
    FC_END_REDUCE,
    FC_END_REDUCE_MEMORY,
    FC_END_FRESH,
    FC_END_CALL,
    FC_END_PORT,
    FC_END_EXCHANGE, /* this and the next only where the machine file has them */
    FC_END_OWN,
    FC_END_DELAY,
    /* Sizes at which something else begins: tried one by one. */
    FC_END_INLINE,
    FC_END_EAGER,
    FC_END_CACHE,
    FC_END_POINTS,
    FC_END_SIZES = FC_END_INLINE /* the first of them */
};
struct fc_end_point_range {
    const char *key; /* of the machine file; of the overhead the sender's, the receiver has the same */
    enum fc_unit unit;
    double least, most, typical; /* in SI; typical: where a machine file says nothing */
};
extern const struct fc_end_point_range fc_end_points[FC_END_POINTS];
struct fc_end_values {
    double value[FC_END_POINTS]; /* SI */
};
struct fc_end_values fc_end_values_of(const struct fc_machine *machine);
void fc_end_values_set(const struct fc_end_values *values, struct fc_machine *machine);

/* predicted_s of all rows that are not left out (only_fitted: of those fitted), with these end points on every job. Rows are
 * replayed by themselves, in `threads`; the same for any number of them. FC_NO: out of memory. */
enum fc_code fc_measured_predict(struct fc_measured *table, const struct fc_end_values *values, bool only_fitted,
                                 int threads, struct fc_status *st);

struct fc_measured_fit {
    struct fc_end_values before, values, low, high; /* low, high: 95 %; NaN where it was not fitted */
    bool fitted[FC_END_POINTS];
    uint32_t n_fitted; /* rows */
    double residual;   /* median of |ln(predicted / measured)| of these */
    struct fc_measured_cases
        cases;      /* the rows that were not: what the error of a prediction is taken from (the table's arena's) */
    double covered; /* share of them that it covers, each by those of other jobs; NaN: too few */
};
/* Chooses the rows: of the jobs of at most FC_MEASURED_FIT_RANKS ranks, every other size of a message, of each algorithm on
 * each job, in turn the first or the second; of rows that say their part, those of part `fit`. The others judge. Returns how
 * many are fitted. */
enum { FC_MEASURED_FIT_RANKS = 64 };
uint32_t fc_measured_choose(struct fc_measured *table);
/* Fits the end points to the rows chosen, from the machine's own values. FC_NO: too few rows, or no convergence. The jobs'
 * machines keep the values. Cost: some 100 replays of each row. */
enum fc_code fc_measured_fit(struct fc_measured *table, int threads, struct fc_progress *progress,
                             struct fc_measured_fit *fit, struct fc_status *st);

/* The rows that were predicted and not fitted, as cases, widened by fc_measured_widen. */
enum fc_code fc_measured_judge(struct fc_measured *table, struct fc_measured_fit *fit, struct fc_status *st);
/* Writes the question's machine file with the end points as fitted, and the cases as its section `measured:`. */
enum fc_code fc_measured_write(const struct fc_measured *table, const struct fc_measured_fit *fit,
                               const struct fc_question *q, const char *path, struct fc_status *st);
