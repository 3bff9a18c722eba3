/* measurement_read.c - the rows of fabricast-measure-FAMILY (docs/measure-format.md). */
#include "answer/measurement.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 1 << 20, MOST_SETS = 1024 };

static const char *const parts[] = {
    [FC_ROW_LATENCY] = "latency", [FC_ROW_SEND] = "send",     [FC_ROW_RECEIVE] = "receive",
    [FC_ROW_PROBE] = "probe",     [FC_ROW_STREAM] = "stream", [FC_ROW_REDUCE] = "reduce"};

struct reader {
    struct fc_lines lines;
    const char *at;
    struct fc_arena *arena;
    struct fc_measurement *m;
    struct fc_status *st;
    uint32_t capacity, n_named, counted; /* counted: rows as the benchmark counts them */
    bool ended;
};

static enum fc_code fail(struct reader *r, const char *what, const char *expected)
{
    return fc_fail(r->st, FC_INPUT, fc_lines_place(&r->lines), "%s (expected %s)", what, expected);
}

static bool next(struct reader *r, const char **word, size_t *length)
{
    return fc_next_word(&r->at, r->lines.text + r->lines.length, word, length);
}

static bool whole(struct reader *r, const char *what, long long low, long long high, uint32_t *value)
{
    const char *word;
    size_t length;
    long long n;
    if (!next(r, &word, &length)) return fail(r, "the row ends early", what), false;
    if (fc_word_int(word, length, low, high, what, &n, fc_lines_place(&r->lines), r->st)) return false;
    *value = (uint32_t)n;
    return true;
}

static bool real(struct reader *r, const char *what, double *value)
{
    const char *word;
    size_t length;
    if (!next(r, &word, &length)) return fail(r, "the row ends early", what), false;
    if (fc_word_real(word, length, what, value, fc_lines_place(&r->lines), r->st)) return false;
    return (*value >= 0 && *value < 1e6) || (fail(r, "a time that is none", "seconds"), false);
}

static bool row_end(struct reader *r)
{
    const char *word;
    size_t length;
    return !next(r, &word, &length) || (fail(r, "the row goes on", "its end"), false);
}

static void read_rank(struct reader *r)
{
    struct fc_measurement *m = r->m;
    const char *word;
    size_t length;
    uint32_t rank, node;
    if (!whole(r, "rank", 0, m->n_ranks - 1, &rank) || !whole(r, "node", 0, m->n_nodes - 1, &node)) return;
    if (rank != r->n_named) {
        fail(r, "ranks that are not in order", "0, 1, ...");
        return;
    }
    if (!next(r, &word, &length)) {
        fail(r, "the row ends early", "a host name");
        return;
    }
    char *host = fc_alloc(r->arena, length + 1, 1, r->st);
    if (!host || !row_end(r)) return;
    memcpy(host, word, length);
    if (strpbrk(host, "\"\\,[]")) fail(r, "a host name that cannot be in a list of hosts", "none of \" \\ , [ ]");
    if (m->host[node] && strcmp(m->host[node], host)) fail(r, "a node with two host names", "one each");
    m->one_host = m->n_nodes > 1 && (rank == 0 || (m->one_host && !strcmp(m->host[0], host)));
    m->host[node] = host;
    m->node[rank] = node;
    r->n_named++;
}

static void read_row(struct reader *r, enum fc_measurement_part part)
{
    struct fc_measurement *m = r->m;
    struct fc_measurement_row row = {.part = part};
    uint32_t bytes;
    if (!whole(r, "set", 0, MOST_SETS, &row.set) || !whole(r, "rank", 0, m->n_ranks - 1, &row.from) ||
        !whole(r, "rank", 0, m->n_ranks - 1, &row.to) || !whole(r, "bytes", 0, INT32_MAX, &bytes) ||
        !whole(r, "samples", 1, INT32_MAX, &row.n) || !real(r, "median", &row.median_s) ||
        !real(r, "low", &row.low_s) || !real(r, "high", &row.high_s) || !row_end(r))
        return;
    if (row.low_s > row.median_s || row.high_s < row.median_s) {
        fail(r, "an interval that does not hold its median", "median, low, high");
        return;
    }
    row.bytes = bytes;
    if (row.set > m->n_sets) m->n_sets = row.set;
    if (m->n_rows == r->capacity) {
        uint32_t more = r->capacity ? 2 * r->capacity : 256;
        struct fc_measurement_row *rows = fc_alloc(r->arena, more, sizeof *rows, r->st);
        if (!rows) return;
        if (m->n_rows) memcpy(rows, m->row, m->n_rows * sizeof *rows);
        m->row = rows;
        r->capacity = more;
    }
    m->row[m->n_rows++] = row;
    r->counted++;
}

