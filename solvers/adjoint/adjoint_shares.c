/* adjoint_shares.c - what the rates of messages that share links have of each bandwidth.
 *
 * A flow's max-min fair rate is the level of its bottleneck link l (transit_fair.c),
 *
 *     level = (C_l - sum over flows j of lower levels of w_j r_j) / sum of the weights of all others there
 *
 * a linear function of bandwidths and of the r_j, which have lower levels and so are known. Each flow keeps dr / d ln b of
 * every class of links and of some single links, a vector whose parts sum up to r (Euler). It is made anew where a solve
 * changed the rate. Its integral over the time that a message takes, over the last rate, is what the message's end has of each
 * bandwidth. When rates are found anew is a node of the tape: the start or the end of a message.
 *
 * One link that is a bottleneck beside others, which fill at the same level, binds when it becomes slower and does not when
 * it becomes faster: two numbers each. Flows of the same level as the link's count as its own. What mixing leaves of a link
 * (transit_fair_mix.c) depends on who is there, and so is a factor of C_l.
 *
 * Limits: what a message that starts in a crowd waits for its rate (transit_contention.c) counts as if its narrowest link
 * alone held it up. Flows whose rate stays as it was keep their vector. */
#include "solvers/adjoint/adjoint_internal.h"
#include "solvers/load_internal.h"
#include "solvers/transit/transit_fair.h"
#include "solvers/transit/transit_fifos.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME 1e-9     /* levels that differ by less are equal */
enum { AHEAD = 4 };   /* flows that are called into the cache before it is their turn */
enum { RECENT = 64 }; /* stretches that are still there */

static void close_shares(struct fc_adjoint_shares *s)
{
    fc_adjoint_release(s->share, s->share_capacity, sizeof *s->share);
    fc_adjoint_release(s->seen, s->seen_capacity, sizeof *s->seen);
    fc_adjoint_release(s->sent, s->sent_capacity, sizeof *s->sent);
    fc_adjoint_release(s->slower, s->slower_capacity, sizeof *s->slower);
    fc_adjoint_release(s->place, s->place_capacity, sizeof *s->place);
    fc_adjoint_release(s->happened, s->happened_capacity, sizeof *s->happened);
    free(s->level);
    free(s->which);
    free(s->sender);
    free(s);
}

/* NULL: lost. */
static struct fc_adjoint_shares *shares_of(struct fc_adjoint *a, const struct fc_fair *fair)
{
    struct fc_adjoint_shares *s = a->shares;
    if (a->lost) return NULL;
    if (s) return s;
    s = a->shares = calloc(1, sizeof *s);
    a->close_shares = close_shares;
    if (s) {
        s->n_links = fair->n_links;
        s->due_s = INFINITY;
        s->level = calloc(s->n_links + 1ull, sizeof *s->level);
        s->which = calloc(s->n_links + 1ull, sizeof *s->which);
        s->sender = calloc(a->net->n_nodes + 1ull, sizeof *s->sender);
        s->last_use = FC_NONE;
    }
    a->lost = a->refused = !s || !s->level || !s->which || !s->sender;
    for (uint32_t i = 0; !a->lost && i < a->net->n_nodes; i++) s->sender[i].first = FC_NONE;
    for (int i = 0; !a->lost && i < a->n_links; i++) s->which[a->link[i]] = (uint8_t)(i + 1);
    return a->lost ? NULL : s;
}

/* ---- messages ---- */

static struct fc_adjoint_share *new_share(struct fc_adjoint *a, const struct fc_fair *fair, uint32_t flow, double share)
{
    struct fc_adjoint_shares *s = shares_of(a, fair);
    if (!s || !fc_adjoint_grow(a, (void **)&s->share, &s->share_capacity, flow + 1ull, sizeof *s->share) ||
        !fc_adjoint_grow(a, (void **)&s->seen, &s->seen_capacity, flow + 1ull, sizeof *s->seen) ||
        !fc_adjoint_grow(a, (void **)&s->sent, &s->sent_capacity, flow + 1ull, sizeof *s->sent))
        return NULL;
    struct fc_adjoint_share *x = &s->share[flow];
    *x = (struct fc_adjoint_share){.message = flow,
                                   .next = flow,
                                   .steps = FC_NONE,
                                   .stretches = FC_NONE,
                                   .solve = FC_NONE,
                                   .share = (float)share,
                                   .src = FC_NONE};
    s->seen[flow] = (struct fc_adjoint_seen){FC_NONE, 0};
    const struct fc_fair_flow *f = &fair->flow[flow];
    for (uint32_t i = f->first; a->n_links && i < f->first + f->n; i++) {
        uint8_t which = s->which[fair->entry[i].link];
        if (which) x->crosses |= (uint8_t)(1 << (which - 1));
    }
    return x;
}

