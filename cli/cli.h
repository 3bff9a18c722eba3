/* cli.h - the commands of the program. The only room that prints or exits. */
#ifndef FC_CLI_H
#define FC_CLI_H

#include "answer/question.h"
#include "mapping/launcher.h"
#include "solvers/background.h"
#include "solvers/calibration/calibration.h"
#include "solvers/collective/collective.h"
#include "solvers/flit/flit.h"
#include "solvers/replay/replay_beside.h"
#include "solvers/solvers.h"
#include "traces/trace_formats.h"

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
    double members, bytes; /* 0: not given */
    double budget_s;       /* 0: not given */
    int iterations;
    bool json, quiet, path_walk, text, dump_network, phases, replays;
    const char *bound; /* load: which program bounds it */
    bool worst_case;
    const char **node_lists; /* [n_node_lists] every --nodes, in order; `ask.nodes` is the last */
    int n_node_lists;
    bool compare, long_mapping;
    const char *format; /* of what is written */
    bool partial;       /* capture: of a program that failed too */
    const char *objective, *constraint, *pin, *keep_free, *turns; /* place */
    double on_chip;
    bool confirm, milp;
    bool quick, full; /* reproduce */
    const char *into;
    int n_words;        /* arguments that are no options */
    char **words;
    char **program;     /* what follows --, NULL-terminated, or NULL */
    int argc;           /* the command line as it was given; argv[0] is "fabricast COMMAND" */
    char **argv;
    const char *versus; /* report: the mapping beside --map */
};

/* A command: its name, what --help says, the options it takes ("mpgt..." keys of the table in options.c), its body. */
struct fc_command {
    const char *name, *arguments, *summary, *example;
    const char *options;
    enum fc_code (*run)(const struct fc_arguments *arguments, struct fc_status *st);
    /* In a sweep: "" as it is, since it only answers; a word: only with this verb. NULL: not at all, since it runs programs
     * or writes files that no option names. */
    const char *swept;
};
extern const struct fc_command *const fc_commands[]; /* ends with NULL (commands.c) */
extern const struct fc_command fc_command_list, fc_command_machines, fc_command_load, fc_command_predict,
    fc_command_trace, fc_command_certify, fc_command_map, fc_command_flit, fc_command_curve, fc_command_calibrate,
    fc_command_place, fc_command_report, fc_command_reproduce, fc_command_sweep;

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
enum fc_code fc_check_swept(const struct fc_command *command, int n_words, const char *const *words, struct fc_status *st);

/* ---- the shared beginning of commands (session.c) ---- */

/* A machine with its network, as the arguments ask. */
struct fc_session {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_arena arena;
    uint32_t *nodes; /* --nodes, in order; NULL: all */
    size_t n_nodes;
    struct fc_background background; /* where there is one, and its */
    double *background_bytes_per_s;  /* [n_links], else NULL */
    struct fc_trace other; /* a job in the same replay; first_event NULL: none */
    struct fc_placement other_placement;
    struct fc_beside beside; /* after fc_session_replay_beside */
    struct fc_calibration calibration; /* after fc_session_calibrate, where there is one: calibrated */
    bool calibrated;
    struct fc_calibration_misfit misfit; /* where there is none: why */
};
enum fc_code fc_session_open(const struct fc_arguments *arguments, const char *machine, struct fc_session *session,
                             struct fc_status *st);
void fc_session_close(struct fc_session *session);
/* Looks for the calibration beside the machine's file; its closed runs, or NULL where there is none that fits: why is in
 * session->misfit. FC_INPUT: it cannot be read. */
enum fc_code fc_session_calibrate(struct fc_session *session, const struct fc_bulk **bulk, struct fc_status *st);
/* --flops-per-s as options of the readers (speeds in the arena). */
enum fc_code fc_trace_options_of(const struct fc_arguments *arguments, struct fc_arena *arena,
                                 struct fc_trace_options *options, struct fc_status *st);
/* FC_INPUT where --flops-per-s is given and the trace, or its head, has times, not operations. */
enum fc_code fc_check_speeds(const struct fc_arguments *arguments, const struct fc_trace *trace,
                             struct fc_status *st);
/* The traffic named by -p, -g or -t (a trace as its total demand, or that of --phase). Exactly one must be given. */
enum fc_code fc_session_demand(const struct fc_arguments *arguments, const struct fc_session *session,
                               struct fc_demand *demand, struct fc_status *st);
/* --collectives; MPICH's rules where it is not given. */
enum fc_code fc_session_collectives(const struct fc_arguments *arguments, struct fc_collective_choice *choice,
                                    struct fc_status *st);
