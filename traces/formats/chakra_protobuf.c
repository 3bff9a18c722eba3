/* chakra_protobuf.c - the nodes of a Chakra .et file: messages of the Protocol Buffers wire format, each
 * behind its length.
 *
 * First a GlobalMetadata, then a Node each: {1 id, 2 name, 3 type, 4 ctrl_deps, 5 data_deps, 7
 * duration_micros, 10 attributes}; repeated integers packed or not. An attribute: {1 name, 3 .. 31 value by
 * its type}. Fields that are not needed are skipped by their wire type. Source: et_def.proto of
 * mlcommons/chakra; Protocol Buffers encoding. */
#include "traces/formats/chakra.h"

#include <inttypes.h>
#include <string.h>

enum { VARINT, FIXED64, BYTES, FIXED32 = 5 };

struct wire {
    const uint8_t *at, *end;
};
struct field {
    uint32_t number, type;
    uint64_t value; /* VARINT and fixed; BYTES: length */
    const uint8_t *bytes;
};

static bool varint(struct wire *w, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (w->at == w->end) return false;
        uint8_t byte = *w->at++;
        if (shift == 63 && byte > 1) return false;
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return true;
    }
    return false;
}

static bool fixed(struct wire *w, int n, uint64_t *value)
{
    *value = 0;
    if (w->end - w->at < n) return false;
    for (int i = 0; i < n; i++) *value |= (uint64_t)*w->at++ << (8 * i);
    return true;
}

/* False at the end and, with w->at != w->end or NULL, where the message is damaged. */
static bool next_field(struct wire *w, struct field *f)
{
    uint64_t key;
    if (w->at == w->end) return false;
    bool good = varint(w, &key) && key >> 3 > 0 && key >> 3 < 1 << 29;
    f->number = (uint32_t)(key >> 3);
    f->type = key & 7;
    f->bytes = NULL;
    if (good && f->type == VARINT) {
        good = varint(w, &f->value);
    } else if (good && (f->type == FIXED64 || f->type == FIXED32)) {
        good = fixed(w, f->type == FIXED64 ? 8 : 4, &f->value);
    } else if (good && f->type == BYTES && varint(w, &f->value) && f->value <= (uint64_t)(w->end - w->at)) {
        f->bytes = w->at;
        w->at += f->value;
    } else {
        good = false;
    }
    if (!good) w->at = NULL;
    return good;
}

static int64_t unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* A scalar attribute as a whole number; false when it is none. */
static bool scalar(const struct field *f, int64_t *value)
{
    double real;
    float single;
    uint32_t low = (uint32_t)f->value;
    *value = (int64_t)f->value;
    switch (f->number) {
    case 3: memcpy(&real, &f->value, sizeof real); break;
    case 5:
        memcpy(&single, &low, sizeof single);
        real = (double)single;
        break;
    case 15:
    case 17: *value = unzigzag(f->value); return f->type == VARINT;
    case 11:
    case 13:
    case 19:
    case 21: return (f->type != BYTES) && f->value <= INT64_MAX;
    case 23: *value = (int32_t)low; return f->type == FIXED32;
    case 7:
    case 9:
    case 25:
    case 27: return f->type != BYTES;
    default: return false;
    }
    if (f->type != (f->number == 3 ? FIXED64 : FIXED32) || !(fabs(real) < 9e18)) return false;
    *value = (int64_t)real;
    return true;
}

/* Whether a list of booleans has a false one. */
static bool any_false(const struct field *list)
{
    struct wire w = {list->bytes, list->bytes + list->value};
    struct field f;
    bool found = false;
    while (next_field(&w, &f)) {
        if (f.number != 1) continue;
        found = found || (f.type == VARINT && !f.value) || (f.type == BYTES && memchr(f.bytes, 0, f.value));
    }
    return found;
}

