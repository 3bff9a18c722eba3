/* replay_graph.c - graphs: events that depend on each other (GOAL, Chakra), replayed in order of time.
 *
 * The rules are LogGOPSim's (Hoefler, Schneider & Lumsdaine, HPDC'10, and its program), times in
 * nanoseconds, exact where the parameters are whole ones. Each rank has processors and network cards. An
 * event may start when all that it depends on has finished (or, where the graph says so, started) and its
 * processor is free; of what could start at the same time the one comes first that was there first.
 *
 *     computation  occupies its processor.
 *
 *     send         at t needs processor and card; occupies them until t + o + (s - 1) O and
 *                  t + g + (s - 1) G. It has finished when it has left the processor; longer than S, when a
 *                  receive has taken it (its processor and card are not free before).
 *
 *     message      at t + o + L (with loggops; else as the network brings it) waits for the receiver's
 *                  processor of that number and card; occupies them until t + o + (s - 1) max(O, G) and
 *                  t + g + (s - 1) G, whether a receive is posted or not. On a machine's network
 *                  o + (s - 1) O and g: the network has the G.
 *
 *     receive      takes the message that came first of those it fits; it costs no time itself.
 *
 *     collective   occupies its processor while its messages (replay_rounds.c) are played.
 *
 * Everything else happens at once. Messages and sends that wait for a processor stand in line, and only the
 * first of a line is in the queue of events: LogGOPSim puts each back again and again, which costs it P^4
 * for P ranks all to all.
 *
 * Differences: an event never starts before what it depends on has finished, also when that was on another
 * processor (LogGOPSim takes the time at which its own processor became free); whether a message is long is
 * told by its own bytes only (docs/notes/theory-timing.md). A rank's end is when its last processor is free. The
 * bound is the longest path of dependencies, with every message alone in the network. O(events log events).
 */
#include "core/array.h"
#include "solvers/replay/replay_graph.h"
#include "solvers/replay/replay_net.h"
#include "solvers/replay/replay_report.h"
#include "solvers/replay/replay_rounds.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WAITS, STARTED, DONE }; /* state of an event */
enum { EVENT, MESSAGE, LINE, CALL_OVER, KIND = 3 };

/* ---- queue of what is to happen ---- */

static inline unsigned __int128 key_of(double time_ns, uint64_t turn)
{
    uint64_t bits;
    memcpy(&bits, &time_ns, sizeof bits);
    return (unsigned __int128)bits << 64 | turn;
}
static inline double time_of(unsigned __int128 key)
{
    uint64_t bits = (uint64_t)(key >> 64);
    double time_ns;
    memcpy(&time_ns, &bits, sizeof time_ns);
    return time_ns;
}

static void push(struct fc_graph *g, struct fc_graph_heap *h, struct fc_graph_item item)
{
    if (!FC_GROW(h->item, h->capacity, h->n + 1)) {
        fc_out_of_memory(g->st, "what happens in the graph");
        return;
    }
    size_t at = h->n++;
    for (; at > 0 && item.key < h->item[(at - 1) / 4].key; at = (at - 1) / 4) h->item[at] = h->item[(at - 1) / 4];
    h->item[at] = item;
}

static struct fc_graph_item pop(struct fc_graph_heap *h)
{
    struct fc_graph_item first = h->item[0], last = h->item[--h->n];
    size_t at = 0;
    for (;;) {
        size_t child = 4 * at + 1, end = child + 4 < h->n ? child + 4 : h->n, best = child;
        if (child >= h->n) break;
        for (size_t c = child + 1; c < end; c++) best = h->item[c].key < h->item[best].key ? c : best;
        if (h->item[best].key > last.key) break;
        h->item[at] = h->item[best];
        at = best;
    }
    if (h->n) h->item[at] = last;
    return first;
}

/* ---- processors, cards and their lines ---- */

