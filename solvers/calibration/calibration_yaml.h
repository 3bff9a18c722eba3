/* calibration_yaml.h - what the sections of a calibration's file share: tables of keys over libyaml's
 * document, and numbers and texts that read back as they were. Private to calibration_*.c. */
#pragma once

#include "core/yaml_file.h"
#include "solvers/calibration/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A key of the file: as of core.h, and whether null is a value. */
struct field {
    struct fc_key key;
    bool may_be_null;
};

struct reader {
    struct fc_yaml yaml;
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

/* Whether the node is a mapping with plain keys, each once. */
static inline enum fc_code check_mapping(struct reader *r, const yaml_node_t *node, const char *what)
{
    if (node->type != YAML_MAPPING_NODE) return FC_YAML_FAIL(&r->yaml, node, "%s: expected a mapping of keys", what);
    return fc_yaml_check_keys(&r->yaml, node, what);
}

static inline bool is_null(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           !strcmp(fc_yaml_text(node), "null");
}

/* Exactly `n` numbers, each at least `low`; null is NaN where allowed. */
static inline enum fc_code read_list(struct reader *r, const yaml_node_t *node, const char *name, bool may_be_null,
                                     double low, int n, double *out)
{
    long count = fc_yaml_count(node);
    if (count != n) return FC_YAML_FAIL(&r->yaml, node, "%s: expected a list of %d numbers", name, n);
    for (int i = 0; i < n; i++) {
        yaml_node_t *item = fc_yaml_item(&r->yaml, node, i);
        struct fc_key key = {name, FC_KEY_QUANTITY, FC_NUMBER, 0, low, 1e18, NULL, NULL, ""};
        if (item->type != YAML_SCALAR_NODE)
            return FC_YAML_FAIL(&r->yaml, item, "%s: expected a list of %d numbers", name, n);
        if (may_be_null && is_null(item))
            out[i] = NAN;
        else if (fc_key_set(&key, &out[i], fc_yaml_text(item), 0, NULL, fc_yaml_place(&r->yaml, item), r->st))
            return r->st->code;
    }
    return FC_OK;
}

static inline enum fc_code read_field(struct reader *r, const struct field *field, void *settings,
                                      const yaml_node_t *value)
{
    const struct fc_key *key = &field->key;
    if (!fc_yaml_is_plain(value)) return FC_YAML_FAIL(&r->yaml, value, "%s: expected one value", key->name);
    if (field->may_be_null && is_null(value)) {
        memcpy((char *)settings + key->offset, &(double){NAN}, sizeof(double));
        return FC_OK;
    }
    return fc_key_set(key, settings, fc_yaml_text(value), 0, &r->c->arena, fc_yaml_place(&r->yaml, value), r->st);
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
        yaml_node_t *name = fc_yaml_node(&r->yaml, p->key);
        if (!fc_key_find(known, n_fields + n_others, fc_yaml_text(name)))
            return fc_key_unknown(known, n_fields + n_others, fc_yaml_text(name), fc_yaml_place(&r->yaml, name), r->st);
    }
    for (size_t i = 0; i < n_fields + n_others; i++) {
        const yaml_node_t *value = fc_yaml_value(&r->yaml, node, known[i].name);
        if (!value) return FC_YAML_FAIL(&r->yaml, node, "%s: %s is missing", what, known[i].name);
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
