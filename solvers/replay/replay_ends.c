/* replay_ends.c - the end points of a message: sending, posting a receive, waiting.
 *
 * LogGOPS (Hoefler, Schneider & Lumsdaine, HPDC'10): a message of n bytes costs its sender o + (n - 1) O
 * of CPU time (and what timing.h has beyond that), its receiver the same in the call that completes the receive; a task starts messages at
 * least g apart. Up to S bytes (and buffered sends) a send is complete when it has left the CPU; longer
 * ones (and synchronous sends) announce themselves, leave when the receive is posted, and complete when
 * they have arrived. A wait for several messages takes them as they arrive: with arrivals a_i and costs
 * c_i it ends at max over i of (a_i + sum of c_k with a_k >= a_i), or at the clock plus all costs if that
 * is later, which grows with every a_i. All of it is done for each view of the run; what led to a time is
 * kept of the real one.
 *
 * On a node that is known to be slow (node.slow_hosts) o is longer at its end of every message.
 *
 * A rank that does nothing from c to a, when a message comes, waits for others of that time
 *     min(a - c, computation on the path that led to the message - computation on the path that led to c), at least 0
 * and is held up by messages, its own and others', for the rest: in a ping-pong nobody waits. */
#include "solvers/replay/replay_ends.h"
#include "solvers/replay/replay_job.h"
#include "solvers/replay/replay_match.h"
#include "solvers/replay/replay_net.h"
#include "solvers/replay/replay_run.h"

#include <stdlib.h>

/* Of an end of a message that takes cpu_s: o, O, and the rest. */
static uint32_t end_node(struct fc_run *run, uint32_t node, enum fc_adjoint_cost end, bool is_local, double bytes,
                         double cpu_s)
{
    const struct fc_software *software = &run->job->settings->software;
    bool no_o = is_local && software->local_s > 0;
    double per_bytes = software->per_byte_s > 0 && bytes > 1 ? bytes - 1 : 0;
    double o_s = no_o ? 0 : end == FC_COST_SEND ? software->send_s : software->recv_s;
    double rest_s = cpu_s - o_s - per_bytes * software->per_byte_s;
    if (!no_o) node = fc_node_after(run, node, end, 0, 1);
    if (rest_s > 1e-12 * cpu_s) node = fc_node_after(run, node, FC_COST_OTHER, 0, rest_s);
    return fc_node_after(run, node, FC_COST_PER_BYTE, 0, per_bytes);
}
/* Of a card's g and, with loggops, G. */
static uint32_t card_node(struct fc_run *run, uint32_t node, double bytes)
{
    node = fc_node_after(run, node, FC_COST_GAP, 0, 1);
    return fc_node_after(run, node, FC_COST_WIRE, 0, run->job->settings->loggops && bytes > 1 ? bytes - 1 : 0);
}

/* Before the clocks move by cpu_s. The card binds nobody where it is free before the processor. */
static void node_of_send(struct fc_run *run, struct fc_strand *s, struct fc_mail *mail, double cpu_s)
{
    bool is_local = fc_ranks_share(run, mail->from, mail->to);
    uint32_t start = s->at[FC_REAL].send_s > s->at[FC_REAL].clock_s ? s->send_node : s->chain.node;
    const struct fc_replay_settings *settings = run->job->settings;
    if (settings->loggops || settings->software.gap_s > cpu_s) s->send_node = card_node(run, start, mail->bytes);
    s->chain.node = end_node(run, start, FC_COST_SEND, is_local, mail->bytes, cpu_s);
    mail->sent_node = run->job->settings->loggops ? fc_node_after(run, start, FC_COST_SEND, 0, 1) : s->chain.node;
}

void fc_end_send(struct fc_run *run, struct fc_strand *s, struct fc_mail *mail, bool rendezvous)
{
    const struct fc_replay_settings *settings = run->job->settings;
    double bytes = mail->bytes, before_s = s->at[FC_REAL].clock_s;
    double o_s = fc_ranks_share(run, mail->from, mail->to)
                     ? fc_local_o_s(&settings->software, settings->software.send_s)
                     : settings->software.send_s;
    double cpu_s = o_s + fc_slow_o_s(run->job, mail->from) +
                   fc_beyond_o_s(&settings->software, bytes, (mail->state & FC_LONG) != 0);
    if (__builtin_expect(run->adjoint != NULL, 0)) node_of_send(run, s, mail, cpu_s);
    for (int v = 0; v < run->views; v++) {
        struct fc_clock *c = &s->at[v];
        double start = fc_later(c->clock_s, c->send_s);
        c->clock_s = start + cpu_s;
        c->send_s = start + settings->software.gap_s;
        mail->sent_s[v] = c->clock_s;
        if (settings->loggops) { /* the wire starts after o; the card is busy for g + (n - 1) G */
            mail->sent_s[v] = start + settings->software.send_s;
            c->send_s += bytes > 1 ? (bytes - 1) * settings->loggops_per_byte_s : 0;
        }
    }
    s->chain.software_s += s->at[FC_REAL].clock_s - before_s;
    fc_strand_does(run, s, FC_RANK_SENDS, before_s);
    if (!rendezvous || !(mail->state & FC_POSTED) || mail->sent_s[FC_REAL] >= mail->posted_s[FC_REAL])
        mail->chain = s->chain;
    mail->number = run->n_sent[s->rank]++;
    mail->state |= FC_SENT | (rendezvous ? FC_RENDEZVOUS : 0);
    if (!rendezvous || (mail->state & FC_POSTED)) fc_mail_leave(run, mail);
}