static inline struct fc_processor *processor_of(const struct fc_graph *g, uint32_t rank, uint32_t number)
{
    return &g->processor[(size_t)rank * g->n_processors + number];
}
static inline struct fc_card *card_of(const struct fc_graph *g, uint32_t rank, uint32_t number)
{
    return &g->card[(size_t)rank * g->n_cards + number];
}
static inline size_t line_of(const struct fc_graph *g, uint32_t rank, uint32_t processor, uint32_t kind)
{
    return ((size_t)rank * g->n_processors + processor) * (1 + 2 * (size_t)g->n_cards) + kind;
}

/* When what stands in this line can start. */
static double line_free_ns(const struct fc_graph *g, size_t line)
{
    uint32_t kinds = 1 + 2 * g->n_cards, kind = (uint32_t)(line % kinds);
    size_t p = line / kinds;
    const struct fc_card *card = card_of(g, (uint32_t)(p / g->n_processors), kind ? (kind - 1) / 2 : 0);
    double free_ns = g->processor[p].free_ns;
    if (kind == 0) return free_ns;
    return fc_later(free_ns, kind % 2 ? card->send_ns : card->receive_ns);
}

/* The first of a line is represented in the queue, with its own turn; a representative whose turn is not the
 * first's is void. */
static void call_first(struct fc_graph *g, size_t line)
{
    double time_ns = line_free_ns(g, line);
    if (!g->line[line].n || time_ns == INFINITY) return; /* a collective: its end calls */
    push(g, &g->queue, (struct fc_graph_item){key_of(time_ns, (uint64_t)g->line[line].item[0].key), line << 2 | LINE});
}

static void stand_in_line(struct fc_graph *g, size_t line, uint64_t turn, uint64_t what)
{
    push(g, &g->line[line], (struct fc_graph_item){turn, what});
    if ((uint64_t)g->line[line].item[0].key == turn) call_first(g, line);
}

/* ---- dependencies ---- */

static void set_free(struct fc_graph *g, uint64_t v)
{
    if (!FC_GROW(g->freed, g->freed_capacity, g->n_freed + 1)) {
        fc_out_of_memory(g->st, "what happens in the graph");
        return;
    }
    g->freed[g->n_freed++] = v;
}

static void tell(struct fc_graph *g, uint64_t v, bool started, double time_ns, double alone_ns)
{
    for (uint64_t i = g->vertex[v].after; i < g->vertex[v + 1].after; i++) {
        struct fc_vertex *w = &g->vertex[g->after[i] >> 1];
        if ((g->after[i] & 1) != started) continue;
        if (time_ns >= w->ready_ns) w->ready_node = g->node;
        w->ready_ns = fc_later(w->ready_ns, time_ns);
        w->alone_ns = fc_later(w->alone_ns, alone_ns);
        if (--w->n_left == 0) set_free(g, g->after[i] >> 1);
    }
}

static void starts(struct fc_graph *g, uint64_t v, double time_ns)
{
    g->vertex[v].state = STARTED;
    g->n_started++;
    tell(g, v, true, time_ns, g->vertex[v].alone_ns);
}
/* alone_ns: when it would have finished on an idle machine. */
static void finishes(struct fc_graph *g, uint64_t v, double time_ns, double alone_ns)
{
    g->vertex[v].state = DONE;
    g->n_done++;
    tell(g, v, false, time_ns, alone_ns);
    g->run->time_s[FC_ALONE] = fc_later(g->run->time_s[FC_ALONE], 1e-9 * alone_ns);
}

static int kind_rank(const struct fc_event *e) /* sends, receives, the rest */
{
    return e->op == FC_OP_SEND ? 0 : e->op == FC_OP_RECV ? 1 : 2;
}

