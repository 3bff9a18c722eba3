/* read_edge_list.c - a fabric as a list of cables, one a line, in the words of BookSim 2's anynet files:
 *
 *     router A router B [BANDWIDTH [LATENCY [COUNT]]]     # COUNT parallel cables between two routers
 *     router A node N [BANDWIDTH [LATENCY [COUNT]]]       # either end may come first
 *
 * Names are any words; '#' starts a comment. A cable works in both directions. Bandwidth and latency are
 * quantities
 * ("25 GB/s", "100ns"); cables with the same ones form a link class named after them, cables without a
 * bandwidth the class `link` of the machine file. A pair listed again with the same figures (in either order)
 * is refused: parallel cables are written as a COUNT, and a file that lists each direction would else count
 * everything twice. */
#include "models/family_graph.h"

#include <stdlib.h>
#include <string.h>

struct line {
    struct fc_place where;
    const char *at, *end;
};
struct pair {
    uint32_t low, high; /* routers; or router and node */
    bool to_node;
    uint8_t link_class;
    long line;
};

/* "router NAME" or "node NAME". */
static enum fc_code read_end(struct fc_graph_reader *r, struct line *line, bool *is_node, uint32_t *number,
                             struct fc_status *st)
{
    const char *kind, *name;
    size_t length, name_length;
    if (!fc_next_word(&line->at, line->end, &kind, &length))
        return fc_fail(st, FC_INPUT, line->where,
                       "the line ends early (expected router A router B, or router A node N)");
    *is_node = length == 4 && !memcmp(kind, "node", 4);
    if (!*is_node && !(length == 6 && !memcmp(kind, "router", 6)))
        return fc_fail(st, FC_INPUT, line->where, "'%.*s' (expected router or node)", (int)(length < 60 ? length : 60),
                       kind);
    if (!fc_next_word(&line->at, line->end, &name, &name_length))
        return fc_fail(st, FC_INPUT, line->where, "%s has no name", *is_node ? "node" : "router");
    return fc_graph_names_add(*is_node ? &r->nodes : &r->routers, &r->machine->arena, name, name_length, number,
                              line->where, st);
}

/* The next quantity, its unit joined or apart ("25GB/s", "25 GB/s"). False: the line is at its end. */
static bool next_quantity(struct line *line, char *text, size_t size)
{
    const char *word, *unit, *after;
    size_t length, unit_length;
    if (!fc_next_word(&line->at, line->end, &word, &length)) return false;
    int n = snprintf(text, size, "%.*s", (int)(length < size ? length : size - 1), word);
    after = line->at;
    bool bare = word[length - 1] >= '0' && word[length - 1] <= '9';
    if (bare && fc_next_word(&after, line->end, &unit, &unit_length) && (unit[0] | 32) >= 'a' &&
        (unit[0] | 32) <= 'z') {
        snprintf(text + n, size - (size_t)n, " %.*s", (int)(unit_length < size ? unit_length : size - 1), unit);
        line->at = after;
    }
    return true;
}

/* Link classes are named "25 GB/s 100 ns"; figures that only differ behind the digits shown get a number. */
static enum fc_code find_class(struct fc_graph_reader *r, double bandwidth, double latency, uint8_t *link_class,
                               struct fc_place where, struct fc_status *st)
{
    char name[80], part[2][32];
    struct fc_machine *m = r->machine;
    if (bandwidth == 0) return fc_graph_class(r, "link", 0, 0, link_class, where, st);
    for (int c = 0; c < m->n_classes; c++)
        if (m->classes[c].bandwidth_bytes_per_s == bandwidth && m->classes[c].latency_s == latency) {
            *link_class = (uint8_t)c;
            return FC_OK;
        }
    fc_format(part[0], sizeof part[0], bandwidth, FC_BYTES_PER_S);
    snprintf(name, sizeof name, "%s%s%s", part[0], latency > 0 ? " " : "",
             latency > 0 ? fc_format(part[1], sizeof part[1], latency, FC_SECONDS) : "");
    size_t length = strlen(name);
    for (int c = 0, number = 2; c < m->n_classes; c++)
        if (!strcmp(m->classes[c].name, name)) {
            snprintf(name + length, sizeof name - length, "#%d", number++);
            c = -1;
        }
    return fc_graph_class(r, name, bandwidth, latency, link_class, where, st);
}

