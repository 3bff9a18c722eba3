/* stream.c - bytes of a file from front to back, gzip (RFC 1952), xz and zstd (RFC 8878) decompressed on the way.
 *
 * One buffer holds what is decompressed and not taken; it grows only when more is asked for at once than it holds, and
 * then as it fills. A few bytes can decompress to gigabytes, so a piece of a compressed file (a line, a record) is held
 * against the file's size. Limits: no seeking; xz may use 64 MiB for its dictionary (xz -9 needs that), larger ones are
 * refused. */
#include "core/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { RAW_BYTES = 64 << 10, ROOM_BYTES = 128 << 10, XZ_MEMORY = 80 << 20, SMALL_BYTES = 32 << 20, RATIO = 100 };
#define MOST_BYTES ((size_t)1 << 30)

enum kind { PLAIN, GZIP, XZ, ZSTD };

struct fc_stream_private {
    int fd;              /* -1: all is in `raw`, which is borrowed */
    uint64_t file_bytes; /* packed; 0: not known (a pipe) */
    enum kind kind;
    bool raw_ended, ended;
    bool inside; /* a compressed member is begun and not over */
    uint8_t *raw;
    size_t raw_at, raw_n;
    uint8_t *room;
    size_t capacity;
    z_stream gzip;
    lzma_stream xz;
    ZSTD_DStream *zstd;
};

static enum fc_code refuse(const struct fc_stream *s, const char *why, struct fc_status *st)
{
    return fc_fail(st, FC_INPUT, (struct fc_place){s->file, 0}, "%s", why);
}

static enum fc_code fill_raw(struct fc_stream *s, struct fc_status *st)
{
    struct fc_stream_private *p = s->private;
    if (p->raw_at < p->raw_n || p->raw_ended) return FC_OK;
    if (p->fd < 0) {
        p->raw_ended = true;
        return FC_OK;
    }
    ssize_t n;
    do n = read(p->fd, p->raw, RAW_BYTES);
    while (n < 0 && errno == EINTR);
    if (n < 0) return fc_fail(st, FC_INPUT, (struct fc_place){s->file, 0}, "cannot be read: %s", strerror(errno));
    p->raw_at = 0;
    p->raw_n = (size_t)n;
    p->raw_ended = n == 0;
    return FC_OK;
}

static enum fc_code inflate_some(struct fc_stream *s, size_t *made, size_t room, uint8_t *to, struct fc_status *st)
{
    struct fc_stream_private *p = s->private;
    z_stream *z = &p->gzip;
    z->next_in = p->raw + p->raw_at;
    z->avail_in = (uInt)(p->raw_n - p->raw_at);
    z->next_out = to;
    z->avail_out = (uInt)room;
    p->inside = true;
    int code = inflate(z, Z_NO_FLUSH);
    p->raw_at = p->raw_n - z->avail_in;
    *made = room - z->avail_out;
    if (code == Z_STREAM_END) {
        p->inside = false;
        code = inflateReset(z);
    }
    if (code == Z_OK || code == Z_BUF_ERROR) return FC_OK;
    if (code == Z_MEM_ERROR) return fc_out_of_memory(st, "decompressing %s", s->file);
    return refuse(s, "damaged gzip data", st);
}

static enum fc_code unxz_some(struct fc_stream *s, size_t *made, size_t room, uint8_t *to, struct fc_status *st)
{
    struct fc_stream_private *p = s->private;
    lzma_stream *z = &p->xz;
    z->next_in = p->raw + p->raw_at;
    z->avail_in = p->raw_n - p->raw_at;
    z->next_out = to;
    z->avail_out = room;
    p->inside = true;
    lzma_ret code = lzma_code(z, p->raw_ended ? LZMA_FINISH : LZMA_RUN);
    p->raw_at = p->raw_n - z->avail_in;
    *made = room - z->avail_out;
    if (code == LZMA_STREAM_END) {
        p->inside = false;
        p->ended = p->raw_ended; /* concatenated: the end comes with the file's */
    }
    if (code == LZMA_OK || code == LZMA_STREAM_END || code == LZMA_BUF_ERROR) return FC_OK;
    if (code == LZMA_MEM_ERROR) return fc_out_of_memory(st, "decompressing %s", s->file);
    if (code == LZMA_MEMLIMIT_ERROR) return refuse(s, "xz data needs more than 80 MiB to decompress", st);
    return refuse(s, "damaged xz data", st);
}