/* Events that have become free get their turns: by rank, sends first, then receives, then the rest. */
static void queue_freed(struct fc_graph *g)
{
    for (size_t i = 1; i < g->n_freed; i++) { /* insertion: few, and mostly in order */
        uint64_t v = g->freed[i];
        size_t at = i;
        for (; at > 0; at--) {
            uint64_t u = g->freed[at - 1];
            if (g->vertex[u].rank < g->vertex[v].rank ||
                (g->vertex[u].rank == g->vertex[v].rank && kind_rank(&g->event[u]) <= kind_rank(&g->event[v])))
                break;
            g->freed[at] = u;
        }
        g->freed[at] = v;
    }
    for (size_t i = 0; i < g->n_freed; i++) {
        uint64_t v = g->freed[i];
        const struct fc_event *e = &g->event[v];
        uint32_t rank = g->vertex[v].rank;
        const struct fc_processor *p = processor_of(g, rank, (uint32_t)e->request);
        const struct fc_card *card = card_of(g, rank, e->polls);
        double time_ns = g->vertex[v].ready_ns;
        if (p->free_ns < INFINITY && p->free_ns > time_ns) {
            time_ns = p->free_ns;
            g->vertex[v].ready_node = p->chain.node;
        }
        if (e->op == FC_OP_SEND && card->send_ns > time_ns) {
            time_ns = card->send_ns;
            g->vertex[v].ready_node = card->send_node;
        }
        push(g, &g->queue, (struct fc_graph_item){key_of(time_ns, g->turns++), v << 2 | EVENT});
    }
    g->n_freed = 0;
}

/* What depends on nothing, in the order of queue_freed. */
static void free_at_start(struct fc_graph *g)
{
    for (uint64_t first = 0, end; first < g->n; first = end) {
        for (end = first; end < g->n && g->vertex[end].rank == g->vertex[first].rank;) end++;
        for (int kind = 0; kind < 3; kind++)
            for (uint64_t v = first; v < end; v++)
                if (!g->vertex[v].n_left && kind_rank(&g->event[v]) == kind) set_free(g, v);
    }
    queue_freed(g);
}

/* ---- what events do ---- */

static void does(const struct fc_graph *g, uint32_t rank, enum fc_rank_state state, double from_ns, double to_ns)
{
    if (g->run->timeline) fc_timeline_does(g->run->timeline, rank, state, 1e-9 * from_ns, 1e-9 * to_ns);
}

/* What happens now waited for a processor, a card that was busy until busy_ns, or else for what `node` is the time of. */
static void now_is(struct fc_graph *g, double now_ns, const struct fc_processor *p, double busy_ns, uint32_t card_node,
                   uint32_t node)
{
    g->node = p && p->free_ns >= now_ns ? p->chain.node : busy_ns >= now_ns ? card_node : node;
}
static void processor_busy(struct fc_graph *g, struct fc_processor *p, enum fc_adjoint_cost cost, double amount,
                           uint32_t index)
{
    p->chain.node = fc_node_after(g->run, g->node, cost, index, amount);
}
static uint32_t card_busy(const struct fc_graph *g, double more_bytes)
{
    uint32_t node = fc_node_after(g->run, g->node, FC_COST_GAP, 0, 1);
    return fc_node_after(g->run, node, FC_COST_WIRE, 0, more_bytes);
}

static void compute(struct fc_graph *g, uint64_t v, double now_ns)
{
    const struct fc_event *e = &g->event[v];
    uint32_t rank = g->vertex[v].rank;
    struct fc_processor *p = processor_of(g, rank, (uint32_t)e->request);
    double time_s = e->compute_s * fc_compute_scale(g->run->job, rank), time_ns = round(time_s * 1e12) * 1e-3;
    now_is(g, now_ns, p, 0, 0, g->vertex[v].ready_node);
    p->free_ns = now_ns + time_ns;
    p->chain.computation_s += 1e-9 * time_ns;
    g->run->compute_s[rank] += 1e-9 * time_ns;
    does(g, rank, FC_RANK_COMPUTES, now_ns, p->free_ns);
    starts(g, v, now_ns);
    processor_busy(g, p, FC_COST_COMPUTE, 1e-9 * time_ns, rank);
    g->node = p->chain.node;
    finishes(g, v, p->free_ns, g->vertex[v].alone_ns + time_ns);
}

/* The rank's processor is free until now, when what has that chain behind it goes on: its own from now on. */
static void idles(const struct fc_graph *g, uint32_t rank, struct fc_processor *p, double now_ns,
                  const struct fc_chain *other)
{
    if (p->free_ns >= now_ns) return;
    fc_rank_idles(g->run, rank, 1e-9 * p->free_ns, 1e-9 * now_ns, &p->chain, other);
    p->chain = *other;
}

