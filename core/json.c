/* json.c - JSON that is whole or not given.
 *
 * jansson's calls that put a value into an object or a list take NULL, from a call that found no memory, and leave the
 * value out. So its allocator is watched instead of every call: what it could not allocate is remembered, and nothing is
 * published after that (fc_memory_whole). The watching allocator calls the one that was there before, the host program's
 * where it has set one. */
#include "core/core.h"

#include <jansson.h>
#include <pthread.h>

static json_malloc_t allocate;

static void *watch(size_t size)
{
    void *memory = allocate(size);
    struct fc_status st = {0};
    if (!memory) fc_out_of_memory(&st, "%zu bytes of JSON", size);
    return memory;
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
