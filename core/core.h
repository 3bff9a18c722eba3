/* core.h - what every room of fabricast stands on; knows nothing of networks.
 *
 * Conventions of the whole library: base units inside (bytes, seconds, bytes/s, Hz), units in names; functions
 * that can fail return an fc_code and fill a struct fc_status with the place in the USER'S input; the library never
 * prints and never exits; an arena owns what a stage builds and is freed at once. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FC_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define FC_NONE UINT32_MAX /* of what is numbered: none */
#define FC_COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* Before a local variable: release(&variable) when its block is left, whichever way, the last one first. It has a value from
 * the start; after a failure release is called too. A value that is returned is worked out before. */
#define FC_SCOPED(release) __attribute__((cleanup(release)))

/* ---- status: a code, a message, the place in the user's input (status.c) -------------------------------------- */

/* The numbers are the program's exit statuses. */
enum fc_code {
    FC_OK = 0,
    FC_NO = 1,    /* answered "no", or could not be done: infeasible, unstable, out of memory, full disk */
    FC_INPUT = 2, /* wrong usage or wrong input */
    FC_FAULT = 3  /* our own fault: an invariant did not hold */
};

/* A place in the user's input. `file` is borrowed (NULL: no file); `line` counts from 1 (0: the whole file). */
struct fc_place {
    const char *file;
    long line;
};

/* What went wrong and where. Zero-initialise; owned by the caller; holds copies, never pointers. */
struct fc_status {
    enum fc_code code;
    char file[512];
    long line;
    char message[1024];
    char doing[160]; /* the stage that works, for messages that no memory is left; "": not known */
};

/* Fills `st` (the first failure wins: a filled status is kept) and returns `code`. */
enum fc_code fc_fail(struct fc_status *st, enum fc_code code, struct fc_place where, const char *format, ...)
    FC_PRINTF(4, 5);
/* fc_fail without a place in a file. */
enum fc_code fc_refuse(struct fc_status *st, enum fc_code code, const char *format, ...) FC_PRINTF(3, 4);
/* FC_NO "out of memory: STAGE: what", for every allocation that fails, our own and those of libraries: what it was for.
 * It is remembered for fc_memory_whole, also where the caller goes on without. */
enum fc_code fc_out_of_memory(struct fc_status *st, const char *format, ...) FC_PRINTF(2, 3);
/* FC_NO with the first such message of the process, where there was one: what was worked out since may lack something.
 * Asked before an output file gets its name and when a command ends. Any thread. */
enum fc_code fc_memory_whole(struct fc_status *st);
/* Begins anew, where a process goes on after a failure. */
void fc_memory_forget(void);
/* Whether that is what went wrong. */
bool fc_is_out_of_memory(const struct fc_status *st);
/* Says which stage begins: "reading bgl.yaml". It stands in messages that no memory is left. */
void fc_doing(struct fc_status *st, const char *format, ...) FC_PRINTF(2, 3);
/* Writes "FILE:LINE: message" (what of the place is known) to `out`, always terminated. */
void fc_status_text(const struct fc_status *st, char *out, size_t size);

/* ---- text of others as people may see it (visible.c) ----------------------------------------------------------- */

/* Bytes of the letter that text, not empty, begins with: 1 to 4; 0 where that is a control character (C0, DEL, C1) or no
 * UTF-8. */
size_t fc_letter(const char *text);
/* The first letter of text, not empty; where it is none, its first byte as "\x1b". Bytes of text that it stands for. ASCII
 * control characters in `keep` ("": none) pass as they are. */
size_t fc_visible_letter(char out[5], const char *text, const char *keep);
/* All of text, letter by letter; cut after the last letter that fits into size >= 1. Returns out. Four times the length of
 * text, and one byte, always hold it. */
char *fc_visible(char *out, size_t size, const char *text, const char *keep);
/* The same to a stream, no control character kept. */
void fc_print_visible(FILE *stream, const char *text);

/* ---- memory: one arena per product of a stage, freed at once (arena.c) ---------------------------------------- */

struct fc_arena {
    struct fc_arena_block *blocks; /* private list */
    size_t used_bytes;
    size_t limit_bytes; /* refused beyond; 0: this machine's physical memory */
};

/* Zeroed memory for `count` things of `size` bytes, aligned to 64 bytes, owned by the arena. NULL with FC_NO and the
 * amount in `st` when the arena's limit or the machine's memory does not allow it (checked before touching it, so a
 * machine file too large for memory is refused rather than killed). count == 0 gives a valid pointer. */
void *fc_alloc(struct fc_arena *arena, size_t count, size_t size, struct fc_status *st);
/* A copy of text in the arena. */
char *fc_copy_text(struct fc_arena *arena, const char *text, struct fc_status *st);
/* Frees all; the arena can be used again. */
void fc_arena_free(struct fc_arena *arena);
/* Physical memory that this process may use, bytes (the least of RAM, RLIMIT_AS and control group limits). */
size_t fc_memory_bytes(void);
/* Peak resident set of this process so far, bytes. */
size_t fc_peak_rss_bytes(void);

