/* replay_run.h - the state of one replay. What flows through it, file by file:
 *
 *     replay_source.c   a rank's next event, and a look ahead at collective calls still to come
 *     replay_ranks.c    programs: ranks that call one after the other, and run ahead until they must wait
 *     replay_graph.c    graphs: events that depend on each other, in order of time (LogGOPSim)
 *     replay_ends.c     what both ends of a message cost
 *     replay_match.c    which receive takes which message
 *     replay_calls.c    which collective calls belong together; replay_rounds.c plays them,
 *     replay_hardware.c those that the network carries out
 *     replay_net.c      the way between: idle networks by formula, others through transit.h
 *     timeline.c        what ranks do when, where that is asked for
 *     replay_report.c   the result; replay_deadlock.c ranks that wait for ever */
#pragma once

#include "solvers/adjoint/adjoint.h"
#include "solvers/replay/replay_eager.h"
#include "core/timeline.h"
#include "solvers/replay/replay_source.h"
#include "solvers/transit/transit_internal.h"

/* One thread of control: a rank's program, or a collective call that goes on by itself (nonblocking; of a
 * graph). */
struct fc_strand {
    struct fc_clock {
        double clock_s, send_s, receive_s; /* now; when the next message may be sent, received (gap) */
    } at[FC_VIEWS];
    double compute_s;                 /* computation so far */
    struct fc_chain chain;            /* behind clock_s, real */
    uint32_t send_node, receive_node; /* of the run's adjoint: send_s, receive_s */
    double entered_s;                 /* the call at hand */
    uint64_t event;                   /* beside: the event that started it */
    uint32_t rank, pending;           /* pending: messages and calls that it is blocked on */
    uint32_t member, round;           /* of the call at hand */
    uint32_t vertex;                  /* of a graph */
    bool main, begun, in_call, in_round, finished;
    uint8_t op;           /* beside: of the event */
    struct fc_mail *mail; /* of the send or receive at hand */
    struct fc_live_call *call;
    uint64_t step, round_end; /* of a list */
    struct fc_mail **hand;    /* [n_hand] messages of the round at hand; receives first */
    uint32_t n_hand, n_receives, hand_capacity;
    struct fc_strand *waiter; /* beside: blocked until it has finished */
    struct fc_strand *next_ready;
    struct fc_strand *behind; /* beside: all of them, in use or free */
};

/* Requests of a rank that are open, by number. */
struct fc_request {
    int32_t number; /* -1: free slot */
    enum { FC_REQUEST_DONE, FC_REQUEST_SEND, FC_REQUEST_RECEIVE, FC_REQUEST_CALL } kind;
    void *what; /* struct fc_mail or fc_strand */
};
struct fc_requests {
    struct fc_request *slot; /* [mask + 1], at most half full */
    uint32_t mask, n;
};

struct fc_taken {
    double arrived_s, bytes, work_s; /* CPU time for what it brings */
    const struct fc_chain *chain;
    bool is_long, local; /* for the eager buffers; of the same node */
};

struct fc_run {
    struct fc_job *job;
    struct fc_arena arena;
    int views; /* 2, or 1: the network is ideal */
    struct fc_match match;
    struct fc_calls calls;
    struct fc_reader reader;
    struct fc_eager eager;
    struct fc_transit *transit;                   /* NULL: LogGOPS; ideal: its ways alone are used */
    struct fc_timeline *timeline;                 /* NULL: nobody asks for it */
    struct fc_adjoint *adjoint;                   /* the same */
    struct fc_strand *strand;                     /* [n_ranks] programs */
    struct fc_requests *request;                  /* [n_ranks] */
    uint32_t *n_sent;                             /* [n_ranks] messages sent, wraps round */
    uint32_t *port;                               /* [n_ranks] of its node's, NULL: messages take them in turn */
    struct fc_strand *ready, *later, *last_later; /* later: had their turn */
    struct fc_strand *free_strand, *all_beside;
    struct fc_mail **way; /* [n_way] messages in the transit */
    uint32_t *free_way, n_way, n_free_way;
    size_t way_capacity;
    struct fc_taken *taken[FC_VIEWS]; /* scratch: the receives of one wait */
    size_t taken_capacity;
    void (*arrived)(struct fc_run *, struct fc_mail *); /* graph: instead of waking strands */
    void (*call_over)(struct fc_run *, struct fc_strand *);
    void *graph;
    double time_s[FC_VIEWS]; /* latest end or arrival so far, and */
    struct fc_chain chain;   /* what led to the real one */
    uint64_t n_messages, n_network_messages, n_events;
    uint32_t n_finished;
    double *finish_s, *compute_s, *waiting_s,
        *path_compute_s; /* [n_ranks] results; path_compute_s: computation on the path
                                                                * that led to its end; waiting_s NULL: not known */
    struct {
        double p2p_wait_s, collective_s, local_bytes, network_bytes;
    } total;
};