void fc_adjoint_begins(struct fc_adjoint *a, const struct fc_fair *fair, uint64_t id, uint32_t flow, double start_s,
                       double share, uint32_t src)
{
    struct fc_adjoint_share *x = new_share(a, fair, flow, share);
    if (!x) return;
    x->start_s = x->since_s = start_s;
    x->departs = a->departs[fc_adjoint_slot(id)];
    struct fc_adjoint_sent *sent = a->shares->sent;
    struct fc_adjoint_sender *sender = src != FC_NONE ? &a->shares->sender[src] : NULL;
    sent[flow] = (struct fc_adjoint_sent){FC_NONE, sender ? sender->first : FC_NONE, FC_NONE};
    if (!sender) return;
    x->src = src;
    x->logged = sender->logged;
    if (sender->first != FC_NONE) sent[sender->first].before = flow;
    sender->first = flow;
}

/* It is no longer under way. */
static void leave_sender(struct fc_adjoint *a, uint32_t message, double now_s)
{
    struct fc_adjoint_shares *s = a->shares;
    const struct fc_adjoint_sent *x = &s->sent[message];
    if (s->share[message].src == FC_NONE) return;
    *(x->before == FC_NONE ? &s->sender[s->share[message].src].first : &s->sent[x->before].after) = x->after;
    if (x->after != FC_NONE) s->sent[x->after].before = x->before;
    if (s->share[message].logged) fc_adjoint_log_end(a, message, now_s);
}

void fc_adjoint_joins(struct fc_adjoint *a, const struct fc_fair *fair, uint32_t message, uint32_t flow, double share)
{
    struct fc_adjoint_share *x = new_share(a, fair, flow, share);
    if (!x) return;
    struct fc_adjoint_share *first = &a->shares->share[message];
    x->message = message;
    x->next = first->next;
    x->since_s = first->start_s;
    x->src = first->src;
    x->logged = first->logged;
    first->next = flow;
}

/* The flow's rate up to now is on the tape. */
static inline void note(struct fc_adjoint *a, struct fc_adjoint_share *x, uint32_t rate_number, double now_s)
{
    double lasted_s = now_s - x->since_s;
    x->since_s = now_s;
    if (rate_number == FC_NONE || lasted_s <= 0 ||
        !fc_adjoint_grow(a, (void **)&a->stretch, &a->stretch_capacity, a->n_stretches + 1, sizeof *a->stretch))
        return;
    struct fc_adjoint_share *first = &a->shares->share[x->message];
    uint32_t last = first->stretches;
    if (last + RECENT >= a->n_stretches && last != FC_NONE && a->stretch[last].rate == rate_number &&
        last != a->shares->sent[x->message].stop) { /* another part of the message, held up by the same link */
        a->stretch[last].lasted_s += x->share * (float)lasted_s;
        return;
    }
    a->stretch[a->n_stretches] = (struct fc_adjoint_stretch){first->stretches, rate_number, x->share * (float)lasted_s};
    first->stretches = (uint32_t)a->n_stretches++;
}

void fc_adjoint_claims(struct fc_adjoint *a, uint32_t flow, double share, double now_s)
{
    if (a->lost) return;
    struct fc_adjoint_share *x = &a->shares->share[flow];
    note(a, x, a->shares->seen[flow].rate_number, now_s);
    if (x->logged && x->rate > 0) fc_adjoint_log_share(a, flow, now_s);
    x->share = (float)share;
}

