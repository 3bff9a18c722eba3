/* format_text.c - what the readers of text formats share: lines, growing arrays, open requests.
 *
 * Open requests lie in a pool; those of one bucket form a chain, oldest first, and all form a list in the
 * order made. Cost is that of the chain in front of the oldest request of the key: constant while keys
 * spread. Limit: 2^32 - 2 open at once. */
#include "core/array.h"
#include "traces/formats/format_text.h"

#include <stdlib.h>
#include <string.h>

void *fc_grow(void *array, size_t *capacity, size_t need, size_t size, struct fc_status *st)
{
    if (need <= *capacity || fc_array_grow(&array, capacity, sizeof *capacity, need, size)) return array;
    fc_out_of_memory(st, "reading a trace");
    return NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void trim(const char **text, size_t *length)
{
    while (*length && is_blank((*text)[*length - 1])) --*length;
    while (*length && is_blank(**text)) ++*text, --*length;
}

enum fc_code fc_text_line(struct fc_stream *s, const char **text, size_t *length, struct fc_status *st)
{
    while (!fc_stream_line(s, text, length, st) && *text) {
        trim(text, length);
        if (!*length || **text == '#') continue;
        if (memchr(*text, 0, *length))
            return fc_fail(st, FC_INPUT, fc_stream_place(s), "a byte of value 0 (expected text)");
        return FC_OK;
    }
    return st->code;
}

bool fc_probe_line(const struct fc_trace_probe *probe, const char **text, size_t *length)
{
    const char *at = probe->head, *end = at + probe->n_head;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) line_end = end;
        *text = at;
        *length = (size_t)(line_end - at);
        trim(text, length);
        if (*length && **text != '#') return !memchr(*text, 0, *length);
        at = line_end + 1;
    }
    return false;
}

/* ---- open requests ---- */

/* Indices are + 1; 0: none. */
struct fc_open_request {
    uint64_t key, second;
    int32_t request;
    uint32_t next;          /* in its chain, or the next free one */
    uint32_t before, after; /* in the order made */
};
struct fc_request_chain {
    uint32_t first, last;
};

static size_t bucket(const struct fc_open_requests *r, uint64_t key, uint64_t second)
{
    uint64_t h =
        (key ^ (second + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xc2b2ae3d27d4eb4f)) * UINT64_C(0x165667b19e3779f9);
    return (size_t)(h ^ h >> 32) & r->mask;
}

static void append(struct fc_open_requests *r, uint32_t number)
{
    struct fc_open_request *o = &r->pool[number - 1];
    struct fc_request_chain *c = &r->chain[bucket(r, o->key, o->second)];
    o->next = 0;
    if (c->last)
        r->pool[c->last - 1].next = number;
    else
        c->first = number;
    c->last = number;
}

static enum fc_code more_chains(struct fc_open_requests *r, struct fc_status *st)
{
    size_t n = r->n_chains ? 2 * r->n_chains : 16;
    struct fc_request_chain *chain = calloc(n, sizeof *chain);
    if (!chain) return fc_out_of_memory(st, "reading a trace");
    free(r->chain);
    r->chain = chain;
    r->n_chains = n;
    r->mask = n - 1;
    for (uint32_t i = r->first; i; i = r->pool[i - 1].after) append(r, i);
    return FC_OK;
}

enum fc_code fc_requests_add(struct fc_open_requests *r, uint64_t key, uint64_t second, int32_t request,
                             struct fc_status *st)
{
    uint32_t number = r->free_one;
    if (r->n_open >= r->n_chains && more_chains(r, st)) return st->code;
    if (number) {
        r->free_one = r->pool[number - 1].next;
    } else {
        if (r->n_used >= UINT32_MAX - 1) return fc_refuse(st, FC_NO, "more than 4294967294 open requests of one rank");
        struct fc_open_request *pool = fc_grow(r->pool, &r->capacity, r->n_used + 1, sizeof *pool, st);
        if (!pool) return st->code;
        r->pool = pool;
        number = (uint32_t)++r->n_used;
    }
    r->pool[number - 1] = (struct fc_open_request){key, second, request, 0, r->last, 0};
    append(r, number);
    if (r->last)
        r->pool[r->last - 1].after = number;
    else
        r->first = number;
    r->last = number;
    r->n_open++;
    return FC_OK;
}

/* The oldest of the key and the one before it in its chain. */
static uint32_t find(const struct fc_open_requests *r, uint64_t key, uint64_t second, uint32_t *before)
{
    *before = 0;
    if (!r->n_open) return 0;
    for (uint32_t i = r->chain[bucket(r, key, second)].first; i; *before = i, i = r->pool[i - 1].next)
        if (r->pool[i - 1].key == key && r->pool[i - 1].second == second) return i;
    return 0;
}

int32_t fc_requests_find(const struct fc_open_requests *r, uint64_t key, uint64_t second)
{
    uint32_t before, i = find(r, key, second, &before);
    return i ? r->pool[i - 1].request : -1;
}

int32_t fc_requests_take(struct fc_open_requests *r, uint64_t key, uint64_t second)
{
    uint32_t before, i = find(r, key, second, &before);
    if (!i) return -1;
    struct fc_open_request *o = &r->pool[i - 1];
    struct fc_request_chain *c = &r->chain[bucket(r, key, second)];
    *(before ? &r->pool[before - 1].next : &c->first) = o->next;
    if (c->last == i) c->last = before;
    *(o->before ? &r->pool[o->before - 1].after : &r->first) = o->after;
    *(o->after ? &r->pool[o->after - 1].before : &r->last) = o->before;
    o->next = r->free_one;
    r->free_one = i;
    r->n_open--;
    return o->request;
}

void fc_requests_take_all(struct fc_open_requests *r, int64_t *list)
{
    size_t n = 0;
    for (uint32_t i = r->first; i; i = r->pool[i - 1].after) list[n++] = r->pool[i - 1].request;
    if (n) memset(r->chain, 0, r->n_chains * sizeof *r->chain);
    r->n_open = r->n_used = 0;
    r->free_one = r->first = r->last = 0;
}

void fc_requests_free(struct fc_open_requests *r)
{
    free(r->pool);
    free(r->chain);
    *r = (struct fc_open_requests){0};
}
