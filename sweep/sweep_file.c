/* sweep_file.c - sweep files: read, checked, turned into command lines.
 *
 * Points are the Cartesian product of the axes, the last fastest. Limit: a million points; a value is one word of
 * the command line, so lists within a value are written as the option takes them ("[8, 8, 4]"). */
#include "core/yaml_file.h"
#include "sweep/sweep.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_POINTS = 1000000, MOST_WORDS = 256, MOST_VALUES = 100000 };

struct reader {
    struct fc_yaml yaml;
    struct fc_sweep *sweep;
    struct fc_status *st;
};

static enum fc_code refuse(struct reader *r, const yaml_node_t *node, const char *format, const char *what)
{
    struct fc_place where = {r->sweep->file, node ? (long)node->start_mark.line + 1 : 1};
    return fc_fail(r->st, FC_INPUT, where, format, what);
}

/* The scalars of a list; one scalar is a list of one. */
static enum fc_code read_list(struct reader *r, const char *key, yaml_node_t *node, const char ***list, size_t *n)
{
    size_t count = 1;
    if (node->type == YAML_SEQUENCE_NODE)
        count = (size_t)fc_yaml_count(node);
    else if (!fc_yaml_is_plain(node))
        return refuse(r, node, "%s: is neither a value nor a list of values", key);
    if (count == 0) return refuse(r, node, "%s: is empty", key);
    *list = fc_alloc(&r->sweep->arena, count, sizeof **list, r->st);
    *n = count;
    for (size_t i = 0; *list && i < count; i++) {
        yaml_node_t *item = node->type == YAML_SEQUENCE_NODE ? fc_yaml_item(&r->yaml, node, i) : node;
        if (!fc_yaml_is_plain(item))
            return refuse(r, item, "%s: a value is a list or a mapping (expected one word)", key);
        (*list)[i] = fc_copy_text(&r->sweep->arena, fc_yaml_text(item), r->st);
    }
    return r->st->code;
}

/* Splits one text at blanks. */
static enum fc_code split(struct reader *r, const char *text, const char ***words, size_t *n)
{
    const char *at = text, *end = text + strlen(text), *word;
    size_t length;
    *n = 0;
    *words = fc_alloc(&r->sweep->arena, MOST_WORDS, sizeof **words, r->st);
    while (*words && *n < MOST_WORDS && fc_next_word(&at, end, &word, &length)) {
        char *copy = fc_alloc(&r->sweep->arena, length + 1, 1, r->st);
        if (!copy) break;
        memcpy(copy, word, length);
        (*words)[(*n)++] = copy;
    }
    return r->st->code;
}

static enum fc_code read_command(struct reader *r, yaml_node_t *node)
{
    struct fc_sweep *s = r->sweep;
    if (read_list(r, "command", node, &s->command, &s->n_command)) return r->st->code;
    if (node->type == YAML_SCALAR_NODE && split(r, s->command[0], &s->command, &s->n_command)) return r->st->code;
    if (s->n_command == 0 || s->command[0][0] == '-')
        return refuse(r, node, "command: %s (expected e.g. predict -t FILE)", "names no command");
    if (s->n_command >= MOST_WORDS) return refuse(r, node, "command: %s", "too many words");
    s->command_line = (long)node->start_mark.line + 1;
    return FC_OK;
}

/* "0.1:0.9:0.2" or "20%:80%:20%" or "1 GB/s:4 GB/s:1 GB/s" as numbers of one unit. False: the text is no range. */
static bool read_range(const char *text, double range[3], char unit[16])
{
    for (int i = 0; i < 3; i++) {
        char *end;
        range[i] = strtod(text, &end);
        size_t n = strcspn(end, ":");
        if (end == text || !isfinite(range[i]) || n >= 16 || end[n] != (i < 2 ? ':' : '\0')) return false;
        if (i > 0 && (strlen(unit) != n || memcmp(unit, end, n))) return false;
        memcpy(unit, end, n);
        unit[n] = '\0';
        text = end + n + 1;
    }
    return true;
}