static enum fc_code unzstd_some(struct fc_stream *s, size_t *made, size_t room, uint8_t *to, struct fc_status *st)
{
    struct fc_stream_private *p = s->private;
    ZSTD_inBuffer in = {p->raw + p->raw_at, p->raw_n - p->raw_at, 0};
    ZSTD_outBuffer out = {to, room, 0};
    size_t code = ZSTD_decompressStream(p->zstd, &out, &in);
    if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
        return fc_out_of_memory(st, "decompressing %s", s->file);
    if (ZSTD_isError(code)) return refuse(s, "damaged zstd data", st);
    p->raw_at += in.pos;
    *made = out.pos;
    p->inside = code != 0;
    return FC_OK;
}

/* Some more bytes behind s->end, or the end. */
static enum fc_code fill(struct fc_stream *s, struct fc_status *st)
{
    struct fc_stream_private *p = s->private;
    size_t used = (size_t)(s->end - p->room), room = p->capacity - used, made = 0;
    uint8_t *to = p->room + used;
    if (room > ROOM_BYTES) room = ROOM_BYTES;
    if (fill_raw(s, st)) return st->code;
    size_t raw_at = p->raw_at;
    bool was_inside = p->inside;
    if (p->raw_at == p->raw_n && p->kind != XZ && !(p->inside && p->kind == ZSTD)) {
        if (p->inside) return refuse(s, "the compressed data is cut in the middle", st);
        p->ended = true;
        return FC_OK;
    }
    switch (p->kind) {
    case PLAIN:
        made = p->raw_n - p->raw_at < room ? p->raw_n - p->raw_at : room;
        memcpy(to, p->raw + p->raw_at, made);
        p->raw_at += made;
        break;
    case GZIP:
        if (inflate_some(s, &made, room, to, st)) return st->code;
        break;
    case XZ:
        if (unxz_some(s, &made, room, to, st)) return st->code;
        break;
    case ZSTD:
        if (unzstd_some(s, &made, room, to, st)) return st->code;
        break;
    }
    s->end += made;
    if (!made && raw_at == p->raw_at && was_inside == p->inside && !p->ended && p->raw_ended)
        return refuse(s, "the compressed data is cut in the middle", st);
    return FC_OK;
}

static enum kind kind_of(const uint8_t *m, size_t n)
{
    if (n >= 2 && m[0] == 0x1f && m[1] == 0x8b) return GZIP;
    if (n >= 6 && memcmp(m,
                         "\xfd"
                         "7zXZ",
                         6) == 0)
        return XZ;
    if (n >= 4 && memcmp(m, "\x28\xb5\x2f\xfd", 4) == 0) return ZSTD;
    return PLAIN;
}

bool fc_is_compressed(const void *head, size_t n)
{
    return kind_of(head, n) != PLAIN;
}

