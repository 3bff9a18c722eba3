/* replay_rounds.c - a member plays its part of a collective call, round after round: receives posted, sends
 * started, all waited for.
 *
 * A call that is a list finds its messages there. Algorithms in which n members exchange n^2 messages (rings,
 * pairwise, all at once) are worked out as they come, the same messages as the algorithm lists
 * (collective.c): only what is under way is kept, found by (call, sender, receiver, round) in the table of
 * all messages, or by its place where every member sends to every other at once (replay_dense.c). */
#include "core/array.h"
#include "solvers/replay/replay_dense.h"
#include "solvers/replay/replay_ends.h"
#include "solvers/replay/replay_rounds.h"

/* ---- algorithms as rounds ---- */

static bool of_matrix(const struct fc_live_call *c)
{
    return c->op == FC_OP_ALLTOALL || c->op == FC_OP_ALLTOALLV;
}

static double bytes_of(const struct fc_live_call *c, uint32_t from, uint32_t to, uint32_t round)
{
    if (c->blocks && of_matrix(c)) return c->blocks[from] ? (double)c->blocks[from][to] : 0;
    if (!c->alike->block) return c->alike->bytes(&(struct fc_schedule){.n = c->n, .bytes = c->bytes}, from, to, round);
    return c->sizes ? c->sizes[c->alike->block(c->n, from, to, round)] : c->bytes;
}

/* Empty blocks from each to each are not sent. */
bool fc_call_sends(const struct fc_live_call *c, uint32_t member, uint32_t i, uint32_t *to, double *bytes)
{
    uint32_t round = c->alike->n_sends ? 0 : i;
    *to = c->alike->to(c->n, member, round, i - round);
    *bytes = bytes_of(c, member, *to, round);
    return *bytes > 0 || !of_matrix(c);
}

bool fc_call_receives(const struct fc_live_call *c, uint32_t member, uint32_t i, uint32_t *from)
{
    uint32_t round = c->alike->n_sends ? 0 : i;
    *from = c->alike->from(c->n, member, round, i - round);
    return !of_matrix(c) || bytes_of(c, *from, member, round) > 0;
}

/* ---- a round of a list ---- */

static void begin_listed(struct fc_run *run, struct fc_strand *s, uint64_t end)
{
    const struct fc_live_call *call = s->call;
    const struct fc_call_schedule *list = &call->list->s;
    struct fc_mail *mail = call->batch->mail;
    uint32_t round = list->messages[list->step[s->step] / 2].round;
    s->round_end = s->step;
    while (s->round_end < end && list->messages[list->step[s->round_end] / 2].round == round) s->round_end++;
    for (uint64_t k = s->step; k < s->round_end; k++)
        if (list->step[k] & 1) fc_end_post(run, s, &mail[list->step[k] / 2]);
    for (uint64_t k = s->step; k < s->round_end; k++) {
        uint64_t i = list->step[k] / 2;
        if (list->step[k] & 1) continue;
        mail[i].from = call->member[list->messages[i].from];
        mail[i].to = call->member[list->messages[i].to];
        mail[i].bytes = list->messages[i].bytes;
        fc_end_send(run, s, &mail[i], fc_mail_is_long(run, &mail[i]));
    }
    for (uint64_t k = s->step; k < s->round_end; k++) {
        if (list->step[k] & 1)
            fc_wait_for_receive(s, &mail[list->step[k] / 2]);
        else
            fc_wait_for_send(s, &mail[list->step[k] / 2]);
    }
}

/* The share of the call's messages that comes out of memory taken anew. */
static double fresh_share(const struct fc_collective_fresh *fresh, double vector_bytes)
{
    return vector_bytes >= FC_FRESH_BYTES ? fresh->sent : 0;
}

