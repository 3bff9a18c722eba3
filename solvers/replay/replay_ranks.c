/* replay_ranks.c - programs: computation, messages (replay_ends.c), waits, collective calls
 * (replay_rounds.c).
 *
 * A nonblocking collective goes on by itself, beside the program, from the time of its call. One-sided data
 * moves without CPU time at the target and nobody waits for it but the end of the job.
 *
 * A rank runs ahead until it must wait for something that has not arrived (and lets others run after QUANTUM
 * events, so that what is open stays small). When all are blocked time goes on: to the next arrival, or to
 * the receive from anyone that is sure first (replay_match.c), whichever is earlier. All that a rank does is
 * adding and taking maxima of times, in an order that the program and the matches fix: so later arrivals
 * never make anything earlier, which is what makes the view of idle networks a lower bound of the other. */
#include "solvers/replay/replay_calls.h"
#include "solvers/replay/replay_ends.h"
#include "solvers/replay/replay_job.h"
#include "solvers/replay/replay_match.h"
#include "solvers/replay/replay_net.h"
#include "solvers/replay/replay_report.h"
#include "solvers/replay/replay_rounds.h"
#include "solvers/replay/replay_run.h"
#include "solvers/replay/replay_source.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { QUANTUM = 4096 };

/* ---- requests that are open ---- */

static const struct fc_request free_slot = {.number = -1};

static bool grow_requests(struct fc_requests *r, struct fc_status *st)
{
    uint32_t size = r->slot ? 2 * (r->mask + 1) : 16;
    struct fc_request *slot = malloc(size * sizeof *slot);
    if (!slot) return fc_out_of_memory(st, "the requests that are open at once"), false;
    for (uint32_t i = 0; i < size; i++) slot[i] = free_slot;
    for (uint32_t i = 0; r->slot && i <= r->mask; i++) {
        if (r->slot[i].number < 0) continue;
        uint32_t at = (uint32_t)r->slot[i].number & (size - 1);
        while (slot[at].number >= 0) at = (at + 1) & (size - 1);
        slot[at] = r->slot[i];
    }
    free(r->slot);
    r->slot = slot;
    r->mask = size - 1;
    return true;
}

static void open_request(struct fc_run *run, uint32_t rank, struct fc_request request)
{
    struct fc_requests *r = &run->request[rank];
    if ((!r->slot || 2 * (r->n + 1) > r->mask) && !grow_requests(r, run->job->st)) return;
    uint32_t at = (uint32_t)request.number & r->mask;
    while (r->slot[at].number >= 0) at = (at + 1) & r->mask;
    r->slot[at] = request;
    r->n++;
}

static const struct fc_request *request_find(const struct fc_requests *r, int64_t number)
{
    if (!r->slot || number < 0 || number > INT32_MAX) return NULL;
    for (uint32_t at = (uint32_t)number & r->mask; r->slot[at].number >= 0; at = (at + 1) & r->mask)
        if (r->slot[at].number == number) return &r->slot[at];
    return NULL;
}

/* Takes it out; what stood behind it moves up so that searches still find it. */
static void close_request(struct fc_requests *r, const struct fc_request *request)
{
    uint32_t hole = (uint32_t)(request - r->slot);
    r->n--;
    for (uint32_t at = (hole + 1) & r->mask; r->slot[at].number >= 0; at = (at + 1) & r->mask) {
        uint32_t home = (uint32_t)r->slot[at].number & r->mask;
        if (((at - home) & r->mask) < ((at - hole) & r->mask)) continue;
        r->slot[hole] = r->slot[at];
        hole = at;
    }
    r->slot[hole] = free_slot;
}

static enum fc_code refuse_request(const struct fc_run *run, uint32_t rank, int64_t number)
{
    const struct fc_trace *t = run->job->trace;
    uint64_t event = fc_reader_number(&run->reader, rank);
    struct fc_place where = {t->rank_file ? t->rank_file[rank] : t->file, 0};
    if (t->first_line) where = (struct fc_place){t->file, t->first_line[rank] + (long)event};
    return fc_fail(run->job->st, FC_INPUT, where,
                   "rank %" PRIu32 ", call %" PRIu64 ": waits for request %" PRId64 ", which is not open", rank, event,
                   number);
}

