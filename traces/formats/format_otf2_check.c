/* format_otf2_check.c - is a file of an OTF2 archive whole?
 *
 * A file is chunks of one size, the last one as long as it is used: byte 3, the order of bytes in numbers
 * ('B' little, '#' big), numbers of the first and last event (u64), records, byte 0 where another chunk follows,
 * byte 2 at the end of the file. A record is a byte for its type, its length (one byte, or 255 and u64), its
 * fields; later versions add fields at the end. Events may have a time before them (byte 5, u64) and attributes
 * (a record of type 6); those of one field have no length. A compressed number is the count of its bytes, then
 * these; 255 stands for the largest number. Types that are not known are records of which only the length counts.
 * Source: OTF2 3.0 (vi-hps.org). */
#include "traces/formats/format_otf2_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum {
    END_OF_CHUNK = 0,
    END_OF_FILE = 2,
    HEADER = 3,
    TIME = 5,
    ATTRIBUTES = 6,
    FIRST_EVENT = 10,
    HEADER_BYTES = 18,
    MOST_ANCHOR = 1 << 20,
    MOST_PROPERTIES = 1024,
    MOST_ATTRIBUTES = 4096,
    LEAST_CHUNK = 256 << 10,
    MOST_CHUNK = 16 << 20,
    NEWEST_FORMAT = 2,
    KNOWN_ANCHOR = 3
};

/* Fields: b byte, h two bytes, f four, d eight; u, U compressed number of at most 4, 8 bytes; s text; t an
 * attribute's type and value; m table of references; n(..), N(..) a count (byte, u) and that many of these; | what
 * follows may be missing. A dot: the event has no length. */
static const char *const event_fields[] = {
    /* 10 */ "d",    "b",      ".u",   ".u",    "uuuU", "uuuUU", ".U",     ".U",   "uuuU",   "uuuUU",
    /* 20 */ ".U",   ".U",     "",     "buuUU", ".u",   "",      "uu",     "uu",   ".U",     ".U",
    /* 30 */ ".U",   "un(bU)", "uu",   "uU",    "uU",   "u",     "u",      "",     "buuuUU", "uuu",
    /* 40 */ "uuUb", "uuUb",   "uuUb", "uuU",   "uub",  "u",     "uuUU",   "uuUU", "uubUUU", "uU",
    /* 50 */ "uU",   "uU",     "uU",   "bu",    "b",    "u",     "u",      "buu",  "buu",    "uuu",
    /* 60 */ "uuu",  "uuu",    "uU",   "uU",    "uU",   "uU",    "uu",     "u",    "uuu",    "ubuu",
    /* 70 */ "u",    "uuu",    "uUbU", "uu",    "bu",   "ubuUU", "uU",     "uU",   "uUU",    "uU",
    /* 80 */ "ub",   "ub",     "ub",   "uN(u)", "U",    "U",     "buuUUU", "u",    "u",
};
static const char *const definition_fields[] = {
    /* 10 */ "us",
    "uub|u",
    "uuuu",
    "uubu|u",
    "UubUu",
    "uuubuuu|ubbu",
    "uuuuu",
    "uuu",
    "uubN(U)|bbu",
    "uuubbbbUu",
    /* 20 */ "un(u)b|b",
    "uuUbU",
    "uuuu|u",
    "uub",
    "uuu|u",
    "uU",
    "uuu|t",
    "ub",
    "uuu|t",
    "Uuu|t",
    /* 30 */ "uuub",
    "uuun(u)",
    "uun(u)",
    "uuu",
    "uuuu",
    "uut",
    "uubbUU",
    "uut",
    "uuu",
    "uuu",
    /* 40 */ "uuubuuu",
    "ubu",
    "uut",
    "uuuuuu",
};
/* From 5 on, only in global definitions and only in those of a location. */
static const char *const global_fields[] = {"UUU|U", "bub", "bbt", "buubun(bt)"};
static const char *const local_fields[] = {"bm", "dUd"};
static const char value_field[] = "UbhuUbhuUfduuUuuuuuuuuuuuu"; /* by an attribute's type; later ones: U */

struct bytes {
    const uint8_t *at, *end;
};
struct walk {
    const char *path;
    struct fc_status *st;
    enum fc_otf2_file kind;
    FILE *in;
    uint8_t *chunk;
    size_t chunk_bytes, room; /* room: that, or that of the whole file if it is less */
    uint64_t first;           /* byte of the chunk in the file */
    struct bytes left;        /* of the chunk */
    bool big, cut;            /* cut: the file ends in this chunk */
};

