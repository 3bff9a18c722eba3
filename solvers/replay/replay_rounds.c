/* replay_rounds.c - a member plays its part of a collective call, round after round: receives posted, sends
 * started, all waited for.
 *
 * A call that is a list finds its messages there. Algorithms in which n members exchange n^2 messages (rings,
 * pairwise, all at once) are worked out as they come, the same messages as the algorithm lists
 * (collective.c): only what is under way is kept, found by (call, sender, receiver, round) in the table of
 * all messages, or by its place where every member sends to every other at once (replay_dense.c). */
#include "core/array.h"
#include "solvers/collective/collective_parts.h"
#include "solvers/replay/replay_dense.h"
#include "solvers/replay/replay_ends.h"
#include "solvers/replay/replay_rounds.h"

#include <string.h>

/* ---- algorithms as rounds ---- */

static uint32_t rounds_less_one(uint32_t n)
{
    return n - 1;
}
static uint32_t rounds_twice(uint32_t n)
{
    return 2 * (n - 1);
}
static uint32_t behind(uint32_t member, uint32_t by, uint32_t n) /* by <= n */
{
    return (uint32_t)(((uint64_t)member + n - by) % n);
}
static uint32_t ahead(uint32_t member, uint32_t by, uint32_t n)
{
    return (uint32_t)(((uint64_t)member + by) % n);
}

static bool receive_from_left(const struct fc_live_call *c, uint32_t member, uint32_t round, uint32_t *from)
{
    (void)round;
    *from = behind(member, 1, c->n);
    return true;
}

static bool send_ring_part(const struct fc_live_call *c, uint32_t member, uint32_t round, uint32_t *to, double *bytes)
{
    (void)round;
    *to = ahead(member, 1, c->n);
    *bytes = c->bytes / c->n;
    return true;
}

static bool send_ring_block(const struct fc_live_call *c, uint32_t member, uint32_t round, uint32_t *to, double *bytes)
{
    *to = ahead(member, 1, c->n);
    *bytes = c->sizes ? c->sizes[behind(member, round, c->n)] : c->bytes;
    return true;
}

/* Each to the one i further on (reduce_scatter), or with XOR where that pairs all (alltoall). */
static bool send_shifted(const struct fc_live_call *c, uint32_t member, uint32_t round, uint32_t *to, double *bytes)
{
    *to = ahead(member, round + 1, c->n);
    *bytes = c->sizes ? c->sizes[*to] : c->bytes;
    return true;
}
static bool receive_shifted(const struct fc_live_call *c, uint32_t member, uint32_t round, uint32_t *from)
{
    *from = behind(member, round + 1, c->n);
    return true;
}

static bool send_own(const struct fc_live_call *c, uint32_t member, uint32_t i, uint32_t *to, double *bytes)
{
    *to = ahead(member, i + 1, c->n);
    *bytes = c->sizes ? c->sizes[member] : c->bytes;
    return true;
}

/* Empty blocks are not sent. */
static bool block(const struct fc_live_call *c, uint32_t from, uint32_t to, double *bytes)
{
    *bytes = !c->blocks ? c->bytes : c->blocks[from] ? (double)c->blocks[from][to] : 0;
    return *bytes > 0;
}
static bool send_pair(const struct fc_live_call *c, uint32_t member, uint32_t round, uint32_t *to, double *bytes)
{
    *to = fc_power_of_two(c->n) == c->n ? member ^ (round + 1) : ahead(member, round + 1, c->n);
    return block(c, member, *to, bytes);
}
static bool receive_pair(const struct fc_live_call *c, uint32_t member, uint32_t round, uint32_t *from)
{
    double bytes;
    *from = fc_power_of_two(c->n) == c->n ? member ^ (round + 1) : behind(member, round + 1, c->n);
    return block(c, *from, member, &bytes);
}
static bool send_all(const struct fc_live_call *c, uint32_t member, uint32_t i, uint32_t *to, double *bytes)
{
    *to = ahead(member, i + 1, c->n);
    return block(c, member, *to, bytes);
}
static bool receive_all(const struct fc_live_call *c, uint32_t member, uint32_t i, uint32_t *from)
{
    double bytes;
    *from = behind(member, i + 1, c->n);
    return block(c, *from, member, &bytes);
}