/* ---- beginning an event ---- */

/* A source need not have been checked. */
static bool check_message(const struct fc_run *run, uint32_t rank, const struct fc_event *e, bool any)
{
    const struct fc_trace *t = run->job->trace;
    bool good = (any && e->peer == FC_ANY) || (e->peer >= 0 && (uint32_t)e->peer < t->n_ranks);
    if (good && e->comm >= 0 && (uint32_t)e->comm < t->n_comms && e->bytes >= 0) return true;
    fc_fail(run->job->st, FC_INPUT, (struct fc_place){t->rank_file ? t->rank_file[rank] : t->file, 0},
            "rank %" PRIu32 ", call %" PRIu64 ": %s with peer %" PRId32 ", communicator %" PRId32 ", %" PRId64
            " bytes (allowed: ranks below %" PRIu32 ", communicators below %" PRIu32 ", 0 bytes or more)",
            rank, fc_reader_number(&run->reader, rank), fc_op_names[e->op], e->peer, e->comm, e->bytes, t->n_ranks,
            t->n_comms);
    return false;
}

static struct fc_mail *send_message(struct fc_run *run, struct fc_strand *s, const struct fc_event *e)
{
    if (!check_message(run, s->rank, e, false)) return NULL;
    struct fc_mail *mail =
        fc_match_send(&run->match, (struct fc_queue_key){e->comm, (int32_t)s->rank, e->peer, e->tag});
    if (!mail) return NULL;
    mail->from = s->rank;
    mail->to = (uint32_t)e->peer;
    mail->bytes = (double)e->bytes;
    bool is_long = fc_mail_is_long(run, mail);
    bool rendezvous = e->mode == FC_SEND_SYNCHRONOUS || (e->mode != FC_SEND_BUFFERED && is_long);
    if (rendezvous) mail->state |= FC_SENDER_HOLDS;
    fc_end_send(run, s, mail, rendezvous);
    run->match.sent_to->route = mail->route; /* messages of a key take the same route */
    return rendezvous ? mail : NULL;
}

static struct fc_mail *post_receive(struct fc_run *run, struct fc_strand *s, const struct fc_event *e)
{
    if (!check_message(run, s->rank, e, true)) return NULL;
    struct fc_mail *mail =
        fc_match_receive(&run->match, (struct fc_queue_key){e->comm, e->peer, (int32_t)s->rank, e->tag});
    if (!mail) return NULL;
    mail->from = (uint32_t)e->peer;
    mail->to = s->rank;
    fc_end_post(run, s, mail);
    return mail;
}

static void begin_wait(struct fc_run *run, struct fc_strand *s, const struct fc_event *e)
{
    const int64_t *list = fc_reader_list(&run->reader, s->rank, e);
    for (uint32_t k = 0; k < e->n_list; k++) {
        const struct fc_request *r = request_find(&run->request[s->rank], list[k]);
        if (!r) {
            refuse_request(run, s->rank, list[k]);
            return;
        }
        if (r->kind == FC_REQUEST_RECEIVE) {
            fc_wait_for_receive(s, r->what);
        } else if (r->kind == FC_REQUEST_SEND) {
            fc_wait_for_send(s, r->what);
        } else if (r->kind == FC_REQUEST_CALL && !((struct fc_strand *)r->what)->finished) {
            ((struct fc_strand *)r->what)->waiter = s;
            s->pending++;
        }
    }
}

static bool enter_call(struct fc_run *run, struct fc_strand *s, uint32_t rank, const struct fc_event *e)
{
    s->call = fc_calls_enter(&run->calls, &run->reader, rank, e, fc_reader_list(&run->reader, rank, e),
                             fc_reader_number(&run->reader, rank), &s->member);
    return s->call != NULL;
}

/* What a collective call costs its member besides messages. */
static void charge_call(struct fc_run *run, struct fc_strand *s)
{
    const struct fc_software *software = &run->job->settings->software;
    if (s->call->n < 2 || s->call->hardware) return;
    double cost_s = software->call_s + fc_fresh_s(software, s->call->fresh.buffers, fc_call_vector_bytes(s->call));
    if (s->call->op == FC_OP_ALLGATHER)
        cost_s += software->own_per_byte_s * (s->call->sizes ? s->call->sizes[s->member] : s->call->bytes);
    for (int v = 0; v < run->views; v++) s->at[v].clock_s += cost_s;
    s->chain.software_s += cost_s;
    s->chain.node = fc_node_after(run, s->chain.node, FC_COST_OTHER, 0, cost_s);
}