static double more_bytes(double bytes)
{
    return bytes > 1 ? bytes - 1 : 0;
}

/* At each end of a message, beyond LogGOPS (timing.h). */
static double beyond_ns(const struct fc_graph *g, uint32_t rank, double bytes)
{
    return (bytes > g->eager ? g->rendezvous_ns : bytes * g->copy_byte_ns) +
           round(1e12 * fc_slow_o_s(g->run->job, rank)) * 1e-3;
}

static void send(struct fc_graph *g, uint64_t v, double now_ns)
{
    struct fc_run *run = g->run;
    const struct fc_event *e = &g->event[v];
    uint32_t rank = g->vertex[v].rank;
    struct fc_processor *p = processor_of(g, rank, (uint32_t)e->request);
    double more = more_bytes((double)e->bytes),
           cpu_ns = g->o_ns + more * g->cpu_byte_ns + beyond_ns(g, rank, (double)e->bytes);
    struct fc_mail *mail = fc_mail_new(&run->match);
    struct fc_card *card = card_of(g, rank, e->polls);
    if (!mail) return;
    now_is(g, now_ns, p, card->send_ns, card->send_node, g->vertex[v].ready_node);
    starts(g, v, now_ns);
    p->free_ns = now_ns + cpu_ns;
    p->chain.software_s += 1e-9 * cpu_ns;
    does(g, rank, FC_RANK_SENDS, now_ns, p->free_ns);
    card->send_ns = now_ns + g->gap_ns + more * g->byte_ns;
    card->send_node = card_busy(g, more);
    processor_busy(g, p, FC_COST_SEND, 1, 0);
    uint32_t sent = p->chain.node;
    p->chain.node = fc_node_after(run, p->chain.node, FC_COST_PER_BYTE, 0, more);
    p->chain.node = fc_node_after(run, p->chain.node, FC_COST_OTHER, 0, 1e-9 * beyond_ns(g, rank, (double)e->bytes));
    mail->key = (struct fc_queue_key){e->comm, (int32_t)rank, e->peer, e->tag};
    mail->from = rank;
    mail->to = (uint32_t)e->peer;
    mail->bytes = (double)e->bytes;
    mail->vertex = (uint32_t)v;
    mail->processor = (uint8_t)e->request;
    mail->nic = (uint8_t)e->polls;
    mail->chain = p->chain;
    mail->number = run->n_sent[rank]++;
    mail->state = FC_SENT | FC_RECEIVER_HOLDS | (mail->bytes > g->eager ? FC_LONG : 0);
    mail->turn = g->turns++;
    mail->sent_node = p->chain.node;
    if (run->job->settings->loggops) {
        mail->chain.node = fc_node_after(run, sent, FC_COST_LATENCY, 0, 1e-9 * g->latency_ns);
        run->n_messages++;
        run->total.network_bytes += mail->bytes;
        fc_mail_moves(run, mail, 1e-9 * (now_ns + g->o_ns), 1e-9 * (now_ns + g->o_ns + g->latency_ns));
        push(g, &g->queue,
             (struct fc_graph_item){key_of(now_ns + g->o_ns + g->latency_ns, mail->turn),
                                    (uint64_t)(uintptr_t)mail | MESSAGE});
    } else {
        mail->sent_s[FC_REAL] = 1e-9 * p->free_ns;
        mail->sent_s[FC_ALONE] = 1e-9 * (g->vertex[v].alone_ns + cpu_ns);
        fc_mail_leave(run, mail);
    }
    g->node = p->chain.node;
    if (mail->bytes <= g->eager) finishes(g, v, p->free_ns, g->vertex[v].alone_ns + cpu_ns);
}

/* The network has brought it. */
static void arrived(struct fc_run *run, struct fc_mail *mail)
{
    struct fc_graph *g = run->graph;
    if (mail->key.comm < 0 || (mail->state & FC_EMBEDDED)) { /* of a collective call */
        fc_wake(run, mail->sender);
        fc_wake(run, mail->receiver);
        mail->sender = mail->receiver = NULL;
        return;
    }
    push(g, &g->queue,
         (struct fc_graph_item){key_of(1e9 * mail->arrived_s[FC_REAL], mail->turn),
                                (uint64_t)(uintptr_t)mail | MESSAGE});
}

