/* calibration_yaml.h - what the sections of a calibration's file share: tables of keys over libyaml's
 * document, and numbers and texts that read back as they were. Private to calibration_*.c. */
#ifndef FC_CALIBRATION_YAML_H
#define FC_CALIBRATION_YAML_H

#include "solvers/calibration/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* A key of the file: as of core.h, and whether null is a value. */
struct field {
    struct fc_key key;
    bool may_be_null;
};

struct reader {
    yaml_document_t document;
    struct fc_calibration *c;
    struct fc_status *st;
};

#define TEXT(name, type, member)                                                                                       \
    {                                                                                                                  \
        {name, FC_KEY_TEXT, FC_NUMBER, offsetof(type, member), 0, 0, NULL, NULL, ""}, false                            \
    }
#define INT(name, type, member, low, high)                                                                             \
    {                                                                                                                  \
        {name, FC_KEY_INT, FC_NUMBER, offsetof(type, member), low, high, NULL, NULL, ""}, false                        \
    }
#define REAL(name, type, member, low, high)                                                                            \
    {                                                                                                                  \
        {name, FC_KEY_QUANTITY, FC_NUMBER, offsetof(type, member), low, high, NULL, NULL, ""}, false                   \
    }
#define PERCENT(name, type, member)                                                                                    \
    {                                                                                                                  \
        {name, FC_KEY_QUANTITY, FC_NUMBER, offsetof(type, member), 0, INFINITY, NULL, NULL, ""}, true                  \
    }
#define BOOL(name, type, member)                                                                                       \
    {                                                                                                                  \
        {name, FC_KEY_BOOL, FC_NUMBER, offsetof(type, member), 0, 0, NULL, NULL, ""}, false                            \
    }
#define LIST(name, type, member)                                                                                       \
    {                                                                                                                  \
        {name, FC_KEY_QUANTITIES, FC_NUMBER, offsetof(type, member), 0, 1e18, NULL, NULL, ""}, false                   \
    }

/* ---- the document ---- */

static inline const char *text_of(const yaml_node_t *node)
{
    return (const char *)node->data.scalar.value;
}
static inline struct fc_place place_of(const struct reader *r, const yaml_node_t *node)
{
    return (struct fc_place){r->c->file, (long)node->start_mark.line + 1};
}

static inline void not_yaml(struct reader *r, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR || !parser->problem)
        fc_out_of_memory(r->st, "reading %s", r->c->file);
    else
        fc_fail(r->st, FC_INPUT, (struct fc_place){r->c->file, (long)parser->problem_mark.line + 1}, "not YAML: %s",
                parser->problem);
}

/* Nothing comes behind the document: a second one would be ignored. */
static inline bool check_end(struct reader *r, yaml_parser_t *parser)
{
    yaml_document_t more;
    if (!yaml_parser_load(parser, &more)) {
        not_yaml(r, parser);
        return false;
    }
    const yaml_node_t *root = yaml_document_get_root_node(&more);
    if (root) fc_fail(r->st, FC_INPUT, place_of(r, root), "a second document: a calibration is one");
    bool end = !root;
    yaml_document_delete(&more);
    return end;
}

static inline bool parse(struct reader *r, const struct fc_text *text)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        fc_out_of_memory(r->st, "reading %s", text->file);
        return false;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text->data, text->size);
    bool loaded = yaml_parser_load(&parser, &r->document);
    if (!loaded) not_yaml(r, &parser);
    if (loaded && !check_end(r, &parser)) {
        yaml_document_delete(&r->document);
        loaded = false;
    }
    yaml_parser_delete(&parser);
    return loaded;
}

static inline yaml_node_t *node_of(struct reader *r, int index)
{
    return yaml_document_get_node(&r->document, index);
}

/* Whether the node is a mapping with plain keys, each once. */
static inline enum fc_code check_mapping(struct reader *r, const yaml_node_t *node, const char *what)
{
    if (node->type != YAML_MAPPING_NODE)
        return fc_fail(r->st, FC_INPUT, place_of(r, node), "%s: expected a mapping of keys", what);
    yaml_node_pair_t *start = node->data.mapping.pairs.start, *top = node->data.mapping.pairs.top;
    for (yaml_node_pair_t *p = start; p < top; p++) {
        yaml_node_t *key = node_of(r, p->key);
        if (key->type != YAML_SCALAR_NODE || strlen(text_of(key)) != key->data.scalar.length)
            return fc_fail(r->st, FC_INPUT, place_of(r, key), "%s: a key must be a plain word", what);
        for (yaml_node_pair_t *q = start; q < p; q++)
            if (!strcmp(text_of(node_of(r, q->key)), text_of(key)))
                return fc_fail(r->st, FC_INPUT, place_of(r, key), "%s: given twice", text_of(key));
    }
    return FC_OK;
}