static void start_nonblocking(struct fc_run *run, struct fc_strand *s, const struct fc_event *e)
{
    struct fc_strand *beside = fc_strand_beside(run);
    if (!beside || !enter_call(run, beside, s->rank, e)) return;
    for (int v = 0; v < run->views; v++) beside->at[v].clock_s = s->at[v].clock_s;
    beside->chain = s->chain;
    charge_call(run, beside);
    beside->rank = s->rank;
    beside->event = fc_reader_number(&run->reader, s->rank);
    beside->op = e->op;
    open_request(run, s->rank, (struct fc_request){e->request, FC_REQUEST_CALL, beside});
    fc_make_ready(run, beside);
}

/* Put: one message away. Get: one back, which leaves the target when it is asked for. Update: both. */
static void move_one_sided(struct fc_run *run, struct fc_strand *s, const struct fc_event *e)
{
    if (!check_message(run, s->rank, e, false)) return;
    for (int back = e->mode == FC_MOVE_GET; back <= (e->mode != FC_MOVE_PUT); back++) {
        struct fc_mail *mail = fc_mail_new(&run->match);
        if (!mail) return;
        mail->state = FC_SENDER_HOLDS;
        mail->from = back ? (uint32_t)e->peer : s->rank;
        mail->to = back ? s->rank : (uint32_t)e->peer;
        mail->bytes = (double)e->bytes;
        if (!back) {
            fc_end_send(run, s, mail, false);
        } else {
            double asks_s =
                e->mode == FC_MOVE_GET ? run->job->settings->software.send_s + fc_slow_o_s(run->job, s->rank) : 0;
            for (int v = 0; v < run->views; v++) mail->sent_s[v] = s->at[v].clock_s += asks_s;
            s->chain.software_s += asks_s;
            s->chain.node = mail->sent_node = fc_node_after(run, s->chain.node, FC_COST_SEND, 0, asks_s > 0);
            fc_strand_does(run, s, FC_RANK_SENDS, s->at[FC_REAL].clock_s - asks_s);
            mail->chain = s->chain;
            mail->number = run->n_sent[mail->from]++;
            mail->state |= FC_SENT;
            fc_mail_leave(run, mail);
        }
        fc_mail_release(&run->match, mail, FC_SENDER_HOLDS);
    }
}

/* Starts the event at hand; leaves s->pending > 0 when it must wait. */
static void begin(struct fc_run *run, struct fc_strand *s, const struct fc_event *e)
{
    struct fc_mail *mail;
    switch (e->op) {
    case FC_OP_SEND:
        s->mail = send_message(run, s, e);
        if (s->mail) fc_wait_for_send(s, s->mail);
        break;
    case FC_OP_RECV:
        s->mail = post_receive(run, s, e);
        if (s->mail) fc_wait_for_receive(s, s->mail);
        break;
    case FC_OP_ISEND:
        mail = send_message(run, s, e);
        open_request(run, s->rank, (struct fc_request){e->request, mail ? FC_REQUEST_SEND : FC_REQUEST_DONE, mail});
        break;
    case FC_OP_IRECV:
        mail = post_receive(run, s, e);
        open_request(run, s->rank, (struct fc_request){e->request, FC_REQUEST_RECEIVE, mail});
        break;
    case FC_OP_WAIT: begin_wait(run, s, e); break;
    case FC_OP_RMA: move_one_sided(run, s, e); break;
    default:
        if (!fc_calls_takes_part(&run->calls, &run->reader, e)) break;
        if (e->request >= 0)
            start_nonblocking(run, s, e);
        else if (enter_call(run, s, s->rank, e))
            charge_call(run, s);
    }
}

/* ---- ending it: everything that it waited for is there ---- */

static void release_receive(struct fc_run *run, struct fc_mail *mail)
{
    if (mail->taken) fc_mail_release(&run->match, mail->taken, FC_RECEIVER_HOLDS);
    fc_mail_release(&run->match, mail, FC_RECEIVER_HOLDS);
}

