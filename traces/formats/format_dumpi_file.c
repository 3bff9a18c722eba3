/* format_dumpi_file.c - one rank's DUMPI file: index, header, counters, records. All numbers are big-endian.
 *
 * The file ends with up to eight u64: a magic number and the offsets of sizes, addresses, perf labels,
 * header, body, footer, key values; older writers leave out the first one to three. A record is u16 function,
 * u8 mask, then thread, clocks and perf counters as the mask says, then arguments by format_dumpi_layout.c.
 * Counts are checked against what the body still holds before room is made for anything. Source: the files of
 * libdumpi 1.0 to 8.1 (SST/DUMPI). */
#include "traces/formats/format_dumpi.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t head_magic[8] = {0xff, 0xaa, 0xdd, 0x44, 'U', 'M', 'P', 'I'};
static const uint8_t foot_magic[8] = {0, 0, 0, 0, 0xf0, 0x07, 0xfe, 0xe7};
enum { READ_AHEAD = 64 << 10, INDEX_BYTES = 64, MOST_TYPES = 1 << 16 };
enum { MASK_STATUS = 3, MASK_CPU = 4, MASK_WALL = 8, MASK_THREAD = 64, MASK_PERF = 128 };

static uint64_t big(const uint8_t *at, int width)
{
    uint64_t value = 0;
    for (int i = 0; i < width; i++) value = value << 8 | at[i];
    return value;
}

static int64_t big_signed(const uint8_t *at, uint32_t width)
{
    switch (width) {
    case 1: return (int8_t)at[0];
    case 2: return (int16_t)big(at, 2);
    case 4: return (int32_t)big(at, 4);
    default: return (int64_t)big(at, 8);
    }
}

enum fc_code fc_dumpi_fail(const struct fc_dumpi_file *file, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fc_fail(file->st, FC_INPUT, (struct fc_place){file->path, 0}, "rank %" PRIu32 ", record %" PRIu64 ": %s",
                   file->rank, file->n_records, text);
}

static enum fc_code damaged(const struct fc_dumpi_file *file, const char *what)
{
    return fc_fail(file->st, FC_INPUT, (struct fc_place){file->path, 0}, "%s", what);
}

static bool version_before(const struct fc_dumpi_file *file, int a, int b, int c)
{
    const uint8_t *v = file->version;
    if (v[0] != a) return v[0] < a;
    return v[1] != b ? v[1] < b : v[2] < c;
}

/* ---- opening ---- */

/* Reads n bytes at an offset. */
static bool read_at(const struct fc_dumpi_file *file, uint64_t offset, void *to, size_t n)
{
    return offset <= file->size && n <= file->size - offset && !fseeko(file->stream, (off_t)offset, SEEK_SET) &&
           fread(to, 1, n, file->stream) == n;
}

static enum fc_code read_index(struct fc_dumpi_file *file)
{
    uint8_t index[INDEX_BYTES];
    int slot = 0;
    if (!read_at(file, 0, index, 8) || memcmp(index, head_magic, 8))
        return damaged(file, "is no DUMPI file (it does not start with FF AA DD 44 \"UMPI\"; a compressed one must be "
                             "decompressed first)");
    if (file->size < 8 + INDEX_BYTES || !read_at(file, file->size - INDEX_BYTES, index, INDEX_BYTES)) slot = 4;
    while (slot < 4 && memcmp(index + 8 * slot, head_magic, 8)) slot++;
    if (slot == 4)
        return damaged(file,
                       "is cut: the index at its end is missing (the program did not end, or the file was not copied "
                       "whole)");
    file->sizes = slot < 1 ? big(index + 8, 8) : 0;
    file->header = big(index + 32, 8);
    file->body = big(index + 40, 8);
    file->footer = big(index + 48, 8);
    uint64_t end = file->size - INDEX_BYTES + 8 * (uint64_t)slot;
    file->body_end = file->footer > file->body ? file->footer : end;
    if (file->body < 8 || file->body > end - 8 || file->body_end > end || file->sizes > end || file->header > end)
        return damaged(file, "is damaged: its index points outside the file");
    return FC_OK;
}