static inline yaml_node_t *value_of(struct reader *r, const yaml_node_t *mapping, const char *name)
{
    for (yaml_node_pair_t *p = mapping->data.mapping.pairs.start; p < mapping->data.mapping.pairs.top; p++)
        if (!strcmp(text_of(node_of(r, p->key)), name)) return node_of(r, p->value);
    return NULL;
}

static inline bool is_null(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           !strcmp(text_of(node), "null");
}

/* Exactly `n` numbers, each at least `low`; null is NaN where allowed. */
static inline enum fc_code read_list(struct reader *r, const yaml_node_t *node, const char *name, bool may_be_null,
                                     double low, int n, double *out)
{
    long count =
        node->type == YAML_SEQUENCE_NODE ? (long)(node->data.sequence.items.top - node->data.sequence.items.start) : -1;
    if (count != n) return fc_fail(r->st, FC_INPUT, place_of(r, node), "%s: expected a list of %d numbers", name, n);
    for (int i = 0; i < n; i++) {
        yaml_node_t *item = node_of(r, node->data.sequence.items.start[i]);
        struct fc_key key = {name, FC_KEY_QUANTITY, FC_NUMBER, 0, low, 1e18, NULL, NULL, ""};
        if (item->type != YAML_SCALAR_NODE)
            return fc_fail(r->st, FC_INPUT, place_of(r, item), "%s: expected a list of %d numbers", name, n);
        if (may_be_null && is_null(item))
            out[i] = NAN;
        else if (fc_key_set(&key, &out[i], text_of(item), 0, NULL, place_of(r, item), r->st))
            return r->st->code;
    }
    return FC_OK;
}

static inline enum fc_code read_field(struct reader *r, const struct field *field, void *settings,
                                      const yaml_node_t *value)
{
    const struct fc_key *key = &field->key;
    if (value->type != YAML_SCALAR_NODE || strlen(text_of(value)) != value->data.scalar.length)
        return fc_fail(r->st, FC_INPUT, place_of(r, value), "%s: expected one value", key->name);
    if (field->may_be_null && is_null(value)) {
        memcpy((char *)settings + key->offset, &(double){NAN}, sizeof(double));
        return FC_OK;
    }
    return fc_key_set(key, settings, text_of(value), 0, &r->c->arena, place_of(r, value), r->st);
}

/* Fills `settings` from a mapping with exactly the keys of the table and the `others`, which the caller
 * reads. */
static inline enum fc_code decode(struct reader *r, const yaml_node_t *node, const char *what,
                                  const struct field *fields, size_t n_fields, const char *const *others,
                                  size_t n_others, void *settings)
{
    struct fc_key known[32] = {0};
    if (check_mapping(r, node, what)) return r->st->code;
    for (size_t i = 0; i < n_fields; i++) known[i] = fields[i].key;
    for (size_t i = 0; i < n_others; i++) known[n_fields + i].name = others[i];
    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; p++) {
        yaml_node_t *name = node_of(r, p->key);
        if (!fc_key_find(known, n_fields + n_others, text_of(name)))
            return fc_key_unknown(known, n_fields + n_others, text_of(name), place_of(r, name), r->st);
    }
    for (size_t i = 0; i < n_fields + n_others; i++) {
        const yaml_node_t *value = value_of(r, node, known[i].name);
        if (!value) return fc_fail(r->st, FC_INPUT, place_of(r, node), "%s: %s is missing", what, known[i].name);
        if (i < n_fields && read_field(r, &fields[i], settings, value)) return r->st->code;
    }
    return FC_OK;
}

/* ---- writing ---- */

static inline void put_number(FILE *f, double value)
{
    char text[40];
    if (isnan(value)) {
        fputs("null", f);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, f);
}

static inline void put_key(FILE *f, const char *key, double value)
{
    fprintf(f, "%s: ", key);
    put_number(f, value);
}

/* Double-quoted; what comes from a command line may hold anything printable. */
static inline void put_text(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            fprintf(f, "\\x%02x", c);
        else
            fputc(c, f);
    }
    fputc('"', f);
}

static inline void put_list(FILE *f, const char *key, const double *value, int n)
{
    fprintf(f, "%s: [", key);
    for (int i = 0; i < n; i++) {
        fputs(i ? ", " : "", f);
        put_number(f, value[i]);
    }
    fputc(']', f);
}

#endif
