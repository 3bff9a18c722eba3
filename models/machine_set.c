/* machine_set.c - `--set links.torus.bandwidth=350MB/s`: a machine file with one key changed.
 *
 * The change is made in the YAML document before it is decoded, so that the same tables check it; its nodes have
 * lines that no file has, by which a refusal finds the setting (machine.c). Limits: whole values only, no item of a
 * list; a key is not taken away. */
#include "core/yaml_file.h"
#include "models/machine_set.h"

enum { MOST_DEPTH = 8 };

static void mark(yaml_document_t *document, int node, size_t number)
{
    yaml_node_t *n = yaml_document_get_node(document, node);
    n->start_mark.line = n->end_mark.line = (size_t)FC_LINE_OF_SET + number;
}

static int add_scalar(yaml_document_t *document, const char *text, size_t length, yaml_scalar_style_t style,
                      size_t number)
{
    int node = yaml_document_add_scalar(document, NULL, (const yaml_char_t *)text, (int)length, style);
    if (node) mark(document, node, number);
    return node;
}

/* A copy of a node of another document; 0: no memory, or too deep. */
static int copy_node(yaml_document_t *to, yaml_document_t *from, int index, size_t number, int depth)
{
    yaml_node_t *node = yaml_document_get_node(from, index);
    if (depth > MOST_DEPTH || !node) return 0;
    if (node->type == YAML_SCALAR_NODE)
        return add_scalar(to, (const char *)node->data.scalar.value, node->data.scalar.length, node->data.scalar.style,
                          number);
    bool list = node->type == YAML_SEQUENCE_NODE;
    int copy = list ? yaml_document_add_sequence(to, NULL, YAML_FLOW_SEQUENCE_STYLE)
                    : yaml_document_add_mapping(to, NULL, YAML_FLOW_MAPPING_STYLE);
    if (!copy) return 0;
    mark(to, copy, number);
    if (list) {
        for (yaml_node_item_t *i = node->data.sequence.items.start; i < node->data.sequence.items.top; i++) {
            int item = copy_node(to, from, *i, number, depth + 1);
            if (!item || !yaml_document_append_sequence_item(to, copy, item)) return 0;
        }
        return copy;
    }
    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; p++) {
        int key = copy_node(to, from, p->key, number, depth + 1),
            value = copy_node(to, from, p->value, number, depth + 1);
        if (!key || !value || !yaml_document_append_mapping_pair(to, copy, key, value)) return 0;
    }
    return copy;
}

static yaml_node_pair_t *find(yaml_document_t *document, int mapping, const char *name, size_t length)
{
    return fc_yaml_pair(document, yaml_document_get_node(document, mapping), name, length);
}

static bool add_pair(yaml_document_t *document, int mapping, const char *name, size_t length, int value, size_t number)
{
    int key = add_scalar(document, name, length, YAML_PLAIN_SCALAR_STYLE, number);
    return key && value && yaml_document_append_mapping_pair(document, mapping, key, value);
}

/* The mapping under a name, made where it is not there. 0 with the status filled. */
static int enter(yaml_document_t *document, int mapping, const char *name, size_t length, const char *setting,
                 size_t number, struct fc_status *st)
{
    const yaml_node_pair_t *pair = find(document, mapping, name, length);
    if (pair) {
        yaml_node_type_t type = yaml_document_get_node(document, pair->value)->type;
        if (type == YAML_MAPPING_NODE) return pair->value;
        fc_refuse(st, FC_INPUT, "--set %s: %.*s is not a section%s", setting, (int)length, name,
                  type == YAML_SEQUENCE_NODE ? " but a list (change its entries in the file)" : "");
        return 0;
    }
    int made = yaml_document_add_mapping(document, NULL, YAML_FLOW_MAPPING_STYLE);
    if (made) mark(document, made, number);
    if (made && add_pair(document, mapping, name, length, made, number)) return made;
    fc_out_of_memory(st, "--set %s", setting);
    return 0;
}

static enum fc_code set_value(yaml_document_t *document, int mapping, const char *key, size_t length,
                              yaml_document_t *given, const char *setting, size_t number, struct fc_status *st)
{
    int value = copy_node(document, given, 1, number, 0);
    yaml_node_pair_t *pair = find(document, mapping, key, length);
    if (value && pair) {
        pair->value = value;
        return FC_OK;
    }
    if (value && add_pair(document, mapping, key, length, value, number)) return FC_OK;
    return fc_refuse(st, FC_NO, "--set %s: too deep, or out of memory", setting);
}

enum fc_code fc_machine_set(yaml_document_t *document, const char *setting, size_t number, struct fc_status *st)
{
    const char *equals = strchr(setting, '='), *at = setting;
    if (!equals || equals == setting || !equals[1])
        return fc_refuse(st, FC_INPUT, "--set %s: no KEY=VALUE (expected e.g. links.torus.bandwidth=350MB/s)", setting);
    int mapping = 1; /* the root */
    for (const char *dot; (dot = memchr(at, '.', (size_t)(equals - at))); at = dot + 1) {
        /* a class may be named after a rate: links.12.5 GB/s.latency */
        if (at == setting + 6 && !strncmp(setting, "links.", 6) && !find(document, mapping, at, (size_t)(dot - at)))
            dot = memrchr(at, '.', (size_t)(equals - at));
        mapping = enter(document, mapping, at, (size_t)(dot - at), setting, number, st);
        if (!mapping) return st->code;
    }
    yaml_parser_t parser;
    yaml_document_t given;
    if (!yaml_parser_initialize(&parser)) return fc_out_of_memory(st, "reading --set %s", setting);
    yaml_parser_set_input_string(&parser, (const unsigned char *)equals + 1, strlen(equals + 1));
    if (!yaml_parser_load(&parser, &given)) {
        if (parser.error == YAML_MEMORY_ERROR || !parser.problem)
            fc_out_of_memory(st, "reading --set %s", setting);
        else
            fc_refuse(st, FC_INPUT, "--set %s: the value is not YAML: %s", setting, parser.problem);
    } else {
        if (!yaml_document_get_root_node(&given))
            fc_refuse(st, FC_INPUT, "--set %s: no value", setting);
        else
            set_value(document, mapping, at, (size_t)(equals - at), &given, setting, number, st);
        yaml_document_delete(&given);
    }
    yaml_parser_delete(&parser);
    return st->code;
}
