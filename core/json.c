/* json.c - JSON that is whole or not given.
 *
 * jansson's calls that put a value into an object or a list take NULL, from a call that found no memory, and leave the
 * value out. So its allocator is watched instead of every call: what it could not allocate is remembered, and nothing is
 * published after that (fc_memory_whole). The watching allocator calls the one that was there before, the host program's
 * where it has set one. */
#include "core/json.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>

static json_malloc_t allocate;
static _Thread_local jmp_buf *reading; /* of this thread's fc_json_text or _feed */

static void *watch(size_t size)
{
    void *memory = allocate(size);
    struct fc_status st = {0};
    if (memory) return memory;
    fc_out_of_memory(&st, "%zu bytes of JSON", size);
    if (reading) longjmp(*reading, 1);
    return NULL;
}

static void install(void)
{
    json_free_t release;
    json_get_alloc_funcs(&allocate, &release);
    json_set_alloc_funcs(watch, release);
}

void fc_json_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}

json_t *fc_json_feed(json_load_callback_t read, void *of, size_t flags, json_error_t *error, struct fc_status *st)
{
    jmp_buf lost;
    fc_json_watch();
    reading = &lost;
    json_t *json =
        setjmp(lost) ? (fc_out_of_memory(st, "reading JSON"), NULL) : json_load_callback(read, of, flags, error);
    reading = NULL;
    return json;
}

struct text {
    const char *at;
    size_t left;
};

static size_t take(void *buffer, size_t size, void *of)
{
    struct text *text = of;
    size_t n = text->left < size ? text->left : size;
    memcpy(buffer, text->at, n);
    text->at += n;
    text->left -= n;
    return n;
}

json_t *fc_json_text(const char *text, size_t size, size_t flags, json_error_t *error, struct fc_status *st)
{
    struct text all = {text, size};
    return fc_json_feed(take, &all, flags, error, st);
}

json_t *fc_json_of_file(const struct fc_text *text, struct fc_place *where, struct fc_status *st)
{
    json_error_t error;
    json_t *all = fc_json_text(text->data, text->size, JSON_REJECT_DUPLICATES, &error, st);
    *where = (struct fc_place){text->file, all ? 0 : error.line > 0 ? error.line : 1};
    if (!all && !st->code) fc_fail(st, FC_INPUT, *where, "not JSON: %s", error.text);
    return all;
}
