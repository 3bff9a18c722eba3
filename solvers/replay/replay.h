/* replay.h - private parts of the replay. What flows through it, file by file:
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
#ifndef FC_REPLAY_H
#define FC_REPLAY_H

#include "solvers/collective/collective.h"
#include "solvers/replay/job_calls.h"
#include "core/timeline.h"
#include "solvers/timing.h"
#include "solvers/transit/transit_internal.h"
#include "solvers/replay/replay_eager.h"
#include "traces/trace_source.h"

/* ---- what is replayed ---- */

struct fc_job {
    const struct fc_network *net; /* NULL only with loggops */
    const struct fc_trace *trace; /* the source's head: its events only where they are in memory */
    struct fc_trace_source *source;
    const struct fc_replay_settings *settings;
    struct fc_status *st;
    struct fc_arena arena;
    const uint32_t *node;    /* [n_ranks] */
    double local_s_per_byte; /* memory of a node */
};

/* A program is replayed in two views at once: as it happens, and, in the same order of everything, as if
 * every message met an idle network. The second is a bound of the first (replay.c). Ideal networks have the
 * first view only. */
enum { FC_REAL, FC_ALONE, FC_VIEWS };

/* What the chain of events that ends at a certain time spent that time on; the rest is latency. */
struct fc_chain {
    double computation_s, software_s;
    double link_s; /* serialisation and waiting for links */
};

struct fc_strand;
struct fc_run;
struct fc_hardware_times;

/* ---- messages (replay_match.c) ---- */

/* A message from the first that is known of it, send or receive, until both ends are done with it. */
struct fc_mail {
    double sent_s[FC_VIEWS];    /* it, or with rendezvous its announcement, has left the sender's CPU; after it
                                * has left its node: when it would arrive if links took no time */
    double posted_s[FC_VIEWS];  /* its receive was posted */
    double arrived_s[FC_VIEWS]; /* its last byte is at the receiver's node */
    struct fc_chain chain;      /* behind sent_s or posted_s, whatever decides; then behind arrived_s */
    double bytes;
    struct fc_strand *sender, *receiver; /* blocked until it has arrived; NULL: nobody */
    struct fc_mail *next;                /* in its queue, or free */
    struct fc_mail *before, *behind;     /* among those to one rank that nobody has taken (only with wildcards) */
    struct fc_mail *taken;               /* of a receive from anyone: what it got */
    struct fc_queue_key {                /* communicator, or FC_OF_CALL + a call's number; a receive may have FC_ANY */
        int32_t comm, source, destination, tag;
    } key;
    uint32_t from, to;        /* ranks */
    uint32_t number;          /* of the sender's messages, or of all receives; wraps round */
    uint32_t route;           /* of the transit's ways; FC_NONE: not looked up */
    uint32_t state;           /* FC_SENT... */
    uint32_t vertex;          /* of a graph: the event that sends or receives it; */
    uint8_t processor, nic;   /* and what it occupies */
    uint32_t place;           /* in row, */
    struct fc_dense_row *row; /* of a call of all to all (replay_dense.h); else NULL */
    uint64_t turn;            /* and its place among what happens at the same time */
};
enum {
    FC_SENT = 1,
    FC_POSTED = 2,
    FC_RENDEZVOUS = 4,
    FC_ARRIVED = 8,
    FC_OPEN = 16,         /* a receive that is not yet sure what it takes */
    FC_SENDER_HOLDS = 32, /* kept until its sender, its receiver, the network, the queue have let go of it */
    FC_RECEIVER_HOLDS = 64,
    FC_NETWORK_HOLDS = 128,
    FC_QUEUED = 256,
    FC_EMBEDDED = 512, /* part of a batch: never freed alone */
    FC_LONG = 1024     /* no eager buffer holds it */
};
enum { FC_HOLDS = FC_SENDER_HOLDS | FC_RECEIVER_HOLDS | FC_NETWORK_HOLDS | FC_QUEUED | FC_EMBEDDED };
#define FC_OF_CALL INT32_MIN

