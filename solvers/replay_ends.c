/* replay_ends.c - the end points of a message: sending, posting a receive, waiting.
 *
 * LogGOPS (Hoefler, Schneider & Lumsdaine, HPDC'10): a message of n bytes costs its sender o + (n - 1) O
 * of CPU time, its receiver the same in the call that completes the receive; a task starts messages at
 * least g apart. Up to S bytes (and buffered sends) a send is complete when it has left the CPU; longer
 * ones (and synchronous sends) announce themselves, leave when the receive is posted, and complete when
 * they have arrived. A wait for several messages takes them as they arrive: with arrivals a_i and costs
 * c_i it ends at max over i of (a_i + sum of c_k with a_k >= a_i), or at the clock plus all costs if that
 * is later, which grows with every a_i. */
#include "solvers/replay.h"

void fc_end_send(struct fc_run *run, struct fc_strand *s, struct fc_batch *batch, uint64_t i, bool rendezvous)
{
    const struct fc_replay_settings *settings = run->job->settings;
    struct fc_mail *mail = &batch->mail[i];
    double bytes = batch->message[i].bytes, start = fc_later(s->clock_s, s->send_s);
    double before_s = s->clock_s;
    s->clock_s = start + fc_send_cpu_s(&settings->software, bytes);
    s->chain.software_s += s->clock_s - before_s;
    s->send_s = start + settings->software.gap_s;
    mail->sent_s = s->clock_s;
    if (settings->loggops) { /* the wire starts after o; the card is busy for g + (n - 1) G */
        mail->sent_s = start + settings->software.send_s;
        s->send_s += bytes > 1 ? (bytes - 1) * settings->loggops_per_byte_s : 0;
    }
    if (!rendezvous || !(mail->state & FC_POSTED) || mail->sent_s >= mail->posted_s) mail->chain = s->chain;
    mail->state |= FC_SENT | (rendezvous ? FC_RENDEZVOUS : 0);
    if (!rendezvous || (mail->state & FC_POSTED)) fc_mail_leave(run, batch, i);
}

void fc_end_post(struct fc_run *run, const struct fc_strand *s, struct fc_batch *batch, uint64_t i)
{
    struct fc_mail *mail = &batch->mail[i];
    mail->posted_s = s->clock_s;
    if (!(mail->state & FC_SENT) || ((mail->state & FC_RENDEZVOUS) && mail->posted_s > mail->sent_s))
        mail->chain = s->chain;
    mail->state |= FC_POSTED;
    if (mail->state & FC_RENDEZVOUS) fc_mail_leave(run, batch, i);
}

/* A side blocks on a message that is not there yet. */
void fc_wait_for_receive(struct fc_strand *s, struct fc_mail *mail)
{
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

void fc_harvest_receive(struct fc_run *run, struct fc_harvest *h, const struct fc_mail *mail, double bytes)
{
    run->taken[h->n++] = (struct fc_taken){mail->arrived_s, bytes, &mail->chain};
}
void fc_harvest_other(struct fc_harvest *h, double time_s, const struct fc_chain *chain)
{
    if (time_s <= h->last_s) return;
    h->last_s = time_s;
    h->chain = chain;
}
void fc_harvest_send(struct fc_harvest *h, const struct fc_mail *mail)
{
    if (mail->state & FC_RENDEZVOUS)
        fc_harvest_other(h, fc_later(mail->arrived_s, mail->posted_s), &mail->chain);
}

/* Orders receives by arrival (Shell sort: most waits are short). */
static void sort_taken(struct fc_taken *taken, uint32_t n)
{
    for (uint32_t gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (uint32_t i = gap; i < n; i++) {
            struct fc_taken t = taken[i];
            uint32_t at = i;
            for (; at >= gap && taken[at - gap].arrived_s > t.arrived_s; at -= gap)
                taken[at] = taken[at - gap];
            taken[at] = t;
        }
}

/* One receive: from when message, CPU (and with loggops the card) are there. Returns its CPU time. */
static double take(const struct fc_replay_settings *settings, struct fc_strand *s, const struct fc_taken *t)
{
    double cpu_s = fc_recv_cpu_s(&settings->software, t->bytes), cost_s = cpu_s, start = s->clock_s;
    if (t->arrived_s > start) {
        start = t->arrived_s;
        s->chain = *t->chain;
    }
    if (settings->loggops) {
        double wire_s = t->bytes > 1 ? (t->bytes - 1) * settings->loggops_per_byte_s : 0;
        cost_s = fc_later(cpu_s, settings->software.recv_s + wire_s);
        s->chain.software_s += fc_later(0, s->receive_s - start);
        start = fc_later(start, s->receive_s);
        s->receive_s = start + settings->software.gap_s + wire_s;
    }
    s->chain.software_s += cpu_s;
    s->chain.link_s += cost_s - cpu_s;
    s->clock_s = start + cost_s;
    return cost_s;
}

/* Advances the clock over the wait; returns the time spent blocked. */
double fc_end_wait(struct fc_run *run, struct fc_strand *s, const struct fc_harvest *h)
{
    double before_s = s->clock_s, cost_s = 0;
    if (h->n > 1) sort_taken(run->taken, h->n);
    for (uint32_t i = 0; i < h->n; i++) cost_s += take(run->job->settings, s, &run->taken[i]);
    if (h->last_s > s->clock_s) {
        s->clock_s = h->last_s;
        s->chain = *h->chain;
    }
    return fc_later(0, s->clock_s - before_s - cost_s);
}