/* A receive has taken a message: who waited for it. Long ones free their sender now. */
static void taken(struct fc_graph *g, uint64_t receive, struct fc_mail *mail, double now_ns, double finish_ns,
                  uint32_t finish_node)
{
    double alone_ns = fc_later(g->vertex[receive].alone_ns, mail->posted_s[FC_ALONE]);
    if (mail->bytes > g->eager) {
        struct fc_processor *p = processor_of(g, mail->from, mail->processor);
        struct fc_card *card = card_of(g, mail->from, mail->nic);
        idles(g, mail->from, p, now_ns,
              &processor_of(g, g->vertex[receive].rank, (uint32_t)g->event[receive].request)->chain);
        if (now_ns > p->free_ns) p->chain.node = g->node;
        if (now_ns > card->send_ns) card->send_node = g->node;
        p->free_ns = fc_later(p->free_ns, now_ns);
        card->send_ns = fc_later(card->send_ns, now_ns);
        finishes(g, mail->vertex, now_ns, g->vertex[mail->vertex].alone_ns);
    }
    g->node = finish_node;
    finishes(g, receive, finish_ns, alone_ns);
    fc_mail_release(&g->run->match, mail, FC_RECEIVER_HOLDS);
}

static void post(struct fc_graph *g, uint64_t v, double now_ns)
{
    const struct fc_event *e = &g->event[v];
    struct fc_mail *receive, *mail;
    g->node = g->vertex[v].ready_node;
    starts(g, v, now_ns);
    mail = fc_match_posted(&g->run->match, (struct fc_queue_key){e->comm, e->peer, (int32_t)g->vertex[v].rank, e->tag},
                           &receive);
    if (mail)
        taken(g, v, mail, now_ns, now_ns, g->node);
    else if (receive)
        receive->vertex = (uint32_t)v;
}

/* Processor and card take it in. */
static void take_in(struct fc_graph *g, struct fc_mail *mail, double now_ns)
{
    struct fc_run *run = g->run;
    struct fc_processor *p = processor_of(g, mail->to, mail->processor);
    double more = more_bytes(mail->bytes);
    double beyond = beyond_ns(g, mail->to, mail->bytes),
           cpu_ns = g->recv_ns + more * fc_later(g->cpu_byte_ns, g->byte_ns) + beyond;
    if (!run->job->settings->loggops && run->views > 1)
        mail->posted_s[FC_ALONE] = 1e9 * mail->arrived_s[FC_ALONE] + cpu_ns; /* alone, it is in by then */
    else
        mail->posted_s[FC_ALONE] = 0;
    struct fc_card *card = card_of(g, mail->to, mail->nic);
    now_is(g, now_ns, p, card->receive_ns, card->receive_node, mail->chain.node);
    idles(g, mail->to, p, now_ns, &mail->chain);
    p->free_ns = now_ns + cpu_ns;
    does(g, mail->to, FC_RANK_RECEIVES, now_ns, p->free_ns);
    p->chain.software_s += 1e-9 * (g->recv_ns + more * g->cpu_byte_ns + beyond);
    p->chain.link_s += 1e-9 * (cpu_ns - g->recv_ns - more * g->cpu_byte_ns - beyond);
    card->receive_ns = now_ns + g->gap_ns + more * g->byte_ns;
    card->receive_node = card_busy(g, more);
    processor_busy(g, p, FC_COST_RECV, 1, 0);
    p->chain.node =
        fc_node_after(run, p->chain.node, g->byte_ns > g->cpu_byte_ns ? FC_COST_WIRE : FC_COST_PER_BYTE, 0, more);
    p->chain.node = fc_node_after(run, p->chain.node, FC_COST_OTHER, 0, 1e-9 * beyond);
    struct fc_mail *receive = fc_match_arrived(&g->run->match, mail);
    if (!receive) return;
    uint64_t v = receive->vertex;
    fc_mail_release(&g->run->match, receive, FC_RECEIVER_HOLDS);
    taken(g, v, mail, now_ns, p->free_ns, p->chain.node);
}