void fc_adjoint_note_all(struct fc_adjoint *a, uint32_t message, double now_s)
{
    struct fc_adjoint_shares *s = a->shares;
    uint32_t f = message;
    do {
        note(a, &s->share[f], s->seen[f].rate_number, now_s);
        f = s->share[f].next;
    } while (f != message);
}

uint32_t fc_adjoint_add_end(struct fc_adjoint *a, struct fc_adjoint_end end)
{
    if (!fc_adjoint_grow(a, (void **)&a->end, &a->end_capacity, a->n_ends + 1, sizeof *a->end)) return 0;
    a->end[a->n_ends] = end;
    return fc_adjoint_add(a, 0, FC_COST_END, (uint32_t)a->n_ends++, 1);
}

uint32_t fc_adjoint_ends(struct fc_adjoint *a, uint32_t message, double now_s, double bytes)
{
    if (a->lost) return 0;
    struct fc_adjoint_shares *s = a->shares;
    const struct fc_adjoint_share *first = &s->share[message];
    fc_adjoint_note_all(a, message, now_s);
    leave_sender(a, message, now_s);
    double lasted_s = now_s - first->start_s;
    return fc_adjoint_add_end(a, (struct fc_adjoint_end){first->steps, first->stretches, s->sent[message].stop,
                                                         first->departs, first->all_rate,
                                                         lasted_s > 0 ? bytes / lasted_s : first->all_rate});
}

/* ---- instants ---- */

uint32_t fc_adjoint_with(struct fc_adjoint *a, uint32_t list, uint32_t node, double more)
{
    if (!fc_adjoint_grow(a, (void **)&a->step, &a->step_capacity, a->n_steps + 1, sizeof *a->step)) return FC_NONE;
    a->step[a->n_steps] = (struct fc_adjoint_step){list, node, (float)more};
    return (uint32_t)a->n_steps++;
}

/* ---- what makes rates anew ---- */

/* Is it as early as what makes rates anew so far? Then it takes part. */
static bool is_first(struct fc_adjoint *a, double due_s)
{
    struct fc_adjoint_shares *s = a->shares;
    if (a->lost || (s->n_happened && due_s > s->due_s * (1 + 1e-12))) return false;
    if (due_s < s->due_s * (1 - 1e-12)) s->n_happened = 0;
    if (!s->n_happened) s->due_s = due_s;
    return true;
}

static void happens(struct fc_adjoint *a, uint32_t node)
{
    struct fc_adjoint_shares *s = a->shares;
    if (s->n_happened && s->happened[s->n_happened - 1] == node) return;
    if (fc_adjoint_grow(a, (void **)&s->happened, &s->happened_capacity, s->n_happened + 1, sizeof *s->happened))
        s->happened[s->n_happened++] = node;
}

void fc_adjoint_happens_start(struct fc_adjoint *a, uint64_t id, double now_s, double due_s, uint32_t narrow)
{
    if (!is_first(a, due_s)) return;
    uint32_t node = a->departs[fc_adjoint_slot(id)];
    double late_s = due_s - now_s;
    node = narrow == FC_NONE ? fc_adjoint_add(a, node, FC_COST_OTHER, 0, late_s)
                             : fc_adjoint_add(a, node, FC_COST_LINK, narrow, late_s);
    happens(a, node);
}

void fc_adjoint_happens_end(struct fc_adjoint *a, uint64_t id, uint32_t end, double due_s, double late)
{
    if (!is_first(a, due_s)) return;
    if (late > 0) {
        uint32_t list = fc_adjoint_with(a, FC_NONE, a->departs[fc_adjoint_slot(id)], -late);
        list = fc_adjoint_with(a, list, end, 1 + late);
        if (!a->lost) end = fc_adjoint_add(a, list, FC_COST_SEVERAL, 0, 1);
    }
    happens(a, end);
}

static uint32_t instant(struct fc_adjoint *a)
{
    struct fc_adjoint_shares *s = a->shares;
    size_t n = s->n_happened;
    uint32_t list = FC_NONE;
    s->n_happened = 0;
    if (n < 2) return n ? s->happened[0] : 0;
    for (size_t i = 0; i < n && !a->lost; i++) list = fc_adjoint_with(a, list, s->happened[i], 1);
    return fc_adjoint_add(a, list, FC_COST_INSTANT, 0, (double)n);
}

