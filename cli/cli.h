/* cli.h - the commands of the program. The only room that prints or exits. */
#ifndef FC_CLI_H
#define FC_CLI_H

#include "answer/answer_json.h"
#include "answer/run.h"
#include "mapping/launcher.h"

#include <jansson.h>
#include <signal.h>

#define FC_VERSION "0.1.0"

/* What the command line says. Strings are argv's. */
struct fc_arguments {
    struct fc_question ask;
    struct fc_run_question run;
    struct fc_curve_question curve;
    const char *command;
    const char **given; /* [n_given] long names of the options that are there, each once */
    size_t n_given;
    int n_maps; /* --map and --strategy */
    const char *split, *plot, *output, *loads, *solver;
    uint64_t members; /* 0: not given */
    double bytes;     /* 0: not given */
    double budget_s;  /* 0: not given */
    int iterations;
    bool json, quiet, path_walk, text, dump_network, phases, replays;
    const char *bound; /* load: which program bounds it */
    bool worst_case;
    const char *set;         /* the last --set; all are in ask.settings */
    const char **node_lists; /* [n_node_lists] every --nodes, in order; `ask.nodes` is the last */
    int n_node_lists;
    bool compare, long_mapping;
    const char *format;                                           /* of what is written */
    bool partial;                                                 /* capture: of a program that failed too */
    const char *objective, *constraint, *pin, *keep_free, *turns; /* place */
    double on_chip;
    bool confirm, milp;
    bool quick, full; /* reproduce */
    const char *into;
    int n_words; /* arguments that are no options */
    char **words;
    char **program; /* what follows --, NULL-terminated, or NULL */
    int argc;       /* the command line as it was given; argv[0] is "fabricast COMMAND" */
    char **argv;
    const char *versus; /* report: the mapping beside --map */
};

/* Groups of options (option_table.c): a command takes all or none of one. */
enum fc_group {
    FC_MACHINE,     /* --machine, --set */
    FC_ROUTING,     /* --routing */
    FC_DUMP,        /* --dump-network */
    FC_PATTERN,     /* --pattern */
    FC_JOB,         /* --graph, --trace, --collectives */
    FC_PHASE,       /* --phase */
    FC_REPLAY,      /* --network, --period */
    FC_ENDS,        /* --loggops */
    FC_SPEED,       /* --flops-per-s, --compute */
    FC_TRACES,      /* of `trace` */
    FC_FORMULAS,    /* of `list collectives` */
    FC_MAP,         /* --map */
    FC_VERSUS,      /* --versus */
    FC_LAUNCH,      /* of `map` */
    FC_NODES,       /* --nodes, --hosts, --background, --background-nodes */
    FC_SEARCH,      /* --time */
    FC_LINKS,       /* of `load` */
    FC_OFFER,       /* --load */
    FC_CURVES,      /* of `curve` */
    FC_CHANNELS,    /* --vc-rule */
    FC_KERNEL,      /* --engine, --packet-flits, --max-cycles ... */
    FC_MEASURE,     /* --warmup, --measure */
    FC_FLITS,       /* of `flit` */
    FC_BUDGET,      /* --budget */
    FC_CALIBRATION, /* of `calibrate` */
    FC_LAYOUT,      /* of `place` */
    FC_FIGURES,     /* of `reproduce` */
    FC_PLOT,        /* --plot */
    FC_OUTPUT,      /* --output FILE */
    FC_COMMON,      /* --json, --quiet */
    FC_SEED,
    FC_THREADS,
    FC_NO_GROUP = 63
};
/* A set of up to eight groups; sets are joined by |. */
#define FC_GROUPS_(a, b, c, d, e, f, g, h, ...)                                                                        \
    (((UINT64_C(1) << (a)) | (UINT64_C(1) << (b)) | (UINT64_C(1) << (c)) | (UINT64_C(1) << (d)) |                      \
      (UINT64_C(1) << (e)) | (UINT64_C(1) << (f)) | (UINT64_C(1) << (g)) | (UINT64_C(1) << (h))) &                     \
     ~(UINT64_C(1) << FC_NO_GROUP))
#define FC_GROUPS(...)                                                                                                 \
    FC_GROUPS_(__VA_ARGS__, FC_NO_GROUP, FC_NO_GROUP, FC_NO_GROUP, FC_NO_GROUP, FC_NO_GROUP, FC_NO_GROUP, FC_NO_GROUP, \
               FC_NO_GROUP)