static enum fc_code read_header(struct fc_dumpi_file *file)
{
    uint8_t head[13];
    if (!file->header) return FC_OK; /* the first writers: version 0.0.0 */
    if (!read_at(file, file->header, head, sizeof head)) return damaged(file, "is damaged: its header is cut");
    memcpy(file->version, head, 3);
    file->started_s = big_signed(head + 3, 8);
    size_t length = big(head + 11, 2), kept = length < sizeof file->host ? length : sizeof file->host - 1;
    if (!read_at(file, file->header + sizeof head, file->host, kept))
        return damaged(file, "is damaged: its header is cut");
    for (size_t i = 0; i < kept; i++)
        if (file->host[i] < ' ' || file->host[i] > '~') file->host[i] = '?';
    return FC_OK;
}

static enum fc_code read_footer(struct fc_dumpi_file *file)
{
    uint8_t counters[8 + 8 * FC_DUMPI_COUNTED];
    if (!file->footer) return FC_OK;
    if (!read_at(file, file->footer, counters, sizeof counters) || memcmp(counters, foot_magic, 8))
        return damaged(file, "is damaged: its footer (calls counted) is not where the index says");
    for (int f = 0; f < FC_DUMPI_COUNTED; f++) {
        file->called[f] = (uint32_t)big(counters + 8 + 4 * f, 4);
        file->ignored[f] = (uint32_t)big(counters + 8 + 4 * (FC_DUMPI_COUNTED + f), 4);
    }
    return FC_OK;
}

static enum fc_code read_sizes(struct fc_dumpi_file *file)
{
    uint8_t number[4];
    if (!file->sizes) return FC_OK;
    if (!read_at(file, file->sizes, number, 4)) return damaged(file, "is damaged: its table of datatype sizes is cut");
    uint32_t n = (uint32_t)big(number, 4);
    if (n > MOST_TYPES || n > file->size / 4)
        return damaged(file, "is damaged: its table of datatype sizes is longer than datatypes can be numbered");
    file->type_size = malloc((n + 1) * sizeof *file->type_size);
    if (!file->type_size) return fc_out_of_memory(file->st, "%" PRIu32 " datatype sizes", n);
    for (uint32_t i = 0; i < n; i++) {
        if (fread(number, 1, 4, file->stream) != 4)
            return damaged(file, "is damaged: its table of datatype sizes is cut");
        file->type_size[i] = (int32_t)big(number, 4);
    }
    file->n_types = n;
    return FC_OK;
}

enum fc_code fc_dumpi_open(struct fc_dumpi_file *file, const char *path, uint32_t rank, struct fc_status *st)
{
    uint8_t bias[8];
    *file = (struct fc_dumpi_file){.path = path, .rank = rank, .st = st};
    file->stream = fopen(path, "rb");
    if (!file->stream || fseeko(file->stream, 0, SEEK_END))
        return fc_fail(st, FC_INPUT, (struct fc_place){path, 0}, "cannot be read: %s", strerror(errno));
    file->size = (uint64_t)ftello(file->stream);
    if (read_index(file) || read_header(file) || read_footer(file) || read_sizes(file)) return st->code;
    if (!read_at(file, file->body, bias, 8)) return damaged(file, "is damaged: its body is cut");
    file->cpu_bias_s = big_signed(bias, 4);
    file->wall_bias_s = big_signed(bias + 4, 4);
    file->buffer_offset = file->body + 8;
    return FC_OK;
}

void fc_dumpi_close(struct fc_dumpi_file *file)
{
    if (file->stream) fclose(file->stream);
    free(file->type_size);
    free(file->buffer);
    *file = (struct fc_dumpi_file){0};
}

/* ---- records ---- */

/* The next n bytes, which then are behind; NULL (st filled) when the body does not hold them. */
static const uint8_t *take(struct fc_dumpi_file *file, uint64_t n)
{
    if (n > file->body_end - (file->buffer_offset + file->at)) {
        fc_dumpi_fail(file, "is cut, or a count in it is damaged: the records end at byte %" PRIu64, file->body_end);
        return NULL;
    }
    if (file->n - file->at < n) {
        if (file->buffer) memmove(file->buffer, file->buffer + file->record_at, file->n - file->record_at);
        file->buffer_offset += file->record_at;
        file->n -= file->record_at;
        file->at -= file->record_at;
        file->record_at = 0;
        size_t wanted = file->at + n + READ_AHEAD;
        if (wanted > file->capacity) {
            uint8_t *larger = realloc(file->buffer, wanted);
            if (!larger) return fc_out_of_memory(file->st, "a record of %zu bytes", wanted), NULL;
            file->buffer = larger;
            file->capacity = wanted;
        }
        file->n += fread(file->buffer + file->n, 1, file->capacity - file->n, file->stream);
        if (file->n - file->at < n) {
            fc_dumpi_fail(file, "cannot be read: %s",
                          ferror(file->stream) ? strerror(errno) : "the file became shorter");
            return NULL;
        }
    }
    file->at += n;
    return file->buffer + file->at - n;
}