static enum fc_code read_attribute(struct fc_chakra *c, struct fc_chakra_node *node, const struct field *message)
{
    struct wire w = {message->bytes, message->bytes + message->value};
    struct field f, value = {0};
    const char *name = NULL;
    size_t length = 0;
    int64_t number = 0;
    while (next_field(&w, &f)) {
        if (f.number == 1 && f.type == BYTES) {
            name = (const char *)f.bytes;
            length = f.value;
        } else if (f.number >= 3) {
            value = f;
        }
    }
    if (!w.at) return fc_chakra_fail(c, node->record, "an attribute is damaged");
    if (!name || !value.number) return FC_OK;
    if (value.number == 28 && value.type == BYTES) {
        number = !any_false(&value);
        return fc_chakra_attribute(c, node, name, length, number, NULL, 0);
    }
    if (value.number == 29 && value.type == BYTES)
        return fc_chakra_attribute(c, node, name, length, 0, (const char *)value.bytes, value.value);
    return scalar(&value, &number) ? fc_chakra_attribute(c, node, name, length, number, NULL, 0) : FC_OK;
}

static enum fc_code read_dependencies(struct fc_chakra *c, uint64_t record, const struct field *f)
{
    uint64_t id;
    if (f->type == VARINT) return fc_chakra_depend(c, f->value, f->number == 4);
    if (f->type != BYTES) return fc_chakra_fail(c, record, "dependencies are no whole numbers");
    struct wire w = {f->bytes, f->bytes + f->value};
    while (w.at < w.end) {
        if (!varint(&w, &id)) return fc_chakra_fail(c, record, "dependencies are damaged");
        if (fc_chakra_depend(c, id, f->number == 4)) return c->st->code;
    }
    return FC_OK;
}

static enum fc_code read_node(struct fc_chakra *c, struct wire *w)
{
    struct fc_chakra_node *node = fc_chakra_add(c);
    struct field f;
    enum fc_code code = node ? FC_OK : c->st->code;
    while (!code && next_field(w, &f)) {
        if (f.number == 1 && f.type == VARINT) node->id = f.value;
        if (f.number == 3 && f.type == VARINT) node->type = f.value < 1000 ? (int64_t)f.value : 1000;
        if (f.number == 4 || f.number == 5) code = read_dependencies(c, node->record, &f);
        if (f.number == 7 && f.type == VARINT) node->duration_s = (double)f.value / 1e6;
        if (f.number == 10 && f.type == BYTES) code = read_attribute(c, node, &f);
    }
    if (!code && !w->at) code = fc_chakra_fail(c, node->record, "the node is damaged");
    return code;
}

/* A GlobalMetadata has texts and messages only, so a Node is not taken for one. */
static enum fc_code check_metadata(struct fc_chakra *c, struct wire *w)
{
    struct field f;
    bool good = true;
    while (good && next_field(w, &f)) good = (f.number == 1 || f.number == 2) && f.type == BYTES;
    return good && w->at ? FC_OK : fc_chakra_fail(c, 0, "the first message is no Chakra metadata");
}

static enum fc_code read_messages(struct fc_chakra *c, struct fc_stream *s)
{
    for (uint64_t record = 0;; record++) {
        size_t there;
        uint64_t length;
        if (fc_stream_need(s, 10, &there, c->st)) return c->st->code;
        if (there == 0 && record == 0) return fc_chakra_fail(c, 0, "the file is empty");
        if (there == 0) return FC_OK;
        struct wire w = {s->next, s->next + there};
        if (!varint(&w, &length)) return fc_chakra_fail(c, record, "the length of the record is damaged or cut");
        fc_stream_skip(s, (size_t)(w.at - s->next));
        if (length > (1 << 30))
            return fc_chakra_fail(c, record, "%" PRIu64 " bytes in one record (at most 1 GiB)", length);
        if (fc_stream_need(s, length, &there, c->st)) return c->st->code;
        if (there < length)
            return fc_chakra_fail(c, record, "the file ends after %zu of the record's %" PRIu64 " bytes", there,
                                  length);
        w = (struct wire){s->next, s->next + length};
        if (record ? read_node(c, &w) : check_metadata(c, &w)) return c->st->code;
        fc_stream_skip(s, length);
    }
}

enum fc_code fc_chakra_read_protobuf(struct fc_chakra *c)
{
    FC_SCOPED(fc_stream_close) struct fc_stream s = {0};
    enum fc_code code = fc_stream_open(c->file, &s, c->st);
    if (!code) code = read_messages(c, &s);
    return code;
}
