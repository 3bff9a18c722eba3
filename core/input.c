/* input.c - files as texts in memory, walked line by line and word by word without changing them.
 *
 * A text ends with a NUL behind its last byte, but may hold NULs itself: everything here goes by length.
 * Lines end in LF or CR LF; the last one may lack its end. */
#include "core/core.h"
#include "core/number.h"
#include "core/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum fc_code unreadable(const char *path, struct fc_status *st)
{
    if (errno == ENOMEM) return fc_out_of_memory(st, "reading %s", path);
    enum fc_code code = errno == EIO || errno == EMFILE || errno == ENFILE ? FC_NO : FC_INPUT;
    return fc_fail(st, code, (struct fc_place){path, 0}, "cannot be read: %s", strerror(errno));
}

/* Reads to the end. A regular file fits the first buffer; a pipe's buffer doubles (what it outgrows stays in
 * the arena, at most as much again). */
static enum fc_code read_all(int fd, const char *path, size_t capacity, struct fc_arena *arena, struct fc_text *text,
                             struct fc_status *st)
{
    char *data = fc_alloc(arena, capacity, 1, st);
    size_t size = 0;
    if (!data) return FC_NO;
    for (;;) {
        if (size + 1 == capacity) {
            char *larger = fc_alloc(arena, capacity, 2, st);
            if (!larger) return FC_NO;
            memcpy(larger, data, size);
            data = larger;
            capacity *= 2;
        }
        ssize_t got = read(fd, data + size, capacity - size - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return unreadable(path, st);
        if (got == 0) break;
        size += (size_t)got;
    }
    data[size] = '\0';
    text->data = data;
    text->size = size;
    return FC_OK;
}

enum fc_code fc_announced(uint64_t n, uint64_t most, const char *what, struct fc_place where, struct fc_status *st)
{
    if (n <= most) return FC_OK;
    return fc_fail(st, FC_INPUT, where,
                   "%" PRIu64 " %s announced, more than the file can hold (its size has room for at most %" PRIu64 ")",
                   n, what, most);
}

/* Decompressed, and without the mark of its encoding. */
static enum fc_code decode(struct fc_arena *arena, struct fc_text *text, struct fc_status *st)
{
    size_t mark;
    if (fc_is_compressed(text->data, text->size)) {
        FC_SCOPED(fc_stream_close) struct fc_stream s = {0};
        if (!fc_stream_open_bytes(text->file, text->data, text->size, &s, st)) fc_stream_rest(&s, arena, text, st);
        return st->code;
    }
    if (fc_text_mark(text->data, text->size, &mark, (struct fc_place){text->file, 0}, st)) return st->code;
    text->data += mark;
    text->size -= mark;
    return FC_OK;
}

enum fc_code fc_read_file(const char *path, struct fc_arena *arena, struct fc_text *text, struct fc_status *st)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return unreadable(path, st);
    enum fc_code code = FC_NO;
    text->file = fc_copy_text(arena, path, st);
    if (fstat(fd, &info) != 0) {
        code = unreadable(path, st);
    } else if (text->file) {
        /* one byte for the NUL, one so that the end of an unchanged file is met without growing */
        size_t capacity = S_ISREG(info.st_mode) && info.st_size > 0 ? (size_t)info.st_size + 2 : 64 * 1024;
        code = read_all(fd, path, capacity, arena, text, st);
    }
    close(fd);
    return code ? code : decode(arena, text, st);
}

void fc_lines_start(struct fc_lines *lines, const struct fc_text *text)
{
    *lines = (struct fc_lines){.file = text->file, .next = text->data, .end = text->data + text->size};
}

bool fc_lines_next(struct fc_lines *lines)
{
    if (lines->next == lines->end) return false;
    size_t rest = (size_t)(lines->end - lines->next);
    const char *newline = memchr(lines->next, '\n', rest);
    lines->text = lines->next;
    lines->length = newline ? (size_t)(newline - lines->next) : rest;
    lines->next = newline ? newline + 1 : lines->end;
    lines->line++;
    if (lines->length > 0 && lines->text[lines->length - 1] == '\r') lines->length--;
    return true;
}

