/* replay_match.c - which receive takes which message, as they come.
 *
 * MPI's order rule (MPI 4.0, section 3.5): of the messages of one sender that a receive could take it takes
 * the one sent first; of the receives that could take a message the one posted first does. Without wildcards
 * that leaves no choice: the k-th send of a key (communicator, source, destination, tag) belongs to the k-th
 * receive of it, whatever the times. A hash table of keys holds a queue each, of sends without receives or of
 * receives without sends, linked through messages from a pool. Empty queues stay until the table would have
 * to grow and are dropped then, so its size is bounded by what was open at once.
 *
 * A receive from anyone takes what is there first. Programs run ahead of each other, so it stays open until
 * no earlier message can come: all ranks are blocked, and of all open receives in the job it is the one whose
 * message (the first sent of its source; at the time when it has arrived, or its announcement has, and the
 * receive is posted) comes first. Whatever wakes afterwards wakes later, so nothing sent then can arrive
 * earlier. A receive with a full key behind an open one that could take the same messages is open too, until
 * that one has chosen. Ties go to the lower rank, the receive posted first, the lower source.
 *
 * Lists of the messages at a rank, which these choices look through, are kept from the first wildcard on. */
#include "solvers/replay/replay_job.h"
#include "solvers/replay/replay_match.h"
#include "solvers/replay/replay_run.h"

#include <math.h>
#include <stdlib.h>

enum { MAILS_A_BLOCK = 1 << 12, FIRST_SLOTS = 1 << 10 };

struct fc_mail_block {
    struct fc_mail_block *next;
    struct fc_mail mail[MAILS_A_BLOCK];
};

/* ---- the pool ---- */

struct fc_mail *fc_mail_new(struct fc_match *m)
{
    struct fc_mail *mail = m->free_mail;
    if (!mail) {
        struct fc_mail_block *block = malloc(sizeof *block);
        if (!block) return fc_out_of_memory(m->st, "the messages that are open at once"), NULL;
        block->next = m->blocks;
        m->blocks = block;
        for (int i = 0; i < MAILS_A_BLOCK; i++)
            block->mail[i].next = i + 1 < MAILS_A_BLOCK ? &block->mail[i + 1] : NULL;
        mail = block->mail;
    }
    m->free_mail = mail->next;
    mail->state = 0;
    mail->sender = mail->receiver = NULL;
    mail->next = mail->taken = NULL;
    mail->route = FC_NONE;
    mail->row = NULL;
    return mail;
}

enum fc_code fc_match_start(struct fc_match *m, uint32_t n_ranks, struct fc_status *st)
{
    *m = (struct fc_match){.st = st, .mask = FIRST_SLOTS - 1, .n_ranks = n_ranks};
    m->queue = calloc(FIRST_SLOTS, sizeof *m->queue);
    return m->queue ? FC_OK : fc_out_of_memory(st, "the messages that are open at once");
}

