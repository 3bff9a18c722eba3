/* graph_dense.c - a communication graph from a dense matrix: P lines of P numbers, number j of line i = bytes
 * that task i sends to task j, as one message.
 *
 * What TreeMatch reads and writes (NAME.mat; Jeannot, Mercier, Tessier, IEEE TPDS 25(4), 2014). Blank lines
 * do not count; 0 is no communication; the diagonal stays in its task. Told by the name, or by a first line
 * of more than four numbers, which no METIS head has. */
#include "models/demand_build.h"

#include <string.h>

/* Numbers in the first line that has any. */
static size_t first_line_words(const struct fc_text *text, size_t most)
{
    struct fc_lines lines;
    fc_lines_start(&lines, text);
    while (fc_lines_next(&lines)) {
        const char *at = lines.text, *end = at + lines.length, *word;
        size_t n = 0, length;
        double value;
        struct fc_status ignored = {0};
        while (n < most && fc_next_word(&at, end, &word, &length)) {
            if (fc_word_real(word, length, "", &value, fc_lines_place(&lines), &ignored)) return 0;
            n++;
        }
        if (n) return n;
    }
    return 0;
}

static bool is_named_mat(const char *path)
{
    static const char *const ends[] = {".mat", ".mat.gz", ".mat.xz", ".mat.zst"};
    for (size_t i = 0; i < FC_COUNT(ends); i++)
        if (strlen(path) > strlen(ends[i]) && strcmp(path + strlen(path) - strlen(ends[i]), ends[i]) == 0) return true;
    return false;
}

static bool is_dense(const struct fc_text *text)
{
    return text->data && (is_named_mat(text->file) || first_line_words(text, 5) == 5);
}

static enum fc_code read_row(const struct fc_lines *lines, uint32_t row, size_t n_tasks, struct fc_triples *t,
                             struct fc_status *st)
{
    struct fc_place where = fc_lines_place(lines);
    const char *at = lines->text, *end = at + lines->length, *word;
    size_t column = 0, length;
    for (; fc_next_word(&at, end, &word, &length); column++) {
        double bytes;
        if (column == n_tasks)
            return fc_fail(st, FC_INPUT, where, "line %u of the matrix has more than %zu numbers", row + 1, n_tasks);
        if (fc_word_real(word, length, "bytes", &bytes, where, st)) return st->code;
        if (bytes < 0) return fc_fail(st, FC_INPUT, where, "bytes: %g is negative", bytes);
        if (bytes == 0) continue;
        t->src[t->n] = row;
        t->dst[t->n] = (uint32_t)column;
        t->bytes[t->n++] = bytes;
    }
    if (column == n_tasks) return FC_OK;
    return fc_fail(st, FC_INPUT, where, "line %u of the matrix has %zu numbers (expected %zu, as the first)", row + 1,
                   column, n_tasks);
}

static enum fc_code read_dense(const struct fc_text *text, struct fc_arena *reading, struct fc_demand *demand,
                               struct fc_status *st)
{
    struct fc_lines lines;
    struct fc_triples t;
    uint32_t row = 0;
    size_t n = first_line_words(text, SIZE_MAX);
    struct fc_place whole = {text->file, 0};
    if (n == 0) return fc_fail(st, FC_INPUT, whole, "no dense matrix (expected P lines of P numbers)");
    if (fc_triples_start(&t, reading, text->size / 2 + 1, st))
        return st->code; /* a number takes two bytes of the file */
    fc_lines_start(&lines, text);
    while (fc_lines_next(&lines)) {
        const char *at = lines.text, *word;
        size_t length;
        if (!fc_next_word(&at, at + lines.length, &word, &length)) continue;
        if (row == n) return fc_fail(st, FC_INPUT, fc_lines_place(&lines), "more than %zu lines of numbers", n);
        if (read_row(&lines, row++, n, &t, st)) return st->code;
    }
    if (row < n) return fc_fail(st, FC_INPUT, whole, "the file ends after %u of %zu lines of %zu numbers", row, n, n);
    if (fc_demand_start(demand, n, t.n, st)) return st->code;
    for (size_t i = 0; i < t.n; i++) fc_demand_add(demand, t.src[i], t.dst[i], t.bytes[i]);
    return FC_OK;
}

const struct fc_graph_format fc_graph_dense = {
    .name = "dense",
    .what = "communication graph, P lines of P numbers of bytes (TreeMatch .mat)",
    .is = is_dense,
    .read = read_dense,
};