/* ---- quantities with units (units.c) --------------------------------------------------------------------------- */

enum fc_unit {
    FC_NUMBER, /* no unit allowed */
    FC_BYTES,
    FC_SECONDS,
    FC_BYTES_PER_S,
    FC_HERTZ,
    FC_SECONDS_PER_BYTE,
    FC_METRES
};

/* Reads `text` ("175 MB/s", "8.3 GiB/s", "35 ns", "3 cycles", "1 KiB", "1e6") as a quantity of `unit` in base units.
 * `clock_hz` > 0 makes `cycles` and `phits` of time available; without a unit the base unit is meant, except for a
 * non-zero time where a clock is known: there "12" could be cycles or seconds and is refused as ambiguous.
 * FC_INPUT names what was expected. */
enum fc_code fc_quantity(const char *text, enum fc_unit unit, double clock_hz, double *value, struct fc_place where,
                         struct fc_status *st);
/* Writes `value` (base units) for people: "1.94 ms", "175 MB/s", "65.5 KB" (decimal prefixes, 4 digits). Returns out. */
char *fc_format(char *out, size_t size, double value, enum fc_unit unit);

/* ---- keys: one table parses, checks and documents options, file keys and parameters (keys.c) ------------------- */

enum fc_kind {
    FC_KEY_INT,       /* long long; where .unit is not FC_NUMBER: a quantity that must be whole ("1 KiB") */
    FC_KEY_QUANTITY,  /* double in base units of .unit */
    FC_KEY_SHARE,     /* double: 0.3 or 30% */
    FC_KEY_TEXT,      /* const char *, copied to the arena */
    FC_KEY_BOOL,      /* bool: true|false|yes|no */
    FC_KEY_CHOICE,    /* int: index in .choices */
    FC_KEY_INTS,      /* struct fc_ints: 4,4,4 or 4x4x4 or [4, 4, 4] */
    FC_KEY_QUANTITIES /* struct fc_reals: 1MiB/1MiB/512KiB */
};

#define FC_MAX_LIST 16
struct fc_ints {
    int n;
    long long v[FC_MAX_LIST];
};
struct fc_reals {
    int n;
    double v[FC_MAX_LIST];
};

struct fc_key {
    const char *name;
    enum fc_kind kind;
    enum fc_unit unit;
    size_t offset;              /* offsetof the field in the settings struct */
    double low, high;           /* allowed range, inclusive; both 0: any */
    const char *const *choices; /* NULL-terminated, FC_KEY_CHOICE only */
    const char *preset;         /* default as text; NULL: left as it is */
    const char *help;
};

/* In a record that has these members: they are of the table, which sets a `type`. */
#define FC_SETTINGS(table, type) .keys = (table), .n_keys = FC_COUNT(table), .settings_size = sizeof(type)

/* Sets every key of the table that has a preset. The table's presets are ours: a wrong one is FC_FAULT. */
enum fc_code fc_keys_preset(const struct fc_key *keys, size_t n_keys, void *settings, struct fc_arena *arena,
                            struct fc_status *st);
/* Parses `text` into the key's field; range-checked; FC_INPUT names key, value and what is allowed. */
enum fc_code fc_key_set(const struct fc_key *key, void *settings, const char *text, double clock_hz,
                        struct fc_arena *arena, struct fc_place where, struct fc_status *st);
/* The key of that name, or NULL. */
const struct fc_key *fc_key_find(const struct fc_key *keys, size_t n_keys, const char *name);
/* FC_INPUT "unknown key 'x' (known: a, b, c)", with the nearest name suggested. */
enum fc_code fc_key_unknown(const struct fc_key *keys, size_t n_keys, const char *name, struct fc_place where,
                            struct fc_status *st);
/* Parses "name=value,name=value" into settings (pattern parameters, LogGOPS strings). */
enum fc_code fc_keys_parse(const struct fc_key *keys, size_t n_keys, void *settings, const char *text, double clock_hz,
                           struct fc_arena *arena, struct fc_place where, struct fc_status *st);
/* The name of the list nearest to `name` in edit distance, or NULL when none is near. */
const char *fc_nearest(const char *name, const char *const *names, size_t n_names);

/* ---- random numbers: counter-based, so any thread may draw any of them (random.c) ------------------------------- */

/* 64 random bits of Philox-4x32-10 (Salmon et al., SC'11) for key `seed` and counter (stream, index): a pure
 * function, equal on every machine and for any number of threads. ~10 ns. */
