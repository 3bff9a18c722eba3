/* source_outside.c - messages given from outside while the engine rests: a queue a node, packets as
 * source_closed.c cuts them.
 *
 * The messages of a node take turns, a packet each: a new one goes behind the others, one that has sent a
 * packet and has more goes there too. So do interfaces that have a queue for each partner (Blue Gene/L's six
 * FIFOs, Elan's slices of transfers), so do the rounds of source_closed.c, and it is what fair sharing of the
 * injection link is for a fluid. One message behind the other would leave the links of the later ones idle.
 *
 * The engine asks for the next packet when one has left; a source that ran dry is asked again by the engine's
 * wake. A packet's birth is the message's name, so that the log, which is kept for packets not born in a
 * measurement, says whose packets arrived: names that grow with time keep age arbitration in order. */
#include "core/array.h"
#include "solvers/flit/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct queued {
    double bytes;
    uint64_t born, packets, sent;
    uint32_t dst, next; /* next: behind it at its node, or free; FC_NONE: none */
};
struct fc_flit_outside {
    struct queued *message;
    uint32_t *first, *last; /* [n_nodes] FC_NONE: none */
    uint32_t n, capacity, free, n_nodes;
};

enum fc_code fc_flit_outside_make(const struct fc_flit_net *flit, uint64_t seed, struct fc_flit_traffic **traffic,
                                  struct fc_status *st)
{
    *traffic = NULL;
    struct fc_flit_traffic *t = calloc(1, sizeof *t);
    if (!t) return fc_out_of_memory(st, "the sources");
    struct fc_flit_outside *o = t->closed.outside = fc_alloc(&t->arena, 1, sizeof *o, st);
    if (o && (o->first = fc_alloc(&t->arena, flit->n_nodes, sizeof *o->first, st)) &&
        (o->last = fc_alloc(&t->arena, flit->n_nodes, sizeof *o->last, st)) &&
        !fc_flit_closed_shape(flit, &t->closed, st)) {
        t->n_nodes = o->n_nodes = flit->n_nodes;
        t->key = fc_random(seed, UINT64_C(0x736f7572636573), 0); /* "sources" */
        t->closed.in_order = true;
        o->free = FC_NONE;
        memset(o->first, 0xff, o->n_nodes * sizeof *o->first);
        *traffic = t;
        return FC_OK;
    }
    fc_flit_outside_free(t);
    return st->code;
}

void fc_flit_outside_free(struct fc_flit_traffic *traffic)
{
    if (!traffic) return;
    if (traffic->closed.outside) free(traffic->closed.outside->message);
    fc_flit_traffic_free(traffic);
}

uint64_t fc_flit_outside_put(struct fc_flit_traffic *traffic, uint32_t node, uint32_t dst, double bytes, uint64_t born)
{
    struct fc_flit_outside *o = traffic->closed.outside;
    uint32_t m = o->free;
    if (m != FC_NONE) {
        o->free = o->message[m].next;
    } else {
        if (!FC_GROW(o->message, o->capacity, o->n + 1)) return 0;
        m = o->n++;
    }
    double packets = fmax(1, ceil(bytes / traffic->closed.payload_bytes - 1e-9));
    o->message[m] = (struct queued){bytes, born, (uint64_t)fmin(packets, 0x1p40), 0, dst, FC_NONE};
    if (o->first[node] == FC_NONE)
        o->first[node] = m;
    else
        o->message[o->last[node]].next = m;
    o->last[node] = m;
    return o->message[m].packets;
}

void fc_flit_outside_seek(const struct fc_flit_traffic *traffic, uint32_t node, struct fc_flit_source *source)
{
    const struct fc_flit_closed *c = &traffic->closed;
    struct fc_flit_outside *o = c->outside;
    uint32_t m = o->first[node];
    if (m == FC_NONE) {
        source->born = UINT64_MAX;
        return;
    }
    struct queued *x = &o->message[m];
    bool last = ++x->sent == x->packets;
    source->born = x->born;
    source->dst = x->dst;
    source->flits =
        fc_flit_flits_of(c, last ? x->bytes - (double)(x->packets - 1) * c->payload_bytes : c->payload_bytes);
    source->random = (uint32_t)(fc_random(traffic->key, x->born, x->sent) >> 32);
    source->tag = 0;
    if (!last && x->next == FC_NONE) return;
    o->first[node] = x->next;
    x->next = last ? o->free : FC_NONE;
    if (last) {
        o->free = m;
    } else {
        o->message[o->last[node]].next = m;
        o->last[node] = m;
    }
}
