/* hostlist.c - host list expressions (Slurm, scontrol(1) "show hostnames") and files of hosts.
 *
 *     list     = name {"," name}          name = {text | "[" ranges "]"} ["*" times]
 *     ranges   = range {"," range}        range = digits ["-" digits]
 *
 * Limits: no steps ("[0-8:2]"), no brackets inside brackets, no base-36 coordinates of old Blue Gene systems.
 */
#include "core/hostlist.h"
#include "core/values.h"

#include <string.h>

struct walk {
    const char *element; /* for messages */
    size_t length;
    fc_host_visit *visit;
    void *context;
    struct fc_place where;
    struct fc_status *st;
    uint32_t times;
    char name[FC_MOST_HOST_NAME + 1];
};

static enum fc_code wrong(const struct walk *w, const char *expected)
{
    return fc_fail(w->st, FC_INPUT, w->where, "host list: '%.*s' (expected %s)", (int)(w->length < 80 ? w->length : 80),
                   w->element, expected);
}

/* A number of at most 9 digits: how many it has, 0 when there is none. */
static size_t scan_number(const char *text, const char *end, uint32_t *value)
{
    size_t n = 0;
    for (*value = 0; text + n < end && fc_is_digit(text[n]); n++) {
        if (n == 9) return 0;
        *value = *value * 10 + (uint32_t)(text[n] - '0');
    }
    return n;
}

static enum fc_code expand(struct walk *w, size_t used, const char *at, const char *end);

/* "[01-16,20]rest" at `at`: every number, then the rest. */
static enum fc_code expand_bracket(struct walk *w, size_t used, const char *at, const char *end)
{
    const char *close = memchr(at, ']', (size_t)(end - at));
    if (!close) return wrong(w, "a ] behind the [");
    while (at < close) {
        uint32_t first, last;
        size_t width = scan_number(++at, close, &first), n;
        bool good = width > 0;
        at += width;
        last = first;
        if (good && at < close && *at == '-') {
            n = scan_number(++at, close, &last);
            good = n > 0;
            at += n;
        }
        if (!good || last < first || (at < close && *at != ',')) return wrong(w, "rising ranges such as [0-3,7]");
        for (uint32_t v = first; v <= last; v++) {
            size_t room = sizeof w->name - used;
            int digits = snprintf(w->name + used, room, "%0*u", (int)width, v);
            if ((size_t)digits >= room) return wrong(w, "names of at most 255 bytes");
            if (expand(w, used + (size_t)digits, close + 1, end)) return w->st->code;
        }
    }
    return FC_OK;
}

/* Extends name[0 .. used) by the rest of one element. */
static enum fc_code expand(struct walk *w, size_t used, const char *at, const char *end)
{
    for (; at < end && *at != '['; at++) {
        if (*at == ']') return wrong(w, "a [ before the ]");
        if (used == FC_MOST_HOST_NAME) return wrong(w, "names of at most 255 bytes");
        w->name[used++] = *at;
    }
    if (at < end) return expand_bracket(w, used, at, end);
    if (used == 0) return wrong(w, "a name");
    w->name[used] = '\0';
    if (w->visit(w->context, w->name, used, w->times, w->where, w->st)) return w->st->code;
    return FC_OK;
}

/* Numbers of the ranges between `at` and `close`. */
static uint64_t count_numbers(const char *at, const char *close)
{
    uint64_t sum = 0;
    while (at < close) {
        uint32_t first, last = 0;
        size_t n = scan_number(at, close, &first);
        at += n;
        if (n > 0 && at < close && *at == '-') n = scan_number(at + 1, close, &last);
        sum += n > 0 && last > first ? (uint64_t)last - first + 1 : 1;
        while (at < close && *at++ != ',') {
        }
    }
    return sum;
}

static uint64_t count_names(const char *at, const char *end)
{
    uint64_t names = 1;
    while (names < UINT32_MAX && at < end && (at = memchr(at, '[', (size_t)(end - at)))) {
        const char *close = memchr(at, ']', (size_t)(end - at));
        if (!close) break;
        names *= count_numbers(at + 1, close);
        at = close + 1;
    }
    return names < UINT32_MAX ? names : UINT32_MAX;
}

size_t fc_host_element(const char *text, size_t length)
{
    size_t n = 0;
    for (int depth = 0; n < length && (text[n] != ',' || depth > 0); n++) {
        if (text[n] == '[' || text[n] == '(') depth++;
        if ((text[n] == ']' || text[n] == ')') && depth > 0) depth--;
    }
    return n;
}

uint64_t fc_host_list_count(const char *text, size_t length)
{
    uint64_t names = 0;
    for (size_t at = 0; at < length && names < UINT32_MAX; at++) {
        size_t n = fc_host_element(text + at, length - at);
        names += count_names(text + at, text + at + n);
        at += n;
    }
    return names < UINT32_MAX ? names : UINT32_MAX;
}

