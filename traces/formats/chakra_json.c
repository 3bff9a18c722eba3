/* chakra_json.c - the nodes of a Chakra trace in JSON, {"workload_graph": [{"Id", "NodeType", "ctrlDeps",
 * "data_deps", "runtime", ...}]}.
 *
 * The spelling of keys varies: they count without underscores and case. Attributes stand as keys of the node
 * or in a list `attr` of {"name", value}; whole numbers may be texts, as Protocol Buffers writes 64 bits. The
 * file is parsed in memory. */
#include "core/json.h"
#include "traces/formats/chakra.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct feed {
    struct fc_stream stream;
    struct fc_status *st;
};

static size_t read_some(void *buffer, size_t size, void *data)
{
    struct feed *feed = data;
    size_t there;
    if (fc_stream_need(&feed->stream, size < 65536 ? size : 65536, &there, feed->st)) return (size_t)-1;
    if (there > size) there = size;
    memcpy(buffer, feed->stream.next, there);
    fc_stream_skip(&feed->stream, there);
    return there;
}

json_t *fc_chakra_load_json(const char *path, struct fc_status *st)
{
    struct feed feed = {.st = st};
    json_error_t error = {.line = 0};
    json_t *json = NULL;
    if (!fc_stream_open(path, &feed.stream, st)) json = fc_json_feed(read_some, &feed, 0, &error, st);
    if (!json && !st->code) fc_fail(st, FC_INPUT, (struct fc_place){path, error.line}, "no JSON: %.200s", error.text);
    fc_stream_close(&feed.stream);
    return json;
}

static bool whole(const json_t *value, int64_t *number)
{
    char *end;
    double real = json_real_value(value);
    if (json_is_boolean(value) || json_is_integer(value)) {
        *number = json_is_integer(value) ? json_integer_value(value) : json_is_true(value);
        return true;
    }
    if (json_is_real(value) && fabs(real) < 9e15 && real == floor(real)) {
        *number = (int64_t)real;
        return true;
    }
    if (!json_is_string(value) || !*json_string_value(value)) return false;
    *number = strtoll(json_string_value(value), &end, 10);
    return !*end;
}

static enum fc_code attribute(struct fc_chakra *c, struct fc_chakra_node *node, const char *name, const json_t *value)
{
    int64_t number = 1;
    size_t length = strlen(name), i;
    const json_t *entry, *list = json_is_object(value) ? json_object_get(value, "values") : value;
    if (json_is_array(list)) { /* of booleans: whether all are true */
        json_array_foreach(list, i, entry) number = number && !json_is_false(entry);
        return fc_chakra_attribute(c, node, name, length, number, NULL, 0);
    }
    if (json_is_string(value)) {
        const char *text = json_string_value(value);
        bool is_number = whole(value, &number);
        return fc_chakra_attribute(c, node, name, length, is_number ? number : -1, text, strlen(text));
    }
    return whole(value, &number) ? fc_chakra_attribute(c, node, name, length, number, NULL, 0) : FC_OK;
}

/* {"name": "comm_size", "int64_val": "1024"}: the value is what is neither name nor description. */
static enum fc_code attributes(struct fc_chakra *c, struct fc_chakra_node *node, const json_t *list)
{
    size_t i;
    json_t *entry, *value;
    const char *key;
    json_array_foreach(list, i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        if (!name) continue;
        json_object_foreach(entry, key, value)
        {
            char plain[32];
            fc_chakra_plain(key, strlen(key), plain, sizeof plain);
            bool skip = !strcmp(plain, "name") || !strcmp(plain, "type") || !strncmp(plain, "doc", 3);
            if (!skip && attribute(c, node, name, value)) return c->st->code;
        }
    }
    return FC_OK;
}

static enum fc_code dependencies(struct fc_chakra *c, uint64_t record, const json_t *value, bool control)
{
    size_t n = json_is_array(value) ? json_array_size(value) : 1;
    for (size_t i = 0; i < n; i++) {
        int64_t id;
        if (!whole(json_is_array(value) ? json_array_get(value, i) : value, &id) || id < 0)
            return fc_chakra_fail(c, record, "a dependency is no node's number");
        if (fc_chakra_depend(c, (uint64_t)id, control)) return c->st->code;
    }
    return FC_OK;
}

static bool node_type(const json_t *value, int64_t *type)
{
    static const char *const names[] = {"INVALID",   "METADATA",  "MEM_LOAD", "MEM_STORE", "COMP",      "COMM_SEND",
                                        "COMM_RECV", "COMM_COLL", "STORAGE",  "BATCH",     "CHECKPOINT"};
    const char *text = json_string_value(value);
    for (size_t i = 0; text && i < FC_COUNT(names); i++)
        if (strncmp(text, names[i], strlen(names[i])) == 0 && strcmp(text + strlen(names[i]), "_NODE") == 0) {
            *type = (int64_t)i;
            return true;
        }
    return whole(value, type);
}

static enum fc_code read_node(struct fc_chakra *c, json_t *object)
{
    struct fc_chakra_node *node = fc_chakra_add(c);
    const char *key;
    json_t *value;
    int64_t number;
    if (!node) return c->st->code;
    if (!json_is_object(object)) return fc_chakra_fail(c, node->record, "a node is no JSON object");
    json_object_foreach(object, key, value)
    {
        char plain[32];
        enum fc_code code = FC_OK;
        fc_chakra_plain(key, strlen(key), plain, sizeof plain);
        if (!strcmp(plain, "id")) {
            if (!whole(value, &number) || number < 0)
                return fc_chakra_fail(c, node->record, "the node's Id is no number");
            node->id = (uint64_t)number;
        } else if (!strcmp(plain, "nodetype") || !strcmp(plain, "type")) {
            if (!node_type(value, &node->type)) return fc_chakra_fail(c, node->record, "the node's type is unknown");
        } else if (!strcmp(plain, "runtime") || !strcmp(plain, "durationmicros") || !strcmp(plain, "duration")) {
            double micros = json_is_number(value)   ? json_number_value(value)
                            : whole(value, &number) ? (double)number
                                                    : -1;
            if (!(micros >= 0)) return fc_chakra_fail(c, node->record, "the node's %s is no time in microseconds", key);
            node->duration_s = micros / 1e6;
        } else if (!strcmp(plain, "ctrldeps") || !strcmp(plain, "datadeps")) {
            code = dependencies(c, node->record, value, *plain == 'c');
        } else if (!strcmp(plain, "attr") || !strcmp(plain, "attrs")) {
            code = attributes(c, node, value);
        } else if (strcmp(plain, "name")) {
            code = attribute(c, node, key, value);
        }
        if (code) return code;
    }
    return FC_OK;
}

enum fc_code fc_chakra_read_json(struct fc_chakra *c)
{
    json_t *json = fc_chakra_load_json(c->file, c->st), *graph = json_object_get(json, "workload_graph"), *node;
    size_t i;
    enum fc_code code = json ? FC_OK : c->st->code;
    if (!code && !json_is_array(graph)) code = fc_chakra_fail(c, 0, "no list \"workload_graph\" of nodes");
    json_array_foreach(graph, i, node) if (!code) code = read_node(c, node);
    json_decref(json);
    return code;
}