void fc_match_free(struct fc_match *m)
{
    for (struct fc_mail_block *b = m->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(m->queue);
    free(m->inbox);
    free(m->earliest);
    free(m->open);
    *m = (struct fc_match){0};
}

/* ---- queues ---- */

static inline bool same_key(const struct fc_queue_key *a, const struct fc_queue_key *b)
{
    return a->source == b->source && a->destination == b->destination && a->tag == b->tag && a->comm == b->comm;
}

static inline size_t hash_key(const struct fc_queue_key *key)
{
    uint64_t h = ((uint64_t)(uint32_t)key->source << 32 | (uint32_t)key->destination) * UINT64_C(0x9E3779B97F4A7C15);
    h ^= h >> 29;
    h += (uint64_t)(uint32_t)key->comm << 32 | (uint32_t)key->tag;
    h *= UINT64_C(0xC2B2AE3D27D4EB4F);
    return (size_t)(h ^ h >> 32);
}

/* Drops empty queues; a larger table where that does not help. */
static bool make_room(struct fc_match *m)
{
    size_t live = 0, size = m->mask + 1;
    for (size_t i = 0; i <= m->mask; i++) live += m->queue[i].used && m->queue[i].first;
    while (4 * live > size) size *= 2;
    struct fc_queue *queue = calloc(size, sizeof *queue);
    if (!queue) return fc_out_of_memory(m->st, "the messages that are open at once"), false;
    for (size_t i = 0; i <= m->mask; i++) {
        if (!m->queue[i].used || !m->queue[i].first) continue;
        size_t at = hash_key(&m->queue[i].key) & (size - 1);
        while (queue[at].used) at = (at + 1) & (size - 1);
        queue[at] = m->queue[i];
    }
    free(m->queue);
    m->queue = queue;
    m->mask = size - 1;
    m->n_used = live;
    return true;
}

static struct fc_queue *find(struct fc_match *m, struct fc_queue_key key)
{
    size_t hash = hash_key(&key);
    for (size_t at = hash;; at++) {
        struct fc_queue *q = &m->queue[at & m->mask];
        if (q->used && same_key(&q->key, &key)) return q;
        if (q->used) continue;
        if (2 * (m->n_used + 1) > m->mask) return make_room(m) ? find(m, key) : NULL;
        m->n_used++;
        *q = (struct fc_queue){.key = key, .route = FC_NONE, .used = true};
        return q;
    }
}

static inline void push(struct fc_queue *q, struct fc_mail *mail)
{
    mail->state |= FC_QUEUED;
    mail->next = NULL;
    if (q->first)
        q->last->next = mail;
    else
        q->first = mail;
    q->last = mail;
}

/* ---- messages at a rank that nobody has taken ---- */

static void put_in_inbox(struct fc_match *m, struct fc_mail *mail)
{
    struct fc_inbox *box = &m->inbox[mail->key.destination];
    mail->before = box->last;
    mail->behind = NULL;
    if (box->last)
        box->last->behind = mail;
    else
        box->first = mail;
    box->last = mail;
    box->stale = true;
}

static void take_from_inbox(struct fc_match *m, struct fc_mail *mail)
{
    struct fc_inbox *box = &m->inbox[mail->key.destination];
    if (mail->before)
        mail->before->behind = mail->behind;
    else
        box->first = mail->behind;
    if (mail->behind)
        mail->behind->before = mail->before;
    else
        box->last = mail->before;
    box->stale = true;
}

static inline struct fc_mail *pop(struct fc_match *m, struct fc_queue *q)
{
    struct fc_mail *mail = q->first;
    q->first = mail->next;
    mail->next = NULL;
    mail->state &= ~(uint32_t)FC_QUEUED;
    if (m->inbox && (mail->state & FC_SENT) && q->key.comm >= 0) take_from_inbox(m, mail);
    return mail;
}

/* The first wildcard: from now on every rank knows what waits for it. */
static bool open_inboxes(struct fc_match *m)
{
    m->inbox = calloc(m->n_ranks, sizeof *m->inbox);
    m->earliest = calloc(m->n_ranks, sizeof(struct fc_mail *));
    m->open = calloc(m->n_ranks, sizeof *m->open);
    if (!m->inbox || !m->earliest || !m->open) return fc_out_of_memory(m->st, "receives from anyone"), false;
    for (size_t i = 0; i <= m->mask; i++)
        for (struct fc_mail *mail = m->queue[i].used ? m->queue[i].first : NULL; mail; mail = mail->next)
            if ((mail->state & FC_SENT) && mail->key.comm >= 0) put_in_inbox(m, mail);
    return true;
}

struct fc_mail *fc_match_send(struct fc_match *m, struct fc_queue_key key)
{
    struct fc_queue *q = m->sent_to = find(m, key);
    if (!q) return NULL;
    struct fc_mail *mail = q->first;
    if (mail && (mail->state & FC_POSTED)) {
        q->first = mail->next;
        mail->state &= ~(uint32_t)FC_QUEUED;
        mail->route = q->route;
    } else {
        mail = fc_mail_new(m);
        if (!mail) return NULL;
        mail->key = key;
        mail->route = q->route;
        push(q, mail);
        if (m->inbox && key.comm >= 0) put_in_inbox(m, mail);
    }
    return mail;
}

/* ---- receives ---- */

static inline bool fits(const struct fc_queue_key *receive, const struct fc_queue_key *key)
{
    return receive->comm == key->comm && (receive->source == FC_ANY || receive->source == key->source) &&
           (receive->tag == FC_ANY || receive->tag == key->tag);
}

static inline bool is_wild(const struct fc_queue_key *key)
{
    return key->source == FC_ANY || key->tag == FC_ANY;
}

/* A wildcard among the open receives before `end` could take what has this key. */
static bool behind_open(const struct fc_inbox *box, const struct fc_queue_key *key, const struct fc_mail *end)
{
    for (const struct fc_mail *w = box->first_open; w != end; w = w->next)
        if (is_wild(&w->key) && fits(&w->key, key)) return true;
    return false;
}

static struct fc_mail *leave_open(struct fc_match *m, struct fc_queue_key key)
{
    if (!m->inbox && !open_inboxes(m)) return NULL;
    struct fc_mail *mail = fc_mail_new(m);
    if (!mail) return NULL;
    struct fc_inbox *box = &m->inbox[key.destination];
    mail->key = key;
    mail->state = FC_OPEN | FC_RECEIVER_HOLDS;
    if (box->first_open)
        box->last_open->next = mail;
    else {
        box->first_open = mail;
        m->open[m->n_open++] = (uint32_t)key.destination;
    }
    box->last_open = mail;
    box->stale = true;
    return mail;
}

struct fc_mail *fc_match_receive(struct fc_match *m, struct fc_queue_key key)
{
    if (key.comm >= 0 && (is_wild(&key) || (m->inbox && behind_open(&m->inbox[key.destination], &key, NULL))))
        return leave_open(m, key);
    struct fc_queue *q = find(m, key);
    if (!q) return NULL;
    struct fc_mail *mail = q->first;
    if (mail && (mail->state & FC_SENT)) {
        pop(m, q);
    } else {
        mail = fc_mail_new(m);
        if (!mail) return NULL;
        mail->key = key;
        mail->route = q->route;
        push(q, mail);
    }
    mail->state |= FC_RECEIVER_HOLDS;
    return mail;
}

/* ---- open receives ---- */

/* What of the messages at its rank a wildcard would take, and when it could. */
static struct fc_mail *candidate(struct fc_match *m, const struct fc_mail *w,
                                 double (*announced_s)(void *, struct fc_mail *), void *context, double *time_s)
{
    const struct fc_inbox *box = &m->inbox[w->key.destination];
    struct fc_mail *best = NULL;
    for (struct fc_mail *mail = box->first; mail; mail = mail->behind) { /* the first sent of each source */
        if (!fits(&w->key, &mail->key)) continue;
        struct fc_mail **first = &m->earliest[mail->key.source];
        if (!*first || (int32_t)(mail->number - (*first)->number) < 0) *first = mail;
    }
    for (struct fc_mail *mail = box->first; mail; mail = mail->behind) {
        if (!fits(&w->key, &mail->key) || m->earliest[mail->key.source] != mail) continue;
        double at = mail->state & FC_ARRIVED      ? mail->arrived_s[FC_REAL]
                    : mail->state & FC_RENDEZVOUS ? announced_s(context, mail)
                                                  : INFINITY;
        if (at == INFINITY) continue;
        if (!best || at < *time_s || (at == *time_s && mail->key.source < best->key.source)) {
            best = mail;
            *time_s = at;
        }
    }
    for (struct fc_mail *mail = box->first; mail; mail = mail->behind) m->earliest[mail->key.source] = NULL;
    return best;
}

static void look_again(struct fc_match *m, struct fc_inbox *box, double (*announced_s)(void *, struct fc_mail *),
                       void *context)
{
    box->stale = false;
    box->best = NULL;
    for (struct fc_mail *w = box->first_open; w; w = w->next) {
        double time_s = 0;
        struct fc_mail *message = is_wild(&w->key) ? candidate(m, w, announced_s, context, &time_s) : NULL;
        if (!message) continue;
        time_s = fc_later(time_s, w->posted_s[FC_REAL]);
        if (box->best && time_s >= box->best_s) continue;
        box->best = w;
        box->best_message = message;
        box->best_s = time_s;
    }
}

struct fc_mail *fc_match_next_open(struct fc_match *m, double (*announced_s)(void *, struct fc_mail *), void *context,
                                   double *time_s)
{
    struct fc_mail *best = NULL;
    for (uint32_t i = 0; i < m->n_open; i++) {
        struct fc_inbox *box = &m->inbox[m->open[i]];
        if (box->stale) look_again(m, box, announced_s, context);
        if (!box->best) continue;
        if (best &&
            (box->best_s > *time_s || (box->best_s == *time_s && box->best->key.destination > best->key.destination)))
            continue;
        best = box->best;
        *time_s = box->best_s;
    }
    return best;
}

static void remove_open(struct fc_match *m, struct fc_inbox *box, const struct fc_mail *receive, uint32_t rank)
{
    struct fc_mail **link = &box->first_open, *before = NULL;
    while (*link != receive) {
        before = *link;
        link = &(*link)->next;
    }
    *link = receive->next;
    if (box->last_open == receive) box->last_open = before;
    box->stale = true;
    if (box->first_open) return;
    uint32_t i = 0;
    while (m->open[i] != rank) i++;
    m->open[i] = m->open[--m->n_open];
}

void fc_match_decide(struct fc_match *m, struct fc_mail *receive)
{
    struct fc_inbox *box = &m->inbox[receive->key.destination];
    struct fc_mail *message = box->best_message;
    remove_open(m, box, receive, (uint32_t)receive->key.destination);
    receive->next = NULL;
    receive->state &= ~(uint32_t)FC_OPEN;
    receive->taken = message;
    pop(m, find(m, message->key)); /* it is the first of its queue: the first sent of its source that fits */
    message->state |= FC_RECEIVER_HOLDS;
}

struct fc_mail *fc_match_release(struct fc_match *m, uint32_t rank)
{
    struct fc_inbox *box = &m->inbox[rank];
    struct fc_mail *e = box->first_open;
    while (e && (is_wild(&e->key) || behind_open(box, &e->key, e))) e = e->next;
    if (!e) return NULL;
    remove_open(m, box, e, rank);
    e->next = NULL;
    e->state &= ~(uint32_t)FC_OPEN;
    struct fc_queue *q = find(m, e->key);
    if (!q) return NULL;
    if (q->first && (q->first->state & FC_SENT)) {
        e->taken = pop(m, q);
        e->taken->state |= FC_RECEIVER_HOLDS;
    } else {
        push(q, e);
    }
    return e;
}

/* ---- in order of time ---- */

struct fc_mail *fc_match_arrived(struct fc_match *m, struct fc_mail *mail)
{
    struct fc_queue *q = find(m, mail->key);
    if (!q) return NULL;
    struct fc_mail *exact = q->first && (q->first->state & FC_POSTED) ? q->first : NULL, *wild = NULL;
    struct fc_inbox *box = m->inbox ? &m->inbox[mail->key.destination] : NULL;
    if (box)
        for (wild = box->first_open; wild && !fits(&wild->key, &mail->key);) wild = wild->next;
    if (wild && (!exact || (int32_t)(wild->number - exact->number) < 0)) {
        remove_open(m, box, wild, (uint32_t)mail->key.destination);
        return wild;
    }
    if (exact) return pop(m, q);
    mail->state |= FC_SENT;
    push(q, mail);
    if (box) put_in_inbox(m, mail);
    return NULL;
}

struct fc_mail *fc_match_posted(struct fc_match *m, struct fc_queue_key key, struct fc_mail **receive)
{
    *receive = NULL;
    if (is_wild(&key)) {
        if (!m->inbox && !open_inboxes(m)) return NULL;
        struct fc_mail *mail = m->inbox[key.destination].first;
        while (mail && !fits(&key, &mail->key)) mail = mail->behind;
        if (mail) return pop(m, find(m, mail->key)); /* the first of its queue: queues are in order of time */
        *receive = leave_open(m, key);
    } else {
        struct fc_queue *q = find(m, key);
        if (q && q->first && (q->first->state & FC_SENT)) return pop(m, q);
        *receive = q ? fc_mail_new(m) : NULL;
        if (!*receive) return NULL;
        (*receive)->key = key;
        (*receive)->state |= FC_POSTED | FC_RECEIVER_HOLDS;
        push(q, *receive);
    }
    if (*receive) (*receive)->number = m->n_posted++;
    return NULL;
}

void fc_match_count(const struct fc_match *m, uint64_t *sends, uint64_t *receives)
{
    *sends = *receives = 0;
    for (size_t i = 0; i <= m->mask; i++)
        for (const struct fc_mail *mail = m->queue[i].used && m->queue[i].key.comm >= 0 ? m->queue[i].first : NULL;
             mail; mail = mail->next)
            ++*(mail->state & FC_SENT ? sends : receives);
    for (uint32_t i = 0; i < m->n_open; i++)
        for (const struct fc_mail *w = m->inbox[m->open[i]].first_open; w; w = w->next) ++*receives;
}