void fc_end_post(struct fc_run *run, const struct fc_strand *s, struct fc_mail *mail)
{
    for (int v = 0; v < run->views; v++) mail->posted_s[v] = s->at[v].clock_s;
    mail->posted_node = s->chain.node;
    if (!(mail->state & FC_SENT) || ((mail->state & FC_RENDEZVOUS) && mail->posted_s[FC_REAL] > mail->sent_s[FC_REAL]))
        mail->chain = s->chain;
    if (mail->state & FC_OPEN) return;
    mail->state |= FC_POSTED;
    if (mail->state & FC_RENDEZVOUS) fc_mail_leave(run, mail);
}

void fc_end_settle(struct fc_run *run, struct fc_mail *receive)
{
    struct fc_mail *mail = receive->taken;
    if (!mail) { /* it has its place in a queue */
        receive->state |= FC_POSTED;
        return;
    }
    struct fc_strand *s = receive->receiver;
    receive->receiver = NULL;
    if (!(mail->state & FC_ARRIVED)) mail->receiver = s;
    for (int v = 0; v < run->views; v++) mail->posted_s[v] = receive->posted_s[v];
    mail->posted_node = receive->posted_node;
    mail->state |= FC_POSTED;
    if (mail->state & FC_ARRIVED) {
        fc_wake(run, s);
    } else if (mail->state & FC_RENDEZVOUS) {
        if (mail->posted_s[FC_REAL] > mail->sent_s[FC_REAL]) mail->chain = receive->chain;
        fc_mail_leave(run, mail);
    }
}

/* A side blocks on a message that is not there yet. */
void fc_wait_for_receive(struct fc_strand *s, struct fc_mail *mail)
{
    mail = fc_mail_taken(mail);
    if (mail->state & FC_ARRIVED) return;
    mail->receiver = s;
    s->pending++;
}
void fc_wait_for_send(struct fc_strand *s, struct fc_mail *mail)
{
    if ((mail->state & FC_ARRIVED) || !(mail->state & FC_RENDEZVOUS)) return;
    mail->sender = s;
    s->pending++;
}

/* ---- the end of a wait ---- */

static bool make_room(struct fc_run *run)
{
    size_t more = run->taken_capacity ? 2 * run->taken_capacity : 64;
    for (int v = 0; v < FC_VIEWS; v++) {
        struct fc_taken *taken = realloc(run->taken[v], more * sizeof *taken);
        if (!taken) return fc_out_of_memory(run->job->st, "the messages of one wait"), false;
        run->taken[v] = taken;
    }
    run->taken_capacity = more;
    return true;
}

void fc_harvest_arrived(struct fc_run *run, struct fc_harvest *h, const double *arrived_s, double bytes, bool is_long,
                        bool local, const struct fc_chain *chain)
{
    if (h->n == run->taken_capacity && !make_room(run)) return;
    for (int v = 0; v < run->views; v++)
        run->taken[v][h->n] = (struct fc_taken){arrived_s[v], bytes, 0, chain, is_long, local};
    h->n++;
}

void fc_harvest_receive(struct fc_run *run, struct fc_harvest *h, const struct fc_mail *mail, enum fc_message_work work,
                        double block_bytes, double fresh)
{
    uint32_t n = h->n;
    if (mail->taken) mail = mail->taken;
    const struct fc_software *software = &run->job->settings->software;
    bool local = fc_ranks_share(run, mail->from, mail->to);
    fc_harvest_arrived(run, h, mail->arrived_s, mail->bytes, (mail->state & FC_LONG) != 0, local, &mail->chain);
    double work_s = local ? fresh * mail->bytes * software->fresh_local_per_byte_s : 0;
    if (work) work_s += fc_work_s(software, work, mail->bytes, block_bytes > 0 ? mail->bytes / block_bytes : 0);
    for (int v = 0; work_s > 0 && h->n > n && v < run->views; v++) run->taken[v][n].work_s = work_s;
}

static void harvest_other(const struct fc_run *run, struct fc_harvest *h, const double *time_s,
                          const struct fc_chain *chain)
{
    if (time_s[FC_REAL] > h->last_s[FC_REAL]) h->chain = chain;
    for (int v = 0; v < run->views; v++) h->last_s[v] = fc_later(h->last_s[v], time_s[v]);
}
void fc_harvest_call(const struct fc_run *run, struct fc_harvest *h, const struct fc_strand *call)
{
    double time_s[FC_VIEWS] = {call->at[FC_REAL].clock_s, call->at[FC_ALONE].clock_s};
    harvest_other(run, h, time_s, &call->chain);
}
void fc_harvest_send(const struct fc_run *run, struct fc_harvest *h, const struct fc_mail *mail)
{
    if (!(mail->state & FC_RENDEZVOUS)) return;
    double time_s[FC_VIEWS] = {0};
    for (int v = 0; v < run->views; v++) time_s[v] = fc_later(mail->arrived_s[v], mail->posted_s[v]);
    harvest_other(run, h, time_s, &mail->chain);
}