/* ---- rates ---- */

/* One more term of the rate that is being made, the last one. */
static inline void term(struct fc_adjoint *a, enum fc_adjoint_of of, uint32_t index, double part)
{
    if (fc_adjoint_grow(a, (void **)&a->term, &a->term_capacity, a->n_terms + 1, sizeof *a->term))
        a->term[a->n_terms++] = (struct fc_adjoint_term){(uint32_t)of << 28 | index, (float)part};
}

/* The same, of an earlier rate: there is one term of each. */
static inline void term_of_rate(struct fc_adjoint *a, uint32_t rate, double part)
{
    uint32_t first = a->rate[a->n_rates - 1], *place = &a->shares->place[rate];
    if (*place >= first && *place < a->n_terms && a->term[*place].what == rate) {
        a->term[*place].part += (float)part;
        return;
    }
    *place = (uint32_t)a->n_terms;
    term(a, FC_OF_RATE, rate, part);
}

/* FC_NONE: lost. */
static uint32_t new_rate(struct fc_adjoint *a)
{
    struct fc_adjoint_shares *s = a->shares;
    if (!fc_adjoint_grow(a, (void **)&a->rate, &a->rate_capacity, a->n_rates + 1, sizeof *a->rate) ||
        !fc_adjoint_grow(a, (void **)&s->place, &s->place_capacity, a->n_rates + 1, sizeof *s->place))
        return FC_NONE;
    a->lost = a->lost || a->n_rates >= 0x0fffffff;
    s->place[a->n_rates] = FC_NONE;
    a->rate[a->n_rates] = (uint32_t)a->n_terms;
    return (uint32_t)a->n_rates++;
}

/* Of a node's injection FIFOs: sum of r_i w_i / b_i <= F, so the sum's parts by the links behind the router. */
static void terms_of_fifo(struct fc_adjoint *a, const struct fc_fair *fair, uint32_t link, double weight)
{
    const struct fc_network *net = a->net;
    const struct fc_fair_link *l = &fair->link[link];
    for (const struct fc_fair_on *x = fair->on + l->first, *end = x + l->n_flows; x < end; x++) {
        const struct fc_fair_flow *flow = &fair->flow[x->flow];
        for (uint32_t k = flow->first; k < flow->first + flow->n; k++) {
            uint32_t other = fair->entry[k].link;
            if (other < net->n_links && fc_fifos_feed(net, link - a->first_fifo, other))
                term(a, FC_OF_LINK, other, flow->rate * fair->entry[k].weight / fc_link_bandwidth(net, other) / weight);
        }
    }
}

/* Of a link's capacity, what is its bandwidth's; but for ports and memory, which are no parameters. */
static double own_part(const struct fc_adjoint *a, const struct fc_fair *fair, uint32_t link)
{
    double capacity = fair->link[link].capacity;
    if (link >= a->net->n_links) return capacity;
    double opened = fair->opened[link];
    double bandwidth = fc_link_bandwidth(a->net, link);
    return bandwidth == opened ? capacity : capacity * (bandwidth / opened);
}

/* The rate of the fastest flow on a link. */
static double fastest(const struct fc_fair *fair, uint32_t link)
{
    const struct fc_fair_link *l = &fair->link[link];
    if (l->n_bound > 0) return l->level;
    double rate = 0;
    for (const struct fc_fair_on *x = fair->on + l->first, *end = x + l->n_flows; x < end; x++)
        if (fair->pace[x->flow] > rate) rate = fair->pace[x->flow];
    return rate;
}

static bool settle(struct fc_adjoint *a, const struct fc_fair *fair, uint32_t flow, double now_s, uint32_t at);

/* The sum of the weights of the fastest flows on a link, after all others, which are the last of slower[], have their rates on the
 * tape; 0: lost. */
