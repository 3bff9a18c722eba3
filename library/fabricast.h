/* fabricast.h - predicts how a parallel job communicates on a machine, before it gets the machine.
 *
 * The only header that is installed; link with -lfabricast (pkg-config fabricast). Quantities are in SI base units: seconds,
 * bytes. No call prints, exits, handles a signal or keeps what it was given. Objects are opaque; what an answer shows is
 * borrowed from it until it is closed. Every call is thread-safe on different objects, and objects that are passed as const
 * may be shared by threads. What stands here stays: later versions only add, at the end of structures too. */
#ifndef FABRICAST_H
#define FABRICAST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header: major, minor, patch, a byte each. */
#define FABRICAST_VERSION 0x000100
/* Of the library that was loaded. */
uint32_t fabricast_version(void);

/* The numbers are the exit statuses of the program. */
typedef enum {
    FABRICAST_OK = 0,
    FABRICAST_NO = 1,    /* answered "no", or could not be done: no memory, a full disk */
    FABRICAST_INPUT = 2, /* wrong input; file and line tell where */
    FABRICAST_FAULT = 3  /* the library's own fault */
} fabricast_code;

/* What went wrong: filled by a call that does not return FABRICAST_OK; may be NULL. */
typedef struct {
    fabricast_code code;
    long line;      /* of the file, from 1; 0: the whole file, or none */
    char file[512]; /* "": no file */
    char message[1024];
} fabricast_error;

typedef struct fabricast_machine fabricast_machine; /* a machine, its network, its calibration, names of its hosts */
typedef struct fabricast_job fabricast_job;         /* a trace, a pattern, a communication graph or traffic in memory */
typedef struct fabricast_answer fabricast_answer;

/* ---- the machine ---- */

/* Opens a shipped machine by name ("bgl-512") or a machine file by path. `settings`: "KEY=VALUE" changes to it, such as
 * "network.dims=[8,8,4]", the last one NULL; or NULL. Close *machine; it is NULL after a failure. */
fabricast_code fabricast_machine_open(const char *name, const char *const *settings, fabricast_machine **machine,
                                      fabricast_error *error);
uint32_t fabricast_machine_nodes(const fabricast_machine *machine);
/* Names the hosts of nodes 0, 1, ...: "nid[0001-0512]" as Slurm writes lists, or @FILE with a name a line. One for each node
 * of the machine. Not while another thread uses it. */
fabricast_code fabricast_machine_hosts(fabricast_machine *machine, const char *hosts, fabricast_error *error);
/* node[i] of the host hosts[i], i < n, by the names of the machine file or of fabricast_machine_hosts; a name with a domain
 * ("cn07.example.org") that is not among them is looked for without it. FABRICAST_INPUT: a host that the machine does not have.
 * O(nodes + n). */
fabricast_code fabricast_machine_find(const fabricast_machine *machine, size_t n, const char *const *hosts,
                                      uint32_t *node, fabricast_error *error);
uint32_t fabricast_machine_links(const fabricast_machine *machine);
/* The name of a link, "x+ (0,0,0)->(1,0,0)", into out, always ended; "" where there is no such link. Returns out. */
char *fabricast_machine_link(const fabricast_machine *machine, uint32_t link, char *out, size_t size);
void fabricast_machine_close(fabricast_machine *machine); /* NULL is fine, as everywhere */

/* ---- the job ---- */

/* A recorded trace, in any format that `fabricast trace info` reads. It is read anew by every prediction. */
fabricast_code fabricast_job_trace(const char *path, fabricast_job **job, fabricast_error *error);
/* A pattern "alltoall:bytes=4KiB" (`fabricast list patterns`) on that machine. */
fabricast_code fabricast_job_pattern(const fabricast_machine *machine, const char *pattern, uint64_t seed,
                                     fabricast_job **job, fabricast_error *error);
/* A file with a communication graph: Matrix Market, METIS, Open MPI's monitoring. */
fabricast_code fabricast_job_graph(const char *path, fabricast_job **job, fabricast_error *error);
/* bytes[i] from task src[i] to task dst[i], i < n, one message each; all copied. */
fabricast_code fabricast_job_traffic(uint32_t n_tasks, size_t n, const uint32_t *src, const uint32_t *dst,
                                     const double *bytes, fabricast_job **job, fabricast_error *error);
