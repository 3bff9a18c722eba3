/* chakra_graph.c - nodes of an execution trace in the making, whichever encoding they are read from. */
#include "core/array.h"
#include "traces/formats/chakra.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum fc_code fc_chakra_fail(struct fc_chakra *c, uint64_t record, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fc_fail(c->st, FC_INPUT, (struct fc_place){c->file, 0}, "rank %" PRIu32 ", record %" PRIu64 ": %s", c->rank,
                   record, text);
}

void *fc_chakra_room(struct fc_chakra *c, void *array, size_t n, size_t *capacity, size_t size)
{
    if (n < *capacity || fc_array_grow(&array, capacity, sizeof *capacity, n + 1, size)) return array;
    fc_out_of_memory(c->st, "%zu nodes of rank %" PRIu32, n, c->rank);
    return NULL;
}

struct fc_chakra_node *fc_chakra_add(struct fc_chakra *c)
{
    struct fc_chakra_node *nodes = fc_chakra_room(c, c->nodes, c->n_nodes, &c->nodes_capacity, sizeof *nodes);
    if (!nodes) return NULL;
    c->nodes = nodes;
    struct fc_chakra_node *node = &nodes[c->n_nodes++];
    *node = (struct fc_chakra_node){.record = c->n_nodes,
                                    .comm_type = -1,
                                    .bytes = -1,
                                    .src = -1,
                                    .dst = -1,
                                    .root = -1,
                                    .group = -1,
                                    .before = c->n_before};
    return node;
}

enum fc_code fc_chakra_depend(struct fc_chakra *c, uint64_t id, bool control)
{
    struct fc_chakra_dependency *before =
        fc_chakra_room(c, c->before, c->n_before, &c->before_capacity, sizeof *before);
    if (!before) return FC_NO;
    c->before = before;
    before[c->n_before++] = (struct fc_chakra_dependency){.id = id, .node = FC_NONE, .control = control};
    c->nodes[c->n_nodes - 1].n_before++;
    return FC_OK;
}

void fc_chakra_plain(const char *name, size_t length, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < length && n + 1 < size; i++)
        if (name[i] != '_') out[n++] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
    out[n] = 0;
}

static enum fc_code find_group(struct fc_chakra *c, struct fc_chakra_node *node, const char *name, size_t length)
{
    if (length == 0) return FC_OK;
    for (size_t i = 0; i < c->n_groups; i++)
        if (strlen(c->groups[i].name) == length && memcmp(c->groups[i].name, name, length) == 0) {
            node->group = (int32_t)i;
            return FC_OK;
        }
    if (c->groups_file)
        return fc_chakra_fail(c, node->record, "process group '%.*s' is not in %s", (int)(length < 60 ? length : 60),
                              name, c->groups_file);
    return fc_sink_note(c->sink,
                        "node of a process group whose members are not told (no NAME.json beside the trace): "
                        "taken as all ranks",
                        1);
}

enum fc_code fc_chakra_attribute(struct fc_chakra *c, struct fc_chakra_node *node, const char *name, size_t length,
                                 int64_t value, const char *text, size_t text_length)
{
    static const char *const types[] = {
        "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
        "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};
    char plain[32];
    fc_chakra_plain(name, length, plain, sizeof plain);
    struct {
        const char *name;
        int64_t *to;
    } numbers[] = {{"commtype", &node->comm_type}, {"commsize", &node->bytes}, {"commsrc", &node->src},
                   {"commdst", &node->dst},        {"commtag", &node->tag},    {"root", &node->root},
                   {"rootrank", &node->root},      {"numops", &node->num_ops}};
    if (!strcmp(plain, "pgname")) {
        char number[24];
        int n = snprintf(number, sizeof number, "%" PRId64, value);
        return text ? find_group(c, node, text, text_length) : find_group(c, node, number, (size_t)n);
    }
    if (!strcmp(plain, "iscpuop")) node->on_cpu = value;
    if (!strcmp(plain, "involveddim")) node->some_dims = !value;
    if (text && !strcmp(plain, "commtype"))
        for (size_t i = 0; i < FC_COUNT(types); i++)
            if (strlen(types[i]) == text_length && memcmp(types[i], text, text_length) == 0) value = (int64_t)i;
    for (size_t i = 0; i < FC_COUNT(numbers); i++) {
        if (strcmp(plain, numbers[i].name)) continue;
        if (value < 0)
            return fc_chakra_fail(c, node->record, "%.*s of the node is negative or no number", (int)length, name);
        *numbers[i].to = value;
    }
    return FC_OK;
}
