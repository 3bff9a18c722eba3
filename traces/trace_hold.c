/* trace_hold.c - events of one rank held until their receives are resolved.
 *
 * Invariants: events leave in the order in which they came; held[head], if any, is open (an unresolved
 * receive), so all behind it wait; request numbers count up in that order. A cancelled receive is still held,
 * and so is everything that came after it: its number can be given to the next request because no later
 * number has reached the sink. */
#include "core/array.h"
#include "traces/trace_hold.h"
#include "traces/trace_format.h"
#include "traces/trace_source.h"

#include <stdlib.h>
#include <string.h>

struct fc_held {
    struct fc_event event; /* its list starts at hold->lists[event.list] */
    bool open;
};
enum { LEAST = 64 };

static enum fc_code no_memory(const struct fc_hold *hold)
{
    return fc_out_of_memory(hold->sink->st, "holding events of rank %u", hold->rank);
}

/* Room for `more` entries behind n. */
static bool make_room(void **array, size_t n, size_t more, size_t *capacity, size_t size)
{
    return n + more <= *capacity || fc_array_grow(array, capacity, sizeof *capacity, n + more, size);
}

/* Memory is kept from rank to rank. */
void fc_hold_start(struct fc_hold *hold, struct fc_trace_sink *sink, uint32_t rank)
{
    hold->sink = sink;
    hold->rank = rank;
    hold->n_made = hold->n_requests = 0;
    hold->polls = hold->n_passed = 0;
    hold->head = hold->n = hold->n_lists = 0;
    hold->first_free = -1;
    hold->n_open = 0;
    for (uint32_t i = 0; i < hold->n_buckets; i++) hold->bucket[i] = -1;
}

void fc_hold_free(struct fc_hold *hold)
{
    free(hold->held);
    free(hold->lists);
    free(hold->requests);
    free(hold->bucket);
    *hold = (struct fc_hold){0};
}

/* ---- events ---- */

static enum fc_code pass(struct fc_hold *hold, bool all)
{
    while (hold->head < hold->n && (all || !hold->held[hold->head].open)) {
        const struct fc_event *e = &hold->held[hold->head++].event;
        hold->n_passed++;
        if (fc_sink_event(hold->sink, hold->rank, e, fc_event_list(hold->lists, e))) return hold->sink->st->code;
    }
    if (hold->head == hold->n) hold->head = hold->n = hold->n_lists = 0;
    return FC_OK;
}

/* Moves what waits to the front when at least as much has left. */
static void compact(struct fc_hold *hold)
{
    if (hold->head < LEAST || hold->head < hold->n - hold->head) return;
    uint64_t first = hold->n_lists; /* lists of resolved events lie behind those of later ones */
    for (size_t i = hold->head; i < hold->n; i++)
        if (hold->held[i].event.n_list && hold->held[i].event.list < first) first = hold->held[i].event.list;
    memmove(hold->lists, hold->lists + first, (hold->n_lists - first) * sizeof *hold->lists);
    memmove(hold->held, hold->held + hold->head, (hold->n - hold->head) * sizeof *hold->held);
    hold->n_lists -= first;
    hold->n -= hold->head;
    hold->head = 0;
    for (size_t i = 0; i < hold->n; i++)
        if (hold->held[i].event.n_list) hold->held[i].event.list -= first;
}

static enum fc_code set_list(struct fc_hold *hold, struct fc_event *event, const int64_t *list, uint32_t n)
{
    if (!make_room((void **)&hold->lists, hold->n_lists, n, &hold->lists_capacity, sizeof *hold->lists))
        return no_memory(hold);
    memcpy(hold->lists + hold->n_lists, list, n * sizeof *list);
    event->list = hold->n_lists;
    event->n_list = n;
    hold->n_lists += n;
    return FC_OK;
}

static enum fc_code add(struct fc_hold *hold, const struct fc_event *event, const int64_t *list, bool open)
{
    if (pass(hold, false)) return hold->sink->st->code;
    if (hold->head == hold->n && !open) {
        hold->n_passed++;
        return fc_sink_event(hold->sink, hold->rank, event, list);
    }
    compact(hold);
    if (!make_room((void **)&hold->held, hold->n, 1, &hold->capacity, sizeof *hold->held)) return no_memory(hold);
    struct fc_held *h = &hold->held[hold->n++];
    *h = (struct fc_held){*event, open};
    return event->n_list ? set_list(hold, &h->event, list, event->n_list) : FC_OK;
}

/* Polls that one event's counter cannot hold go ahead. */
static enum fc_code with_polls(struct fc_hold *hold, const struct fc_event *event, const int64_t *list, bool open)
{
    struct fc_event e = *event;
    while (hold->polls > UINT16_MAX) {
        struct fc_event polls = fc_hold_plain(FC_OP_POLL, e.enter_s, e.enter_s, 0);
        polls.polls = UINT16_MAX;
        hold->polls -= UINT16_MAX;
        if (add(hold, &polls, NULL, false)) return hold->sink->st->code;
    }
    e.polls = (uint16_t)hold->polls;
    hold->polls = 0;
    return add(hold, &e, list, open);
}

enum fc_code fc_hold_event(struct fc_hold *hold, const struct fc_event *event, const int64_t *list)
{
    return with_polls(hold, event, list, false);
}

enum fc_code fc_hold_end(struct fc_hold *hold)
{
    return pass(hold, true);
}

/* The event that made a request, if it is still held. */
static struct fc_held *held_of(const struct fc_hold *hold, const struct fc_hold_request *request)
{
    if (request->number < 0 || request->event < hold->n_passed) return NULL;
    return &hold->held[hold->head + (request->event - hold->n_passed)];
}