/* --loggops into the replay's settings; without it the end points of `software` on the network. */
enum fc_code fc_read_loggops(const char *text, const struct fc_software *software,
                             struct fc_replay_settings *settings, struct fc_status *st);
/* Closed-form times of all collectives for --members, --bytes, --loggops (collectives.c). */
enum fc_code fc_table_collectives(const struct fc_arguments *arguments, struct fc_table *table,
                                  struct fc_status *st);
/* What a mapping is asked for: the arguments' nodes, seed and search. Patterns over nodes take one task a node. */
struct fc_map_problem fc_session_problem(const struct fc_arguments *arguments, const struct fc_session *session,
                                         const struct fc_demand *demand);
/* Places the demand's tasks by strategy or file `map`. */
enum fc_code fc_session_map(const struct fc_arguments *arguments, const struct fc_session *session,
                            const struct fc_demand *demand, const char *map, struct fc_mapping *mapping,
                            struct fc_status *st);
/* The same of such a problem, to which more may be known. */
enum fc_code fc_session_map_problem(const struct fc_arguments *arguments, struct fc_map_problem problem,
                                    const char *map, struct fc_mapping *mapping, struct fc_status *st);
/* --background and --background-nodes into the session (background.c). */
enum fc_code fc_session_background(const struct fc_arguments *arguments, struct fc_session *session,
                                   struct fc_status *st);
/* FC_INPUT where the background is a job to be replayed: for commands that take rates only. */
enum fc_code fc_session_only_rates(const struct fc_session *session, struct fc_status *st);
/* Replays a trace beside the session's other job; FC_NO when it is streamed, not in memory. */
enum fc_code fc_session_replay_beside(struct fc_session *session, const struct fc_trace_source *source,
                                      const struct fc_placement *placement, const struct fc_replay_settings *settings,
                                      struct fc_replay *replay, struct fc_status *st);
/* What it is and what it takes of the busiest link and of this one (FC_NONE: none): null, or NULL, where there is no
 * background. */
json_t *fc_json_background(const struct fc_arguments *arguments, const struct fc_session *session, uint32_t bottleneck);
char *fc_text_background(const struct fc_arguments *arguments, const struct fc_session *session, uint32_t bottleneck,
                         struct fc_arena *arena, struct fc_status *st);
/* Splits "a,b,c" into the arena. */
enum fc_code fc_split_list(const char *text, struct fc_arena *arena, const char ***items, size_t *n,
                           struct fc_status *st);

/* ---- runs of the flit-level kernel (flit_settings.c) ---- */

/* The settings that `flit` and `curve` share; the load stays open. */
enum fc_code fc_flit_of_arguments(const struct fc_arguments *arguments, struct fc_flit_settings *settings,
                                  struct fc_status *st);
/* One load in flits per node and cycle: "0.3", or "60%" of the demand's ideal throughput, which is worked out
 * on first use and kept in *ideal (NaN before). `option` names where the text comes from. */
enum fc_code fc_flit_read_load(const char *option, const char *text, const struct fc_session *session,
                               const struct fc_demand *demand, const struct fc_flit_settings *settings,
                               double *ideal, double *load_flits_per_cycle, struct fc_status *st);
/* Messages of one task a node taken as relative rates, for `option`. FC_INPUT where tasks are not nodes. */
enum fc_code fc_flit_as_rates(const char *option, const struct fc_session *session, struct fc_demand *demand,
                              struct fc_status *st);
/* The load of one run, and the refusal of options that are not for this kind of traffic; with a load or a backlog the
 * demand becomes rates. *ideal as above. */
enum fc_code fc_flit_read_offer(const struct fc_arguments *arguments, const struct fc_session *session,
                                struct fc_demand *demand, struct fc_flit_settings *settings,
                                double *ideal, struct fc_status *st);

/* ---- phases of a trace (phases.c) ---- */

/* The demand of --phase N or N-M. */
enum fc_code fc_demand_of_argument(const struct fc_arguments *arguments, const struct fc_trace *trace,
                                   struct fc_demand *demand, struct fc_status *st);
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
/* That an answer is uncalibrated, and why. */
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
/* One line: name, title. And the provenance every prediction carries. */
void fc_print_machine(const struct fc_machine *machine, FILE *stream);
/* "+-4 %, calibrated by FILE", "unknown: WHY", with what is extrapolated; ends the line. `calibration`: file, or NULL. */
void fc_print_error(FILE *stream, const char *calibration, double error_percent, bool extrapolated, const char *why);
/* Writes json or calls print(stream, what), to -o or standard output. */
enum fc_code fc_deliver(const struct fc_arguments *arguments, const json_t *json,
                        void (*print)(FILE *stream, const void *what), const void *what, struct fc_status *st);

#endif
