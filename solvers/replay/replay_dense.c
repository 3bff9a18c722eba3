/* replay_dense.c - collective calls in which every member sends to every other at once (alltoall and allgather
 * "linear", replay_rounds.c).
 *
 * Nothing has to be looked up: the message from member i to member j is number (j - i - 1) mod n of those that j
 * receives and of those that i sends. All receives of a member are posted at the same time, so they are one row;
 * a message is kept as a mail (replay_match.h) only while it waits for its receive, is under way, or its sender waits
 * for it, and as 48 bytes of its receiver's row from its arrival until the receiver has everything. What happens, and
 * in which order, is as if each had a receive of its own.
 *
 * Limits: 48 n (n - 1) bytes, all of it touched in the end; calls to which a member never comes, and those of
 * unequal blocks (alltoallv, of which most may be empty) take the other way. */
#include "solvers/replay/replay_dense.h"
#include "solvers/replay/replay_ends.h"
#include "solvers/replay/replay_rounds.h"

#include <math.h>

enum fc_code fc_dense_start(struct fc_live_call *call, struct fc_status *st)
{
    struct fc_arena arena = {0};
    uint32_t n = call->n;
    struct fc_dense_call *dense = fc_alloc(&arena, 1, sizeof *dense, st);
    struct fc_dense_row *row = fc_alloc(&arena, n, sizeof *row, st);
    struct fc_dense_part *part = fc_alloc(&arena, (size_t)n * (n - 1), sizeof *part, st);
    if (st->code) {
        fc_arena_free(&arena);
        return st->code;
    }
    for (uint32_t m = 0; m < n; m++) row[m].part = part + (size_t)m * (n - 1);
    *dense = (struct fc_dense_call){arena, row};
    call->dense = dense;
    return FC_OK;
}

void fc_dense_free(struct fc_dense_call *dense)
{
    if (!dense) return;
    struct fc_arena arena = dense->arena; /* holds dense itself too: freed from a copy */
    fc_arena_free(&arena);
}

void fc_dense_arrived(struct fc_run *run, struct fc_mail *mail)
{
    struct fc_dense_row *row = mail->row;
    struct fc_dense_part *part = &row->part[mail->place];
    for (int v = 0; v < run->views; v++) part->arrived_s[v] = -mail->arrived_s[v];
    part->chain = mail->chain;
    part->bytes = mail->state & FC_LONG ? -mail->bytes : mail->bytes;
    row->n_arrived++;
    fc_wake(run, mail->sender);
    mail->sender = NULL;
    fc_wake(run, row->receiver);
}

static inline bool is_announced(const struct fc_dense_part *part)
{
    return part->arrived_s[FC_REAL] > 0;
}

/* All receives of the member; what was announced leaves. */
static void post(struct fc_run *run, struct fc_strand *s, struct fc_dense_row *row)
{
    row->posted = true;
    row->chain = s->chain;
    for (int v = 0; v < run->views; v++) row->posted_s[v] = s->at[v].clock_s;
    for (uint32_t i = 0; row->n_announced > 0; i++) {
        if (!is_announced(&row->part[i])) continue;
        struct fc_mail *mail = row->part[i].announced;
        row->n_announced--;
        row->part[i].arrived_s[FC_REAL] = 0;
        fc_end_post(run, s, mail);
        fc_mail_release(&run->match, mail, FC_RECEIVER_HOLDS);
    }
}

static bool send(struct fc_run *run, struct fc_strand *s, uint32_t i)
{
    struct fc_live_call *call = s->call;
    uint32_t to;
    double bytes;
    fc_call_sends(call, s->member, i, &to, &bytes);
    struct fc_dense_row *row = &call->dense->row[to];
    struct fc_mail *mail = fc_mail_new(&run->match);
    if (!mail) return false;
    mail->key = (struct fc_queue_key){call->serial, (int32_t)s->member, (int32_t)to, 0};
    mail->from = s->rank;
    mail->to = call->member[to];
    mail->bytes = bytes;
    mail->row = row;
    mail->place = i;
    bool rendezvous = fc_mail_is_long(run, mail);
    if (rendezvous && !fc_strand_takes(run, s, mail)) return false;
    mail->state |= FC_RECEIVER_HOLDS | (rendezvous ? FC_SENDER_HOLDS : 0) | (row->posted ? FC_POSTED : 0);
    if (row->posted) {
        for (int v = 0; v < run->views; v++) mail->posted_s[v] = row->posted_s[v];
        mail->posted_node = row->chain.node;
        mail->chain = row->chain;
    }
    fc_end_send(run, s, mail, rendezvous);
    if (rendezvous && !row->posted) {
        row->part[i].arrived_s[FC_REAL] = 1;
        row->part[i].announced = mail;
        row->n_announced++;
    } else {
        fc_mail_release(&run->match, mail, FC_RECEIVER_HOLDS);
    }
    return true;
}

static bool begin(struct fc_run *run, struct fc_strand *s)
{
    uint32_t n = s->call->n;
    struct fc_dense_row *row = &s->call->dense->row[s->member];
    s->n_hand = s->n_receives = 0;
    post(run, s, row);
    for (uint32_t i = 0; i + 1 < n; i++)
        if (!send(run, s, i) || run->job->st->code) return false;
    if (row->n_arrived < n - 1) {
        row->receiver = s;
        s->pending += n - 1 - row->n_arrived;
    }
    for (uint32_t i = 0; i < s->n_hand; i++) fc_wait_for_send(s, s->hand[i]);
    return true;
}

static void end(struct fc_run *run, struct fc_strand *s)
{
    const struct fc_dense_row *row = &s->call->dense->row[s->member];
    struct fc_harvest h = {0};
    for (uint32_t i = 0; i + 1 < s->call->n; i++) {
        const struct fc_dense_part *part = &row->part[i];
        uint32_t from = s->member;
        fc_call_receives(s->call, s->member, i, &from);
        double arrived_s[FC_VIEWS] = {-part->arrived_s[FC_REAL], -part->arrived_s[FC_ALONE]};
        fc_harvest_arrived(run, &h, arrived_s, fabs(part->bytes), part->bytes < 0,
                           fc_ranks_share(run, s->call->member[from], s->rank), &part->chain);
    }
    for (uint32_t i = 0; i < s->n_hand; i++) fc_harvest_send(run, &h, s->hand[i]);
    fc_end_wait(run, s, &h);
    for (uint32_t i = 0; i < s->n_hand; i++) fc_mail_release(&run->match, s->hand[i], FC_SENDER_HOLDS);
    s->n_hand = 0;
}

bool fc_dense_play(struct fc_run *run, struct fc_strand *s)
{
    if (!s->in_round) {
        if (!begin(run, s)) return false;
        s->in_round = true;
        if (s->pending || run->job->st->code) return false;
    }
    end(run, s);
    s->in_round = false;
    return true;
}

uint32_t fc_dense_missing(const struct fc_strand *s)
{
    const struct fc_live_call *call = s->call;
    const struct fc_dense_row *row = &call->dense->row[s->member];
    for (uint32_t i = 0; i + 1 < call->n; i++)
        if (!signbit(row->part[i].arrived_s[FC_REAL])) {
            uint32_t from;
            fc_call_receives(call, s->member, i, &from);
            return call->member[from];
        }
    return FC_NONE;
}
