/* command.h - the commands of the program, and the groups of options that they take. Only this room prints or exits. */
#pragma once

#include "cli/arguments.h"

/* Groups of options (option_table.c): a command takes all or none of one. */
enum fc_group {
    FC_MACHINE,     /* --machine, --set */
    FC_ROUTING,     /* --routing */
    FC_WITHOUT,     /* --without */
    FC_BENCHMARKS,  /* --from */
    FC_DUMP,        /* --dump-network */
    FC_FAILURES,    /* --weakest */
    FC_WAITING,     /* --queue, --repeat */
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
    FC_WHY,         /* --sensitivity */
    FC_TIERS,       /* --tier */
    FC_SOCKET,      /* --socket */
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
#define FC_A_JOB                                                                                                       \
    (FC_GROUPS(FC_MACHINE, FC_ROUTING, FC_WITHOUT, FC_PATTERN, FC_JOB, FC_NODES, FC_SEARCH, FC_COMMON) | FC_RUNS)
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
    /* Under mpirun all ranks work out one answer, `arguments->ranks`, and rank 0 gives it. Without: each is a run of its own. */
    bool over_ranks;
};
extern const struct fc_command *const fc_commands[]; /* ends with NULL (commands.c) */
extern const struct fc_command fc_command_predict;

/* A command line, argv[0] the command's name: parses it, checks its options, runs it, tells what was wrong. Returns the exit
 * status. */
int fc_run_command(const struct fc_command *command, int argc, char **argv);
/* For atexit: a library that ended the program while a command ran, for lack of memory, is told of with exit status 1. */
void fc_given_up(void);
