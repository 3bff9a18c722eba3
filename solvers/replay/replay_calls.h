/* replay_calls.h - collective calls: which belong together (replay_calls.c), their rounds (replay_rounds.c), and those
 * that the network carries out (replay_hardware.c). */
#pragma once

#include "solvers/collective/collective.h"
#include "solvers/replay/job_calls.h"
#include "solvers/replay/replay_match.h"

struct fc_hardware_times;
struct fc_run;

/* The messages of calls that are alike. */
struct fc_call_list {
    struct fc_call_schedule s;
    struct fc_arena arena;
    enum fc_op op;
    uint32_t n, root;
    double bytes, *sizes; /* [n] bytes of each; NULL: all `bytes` */
    uint32_t n_used;      /* by calls in progress */
    struct fc_batch *free_batch;
    struct fc_call_list *next; /* of the same hash */
};
struct fc_batch {
    struct fc_batch *next_free;
    struct fc_mail mail[]; /* of each message of the list */
};
/* Calls of the members of a communicator that belong together. */
struct fc_live_call {
    uint32_t comm, number; /* the number-th of its communicator, from 0 */
    int32_t serial;
    uint8_t op;
    int32_t root_rank; /* as recorded: -1 where there is none */
    uint32_t root;     /* member */
    uint32_t first_rank, n;
    uint64_t first_event;
    bool begun, uneven, owns_blocks;  /* its messages are known; members brought different bytes; blocks are copies */
    uint32_t n_done, n_gone;          /* members that have left; that never come */
    struct fc_collective_fresh fresh; /* fc_collective_buffers of the algorithm */
    double bytes;
    double *sizes;          /* [n] as in fc_call_list; NULL: all alike */
    int64_t **blocks;       /* [n] alltoallv: bytes to each; NULL: nothing */
    const uint32_t *member; /* [n] ranks */
    /* Either a list, or rounds that are worked out as they come. */
    struct fc_call_list *list;
    struct fc_batch *batch;
    const struct fc_collective_alike *alike;
    struct fc_dense_call *dense;              /* its messages, all known by their place; else NULL */
    const struct fc_hardware_times *hardware; /* neither: the network carries it out; since when: */
    double start_s[FC_VIEWS];
    struct fc_chain chain;     /* behind start_s, real */
    struct fc_strand *waiting; /* members that wait for the start, by next_ready */
    uint32_t n_entered;
    bool started;
    double *before; /* [n + 1] bytes of sizes 0 .. i-1 */
    struct fc_live_call *next_free;
};
/* Bytes of what a call reduces, on each member. */
static inline double fc_call_vector_bytes(const struct fc_live_call *call)
{
    return call->op == FC_OP_REDUCE_SCATTER ? call->bytes * call->n : call->bytes;
}
struct fc_comm_calls {
    uint32_t first, n, mask; /* calls in progress: number first .. first + n - 1, at slot number & mask */
    struct fc_live_call **slot;
};
struct fc_calls {
    struct fc_job *job;
    struct fc_arena arena;
    uint64_t *rank_first;       /* [n_ranks + 1] */
    uint32_t *rank_comm;        /* communicators of each rank but the world, ascending, and */
    uint32_t *rank_member;      /* the rank's number in it */
    uint32_t *made;             /* [comm_first[n_comms]] calls so far of each member of each communicator */
    struct fc_comm_calls *comm; /* [n_comms] */
    struct fc_live_call *free_call;
    int32_t n_calls;
    struct fc_call_list **bucket;       /* by hash */
    uint64_t n_listed;                  /* messages of all lists */
    struct fc_hardware_times *hardware; /* of calls so far */
    uint64_t n_uneven;
    bool all_finalize, finalize_known;
};
enum fc_code fc_calls_start(struct fc_calls *calls, struct fc_job *job);
void fc_calls_free(struct fc_calls *calls);
struct fc_reader;
/* The rank enters the call of event e, its number-th: the call, and the rank's number in it. NULL with the
 * status filled when members do not agree. reader NULL: everything has been announced. */
struct fc_live_call *fc_calls_join(struct fc_calls *calls, struct fc_reader *reader, uint32_t rank,
                                   const struct fc_event *e, const int64_t *list, uint64_t number, uint32_t k,
                                   uint32_t *member); /* k: its how-manieth of the communicator */
struct fc_live_call *fc_calls_enter(struct fc_calls *calls, struct fc_reader *reader, uint32_t rank,
                                    const struct fc_event *e, const int64_t *list, uint64_t number, uint32_t *member);
void fc_calls_leave(struct fc_calls *calls, struct fc_live_call *call);
/* Does the event take part in a call? Finalize does where it is every rank's last. */
bool fc_calls_takes_part(struct fc_calls *calls, struct fc_reader *reader, const struct fc_event *e);
/* What a member contributes, ahead of its entering (replay_source.c). */
enum fc_code fc_calls_announce(struct fc_calls *calls, uint32_t comm, uint32_t number, uint32_t member, uint32_t rank,
                               uint64_t event, const struct fc_event *e, const int64_t *list);
uint32_t fc_calls_member(const struct fc_calls *calls, uint32_t comm, uint32_t rank);
static inline uint32_t fc_call_comm(const struct fc_event *e)
{
    return e->op == FC_OP_COMM ? (uint32_t)e->peer : e->op == FC_OP_FINALIZE ? 0 : (uint32_t)e->comm;
}

/* ---- rounds that are worked out as they come (replay_rounds.c) ---- */

/* The other member and the bytes of the i-th send (receive) of `member`: of round i, or, where all are sent at once, in the
 * only one. False: there is none. */
bool fc_call_sends(const struct fc_live_call *call, uint32_t member, uint32_t i, uint32_t *to, double *bytes);
bool fc_call_receives(const struct fc_live_call *call, uint32_t member, uint32_t i, uint32_t *from);

/* ---- what the network carries out (replay_hardware.c) ---- */

/* Times of calls of one communicator that are alike. */
struct fc_hardware_times {
    struct fc_hardware_times *next;
    const struct fc_collective_algorithm *algorithm;
    uint32_t comm, root;
    double bytes, network_bytes; /* network_bytes: payload to other nodes */
    double at_s[];               /* [n] */
};
/* The call becomes one of the algorithm's. FC_INPUT where the machine cannot. */
enum fc_code fc_hardware_begin(struct fc_calls *calls, struct fc_live_call *call,
                               const struct fc_collective_algorithm *algorithm);
/* Goes on with the call of s: over (true), or it waits for others (false). */
bool fc_hardware_play(struct fc_run *run, struct fc_strand *s);
/* The rank that the call in progress of s waits for. */
uint32_t fc_hardware_waits_for(const struct fc_strand *s);
