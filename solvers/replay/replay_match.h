/* replay_match.h - messages, and which receive takes which (replay_match.c). */
#pragma once

#include "solvers/replay/replay_job.h"

struct fc_strand;

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
    uint32_t from, to;               /* ranks */
    uint32_t number;                 /* of the sender's messages, or of all receives; wraps round */
    uint32_t route;                  /* of the transit's ways; FC_NONE: not looked up */
    uint32_t state;                  /* FC_SENT... */
    uint32_t sent_node, posted_node; /* of the run's adjoint: sent_s before it has left, posted_s */
    uint32_t vertex;                 /* of a graph: the event that sends or receives it; */
    uint8_t processor, nic;          /* and what it occupies */
    uint32_t place;                  /* in row, */
    struct fc_dense_row *row;        /* of a call of all to all (replay_dense.h); else NULL */
    uint64_t turn;                   /* and its place among what happens at the same time */
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