static void end_listed(struct fc_run *run, struct fc_strand *s)
{
    const struct fc_software *software = &run->job->settings->software;
    double vector = fc_call_vector_bytes(s->call);
    double fresh = fresh_share(&s->call->fresh, vector);
    const struct fc_call_schedule *list = &s->call->list->s;
    struct fc_harvest h = {0};
    for (uint64_t k = s->step; k < s->round_end; k++) {
        const struct fc_mail *mail = &s->call->batch->mail[list->step[k] / 2];
        if (list->step[k] & 1)
            fc_harvest_receive(run, &h, mail,
                               fc_work_of_vector(software, list->messages[list->step[k] / 2].work, vector),
                               s->call->bytes, fresh);
        else
            fc_harvest_send(run, &h, mail);
    }
    fc_end_wait(run, s, &h);
    s->step = s->round_end;
}

/* ---- a round that is worked out ---- */

bool fc_strand_takes(struct fc_run *run, struct fc_strand *s, struct fc_mail *mail)
{
    if (!FC_GROW(s->hand, s->hand_capacity, s->n_hand + 1))
        return fc_out_of_memory(run->job->st, "the messages that are open at once"), false;
    s->hand[s->n_hand++] = mail;
    return true;
}

static bool post_made(struct fc_run *run, struct fc_strand *s, uint32_t i, int32_t tag)
{
    uint32_t from;
    if (!fc_call_receives(s->call, s->member, i, &from)) return true;
    struct fc_mail *mail =
        fc_match_receive(&run->match, (struct fc_queue_key){s->call->serial, (int32_t)from, (int32_t)s->member, tag});
    if (!mail || !fc_strand_takes(run, s, mail)) return false;
    mail->from = s->call->member[from];
    mail->to = s->rank;
    fc_end_post(run, s, mail);
    return true;
}

static bool send_made(struct fc_run *run, struct fc_strand *s, uint32_t i, int32_t tag)
{
    uint32_t to;
    double bytes;
    if (!fc_call_sends(s->call, s->member, i, &to, &bytes)) return true;
    struct fc_mail *mail =
        fc_match_send(&run->match, (struct fc_queue_key){s->call->serial, (int32_t)s->member, (int32_t)to, tag});
    if (!mail) return false;
    mail->from = s->rank;
    mail->to = s->call->member[to];
    mail->bytes = bytes;
    bool rendezvous = fc_mail_is_long(run, mail);
    if (rendezvous && !fc_strand_takes(run, s, mail)) return false;
    if (rendezvous) mail->state |= FC_SENDER_HOLDS;
    fc_end_send(run, s, mail, rendezvous);
    return true;
}

static bool begin_made(struct fc_run *run, struct fc_strand *s, uint32_t n_rounds)
{
    uint32_t first = s->round, end = s->call->alike->n_sends ? n_rounds : first + 1;
    s->n_hand = 0;
    for (uint32_t i = first; i < end; i++)
        if (!post_made(run, s, i, (int32_t)first)) return false;
    s->n_receives = s->n_hand;
    for (uint32_t i = first; i < end; i++)
        if (!send_made(run, s, i, (int32_t)first)) return false;
    for (uint32_t i = 0; i < s->n_receives; i++) fc_wait_for_receive(s, s->hand[i]);
    for (uint32_t i = s->n_receives; i < s->n_hand; i++) fc_wait_for_send(s, s->hand[i]);
    return true;
}

static void end_made(struct fc_run *run, struct fc_strand *s, uint32_t n_rounds)
{
    struct fc_harvest h = {0};
    enum fc_message_work work = fc_alike_work(s->call->alike, fc_op_work(s->call->op), s->call->n, s->round);
    double vector = fc_call_vector_bytes(s->call);
    work = fc_work_of_vector(&run->job->settings->software, work, vector);
    for (uint32_t i = 0; i < s->n_receives; i++)
        fc_harvest_receive(run, &h, s->hand[i], work, s->call->bytes, fresh_share(&s->call->fresh, vector));
    for (uint32_t i = s->n_receives; i < s->n_hand; i++) fc_harvest_send(run, &h, s->hand[i]);
    fc_end_wait(run, s, &h);
    for (uint32_t i = 0; i < s->n_hand; i++)
        fc_mail_release(&run->match, s->hand[i], i < s->n_receives ? FC_RECEIVER_HOLDS : FC_SENDER_HOLDS);
    s->n_hand = 0;
    s->round = s->call->alike->n_sends ? n_rounds : s->round + 1;
}