/* Orders receives by arrival (Shell sort: most waits are short). */
static void sort_taken(struct fc_taken *taken, uint32_t n)
{
    for (uint32_t gap = n / 2; gap > 0; gap = gap == 2 ? 1 : (uint32_t)(gap * UINT64_C(5) / 11))
        for (uint32_t i = gap; i < n; i++) {
            struct fc_taken t = taken[i];
            uint32_t at = i;
            for (; at >= gap && taken[at - gap].arrived_s > t.arrived_s; at -= gap) taken[at] = taken[at - gap];
            taken[at] = t;
        }
}

/* Before the clock moves; start: from when message and processor are there. */
static void node_of_receive(struct fc_run *run, struct fc_strand *s, const struct fc_taken *t, double start_s,
                            double cpu_s)
{
    const struct fc_replay_settings *settings = run->job->settings;
    double wire = settings->loggops && t->bytes > 1 ? t->bytes - 1 : 0;
    if (settings->loggops && s->at[FC_REAL].receive_s > start_s) s->chain.node = s->receive_node;
    if (settings->loggops) s->receive_node = card_node(run, s->chain.node, t->bytes);
    if (settings->software.recv_s + wire * settings->loggops_per_byte_s > cpu_s)
        s->chain.node =
            fc_node_after(run, fc_node_after(run, s->chain.node, FC_COST_RECV, 0, 1), FC_COST_WIRE, 0, wire);
    else
        s->chain.node = end_node(run, s->chain.node, FC_COST_RECV, t->local, t->bytes, cpu_s);
}

/* One receive: from when message, CPU (and with loggops the card) are there. Returns its CPU time. */
static inline double take(struct fc_run *run, struct fc_strand *s, int view, struct fc_chain *chain,
                          const struct fc_taken *t)
{
    const struct fc_replay_settings *settings = run->job->settings;
    struct fc_clock *c = &s->at[view];
    double o_s = settings->software.recv_s;
    if (t->local) o_s = fc_local_o_s(&settings->software, o_s);
    o_s += fc_slow_o_s(run->job, s->rank);
    double cpu_s = o_s + fc_beyond_o_s(&settings->software, t->bytes, t->is_long) + t->work_s, cost_s = cpu_s,
           start = c->clock_s;
    if (t->arrived_s > start) {
        start = t->arrived_s;
        *chain = *t->chain;
    }
    if (__builtin_expect(run->adjoint != NULL, 0) && view == FC_REAL) node_of_receive(run, s, t, start, cpu_s);
    if (settings->loggops) {
        double wire_s = t->bytes > 1 ? (t->bytes - 1) * settings->loggops_per_byte_s : 0;
        cost_s = fc_later(cpu_s, settings->software.recv_s + wire_s);
        chain->software_s += fc_later(0, c->receive_s - start);
        start = fc_later(start, c->receive_s);
        c->receive_s = start + settings->software.gap_s + wire_s;
    }
    chain->software_s += cpu_s;
    chain->link_s += cost_s - cpu_s;
    c->clock_s = start + cost_s;
    return cost_s;
}

/* The strand has done nothing until until_s. What goes on beside a program is not its rank's time; a graph's is. */
static void idles(struct fc_run *run, const struct fc_strand *s, double until_s, const struct fc_chain *other)
{
    double clock_s = s->at[FC_REAL].clock_s;
    if ((s->main || run->graph) && until_s > clock_s) fc_rank_idles(run, s->rank, clock_s, until_s, &s->chain, other);
}

double fc_end_wait(struct fc_run *run, struct fc_strand *s, const struct fc_harvest *h)
{
    double before_s = s->at[FC_REAL].clock_s, cost_s = 0;
    for (int v = 0; v < run->views; v++) {
        struct fc_chain nobody_asks = {0};
        if (h->n > 1) sort_taken(run->taken[v], h->n);
        for (uint32_t i = 0; i < h->n; i++) {
            if (v == FC_REAL) idles(run, s, run->taken[v][i].arrived_s, run->taken[v][i].chain);
            double c = take(run, s, v, v ? &nobody_asks : &s->chain, &run->taken[v][i]);
            cost_s += v ? 0 : c;
            if (v == FC_REAL) fc_strand_does(run, s, FC_RANK_RECEIVES, s->at[v].clock_s - c);
        }
        if (h->last_s[v] <= s->at[v].clock_s) continue;
        if (v == FC_REAL) idles(run, s, h->last_s[v], h->chain);
        s->at[v].clock_s = h->last_s[v];
        if (v == FC_REAL) s->chain = *h->chain;
    }
    return fc_later(0, s->at[FC_REAL].clock_s - before_s - cost_s);
}
