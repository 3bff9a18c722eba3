/* graph_metis.c - a communication graph from a METIS graph file: an edge of weight w = w bytes each way.
 *
 * Head `n m [fmt [ncon]]`: vertices (tasks), undirected edges, a format of up to three digits (sizes, vertex
 * weights, edge weights: 1, 001, 011, 111), weights a vertex. Then one line a vertex, `[size] [weights...]
 * (neighbour [weight])...`, vertices from 1, comments `%`; an empty line is a vertex without neighbours.
 * Without edge weights an edge is 1 byte. Every edge stands at both of its vertices with the same weight:
 * checked. Vertex sizes and weights are read and not used: a task is a task. Source: Karypis, METIS 5.1.0
 * manual (2013), section 4.1.1. */
#include "models/demand_build.h"

#include <string.h>

struct head {
    long long n, m, n_constraints;
    bool sizes, vertex_weights, edge_weights;
};

/* Steps to the next line that is no comment. */
static bool next_line(struct fc_lines *lines)
{
    while (fc_lines_next(lines))
        if (lines->length == 0 || lines->text[0] != '%') return true;
    return false;
}

static enum fc_code read_format(const char *word, size_t length, struct head *head, struct fc_place where,
                                struct fc_status *st)
{
    char digits[4] = "000";
    bool good = length >= 1 && length <= 3;
    for (size_t i = 0; good && i < length; i++) {
        digits[3 - length + i] = word[i];
        good = word[i] == '0' || word[i] == '1';
    }
    if (!good)
        return fc_fail(st, FC_INPUT, where, "fmt: '%.*s' (expected up to three digits 0 or 1)",
                       (int)(length < 40 ? length : 40), word);
    head->sizes = digits[0] == '1';
    head->vertex_weights = digits[1] == '1';
    head->edge_weights = digits[2] == '1';
    return FC_OK;
}

static enum fc_code read_head(struct fc_lines *lines, const struct fc_text *text, struct head *head,
                              struct fc_status *st)
{
    const char *word[5];
    size_t length[5];
    int n = 0;
    *head = (struct head){.n_constraints = 1};
    bool any = next_line(lines);
    struct fc_place where = any ? fc_lines_place(lines) : (struct fc_place){text->file, 0};
    const char *at = any ? lines->text : "", *end = any ? at + lines->length : at;
    while (n < 5 && fc_next_word(&at, end, &word[n], &length[n])) n++;
    if (n < 2 || n > 4 || !strchr("+-0123456789", *word[0]))
        return fc_fail(st, FC_INPUT, where,
                       "no communication graph: neither '%%%%MatrixMarket ...' nor a METIS head "
                       "'vertices edges [fmt [ncon]]'");
    if (fc_word_int(word[0], length[0], 1, FC_NONE - 1, "vertices of a METIS graph", &head->n, where, st) ||
        fc_word_int(word[1], length[1], 0, INT64_MAX / 2, "edges of a METIS graph", &head->m, where, st) ||
        (n > 2 && read_format(word[2], length[2], head, where, st)) ||
        (n > 3 && fc_word_int(word[3], length[3], 1, 1000, "ncon", &head->n_constraints, where, st)))
        return st->code;
    if (n > 3 && !head->vertex_weights)
        return fc_fail(st, FC_INPUT, where, "ncon is given but fmt says that vertices have no weights");
    if ((uint64_t)head->n > text->size || (uint64_t)head->m > text->size / 2)
        return fc_fail(st, FC_INPUT, where, "%lld vertices and %lld edges do not fit a file of %zu bytes", head->n,
                       head->m, text->size);
    return FC_OK;
}

/* The numbers before the neighbours: vertex size and weights. */
static enum fc_code skip_weights(const struct head *head, const char **at, const char *end, struct fc_place where,
                                 struct fc_status *st)
{
    const char *word;
    size_t length;
    long long value, n = (head->sizes ? 1 : 0) + (head->vertex_weights ? head->n_constraints : 0);
    for (long long i = 0; i < n; i++) {
        if (!fc_next_word(at, end, &word, &length))
            return fc_fail(st, FC_INPUT, where, "the vertex has %lld of its %lld sizes and weights", i, n);
        if (fc_word_int(word, length, 0, INT64_MAX, "vertex weight", &value, where, st)) return st->code;
    }
    return FC_OK;
}

static enum fc_code read_vertex(const struct head *head, uint32_t v, const struct fc_lines *lines, struct fc_triples *t,
                                struct fc_status *st)
{
    struct fc_place where = fc_lines_place(lines);
    const char *at = lines->text, *end = at + lines->length, *word;
    size_t length;
    if (skip_weights(head, &at, end, where, st)) return st->code;
    while (fc_next_word(&at, end, &word, &length)) {
        long long to, weight = 1;
        if (fc_word_int(word, length, 1, head->n, "neighbour", &to, where, st)) return st->code;
        if (to == (long long)v + 1) return fc_fail(st, FC_INPUT, where, "vertex %lld is its own neighbour", to);
        if (head->edge_weights) {
            if (!fc_next_word(&at, end, &word, &length))
                return fc_fail(st, FC_INPUT, where, "the edge to %lld has no weight (fmt announces weights)", to);
            if (fc_word_int(word, length, 1, INT64_MAX, "edge weight", &weight, where, st)) return st->code;
        }
        if (t->n == (uint64_t)head->m * 2)
            return fc_fail(st, FC_INPUT, where, "more edges than the %lld announced (each stands twice)", head->m);
        t->src[t->n] = v;
        t->dst[t->n] = (uint32_t)to - 1;
        t->bytes[t->n] = (double)weight;
        t->line[t->n++] = where.line;
    }
    return FC_OK;
}