/* ---- numbers ---- */

static uint64_t number(const uint8_t *at, size_t n, bool big)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) value = value << 8 | at[big ? i : n - 1 - i];
    return value;
}

static bool skip(struct bytes *b, uint64_t n)
{
    if ((uint64_t)(b->end - b->at) < n) return false;
    b->at += n;
    return true;
}

static bool take_full(struct bytes *b, size_t n, bool big, uint64_t *value)
{
    const uint8_t *at = b->at;
    if (!skip(b, n)) return false;
    *value = number(at, n, big);
    return true;
}

static bool take_compressed(struct bytes *b, uint64_t most, bool big, uint64_t *value)
{
    uint64_t n;
    if (!take_full(b, 1, big, &n)) return false;
    *value = UINT64_MAX;
    return n == 255 || (n <= most && take_full(b, n, big, value));
}

static bool skip_text(struct bytes *b)
{
    const uint8_t *end = b->at < b->end ? memchr(b->at, 0, (size_t)(b->end - b->at)) : NULL;
    return end && skip(b, (uint64_t)(end - b->at) + 1);
}

/* ---- fields of a record ---- */

/* A table of references, dense or sparse: its size, how it is, the references; those of a sparse one rise. */
static bool skip_table(struct bytes *b, bool big)
{
    uint64_t n, sparse, from, to, before = 0;
    if (!take_compressed(b, 8, big, &n) || !take_full(b, 1, big, &sparse) || n == 0 || sparse > 1) return false;
    for (uint64_t i = 0; i < n; i++) {
        if (sparse && (!take_compressed(b, 8, big, &from) || (i && from <= before))) return false;
        if (sparse) before = from;
        if (!take_compressed(b, 8, big, &to)) return false;
    }
    return true;
}

static bool skip_fields(const char *f, const char *end, struct bytes *b, bool big)
{
    uint64_t n;
    for (bool good = true; f < end; f++) {
        const char *close = f;
        switch (*f) {
        case 'b': good = skip(b, 1); break;
        case 'h': good = skip(b, 2); break;
        case 'f': good = skip(b, 4); break;
        case 'd': good = skip(b, 8); break;
        case 'u': good = take_compressed(b, 4, big, &n); break;
        case 'U': good = take_compressed(b, 8, big, &n); break;
        case 's': good = skip_text(b); break;
        case 'm': good = skip_table(b, big); break;
        case 't':
            good = take_full(b, 1, big, &n);
            if (good) {
                const char *value = &value_field[n < sizeof value_field - 1 ? n : 0];
                good = skip_fields(value, value + 1, b, big);
            }
            break;
        case 'n':
        case 'N':
            good = *f == 'n' ? take_full(b, 1, big, &n) : take_compressed(b, 4, big, &n);
            close = strchr(f, ')');
            for (; good && n > 0; n--) good = skip_fields(f + 2, close, b, big);
            f = close;
            break;
        default: /* | */
            if (b->at == b->end) return true;
        }
        if (!good) return false;
    }
    return true;
}

/* The fields of a type, NULL when it is not known. */
static const char *fields_of(enum fc_otf2_file kind, unsigned type)
{
    const char *const *first = kind == FC_OTF2_GLOBAL ? global_fields : local_fields;
    unsigned n_first = kind == FC_OTF2_GLOBAL ? FC_COUNT(global_fields) : FC_COUNT(local_fields);
    if (kind == FC_OTF2_EVENTS) {
        if (type == ATTRIBUTES) return "N(ut)";
        return type - FIRST_EVENT < FC_COUNT(event_fields) ? event_fields[type - FIRST_EVENT] : NULL;
    }
    if (type - TIME < n_first) return first[type - TIME];
    return type - FIRST_EVENT < FC_COUNT(definition_fields) ? definition_fields[type - FIRST_EVENT] : NULL;
}

/* ---- chunks and records ---- */

static enum fc_code unreadable(const char *path, struct fc_status *st)
{
    return fc_fail(st, FC_INPUT, (struct fc_place){path, 0}, "cannot be read: %s", strerror(errno));
}

