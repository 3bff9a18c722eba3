/* benchmark_read.c - tables of the OSU Micro-Benchmarks and of NetPIPE.
 *
 * OSU prints "# OSU MPI Latency Test v7.3", a line of headings, then rows "SIZE VALUE ...": microseconds, or MB/s of 10^6 bytes.
 * NetPIPE's file has rows "BYTES Mbps SECONDS", its output "  0:  1 bytes  9 times -->  3.14 Mbps in  2.43 usec". */
#include "answer/benchmark.h"

#include <string.h>

enum { MOST_ROWS = 4096 };

static enum fc_code fail(const struct fc_lines *lines, struct fc_status *st, const char *what, const char *expected)
{
    return fc_fail(st, FC_INPUT, fc_lines_place(lines), "%s (expected %s)", what, expected);
}

static bool contains(const struct fc_lines *lines, const char *part)
{
    return memmem(lines->text, lines->length, part, strlen(part)) != NULL;
}

/* "# OSU MPI ... Test": what kind of table follows. */
static enum fc_code read_title(const struct fc_lines *lines, struct fc_benchmark *t, bool *known, struct fc_status *st)
{
    if (contains(lines, "Bi-Directional"))
        return fail(lines, st, "bandwidth of both directions together", "osu_bw or osu_mbw_mr");
    if (contains(lines, "Bandwidth / Message Rate"))
        t->kind = FC_BENCHMARK_PAIRS;
    else if (contains(lines, "Bandwidth"))
        t->kind = FC_BENCHMARK_BANDWIDTH;
    else if (contains(lines, "Latency") && !contains(lines, "All") && !contains(lines, "Bcast") &&
             !contains(lines, "Reduce") && !contains(lines, "Gather") && !contains(lines, "Scatter") &&
             !contains(lines, "Barrier"))
        t->kind = FC_BENCHMARK_LATENCY;
    else
        return fail(lines, st, "no benchmark of messages between two ranks",
                    "osu_latency, osu_bw or osu_mbw_mr; collectives are for `calibrate --measured`");
    *known = true;
    return FC_OK;
}

static void read_pairs(const struct fc_lines *lines, struct fc_benchmark *t)
{
    const char *at = memmem(lines->text, lines->length, "pairs:", 6);
    for (at = at ? at + 6 : NULL; at && at < lines->text + lines->length && *at == ' '; at++) {
    }
    for (uint32_t n = 0; at && at < lines->text + lines->length && *at >= '0' && *at <= '9' && n < 1000000; at++)
        t->pairs = n = 10 * n + (uint32_t)(*at - '0');
}

static enum fc_code add(struct fc_benchmark *t, double bytes, double value, const struct fc_lines *lines,
                        struct fc_status *st)
{
    if (!(bytes >= 0 && bytes <= 1e15)) return fail(lines, st, "a size that is none", "bytes");
    if (!(value > 0 && value < 1e18)) return fail(lines, st, "a value that is none", "more than 0");
    if (t->n && bytes <= t->bytes[t->n - 1]) return fail(lines, st, "sizes that do not rise", "one table a file");
    if (t->n == MOST_ROWS) return fail(lines, st, "too many rows", "at most 4096");
    t->bytes[t->n] = bytes;
    t->value[t->n++] = value;
    return FC_OK;
}

static enum fc_code read_osu_row(const struct fc_lines *lines, struct fc_benchmark *t, struct fc_status *st)
{
    const char *at = lines->text, *end = at + lines->length, *word;
    size_t length;
    double bytes, value;
    if (!fc_next_word(&at, end, &word, &length)) return FC_OK;
    if (fc_word_real(word, length, "size", &bytes, fc_lines_place(lines), st)) return st->code;
    if (!fc_next_word(&at, end, &word, &length)) return fail(lines, st, "the row ends early", "SIZE VALUE");
    if (fc_word_real(word, length, "value", &value, fc_lines_place(lines), st)) return st->code;
    if (t->kind == FC_BENCHMARK_LATENCY) return add(t, bytes, value * 1e-6, lines, st);
    return bytes > 0 ? add(t, bytes, value * 1e6, lines, st) : FC_OK;
}

