/* paraver_open.c - what is open while a Paraver trace is read: ends of communications in heaps ordered by
 * time, and rooted collectives, whose k-th calls by the members of a communicator belong together. */
#include "core/array.h"
#include "core/values.h"
#include "traces/formats/paraver.h"

#include <stdlib.h>
#include <string.h>

enum fc_code fc_prv_no_memory(struct fc_prv *p)
{
    return fc_out_of_memory(p->sink->st, "reading a Paraver trace");
}

/* Room for one more in a growing array. */
void *fc_prv_room(struct fc_prv *p, void *array, size_t n, size_t *capacity, size_t size)
{
    if (n < *capacity || fc_array_grow(&array, capacity, sizeof *capacity, n + 1, size)) return array;
    fc_prv_no_memory(p);
    return NULL;
}

/* ---- heaps ---- */

static bool before(const struct fc_prv_item *a, const struct fc_prv_item *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

enum fc_code fc_prv_push(struct fc_prv *p, struct fc_prv_heap *h, const struct fc_prv_item *item)
{
    struct fc_prv_item *larger = fc_prv_room(p, h->item, h->n, &h->capacity, sizeof *h->item);
    if (!larger) return FC_NO;
    h->item = larger;
    size_t at = h->n++;
    for (; at > 0 && before(item, &h->item[(at - 1) / 2]); at = (at - 1) / 2) h->item[at] = h->item[(at - 1) / 2];
    h->item[at] = *item;
    return FC_OK;
}

struct fc_prv_item fc_prv_pop(struct fc_prv_heap *h)
{
    struct fc_prv_item top = h->item[0], last = h->item[--h->n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < h->n; at = child) {
        if (child + 1 < h->n && before(&h->item[child + 1], &h->item[child])) child++;
        if (!before(&h->item[child], &last)) break;
        h->item[at] = h->item[child];
    }
    h->item[at] = last;
    return top;
}

/* ---- communicators ---- */

static int by_id(const void *a, const void *b)
{
    const struct fc_prv_comm *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

enum fc_code fc_prv_comm(struct fc_prv *p, int64_t id, const uint32_t *member, uint32_t n, bool *again)
{
    size_t capacity = p->comms_capacity;
    bool world = n == p->n_ranks && !p->world_seen; /* duplicates of the world are communicators of their own */
    *again = false;
    struct fc_prv_comm *larger = fc_prv_room(p, p->comms, p->n_comms, &capacity, sizeof *larger);
    if (!larger) return FC_NO;
    p->comms = larger;
    p->comms_capacity = (uint32_t)capacity;
    struct fc_prv_comm *c = &p->comms[p->n_comms];
    *c = (struct fc_prv_comm){
        .id = id, .n = n, .sorted = malloc(n * sizeof *c->sorted), .calls = calloc(n, sizeof *c->calls)};
    p->n_comms++;
    if (!c->sorted || !c->calls) return fc_prv_no_memory(p);
    for (uint32_t i = 0; i + 1 < p->n_comms && id <= p->largest_id; i++) *again = *again || p->comms[i].id == id;
    if (p->n_comms == 1 || id > p->largest_id) p->largest_id = id;
    memcpy(c->sorted, member, n * sizeof *member);
    qsort(c->sorted, n, sizeof *member, fc_by_number);
    for (uint32_t i = 0; i < n; i++) world = world && member[i] == i;
    p->world_seen |= world;
    return world ? FC_OK : fc_sink_comm(p->sink, member, n, &c->number);
}

/* Index of a communicator that has the rank, or FC_NONE; *place gets the rank's among the sorted members. */
uint32_t fc_prv_find(struct fc_prv *p, int64_t id, uint32_t rank)
{
    struct fc_prv_comm key = {.id = id};
    if (!p->comms_sorted && p->n_comms) qsort(p->comms, p->n_comms, sizeof *p->comms, by_id);
    p->comms_sorted = true;
    const struct fc_prv_comm *c = p->n_comms ? bsearch(&key, p->comms, p->n_comms, sizeof key, by_id) : NULL;
    if (!c || !bsearch(&rank, c->sorted, c->n, sizeof rank, fc_by_number)) return FC_NONE;
    return (uint32_t)(c - p->comms);
}

/* The call takes its place among the rooted calls of its communicator. */
enum fc_code fc_prv_count_rooted(struct fc_prv *p, uint32_t rank, struct fc_prv_call *call)
{
    struct fc_prv_comm *c = &p->comms[call->comm];
    const uint32_t *found = bsearch(&rank, c->sorted, c->n, sizeof rank, fc_by_number);
    call->instance = c->calls[found - c->sorted]++;
    call->counted = true;
    while (call->instance >= c->base + c->n_open) {
        struct fc_prv_instance *larger = fc_prv_room(p, c->open, c->n_open, &c->capacity, sizeof *c->open);
        if (!larger) return FC_NO;
        c->open = larger;
        c->open[c->n_open++] = (struct fc_prv_instance){.root = FC_NONE};
    }
    struct fc_prv_instance *i = &c->open[call->instance - c->base];
    i->entered++;
    if (call->is_root) i->root = rank;
    return FC_OK;
}

bool fc_prv_root_known(const struct fc_prv *p, const struct fc_prv_call *call)
{
    const struct fc_prv_comm *c = &p->comms[call->comm];
    const struct fc_prv_instance *i = &c->open[call->instance - c->base];
    return i->root != FC_NONE || i->entered == c->n;
}

uint32_t fc_prv_take_root(struct fc_prv *p, const struct fc_prv_call *call)
{
    struct fc_prv_comm *c = &p->comms[call->comm];
    struct fc_prv_instance *i = &c->open[call->instance - c->base];
    uint32_t root = i->root;
    size_t done = 0;
    i->taken++;
    while (done < c->n_open && c->open[done].taken == c->n) done++;
    if (done == 0) return root;
    c->n_open -= done;
    c->base += done;
    memmove(c->open, c->open + done, c->n_open * sizeof *c->open);
    return root;
}
