/* kept_traces.c - traces that were read stay in memory, for questions about the same job on another machine or with another
 * mapping.
 *
 * Only files of our own forms, of so few events that a question would hold them in memory too (trace_source.h): what other
 * formats read besides (one file a rank, definitions) is not known here. A trace is found
 * by its path, and is read again when its file has another time, size or number, or changed while it was read. All together
 * have so many bytes; those that were not used longest go first, with their last user. */
#include "serve/kept_traces.h"
#include "serve/stamp.h"
#include "traces/trace_formats.h"
#include "traces/trace_source.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct fc_kept_trace {
    char *path;
    struct stamp stamp;
    struct fc_trace_source source; /* of a trace in memory */
    struct fc_status st;           /* the source's */
    double bytes;
    unsigned users;
    uint64_t used;
    bool reading, stale; /* by its only user yet; not for new questions */
    struct fc_kept_trace *next;
};
struct fc_kept_traces {
    pthread_mutex_t lock;
    pthread_cond_t read;
    struct fc_kept_trace *first;
    double bytes, most_bytes; /* of those that are not stale */
    uint64_t clock;
};

struct fc_kept_traces *fc_kept_traces_open(double most_bytes)
{
    struct fc_kept_traces *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->most_bytes = most_bytes > 0 ? most_bytes : FC_SERVE_TRACE_BYTES;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->read, NULL);
    return t;
}

static void free_one(struct fc_kept_trace *k)
{
    fc_source_close(&k->source);
    free(k->path);
    free(k);
}

void fc_kept_traces_close(struct fc_kept_traces *t)
{
    if (!t) return;
    for (struct fc_kept_trace *k = t->first, *next; k; k = next) {
        next = k->next;
        free_one(k);
    }
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->read);
    free(t);
}

static void retire(struct fc_kept_traces *t, struct fc_kept_trace *k)
{
    if (!k->stale) t->bytes -= k->bytes;
    k->stale = true;
}

static void sweep_out(struct fc_kept_traces *t)
{
    for (struct fc_kept_trace **at = &t->first, *k; (k = *at);) {
        if (!k->stale || k->users) {
            at = &k->next;
            continue;
        }
        *at = k->next;
        free_one(k);
    }
}

/* That one of the list, fresh or being read; NULL: none. */
static struct fc_kept_trace *find(struct fc_kept_traces *t, const char *path)
{
    struct fc_kept_trace *k = t->first;
    while (k && (k->stale || strcmp(k->path, path))) k = k->next;
    if (!k || k->reading) return k;
    struct stamp now = stamp_of(path);
    if (same_stamp(&now, &k->stamp)) return k;
    retire(t, k);
    return NULL;
}

static double bytes_of(const struct fc_trace *trace)
{
    return (double)trace->first_event[trace->n_ranks] * sizeof *trace->events +
           (double)trace->n_lists * sizeof *trace->lists + (double)trace->n_ranks * sizeof *trace->first_event;
}

/* A file of a trace, of one of our forms, that may fit. */
static bool may_keep(const struct fc_kept_traces *t, const char *path)
{
    const struct fc_trace_format *format;
    struct fc_status none = {0};
    struct stat s;
    return !stat(path, &s) && S_ISREG(s.st_mode) && (double)s.st_size < t->most_bytes / 8 &&
           !fc_trace_detect(path, &format, &none) && !format;
}

/* Reads it without the lock; false: it cannot be read, or not into memory. *fits: and can be kept. */
static bool read_one(const struct fc_kept_traces *t, struct fc_kept_trace *k, bool *fits)
{
    struct timespec begun;
    if (!may_keep(t, k->path)) return false;
    clock_gettime(CLOCK_REALTIME_COARSE, &begun);
    k->stamp = stamp_of(k->path);
    if (fc_source_open(k->path, NULL, &k->source, &k->st) || !k->source.head->events) return false;
    k->bytes = bytes_of(k->source.head);
    struct stamp now = stamp_of(k->path);
    *fits = !changed_since(k->path, &begun) && same_stamp(&now, &k->stamp) && k->bytes <= t->most_bytes;
    return true;
}

/* Takes its part of the memory, from the oldest. */
static void make_room(struct fc_kept_traces *t, const struct fc_kept_trace *for_one)
{
    while (t->bytes > t->most_bytes) {
        struct fc_kept_trace *oldest = NULL;
        for (struct fc_kept_trace *k = t->first; k; k = k->next)
            if (!k->stale && !k->reading && k != for_one && (!oldest || k->used < oldest->used)) oldest = k;
        if (!oldest) return;
        retire(t, oldest);
    }
}

struct fc_kept_trace *fc_kept_trace_enter(struct fc_kept_traces *t, const char *path, const struct fc_trace **trace)
{
    struct fc_kept_trace *k;
    *trace = NULL;
    pthread_mutex_lock(&t->lock);
    while ((k = find(t, path)) && k->reading) pthread_cond_wait(&t->read, &t->lock);
    if (k) {
        k->users++;
    } else if ((k = calloc(1, sizeof *k)) && (k->path = strdup(path))) {
        k->users = 1;
        k->reading = true;
        k->next = t->first;
        t->first = k;
        pthread_mutex_unlock(&t->lock);
        bool fits = false, good = read_one(t, k, &fits);
        pthread_mutex_lock(&t->lock);
        k->reading = false;
        k->stale = !fits;
        if (fits) {
            t->bytes += k->bytes;
            make_room(t, k);
        }
        if (!good) {
            k->users = 0;
            k = NULL;
        }
        pthread_cond_broadcast(&t->read);
    } else {
        free(k);
        k = NULL;
    }
    if (k) {
        k->used = ++t->clock;
        *trace = k->source.head;
    }
    sweep_out(t);
    pthread_mutex_unlock(&t->lock);
    return k;
}

void fc_kept_trace_leave(struct fc_kept_traces *t, struct fc_kept_trace *k)
{
    if (!k) return;
    pthread_mutex_lock(&t->lock);
    k->users--;
    sweep_out(t);
    pthread_mutex_unlock(&t->lock);
}
