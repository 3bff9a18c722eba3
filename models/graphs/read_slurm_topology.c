/* read_slurm_topology.c - Slurm's topology.conf (topology/tree; topology.conf(5)): one switch a line,
 *
 *     SwitchName=leaf0 Nodes=tux[0-3,7]            SwitchName=spine Switches=leaf[0-1] LinkSpeed=100
 *
 * with host list expressions, keys in any case, '#' comments, lines continued by a backslash. Every member
 * gives one cable (the file does not tell how many there are) of the class `link`. Of LinkSpeed, which Slurm ignores and gives no unit,
 * "100Gb/s" is a bandwidth and a class of its own; bare numbers count where they differ: 100 is the class `speed 100`, whose
 * bandwidth the machine file gives. A switch may stand under several (Janus' three core switches); a node under two switches
 * has two cables, which Slurm takes with a warning; no root is needed. Refused: a switch with both nodes and
 * switches, unknown members, members listed twice, a switch under itself; and block or ring topologies, which
 * describe no switches. */
#include "core/hostlist.h"
#include "core/values.h"
#include "models/family_graph.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct members {
    const char *text; /* host list expression */
    size_t length;
    uint32_t owner; /* switch */
    bool nodes;
    uint8_t link_class;
    const char *speed;
    size_t speed_length;
    long line;
};
struct slurm {
    struct fc_graph_reader *reader;
    struct fc_status *st;
    struct fc_names switches_defined;
    struct members *members; /* [n_members] read in a second pass, when all switches are known */
    size_t n_members;
    uint64_t n_listed; /* members of all lists */
    bool speeds_differ;
};

static enum fc_code fail(const struct slurm *s, long line, const char *what, const char *text, size_t length,
                         const char *expected)
{
    return fc_fail(s->st, FC_INPUT, (struct fc_place){s->reader->text.file, line}, "%s: '%.*s' (expected %s)", what,
                   (int)(length < 80 ? length : 80), text, expected);
}

/* ---- host lists ---- */

struct listing {
    struct slurm *slurm;
    const struct members *members;
};

static enum fc_code add_member(void *context, const char *name, size_t length, uint32_t times, struct fc_place where,
                               struct fc_status *st)
{
    const struct listing *listing = context;
    struct slurm *s = listing->slurm;
    const struct members *m = listing->members;
    struct fc_graph_reader *r = s->reader;
    struct fc_cable cable = {m->owner, 0, m->nodes, m->link_class, 0, 0, 0};
    if (times != 1) return fail(s, m->line, "host list", m->text, m->length, "each member once");
    if (m->nodes) {
        if (fc_graph_names_add(&r->nodes, &r->machine->arena, name, length, &cable.other, where, st)) return st->code;
    } else {
        cable.other = fc_names_find(&r->routers, name, length);
        if (cable.other == FC_NONE)
            return fail(s, m->line, "Switches", name, length, "a switch that has a SwitchName line");
        if (cable.other == m->owner) return fail(s, m->line, "Switches", name, length, "another switch than itself");
    }
    return fc_graph_add_cable(r, &cable, st);
}

static enum fc_code expand_list(struct slurm *s, const struct members *m)
{
    struct listing listing = {s, m};
    struct fc_place where = {s->reader->text.file, m->line};
    return fc_host_list_walk(m->text, m->length, add_member, &listing, where, s->st);
}

/* ---- lines ---- */

static bool key_is(const char *word, size_t length, const char *key)
{
    return length == strlen(key) && !strncasecmp(word, key, length);
}

static enum fc_code read_key(struct slurm *s, const char *word, size_t length, struct members *line)
{
    const char *equals = memchr(word, '=', length);
    size_t key = equals ? (size_t)(equals - word) : length, n = equals ? length - key - 1 : 0;
    const char *value = equals ? equals + 1 : word + length;
    if (!equals || n == 0) return fail(s, line->line, "a word", word, length, "KEY=VALUE");
    if (key_is(word, key, "SwitchName")) {
        if (line->owner != FC_NONE) return fail(s, line->line, "a line", word, length, "one SwitchName");
        uint32_t defined, before = s->switches_defined.n;
        struct fc_graph_reader *r = s->reader;
        struct fc_place where = {r->text.file, line->line};
        if (fc_graph_names_add(&r->routers, &r->machine->arena, value, n, &line->owner, where, s->st) ||
            fc_graph_names_add(&s->switches_defined, &r->machine->arena, value, n, &defined, where, s->st))
            return s->st->code;
        if (defined < before) return fail(s, line->line, "SwitchName", value, n, "one line a switch");
        return FC_OK;
    }
    bool nodes = key_is(word, key, "Nodes");
    if (nodes || key_is(word, key, "Switches")) {
        if (line->text) return fail(s, line->line, "a second list", word, length, "either Nodes or Switches");
        line->text = value;
        line->length = n;
        line->nodes = nodes;
        return FC_OK;
    }
    if (key_is(word, key, "LinkSpeed")) {
        if (line->speed) return fail(s, line->line, "a second speed", word, length, "one LinkSpeed");
        line->speed = value;
        line->speed_length = n;
        return FC_OK;
    }
    return fail(s, line->line, "unknown key", word, key, "SwitchName, Nodes, Switches or LinkSpeed");
}

/* A speed without a unit. */
static bool is_bare(const struct members *line)
{
    for (size_t i = 0; i < line->speed_length; i++)
        if (!fc_is_digit(line->speed[i]) && line->speed[i] != '.') return false;
    return line->speed_length > 0;
}

static void compare_speeds(struct slurm *s)
{
    const struct members *first = NULL;
    for (size_t i = 0; i < s->n_members; i++) {
        const struct members *m = &s->members[i];
        if (!is_bare(m)) continue;
        if (!first) first = m;
        s->speeds_differ = s->speeds_differ || m->speed_length != first->speed_length ||
                           memcmp(m->speed, first->speed, m->speed_length) != 0;
    }
}