uint64_t fc_random(uint64_t seed, uint64_t stream, uint64_t index);
/* 64 random bits for key and counter, ten times as fast: the mixing step of wyrand (Wang Yi, 2019; passes BigCrush and
 * PractRand) on counter * odd constant + key. Keys of different streams should come from fc_random. */
static inline uint64_t fc_random_quick(uint64_t key, uint64_t counter)
{
    uint64_t x = key + counter * UINT64_C(0xa0761d6478bd642f);
    unsigned __int128 product = (unsigned __int128)(x ^ UINT64_C(0xe7037ed1a0b428db)) * x;
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}
/* Uniform in [0, 1). */
double fc_random_real(uint64_t seed, uint64_t stream, uint64_t index);
/* Uniform in 0 .. n-1 (n >= 1; bias below 2^-32 for n < 2^32). */
uint64_t fc_random_below(uint64_t seed, uint64_t stream, uint64_t index, uint64_t n);
/* Random permutation of 0 .. n-1 into `out` [n] (Fisher-Yates). */
void fc_random_permutation(uint64_t seed, uint64_t stream, uint32_t *out, uint32_t n);

/* ---- input text with places (input.c) --------------------------------------------------------------------------- */

/* A whole file in memory, with a NUL behind its last byte; owned by the arena. */
struct fc_text {
    const char *file;
    const char *data;
    size_t size;
};
/* Reads one; a compressed one (gzip, xz, zstd) is decompressed within the limits of fc_stream_need, and the mark of UTF-8
 * left out. */
enum fc_code fc_read_file(const char *path, struct fc_arena *arena, struct fc_text *text, struct fc_status *st);
/* Bytes of the mark (EF BB BF) that some editors put before UTF-8; FC_INPUT for the marks of UTF-16. */
enum fc_code fc_text_mark(const void *data, size_t size, size_t *mark, struct fc_place where, struct fc_status *st);
/* What a file announces is believed as far as it can hold it: FC_INPUT when `n` (of `what`: "ranks") are more than `most`,
 * which the reader finds from the file's bytes and the least that one of them takes there. Things that a file need not
 * mention again (ranks that do nothing) are believed up to FC_SILENT more: room for those costs little. */
#define FC_SILENT ((uint64_t)1 << 16)
enum fc_code fc_announced(uint64_t n, uint64_t most, const char *what, struct fc_place where, struct fc_status *st);

/* Walks a text line by line without changing it. */
struct fc_lines {
    const char *file;
    const char *next, *end; /* rest of the text */
    const char *text;       /* current line, without its end */
    size_t length;
    long line; /* number of the current line, from 1 */
};
void fc_lines_start(struct fc_lines *lines, const struct fc_text *text);
/* Steps to the next line; false at the end. */
bool fc_lines_next(struct fc_lines *lines);
struct fc_place fc_lines_place(const struct fc_lines *lines);
/* Takes the next blank-separated word of [*at, end): returns its start and length, moves *at; false when none. */
bool fc_next_word(const char **at, const char *end, const char **word, size_t *length);
/* The word as an integer in [low, high], as a real, or FC_INPUT that says what was expected ("what" names it). */
enum fc_code fc_word_int(const char *word, size_t length, long long low, long long high, const char *what,
                         long long *value, struct fc_place where, struct fc_status *st);
enum fc_code fc_word_real(const char *word, size_t length, const char *what, double *value, struct fc_place where,
                          struct fc_status *st);
/* "0-3,7,9-10" as numbers below `limit`, in the order written; owned by the arena. FC_INPUT when malformed, out of
 * range or repeated. */
enum fc_code fc_parse_ranges(const char *text, uint64_t limit, struct fc_arena *arena, uint32_t **list, size_t *n,
                             struct fc_status *st);

/* ---- output that appears whole or not at all (output.c) --------------------------------------------------------- */

struct fc_output {
    FILE *stream; /* write here */
    char path[512];
    struct fc_unfinished *file; /* beside it, until it is whole; NULL: none (standard output, a device) */
};
/* Opens a temporary file beside `path` (a device or pipe is opened itself; NULL or "-": standard output). */
enum fc_code fc_output_open(struct fc_output *out, const char *path, struct fc_status *st);
/* Flushes, checks every error (a full disk is FC_NO, memory that ran out before too), renames to the final name. */
enum fc_code fc_output_close(struct fc_output *out, struct fc_status *st);
/* Throws the temporary away. Safe after close and on a zeroed struct. */
void fc_output_abandon(struct fc_output *out);

/* ---- text in memory (memory_stream.c) ---------------------------------------------------------------------------- */

