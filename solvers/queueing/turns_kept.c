/* turns_kept.c - queues that last before links which more packets would take directly than they can send, under UGAL.
 *
 * A source that sees such a queue goes on sending there while it is not above the threshold, so each input i of the link keeps
 *
 *     q_i = threshold + weight x flits on the wire of another link - those on its own wire + a packet,
 *
 * at the most what its virtual channels hold, and the link works all of it off. With f_i flits a cycle that would come by i where nobody turned
 * away, packets wait the W of
 *
 *     sum_i min(f_i, q_i / W) = the link's flits a cycle.
 *
 * The queues come with the load: none where the link is just full directly, all at KEPT_WHOLE times that (perlmutter group to group: a fifth at 1.02,
 * all at 1.23; 6 groups of 12 switches, `complement`: a third at 1.09, two thirds at 1.17, all at 1.28).
 *
 * Group to group (`group-shift`) on perlmutter, latency against the kernel at 1.02 to 3.3 times what the direct links take: -14, -19, -9, -14, -24 %;
 * -50 to -82 % without this. Limits: `queue: both` (turns_ugal.c asks for no other): where routers count one side alone, some sources do not see the
 * queue, and their inputs are not told apart. Packets that pass such a link on their second way wait as long. How far a queue may be off covered nine of
 * ten such latencies on perlmutter, two smaller shapes of it and a dragonfly of 64 nodes. */
#include "solvers/queueing/turns_internal.h"

#include <stdlib.h>

#define KEPT_FROM 1.0
#define KEPT_WHOLE 1.25
#define KEPT_OFF 0.2 /* of a queue, and more while it comes */
#define COMING_OFF 0.5

/* q_i of the input that a channel is; one that packets do not enter at their first link is filled. */
static double most_kept(const struct fc_turns_walk *w, uint32_t channel, bool seen, double wire)
{
    const struct fc_machine *machine = w->net->machine;
    const struct fc_turns *t = w->turns;
    double room = t->channel_vcs[channel] * (double)w->flit.buffer_flits;
    double until = fc_ugal_threshold_flits(machine) + machine->router.ugal.weight * wire -
                   w->on_wire[t->channel_link[channel]] + t->flits_mean;
    return seen ? fmin(room, fmax(until, t->flits_mean)) : room;
}

/* An input of a link, by one channel: flits a cycle that come where nobody turns away, and the most that it keeps. */
struct kept {
    uint32_t link;
    double flow, most;
};

/* Flits a cycle that inputs bring where all wait W cycles. */
static double brought(const struct kept *of, uint32_t n, double wait)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += fmin(of[i].flow, of[i].most / wait);
    return sum;
}

static int by_link(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    if (x->link != y->link) return x->link < y->link ? -1 : 1;
    return x->flow < y->flow ? -1 : x->flow > y->flow; /* sums to the last bit */
}

/* W; 0: the inputs bring no more than the link sends. */
static double lasting_wait(const struct kept *of, uint32_t n, double flits_per_cycle)
{
    double low = 0, high = 1e9;
    if (brought(of, n, 1e-9) <= flits_per_cycle) return 0;
    while (high - low > 1e-3 * high) {
        double middle = (low + high) / 2;
        *(brought(of, n, middle) > flits_per_cycle ? &low : &high) = middle;
    }
    return high;
}

/* Whether packets enter the channels at their first link; and of each class of links the mean that is on the wire. */
static void see(const struct fc_turns_walk *w, uint32_t n_choices, bool *seen, double *wire)
{
    const struct fc_turns *t = w->turns;
    double n[FC_MAX_CLASSES] = {0};
    for (uint32_t l = 0; l < t->n_links; l++) {
        int class = w->net->link_class[t->link[l]];
        if (t->kind[l] == FC_TURN_NETWORK) wire[class] += w->on_wire[l], n[class]++;
    }
    for (int c = 0; c < FC_MAX_CLASSES; c++) wire[c] /= fmax(1, n[c]);
    for (uint32_t s = 0; s < t->n_states; s++) {
        if (t->state_in[s] == FC_NONE || t->kind[t->channel_link[t->state_in[s]]] != FC_TURN_INJECTION) continue;
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1] && i < n_choices; i++)
            seen[t->choice_channel[i]] = true;
    }
}

enum fc_code fc_turns_keep(struct fc_turns_walk *w, const struct fc_turns_direct *direct, struct fc_status *st)
{
    struct fc_turns *t = w->turns;
    double wire[FC_MAX_CLASSES] = {0};
    bool *seen = fc_alloc(w->arena, t->n_channels, sizeof *seen, st);
    struct kept *kept = fc_alloc(w->arena, direct->n_choices + 1ull, sizeof *kept, st);
    uint32_t n_kept = 0;
    t->kept_cycles = fc_alloc(&t->arena, t->n_links, sizeof *t->kept_cycles, st);
    t->kept_from = fc_alloc(&t->arena, t->n_links, sizeof *t->kept_from, st);
    if (st->code) return st->code;
    see(w, direct->n_choices, seen, wire);
    for (uint32_t s = 0; s < t->n_states; s++) {
        uint32_t c = t->state_in[s];
        if (c == FC_NONE || t->kind[t->channel_link[c]] != FC_TURN_NETWORK) continue;
        double most = most_kept(w, c, seen[c], wire[w->net->link_class[t->link[t->channel_link[c]]]]);
        for (uint32_t i = t->first_choice[s]; i < t->first_choice[s + 1] && i < direct->n_choices; i++) {
            uint32_t l = t->choice_link[i];
            if (t->copies[l] != 1 || !(direct->choice_rate[i] > 0)) continue;
            if (w->at_load * direct->rate[l] * t->service[l] <= 1) continue;
            kept[n_kept++] = (struct kept){l, w->at_load * direct->choice_rate[i] * t->flits_mean, most};
        }
    }
    qsort(kept, n_kept, sizeof *kept, by_link);
    for (uint32_t from = 0, to = 0; from < n_kept; from = to) {
        uint32_t l = kept[from].link;
        while (to < n_kept && kept[to].link == l) to++;
        t->kept_cycles[l] = lasting_wait(kept + from, to - from, t->flits_mean / t->service[l]);
        t->kept_from[l] = 1 / (direct->rate[l] * t->service[l]);
    }
    return FC_OK;
}

double fc_turns_kept_cycles(const struct fc_turns *t, uint32_t link, double load, double *off_cycles)
{
    *off_cycles = 0;
    if (!t->kept_cycles || !(t->kept_cycles[link] > 0)) return 0;
    double share = (load / t->kept_from[link] - KEPT_FROM) / (KEPT_WHOLE - KEPT_FROM);
    share = fmin(1, fmax(0, share));
    *off_cycles = hypot(KEPT_OFF * share, COMING_OFF * sqrt(share * (1 - share))) * t->kept_cycles[link];
    return share * t->kept_cycles[link];
}