/* Sends without receives, or receives without sends, of one key, first come first served. */
struct fc_queue {
    struct fc_queue_key key;
    struct fc_mail *first, *last; /* first NULL: empty */
    uint32_t route;
    bool used; /* the slot holds a key */
};
struct fc_match {
    struct fc_status *st;
    struct fc_queue *queue; /* [mask + 1], at most half full */
    size_t mask, n_used;
    struct fc_mail *free_mail;
    struct fc_mail_block *blocks;
    uint32_t n_posted;
    struct fc_queue *sent_to; /* queue of the latest send; until the next look-up */
    /* Receives from anyone. All NULL until the first. */
    uint32_t n_ranks;
    struct fc_inbox *inbox;    /* [n_ranks] */
    struct fc_mail **earliest; /* [n_ranks] scratch: the first of each source */
    uint32_t *open;            /* [n_open] ranks that have open receives */
    uint32_t n_open;
};
struct fc_inbox {
    struct fc_mail *first, *last;           /* messages that nobody has taken, as they came */
    struct fc_mail *first_open, *last_open; /* receives that are not sure, as posted */
    struct fc_mail *best, *best_message;    /* of them the one that is sure first, and what it takes */
    double best_s;
    bool stale; /* best must be looked for again */
};
enum fc_code fc_match_start(struct fc_match *match, uint32_t n_ranks, struct fc_status *st);
void fc_match_free(struct fc_match *match);
struct fc_queue *fc_match_find(struct fc_match *match, struct fc_queue_key key);
/* A new message; NULL with the status filled when there is no memory. */
struct fc_mail *fc_mail_new(struct fc_match *match);
/* The side named has let go of it. */
static inline void fc_mail_release(struct fc_match *match, struct fc_mail *mail, uint32_t hold)
{
    mail->state &= ~hold;
    if (mail->state & FC_HOLDS) return;
    mail->next = match->free_mail;
    match->free_mail = mail;
}
/* The message that a new send (receive) belongs to: one that the other side has begun, or a new one, queued.
 * O(1) but for receives from anyone, which look through the messages that wait at their rank. */
struct fc_mail *fc_match_send(struct fc_match *match, struct fc_queue_key key);
struct fc_mail *fc_match_receive(struct fc_match *match, struct fc_queue_key key);
/* The open receive that is sure first, and from when on; NULL: nothing is there for any. announced_s tells
 * when the announcement of a long message is at its receiver. O(ranks with open receives + messages at those
 * that changed). */
struct fc_mail *fc_match_next_open(struct fc_match *match, double (*announced_s)(void *, struct fc_mail *),
                                   void *context, double *time_s);
/* Gives it the message that it is sure of. */
void fc_match_decide(struct fc_match *match, struct fc_mail *receive);
/* The next receive of the rank that was open only because another one was, with what it takes; NULL: none. */
struct fc_mail *fc_match_release(struct fc_match *match, uint32_t rank);
/* Something about the messages to this rank has changed. */
static inline void fc_match_stale(struct fc_match *match, uint32_t rank)
{
    if (match->inbox) match->inbox[rank].stale = true;
}
/* In order of time (graphs): the receive that takes this message, which is there now, NULL: none yet; the
 * message that a receive posted now takes, else NULL and *receive is what waits for it, or NULL for want of
 * memory. */
struct fc_mail *fc_match_arrived(struct fc_match *match, struct fc_mail *mail);
struct fc_mail *fc_match_posted(struct fc_match *match, struct fc_queue_key key, struct fc_mail **receive);
/* What nobody has taken, and what got nothing. O(queues). */
void fc_match_count(const struct fc_match *match, uint64_t *sends, uint64_t *receives);

/* ---- collective calls (replay_calls.c) ---- */

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
    bool begun, uneven, owns_blocks; /* its messages are known; members brought different bytes; blocks are copies */
    uint32_t n_done, n_gone;         /* members that have left; that never come */
    double bytes;
    double *sizes;          /* [n] as in fc_call_list; NULL: all alike */
    int64_t **blocks;       /* [n] alltoallv: bytes to each; NULL: nothing */
    const uint32_t *member; /* [n] ranks */
    /* Either a list, or rounds that are worked out as they come. */
    struct fc_call_list *list;
    struct fc_batch *batch;
    const struct fc_round_maker *maker;
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

/* What a member does in a round: it sends to and receives from at most `most` others. */
struct fc_round_maker {
    enum fc_op op;
    const char *algorithm;                   /* its name in collective.c */
    bool all_at_once;                        /* one round with everyone; else one send and one receive a round */
    const struct fc_collective_alike *alike; /* the same, as a list */
    uint32_t (*n_rounds)(uint32_t n);
    /* Other member and bytes of the send (receive) of `member` in the round; all_at_once: of its i-th in the
     * only one. False: there is none. */
    bool (*send)(const struct fc_live_call *call, uint32_t member, uint32_t round, uint32_t *to, double *bytes);
    bool (*receive)(const struct fc_live_call *call, uint32_t member, uint32_t round, uint32_t *from);
};
/* NULL: the algorithm is a list. */
const struct fc_round_maker *fc_round_maker(const struct fc_collective_algorithm *algorithm);

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

