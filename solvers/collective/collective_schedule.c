/* collective_schedule.c - a growing list of the messages of a collective. */
#include "solvers/collective/collective.h"

#include <stdlib.h>

void fc_schedule_grow(struct fc_schedule *s)
{
    uint64_t capacity = s->capacity ? 2 * s->capacity : 64;
    struct fc_message *more = s->full ? NULL : realloc(s->messages, capacity * sizeof *more);
    if (!more) {
        s->full = true;
        return;
    }
    s->messages = more;
    s->capacity = capacity;
}