static enum fc_code take_number(struct fc_dumpi_file *file, uint32_t width, int64_t *value)
{
    const uint8_t *at = take(file, width);
    *value = 0;
    if (!at) return file->st->code;
    *value = big_signed(at, width);
    return FC_OK;
}

/* A count and that many entries of `width` bytes. */
static enum fc_code take_list(struct fc_dumpi_file *file, uint32_t width, struct fc_dumpi_argument *list)
{
    int64_t n;
    if (take_number(file, 4, &n)) return file->st->code;
    if (n < 0) return fc_dumpi_fail(file, "a list has %" PRId64 " entries", n);
    list->n = (uint32_t)n;
    list->width = width;
    list->at = file->at - file->record_at;
    return take(file, (uint64_t)n * width) ? FC_OK : file->st->code;
}

/* A list of lists, `depth` of them, with entries of `width` bytes at the bottom: walked over, and kept as its
 * bytes. */
static enum fc_code take_nested(struct fc_dumpi_file *file, int depth, uint32_t width, struct fc_dumpi_argument *list)
{
    int64_t n;
    struct fc_dumpi_argument row;
    if (depth == 1) return take_list(file, width, list);
    if (take_number(file, 4, &n)) return file->st->code;
    if (n < 0) return fc_dumpi_fail(file, "a list has %" PRId64 " entries", n);
    size_t at = file->at - file->record_at;
    for (int64_t i = 0; i < n; i++)
        if (take_nested(file, depth - 1, width, &row)) return file->st->code;
    *list = (struct fc_dumpi_argument){.n = (uint32_t)n, .at = at};
    return FC_OK;
}

static enum fc_code take_argv(struct fc_dumpi_file *file, struct fc_dumpi_argument *list)
{
    int64_t twice;
    if (version_before(file, 0, 6, 2) && take_number(file, 4, &twice)) return file->st->code;
    return take_nested(file, 2, 1, list);
}

/* One number stands where a writer before 0.6.`fixed` forgot the list. */
static enum fc_code take_list_since(struct fc_dumpi_file *file, int fixed, struct fc_dumpi_argument *list)
{
    return version_before(file, 0, 6, fixed) ? take_number(file, 4, &list->value) : take_list(file, 4, list);
}

static enum fc_code take_argument(struct fc_dumpi_file *file, char kind, bool statuses, struct fc_dumpi_argument *a)
{
    switch (kind) {
    case 'i': return take_number(file, 4, &a->value);
    case 'h': return take_number(file, 2, &a->value);
    case 'b': return take_number(file, 1, &a->value);
    case 'q': return take_number(file, 8, &a->value);
    case 'A': return take_list(file, 4, a);
    case 'H': return take_list(file, 2, a);
    case 'B':
    case 'C': return take_list(file, 1, a);
    case 'D': return take_nested(file, 2, 1, a);
    case 'E': return take_nested(file, 3, 1, a);
    case 'M': return take_nested(file, 2, 4, a);
    case 'V': return take_argv(file, a);
    case 'X': return take_list_since(file, 9, a);
    case 'Y': return take_list_since(file, 8, a);
    case 'S': return statuses ? take_list(file, version_before(file, 0, 6, 3) ? 10 : 14, a) : FC_OK;
    default: return fc_fail(file->st, FC_FAULT, (struct fc_place){file->path, 0}, "layout letter '%c'", kind);
    }
}

static enum fc_code take_arguments(struct fc_dumpi_file *file, struct fc_dumpi_record *record, bool statuses)
{
    struct fc_dumpi_argument *arg = record->arg;
    bool there = true;
    int k = 0;
    for (const char *l = fc_dumpi_functions[record->function].layout; *l; l++) {
        if (*l == '(') {
            there = arg[l[1] - '0'].value == arg[l[2] - '0'].value;
            l += 2;
        } else if (*l == ')') {
            there = true;
        } else {
            arg[k] = (struct fc_dumpi_argument){0};
            if (there && take_argument(file, *l, statuses, &arg[k])) return file->st->code;
            k++;
        }
    }
    return FC_OK;
}