static void end_wait(struct fc_run *run, struct fc_strand *s, const struct fc_event *e)
{
    const int64_t *list = fc_reader_list(&run->reader, s->rank, e);
    struct fc_requests *requests = &run->request[s->rank];
    struct fc_harvest h = {0};
    for (uint32_t k = 0; k < e->n_list; k++) {
        const struct fc_request *r = request_find(requests, list[k]);
        if (!r) {
            refuse_request(run, s->rank, list[k]); /* twice in the list */
            return;
        }
        if (r->kind == FC_REQUEST_RECEIVE)
            fc_harvest_receive(run, &h, r->what, FC_WORK_NONE, 0, 0);
        else if (r->kind == FC_REQUEST_SEND)
            fc_harvest_send(run, &h, r->what);
        else if (r->kind == FC_REQUEST_CALL)
            fc_harvest_call(run, &h, r->what);
    }
    run->total.p2p_wait_s += fc_end_wait(run, s, &h);
    for (uint32_t k = 0; k < e->n_list; k++) {
        const struct fc_request *r = request_find(requests, list[k]);
        if (!r) {
            refuse_request(run, s->rank, list[k]);
            return;
        }
        if (r->kind == FC_REQUEST_RECEIVE)
            release_receive(run, r->what);
        else if (r->kind == FC_REQUEST_SEND)
            fc_mail_release(&run->match, r->what, FC_SENDER_HOLDS);
        else if (r->kind == FC_REQUEST_CALL)
            fc_strand_free(run, r->what);
        close_request(requests, r);
    }
}

static void end(struct fc_run *run, struct fc_strand *s, const struct fc_event *e)
{
    if (e->op == FC_OP_WAIT) {
        end_wait(run, s, e);
        return;
    }
    if (!s->mail) return;
    struct fc_harvest h = {0};
    if (e->op == FC_OP_RECV)
        fc_harvest_receive(run, &h, s->mail, FC_WORK_NONE, 0, 0);
    else
        fc_harvest_send(run, &h, s->mail);
    run->total.p2p_wait_s += fc_end_wait(run, s, &h);
    if (e->op == FC_OP_RECV)
        release_receive(run, s->mail);
    else
        fc_mail_release(&run->match, s->mail, FC_SENDER_HOLDS);
    s->mail = NULL;
}

/* ---- strands ---- */

static void run_main(struct fc_run *run, struct fc_strand *s)
{
    double scale = fc_compute_scale(run->job, s->rank);
    const struct fc_event *e;
    for (int turn = 0; (e = fc_reader_peek(&run->reader, s->rank)) != NULL; s->begun = false) {
        if (!s->begun) {
            if (turn++ == QUANTUM) {
                s->next_ready = NULL;
                if (run->later)
                    run->last_later->next_ready = s;
                else
                    run->later = s;
                run->last_later = s;
                return;
            }
            __builtin_prefetch(e + 3); /* the trace is far larger than a cache, and ranks take turns */
            s->begun = true;
            if (e->compute_s > 0) fc_strand_computes(run, s, e->compute_s * scale);
            begin(run, s, e);
            if (s->pending || run->job->st->code) return;
        }
        if (s->call) {
            if (!fc_play_call(run, s)) return;
            run->total.collective_s += s->at[FC_REAL].clock_s - s->entered_s;
        } else {
            end(run, s, e);
        }
        if (run->job->st->code) return;
        run->n_events++;
        fc_reader_take(&run->reader, &run->calls, s->rank);
    }
    s->finished = true;
    run->n_finished++;
    run->finish_s[s->rank] = s->at[FC_REAL].clock_s;
    run->compute_s[s->rank] = s->compute_s;
    run->path_compute_s[s->rank] = s->chain.computation_s;
    fc_run_ends(run, s->at[FC_REAL].clock_s, s->at[FC_ALONE].clock_s, &s->chain);
}

static void run_beside(struct fc_run *run, struct fc_strand *s)
{
    if (!fc_play_call(run, s)) return;
    s->finished = true;
    fc_run_ends(run, s->at[FC_REAL].clock_s, s->at[FC_ALONE].clock_s, &s->chain);
    if (run->call_over)
        run->call_over(run, s);
    else
        fc_wake(run, s->waiter);
}

