/* yaml_file.c - YAML documents by libyaml, with the line of every fault. */
#include "core/yaml_file.h"

/* Bad bytes have an offset, everything else a line, which for an unfinished last line can be the one behind it. */
static long problem_line(const yaml_parser_t *parser, const struct fc_text *text)
{
    bool bytes = parser->error == YAML_READER_ERROR;
    size_t end = bytes && parser->problem_offset < text->size ? parser->problem_offset : text->size;
    long line = 1, problem = (long)parser->problem_mark.line + 1;
    for (size_t i = 0; i < end; i++) line += text->data[i] == '\n';
    return !bytes && problem < line ? problem : line;
}

enum fc_code fc_yaml_read(struct fc_yaml *yaml, const struct fc_text *text, const char *file, const char *second,
                          struct fc_status *st)
{
    yaml_parser_t parser;
    *yaml = (struct fc_yaml){.file = file, .st = st};
    if (!yaml_parser_initialize(&parser)) return fc_out_of_memory(st, "reading %s", text->file);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text->data, text->size);
    yaml_document_t more;
    bool good = yaml_parser_load(&parser, &yaml->document), loaded = good;
    if (loaded && second && yaml_document_get_root_node(&yaml->document) && (good = yaml_parser_load(&parser, &more))) {
        const yaml_node_t *root = yaml_document_get_root_node(&more);
        if (root) fc_fail(st, FC_INPUT, fc_yaml_place(yaml, root), "a second document%s", second);
        yaml_document_delete(&more);
    }
    if (!good && (parser.error == YAML_MEMORY_ERROR || !parser.problem)) {
        fc_out_of_memory(st, "reading %s", text->file);
    } else if (!good) {
        fc_fail(st, FC_INPUT, (struct fc_place){file, problem_line(&parser, text)}, "not YAML: %s", parser.problem);
    }
    if (loaded && st->code) yaml_document_delete(&yaml->document);
    yaml_parser_delete(&parser);
    return st->code;
}

void fc_yaml_free(struct fc_yaml *yaml)
{
    yaml_document_delete(&yaml->document);
}

enum fc_code fc_yaml_check_keys(struct fc_yaml *yaml, const yaml_node_t *mapping, const char *what)
{
    yaml_node_pair_t *start = mapping->data.mapping.pairs.start, *top = mapping->data.mapping.pairs.top;
    for (yaml_node_pair_t *p = start; p < top; p++) {
        const yaml_node_t *key = fc_yaml_node(yaml, p->key);
        if (!fc_yaml_is_plain(key))
            return FC_YAML_FAIL(yaml, key, "%s%sa key must be a plain word", what, *what ? ": " : "");
        for (yaml_node_pair_t *q = start; q < p; q++)
            if (!strcmp(fc_yaml_text(fc_yaml_node(yaml, q->key)), fc_yaml_text(key)))
                return FC_YAML_FAIL(yaml, key, "%s: given twice", fc_yaml_text(key));
    }
    return FC_OK;
}

yaml_node_pair_t *fc_yaml_pair(yaml_document_t *document, const yaml_node_t *mapping, const char *name, size_t length)
{
    for (yaml_node_pair_t *p = mapping->data.mapping.pairs.start; p < mapping->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = yaml_document_get_node(document, p->key);
        if (key->type == YAML_SCALAR_NODE && key->data.scalar.length == length &&
            !memcmp(key->data.scalar.value, name, length))
            return p;
    }
    return NULL;
}