static enum fc_code take_clock(struct fc_dumpi_file *file, int64_t bias_s, int64_t *enter_ns, int64_t *leave_ns)
{
    const uint8_t *at = take(file, 12);
    if (!at) return file->st->code;
    *enter_ns = (bias_s + (int64_t)big(at, 2)) * 1000000000 + (int64_t)big(at + 2, 4);
    *leave_ns = (bias_s + (int64_t)big(at + 6, 2)) * 1000000000 + (int64_t)big(at + 8, 4);
    return FC_OK;
}

enum fc_code fc_dumpi_next(struct fc_dumpi_file *file, struct fc_dumpi_record *record, bool *there)
{
    int64_t number;
    *there = false;
    file->record_at = file->at;
    if (file->buffer_offset + file->at >= file->body_end) return FC_OK;
    if (file->n_records == 0 && fseeko(file->stream, (off_t)file->buffer_offset, SEEK_SET))
        return fc_dumpi_fail(file, "cannot be read: %s", strerror(errno));
    file->n_records++;
    if (take_number(file, 2, &number)) return file->st->code;
    if (number == FC_DUMPI_END) return FC_OK;
    if (number < 0 || number >= FC_DUMPI_FUNCTIONS)
        return fc_dumpi_fail(file, "function number %" PRId64 " is unknown (known: 0 to %d)", number, FC_DUMPI_END);
    record->function = (uint16_t)number;
    const uint8_t *mask_at = take(file, 1);
    if (!mask_at) return file->st->code;
    int mask = *mask_at;
    record->thread = 0;
    record->has_cpu = mask & MASK_CPU;
    record->has_wall = mask & MASK_WALL;
    if (mask & MASK_THREAD) {
        if (take_number(file, 2, &number)) return file->st->code;
        record->thread = (uint16_t)number;
    }
    if (record->has_cpu && take_clock(file, file->cpu_bias_s, &record->cpu_enter_ns, &record->cpu_leave_ns))
        return file->st->code;
    if (record->has_wall && take_clock(file, file->wall_bias_s, &record->wall_enter_ns, &record->wall_leave_ns))
        return file->st->code;
    if (mask & MASK_PERF) {
        const uint8_t *counters = take(file, 1);
        if (!counters || !take(file, 16 * (uint64_t)*counters)) return file->st->code;
    }
    *there = true;
    return take_arguments(file, record, mask & MASK_STATUS);
}

int32_t fc_dumpi_entry(const struct fc_dumpi_file *file, const struct fc_dumpi_argument *list, uint32_t k)
{
    const uint8_t *at = file->buffer + file->record_at + list->at;
    if (list->width == 0) return (int32_t)big_signed(at + 4 * (size_t)k, 4); /* nested: as numbers, counts among them */
    return (int32_t)big_signed(at + (size_t)k * list->width, list->width);
}

bool fc_dumpi_status(const struct fc_dumpi_file *file, const struct fc_dumpi_argument *list, uint32_t k,
                     struct fc_dumpi_status *status)
{
    if (k >= list->n) return false;
    const uint8_t *at = file->buffer + file->record_at + list->at + (size_t)k * list->width;
    *status = (struct fc_dumpi_status){.bytes = (int32_t)big_signed(at, 4),
                                       .source = (int32_t)big_signed(at + 4, 4),
                                       .tag = list->width > 10 ? (int32_t)big_signed(at + 10, 4) : FC_ANY,
                                       .cancelled = at[8] != 0};
    return true;
}

void fc_dumpi_text(const struct fc_dumpi_file *file, const struct fc_dumpi_argument *list, char *out, size_t size)
{
    const uint8_t *at = file->buffer + file->record_at + list->at;
    size_t used = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t length = (uint32_t)big(at, 4);
        at += 4;
        if (i && used + 1 < size) out[used++] = ' ';
        for (uint32_t k = 0; k < length && at[k] && used + 1 < size; k++)
            out[used++] = at[k] < ' ' || at[k] > '~' ? '?' : (char)at[k];
        at += length;
    }
    out[used] = 0;
}
