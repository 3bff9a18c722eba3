/* job.h - the job of a question: its traffic, its trace, how its replay goes (job.c). */
#pragma once

#include "answer/period.h"
#include "answer/session.h"
#include "mapping/mapping.h"
#include "solvers/collective/collective.h"
#include "traces/trace_formats.h"
#include "traces/trace_source.h"

/* ---- what commands ask of parts of a job ---- */

/* q->flops_per_s as options of the readers (speeds in the arena). */
enum fc_code fc_trace_options_of(const struct fc_question *q, struct fc_arena *arena, struct fc_trace_options *options,
                                 struct fc_status *st);
/* FC_INPUT where q->flops_per_s is given and the trace, or its head, has times, not operations. */
enum fc_code fc_check_speeds(const struct fc_question *q, const struct fc_trace *trace, struct fc_status *st);
/* q->collectives; where it gives no rules, those of the library that recorded the trace, by its `recorded`, else
 * MPICH's. */
enum fc_code fc_read_collectives(const struct fc_question *q, const char *recorded, struct fc_collective_choice *choice,
                                 struct fc_status *st);
/* Text "L=..,o=..,g=..,G=..,O=..,S=.." into the replay's settings; NULL: the end points of `software` on the network. */
enum fc_code fc_read_loggops(const char *text, const struct fc_software *software, struct fc_replay_settings *settings,
                             struct fc_status *st);
/* The traffic of the question: a trace as its total demand, or that of q->phase. Exactly one kind must be given. The caller
 * frees the demand. */
enum fc_code fc_job_demand(const struct fc_question *q, const struct fc_session *session, struct fc_demand *demand,
                           struct fc_status *st);

/* ---- a job that is predicted, once or under several mappings and on several machines ---- */

struct fc_predicted_job {
    struct fc_arena arena;
    struct fc_trace_source source; /* of a trace; head NULL: none */
    enum fc_period_mode period_mode;
    struct fc_period period;
    struct fc_collective_choice collectives;
    enum fc_network_model network;
    struct fc_demand whole; /* of the trace, once it was read for the bound of all mappings */
    bool whole_read;
    struct fc_best { /* that bound, of the traffic on the machine last asked for (best_bound.c) */
        bool known, spread;
        struct fc_map_bound bound;
        const char *why; /* it was not looked for */
    } best;
};
/* Checks what the question says of the job, opens its trace and looks for its period; close it also after a failure. */
enum fc_code fc_job_open(const struct fc_question *q, struct fc_predicted_job *job, struct fc_status *st);
void fc_job_close(struct fc_predicted_job *job);
/* The traffic on that machine: of a trace only the number of tasks, where none of the mappings looks at more. The caller
 * frees the demand. */
enum fc_code fc_job_traffic(struct fc_predicted_job *job, const struct fc_question *q, const struct fc_session *session,
                            const char *const *maps, size_t n_maps, struct fc_demand *demand, struct fc_status *st);

/* The job's whole traffic, that of a trace with its collectives, read once and kept in the job; false: *why tells why it is not
 * looked at, or a failure (best_bound.c). `demand`: of fc_job_traffic. */
bool fc_job_whole(struct fc_predicted_job *job, const struct fc_demand *demand, const struct fc_demand **whole,
                  const char **why, struct fc_status *st);

/* ---- where its tasks sit (placing.c) ---- */

/* What a mapping is asked for: the question's nodes, seed and search. Patterns over nodes take one task a node. */
struct fc_map_problem fc_map_problem_of(const struct fc_question *q, const struct fc_session *session,
                                        const struct fc_demand *demand);
/* Solves such a problem, to which more may be known, by strategy or file `map` (NULL: def), and tells the question's
 * watcher. mapping->stopped and ->unsearched say what a search was spared. */
enum fc_code fc_place_problem(const struct fc_question *q, struct fc_map_problem problem, const char *map,
                              struct fc_mapping *mapping, struct fc_status *st);
/* Places the demand's tasks: on q->node_of where it is given, else by `map`. */
enum fc_code fc_place_tasks(const struct fc_question *q, const struct fc_session *session,
                            const struct fc_demand *demand, const char *map, struct fc_mapping *mapping,
                            struct fc_status *st);
