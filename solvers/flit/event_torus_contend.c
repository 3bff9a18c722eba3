/* event_torus_contend.c - several heads and links of a router of an adaptive torus at one tick.
 *
 * The rule of event_router.c: every head that is called picks an output or waits; every link that was picked
 * or got free takes one of those heads and of those that wait for it; heads that lost pick again until none
 * is left. Links are served in a random order. Results do not depend on the order of the events. */
#include "solvers/flit/event_router.h"
#include "solvers/flit/event_torus.h"
#include "solvers/flit/event_transfer.h"
#include "solvers/flit/event_wait.h"

/* A link that was picked, or woke up. */
struct outlet {
    uint64_t order;  /* random */
    uint64_t picked; /* heads */
    uint32_t link;
    bool woken;
};
enum { MOST_OUTLETS = 64 + 2 * FC_MAX_DIMS };

struct contest {
    uint64_t bids;   /* heads to decide on */
    uint64_t called; /* heads that have an event now: not to be served as waiting ones */
    uint32_t n_outlets;
    struct outlet outlet[MOST_OUTLETS + 1];
    struct fc_event_hop hop[64]; /* picked by the head of that bit */
};

/* Outlets are kept in a random order, to which links that woke up for nothing make no difference. */
static struct outlet *outlet_of(struct contest *t, uint32_t l, uint64_t random)
{
    uint64_t order = fc_event_spread(random + l * FC_EVENT_SALT_PICK) >> 32 << 32 | l;
    uint32_t i = t->n_outlets;
    while (i && t->outlet[i - 1].order > order) i--;
    if (i && t->outlet[i - 1].order == order) return &t->outlet[i - 1];
    for (uint32_t j = t->n_outlets++; j > i; j--) t->outlet[j] = t->outlet[j - 1];
    t->outlet[i] = (struct outlet){.order = order, .link = l};
    return &t->outlet[i];
}

static void sort_events(struct fc_event_block *block, const struct fc_event_dirty *dirty, uint64_t random,
                        struct contest *t)
{
    const struct fc_event_engine *e = block->engine;
    uint32_t word = dirty->word, more = dirty->more;
    t->bids = 0;
    t->n_outlets = 0;
    for (;;) {
        uint32_t index = word & FC_EVENT_INDEX;
        if (word >> FC_EVENT_KIND_SHIFT == FC_EVENT_LINK)
            outlet_of(t, index, random)->woken = true;
        else
            t->bids |= 1ull << e->channel[index].bit;
        if (!more) break;
        word = block->note[more].word;
        more = block->note[more].next;
    }
    t->called = t->bids;
}

static void pick_all(struct fc_event_block *block, const uint32_t *head_channel, uint64_t random, struct contest *t)
{
    for (uint64_t left = t->bids; left; left &= left - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(left);
        if (fc_event_torus_pick(block, head_channel[bit], random + (bit + 1) * FC_EVENT_SALT_PICK, &t->hop[bit]))
            outlet_of(t, t->hop[bit].link, random)->picked |= left & -left;
        else
            t->bids &= ~(left & -left);
    }
}

/* One of those who would take the link does. */
static void decide(struct fc_event_block *block, uint32_t router, const struct outlet *outlet, uint64_t random,
                   struct contest *t)
{
    struct fc_event_engine *e = block->engine;
    const uint32_t *head_channel = &e->head_channel[e->head_first[router]];
    struct fc_event_link *link = fc_event_link(e, outlet->link);
    struct fc_event_hop hop;
    uint64_t mask = outlet->picked, until;
    if (outlet->woken) mask |= fc_event_torus_candidates(block, outlet->link, random, &hop) & ~t->called;
    while (mask) {
        uint64_t rivals = mask;
        uint32_t bit = fc_event_elect(block, router, &rivals, link->turn,
                                      fc_event_spread(random + (outlet->link + 1) * FC_EVENT_SALT_ELECT));
        uint32_t c = head_channel[bit];
        struct fc_event_channel *channel = &e->channel[c];
        mask &= ~(1ull << bit);
        bool bids = t->bids >> bit & 1;
        if (!fc_event_path_free(e, channel->link, link->kind, block->wheel.now, &until)) {
            fc_event_head_due(block, c, until);
            t->bids &= ~(1ull << bit);
        } else if (bids) {
            bool waited = channel->flags & FC_EVENT_WAITS;
            if (waited) fc_event_torus_stop(block, c);
            fc_event_torus_send(block, c, t->hop[bit], waited);
            t->bids &= ~(1ull << bit);
            return;
        } else if (fc_event_torus_take(block, c, hop)) {
            return;
        }
    }
    if (outlet->woken && link->wanted) fc_event_torus_rearm(block, outlet->link);
}

void fc_event_torus_contend(struct fc_event_block *block, const struct fc_event_dirty *dirty)
{
    const struct fc_event_engine *e = block->engine;
    const uint32_t *head_channel = &e->head_channel[e->head_first[dirty->router]];
    uint64_t random = fc_event_random(block, dirty->router, 0);
    struct contest t;
    sort_events(block, dirty, random, &t);
    for (uint32_t round = 1; t.bids || t.n_outlets; round++) {
        pick_all(block, head_channel, random, &t);
        for (uint32_t i = 0; i < t.n_outlets; i++) decide(block, dirty->router, &t.outlet[i], random, &t);
        t.n_outlets = 0;
        if (t.bids) random = fc_event_random(block, dirty->router, round);
    }
}