/* ---- look ahead (replay_source.c) ---- */

/* Events of a rank that were read but not yet replayed, because a collective call needed to know what the
 * others bring. */
struct fc_ahead {
    struct fc_event *event; /* [first .. first + n) */
    int64_t *list;
    size_t first, n, capacity, n_list, list_capacity;
    uint64_t scanned; /* events of the rank up to here were looked at */
};
struct fc_reader {
    struct fc_job *job;
    struct fc_ahead *ahead; /* [n_ranks] */
    uint32_t *scanned;      /* [comm_first[n_comms]] calls looked at of each member of each communicator */
    uint64_t *number;       /* [n_ranks] of the event at hand; of a trace in memory: of the next to look at */
    struct fc_arena arena;
};
enum fc_code fc_reader_start(struct fc_reader *reader, struct fc_job *job);
void fc_reader_free(struct fc_reader *reader);
/* The rank's next event and its list; NULL at its end, or with the status filled. */
const struct fc_event *fc_reader_peek_slow(struct fc_reader *reader, uint32_t rank);
static inline const struct fc_event *fc_reader_peek(struct fc_reader *reader, uint32_t rank)
{
    const struct fc_source_rank *r = &reader->job->source->rank[rank];
    return reader->ahead == NULL && r->at != r->end ? r->at : fc_reader_peek_slow(reader, rank);
}
void fc_reader_take_slow(struct fc_reader *reader, struct fc_calls *calls, uint32_t rank);
static inline void fc_reader_take(struct fc_reader *reader, struct fc_calls *calls, uint32_t rank)
{
    if (reader->ahead)
        fc_reader_take_slow(reader, calls, rank);
    else
        fc_source_take(reader->job->source, rank);
}
const int64_t *fc_reader_list(const struct fc_reader *reader, uint32_t rank, const struct fc_event *e);
uint64_t fc_reader_number(const struct fc_reader *reader, uint32_t rank);
/* Looks at the rank's events until its number-th call of the communicator has been announced, or it ends. */
enum fc_code fc_reader_scan(struct fc_reader *reader, struct fc_calls *calls, uint32_t rank, uint32_t comm,
                            uint32_t member, uint32_t number);
/* Is Finalize the last event of every rank? Looks at all that is left. */
enum fc_code fc_reader_finalizes(struct fc_reader *reader, struct fc_calls *calls, bool *all);

/* ---- one run ---- */

/* One thread of control: a rank's program, or a collective call that goes on by itself (nonblocking; of a
 * graph). */
struct fc_strand {
    struct fc_clock {
        double clock_s, send_s, receive_s; /* now; when the next message may be sent, received (gap) */
    } at[FC_VIEWS];
    double compute_s;       /* computation so far */
    struct fc_chain chain;  /* behind clock_s, real */
    double entered_s;       /* the call at hand */
    uint64_t event;         /* beside: the event that started it */
    uint32_t rank, pending; /* pending: messages and calls that it is blocked on */
    uint32_t member, round; /* of the call at hand */
    uint32_t vertex;        /* of a graph */
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
    bool is_long;
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
    struct fc_strand *strand;                     /* [n_ranks] programs */
    struct fc_requests *request;                  /* [n_ranks] */
    uint32_t *n_sent;                             /* [n_ranks] messages sent, wraps round */
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
    double *finish_s, *compute_s; /* [n_ranks] results */
    struct {
        double p2p_wait_s, collective_s, local_bytes, network_bytes;
    } total;
};

/* replay_net.c */
enum fc_code fc_net_start(struct fc_run *run);
void fc_net_stop(struct fc_run *run);
/* Both sides agree: the message leaves. Its arrival wakes who waits for it, at once or in a later
 * fc_net_next. */
void fc_mail_leave(struct fc_run *run, struct fc_mail *mail);
/* Takes the next arrival at or before until_s; false: there is none, or the status is filled. */
bool fc_net_next(struct fc_run *run, double until_s);
/* When an announcement is at the receiver. */
double fc_mail_announced_s(void *run, struct fc_mail *mail);
/* Looks up its route; false: there is none, the status says why. */
bool fc_mail_route(struct fc_run *run, struct fc_mail *mail);

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