enum fc_code fc_hold_resolve(struct fc_hold *hold, const struct fc_hold_request *request, const struct fc_event *as,
                             const int64_t *list)
{
    struct fc_held *h = held_of(hold, request);
    if (!h || !h->open) return FC_OK;
    h->event.op = as->op;
    h->event.comm = as->comm;
    h->event.peer = as->peer;
    h->event.tag = as->tag;
    h->event.bytes = as->bytes;
    h->open = false;
    return as->n_list ? set_list(hold, &h->event, list, as->n_list) : FC_OK;
}

void fc_hold_cancel(struct fc_hold *hold, struct fc_hold_request *request)
{
    struct fc_held *h = held_of(hold, request);
    int32_t gone = request->number;
    if (!h || !h->open) return;
    uint16_t polls = h->event.polls;
    h->event = fc_hold_plain(FC_OP_OTHER, h->event.enter_s, h->event.leave_s, h->event.compute_s);
    h->event.polls = polls;
    h->open = false;
    for (struct fc_held *later = h + 1; later < hold->held + hold->n; later++) {
        if (later->event.request > gone) later->event.request--;
        if (later->event.op != FC_OP_WAIT) continue;
        for (uint32_t i = 0; i < later->event.n_list; i++)
            hold->lists[later->event.list + i] -= hold->lists[later->event.list + i] > gone;
    }
    for (int32_t i = 0; i < hold->n_requests; i++) hold->requests[i].number -= hold->requests[i].number > gone;
    request->number = -1;
    hold->n_made--;
}

uint64_t fc_hold_cancel_open(struct fc_hold *hold)
{
    uint64_t n = 0;
    for (int32_t i = 0; i < hold->n_requests; i++) {
        const struct fc_held *h = held_of(hold, &hold->requests[i]);
        if (!h || !h->open) continue;
        fc_hold_cancel(hold, &hold->requests[i]);
        n++;
    }
    return n;
}

/* ---- requests ---- */

static uint32_t bucket_of(const struct fc_hold *hold, uint64_t key)
{
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (hold->n_buckets - 1);
}

/* Behind those of the same key. */
static void link_request(struct fc_hold *hold, int32_t index)
{
    int32_t *at = &hold->bucket[bucket_of(hold, hold->requests[index].key)];
    while (*at >= 0) at = &hold->requests[*at].next;
    *at = index;
    hold->requests[index].next = -1;
}

static bool more_buckets(struct fc_hold *hold)
{
    uint32_t n = hold->n_buckets ? 2 * hold->n_buckets : LEAST, old = hold->n_buckets;
    int32_t *larger = malloc(n * sizeof *larger), *before = hold->bucket;
    if (!larger) return false;
    for (uint32_t i = 0; i < n; i++) larger[i] = -1;
    hold->bucket = larger;
    hold->n_buckets = n;
    for (uint32_t i = 0; i < old; i++)
        for (int32_t k = before[i], next; k >= 0; k = next) {
            next = hold->requests[k].next;
            link_request(hold, k);
        }
    free(before);
    return true;
}

struct fc_hold_request *fc_hold_none(struct fc_hold *hold, uint64_t key)
{
    size_t capacity = (size_t)hold->requests_capacity;
    int32_t index = hold->first_free;
    if (hold->n_open >= hold->n_buckets && !more_buckets(hold)) return no_memory(hold), NULL;
    if (index >= 0) {
        hold->first_free = hold->requests[index].next;
    } else {
        if (!make_room((void **)&hold->requests, (size_t)hold->n_requests, 1, &capacity, sizeof *hold->requests))
            return no_memory(hold), NULL;
        hold->requests_capacity = (int32_t)capacity;
        index = hold->n_requests++;
    }
    hold->requests[index] = (struct fc_hold_request){.key = key, .number = -1};
    link_request(hold, index);
    hold->n_open++;
    return &hold->requests[index];
}

enum fc_code fc_hold_restart(struct fc_hold *hold, struct fc_hold_request *request, const struct fc_event *event)
{
    struct fc_event e = *event;
    e.request = request->number = hold->n_made++;
    request->receive = e.op == FC_OP_IRECV;
    request->cancelled = false;
    request->post = e;
    if (with_polls(hold, &e, NULL, request->receive)) return hold->sink->st->code;
    request->event = fc_hold_events(hold) - 1;
    return FC_OK;
}

struct fc_hold_request *fc_hold_make(struct fc_hold *hold, uint64_t key, const struct fc_event *event, bool open)
{
    struct fc_hold_request *request = fc_hold_none(hold, key);
    struct fc_event e = *event;
    if (!request) return NULL;
    e.request = request->number = hold->n_made++;
    request->receive = e.op == FC_OP_IRECV;
    request->post = e;
    if (with_polls(hold, &e, NULL, open)) return NULL;
    request->event = fc_hold_events(hold) - 1;
    return request;
}

struct fc_hold_request *fc_hold_find(const struct fc_hold *hold, uint64_t key)
{
    if (!hold->n_buckets) return NULL;
    int32_t k = hold->bucket[bucket_of(hold, key)];
    while (k >= 0 && hold->requests[k].key != key) k = hold->requests[k].next;
    return k < 0 ? NULL : &hold->requests[k];
}

void fc_hold_drop(struct fc_hold *hold, struct fc_hold_request *request)
{
    int32_t index = (int32_t)(request - hold->requests), *at = &hold->bucket[bucket_of(hold, request->key)];
    while (*at != index) at = &hold->requests[*at].next;
    *at = request->next;
    request->next = hold->first_free;
    request->number = -1;
    hold->first_free = index;
    hold->n_open--;
}