static enum fc_code read_figures(struct fc_graph_reader *r, struct line *line, uint8_t *link_class, long long *count,
                                 struct fc_status *st)
{
    char text[96];
    double bandwidth = 0, latency = 0, clock_hz = r->machine->clock_hz;
    const char *word;
    size_t length;
    *count = 1;
    if (next_quantity(line, text, sizeof text)) {
        if (fc_quantity(text, FC_BYTES_PER_S, clock_hz, &bandwidth, line->where, st)) return st->code;
        if (!(bandwidth >= 1 && bandwidth <= 1e18))
            return fc_fail(st, FC_INPUT, line->where, "bandwidth: '%s' is out of range (allowed: 1 B/s to 1e18 B/s)",
                           text);
    }
    if (next_quantity(line, text, sizeof text)) {
        if (fc_quantity(text, FC_SECONDS, clock_hz, &latency, line->where, st)) return st->code;
        if (!(latency >= 0 && latency <= 10))
            return fc_fail(st, FC_INPUT, line->where, "latency: '%s' is out of range (allowed: 0 to 10 s)", text);
    }
    if (fc_next_word(&line->at, line->end, &word, &length) &&
        fc_word_int(word, length, 1, 65536, "count", count, line->where, st))
        return st->code;
    if (fc_next_word(&line->at, line->end, &word, &length))
        return fc_fail(st, FC_INPUT, line->where, "'%.*s' is one word too many (expected BANDWIDTH LATENCY COUNT)",
                       (int)(length < 60 ? length : 60), word);
    return find_class(r, bandwidth, latency, link_class, line->where, st);
}

static enum fc_code read_line(struct fc_graph_reader *r, struct line *line, struct pair *pair, struct fc_status *st)
{
    uint32_t end[2];
    bool is_node[2];
    long long count;
    if (read_end(r, line, &is_node[0], &end[0], st) || read_end(r, line, &is_node[1], &end[1], st)) return st->code;
    if (is_node[0] && is_node[1])
        return fc_fail(st, FC_INPUT, line->where, "a cable joins two nodes (expected a router at one end)");
    if (!is_node[0] && !is_node[1] && end[0] == end[1])
        return fc_fail(st, FC_INPUT, line->where, "a cable joins router '%s' to itself", r->routers.name[end[0]]);
    uint8_t link_class;
    if (read_figures(r, line, &link_class, &count, st)) return st->code;
    int router = is_node[0] ? 1 : 0;
    struct fc_cable cable = {end[router], end[1 - router], is_node[1 - router], link_class, 0, 0, 0};
    *pair = (struct pair){cable.router, cable.other, cable.to_node, link_class, line->where.line};
    if (!cable.to_node && pair->low > pair->high) pair->low = cable.other, pair->high = cable.router;
    uint64_t n_cables = r->shape->n_cables + (uint64_t)count;
    if (fc_announced(n_cables, FC_SILENT + 16 * r->text.size, "cables", line->where, st)) return st->code;
    for (long long i = 0; i < count; i++)
        if (fc_graph_add_cable(r, &cable, st)) return st->code;
    return FC_OK;
}

static int by_ends(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->to_node != y->to_node) return x->to_node - y->to_node;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    if (x->link_class != y->link_class) return x->link_class - y->link_class;
    return (x->line > y->line) - (x->line < y->line);
}

static enum fc_code refuse_repeats(struct fc_graph_reader *r, struct pair *pairs, size_t n, struct fc_status *st)
{
    qsort(pairs, n, sizeof *pairs, by_ends);
    for (size_t i = 1; i < n; i++) {
        const struct pair *p = &pairs[i - 1], *q = &pairs[i];
        if (p->to_node != q->to_node || p->low != q->low || p->high != q->high || p->link_class != q->link_class)
            continue;
        return fc_fail(st, FC_INPUT, (struct fc_place){r->text.file, q->line},
                       "router %s %s %s again, as on line %ld (parallel cables are a count behind the latency)",
                       r->routers.name[q->low], q->to_node ? "node" : "router",
                       q->to_node ? r->nodes.name[q->high] : r->routers.name[q->high], p->line);
    }
    return FC_OK;
}

enum fc_code fc_read_edge_list(struct fc_graph_reader *r, struct fc_status *st)
{
    struct fc_lines lines;
    size_t n_lines = 1, n = 0;
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    for (size_t i = 0; i < r->text.size; i++) n_lines += r->text.data[i] == '\n';
    struct pair *pairs = fc_alloc(&scratch, n_lines, sizeof *pairs, st);
    fc_lines_start(&lines, &r->text);
    while (pairs && fc_lines_next(&lines)) {
        const char *comment = memchr(lines.text, '#', lines.length), *word;
        struct line line = {fc_lines_place(&lines), lines.text, comment ? comment : lines.text + lines.length};
        size_t length;
        const char *at = line.at;
        if (!fc_next_word(&at, line.end, &word, &length)) continue;
        if (read_line(r, &line, &pairs[n++], st)) break;
    }
    if (!st->code) refuse_repeats(r, pairs, n, st);
    return st->code;
}