static double weight_of(struct fc_adjoint *a, const struct fc_fair *fair, uint32_t link, double rate, double now_s,
                        uint32_t at)
{
    struct fc_adjoint_shares *s = a->shares;
    const struct fc_fair_link *l = &fair->link[link];
    const double *pace = fair->pace; /* the rates: no more is to be read of a flow */
    double weight = 0;
    size_t first = s->n_slower, n = first;
    if (!fc_adjoint_grow(a, (void **)&s->slower, &s->slower_capacity, first + l->n_flows + 1, sizeof *s->slower))
        return 0;
    for (uint32_t i = l->first; i < l->first + l->n_flows; i++) { /* half of them are, in no order: without a branch */
        bool slower = !(pace[fair->on[i].flow] >= rate);
        weight += fair->on[i].weight * !slower;
        s->slower[n] = i;
        n += slower;
    }
    s->n_slower = n;
    for (size_t k = first; k < n; k++) {
        uint32_t flow = fair->on[s->slower[k]].flow;
        if (s->seen[flow].pending == s->solve && !settle(a, fair, flow, now_s, at)) return 0;
    }
    return weight;
}

/* The level of a link that is full. FC_NONE: lost. */
static uint32_t level_of(struct fc_adjoint *a, const struct fc_fair *fair, uint32_t link, double now_s, uint32_t at)
{
    struct fc_adjoint_shares *s = a->shares;
    struct fc_adjoint_level *level = &s->level[link];
    if (level->solve == s->solve) return level->rate;
    size_t first = s->n_slower;
    double rate = fastest(fair, link) * (1 - SAME), weight = weight_of(a, fair, link, rate, now_s, at);
    if (!(weight > 0)) return FC_NONE;
    level->solve = s->solve;
    level->rate = new_rate(a);
    if (level->rate == FC_NONE) return FC_NONE;
    double part = 1 / weight;
    level->own = (float)(own_part(a, fair, link) * part);
    if (link >= a->first_fifo)
        terms_of_fifo(a, fair, link, weight);
    else if (link >= a->net->n_links)
        term(a, FC_OF_REST, 0, level->own);
    else
        term(a, FC_OF_LINK, link, level->own);
    for (size_t k = first; k < s->n_slower && !a->lost; k++) {
        const struct fc_fair_on *x = &fair->on[s->slower[k]];
        if (s->seen[x->flow].rate_number != FC_NONE) /* FC_NONE: it still has 0 */
            term_of_rate(a, s->seen[x->flow].rate_number, -part * x->weight);
    }
    s->n_slower = first;
    return a->lost ? FC_NONE : level->rate;
}

/* Is the link full, and nobody there faster? It is looked at those there in turn, until one is: levels rise, so no more than once at
 * each. */
static bool fills_at(const struct fc_adjoint *a, const struct fc_fair *fair, uint32_t link, double rate)
{
    const struct fc_fair_link *l = &fair->link[link];
    struct fc_adjoint_level *level = &a->shares->level[link];
    rate *= 1 + SAME;
    if (level->full_solve != a->shares->solve) {
        bool full = l->used >= l->capacity * (1 - SAME);
        level->full_solve = a->shares->solve;
        level->fastest = !full ? INFINITY : l->n_bound > 0 ? l->level : 0;
        level->n_seen = l->n_bound > 0 ? l->n_flows : 0;
    }
    while (level->fastest <= rate && level->n_seen < l->n_flows) {
        double other = fair->pace[fair->on[l->first + level->n_seen].flow];
        if (other > rate) return false;
        if (other > level->fastest) level->fastest = other;
        level->n_seen++;
    }
    return level->fastest <= rate;
}

/* Is there another link that is a bottleneck of the flow as well? */
static bool has_other(const struct fc_adjoint *a, const struct fc_fair *fair, const struct fc_fair_flow *f)
{
    for (uint32_t k = f->first; k < f->first + f->n; k++)
        if (fair->entry[k].link != f->bottleneck && fills_at(a, fair, fair->entry[k].link, f->rate)) return true;
    return false;
}

/* The flow, of rate `level`, goes over links that are looked at one by one: are they bottlenecks too, or are there others
 * beside them? Then it has a rate of its own: such a link is its bottleneck when it becomes slower, not when it becomes
 * faster. */
