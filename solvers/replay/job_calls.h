/* job_calls.h - the collective calls of a trace, each with the messages it becomes (job_calls.c). */
#pragma once

#include "solvers/solvers.h"

/* The messages of calls that are alike, and who does what in which round. */
struct fc_call_schedule {
    uint32_t n; /* members */
    uint64_t n_messages;
    struct fc_message *messages; /* by round */
    uint64_t *first_step;        /* [n + 1] */
    uint64_t *step;              /* each member's part in order of rounds, in a round its sends before its receives:
                                  * 2 * message, + 1 where the member receives */
};
/* Sorts the messages of a schedule (n, messages, n_messages given) by member. */
enum fc_code fc_call_schedule_sort(struct fc_call_schedule *schedule, struct fc_arena *arena, struct fc_status *st);
struct fc_call {
    uint32_t comm, schedule;
};
struct fc_job_calls {
    struct fc_arena arena;
    uint32_t n_calls, n_schedules;
    struct fc_call *calls;
    struct fc_call_schedule *schedules;
};

/* Bytes that every rank contributes when a communicator is made: its colour and key. */
enum { FC_COMM_BYTES = 8 };

/* Which call an event takes part in, and as which member: packed in one number. */
static inline uint64_t fc_call_part(uint32_t call, uint32_t member)
{
    return (uint64_t)member << 32 | call;
}
static inline uint32_t fc_part_call(uint64_t part)
{
    return (uint32_t)part;
}
static inline uint32_t fc_part_member(uint64_t part)
{
    return (uint32_t)(part >> 32);
}

/* Is this call a collective, or one that costs like it? Finalize only where all ranks make it: see
 * job_calls.c. */
static inline bool fc_is_call(const struct fc_event *e, bool all_finalize)
{
    return (e->op >= FC_OP_BARRIER && e->op <= FC_OP_COMM) || (e->op == FC_OP_FINALIZE && all_finalize);
}

/* Finds the calls: the k-th collective of each member of a communicator belong together. part[n_events]
 * gets fc_call_part() where an event belongs to a call, else it is left alone. FC_INPUT names two events
 * that belong together but differ in operation or root. collectives NULL: MPICH's rules. O(events + lists + messages of
 * the schedules). */
enum fc_code fc_job_calls_find(const struct fc_trace *trace, const struct fc_collective_choice *collectives,
                               uint64_t *part, struct fc_job_calls *calls, struct fc_status *st);
void fc_job_calls_free(struct fc_job_calls *calls);
