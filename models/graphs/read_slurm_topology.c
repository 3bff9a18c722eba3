/* read_slurm_topology.c - Slurm's topology.conf (topology.conf(5)): one switch a line (topology/tree),
 *
 *     SwitchName=leaf0 Nodes=tux[0-3,7]            SwitchName=spine Switches=leaf[0-1] LinkSpeed=100
 *
 * or one block (topology/block) or ring (topology/ring) a line,
 *
 *     BlockName=block1 Nodes=node[1-32]            BlockSizes=30,60            RingName=ring0 Nodes=node[01-08]
 *
 * with host list expressions, keys in any case, '#' comments, lines continued by a backslash. topology.yaml is read by
 * read_slurm_yaml.c.
 *
 * What they make: slurm_topology.c. */
#include "models/graphs/slurm_topology.h"

#include <string.h>
#include <strings.h>

struct slurm {
    struct fc_graph_reader *reader;
    struct fc_status *st;
    struct fc_slurm_line *lines; /* [n_lines] */
    size_t n_lines;
    uint32_t sizes[FC_SLURM_SIZES];
    size_t n_sizes;
};

static enum fc_code fail(const struct slurm *s, long line, const char *what, const char *text, size_t length,
                         const char *expected)
{
    return fc_fail(s->st, FC_INPUT, (struct fc_place){s->reader->text.file, line}, "%s: '%.*s' (expected %s)", what,
                   (int)(length < 80 ? length : 80), text, expected);
}

/* ---- lines ---- */

static bool key_is(const char *word, size_t length, const char *key)
{
    return length == strlen(key) && !strncasecmp(word, key, length);
}

/* What a line is of, by the key that names it. */
static bool kind_of(const char *word, size_t key, enum fc_slurm_kind *kind)
{
    static const char *const names[] = {"SwitchName", "BlockName", "RingName"};
    for (size_t i = 0; i < FC_COUNT(names); i++)
        if (key_is(word, key, names[i])) {
            *kind = (enum fc_slurm_kind)i;
            return true;
        }
    return false;
}

static enum fc_code read_key(struct slurm *s, const char *word, size_t length, struct fc_slurm_line *line)
{
    const char *equals = memchr(word, '=', length);
    size_t key = equals ? (size_t)(equals - word) : length, n = equals ? length - key - 1 : 0;
    const char *value = equals ? equals + 1 : word + length;
    struct fc_place where = {s->reader->text.file, line->line};
    if (!equals || n == 0) return fail(s, line->line, "a word", word, length, "KEY=VALUE");
    if (kind_of(word, key, &line->kind)) {
        if (line->name) return fail(s, line->line, "a line", word, length, "one SwitchName, BlockName or RingName");
        line->name = value;
        line->name_length = n;
        return FC_OK;
    }
    bool nodes = key_is(word, key, "Nodes");
    if (nodes || key_is(word, key, "Switches")) {
        if (line->list) return fail(s, line->line, "a second list", word, length, "either Nodes or Switches");
        line->list = value;
        line->list_length = n;
        line->nodes = nodes;
        return FC_OK;
    }
    if (key_is(word, key, "LinkSpeed")) {
        if (line->speed) return fail(s, line->line, "a second speed", word, length, "one LinkSpeed");
        line->speed = value;
        line->speed_length = n;
        return FC_OK;
    }
    if (key_is(word, key, "BlockSizes")) {
        if (s->n_sizes) return fail(s, line->line, "a second list", word, length, "one BlockSizes");
        return fc_slurm_sizes(value, n, s->sizes, &s->n_sizes, where, s->st);
    }
    return fail(s, line->line, "unknown key", word, key,
                "SwitchName, Nodes, Switches or LinkSpeed; BlockName, BlockSizes; RingName");
}

/* Removes comments and joins continued lines; writes over `text`. The place is the first line's. */
static enum fc_code read_lines(struct slurm *s, char *joined)
{
    struct fc_lines lines;
    fc_lines_start(&lines, &s->reader->text);
    while (fc_lines_next(&lines)) {
        struct fc_slurm_line line = {.line = lines.line};
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
        joined += size;                                                  /* kept: the lists point into it */
        if (!any || (!line.name && !line.list && !line.speed)) continue; /* BlockSizes */
        if (!line.name)
            return fail(s, line.line, "a line", joined - size, size, "SwitchName=..., BlockName=... or RingName=...");
        if (!line.list)
            return fail(s, line.line, "a line", joined - size, size,
                        line.kind == FC_SLURM_SWITCH ? "Nodes=... or Switches=..." : "Nodes=...");
        s->lines[s->n_lines++] = line;
    }
    return FC_OK;
}

enum fc_code fc_read_slurm_topology(struct fc_graph_reader *reader, struct fc_status *st)
{
    struct slurm s = {.reader = reader, .st = st};
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    size_t n_lines = 1;
    if (fc_is_slurm_yaml(&reader->text)) return fc_read_slurm_yaml(reader, st);
    for (size_t i = 0; i < reader->text.size; i++) n_lines += reader->text.data[i] == '\n';
    char *joined = fc_alloc(&scratch, reader->text.size + 1, 1, st);
    s.lines = fc_alloc(&scratch, n_lines, sizeof *s.lines, st);
    if (joined && s.lines && !read_lines(&s, joined))
        fc_slurm_build(reader, s.lines, s.n_lines, s.sizes, s.n_sizes, st);
    return st->code;
}