uint32_t fabricast_job_tasks(const fabricast_job *job);
void fabricast_job_close(fabricast_job *job);

/* ---- the prediction ---- */

typedef struct {
    uint32_t size; /* sizeof(fabricast_settings), by fabricast_defaults */
    const char
        *map; /* "def" (rank order), "optimize", ... (`fabricast list strategies`), or a mapping file; NULL: def */
    const uint32_t *node_of; /* [n_tasks] the node of each task, instead of map; NULL */
    const uint32_t *allowed; /* [n_allowed] nodes that may be used, in order; NULL: all */
    uint32_t n_allowed;
    const char *network; /* of a trace: "contention", "queueing", "flit" or "ideal"; NULL: contention */
    double search_s;     /* limit of a search for a mapping: work, counted in seconds, so the same input gives the same
                              * answer; 0: 2 s of moves from all starts */
    uint64_t seed;
    int threads;
    int time_only; /* nonzero: best_bound_s, the bound of all mappings, is not worked out, and is NaN; with search_s under
                    * 4 s the split of an adaptive torus gets so much less work, a tenth at least: up to 14 % slower seen, and
                    * bound_s is that of cuts alone */
    /* Called now and then, by any thread but never by two at once; not 0: a search ends with the best so far. NULL */
    int (*progress)(void *context, double done);
    void *context;
    /* Instead of allowed, as text, as `predict --nodes` takes it: "0-31,64", host names, @FILE; NULL. Where the machine file says
     * what has failed, numbers are those of the whole machine, while node_of and allowed count the nodes that are left. */
    const char *nodes;
    const char *background; /* other jobs on the same links, as `predict --background`: "uniform:30%"; NULL: none */
} fabricast_settings;
fabricast_settings fabricast_defaults(void);

/* Predicts the job on the machine; settings NULL: the defaults. Milliseconds for traffic without a search. Close *answer; it
 * is NULL after a failure. */
fabricast_code fabricast_predict(const fabricast_machine *machine, const fabricast_job *job,
                                 const fabricast_settings *settings, fabricast_answer **answer, fabricast_error *error);

typedef struct { /* NaN: unknown */
    double time_s, communication_s, computation_s;
    double bound_s;         /* no run with this mapping and routing is faster */
    double percent_of_peak; /* 100 bound_s / time_s */
    double error_percent;   /* of time_s, as the machine's calibration, or its family's, measured it for such jobs */
    const char *binds;      /* "link", "software", "latency" or "computation" */
    const char *bottleneck; /* name of the link that binds; else as binds */
    const char *why;        /* the error is unknown or doubled; "" */
    uint32_t n_tasks, n_links;
    const uint32_t *node_of;   /* [n_tasks] */
    const double *link_bytes;  /* [n_links] payload */
    const double *link_busy_s; /* [n_links] 0 where a link has no limit */
    const char *mapping;       /* what made it; "optimize=def": the search found nothing faster than rank order */
    double hop_bytes;
    double waiting_s;    /* of a trace, for ranks that compute longer; time_s is the sum of the three */
    double best_bound_s; /* no mapping of the job onto the nodes allowed is faster */
} fabricast_figures;
const fabricast_figures *fabricast_answer_figures(const fabricast_answer *answer);
/* What `fabricast predict --json` prints; NULL: no memory. Not by two threads at once. */
const char *fabricast_answer_json(fabricast_answer *answer);
/* Writes the mapping for a launcher ("slurm", "rankfile", ...: `fabricast list formats`; "cores": our own), whole or not at
 * all; `machine`: the one that was predicted. */
fabricast_code fabricast_answer_launcher(const fabricast_answer *answer, const fabricast_machine *machine,
                                         const char *format, const char *path, fabricast_error *error);
void fabricast_answer_close(fabricast_answer *answer);

#ifdef __cplusplus
}
#endif
#endif