static enum fc_code wrong(struct walk *w, const uint8_t *at, const char *what)
{
    uint64_t byte = w->first + (uint64_t)(at - w->chunk);
    return fc_fail(w->st, FC_INPUT, (struct fc_place){w->path, 0}, "byte %" PRIu64 ": %s", byte, what);
}

/* What stands behind `at` is not there: the file's end, or that of a chunk in it. */
static enum fc_code ends(struct walk *w, const uint8_t *at)
{
    return wrong(w, at,
                 w->cut ? "the file is cut here (expected: the rest of a record, or the mark of the file's end)"
                        : "a record does not fit into its chunk (expected: its end, or the mark of another chunk)");
}

static enum fc_code next_chunk(struct walk *w)
{
    uint64_t events;
    w->first += (uint64_t)(w->left.end - w->chunk);
    if (w->cut) return ends(w, w->chunk);
    size_t n = fread(w->chunk, 1, w->room, w->in);
    if (ferror(w->in)) return unreadable(w->path, w->st);
    w->left = (struct bytes){w->chunk, w->chunk + n};
    w->cut = n < w->chunk_bytes;
    if (n < HEADER_BYTES)
        return wrong(w, w->left.end, "the file is cut here (expected: a chunk, of 18 bytes at least)");
    if (w->chunk[0] != HEADER || (w->chunk[1] != 'B' && w->chunk[1] != '#'))
        return wrong(w, w->chunk, "no chunk begins here (expected: bytes 3 and 'B' or '#')");
    w->big = w->chunk[1] == '#';
    skip(&w->left, 2);
    take_full(&w->left, 8, w->big, &events);
    take_full(&w->left, 8, w->big, &events);
    return FC_OK;
}

static enum fc_code check_record(struct walk *w, uint8_t type)
{
    const char *fields = fields_of(w->kind, type);
    const uint8_t *begin = w->left.at;
    uint64_t length;
    char text[96];
    struct bytes record;
    snprintf(text, sizeof text, "a record of type %u is damaged (expected: its fields within its length)",
             (unsigned)type);
    if (fields && *fields == '.') {
        bool whole = w->left.end - begin > 9;
        if (skip_fields(fields + 1, fields + 2, &w->left, w->big)) return FC_OK;
        return whole ? wrong(w, begin, text) : ends(w, begin);
    }
    if (!take_full(&w->left, 1, w->big, &length) || (length == 255 && !take_full(&w->left, 8, w->big, &length)))
        return ends(w, begin);
    record.at = w->left.at;
    if (!skip(&w->left, length)) return ends(w, begin);
    record.end = w->left.at;
    if (!fields) return FC_OK;
    struct bytes all = record;
    uint64_t n;
    if (w->kind == FC_OTF2_EVENTS && type == ATTRIBUTES && take_compressed(&all, 4, w->big, &n) && n > MOST_ATTRIBUTES)
        return wrong(w, begin, "too many attributes of one event (allowed: 4096)");
    return skip_fields(fields, fields + strlen(fields), &record, w->big) ? FC_OK : wrong(w, begin, text);
}

static enum fc_code walk(struct walk *w)
{
    while (!w->st->code) {
        uint64_t type;
        const uint8_t *at = w->left.at;
        if (w->kind == FC_OTF2_EVENTS && at < w->left.end && *at == TIME && !skip(&w->left, 9)) return ends(w, at);
        if (!take_full(&w->left, 1, false, &type)) return ends(w, at);
        if (type == END_OF_FILE) return FC_OK;
        if (type == END_OF_CHUNK) {
            next_chunk(w);
        } else {
            check_record(w, (uint8_t)type);
        }
    }
    return w->st->code;
}

enum fc_code fc_otf2_check_file(const char *path, enum fc_otf2_file kind, const struct fc_otf2_chunks *chunks,
                                struct fc_status *st)
{
    struct walk w = {.path = path, .st = st, .kind = kind, .in = fopen(path, "rb")};
    struct stat info;
    if (!w.in) return unreadable(path, st);
    w.chunk_bytes = kind == FC_OTF2_EVENTS ? chunks->events : chunks->definitions;
    bool small = fstat(fileno(w.in), &info) == 0 && S_ISREG(info.st_mode) && (uint64_t)info.st_size < w.chunk_bytes;
    w.room = small ? (size_t)info.st_size + 1 : w.chunk_bytes;
    w.chunk = malloc(w.room);
    if (!w.chunk) {
        fc_out_of_memory(st, "a chunk of events");
    } else {
        w.left.end = w.chunk;
        if (!next_chunk(&w)) walk(&w);
    }
    free(w.chunk);
    fclose(w.in);
    return st->code;
}

