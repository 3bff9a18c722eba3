/* graph_matrix_market.c - a communication graph from a Matrix Market file: entry (i, j) = bytes that task i sends to
 * task j.
 *
 * Head `%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric`, comments `%`. Coordinate form: a line
 * `rows columns entries`, then one entry a line: `row column [bytes]`, tasks from 1. Array form: a line `rows columns`, then all
 * values, one a line, column by column (symmetric: of each column from the diagonal down). A pattern's entries are 1 byte
 * each; symmetric files hold the diagonal and what is below it, mirrored here; entries of one pair are summed
 * into one message; entries of 0 bytes are no communication and left out. Source: Boisvert, Pozo, Remington,
 * The Matrix Market Exchange Formats, NISTIR 5935 (1996). */
#include "models/demand_build.h"

#include <string.h>
#include <strings.h>

static const char banner[] = "%%MatrixMarket";

struct head {
    bool array, pattern, integer, symmetric;
    long long n_tasks, n_entries;
};

static bool word_is(const char *word, size_t length, const char *text)
{
    return strlen(text) == length && strncasecmp(word, text, length) == 0;
}

static enum fc_code read_banner(const struct fc_lines *lines, struct head *head, struct fc_status *st)
{
    struct fc_place where = fc_lines_place(lines);
    const char *at = lines->text, *end = at + lines->length, *word[5];
    size_t length[5] = {0};
    int n = 0;
    while (n < 5 && fc_next_word(&at, end, &word[n], &length[n])) n++;
    if (!word_is(word[0], length[0], banner))
        return fc_fail(st, FC_INPUT, where, "no %%%%MatrixMarket banner (the file begins with '%.*s')",
                       (int)(length[0] < 40 ? length[0] : 40), word[0]);
    head->array = n == 5 && word_is(word[2], length[2], "array");
    if (n < 5 || !word_is(word[1], length[1], "matrix") || (!head->array && !word_is(word[2], length[2], "coordinate")))
        return fc_fail(st, FC_INPUT, where,
                       "Matrix Market head is not '%%%%MatrixMarket matrix coordinate|array "
                       "real|integer|pattern general|symmetric'");
    head->pattern = word_is(word[3], length[3], "pattern");
    head->integer = word_is(word[3], length[3], "integer");
    if (!head->pattern && !head->integer && !word_is(word[3], length[3], "real"))
        return fc_fail(st, FC_INPUT, where, "values of type '%.*s' are no bytes (expected real, integer or pattern)",
                       (int)length[3], word[3]);
    if (head->pattern && head->array)
        return fc_fail(st, FC_INPUT, where, "an array of type pattern has no values (expected real or integer)");
    head->symmetric = word_is(word[4], length[4], "symmetric");
    if (!head->symmetric && !word_is(word[4], length[4], "general"))
        return fc_fail(st, FC_INPUT, where, "symmetry '%.*s' (expected general or symmetric)", (int)length[4], word[4]);
    return FC_OK;
}

/* The next line that is neither blank nor comment: its words, at most `most` + 1 of them; 0 at the end of the
 * file. */
static int next_entry(struct fc_lines *lines, int most, const char **word, size_t *length)
{
    while (fc_lines_next(lines)) {
        const char *at = lines->text, *end = at + lines->length;
        int n = 0;
        if (lines->length > 0 && *at == '%') continue;
        while (n <= most && fc_next_word(&at, end, &word[n], &length[n])) n++;
        if (n > 0) return n;
    }
    return 0;
}

static enum fc_code read_size(struct fc_lines *lines, const struct fc_text *text, struct head *head,
                              struct fc_status *st)
{
    const char *word[4];
    size_t length[4];
    long long columns;
    int n = next_entry(lines, 3, word, length);
    struct fc_place where = fc_lines_place(lines);
    if (n != (head->array ? 2 : 3))
        return fc_fail(st, FC_INPUT, where, "the size line is missing (expected: rows columns%s)",
                       head->array ? "" : " entries");
    if (fc_word_int(word[0], length[0], 1, FC_NONE - 1, "rows", &head->n_tasks, where, st) ||
        fc_word_int(word[1], length[1], 1, FC_NONE - 1, "columns", &columns, where, st) ||
        (!head->array && fc_word_int(word[2], length[2], 0, INT64_MAX, "entries", &head->n_entries, where, st)))
        return st->code;
    if (columns != head->n_tasks)
        return fc_fail(st, FC_INPUT, where, "%lld rows and %lld columns (expected as many: senders and receivers)",
                       head->n_tasks, columns);
    if (head->array && columns > INT32_MAX)
        return fc_fail(st, FC_INPUT, where, "an array of %lld columns does not fit a file", columns);
    if (head->array) head->n_entries = head->symmetric ? columns * (columns + 1) / 2 : columns * columns;
    if ((uint64_t)head->n_entries > /* "1 1\n" and "0\n" are the shortest entries; do not reserve for a lie */
        (text->size + 1) / (head->array ? 2 : 3))
        return fc_fail(st, FC_INPUT, where, "%lld entries do not fit a file of %zu bytes", head->n_entries, text->size);
    return fc_announced((uint64_t)columns, FC_SILENT + text->size / 2, "rows", where, st); /* "1 2\n" names two */
}

