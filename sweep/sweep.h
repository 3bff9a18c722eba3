/* sweep.h - one command of the program over all combinations of some of its options: the sweep file, its points, their
 * runs on processors or MPI ranks, and the journal by which an interrupted sweep goes on.
 *
 *     command: predict -t lj.fct --network contention     # words that every point shares (or a list of them)
 *     vary:                                               # in this order, the last fastest
 *       machine: [bgl-64, qsnet-64]                       # --machine
 *       links.torus.bandwidth: [175 MB/s, 350 MB/s]       # with a dot: --set, a key of the machine file
 *       seed: 1:5:1                                       # from:to:step; with units "20%:80%:20%"
 *     columns: [time_s, percent_of_peak, bottleneck.class] # keys of the command's JSON
 *
 * Knows core/ only: a point is a process of the program, so a point that fails spoils no other. */
#pragma once

#include "core/core.h"

#include <jansson.h>

struct fc_sweep_axis {
    const char *key;    /* an option without --, or a key of the machine file (with a dot) */
    const char **value; /* [n] */
    size_t n;
    long line; /* of the file */
};
struct fc_sweep {
    struct fc_arena arena; /* owns everything */
    const char *file;
    const char **command; /* [n_command] its words; the first names the command */
    size_t n_command;
    long command_line;          /* of the file */
    struct fc_sweep_axis *axis; /* [n_axes] */
    size_t n_axes;
    const char **column; /* [n_columns] paths into the answer: "a", "a.b", "list.0.b" */
    size_t n_columns;
    size_t n_optional; /* the last so many columns are null where an answer has no such key */
    size_t n_points;
};
/* Reads and checks a sweep file. FC_INPUT: unknown keys, nothing to vary, no columns, a million points or more. Whether the
 * command only answers, the caller checks: it knows the commands. Free with fc_sweep_free, also after a failure. */
enum fc_code fc_sweep_read(const char *path, struct fc_sweep *sweep, struct fc_status *st);
void fc_sweep_free(struct fc_sweep *sweep);
/* Adds a column that not every answer has, unless the file has it. FC_NO: out of memory. */
enum fc_code fc_sweep_add_optional(struct fc_sweep *sweep, const char *column, struct fc_status *st);
/* The value of an axis at a point. */
const char *fc_sweep_value(const struct fc_sweep *sweep, size_t point, size_t axis);
/* A varied option's word, "--key=value", "--key" or "--set=key=value"; NULL with an empty status: it is left out. */
char *fc_sweep_option(const struct fc_sweep_axis *axis, size_t value, struct fc_arena *arena, struct fc_status *st);
/* The point's command line, NULL-terminated: `program`, the command's words, its options, --json -q. */
enum fc_code fc_sweep_words(const struct fc_sweep *sweep, const char *program, size_t point, struct fc_arena *arena,
                            char ***words, struct fc_status *st);

/* What a point answered. */
struct fc_sweep_row {
    bool done;
    int status;     /* the command's exit status: 0 answered, 1 answered "no", 2 refused, 3 a fault or a signal */
    int signal;     /* that ended the point; 0: none. It is run again when the sweep goes on */
    json_t *values; /* array [n_columns]; null where it was not answered */
    char *message;  /* what the command wrote to standard error, its first line; NULL: nothing. malloc'd */
};
void fc_sweep_rows_free(struct fc_sweep_row *rows, size_t n);

/* Messages between the ranks of a parallel run; rank 0 deals the points. Made by sweep_mpi.c, a library of its own, so that
 * the program starts without MPI. */
struct fc_sweep_ranks {
    bool (*open)(int *rank, int *size);               /* false: MPI cannot be started */
    void (*send)(int to, const char *text, size_t n); /* n bytes without a zero */
    char *(*receive)(int *from);                      /* malloc'd, zero-terminated; NULL: nothing there */
    void (*close)(void);
};
struct fc_sweep_settings {
    const char *program;                /* whose command it is: a path */
    const char *version;                /* answers of another are not taken from the journal */
    const char *journal;                /* file of finished points; NULL: none is kept */
    int at_once;                        /* points at once on each rank */
    const struct fc_sweep_ranks *ranks; /* NULL: this process deals and runs all */
    int rank, size;
    struct fc_progress *progress;
};
/* Runs what the journal does not have. rows[n_points], zeroed, are filled on rank 0 only. A point that fails is a row
 * with its status; FC_INPUT: a column that the first answer has not; FC_NO: the journal cannot be written, or another run
 * holds it. Same rows for any at_once and any number of ranks. */
enum fc_code fc_sweep_run(const struct fc_sweep *sweep, const struct fc_sweep_settings *settings,
                          struct fc_sweep_row *rows, struct fc_status *st);
/* Of a rank above 0 that cannot take part: tells rank 0, which else waits for its questions. */
void fc_sweep_excuse(const struct fc_sweep_settings *settings, const struct fc_status *why);

/* ---- the journal (sweep_journal.c) ---- */

/* A line of JSON a finished point: its key (command line, columns, version, size and time of the files it names) and what it
 * answered. A last line cut short by a crash is dropped. */
struct fc_sweep_journal {
    FILE *stream; /* locked; NULL: none */
    const char *path;
    struct fc_unfinished *empty; /* while it has no point, it is not worth keeping; else NULL */
};
/* Opens or makes it and fills the rows it has. FC_NO: held by another run for longer than a second, which one that was killed
 * does not. FC_INPUT: the file is no journal; it is left as it is. */
enum fc_code fc_sweep_journal_open(struct fc_sweep_journal *journal, const struct fc_sweep *sweep,
                                   const struct fc_sweep_settings *settings, struct fc_sweep_row *rows, size_t *n_found,
                                   struct fc_status *st);
enum fc_code fc_sweep_journal_add(struct fc_sweep_journal *journal, const struct fc_sweep *sweep,
                                  const struct fc_sweep_settings *settings, size_t point,
                                  const struct fc_sweep_row *row, struct fc_status *st);
void fc_sweep_journal_close(struct fc_sweep_journal *journal);