/* A machine with a job on it. */
#define FC_A_JOB (FC_GROUPS(FC_MACHINE, FC_ROUTING, FC_PATTERN, FC_JOB, FC_NODES, FC_SEARCH, FC_COMMON) | FC_RUNS)
/* What takes time and writes a file. */
#define FC_RUNS FC_GROUPS(FC_SEED, FC_THREADS, FC_OUTPUT)

/* A command: its name, what --help says, the options it takes, its body. */
struct fc_command {
    const char *name, *arguments, *summary, *example;
    uint64_t options; /* FC_GROUPS */
    enum fc_code (*run)(const struct fc_arguments *arguments, struct fc_status *st);
    /* In a sweep: "" as it is, since it only answers; a word: only with this verb. NULL: not at all, since it runs programs
     * or writes files that no option names. */
    const char *swept;
};
extern const struct fc_command *const fc_commands[]; /* ends with NULL (commands.c) */
extern const struct fc_command fc_command_predict;

/* Parses argv by the command's option letters; prints help and exits 0, or refuses and exits 2. Of an option that is there
 * several times the last one counts; --set and --nodes keep all. */
void fc_parse_arguments(const struct fc_command *command, int argc, char **argv, struct fc_arguments *arguments);
void fc_free_arguments(struct fc_arguments *arguments);
/* A command line, argv[0] the command's name: parses it, checks its options, runs it, tells what was wrong. Returns the exit
 * status. */
int fc_run_command(const struct fc_command *command, int argc, char **argv);
/* For atexit: a library that ended the program while a command ran, for lack of memory, is told of with exit status 1. */
void fc_given_up(void);
/* Option number i of a command, whether it takes a value; NULL: there are no more. */
const char *fc_option_name(const struct fc_command *command, size_t i, bool *valued);

/* ---- which options apply (option_rules.c) ---- */

/* FC_INPUT, "--OPTION: why (what was expected)", for an option that is given and would be passed over. Asked before the
 * command begins and whenever more is known; NULL: not known yet. */
enum fc_code fc_check_options(const struct fc_arguments *arguments, const struct fc_machine *machine,
                              const struct fc_demand *demand, struct fc_status *st);
/* How many rules there are for an option of a command; 0: nobody has decided when it applies. */
int fc_option_rules(const char *command, const char *option);

/* Whether words, words[0] the command's name, may stand in a sweep: options that the command has, none that writes a file or
 * that the sweep sets itself, no other program's command line. FC_INPUT tells which does not. Looks at no values. */
enum fc_code fc_check_swept(const struct fc_command *command, int n_words, const char *const *words,
                            struct fc_status *st);

/* ---- the machine and the watcher of a command (watch.c) ---- */

/* fc_session_open, and what the machine tells of options that would be passed over. */
enum fc_code fc_open_machine(const struct fc_arguments *arguments, const char *machine, struct fc_session *session,
                             struct fc_status *st);
/* A bar at the terminal, and Ctrl-C for searches; stays where it is until fc_watch_end. */
struct fc_watch {
    struct fc_watcher watcher;
    struct fc_progress progress;
    struct sigaction before;
};
/* The command's question, watched. */
struct fc_question fc_watch_start(const struct fc_arguments *arguments, struct fc_watch *watch);
void fc_watch_end(struct fc_watch *watch);
/* Tells that the mapping by `map` is not what a whole search gives. */
void fc_note_search(const struct fc_arguments *arguments, const char *map, bool stopped, bool unsearched);
/* fc_place_problem, watched and noted. */
enum fc_code fc_place_watched(const struct fc_arguments *arguments, struct fc_map_problem problem, const char *map,
                              struct fc_mapping *mapping, struct fc_status *st);

/* ---- tables and JSON of parts (collectives.c, phases.c, print.c) ---- */

/* Closed-form times of all collectives for --members, --bytes, --loggops. */
enum fc_code fc_table_collectives(const struct fc_arguments *arguments, struct fc_table *table, struct fc_status *st);
/* The phases in rows, as people read them (texts in the arena), and for JSON (a new reference). */
enum fc_code fc_table_phases(const struct fc_job_phases *phases, struct fc_arena *arena, struct fc_table *table,
                             struct fc_status *st);
json_t *fc_json_phases(const struct fc_job_phases *phases);

/* ---- `trace info` (trace_info.c) ---- */

enum fc_code fc_trace_info(const struct fc_arguments *arguments, struct fc_status *st);

/* ---- text for people (text.c): no control character of others passes but line ends and tabs ---- */

/* The stream that a command's text goes through to `to`, one at a time; NULL: out of memory. Closed by fc_text_close, which
 * leaves `to` open. */