/* An entry and its mirror. */
static enum fc_code add_entry(const struct head *head, long long row, long long column, double bytes,
                              struct fc_place where, struct fc_triples *t, struct fc_status *st)
{
    if (bytes < 0) return fc_fail(st, FC_INPUT, where, "bytes: %g is negative", bytes);
    if (head->integer && bytes != floor(bytes))
        return fc_fail(st, FC_INPUT, where, "bytes: %g is not whole (the head says integer)", bytes);
    for (int mirror = 0; mirror < (head->symmetric && row != column ? 2 : 1); mirror++, t->n++) {
        t->src[t->n] = (uint32_t)(mirror ? column : row) - 1;
        t->dst[t->n] = (uint32_t)(mirror ? row : column) - 1;
        t->bytes[t->n] = bytes;
        t->line[t->n] = where.line;
    }
    return FC_OK;
}

static enum fc_code read_entry(const struct head *head, const char **word, const size_t *length, int n,
                               struct fc_place where, struct fc_triples *t, struct fc_status *st)
{
    long long row, column;
    double bytes = 1;
    int expected = head->pattern ? 2 : 3;
    if (n != expected)
        return fc_fail(st, FC_INPUT, where, "an entry has %d numbers (expected: row column%s)", expected,
                       head->pattern ? "" : " bytes");
    if (fc_word_int(word[0], length[0], 1, head->n_tasks, "row", &row, where, st) ||
        fc_word_int(word[1], length[1], 1, head->n_tasks, "column", &column, where, st) ||
        (!head->pattern && fc_word_real(word[2], length[2], "bytes", &bytes, where, st)))
        return st->code;
    if (head->symmetric && column > row)
        return fc_fail(st, FC_INPUT, where, "entry (%lld, %lld) lies above the diagonal of a symmetric file", row,
                       column);
    return add_entry(head, row, column, bytes, where, t, st);
}

/* Values column by column; zeros are dropped here already. */
static enum fc_code read_array(struct fc_lines *lines, const struct head *head, struct fc_triples *t,
                               struct fc_status *st)
{
    long long row = 1, column = 1, read = 0;
    while (fc_lines_next(lines)) {
        const char *at = lines->text, *end = at + lines->length, *word;
        struct fc_place where = fc_lines_place(lines);
        size_t length;
        double bytes;
        if (lines->length > 0 && *at == '%') continue;
        while (fc_next_word(&at, end, &word, &length)) {
            if (read++ == head->n_entries)
                return fc_fail(st, FC_INPUT, where, "more than the %lld values of the array", head->n_entries);
            if (fc_word_real(word, length, "bytes", &bytes, where, st) ||
                (bytes != 0 && add_entry(head, row, column, bytes, where, t, st)))
                return st->code;
            if (++row > head->n_tasks) {
                column++;
                row = head->symmetric ? column : 1;
            }
        }
    }
    if (read < head->n_entries)
        return fc_fail(st, FC_INPUT, fc_lines_place(lines), "the file ends after %lld of %lld values", read,
                       head->n_entries);
    return FC_OK;
}

static enum fc_code read_entries(struct fc_lines *lines, const struct head *head, struct fc_triples *t,
                                 struct fc_status *st)
{
    const char *word[4];
    size_t length[4];
    long long read = 0;
    for (int n; (n = next_entry(lines, 3, word, length)) > 0; read++) {
        if (read == head->n_entries)
            return fc_fail(st, FC_INPUT, fc_lines_place(lines), "more than the %lld entries announced", read);
        if (read_entry(head, word, length, n, fc_lines_place(lines), t, st)) return st->code;
    }
    if (read < head->n_entries)
        return fc_fail(st, FC_INPUT, fc_lines_place(lines), "the file ends after %lld of %lld entries", read,
                       head->n_entries);
    return FC_OK;
}

static enum fc_code read_graph(const struct fc_text *text, struct fc_arena *reading, struct fc_demand *demand,
                               struct fc_status *st)
{
    struct fc_lines lines;
    struct head head;
    struct fc_triples t;
    fc_lines_start(&lines, text);
    fc_lines_next(&lines);
    if (read_banner(&lines, &head, st) || read_size(&lines, text, &head, st) ||
        fc_triples_start(&t, reading, (uint64_t)head.n_entries * (head.symmetric ? 2 : 1), st) ||
        (head.array ? read_array(&lines, &head, &t, st) : read_entries(&lines, &head, &t, st)) ||
        fc_triples_sort(&t, (uint32_t)head.n_tasks, reading, st) ||
        fc_demand_start(demand, (uint64_t)head.n_tasks, t.n, st))
        return st->code;
    for (size_t i = 0; i < t.n; i++) {
        size_t last = demand->n_entries - 1;
        if (t.bytes[i] == 0) continue;
        if (demand->n_entries > 0 && demand->src[last] == t.src[i] && demand->dst[last] == t.dst[i])
            demand->bytes[last] += t.bytes[i];
        else
            fc_demand_add(demand, t.src[i], t.dst[i], t.bytes[i]);
        if (isinf(demand->bytes[demand->n_entries - 1]))
            return fc_fail(st, FC_INPUT, (struct fc_place){text->file, t.line[i]},
                           "the entries of (%u, %u) sum to more bytes than a number holds", t.src[i] + 1, t.dst[i] + 1);
    }
    return FC_OK;
}

/* Also with a % too few, which would else be a comment of METIS. */
static bool is_matrix_market(const struct fc_text *text)
{
    for (size_t from = 0; text->data && from < 3; from++) {
        size_t n = sizeof banner - 1 - from;
        if (text->size >= n && strncasecmp(text->data, banner + from, n) == 0) return true;
    }
    return false;
}

const struct fc_graph_format fc_graph_matrix_market = {
    .name = "matrix-market",
    .what = "communication graph of bytes",
    .is = is_matrix_market,
    .read = read_graph,
};
