/* memory_stream.c - a stream into memory that does not lose text.
 *
 * open_memstream (glibc) drops what it has no memory for and sets no error: a page could miss its middle. This one, on
 * fopencookie, remembers. */
#include "core/core.h"

#include <stdlib.h>
#include <string.h>

static ssize_t append(void *cookie, const char *text, size_t n)
{
    struct fc_memory_stream *m = cookie;
    size_t need = m->size + n + 1;
    if (need > m->capacity) {
        size_t capacity = need > 2 * m->capacity ? need + 4096 : 2 * m->capacity;
        char *larger = m->failed ? NULL : realloc(m->text, capacity);
        m->failed = !larger;
        if (!larger) return 0;
        m->text = larger;
        m->capacity = capacity;
    }
    memcpy(m->text + m->size, text, n);
    m->size += n;
    m->text[m->size] = '\0';
    return (ssize_t)n;
}

enum fc_code fc_memory_open(struct fc_memory_stream *m, struct fc_status *st)
{
    *m = (struct fc_memory_stream){0};
    append(m, "", 0);
    if (!m->failed) m->stream = fopencookie(m, "w", (cookie_io_functions_t){.write = append});
    if (m->stream) return FC_OK;
    free(m->text);
    m->text = NULL;
    return fc_out_of_memory(st, "a text");
}

enum fc_code fc_memory_close(struct fc_memory_stream *m, struct fc_status *st)
{
    if (!m->stream) return st->code;
    bool lost = fflush(m->stream) || ferror(m->stream) || m->failed;
    fclose(m->stream);
    m->stream = NULL;
    if (!lost && !st->code) return FC_OK;
    free(m->text);
    m->text = NULL;
    return lost ? fc_out_of_memory(st, "a text of %zu bytes", m->size) : st->code;
}