static enum fc_code read_vertices(struct fc_lines *lines, const struct head *head, struct fc_triples *t,
                                  struct fc_status *st)
{
    for (uint32_t v = 0; v < (uint32_t)head->n; v++) {
        if (!next_line(lines))
            return fc_fail(st, FC_INPUT, fc_lines_place(lines), "the file ends after %u of %lld vertices", v, head->n);
        if (read_vertex(head, v, lines, t, st)) return st->code;
    }
    while (next_line(lines)) {
        const char *at = lines->text, *word;
        size_t length;
        if (fc_next_word(&at, at + lines->length, &word, &length))
            return fc_fail(st, FC_INPUT, fc_lines_place(lines), "more lines than the %lld vertices announced", head->n);
    }
    if (t->n != (uint64_t)head->m * 2)
        return fc_fail(st, FC_INPUT, (struct fc_place){lines->file, 0},
                       "%zu neighbours are listed (expected %lld: each of %lld edges twice)", t->n, 2 * head->m,
                       head->m);
    return FC_OK;
}

/* `t` is sorted by (src, dst), `mirror` the same entries with src and dst exchanged, sorted too: the graph is
 * symmetric when they agree. The first that differs, the smaller of the two, is an edge without a way back.
 */
static enum fc_code check_symmetry(const struct fc_triples *t, const struct fc_triples *mirror, const char *file,
                                   struct fc_status *st)
{
    for (size_t i = 0; i < t->n; i++) {
        struct fc_place where = {file, t->line[i]};
        uint64_t a = (uint64_t)t->src[i] << 32 | t->dst[i], b = (uint64_t)mirror->src[i] << 32 | mirror->dst[i];
        if (i > 0 && t->src[i] == t->src[i - 1] && t->dst[i] == t->dst[i - 1])
            return fc_fail(st, FC_INPUT, where, "neighbour %u is listed twice", t->dst[i] + 1);
        if (a < b)
            return fc_fail(st, FC_INPUT, where, "vertex %u lists neighbour %u, which does not list it", t->src[i] + 1,
                           t->dst[i] + 1);
        where.line = mirror->line[i];
        if (a > b)
            return fc_fail(st, FC_INPUT, where, "vertex %u lists neighbour %u, which does not list it",
                           mirror->dst[i] + 1, mirror->src[i] + 1);
        if (t->bytes[i] != mirror->bytes[i])
            return fc_fail(st, FC_INPUT, where, "edge %u-%u weighs %.15g here and %.15g at line %ld", t->src[i] + 1,
                           t->dst[i] + 1, mirror->bytes[i], t->bytes[i], t->line[i]);
    }
    return FC_OK;
}

static enum fc_code mirrored(const struct fc_triples *t, uint32_t n_tasks, struct fc_arena *reading,
                             struct fc_triples *mirror, struct fc_status *st)
{
    if (fc_triples_start(mirror, reading, t->n, st)) return st->code;
    mirror->n = t->n;
    memcpy(mirror->src, t->dst, t->n * sizeof *t->dst);
    memcpy(mirror->dst, t->src, t->n * sizeof *t->src);
    memcpy(mirror->bytes, t->bytes, t->n * sizeof *t->bytes);
    memcpy(mirror->line, t->line, t->n * sizeof *t->line);
    return fc_triples_sort(mirror, n_tasks, reading, st);
}

static enum fc_code read_graph(const struct fc_text *text, struct fc_arena *reading, struct fc_demand *demand,
                               struct fc_status *st)
{
    struct fc_lines lines;
    struct head head;
    struct fc_triples t, mirror;
    fc_lines_start(&lines, text);
    if (read_head(&lines, text, &head, st) || fc_triples_start(&t, reading, (uint64_t)head.m * 2, st) ||
        read_vertices(&lines, &head, &t, st))
        return st->code;
    uint32_t n = (uint32_t)head.n;
    if (fc_triples_sort(&t, n, reading, st) || mirrored(&t, n, reading, &mirror, st) ||
        check_symmetry(&t, &mirror, text->file, st) || fc_demand_start(demand, n, t.n, st))
        return st->code;
    for (size_t i = 0; i < t.n; i++) fc_demand_add(demand, t.src[i], t.dst[i], t.bytes[i]);
    return FC_OK;
}

/* Anything that is no other format: METIS files have no mark. */
static bool is_file(const struct fc_text *text)
{
    return text->data;
}

const struct fc_graph_format fc_graph_metis = {
    .name = "metis",
    .what = "communication graph, edge weight = bytes each way",
    .is = is_file,
    .read = read_graph,
};