/* The rank's processor does `state` until the clock of its program, s, in the real view. Calls that go on beside
 * a program cost it nothing; those of a graph are its own. */
static inline void fc_strand_does(struct fc_run *run, const struct fc_strand *s, enum fc_rank_state state,
                                  double from_s)
{
    if (__builtin_expect(run->timeline != NULL, 0) && (s->main || run->graph))
        fc_timeline_does(run->timeline, s->rank, state, from_s, s->at[FC_REAL].clock_s);
}

static inline void fc_mail_moves(struct fc_run *run, const struct fc_mail *mail, double from_s, double to_s)
{
    if (__builtin_expect(run->timeline != NULL, 0))
        fc_timeline_moves(run->timeline, mail->from, mail->bytes, from_s, to_s);
}

static inline void fc_make_ready(struct fc_run *run, struct fc_strand *s)
{
    s->next_ready = run->ready;
    run->ready = s;
}
static inline void fc_wake(struct fc_run *run, struct fc_strand *s)
{
    if (s && --s->pending == 0) fc_make_ready(run, s);
}
/* A cost behind a node of the adjoint, where there is one. */
static inline uint32_t fc_node_after(struct fc_run *run, uint32_t node, enum fc_adjoint_cost cost, uint32_t index,
                                     double amount)
{
    return __builtin_expect(run->adjoint != NULL, 0) ? fc_adjoint_add(run->adjoint, node, cost, index, amount) : node;
}
/* fmax is a call into the library, this is not. */
static inline double fc_later(double a_s, double b_s)
{
    return a_s > b_s ? a_s : b_s;
}
/* The rank did nothing from..to. It waited where what came then has more computation behind it than the rank itself. */
static inline void fc_rank_idles(struct fc_run *run, uint32_t rank, double from_s, double to_s,
                                 const struct fc_chain *own, const struct fc_chain *other)
{
    double more_s = other->computation_s - own->computation_s, idle_s = to_s - from_s;
    run->waiting_s[rank] += fc_later(0, more_s < idle_s ? more_s : idle_s);
}
/* Something ends at time_s[views]: the latest such end is the job's. */
static inline void fc_run_ends(struct fc_run *run, double real_s, double alone_s, const struct fc_chain *chain)
{
    if (run->views > 1) run->time_s[FC_ALONE] = fc_later(run->time_s[FC_ALONE], alone_s);
    if (real_s <= run->time_s[FC_REAL]) return;
    run->time_s[FC_REAL] = real_s;
    run->chain = *chain;
}
/* Runs the strands that are ready until none is; false: the status is filled. */
bool fc_run_ready(struct fc_run *run);
/* Whether two ranks share a node; with loggops there are no nodes. */
static inline bool fc_ranks_share(const struct fc_run *run, uint32_t a, uint32_t b)
{
    const uint32_t *node = run->job->node;
    return node && node[a] == node[b];
}
/* Marks a message whose ends and bytes are known, once, as it is sent: is it too long for the eager buffers? */
static inline bool fc_mail_is_long(struct fc_run *run, struct fc_mail *mail)
{
    const struct fc_software *software = &run->job->settings->software;
    double eager_bytes = software->eager_bytes;
    if (run->eager.most && !fc_eager_between(&run->eager, mail->from, mail->to))
        eager_bytes = software->eager_beyond_bytes;
    if (mail->bytes > eager_bytes) mail->state |= FC_LONG;
    return mail->bytes > eager_bytes;
}

/* Replays programs from the start to the end. FC_INPUT when ranks wait for each other for ever. */
enum fc_code fc_run_programs(struct fc_run *run);
/* replay_graph.c: the same for a graph. */
enum fc_code fc_run_graph(struct fc_run *run);