/* ---- the anchor ---- */

/* Words of letters, digits and _ with :: between, two at least. */
static bool is_property(const char *name)
{
    int words = 0;
    for (;; name += 2) {
        size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
        words++;
        if (n == 0) return false;
        name += n;
        if (*name == 0) return words > 1;
        if (name[0] != ':' || name[1] != ':') return false;
    }
}

/* What libotf2 refuses, and then loses. */
static const char *check_properties(struct bytes *b, uint64_t n)
{
    const char *name[MOST_PROPERTIES];
    if (n > MOST_PROPERTIES) return "has too many properties (allowed: 1024)";
    for (uint64_t i = 0; i < n; i++) {
        name[i] = (const char *)b->at;
        if (!skip_text(b) || b->at == b->end) return "is cut or damaged (expected: names and values of properties)";
        if (!is_property(name[i])) return "has a property without a good name (expected: WORD::WORD)";
        if (*b->at == 0) return "has a property without a value";
        if (!skip_text(b)) return "is cut or damaged (expected: names and values of properties)";
        for (uint64_t k = 0; k < i; k++)
            if (strcasecmp(name[k], name[i]) == 0) return "has a property twice";
    }
    return NULL;
}

/* After the first two bytes: "OTF2", the anchor's and the trace's version, three bytes of the library's, bytes of a
 * chunk of events and of definitions, how files are kept (1: as files) and compressed (1: not), how many locations
 * and definitions there are; machine, creator, description; since version 2 properties and an identifier; since 3
 * two counts of files that are not read here, and the mark of the end. NULL when it is so. */
static const char *check_anchor(struct bytes b, struct fc_otf2_chunks *chunks)
{
    const char *cut = "is cut or damaged", *wrong_property = NULL;
    const uint8_t *at = b.at;
    uint64_t n;
    if (!skip(&b, 46)) return cut;
    if (at[0] != HEADER || (at[1] != 'B' && at[1] != '#') || memcmp(at + 2, "OTF2", 5) != 0 || at[7] == 0)
        return "is no anchor (expected: OTF2 behind two bytes)";
    bool big = at[1] == '#';
    if (at[8] > NEWEST_FORMAT) return "is of a format that is not known (known: 1, 2)";
    chunks->events = number(at + 12, 8, big);
    chunks->definitions = number(at + 20, 8, big);
    if (chunks->events < LEAST_CHUNK || chunks->events > MOST_CHUNK || chunks->definitions < LEAST_CHUNK ||
        chunks->definitions > MOST_CHUNK)
        return "has chunks of a size that is not allowed (allowed: 262144 to 16777216 bytes)";
    if (at[28] != 1) return "keeps its data in a way that is not read (expected: a file a location, no SION container)";
    if (at[29] != 1) return "is compressed in a way that is not read (expected: not compressed)";
    for (int i = 0; i < 3; i++)
        if (!skip_text(&b)) return "is cut or damaged (expected: texts for machine, creator, description)";
    if (at[7] >= 2) {
        if (!take_full(&b, 4, big, &n)) return cut;
        wrong_property = check_properties(&b, n);
        if (wrong_property) return wrong_property;
        if (!skip(&b, 8)) return cut;
    }
    if (at[7] >= 3 && !skip(&b, 8)) return cut;
    return at[7] != KNOWN_ANCHOR || (b.at < b.end && *b.at == END_OF_FILE) ? NULL : cut;
}

enum fc_code fc_otf2_check_anchor(const char *path, struct fc_otf2_chunks *chunks, struct fc_status *st)
{
    uint8_t *text = malloc(MOST_ANCHOR);
    if (!text) return fc_out_of_memory(st, "an anchor");
    FILE *in = fopen(path, "rb");
    size_t n = in ? fread(text, 1, MOST_ANCHOR, in) : 0;
    if (!in || ferror(in)) {
        unreadable(path, st);
    } else {
        const char *what = check_anchor((struct bytes){text, text + n}, chunks);
        struct fc_place where = {path, 0};
        if (what) fc_fail(st, FC_INPUT, where, "the OTF2 archive cannot be read: its anchor %s", what);
    }
    if (in) fclose(in);
    free(text);
    return st->code;
}