static enum fc_code start_decompressor(struct fc_stream *s, struct fc_status *st)
{
    struct fc_stream_private *p = s->private;
    if (fill_raw(s, st)) return st->code;
    bool failed = false;
    p->kind = kind_of(p->raw, p->raw_n);
    if (p->kind == GZIP) {
        failed = inflateInit2(&p->gzip, 16 + MAX_WBITS) != Z_OK;
    } else if (p->kind == XZ) {
        failed = lzma_stream_decoder(&p->xz, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK;
    } else if (p->kind == ZSTD) {
        p->zstd = ZSTD_createDStream();
        failed = !p->zstd;
    }
    return failed ? fc_out_of_memory(st, "no decompressor for %s", s->file) : FC_OK;
}

static enum fc_code skip_mark(struct fc_stream *s, struct fc_status *st);

/* An open that fails leaves nothing behind. */
static enum fc_code opened(struct fc_stream *s, const struct fc_status *st)
{
    if (st->code) fc_stream_close(s);
    return st->code;
}

static enum fc_code start(struct fc_stream *s, const char *file, struct fc_status *st)
{
    *s = (struct fc_stream){.file = file};
    struct fc_stream_private *p = s->private = calloc(1, sizeof *p);
    if (!p) return fc_out_of_memory(st, "the buffers of a file");
    p->xz = (lzma_stream)LZMA_STREAM_INIT;
    p->fd = -1;
    p->room = malloc(ROOM_BYTES);
    if (!p->room) return fc_out_of_memory(st, "the buffers of a file");
    p->capacity = ROOM_BYTES;
    s->next = s->end = p->room;
    return FC_OK;
}

static enum fc_code open_file(const char *path, uint64_t skip, struct fc_stream *s, struct fc_status *st)
{
    struct stat info;
    struct fc_place where = {path, 0};
    if (start(s, path, st)) return st->code;
    struct fc_stream_private *p = s->private;
    p->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (p->fd < 0) return fc_fail(st, FC_INPUT, where, "cannot be read: %s", strerror(errno));
    bool known = fstat(p->fd, &info) == 0;
    if (known && S_ISDIR(info.st_mode)) return fc_fail(st, FC_INPUT, where, "is a folder");
    if (known && S_ISREG(info.st_mode)) p->file_bytes = (uint64_t)info.st_size;
    if (skip && lseek(p->fd, (off_t)skip, SEEK_SET) < 0)
        return fc_fail(st, FC_INPUT, where, "cannot be read: %s", strerror(errno));
    p->raw = malloc(RAW_BYTES);
    if (!p->raw) return fc_out_of_memory(st, "the buffers of a file");
    return start_decompressor(s, st);
}

enum fc_code fc_stream_open_at(const char *path, uint64_t skip, struct fc_stream *s, struct fc_status *st)
{
    open_file(path, skip, s, st);
    return opened(s, st);
}

enum fc_code fc_stream_open(const char *path, struct fc_stream *s, struct fc_status *st)
{
    if (!open_file(path, 0, s, st)) skip_mark(s, st);
    return opened(s, st);
}

enum fc_code fc_stream_open_bytes(const char *file, const void *data, size_t n, struct fc_stream *s,
                                  struct fc_status *st)
{
    if (!start(s, file, st)) {
        struct fc_stream_private *p = s->private;
        p->raw = (uint8_t *)data; /* never written to */
        p->raw_n = p->file_bytes = n;
        if (!start_decompressor(s, st)) skip_mark(s, st);
    }
    return opened(s, st);
}

bool fc_stream_compressed(const struct fc_stream *s)
{
    return s->private->kind != PLAIN;
}

uint64_t fc_stream_bytes(const struct fc_stream *s)
{
    const struct fc_stream_private *p = s->private;
    if (!p->file_bytes) return INT64_MAX;
    return p->kind == PLAIN ? p->file_bytes : p->file_bytes * RATIO;
}

uint64_t fc_file_bytes(const char *path)
{
    struct fc_status ignored = {0};
    FC_SCOPED(fc_stream_close) struct fc_stream s = {0};
    uint64_t bytes = fc_stream_open_at(path, 0, &s, &ignored) ? 0 : fc_stream_bytes(&s);
    return bytes;
}

/* What may be asked for at once. */
static size_t most_at_once(const struct fc_stream *s)
{
    uint64_t most = SMALL_BYTES + fc_stream_bytes(s);
    return s->private->kind == PLAIN || most > MOST_BYTES ? MOST_BYTES : (size_t)most;
}

/* Room for n bytes from s->next on and for more behind them. */
static enum fc_code make_room(struct fc_stream *s, size_t n, struct fc_status *st)
{
    struct fc_stream_private *p = s->private;
    size_t there = (size_t)(s->end - s->next);
    if (p->capacity - there < ROOM_BYTES / 2 || p->capacity < n) {
        size_t capacity = p->capacity;
        while (capacity < n || capacity - there < ROOM_BYTES / 2) capacity *= 2;
        uint8_t *larger = malloc(capacity);
        if (!larger) return fc_out_of_memory(st, "%zu bytes for a piece of %s", capacity, s->file);
        memcpy(larger, s->next, there);
        free(p->room);
        p->room = larger;
        p->capacity = capacity;
    } else if (s->next > p->room) {
        memmove(p->room, s->next, there);
    }
    s->next = p->room;
    s->end = p->room + there;
    return FC_OK;
}

enum fc_code fc_stream_need(struct fc_stream *s, size_t n, size_t *n_there, struct fc_status *st)
{
    struct fc_stream_private *p = s->private;
    if (n > most_at_once(s)) {
        if (n > MOST_BYTES) return refuse(s, "more than 1 GiB in one piece", st);
        return refuse(s,
                      "decompresses to one piece of more than 32 MiB and a hundred times the file's size "
                      "(if that is meant: unpack it first)",
                      st);
    }
    while ((size_t)(s->end - s->next) < n && !p->ended) {
        /* room for twice what is there: a record that announces much gets it only as it comes */
        size_t there = (size_t)(s->end - s->next), some = there < ROOM_BYTES / 2 ? ROOM_BYTES : 2 * there;
        if (some > n) some = n;
        if (make_room(s, some, st)) return st->code;
        while ((size_t)(s->end - s->next) < some && !p->ended)
            if (fill(s, st)) return st->code;
    }
    if (n_there) *n_there = (size_t)(s->end - s->next) < n ? (size_t)(s->end - s->next) : n;
    return FC_OK;
}

/* Past the mark of a text's encoding. */
static enum fc_code skip_mark(struct fc_stream *s, struct fc_status *st)
{
    size_t there, mark;
    if (fc_stream_need(s, 3, &there, st) || fc_text_mark(s->next, there, &mark, (struct fc_place){s->file, 0}, st))
        return st->code;
    fc_stream_skip(s, mark);
    return FC_OK;
}

enum fc_code fc_stream_rest(struct fc_stream *s, struct fc_arena *arena, struct fc_text *text, struct fc_status *st)
{
    size_t most = most_at_once(s), ask = 1 << 20, there = 0;
    while (!fc_stream_need(s, ask, &there, st) && there == ask)
        ask = ask < most / 2 ? 2 * ask : ask < most ? most : most + 1; /* more than the most is refused */
    char *data = st->code ? NULL : fc_alloc(arena, there + 1, 1, st);
    if (!data) return st->code;
    memcpy(data, s->next, there);
    fc_stream_skip(s, there);
    text->data = data;
    text->size = there;
    return FC_OK;
}

enum fc_code fc_stream_line(struct fc_stream *s, const char **text, size_t *length, struct fc_status *st)
{
    size_t seen = 0;
    for (;;) {
        size_t there = (size_t)(s->end - s->next), n;
        const uint8_t *end = memchr(s->next + seen, '\n', there - seen);
        if (!end) {
            seen = there;
            if (fc_stream_need(s, there + 1, &n, st)) return st->code;
            if (n > there) continue;
        }
        *text = NULL;
        if (!end && there == 0) return FC_OK;
        *text = (const char *)s->next;
        *length = end ? (size_t)(end - s->next) : there;
        fc_stream_skip(s, *length + (end != NULL));
        if (*length && (*text)[*length - 1] == '\r') --*length;
        s->line++;
        return FC_OK;
    }
}

void fc_stream_close(struct fc_stream *s)
{
    struct fc_stream_private *p = s->private;
    if (!p) return;
    if (p->fd >= 0) {
        close(p->fd);
        free(p->raw);
    }
    if (p->kind == GZIP) inflateEnd(&p->gzip);
    lzma_end(&p->xz);
    ZSTD_freeDStream(p->zstd);
    free(p->room);
    free(p);
    *s = (struct fc_stream){0};
}

enum fc_code fc_text_mark(const void *data, size_t size, size_t *mark, struct fc_place where, struct fc_status *st)
{
    const unsigned char *byte = data;
    bool wide = size >= 2 && ((byte[0] == 0xff && byte[1] == 0xfe) || (byte[0] == 0xfe && byte[1] == 0xff));
    *mark = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (!wide) return FC_OK;
    return fc_fail(st, FC_INPUT, where, "is UTF-16 text (expected UTF-8: convert it with `iconv -f UTF-16 -t UTF-8`)");
}