static uint32_t look_at_links(struct fc_adjoint *a, const struct fc_fair *fair, uint32_t flow, uint32_t level,
                              double now_s, uint32_t at)
{
    const struct fc_adjoint_shares *s = a->shares;
    const struct fc_fair_flow *f = &fair->flow[flow];
    int tied[FC_ADJOINT_LINKS], n_tied = 0;
    for (unsigned crosses = s->share[flow].crosses; crosses; crosses &= crosses - 1) {
        int i = __builtin_ctz(crosses);
        uint32_t link = a->link[i];
        if (!fills_at(a, fair, link, f->rate) || (f->bottleneck == link && !has_other(a, fair, f))) continue;
        if (level_of(a, fair, link, now_s, at) == FC_NONE) return FC_NONE;
        tied[n_tied++] = i;
    }
    uint32_t own = n_tied > 0 ? new_rate(a) : level;
    if (n_tied > 0 && own != FC_NONE) term_of_rate(a, level, 1);
    for (int k = 0; k < n_tied && own != FC_NONE; k++) {
        uint32_t link = a->link[tied[k]];
        double part = s->level[link].own;
        term(a, f->bottleneck == link ? FC_OF_FASTER : FC_OF_SLOWER, (uint32_t)tied[k],
             f->bottleneck == link ? -part : part);
    }
    return own;
}

/* Returns the message's new step; FC_NONE: it has had one in this solve. */
static uint32_t step(struct fc_adjoint *a, struct fc_adjoint_share *x, double more, double now_s, uint32_t at)
{
    struct fc_adjoint_shares *s = a->shares;
    struct fc_adjoint_share *m = &s->share[x->message];
    if (x->logged) {
        s->sender[x->src].n_rated += !(m->all_rate > 0);
        s->sender[x->src].rate += more;
    }
    m->all_rate += more;
    if (m->solve == s->solve) {
        a->step[m->steps].more += (float)more;
        return FC_NONE;
    }
    bool begins = m->steps == FC_NONE && m->start_s >= now_s * (1 - 1e-12);
    m->steps = fc_adjoint_with(a, m->steps, begins ? m->departs : at, more);
    m->solve = s->solve;
    return m->steps;
}

/* The flow's new rate, after all lower ones, goes on the tape. False: lost. */
static bool settle(struct fc_adjoint *a, const struct fc_fair *fair, uint32_t flow, double now_s, uint32_t at)
{
    struct fc_adjoint_seen *seen = &a->shares->seen[flow];
    seen->pending = 0;
    uint32_t rate = level_of(a, fair, fair->flow[flow].bottleneck, now_s, at);
    if (rate != FC_NONE && a->shares->share[flow].crosses) rate = look_at_links(a, fair, flow, rate, now_s, at);
    if (rate == FC_NONE) return false;
    struct fc_adjoint_share *x = &a->shares->share[flow];
    float bytes_per_s = x->share * (float)fair->pace[flow];
    note(a, x, seen->rate_number, now_s);
    seen->rate_number = rate;
    uint32_t new_step = step(a, x, (double)bytes_per_s - x->rate, now_s, at);
    if (x->logged) fc_adjoint_log_rate(a, flow, new_step, rate, now_s);
    x->rate = bytes_per_s;
    return !a->lost;
}

/* Into the cache. */
static inline void call_in(const struct fc_adjoint_shares *s, const struct fc_fair *fair, uint32_t flow)
{
    __builtin_prefetch(&s->share[flow]);
    __builtin_prefetch(&fair->flow[flow]);
}

void fc_adjoint_solved(struct fc_adjoint *a, const struct fc_fair *fair, double now_s)
{
    struct fc_adjoint_shares *s = shares_of(a, fair);
    if (!s) return;
    uint32_t at = instant(a);
    s->due_s = INFINITY;
    s->solve++;
    s->n_slower = 0;
    for (size_t k = 0; k < fair->n_changed; k++) s->seen[fair->changed[k]].pending = s->solve;
    for (size_t k = 0; k < fair->n_changed; k++) { /* levels rise, but of those that are found to fit */
        if (k + AHEAD < fair->n_changed) call_in(s, fair, fair->changed[k + AHEAD]);
        if (s->seen[fair->changed[k]].pending == s->solve && !settle(a, fair, fair->changed[k], now_s, at))
            a->lost = true;
    }
}
