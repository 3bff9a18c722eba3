/* stream.h - input read once from front to back in bounded memory, decompressed on the way. */
#pragma once

#include "core/core.h"

/* A file being read; gzip, xz and zstd are told by their first bytes and decompressed (zlib, liblzma, libzstd; several
 * members or frames one behind the other are one text). */
struct fc_stream {
    const char *file;    /* borrowed */
    const uint8_t *next; /* what is decompressed and not taken yet: next .. end - 1 */
    const uint8_t *end;
    uint64_t offset; /* of `next` from the start of the decompressed data */
    long line;       /* number of the line that fc_stream_line gave last, from 1 */
    struct fc_stream_private *private;
};

/* Do these first bytes of a file tell gzip, xz or zstd? */
bool fc_is_compressed(const void *head, size_t n);
/* Opens a file (nothing is left open when that fails), behind the mark of UTF-8 when it begins with one (fc_text_mark). FC_INPUT when it cannot be read. `path`
 * must outlive the stream. About 200 KB of memory, more inside the decompressor (xz: as the file's dictionary asks, up to
 * 64 MiB). */
enum fc_code fc_stream_open(const char *path, struct fc_stream *s, struct fc_status *st);
/* The same behind the file's first `skip` bytes, whatever they are; what follows them tells how it is compressed. */
enum fc_code fc_stream_open_at(const char *path, uint64_t skip, struct fc_stream *s, struct fc_status *st);
/* The same of a file that is in memory already: borrowed until the stream is closed. */
enum fc_code fc_stream_open_bytes(const char *file, const void *data, size_t n, struct fc_stream *s,
                                  struct fc_status *st);
/* Whether what it reads is compressed. */
bool fc_stream_compressed(const struct fc_stream *s);
/* How many bytes the file is believed to hold, for fc_announced: its size, of a compressed one a hundred times that (what
 * a sane text shrinks to at most); INT64_MAX when the size is not known (a pipe). */
uint64_t fc_stream_bytes(const struct fc_stream *s);
/* The same of a file that is not open; 0 when it cannot be read. */
uint64_t fc_file_bytes(const char *path);
/* Has at least n bytes from s->next on, if the file has; *n_there (may be NULL) gets how many there are, at most n asked
 * for. A damaged or cut compressed file is FC_INPUT. n up to 1 GiB, of a compressed file up to 32 MiB and a hundred times
 * its size. */
enum fc_code fc_stream_need(struct fc_stream *s, size_t n, size_t *n_there, struct fc_status *st);
/* All that is left, as one text with a NUL behind it; the same limits. */
enum fc_code fc_stream_rest(struct fc_stream *s, struct fc_arena *arena, struct fc_text *text, struct fc_status *st);
/* Leaves n bytes behind; they must be there. */
static inline void fc_stream_skip(struct fc_stream *s, size_t n)
{
    s->next += n;
    s->offset += n;
}
/* The next line without its end (LF or CR LF), valid until the next call; *text NULL at the end of the file. A line
 * over the limits of fc_stream_need is refused. */
enum fc_code fc_stream_line(struct fc_stream *s, const char **text, size_t *length, struct fc_status *st);
/* file:line of the line given last. */
static inline struct fc_place fc_stream_place(const struct fc_stream *s)
{
    return (struct fc_place){s->file, s->line};
}
/* Safe on a zeroed struct. */
void fc_stream_close(struct fc_stream *s);