/* Stays where it is while it is open. */
struct fc_memory_stream {
    FILE *stream; /* write here; NULL: not open */
    char *text;   /* after close: all of it, with a NUL behind; the caller frees it */
    size_t size, capacity;
    bool failed;
};
enum fc_code fc_memory_open(struct fc_memory_stream *m, struct fc_status *st);
/* FC_NO, and no text, where some of it found no memory, or where `st` has failed already. Safe when it is not open. */
enum fc_code fc_memory_close(struct fc_memory_stream *m, struct fc_status *st);

/* ---- tables: text for people, TSV, JSON (table.c) ---------------------------------------------------------------- */

enum fc_cell_kind { FC_CELL_TEXT, FC_CELL_INT, FC_CELL_REAL };
struct fc_column {
    const char *name; /* machine-readable, ends in its unit: "time_s" */
    enum fc_cell_kind kind;
    const char *format; /* printf format for people, e.g. "%.1f"; NULL: plain */
    enum fc_unit unit;  /* people see fc_format() of it when not FC_NUMBER */
    const char *title;  /* head for people; NULL: name */
};
struct fc_cell {
    const char *text; /* borrowed until the table is freed; NULL: unknown */
    double real;      /* NaN: unknown, also for an FC_CELL_INT */
    long long integer;
};
struct fc_table {
    const struct fc_column *columns;
    int n_columns;
    size_t n_rows, capacity;
    struct fc_cell *cells; /* [n_rows][n_columns] */
};
void fc_table_start(struct fc_table *table, const struct fc_column *columns, int n_columns);
/* Appends a row of n_columns cells, copied. FC_NO: out of memory. */
enum fc_code fc_table_row(struct fc_table *table, const struct fc_cell *cells, struct fc_status *st);
/* Both write what is no letter in a text as fc_visible does. For people, aligned: */
void fc_table_print(const struct fc_table *table, FILE *stream);
/* Head of names, tabs, full precision, nan. A text that begins with a quote stands in quotes, those within it twice. */
void fc_table_print_tsv(const struct fc_table *table, FILE *stream);
struct json_t;
struct json_t *fc_table_json(const struct fc_table *table); /* array of objects; the caller owns the reference */
void fc_table_free(struct fc_table *table);
/* A real for JSON: null when NaN or infinite (unknown is null, never 0); 0 has no sign. */
struct json_t *fc_json_real(double value);
/* From here on fc_memory_whole knows when jansson finds no memory (json.c); called before anything is built. */
void fc_json_watch(void);
/* Prints with 2-space indent, key order of insertion, 15 significant digits, and a newline. */
void fc_json_print(const struct json_t *json, FILE *stream);

/* ---- progress of long work (progress.c) -------------------------------------------------------------------------- */

/* A bar on standard error, after two seconds with the time left; silent when not a terminal or when quiet. The library calls it through this struct only. */
struct fc_progress {
    void (*show)(struct fc_progress *self, double done_fraction, const char *what);
    double last_shown_s;
    double since_s, last_fraction; /* start of the part of the work that is under way, and how far it was */
};
/* A progress that draws (terminal) or does nothing. */
void fc_progress_start(struct fc_progress *progress, bool quiet);
void fc_progress_end(struct fc_progress *progress);
/* Reports; NULL is fine. Cheap: draws at most 10 times a second. */
void fc_progress_show(struct fc_progress *progress, double done_fraction, const char *what);
/* Seconds of a monotonic clock, and CPU seconds of this process (all threads). */
double fc_wall_s(void);
double fc_cpu_s(void);

/* ---- threads (threads.c) ----------------------------------------------------------------------------------------- */

/* Threads for who asks for so many: never more than the processors that this process may use (its affinity: taskset,
 * a launcher's binding, a container's cpuset) nor than OMP_THREAD_LIMIT; 1 within a team of OpenMP; at least 1. */
int fc_threads(int asked);

/* Threads whose work is done in steps after which they wait for each other: briefly spinning, then asleep. */
struct fc_team;
/* The caller and fc_threads(threads) - 1 others, or fewer when the system starts no more: work is dealt out among those
 * that are there (fc_team_size). NULL is a team of the caller alone. The caller closes it. */
struct fc_team *fc_team_open(int threads);
int fc_team_size(const struct fc_team *team);
/* `work` by every thread of the team, numbered from 0, the caller's; returns when all are done. */
void fc_team_run(struct fc_team *team, void (*work)(void *argument, int thread, struct fc_team *team), void *argument);
/* Within `work`: returns when all threads have called it, and what each did before is seen by all. */
void fc_team_meet(struct fc_team *team);
void fc_team_close(struct fc_team *team); /* NULL is fine */

/* ---- what is all in its arena ------------------------------------------------------------------------------------ */

/* Defines void name(struct type *): frees what its arena owns, and empties it. */
#define FC_FREES(name, type)                                                                                           \
    void name(struct type *what)                                                                                       \
    {                                                                                                                  \
        fc_arena_free(&what->arena);                                                                                   \
        *what = (struct type){0};                                                                                      \
    }