static void read_eager(struct reader *r)
{
    const char *word;
    size_t length;
    long long bytes;
    if (!whole(r, "rank", 0, r->m->n_ranks - 1, &r->m->near[0]) ||
        !whole(r, "rank", 0, r->m->n_ranks - 1, &r->m->near[1]))
        return;
    if (!next(r, &word, &length)) {
        fail(r, "the row ends early", "bytes");
        return;
    }
    if (fc_word_int(word, length, -1, INT32_MAX, "bytes", &bytes, fc_lines_place(&r->lines), r->st) || !row_end(r))
        return;
    r->m->eager_is_bound = bytes < 0;
    r->m->eager_bytes = (double)bytes;
    r->counted++;
}

/* "# fabricast measure 1: R ranks on N nodes" */
static bool read_title(struct reader *r)
{
    static const char title[] = "# fabricast measure ";
    struct fc_measurement *m = r->m;
    const char *word;
    size_t length;
    if (r->lines.length < sizeof title || memcmp(r->lines.text, title, sizeof title - 1)) return false;
    r->at = r->lines.text + sizeof title - 1;
    if (!next(r, &word, &length) || length != 2 || memcmp(word, "1:", 2)) {
        fail(r, "a form that this program does not know", "fabricast measure 1");
        return true;
    }
    if (!whole(r, "ranks", 2, MOST_RANKS, &m->n_ranks) || !next(r, &word, &length) || !next(r, &word, &length) ||
        !whole(r, "nodes", 1, m->n_ranks, &m->n_nodes)) {
        if (!r->st->code) fail(r, "a title that ends early", "R ranks on N nodes");
        return true;
    }
    m->node = fc_alloc(r->arena, m->n_ranks, sizeof *m->node, r->st);
    m->host = fc_alloc(r->arena, m->n_nodes, sizeof *m->host, r->st);
    return true;
}

static void read_line(struct reader *r)
{
    const char *word;
    size_t length;
    uint32_t rows;
    r->at = r->lines.text;
    if (!next(r, &word, &length)) return;
    if (length == 4 && !memcmp(word, "rank", 4)) {
        read_rank(r);
    } else if (length == 5 && !memcmp(word, "eager", 5)) {
        read_eager(r);
    } else if (length == 3 && !memcmp(word, "end", 3)) {
        if (!whole(r, "rows", 0, INT32_MAX, &rows)) return;
        if (rows != r->counted) {
            fc_fail(r->st, FC_INPUT, fc_lines_place(&r->lines), "%u rows were written, %u are here (expected all)",
                    rows, r->counted);
            return;
        }
        r->ended = true;
    } else {
        for (size_t p = 0; p < FC_COUNT(parts); p++)
            if (length == strlen(parts[p]) && !memcmp(word, parts[p], length)) read_row(r, (enum fc_measurement_part)p);
    }
}

/* The greatest size that was tried, where all were eager. */
static void bound_eager(struct fc_measurement *m)
{
    for (uint32_t i = 0; m->eager_is_bound && i < m->n_rows; i++)
        if (m->row[i].part == FC_ROW_PROBE && m->row[i].bytes > m->eager_bytes) m->eager_bytes = m->row[i].bytes;
}

enum fc_code fc_measurement_read(const char *path, struct fc_arena *arena, struct fc_measurement *m,
                                 struct fc_status *st)
{
    struct fc_text text;
    struct reader r = {.arena = arena, .m = m, .st = st};
    bool titled = false;
    *m = (struct fc_measurement){.file = path, .eager_bytes = -1};
    if (fc_read_file(path, arena, &text, st)) return st->code;
    fc_lines_start(&r.lines, &text);
    while (!st->code && !r.ended && fc_lines_next(&r.lines)) {
        if (!titled)
            titled = read_title(&r);
        else
            read_line(&r);
    }
    struct fc_place file = {path, 0};
    if (st->code) return st->code;
    if (!titled)
        return fc_fail(
            st, FC_INPUT, file,
            "has no line '# fabricast measure 1: ...' (expected what fabricast-measure-openmpi or -mpich prints)");
    if (!r.ended) return fc_fail(st, FC_INPUT, file, "has no line 'end ROWS': the benchmark did not come to its end");
    if (r.n_named < m->n_ranks)
        return fc_fail(st, FC_INPUT, file, "names %u of %u ranks (expected all)", r.n_named, m->n_ranks);
    for (uint32_t i = 0; i < m->n_nodes; i++)
        if (!m->host[i]) return fc_fail(st, FC_INPUT, file, "node %u has no rank (expected one at least)", i);
    if (m->near[0] == m->near[1]) return fc_fail(st, FC_INPUT, file, "has no row 'eager' of two ranks (expected one)");
    bound_eager(m);
    return FC_OK;
}
