/* page_names.c - names of a panel's links as a page holds them: the library writes every name, once, and the page's script puts
 * it together again from the pattern that many names share and its numbers.
 *
 *     "x+ (3,0,1)->(0,0,1)"  =  pattern "x+ (#,#,#)->(#,#,#)", numbers 3 0 1 0 0 1      (# stands for U+0001)
 *
 * Numbers lie in columns over the panel's cells; a column repeats itself, so that deflate (pack.c) leaves little of it. Limits: a
 * number that begins with 0, or has more than nine digits, is part of the pattern. */
#include "plots/page_internal.h"

#include <search.h>
#include <string.h>

enum { MOST_NAME = 700, MOST_NUMBERS = 64, HOLE = '\1' };

struct pattern {
    const char *text;
    uint32_t number; /* in the order of their first cells */
};

struct names {
    struct fc_arena *arena;
    size_t n_cells;
    void *tree; /* of patterns, by text */
    uint32_t n_patterns, *which;
    int n_columns;
    uint32_t *column[MOST_NUMBERS];   /* [n_cells] */
    struct fc_memory_stream patterns; /* a line each */
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct pattern *)a)->text, ((const struct pattern *)b)->text);
}

/* Splits a name; how many numbers it has. */
static int split(const char *name, char *pattern, uint32_t *numbers)
{
    int n = 0;
    while (*name) {
        size_t digits = strspn(name, "0123456789");
        if (digits && digits <= 9 && n < MOST_NUMBERS && (*name != '0' || digits == 1)) {
            uint32_t value = 0;
            for (size_t i = 0; i < digits; i++) value = 10 * value + (uint32_t)(name[i] - '0');
            numbers[n++] = value;
            *pattern++ = HOLE;
        } else {
            digits = digits ? digits : 1;
            memcpy(pattern, name, digits);
            pattern += digits;
        }
        name += digits;
    }
    *pattern = 0;
    return n;
}

static enum fc_code number_of(struct names *names, const char *text, uint32_t *number, struct fc_status *st)
{
    struct pattern wanted = {text, 0}, *own;
    struct pattern *const *found = tfind(&wanted, &names->tree, by_text);
    if (found) {
        *number = (*found)->number;
        return st->code;
    }
    char *copy = fc_alloc(names->arena, strlen(text) + 1, 1, st);
    own = copy ? fc_alloc(names->arena, 1, sizeof *own, st) : NULL;
    if (!own) return st->code;
    strcpy(copy, text);
    *own = (struct pattern){copy, *number = names->n_patterns++};
    if (!tsearch(own, &names->tree, by_text)) return fc_out_of_memory(st, "the page");
    fprintf(names->patterns.stream, "%s%s", own->number ? "\n" : "", text);
    return st->code;
}

static enum fc_code add(struct names *names, size_t cell, const char *name, struct fc_status *st)
{
    char pattern[4 * MOST_NAME];
    uint32_t numbers[MOST_NUMBERS];
    int n = split(name, pattern, numbers);
    if (number_of(names, pattern, &names->which[cell], st)) return st->code;
    for (; names->n_columns < n; names->n_columns++)
        if (!(names->column[names->n_columns] = fc_alloc(names->arena, names->n_cells, sizeof **names->column, st)))
            return st->code;
    for (int i = 0; i < n; i++) names->column[i][cell] = numbers[i];
    return st->code;
}

static json_t *packed(const uint32_t *v, const struct names *names, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_packed out = {0};
    return fc_pack_numbers(v, names->n_cells, arena, &out, st) ? NULL : json_stringn(out.text, out.length);
}

static json_t *to_json(struct names *names, struct fc_arena *arena, struct fc_status *st)
{
    struct fc_packed patterns = {0};
    json_t *columns = json_array();
    for (int i = 0; i < names->n_columns && !st->code; i++)
        json_array_append_new(columns, packed(names->column[i], names, arena, st));
    if (!st->code) fc_pack_text(names->patterns.text, names->patterns.size, arena, &patterns, st);
    json_t *json =
        st->code ? NULL : json_pack("{s:s%, s:O}", "patterns", patterns.text, patterns.length, "numbers", columns);
    if (json && names->n_patterns > 1) json_object_set_new(json, "which", packed(names->which, names, arena, st));
    json_decref(columns);
    return json;
}

static void keep(void *pattern)
{
    (void)pattern; /* the arena's */
}

json_t *fc_page_names(const struct fc_picture *picture, const struct fc_panel *panel, struct fc_arena *arena,
                      struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct names names = {.arena = &scratch, .n_cells = fc_panel_cells(panel)};
    char name[MOST_NAME], visible[4 * MOST_NAME];
    json_t *json = NULL;
    names.which = fc_alloc(&scratch, names.n_cells, sizeof *names.which, st);
    if (!names.which || fc_memory_open(&names.patterns, st)) return NULL;
    size_t before = 0; /* the last cell that has a link: others take its numbers, which costs nothing */
    for (size_t cell = 0; cell < names.n_cells && !st->code; cell++) {
        if (panel->cell[cell] == FC_NONE) {
            names.which[cell] = names.which[before];
            for (int i = 0; i < names.n_columns; i++) names.column[i][cell] = names.column[i][before];
            continue;
        }
        picture->link_name(picture->network, panel->cell[cell], name, sizeof name);
        add(&names, before = cell, fc_visible(visible, sizeof visible, name, ""), st);
    }
    if (!fc_memory_close(&names.patterns, st)) json = to_json(&names, arena, st);
    tdestroy(names.tree, keep);
    free(names.patterns.text);
    return json;
}