static enum fc_code expand(struct reader *r, const yaml_node_t *node, struct fc_sweep_axis *axis)
{
    double range[3];
    char unit[16];
    if (axis->n != 1 || !read_range(axis->value[0], range, unit)) return FC_OK;
    double steps = (range[1] - range[0]) / range[2];
    if (!(steps >= 0 && steps < MOST_VALUES))
        return refuse(r, node, "%s: no range of 1 to 100000 numbers (expected from:to:step)", axis->value[0]);
    axis->n = (size_t)floor(steps * (1 + 1e-12) + 1e-9) + 1;
    axis->value = fc_alloc(&r->sweep->arena, axis->n, sizeof *axis->value, r->st);
    for (size_t i = 0; axis->value && i < axis->n; i++) {
        char text[60];
        snprintf(text, sizeof text, "%.10g%s", range[0] + (double)i * range[2], unit);
        axis->value[i] = fc_copy_text(&r->sweep->arena, text, r->st);
    }
    return r->st->code;
}

static enum fc_code read_vary(struct reader *r, yaml_node_t *node)
{
    struct fc_sweep *s = r->sweep;
    if (node->type != YAML_MAPPING_NODE || node->data.mapping.pairs.start == node->data.mapping.pairs.top)
        return refuse(r, node, "vary: %s (expected {option: [value, ...], ...})", "varies nothing");
    s->n_axes = (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
    s->axis = fc_alloc(&s->arena, s->n_axes, sizeof *s->axis, r->st);
    s->n_points = 1;
    for (size_t i = 0; s->axis && i < s->n_axes; i++) {
        yaml_node_t *key = fc_yaml_node(&r->yaml, node->data.mapping.pairs.start[i].key);
        yaml_node_t *value = fc_yaml_node(&r->yaml, node->data.mapping.pairs.start[i].value);
        struct fc_sweep_axis *axis = &s->axis[i];
        if (!fc_yaml_is_plain(key) || !*fc_yaml_text(key) || *fc_yaml_text(key) == '-' ||
            strchr(fc_yaml_text(key), '='))
            return refuse(r, key, "vary: '%s' is no option (expected its name without --, or a machine file's key)",
                          fc_yaml_is_plain(key) ? fc_yaml_text(key) : "a list");
        axis->key = fc_copy_text(&s->arena, fc_yaml_text(key), r->st);
        axis->line = (long)key->start_mark.line + 1;
        for (size_t k = 0; axis->key && k < i; k++)
            if (!strcmp(s->axis[k].key, axis->key)) return refuse(r, key, "vary: %s is given twice", axis->key);
        if (!axis->key || read_list(r, axis->key, value, &axis->value, &axis->n) || expand(r, value, axis))
            return r->st->code;
        if (s->n_points > MOST_POINTS / axis->n) return refuse(r, key, "%s", "vary: more than 1000000 points");
        s->n_points *= axis->n;
    }
    return r->st->code;
}

static enum fc_code decode(struct reader *r)
{
    yaml_node_t *top = yaml_document_get_root_node(&r->yaml.document);
    if (!top || top->type != YAML_MAPPING_NODE)
        return refuse(r, top, "%s", "not a sweep file (expected keys command:, vary:, columns:)");
    for (yaml_node_pair_t *p = top->data.mapping.pairs.start; p < top->data.mapping.pairs.top; p++) {
        yaml_node_t *key = fc_yaml_node(&r->yaml, p->key);
        yaml_node_t *value = fc_yaml_node(&r->yaml, p->value);
        const char *name = fc_yaml_is_plain(key) ? fc_yaml_text(key) : "";
        bool command = !strcmp(name, "command"), vary = !strcmp(name, "vary"), columns = !strcmp(name, "columns");
        if (!command && !vary && !columns)
            return refuse(r, key, "unknown key '%s' (known: command, vary, columns)", name);
        if (command ? r->sweep->n_command > 0 : vary ? r->sweep->n_axes > 0 : r->sweep->n_columns > 0)
            return refuse(r, key, "%s: given twice", name);
        if (command ? read_command(r, value)
            : vary  ? read_vary(r, value)
                    : read_list(r, name, value, &r->sweep->column, &r->sweep->n_columns))
            return r->st->code;
    }
    if (!r->sweep->n_command) return refuse(r, top, "command: %s (expected e.g. predict -t FILE)", "is missing");
    if (!r->sweep->n_axes) return refuse(r, top, "vary: %s (expected {option: [value, ...], ...})", "is missing");
    if (!r->sweep->n_columns)
        return refuse(r, top, "columns: %s (expected keys of the command's JSON, e.g. [time_s])", "is missing");
    return FC_OK;
}

enum fc_code fc_sweep_read(const char *path, struct fc_sweep *sweep, struct fc_status *st)
{
    struct fc_text text;
    struct reader r = {.sweep = sweep, .st = st};
    memset(sweep, 0, sizeof *sweep);
    if (fc_read_file(path, &sweep->arena, &text, st)) return st->code;
    sweep->file = fc_copy_text(&sweep->arena, path, st);
    if (!sweep->file) return st->code;
    if (!fc_yaml_read(&r.yaml, &text, sweep->file, NULL, st)) {
        decode(&r);
        fc_yaml_free(&r.yaml);
    }
    return st->code;
}

enum fc_code fc_sweep_add_optional(struct fc_sweep *s, const char *column, struct fc_status *st)
{
    for (size_t i = 0; i < s->n_columns; i++)
        if (!strcmp(s->column[i], column)) return FC_OK;
    const char **all = fc_alloc(&s->arena, s->n_columns + 1, sizeof *all, st);
    if (!all) return st->code;
    memcpy(all, s->column, s->n_columns * sizeof *all);
    all[s->n_columns++] = column;
    s->n_optional++;
    s->column = all;
    return FC_OK;
}

FC_FREES(fc_sweep_free, fc_sweep)

/* Of the axis' values. */
static size_t index_of(const struct fc_sweep *sweep, size_t point, size_t axis)
{
    for (size_t i = sweep->n_axes; --i > axis;) point /= sweep->axis[i].n;
    return point % sweep->axis[axis].n;
}

const char *fc_sweep_value(const struct fc_sweep *sweep, size_t point, size_t axis)
{
    return sweep->axis[axis].value[index_of(sweep, point, axis)];
}

char *fc_sweep_option(const struct fc_sweep_axis *axis, size_t value, struct fc_arena *arena, struct fc_status *st)
{
    const char *text = axis->value[value];
    size_t size = strlen(axis->key) + strlen(text) + 16;
    char *word = strcmp(text, "false") ? fc_alloc(arena, size, 1, st) : NULL;
    if (!word) return NULL;
    if (strchr(axis->key, '.'))
        snprintf(word, size, "--set=%s=%s", axis->key, text);
    else if (!strcmp(text, "true"))
        snprintf(word, size, "--%s", axis->key);
    else
        snprintf(word, size, "--%s=%s", axis->key, text);
    return word;
}

enum fc_code fc_sweep_words(const struct fc_sweep *sweep, const char *program, size_t point, struct fc_arena *arena,
                            char ***words, struct fc_status *st)
{
    char **list = *words = fc_alloc(arena, sweep->n_command + sweep->n_axes + 4, sizeof *list, st);
    size_t n = 0;
    if (!list) return st->code;
    list[n++] = fc_copy_text(arena, program, st);
    for (size_t i = 0; i < sweep->n_command; i++) list[n++] = fc_copy_text(arena, sweep->command[i], st);
    for (size_t i = 0; i < sweep->n_axes; i++) {
        char *word = fc_sweep_option(&sweep->axis[i], index_of(sweep, point, i), arena, st);
        if (word) list[n++] = word;
    }
    list[n++] = fc_copy_text(arena, "--json", st);
    list[n] = fc_copy_text(arena, "-q", st);
    return st->code;
}