FILE *fc_text_open(FILE *to);
/* Makes what fc_text_open needs, which then cannot fail; false: out of memory. */
bool fc_text_reserve(void);
void fc_text_close(void);
/* What the stream of fc_text_open goes to; any other stream itself. */
FILE *fc_text_behind(FILE *stream);
/* The program's own bytes for a terminal: they pass as they are. */
void fc_text_own(FILE *stream, const char *bytes);
/* A text to standard output or error. */
void fc_say(FILE *to, const char *format, ...) FC_PRINTF(2, 3);
void fc_vsay(FILE *to, const char *format, va_list rest) FC_PRINTF(2, 0);
/* A new stream to standard error, for messages of the C library. NULL: out of memory. */
FILE *fc_text_errors(void);

/* ---- at a terminal (terminal.c) ---- */

enum fc_colour { FC_COLOUR_GOOD, FC_COLOUR_BAD, FC_COLOUR_BAR };
/* The text, coloured where the stream is a terminal that may show colours. */
void fc_print_coloured(FILE *stream, enum fc_colour colour, const char *text);
/* A bar of `share` of `width` <= 80 columns, rounded up: '#', at a terminal in UTF-8 blocks to the eighth. */
void fc_print_bar(FILE *stream, double share, int width);
/* At a terminal in UTF-8: before, a column a value from 0 to top (NaN and 0: blank), after. Else nothing. The
 * first FC_SPARKLINE of them. */
enum { FC_SPARKLINE = 100 };
void fc_print_sparkline(FILE *stream, const char *before, const double *value, size_t n, double top, const char *after);

/* ---- signals (signals.c) ---- */

/* From here on a signal that ends the program leaves no child and nothing unfinished. */
void fc_signals_start(void);
/* Does so: for handlers. */
_Noreturn void fc_end_by_signal(int number);
/* Until sigaction(SIGINT, before, NULL), the first Ctrl-C makes the result nonzero, for a search that then gives the best it
 * has, and the second one ends the program. Where Ctrl-C is ignored it stays so. */
const volatile sig_atomic_t *fc_catch_interrupt(struct sigaction *before);

/* ---- long work (heartbeat.c) ---- */

/* From here on the command shows at a terminal that it works; stopped before it prints, at the latest in fc_deliver. */
void fc_heartbeat_start(bool quiet);
void fc_heartbeat_stop(void);
/* A line on standard error, "fabricast: ...", in place of the heartbeat's. */
void fc_note(const char *format, ...) FC_PRINTF(1, 2);
/* That the calibration beside the machine does not fit, and why. */
void fc_note_uncalibrated(const char *why);
/* fc_progress_start and fc_progress_end of a bar that the heartbeat keeps alive. */
void fc_work_start(struct fc_progress *progress, bool quiet);
void fc_work_end(struct fc_progress *progress);

/* ---- printing (print.c) ---- */

/* The contract's keys for loads: bottleneck, links. New references. */
json_t *fc_json_links(const struct fc_network *net, const struct fc_load_summary *summary);
json_t *fc_json_bottleneck(const struct fc_network *net, uint32_t link, double bytes);
/* A figure's title: the words, and below them the command, in the arena; cut where it is long. NULL: out of memory. */
const char *fc_plot_title(const struct fc_arguments *arguments, struct fc_arena *arena, struct fc_status *st,
                          const char *format, ...) FC_PRINTF(4, 5);
/* "plots: DIR/a.png, DIR/b.png" on standard output, where people read it; names end with NULL. */
void fc_print_plots(const struct fc_arguments *arguments, const char *const *names);
/* The file's name without the folders before it, which differ from place to place. */
const char *fc_last_part(const char *path);
/* The command line, quoted for sh where it must be. */
const char *fc_words_command(const struct fc_arguments *arguments, struct fc_arena *arena, struct fc_status *st);
/* One line: name, title. And the provenance every prediction carries. */
void fc_print_machine(const struct fc_machine *machine, FILE *stream);
/* "+-4 %, calibrated by FILE", "+-31 %, from 6 calibrated torus machines (nearest bgl-512), not from this machine", "unknown:
 * WHY", "unknown (over 100 %)", with what is extrapolated; ends the line. `calibration`: file, or NULL; `from`: its relatives
 * in words, NULL: it is the machine's own. */
void fc_print_error(FILE *stream, const char *calibration, const char *from, double error_percent, bool extrapolated,
                    const char *why);
/* Writes json or calls print(stream, what), to -o or standard output. */
enum fc_code fc_deliver(const struct fc_arguments *arguments, const json_t *json,
                        void (*print)(FILE *stream, const void *what), const void *what, struct fc_status *st);

#endif