/* ---- a call ---- */

static bool play_listed(struct fc_run *run, struct fc_strand *s)
{
    const struct fc_call_schedule *list = &s->call->list->s;
    for (uint64_t end = list->first_step[s->member + 1];;) {
        if (s->in_round) end_listed(run, s);
        s->in_round = false;
        if (s->step == end) return true;
        begin_listed(run, s, end);
        s->in_round = true;
        if (s->pending || run->job->st->code) return false;
    }
}

static bool play_made(struct fc_run *run, struct fc_strand *s)
{
    for (uint32_t n = fc_alike_sends(s->call->alike, s->call->n);;) {
        if (s->in_round) end_made(run, s, n);
        s->in_round = false;
        if (s->round == n) return true;
        if (!begin_made(run, s, n)) return false;
        s->in_round = true;
        if (s->pending || run->job->st->code) return false;
    }
}

bool fc_play_call(struct fc_run *run, struct fc_strand *s)
{
    if (!s->in_call) {
        s->in_call = true;
        s->step = s->call->list ? s->call->list->s.first_step[s->member] : 0;
        s->round = 0;
        s->entered_s = s->at[FC_REAL].clock_s;
    }
    if (s->call->hardware && !fc_hardware_play(run, s)) return false;
    if (s->call->list && !play_listed(run, s)) return false;
    if (s->call->dense && !fc_dense_play(run, s)) return false;
    if (s->call->alike && !s->call->dense && !play_made(run, s)) return false;
    s->in_call = false;
    fc_calls_leave(&run->calls, s->call);
    s->call = NULL;
    return true;
}

static bool missing(const struct fc_mail *mail, bool receives)
{
    return !(mail->state & FC_ARRIVED) && (receives || (mail->state & FC_RENDEZVOUS));
}

uint32_t fc_call_waits_for(const struct fc_strand *s)
{
    const struct fc_live_call *call = s->call;
    if (call->hardware) return fc_hardware_waits_for(s);
    uint32_t missing_rank = call->dense ? fc_dense_missing(s) : FC_NONE;
    if (missing_rank != FC_NONE) return missing_rank;
    for (uint64_t k = s->step; call->list && k < s->round_end; k++) {
        const struct fc_call_schedule *list = &call->list->s;
        uint64_t i = list->step[k] / 2;
        bool receives = list->step[k] & 1;
        if (missing(&call->batch->mail[i], receives))
            return call->member[receives ? list->messages[i].from : list->messages[i].to];
    }
    for (uint32_t i = 0; i < s->n_hand; i++)
        if (missing(s->hand[i], i < s->n_receives)) return i < s->n_receives ? s->hand[i]->from : s->hand[i]->to;
    return s->rank;
}

/* ---- calls that go on by themselves ---- */

struct fc_strand *fc_strand_beside(struct fc_run *run)
{
    struct fc_strand *s = run->free_strand;
    if (s) {
        run->free_strand = s->next_ready;
        struct fc_mail **hand = s->hand;
        uint32_t capacity = s->hand_capacity;
        *s = (struct fc_strand){.hand = hand, .hand_capacity = capacity, .behind = s->behind};
        return s;
    }
    s = fc_alloc(&run->arena, 1, sizeof *s, run->job->st);
    if (!s) return NULL;
    s->behind = run->all_beside;
    run->all_beside = s;
    return s;
}

void fc_strand_free(struct fc_run *run, struct fc_strand *s)
{
    s->next_ready = run->free_strand;
    run->free_strand = s;
}