/* replay_ends.c */
static inline void fc_strand_computes(struct fc_run *run, struct fc_strand *s, double time_s)
{
    double before_s = s->at[FC_REAL].clock_s;
    for (int v = 0; v < run->views; v++) s->at[v].clock_s += time_s;
    s->chain.computation_s += time_s;
    s->compute_s += time_s;
    fc_strand_does(run, s, FC_RANK_COMPUTES, before_s);
}
void fc_end_send(struct fc_run *run, struct fc_strand *s, struct fc_mail *mail, bool rendezvous);
void fc_end_post(struct fc_run *run, const struct fc_strand *s, struct fc_mail *mail);
/* A receive that was open has got its message, or its place in a queue. */
void fc_end_settle(struct fc_run *run, struct fc_mail *receive);
/* A side blocks on a message that is not there yet. */
void fc_wait_for_receive(struct fc_strand *s, struct fc_mail *mail);
void fc_wait_for_send(struct fc_strand *s, struct fc_mail *mail);
/* What a wait has completed. */
struct fc_harvest {
    uint32_t n;                   /* receives: run->taken[][n] */
    double last_s[FC_VIEWS];      /* latest completion of anything that costs no CPU time, and */
    const struct fc_chain *chain; /* what led to the real one */
};
/* `work`: of the receiver, beyond receiving, in blocks of so many bytes. */
void fc_harvest_receive(struct fc_run *run, struct fc_harvest *h, const struct fc_mail *mail, enum fc_message_work work,
                        double block_bytes);
void fc_harvest_arrived(struct fc_run *run, struct fc_harvest *h, const double *arrived_s, double bytes, bool is_long,
                        const struct fc_chain *chain); /* [views]; chain: kept until the wait is over */
void fc_harvest_send(const struct fc_run *run, struct fc_harvest *h, const struct fc_mail *mail);
void fc_harvest_call(const struct fc_run *run, struct fc_harvest *h, const struct fc_strand *call);
/* Advances the clock over the wait; returns the time spent blocked. */
double fc_end_wait(struct fc_run *run, struct fc_strand *s, const struct fc_harvest *h);
static inline struct fc_mail *fc_mail_taken(struct fc_mail *mail)
{
    return mail->taken ? mail->taken : mail;
}

/* replay_rounds.c: goes on with the call of s until it is over (true) or must wait (false). */
bool fc_play_call(struct fc_run *run, struct fc_strand *s);
struct fc_strand *fc_strand_beside(struct fc_run *run);
void fc_strand_free(struct fc_run *run, struct fc_strand *s);
/* The strand keeps the message in hand until its round is over. */
bool fc_strand_takes(struct fc_run *run, struct fc_strand *s, struct fc_mail *mail);
/* The rank that the call in progress of s waits for. */
uint32_t fc_call_waits_for(const struct fc_strand *s);

/* replay_ranks.c */
static inline void fc_make_ready(struct fc_run *run, struct fc_strand *s)
{
    s->next_ready = run->ready;
    run->ready = s;
}
static inline void fc_wake(struct fc_run *run, struct fc_strand *s)
{
    if (s && --s->pending == 0) fc_make_ready(run, s);
}
/* fmax is a call into the library, this is not. */
static inline double fc_later(double a_s, double b_s)
{
    return a_s > b_s ? a_s : b_s;
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
const struct fc_request *fc_request_find(const struct fc_requests *requests, int64_t number);
/* replay_graph.c: the same for a graph. */
enum fc_code fc_run_graph(struct fc_run *run);
/* replay_deadlock.c: waits_for[n_ranks]: FC_NONE: it has ended, or is not blocked; describe: what it is in.
 */
struct fc_blocked {
    uint32_t rank, waits_for; /* waits_for: FC_NONE anyone */
    uint8_t op;
    uint64_t event;
};
enum fc_code fc_report_deadlock(struct fc_run *run,
                                bool (*blocked)(const struct fc_run *, uint32_t, struct fc_blocked *));
/* replay_report.c */
enum fc_code fc_report_replay(struct fc_run *run, struct fc_replay *replay);

/* fc_event.mode of sends and of one-sided calls. */
enum { FC_SEND_SYNCHRONOUS = 1, FC_SEND_BUFFERED = 2 };
enum { FC_MOVE_PUT = 0, FC_MOVE_GET = 1, FC_MOVE_UPDATE = 2 };

#endif
