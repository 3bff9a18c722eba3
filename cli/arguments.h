/* arguments.h - what the command line of a command says. */
#pragma once

#include "answer/question.h"
#include "core/core.h"
#include "core/ranks.h"

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
    const char *generate; /* a network that is made by a rule */
    const char *from;     /* whose benchmarks the words name */
    const char *mpi;      /* measure: of the launcher */
    const char *import;   /* the kind of a topology file, which the words name */
    bool json, quiet, path_walk, text, dump_network, phases, replays;
    const char *bound; /* load: which program bounds it */
    bool worst_case;
    const char *set;         /* the last --set; all are in ask.settings */
    const char **node_lists; /* [n_node_lists] every --nodes, in order; `ask.nodes` is the last */
    int n_node_lists;
    struct fc_other_job
        *others; /* [n_others] every --background; the last is ask.background, those before it ask.more */
    int n_others;
    int n_background_lists; /* --background-nodes since the last --background but the first */
    bool twice_on_nodes;    /* two of them */
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
    const char *queue;            /* predict: a file of nodes and when they are free */
    uint64_t repeat;              /* predict --queue: so many times is the recorded piece run; 0: once */
    uint64_t weakest;             /* predict: so many links whose failure costs most; 0: not given */
    const char *versus;           /* report: the mapping beside --map */
    const char *per;              /* curve: what curves are drawn over */
    const char *tier;             /* compare: what its rows rest on */
    const char *socket;           /* serve: where it listens */
    const char *measured;         /* calibrate: a table of measured collectives */
    const struct fc_ranks *ranks; /* those that mpirun started with this one; NULL: none */
};
/* Whether this process is the one that prints, draws and writes. */
static inline bool fc_speaks(const struct fc_arguments *arguments)
{
    return !arguments->ranks || arguments->ranks->rank == 0;
}

struct fc_command;
/* Parses argv by the command's option letters; prints help and exits 0, or refuses and exits 2. Of an option that is there
 * several times the last one counts; --set and --nodes keep all. */
void fc_parse_arguments(const struct fc_command *command, int argc, char **argv, struct fc_arguments *arguments);
void fc_free_arguments(struct fc_arguments *arguments);