/* ---- collective calls ---- */

static void call(struct fc_graph *g, uint64_t v, double now_ns)
{
    struct fc_run *run = g->run;
    const struct fc_event *e = &g->event[v];
    uint32_t rank = g->vertex[v].rank;
    struct fc_processor *p = processor_of(g, rank, (uint32_t)e->request);
    struct fc_strand *s = fc_strand_beside(run);
    if (!s) return;
    s->call = fc_calls_join(&run->calls, NULL, rank, e, NULL, v - run->job->trace->first_event[rank], g->vertex[v].call,
                            &s->member);
    if (!s->call) return;
    now_is(g, now_ns, p, 0, 0, g->vertex[v].ready_node);
    starts(g, v, now_ns);
    s->rank = rank;
    s->vertex = (uint32_t)v;
    s->op = e->op;
    s->at[FC_REAL].clock_s = 1e-9 * now_ns;
    s->at[FC_ALONE].clock_s = 1e-9 * g->vertex[v].alone_ns;
    s->chain = p->chain;
    s->chain.node = g->node;
    s->entered_s = s->at[FC_REAL].clock_s;
    p->free_ns = INFINITY;
    fc_make_ready(run, s);
}

static void call_over(struct fc_run *run, struct fc_strand *s)
{
    struct fc_graph *g = run->graph;
    run->total.collective_s += s->at[FC_REAL].clock_s - s->entered_s;
    push(g, &g->queue,
         (struct fc_graph_item){key_of(1e9 * s->at[FC_REAL].clock_s, g->turns++), (uint64_t)(uintptr_t)s | CALL_OVER});
}

static void end_call(struct fc_graph *g, struct fc_strand *s, double now_ns)
{
    uint32_t number = (uint32_t)g->event[s->vertex].request;
    struct fc_processor *p = processor_of(g, s->rank, number);
    p->free_ns = now_ns;
    p->chain = s->chain;
    g->node = s->chain.node;
    finishes(g, s->vertex, now_ns, 1e9 * s->at[FC_ALONE].clock_s);
    for (uint32_t k = 0; k < 1 + 2 * g->n_cards; k++) call_first(g, line_of(g, s->rank, number, k));
    fc_strand_free(g->run, s);
}

/* ---- time goes on ---- */

/* What is at hand starts now, or stands in line. */
static void happen(struct fc_graph *g, uint64_t what, double now_ns, uint64_t turn)
{
    if ((what & KIND) == MESSAGE) {
        struct fc_mail *mail = (struct fc_mail *)(uintptr_t)(what & ~(uint64_t)KIND);
        size_t line = line_of(g, mail->to, mail->processor, 2 + 2 * (uint32_t)mail->nic);
        if (line_free_ns(g, line) > now_ns)
            stand_in_line(g, line, turn, what);
        else
            take_in(g, mail, now_ns);
        return;
    }
    uint64_t v = what >> 2;
    const struct fc_event *e = &g->event[v];
    if (e->op == FC_OP_RECV) {
        post(g, v, now_ns);
        return;
    }
    size_t line =
        line_of(g, g->vertex[v].rank, (uint32_t)e->request, e->op == FC_OP_SEND ? 1 + 2 * (uint32_t)e->polls : 0);
    if (line_free_ns(g, line) > now_ns)
        stand_in_line(g, line, turn, what);
    else if (e->op == FC_OP_SEND)
        send(g, v, now_ns);
    else if (e->op == FC_OP_OTHER)
        compute(g, v, now_ns);
    else
        call(g, v, now_ns);
}

static void line_moves(struct fc_graph *g, size_t line, double now_ns, uint64_t turn)
{
    if (!g->line[line].n || (uint64_t)g->line[line].item[0].key != turn) return;
    if (line_free_ns(g, line) <= now_ns) {
        struct fc_graph_item first = pop(&g->line[line]);
        happen(g, first.what, now_ns, turn);
    }
    call_first(g, line);
}