static const struct fc_round_maker makers[] = {
    {FC_OP_ALLREDUCE, "ring", false, &fc_alike_allreduce_ring, rounds_twice, send_ring_part, receive_from_left},
    {FC_OP_ALLGATHER, "ring", false, &fc_alike_allgather_ring, rounds_less_one, send_ring_block, receive_from_left},
    {FC_OP_REDUCE_SCATTER, "pairwise", false, &fc_alike_reduce_scatter_pairwise, rounds_less_one, send_shifted,
     receive_shifted},
    {FC_OP_ALLTOALL, "pairwise", false, &fc_alike_alltoall_pairwise, rounds_less_one, send_pair, receive_pair},
    {FC_OP_ALLTOALLV, "pairwise", false, &fc_alike_alltoall_pairwise, rounds_less_one, send_pair, receive_pair},
    {FC_OP_ALLTOALL, "shifted", false, &fc_alike_alltoall_shifted, rounds_less_one, send_all, receive_all},
    {FC_OP_ALLTOALLV, "shifted", false, &fc_alike_alltoall_shifted, rounds_less_one, send_all, receive_all},
    {FC_OP_ALLGATHER, "linear", true, &fc_alike_allgather_linear, rounds_less_one, send_own, receive_shifted},
    {FC_OP_ALLTOALL, "linear", true, &fc_alike_alltoall_linear, rounds_less_one, send_all, receive_all},
    {FC_OP_ALLTOALLV, "linear", true, &fc_alike_alltoall_linear, rounds_less_one, send_all, receive_all},
};

const struct fc_round_maker *fc_round_maker(const struct fc_collective_algorithm *algorithm)
{
    for (size_t i = 0; i < FC_COUNT(makers); i++)
        if (makers[i].op == algorithm->op && !strcmp(makers[i].algorithm, algorithm->name)) return &makers[i];
    return NULL;
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

static void end_listed(struct fc_run *run, struct fc_strand *s)
{
    const struct fc_software *software = &run->job->settings->software;
    double vector = fc_call_vector_bytes(s->call);
    const struct fc_call_schedule *list = &s->call->list->s;
    struct fc_harvest h = {0};
    for (uint64_t k = s->step; k < s->round_end; k++) {
        const struct fc_mail *mail = &s->call->batch->mail[list->step[k] / 2];
        if (list->step[k] & 1)
            fc_harvest_receive(run, &h, mail,
                               fc_work_of_vector(software, list->messages[list->step[k] / 2].work, vector),
                               s->call->bytes);
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
    if (!s->call->maker->receive(s->call, s->member, i, &from)) return true;
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
    if (!s->call->maker->send(s->call, s->member, i, &to, &bytes)) return true;
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
    uint32_t first = s->round, end = s->call->maker->all_at_once ? n_rounds : first + 1;
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
    enum fc_message_work work =
        fc_alike_work(s->call->maker->alike, fc_op_work(s->call->maker->op), s->call->n, s->round);
    work = fc_work_of_vector(&run->job->settings->software, work, fc_call_vector_bytes(s->call));
    for (uint32_t i = 0; i < s->n_receives; i++) fc_harvest_receive(run, &h, s->hand[i], work, s->call->bytes);
    for (uint32_t i = s->n_receives; i < s->n_hand; i++) fc_harvest_send(run, &h, s->hand[i]);
    fc_end_wait(run, s, &h);
    for (uint32_t i = 0; i < s->n_hand; i++)
        fc_mail_release(&run->match, s->hand[i], i < s->n_receives ? FC_RECEIVER_HOLDS : FC_SENDER_HOLDS);
    s->n_hand = 0;
    s->round = s->call->maker->all_at_once ? n_rounds : s->round + 1;
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
    for (uint32_t n = s->call->maker->n_rounds(s->call->n);;) {
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
    if (s->call->maker && !s->call->dense && !play_made(run, s)) return false;
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