/* The class of a line's cables. */
static enum fc_code find_class(struct slurm *s, struct members *line)
{
    struct fc_place where = {s->reader->text.file, line->line};
    char text[32], name[48];
    double bandwidth = 0;
    int length = (int)line->speed_length;
    if (!line->speed) return fc_graph_class(s->reader, "link", 0, 0, &line->link_class, where, s->st);
    if (line->speed_length >= sizeof text)
        return fail(s, line->line, "LinkSpeed", line->speed, line->speed_length, "a number");
    snprintf(text, sizeof text, "%.*s", length, line->speed);
    if (is_bare(line)) {
        char *end;
        if (!(strtod(text, &end) > 0) || *end)
            return fail(s, line->line, "LinkSpeed", text, line->speed_length, "a number above 0");
        if (!s->speeds_differ) return fc_graph_class(s->reader, "link", 0, 0, &line->link_class, where, s->st);
        snprintf(name, sizeof name, "speed %s", text);
    } else {
        if (fc_quantity(text, FC_BYTES_PER_S, 0, &bandwidth, where, s->st)) return s->st->code;
        if (!(bandwidth >= 1 && bandwidth <= 1e18))
            return fail(s, line->line, "LinkSpeed", text, line->speed_length, "1 B/s to 1e18 B/s");
        fc_format(name, sizeof name, bandwidth, FC_BYTES_PER_S);
    }
    return fc_graph_class(s->reader, name, bandwidth, 0, &line->link_class, where, s->st);
}

/* Removes comments and joins continued lines; writes over `text`. The place is the first line's. */
static enum fc_code read_lines(struct slurm *s, char *joined)
{
    struct fc_lines lines;
    fc_lines_start(&lines, &s->reader->text);
    while (fc_lines_next(&lines)) {
        struct members line = {.owner = FC_NONE, .line = lines.line};
        size_t size = 0;
        for (bool more = true; more;) {
            const char *comment = memchr(lines.text, '#', lines.length);
            size_t n = comment ? (size_t)(comment - lines.text) : lines.length;
            more = !comment && n > 0 && lines.text[n - 1] == '\\';
            memcpy(joined + size, lines.text, more ? n - 1 : n);
            size += more ? n - 1 : n;
            if (more && !fc_lines_next(&lines)) more = false;
        }
        const char *at = joined, *word;
        size_t length;
        bool any = false;
        while (fc_next_word(&at, joined + size, &word, &length)) {
            any = true;
            if (read_key(s, word, length, &line)) return s->st->code;
        }
        joined += size; /* kept: the lists point into it */
        if (!any) continue;
        if (line.owner == FC_NONE) return fail(s, line.line, "a line", joined - size, size, "SwitchName=... first");
        if (!line.text) return fail(s, line.line, "a line", joined - size, size, "Nodes=... or Switches=...");
        s->n_listed += fc_host_list_count(line.text, line.length);
        if (s->n_listed > FC_MOST_HOSTS)
            return fc_fail(s->st, FC_INPUT, (struct fc_place){s->reader->text.file, line.line},
                           "more than %u members in the lists up to here", FC_MOST_HOSTS);
        s->members[s->n_members++] = line;
    }
    return FC_OK;
}

static int by_ends(const void *a, const void *b)
{
    const struct fc_cable *x = a, *y = b;
    if (x->to_node != y->to_node) return x->to_node - y->to_node;
    uint32_t x_low = !x->to_node && x->other < x->router ? x->other : x->router, x_high = x->router + x->other - x_low;
    uint32_t y_low = !y->to_node && y->other < y->router ? y->other : y->router, y_high = y->router + y->other - y_low;
    if (x_low != y_low) return x_low < y_low ? -1 : 1;
    return (x_high > y_high) - (x_high < y_high);
}

/* A member listed twice, or two switches that list each other. */
static enum fc_code refuse_repeats(struct slurm *s, struct fc_arena *scratch)
{
    const struct fc_graph_reader *r = s->reader;
    size_t n = r->shape->n_cables;
    struct fc_cable *sorted = fc_alloc(scratch, n, sizeof *sorted, s->st);
    if (!sorted) return s->st->code;
    if (n) memcpy(sorted, r->shape->cables, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_ends);
    for (size_t i = 1; i < n; i++)
        if (by_ends(&sorted[i - 1], &sorted[i]) == 0)
            return fc_fail(s->st, FC_INPUT, (struct fc_place){r->text.file, 0},
                           "switch '%s' and '%s' are joined twice (expected each member once)",
                           r->routers.name[sorted[i].router],
                           sorted[i].to_node ? r->nodes.name[sorted[i].other] : r->routers.name[sorted[i].other]);
    return FC_OK;
}

enum fc_code fc_read_slurm_topology(struct fc_graph_reader *reader, struct fc_status *st)
{
    struct slurm s = {.reader = reader, .st = st};
    struct fc_arena scratch = {0};
    size_t n_lines = 1;
    for (size_t i = 0; i < reader->text.size; i++) n_lines += reader->text.data[i] == '\n';
    char *joined = fc_alloc(&scratch, reader->text.size + 1, 1, st);
    s.members = fc_alloc(&scratch, n_lines, sizeof *s.members, st);
    if (joined && s.members && !read_lines(&s, joined)) {
        compare_speeds(&s);
        for (size_t i = 0; i < s.n_members && !st->code; i++)
            if (!find_class(&s, &s.members[i])) expand_list(&s, &s.members[i]);
        if (!st->code) refuse_repeats(&s, &scratch);
    }
    fc_arena_free(&scratch);
    return st->code;
}
