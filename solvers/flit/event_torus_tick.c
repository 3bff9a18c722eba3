/* event_torus_tick.c - the events of a tick on an adaptive torus: which of them are alone at their routers.
 *
 * One pass over the events of the tick stamps their vertices, so that those that meet others are known; a
 * second deals with the rest one by one, without lists: nothing that another router does at this tick matters
 * to them. What an event will look at is called into the cache in stages, so that the addresses of the next
 * stage are there when it begins: channel, then packet and row of the router. The links of that row too cost
 * more than they saved, of events that are alone. */
#include "solvers/flit/event_torus.h"

/* How far ahead events are called; as many as MANY stay in the cache anyway. */
enum { AHEAD = 16, MANY = 64 };

/* What the head of the channel may look at, its packet and its router's row being there. */
void fc_event_torus_prefetch(const struct fc_event_block *block, const struct fc_event_channel *channel)
{
    const struct fc_event_engine *e = block->engine;
    const struct fc_route_adaptive *f = &e->adaptive;
    const struct fc_event_packet *packet = &block->packet[channel->head];
    const uint32_t *row = fc_event_torus_row(e, channel->router);
    uint64_t minus = packet->route >> f->minus;
    __builtin_prefetch(&block->packet[packet->next]);
    for (uint32_t d = 0; d < (uint32_t)f->n_dims; d++) { /* all, rather than a branch: it would be a random one */
        const union fc_event_lane *lane = fc_event_lane_of(e, row[FC_ROUTE_PORTS + 2 * d + (minus >> d & 1)]);
        __builtin_prefetch(lane + e->stride - 1);
    }
    if (!e->is_large) return;
    __builtin_prefetch(fc_event_link(e, channel->link));
    __builtin_prefetch(fc_event_tokens_of(e, channel->link, e->bit_vc[channel->bit]));
    if (e->few_paths) __builtin_prefetch(&e->path_end[(size_t)channel->link * e->paths]);
}

/* The channel of the first head that waits for the link. */
static inline const uint32_t *first_waiting(const struct fc_event_engine *e, uint32_t router, uint32_t l)
{
    uint64_t wanted = fc_event_link(e, l)->wanted;
    return &e->head_channel[e->head_first[router] + (uint32_t)__builtin_ctzll(wanted | (wanted == 0))];
}

/* Where the vertex of an event stands, by kind. */
struct vertices {
    const char *first[3];
    size_t stride[3];
};
static inline const uint32_t *vertex_of(const struct vertices *of, uint32_t word)
{
    uint32_t kind = word >> FC_EVENT_KIND_SHIFT;
    return (const uint32_t *)(of->first[kind] + (word & FC_EVENT_INDEX) * of->stride[kind]);
}

/* Tells heads and others apart, and stamps their vertices: 2 now, or 2 now + 1 where several meet. Returns
 * how many heads there are. */
static uint32_t sort_events(struct fc_event_block *block, uint32_t n)
{
    struct fc_event_engine *e = block->engine;
    const struct vertices of = {
        {(const char *)&e->channel->router, (const char *)&e->lane->link.source, (const char *)&e->node->vertex},
        {sizeof *e->channel, e->stride * sizeof *e->lane, sizeof *e->node}};
    uint64_t twice = 2 * block->wheel.now, *stamps = e->stamp;
    const uint32_t *words = block->words, *row = e->adaptive.row;
    struct fc_event_at *head = block->head, *other = block->other;
    uint32_t width = e->adaptive.width, n_heads = 0, ahead = n > MANY ? n : 0;
    for (uint32_t i = 0; i < n; i++) { /* no branches: they would be random ones */
        uint32_t word = words[i], is_head = word >> FC_EVENT_KIND_SHIFT == FC_EVENT_CHANNEL;
        uint32_t v = *vertex_of(&of, word);
        if (i + AHEAD < ahead) {
            __builtin_prefetch(vertex_of(&of, words[i + AHEAD]));
            __builtin_prefetch(&stamps[*vertex_of(&of, words[i + AHEAD / 4])]);
        }
        stamps[v] = twice | ((stamps[v] | 1) == (twice | 1));
        head[n_heads] = other[i - n_heads] = (struct fc_event_at){word, v};
        n_heads += is_head;
        const struct fc_event_channel *channel = e->channel + (word & -is_head);
        __builtin_prefetch(&block->packet[channel->head]);
        __builtin_prefetch(&row[(size_t)channel->router * width]);
        __builtin_prefetch(&e->port_busy[(size_t)channel->router * e->port_stride]);
    }
    return n_heads;
}

static inline bool is_alone(const struct fc_event_engine *e, struct fc_event_at at)
{
    return !(e->stamp[at.vertex] & 1);
}

/* Moves those that are alone; puts the others back. Returns how many. */
static uint32_t take_heads(struct fc_event_block *block, uint32_t n)
{
    struct fc_event_engine *e = block->engine;
    const struct fc_event_at *head = block->head;
    uint64_t now = block->wheel.now;
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct fc_event_channel *channel = &e->channel[head[i].word];
        if (!is_alone(e, head[i])) {
            block->words[left++] = head[i].word;
            continue;
        }
        if (!(channel->flags & FC_EVENT_DUE) || channel->when != now) continue; /* it moved before */
        channel->flags &= 0xffu & ~FC_EVENT_DUE;
        fc_event_torus_alone(block, head[i].word);
    }
    return left;
}

/* Calls the heads that wait for links into the cache, and the links of nodes. */
static inline void call_others(const struct fc_event_engine *e, const struct fc_event_at *other, uint32_t n)
{
    const struct fc_event_at *far = &other[n > AHEAD ? AHEAD : 0], *near = &other[n > AHEAD / 2 ? AHEAD / 2 : 0];
    uint32_t l = far->word & FC_EVENT_INDEX;
    if (far->word >> FC_EVENT_KIND_SHIFT == FC_EVENT_LINK)
        __builtin_prefetch(first_waiting(e, far->vertex, l));
    else
        __builtin_prefetch(fc_event_lane_of(e, e->node[l].link));
    l = near->word & FC_EVENT_INDEX;
    if (near->word >> FC_EVENT_KIND_SHIFT == FC_EVENT_LINK)
        __builtin_prefetch(&e->channel[*first_waiting(e, near->vertex, l)]);
}

/* The same of links that wake up and nodes, behind the `left` that were put back. */
static uint32_t take_others(struct fc_event_block *block, uint32_t n, uint32_t left)
{
    struct fc_event_engine *e = block->engine;
    const struct fc_event_at *other = block->other;
    uint64_t now = block->wheel.now;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t word = other[i].word, index = word & FC_EVENT_INDEX;
        if (n > MANY) call_others(e, &other[i], n - i);
        if (!is_alone(e, other[i])) {
            block->words[left++] = word;
        } else if (word >> FC_EVENT_KIND_SHIFT == FC_EVENT_LINK) {
            struct fc_event_link *link = fc_event_link(e, index);
            if (link->wake != now) continue;
            link->wake = FC_EVENT_NEVER;
            if (link->wanted) fc_event_torus_serve(block, other[i].vertex, index);
        } else if (e->node[index].when == now) {
            e->node[index].when = FC_EVENT_NEVER;
            fc_event_torus_inject(block, index);
        }
    }
    return left;
}

uint32_t fc_event_torus_direct(struct fc_event_block *block, uint32_t n)
{
    uint32_t n_heads = sort_events(block, n), left = take_heads(block, n_heads);
    return take_others(block, n - n_heads, left);
}