static bool step(struct fc_graph *g)
{
    struct fc_run *run = g->run;
    double next_ns = g->queue.n ? time_of(g->queue.item[0].key) : INFINITY;
    if (run->views > 1 && fc_net_next(run, 1e-9 * next_ns)) return fc_run_ready(run);
    if (!g->queue.n || g->st->code) return false;
    struct fc_graph_item item = pop(&g->queue);
    double now_ns = time_of(item.key);
    switch (item.what & KIND) {
    case LINE: line_moves(g, item.what >> 2, now_ns, (uint64_t)item.key); break;
    case CALL_OVER: end_call(g, (struct fc_strand *)(uintptr_t)(item.what & ~(uint64_t)KIND), now_ns); break;
    default: happen(g, item.what, now_ns, (uint64_t)item.key);
    }
    if (g->n_freed) queue_freed(g);
    return fc_run_ready(run);
}

/* ---- before and after ---- */

/* Of an event that has started and not finished, with others behind it. */
static bool blocked_in(const struct fc_run *run, uint32_t rank, struct fc_blocked *b)
{
    const struct fc_graph *g = run->graph;
    uint64_t first = 0;
    while (first < g->n && g->vertex[first].rank != rank) first++;
    for (uint64_t v = first; v < g->n && g->vertex[v].rank == rank; v++) {
        const struct fc_event *e = &g->event[v];
        if (g->vertex[v].state != STARTED) continue;
        bool collective = e->op >= FC_OP_BARRIER && e->op <= FC_OP_SCAN;
        if (!collective && g->vertex[v].after == g->vertex[v + 1].after) continue;
        *b = (struct fc_blocked){rank, e->peer < 0 ? FC_NONE : (uint32_t)e->peer, e->op, v - first};
        for (const struct fc_strand *s = run->all_beside; s && collective; s = s->behind)
            if (s->call && s->vertex == v) b->waits_for = fc_call_waits_for(s);
        return true;
    }
    return false;
}

static void finish_ranks(struct fc_graph *g)
{
    struct fc_run *run = g->run;
    if (run->timeline) run->timeline->n_processors = g->n_processors;
    if (g->n_processors > 1) run->waiting_s = NULL; /* of which processor? */
    for (uint32_t r = 0; r < run->job->trace->n_ranks; r++)
        for (uint32_t p = 0; p < g->n_processors; p++) {
            const struct fc_processor *at = processor_of(g, r, p);
            run->finish_s[r] = fc_later(run->finish_s[r], 1e-9 * at->free_ns);
            run->path_compute_s[r] = at->chain.computation_s;
            fc_run_ends(run, 1e-9 * at->free_ns, 0, &at->chain);
        }
}

enum fc_code fc_run_graph(struct fc_run *run)
{
    struct fc_graph g = {.run = run, .st = run->job->st};
    uint64_t steps = 0;
    run->graph = &g;
    run->arrived = arrived;
    run->call_over = call_over;
    if (!fc_graph_prepare(&g)) {
        free_at_start(&g);
        while (step(&g))
            if (steps++ % 65536 == 0)
                fc_progress_show(run->job->settings->progress, (double)g.n_done / (double)(g.n + 1), "replay");
        run->n_events = g.n_done;
        bool held = false;
        for (uint64_t v = 0; v < g.n && !held; v++)
            held = g.vertex[v].state == WAITS ||
                   (g.vertex[v].state == STARTED && g.event[v].op >= FC_OP_BARRIER && g.event[v].op <= FC_OP_SCAN);
        if (!g.st->code && held) fc_report_deadlock(run, blocked_in);
        if (!g.st->code) finish_ranks(&g);
    }
    for (size_t i = 0; g.line && i < (size_t)run->job->trace->n_ranks * g.n_processors * (1 + 2 * (size_t)g.n_cards);
         i++)
        free(g.line[i].item);
    free(g.queue.item);
    free(g.freed);
    free(g.copies);
    fc_arena_free(&g.arena);
    return run->job->st->code;
}
