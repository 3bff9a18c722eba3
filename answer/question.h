/* question.h - what is asked of fabricast, in plain values: which machine, which job, where its tasks sit, what runs beside
 * it. Strings and arrays are the asker's and stay until the answer is made. 0 and NULL: not given, the default holds. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fc_demand;
struct fc_progress;
struct fc_trace;

/* Who waits for the answer, and what it wants to know of the work. Every member may be NULL. */
struct fc_watcher {
    void *context;
    struct fc_progress *progress;
    /* Around a search for a mapping. Nonzero where search_starts points to ends it: the best so far is the answer. */
    const volatile sig_atomic_t *(*search_starts)(void *context);
    void (*search_ends)(void *context);
};

struct fc_question {
    /* The machine. */
    const char *machine;   /* a shipped name or a machine file */
    const char **settings; /* [n_settings] "KEY=VALUE" changes to it */
    size_t n_settings;
    const char *routing; /* instead of the machine file's */
    const char *without; /* links, routers, nodes that have failed: machine_without.h */
    const char *hosts;   /* host names of its nodes, or of those of `nodes`: a list or @FILE */

    /* The job: one of these four. */
    const char *pattern, *graph, *trace;
    const struct fc_trace *read;     /* what is in `trace`, by whoever has read it already; NULL: it is to be read */
    const struct fc_demand *traffic; /* bytes between tasks, in memory */
    const char *phase;               /* of the trace: "N" or "N-M" */
    const char *collectives;         /* rules and algorithms; NULL: by the trace's library, or MPICH's */
    const char *flops_per_s;         /* "RATE,...": of traces that count operations */
    double compute_s;                /* computation before a pattern or a graph */
    const char *network;             /* a trace's: ideal, contention (default), queueing or flit */
    const char *loggops;             /* end points instead of the machine's */
    const char *period;              /* auto, check or off (default) */

    /* Where its tasks sit. */
    const char *map;         /* a strategy or a mapping file; NULL: def */
    const uint32_t *node_of; /* [n_node_of] instead: the node of every task; NULL: none */
    uint32_t n_node_of;
    const uint32_t *allowed; /* [n_allowed] the nodes it may use, as numbers; of fc_answer_view; 0: all */
    uint32_t n_allowed;
    const char *nodes;  /* the nodes it may use: "0-31,64", hosts, @FILE; NULL: all */
    int ranks_per_node; /* tasks that a node takes, at most its cores; 0: its cores */
    long nodes_line;    /* the list on this line of the file that `nodes` names; 0: all of it */
    double search_s;    /* work of a search for a mapping, counted in seconds of a nominal machine */
    bool search_given;  /* search_s is a limit for starts too */

    /* What runs beside it. */
    const char *background, *background_nodes;
    const struct fc_other_job { /* further ones, of rates, each with nodes of its own */
        const char *background, *nodes;
    } * more; /* [n_more] */
    size_t n_more;

    uint64_t seed;
    int threads;

    /* What the answer is to hold besides its figures. */
    bool keep_links;                  /* every link's load, every task's node */
    bool keep_timeline;               /* what each rank of a trace does when */
    bool sensitivity;                 /* what the time depends on (sensitivity.h); search_s limits its work */
    bool time_only;                   /* its time, and no bound of all mappings */
    double split_share;               /* adaptive tori: so much of the full work finds the split; 0: all of it */
    bool uncalibrated;                /* by theory alone, whatever calibration there is */
    const struct fc_watcher *watcher; /* NULL: nobody */
};

/* A run of the flit-level kernel. Times in router cycles. */
struct fc_run_question {
    const char *load;          /* "0.3" flits a node and cycle, or "60%" of the ideal throughput */
    const char *engine;        /* auto (default), event or cycle */
    const char *packet_flits;  /* "N" or "N-M" */
    const char *high_priority; /* share of the load: "5%" */
    const char *vc_rule;       /* instead of the machine's */
    uint64_t warmup_cycles, measure_cycles, most_cycles, interval_cycles;
    double gap_cycles;
    double precision; /* half widths, a share of the means; 0: runs of chosen length */
    bool backlog, in_order, allow_deadlock, bubble_as_published;
};

/* What a curve of the queueing model tells besides the mean of all packets. */
struct fc_curve_question {
    const char *pairs;   /* "A-B,..." */
    const char *windows; /* "N,..." packets of a node on their way */
    bool by_hops;
};