struct fc_place fc_lines_place(const struct fc_lines *lines)
{
    return (struct fc_place){lines->file, lines->line};
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool fc_next_word(const char **at, const char *end, const char **word, size_t *length)
{
    const char *c = *at;
    while (c < end && is_blank(*c)) c++;
    *word = c;
    while (c < end && !is_blank(*c)) c++;
    *length = (size_t)(c - *word);
    *at = c;
    return *length > 0;
}

static int shown(size_t length)
{
    return length < 60 ? (int)length : 60;
}

enum fc_code fc_word_int(const char *word, size_t length, long long low, long long high, const char *what,
                         long long *value, struct fc_place where, struct fc_status *st)
{
    int fits;
    if (length == 0 || fc_scan_int(word, length, value, &fits) != length)
        return fc_fail(st, FC_INPUT, where, "%s: '%.*s' is not an integer", what, shown(length), word);
    if (fits && *value >= low && *value <= high) return FC_OK;
    if (low == LLONG_MIN && high == LLONG_MAX)
        return fc_fail(st, FC_INPUT, where, "%s: '%.*s' is too large", what, shown(length), word);
    if (high == LLONG_MAX)
        return fc_fail(st, FC_INPUT, where, "%s: '%.*s' is out of range (allowed: at least %lld)", what, shown(length),
                       word, low);
    return fc_fail(st, FC_INPUT, where, "%s: '%.*s' is out of range (allowed: %lld to %lld)", what, shown(length), word,
                   low, high);
}

enum fc_code fc_word_real(const char *word, size_t length, const char *what, double *value, struct fc_place where,
                          struct fc_status *st)
{
    if (length == 0 || fc_scan_real(word, length, value) != length)
        return fc_fail(st, FC_INPUT, where, "%s: '%.*s' is not a number", what, shown(length), word);
    if (isnan(*value))
        return fc_fail(st, FC_INPUT, where, "%s: '%.*s' is too large or too small", what, shown(length), word);
    return FC_OK;
}

struct range {
    uint64_t first, last;
};

static int by_first(const void *a, const void *b)
{
    uint64_t x = ((const struct range *)a)->first, y = ((const struct range *)b)->first;
    return (x > y) - (x < y);
}

/* "3" or "3-7" of [text, text + length) with blanks around it. */
static enum fc_code parse_range(const char *text, size_t length, uint64_t limit, struct range *range,
                                struct fc_status *st)
{
    while (length > 0 && is_blank(*text)) text++, length--;
    while (length > 0 && is_blank(text[length - 1])) length--;
    long long number[2] = {0, 0};
    int fits[2] = {1, 1};
    bool sign = length > 0 && (*text == '-' || *text == '+');
    size_t at = sign ? 0 : fc_scan_int(text, length, &number[0], &fits[0]);
    bool ok = at > 0;
    number[1] = number[0];
    if (ok && at < length) {
        ok = text[at] == '-' && at + 1 < length && text[at + 1] >= '0' && text[at + 1] <= '9';
        if (ok) at += 1 + fc_scan_int(text + at + 1, length - at - 1, &number[1], &fits[1]);
    }
    if (!ok || at != length)
        return fc_refuse(st, FC_INPUT, "'%.*s' is not a number or range (expected e.g. 0-3,7)", shown(length), text);
    if (!fits[0] || !fits[1] || (uint64_t)number[0] >= limit || (uint64_t)number[1] >= limit) {
        if (limit == 0) return fc_refuse(st, FC_INPUT, "'%.*s' is out of range (none exist)", shown(length), text);
        return fc_refuse(st, FC_INPUT, "'%.*s' is out of range (allowed: 0 to %" PRIu64 ")", shown(length), text,
                         limit - 1);
    }
    if (number[0] > number[1])
        return fc_refuse(st, FC_INPUT, "'%.*s' runs backwards (expected %lld-%lld)", shown(length), text, number[1],
                         number[0]);
    *range = (struct range){(uint64_t)number[0], (uint64_t)number[1]};
    return FC_OK;
}

/* Repeats are found between sorted ranges, so the check costs nothing for a long range. */
static enum fc_code check_repeats(const struct range *ranges, size_t n, struct range *sorted, struct fc_status *st)
{
    memcpy(sorted, ranges, n * sizeof *ranges);
    qsort(sorted, n, sizeof *sorted, by_first);
    for (size_t i = 1; i < n; i++)
        if (sorted[i].first <= sorted[i - 1].last)
            return fc_refuse(st, FC_INPUT, "%" PRIu64 " is listed twice", sorted[i].first);
    return FC_OK;
}

enum fc_code fc_parse_ranges(const char *text, uint64_t limit, struct fc_arena *arena, uint32_t **list, size_t *n,
                             struct fc_status *st)
{
    if (limit > (uint64_t)UINT32_MAX + 1) limit = (uint64_t)UINT32_MAX + 1; /* numbers are stored in 32 bits */
    size_t n_ranges = 1, total = 0, filled = 0;
    for (const char *c = text; *c; c++) n_ranges += *c == ',';
    struct range *ranges = fc_alloc(arena, n_ranges, 2 * sizeof *ranges, st);
    if (!ranges) return FC_NO;
    for (size_t i = 0; i < n_ranges; i++) {
        size_t length = strcspn(text, ",");
        if (parse_range(text, length, limit, &ranges[i], st)) return FC_INPUT;
        text += length + (text[length] == ',');
    }
    if (check_repeats(ranges, n_ranges, ranges + n_ranges, st)) return FC_INPUT;
    for (size_t i = 0; i < n_ranges; i++) total += (size_t)(ranges[i].last - ranges[i].first) + 1;
    uint32_t *numbers = fc_alloc(arena, total, sizeof *numbers, st);
    if (!numbers) return FC_NO;
    for (size_t i = 0; i < n_ranges; i++)
        for (uint64_t v = ranges[i].first; v <= ranges[i].last; v++) numbers[filled++] = (uint32_t)v;
    *list = numbers;
    *n = total;
    return FC_OK;
}