static enum fc_code walk_element(struct walk *w)
{
    const char *end = w->element + w->length, *star = memchr(w->element, '*', w->length);
    if (w->length == 0)
        return fc_fail(w->st, FC_INPUT, w->where, "host list: an empty name (expected names between commas)");
    for (const char *c = w->element; c < end; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f) return wrong(w, "no blank inside a name");
    w->times = 1;
    if (star && (scan_number(star + 1, end, &w->times) != (size_t)(end - star - 1) || w->times == 0))
        return wrong(w, "a count behind the *");
    return expand(w, 0, w->element, star ? star : end);
}

enum fc_code fc_host_list_walk(const char *text, size_t length, fc_host_visit *visit, void *context,
                               struct fc_place where, struct fc_status *st)
{
    struct walk w = {.visit = visit, .context = context, .where = where, .st = st};
    if (fc_host_list_count(text, length) > FC_MOST_HOSTS)
        return fc_fail(st, FC_INPUT, where, "host list: '%.*s' stands for more than %u hosts",
                       (int)(length < 80 ? length : 80), text, FC_MOST_HOSTS);
    for (size_t at = 0;; at++) {
        w.element = text + at;
        w.length = fc_host_element(text + at, length - at);
        at += w.length;
        if (walk_element(&w)) return st->code;
        if (at == length) return FC_OK;
    }
}

/* ---- as users give them ---- */

/* The elements of one list. On the command line blanks may stand around the commas. */
static enum fc_code visit_elements(const char *text, size_t length, bool in_file, fc_element_visit *visit,
                                   void *context, struct fc_place where, struct fc_status *st)
{
    for (size_t at = 0;; at++) {
        size_t n = fc_host_element(text + at, length - at);
        const char *element = text + at;
        at += n;
        while (n > 0 && *element == ' ') element++, n--;
        while (n > 0 && element[n - 1] == ' ') n--;
        if (n == 0)
            return fc_fail(st, FC_INPUT, where, "an empty name in the list '%.*s'", (int)(length < 80 ? length : 80),
                           text);
        if (visit(context, element, n, in_file, where, st)) return st->code;
        if (at == length) return FC_OK;
    }
}

/* A line of a file without its comment. */
static const char *end_of_words(const struct fc_lines *lines)
{
    const char *comment = memchr(lines->text, '#', lines->length);
    return comment ? comment : lines->text + lines->length;
}

static enum fc_code walk_file(const char *path, long line, fc_element_visit *visit, void *context, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_text text;
    struct fc_lines lines;
    bool any = false;
    if (fc_read_file(path, &arena, &text, st)) return st->code;
    for (fc_lines_start(&lines, &text); !st->code && fc_lines_next(&lines);) {
        const char *at = lines.text, *word, *end = end_of_words(&lines);
        size_t length;
        while ((line == 0 || line == lines.line) && !st->code && fc_next_word(&at, end, &word, &length)) {
            any = true;
            visit_elements(word, length, true, visit, context, fc_lines_place(&lines), st);
        }
    }
    if (!st->code && !any)
        fc_fail(st, FC_INPUT, (struct fc_place){text.file, line}, "no host in the %s", line ? "line" : "file");
    return st->code;
}

bool fc_host_text_is_file(const char *text)
{
    return *text == '@' || strchr(text, '/');
}

enum fc_code fc_host_text_walk(const char *text, long line, fc_element_visit *visit, void *context,
                               struct fc_status *st)
{
    if (fc_host_text_is_file(text)) return walk_file(text + (*text == '@'), line, visit, context, st);
    return visit_elements(text, strlen(text), false, visit, context, (struct fc_place){0}, st);
}

/* ---- candidate lists in a file ---- */

/* "cn7" and "cn7*2", but not "cn[0-3]", "a,b", "0-31", "(0-3,0,1)". */
static bool is_one_name(const char *word, size_t length)
{
    bool box = *word == '(', number = true;
    for (size_t i = 0; i < length; i++) {
        char c = word[i];
        if (c == '[' || (c == ',' && !box) || (c == '-' && box)) return false;
        if (c == ')') box = false;
        number = number && (fc_is_digit(c) || c == '-');
    }
    return !number || !memchr(word, '-', length);
}

enum fc_code fc_host_file_lists(const char *path, struct fc_arena *arena, struct fc_host_line **list, size_t *n,
                                struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_text text;
    struct fc_lines lines;
    bool one_a_line = true;
    *n = 0;
    *list = NULL;
    size_t n_lines = 1;
    if (!fc_read_file(path, &scratch, &text, st)) {
        for (size_t i = 0; i < text.size; i++) n_lines += text.data[i] == '\n';
        *list = fc_alloc(arena, n_lines, sizeof **list, st);
        fc_lines_start(&lines, &text);
    }
    while (!st->code && fc_lines_next(&lines)) {
        const char *at = lines.text, *word, *end = end_of_words(&lines);
        size_t length, used = 0, n_words = 0;
        char *words = fc_alloc(arena, (size_t)(end - at) + 2, 1, st);
        while (words && fc_next_word(&at, end, &word, &length)) {
            if (n_words++) words[used++] = ',';
            memcpy(words + used, word, length);
            used += length;
            one_a_line = one_a_line && n_words == 1 && is_one_name(word, length);
        }
        if (n_words) (*list)[(*n)++] = (struct fc_host_line){lines.line, words};
    }
    if (!st->code && (one_a_line || *n < 2)) *n = 0;
    return st->code;
}