bool fc_run_ready(struct fc_run *run)
{
    while ((run->ready || run->later) && !run->job->st->code) {
        if (!run->ready) {
            run->ready = run->later;
            run->later = NULL;
        }
        struct fc_strand *s = run->ready;
        run->ready = s->next_ready;
        if (s->main)
            run_main(run, s);
        else
            run_beside(run, s);
    }
    return !run->job->st->code;
}

/* The next thing that happens when all are blocked: an arrival, or a receive that becomes sure. */
static bool go_on(struct fc_run *run)
{
    double sure_s = INFINITY;
    struct fc_mail *receive =
        run->match.n_open ? fc_match_next_open(&run->match, fc_mail_announced_s, run, &sure_s) : NULL;
    if (fc_net_next(run, receive ? sure_s : INFINITY)) return true;
    if (!receive || run->job->st->code) return false;
    uint32_t rank = (uint32_t)receive->key.destination;
    fc_match_decide(&run->match, receive);
    do fc_end_settle(run, receive);
    while ((receive = fc_match_release(&run->match, rank)) != NULL);
    return true;
}

/* ---- deadlock ---- */

static bool missing(struct fc_mail *mail, bool receives)
{
    mail = fc_mail_taken(mail);
    return !(mail->state & FC_ARRIVED) && (receives || (mail->state & FC_RENDEZVOUS));
}

static uint32_t other_end(struct fc_mail *mail, bool receives)
{
    mail = fc_mail_taken(mail);
    return !receives ? mail->to : mail->from == (uint32_t)FC_ANY ? FC_NONE : mail->from;
}

/* What a rank is blocked in, and on whom. */
static bool blocked_in(const struct fc_run *run, uint32_t rank, struct fc_blocked *b)
{
    const struct fc_strand *s = &run->strand[rank];
    const struct fc_event *e = s->finished ? NULL : fc_reader_peek((struct fc_reader *)(uintptr_t)&run->reader, rank);
    if (!e) return false;
    *b = (struct fc_blocked){rank, FC_NONE, e->op, fc_reader_number(&run->reader, rank)};
    if (s->call) {
        b->waits_for = fc_call_waits_for(s);
    } else if (s->mail) {
        b->waits_for = other_end(s->mail, e->op == FC_OP_RECV);
    } else {
        const int64_t *list = fc_reader_list(&run->reader, rank, e);
        for (uint32_t k = 0; e->op == FC_OP_WAIT && k < e->n_list; k++) {
            const struct fc_request *r = request_find(&run->request[rank], list[k]);
            bool receives = r && r->kind == FC_REQUEST_RECEIVE;
            if (!r || r->kind == FC_REQUEST_DONE) continue;
            if (r->kind == FC_REQUEST_CALL) {
                const struct fc_strand *call = r->what;
                if (call->finished) continue;
                b->waits_for = fc_call_waits_for(call);
                return true;
            }
            if (!missing(r->what, receives)) continue;
            b->waits_for = other_end(r->what, receives);
            return true;
        }
    }
    return true;
}

enum fc_code fc_run_programs(struct fc_run *run)
{
    const struct fc_trace *t = run->job->trace;
    struct fc_status *st = run->job->st;
    uint64_t steps = 0, n_events = t->first_event ? t->first_event[t->n_ranks] : 0;
    run->strand = fc_alloc(&run->arena, t->n_ranks, sizeof *run->strand, st);
    run->request = fc_alloc(&run->arena, t->n_ranks, sizeof *run->request, st);
    if (st->code || fc_reader_start(&run->reader, run->job)) return st->code;
    for (uint32_t r = t->n_ranks; r-- > 0;) {
        run->strand[r].rank = r;
        run->strand[r].main = true;
        fc_make_ready(run, &run->strand[r]);
    }
    do {
        if (steps++ % 4096 == 0 && n_events)
            fc_progress_show(run->job->settings->progress, (double)run->n_events / (double)(n_events + 1), "replay");
    } while (fc_run_ready(run) && go_on(run));
    if (!st->code && run->n_finished < t->n_ranks) fc_report_deadlock(run, blocked_in);
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        free(run->request[r].slot);
        free(run->strand[r].hand);
    }
    return st->code;
}
