/* format_text.h - private to traces/: what the readers of text formats share (format_text.c). */
#pragma once

#include "core/stream.h"
#include "traces/trace_formats.h"

enum { FC_MOST_SHOWN = 60 }; /* bytes of the user's text in a message, for %.*s */
static inline int fc_shown(size_t length)
{
    return length < FC_MOST_SHOWN ? (int)length : FC_MOST_SHOWN;
}

/* The array with room for at least `need` things of `size` bytes (doubled; new room is not zeroed), or NULL
 * with `st` filled; the old array then still stands. Freed by free(). */
void *fc_grow(void *array, size_t *capacity, size_t need, size_t size, struct fc_status *st);

/* The next line with something on it that does not begin with `#`, without blanks at its ends; *text NULL at
 * the end of the file. A byte of 0 in a line is FC_INPUT. */
enum fc_code fc_text_line(struct fc_stream *s, const char **text, size_t *length, struct fc_status *st);
/* The first such line of a probe's head; false when there is none. A line that the head cuts is taken as far
 * as it goes. */
bool fc_probe_line(const struct fc_trace_probe *probe, const char **text, size_t *length);

/* An event with the rest value in every field. */
static inline struct fc_event fc_event_of(int op)
{
    return (struct fc_event){.op = (uint8_t)op, .peer = -1, .request = -1};
}

/* ---- requests that are not completed yet, of one rank ---- */

/* Found by a key of two numbers, oldest first, in constant time. Zero-initialise. */
struct fc_open_requests {
    struct fc_open_request *pool;   /* [capacity] */
    struct fc_request_chain *chain; /* [mask + 1] */
    size_t capacity, n_used, n_open;
    size_t n_chains, mask;
    uint32_t free_one, first, last; /* + 1; 0: none. first .. last: in the order made */
};
enum fc_code fc_requests_add(struct fc_open_requests *r, uint64_t key, uint64_t second, int32_t request,
                             struct fc_status *st);
/* The oldest of the key, taken out; -1: none is open. */
int32_t fc_requests_take(struct fc_open_requests *r, uint64_t key, uint64_t second);
/* The same, left in. */
int32_t fc_requests_find(const struct fc_open_requests *r, uint64_t key, uint64_t second);
/* All that are open, in the order made, into list[n_open]; none is left. */
void fc_requests_take_all(struct fc_open_requests *r, int64_t *list);
void fc_requests_free(struct fc_open_requests *r);
