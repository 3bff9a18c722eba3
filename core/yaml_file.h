/* yaml_file.h - a YAML document of which every refusal names file and line (yaml_file.c). */
#pragma once

#include "core/core.h"

#include <string.h>
#include <yaml.h>

struct fc_yaml {
    yaml_document_t document;
    const char *file; /* borrowed: for messages */
    struct fc_status *st;
};

/* Reads the document of a text. FC_INPUT: it is not YAML ("FILE:LINE: not YAML: ..."), or there is a second document, of
 * which `second` tells what was expected; NULL: what follows the first is not looked at. fc_yaml_free only after FC_OK. */
enum fc_code fc_yaml_read(struct fc_yaml *yaml, const struct fc_text *text, const char *file, const char *second,
                          struct fc_status *st);
void fc_yaml_free(struct fc_yaml *yaml);

/* FC_INPUT where a key of the mapping is no plain word ("WHAT: a key must be ...", `what` may be "") or is given twice. */
enum fc_code fc_yaml_check_keys(struct fc_yaml *yaml, const yaml_node_t *mapping, const char *what);
/* The pair of the mapping with the key name[0 .. length - 1]; NULL: there is none. */
yaml_node_pair_t *fc_yaml_pair(yaml_document_t *document, const yaml_node_t *mapping, const char *name, size_t length);

static inline yaml_node_t *fc_yaml_node(struct fc_yaml *yaml, int index)
{
    return yaml_document_get_node(&yaml->document, index);
}
/* Nodes of a sequence, -1: it is none; and the i-th. */
static inline long fc_yaml_count(const yaml_node_t *node)
{
    return node->type == YAML_SEQUENCE_NODE ? node->data.sequence.items.top - node->data.sequence.items.start : -1;
}
static inline yaml_node_t *fc_yaml_item(struct fc_yaml *yaml, const yaml_node_t *list, size_t i)
{
    return fc_yaml_node(yaml, list->data.sequence.items.start[i]);
}
/* The value of a key; NULL: the mapping does not give it, or is NULL. */
static inline yaml_node_t *fc_yaml_value(struct fc_yaml *yaml, const yaml_node_t *mapping, const char *name)
{
    const yaml_node_pair_t *pair = mapping ? fc_yaml_pair(&yaml->document, mapping, name, strlen(name)) : NULL;
    return pair ? fc_yaml_node(yaml, pair->value) : NULL;
}
static inline struct fc_place fc_yaml_place(const struct fc_yaml *yaml, const yaml_node_t *node)
{
    return (struct fc_place){yaml->file, (long)node->start_mark.line + 1};
}
/* fc_fail of FC_INPUT at the node. */
#define FC_YAML_FAIL(yaml, node, ...) fc_fail((yaml)->st, FC_INPUT, fc_yaml_place(yaml, node), __VA_ARGS__)
/* Of a scalar. */
static inline const char *fc_yaml_text(const yaml_node_t *node)
{
    return (const char *)node->data.scalar.value;
}
/* Whether the node is a scalar without a zero byte. */
static inline bool fc_yaml_is_plain(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE && strlen(fc_yaml_text(node)) == node->data.scalar.length;
}
