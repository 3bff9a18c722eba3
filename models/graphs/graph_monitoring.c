/* graph_monitoring.c - a communication graph from the files NAME.RANK.prof that Open MPI's pml_monitoring
 * component writes, one a rank.
 *
 * Lines are fields between tabs, `KIND source destination N bytes M msgs sent [histogram]`:
 *   E  messages of the program (with monitoring level 1 also those inside collectives)
 *   I  messages inside collectives
 *   S  bytes put one-sided; R: bytes got, which travel from destination to source
 *   C  bytes of collective calls: the same data again, by call; skipped
 *
 * as are D, O2A, A2O, A2A, comments and histograms. A pair has an entry for each kind, with its bytes and its
 * number of messages, so that many small messages are not mixed with few large ones. Source: Open MPI 4.1,
 * ompi/mca/common/monitoring (Bosilca, Foyer, Jeannot, Mercier, Papaure, Euro-Par 2017). */
#include "models/demand_build.h"

#include "core/rank_files.h"
#include "core/stream.h"

#include <stdlib.h>
#include <string.h>

static const char head[] = "# POINT TO POINT", suffix[] = ".prof";

struct row {
    uint32_t src, dst;
    double bytes, messages;
    int kind;
};
struct rows {
    struct row *row;
    size_t n, capacity;
};

static bool is_monitoring(const struct fc_text *text)
{
    if (!text->data) return fc_has_rank_files(text->file, suffix);
    return text->size >= sizeof head - 1 && memcmp(text->data, head, sizeof head - 1) == 0;
}

static enum fc_code add_row(struct rows *rows, const struct row *row, struct fc_status *st)
{
    if (rows->n == rows->capacity) {
        size_t capacity = rows->capacity ? 2 * rows->capacity : 1024;
        struct row *larger = realloc(rows->row, capacity * sizeof *larger);
        if (!larger) return fc_out_of_memory(st, "%zu entries of a communication graph", capacity);
        rows->row = larger;
        rows->capacity = capacity;
    }
    rows->row[rows->n++] = *row;
    return FC_OK;
}

static bool word_is(const char *word, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

/* `source destination N bytes M msgs sent` behind the kind. */
static enum fc_code read_row(const char *at, const char *end, uint32_t rank, uint32_t n_ranks, struct row *row,
                             struct fc_place where, struct fc_status *st)
{
    const char *word[7];
    size_t length[7];
    long long src, dst, bytes, messages;
    int n = 0;
    while (n < 7 && fc_next_word(&at, end, &word[n], &length[n])) n++;
    if (n < 7 || !word_is(word[3], length[3], "bytes") || !word_is(word[5], length[5], "msgs"))
        return fc_fail(st, FC_INPUT, where,
                       "not a row of messages (expected: KIND source destination N bytes M msgs sent)");
    if (fc_word_int(word[0], length[0], 0, n_ranks - 1, "source", &src, where, st) ||
        fc_word_int(word[1], length[1], 0, n_ranks - 1, "destination", &dst, where, st) ||
        fc_word_int(word[2], length[2], 0, INT64_MAX, "bytes", &bytes, where, st) ||
        fc_word_int(word[4], length[4], 0, INT64_MAX, "msgs", &messages, where, st))
        return st->code;
    if (src != rank) return fc_fail(st, FC_INPUT, where, "source %lld in the file of rank %u", src, rank);
    if (messages == 0 && bytes > 0) return fc_fail(st, FC_INPUT, where, "%lld bytes in no message", bytes);
    bool got = row->kind == 'R';
    row->src = (uint32_t)(got ? dst : src);
    row->dst = (uint32_t)(got ? src : dst);
    row->bytes = (double)bytes;
    row->messages = (double)messages;
    return FC_OK;
}

/* The kind of messages of a row, 0: none that is taken. */
static int kind_of(const char *word, size_t length)
{
    if (length != 1) return 0;
    switch (*word) {
    case 'E': return FC_MONITORED_USER;
    case 'I': return FC_MONITORED_COLLECTIVE;
    case 'S':
    case 'R': return FC_MONITORED_ONE_SIDED;
    }
    return 0;
}

static enum fc_code read_rows(struct fc_stream *s, uint32_t rank, uint32_t n_ranks, int kinds, struct rows *rows,
                              struct fc_status *st)
{
    static const char *const skipped[] = {"C", "D", "O2A", "A2O", "A2A"};
    const char *text, *word;
    size_t length, word_length;
    for (;;) {
        if (fc_stream_line(s, &text, &length, st)) return st->code;
        if (!text) break;
        if (s->line == 1 && (length < sizeof head - 1 || memcmp(text, head, sizeof head - 1)))
            return fc_fail(st, FC_INPUT, fc_stream_place(s), "no file of Open MPI's monitoring (it begins with '%s')",
                           head);
        const char *end = text + length;
        if (*text == '#' || !fc_next_word(&text, end, &word, &word_length)) continue;
        int kind = kind_of(word, word_length);
        bool known = kind;
        for (size_t i = 0; i < FC_COUNT(skipped); i++) known = known || word_is(word, word_length, skipped[i]);
        if (!known)
            return fc_fail(st, FC_INPUT, fc_stream_place(s),
                           "row of kind '%.*s' (expected E, I, S, R, C, D, O2A, A2O or A2A)",
                           (int)(word_length < 20 ? word_length : 20), word);
        struct row row = {.kind = *word};
        if (kind && read_row(text, end, rank, n_ranks, &row, fc_stream_place(s), st)) return st->code;
        if ((kind & kinds) && row.messages > 0 && add_row(rows, &row, st)) return st->code;
    }
    if (s->line == 0) return fc_fail(st, FC_INPUT, (struct fc_place){s->file, 0}, "is empty");
    return FC_OK;
}

/* By pair; of one pair E, I, R, S. */
static int by_pair(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->src != y->src) return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst) return x->dst < y->dst ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

enum fc_code fc_graph_monitored(const char *path, int kinds, struct fc_arena *reading, struct fc_demand *demand,
                                struct fc_status *st)
{
    struct fc_rank_files files;
    struct rows rows = {0};
    enum fc_code code = fc_rank_files(path, suffix, reading, &files, st);
    for (uint32_t r = 0; !code && r < files.n; r++) {
        FC_SCOPED(fc_stream_close) struct fc_stream s = {0};
        code = fc_stream_open(files.path[r], &s, st);
        if (!code) code = read_rows(&s, r, files.n, kinds, &rows, st);
    }
    if (!code && rows.n) qsort(rows.row, rows.n, sizeof *rows.row, by_pair);
    if (!code) code = fc_demand_start(demand, files.n, rows.n, st);
    for (size_t i = 0; !code && i < rows.n; i++) {
        fc_demand_add(demand, rows.row[i].src, rows.row[i].dst, rows.row[i].bytes);
        demand->messages[i] = rows.row[i].messages;
    }
    free(rows.row);
    return code;
}

static enum fc_code read_monitoring(const struct fc_text *text, struct fc_arena *reading, struct fc_demand *demand,
                                    struct fc_status *st)
{
    return fc_graph_monitored(text->file, FC_MONITORED_ALL, reading, demand, st);
}

const struct fc_graph_format fc_graph_monitoring = {
    .name = "openmpi-monitoring",
    .what = "communication graph that Open MPI wrote, NAME.RANK.prof (folder, or one of the files)",
    .is = is_monitoring,
    .read = read_monitoring,
};
