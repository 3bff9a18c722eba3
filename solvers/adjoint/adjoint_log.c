/* adjoint_log.c - what changes what a node's messages have moved, entry by entry; what it is for: adjoint_fifos.c. */
#include "solvers/adjoint/adjoint_internal.h"

enum { PATIENCE = 4 }; /* entries for each message under way since somebody has waited */

static void add_entry(struct fc_adjoint *a, struct fc_adjoint_entry entry)
{
    if (fc_adjoint_grow(a, (void **)&a->entry, &a->entry_capacity, a->n_entries + 1, sizeof *a->entry))
        a->entry[a->n_entries++] = entry;
}

/* Those before have their time behind them, as they are read from the end. */
void fc_adjoint_log_time(struct fc_adjoint *a, double now_s)
{
    struct fc_adjoint_shares *s = a->shares;
    if (a->n_entries > s->log_closed && s->log_s != now_s) {
        add_entry(a, (struct fc_adjoint_entry){.rate = FC_ADJOINT_ENTRY_TIME, .time_s = s->log_s});
        s->log_closed = a->n_entries;
    }
    s->log_s = now_s;
}

/* The message, of that node, has none of the sum any more. */
static void log_flows_end(struct fc_adjoint *a, uint32_t message, bool goes_on)
{
    struct fc_adjoint_shares *s = a->shares;
    uint32_t f = message;
    do {
        if (f >= a->n_log_flows) a->n_log_flows = f + 1;
        add_entry(a, (struct fc_adjoint_entry){.rate = FC_ADJOINT_ENTRY_END,
                                               .flow = f,
                                               .of = {.src = s->share[f].src, .share = s->share[f].share}});
        s->share[f].logged = !goes_on;
        f = s->share[f].next;
    } while (f != message);
}

/* The sum is not kept until somebody waits again. O(messages under way), which is less than what it has cost since somebody did. */
static void leave_sum(struct fc_adjoint *a, uint32_t src, double now_s)
{
    struct fc_adjoint_shares *s = a->shares;
    fc_adjoint_log_time(a, now_s);
    s->sender[src].logged = false;
    for (uint32_t m = s->sender[src].first; m != FC_NONE; m = s->sent[m].after) log_flows_end(a, m, true);
}

void fc_adjoint_log_add(struct fc_adjoint *a, uint32_t flow, uint32_t step, uint32_t rate, double now_s)
{
    fc_adjoint_log_time(a, now_s);
    if (flow >= a->n_log_flows) a->n_log_flows = flow + 1;
    add_entry(a, (struct fc_adjoint_entry){.rate = rate, .flow = flow, .step = step});
}

void fc_adjoint_log_share(struct fc_adjoint *a, uint32_t flow, double now_s)
{
    const struct fc_adjoint_share *x = &a->shares->share[flow];
    fc_adjoint_log_time(a, now_s);
    add_entry(a, (struct fc_adjoint_entry){
                     .rate = FC_ADJOINT_ENTRY_SHARE, .flow = flow, .of = {.src = x->src, .share = x->share}});
}

void fc_adjoint_log_rate(struct fc_adjoint *a, uint32_t flow, uint32_t step, uint32_t rate, double now_s)
{
    uint32_t src = a->shares->share[flow].src;
    struct fc_adjoint_sender *sender = &a->shares->sender[src];
    fc_adjoint_log_add(a, flow, step, rate, now_s);
    if (++sender->n_since > PATIENCE * (sender->n_rated + 1)) leave_sum(a, src, now_s);
}

void fc_adjoint_log_end(struct fc_adjoint *a, uint32_t message, double now_s)
{
    const struct fc_adjoint_share *first = &a->shares->share[message];
    struct fc_adjoint_sender *sender = &a->shares->sender[first->src];
    fc_adjoint_log_time(a, now_s);
    log_flows_end(a, message, false);
    sender->rate -= first->all_rate;
    if (first->all_rate > 0 && --sender->n_rated == 0) sender->rate = 0; /* without what rounding has left */
    if (sender->first == FC_NONE) sender->logged = false;
}