/* Rows before the title are a launcher's, those behind a row that is none as well. */
static enum fc_code read_osu(struct fc_lines *lines, struct fc_benchmark *t, struct fc_status *st)
{
    bool known = false;
    while (fc_lines_next(lines)) {
        bool comment = lines->length > 0 && lines->text[0] == '#';
        bool row = lines->length > 0 && lines->text[0] >= '0' && lines->text[0] <= '9';
        if (comment && contains(lines, "OSU") &&
            (t->n ? fail(lines, st, "a second table", "one table a file") : read_title(lines, t, &known, st)))
            return st->code;
        if (comment) read_pairs(lines, t);
        if (known && row && read_osu_row(lines, t, st)) return st->code;
    }
    if (known) return FC_OK;
    return fc_fail(st, FC_INPUT, (struct fc_place){lines->file, 0},
                   "has no line '# OSU MPI ... Test' (expected what osu_latency, osu_bw or osu_mbw_mr print)");
}

/* The word before `unit`, as a number. */
static bool number_before(const struct fc_lines *lines, const char *unit, double *value, struct fc_status *st)
{
    const char *at = lines->text, *end = at + lines->length, *word, *before = NULL;
    size_t length, before_length = 0;
    while (fc_next_word(&at, end, &word, &length)) {
        if (before && length == strlen(unit) && !memcmp(word, unit, length))
            return !fc_word_real(before, before_length, unit, value, fc_lines_place(lines), st);
        before = word, before_length = length;
    }
    return false;
}

static enum fc_code read_netpipe(struct fc_lines *lines, struct fc_benchmark *t, struct fc_status *st)
{
    t->kind = FC_BENCHMARK_LATENCY;
    while (fc_lines_next(lines)) {
        const char *at = lines->text, *end = at + lines->length, *word[3], *more;
        size_t length[3], more_length;
        double bytes, seconds;
        int n = 0;
        if (contains(lines, "Mbps in") && contains(lines, "usec")) {
            if (!number_before(lines, "bytes", &bytes, st) || !number_before(lines, "usec", &seconds, st))
                return st->code ? st->code : fail(lines, st, "a row without sizes", "N bytes ... Mbps in T usec");
            if (add(t, bytes, seconds * 1e-6, lines, st)) return st->code;
            continue;
        }
        while (n < 3 && fc_next_word(&at, end, &word[n], &length[n])) n++;
        if (n != 3 || word[0][0] < '0' || word[0][0] > '9' || fc_next_word(&at, end, &more, &more_length)) continue;
        if (fc_word_real(word[0], length[0], "size", &bytes, fc_lines_place(lines), st) ||
            fc_word_real(word[2], length[2], "time", &seconds, fc_lines_place(lines), st) ||
            add(t, bytes, seconds, lines, st))
            return st->code;
    }
    return FC_OK;
}

enum fc_code fc_benchmark_read(const char *program, const char *path, struct fc_arena *arena,
                               struct fc_benchmark *table, struct fc_status *st)
{
    struct fc_text text;
    struct fc_lines lines;
    bool osu = !strcmp(program, "osu");
    *table = (struct fc_benchmark){.file = path, .pairs = 1};
    if (!osu && strcmp(program, "netpipe"))
        return fc_refuse(st, FC_INPUT, "--from: '%.60s' is no benchmark that is read (known: osu, netpipe)", program);
    if (fc_read_file(path, arena, &text, st)) return st->code;
    table->bytes = fc_alloc(arena, MOST_ROWS, sizeof *table->bytes, st);
    table->value = fc_alloc(arena, MOST_ROWS, sizeof *table->value, st);
    if (st->code) return st->code;
    fc_lines_start(&lines, &text);
    if (osu ? read_osu(&lines, table, st) : read_netpipe(&lines, table, st)) return st->code;
    if (table->n < 3)
        return fc_fail(st, FC_INPUT, (struct fc_place){path, 0}, "has %u rows of sizes and times (expected 3 or more)",
                       table->n);
    return FC_OK;
}
